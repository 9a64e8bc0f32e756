/* SPDX-License-Identifier: MIT */
/* Opens the loader of Level Zero and starts it. */
#include "sources/level_zero/sysman/sysman.h"

#include "sources/level_zero/level_zero.h"

#include <errno.h>

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZES_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zes_calls, name), need},
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
#undef OPTIONAL
#undef REQUIRED
};

const char *gtel_sysman_advice(uint32_t code)
{
    if (code == GTEL_ZE_UNSUPPORTED_FEATURE)
        return "this loader is too old for this driver: version 1.9.4 has zesInit";
    return gtel_level_zero_advice(code);
}

static void fail(struct gtel_sysman *sysman, uint32_t code)
{
    sysman->start = GTEL_SYSMAN_FAILED;
    sysman->start_code = code;
    gtel_log(&sysman->cards.env->log, GTEL_LOG_INFO,
             "sysman: Level Zero is not used, code 0x%x: %s", (unsigned)code,
             gtel_sysman_advice(code));
}

/*
 * Loaders before 1.9.4 know Sysman as a part of the core API alone, and only where this variable is
 * set before the first zeInit. Only then: with zesInit it would break GPUs before Xe2. It works
 * with i915 alone (compute-runtime: SYSMAN.md).
 */
static uint32_t start_legacy(struct gtel_sysman *sysman, bool has_i915)
{
    const struct gtel_zes_calls *call = &sysman->call;
    if (!has_i915 || !call->zeInit || !call->zeDriverGet || !call->zeDeviceGet)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    sysman->is_legacy = true;
    if (!gtel_level_zero_switch_on("ZES_ENABLE_SYSMAN"))
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    return call->zeInit(0);
}

void gtel_sysman_start_up(struct gtel_sysman *sysman, bool has_i915)
{
    const struct gtel_env *env = sysman->cards.env;
    const struct gtel_zes_calls *call = &sysman->call;
    if (sysman->start == GTEL_SYSMAN_FAILED || sysman->start == GTEL_SYSMAN_RUNS)
        return;
    int r = gtel_dynlib_open(env, &sysman->dynlib, gtel_level_zero_names, symbols,
                             GTEL_ARRAY_LEN(symbols), &sysman->call);
    if (r < 0) {
        sysman->dynlib = (struct gtel_dynlib){0};
        if (sysman->start == GTEL_SYSMAN_NEW)
            gtel_log(&env->log, GTEL_LOG_INFO,
                     "sysman: %s cannot be used; going on without Level Zero",
                     gtel_level_zero_names[0]);
        sysman->start = GTEL_SYSMAN_NO_LIBRARY;
        return;
    }
    sysman->renewal.was_tried = true;
    sysman->renewal.tried_ns = gtel_env_now(env);
    bool has_own = call->zesInit && call->zesDriverGet && call->zesDeviceGet;
    uint32_t code = has_own ? call->zesInit(0) : start_legacy(sysman, has_i915);
    if (code == GTEL_ZE_SUCCESS)
        sysman->start = GTEL_SYSMAN_RUNS;
    else
        fail(sysman, code);
}
