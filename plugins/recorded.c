/* SPDX-License-Identifier: MIT */
/* A recorded machine as that of a front end. */
#include "machine.h"

#include "base/buf.h"
#include "recording/tree.h"
#include "whole_file.h"

#include <inttypes.h>
#include <stdio.h>

enum { TREE_MAX = 64 << 20 }; /* bytes of a recorded machine */

static void close_tree(struct gtel_machine *machine)
{
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
    machine->tree = NULL;
}

int gtel_recorded_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                       char *problem, size_t size)
{
    struct gtel_buf text;
    uint64_t epoch_ns = setup->epoch_ns ? setup->epoch_ns : gtel_env_real_now();
    gtel_buf_init(&text, TREE_MAX);
    int r = gtel_whole_file_read(machine->root, &text, problem, size);
    if (r == 0)
        r = gtel_tree_parse(gtel_buf_text(&text), &machine->tree, problem, size);
    gtel_buf_done(&text);
    if (r < 0)
        return r;
    machine->close = close_tree;
    r = gtel_env_tree_init(machine->tree, setup->is_stepped, epoch_ns, &machine->env);
    if (r < 0) {
        close_tree(machine);
        return r;
    }
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%" PRIu64, epoch_ns);
    machine->helper_args[2] = "--epoch";
    machine->helper_args[3] = machine->epoch;
    return 0;
}
