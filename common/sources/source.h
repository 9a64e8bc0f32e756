/* SPDX-License-Identifier: MIT */
/*
 * What a source is: one driver or one vendor library, as a const table and a private state.
 *
 * A source knows its hardware and nothing else: it appends raw readings in base units, and never
 * computes a rate, formats output, asks which front end runs, or logs a failure that it returns.
 * It lives in a lane: all calls come from one thread of one process (lanes/group.h).
 *
 * Three outcomes, everywhere: 0 fine; -ENOENT, -EOPNOTSUPP, -ENODATA not here, skip quietly; any
 * other negative errno broken: the core logs it once, retries with growing pauses and says when it
 * works again. One broken device or value does not stop the others: go on, count it with
 * gtel_batch_failed, return the first error at the end.
 */
#ifndef GTEL_SOURCES_SOURCE_H
#define GTEL_SOURCES_SOURCE_H

#include "pipeline/finding.h"
#include "pipeline/reading.h"
#include "host/env.h"
#include "tables/options.h"

/* A vendor's library or program without which a source gives nothing, for `gtel doctor`. */
struct gtel_source_library {
    const char *name;   /* "Level Zero" */
    const char *soname; /* "libze_loader.so.1"; NULL: a program */
    const char *fix;    /* which packages bring it */
    /* Whether hardware that it knows is there: cheap, wakes and loads nothing. */
    bool (*is_wanted)(const struct gtel_env *env);
    /* Where a helper finds it: writes the path without the slash at its front. Loads nothing. */
    bool (*find)(const struct gtel_env *env, char *ret, size_t size);
};

struct gtel_card_work;

struct gtel_source {
    const char *name;    /* option value and log prefix, e.g. "xe" */
    const char *lane;    /* the helper it runs in: sources of one lane share a process */
    const char *vendor;  /* which plugin takes it: "intel", "nvidia" … */
    const char *summary; /* what it reads, one line for --list-sources and the READMEs */
    const char *needs;   /* kernel, library, right; for the same tables */
    const char *seen;    /* the hardware it was seen on; NULL: not tried on hardware */
    /* Where readings come from, in words a person can search for; NULL at the end. */
    const char *const *origins;
    size_t state_size; /* bytes of private state, zeroed before open() */
    /*
     * Its readings come from the kernel's own memory and do not show that the GPU answers; or it
     * has none while the GPU sleeps or a right is missing.
     */
    bool is_indirect;
    const struct gtel_source_library *library; /* NULL: needs none */
    /*
     * Where it reports engines of a GPU, those it does not report do nothing: the busiest of them
     * is the GPU's, whatever its class. Else only render or compute engines stand for a GPU.
     */
    bool has_all_engines;
    /* 1 + the option, "off" or "on", that switches it on; 0: on unless Sources leaves it out. */
    unsigned opt_in_plus_1;

    /*
     * Whether this machine may have something for the source: a few cheap look-ups that wake
     * nothing and load nothing. Runs in the front end; a lane without any such source is not
     * started. NULL: where it has a card of one of these DRM drivers (NULL at the end).
     */
    bool (*present)(const struct gtel_env *env);
    const char *const *drivers;
    /*
     * What is done for each card of these drivers: the state begins with a struct gtel_card_source
     * (drm/card_source.h), which is ready before open(). State and functions that are not given
     * here are those of that header (gtel_source_whole).
     */
    const struct gtel_card_work *work;
    /*
     * 0, or -ENOENT when this machine has nothing for the source. env and options outlive the
     * state. NULL: it needs no more than its cards.
     */
    int (*open)(void *state, const struct gtel_env *env, const struct gtel_options *options);
    /*
     * Registers devices and opens what sample() reads. Called after open(), then each Rescan
     * interval and after sample() has returned -ENODEV. Devices that are gone are marked with
     * gtel_registry_lost.
     */
    int (*discover)(void *state, struct gtel_registry *registry);
    /* Appends readings of every present device. Sets batch->t_ns before counters are read. */
    int (*sample)(void *state, struct gtel_registry *registry, struct gtel_batch *batch);
    /*
     * Says what was looked for and not got since the last sample(), for `gtel doctor`: which file,
     * which right, which kernel, and what would help. Called after a sample(). NULL: nothing to
     * say.
     */
    void (*diagnose)(void *state, struct gtel_registry *registry, struct gtel_findings *findings);
    /*
     * Work between gathers, for counters that must be read more often than they are asked for, or
     * for a measurement that takes a while. due_ns() gives the time on the env's monotonic clock at
     * which tick() is to be called, 0 for not at all, and is asked again after each call of
     * sample() and tick(). What tick() appends is thrown away; its -ENODEV makes discovery due;
     * anything else is for the next sample() to report. Not called while the source is closed or
     * pauses after a failure, and no more before the next sample() once due_ns() has not moved
     * beyond the time of its call. Both functions or none.
     */
    uint64_t (*due_ns)(const void *state);
    int (*tick)(void *state, struct gtel_registry *registry, struct gtel_batch *batch);
    /* Frees what open() and discover() took; accepts a zeroed state. */
    void (*close)(void *state);
};

/* In order of preference: the first source to report a reading wins. NULL at the end. */
extern const struct gtel_source *const gtel_sources[];

enum { GTEL_SOURCES_MAX = 32 };

/* A row with what it omits. */
struct gtel_source gtel_source_whole(const struct gtel_source *row);
bool gtel_source_present(const struct gtel_source *source, const struct gtel_env *env);
/* What open() says; the state is zeroed. */
int gtel_source_open(const struct gtel_source *source, void *state, const struct gtel_env *env,
                     const struct gtel_options *options);
/* Position of the source of that name in gtel_sources, or -1. */
int gtel_source_find(struct gtel_str name);

#endif
