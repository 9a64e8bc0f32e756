/* SPDX-License-Identifier: MIT */
/* Opens the loader of Level Zero and starts it. */
#include "sources/sysman/sysman.h"

#include <errno.h>
#include <stdlib.h>

static const char soname[] = "libze_loader.so.1";
static const char plain_name[] = "libze_loader.so"; /* where there is nothing else */

/* Where distributions and Intel's own packages put it; the loader's own name comes first. */
static const char *const sonames[] = {
    soname,
    "/usr/local/lib/libze_loader.so.1",
    "/run/opengl-driver/lib/libze_loader.so.1", /* NixOS */
    plain_name,
    NULL,
};

static const char *const folders[] = {
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/lib/x86_64-linux-gnu",
    "usr/local/lib64",
    "usr/local/lib",
    "run/opengl-driver/lib",
};

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZES_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zes_calls, name), need},
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
#undef OPTIONAL
#undef REQUIRED
};

bool gtel_sysman_is_installed(const struct gtel_env *env)
{
    char path[GTEL_FS_PATH_MAX];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++)
        if (gtel_fs_exists(env, gtel_fs_path(path, "%s/%s", folders[i], soname)) ||
            gtel_fs_exists(env, gtel_fs_path(path, "%s/%s", folders[i], plain_name)))
            return true;
    return false;
}

const char *gtel_sysman_advice(uint32_t code)
{
    switch (code) {
    case GTEL_ZE_UNINITIALIZED:
        return "it finds no GPU: is Intel's driver for it installed (libze-intel-gpu1, "
               "intel-level-zero-gpu)?";
    case GTEL_ZE_NO_PERMISSION:
        return "this user may not open the GPU's device nodes: add it to the group render";
    case GTEL_ZE_NO_DEPENDENCY:
        return "a library that it needs is missing";
    case GTEL_ZE_UNSUPPORTED_VERSION:
        return "loader and driver are of different versions";
    case GTEL_ZE_UNSUPPORTED_FEATURE:
        return "this loader is too old for this driver: version 1.9.4 has zesInit";
    default:
        return "this driver does not work";
    }
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
    if (setenv("ZES_ENABLE_SYSMAN", "1", 1) != 0)
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    return call->zeInit(0);
}

void gtel_sysman_start_up(struct gtel_sysman *sysman, bool has_i915)
{
    const struct gtel_env *env = sysman->cards.env;
    const struct gtel_zes_calls *call = &sysman->call;
    if (sysman->start == GTEL_SYSMAN_FAILED || sysman->start == GTEL_SYSMAN_RUNS)
        return;
    int r = gtel_dynlib_open(env, &sysman->dynlib, sonames, symbols, GTEL_ARRAY_LEN(symbols),
                             &sysman->call);
    if (r < 0) {
        sysman->dynlib = (struct gtel_dynlib){0};
        if (sysman->start == GTEL_SYSMAN_NEW)
            gtel_log(&env->log, GTEL_LOG_INFO,
                     "sysman: %s cannot be used; going on without Level Zero", soname);
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
