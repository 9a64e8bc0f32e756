/* SPDX-License-Identifier: MIT */
/*
 * A source that does the same for each card of its drivers: functions of struct gtel_source, made
 * from what it does for one card.
 *
 * The state of such a source begins with a struct gtel_card_source (see gtel_source_open). A card
 * whose sample or tick returns -ENODEV is closed and opened again by a discovery, which is asked
 * for once; any other failure is counted for its device.
 */
#ifndef GTEL_SOURCES_DRM_CARD_SOURCE_H
#define GTEL_SOURCES_DRM_CARD_SOURCE_H

#include "sources/drm/cards.h"
#include "sources/source.h"

struct gtel_attr_list;

/*
 * own: what the source keeps for a card (cards.h). Functions may be NULL; with add, those that are
 * not given are of attr_source.h, as is own_size.
 */
struct gtel_card_work {
    gtel_card_fn is_wanted; /* of a source without a list of drivers */
    size_t own_size;
    /* Begins messages about a failed sample of a card: "drm_health: %s: health". NULL: none. */
    const char *failure;
    void (*close)(const struct gtel_env *env, void *own);
    /* After each discovery. 0 or a negative errno: what is known stays. */
    int (*discover)(void *state, void *own);
    int (*sample)(void *state, void *own, struct gtel_batch *batch);
    /* When tick is to be called; 0: not at all. Both or none. */
    uint64_t (*due_ns)(const void *own);
    int (*tick)(void *state, void *own, struct gtel_batch *batch);
    void (*diagnose)(const void *state, const void *own, struct gtel_findings *findings);
    /* Of a source that reads attributes (attr_source.h): adds what a card that is awake has. */
    void (*add)(struct gtel_attr_list *list);
    const char *asleep; /* the driver whose attributes may be read of a card that sleeps, or NULL */
};

struct gtel_card_source {
    struct gtel_card_list cards;
    const struct gtel_env *env;
    const struct gtel_options *options;
    struct gtel_card_work work;
    uint32_t discoveries;    /* so far: what is done once after each of them is done at that one */
    struct gtel_arena arena; /* for the time of a call, which resets it first */
};

/* A machine without such cards has an empty list. env and options outlive the source. */
void gtel_card_source_init(struct gtel_card_source *source, const struct gtel_env *env,
                           const struct gtel_options *options, const struct gtel_source *row);

/* As in struct gtel_source. */
int gtel_card_source_discover(void *state, struct gtel_registry *registry);
int gtel_card_source_sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch);
uint64_t gtel_card_source_due(const void *state);
int gtel_card_source_tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch);
void gtel_card_source_diagnose(void *state, struct gtel_registry *registry,
                               struct gtel_findings *findings);
void gtel_card_source_close(void *state);

#endif
