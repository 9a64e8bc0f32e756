/* SPDX-License-Identifier: GPL-2.0-only */
/* For how long the engines have been busy, under a share that may change at any time. */
#include "guest.h"

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>

static DEFINE_RAW_SPINLOCK(lock); /* counters are read with interrupts off */
static struct guest_load done;    /* up to since_ns */
static u64 since_ns;
static unsigned int parts = GUEST_RCS0_BUSY;

static struct guest_load sum_up(u64 now_ns)
{
    struct guest_load load = done;
    load.rcs0_ns += guest_part(now_ns - since_ns, parts);
    load.vcs1_ns += guest_part(now_ns - since_ns, GUEST_BUSY_SUM - parts);
    return load;
}

struct guest_load guest_load_at(u64 now_ns)
{
    struct guest_load load;
    unsigned long flags;
    raw_spin_lock_irqsave(&lock, flags);
    load = sum_up(now_ns);
    raw_spin_unlock_irqrestore(&lock, flags);
    return load;
}

/* The driver was bound: everything counts from nothing. */
void guest_load_restart(u64 now_ns)
{
    unsigned long flags;
    raw_spin_lock_irqsave(&lock, flags);
    done = (struct guest_load){};
    since_ns = now_ns;
    raw_spin_unlock_irqrestore(&lock, flags);
}

static int set_parts(const char *text, const struct kernel_param *param)
{
    unsigned long flags;
    unsigned int value;
    u64 now_ns;
    int r = kstrtouint(text, 10, &value);
    if (r)
        return r;
    if (value < GUEST_BUSY_LEAST || value > GUEST_BUSY_MOST)
        return -EINVAL;
    raw_spin_lock_irqsave(&lock, flags);
    now_ns = ktime_get_ns();
    done = sum_up(now_ns);
    since_ns = now_ns;
    parts = value;
    raw_spin_unlock_irqrestore(&lock, flags);
    return 0;
}

static const struct kernel_param_ops parts_ops = {.set = set_parts};
module_param_cb(parts, &parts_ops, NULL, 0200);
MODULE_PARM_DESC(parts, "32nds of the time for which rcs0 is busy from now on");
