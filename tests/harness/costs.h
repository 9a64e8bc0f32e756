/* SPDX-License-Identifier: MIT */
/*
 * What a life of a context reports in which one call fails, beside the life in which none does.
 *
 * The difference is text: what is missing, from the gather of the fault (+0) on, then what is
 * logged and what `gtel doctor` reports, if these are new:
 *
 *     +0 without gpu power_watts; gpu_power_domain[card] watts energy_joules
 *     +1 with gpu readings_failed 1, not 0
 *     W! i915: 0000:03:00.0: …
 *     doctor: gpu_power_domain: hwmon/energy1_input: errno 5
 *
 * "*" stands for all fields of a measurement, or for all measurements of a GPU. A value that is
 * there and differs is wrong unless it is a rate that is the mean over the gathers since the last
 * reading of its counter; another source or another way gives it; it comes later; processes of one
 * name share it, and their count says that one is missing; or the test has an excuse.
 */
#ifndef GTEL_TESTS_HARNESS_COSTS_H
#define GTEL_TESTS_HARNESS_COSTS_H

#include "base/buf.h"
#include "gtel.h"
#include "pipeline/finding.h"

enum { COST_GATHERS = 6, COST_READINGS_MAX = 1024, COST_TEXTS_MAX = 1024, COST_LINES_MAX = 512 };

struct cost_reading {
    uint64_t key;
    uint64_t text; /* of a value that is a text: a hash */
    double value;  /* as line protocol has it */
    uint16_t line; /* what all fields of one line have: see below */
    uint16_t metric;
    uint8_t source;
    uint8_t origin;
    bool is_derived;
};

/* What one gather reports, in its order. */
struct cost_gather {
    struct cost_reading reading[COST_READINGS_MAX];
    size_t n;
};

/* Hashes of texts, each of them once. */
struct cost_texts {
    uint64_t hash[COST_TEXTS_MAX];
    size_t n;
};

struct cost_line {
    uint64_t key;
    char text[160];  /* "gpu_power_domain[card]", behind the GPU where there are several */
    char device[24]; /* its key */
    uint8_t measurement;
};

struct costs {
    /* Whether a value may differ for a reason that the test gives. */
    bool (*is_excused)(const struct cost_reading *reading);
    struct cost_gather whole[COST_GATHERS]; /* without a fault */
    struct cost_gather now[COST_GATHERS];
    struct cost_line line[COST_LINES_MAX];
    size_t lines;
    struct cost_texts known; /* what is said without a fault */
    struct cost_texts new;   /* and in this life only */
    struct gtel_findings findings;
    struct gtel_buf said; /* new messages and findings of this life */
    struct gtel_buf out;
    bool is_whole; /* this is the life without a fault */
    size_t at;     /* the present gather */
    size_t wrong;  /* values that differ and are not excused, in all lives */
};

/* The text above; gathers: of this life; failed: the one with the fault. Valid until the next. */
struct gtel_str costs_text(struct costs *costs, size_t gathers, size_t failed);
/* Before a life. The first one is that without a fault. */
void costs_begin(struct costs *costs, bool is_whole);
/* Before each gather. */
void costs_next(struct costs *costs, size_t gather);
/* After each: what its findings say, which are forgotten then. */
void costs_take_findings(struct costs *costs);
/* Where readings and messages go. */
struct gtel_sink costs_sink(struct costs *costs);
void costs_say(struct costs *costs, enum gtel_log_level level, const char *text);
void costs_done(struct costs *costs);

#endif
