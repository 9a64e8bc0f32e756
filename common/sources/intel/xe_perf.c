/* SPDX-License-Identifier: MIT */
/* The perf PMU of an xe GPU. */
#include "sources/intel/xe_perf.h"

#include "host/drm.h"
#include "parse/pmu_desc.h"

#include <errno.h>

enum { TILES_MAX = 16 };

/*
 * The terms' format files, and where the terms have been in every kernel so far (kernel 6.16 to
 * 7.3: xe/xe_pmu.c): for kernels or recordings without the files.
 */
static const struct {
    const char *name;
    uint8_t first;
    uint8_t last;
} terms[GTEL_XE_TERMS] = {
    [GTEL_XE_EVENT] = {"event", 0, 11},
    [GTEL_XE_INSTANCE] = {"engine_instance", 12, 19},
    [GTEL_XE_CLASS] = {"engine_class", 20, 27},
    [GTEL_XE_FUNCTION] = {"function", 44, 59},
    [GTEL_XE_GT] = {"gt", 60, 63},
};

void gtel_xe_perf_close(const struct gtel_env *env, struct gtel_xe_perf *perf)
{
    gtel_fs_close(env, &perf->type);
    *perf = (struct gtel_xe_perf){0};
}

static int read_format(const struct gtel_env *env, struct gtel_xe_perf *perf)
{
    char buf[32];
    struct gtel_str text;
    for (size_t i = 0; i < GTEL_XE_TERMS; i++) {
        perf->first[i] = terms[i].first;
        perf->last[i] = terms[i].last;
        int r = gtel_fs_text(env, GTEL_FS_AT("%s/format/%s", perf->dir, terms[i].name), buf,
                             sizeof(buf), &text);
        if (r == 0)
            r = gtel_pmu_format(text, &perf->first[i], &perf->last[i]);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    return 0;
}

static int read_event(const struct gtel_env *env, const struct gtel_xe_perf *perf, const char *name,
                      uint64_t *ret)
{
    char buf[64];
    struct gtel_str text;
    int r = gtel_fs_text(env, GTEL_FS_AT("%s/events/%s", perf->dir, name), buf, sizeof(buf), &text);
    if (r == 0)
        r = gtel_pmu_term(text, GTEL_STR("event"), ret);
    return r;
}

int gtel_xe_perf_open(const struct gtel_env *env, const char *key, struct gtel_xe_perf *perf)
{
    uint64_t type = 0;
    gtel_intel_perf_dir(perf->dir, "xe", key);
    int r = gtel_fs_open(env, &perf->type, GTEL_FS_AT("%s/type", perf->dir));
    if (r == 0)
        r = gtel_fs_read_u64(env, &perf->type, &type);
    if (r == 0)
        r = type > UINT32_MAX ? -ERANGE : read_format(env, perf);
    if (r == 0)
        r = read_event(env, perf, "engine-active-ticks", &perf->active);
    if (r == 0)
        r = read_event(env, perf, "engine-total-ticks", &perf->total);
    if (r == 0)
        r = gtel_intel_perf_cpu(env, perf->dir, &perf->cpu, NULL);
    perf->type_number = (uint32_t)type;
    if (r < 0)
        gtel_xe_perf_close(env, perf);
    return r;
}

bool gtel_xe_perf_is_current(const struct gtel_env *env, const struct gtel_xe_perf *perf)
{
    uint64_t type;
    return gtel_fs_read_u64(env, &perf->type, &type) == 0 && type == perf->type_number;
}

static uint64_t term(const struct gtel_xe_perf *perf, enum gtel_xe_term which, uint64_t value)
{
    unsigned bits = 1u + perf->last[which] - perf->first[which];
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    return (value & mask) << perf->first[which];
}

uint64_t gtel_xe_perf_config(const struct gtel_xe_perf *perf, uint64_t event,
                             const struct gtel_xe_engine *engine, uint32_t function)
{
    return term(perf, GTEL_XE_EVENT, event) | term(perf, GTEL_XE_INSTANCE, engine->instance) |
           term(perf, GTEL_XE_CLASS, engine->engine_class) |
           term(perf, GTEL_XE_FUNCTION, function) | term(perf, GTEL_XE_GT, engine->gt);
}

/* Names "<prefix><number>" of a directory, as numbers. */
struct numbers {
    struct gtel_str prefix;
    uint64_t number[GTEL_XE_GTS_MAX];
    size_t n;
};

static int see_number(void *arg, struct gtel_str name)
{
    struct numbers *numbers = arg;
    uint64_t number;
    if (!gtel_str_starts(name, numbers->prefix) ||
        gtel_str_u64(gtel_str_skip(name, numbers->prefix.n), &number) < 0 ||
        number >= GTEL_XE_GTS_MAX || numbers->n == GTEL_XE_GTS_MAX)
        return 0;
    numbers->number[numbers->n++] = number;
    return 0;
}

/* A GT whose engines' classes are read. */
struct gt_search {
    struct gtel_xe_engines *engines;
    uint64_t gt;
};

static int see_class(void *arg, struct gtel_str name)
{
    const struct gt_search *search = arg;
    struct gtel_engine_name engine;
    if (gtel_engine_name_parse(name, &engine) == 0)
        search->engines->class_gts[engine.class] |= 1u << search->gt;
    return 0;
}

static int scan_tile(const struct gtel_env *env, const char *device_path, uint8_t tile,
                     struct gtel_xe_engines *engines)
{
    const char *dir = GTEL_FS_AT("%s/tile%u", device_path, (unsigned)tile);
    struct numbers gts = {.prefix = GTEL_STR("gt")};
    int r = env->ops->dir_list(env->arg, dir, see_number, &gts);
    for (size_t i = 0; r == 0 && i < gts.n; i++) {
        struct gt_search search = {engines, gts.number[i]};
        engines->gts |= 1u << gts.number[i];
        engines->tile[gts.number[i]] = tile;
        r = env->ops->dir_list(env->arg,
                               GTEL_FS_AT("%s/gt%u/engines", dir, (unsigned)gts.number[i]),
                               see_class, &search);
        r = r == -ENOENT ? 0 : r;
    }
    return r;
}

int gtel_xe_engines_scan(const struct gtel_env *env, const char *device_path,
                         struct gtel_xe_engines *engines)
{
    struct numbers tiles = {.prefix = GTEL_STR("tile")};
    *engines = (struct gtel_xe_engines){0};
    int r = env->ops->dir_list(env->arg, device_path, see_number, &tiles);
    for (size_t i = 0; r == 0 && i < tiles.n && i < TILES_MAX; i++)
        r = scan_tile(env, device_path, (uint8_t)tiles.number[i], engines);
    if (r < 0)
        *engines = (struct gtel_xe_engines){0}; /* rather nothing than a part */
    return r;
}

/* 1: the engine is there, 0: it is not, or a negative errno. */
static int try_engine(const struct gtel_env *env, const struct gtel_xe_perf *perf,
                      const struct gtel_xe_engine *engine)
{
    uint64_t config = gtel_xe_perf_config(perf, perf->total, engine, 0);
    int r = gtel_env_pmu_open(env, perf->type_number, &config, 1, perf->cpu);
    if (r == -ENOENT)
        return 0;
    if (r >= 0)
        env->ops->pmu_close(env->arg, r);
    return r < 0 ? r : 1;
}

static int try_engines(const struct gtel_env *env, const struct gtel_xe_perf *perf,
                       struct gtel_xe_engines *engines)
{
    /* As many as any GPU has (kernel: xe/xe_hw_engine_types.h: enum xe_hw_engine_id). */
    static const uint8_t most[GTEL_ENGINE_CLASSES] = {
        [GTEL_ENGINE_RENDER] = 1,        [GTEL_ENGINE_COPY] = 9,    [GTEL_ENGINE_VIDEO] = 8,
        [GTEL_ENGINE_VIDEO_ENHANCE] = 4, [GTEL_ENGINE_COMPUTE] = 4,
    };
    engines->n = 0;
    for (unsigned at = 0; at < GTEL_XE_GTS_MAX * GTEL_ENGINE_CLASSES; at++) {
        struct gtel_xe_engine engine = {.gt = (uint16_t)(at / GTEL_ENGINE_CLASSES),
                                        .engine_class = (uint16_t)(at % GTEL_ENGINE_CLASSES)};
        if ((engines->class_gts[engine.engine_class] >> engine.gt & 1) == 0)
            continue;
        for (; engine.instance < most[engine.engine_class]; engine.instance++) {
            int r = try_engine(env, perf, &engine);
            if (r < 0)
                return r;
            if (r > 0 && engines->n < GTEL_XE_LIST_MAX)
                engines->engine[engines->n++] = engine;
        }
    }
    return 0;
}

static int ask_for_engines(const struct gtel_env *env, const char *device_path,
                           struct gtel_xe_engines *engines)
{
    struct gtel_xe_engine list[GTEL_XE_ENGINES_MAX];
    char node[GTEL_DRM_NODE_MAX];
    size_t n = 0;
    int r = gtel_drm_render_node(env, device_path, node);
    if (r == 0)
        r = gtel_drm_xe_engines(env, node, list, GTEL_XE_ENGINES_MAX, &n);
    if (r < 0)
        return r;
    engines->n = 0;
    for (size_t i = 0; i < n && engines->n < GTEL_XE_LIST_MAX; i++)
        if (list[i].engine_class < GTEL_ENGINE_CLASSES && list[i].gt < GTEL_XE_GTS_MAX)
            engines->engine[engines->n++] = list[i];
    return engines->n > 0 ? 0 : -ENODATA;
}

int gtel_xe_engines_list(const struct gtel_env *env, const char *device_path,
                         const struct gtel_xe_perf *perf, struct gtel_xe_engines *engines)
{
    int r = ask_for_engines(env, device_path, engines);
    if (r < 0)
        r = try_engines(env, perf, engines);
    engines->is_listed = r == 0;
    return r;
}
