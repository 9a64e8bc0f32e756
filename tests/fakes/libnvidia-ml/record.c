/* SPDX-License-Identifier: MIT */
/*
 * Reads the NVML source once a second, so that the proxy beside it can record the answers:
 *
 *     record LIBRARY SECONDS
 *
 * Its clock stands still within a gather: no call costs anything, so none is skipped. It says
 * "second N" on standard output before each gather.
 */
#include "lanes/group.h"
#include "recording/tree.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char machine[] = "file dev/nvidiactl\nend\n";

struct recorder {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_env_ops ops;
    struct gtel_options options;
    struct gtel_group group;
};

/* The real library, whatever name it is asked for: there is one recorder per process. */
static struct {
    struct gtel_env env;
    const char *file;
} library;

static int lib_open(void *arg, const char *const *names, void **ret)
{
    const char *const only[] = {library.file, NULL};
    (void)arg;
    (void)names;
    return library.env.ops->lib_open(library.env.arg, only, ret);
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    return library.env.ops->lib_symbol(library.env.arg, lib, name);
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    library.env.ops->lib_close(library.env.arg, lib);
}

static void say(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%s\n", text);
}

static int begin(struct recorder *r)
{
    char error[100] = "";
    int rc = gtel_tree_parse(gtel_str_of(machine), &r->tree, error, sizeof(error));
    if (rc == 0)
        rc = gtel_env_tree_init(r->tree, true, 0, &r->env);
    if (rc == 0)
        rc = gtel_env_posix_init("/", &library.env);
    if (rc < 0)
        return rc;
    r->ops = *r->env.ops;
    r->ops.lib_open = lib_open;
    r->ops.lib_symbol = lib_symbol;
    r->ops.lib_close = lib_close;
    r->env.log = (struct gtel_log){say, NULL};
    gtel_options_init(&r->options);
    rc =
        gtel_option_set(&r->options, GTEL_O_ENGINE_INSTANCES, GTEL_STR("on"), error, sizeof(error));
    if (rc < 0)
        return rc;
    return gtel_group_init(&r->group, "nvml", &r->env, &r->options);
}

/* Goes on to the next second: the clock of the recorded machine and the real one. */
static void wait_second(struct recorder *r, struct timespec *at)
{
    at->tv_sec++;
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
    gtel_env_tree_step(&r->env, 1000000000u);
}

static void gather(struct recorder *r)
{
    const struct gtel_env_ops *stepped = r->env.ops;
    r->env.ops = &r->ops;
    gtel_group_sample(&r->group);
    r->env.ops = stepped;
}

int main(int argc, char **argv)
{
    static struct recorder r;
    uint64_t seconds;
    if (argc != 3 || gtel_str_u64(gtel_str_of(argv[2]), &seconds) < 0) {
        (void)fprintf(stderr, "usage: record LIBRARY SECONDS\n");
        return 2;
    }
    library.file = argv[1];
    if (begin(&r) < 0)
        return 1;
    size_t n = 0;
    struct timespec at;
    for (uint64_t i = 0; i <= seconds; i++) {
        if (i > 0)
            wait_second(&r, &at);
        (void)printf("second %u\n", (unsigned)i);
        (void)fflush(stdout);
        gather(&r);
        n = r.group.batch.n;
        if (i == 0) /* the library's start takes seconds */
            (void)clock_gettime(CLOCK_MONOTONIC, &at);
    }
    r.env.ops = &r.ops;
    gtel_group_done(&r.group);
    return n > 0 ? 0 : 1;
}
