/* SPDX-License-Identifier: MIT */
/* Attributes: kept files of an Intel GPU that become readings. */
#include "sources/intel/attr.h"

#include "parse/link.h"

#include <errno.h>

static const enum gtel_metric headline_metric[] = {
    [GTEL_INTEL_NO_HEADLINE] = GTEL_M_NONE,
    [GTEL_INTEL_HEAD_ENERGY] = GTEL_M_GPU_ENERGY,
    [GTEL_INTEL_HEAD_LIMIT] = GTEL_M_GPU_POWER_LIMIT,
    [GTEL_INTEL_HEAD_TEMPERATURE] = GTEL_M_GPU_TEMPERATURE,
    [GTEL_INTEL_HEAD_FREQUENCY] = GTEL_M_GPU_FREQUENCY,
};

static void put(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle)
{
    struct gtel_reading *reading = &attr->reading;
    cycle->batch->origin = attr->origin;
    gtel_batch_put(cycle->batch, reading);
    if (attr->headline == GTEL_INTEL_NO_HEADLINE || (cycle->heads >> attr->headline & 1) != 0)
        return;
    cycle->heads |= 1U << attr->headline;
    struct gtel_reading head = {.device = reading->device,
                                .metric = (uint16_t)headline_metric[attr->headline],
                                .value = reading->value,
                                .value_type = reading->value_type};
    gtel_batch_put(cycle->batch, &head);
}

static void put_u64(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    attr->reading.value.u64 = value;
    attr->reading.value_type = GTEL_VALUE_U64;
    put(attr, cycle);
}

static void put_f64(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, double value)
{
    attr->reading.value.f64 = value;
    attr->reading.value_type = GTEL_VALUE_F64;
    put(attr, cycle);
}

static void remember(struct gtel_intel_attr *attr, uint64_t value, uint64_t t_ns)
{
    attr->last = value;
    attr->last_ns = t_ns;
    attr->has_last = true;
}

/* Files count whole milliseconds, and are read a moment after the time of the cycle was taken. */
static const double idle_resolution_ns = 2e6;

/*
 * Notes whether the GT slept for all, or almost all, of the time since the last look, but for the
 * time in which we kept it awake. milliseconds
 */
static void note_idle(const struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle,
                      uint64_t value)
{
    uint64_t span_ns = cycle->batch->t_ns - attr->last_ns;
    uint64_t gt = 0;
    if (!attr->is_idle_time || !attr->has_last || cycle->batch->t_ns <= attr->last_ns ||
        value < attr->last)
        return;
    bool has_gt = gtel_str_u64(attr->reading.dim[1], &gt) == 0 && gt < 32;
    uint32_t bit = has_gt ? 1U << gt : 0;
    uint64_t held_ns = (cycle->gts_held & bit) != 0 ? cycle->held_ns : 0;
    if (span_ns <= held_ns)
        return;
    double slept_ns = (double)(value - attr->last) * 1e6;
    double free_ns = (double)(span_ns - held_ns);
    bool is_idle = slept_ns >= 0.98 * free_ns;
    bool is_asleep = slept_ns + idle_resolution_ns >= free_ns;
    cycle->idle_times++;
    cycle->is_idle = cycle->is_idle && (is_idle || is_asleep);
    if (is_asleep)
        cycle->gts_idle |= bit;
    else
        cycle->gts_busy |= bit;
    if (is_idle && !is_asleep)
        cycle->gts_drowsy |= bit;
}

static void counter(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    /*
     * i915's rc6_residency_ms has 32 bits and wraps after 49.7 days. From the upper to the lower
     * half is a wrap; anything else that goes back is a new start.
     */
    const uint64_t half = UINT64_C(1) << 31;
    if (attr->form == GTEL_INTEL_COUNTER32 && attr->has_last && value < attr->last)
        attr->carry = attr->last >= half && value < half ? attr->carry + 2 * half : 0;
    note_idle(attr, cycle, value);
    remember(attr, value, cycle->batch->t_ns);
    put_f64(attr, cycle, (double)(value + attr->carry) * attr->scale);
}

/* Seconds without a reading after an impossible step. */
static const uint64_t distrust_ns = 60 * UINT64_C(1000000000);

/*
 * Battlemage up to kernel 6.16 reads energy from registers which give nonsense on some boards: a
 * card counter that stays 0 (B580), steps of megajoules (B570; Syllo/nvtop #409). So a zero that
 * has never moved is no reading, and a step that means more than three times the limit (1.5 kW
 * without one) is left out of the counter, with a minute of silence after it. No card that is awake
 * uses nothing: a counter that has not moved says nothing, and the next step is over the whole
 * time.
 */
static void energy(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    uint64_t t_ns = cycle->batch->t_ns;
    bool has_step = attr->has_last && value >= attr->last && t_ns > attr->last_ns;
    double bound_w = cycle->limit_w > 0 ? 3 * cycle->limit_w : 1500;
    if (attr->has_last && value < attr->last) { /* driver loaded again */
        attr->carry = 0;
        attr->distrust_ns = 0;
    }
    if (has_step) {
        double step_j = (double)(value - attr->last) * attr->scale;
        double seconds = (double)(t_ns - attr->last_ns) / 1e9;
        /* Firmware moves the counter now and then: a short time may see the energy of a longer one.
         */
        if (step_j > bound_w * (seconds > 1 ? seconds : 1)) {
            attr->carry += value - attr->last;
            attr->distrust_ns = t_ns + distrust_ns;
        }
    }
    /* Readings between gathers do not count: the one at the gather may follow at once. */
    bool is_stuck = attr->has_told && value == attr->told;
    if (!cycle->is_between) {
        attr->has_told = true;
        attr->told = value;
    }
    remember(attr, value, t_ns);
    if (value == 0)
        return;
    if (is_stuck || t_ns < attr->distrust_ns) {
        /* Nor does another counter stand in: the headline's would jump there and back. */
        cycle->heads |= 1U << attr->headline;
        return;
    }
    put_f64(attr, cycle, (double)(value - attr->carry) * attr->scale);
}

static void fan(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    remember(attr, value, cycle->batch->t_ns);
    put_u64(attr, cycle, value);
}

static void limit(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    double watts = (double)value * attr->scale;
    if (value == 0)
        return; /* "off" */
    if (attr->headline == GTEL_INTEL_HEAD_LIMIT && watts > cycle->limit_w)
        cycle->limit_w = watts;
    put_f64(attr, cycle, watts);
}

/*
 * Counters of i915 and xe in files: width and unit, the shortest time to a turn, and what carries
 * them on.
 *
 *   energyN_input          32 bits, 2^-14 J  4.4 min at 1000 W  the kernel; read each 2 min
 *   idle_residency_ms      32 bits, 1.28 us  91 min             the kernel; read each 60 min
 *   rc6*_residency_ms      32 bits, 1.28 us  91 min             the kernel; read each 60 min
 *     their text           32 bits, 1 ms     49.7 days          counter()
 *   runtime_suspended_time 64 bits, 1 ms     never
 *
 * The kernel carries its counters on at each read of the file.
 * (kernel: i915/i915_hwmon.c, xe/xe_hwmon.c, i915/gt/intel_rc6.c, xe/xe_gt_idle.c,
 * drivers/base/power/runtime.c. Two minutes are enough up to 2184 W.)
 */
static bool is_hourly(const struct gtel_intel_attr *attr)
{
    return attr->is_idle_time || attr->form == GTEL_INTEL_COUNTER32;
}

bool gtel_intel_attr_is_kept(const struct gtel_intel_attr *attr)
{
    return attr->form == GTEL_INTEL_ENERGY || is_hourly(attr);
}

uint64_t gtel_intel_keep(const struct gtel_intel_attr *attr, size_t n)
{
    const uint64_t minute_ns = 60 * UINT64_C(1000000000);
    uint64_t keep_ns = 0;
    for (size_t i = 0; i < n; i++) {
        if (attr[i].form == GTEL_INTEL_ENERGY)
            return 2 * minute_ns;
        if (is_hourly(&attr[i]))
            keep_ns = 60 * minute_ns;
    }
    return keep_ns;
}

/*
 * What a clock of the hardware may be. 20 GHz is above all: an A380 told an achievable clock of
 * 627200 MHz (rpa_freq under xe), which is no failure worth a message in each cycle.
 */
static void level(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, uint64_t value)
{
    if (value > 0 && value <= 20000)
        put_u64(attr, cycle, (uint64_t)((double)value * attr->scale));
}

/* States in words (kernel: xe/xe_gt_idle.c, xe/xe_guc_pc.c). One that is not known is no reading.
 */
static void word(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, struct gtel_str text)
{
    bool is_idle_state = attr->form == GTEL_INTEL_IDLE;
    const char *const no = is_idle_state ? "gt-c0" : "[base]";
    const char *const yes = is_idle_state ? "gt-c6" : "[power_saving]";
    struct gtel_str got;
    while (gtel_str_word(&text, &got)) {
        bool is_yes = gtel_str_eq(got, gtel_str_of(yes));
        if (is_yes || gtel_str_eq(got, gtel_str_of(no))) {
            put_u64(attr, cycle, is_yes);
            return;
        }
    }
}

static int unsigned_value(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle,
                          uint64_t value)
{
    switch ((enum gtel_intel_form)attr->form) {
    case GTEL_INTEL_FLAG:
        if (value > 1)
            return -ERANGE;
        put_u64(attr, cycle, value);
        return 0;
    case GTEL_INTEL_LEVEL:
        level(attr, cycle, value);
        return 0;
    case GTEL_INTEL_LIMIT:
        limit(attr, cycle, value);
        return 0;
    case GTEL_INTEL_COUNTER:
    case GTEL_INTEL_COUNTER32:
        counter(attr, cycle, value);
        return 0;
    case GTEL_INTEL_ENERGY:
        energy(attr, cycle, value);
        return 0;
    case GTEL_INTEL_FAN:
        fan(attr, cycle, value);
        return 0;
    default:
        if (value > UINT32_MAX) /* no clock in MHz */
            return -ERANGE;
        put_u64(attr, cycle, (uint64_t)((double)value * attr->scale));
        return 0;
    }
}

static int parse(struct gtel_intel_attr *attr, struct gtel_intel_cycle *cycle, struct gtel_str text)
{
    uint64_t value = 0;
    int64_t signed_value = 0;
    int r = 0;
    switch ((enum gtel_intel_form)attr->form) {
    case GTEL_INTEL_NUMBER:
        r = gtel_str_i64(text, &signed_value);
        if (r == 0)
            put_f64(attr, cycle, (double)signed_value * attr->scale);
        return r;
    case GTEL_INTEL_MASK:
        r = gtel_str_hex(text, &value);
        if (r == 0)
            put_u64(attr, cycle, value & 1);
        return r;
    case GTEL_INTEL_IDLE:
    case GTEL_INTEL_PROFILE:
        word(attr, cycle, text);
        return 0;
    case GTEL_INTEL_LINK_SPEED:
    case GTEL_INTEL_LINK_WIDTH:
        r = attr->form == GTEL_INTEL_LINK_SPEED ? gtel_link_speed(text, &value)
                                                : gtel_link_width(text, &value);
        if (r == 0)
            put_u64(attr, cycle, value);
        return r;
    default:
        r = gtel_str_u64(text, &value);
        return r < 0 ? r : unsigned_value(attr, cycle, value);
    }
}

int gtel_intel_attr_read(const struct gtel_env *env, struct gtel_intel_attr *attr,
                         struct gtel_intel_cycle *cycle)
{
    char buf[96];
    struct gtel_str text;
    int r = gtel_fs_read(env, &attr->file, buf, sizeof(buf), &text);
    if (r == 0)
        r = parse(attr, cycle, text);
    /* Two reads of a fan within one jiffy: xe answers EAGAIN, and the value stands. */
    if (r == -EAGAIN && attr->form == GTEL_INTEL_FAN) {
        if (attr->has_last)
            fan(attr, cycle, attr->last);
        r = 0;
    }
    return r == -ENOENT || r == -ENODATA || r == -EOPNOTSUPP ? 0 : r;
}
