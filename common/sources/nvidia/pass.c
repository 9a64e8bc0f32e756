/* SPDX-License-Identifier: MIT */
/*
 * One pass over one GPU: ask what is due, and decide what each result code means.
 *
 * Most rows are asked for in each pass, some each minute (rows.c). Limits, error totals and other
 * settings are repeated in between, so that their series do not flicker. What answers "not here" is
 * not asked again until NVML is started again, unless it has worked before: then each minute, since
 * MIG mode can be switched off.
 */
#include "sources/nvidia/nvml.h"

#include <inttypes.h>
#include <string.h>

/* A little less than a minute, so that a clock's jitter does not skip a gather. */
static const uint64_t minute_ns = 59500000000;
/* So often in the beginning what is not repeated is asked for in each gather: a single look
 * (--once) shows its third. */
enum { FIRST_ANSWERS = 3 };

/* The state of one pass. */
struct pass {
    struct gtel_nvml *nvml;
    struct gtel_nvml_gpu *gpu;
    struct gtel_batch *batch;
    uint64_t now;
    bool is_blocked[GTEL_NVML_GROUP_COUNT]; /* a passing failure: no alternative this time */
};

/* "Not on this card, or not for us": codes after which asking again is of no use. */
static bool is_permanent(int code)
{
    switch (code) {
    case GTEL_NVML_INVALID_ARGUMENT:
    case GTEL_NVML_NOT_SUPPORTED:
    case GTEL_NVML_NO_PERMISSION:
    case GTEL_NVML_FUNCTION_NOT_FOUND:
    case GTEL_NVML_ARGUMENT_VERSION_MISMATCH: /* the older form is the next row of the group */
    case GTEL_NVML_DEPRECATED:
        return true;
    default:
        return false;
    }
}

/* "No value this time." */
static bool is_pause(int code)
{
    return code == GTEL_NVML_NOT_FOUND || code == GTEL_NVML_NO_DATA || code == GTEL_NVML_NOT_READY;
}

static bool is_over(const struct pass *pass)
{
    return pass->nvml->broken != 0 || pass->gpu->is_lost;
}

/* Whether the driver means by the row what the table says. */
static bool is_meant(const struct gtel_nvml *nvml, const struct gtel_nvml_row *row)
{
    if (row->since == 0)
        return true;
    return nvml->driver >= row->since && (row->before == 0 || nvml->driver < row->before);
}

static bool is_due(const struct pass *pass, size_t i)
{
    enum gtel_nvml_group group = gtel_nvml_rows[i].group;
    size_t chosen = pass->gpu->chosen[group];
    if (!is_meant(pass->nvml, &gtel_nvml_rows[i]))
        return false;
    if (pass->gpu->slot[i].due_ns > pass->now)
        return false;
    return group == GTEL_NVML_GROUP_NONE ||
           (!pass->is_blocked[group] && (chosen == 0 || chosen == i + 1));
}

static void count_failure(struct pass *pass, size_t i, int code)
{
    struct gtel_nvml_gpu *gpu = pass->gpu;
    gtel_batch_failed(pass->batch, gpu->device);
    if (gpu->failed++ == 0) {
        gpu->first = gtel_nvml_rows[i].call;
        gpu->first_code = code;
    }
}

static void hint_rights(struct pass *pass, size_t i)
{
    if (pass->gpu->has_denied)
        return;
    pass->gpu->has_denied = true;
    gtel_log(&pass->nvml->env->log, GTEL_LOG_INFO,
             "%s: %s is not permitted; run with more rights, or in a container with the device "
             "nodes, to see it",
             pass->gpu->device->key, gtel_nvml_rows[i].call);
}

static void settle_success(struct pass *pass, size_t i, const struct gtel_nvml_answer *answer)
{
    const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
    struct gtel_nvml_slot *slot = &pass->gpu->slot[i];
    slot->answer = *answer;
    slot->has_answer = true;
    slot->answers++;
    if (row->period == GTEL_NVML_SETTING ||
        (row->period == GTEL_NVML_EACH_MINUTE && slot->answers >= FIRST_ANSWERS))
        slot->due_ns = pass->now + minute_ns;
    else
        slot->due_ns = 0;
    if (row->group != GTEL_NVML_GROUP_NONE)
        pass->gpu->chosen[row->group] = i + 1;
}

/* The policy. answer is valid with SUCCESS only. */
static void settle(struct pass *pass, size_t i, int code, const struct gtel_nvml_answer *answer)
{
    enum gtel_nvml_group group = gtel_nvml_rows[i].group;
    struct gtel_nvml_slot *slot = &pass->gpu->slot[i];
    if (code == GTEL_NVML_SUCCESS) {
        settle_success(pass, i, answer);
        return;
    }
    slot->has_answer = false;
    slot->due_ns = 0;
    if (gtel_nvml_is_broken(code)) {
        pass->nvml->broken = code;
    } else if (gtel_nvml_is_lost(code)) {
        pass->gpu->is_lost = true;
        pass->gpu->first_code = code;
    } else if (is_permanent(code)) {
        slot->due_ns = slot->answers > 0 ? pass->now + minute_ns : UINT64_MAX;
        if (code == GTEL_NVML_NO_PERMISSION)
            hint_rights(pass, i);
    } else {
        /* In WSL the second form of memory answers UNKNOWN for good: then the first is asked. */
        pass->is_blocked[group] = code != GTEL_NVML_UNKNOWN;
        if (!is_pause(code))
            count_failure(pass, i, code);
    }
}

/* Deals with the result of a call for n fields: row[k] is the row of field[k]. */
static void settle_fields(struct pass *pass, int code, const size_t *row,
                          const struct gtel_nvml_field *field, size_t n)
{
    for (size_t k = 0; k < n && !is_over(pass); k++) {
        struct gtel_nvml_answer answer;
        int rc = code == GTEL_NVML_SUCCESS ? field[k].rc : code;
        if (!is_due(pass, row[k]))
            continue; /* an alternative before it in the same call has settled the matter */
        if (rc == GTEL_NVML_SUCCESS)
            rc = gtel_nvml_read_field(&field[k], &answer);
        settle(pass, row[k], rc, &answer);
    }
}

static int ask_fields(const struct pass *pass, struct gtel_nvml_field *field, size_t n)
{
    for (size_t k = 0; k < n; k++)
        field[k].rc = GTEL_NVML_NO_DATA; /* should the library leave one out */
    if (!pass->nvml->call.nvmlDeviceGetFieldValues)
        return GTEL_NVML_FUNCTION_NOT_FOUND;
    return pass->nvml->call.nvmlDeviceGetFieldValues(pass->gpu->handle, (int)n, field);
}

/* Asks for the fields of these rows in one call. False when it was refused as a whole. */
static bool ask_batch(struct pass *pass, const size_t *row, size_t n)
{
    struct gtel_nvml_field field[GTEL_NVML_ROWS_MAX];
    memset(field, 0, sizeof(field));
    for (size_t k = 0; k < n; k++) {
        field[k].field_id = gtel_nvml_rows[row[k]].of;
        field[k].scope_id = gtel_nvml_rows[row[k]].of_2;
    }
    int code = ask_fields(pass, field, n);
    if (n > 1 && is_permanent(code))
        return false;
    settle_fields(pass, code, row, field, n);
    return true;
}

/* In one call; should one of them make it fail, one by one. */
static void read_fields(struct pass *pass)
{
    size_t row[GTEL_NVML_ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (!gtel_nvml_rows[i].read && is_due(pass, i))
            row[n++] = i;
    if (n == 0 || ask_batch(pass, row, n))
        return;
    for (size_t k = 0; k < n && !is_over(pass); k++)
        if (is_due(pass, row[k]))
            (void)ask_batch(pass, &row[k], 1); /* a single one is settled, whatever it answers */
}

static void read_calls(struct pass *pass)
{
    for (size_t i = 0; i < gtel_nvml_rows_n && !is_over(pass); i++) {
        const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
        struct gtel_nvml_answer answer = {.n = 0};
        if (row->read && is_due(pass, i))
            settle(pass, i, row->read(pass->nvml, pass->gpu, row, &answer), &answer);
    }
}

/* Says once when readings begin to fail, and once when all work again. */
static void note_streak(const struct pass *pass)
{
    struct gtel_nvml_gpu *gpu = pass->gpu;
    const struct gtel_log *log = &pass->nvml->env->log;
    if (gpu->is_lost)
        gtel_log(log, GTEL_LOG_WARNING, "%s: the GPU is lost or needs a reset (NVML code %d)",
                 gpu->device->key, gpu->first_code);
    else if (gpu->failed > 0 && !gpu->is_failing)
        gtel_log(log, GTEL_LOG_WARNING, "%s: %" PRIu32 " readings failed, first %s with code %d",
                 gpu->device->key, gpu->failed, gpu->first, gpu->first_code);
    else if (gpu->failed == 0 && gpu->is_failing)
        gtel_log(log, GTEL_LOG_INFO, "%s: all readings work again", gpu->device->key);
    gpu->is_failing = gpu->failed > 0;
}

void gtel_nvml_pass(struct gtel_nvml *nvml, struct gtel_nvml_gpu *gpu, struct gtel_batch *batch)
{
    struct pass pass = {.nvml = nvml, .gpu = gpu, .batch = batch, .now = gtel_env_now(nvml->env)};
    batch->t_ns = pass.now;
    gpu->failed = 0;
    for (size_t i = 0; i < gtel_nvml_rows_n; i++)
        if (gtel_nvml_rows[i].period != GTEL_NVML_SETTING)
            gpu->slot[i].has_answer = false;
    read_fields(&pass);
    read_calls(&pass);
    note_streak(&pass);
}

void gtel_nvml_forget(struct gtel_nvml_gpu *gpu)
{
    memset(gpu->slot, 0, sizeof(gpu->slot));
    memset(gpu->chosen, 0, sizeof(gpu->chosen));
    gpu->has_denied = false;
    gtel_nvml_gpm_forget(gpu);
    gtel_nvml_pcie_forget(gpu);
}
