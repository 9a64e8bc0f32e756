/* SPDX-License-Identifier: MIT */
/* What Level Zero answers to each question of the Sysman source, as the doctor reports it. */
#include "harness/sysman_machine.h"
#include "harness/test.h"

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
    {"zesDevicePciGetState", "1 = 1 -1 -1 -1", GTEL_MEASUREMENT_GPU, NULL, NULL},
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
    {"zesStandbyGetMode", "1 0 = 5", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NO_VALUE, NULL},
    {"zesStandbyGetMode", "1 0 = 0", GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NULL, NULL},
    /* Energy, limits and power supplies. */
    {"zesPowerGetEnergyCounter", "1 0 = untouched", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NO_VALUE,
     NULL},
    {"zesPowerGetEnergyCounter", "1 0 = 5 0", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NO_VALUE, NULL},
    {"zesPowerGetEnergyCounter", "1 0 = 0 1", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NULL, NULL},
    {"zesPowerGetEnergyCounter", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, REFUSED,
     TELEM},
    {"zesPsuGetState", "1 0 = untouched", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, NO_VALUE, NULL},
    {"zesPsuGetState", "1 0 = !0x70010000", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, REFUSED, NULL},
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
    {"zesTemperatureGetConfig", "1 0 = untouched", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
     NO_VALUE, NULL},
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

int main(void)
{
    test_cases();
    test_pauses();
    test_described_again();
    return test_result();
}
