/* SPDX-License-Identifier: MIT */
/* Lists what an Intel GPU has to read: the sensors of its hwmon directory. */
#include "sources/drm/hwmon.h"
#include "sources/drm/cards.h"
#include "sources/intel/scan.h"

#include <stdio.h>
#include <string.h>

enum { GTS_MAX = 8 };

/*
 * Units are those of the kernel's Documentation/hwmon/sysfs-interface.rst; which attribute means
 * what is in Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon. Left out are what power
 * was rated for (no limit in force) and the times over which limits are taken.
 */
static const struct sensor {
    enum gtel_hwmon_kind of;
    struct gtel_str item;
    struct gtel_intel_kind kind;
} sensors[] = {
    {GTEL_HWMON_POWER,
     GTEL_STR_INIT("cap"),
     {GTEL_M_POWER_LIMIT, GTEL_INTEL_LIMIT, 1e-6, GTEL_INTEL_HEAD_LIMIT, GTEL_INTEL_HWMON, false}},
    {GTEL_HWMON_POWER,
     GTEL_STR_INIT("max"),
     {GTEL_M_POWER_LIMIT, GTEL_INTEL_LIMIT, 1e-6, GTEL_INTEL_HEAD_LIMIT, GTEL_INTEL_HWMON, false}},
    /* The emergency threshold, no sustained limit (Syllo/nvtop #493). */
    {GTEL_HWMON_POWER,
     GTEL_STR_INIT("crit"),
     {GTEL_M_POWER_PEAK_LIMIT, GTEL_INTEL_LIMIT, 1e-6, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON,
      false}},
    /* The same on boards that state it in amperes; what that means in watts is not known. */
    {GTEL_HWMON_CURRENT,
     GTEL_STR_INIT("crit"),
     {GTEL_M_PEAK_CURRENT_LIMIT, GTEL_INTEL_LIMIT, 1e-3, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON,
      false}},
    {GTEL_HWMON_ENERGY,
     GTEL_STR_INIT("input"),
     {GTEL_M_ENERGY, GTEL_INTEL_ENERGY, 1e-6, GTEL_INTEL_HEAD_ENERGY, GTEL_INTEL_HWMON, false}},
    {GTEL_HWMON_VOLTAGE,
     GTEL_STR_INIT("input"),
     {GTEL_M_VOLTAGE, GTEL_INTEL_NUMBER, 1e-3, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON, false}},
    {GTEL_HWMON_TEMPERATURE,
     GTEL_STR_INIT("input"),
     {GTEL_M_TEMPERATURE, GTEL_INTEL_NUMBER, 1e-3, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON,
      false}},
    {GTEL_HWMON_TEMPERATURE,
     GTEL_STR_INIT("max"),
     {GTEL_M_TEMPERATURE_LIMIT, GTEL_INTEL_NUMBER, 1e-3, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON,
      false}},
    {GTEL_HWMON_TEMPERATURE,
     GTEL_STR_INIT("crit"),
     {GTEL_M_TEMPERATURE_CRITICAL, GTEL_INTEL_NUMBER, 1e-3, GTEL_INTEL_NO_HEADLINE,
      GTEL_INTEL_HWMON, false}},
    {GTEL_HWMON_TEMPERATURE,
     GTEL_STR_INIT("emergency"),
     {GTEL_M_TEMPERATURE_EMERGENCY, GTEL_INTEL_NUMBER, 1e-3, GTEL_INTEL_NO_HEADLINE,
      GTEL_INTEL_HWMON, false}},
    {GTEL_HWMON_FAN,
     GTEL_STR_INIT("input"),
     {GTEL_M_FAN_RPM, GTEL_INTEL_FAN, 1, GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON, false}},
};

/*
 * Power domain of a channel. xe counts the card as 1 and the package as 2, also where it shows no
 * label (its label files for power need a visible limit); in1 is the package's. i915 has one
 * channel, which is the card's.
 */
static struct gtel_str domain(struct gtel_intel_scan *scan, const struct gtel_hwmon_attribute *at)
{
    if (at->label.n > 0)
        return gtel_intel_text(scan, at->label);
    bool is_xe = gtel_str_eq(gtel_str_of(scan->card->driver), GTEL_STR("xe"));
    bool is_voltage = at->name.kind == GTEL_HWMON_VOLTAGE;
    if (is_xe && at->name.channel == (is_voltage ? 1 : 2))
        return GTEL_STR("pkg");
    if (at->name.channel == (is_voltage ? 0 : 1))
        return GTEL_STR("card");
    return gtel_intel_number_text(scan, at->name.channel);
}

/* i915's one sensor has no label; it is the package's. */
static struct gtel_str sensor(struct gtel_intel_scan *scan, const struct gtel_hwmon_attribute *at)
{
    if (at->label.n > 0)
        return gtel_intel_text(scan, at->label);
    if (at->name.channel == 1)
        return GTEL_STR("pkg");
    return gtel_intel_number_text(scan, at->name.channel);
}

static struct gtel_str part(struct gtel_intel_scan *scan, const struct gtel_hwmon_attribute *at)
{
    if (at->name.kind == GTEL_HWMON_TEMPERATURE)
        return sensor(scan, at);
    if (at->name.kind == GTEL_HWMON_FAN)
        return at->label.n > 0 ? gtel_intel_text(scan, at->label)
                               : gtel_intel_number_text(scan, at->name.channel);
    return domain(scan, at);
}

/* `max` counts as the limit only where the channel has no `cap`. */
static bool is_shadowed(const struct gtel_hwmon_attribute *list, size_t n,
                        const struct gtel_hwmon_attribute *at)
{
    if (at->name.kind != GTEL_HWMON_POWER || !gtel_str_eq(at->name.item, GTEL_STR("max")))
        return false;
    for (size_t i = 0; i < n; i++)
        if (list[i].name.kind == GTEL_HWMON_POWER && list[i].name.channel == at->name.channel &&
            gtel_str_eq(list[i].name.item, GTEL_STR("cap")))
            return true;
    return false;
}

/*
 * i915 may have a device "i915_gtN" for each GT, with an energy counter of that GT and nothing else
 * (kernel: i915/i915_hwmon.c).
 */
static void add_gts(struct gtel_intel_scan *scan)
{
    static const struct gtel_intel_kind kind = {GTEL_M_ENERGY,          GTEL_INTEL_ENERGY, 1e-6,
                                                GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_HWMON,  false};
    for (unsigned gt = 0; gt < GTS_MAX; gt++) {
        char path[GTEL_FS_PATH_MAX];
        char name[16];
        (void)snprintf(name, sizeof(name), "i915_gt%u", gt);
        int r = gtel_hwmon_find(scan->env, scan->arena, scan->device_path, gtel_str_of(name), path);
        gtel_intel_doubt(scan, r);
        if (r < 0)
            return;
        const struct gtel_str dims[3] = {
            gtel_intel_text(scan, gtel_str_skip(gtel_str_of(name), strlen("i915_")))};
        if (dims[0].n > 0)
            gtel_intel_add(scan, &kind, dims, path, GTEL_STR("energy1_input"));
    }
}

void gtel_intel_add_hwmon(struct gtel_intel_scan *scan, struct gtel_str name)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_hwmon_attribute *list = NULL;
    size_t n = 0;
    int r = gtel_hwmon_find(scan->env, scan->arena, scan->device_path, name, path);
    if (r == 0)
        r = gtel_hwmon_list(scan->env, scan->arena, path, &list, &n);
    gtel_intel_doubt(scan, r);
    if (r < 0)
        return;
    bool has_bad_energy = gtel_cards_has_bad_energy(scan->env, scan->card);
    /* Sensor by sensor in the order of the table: limits come before the energy that they bound. */
    for (size_t s = 0; s < GTEL_ARRAY_LEN(sensors); s++) {
        if (sensors[s].of == GTEL_HWMON_ENERGY && has_bad_energy)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (list[i].name.kind != sensors[s].of ||
                !gtel_str_eq(list[i].name.item, sensors[s].item) || is_shadowed(list, n, &list[i]))
                continue;
            struct gtel_intel_kind kind = sensors[s].kind;
            const struct gtel_str dims[3] = {part(scan, &list[i])};
            if (kind.metric == GTEL_M_TEMPERATURE && gtel_str_eq(dims[0], GTEL_STR("pkg")))
                kind.headline = GTEL_INTEL_HEAD_TEMPERATURE;
            if (dims[0].n > 0)
                gtel_intel_add(scan, &kind, dims, path, list[i].file);
        }
    }
    if (gtel_str_eq(name, GTEL_STR("i915")))
        add_gts(scan);
}
