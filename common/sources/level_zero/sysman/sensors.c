/* SPDX-License-Identifier: MIT */
/* Temperatures, fans and power supplies. */
#include "sources/level_zero/sysman/rows.h"

#include <math.h>

/* ---- temperature: degrees Celsius ---- */

/* An exact 0 is what drivers say for "no value" (level-zero issue 440). */
static bool is_temperature(double celsius)
{
    return isfinite(celsius) && celsius != 0 && celsius > -60 && celsius < 250;
}

GTEL_SYSMAN_READ(temperature)
{
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    double max = part->is.temperature.max;
    if (!is_temperature(got->celsius))
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_f64(pass, GTEL_M_TEMPERATURE, &place, got->celsius);
    /*
     * Only xe fills it in, of all sensors from the same file: that of the package's temperature at
     * which the GPU is shut down (compute-runtime: sysman, LinuxTemperatureImp).
     */
    if (part->type == GTEL_ZES_TEMP_GPU && is_temperature(max) && max > 0)
        gtel_sysman_add_f64(pass, GTEL_M_TEMPERATURE_EMERGENCY, &place, max);
    return GTEL_ZE_SUCCESS;
}

/*
 * Thresholds are the administrator's, for events: the lower of those for which getting warmer is
 * reported ends normal operation. Which temperature is the critical one is not said there.
 */
GTEL_SYSMAN_READ(threshold)
{
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (got->thresholds.on_critical == UINT8_MAX)
        return GTEL_ZE_NO_VALUE;
    double lowest = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(got->thresholds.threshold); i++) {
        double celsius = got->thresholds.threshold[i].celsius;
        if (got->thresholds.threshold[i].on_rise == 1 && is_temperature(celsius) && celsius > 0)
            lowest = lowest > 0 && lowest < celsius ? lowest : celsius;
    }
    if (lowest > 0)
        gtel_sysman_add_f64(pass, GTEL_M_TEMPERATURE_LIMIT, &place, lowest);
    return GTEL_ZE_SUCCESS;
}

/* ---- fans: revolutions per minute or percent, -1 is unknown ---- */

static bool has_rpm(const struct gtel_sysman_part *part)
{
    return (part->is.fan.units & 1U << GTEL_ZES_FAN_RPM) != 0 || part->is.fan.units == 0;
}

GTEL_SYSMAN_GET(fan)
{
    ret->speed = -1;
    return pass->sysman->call.zesFanGetState
               ? pass->sysman->call.zesFanGetState(
                     part->handle, has_rpm(part) ? GTEL_ZES_FAN_RPM : GTEL_ZES_FAN_PERCENT,
                     &ret->speed)
               : GTEL_ZE_UNSUPPORTED_FEATURE;
}

GTEL_SYSMAN_READ(fan)
{
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (got->speed < 0 || got->speed > (has_rpm(part) ? 100000 : 100))
        return GTEL_ZE_NO_VALUE;
    if (has_rpm(part))
        gtel_sysman_add_u64(pass, GTEL_M_FAN_RPM, &place, (uint64_t)got->speed);
    else
        gtel_sysman_add_f64(pass, GTEL_M_FAN, &place, got->speed * 1e-2);
    return GTEL_ZE_SUCCESS;
}

/* ---- power supplies: milliamperes, degrees Celsius; -1 is unknown ---- */

GTEL_SYSMAN_READ(psu)
{
    const struct gtel_zes_psu_state *psu = &got->psu_state;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (psu->voltage == UINT32_MAX)
        return GTEL_ZE_NO_VALUE;
    if (psu->voltage != GTEL_ZES_VOLTAGE_UNKNOWN && psu->voltage <= GTEL_ZES_VOLTAGE_UNDER)
        gtel_sysman_add_u64(pass, GTEL_M_VOLTAGE_FAULT, &place,
                            psu->voltage != GTEL_ZES_VOLTAGE_NORMAL);
    if (psu->current >= 0)
        gtel_sysman_add_f64(pass, GTEL_M_CURRENT, &place, psu->current * 1e-3);
    if (part->is.psu.max_current > 0)
        gtel_sysman_add_f64(pass, GTEL_M_CURRENT_LIMIT, &place, part->is.psu.max_current * 1e-3);
    if (psu->temperature > 0 && psu->temperature < 250)
        gtel_sysman_add_f64(pass, GTEL_M_TEMPERATURE, &place, psu->temperature);
    if (part->is.psu.has_fan && psu->has_fan_failed <= 1)
        gtel_sysman_add_u64(pass, GTEL_M_FAN_FAILED, &place, psu->has_fan_failed);
    return GTEL_ZE_SUCCESS;
}
