/* SPDX-License-Identifier: MIT */
/* What Level Zero answers to each question of the Sysman source, as the doctor reports it. */
#include "harness/sysman_machine.h"
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

#define NO_VALUE "the driver answers without a value"
#define NOT_NOW "the driver has no value now"
#define ABSENT "this GPU, driver or loader does not have it"
#define REFUSED "Level Zero does not let this user have it"
#define ROOT "run gtel as root"
#define TELEM                                                                                      \
    "run as root, or let every user read the files:\nchmod a+r /sys/class/intel_pmt/telem*/telem"

static const struct answer_case {
    const char *call;
    const char *arguments; /* and what it answers */
    enum gtel_measurement group;
    const char *why; /* NULL: there is no finding about that call */
    const char *fix; /* NULL: none */
} cases[] = {
    /* The link, its traffic, and the device. */
    {"zesDevicePciGetState", "1 = 0 4 8 0", GTEL_MEASUREMENT_GPU, NULL, NULL},
    {"zesDevicePciGetState", "1 = untouched", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDevicePciGetState", "1 = 0 0 0 0", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDevicePciGetState", "1 = 0 1 -1 -1", GTEL_MEASUREMENT_GPU, NULL, NULL},
    {"zesDevicePciGetState", "1 = 0 -1 1 -1", GTEL_MEASUREMENT_GPU, NULL, NULL},
    {"zesDevicePciGetState", "1 = 1 -1 -1 -1", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDevicePciGetState", "1 = !0x70010000", GTEL_MEASUREMENT_GPU, REFUSED, TELEM},
    {"zesDevicePciGetStats", "1 = untouched", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDevicePciGetStats", "1 = 0 3 0 11 12", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDevicePciGetStats", "1 = 1 3 0 11 12", GTEL_MEASUREMENT_GPU, NULL, NULL},
    {"zesDeviceGetState", "1 = untouched", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDeviceGetState", "1 = 0 0", GTEL_MEASUREMENT_GPU, NULL, NULL},
    {"zesDeviceGetState", "= !nosymbol", GTEL_MEASUREMENT_GPU, ABSENT, NULL},
    {"zesDeviceGetEccState", "1 = untouched", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    {"zesDeviceGetEccState", "1 = 0 1 0", GTEL_MEASUREMENT_GPU, NO_VALUE, NULL},
    /* Clocks. */
    {"zesFrequencyGetState", "1 0 = untouched", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NO_VALUE,
     NULL},
    {"zesFrequencyGetState", "1 0 = -1 -1 -1 400 -1 8", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN,
     NO_VALUE, NULL},
    {"zesFrequencyGetState", "1 0 = -1 0 -1 400 -1 8", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NULL,
     NULL},
    {"zesFrequencyGetState", "1 0 = -1 20000 -1 400 20000 8", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN,
     NO_VALUE, NULL},
    {"zesFrequencyGetState", "1 0 = -1 20000 -1 400 19999 8", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN,
     NULL, NULL},
    {"zesFrequencyGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, REFUSED,
     NULL},
    {"zesFrequencyGetThrottleTime", "1 0 = untouched", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN,
     NO_VALUE, NULL},
    {"zesFrequencyGetThrottleTime", "1 0 = 5 0", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NO_VALUE,
     NULL},
    {"zesFrequencyGetThrottleTime", "1 0 = 5 1", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NULL, NULL},
    /* Energy. */
    {"zesPowerGetEnergyCounter", "1 0 = untouched", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NO_VALUE,
     NULL},
    {"zesPowerGetEnergyCounter", "1 0 = 5 0", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NO_VALUE, NULL},
    {"zesPowerGetEnergyCounter", "1 0 = 0 1", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NULL, NULL},
    {"zesPowerGetEnergyCounter", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, REFUSED,
     TELEM},
    /* Temperatures. */
    {"zesTemperatureGetState", "1 0 = untouched", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, NO_VALUE,
     NULL},
    {"zesTemperatureGetState", "1 0 = -59.5", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, NULL, NULL},
    {"zesTemperatureGetState", "1 0 = 249.5", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, NULL, NULL},
    {"zesTemperatureGetState", "1 0 = 250", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, NO_VALUE,
     NULL},
    {"zesTemperatureGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
     REFUSED, TELEM},
    {"zesTemperatureGetState", "1 0 = !0x70010001", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
     NOT_NOW, NULL},
    {"zesTemperatureGetState", "1 0 = !0x1", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
     "Level Zero answers code 0x1", NULL},
    {"zesTemperatureGetState", "1 0 = !0x78000004", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
     "Level Zero answers code 0x78000004", NULL},
    {"zesTemperatureGetState", "= !nosymbol", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, ABSENT,
     NULL},
    /* Memory. */
    {"zesMemoryGetState", "1 0 = untouched", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NO_VALUE, NULL},
    {"zesMemoryGetState", "1 0 = 0 0 0", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NO_VALUE, NULL},
    {"zesMemoryGetState", "1 0 = 0 1 1", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NULL, NULL},
    {"zesMemoryGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_MEMORY_REGION, REFUSED, TELEM},
    {"zesMemoryGetBandwidth", "1 0 = untouched", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NO_VALUE,
     NULL},
    {"zesMemoryGetBandwidth", "1 0 = 5 6 9000000 0", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NO_VALUE,
     NULL},
    {"zesMemoryGetBandwidth", "1 0 = 0 0 9000000 5", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NO_VALUE,
     NULL},
    {"zesMemoryGetBandwidth", "1 0 = 1 0 0 1", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NULL, NULL},
    {"zesMemoryGetBandwidth", "1 0 = 0 1 0 1", GTEL_MEASUREMENT_GPU_MEMORY_REGION, NULL, NULL},
    /* Errors, ports and fans. */
    {"zesRasGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_ERROR, REFUSED, ROOT},
    {"zesRasGetState", "= !nosymbol", GTEL_MEASUREMENT_GPU_ERROR, ABSENT, NULL},
    {"zesFabricPortGetState", "1 0 = 0", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE, NULL},
    {"zesFabricPortGetState", "1 0 = 5", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE, NULL},
    {"zesFabricPortGetState", "1 0 = 4", GTEL_MEASUREMENT_GPU_FABRIC, NULL, NULL},
    {"zesFabricPortGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_FABRIC, REFUSED, ROOT},
    {"zesFabricPortGetThroughput", "1 0 = untouched", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE, NULL},
    {"zesFabricPortGetThroughput", "1 0 = 0 4 5", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE, NULL},
    {"zesFabricPortGetThroughput", "1 0 = 1 4 5", GTEL_MEASUREMENT_GPU_FABRIC, NULL, NULL},
    {"zesFabricPortGetFabricErrorCounters", "1 0 = untouched", GTEL_MEASUREMENT_GPU_FABRIC,
     NO_VALUE, NULL},
    {"zesFabricPortGetFabricErrorCounters", "1 0 = -1 0 0 0", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE,
     NULL},
    {"zesFabricPortGetFabricErrorCounters", "1 0 = 0 0 0 -1", GTEL_MEASUREMENT_GPU_FABRIC, NO_VALUE,
     NULL},
    {"zesFanGetState", "1 0 0 = -1", GTEL_MEASUREMENT_GPU_FAN, NO_VALUE, NULL},
    {"zesFanGetState", "1 0 0 = 100000", GTEL_MEASUREMENT_GPU_FAN, NULL, NULL},
    {"zesFanGetState", "1 0 0 = 100001", GTEL_MEASUREMENT_GPU_FAN, NO_VALUE, NULL},
    {"zesFanGetState", "1 0 0 = !0x70010000", GTEL_MEASUREMENT_GPU_FAN, REFUSED, NULL},
    {"zesFanGetState", "= !nosymbol", GTEL_MEASUREMENT_GPU_FAN, ABSENT, NULL},
    /* Lists. */
    {"zesDeviceEnumFans", "1 = !0x78000003", GTEL_MEASUREMENT_GPU_FAN, ABSENT, NULL},
    {"zesDeviceEnumFans", "= !nosymbol", GTEL_MEASUREMENT_GPU_FAN, ABSENT, NULL},
    {"zesDeviceEnumFans", "1 = !0x7ffffffe", GTEL_MEASUREMENT_GPU_FAN,
     "Level Zero answers code 0x7ffffffe", NULL},
    {"zesDeviceEnumMemoryModules", "1 = !0x70010000", GTEL_MEASUREMENT_GPU_MEMORY_REGION, REFUSED,
     TELEM},
};

/* The finding about a call, of the xe card; NULL: none. */
static const struct gtel_finding *find_call(const struct gtel_findings *findings, const char *call)
{
    for (size_t i = 0; i < findings->n; i++)
        if (findings->finding[i].device && strcmp(findings->finding[i].device->key, xe) == 0 &&
            gtel_str_eq(findings->finding[i].what, gtel_str_of(call)) &&
            !gtel_str_starts(findings->finding[i].why, GTEL_STR("the driver says that nothing")))
            return &findings->finding[i];
    return NULL;
}

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct machine m;
        char text[200];
        (void)snprintf(text, sizeof(text), "call %s %s\n", cases[i].call, cases[i].arguments);
        test_label = text;
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        const struct gtel_finding *finding = find_call(&findings, cases[i].call);
        CHECK((finding != NULL) == (cases[i].why != NULL));
        if (finding && cases[i].why) {
            CHECK_INT(finding->measurement, cases[i].group);
            CHECK_STR(finding->why, cases[i].why);
            CHECK_STR(finding->fix, cases[i].fix ? cases[i].fix : "");
        }
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

/* What has no value is asked again after pauses: when in 20 gathers of a second. */
static void test_pauses(void)
{
    static const unsigned at[] = {1, 2, 3, 5, 9, 17};
    struct machine m;
    size_t asked = 0;
    if (!begin(&m, "call zesDevicePciGetStats 1 = 0 3 0 11 12\n"))
        return;
    spy.count_name = "zesDevicePciGetStats";
    for (unsigned second = 1; second <= 20; second++) {
        gather(&m, 1);
        asked += asked < GTEL_ARRAY_LEN(at) && at[asked] == second;
        CHECK_INT(spy.counted, asked);
    }
    finish(&m);
}

/*
 * What one of two sensors lacks, or fails to describe, is asked again: when in 20 minutes of a
 * gather each ten seconds, whichever of both it is.
 */
static void test_lists_again(void)
{
    static const struct {
        const char *code;
        unsigned calls; /* for both, and one of i915 */
    } rows[] = {{"!0x78000003", 3 + 1 + 1}, {"!0x70010000", 3 + 1 + 1}};
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[100];
        (void)snprintf(text, sizeof(text), "call zesTemperatureGetProperties 1 %u = %s\n",
                       (unsigned)(i % 2), rows[i / 2].code);
        test_label = text;
        if (!begin(&m, text))
            return;
        spy.count_name = "zesTemperatureGetProperties";
        for (unsigned k = 0; k <= 120; k++)
            gather(&m, k == 0 ? 1 : 10);
        CHECK_INT(spy.counted, rows[i / 2].calls);
        CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, i % 2 ? "gpu" : "memory", NULL), i % 2 ? 61.5 : 66,
                   0);
        finish(&m);
    }
    test_label = "";
}

/* The first of two fails, the second does not. */
static void test_first_again(void)
{
    struct machine m;
    if (!begin(&m, "call zesTemperatureGetProperties 1 0 = !0x7ffffffe\n"
                   "at 2s\ncall zesTemperatureGetProperties 1 0 = 1 0 0 100\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), 66, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), 61.5, 0);
    finish(&m);
}

/* Each family's parts are described once, and those that could not be are again. */
static void test_described_again(void)
{
    struct machine m;
    if (!begin(&m, "call zesTemperatureGetProperties 1 1 = !0x7ffffffe\n"
                   "at 4s\ncall zesTemperatureGetProperties 1 1 = 2 0 0 -1\n"))
        return;
    spy.count_name = "zesTemperatureGetProperties";
    static const unsigned counts[] = {3, 4, 5, 5, 6, 6, 6, 6, 6, 6}; /* i915's and both */
    for (size_t i = 0; i < GTEL_ARRAY_LEN(counts); i++) {
        gather(&m, 1);
        CHECK_INT(spy.counted, counts[i]);
        CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "memory", NULL), i < 4 ? -1 : 66, 0);
        CHECK_NEAR(value(&m, GTEL_M_TEMPERATURE, "gpu", NULL), 61.5, 0);
    }
    finish(&m);
}

#define CLOCK(flags) "call zesFrequencyGetState 1 0 = 0.75 1500 -1 400 1400 " flags "\n"
#define LINK "call zesDevicePciGetState 1 = "
#define MEMORY "call zesMemoryGetState 1 0 = "
#define TWO_POWERS                                                                                 \
    "call zesDeviceEnumPowerDomains 1 = 2\ncall zesPowerGetEnergyCounter 1 1 = 1500000 1000\n"

/* Limits of values, one past which is none, and what flags and numbers stand for. */
static const struct value_case {
    const char *text;
    enum gtel_metric metric;
    const char *dim;
    const char *dim_2;
    double want; /* -1: there is no such reading */
} values[] = {
    {CLOCK("0x1"), GTEL_M_THROTTLE_ACTIVE, "pl1", "0", 1},
    {CLOCK("0x2"), GTEL_M_THROTTLE_ACTIVE, "pl2", "0", 1},
    {CLOCK("0x4"), GTEL_M_THROTTLE_ACTIVE, "pl4", "0", 1},
    {CLOCK("0x4"), GTEL_M_THROTTLE_ACTIVE, "thermal", "0", 0},
    {CLOCK("0x4"), GTEL_M_THROTTLE_ACTIVE, "psu_alert", "0", -1},
    {CLOCK("0x10"), GTEL_M_THROTTLE_ACTIVE, "psu_alert", "0", 1},
    {CLOCK("0x10"), GTEL_M_THROTTLE_ACTIVE, "thermal", "0", 0},
    {CLOCK("0x10"), GTEL_M_THROTTLE_ACTIVE, "hardware_range", "0", -1},
    {CLOCK("0x40"), GTEL_M_THROTTLE_ACTIVE, "hardware_range", "0", 1},
    {CLOCK("0x80"), GTEL_M_THROTTLE_ACTIVE, "any_voltage", "0", 1},
    {CLOCK("0x100"), GTEL_M_THROTTLE_ACTIVE, "any_thermal", "0", 1},
    {CLOCK("0x200"), GTEL_M_THROTTLE_ACTIVE, "any_power", "0", 1},
    {CLOCK("0x20"), GTEL_M_THROTTLE_ACTIVE, "pl1", "0", 0},
    {CLOCK("0xffffffff"), GTEL_M_THROTTLE_ACTIVE, "pl1", "0", -1},
    {"call zesFrequencyGetProperties 1 0 = 1 0 0 100 2600\n", GTEL_M_THROTTLE_ACTIVE, "thermal",
     NULL, -1},
    {"call zesFrequencyGetProperties 1 0 = 1 0 0 100 2600\n", GTEL_M_FREQUENCY_ACTUAL, "memory",
     NULL, 1400e6},
    {"call zesFrequencyGetProperties 1 0 = 2 0 0 100 2600\n", GTEL_M_FREQUENCY_ACTUAL, "media", "1",
     1400e6},
    {"call zesFrequencyGetProperties 1 0 = 2 1 0 100 2600\n", GTEL_M_FREQUENCY_ACTUAL, "media",
     NULL, 1400e6},
    {"call zesFrequencyGetProperties 1 0 = 3 0 0 100 2600\n", GTEL_M_FREQUENCY_ACTUAL, "media", "1",
     -1},
    {"call zesFrequencyGetProperties 1 0 = 0 1 999\n", GTEL_M_FREQUENCY_ACTUAL, "graphics", "999",
     1400e6},
    {"call zesFrequencyGetProperties 1 0 = 0 1 1000\n", GTEL_M_FREQUENCY_ACTUAL, "graphics", "0",
     1400e6},
    {"call zesFrequencyGetProperties 1 0 = 0 2 1\n", GTEL_M_FREQUENCY_ACTUAL, "graphics", "0",
     1400e6},
    {"call zesFrequencyGetProperties 1 0 = 0 1 0\n", GTEL_M_VOLTAGE, "graphics", NULL, -1},
    {"call zesFrequencyGetProperties 1 0 = 0 1 0\n", GTEL_M_GPU_THROTTLED_TIME, NULL, NULL, -1},
    {"call zesFrequencyGetProperties 1 0 = 2 0 0\n", GTEL_M_GPU_THROTTLED_TIME, NULL, NULL, -1},
    {"call zesFrequencyGetState 1 0 = 19.5 1500 -1 400 1400 8\n", GTEL_M_VOLTAGE, "graphics", NULL,
     19.5},
    {"call zesFrequencyGetState 1 0 = 20 1500 -1 400 1400 8\n", GTEL_M_VOLTAGE, "graphics", NULL,
     -1},
    {"call zesFrequencyGetState 1 0 = 0 1500 -1 400 1400 8\n", GTEL_M_VOLTAGE, "graphics", NULL,
     -1},
    {"call zesFrequencyGetState 1 0 = 1 1500 -1 400 19999 8\n", GTEL_M_FREQUENCY_ACTUAL, "graphics",
     "0", 19999e6},
    {"call zesFrequencyGetState 1 0 = 1 1500 -1 400 20000 8\n", GTEL_M_FREQUENCY_ACTUAL, "graphics",
     "0", -1},
    {"call zesFrequencyGetState 1 0 = 1 1500 -1 0 1400 8\n", GTEL_M_FREQUENCY_EFFICIENT, "graphics",
     "0", -1},
    {"call zesFrequencyGetState 1 0 = 1 0 -1 400 1400 8\n", GTEL_M_FREQUENCY_REQUESTED, "graphics",
     "0", 0},
    {"call zesFrequencyGetState 1 0 = 1 1500 -1 400 1400.0000006 8\n", GTEL_M_FREQUENCY_ACTUAL,
     "graphics", "0", 1400000001},
    {"call zesFrequencyGetRange 1 0 = 0 2400\n", GTEL_M_FREQUENCY_MIN, "graphics", "0", 0},
    {LINK "0 15 8 0\n", GTEL_M_GPU_PCIE_GEN, NULL, NULL, 15},
    {LINK "0 16 8 0\n", GTEL_M_GPU_PCIE_GEN, NULL, NULL, -1},
    {LINK "0 1 8 0\n", GTEL_M_GPU_PCIE_GEN, NULL, NULL, 1},
    {LINK "0 4 32 0\n", GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, 32},
    {LINK "0 4 33 0\n", GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, -1},
    {LINK "0 4 1 0\n", GTEL_M_GPU_PCIE_WIDTH, NULL, NULL, 1},
    {"call zesDevicePciGetStats 1 = 1000 3 0 5 0\n", GTEL_M_GPU_PCIE_TX, NULL, NULL, 0},
    {"call zesDevicePciGetStats 1 = 1000 3 0 0 5\n", GTEL_M_GPU_PCIE_RX, NULL, NULL, 0},
    {"call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 0 0 1\n", GTEL_M_GPU_PCIE_RX, NULL, NULL,
     -1},
    {"call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 1 0 0\n", GTEL_M_GPU_PCIE_RX, NULL, NULL,
     11},
    {"call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 0 1 0\n"
     "call zesDevicePciGetStats 1 = 1000 3 1 11 12\n",
     GTEL_M_GPU_PCIE_PACKETS, NULL, NULL, 1},
    {MEMORY "0 999 1000\n", GTEL_M_MEMORY_USED, "vram0", NULL, 1},
    {MEMORY "0 1001 1000\n", GTEL_M_MEMORY_USED, "vram0", NULL, -1},
    {MEMORY "0 0 1000\n", GTEL_M_MEMORY_USED, "vram0", NULL, 1000},
    {MEMORY "0 1000 1000\n", GTEL_M_GPU_MEMORY_TOTAL, NULL, NULL, 1000},
    {MEMORY "0 1000 1000\n", GTEL_M_GPU_MEMORY_USED, NULL, NULL, -1},
    {MEMORY "3 750 1000\n", GTEL_M_MEMORY_HEALTH, "vram0", NULL, 2},
    {"call zesMemoryGetBandwidth 1 0 = 1000000 1000000 1000000 1000\n", GTEL_M_MEMORY_PEAK_TIME,
     "vram0", NULL, 2},
    {"call zesMemoryGetBandwidth 1 0 = 1000000 1000000 999999 1000\n", GTEL_M_MEMORY_PEAK_TIME,
     "vram0", NULL, -1},
    {"call zesDeviceEnumMemoryModules 1 = 2\ncall zesMemoryGetProperties 1 1 = 2 0 0 0 1000\n",
     GTEL_M_GPU_MEMORY_PEAK_TIME, NULL, NULL, 2},
    {"call zesDeviceEnumMemoryModules 1 = 2\ncall zesMemoryGetProperties 1 1 = 17 0 0 1 1000\n",
     GTEL_M_GPU_MEMORY_PEAK_TIME, NULL, NULL, -1},
    {"call zesDeviceEnumMemoryModules 1 = 2\ncall zesMemoryGetProperties 1 1 = 17 0 0 1 1000\n",
     GTEL_M_GPU_MEMORY_TOTAL, NULL, NULL, -1},
    {"call zesFabricPortGetState 1 0 = 2\n", GTEL_M_FABRIC_UP, "0.3", NULL, 1},
    {"call zesFabricPortGetState 1 0 = 3\n", GTEL_M_FABRIC_HEALTH, "0.3", NULL, 2},
    {"call zesFabricPortGetState 1 0 = 4\n", GTEL_M_FABRIC_UP, "0.3", NULL, 0},
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 -1\n", GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL,
     -1},
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 0\n", GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL,
     -1},
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 1\n", GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL,
     1},
    {"call zesTemperatureGetProperties 1 0 = 1 0 0 -20\n", GTEL_M_TEMPERATURE_EMERGENCY, "gpu",
     NULL, -1},
    {"call zesFanGetProperties 1 0 = 0 0 0\n", GTEL_M_FAN_RPM, "1", NULL, 900},
    {"call zesFanGetProperties 1 0 = 0 0 3\n", GTEL_M_FAN_RPM, "1", NULL, 900},
    {"call zesFanGetProperties 1 0 = untouched\n", GTEL_M_FAN_RPM, "1", NULL, -1},
    {"call zesDeviceEnumFans 1 = 2\ncall zesFanGetProperties 1 1 = 0 0 1\n"
     "call zesFanGetState 1 1 0 = 700\n",
     GTEL_M_FAN_RPM, "2", NULL, 700},
    {"call zesFabricPortGetProperties 1 0 = untouched\n", GTEL_M_FABRIC_UP, "0.3", NULL, -1},
    {"call zesRasGetProperties 1 0 = 2 0 0\n", GTEL_M_ERROR_COUNT, "ras-reset", "uncorrected", -1},
    {"call zesRasGetStateExp 1 0 = 12 41\n", GTEL_M_ERROR_COUNT, "ras-soc-internal", "uncorrected",
     41},
    /* Names of power domains, of a card and of its tiles. */
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 0\n", GTEL_M_ENERGY, "pkg", NULL,
     1.5},
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 2\n", GTEL_M_ENERGY, "pkg", NULL,
     1.5},
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 3\n", GTEL_M_ENERGY, "stack", NULL,
     1.5},
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 5\n", GTEL_M_ENERGY, "gpu", NULL,
     1.5},
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 1 1 -1 -1 -1 2\n", GTEL_M_ENERGY, "pkg-tile1",
     NULL, 1.5},
    {TWO_POWERS "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 6\n", GTEL_M_ENERGY, "gpu", NULL,
     -1},
};

static void test_values(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(values); i++) {
        const struct value_case *c = &values[i];
        struct machine m;
        test_label = c->text;
        if (!begin(&m, c->text))
            return;
        gather(&m, 1);
        CHECK_NEAR(value(&m, c->metric, c->dim, c->dim_2), c->want, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* The older call: limits that are switched off are none, and of a minute later no more. */
static void test_old_limits(void)
{
    static const struct {
        unsigned after;
        double limit_w;
        double burst_w;
        double peak_w;
    } want[] = {{1, 50, 60, 70}, {60, -1, 60, -1}, {60, 55, -1, 75}};
    struct machine m;
    if (!begin(&m, "call zesPowerGetLimits 1 1 = 1 50000 0 1 60000 70000 -1\n"
                   "at 30s\ncall zesPowerGetLimits 1 1 = 0 50000 0 1 60000 0 -1\n"
                   "at 90s\ncall zesPowerGetLimits 1 1 = 1 55000 0 0 60000 75000 80000\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, want[i].after);
        CHECK_NEAR(value(&m, GTEL_M_POWER_LIMIT, "memory", NULL), want[i].limit_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_POWER_BURST_LIMIT, "memory", NULL), want[i].burst_w, 0);
        CHECK_NEAR(value(&m, GTEL_M_POWER_PEAK_LIMIT, "memory", NULL), want[i].peak_w, 0);
    }
    finish(&m);
}

/* Counters have the device's own time, 1 ms here, and all else that of the gather. */
static void test_clocks(void)
{
    static const enum gtel_metric counters[] = {
        GTEL_M_GPU_PCIE_RX,      GTEL_M_GPU_PCIE_TX,
        GTEL_M_GPU_PCIE_PACKETS, GTEL_M_ENERGY,
        GTEL_M_GPU_ENERGY,       GTEL_M_GPU_THROTTLED_TIME,
        GTEL_M_MEMORY_READ,      GTEL_M_MEMORY_WRITE,
        GTEL_M_MEMORY_PEAK_TIME, GTEL_M_GPU_MEMORY_PEAK_TIME,
        GTEL_M_FABRIC_RX,        GTEL_M_FABRIC_TX};
    size_t found = 0;
    struct machine m;
    if (!begin(&m, "call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 1 1 0\n"
                   "call zesDevicePciGetStats 1 = 1000 3 5 11 12\n"))
        return;
    gather(&m, 1);
    for (size_t i = 0; i < m.group.batch.n; i++) {
        const struct gtel_reading *r = &m.group.batch.reading[i];
        bool is_counter = false;
        for (size_t k = 0; k < GTEL_ARRAY_LEN(counters); k++)
            is_counter = is_counter || r->metric == counters[k];
        if (strcmp(r->device->key, xe) != 0)
            continue;
        found += is_counter;
        test_label = gtel_metric_row((enum gtel_metric)r->metric)->field.p;
        CHECK_INT(r->has_device_clock, is_counter);
        CHECK_INT(r->t_ns, is_counter ? 1000000 : gtel_env_now(&m.env));
    }
    test_label = "";
    CHECK_INT(found, GTEL_ARRAY_LEN(counters) + 1); /* energy of two domains */
    finish(&m);
    if (!begin(&m, "call zesDevicePciGetStats 1 = 1 3 5 11 12\n"))
        return;
    gather(&m, 1);
    const struct gtel_reading *r = find(&m, xe, GTEL_M_GPU_PCIE_RX, NULL, NULL);
    CHECK(r && r->has_device_clock && r->t_ns == 1000); /* the earliest there can be */
    finish(&m);
}

/* i915 has one counter, which is the card's; what belongs to a tile is not. */
static void test_power_of_i915(void)
{
    struct machine m;
    if (!begin(&m, "call zesDeviceEnumPowerDomains 0 = 3\n"
                   "call zesPowerGetProperties 0 0 = 0 0 -1 -1 -1 2\n"
                   "call zesPowerGetProperties 0 1 = 1 0 -1 -1 -1 2\n"
                   "call zesPowerGetProperties 0 2 = 0 0 -1 -1 -1 4\n"
                   "call zesPowerGetEnergyCounter 0 0 = 5000000 1000\n"
                   "call zesPowerGetEnergyCounter 0 1 = 2000000 1000\n"
                   "call zesPowerGetEnergyCounter 0 2 = 1000000 1000\n"))
        return;
    gather(&m, 1);
    static const struct {
        const char *name;
        double joules;
    } want[] = {{"card", 5}, {"pkg-tile0", 2}, {"memory", 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        const struct gtel_reading *r = find(&m, i915, GTEL_M_ENERGY, want[i].name, NULL);
        CHECK_NEAR(r ? gtel_reading_number(r) : -1, want[i].joules, 1e-9);
    }
    finish(&m);
}

/* What fails, and whether all readings work again: each once, and the latter of all of them. */
static void test_logs(void)
{
    static const struct {
        const char *failing; /* from second 3 on */
        const char *first;   /* what is logged of it */
    } rows[] = {
        {"call zesTemperatureGetState 1 0 = !0x7ffffffe\n",
         "sysman: 0000:03:00.0: 1 readings failed, first zesTemperatureGetState with code "
         "0x7ffffffe"},
        {"call zesTemperatureGetState 1 0 = !0x7ffffffe\ncall zesFanGetState 1 0 0 = !0x78000006\n",
         "sysman: 0000:03:00.0: 2 readings failed, first zesTemperatureGetState with code "
         "0x7ffffffe"},
        /* Of what has answered before, it is a failure, too. */
        {"call zesTemperatureGetState 1 0 = !0x78000004\n",
         "sysman: 0000:03:00.0: 1 readings failed, first zesTemperatureGetState with code "
         "0x7ffffffe"},
        {"call zesMemoryGetBandwidth 1 0 = !0x7ffffffe\n",
         "sysman: 0000:03:00.0: 1 readings failed, first zesMemoryGetBandwidth with code "
         "0x7ffffffe"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[400];
        test_label = rows[i].failing;
        (void)snprintf(text, sizeof(text),
                       "at 3s\n%sat 6s\ncall zesTemperatureGetState 1 0 = 61.5\n"
                       "call zesFanGetState 1 0 0 = 900\n"
                       "call zesMemoryGetBandwidth 1 0 = 3000000 1000000 2000000 1000\n",
                       rows[i].failing);
        if (!begin(&m, text))
            return;
        for (unsigned second = 1; second <= 5; second++) {
            gather(&m, 1);
            CHECK_INT(spy.logs[GTEL_LOG_WARNING], second >= 3);
            if (second == 3)
                CHECK_STR(gtel_str_of(spy.last_log), rows[i].first);
        }
        for (unsigned second = 6; second <= 30; second++)
            gather(&m, 1);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
        CHECK_STR(gtel_str_of(spy.last_log), "sysman: 0000:03:00.0: all readings work again");
        finish(&m);
    }
    test_label = "";
}

/* Lists and descriptions count, too; in the end all of them work. */
static void test_log_of_lists(void)
{
    struct machine m;
    if (!begin(&m, "call zesDeviceEnumFans 1 = !0x7ffffffe\n"
                   "call zesTemperatureGetProperties 1 1 = !0x7ffffffe\n"
                   "at 2s\ncall zesDeviceEnumFans 1 = 1\n"
                   "at 10s\ncall zesTemperatureGetProperties 1 1 = 2 0 0 -1\n"))
        return;
    for (unsigned second = 1; second <= 30; second++) {
        gather(&m, 1);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], second >= 17); /* asked at 1, 2, 3, 5, 9 and 17 */
    }
    finish(&m);
}

/* ---- lost ---- */

static void test_log_of_lost(void)
{
    static const struct {
        const char *code;
        const char *log;
    } rows[] = {
        {"0x70000001", "sysman: 0000:03:00.0: the GPU is lost (Level Zero code 0x70000001); trying "
                       "again"},
        {"0x70000006", "sysman: 0000:03:00.0: the GPU needs a reset or repair (Level Zero code "
                       "0x70000006); trying again"},
        {"0x78000020", "sysman: 0000:03:00.0: the GPU needs a reset or repair (Level Zero code "
                       "0x78000020); trying again"},
        {"0x78000001", "sysman: 0000:03:00.0: Level Zero says that it is not started (Level Zero "
                       "code 0x78000001); trying again"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[300];
        test_label = rows[i].code;
        (void)snprintf(text, sizeof(text),
                       "at 3s\ncall zesTemperatureGetState 1 0 = !%s\n"
                       "call zesDeviceGetProperties 1 = !%s\n"
                       "at 6s\ncall zesTemperatureGetState 1 0 = 61.5\n" XE_ANSWERS,
                       rows[i].code, rows[i].code);
        if (!begin(&m, text))
            return;
        spy.count_name = "zesTemperatureGetState";
        for (unsigned second = 1; second <= 13; second++) {
            spy.counted = 0;
            gather(&m, 1);
            CHECK_INT(spy.counted, second < 3 || second == 13 ? 3 : second == 3 ? 2 : 1);
            if (second == 3)
                CHECK_STR(gtel_str_of(spy.last_log), rows[i].log);
        }
        CHECK_STR(gtel_str_of(spy.last_log), "sysman: 0000:03:00.0: the GPU answers again");
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
        finish(&m);
    }
    test_label = "";
}

static void test_log_of_rights(void)
{
    struct machine m;
    if (!begin(&m, "call zesFanGetState 1 0 0 = !0x70010000\n"))
        return;
    spy.count_name = "zesFanGetState";
    for (unsigned i = 0; i < 10; i++)
        gather(&m, 1);
    CHECK_INT(spy.counted, 1); /* rarely */
    CHECK_STR(gtel_str_of(spy.last_log), "sysman: 0000:03:00.0: zesFanGetState is not permitted; "
                                         "gtel doctor says which right it needs");
    CHECK_INT(spy.logs[GTEL_LOG_INFO], 1);
    finish(&m);
}

/* An A750 under Windows: a peak in bits, and a memory clock in transfers. */
static void test_units_of_dg2(void)
{
    static const struct {
        const char *card; /* its id */
        const char *text;
        double peak_s;
        double max_hz; /* of the memory */
    } units[] = {
        {"56A1", "call zesMemoryGetBandwidth 1 0 = 3000000 2000000 1000000000000 1000\n", 5e-6,
         2400e6},
        {"56A1", "call zesMemoryGetBandwidth 1 0 = 3000000 2000000 1000000000001 1000\n", -1,
         2400e6},
        {"E20B", "call zesMemoryGetBandwidth 1 0 = 3000000 2000000 4096000000000 1000\n",
         5e6 / 4096e9, 2400e6},
        {"56A1", "call zesFrequencyGetProperties 1 0 = 1 0 0 100 4000\n", 2, 2400e6},
        {"56A1", "call zesFrequencyGetProperties 1 0 = 1 0 0 100 16000\n", 2, -1},
        {"E20B", "call zesFrequencyGetProperties 1 0 = 1 0 0 100 16000\n", 2, 2400e6},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(units); i++) {
        char head[2048];
        char text[512];
        struct machine m;
        test_label = units[i].text;
        (void)snprintf(head, sizeof(head), CARD("card0", "0000:03:00.0", "xe", "%s") LIBRARY,
                       units[i].card);
        (void)snprintf(text, sizeof(text), "%s%s", units[i].text,
                       i < 3 ? "call zesFrequencyGetProperties 1 0 = 1 0 0 100 2000\n" : "");
        if (!begin_with(&m, head, text))
            continue;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_PEAK_TIME, "vram0", NULL), units[i].peak_s, 1e-12);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_READ, "vram0", NULL), 3000000, 0);
        CHECK_NEAR(value(&m, GTEL_M_FREQUENCY_MAX, "memory", NULL), units[i].max_hz, 0);
        CHECK(!find(&m, xe, GTEL_M_FREQUENCY_ACTUAL, "memory", NULL) == (units[i].max_hz < 0));
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_cases();
    test_pauses();
    test_lists_again();
    test_first_again();
    test_described_again();
    test_values();
    test_old_limits();
    test_clocks();
    test_units_of_dg2();
    test_power_of_i915();
    test_logs();
    test_log_of_lists();
    test_log_of_lost();
    test_log_of_rights();
    return test_result();
}
