/* SPDX-License-Identifier: MIT */
/* Energy and power limits of the power domains. */
#include "sources/level_zero/sysman/sysman.h"

#include <string.h>

#define MINUTE_NS 60000000000u

/*
 * Battlemage and Crescent Island count energy in 32 bits of which 14 are fractions of a joule, and
 * the driver does not carry them on: 2^18 J (compute-runtime: sysman power of BMG and CRI,
 * telemetry words).
 */
#define WRAP_UJ UINT64_C(262144000000)

/* No board of Intel's draws more; twice its limit where that is known. */
static const double watts_max = 2000;
enum { DOUBTS_MAX = 2, LIMITS_MAX = 16, WATTS = 0, AMPERES = 1 };

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
        if (wrap_uj == 0 || energy->last_uj >= wrap_uj)
            return false;
        *ret_grown += wrap_uj;
    }
    return (double)*ret_grown <= most_of(limit_w, now->timestamp - energy->last_us);
}

/*
 * Over a span in which the counter may have begun anew more than once, nothing is known: it goes on
 * from where it was, in energy and in time. So does one that is lower after a sleep: it has been at
 * its end, or has begun anew.
 *
 * Single readings far below their neighbours were seen on idle B60 and B70 (intel/compute-runtime
 * issue 938), and resets begin at 0. So a step that no board can make is left out and the counter
 * goes on from where it was; when the new figures stay, it goes on from there.
 */
bool gtel_sysman_energy_step(struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                             uint64_t wrap_uj, double limit_w)
{
    uint64_t grown = 0;
    if (!energy->has_last) {
        *energy = (struct gtel_sysman_energy){.has_last = true,
                                              .last_uj = now->energy,
                                              .last_us = now->timestamp,
                                              .total_uj = now->energy,
                                              .total_us = now->timestamp};
        return true;
    }
    if (now->timestamp == energy->last_us)
        return false;
    bool is_cut = energy->has_slept && wrap_uj > 0 && now->energy < energy->last_uj;
    bool is_fine = is_fine_step(energy, now, wrap_uj, limit_w, &grown);
    bool is_long = wrap_uj > 0 && now->timestamp > energy->last_us &&
                   most_of(limit_w, now->timestamp - energy->last_us) >= (double)wrap_uj;
    bool is_unknown = is_cut || is_long;
    if (!is_fine && !is_unknown && ++energy->doubts <= DOUBTS_MAX)
        return false;
    if (is_fine && !is_unknown) {
        energy->total_uj += grown;
        energy->total_us += now->timestamp - energy->last_us;
    }
    energy->last_uj = now->energy;
    energy->last_us = now->timestamp;
    energy->doubts = 0;
    energy->has_slept = false;
    return is_fine && !is_unknown; /* else the next step is counted from here */
}

static struct gtel_sysman_place place_of(const struct gtel_sysman_part *part, uint64_t t_us)
{
    return (struct gtel_sysman_place){.dim = {gtel_str_of(part->name)}, .t_us = t_us};
}

/* The largest limit of any domain, for the gate. */
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

void gtel_sysman_note_sleep(struct gtel_sysman_gpu *gpu)
{
    struct gtel_sysman_list *list = &gpu->list[GTEL_SYSMAN_POWER];
    for (size_t i = 0; i < list->n; i++)
        list->part[i].is.power.energy.has_slept = true;
}

/*
 * Energy of card and package comes from telemetry or from the kernel's hwmon, whichever answers
 * (compute-runtime: sysman power, LinuxPowerImp::getEnergyCounter()), and nothing says from which;
 * that of chip and memory from telemetry alone.
 */
static bool may_be_hwmon(const struct gtel_sysman_part *part)
{
    return part->type != GTEL_ZES_POWER_GPU && part->type != GTEL_ZES_POWER_MEMORY;
}

/*
 * Crescent Island's memory is two counters in one word, each of which begins anew after 4 J; of its
 * time only 32 bits are read, 112 s of it, so that ours is taken (compute-runtime: sysman of CRI,
 * getPowerEnergyCounter()).
 */
static uint32_t ask_energy(const struct gtel_sysman_pass *pass, const struct gtel_sysman_part *part,
                           struct gtel_zes_energy *ret)
{
    bool is_crescent_island = pass->gpu->hardware == GTEL_INTEL_CRESCENT_ISLAND;
    *ret = (struct gtel_zes_energy){.timestamp = UINT64_MAX};
    if (is_crescent_island && part->type == GTEL_ZES_POWER_MEMORY)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    if (pass->gpu->has_bad_energy && may_be_hwmon(part))
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesPowerGetEnergyCounter(part->handle, ret);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (ret->timestamp == UINT64_MAX || ret->timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    if (is_crescent_island)
        ret->timestamp = gtel_env_now(pass->sysman->cards.env) / 1000;
    return code;
}

uint32_t gtel_sysman_read_energy(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_energy got;
    struct gtel_sysman_energy *energy = &part->is.power.energy;
    pass->gpu->energy_ns = pass->now;
    uint32_t code = ask_energy(pass, part, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    /* A domain that nothing feeds stays at 0. */
    part->is_counting = part->is_counting || got.energy > 0;
    if (!part->is_counting ||
        !gtel_sysman_energy_step(energy, &got, gtel_sysman_wraps(pass->gpu) ? WRAP_UJ : 0,
                                 largest_limit(pass->gpu)))
        return GTEL_ZE_SUCCESS;
    struct gtel_sysman_place place = place_of(part, energy->total_us);
    gtel_sysman_put_f64(pass, GTEL_M_ENERGY, &place, (double)energy->total_uj * 1e-6);
    return GTEL_ZE_SUCCESS;
}

static void clear_limits(struct gtel_sysman_part *part)
{
    memset(part->is.power.limit, 0, sizeof(part->is.power.limit));
}

/* Milliwatts, or milliamperes: 0 is "off" and -1 "unknown". Of two of one kind the lower one binds.
 */
static void take(struct gtel_sysman_part *part, uint32_t level, size_t unit, int32_t milli)
{
    double value = (double)milli * 1e-3;
    double *limit = &part->is.power.limit[level][unit];
    if (milli > 0)
        *limit = *limit > 0 && *limit < value ? *limit : value;
}

/* Limits on battery are none on mains; one of a level or unit that is not known says nothing. */
static void take_limit(struct gtel_sysman_part *part, const struct gtel_zes_limit_ext *limit)
{
    bool is_level =
        limit->level > GTEL_ZES_LEVEL_UNKNOWN && limit->level <= GTEL_ZES_LEVEL_INSTANTANEOUS;
    if (!is_level || limit->source == GTEL_ZES_SOURCE_BATTERY)
        return;
    if (limit->unit == GTEL_ZES_UNIT_POWER)
        take(part, limit->level, WATTS, limit->limit);
    else if (limit->unit == GTEL_ZES_UNIT_CURRENT)
        take(part, limit->level, AMPERES, limit->limit);
}

/* `enabled` is not looked at: Intel's driver does not fill it in. */
static uint32_t ask_limits_ext(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_limit_ext got[LIMITS_MAX];
    uint32_t count = 0;
    if (!pass->sysman->call.zesPowerGetLimitsExt)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesPowerGetLimitsExt(part->handle, &count, NULL);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (count == 0) {
        clear_limits(part);
        return code;
    }
    memset(got, 0, sizeof(got));
    for (size_t i = 0; i < LIMITS_MAX; i++)
        got[i] =
            (struct gtel_zes_limit_ext){.head.type = GTEL_ZES_TYPE_POWER_LIMIT_EXT, .limit = -1};
    count = count < LIMITS_MAX ? count : LIMITS_MAX;
    uint32_t room = count;
    code = pass->sysman->call.zesPowerGetLimitsExt(part->handle, &count, got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    clear_limits(part);
    for (uint32_t i = 0; i < count && i < room; i++)
        take_limit(part, &got[i]);
    return code;
}

static uint32_t ask_limits(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_limit_sustained sustained = {.power = -1};
    struct gtel_zes_limit_burst burst = {.power = -1};
    struct gtel_zes_limit_peak peak = {-1, -1};
    if (!pass->sysman->call.zesPowerGetLimits)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesPowerGetLimits(part->handle, &sustained, &burst, &peak);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    clear_limits(part);
    take(part, GTEL_ZES_LEVEL_SUSTAINED, WATTS, sustained.is_enabled == 1 ? sustained.power : 0);
    take(part, GTEL_ZES_LEVEL_BURST, WATTS, burst.is_enabled == 1 ? burst.power : 0);
    take(part, GTEL_ZES_LEVEL_PEAK, WATTS, peak.power_ac);
    return code;
}

/*
 * zes_power_level_t: means of power over a long, a short and a very short time; and the power that
 * the firmware expects of the clocks and voltages that are asked for.
 */
static const enum gtel_metric limits[GTEL_SYSMAN_LEVELS][2] = {
    [GTEL_ZES_LEVEL_SUSTAINED] = {GTEL_M_POWER_LIMIT, GTEL_M_CURRENT_LIMIT},
    [GTEL_ZES_LEVEL_BURST] = {GTEL_M_POWER_BURST_LIMIT, GTEL_M_BURST_CURRENT_LIMIT},
    [GTEL_ZES_LEVEL_PEAK] = {GTEL_M_POWER_PEAK_LIMIT, GTEL_M_PEAK_CURRENT_LIMIT},
    [GTEL_ZES_LEVEL_INSTANTANEOUS] = {GTEL_M_INSTANT_POWER_LIMIT, GTEL_M_INSTANT_CURRENT_LIMIT},
};

static void put_limits(const struct gtel_sysman_pass *pass, const struct gtel_sysman_part *part)
{
    struct gtel_sysman_place place = place_of(part, 0);
    for (size_t level = GTEL_ZES_LEVEL_SUSTAINED; level < GTEL_SYSMAN_LEVELS; level++)
        for (size_t unit = WATTS; unit <= AMPERES; unit++)
            if (part->is.power.limit[level][unit] > 0)
                gtel_sysman_put_f64(pass, limits[level][unit], &place,
                                    part->is.power.limit[level][unit]);
}

uint32_t gtel_sysman_read_limits(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    if (part->is.power.limits_due_ns <= pass->now) {
        uint32_t code = ask_limits_ext(pass, part);
        if (gtel_sysman_is_permanent(code) && code != GTEL_ZE_NO_PERMISSION)
            code = ask_limits(pass, part);
        if (code != GTEL_ZE_SUCCESS)
            return code;
        part->is.power.limits_due_ns = pass->now + MINUTE_NS;
    }
    put_limits(pass, part);
    return GTEL_ZE_SUCCESS;
}
