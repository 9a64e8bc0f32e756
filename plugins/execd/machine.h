/* SPDX-License-Identifier: MIT */
/* The machine that the program reads: this one, a directory, or a recorded machine. */
#ifndef GTEL_EXECD_MACHINE_H
#define GTEL_EXECD_MACHINE_H

#include "execd/args.h"
#include "host/tree.h"

enum { GTEL_MACHINE_PATH_MAX = 4096, GTEL_MACHINE_ARGS = 5 };

struct gtel_machine {
    struct gtel_env env;
    struct gtel_tree *tree; /* NULL: no recorded machine */
    bool is_open;
    const char *helper_args[GTEL_MACHINE_ARGS]; /* how a helper reaches the same; NULL at the end */
    char root[GTEL_MACHINE_PATH_MAX];
    char epoch[24];
};

/*
 * Opens what --root, --stepped and --epoch say. Returns 0, or a negative errno with a sentence in
 * error (of size bytes, at least 1). The env gets log. The struct must not move while it is open.
 */
int gtel_machine_open(struct gtel_machine *machine, const struct gtel_args *args,
                      const struct gtel_log *log, char *error, size_t size);
/* Accepts a machine that could not be opened. */
void gtel_machine_close(struct gtel_machine *machine);

#endif
