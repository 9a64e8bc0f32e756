/* SPDX-License-Identifier: MIT */
/* The NVML source on recorded machines. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

#include <errno.h>

/* Activity needs two gathers, and the others come each minute. */
static bool is_rare(unsigned metric)
{
    return metric == GTEL_M_ACTIVITY || metric == GTEL_M_ENERGY || metric == GTEL_M_THROTTLE_TIME ||
           metric == GTEL_M_TEMPERATURE_MARGIN;
}

static size_t readings_of(const struct machine *m, const char *gpu)
{
    size_t n = 0;
    for (size_t i = 0; i < m->group.batch.n; i++)
        n += strcmp(m->group.batch.reading[i].device->key, gpu) == 0 &&
             !is_rare(m->group.batch.reading[i].metric);
    return n;
}

static const struct {
    enum gtel_metric metric;
    const char *dim;
    double want;
} values[] = {
    {GTEL_M_GPU_AWAKE, NULL, 1},
    {GTEL_M_GPU_BUSY, NULL, 0.41},
    {GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0.07},
    {GTEL_M_MEMORY_USED, "vram", 250},
    {GTEL_M_MEMORY_TOTAL, "vram", 1000},
    {GTEL_M_MEMORY_RESERVED, "vram", 100},
    {GTEL_M_TEMPERATURE, "gpu", 52},
    {GTEL_M_TEMPERATURE, "memory", -1},
    {GTEL_M_TEMPERATURE_EMERGENCY_MARGIN, "gpu", -8},
    {GTEL_M_POWER, "gpu", 625.24},
    {GTEL_M_POWER_LIMIT, "gpu", 700},
    {GTEL_M_FREQUENCY_ACTUAL, "graphics", 1965e6},
    {GTEL_M_FREQUENCY_ACTUAL, "sm", 1980e6},
    {GTEL_M_FREQUENCY_ACTUAL, "video", -1},
    {GTEL_M_THROTTLE_ACTIVE, "power_cap", 1},
    {GTEL_M_THROTTLE_ACTIVE, "sw_thermal", 1},
    {GTEL_M_THROTTLE_ACTIVE, "idle", -1},
    {GTEL_M_THROTTLE_TIME, "power_cap", 5459.682741},
    {GTEL_M_FAN, "0", 0.30},
    {GTEL_M_FAN, "1", 0.35},
    {GTEL_M_ENERGY, "gpu", -1},
};

static void test_values(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    for (int round = 0; round < 3; round++) {
        gather(&m, round ? 1 : 0);
        for (size_t i = 0; i < GTEL_ARRAY_LEN(values); i++) {
            test_label = gtel_metric_row(values[i].metric)->field.p;
            CHECK_NEAR(value(&m, values[i].metric, values[i].dim), values[i].want, 1e-9);
        }
        test_label = "";
    }
    const struct gtel_reading *ecc =
        find(&m, "0000:19:00.0", GTEL_M_ERROR_COUNT, "ecc_volatile", "uncorrected");
    CHECK(ecc && ecc->value.u64 == 5);
    const struct gtel_device *gpu = gtel_registry_find(&m.group.registry, GTEL_STR("0000:19:00.0"));
    if (CHECK(gpu != NULL)) {
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_GPU]), "0000:19:00.0");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_MODEL]), "NVIDIA H200");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_CARD]), "nvidia3");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_PCI_ID]), "10de:2335");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_UUID]), "GPU-a");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_DRIVER_VERSION]), "590.48.01");
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_FIRMWARE]), "96.00");
    }
    CHECK(gtel_registry_find(&m.group.registry, GTEL_STR("0001:3b:00.0")) != NULL);
    CHECK_INT(m.group.batch.failed[0], 0);
    CHECK_INT(spy.logs, 0);
    finish(&m);
}

#define GPM                                                                                        \
    "call nvmlGpmQueryDeviceSupport 0 = 1\n"                                                       \
    "call nvmlGpmMetricsGet 0 2 = 87.5\n"                                                          \
    "call nvmlGpmMetricsGet 0 10 = 0.25\n"

#define NO_POWER                                                                                   \
    "call nvmlDeviceGetFieldValues 0 186 0 = !3\n"                                                 \
    "call nvmlDeviceGetFieldValues 0 185 0 = !3\ncall nvmlDeviceGetPowerUsage 0 = !3\n"

/* What a machine lacks, or has, and what is read then. */
static const struct {
    const char *text;
    enum gtel_metric metric;
    const char *dim;
    double want;
} fallbacks[] = {
    {"call nvmlDeviceGetMemoryInfo_v2 = !nosymbol\n", GTEL_M_MEMORY_USED, "vram", 350},
    {"call nvmlDeviceGetMemoryInfo_v2 = !nosymbol\n", GTEL_M_MEMORY_RESERVED, "vram", -1},
    {"call nvmlDeviceGetMemoryInfo_v2 0 = !999\n", GTEL_M_MEMORY_USED, "vram", -1},
    {"file dev/dxg\ncall nvmlDeviceGetMemoryInfo_v2 0 = !999\n", GTEL_M_MEMORY_USED, "vram", 350},
    {"call nvmlDeviceGetMemoryInfo_v2 0 = !25\n", GTEL_M_MEMORY_USED, "vram", 350},
    {"call nvmlDeviceGetMemoryInfo_v2 0 = !10\n", GTEL_M_MEMORY_USED, "vram", -1},
    {"call nvmlDeviceGetMemoryInfo_v2 0 = !3\ncall nvmlDeviceGetMemoryInfo 0 = 0 0 0\n",
     GTEL_M_MEMORY_TOTAL, "vram", -1},
    {"call nvmlDeviceGetMemoryInfo_v2 0 = !4\ncall nvmlDeviceGetMemoryInfo 0 = !4\n",
     GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0.07},
    {"call nvmlDeviceGetTemperatureV = !nosymbol\n", GTEL_M_TEMPERATURE, "gpu", 53},
    {"call nvmlDeviceGetTemperatureV 0 = -5\n", GTEL_M_TEMPERATURE, "gpu", -5},
    {"call nvmlDeviceGetCurrentClocksEventReasons 0 = 0x113\n", GTEL_M_THROTTLE_ACTIVE, "power_cap",
     0},
    {"call nvmlDeviceGetFieldValues 0 186 0 = !3\n", GTEL_M_POWER, "gpu", 627.32},
    {"call nvmlDeviceGetFieldValues 0 186 0 = !3\ncall nvmlDeviceGetFieldValues 0 185 0 = !2\n",
     GTEL_M_POWER, "gpu", 600},
    {"call nvmlDeviceGetFieldValues = !nosymbol\n", GTEL_M_POWER, "gpu", 600},
    {"call nvmlDeviceGetFieldValues 0 = !3\n", GTEL_M_POWER, "gpu", 600},
    {"call nvmlDeviceGetFieldValues 0 186 0 = uint 4294967295\n", GTEL_M_POWER, "gpu", -1},
    {"call nvmlDeviceGetFieldValues 0 186 0 = double 12500.5\n", GTEL_M_POWER, "gpu", 12.5005},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 97690\n", GTEL_M_POWER, "memory", 97.69},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 900000\n", GTEL_M_POWER, "memory", -1},
    {"call nvmlDeviceGetFieldValues 0 74 0 = !3\ncall nvmlDeviceGetViolationStatus 0 0 = 9 "
     "7000000000\n",
     GTEL_M_THROTTLE_TIME, "power_cap", 7},
    {"call nvmlDeviceGetFanSpeed_v2 = !nosymbol\n", GTEL_M_FAN, "0", 0.31},
    {"call nvmlDeviceGetFanSpeed_v2 0 2 = !2\n", GTEL_M_FAN, "1", 0.35},
    {"call nvmlDeviceGetFanSpeed_v2 0 1 = !10\n", GTEL_M_FAN, "0", -1},
    {"call nvmlDeviceGetFanSpeedRPM 0 0 = 900\ncall nvmlDeviceGetFanSpeedRPM 0 1 = 1200\n",
     GTEL_M_FAN_RPM, "1", 1200},
    {"call nvmlDeviceGetPerformanceState 0 = 32\n", GTEL_M_GPU_PERFORMANCE_STATE, NULL, -1},
    {"call nvmlDeviceGetPerformanceState 0 = 8\n", GTEL_M_GPU_PERFORMANCE_STATE, NULL, 8},
    {"call nvmlDeviceGetPcieReplayCounter 0 = 4\n", GTEL_M_GPU_PCIE_REPLAYS, NULL, 4},
    {"call nvmlDeviceGetFieldValues 0 94 0 = uint 6\ncall nvmlDeviceGetPcieReplayCounter 0 = 4\n",
     GTEL_M_GPU_PCIE_REPLAYS, NULL, 6},
    {"call nvmlDeviceGetTotalEnergyConsumption 0 = 18446744073709551615\n", GTEL_M_ENERGY, "gpu",
     -1},
    {"call nvmlDeviceGetTotalEnergyConsumption 0 = 12345678\n", GTEL_M_ENERGY, "gpu", 12345.678},
    {"call nvmlDeviceGetTemperatureThreshold 0 1 = 96\n", GTEL_M_TEMPERATURE_CRITICAL, "gpu", 96},
    {"call nvmlDeviceGetFieldValues 0 196 0 = int 0\n", GTEL_M_TEMPERATURE_LIMIT_MARGIN, "gpu", 0},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 97690\n", GTEL_M_POWER, "memory", 97.69},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 625240\n", GTEL_M_POWER, "memory", -1},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 9\n" NO_POWER, GTEL_M_POWER, "memory", -1},
    {"call nvmlDeviceGetFieldValues 0 185 2 = uint 9\nat 1s\n"
     "call nvmlDeviceGetFieldValues 0 186 0 = !10\n",
     GTEL_M_POWER, "memory", -1},
};

static void test_fallbacks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(fallbacks); i++) {
        struct machine m;
        test_label = fallbacks[i].text;
        if (!begin(&m, fallbacks[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, fallbacks[i].metric, fallbacks[i].dim), fallbacks[i].want, 1e-9);
        finish(&m);
    }
    test_label = "";
}

#define NO_MEMORY                                                                                  \
    "call nvmlDeviceGetMemoryInfo_v2 0 = !3\ncall nvmlDeviceGetMemoryInfo 0 = 0 0 0\n"             \
    "call nvmlDeviceGetUtilizationRates 0 = 96 0\n"

#define LINK(name) "call nvmlDeviceGet" name " 0 = 1\ncall nvmlDeviceGet" name " 1 = 1\n"

/* Part of a processor: no controller of its own, and no link, which read as 0 and 1. */
static void test_no_memory(void)
{
    static const enum gtel_metric link[] = {GTEL_M_GPU_PCIE_GEN, GTEL_M_GPU_PCIE_WIDTH,
                                            GTEL_M_GPU_PCIE_GEN_MAX, GTEL_M_GPU_PCIE_WIDTH_MAX};
    struct machine m;
    if (!begin(&m, NO_MEMORY LINK("CurrPcieLinkGeneration") LINK("CurrPcieLinkWidth")
                       LINK("MaxPcieLinkGeneration") LINK("MaxPcieLinkWidth")))
        return;
    for (unsigned round = 0; round < 2; round++) {
        gather(&m, round);
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.96, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL), -1, 0);
        CHECK(find(&m, "0001:3b:00.0", GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, NULL));
        for (size_t i = 0; i < GTEL_ARRAY_LEN(link); i++) {
            CHECK_NEAR(value(&m, link[i], NULL), -1, 0);
            CHECK(find(&m, "0001:3b:00.0", link[i], NULL, NULL));
        }
    }
    finish(&m);
}

/* Both forms of memory answer, but mean different things: never one after the other. */
static void test_memory_is_not_mixed(void)
{
    struct machine m;
    if (!begin(&m, "at 1s\ncall nvmlDeviceGetMemoryInfo_v2 0 = !999\n"
                   "at 2s\ncall nvmlDeviceGetMemoryInfo_v2 0 = 1000 100 600 300\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "vram"), 250, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "vram"), -1, 0);
    CHECK_INT(m.group.batch.failed[0], 1);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "vram"), 300, 0);
    finish(&m);
}

/* How often a call is made in five gathers when it answers a code each time. */
static const struct {
    int code;
    unsigned calls;
    unsigned failed; /* in the last gather */
} policies[] = {
    {2, 1, 0},  {3, 1, 0},  {4, 1, 0},  {5, 5, 1},   {6, 5, 0},     {7, 5, 1},  {8, 5, 1},
    {10, 5, 1}, {11, 5, 1}, {12, 5, 1}, {13, 1, 0},  {14, 5, 1},    {17, 5, 1}, {19, 5, 1},
    {20, 5, 1}, {21, 5, 0}, {22, 5, 1}, {23, 5, 1},  {24, 5, 1},    {25, 1, 0}, {26, 1, 0},
    {27, 5, 0}, {29, 5, 1}, {30, 5, 1}, {999, 5, 1}, {12345, 5, 1},
};

static void test_policies(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(policies); i++) {
        struct machine m;
        char text[128];
        (void)snprintf(text, sizeof(text), "call nvmlDeviceGetTotalEnergyConsumption 0 = !%d\n",
                       policies[i].code);
        test_label = text;
        if (!begin(&m, text))
            continue;
        spy.count_name = "nvmlDeviceGetTotalEnergyConsumption";
        for (int k = 0; k < 5; k++)
            gather(&m, 1);
        CHECK_INT(spy.counted, policies[i].calls + 1); /* and once for the other GPU */
        CHECK_INT(m.group.batch.failed[0], policies[i].failed);
        CHECK_INT(m.group.batch.failed[1], 0);
        CHECK_INT(spy.logs, policies[i].failed || policies[i].code == 4 ? 1 : 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* MIG mode comes and goes: what has worked once is asked again, once a minute. */
static void test_comes_back(void)
{
    struct machine m;
    if (!begin(&m, "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !3\n"
                   "at 10s\ncall nvmlDeviceGetUtilizationRates 0 = 9 9\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), -1, 0);
    gather(&m, 58);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), -1, 0);
    gather(&m, 3);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.09, 1e-9);
    finish(&m);
}

/* Limits are asked once a minute and shown each time. */
static void test_slow(void)
{
    struct machine m;
    if (!begin(&m, "at 30s\ncall nvmlDeviceGetEnforcedPowerLimit 0 = 500000\n"))
        return;
    spy.count_name = "nvmlDeviceGetEnforcedPowerLimit";
    for (int k = 0; k <= 7; k++) {
        gather(&m, k ? 10 : 0);
        CHECK_NEAR(value(&m, GTEL_M_POWER_LIMIT, "gpu"), k < 6 ? 700 : 500, 1e-9);
    }
    CHECK_INT(spy.counted, 4);
    finish(&m);
}

/* Expensive counters are read three times in the beginning, then each minute, and never repeated.
 */
static void test_minute(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetTotalEnergyConsumption 0 = 5000\n"))
        return;
    spy.count_name = "nvmlDeviceGetTotalEnergyConsumption";
    for (int k = 0; k <= 20; k++) {
        gather(&m, k ? 10 : 0);
        bool is_read = k <= 2 || k == 8 || k == 14 || k == 20;
        CHECK_NEAR(value(&m, GTEL_M_ENERGY, "gpu"), is_read ? 5 : -1, 1e-9);
    }
    CHECK_INT(spy.counted, 7); /* and once for the other GPU */
    finish(&m);
}

static void test_lost(void)
{
    struct machine m;
    if (!begin(&m, "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
                   "call nvmlDeviceGetTemperature 0 0 = !15\n"
                   "call nvmlDeviceGetHandleByIndex_v2 0 = !15\n"
                   "at 60s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n"
                   "call nvmlDeviceGetTemperature 0 0 = 50\n"
                   "call nvmlDeviceGetHandleByIndex_v2 0 = ok\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    size_t full = readings_of(&m, "0000:19:00.0");
    struct gtel_device *gpu = gtel_registry_find(&m.group.registry, GTEL_STR("0000:19:00.0"));
    if (!CHECK(gpu != NULL))
        return;
    CHECK(gpu->is_present);
    for (int k = 0; k < 5; k++) {
        gather(&m, 1);
        CHECK(!gpu->is_present);
        CHECK_INT(readings_of(&m, "0000:19:00.0"), 0);
        CHECK(readings_of(&m, "0001:3b:00.0") > 5);
    }
    CHECK_INT(spy.logs, 1);
    gather(&m, 60);
    CHECK(gpu->is_present);
    CHECK_INT(readings_of(&m, "0000:19:00.0"), full);
    CHECK_INT(spy.opens, 1);
    finish(&m);
}

/* With its only GPU lost, the library is closed and opened again, until the GPU is back. */
static void test_only_one_lost(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\n"
                   "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
                   "call nvmlDeviceGetHandleByIndex_v2 0 = !15\n"
                   "at 60s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n"
                   "call nvmlDeviceGetHandleByIndex_v2 0 = ok\n"))
        return;
    gather(&m, 1);
    struct gtel_device *gpu = gtel_registry_find(&m.group.registry, GTEL_STR("0000:19:00.0"));
    if (!CHECK(gpu && gpu->is_present))
        return;
    for (int k = 0; k < 5; k++)
        gather(&m, 1);
    CHECK(!gpu->is_present && spy.closes >= 1);
    CHECK_INT(spy.logs, 2); /* the loss, and that no GPU answers */
    for (int k = 0; k < 200; k++)
        gather(&m, 1);
    CHECK_INT(spy.logs, 3); /* it works again */
    CHECK(gpu->is_present && readings_of(&m, "0000:19:00.0") > 5);
    finish(&m);
}

/* The driver is unloaded while the library is open, then everything returns. */
static void test_vanishing(void)
{
    struct machine m;
    if (!begin(&m, "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !9\ncall nvmlInit_v2 = !9\n"
                   "at 300s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\ncall nvmlInit_v2 = ok\n"))
        return;
    gather(&m, 1);
    size_t full = readings_of(&m, "0000:19:00.0");
    gather(&m, 1);
    CHECK_INT(m.group.batch.n, 0);
    CHECK_INT(spy.closes, 1);
    struct gtel_device *gpu = gtel_registry_find(&m.group.registry, GTEL_STR("0000:19:00.0"));
    CHECK(gpu && !gpu->is_present);
    for (int k = 0; k < 200; k++)
        gather(&m, 1);
    CHECK(spy.opens <= 7); /* pauses of 0, 10, 20, 40, 80 s … */
    CHECK_INT(spy.logs, 1);
    for (int k = 0; k < 300; k++)
        gather(&m, 1);
    CHECK(gpu && gpu->is_present);
    gather(&m, 60); /* what is read each minute, too */
    CHECK_INT(readings_of(&m, "0000:19:00.0"), full);
    CHECK_INT(spy.logs, 2);
    finish(&m);
}

static void test_no_library(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    spy.open_error = -ENOENT;
    for (int k = 0; k < 5; k++) {
        gather(&m, 1);
        CHECK_INT(m.group.batch.n, 0);
    }
    CHECK_INT(spy.opens, 2);
    CHECK_INT(spy.logs, 1);
    spy.opens = 0;
    spy.open_error = 0;
    gather(&m, 30);
    CHECK(m.group.batch.n > 10);
    finish(&m);
}

#define PCI_GPU_AT(address, driver)                                                                \
    "file sys/bus/pci/devices/" address "/vendor\n| 0x10de\n"                                      \
    "file sys/bus/pci/devices/" address "/class\n| 0x030000\n"                                     \
    "dir sys/bus/pci/drivers/" driver "\n"                                                         \
    "link sys/bus/pci/devices/" address "/driver -> ../../drivers/" driver "\n"                    \
    "file sys/bus/pci/devices/" address "/power/control\n| auto\n"                                 \
    "file sys/bus/pci/devices/" address "/power/runtime_suspended_time\n| 9000\n"
#define STATUS_OF(address, text)                                                                   \
    "file sys/bus/pci/devices/" address "/power/runtime_status\n| " text "\n"
#define PCI_GPU PCI_GPU_AT("0000:19:00.0", "nvidia")
#define STATUS(text) STATUS_OF("0000:19:00.0", text)

/* A sleeping GPU is seen in sysfs, and NVML is not even opened. */
static void test_asleep(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\n" PCI_GPU STATUS(
                       "suspended") "at 100s\n" STATUS("active")))
        return;
    for (int k = 0; k < 9; k++) {
        gather(&m, 10);
        CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 0, 0);
        CHECK_INT(m.group.batch.n, 1);
    }
    CHECK_INT(spy.opens, 0);
    gather(&m, 10);
    CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
    CHECK_INT(spy.opens, 1);
    finish(&m);
}

/* Beside one that sleeps, those that are awake are asked for by address: an index may be anyone's.
 */
static void test_one_asleep(void)
{
    static const char other[] = "0001:3b:00.0";
    static const struct {
        const char *text;
        bool is_read; /* the other one */
    } cases[] = {{"", true},
                 {"call nvmlDeviceGetHandleByPciBusId_v2 = !nosymbol\n", false},
                 {"call nvmlDeviceGetHandleByPciBusId_v2 = !999\n", false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        char text[4096];
        test_label = cases[i].text;
        (void)snprintf(text, sizeof(text), "%scall nvmlDeviceGetUtilizationRates 1 = 5 0\n%s%s",
                       cases[i].text,
                       PCI_GPU STATUS("suspended") PCI_GPU_AT("0001:3b:00.0", "nvidia")
                           STATUS_OF("0001:3b:00.0", "active"),
                       /* a GPU that is given to a virtual machine sleeps for itself */
                       PCI_GPU_AT("0001:3c:00.0", "vfio-pci")
                           STATUS_OF("0001:3c:00.0", "suspended") "at 60s\n" STATUS("active"));
        if (!begin(&m, text))
            continue;
        spy.count_name = "nvmlDeviceGetHandleByIndex_v2";
        for (int k = 0; k < 5; k++) {
            gather(&m, 10);
            CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 0, 0);
            CHECK(!find(&m, "0000:19:00.0", GTEL_M_GPU_BUSY, NULL, NULL));
            CHECK((find(&m, other, GTEL_M_GPU_BUSY, NULL, NULL) != NULL) == cases[i].is_read);
        }
        CHECK_INT(spy.counted, 0);
        gather(&m, 10);
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
        CHECK(find(&m, other, GTEL_M_GPU_BUSY, NULL, NULL));
        finish(&m);
    }
    test_label = "";
}

/* The user may want it woken. */
static void test_wake_always(void)
{
    struct machine m;
    char error[128];
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\n" PCI_GPU STATUS("suspended")))
        return;
    CHECK_INT(gtel_option_set(&m.options, GTEL_O_WAKE, GTEL_STR("always"), error, sizeof(error)),
              0);
    gtel_group_done(&m.group);
    start_lane(&m);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
    finish(&m);
}

/*
 * Two that may suspend: the other one sleeps, and this one may fall asleep as well, now and when
 * the other one falls asleep before it.
 */
static void test_let_both_sleep(void)
{
    static const char *const statuses[] = {
        STATUS_OF("0001:3b:00.0", "suspended"),
        STATUS_OF("0001:3b:00.0", "active") "at 40s\n" STATUS_OF("0001:3b:00.0", "suspended")};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(statuses); i++) {
        struct machine m;
        char text[4096];
        (void)snprintf(text, sizeof(text), "call nvmlDeviceGetUtilizationRates 0 = 0 0\n%s%s%s",
                       PCI_GPU STATUS("active") PCI_GPU_AT("0001:3b:00.0", "nvidia"), statuses[i],
                       "at 45s\n" STATUS("suspended"));
        if (!begin(&m, text))
            return;
        for (int k = 0; k < 100; k++)
            gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 0, 0);
        CHECK_INT(spy.opens, 1);
        CHECK_INT(spy.closes, 1);
        finish(&m);
    }
}

/* Idle for 30 s: NVML is closed, the GPU falls asleep, and is read again once it works. */
static void test_let_sleep(void)
{
    struct machine m;
    if (!begin(
            &m,
            "call nvmlDeviceGetCount_v2 = 1\ncall nvmlDeviceGetUtilizationRates 0 = 0 0\n" PCI_GPU
                STATUS("active") "at 45s\n" STATUS("suspended") "at 200s\n" STATUS(
                    "active") "call nvmlDeviceGetUtilizationRates 0 = 50 1\n"))
        return;
    for (int k = 0; k < 30; k++) {
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0, 0);
    }
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(spy.closes, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    gather(&m, 18);
    CHECK_NEAR(value(&m, GTEL_M_GPU_AWAKE, NULL), 0, 0);
    gather(&m, 100);
    CHECK_INT(spy.opens, 1);
    gather(&m, 60);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.5, 1e-9);
    CHECK_INT(spy.opens, 2);
    for (int k = 0; k < 100; k++)
        gather(&m, 1);
    CHECK_INT(spy.opens, 2); /* busy: kept open */
    finish(&m);
}

/* The GPM of a GPU in MIG mode is refused, and is there again a minute later at most. */
static void test_activity_returns(void)
{
    struct machine m;
    if (!begin(&m,
               GPM "at 4s\ncall nvmlGpmSampleGet 0 = !3\nat 30s\ncall nvmlGpmSampleGet 0 = ok\n"))
        return;
    for (unsigned i = 0; i < 5; i++)
        gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), -1, 0);
    gather(&m, 60);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), 0.875, 1e-9);
    finish(&m);
}

static unsigned status_opens;

static int count_status(void *arg, const char *path)
{
    status_opens += gtel_str_ends(gtel_str_of(path), GTEL_STR("/runtime_status")) ? 1 : 0;
    return spy.ops->file_open(arg, path);
}

/* The file of a GPU that was removed from its bus answers no more: it is opened again. */
static void test_removed_device(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\n" PCI_GPU STATUS(
                       "active") "at 2s\nerror "
                                 "sys/bus/pci/devices/0000:19:00.0/power/runtime_status ENODEV\n"))
        return;
    gather(&m, 1);
    spy.with_spy.file_open = count_status;
    status_opens = 0;
    gather(&m, 70);
    gather(&m, 70);
    CHECK_INT(status_opens,
              2 * 2); /* each time that GPUs are searched: for the list, and to stay */
    finish(&m);
}

/* Activity is a mean between two gathers; it covers a failure in between, but no long gap. */
static void test_activity(void)
{
    struct machine m;
    if (!begin(&m,
               GPM "at 4s\ncall nvmlGpmSampleGet 0 = !10\nat 5s\ncall nvmlGpmSampleGet 0 = ok\n"
                   "at 8s\ncall nvmlGpmSampleGet 0 = !4\nat 9s\ncall nvmlGpmSampleGet 0 = ok\n"))
        return;
    static const double want[] = {-1, 0.875, 0.875, -1, 0.875, 0.875, 0.875, -1, -1};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, 1); /* at 1 s, 2 s … */
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), want[i], 1e-9);
    }
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
    gather(&m, 60); /* permission is asked for again after a minute */
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "dram"), 0.0025, 1e-9);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), 0.875, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "fp64"), -1, 0);
    gather(&m, 1000);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), -1, 0);
    finish(&m);
    if (!begin(&m, GPM "call nvmlGpmSampleFree = !nosymbol\n"))
        return;
    gather(&m, 1);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), -1, 0);
    finish(&m);
}

/* How many readings the two GPUs have when all is well. */
struct whole {
    size_t n[2];
};

static const char *const gpus[] = {"0000:19:00.0", "0001:3b:00.0"};

static size_t readings_of_both(const struct machine *m)
{
    return readings_of(m, gpus[0]) + readings_of(m, gpus[1]);
}

/* A failure of one GPU's call costs the other nothing. */
static void check_other(const struct machine *m, const struct whole *whole)
{
    if (!spy.failed_name || strstr(spy.failed_name, "Init") || strstr(spy.failed_name, "Count") ||
        strstr(spy.failed_name, "Handle") || strstr(spy.failed_name, "PciInfo"))
        return;
    CHECK(readings_of(m, gpus[0]) == whole->n[0] || readings_of(m, gpus[1]) == whole->n[1]);
}

/* One call answers a code once; in the end NVML is started again and all is as before. */
static void walk_one(struct machine *m, unsigned at, int code, const struct whole *whole)
{
    bool is_global = code == 1 || code == 9 || code == 18;
    bool is_lost = code == 15 || code == 16 || code == 28;
    size_t full = whole->n[0] + whole->n[1];
    start_lane(m);
    spy.fail_at = at;
    spy.fail_code = code;
    for (int i = 0; i < 3; i++) {
        gather(m, 1);
        if (!is_global)
            check_other(m, whole);
    }
    /* A GPU that was not found because it is lost is looked for at the next discovery. */
    bool is_lookup = spy.failed_name &&
                     (strstr(spy.failed_name, "Handle") || strstr(spy.failed_name, "PciInfo"));
    if (is_global || (is_lost && !is_lookup))
        CHECK_INT(readings_of_both(m), full); /* back within an interval */
    spy.fail_at = spy.calls + 1;
    spy.fail_code = 1;
    gather(m, 40);
    gather(m, 1);
    gather(m, 1);
    CHECK_NEAR(value(m, GTEL_M_ACTIVITY, "sm"), 0.875, 1e-9);
    CHECK_INT(readings_of_both(m), full);
    CHECK_INT(m->group.batch.failed[0] + m->group.batch.failed[1], 0);
    gtel_group_done(&m->group);
    CHECK_INT(spy.opens, spy.closes);
}

static void test_faults(void)
{
    static const int codes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 999};
    struct machine m;
    char label[64];
    if (!begin(&m, GPM "call nvmlDeviceGetTotalEnergyConsumption 1 = 5\n"))
        return;
    gather(&m, 1);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), 0.875, 1e-9);
    struct whole whole = {{readings_of(&m, gpus[0]), readings_of(&m, gpus[1])}};
    unsigned calls = spy.calls;
    gtel_group_done(&m.group);
    CHECK(calls > 100);
    for (unsigned at = 1; at <= calls; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "call %u with code %d", at, codes[i]);
            test_label = label;
            walk_one(&m, at, codes[i], &whole);
        }
    test_label = "";
    m.env.ops = spy.ops;
    gtel_env_tree_done(&m.env);
    gtel_tree_free(m.tree);
}

int main(void)
{
    test_values();
    test_fallbacks();
    test_no_memory();
    test_memory_is_not_mixed();
    test_policies();
    test_comes_back();
    test_slow();
    test_minute();
    test_lost();
    test_only_one_lost();
    test_vanishing();
    test_no_library();
    test_asleep();
    test_one_asleep();
    test_wake_always();
    test_let_sleep();
    test_let_both_sleep();
    test_activity();
    test_activity_returns();
    test_removed_device();
    test_faults();
    return test_result();
}
