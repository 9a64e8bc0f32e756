/* SPDX-License-Identifier: MIT */
/* Readings to the value lists of collectd 5. */
#include "sink_v5.h"

#include <errno.h>
#include <math.h>

/* A name under construction. */
struct name {
    char *p;
    size_t n;
    uint64_t hash;   /* of the name as it should be */
    bool is_changed; /* what did not fit is dropped, or something in it had to be replaced */
};

static void add(struct name *name, struct gtel_str s)
{
    name->hash = gtel_fnv(name->hash, s.p, s.n);
    size_t fine = 0; /* bytes up to here belong to a character that can be shown */
    for (size_t i = 0; i < s.n; i++) {
        if (i >= fine)
            fine = i + gtel_str_shown(gtel_str_skip(s, i));
        bool is_bad = i >= fine || s.p[i] == '/';
        bool is_full = name->n == DATA_MAX_NAME_LEN - 1;
        name->is_changed |= is_bad || is_full;
        if (is_full)
            break;
        name->p[name->n++] = is_bad ? '_' : s.p[i];
    }
    name->p[name->n] = '\0';
}

/*
 * A name that is not what it should be ends in a hash of what it should be, so that two names never
 * become one: "a/b" is not "a_b", and two long ones may begin alike.
 */
static void mark(struct name *name)
{
    enum { MARK = 9 }; /* "~1f3a9c04" */
    if (!name->is_changed)
        return;
    if (name->n > DATA_MAX_NAME_LEN - 1 - MARK)
        name->n = DATA_MAX_NAME_LEN - 1 - MARK;
    while (name->n > 0 && ((unsigned char)name->p[name->n] & 0xc0) == 0x80)
        name->n--; /* not in the middle of a character */
    name->p[name->n++] = '~';
    for (int shift = 28; shift >= 0; shift -= 4)
        name->p[name->n++] = "0123456789abcdef"[name->hash >> shift & 15];
    name->p[name->n] = '\0';
}

static bool is_number(struct gtel_str s)
{
    uint64_t v;
    return gtel_str_u64(s, &v) == 0;
}

/*
 * Names of pods and what stands before and behind them have dashes: without its key, "a-b" and "c"
 * would be "a" and "b-c". None of them has the equals sign.
 */
static bool has_key(const char *key)
{
    static const char *const keys[] = {"pod", "namespace", "job_id"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/*
 * "-gt0" for a numbered part, "-uncorrected" for a named one, "-pod=train-0" for those above,
 * nothing for an empty one.
 */
static void add_dim(struct name *name, const char *key, struct gtel_str value)
{
    if (value.n == 0)
        return;
    add(name, GTEL_STR("-"));
    if (has_key(key) || is_number(value))
        add(name, gtel_str_of(key));
    if (has_key(key))
        add(name, GTEL_STR("="));
    add(name, value);
}

/* The pattern of the catalogue row; its % is the first dimension, behind a dash. */
static void add_pattern(struct name *name, struct gtel_str pattern, struct gtel_str dim)
{
    size_t at = gtel_str_find(pattern, '%');
    struct gtel_str before = {pattern.p, at};
    if (at < pattern.n && dim.n == 0)
        before.n--; /* no part: no dash before it either */
    add(name, before);
    if (at == pattern.n)
        return;
    add(name, dim);
    add(name, gtel_str_skip(pattern, at + 1));
}

static void name_device(struct name *name, const struct gtel_device *device)
{
    name->p[0] = '\0';
    if (!device)
        return; /* the program itself */
    const char *gpu = device->label[GTEL_LABEL_GPU];
    add(name, gtel_str_of(gpu[0] ? gpu : device->key));
    add_dim(name, "", gtel_str_of(device->label[GTEL_LABEL_INSTANCE]));
}

int gtel_sink_v5_name(const struct gtel_reading *reading, char *plugin_instance,
                      char *type_instance)
{
    const struct gtel_metric_row *row = gtel_metric_row(reading->metric);
    if (!row->collectd_type)
        return -ENOENT;

    struct name device = {.p = plugin_instance, .hash = GTEL_HASH_SEED};
    struct name part = {.p = type_instance, .hash = GTEL_HASH_SEED};
    type_instance[0] = '\0';
    name_device(&device, reading->device);
    mark(&device);
    add_pattern(&part, gtel_str_of(row->collectd_instance), reading->dim[0]);
    const struct gtel_measurement_row *measurement = gtel_measurement_row(row->measurement);
    for (size_t i = 1; i < GTEL_DIMS_MAX && measurement->dims[i]; i++)
        add_dim(&part, measurement->dims[i], reading->dim[i]);
    mark(&part);
    return 0;
}

static void drop(struct gtel_sink_v5 *sink, const struct gtel_metric_row *row, const char *why)
{
    if (sink->dropped++ == 0)
        gtel_log(&sink->log, GTEL_LOG_WARNING,
                 "a value of %s is dropped: %s (logged once, more may follow)",
                 row->collectd_instance, why);
}

/* value × scale as a counter of the daemon; false when it does not fit. */
static bool to_integer(const struct gtel_reading *reading, double scale, uint64_t max,
                       uint64_t *ret)
{
    if (reading->value_type == GTEL_VALUE_U64 && scale == 1.0) {
        *ret = reading->value.u64;
        return *ret <= max;
    }
    double v = round(gtel_reading_number(reading) * scale);
    if (!(v >= 0.0 && v < (double)max)) /* NaN too; max as a double is a power of two */
        return false;
    *ret = (uint64_t)v;
    return true;
}

static bool to_value(const struct gtel_sink_v5 *sink, const struct gtel_reading *reading,
                     value_t *ret)
{
    double scale = gtel_metric_row(reading->metric)->collectd_scale;
    uint64_t counter = 0;
    switch (sink->metric[reading->metric].ds_type) {
    case DS_TYPE_DERIVE:
        if (!to_integer(reading, scale, INT64_MAX, &counter))
            return false;
        ret->derive = (derive_t)counter;
        return true;
    case DS_TYPE_COUNTER:
        if (!to_integer(reading, scale, UINT64_MAX, &counter))
            return false;
        ret->counter = counter;
        return true;
    default:
        ret->gauge = gtel_reading_number(reading) * scale;
        if (sink->metric[reading->metric].is_percent)
            ret->gauge = fmin(fmax(ret->gauge, 0.0), 100.0);
        return isfinite(gtel_reading_number(reading)) && isfinite(ret->gauge);
    }
}

static void begin(void *arg, uint64_t wall_ns)
{
    struct gtel_sink_v5 *sink = arg;
    sink->time = NS_TO_CDTIME_T(wall_ns);
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gtel_sink_v5 *sink = arg;
    if (reading->metric >= GTEL_M_COUNT || aspect != GTEL_ASPECT_VALUE ||
        sink->metric[reading->metric].ds_type < 0)
        return;

    const struct gtel_metric_row *row = gtel_metric_row(reading->metric);
    value_t value;
    value_list_t vl = VALUE_LIST_INIT;
    if (!to_value(sink, reading, &value)) {
        drop(sink, row, "it is beyond the range of its type");
        return;
    }
    if (gtel_sink_v5_name(reading, vl.plugin_instance, vl.type_instance) < 0)
        return; /* no type, which ds_type says, too */
    vl.values = &value;
    vl.values_len = 1;
    vl.time = sink->time;
    /* The daemon forgets a value after two intervals: what comes rarely has a longer one. */
    vl.interval = sink->interval * (reading->gathers > 1 ? reading->gathers : 1);
    /* Our own names: init checked that they fit. */
    (void)gtel_str_copy(vl.plugin, sizeof(vl.plugin), gtel_str_of(sink->plugin));
    (void)gtel_str_copy(vl.type, sizeof(vl.type), gtel_str_of(row->collectd_type));
    (void)plugin_dispatch_values(&vl); /* copies it; what it refuses, the daemon logs */
}

/* The daemon's own form of a type: GAUGE, DERIVE or COUNTER with one value, or -1. */
static int8_t find_type(const char *type)
{
    const data_set_t *ds = plugin_get_ds(type);
    if (!ds || ds->ds_num != 1)
        return -1;
    int t = ds->ds[0].type;
    return t == DS_TYPE_GAUGE || t == DS_TYPE_DERIVE || t == DS_TYPE_COUNTER ? (int8_t)t : -1;
}

/* Whether an earlier row has the same type, and so the same warning. */
static bool is_repeated(size_t metric, const char *type)
{
    for (size_t i = 0; i < metric; i++) {
        const char *earlier = gtel_metric_row((enum gtel_metric)i)->collectd_type;
        if (earlier && gtel_str_eq(gtel_str_of(earlier), gtel_str_of(type)))
            return true;
    }
    return false;
}

void gtel_sink_v5_init(struct gtel_sink_v5 *sink, const char *plugin, const struct gtel_log *log,
                       cdtime_t interval)
{
    *sink = (struct gtel_sink_v5){.plugin = plugin, .log = *log, .interval = interval};
    for (size_t i = 0; i < GTEL_M_COUNT; i++) {
        const char *type = gtel_metric_row((enum gtel_metric)i)->collectd_type;
        sink->metric[i].ds_type = type ? find_type(type) : -1;
        sink->metric[i].is_percent = type && gtel_str_eq(gtel_str_of(type), GTEL_STR("percent"));
        if (type && sink->metric[i].ds_type < 0 && !is_repeated(i, type))
            gtel_log(log, GTEL_LOG_WARNING,
                     "the daemon does not know type '%s' with one value; its values are dropped "
                     "(add collectd's own types.db with TypesDB)",
                     type);
    }
}

struct gtel_sink gtel_sink_v5_sink(struct gtel_sink_v5 *sink)
{
    return (struct gtel_sink){.arg = sink, .begin = begin, .put = put};
}
