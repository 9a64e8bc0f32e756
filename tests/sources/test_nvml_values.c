/* SPDX-License-Identifier: MIT */
/* What the NVML source makes of each kind of answer: types, limits, and what is no value. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

#include <errno.h>

#define POWER "call nvmlDeviceGetFieldValues 0 186 0 = "
#define V2 "call nvmlDeviceGetMemoryInfo_v2 0 = "
#define V1 "call nvmlDeviceGetMemoryInfo 0 = "
#define REASONS "call nvmlDeviceGetCurrentClocksEventReasons 0 = "
#define FAN(n, answer) "call nvmlDeviceGetFanSpeed_v2 0 " n " = " answer "\n"
#define FANS                                                                                       \
    FAN("0", "30")                                                                                 \
    FAN("1", "31")                                                                                 \
    FAN("2", "32")                                                                                 \
    FAN("3", "33")                                                                                 \
    FAN("4", "34")                                                                                 \
    FAN("5", "35")                                                                                 \
    FAN("6", "36")                                                                                 \
    FAN("7", "37")                                                                                 \
    FAN("8", "38")                                                                                 \
    FAN("9", "39") FAN("10", "40") FAN("11", "41") FAN("12", "42")
#define TEMPERATURE "call nvmlDeviceGetTemperatureV 0 = "
#define MEMORY_TEMPERATURE "call nvmlDeviceGetFieldValues 0 82 0 = "
#define SRAM "call nvmlDeviceGetSramEccErrorStatus 0 = "

/* After one gather; -1: there is no such reading. */
static const struct value_case {
    const char *text;
    enum gtel_metric metric;
    const char *dim;
    const char *dim_2;
    double want;
} cases[] = {
    /* Fields, by the type that they say. */
    {POWER "uint 625240\n", GTEL_M_POWER, "gpu", NULL, 625.24},
    {POWER "uint 4294967294\n", GTEL_M_POWER, "gpu", NULL, 4294967.294},
    {POWER "uint 4294967295\n", GTEL_M_POWER, "gpu", NULL, -1},
    {POWER "ulong 625240\n", GTEL_M_POWER, "gpu", NULL, 625.24},
    {POWER "ulong 18446744073709551615\n", GTEL_M_POWER, "gpu", NULL, -1},
    {POWER "ull 625240\n", GTEL_M_POWER, "gpu", NULL, 625.24},
    {POWER "ull 18446744073709551615\n", GTEL_M_POWER, "gpu", NULL, -1},
    {POWER "sll 625240\n", GTEL_M_POWER, "gpu", NULL, 625.24},
    {POWER "sll -5000\n", GTEL_M_POWER, "gpu", NULL, -5},
    {POWER "int 625240\n", GTEL_M_POWER, "gpu", NULL, 625.24},
    {POWER "int -5000\n", GTEL_M_POWER, "gpu", NULL, -5},
    {POWER "ushort 62524\n", GTEL_M_POWER, "gpu", NULL, 62.524},
    {POWER "double 0\n", GTEL_M_POWER, "gpu", NULL, 0},
    {POWER "double 0.5\n", GTEL_M_POWER, "gpu", NULL, 0.0005},
    {POWER "double -0.5\n", GTEL_M_POWER, "gpu", NULL, -1},
    {POWER "double 9e17\n", GTEL_M_POWER, "gpu", NULL, 9e14},
    {POWER "double 1e18\n", GTEL_M_POWER, "gpu", NULL, -1},
    {POWER "!999\n", GTEL_M_POWER, "gpu", NULL, 627.32}, /* of the mean */
    {POWER "uint 625240\n", GTEL_M_GPU_POWER, NULL, NULL, 625.24},
    {"call nvmlDeviceGetFieldValues 0 94 0 = int 5\n", GTEL_M_GPU_PCIE_REPLAYS, NULL, NULL, 5},
    {"call nvmlDeviceGetFieldValues 0 94 0 = int -1\n", GTEL_M_GPU_PCIE_REPLAYS, NULL, NULL, -1},
    {"call nvmlDeviceGetFieldValues 0 94 0 = double 7.5\n", GTEL_M_GPU_PCIE_REPLAYS, NULL, NULL, 7},
    /* Use. */
    {"call nvmlDeviceGetUtilizationRates 0 = 4294967295 7\n", GTEL_M_GPU_BUSY, NULL, NULL, -1},
    {"call nvmlDeviceGetUtilizationRates 0 = 4294967295 7\n", GTEL_M_GPU_MEMORY_BANDWIDTH, NULL,
     NULL, 0.07},
    {"call nvmlDeviceGetUtilizationRates 0 = 41 4294967295\n", GTEL_M_GPU_BUSY, NULL, NULL, 0.41},
    {"call nvmlDeviceGetUtilizationRates 0 = 41 4294967295\n", GTEL_M_GPU_MEMORY_BANDWIDTH, NULL,
     NULL, -1},
    {"call nvmlDeviceGetUtilizationRates 0 = 100 101\n", GTEL_M_GPU_BUSY, NULL, NULL, 1},
    {"call nvmlDeviceGetUtilizationRates 0 = 808 100\n", GTEL_M_GPU_BUSY, NULL, NULL, -1},
    {"call nvmlDeviceGetUtilizationRates 0 = 100 101\n", GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, NULL,
     -1},
    {"call nvmlDeviceGetUtilizationRates 0 = 808 100\n", GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, NULL,
     1},
    {"call nvmlDeviceGetDecoderUtilization 0 = 101 1\n", GTEL_M_ENGINE_BUSY, "decode", NULL, -1},
    {"call nvmlDeviceGetOfaUtilization 0 = 905 1\n", GTEL_M_ENGINE_BUSY, "ofa", NULL, -1},
    {"call nvmlDeviceGetEncoderUtilization 0 = 12 100000\n", GTEL_M_ENGINE_BUSY, "encode", NULL,
     0.12},
    {"call nvmlDeviceGetEncoderUtilization 0 = 4294967295 1\n", GTEL_M_ENGINE_BUSY, "encode", NULL,
     -1},
    {"call nvmlDeviceGetJpgUtilization 0 = 100 1\n", GTEL_M_ENGINE_BUSY, "jpeg", NULL, 1},
    {"call nvmlDeviceGetEncoderStats 0 = 3 60 8500\n", GTEL_M_ENGINE_FRAMES, "encode", NULL, 60},
    {"call nvmlDeviceGetFBCStats 0 = 2 50 7500\n", GTEL_M_ENGINE_SESSIONS, "capture", NULL, 2},
    {"call nvmlDeviceGetFBCStats 0 = 2 50 7500\n", GTEL_M_ENGINE_FRAMES, "capture", NULL, 50},
    {"call nvmlDeviceGetFBCStats 0 = 2 50 7500\n", GTEL_M_ENGINE_LATENCY, "capture", NULL, 0.0075},
    /* Memory: total, reserved, free, used; and total, free, used. */
    {V2 "1000 1000 0 0\n", GTEL_M_MEMORY_RESERVED, "vram", NULL, 1000},
    {V2 "1000 1001 0 0\n", GTEL_M_MEMORY_RESERVED, "vram", NULL, -1},
    {V2 "1000 0 0 1000\n", GTEL_M_MEMORY_USED, "vram", NULL, 1000},
    {V2 "1000 0 0 1001\n", GTEL_M_MEMORY_USED, "vram", NULL, 350},
    {V2 "0 0 0 0\n", GTEL_M_MEMORY_USED, "vram", NULL, 350},
    {V2 "1 0 1 0\n", GTEL_M_MEMORY_TOTAL, "vram", NULL, 1},
    {V2 "!3\n" V1 "1000 0 1000\n", GTEL_M_MEMORY_USED, "vram", NULL, 1000},
    {V2 "!3\n" V1 "1000 0 1001\n", GTEL_M_MEMORY_USED, "vram", NULL, -1},
    {V2 "!3\n" V1 "1000 650 350\n", GTEL_M_MEMORY_TOTAL, "vram", NULL, 1000},
    {"call nvmlDeviceGetBAR1MemoryInfo 0 = 256 200 56\n", GTEL_M_MEMORY_TOTAL, "bar1", NULL, 256},
    {"call nvmlDeviceGetBAR1MemoryInfo 0 = 256 200 56\n", GTEL_M_MEMORY_VISIBLE, "vram", NULL, 256},
    {"call nvmlDeviceGetBAR1MemoryInfo 0 = 256 0 257\n", GTEL_M_MEMORY_TOTAL, "bar1", NULL, -1},
    /* Degrees have signs. */
    {"call nvmlDeviceGetTemperatureV = !nosymbol\ncall nvmlDeviceGetTemperature 0 0 = -5\n",
     GTEL_M_TEMPERATURE, "gpu", NULL, -5},
    {MEMORY_TEMPERATURE "uint 0\n", GTEL_M_TEMPERATURE, "memory", NULL, 0},
    {MEMORY_TEMPERATURE "double 41\n", GTEL_M_TEMPERATURE, "memory", NULL, 41},
    /* What no GPU has. */
    {MEMORY_TEMPERATURE "uint 200\n", GTEL_M_TEMPERATURE, "memory", NULL, 200},
    {MEMORY_TEMPERATURE "uint 201\n", GTEL_M_TEMPERATURE, "memory", NULL, -1},
    {TEMPERATURE "200\n", GTEL_M_TEMPERATURE, "gpu", NULL, 200},
    {TEMPERATURE "201\n", GTEL_M_TEMPERATURE, "gpu", NULL, -1},
    {TEMPERATURE "-50\n", GTEL_M_TEMPERATURE, "gpu", NULL, -50},
    {TEMPERATURE "-51\n", GTEL_M_TEMPERATURE, "gpu", NULL, -1},
    {"call nvmlDeviceGetMarginTemperature 0 = -60\n", GTEL_M_TEMPERATURE_MARGIN, "gpu", NULL, -60},
    /* An unsigned number that is called a double. */
    {MEMORY_TEMPERATURE "double 0x29\n", GTEL_M_TEMPERATURE, "memory", NULL, 41},
    {MEMORY_TEMPERATURE "double 0xffffffff\n", GTEL_M_TEMPERATURE, "memory", NULL, -1},
    {"call nvmlDeviceGetMarginTemperature 0 = 12\n", GTEL_M_TEMPERATURE_MARGIN, "gpu", NULL, 12},
    {"call nvmlDeviceGetMarginTemperature 0 = -3\n", GTEL_M_TEMPERATURE_MARGIN, "gpu", NULL, -3},
    {"call nvmlDeviceGetTemperatureThreshold 0 0 = 97\n", GTEL_M_TEMPERATURE_EMERGENCY, "gpu", NULL,
     97},
    {"call nvmlDeviceGetTemperatureThreshold 0 2 = 88\n", GTEL_M_TEMPERATURE_LIMIT, "memory", NULL,
     88},
    /* Clocks and what the board can do. */
    {"call nvmlDeviceGetMaxClockInfo 0 1 = 1980\n", GTEL_M_FREQUENCY_MAX, "sm", NULL, -1},
    {"call nvmlDeviceGetMaxClockInfo 0 1 = 1980\n", GTEL_M_FREQUENCY_HARDWARE_MAX, "sm", NULL,
     1980e6},
    {"call nvmlDeviceGetClockInfo 0 2 = 4294967295\n", GTEL_M_FREQUENCY_ACTUAL, "memory", NULL, -1},
    {"call nvmlDeviceGetClockInfo 0 2 = 0\n", GTEL_M_FREQUENCY_ACTUAL, "memory", NULL, 0},
    {"call nvmlDeviceGetPerformanceState 0 = 0\n", GTEL_M_GPU_PERFORMANCE_STATE, NULL, NULL, 0},
    {"call nvmlDeviceGetPerformanceState 0 = 31\n", GTEL_M_GPU_PERFORMANCE_STATE, NULL, NULL, 31},
    {"call nvmlDeviceGetPerformanceState 0 = 33\n", GTEL_M_GPU_PERFORMANCE_STATE, NULL, NULL, -1},
    {"call nvmlDeviceGetTotalEnergyConsumption 0 = 18446744073709551614\n", GTEL_M_ENERGY, "gpu",
     NULL, 18446744073709551.614},
    /* One flag at a time. */
    {REASONS "0x4\n", GTEL_M_THROTTLE_ACTIVE, "power_cap", NULL, 1},
    {REASONS "0x8\n", GTEL_M_THROTTLE_ACTIVE, "hw_slowdown", NULL, 1},
    {REASONS "0x20\n", GTEL_M_THROTTLE_ACTIVE, "sw_thermal", NULL, 1},
    {REASONS "0x40\n", GTEL_M_THROTTLE_ACTIVE, "hw_thermal", NULL, 1},
    {REASONS "0x80\n", GTEL_M_THROTTLE_ACTIVE, "power_brake", NULL, 1},
    {REASONS "0xffffffffffffff7e\n", GTEL_M_THROTTLE_ACTIVE, "power_brake", NULL, 0},
    {REASONS "18446744073709551615\n", GTEL_M_THROTTLE_ACTIVE, "power_brake", NULL, -1},
    {"call nvmlDeviceGetViolationStatus 0 1 = 9 7000000000\n", GTEL_M_THROTTLE_TIME, "thermal",
     NULL, 7},
    {"call nvmlDeviceGetViolationStatus 0 1 = 9 18446744073709551615\n", GTEL_M_THROTTLE_TIME,
     "thermal", NULL, -1},
    /* Fans: as many as there are words for. */
    {FANS, GTEL_M_FAN, "0", NULL, 0.30},
    {FANS, GTEL_M_FAN, "11", NULL, 0.41},
    {FAN("0", "30") FAN("1", "4294967295") FAN("2", "32"), GTEL_M_FAN, "1", NULL, -1},
    {FAN("0", "30") FAN("1", "4294967295") FAN("2", "32"), GTEL_M_FAN, "2", NULL, 0.32},
    {FAN("0", "30") FAN("1", "31") FAN("2", "!999"), GTEL_M_FAN, "0", NULL,
     0.31}, /* the old call */
    {FAN("0", "!2"), GTEL_M_FAN, "0", NULL, 0.31},
    {FAN("0", "0") FAN("1", "!2"), GTEL_M_FAN, "0", NULL, 0},
    {"call nvmlDeviceGetFanSpeedRPM 0 0 = 900\n", GTEL_M_FAN_RPM, "0", NULL, 900},
    {"call nvmlDeviceGetFanSpeedRPM 0 0 = 900\n", GTEL_M_FAN_RPM, "1", NULL, -1},
    {"call nvmlDeviceGetFanSpeedRPM 0 0 = 4294967295\n", GTEL_M_FAN_RPM, "0", NULL, -1},
    /* Health: flags are 1 or 0, whatever number stands for them. */
    {"call nvmlDeviceGetEccMode 0 = 1 1\n", GTEL_M_GPU_ECC, NULL, NULL, 1},
    {"call nvmlDeviceGetEccMode 0 = 1 1\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, 0},
    {"call nvmlDeviceGetEccMode 0 = 2 0\n", GTEL_M_GPU_ECC, NULL, NULL, 1},
    {"call nvmlDeviceGetEccMode 0 = 2 1\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, 0},
    {"call nvmlDeviceGetEccMode 0 = 0 0\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, 0},
    {"call nvmlDeviceGetEccMode 0 = 1 0\n", GTEL_M_GPU_ECC_PENDING, NULL, NULL, 1},
    {"call nvmlDeviceGetEccMode 0 = !3\n", GTEL_M_GPU_ECC, NULL, NULL, -1},
    {"call nvmlDeviceGetRepairStatus 0 = 2 0\n", GTEL_M_GPU_MEMORY_REPAIR_PENDING, NULL, NULL, 1},
    {"call nvmlDeviceGetRepairStatus 0 = 0 3\n", GTEL_M_GPU_TPC_REPAIR_PENDING, NULL, NULL, 1},
    {"call nvmlDeviceGetRepairStatus 0 = 2 0\n", GTEL_M_GPU_TPC_REPAIR_PENDING, NULL, NULL, 0},
    {SRAM "0 0 0 0 0 0 0 0 0 0 0 5\n", GTEL_M_GPU_SRAM_THRESHOLD, NULL, NULL, 1},
    {SRAM "0 0 0 0 0 0 0 0 0 0 0 0\n", GTEL_M_GPU_SRAM_THRESHOLD, NULL, NULL, 0},
    {SRAM "1 0 0 0 0 0 0 0 0 0 0 0\n", GTEL_M_ERROR_COUNT, "ecc_aggregate_sram_parity",
     "uncorrected", 1},
    {"call nvmlDeviceGetTotalEccErrors 0 0 1 = 18446744073709551615\n", GTEL_M_ERROR_COUNT,
     "ecc_aggregate", "corrected", -1},
    {"call nvmlDeviceGetTotalEccErrors 0 0 1 = 18446744073709551614\n", GTEL_M_ERROR_COUNT,
     "ecc_aggregate", "corrected", 18446744073709551614.0},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            return;
        gather(&m, 1);
        const struct gtel_reading *r =
            find(&m, "0000:19:00.0", cases[i].metric, cases[i].dim, cases[i].dim_2);
        CHECK_NEAR(r ? gtel_reading_number(r) : -1, cases[i].want,
                   cases[i].want < 0 ? 0 : cases[i].want * 1e-12);
        finish(&m);
    }
    test_label = "";
}

/* As many fans as there are words for are asked for, and the one after the last. */
static void test_fan_calls(void)
{
    static const struct {
        const char *text;
        unsigned calls;
    } rows[] = {{FANS, 12 + 1}, {"", 3 + 1}, {FAN("0", "!2"), 1 + 1}, {FAN("1", "!10"), 2 + 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        if (!begin(&m, rows[i].text))
            return;
        spy.count_name = "nvmlDeviceGetFanSpeed_v2";
        gather(&m, 1);
        CHECK_INT(spy.counted, rows[i].calls); /* and once for the other GPU */
        finish(&m);
    }
}

/* All fields of a GPU come in one call; where it is refused as a whole, each in one of its own. */
static void test_field_calls(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\n"))
        return;
    spy.count_name = "nvmlDeviceGetFieldValues";
    gather(&m, 1);
    CHECK_INT(spy.counted, 2); /* and how many links there are */
    for (unsigned i = 1; i <= 5; i++) {
        gather(&m, 1);
        CHECK_INT(spy.counted, 2 + i);
    }
    finish(&m);
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\ncall nvmlDeviceGetFieldValues 0 = !3\n"))
        return;
    spy.count_name = "nvmlDeviceGetFieldValues";
    gather(&m, 1);
    CHECK(spy.counted > 40);
    spy.counted = 0;
    gather(&m, 1);
    CHECK_INT(spy.counted, 0); /* none of them is there */
    finish(&m);
}

/* Once a field says that the GPU is lost, what the others say is no failure. */
static void test_lost_fields(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 1\nat 2s\n"
                   "call nvmlDeviceGetFieldValues 0 186 0 = !15\n"
                   "call nvmlDeviceGetFieldValues 0 185 0 = !999\n"))
        return;
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(m.group.batch.failed[0], 0);
    CHECK(strstr(spy.last_log, "the GPU is lost or needs a reset (NVML code 15)") != NULL);
    finish(&m);
}

/* What the memory is now is not known: its share that the CPU sees neither. */
static void test_visible(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetBAR1MemoryInfo 0 = 4096 4040 56\nat 2s\n" V2 "!10\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_VISIBLE, "vram"), 1000, 0);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "bar1"), 56, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_VISIBLE, "vram"), -1, 0);
    finish(&m);
}

/* ---- what is logged, and what counts as a failure ---- */

static void test_logs(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetPerformanceState 0 = 2\n"
                   "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !999\n"
                   "call nvmlDeviceGetPerformanceState 0 = !10\n"
                   "at 4s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n"
                   "at 5s\ncall nvmlDeviceGetPerformanceState 0 = 2\n"
                   "at 6s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"))
        return;
    static const struct {
        uint32_t failed;
        unsigned logs;
        const char *last;
    } want[] = {
        {0, 0, ""},
        {2, 1,
         "0000:19:00.0: 2 readings failed, first nvmlDeviceGetUtilizationRates with code 999"},
        {2, 1, NULL},
        {1, 1, NULL},
        {0, 2, "0000:19:00.0: all readings work again"},
        {0, 3, "0000:19:00.0: the GPU is lost or needs a reset (NVML code 15)"}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, 1);
        CHECK_INT(m.group.batch.failed[0], want[i].failed);
        CHECK_INT(m.group.batch.failed_sources, 0);
        CHECK_INT(spy.logs, want[i].logs);
        if (want[i].last)
            CHECK_STR(gtel_str_of(spy.last_log), want[i].last);
    }
    finish(&m);
}

static void test_log_of_rights(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetUtilizationRates 0 = !4\n"))
        return;
    gather(&m, 1);
    CHECK_INT(spy.logs, 1);
    CHECK_STR(gtel_str_of(spy.last_log),
              "0000:19:00.0: nvmlDeviceGetUtilizationRates is not permitted; run with more rights, "
              "or in a container with the device nodes, to see it");
    CHECK_INT(m.group.batch.failed[0], 0);
    finish(&m);
}

/* How NVML itself fails: once in the log, and in each gather for the whole source. */
static void test_library(void)
{
    static const struct {
        int code;
        const char *log;
    } rows[] = {{9, "nvml: NVML answers code 9: the kernel driver is not loaded; trying again"},
                {18, "nvml: NVML answers code 18: library and kernel driver are of different "
                     "versions: reload the driver or reboot; trying again"}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[60];
        (void)snprintf(text, sizeof(text), "call nvmlInit_v2 = !%d\n", rows[i].code);
        if (!begin(&m, text))
            return;
        for (unsigned k = 0; k < 5; k++) {
            gather(&m, 1);
            CHECK_INT(m.group.batch.n, 0);
            CHECK(m.group.batch.failed_sources != 0);
            CHECK_INT(spy.logs, 1);
        }
        CHECK_STR(gtel_str_of(spy.last_log), rows[i].log);
        finish(&m);
    }
}

/* When NVML is started again after failures: pauses of 0, 10, 20 … 160 and then 300 s. */
static void test_pauses(void)
{
    static const unsigned at[] = {1, 1, 11, 31, 71, 151, 311, 611, 911};
    struct machine m;
    size_t tried = 0;
    if (!begin(&m, "call nvmlInit_v2 = !9\n"))
        return;
    for (unsigned second = 1; second <= 1000; second++) {
        gather(&m, 1);
        while (tried < GTEL_ARRAY_LEN(at) && at[tried] <= second)
            tried++;
        CHECK_INT(spy.opens, tried);
    }
    CHECK_INT(spy.logs, 1);
    finish(&m);
}

/* The env of a recorded machine: installing the library would not help. */
static void test_forbidden(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    spy.open_error = -EPERM;
    gather(&m, 1);
    CHECK_INT(m.group.batch.failed_sources, 0);
    CHECK(strstr(spy.last_log, "a build with -DGTEL_DEMONSTRATION=ON plays") != NULL);
    spy.open_error = 0;
    spy.opens = 0;
    gather(&m, 30);
    CHECK_STR(gtel_str_of(spy.last_log), "nvml: NVML works again");
    finish(&m);
}

/* Without the library no GPU was ever known: that is no failure. With it, it is. */
static void test_no_library(void)
{
    struct machine m;
    if (!begin(&m, ""))
        return;
    spy.open_error = -ENOENT;
    gather(&m, 1);
    CHECK_INT(m.group.batch.failed_sources, 0);
    CHECK_STR(gtel_str_of(spy.last_log),
              "nvml: libnvidia-ml.so.1 cannot be used; install the driver's NVML library");
    spy.open_error = 0;
    spy.opens = 0;
    gather(&m, 30);
    CHECK_STR(gtel_str_of(spy.last_log), "nvml: NVML works again");
    CHECK_INT(m.group.batch.failed_sources, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
    spy.fail_at = spy.calls + 1;
    spy.fail_code = 1; /* NVML is to be started again, and its library is removed */
    spy.open_error = -ENOENT;
    gather(&m, 1);
    gather(&m, 20);
    CHECK(m.group.batch.failed_sources != 0);
    spy.open_error = 0;
    spy.closes = spy.opens = 0;
    finish(&m);
}

int main(void)
{
    test_cases();
    test_fan_calls();
    test_field_calls();
    test_lost_fields();
    test_visible();
    test_logs();
    test_log_of_rights();
    test_library();
    test_pauses();
    test_no_library();
    test_forbidden();
    return test_result();
}
