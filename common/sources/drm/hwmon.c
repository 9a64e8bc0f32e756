/* SPDX-License-Identifier: MIT */
/* Labelled sensors of one hwmon directory. */
#include "sources/drm/hwmon.h"

#include <errno.h>

int gtel_hwmon_find(const struct gtel_env *env, struct gtel_arena *arena, const char *device,
                    struct gtel_str name, char *path)
{
    struct gtel_str *entries;
    size_t n;
    int r = gtel_fs_list(env, gtel_fs_path(path, "%s/hwmon", device), arena, 16, &entries, &n);
    if (r < 0)
        return r;
    int failure = -ENOENT;
    for (size_t i = 0; i < n && i < 16; i++) {
        char file[GTEL_FS_PATH_MAX];
        char buf[64];
        struct gtel_str text;
        gtel_fs_path(file, "%s/hwmon/%.*s/name", device, GTEL_STR_ARG(entries[i]));
        r = gtel_fs_text(env, file, buf, sizeof(buf), &text);
        failure = r < 0 ? r : failure;
        if (r < 0 || !gtel_str_eq(text, name))
            continue;
        gtel_fs_path(path, "%s/hwmon/%.*s", device, GTEL_STR_ARG(entries[i]));
        return 0;
    }
    return failure;
}

/* The label of a channel's own file; empty where there is none. */
static int read_label(const struct gtel_env *env, struct gtel_arena *arena, const char *path,
                      struct gtel_str file, struct gtel_str *ret)
{
    char label_path[GTEL_FS_PATH_MAX];
    char buf[GTEL_HWMON_LABEL_MAX];
    struct gtel_str text;
    size_t underscore = gtel_str_find(file, '_');
    gtel_fs_path(label_path, "%s/%.*s_label", path, (int)underscore, file.p);
    int r = gtel_fs_text(env, label_path, buf, sizeof(buf), &text);
    if (r == 0)
        r = text.n > 0 ? gtel_arena_str(arena, text, ret) : -EINVAL; /* a label has a text */
    return r == -ENOENT || r == -ENODATA || r == -EOPNOTSUPP ? 0 : r;
}

static bool is_same_channel(const struct gtel_hwmon_name *a, const struct gtel_hwmon_name *b)
{
    return a->kind == b->kind && a->channel == b->channel;
}

int gtel_hwmon_list(const struct gtel_env *env, struct gtel_arena *arena, const char *path,
                    struct gtel_hwmon_attribute **ret, size_t *ret_n)
{
    struct gtel_str *files;
    size_t n;
    int r = gtel_fs_list(env, path, arena, GTEL_HWMON_ATTRIBUTES_MAX, &files, &n);
    if (r < 0)
        return r;
    if (n > GTEL_HWMON_ATTRIBUTES_MAX)
        n = GTEL_HWMON_ATTRIBUTES_MAX;
    struct gtel_hwmon_attribute *list = gtel_arena_alloc(arena, (n + 1) * sizeof(*list));
    if (!list)
        return -ENOMEM;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct gtel_hwmon_attribute *at = &list[kept];
        *at = (struct gtel_hwmon_attribute){.file = files[i]};
        if (gtel_hwmon_name_parse(files[i], &at->name) < 0 ||
            gtel_str_eq(at->name.item, GTEL_STR("label")))
            continue;
        /* Attributes of a channel stand together after sorting: its label is read once. */
        if (kept > 0 && is_same_channel(&list[kept - 1].name, &at->name))
            at->label = list[kept - 1].label;
        else
            r = read_label(env, arena, path, files[i], &at->label);
        if (r < 0)
            return r;
        kept++;
    }
    *ret = list;
    *ret_n = kept;
    return 0;
}
