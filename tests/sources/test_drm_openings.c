/* SPDX-License-Identifier: MIT */
/* What one card costs in openings, whatever the number of sources that read it. */
#include "harness/fixtures.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <stdlib.h>

enum { LISTINGS_MAX = 2, STATUS_MAX = 1 };

struct openings {
    uint64_t listings; /* of sys/class/drm */
    uint64_t uevents;  /* of the card */
};

static void watch(void *arg, enum fault_op op, const char *path)
{
    struct openings *openings = arg;
    struct gtel_str text = gtel_str_of(path);
    if (op == FAULT_LIST && strcmp(path, "sys/class/drm") == 0)
        openings->listings++;
    if (op == FAULT_OPEN && gtel_str_ends(text, GTEL_STR("/device/uevent")))
        openings->uevents++;
}

static uint64_t open_status_files(const struct env_fault *fault)
{
    uint64_t n = 0;
    for (size_t i = 0; i < FAULT_HANDLES_MAX; i++)
        n += fault->is_open[i] &&
             gtel_str_ends(gtel_str_of(fault->path[i]), GTEL_STR("/power/runtime_status"));
    return n;
}

/* All sources of the kernel lane on a machine with one xe card, from the start on. */
static void test_one_card(void)
{
    struct lane lane;
    struct openings openings = {0};
    char *text = machine_text("xe-b580");
    if (!CHECK(text && lane_init(&lane, text, "")))
        return;
    lane.fault->watch = watch;
    lane.fault->watch_arg = &openings;
    for (int i = 0; i < 5; i++) {
        lane_gather(&lane);
        CHECK(lane.group.registry.n == 1 && lane.group.batch.n > 10);
        lane_step(&lane, 1000);
    }
    printf("%llu listings, %llu of uevent, %llu of runtime_status\n",
           (unsigned long long)openings.listings, (unsigned long long)openings.uevents,
           (unsigned long long)open_status_files(lane.fault));
    CHECK(openings.listings <= LISTINGS_MAX);
    CHECK(openings.uevents <= LISTINGS_MAX);
    CHECK_INT(open_status_files(lane.fault), STATUS_MAX);
    lane_done(&lane);
    free(text);
}

int main(void)
{
    test_one_card();
    return test_result();
}
