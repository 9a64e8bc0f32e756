/* SPDX-License-Identifier: MIT */
/*
 * The sources of one lane, where they really run: in a helper process, or inline in tests.
 *
 * Opens sources, looks for devices when that is due, samples, and deals with failures: a source
 * that fails is tried again in the next gather; then 1, 2, 4 … 64 gathers are skipped. It is
 * logged once when it starts to fail and once when it works again. A failed discovery is
 * repeated after such pauses too, but what is known is read meanwhile. A source that has nothing on
 * this machine is asked again each Rescan interval.
 */
#ifndef GTEL_LANES_GROUP_H
#define GTEL_LANES_GROUP_H

#include "base/backoff.h"
#include "base/buf.h"
#include "host/fs.h"
#include "processes/usage.h"
#include "sources/drm/cards.h"
#include "sources/source.h"

enum gtel_group_phase {
    GTEL_GROUP_CLOSED,
    GTEL_GROUP_OPEN,
    GTEL_GROUP_TICK_STUCK /* open; tick() was called and its time has not moved on: not before
                             sample() */
};

struct gtel_group_entry {
    struct gtel_source source; /* with what its row omits */
    uint8_t index;             /* in gtel_sources */
    void *state;
    enum gtel_group_phase phase;
    int error;                           /* of the last failure, while it fails; else 0 */
    struct gtel_backoff pause;           /* after a failed start or sample; in gathers */
    struct gtel_backoff discovery_pause; /* after a failed discovery */
    int found;                           /* what the last discovery returned, but for absence */
    uint32_t version;                    /* of the lane's cards at the last discovery */
    uint64_t rescan_ns; /* when to check for devices again (0: now), or to try to open again */
};

struct gtel_group {
    const struct gtel_env *env;
    const struct gtel_options *options;
    struct gtel_registry registry;
    struct gtel_cards cards; /* also registry.cards */
    struct gtel_batch batch;
    struct gtel_usage usage; /* also batch.usage, so the group must not be moved */
    struct gtel_group_entry entry[GTEL_SOURCES_MAX];
    size_t n;
    uint64_t gathers;
    uint64_t now_ns;    /* when the gather began */
    uint64_t period_ns; /* since the one before; 0: not known */
    uint64_t errors;    /* failed gathers of a source since the start */
    uint64_t sent; /* generation of the registry in the last answer; UINT64_MAX: none was made */
};

/*
 * Takes the sources that belong to the lane and are named in the Sources option (all when it is
 * empty). env and options outlive the group. 0 or -ENOMEM.
 */
int gtel_group_init(struct gtel_group *group, const char *lane, const struct gtel_env *env,
                    const struct gtel_options *options);
void gtel_group_done(struct gtel_group *group);
/*
 * Fills group->batch again, and batch.findings where it is there. Failures are logged and counted,
 * never returned.
 */
void gtel_group_sample(struct gtel_group *group);

/*
 * The same, and makes it an answer (lanes/wire.h) in out, with the devices where they have changed
 * since the last one. statm: as of gtel_group_rss; NULL: the answer has no memory.
 */
void gtel_group_answer(struct gtel_group *group, uint64_t request, bool with_findings,
                       struct gtel_fs_file *statm, struct gtel_buf *out);
/* Resident memory of this process; 0 where it is not known. statm is opened at the first call. */
uint64_t gtel_group_rss(const struct gtel_env *env, struct gtel_fs_file *statm);

/* When a source asks to be called before the next gather, on the env's clock; 0: none does. */
uint64_t gtel_group_due(const struct gtel_group *group);
/* Calls the sources whose time has come. Empties group->batch. */
void gtel_group_tick(struct gtel_group *group);
/* Adds what is missing, as the last sample has found it, and the sources that do not work at all.
 */
void gtel_group_diagnose(struct gtel_group *group, struct gtel_findings *findings);

/* Whether a source that is off unless asked for has been asked for; true for all others. */
bool gtel_group_is_opted_in(const struct gtel_options *options, const struct gtel_source *source);
/* Whether the options leave a source in: Sources, which when empty names all, and its own one. */
bool gtel_group_is_chosen(const struct gtel_options *options, const struct gtel_source *source);

#endif
