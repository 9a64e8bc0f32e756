/* SPDX-License-Identifier: MIT */
/*
 * One source on one recorded machine, for tests: opens it, steps the time, and looks readings up.
 */
#ifndef GTEL_TESTS_HARNESS_SOURCE_HARNESS_H
#define GTEL_TESTS_HARNESS_SOURCE_HARNESS_H

#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/fixtures.h"
#include "harness/headlines.h"
#include "sources/drm/cards.h"
#include "sources/source.h"

struct machine {
    struct gtel_tree *tree;
    struct gtel_env tree_env;
    struct env_fault *fault;
    struct gtel_source whole;
    const struct gtel_source *source; /* the same */
    void *state;
    struct gtel_options options;
    struct gtel_registry registry;
    struct gtel_cards cards;
    struct gtel_batch batch;
    struct headlines headlines;
    bool is_open;
    bool needs_discovery;
    uint32_t version; /* of the cards at the last discovery */
};

/* Parses the text and prepares the source; false (and says why) when the text is no tree. */
bool machine_init(struct machine *machine, const char *text, const char *source);
void machine_done(struct machine *machine);
/* Closes the source and the lane's cards: nothing is open then. */
void machine_close(struct machine *machine);
/*
 * One gather as the core makes it: open and discover where that is due, then sample. Returns what
 * sample returned, or the error before it. The batch has the GPUs' headlines, too.
 */
int machine_gather(struct machine *machine);
void machine_step(struct machine *machine, uint64_t ms);

/* The reading of a device (NULL: any), metric and first dimensions (NULL: any), or NULL. */
const struct gtel_reading *machine_find(const struct machine *machine, const char *device,
                                        enum gtel_metric metric, const char *dim0,
                                        const char *dim1);
/* A hash over the keys and values of all readings, in any order. */
uint64_t machine_hash(const struct machine *machine);
/*
 * For every outside call of three gathers, and each of the errors (0 at the end): it fails alone;
 * three gathers and a discovery later all readings and devices are there as without it, and nothing
 * is open once the source is closed. Returns how many calls there are.
 */
uint64_t machine_fail_in_turn(const char *text, const char *source, const int *errors);

#endif
