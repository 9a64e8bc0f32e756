/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs: sums, names, lines that are shown, and what is remembered. */
#include "fault_alloc.h"
#include "test.h"
#include "usage_machine.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t mib = 1048576;

/* Sums */

static void test_sums(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "sums";
    machine_begin(m, 10, "ffmpeg");
    machine_begin(m, 11, "ffmpeg");
    machine_begin(m, 12, "Xorg");
    machine_add(m, 0, 10, 100 * mib, 0.25);
    machine_add(m, 0, 10, 50 * mib, 0.25); /* another client of the same process */
    machine_add(m, 0, 11, 30 * mib, 0.125);
    machine_add(m, 0, 12, 7 * mib, 0);
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "ffmpeg"), (double)(180 * mib), 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "ffmpeg"), 2, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "ffmpeg"), 0.625, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "ffmpeg"), 0.625, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "Xorg"), 0, 0); /* known to be idle */
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY_SHARED, "Xorg"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COPY, "ffmpeg"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), 3, 0);
    CHECK_INT(machine_lines(m, 0), 2); /* no line "other" of nothing */
    CHECK_INT(m->batch.reading[0].source, 3);
    CHECK_INT(m->batch.reading[0].origin, 1);
    CHECK_INT(m->batch.reading[0].t_ns, 0);
    machine_free(m);
}

/* A process that was seen for the first time has no share yet: absent, not 0. */
static void test_absent(void)
{
    struct machine *m = machine_new("20", "");
    test_label = "absent";
    machine_begin(m, 10, "new");
    machine_begin(m, 11, "old");
    machine_begin(m, 12, "old");
    machine_add(m, 0, 10, mib, -1);
    machine_add(m, 0, 11, mib, 0.5);
    machine_add(m, 0, 12, mib, -1);
    const struct gtel_use nothing = {0};
    machine_begin(m, 13, "nothing");
    gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, 13), &nothing);
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "new"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "new"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "old"), 0.5, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "nothing"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "nothing"), -1, 0);
    machine_free(m);
}

static void test_shares(void)
{
    struct machine *m = machine_new("20", "");
    struct gtel_use use = {.has_share = 1u << GTEL_ENGINE_KIND_COPY | 1u << GTEL_ENGINE_KIND_OFA |
                                        1u << GTEL_ENGINE_KIND_OTHER};
    test_label = "shares";
    use.share[GTEL_ENGINE_KIND_COPY] = 0.75;
    use.share[GTEL_ENGINE_KIND_OFA] = NAN;
    use.share[GTEL_ENGINE_KIND_OTHER] = 0.8;
    use.share[GTEL_ENGINE_KIND_RENDER] = 1; /* without its bit: not known */
    for (uint32_t pid = 20; pid < 22; pid++) {
        machine_begin(m, pid, "two");
        gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, pid), &use);
        use.share[GTEL_ENGINE_KIND_OTHER] = 0.1;
    }
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COPY, "two"), 1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_OTHER, "two"), 0.9, 1e-12);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_OFA, "two"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_RENDER, "two"), -1, 0);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_BUSY, "two"), 1, 0);
    machine_free(m);
}

int main(void)
{
    test_sums();
    test_absent();
    test_shares();
    return test_result();
}
