/* SPDX-License-Identifier: MIT */
/* An env around another one that makes exactly one call fail. */
#include "harness/env_fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Counts a call; true when it is the one that fails. */
static bool fails(struct env_fault *fault, enum fault_op op, const char *path)
{
    if (fault->watch && path)
        fault->watch(fault->watch_arg, op, path);
    fault->calls++;
    if (fault->calls != fault->fail_at)
        return false;
    fault->has_failed = true;
    return true;
}

static uint64_t monotonic_ns(void *arg)
{
    const struct env_fault *fault = arg;
    return fault->inner->ops->monotonic_ns(fault->inner->arg);
}

static uint64_t wall_ns(void *arg)
{
    const struct env_fault *fault = arg;
    return fault->inner->ops->wall_ns(fault->inner->arg);
}

static uint64_t suspended_ns(void *arg)
{
    const struct env_fault *fault = arg;
    return gtel_env_suspended(fault->inner);
}

static int file_open(void *arg, const char *path)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_OPEN, path))
        return fault->error;
    int handle = fault->inner->ops->file_open(fault->inner->arg, path);
    if (handle < 0)
        return handle;
    for (int i = 0; i < FAULT_HANDLES_MAX; i++) {
        if (fault->is_open[i])
            continue;
        fault->is_open[i] = true;
        fault->handle[i] = handle;
        (void)gtel_str_copy(fault->path[i], FAULT_PATH_MAX, gtel_str_of(path));
        fault->open_files++;
        return i;
    }
    fault->inner->ops->file_close(fault->inner->arg, handle);
    return -EMFILE;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    struct env_fault *fault = arg;
    if (handle < 0 || handle >= FAULT_HANDLES_MAX || !fault->is_open[handle])
        return -EBADF;
    if (fails(fault, FAULT_READ, fault->path[handle]))
        return fault->error;
    return fault->inner->ops->file_read(fault->inner->arg, fault->handle[handle], buf, n);
}

static void file_close(void *arg, int handle)
{
    struct env_fault *fault = arg;
    if (handle < 0 || handle >= FAULT_HANDLES_MAX || !fault->is_open[handle])
        return;
    fault->is_open[handle] = false;
    fault->open_files--;
    fault->inner->ops->file_close(fault->inner->arg, fault->handle[handle]);
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_LIST, path))
        return fault->error;
    return fault->inner->ops->dir_list(fault->inner->arg, path, fn, fn_arg);
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_LINK, path))
        return fault->error;
    return fault->inner->ops->link_read(fault->inner->arg, path, buf, n);
}

static int exists(void *arg, const char *path)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_EXISTS, path))
        return fault->error;
    return fault->inner->ops->exists(fault->inner->arg, path);
}

static int stat_file(void *arg, const char *path, struct gtel_stat *ret)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_STAT, path))
        return fault->error;
    return fault->inner->ops->stat(fault->inner->arg, path, ret);
}

static int dir_list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_LIST, path))
        return fault->error;
    return fault->inner->ops->dir_list_from(fault->inner->arg, path, first, fn, fn_arg);
}

static int dir_open(void *arg, const char *path)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_OPEN, path))
        return fault->error;
    int r = gtel_env_dir_open(fault->inner, path);
    fault->open_files += r >= 0 ? 1 : 0;
    return r;
}

static int dir_stat(void *arg, int handle, const char *name, struct gtel_stat *ret)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_STAT, name))
        return fault->error;
    return fault->inner->ops->dir_stat(fault->inner->arg, handle, name, ret);
}

static void dir_close(void *arg, int handle)
{
    struct env_fault *fault = arg;
    fault->open_files--;
    fault->inner->ops->dir_close(fault->inner->arg, handle);
}

static bool fails_call(void *arg, const char *name)
{
    return fails(arg, FAULT_CALL, name);
}

/* Has a played library ask before each call, or stop that. */
static void watch_player(struct env_fault *fault, void *lib, bool is_watched)
{
    void (*fn)(bool (*)(void *, const char *), void *);
    void *address = fault->inner->ops->lib_symbol(fault->inner->arg, lib, "gtel_play_watch");
    memcpy(&fn, &address, sizeof(fn));
    if (fn)
        fn(is_watched ? fails_call : NULL, fault);
}

static int lib_open(void *arg, const char *const *names, void **ret)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_LIBRARY, names[0]))
        return fault->error;
    int r = fault->inner->ops->lib_open(fault->inner->arg, names, ret);
    if (r == 0 && fault->has_players)
        watch_player(fault, *ret, true);
    return r;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_LIBRARY, name))
        return NULL;
    return fault->inner->ops->lib_symbol(fault->inner->arg, lib, name);
}

static void lib_close(void *arg, void *lib)
{
    struct env_fault *fault = arg;
    if (fault->has_players)
        watch_player(fault, lib, false);
    fault->inner->ops->lib_close(fault->inner->arg, lib);
}

/* The group of that handle, or a free place (handle < 0), or NULL. */
static struct fault_pmu *find_pmu(struct env_fault *fault, int handle)
{
    for (size_t i = 0; i < FAULT_PMUS_MAX; i++) {
        struct fault_pmu *pmu = &fault->pmu[i];
        if (handle < 0 ? !pmu->is_open : pmu->is_open && pmu->handle == handle)
            return pmu;
    }
    return NULL;
}

static int pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n, uint32_t cpu)
{
    struct env_fault *fault = arg;
    struct fault_pmu *pmu = find_pmu(fault, -1);
    fault->pmu_type = type;
    if (fails(fault, FAULT_PMU, "counters") || !pmu)
        return pmu ? fault->error : -EMFILE;
    int r = gtel_env_pmu_open(fault->inner, type, configs, n, cpu);
    if (r < 0)
        return r;
    *pmu = (struct fault_pmu){
        .is_open = true, .handle = r, .type = type, .since_ns = gtel_env_now(fault->inner)};
    fault->open_files++;
    fault->pmu_opens++;
    return r;
}

static int pmu_read(void *arg, int handle, uint64_t *values, size_t n, uint64_t *ret_enabled_ns)
{
    struct env_fault *fault = arg;
    const struct fault_pmu *pmu = find_pmu(fault, handle);
    fault->pmu_type = pmu ? pmu->type : 0;
    if (fails(fault, FAULT_PMU, "counters"))
        return fault->error;
    return fault->inner->ops->pmu_read(fault->inner->arg, handle, values, n, ret_enabled_ns);
}

static void pmu_close(void *arg, int handle)
{
    struct env_fault *fault = arg;
    struct fault_pmu *pmu = find_pmu(fault, handle);
    if (pmu) {
        uint64_t open_ns = gtel_env_now(fault->inner) - pmu->since_ns;
        pmu->is_open = false;
        fault->pmu_longest_ns = open_ns > fault->pmu_longest_ns ? open_ns : fault->pmu_longest_ns;
        fault->pmu_type = pmu->type;
        fault->pmu_open_ns = open_ns;
        if (fault->watch)
            fault->watch(fault->watch_arg, FAULT_PMU_CLOSE, "counters");
    }
    fault->open_files--;
    fault->inner->ops->pmu_close(fault->inner->arg, handle);
}

static int64_t drm_query(void *arg, const char *node, enum gtel_drm_driver driver, uint32_t item,
                         void *buf, size_t n)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_QUERY, node))
        return fault->error;
    return gtel_env_drm_query(fault->inner, node, driver, item, buf, n);
}

static int stall_open(void *arg, const char *node, uint32_t gt, uint32_t clocks)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_STALL, node))
        return fault->error;
    int r = gtel_env_stall_open(fault->inner, node, gt, clocks);
    fault->open_files += r >= 0 ? 1 : 0;
    return r;
}

static int64_t stall_read(void *arg, int handle, void *buf, size_t n)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_STALL, "stalls"))
        return fault->error;
    return fault->inner->ops->stall_read(fault->inner->arg, handle, buf, n);
}

static void stall_close(void *arg, int handle)
{
    struct env_fault *fault = arg;
    fault->open_files--;
    fault->inner->ops->stall_close(fault->inner->arg, handle);
}

static int uevent_open(void *arg)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_UEVENT, "uevents"))
        return fault->error;
    int r = gtel_env_uevent_open(fault->inner);
    fault->open_files += r >= 0 ? 1 : 0;
    return r;
}

static int64_t uevent_read(void *arg, int handle, void *buf, size_t n)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_UEVENT, "uevents"))
        return fault->error;
    return fault->inner->ops->uevent_read(fault->inner->arg, handle, buf, n);
}

static void uevent_close(void *arg, int handle)
{
    struct env_fault *fault = arg;
    fault->open_files--;
    fault->inner->ops->uevent_close(fault->inner->arg, handle);
}

static int ras_read(void *arg, const char *device, struct gtel_ras_counter *ret, size_t max,
                    size_t *ret_n)
{
    struct env_fault *fault = arg;
    char path[FAULT_PATH_MAX];
    (void)snprintf(path, sizeof(path), "drm-ras/%s/", device);
    if (fails(fault, FAULT_RAS, path))
        return fault->error;
    return gtel_env_ras_read(fault->inner, device, ret, max, ret_n);
}

static int drm_fds(void *arg, gtel_drm_fd_fn fn, void *fn_arg)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_DRM_FDS, "descriptors"))
        return fault->error;
    return gtel_env_drm_fds(fault->inner, fn, fn_arg);
}

static int child_start(void *arg, const char *const *args)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_CHILD, args[0]))
        return fault->error;
    int handle = gtel_env_child_start(fault->inner, args);
    fault->open_files += handle >= 0;
    return handle;
}

static int64_t child_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns)
{
    struct env_fault *fault = arg;
    if (fails(fault, FAULT_CHILD, "child"))
        return fault->error;
    return fault->inner->ops->child_read(fault->inner->arg, handle, buf, n, wait_ns);
}

static int child_end(void *arg, int handle)
{
    struct env_fault *fault = arg;
    fault->open_files--;
    return fault->inner->ops->child_end(fault->inner->arg, handle);
}

static const struct gtel_env_ops fault_ops = {
    .monotonic_ns = monotonic_ns,
    .wall_ns = wall_ns,
    .suspended_ns = suspended_ns,
    .file_open = file_open,
    .file_read = file_read,
    .file_close = file_close,
    .dir_list = dir_list,
    .link_read = link_read,
    .exists = exists,
    .stat = stat_file,
    .dir_list_from = dir_list_from,
    .dir_open = dir_open,
    .dir_stat = dir_stat,
    .dir_close = dir_close,
    .lib_open = lib_open,
    .lib_symbol = lib_symbol,
    .lib_close = lib_close,
    .pmu_open = pmu_open,
    .pmu_read = pmu_read,
    .pmu_close = pmu_close,
    .drm_query = drm_query,
    .stall_open = stall_open,
    .stall_read = stall_read,
    .stall_close = stall_close,
    .uevent_open = uevent_open,
    .uevent_read = uevent_read,
    .uevent_close = uevent_close,
    .ras_read = ras_read,
    .drm_fds = drm_fds,
    .child_start = child_start,
    .child_read = child_read,
    .child_end = child_end,
};

static void write_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct env_fault *fault = arg;
    fault->logs[level]++;
    (void)gtel_str_copy(fault->last_log, sizeof(fault->last_log), gtel_str_of(text));
    if (fault->said)
        fault->said(fault->watch_arg, level, text);
}

void env_fault_init(struct env_fault *fault, const struct gtel_env *inner)
{
    memset(fault, 0, sizeof(*fault));
    fault->inner = inner;
    fault->env = (struct gtel_env){.ops = &fault_ops, .arg = fault};
    fault->env.log = (struct gtel_log){.write = write_log, .arg = fault};
}

void env_fault_arm(struct env_fault *fault, uint64_t fail_at, int error)
{
    fault->calls = 0;
    fault->fail_at = fail_at;
    fault->error = error;
    fault->has_failed = false;
}
