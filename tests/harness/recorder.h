/* SPDX-License-Identifier: MIT */
/* A recorded machine that is recorded again, from its text to the text of the record. */
#ifndef GTEL_TESTS_HARNESS_RECORDER_H
#define GTEL_TESTS_HARNESS_RECORDER_H

#include "recording/record_env.h"
#include "recording/tree.h"

struct recorder {
    struct gtel_tree *tree;
    struct gtel_env inner;
    struct gtel_scrub scrub;
    struct gtel_record record;
    struct gtel_env env;
    struct gtel_buf out;
};

/* False, with a message, when the text is no recorded machine. Ended with recorder_stop. */
bool recorder_start(struct recorder *recorder, const char *text);
/* The text of the record, which must be one that can be read back. */
const char *recorder_finish(struct recorder *recorder);
void recorder_stop(struct recorder *recorder);

#endif
