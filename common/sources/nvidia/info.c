/* SPDX-License-Identifier: MIT */
/* What a GPU is and how it is set: the labels of gpu_info that only NVML knows. */
#include "sources/nvidia/gpu.h"

#include <stdio.h>
#include <string.h>

/* nvmlDeviceArchitecture_t; 11 and 12 are no GPUs. */
static const char *const architectures[] = {
    [2] = "Kepler", [3] = "Maxwell", [4] = "Pascal", [5] = "Volta",      [6] = "Turing",
    [7] = "Ampere", [8] = "Ada",     [9] = "Hopper", [10] = "Blackwell", [13] = "Rubin"};
/* nvmlComputeMode_t, nvmlGpuVirtualizationMode_t, nvmlEnableState_t */
static const char *const compute_modes[] = {"default", "exclusive_thread", "prohibited",
                                            "exclusive_process"};
static const char *const virtualizations[] = {"none", "passthrough", "vgpu_guest", "vgpu_host",
                                              "vsga_host"};
static const char *const switches[] = {"off", "on"};
/* nvmlHostVgpuMode_t, NVML_CC_SYSTEM_FEATURE_* */
static const char *const vgpu_hosts[] = {"non_sriov", "sriov"};
static const char *const confidential_modes[] = {"off", "on", "bare_metal"};

/* The word for an answer, or NULL. */
static const char *word_of(const struct gtel_nvml_gpu *gpu, int(*call) GTEL_NVML_PARAMS_u32,
                           const char *const *words, size_t n)
{
    unsigned number = 0;
    if (!call || call(gpu->handle, &number) != GTEL_NVML_SUCCESS || number >= n)
        return NULL;
    return words[number];
}

static void set(struct gtel_registry *registry, const struct gtel_nvml_gpu *gpu,
                enum gtel_label label, const char *text)
{
    if (text)
        gtel_device_relabel(registry, gpu->device, label, gtel_str_of(text));
}

static void label_versions(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                           const struct gtel_nvml_gpu *gpu)
{
    char text[GTEL_NVML_VERSION_SIZE];
    int major = 0;
    int minor = 0;
    if (call->nvmlDeviceGetCudaComputeCapability &&
        call->nvmlDeviceGetCudaComputeCapability(gpu->handle, &major, &minor) ==
            GTEL_NVML_SUCCESS) {
        (void)snprintf(text, sizeof(text), "%d.%d", major, minor);
        set(registry, gpu, GTEL_LABEL_COMPUTE_CAPABILITY, text);
    }
    if (call->nvmlSystemGetCudaDriverVersion && /* 1000 x major + 10 x minor */
        call->nvmlSystemGetCudaDriverVersion(&major) == GTEL_NVML_SUCCESS && major > 0) {
        (void)snprintf(text, sizeof(text), "%d.%d", major / 1000, major % 1000 / 10);
        set(registry, gpu, GTEL_LABEL_CUDA_VERSION, text);
    }
    memset(text, 0, sizeof(text));
    if (call->nvmlDeviceGetGspFirmwareVersion &&
        call->nvmlDeviceGetGspFirmwareVersion(gpu->handle, text) == GTEL_NVML_SUCCESS) {
        text[sizeof(text) - 1] = '\0';
        set(registry, gpu, GTEL_LABEL_GSP_FIRMWARE, text);
    }
}

static const char *mig_mode(const struct gtel_nvml_calls *call, const struct gtel_nvml_gpu *gpu)
{
    unsigned now = 0;
    unsigned next = 0;
    if (!call->nvmlDeviceGetMigMode ||
        call->nvmlDeviceGetMigMode(gpu->handle, &now, &next) != GTEL_NVML_SUCCESS || now > 1)
        return NULL;
    return switches[now];
}

/* Of the whole system. What tools may look into is not confidential, whatever it is called. */
static const char *confidential_mode(const struct gtel_nvml_calls *call)
{
    struct gtel_nvml_confidential state = {0};
    if (!call->nvmlSystemGetConfComputeState ||
        call->nvmlSystemGetConfComputeState(&state) != GTEL_NVML_SUCCESS ||
        state.feature >= GTEL_ARRAY_LEN(confidential_modes))
        return NULL;
    return state.feature != 0 && state.is_open_to_tools ? "devtools"
                                                        : confidential_modes[state.feature];
}

void gtel_nvml_label_info(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                          const struct gtel_nvml_gpu *gpu)
{
    const struct {
        const char *name;
        const char *word;
    } modes[] = {
        {"mig", mig_mode(call, gpu)},
        {"compute", word_of(gpu, call->nvmlDeviceGetComputeMode, compute_modes,
                            GTEL_ARRAY_LEN(compute_modes))},
        {"persistence",
         word_of(gpu, call->nvmlDeviceGetPersistenceMode, switches, GTEL_ARRAY_LEN(switches))},
        {"virtualization", word_of(gpu, call->nvmlDeviceGetVirtualizationMode, virtualizations,
                                   GTEL_ARRAY_LEN(virtualizations))},
        {"vgpu_host",
         word_of(gpu, call->nvmlDeviceGetHostVgpuMode, vgpu_hosts, GTEL_ARRAY_LEN(vgpu_hosts))},
        {"c2c", word_of(gpu, call->nvmlDeviceGetC2cModeInfoV, switches, GTEL_ARRAY_LEN(switches))},
        {"confidential", confidential_mode(call)},
    };
    char text[GTEL_LABEL_MAX] = "";
    size_t n = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(modes); i++)
        if (modes[i].word) /* all of them fit */
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s", n > 0 ? " " : "",
                                  modes[i].name, modes[i].word);
    set(registry, gpu, GTEL_LABEL_MODES, text);
    set(registry, gpu, GTEL_LABEL_ARCHITECTURE,
        word_of(gpu, call->nvmlDeviceGetArchitecture, architectures,
                GTEL_ARRAY_LEN(architectures)));
    label_versions(call, registry, gpu);
}
