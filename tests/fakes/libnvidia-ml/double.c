/* SPDX-License-Identifier: MIT */
/*
 * A shared object with NVML's names that plays the recorded machine in GTEL_NVML_TREE, so that what
 * records a library (proxy.c) can be tried on one of which all answers are known. As there, a pause
 * of the caller begins the next second of the machine.
 */
#include "abi/nvml_abi.h"
#include "base/compiler.h"
#include "recording/replay_nvml.h"
#include "recording/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS 700000000

/* NVML's functions have no context argument. */
static struct {
    struct gtel_tree *tree;
    int64_t idle_since_ns;
    uint64_t second;
} played;

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_tree(void)
{
    static char text[1 << 20];
    char error[100];
    const char *path = getenv("GTEL_NVML_TREE");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    struct gtel_str whole = {text, fread(text, 1, sizeof(text), file)};
    (void)fclose(file);
    if (gtel_tree_parse(whole, &played.tree, error, sizeof(error)) < 0)
        (void)fprintf(stderr, "%s: %s\n", path, error);
    else
        (void)gtel_replay_nvml_open(played.tree);
}

/* The address of a call on the machine as it is now; NULL: it lacks that. */
static void *begin_call(const char *name)
{
    if (!played.tree)
        open_tree();
    if (played.idle_since_ns != 0 && now_ns() - played.idle_since_ns > PAUSE_NS)
        played.second++;
    if (!played.tree)
        return NULL;
    gtel_tree_seek(played.tree, played.second * 1000000000u);
    return gtel_replay_nvml_symbol(name);
}

#define APPLY_(fn, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_NVML_SYM(name, need, shape)                                                           \
    GTEL_EXPORT int name GTEL_NVML_PARAMS_##shape;                                                 \
    int name GTEL_NVML_PARAMS_##shape                                                              \
    {                                                                                              \
        int(*real) GTEL_NVML_PARAMS_##shape = NULL;                                                \
        void *address = begin_call(#name);                                                         \
        if (!address)                                                                              \
            return GTEL_NVML_FUNCTION_NOT_FOUND;                                                   \
        memcpy(&real, &address, sizeof(real));                                                     \
        int code = APPLY(real GTEL_NVML_ARGS_##shape);                                             \
        played.idle_since_ns = now_ns();                                                           \
        return code;                                                                               \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
