/* SPDX-License-Identifier: MIT */
/* The ordered table of all sources. */
#include "sources/source.h"

#include "sources/drm/card_source.h"

extern const struct gtel_source gtel_source_amd_tool;
extern const struct gtel_source gtel_source_amdgpu;
extern const struct gtel_source gtel_source_amdgpu_health;
extern const struct gtel_source gtel_source_amdgpu_parts;
extern const struct gtel_source gtel_source_amdgpu_ras;
extern const struct gtel_source gtel_source_amdgpu_uevents;
extern const struct gtel_source gtel_source_busy_files;
extern const struct gtel_source gtel_source_drm;
extern const struct gtel_source gtel_source_drm_clients;
extern const struct gtel_source gtel_source_drm_health;
extern const struct gtel_source gtel_source_drm_memory;
extern const struct gtel_source gtel_source_drm_ras;
extern const struct gtel_source gtel_source_i915;
extern const struct gtel_source gtel_source_l0metrics;
extern const struct gtel_source gtel_source_macmon;
extern const struct gtel_source gtel_source_npu;
extern const struct gtel_source gtel_source_nvml;
extern const struct gtel_source gtel_source_rapl;
extern const struct gtel_source gtel_source_sysman;
extern const struct gtel_source gtel_source_uevents;
extern const struct gtel_source gtel_source_wddm;
extern const struct gtel_source gtel_source_wddm_clients;
extern const struct gtel_source gtel_source_wmi;
extern const struct gtel_source gtel_source_xe;
extern const struct gtel_source gtel_source_xe_pmu;
extern const struct gtel_source gtel_source_xe_stall;

/* In order of preference: the first source to report a reading wins. */
const struct gtel_source *const gtel_sources[] = {
#ifdef GTEL_HAVE_DRM
    &gtel_source_uevents, /* first: then the others of its lane search for what was added or removed
                           */
    &gtel_source_amdgpu_uevents,
    &gtel_source_i915,
    &gtel_source_xe,
    &gtel_source_amdgpu,
    &gtel_source_amdgpu_parts,
    &gtel_source_drm,
    &gtel_source_npu,
    &gtel_source_xe_pmu,
    &gtel_source_xe_stall,
    &gtel_source_busy_files,
    &gtel_source_drm_memory,
    &gtel_source_rapl,
    &gtel_source_drm_health,
    &gtel_source_drm_ras,
    &gtel_source_amdgpu_health,
    &gtel_source_amdgpu_ras,
    &gtel_source_drm_clients,
#endif
#ifdef GTEL_HAVE_LEVEL_ZERO
    &gtel_source_sysman, /* behind the kernel's sources: it supplements */
    &gtel_source_l0metrics,
#endif
#ifdef GTEL_HAVE_NVML
    &gtel_source_nvml,
#endif
    &gtel_source_wddm, /* behind the libraries of vendors */
#ifdef GTEL_HAVE_JSON_TOOLS
    &gtel_source_amd_tool, /* where nothing else reads AMD GPUs */
    &gtel_source_macmon,
#endif
    &gtel_source_wddm_clients, /* behind what reads the GPUs themselves */
    &gtel_source_wmi,          /* where nothing else knows a size */
    NULL,
};

_Static_assert(GTEL_ARRAY_LEN(gtel_sources) - 1 <= GTEL_SOURCES_MAX, "a place per source");

int gtel_source_find(struct gtel_str name)
{
    for (int i = 0; gtel_sources[i]; i++)
        if (gtel_str_eq(name, gtel_str_of(gtel_sources[i]->name)))
            return i;
    return -1;
}

struct gtel_source gtel_source_whole(const struct gtel_source *row)
{
    struct gtel_source whole = *row;
    if (!row->work)
        return whole;
    whole.state_size = row->state_size ? row->state_size : sizeof(struct gtel_card_source);
    whole.discover = row->discover ? row->discover : gtel_card_source_discover;
    whole.sample = row->sample ? row->sample : gtel_card_source_sample;
    whole.diagnose = row->diagnose ? row->diagnose : gtel_card_source_diagnose;
    whole.close = row->close ? row->close : gtel_card_source_close;
    whole.due_ns = row->work->tick ? gtel_card_source_due : NULL;
    whole.tick = row->work->tick ? gtel_card_source_tick : NULL;
    return whole;
}

bool gtel_source_present(const struct gtel_source *source, const struct gtel_env *env)
{
    if (source->present)
        return source->present(env);
    if (source->drivers)
        return gtel_cards_any(env, source->drivers);
    return gtel_cards_any_wanted(env, source->work->is_wanted);
}

int gtel_source_open(const struct gtel_source *source, void *state, const struct gtel_env *env,
                     const struct gtel_options *options)
{
    if (source->work)
        gtel_card_source_init(state, env, options, source);
    return source->open ? source->open(state, env, options) : 0;
}
