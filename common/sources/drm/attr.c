/* SPDX-License-Identifier: MIT */
/* Attributes: kept files of a device that become readings. */
#include "sources/drm/attr.h"

#include "base/error.h"
#include "host/env.h"
#include "parse/pcie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NULL: there is no room. */
static struct gtel_reading *put(struct gtel_attr_sample *sample, const struct gtel_attr *attr)
{
    sample->batch->origin = attr->origin;
    struct gtel_reading *reading = gtel_batch_add(sample->batch, &sample->batch->blank);
    if (!reading)
        return NULL;
    reading->device = attr->device;
    reading->metric = (uint16_t)attr->kind.metric;
    memcpy(reading->dim, attr->dim, sizeof(attr->dim));
    return reading;
}

static void put_u64(struct gtel_attr_sample *sample, const struct gtel_attr *attr, uint64_t value)
{
    struct gtel_reading *reading = put(sample, attr);
    if (reading)
        reading->value.u64 = value;
}

static void put_f64(struct gtel_attr_sample *sample, const struct gtel_attr *attr, double value)
{
    struct gtel_reading *reading = put(sample, attr);
    if (!reading)
        return;
    reading->value.f64 = value;
    reading->value_type = GTEL_VALUE_F64;
}

/* ---- counters ---- */

/* Counts seconds, so it cannot grow faster than they pass, but for the moment of the read. */
static void counter(struct gtel_attr_sample *sample, struct gtel_attr *attr, uint64_t value)
{
    struct gtel_counter *state = &attr->state.counter;
    bool is_short = attr->kind.form == GTEL_ATTR_COUNTER32;
    state->range = is_short ? UINT64_C(1) << 32 : 0;
    state->most = is_short ? 1.1 / attr->kind.scale : 0;
    if (gtel_counter_add(state, value, sample->batch->t_ns) != GTEL_COUNTER_STEP)
        state->sum = value;
    put_f64(sample, attr, (double)state->sum * attr->kind.scale);
}

/* Of a card without a limit. */
static const double watts_max = 1500;

static double watts_bound(const struct gtel_attr_sample *sample)
{
    double limit_w = sample->attrs->limit_w;
    return limit_w > 0 ? 3 * limit_w : watts_max;
}

/* Without a reading after an impossible step. */
static const uint64_t suspect_ns = 60 * UINT64_C(1000000000);

/* A card that sleeps uses next to nothing: that time makes no step possible. Whether it slept. */
static bool skip_sleep(const struct gtel_card *card, struct gtel_attr_state *state, uint64_t t_ns)
{
    uint64_t waited_ns = t_ns - state->counter.last_ns;
    uint64_t slept_ns = card->suspended_ns - state->suspended_ns;
    bool has_slept = state->counter.last_ns > 0 && card->suspended_ns > state->suspended_ns;
    if (has_slept)
        state->counter.last_ns += slept_ns < waited_ns ? slept_ns : waited_ns;
    state->suspended_ns = card->suspended_ns;
    return has_slept;
}

/*
 * Battlemage up to kernel 6.16 reads energy from registers which give nonsense on some boards: a
 * card counter that stays 0 (B580), steps of megajoules (B570; Syllo/nvtop #409). So a zero that
 * has never moved is no reading, and a step that means more than three times the limit is not
 * counted, with a minute of silence after it and a new begin at 0. No card that is awake uses
 * nothing: a counter that has not moved means nothing, and the next step is over the whole time.
 *
 * In D3cold the register begins again, and the driver adds that as a turn (kernel: xe/xe_hwmon.c,
 * xe_hwmon_energy_get): after a sleep such a step is just a new begin at 0. From 0 to 0 there would
 * be a rate, so two of them in a row give one reading.
 */
static void energy(struct gtel_attr_sample *sample, struct gtel_attr *attr, uint64_t value)
{
    struct gtel_attr_state *state = &attr->state;
    uint64_t t_ns = sample->batch->t_ns;
    bool has_slept = skip_sleep(sample->card, state, t_ns);
    bool is_silent = sample->is_between;
    state->counter.most = watts_bound(sample) / attr->kind.scale;
    enum gtel_counter_result result = gtel_counter_add(&state->counter, value, t_ns);
    if (result == GTEL_COUNTER_IMPOSSIBLE && has_slept) {
        is_silent = is_silent || state->counter.sum == 0;
        state->counter.sum = 0;
    } else if (result == GTEL_COUNTER_IMPOSSIBLE) {
        state->suspect_until_ns = t_ns + suspect_ns;
    } else if (result != GTEL_COUNTER_STEP) { /* the first one, or the driver was loaded again */
        state->counter.sum = value;
        state->suspect_until_ns = 0;
    }
    /* Reads between gathers do not count: the one of the gather may follow immediately. */
    bool is_stuck = value + 1 == state->reported_plus_1;
    if (!sample->is_between)
        state->reported_plus_1 = value + 1;
    if (value == 0 || is_stuck || t_ns < state->suspect_until_ns || is_silent)
        return;
    if (state->suspect_until_ns > 0)
        state->counter.sum = 0; /* so that no rate spans the step */
    state->suspect_until_ns = 0;
    put_f64(sample, attr, (double)state->counter.sum * attr->kind.scale);
}

/*
 * Counters of DRM drivers in files: width and unit, the shortest time to a turn, and what extends
 * them.
 *
 *   energyN_input          32 bits, 2^-14 J  4.4 min at 1000 W  the kernel; read each 2 min
 *   idle_residency_ms      32 bits, 1.28 us  91 min             the kernel; read each 60 min
 *   rc6*_residency_ms      32 bits, 1.28 us  91 min             the kernel; read each 60 min
 *     their text           32 bits, 1 ms     49.7 days          base/counter.h
 *   runtime_suspended_time 64 bits, 1 ms     never
 *
 * The kernel extends its counters at each read of the file.
 * (kernel: i915/i915_hwmon.c, xe/xe_hwmon.c, i915/gt/intel_rc6.c, xe/xe_gt_idle.c,
 * drivers/base/power/runtime.c. Two minutes are enough up to 2184 W.)
 */
static uint64_t keep_of(enum gtel_attr_form form)
{
    const uint64_t minute_ns = 60 * UINT64_C(1000000000);
    if (form == GTEL_ATTR_ENERGY)
        return 2 * minute_ns;
    return form == GTEL_ATTR_COUNTER || form == GTEL_ATTR_COUNTER32 ? 60 * minute_ns : 0;
}

bool gtel_attr_is_kept(const struct gtel_attr *attr)
{
    return keep_of(attr->kind.form) > 0;
}

uint64_t gtel_attr_keep(const struct gtel_attr *attr, size_t n)
{
    uint64_t least_ns = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t keep_ns = keep_of(attr[i].kind.form);
        if (keep_ns > 0 && (least_ns == 0 || keep_ns < least_ns))
            least_ns = keep_ns;
    }
    return least_ns;
}

/* ---- sensors ---- */

/*
 * Drivers print a failure as a value: nouveau's sensors show -19 or -22, which are errnos, radeon's
 * a temperature of 0 (kernel: nouveau/nouveau_hwmon.c, radeon/radeon_pm.c). Integrated sensors work
 * from -40 to 125 degrees. No GPU that is awake draws nothing: the second die of an MI250 says so
 * (kernel: aldebaran_ppt.c), and Strix that it has no voltage (captures of ilya-zlobintsev/LACT).
 */
static bool is_plausible(const struct gtel_attr_sample *sample, enum gtel_attr_form form,
                         double value)
{
    switch (form) {
    case GTEL_ATTR_TEMPERATURE:
        return value >= -40 && value <= 150 && !(value >= -0.2 && value <= 0);
    case GTEL_ATTR_POWER:
        return value > 0 && value <= watts_bound(sample);
    case GTEL_ATTR_VOLTAGE:
        return value > 0 || (value == 0 && strcmp(sample->card->drm.driver, "amdgpu") != 0);
    case GTEL_ATTR_SHARE:
        return value >= 0 && value <= 1;
    case GTEL_ATTR_LIMIT:
        return value > 0;
    default: /* a fan: more is a count of pulses that went back */
        return value >= 0 && value <= 100000;
    }
}

/*
 * i915 and xe count pulses since the last read by anybody (kernel: i915/i915_hwmon.c,
 * xe/xe_hwmon.c): the first value is an average since an unknown time, perhaps since the driver was
 * loaded, and the first one after a sleep an average over it.
 */
static bool is_over_other_time(const struct gtel_attr_sample *sample, struct gtel_attr_state *state)
{
    const struct gtel_card *card = sample->card;
    bool is_other = state->counter.last_ns == 0 || card->suspended_ns != state->suspended_ns;
    state->counter.last_ns = sample->batch->t_ns;
    state->suspended_ns = card->suspended_ns;
    return is_other &&
           (strcmp(card->drm.driver, "i915") == 0 || strcmp(card->drm.driver, "xe") == 0);
}

static int sensor(struct gtel_attr_sample *sample, struct gtel_attr *attr, struct gtel_str text)
{
    int64_t number;
    int r = gtel_str_i64(text, &number);
    if (r < 0)
        return r;
    double value = (double)number * attr->kind.scale;
    if (!is_plausible(sample, attr->kind.form, value))
        return 0;
    bool is_limit =
        attr->kind.metric == GTEL_M_POWER_LIMIT || attr->kind.metric == GTEL_M_POWER_BURST_LIMIT;
    if (is_limit && value > sample->attrs->limit_w)
        sample->attrs->limit_w = value;
    if (attr->kind.form != GTEL_ATTR_FAN) {
        put_f64(sample, attr, value);
        return 0;
    }
    if (is_over_other_time(sample, &attr->state)) {
        attr->state.reported_plus_1 = 0;
        return 0;
    }
    attr->state.reported_plus_1 = (uint64_t)number + 1;
    put_u64(sample, attr, (uint64_t)number);
    return 0;
}

/* ---- states and clocks ---- */

/* States in words (kernel: xe/xe_gt_idle.c, xe/xe_guc_pc.c). An unknown one is no reading. */
static void word(struct gtel_attr_sample *sample, struct gtel_attr *attr, struct gtel_str text)
{
    bool is_idle_state = attr->kind.form == GTEL_ATTR_IDLE;
    const char *const no = is_idle_state ? "gt-c0" : "[base]";
    const char *const yes = is_idle_state ? "gt-c6" : "[power_saving]";
    struct gtel_str got;
    while (gtel_str_word(&text, &got)) {
        bool is_yes = gtel_str_eq(got, gtel_str_of(yes));
        if (is_yes || gtel_str_eq(got, gtel_str_of(no))) {
            put_u64(sample, attr, is_yes);
            return;
        }
    }
}

static int unsigned_value(struct gtel_attr_sample *sample, struct gtel_attr *attr, uint64_t value)
{
    double scaled = (double)value * attr->kind.scale;
    switch (attr->kind.form) {
    case GTEL_ATTR_COUNTER:
    case GTEL_ATTR_COUNTER32:
        counter(sample, attr, value);
        return 0;
    case GTEL_ATTR_ENERGY:
        energy(sample, attr, value);
        return 0;
    case GTEL_ATTR_MASK:
        put_u64(sample, attr, value & 1);
        return 0;
    case GTEL_ATTR_BYTES:
        put_u64(sample, attr, value);
        return 0;
    case GTEL_ATTR_TOTAL:
        if (value > 0)
            put_u64(sample, attr, value);
        return 0;
    case GTEL_ATTR_CLOCK:
        /* An A380 reported an achievable clock of 627200 MHz (rpa_freq under xe): no failure. */
        if (value > 0 && scaled <= 20e9)
            put_u64(sample, attr, (uint64_t)scaled);
        return 0;
    default:
        /* A flag is 0 or 1; no clock in MHz has more than 32 bits. */
        if (value > (attr->kind.form == GTEL_ATTR_FLAG ? 1 : UINT32_MAX))
            return -ERANGE;
        if (attr->kind.form == GTEL_ATTR_RARE) {
            attr->state.reported_plus_1 = (uint64_t)scaled + 1;
            attr->state.counter.last_ns = sample->batch->t_ns;
        }
        put_u64(sample, attr, (uint64_t)scaled);
        return 0;
    }
}

static int parse(struct gtel_attr_sample *sample, struct gtel_attr *attr, struct gtel_str text)
{
    enum gtel_attr_form form = attr->kind.form;
    uint64_t value = 0;
    int r;
    if (form >= GTEL_ATTR_TEMPERATURE && form <= GTEL_ATTR_FAN)
        return sensor(sample, attr, text);
    if (form == GTEL_ATTR_IDLE || form == GTEL_ATTR_PROFILE) {
        word(sample, attr, text);
        return 0;
    }
    if (form == GTEL_ATTR_MASK)
        r = gtel_str_hex(text, &value);
    else if (form == GTEL_ATTR_LINK_SPEED)
        r = gtel_link_speed(text, &value);
    else if (form == GTEL_ATTR_LINK_WIDTH)
        r = gtel_link_width(text, &value);
    else if (form == GTEL_ATTR_TOTAL)
        r = gtel_aer_total(text, &value);
    else
        r = gtel_str_u64(text, &value);
    return r < 0 ? r : unsigned_value(sample, attr, value);
}

/* ---- reading ---- */

/*
 * What the driver cannot read now is absent: sensors of nouveau and radeon while the card falls
 * asleep, and those that a chip lacks, are EINVAL. amdgpu refuses to wake a card with EPERM, and
 * says EBUSY in a reset or in system suspend (kernel: amd/pm/amdgpu_pm.c); whether a user may read
 * a file shows when it is opened.
 */
static bool is_unavailable(const struct gtel_attr_sample *sample, const struct gtel_attr *attr,
                           int r)
{
    bool is_hwmon = attr->origin == GTEL_ATTR_HWMON;
    return (r == -EINVAL && is_hwmon) || ((r == -EINVAL || r == -EPERM || r == -EBUSY) &&
                                          strcmp(sample->card->drm.driver, "amdgpu") == 0);
}

/* A little less than a minute, so that a clock's jitter does not skip a gather. */
static const uint64_t rare_ns = 59500000000;

static int read_attr(struct gtel_attr_sample *sample, struct gtel_attr *attr)
{
    char buf[GTEL_FS_TEXT_MAX];
    const struct gtel_env *env = sample->card->cards->env;
    struct gtel_attr_state *state = &attr->state;
    struct gtel_str text;
    if (attr->kind.form == GTEL_ATTR_RARE) {
        if (state->reported_plus_1 > 0 && sample->batch->t_ns - state->counter.last_ns < rare_ns) {
            put_u64(sample, attr, state->reported_plus_1 - 1);
            return 0;
        }
        state->reported_plus_1 = 0;
    }
    if (gtel_attr_is_kept(attr)) /* what was read before it may have taken long */
        sample->batch->t_ns = gtel_env_now(env);
    int r = gtel_fs_read(env, &attr->file, buf, sizeof(buf), &text);
    if (r < 0 && is_unavailable(sample, attr, r))
        return 0;
    if (r == 0 && text.n > 0 && text.p[text.n - 1] == '\0') /* as of some captures */
        text = gtel_str_trim((struct gtel_str){text.p, gtel_str_find(text, '\0')});
    /* amdgpu shows an empty line for a limit that it cannot read (kernel: amd/pm/amdgpu_pm.c). */
    if (r == 0 && text.n > 0)
        r = parse(sample, attr, text);
    /* Two reads of a fan within one jiffy: xe answers EAGAIN, and the value stands. */
    if (r == -EAGAIN && attr->kind.form == GTEL_ATTR_FAN) {
        if (state->reported_plus_1 > 0)
            put_u64(sample, attr, state->reported_plus_1 - 1);
        r = 0;
    }
    return gtel_error_is_absence(r) ? 0 : r;
}

static void log_change(const struct gtel_attr_sample *sample, struct gtel_attr *attr, int r)
{
    const struct gtel_drm_card *card = &sample->card->drm;
    gtel_failure_log(&sample->card->cards->env->log, &attr->state.error, r, "", "%s: %s: %.*s",
                     card->driver, card->key, GTEL_STR_ARG(attr->name));
    if (attr->state.suspect_until_ns <= sample->batch->t_ns || sample->attrs->is_suspect_logged)
        return;
    sample->attrs->is_suspect_logged = true;
    gtel_log(&sample->card->cards->env->log, GTEL_LOG_WARNING,
             "%s: %s: %.*s makes impossible steps, which are ignored", card->driver, card->key,
             GTEL_STR_ARG(attr->name));
}

int gtel_attr_read(struct gtel_attr_sample *sample, struct gtel_attr *attr)
{
    int r = read_attr(sample, attr);
    if (r == -ENODEV || sample->is_between)
        return r; /* the next sample reports the rest */
    if (GTEL_UNLIKELY(r < 0 || attr->state.error < 0 || attr->state.suspect_until_ns != 0))
        log_change(sample, attr, r);
    if (r == 0) {
        sample->read++;
        return 0;
    }
    sample->error = sample->error < 0 ? sample->error : r;
    gtel_batch_failed(sample->batch, attr->device);
    return r;
}

int gtel_attrs_read(struct gtel_attr_sample *sample)
{
    for (size_t i = 0; i < sample->attrs->n; i++)
        if (gtel_attr_read(sample, &sample->attrs->attr[i]) == -ENODEV)
            return -ENODEV;
    return sample->read > 0 ? 0 : sample->error;
}

void gtel_attrs_close(const struct gtel_env *env, struct gtel_attrs *attrs)
{
    for (size_t i = 0; i < attrs->n; i++)
        gtel_fs_close(env, &attrs->attr[i].file);
    free(attrs->attr);
    attrs->attr = NULL;
    attrs->n = 0;
    attrs->keep_ns = 0;
    attrs->hash = 0;
}
