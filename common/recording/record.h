/* SPDX-License-Identifier: MIT */
/*
 * Writes a recorded machine (recording/tree.h): what is known of files, links and answers over time
 * becomes text that gtel_tree_parse accepts.
 *
 * Only changes are written: saying the same again costs nothing. What is said between two times is
 * one state of the machine. The whole text passes through a scrub (recording/scrub.h) when it is
 * written.
 */
#ifndef GTEL_RECORDING_RECORD_H
#define GTEL_RECORDING_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "recording/scrub.h"

enum gtel_record_kind {
    GTEL_RECORD_NOTHING, /* not seen yet, or gone */
    GTEL_RECORD_DIR,
    GTEL_RECORD_FILE,
    GTEL_RECORD_LINK,
    GTEL_RECORD_CHAR,
    GTEL_RECORD_REFUSED, /* cannot be opened */
    GTEL_RECORD_BROKEN,  /* cannot be read */
    GTEL_RECORD_ANSWER   /* of a library, counter or driver: the key is no path */
};

enum { GTEL_RECORD_BUCKETS = 4096 };

struct gtel_record_node;
struct gtel_record_change;

struct gtel_record {
    struct gtel_scrub *scrub; /* the caller's */
    struct gtel_record_node *node;
    size_t nodes;
    size_t nodes_size;
    uint32_t bucket[GTEL_RECORD_BUCKETS];
    struct gtel_record_change *change; /* of the present state, in order */
    size_t changes;
    size_t changes_size;
    struct gtel_arena arena;
    struct gtel_buf text; /* the states before it; failed: they lack something, and are of no use */
    uint64_t t_ns;
    uint64_t written_ns; /* of the last `at` */
};

/* Allocates nothing. scrub outlives the record. */
void gtel_record_init(struct gtel_record *record, struct gtel_scrub *scrub);
void gtel_record_done(struct gtel_record *record);

/* A later state begins; times only grow. */
void gtel_record_at(struct gtel_record *record, uint64_t t_ns);

/*
 * What is at a path, which is one that no link leads to, relative to the root. text is copied: the
 * content, the target, MAJOR:MINOR, the name of an error. It is written where it differs from what
 * was recorded before.
 */
void gtel_record_set(struct gtel_record *record, struct gtel_str path, enum gtel_record_kind kind,
                     struct gtel_str text);
/* The path and everything below it, where they were recorded before. */
void gtel_record_gone(struct gtel_record *record, struct gtel_str path);
enum gtel_record_kind gtel_record_find(const struct gtel_record *record, struct gtel_str path);
/*
 * Those recorded directly below dir that are none of the n names, which are sorted here, are gone;
 * with is_numbers only those whose names are numbers.
 */
void gtel_record_keep(struct gtel_record *record, struct gtel_str dir, struct gtel_str *names,
                      size_t n, bool is_numbers);
/* Whether something is recorded below dir. */
bool gtel_record_has_below(const struct gtel_record *record, struct gtel_str dir);
/*
 * An answer of a library, counter or driver: a line of words, and the answer behind them, which may
 * go on in lines of its own. Written where it differs from the one before.
 */
void gtel_record_answer(struct gtel_record *record, const char *words, struct gtel_str answer);
/* Whether there is a line of these words already. */
bool gtel_record_is_answered(const struct gtel_record *record, const char *words);
/*
 * Appends bytes as words (parse/words.h), each behind a blank: eight bytes at a time, long runs of
 * zero as one. So many words behind each "| "; 0: all on this line.
 */
void gtel_record_words(struct gtel_buf *out, const unsigned char *bytes, size_t n,
                       size_t line_words);
/* A line that is written in any case. */
void gtel_record_event(struct gtel_record *record, struct gtel_str line);

/* Writes the lines before the states; everything has been scrubbed by then. */
typedef void (*gtel_record_head_fn)(void *arg, struct gtel_buf *out);
/*
 * Ends the last state and appends head (NULL: none), all states and `end`, scrubbed. Once; 0 or
 * -ENOMEM, also when not all secrets could be kept in mind: the text is of no use then.
 */
int gtel_record_write(struct gtel_record *record, gtel_record_head_fn head, void *arg,
                      struct gtel_buf *out);

#endif
