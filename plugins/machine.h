/* SPDX-License-Identifier: MIT */
/*
 * The machine that a front end reads: this one, a directory, or a recorded machine.
 *
 * Makes the env of the context, and the words of the helpers' command line that lead them to the
 * same machine at the same time.
 */
#ifndef GTEL_MACHINE_H
#define GTEL_MACHINE_H

#include "host/env.h"

struct gtel_tree;

enum { GTEL_MACHINE_PATH_MAX = 4096, GTEL_MACHINE_ARGS = 5 };

struct gtel_machine_setup {
    const char *root;  /* a directory or a recorded machine; NULL or empty: this machine */
    bool is_stepped;   /* time advances by gtel_env_tree_step only */
    uint64_t epoch_ns; /* monotonic time at which a recorded machine began; 0: now */
};

/* A zeroed struct is closed. */
struct gtel_machine {
    struct gtel_env env;                         /* without a log: the caller sets it */
    struct gtel_tree *tree;                      /* NULL: no recorded machine */
    void (*close)(struct gtel_machine *machine); /* of what has been opened */
    const char *helper_args[GTEL_MACHINE_ARGS]; /* how a helper reaches the same; NULL at the end */
    char root[GTEL_MACHINE_PATH_MAX];
    char epoch[24];
};

/*
 * Returns 0, or a negative errno with "PATH: what is wrong" in error (of size bytes, at least 1).
 * The struct must not move while it is open.
 */
int gtel_machine_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *error, size_t size);
/* Accepts a machine that could not be opened. */
void gtel_machine_close(struct gtel_machine *machine);

/* What differs by system: opens this machine. */
int gtel_machine_open_here(struct gtel_machine *machine);
/* The whole path of a root, allocated. 0 or a negative errno. */
int gtel_machine_resolve(const char *root, char **ret);
/* Opens what is at machine->root, a whole path; problem as of gtel_machine_play. */
int gtel_machine_open_path(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                           char *problem, size_t size);

/*
 * Opens the recorded machine in the file machine->root, or refuses it with a problem: each front
 * end has its own. 0 or a negative errno.
 */
int gtel_machine_play(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *problem, size_t size);
/* The same of the program gtel, without the vendor libraries of the machine. */
int gtel_recorded_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                       char *problem, size_t size);

#endif
