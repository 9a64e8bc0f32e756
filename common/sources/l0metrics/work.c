/* SPDX-License-Identifier: MIT */
/*
 * Whether a GPU works, from how long its GTs slept: a GPU that does nothing is not measured, since
 * measuring keeps it awake.
 */
#include "sources/l0metrics/l0metrics.h"

#include <string.h>

#define MILLISECOND_NS UINT64_C(1000000)
/* A GT takes some milliseconds to fall asleep when it is let go, and the files count in steps. */
#define SETTLE_NS (30 * MILLISECOND_NS)
/*
 * How long source xe_pmu keeps the GTs awake at most, with the option XeEngines at "burst". It runs
 * in another process, does so after a gather in which they did not sleep, and cannot know that we
 * were the reason. Without this the two of them would keep a GPU awake for each other.
 */
#define BURST_NS (100 * MILLISECOND_NS + SETTLE_NS)

enum { TILES = 4, GTS = 8 };

static void open_file(const struct gtel_env *env, struct gtel_l0m_work *work, const char *path)
{
    if (work->n < GTEL_L0M_GTS_MAX && gtel_fs_open(env, &work->file[work->n], path) == 0)
        work->n++;
}

/*
 * xe: <device>/tileT/gtG, GTs numbered over all tiles. i915: cardN/gt/gtG since 5.19, before that
 * one file of the card. Reading them wakes a sleeping GPU, so that comes first.
 */
static void open_files(const struct gtel_env *env, struct gtel_l0m_gpu *gpu)
{
    char path[GTEL_FS_PATH_MAX];
    bool is_xe = strcmp(gpu->card.drm.driver, "xe") == 0;
    for (unsigned t = 0; is_xe && t < TILES; t++)
        for (unsigned g = 0; g < GTS; g++)
            open_file(env, &gpu->work,
                      gtel_fs_path(path, "%s/tile%u/gt%u/gtidle/idle_residency_ms", gpu->card.path,
                                   t, g));
    for (unsigned g = 0; !is_xe && g < GTS; g++)
        open_file(
            env, &gpu->work,
            gtel_fs_path(path, "sys/class/drm/%s/gt/gt%u/rc6_residency_ms", gpu->card.drm.card, g));
    if (!is_xe && gpu->work.n == 0)
        open_file(
            env, &gpu->work,
            gtel_fs_path(path, "sys/class/drm/%s/power/rc6_residency_ms", gpu->card.drm.card));
    gpu->work.is_open = true;
}

void gtel_l0m_work_close(const struct gtel_env *env, struct gtel_l0m_work *work)
{
    for (size_t i = 0; i < work->n; i++)
        gtel_fs_close(env, &work->file[i]);
    *work = (struct gtel_l0m_work){0};
}

/* How long the GPU was kept awake by us since the last look. */
static uint64_t take_held(struct gtel_l0m_gpu *gpu)
{
    uint64_t held = 0;
    for (size_t i = 0; i < gpu->n; i++) {
        held = gpu->tile[i].held_ns > held ? gpu->tile[i].held_ns : held;
        gpu->tile[i].held_ns = 0;
    }
    return held > 0 ? held + SETTLE_NS + (gpu->was_empty ? BURST_NS : 0) : 0;
}

/* The state of one GT; *last is how long it has slept in all. */
static enum gtel_l0m_state look_at(const struct gtel_env *env, const struct gtel_fs_file *file,
                                   uint64_t *last, uint64_t free_ns)
{
    uint64_t before = *last;
    uint64_t idle_ms;
    if (gtel_fs_read_u64(env, file, &idle_ms) < 0)
        return GTEL_L0M_UNKNOWN;
    *last = idle_ms;
    if (idle_ms < before)
        return GTEL_L0M_UNKNOWN; /* i915 counts in 32 bits */
    uint64_t idle_ns = (idle_ms - before) * MILLISECOND_NS;
    return idle_ns + SETTLE_NS >= free_ns ? GTEL_L0M_IDLE : GTEL_L0M_WORKING;
}

enum gtel_l0m_state gtel_l0m_look(const struct gtel_env *env, struct gtel_l0m_gpu *gpu)
{
    struct gtel_l0m_work *work = &gpu->work;
    enum gtel_l0m_state state = GTEL_L0M_IDLE;
    uint64_t now = gtel_env_now(env);
    if (!work->is_open)
        open_files(env, gpu);
    if (work->n == 0)
        return GTEL_L0M_WORKING; /* nothing tells: measured as was asked for */
    uint64_t held = take_held(gpu);
    uint64_t span = now - work->seen_ns;
    uint64_t free_ns = span > held ? span - held : 0;
    for (size_t i = 0; i < work->n; i++) {
        enum gtel_l0m_state one = look_at(env, &work->file[i], &work->idle_ms[i], free_ns);
        if (one == GTEL_L0M_WORKING || (one == GTEL_L0M_UNKNOWN && state == GTEL_L0M_IDLE))
            state = one;
    }
    /* Of the time before nothing is known: a GPU that is awake then is measured once. */
    if (work->seen_ns == 0 && state == GTEL_L0M_IDLE)
        state = GTEL_L0M_WORKING;
    work->seen_ns = now;
    return state;
}
