/* SPDX-License-Identifier: MIT */
/* A machine of processes. */
#include "harness/usage_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t now(void *arg)
{
    return ((struct machine *)arg)->now_ns;
}

static int file_open(void *arg, const char *path)
{
    struct machine *machine = arg;
    struct gtel_str rest = gtel_str_of(path);
    struct gtel_str part[3] = {{0}};
    uint64_t pid = 0;
    machine->opened++;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(part); i++)
        if (!gtel_str_part(&rest, '/', &part[i]))
            return -ENOENT;
    if (gtel_str_eq(part[0], GTEL_STR("proc")) && gtel_str_u64(part[1], &pid) < 0)
        return -ENOENT;
    if (pid >= MACHINE_PIDS || !machine->process[pid].is_there)
        return -ENOENT;
    for (int i = 0; i < (int)GTEL_ARRAY_LEN(machine->open); i++) {
        if (machine->open[i].pid != 0)
            continue;
        machine->open[i].pid = (uint32_t)pid;
        (void)gtel_str_copy(machine->open[i].file, sizeof(machine->open[i].file), part[2]);
        return i;
    }
    return -EMFILE;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    const struct machine *machine = arg;
    uint32_t pid = machine->open[handle].pid;
    const char *file = machine->open[handle].file;
    const struct machine_process *process = &machine->process[pid];
    if (!process->is_there)
        return -ESRCH;
    int length = 0;
    if (strcmp(file, "stat") == 0)
        length = snprintf(buf, n,
                          "%" PRIu32 " (%s) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %" PRIu64
                          " 0 0 18446744073709551615\n",
                          pid, process->name, process->start);
    else if (strcmp(file, "cgroup") == 0)
        length = snprintf(buf, n, "%s", process->cgroup ? process->cgroup : "");
    else
        return -ENOENT;
    return length;
}

static void file_close(void *arg, int handle)
{
    struct machine *machine = arg;
    machine->open[handle].pid = 0;
}

/* The owner of proc/PID is who the process is. */
static int stat_path(void *arg, const char *path, struct gtel_stat *ret)
{
    const struct machine *machine = arg;
    struct gtel_str pid_text = gtel_str_skip(gtel_str_of(path), strlen("proc/"));
    uint64_t pid = 0;
    if (gtel_str_u64(pid_text, &pid) < 0 || pid >= MACHINE_PIDS || !machine->process[pid].is_there)
        return -ENOENT;
    *ret = (struct gtel_stat){.uid = machine->process[pid].uid};
    return 0;
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    (void)arg;
    (void)path;
    (void)buf;
    (void)n;
    return -ENOENT;
}

static int exists(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return -ENOENT;
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    (void)arg;
    (void)path;
    (void)fn;
    (void)fn_arg;
    return -ENOENT;
}

struct machine *machine_new(const char *limit, const char *tags)
{
    static const struct gtel_env_ops ops = {.monotonic_ns = now,
                                            .wall_ns = now,
                                            .file_open = file_open,
                                            .file_read = file_read,
                                            .file_close = file_close,
                                            .dir_list = dir_list,
                                            .stat = stat_path,
                                            .link_read = link_read,
                                            .exists = exists};
    struct machine *machine = calloc(1, sizeof(*machine));
    char error[200];
    if (!machine)
        return NULL;
    machine->env = (struct gtel_env){.ops = &ops, .arg = machine};
    gtel_options_init(&machine->options);
    if (gtel_option_set(&machine->options, GTEL_O_PROCESS_LIMIT, gtel_str_of(limit), error,
                        sizeof(error)) < 0 ||
        gtel_option_set(&machine->options, GTEL_O_PROCESS_TAGS, gtel_str_of(tags), error,
                        sizeof(error)) < 0)
        abort();
    for (uint32_t i = 0; i < MACHINE_DEVICES; i++)
        machine->device[i].index = i;
    gtel_usage_init(&machine->usage, &machine->env, &machine->options);
    gtel_usage_begin(&machine->usage);
    machine->batch.usage = &machine->usage;
    return machine;
}

void machine_free(struct machine *machine)
{
    gtel_usage_done(&machine->usage);
    gtel_batch_done(&machine->batch);
    free(machine);
}

struct gtel_process_id machine_begin(struct machine *machine, uint32_t pid, const char *name)
{
    struct machine_process *process = &machine->process[pid];
    uint64_t start = process->start > 0 ? process->start + 1 : pid;
    *process = (struct machine_process){.is_there = true, .start = start};
    (void)gtel_str_copy(process->name, sizeof(process->name), gtel_str_of(name));
    return machine_id(machine, pid);
}

void machine_end(struct machine *machine, uint32_t pid)
{
    machine->process[pid].is_there = false;
}

struct gtel_process_id machine_id(const struct machine *machine, uint32_t pid)
{
    return (struct gtel_process_id){pid, machine->process[pid].start};
}

void machine_add(struct machine *machine, size_t device, uint32_t pid, uint64_t memory,
                 double share)
{
    struct gtel_use use = {0};
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, memory);
    if (share >= 0) {
        use.share[GTEL_ENGINE_KIND_RENDER] = share;
        use.has_share = 1u << GTEL_ENGINE_KIND_RENDER;
    }
    gtel_usage_complete(&machine->usage, &machine->device[device], 3, 1);
    gtel_usage_add(&machine->usage, &machine->device[device], 3, 1, machine_id(machine, pid), &use);
}

void machine_gather(struct machine *machine, double seconds)
{
    gtel_batch_reset(&machine->batch);
    gtel_usage_emit(&machine->usage, &machine->batch);
    machine->now_ns += (uint64_t)(seconds * 1e9);
}

double machine_get(const struct machine *machine, size_t device, enum gtel_metric metric,
                   const char *name)
{
    for (size_t i = 0; i < machine->batch.n; i++) {
        const struct gtel_reading *reading = &machine->batch.reading[i];
        if (reading->device == &machine->device[device] && reading->metric == metric &&
            gtel_str_eq(reading->dim[0], gtel_str_of(name)))
            return gtel_reading_number(reading);
    }
    return -1;
}

double machine_sum(const struct machine *machine, size_t device, enum gtel_metric metric)
{
    double sum = 0;
    for (size_t i = 0; i < machine->batch.n; i++) {
        const struct gtel_reading *reading = &machine->batch.reading[i];
        if (reading->device == &machine->device[device] && reading->metric == metric)
            sum += gtel_reading_number(reading);
    }
    return sum;
}

size_t machine_lines(const struct machine *machine, size_t device)
{
    size_t n = 0;
    for (size_t i = 0; i < machine->batch.n; i++)
        n += machine->batch.reading[i].device == &machine->device[device] &&
             machine->batch.reading[i].metric == GTEL_M_PROCESS_COUNT;
    return n;
}
