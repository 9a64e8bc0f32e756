/* SPDX-License-Identifier: MIT */
/* Source drm_clients: who uses which GPU, from DRM fdinfo. */
#include "sources/clients/clients.h"

#include <errno.h>
#include <string.h>

/*
 * Where the context timestamp of an xe GPU has 32 bits (before Xe2), the kernel extends it when a
 * client is read: each 100 s at least (kernel: xe/xe_lrc.c).
 */
static const uint64_t keep_ns = 90000000000;
/* A first scan of many descriptors is not left to the gathers alone. */
static const uint64_t first_ns = 100000000;

static const char *const origins[] = {"DRM clients", "DRM clients and KFD", NULL};

static bool present(const struct gtel_env *env)
{
    return gtel_clients_any(env) == 0;
}

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_clients *state = p;
    int r = gtel_clients_any(env);
    if (r < 0)
        return r;
    state->env = env;
    state->may_wake = gtel_str_eq(gtel_option_text(options, GTEL_O_WAKE), GTEL_STR("always"));
    return gtel_scan_new(env, NULL, &state->scan);
}

static int discover(void *p, struct gtel_registry *registry)
{
    return gtel_clients_discover(p, registry);
}

static int scan(struct gtel_clients *state)
{
    const struct gtel_scan_hooks hooks = {.arg = state,
                                          .read = gtel_clients_read,
                                          .is_drm = gtel_clients_is_drm,
                                          .may_read = gtel_clients_may_read,
                                          .failed = gtel_clients_failed,
                                          .closed = gtel_clients_closed};
    gtel_client_table_begin(&state->table);
    return gtel_scan_gather(state->scan, &hooks);
}

static bool has_devices(const struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->device[i]->is_present)
            return true;
    return false;
}

static void begin_gather(struct gtel_clients *state, struct gtel_registry *registry,
                         struct gtel_batch *batch)
{
    uint64_t suspended_ns = gtel_env_suspended(state->env);
    uint64_t boot_ns = state->clock.last_ns + state->clock.suspended_ns;
    state->registry = registry;
    state->batch = batch;
    state->t_ns = gtel_env_now(state->env);
    state->has_searched = false;
    state->needs_discovery = false;
    batch->t_ns = state->t_ns;
    state->span = gtel_share_tick(&state->clock, state->t_ns, suspended_ns, &state->dt_ns);
    state->boot_before_ns = boot_ns;
    if (state->span == GTEL_SPAN_GAP)
        for (size_t i = 0; i < state->n; i++)
            gtel_client_table_forget_bases(&state->table, (uint32_t)i);
}

/* What a discovery has missed is looked for again: immediately, and then less and less often. */
static bool is_look_due(struct gtel_clients *state)
{
    state->missed = state->is_incomplete ? state->missed + 1 : 0;
    return (state->missed & (state->missed - 1)) == 0 && state->missed > 0;
}

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_clients *state = p;
    begin_gather(state, registry, batch);
    gtel_clients_find_returned(state);
    gtel_clients_check_devices(state, batch);
    if (!has_devices(state)) {
        gtel_scan_reset(state->scan);
        gtel_client_table_reset(&state->table);
        return state->needs_discovery ? -ENODEV : 0;
    }
    gtel_clients_read_kfd(state);
    state->scan_error = scan(state);
    if (gtel_clients_has_processes(state)) {
        gtel_clients_update_rests(state);
        gtel_clients_report(state, batch);
    }
    bool is_due = state->needs_discovery || is_look_due(state);
    return is_due && state->scan_error == 0 ? -ENODEV : state->scan_error;
}

/* Between gathers */

static uint64_t due_ns(const void *p)
{
    const struct gtel_clients *state = p;
    if (state->t_ns > 0 && has_devices(state) && gtel_scan_counts(state->scan)->is_first)
        return state->t_ns + first_ns;
    for (size_t i = 0; i < state->n; i++) {
        const struct gtel_client_device *device = state->device[i];
        bool is_kept = device->driver && device->driver->wakes && device->has_texts;
        if (device->is_present && is_kept && state->t_ns > 0)
            return state->t_ns + keep_ns;
    }
    return 0;
}

static int tick(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_clients *state = p;
    state->registry = registry;
    state->batch = batch;
    state->t_ns = gtel_env_now(state->env);
    state->is_keeping = true;
    gtel_clients_check_devices(state, batch);
    int r = has_devices(state) ? scan(state) : 0;
    state->is_keeping = false;
    return state->needs_discovery ? -ENODEV : r;
}

static void close_source(void *p)
{
    struct gtel_clients *state = p;
    gtel_clients_close_kfd(state);
    gtel_clients_close_devices(state);
    gtel_scan_free(state->scan);
    gtel_client_table_done(&state->table);
    gtel_arena_done(&state->arena);
    state->scan = NULL;
}

const struct gtel_source gtel_source_drm_clients = {
    .name = "drm_clients",
    .lane = "clients",
    .vendor = "clients",
    .summary = "GPU memory and engine time of each process, and engine use where every process "
               "can be read, from DRM fdinfo; memory, evictions and compute units of ROCm "
               "processes, from KFD",
    .needs = "Linux 5.19 or newer (memory on Intel 6.8, xe engines 6.11); CAP_SYS_PTRACE for the "
             "processes of other users",
    .seen = "not tried on hardware",
    .origins = origins,
    .state_size = sizeof(struct gtel_clients),
    .is_indirect = true,
    .has_all_engines = true, /* sums are reported only where all work of each client is known */
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = gtel_clients_diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
