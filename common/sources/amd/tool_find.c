/* SPDX-License-Identifier: MIT */
/* Which GPUs and tools source amd_tool finds. */
#include "sources/amd/tool.h"

#include <string.h>

static const char *const places[] = {"/usr/bin/amd-smi", "/opt/rocm/bin/amd-smi",
                                     "/usr/bin/rocm-smi", "/opt/rocm/bin/rocm-smi"};

static bool has_files(const struct gtel_env *env, const char *driver, struct gtel_str address)
{
    static const char *const files[] = {"gpu_metrics", "hwmon", "gpu_busy_percent",
                                        "mem_info_vram_total"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        if (gtel_fs_exists(env, GTEL_FS_AT("sys/bus/pci/drivers/%s/%.*s/%s", driver,
                                           GTEL_STR_ARG(address), files[i])))
            return true;
    return false;
}

struct gtel_amd_tool_gpu *gtel_amd_tool_gpu(struct gtel_amd_tool *tool, const char *address)
{
    for (size_t i = 0; i < tool->n; i++)
        if (strcmp(tool->gpu[i].address, address) == 0)
            return &tool->gpu[i];
    return NULL;
}

struct gtel_amd_tool_gpu *gtel_amd_tool_add(struct gtel_amd_tool *tool, const char *address,
                                            const char *driver)
{
    struct gtel_amd_tool_gpu *gpu = gtel_amd_tool_gpu(tool, address);
    if (!gpu && tool->n < GTEL_AMD_TOOL_GPUS) {
        gpu = &tool->gpu[tool->n++];
        *gpu = (struct gtel_amd_tool_gpu){.driver = driver};
        tool->read_ns[GTEL_AMD_TOOL_STATIC] = 0; /* the tool counts otherwise now */
        (void)gtel_str_copy(gpu->address, sizeof(gpu->address), gtel_str_of(address));
    }
    if (gpu)
        gpu->is_found = true;
    return gpu;
}

size_t gtel_amd_tool_gpus(const struct gtel_env *env, struct gtel_amd_tool *tool)
{
    static const char *const drivers[] = {"amdgpu", "gim"};
    struct gtel_arena arena = {0};
    size_t found = 0;
    bool is_served = false;
    for (size_t d = 0; d < GTEL_ARRAY_LEN(drivers) && !is_served; d++) {
        struct gtel_str *name;
        size_t n;
        if (gtel_fs_list(env, GTEL_FS_AT("sys/bus/pci/drivers/%s", drivers[d]), &arena,
                         GTEL_AMD_TOOL_GPUS, &name, &n) < 0)
            continue;
        for (size_t i = 0; i < n && i < GTEL_AMD_TOOL_GPUS && !is_served; i++) {
            struct gtel_pci pci;
            char address[GTEL_PCI_TEXT_MAX];
            if (gtel_pci_parse(name[i], &pci) < 0)
                continue;
            is_served = has_files(env, drivers[d], name[i]);
            gtel_pci_print(address, &pci);
            found += is_served || (tool && !gtel_amd_tool_add(tool, address, drivers[d])) ? 0 : 1;
        }
    }
    gtel_arena_done(&arena);
    return is_served ? 0 : found;
}

const char *gtel_amd_tool_find(const struct gtel_env *env, size_t from)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++) {
        const char *path = places[(from + i) % GTEL_ARRAY_LEN(places)];
        if (gtel_fs_exists(env, path + 1))
            return path;
    }
    return NULL;
}

bool gtel_amd_tool_is_wsl(const struct gtel_env *env)
{
    return gtel_fs_exists(env, "dev/dxg") && gtel_amd_tool_find(env, 0);
}

void gtel_amd_tool_register(struct gtel_amd_tool *tool, struct gtel_registry *registry,
                            struct gtel_amd_tool_gpu *gpu)
{
    if (gtel_registry_add(registry, gtel_str_of(gpu->address), &gpu->device) < 0) {
        gpu->device = NULL;
        return;
    }
    gtel_device_label(registry, gpu->device, GTEL_LABEL_GPU, gtel_str_of(gpu->address));
    gtel_device_label(registry, gpu->device, GTEL_LABEL_VENDOR, GTEL_STR("amd"));
    gtel_device_label(registry, gpu->device, GTEL_LABEL_DRIVER, gtel_str_of(gpu->driver));
    if (!gpu->awake.is_open)
        (void)gtel_awake_open(tool->env, &gpu->awake,
                              GTEL_FS_AT("sys/bus/pci/drivers/%s/%s", gpu->driver,
                                         gpu->address)); /* else it counts as asleep */
}

int gtel_amd_tool_look(const struct gtel_amd_tool *tool, const struct gtel_amd_tool_gpu *gpu,
                       bool *ret_asleep)
{
    *ret_asleep = false;
    return tool->may_wake || tool->is_wsl ? 0 : gtel_awake_look(tool->env, &gpu->awake, ret_asleep);
}
