/* SPDX-License-Identifier: MIT */
/* Owns everything; runs one gather through its stages. */
#include "gtel.h"

#include "pipeline/attribution.h"
#include "pipeline/headline.h"
#include "lanes/choice.h"
#include "lanes/lane.h"
#include "lanes/self.h"
#include "pipeline/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A request or a start that was not answered for so many gathers: its helper hangs. */
enum { HANGING_GATHERS = 10 };

static const uint64_t close_wait_ns = 200000000;
/* Of the options Deadline and Interval: what a flood of requests teaches is not below. */
static const uint64_t deadline_min_ns = 10000000;
static const uint64_t period_min_ns = 100000000;

struct gtel_context {
    const struct gtel_env *env;
    const struct gtel_sink *sink;
    struct gtel_options options;
    uint64_t given_ns;   /* by the front end: expected time between samples; 0: learned */
    uint64_t learned_ns; /* the same from what they were, 0 while it is not known */
    uint64_t period_ns;  /* between the last two samples */
    uint64_t sampled_ns; /* when the last sample began */
    uint64_t sampled_wall_ns;
    uint64_t suspended_ns;
    uint64_t request; /* number of the last request */
    uint64_t section;
    uint64_t gather;
    uint32_t rank[GTEL_SOURCES_MAX]; /* by source; UINT32_MAX: not used */
    uint32_t meters;  /* a bit per source that is read for the energy of processes only */
    uint32_t sharers; /* a bit per source that has a share of each process in each sample */
    struct gtel_lane *lane;
    size_t lanes;
    struct gtel_str answer[GTEL_SOURCES_MAX]; /* by lane, of this sample; p NULL: none */
    struct gtel_registry registry;
    struct gtel_batch batch;
    struct gtel_arena texts; /* text values until they are emitted */
    struct gtel_series_table series;
    struct gtel_headlines headlines;
    struct gtel_attribution attribution;
    struct gtel_self self;
    uint64_t emitted_wall_ns;   /* time of the last gather that was emitted; 0: none */
    uint64_t processes_waiting; /* of the last answer */
};

/* Making */

/* Position in the user's list, else in the table. */
static uint32_t rank_of(const struct gtel_setup *setup, int source)
{
    struct gtel_str rest = gtel_option_text(setup->options, GTEL_O_SOURCES);
    struct gtel_str name;
    for (uint32_t i = 0; gtel_str_part(&rest, ',', &name); i++)
        if (gtel_source_find(gtel_str_trim(name)) == source)
            return i;
    return (uint32_t)source;
}

/* Ranks the wanted sources and narrows the Sources option to them, for the helpers. */
static int choose_sources(struct gtel_context *context, const struct gtel_setup *setup)
{
    const struct gtel_choice choice = {.vendor = setup->vendor, .options = setup->options};
    struct gtel_buf names;
    char error[128];
    context->self.is_narrowed = gtel_option_text(setup->options, GTEL_O_SOURCES).n > 0;
    gtel_buf_init(&names, GTEL_OPTION_TEXT_MAX - 1);
    for (int i = 0; gtel_sources[i]; i++) {
        context->rank[i] = UINT32_MAX;
        if (!gtel_choice_is_wanted(&choice, gtel_sources[i]))
            continue;
        context->rank[i] = rank_of(setup, i);
        context->sharers |= (uint32_t)gtel_sources[i]->has_all_engines << i;
        if (strcmp(gtel_sources[i]->lane, "clients") == 0)
            context->attribution.readers |= 1u << i;
        if (gtel_choice_is_meter(&choice, gtel_sources[i]))
            context->meters |= 1u << i;
        gtel_buf_printf(&names, "%s%s", names.n > 0 ? "," : "", gtel_sources[i]->name);
    }
    int r = names.has_failed ? -ENOMEM : 0;
    if (r == 0 && setup->vendor && names.n > 0)
        r = gtel_option_set(&context->options, GTEL_O_SOURCES, gtel_buf_text(&names), error,
                            sizeof(error));
    if (r == 0 && context->meters != 0) /* else gpu_intel would take its bursts for work */
        r = gtel_option_set(&context->options, GTEL_O_XE_ENGINES, GTEL_STR("off"), error,
                            sizeof(error));
    gtel_buf_done(&names);
    return r;
}

static bool has_lane(const struct gtel_context *context, const char *name)
{
    for (size_t i = 0; i < context->lanes; i++)
        if (strcmp(context->lane[i].setup.name, name) == 0)
            return true;
    return false;
}

static int make_lanes(struct gtel_context *context, const struct gtel_setup *setup)
{
    context->lane = calloc(GTEL_SOURCES_MAX, sizeof(*context->lane));
    if (!context->lane)
        return -ENOMEM;
    for (int i = 0; gtel_sources[i]; i++) {
        if (context->rank[i] == UINT32_MAX || has_lane(context, gtel_sources[i]->lane))
            continue;
        struct gtel_lane_setup lane = {.name = gtel_sources[i]->lane,
                                       .env = context->env,
                                       .options = &context->options,
                                       .helper = setup->helper,
                                       .helper_args = setup->helper_args};
        int r = gtel_lane_init(&context->lane[context->lanes++], &lane);
        if (r < 0)
            return r;
    }
    return 0;
}

int gtel_context_new(const struct gtel_setup *setup, struct gtel_context **ret)
{
    const struct gtel_choice choice = {.vendor = setup->vendor, .options = setup->options};
    int r = gtel_choice_check(&choice, &setup->env->log);
    if (r < 0)
        return r;
    struct gtel_context *context = calloc(1, sizeof(*context));
    if (!context)
        return -ENOMEM;
    context->env = setup->env;
    context->sink = setup->sink;
    context->options = *setup->options;
    uint64_t sample_ns = gtel_option_number(setup->options, GTEL_O_SAMPLE_INTERVAL);
    context->given_ns =
        sample_ns > 0 && sample_ns < setup->interval_ns ? sample_ns : setup->interval_ns;
    context->suspended_ns = gtel_env_suspended(setup->env);
    gtel_self_init(&context->self, setup->env);
    r = choose_sources(context, setup);
    if (r == 0)
        r = make_lanes(context, setup);
    if (r == 0) {
        *ret = context;
        context = NULL;
    }
    gtel_context_free(context);
    return r;
}

void gtel_context_free(struct gtel_context *context)
{
    if (!context)
        return;
    gtel_lanes_done(context->lane, context->lanes, close_wait_ns);
    free(context->lane);
    gtel_self_done(&context->self, context->env);
    gtel_headlines_done(&context->headlines);
    gtel_attribution_done(&context->attribution);
    gtel_series_done(&context->series);
    gtel_batch_done(&context->batch);
    gtel_arena_done(&context->texts);
    gtel_registry_done(&context->registry);
    free(context);
}

/* Merge, delta, window */

/*
 * Only one source reports the processes of a device, since lines of two would be added up: the
 * preferred one of those that have reported lately.
 */
static bool is_owned_by_another(struct gtel_context *context, const struct gtel_reading *reading,
                                uint32_t rank)
{
    enum { LATELY = 10 }; /* gathers: a lane may be late for a while */
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    if (!reading->device || (metric != GTEL_M_GPU_PROCESSES &&
                             gtel_metric_row(metric)->measurement != GTEL_MEASUREMENT_GPU_PROCESS))
        return false;
    struct gtel_device *device = context->registry.device[reading->device->index];
    if (context->gather < device->processes_until && rank > device->processes_rank)
        return true;
    device->processes_rank = rank;
    device->processes_until = context->gather + LATELY;
    return false;
}

static bool has_all_engines(const struct gtel_reading *reading)
{
    return reading->source != GTEL_SOURCE_CORE && gtel_sources[reading->source]->has_all_engines;
}

/*
 * What a source makes of many values itself, as delta does of counters, ranks with the derived
 * ones: engine use from the sums over clients is behind every counter of the engines.
 */
static bool is_summed_up(const struct gtel_reading *reading)
{
    return reading->metric == GTEL_M_ENGINE_BUSY && has_all_engines(reading);
}

static void merge_reading(struct gtel_context *context, const struct gtel_reading *reading)
{
    struct gtel_reading copy = *reading;
    uint32_t rank = reading->source == GTEL_SOURCE_CORE ? 0 : context->rank[reading->source];
    if (rank == UINT32_MAX)
        return; /* a source that was not asked for */
    if (is_owned_by_another(context, reading, rank))
        return;
    if (gtel_headline_is_made((enum gtel_metric)reading->metric))
        rank = GTEL_RANK_HEADLINE + rank * GTEL_HEADLINE_NAMES;
    if (is_summed_up(reading))
        rank += GTEL_RANK_STEP;
    if (reading->value_type == GTEL_VALUE_TEXT &&
        gtel_arena_str(&context->texts, reading->value.text, &copy.value.text) < 0) {
        context->series.dropped++;
        return;
    }
    (void)gtel_series_offer(&context->series, &copy, rank, context->section,
                            context->gather); /* NULL: another source is preferred, or counted */
    gtel_self_record(&context->self, reading);
}

/* What the context itself has to know: whether a GPU sleeps or has slept, which processes wait. */
static void note_state(struct gtel_context *context, const struct gtel_reading *reading)
{
    double value = gtel_reading_number(reading);
    struct gtel_device *device =
        reading->device ? context->registry.device[reading->device->index] : NULL;
    if (reading->metric == GTEL_M_SELF_PROCESSES_WAITING) {
        context->processes_waiting = reading->value.u64;
    } else if (reading->metric == GTEL_M_SELF_PROCESSES_VISIBLE) {
        context->processes_waiting = 0;
    } else if (device && reading->metric == GTEL_M_GPU_AWAKE) {
        device->sleeps += value == 0 && !device->is_asleep ? 1 : 0;
        device->is_asleep = value == 0;
    } else if (device && reading->metric == GTEL_M_GPU_SUSPENDED_TIME) {
        device->suspends += value > device->suspended_s || value < device->suspended_s;
        device->suspended_s = value;
    }
}

static void merge_batch(struct gtel_context *context)
{
    for (size_t i = 0; i < context->batch.n; i++) {
        note_state(context, &context->batch.reading[i]);
        merge_reading(context, &context->batch.reading[i]);
    }
}

/* Counted by the graphics parts themselves, which do not count the time in which all is off. */
static bool is_idle_time(enum gtel_metric metric)
{
    return metric == GTEL_M_FREQUENCY_IDLE_TIME || metric == GTEL_M_FREQUENCY_DEEP_IDLE_TIME ||
           metric == GTEL_M_FREQUENCY_DEEPEST_IDLE_TIME;
}

/*
 * A device that was removed has restarted its counters, perhaps beyond where they were. One that
 * has slept was neither at work nor idle meanwhile, so that no share of time spans it; energy stays
 * energy. Work in an interval with a sleep that no check has met is still a share of it, idle time
 * is not; so is work that a device reports while it sleeps, as NPUs do.
 */
static void forget_earlier_life(struct gtel_series *series, bool is_share)
{
    const struct gtel_device *device = series->now.device;
    uint32_t arrivals = device ? device->arrivals : 0;
    uint32_t sleeps = device ? device->sleeps : 0;
    uint32_t suspends = device ? device->suspends : 0;
    bool is_work = device && device->is_asleep && series->now.metric == GTEL_M_ENGINE_BUSY_TIME;
    if (series->arrivals != arrivals || (is_share && series->sleeps != sleeps && !is_work) ||
        (series->suspends != suspends && is_idle_time((enum gtel_metric)series->now.metric)))
        series->delta.host_ns = 0;
    series->arrivals = arrivals;
    series->sleeps = sleeps;
    series->suspends = suspends;
}

static uint64_t interval_of(const struct gtel_context *context)
{
    return context->given_ns > 0 ? context->given_ns : context->learned_ns;
}

static void derive(struct gtel_context *context, struct gtel_series *series, uint64_t now_ns)
{
    enum gtel_metric rate = gtel_metric_row((enum gtel_metric)series->now.metric)->rate;
    double value;
    if (rate == GTEL_M_NONE)
        return;
    bool is_share = gtel_metric_row(rate)->kind == GTEL_KIND_RATIO;
    forget_earlier_life(series, is_share);
    uint64_t host_ns = series->now.has_device_clock ? now_ns : series->now.t_ns;
    if (gtel_delta_rate(&series->delta, &series->now, host_ns, interval_of(context), &value) < 0)
        return;
    if (is_share && gtel_delta_share(value, &value) < 0)
        return;
    struct gtel_reading derived = series->now;
    derived.metric = (uint16_t)rate;
    derived.value_type = GTEL_VALUE_F64;
    derived.value.f64 = value;
    derived.is_derived = true;
    (void)gtel_series_offer(&context->series, &derived, series->rank + GTEL_RANK_STEP,
                            context->section, context->gather); /* NULL: it is read directly */
}

/* Whether several samples make one interval; else only the last one counts. */
static bool is_folding(const struct gtel_context *context)
{
    return gtel_option_number(&context->options, GTEL_O_SAMPLE_INTERVAL) > 0;
}

/* Makes the headlines of the devices of this section from what their sources have reported. */
static void add_headlines(struct gtel_context *context)
{
    struct gtel_headlines *headlines = &context->headlines;
    struct gtel_series_table *table = &context->series;
    struct gtel_reading reading;
    uint32_t rank;
    if (gtel_headlines_begin(headlines, context->registry.n) < 0)
        table->dropped++;
    gtel_series_sort(table);
    for (size_t i = 0; i < table->n; i++) {
        const struct gtel_series *series = table->sorted[i];
        bool is_missing = series->section != context->section;
        if (!is_missing || !gtel_series_is_silent(series, context->gather))
            gtel_headlines_add(headlines, series, has_all_engines(&series->now), is_missing);
    }
    for (size_t d = 0; d < context->registry.n && d < headlines->n; d++)
        for (size_t rule = 0; rule < GTEL_HEADLINE_RULES; rule++)
            if (gtel_headlines_get(headlines, d, (enum gtel_headline_rule)rule, &reading, &rank) &&
                gtel_series_offer(table, &reading, rank, context->section, context->gather))
                gtel_self_record(&context->self, &reading);
}

/* What is used of a memory as a share of its size, which is behind it in the order of output. */
static void add_share(struct gtel_context *context, const struct gtel_series *used,
                      const struct gtel_reading *size)
{
    bool is_whole = size->metric == GTEL_M_GPU_MEMORY_TOTAL;
    double share = gtel_reading_number(&used->now) / gtel_reading_number(size);
    if (used->now.metric != (is_whole ? GTEL_M_GPU_MEMORY_USED : GTEL_M_MEMORY_USED) ||
        !gtel_reading_is_same_part(&used->now, size) || !(share >= 0 && share <= 1))
        return;
    struct gtel_reading reading = used->now;
    reading.metric = is_whole ? GTEL_M_GPU_MEMORY_USED_RATIO : GTEL_M_MEMORY_USED_RATIO;
    reading.value_type = GTEL_VALUE_F64;
    reading.value.f64 = share;
    if (gtel_series_offer(&context->series, &reading, used->rank, context->section,
                          context->gather))
        gtel_self_record(&context->self, &reading);
}

/* One that hangs is not waited for for ever: then it costs its own readings and no time. */
static bool is_hanging(const struct gtel_context *context, const struct gtel_lane *lane)
{
    return gtel_lane_is_waiting(lane) && context->request - lane->request >= HANGING_GATHERS;
}

/* A lane that hangs or has no helper now decides only where no other one knows the device. */
static void update_presence(struct gtel_context *context)
{
    enum { OLD, FORGET, NEW, STEPS };
    for (size_t d = 0; d < context->registry.n; d++)
        context->registry.device[d]->is_present = false;
    for (int step = OLD; step < STEPS; step++)
        for (size_t l = 0; l < context->lanes; l++) {
            const struct gtel_lane *lane = &context->lane[l];
            bool is_old =
                lane->answers == 0 || lane->state == GTEL_LANE_OFF || is_hanging(context, lane);
            for (size_t i = 0; is_old == (step == OLD) && i < lane->map.n; i++)
                if (lane->map.device[i] && (step == FORGET || lane->map.is_present[i]))
                    lane->map.device[i]->is_present = step != FORGET;
        }
}

/* Takes what was merged in this section through delta into the window. */
static void finish_section(struct gtel_context *context, uint64_t now_ns)
{
    update_presence(context);
    struct gtel_series_table *table = &context->series;
    const struct gtel_series *used = NULL;
    for (size_t i = 0, n = table->n; i < n; i++) {
        struct gtel_series *series = table->sorted[i];
        if (series->section == context->section && !series->now.is_derived)
            derive(context, series, now_ns);
    }
    add_headlines(context);
    gtel_series_sort(table);
    for (size_t i = 0; i < table->n; i++) { /* new ones are added at the end */
        struct gtel_series *series = table->sorted[i];
        enum gtel_metric metric = (enum gtel_metric)series->now.metric;
        if (series->section != context->section)
            continue;
        if (metric == GTEL_M_GPU_MEMORY_USED || metric == GTEL_M_MEMORY_USED)
            used = series;
        else if (used && (metric == GTEL_M_GPU_MEMORY_TOTAL || metric == GTEL_M_MEMORY_TOTAL))
            add_share(context, used, &series->now);
        if (!is_folding(context))
            gtel_window_reset(&series->window);
        gtel_window_add(&series->window, &series->now);
    }
}

/* Sources of a lane whose readings show that a GPU of their drivers answers: a bit each. */
static uint32_t direct_sources(const struct gtel_context *context, const struct gtel_lane *lane)
{
    uint32_t direct = 0;
    for (int i = 0; gtel_sources[i]; i++)
        if (context->rank[i] != UINT32_MAX && !gtel_sources[i]->is_indirect &&
            (context->meters >> i & 1) == 0 && strcmp(gtel_sources[i]->lane, lane->setup.name) == 0)
            direct |= 1u << i;
    return direct;
}

/* Decodes an answer into the merged picture of this section. */
static int take_answer(struct gtel_context *context, struct gtel_lane *lane,
                       struct gtel_str payload)
{
    gtel_batch_reset(&context->batch);
    int r = gtel_wire_read_answer(payload, &context->registry, &lane->map, &context->batch,
                                  &lane->answer);
    gtel_lane_understood(lane, r);
    if (r < 0)
        return r;
    merge_batch(context);
    gtel_self_answered(&context->self, &context->registry, &lane->map, &context->batch,
                       direct_sources(context, lane));
    return 0;
}

/* Energy of processes: behind the merge, since GPUs and clients are read in different lanes. */
static void attribute_energy(struct gtel_context *context, bool has_slept)
{
    const struct gtel_attribution_sample sample = {.registry = &context->registry,
                                                   .section = context->section,
                                                   .gather = context->gather,
                                                   .has_slept = has_slept};
    if (gtel_option_number(&context->options, GTEL_O_PROCESS_ENERGY) > 0 &&
        gtel_attribution_run(&context->attribution, &context->series, &sample) < 0)
        context->series.dropped++;
}

/* Emit */

/* The time of so many samples before, or about it where the time of day was set back since then. */
static uint64_t beginning_wall_ns(const struct gtel_context *context, uint16_t gathers)
{
    uint64_t last_ns = context->emitted_wall_ns < context->sampled_wall_ns
                           ? context->emitted_wall_ns
                           : context->sampled_wall_ns - context->period_ns;
    return gathers > 1 ? context->sampled_wall_ns - gathers * context->period_ns : last_ns;
}

/*
 * A counter of a line that is new begins with 0 at the time when it was read before: stores take
 * differences, and would lose what the line has done since then.
 */
static void emit_beginnings(struct gtel_context *context)
{
    const struct gtel_sink *sink = context->sink;
    for (size_t i = 0; i < context->series.n; i++) {
        struct gtel_series *series = context->series.sorted[i];
        if (series->now.metric != GTEL_M_PROCESS_JOULES || series->window.n == 0 ||
            series->is_begun)
            continue;
        series->is_begun = true;
        if (context->emitted_wall_ns == 0 || !(series->now.value.f64 > 0))
            continue;
        struct gtel_reading zero = series->now;
        zero.value.f64 = 0;
        gtel_sink_begin(sink, beginning_wall_ns(context, series->now.gathers));
        sink->put(sink->arg, &zero, GTEL_ASPECT_VALUE);
        gtel_sink_end(sink);
    }
}

/* Whether it comes from a source that is read for something else. */
static bool is_silent(const struct gtel_context *context, const struct gtel_reading *reading)
{
    bool is_core = reading->source == GTEL_SOURCE_CORE;
    return context->meters != 0 && (is_core ? reading->metric == GTEL_M_GPU_BUSY
                                            : (context->meters >> reading->source & 1) != 0);
}

static void emit_window(struct gtel_context *context, uint64_t wall_ns)
{
    struct gtel_series_table *table = &context->series;
    gtel_series_sort(table);
    if (is_folding(context))
        gtel_series_add_absences(table, context->sharers);
    uint64_t max_age_ns = gtel_option_number(&context->options, GTEL_O_UNCHANGED) > 0
                              ? gtel_option_number(&context->options, GTEL_O_INFO_INTERVAL)
                              : 0;
    gtel_sink_begin(context->sink, wall_ns);
    for (size_t i = 0; i < table->n; i++) {
        struct gtel_series *series = table->sorted[i];
        if (gtel_metric_row((enum gtel_metric)series->now.metric)->field.n > 0 &&
            !is_silent(context, &series->now) &&
            (max_age_ns == 0 ||
             gtel_series_mark_sent(series, context->gather, context->sampled_ns, max_age_ns)))
            gtel_window_emit(&series->window, &series->now, context->sink);
        gtel_window_reset(&series->window);
    }
    gtel_sink_end(context->sink);
    gtel_arena_reset(&context->texts);
}

/* What is said of each device as a whole, after what its lanes have answered. */
static void report_devices(struct gtel_context *context, uint64_t t_ns)
{
    gtel_batch_reset(&context->batch);
    context->batch.source = GTEL_SOURCE_CORE;
    context->batch.origin = 0;
    context->batch.t_ns = t_ns;
    gtel_self_report(&context->self, &context->registry, &context->options, &context->batch);
}

/* Takes in what the core has reported itself. */
static void finish_report(struct gtel_context *context, uint64_t now_ns)
{
    context->section++;
    merge_batch(context);
    finish_section(context, now_ns);
}

/* An answer to an earlier request: emitted now with its own time, unless samples are folded. */
static void take_late_answer(struct gtel_context *context, struct gtel_lane *lane,
                             struct gtel_str payload)
{
    uint64_t now_ns = lane->request_ns;
    uint64_t wall_ns = lane->request_wall_ns;
    bool is_primed = context->emitted_wall_ns > 0;
    context->section++;
    gtel_self_begin(&context->self, lane->request);
    if (take_answer(context, lane, payload) < 0)
        return;
    finish_section(context, now_ns);
    if (!is_primed && !is_folding(context))
        return;
    report_devices(context, now_ns);
    finish_report(context, now_ns);
    if (is_primed && !is_folding(context))
        emit_window(context, wall_ns);
}

/* Sample */

static void ask(const struct gtel_context *context, struct gtel_lane *lane)
{
    gtel_lane_request(lane, context->request, context->sampled_ns, context->sampled_wall_ns,
                      context->batch.findings != NULL);
}

/* Receives from every lane once; asks again those that have just become free. */
static void collect(struct gtel_context *context)
{
    for (size_t i = 0; i < context->lanes; i++) {
        struct gtel_lane *lane = &context->lane[i];
        struct gtel_str payload;
        ask(context, lane);
        while (!context->answer[i].p && gtel_lane_receive(lane, &payload) == 1) {
            if (lane->request == context->request)
                context->answer[i] = payload;
            else
                take_late_answer(context, lane, payload);
        }
        if (!context->answer[i].p)
            ask(context, lane);
    }
}

static bool is_any_waiting(const struct gtel_context *context)
{
    for (size_t i = 0; i < context->lanes; i++)
        if (gtel_lane_is_waiting(&context->lane[i]) && !is_hanging(context, &context->lane[i]))
            return true;
    return false;
}

static void wait_for_lanes(struct gtel_context *context, uint64_t wait_ns)
{
    for (;;) {
        collect(context);
        uint64_t waited = gtel_env_now(context->env) - context->sampled_ns;
        if (!is_any_waiting(context) || waited >= wait_ns)
            return;
        gtel_lanes_wait(context->lane, context->lanes, wait_ns - waited);
    }
}

/*
 * The expected time between samples, so that gaps and catch-up calls are known as such: given by
 * the front end, else what two periods in a row agree on.
 */
static void learn_interval(struct gtel_context *context, uint64_t period_ns)
{
    uint64_t last = context->period_ns;
    if (period_ns < period_min_ns)
        return;
    context->period_ns = period_ns;
    if (period_ns <= 2 * last && last <= 2 * period_ns)
        context->learned_ns = period_ns;
}

/* A host that has slept: no counter's growth over that time means anything. True when it has. */
static bool check_suspend(struct gtel_context *context)
{
    bool has_slept = gtel_env_has_slept(context->env, &context->suspended_ns);
    if (has_slept)
        gtel_series_forget_bases(&context->series);
    return has_slept;
}

static uint64_t deadline(const struct gtel_context *context)
{
    uint64_t wait_ns = gtel_option_number(&context->options, GTEL_O_DEADLINE);
    uint64_t half = interval_of(context) / 2;
    if (half > 0 && half < wait_ns)
        wait_ns = half;
    return wait_ns > deadline_min_ns ? wait_ns : deadline_min_ns;
}

static void forget_windows(struct gtel_context *context)
{
    for (size_t i = 0; i < context->series.n; i++)
        gtel_window_reset(&context->series.sorted[i]->window);
}

void gtel_context_sample(struct gtel_context *context, uint64_t wait_ns)
{
    uint64_t now_ns = gtel_env_now(context->env);
    uint64_t period_ns = context->sampled_ns ? now_ns - context->sampled_ns : 0;
    if (wait_ns == 0)
        wait_ns = deadline(context);
    context->sampled_ns = now_ns;
    context->sampled_wall_ns = context->env->ops->wall_ns(context->env->arg);
    context->request++;
    memset(context->answer, 0, sizeof(context->answer));
    bool has_slept = check_suspend(context);
    if (!is_folding(context)) /* what primed the counters is not emitted */
        forget_windows(context);
    for (size_t i = 0; i < context->lanes; i++)
        gtel_lane_tick(&context->lane[i], context->request, now_ns);
    wait_for_lanes(context, wait_ns);
    if (has_slept) /* an answer from before the sleep has set bases again */
        gtel_series_forget_bases(&context->series);

    context->section++;
    gtel_self_begin(&context->self, context->request);
    for (size_t i = 0; i < context->lanes; i++) {
        struct gtel_lane *lane = &context->lane[i];
        if (context->answer[i].p)
            (void)take_answer(context, lane, context->answer[i]); /* bad: dropped and logged */
        else if (gtel_lane_is_waiting(lane))
            gtel_lane_missed(lane, gtel_env_now(context->env), wait_ns);
    }
    finish_section(context, now_ns);
    attribute_energy(context, has_slept);
    learn_interval(context, period_ns);
}

/* What the program says of itself, and of each device as a whole. */
static void report_self(struct gtel_context *context)
{
    struct gtel_self_totals totals = {
        .gather_ns = gtel_env_now(context->env) - context->sampled_ns,
        .dropped = context->series.dropped + context->registry.dropped + context->batch.dropped,
    };
    for (size_t i = 0; i < context->lanes; i++) {
        const struct gtel_lane *lane = &context->lane[i];
        totals.lanes_late += lane->late;
        totals.lane_restarts += lane->restarts;
        totals.errors += lane->past.errors + lane->answer.errors;
        totals.dropped += lane->past.dropped + lane->answer.dropped;
        totals.rss_bytes += lane->answer.rss_bytes;
    }
    report_devices(context, context->sampled_ns);
    gtel_self_totals(&context->self, &context->registry, &totals, &context->batch);
    finish_report(context, context->sampled_ns);
}

int gtel_context_shortage(const struct gtel_context *context)
{
    int shortage = 0;
    for (size_t i = 0; i < context->lanes; i++) {
        const struct gtel_lane *lane = &context->lane[i];
        int error = lane->shortage < 0 ? lane->shortage : lane->start_error;
        shortage = gtel_fs_shortage_fix(error)[0] ? error : shortage;
    }
    return shortage;
}

static void say_what_was_found(struct gtel_context *context)
{
    for (size_t i = 0; i < context->lanes; i++) {
        const struct gtel_lane *lane = &context->lane[i];
        bool has_errors = lane->answer.errors + lane->past.errors > 0;
        if (lane->is_failing || (has_errors && context->registry.n == 0))
            return; /* its own message says why nothing comes */
    }
    if (gtel_context_is_starting(context))
        return;
    gtel_self_say_found(&context->self, gtel_registry_gpus(&context->registry, true),
                        gtel_context_shortage(context),
                        gtel_option_number(&context->options, GTEL_O_RESCAN));
}

void gtel_context_emit(struct gtel_context *context)
{
    report_self(context);
    gtel_series_sort(&context->series);
    emit_beginnings(context);
    emit_window(context, context->sampled_wall_ns);
    context->emitted_wall_ns = context->sampled_wall_ns;
    gtel_series_age(&context->series, context->gather++, context->sampled_ns);
    say_what_was_found(context);
}

void gtel_context_gather(struct gtel_context *context)
{
    gtel_context_sample(context, 0);
    gtel_context_emit(context);
}

uint64_t gtel_context_processes_waiting(const struct gtel_context *context)
{
    return context->processes_waiting;
}

bool gtel_context_is_starting(const struct gtel_context *context)
{
    for (size_t i = 0; i < context->lanes; i++) {
        const struct gtel_lane *lane = &context->lane[i];
        if (lane->state != GTEL_LANE_OFF && lane->answers == 0)
            return true;
    }
    return false;
}

uint64_t gtel_context_due(const struct gtel_context *context)
{
    uint64_t first = 0;
    for (size_t i = 0; i < context->lanes; i++) {
        uint64_t due = gtel_group_due(&context->lane[i].group);
        first = due > 0 && (first == 0 || due < first) ? due : first;
    }
    return first;
}

void gtel_context_tick(struct gtel_context *context)
{
    for (size_t i = 0; i < context->lanes; i++)
        gtel_group_tick(&context->lane[i].group);
}

const struct gtel_registry *gtel_context_registry(const struct gtel_context *context)
{
    return &context->registry;
}

void gtel_context_set_findings(struct gtel_context *context, struct gtel_findings *findings)
{
    context->batch.findings = findings;
}

static enum gtel_lane_health health_of(const struct gtel_lane *lane)
{
    if (lane->start_error < 0)
        return GTEL_LANE_UNSTARTED;
    if (lane->is_failing)
        return GTEL_LANE_BROKEN;
    if (gtel_lane_is_waiting(lane))
        return GTEL_LANE_LATE;
    return lane->answers > 0 ? GTEL_LANE_FINE : GTEL_LANE_UNUSED;
}

bool gtel_context_lane(const struct gtel_context *context, size_t i, struct gtel_lane_report *ret)
{
    if (i >= context->lanes)
        return false;
    const struct gtel_lane *lane = &context->lane[i];
    *ret = (struct gtel_lane_report){
        .name = lane->setup.name,
        .health = health_of(lane),
        .error = lane->start_error,
        .fix = lane->start_error < 0 ? gtel_channel_start_fix(lane->start_error) : NULL,
    };
    return true;
}

const char *gtel_reading_origin(const struct gtel_reading *reading)
{
    if (reading->source == GTEL_SOURCE_CORE)
        return reading->origin == GTEL_HEADLINE_IDLE ? gtel_self_idle_origin : "gtel";
    return gtel_sources[reading->source]->origins[reading->origin];
}
