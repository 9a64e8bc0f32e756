/* SPDX-License-Identifier: MIT */
/* What every PCI GPU of a machine has in files, whatever the sources know of it. */
#include "execd/survey.h"

#include "host/drm.h"
#include "host/fs.h"

enum { DEVICES_MAX = 4096, CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 };

static void read_file(const struct gtel_env *env, const char *path)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    (void)gtel_fs_text(env, path, buf, sizeof(buf), &text); /* reading it records it, or its lack */
}

/* Files of the device; those of its link ask the hardware. */
static void read_files(const struct gtel_env *env, const char *folder)
{
    static const char *const quiet[] = {"vendor", "device", "uevent", "power/control"};
    static const char *const awake[] = {"current_link_speed", "current_link_width",
                                        "max_link_speed", "max_link_width"};
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str status;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(quiet); i++)
        read_file(env, GTEL_FS_AT("%s/%s", folder, quiet[i]));
    if (gtel_fs_text(env, GTEL_FS_AT("%s/power/runtime_status", folder), buf, sizeof(buf),
                     &status) < 0 ||
        !gtel_str_eq(status, GTEL_STR("active")))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(awake); i++)
        read_file(env, GTEL_FS_AT("%s/%s", folder, awake[i]));
}

static void write_unread(const struct gtel_env *env, const char *folder, struct gtel_str name,
                         struct gtel_buf *out)
{
    char buf[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    uint64_t vendor = 0;
    uint64_t device = 0;
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/vendor", folder), &vendor); /* stays 0: not known */
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/device", folder), &device); /* the same */
    gtel_buf_printf(out, "GPU %.*s (%04x:%04x", GTEL_STR_ARG(name), (unsigned)vendor,
                    (unsigned)device);
    if (gtel_fs_link_name(env, GTEL_FS_AT("%s/driver", folder), buf, sizeof(buf), &driver) < 0)
        gtel_buf_str(out, GTEL_STR(", no driver): its PCI device is in the file; it has no values "
                                   "without a driver\n"));
    else if (gtel_str_eq(driver, GTEL_STR("nvidia")))
        gtel_buf_str(out, GTEL_STR(", driver nvidia): its PCI device, power state and driver "
                                   "version are in the file; its values are answers of NVML, "
                                   "which are not\n"));
    else
        gtel_buf_printf(out,
                        ", driver %.*s): its PCI device and power state are in the file; no source "
                        "reads this driver's values\n",
                        GTEL_STR_ARG(driver));
}

/* What NVIDIA's driver says of itself, and the nodes of all of them. */
static void read_drivers(const struct gtel_env *env)
{
    static const char *const files[] = {"proc/driver/nvidia/version", "sys/module/nvidia/version"};
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        read_file(env, files[i]);
    if (gtel_fs_list(env, "sys/class/drm", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n && i < DEVICES_MAX; i++) {
            (void)gtel_fs_exists(env, GTEL_FS_AT("sys/class/drm/%.*s/device",
                                                 GTEL_STR_ARG(names[i]))); /* the same */
        }
    gtel_arena_done(&arena);
}

void gtel_survey(const struct gtel_env *env, struct gtel_context *context, struct gtel_buf *out)
{
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    if (gtel_fs_list(env, "sys/bus/pci/devices", &arena, DEVICES_MAX, &names, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n && i < DEVICES_MAX; i++) {
        const char *folder = GTEL_FS_AT("sys/bus/pci/devices/%.*s", GTEL_STR_ARG(names[i]));
        uint64_t class = 0;
        if (gtel_fs_hex(env, GTEL_FS_AT("%s/class", folder), &class) < 0 ||
            (class >> 16 != CLASS_DISPLAY && class >> 16 != CLASS_ACCELERATOR))
            continue;
        read_files(env, folder);
        if (!gtel_context_find(context, names[i]))
            write_unread(env, folder, names[i], out);
    }
    gtel_arena_done(&arena);
    read_drivers(env);
}
