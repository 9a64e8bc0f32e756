/* SPDX-License-Identifier: MIT */
/*
 * Sensors of hwmon directories: which attributes a device has, and what they mean.
 *
 * Listing reads directory names and labels alone. The numbers of hwmon directories change between
 * boots, so a directory is found by the device it hangs below. One table serves all drivers; where
 * a driver differs from the kernel's Documentation/hwmon/sysfs-interface.rst, a row in hwmon.c has
 * its name. Values are read through kept files (host/fs.h).
 */
#ifndef GTEL_SOURCES_DRM_HWMON_H
#define GTEL_SOURCES_DRM_HWMON_H

#include "parse/hwmon_name.h"
#include "sources/drm/attr_list.h"

enum { GTEL_HWMON_ATTRIBUTES_MAX = 512, GTEL_HWMON_LABEL_MAX = 48 };

struct gtel_hwmon_attribute {
    struct gtel_hwmon_name name;
    struct gtel_str file;  /* "temp12_crit" */
    struct gtel_str label; /* of its channel; empty where the driver gives none */
};

/*
 * Writes the path of the first hwmon directory below device ("sys/…/hwmon/hwmon3") into path
 * (GTEL_FS_PATH_MAX bytes); reads no file. 0, -ENOENT, or the errno of the listing.
 */
int gtel_hwmon_folder(const struct gtel_env *env, const char *device, char *path);
/*
 * All attributes of the directory except the labels themselves, sorted by file name with numbers by
 * value; allocated in the arena. 0, -ENOMEM, or the errno of the listing or of a label that is
 * there and cannot be read.
 */
int gtel_hwmon_list(const struct gtel_env *env, struct gtel_arena *arena, const char *path,
                    struct gtel_hwmon_attribute **ret, size_t *ret_n);
/* Whether it is an MI300A, whose CPUs and GPU have one HBM (id: libdrm, data/amdgpu.ids). */
bool gtel_hwmon_is_mi300a(const struct gtel_drm_card *drm);
/*
 * Whether a device of amdgpu is an APU: an MI300A, or one with the voltage of the northbridge, in1,
 * which all others have and no card (kernel: amd/pm/amdgpu_pm.c, hwmon_attributes_visible). Reaches
 * no hardware and allocates nothing. 1, 0, or a negative errno.
 */
int gtel_hwmon_is_apu(const struct gtel_env *env, const struct gtel_drm_card *drm,
                      const char *device);
/* Adds the sensors of all hwmon directories of the card, whatever their names are. */
void gtel_hwmon_add(struct gtel_attr_list *list);

#endif
