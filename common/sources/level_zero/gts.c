/* SPDX-License-Identifier: MIT */
/* Whether an Intel GPU works, from how long its GTs slept. */
#include "sources/level_zero/gts.h"

#include <string.h>

#define MILLISECOND_NS UINT64_C(1000000)

enum { TILES = 4, GTS = 8 };

static void open_file(const struct gtel_env *env, struct gtel_gts *gts, const char *path)
{
    if (gts->n < GTEL_GTS_MAX && gtel_fs_open(env, &gts->file[gts->n], path) == 0)
        gts->n++;
}

/*
 * xe: <device>/tileT/gtG, GTs numbered over all tiles. i915: cardN/gt/gtG since 5.19, before that
 * one file of the card.
 */
void gtel_gts_open(const struct gtel_env *env, struct gtel_gts *gts,
                   const struct gtel_drm_card *drm, const char *device)
{
    const char *name = drm->card;
    bool is_xe = strcmp(drm->driver, "xe") == 0;
    if (gts->is_open)
        return;
    for (unsigned t = 0; is_xe && t < TILES; t++)
        for (unsigned g = 0; g < GTS; g++)
            open_file(env, gts,
                      GTEL_FS_AT("%s/tile%u/gt%u/gtidle/idle_residency_ms", device, t, g));
    for (unsigned g = 0; !is_xe && g < GTS; g++)
        open_file(env, gts, GTEL_FS_AT("sys/class/drm/%s/gt/gt%u/rc6_residency_ms", name, g));
    if (!is_xe && gts->n == 0)
        open_file(env, gts, GTEL_FS_AT("sys/class/drm/%s/power/rc6_residency_ms", name));
    gts->is_open = true;
}

void gtel_gts_close(const struct gtel_env *env, struct gtel_gts *gts)
{
    for (size_t i = 0; i < gts->n; i++)
        gtel_fs_close(env, &gts->file[i]);
    *gts = (struct gtel_gts){0};
}

/* The state of one GT; *last is how long it has slept in all. */
static enum gtel_gts_state check_file(const struct gtel_env *env, const struct gtel_fs_file *file,
                                      uint64_t *last, uint64_t free_ns)
{
    uint64_t before = *last;
    uint64_t idle_ms;
    if (gtel_fs_read_u64(env, file, &idle_ms) < 0)
        return GTEL_GTS_UNKNOWN;
    *last = idle_ms;
    if (idle_ms < before)
        return GTEL_GTS_UNKNOWN; /* i915 counts in 32 bits */
    uint64_t idle_ns = (idle_ms - before) * MILLISECOND_NS;
    return idle_ns + GTEL_GTS_SETTLE_NS >= free_ns ? GTEL_GTS_IDLE : GTEL_GTS_WORKING;
}

enum gtel_gts_state gtel_gts_look(const struct gtel_env *env, struct gtel_gts *gts,
                                  uint64_t free_ns)
{
    enum gtel_gts_state state = gts->n > 0 ? GTEL_GTS_IDLE : GTEL_GTS_UNKNOWN;
    for (size_t i = 0; i < gts->n; i++) {
        enum gtel_gts_state one = check_file(env, &gts->file[i], &gts->idle_ms[i], free_ns);
        if (one == GTEL_GTS_WORKING || (one == GTEL_GTS_UNKNOWN && state == GTEL_GTS_IDLE))
            state = one;
    }
    return state;
}
