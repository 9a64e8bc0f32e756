/* SPDX-License-Identifier: MIT */
/* What one failing call costs. */
#include "harness/costs.h"

#include "harness/readings.h"
#include "harness/test.h"

#include <math.h>
#include <stdio.h>

enum { SAID_MAX = 1 << 16, OUT_MAX = 1 << 18, WRONG_MAX = 40 };

/* ---- what is reported ---- */

/* The program itself reports how many failed; the others are about this run. */
static bool is_compared(const struct gtel_reading *reading)
{
    return reading->device || reading->metric == GTEL_M_SELF_ERRORS;
}

static uint64_t line_key(const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    return gathered_key(reading, GTEL_M_COUNT) ^ ((uint64_t)row->measurement + 1);
}

static uint16_t find_line(struct costs *costs, const struct gtel_reading *reading)
{
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    uint64_t key = line_key(reading);
    for (size_t i = costs->lines; i > 0; i--)
        if (costs->line[i - 1].key == key)
            return (uint16_t)(i - 1);
    if (!CHECK(costs->lines < COST_LINES_MAX))
        return 0;
    struct cost_line *line = &costs->line[costs->lines];
    const char *device = reading->device ? reading->device->key : "";
    line->key = key;
    line->measurement = (uint8_t)row->measurement;
    (void)gtel_str_copy(line->device, sizeof(line->device), gtel_str_of(device));
    int n = snprintf(line->text, sizeof(line->text), "%s",
                     gtel_measurement_row(row->measurement)->name.p);
    for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
        if (reading->dim[d].n > 0 && n > 0 && (size_t)n < sizeof(line->text))
            n += snprintf(line->text + n, sizeof(line->text) - (size_t)n, "[%.*s]",
                          GTEL_STR_ARG(reading->dim[d]));
    return (uint16_t)costs->lines++;
}

/* Mostly that of the same place without a fault. */
static uint16_t line_of(struct costs *costs, const struct gtel_reading *reading, uint64_t key,
                        size_t near)
{
    const struct cost_gather *whole = &costs->whole[costs->at];
    if (near < whole->n && whole->reading[near].key == key)
        return whole->reading[near].line;
    return find_line(costs, reading);
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct costs *costs = arg;
    struct cost_gather *gather = costs->is_whole ? costs->whole : costs->now;
    gather += costs->at;
    if (aspect != GTEL_ASPECT_VALUE || !is_compared(reading) ||
        !CHECK(gather->n < COST_READINGS_MAX))
        return;
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    uint64_t key = gathered_key(reading, metric);
    bool is_text = reading->value_type == GTEL_VALUE_TEXT;
    gather->reading[gather->n++] = (struct cost_reading){
        .key = key,
        .text =
            is_text ? gtel_hash(GTEL_HASH_SEED, reading->value.text.p, reading->value.text.n) : 0,
        .value = is_text ? 0 : gtel_reading_number(reading) * gtel_metric_row(metric)->scale,
        .line = line_of(costs, reading, key, gather->n),
        .metric = reading->metric,
        .source = reading->source,
        .origin = reading->origin,
        .is_derived = reading->is_derived};
}

static void begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void end(void *arg)
{
    (void)arg;
}

struct gtel_sink costs_sink(struct costs *costs)
{
    return (struct gtel_sink){costs, begin, put, end};
}

/* ---- what is said ---- */

static bool has_text(const struct cost_texts *texts, uint64_t hash)
{
    for (size_t i = 0; i < texts->n; i++)
        if (texts->hash[i] == hash)
            return true;
    return false;
}

/* Drops what is said from byte `before` on, unless it is new. */
static void keep_new(struct costs *costs, size_t before)
{
    uint64_t hash = gtel_hash(GTEL_HASH_SEED, costs->said.p + before, costs->said.n - before);
    struct cost_texts *texts = costs->is_whole ? &costs->known : &costs->new;
    bool is_known = has_text(&costs->known, hash) || has_text(texts, hash);
    if (!is_known && CHECK(texts->n < COST_TEXTS_MAX))
        texts->hash[texts->n++] = hash;
    if (is_known || costs->is_whole)
        gtel_buf_back(&costs->said, before);
}

void costs_say(struct costs *costs, enum gtel_log_level level, const char *text)
{
    static const char words[] = "EWID";
    size_t before = costs->said.n;
    if (level == GTEL_LOG_DEBUG)
        return;
    gtel_buf_printf(&costs->said, "    %c! %s\n", words[level], text);
    keep_new(costs, before);
}

static void say_finding(struct costs *costs, const struct gtel_finding *finding)
{
    size_t before = costs->said.n;
    gtel_buf_printf(&costs->said, "    doctor: %s %s: %.*s",
                    finding->device ? finding->device->key : gtel_sources[finding->source]->name,
                    gtel_measurement_row((enum gtel_measurement)finding->measurement)->name.p,
                    GTEL_STR_ARG(finding->what));
    if (finding->error < 0)
        gtel_buf_printf(&costs->said, ": errno %d", -finding->error);
    if (finding->why.n > 0)
        gtel_buf_printf(&costs->said, ": %.*s", GTEL_STR_ARG(finding->why));
    gtel_buf_char(&costs->said, '\n');
    keep_new(costs, before);
}

void costs_take_findings(struct costs *costs)
{
    for (size_t i = 0; i < costs->findings.n; i++)
        say_finding(costs, &costs->findings.finding[i]);
    gtel_findings_done(&costs->findings);
    costs->findings = (struct gtel_findings){0};
}

void costs_begin(struct costs *costs, bool is_whole)
{
    costs->is_whole = is_whole;
    costs->new.n = 0;
    gtel_buf_done(&costs->said);
    gtel_buf_init(&costs->said, SAID_MAX);
    for (size_t i = 0; i < COST_GATHERS; i++)
        costs->now[i].n = 0;
}

void costs_next(struct costs *costs, size_t gather)
{
    costs->at = gather;
}

void costs_done(struct costs *costs)
{
    gtel_findings_done(&costs->findings);
    gtel_buf_done(&costs->said);
    gtel_buf_done(&costs->out);
}

/* ---- the difference ---- */

static const struct cost_reading *find(const struct cost_gather *gather, uint64_t key, size_t near)
{
    for (size_t i = 0; i < gather->n; i++) {
        size_t at = (near + i) % gather->n;
        if (gather->reading[at].key == key)
            return &gather->reading[at];
    }
    return NULL;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-7 * fmax(fabs(a), fabs(b));
}

/* The mean over the last gathers, more and more of them. */
static bool is_mean(const struct costs *costs, size_t gather, uint64_t key, double value)
{
    double sum = 0;
    for (size_t n = 1; n <= gather; n++) {
        const struct cost_reading *rate = find(&costs->whole[gather + 1 - n], key, 0);
        if (!rate)
            return false;
        sum += rate->value;
        if (is_near(value, sum / (double)n))
            return true;
    }
    return false;
}

static struct gtel_str field_of(const struct cost_reading *reading)
{
    return gtel_metric_row((enum gtel_metric)reading->metric)->field;
}

/*
 * What another gather has without a fault: what is asked for rarely is asked for again after a
 * failure, and what is sent rarely is sent again when the GPU was not there.
 */
static bool is_late(const struct costs *costs, const struct cost_reading *is)
{
    for (size_t i = 0; i < COST_GATHERS; i++) {
        const struct cost_reading *was = find(&costs->whole[i], is->key, 0);
        if (was && was->text == is->text)
            return true;
    }
    return false;
}

/* Processes of one name share a line: without one of them, its count says so. */
static bool lacks_process(const struct costs *costs, size_t gather, const struct cost_reading *is)
{
    const struct cost_gather *now = &costs->now[gather];
    if (costs->line[is->line].measurement != GTEL_MEASUREMENT_GPU_PROCESS)
        return false;
    for (size_t i = 0; i < now->n; i++)
        if (now->reading[i].line == is->line && now->reading[i].metric == GTEL_M_PROCESS_COUNT) {
            const struct cost_reading *was = find(&costs->whole[gather], now->reading[i].key, i);
            return !was || was->value != now->reading[i].value;
        }
    return false;
}

/* Whether a value needs no excuse, although it is not as it was. */
static bool is_right(const struct costs *costs, size_t gather, const struct cost_reading *is,
                     const struct cost_reading *was)
{
    if (!was)
        return is_late(costs, is) || lacks_process(costs, gather, is);
    return (is->is_derived && is_mean(costs, gather, is->key, is->value)) ||
           is->source != was->source || is->origin != was->origin ||
           lacks_process(costs, gather, is);
}

/* A count of failures, after the gather in which it has grown. */
static bool is_counted(const struct costs *costs, size_t gather, const struct cost_reading *is,
                       const struct cost_reading *was)
{
    bool is_count = is->metric == GTEL_M_GPU_READINGS_FAILED || is->metric == GTEL_M_SELF_ERRORS;
    if (!is_count || gather == 0)
        return false;
    const struct cost_reading *before = find(&costs->now[gather - 1], is->key, 0);
    const struct cost_reading *whole = find(&costs->whole[gather - 1], is->key, 0);
    return before && whole && is->value - was->value == before->value - whole->value;
}

static void check_value(struct costs *costs, size_t gather, const struct cost_reading *is,
                        const struct cost_reading *was)
{
    struct gtel_str field = field_of(is);
    bool is_same = was && is->text == was->text && is_near(is->value, was->value);
    bool is_info = costs->line[is->line].measurement == GTEL_MEASUREMENT_GPU_INFO;
    if (is_same || (is_info && is_late(costs, is)) || (was && is_counted(costs, gather, is, was)))
        return;
    gtel_buf_printf(&costs->out, " %s %.*s %.9g", costs->line[is->line].text, GTEL_STR_ARG(field),
                    is->value);
    if (was)
        gtel_buf_printf(&costs->out, " (%.9g);", was->value);
    else
        gtel_buf_str(&costs->out, GTEL_STR(" (none);"));
    if (is_right(costs, gather, is, was) || costs->is_excused(is) || costs->wrong++ >= WRONG_MAX)
        return;
    test_note(false, __FILE__, __LINE__, "a value is right or absent");
    printf("    in gather %zu: %s %s %.*s is %.9g, not %.9g\n", gather,
           costs->line[is->line].device, costs->line[is->line].text, GTEL_STR_ARG(field), is->value,
           was ? was->value : NAN);
}

static void add_changed(struct costs *costs, size_t gather, size_t failed)
{
    const struct cost_gather *now = &costs->now[gather];
    size_t before = costs->out.n;
    gtel_buf_printf(&costs->out, "    +%zu with", gather - failed);
    size_t empty = costs->out.n;
    for (size_t i = 0; i < now->n; i++)
        check_value(costs, gather, &now->reading[i],
                    find(&costs->whole[gather], now->reading[i].key, i));
    if (costs->out.n == empty)
        gtel_buf_back(&costs->out, before);
    else
        gtel_buf_char(&costs->out, '\n');
}

/* How many readings from i on have one device, and one measurement if that counts, too. */
static size_t count_same(const struct costs *costs, const struct cost_gather *whole, size_t i,
                         bool is_measurement)
{
    const struct cost_line *first = &costs->line[whole->reading[i].line];
    size_t n = 0;
    for (; i + n < whole->n; n++) {
        const struct cost_line *line = &costs->line[whole->reading[i + n].line];
        if (strcmp(line->device, first->device) != 0 ||
            (is_measurement && line->measurement != first->measurement))
            break;
    }
    return n;
}

static bool are_missing(const bool *missing, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!missing[i])
            return false;
    return true;
}

static void add_fields(struct costs *costs, const struct cost_gather *whole, const bool *missing,
                       size_t from, size_t n)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = from; i < from + n; i++) {
        const struct cost_reading *reading = &whole->reading[i];
        if (!missing[i])
            continue;
        if (reading->line != last)
            gtel_buf_printf(&costs->out, "%s %s", last == UINT32_MAX ? "" : ";",
                            costs->line[reading->line].text);
        gtel_buf_printf(&costs->out, " %.*s", GTEL_STR_ARG(field_of(reading)));
        last = reading->line;
    }
    if (last != UINT32_MAX)
        gtel_buf_char(&costs->out, ';');
}

/* What is missing of the n readings from `from` on, which are of one GPU. */
static void add_device(struct costs *costs, const struct cost_gather *whole, const bool *missing,
                       size_t from, size_t n)
{
    if (are_missing(&missing[from], n)) {
        gtel_buf_str(&costs->out, GTEL_STR(" *"));
        return;
    }
    for (size_t i = from; i < from + n;) {
        size_t same = count_same(costs, whole, i, true);
        const struct cost_line *line = &costs->line[whole->reading[i].line];
        enum gtel_measurement measurement = (enum gtel_measurement)line->measurement;
        if (same > 2 && are_missing(&missing[i], same))
            gtel_buf_printf(&costs->out, " %s *;", gtel_measurement_row(measurement)->name.p);
        else
            add_fields(costs, whole, missing, i, same);
        i += same;
    }
}

static void add_missing(struct costs *costs, size_t gather, size_t failed)
{
    static bool missing[COST_READINGS_MAX];
    const struct cost_gather *whole = &costs->whole[gather];
    for (size_t i = 0; i < whole->n; i++)
        missing[i] = !find(&costs->now[gather], whole->reading[i].key, i);
    for (size_t i = 0, n; i < whole->n; i += n) {
        size_t before = costs->out.n;
        n = count_same(costs, whole, i, false);
        gtel_buf_printf(&costs->out, "    +%zu without %s", gather - failed,
                        costs->line[whole->reading[i].line].device);
        size_t empty = costs->out.n;
        add_device(costs, whole, missing, i, n);
        if (costs->out.n == empty)
            gtel_buf_back(&costs->out, before);
        else
            gtel_buf_char(&costs->out, '\n');
    }
}

/* The end of the line at p, behind its newline; *body is what follows "+N ". */
static struct gtel_str next_line(struct gtel_str *rest, struct gtel_str *body)
{
    struct gtel_str line = {rest->p, gtel_str_find(*rest, '\n')};
    *rest = gtel_str_skip(*rest, line.n + 1);
    *body = gtel_str_skip(line, sizeof("    +0"));
    return line;
}

/* Lines of the same words in several gathers as one: "+1,2,3 without …". */
static void merge_lines(struct costs *costs, struct gtel_buf *merged)
{
    struct gtel_str rest = gtel_buf_text(&costs->out);
    while (rest.n > 0) {
        struct gtel_str body;
        struct gtel_str other;
        struct gtel_str line = next_line(&rest, &body);
        bool is_first = true;
        for (struct gtel_str all = gtel_buf_text(&costs->out); is_first && all.p < line.p;) {
            (void)next_line(&all, &other);
            is_first = !gtel_str_eq(other, body);
        }
        if (!is_first)
            continue;
        gtel_buf_printf(merged, "%.*s", 6, line.p);
        for (struct gtel_str all = rest; all.n > 0;) {
            struct gtel_str later = next_line(&all, &other);
            if (gtel_str_eq(other, body))
                gtel_buf_printf(merged, ",%c", later.p[5]);
        }
        gtel_buf_printf(merged, " %.*s\n", GTEL_STR_ARG(body));
    }
}

struct gtel_str costs_text(struct costs *costs, size_t gathers, size_t failed)
{
    struct gtel_buf merged;
    gtel_buf_done(&costs->out);
    gtel_buf_init(&costs->out, OUT_MAX);
    gtel_buf_init(&merged, OUT_MAX);
    for (size_t i = failed; i < gathers; i++) {
        add_missing(costs, i, failed);
        add_changed(costs, i, failed);
    }
    merge_lines(costs, &merged);
    gtel_buf_str(&merged, gtel_buf_text(&costs->said));
    CHECK(!costs->out.has_failed && !costs->said.has_failed && !merged.has_failed);
    gtel_buf_done(&costs->out);
    costs->out = merged;
    return gtel_buf_text(&costs->out);
}
