/* SPDX-License-Identifier: MIT */
/*
 * A fault walk over whole gathers: what a context reports in a life in which something fails,
 * beside what it reports in lives in which nothing does.
 */
#ifndef GTEL_TESTS_HARNESS_FAULT_WALK_H
#define GTEL_TESTS_HARNESS_FAULT_WALK_H

#include "gtel.h"
#include "harness/readings.h"

struct walk {
    struct gathered_life right; /* what is true at each time */
    struct gathered_life whole; /* what is reported without a fault */
    /* Whether a reading that is not among the former is right for a reason of the test's own. */
    bool (*is_excused)(void *arg, const struct gtel_reading *reading);
    void *arg;
    /* The present life. */
    struct gathered_life *learned; /* one of the above, or NULL: to be compared */
    struct gathered now;
    size_t gather;
    size_t wrong;
};

/* Takes readings into the life that is learned, or else compares them; *walk outlives it. */
struct gtel_sink walk_sink(struct walk *walk);
/* Before each gather of a life. */
void walk_next(struct walk *walk, size_t gather);
/*
 * Everything that is reported without a fault is reported from gather `due` on; more_of: how
 * many gathers later a metric may come.
 */
void walk_check(const struct walk *walk, size_t due, size_t (*more_of)(enum gtel_metric metric));
/* What fails on one GPU is nothing to others. */
void walk_check_others(const struct walk *walk);

/*
 * Every code of the specification that is no success and that gtel treats as no other one (level
 * zero: ze_result_t); of the others, which test_ze_answer.c has, one for each answer.
 */
enum { WALK_CODES = 17 };
extern const uint32_t walk_codes[WALK_CODES];

/* What can fail in a life. */
struct walk_calls {
    unsigned n;
    unsigned early; /* so many fail with every code; later ones with one of each kind, as what was
                       kept for a minute is asked for again there */
    const char *const *name;
    size_t names;
};

/*
 * Lives in each of which the call of one number fails, or (at 0) all calls of one name for a while;
 * those of this part of the test (test_split).
 */
void walk_fail_in_turn(const char *machine, const struct walk_calls *calls,
                       void (*live)(unsigned at, const char *name, uint32_t code));

#endif
