/* SPDX-License-Identifier: MIT */
/* The processes of a GPU. */
#include "sources/nvidia/processes.h"

#include "base/grow.h"
#include "host/process.h"
#include "processes/usage.h"
#include "sources/nvidia/gpu.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM_FIRST = 64, /* processes */
    ENTRY_MAX = 32,  /* bytes of the longest form of an entry */
    FILL = 0xa5,
    TRIES = 4,
    LISTED_MAX = 8 * GTEL_NVML_PROCESSES_MAX, /* in all lists, whatever NVML answers */
    STARTS_MAX = 256,                         /* processes whose start is read in one gather */
    PID_MAX = 4194304                         /* proc(5), /proc/sys/kernel/pid_max */
};

/* Beyond all pids: a process of this number is counted, and has no name. */
#define FOREIGN UINT32_C(0x80000000)

typedef int(*list_fn) GTEL_NVML_PARAMS_processes;

static const uint64_t sample_ns = 2000000000; /* the driver takes one each second at least */

static int make_room(struct gtel_nvml_process_room *room, size_t n)
{
    if (n <= room->entries)
        return GTEL_NVML_SUCCESS;
    unsigned char *p = realloc(room->bytes, n * ENTRY_MAX);
    if (!p)
        return GTEL_NVML_MEMORY;
    room->bytes = p;
    room->entries = n;
    return GTEL_NVML_SUCCESS;
}

/*
 * The size of an entry. One symbol has had three forms: 16 bytes (pid, memory), 24 (with
 * instances), and 32 (with protected memory; _v3 of drivers 535.43 to 535.86; XuehaiPan/nvitop pull
 * requests 79, 89, 226). So the buffer is filled before the call, and what was written is measured.
 * 0: none of them.
 */
static size_t entry_size(const struct gtel_nvml_process_room *room, size_t n)
{
    static const size_t forms[] = {24, 16, 32};
    size_t end = room->entries * ENTRY_MAX;
    while (end > 0 && room->bytes[end - 1] == FILL)
        end--;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(forms); i++)
        if (end <= n * forms[i] && end + 8 > n * forms[i])
            return forms[i];
    return 0;
}

static struct gtel_nvml_process entry_of(const unsigned char *bytes, size_t size)
{
    struct gtel_nvml_process process = {.gpu_instance = UINT32_MAX, .compute_instance = UINT32_MAX};
    memcpy(&process.pid, bytes, sizeof(process.pid));
    memcpy(&process.bytes, bytes + 8, sizeof(process.bytes));
    if (size >= 24) {
        memcpy(&process.gpu_instance, bytes + 16, sizeof(process.gpu_instance));
        memcpy(&process.compute_instance, bytes + 20, sizeof(process.compute_instance));
    }
    return process;
}

static bool is_same(const struct gtel_nvml_process *a, const struct gtel_nvml_process *b)
{
    return a->pid == b->pid && a->gpu_instance == b->gpu_instance &&
           a->compute_instance == b->compute_instance;
}

/* Adds the entries of one list; one that repeats, in it or in another, is added once. NVML code. */
static int add_entries(struct gtel_nvml_processes *processes,
                       const struct gtel_nvml_process_room *room, size_t n)
{
    struct gtel_nvml_process_list *now = &processes->now;
    size_t size = n > 0 ? entry_size(room, n) : ENTRY_MAX;
    if (size == 0)
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    if (!gtel_grow(&now->process, &now->size, now->n + n, LISTED_MAX, sizeof(*now->process)))
        return GTEL_NVML_MEMORY;
    for (size_t i = 0; i < n; i++) {
        struct gtel_nvml_process process = entry_of(room->bytes + i * size, size);
        size_t k = 0;
        if (process.pid > PID_MAX)
            return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
        while (k < now->n && !is_same(&now->process[k], &process))
            k++;
        if (process.pid == 0) /* of a namespace that has no number for it */
            processes->hidden++;
        else if (k == now->n)
            now->process[now->n++] = process;
    }
    return GTEL_NVML_SUCCESS;
}

/* Asks for one list. NOT_SUPPORTED and the like are an empty one. An NVML code. */
static int read_list(list_fn call, struct gtel_nvml_process_room *room, struct gtel_nvml_gpu *gpu)
{
    unsigned n = 0;
    size_t wanted = ROOM_FIRST;
    int code = GTEL_NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && code == GTEL_NVML_INSUFFICIENT_SIZE; i++) {
        if (make_room(room, wanted) != GTEL_NVML_SUCCESS)
            return GTEL_NVML_MEMORY;
        n = (unsigned)room->entries;
        memset(room->bytes, FILL, room->entries * ENTRY_MAX);
        code = call(gpu->handle, &n, room->bytes);
        if (code == GTEL_NVML_INSUFFICIENT_SIZE && n > GTEL_NVML_PROCESSES_MAX)
            return GTEL_NVML_MEMORY; /* what it says can be a lie, too */
        wanted = (size_t)n + n / 4 + ROOM_FIRST;
    }
    if (code == GTEL_NVML_SUCCESS && n > room->entries)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    return code == GTEL_NVML_SUCCESS ? add_entries(&gpu->processes, room, n) : code;
}

/* All three lists. An NVML code: SUCCESS when one of them at least is there. */
static int read_lists(const struct gtel_nvml_calls *call, struct gtel_nvml_process_room *room,
                      struct gtel_nvml_gpu *gpu)
{
#define NEWEST(name)                                                                               \
    call->name##_v3 ? call->name##_v3 : call->name##_v2 ? call->name##_v2 : call->name
    const list_fn lists[] = {NEWEST(nvmlDeviceGetComputeRunningProcesses),
                             NEWEST(nvmlDeviceGetGraphicsRunningProcesses),
                             NEWEST(nvmlDeviceGetMPSComputeRunningProcesses)};
#undef NEWEST
    int result = GTEL_NVML_NOT_SUPPORTED;
    for (size_t kind = 0; kind < GTEL_ARRAY_LEN(lists); kind++) {
        list_fn list = lists[kind];
        int code = list ? read_list(list, room, gpu) : GTEL_NVML_FUNCTION_NOT_FOUND;
        bool is_absent = gtel_nvml_meaning(code) == GTEL_NVML_MEANS_ABSENT &&
                         code != GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
        if (code != GTEL_NVML_SUCCESS && !is_absent)
            return code;
        result = is_absent ? result : GTEL_NVML_SUCCESS;
    }
    return result;
}

/* Takes over when a process began, or reads it: a pid alone is given to another one later. */
static void find_starts(const struct gtel_env *env, struct gtel_nvml_processes *processes)
{
    const struct gtel_nvml_process *old = processes->before.process;
    size_t n_old = processes->before.n;
    int left = STARTS_MAX;
    size_t at = 0;
    for (size_t i = 0; i < processes->now.n; i++) {
        struct gtel_nvml_process *process = &processes->now.process[i];
        size_t tries = 0;
        while (tries < n_old && old[at].pid != process->pid) {
            at = (at + 1) % n_old; /* they mostly come in the same order */
            tries++;
        }
        if (tries < n_old)
            process->start = old[at].start;
        if (process->start == 0 && left-- > 0)
            (void)gtel_process_start(env, process->pid, &process->start);
    }
}

static struct gtel_nvml_process *find(struct gtel_nvml_processes *processes, uint32_t pid)
{
    for (size_t i = 0; i < processes->now.n; i++)
        if (processes->now.process[i].pid == pid)
            return &processes->now.process[i];
    return NULL;
}

/*
 * A sample that is old, above 100 % or of nobody is junk (NVIDIA bug 110 in Syllo/nvtop). What a
 * process does whose new sample is above 100 % is not known.
 */
static void keep_share(struct gtel_nvml_processes *processes,
                       const struct gtel_nvml_process_share *share, uint64_t since_us,
                       uint64_t *newest_us)
{
    const unsigned value[5] = {share->sm, share->encoder, share->decoder, share->jpeg, share->ofa};
    struct gtel_nvml_process *process = find(processes, share->pid);
    if (!process || share->pid == 0 || share->time_us <= since_us)
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(value); i++)
        if (value[i] > 100)
            process->share[0] = UINT8_MAX;
    if (process->share[0] > 100)
        return;
    if (share->time_us > *newest_us)
        *newest_us = share->time_us;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(value); i++)
        if (value[i] > process->share[i])
            process->share[i] = (uint8_t)value[i];
}

/* By the call of drivers before 550, which does not know of JPEG and OFA. */
static int ask_old_shares(const struct gtel_nvml_calls *call, struct gtel_nvml_device *handle,
                          struct gtel_nvml_shares *shares)
{
    struct gtel_nvml_process_sample *old = (struct gtel_nvml_process_sample *)(void *)shares->share;
    struct gtel_nvml_process_sample from;
    unsigned room = shares->n;
    if (!call->nvmlDeviceGetProcessUtilization)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    int code = call->nvmlDeviceGetProcessUtilization(handle, old, &shares->n, shares->last_us);
    for (size_t i = shares->n; code == GTEL_NVML_SUCCESS && shares->n <= room && i-- > 0;) {
        memcpy(&from, &old[i], sizeof(from)); /* they are shorter: the last one moves first */
        shares->share[i] = (struct gtel_nvml_process_share){
            from.time_us, from.pid, from.sm, from.memory, from.encoder, from.decoder, 0, 0};
    }
    return code;
}

/* Asks for the samples since the last ones, into room. An NVML code. */
static int ask_shares(const struct gtel_nvml_calls *call, struct gtel_nvml_process_room *room,
                      const struct gtel_nvml_gpu *gpu, struct gtel_nvml_shares *shares)
{
    int code = GTEL_NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && code == GTEL_NVML_INSUFFICIENT_SIZE; i++) {
        size_t size = room->entries * ENTRY_MAX / sizeof(*shares->share);
        *shares = (struct gtel_nvml_shares){
            .n = (unsigned)size,
            .last_us = gpu->processes.seen_us,
            .share = (struct gtel_nvml_process_share *)(void *)room->bytes};
        shares->version = GTEL_NVML_VERSION(*shares, 1);
        code = call->nvmlDeviceGetProcessesUtilizationInfo
                   ? call->nvmlDeviceGetProcessesUtilizationInfo(gpu->handle, shares)
                   : ask_old_shares(call, gpu->handle, shares);
        bool is_lie = shares->n > (code == GTEL_NVML_SUCCESS ? size : GTEL_NVML_PROCESSES_MAX);
        if (is_lie || (code == GTEL_NVML_INSUFFICIENT_SIZE &&
                       make_room(room, 2 * (size_t)shares->n + ROOM_FIRST) != GTEL_NVML_SUCCESS))
            return GTEL_NVML_MEMORY;
    }
    return code;
}

/* Processes without a sample have done nothing. An NVML code. */
static int read_shares(const struct gtel_nvml_calls *call, struct gtel_nvml_process_room *room,
                       struct gtel_nvml_gpu *gpu)
{
    struct gtel_nvml_processes *processes = &gpu->processes;
    struct gtel_nvml_shares shares;
    uint64_t newest_us = processes->seen_us;
    int code = ask_shares(call, room, gpu, &shares);
    for (unsigned i = 0; code == GTEL_NVML_SUCCESS && i < shares.n; i++)
        keep_share(processes, &shares.share[i], processes->seen_us, &newest_us);
    processes->seen_us = newest_us;
    return code == GTEL_NVML_NOT_FOUND ? GTEL_NVML_SUCCESS : code; /* no sample is newer */
}

/*
 * How many shares each process has in this gather. The first time only says from when on samples
 * count. No newer sample after a short time says nothing yet.
 */
static size_t update_shares(const struct gtel_nvml_library *library,
                            struct gtel_nvml_process_room *room, struct gtel_nvml_gpu *gpu,
                            uint64_t t_ns)
{
    struct gtel_nvml_processes *processes = &gpu->processes;
    bool is_first = processes->lists == GTEL_NVML_LISTS_NEW;
    bool has_any = processes->now.n > 0;
    if (gpu->is_long && !has_any && processes->lists == GTEL_NVML_LISTS_SHARES)
        processes->lists = GTEL_NVML_LISTS_NEW; /* the time of those that come begins with them */
    if (processes->lists == GTEL_NVML_LISTS_NO_SHARES || !has_any || !(is_first || gpu->is_long))
        return 0;
    uint64_t before_us = processes->seen_us;
    int code = read_shares(&library->call, room, gpu);
    bool is_known = processes->seen_us > before_us || t_ns - processes->asked_ns >= sample_ns;
    processes->asked_ns = t_ns;
    processes->lists = gtel_nvml_meaning(code) == GTEL_NVML_MEANS_ABSENT ? GTEL_NVML_LISTS_NO_SHARES
                                                                         : GTEL_NVML_LISTS_SHARES;
    if (code != GTEL_NVML_SUCCESS || is_first || !is_known)
        return 0;
    return library->call.nvmlDeviceGetProcessesUtilizationInfo ? 5 : 3;
}

/*
 * Under the driver model of Windows NVML knows processes and not their memory (NVML API reference,
 * nvmlDeviceGetComputeRunningProcesses): source wddm_clients has both. In TCC mode it is the other
 * way round.
 */
static bool has_memory(const struct gtel_nvml_processes *processes)
{
    bool has_any = false;
    for (size_t i = 0; i < processes->now.n; i++)
        has_any = has_any || processes->now.process[i].bytes != UINT64_MAX;
    return has_any;
}

static void report(struct gtel_nvml_gpu *gpu, bool is_foreign, size_t shares,
                   struct gtel_batch *batch)
{
    static const enum gtel_engine_kind kinds[] = {GTEL_ENGINE_KIND_COMPUTE, GTEL_ENGINE_KIND_ENCODE,
                                                  GTEL_ENGINE_KIND_DECODE, GTEL_ENGINE_KIND_JPEG,
                                                  GTEL_ENGINE_KIND_OFA};
    const struct gtel_nvml_processes *processes = &gpu->processes;
    if (gpu->awake.pnp.set && !has_memory(processes))
        return;
    if (!is_foreign && processes->hidden == 0)
        gtel_usage_complete(batch->usage, gpu->device, batch->source, GTEL_NVML_ORIGIN_CALL);
    for (size_t i = 0; i < processes->now.n; i++) {
        const struct gtel_nvml_process *process = &processes->now.process[i];
        struct gtel_use use = {.memory.has = 0};
        const struct gtel_process_id id = {.pid = process->pid | (is_foreign ? FOREIGN : 0),
                                           .start = process->start};
        if (process->bytes != UINT64_MAX)
            gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, process->bytes);
        for (size_t k = 0; process->share[0] <= 100 && k < shares; k++) {
            use.has_share |= 1u << kinds[k];
            use.share[kinds[k]] = process->share[k] / 1e2;
        }
        gtel_usage_add(batch->usage, gpu->device, batch->source, GTEL_NVML_ORIGIN_CALL, id, &use);
    }
}

void gtel_nvml_processes_sample(struct gtel_nvml_library *library,
                                struct gtel_nvml_process_room *room, struct gtel_nvml_gpu *gpu,
                                struct gtel_batch *batch)
{
    struct gtel_nvml_processes *processes = &gpu->processes;
    if (!batch->usage || room->pids == GTEL_NVML_PIDS_WINDOWS || batch->t_ns < processes->due_ns)
        return;
    const struct gtel_nvml_process_list now = processes->now;
    processes->now = processes->before;
    processes->before = now;
    processes->now.n = 0;
    processes->hidden = 0;
    int code = read_lists(&library->call, room, gpu);
    switch (gtel_nvml_judge(library, code)) {
    case GTEL_NVML_MEANS_FINE:
        break;
    case GTEL_NVML_MEANS_BROKEN:
        return;
    case GTEL_NVML_MEANS_ABSENT:
        processes->due_ns = batch->t_ns + GTEL_NVML_MINUTE_NS;
        return;
    default: /* a lost GPU shows in its rows */
        gtel_batch_failed(batch, gpu->device);
        return;
    }
    if (room->pids == GTEL_NVML_PIDS_OURS)
        find_starts(library->env, processes);
    size_t shares = update_shares(library, room, gpu, batch->t_ns);
    report(gpu, room->pids == GTEL_NVML_PIDS_FOREIGN, shares, batch);
}

void gtel_nvml_processes_forget(struct gtel_nvml_processes *processes)
{
    processes->now.n = processes->before.n = 0;
    processes->seen_us = 0;
    processes->lists = GTEL_NVML_LISTS_NEW;
    processes->due_ns = 0;
}

void gtel_nvml_processes_done(struct gtel_nvml_processes *processes)
{
    free(processes->now.process);
    free(processes->before.process);
    *processes = (struct gtel_nvml_processes){0};
}
