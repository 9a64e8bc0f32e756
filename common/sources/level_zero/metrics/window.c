/* SPDX-License-Identifier: MIT */
/*
 * Measures: opens a stream, reads it, closes it, and has the driver calculate all of it in one
 * call.
 *
 * Nothing is open outside of a window, for while a stream is, the kernel keeps the GPU awake, and
 * nobody else can measure (kernel: i915_perf.c, xe_oa.c, xe_eu_stall.c).
 */
#include "sources/level_zero/metrics/state.h"

#include <stdlib.h>
#include <string.h>

#define MILLISECOND_NS UINT64_C(1000000)
#define BYTES_MAX ((size_t)64 << 20)

/*
 * Activity: the buffer of a stream takes thousands of reports, a window makes ten. Before Xe2 a
 * counter that is summed over all units can wrap within a second, so periods stay far below that.
 *
 * Stalls: sampled each 251 to 1757 clocks, as coarsely as the driver can: it uses what is nearest
 * to a period that is too long. 8192 records of a core fill within tens of milliseconds, and more
 * often than the kernel checks (5 ms) there is nothing new to read.
 */
static const struct {
    uint64_t length_ns;
    uint64_t read_ns; /* between reads */
    uint32_t period_ns;
} windows[GTEL_L0M_KINDS] = {
    [GTEL_L0M_ACTIVITY] = {100 * MILLISECOND_NS, 50 * MILLISECOND_NS, 10000000},
    [GTEL_L0M_TYPES] = {100 * MILLISECOND_NS, 50 * MILLISECOND_NS, 10000000},
    [GTEL_L0M_STALL] = {40 * MILLISECOND_NS, 10 * MILLISECOND_NS, 1000000},
};

/* A report each: the driver makes of it the least that its buffer can be. */
enum { NOTIFY_EVERY = 1024 };

/* Tries to close, some seconds with the pauses between them. */
enum { CLOSES_MAX = 4 };

/*
 * In this order: one is open in the other. A code other than SUCCESS, and its call, are of what
 * stays open.
 *
 * A stream of stalls is deleted by the driver when it is closed, whatever it answers, and another
 * one may be opened: a second call would be one through freed memory (compute-runtime:
 * IpSamplingMetricStreamerImp::close). A stream of activity stays as it is.
 */
static uint32_t close_all(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile,
                          const char **ret_call)
{
    struct gtel_l0m_open *open = &tile->open;
    uint32_t code = GTEL_ZE_SUCCESS;
    *ret_call = "zetMetricStreamerClose";
    if (open->stream)
        code = l0m->call.zetMetricStreamerClose(open->stream);
    if (code != GTEL_ZE_SUCCESS && !open->is_deleted_by_close)
        return code;
    open->stream = NULL;
    *ret_call = "zetContextActivateMetricGroups";
    code = GTEL_ZE_SUCCESS;
    if (open->is_active)
        code = l0m->call.zetContextActivateMetricGroups(open->context, tile->handle, 0, NULL);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    open->is_active = false;
    *ret_call = "zeContextDestroy";
    if (open->context)
        code = l0m->call.zeContextDestroy(open->context);
    open->context = code == GTEL_ZE_SUCCESS ? NULL : open->context;
    open->is_closing = code != GTEL_ZE_SUCCESS;
    return code;
}

/* What is not closed stays unavailable to all others: it is closed again immediately, and later. */
static void close_window(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile)
{
    const char *call;
    if (tile->open.stream && !tile->open.is_closing)
        tile->held_ns += gtel_env_now(l0m->lz.cards.env) - tile->opened_ns;
    tile->open.is_closing = true;
    if (close_all(l0m, tile, &call) != GTEL_ZE_SUCCESS)
        (void)close_all(l0m, tile, &call);
    free(tile->raw);
    tile->raw = NULL;
    tile->size = 0;
    tile->n = 0;
    tile->has_dropped = false;
}

bool gtel_l0m_is_stuck(const struct gtel_l0m_tile *tile)
{
    return tile->failed_closes >= CLOSES_MAX;
}

void gtel_l0m_release(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile)
{
    close_window(l0m, tile);
    if (tile->is_enabled && l0m->call.zetDeviceDisableMetricsExp)
        (void)l0m->call.zetDeviceDisableMetricsExp(tile->handle);
    *tile = (struct gtel_l0m_tile){0};
}

/* Room for what one window can bring: at each read as much as the driver's buffer holds. */
static uint32_t make_room(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile)
{
    size_t capacity = 0;
    uint32_t code =
        l0m->call.zetMetricStreamerReadData(tile->open.stream, UINT32_MAX, &capacity, NULL);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (capacity == 0)
        return GTEL_L0M_BAD_DATA;
    size_t reads = (size_t)(windows[tile->kind].length_ns / windows[tile->kind].read_ns) + 1;
    tile->size = capacity < BYTES_MAX / reads ? capacity * reads : BYTES_MAX;
    tile->raw = malloc(tile->size); /* touched only as far as data comes */
    return tile->raw ? GTEL_ZE_SUCCESS : GTEL_ZE_OUT_OF_HOST_MEMORY;
}

static uint32_t open_window(struct gtel_l0m *l0m, struct gtel_l0m_tile *tile, const char **call)
{
    struct gtel_l0m_meter *meter = &tile->meter[tile->kind];
    const struct gtel_ze_context_desc context = {.head.type = GTEL_ZE_TYPE_CONTEXT_DESC};
    struct gtel_zet_streamer_desc desc = {.head.type = GTEL_ZET_TYPE_STREAMER_DESC,
                                          .notify_every = NOTIFY_EVERY,
                                          .period = windows[tile->kind].period_ns};
    uint32_t code = tile->open.is_closing ? close_all(l0m, tile, call) : GTEL_ZE_SUCCESS;
    tile->failed_closes = code == GTEL_ZE_SUCCESS ? 0 : tile->failed_closes + 1;
    if (code != GTEL_ZE_SUCCESS)
        return code;
    *call = "zeContextCreate";
    code = l0m->call.zeContextCreate(tile->driver, &context, &tile->open.context);
    if (code != GTEL_ZE_SUCCESS) {
        tile->open.context = NULL;
        return code;
    }
    *call = "zetContextActivateMetricGroups";
    code = l0m->call.zetContextActivateMetricGroups(tile->open.context, tile->handle, 1,
                                                    &meter->group);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    tile->open.is_active = true;
    tile->open.is_deleted_by_close = tile->kind == GTEL_L0M_STALL;
    *call = "zetMetricStreamerOpen";
    code = l0m->call.zetMetricStreamerOpen(tile->open.context, tile->handle, meter->group, &desc,
                                           NULL, &tile->open.stream);
    if (code != GTEL_ZE_SUCCESS) {
        tile->open.stream = NULL;
        return code;
    }
    tile->opened_ns = gtel_env_now(l0m->lz.cards.env);
    *call = "zetMetricStreamerReadData";
    return tile->open.stream ? make_room(l0m, tile) : GTEL_L0M_BAD_DATA;
}

static uint32_t read_once(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile, size_t *ret_n)
{
    size_t n = tile->size - tile->n;
    uint32_t code =
        l0m->call.zetMetricStreamerReadData(tile->open.stream, UINT32_MAX, &n, tile->raw + tile->n);
    *ret_n = 0;
    if (code != GTEL_ZE_SUCCESS && code != GTEL_ZET_DROPPED_DATA)
        return code;
    if (n > tile->size - tile->n)
        return GTEL_L0M_BAD_DATA;
    *ret_n = n;
    tile->n += n;
    return code;
}

/* Samples of stalls that were lost are reported by a read without data; the next one has some. */
static uint32_t read_window(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile)
{
    size_t n = 0;
    if (tile->n == tile->size) {
        tile->has_dropped = true;
        return GTEL_ZE_SUCCESS;
    }
    uint32_t code = read_once(l0m, tile, &n);
    bool has_dropped = code == GTEL_ZET_DROPPED_DATA;
    tile->has_dropped = tile->has_dropped || has_dropped;
    if (has_dropped && n == 0)
        code = read_once(l0m, tile, &n);
    return code == GTEL_ZET_DROPPED_DATA ? GTEL_ZE_SUCCESS : code;
}

/* Of a type that there is not: what the driver does not write is no value. */
static struct gtel_zet_value *make_values(uint32_t n)
{
    struct gtel_zet_value *value = calloc(n, sizeof(*value));
    for (uint32_t i = 0; value && i < n; i++)
        value[i].type = UINT32_MAX;
    return value;
}

/* sets: NULL, or how many, for data that span tiles; their reports are as many more of a kind. */
static uint32_t calculate_once(const struct gtel_l0m *l0m, const struct gtel_l0m_tile *tile,
                               uint32_t *sets, uint32_t *n, struct gtel_zet_value *ret)
{
    uint32_t counts[GTEL_L0M_TILES_MAX] = {0};
    void *group = tile->meter[tile->kind].group;
    return sets ? l0m->call.zetMetricGroupCalculateMultipleMetricValuesExp(
                      group, GTEL_ZET_METRIC_VALUES, tile->n, tile->raw, sets, n,
                      ret ? counts : NULL, ret)
                : l0m->call.zetMetricGroupCalculateMetricValues(group, GTEL_ZET_METRIC_VALUES,
                                                                tile->n, tile->raw, n, ret);
}

/*
 * All bytes in one call: a report is the difference to the one before it. *ret is allocated.
 *
 * Values that come with the warning that samples were lost are good ones: EU stalls of Ponte
 * Vecchio do, where a record says so (level zero: WARNING_DROPPED_DATA; compute-runtime: IP
 * sampling).
 */
static uint32_t calculate(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile,
                          struct gtel_zet_value **ret, uint32_t *ret_n)
{
    uint32_t n = 0;
    uint32_t sets = 0;
    uint32_t *of_sets = NULL;
    uint32_t code = calculate_once(l0m, tile, NULL, &n, NULL);
    if (code == GTEL_ZE_INVALID_ARGUMENT &&
        l0m->call.zetMetricGroupCalculateMultipleMetricValuesExp) {
        of_sets = &sets;
        n = 0;
        code = calculate_once(l0m, tile, of_sets, &n, NULL);
        if (code == GTEL_ZE_UNSUPPORTED_FEATURE) /* then it has refused for another reason */
            code = GTEL_ZE_INVALID_ARGUMENT;
    }
    if (code != GTEL_ZE_SUCCESS || n == 0)
        return code;
    if (n > BYTES_MAX / sizeof(**ret) || sets > GTEL_L0M_TILES_MAX)
        return GTEL_L0M_BAD_DATA;
    *ret = make_values(n);
    if (!*ret)
        return GTEL_ZE_OUT_OF_HOST_MEMORY;
    uint32_t room = n;
    code = calculate_once(l0m, tile, of_sets, &n, *ret);
    *ret_n = n < room ? n : room;
    if (code != GTEL_ZET_DROPPED_DATA)
        return code;
    tile->has_dropped = true;
    return GTEL_ZE_SUCCESS;
}

/* No data is an answer, too: no report came, or no instruction was sampled. */
static uint32_t evaluate(const struct gtel_l0m *l0m, struct gtel_l0m_tile *tile, const char **call)
{
    struct gtel_l0m_meter *meter = &tile->meter[tile->kind];
    struct gtel_zet_value *value = NULL;
    uint32_t n = 0;
    *call = "zetMetricGroupCalculateMetricValues";
    meter->result_ns = 0;
    if (tile->n == 0)
        return GTEL_ZE_SUCCESS;
    uint32_t code = calculate(l0m, tile, &value, &n);
    if (code == GTEL_ZE_SUCCESS && n % meter->columns != 0)
        code = GTEL_L0M_BAD_DATA;
    if (code == GTEL_ZE_SUCCESS && n > 0) {
        bool is_fine = tile->kind == GTEL_L0M_STALL ? gtel_l0m_read_stalls(meter, value, n)
                                                    : gtel_l0m_read_activity(meter, value, n);
        code = is_fine ? GTEL_ZE_SUCCESS : GTEL_L0M_BAD_DATA;
        if (is_fine && meter->samples > 0) {
            meter->result_ns = gtel_env_now(l0m->lz.cards.env);
            meter->is_reported = false;
            meter->has_dropped = tile->has_dropped;
        }
    }
    free(value);
    return code;
}

/* Opens the window of the next kind that can be measured, if any. */
static void open_next(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile)
{
    const char *call;
    uint64_t now = gtel_env_now(l0m->lz.cards.env);
    for (; tile->kind < GTEL_L0M_KINDS; tile->kind++) {
        struct gtel_l0m_meter *meter = &tile->meter[tile->kind];
        bool is_left = tile->kind == GTEL_L0M_STALL && gtel_l0m_leaves_stalls(gpu);
        if (!meter->group || is_left || meter->last.retry.due > now)
            continue;
        uint32_t code = open_window(l0m, tile, &call);
        if (code == GTEL_ZE_SUCCESS) {
            tile->due_ns = now + windows[tile->kind].read_ns;
            return;
        }
        close_window(l0m, tile);
        gtel_l0m_record(l0m, gpu, &meter->last, call, code);
    }
    tile->due_ns = 0;
}

/* Reads; at the end of the window, or after a failure, goes on to the next kind. */
static void go_on(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile)
{
    const char *call = "zetMetricStreamerReadData";
    struct gtel_l0m_meter *meter = &tile->meter[tile->kind];
    uint64_t now = gtel_env_now(l0m->lz.cards.env);
    uint64_t end_ns = tile->opened_ns + windows[tile->kind].length_ns;
    uint32_t code = read_window(l0m, tile);
    if (code == GTEL_ZE_SUCCESS && now < end_ns) {
        tile->due_ns = now + windows[tile->kind].read_ns;
        return;
    }
    if (code == GTEL_ZE_SUCCESS)
        code = evaluate(l0m, tile, &call);
    close_window(l0m, tile);
    gtel_l0m_record(l0m, gpu, &meter->last, call, code);
    tile->kind++;
    open_next(l0m, gpu, tile);
}

void gtel_l0m_step(struct gtel_l0m *l0m, struct gtel_l0m_gpu *gpu, struct gtel_l0m_tile *tile)
{
    if (tile->open.stream && !tile->open.is_closing) {
        go_on(l0m, gpu, tile);
        return;
    }
    tile->kind = 0;
    gtel_l0m_set_up(l0m, gpu, tile);
    if (gtel_l0m_has_group(tile))
        open_next(l0m, gpu, tile);
    else
        tile->due_ns = 0;
}
