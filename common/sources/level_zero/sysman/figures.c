/* SPDX-License-Identifier: MIT */
/* Temperatures, clocks, memory, errors and fans. */
#include "sources/level_zero/sysman/sysman.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MINUTE_NS 60000000000u

enum { RAS_EXP_MAX = 64 };

/* ---- temperature: degrees Celsius ---- */

/* An exact 0 is what drivers say for "no value" (level-zero issue 440). */
static bool is_temperature(double celsius)
{
    return isfinite(celsius) && celsius != 0 && celsius > -60 && celsius < 250;
}

uint32_t gtel_sysman_read_temperature(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    double celsius = NAN;
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    uint32_t code = pass->sysman->call.zesTemperatureGetState(part->handle, &celsius);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (!is_temperature(celsius))
        return GTEL_SYSMAN_NO_VALUE;
    gtel_sysman_put_f64(pass, GTEL_M_TEMPERATURE, &place, celsius);
    /*
     * Only xe fills it in, of all sensors from the same file: that of the package's temperature at
     * which the GPU is shut down (compute-runtime: sysman, LinuxTemperatureImp).
     */
    if (part->type == GTEL_ZES_TEMP_GPU && is_temperature(part->is.temperature.max) &&
        part->is.temperature.max > 0)
        gtel_sysman_put_f64(pass, GTEL_M_TEMPERATURE_EMERGENCY, &place, part->is.temperature.max);
    return GTEL_ZE_SUCCESS;
}

/*
 * Thresholds are the administrator's, for events: the lower of those that are to be told on getting
 * warmer ends normal operation. Which temperature is the critical one is not said there. Intel's
 * driver has none (level zero: compute-runtime, temperature), so it is asked once a minute at most.
 */
uint32_t gtel_sysman_read_threshold(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    if (part->is.temperature.threshold_due_ns <= pass->now) {
        struct gtel_zes_temp_config got = {.head.type = GTEL_ZES_TYPE_TEMP_CONFIG,
                                           .on_critical = UINT8_MAX};
        uint32_t code = pass->sysman->call.zesTemperatureGetConfig(part->handle, &got);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        if (got.on_critical == UINT8_MAX)
            return GTEL_SYSMAN_NO_VALUE;
        part->is.temperature.threshold_due_ns = pass->now + MINUTE_NS;
        part->is.temperature.threshold = -1;
        for (size_t i = 0; i < GTEL_ARRAY_LEN(got.threshold); i++) {
            double celsius = got.threshold[i].celsius;
            double *lowest = &part->is.temperature.threshold;
            if (got.threshold[i].on_rise == 1 && is_temperature(celsius) && celsius > 0)
                *lowest = *lowest > 0 && *lowest < celsius ? *lowest : celsius;
        }
    }
    if (part->is.temperature.threshold > 0)
        gtel_sysman_put_f64(pass, GTEL_M_TEMPERATURE_LIMIT, &place, part->is.temperature.threshold);
    return GTEL_ZE_SUCCESS;
}

/* ---- clocks: MHz, -1 is unknown ---- */

/* As the kernel's sources: a media GT is gt 1 of a tile; with several tiles each has one GT. */
static struct gtel_sysman_place clock_place(const struct gtel_sysman_part *part)
{
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    place.dim[2] = gtel_str_of(part->tile_text);
    if (part->type == GTEL_ZES_FREQ_GPU)
        place.dim[1] = part->is_on_tile ? gtel_str_of(part->tile_text) : GTEL_STR("0");
    else if (part->type == GTEL_ZES_FREQ_MEDIA && !part->is_on_tile)
        place.dim[1] = GTEL_STR("1");
    return place;
}

static bool is_clock(double mhz)
{
    return mhz >= 0 && mhz < 20000;
}

static void put_clock(const struct gtel_sysman_pass *pass, const struct gtel_sysman_place *place,
                      enum gtel_metric metric, double mhz)
{
    if (is_clock(mhz))
        gtel_sysman_put_u64(pass, metric, place, (uint64_t)(mhz * 1e6 + 0.5));
}

/* The first four have the kernel's names for the same flags. */
static const struct {
    uint32_t bit;
    struct gtel_str name;
} reasons[] = {
    {GTEL_ZES_THROTTLE_AVE_PWR_CAP, GTEL_STR_INIT("pl1")},
    {GTEL_ZES_THROTTLE_BURST_PWR_CAP, GTEL_STR_INIT("pl2")},
    {GTEL_ZES_THROTTLE_CURRENT_LIMIT, GTEL_STR_INIT("pl4")},
    {GTEL_ZES_THROTTLE_THERMAL_LIMIT, GTEL_STR_INIT("thermal")},
    {GTEL_ZES_THROTTLE_PSU_ALERT, GTEL_STR_INIT("psu_alert")},
    {GTEL_ZES_THROTTLE_HW_RANGE, GTEL_STR_INIT("hardware_range")},
    {GTEL_ZES_THROTTLE_VOLTAGE, GTEL_STR_INIT("any_voltage")},
    {GTEL_ZES_THROTTLE_THERMAL, GTEL_STR_INIT("any_thermal")},
    {GTEL_ZES_THROTTLE_POWER, GTEL_STR_INIT("any_power")},
};

/*
 * No flag at all is also what a driver says that cannot read them (compute-runtime: frequency, the
 * kernel's throttle_reason_status): nothing is told until one has been set. The same goes for each
 * flag that drivers may not know.
 */
static void put_reasons(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                        uint32_t flags)
{
    struct gtel_sysman_place place = clock_place(part);
    struct gtel_sysman_place at = {.dim = {{NULL, 0}, place.dim[1]}};
    part->is.frequency.reasons_seen |= flags;
    part->is.frequency.is_withheld = part->is.frequency.reasons_seen == 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++) {
        bool is_common = reasons[i].bit <= GTEL_ZES_THROTTLE_THERMAL_LIMIT;
        at.dim[0] = reasons[i].name;
        if ((part->is.frequency.reasons_seen & (is_common ? UINT32_MAX : reasons[i].bit)) != 0)
            gtel_sysman_put_u64(pass, GTEL_M_THROTTLE_ACTIVE, &at, (flags & reasons[i].bit) != 0);
    }
}

uint32_t gtel_sysman_read_frequency(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_freq_state got = {.head.type = GTEL_ZES_TYPE_FREQ_STATE,
                                      .voltage = -1,
                                      .request = -1,
                                      .tdp = -1,
                                      .efficient = -1,
                                      .actual = -1,
                                      .throttle_reasons = UINT32_MAX};
    struct gtel_sysman_place place = clock_place(part);
    uint32_t code = pass->sysman->call.zesFrequencyGetState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    bool is_main = part->type == GTEL_ZES_FREQ_GPU;
    if (part->type != GTEL_ZES_FREQ_MEMORY) { /* which stops for no standstill */
        pass->still_clocks += got.actual == 0;
        pass->is_running = pass->is_running || got.actual > 0;
    }
    put_clock(pass, &place, GTEL_M_FREQUENCY_ACTUAL, got.actual);
    put_clock(pass, &place, GTEL_M_FREQUENCY_REQUESTED, got.request);
    if (got.efficient > 0)
        put_clock(pass, &place, GTEL_M_FREQUENCY_EFFICIENT, got.efficient);
    if (got.tdp > 0) /* under the present power limit: rapl_PL1_freq_mhz of i915 */
        put_clock(pass, &place, GTEL_M_FREQUENCY_ACHIEVABLE, got.tdp);
    if (got.voltage > 0 && got.voltage < 20) {
        struct gtel_sysman_place domain = {.dim = {place.dim[0]}};
        if (!part->is_on_tile)
            gtel_sysman_put_f64(pass, GTEL_M_VOLTAGE, &domain, got.voltage);
    }
    if (is_main && got.throttle_reasons != UINT32_MAX)
        put_reasons(pass, part, got.throttle_reasons);
    return is_clock(got.actual) || is_clock(got.request) ? GTEL_ZE_SUCCESS : GTEL_SYSMAN_NO_VALUE;
}

uint32_t gtel_sysman_read_range(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_sysman_place place = clock_place(part);
    if (part->is.frequency.range_due_ns <= pass->now) {
        struct gtel_zes_freq_range got = {-1, -1};
        uint32_t code = pass->sysman->call.zesFrequencyGetRange(part->handle, &got);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        part->is.frequency.range_due_ns = pass->now + MINUTE_NS;
        part->is.frequency.min_mhz = got.min;
        part->is.frequency.max_mhz = got.max;
    }
    put_clock(pass, &place, GTEL_M_FREQUENCY_MIN, part->is.frequency.min_mhz);
    put_clock(pass, &place, GTEL_M_FREQUENCY_MAX, part->is.frequency.max_mhz);
    /* An exact 0 is no clock of the hardware. */
    if (part->is.frequency.hardware_min_mhz > 0)
        put_clock(pass, &place, GTEL_M_FREQUENCY_HARDWARE_MIN, part->is.frequency.hardware_min_mhz);
    if (part->is.frequency.hardware_max_mhz > 0)
        put_clock(pass, &place, GTEL_M_FREQUENCY_HARDWARE_MAX, part->is.frequency.hardware_max_mhz);
    return GTEL_ZE_SUCCESS;
}

uint32_t gtel_sysman_read_throttle(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_throttle_time got = {.timestamp = UINT64_MAX};
    uint32_t code = pass->sysman->call.zesFrequencyGetThrottleTime(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.timestamp == UINT64_MAX || got.timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    if (part->type != GTEL_ZES_FREQ_GPU)
        return GTEL_ZE_SUCCESS;
    struct gtel_sysman_place whole = {.t_us = got.timestamp};
    if (!part->is_on_tile)
        gtel_sysman_put_f64(pass, GTEL_M_GPU_THROTTLED_TIME, &whole, (double)got.throttled * 1e-6);
    return GTEL_ZE_SUCCESS;
}

/* ---- memory: bytes ---- */

/* Ponte Vecchio tells it (compute-runtime: sysman memory); others say that it is not known. */
static void put_health(const struct gtel_sysman_pass *pass, const struct gtel_sysman_place *place,
                       uint32_t health)
{
    switch (health) {
    case GTEL_ZES_MEM_HEALTH_OK:
        gtel_sysman_put_u64(pass, GTEL_M_MEMORY_HEALTH, place, 0);
        break;
    case GTEL_ZES_MEM_HEALTH_DEGRADED:
        gtel_sysman_put_u64(pass, GTEL_M_MEMORY_HEALTH, place, 1);
        break;
    case GTEL_ZES_MEM_HEALTH_CRITICAL:
    case GTEL_ZES_MEM_HEALTH_REPLACE:
        gtel_sysman_put_u64(pass, GTEL_M_MEMORY_HEALTH, place, 2);
        break;
    default:
        break;
    }
}

/* Without CAP_PERFMON drivers say that nothing is used: 0 is no figure (SYSMAN.md). */
uint32_t gtel_sysman_read_memory(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_mem_state got = {
        .head.type = GTEL_ZES_TYPE_MEM_STATE, .free = UINT64_MAX, .size = UINT64_MAX};
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    uint32_t code = pass->sysman->call.zesMemoryGetState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.size == 0 || got.size == UINT64_MAX)
        return GTEL_SYSMAN_NO_VALUE;
    gtel_sysman_put_u64(pass, GTEL_M_MEMORY_TOTAL, &place, got.size);
    put_health(pass, &place, got.health);
    if (got.free >= got.size)
        return GTEL_ZE_SUCCESS;
    uint64_t used = got.size - got.free;
    gtel_sysman_put_u64(pass, GTEL_M_MEMORY_USED, &place, used);
    gtel_sysman_put_f64(pass, GTEL_M_MEMORY_USED_RATIO, &place, (double)used / (double)got.size);
    return GTEL_ZE_SUCCESS;
}

/*
 * Each step by the peak bandwidth of its end: Battlemage tells it anew each time, and it moves. A
 * step over which a counter went back is left out.
 */
static bool bandwidth_step(struct gtel_sysman_bandwidth *bandwidth,
                           const struct gtel_zes_mem_bandwidth *now)
{
    struct gtel_sysman_bandwidth last = *bandwidth;
    bandwidth->has_last = true;
    bandwidth->last_read = now->read;
    bandwidth->last_write = now->write;
    bandwidth->last_us = now->timestamp;
    if (last.has_last && (now->read < last.last_read || now->write < last.last_write ||
                          now->timestamp < last.last_us))
        return false;
    double grown = (double)(now->read - last.last_read) + (double)(now->write - last.last_write);
    bandwidth->peak_s += grown / (double)now->max;
    bandwidth->total_us += now->timestamp - last.last_us;
    return true;
}

/*
 * Of Ponte Vecchio they are sums of four counters of 32 bits and 32 bytes, but where firmware has
 * wider ones (compute-runtime: sysman memory). Each begins anew after 137 GB, at full speed twelve
 * times a second for the sum: a step tells nothing then.
 */
static bool is_wrapping(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    if (pass->gpu->hardware != GTEL_INTEL_PONTE_VECCHIO)
        return false;
    if (part->is.memory.counter_bits == 0)
        part->is.memory.counter_bits =
            gtel_sysman_counter_bits(pass->sysman->cards.env, &pass->gpu->card->drm, part->tile);
    return part->is.memory.counter_bits < 64;
}

/*
 * Counters are bytes, whatever the specification says of transactions. A peak bandwidth of less
 * than a megabyte per second is none.
 */
uint32_t gtel_sysman_read_bandwidth(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_mem_bandwidth got = {.timestamp = UINT64_MAX};
    if (is_wrapping(pass, part))
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesMemoryGetBandwidth(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.timestamp == UINT64_MAX || got.timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    part->is_counting = part->is_counting || got.read > 0 || got.write > 0;
    if (!part->is_counting)
        return GTEL_SYSMAN_NO_VALUE;
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}, .t_us = got.timestamp};
    gtel_sysman_put_u64(pass, GTEL_M_MEMORY_READ, &place, got.read);
    gtel_sysman_put_u64(pass, GTEL_M_MEMORY_WRITE, &place, got.write);
    struct gtel_sysman_bandwidth *bandwidth = &part->is.memory.bandwidth;
    if (got.max < 1000000 || !bandwidth_step(bandwidth, &got))
        return GTEL_ZE_SUCCESS;
    place.t_us = bandwidth->total_us;
    gtel_sysman_put_f64(pass, GTEL_M_MEMORY_PEAK_TIME, &place, bandwidth->peak_s);
    if (gtel_sysman_wanted(&pass->gpu->list[GTEL_SYSMAN_MEMORY]) == 1) {
        place.dim[0] = GTEL_STR_NONE;
        gtel_sysman_put_f64(pass, GTEL_M_GPU_MEMORY_PEAK_TIME, &place, bandwidth->peak_s);
    }
    return GTEL_ZE_SUCCESS;
}

/* ---- errors ---- */

/* zes_ras_error_category_exp_t; the first seven are those of zes_ras_error_cat_t. */
static const char *const categories[] = {
    "reset",  "programming", "driver",    "compute", "non-compute", "cache",        "display",
    "memory", "scale",       "l3-fabric", "pcie",    "fabric",      "soc-internal",
};

/* Errors of tiles count in the set of the card as well, where there are both. */
static bool is_in_sum(const struct gtel_sysman_pass *pass, const struct gtel_sysman_part *part)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_RAS];
    return part->use != GTEL_SYSMAN_LEFT_OUT &&
           part->is_on_tile == gtel_sysman_has_tiles(list, part->type);
}

static void put_errors(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                       uint32_t category, uint64_t count)
{
    char text[48];
    struct gtel_sysman_place place = {.dim = {{NULL, 0}, gtel_str_of(part->name)}};
    if (count == UINT64_MAX || category >= GTEL_ARRAY_LEN(categories))
        return;
    (void)snprintf(text, sizeof(text), part->is_on_tile ? "ras-%s-tile%s" : "ras-%s%s",
                   categories[category], part->tile_text);
    place.dim[0] = gtel_batch_text(pass->batch, gtel_str_of(text));
    gtel_sysman_put_u64(pass, GTEL_M_ERROR_COUNT, &place, count);
    if (category != GTEL_ZES_RAS_RESET)
        return;
    part->is.ras.resets_ns = pass->now;
    if (is_in_sum(pass, part)) {
        pass->resets += count;
        pass->has_resets = true;
    }
}

/*
 * Drivers leave out, with success, what one of their places did not tell this time
 * (compute-runtime: sysman, ras): a set that has told its resets is read only with them.
 */
static void note_set(struct gtel_sysman_pass *pass, const struct gtel_sysman_part *part)
{
    bool is_whole = part->is.ras.resets_ns == 0 || part->is.ras.resets_ns == pass->now;
    pass->resets_read += is_whole && is_in_sum(pass, part);
}

static uint32_t ask_ras_exp(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_ras_state_exp got[RAS_EXP_MAX];
    uint32_t count = 0;
    if (!pass->sysman->call.zesRasGetStateExp)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesRasGetStateExp(part->handle, &count, NULL);
    if (code != GTEL_ZE_SUCCESS || count == 0)
        return code;
    count = count < RAS_EXP_MAX ? count : RAS_EXP_MAX;
    uint32_t room = count;
    for (size_t i = 0; i < RAS_EXP_MAX; i++)
        got[i] = (struct gtel_zes_ras_state_exp){UINT32_MAX, UINT64_MAX};
    code = pass->sysman->call.zesRasGetStateExp(part->handle, &count, got);
    for (uint32_t i = 0; code == GTEL_ZE_SUCCESS && i < count && i < room; i++)
        put_errors(pass, part, got[i].category, got[i].count);
    return code;
}

/* Never with `clear`: that is control, and would take the figures from other readers. */
uint32_t gtel_sysman_read_ras(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_ras_state got;
    uint32_t code = ask_ras_exp(pass, part);
    if (code == GTEL_ZE_SUCCESS)
        note_set(pass, part);
    if (!gtel_sysman_is_permanent(code) || code == GTEL_ZE_NO_PERMISSION ||
        !pass->sysman->call.zesRasGetState)
        return code;
    memset(&got, 0xff, sizeof(got));
    got.head = (struct gtel_zes_head){.type = GTEL_ZES_TYPE_RAS_STATE};
    code = pass->sysman->call.zesRasGetState(part->handle, 0, &got);
    for (uint32_t i = 0; code == GTEL_ZE_SUCCESS && i < GTEL_ZES_RAS_CATEGORIES; i++)
        put_errors(pass, part, i, got.category[i]);
    if (code == GTEL_ZE_SUCCESS)
        note_set(pass, part);
    return code;
}

/* ---- fans: revolutions per minute or percent, -1 is unknown ---- */

uint32_t gtel_sysman_read_fan(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    bool has_rpm = (part->is.fan.units & 1U << GTEL_ZES_FAN_RPM) != 0 || part->is.fan.units == 0;
    uint32_t units = has_rpm ? GTEL_ZES_FAN_RPM : GTEL_ZES_FAN_PERCENT;
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    int32_t speed = -1;
    uint32_t code = pass->sysman->call.zesFanGetState(part->handle, units, &speed);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (speed < 0 || speed > 100000 || (!has_rpm && speed > 100))
        return GTEL_SYSMAN_NO_VALUE;
    if (!has_rpm) {
        gtel_sysman_put_f64(pass, GTEL_M_FAN, &place, (double)speed * 1e-2);
        return GTEL_ZE_SUCCESS;
    }
    gtel_sysman_put_u64(pass, GTEL_M_FAN_RPM, &place, (uint64_t)speed);
    return GTEL_ZE_SUCCESS;
}

/* ---- the whole GPU ---- */

static size_t sets_in_sum(const struct gtel_sysman_pass *pass)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_RAS];
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += is_in_sum(pass, &list->part[i]) || list->part[i].use == GTEL_SYSMAN_UNDESCRIBED;
    return n;
}

void gtel_sysman_put_resets(const struct gtel_sysman_pass *pass)
{
    /* Of all tiles and severities, or the sum would go back for want of one. */
    if (pass->has_resets && pass->resets_read == sets_in_sum(pass))
        gtel_sysman_put_u64(pass, GTEL_M_GPU_RESETS, NULL, pass->resets);
}
