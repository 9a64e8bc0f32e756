/* SPDX-License-Identifier: MIT */
/* Sleeping GPUs are not touched, and idle ones may fall asleep. */
#include "sources/nvidia/nvml.h"

#include <errno.h>
#include <string.h>

#define PCI_DEVICES "sys/bus/pci/devices"

enum { PCI_DEVICES_MAX = 4096, VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03 };

static const uint64_t wait_first_ns = 30000000000;  /* without work, before NVML is closed */
static const uint64_t wait_last_ns = 3600000000000; /* the same when GPUs do not fall asleep */
static const uint64_t closed_ns = 20000000000;      /* time to fall asleep */

/* A GPU that NVIDIA's driver serves; one that is handed to a guest (vfio-pci) is not ours. */
static bool is_gpu(const struct gtel_env *env, struct gtel_str name)
{
    char text[64];
    struct gtel_str driver;
    uint64_t v;
    if (gtel_fs_hex(env, GTEL_FS_AT(PCI_DEVICES "/%.*s/vendor", GTEL_STR_ARG(name)), &v) < 0 ||
        v != VENDOR_NVIDIA)
        return false;
    if (gtel_fs_hex(env, GTEL_FS_AT(PCI_DEVICES "/%.*s/class", GTEL_STR_ARG(name)), &v) < 0 ||
        v >> 16 != CLASS_DISPLAY)
        return false;
    return gtel_fs_link_name(env, GTEL_FS_AT(PCI_DEVICES "/%.*s/driver", GTEL_STR_ARG(name)), text,
                             sizeof(text), &driver) == 0 &&
           gtel_str_eq(driver, GTEL_STR("nvidia"));
}

static bool look_asleep(const struct gtel_env *env, struct gtel_str name)
{
    struct gtel_awake awake = {0};
    bool is_asleep = false;
    if (gtel_awake_open(env, &awake, GTEL_FS_AT(PCI_DEVICES "/%.*s", GTEL_STR_ARG(name))) == 0)
        (void)gtel_awake_look(env, &awake, &is_asleep); /* not known: not asleep */
    gtel_awake_close(env, &awake);
    return is_asleep;
}

/* Under Windows. A state that is not known counts as asleep: such a GPU is left alone. */
static int list_pnp(const struct gtel_env *env, bool may_wake, struct gtel_nvml_pci_gpus *ret)
{
    struct gtel_pnp pnp = {0};
    struct gtel_pnp_gpu gpu;
    int r = gtel_pnp_open(env, &pnp);
    if (r == 0)
        r = gtel_pnp_list(&pnp);
    int got = r;
    for (uint32_t i = 0; r == 0 && got != 1 && ret->n < GTEL_NVML_GPUS_MAX; i++) {
        got = gtel_pnp_get(&pnp, i, &gpu);
        if (got != 0 || gpu.pci_id[0] != VENDOR_NVIDIA)
            continue;
        memcpy(ret->gpu[ret->n].address, gpu.key, sizeof(gpu.key));
        ret->gpu[ret->n].is_asleep = !may_wake && gtel_pnp_power(&pnp, &gpu.info) != GTEL_POWER_D0;
        ret->asleep += ret->gpu[ret->n++].is_asleep;
    }
    gtel_pnp_close(env, &pnp);
    return r == -ENOENT ? 0 : r;
}

int gtel_nvml_pci_list(const struct gtel_env *env, bool may_wake, struct gtel_nvml_pci_gpus *ret)
{
    struct gtel_arena arena = {0};
    struct gtel_str *name = NULL;
    size_t n;
    ret->n = 0;
    ret->asleep = 0;
    if (gtel_fs_list(env, PCI_DEVICES, &arena, PCI_DEVICES_MAX, &name, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n && ret->n < GTEL_NVML_GPUS_MAX; i++) {
        if (!is_gpu(env, name[i]) ||
            !gtel_str_copy(ret->gpu[ret->n].address, GTEL_PCI_TEXT_MAX, name[i]))
            continue;
        ret->gpu[ret->n].is_asleep = !may_wake && look_asleep(env, name[i]);
        ret->asleep += ret->gpu[ret->n++].is_asleep;
    }
    gtel_arena_done(&arena);
    return ret->n == 0 ? list_pnp(env, may_wake, ret) : 0;
}

/*
 * Whether the driver powers the GPU down when nothing uses it (NVIDIA driver README, PCI-Express
 * Runtime D3 Power Management). Not asked of one that sleeps.
 */
static bool is_d3_enabled(const struct gtel_env *env, const char *address)
{
    char text[GTEL_FS_TEXT_MAX];
    struct gtel_str status;
    return gtel_fs_text(env, GTEL_FS_AT("proc/driver/nvidia/gpus/%s/power", address), text,
                        sizeof(text), &status) == 0 &&
           gtel_str_between(status, GTEL_STR("Runtime D3 status:"), GTEL_STR_NONE, &status) &&
           gtel_str_starts(gtel_str_trim(status), GTEL_STR("Enabled"));
}

/* Runtime power management is allowed, and has suspended the GPU since boot, or will. */
static bool may_suspend(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu,
                        const char *address)
{
    char text[64];
    struct gtel_str control;
    uint64_t suspended_ms;
    if (gtel_fs_text(env, GTEL_FS_AT(PCI_DEVICES "/%s/power/control", address), text, sizeof(text),
                     &control) < 0 ||
        !gtel_str_eq(control, GTEL_STR("auto")))
        return false;
    if (gtel_fs_u64(env, GTEL_FS_AT(PCI_DEVICES "/%s/power/runtime_suspended_time", address),
                    &suspended_ms) == 0 &&
        suspended_ms > 0)
        return true;
    return !gtel_nvml_is_asleep(env, gpu) && is_d3_enabled(env, address);
}

void gtel_nvml_watch_sleep(const struct gtel_env *env, struct gtel_nvml_gpu *gpu,
                           const char *address)
{
    bool is_asleep;
    if (gpu->awake.is_open && gtel_awake_look(env, &gpu->awake, &is_asleep) < 0)
        gtel_awake_close(env, &gpu->awake); /* of a device that was removed, and may be back */
    if (!gpu->awake.is_open)
        (void)gtel_awake_open(env, &gpu->awake,
                              GTEL_FS_AT(PCI_DEVICES "/%s", address)); /* not known: not asleep */
    /* Windows has no count of suspensions: where a GPU does not suspend, pauses get rarer. */
    gpu->may_suspend = gpu->awake.pnp.set || may_suspend(env, gpu, address);
}

bool gtel_nvml_is_asleep(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu)
{
    bool is_asleep = false;
    int r = gtel_awake_look(env, &gpu->awake, &is_asleep);
    return r == 0 ? is_asleep : gtel_pnp_is_there(env);
}

bool gtel_nvml_sleep_begin(struct gtel_nvml_sleep *sleep, bool is_idle, uint64_t now_ns)
{
    if (!is_idle) {
        sleep->idle_ns = 0;
        return false;
    }
    if (sleep->idle_ns == 0)
        sleep->idle_ns = now_ns;
    if (sleep->wait_ns == 0)
        sleep->wait_ns = wait_first_ns;
    if (now_ns - sleep->idle_ns < sleep->wait_ns)
        return false;
    sleep->idle_ns = 0;
    sleep->closed_ns = now_ns;
    return true;
}

/* Something else keeps the GPU awake when it does not fall asleep: the next time comes later. */
bool gtel_nvml_sleep_is_on(struct gtel_nvml_sleep *sleep, uint64_t now_ns)
{
    if (sleep->closed_ns == 0)
        return false;
    if (now_ns - sleep->closed_ns < closed_ns)
        return true;
    sleep->closed_ns = 0;
    if (sleep->wait_ns < wait_last_ns)
        sleep->wait_ns *= 2;
    return false;
}
