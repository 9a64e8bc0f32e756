/* SPDX-License-Identifier: GPL-2.0-only */
/* RAPL's perf PMU (arch/x86/events/rapl.c): energy in 2^-32 J, on one CPU of the package. */
#include "host.h"

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/perf_event.h>

enum { EVENT_PACKAGE = 2, EVENT_GPU = 4 };

static u64 energy(u64 config)
{
    u64 watts8 = config == EVENT_GPU ? HOST_GPU_WATTS8 : HOST_PACKAGE_WATTS8;
    return mul_u64_u64_div_u64(host_age_ns(), watts8 << 29, 1000000000);
}

static void event_read(struct perf_event *event)
{
    u64 now = energy(event->attr.config);
    u64 before = local64_xchg(&event->hw.prev_count, now);
    local64_add(now - before, &event->count);
}

static void event_start(struct perf_event *event, int flags)
{
    local64_set(&event->hw.prev_count, energy(event->attr.config));
    event->hw.state = 0;
}

static void event_stop(struct perf_event *event, int flags)
{
    if (flags & PERF_EF_UPDATE)
        event_read(event);
    event->hw.state = PERF_HES_STOPPED;
}

static int event_add(struct perf_event *event, int flags)
{
    if (flags & PERF_EF_START)
        event_start(event, flags);
    return 0;
}

static void event_del(struct perf_event *event, int flags)
{
    event_stop(event, PERF_EF_UPDATE);
}

static int event_init(struct perf_event *event)
{
    u64 config = event->attr.config;
    if (event->attr.type != event->pmu->type)
        return -ENOENT;
    if (event->attr.sample_period || event->cpu != 0)
        return -EINVAL;
    return config == EVENT_PACKAGE || config == EVENT_GPU ? 0 : -EINVAL;
}

struct text {
    struct device_attribute attr;
    const char *text;
};

static ssize_t show(struct device *dev, struct device_attribute *attr, char *buf)
{
    return sysfs_emit(buf, "%s\n", container_of(attr, struct text, attr)->text);
}

#define TEXT(var, file, content)                                                                   \
    static struct text var = {.attr = {.attr = {.name = (file), .mode = 0444}, .show = show},      \
                              .text = (content)}

TEXT(cpumask, "cpumask", "0");
TEXT(format_event, "event", "config:0-7");
TEXT(package_event, "energy-pkg", "event=0x02");
TEXT(package_unit, "energy-pkg.unit", "Joules");
TEXT(package_scale, "energy-pkg.scale", "2.3283064365386962890625e-10");
TEXT(gpu_event, "energy-gpu", "event=0x04");
TEXT(gpu_unit, "energy-gpu.unit", "Joules");
TEXT(gpu_scale, "energy-gpu.scale", "2.3283064365386962890625e-10");

static struct attribute *own[] = {&cpumask.attr.attr, NULL};
static struct attribute *formats[] = {&format_event.attr.attr, NULL};
static struct attribute *events[] = {&package_event.attr.attr,
                                     &package_unit.attr.attr,
                                     &package_scale.attr.attr,
                                     &gpu_event.attr.attr,
                                     &gpu_unit.attr.attr,
                                     &gpu_scale.attr.attr,
                                     NULL};
static const struct attribute_group own_group = {.attrs = own};
static const struct attribute_group format_group = {.name = "format", .attrs = formats};
static const struct attribute_group event_group = {.name = "events", .attrs = events};
static const struct attribute_group *groups[] = {&own_group, &format_group, &event_group, NULL};

static struct pmu power = {
    .module = THIS_MODULE,
    .task_ctx_nr = perf_invalid_context,
    .attr_groups = groups,
    .capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
    .event_init = event_init,
    .add = event_add,
    .del = event_del,
    .start = event_start,
    .stop = event_stop,
    .read = event_read,
};

int host_power_register(void)
{
    return perf_pmu_register(&power, "power", -1);
}

void host_power_unregister(void)
{
    perf_pmu_unregister(&power);
}
