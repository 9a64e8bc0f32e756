/* SPDX-License-Identifier: MIT */
/* Whether a device sleeps. */
#include "sources/drm/awake.h"

#include <errno.h>

enum { DELAY_MAX_MS = 3600000 };

static int watch(const struct gtel_env *env, struct gtel_awake *awake, struct gtel_str path)
{
    struct gtel_str name = gtel_str_skip(path, gtel_str_behind(path, '/'));
    return gtel_pnp_find(env, &awake->pnp, name, 0, &awake->gpu);
}

int gtel_awake_open(const struct gtel_env *env, struct gtel_awake *awake, const char *device_path)
{
    int r = gtel_fs_open(env, &awake->status, GTEL_FS_AT("%s/power/runtime_status", device_path));
    if (r == -ENOENT)
        r = watch(env, awake, gtel_str_of(device_path));
    awake->is_open = r == 0 || r == -ENOENT;
    return r == -ENOENT ? 0 : r;
}

void gtel_awake_close(const struct gtel_env *env, struct gtel_awake *awake)
{
    gtel_fs_close(env, &awake->status);
    gtel_fs_close(env, &awake->suspended);
    gtel_fs_close(env, &awake->users);
    gtel_pnp_close(env, &awake->pnp);
    awake->is_open = false;
}

int gtel_awake_look(const struct gtel_env *env, const struct gtel_awake *awake, bool *ret_asleep)
{
    char buf[32];
    struct gtel_str text;
    if (!awake->is_open)
        return -EBADF;
    *ret_asleep = false;
    if (awake->pnp.set) {
        uint32_t power = gtel_pnp_power(&awake->pnp, &awake->gpu.info);
        *ret_asleep = power > GTEL_POWER_D0;
        return power == 0 ? -EIO : 0;
    }
    if (!gtel_fs_is_open(&awake->status))
        return 0;
    int r = gtel_fs_read(env, &awake->status, buf, sizeof(buf), &text);
    if (r < 0)
        return r;
    /* "resuming" is neither: it is awake in the next gather */
    *ret_asleep = gtel_str_eq(text, GTEL_STR("suspended")) ||
                  gtel_str_eq(text, GTEL_STR("suspending")) ||
                  gtel_str_eq(text, GTEL_STR("resuming"));
    return gtel_str_eq(text, GTEL_STR("error")) ? -EIO : 0;
}

int gtel_awake_watch(const struct gtel_env *env, struct gtel_awake *awake, const char *device_path)
{
    return gtel_fs_open_optional(env, &awake->suspended,
                                 GTEL_FS_AT("%s/power/runtime_suspended_time", device_path));
}

int gtel_awake_suspended(const struct gtel_env *env, const struct gtel_awake *awake,
                         uint64_t *ret_ns)
{
    uint64_t ms;
    if (!gtel_fs_is_open(&awake->suspended))
        return -ENOENT;
    int r = gtel_fs_read_u64(env, &awake->suspended, &ms);
    if (r == 0)
        *ret_ns = ms * 1000000; /* ms: Documentation/ABI/testing/sysfs-devices-power */
    return r;
}

/* The file answers EIO, or a negative number, where autosuspend is off. */
uint64_t gtel_awake_delay(const struct gtel_env *env, const char *device_path)
{
    char buf[16];
    struct gtel_str text;
    uint64_t delay_ms;
    if (gtel_fs_text(env, GTEL_FS_AT("%s/power/control", device_path), buf, sizeof(buf), &text) <
            0 ||
        !gtel_str_eq(text, GTEL_STR("auto")))
        return 0;
    if (gtel_fs_u64(env, GTEL_FS_AT("%s/power/autosuspend_delay_ms", device_path), &delay_ms) < 0 ||
        delay_ms >= DELAY_MAX_MS)
        return 0;
    return delay_ms * 1000000;
}

uint64_t gtel_awake_rest_delay(const struct gtel_env *env, struct gtel_awake *awake,
                               const char *device_path, bool is_watched)
{
    uint64_t delay_ns = gtel_awake_delay(env, device_path);
    if (delay_ns > 0 && !gtel_fs_is_open(&awake->users))
        (void)gtel_fs_open(env, &awake->users,
                           GTEL_FS_AT("%s/power/runtime_usage", device_path)); /* may be absent */
    return gtel_rest_delay(delay_ns, is_watched || gtel_fs_is_open(&awake->users));
}

bool gtel_awake_rests(const struct gtel_env *env, const struct gtel_awake *awake,
                      struct gtel_rest *rest, uint64_t now_ns)
{
    uint64_t users = 0;
    if (!gtel_rest_is_on(rest, now_ns))
        return false;
    if (gtel_fs_read_u64(env, &awake->users, &users) < 0 || users == 0)
        return true;
    gtel_rest_end(rest, now_ns);
    return false;
}
