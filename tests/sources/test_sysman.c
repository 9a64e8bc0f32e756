/* SPDX-License-Identifier: MIT */
/* The Sysman source on recorded machines: values, quirks, start, sleep and failures. */
#include "harness/sysman_machine.h"
#include "sources/level_zero/sysman/rows.h"
#include "harness/test.h"

#include <stdlib.h>

static const struct expected {
    enum gtel_metric metric;
    const char *dim;
    const char *dim_2;
    double want;
} expected[] = {
    {GTEL_M_GPU_PCIE_GEN, NULL, NULL, 4},
    {GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, 8},
    {GTEL_M_GPU_PCIE_RX, NULL, NULL, 11},
    {GTEL_M_GPU_PCIE_TX, NULL, NULL, 12},
    {GTEL_M_FREQUENCY_ACTUAL, "graphics", "0", 1400e6},
    {GTEL_M_FREQUENCY_REQUESTED, "graphics", "0", 1500e6},
    {GTEL_M_FREQUENCY_EFFICIENT, "graphics", "0", 400e6},
    {GTEL_M_FREQUENCY_MIN, "graphics", "0", 300e6},
    {GTEL_M_FREQUENCY_MAX, "graphics", "0", 2400e6},
    {GTEL_M_FREQUENCY_HARDWARE_MIN, "graphics", "0", 100e6},
    {GTEL_M_FREQUENCY_HARDWARE_MAX, "graphics", "0", 2600e6},
    {GTEL_M_MEMORY_HEALTH, "vram0", NULL, 1},
    {GTEL_M_GPU_FREQUENCY, NULL, NULL, 1400e6},
    {GTEL_M_VOLTAGE, "graphics", NULL, 0.75},
    {GTEL_M_THROTTLE_ACTIVE, "thermal", "0", 1},
    {GTEL_M_THROTTLE_ACTIVE, "pl1", "0", 0},
    {GTEL_M_THROTTLE_ACTIVE, "psu_alert", "0", -1},
    {GTEL_M_GPU_THROTTLED_TIME, NULL, NULL, 0.005},
    {GTEL_M_ENERGY, "card", NULL, 5},
    {GTEL_M_ENERGY, "memory", NULL, 1.5},
    {GTEL_M_GPU_ENERGY, NULL, NULL, 5},
    {GTEL_M_POWER_LIMIT, "card", NULL, 190},
    {GTEL_M_PEAK_CURRENT_LIMIT, "card", NULL, 320},
    {GTEL_M_POWER_LIMIT, "memory", NULL, 50},
    {GTEL_M_POWER_BURST_LIMIT, "memory", NULL, -1},
    {GTEL_M_GPU_POWER_LIMIT, NULL, NULL, 190},
    {GTEL_M_TEMPERATURE, "gpu", NULL, 61.5},
    {GTEL_M_TEMPERATURE, "memory", NULL, 66},
    {GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL, 100},
    {GTEL_M_TEMPERATURE_EMERGENCY, "memory", NULL, -1},
    {GTEL_M_GPU_TEMPERATURE, NULL, NULL, 61.5},
    {GTEL_M_MEMORY_USED, "vram0", NULL, 250},
    {GTEL_M_MEMORY_TOTAL, "vram0", NULL, 1000},
    {GTEL_M_GPU_MEMORY_USED, NULL, NULL, 250},
    {GTEL_M_MEMORY_READ, "vram0", NULL, 3000000},
    {GTEL_M_MEMORY_WRITE, "vram0", NULL, 1000000},
    {GTEL_M_MEMORY_PEAK_TIME, "vram0", NULL, 2},
    {GTEL_M_GPU_MEMORY_PEAK_TIME, NULL, NULL, 2},
    {GTEL_M_ERROR_COUNT, "ras-reset", "uncorrected", 1},
    {GTEL_M_ERROR_COUNT, "ras-display", "uncorrected", 7},
    {GTEL_M_ERROR_COUNT, "ras-memory", "uncorrected", -1},
    {GTEL_M_FABRIC_UP, "0.3", NULL, 1},
    {GTEL_M_FABRIC_HEALTH, "0.3", NULL, 0},
    {GTEL_M_FABRIC_RX, "0.3", NULL, 400},
    {GTEL_M_FABRIC_TX, "0.3", NULL, 500},
    {GTEL_M_FABRIC_ERRORS, "0.3", NULL, 10},
    {GTEL_M_FAN_RPM, "1", NULL, 900},
    {GTEL_M_GPU_RESETS, NULL, NULL, 1},
    {GTEL_M_GPU_RESET_NEEDED, NULL, NULL, 1},
    {GTEL_M_GPU_REPAIRED, NULL, NULL, 0},
    {GTEL_M_GPU_ECC, NULL, NULL, 1},
    {GTEL_M_GPU_ECC_PENDING, NULL, NULL, 0},
    {GTEL_M_GPU_PROCESSES, NULL, NULL, -1}, /* xe's are reported by the kernel */
};

static void test_values(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    gather(&m, 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(expected); i++) {
        const struct expected *f = &expected[i];
        test_label = gtel_metric_row(f->metric)->field.p;
        CHECK_NEAR(value(&m, f->metric, f->dim, f->dim_2), f->want, 1e-9);
    }
    test_label = "";
    CHECK(find(&m, i915, GTEL_M_GPU_TEMPERATURE, NULL, NULL) != NULL);
    CHECK_INT(m.group.registry.n, 2);
    struct gtel_device *gpu = gtel_registry_find(&m.group.registry, gtel_str_of(xe));
    if (CHECK(gpu != NULL))
        CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_UUID]), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    CHECK_INT(m.group.batch.failed[0] + m.group.batch.failed[1], 0);
    CHECK_INT(spy.logs[GTEL_LOG_WARNING] + spy.logs[GTEL_LOG_INFO], 0);
    finish(&m);
}

#define TWO_MEMORIES                                                                               \
    "call zesDeviceEnumMemoryModules 1 = 2\ncall zesMemoryGetState 1 1 = 2 600 1000\n"

/* What drivers say that is not so, or not known: the value after a second. */
static const struct {
    const char *text;
    struct expected want;
} quirks[] = {
    /* success, and nothing written */
    {"call zesTemperatureGetState 1 0 = untouched\n", {GTEL_M_TEMPERATURE, "gpu", NULL, -1}},
    {"call zesTemperatureGetProperties 1 0 = untouched\n", {GTEL_M_TEMPERATURE, "gpu", NULL, -1}},
    {"call zesMemoryGetState 1 0 = untouched\n", {GTEL_M_MEMORY_TOTAL, "vram0", NULL, -1}},
    {"call zesMemoryGetBandwidth 1 0 = untouched\n", {GTEL_M_MEMORY_READ, "vram0", NULL, -1}},
    {"call zesPowerGetEnergyCounter 1 0 = untouched\n", {GTEL_M_ENERGY, "card", NULL, -1}},
    {"call zesPowerGetProperties 1 0 = untouched\n", {GTEL_M_POWER_LIMIT, "card", NULL, -1}},
    {"call zesFrequencyGetState 1 0 = untouched\n", {GTEL_M_GPU_FREQUENCY, NULL, NULL, -1}},
    {"call zesFrequencyGetState 1 0 = untouched\n", {GTEL_M_THROTTLE_ACTIVE, "pl1", "0", -1}},
    {"call zesFrequencyGetThrottleTime 1 0 = untouched\n",
     {GTEL_M_GPU_THROTTLED_TIME, NULL, NULL, -1}},
    {"call zesDevicePciGetState 1 = untouched\n", {GTEL_M_GPU_PCIE_GEN, NULL, NULL, -1}},
    {"call zesDevicePciGetStats 1 = untouched\n", {GTEL_M_GPU_PCIE_RX, NULL, NULL, -1}},
    {"call zesRasGetState 1 0 = untouched\n", {GTEL_M_ERROR_COUNT, "ras-reset", "uncorrected", -1}},
    {"call zesFabricPortGetState 1 0 = untouched\n", {GTEL_M_FABRIC_UP, "0.3", NULL, -1}},
    {"call zesFabricPortGetThroughput 1 0 = untouched\n", {GTEL_M_FABRIC_RX, "0.3", NULL, -1}},
    {"call zesFabricPortGetFabricErrorCounters 1 0 = untouched\n",
     {GTEL_M_FABRIC_ERRORS, "0.3", NULL, -1}},
    {"call zesFanGetState 1 0 0 = untouched\n", {GTEL_M_FAN_RPM, "1", NULL, -1}},
    {"call zesTemperatureGetState 1 0 = 250\n", {GTEL_M_TEMPERATURE, "gpu", NULL, -1}},
    {"call zesTemperatureGetState 1 0 = -60\n", {GTEL_M_TEMPERATURE, "gpu", NULL, -1}},
    {"call zesFanGetState 1 0 0 = 100001\n", {GTEL_M_FAN_RPM, "1", NULL, -1}},
    /* -1, and 0 for "no value" */
    {"call zesDevicePciGetState 1 = 0 0 8 -1\n", {GTEL_M_GPU_PCIE_GEN, NULL, NULL, -1}},
    {"call zesDevicePciGetState 1 = 0 4 0 -1\n", {GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, -1}},
    {"call zesDevicePciGetState 1 = 0 -1 -1 -1\n", {GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, -1}},
    {"call zesTemperatureGetState 1 0 = 0\n", {GTEL_M_GPU_TEMPERATURE, NULL, NULL, -1}},
    {"call zesFrequencyGetState 1 0 = -1 1500 1 400 1400 0\n",
     {GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", "0", 1e6}},
    {"call zesFrequencyGetState 1 0 = -1 1500 0 400 1400 0\n",
     {GTEL_M_FREQUENCY_ACHIEVABLE, "graphics", "0", -1}},
    {"call zesFrequencyGetState 1 0 = -1 -1 -1 -1 0 0\n", {GTEL_M_VOLTAGE, "graphics", NULL, -1}},
    {"call zesFrequencyGetState 1 0 = -1 -1 -1 -1 0 0\n", {GTEL_M_GPU_FREQUENCY, NULL, NULL, 0}},
    {"call zesFrequencyGetRange 1 0 = -1 2400\n", {GTEL_M_FREQUENCY_MIN, "graphics", "0", -1}},
    {"call zesFrequencyGetRange 1 0 = 400 x\n", {GTEL_M_FREQUENCY_MIN, "graphics", "0", -1}},
    {"call zesFanGetState 1 0 0 = -1\n", {GTEL_M_FAN_RPM, "1", NULL, -1}},
    {"call zesFanGetState 1 0 0 = 0\n", {GTEL_M_FAN_RPM, "1", NULL, 0}},
    {"call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 -1\n", {GTEL_M_POWER_LIMIT, "card", NULL, -1}},
    {"call zesPowerGetEnergyCounter 1 0 = 0 900\n", {GTEL_M_ENERGY, "card", NULL, -1}},
    {"call zesPowerGetEnergyCounter 1 0 = 0 900\n"
     "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 2\n",
     {GTEL_M_GPU_ENERGY, NULL, NULL, 1.5}},
    /* a part of it written, and what is no number */
    {"call zesPowerGetEnergyCounter 1 0 = 5000000\n", {GTEL_M_ENERGY, "card", NULL, -1}},
    {"call zesMemoryGetBandwidth 1 0 = 5 6 2000000\n", {GTEL_M_MEMORY_READ, "vram0", NULL, -1}},
    {"call zesMemoryGetState 1 0 = 2 750\n", {GTEL_M_MEMORY_USED, "vram0", NULL, -1}},
    {"call zesFrequencyGetState 1 0 = nan nan nan nan nan 0\n",
     {GTEL_M_GPU_FREQUENCY, NULL, NULL, -1}},
    {"call zesFrequencyGetRange 1 0 = nan nan\n", {GTEL_M_FREQUENCY_MAX, "graphics", "0", -1}},
    {"call zesTemperatureGetState 1 0 = nan\n", {GTEL_M_GPU_TEMPERATURE, NULL, NULL, -1}},
    /* of all sensors drivers report the package's */
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 105\n",
     {GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL, 105}},
    {"call zesTemperatureGetProperties 1 1 = 2 0 0 105\n",
     {GTEL_M_TEMPERATURE_EMERGENCY, "memory", NULL, -1}},
    {"call zesTemperatureGetProperties 1 1 = 8 0 0 105\n",
     {GTEL_M_TEMPERATURE_EMERGENCY, "vr", NULL, -1}},
    {"call zesTemperatureGetProperties 1 1 = 0 0 0 105\n",
     {GTEL_M_TEMPERATURE_EMERGENCY, "global", NULL, -1}},
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 nan\n",
     {GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL, -1}},
    /* without the right, drivers say that all memory is free */
    {"call zesMemoryGetState 1 0 = 0 1000 1000\n", {GTEL_M_MEMORY_USED, "vram0", NULL, -1}},
    {"call zesMemoryGetState 1 0 = 0 1000 1000\n", {GTEL_M_MEMORY_TOTAL, "vram0", NULL, 1000}},
    /* the machine's memory is not the GPU's */
    {"call zesMemoryGetProperties 1 0 = 2 0 0 0 1000\n", {GTEL_M_GPU_MEMORY_TOTAL, NULL, NULL, -1}},
    /* bytes count also where no peak bandwidth is known, and zeros for ever are no counter */
    {"call zesMemoryGetBandwidth 1 0 = 5 6 0 1000\n", {GTEL_M_MEMORY_WRITE, "vram0", NULL, 6}},
    {"call zesMemoryGetBandwidth 1 0 = 5 6 64 1000\n",
     {GTEL_M_MEMORY_PEAK_TIME, "vram0", NULL, -1}},
    {"call zesMemoryGetBandwidth 1 0 = 0 0 9000000 1000\n",
     {GTEL_M_MEMORY_READ, "vram0", NULL, -1}},
    {"call zesDevicePciGetStats 1 = 1000 3 0 0 0\n", {GTEL_M_GPU_PCIE_RX, NULL, NULL, -1}},
    /* the newer form of a call, where the loader has it */
    {"call zesRasGetStateExp 1 0 = 7 40 12 41 99 1\n",
     {GTEL_M_ERROR_COUNT, "ras-memory", "uncorrected", 40}},
    {"call zesRasGetStateExp 1 0 = 7 40\n", {GTEL_M_ERROR_COUNT, "ras-reset", "uncorrected", -1}},
    {"call zesPowerGetLimitsExt = !nosymbol\ncall zesPowerGetLimits 1 0 = 1 150000 0 1 180000 -1 "
     "-1\n",
     {GTEL_M_POWER_BURST_LIMIT, "card", NULL, 180}},
    {"call zesPowerGetLimits = !nosymbol\n", {GTEL_M_POWER_LIMIT, "card", NULL, 190}},
    {"call zesPowerGetLimits = !nosymbol\n", {GTEL_M_POWER_LIMIT, "memory", NULL, -1}},
    {"call zesPowerGetLimits = !nosymbol\ncall zesPowerGetLimitsExt = !nosymbol\n",
     {GTEL_M_POWER_LIMIT, "card", NULL, -1}},
    {"call zesRasGetState = !nosymbol\ncall zesRasGetStateExp 1 0 = 7 40\n",
     {GTEL_M_ERROR_COUNT, "ras-memory", "uncorrected", 40}},
    {"call zesRasGetState = !nosymbol\n", {GTEL_M_ERROR_COUNT, "ras-reset", "uncorrected", -1}},
    /* lists that change, or cannot be */
    {"call zesDeviceEnumTemperatureSensors 1 = 1 2\n", {GTEL_M_TEMPERATURE, "gpu", NULL, 61.5}},
    {"call zesDeviceEnumTemperatureSensors 1 = 2 1\n", {GTEL_M_TEMPERATURE, "gpu", NULL, 61.5}},
    {"call zesDeviceEnumTemperatureSensors 1 = 2 1\n", {GTEL_M_TEMPERATURE, "memory", NULL, -1}},
    {"call zesDeviceEnumTemperatureSensors 1 = 0xffffffff\n",
     {GTEL_M_TEMPERATURE, "memory", NULL, 66}},
    {"call zesDeviceEnumTemperatureSensors 1 = 0\n", {GTEL_M_TEMPERATURE, "memory", NULL, -1}},
    {"call zesDeviceEnumTemperatureSensors 1 = 2 0\n", {GTEL_M_TEMPERATURE, "memory", NULL, -1}},
    {"call zesRasGetStateExp 1 0 = counts 0xffffffff 5 50\n",
     {GTEL_M_ERROR_COUNT, "ras-cache", "uncorrected", 50}},
    {"call zesPowerGetLimitsExt 1 0 = counts 0xffffffff 1 0 2 0 0 190000\n",
     {GTEL_M_POWER_LIMIT, "card", NULL, 190}},
    {"call zesPowerGetLimitsExt 1 0 = counts 1 1 0 2 0 0 190000 3 0 2 0 0 320000\n",
     {GTEL_M_POWER_PEAK_LIMIT, "card", NULL, 320}},
    {"call zesDeviceGet 0 = 0xffffffff\n", {GTEL_M_TEMPERATURE, "memory", NULL, 66}},
    /* what a later driver may say */
    {"call zesTemperatureGetProperties 1 0 = 77 0 0 -1\n",
     {GTEL_M_GPU_TEMPERATURE, NULL, NULL, -1}},
    {"call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 77\n", {GTEL_M_ENERGY, "memory", NULL, -1}},
    {"call zesFabricPortGetState 1 0 = 77\n", {GTEL_M_FABRIC_UP, "0.3", NULL, -1}},
    {"call zesFabricPortGetState 1 0 = 77\n", {GTEL_M_FABRIC_HEALTH, "0.3", NULL, -1}},
    {"call zesFabricPortGetState 1 0 = 2\n", {GTEL_M_FABRIC_HEALTH, "0.3", NULL, 1}},
    {"call zesFabricPortGetState 1 0 = 4\n", {GTEL_M_FABRIC_HEALTH, "0.3", NULL, -1}},
    {"call zesDevicePciGetStats 1 = 1000 3 5 11 12\n", {GTEL_M_GPU_PCIE_PACKETS, NULL, NULL, -1}},
    {"call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 0 1 0\n"
     "call zesDevicePciGetStats 1 = 1000 3 5 11 12\n",
     {GTEL_M_GPU_PCIE_PACKETS, NULL, NULL, 5}},
    {"call zesFabricPortGetState 1 0 = 2\n", {GTEL_M_FABRIC_UP, "0.3", NULL, 1}},
    {"call zesFabricPortGetState 1 0 = 3\n", {GTEL_M_FABRIC_UP, "0.3", NULL, 0}},
    /* tiles: their own names, and the card's values not beside theirs */
    {"call zesTemperatureGetProperties 1 1 = 2 1 1 -1\n",
     {GTEL_M_TEMPERATURE, "memory-tile1", NULL, 66}},
    {"call zesMemoryGetProperties 1 0 = 0 1 1 1 1000\n", {GTEL_M_MEMORY_USED, "vram1", NULL, 250}},
    {"call zesFrequencyGetProperties 1 0 = 0 1 1\n",
     {GTEL_M_FREQUENCY_ACTUAL, "graphics", "1", 1400e6}},
    {"call zesRasGetProperties 1 0 = 0 1 1\n",
     {GTEL_M_ERROR_COUNT, "ras-cache-tile1", "corrected", 6}},
    /* two of one kind */
    {"call zesTemperatureGetProperties 1 1 = 1 0 0 -1\n", {GTEL_M_TEMPERATURE, "gpu", NULL, 61.5}},
    {"call zesTemperatureGetProperties 1 1 = 1 0 0 -1\n", {GTEL_M_TEMPERATURE, "gpu-2", NULL, 66}},
    {"call zesTemperatureGetProperties 1 1 = 1 0 0 -1\n", {GTEL_M_GPU_TEMPERATURE, NULL, NULL, 66}},
    {"call zesTemperatureGetProperties 1 1 = 1 1 0 -1\n",
     {GTEL_M_TEMPERATURE, "gpu-tile0", NULL, 66}},
    {TWO_MEMORIES "call zesMemoryGetProperties 1 1 = 0 0 0 1 1000\n",
     {GTEL_M_MEMORY_USED, "vram0-2", NULL, 400}},
    {TWO_MEMORIES "call zesMemoryGetProperties 1 1 = 0 0 0 1 1000\n",
     {GTEL_M_GPU_MEMORY_USED, NULL, NULL, 650}},
    {TWO_MEMORIES "call zesMemoryGetProperties 1 0 = 0 1 0 1 1000\n"
                  "call zesMemoryGetProperties 1 1 = 0 0 0 1 1000\n",
     {GTEL_M_GPU_MEMORY_USED, NULL, NULL, 250}}, /* the tile's: the other one holds it, too */
    {TWO_MEMORIES "call zesMemoryGetProperties 1 1 = 0 1 0 1 1000\n",
     {GTEL_M_MEMORY_USED, "vram0", NULL, 400}},
    /* a chain that the driver does not know */
    {"call zesPowerGetProperties 1 0 = !0x78000004\n", {GTEL_M_ENERGY, "card", NULL, -1}},
    {"call zesPowerGetProperties 1 0 = unchained 0 0 -1 -1 -1\n", {GTEL_M_ENERGY, "pkg", NULL, 5}},
    {"call zesDeviceGetProperties 1 = unchained 1 0x8086 0\n",
     {GTEL_M_TEMPERATURE, "memory", NULL, 66}},
    /* missing calls */
    {"call zesTemperatureGetState = !nosymbol\n", {GTEL_M_GPU_TEMPERATURE, NULL, NULL, -1}},
    {"call zesTemperatureGetProperties = !nosymbol\n", {GTEL_M_GPU_TEMPERATURE, NULL, NULL, -1}},
    {"call zesDeviceEnumFans = !nosymbol\n", {GTEL_M_TEMPERATURE, "memory", NULL, 66}},
};

static void test_quirks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(quirks); i++) {
        const struct expected *want = &quirks[i].want;
        struct machine m;
        test_label = quirks[i].text;
        if (!begin(&m, quirks[i].text))
            continue;
        gather(&m, 0);
        CHECK_NEAR(value(&m, want->metric, want->dim, want->dim_2), want->want, 1e-9);
        gather(&m, 1);
        if (want->want < 0)
            CHECK_NEAR(value(&m, want->metric, want->dim, want->dim_2), -1, 0);
        CHECK(readings_of(&m, i915) > 0);
        finish(&m);
    }
    test_label = "";
}

/* The GPU's temperature waits for a sensor that fails, but not for long. */
static void test_given_up(void)
{
    struct machine m;
    if (!begin(&m, "call zesTemperatureGetProperties 1 1 = 1 0 0 -1\n"
                   "at 3s\ncall zesTemperatureGetState 1 1 = !0x70010001\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), 66, 0);
    gather(&m, 2);
    CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), 61.5, 0);
    for (int i = 0; i < GTEL_SERIES_AGE / 2; i++) {
        CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), -1, 0);
        gather(&m, 1);
    }
    CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), 61.5, 0);
    finish(&m);
}

/* Steps of an energy counter: microjoules and microseconds; shown is -1 for no reading. */
static const struct step {
    uint64_t uj;
    uint64_t us;
    int64_t shown;
} wrap[] = {{262100000000, 1000000, 262100000000},
            {46000000, 2000000, 262190000000},
            {46000000, 2000000, -1}, /* the clock stands still */
            {136000000, 3000000, 262280000000}},
  outlier[] = {{9000000000, 1000000, 9000000000},
               {200000000, 2000000, -1},
               {9030000000, 3000000, 9030000000},
               {9044000000, 4000000, 9044000000}},
  reset[] = {{9000000000, 1000000, 9000000000},
             {10000000, 2000000, -1},
             {20000000, 3000000, -1},
             {30000000, 4000000, -1},
             {40000000, 5000000, 9010000000}},
  jump[] = {{1000000, 1000000, 1000000}, {3000000000, 2000000, -1}, {31000000, 3000000, 31000000}},
  back[] = {{1000000, 5000000, 1000000}, {2000000, 4000000, -1}, {3000000, 6000000, 3000000}};

static void check_steps(const char *label, const struct step *step, size_t n, uint64_t wrap_uj)
{
    struct gtel_sysman_energy energy = {0};
    test_label = label;
    for (size_t i = 0; i < n; i++) {
        struct gtel_zes_energy now = {step[i].uj, step[i].us};
        bool is_shown = gtel_sysman_energy_step(&energy, &now, wrap_uj, 200);
        CHECK_INT(is_shown ? (int64_t)energy.total_uj : -1, step[i].shown);
    }
    test_label = "";
}

static void test_energy(void)
{
    check_steps("wrap", wrap, GTEL_ARRAY_LEN(wrap), UINT64_C(262144000000));
    check_steps("outlier", outlier, GTEL_ARRAY_LEN(outlier), 0);
    check_steps("outlier where it could be a wrap", outlier, GTEL_ARRAY_LEN(outlier),
                UINT64_C(262144000000));
    check_steps("reset", reset, GTEL_ARRAY_LEN(reset), 0);
    check_steps("jump", jump, GTEL_ARRAY_LEN(jump), 0);
    check_steps("the clock goes back", back, GTEL_ARRAY_LEN(back), 0);
}

/* 180 W on a board for 200 W: up to 400 W, which fill the counter in 656 s. */
static void test_rare_energy(void)
{
    static const struct {
        uint64_t joules;
        uint64_t second;
        int64_t shown; /* joules, and the seconds that they took; -1: nothing */
        uint64_t shown_second;
    } steps[] = {{1, 50, 1, 50},       {61857, 1850, -1, 0},       {151857, 2350, 90001, 550},
                 {69713, 3350, -1, 0}, {87713, 3450, 108001, 650}, {202913, 4090, 223201, 1290},
                 {138769, 5190, -1, 0}};
    struct gtel_sysman_energy energy = {0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        struct gtel_zes_energy now = {steps[i].joules * 1000000, steps[i].second * 1000000};
        bool is_shown = gtel_sysman_energy_step(&energy, &now, UINT64_C(262144000000), 200);
        CHECK_INT(is_shown ? (int64_t)(energy.total_uj / 1000000) : -1, steps[i].shown);
        if (is_shown)
            CHECK_INT(energy.total_us, steps[i].shown_second * 1000000);
    }
}

/* Time at the peak bandwidth when the peak moves, is not known for a while, and a counter resets.
 */
static void test_bandwidth(void)
{
    static const struct {
        double peak_s; /* -1: not reported */
        uint64_t t_us;
    } want[] = {{2, 1000},       {2.25, 1001000}, {4.25, 2001000}, {-1, 0},
                {4.75, 4001000}, {-1, 0},         {5.25, 5001000}};
    struct machine m;
    if (!begin(&m, "at 1s\ncall zesMemoryGetBandwidth 1 0 = 3000000 2000000 4000000 1001000\n"
                   "at 2s\ncall zesMemoryGetBandwidth 1 0 = 3000000 4000000 1000000 2001000\n"
                   "at 3s\ncall zesMemoryGetBandwidth 1 0 = 4000000 4000000 0 3001000\n"
                   "at 4s\ncall zesMemoryGetBandwidth 1 0 = 4000000 5000000 4000000 4001000\n"
                   "at 5s\ncall zesMemoryGetBandwidth 1 0 = 0 1000 4000000 5001000\n"
                   "at 6s\ncall zesMemoryGetBandwidth 1 0 = 0 2001000 4000000 6001000\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, i > 0);
        const struct gtel_reading *got = find(&m, xe, GTEL_M_GPU_MEMORY_PEAK_TIME, NULL, NULL);
        CHECK_NEAR(got ? got->value.f64 : -1, want[i].peak_s, 1e-9);
        CHECK_INT(got ? got->t_ns : 0, want[i].t_us * 1000);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_PEAK_TIME, "vram0", NULL), want[i].peak_s, 1e-9);
    }
    finish(&m);
}

/* Ponte Vecchio's counters restart too often to be reported, unless they have 64 bits. */
#define TELEM(number, device, guid)                                                                \
    "link sys/class/intel_pmt/telem" number " -> ../../devices/pci0000:00/0000:" device            \
    "/0000:05:00.1/intel_vsec.telemetry.1/intel_pmt/telem" number "\n"                             \
    "file sys/devices/pci0000:00/0000:" device                                                     \
    "/0000:05:00.1/intel_vsec.telemetry.1/intel_pmt/telem" number "/guid\n| " guid "\n"

static void test_counter_bits(void)
{
    static const struct {
        const char *text;
        double read;
    } cases[] = {
        {"", -1},
        {"call zesMemoryGetProperties 1 0 = 0 0 0 1 1000 32\n", -1},
        {"call zesMemoryGetProperties 1 0 = 0 0 0 1 1000 64\n", 3000000},
        /* the driver does not say, the kernel does */
        {TELEM("4", "03:00.0", "0xb15a0ede"), 3000000},
        {TELEM("4", "03:00.0", "0xb15a0d09"), -1},
        /* what else stands there is no node */
        {TELEM("4", "03:00.0", "0xb15a0ede") "dir sys/class/intel_pmt/crashlog3\n"
                                             "dir sys/class/intel_pmt/telem\n",
         3000000},
        /* a node that is no link, or leads elsewhere, is nobody's */
        {"file sys/class/intel_pmt/telem4/guid\n| 0xb15a0ede\n", -1},
        {"dir elsewhere\nlink sys/class/intel_pmt/telem4 -> ../../../elsewhere\n", -1},
        {TELEM("4", "04:00.0", "0xb15a0ede"), -1},
        {TELEM("4", "03:00.0", "0x41fe79a5") TELEM("5", "03:00.0", "0xb15a0ede"), 3000000},
        {TELEM("4", "03:00.0", "0xb15a0ede") TELEM("5", "03:00.0", "0xb15a0d09"), -1},
        {TELEM("9", "03:00.0", "0x41fe79a5") TELEM("11", "03:00.0", "0x41fe79a5")
             TELEM("10", "03:00.0", "0xb15a0ede"),
         3000000},
        {TELEM("4", "03:00.0", "0xb15a0ede") "call zesMemoryGetProperties 1 0 = 0 0 0 1 1000 32\n",
         -1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin_with(&m, CARD("card0", "0000:03:00.0", "i915", "0BD5") LIBRARY, cases[i].text))
            continue;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_TOTAL, "vram0", NULL), 1000, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_READ, "vram0", NULL), cases[i].read, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_MEMORY_PEAK_TIME, NULL, NULL), cases[i].read < 0 ? -1 : 2,
                   0);
        finish(&m);
    }
    test_label = "";
}

/*
 * Limits that are taken away are reported no more, and those of a battery are not reported at all.
 */
static void test_limits(void)
{
    static const struct {
        unsigned after; /* seconds */
        double limit_w;
        double burst_w;
        double peak_w;
        double peak_a;
    } want[] = {{0, 190, 250, 400, 320}, {60, -1, 250, -1, -1}, {60, -1, -1, -1, -1}};
    struct machine m;
    if (!begin(&m, "call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 190000 2 0 2 0 0 250000"
                   " 3 1 2 0 0 400000 3 2 2 0 0 90000 3 0 1 0 0 320000\n"
                   "at 30s\ncall zesPowerGetLimitsExt 1 0 = 2 0 2 0 0 250000\n"
                   "at 90s\ncall zesPowerGetLimitsExt 1 0 =\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, want[i].after);
        CHECK_NEAR(value(&m, GTEL_M_POWER_LIMIT, "card", NULL), want[i].limit_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_POWER_LIMIT, NULL, NULL), want[i].limit_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_POWER_BURST_LIMIT, "card", NULL), want[i].burst_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_POWER_PEAK_LIMIT, "card", NULL), want[i].peak_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_PEAK_CURRENT_LIMIT, "card", NULL), want[i].peak_a, 0);
    }
    finish(&m);
}

/* Without any flag ever set it is not known whether the driver can read them. */
static void test_reasons(void)
{
    static const double want[][3] = {{-1, -1, -1}, {1, 0, -1}, {0, 0, -1}};
    struct machine m;
    if (!begin(&m, "call zesFrequencyGetState 1 0 = 0.75 1500 -1 400 1400 0\n"
                   "at 1s\ncall zesFrequencyGetState 1 0 = 0.75 1500 -1 400 1400 0x8\n"
                   "at 2s\ncall zesFrequencyGetState 1 0 = 0.75 1500 -1 400 1400 0\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, i > 0);
        CHECK_NEAR(value(&m, GTEL_M_THROTTLE_ACTIVE, "thermal", "0"), want[i][0], 0);
        CHECK_NEAR(value(&m, GTEL_M_THROTTLE_ACTIVE, "pl1", "0"), want[i][1], 0);
        CHECK_NEAR(value(&m, GTEL_M_THROTTLE_ACTIVE, "any_power", "0"), want[i][2], 0);
    }
    finish(&m);
}

/* How Level Zero is started, and that it is quiet where it cannot be. */
static void test_start(void)
{
    struct machine m;
    if (begin(&m, "call zesInit = !0x78000001\n")) {
        spy.count_name = "zesInit";
        for (int i = 0; i < 100; i++)
            gather(&m, 1);
        CHECK_INT(m.group.batch.n, 0);
        CHECK_INT(spy.counted, 1); /* sticky: not tried again in this process */
        CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 0);
        finish(&m);
    }
    if (begin(&m, "library libze_loader.so.1 gone\nat 50s\nlibrary libze_loader.so.1\n")) {
        for (int i = 0; i < 49; i++)
            gather(&m, 1);
        CHECK_INT(spy.opens, 0);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
        gather(&m, 31);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), 61.5, 0);
        finish(&m);
    }
    if (begin_with(&m, XE I915, "library libze_loader.so.1\n")) { /* its file is not there */
        gather(&m, 0);
        CHECK_INT(spy.opens, 0);
        finish(&m);
    }
    if (begin(&m, "call zesDeviceGetProperties = !nosymbol\n")) {
        gather(&m, 0);
        CHECK_INT(m.group.batch.n, 0);
        CHECK_INT(spy.calls, 0);
        finish(&m);
    }
}

#define OLD                                                                                        \
    "call zesInit = !nosymbol\ncall zesDriverGet = !nosymbol\ncall zesDeviceGet = !nosymbol\n"     \
    "call zeInit =\ncall zeDriverGet = 1\ncall zeDeviceGet 0 = 2\n"

#ifdef _WIN32
#define unsetenv(name) _putenv_s(name, "")
#endif

/* A loader without zesInit: with i915 alone, by the variable; never both ways. */
static void test_legacy(void)
{
    struct machine m;
    (void)unsetenv("ZES_ENABLE_SYSMAN");
    if (begin(&m, "")) {
        spy.count_name = "zeInit";
        gather(&m, 0);
        CHECK(getenv("ZES_ENABLE_SYSMAN") == NULL);
        CHECK_INT(spy.counted, 0);
        finish(&m);
    }
    if (begin_with(&m, XE LIBRARY, OLD)) {
        gather(&m, 0);
        CHECK(getenv("ZES_ENABLE_SYSMAN") == NULL);
        CHECK_INT(spy.calls, 0);
        finish(&m);
    }
    if (begin(&m, OLD)) {
        gather(&m, 0);
        CHECK(getenv("ZES_ENABLE_SYSMAN") != NULL);
        CHECK(find(&m, i915, GTEL_M_GPU_TEMPERATURE, NULL, NULL) != NULL);
        finish(&m);
    }
    (void)unsetenv("ZES_ENABLE_SYSMAN");
}

/* A sleeping GPU is not woken, neither by the start nor by a question. */
static void test_sleep(void)
{
    struct machine m;
    if (!begin(&m, POWER("0000:03:00.0", "runtime_status", "suspended") "at 2s\n" POWER(
                       "0000:03:00.0", "runtime_status",
                       "active") "at 5s\n" POWER("0000:03:00.0", "runtime_status", "suspended")))
        return;
    gather(&m, 0);
    CHECK_INT(spy.opens, 0);
    gather(&m, 2);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_TEMPERATURE, NULL, NULL), 61.5, 0);
    gather(&m, 2);
    CHECK_INT(readings_of(&m, xe), 0);
    CHECK(readings_of(&m, i915) > 0);
    finish(&m);
}

#define XE_IDLE "sys/devices/pci0000:00/0000:03:00.0/tile0/gt0/gtidle/idle_residency_ms"

/* One that may sleep and is idle is read about once a minute, until it works or has slept. */
static void test_rest(void)
{
    struct machine m;
    unsigned read = 0;
    if (!begin(&m, POWER("0000:03:00.0", "runtime_status", "active")
                       POWER("0000:03:00.0", "control", "auto")
                           POWER("0000:03:00.0", "autosuspend_delay_ms",
                                 "10000") "grow " XE_IDLE " 5000 1000\nat 200s\ngrow " XE_IDLE
                                          " 205000 0\n"))
        return;
    for (int i = 1; i <= 12; i++) {
        gather(&m, 1);
        CHECK(readings_of(&m, xe) > 0);
    }
    for (int i = 13; i < 200; i++) {
        gather(&m, 1);
        read += readings_of(&m, xe) > 0;
        CHECK(readings_of(&m, i915) > 0);
    }
    CHECK_INT(read, 2); /* 80 seconds apart */
    gather(&m, 60);
    for (int i = 0; i < 20; i++) {
        gather(&m, 1);
        CHECK(readings_of(&m, xe) > 0);
    }
    finish(&m);
}

/* A lost GPU is asked again after a while, and the other one all the time. */
static void test_lost(void)
{
    struct machine m;
    if (!begin(&m, "at 1s\ncall zesTemperatureGetState 1 1 = !0x70000001\n" XE_SAYS(
                       "0x70000001") "at 5s\ncall zesTemperatureGetState 1 1 = 67\n" XE_ANSWERS))
        return;
    gather(&m, 0);
    for (int i = 1; i <= 9; i++) {
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), -1, 0);
        CHECK(readings_of(&m, i915) > 0);
    }
    CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
    gather(&m, 3);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), 67, 0);
    CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
    CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
    finish(&m);
}

/*
 * How often a question is asked in 200 gathers of a second: of the GPU's two sensors the first one
 * answers a code each time, or both.
 */
static void test_policies(void)
{
    static const struct {
        const char *code;
        unsigned asked;  /* each of both sensors, if neither has a value */
        uint32_t failed; /* of one, in the first gather */
        unsigned warnings;
        unsigned hints;
    } cases[] = {
        {"0x70010000", 1, 0, 0, 1},   {"0x78000003", 1, 0, 0, 0},  {"0x70010001", 10, 0, 0, 0},
        {"0x70000007", 200, 0, 0, 0}, {"0x7ffffffe", 10, 1, 1, 0}, {"0x12345678", 10, 1, 1, 0},
    };
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        char text[200];
        size_t c = i / 2;
        bool is_both = i % 2 == 1;
        (void)snprintf(
            text, sizeof(text),
            "call zesTemperatureGetState 1 0 = !%s\ncall zesTemperatureGetState 1 1 = %s%s\n",
            cases[c].code, is_both ? "!" : "", is_both ? cases[c].code : "66");
        test_label = text;
        if (!begin(&m, text))
            continue;
        spy.count_name = "zesTemperatureGetState";
        gather(&m, 0);
        CHECK_INT(m.group.batch.failed[0] + m.group.batch.failed[1],
                  cases[c].failed * (is_both ? 2 : 1));
        for (int k = 1; k < 200; k++) {
            gather(&m, 1);
            CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), is_both ? -1 : 66, 0);
        }
        CHECK_INT(spy.counted - 200, 2 * (is_both ? cases[c].asked : 200)); /* and i915's */
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], cases[c].warnings);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], cases[c].hints);
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_values();
    test_quirks();
    test_given_up();
    test_energy();
    test_rare_energy();
    test_limits();
    test_reasons();
    test_bandwidth();
    test_counter_bits();
    test_start();
    test_legacy();
    test_sleep();
    test_rest();
    test_lost();
    test_policies();
    return test_result();
}
