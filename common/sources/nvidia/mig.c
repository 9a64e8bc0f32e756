/* SPDX-License-Identifier: MIT */
/* MIG instances of a GPU. */
#include "sources/nvidia/mig.h"

#include "base/str.h"
#include "sources/nvidia/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 64 }; /* of instances: each has a series; drivers use up to 14 */

/* What NVML answers of one place. */
struct found {
    struct gtel_nvml_device *handle;
    unsigned gpu_instance;
    unsigned compute_instance;
    char uuid[GTEL_NVML_UUID_SIZE];
    char name[GTEL_NVML_NAME_SIZE];
};

static bool has_calls(const struct gtel_nvml_calls *call)
{
    return call->nvmlDeviceGetMaxMigDeviceCount && call->nvmlDeviceGetMigDeviceHandleByIndex &&
           call->nvmlDeviceGetGpuInstanceId && call->nvmlDeviceGetComputeInstanceId;
}

/* Identifies the instance at a place. An NVML code; NOT_FOUND and the like: there is none. */
static int identify(const struct gtel_nvml_calls *call, const struct gtel_nvml_gpu *gpu,
                    unsigned place, struct found *ret)
{
    *ret = (struct found){.handle = NULL};
    int code = call->nvmlDeviceGetMigDeviceHandleByIndex(gpu->handle, place, &ret->handle);
    if (code == GTEL_NVML_SUCCESS)
        code = call->nvmlDeviceGetGpuInstanceId(ret->handle, &ret->gpu_instance);
    if (code == GTEL_NVML_SUCCESS)
        code = call->nvmlDeviceGetComputeInstanceId(ret->handle, &ret->compute_instance);
    if (code == GTEL_NVML_SUCCESS)
        code = call->nvmlDeviceGetUUID(ret->handle, ret->uuid, sizeof(ret->uuid) - 1);
    if (code != GTEL_NVML_SUCCESS || !call->nvmlDeviceGetName)
        return code;
    code = call->nvmlDeviceGetName(ret->handle, ret->name, sizeof(ret->name) - 1);
    return gtel_nvml_meaning(code) == GTEL_NVML_MEANS_ABSENT ? GTEL_NVML_SUCCESS : code;
}

static void remove_one(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                       struct gtel_nvml_mig *mig, size_t i)
{
    struct gtel_nvml_gpu *instance = mig->instance[i];
    mig->instance[i] = mig->instance[--mig->n];
    if (registry)
        gtel_registry_lost(registry, instance->device);
    gtel_nvml_gpm_done(call, &instance->gpm);
    gtel_nvml_processes_done(&instance->processes);
    free(instance);
}

/* The name is that of the GPU, and the profile: NVIDIA H100 80GB HBM3 MIG 1g.10gb. */
static void label(struct gtel_registry *registry, const struct gtel_nvml_gpu *instance,
                  const struct found *found)
{
    const char *profile = strstr(found->name, " MIG ");
    const char *tag = strchr(instance->device->key, '/') + 1;
    (void)gtel_device_label_id(registry, instance->device,
                               gtel_str_of(instance->parent->device->label[GTEL_LABEL_PCI_ID]));
    gtel_device_label_part(registry, instance->device, instance->parent->device);
    gtel_device_label(registry, instance->device, GTEL_LABEL_INSTANCE, gtel_str_of(tag));
    gtel_device_relabel(registry, instance->device, GTEL_LABEL_UUID, gtel_str_of(found->uuid));
    if (profile)
        gtel_device_relabel(registry, instance->device, GTEL_LABEL_PROFILE,
                            gtel_str_of(profile + strlen(" MIG ")));
}

/* NULL: no room or memory. */
static struct gtel_nvml_gpu *add(struct gtel_registry *registry, struct gtel_nvml_gpu *gpu,
                                 const struct found *found)
{
    char key[GTEL_KEY_MAX];
    struct gtel_device *device;
    int n = snprintf(key, sizeof(key), "%s/mig%u.%u", gpu->device->key, found->gpu_instance,
                     found->compute_instance);
    if (gpu->mig.n == GTEL_NVML_INSTANCES_MAX || n >= (int)sizeof(key))
        return NULL;
    struct gtel_nvml_gpu *instance = calloc(1, sizeof(*instance));
    if (!instance || gtel_registry_add(registry, gtel_str_of(key), &device) < 0) {
        free(instance);
        return NULL;
    }
    instance->device = device;
    instance->parent = gpu;
    instance->turn_ns = gpu->turn_ns;
    instance->gpu_instance = found->gpu_instance;
    instance->compute_instance = found->compute_instance;
    gpu->mig.instance[gpu->mig.n++] = instance;
    label(registry, instance, found);
    return instance;
}

/* The instance that was found: known, new, or another one of a known number. */
static void adopt(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                  struct gtel_nvml_gpu *gpu, const struct found *found)
{
    struct gtel_nvml_mig *mig = &gpu->mig;
    uint64_t identity = gtel_hash(gtel_hash(GTEL_HASH_SEED, found->uuid, sizeof(found->uuid)),
                                  found->name, sizeof(found->name));
    size_t i = 0;
    if (found->gpu_instance >= NUMBERS_MAX || found->compute_instance >= NUMBERS_MAX)
        return;
    while (i < mig->n && (mig->instance[i]->gpu_instance != found->gpu_instance ||
                          mig->instance[i]->compute_instance != found->compute_instance))
        i++;
    struct gtel_nvml_gpu *instance = i < mig->n ? mig->instance[i] : NULL;
    if (instance && instance->is_found) /* two cannot have one number */
        return;
    if (instance && instance->identity != identity) {
        remove_one(call, registry, mig, i);
        instance = NULL;
    }
    if (!instance)
        instance = add(registry, gpu, found);
    if (!instance)
        return;
    instance->identity = identity;
    instance->handle = found->handle;
    instance->is_found = true;
    instance->is_unavailable = false;
}

/* An NVML code. */
static int count_places(const struct gtel_nvml_calls *call, struct gtel_nvml_gpu *gpu, uint64_t now)
{
    unsigned places = 0;
    int code = call->nvmlDeviceGetMaxMigDeviceCount(gpu->handle, &places);
    enum gtel_nvml_meaning meaning = gtel_nvml_meaning(code);
    if (code != GTEL_NVML_SUCCESS && meaning != GTEL_NVML_MEANS_ABSENT)
        return code;
    bool is_off = code == GTEL_NVML_SUCCESS && places == 0;
    if (is_off && gpu->mig.places > 0) /* now it answers what it refused */
        gtel_nvml_gpu_forget(gpu);
    if (code == GTEL_NVML_SUCCESS)
        gpu->mig.places = places < GTEL_NVML_INSTANCES_MAX ? places : GTEL_NVML_INSTANCES_MAX;
    gpu->mig.due_ns = is_off || gpu->mig.places > 0 ? now + GTEL_NVML_MINUTE_NS : UINT64_MAX;
    return GTEL_NVML_SUCCESS;
}

/* What a code means for the search. False: it may have missed an instance. */
static bool judge(struct gtel_nvml_library *library, const struct gtel_nvml_gpu *gpu, int code,
                  struct gtel_batch *batch)
{
    switch (gtel_nvml_judge(library, code)) {
    case GTEL_NVML_MEANS_BROKEN:
        return false;
    case GTEL_NVML_MEANS_FAILURE:
        gtel_batch_failed(batch, gpu->device);
        return false;
    default: /* nothing at this place, or destroyed meanwhile; a lost GPU shows in its rows */
        return code != GTEL_NVML_NO_DATA && code != GTEL_NVML_NOT_READY;
    }
}

void gtel_nvml_mig_update(struct gtel_nvml_library *library, struct gtel_registry *registry,
                          struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    struct gtel_nvml_mig *mig = &gpu->mig;
    bool is_complete = true;
    if (!has_calls(&library->call))
        return;
    if (mig->due_ns <= batch->t_ns)
        is_complete = judge(library, gpu, count_places(&library->call, gpu, batch->t_ns), batch);
    for (size_t i = 0; i < mig->n; i++)
        mig->instance[i]->is_found = false;
    for (unsigned place = 0; place < mig->places && !library->broken; place++) {
        struct found found;
        int code = identify(&library->call, gpu, place, &found);
        if (code == GTEL_NVML_SUCCESS)
            adopt(&library->call, registry, gpu, &found);
        else if (!judge(library, gpu, code, batch))
            is_complete = false;
    }
    for (size_t i = mig->n; i-- > 0;) {
        if (mig->instance[i]->is_found)
            continue;
        mig->instance[i]->handle = NULL;
        if (is_complete)
            remove_one(&library->call, registry, mig, i);
    }
}

bool gtel_nvml_mig_is_first(const struct gtel_nvml_gpu *instance)
{
    const struct gtel_nvml_mig *mig = &instance->parent->mig;
    for (size_t i = 0; i < mig->n; i++)
        if (mig->instance[i]->gpu_instance == instance->gpu_instance &&
            mig->instance[i]->compute_instance < instance->compute_instance)
            return false;
    return true;
}

void gtel_nvml_mig_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *instance,
                          struct gtel_batch *batch)
{
    if (gtel_nvml_mig_is_first(instance)) {
        gtel_nvml_gpu_sample(library, instance, batch);
        return;
    }
    batch->origin = GTEL_NVML_ORIGIN_CALL;
    gtel_batch_u64(batch, instance->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
}

void gtel_nvml_mig_remove(const struct gtel_nvml_calls *call, struct gtel_registry *registry,
                          struct gtel_nvml_gpu *gpu)
{
    while (gpu->mig.n > 0)
        remove_one(call, registry, &gpu->mig, gpu->mig.n - 1);
    gpu->mig = (struct gtel_nvml_mig){0};
}
