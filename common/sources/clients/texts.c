/* SPDX-License-Identifier: MIT */
/* From the text of a descriptor to what its client uses. */
#include "sources/clients/clients.h"

#include <math.h>
#include <string.h>

/* Clock ticks of start times: 100 a second, whatever the kernel's own clock (USER_HZ). */
static const uint64_t tick_ns = 10000000;

/* Whether a process did not exist yet when the last gather was made. */
static bool is_born_since(const struct gtel_clients *state, uint64_t start)
{
    uint64_t boot_ns = state->t_ns + state->clock.suspended_ns;
    bool is_known = start < UINT64_MAX / tick_ns;
    return state->span == GTEL_SPAN_WHOLE && is_known && start * tick_ns >= state->boot_before_ns &&
           start * tick_ns <= boot_ns;
}

/* Engines */

/*
 * From VCN 4 on one ring decodes and encodes, and amdgpu calls it enc (kernel: amdgpu/amdgpu_vcn.c,
 * using_unified_queue; amdgpu_fdinfo.c). The version of VCN, whose id is 12, is in the driver's
 * memory; a driver without the file is older than these chips (amdgpu_discovery.c).
 */
static enum gtel_engine_kind kind_of(const struct gtel_env *env,
                                     const struct gtel_client_device *device, struct gtel_str name)
{
    enum gtel_engine_kind kind = gtel_engine_kind_of(name);
    uint64_t major;
    if (kind != GTEL_ENGINE_KIND_ENCODE || strcmp(device->card.driver, "amdgpu") != 0 ||
        gtel_fs_u64(env, GTEL_FS_AT("%s/ip_discovery/die/0/12/0/major", device->path), &major) < 0)
        return kind;
    return major >= 4 ? GTEL_ENGINE_KIND_VIDEO : kind;
}

/* Position of an engine of that name, or -1: no room for more. */
static int find_engine(const struct gtel_env *env, struct gtel_client_device *device,
                       struct gtel_str name, size_t hint)
{
    if (hint < device->engines && gtel_str_eq(gtel_str_of(device->engine[hint].name), name))
        return (int)hint;
    for (size_t e = 0; e < device->engines; e++)
        if (gtel_str_eq(gtel_str_of(device->engine[e].name), name))
            return (int)e;
    struct gtel_client_engine *engine = &device->engine[device->engines];
    if (device->engines == GTEL_CLIENT_ENGINES_MAX ||
        !gtel_str_copy(engine->name, sizeof(engine->name), name))
        return -1;
    engine->kind = kind_of(env, device, name);
    engine->capacity = 1;
    return (int)device->engines++;
}

/* The best counter of an engine: time, where it is counted. */
static void choose_counter(const struct gtel_fdinfo_engine *from, bool is_exact,
                           struct gtel_share_counter *ret)
{
    *ret = (struct gtel_share_counter){.capacity = from->capacity, .is_lumpy = !is_exact};
    if (from->has_busy_ns) {
        ret->kind = GTEL_SHARE_TIME;
        ret->count = from->busy_ns;
    } else if (from->has_cycles && from->has_total_cycles) {
        ret->kind = GTEL_SHARE_CYCLES;
        ret->count = from->cycles;
        ret->total = from->total_cycles;
    }
}

/* Since when a client is known. */
enum age {
    AGE_FOUND, /* it may have worked before */
    AGE_BORN,  /* it did not exist at the last gather */
    AGE_KNOWN, /* it was read before */
    AGE_LATE   /* and not in the last gather: how much of its work is of this interval? */
};

struct feed {
    struct gtel_clients *state;
    struct gtel_client_device *device;
    struct gtel_client *client;
    uint64_t dt_ns; /* since the client was read last */
    enum age age;
};

static bool omits_zeros(const struct gtel_client_device *device)
{
    return device->driver->counting == GTEL_COUNTS_NO_ZEROS;
}

static void feed_engine(const struct feed *feed, size_t e, const struct gtel_share_counter *sample)
{
    struct gtel_client_engine *engine = &feed->device->engine[e];
    struct gtel_client *client = feed->client;
    struct gtel_share *share = &client->share[e];
    bool has_base = share->kind != GTEL_SHARE_NONE;
    bool was_below = share->below > 0;
    /* Where engines without work are omitted, one that is new has worked since the last time. */
    bool began = feed->age == AGE_BORN || (feed->age >= AGE_KNOWN && omits_zeros(feed->device));
    uint64_t dt_ns = feed->age >= AGE_KNOWN ? feed->dt_ns : feed->state->dt_ns;
    double value = 0;
    client->has_engine |= 1u << e;
    int r;
    if (!has_base && (began || sample->count == 0))
        r = gtel_share_born(share, sample, dt_ns, engine->total_before, &value);
    else
        r = gtel_share_feed(share, sample, feed->dt_ns, &value);
    /* While a counter stands below its base, and when it has caught up, its step is not that of the
     * interval. */
    if (r != 0 || was_below || (feed->age == AGE_LATE && value > 0)) {
        engine->used = NAN;
        client->has_worked = true;
        feed->device->work = GTEL_WORK_SOME;
        return;
    }
    client->has_share |= 1u << e;
    client->share_of[e] = value;
    engine->used += value;
    client->has_worked = client->has_worked || value > 0;
    if (value > 0)
        feed->device->work = GTEL_WORK_SOME;
}

/* What is not reported may be work, and the next count that is reported not of one interval. */
static void forget_engine(const struct feed *feed, size_t e)
{
    struct gtel_share *share = &feed->client->share[e];
    feed->client->has_worked = true; /* perhaps */
    if (share->kind != GTEL_SHARE_NONE)
        feed->device->work = GTEL_WORK_SOME;
    *share = (struct gtel_share){0};
}

/* Engines that are not in this text: of some drivers those without work. */
static void feed_omitted(const struct feed *feed, uint32_t reported)
{
    const struct gtel_share_counter zero = {.kind = GTEL_SHARE_TIME, .capacity = 1};
    for (size_t e = 0; e < feed->device->engines; e++) {
        if ((reported >> e & 1) != 0)
            continue;
        if (omits_zeros(feed->device))
            feed_engine(feed, e, &zero);
        else
            forget_engine(feed, e);
    }
}

static void read_engines(const struct feed *feed)
{
    const struct gtel_fdinfo *fdinfo = &feed->state->fdinfo;
    bool is_exact = feed->device->driver->counting == GTEL_COUNTS_EXACTLY;
    uint32_t reported = 0;
    for (size_t i = 0; i < fdinfo->engines; i++) {
        struct gtel_share_counter sample;
        if (gtel_str_eq(fdinfo->engine[i].name, GTEL_STR("cpu")))
            continue; /* v3d's queue of jobs for the processor (kernel: v3d/v3d_sched.c) */
        choose_counter(&fdinfo->engine[i], is_exact, &sample);
        int e = sample.kind != GTEL_SHARE_NONE
                    ? find_engine(feed->state->env, feed->device, fdinfo->engine[i].name, i)
                    : -1;
        if (e < 0)
            continue;
        struct gtel_client_engine *engine = &feed->device->engine[e];
        engine->capacity = sample.capacity > engine->capacity ? sample.capacity : engine->capacity;
        engine->total = sample.total > engine->total ? sample.total : engine->total;
        reported |= 1u << e;
        feed_engine(feed, (size_t)e, &sample);
    }
    feed_omitted(feed, reported);
}

static void update_client(struct gtel_clients *state, struct gtel_client_device *device,
                          struct gtel_client *client, const struct gtel_scan_text *text)
{
    uint64_t t_ns = text->t_ns;
    gtel_client_memory(&state->fdinfo, device->place, device->driver->omitted_memory,
                       &client->memory);
    client->has_share = 0;
    client->has_engine = 0;
    if (state->span == GTEL_SPAN_SHORT)
        return;
    struct feed feed = {.state = state, .device = device, .client = client};
    feed.dt_ns = client->t_ns > 0 ? t_ns - client->t_ns : 0;
    if (client->t_ns > 0)
        feed.age = client->t_ns < state->t_ns - state->dt_ns ? AGE_LATE : AGE_KNOWN;
    else if (!client->was_read && is_born_since(state, text->owner.birth.start))
        feed.age = AGE_BORN;
    client->has_worked = false;
    client->was_read = true;
    client->t_ns = t_ns;
    read_engines(&feed);
}

/* Whose a text is */

/* A device that came after the last discovery is searched for immediately, once per gather. */
static int32_t device_of(struct gtel_clients *state, const struct gtel_scan_text *text)
{
    int32_t at = gtel_clients_device(state, &state->fdinfo, text);
    if (at >= 0 || state->has_searched || state->fdinfo.pdev.n == 0)
        return at;
    state->has_searched = true;
    if (gtel_clients_discover(state, state->registry) < 0)
        state->needs_discovery = true; /* again before the next gather */
    return gtel_clients_device(state, &state->fdinfo, text);
}

/* A descriptor of the device without any line of ours: perhaps its driver never has one. */
static void mark_silent(struct gtel_clients *state, const struct gtel_scan_text *text)
{
    int64_t at = gtel_clients_node(state, text->major, text->minor);
    if (at >= 0 && state->device[at]->texts != GTEL_TEXTS_REPORT)
        state->device[at]->texts = GTEL_TEXTS_SILENT;
}

static void mark_reported(struct gtel_clients *state, struct gtel_client_device *device)
{
    bool has_lines = state->fdinfo.engines > 0 || state->fdinfo.regions > 0;
    if (device->work == GTEL_WORK_UNREAD)
        device->work = GTEL_WORK_NONE;
    if (device->texts == GTEL_TEXTS_REPORT)
        return;
    device->texts = has_lines ? GTEL_TEXTS_REPORT : GTEL_TEXTS_UNKNOWN;
    if (has_lines && !device->device)
        state->needs_discovery = true; /* a driver that is not known here: registered by that */
}

static uint32_t add_client(struct gtel_clients *state, int32_t device,
                           const struct gtel_scan_text *text)
{
    struct gtel_client_key key = {.device = device};
    key.id = state->fdinfo.has_client_id ? state->fdinfo.client_id : text->fd;
    key.pid = state->fdinfo.has_client_id ? 0 : text->owner.birth.pid;
    uint32_t number = gtel_client_table_add(&state->table, &key);
    return number != 0 ? number : UINT32_MAX;
}

/* Hooks of the scan */

bool gtel_clients_is_drm(void *arg, struct gtel_str text)
{
    struct gtel_clients *state = arg;
    return gtel_fdinfo_parse(text, &state->fdinfo) == 0;
}

uint32_t gtel_clients_read(void *arg, const struct gtel_scan_text *text)
{
    struct gtel_clients *state = arg;
    if (gtel_fdinfo_parse(text->text, &state->fdinfo) < 0) {
        mark_silent(state, text);
        return 0;
    }
    int32_t at = device_of(state, text);
    if (at == GTEL_CLIENT_FREE)
        return 0;
    if (at >= 0)
        mark_reported(state, state->device[at]);
    uint32_t number = add_client(state, at, text);
    /* A client of one of several devices is read in each gather, so that its end is known. */
    if (number == UINT32_MAX || at < 0)
        return number;
    struct gtel_client *client = gtel_client_table_get(&state->table, number);
    bool is_first = client->gather != state->table.gather;
    client->gather = state->table.gather;
    if (is_first && !state->is_keeping)
        update_client(state, state->device[at], client, text);
    return number;
}

/*
 * A text without a device number may be of any device, so it waits until none sleeps that would be
 * woken.
 */
static bool may_read_unknown(struct gtel_clients *state)
{
    bool may_read = true;
    for (size_t i = 0; i < state->n; i++) {
        struct gtel_client_device *device = state->device[i];
        if (!device->is_present || device->is_read)
            continue;
        gtel_clients_miss(device, GTEL_GAP_UNREAD);
        may_read = false;
    }
    return may_read;
}

/* A node that is not known waits, too, while it may be that of a device that was missed. */
bool gtel_clients_may_read(void *arg, const struct gtel_scan_ask *ask)
{
    struct gtel_clients *state = arg;
    const struct gtel_client *client =
        ask->client != 0 ? gtel_client_table_get(&state->table, ask->client) : NULL;
    int64_t at = gtel_clients_node(state, ask->major, ask->minor);
    if (client && client->key.device >= 0)
        return state->device[client->key.device]->is_read;
    if (at < 0)
        return ask->major != 0 ? !state->is_incomplete : may_read_unknown(state);
    struct gtel_client_device *device = state->device[at];
    if (!device->is_read)
        gtel_clients_miss(device, GTEL_GAP_UNREAD);
    return device->is_read;
}

void gtel_clients_failed(void *arg, const struct gtel_scan_ask *ask)
{
    struct gtel_clients *state = arg;
    int64_t at = gtel_clients_node(state, ask->major, ask->minor);
    if (at >= 0 && state->device[at]->device && !state->is_keeping)
        gtel_batch_failed(state->batch, state->device[at]->device);
}

void gtel_clients_closed(void *arg, uint32_t number)
{
    struct gtel_clients *state = arg;
    const struct gtel_client *client = gtel_client_table_get(&state->table, number);
    if (client->key.device >= 0 && client->has_worked)
        state->device[client->key.device]->has_closed = true;
    gtel_client_table_remove(&state->table, number);
}
