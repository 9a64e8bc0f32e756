/* SPDX-License-Identifier: MIT */
/*
 * Source sysman: what Level Zero Sysman adds to the kernel's figures of Intel GPUs.
 *
 * Vendor code runs in a lane of its own. Its devices are joined to the kernel's cards by PCI
 * address; the kernel's sources come first, so that their figures win where both have one. A
 * sleeping GPU is left alone, and one that may fall asleep and stands still is given time to:
 * opening a node and reading hwmon or telemetry wake it, or keep it awake.
 */
#include "sources/sysman/sysman.h"

#include <errno.h>
#include <string.h>

static const char *const drivers[] = {"i915", "xe", NULL};

#define IN_VAIN_NS 600000000000u /* a start that brought nothing is tried again then */
#define AWAITED_NS 600000000000u

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers) && gtel_sysman_is_installed(env);
}

static int open_source(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_sysman *sysman = state;
    if (!present(env))
        return -ENOENT;
    sysman->cards = (struct gtel_cards){.env = env,
                                        .drivers = drivers,
                                        .state_size = sizeof(struct gtel_sysman_gpu),
                                        .close = gtel_sysman_close_gpu};
    sysman->cards.may_wake =
        gtel_str_eq(gtel_option_text(options, GTEL_O_WAKE), GTEL_STR("always"));
    /* On xe, engine counters keep the GPU awake for as long as the process lives. */
    sysman->may_hold = gtel_str_eq(gtel_option_text(options, GTEL_O_XE_ENGINES), GTEL_STR("hold"));
    return 0;
}

static struct gtel_sysman_gpu *gpu_of(const struct gtel_sysman *sysman, size_t i)
{
    return (struct gtel_sysman_gpu *)sysman->cards.card[i];
}

/* The start of Level Zero opens the nodes of all GPUs: it waits until none of them sleeps. */
static bool may_start(const struct gtel_sysman *sysman, bool *ret_has_i915)
{
    *ret_has_i915 = false;
    for (size_t i = 0; i < sysman->cards.n; i++)
        *ret_has_i915 = *ret_has_i915 || strcmp(sysman->cards.card[i]->drm.driver, "i915") == 0;
    return sysman->cards.n > 0 && !gtel_cards_awaited(&sysman->cards);
}

/*
 * Level Zero lists devices once per process, keeps the handles of those that have gone, and never
 * starts after a start that failed (level zero: zesInit; intel/compute-runtime issue 1005). Where
 * that is in the way, another process may do better. why: NULL says nothing.
 */
static void renew(const struct gtel_sysman *sysman, struct gtel_registry *registry, const char *why)
{
    if (registry->is_spent || !registry->can_renew)
        return;
    registry->is_spent = true;
    if (why)
        gtel_log(&sysman->cards.env->log, GTEL_LOG_INFO, "sysman: %s: starting Level Zero anew",
                 why);
}

static bool was_tried(const struct gtel_sysman *sysman)
{
    return sysman->start == GTEL_SYSMAN_RUNS || sysman->start == GTEL_SYSMAN_FAILED;
}

/* A driver that finds no GPU may say so by success with a count of 0. */
static bool knows_any(const struct gtel_sysman *sysman)
{
    bool found = sysman->cards.n == 0;
    for (size_t i = 0; i < sysman->cards.n; i++)
        found = found || gpu_of(sysman, i)->handle;
    return found;
}

/* Cards that Level Zero cannot know of, and a start that may succeed by now. */
static void look_for_reasons(struct gtel_sysman *sysman, struct gtel_registry *registry)
{
    uint64_t now = gtel_env_now(sysman->cards.env);
    for (size_t i = 0; i < sysman->cards.n && was_tried(sysman); i++)
        if (sysman->cards.card[i]->is_new)
            renew(sysman, registry, "a GPU has come");
    bool is_in_vain = sysman->start == GTEL_SYSMAN_FAILED ||
                      (sysman->start == GTEL_SYSMAN_RUNS && !knows_any(sysman));
    if (is_in_vain && now - sysman->tried_ns >= IN_VAIN_NS)
        renew(sysman, registry, NULL);
    sysman->most = sysman->cards.n > sysman->most ? sysman->cards.n : sysman->most;
    if (sysman->cards.n == sysman->most)
        sysman->missing_ns = 0;
    else if (sysman->missing_ns == 0)
        sysman->missing_ns = now;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct gtel_sysman *sysman = state;
    bool has_i915;
    int r = gtel_cards_discover(&sysman->cards, registry);
    look_for_reasons(sysman, registry);
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
    if (gpu->is_gone || !gpu->handle || !gpu->card.device || !gpu->card.device->is_present ||
        gtel_awake_look(sysman->cards.env, &gpu->card.awake, &is_asleep) < 0)
        return false;
    if (is_asleep) { /* who wakes it wants it to work */
        gpu->idle_since_ns = 0;
        gpu->gts_ns = 0;
        gpu->rest_ns = 0;
    }
    return (!is_asleep || sysman->cards.may_wake) && now >= gpu->rest_ns;
}

/* A GPU that slept when Level Zero was to start: as soon as all are awake, not at a rescan. */
static bool is_start_due(const struct gtel_sysman *sysman)
{
    bool has_i915;
    return sysman->start == GTEL_SYSMAN_NEW && may_start(sysman, &has_i915);
}

/* Whether the kernel's card is the one that it was: its folder is another one after each bind. */
static void look_at_node(const struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                         struct gtel_registry *registry)
{
    const struct gtel_env *env = sysman->cards.env;
    char path[GTEL_FS_PATH_MAX];
    struct gtel_stat stat;
    int r =
        env->ops->stat(env->arg, gtel_fs_path(path, "sys/class/drm/%s", gpu->card.drm.card), &stat);
    gpu->is_gone = r == -ENOENT;
    if (r < 0)
        return;
    if (gpu->node != 0 && gpu->node != stat.ino && was_tried(sysman))
        renew(sysman, registry, "a GPU has come again");
    gpu->node = stat.ino;
}

/* One that has gone may come again at any time: for a while it is looked for in each gather. */
static bool is_one_awaited(const struct gtel_sysman *sysman)
{
    return sysman->missing_ns > 0 &&
           gtel_env_now(sysman->cards.env) - sysman->missing_ns < AWAITED_NS;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_sysman *sysman = state;
    bool is_look_due = is_start_due(sysman) || is_one_awaited(sysman);
    for (size_t i = 0; i < sysman->cards.n; i++) {
        struct gtel_sysman_gpu *gpu = gpu_of(sysman, i);
        look_at_node(sysman, gpu, registry);
        is_look_due = is_look_due || gpu->is_gone;
        if (sysman->start == GTEL_SYSMAN_RUNS && !registry->is_spent && may_ask(sysman, gpu))
            gtel_sysman_pass(sysman, gpu, batch);
        if (gtel_sysman_is_stale(gpu))
            renew(sysman, registry, "a GPU is lost");
    }
    return is_look_due ? -ENODEV : 0;
}

static void close_source(void *state)
{
    struct gtel_sysman *sysman = state;
    if (!sysman->cards.env)
        return;
    gtel_dynlib_close(sysman->cards.env, &sysman->dynlib);
    gtel_cards_done(&sysman->cards);
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
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_sysman_diagnose,
    .close = close_source,
};
