/* SPDX-License-Identifier: MIT */
/*
 * A recorded machine: one text file with files, links and vendor answers, over time.
 *
 * Lines are UTF-8; `#` at the beginning of a line starts a comment. Paths are relative to the root.
 *
 *     wall 1767225600          UTC seconds at time 0: once, before anything else (the default)
 *     dir sys/class/hwmon      a directory; those above a file or link exist by themselves
 *     link P -> TARGET         a symbolic link, followed as the kernel would
 *     file P                   a file; each following `| text` is one line of it
 *     grow P START PER_SECOND  a file with a decimal number that grows with time from here on, cut
 *                              to an integer; PER_SECOND may be negative or have a fraction
 *     binary P                 a file of bytes; each following `| 2:120 1:3 8:5+1.5` is words as
 *                              of query; one with + grows by so much per second, and turns at its
 *                              width
 *     error P EIO              opening works, each read fails (EIO EAGAIN ENODEV ENODATA EACCES)
 *     refuse P EACCES          opening fails
 *     char P MAJOR:MINOR       a character device behind a link, as proc/PID/fd/5 of a process that
 *                              has a GPU open; it cannot be read
 *     owner P UID              whose P is: root's without such a line; P is a path without links
 *     gone P                   removes P and everything below it
 *     library NAME             a vendor library is there, as libnvidia-ml.so.1
 *     library NAME gone        and is not any more
 *     call NAME WORD… = ANSWER what a call of it answers; `call NAME = !nosymbol`: it has no such
 *     pmu NAME CONFIG START PER_SECOND  a counter of the perf PMU in sys/bus/event_source/devices/
 *                              NAME; grows as a file does (1e9: an engine that is always busy)
 *     pmu_error NAME EACCES    opening counters of that PMU fails; `none`: not any more
 *     query NODE DRIVER ITEM   what the DRM driver answers to a query (env.h, drm_query) through
 *                              dev/dri/renderD128; DRIVER i915 or xe, ITEM the query's number;
 *                              each following `| 4:2 2:0x10 48:0` is words of the answer, WIDTH in
 *                              bytes and value, little endian (parse/words.h)
 *     query_error NODE DRIVER ITEM EACCES  the query fails, whatever it answered before; `none`:
 *                              not any more
 *     uevents on               the kernel's messages about devices can be heard; `uevents EPERM`:
 *                              not so; without such a line the machine has none
 *     uevent ACTION /DEVPATH KEY=VALUE…  such a message, as
 *                              uevent change /devices/pci0000:00/0000:00:02.0/drm/card0 RESET=1
 *     uevent lost              messages are lost here, because too many waited
 *     ras DEVICE NODE NAME VALUE  an error counter that the driver of the device offers (drm-ras):
 *                              ras 0000:03:00.0 correctable-errors device-memory 5
 *     ras_error EPERM          asking for these fails; `none`: not any more
 *     at 1s                    a later state of the same machine begins; times only grow
 *     end                      the last line: a file without it has been cut
 *
 * A later state keeps what it does not name; what was gone and comes again is another file (of
 * proc/PID/fd: another process). The directory proc/PID/fd has the number of its entries as its
 * size, unless proc/sys/kernel/osrelease says that Linux is older than 6.2; `link proc/5/fd/3 -> X`
 * is a descriptor of another kind, whether X is there or not. Reading such a machine gives the same
 * answer everywhere.
 */
#ifndef GTEL_RECORDING_TREE_H
#define GTEL_RECORDING_TREE_H

#include "host/env.h"

struct gtel_tree;

/*
 * Parses text, which is copied. Returns 0, -ENOMEM, or -EINVAL with "line N: …" in error (of size
 * bytes, at least 1). *ret is the caller's, and stands at time 0.
 */
int gtel_tree_parse(struct gtel_str text, struct gtel_tree **ret, char *error, size_t size);
void gtel_tree_free(struct gtel_tree *tree);
/* Goes to time t_ns; going back starts again from 0. */
void gtel_tree_seek(struct gtel_tree *tree, uint64_t t_ns);
/* How long it is until the next state begins; 0: the last one has begun. */
uint64_t gtel_tree_lasts(const struct gtel_tree *tree);
/* The time of the last state. */
uint64_t gtel_tree_duration(const struct gtel_tree *tree);

/* The name in the format of a positive errno, or NULL: the format has none for it. */
const char *gtel_tree_error_name(int error);

/* Whether a line of the format that begins with that word goes on with a path. */
bool gtel_tree_has_path(struct gtel_str word);

bool gtel_tree_has_library(const struct gtel_tree *tree, struct gtel_str name);
/*
 * The present answer of a line of these words with one blank between them: "pmu_error xe_0000_03",
 * of a call those between `call` and `=`. Returns 0 or -ENOENT. *ret is valid until the tree is
 * freed.
 */
int gtel_tree_call(const struct gtel_tree *tree, struct gtel_str words, struct gtel_str *ret);

enum {
    GTEL_TREE_CONTENT_MAX = 1 << 20, /* bytes of a file */
    GTEL_TREE_PMU_MAX = 64           /* of the name of a PMU with its NUL */
};
/* The PMU of a type below sys/bus/event_source/devices of any env; false when none has it. */
bool gtel_tree_pmu_name(const struct gtel_env *env, uint32_t type, char ret[GTEL_TREE_PMU_MAX]);
/* The negative errno that a line of these words has, as "pmu_error NAME", or 0: there is none. */
int gtel_tree_error(const struct gtel_tree *tree, const char *words);

/*
 * An env that is this recorded machine and nothing else. With is_stepped, time stands still until
 * gtel_env_tree_step; otherwise it runs with the real monotonic clock, from epoch_ns on (0: now).
 * Vendor libraries are refused (-EPERM). The tree stays the caller's and outlives the env.
 */
int gtel_env_tree_init(struct gtel_tree *tree, bool is_stepped, uint64_t epoch_ns,
                       struct gtel_env *ret);
void gtel_env_tree_step(struct gtel_env *env, uint64_t ns);
void gtel_env_tree_done(struct gtel_env *env);

#endif
