/* SPDX-License-Identifier: MIT */
/* Finds GPUs: key, labels, handles. */
#include "sources/nvidia/nvml.h"

#include <stdio.h>
#include <stdlib.h>

enum { VENDOR_NVIDIA = 0x10de };

/* How the look at one GPU, or at all, went. */
enum outcome {
    FOUND,
    SKIPPED, /* it does not want to be seen, or there is no room */
    UNSURE   /* a passing failure: look again at the next gather, and believe nobody gone */
};

static bool is_passing(int code)
{
    return code != GTEL_NVML_SUCCESS && code != GTEL_NVML_INVALID_ARGUMENT &&
           code != GTEL_NVML_NOT_SUPPORTED && code != GTEL_NVML_NO_PERMISSION &&
           code != GTEL_NVML_FUNCTION_NOT_FOUND && code != GTEL_NVML_DEPRECATED &&
           code != GTEL_NVML_NOT_FOUND && !gtel_nvml_is_lost(code);
}

/* Notes a code that concerns all GPUs, and says what a failure means for the look-up. */
static enum outcome judge(struct gtel_nvml *nvml, int code)
{
    if (gtel_nvml_is_broken(code))
        nvml->broken = code;
    return is_passing(code) ? UNSURE : SKIPPED;
}

static struct gtel_nvml_gpu *find_known(const struct gtel_nvml *nvml, struct gtel_str key)
{
    for (size_t i = 0; i < nvml->n; i++)
        if (gtel_str_eq(gtel_str_of(nvml->gpu[i]->device->key), key))
            return nvml->gpu[i];
    return NULL;
}

struct gtel_nvml_gpu *gtel_nvml_gpu_of(struct gtel_nvml *nvml, struct gtel_registry *registry,
                                       struct gtel_str key)
{
    struct gtel_device *device;
    struct gtel_nvml_gpu *gpu = find_known(nvml, key);
    if (gpu)
        return gpu;
    if (nvml->n >= GTEL_NVML_GPUS_MAX || gtel_registry_add(registry, key, &device) < 0)
        return NULL;
    gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return NULL;
    gpu->device = device;
    nvml->gpu[nvml->n++] = gpu;
    gtel_device_label(registry, device, GTEL_LABEL_VENDOR, GTEL_STR("nvidia"));
    gtel_device_label(registry, device, GTEL_LABEL_DRIVER, GTEL_STR("nvidia"));
    return gpu;
}

/* The PCI address in the kernel's form; SUCCESS, or why there is none. */
static int read_pci(const struct gtel_nvml *nvml, struct gtel_nvml_device *handle, char *address,
                    struct gtel_nvml_pci *ret)
{
    struct gtel_pci pci;
    int code = GTEL_NVML_FUNCTION_NOT_FOUND;
    if (nvml->call.nvmlDeviceGetPciInfo_v3)
        code = nvml->call.nvmlDeviceGetPciInfo_v3(handle, ret);
    else if (nvml->call.nvmlDeviceGetPciInfo_v2)
        code = nvml->call.nvmlDeviceGetPciInfo_v2(handle, ret);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    if (!nvml->call.nvmlDeviceGetPciInfo_v3)
        ret->bus_id[0] = '\0'; /* that version has reserved words there */
    ret->bus_id[sizeof(ret->bus_id) - 1] = '\0';
    ret->bus_id_legacy[sizeof(ret->bus_id_legacy) - 1] = '\0';
    const char *text = ret->bus_id[0] ? ret->bus_id : ret->bus_id_legacy;
    if (gtel_pci_parse(gtel_str_of(text), &pci) < 0)
        return GTEL_NVML_NOT_SUPPORTED;
    gtel_pci_print(address, &pci);
    return GTEL_NVML_SUCCESS;
}

static void label_text(struct gtel_registry *registry, const struct gtel_nvml_gpu *gpu,
                       enum gtel_label label, int(*call) GTEL_NVML_PARAMS_text)
{
    char text[GTEL_NVML_NAME_SIZE] = "";
    if (call && call(gpu->handle, text, sizeof(text) - 1) == GTEL_NVML_SUCCESS)
        gtel_device_relabel(registry, gpu->device, label, gtel_str_of(text));
}

static void label_gpu(const struct gtel_nvml *nvml, struct gtel_registry *registry,
                      struct gtel_nvml_gpu *gpu, const struct gtel_nvml_pci *pci)
{
    const struct gtel_nvml_calls *call = &nvml->call;
    char text[GTEL_NVML_VERSION_SIZE] = "";
    unsigned minor;
    label_text(registry, gpu, GTEL_LABEL_MODEL, call->nvmlDeviceGetName);
    label_text(registry, gpu, GTEL_LABEL_UUID, call->nvmlDeviceGetUUID);
    label_text(registry, gpu, GTEL_LABEL_FIRMWARE, call->nvmlDeviceGetVbiosVersion);
    if (call->nvmlSystemGetDriverVersion &&
        call->nvmlSystemGetDriverVersion(text, sizeof(text) - 1) == GTEL_NVML_SUCCESS)
        gtel_device_relabel(registry, gpu->device, GTEL_LABEL_DRIVER_VERSION, gtel_str_of(text));
    if (call->nvmlDeviceGetMinorNumber &&
        call->nvmlDeviceGetMinorNumber(gpu->handle, &minor) == GTEL_NVML_SUCCESS) {
        (void)snprintf(text, sizeof(text), "nvidia%u", minor);
        gtel_device_label(registry, gpu->device, GTEL_LABEL_CARD, gtel_str_of(text));
    }
    if ((pci->pci_device_id & 0xffff) != VENDOR_NVIDIA)
        return;
    (void)snprintf(text, sizeof(text), "%04x:%04x", pci->pci_device_id & 0xffff,
                   pci->pci_device_id >> 16);
    gtel_device_label(registry, gpu->device, GTEL_LABEL_PCI_ID, gtel_str_of(text));
    (void)snprintf(text, sizeof(text), "NVIDIA %04x:%04x", pci->pci_device_id & 0xffff,
                   pci->pci_device_id >> 16);
    gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, gtel_str_of(text));
}

/* Whether a GPU that was lost answers: asks for something that only the hardware knows. */
static bool is_back(const struct gtel_nvml *nvml, struct gtel_nvml_device *handle)
{
    unsigned v;
    if (nvml->call.nvmlDeviceGetTemperature)
        return !gtel_nvml_is_lost(
            nvml->call.nvmlDeviceGetTemperature(handle, GTEL_NVML_TEMPERATURE_GPU, &v));
    if (nvml->call.nvmlDeviceGetPerformanceState)
        return !gtel_nvml_is_lost(nvml->call.nvmlDeviceGetPerformanceState(handle, &v));
    return true;
}

/* The key of the GPU behind a handle, into key (GTEL_KEY_MAX bytes); address is empty without PCI.
 */
static enum outcome read_key(struct gtel_nvml *nvml, struct gtel_nvml_device *handle, char *key,
                             char *address, struct gtel_nvml_pci *ret)
{
    char uuid[GTEL_NVML_UUID_SIZE] = "";
    int code = read_pci(nvml, handle, address, ret);
    if (code == GTEL_NVML_SUCCESS) {
        (void)snprintf(key, GTEL_KEY_MAX, "%s", address);
        return FOUND;
    }
    *ret = (struct gtel_nvml_pci){0};
    if (is_passing(code) || gtel_nvml_is_lost(code))
        return judge(nvml, code);
    code = nvml->call.nvmlDeviceGetUUID(handle, uuid, sizeof(uuid) - 1);
    if (code != GTEL_NVML_SUCCESS)
        return judge(nvml, code);
    if (snprintf(key, GTEL_KEY_MAX, "nvidia:%s", uuid) >= GTEL_KEY_MAX)
        return SKIPPED;
    return FOUND;
}

/* Passive boards have none, old libraries cannot tell. */
static enum outcome count_fans(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu)
{
    unsigned n = 0;
    int code = GTEL_NVML_FUNCTION_NOT_FOUND;
    if (nvml->call.nvmlDeviceGetNumFans)
        code = nvml->call.nvmlDeviceGetNumFans(gpu->handle, &n);
    bool is_unsure = is_passing(code) || gtel_nvml_is_lost(code);
    gpu->fans = is_unsure ? -1 : 0;
    if (code == GTEL_NVML_SUCCESS)
        gpu->fans = n < GTEL_NVML_WORDS ? (int)n : GTEL_NVML_WORDS;
    (void)judge(nvml, code);
    return is_unsure ? UNSURE : FOUND;
}

static unsigned ask_number(const struct gtel_nvml_gpu *gpu, int(*call) GTEL_NVML_PARAMS_u32)
{
    unsigned v = 0;
    return call && call(gpu->handle, &v) == GTEL_NVML_SUCCESS ? v : 0;
}

/* How fast the link could be: it runs at a lower generation while nothing moves, and virtual
 * machines make it look slower than it is. */
static void measure_link(const struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu)
{
    unsigned gen = ask_number(gpu, nvml->call.nvmlDeviceGetMaxPcieLinkGeneration);
    unsigned gen_now = ask_number(gpu, nvml->call.nvmlDeviceGetCurrPcieLinkGeneration);
    unsigned width = ask_number(gpu, nvml->call.nvmlDeviceGetMaxPcieLinkWidth);
    unsigned width_now = ask_number(gpu, nvml->call.nvmlDeviceGetCurrPcieLinkWidth);
    bool is_known = gen > 0 && width > 0;
    gpu->pcie.wrap_ns = is_known ? gtel_nvml_pcie_wrap_ns(gen > gen_now ? gen : gen_now,
                                                          width > width_now ? width : width_now)
                                 : 0;
}

/* Takes a GPU in, or up again. */
static enum outcome adopt(struct gtel_nvml *nvml, struct gtel_registry *registry,
                          struct gtel_nvml_device *handle)
{
    char key[GTEL_KEY_MAX];
    char address[GTEL_PCI_TEXT_MAX] = "";
    struct gtel_nvml_pci pci = {0};
    struct gtel_device *device;
    enum outcome outcome = read_key(nvml, handle, key, address, &pci);
    if (outcome != FOUND)
        return outcome;
    struct gtel_nvml_gpu *gpu = gtel_nvml_gpu_of(nvml, registry, gtel_str_of(key));
    if (!gpu || (gpu->is_lost && !is_back(nvml, handle)))
        return SKIPPED;
    if (gtel_registry_add(registry, gtel_str_of(key), &device) < 0)
        return SKIPPED;
    if (gpu->is_lost)
        gtel_nvml_forget(gpu);
    gpu->is_seen = true;
    gpu->is_lost = false;
    gpu->handle = handle;
    gpu->device->is_asleep = false;
    if (address[0])
        gtel_nvml_set_address(nvml, gpu, address);
    gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(key));
    label_gpu(nvml, registry, gpu, &pci);
    if (gpu->pcie.wrap_ns == 0) /* not each time: it takes 2.3 ms (H200, driver 580.159) */
        measure_link(nvml, gpu);
    return count_fans(nvml, gpu);
}

/* All GPUs that NVML counts. A look-up attaches the GPU, and so wakes it. */
static enum outcome find_by_index(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    enum outcome worst = FOUND;
    unsigned n = 0;
    int code = nvml->call.nvmlDeviceGetCount_v2(&n);
    if (code != GTEL_NVML_SUCCESS) {
        (void)judge(nvml, code);
        return UNSURE;
    }
    for (unsigned i = 0; i < n && i < GTEL_NVML_GPUS_MAX && !nvml->broken; i++) {
        struct gtel_nvml_device *handle;
        code = nvml->call.nvmlDeviceGetHandleByIndex_v2(i, &handle);
        enum outcome outcome =
            code == GTEL_NVML_SUCCESS ? adopt(nvml, registry, handle) : judge(nvml, code);
        if (outcome == UNSURE)
            worst = UNSURE;
    }
    return worst;
}

/* Only the GPUs that are awake, where others sleep: an index says nothing about who would be woken.
 */
static enum outcome find_by_address(struct gtel_nvml *nvml, struct gtel_registry *registry,
                                    const struct gtel_nvml_addresses *awake)
{
    enum outcome worst = FOUND;
    if (!nvml->call.nvmlDeviceGetHandleByPciBusId_v2)
        return FOUND;
    for (size_t i = 0; i < awake->n && !nvml->broken; i++) {
        struct gtel_nvml_device *handle;
        int code = nvml->call.nvmlDeviceGetHandleByPciBusId_v2(awake->text[i], &handle);
        enum outcome outcome =
            code == GTEL_NVML_SUCCESS ? adopt(nvml, registry, handle) : judge(nvml, code);
        if (outcome == UNSURE)
            worst = UNSURE;
    }
    return worst;
}

static void register_asleep(struct gtel_nvml *nvml, struct gtel_registry *registry,
                            const struct gtel_nvml_addresses *asleep)
{
    for (size_t i = 0; i < asleep->n; i++) {
        struct gtel_str key = gtel_str_of(asleep->text[i]);
        struct gtel_nvml_gpu *gpu = gtel_nvml_gpu_of(nvml, registry, key);
        struct gtel_device *device;
        if (!gpu || gtel_registry_add(registry, key, &device) < 0)
            continue;
        gpu->is_seen = true;
        gpu->is_lost = false;
        device->is_asleep = true;
        gtel_nvml_set_address(nvml, gpu, asleep->text[i]);
        gtel_device_label(registry, device, GTEL_LABEL_GPU, key);
    }
}

/* GPUs that did not show up. With none left that answers, only a new start can help. */
static void note_missing(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    size_t present = 0;
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        present += gpu->is_seen;
        if (gpu->is_seen)
            continue;
        gpu->handle = NULL;
        gpu->is_lost = true;
        gtel_registry_lost(registry, gpu->device);
    }
    if (nvml->n > 0 && present == 0)
        nvml->broken = GTEL_NVML_GPU_IS_LOST;
}

void gtel_nvml_find(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    struct gtel_nvml_addresses awake;
    struct gtel_nvml_addresses asleep = {.n = 0};
    enum outcome outcome;
    for (size_t i = 0; i < nvml->n; i++)
        nvml->gpu[i]->is_seen = false;
    gtel_nvml_look(nvml, &awake, &asleep);
    if (nvml->may_wake)
        asleep.n = 0;
    register_asleep(nvml, registry, &asleep);
    if (asleep.n > 0 && awake.n == 0 && !nvml->is_running)
        return;
    if (gtel_nvml_is_resting(nvml) || gtel_nvml_start(nvml) < 0)
        return;
    if (asleep.n > 0)
        outcome = find_by_address(nvml, registry, &awake);
    else
        outcome = find_by_index(nvml, registry);
    nvml->is_find_due = outcome == UNSURE;
    if (outcome != UNSURE && !nvml->broken)
        note_missing(nvml, registry);
}
