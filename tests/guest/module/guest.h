/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up GPU for tests in a virtual machine: a kernel module that is called i915 or xe and
 * shows, through the kernel's own DRM, perf, sysfs and runtime power management, what the driver of
 * that name shows. Test-only; never linked to anything else.
 *
 * What it counts is known to the nanosecond: every counter is a share of the monotonic time since
 * the driver was bound. There is one device: QEMU's pci-testdev, which gets Intel's numbers.
 */
#ifndef GUEST_H
#define GUEST_H

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <linux/ktime.h>
#include <linux/pci.h>
#include <linux/perf_event.h>
#include <linux/version.h>

#ifdef GUEST_XE
#define GUEST_NAME "xe"
#else
#define GUEST_NAME "i915"
#endif

/*
 * Shares are in parts of 32, so that they are exact in binary and in decimal. What rcs0 does can be
 * changed at any time by the module's parameter "parts", and vcs1 does the less the more rcs0 does.
 */
enum {
    GUEST_PARTS_LOG2 = 5,
    GUEST_RCS0_BUSY = 20, /* at first: 62.5 % */
    GUEST_BUSY_SUM = 36,  /* of rcs0 and vcs1, which is 50 % busy at first */
    GUEST_BUSY_LEAST = 4,
    GUEST_BUSY_MOST = 32,
    GUEST_RCS0_WAIT = 2,  /* 6.25 % */
    GUEST_RCS0_SEMA = 1,  /* 3.125 % */
    GUEST_VCS0_BUSY = 8,  /* 25 %: the class is 37.5 % busy at first */
    GUEST_IDLE = 9,       /* 28.125 % in RC6, C6 */
    GUEST_CLIENT_BUSY = 4 /* 12.5 % of render for a client that has said nothing else */
};

enum {
    GUEST_ACTUAL_MHZ = 1100,
    GUEST_REQUESTED_MHZ = 1300,
    GUEST_MIN_MHZ = 300,
    GUEST_MAX_MHZ = 1500,
    GUEST_INTERRUPTS_PER_S = 250,
    GUEST_TICKS_PER_US = 19, /* of xe's clock */
};

/*
 * Memory in bytes; i915 is an integrated GPU here and has no memory of its own. The host's is as
 * large as it is; what xe reports as used of it are the GPU's own buffers in it.
 */
#define GUEST_SYSTEM_USED (3ull << 26)
#define GUEST_VRAM_BYTES (12ull << 30)
#define GUEST_VRAM_USED (5ull << 29)
#define GUEST_VRAM_VISIBLE (1ull << 28)
#define GUEST_VRAM_VISIBLE_USED (3ull << 26)

/* What the engines of a class are called in fdinfo, and how many there are. */
enum { GUEST_RENDER, GUEST_COPY, GUEST_VIDEO, GUEST_ENHANCE, GUEST_CLASSES };

struct guest_pmu;

struct guest_gpu {
    struct drm_device drm;
    struct pci_dev *pdev;
    u64 bound_ns;
    struct guest_pmu *pmu;
    struct kobject *folder[9]; /* below the card or the device, outer ones first */
};

/* The request by which a client says how busy it is: DRM command 0x3f, _IOW('d', 0x7f, ...). */
struct guest_busy {
    __u32 class;
    __u32 parts; /* of 32, over all engines of the class */
};

static inline u64 guest_part(u64 ns, unsigned int parts)
{
    return (ns * parts) >> GUEST_PARTS_LOG2;
}

static inline u64 guest_age_ns(const struct guest_gpu *gpu)
{
    return ktime_get_ns() - gpu->bound_ns;
}

/* client.c: the files of the device node. */
extern const struct file_operations guest_files;
int guest_client_open(struct drm_device *drm, struct drm_file *file);
void guest_client_close(struct drm_device *drm, struct drm_file *file);
int guest_client_busy(struct drm_device *drm, void *data, struct drm_file *file);

/* query.c: the driver's own ioctl for questions. */
extern const unsigned int guest_query_command;
int guest_query(struct drm_device *drm, void *data, struct drm_file *file);

/* events.c: which events there are, what their files say and what they count. */
extern const struct attribute_group *guest_pmu_groups[];
bool guest_event_exists(u64 config);
bool guest_event_is_momentary(u64 config);
u64 guest_event_value(u64 config, u64 bound_ns);
void guest_events_init(void);

/* load.c: what the engines do. */
struct guest_load {
    u64 rcs0_ns;
    u64 vcs1_ns;
};
void guest_load_restart(u64 now_ns);
struct guest_load guest_load_at(u64 now_ns);

/* pmu.c: the PMU; it outlives its GPU while events are open. */
int guest_pmu_register(struct guest_gpu *gpu);
void guest_pmu_unregister(struct guest_gpu *gpu);
extern bool guest_is_old; /* in which order things go */
int guest_pmu_init(void);
void guest_pmu_exit(void);
ssize_t guest_pmu_cpumask(char *buf);

/* gt.c: files of clocks and idle time. Reading one that the real driver wakes for wakes here too.
 */
int guest_gt_add(struct guest_gpu *gpu);
void guest_gt_remove(struct guest_gpu *gpu);

#endif
