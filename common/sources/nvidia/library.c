/* SPDX-License-Identifier: MIT */
/* Opens, starts and ends NVML, and what its result codes mean. */
#include "sources/nvidia/library.h"

#include "base/compiler.h"
#include "host/library.h"
#include "host/pnp.h"

#include <errno.h>

/* Starting NVML again and again has caused driver trouble (NVIDIA/cuCascade pull request 138). */
#define PAUSE_FIRST_NS UINT64_C(10000000000)
#define PAUSE_LAST_NS UINT64_C(300000000000)

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_NVML_SYM(name, need, shape) {#name, offsetof(struct gtel_nvml_calls, name), need},
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
#undef OPTIONAL
#undef REQUIRED
};

enum gtel_nvml_meaning gtel_nvml_meaning(int code)
{
    switch (code) {
    case GTEL_NVML_SUCCESS:
        return GTEL_NVML_MEANS_FINE;
    case GTEL_NVML_NOT_FOUND:
    case GTEL_NVML_NO_DATA:
    case GTEL_NVML_NOT_READY:
        return GTEL_NVML_MEANS_NO_VALUE;
    case GTEL_NVML_INVALID_ARGUMENT:
    case GTEL_NVML_NOT_SUPPORTED:
    case GTEL_NVML_NO_PERMISSION:
    case GTEL_NVML_FUNCTION_NOT_FOUND:
    case GTEL_NVML_ARGUMENT_VERSION_MISMATCH: /* the older form is the next row of the group */
    case GTEL_NVML_DEPRECATED:
        return GTEL_NVML_MEANS_ABSENT;
    case GTEL_NVML_GPU_IS_LOST:
    case GTEL_NVML_RESET_REQUIRED:
    case GTEL_NVML_GPU_NOT_FOUND:
        return GTEL_NVML_MEANS_NO_GPU;
    case GTEL_NVML_UNINITIALIZED:
    case GTEL_NVML_DRIVER_NOT_LOADED:
    case GTEL_NVML_VERSION_MISMATCH:
        return GTEL_NVML_MEANS_BROKEN;
    default:
        return GTEL_NVML_MEANS_FAILURE;
    }
}

enum gtel_nvml_meaning gtel_nvml_judge(struct gtel_nvml_library *library, int code)
{
    enum gtel_nvml_meaning meaning = gtel_nvml_meaning(code);
    if (meaning == GTEL_NVML_MEANS_BROKEN)
        library->broken = code;
    return meaning;
}

/* The last one is for all others. */
static const struct gtel_nvml_code texts[] = {
    {GTEL_NVML_DRIVER_NOT_LOADED, "the kernel driver is not loaded", "load it:\nmodprobe nvidia"},
    {GTEL_NVML_VERSION_MISMATCH,
     "library and kernel driver are of different versions: reload the driver or reboot",
     "load the driver of the library's version: reboot, or stop what uses the GPUs, then "
     "modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia"},
    {GTEL_NVML_NO_PERMISSION,
     "this user may not open /dev/nvidiactl: let it read and write that file",
     "let this user read and write /dev/nvidiactl and /dev/nvidia0"},
    {GTEL_NVML_GPU_IS_LOST, "no GPU answers any more",
     "reboot; dmesg | grep Xid says what happened"},
    {GTEL_NVML_UNKNOWN, "in a container, are the device nodes there?",
     "nvidia-smi says whether the driver works; in a container, check the device nodes"},
    {0, "it may be a stub without a driver",
     "nvidia-smi says whether the driver works; in a container, check the device nodes"},
};

const struct gtel_nvml_code *gtel_nvml_code(int code)
{
    size_t i = 0;
    while (i + 1 < GTEL_ARRAY_LEN(texts) && texts[i].code != code)
        i++;
    return &texts[i];
}

const char *gtel_nvml_code_text(const struct gtel_env *env, int code)
{
    const char *text = gtel_nvml_code(code)->text;
    switch (code) {
    case GTEL_NVML_NO_PERMISSION:
        return gtel_pnp_word(env, "this user may not use the driver", text);
    case GTEL_NVML_UNKNOWN:
        return gtel_pnp_word(env, "nvidia-smi says whether the driver works", text);
    default:
        return text;
    }
}

bool gtel_nvml_find_dll(const struct gtel_env *env, char *ret, size_t size)
{
    /* From the folder of Windows. */
    static const char *const paths[] = {"System32/nvml.dll",
                                        "../Program Files/NVIDIA Corporation/NVSMI/nvml.dll"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(paths); i++)
        if (gtel_fs_exists(env, paths[i]))
            return gtel_str_copy(ret, size, gtel_str_of(paths[i]));
    return false;
}

bool gtel_nvml_find_library(const struct gtel_env *env, char *ret, size_t size)
{
    return gtel_nvml_find_dll(env, ret, size) || gtel_library_find(env, gtel_nvml_names, ret, size);
}

/* Logs each state once. */
static void report(struct gtel_nvml_library *library, int trouble)
{
    const struct gtel_log *log = &library->env->log;
    if (library->trouble == trouble)
        return;
    library->trouble = trouble;
    if (trouble == 0)
        gtel_log(log, GTEL_LOG_INFO, "nvml: NVML works again");
    else if (trouble == GTEL_NVML_FORBIDDEN)
        gtel_log(
            log, GTEL_LOG_INFO,
            "nvml: with --root no vendor library is used; a build with -DGTEL_DEMONSTRATION=ON "
            "plays the recorded answers of NVML");
    else if (trouble == GTEL_NVML_NO_LIBRARY)
        gtel_log(log, GTEL_LOG_INFO, "nvml: %s cannot be used; install the driver's NVML library",
                 gtel_nvml_names[0]);
    else
        gtel_log(log, GTEL_LOG_WARNING, "nvml: NVML answers code %d: %s; trying again", trouble,
                 gtel_nvml_code_text(library->env, trouble));
}

/* The version from "580.82.07"; 0: not of that form. */
static unsigned parse_driver(struct gtel_str text)
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
static unsigned read_driver(const struct gtel_nvml_library *library)
{
    char text[GTEL_NVML_VERSION_SIZE] = "";
    if (gtel_fs_exists(library->env, "dev/dxg") || !library->call.nvmlSystemGetDriverVersion ||
        library->call.nvmlSystemGetDriverVersion(text, sizeof(text) - 1) != GTEL_NVML_SUCCESS)
        return 0;
    return parse_driver(gtel_str_of(text));
}

void gtel_nvml_fail(struct gtel_nvml_library *library, int code)
{
    gtel_backoff_fail(&library->backoff, gtel_env_now(library->env), PAUSE_FIRST_NS, PAUSE_LAST_NS);
    report(library, code);
}

int gtel_nvml_start(struct gtel_nvml_library *library)
{
    if (library->is_running)
        return 0;
    if (gtel_backoff_is_waiting(&library->backoff, gtel_env_now(library->env)))
        return -EAGAIN;
    int r = gtel_dynlib_open(library->env, &library->dynlib, gtel_nvml_names, symbols,
                             GTEL_ARRAY_LEN(symbols), &library->call);
    if (r < 0) {
        library->dynlib = (struct gtel_dynlib){0};
        gtel_nvml_fail(library, r == -EPERM ? GTEL_NVML_FORBIDDEN : GTEL_NVML_NO_LIBRARY);
        return -ENOENT;
    }
    int code = library->call.nvmlInit_v2();
    if (code != GTEL_NVML_SUCCESS) {
        gtel_nvml_stop(library);
        gtel_nvml_fail(library, code);
        return -ENOENT;
    }
    library->is_running = true;
    library->broken = 0;
    library->driver = read_driver(library);
    return 0;
}

void gtel_nvml_works(struct gtel_nvml_library *library)
{
    library->backoff = (struct gtel_backoff){0};
    report(library, 0);
}

void gtel_nvml_stop(struct gtel_nvml_library *library)
{
    if (library->is_running)
        (void)library->call.nvmlShutdown(); /* nothing could be done about a failure */
    library->is_running = false;
    library->broken = 0;
    gtel_dynlib_close(library->env, &library->dynlib);
    library->call = (struct gtel_nvml_calls){0};
}
