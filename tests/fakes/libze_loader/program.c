/* SPDX-License-Identifier: MIT */
/*
 * The gtel program with one thing exchanged: where a recorded machine has Level Zero, it is not
 * played within, but by a shared object that is loaded as the real one is (double.h), with the
 * faults that the machine wants. Helpers tell how much memory they really have, too.
 */
#include "fakes/libze_loader/double.h"

#include "lanes/lane.h"
#include "recording/replay_zes.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static void *library;
static unsigned users; /* sources that have it open */

int __wrap_gtel_replay_zes_open(const struct gtel_tree *tree);
void *__wrap_gtel_replay_zes_symbol(const char *name);
void __wrap_gtel_replay_zes_close(void);
uint64_t __wrap_gtel_lane_rss(const struct gtel_env *env, struct gtel_fs_file *file);
uint64_t __real_gtel_lane_rss(const struct gtel_env *env, struct gtel_fs_file *file);

static int play(const struct gtel_tree *tree)
{
    int (*fn)(const struct gtel_tree *tree);
    void *address = library ? dlsym(library, "gtel_double_play") : NULL;
    memcpy(&fn, &address, sizeof(fn));
    return fn ? fn(tree) : -ENOENT;
}

int __wrap_gtel_replay_zes_open(const struct gtel_tree *tree)
{
    library = dlopen(GTEL_DOUBLE_FILE, RTLD_NOW | RTLD_LOCAL);
    int r = play(tree);
    users += r == 0;
    return r;
}

void *__wrap_gtel_replay_zes_symbol(const char *name)
{
    return dlsym(library, name);
}

void __wrap_gtel_replay_zes_close(void)
{
    (void)play(NULL);
    (void)dlclose(library);
    if (users > 0 && --users == 0)
        library = NULL;
}

/* Of this process, and not of a recorded one. */
uint64_t __wrap_gtel_lane_rss(const struct gtel_env *env, struct gtel_fs_file *file)
{
    static struct gtel_env real;
    static struct gtel_fs_file own;
    (void)env;
    (void)file;
    if (!real.ops && gtel_env_posix_init("/", &real) < 0)
        return 0;
    return __real_gtel_lane_rss(&real, &own);
}
