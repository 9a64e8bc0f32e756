/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of clocks, idle time and throttling, as i915 (card0/gt/gt0) and xe (tile0/gt0) have them.
 */
#include "guest.h"

#include <drm/drm_file.h>
#include <linux/kobject.h>
#include <linux/pm_runtime.h>
#include <linux/sysfs.h>

/* A number that stands, or with RESIDENCY the idle time in milliseconds; or a text. */
enum { RESIDENCY = 1u << 31 };

struct gt_file {
    struct kobj_attribute attribute;
    unsigned int value;
    const char *text;
};

static struct guest_gpu *owner; /* of the files; they are gone before it is */

static ssize_t show(struct kobject *object, struct kobj_attribute *attribute, char *buf)
{
    const struct gt_file *file = container_of(attribute, struct gt_file, attribute);
    struct device *dev = &owner->pdev->dev;
    u64 value = file->value;
    if (file->text)
        return sysfs_emit(buf, "%s\n", file->text);
    if (value == RESIDENCY)
        value = div_u64(guest_part(guest_age_ns(owner), GUEST_IDLE), NSEC_PER_MSEC);
    /* The read wakes a sleeping GPU: that of i915's residency, and most of xe's. */
    if (file->value == RESIDENCY || strcmp(GUEST_NAME, "xe") == 0) {
        pm_runtime_get_sync(dev);
        pm_runtime_mark_last_busy(dev);
        pm_runtime_put_autosuspend(dev);
    }
    return sysfs_emit(buf, "%llu\n", value);
}

#define NUMBER(name, number)                                                                       \
    {                                                                                              \
        {{#name, 0444}, show, NULL}, number, NULL                                                  \
    }
#define TEXT(name, words)                                                                          \
    {                                                                                              \
        {{#name, 0444}, show, NULL}, 0, words                                                      \
    }

struct gt_folder {
    const char *name;
    unsigned int parent; /* number in folders; the first one hangs on the device or card */
    struct gt_file *file;
    unsigned int n;
};

#ifdef GUEST_XE

static struct gt_file clocks[] = {
    NUMBER(act_freq, GUEST_ACTUAL_MHZ), NUMBER(cur_freq, GUEST_REQUESTED_MHZ),
    NUMBER(min_freq, GUEST_MIN_MHZ),    NUMBER(max_freq, GUEST_MAX_MHZ),
    NUMBER(rp0_freq, GUEST_MAX_MHZ),    NUMBER(rpe_freq, GUEST_ACTUAL_MHZ),
    NUMBER(rpn_freq, GUEST_MIN_MHZ),
};

static struct gt_file idle[] = {
    TEXT(name, "gt0-rc"),
    TEXT(idle_status, "gt-c0"),
    NUMBER(idle_residency_ms, RESIDENCY),
};

/* There is a folder for each class of engines, with settings, of which this is one. */
static struct gt_file settings[] = {NUMBER(job_timeout_ms, 5000)};

static struct gt_folder folders[] = {
    {"tile0", 0, NULL, 0},
    {"gt0", 0, NULL, 0},
    {"freq0", 1, clocks, ARRAY_SIZE(clocks)},
    {"gtidle", 1, idle, ARRAY_SIZE(idle)},
    {"engines", 1, NULL, 0},
    {"rcs", 4, settings, 1},
    {"bcs", 4, settings, 1},
    {"vcs", 4, settings, 1},
    {"vecs", 4, settings, 1},
};

static struct kobject *top(struct guest_gpu *gpu)
{
    return &gpu->pdev->dev.kobj;
}

#else

static struct gt_file clocks[] = {
    NUMBER(id, 0),
    NUMBER(rps_act_freq_mhz, GUEST_ACTUAL_MHZ),
    NUMBER(rps_cur_freq_mhz, GUEST_REQUESTED_MHZ),
    NUMBER(rps_min_freq_mhz, GUEST_MIN_MHZ),
    NUMBER(rps_max_freq_mhz, GUEST_MAX_MHZ),
    NUMBER(rps_boost_freq_mhz, GUEST_MAX_MHZ),
    NUMBER(rps_RP0_freq_mhz, GUEST_MAX_MHZ),
    NUMBER(rps_RP1_freq_mhz, GUEST_ACTUAL_MHZ),
    NUMBER(rps_RPn_freq_mhz, GUEST_MIN_MHZ),
    NUMBER(rc6_enable, 1),
    NUMBER(rc6_residency_ms, RESIDENCY),
    NUMBER(throttle_reason_status, 1),
    NUMBER(throttle_reason_pl1, 1),
    NUMBER(throttle_reason_thermal, 0),
};

static struct gt_folder folders[] = {
    {"gt", 0, NULL, 0},
    {"gt0", 0, clocks, ARRAY_SIZE(clocks)},
};

static struct kobject *top(struct guest_gpu *gpu)
{
    return &gpu->drm.primary->kdev->kobj;
}

#endif

static int add_folder(struct guest_gpu *gpu, unsigned int number)
{
    const struct gt_folder *folder = &folders[number];
    struct kobject *above = number == 0 ? top(gpu) : gpu->folder[folder->parent];
    unsigned int i;
    gpu->folder[number] = kobject_create_and_add(folder->name, above);
    if (!gpu->folder[number])
        return -ENOMEM;
    for (i = 0; i < folder->n; i++) {
        int r = sysfs_create_file(gpu->folder[number], &folder->file[i].attribute.attr);
        if (r)
            return r;
    }
    return 0;
}

int guest_gt_add(struct guest_gpu *gpu)
{
    unsigned int i;
    BUILD_BUG_ON(ARRAY_SIZE(folders) > ARRAY_SIZE(gpu->folder));
    owner = gpu;
    for (i = 0; i < ARRAY_SIZE(folders); i++) {
        int r = add_folder(gpu, i);
        if (r) {
            guest_gt_remove(gpu);
            return r;
        }
    }
    return 0;
}

void guest_gt_remove(struct guest_gpu *gpu)
{
    unsigned int i;
    for (i = ARRAY_SIZE(folders); i > 0; i--) {
        if (!gpu->folder[i - 1])
            continue;
        kobject_del(gpu->folder[i - 1]);
        kobject_put(gpu->folder[i - 1]);
        gpu->folder[i - 1] = NULL;
    }
    owner = NULL;
}
