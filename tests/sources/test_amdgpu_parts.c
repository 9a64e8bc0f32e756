/* SPDX-License-Identifier: MIT */
/* Source amdgpu_parts: partitions as instances, boards, texts; what may be read of a sleeping card.
 */
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PCI "sys/devices/pci0000:00/"
#define CARD(n, render, key)                                                                       \
    "link sys/class/drm/card" n " -> ../../devices/pci0000:00/" key "/drm/card" n "\n"             \
    "link " PCI key "/drm/card" n "/device -> ../../../" key "\n"                                  \
    "link sys/class/drm/renderD" render " -> ../../devices/pci0000:00/" key "/drm/renderD" render  \
    "\nlink " PCI key "/drm/renderD" render "/device -> ../../../" key "\n"                        \
    "file " PCI key "/uevent\n| DRIVER=amdgpu\n| PCI_ID=1002:74A1\n| PCI_SLOT_NAME=" key "\n"      \
    "file " PCI key "/power/runtime_status\n| active\n"
/* As the driver makes them in each mode (kernel: amdxcp/amdgpu_xcp_drv.c). */
#define XCP(n, card, render)                                                                       \
    "file sys/devices/platform/amdgpu_xcp_" n "/uevent\n| MODALIAS=platform:amdgpu_xcp_" n "\n"    \
    "link sys/class/drm/card" card " -> ../../devices/platform/amdgpu_xcp_" n "/drm/card" card     \
    "\nlink sys/devices/platform/amdgpu_xcp_" n "/drm/card" card                                   \
    "/device -> ../../../amdgpu_xcp_" n "\n"                                                       \
    "link sys/class/drm/renderD" render " -> ../../devices/platform/amdgpu_xcp_" n                 \
    "/drm/renderD" render "\nlink sys/devices/platform/amdgpu_xcp_" n "/drm/renderD" render        \
    "/device -> ../../../amdgpu_xcp_" n "\n"
#define NODES "sys/class/kfd/kfd/topology/nodes/"
#define NODE(n, place, render)                                                                     \
    "file " NODES n "/properties\n| simd_count 4\n| location_id " place                            \
    "\n| domain 0\n| drm_render_minor " render "\n"
#define BANK(n, heap, bytes)                                                                       \
    "file " NODES n "/mem_banks/0/properties\n| heap_type " heap "\n| size_in_bytes " bytes "\n"
#define MODE(key, compute)                                                                         \
    "file " PCI key "/current_compute_partition\n| " compute "\n"                                  \
    "file " PCI key "/current_memory_partition\n| NPS4\n"
#define A "0000:05:00.0"
#define B "0000:06:00.0"

/* A partition's table 1.0 of 488 bytes (kernel: kgd_pp_interface.h, amdgpu_partition_metrics_v1_0).
 */
#define NONE_2X4 " 2:65535 2:65535 2:65535 2:65535"
#define NONE_2X8 NONE_2X4 NONE_2X4
#define NONE_8 " 8:18446744073709551615"
#define NONE_8X8 NONE_8 NONE_8 NONE_8 NONE_8 NONE_8 NONE_8 NONE_8 NONE_8
#define NONE_4X6 " 4:4294967295 4:4294967295 4:4294967295 4:4294967295 4:4294967295 4:4294967295"
#define TABLE(path, clock, busy0, busy1, jpeg, vcn)                                                \
    "binary " path "\n| 2:488 1:1 1:0 2:" clock " 2:65535 2:65535 2:65535" NONE_2X4 NONE_2X4       \
    "\n|" NONE_2X8 " 2:900 2:0 4:" busy0 " 4:" busy1 NONE_4X6 "\n| 2:" jpeg " 2:65535 2:65535 "    \
    "2:65535" NONE_2X4 NONE_2X8 NONE_2X8 NONE_2X8 NONE_2X8 "\n| 2:" vcn                            \
    " 2:65535 2:65535 2:65535" NONE_8X8 "\n|" NONE_8X8 "\n|" NONE_8X8 "\n|" NONE_8X8               \
    "\n|" NONE_8X8 "\n"
#define TABLES                                                                                     \
    TABLE(PCI A "/xcp/xcp_metrics", "2100", "80", "40", "12", "50")                                \
    TABLE("sys/devices/platform/amdgpu_xcp_0/xcp/xcp_metrics", "132", "0", "4294967295", "65535",  \
          "65535")

#define CARDS CARD("1", "129", A) XCP("0", "2", "130") XCP("1", "3", "131") CARD("9", "137", B)
#define MODES MODE(A, "DPX") MODE(B, "SPX") "file " NODES "0/properties\n| location_id 0\n"
#define TOPOLOGY                                                                                   \
    NODE("1", "1280", "129")                                                                       \
    NODE("2", "1281", "130")                                                                       \
    NODE("3", "1536", "137") BANK("1", "1", "103070826496") BANK("2", "0", "4096")
#define MACHINE CARDS MODES TABLES TOPOLOGY

/* Baseboard 1.0: id 0 at 33, id 1 at 151 (impossible), the rest not there; 144 bytes. */
#define NONE_4X30 NONE_4X6 NONE_4X6 NONE_4X6 NONE_4X6 NONE_4X6
#define BOARD                                                                                      \
    "binary " PCI B "/board/baseboard_temp\n| 2:144 1:1 1:0 2:1 2:0 8:7 4:33 4:16777367" NONE_4X30 \
    "\nfile " PCI B "/board/npm/node_power\n| 5210\nfile " PCI B                                   \
    "/board/cur_node_power_limit\n| 0\nfile " PCI B "/board/max_node_power_limit\n| 10000\n"

static double number(const struct machine *machine, const char *device, enum gtel_metric metric,
                     const char *dim)
{
    const struct gtel_reading *got = machine_find(machine, device, metric, dim, NULL);
    return got ? gtel_reading_number(got) : -1;
}

static const struct gtel_device *find(const struct machine *machine, const char *key)
{
    return gtel_registry_find(&machine->registry, gtel_str_of(key));
}

static bool is_present(const struct machine *machine, const char *key)
{
    const struct gtel_device *device = find(machine, key);
    return device && device->is_present;
}

static bool is_near(double a, double b)
{
    return a - b < 1e-9 && b - a < 1e-9;
}

static void test_partitions(void)
{
    static const char text[] = MACHINE "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.registry.n, 4);
    const struct gtel_device *second = find(&machine, A "/xcp1");
    if (CHECK(second && second->is_present)) {
        CHECK_STR(gtel_str_of(second->label[GTEL_LABEL_GPU]), A);
        CHECK_STR(gtel_str_of(second->label[GTEL_LABEL_INSTANCE]), "xcp1");
        CHECK_STR(gtel_str_of(second->label[GTEL_LABEL_VENDOR]), "amd");
        CHECK_STR(gtel_str_of(second->label[GTEL_LABEL_DRIVER]), "amdgpu");
        CHECK_STR(gtel_str_of(second->label[GTEL_LABEL_MODEL]), "AMD 1002:74a1");
    }
    CHECK_STR(gtel_str_of(find(&machine, A)->label[GTEL_LABEL_MODES]), "partition=DPX memory=NPS4");
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_MODES]), "partition=SPX memory=NPS4");
    /* Two compute dies at 80 and 40 %. */
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_GPU_BUSY, NULL), 0.6));
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_ENGINE_BUSY, "video"), 0.5));
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_ENGINE_BUSY, "jpeg"), 0.12));
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_FREQUENCY_ACTUAL, "graphics"), 2.1e9));
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_GPU_AWAKE, NULL), 1));
    CHECK(is_near(number(&machine, A "/xcp1", GTEL_M_GPU_BUSY, NULL), 0));
    CHECK(is_near(number(&machine, A "/xcp1", GTEL_M_FREQUENCY_ACTUAL, "graphics"), 132e6));
    CHECK(number(&machine, A "/xcp1", GTEL_M_ENGINE_BUSY, NULL) < 0); /* it has no such engine */
    CHECK(number(&machine, A, GTEL_M_GPU_BUSY, NULL) < 0);
    CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_MEMORY_TOTAL, "vram"), 103070826496));
    CHECK(number(&machine, A "/xcp1", GTEL_M_MEMORY_TOTAL, NULL) < 0); /* the host's bank */
    CHECK(number(&machine, A, GTEL_M_MEMORY_TOTAL, NULL) < 0);
    machine_done(&machine);
}

/* Other modes, a topology that cannot be read, a card that goes. */
static void test_changes(void)
{
    static const char text[] =
        MACHINE "at 1s\n" MODE(A, "CPX") "gone " NODES "3/properties\n" NODE("3", "1282", "131")
            NODE("4", "1536", "137") "at 2s\nrefuse " NODES "2/properties EPERM\nat 3s\n" NODE(
                "2", "1281", "130")
                MODE(A, "SPX") "gone " NODES "2/properties\ngone " NODES
                               "3/properties\nat 4s\n" MODE(A, "DPX")
                                   NODE("2", "1281",
                                        "130") "at 5s\ngone sys/class/drm/card1\ngone " PCI A
                                               "\nend\n";
    static const size_t want[] = {2, 3, 3, 0, 2, 0};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    for (size_t g = 0; g < sizeof(want) / sizeof(want[0]); g++) {
        char label[16];
        (void)snprintf(label, sizeof(label), "%zu s", g);
        test_label = label;
        machine.needs_discovery = true;
        (void)machine_gather(&machine); /* the refused topology is an error of the discovery */
        for (size_t i = 0; i < 4; i++) {
            char key[32];
            (void)snprintf(key, sizeof(key), A "/xcp%zu", i);
            CHECK_INT(is_present(&machine, key), i < want[g]);
        }
        machine_step(&machine, 1000);
    }
    test_label = "";
    machine_done(&machine);
}

/* The driver is loaded again between two gathers, and divides the GPU no more. */
static void test_reload(void)
{
    static const char text[] = MACHINE "at 1s\ngone sys/class/drm/card1\n" CARD("4", "129", A)
        MODE(A, "SPX") "gone " NODES "2/properties\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(is_present(&machine, A "/xcp0") && is_present(&machine, A "/xcp1"));
    machine_step(&machine, 1000);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(is_present(&machine, A));
    CHECK(!is_present(&machine, A "/xcp0") && !is_present(&machine, A "/xcp1"));
    machine_done(&machine);
}

/* Without tables of partitions those of the GPU may have them. */
static void test_old(void)
{
    static const char text[] = CARD("1", "129", A) XCP("0", "2", "130") MODE(A, "DPX")
        NODE("1", "1280", "129") NODE("2", "1281", "130") "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(is_present(&machine, A "/xcp1"));
    CHECK_INT(machine.batch.n, 2); /* both are awake */
    machine_done(&machine);
}

/* Without KFD there are no partitions, which a GPU that is divided lacks. */
static void test_hidden(void)
{
    static const struct {
        const char *mode;
        const char *text;
        size_t lacks;
    } cases[] = {{"CPX", CARD("1", "129", A) MODE(A, "CPX") "end\n", 1},
                 {"SPX", CARD("1", "129", A) MODE(A, "SPX") "end\n", 0},
                 {"UNKNOWN", CARD("1", "129", A) MODE(A, "UNKNOWN") "end\n", 0}};
    static const char *const says =
        "sys/class/kfd/kfd/topology: 0: the GPU is divided, and KFD does not show its partitions: "
        "give the container /sys/class/kfd and the GPU's devices";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = cases[i].mode;
        if (!CHECK(machine_init(&machine, cases[i].text, "amdgpu_parts")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.registry.n, 1);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, &says, cases[i].lacks);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
    test_label = "";
}

/* How much memory a partition has is forgotten where KFD shows it no more. */
static void test_memory(void)
{
    static const char text[] =
        MACHINE "at 1s\ngone " NODES "1/mem_banks/0/properties\nat 2s\n" BANK(
            "1", "1", "8192") "at 3s\nrefuse " NODES "1/mem_banks/0/properties EACCES\nend\n";
    static const double want[] = {103070826496, -1, 8192, -1};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    for (size_t g = 0; g < sizeof(want) / sizeof(want[0]); g++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), g < 3 ? 0 : -EACCES);
        CHECK(is_near(number(&machine, A "/xcp0", GTEL_M_MEMORY_TOTAL, "vram"), want[g]));
        CHECK(is_present(&machine, A "/xcp0") && is_present(&machine, A "/xcp1"));
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* Three partitions become two, then none: files of those that are no more are closed. */
static void test_fewer(void)
{
    static const char text[] = CARDS MODE(A, "CPX")
        TABLES TABLE("sys/devices/platform/amdgpu_xcp_1/xcp/xcp_metrics", "0", "101", "100", "12",
                     "50") NODE("1", "1280", "129") NODE("2", "1281", "130")
            NODE("3", "1282", "131") "at 1s\ngone " NODES "3/properties\n" MODE(
                A, "DPX") "at 2s\ngone " NODES "2/properties\n" MODE(A, "SPX") "end\n";
    static const size_t want[] = {3, 2, 0};
    struct machine machine;
    size_t open_files = 0;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    for (size_t g = 0; g < sizeof(want) / sizeof(want[0]); g++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(is_present(&machine, A "/xcp0") == (want[g] > 0));
        CHECK(is_present(&machine, A "/xcp1") == (want[g] > 1));
        CHECK(is_present(&machine, A "/xcp2") == (want[g] > 2));
        if (g == 0) { /* a clock that stands, and one die whose use is no share */
            CHECK(number(&machine, A "/xcp2", GTEL_M_FREQUENCY_ACTUAL, NULL) < 0);
            CHECK(is_near(number(&machine, A "/xcp2", GTEL_M_GPU_BUSY, NULL), 1));
        }
        size_t closed = g > 0 ? want[g - 1] - want[g] : 0;
        CHECK(g == 0 || machine.fault->open_files == open_files - closed);
        open_files = machine.fault->open_files;
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* A file that may not be opened is the discovery's error; the rest is there. */
static void test_refused(void)
{
    static const char *const files[] = {
        PCI A "/xcp/xcp_metrics", "sys/devices/platform/amdgpu_xcp_0/xcp/xcp_metrics",
        PCI B "/board/baseboard_temp", PCI B "/board/npm/node_power",
        PCI B "/board/max_node_power_limit"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        static char text[16384];
        struct machine machine;
        (void)snprintf(text, sizeof(text), "%srefuse %s EACCES\nend\n", MACHINE BOARD, files[i]);
        test_label = files[i];
        if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
            return;
        CHECK_INT(machine_gather(&machine), -EACCES);
        CHECK(is_present(&machine, A "/xcp0") && is_present(&machine, A "/xcp1"));
        machine_done(&machine);
    }
    test_label = "";
}

#define TEXTS                                                                                      \
    "file " PCI B "/unique_id\n| 946d7e1ef9b172dd\nfile " PCI B "/vbios_version\n"                 \
    "| 113-D4120100-100\nfile " PCI B "/mem_info_vram_vendor\n| samsung\n"

static void test_texts(void)
{
    static const char text[] = CARD("9", "137", B) TEXTS "end\n";
    static const char none[] =
        CARD("9", "137", B) "file " PCI B "/unique_id\n| 0000000000000000\nfile " PCI B
                            "/vbios_version\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_UUID]), "946d7e1ef9b172dd");
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_FIRMWARE]), "113-D4120100-100");
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_MEMORY_VENDOR]), "samsung");
    CHECK_INT(machine.batch.n, 0);
    machine_done(&machine);
    if (!CHECK(machine_init(&machine, none, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_UUID]), "");
    CHECK_STR(gtel_str_of(find(&machine, B)->label[GTEL_LABEL_FIRMWARE]), "");
    machine_done(&machine);
}

/* ENODEV of any file is the card's, not the file's: it is searched for immediately. */
static void test_board_gone(void)
{
    static const char text[] =
        CARD("9", "137", B) BOARD "at 1s\nerror " PCI B "/board/npm/node_power ENODEV\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), -ENODEV);
    machine_done(&machine);
}

static void test_board(void)
{
    static const char text[] = CARD("9", "137", B) BOARD "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(is_near(number(&machine, B, GTEL_M_TEMPERATURE, "system_ubb_fpga"), 33));
    CHECK(is_near(number(&machine, B, GTEL_M_POWER, "node"), 5210));
    CHECK(is_near(number(&machine, B, GTEL_M_POWER_LIMIT_MAX, "node"), 10000));
    CHECK_INT(machine.batch.n, 3);
    machine_done(&machine);
}

/* Sensors of the GPU's board; MI350 has the files of the node beside it. Limits of what can be. */
static void test_board_limits(void)
{
    static const char text[] = CARD(
        "9", "137",
        B) "binary " PCI B
           "/board/gpuboard_temp\n| 2:120 1:1 1:0 2:1 2:0 8:7 4:150 4:16777216" NONE_4X6 NONE_4X6
               NONE_4X6 NONE_4X6 "\n"
           "file " PCI B "/board/node_power\n| 999999\nfile " PCI B
           "/board/max_node_power_limit\n| 1000000\nfile " PCI B
           "/board/baseboard_power_limit\n| 1\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(is_near(number(&machine, B, GTEL_M_POWER, "node"), 999999));
    CHECK(is_near(number(&machine, B, GTEL_M_POWER_LIMIT, "baseboard"), 1));
    CHECK(is_near(number(&machine, B, GTEL_M_TEMPERATURE, NULL), 150));
    CHECK_INT(machine.batch.n, 3);
    machine_done(&machine);
}

static const char *const touched[] = {"xcp_metrics",    "_compute_partition", "_memory_partition",
                                      "baseboard_temp", "node_power",         "node_power_limit"};

static void count_touch(void *arg, enum fault_op op, const char *path)
{
    for (size_t i = 0; op == FAULT_READ && i < sizeof(touched) / sizeof(touched[0]); i++)
        *(uint64_t *)arg += gtel_str_ends(gtel_str_of(path), gtel_str_of(touched[i])) ? 1 : 0;
}

static void test_asleep(void)
{
    static const char text[] =
        MACHINE BOARD "file " PCI A "/power/runtime_status\n| suspended\n"
                      "file " PCI B "/power/runtime_status\n| suspended\n"
                      "at 1s\nfile " PCI A "/power/runtime_status\n| active\n"
                      "file " PCI B "/power/runtime_status\n| active\nend\n";
    struct machine machine;
    uint64_t n = 0;
    if (!CHECK(machine_init(&machine, text, "amdgpu_parts")))
        return;
    machine.fault->watch = count_touch;
    machine.fault->watch_arg = &n;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(n, 0);
    CHECK_INT(machine.batch.n, 0);
    machine_step(&machine, 1000);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(n > 0);
    CHECK(is_present(&machine, A "/xcp1"));
    CHECK(is_near(number(&machine, B, GTEL_M_POWER, "node"), 5210));
    machine_done(&machine);
}

static void test_faults(void)
{
    static const char text[] = MACHINE BOARD TEXTS "end\n";
    static const int errors[] = {-EIO, -ENODEV, -EACCES, -EMFILE, 0};
    CHECK(machine_fail_in_turn(text, "amdgpu_parts", errors) > 30);
}

int main(void)
{
    test_partitions();
    test_changes();
    test_reload();
    test_old();
    test_hidden();
    test_memory();
    test_fewer();
    test_refused();
    test_texts();
    test_board();
    test_board_limits();
    test_board_gone();
    test_asleep();
    test_faults();
    return test_result();
}
