/* SPDX-License-Identifier: MIT */
/*
 * A day of three GPUs in simulated time: what is emitted adds up to what happened.
 *
 *     test_intel_day SECONDS...     the time between two gathers, a day for each
 *
 * A day is made of segments with known power, work and idle time, in which a GPU works, sleeps or
 * has no driver; its counters wrap, restart and jump while the host sleeps. The recorded machine
 * is written from it, and run through the whole core. Then power × time, share of work × time and
 * share of idle time × time must be those of the segments, over the time that was observed; each
 * single value must be true of its own interval; nearly all time must have been observed, also
 * where a counter wraps, and none while the host slept; and neither memory nor descriptors may have
 * grown.
 */
#include "base/buf.h"
#include "gtel.h"
#include "host/env.h"
#include "host/fs.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <stdarg.h>
#include <stdlib.h>

enum {
    DAY_S = 86400,
    GPUS = 3,
    SEGMENTS_MAX = 512,
    HOST_SLEEPS = 3,
    RSS_GROWTH_KIB = 64,
    KIND_WORK = 0,
    KIND_SLEEP,
    KIND_UNBOUND,
};

enum quantity { ENERGY, WORK, IDLE, QUANTITIES };

/* A time in which nothing changes. Seconds, and what grows per second. */
struct segment {
    double begin;
    int kind;
    bool is_new;             /* its counters restart */
    double rate[QUANTITIES]; /* W, and shares of time */
    double sum[QUANTITIES];  /* at its begin, over all lives of the counters */
};

struct gpu {
    const char *key;
    const char *device; /* its path */
    const char *pmu;    /* of i915; NULL: xe */
    bool is_integrated; /* its energy is counted by the CPU package */
    uint32_t seed;
    unsigned first_card;
    double range[QUANTITIES]; /* of a counter that wraps; 0: it does not */
    unsigned cards;           /* it is another card after each bind */
    struct segment segment[SEGMENTS_MAX];
    size_t n;
    double offset[QUANTITIES]; /* of the counters: sum - offset is what they show */
    /* What was emitted. */
    bool is_read[QUANTITIES]; /* a counter in this gather */
    double rate[QUANTITIES];  /* of this gather; negative: none */
    double base[QUANTITIES];  /* the time of the counter's reading before; negative: none */
    double got[QUANTITIES];
    double truth[QUANTITIES];
    double seen[QUANTITIES];     /* seconds observed */
    unsigned wrong[QUANTITIES];  /* values that are not those of their interval */
    unsigned missed[QUANTITIES]; /* quiet intervals, and those with a wrap, without a value */
};

/* i915 has 32 bits for the milliseconds of idle time; a package zone wraps after this energy. */
#define WRAP_S 4294967.296
#define WRAP_J 262143.32885

static struct gpu gpus[GPUS] = {
    {.key = "0000:03:00.0",
     .device = "sys/devices/pci0000:00/0000:03:00.0",
     .pmu = "i915_0000_03_00.0",
     .seed = 1,
     .range = {[IDLE] = WRAP_S}},
    {.key = "0000:06:00.0",
     .device = "sys/devices/pci0000:00/0000:06:00.0",
     .seed = 77,
     .first_card = 100},
    {.key = "0000:00:02.0",
     .device = "sys/devices/pci0000:00/0000:00:02.0",
     .pmu = "i915",
     .is_integrated = true,
     .seed = 5,
     .first_card = 200,
     .range = {[IDLE] = WRAP_S, [ENERGY] = WRAP_J}},
};

/* The host sleeps at these seconds; all counters jump by what nobody knows. */
static const double host_sleeps[HOST_SLEEPS] = {20000.25, 46800.25, 70000.25};
static uint64_t slept_ns;

static uint64_t suspended_ns(void *arg)
{
    (void)arg;
    return slept_ns;
}

static uint32_t draw(struct gpu *gpu, uint32_t n)
{
    gpu->seed = gpu->seed * 1664525U + 1013904223U;
    return (gpu->seed >> 8) % n;
}

/* Segments of 200 to 1500 s, each begins half a second after a full one. */
static void plan(struct gpu *gpu)
{
    double t = 0;
    gpu->n = 0;
    while (t < DAY_S && gpu->n < SEGMENTS_MAX) {
        struct segment *last = gpu->n > 0 ? &gpu->segment[gpu->n - 1] : NULL;
        struct segment *s = &gpu->segment[gpu->n++];
        uint32_t dice = draw(gpu, 20);
        *s = (struct segment){.begin = t, .kind = KIND_WORK};
        if (last && last->kind == KIND_WORK && dice < 6)
            s->kind = dice < 5 ? KIND_SLEEP : KIND_UNBOUND;
        bool is_bound = last && last->kind == KIND_UNBOUND;
        s->is_new = is_bound || (s->kind == KIND_WORK && dice == 7 && 3 * t > DAY_S);
        if (s->kind == KIND_WORK) {
            s->rate[ENERGY] = 12 + draw(gpu, 200) + 0.5;
            s->rate[WORK] = draw(gpu, 1001) / 1000.0;
            s->rate[IDLE] = (1 - s->rate[WORK]) * draw(gpu, 900) / 1000.0;
        } else if (s->kind == KIND_SLEEP) {
            s->rate[ENERGY] = 0.4;
        }
        for (int q = 0; last && q < QUANTITIES; q++)
            s->sum[q] = last->sum[q] + last->rate[q] * (s->begin - last->begin);
        t += 200 + draw(gpu, 1300) + (t == 0 ? 0.5 : 0);
    }
}

/* The segment that runs at that second. */
static const struct segment *segment_at(const struct gpu *gpu, double t)
{
    size_t i = gpu->n - 1;
    while (i > 0 && gpu->segment[i].begin > t)
        i--;
    return &gpu->segment[i];
}

/* What had happened by that second. */
static double truth_at(const struct gpu *gpu, enum quantity q, double t)
{
    const struct segment *s = segment_at(gpu, t);
    return s->sum[q] + s->rate[q] * (t - s->begin);
}

/* Seconds of work within the day. */
static double working_time(const struct gpu *gpu)
{
    double sum = 0;
    for (size_t i = 0; i < gpu->n; i++) {
        double end = i + 1 < gpu->n ? gpu->segment[i + 1].begin : DAY_S;
        if (gpu->segment[i].kind == KIND_WORK)
            sum += (end < DAY_S ? end : DAY_S) - gpu->segment[i].begin;
    }
    return sum;
}

/* The recorded machine */

static void line(struct gtel_buf *out, const char *fmt, ...) GTEL_PRINTF(2, 3);

static void line(struct gtel_buf *out, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    CHECK(n > 0 && (size_t)n < sizeof(text));
    gtel_buf_str(out, gtel_str_of(text));
    gtel_buf_char(out, '\n');
}

static const char zone[] = "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0";

static void write_device(struct gtel_buf *out, const struct gpu *gpu)
{
    line(out, "file %s/power/control\n| on", gpu->device);
    line(out, "file %s/vendor\n| 0x8086", gpu->device);
    /* On older ones the energy of Battlemage is no measure. */
    line(out, "file proc/sys/kernel/osrelease\n| 6.17.0");
    if (!gpu->is_integrated)
        return;
    line(out, "link sys/class/powercap/intel-rapl:0 -> ../../%s", zone + 4);
    line(out, "file %s/name\n| package-0", zone);
    line(out, "link sys/class/powercap/intel-rapl:0:1 -> ../../%s/intel-rapl:0:1", zone + 4);
    line(out, "file %s/intel-rapl:0:1/name\n| uncore", zone);
    line(out, "file %s/intel-rapl:0:1/max_energy_range_uj\n| %.0f", zone, WRAP_J * 1e6);
}

static unsigned card_of(const struct gpu *gpu)
{
    return gpu->first_card + gpu->cards - 1;
}

/* Ticks of the one engine: active, and all. */
static const char xe_pmu[] = "xe_0000_06_00.0";
static const double ticks = 19200000;

static void write_xe_pmu(struct gtel_buf *out, const struct gpu *gpu, unsigned card)
{
    static const char *const lines[] = {"type\n| 77",
                                        "cpumask\n| 0",
                                        "format/event\n| config:0-11",
                                        "format/engine_instance\n| config:12-19",
                                        "format/engine_class\n| config:20-27",
                                        "format/function\n| config:44-59",
                                        "format/gt\n| config:60-63",
                                        "events/engine-active-ticks\n| event=0x02",
                                        "events/engine-total-ticks\n| event=0x03"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        line(out, "file sys/bus/event_source/devices/%s/%s", xe_pmu, lines[i]);
    line(out, "file %s/drm/renderD%u/dev\n| 226:%u", gpu->device, 128 + card, 128 + card);
    line(out, "query dev/dri/renderD%u xe 0\n| 4:1 4:0\n| 2:0 2:0 2:0 2:0 24:0", 128 + card);
}

/* What the driver makes when it is bound, as another card each time. */
static void write_bound(struct gtel_buf *out, struct gpu *gpu)
{
    const char *driver = gpu->pmu ? "i915" : "xe";
    gpu->cards++;
    unsigned card = card_of(gpu);
    line(out, "file %s/uevent\n| DRIVER=%s\n| PCI_ID=8086:%s\n| PCI_SLOT_NAME=%s", gpu->device,
         driver, gpu->pmu ? "56A0" : "E20B", gpu->key);
    line(out, "link sys/class/drm/card%u -> ../../%s/drm/card%u", card, gpu->device + 4, card);
    line(out, "link %s/drm/card%u/device -> ../../../%s", gpu->device, card, gpu->key);
    if (!gpu->is_integrated) {
        line(out, "file %s/hwmon/hwmon%u/name\n| %s", gpu->device, card, driver);
        line(out, "file %s/hwmon/hwmon%u/power1_max\n| 250000000", gpu->device, card);
        line(out, "file %s/hwmon/hwmon%u/temp2_input\n| 50000", gpu->device, card);
    }
    if (!gpu->pmu) {
        line(out, "file %s/tile0/gt0/gtidle/name\n| gt0-rc", gpu->device);
        line(out, "file %s/tile0/gt0/freq0/act_freq\n| 1500", gpu->device);
        write_xe_pmu(out, gpu, card);
        return;
    }
    line(out, "file %s/drm/card%u/gt/gt0/rps_act_freq_mhz\n| 1500", gpu->device, card);
    line(out, "file sys/bus/event_source/devices/%s/type\n| %u", gpu->pmu, 20 + card);
    line(out, "file sys/bus/event_source/devices/%s/cpumask\n| 0", gpu->pmu);
    line(out, "file sys/bus/event_source/devices/%s/events/rcs0-busy\n| config=0x0", gpu->pmu);
    line(out, "file sys/bus/event_source/devices/%s/events/rcs0-busy.unit\n| ns", gpu->pmu);
}

/* What a counter shows at t, in segment s. */
static double shown(const struct gpu *gpu, const struct segment *s, int q, double t)
{
    return s->sum[q] + s->rate[q] * (t - s->begin) - gpu->offset[q];
}

/* The counters from t on, as they grow in segment s. */
static void write_counters(struct gtel_buf *out, const struct gpu *gpu, const struct segment *s,
                           double t)
{
    double micro_j = shown(gpu, s, ENERGY, t) * 1e6;
    double idle_ms = shown(gpu, s, IDLE, t) * 1e3;
    if (gpu->is_integrated)
        line(out, "grow %s/intel-rapl:0:1/energy_uj %.0f %.0f", zone, micro_j,
             s->rate[ENERGY] * 1e6);
    if (s->kind == KIND_UNBOUND)
        return;
    if (!gpu->is_integrated)
        line(out, "grow %s/hwmon/hwmon%u/energy1_input %.0f %.0f", gpu->device, card_of(gpu),
             micro_j, s->rate[ENERGY] * 1e6);
    if (!gpu->pmu) {
        line(out, "grow %s/tile0/gt0/gtidle/idle_residency_ms %.3f %.3f", gpu->device, idle_ms,
             s->rate[IDLE] * 1e3);
        line(out, "pmu %s 0x2 %.0f %.0f", xe_pmu, shown(gpu, s, WORK, t) * ticks,
             s->rate[WORK] * ticks);
        line(out, "pmu %s 0x3 %.0f %.0f", xe_pmu, t * ticks, ticks);
        return;
    }
    line(out, "grow %s/drm/card%u/gt/gt0/rc6_residency_ms %.3f %.3f", gpu->device, card_of(gpu),
         idle_ms, s->rate[IDLE] * 1e3);
    line(out, "pmu %s 0x0 %.0f %.0f", gpu->pmu, shown(gpu, s, WORK, t) * 1e9, s->rate[WORK] * 1e9);
}

static void write_unbound(struct gtel_buf *out, const struct gpu *gpu)
{
    line(out, "gone %s/drm\ngone %s/hwmon\ngone %s/tile0", gpu->device, gpu->device, gpu->device);
    line(out, "gone sys/class/drm/card%u", card_of(gpu));
    line(out, "file %s/uevent\n| PCI_SLOT_NAME=%s", gpu->device, gpu->key);
    line(out, "gone sys/bus/event_source/devices/%s", gpu->pmu ? gpu->pmu : xe_pmu);
}

static void write_segment(struct gtel_buf *out, struct gpu *gpu, const struct segment *s)
{
    bool is_bound = gpu->cards == 0 || (s > gpu->segment && s[-1].kind == KIND_UNBOUND);
    for (int q = 0; s->is_new && q < QUANTITIES; q++)
        if (q != ENERGY || !gpu->is_integrated)
            gpu->offset[q] = s->sum[q] - 0.001;
    if (is_bound && gpu->range[IDLE] > 0) /* so that it wraps soon */
        gpu->offset[IDLE] = s->sum[IDLE] - (gpu->range[IDLE] - 1000);
    if (is_bound)
        write_bound(out, gpu);
    if (s->kind == KIND_UNBOUND)
        write_unbound(out, gpu);
    else
        line(out, "file %s/power/runtime_status\n| %s", gpu->device,
             s->kind == KIND_SLEEP ? "suspended" : "active");
    write_counters(out, gpu, s, s->begin);
}

/* When a counter has reached its range, or later than end. */
static double next_wrap(const struct gpu *gpu, const struct segment *s, double t, double end)
{
    for (int q = 0; q < QUANTITIES; q++) {
        double left = gpu->range[q] - shown(gpu, s, q, t);
        if (gpu->range[q] > 0 && s->rate[q] > 0 && t + left / s->rate[q] < end)
            end = t + left / s->rate[q];
    }
    return end;
}

/* The next time after t at which something changes in the recording of a GPU. */
static double next_change(const struct gpu *gpu, size_t at, double t)
{
    double next = at + 1 < gpu->n ? gpu->segment[at + 1].begin : DAY_S + 1.0;
    next = next_wrap(gpu, &gpu->segment[at], t, next);
    for (size_t i = 0; i < HOST_SLEEPS; i++)
        if (host_sleeps[i] > t && host_sleeps[i] < next)
            next = host_sleeps[i];
    return next;
}

static bool is_host_sleep(double t)
{
    for (size_t i = 0; i < HOST_SLEEPS; i++)
        if (host_sleeps[i] == t)
            return true;
    return false;
}

/* Writes what changes at t. *at is the segment that runs. */
static void write_change(struct gtel_buf *out, struct gpu *gpu, size_t *at, double t)
{
    if (*at + 1 < gpu->n && gpu->segment[*at + 1].begin == t) {
        (*at)++;
        write_segment(out, gpu, &gpu->segment[*at]);
        return;
    }
    if (is_host_sleep(t)) { /* energy that nobody measured, and times that make no sense */
        gpu->offset[ENERGY] -= 500;
        gpu->offset[WORK] -= 0.9;
        gpu->offset[IDLE] -= 0.7;
    }
    for (int q = 0; q < QUANTITIES; q++)
        if (gpu->range[q] > 0 && shown(gpu, &gpu->segment[*at], q, t) > gpu->range[q] - 1e-6)
            gpu->offset[q] += gpu->range[q];
    write_counters(out, gpu, &gpu->segment[*at], t);
}

static void write_day(struct gtel_buf *out)
{
    size_t at[GPUS] = {0};
    double next[GPUS];
    line(out, "dir sys/bus/event_source/devices");
    for (size_t g = 0; g < GPUS; g++) {
        write_device(out, &gpus[g]);
        write_segment(out, &gpus[g], &gpus[g].segment[0]);
        next[g] = next_change(&gpus[g], 0, 0);
    }
    for (;;) {
        size_t g = 0;
        for (size_t i = 1; i < GPUS; i++)
            g = next[i] < next[g] ? i : g;
        double t = next[g];
        if (t > DAY_S)
            break;
        line(out, "at %.0fns", t * 1e9);
        write_change(out, &gpus[g], &at[g], t);
        next[g] = next_change(&gpus[g], at[g], t);
    }
    line(out, "end");
}

/* The day */

static struct gpu *find_gpu(const struct gtel_reading *reading)
{
    for (size_t g = 0; g < GPUS; g++)
        if (reading->device && strcmp(reading->device->key, gpus[g].key) == 0)
            return &gpus[g];
    return NULL;
}

static void on_begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gpu *gpu = find_gpu(reading);
    (void)arg;
    if (!gpu || aspect != GTEL_ASPECT_VALUE)
        return;
    switch ((enum gtel_metric)reading->metric) {
    case GTEL_M_GPU_ENERGY:
        gpu->is_read[ENERGY] = true;
        break;
    case GTEL_M_ENGINE_BUSY_TIME:
        gpu->is_read[WORK] = true;
        break;
    case GTEL_M_FREQUENCY_ACTUAL: /* the counter of idle time is not emitted itself */
        gpu->is_read[IDLE] = true;
        break;
    case GTEL_M_GPU_POWER:
        gpu->rate[ENERGY] = gtel_reading_number(reading);
        break;
    case GTEL_M_ENGINE_BUSY:
        gpu->rate[WORK] = gtel_reading_number(reading);
        break;
    case GTEL_M_FREQUENCY_IDLE:
        gpu->rate[IDLE] = gtel_reading_number(reading);
        break;
    default:
        break;
    }
}

static void begin_gather(void)
{
    for (size_t g = 0; g < GPUS; g++)
        for (int q = 0; q < QUANTITIES; q++) {
            gpus[g].is_read[q] = false;
            gpus[g].rate[q] = -1;
        }
}

static bool has_host_slept(double since, double until)
{
    for (size_t i = 0; i < HOST_SLEEPS; i++)
        if (host_sleeps[i] > since && host_sleeps[i] <= until)
            return true;
    return false;
}

/* Whether a value is true of the time since then. A sampled one is true of a part of it. */
static bool is_true(const struct gpu *gpu, enum quantity q, double since, double t)
{
    double mean = (truth_at(gpu, q, t) - truth_at(gpu, q, since)) / (t - since);
    double low = mean;
    double high = mean;
    if (q == WORK && !gpu->pmu) {
        const double rate[2] = {segment_at(gpu, since)->rate[q], segment_at(gpu, t)->rate[q]};
        low = rate[0] < rate[1] ? rate[0] : rate[1];
        high = rate[0] < rate[1] ? rate[1] : rate[0];
    }
    /* Idle time is counted in milliseconds; a clock domain's by a GT is noted within two of them.
     */
    double slack = q == ENERGY ? 0.001 * high + 0.001 : 0.001 + 0.0025 / (t - since);
    return gpu->rate[q] >= low - slack && gpu->rate[q] <= high + slack;
}

/* Checks the value of one interval, or that there is none. */
static void judge(struct gpu *gpu, enum quantity q, double t)
{
    double since = gpu->base[q];
    if (since < 0)
        return;
    bool has_slept = has_host_slept(since, t);
    bool is_quiet = !has_slept && segment_at(gpu, since) == segment_at(gpu, t) &&
                    segment_at(gpu, t)->kind == KIND_WORK && t - segment_at(gpu, t)->begin > 30;
    if (gpu->rate[q] < 0) {
        gpu->missed[q] += is_quiet && gpu->is_read[q] ? 1 : 0;
        return;
    }
    bool is_sampled = q == WORK && !gpu->pmu;
    if ((!has_slept || is_sampled) && is_true(gpu, q, since, t))
        return;
    if (gpu->wrong[q]++ < 5)
        printf("%s at %.0f s: quantity %d is %g since %.0f s, segments say %g and %g%s\n", gpu->key,
               t, q, gpu->rate[q], since, segment_at(gpu, since)->rate[q],
               segment_at(gpu, t)->rate[q], has_slept ? ", and the host slept" : "");
}

/* Adds what was emitted at t, and what was true over the same time. */
static void add_up(double t, double step_s)
{
    for (size_t g = 0; g < GPUS; g++) {
        struct gpu *gpu = &gpus[g];
        if (!gpu->pmu) /* sampled: no counter, and true of the last interval alone */
            gpu->base[WORK] = t - step_s;
        for (int q = 0; q < QUANTITIES; q++) {
            judge(gpu, (enum quantity)q, t);
            if (gpu->rate[q] >= 0 && CHECK(gpu->base[q] >= 0)) {
                double seconds = t - gpu->base[q];
                gpu->got[q] += gpu->rate[q] * seconds;
                gpu->truth[q] += truth_at(gpu, (enum quantity)q, t) -
                                 truth_at(gpu, (enum quantity)q, gpu->base[q]);
                gpu->seen[q] += seconds;
            }
            if (gpu->is_read[q])
                gpu->base[q] = t;
        }
    }
}

static size_t count_fds(const struct gtel_env *host)
{
    struct gtel_arena arena = {0};
    struct gtel_str *names = NULL;
    size_t n = 0;
    CHECK_INT(gtel_fs_list(host, "proc/self/fd", &arena, 4096, &names, &n), 0);
    gtel_arena_done(&arena);
    return n;
}

/* KiB of memory in use. */
static uint64_t resident(const struct gtel_env *host)
{
    char buf[128];
    struct gtel_str text;
    struct gtel_str word = GTEL_STR_NONE;
    uint64_t pages = 0;
    if (!CHECK(gtel_fs_text(host, "proc/self/statm", buf, sizeof(buf), &text) == 0))
        return 0;
    (void)gtel_str_word(&text, &word);
    (void)gtel_str_word(&text, &word);
    CHECK_INT(gtel_str_u64(word, &pages), 0);
    return pages * host->page_size / 1024;
}

static void check_growth(uint64_t before, uint64_t after)
{
    printf("resident memory %llu KiB after 1 %% of the day, %llu KiB at its end\n",
           (unsigned long long)before, (unsigned long long)after);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(after <= before + RSS_GROWTH_KIB);
#endif
}

static void step_to(struct gtel_env *env, struct gtel_context *context, uint64_t t_ns)
{
    for (;;) {
        uint64_t now = gtel_env_now(env);
        uint64_t due = gtel_context_due(context);
        if (due == 0 || due >= t_ns)
            break;
        gtel_env_tree_step(env, due > now ? due - now : 0);
        gtel_context_tick(context);
    }
    gtel_env_tree_step(env, t_ns - gtel_env_now(env));
}

static void live(struct gtel_env *env, struct gtel_context *context, unsigned step_s)
{
    struct gtel_env host;
    uint64_t start = gtel_env_now(env);
    size_t fds = 0;
    uint64_t memory = 0;
    size_t sleeps = 0;
    if (!CHECK(gtel_env_posix_init("/", &host) == 0))
        return;
    for (unsigned t = 0; t <= DAY_S; t += step_s) {
        step_to(env, context, start + t * UINT64_C(1000000000));
        while (sleeps < HOST_SLEEPS && host_sleeps[sleeps] < t) {
            slept_ns += 600 * UINT64_C(1000000000);
            sleeps++;
        }
        begin_gather();
        gtel_context_gather(context);
        add_up(t, step_s);
        if (t == DAY_S / 100 / step_s * step_s) {
            fds = count_fds(&host);
            memory = resident(&host);
        }
    }
    check_growth(memory, resident(&host));
    CHECK_INT(count_fds(&host), fds);
    gtel_env_posix_done(&host);
}

static void check_sums(unsigned step_s)
{
    static const char *const names[QUANTITIES] = {"energy", "work", "idle time"};
    for (size_t g = 0; g < GPUS; g++) {
        const struct gpu *gpu = &gpus[g];
        double working = working_time(gpu);
        for (int q = 0; q < QUANTITIES; q++) {
            printf("%s, %u s: %s %.3f, truth %.3f (%+.5f %%), seen %.0f s of %.0f s\n", gpu->key,
                   step_s, names[q], gpu->got[q], gpu->truth[q],
                   100 * (gpu->got[q] / gpu->truth[q] - 1), gpu->seen[q], working);
            CHECK(gpu->truth[q] > 1000);
            CHECK_NEAR(gpu->got[q], gpu->truth[q], 0.001 * gpu->truth[q]);
            printf("  %u values wrong, %u missed\n", gpu->wrong[q], gpu->missed[q]);
            CHECK(gpu->seen[q] > 0.97 * working);
            CHECK_INT(gpu->wrong[q], 0);
            CHECK_INT(gpu->missed[q], 0);
        }
    }
}

static void run_day(unsigned step_s)
{
    struct gtel_buf text;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_context *context = NULL;
    char error[200];
    for (size_t g = 0; g < GPUS; g++) {
        gpus[g].cards = 0;
        for (int q = 0; q < QUANTITIES; q++) {
            gpus[g].got[q] = gpus[g].truth[q] = gpus[g].seen[q] = 0;
            gpus[g].wrong[q] = gpus[g].missed[q] = 0;
            gpus[g].base[q] = -1;
            gpus[g].offset[q] = -0.001;
            if (gpus[g].range[q] > 0)
                gpus[g].offset[q] -= gpus[g].range[q] - 5000;
        }
        plan(&gpus[g]);
    }
    gtel_buf_init(&text, 1 << 24);
    write_day(&text);
    gtel_options_init(&options);
    int r = gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error));
    if (r < 0)
        printf("%s\n", error);
    if (CHECK(r == 0) && CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0)) {
        struct gtel_env_ops ops = *env.ops;
        struct gtel_sink sink = {NULL, on_begin, on_put, on_end};
        struct gtel_setup setup = {.env = &env,
                                   .options = &options,
                                   .sink = &sink,
                                   .interval_ns = step_s * UINT64_C(1000000000)};
        ops.suspended_ns = suspended_ns;
        env.ops = &ops;
        gtel_tree_seek(tree,
                       gtel_tree_duration(tree)); /* its own memory is that of the whole day */
        gtel_tree_seek(tree, 0);
        if (CHECK(gtel_context_new(&setup, &context) == 0))
            live(&env, context, step_s);
        gtel_context_free(context);
        gtel_env_tree_done(&env);
        check_sums(step_s);
    }
    gtel_tree_free(tree);
    gtel_buf_done(&text);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        uint64_t step_s = 0;
        if (CHECK(gtel_str_u64(gtel_str_of(argv[i]), &step_s) == 0 && step_s > 0))
            run_day((unsigned)step_s);
    }
    return test_result();
}
