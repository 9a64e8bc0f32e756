/* SPDX-License-Identifier: MIT */
/*
 * Source wddm where Windows changes, refuses and lies; the recorded machines have what it reports
 * when all is well. With the word "walk": each call fails in turn.
 */
#include "base/compiler.h"
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "file System32/setupapi.dll\nlibrary libwddm.so\n"
#define DRIVER "{4d36e968-e325-11ce-bfc1-08002be10318}\\0001"
/* One GPU whose 3D works half of the time and whose copy never does. */
#define GPU                                                                                        \
    "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_8086&DEV_E20B\\6\n"                             \
    "call SetupDiGetDeviceRegistryPropertyW 0 0 = Arc B580\n"                                      \
    "call SetupDiGetDeviceRegistryPropertyW 0 9 = " DRIVER "\n"                                    \
    "call SetupDiGetDevicePropertyW 0 23 = 3\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 30 = 0\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 32 = 1\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 3 = 32.0.101.6734\n"                                         \
    "call SetupDiGetDeviceInterfaceDetailW 0 = PCI#VEN_8086\n"                                     \
    "call RegGetValueW " DRIVER " HardwareInformation.qwMemorySize = 8000\n"                       \
    "call D3DKMTOpenAdapterFromDeviceName 0 = 0x1000\n"                                            \
    "call D3DKMTQueryAdapterInfo 0 15 = 4:0x3\n"                                                   \
    "call D3DKMTQueryAdapterInfo 0 3 = 8:8000 8:0 8:16000\n"                                       \
    "call D3DKMTQueryAdapterInfo 0 63 = 4:0 4:0 8:0 8:0 4:0 4:1100 4:1000 4:0\n"                   \
    "call D3DKMTQueryAdapterInfo 0 62 = 40:0 8:0 4:900 4:0 4:455 4:0\n"                            \
    "call D3DKMTQueryStatistics 0 0 0 = 4:2 4:2 4:0 4:0 4:7\n"                                     \
    "call D3DKMTQueryStatistics 0 3 0 = 8:0 8:0 8:2000 16:0 4:0 60:0 8:0\n"                        \
    "call D3DKMTQueryStatistics 0 3 1 = 8:0 8:0 8:1000 16:0 4:1 60:0 8:1\n"                        \
    "call D3DKMTQueryAdapterInfo 0 25 0 = 1 3D\n"                                                  \
    "call D3DKMTQueryAdapterInfo 0 25 1 = 6 Copy\n"                                                \
    "call D3DKMTQueryStatistics 0 5 0 = 8:5+5000000 536:0 4:0 4:0 8:2000000000 8:0 8:0 4:800\n"    \
    "call D3DKMTQueryStatistics 0 5 1 = 8:77 536:0 4:1 4:0 8:0\n"

static const char key[] = "0000:03:00.0";

/* How much the played Windows has open. */
static int open_count(void)
{
    void *lib;
    int n = -1;
    if (gtel_env_real_lib_open(TEST_PLAYED "/libwddm.so", &lib) < 0)
        return n;
    const int *count = gtel_env_real_lib_symbol(lib, "gtel_played_wddm_open");
    if (count)
        n = *count;
    gtel_env_real_lib_close(lib);
    return n;
}

static bool begin(struct machine *machine, const char *text)
{
    static char all[32768];
    (void)snprintf(all, sizeof(all), HEAD "%send\n", text);
    if (!CHECK(machine_init(machine, all, "wddm")))
        return false;
    tree_library_play(&machine->tree_env, machine->tree, TEST_PLAYED);
    return true;
}

/* Keeps the library in the process, so that it can be asked once all is closed. */
static void finish(struct machine *machine)
{
    void *lib = NULL;
    CHECK_INT(gtel_env_real_lib_open(TEST_PLAYED "/libwddm.so", &lib), 0);
    machine_close(machine);
    CHECK_INT(open_count(), 0);
    machine_done(machine);
    if (lib)
        gtel_env_real_lib_close(lib);
}

static double value(const struct machine *machine, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *reading = machine_find(machine, key, metric, dim, NULL);
    return reading ? gtel_reading_number(reading) : -1;
}

static int next(struct machine *machine, unsigned seconds)
{
    machine_step(machine, seconds * 1000);
    (void)gtel_env_now(&machine->tree_env); /* moves the machine on, for those who ask a library */
    return machine_gather(machine);
}

/* All that the GPU has; render is -1 until its running time has moved. */
static void check_whole(const struct machine *machine, double render)
{
    CHECK_NEAR(value(machine, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    CHECK_NEAR(value(machine, GTEL_M_GPU_RESETS, NULL), 7, 0);
    CHECK_NEAR(value(machine, GTEL_M_MEMORY_TOTAL, "vram"), 8000, 0);
    CHECK_NEAR(value(machine, GTEL_M_MEMORY_USED, "vram"), 2000, 0);
    CHECK_NEAR(value(machine, GTEL_M_MEMORY_USED, "shared"), 1000, 0);
    CHECK_NEAR(value(machine, GTEL_M_TEMPERATURE, "gpu"), 45.5, 1e-9);
    CHECK_NEAR(value(machine, GTEL_M_TEMPERATURE_CRITICAL, "gpu"), 100, 1e-9);
    CHECK_NEAR(value(machine, GTEL_M_FAN_RPM, "0"), 900, 0);
    CHECK_NEAR(value(machine, GTEL_M_FREQUENCY_ACTUAL, "graphics"), 2e9, 0);
    CHECK_NEAR(value(machine, GTEL_M_VOLTAGE, "graphics"), 0.8, 1e-9);
    CHECK_NEAR(value(machine, GTEL_M_ENGINE_CAPACITY, "copy"), 1, 0);
    CHECK_NEAR(value(machine, GTEL_M_ENGINE_BUSY_TIME, "copy"), -1, 0);
    CHECK_NEAR(value(machine, GTEL_M_ENGINE_BUSY_TIME, "render"), render, 1e-9);
}

static void test_well(void)
{
    struct machine machine;
    if (!begin(&machine, GPU))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    check_whole(&machine, -1);
    CHECK_INT(next(&machine, 2), 0);
    check_whole(&machine, 5e-7 + 1);
    const struct gtel_device *device = gtel_registry_find(&machine.registry, gtel_str_of(key));
    CHECK(device && strcmp(device->label[GTEL_LABEL_MODEL], "Arc B580") == 0);
    CHECK(device && strcmp(device->label[GTEL_LABEL_DRIVER_VERSION], "32.0.101.6734") == 0);
    CHECK_INT(open_count(), 2); /* a list and an adapter */
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, 5e-7 + 1.5);
    CHECK_INT(open_count(), 2);
    finish(&machine);
}

/* With the option each engine is reported by itself too, once its running time has moved. */
static void test_instances(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "call D3DKMTQueryStatistics 0 0 0 = 4:2 4:3 4:0 4:0 4:7\n"
                             "call D3DKMTQueryAdapterInfo 0 25 2 = untouched\n"
                             "call D3DKMTQueryStatistics 0 5 2 = 8:0+5000000\n"))
        return;
    char error[100];
    CHECK_INT(gtel_option_set(&machine.options, GTEL_O_ENGINE_INSTANCES, GTEL_STR("on"), error,
                              sizeof(error)),
              0);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(next(&machine, 2), 0);
    const struct gtel_reading *node =
        machine_find(&machine, key, GTEL_M_ENGINE_BUSY_TIME, "render", "node0");
    CHECK(node && node->value.f64 > 1 && node->value.f64 < 1.1);
    CHECK(!machine_find(&machine, key, GTEL_M_ENGINE_BUSY_TIME, NULL, "node2")); /* of no class */
    CHECK(!machine_find(&machine, key, GTEL_M_ENGINE_BUSY_TIME, "copy", NULL));
    finish(&machine);
}

/* Of engines of one class that are not alike the busiest counts, of those that are the mean. */
static void test_unlike(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "call D3DKMTQueryStatistics 0 0 0 = 4:2 4:4 4:0 4:0 4:7\n"
                             "call D3DKMTQueryAdapterInfo 0 25 1 = 1 High Priority 3D\n"
                             "call D3DKMTQueryStatistics 0 5 1 = 8:2+8000000\n"
                             "call D3DKMTQueryAdapterInfo 0 25 2 = 6 Copy\n"
                             "call D3DKMTQueryStatistics 0 5 2 = 8:0+4000000\n"
                             "call D3DKMTQueryAdapterInfo 0 25 3 = 6 Copy 1\n"
                             "call D3DKMTQueryStatistics 0 5 3 = 8:0+2000000\n"
                             "at 4s\ncall D3DKMTQueryStatistics 0 5 1 = 8:32000002\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    for (unsigned i = 1; i <= 8; i++) {
        CHECK_INT(next(&machine, 1), 0);
        double render = i <= 4 ? i * 0.8 : 3.2 + (i - 4) * 0.5;
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render"), 5e-7 + render, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "copy"), i * 0.3, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_CAPACITY, "render"), 1, 0);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_CAPACITY, "copy"), 2, 0);
    }
    finish(&machine);
}

/* A running time that goes back begins again at 0, so that no rate spans it. */
static void test_back(void)
{
    static const double want[] = {-1, 5e-7 + 0.5, 5e-7 + 1, 0, 0.5, 0, 0};
    struct machine machine;
    if (!begin(&machine, GPU "at 3s\ncall D3DKMTQueryStatistics 0 5 0 = 8:1000\n"
                             "at 4s\ncall D3DKMTQueryStatistics 0 5 0 = 8:5001000\n"
                             "at 5s\ncall D3DKMTQueryStatistics 0 5 0 = 8:5000000\n"))
        return;
    for (unsigned i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        CHECK_INT(next(&machine, i > 0), 0);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render"), want[i], 1e-9);
    }
    finish(&machine);
}

/* A question that always fails is asked again and again; what is known of the nodes stays. */
static void test_failing_question(void)
{
    static const char *const lines[] = {"63", "25 1"};
    for (size_t k = 0; k < GTEL_ARRAY_LEN(lines); k++) {
        struct machine machine;
        char text[8192];
        (void)snprintf(text, sizeof(text), GPU "call D3DKMTQueryAdapterInfo 0 %s = !0xc0000001\n",
                       lines[k]);
        if (!begin(&machine, text))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        for (unsigned i = 1; i <= 8; i++) {
            CHECK_INT(next(&machine, 1), 0);
            CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render"), 5e-7 + i * 0.5, 1e-9);
            CHECK_INT(machine.batch.failed[0], 1);
        }
        finish(&machine);
    }
}

/* A node that does not answer has no value and is counted as a failure; it goes on afterwards. */
static void test_failing_node(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "at 3s\ncall D3DKMTQueryStatistics 0 5 0 = !0xc0000001\n"
                             "at 5s\ncall D3DKMTQueryStatistics 0 5 0 = 8:5+5000000\n"))
        return;
    for (unsigned i = 0; i < 7; i++) {
        bool is_well = i < 3 || i >= 5;
        CHECK_INT(next(&machine, i > 0), 0);
        CHECK_INT(machine.batch.failed[0], is_well ? 0 : 1);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render"),
                   is_well && i > 0 ? 5e-7 + i * 0.5 : -1, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_ENGINE_CAPACITY, "render"), 1, 0);
    }
    finish(&machine);
}

/* Nor does a GPU of one node answer any more: its adapter is another one. */
static void test_one_node(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "call D3DKMTQueryStatistics 0 0 0 = 4:2 4:1 4:0 4:0 4:7\n"
                             "at 2s\ncall D3DKMTQueryStatistics 0 0 0 = !0xc0000001\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(next(&machine, 2), -ENODEV);
    finish(&machine);
}

/* Plug and Play is asked for a name four times; then the GPU is named by its number. */
static void test_nameless(void)
{
    struct machine machine;
    if (!begin(&machine,
               GPU "call double SetupDiGetDeviceRegistryPropertyW = fail 0xc0000001 1 99\n"))
        return;
    for (unsigned i = 0; i < 4; i++) {
        CHECK_INT(next(&machine, i > 0), i < 3 ? -ENODEV : 0);
        const struct gtel_device *device = gtel_registry_find(&machine.registry, gtel_str_of(key));
        if (CHECK(device))
            CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), i < 3 ? "" : "Intel 8086:e20b");
    }
    finish(&machine);
}

/* Another GPU in the same place is not the one that was there. */
static void test_swap(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "at 2s\ncall SetupDiGetDeviceInstanceIdW 0 = "
                             "PCI\\VEN_10DE&DEV_2684\\6\n"
                             "call SetupDiGetDevicePropertyW 0 3 = 32.0.15.6636\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 2), -ENODEV); /* asked twice whether the first one is removed */
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, 5e-7 + 1.5);
    const struct gtel_device *device = gtel_registry_find(&machine.registry, gtel_str_of(key));
    CHECK(device->is_present);
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_VENDOR]), "nvidia");
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_DRIVER_VERSION]), "566.36");
    CHECK_INT(open_count(), 2);
    finish(&machine);
}

/* After a restart of the driver the GPU has another LUID: it is opened again, its times restart. */
static void test_restart_of_driver(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "at 3s\ncall D3DKMTOpenAdapterFromDeviceName 0 = 0x2000\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(next(&machine, 2), 0);
    check_whole(&machine, 5e-7 + 1);
    CHECK_INT(next(&machine, 1), -ENODEV);
    CHECK_NEAR(value(&machine, GTEL_M_MEMORY_USED, "vram"), -1, 0);
    CHECK_NEAR(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render"), -1, 0);
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, -1);
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, 5e-7 + 2.5);
    finish(&machine);
}

static void test_removal(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "at 2s\ncall SetupDiGetDeviceInstanceIdW 0 = gone\n"
                             "at 5s\ncall SetupDiGetDeviceInstanceIdW 0 = "
                             "PCI\\VEN_8086&DEV_E20B\\6\n"
                             "at 7s\ncall double SetupDiGetClassDevsW = fail 0xc0000001 1 1\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(next(&machine, 2), -ENODEV); /* its power state is not known any more */
    CHECK_INT(machine.batch.n, 0);
    CHECK_INT(next(&machine, 1), -ENODEV); /* asked twice whether that is so */
    CHECK(!gtel_registry_find(&machine.registry, gtel_str_of(key))->is_present);
    CHECK_INT(open_count(), 1);
    CHECK_INT(next(&machine, 1), 0);
    CHECK_INT(machine.batch.n, 0);
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, -1);
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 2), -EIO); /* no list */
    finish(&machine);
}

/* The power state is asked before anything else; a GPU that is not in D0 is left alone. */
static void test_sleep(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "call SetupDiGetDevicePropertyW 0 32 = 4\n"
                             "call double D3DKMTOpenAdapterFromDeviceName = crash\n"
                             "at 2s\ncall double D3DKMTOpenAdapterFromDeviceName = nothing\n"
                             "call SetupDiGetDevicePropertyW 0 32 = 1\n"
                             "at 5s\ncall SetupDiGetDevicePropertyW 0 32 = 2\n"
                             "call double D3DKMTQueryAdapterInfo = crash\n"
                             "call double D3DKMTQueryStatistics = crash\n"
                             "call double D3DKMTCloseAdapter = crash\n"
                             "at 7s\ncall SetupDiGetDevicePropertyW 0 32 = 9\n"
                             "at 8s\ncall double D3DKMTCloseAdapter = nothing\n"))
        return;
    for (unsigned i = 0; i < 2; i++) {
        machine.needs_discovery = true;
        CHECK_INT(next(&machine, i), 0);
        CHECK_NEAR(value(&machine, GTEL_M_GPU_AWAKE, NULL), 0, 0);
        CHECK_INT(machine.batch.n, 1);
    }
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, -1);
    CHECK_INT(next(&machine, 1), 0);
    check_whole(&machine, 5e-7 + 1.5);
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 2), 0);
    CHECK_NEAR(value(&machine, GTEL_M_GPU_AWAKE, NULL), 0, 0);
    CHECK_INT(machine.batch.n, 1);
    /* A state that is not known is none in which it may be asked. */
    CHECK_INT(next(&machine, 2), -ENODEV);
    CHECK_INT(machine.batch.failed[0], 1);
    CHECK_NEAR(value(&machine, GTEL_M_GPU_AWAKE, NULL), -1, 0);
    CHECK_INT(next(&machine, 1), 0);
    CHECK_NEAR(value(&machine, GTEL_M_GPU_AWAKE, NULL), -1, 0);
    finish(&machine);
}

#define ALL "QueryStatistics 0 0 0 = "
#define NODE "QueryStatistics 0 5 0 = "
#define CARD "QueryAdapterInfo 0 62 = 40:0 8:0 "
#define LIMITS "QueryAdapterInfo 0 63 = 4:0 4:0 8:0 8:0 4:0 4:0 "
/* What may stand in an answer, and which value is absent then. */
static const struct {
    const char *label;
    const char *line;
    enum gtel_metric metric;
    const char *dim;
    double want;
} answers[] = {
    {"no dedicated memory", "QueryAdapterInfo 0 3 = 8:0 8:0 8:16000", GTEL_M_MEMORY_USED, "vram",
     -1},
    {"a size that was not written", "QueryAdapterInfo 0 3 = untouched", GTEL_M_MEMORY_USED, "vram",
     -1},
    {"the registry's instead", "QueryAdapterInfo 0 3 = untouched", GTEL_M_MEMORY_TOTAL, "vram",
     8000},
    {"a part of the host's memory is none of the GPU's", "QueryAdapterInfo 0 3 = 8:0 8:0 8:16000",
     GTEL_M_MEMORY_TOTAL, "vram", -1},
    {"more in use than there is", "QueryStatistics 0 3 0 = 8:0 8:0 8:8001 16:0 4:0 60:0 8:0",
     GTEL_M_MEMORY_USED, "vram", -1},
    {"all of it in use", "QueryStatistics 0 3 0 = 8:0 8:0 8:8000 16:0 4:0 60:0 8:0",
     GTEL_M_MEMORY_USED, "vram", 8000},
    {"a segment that says nothing", "QueryStatistics 0 3 1 = untouched", GTEL_M_MEMORY_USED, "vram",
     -1},
    {"half an answer of a segment", "QueryStatistics 0 3 1 = 8:0 8:0 8:1000", GTEL_M_MEMORY_USED,
     "shared", -1},
    {"a segment of the host by its properties alone",
     "QueryStatistics 0 3 1 = 8:0 8:0 8:1000 16:0 4:0 60:0 8:1", GTEL_M_MEMORY_USED, "shared",
     1000},
    {"properties that an older kernel does not write",
     "QueryStatistics 0 3 1 = 8:0 8:0 8:1000 16:0 4:0", GTEL_M_MEMORY_USED, "vram", 3000},
    {"33 segments", ALL "4:33 4:2 8:0 4:7", GTEL_M_MEMORY_USED, "vram", -1},
    {"4097 segments", ALL "4:4097 4:2 8:0 4:7", GTEL_M_ENGINE_CAPACITY, "render", -1},
    {"4096 segments", ALL "4:4096 4:2 8:0 4:7", GTEL_M_ENGINE_CAPACITY, "render", 1},
    {"4097 nodes", ALL "4:2 4:4097 8:0 4:7", GTEL_M_ENGINE_CAPACITY, "render", -1},
    {"4096 nodes, of which 64 are read", ALL "4:2 4:4096 8:0 4:7", GTEL_M_ENGINE_CAPACITY, "render",
     1},
    {"2^31 nodes", ALL "4:2 4:2147483648 8:0 4:7", GTEL_M_ENGINE_CAPACITY, "render", -1},
    {"no nodes", ALL "4:2 4:0 8:0 4:7", GTEL_M_MEMORY_USED, "vram", -1},
    {"timeouts that are not written", ALL "4:2 4:2", GTEL_M_GPU_RESETS, NULL, -1},
    {"a running time that is not written", NODE "untouched", GTEL_M_ENGINE_BUSY_TIME, "render", -1},
    {"a node that fails", NODE "!0xc0000001", GTEL_M_ENGINE_BUSY_TIME, "render", -1},
    {"one of two alike that has never moved", "QueryAdapterInfo 0 25 1 = 1 3D 1",
     GTEL_M_ENGINE_BUSY_TIME, "render", -1},
    {"a node whose class is not known", "QueryAdapterInfo 0 25 0 = untouched",
     GTEL_M_ENGINE_CAPACITY, "render", -1},
    {"nor is it another", "QueryAdapterInfo 0 25 0 = untouched", GTEL_M_ENGINE_CAPACITY, "other",
     -1},
    {"engines without a name", "QueryAdapterInfo 0 25 0 = 1", GTEL_M_ENGINE_BUSY_TIME, "render",
     1.0000005},
    {"the clock of the first that has one",
     "QueryAdapterInfo 0 25 1 = 1 3D\ncall D3DKMTQueryStatistics 0 5 0 = 8:5\n"
     "call D3DKMTQueryStatistics 0 5 1 = 8:5 536:0 8:0 8:1000 8:0 8:0 4:0",
     GTEL_M_FREQUENCY_ACTUAL, "graphics", 1000},
    {"no clock of the copy engine",
     NODE "8:5\n"
          "call D3DKMTQueryStatistics 0 5 1 = 8:5 536:0 8:0 8:1000 8:0 8:0 4:0",
     GTEL_M_FREQUENCY_ACTUAL, "graphics", -1},
    {"a kernel without clocks", NODE "8:5+5000000", GTEL_M_FREQUENCY_ACTUAL, "graphics", -1},
    {"and its running time", NODE "8:5+5000000", GTEL_M_ENGINE_BUSY_TIME, "render", 1.0000005},
    {"a clock of 0", NODE "8:5+5000000 536:0 8:0 8:0 8:0 8:0 4:0", GTEL_M_FREQUENCY_ACTUAL,
     "graphics", -1},
    {"a clock beyond reason", NODE "8:5 536:0 8:0 8:20000000001 8:0 8:0 4:0",
     GTEL_M_FREQUENCY_ACTUAL, "graphics", -1},
    {"the highest clock", NODE "8:5 536:0 8:0 8:20000000000 8:0 8:0 4:0", GTEL_M_FREQUENCY_ACTUAL,
     "graphics", 2e10},
    {"the lowest voltage", NODE "8:5 536:0 8:0 8:1000 8:0 8:0 4:1", GTEL_M_VOLTAGE, "graphics",
     1e-3},
    {"the highest voltage", NODE "8:5 536:0 8:0 8:1000 8:0 8:0 4:5000", GTEL_M_VOLTAGE, "graphics",
     5},
    {"a voltage beyond reason", NODE "8:5 536:0 8:0 8:1000 8:0 8:0 4:5001", GTEL_M_VOLTAGE,
     "graphics", -1},
    {"a highest clock below the clock", NODE "8:5 536:0 8:0 8:1000 8:999 8:0 4:0",
     GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", -1},
    {"a highest clock that is the clock", NODE "8:5 536:0 8:0 8:1000 8:1000 8:0 4:0",
     GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", 1000},
    {"the highest of highest clocks", NODE "8:5 536:0 8:0 8:1000 8:20000000000 8:0 4:0",
     GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", 2e10},
    {"a highest clock beyond reason", NODE "8:5 536:0 8:0 8:1000 8:20000000001 8:0 4:0",
     GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", -1},
    {"an engine of a later Windows", "QueryAdapterInfo 0 25 0 = 10 Matrix", GTEL_M_ENGINE_CAPACITY,
     "other", 1},
    {"no temperature", CARD "4:900 4:0 4:0 4:0", GTEL_M_TEMPERATURE, "gpu", -1},
    {"the highest that is one", CARD "4:900 4:0 4:2000 4:0", GTEL_M_TEMPERATURE, "gpu", 200},
    {"beyond it", CARD "4:900 4:0 4:2001 4:0", GTEL_M_TEMPERATURE, "gpu", -1},
    {"the lowest", CARD "4:900 4:0 4:1 4:0", GTEL_M_TEMPERATURE, "gpu", 0.1},
    {"the highest limit", LIMITS "4:2000 4:0", GTEL_M_TEMPERATURE_CRITICAL, "gpu", 200},
    {"a limit beyond it", LIMITS "4:2001 4:0", GTEL_M_TEMPERATURE_CRITICAL, "gpu", -1},
    {"a limit of 0", LIMITS "4:0 4:0", GTEL_M_TEMPERATURE_CRITICAL, "gpu", -1},
    {"below zero degrees", CARD "4:900 4:0 4:0xffffffce 4:0", GTEL_M_TEMPERATURE, "gpu", -1},
    {"no fan", CARD "4:0 4:0 4:455 4:0", GTEL_M_FAN_RPM, "0", -1},
    {"one turn a minute", CARD "4:1 4:0 4:455 4:0", GTEL_M_FAN_RPM, "0", 1},
    {"the fastest fan", CARD "4:100000 4:0 4:455 4:0", GTEL_M_FAN_RPM, "0", 100000},
    {"a fan beyond it", CARD "4:100001 4:0 4:455 4:0", GTEL_M_FAN_RPM, "0", -1},
    {"power is no watts", CARD "4:0 4:550 4:455 4:0", GTEL_M_POWER, NULL, -1},
    {"no limits", "QueryAdapterInfo 0 63 = !0xc00000bb", GTEL_M_TEMPERATURE_CRITICAL, "gpu", -1},
    {"an adapter type that is not written", "QueryAdapterInfo 0 15 = untouched", GTEL_M_MEMORY_USED,
     "vram", 2000},
    {"statistics of nothing", ALL "untouched", GTEL_M_GPU_RESETS, NULL, -1},
};

static void test_answers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(answers); i++) {
        struct machine machine;
        char text[8192];
        test_label = answers[i].label;
        (void)snprintf(text, sizeof(text), GPU "call D3DKMT%s\n", answers[i].line);
        if (!begin(&machine, text))
            return;
        (void)machine_gather(&machine);
        (void)next(&machine, 2);
        CHECK_NEAR(value(&machine, answers[i].metric, answers[i].dim), answers[i].want, 1e-9);
        CHECK_NEAR(value(&machine, GTEL_M_GPU_AWAKE, NULL), 1, 0);
        finish(&machine);
    }
    test_label = "";
}

/* Memory has up to 32 parts, of which each counts. */
static void test_many_segments(void)
{
    struct machine machine;
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text),
                                GPU "call D3DKMTQueryStatistics 0 0 0 = 4:32 4:2 8:0 4:7\n");
    for (unsigned i = 2; i < 32; i++)
        n +=
            (size_t)snprintf(text + n, sizeof(text) - n,
                             "call D3DKMTQueryStatistics 0 3 %u = 8:0 8:0 8:%u 16:0 4:0 60:0 8:0\n",
                             i, i == 31 ? 500 : 10);
    if (!begin(&machine, text))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_NEAR(value(&machine, GTEL_M_MEMORY_USED, "vram"), 2000 + 29 * 10 + 500, 0);
    finish(&machine);
}

/* What a call's status means for the doctor: an error, or that the call is not supported. */
static void test_statuses(void)
{
    static const struct {
        const char *status;
        int error;        /* of opening the adapter */
        bool is_reported; /* of the statistics, too, which are asked again then */
    } statuses[] = {
        {"0xc0000002", EOPNOTSUPP, false}, {"0xc000000d", EOPNOTSUPP, false},
        {"0xc000007a", EOPNOTSUPP, false}, {"0xc00000bb", EOPNOTSUPP, false},
        {"0xc0000022", EACCES, true},      {"0xc00002b6", ENODEV, true},
        {"0xc0000001", EIO, true},
    };
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(statuses); i++) {
        static const char silent[] =
            "D3DKMTQueryStatistics: 0: it succeeds and says nothing, or is not supported: ";
        size_t k = i / 2;
        bool is_open = i % 2 == 1;
        struct gtel_findings findings = {0};
        struct machine machine;
        char text[8192];
        char want[128];
        test_label = statuses[k].status;
        (void)snprintf(text, sizeof(text), GPU "call %s = !%s\n",
                       is_open ? "D3DKMTQueryStatistics 0 0 0"
                               : "D3DKMTOpenAdapterFromDeviceName 0",
                       statuses[k].status);
        (void)snprintf(want, sizeof(want),
                       "D3DKMTOpenAdapterFromDeviceName: %d: : ", statuses[k].error);
        const char *const says[] = {is_open && !statuses[k].is_reported ? silent : want};
        if (!begin(&machine, text))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, says, 1);
        gtel_findings_done(&findings);
        finish(&machine);
    }
    test_label = "";
}

#define DRIVER_OF "SetupDiGetDevicePropertyW 0 3 = "
#define MODEL "D3DKMTQueryAdapterInfo 0 13 = "
/* What versions are written as, and of whom: NVIDIA's driver has a number of its own. */
static void test_versions(void)
{
    static const struct {
        const char *vendor;
        const char *line;
        enum gtel_label label;
        const char *want;
    } versions[] = {
        {"8086", DRIVER_OF "32.0.15.6636", GTEL_LABEL_DRIVER_VERSION, "32.0.15.6636"},
        {"10DE", DRIVER_OF "32.0.15.6636", GTEL_LABEL_DRIVER_VERSION, "566.36"},
        {"10DE", DRIVER_OF "32.0.15.9999", GTEL_LABEL_DRIVER_VERSION, "599.99"},
        {"10DE", DRIVER_OF "32.0.15.10000", GTEL_LABEL_DRIVER_VERSION, "32.0.15.10000"},
        {"10DE", DRIVER_OF "32.0.65535.1", GTEL_LABEL_DRIVER_VERSION, "500.01"},
        {"10DE", DRIVER_OF "32.0.65536.1", GTEL_LABEL_DRIVER_VERSION, "32.0.65536.1"},
        {"10DE", DRIVER_OF "32.0.15", GTEL_LABEL_DRIVER_VERSION, "32.0.15"},
        {"10DE", DRIVER_OF "32.0.15.x", GTEL_LABEL_DRIVER_VERSION, "32.0.15.x"},
        {"10DE", DRIVER_OF "32.0.15.6636.1", GTEL_LABEL_DRIVER_VERSION, "32.0.15.6636.1"},
        {"8086", MODEL "4:1000", GTEL_LABEL_MODES, "wddm=1.0"},
        {"8086", MODEL "4:999", GTEL_LABEL_MODES, ""},
        {"8086", MODEL "untouched", GTEL_LABEL_MODES, ""},
        {"10DE", MODEL "4:3200", GTEL_LABEL_MODES, ""},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(versions); i++) {
        struct machine machine;
        char text[8192];
        (void)snprintf(text, sizeof(text),
                       GPU "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_%s&DEV_E20B\\6\n"
                           "call %s\n",
                       versions[i].vendor, versions[i].line);
        test_label = versions[i].line;
        if (!begin(&machine, text))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        const struct gtel_device *device = gtel_registry_find(&machine.registry, gtel_str_of(key));
        if (CHECK(device))
            CHECK_STR(gtel_str_of(device->label[versions[i].label]), versions[i].want);
        finish(&machine);
    }
    test_label = "";
}

/* Which devices are GPUs of this host, by what the adapter's type says. */
static void test_types(void)
{
    static const struct {
        const char *type;
        bool is_gpu;
    } types[] = {{"0x1", true},   {"0x3", true},   {"0x800", true}, {"0x2033", true},
                 {"0x0", false},  {"0x2", false},  {"0x5", false},  {"0x41", false},
                 {"0x81", false}, {"0x803", true}, {"0x805", false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(types); i++) {
        struct machine machine;
        char text[8192];
        test_label = types[i].type;
        (void)snprintf(text, sizeof(text), GPU "call D3DKMTQueryAdapterInfo 0 15 = 4:%s\n",
                       types[i].type);
        if (!begin(&machine, text))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.n > 0, types[i].is_gpu);
        CHECK_INT(machine.registry.n, types[i].is_gpu ? 1 : 0);
        finish(&machine);
    }
    test_label = "";
}

/* Of a sleeping one that is found out to be none once it is awake. */
static void test_late_type(void)
{
    struct machine machine;
    if (!begin(&machine, GPU "call D3DKMTQueryAdapterInfo 0 15 = 4:0x83\n"
                             "call SetupDiGetDevicePropertyW 0 32 = 4\n"
                             "at 1s\ncall SetupDiGetDevicePropertyW 0 32 = 1\n"))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.registry.n, 1);
    CHECK_INT(next(&machine, 1), 0);
    CHECK(!gtel_registry_find(&machine.registry, gtel_str_of(key))->is_present);
    machine.needs_discovery = true;
    CHECK_INT(next(&machine, 1), 0);
    CHECK_INT(machine.batch.n, 0);
    finish(&machine);
}

/* Addresses: beyond eight bits of the bus stands the segment. */
static void test_places(void)
{
    static const struct {
        const char *bus;
        const char *place;
        const char *want; /* NULL: none */
    } places[] = {{"255", "0x1f0007", "0000:ff:1f.7"},
                  {"256", "0", "0001:00:00.0"},
                  {"0xffffff", "0x10000", "ffff:ff:01.0"},
                  {"0x1000000", "0", NULL},
                  {"3", "0x200000", NULL},
                  {"3", "8", NULL}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++) {
        struct machine machine;
        char text[8192];
        (void)snprintf(text, sizeof(text),
                       GPU "call SetupDiGetDevicePropertyW 0 23 = %s\n"
                           "call SetupDiGetDevicePropertyW 0 30 = %s\n",
                       places[i].bus, places[i].place);
        if (!begin(&machine, text))
            return;
        (void)machine_gather(&machine);
        CHECK_INT(machine.registry.n, places[i].want ? 1 : 0);
        if (places[i].want && machine.registry.n > 0)
            CHECK(strcmp(machine.registry.device[0]->key, places[i].want) == 0);
        finish(&machine);
    }
}

/* What Windows versions lack costs what comes from it, and no more; the doctor names it. */
static void test_missing(void)
{
    static const struct {
        const char *name;
        double used;
        size_t findings;
    } calls[] = {{"D3DKMTOpenAdapterFromDeviceName", -1, 1},
                 {"D3DKMTCloseAdapter", -1, 2},
                 {"D3DKMTQueryAdapterInfo", -1, 1},
                 {"D3DKMTQueryStatistics", -1, 2},
                 {"RegGetValueW", 2000, 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(calls); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        char text[8192];
        test_label = calls[i].name;
        (void)snprintf(text, sizeof(text), GPU "call %s = !nosymbol\n", calls[i].name);
        if (!begin(&machine, text))
            return;
        (void)machine_gather(&machine);
        (void)next(&machine, 1);
        CHECK_NEAR(value(&machine, GTEL_M_MEMORY_TOTAL, "vram"), 8000, 0);
        CHECK_NEAR(value(&machine, GTEL_M_MEMORY_USED, "vram"), calls[i].used, 0);
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        if (calls[i].used < 0 && CHECK(findings.n > 0)) {
            CHECK_STR(findings.finding[0].what, calls[i].name);
            CHECK(!findings.finding[0].device && findings.finding[0].error == 0);
        }
        CHECK_INT(findings.n, calls[i].findings);
        gtel_findings_done(&findings);
        finish(&machine);
    }
    test_label = "";
}

/*
 * One call fails N times from its M-th on: nothing that is reported is wrong, and all is back in
 * the end, at the latest after GPUs were searched for again, as they are from time to time.
 */
static void live(const char *name, unsigned at, unsigned times)
{
    struct machine machine;
    char text[8192];
    char label[100];
    enum { GATHERS = 36 }; /* the last fault is behind us then */
    (void)snprintf(label, sizeof(label), "%s fails from %u on, %u times", name, at, times);
    test_label = label;
    (void)snprintf(text, sizeof(text), GPU "call double %s = fail 0xc0000001 %u %u\n", name, at,
                   times);
    if (!begin(&machine, text))
        return;
    for (unsigned i = 0; i < GATHERS; i++) {
        machine.needs_discovery = machine.needs_discovery || (i % 4 == 3 && i < 24) || i == 30;
        (void)next(&machine, i > 0);
        double render = value(&machine, GTEL_M_ENGINE_BUSY_TIME, "render");
        double total = value(&machine, GTEL_M_MEMORY_TOTAL, "vram");
        double used = value(&machine, GTEL_M_MEMORY_USED, "vram");
        CHECK(render < 0 || (i > 0 && render > i * 0.5 && render < i * 0.5 + 1e-6));
        CHECK(total < 0 || (total > 7999 && total < 8001));
        CHECK(used < 0 || (used > 1999 && used < 2001));
        CHECK(value(&machine, GTEL_M_ENGINE_BUSY_TIME, "copy") < 0);
    }
    check_whole(&machine, (GATHERS - 1) * 0.5 + 5e-7);
    finish(&machine);
    test_label = "";
}

static void test_walk(void)
{
    static const char *const names[] = {"SetupDiGetClassDevsW",
                                        "SetupDiEnumDeviceInfo",
                                        "SetupDiGetDeviceInstanceIdW",
                                        "SetupDiGetDeviceRegistryPropertyW",
                                        "SetupDiGetDevicePropertyW",
                                        "SetupDiEnumDeviceInterfaces",
                                        "SetupDiGetDeviceInterfaceDetailW",
                                        "D3DKMTOpenAdapterFromDeviceName",
                                        "D3DKMTQueryAdapterInfo",
                                        "D3DKMTQueryStatistics",
                                        "RegGetValueW"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++)
        for (unsigned at = 1; at <= (names[i][0] == 'D' ? 24 : 12); at++) {
            live(names[i], at, 1);
            live(names[i], at, 3);
        }
}

/* Opening the libraries, and asking whether they are there. */
static void test_walk_env(void)
{
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -EMFILE};
    for (size_t e = 0; e < GTEL_ARRAY_LEN(errors); e++)
        for (uint64_t at = 1; at <= 8; at++) {
            struct machine machine;
            if (!begin(&machine, GPU))
                return;
            env_fault_arm(machine.fault, at, errors[e]);
            for (unsigned i = 0; i < 4; i++) {
                if (machine_gather(&machine) < 0)
                    machine_close(&machine);
                machine_step(&machine, 1000);
            }
            CHECK_NEAR(value(&machine, GTEL_M_MEMORY_TOTAL, "vram"), 8000, 0);
            finish(&machine);
        }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        test_walk();
        test_walk_env();
        return test_result();
    }
    test_well();
    test_instances();
    test_unlike();
    test_back();
    test_failing_question();
    test_failing_node();
    test_one_node();
    test_nameless();
    test_swap();
    test_restart_of_driver();
    test_removal();
    test_sleep();
    test_answers();
    test_many_segments();
    test_statuses();
    test_versions();
    test_types();
    test_late_type();
    test_places();
    test_missing();
    return test_result();
}
