/* SPDX-License-Identifier: MIT */
/*
 * Source xe_stall: why the execution units of xe GPUs stall, sampled by the kernel driver itself.
 *
 * Opt-in (option XeStalls): while a GT is sampled, nobody else can do so, and it does not sleep. So
 * it is done in a short window after a gather in which source xe has seen the GT work, once a
 * second at most, and not while source xe_pmu has its burst: the times of both are reported to
 * source xe (held_ns), which adds them up. The window is read often enough that the buffers of the
 * hardware, 8192 records for each core, do not run over. The next gather has the values.
 *
 * Counters: 8 bits for each reason in a record, which the hardware writes out when one is full
 * (kernel: xe/xe_eu_stall.c); summed up here in 64 bits, over one window.
 */
#include "base/backoff.h"
#include "host/drm.h"
#include "base/error.h"
#include "host/env.h"
#include "parse/eu_stall.h"
#include "sources/drm/card_source.h"
#include "sources/intel/xe_perf.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND_NS UINT64_C(1000000)

/* Behind the longest burst of xe_pmu; gathers in shorter order than this and the window get none.
 */
static const uint64_t wait_ns = 150 * MILLISECOND_NS;
static const uint64_t window_ns = 40 * MILLISECOND_NS;
/* The kernel looks for new records each 5 ms. */
static const uint64_t read_ns = 10 * MILLISECOND_NS;
/* The least time between two windows, with the slack of a timer. */
static const uint64_t round_ns = 900 * MILLISECOND_NS;
/* How long a result is reported again: until the next one, if there is one. */
static const uint64_t keep_ns = 1200 * MILLISECOND_NS;
/* A GT takes some milliseconds to fall asleep when it is let go. */
static const uint64_t settle_ns = 30 * MILLISECOND_NS;

enum {
    GTS_MAX = 16,
    CLOCKS = 7 * 251, /* as coarse as can be */
    BUFFER = 1 << 20, /* bytes of one read: as much as two cores' buffers hold */
    READS_MAX = 64    /* of what has come at one time */
};

/* A GT with execution units. */
struct stall_gt {
    uint32_t number;
    char tile[4];      /* empty when the GPU has one of these GTs */
    int handle_plus_1; /* of what is being sampled */
    bool has_gap;
    struct gtel_eu_stall_sums sums;
    uint64_t result_ns; /* when it was over; 0: no result */
    bool is_reported;
};

struct stall_card {
    struct gtel_card *card;       /* first: see sources/drm/cards.h */
    char node[GTEL_DRM_NODE_MAX]; /* empty: none found */
    struct stall_gt gt[GTS_MAX];
    size_t n;
    enum gtel_eu_stall_layout layout; /* as find_layout() says */
    int error;                        /* of the last try; 0: none, or it worked */
    struct gtel_backoff backoff;
    uint32_t next_gts; /* the GTs of the window that is due */
    uint64_t due_ns;   /* when tick() has something to do; 0: nothing */
    uint64_t opened_ns;
    uint64_t asked_ns; /* the gather after which the window is that is due or open */
    uint64_t last_ns;  /* the one of the last window that was opened, or tried */
};

struct xe_stall {
    struct gtel_card_source source;
    unsigned char *buffer;
};

static const char *const drivers[] = {"xe", NULL};

static bool is_open(const struct stall_card *own)
{
    bool is = false;
    for (size_t i = 0; i < own->n; i++)
        is = is || own->gt[i].handle_plus_1 != 0;
    return is;
}

/* Ends what is open. has_worked: something was sampled, so the GTs did not just wait for sleep. */
static void close_window(const struct gtel_env *env, struct stall_card *own, bool has_worked)
{
    uint64_t held_ns = gtel_env_now(env) - own->opened_ns;
    for (size_t i = 0; i < own->n; i++) {
        struct stall_gt *gt = &own->gt[i];
        if (gt->handle_plus_1 == 0)
            continue;
        env->ops->stall_close(env->arg, gt->handle_plus_1 - 1);
        gt->handle_plus_1 = 0;
        own->card->gts.held |= UINT32_C(1) << gt->number;
    }
    own->card->gts.held_ns += held_ns + (has_worked ? 0 : settle_ns);
    own->due_ns = 0;
}

static void close_card(const struct gtel_env *env, void *p)
{
    struct stall_card *own = p;
    if (is_open(own))
        close_window(env, own, true);
}

/* ---- what a card is ---- */

/* Xe3 has the records of Xe2 (kernel: xe_eu_stall.c, by the version of the graphics part). */
static bool find_layout(uint16_t device_id, enum gtel_eu_stall_layout *ret)
{
    static const struct {
        const char *name;
        enum gtel_eu_stall_layout layout;
    } platforms[] = {
        {"Intel Ponte Vecchio", GTEL_EU_STALL_PVC},    {"Intel Lunar Lake", GTEL_EU_STALL_XE2},
        {"Intel Battlemage", GTEL_EU_STALL_XE2},       {"Intel Panther Lake", GTEL_EU_STALL_XE2},
        {"Intel Crescent Island", GTEL_EU_STALL_XE3P},
    };
    const char *name = gtel_intel_code_name(device_id);
    if (gtel_intel_family(device_id) == GTEL_INTEL_PONTE_VECCHIO)
        name = platforms[0].name;
    for (size_t i = 0; name && i < GTEL_ARRAY_LEN(platforms); i++)
        if (strcmp(platforms[i].name, name) == 0) {
            *ret = platforms[i].layout;
            return true;
        }
    return false;
}

/* Once: the GTs that have execution units, by the engines that use these. */
static int describe_card(void *state, void *p)
{
    const struct gtel_env *env = ((const struct xe_stall *)state)->source.env;
    struct stall_card *own = p;
    struct gtel_xe_engines engines = {0};
    if (own->n > 0 || !find_layout(own->card->drm.device_id, &own->layout) ||
        gtel_xe_engines_scan(env, own->card->path, &engines) < 0 ||
        gtel_drm_render_node(env, own->card->path, own->node) < 0)
        return 0;
    uint32_t gts = engines.class_gts[GTEL_ENGINE_RENDER] | engines.class_gts[GTEL_ENGINE_COMPUTE];
    for (uint32_t g = 0; g < GTEL_XE_GTS_MAX && own->n < GTS_MAX; g++)
        if ((gts >> g & 1) != 0)
            own->gt[own->n++] = (struct stall_gt){.number = g};
    for (size_t i = 0; own->n > 1 && i < own->n; i++)
        (void)snprintf(own->gt[i].tile, sizeof(own->gt[i].tile), "%u",
                       (unsigned)engines.tile[own->gt[i].number]);
    return 0;
}

/* ---- windows ---- */

static void note(const struct gtel_env *env, struct stall_card *own, int r)
{
    if (r == 0)
        own->backoff = (struct gtel_backoff){0};
    else
        gtel_backoff_fail(&own->backoff, gtel_env_now(env), GTEL_BACKOFF_FIRST_NS,
                          GTEL_BACKOFF_LAST_NS);
    /* A card that is being removed is no failure. */
    gtel_failure_log(&env->log, &own->error, r == -ENODEV ? -ENOENT : r,
                     r == -EBUSY ? "another program samples them; trying again" : "trying again",
                     "xe_stall: %s: stalls", own->card->drm.key);
}

static void begin(const struct gtel_env *env, struct stall_card *own)
{
    int r = 0;
    own->due_ns = 0;
    own->opened_ns = gtel_env_now(env);
    for (size_t i = 0; r == 0 && i < own->n; i++) {
        struct stall_gt *gt = &own->gt[i];
        if ((own->next_gts >> gt->number & 1) == 0)
            continue;
        int handle = gtel_env_stall_open(env, own->node, gt->number, CLOCKS);
        if (handle < 0)
            r = handle;
        else
            gt->handle_plus_1 = handle + 1;
        gt->has_gap = false;
        gt->result_ns = 0;
        gt->sums = (struct gtel_eu_stall_sums){{0}};
    }
    own->last_ns = own->asked_ns;
    if (r < 0) {
        if (is_open(own))
            close_window(env, own, true);
        note(env, own, r);
        return;
    }
    own->due_ns = own->opened_ns + read_ns;
}

/* All that has come. */
static int read_gt(const struct xe_stall *state, const struct stall_card *own, struct stall_gt *gt)
{
    const struct gtel_env *env = state->source.env;
    for (int i = 0; i < READS_MAX; i++) {
        int64_t n = env->ops->stall_read(env->arg, gt->handle_plus_1 - 1, state->buffer, BUFFER);
        if (n == -ENOBUFS) {
            gt->has_gap = true;
            continue;
        }
        int r =
            n < 0 ? (int)n : gtel_eu_stall_add(own->layout, state->buffer, (size_t)n, &gt->sums);
        if (r < 0)
            return r;
        if (n < BUFFER)
            break;
    }
    return 0;
}

static uint64_t samples_of(const struct gtel_eu_stall_sums *sums)
{
    uint64_t n = 0;
    for (size_t k = 0; k < GTEL_EU_STALL_KINDS; k++)
        n += sums->count[k];
    return n;
}

static void go_on(const struct xe_stall *state, struct stall_card *own)
{
    const struct gtel_env *env = state->source.env;
    uint64_t now = gtel_env_now(env);
    bool is_over = now >= own->opened_ns + window_ns;
    bool has_worked = false;
    int r = 0;
    for (size_t i = 0; r == 0 && i < own->n; i++)
        if (own->gt[i].handle_plus_1 != 0)
            r = read_gt(state, own, &own->gt[i]);
    own->due_ns = now + read_ns;
    if (r == 0 && !is_over)
        return;
    for (size_t i = 0; r == 0 && i < own->n; i++) {
        bool has = own->gt[i].handle_plus_1 != 0 && samples_of(&own->gt[i].sums) > 0;
        own->gt[i].result_ns = has ? now : 0;
        own->gt[i].is_reported = false;
        has_worked = has_worked || has;
    }
    close_window(env, own, has_worked || r < 0);
    note(env, own, r);
}

static uint64_t due_ns(const void *own)
{
    return ((const struct stall_card *)own)->due_ns;
}

static int tick_card(void *state, void *p, struct gtel_batch *batch)
{
    struct stall_card *own = p;
    (void)batch;
    if (is_open(own))
        go_on(state, own);
    else if (gtel_card_may_read(own->card))
        begin(((const struct xe_stall *)state)->source.env, own);
    else
        own->due_ns = 0;
    return 0;
}

/* ---- readings ---- */

/* Shares are of all stalled samples; only units with a thread loaded are sampled. */
static void put_gt(struct gtel_batch *batch, const struct stall_card *own,
                   const struct stall_gt *gt)
{
    double all = (double)samples_of(&gt->sums);
    double active = (double)gt->sums.count[GTEL_EU_STALL_ACTIVE];
    double stalled = all - active;
    struct gtel_reading like = {.device = own->card->device,
                                .t_ns = gt->result_ns,
                                .dim = {GTEL_STR("eu-loaded"), gtel_str_of(gt->tile)}};
    gtel_batch_like(batch, &like, GTEL_M_ACTIVITY, active / all);
    gtel_batch_like(batch, &like, GTEL_M_ACTIVITY_STALL, stalled / all);
    gtel_batch_like(batch, &like, GTEL_M_ACTIVITY_SAMPLES, all);
    gtel_batch_like(batch, &like, GTEL_M_ACTIVITY_DROPPED, gt->has_gap);
    for (int k = GTEL_EU_STALL_PSDEP; stalled > 0 && k < GTEL_EU_STALL_KINDS; k++) {
        double count = (double)gt->sums.count[k];
        if (gtel_eu_stall_bit(own->layout, (enum gtel_eu_stall)k) < 0)
            continue;
        like.dim[0] = gtel_str_of(gtel_eu_stall_name((enum gtel_eu_stall)k));
        gtel_batch_like(batch, &like, GTEL_M_STALL_DROPPED, gt->has_gap);
        gtel_batch_like(batch, &like, GTEL_M_STALL_SAMPLES, count);
        gtel_batch_like(batch, &like, GTEL_M_STALL_SHARE, count / stalled);
    }
}

/* ---- the source ---- */

static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    struct stall_card *own = p;
    uint64_t now = gtel_env_now(((const struct xe_stall *)state)->source.env);
    bool is_refused = gtel_error_is_refusal(own->error) || own->error == -EBUSY;
    int r = is_refused || !gtel_error_is_broken(own->error) ? 0 : own->error;
    for (size_t i = 0; i < own->n; i++) { /* one that is new, or of the last second */
        struct stall_gt *gt = &own->gt[i];
        if (gt->result_ns == 0 || (gt->is_reported && now - gt->result_ns > keep_ns))
            continue;
        put_gt(batch, own, gt);
        gt->is_reported = true;
    }
    if (is_open(own) || !gtel_card_may_read(own->card))
        return r;
    bool is_too_soon = own->last_ns > 0 && now - own->last_ns < round_ns;
    own->due_ns = 0;
    own->asked_ns = now;
    own->next_gts = own->card->gts.busy;
    if (is_too_soon || gtel_backoff_is_waiting(&own->backoff, now) || own->node[0] == '\0')
        return r;
    for (size_t i = 0; i < own->n; i++)
        if ((own->next_gts >> own->gt[i].number & 1) != 0)
            own->due_ns = now + wait_ns;
    return r;
}

/* xe_observation.c: without the right to it EACCES, by a setting of its own. */
static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    const struct stall_card *own = p;
    enum gtel_eu_stall_layout layout;
    const char *text[3] = {"EU stall sampling", NULL, NULL};
    (void)state;
    if (own->card->device->is_left_alone)
        return;
    if (!find_layout(own->card->drm.device_id, &layout))
        text[1] = "this GPU has none, or its records are not known here: Ponte Vecchio, Lunar "
                  "Lake, Battlemage, Panther Lake and Crescent Island have it";
    else if (own->node[0] == '\0' || own->n == 0)
        text[1] = "the driver has made no render node, or shows no engines";
    else if (gtel_error_is_refusal(own->error)) {
        text[1] = "the kernel lets only those sample who have CAP_PERFMON and may open the render "
                  "node";
        text[2] = "add the user to the group render, and give the program CAP_PERFMON and start it "
                  "again; or:\n"
                  "sysctl dev.xe.observation_paranoid=0";
    } else if (own->error == -EBUSY) {
        text[1] = "another program samples them: only one at a time can";
        text[2] = "end the other one (vtune, unitrace, oneprof, xpumd), or set the option XeStalls "
                  "to off";
    } else if (own->error == -EOPNOTSUPP) {
        text[1] = "xe has it since Linux 6.15";
        text[2] = "use Linux 6.15 or newer";
    } else if (own->error == 0) {
        return;
    }
    gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_STALL, own->error, text);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct stall_card),
    .close = close_card,
    .discover = describe_card,
    .sample = sample_card,
    .due_ns = due_ns,
    .tick = tick_card,
    .diagnose = diagnose_card,
};

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    struct xe_stall *state = p;
    (void)env;
    (void)options;
    state->buffer = malloc(BUFFER);
    return state->buffer ? 0 : -ENOMEM;
}

static void close_source(void *p)
{
    struct xe_stall *state = p;
    gtel_card_source_close(state);
    free(state->buffer);
}

static const char *const origins[] = {"xe EU stall sampling", NULL};

const struct gtel_source gtel_source_xe_stall = {
    .name = "xe_stall",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Why execution units of GPUs with Intel's xe driver stall, sampled by the driver in "
               "short windows while the GPU works (option XeStalls)",
    .needs = "Linux 6.15 or newer, source xe; CAP_PERFMON and the group render",
    .origins = origins,
    .state_size = sizeof(struct xe_stall),
    .is_indirect = true,
    .opt_in_plus_1 = 1 + GTEL_O_XE_STALLS,
    .drivers = drivers,
    .work = &work,
    .open = open_source,
    .close = close_source,
};
