/* SPDX-License-Identifier: MIT */
/* The machine that a plugin reads: this one, a directory, or a recorded machine. */
#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TREE_MAX = 64 << 20 }; /* bytes of a recorded machine */

/* The whole file. *ret is the caller's to free. */
static int read_file(const char *path, struct gtel_buf *ret)
{
    FILE *file = fopen(path, "re"); /* e: no helper inherits it */
    if (!file)
        return -errno;
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        gtel_buf_bytes(ret, chunk, n);
    int r = ferror(file) ? -EIO : 0;
    if (r == 0 && ret->has_failed)
        r = -E2BIG;
    (void)fclose(file); /* nothing was written */
    return r;
}

static int open_tree(struct gtel_collectd_machine *machine, const struct gtel_log *log)
{
    struct gtel_buf text;
    gtel_buf_init(&text, TREE_MAX);
    char error[256] = "";
    uint64_t epoch = gtel_env_posix_now(); /* the helpers share this clock */
    int r = read_file(machine->root, &text);
    if (r < 0)
        goto out;
    r = gtel_tree_parse(gtel_buf_text(&text), &machine->tree, error, sizeof(error));
    if (r < 0) {
        gtel_log(log, GTEL_LOG_ERROR, "%s: %s", machine->root, error);
        goto out;
    }
    r = gtel_env_tree_init(machine->tree, false, epoch, &machine->env);
    if (r < 0)
        goto out;
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%" PRIu64, epoch);
    machine->helper_args[2] = "--epoch";
    machine->helper_args[3] = machine->epoch;
out:
    gtel_buf_done(&text);
    return r;
}

int gtel_collectd_machine_open(struct gtel_collectd_machine *machine, struct gtel_str root,
                               const struct gtel_log *log)
{
    int r;
    *machine = (struct gtel_collectd_machine){0};
    (void)gtel_str_copy(machine->root, sizeof(machine->root), root); /* an option: it fits */
    if (root.n > 0) {
        machine->helper_args[0] = "--root";
        machine->helper_args[1] = machine->root;
    }
    if (gtel_str_ends(root, GTEL_STR(".tree")))
        r = open_tree(machine, log);
    else
        r = gtel_env_posix_init(root.n > 0 ? machine->root : "/", &machine->env);
    if (r < 0) {
        gtel_tree_free(machine->tree);
        gtel_log(log, GTEL_LOG_ERROR, "cannot read the machine below '%s' (error %d)",
                 root.n > 0 ? machine->root : "/", -r);
        *machine = (struct gtel_collectd_machine){0};
        return r;
    }
    machine->is_open = true;
    return 0;
}

void gtel_collectd_machine_close(struct gtel_collectd_machine *machine)
{
    if (!machine->is_open)
        return;
    if (machine->tree)
        gtel_env_tree_done(&machine->env);
    else
        gtel_env_posix_done(&machine->env);
    gtel_tree_free(machine->tree);
    *machine = (struct gtel_collectd_machine){0};
}
