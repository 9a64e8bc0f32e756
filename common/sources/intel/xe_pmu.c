/* SPDX-License-Identifier: MIT */
/*
 * Source xe_pmu: how busy the engines of xe GPUs are, from the driver's perf PMU.
 *
 * An open event of an engine keeps its GT awake (xe_perf.h), so the counters are open for a short
 * time only: a burst. sample() comes after that of source xe, which has just read for each GT
 * whether it slept since the gather before (pipeline/device.h). If one did not, a burst is due at
 * once: tick() opens the counters of the GTs that worked, and is called again when the window is
 * over to read and close them. The next sample() reports what they showed. So a gather never waits
 * for a burst, no burst lasts longer than the window but for the time the kernel takes to call us,
 * and a GPU that sleeps, rests or idles has no event open: engines of a GT that slept all the time
 * did nothing, which is known without asking. The time of a burst is reported to source xe
 * (held_ns), which would otherwise never see the GT idle again and let the GPU sleep.
 *
 * One gather has the values of all engines of a GPU or of none, so that a maximum over them means
 * something. A GT that seems never to sleep for quite all of the time, be it that reading its files
 * wakes it, is sampled in every gather: else the one after a burst without work would have nothing.
 * With the option XeEngines at "hold" the counters stay open instead, from the first
 * time on at which the GPU is found awake.
 */
#include "base/error.h"
#include "host/kernel.h"
#include "sources/drm/card_source.h"
#include "sources/intel/xe_perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Counters: engine-active-ticks and engine-total-ticks, 64 bits of ticks of
 * the firmware's clock (kernel: xe/xe_pmu.c, xe/xe_guc_engine_activity.c): they do not turn. A
 * burst takes the difference of both over its own time.
 */
/* In the order of origins. */
enum { SAMPLED, HELD, SLEPT };

enum { PAIRS_MAX = GTEL_PMU_EVENTS_MAX / 2 };

/* The longest time for which a burst is open; a shorter interval gets a tenth of itself. */
static const uint64_t window_ns = 100000000;
enum { WINDOW_PART = 10 };
/* A GT takes some milliseconds to fall asleep when it is let go: after a burst without work, too.
 */
static const uint64_t settle_ns = 30000000;
/* How long a GT is treated as one that never sleeps all of the time. */
static const uint64_t waking_ns = 60 * UINT64_C(1000000000);

struct xe_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct gtel_xe_perf perf;
    struct gtel_xe_engines engines;
    uint32_t functions;      /* 1, and one per VF */
    int error;               /* of the last check or try; 0: none */
    uint32_t described;      /* after which discovery; 0: to be done again */
    uint32_t listed;         /* after which one the engines were: ccs_mode changes them */
    int logged;              /* the last failure that was, or 0: something has succeeded since */
    bool is_refused;         /* the last try of counting failed */
    int handle_plus_1;       /* of the open group */
    size_t n;                /* pairs of counters in it: active and total ticks */
    uint8_t pair[PAIRS_MAX]; /* the value that each is for: function × engines + engine */
    uint64_t first[GTEL_PMU_EVENTS_MAX];
    uint64_t opened_ns;
    uint64_t due_ns;   /* when tick() opens or closes the burst; 0: none is due */
    uint32_t next_gts; /* the GTs of the burst that is due, and of the last one */
    uint32_t burst_gts;
    uint64_t result_ns;      /* when it ended; 0: reported, or failed */
    double share[PAIRS_MAX]; /* by value; negative: not known */
    uint32_t waking_gts;     /* sampled in every gather, until waking_until_ns */
    uint64_t waking_until_ns;
    uint64_t held_ticks; /* of all held counters together: whether any has moved */
};

struct xe_pmu {
    struct gtel_card_source source;
    uint64_t sampled_ns;
    uint64_t period_ns; /* between the last two samples */
};

static const char *const drivers[] = {"xe", NULL};

static bool is_held(const struct xe_pmu *state)
{
    return gtel_option_is(state->source.options, GTEL_O_XE_ENGINES, "hold");
}

static void close_group(const struct gtel_env *env, struct xe_card *xe)
{
    if (xe->handle_plus_1 != 0)
        env->ops->pmu_close(env->arg, xe->handle_plus_1 - 1);
    xe->handle_plus_1 = 0;
}

static void close_card(const struct gtel_env *env, void *own)
{
    struct xe_card *xe = own;
    close_group(env, xe);
    gtel_xe_perf_close(env, &xe->perf);
}

/* ---- what the PMU is, and which counters to open ---- */

static void log_result(const struct gtel_env *env, struct xe_card *xe, int r)
{
    gtel_intel_perf_log(env, "xe_pmu", xe->card->drm.key, "engine use", r, &xe->logged);
}

/*
 * The same of a try of counting. While it is refused, nothing is reported of engines, also not that
 * they slept: values that come only when there is no work would mislead.
 */
static void note_try(const struct gtel_env *env, struct xe_card *xe, int r)
{
    xe->is_refused = gtel_error_is_broken(r);
    xe->error = r < 0 ? r : xe->error;
    log_result(env, xe, r);
}

/*
 * How many VFs count for themselves; without SR-IOV the file is not there. Values of other parts
 * than there are now are forgotten.
 */
static int read_functions(const struct gtel_env *env, struct xe_card *xe)
{
    uint64_t vfs = 0;
    int r = gtel_fs_u64(env, GTEL_FS_AT("%s/sriov_numvfs", xe->card->path), &vfs);
    if (r < 0 && r != -ENOENT)
        return r;
    uint32_t functions = vfs > 255 ? 1 : (uint32_t)vfs + 1;
    if (functions != xe->functions) {
        close_group(env, xe);
        xe->result_ns = 0;
    }
    xe->functions = functions;
    return 0;
}

/* Once after each discovery: the number of the PMU, its CPU and the VFs may have changed. */
static void describe(const struct xe_pmu *state, struct xe_card *xe)
{
    const struct gtel_env *env = state->source.env;
    if (xe->described == state->source.discoveries)
        return;
    xe->described = state->source.discoveries;
    int r = read_functions(env, xe);
    if (r == 0 && xe->handle_plus_1 != 0 && gtel_xe_perf_is_current(env, &xe->perf))
        return;
    close_group(env, xe);
    gtel_xe_perf_close(env, &xe->perf);
    if (r == 0 && xe->engines.gts == 0)
        r = gtel_xe_engines_scan(env, xe->card->path, &xe->engines);
    if (r == 0)
        r = gtel_xe_perf_open(env, xe->card->drm.key, &xe->perf);
    xe->error = r;
    if (r < 0 || !xe->is_refused)
        log_result(env, xe, r);
}

/* Opens the counters of all engines of these GTs, and reads them for the first time. */
static int open_group(const struct gtel_env *env, struct xe_card *xe, uint32_t gts)
{
    uint64_t config[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    size_t engines = xe->engines.n;
    xe->n = 0;
    for (size_t i = 0; i < PAIRS_MAX; i++)
        xe->share[i] = -1;
    for (size_t i = 0; i < engines * xe->functions && i < PAIRS_MAX; i++) {
        const struct gtel_xe_engine *engine = &xe->engines.engine[i % engines];
        uint32_t function = (uint32_t)(i / engines);
        if ((gts >> engine->gt & 1) == 0)
            continue;
        config[2 * xe->n] = gtel_xe_perf_config(&xe->perf, xe->perf.active, engine, function);
        config[2 * xe->n + 1] = gtel_xe_perf_config(&xe->perf, xe->perf.total, engine, function);
        xe->pair[xe->n++] = (uint8_t)i;
    }
    if (xe->n == 0)
        return -ENOENT;
    int r = gtel_env_pmu_open(env, xe->perf.type_number, config, 2 * xe->n, xe->perf.cpu);
    if (r < 0)
        return r;
    xe->handle_plus_1 = r + 1;
    xe->burst_gts = gts;
    r = env->ops->pmu_read(env->arg, r, xe->first, 2 * xe->n, &enabled_ns);
    if (r < 0)
        close_group(env, xe);
    return r;
}

/* The same for a GPU whose engines may still have to be found out. -ENODEV: the PMU has gone. */
static int begin(const struct gtel_env *env, struct xe_card *xe, uint32_t gts)
{
    int r = gtel_xe_perf_is_current(env, &xe->perf) ? read_functions(env, xe) : -ENODEV;
    if (r == 0 && (!xe->engines.is_listed || xe->listed != xe->described)) {
        r = gtel_xe_engines_list(env, xe->card->path, &xe->perf, &xe->engines);
        xe->listed = xe->described;
    }
    if (r == 0)
        r = open_group(env, xe, gts);
    if (r != -ENODEV)
        note_try(env, xe, r);
    return r;
}

/* ---- bursts ---- */

/* The share of a pair of counters that has grown, or a negative number. */
static double share_of(const uint64_t first[2], const uint64_t last[2])
{
    uint64_t active = last[0] - first[0];
    uint64_t total = last[1] - first[1];
    if (last[0] < first[0] || last[1] <= first[1] || (double)active > 1.05 * (double)total)
        return -1; /* begun again, standing still, or no share */
    return active < total ? (double)active / (double)total : 1;
}

static void end_burst(const struct gtel_env *env, struct xe_card *xe)
{
    uint64_t last[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    bool has_worked = false;
    if (xe->handle_plus_1 == 0)
        return;
    int r = env->ops->pmu_read(env->arg, xe->handle_plus_1 - 1, last, 2 * xe->n, &enabled_ns);
    close_group(env, xe);
    uint64_t now_ns = gtel_env_now(env);
    xe->due_ns = 0;
    for (size_t i = 0; r == 0 && i < xe->n; i++) {
        xe->share[xe->pair[i]] = share_of(&xe->first[2 * i], &last[2 * i]);
        has_worked = has_worked || xe->share[xe->pair[i]] != 0;
    }
    xe->result_ns = r == 0 ? now_ns : 0;
    xe->card->gts.held |= xe->burst_gts;
    xe->card->gts.held_ns += now_ns - xe->opened_ns + (has_worked || r < 0 ? 0 : settle_ns);
    if (r < 0)
        note_try(env, xe, r);
}

static int begin_burst(const struct xe_pmu *state, struct xe_card *xe)
{
    const struct gtel_env *env = state->source.env;
    uint64_t part_ns = state->period_ns / WINDOW_PART;
    xe->due_ns = 0;
    if (!gtel_card_may_read(xe->card))
        return 0;
    xe->opened_ns = gtel_env_now(env);
    int r = begin(env, xe, xe->next_gts);
    if (r == 0)
        xe->due_ns = xe->opened_ns + (part_ns < window_ns ? part_ns : window_ns);
    return r == -ENODEV ? r : 0;
}

static uint64_t due_ns(const void *own)
{
    return ((const struct xe_card *)own)->due_ns;
}

static int tick_card(void *state, void *own, struct gtel_batch *batch)
{
    struct xe_card *xe = own;
    (void)batch;
    if (xe->handle_plus_1 == 0)
        return begin_burst(state, xe);
    end_burst(((const struct xe_pmu *)state)->source.env, xe);
    return 0;
}

/* ---- readings ---- */

/* What is known of an engine, or of all of a class. */
struct value {
    double value;  /* its share, or its active ticks; negative: not known */
    uint64_t t_ns; /* of a share, 0: now, since it slept; of ticks, the total on their clock */
};

/*
 * Of ticks as a counter on the clock of total ticks, the rate is a share of them. Two sums of ticks
 * over the same engines have the mean of the shares as quotient.
 */
static void put(struct gtel_batch *batch, const struct xe_card *xe, bool is_held,
                const struct value *what, const struct gtel_str dims[3])
{
    const struct gtel_reading like = {.device = xe->card->device,
                                      .t_ns = what->t_ns + is_held, /* 0 would mean "now" */
                                      .has_device_clock = is_held,
                                      .dim = {dims[0], dims[1], dims[2]}};
    batch->origin = is_held ? HELD : what->t_ns > 0 ? SAMPLED : SLEPT;
    gtel_batch_like(batch, &like, is_held ? GTEL_M_ENGINE_TICKS : GTEL_M_ENGINE_BUSY,
                    is_held ? what->value / 1e9 : what->value);
}

/* With VFs each function has values of its own, and the GPU as a whole has none. */
static struct gtel_str instance_of(struct gtel_batch *batch, const struct xe_card *xe,
                                   uint32_t function)
{
    char text[16] = "pf";
    if (xe->functions == 1)
        return GTEL_STR_NONE;
    if (function > 0)
        (void)snprintf(text, sizeof(text), "vf%u", (unsigned)function);
    return gtel_batch_text(batch, gtel_str_of(text));
}

static size_t count_class(const struct xe_card *xe, unsigned class)
{
    size_t n = 0;
    for (size_t e = 0; e < xe->engines.n; e++)
        n += xe->engines.engine[e].engine_class == class;
    return n;
}

static void put_capacity(struct gtel_batch *batch, const struct xe_card *xe)
{
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        size_t n = count_class(xe, c);
        if (n > 0)
            gtel_batch_u64(batch, xe->card->device, GTEL_M_ENGINE_CAPACITY,
                           gtel_engine_class_name((enum gtel_engine_class)c), n);
    }
}

/* An engine's share: as sampled, or 0 when its GT slept all the time. */
static struct value share_of_engine(const struct xe_card *xe, size_t engine, uint32_t function)
{
    uint16_t gt = xe->engines.engine[engine].gt;
    size_t i = function * xe->engines.n + engine;
    if (xe->result_ns > 0 && (xe->burst_gts >> gt & 1) != 0)
        return (struct value){i < PAIRS_MAX ? xe->share[i] : -1, xe->result_ns};
    return (struct value){(xe->card->gts.idle >> gt & 1) != 0 ? 0 : -1, 0};
}

/* The values of all engines for a function; false when one is not known. held: what was read. */
static bool find_values(const struct xe_card *xe, const uint64_t *held, uint32_t function,
                        struct value ret[GTEL_XE_LIST_MAX])
{
    bool are_known = true;
    for (size_t e = 0; e < xe->engines.n; e++)
        ret[e] = held ? (struct value){-1, 0} : share_of_engine(xe, e, function);
    for (size_t i = 0; held && i < xe->n; i++)
        if (xe->pair[i] / xe->engines.n == function)
            ret[xe->pair[i] % xe->engines.n] = (struct value){(double)held[2 * i], held[2 * i + 1]};
    for (size_t e = 0; e < xe->engines.n; e++)
        are_known = are_known && ret[e].value >= 0;
    return are_known;
}

/* The mean over the engines of each class. */
static void put_classes(struct gtel_batch *batch, const struct xe_card *xe, bool is_held,
                        const struct value *of, struct gtel_str instance)
{
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        const struct gtel_str dims[3] = {gtel_engine_class_name((enum gtel_engine_class)c),
                                         instance};
        struct value all = {0, 0};
        size_t n = count_class(xe, c);
        for (size_t e = 0; e < xe->engines.n; e++) {
            if (xe->engines.engine[e].engine_class != c)
                continue;
            all.value += of[e].value;
            if (is_held)
                all.t_ns += of[e].t_ns;
            else if (of[e].t_ns > 0) /* all the same */
                all.t_ns = of[e].t_ns;
        }
        if (n > 0 && !is_held)
            all.value /= (double)n;
        if (n > 0)
            put(batch, xe, is_held, &all, dims);
    }
}

/* Each engine. GTs have their own numbers of engines, so the GT belongs to its name. */
static void put_engines(struct gtel_batch *batch, const struct xe_card *xe, bool is_held,
                        const struct value *values)
{
    for (size_t e = 0; e < xe->engines.n; e++) {
        const struct gtel_xe_engine *of = &xe->engines.engine[e];
        enum gtel_engine_class class = (enum gtel_engine_class)of->engine_class;
        char name[GTEL_ENGINE_TEXT_MAX];
        char gt[8];
        gtel_engine_name_print(name, class, of->instance);
        (void)snprintf(gt, sizeof(gt), "%u", (unsigned)of->gt);
        const struct gtel_str dims[3] = {gtel_engine_class_name(class),
                                         gtel_batch_text(batch, gtel_str_of(name)),
                                         gtel_batch_text(batch, gtel_str_of(gt))};
        if (dims[1].n > 0 && dims[2].n > 0)
            put(batch, xe, is_held, &values[e], dims);
    }
}

/* With virtual functions, these are reported and no single engines. */
static void put_values(const struct xe_pmu *state, struct gtel_batch *batch,
                       const struct xe_card *xe, const uint64_t *held)
{
    struct value values[GTEL_XE_LIST_MAX];
    bool has_instances =
        xe->functions == 1 && gtel_option_is(state->source.options, GTEL_O_ENGINE_INSTANCES, "on");
    for (uint32_t f = 0; f < xe->functions; f++) {
        if (!find_values(xe, held, f, values))
            continue;
        put_classes(batch, xe, held != NULL, values, instance_of(batch, xe, f));
        if (has_instances)
            put_engines(batch, xe, held != NULL, values);
    }
}

/* Before any burst there is no list of engines; that none has worked is known all the same. */
static void put_all_idle(struct gtel_batch *batch, const struct xe_card *xe)
{
    uint32_t gts = xe->engines.gts;
    if (gts == 0 || (xe->card->gts.idle & gts) != gts || xe->functions > 1)
        return;
    batch->origin = SLEPT;
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++)
        if (xe->engines.class_gts[c] != 0)
            gtel_batch_f64(batch, xe->card->device, GTEL_M_ENGINE_BUSY,
                           gtel_engine_class_name((enum gtel_engine_class)c), 0);
}

static void report_burst(const struct xe_pmu *state, struct gtel_batch *batch, struct xe_card *xe)
{
    bool is_refused = xe->is_refused || xe->error < 0;
    if (!is_refused && !xe->engines.is_listed)
        put_all_idle(batch, xe);
    if (!is_refused && xe->engines.is_listed)
        put_values(state, batch, xe, NULL);
    batch->origin = SAMPLED;
    if (xe->engines.is_listed && xe->functions == 1)
        put_capacity(batch, xe);
}

static int sample_held(const struct xe_pmu *state, struct xe_card *xe, struct gtel_batch *batch)
{
    const struct gtel_env *env = state->source.env;
    uint64_t value[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    uint64_t ticks = 0;
    int r = 0;
    if (xe->handle_plus_1 == 0)
        r = begin(env, xe, xe->engines.gts);
    if (r < 0)
        return r;
    r = env->ops->pmu_read(env->arg, xe->handle_plus_1 - 1, value, 2 * xe->n, &enabled_ns);
    if (r < 0) {
        close_group(env, xe);
        note_try(env, xe, r);
        return r;
    }
    for (size_t i = 0; i < xe->n; i++)
        ticks += value[2 * i + 1];
    /* Counters whose PMU has gone give their last values for ever, without an error. */
    if (ticks == xe->held_ticks && !gtel_xe_perf_is_current(env, &xe->perf))
        return -ENODEV;
    xe->held_ticks = ticks;
    put_values(state, batch, xe, value);
    batch->origin = HELD;
    if (xe->functions == 1)
        put_capacity(batch, xe);
    return 0;
}

/* ---- the source ---- */

/*
 * The GTs to sample after this gather: those that worked, and those that seem to have slept because
 * we do not count the time in which they may have fallen asleep after a burst, while they are known
 * to be nearly idle only.
 */
static uint32_t gts_to_sample(struct xe_card *xe, uint64_t now_ns)
{
    const struct gtel_card_gts *gts = &xe->card->gts;
    uint32_t sampled = xe->result_ns > 0 ? xe->burst_gts : 0;
    uint32_t waking = gts->nearly_idle & ~sampled;
    if (now_ns >= xe->waking_until_ns)
        xe->waking_gts = 0;
    if (waking != 0 && xe->waking_gts == 0)
        xe->waking_until_ns = now_ns + waking_ns;
    xe->waking_gts |= waking;
    return gts->busy | (gts->idle & sampled & xe->waking_gts);
}

/* A card that may be read: what its last burst showed, and whether it has worked again since. */
static int report_card(const struct xe_pmu *state, struct xe_card *xe, struct gtel_batch *batch)
{
    bool is_opening =
        xe->described != state->source.discoveries || (is_held(state) && xe->handle_plus_1 == 0);
    if (xe->card->device->is_left_alone || (is_opening && !gtel_card_may_read(xe->card)))
        return 0;
    describe(state, xe);
    if (is_held(state))
        return xe->error < 0 ? xe->error : sample_held(state, xe, batch);
    report_burst(state, batch, xe);
    xe->next_gts = gts_to_sample(xe, batch->t_ns);
    if (xe->error == 0 && xe->next_gts != 0 && state->period_ns > 0)
        xe->due_ns = batch->t_ns;
    return xe->error;
}

static int sample_card(void *p, void *own, struct gtel_batch *batch)
{
    const struct xe_pmu *state = p;
    struct xe_card *xe = own;
    if (!is_held(state))
        end_burst(state->source.env, xe);
    xe->due_ns = 0;
    int r = report_card(state, xe, batch);
    xe->result_ns = 0;
    if (!gtel_error_is_broken(r) || gtel_error_is_refusal(r))
        return 0;
    xe->described = 0; /* tried again at the next gather */
    return r;
}

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct xe_pmu *state = p;
    uint64_t now_ns = gtel_env_now(state->source.env);
    state->period_ns = state->sampled_ns > 0 ? now_ns - state->sampled_ns : 0;
    state->sampled_ns = now_ns;
    return gtel_card_source_sample(p, registry, batch);
}

/* Why the kernel shows no PMU of a card; what helps, or NULL. */
static const char *explain_no_pmu(const struct gtel_env *env, const struct xe_card *xe,
                                  const char **ret_fix)
{
    struct gtel_release release;
    *ret_fix = NULL;
    if (gtel_fs_exists(env, GTEL_FS_AT("%s/physfn", xe->card->path)))
        return "a virtual function has no PMU; on the host, that of the physical function counts "
               "for it";
    if (gtel_kernel_release(env, &release) && gtel_release_is_at_least(&release, 6, 15))
        return "xe has made no PMU: this kernel is built without CONFIG_PERF_EVENTS, or the GPU is "
               "a virtual function, or /sys is a container's";
    *ret_fix = "use Linux 6.15 or newer";
    return "xe has a PMU since Linux 6.15";
}

/* What is missing of a card's engine use, why, and what helps. */
static void diagnose_card(const void *p, const void *own, struct gtel_findings *findings)
{
    const struct xe_pmu *state = p;
    const struct xe_card *xe = own;
    const struct gtel_env *env = state->source.env;
    const struct gtel_device *device = xe->card->device;
    char dir[GTEL_INTEL_PERF_DIR_MAX];
    char fix[256];
    if (device->is_left_alone)
        return;
    gtel_intel_perf_dir(dir, "xe", xe->card->drm.key);
    bool has_pmu = gtel_fs_exists(env, GTEL_FS_AT("%s/type", dir));
    const char *text[3] = {dir, "", ""};
    if (gtel_error_is_refusal(xe->error)) {
        text[1] = "opening perf events is refused";
        text[2] = gtel_intel_perf_fix(env, fix, sizeof(fix));
    } else if (!has_pmu) {
        text[1] = explain_no_pmu(env, xe, &text[2]);
    } else if (xe->error == -ENOENT) {
        text[1] = "no events of engines: the GuC firmware has an interface before 1.14.1";
        text[2] = "install newer firmware (linux-firmware)";
    } else if (xe->error == 0 && !is_held(state) &&
               !gtel_fs_exists(env, GTEL_FS_AT("%s/tile0/gt0/gtidle", xe->card->path))) {
        text[1] = "idle residency, which shows when to measure, is not there";
        text[2] = "set the option XeEngines to hold";
    } else if (xe->engines.n * xe->functions > PAIRS_MAX) {
        text[1] = "the engines of all virtual functions are more than one group of counters takes: "
                  "those of the last ones are skipped";
    } else if (xe->error == 0) {
        return;
    }
    gtel_finding_put(findings, device, GTEL_MEASUREMENT_GPU_ENGINE, xe->error, text);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct xe_card),
    .close = close_card,
    .sample = sample_card,
    .due_ns = due_ns,
    .tick = tick_card,
    .diagnose = diagnose_card,
};

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    (void)p;
    (void)env;
    return gtel_option_is(options, GTEL_O_XE_ENGINES, "off") ? -ENOENT : 0;
}

static const char *const origins[] = {"xe PMU (sampled)", "xe PMU", "xe gtidle", NULL};

const struct gtel_source gtel_source_xe_pmu = {
    .name = "xe_pmu",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Engine use of GPUs with Intel's xe driver, from its perf PMU in short bursts while "
               "the GPU works (option XeEngines)",
    .needs = "Linux 6.15 or newer, GuC interface 1.14.1 or newer, source xe; CAP_PERFMON",
    .origins = origins,
    .state_size = sizeof(struct xe_pmu),
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
    .open = open_source,
    .sample = sample,
};
