/* SPDX-License-Identifier: MIT */
/* Finds GPUs: key, labels, handles. */
#include "sources/drm/cards.h"
#include "sources/nvidia/nvml.h"

#include <stdio.h>
#include <stdlib.h>

enum { VENDOR_NVIDIA = 0x10de };

/* The result for one GPU, or for all. */
enum outcome {
    FOUND,
    SKIPPED, /* it must not be read, or there is no room */
    UNSURE   /* a failure that may pass: try again at the next gather, and treat none as removed */
};

static bool may_pass(int code)
{
    switch (gtel_nvml_meaning(code)) {
    case GTEL_NVML_MEANS_FAILURE:
    case GTEL_NVML_MEANS_BROKEN:
        return true;
    case GTEL_NVML_MEANS_NO_VALUE:
        return code != GTEL_NVML_NOT_FOUND;
    default:
        return false;
    }
}

/* A GPU that NVML counts and does not give: what that means for the discovery. */
static enum outcome refuse(struct gtel_nvml *nvml, int code)
{
    struct gtel_nvml_refusals *refusals = &nvml->refusals;
    enum gtel_nvml_meaning meaning = gtel_nvml_judge(&nvml->library, code);
    if (refusals->n++ == 0)
        refusals->code = code;
    refusals->gone += meaning == GTEL_NVML_MEANS_NO_GPU || code == GTEL_NVML_UNKNOWN;
    return may_pass(code) ? UNSURE : SKIPPED;
}

static struct gtel_nvml_gpu *find_known(const struct gtel_nvml *nvml, struct gtel_str key)
{
    for (size_t i = 0; i < nvml->n; i++)
        if (gtel_str_eq(gtel_str_of(nvml->gpu[i]->device->key), key))
            return nvml->gpu[i];
    return NULL;
}

/* The GPU of that key, present and new if need be. NULL: no room or memory. */
static struct gtel_nvml_gpu *add_gpu(struct gtel_nvml *nvml, struct gtel_registry *registry,
                                     struct gtel_str key)
{
    struct gtel_nvml_gpu *gpu = find_known(nvml, key);
    struct gtel_device *device;
    if ((!gpu && nvml->n >= GTEL_NVML_GPUS_MAX) || gtel_registry_add(registry, key, &device) < 0)
        return NULL;
    if (gpu)
        return gpu;
    gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return NULL;
    gpu->device = device;
    nvml->gpu[nvml->n++] = gpu;
    gtel_device_label(registry, device, GTEL_LABEL_GPU, key);
    gtel_device_label(registry, device, GTEL_LABEL_VENDOR, GTEL_STR("nvidia"));
    gtel_device_label(registry, device, GTEL_LABEL_DRIVER, GTEL_STR("nvidia"));
    return gpu;
}

/* The PCI address in the kernel's form; SUCCESS, or why there is none. */
static int read_pci(const struct gtel_nvml_calls *call, struct gtel_nvml_device *handle,
                    char *address, struct gtel_nvml_pci *ret)
{
    struct gtel_pci pci;
    if (!call->nvmlDeviceGetPciInfo_v3)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = call->nvmlDeviceGetPciInfo_v3(handle, ret);
    ret->bus_id[sizeof(ret->bus_id) - 1] = '\0';
    if (code == GTEL_NVML_SUCCESS && gtel_pci_parse(gtel_str_of(ret->bus_id), &pci) < 0)
        return GTEL_NVML_NOT_SUPPORTED;
    if (code == GTEL_NVML_SUCCESS)
        gtel_pci_print(address, &pci);
    return code;
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
    const struct gtel_nvml_calls *call = &nvml->library.call;
    char text[GTEL_NVML_VERSION_SIZE] = "";
    unsigned minor;
    bool has_id = (pci->pci_device_id & 0xffff) == VENDOR_NVIDIA;
    if (has_id) {
        (void)snprintf(text, sizeof(text), "%04x:%04x", VENDOR_NVIDIA, pci->pci_device_id >> 16);
        (void)gtel_device_label_id(registry, gpu->device, gtel_str_of(text));
    }
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
    if (!has_id)
        return;
    (void)snprintf(text, sizeof(text), "NVIDIA %04x:%04x", VENDOR_NVIDIA, pci->pci_device_id >> 16);
    gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, gtel_str_of(text));
}

/* Whether an unavailable GPU answers again: asks for something that only the hardware knows. */
static bool is_back(const struct gtel_nvml_calls *call, struct gtel_nvml_device *handle)
{
    unsigned v;
    int code = GTEL_NVML_SUCCESS;
    if (call->nvmlDeviceGetTemperature)
        code = call->nvmlDeviceGetTemperature(handle, GTEL_NVML_TEMPERATURE_GPU, &v);
    else if (call->nvmlDeviceGetPerformanceState)
        code = call->nvmlDeviceGetPerformanceState(handle, &v);
    return gtel_nvml_meaning(code) != GTEL_NVML_MEANS_NO_GPU;
}

/* The key of the GPU behind a handle, into key (GTEL_KEY_MAX bytes); address is empty without PCI.
 */
static enum outcome read_key(struct gtel_nvml *nvml, struct gtel_nvml_device *handle, char *key,
                             char *address, struct gtel_nvml_pci *ret)
{
    char uuid[GTEL_NVML_UUID_SIZE] = "";
    int code = read_pci(&nvml->library.call, handle, address, ret);
    if (code == GTEL_NVML_SUCCESS) {
        (void)snprintf(key, GTEL_KEY_MAX, "%s", address);
        return FOUND;
    }
    *ret = (struct gtel_nvml_pci){0};
    if (may_pass(code) || gtel_nvml_meaning(code) == GTEL_NVML_MEANS_NO_GPU)
        return refuse(nvml, code);
    code = nvml->library.call.nvmlDeviceGetUUID(handle, uuid, sizeof(uuid) - 1);
    if (code != GTEL_NVML_SUCCESS)
        return refuse(nvml, code);
    if (snprintf(key, GTEL_KEY_MAX, "nvidia:%s", uuid) >= GTEL_KEY_MAX)
        return SKIPPED;
    return FOUND;
}

static unsigned read_number(const struct gtel_nvml_gpu *gpu, int(*call) GTEL_NVML_PARAMS_u32)
{
    unsigned v = 0;
    return call && call(gpu->handle, &v) == GTEL_NVML_SUCCESS ? v : 0;
}

/* How fast the link could be: it runs at a lower generation while nothing moves, and virtual
 * machines make it look slower than it is. */
static void read_link(const struct gtel_nvml_calls *call, struct gtel_nvml_gpu *gpu)
{
    unsigned gen = read_number(gpu, call->nvmlDeviceGetMaxPcieLinkGeneration);
    unsigned gen_now = read_number(gpu, call->nvmlDeviceGetCurrPcieLinkGeneration);
    unsigned width = read_number(gpu, call->nvmlDeviceGetMaxPcieLinkWidth);
    unsigned width_now = read_number(gpu, call->nvmlDeviceGetCurrPcieLinkWidth);
    if (gen > 0 && width > 0)
        gpu->pcie.speed = gtel_nvml_pcie_speed(gen > gen_now ? gen : gen_now,
                                               width > width_now ? width : width_now);
}

/* Adds a GPU, or finds it again. */
static enum outcome adopt(struct gtel_nvml *nvml, struct gtel_registry *registry,
                          struct gtel_nvml_device *handle)
{
    const struct gtel_nvml_calls *call = &nvml->library.call;
    char key[GTEL_KEY_MAX];
    char address[GTEL_PCI_TEXT_MAX] = "";
    struct gtel_nvml_pci pci = {0};
    enum outcome outcome = read_key(nvml, handle, key, address, &pci);
    if (outcome != FOUND)
        return outcome;
    struct gtel_nvml_gpu *known = find_known(nvml, gtel_str_of(key));
    if (known && known->is_unavailable && !is_back(call, handle))
        return SKIPPED;
    struct gtel_nvml_gpu *gpu = add_gpu(nvml, registry, gtel_str_of(key));
    if (!gpu)
        return SKIPPED;
    if (gpu->is_unavailable) {
        gtel_nvml_gpu_forget(gpu);
        gpu->pcie.speed = 0;
    }
    gpu->is_found = true;
    gpu->is_unavailable = false;
    gpu->handle = handle;
    gpu->device->is_asleep = false;
    if (address[0])
        gtel_nvml_watch_sleep(nvml->env, gpu, address);
    if (gpu->xids.watch == GTEL_NVML_WATCH_REFUSED)
        gpu->xids.watch = GTEL_NVML_WATCH_NOT_ASKED; /* it may have been for a while */
    label_gpu(nvml, registry, gpu, &pci);
    gtel_nvml_label_info(call, registry, gpu);
    if (gpu->pcie.speed <= 0) /* not each time: it takes 2.3 ms (H200, driver 580.159) */
        read_link(call, gpu);
    return FOUND;
}

/*
 * All GPUs that NVML counts; or only those that are awake, by address, where others sleep: a
 * look-up attaches the GPU, and so wakes it, and an index says nothing about who that would be.
 */
static enum outcome find_all(struct gtel_nvml *nvml, struct gtel_registry *registry,
                             const struct gtel_nvml_pci_gpus *gpus)
{
    const struct gtel_nvml_calls *call = &nvml->library.call;
    enum outcome worst = FOUND;
    bool is_by_address = gpus->asleep > 0;
    unsigned n = is_by_address ? (unsigned)gpus->n : 0;
    int code = is_by_address ? GTEL_NVML_SUCCESS : call->nvmlDeviceGetCount_v2(&n);
    if (gtel_nvml_judge(&nvml->library, code) != GTEL_NVML_MEANS_FINE)
        return UNSURE;
    if (is_by_address && !call->nvmlDeviceGetHandleByPciBusId_v2)
        return FOUND;
    for (unsigned i = 0; i < n && i < GTEL_NVML_GPUS_MAX && !nvml->library.broken; i++) {
        struct gtel_nvml_device *handle = NULL;
        if (is_by_address && gpus->gpu[i].is_asleep)
            continue;
        code = is_by_address ? call->nvmlDeviceGetHandleByPciBusId_v2(gpus->gpu[i].address, &handle)
                             : call->nvmlDeviceGetHandleByIndex_v2(i, &handle);
        if ((code == GTEL_NVML_SUCCESS ? adopt(nvml, registry, handle) : refuse(nvml, code)) ==
            UNSURE)
            worst = UNSURE;
    }
    return worst;
}

static void register_asleep(struct gtel_nvml *nvml, struct gtel_registry *registry,
                            const struct gtel_nvml_pci_gpus *gpus)
{
    for (size_t i = 0; i < gpus->n; i++) {
        struct gtel_nvml_gpu *gpu = NULL;
        if (gpus->gpu[i].is_asleep)
            gpu = add_gpu(nvml, registry, gtel_str_of(gpus->gpu[i].address));
        if (!gpu)
            continue;
        if (gpu->is_unavailable)
            gtel_nvml_gpu_forget(gpu);
        gpu->is_found = true;
        gpu->is_unavailable = false;
        gpu->device->is_asleep = true;
        gtel_nvml_watch_sleep(nvml->env, gpu, gpus->gpu[i].address);
    }
}

/* GPUs that were not found. With none left that answers, only a new start can help. */
static void mark_missing(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    size_t found = 0;
    for (size_t i = 0; i < nvml->n; i++) {
        struct gtel_nvml_gpu *gpu = nvml->gpu[i];
        found += gpu->is_found;
        if (gpu->is_found)
            continue;
        gtel_nvml_mig_remove(&nvml->library.call, registry, gpu);
        gpu->handle = NULL;
        if (!gpu->is_unavailable) {
            gpu->first_code = nvml->refusals.code;
            gpu->is_unavailable = true;
            nvml->events_due_ns = 0; /* as after any loss (nvml.c) */
            gtel_nvml_gpu_log_lost(nvml->env, gpu);
        }
        gtel_registry_lost(registry, gpu->device);
    }
    if (nvml->n > 0 && found == 0)
        nvml->library.broken = GTEL_NVML_GPU_IS_LOST;
}

/* Of the GPUs that were refused: those that are not known to be lost. */
static size_t count_unexplained(const struct gtel_nvml *nvml)
{
    size_t lost = 0;
    for (size_t i = 0; i < nvml->n; i++)
        lost += nvml->gpu[i]->is_unavailable;
    return nvml->refusals.n > lost ? nvml->refusals.n - lost : 0;
}

/*
 * GPUs that did not answer from the start are known from sysfs, so that somebody sees them. Only
 * when as many are missing as were refused: in containers sysfs shows the GPUs of others, too.
 */
static void register_gone(struct gtel_nvml *nvml, struct gtel_registry *registry,
                          const struct gtel_nvml_pci_gpus *gpus)
{
    size_t missing = 0;
    for (size_t i = 0; i < gpus->n; i++) {
        const struct gtel_nvml_gpu *gpu = find_known(nvml, gtel_str_of(gpus->gpu[i].address));
        missing += !gpu || (!gpu->is_found && !gpu->is_unavailable);
    }
    if (nvml->refusals.n != nvml->refusals.gone || missing != count_unexplained(nvml))
        return;
    for (size_t i = 0; i < gpus->n; i++) {
        struct gtel_str key = gtel_str_of(gpus->gpu[i].address);
        struct gtel_nvml_gpu *gpu = find_known(nvml, key) ? NULL : add_gpu(nvml, registry, key);
        if (!gpu)
            continue;
        gpu->first_code = nvml->refusals.code;
        gpu->is_unavailable = true;
        gtel_nvml_gpu_log_lost(nvml->env, gpu);
        gtel_registry_lost(registry, gpu->device);
    }
}

/* Once when there are more of them, and once when there are none any more. */
static void log_refusals(struct gtel_nvml *nvml)
{
    struct gtel_nvml_refusals *refusals = &nvml->refusals;
    size_t n = count_unexplained(nvml);
    if (n > refusals->logged)
        gtel_log(&nvml->env->log, GTEL_LOG_WARNING,
                 "nvml: %zu of the GPUs cannot be looked up, the first with code %d (gtel doctor "
                 "says more)",
                 n, refusals->code);
    if (refusals->n == 0 && refusals->logged > 0)
        gtel_log(&nvml->env->log, GTEL_LOG_INFO, "nvml: all GPUs can be looked up again");
    refusals->logged = n;
}

void gtel_nvml_find(struct gtel_nvml *nvml, struct gtel_registry *registry)
{
    struct gtel_nvml_pci_gpus gpus = {0};
    for (size_t i = 0; i < nvml->n; i++)
        nvml->gpu[i]->is_found = false;
    bool may_wake = registry->cards->may_wake;
    if (gtel_nvml_pci_list(nvml->env, may_wake, &gpus) < 0 && !may_wake)
        return;
    register_asleep(nvml, registry, &gpus);
    if (gpus.n > 0 && gpus.asleep == gpus.n && !nvml->library.is_running)
        return;
    if (gtel_nvml_sleep_is_on(&nvml->sleep, gtel_env_now(nvml->env)) ||
        gtel_nvml_start(&nvml->library) < 0)
        return;
    nvml->refusals = (struct gtel_nvml_refusals){.logged = nvml->refusals.logged};
    enum outcome outcome = find_all(nvml, registry, &gpus);
    if (outcome == UNSURE)
        gtel_backoff_fail(&nvml->find_pause, gtel_env_now(nvml->env), GTEL_BACKOFF_FIRST_NS,
                          GTEL_BACKOFF_LAST_NS);
    else
        nvml->find_pause = (struct gtel_backoff){0};
    if (nvml->library.broken)
        return;
    register_gone(nvml, registry, &gpus);
    if (outcome != UNSURE)
        mark_missing(nvml, registry);
    if (!nvml->library.broken) /* else that is what is logged */
        log_refusals(nvml);
}
