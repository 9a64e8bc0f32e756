/* SPDX-License-Identifier: MIT */
/*
 * Machines without AMD GPUs: no gather makes a call more because of them. The sources of AMD make
 * none in lane kernel, and lane clients touches nothing of KFD.
 */
#include "harness/fixtures.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GATHERS = 6 };

static void on_call(void *arg, enum fault_op op, const char *path)
{
    size_t *touched = arg;
    (void)op;
    *touched += strstr(path, "kfd") || strstr(path, "amdgpu") ? 1 : 0;
}

/* The calls of each gather; those that touch AMD's files, but for the first gather, in *touched. */
static bool count(const char *lane_name, const char *text, const char *sources, uint64_t *calls,
                  size_t *touched)
{
    struct lane lane;
    if (!CHECK(lane_init_in(&lane, lane_name, text, sources)))
        return false;
    for (size_t i = 0; i < GATHERS; i++) {
        uint64_t before = lane.fault->calls;
        lane_gather(&lane);
        calls[i] = lane.fault->calls - before;
        lane.fault->watch = on_call; /* from the second gather on */
        lane.fault->watch_arg = touched;
        lane_step(&lane, 1000);
    }
    lane_done(&lane);
    return true;
}

/* Of lane kernel, all but those of AMD. */
static void name_others(char *names, size_t size)
{
    names[0] = '\0';
    for (size_t i = 0; gtel_sources[i]; i++) {
        size_t n = strlen(names);
        if (strcmp(gtel_sources[i]->lane, "kernel") == 0 &&
            strcmp(gtel_sources[i]->vendor, "amd") != 0)
            (void)snprintf(names + n, size - n, "%s%s", n > 0 ? "," : "", gtel_sources[i]->name);
    }
}

static void check(const char *text, const char *others)
{
    uint64_t all[GATHERS];
    uint64_t fewer[GATHERS];
    size_t touched = 0;
    if (count("kernel", text, "", all, &touched) && count("kernel", text, others, fewer, &touched))
        for (size_t i = 1; i < GATHERS; i++)
            CHECK_INT(all[i], fewer[i]);
    (void)count("clients", text, "", all, &touched);
    CHECK_INT(touched, 0);
}

int main(void)
{
    static char names[MACHINES_MAX][MACHINE_NAME_MAX];
    char others[1024];
    size_t n = machine_names(names);
    size_t machines = 0;
    name_others(others, sizeof(others));
    for (size_t i = 0; i < n; i++) {
        char *text = machine_text(names[i]);
        test_label = names[i];
        /* Cards that come and go are searched for, by each source. */
        if (text && strstr(text, "proc/sys/kernel/osrelease") && !strstr(text, "amdgpu") &&
            !strstr(text, "uevents on")) {
            check(text, others);
            machines++;
        }
        free(text);
    }
    test_label = "";
    printf("%zu machines\n", machines);
    CHECK(machines > 20);
    return test_result();
}
