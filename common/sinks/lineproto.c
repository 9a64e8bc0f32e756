/* SPDX-License-Identifier: MIT */
/* Line-protocol encoder. */
#include "sinks/lineproto.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Where the value of a tag comes from; dimensions follow FROM_DIM by their position. */
enum tag_from {
    FROM_DRIVER,
    FROM_GPU,
    FROM_HOST,
    FROM_INSTANCE,
    FROM_MODEL,
    FROM_VENDOR,
    FROM_DIM
};

static const char *const fixed_keys[FROM_DIM] = {"driver",   "gpu",   "host",
                                                 "instance", "model", "vendor"};

/* ---- text ---- */

/* Whether a byte stands for itself in the value of a tag, or in a string. */
static bool is_plain(unsigned char c, bool is_tag)
{
    if (c < ' ' || c >= 0x7f || c == '\\')
        return false;
    return is_tag ? c != ' ' && c != ',' && c != '=' : c != '"';
}

/* A byte that is no plain one, at the beginning of s; returns how many bytes it took. */
static size_t put_special(struct gtel_buf *buf, struct gtel_str s, bool is_tag)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c >= 0x80 ? gtel_str_utf8(s) : 1;
    if (n > 1) {
        gtel_buf_bytes(buf, s.p, n);
        return n;
    }
    if (n == 0 || c < ' ' || c == 0x7f) {
        gtel_buf_char(buf, '?'); /* control character or no UTF-8: shown, not passed on */
    } else if (is_tag && c == '\\') {
        /* InfluxDB 3 and VictoriaMetrics read two backslashes in a tag as one, the others as two.
         */
        gtel_buf_char(buf, '/');
    } else {
        gtel_buf_char(buf, '\\');
        gtel_buf_char(buf, (char)c);
    }
    return 1;
}

static void put_text(struct gtel_buf *buf, struct gtel_str s, bool is_tag)
{
    while (s.n > 0) {
        size_t n = 0;
        while (n < s.n && is_plain((unsigned char)s.p[n], is_tag))
            n++;
        gtel_buf_bytes(buf, s.p, n);
        s = gtel_str_skip(s, n);
        if (s.n > 0)
            s = gtel_str_skip(s, put_special(buf, s, is_tag));
    }
}

/* ---- values ---- */

static int put_integer(struct gtel_buf *buf, const struct gtel_reading *reading, double scale)
{
    if (reading->value_type == GTEL_VALUE_U64 && scale == 1) {
        if (reading->value.u64 > INT64_MAX)
            return -ERANGE; /* unsigned fields change their type from store to store */
        gtel_buf_u64(buf, reading->value.u64);
    } else {
        double v = round(gtel_reading_number(reading) * scale);
        if (!(v > -9.2e18 && v < 9.2e18)) /* also not a number */
            return -ERANGE;
        gtel_buf_i64(buf, (int64_t)v);
    }
    gtel_buf_char(buf, 'i');
    return 0;
}

int gtel_lineproto_value(struct gtel_buf *buf, const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    bool is_text = reading->value_type == GTEL_VALUE_TEXT;
    if (is_text != (row->type == GTEL_TYPE_STRING))
        return -EINVAL;
    if (is_text) {
        if (reading->value.text.n == 0)
            return -ENODATA;
        gtel_buf_char(buf, '"');
        put_text(buf, reading->value.text, false);
        gtel_buf_char(buf, '"');
        return 0;
    }
    if (row->type == GTEL_TYPE_INT)
        return put_integer(buf, reading, row->scale);
    double v = gtel_reading_number(reading) * row->scale;
    if (!isfinite(v))
        return -ERANGE;
    gtel_buf_f64(buf, v, row->kind == GTEL_KIND_COUNTER ? 15 : 9);
    return 0;
}

void gtel_lineproto_field(struct gtel_buf *buf, const struct gtel_reading *reading,
                          enum gtel_aspect aspect)
{
    gtel_buf_str(buf, gtel_metric_row((enum gtel_metric)reading->metric)->field);
    if (aspect == GTEL_ASPECT_MIN)
        gtel_buf_bytes(buf, "_min", 4);
    else if (aspect == GTEL_ASPECT_MAX)
        gtel_buf_bytes(buf, "_max", 4);
}

/* ---- tags ---- */

static struct gtel_str tag_value(const struct gtel_lineproto *lp,
                                 const struct gtel_reading *reading, uint8_t from)
{
    static const enum gtel_label labels[FROM_DIM] = {
        [FROM_DRIVER] = GTEL_LABEL_DRIVER,     [FROM_GPU] = GTEL_LABEL_GPU,
        [FROM_INSTANCE] = GTEL_LABEL_INSTANCE, [FROM_MODEL] = GTEL_LABEL_MODEL,
        [FROM_VENDOR] = GTEL_LABEL_VENDOR,
    };
    if (from >= FROM_DIM)
        return reading->dim[from - FROM_DIM];
    if (from == FROM_HOST)
        return gtel_str_of(lp->host);
    if (!reading->device)
        return GTEL_STR_NONE;
    struct gtel_str value = gtel_str_of(reading->device->label[labels[from]]);
    if (from == FROM_GPU && value.n == 0)
        return gtel_str_of(reading->device->key); /* no line about a GPU without its identity */
    return value;
}

static bool is_same_key(const struct gtel_lineproto_tag *a, const struct gtel_lineproto_tag *b)
{
    return a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

void gtel_lineproto_identity(const struct gtel_lineproto *lp, struct gtel_buf *buf,
                             const struct gtel_reading *reading)
{
    enum gtel_measurement m = gtel_metric_row((enum gtel_metric)reading->metric)->measurement;
    const struct gtel_lineproto_tag *last = NULL;
    gtel_buf_str(buf, gtel_measurement_row(m)->name);
    for (size_t i = 0; i < lp->ntags[m]; i++) {
        const struct gtel_lineproto_tag *tag = &lp->tag[m][i];
        struct gtel_str value = tag_value(lp, reading, tag->from);
        if (value.n == 0)
            continue;
        /* An engine's instance on a device that is an instance itself: instance=mig0/1. */
        if (last && is_same_key(last, tag))
            gtel_buf_char(buf, '/');
        else
            gtel_buf_bytes(buf, tag->text, tag->n);
        put_text(buf, value, true);
        last = tag;
    }
}

/* Keeps the tags of a measurement sorted by key; equal keys stay in the order of adding. */
static void add_tag(struct gtel_lineproto *lp, size_t m, const char *key, size_t from)
{
    struct gtel_lineproto_tag tag = {.from = (uint8_t)from};
    size_t n = strlen(key);
    if (n + 2 > sizeof(tag.text))
        return; /* keys are the catalogue's, and unit.lineproto checks their length */
    tag.text[0] = ',';
    memcpy(tag.text + 1, key, n);
    tag.text[n + 1] = '=';
    tag.n = (uint8_t)(n + 2);
    size_t at = lp->ntags[m]++;
    for (; at > 0; at--) {
        const struct gtel_lineproto_tag *before = &lp->tag[m][at - 1];
        struct gtel_str other = {before->text + 1, before->n - 2u};
        if (gtel_str_cmp(other, (struct gtel_str){key, n}) <= 0)
            break;
        lp->tag[m][at] = *before;
    }
    lp->tag[m][at] = tag;
}

/* ---- lines ---- */

static bool is_too_long(const struct gtel_lineproto *lp)
{
    return lp->out->has_failed || lp->out->n - lp->start > GTEL_LINEPROTO_LINE_MAX;
}

/* All of a line or nothing: takes it back with n readings. */
static void lose_line(struct gtel_lineproto *lp, size_t n)
{
    gtel_buf_back(lp->out, lp->start);
    lp->dropped += n;
    lp->line = GTEL_LINEPROTO_LOST;
}

static void end_line(struct gtel_lineproto *lp)
{
    bool is_open = lp->line == GTEL_LINEPROTO_OPEN;
    lp->line = GTEL_LINEPROTO_NO_LINE;
    if (!is_open)
        return;
    gtel_buf_bytes(lp->out, lp->time, lp->ntime);
    if (lp->nfields == 0 || is_too_long(lp)) {
        gtel_buf_back(lp->out, lp->start);
        lp->dropped += lp->nfields;
    } else {
        lp->lines++;
    }
}

static bool is_same_line(const struct gtel_reading *a, const struct gtel_reading *b)
{
    return gtel_metric_row((enum gtel_metric)a->metric)->measurement ==
               gtel_metric_row((enum gtel_metric)b->metric)->measurement &&
           gtel_reading_is_same_part(a, b);
}

static void begin_line(struct gtel_lineproto *lp, const struct gtel_reading *reading)
{
    end_line(lp);
    lp->at = *reading;
    lp->start = lp->out->n;
    lp->nfields = 0;
    lp->line = GTEL_LINEPROTO_OPEN;
    memset(lp->seen, 0, sizeof(lp->seen));
    gtel_lineproto_identity(lp, lp->out, reading);
}

/* Whether the line has the field already; notes it. The core lets no key through twice. */
static bool is_repeated(struct gtel_lineproto *lp, const struct gtel_reading *reading,
                        enum gtel_aspect aspect)
{
    unsigned bit = reading->metric * 3u + (unsigned)aspect;
    uint64_t mask = (uint64_t)1 << bit % 64;
    bool was = (lp->seen[bit / 64] & mask) != 0;
    lp->seen[bit / 64] |= mask;
    return was;
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gtel_lineproto *lp = arg;
    if (reading->metric >= GTEL_M_COUNT || (unsigned)aspect > GTEL_ASPECT_MAX) {
        lp->dropped++;
        return;
    }
    if (gtel_metric_row((enum gtel_metric)reading->metric)->field.n == 0)
        return;
    if (lp->line == GTEL_LINEPROTO_NO_LINE || !is_same_line(&lp->at, reading))
        begin_line(lp, reading);
    if (lp->line == GTEL_LINEPROTO_LOST || is_repeated(lp, reading, aspect)) {
        lp->dropped++;
        return;
    }
    size_t before = lp->out->n;
    gtel_buf_char(lp->out, lp->nfields == 0 ? ' ' : ',');
    gtel_lineproto_field(lp->out, reading, aspect);
    gtel_buf_char(lp->out, '=');
    int r = gtel_lineproto_value(lp->out, reading);
    if (is_too_long(lp)) {
        lose_line(lp, lp->nfields + 1);
    } else if (r == 0) {
        lp->nfields++;
    } else {
        gtel_buf_back(lp->out, before);
        lp->dropped += r != -ENODATA;
    }
}

static void begin(void *arg, uint64_t wall_ns)
{
    struct gtel_lineproto *lp = arg;
    /* InfluxDB's last time is one below the largest integer. */
    uint64_t t_ns = wall_ns < INT64_MAX ? wall_ns : INT64_MAX - 1;
    char text[20];
    size_t n = 0;
    do {
        text[n++] = (char)('0' + t_ns % 10);
        t_ns /= 10;
    } while (t_ns > 0);
    lp->ntime = 0;
    lp->time[lp->ntime++] = ' ';
    while (n > 0)
        lp->time[lp->ntime++] = text[--n];
    lp->time[lp->ntime++] = '\n';
}

static void end(void *arg)
{
    end_line(arg);
}

void gtel_lineproto_init(struct gtel_lineproto *lp, struct gtel_buf *out, struct gtel_str host)
{
    *lp = (struct gtel_lineproto){.out = out};
    (void)gtel_str_copy(lp->host, sizeof(lp->host), host);
    for (size_t m = 0; m < GTEL_MEASUREMENT_COUNT; m++) {
        for (size_t i = 0; i < FROM_DIM; i++)
            add_tag(lp, m, fixed_keys[i], i);
        const struct gtel_measurement_row *row = gtel_measurement_row((enum gtel_measurement)m);
        for (size_t i = 0; i < GTEL_DIMS_MAX && row->dims[i]; i++)
            add_tag(lp, m, row->dims[i], FROM_DIM + i);
    }
}

struct gtel_sink gtel_lineproto_sink(struct gtel_lineproto *lp)
{
    return (struct gtel_sink){.arg = lp, .begin = begin, .put = put, .end = end};
}
