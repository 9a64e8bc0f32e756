/* SPDX-License-Identifier: MIT */
/*
 * One reading of a GPU's rows: asks for what is due, and decides what each result code means.
 *
 * Settings are repeated until they are read again, so that their series do not flicker. What is
 * absent is not asked for again until NVML is started again, unless it has worked before: then each
 * minute, since MIG mode can be switched off.
 */
#include "sources/nvidia/gpu.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t long_period_ns = 19500000000;
/* The state of one reading. */
struct work {
    struct gtel_nvml_library *library;
    struct gtel_nvml_gpu *gpu;
    struct gtel_batch *batch;
    bool is_blocked[GTEL_NVML_GROUP_COUNT]; /* a failure that may pass: no alternative this time */
};

static bool is_over(const struct work *work)
{
    return work->library->broken != 0 || work->gpu->is_unavailable;
}

/* Whether the driver means by the row what the table says. */
static bool is_meant(const struct gtel_nvml_library *library, const struct gtel_nvml_row *row)
{
    if (row->since == 0)
        return true;
    return library->driver >= row->since && (row->before == 0 || library->driver < row->before);
}

/* Energy that is split by the shares of processes is read together with them, in long gathers. */
static bool is_split(const struct work *work, size_t i)
{
    return gtel_nvml_rows[i].metric == GTEL_M_ENERGY &&
           gtel_option_number(work->library->options, GTEL_O_PROCESS_ENERGY) > 0;
}

static bool is_due(const struct work *work, size_t i)
{
    enum gtel_nvml_group group = gtel_nvml_rows[i].group;
    size_t chosen = work->gpu->chosen[group];
    if (work->gpu->slot[i].due_ns > work->batch->t_ns ||
        (work->gpu->parent && !gtel_nvml_rows[i].is_of_instance) ||
        (is_split(work, i) && !work->gpu->is_long) || !is_meant(work->library, &gtel_nvml_rows[i]))
        return false;
    return group == GTEL_NVML_GROUP_NONE ||
           (!work->is_blocked[group] && (chosen == 0 || chosen == i + 1));
}

static void count_failure(struct work *work, size_t i, int code)
{
    struct gtel_nvml_gpu *gpu = work->gpu;
    gtel_batch_failed(work->batch, gpu->device);
    if (gpu->failed++ == 0) {
        gpu->first = gtel_nvml_rows[i].call;
        gpu->first_code = code;
    }
}

static void log_denial(struct work *work, size_t i)
{
    if (work->gpu->has_denied)
        return;
    work->gpu->has_denied = true;
    gtel_log(&work->library->env->log, GTEL_LOG_INFO,
             "%s: %s is not permitted; run with more rights, or in a container with the device "
             "nodes, to see it",
             work->gpu->device->key, gtel_nvml_rows[i].call);
}

static void keep_answer(struct work *work, size_t i, const struct gtel_nvml_answer *answer)
{
    const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
    struct gtel_nvml_slot *slot = &work->gpu->slot[i];
    slot->answer = *answer;
    slot->answers++;
    uint32_t first = row->period == GTEL_NVML_SETTING ? 1 : GTEL_NVML_FIRST;
    bool is_rare = row->period != GTEL_NVML_EACH_GATHER && slot->answers >= first;
    slot->due_ns = is_rare && !is_split(work, i)
                       ? work->batch->t_ns + GTEL_NVML_MINUTE_NS -
                             (slot->answers == first ? work->gpu->turn_ns : 0)
                       : 0;
    if (row->group != GTEL_NVML_GROUP_NONE)
        work->gpu->chosen[row->group] = i + 1;
}

/*
 * In WSL, where the version of the driver is not known, the second form of memory always answers
 * UNKNOWN (XuehaiPan/nvitop pull request 30): no failure, and the first is asked.
 */
static bool is_as_in_wsl(const struct work *work, enum gtel_nvml_group group, int code)
{
    return code == GTEL_NVML_UNKNOWN && group == GTEL_NVML_GROUP_MEMORY &&
           work->library->driver == 0;
}

/* The policy. answer is valid with SUCCESS only. */
static void handle(struct work *work, size_t i, int code, const struct gtel_nvml_answer *answer)
{
    enum gtel_nvml_group group = gtel_nvml_rows[i].group;
    struct gtel_nvml_slot *slot = &work->gpu->slot[i];
    slot->answer.n = 0;
    slot->due_ns = 0;
    switch (gtel_nvml_judge(work->library, code)) {
    case GTEL_NVML_MEANS_BROKEN:
        break;
    case GTEL_NVML_MEANS_FINE:
        keep_answer(work, i, answer);
        break;
    case GTEL_NVML_MEANS_NO_GPU:
        work->gpu->is_unavailable = true;
        work->gpu->first_code = code;
        break;
    case GTEL_NVML_MEANS_ABSENT:
        slot->due_ns = slot->answers > 0 ? work->batch->t_ns + GTEL_NVML_MINUTE_NS : UINT64_MAX;
        if (code == GTEL_NVML_NO_PERMISSION)
            log_denial(work, i);
        break;
    case GTEL_NVML_MEANS_NO_VALUE:
        work->is_blocked[group] = true;
        break;
    case GTEL_NVML_MEANS_FAILURE:
        if (is_as_in_wsl(work, group, code))
            break;
        /* After UNKNOWN another form is asked, but of memory, whose forms count differently. */
        work->is_blocked[group] = code != GTEL_NVML_UNKNOWN || group == GTEL_NVML_GROUP_MEMORY;
        count_failure(work, i, code);
        break;
    }
}

/* Asks for the fields of these rows in one call. False when it was refused as a whole. */
static bool read_batch(struct work *work, const size_t *row, size_t n)
{
    struct gtel_nvml_field field[GTEL_NVML_ROWS_MAX];
    int code = gtel_nvml_read_fields(&work->library->call, work->gpu->handle, row, field, n);
    if (n > 1 && gtel_nvml_meaning(code) == GTEL_NVML_MEANS_ABSENT)
        return false;
    for (size_t k = 0; k < n && !is_over(work); k++) {
        struct gtel_nvml_answer answer;
        int own = code == GTEL_NVML_SUCCESS ? gtel_nvml_field_value(&field[k], &answer) : code;
        if (is_due(work, row[k])) /* no alternative before it in the same call has answered */
            handle(work, row[k], own, &answer);
    }
    return true;
}

/* In one call; should one of them make it fail, one by one. */
static void read_fields(struct work *work)
{
    size_t row[GTEL_NVML_ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].shape == GTEL_NVML_SHAPE_FIELD && is_due(work, i))
            row[n++] = i;
    if (n == 0 || read_batch(work, row, n))
        return;
    for (size_t k = 0; k < n && !is_over(work); k++)
        if (is_due(work, row[k]))
            (void)read_batch(work, &row[k], 1); /* a single one is handled, whatever it answers */
}

static void read_calls(struct work *work)
{
    for (size_t i = 0; i < gtel_nvml_rows_n && !is_over(work); i++) {
        const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
        struct gtel_nvml_answer answer = {0};
        if (row->shape == GTEL_NVML_SHAPE_FIELD || !is_due(work, i))
            continue;
        int code = gtel_nvml_read(&work->library->call, work->gpu->handle, row, &answer);
        handle(work, i, code, &answer);
    }
}

void gtel_nvml_gpu_log_lost(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu)
{
    if (gpu->first_code == GTEL_NVML_SUCCESS)
        gtel_log(&env->log, GTEL_LOG_WARNING, "%s: NVML does not list the GPU any more",
                 gpu->device->key);
    else
        gtel_log(&env->log, GTEL_LOG_WARNING, "%s: the GPU is lost or needs a reset (NVML code %d)",
                 gpu->device->key, gpu->first_code);
}

/* Once when readings begin to fail, and once when all work again. */
static void log_change(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu,
                       bool was_failing)
{
    if (gpu->is_unavailable && gpu->parent) /* destroyed, or its GPU says so */
        return;
    if (gpu->is_unavailable)
        gtel_nvml_gpu_log_lost(env, gpu);
    else if (gpu->failed > 0 && !was_failing)
        gtel_log(&env->log, GTEL_LOG_WARNING,
                 "%s: %" PRIu32 " readings failed, first %s with code %d", gpu->device->key,
                 gpu->failed, gpu->first, gpu->first_code);
    else if (gpu->failed == 0 && was_failing)
        gtel_log(&env->log, GTEL_LOG_INFO, "%s: all readings work again", gpu->device->key);
}

/* What takes milliseconds comes in one gather in twenty seconds, so that the others are short. */
static void choose_length(struct gtel_nvml_gpu *gpu, uint64_t now)
{
    gpu->is_long = gpu->longs < GTEL_NVML_FIRST || now - gpu->long_ns >= long_period_ns;
    if (!gpu->is_long)
        return;
    gpu->long_ns = now;
    if (++gpu->longs == GTEL_NVML_FIRST)
        gpu->long_ns -= gpu->turn_ns / 3; /* as much of 20 s as of a minute */
}

void gtel_nvml_add_awake(const struct gtel_nvml_gpu *gpu, struct gtel_batch *batch, uint64_t value)
{
    if (!gpu->awake.pnp.set)
        gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, value);
}

void gtel_nvml_gpu_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                          struct gtel_batch *batch)
{
    struct work work = {.library = library, .gpu = gpu, .batch = batch};
    bool was_failing = gpu->failed > 0;
    batch->t_ns = gtel_env_now(library->env);
    choose_length(gpu, batch->t_ns);
    gpu->failed = 0;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].period != GTEL_NVML_SETTING)
            gpu->slot[i].answer.n = 0;
    read_fields(&work);
    read_calls(&work);
    log_change(library->env, gpu, was_failing);
    if (is_over(&work))
        return;
    batch->origin = GTEL_NVML_ORIGIN_CALL;
    gtel_nvml_add_awake(gpu, batch, 1);
    gtel_nvml_emit(library->driver, gpu, batch);
    gtel_nvml_gpm_sample(library, gpu, batch);
    if (gpu->parent) /* has no links of its own */
        return;
    gtel_nvml_pcie_sample(library->env, gpu, batch);
    gtel_nvml_links_sample(library, gpu, batch);
}

void gtel_nvml_gpu_forget(struct gtel_nvml_gpu *gpu)
{
    memset(gpu->slot, 0, sizeof(gpu->slot));
    memset(gpu->chosen, 0, sizeof(gpu->chosen));
    gpu->has_denied = false;
    gpu->longs = 0;
    gtel_nvml_gpm_forget(&gpu->gpm);
    gtel_nvml_pcie_forget(&gpu->pcie);
    gpu->links = (struct gtel_nvml_links){0};
    gtel_nvml_processes_forget(&gpu->processes);
    gpu->mig.due_ns = 0;
}

void gtel_nvml_gpu_read_all(struct gtel_nvml_gpu *gpu)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gpu->slot[i].answers > 0)
            gpu->slot[i].due_ns = 0;
}

bool gtel_nvml_gpu_is_idle(const struct gtel_nvml_gpu *gpu)
{
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].form == GTEL_NVML_FORM_UTILIZATION)
            return gpu->slot[i].answer.n > 0 && gpu->slot[i].answer.u[0] == 0;
    return false;
}
