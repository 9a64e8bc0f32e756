/* SPDX-License-Identifier: MIT */
/*
 * The machine that a plugin reads: this one, a directory, or a recorded machine.
 *
 * Makes the env of the context, and the words of the helpers' command line that lead them to the
 * same machine. A recorded machine runs in real time; its time 0 is the call of the open function.
 */
#ifndef GTEL_COLLECTD_MACHINE_H
#define GTEL_COLLECTD_MACHINE_H

#include "gtel.h"
#include "host/tree.h"

/* A zeroed struct is closed. */
struct gtel_collectd_machine {
    struct gtel_env env; /* without a log: the caller sets it */
    struct gtel_tree *tree;
    char root[GTEL_OPTION_TEXT_MAX];
    char epoch[24];
    const char *helper_args[5]; /* NULL at the end; empty for this machine */
    bool is_open;
};

/*
 * root: an absolute path that ends in .tree, a directory, or empty for this machine. Returns 0 or a
 * negative errno, which goes to log with the path. The struct must not move while it is open.
 */
int gtel_collectd_machine_open(struct gtel_collectd_machine *machine, struct gtel_str root,
                               const struct gtel_log *log);
void gtel_collectd_machine_close(struct gtel_collectd_machine *machine);

#endif
