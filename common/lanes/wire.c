/* SPDX-License-Identifier: MIT */
/* Frames between a front end and its helpers. */
#include "lanes/wire.h"

#include "sources/source.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    NO_DEVICE = 0xffff,
    TEXT_MAX = 4096,  /* bytes of one string in a frame */
    ERROR_MAX = 4095, /* the largest errno that a Linux kernel returns */
    FLAG_DEVICE_CLOCK = 1,
    FLAG_APART = 2
};

static const uint32_t magic = 0x4c455447; /* "GTEL" */

/* Writing */

/* A number of 1, 2, 4 or 8 bytes, in the order of the machine. */
union number {
    uint8_t v1;
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;
};

static inline void put(struct gtel_buf *buf, uint64_t v, size_t n)
{
    union number number = {.v8 = v};
    if (n == 4)
        number.v4 = (uint32_t)v;
    else if (n == 2)
        number.v2 = (uint16_t)v;
    else if (n == 1)
        number.v1 = (uint8_t)v;
    gtel_buf_bytes(buf, &number, n);
}

/* Longer text is cut: names are cut before they become readings, this is the last fence. */
static void put_str(struct gtel_buf *buf, struct gtel_str s)
{
    size_t n = s.n < TEXT_MAX ? s.n : TEXT_MAX;
    put(buf, n, 2);
    gtel_buf_bytes(buf, s.p, n);
}

/* Leaves room for the length and returns where the payload begins. */
static size_t begin_frame(struct gtel_buf *buf, enum gtel_frame_type type)
{
    put(buf, magic, 4);
    put(buf, type, 4);
    put(buf, 0, 4);
    return buf->n;
}

static void end_frame(struct gtel_buf *buf, size_t start)
{
    size_t end = buf->n;
    if (buf->has_failed)
        return;
    buf->n = start - 4;
    put(buf, end - start, 4);
    buf->n = end;
}

void gtel_wire_hello(struct gtel_buf *buf, struct gtel_str version)
{
    size_t start = begin_frame(buf, GTEL_FRAME_HELLO);
    gtel_buf_str(buf, version);
    end_frame(buf, start);
}

void gtel_wire_log(struct gtel_buf *buf, uint8_t level, struct gtel_str text)
{
    size_t start = begin_frame(buf, GTEL_FRAME_LOG);
    put(buf, level, 1);
    gtel_buf_str(buf, text);
    end_frame(buf, start);
}

void gtel_wire_request(struct gtel_buf *buf, uint64_t number, bool with_findings)
{
    size_t start = begin_frame(buf, GTEL_FRAME_REQUEST);
    put(buf, number, 8);
    put(buf, with_findings, 1);
    end_frame(buf, start);
}

static void put_findings(struct gtel_buf *buf, const struct gtel_findings *findings)
{
    put(buf, findings->dropped, 4);
    put(buf, findings->n, 4);
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        put(buf, finding->device ? finding->device->index : NO_DEVICE, 2);
        put(buf, finding->measurement, 1);
        put(buf, finding->source, 1);
        put(buf, finding->lacks_plus_1, 2);
        put(buf, (uint32_t)-finding->error, 4);
        put_str(buf, finding->what);
        put_str(buf, finding->why);
        put_str(buf, finding->fix);
    }
}

static void put_devices(struct gtel_buf *buf, const struct gtel_registry *registry)
{
    put(buf, registry->n, 4);
    for (size_t i = 0; i < registry->n; i++) {
        const struct gtel_device *device = registry->device[i];
        put_str(buf, gtel_str_of(device->key));
        put(buf, device->is_present, 1);
        put(buf, device->arrivals, 4);
        for (size_t label = 0; label < GTEL_LABEL_COUNT; label++)
            put_str(buf, gtel_str_of(device->label[label]));
    }
}

static void put_failures(struct gtel_buf *buf, const struct gtel_registry *registry,
                         const struct gtel_batch *batch)
{
    uint32_t n = 0;
    for (size_t i = 0; i < registry->n; i++)
        n += batch->failed[i] != 0;
    put(buf, n, 4);
    for (size_t i = 0; i < registry->n; i++) {
        if (batch->failed[i] == 0)
            continue;
        put(buf, i, 2);
        put(buf, batch->failed[i], 4);
    }
}

/* Only of the tags that its measurement has: the rest of a reading is not touched. */
static size_t count_dims(const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    const char *const *tags = gtel_measurement_row(row->measurement)->dims;
    size_t n = 0;
    for (size_t i = 0; i < GTEL_DIMS_MAX && tags[i]; i++)
        n = reading->dim[i].n > 0 ? i + 1 : n;
    return n;
}

/*
 * The fixed part of a reading is three numbers: time, the bits of the value (0 of a text), and what
 * it is.
 */
static void put_reading(struct gtel_buf *buf, const struct gtel_reading *reading)
{
    bool is_text = reading->value_type == GTEL_VALUE_TEXT;
    uint64_t device = reading->device ? reading->device->index : NO_DEVICE;
    uint64_t flags =
        (reading->has_device_clock ? FLAG_DEVICE_CLOCK : 0) | (reading->is_apart ? FLAG_APART : 0);
    uint64_t ndims = count_dims(reading);
    put(buf, reading->t_ns, 8);
    put(buf, is_text ? 0 : reading->value.u64, 8); /* or the bits of the double */
    put(buf,
        reading->metric | device << 16 | (uint64_t)reading->source << 32 |
            (uint64_t)reading->origin << 40 | (uint64_t)reading->value_type << 48 | flags << 52 |
            ndims << 56,
        8);
    if (is_text)
        put_str(buf, reading->value.text);
    for (size_t i = 0; i < ndims; i++)
        put_str(buf, reading->dim[i]);
}

void gtel_wire_answer(struct gtel_buf *buf, const struct gtel_answer *answer,
                      const struct gtel_registry *registry, bool with_devices,
                      const struct gtel_batch *batch)
{
    size_t start = begin_frame(buf, GTEL_FRAME_ANSWER);
    put(buf, answer->request, 8);
    put(buf, answer->errors, 8);
    put(buf, answer->dropped, 8);
    put(buf, answer->rss_bytes, 8);
    put(buf, answer->needs_restart, 1);
    put(buf, with_devices, 1);
    if (with_devices)
        put_devices(buf, registry);
    put_failures(buf, registry, batch);
    put(buf, batch->n, 4);
    for (size_t i = 0; i < batch->n; i++)
        put_reading(buf, &batch->reading[i]);
    const struct gtel_findings none = {0};
    put_findings(buf, batch->findings ? batch->findings : &none);
    end_frame(buf, start);
}

/* Reading */

/*
 * All take from the front of what is left, which has no pointer once the bytes ended too early, or
 * held nonsense: zeros and empty texts come from there.
 */

static inline uint64_t take(struct gtel_str *rest, size_t n)
{
    union number number = {.v8 = 0};
    if (rest->n < n) {
        *rest = GTEL_STR_NONE;
        return 0;
    }
    memcpy(&number, rest->p, n);
    *rest = gtel_str_skip(*rest, n);
    return n == 8 ? number.v8 : n == 4 ? number.v4 : n == 2 ? number.v2 : number.v1;
}

static struct gtel_str take_str(struct gtel_str *rest)
{
    size_t n = (size_t)take(rest, 2);
    if (n > TEXT_MAX || n > rest->n) {
        *rest = GTEL_STR_NONE;
        return GTEL_STR_NONE;
    }
    struct gtel_str s = {rest->p, n};
    *rest = gtel_str_skip(*rest, n);
    return s;
}

int gtel_frame_next(struct gtel_str bytes, struct gtel_frame *ret, size_t *ret_used)
{
    struct gtel_str rest = bytes;
    if (bytes.n < GTEL_FRAME_HEADER)
        return -EAGAIN;
    uint32_t found = (uint32_t)take(&rest, 4);
    uint32_t type = (uint32_t)take(&rest, 4);
    uint32_t n = (uint32_t)take(&rest, 4);
    if (found != magic || type < GTEL_FRAME_HELLO || type > GTEL_FRAME_REQUEST ||
        n > GTEL_FRAME_MAX)
        return -EPROTO;
    if (rest.n < n)
        return -EAGAIN;
    *ret = (struct gtel_frame){(enum gtel_frame_type)type, {rest.p, n}};
    *ret_used = GTEL_FRAME_HEADER + n;
    return 0;
}

int gtel_wire_read_request(struct gtel_str payload, uint64_t *ret_number, bool *ret_with_findings)
{
    struct gtel_str rest = payload;
    uint64_t number = take(&rest, 8);
    uint8_t with_findings = (uint8_t)take(&rest, 1);
    if (!rest.p || rest.n > 0 || with_findings > 1)
        return -EPROTO;
    *ret_number = number;
    *ret_with_findings = with_findings == 1;
    return 0;
}

int gtel_wire_read_log(struct gtel_str payload, uint8_t *ret_level, struct gtel_str *ret_text)
{
    struct gtel_str rest = payload;
    uint8_t level = (uint8_t)take(&rest, 1);
    if (!rest.p || level > GTEL_LOG_DEBUG)
        return -EPROTO;
    *ret_level = level;
    *ret_text = rest;
    return 0;
}

void gtel_wire_map_renew(struct gtel_wire_map *map)
{
    for (size_t i = 0; i < GTEL_DEVICES_MAX; i++)
        map->arrivals[i] = map->arrivals[i] > 0 ? UINT32_MAX : 0;
}

static bool differs(const struct gtel_device *device, const struct gtel_str *label,
                    enum gtel_label l)
{
    return label[l].n > 0 && !gtel_str_eq(label[l], gtel_str_of(device->label[l]));
}

/* One device: known ones keep their place, so a lane's index means the same device for ever. */
static int read_device(struct gtel_str *rest, struct gtel_registry *registry,
                       struct gtel_wire_map *map, size_t i)
{
    struct gtel_str key = take_str(rest);
    bool is_present = take(rest, 1) == 1;
    uint32_t arrivals = (uint32_t)take(rest, 4);
    struct gtel_str label[GTEL_LABEL_COUNT];
    for (size_t l = 0; l < GTEL_LABEL_COUNT; l++)
        label[l] = take_str(rest);
    if (!rest->p || key.n == 0 || key.n >= GTEL_KEY_MAX || arrivals == 0)
        return -EPROTO;
    struct gtel_device *device = gtel_registry_find(registry, key);
    if (!device) {
        int r = gtel_registry_add(registry, key, &device);
        map->device[i] = NULL;
        map->is_present[i] = false;
        if (r == -ENOSPC)
            return 0; /* counted; the other devices are fine */
        if (r < 0)
            return r == -ENOMEM ? r : -EPROTO;
    }
    uint32_t *reported = &map->arrivals[device->index];
    bool is_part = label[GTEL_LABEL_INSTANCE].n > 0;
    bool is_other =
        *reported != arrivals && gtel_device_label_id(registry, device, label[GTEL_LABEL_PCI_ID]);
    bool has_returned =
        *reported == UINT32_MAX
            ? is_other || differs(device, label, is_part ? GTEL_LABEL_UUID : GTEL_LABEL_DRIVER)
            : *reported != 0 && *reported != arrivals;
    bool may_be_other = has_returned && is_part; /* numbers return */
    for (size_t l = 0; l < GTEL_LABEL_COUNT; l++) {
        /* These may change while the driver is reloaded. */
        if (l >= GTEL_LABEL_CARD || is_other || (l == GTEL_LABEL_DRIVER && has_returned) ||
            (l == GTEL_LABEL_UUID && may_be_other))
            gtel_device_relabel(registry, device, (enum gtel_label)l, label[l]);
        else
            gtel_device_label(registry, device, (enum gtel_label)l, label[l]);
    }
    map->device[i] = device;
    map->is_present[i] = is_present;
    if (has_returned)
        device->arrivals++;
    *reported = arrivals;
    return 0;
}

static int read_devices(struct gtel_str *rest, struct gtel_registry *registry,
                        struct gtel_wire_map *map)
{
    uint32_t n = (uint32_t)take(rest, 4);
    if (!rest->p || n > GTEL_DEVICES_MAX)
        return -EPROTO;
    for (size_t i = 0; i < n; i++) {
        int r = read_device(rest, registry, map, i);
        if (r < 0)
            return r;
    }
    map->n = n;
    return 0;
}

static int read_failures(struct gtel_str *rest, const struct gtel_wire_map *map,
                         struct gtel_batch *batch)
{
    uint32_t n = (uint32_t)take(rest, 4);
    for (uint32_t i = 0; i < n && rest->p; i++) {
        uint16_t index = (uint16_t)take(rest, 2);
        uint32_t failed = (uint32_t)take(rest, 4);
        if (!rest->p || index >= map->n)
            return -EPROTO;
        if (map->device[index])
            batch->failed[map->device[index]->index] += failed;
    }
    return rest->p ? 0 : -EPROTO;
}

static bool has_source(uint8_t source)
{
    size_t n = 0;
    while (n < source && gtel_sources[n])
        n++;
    return gtel_sources[n] != NULL;
}

static bool has_origin(uint8_t source, uint8_t origin)
{
    size_t n = 0;
    if (!has_source(source))
        return false;
    while (n < origin && gtel_sources[source]->origins[n])
        n++;
    return gtel_sources[source]->origins[n] != NULL;
}

/* Readings are about a device, but for those that the program has of itself. */
static bool is_plausible(const struct gtel_reading *reading, uint16_t device, size_t ndims,
                         const struct gtel_wire_map *map)
{
    if (reading->metric >= GTEL_M_COUNT)
        return false;
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    bool is_own = row->measurement == GTEL_MEASUREMENT_GTEL;
    bool is_text = reading->value_type == GTEL_VALUE_TEXT;
    return reading->value_type <= GTEL_VALUE_TEXT && ndims <= GTEL_DIMS_MAX &&
           is_text == (row->kind == GTEL_KIND_TEXT) &&
           (is_own ? device == NO_DEVICE : device < map->n) &&
           has_origin(reading->source, reading->origin);
}

static int read_reading(struct gtel_str *rest, const struct gtel_wire_map *map,
                        struct gtel_batch *batch)
{
    struct gtel_reading reading = {.t_ns = take(rest, 8)};
    uint64_t value = take(rest, 8);
    uint64_t what = take(rest, 8);
    uint16_t device = (uint16_t)(what >> 16);
    size_t ndims = (size_t)(what >> 56);
    reading.metric = (uint16_t)what;
    reading.source = (uint8_t)(what >> 32);
    reading.origin = (uint8_t)(what >> 40);
    reading.value_type = what >> 48 & 0xf;
    reading.has_device_clock = (what >> 52 & FLAG_DEVICE_CLOCK) != 0;
    reading.is_apart = (what >> 52 & FLAG_APART) != 0;
    if (!rest->p || !is_plausible(&reading, device, ndims, map))
        return -EPROTO;
    reading.device = device == NO_DEVICE ? NULL : map->device[device];
    if (reading.value_type == GTEL_VALUE_TEXT)
        reading.value.text = take_str(rest);
    else
        reading.value.u64 = value;
    for (size_t i = 0; i < ndims; i++)
        reading.dim[i] = take_str(rest);
    if (!rest->p)
        return -EPROTO;
    if (!reading.device && device != NO_DEVICE) {
        batch->dropped++;
        return 0;
    }
    batch->source = reading.source;
    batch->origin = reading.origin;
    gtel_batch_put(batch, &reading);
    return 0;
}

static int read_finding(struct gtel_str *rest, const struct gtel_wire_map *map,
                        struct gtel_findings *findings)
{
    uint16_t device = (uint16_t)take(rest, 2);
    uint8_t measurement = (uint8_t)take(rest, 1);
    uint8_t source = (uint8_t)take(rest, 1);
    uint16_t lacks_plus_1 = (uint16_t)take(rest, 2);
    uint32_t error = (uint32_t)take(rest, 4);
    struct gtel_str what = take_str(rest);
    struct gtel_str why = take_str(rest);
    struct gtel_str fix = take_str(rest);
    bool is_sound = rest->p && measurement < GTEL_MEASUREMENT_COUNT && has_source(source) &&
                    lacks_plus_1 <= GTEL_M_COUNT && error <= ERROR_MAX &&
                    (device < map->n || device == NO_DEVICE);
    if (!is_sound)
        return -EPROTO;
    if (!findings)
        return 0;
    if (device != NO_DEVICE && !map->device[device]) {
        findings->dropped++;
        return 0;
    }
    struct gtel_finding finding = {
        .device = device == NO_DEVICE ? NULL : map->device[device],
        .measurement = measurement,
        .source = source,
        .lacks_plus_1 = lacks_plus_1,
        .error = -(int)error,
        .what = what,
        .why = why,
        .fix = fix,
    };
    gtel_finding_add(findings, &finding);
    return 0;
}

static int read_findings(struct gtel_str *rest, const struct gtel_wire_map *map,
                         struct gtel_findings *findings)
{
    uint32_t dropped = (uint32_t)take(rest, 4);
    uint32_t n = (uint32_t)take(rest, 4);
    int r = 0;
    for (uint32_t i = 0; i < n && r == 0; i++)
        r = read_finding(rest, map, findings);
    if (findings && r == 0)
        findings->dropped += dropped;
    return r;
}

int gtel_wire_read_answer(struct gtel_str payload, struct gtel_registry *registry,
                          struct gtel_wire_map *map, struct gtel_batch *batch,
                          struct gtel_answer *ret)
{
    struct gtel_str rest = payload;
    struct gtel_answer answer;
    answer.request = take(&rest, 8);
    answer.errors = take(&rest, 8);
    answer.dropped = take(&rest, 8);
    answer.rss_bytes = take(&rest, 8);
    answer.needs_restart = take(&rest, 1) == 1;
    int r = 0;
    if (take(&rest, 1) == 1)
        r = read_devices(&rest, registry, map);
    if (r == 0)
        r = read_failures(&rest, map, batch);
    uint32_t n = r == 0 ? (uint32_t)take(&rest, 4) : 0;
    for (uint32_t i = 0; i < n && r == 0; i++)
        r = read_reading(&rest, map, batch);
    if (r == 0)
        r = read_findings(&rest, map, batch->findings);
    if (r == 0 && (!rest.p || rest.n > 0))
        r = -EPROTO;
    if (r == 0)
        *ret = answer;
    return r;
}
