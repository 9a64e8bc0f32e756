/* SPDX-License-Identifier: MIT */
/*
 * Sleeping GPUs are left alone.
 *
 * A call of NVML wakes a runtime-suspended GPU, and an open handle keeps it awake for as long as it
 * is open (seen on laptops; after closing, the GPU sleeps in about 6 s). So sysfs is looked at
 * first (kernel: Documentation/ABI/testing/sysfs-devices-power), and NVML is closed when GPUs that
 * may sleep have nothing to do. Servers are not concerned: their GPUs are never suspended, and
 * starting NVML again and again has caused driver trouble.
 */
#include "sources/nvidia/nvml.h"

#define PCI_DEVICES "sys/bus/pci/devices"

#define PATIENCE_NS 30000000000u /* without work, before NVML is closed */
#define PATIENCE_LAST_NS 3600000000000u
#define REST_NS 20000000000u /* time to fall asleep, before NVML is opened again */

enum { PCI_DEVICES_MAX = 4096, VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03 };

/* A GPU that NVIDIA's driver serves; one that is handed to a guest (vfio-pci) is not ours. */
static bool is_gpu(const struct gtel_env *env, struct gtel_str name)
{
    char path[GTEL_FS_PATH_MAX];
    char text[64];
    struct gtel_str driver;
    uint64_t v;
    (void)gtel_fs_path(path, PCI_DEVICES "/%.*s/vendor", GTEL_STR_ARG(name));
    if (gtel_fs_hex(env, path, &v) < 0 || v != VENDOR_NVIDIA)
        return false;
    (void)gtel_fs_path(path, PCI_DEVICES "/%.*s/class", GTEL_STR_ARG(name));
    if (gtel_fs_hex(env, path, &v) < 0 || v >> 16 != CLASS_DISPLAY)
        return false;
    (void)gtel_fs_path(path, PCI_DEVICES "/%.*s/driver", GTEL_STR_ARG(name));
    return gtel_fs_link_name(env, path, text, sizeof(text), &driver) == 0 &&
           gtel_str_eq(driver, GTEL_STR("nvidia"));
}

static bool is_suspended(const struct gtel_env *env, struct gtel_str name)
{
    char path[GTEL_FS_PATH_MAX];
    char text[64];
    struct gtel_str status;
    (void)gtel_fs_path(path, PCI_DEVICES "/%.*s/power/runtime_status", GTEL_STR_ARG(name));
    return gtel_fs_text(env, path, text, sizeof(text), &status) == 0 &&
           gtel_str_eq(status, GTEL_STR("suspended"));
}

void gtel_nvml_look(const struct gtel_nvml *nvml, struct gtel_nvml_addresses *ret_awake,
                    struct gtel_nvml_addresses *ret_asleep)
{
    struct gtel_arena arena = {0};
    struct gtel_str *name = NULL;
    size_t n = 0;
    ret_awake->n = 0;
    ret_asleep->n = 0;
    if (gtel_fs_list(nvml->env, PCI_DEVICES, &arena, PCI_DEVICES_MAX, &name, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n && i < PCI_DEVICES_MAX; i++) {
        struct gtel_nvml_addresses *list = ret_awake;
        if (!is_gpu(nvml->env, name[i]))
            continue;
        if (is_suspended(nvml->env, name[i]))
            list = ret_asleep;
        if (list->n < GTEL_NVML_GPUS_MAX &&
            gtel_str_copy(list->text[list->n], GTEL_PCI_TEXT_MAX, name[i]))
            list->n++;
    }
    gtel_arena_done(&arena);
}

bool gtel_nvml_is_asleep(const struct gtel_nvml *nvml, const struct gtel_nvml_gpu *gpu)
{
    char text[64];
    struct gtel_str status;
    return !nvml->may_wake && gtel_fs_is_open(&gpu->runtime_status) &&
           gtel_fs_read(nvml->env, &gpu->runtime_status, text, sizeof(text), &status) == 0 &&
           gtel_str_eq(status, GTEL_STR("suspended"));
}

/* Runtime power management is allowed, and has suspended the GPU at some time since boot. */
static bool may_sleep(const struct gtel_env *env, const char *address)
{
    char path[GTEL_FS_PATH_MAX];
    char text[64];
    struct gtel_str control;
    uint64_t suspended_ms;
    (void)gtel_fs_path(path, PCI_DEVICES "/%s/power/control", address);
    if (gtel_fs_text(env, path, text, sizeof(text), &control) < 0 ||
        !gtel_str_eq(control, GTEL_STR("auto")))
        return false;
    (void)gtel_fs_path(path, PCI_DEVICES "/%s/power/runtime_suspended_time", address);
    return gtel_fs_u64(env, path, &suspended_ms) == 0 && suspended_ms > 0;
}

void gtel_nvml_set_address(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, const char *address)
{
    char path[GTEL_FS_PATH_MAX];
    (void)gtel_str_copy(gpu->address, sizeof(gpu->address), gtel_str_of(address));
    gpu->may_sleep = may_sleep(nvml->env, address);
    if (gtel_fs_is_open(&gpu->runtime_status))
        return;
    (void)gtel_fs_path(path, PCI_DEVICES "/%s/power/runtime_status", address);
    (void)gtel_fs_open(nvml->env, &gpu->runtime_status, path); /* not there: never asleep */
}

/* Nothing ran in the last sample; a GPU without that figure counts as busy. */
static bool is_idle(const struct gtel_nvml_gpu *gpu)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].emit == gtel_nvml_emit_utilization)
            return gpu->slot[i].has_answer && gpu->slot[i].answer.u[0] == 0;
    return false;
}

void gtel_nvml_rest(struct gtel_nvml *nvml)
{
    uint64_t now = gtel_env_now(nvml->env);
    size_t used = 0;
    bool is_all_idle = !nvml->may_wake;
    for (size_t i = 0; i < nvml->n; i++) {
        const struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        if (!gpu->handle || gpu->is_lost)
            continue;
        used++;
        is_all_idle = is_all_idle && gpu->may_sleep && is_idle(gpu);
    }
    if (!is_all_idle || used == 0) {
        nvml->idle_ns = 0;
        return;
    }
    if (nvml->idle_ns == 0)
        nvml->idle_ns = now;
    if (nvml->patience_ns == 0)
        nvml->patience_ns = PATIENCE_NS;
    if (now - nvml->idle_ns < nvml->patience_ns)
        return;
    gtel_nvml_stop(nvml);
    nvml->idle_ns = 0;
    nvml->rest_ns = now;
}

/* Someone else keeps the GPU awake when it does not fall asleep: wait longer before the next rest.
 */
bool gtel_nvml_is_resting(struct gtel_nvml *nvml)
{
    if (nvml->rest_ns == 0)
        return false;
    if (gtel_env_now(nvml->env) - nvml->rest_ns < REST_NS)
        return true;
    nvml->rest_ns = 0;
    if (nvml->patience_ns < PATIENCE_LAST_NS)
        nvml->patience_ns *= 2;
    return false;
}
