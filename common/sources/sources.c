/* SPDX-License-Identifier: MIT */
/* The ordered table of all sources. */
#include "sources/source.h"

#include "sources/drm/card_source.h"

#define GTEL_SOURCE(name) extern const struct gtel_source gtel_source_##name;
#include "tables/sources.def"
#undef GTEL_SOURCE

const struct gtel_source *const gtel_sources[] = {
#define GTEL_SOURCE(name) &gtel_source_##name,
#include "tables/sources.def"
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
