/* SPDX-License-Identifier: MIT */
/* Sensors of hwmon directories. */
#include "sources/drm/hwmon.h"

#include "base/error.h"
#include "sources/drm/cards.h"

#include <errno.h>
#include <string.h>

/* The label of a channel's own file; empty where there is none. */
static int read_label(const struct gtel_env *env, struct gtel_arena *arena, const char *path,
                      struct gtel_str file, struct gtel_str *ret)
{
    char buf[GTEL_HWMON_LABEL_MAX];
    struct gtel_str text;
    size_t underscore = gtel_str_find(file, '_');
    int r = gtel_fs_text(env, GTEL_FS_AT("%s/%.*s_label", path, (int)underscore, file.p), buf,
                         sizeof(buf), &text);
    if (r == 0)
        r = text.n > 0 ? gtel_arena_str(arena, text, ret) : -EINVAL; /* a label has a text */
    return gtel_error_is_absence(r) ? 0 : r;
}

static int find_folder(void *arg, struct gtel_str name)
{
    struct gtel_str *ret = arg;
    return gtel_str_starts(name, GTEL_STR("hwmon")) && gtel_str_copy((char *)ret->p, ret->n, name);
}

int gtel_hwmon_folder(const struct gtel_env *env, const char *device, char *path)
{
    char name[32] = "";
    struct gtel_str ret = {name, sizeof(name)};
    gtel_fs_path(path, "%s/hwmon", device);
    int r = env->ops->dir_list(env->arg, path, find_folder, &ret);
    gtel_fs_path(path, "%s/hwmon/%s", device, name);
    return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

bool gtel_hwmon_is_mi300a(const struct gtel_drm_card *drm)
{
    return drm->vendor_id == 0x1002 && drm->device_id == 0x74a0;
}

int gtel_hwmon_is_apu(const struct gtel_env *env, const struct gtel_drm_card *drm,
                      const char *device)
{
    char path[GTEL_FS_PATH_MAX];
    if (gtel_hwmon_is_mi300a(drm))
        return 1;
    int r = gtel_hwmon_folder(env, device, path);
    if (r == 0)
        r = env->ops->exists(env->arg, GTEL_FS_AT("%s/in1_input", path));
    return r == 0 ? 1 : r == -ENOENT ? 0 : r;
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

/* ---- meaning ---- */

/*
 * In order: limits come before the power and the energy that they bound, and the average before
 * the momentary power. Skipped are what power was rated for (no limit in force) and the times over
 * which limits are measured. (kernel: Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon,
 * nouveau/nouveau_hwmon.c, radeon/radeon_pm.c)
 */
static const struct sensor {
    enum gtel_hwmon_kind of;
    const char *item;
    const char *unless; /* the channel has this item */
    enum gtel_metric metric;
    enum gtel_attr_form form;
    double scale;
} sensors[] = {
    {GTEL_HWMON_POWER, "cap", "", GTEL_M_POWER_LIMIT, GTEL_ATTR_LIMIT, 1e-6},
    {GTEL_HWMON_POWER, "max", "", GTEL_M_POWER_LIMIT, GTEL_ATTR_LIMIT, 1e-6},
    /* The emergency threshold, no sustained limit (Syllo/nvtop #493). */
    {GTEL_HWMON_POWER, "crit", "", GTEL_M_POWER_PEAK_LIMIT, GTEL_ATTR_LIMIT, 1e-6},
    /* The same on boards that state it in amperes; what that means in watts is not known. */
    {GTEL_HWMON_CURRENT, "crit", "", GTEL_M_PEAK_CURRENT_LIMIT, GTEL_ATTR_LIMIT, 1e-3},
    {GTEL_HWMON_ENERGY, "input", "", GTEL_M_ENERGY, GTEL_ATTR_ENERGY, 1e-6},
    {GTEL_HWMON_POWER, "average", "", GTEL_M_POWER, GTEL_ATTR_POWER, 1e-6},
    {GTEL_HWMON_POWER, "input", "average", GTEL_M_POWER, GTEL_ATTR_POWER, 1e-6},
    {GTEL_HWMON_VOLTAGE, "input", "", GTEL_M_VOLTAGE, GTEL_ATTR_VOLTAGE, 1e-3},
    {GTEL_HWMON_TEMPERATURE, "input", "", GTEL_M_TEMPERATURE, GTEL_ATTR_TEMPERATURE, 1e-3},
    {GTEL_HWMON_TEMPERATURE, "max", "", GTEL_M_TEMPERATURE_LIMIT, GTEL_ATTR_TEMPERATURE, 1e-3},
    {GTEL_HWMON_TEMPERATURE, "crit", "", GTEL_M_TEMPERATURE_CRITICAL, GTEL_ATTR_TEMPERATURE, 1e-3},
    {GTEL_HWMON_TEMPERATURE, "emergency", "", GTEL_M_TEMPERATURE_EMERGENCY, GTEL_ATTR_TEMPERATURE,
     1e-3},
    {GTEL_HWMON_FAN, "input", "", GTEL_M_FAN_RPM, GTEL_ATTR_FAN, 1},
    {GTEL_HWMON_PWM, "", "", GTEL_M_FAN, GTEL_ATTR_SHARE, 1.0 / 255},
    {GTEL_HWMON_FREQUENCY, "input", "", GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_CLOCK, 1},
};

#define KIND(name) (1U << GTEL_HWMON_##name)

/*
 * What a channel without a label measures; any other one has its number for a name. xe counts the
 * card as 1 and the package as 2, also where it shows no label (its label files for power need a
 * visible limit); in1 is the package's. i915 has one channel for power, which is the card's.
 */
static const struct {
    const char *driver; /* NULL: any */
    unsigned kinds;
    uint32_t channel;
    struct gtel_str name;
} channels[] = {
    {"xe", KIND(VOLTAGE), 1, GTEL_STR_INIT("pkg")},
    {"xe", KIND(POWER) | KIND(ENERGY) | KIND(CURRENT), 2, GTEL_STR_INIT("pkg")},
    {"xe", KIND(TEMPERATURE), 1, GTEL_STR_INIT("pkg")},
    {"i915", KIND(TEMPERATURE), 1, GTEL_STR_INIT("pkg")},
    {"radeon", KIND(VOLTAGE), 0, GTEL_STR_INIT("vddc")},
    {"amdgpu", KIND(VOLTAGE), 0, GTEL_STR_INIT("vddgfx")},
    {"amdgpu", KIND(VOLTAGE), 1, GTEL_STR_INIT("vddnb")},
    {"amdgpu", KIND(POWER), 1, GTEL_STR_INIT("pkg")},
    {"amdgpu", KIND(TEMPERATURE), 1, GTEL_STR_INIT("edge")},
    {NULL, KIND(VOLTAGE), 0, GTEL_STR_INIT("card")},
    {NULL, KIND(POWER) | KIND(ENERGY) | KIND(CURRENT), 1, GTEL_STR_INIT("card")},
    {NULL, KIND(TEMPERATURE), 1, GTEL_STR_INIT("gpu")},
    {NULL, KIND(FREQUENCY), 1, GTEL_STR_INIT("graphics")},
};

/*
 * What a label means. Of amdgpu, PPT and slowPPT (of an APU) are what the package uses over time,
 * sclk and mclk the clocks of shaders and memory (kernel: amd/pm/amdgpu_pm.c).
 */
static const struct {
    const char *driver;
    struct gtel_str label;
    struct gtel_str name;
} labels[] = {
    {"amdgpu", GTEL_STR_INIT("PPT"), GTEL_STR_INIT("pkg")},
    {"amdgpu", GTEL_STR_INIT("slowPPT"), GTEL_STR_INIT("pkg")},
    {"amdgpu", GTEL_STR_INIT("fastPPT"), GTEL_STR_INIT("pkg")},
    {"amdgpu", GTEL_STR_INIT("sclk"), GTEL_STR_INIT("graphics")},
    {"amdgpu", GTEL_STR_INIT("mclk"), GTEL_STR_INIT("memory")},
};

static struct gtel_str part_of(struct gtel_attr_list *list, const struct gtel_hwmon_attribute *at)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(labels); i++)
        if (gtel_str_eq(at->label, labels[i].label) &&
            strcmp(labels[i].driver, list->card->drm.driver) == 0)
            return labels[i].name;
    if (at->label.n > 0)
        return gtel_attr_text(list, at->label);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(channels); i++)
        if ((channels[i].kinds >> at->name.kind & 1) != 0 &&
            channels[i].channel == at->name.channel &&
            (!channels[i].driver || strcmp(channels[i].driver, list->card->drm.driver) == 0))
            return channels[i].name;
    return gtel_attr_number_text(list, at->name.channel);
}

/* One hwmon directory. */
struct folder {
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str gt; /* it is that GT's, not the card's; or empty */
    struct gtel_hwmon_attribute *at;
    size_t n;
};

static bool has_item(const struct folder *folder, const struct gtel_hwmon_name *name,
                     struct gtel_str item)
{
    for (size_t i = 0; item.n > 0 && i < folder->n; i++)
        if (is_same_channel(&folder->at[i].name, name) &&
            gtel_str_eq(folder->at[i].name.item, item))
            return true;
    return false;
}

static void add_one(struct gtel_attr_list *list, const struct folder *folder,
                    const struct sensor *sensor, const struct gtel_hwmon_attribute *at)
{
    struct gtel_attr_kind kind = {sensor->metric, sensor->form, sensor->scale};
    bool is_nouveau = strcmp(list->card->drm.driver, "nouveau") == 0;
    const struct gtel_str part = folder->gt.n > 0 ? folder->gt : part_of(list, at);
    const struct gtel_str dims[GTEL_ATTR_DIMS] = {part};
    /* It measures for up to 250 ms while the fan stands (kernel: nouveau/nvkm/subdev/therm/fan.c).
     */
    if (is_nouveau && sensor->of == GTEL_HWMON_FAN)
        return;
    /* It is in percent there (kernel: nouveau/nouveau_hwmon.c). */
    if (is_nouveau && sensor->of == GTEL_HWMON_PWM)
        kind.scale = 0.01;
    /* What an APU may use for a moment; its use is the package's, which is read already. */
    if (gtel_str_eq(at->label, GTEL_STR("fastPPT"))) {
        if (kind.metric != GTEL_M_POWER_LIMIT)
            return;
        kind.metric = GTEL_M_POWER_BURST_LIMIT;
    }
    /* PL2; PL1 is max (kernel: Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon). */
    if (sensor->of == GTEL_HWMON_POWER && strcmp(sensor->item, "cap") == 0 &&
        strcmp(list->card->drm.driver, "xe") == 0)
        kind.metric = GTEL_M_POWER_BURST_LIMIT;
    if (part.n > 0)
        gtel_attr_add(list, &kind, dims, folder->path, at->file);
}

static void add_folder(struct gtel_attr_list *list, const struct folder *folder)
{
    bool has_bad_energy = gtel_cards_has_bad_energy(list->env, &list->card->drm);
    for (size_t s = 0; s < GTEL_ARRAY_LEN(sensors); s++) {
        const struct sensor *sensor = &sensors[s];
        for (size_t i = 0; i < folder->n; i++) {
            const struct gtel_hwmon_name *name = &folder->at[i].name;
            if (name->kind == sensor->of && gtel_str_eq(name->item, gtel_str_of(sensor->item)) &&
                !has_item(folder, name, gtel_str_of(sensor->unless)) &&
                !(sensor->of == GTEL_HWMON_ENERGY && has_bad_energy))
                add_one(list, folder, sensor, &folder->at[i]);
        }
    }
}

/*
 * i915 may have a directory "i915_gtN" for each GT, with an energy counter of that GT and nothing
 * else (kernel: i915/i915_hwmon.c).
 */
static struct gtel_str gt_of(struct gtel_attr_list *list, struct gtel_str name)
{
    const struct gtel_str prefix = GTEL_STR("i915_");
    return gtel_str_starts(name, prefix) ? gtel_attr_text(list, gtel_str_skip(name, prefix.n))
                                         : GTEL_STR_NONE;
}

void gtel_hwmon_add(struct gtel_attr_list *list)
{
    struct folder folder;
    struct gtel_str *entries;
    size_t n;
    int r = gtel_fs_list(list->env, gtel_fs_path(folder.path, "%s/hwmon", list->card->path),
                         list->arena, 16, &entries, &n);
    gtel_attr_list_check(list, r);
    list->origin = GTEL_ATTR_HWMON;
    for (size_t i = 0; r == 0 && i < n; i++) {
        char buf[64];
        struct gtel_str name;
        gtel_fs_path(folder.path, "%s/hwmon/%.*s", list->card->path, GTEL_STR_ARG(entries[i]));
        int failure =
            gtel_fs_text(list->env, GTEL_FS_AT("%s/name", folder.path), buf, sizeof(buf), &name);
        if (failure == 0)
            failure = gtel_hwmon_list(list->env, list->arena, folder.path, &folder.at, &folder.n);
        gtel_attr_list_check(list, failure);
        if (failure < 0)
            continue;
        folder.gt = gt_of(list, name);
        add_folder(list, &folder);
    }
    list->origin = GTEL_ATTR_SYSFS;
}
