/* SPDX-License-Identifier: MIT */
/* How busy the engines of an i915 GPU are, from the driver's perf PMU. */
#include "sources/intel/pmu.h"

#include "parse/engine_name.h"
#include "parse/pmu_desc.h"
#include "sources/intel/perf.h"

#include <errno.h>
#include <string.h>

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
    memset(pmu->engines, 0, sizeof(pmu->engines));
}

/* What a look for a PMU has gathered. */
struct look {
    const struct gtel_env *env;
    struct gtel_arena *arena;
    char dir[GTEL_INTEL_PERF_DIR_MAX];
    uint64_t *config; /* GTEL_PMU_EVENTS_MAX of them */
};

/*
 * Opens the type file: "i915_0000_03_00.0" of a discrete GPU, "i915" of the integrated one (kernel:
 * i915/i915_pmu.c), which is always at 0000:00:02.0 but in a virtual machine. -ENOENT without one.
 */
static int open_type(struct look *look, const struct gtel_drm_card *card, bool is_only,
                     struct gtel_intel_pmu *pmu)
{
    char path[GTEL_FS_PATH_MAX];
    gtel_intel_perf_dir(look->dir, "i915", card->key);
    gtel_fs_path(path, "%s/type", look->dir);
    int r = gtel_fs_open(look->env, &pmu->type, path);
    if (r != -ENOENT || (!is_only && strcmp(card->key, "0000:00:02.0") != 0))
        return r;
    gtel_intel_perf_dir(look->dir, "i915", NULL);
    gtel_fs_path(path, "%s/type", look->dir);
    return gtel_fs_open(look->env, &pmu->type, path);
}

/* Only counters of time are shares: backports have some in ticks, without a unit. */
static int is_in_ns(const struct look *look, struct gtel_str event)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[32];
    struct gtel_str unit;
    double seconds;
    gtel_fs_path(path, "%s/events/%.*s.unit", look->dir, GTEL_STR_ARG(event));
    int r = gtel_fs_text(look->env, path, buf, sizeof(buf), &unit);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return gtel_pmu_unit_seconds(unit, &seconds) == 0 && seconds < 2e-9 ? 1 : 0;
}

/* Takes an event when it is one of an engine: bits 0-3 sample, 4-11 instance, 12-19 class. */
static int take_event(struct look *look, struct gtel_str event, struct gtel_intel_pmu *pmu)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[128];
    struct gtel_str text;
    uint64_t config;
    gtel_fs_path(path, "%s/events/%.*s", look->dir, GTEL_STR_ARG(event));
    int r = gtel_fs_text(look->env, path, buf, sizeof(buf), &text);
    if (r < 0)
        return r;
    if (gtel_pmu_term(text, GTEL_STR("config"), &config) < 0)
        return 0;
    uint64_t sample = config & 0xf;
    uint64_t class = config >> 12;
    if (sample >= GTEL_INTEL_SAMPLES || class >= GTEL_INTEL_CLASSES)
        return 0; /* of the GT, or of a kernel to come */
    r = is_in_ns(look, event);
    if (r <= 0)
        return r;
    if (pmu->n == GTEL_PMU_EVENTS_MAX)
        return 0;
    uint8_t sum = (uint8_t)(class * GTEL_INTEL_SAMPLES + sample);
    look->config[pmu->n] = config;
    pmu->sum[pmu->n++] = sum;
    pmu->engines[sum]++;
    return 0;
}

static int list_events(struct look *look, struct gtel_intel_pmu *pmu)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str *names;
    size_t n;
    gtel_fs_path(path, "%s/events", look->dir);
    int r = gtel_fs_list(look->env, path, look->arena, 1024, &names, &n);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && i < 1024; i++) {
        if (gtel_str_ends(names[i], GTEL_STR(".unit")) ||
            gtel_str_ends(names[i], GTEL_STR(".scale")))
            continue;
        r = take_event(look, names[i], pmu);
        if (r < 0)
            return r;
    }
    return pmu->n > 0 ? 0 : -ENOENT;
}

static int open_counters(struct look *look, const struct gtel_drm_card *card, bool is_only,
                         struct gtel_intel_pmu *pmu)
{
    uint32_t cpu;
    look->config = gtel_arena_alloc(look->arena, GTEL_PMU_EVENTS_MAX * sizeof(*look->config));
    if (!look->config)
        return -ENOMEM;
    int r = open_type(look, card, is_only, pmu);
    if (r == 0)
        r = gtel_fs_read_u64(look->env, &pmu->type, &pmu->type_number);
    if (r == 0)
        r = pmu->type_number > UINT32_MAX ? -ERANGE : list_events(look, pmu);
    if (r == 0)
        r = gtel_intel_perf_cpu(look->env, look->dir, &cpu);
    if (r == 0)
        r = look->env->ops->pmu_open(look->env->arg, (uint32_t)pmu->type_number, look->config,
                                     pmu->n, cpu);
    if (r < 0)
        return r;
    pmu->handle_plus_1 = r + 1;
    return 0;
}

void gtel_intel_pmu_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                            const struct gtel_drm_card *card, bool is_only,
                            struct gtel_intel_pmu *pmu)
{
    struct look look = {.env = env, .arena = arena};
    uint64_t type;
    if (!card->is_pci)
        return;
    if (pmu->handle_plus_1 != 0 && gtel_fs_read_u64(env, &pmu->type, &type) == 0 &&
        type == pmu->type_number)
        return;
    gtel_intel_pmu_close(env, pmu);
    int r = open_counters(&look, card, is_only, pmu);
    pmu->error = r;
    if (r == 0) {
        pmu->is_refused = false;
        return;
    }
    gtel_intel_pmu_close(env, pmu);
    if (r != -ENOENT && r != -EOPNOTSUPP && r != -ENODATA)
        gtel_intel_perf_note(env, "i915", card->key, r, &pmu->is_refused);
}

static void put_time(struct gtel_batch *batch, const struct gtel_device *device,
                     enum gtel_metric metric, struct gtel_str engine, double seconds, uint64_t t_ns)
{
    struct gtel_reading reading = {.device = device,
                                   .metric = (uint16_t)metric,
                                   .t_ns = t_ns,
                                   .has_device_clock = true,
                                   .value_type = GTEL_VALUE_F64,
                                   .dim = {engine}};
    reading.value.f64 = seconds;
    gtel_batch_put(batch, &reading);
}

/* The share of a class is that of its engines on average, so their times are divided by them. */
static void put_class(struct gtel_batch *batch, const struct gtel_device *device,
                      const struct gtel_intel_pmu *pmu, size_t class, const uint64_t *sums,
                      uint64_t t_ns)
{
    const uint16_t *engines = &pmu->engines[class * GTEL_INTEL_SAMPLES];
    for (size_t i = 0; i < GTEL_INTEL_SAMPLES; i++)
        if (engines[i] > 0)
            put_time(batch, device, metrics[i],
                     gtel_engine_class_name((enum gtel_engine_class) class),
                     (double)sums[class * GTEL_INTEL_SAMPLES + i] / 1e9 / engines[i], t_ns);
    if (engines[0] > 0)
        gtel_batch_u64(batch, device, GTEL_M_ENGINE_CAPACITY,
                       gtel_engine_class_name((enum gtel_engine_class) class), engines[0]);
}

/* A group whose PMU has gone gives its last values for ever, without an error. */
static bool is_gone(const struct gtel_env *env, struct gtel_intel_pmu *pmu, uint64_t total)
{
    uint64_t type;
    bool has_moved = total != pmu->last;
    pmu->last = total;
    return !has_moved && gtel_fs_read_u64(env, &pmu->type, &type) == -ENODEV;
}

static void note_read(const struct gtel_env *env, const struct gtel_drm_card *card,
                      struct gtel_intel_pmu *pmu, int r)
{
    if (pmu->is_failing == (r < 0))
        return;
    pmu->is_failing = r < 0;
    gtel_log(&env->log, r < 0 ? GTEL_LOG_WARNING : GTEL_LOG_INFO, "i915: %s: engine use: %s",
             card->key, r < 0 ? strerror(-r) : "works again");
}

int gtel_intel_pmu_read(const struct gtel_env *env, const struct gtel_drm_card *card,
                        const struct gtel_device *device, struct gtel_intel_pmu *pmu,
                        struct gtel_batch *batch)
{
    uint64_t value[GTEL_PMU_EVENTS_MAX];
    uint64_t sum[GTEL_INTEL_CLASSES * GTEL_INTEL_SAMPLES] = {0};
    uint64_t total = 0;
    uint64_t enabled_ns = 0;
    if (pmu->handle_plus_1 == 0)
        return 0;
    int r = env->ops->pmu_read(env->arg, pmu->handle_plus_1 - 1, value, pmu->n, &enabled_ns);
    for (size_t i = 0; r == 0 && i < pmu->n; i++) {
        sum[pmu->sum[i]] += value[i];
        total += value[i];
    }
    if (r == 0 && is_gone(env, pmu, total))
        r = -ENODEV;
    if (r == -ENODEV) {
        gtel_intel_pmu_close(env, pmu);
        return r;
    }
    note_read(env, card, pmu, r);
    batch->origin = GTEL_INTEL_PMU;
    for (size_t i = 0; r == 0 && enabled_ns > 0 && i < GTEL_INTEL_CLASSES; i++)
        put_class(batch, device, pmu, i, sum, enabled_ns);
    return r;
}
