/* SPDX-License-Identifier: MIT */
/* What the clients of a gather use: per process, and per engine class of each device. */
#include "sources/clients/clients.h"

#include <string.h>

/* The engines of each class. */
struct classes {
    double share[GTEL_ENGINE_KINDS];      /* of the busiest */
    uint32_t capacity[GTEL_ENGINE_KINDS]; /* of all */
    uint32_t is_known;                    /* a bit per class that has engines */
};

/*
 * Engines that have names of their own within a class are unlike (amdgpu's enc and enc_1, all that
 * is "other"), and a driver may report one only once it has worked. So the busiest counts: neither
 * a mean over those seen so far, which other processes would change, nor a sum, which would call a
 * class full while each of its engines has room. Like engines are one name with a capacity.
 */
static void add(struct classes *classes, const struct gtel_client_engine *engine, double share)
{
    enum gtel_engine_kind kind = engine->kind;
    classes->is_known |= 1u << kind;
    classes->capacity[kind] += engine->capacity;
    classes->share[kind] = share > classes->share[kind] ? share : classes->share[kind];
}

/* The engines that a client omits although they may have worked. */
static uint32_t unreported(const struct gtel_client_device *device,
                           const struct gtel_client *client)
{
    const uint32_t all = (1u << device->engines) - 1;
    bool are_idle = device->driver && device->driver->omits_zeros;
    return are_idle ? 0 : all & ~client->has_engine;
}

/* All engines or none: the busiest of a part of them would be no value of the client. */
static void sum_client(const struct gtel_client_device *device, const struct gtel_client *client,
                       struct gtel_use *use)
{
    struct classes classes = {0};
    if (client->has_share != client->has_engine || unreported(device, client) != 0)
        return;
    for (size_t e = 0; e < device->engines; e++) {
        /* One that another client was the first to report, and later than this one was read. */
        bool is_new = (client->has_share >> e & 1) == 0;
        add(&classes, &device->engine[e], is_new ? 0 : client->share_of[e]);
    }
    use->has_share = classes.is_known;
    memcpy(use->share, classes.share, sizeof(use->share));
}

/* NULL: the number is not in use, or the client may be of several devices. */
static struct gtel_client_device *device_of(const struct gtel_clients *state,
                                            const struct gtel_client *client)
{
    bool has_device = client->is_used && client->key.device != GTEL_CLIENT_NO_DEVICE;
    return has_device ? state->device[client->key.device] : NULL;
}

/*
 * Whose the client is. A counter that went back when the owner changed is that of another client,
 * which has the id now.
 */
static const struct gtel_scan_owner *update_owner(const struct gtel_clients *state, size_t i)
{
    struct gtel_client *client = &state->table.client[i];
    const struct gtel_scan_owner *owner = gtel_scan_owner(state->scan, (uint32_t)i + 1);
    if (client->owner != 0 && client->owner != owner->number && client->is_below)
        gtel_client_forget_bases(client);
    client->owner = owner->number;
    return owner;
}

/*
 * A client whose text may not be read now, or cannot be, is still there, and its process with it;
 * what that process uses of the device is not known then.
 */
static void report_client(const struct gtel_clients *state, struct gtel_batch *batch, size_t i)
{
    const struct gtel_client *client = &state->table.client[i];
    const struct gtel_client_device *device = device_of(state, client);
    struct gtel_use use = {0};
    if (!device || !device->is_present || !device->device)
        return;
    const struct gtel_scan_owner *owner = update_owner(state, i);
    if (gtel_client_is_read(&state->table, client)) {
        if (gtel_clients_is_kfd_read(state, device))
            use.memory = client->memory;
        if (state->span != GTEL_SPAN_SHORT)
            sum_client(device, client, &use);
    } else if (device->is_read) {
        gtel_batch_failed(batch, device->device);
    }
    use.hidden = gtel_clients_hidden_of(state, device, owner->birth.pid);
    const struct gtel_process_id process = {.pid = owner->birth.pid, .start = owner->birth.start};
    gtel_usage_add(batch->usage, device->device, batch->source, batch->origin, process, &use);
}

bool gtel_clients_has_processes(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = gtel_scan_counts(state->scan);
    return state->scan_error == 0 && (counts->has_init || counts->visible > 0);
}

bool gtel_clients_is_complete(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = gtel_scan_counts(state->scan);
    return state->scan_error == 0 && state->is_initial && !state->is_incomplete &&
           counts->has_init && counts->visible == counts->readable && counts->waiting == 0 &&
           counts->dropped == 0 && counts->unread == 0 &&
           (counts->has_numbers || counts->is_listed) &&
           !(counts->is_by_text && counts->asleep > 0);
}

/* Whether nothing is left to be walked: only then is it known who has no client. */
static bool is_walked(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = gtel_scan_counts(state->scan);
    return !counts->is_first && counts->waiting == 0 && counts->unread == 0 &&
           !state->is_incomplete;
}

/* Engines of which a client of this gather does not report what it did. */
static void mark_partial(struct gtel_clients *state)
{
    for (size_t i = 0; i < state->table.n; i++) {
        const struct gtel_client *client = &state->table.client[i];
        struct gtel_client_device *device = device_of(state, client);
        if (!device)
            continue;
        bool is_read = gtel_client_is_read(&state->table, client);
        uint32_t unknown = is_read ? unreported(device, client) : (1u << device->engines) - 1;
        for (size_t e = 0; unknown != 0; e++, unknown >>= 1)
            device->engine[e].is_partial = device->engine[e].is_partial || (unknown & 1) != 0;
    }
}

/*
 * The device's share of a class is the sum of its clients', each of them over the interval of this
 * gather. No more than that is known: there is no value in a gather in which the share of one
 * client is not known, or in which one was closed that was at work. What clients do that come and
 * go within an interval is not seen: the sums are a lower bound.
 */
static void report_engines(struct gtel_batch *batch, const struct gtel_client_device *device)
{
    struct classes classes = {0};
    bool is_exact = device->driver && device->driver->is_exact;
    for (size_t e = 0; e < device->engines; e++) {
        const struct gtel_client_engine *engine = &device->engine[e];
        if (engine->is_partial)
            return;
        add(&classes, engine, engine->used < 1 ? engine->used : 1);
    }
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++) {
        if ((classes.is_known >> kind & 1) == 0)
            continue;
        struct gtel_str name = gtel_engine_kind_name((enum gtel_engine_kind)kind);
        gtel_batch_f64(batch, device->device, GTEL_M_ENGINE_BUSY, name, classes.share[kind]);
        if (is_exact && kind != GTEL_ENGINE_KIND_OTHER)
            gtel_batch_u64(batch, device->device, GTEL_M_ENGINE_CAPACITY, name,
                           classes.capacity[kind]);
    }
}

/* What was not walked yet is neither readable nor not. */
static void report_counts(const struct gtel_clients *state, struct gtel_batch *batch)
{
    const struct gtel_scan_counts *counts = gtel_scan_counts(state->scan);
    if (counts->is_first) {
        gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_WAITING, GTEL_STR_NONE, counts->waiting);
        return;
    }
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_VISIBLE, GTEL_STR_NONE,
                   counts->visible - counts->unknown);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_READABLE, GTEL_STR_NONE, counts->readable);
}

/* Whether the clients of a device that were read in this gather are all that it had to do. */
static bool is_whole(const struct gtel_clients *state, const struct gtel_client_device *device)
{
    return state->span == GTEL_SPAN_WHOLE && device->is_read && !device->has_ambiguous &&
           !device->has_closed && !device->has_vfs && !gtel_clients_is_hidden(state, device);
}

void gtel_clients_report(struct gtel_clients *state, struct gtel_batch *batch)
{
    bool is_complete = gtel_clients_is_complete(state);
    bool is_through = is_walked(state);
    mark_partial(state);
    for (size_t i = 0; i < state->n; i++) {
        struct gtel_client_device *device = state->device[i];
        if (!device->is_present || !device->device)
            continue;
        if (is_complete && is_whole(state, device))
            report_engines(batch, device);
        device->has_closed = device->has_closed && state->span == GTEL_SPAN_SHORT;
    }
    for (size_t i = 0; i < state->table.n; i++)
        report_client(state, batch, i);
    gtel_clients_report_kfd(state, batch);
    for (size_t i = 0; i < state->n; i++) {
        const struct gtel_client_device *device = state->device[i];
        if (is_through && device->is_present && device->device && !device->is_silent &&
            !device->has_unread && !device->has_ambiguous &&
            gtel_clients_is_kfd_read(state, device))
            gtel_usage_complete(batch->usage, device->device, batch->source, batch->origin);
    }
    report_counts(state, batch);
}
