/* SPDX-License-Identifier: MIT */
/* Energy and power limits of the power domains. */
#include "sources/level_zero/sysman/rows.h"

#include <string.h>

/*
 * Battlemage and Crescent Island count energy in 32 bits of which 14 are fractions of a joule, and
 * the driver does not extend them: 2^18 J (compute-runtime: sysman power of BMG and CRI, telemetry
 * words).
 */
#define WRAP_UJ UINT64_C(262144000000)

/* No board of Intel's draws more; twice its limit where that is known. */
static const double watts_max = 2000;
enum { REJECTED_MAX = 2, LIMITS_MAX = 32, WATTS = 0, AMPERES = 1 };

static double most_of(double limit_w, uint64_t span_us)
{
    double max = limit_w > 0 && 2 * limit_w < watts_max ? 2 * limit_w : watts_max;
    return max * (double)span_us;
}

static bool is_fine_step(const struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                         uint64_t wrap_uj, double limit_w, uint64_t *ret_grown)
{
    if (now->timestamp <= energy->last_us)
        return false;
    *ret_grown = now->energy - energy->last_uj;
    if (now->energy < energy->last_uj) {
        if (energy->last_uj >= wrap_uj) /* 0: it has no end */
            return false;
        *ret_grown += wrap_uj;
    }
    return (double)*ret_grown <= most_of(limit_w, now->timestamp - energy->last_us);
}

/*
 * Over a span in which the counter may have wrapped more than once, nothing is known: it goes on
 * from where it was, in energy and in time. So does one that is lower after a sleep: it has wrapped
 * or restarted.
 *
 * Single readings far below their neighbours were seen on idle B60 and B70 (intel/compute-runtime
 * issue 938), and resets begin at 0. So a step that no board can make is skipped and the counter
 * goes on from where it was; when the new values stay, it goes on from there.
 */
bool gtel_sysman_energy_step(struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                             uint64_t wrap_uj, double limit_w)
{
    uint64_t grown = 0;
    if (energy->last_us == 0) {
        *energy = (struct gtel_sysman_energy){.last_uj = now->energy,
                                              .last_us = now->timestamp,
                                              .total_uj = now->energy,
                                              .total_us = now->timestamp};
        return true;
    }
    if (now->timestamp == energy->last_us)
        return false;
    bool is_lower = energy->has_slept && wrap_uj > 0 && now->energy < energy->last_uj;
    bool is_fine = is_fine_step(energy, now, wrap_uj, limit_w, &grown);
    bool is_long = wrap_uj > 0 && now->timestamp > energy->last_us &&
                   most_of(limit_w, now->timestamp - energy->last_us) >= (double)wrap_uj;
    bool is_unknown = is_lower || is_long;
    if (!is_fine && !is_unknown && ++energy->rejected <= REJECTED_MAX)
        return false;
    if (is_fine && !is_unknown) {
        energy->total_uj += grown;
        energy->total_us += now->timestamp - energy->last_us;
    }
    energy->last_uj = now->energy;
    energy->last_us = now->timestamp;
    energy->rejected = 0;
    energy->has_slept = false;
    return is_fine && !is_unknown; /* else the next step counts from here */
}

/* The largest limit of any domain. */
static double largest_limit(const struct gtel_sysman_gpu *gpu)
{
    const struct gtel_sysman_list *list = &gpu->list[GTEL_SYSMAN_POWER];
    double largest = 0;
    for (size_t i = 0; i < list->n; i++)
        for (size_t level = 0; level < GTEL_SYSMAN_LEVELS; level++) {
            double watts = list->part[i].is.power.limit[level][WATTS];
            largest = watts > largest ? watts : largest;
        }
    return largest;
}

bool gtel_sysman_wraps(const struct gtel_sysman_gpu *gpu)
{
    return gpu->hardware == GTEL_INTEL_BATTLEMAGE || gpu->hardware == GTEL_INTEL_CRESCENT_ISLAND;
}

void gtel_sysman_record_sleep(struct gtel_sysman_gpu *gpu)
{
    const struct gtel_sysman_list *list = &gpu->list[GTEL_SYSMAN_POWER];
    for (size_t i = 0; i < list->n; i++)
        list->part[i].is.power.energy.has_slept = true;
}

/*
 * Crescent Island's memory is two counters in one word, each of which wraps after 4 J
 * (compute-runtime: sysman of CRI, getPowerEnergyCounter()).
 *
 * Energy of card and package comes from telemetry or from the kernel's hwmon, whichever answers
 * (compute-runtime: sysman power, LinuxPowerImp::getEnergyCounter()), and nothing says from which;
 * that of chip and memory from telemetry alone.
 */
GTEL_SYSMAN_GET(energy)
{
    static const struct gtel_sysman_call call = GTEL_SYSMAN_CALL(zesPowerGetEnergyCounter, 0);
    const struct gtel_sysman_gpu *gpu = pass->gpu;
    bool is_memory = part->type == GTEL_ZES_POWER_MEMORY;
    bool may_be_hwmon = !is_memory && part->type != GTEL_ZES_POWER_GPU;
    pass->gpu->energy_ns = pass->now;
    if ((is_memory && gpu->hardware == GTEL_INTEL_CRESCENT_ISLAND) ||
        (may_be_hwmon && gpu->has_bad_energy))
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    return gtel_sysman_get(pass->sysman, &call, part->handle, NULL, ret, sizeof(*ret));
}

GTEL_SYSMAN_READ(energy)
{
    struct gtel_zes_energy now = got->energy;
    struct gtel_sysman_energy *energy = &part->is.power.energy;
    if (now.timestamp == UINT64_MAX || now.timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    /* Of Crescent Island's time only 32 bits are read, 112 s of it: ours is taken. */
    if (pass->gpu->hardware == GTEL_INTEL_CRESCENT_ISLAND)
        now.timestamp = gtel_env_now(pass->sysman->lz.cards.env) / 1000;
    /* A domain that nothing feeds stays at 0. */
    part->is_counting = part->is_counting || now.energy > 0;
    if (!part->is_counting ||
        !gtel_sysman_energy_step(energy, &now, gtel_sysman_wraps(pass->gpu) ? WRAP_UJ : 0,
                                 largest_limit(pass->gpu)))
        return GTEL_ZE_SUCCESS;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, energy->total_us);
    gtel_sysman_add_f64(pass, GTEL_M_ENERGY, &place, (double)energy->total_uj * 1e-6);
    return GTEL_ZE_SUCCESS;
}

/*
 * Milliwatts, or milliamperes: 0 is "off" and -1 "unknown". Of two of one kind the lower one binds.
 */
static void set_limit(struct gtel_sysman_part *part, uint32_t level, size_t unit, int32_t milli)
{
    double value = (double)milli * 1e-3;
    double *limit = &part->is.power.limit[level][unit];
    if (milli > 0)
        *limit = *limit > 0 && *limit < value ? *limit : value;
}

/*
 * Limits on battery are none on mains; one of a level or unit that is not known says nothing.
 * Intel's driver does not fill `is_enabled` in.
 */
static void set_limit_ext(struct gtel_sysman_part *part, const struct gtel_zes_limit_ext *limit)
{
    bool is_level =
        limit->level > GTEL_ZES_LEVEL_UNKNOWN && limit->level <= GTEL_ZES_LEVEL_INSTANTANEOUS;
    if (!is_level || limit->source == GTEL_ZES_SOURCE_BATTERY)
        return;
    if (limit->unit == GTEL_ZES_UNIT_POWER)
        set_limit(part, limit->level, WATTS, limit->limit);
    else if (limit->unit == GTEL_ZES_UNIT_CURRENT)
        set_limit(part, limit->level, AMPERES, limit->limit);
}

static uint32_t get_limits_old(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_limit_sustained sustained = {0};
    struct gtel_zes_limit_burst burst = {0};
    struct gtel_zes_limit_peak peak = {0};
    if (!pass->sysman->call.zesPowerGetLimits)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesPowerGetLimits(part->handle, &sustained, &burst, &peak);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    memset(part->is.power.limit, 0, sizeof(part->is.power.limit));
    set_limit(part, GTEL_ZES_LEVEL_SUSTAINED, WATTS,
              sustained.is_enabled == 1 ? sustained.power : 0);
    set_limit(part, GTEL_ZES_LEVEL_BURST, WATTS, burst.is_enabled == 1 ? burst.power : 0);
    set_limit(part, GTEL_ZES_LEVEL_PEAK, WATTS, peak.power_ac);
    return code;
}

/* By the newer call where the driver has it. */
GTEL_SYSMAN_GET(limits)
{
    static const struct gtel_sysman_array array = {
        .call = GTEL_SYSMAN_CALL(zesPowerGetLimitsExt, GTEL_ZES_TYPE_POWER_LIMIT_EXT),
        .size = sizeof(struct gtel_zes_limit_ext),
        .max = LIMITS_MAX};
    struct gtel_zes_limit_ext limit[LIMITS_MAX];
    uint32_t n;
    (void)ret;
    uint32_t code = gtel_sysman_get_array(pass->sysman, &array, part->handle, limit, &n);
    if (gtel_answer_of(code) == GTEL_ANSWER_ABSENT)
        return get_limits_old(pass, part);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    memset(part->is.power.limit, 0, sizeof(part->is.power.limit));
    for (uint32_t i = 0; i < n; i++)
        set_limit_ext(part, &limit[i]);
    return code;
}

/*
 * zes_power_level_t: means of power over a long, a short and a very short time; and the power that
 * the firmware expects of the clocks and voltages that are asked for.
 */
GTEL_SYSMAN_READ(limits)
{
    static const enum gtel_metric metrics[GTEL_SYSMAN_LEVELS][2] = {
        [GTEL_ZES_LEVEL_SUSTAINED] = {GTEL_M_POWER_LIMIT, GTEL_M_CURRENT_LIMIT},
        [GTEL_ZES_LEVEL_BURST] = {GTEL_M_POWER_BURST_LIMIT, GTEL_M_BURST_CURRENT_LIMIT},
        [GTEL_ZES_LEVEL_PEAK] = {GTEL_M_POWER_PEAK_LIMIT, GTEL_M_PEAK_CURRENT_LIMIT},
        [GTEL_ZES_LEVEL_INSTANTANEOUS] = {GTEL_M_INSTANT_POWER_LIMIT, GTEL_M_INSTANT_CURRENT_LIMIT},
    };
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    (void)got;
    for (size_t level = GTEL_ZES_LEVEL_SUSTAINED; level < GTEL_SYSMAN_LEVELS; level++)
        for (size_t unit = WATTS; unit <= AMPERES; unit++)
            if (part->is.power.limit[level][unit] > 0)
                gtel_sysman_add_f64(pass, metrics[level][unit], &place,
                                    part->is.power.limit[level][unit]);
    return GTEL_ZE_SUCCESS;
}
