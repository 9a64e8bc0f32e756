/* SPDX-License-Identifier: MIT */
/*
 * Source sysman: what Level Zero Sysman adds to the kernel's values of Intel GPUs.
 *
 * Vendor code runs in a lane of its own. Its devices are joined to the kernel's cards by PCI
 * address; the kernel's sources come first, so that their values take precedence. A sleeping GPU
 * is left alone, and one that may fall asleep and is idle is given time to: opening a node and
 * reading hwmon or telemetry wake it, or keep it awake.
 */
#include "sources/level_zero/sysman/ask.h"

#include <errno.h>
#include <stdlib.h>

static struct gtel_sysman_gpu *gpu_of(const struct gtel_sysman *sysman, size_t i)
{
    return sysman->lz.cards.slot[i].own;
}

static void close_card(const struct gtel_env *env, void *own)
{
    struct gtel_sysman_gpu *gpu = own;
    gtel_gts_close(env, &gpu->gts);
    for (size_t i = 0; i < GTEL_SYSMAN_FAMILIES; i++)
        free(gpu->list[i].part);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_sysman *sysman = state;
    sysman->lz = (struct gtel_level_zero){
        .source = "sysman",
        .level = GTEL_LOG_INFO,
        .cards = {.own_size = sizeof(struct gtel_sysman_gpu), .close = close_card}};
    return gtel_level_zero_open(&sysman->lz, env, options);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_sysman *sysman = state;
    bool has_devices = false;
    for (size_t i = 0; i < sysman->lz.cards.n; i++)
        has_devices = has_devices || gpu_of(sysman, i)->handle;
    int r = gtel_level_zero_discover(&sysman->lz, registry, has_devices);
    if (registry->renewal != GTEL_RENEWAL_DUE)
        gtel_sysman_find_devices(sysman, registry);
    return r;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    bool is_discovery_due = gtel_level_zero_check(&sysman->lz, registry);
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        if (sysman->lz.state == GTEL_LEVEL_ZERO_RUNS && registry->renewal != GTEL_RENEWAL_DUE &&
            gtel_sysman_may_ask(sysman, gpu))
            gtel_sysman_sample(sysman, gpu, batch);
        if (gtel_sysman_is_lost(sysman, gpu))
            gtel_level_zero_restart(&sysman->lz, registry, "a GPU is lost");
    }
    return is_discovery_due ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_sysman *sysman = state;
    uint64_t first = 0;
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        uint64_t due = gtel_sysman_energy_due(gpu_of(sysman, i));
        first = due > 0 && (first == 0 || due < first) ? due : first;
    }
    return first;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    for (size_t i = 0; i < sysman->lz.cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        uint64_t due = gtel_sysman_energy_due(gpu);
        if (due > 0 && due <= batch->t_ns)
            gtel_sysman_keep_energy(sysman, gpu, batch,
                                    registry->renewal != GTEL_RENEWAL_DUE &&
                                        gtel_sysman_may_ask(sysman, gpu));
    }
    return 0;
}

static void close_source(void *state)
{
    gtel_level_zero_close(&((struct gtel_sysman *)state)->lz);
}

static const char *const origins[] = {"Level Zero", NULL};

const struct gtel_source gtel_source_sysman = {
    .name = "sysman",
    .lane = "sysman",
    .vendor = "intel",
    .summary = "Level Zero Sysman beside the kernel's values: temperatures, bandwidth, limits, "
               "PCIe traffic, errors, fabric, state, ECC.",
    .needs = "libze_loader.so.1 and Intel's driver; root, or read access to the telem files",
    .seen = "not tried on hardware; loaders 1.8.12, 1.20.6 and 1.32.0, without a GPU",
    .origins = origins,
    .state_size = sizeof(struct gtel_sysman),
    .is_indirect = true,
    .library = &gtel_level_zero_library,
    .present = gtel_level_zero_present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_sysman_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
