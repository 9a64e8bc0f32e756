/* SPDX-License-Identifier: MIT */
/* Source drm_memory: what i915 and xe say about their memory, and what they hide. */
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GIB(n) ((uint64_t)(n) << 30)
#define MIB(n) ((uint64_t)(n) << 20)

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define HEAD(driver)                                                                               \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:E20B\n"                            \
    "| PCI_SLOT_NAME=0000:03:00.0\n"                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"
#define CARD(driver) HEAD(driver) "dir " DEVICE "/drm/renderD128\n"
#define NODE "dev/dri/renderD128"
/* Bytes as in the answers: 32 GiB of the host's; 16, 12, 3 GiB; 256 and 64 MiB. */
#define G32 "34359738368"
#define G16 "17179869184"
#define G12 "12884901888"
#define G3 "3221225472"
#define M256 "268435456"
#define M192 "201326592"
#define M64 "67108864"
#define XE(n) "query " NODE " xe 1\n| 4:" n " 4:0\n"
#define XE_SYSTEM "| 2:0 2:0 4:4096 8:" G32 " 8:0 8:0 8:0 48:0\n"
#define XE_VRAM(instance, total, used, visible, visible_used)                                      \
    "| 2:1 2:" instance " 4:65536 8:" total " 8:" used " 8:" visible " 8:" visible_used " 48:0\n"
#define I915(n) "query " NODE " i915 4\n| 4:" n " 12:0\n"
#define I915_SYSTEM "| 2:0 2:0 4:0 8:" G32 " 8:" G32 " 8:" G32 " 8:" G32 " 48:0\n"
#define I915_LOCAL(total, left, visible, visible_left)                                             \
    "| 2:1 2:0 4:0 8:" total " 8:" left " 8:" visible " 8:" visible_left " 48:0\n"
#define LMEM(total, left)                                                                          \
    "file " DEVICE "/drm/card0/lmem_total_bytes\n| " total "\n"                                    \
    "file " DEVICE "/drm/card0/lmem_avail_bytes\n| " left "\n"
#define CAPABLE "file proc/self/status\n| Name:\tgtel\n| CapEff:\t0000004000000000\n"
#define BARE "file proc/self/status\n| Name:\tgtel\n| CapEff:\t0000000000000000\n"

#define OLD "file proc/sys/kernel/osrelease\n| 5.19.17-2\n"
#define NESTED "file proc/self/uid_map\n| 0 1000 1\n"
#define NEWEST "file proc/sys/kernel/osrelease\n| 6.17.0\n"
#define NEW "file proc/sys/kernel/osrelease\n| 6.14.0\n"

#define NONE UINT64_MAX

/* The value, or NONE when there is no such reading. */
static uint64_t value_of(const struct machine *machine, enum gtel_metric metric, const char *region)
{
    const struct gtel_reading *got = machine_find(machine, NULL, metric, region, NULL);
    return got ? got->value.u64 : NONE;
}

/* Worked out by hand from the answers; -1: no such value. */
static const struct {
    const char *label;
    const char *text;
    uint64_t vram0[4]; /* total, used, visible, visible used */
    uint64_t vram1[4];
    uint64_t system[2]; /* total, used */
    uint64_t gpu[2];
} memories[] = {
    {"B580: 3 of 12 GiB",
     CARD("xe") XE("2") XE_SYSTEM XE_VRAM("1", G12, G3, G12, G3) "end\n",
     {GIB(12), GIB(3), GIB(12), GIB(3)},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(12), GIB(3)}},
    {"B580 without the right",
     CARD("xe") XE("2") XE_SYSTEM XE_VRAM("1", G12, "0", G12, "0") "end\n",
     {GIB(12), NONE, GIB(12), NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(12), NONE}},
    {"two tiles: 3 of 12 GiB and 4 of 16",
     CARD("xe") XE("3") XE_SYSTEM XE_VRAM("1", G12, G3, G12, G3)
         XE_VRAM("2", G16, "4294967296", M256, "0") "end\n",
     {GIB(12), GIB(3), GIB(12), GIB(3)},
     {GIB(16), GIB(4), MIB(256), 0},
     {GIB(32), NONE},
     {GIB(28), GIB(7)}},
    {"two tiles, what is used of the second one is not known",
     CARD("xe") XE("3") XE_SYSTEM XE_VRAM("1", G12, G3, G12, G3)
         XE_VRAM("2", G16, "0", M256, "0") "end\n",
     {GIB(12), GIB(3), GIB(12), GIB(3)},
     {GIB(16), NONE, MIB(256), NONE},
     {GIB(32), NONE},
     {GIB(28), NONE}},
    {"two tiles, nor that of the first one",
     CARD("xe") XE("3") XE_SYSTEM XE_VRAM("1", G16, "0", M256, "0")
         XE_VRAM("2", G12, G3, G12, G3) "end\n",
     {GIB(16), NONE, MIB(256), NONE},
     {GIB(12), GIB(3), GIB(12), GIB(3)},
     {GIB(32), NONE},
     {GIB(28), NONE}},
    {"A770, small BAR: 4 of 16 GiB, 64 of 256 MiB",
     CARD("i915") I915("2") I915_SYSTEM I915_LOCAL(G16, G12, M256, M192) "end\n",
     {GIB(16), GIB(4), MIB(256), MIB(64)},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(16), GIB(4)}},
    {"A770 without the right",
     CARD("i915") I915("2") I915_SYSTEM I915_LOCAL(G16, G16, M256, M256) "end\n",
     {GIB(16), NONE, MIB(256), NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(16), NONE}},
    {"A770 before 6.0",
     CARD("i915") I915("2") I915_SYSTEM I915_LOCAL(G16, G16, "0", "0") "end\n",
     {GIB(16), NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(16), NONE}},
    {"a driver that reports in files: 4 of 16 GiB; without the right to ask it more",
     CARD("i915") LMEM(G16, G12) I915("2") I915_SYSTEM I915_LOCAL(G16, G16, "0", "0") "end\n",
     {GIB(16), NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(16), GIB(4)}},
    {"files alone",
     HEAD("i915") LMEM(G16, G12) "end\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {GIB(16), GIB(4)}},
    {"an answer before files",
     CARD("i915") LMEM(G16, G16) I915("2") I915_SYSTEM I915_LOCAL(G16, G12, "0", "0") "end\n",
     {GIB(16), GIB(4), NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), NONE},
     {GIB(16), GIB(4)}},
    {"files, of which all is left",
     HEAD("i915") LMEM(G16, G16) "end\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {GIB(16), 0}},
    {"files of nothing",
     HEAD("i915") LMEM("0", "0") "end\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {NONE, NONE}},
    {"a file that cannot be read",
     HEAD("i915") LMEM(G16, G12) "error " DEVICE "/drm/card0/lmem_total_bytes EIO\nend\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {NONE, NONE}},
    {"the other one",
     HEAD("i915") LMEM(G16, G12) "error " DEVICE "/drm/card0/lmem_avail_bytes EIO\nend\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {NONE, NONE}},
    {"more left in files than there is",
     HEAD("i915") LMEM(G12, G16) "end\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {NONE, NONE}},
    {"integrated: 64 MiB of the host's, and no memory of its own",
     CARD("xe") XE("1") "| 2:0 2:0 4:4096 8:" G32 " 8:" M64 " 8:0 8:0 48:0\nend\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {GIB(32), MIB(64)},
     {NONE, NONE}},
    {"no regions",
     CARD("xe") XE("0") "end\n",
     {NONE, NONE, NONE, NONE},
     {NONE, NONE, NONE, NONE},
     {NONE, NONE},
     {NONE, NONE}},
};

static void check_region(const struct machine *machine, const char *name, const uint64_t want[4])
{
    static const enum gtel_metric metrics[4] = {GTEL_M_MEMORY_TOTAL, GTEL_M_MEMORY_USED,
                                                GTEL_M_MEMORY_VISIBLE, GTEL_M_MEMORY_VISIBLE_USED};
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(value_of(machine, metrics[i], name), want[i]);
}

/* A memory without a name here is not reported, not as one with an empty name either. */
static void test_unknown_region(void)
{
    struct machine machine;
    if (!CHECK(machine_init(
            &machine, CARD("xe") XE("3") XE_SYSTEM XE_SYSTEM XE_VRAM("1", G12, G3, G12, G3) "end\n",
            "drm_memory")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(value_of(&machine, GTEL_M_MEMORY_TOTAL, "vram0"), GIB(12));
    CHECK_INT(value_of(&machine, GTEL_M_MEMORY_TOTAL, "system"), GIB(32));
    CHECK_INT(value_of(&machine, GTEL_M_MEMORY_TOTAL, ""), NONE);
    machine_done(&machine);
}

static void test_values(void)
{
    for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
        struct machine machine;
        const uint64_t system[4] = {memories[i].system[0], memories[i].system[1], NONE, NONE};
        test_label = memories[i].label;
        if (CHECK(machine_init(&machine, memories[i].text, "drm_memory"))) {
            CHECK_INT(machine_gather(&machine), 0);
            check_region(&machine, "vram0", memories[i].vram0);
            check_region(&machine, "vram1", memories[i].vram1);
            check_region(&machine, "system", system);
            CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_TOTAL, NULL), memories[i].gpu[0]);
            CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_USED, NULL), memories[i].gpu[1]);
            CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
        }
        machine_done(&machine);
    }
    test_label = "";
}

static void count_queries(void *arg, enum fault_op op, const char *path)
{
    size_t *n = arg;
    (void)path;
    *n += op == FAULT_QUERY ? 1 : 0;
}

/* Gathers of a machine 1 s apart, of which every fifth looks for GPUs. Returns the questions. */
static size_t run(struct machine *machine, int gathers)
{
    size_t n = 0;
    machine->fault->watch = count_queries;
    machine->fault->watch_arg = &n;
    for (int t = 0; t < gathers; t++) {
        machine->needs_discovery = machine->needs_discovery || t % 5 == 0;
        (void)machine_gather(machine);
        machine_step(machine, 1000);
    }
    return n;
}

/* Ten gathers with two discoveries: what changes is asked for each time, what stays is not. */
static void test_thrift(void)
{
    static const struct {
        const char *label;
        const char *text;
        size_t questions;
    } cases[] = {
        {"in use", CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12, G3) "end\n", 10},
        {"hidden", CARD("xe") XE("1") XE_VRAM("1", G12, "0", G12, "0") "end\n", 2},
        {"integrated", CARD("i915") I915("1") I915_SYSTEM "end\n", 2},
        {"no regions", CARD("xe") XE("0") "end\n", 2},
        {"not in /dev", CARD("xe") "end\n", 2},
        {"not allowed", CARD("xe") "query_error " NODE " xe 1 EACCES\nend\n", 2},
        {"unknown query", CARD("i915") "query_error " NODE " i915 4 EOPNOTSUPP\nend\n", 2},
        {"wedged", CARD("xe") "query_error " NODE " xe 1 ECANCELED\nend\n", 10},
        {"no render node", HEAD("xe") "end\n", 0},
        {"asleep",
         CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12,
                                    G3) "file " DEVICE "/power/runtime_status\n| suspended\nend\n",
         0},
        {"asleep from 3 s to 6 s",
         CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12,
                                    G3) "file " DEVICE "/power/runtime_status\n| active\nat 3s\n"
                                        "file " DEVICE "/power/runtime_status\n| suspended\n"
                                        "at 6s\n"
                                        "file " DEVICE "/power/runtime_status\n| active\nend\n",
         7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        test_label = cases[i].label;
        if (CHECK(machine_init(&machine, cases[i].text, "drm_memory")))
            CHECK_INT(run(&machine, 10), cases[i].questions);
        machine_done(&machine);
    }
    test_label = "";
}

/* A GPU that its driver's source leaves alone so that it can fall asleep. */
static void test_left_alone(void)
{
    static const char text[] = CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12, G3) "end\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine.batch.n > 0);
        machine.registry.device[0]->is_left_alone = true;
        CHECK_INT(run(&machine, 4), 0);
        CHECK_INT(machine.batch.n, 0);
        machine.registry.device[0]->is_left_alone = false;
        CHECK_INT(run(&machine, 1), 1);
        CHECK(machine.batch.n > 0);
    }
    machine_done(&machine);
}

/* The next list of a card's nodes fails. */
static void fail_list(void *arg, enum fault_op op, const char *path)
{
    struct env_fault *fault = arg;
    if (op != FAULT_LIST || !gtel_str_ends(gtel_str_of(path), GTEL_STR("card0/device/drm")))
        return;
    fault->fail_at = fault->calls + 1;
    fault->error = -EIO;
    fault->watch = NULL;
}

/* A search for the node that fails is said, and the node that is known is asked on. */
static void test_look_fails(void)
{
    static const char text[] = CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12, G3) "end\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        CHECK_INT(machine_gather(&machine), 0);
        machine.needs_discovery = true;
        machine.fault->watch = fail_list;
        machine.fault->watch_arg = machine.fault;
        CHECK_INT(machine_gather(&machine), -EIO);
        CHECK(machine.fault->has_failed);
        machine.needs_discovery = false;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_TOTAL, NULL), GIB(12));
    }
    machine_done(&machine);
}

/* Wedged from 2 s to 5 s: counted each time, said once each way, and all is well again immediately.
 */
static void test_wedged(void)
{
    static const char text[] = CARD("xe") XE("1")
        XE_VRAM("1", G12, G3, G12, G3) "at 2s\nquery_error " NODE " xe 1 ECANCELED\nat 5s\n"
                                       "query_error " NODE " xe 1 none\nend\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        for (int t = 0; t < 7; t++) {
            bool is_wedged = t >= 2 && t < 5;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.batch.failed[0], is_wedged ? 1 : 0);
            CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_TOTAL, NULL),
                      is_wedged ? NONE : GIB(12));
            CHECK(t != 2 || strstr(machine.fault->last_log, "wedged"));
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    }
    machine_done(&machine);
}

/* The right comes at 3 s, and is used from the discovery at 5 s on; nothing counts as failed. */
static void test_refused(void)
{
    static const char text[] = CARD("i915") I915("1")
        I915_LOCAL(G16, G12, M256, M192) "query_error " NODE
                                         " i915 4 EACCES\nat 3s\nquery_error " NODE
                                         " i915 4 none\nend\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        for (int t = 0; t < 7; t++) {
            machine.needs_discovery = machine.needs_discovery || t % 5 == 0;
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.batch.failed[0], 0);
            CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_USED, NULL), t < 5 ? NONE : GIB(4));
            if (t == 0)
                CHECK_STR(gtel_str_of(machine.fault->last_log),
                          "drm_memory: 0000:03:00.0: memory: /dev/dri/renderD128: Permission "
                          "denied; add the user of this program to the group that owns it, "
                          "usually render; going on without it until then");
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_INFO], 1);
    }
    machine_done(&machine);
}

/* -ENODEV asks for one discovery, not for one each gather. Bound again, the node has a new number.
 */
static void test_rebind(void)
{
    static const char text[] = CARD("xe") XE("1")
        XE_VRAM("1", G12, G3, G12, G3) "at 2s\nquery_error " NODE " xe 1 ENODEV\nat 5s\n"
                                       "gone " DEVICE "/drm/renderD128\n"
                                       "dir " DEVICE "/drm/renderD131\n"
                                       "query dev/dri/renderD131 xe 1\n"
                                       "| 4:1 4:0\n" XE_VRAM("1", G12, M64, G12, M64) "end\n";
    static const int want[8] = {0, 0, -ENODEV, 0, 0, 0, 0, 0};
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        for (int t = 0; t < 8; t++) {
            machine.needs_discovery = machine.needs_discovery || t == 6;
            CHECK_INT(machine_gather(&machine), want[t]);
            CHECK_INT(value_of(&machine, GTEL_M_GPU_MEMORY_USED, NULL), t < 2   ? GIB(3)
                                                                        : t < 6 ? NONE
                                                                                : MIB(64));
            CHECK_INT(machine.batch.failed[0], 0);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

static const struct {
    const char *label;
    const char *text;
    const char *what; /* NULL: nothing to say */
    const char *why;  /* part of it */
    const char *fix;  /* part of it */
    int error;
} findings[] = {
    {"all is well", CARD("xe") XE("1") XE_VRAM("1", G12, G3, G12, G3) "end\n", NULL, "", "", 0},
    {"asleep", CARD("xe") "file " DEVICE "/power/runtime_status\n| suspended\nend\n", NULL, "", "",
     0},
    {"no right to the node", CARD("xe") "query_error " NODE " xe 1 EACCES\nend\n",
     "/dev/dri/renderD128", "may not open", "render", -EACCES},
    {"a container", CARD("xe") "end\n", "/dev/dri/renderD128", "/dev has not", "--device", -ENOENT},
    {"an old kernel", CARD("i915") OLD "query_error " NODE " i915 4 EOPNOTSUPP\nend\n",
     "/dev/dri/renderD128", "no query", "use Linux 6.0", -EOPNOTSUPP},
    {"a kernel not known", CARD("i915") "query_error " NODE " i915 4 EOPNOTSUPP\nend\n",
     "/dev/dri/renderD128", "no query", "", -EOPNOTSUPP},
    {"wedged", CARD("xe") "query_error " NODE " xe 1 ECANCELED\nend\n", "/dev/dri/renderD128",
     "wedged", "bind", -ECANCELED},
    {"broken", CARD("xe") "query_error " NODE " xe 1 EIO\nend\n", "/dev/dri/renderD128", "", "",
     -EIO},
    {"no node", HEAD("xe") "end\n", "render node", "none", "", 0},
    {"admin-only PF", CARD("xe") XE("0") "end\n", "memory regions", "admin-only", "", 0},
    {"integrated", CARD("i915") I915("1") I915_SYSTEM "end\n", "own memory", "integrated", "", 0},
    {"i915, no right", CARD("i915") BARE NEW I915("1") I915_LOCAL(G16, G16, G16, G16) "end\n",
     "used memory", "CAP_PERFMON only", "give the program CAP_PERFMON", 0},
    {"i915, an old kernel", CARD("i915") BARE OLD I915("1") I915_LOCAL(G16, G16, "0", "0") "end\n",
     "used memory", "from Linux 6.0 on", "use Linux 6.0", 0},
    {"i915, the first kernel with it",
     CARD("i915") BARE "file proc/sys/kernel/osrelease\n| 6.0.0\n" I915("1")
         I915_LOCAL(G16, G16, "0", "0") "end\n",
     "used memory", "CAP_PERFMON only", "give the program CAP_PERFMON", 0},
    {"i915, the last kernel without",
     CARD("i915") BARE "file proc/sys/kernel/osrelease\n| 5.19.0\n" I915("1")
         I915_LOCAL(G16, G16, "0", "0") "end\n",
     "used memory", "from Linux 6.0 on", "use Linux 6.0", 0},
    {"xe, the last kernel that hides",
     CARD("xe") BARE "file proc/sys/kernel/osrelease\n| 6.16.9\n" XE("1")
         XE_VRAM("1", G12, "0", G12, "0") "end\n",
     "used memory", "CAP_PERFMON only", "CAP_PERFMON, or use Linux 6.17 or newer", 0},
    {"xe, the first kernel that does not",
     CARD("xe") BARE "file proc/sys/kernel/osrelease\n| 6.17.0\n" XE("1")
         XE_VRAM("1", G12, "0", G12, "0") "end\n",
     "used memory", "cannot be true", "", 0},
    {"i915 in a container",
     CARD("i915") CAPABLE NESTED NEW I915("1") I915_LOCAL(G16, G16, G16, G16) "end\n",
     "used memory", "user namespace", "outside of the container", 0},
    {"i915, perhaps in a container",
     CARD("i915") CAPABLE NEW I915("1") I915_LOCAL(G16, G16, G16, G16) "end\n", "used memory",
     "user namespace", "", 0},
    {"xe, no right", CARD("xe") BARE NEW XE("1") XE_VRAM("1", G12, "0", G12, "0") "end\n",
     "used memory", "CAP_PERFMON only", "6.17", 0},
    {"xe, right and kernel not known", CARD("xe") XE("1") XE_VRAM("1", G12, "0", G12, "0") "end\n",
     "used memory", "CAP_PERFMON only", "6.17", 0},
    {"xe, a kernel that hides nothing",
     CARD("xe") BARE NEWEST XE("1") XE_VRAM("1", G12, "0", G12, "0") "end\n", "used memory",
     "cannot be true", "", 0},
};

static bool has(struct gtel_str text, const char *part)
{
    char buf[300];
    return gtel_str_copy(buf, sizeof(buf), text) && strstr(buf, part) != NULL;
}

static void check_finding(const struct machine *machine, const struct gtel_finding *got, size_t i)
{
    CHECK_STR(got->what, findings[i].what);
    CHECK(has(got->why, findings[i].why));
    CHECK(findings[i].fix[0] ? has(got->fix, findings[i].fix) : got->fix.n == 0);
    CHECK_INT(got->error, findings[i].error);
    CHECK_INT(got->measurement, GTEL_MEASUREMENT_GPU_MEMORY_REGION);
    CHECK(got->device == machine->registry.device[0]);
}

static void test_diagnose(void)
{
    for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
        struct machine machine;
        struct gtel_findings list = {0};
        test_label = findings[i].label;
        if (CHECK(machine_init(&machine, findings[i].text, "drm_memory"))) {
            CHECK_INT(machine_gather(&machine), 0);
            machine.source->diagnose(machine.state, &machine.registry, &list);
            CHECK_INT(list.n, findings[i].what ? 1 : 0);
            for (size_t j = 0; j < list.n; j++)
                check_finding(&machine, &list.finding[j], i);
        }
        gtel_findings_done(&list);
        machine_done(&machine);
    }
    test_label = "";
}

/* No card of these drivers: not here, quietly. */
static void test_absent(void)
{
    static const char text[] = HEAD("amdgpu") "end\n";
    struct machine machine;
    if (CHECK(machine_init(&machine, text, "drm_memory"))) {
        CHECK(!gtel_source_present(machine.source, &machine.fault->env));
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n, 0);
    }
    machine_done(&machine);
}

int main(void)
{
    test_values();
    test_unknown_region();
    test_thrift();
    test_left_alone();
    test_look_fails();
    test_wedged();
    test_refused();
    test_rebind();
    test_diagnose();
    test_absent();
    return test_result();
}
