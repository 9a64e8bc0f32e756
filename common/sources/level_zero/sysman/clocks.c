/* SPDX-License-Identifier: MIT */
/* Clocks, and why they are low. MHz; -1 is unknown. */
#include "sources/level_zero/sysman/rows.h"

/* As the kernel's sources: a media GT is gt 1 of a tile; with several tiles each has one GT. */
static struct gtel_sysman_place clock_place(const struct gtel_sysman_part *part)
{
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    place.dim[2] = gtel_str_of(part->tile_text);
    if (part->type == GTEL_ZES_FREQ_GPU)
        place.dim[1] = gtel_sysman_on_tile(part) ? place.dim[2] : GTEL_STR("0");
    else if (part->type == GTEL_ZES_FREQ_MEDIA && !gtel_sysman_on_tile(part))
        place.dim[1] = GTEL_STR("1");
    return place;
}

static bool is_clock(double mhz)
{
    return mhz >= 0 && mhz < 20000;
}

static void add_clock(const struct gtel_sysman_pass *pass, const struct gtel_sysman_place *place,
                      enum gtel_metric metric, double mhz)
{
    if (is_clock(mhz))
        gtel_sysman_add_u64(pass, metric, place, (uint64_t)(mhz * 1e6 + 0.5));
}

/* An exact 0 is no clock of the hardware, nor a limit. */
static void add_limit(const struct gtel_sysman_pass *pass, const struct gtel_sysman_place *place,
                      enum gtel_metric metric, double mhz)
{
    if (mhz > 0)
        add_clock(pass, place, metric, mhz);
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
 * No flag at all is also the answer of a driver that cannot read them (compute-runtime: frequency,
 * the kernel's throttle_reason_status): there is no value until one has been set. The same goes for
 * each flag that drivers may not know.
 */
static void add_reasons(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                        uint32_t flags)
{
    struct gtel_sysman_place at = {.dim = {[1] = clock_place(part).dim[1]}};
    part->is.frequency.reasons_seen |= flags;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++) {
        bool is_common = reasons[i].bit <= GTEL_ZES_THROTTLE_THERMAL_LIMIT;
        at.dim[0] = reasons[i].name;
        if ((part->is.frequency.reasons_seen & (is_common ? UINT32_MAX : reasons[i].bit)) != 0)
            gtel_sysman_add_u64(pass, GTEL_M_THROTTLE_ACTIVE, &at, (flags & reasons[i].bit) != 0);
    }
}

/* Under Windows the memory's clock of an A750 was in MT/s (oneapi-src/level-zero issue 440). */
static bool is_in_transfers(const struct gtel_sysman_gpu *gpu, const struct gtel_sysman_part *part)
{
    return gtel_sysman_is_dg2(gpu) && part->type == GTEL_ZES_FREQ_MEMORY &&
           part->is.frequency.hardware_max_mhz > 4000;
}

GTEL_SYSMAN_READ(clock)
{
    const struct gtel_zes_freq_state *clock = &got->clock;
    struct gtel_sysman_place place = clock_place(part);
    struct gtel_sysman_place domain = gtel_sysman_place_of(part, 0);
    if (is_in_transfers(pass->gpu, part))
        return GTEL_ZE_NO_VALUE;
    add_clock(pass, &place, GTEL_M_FREQUENCY_ACTUAL, clock->actual);
    if (clock->actual != 0) /* else the GT sleeps: source xe does not read it then either */
        add_clock(pass, &place, GTEL_M_FREQUENCY_REQUESTED, clock->request);
    add_limit(pass, &place, GTEL_M_FREQUENCY_EFFICIENT, clock->efficient);
    /* under the present power limit: rapl_PL1_freq_mhz of i915 */
    add_limit(pass, &place, GTEL_M_FREQUENCY_ACHIEVABLE, clock->tdp);
    if (clock->voltage > 0 && clock->voltage < 20 && !gtel_sysman_on_tile(part))
        gtel_sysman_add_f64(pass, GTEL_M_VOLTAGE, &domain, clock->voltage);
    if (part->type == GTEL_ZES_FREQ_GPU && clock->throttle_reasons != UINT32_MAX)
        add_reasons(pass, part, clock->throttle_reasons);
    return is_clock(clock->actual) || is_clock(clock->request) ? GTEL_ZE_SUCCESS : GTEL_ZE_NO_VALUE;
}

GTEL_SYSMAN_READ(range)
{
    struct gtel_sysman_place place = clock_place(part);
    if (is_in_transfers(pass->gpu, part))
        return GTEL_ZE_SUCCESS;
    add_clock(pass, &place, GTEL_M_FREQUENCY_MIN, got->range.min);
    add_clock(pass, &place, GTEL_M_FREQUENCY_MAX, got->range.max);
    add_limit(pass, &place, GTEL_M_FREQUENCY_HARDWARE_MIN, part->is.frequency.hardware_min_mhz);
    add_limit(pass, &place, GTEL_M_FREQUENCY_HARDWARE_MAX, part->is.frequency.hardware_max_mhz);
    return GTEL_ZE_SUCCESS;
}

GTEL_SYSMAN_READ(throttle)
{
    const struct gtel_zes_throttle_time *throttle = &got->throttle;
    struct gtel_sysman_place whole = {.t_us = throttle->timestamp};
    if (throttle->timestamp == UINT64_MAX || throttle->timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    if (part->type == GTEL_ZES_FREQ_GPU && !gtel_sysman_on_tile(part))
        gtel_sysman_add_f64(pass, GTEL_M_GPU_THROTTLED_TIME, &whole,
                            (double)throttle->throttled * 1e-6);
    return GTEL_ZE_SUCCESS;
}
