/* SPDX-License-Identifier: MIT */
/* What an i915 GPU counts for its driver's perf PMU. */
#include "sources/intel/pmu.h"

#include "base/error.h"
#include "parse/engine_name.h"
#include "parse/pmu_desc.h"

#include <errno.h>
#include <string.h>

/* Slots behind those of the engines: three of each GT, interrupts, ticks of engines, all ticks. */
enum { GT_SLOTS = GTEL_INTEL_CLASSES * GTEL_INTEL_SAMPLES, GT_ACTUAL = 0, GT_REQUESTED, GT_IDLE };
enum { GT_SLOT_COUNT = 3, INTERRUPTS = GT_SLOTS + GTEL_INTEL_PMU_GTS * GT_SLOT_COUNT };
enum { TICKS = INTERRUPTS + 1, ALL_TICKS = TICKS + GTEL_INTEL_CLASSES };
_Static_assert(ALL_TICKS + 1 == GTEL_INTEL_PMU_SLOTS, "a slot for everything");

/*
 * Width and unit; none of them turns (kernel: i915/i915_pmu.c, perf's counts have 64 bits).
 *
 *   <engine>-busy, -wait, -sema           64 bits, 1 ns
 *   actual-frequency, requested-frequency 64 bits, MHz x s
 *   rc6-residency                         64 bits, 1 ns; the hardware's 32 are carried on there
 *   interrupts                            64 bits, counted by the driver
 *   <engine>-busy-ticks, total ticks      64 bits, ticks of one clock (backports: no more is known)
 */
static const struct {
    struct gtel_str domain;
    struct gtel_str gt;
} gts[GTEL_INTEL_PMU_GTS] = {{GTEL_STR_INIT("graphics"), GTEL_STR_INIT("0")},
                             {GTEL_STR_INIT("media"), GTEL_STR_INIT("1")}};

static const enum gtel_metric metrics[GTEL_INTEL_SAMPLES] = {
    GTEL_M_ENGINE_BUSY_TIME, GTEL_M_ENGINE_WAIT_TIME, GTEL_M_ENGINE_SEMA_TIME};

void gtel_intel_pmu_close(const struct gtel_env *env, struct gtel_intel_pmu *pmu)
{
    if (pmu->handle_plus_1 != 0)
        env->ops->pmu_close(env->arg, pmu->handle_plus_1 - 1);
    gtel_fs_close(env, &pmu->type);
    pmu->handle_plus_1 = 0;
    pmu->n = 0;
    pmu->last = 0;
    pmu->enabled_ns = 0;
    memset(pmu->counters, 0, sizeof(pmu->counters));
}

enum { WITHOUT_GTS = 1, WITHOUT_SAMPLED = 2 };

/* What a search for a PMU has found. */
struct search {
    const struct gtel_env *env;
    struct gtel_arena *arena;
    const char *dir;
    unsigned without; /* any of WITHOUT_… */
    uint64_t *config; /* GTEL_PMU_EVENTS_MAX of them */
};

/*
 * Opens the type file: "i915_0000_03_00.0" of a discrete GPU, "i915" of the integrated one (kernel:
 * i915/i915_pmu.c), which is always at 0000:00:02.0 but in a virtual machine. -ENOENT without one.
 */
static int open_type(struct search *search, const struct gtel_drm_card *card, bool is_only,
                     struct gtel_intel_pmu *pmu)
{
    search->dir = pmu->dir;
    gtel_intel_perf_dir(pmu->dir, "i915", card->key);
    int r = gtel_fs_open(search->env, &pmu->type, GTEL_FS_AT("%s/type", search->dir));
    if (r != -ENOENT || (!is_only && strcmp(card->key, "0000:00:02.0") != 0))
        return r;
    gtel_intel_perf_dir(pmu->dir, "i915", NULL);
    return gtel_fs_open(search->env, &pmu->type, GTEL_FS_AT("%s/type", search->dir));
}

/*
 * The slot of ticks, which have numbers in the backports alone (i915/i915_pmu.c there), so that
 * they go by their names; -1 for any other event.
 */
static int slot_of_ticks(struct gtel_str event, uint64_t config)
{
    uint64_t class = config >> 12 & 0xff;
    if (gtel_str_starts(event, GTEL_STR("total-active-ticks")))
        return ALL_TICKS;
    if (gtel_str_ends(event, GTEL_STR("-busy-ticks")) && config < 0x100000 &&
        class < GTEL_INTEL_CLASSES)
        return TICKS + (int)class;
    return -1;
}

/* The slot of a config, or -1 for those of a kernel to come. */
static int slot_of(uint64_t config)
{
    /* Base and numbers: i915_drm.h, __I915_PMU_OTHER and on; the GT stands above bit 60. */
    static const struct {
        uint64_t number;
        int slot;
    } of_gt[] = {{0x100000, GT_ACTUAL}, {0x100001, GT_REQUESTED}, {0x100003, GT_IDLE}};
    uint64_t gt = config >> 60;
    uint64_t number = config & ~(UINT64_C(0xf) << 60);
    uint64_t sample = config & 0xf;
    uint64_t class = config >> 12;
    if (sample < GTEL_INTEL_SAMPLES && class < GTEL_INTEL_CLASSES) /* 4-11: the instance */
        return (int)(class * GTEL_INTEL_SAMPLES + sample);
    if (config == 0x100002)
        return INTERRUPTS;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(of_gt) && gt < GTEL_INTEL_PMU_GTS; i++)
        if (number == of_gt[i].number)
            return GT_SLOTS + (int)gt * GT_SLOT_COUNT + of_gt[i].slot;
    return -1;
}

/*
 * Whether the unit of an event is the slot's: nanoseconds of engines and of RC6, MHz times seconds
 * of clocks, none of interrupts and ticks. 1, 0, or a negative errno.
 */
static int has_unit(const struct search *search, struct gtel_str event, int slot)
{
    char buf[32];
    struct gtel_str unit;
    double seconds;
    if (slot == INTERRUPTS || slot >= TICKS)
        return 1;
    int r = gtel_fs_text(search->env,
                         GTEL_FS_AT("%s/events/%.*s.unit", search->dir, GTEL_STR_ARG(event)), buf,
                         sizeof(buf), &unit);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (slot >= GT_SLOTS && (slot - GT_SLOTS) % GT_SLOT_COUNT != GT_IDLE)
        return gtel_str_eq(unit, GTEL_STR("M")) ? 1 : 0;
    return gtel_pmu_unit_seconds(unit, &seconds) == 0 && seconds < 2e-9 ? 1 : 0;
}

/*
 * Whether a slot is to be counted. While an event of waits, semaphores or clocks is open, a timer
 * of the driver reads registers of each GT in use 200 times a second (kernel: i915/i915_pmu.c,
 * pmu_needs_timer; with GuC the requested clock takes forcewake: gt/intel_rps.c): only on request.
 */
static bool is_wanted(const struct search *search, int slot)
{
    bool is_of_gt = slot >= GT_SLOTS && slot < TICKS;
    bool is_sampled =
        slot < INTERRUPTS && (slot < GT_SLOTS ? slot % GTEL_INTEL_SAMPLES != 0
                                              : (slot - GT_SLOTS) % GT_SLOT_COUNT != GT_IDLE);
    return slot >= 0 && !(is_of_gt && (search->without & WITHOUT_GTS) != 0) &&
           !(is_sampled && (search->without & WITHOUT_SAMPLED) != 0);
}

/* Takes an event when it is known what it counts. */
static int take_event(struct search *search, struct gtel_str event, struct gtel_intel_pmu *pmu)
{
    char buf[128];
    struct gtel_str text;
    uint64_t config;
    int r =
        gtel_fs_text(search->env, GTEL_FS_AT("%s/events/%.*s", search->dir, GTEL_STR_ARG(event)),
                     buf, sizeof(buf), &text);
    if (r < 0)
        return r;
    if (gtel_pmu_term(text, GTEL_STR("config"), &config) < 0)
        return 0;
    int slot = slot_of_ticks(event, config);
    slot = slot < 0 ? slot_of(config) : slot;
    if (!is_wanted(search, slot))
        return 0;
    r = has_unit(search, event, slot);
    if (r <= 0)
        return r;
    if (pmu->n == GTEL_PMU_EVENTS_MAX)
        return 0;
    search->config[pmu->n] = config;
    pmu->instance[pmu->n] = (uint8_t)(config >> 4); /* bits 4-11, of an engine */
    pmu->slot[pmu->n++] = (uint8_t)slot;
    pmu->counters[slot]++;
    return 0;
}

/*
 * Skips ticks that are of no use: of a class whose time is counted, and all of them where not
 * one clock is theirs, or where they may be those of one function of several.
 */
static void drop_ticks(struct search *search, struct gtel_intel_pmu *pmu)
{
    size_t kept = 0;
    size_t used = 0;
    bool has_clock = pmu->counters[ALL_TICKS] == 1 && pmu->vfs == 0;
    for (size_t c = 0; c < GTEL_INTEL_CLASSES; c++) {
        bool is_used = has_clock && pmu->counters[c * GTEL_INTEL_SAMPLES] == 0;
        pmu->counters[TICKS + c] = is_used ? pmu->counters[TICKS + c] : 0;
        used += pmu->counters[TICKS + c];
    }
    pmu->counters[ALL_TICKS] = used > 0;
    for (size_t i = 0; i < pmu->n; i++) {
        if (pmu->counters[pmu->slot[i]] == 0)
            continue;
        search->config[kept] = search->config[i];
        pmu->instance[kept] = pmu->instance[i];
        pmu->slot[kept++] = pmu->slot[i];
    }
    pmu->n = kept;
}

static int list_events(struct search *search, struct gtel_intel_pmu *pmu)
{
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(search->env, GTEL_FS_AT("%s/events", search->dir), search->arena, 1024,
                         &names, &n);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (gtel_str_ends(names[i], GTEL_STR(".unit")) ||
            gtel_str_ends(names[i], GTEL_STR(".scale")))
            continue;
        r = take_event(search, names[i], pmu);
        if (r < 0)
            return r;
    }
    drop_ticks(search, pmu);
    return pmu->n > 0 ? 0 : -ENOENT;
}

static int open_counters(struct search *search, const struct gtel_drm_card *card, bool is_only,
                         struct gtel_intel_pmu *pmu)
{
    search->config = gtel_arena_alloc(search->arena, GTEL_PMU_EVENTS_MAX * sizeof(*search->config));
    if (!search->config)
        return -ENOMEM;
    int r = open_type(search, card, is_only, pmu);
    if (r == 0)
        r = gtel_fs_read_u64(search->env, &pmu->type, &pmu->type_number);
    if (r == 0)
        r = pmu->type_number > UINT32_MAX ? -ERANGE : list_events(search, pmu);
    if (r == 0)
        r = gtel_intel_perf_cpu(search->env, search->dir, &pmu->cpu, NULL);
    if (r == 0)
        r = gtel_env_pmu_open(search->env, (uint32_t)pmu->type_number, search->config, pmu->n,
                              pmu->cpu);
    if (r < 0)
        return r;
    pmu->handle_plus_1 = r + 1;
    return 0;
}

/* Looks for the device in i915's own folder: 0, -ENOENT without it, or another negative errno. */
static int look_for_link(const struct gtel_env *env, const struct gtel_drm_card *card)
{
    char target[GTEL_FS_PATH_MAX];
    int64_t n = env->ops->link_read(env->arg, GTEL_FS_AT("sys/bus/pci/drivers/i915/%s", card->key),
                                    target, sizeof(target));
    return n < 0 ? (int)n : 0;
}

enum { PARTIAL_MAX = 4 }; /* each time that all are opened again costs an interval */

/* How many virtual functions are switched on; 0 without SR-IOV. */
static uint64_t read_vfs(const struct gtel_env *env, const struct gtel_drm_card *card)
{
    uint64_t vfs;
    return gtel_fs_u64(env, GTEL_FS_AT("sys/class/drm/%s/device/sriov_numvfs", card->card), &vfs) ==
                   0
               ? vfs
               : 0;
}

/* Whether the counters that are open still are those of the PMU, on the CPU that counts. */
static bool is_current(const struct gtel_env *env, const struct gtel_intel_pmu *pmu, uint64_t vfs)
{
    uint64_t type;
    uint32_t cpu;
    if (pmu->handle_plus_1 == 0 || pmu->vfs != vfs ||
        (pmu->partial > 0 && pmu->partial < PARTIAL_MAX) ||
        gtel_fs_read_u64(env, &pmu->type, &type) < 0 || type != pmu->type_number)
        return false;
    return gtel_intel_perf_cpu(env, pmu->dir, &cpu, NULL) < 0 || cpu == pmu->cpu;
}

void gtel_intel_pmu_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                            const struct gtel_drm_card *card, bool is_only, bool has_sampled,
                            struct gtel_intel_pmu *pmu)
{
    struct search search = {
        .env = env, .arena = arena, .without = has_sampled ? 0 : WITHOUT_SAMPLED};
    if (!card->is_pci)
        return;
    uint64_t vfs = read_vfs(env, card);
    pmu->has_link = pmu->has_link || look_for_link(env, card) == 0;
    if (is_current(env, pmu, vfs))
        return;
    gtel_intel_pmu_close(env, pmu);
    pmu->vfs = vfs;
    int r = open_counters(&search, card, is_only, pmu);
    if (r < 0 && pmu->n > 0 && !gtel_error_is_refusal(r)) {
        /* An event of the GT that is listed and cannot be opened must not cost engine use. */
        gtel_intel_pmu_close(env, pmu);
        search.without |= WITHOUT_GTS;
        pmu->partial++;
        r = open_counters(&search, card, is_only, pmu);
    } else {
        pmu->partial = 0;
    }
    pmu->error = r;
    if (r < 0)
        gtel_intel_pmu_close(env, pmu);
    gtel_intel_perf_log(env, "i915", card->key, "engine use", r, &pmu->logged);
}

bool gtel_intel_pmu_has_idle(const struct gtel_intel_pmu *pmu, struct gtel_str gt)
{
    if (pmu->handle_plus_1 == 0)
        return false;
    for (size_t i = 0; i < GTEL_INTEL_PMU_GTS; i++)
        if (gtel_str_eq(gts[i].gt, gt))
            return pmu->counters[GT_SLOTS + i * GT_SLOT_COUNT + GT_IDLE] > 0;
    return false;
}

/* What one read has given: the sums of the slots, and the time on the counters' clock. */
struct counts {
    uint64_t value[GTEL_PMU_EVENTS_MAX];
    uint64_t sum[GTEL_INTEL_PMU_SLOTS];
    uint64_t total;
    uint64_t enabled_ns;
};

static void put(struct gtel_batch *batch, const struct gtel_device *device, enum gtel_metric metric,
                const struct gtel_str dims[2], double value, uint64_t t_ns)
{
    struct gtel_reading reading = {.device = device,
                                   .metric = (uint16_t)metric,
                                   .t_ns = t_ns,
                                   .has_device_clock = true,
                                   .value_type = GTEL_VALUE_F64,
                                   .dim = {dims[0], dims[1]}};
    reading.value.f64 = value;
    gtel_batch_put(batch, &reading);
}

/* The share of a class is that of its engines on average, so their times are divided by them. */
static void put_class(struct gtel_batch *batch, const struct gtel_device *device,
                      const struct gtel_intel_pmu *pmu, size_t class, const struct counts *counts)
{
    const uint16_t *engines = &pmu->counters[class * GTEL_INTEL_SAMPLES];
    const uint64_t *sums = &counts->sum[class * GTEL_INTEL_SAMPLES];
    const struct gtel_str dims[2] = {gtel_engine_class_name((enum gtel_engine_class) class)};
    for (size_t i = 0; i < GTEL_INTEL_SAMPLES; i++)
        if (engines[i] > 0)
            put(batch, device, metrics[i], dims, (double)sums[i] / 1e9 / engines[i],
                counts->enabled_ns);
    uint16_t ticking = pmu->counters[TICKS + class];
    if (ticking > 0) /* on the clock of all ticks, in which 0 would mean "now" */
        put(batch, device, GTEL_M_ENGINE_TICKS, dims,
            (double)counts->sum[TICKS + class] / 1e9 / ticking, counts->sum[ALL_TICKS] + 1);
    if (engines[0] > 0 || ticking > 0)
        gtel_batch_u64(batch, device, GTEL_M_ENGINE_CAPACITY, dims[0], engines[0] + ticking);
}

/* The same of each engine by itself. */
static void put_engines(struct gtel_batch *batch, const struct gtel_device *device,
                        const struct gtel_intel_pmu *pmu, const struct counts *counts)
{
    for (size_t i = 0; i < pmu->n; i++) {
        char name[GTEL_ENGINE_TEXT_MAX];
        size_t slot = pmu->slot[i];
        bool is_time = slot < GT_SLOTS;
        if (!is_time && (slot < TICKS || slot == ALL_TICKS))
            continue;
        enum gtel_engine_class class =
            (enum gtel_engine_class)(is_time ? slot / GTEL_INTEL_SAMPLES : slot - TICKS);
        gtel_engine_name_print(name, class, pmu->instance[i]);
        const struct gtel_str dims[2] = {gtel_engine_class_name(class),
                                         gtel_batch_text(batch, gtel_str_of(name))};
        if (dims[1].n > 0)
            put(batch, device, is_time ? metrics[slot % GTEL_INTEL_SAMPLES] : GTEL_M_ENGINE_TICKS,
                dims, (double)counts->value[i] / 1e9,
                is_time ? counts->enabled_ns : counts->sum[ALL_TICKS] + 1);
    }
}

static void put_gt(struct gtel_batch *batch, const struct gtel_device *device,
                   const struct gtel_intel_pmu *pmu, size_t gt, const struct counts *counts)
{
    static const struct {
        enum gtel_metric metric;
        double scale;
    } values[GT_SLOT_COUNT] = {{GTEL_M_FREQUENCY_CYCLES, 1e6},
                               {GTEL_M_FREQUENCY_REQUESTED_CYCLES, 1e6},
                               {GTEL_M_FREQUENCY_IDLE_TIME, 1e-9}};
    const struct gtel_str dims[2] = {gts[gt].domain, gts[gt].gt};
    for (size_t i = 0; i < GT_SLOT_COUNT; i++) {
        size_t slot = GT_SLOTS + gt * GT_SLOT_COUNT + i;
        if (pmu->counters[slot] > 0)
            put(batch, device, values[i].metric, dims, (double)counts->sum[slot] * values[i].scale,
                counts->enabled_ns);
    }
}

/* Whether each GT slept for almost all of the time since the read before, as its RC6 file shows. */
static void note_idle(struct gtel_intel_pmu *pmu, const struct counts *counts,
                      struct gtel_intel_sample *sample)
{
    uint64_t passed_ns = counts->enabled_ns - pmu->enabled_ns;
    bool has_last = pmu->enabled_ns > 0 && counts->enabled_ns > pmu->enabled_ns;
    for (size_t i = 0; i < GTEL_INTEL_PMU_GTS; i++) {
        size_t slot = GT_SLOTS + i * GT_SLOT_COUNT + GT_IDLE;
        uint64_t idle_ns = counts->sum[slot];
        if (pmu->counters[slot] > 0 && has_last && idle_ns >= pmu->idle_ns[i]) {
            double slept_ns = (double)(idle_ns - pmu->idle_ns[i]);
            sample->idle_times++;
            sample->busy_times += slept_ns >= 0.98 * (double)passed_ns ? 0 : 1;
        }
        pmu->idle_ns[i] = idle_ns;
    }
    pmu->enabled_ns = counts->enabled_ns;
}

static void put_all(const struct gtel_device *device, const struct gtel_intel_pmu *pmu,
                    const struct counts *counts, struct gtel_batch *batch)
{
    batch->origin = GTEL_INTEL_PMU;
    for (size_t i = 0; i < GTEL_INTEL_CLASSES; i++)
        put_class(batch, device, pmu, i, counts);
    for (size_t i = 0; i < GTEL_INTEL_PMU_GTS; i++)
        put_gt(batch, device, pmu, i, counts);
    if (pmu->counters[INTERRUPTS] > 0)
        gtel_batch_u64(batch, device, GTEL_M_GPU_INTERRUPTS, GTEL_STR_NONE,
                       counts->sum[INTERRUPTS]);
}

/*
 * A group whose PMU has gone gives its last values for ever, without an error, and it does so
 * before anything of the PMU is seen to go (kernel: i915/i915_pmu.c, closed). But before a driver
 * is asked to leave, its folder names the device no more (kernel: drivers/base/dd.c,
 * driver_sysfs_remove): as long as it does, what has been read was counted to the end.
 */
static bool is_gone(const struct gtel_env *env, const struct gtel_drm_card *card,
                    struct gtel_intel_pmu *pmu, uint64_t total)
{
    uint64_t type;
    bool has_moved = total != pmu->last;
    pmu->last = total;
    if (pmu->has_link && look_for_link(env, card) == -ENOENT)
        return true;
    return !has_moved && gtel_fs_read_u64(env, &pmu->type, &type) == -ENODEV;
}

static int read_counts(const struct gtel_env *env, const struct gtel_intel_pmu *pmu,
                       struct counts *ret)
{
    int r =
        env->ops->pmu_read(env->arg, pmu->handle_plus_1 - 1, ret->value, pmu->n, &ret->enabled_ns);
    for (size_t i = 0; r == 0 && i < pmu->n; i++) {
        ret->sum[pmu->slot[i]] += ret->value[i];
        ret->total += ret->value[i];
    }
    return r;
}

int gtel_intel_pmu_read(const struct gtel_env *env, const struct gtel_drm_card *card,
                        const struct gtel_device *device, struct gtel_intel_pmu *pmu,
                        bool has_instances, struct gtel_intel_sample *sample)
{
    struct counts counts = {0};
    if (pmu->handle_plus_1 == 0)
        return 0;
    int r = read_counts(env, pmu, &counts);
    if (r == 0 && is_gone(env, card, pmu, counts.total))
        r = -ENODEV;
    if (r != -ENODEV && r != pmu->logged)
        gtel_intel_perf_log(env, "i915", card->key, "engine use", r, &pmu->logged);
    if (r < 0) {
        gtel_intel_pmu_close(env, pmu);
        return r;
    }
    if (counts.enabled_ns > 0) {
        note_idle(pmu, &counts, sample);
        put_all(device, pmu, &counts, sample->attrs.batch);
        if (has_instances && pmu->vfs == 0)
            put_engines(sample->attrs.batch, device, pmu, &counts);
    }
    return 0;
}
