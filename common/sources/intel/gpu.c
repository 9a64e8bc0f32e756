/* SPDX-License-Identifier: MIT */
/* The Intel GPUs of one driver: finding them and opening what they have. */
#include "sources/intel/gpu.h"

#include "tables/intel_names.h"
#include "sources/intel/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gtel_intel_origins[] = {"sysfs", "hwmon", NULL};

static void close_attrs(const struct gtel_env *env, struct gtel_intel_gpu *gpu)
{
    for (size_t i = 0; i < gpu->n; i++)
        gtel_fs_close(env, &gpu->attr[i].file);
    free(gpu->attr);
    gpu->attr = NULL;
    gpu->n = 0;
    gpu->keep_ns = 0;
    gpu->hash = 0;
}

static void close_gpu(const struct gtel_env *env, void *own)
{
    struct gtel_intel_gpu *gpu = own;
    close_attrs(env, gpu);
    gtel_intel_pmu_close(env, &gpu->pmu);
    gtel_fs_close(env, &gpu->users);
}

int gtel_intel_open(struct gtel_intel *intel, const struct gtel_env *env,
                    const struct gtel_options *options, const char *const *drivers,
                    void (*scan)(struct gtel_intel_scan *scan))
{
    intel->env = env;
    intel->scan = scan;
    intel->gpus = (struct gtel_card_list){.env = env,
                                          .drivers = drivers,
                                          .own_size = sizeof(struct gtel_intel_gpu),
                                          .close = close_gpu};
    intel->has_instances =
        gtel_str_eq(gtel_option_text(options, GTEL_O_ENGINE_INSTANCES), GTEL_STR("on"));
    intel->is_engines_off =
        strcmp(drivers[0], "xe") == 0 &&
        gtel_str_eq(gtel_option_text(options, GTEL_O_XE_ENGINES), GTEL_STR("off"));
    return 0;
}

void gtel_intel_close(void *state)
{
    struct gtel_intel *intel = state;
    gtel_card_list_done(&intel->gpus);
    gtel_arena_done(&intel->texts.arena);
    gtel_arena_done(&intel->scan_arena);
    *intel = (struct gtel_intel){0};
}

/* What an attribute remembers of earlier readings, from the same file of the list before. */
static void inherit(struct gtel_intel_attr *attr, const struct gtel_intel_attr *old, size_t n)
{
    for (size_t i = 0; old && i < n; i++) {
        const struct gtel_reading *reading = &old[i].reading;
        if (reading->metric != attr->reading.metric || !gtel_str_eq(old[i].name, attr->name) ||
            !gtel_str_eq(reading->dim[0], attr->reading.dim[0]) ||
            !gtel_str_eq(reading->dim[1], attr->reading.dim[1]))
            continue;
        attr->has_last = old[i].has_last;
        attr->has_told = old[i].has_told;
        attr->is_failing = old[i].is_failing;
        attr->last = old[i].last;
        attr->last_ns = old[i].last_ns;
        attr->told = old[i].told;
        attr->carry = old[i].carry;
        attr->distrust_ns = old[i].distrust_ns;
        return;
    }
}

/*
 * Opens the files of a list that differs from the one in use. A file that is there and cannot be
 * opened is logged once; the list is then made again at the next discovery.
 */
static int open_attrs(struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                      const struct gtel_intel_scan *scan)
{
    int first = scan->doubt;
    const char *what = "its folder in /sys";
    bool is_file = false;
    struct gtel_intel_attr *list = calloc(scan->n + 1, sizeof(*list));
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < scan->n; i++) {
        list[i] = scan->attr[i];
        inherit(&list[i], gpu->attr, gpu->n);
    }
    close_attrs(intel->env, gpu);
    gpu->attr = list;
    for (size_t i = 0; i < scan->n; i++) {
        struct gtel_intel_attr *attr = &gpu->attr[gpu->n];
        *attr = list[i];
        int r = gtel_fs_open(intel->env, &attr->file, scan->path[i]);
        if (r == 0) {
            gpu->n++;
        } else if (r != -ENOENT && first == 0) {
            first = r;
            what = scan->path[i];
            is_file = true;
        }
    }
    gpu->keep_ns = gtel_intel_keep(gpu->attr, gpu->n);
    gpu->hash = first == 0 ? scan->hash : 0;
    if (first < 0 && !gpu->is_open_logged)
        gtel_log(&intel->env->log, GTEL_LOG_WARNING, "%s: %s: %s%s: %s; going on without it%s",
                 gpu->card->drm.driver, gpu->card->drm.key, is_file ? "/" : "", what,
                 strerror(-first),
                 first == -EACCES || first == -EPERM ? " until this user may read it" : "");
    gpu->is_open_logged = first < 0;
    return 0;
}

/*
 * What the driver does by itself with an idle GPU. Awake GPUs only. power/runtime_usage is the
 * kernel's count of those who use it, and there with CONFIG_PM_ADVANCED_DEBUG (drivers/base/power):
 * i915 and xe count among them what works on the GPU.
 */
static void read_autosuspend(const struct gtel_intel *intel, struct gtel_intel_gpu *gpu,
                             const struct gtel_intel_scan *scan)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[16];
    struct gtel_str text;
    uint64_t delay_ms;
    gpu->rest.delay_ns = 0;
    gtel_fs_path(path, "%s/power/control", scan->device_path);
    if (gpu->card->cards->may_wake || gtel_fs_text(intel->env, path, buf, sizeof(buf), &text) < 0 ||
        !gtel_str_eq(text, GTEL_STR("auto")))
        return;
    /* The file answers EIO, or a negative number, where autosuspend is off. */
    gtel_fs_path(path, "%s/power/autosuspend_delay_ms", scan->device_path);
    if (gtel_fs_u64(intel->env, path, &delay_ms) < 0 || delay_ms >= 3600000)
        return;
    gtel_fs_path(path, "%s/power/runtime_usage", scan->device_path);
    if (!gtel_fs_is_open(&gpu->users))
        (void)gtel_fs_open(intel->env, &gpu->users, path); /* without it, clocks tell */
    bool is_watched = gtel_fs_is_open(&gpu->users);
    for (size_t i = 0; i < gpu->n; i++)
        is_watched = is_watched || gtel_intel_is_free(intel, &gpu->attr[i]);
    gpu->rest.delay_ns = gtel_rest_delay(delay_ms * 1000000, is_watched);
}

/* A driver makes its files one after another: one that was missing may have come since. */
static bool has_more(const struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                     const struct gtel_intel_scan *scan)
{
    size_t n = 0;
    for (size_t i = 0; gpu->n < scan->n && i < scan->n; i++)
        n += gtel_fs_exists(intel->env, scan->path[i]) ? 1 : 0;
    return n > gpu->n;
}

int gtel_intel_scan_gpu(struct gtel_intel *intel, const struct gtel_intel_gpu *gpu,
                        struct gtel_intel_scan *ret)
{
    *ret = (struct gtel_intel_scan){.env = intel->env,
                                    .card = &gpu->card->drm,
                                    .device = gpu->card->device,
                                    .texts = &intel->texts,
                                    .arena = &intel->scan_arena};
    gtel_arena_reset(&intel->scan_arena);
    int r = gtel_intel_scan_init(ret);
    if (r < 0)
        return r;
    intel->scan(ret);
    gtel_intel_add_hwmon(ret, gtel_str_of(gpu->card->drm.driver));
    gtel_intel_add_link(ret);
    return ret->error;
}

static int list_attrs(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    struct gtel_intel_scan scan;
    int r = gtel_intel_scan_gpu(intel, gpu, &scan);
    if (r < 0)
        return r;
    if (scan.dropped > 0 && !intel->is_drop_logged) {
        intel->is_drop_logged = true;
        gtel_log(&intel->env->log, GTEL_LOG_WARNING, "%s: %s has %zu files too many to read",
                 gpu->card->drm.driver, gpu->card->drm.key, scan.dropped);
    }
    /* Better the list in use than a doubtful one. */
    bool is_kept = gpu->attr && gpu->hash != 0 && scan.doubt < 0;
    if (!is_kept && (gpu->hash != scan.hash || has_more(intel, gpu, &scan)))
        r = open_attrs(intel, gpu, &scan);
    read_autosuspend(intel, gpu, &scan);
    return r;
}

int gtel_intel_list(struct gtel_intel *intel, struct gtel_intel_gpu *gpu)
{
    int r = list_attrs(intel, gpu);
    gpu->pmu.has_instances = intel->has_instances;
    if (r == 0 && intel->has_pmu)
        gtel_intel_pmu_refresh(intel->env, &intel->scan_arena, &gpu->card->drm, intel->gpus.n == 1,
                               &gpu->pmu);
    return r;
}

enum { RETRIES_MAX = 4 }; /* discoveries at once after one that was not whole; then each Rescan */

void gtel_intel_retry(struct gtel_intel *intel, bool is_whole)
{
    intel->is_retry_due = !is_whole && intel->retries < RETRIES_MAX;
    intel->retries = is_whole ? 0 : intel->retries + (intel->retries < RETRIES_MAX ? 1 : 0);
}

/* 0 when everything of it is open, 1 when more of it may come, or a negative errno. */
static int open_gpu(struct gtel_intel *intel, struct gtel_registry *registry, size_t i)
{
    struct gtel_intel_gpu *gpu = intel->gpus.slot[i].own;
    int r = gtel_intel_refresh(intel, gpu);
    if (r == -ENODEV) { /* its files are no more: the driver has been loaded again */
        gtel_card_restart(gpu->card, registry);
        r = gtel_card_list_discover(&intel->gpus, registry);
        r = r < 0 ? r : gtel_intel_refresh(intel, gpu);
    }
    /* A driver shows its card before its folders and its PMU: once more at the next gather. */
    bool is_back = intel->gpus.slot[i].is_new && gpu->card->device->arrivals > 1;
    return r < 0 ? r : is_back || (gpu->attr && gpu->hash == 0);
}

int gtel_intel_discover(void *state, struct gtel_registry *registry)
{
    struct gtel_intel *intel = state;
    size_t fine = 0;
    for (size_t i = 0; i < intel->gpus.n; i++) {
        const struct gtel_intel_gpu *gpu = intel->gpus.slot[i].own;
        if (gpu->is_lost)
            gtel_card_restart(gpu->card, registry);
    }
    int first = gtel_card_list_discover(&intel->gpus, registry);
    bool is_whole = first == 0;
    for (size_t i = 0; i < intel->gpus.n; i++) {
        int r = open_gpu(intel, registry, i);
        fine += r >= 0 ? 1 : 0;
        first = first < 0 || r > 0 ? first : r;
        is_whole = is_whole && r == 0;
    }
    gtel_intel_retry(intel, is_whole);
    return fine > 0 ? 0 : first;
}
