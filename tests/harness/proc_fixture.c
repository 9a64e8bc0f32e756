/* SPDX-License-Identifier: MIT */
/* A host with one GPU whose processes and clients live and die by calls. */
#include "harness/proc_fixture.h"

#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HANDLES = 4096, HANDLE_FIRST = 1 << 28, TICK_NS = 10000000 };

static const char machine[] =
    "link proc/self/ns/pid -> pid:[4026531836]\n"
    "file sys/devices/0000:03:00.0/uevent\n| DRIVER=i915\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "link sys/class/drm/card0 -> ../../devices/0000:03:00.0/drm/card0\n"
    "link sys/devices/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
    "link sys/class/drm/renderD128 -> ../../devices/0000:03:00.0/drm/renderD128\n"
    "link sys/devices/0000:03:00.0/drm/renderD128/device -> ../../../0000:03:00.0\nend\n";

/* "proc/PID/rest": the process of that number, or NULL. */
static const struct fake_process *find(const struct fake_proc *fake, const char *path,
                                       struct gtel_str *ret_rest)
{
    struct gtel_str text = gtel_str_of(path);
    struct gtel_str word;
    uint64_t pid;
    *ret_rest = GTEL_STR_NONE;
    if (!gtel_str_part(&text, '/', &word) || !gtel_str_eq(word, GTEL_STR("proc")) ||
        !gtel_str_part(&text, '/', &word) || gtel_str_u64(word, &pid) < 0)
        return NULL;
    *ret_rest = text;
    for (int i = 0; i < FAKE_PROCESSES; i++)
        if (fake->process[i].is_alive && fake->process[i].pid == pid)
            return &fake->process[i];
    return NULL;
}

static bool is_proc(const char *path)
{
    struct gtel_str text = gtel_str_of(path);
    return gtel_str_eq(text, GTEL_STR("proc")) ||
           (gtel_str_starts(text, GTEL_STR("proc/")) &&
            !gtel_str_starts(text, GTEL_STR("proc/self/ns")));
}

/* The client behind "fd/N" or "fdinfo/N", or NULL. */
static const struct fake_client *client_of(const struct fake_proc *fake,
                                           const struct fake_process *process, struct gtel_str rest)
{
    struct gtel_str word;
    uint64_t fd;
    if (!process || !gtel_str_part(&rest, '/', &word) || gtel_str_u64(rest, &fd) < 0 ||
        fd < FAKE_FD_FIRST || fd >= FAKE_FD_FIRST + FAKE_FDS || process->fd[fd - FAKE_FD_FIRST] < 0)
        return NULL;
    return &fake->client[process->fd[fd - FAKE_FD_FIRST]];
}

int64_t fake_proc_active_kib(const struct fake_client *client)
{
    return client->id % 8 == 7 ? -1 : (int64_t)client->memory_kib / 4;
}

static int write_text(const struct fake_proc *fake, const char *path, char *buf, size_t n)
{
    struct gtel_str rest;
    const struct fake_process *process = find(fake, path, &rest);
    const struct fake_client *client = client_of(fake, process, rest);
    if (strcmp(path, "proc/self/stat") == 0)
        return snprintf(buf, n, "99999 (gtel) S 1 1\n");
    if (process && gtel_str_eq(rest, GTEL_STR("comm")))
        return snprintf(buf, n, "worker\n");
    if (process && gtel_str_eq(rest, GTEL_STR("stat")))
        return snprintf(buf, n,
                        "%" PRIu32 " (worker) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %" PRIu64
                        " 0 0\n",
                        process->pid, process->start);
    if (!client)
        return -ENOENT;
    int64_t active_kib = fake_proc_active_kib(client);
    char active[64] = "";
    if (active_kib >= 0)
        (void)snprintf(active, sizeof(active), "drm-active-local0:\t%" PRId64 " KiB\n", active_kib);
    return snprintf(buf, n,
                    "pos:\t0\ndrm-driver:\ti915\ndrm-client-id:\t%" PRIu32 "\n"
                    "drm-pdev:\t0000:03:00.0\ndrm-resident-local0:\t%" PRIu64 " KiB\n"
                    "drm-total-local0:\t%" PRIu64 " KiB\ndrm-resident-system0:\t%" PRIu32 " KiB\n"
                    "%sdrm-engine-render:\t%" PRIu64 " ns\ndrm-engine-capacity-render:\t100\n",
                    client->id, client->memory_kib, client->memory_kib * 2, client->id, active,
                    client->reported_ns);
}

static uint64_t now(void *arg)
{
    return ((const struct fake_proc *)arg)->now_ns;
}

static uint64_t never(void *arg)
{
    (void)arg;
    return 0;
}

static int open_file(void *arg, const char *path)
{
    struct fake_proc *fake = arg;
    char buf[512];
    if (!is_proc(path))
        return fake->inner.ops->file_open(fake->inner.arg, path);
    if (write_text(fake, path, buf, sizeof(buf)) < 0)
        return -ENOENT;
    for (int i = 0; i < HANDLES; i++) {
        if (fake->path[i][0] != '\0')
            continue;
        (void)gtel_str_copy(fake->path[i], sizeof(fake->path[i]), gtel_str_of(path));
        fake->open_files++;
        return HANDLE_FIRST + i;
    }
    return -EMFILE;
}

/* A kept file of a process that has ended: there is none any more, whoever has its number. Here the
 * number decides, which is harder. */
static int64_t read_file(void *arg, int handle, void *buf, size_t n)
{
    struct fake_proc *fake = arg;
    if (handle < HANDLE_FIRST)
        return fake->inner.ops->file_read(fake->inner.arg, handle, buf, n);
    return write_text(fake, fake->path[handle - HANDLE_FIRST], buf, n);
}

static void close_file(void *arg, int handle)
{
    struct fake_proc *fake = arg;
    if (handle < HANDLE_FIRST) {
        fake->inner.ops->file_close(fake->inner.arg, handle);
        return;
    }
    fake->path[handle - HANDLE_FIRST][0] = '\0';
    fake->open_files--;
}

static int list_dir(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    const struct fake_proc *fake = arg;
    return is_proc(path) ? -ENOENT : fake->inner.ops->dir_list(fake->inner.arg, path, fn, fn_arg);
}

static int64_t read_link(void *arg, const char *path, char *buf, size_t n)
{
    const struct fake_proc *fake = arg;
    return is_proc(path) ? -ENOENT : fake->inner.ops->link_read(fake->inner.arg, path, buf, n);
}

static int is_there(void *arg, const char *path)
{
    const struct fake_proc *fake = arg;
    return fake->inner.ops->exists(fake->inner.arg, path);
}

static uint64_t count_fds(const struct fake_process *process)
{
    uint64_t n = process->ordinary;
    for (int i = 0; i < FAKE_FDS; i++)
        n += process->fd[i] >= 0;
    return n;
}

static int stat_path(void *arg, const char *path, struct gtel_stat *ret)
{
    const struct fake_proc *fake = arg;
    struct gtel_str rest;
    const struct fake_process *process = find(fake, path, &rest);
    if (!is_proc(path))
        return fake->inner.ops->stat(fake->inner.arg, path, ret);
    *ret = (struct gtel_stat){0};
    if (!process)
        return -ENOENT;
    if (rest.n == 0)
        return 0;
    ret->ino = process->ino;
    ret->size = count_fds(process);
    if (gtel_str_eq(rest, GTEL_STR("fd")))
        return 0;
    if (!client_of(fake, process, rest))
        return -ENOENT;
    ret->is_char = true;
    ret->major = 226;
    ret->minor = 128;
    return 0;
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* The living process with the lowest number of first or more, or NULL. */
static const struct fake_process *next(const struct fake_proc *fake, uint32_t first)
{
    const struct fake_process *found = NULL;
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        const struct fake_process *process = &fake->process[i];
        if (process->is_alive && process->pid >= first &&
            (!found || compare(process->pid, found->pid) < 0))
            found = process;
    }
    return found;
}

static int list_numbers(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                        void *fn_arg)
{
    const struct fake_proc *fake = arg;
    struct gtel_str rest;
    const struct fake_process *process;
    int r = 0;
    if (strcmp(path, "proc") == 0) {
        while (r == 0 && (process = next(fake, first)) != NULL) {
            first = process->pid + 1;
            r = fn(fn_arg, process->pid);
        }
        return r;
    }
    process = find(fake, path, &rest);
    if (!process)
        return -ENOENT;
    for (uint32_t i = 0; r == 0 && i < FAKE_FDS; i++)
        if (process->fd[i] >= 0 && FAKE_FD_FIRST + i >= first)
            r = fn(fn_arg, FAKE_FD_FIRST + i);
    return r;
}

static int open_dir(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return -EOPNOTSUPP;
}

bool fake_proc_init(struct fake_proc *fake)
{
    char error[200];
    *fake = (struct fake_proc){.now_ns = 1000000000};
    if (gtel_tree_parse(gtel_str_of(machine), &fake->tree, error, sizeof(error)) < 0 ||
        gtel_env_tree_init(fake->tree, true, 0, &fake->inner) < 0)
        return false;
    fake->ops = *fake->inner.ops;
    fake->ops.monotonic_ns = now;
    fake->ops.suspended_ns = never;
    fake->ops.file_open = open_file;
    fake->ops.file_read = read_file;
    fake->ops.file_close = close_file;
    fake->ops.dir_list = list_dir;
    fake->ops.dir_open = open_dir;
    fake->ops.link_read = read_link;
    fake->ops.exists = is_there;
    fake->ops.stat = stat_path;
    fake->ops.dir_list_from = list_numbers;
    fake->env = (struct gtel_env){.ops = &fake->ops, .arg = fake};
    return true;
}

void fake_proc_done(struct fake_proc *fake)
{
    gtel_env_tree_done(&fake->inner);
    gtel_tree_free(fake->tree);
}

int fake_proc_start(struct fake_proc *fake, uint32_t pid)
{
    for (int i = 0; i < FAKE_PROCESSES; i++)
        if (fake->process[i].is_alive && fake->process[i].pid == pid)
            return -1;
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        struct fake_process *process = &fake->process[i];
        if (process->is_alive)
            continue;
        *process = (struct fake_process){.is_alive = true,
                                         .pid = pid,
                                         .ino = ++fake->last_ino,
                                         .start = fake->now_ns / TICK_NS,
                                         .ordinary = 3};
        for (int f = 0; f < FAKE_FDS; f++)
            process->fd[f] = -1;
        return i;
    }
    return -1;
}

bool fake_proc_is_held(const struct fake_proc *fake, int client)
{
    for (int i = 0; i < FAKE_PROCESSES; i++)
        for (int f = 0; fake->process[i].is_alive && f < FAKE_FDS; f++)
            if (fake->process[i].fd[f] == client)
                return true;
    return false;
}

void fake_proc_set(struct fake_proc *fake, int process, int fd, int client)
{
    int before = fake->process[process].fd[fd];
    fake->process[process].fd[fd] = client;
    if (before >= 0 && !fake_proc_is_held(fake, before))
        fake->client[before].is_alive = false;
}

void fake_proc_end(struct fake_proc *fake, int process)
{
    for (int f = 0; f < FAKE_FDS; f++)
        fake_proc_set(fake, process, f, -1);
    fake->process[process].is_alive = false;
}
