/* SPDX-License-Identifier: MIT */
/* Opens, starts and ends NVML, with growing pauses between tries. */
#include "sources/nvidia/nvml.h"

#include "host/library.h"

#include <errno.h>

#define PAUSE_FIRST_NS 10000000000u
#define PAUSE_LAST_NS 300000000000u

enum { SAID_NOTHING, SAID_RUNS, SAID_NO_LIBRARY, SAID_CODE }; /* SAID_CODE + the code */

/*
 * Never the name without a version: it belongs to development packages and may be a stub. The paths
 * are where WSL and some container platforms put the driver's libraries; the latter say so in
 * LD_LIBRARY_PATH, which a helper does not get.
 */
static const char *const sonames[] = {
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1", /* NixOS */
    NULL,
};

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_NVML_SYM(name, need, shape) {#name, offsetof(struct gtel_nvml_calls, name), need},
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
#undef OPTIONAL
#undef REQUIRED
};

bool gtel_nvml_find_library(const struct gtel_env *env, char *ret, size_t size)
{
    return gtel_library_find(env, sonames, ret, size);
}

bool gtel_nvml_is_broken(int code)
{
    return code == GTEL_NVML_UNINITIALIZED || code == GTEL_NVML_DRIVER_NOT_LOADED ||
           code == GTEL_NVML_VERSION_MISMATCH;
}

bool gtel_nvml_is_lost(int code)
{
    return code == GTEL_NVML_GPU_IS_LOST || code == GTEL_NVML_RESET_REQUIRED ||
           code == GTEL_NVML_GPU_NOT_FOUND;
}

bool gtel_nvml_has_failed(const struct gtel_nvml *nvml)
{
    return nvml->said >= SAID_CODE || (nvml->said == SAID_NO_LIBRARY && nvml->n > 0);
}

enum gtel_nvml_trouble gtel_nvml_trouble(const struct gtel_nvml *nvml, int *ret_code)
{
    *ret_code = 0;
    if (nvml->said == SAID_NO_LIBRARY)
        return GTEL_NVML_TROUBLE_LIBRARY;
    if (nvml->said < SAID_CODE)
        return GTEL_NVML_TROUBLE_NONE;
    *ret_code = nvml->said - SAID_CODE;
    return GTEL_NVML_TROUBLE_CODE;
}

/* No pause after the first failure, then 10 s, doubled up to 5 min. */
static void back_off(struct gtel_nvml *nvml)
{
    nvml->retry_ns = gtel_env_now(nvml->env) + nvml->pause_ns;
    if (nvml->pause_ns == 0)
        nvml->pause_ns = PAUSE_FIRST_NS;
    else if (nvml->pause_ns < PAUSE_LAST_NS)
        nvml->pause_ns = nvml->pause_ns * 2 < PAUSE_LAST_NS ? nvml->pause_ns * 2 : PAUSE_LAST_NS;
}

/* What a user can do about a code at the start of NVML. */
const char *gtel_nvml_advice(int code)
{
    switch (code) {
    case GTEL_NVML_DRIVER_NOT_LOADED:
        return "the kernel driver is not loaded";
    case GTEL_NVML_VERSION_MISMATCH:
        return "library and kernel driver are of different versions: reload the driver or reboot";
    case GTEL_NVML_NO_PERMISSION:
        return "this user may not open /dev/nvidiactl: let it read and write that file";
    case GTEL_NVML_GPU_IS_LOST:
        return "no GPU answers any more";
    case GTEL_NVML_UNKNOWN:
        return "in a container, are the device nodes there?";
    default:
        return "it may be a stub without a driver";
    }
}

/* Logs a state once. */
static void say(struct gtel_nvml *nvml, int state, int code)
{
    const struct gtel_log *log = &nvml->env->log;
    if (nvml->said == state)
        return;
    if (state == SAID_RUNS && nvml->said != SAID_NOTHING)
        gtel_log(log, GTEL_LOG_INFO, "nvml: NVML works again");
    else if (state == SAID_NO_LIBRARY)
        gtel_log(log, GTEL_LOG_INFO, "nvml: %s cannot be used; install the driver's NVML library",
                 sonames[0]);
    else if (state >= SAID_CODE)
        gtel_log(log, GTEL_LOG_WARNING, "nvml: NVML answers code %d: %s; trying again", code,
                 gtel_nvml_advice(code));
    nvml->said = state;
}

unsigned gtel_nvml_driver_of(struct gtel_str text)
{
    uint64_t number[3] = {0};
    struct gtel_str part;
    size_t n = 0;
    if (gtel_str_ends(text, GTEL_STR(".")))
        return 0;
    while (gtel_str_part(&text, '.', &part)) {
        if (n == GTEL_ARRAY_LEN(number) || gtel_str_u64(part, &number[n]) < 0 ||
            number[n] > UINT16_MAX)
            return 0;
        n++;
    }
    return n < 2 ? 0 : GTEL_NVML_DRIVER(number[0], number[1]);
}

/* 0 in WSL: versions of the driver for Windows count otherwise. */
static unsigned read_driver(const struct gtel_nvml *nvml)
{
    char text[GTEL_NVML_VERSION_SIZE] = "";
    if (gtel_fs_exists(nvml->env, "dev/dxg") || !nvml->call.nvmlSystemGetDriverVersion ||
        nvml->call.nvmlSystemGetDriverVersion(text, sizeof(text) - 1) != GTEL_NVML_SUCCESS)
        return 0;
    return gtel_nvml_driver_of(gtel_str_of(text));
}

int gtel_nvml_start(struct gtel_nvml *nvml)
{
    if (nvml->is_running)
        return 0;
    if (gtel_env_now(nvml->env) < nvml->retry_ns)
        return -EAGAIN;
    int r = gtel_dynlib_open(nvml->env, &nvml->dynlib, sonames, symbols, GTEL_ARRAY_LEN(symbols),
                             &nvml->call);
    if (r < 0) {
        nvml->dynlib = (struct gtel_dynlib){0};
        back_off(nvml);
        say(nvml, SAID_NO_LIBRARY, 0);
        return -ENOENT;
    }
    int code = nvml->call.nvmlInit_v2();
    if (code != GTEL_NVML_SUCCESS) {
        gtel_dynlib_close(nvml->env, &nvml->dynlib);
        back_off(nvml);
        say(nvml, SAID_CODE + code, code);
        return -ENOENT;
    }
    nvml->is_running = true;
    nvml->broken = 0;
    nvml->driver = read_driver(nvml);
    say(nvml, SAID_RUNS, 0);
    return 0;
}

void gtel_nvml_stop(struct gtel_nvml *nvml)
{
    for (size_t i = 0; i < nvml->n; i++)
        gtel_nvml_gpm_done(nvml, nvml->gpu[i]);
    if (nvml->is_running)
        (void)nvml->call.nvmlShutdown(); /* nothing could be done about a failure */
    nvml->is_running = false;
    nvml->broken = 0;
    gtel_dynlib_close(nvml->env, &nvml->dynlib);
    nvml->call = (struct gtel_nvml_calls){0};
    for (size_t i = 0; i < nvml->n; i++) {
        nvml->gpu[i]->handle = NULL;
        gtel_nvml_forget(nvml->gpu[i]);
    }
}

void gtel_nvml_fail(struct gtel_nvml *nvml, int code)
{
    gtel_nvml_stop(nvml);
    back_off(nvml);
    say(nvml, SAID_CODE + code, code);
}
