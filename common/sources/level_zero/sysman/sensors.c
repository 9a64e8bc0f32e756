/* SPDX-License-Identifier: MIT */
/* Temperatures and fans. */
#include "sources/level_zero/sysman/rows.h"

#include <math.h>
#include <string.h>

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
     * Of xe it is, for all sensors, the package's temperature at which the GPU is shut down
     * (compute-runtime: sysman, LinuxTemperatureImp); of i915 none; under Windows the highest that
     * its driver supports, whatever that is (WddmTemperatureImp, MaxTempSupported).
     */
    if (strcmp(pass->gpu->card->drm.driver, "xe") == 0 && part->type == GTEL_ZES_TEMP_GPU &&
        is_temperature(max) && max > 0)
        gtel_sysman_add_f64(pass, GTEL_M_TEMPERATURE_EMERGENCY, &place, max);
    return GTEL_ZE_SUCCESS;
}

/* ---- fans: revolutions per minute, -1 is unknown ---- */

GTEL_SYSMAN_GET(fan)
{
    ret->speed = -1;
    return pass->sysman->call.zesFanGetState
               ? pass->sysman->call.zesFanGetState(part->handle, GTEL_ZES_FAN_RPM, &ret->speed)
               : GTEL_ZE_UNSUPPORTED_FEATURE;
}

GTEL_SYSMAN_READ(fan)
{
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (got->speed < 0 || got->speed > 100000)
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_FAN_RPM, &place, (uint64_t)got->speed);
    return GTEL_ZE_SUCCESS;
}
