/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PMU. i915's leaves the GPU alone; an event of xe holds it awake until it is closed. After the
 * driver was unbound an open event gives its last value again, without an error, as theirs do.
 */
#include "guest.h"

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

struct guest_pmu {
    struct pmu base;
    struct device *dev;
    char name[40];
    u64 bound_ns;
    bool is_closed;
    struct guest_pmu *next;
};

/* What was unregistered lives until the module goes, which open events prevent. */
static struct guest_pmu *graveyard;
static struct guest_pmu *current_pmu; /* for CPU hotplug */
static DEFINE_MUTEX(pmu_lock);
static int hotplug_state;
static unsigned int counting_cpu;
static bool is_chosen; /* one that comes back does not count again */

/* How many events are open, since when, and the longest time that any was, in microseconds. */
static DEFINE_SPINLOCK(held_lock);
static unsigned int held;
static u64 held_ns;
static unsigned int longest_held_us;
module_param(longest_held_us, uint, 0644);
MODULE_PARM_DESC(longest_held_us, "longest time that events were open; may be set to 0");

static unsigned int linger_ms;
module_param(linger_ms, uint, 0644);
MODULE_PARM_DESC(linger_ms, "how long counters stand still before the PMU goes, as for RCU");

bool guest_is_old;
module_param_named(is_old, guest_is_old, bool, 0644);
MODULE_PARM_DESC(is_old, "the PMU goes before the folders of the GT, as up to Linux 5.18");

static void hold(int change)
{
    u64 now_ns = ktime_get_ns();
    u64 us;
    spin_lock(&held_lock);
    if (held == 0)
        held_ns = now_ns;
    held += change;
    us = div_u64(now_ns - held_ns, 1000);
    if (us > longest_held_us)
        longest_held_us = us;
    spin_unlock(&held_lock);
}

static struct guest_pmu *pmu_of(const struct perf_event *event)
{
    return container_of(event->pmu, struct guest_pmu, base);
}

static void event_read(struct perf_event *event)
{
    struct guest_pmu *pmu = pmu_of(event);
    u64 config = event->attr.config;
    u64 before;
    u64 now;
    if (READ_ONCE(pmu->is_closed))
        return;
    now = guest_event_value(config, pmu->bound_ns);
    if (guest_event_is_momentary(config)) {
        local64_add(now, &event->count);
        return;
    }
    before = local64_xchg(&event->hw.prev_count, now);
    local64_add(now - before, &event->count);
}

static void event_start(struct perf_event *event, int flags)
{
    struct guest_pmu *pmu = pmu_of(event);
    if (READ_ONCE(pmu->is_closed))
        return;
    local64_set(&event->hw.prev_count, guest_event_value(event->attr.config, pmu->bound_ns));
    event->hw.state = 0;
}

static void event_stop(struct perf_event *event, int flags)
{
    if ((flags & PERF_EF_UPDATE) && !guest_event_is_momentary(event->attr.config))
        event_read(event);
    event->hw.state = PERF_HES_STOPPED;
}

static int event_add(struct perf_event *event, int flags)
{
    if (READ_ONCE(pmu_of(event)->is_closed))
        return -ENODEV;
    if (flags & PERF_EF_START)
        event_start(event, flags);
    return 0;
}

static void event_del(struct perf_event *event, int flags)
{
    event_stop(event, PERF_EF_UPDATE);
}

static void event_destroy(struct perf_event *event)
{
    struct device *dev = pmu_of(event)->dev;
    hold(-1);
    if (strcmp(GUEST_NAME, "xe") == 0) {
        pm_runtime_mark_last_busy(dev);
        pm_runtime_put_autosuspend(dev);
    }
    put_device(dev);
}

static int event_init(struct perf_event *event)
{
    struct guest_pmu *pmu = pmu_of(event);
    if (event->attr.type != event->pmu->type)
        return -ENOENT;
    if (READ_ONCE(pmu->is_closed))
        return -ENODEV;
    if (event->attr.sample_period || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
        return -EINVAL;
    if (event->cpu != READ_ONCE(counting_cpu))
        return -EINVAL;
    if (!guest_event_exists(event->attr.config))
        return -ENOENT;
    hold(1);
    get_device(pmu->dev);
    if (strcmp(GUEST_NAME, "xe") == 0)
        pm_runtime_get_sync(pmu->dev);
    event->destroy = event_destroy;
    return 0;
}

static void make_name(struct guest_pmu *pmu, struct pci_dev *pdev)
{
    char *at;
#ifdef GUEST_XE
    scnprintf(pmu->name, sizeof(pmu->name), "xe_%s", pci_name(pdev));
#else
    scnprintf(pmu->name, sizeof(pmu->name), "i915"); /* as of an integrated GPU */
#endif
    for (at = pmu->name; *at; at++)
        if (*at == ':')
            *at = '_';
}

int guest_pmu_register(struct guest_gpu *gpu)
{
    struct guest_pmu *pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
    int r;
    if (!pmu)
        return -ENOMEM;
    make_name(pmu, gpu->pdev);
    pmu->dev = &gpu->pdev->dev;
    pmu->bound_ns = gpu->bound_ns;
    pmu->base = (struct pmu){
        .module = THIS_MODULE,
        .task_ctx_nr = perf_invalid_context,
        .attr_groups = guest_pmu_groups,
        .capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
        .event_init = event_init,
        .add = event_add,
        .del = event_del,
        .start = event_start,
        .stop = event_stop,
        .read = event_read,
    };
    r = perf_pmu_register(&pmu->base, pmu->name, -1);
    if (r) {
        kfree(pmu);
        return r;
    }
    mutex_lock(&pmu_lock);
    current_pmu = pmu;
    mutex_unlock(&pmu_lock);
    gpu->pmu = pmu;
    return 0;
}

void guest_pmu_unregister(struct guest_gpu *gpu)
{
    struct guest_pmu *pmu = gpu->pmu;
    WRITE_ONCE(pmu->is_closed, true);
    synchronize_rcu();
    if (linger_ms > 0)
        msleep(linger_ms);
    mutex_lock(&pmu_lock);
    current_pmu = NULL;
    pmu->next = graveyard;
    graveyard = pmu;
    mutex_unlock(&pmu_lock);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
    /*
     * perf frees the contexts of a PMU whose events are still open. Real drivers have that fault;
     * a test of other programs must not: contexts of this number are left alone, and leak.
     */
    pmu->base.task_ctx_nr = perf_hw_context;
#endif
    perf_pmu_unregister(&pmu->base);
    gpu->pmu = NULL;
}

ssize_t guest_pmu_cpumask(char *buf)
{
    return cpumap_print_to_pagebuf(true, buf, cpumask_of(READ_ONCE(counting_cpu)));
}

/* Not the first one: that CPU can be switched off in a test. */
static int take_cpu(unsigned int cpu)
{
    if (counting_cpu >= nr_cpu_ids || (!is_chosen && cpu > counting_cpu))
        WRITE_ONCE(counting_cpu, cpu);
    return 0;
}

static int leave_cpu(unsigned int cpu)
{
    unsigned int target = cpumask_any_but(cpu_online_mask, cpu);
    if (cpu != counting_cpu || target >= nr_cpu_ids)
        return 0;
    WRITE_ONCE(counting_cpu, target);
    mutex_lock(&pmu_lock);
    if (current_pmu)
        perf_pmu_migrate_context(&current_pmu->base, cpu, target);
    mutex_unlock(&pmu_lock);
    return 0;
}

int guest_pmu_init(void)
{
    int r;
    counting_cpu = nr_cpu_ids;
    r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "test/guest:online", take_cpu, leave_cpu);
    if (r < 0)
        return r;
    hotplug_state = r;
    is_chosen = true;
    return 0;
}

void guest_pmu_exit(void)
{
    cpuhp_remove_state_nocalls(hotplug_state);
    while (graveyard) {
        struct guest_pmu *pmu = graveyard;
        graveyard = pmu->next;
        kfree(pmu);
    }
}
