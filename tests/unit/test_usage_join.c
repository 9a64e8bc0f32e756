/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs: what two interfaces know of the same processes. */
#include "harness/alloc_fault.h"
#include "harness/test.h"
#include "harness/usage_machine.h"

static const uint64_t mib = 1048576;

/* What is known of a process from two places that may count the same. */
static void test_join(void)
{
    static const struct {
        const char *label;
        double clients[3]; /* MiB of memory, of VRAM, allocated; -1: not known, -2: no client */
        double other;      /* MiB of memory and VRAM; -1: not known */
        double want[4];    /* memory, VRAM, allocated, compute units */
    } cases[] = {
        {"only the other", {-2, 0, 0}, 7, {7, 7, -1, 3}},
        {"less than the clients", {9, 8, 10}, 7, {9, 8, 10, 3}},
        {"the same", {7, 7, 7}, 7, {7, 7, 7, 3}},
        {"more than the clients", {5, 5, 6}, 7, {7, 7, -1, 3}},
        {"clients are not known", {-1, -1, -1}, 7, {-1, -1, -1, 3}},
        {"the other is not known", {5, 5, 6}, -1, {-1, -1, -1, -1}},
        {"neither", {-2, 0, 0}, -1, {-1, -1, -1, -1}},
    };
    static const enum gtel_metric kinds[] = {GTEL_M_PROCESS_MEMORY, GTEL_M_PROCESS_MEMORY_VRAM,
                                             GTEL_M_PROCESS_MEMORY_ALLOCATED,
                                             GTEL_M_PROCESS_COMPUTE_UNITS};
    for (size_t c = 0; c < GTEL_ARRAY_LEN(cases); c++) {
        struct machine *m = machine_new("20", "");
        struct gtel_use use = {0};
        struct gtel_use other = {0};
        bool has_clients = cases[c].clients[0] > -2;
        test_label = cases[c].label;
        machine_begin(m, 10, "some");
        for (size_t k = 0; k < 3; k++)
            if (cases[c].clients[k] >= 0)
                gtel_use_memory_put(&use.memory, kinds[k], (uint64_t)cases[c].clients[k] * mib);
        if (has_clients)
            gtel_usage_add(&m->usage, &m->device[0], 0, 0, machine_id(m, 10), &use);
        gtel_use_memory_put(&other.memory, kinds[0], 7 * mib);
        gtel_use_memory_put(&other.memory, kinds[1], 7 * mib);
        gtel_use_memory_put(&other.memory, kinds[3], 3);
        gtel_usage_complete(&m->usage, &m->device[0], 0, 0);
        gtel_usage_join(&m->usage, &m->device[0], 0, 1, machine_id(m, 10),
                        cases[c].other >= 0 ? &other : NULL);
        machine_gather(m, 10);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "some"),
                   has_clients || cases[c].other >= 0 ? 1 : -1, 0);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(kinds); k++) {
            double want = cases[c].want[k];
            CHECK_NEAR(machine_get(m, 0, kinds[k], "some"),
                       want > 0 && k < 3 ? want * (double)mib : want, 0);
        }
        machine_free(m);
    }
}

/* Processes that may be those that were added, or others. */
static void test_unnamed(void)
{
    static const struct {
        const char *label;
        uint64_t added;
        uint64_t processes;
        uint64_t memory;     /* MiB; each of the added has 2 */
        double count;        /* of "other" */
        double other_memory; /* the same, in MiB */
    } cases[] = {
        {"none was added", 0, 3, 7, 3, 7},
        {"they may all be", 3, 3, 9, -1, -1},
        {"fewer than were added", 3, 1, 9, -1, -1},
        {"one more", 2, 3, 7, 1, 3},
        {"one more, with less memory", 2, 3, 3, 1, 0},
    };
    for (size_t c = 0; c < GTEL_ARRAY_LEN(cases); c++) {
        struct machine *m = machine_new("20", "");
        struct gtel_use use = {0};
        test_label = cases[c].label;
        for (uint32_t pid = 10; pid < 10 + cases[c].added; pid++) {
            machine_begin(m, pid, "some");
            machine_add(m, 0, pid, 2 * mib, -1);
        }
        gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, cases[c].memory * mib);
        gtel_usage_complete(&m->usage, &m->device[0], 0, 0);
        gtel_usage_join_unnamed(&m->usage, &m->device[0], 0, 1, cases[c].processes, &use);
        machine_gather(m, 10);
        double more = cases[c].count > 0 ? cases[c].count : 0;
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_COUNT, "other"), cases[c].count, 0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "other"),
                   cases[c].other_memory > 0 ? cases[c].other_memory * (double)mib
                                             : cases[c].other_memory,
                   0);
        CHECK_NEAR(machine_get(m, 0, GTEL_M_GPU_PROCESSES, ""), (double)cases[c].added + more, 0);
        machine_free(m);
    }
}

/* Nowhere to put them: processes are not reported, or there are too many devices. */
static void test_no_place(void)
{
    struct machine *m = machine_new("20", "");
    const struct gtel_device beyond = {.index = GTEL_DEVICES_MAX};
    struct gtel_use use = {0};
    test_label = "no place";
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, mib);
    gtel_usage_join(NULL, &m->device[0], 0, 1, machine_id(m, 10), &use);
    gtel_usage_join_unnamed(NULL, &m->device[0], 0, 1, 1, &use);
    CHECK_INT(m->usage.dropped, 0);
    gtel_usage_add(&m->usage, &beyond, 0, 1, machine_id(m, 10), &use);
    CHECK_INT(m->usage.dropped, 1);
    gtel_usage_complete(&m->usage, &beyond, 0, 1);
    CHECK_INT(m->usage.dropped, 2);
    gtel_usage_join(&m->usage, &beyond, 0, 1, machine_id(m, 10), &use);
    CHECK_INT(m->usage.dropped, 3);
    gtel_usage_join_unnamed(&m->usage, &beyond, 0, 1, 1, &use);
    machine_gather(m, 10);
    CHECK_INT(m->batch.n, 0);
    machine_free(m);
}

/* One without memory: what it uses is lost, and counted as that. */
static void test_no_memory(void)
{
    struct machine *m = machine_new("20", "");
    struct gtel_use use = {0};
    test_label = "no memory";
    gtel_use_memory_put(&use.memory, GTEL_M_PROCESS_MEMORY, mib);
    machine_begin(m, 10, "some");
    alloc_fault_arm(1);
    gtel_usage_join(&m->usage, &m->device[0], 0, 1, machine_id(m, 10), &use);
    alloc_fault_arm(0);
    CHECK_INT(m->usage.dropped, 1);
    gtel_usage_join(&m->usage, &m->device[0], 0, 1, machine_id(m, 10), &use);
    CHECK_INT(m->usage.dropped, 1);
    machine_gather(m, 10);
    CHECK_NEAR(machine_get(m, 0, GTEL_M_PROCESS_MEMORY, "some"), (double)mib, 0);
    machine_free(m);
}

int main(void)
{
    test_no_place();
    test_no_memory();
    test_join();
    test_unnamed();
    return test_result();
}
