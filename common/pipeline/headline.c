/* SPDX-License-Identifier: MIT */
/* What the core makes of a GPU's parts. */
#include "pipeline/headline.h"

#include "base/grow.h"
#include "tables/catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum how { FIRST, HIGHEST, ANY, AWAKE };

static const struct rule {
    enum gtel_metric headline;
    enum how how;
    const char *name[GTEL_HEADLINE_NAMES + 1]; /* NULL from the first unused one on */
} rules[] = {
#define GTEL_HEADLINE(headline_, part_, how_, ...)                                                 \
    [GTEL_HEADLINE_##part_] = {GTEL_M_##headline_, how_, {__VA_ARGS__}},
#include "tables/headlines.def"
#undef GTEL_HEADLINE
};

/* 1 + the rule of a metric; 0: it makes no headline. */
static const uint8_t rule_of[GTEL_M_COUNT] = {
#define GTEL_HEADLINE(headline_, part_, ...) [GTEL_M_##part_] = 1 + GTEL_HEADLINE_##part_,
#include "tables/headlines.def"
#undef GTEL_HEADLINE
};

bool gtel_headline_is_made(enum gtel_metric metric)
{
    for (size_t i = 0; i < GTEL_HEADLINE_RULES; i++)
        if (rules[i].headline == metric)
            return true;
    return false;
}

void gtel_headlines_done(struct gtel_headlines *headlines)
{
    free(headlines->device);
    *headlines = (struct gtel_headlines){0};
}

static bool is_counter(size_t rule)
{
    return gtel_metric_row(rules[rule].headline)->kind == GTEL_KIND_COUNTER;
}

static bool is_same_source(uint32_t rank, uint32_t other)
{
    return rank / GTEL_HEADLINE_NAMES == other / GTEL_HEADLINE_NAMES;
}

/* Keeps which part has stood for the GPU: of a counter the first one, else the best. */
static void keep_best(struct gtel_headline *headline)
{
    for (size_t i = 0; i < GTEL_HEADLINE_RULES; i++) {
        uint32_t rank = headline->choice[i].rank;
        uint32_t best = headline->best[i] - 1; /* UINT32_MAX: none */
        if (headline->choice[i].series && rank < best &&
            !(is_counter(i) && is_same_source(rank, best)))
            headline->best[i] = rank + 1;
    }
}

int gtel_headlines_begin(struct gtel_headlines *headlines, size_t devices)
{
    for (size_t i = 0; i < headlines->n; i++) {
        struct gtel_headline *headline = &headlines->device[i];
        keep_best(headline);
        memset(headline->choice, 0, sizeof(headline->choice));
        headline->all = (struct gtel_headline_choice){0};
        headline->idle_parts = 0;
        headline->work = GTEL_HEADLINE_UNKNOWN;
    }
    return gtel_grow_zeroed(&headlines->device, &headlines->n, devices, GTEL_DEVICES_MAX,
                            sizeof(*headlines->device))
               ? 0
               : -ENOMEM;
}

/* "gpu" is that part; with numbers, "gpu2", "gpu-2" and "gpu-tile1" are of that name, too. */
static bool is_named(struct gtel_str dim, const char *name, bool has_numbers)
{
    const struct gtel_str tile = GTEL_STR("-tile");
    if (!gtel_str_starts(dim, gtel_str_of(name)))
        return false;
    struct gtel_str rest = gtel_str_skip(dim, strlen(name));
    if (gtel_str_starts(rest, tile))
        rest = gtel_str_skip(rest, tile.n);
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] != '-' && (rest.p[i] < '0' || rest.p[i] > '9'))
            return false;
    return has_numbers || dim.n == strlen(name);
}

/* Position of a part's name in the rule; GTEL_HEADLINE_NAMES: it is not among them. */
static uint32_t position_of(const struct rule *rule, const struct gtel_reading *part)
{
    bool has_numbers = rule->how == HIGHEST;
    uint32_t at = 0;
    if (part->metric == GTEL_M_ENGINE_BUSY && part->dim[1].n > 0)
        return GTEL_HEADLINE_NAMES; /* of a part: one engine, or one function */
    if (!rule->name[0])
        return 0;
    while (rule->name[at] && !is_named(part->dim[0], rule->name[at], has_numbers))
        at++;
    return rule->name[at] ? at : GTEL_HEADLINE_NAMES;
}

/* NVIDIA's video engines alone say nothing of a GPU as a whole. */
static bool is_main(struct gtel_str engine)
{
    return gtel_str_eq(engine, GTEL_STR("render")) || gtel_str_eq(engine, GTEL_STR("compute"));
}

/* Whether a part stands for the GPU rather than the one chosen so far. */
static bool is_better(const struct gtel_headline_choice *choice, enum how how,
                      const struct gtel_reading *part)
{
    if (how == FIRST)
        return choice->n == 1; /* else the first one is there, or missing */
    if (!choice->series)
        return true;
    double old = gtel_reading_number(&choice->series->now);
    double value = gtel_reading_number(part);
    return how == AWAKE ? value < old : value > old;
}

static void add_part(struct gtel_headline_choice *choice, enum how how,
                     const struct gtel_series *series, bool is_missing)
{
    choice->n++;
    choice->missing += is_missing;
    if (!is_missing && is_better(choice, how, &series->now))
        choice->series = series;
}

static void record_counters(struct gtel_headline *headline, const struct gtel_reading *now)
{
    enum gtel_headline_work work = GTEL_HEADLINE_UNKNOWN;
    if (now->metric == GTEL_M_ENGINE_BUSY_TIME || now->metric == GTEL_M_ENGINE_TICKS)
        work = GTEL_HEADLINE_COUNTED;
    else if (now->metric == GTEL_M_FREQUENCY_IDLE_TIME)
        work = gtel_reading_number(now) > 0 ? GTEL_HEADLINE_SLEPT : GTEL_HEADLINE_SLEEPLESS;
    if (work > headline->work)
        headline->work = work;
}

void gtel_headlines_add(struct gtel_headlines *headlines, const struct gtel_series *series,
                        bool has_all_engines, bool is_missing)
{
    const struct gtel_reading *now = &series->now;
    if (!now->device || now->device->index >= headlines->n)
        return;
    struct gtel_headline *headline = &headlines->device[now->device->index];
    if (headline->arrivals != now->device->arrivals)
        memset(headline->best, 0, sizeof(headline->best)); /* of a GPU before it, or a driver */
    headline->arrivals = now->device->arrivals;
    if (!is_missing)
        record_counters(headline, now);
    if (rule_of[now->metric] == 0 || now->is_apart)
        return;
    size_t index = rule_of[now->metric] - 1;
    if (index == GTEL_HEADLINE_THROTTLE_STATUS) {
        add_part(&headline->choice[index], ANY, series, is_missing); /* summaries alone suffice */
        index = GTEL_HEADLINE_THROTTLE_ACTIVE;                       /* one set of parts */
    }
    const struct rule *rule = &rules[index];
    uint32_t position = position_of(rule, now);
    uint32_t source = series->rank % GTEL_RANK_STEP;
    uint32_t rank = rule->how == ANY ? 0 : source * GTEL_HEADLINE_NAMES + position;
    struct gtel_headline_choice *choice = &headline->choice[index];
    if (position == GTEL_HEADLINE_NAMES)
        return;
    if (index == GTEL_HEADLINE_ENGINE_BUSY && has_all_engines)
        add_part(&headline->all, rule->how, series, is_missing);
    if (choice->n > 0 && rank > choice->rank)
        return;
    if (choice->n == 0 || rank < choice->rank) {
        *choice = (struct gtel_headline_choice){.rank = rank};
        if (index == GTEL_HEADLINE_ENGINE_BUSY)
            headline->has_main = false;
    }
    add_part(choice, rule->how, series, is_missing);
    if (is_missing)
        return;
    if (index == GTEL_HEADLINE_ENGINE_BUSY)
        headline->has_main |= is_main(now->dim[0]);
    if (rule->how == AWAKE && gtel_str_eq(now->dim[0], GTEL_STR("graphics")))
        headline->idle_samples += headline->idle_parts++ == 0;
}

/*
 * Whether another part of the same source stands for the GPU: one with a better name, which is
 * missing now, or, of a counter, the one whose growth has been reported so far.
 */
static bool is_second_choice(const struct gtel_headline *headline, size_t rule)
{
    uint32_t rank = headline->choice[rule].rank;
    uint32_t best = headline->best[rule] - 1; /* UINT32_MAX: none, which is of no source */
    return is_same_source(rank, best) && (is_counter(rule) ? best != rank : best < rank);
}

static bool has_value(const struct gtel_headline *headline, size_t rule)
{
    const struct gtel_headline_choice *choice = &headline->choice[rule];
    if (!choice->series)
        return false;
    if (rules[rule].how == ANY && gtel_reading_number(&choice->series->now) > 0)
        return true; /* else only when all are known */
    if (rules[rule].how == FIRST)
        return !is_second_choice(headline, rule);
    switch (rule) {
    case GTEL_HEADLINE_ENGINE_BUSY:
        return (headline->has_main || headline->all.n > 0) && choice->missing == 0 &&
               headline->all.missing == 0;
    case GTEL_HEADLINE_FREQUENCY_IDLE:
        return headline->work == GTEL_HEADLINE_SLEPT && headline->idle_samples > 1 &&
               headline->idle_parts > 0 && choice->missing == 0;
    default:
        return choice->missing == 0;
    }
}

bool gtel_headlines_get(const struct gtel_headlines *headlines, size_t device,
                        enum gtel_headline_rule rule, struct gtel_reading *ret, uint32_t *ret_rank)
{
    const struct gtel_headline *headline = &headlines->device[device];
    const struct gtel_headline_choice *choice = &headline->choice[rule];
    if (!has_value(headline, rule))
        return false;
    bool is_of_all = rule == GTEL_HEADLINE_ENGINE_BUSY && headline->all.series &&
                     is_better(choice, rules[rule].how, &headline->all.series->now);
    *ret = is_of_all ? headline->all.series->now : choice->series->now;
    *ret_rank = GTEL_RANK_HEADLINE + choice->rank + 1; /* behind what the source reads itself */
    ret->metric = (uint16_t)rules[rule].headline;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
        ret->dim[i] = GTEL_STR_NONE;
    if (rules[rule].how == ANY || ret->metric == GTEL_M_GPU_BUSY)
        ret->is_derived = true;
    if (rules[rule].how == AWAKE) {
        ret->value.f64 = 1 - gtel_reading_number(ret);
        ret->value_type = GTEL_VALUE_F64;
        *ret_rank += GTEL_RANK_STEP;
        ret->source = GTEL_SOURCE_CORE;
        ret->origin = GTEL_HEADLINE_IDLE;
    }
    return true;
}
