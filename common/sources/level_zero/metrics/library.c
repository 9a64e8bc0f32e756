/* SPDX-License-Identifier: MIT */
/* Opens the loader of Level Zero and starts it for metrics. */
#include "sources/level_zero/metrics/l0metrics.h"

#include "sources/level_zero/level_zero.h"

#include <errno.h>

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZET_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zet_calls, name), need},
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
#undef OPTIONAL
#undef REQUIRED
};

const char *gtel_l0m_advice(const struct gtel_l0m *l0m)
{
    if (l0m->start_code == GTEL_ZE_NO_DEPENDENCY && l0m->is_by_variable)
        return "a GPU has no metrics, and this loader wants them for all or none: one of 1.22 or "
               "newer enables them one by one; Intel's Metrics Discovery and Metrics Library "
               "(libigdmd.so.1, libigdml.so.1) bring them";
    return gtel_level_zero_advice(l0m->start_code);
}

/*
 * Loaders before 1.22 have no call that enables metrics: there it takes this variable, set before
 * zeInit, and a single GPU without metrics then makes that fail for all (level zero: METRICS.md of
 * compute-runtime). So the call comes first, where it exists.
 */
static uint32_t start(struct gtel_l0m *l0m)
{
    l0m->is_by_variable = !l0m->call.zetDeviceEnableMetricsExp;
    if (l0m->is_by_variable && !gtel_level_zero_switch_on("ZET_ENABLE_METRICS"))
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    return l0m->call.zeInit(0);
}

void gtel_l0m_start_up(struct gtel_l0m *l0m)
{
    const struct gtel_env *env = l0m->cards.env;
    if (l0m->start == GTEL_L0M_FAILED || l0m->start == GTEL_L0M_RUNS)
        return;
    int r = gtel_dynlib_open(env, &l0m->dynlib, gtel_level_zero_names, symbols,
                             GTEL_ARRAY_LEN(symbols), &l0m->call);
    if (r < 0) {
        l0m->dynlib = (struct gtel_dynlib){0};
        if (l0m->start == GTEL_L0M_NEW)
            gtel_log(&env->log, GTEL_LOG_WARNING,
                     "l0metrics: %s cannot be used; going on without the metrics that were asked "
                     "for",
                     gtel_level_zero_names[0]);
        l0m->start = GTEL_L0M_NO_LIBRARY;
        return;
    }
    l0m->renewal.was_tried = true;
    l0m->renewal.tried_ns = gtel_env_now(env);
    l0m->start_code = start(l0m);
    l0m->start = l0m->start_code == GTEL_ZE_SUCCESS ? GTEL_L0M_RUNS : GTEL_L0M_FAILED;
    if (l0m->start == GTEL_L0M_FAILED)
        gtel_log(&env->log, GTEL_LOG_WARNING,
                 "l0metrics: no metrics: Level Zero does not start, code 0x%x: %s",
                 (unsigned)l0m->start_code, gtel_l0m_advice(l0m));
}
