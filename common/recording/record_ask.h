/* SPDX-License-Identifier: MIT */
/*
 * The inside of a recording env, and what it writes down of counters, drivers and messages; for
 * record_env.c and record_ask.c only.
 */
#ifndef GTEL_RECORDING_RECORD_ASK_H
#define GTEL_RECORDING_RECORD_ASK_H

#include "recording/record_env.h"
#include "recording/record_pci.h"
#include "recording/tree.h"

enum {
    GTEL_RECORD_PATH = 512, /* bytes of a path, as in recorded machines */
    GTEL_RECORD_GROUPS = 256
};

struct gtel_record_handle {
    int inner_plus_1;            /* 0: closed */
    char path[GTEL_RECORD_PATH]; /* as asked for */
};

struct gtel_record_group {
    char pmu[GTEL_TREE_PMU_MAX]; /* empty: its name was not found */
    size_t n;
    uint64_t config[GTEL_PMU_EVENTS_MAX];
};

struct gtel_record_env {
    const struct gtel_env *inner;
    struct gtel_record *record;
    struct gtel_record_handle *handle;
    size_t handles;
    struct gtel_record_group *group; /* by the handles of the inner env */
    char *buf;                       /* for files; it grows to what a reader asks for */
    size_t buf_size;
    struct gtel_record_pci pci;
    char libraries[256]; /* asked for; with blanks between them */
    bool has_no_links;   /* Windows, some of whose files are in no folder */
    int heard_by_plus_1; /* the handle whose messages of the kernel are written down; 0: none */
};

/* Writes down a line of words and an answer when the answer differs from the one before. */
void gtel_record_ask_answer(struct gtel_record_env *env, const char *words, const char *answer);
/* Whether there is a line of these words already. */
bool gtel_record_ask_is_known(const struct gtel_record_env *env, const char *words);

/*
 * Appends bytes as words (parse/words.h), each behind a blank: eight bytes at a time, long runs of
 * zero as one. So many words behind each "| "; 0: all on this line.
 */
void gtel_record_ask_words(struct gtel_buf *out, const unsigned char *bytes, size_t n,
                           size_t line_words);

/* Functions of struct gtel_env_ops; arg is the recording env. */
int gtel_record_ask_pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n,
                             uint32_t cpu);
int gtel_record_ask_pmu_read(void *arg, int handle, uint64_t *values, size_t n,
                             uint64_t *ret_enabled_ns);
void gtel_record_ask_pmu_close(void *arg, int handle);
int64_t gtel_record_ask_drm_query(void *arg, const char *node, enum gtel_drm_driver driver,
                                  uint32_t item, void *buf, size_t n);
int gtel_record_ask_uevent_open(void *arg);
int64_t gtel_record_ask_uevent_read(void *arg, int handle, void *buf, size_t n);
void gtel_record_ask_uevent_close(void *arg, int handle);
int gtel_record_ask_ras_read(void *arg, const char *device, struct gtel_ras_counter *ret,
                             size_t max, size_t *ret_n);

#endif
