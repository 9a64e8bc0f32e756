/* SPDX-License-Identifier: MIT */
/* Lists what an Intel GPU has to read: the list itself, clocks and throttling. */
#include "sources/intel/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int gtel_intel_scan_init(struct gtel_intel_scan *scan)
{
    scan->attr = gtel_arena_alloc(scan->arena, GTEL_INTEL_ATTRS_MAX * sizeof(*scan->attr));
    scan->path = gtel_arena_alloc(scan->arena, GTEL_INTEL_ATTRS_MAX * sizeof(*scan->path));
    if (!scan->attr || !scan->path)
        return -ENOMEM;
    (void)snprintf(scan->card_path, sizeof(scan->card_path), "sys/class/drm/%s", scan->card->card);
    (void)snprintf(scan->device_path, sizeof(scan->device_path), "sys/class/drm/%s/device",
                   scan->card->card);
    scan->hash = GTEL_HASH_SEED;
    return 0;
}

void gtel_intel_doubt(struct gtel_intel_scan *scan, int r)
{
    if (r == -ENOMEM)
        scan->error = r;
    else if (r < 0 && r != -ENOENT && r != -ENODATA && r != -EOPNOTSUPP)
        scan->doubt = r;
}

struct gtel_str gtel_intel_text(struct gtel_intel_scan *scan, struct gtel_str text)
{
    struct gtel_intel_texts *texts = scan->texts;
    for (size_t i = 0; i < texts->n; i++)
        if (gtel_str_eq(texts->text[i], text))
            return texts->text[i];
    struct gtel_str copy;
    if (texts->n == GTEL_ARRAY_LEN(texts->text) || gtel_arena_str(&texts->arena, text, &copy) < 0)
        return GTEL_STR_NONE;
    texts->text[texts->n++] = copy;
    return copy;
}

struct gtel_str gtel_intel_number_text(struct gtel_intel_scan *scan, uint64_t number)
{
    char buf[24];
    (void)snprintf(buf, sizeof(buf), "%llu", (unsigned long long)number);
    return gtel_intel_text(scan, gtel_str_of(buf));
}

void gtel_intel_add(struct gtel_intel_scan *scan, const struct gtel_intel_kind *kind,
                    const struct gtel_str *dims, const char *dir, struct gtel_str name)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str copy;
    gtel_fs_path(path, "%s/%.*s", dir, GTEL_STR_ARG(name));
    if (scan->n == GTEL_INTEL_ATTRS_MAX) {
        scan->dropped++;
        return;
    }
    if (gtel_arena_str(scan->arena, gtel_str_of(path), &copy) < 0) {
        scan->error = -ENOMEM;
        return;
    }
    scan->hash = gtel_hash(scan->hash, copy.p, copy.n + 1);
    for (size_t i = 0; dims && i < 3; i++) {
        scan->hash = gtel_hash(scan->hash, &dims[i].n, sizeof(dims[i].n));
        scan->hash = gtel_hash(scan->hash, dims[i].p, dims[i].n);
    }
    scan->path[scan->n] = copy.p;
    struct gtel_intel_attr *attr = &scan->attr[scan->n++];
    *attr = (struct gtel_intel_attr){
        .form = (uint8_t)kind->form,
        .headline = (uint8_t)kind->headline,
        .origin = kind->origin,
        .is_idle_time = kind->is_idle_time,
        .scale = kind->scale,
        .name = gtel_intel_text(scan, name),
        .reading = {.device = scan->device, .metric = (uint16_t)kind->metric},
    };
    for (size_t i = 0; dims && i < 3; i++)
        attr->reading.dim[i] = dims[i];
}

/* Clocks are in MHz under both drivers (kernel: gt/intel_gt_sysfs_pm.c, xe/xe_gt_freq.c). */
void gtel_intel_add_clocks(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                           const char *dir, const char *const names[4])
{
    static const enum gtel_metric metrics[4] = {GTEL_M_FREQUENCY_ACTUAL, GTEL_M_FREQUENCY_REQUESTED,
                                                GTEL_M_FREQUENCY_MIN, GTEL_M_FREQUENCY_MAX};
    const struct gtel_str dims[3] = {gt->domain, gt->gt, gt->tile};
    for (size_t i = 0; i < 4; i++) {
        struct gtel_intel_kind kind = {
            metrics[i], GTEL_INTEL_INTEGER, 1e6, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_SYSFS, false};
        if (i == 0 && gt->is_main)
            kind.headline = GTEL_INTEL_HEAD_FREQUENCY;
        if (names[i])
            gtel_intel_add(scan, &kind, dims, dir, gtel_str_of(names[i]));
    }
}

void gtel_intel_add_figures(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                            const char *dir, const struct gtel_intel_figure *figures, size_t n)
{
    const struct gtel_str dims[3] = {gt->domain, gt->gt, gt->tile};
    for (size_t i = 0; i < n; i++) {
        const struct gtel_intel_kind kind = {figures[i].metric, figures[i].form,
                                             figures[i].scale,  GTEL_INTEL_NO_HEADLINE,
                                             GTEL_INTEL_SYSFS,  false};
        gtel_intel_add(scan, &kind, dims, dir, gtel_str_of(figures[i].name));
    }
}

/*
 * The status file says that any reason holds, also one that has no file of its own; it is no reason
 * itself (gpu.throttled is made from it). Each kernel has more reasons than the one before
 * (crescent island in 6.19, pwrbrk in 7.3), so the directory says which there are. xe's `reasons`
 * is the same as a list and is left alone.
 */
void gtel_intel_add_throttle(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status)
{
    static const struct gtel_intel_kind any = {GTEL_M_THROTTLE_STATUS, GTEL_INTEL_FLAG,  1,
                                               GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_SYSFS, false};
    static const struct gtel_intel_kind one = {GTEL_M_THROTTLE_ACTIVE, GTEL_INTEL_FLAG,  1,
                                               GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_SYSFS, false};
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(scan->env, dir, scan->arena, 128, &names, &n);
    gtel_intel_doubt(scan, r);
    if (r < 0)
        return;
    for (size_t i = 0; i < n && i < 128; i++) {
        bool is_status = gtel_str_eq(names[i], status);
        struct gtel_str reason = GTEL_STR_NONE;
        if (!is_status && gtel_str_starts(names[i], prefix))
            reason = gtel_intel_text(scan, gtel_str_skip(names[i], prefix.n));
        const struct gtel_str dims[3] = {reason, gt->gt, GTEL_STR_NONE};
        if (is_status || reason.n > 0)
            gtel_intel_add(scan, is_status ? &any : &one, dims, dir, names[i]);
    }
}

size_t gtel_intel_numbers(struct gtel_intel_scan *scan, const char *dir, struct gtel_str prefix,
                          uint64_t *ret, size_t max)
{
    struct gtel_str *names;
    size_t n;
    size_t kept = 0;
    int r = gtel_fs_list(scan->env, dir, scan->arena, 256, &names, &n);
    gtel_intel_doubt(scan, r);
    if (r < 0)
        return 0;
    for (size_t i = 0; i < n && i < 256 && kept < max; i++)
        if (gtel_str_starts(names[i], prefix) &&
            gtel_str_u64(gtel_str_skip(names[i], prefix.n), &ret[kept]) == 0)
            kept++;
    return kept;
}
