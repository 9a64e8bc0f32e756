/* SPDX-License-Identifier: MIT */
/* The machine that a front end reads. */
#include "machine.h"

#include "base/buf.h"
#include "whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TREE_MAX = 64 << 20 }; /* bytes of a recorded machine */

static int open_tree(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                     char *problem, size_t size)
{
    struct gtel_buf text;
    uint64_t epoch_ns = setup->epoch_ns ? setup->epoch_ns : gtel_env_real_now();
    gtel_buf_init(&text, TREE_MAX);
    int r = gtel_whole_file_read(machine->root, &text, problem, size);
    if (r == 0)
        r = gtel_tree_parse(gtel_buf_text(&text), &machine->tree, problem, size);
    gtel_buf_done(&text);
    if (r == 0)
        r = gtel_env_tree_init(machine->tree, setup->is_stepped, epoch_ns, &machine->env);
    if (r < 0)
        return r;
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%" PRIu64, epoch_ns);
    machine->helper_args[2] = "--epoch";
    machine->helper_args[3] = machine->epoch;
    return 0;
}

/* A helper starts elsewhere, so it gets the whole path. */
static int resolve(struct gtel_machine *machine, const char *root, struct stat *ret)
{
    char *path = realpath(root, NULL);
    if (!path)
        return -errno;
    bool is_whole = gtel_str_copy(machine->root, sizeof(machine->root), gtel_str_of(path));
    free(path);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = machine->root;
    if (!is_whole)
        return -ENAMETOOLONG;
    return stat(machine->root, ret) < 0 ? -errno : 0;
}

static int open_root(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                     char *problem, size_t size)
{
    struct stat st;
    int r = resolve(machine, setup->root, &st);
    if (r < 0)
        return r;
    if (!S_ISDIR(st.st_mode))
        return open_tree(machine, setup, problem, size);
    if (!setup->is_stepped)
        return gtel_env_posix_init(machine->root, &machine->env);
    (void)snprintf(problem, size, "--stepped needs a recorded machine: --root FILE.tree");
    return -ENOTSUP;
}

int gtel_machine_open(struct gtel_machine *machine, const struct gtel_machine_setup *setup,
                      char *error, size_t size)
{
    char problem[256] = "";
    bool is_here = !setup->root || !setup->root[0];
    *machine = (struct gtel_machine){0};
    int r = is_here ? gtel_env_posix_init("/", &machine->env)
                    : open_root(machine, setup, problem, sizeof(problem));
    if (r < 0) {
        gtel_tree_free(machine->tree);
        machine->tree = NULL;
        (void)snprintf(error, size, "%.150s: %s", is_here ? "/" : setup->root,
                       problem[0] ? problem : strerror(-r));
        return r;
    }
    machine->is_open = true;
    return 0;
}

void gtel_machine_close(struct gtel_machine *machine)
{
    if (!machine->is_open)
        return;
    if (machine->tree)
        gtel_env_tree_done(&machine->env);
    else
        gtel_env_posix_done(&machine->env);
    gtel_tree_free(machine->tree);
    machine->is_open = false;
    machine->tree = NULL;
}
