/* SPDX-License-Identifier: MIT */
/* The machine that the program reads. */
#include "execd/machine.h"

#include "base/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TREE_MAX = 64 << 20 }; /* bytes of a recorded machine */

/* Appends the whole file. 0 or a negative errno. */
static int read_file(const char *path, struct gtel_buf *text)
{
    char chunk[16384];
    size_t n;
    FILE *file = fopen(path, "re"); /* e: no helper inherits it */
    if (!file)
        return -errno;
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        gtel_buf_bytes(text, chunk, n);
    int r = ferror(file) ? -EIO : 0;
    (void)fclose(file); /* only read */
    return r == 0 && text->has_failed ? -EFBIG : r;
}

static int open_tree(struct gtel_machine *machine, const struct gtel_args *args, char *error,
                     size_t size)
{
    struct gtel_buf text;
    char problem[256] = "";
    uint64_t epoch_ns = args->epoch_ns ? args->epoch_ns : gtel_env_posix_now();
    gtel_buf_init(&text, TREE_MAX);
    int r = read_file(machine->root, &text);
    if (r < 0)
        (void)snprintf(problem, sizeof(problem), "%s", strerror(-r));
    else
        r = gtel_tree_parse(gtel_buf_text(&text), &machine->tree, problem, sizeof(problem));
    gtel_buf_done(&text);
    if (r == 0)
        r = gtel_env_tree_init(machine->tree, args->is_stepped, epoch_ns, &machine->env);
    if (r < 0) {
        (void)snprintf(error, size, "--root %.150s: %s", args->root,
                       problem[0] ? problem : strerror(-r));
        return r;
    }
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

int gtel_machine_open(struct gtel_machine *machine, const struct gtel_args *args,
                      const struct gtel_log *log, char *error, size_t size)
{
    struct stat st;
    int r = 0;
    *machine = (struct gtel_machine){0};
    if (!args->root) {
        r = gtel_env_posix_init("/", &machine->env);
        if (r < 0)
            (void)snprintf(error, size, "/: %s", strerror(-r));
    } else {
        r = resolve(machine, args->root, &st);
        if (r == 0 && !S_ISDIR(st.st_mode))
            r = open_tree(machine, args, error, size);
        else if (r == 0 && args->is_stepped)
            r = -ENOTSUP;
        else if (r == 0)
            r = gtel_env_posix_init(machine->root, &machine->env);
        if (r == -ENOTSUP)
            (void)snprintf(error, size, "--stepped needs a recorded machine: --root FILE.tree");
        else if (r < 0 && !error[0])
            (void)snprintf(error, size, "--root %.150s: %s", args->root, strerror(-r));
    }
    if (r < 0) {
        gtel_tree_free(machine->tree);
        machine->tree = NULL;
        return r;
    }
    machine->env.log = *log;
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
