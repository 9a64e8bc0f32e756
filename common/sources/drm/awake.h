/* SPDX-License-Identifier: MIT */
/*
 * Whether a device sleeps: its power/runtime_status, kept open, or the books of Plug and Play under
 * Windows. Reading either never wakes the device (kernel: Documentation/ABI/testing/
 * sysfs-devices-power).
 */
#ifndef GTEL_SOURCES_DRM_AWAKE_H
#define GTEL_SOURCES_DRM_AWAKE_H

#include "host/fs.h"
#include "host/pnp.h"
#include "sources/drm/rest.h"

/* Zeroed: not open. */
struct gtel_awake {
    struct gtel_fs_file status;    /* not open where the kernel has no runtime power management */
    struct gtel_fs_file suspended; /* power/runtime_suspended_time; only with gtel_awake_watch */
    struct gtel_fs_file users;     /* power/runtime_usage; only with gtel_awake_rest_delay */
    struct gtel_pnp pnp;           /* open under Windows alone */
    struct gtel_pnp_gpu gpu;
    bool is_open;
};

/* Opens the file of the device in that directory, whose name is its PCI address under Windows. 0,
 * or a negative errno: nothing may be read. */
int gtel_awake_open(const struct gtel_env *env, struct gtel_awake *awake, const char *device_path);
void gtel_awake_close(const struct gtel_env *env, struct gtel_awake *awake);
/*
 * "suspending", "suspended" and "resuming" are asleep: a read would call the device back, or reach
 * registers that are not there yet. 0 or a negative errno, after which nothing may be read: -EIO
 * for "error", after a failed change of its power state; -EBADF when it is not open.
 */
int gtel_awake_look(const struct gtel_env *env, const struct gtel_awake *awake, bool *ret_asleep);
/*
 * From now on gtel_awake_suspended may be asked. 0, also where there is no such file; or a negative
 * errno: another try may do.
 */
int gtel_awake_watch(const struct gtel_env *env, struct gtel_awake *awake, const char *device_path);
/*
 * For how long the device was suspended since it is there, which grows by each sleep between two
 * looks that both find it awake. Asking never wakes it (the same document). 0 or a negative errno;
 * -ENOENT when it is not known.
 */
int gtel_awake_suspended(const struct gtel_env *env, const struct gtel_awake *awake,
                         uint64_t *ret_ns);
/*
 * How long the device in that directory must be left alone until it falls asleep by itself; 0: it
 * does not, or that is not known.
 */
uint64_t gtel_awake_delay(const struct gtel_env *env, const char *device_path);
/*
 * The delay for its pauses (rest.h: gtel_rest_delay), and opens the kernel's count of those who use
 * the device, for gtel_awake_rests: there with CONFIG_PM_ADVANCED_DEBUG (kernel:
 * drivers/base/power); i915 and xe count among them what works on the GPU.
 */
uint64_t gtel_awake_rest_delay(const struct gtel_env *env, struct gtel_awake *awake,
                               const char *device_path, bool is_watched);
/* Whether it has a pause now; one in which the device is used ends. */
bool gtel_awake_rests(const struct gtel_env *env, const struct gtel_awake *awake,
                      struct gtel_rest *rest, uint64_t now_ns);

#endif
