/* SPDX-License-Identifier: MIT */
/*
 * Source sysman: what Level Zero Sysman adds to the kernel's figures of Intel GPUs.
 *
 * Vendor code runs in a lane of its own. Its devices are joined to the kernel's cards by PCI
 * address; the kernel's sources come first, so that their figures win where both have one. A
 * sleeping GPU is left alone, and one that may fall asleep and stands still is given time to:
 * opening a node and reading hwmon or telemetry wake it, or keep it awake.
 */
#include "sources/level_zero/sysman/sysman.h"

#include "sources/level_zero/level_zero.h"

#include <errno.h>
#include <string.h>

static const char *const drivers[] = {"i915", "xe", NULL};

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers) && gtel_level_zero_is_installed(env);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_sysman *sysman = state;
    if (!gtel_level_zero_is_installed(env))
        return -ENOENT;
    sysman->cards = (struct gtel_card_list){.env = env,
                                            .drivers = drivers,
                                            .own_size = sizeof(struct gtel_sysman_gpu),
                                            .close = gtel_sysman_close_gpu};
    sysman->renewal = (struct gtel_renewal){.source = "sysman"};
    /* On xe, engine counters keep the GPU awake for as long as the process lives. */
    sysman->may_hold = gtel_str_eq(gtel_option_text(options, GTEL_O_XE_ENGINES), GTEL_STR("hold"));
    return 0;
}

static struct gtel_sysman_gpu *gpu_of(const struct gtel_sysman *sysman, size_t i)
{
    return sysman->cards.slot[i].own;
}

/* The start of Level Zero opens the nodes of all GPUs: it waits until none of them sleeps. */
static bool may_start(const struct gtel_sysman *sysman, bool *ret_has_i915)
{
    *ret_has_i915 = false;
    for (size_t i = 0; i < sysman->cards.n; i++)
        *ret_has_i915 =
            *ret_has_i915 || strcmp(gtel_card_at(&sysman->cards, i)->drm.driver, "i915") == 0;
    return sysman->cards.n > 0 && !gtel_card_list_awaited(&sysman->cards);
}

/* A driver that finds no GPU may say so by success with a count of 0. */
static bool knows_any(const struct gtel_sysman *sysman)
{
    bool found = sysman->cards.n == 0;
    for (size_t i = 0; i < sysman->cards.n; i++)
        found = found || gpu_of(sysman, i)->handle;
    return found;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_sysman *sysman = state;
    bool has_i915;
    int r = gtel_card_list_discover(&sysman->cards, registry);
    bool is_in_vain = sysman->start == GTEL_SYSMAN_FAILED ||
                      (sysman->start == GTEL_SYSMAN_RUNS && !knows_any(sysman));
    gtel_renewal_discovered(&sysman->renewal, &sysman->cards, registry, is_in_vain);
    if (registry->is_spent)
        return r; /* what is known here is of the past */
    if (may_start(sysman, &has_i915))
        gtel_sysman_start_up(sysman, has_i915);
    gtel_sysman_find(sysman, registry);
    return r;
}

/* Whether the GPU may be asked now. */
static bool may_ask(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu)
{
    bool is_asleep = false;
    uint64_t now = gtel_env_now(sysman->cards.env);
    if (gpu->card->is_gone || !gpu->handle || !gpu->card->device ||
        !gpu->card->device->is_present ||
        gtel_awake_look(sysman->cards.env, &gpu->card->awake, &is_asleep) < 0)
        return false;
    if (is_asleep) { /* who wakes it wants it to work */
        gpu->idle_since_ns = 0;
        gpu->gts_ns = 0;
        gpu->rest_ns = 0;
        gtel_sysman_note_sleep(gpu);
    }
    return (!is_asleep || gpu->card->cards->may_wake) && now >= gpu->rest_ns;
}

/* A GPU that slept when Level Zero was to start: as soon as all are awake, not at a rescan. */
static bool is_start_due(const struct gtel_sysman *sysman)
{
    bool has_i915;
    return sysman->start == GTEL_SYSMAN_NEW && may_start(sysman, &has_i915);
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    bool is_look_due = gtel_renewal_look(&sysman->renewal, &sysman->cards, registry);
    for (size_t i = 0; i < sysman->cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        if (sysman->start == GTEL_SYSMAN_RUNS && !registry->is_spent && may_ask(sysman, gpu))
            gtel_sysman_pass(sysman, gpu, batch);
        if (gtel_sysman_is_stale(gpu))
            gtel_renewal_ask(&sysman->renewal, sysman->cards.env, registry, "a GPU is lost");
    }
    return is_look_due || is_start_due(sysman) ? -ENODEV : 0;
}

static uint64_t due_ns(const void *state)
{
    const struct gtel_sysman *sysman = state;
    uint64_t first = 0;
    for (size_t i = 0; i < sysman->cards.n; i++) {
        uint64_t due = gtel_sysman_energy_due(gpu_of(sysman, i));
        first = due > 0 && (first == 0 || due < first) ? due : first;
    }
    return first;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    for (size_t i = 0; i < sysman->cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        uint64_t due = gtel_sysman_energy_due(gpu);
        if (due > 0 && due <= batch->t_ns)
            gtel_sysman_keep_energy(sysman, gpu, batch,
                                    !registry->is_spent && may_ask(sysman, gpu));
    }
    return 0;
}

static void close_source(void *state)
{
    struct gtel_sysman *sysman = state;
    if (!sysman->cards.env)
        return;
    gtel_dynlib_close(sysman->cards.env, &sysman->dynlib);
    gtel_card_list_done(&sysman->cards);
}

static const char *const origins[] = {"Level Zero", NULL};

const struct gtel_source gtel_source_sysman = {
    .name = "sysman",
    .lane = "sysman",
    .vendor = "intel",
    .summary = "Level Zero Sysman beside the kernel's figures: temperatures, bandwidth, limits, "
               "PCIe traffic, errors, fabric, state, ECC.",
    .needs = "libze_loader.so.1 and Intel's driver; root, or leave to read the telem files",
    .seen = "not tried on hardware; loaders 1.8.12, 1.20.6 and 1.32.0, without a GPU",
    .origins = origins,
    .state_size = sizeof(struct gtel_sysman),
    .is_hearsay = true,
    .library = &gtel_level_zero_library,
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_sysman_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
