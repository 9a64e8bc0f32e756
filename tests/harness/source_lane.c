/* SPDX-License-Identifier: MIT */
/* The sources of the kernel lane on a recorded machine. */
#include "harness/source_lane.h"

#include "harness/test.h"

#include <stdlib.h>

bool lane_init(struct lane *lane, const char *text, const char *sources)
{
    return lane_init_in(lane, "kernel", text, sources);
}

bool lane_init_in(struct lane *lane, const char *name, const char *text, const char *sources)
{
    char error[200] = "no text";
    memset(lane, 0, sizeof(*lane));
    gtel_options_init(&lane->options);
    lane_set(lane, GTEL_O_SOURCES, sources);
    lane->fault = calloc(1, sizeof(*lane->fault));
    if (!text || !lane->fault ||
        gtel_tree_parse(gtel_str_of(text), &lane->tree, error, sizeof(error)) < 0 ||
        gtel_env_tree_init(lane->tree, true, 0, &lane->tree_env) < 0) {
        printf("tree: %s\n", error);
        free(lane->fault);
        return false;
    }
    env_fault_init(lane->fault, &lane->tree_env);
    return gtel_group_init(&lane->group, name, &lane->fault->env, &lane->options) == 0;
}

void lane_set(struct lane *lane, enum gtel_option option, const char *value)
{
    char error[100];
    CHECK_INT(gtel_option_set(&lane->options, option, gtel_str_of(value), error, sizeof(error)), 0);
    lane->group.cards.may_wake = gtel_option_is(&lane->options, GTEL_O_WAKE, "always");
}

void lane_gather(struct lane *lane)
{
    gtel_group_sample(&lane->group);
    headlines_append(&lane->headlines, lane->group.registry.n, &lane->group.batch);
}

void lane_step(struct lane *lane, uint64_t ms)
{
    const struct gtel_env *env = &lane->tree_env;
    uint64_t end_ns = gtel_env_now(env) + ms * 1000000;
    for (;;) {
        uint64_t due_ns = gtel_group_due(&lane->group);
        uint64_t now_ns = gtel_env_now(env);
        if (due_ns == 0 || due_ns >= end_ns)
            break;
        gtel_env_tree_step(&lane->tree_env, due_ns > now_ns ? due_ns - now_ns : 0);
        gtel_group_tick(&lane->group);
    }
    gtel_env_tree_step(&lane->tree_env, end_ns - gtel_env_now(env));
}

void lane_done(struct lane *lane)
{
    gtel_group_done(&lane->group);
    headlines_done(&lane->headlines);
    if (lane->fault)
        CHECK_INT(lane->fault->open_files, 0);
    gtel_env_tree_done(&lane->tree_env);
    gtel_tree_free(lane->tree);
    free(lane->fault);
}

const struct gtel_reading *lane_find(const struct lane *lane, enum gtel_metric metric,
                                     const char *dim0, const char *dim1)
{
    for (size_t i = 0; i < lane->group.batch.n; i++) {
        const struct gtel_reading *reading = &lane->group.batch.reading[i];
        if (reading->metric == metric &&
            (!dim0 || gtel_str_eq(reading->dim[0], gtel_str_of(dim0))) &&
            gtel_str_eq(reading->dim[1], gtel_str_of(dim1)))
            return reading;
    }
    return NULL;
}

struct gtel_device *lane_device(const struct lane *lane, const char *key)
{
    return gtel_registry_find(&lane->group.registry, gtel_str_of(key));
}
