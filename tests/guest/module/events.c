/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the PMU: their files, their numbers, and what they count. */
#include "guest.h"

#include <linux/slab.h>

struct event_row {
    const char *name;
    const char *unit; /* of the file NAME.unit, or NULL for none */
    u64 config;
};

#ifdef GUEST_XE

/* Bits 0-11 event, 12-19 instance, 20-27 class, 44-59 function, 60-63 GT (xe/xe_pmu.c, 6.16). */
enum { C6 = 1, ACTIVE_TICKS, TOTAL_TICKS, ACTUAL_FREQUENCY, REQUESTED_FREQUENCY };

static const struct event_row rows[] = {
    {"gt-c6-residency", "ms", C6},
    {"engine-active-ticks", NULL, ACTIVE_TICKS},
    {"engine-total-ticks", NULL, TOTAL_TICKS},
    {"gt-actual-frequency", "MHz", ACTUAL_FREQUENCY},
    {"gt-requested-frequency", "MHz", REQUESTED_FREQUENCY},
};

static const struct event_row formats[] = {
    {"event", NULL, 0},        {"engine_instance", NULL, 0},
    {"engine_class", NULL, 0}, {"function", NULL, 0},
    {"gt", NULL, 0},
};
static const char *const format_texts[] = {"config:0-11", "config:12-19", "config:20-27",
                                           "config:44-59", "config:60-63"};
#define EVENT_TEXT "event=0x%02llx"

static unsigned int class_of(u64 config)
{
    return config >> 20 & 0xff;
}

static unsigned int instance_of(u64 config)
{
    return config >> 12 & 0xff;
}

/* Render and copy 0, video 0 and 1, enhance 0, all of GT 0 and of the only function. */
bool guest_event_exists(u64 config)
{
    unsigned int event = config & 0xfff;
    if (config >> 60 != 0)
        return false;
    if (event != ACTIVE_TICKS && event != TOTAL_TICKS)
        return event >= C6 && event <= REQUESTED_FREQUENCY && config >> 12 == 0;
    if ((config >> 28 & 0xffff) != 0 || (config >> 44 & 0xffff) != 0)
        return false;
    return class_of(config) < GUEST_CLASSES &&
           instance_of(config) < (class_of(config) == GUEST_VIDEO ? 2 : 1);
}

/* Each read adds the clock of that moment to the count. */
bool guest_event_is_momentary(u64 config)
{
    return (config & 0xfff) >= ACTUAL_FREQUENCY;
}

static u64 ticks(u64 ns)
{
    return div_u64(ns * GUEST_TICKS_PER_US, 1000);
}

static u64 active(u64 config, u64 now_ns, u64 age_ns)
{
    struct guest_load load = guest_load_at(now_ns);
    if (class_of(config) == GUEST_RENDER)
        return load.rcs0_ns;
    if (class_of(config) == GUEST_VIDEO)
        return instance_of(config) ? load.vcs1_ns : guest_part(age_ns, GUEST_VCS0_BUSY);
    return 0;
}

u64 guest_event_value(u64 config, u64 bound_ns)
{
    u64 now_ns = ktime_get_ns();
    u64 age_ns = now_ns - bound_ns;
    switch (config & 0xfff) {
    case C6:
        return div_u64(guest_part(age_ns, GUEST_IDLE), NSEC_PER_MSEC);
    case ACTIVE_TICKS:
        return ticks(active(config, now_ns, age_ns));
    case TOTAL_TICKS:
        return ticks(age_ns);
    case ACTUAL_FREQUENCY:
        return GUEST_ACTUAL_MHZ;
    default:
        return GUEST_REQUESTED_MHZ;
    }
}

#else

/* Bits 0-3 sample, 4-11 instance, 12-19 class; others from 0x100000 (uapi/drm/i915_drm.h). */
enum { BUSY, WAIT, SEMA };
enum { OTHER = 0x100000, ACTUAL_FREQUENCY = OTHER, REQUESTED_FREQUENCY, INTERRUPTS, RC6, AWAKE };
#define ENGINE(class, instance, sample) ((class) << 12 | (instance) << 4 | (sample))

static const struct event_row rows[] = {
    {"actual-frequency", "M", ACTUAL_FREQUENCY},
    {"requested-frequency", "M", REQUESTED_FREQUENCY},
    {"interrupts", NULL, INTERRUPTS},
    {"rc6-residency", "ns", RC6},
    {"software-gt-awake-time", "ns", AWAKE},
    {"rcs0-busy", "ns", ENGINE(0, 0, BUSY)},
    {"rcs0-wait", "ns", ENGINE(0, 0, WAIT)},
    {"rcs0-sema", "ns", ENGINE(0, 0, SEMA)},
    {"bcs0-busy", "ns", ENGINE(1, 0, BUSY)},
    {"bcs0-wait", "ns", ENGINE(1, 0, WAIT)},
    {"bcs0-sema", "ns", ENGINE(1, 0, SEMA)},
    {"vcs0-busy", "ns", ENGINE(2, 0, BUSY)},
    {"vcs0-wait", "ns", ENGINE(2, 0, WAIT)},
    {"vcs0-sema", "ns", ENGINE(2, 0, SEMA)},
    {"vcs1-busy", "ns", ENGINE(2, 1, BUSY)},
    {"vcs1-wait", "ns", ENGINE(2, 1, WAIT)},
    {"vcs1-sema", "ns", ENGINE(2, 1, SEMA)},
    {"vecs0-busy", "ns", ENGINE(3, 0, BUSY)},
    {"vecs0-wait", "ns", ENGINE(3, 0, WAIT)},
    {"vecs0-sema", "ns", ENGINE(3, 0, SEMA)},
};

static const struct event_row formats[] = {{"i915_eventid", NULL, 0}};
static const char *const format_texts[] = {"config:0-20"};
#define EVENT_TEXT "config=0x%llx"

bool guest_event_exists(u64 config)
{
    unsigned int i;
    for (i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i].config == config)
            return true;
    return false;
}

bool guest_event_is_momentary(u64 config)
{
    return false;
}

u64 guest_event_value(u64 config, u64 bound_ns)
{
    u64 now_ns = ktime_get_ns();
    u64 age_ns = now_ns - bound_ns;
    struct guest_load load = guest_load_at(now_ns);
    switch (config) {
    case ACTUAL_FREQUENCY:
        return div_u64(age_ns * GUEST_ACTUAL_MHZ, NSEC_PER_SEC);
    case REQUESTED_FREQUENCY:
        return div_u64(age_ns * GUEST_REQUESTED_MHZ, NSEC_PER_SEC);
    case INTERRUPTS:
        return div_u64(age_ns * GUEST_INTERRUPTS_PER_S, NSEC_PER_SEC);
    case RC6:
        return guest_part(age_ns, GUEST_IDLE);
    case AWAKE:
        return age_ns - guest_part(age_ns, GUEST_IDLE);
    case ENGINE(0, 0, BUSY):
        return load.rcs0_ns;
    case ENGINE(0, 0, WAIT):
        return guest_part(age_ns, GUEST_RCS0_WAIT);
    case ENGINE(0, 0, SEMA):
        return guest_part(age_ns, GUEST_RCS0_SEMA);
    case ENGINE(2, 0, BUSY):
        return guest_part(age_ns, GUEST_VCS0_BUSY);
    case ENGINE(2, 1, BUSY):
        return load.vcs1_ns;
    default:
        return 0;
    }
}

#endif

/* One line of text in a file. */
struct text_file {
    struct device_attribute device;
    char name[40];
    char text[24];
};

static ssize_t show_text(struct device *dev, struct device_attribute *attribute, char *buf)
{
    return sysfs_emit(buf, "%s\n", container_of(attribute, struct text_file, device)->text);
}

static ssize_t show_cpumask(struct device *dev, struct device_attribute *attribute, char *buf)
{
    return guest_pmu_cpumask(buf);
}

static struct text_file files[2 * ARRAY_SIZE(rows) + ARRAY_SIZE(formats)];
static struct attribute *event_attrs[2 * ARRAY_SIZE(rows) + 1];
static struct attribute *format_attrs[ARRAY_SIZE(formats) + 1];
static struct device_attribute cpumask_file = __ATTR(cpumask, 0444, show_cpumask, NULL);
static struct attribute *cpumask_attrs[] = {&cpumask_file.attr, NULL};
static const struct attribute_group events_group = {.name = "events", .attrs = event_attrs};
static const struct attribute_group format_group = {.name = "format", .attrs = format_attrs};
static const struct attribute_group cpumask_group = {.attrs = cpumask_attrs};
const struct attribute_group *guest_pmu_groups[] = {&events_group, &format_group, &cpumask_group,
                                                    NULL};

static struct attribute *take_file(struct text_file *file)
{
    sysfs_attr_init(&file->device.attr);
    file->device.attr.name = file->name;
    file->device.attr.mode = 0444;
    file->device.show = show_text;
    return &file->device.attr;
}

void guest_events_init(void)
{
    struct text_file *file = files;
    unsigned int n = 0;
    unsigned int i;
    for (i = 0; i < ARRAY_SIZE(rows); i++) {
        scnprintf(file->name, sizeof(file->name), "%s", rows[i].name);
        scnprintf(file->text, sizeof(file->text), EVENT_TEXT, rows[i].config);
        event_attrs[n++] = take_file(file++);
        if (!rows[i].unit)
            continue;
        scnprintf(file->name, sizeof(file->name), "%s.unit", rows[i].name);
        scnprintf(file->text, sizeof(file->text), "%s", rows[i].unit);
        event_attrs[n++] = take_file(file++);
    }
    for (i = 0; i < ARRAY_SIZE(formats); i++) {
        scnprintf(file->name, sizeof(file->name), "%s", formats[i].name);
        scnprintf(file->text, sizeof(file->text), "%s", format_texts[i]);
        format_attrs[i] = take_file(file++);
    }
}
