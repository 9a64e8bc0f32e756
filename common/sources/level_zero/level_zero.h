/* SPDX-License-Identifier: MIT */
/*
 * Level Zero as both sources that use it see it: where its loader is, how it is started, and when
 * the helper needs a restart.
 *
 * Level Zero starts once per process, and lists devices once: a start that failed stays so, and
 * handles of a GPU that was removed or reset are of no more use (level zero: zesInit, zeInit;
 * intel/compute-runtime issue 1005). So there is one rule: when the GPUs are no longer those that
 * it started with, or it has given nothing for ten minutes, the helper is restarted.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_LEVEL_ZERO_H
#define GTEL_SOURCES_LEVEL_ZERO_LEVEL_ZERO_H

#include "host/library.h"
#include "sources/drm/cards.h"
#include "sources/source.h"

enum gtel_level_zero_state {
    GTEL_LEVEL_ZERO_NEW,
    GTEL_LEVEL_ZERO_NO_LIBRARY,
    GTEL_LEVEL_ZERO_FAILED,
    GTEL_LEVEL_ZERO_RUNS
};

/* The library in this process, and the cards of its source. */
struct gtel_level_zero {
    const char *source; /* its name, for messages */
    enum gtel_log_level level;
    struct gtel_card_list cards;
    const struct gtel_options *options;
    struct gtel_dynlib dynlib;
    enum gtel_level_zero_state state;
    const char *advice;  /* of FAILED: what helps */
    uint64_t started_ns; /* 0: no start was tried */
};

/*
 * Where distributions, Intel's own packages and graphics drivers put it, NULL at the end; the
 * loader's own name comes first.
 */
extern const char *const gtel_level_zero_names[];
/*
 * Switches something on in a loader that is not started yet and knows no call for it: sets that
 * variable of this process to 1. False when that fails.
 */
bool gtel_level_zero_switch_on(const char *variable);

/* Whether there are GPUs and a loader that a helper finds; nothing is opened. */
bool gtel_level_zero_present(const struct gtel_env *env);
/* What brings a part of Intel's: under Windows its graphics driver, else those packages. */
const char *gtel_level_zero_fix(const struct gtel_env *env, const char *others);
/* The loader for `gtel doctor`. */
extern const struct gtel_source_library gtel_level_zero_library;

/* Sets up the cards, for open() of a source; source, level and own_size, close of cards are set.
 * 0 or -ENOENT. */
int gtel_level_zero_open(struct gtel_level_zero *lz, const struct gtel_env *env,
                         const struct gtel_options *options);
void gtel_level_zero_close(struct gtel_level_zero *lz);

/* What the source keeps for the card at that PCI address, or NULL. */
void *gtel_level_zero_at(const struct gtel_level_zero *lz, uint32_t domain, uint32_t bus,
                         uint32_t device, uint32_t function);

/*
 * Opens the loader unless that or the start was done. True when the source is to start it and to
 * say so by gtel_level_zero_started.
 */
bool gtel_level_zero_load(struct gtel_level_zero *lz, const struct gtel_dynlib_symbol *symbols,
                          size_t n, void *calls);
/*
 * Whether devices may be asked which GPU they are: it runs, and no GPU sleeps. A question opens the
 * node of the device, whichever it is, and its end resumes the card (intel/compute-runtime:
 * SingleInstance in sysman's getTimerResolution; kernel: xe_file_close).
 */
bool gtel_level_zero_may_ask(const struct gtel_level_zero *lz);
/* The start answered that code; advice: NULL, or what helps against a failure. */
void gtel_level_zero_started(struct gtel_level_zero *lz, uint32_t code, const char *advice);

/* Asks for a restart of the helper, once, where there is one. why: NULL logs nothing. */
void gtel_level_zero_restart(const struct gtel_level_zero *lz, struct gtel_registry *registry,
                             const char *why);
/*
 * Finds the cards; has_devices: Level Zero knows one of them. Returns what gtel_card_list_discover
 * does. After it, registry->renewal is DUE: what is known here is outdated.
 */
int gtel_level_zero_discover(struct gtel_level_zero *lz, struct gtel_registry *registry,
                             bool has_devices);
/*
 * In each gather: whether the cards are those that they were, one stat each. True when discovery is
 * due: one was removed, or the start waited for a GPU that is awake now.
 */
bool gtel_level_zero_check(const struct gtel_level_zero *lz, struct gtel_registry *registry);

/* Findings about the library itself; measurement: what its source would measure. True: it runs. */
bool gtel_level_zero_diagnose(const struct gtel_level_zero *lz, const char *start_call,
                              enum gtel_measurement measurement, struct gtel_findings *findings);
/* That it does not know that card. */
void gtel_level_zero_say_unknown(const struct gtel_card *card, enum gtel_measurement measurement,
                                 struct gtel_findings *findings);

#endif
