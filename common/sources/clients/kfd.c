/* SPDX-License-Identifier: MIT */
/*
 * What KFD has of the processes of ROCm, and which processes work in queues that are in no fdinfo:
 * theirs, and amdgpu's own user-mode queues.
 *
 * KFD lists the processes that have /dev/kfd open, by their numbers in the first pid namespace
 * (kernel: amd/amdkfd/kfd_process.c, kfd_create_process). That alone says nothing about use: a
 * process uses a GPU while it has VRAM there, and may work wherever it can while it has a queue.
 * What queues do is in no counter of a process: the use of the classes that they work in is not
 * known, nor is that of the GPU. What was there in the gather before counts, too.
 *
 * Files, all of the kernel's memory but the last one; none wakes the GPU (the same file):
 *
 *   proc/PID/vram_ID               bytes that the process has allocated
 *   proc/PID/stats_ID/evicted_ms   for how long its queues were stopped; grows when they go on
 *   proc/PID/stats_ID/cu_occupancy compute units that hold waves of it; counted in registers, so
 *                                  read only while the GPU is active. Not on all chips
 *   proc/PID/queues                a folder per queue. Their files are not read: kernels until 5.16
 *                                  used them after they were freed
 *
 * Of a GPU that the device cgroup hides, they and the topology answer EPERM: it is not known then.
 * The sdma_ID files are slow and not read; /dev/kfd is never opened, which would make us one of
 * these processes.
 *
 * Memory that KFD allocates belongs to the address space of the process's DRM client, whose text
 * counts it, too (kernel: amdgpu_amdkfd_gpuvm.c, kfd_mem_attach; amdgpu_vm.c), but for what is
 * shared with the CPU's address space (kfd_svm.c). So the larger of both is what there is at least.
 */
#include "sources/clients/clients.h"

#include "base/error.h"
#include "parse/kfd_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KFD "sys/class/kfd/kfd/"

enum { KFD_ORIGIN = 1, ROOM = 32 /* how many are closed together when descriptors run out */ };

/* Queues of KFD are for compute and for copies (kernel: include/uapi/linux/kfd_ioctl.h). */
static const uint32_t kfd_classes = 1u << GTEL_ENGINE_KIND_COMPUTE | 1u << GTEL_ENGINE_KIND_COPY;
/* User-mode queues are those of graphics, compute and copies (amdgpu/amdgpu_userq.c). */
static const uint32_t user_classes =
    1u << GTEL_ENGINE_KIND_RENDER | 1u << GTEL_ENGINE_KIND_COMPUTE | 1u << GTEL_ENGINE_KIND_COPY;

static bool is_kfds(const struct gtel_client_device *device)
{
    return device->is_present && device->driver->has_kfd;
}

static bool has_any_device(const struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (is_kfds(state->device[i]))
            return true;
    return false;
}

static bool is_failure(int error)
{
    return gtel_error_is_broken(error) && !gtel_error_is_refusal(error) && error != -ENODEV;
}

/* ---- what is kept open ---- */

static void close_use(struct gtel_clients *state, struct gtel_client_kfd_use *use)
{
    for (size_t f = 0; f < GTEL_CLIENT_KFD_FILES; f++) {
        state->kfd.kept -= gtel_fs_is_open(&use->file[f]) ? 1 : 0;
        gtel_fs_close(state->env, &use->file[f]);
    }
    use->absent = 0;
}

static void close_process(struct gtel_clients *state, const struct gtel_client_kfd_process *process)
{
    for (size_t n = 0; process->use && n < state->kfd.nodes; n++)
        close_use(state, &process->use[n]);
}

static void make_room(struct gtel_clients *state)
{
    struct gtel_client_kfd *kfd = &state->kfd;
    kfd->kept_max = kfd->kept > ROOM ? kfd->kept - ROOM : 0;
    for (size_t i = kfd->n; i > 0 && kfd->kept > kfd->kept_max; i--)
        close_process(state, &kfd->process[i - 1]);
}

void gtel_clients_close_kfd(struct gtel_clients *state)
{
    struct gtel_client_kfd *kfd = &state->kfd;
    for (size_t i = 0; i < kfd->n; i++) {
        close_process(state, &kfd->process[i]);
        free(kfd->process[i].use);
    }
    kfd->n = 0;
    kfd->kept_max = SIZE_MAX;
}

/* ---- nodes ---- */

/* Position of the device at a place, or -1. */
static int64_t find_device(const struct gtel_clients *state, struct gtel_pci pci)
{
    char key[GTEL_PCI_TEXT_MAX];
    for (int is_first = 0; is_first < 2; is_first++) {
        gtel_pci_print(key, &pci);
        for (size_t i = 0; i < state->n; i++)
            if (is_kfds(state->device[i]) && strcmp(state->device[i]->card.key, key) == 0)
                return (int64_t)i;
        pci.function = 0; /* of a partition (parse/kfd_node.h) */
    }
    return -1;
}

static int read_node(const struct gtel_clients *state, uint32_t number,
                     struct gtel_client_kfd_node *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_pci pci;
    uint64_t id = 0;
    gtel_fs_path(path, KFD "topology/nodes/%lu/gpu_id", (unsigned long)number);
    int r = gtel_fs_u64(state->env, path, &id);
    if (r < 0 || id == 0 || id > UINT32_MAX)
        return r < 0 ? r : -ENODATA; /* 0: a processor */
    gtel_fs_path(path, KFD "topology/nodes/%lu/properties", (unsigned long)number);
    r = gtel_fs_text(state->env, path, buf, sizeof(buf), &text);
    if (r == 0)
        r = gtel_kfd_node_pci(text, &pci);
    int64_t at = r == 0 ? find_device(state, pci) : -1;
    *ret = (struct gtel_client_kfd_node){(uint32_t)id, (uint32_t)at};
    return r < 0 ? r : at < 0 ? -ENODEV : 0;
}

static int add_node(void *arg, uint32_t number)
{
    struct gtel_clients *state = arg;
    struct gtel_client_kfd *kfd = &state->kfd;
    struct gtel_client_kfd_node node;
    int r = read_node(state, number, &node);
    if (r == 0 && kfd->nodes == GTEL_CLIENT_KFD_NODES_MAX)
        r = -E2BIG;
    if (r == 0)
        kfd->node[kfd->nodes++] = node;
    else if (r != -ENODATA && !is_failure(kfd->nodes_error))
        kfd->nodes_error = r;
    return 0;
}

/* The parameter: 1: on, 2: there are no others; -1, the default, leaves them off (amdgpu_drv.c). */
bool gtel_clients_find_kfd(struct gtel_clients *state, int hidden)
{
    const struct gtel_env *env = state->env;
    struct gtel_client_kfd *kfd = &state->kfd;
    struct gtel_client_kfd_node before[GTEL_CLIENT_KFD_NODES_MAX];
    size_t n = kfd->nodes;
    uint64_t value;
    int r = gtel_fs_u64(env, "sys/module/amdgpu/parameters/user_queue", &value);
    kfd->has_user_queues = r == 0 && value > 0;
    kfd->nodes_error = hidden;
    if (!has_any_device(state))
        return true;
    memcpy(before, kfd->node, sizeof(before));
    kfd->nodes = 0;
    r = env->ops->dir_list_from(env->arg, KFD "topology/nodes", 0, add_node, state);
    kfd->nodes_error = r < 0 && !is_failure(kfd->nodes_error) ? r : kfd->nodes_error;
    bool is_same = n == kfd->nodes && memcmp(before, kfd->node, n * sizeof(before[0])) == 0;
    if (!is_same) {
        size_t nodes = kfd->nodes;
        kfd->nodes = n; /* as many as processes have */
        gtel_clients_close_kfd(state);
        kfd->nodes = nodes;
    }
    for (size_t i = 0; i < kfd->n; i++)
        for (size_t at = 0; at < kfd->nodes && kfd->process[i].use; at++)
            kfd->process[i].use[at].absent = 0;
    return !is_failure(kfd->nodes_error);
}

/* ---- processes ---- */

/* Called for each in ascending order. */
static int add_process(void *arg, uint32_t pid)
{
    struct gtel_client_kfd *kfd = &((struct gtel_clients *)arg)->kfd;
    while (kfd->passed < kfd->n && kfd->process[kfd->passed].pid < pid)
        kfd->passed++;
    struct gtel_client_kfd_process *process = &kfd->process[kfd->passed];
    if (kfd->passed == kfd->n || process->pid != pid) {
        if (kfd->n == GTEL_CLIENT_KFD_MAX)
            return -E2BIG;
        memmove(process + 1, process, (kfd->n++ - kfd->passed) * sizeof(*process));
        *process = (struct gtel_client_kfd_process){.pid = pid};
    }
    process->is_listed = true;
    kfd->listed++;
    return 0;
}

/* One that was listed in the gather before, and is not now, stays for this gather. */
static void drop_ended(struct gtel_clients *state)
{
    struct gtel_client_kfd *kfd = &state->kfd;
    size_t kept = 0;
    for (size_t i = 0; i < kfd->n; i++) {
        struct gtel_client_kfd_process *process = &kfd->process[i];
        if (!process->is_listed)
            close_process(state, process);
        if (process->is_listed || process->was_listed)
            kfd->process[kept++] = *process;
        else
            free(process->use);
    }
    kfd->n = kept;
}

/* 0; -ENOENT when the process has no such file; or another negative errno. */
static int read_file(struct gtel_clients *state, const struct gtel_client_kfd_process *process,
                     size_t node, enum gtel_client_kfd_file which, uint64_t *ret)
{
    static const char *const paths[GTEL_CLIENT_KFD_FILES] = {KFD "proc/%lu/vram_%lu",
                                                             KFD "proc/%lu/stats_%lu/evicted_ms",
                                                             KFD "proc/%lu/stats_%lu/cu_occupancy"};
    const struct gtel_env *env = state->env;
    struct gtel_client_kfd *kfd = &state->kfd;
    struct gtel_client_kfd_use *use = &process->use[node];
    struct gtel_fs_file *file = &use->file[which];
    char path[GTEL_FS_PATH_MAX];
    int r = 0;
    if ((use->absent >> which & 1u) != 0)
        return -ENOENT;
    if (gtel_fs_is_open(file))
        return gtel_fs_read_u64(env, file, ret);
    gtel_fs_path(path, paths[which], (unsigned long)process->pid,
                 (unsigned long)kfd->node[node].id);
    if (kfd->kept < kfd->kept_max) {
        r = gtel_fs_open(env, file, path);
        kfd->kept += r == 0 ? 1 : 0;
        if (r == 0)
            return gtel_fs_read_u64(env, file, ret);
        if (r == -EMFILE || r == -ENFILE)
            make_room(state);
    }
    if (r != -ENOENT)
        r = gtel_fs_u64(env, path, ret);
    use->absent |= (uint32_t)(r == -ENOENT) << which;
    return r;
}

static void read_vram(struct gtel_clients *state, const struct gtel_client_kfd_process *process,
                      size_t node)
{
    struct gtel_client_kfd_use *use = &process->use[node];
    const struct gtel_device *device = state->device[state->kfd.node[node].device]->device;
    /* The files of a process are made one after the other. */
    use->absent = process->gathers == 2 ? 0 : use->absent;
    int r = read_file(state, process, node, GTEL_CLIENT_KFD_VRAM, &use->vram);
    if (r == -ENODEV) { /* it has ended: another one may have its number */
        close_use(state, use);
        r = read_file(state, process, node, GTEL_CLIENT_KFD_VRAM, &use->vram);
    }
    use->error = r == -ENOENT ? 0 : r;
    if (is_failure(r) && device)
        gtel_batch_failed(state->batch, device);
}

static int stop(void *arg, uint32_t number)
{
    (void)arg;
    (void)number;
    return 1;
}

/* Of a process without VRAM, as on some APUs. Without an answer it may have some. */
static bool has_queues(const struct gtel_clients *state, uint32_t pid)
{
    char path[GTEL_FS_PATH_MAX];
    gtel_fs_path(path, KFD "proc/%lu/queues", (unsigned long)pid);
    return state->env->ops->dir_list_from(state->env->arg, path, 0, stop, NULL) != 0;
}

static int read_process(struct gtel_clients *state, struct gtel_client_kfd_process *process)
{
    size_t nodes = state->kfd.nodes;
    bool has_vram = false;
    if (!process->use)
        process->use = calloc(nodes + 1, sizeof(*process->use));
    if (!process->use)
        return -ENOMEM;
    process->gathers++;
    for (size_t node = 0; node < nodes; node++) {
        struct gtel_client_kfd_use *use = &process->use[node];
        use->was_used = use->vram > 0 || use->error < 0;
        use->vram = 0;
        if (process->is_listed)
            read_vram(state, process, node);
        has_vram = has_vram || use->vram > 0 || use->error < 0;
    }
    bool had_queues = process->queues == GTEL_QUEUES_PRESENT;
    process->queues = had_queues ? GTEL_QUEUES_LEFT : GTEL_QUEUES_NONE;
    if (process->is_listed && !has_vram && has_queues(state, process->pid))
        process->queues = GTEL_QUEUES_PRESENT;
    return 0;
}

void gtel_clients_read_kfd(struct gtel_clients *state)
{
    const struct gtel_env *env = state->env;
    struct gtel_client_kfd *kfd = &state->kfd;
    kfd->error = 0;
    if (!has_any_device(state)) {
        gtel_clients_close_kfd(state);
        return;
    }
    for (size_t i = 0; i < kfd->n; i++) {
        kfd->process[i].was_listed = kfd->process[i].is_listed;
        kfd->process[i].is_listed = false;
    }
    kfd->passed = kfd->listed = 0;
    int r = env->ops->dir_list_from(env->arg, KFD "proc", 0, add_process, state);
    /* Where KFD has GPUs, it has the list, too. */
    kfd->error = (r == -ENOENT || r == -ENOTDIR) && kfd->nodes == 0 ? 0 : r;
    drop_ended(state);
    for (size_t i = 0; i < kfd->n; i++) {
        r = read_process(state, &kfd->process[i]);
        kfd->error = kfd->error < 0 ? kfd->error : r;
    }
}

/* ---- whose work is in no text ---- */

/* Whether a process works on the device, or has since the gather before, or may. */
static bool works_on(const struct gtel_clients *state,
                     const struct gtel_client_kfd_process *process,
                     const struct gtel_client_device *device)
{
    const struct gtel_client_kfd *kfd = &state->kfd;
    bool has_node = false;
    if (process->queues != GTEL_QUEUES_NONE || !process->use)
        return true;
    for (size_t i = 0; i < kfd->nodes; i++) {
        const struct gtel_client_kfd_use *use = &process->use[i];
        if (state->device[kfd->node[i].device] != device)
            continue;
        has_node = true;
        if (use->vram > 0 || use->was_used || use->error < 0)
            return true;
    }
    return !has_node && kfd->nodes_error < 0;
}

static bool has_worker(const struct gtel_clients *state, const struct gtel_client_device *device)
{
    for (size_t i = 0; i < state->kfd.n; i++)
        if (works_on(state, &state->kfd.process[i], device))
            return true;
    return state->kfd.error < 0;
}

static int compare_pid(const void *key, const void *process)
{
    uint32_t pid = *(const uint32_t *)key;
    uint32_t other = ((const struct gtel_client_kfd_process *)process)->pid;
    return (pid > other) - (pid < other);
}

static bool is_worker(const struct gtel_clients *state, const struct gtel_client_device *device,
                      uint32_t pid)
{
    const struct gtel_client_kfd *kfd = &state->kfd;
    if (kfd->error < 0 || state->namespace != GTEL_NAMESPACE_HOST)
        return has_worker(state, device); /* which process it is is not known */
    const struct gtel_client_kfd_process *process =
        kfd->n > 0 ? bsearch(&pid, kfd->process, kfd->n, sizeof(*process), compare_pid) : NULL;
    return process && works_on(state, process, device);
}

/* Whether no file of KFD failed; else more may be used of the device than is in texts. */
static bool is_read(const struct gtel_clients *state)
{
    return !is_failure(state->kfd.error) && !is_failure(state->kfd.nodes_error);
}

void gtel_clients_hide(const struct gtel_clients *state, const struct gtel_client_device *device,
                       uint32_t pid, struct gtel_use *use)
{
    if (!is_kfds(device))
        return;
    use->hidden = (state->kfd.has_user_queues ? user_classes : 0) |
                  (is_worker(state, device, pid) ? kfd_classes : 0);
    if (!is_read(state))
        use->memory = (struct gtel_use_memory){0};
}

bool gtel_clients_is_hidden(const struct gtel_clients *state,
                            const struct gtel_client_device *device)
{
    return device->driver->has_kfd && (state->kfd.has_user_queues || has_worker(state, device));
}

/* ---- what they use ---- */

/* Adds up a file over a device's nodes; what one of them does not report is not known. */
static void add_files(struct gtel_clients *state, const struct gtel_client_kfd_process *process,
                      size_t device, enum gtel_client_kfd_file which, enum gtel_metric metric,
                      struct gtel_use *use)
{
    uint64_t sum = 0;
    for (size_t node = 0; node < state->kfd.nodes; node++) {
        uint64_t value = 0;
        if (state->kfd.node[node].device == device && process->use[node].vram > 0 &&
            read_file(state, process, node, which, &value) < 0)
            return;
        sum += value;
    }
    gtel_use_memory_put(&use->memory, metric, sum);
}

/* What a process uses of the device at that place. 0, -ENODATA: nothing, or it is not known. */
static int read_use(struct gtel_clients *state, const struct gtel_client_kfd_process *process,
                    size_t at, struct gtel_use *ret)
{
    const struct gtel_client_device *device = state->device[at];
    uint64_t bytes = 0;
    for (size_t node = 0; process->is_listed && node < state->kfd.nodes; node++) {
        const struct gtel_client_kfd_use *use = &process->use[node];
        if (state->kfd.node[node].device != at)
            continue;
        if (is_failure(use->error))
            return use->error;
        bytes += use->vram;
    }
    *ret = (struct gtel_use){.hidden = kfd_classes};
    if (bytes == 0)
        return -ENODATA;
    if (device->place == GTEL_PLACE_UNKNOWN)
        return -EAGAIN;
    gtel_use_memory_put(&ret->memory, GTEL_M_PROCESS_MEMORY, bytes);
    /* An APU has it in its piece of the host's memory, or outside of it. */
    if (device->place == GTEL_PLACE_OWN)
        gtel_use_memory_put(&ret->memory, GTEL_M_PROCESS_MEMORY_VRAM, bytes);
    if (state->namespace != GTEL_NAMESPACE_HOST)
        return 0;
    add_files(state, process, at, GTEL_CLIENT_KFD_EVICTED, GTEL_M_PROCESS_EVICTED, ret);
    if (device->is_read && !device->is_asleep)
        add_files(state, process, at, GTEL_CLIENT_KFD_UNITS, GTEL_M_PROCESS_COMPUTE_UNITS, ret);
    return 0;
}

static void report_device(struct gtel_clients *state, struct gtel_batch *batch, size_t at)
{
    const struct gtel_client_kfd *kfd = &state->kfd;
    struct gtel_client_device *device = state->device[at];
    struct gtel_use all = {.hidden = kfd_classes};
    uint64_t n = 0;
    bool are_pids_known = state->namespace == GTEL_NAMESPACE_HOST;
    for (size_t i = 0; i < kfd->n; i++) {
        struct gtel_pid_birth birth = {.pid = kfd->process[i].pid};
        struct gtel_use use = {0};
        int r = read_use(state, &kfd->process[i], at, &use);
        if (r == -ENODATA)
            continue;
        if (are_pids_known && gtel_scan_birth(state->scan, birth.pid, &birth) == -EAGAIN)
            r = -EAGAIN;
        if (r == 0)
            gtel_use_memory_add(&all.memory, &use.memory, n++ == 0);
        else
            gtel_clients_miss(device, GTEL_GAP_UNREAD);
        if (!are_pids_known)
            continue;
        const struct gtel_process_id process = {.pid = birth.pid, .start = birth.start};
        gtel_usage_join(batch->usage, device->device, batch->source, KFD_ORIGIN, process,
                        r == 0 ? &use : NULL);
    }
    if (!are_pids_known && n > 0)
        gtel_usage_join_unnamed(batch->usage, device->device, batch->source, KFD_ORIGIN, n, &all);
}

void gtel_clients_report_kfd(struct gtel_clients *state, struct gtel_batch *batch)
{
    for (size_t i = 0; i < state->n; i++) {
        if (is_kfds(state->device[i]) && !is_read(state))
            gtel_clients_miss(state->device[i], GTEL_GAP_UNREAD);
        else if (is_kfds(state->device[i]) && state->kfd.error == 0 && state->device[i]->device)
            report_device(state, batch, i);
    }
}
