/* SPDX-License-Identifier: MIT */
/* What the NVML source asks for on which driver and card, and what it makes of it. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

/* A field by driver version: 269 to 271 and 251 to 253 have meant several things. */
static const struct {
    const char *version;
    double want; /* seconds: 251 is 5 s, 269 is 7 s */
} drivers[] = {
    {"570.211.01", -1}, {"574.99", -1},    {"575", -1},
    {"575.0", 5},       {"575.51.02", 5},  {"580.65.06", 5},
    {"580.81.99", 5},   {"580.82.07", 7},  {"580.159.04", 7},
    {"590.48", 7},      {"1000.1.1", 7},   {"580.82.07.1", -1},
    {"580.82.", -1},    {"580..07", -1},   {"580.82.07-beta", -1},
    {"R580.82.07", -1}, {"580.82 07", -1}, {"70000.82", -1},
    {"580,82", -1},     {"unknown", -1},
};

static double sw_thermal(const char *version, const char *more)
{
    struct machine m;
    char text[400];
    (void)snprintf(text, sizeof(text),
                   "call nvmlSystemGetDriverVersion = %s\n"
                   "call nvmlDeviceGetFieldValues 0 251 0 = ull 5000000000\n"
                   "call nvmlDeviceGetFieldValues 0 269 0 = ull 7000000000\n%s",
                   version, more);
    if (!begin(&m, text))
        return 0;
    gather(&m, 0);
    gather(&m, 1);
    double got = value(&m, GTEL_M_THROTTLE_TIME, "sw_thermal");
    finish(&m);
    return got;
}

static void test_drivers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(drivers); i++) {
        test_label = drivers[i].version;
        CHECK_NEAR(sw_thermal(drivers[i].version, ""), drivers[i].want, 1e-9);
    }
    test_label = "";
    CHECK_NEAR(sw_thermal("580.82.07", "call nvmlDeviceGetFieldValues 0 269 0 = !3\n"), -1, 0);
    /* In WSL the version is that of the driver for Windows, which counts otherwise. */
    CHECK_NEAR(sw_thermal("580.88", "file dev/dxg\n"), -1, 0);
    CHECK_NEAR(sw_thermal("!3", ""), -1, 0);
}

/* 32 bits on a link that fills them 14 times a second are no counter; GPM's rate is. */
static void test_pcie(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlGpmQueryDeviceSupport 0 = 1\n"
                   "call nvmlDeviceGetMaxPcieLinkGeneration 0 = 5\n"
                   "call nvmlDeviceGetMaxPcieLinkWidth 0 = 16\n"
                   "call nvmlDeviceGetFieldValues 0 197 0 = uint 4265565972\n"
                   "call nvmlDeviceGetFieldValues 0 198 0 = uint 2002617032\n"
                   "at 2s\ncall nvmlDeviceGetFieldValues 0 197 0 = uint 333823064\n"
                   "call nvmlGpmMetricsGet 0 20 = 50000\ncall nvmlGpmMetricsGet 0 21 = 1.5\n"
                   "at 4s\ncall nvmlGpmMetricsGet 0 21 = unnamed\n"))
        return;
    static const double want[] = {-1, -1, 0, 52428800000.0, -1};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, i ? 1 : 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_PCIE_TX, NULL), want[i], 1);
    }
    finish(&m);
}

static uint64_t slept_ns(void *arg)
{
    (void)arg;
    return 3600ull * SECOND;
}

/* Fields on a link of 250 MB/s. The host sleeps, and they begin at 0 again. */
static void test_host_sleep(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetMaxPcieLinkGeneration 0 = 1\n"
                   "call nvmlDeviceGetMaxPcieLinkWidth 0 = 1\n"
                   "call nvmlDeviceGetCurrPcieLinkGeneration 0 = 1\n"
                   "call nvmlDeviceGetCurrPcieLinkWidth 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 197 0 = uint 4294000000\n"
                   "call nvmlDeviceGetFieldValues 0 198 0 = uint 1000\n"
                   "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 2 = 50\n"
                   "at 2s\ncall nvmlDeviceGetFieldValues 0 197 0 = uint 4294000500\n"
                   "at 3s\ncall nvmlDeviceGetFieldValues 0 197 0 = uint 700\n"))
        return;
    static const double want[] = {-1, 0, 500, -1, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        if (i == 3)
            spy.with_spy.suspended_ns = slept_ns;
        gather(&m, i ? 1 : 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_PCIE_TX, NULL), want[i], 1);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), want[i] < 0 ? -1 : 0.5, 0);
    }
    finish(&m);
}

/* NVML writes eight digits of the domain, the kernel as few as will do. */
static void test_address(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetPciInfo_v3 0 = 00010000:19:00.0 0x233510de 0\n"))
        return;
    gather(&m, 0);
    CHECK(gtel_registry_find(&m.group.registry, GTEL_STR("10000:19:00.0")) != NULL);
    finish(&m);
}

/* What is refused is mentioned once for each GPU. */
static void test_denied(void)
{
    struct machine m;
    if (!begin(&m,
               "call nvmlDeviceGetUtilizationRates 0 = !4\n"
               "call nvmlDeviceGetTemperatureV 0 = !4\ncall nvmlDeviceGetTemperature 0 0 = !4\n"))
        return;
    gather(&m, 0);
    gather(&m, 1);
    CHECK_INT(spy.logs, 1);
    CHECK(strstr(spy.last_log, "not permitted") != NULL);
    finish(&m);
}

/* What the driver asks for, by code of field 230 (NVML header 13.5, nvmlDeviceGpuRecoveryAction_t).
 */
static const struct {
    const char *driver;
    unsigned action;
    double health;
    double reset; /* -1: not known */
} recoveries[] = {
    {"595.10", 0, 0, 0},           {"595.10", 1, 2, 1},     {"595.10", 2, 2, 1},
    {"595.10", 3, 1, 0},           {"595.10", 4, 2, 1},     {"595.10", 5, 1, 0},
    {"595.10", 6, 2, 1},           {"595.10", 7, 2, 1},     {"595.10", 8, 2, -1},
    {"595.10", 4000000000, 2, -1}, {"590.48.01", 0, 0, 0},  {"590.48.01", 3, 1, 0},
    {"590.48.01", 4, 2, 1},        {"590.48.01", 5, 2, -1}, /* of buses, or of peers */
    {"590.48.01", 7, 2, -1},       {"?", 4, 2, 1},          {"?", 5, 2, -1}};

static void test_recovery(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(recoveries); i++) {
        struct machine m;
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "call nvmlSystemGetDriverVersion = %s\n"
                       "call nvmlDeviceGetFieldValues 0 230 0 = uint %u\n",
                       recoveries[i].driver, recoveries[i].action);
        test_label = text;
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_RECOVERY_ACTION, ""), recoveries[i].action, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_HEALTH, ""), recoveries[i].health, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_RESET_NEEDED, ""), recoveries[i].reset, 0);
        finish(&m);
    }
    test_label = "";
}

static double errors(const struct machine *m, const char *kind, const char *severity)
{
    const struct gtel_reading *r = find(m, "0000:19:00.0", GTEL_M_ERROR_COUNT, kind, severity);
    return r ? gtel_reading_number(r) : -1;
}

/* ECC: now, and after the next reset. Each word of a structure goes to its own row. */
static void test_health(void)
{
    static const char *const places[] = {
        "ecc_aggregate_sram_parity", "ecc_aggregate_sram_secded", "ecc_volatile_sram_parity",
        "ecc_volatile_sram_secded",  "ecc_aggregate_sram_l2",     "ecc_aggregate_sram_sm",
        "ecc_aggregate_sram_pcie",   "ecc_aggregate_sram_mcu",    "ecc_aggregate_sram_other"};
    static const double counts[] = {11, 12, 14, 15, 17, 18, 19, 20, 21};
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetEccMode 0 = 0 1\n"
                   "call nvmlDeviceGetRepairStatus 0 = 0 1\n"
                   "call nvmlDeviceGetSramEccErrorStatus 0 = 11 12 13 14 15 16 17 18 19 20 21 1\n"
                   "call nvmlDeviceGetRowRemapperHistogram 0 = 3000 40 30 20 10\n"
                   "call nvmlDeviceGetMemoryErrorCounter 0 1 0 2 = 5\n"
                   "call nvmlDeviceGetMemoryErrorCounter 0 1 1 7 = 6\n"
                   "call nvmlDeviceGetFieldValues 0 144 0 = ull 1\n"
                   "call nvmlDeviceGetFieldValues 0 145 0 = ull 0\n"
                   "call nvmlDeviceGetFieldValues 0 180 0 = uint 4\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_ECC, ""), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_ECC_PENDING, ""), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_MEMORY_REPAIR_PENDING, ""), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_TPC_REPAIR_PENDING, ""), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_SRAM_THRESHOLD, ""), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_REMAP_PENDING, ""), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_REMAP_FAILED, ""), 0, 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++) {
        test_label = places[i];
        CHECK_NEAR(errors(&m, places[i], "uncorrected"), counts[i], 0);
    }
    test_label = "";
    CHECK_NEAR(errors(&m, "ecc_volatile_dram", "uncorrected"), 5, 0);
    CHECK_NEAR(errors(&m, "ecc_aggregate_sram", "uncorrected"), 6, 0);
    CHECK_NEAR(errors(&m, "pcie", "fatal"), 4, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_BANKS_ALL_SPARE, "vram"), 3000, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_BANKS_HIGH_SPARE, "vram"), 40, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_BANKS_PARTIAL_SPARE, "vram"), 30, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_BANKS_LOW_SPARE, "vram"), 20, 0);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_BANKS_NO_SPARE, "vram"), 10, 0);
    finish(&m);
}

/* The window may be smaller than the memory, or larger; of unknown memory it says nothing. */
static void test_bar1(void)
{
    static const struct {
        const char *text;
        double visible;
    } rows[] = {{"call nvmlDeviceGetMemoryInfo_v2 0 = 1000 100 600 300\n"
                 "call nvmlDeviceGetBAR1MemoryInfo 0 = 256 200 56\n",
                 256},
                {"call nvmlDeviceGetMemoryInfo_v2 0 = 1000 100 600 300\n"
                 "call nvmlDeviceGetBAR1MemoryInfo 0 = 4096 4040 56\n",
                 1000},
                {"call nvmlDeviceGetMemoryInfo_v2 0 = !3\ncall nvmlDeviceGetMemoryInfo 0 = !3\n"
                 "call nvmlDeviceGetBAR1MemoryInfo 0 = 4096 4040 56\n",
                 -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        if (!begin(&m, rows[i].text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "bar1"), 56, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_VISIBLE, "vram"), rows[i].visible, 0);
        finish(&m);
    }
}

/* How much of the window is used is reported when it is read, its size in between as well. */
static void test_bar1_used(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetBAR1MemoryInfo 0 = 256 200 56\n"
                   "at 30s\ncall nvmlDeviceGetBAR1MemoryInfo 0 = 256 156 100\n"))
        return;
    for (unsigned t = 0; t < 70; t++) {
        gather(&m, t > 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "bar1"), t < 3 ? 56 : t == 62 ? 100 : -1, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_TOTAL, "bar1"), 256, 0);
        CHECK_NEAR(value(&m, GTEL_M_MEMORY_VISIBLE, "vram"), 256, 0);
    }
    finish(&m);
}

/* Sessions: a mean latency in microseconds, none without a frame. Modes are words of gpu_info. */
static void test_sessions_and_modes(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetEncoderStats 0 = 3 60 8500\n"
                   "call nvmlDeviceGetFBCStats 0 = 1 0 0\n"
                   "call nvmlDeviceGetMigMode 0 = 1 1\n"
                   "call nvmlDeviceGetComputeMode 0 = 3\n"
                   "call nvmlDeviceGetPersistenceMode 0 = 2\n"
                   "call nvmlDeviceGetVirtualizationMode 0 = 2\n"
                   "call nvmlDeviceGetArchitecture 0 = 11\n"
                   "call nvmlSystemGetCudaDriverVersion = 12090\n"
                   "call nvmlDeviceGetCudaComputeCapability 0 = 10 3\n"))
        return;
    gather(&m, 0);
    const struct gtel_device *gpu = m.group.registry.device[0];
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_SESSIONS, "encode"), 3, 0);
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_FRAMES, "encode"), 60, 0);
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_LATENCY, "encode"), 0.0085, 1e-12);
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_SESSIONS, "capture"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_FRAMES, "capture"), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_ENGINE_LATENCY, "capture"), -1, 0);
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_MODES]),
              "mig=on compute=exclusive_process virtualization=vgpu_guest");
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_ARCHITECTURE]), "");
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_CUDA_VERSION]), "12.9");
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_COMPUTE_CAPABILITY]), "10.3");
    finish(&m);
}

static double xids(const struct machine *m, const char *kind)
{
    return errors(m, kind, NULL);
}

/* A total that is 0 from the start; a count for each number; what came before does not count. */
static void test_events(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetSupportedEventTypes 0 = 0x801f\n"
                   "call nvmlEventSetWait_v2 = 0 8 31 7\n"
                   "call nvmlDeviceGetFieldValues 0 230 0 = uint 0\n"
                   "at 10s\n"
                   "call nvmlDeviceGetFieldValues 0 230 0 = uint 1\n"
                   "at 12s\n"
                   "call nvmlEventSetWait_v2 = 0 8 31 9, 0 8 79 1, 1 8 48 5, 0 32768 0 1\n"
                   "at 14s\ncall nvmlEventSetWait_v2 = 0 8 31 3000, 0 8 79 1, 1 8 48 5\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(xids(&m, "xid"), 0, 0);
    CHECK_NEAR(xids(&m, "xid_31"), -1, 0);
    for (int i = 0; i < 11; i++)
        gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_RECOVERY_ACTION, ""), 0, 0); /* as it was a minute ago */
    gather(&m, 1);
    CHECK_NEAR(xids(&m, "xid"), 3, 0);
    CHECK_NEAR(xids(&m, "xid_31"), 2, 0);
    CHECK_NEAR(xids(&m, "xid_0"), -1, 0); /* none beyond those that came */
    CHECK_NEAR(xids(&m, "xid_79"), 1, 0);
    CHECK_NEAR(xids(&m, "xid_48"), -1, 0); /* of the other GPU, which does not watch them */
    CHECK_NEAR(value(&m, GTEL_M_GPU_RECOVERY_ACTION, ""), 1, 0); /* asked again */
    gather(&m, 2);
    CHECK_NEAR(xids(&m, "xid"), 3 + 1024, 0); /* so many in one gather, the others later */
    gather(&m, 1);
    gather(&m, 1);
    CHECK_NEAR(xids(&m, "xid_31"), 3000 - 7, 0);
    CHECK(find(&m, "0001:3b:00.0", GTEL_M_ERROR_COUNT, "xid", NULL) == NULL);
    finish(&m);
}

/* More numbers than there is room for count in the total. */
static void test_many_xids(void)
{
    char text[900] = "call nvmlDeviceGetSupportedEventTypes 0 = 8\nat 2s\n";
    struct machine m;
    for (unsigned k = 0; k < 4; k++) {
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof(text) - n, "at %us\ncall nvmlEventSetWait_v2 =", 2 + k);
        for (unsigned i = 0; i < 10; i++) {
            n = strlen(text);
            (void)snprintf(text + n, sizeof(text) - n, "%s 0 8 %u %u", i > 0 ? "," : "",
                           100 + 10 * k + i, k + 1);
        }
        n = strlen(text);
        (void)snprintf(text + n, sizeof(text) - n, "\n");
    }
    if (!begin(&m, text))
        return;
    for (unsigned i = 0; i < 8; i++)
        gather(&m, 1);
    CHECK_NEAR(xids(&m, "xid"), 40, 0);
    CHECK_NEAR(xids(&m, "xid_131"), 1, 0);
    CHECK_NEAR(xids(&m, "xid_132"), -1, 0);
    finish(&m);
}

/* No support is no 0; a restart of NVML goes on with the count, and registers again. */
static void test_events_refused(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetSupportedEventTypes 0 = 0x10\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(xids(&m, "xid"), -1, 0);
    finish(&m);
    if (!begin(&m, "call nvmlDeviceGetSupportedEventTypes 0 = 8\n"
                   "at 1s\ncall nvmlEventSetWait_v2 = 0 8 79 2\n"
                   "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !9\n"
                   "at 3s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n"
                   "at 100s\ncall nvmlEventSetWait_v2 = 0 8 79 3\n"))
        return;
    for (unsigned i = 0; i < 50; i++)
        gather(&m, i > 0);
    CHECK_NEAR(xids(&m, "xid"), 2, 0);
    gather(&m, 60);
    CHECK_NEAR(xids(&m, "xid"), 3, 0);
    finish(&m);
}

/* What was refused once is asked for again when GPUs are searched. */
static void test_events_refused_once(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetSupportedEventTypes 0 = 8\n"
                   "call nvmlDeviceRegisterEvents 0 = !999\n"
                   "at 2s\ncall nvmlDeviceRegisterEvents 0 =\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(xids(&m, "xid"), -1, 0);
    gather(&m, 30);
    gather(&m, 31);
    CHECK_NEAR(xids(&m, "xid"), 0, 0);
    finish(&m);
}

#define WATCHES "call nvmlDeviceGetSupportedEventTypes 0 = 8\n"

/* What the library lacks or refuses: the total after five gathers, and how often a call was made.
 */
static void test_events_by_call(void)
{
    static const struct {
        const char *text;
        const char *call;
        unsigned calls;
        double total; /* -1: none */
    } rows[] = {
        {"", "nvmlDeviceGetSupportedEventTypes", 2, 2},
        {"", "nvmlDeviceRegisterEvents", 1, 2},
        {"", "nvmlEventSetCreate", 1, 2},
        {"", "nvmlEventSetWait_v2", 5 + 2, 2},
        {"call nvmlEventSetCreate = !nosymbol\n", "nvmlEventSetWait_v2", 0, -1},
        {"call nvmlEventSetFree = !nosymbol\n", "nvmlEventSetCreate", 0, -1},
        {"call nvmlEventSetWait_v2 = !nosymbol\n", "nvmlEventSetCreate", 0, -1},
        {"call nvmlDeviceRegisterEvents = !nosymbol\n", "nvmlEventSetCreate", 0, -1},
        {"call nvmlDeviceGetSupportedEventTypes = !nosymbol\n", "nvmlEventSetCreate", 0, -1},
        {"call nvmlEventSetCreate = !20\n", "nvmlEventSetCreate", 5, -1},
        {"call nvmlEventSetCreate = !20\nat 2s\ncall nvmlEventSetCreate =\n", "nvmlEventSetCreate",
         2, 2},
        {"call nvmlDeviceGetSupportedEventTypes 0 = !3\n", "nvmlDeviceRegisterEvents", 0, -1},
        {"call nvmlDeviceGetSupportedEventTypes 0 = 7\n", "nvmlDeviceRegisterEvents", 0, -1},
        {"call nvmlDeviceRegisterEvents 0 = !3\n", "nvmlDeviceRegisterEvents", 1, -1},
        {"call nvmlDeviceRegisterEvents 0 = !999\n", "nvmlDeviceRegisterEvents", 1, -1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[400];
        test_label = rows[i].text;
        (void)snprintf(text, sizeof(text), WATCHES "%s%s", rows[i].text,
                       strstr(rows[i].text, "_v2 = !no")
                           ? ""
                           : "at 4s\ncall nvmlEventSetWait_v2 = 0 8 79 1, 0 8 31 1\n");
        if (!begin(&m, text))
            return;
        spy.count_name = rows[i].call;
        for (unsigned k = 0; k < 5; k++)
            gather(&m, 1);
        CHECK_INT(spy.counted, rows[i].calls);
        CHECK_NEAR(xids(&m, "xid"), rows[i].total, 0);
        CHECK_INT(spy.closes, 0);
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

/* A code that concerns all of NVML starts it again, whichever of these calls answers it. */
static void test_events_broken(void)
{
    static const char *const calls[] = {"nvmlDeviceGetSupportedEventTypes 0",
                                        "nvmlDeviceRegisterEvents 0", "nvmlEventSetWait_v2"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(calls); i++) {
        struct machine m;
        char text[200];
        test_label = calls[i];
        (void)snprintf(text, sizeof(text), WATCHES "call %s = !1\n", calls[i]);
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        CHECK_INT(spy.closes, 1);
        CHECK_INT(m.group.batch.n, 0);
        finish(&m);
    }
    test_label = "";
}

/* A lost GPU that is back is watched again, and what it has counted goes on. */
static void test_events_of_lost(void)
{
    struct machine m;
    if (!begin(&m, WATCHES "at 2s\ncall nvmlEventSetWait_v2 = 0 8 79 1\n"
                           "at 3s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
                           "at 4s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n"
                           "at 6s\ncall nvmlEventSetWait_v2 = 0 8 79 2\n"))
        return;
    spy.count_name = "nvmlDeviceRegisterEvents";
    static const double want[] = {0, 1, 1, 1, 1, 2};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, 1);
        CHECK_NEAR(xids(&m, "xid"), want[i], 0);
        CHECK_INT(spy.counted, i < 3 ? 1 : 2);
    }
    finish(&m);
}

/*
 * The error that takes a GPU is reported with its loss and from then on, also with no GPU left:
 * NVML is ended then. There is room for 1024 events in one read.
 */
static void test_events_of_loss(void)
{
    struct machine m;
    if (!begin(&m, WATCHES "at 2s\ncall nvmlEventSetWait_v2 = 0 8 31 1024, 0 8 79 1\n"
                           "call nvmlDeviceGetUtilizationRates 0 = !15\n"
                           "call nvmlDeviceGetTemperature 0 0 = !15\n"
                           "at 5s\ncall nvmlDeviceGetUtilizationRates 1 = !15\n"
                           "call nvmlDeviceGetTemperature 1 0 = !15\n"))
        return;
    for (unsigned i = 0; i < 8; i++) {
        gather(&m, 1);
        CHECK_NEAR(xids(&m, "xid"), i > 0 ? 1025 : 0, 0);
        CHECK_NEAR(xids(&m, "xid_79"), i > 0 ? 1 : -1, 0);
        const struct gtel_reading *r = find(&m, "0000:19:00.0", GTEL_M_ERROR_COUNT, "xid", NULL);
        CHECK(r && r->t_ns == gtel_env_now(&m.env));
    }
    CHECK(spy.closes > 0);
    finish(&m);
}

/* A lost GPU makes each wait fail while it is in the set: the others are watched without it. */
static void test_events_beside_lost(void)
{
    static const double want[] = {0, 1, 1, 2, 2};
    struct machine m;
    if (!begin(&m, WATCHES "call nvmlDeviceGetSupportedEventTypes 1 = 8\n"
                           "at 2s\ncall nvmlEventSetWait_v2 = 1 8 48 1\n"
                           "at 3s\ncall nvmlEventSetWait_v2 0 = !15\n"
                           "call nvmlDeviceRegisterEvents 0 = !15\n"
                           "call nvmlDeviceGetUtilizationRates 0 = !15\n"
                           "call nvmlDeviceGetTemperature 0 0 = !15\n"
                           "at 4s\ncall nvmlEventSetWait_v2 = 1 8 48 1, 1 8 31 1\n"))
        return;
    spy.count_name = "nvmlEventSetCreate";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, 1);
        const struct gtel_reading *r = find(&m, "0001:3b:00.0", GTEL_M_ERROR_COUNT, "xid", NULL);
        CHECK_NEAR(r ? (double)r->value.u64 : -1, want[i], 0);
        CHECK_INT(spy.counted, i < 2 ? 1 : 2);
    }
    finish(&m);
}

#define LOST(n)                                                                                    \
    "call nvmlEventSetWait_v2 " n " = !15\ncall nvmlDeviceRegisterEvents " n " = !15\n"            \
    "call nvmlDeviceGetUtilizationRates " n " = !15\ncall nvmlDeviceGetTemperature " n             \
    " 0 = !15\n"

/* A second GPU is lost soon after the first one: the third is watched all the same. */
static void test_events_of_third(void)
{
    struct machine m;
    if (!begin(&m, WATCHES "call nvmlDeviceGetCount_v2 = 3\n"
                           "call nvmlDeviceGetPciInfo_v3 2 = 00000002:5D:00.0 0x233510de 0\n"
                           "call nvmlDeviceGetUtilizationRates 2 = 5 5\n"
                           "call nvmlDeviceGetSupportedEventTypes 1 = 8\n"
                           "call nvmlDeviceGetSupportedEventTypes 2 = 8\n"
                           "at 10s\n" LOST("0") "at 20s\n" LOST(
                               "1") "at 30s\ncall nvmlEventSetWait_v2 = 2 8 48 1\n"))
        return;
    for (unsigned i = 0; i < 40; i++)
        gather(&m, 1);
    const struct gtel_reading *r = find(&m, "0002:5d:00.0", GTEL_M_ERROR_COUNT, "xid", NULL);
    CHECK(r && r->value.u64 == 1);
    finish(&m);
}

/* A new set that fails as well is not replaced in each gather. */
static void test_events_pause(void)
{
    struct machine m;
    if (!begin(&m, WATCHES "at 2s\ncall nvmlEventSetWait_v2 = !15\n"))
        return;
    spy.count_name = "nvmlEventSetCreate";
    for (unsigned i = 0; i < 130; i++) {
        gather(&m, 1);
        CHECK_INT(spy.counted, i < 1 ? 1 : 2 + (i - 1) / 60);
        CHECK_NEAR(xids(&m, "xid"), 0, 0);
    }
    finish(&m);
}

/* The sum each 20 s, the links each minute and once more after 20 s; one of three is down. KiB
 * become bytes. */
static void test_links(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetNvLinkState 0 0 = 0\ncall nvmlDeviceGetNvLinkState 0 1 = 1\n"
                   "call nvmlDeviceGetNvLinkState 0 2 = 1\ncall nvmlDeviceGetNvLinkState 0 3 = !2\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 1007\n"
                   "call nvmlDeviceGetFieldValues 0 139 4294967295 = ull 4294967296\n"
                   "call nvmlDeviceGetFieldValues 0 165 0 = uint 0\n"
                   "call nvmlDeviceGetFieldValues 0 138 0 = ull 5\n" /* of what it was up */
                   "call nvmlDeviceGetFieldValues 0 165 1 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 1 = ull 1000\n"
                   "call nvmlDeviceGetFieldValues 0 161 1 = ull 3\n"
                   "call nvmlDeviceGetFieldValues 0 163 1 = ull 0\n"
                   "call nvmlDeviceGetFieldValues 0 165 2 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 2 = ull 7\n"
                   "call nvmlDeviceGetFieldValues 0 163 2 = ull 9\n"
                   "at 30s\ncall nvmlDeviceGetFieldValues 0 162 1 = ull 4\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 1007 * 1024, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_RX, ""), 4294967296.0 * 1024, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "0"), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "0"), 5 * 1024, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "1"), 1024000, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_REPLAYS, "1"), 3, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "2"), 7168, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_CRC, "2"), 9, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_ERRORS, "2"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "3"), -1, 0); /* there are three */
    for (unsigned i = 0; i < 2; i++) {
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 1007 * 1024, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), 1, 0);
    }
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), -1, 0);
    for (unsigned i = 0; i < 2; i++) {
        gather(&m, 20);
        CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 1007 * 1024, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), -1, 0);
    }
    gather(&m, 20);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "2"), 7168, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_RECOVERIES, "1"), -1, 0); /* not asked for again */
    finish(&m);
}

/* Links are read in the first three gathers and then each twenty seconds, as the activity of DRAM
 * is, which has none in the first one. */
static void test_links_beside_gpm(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 10 = 5\n"
                   "call nvmlDeviceGetNvLinkState 0 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 1007\n"))
        return;
    for (unsigned second = 1; second <= 45; second++) {
        bool is_long = second <= 3 || second == 23 || second == 43;
        gather(&m, 1);
        CHECK_INT(value(&m, GTEL_M_GPU_LINKS_TX, "") >= 0, is_long);
        CHECK_INT(value(&m, GTEL_M_ACTIVITY, "dram") >= 0, is_long && second > 1);
    }
    finish(&m);
}

/* Gathers so far apart that there is no activity between them have links nonetheless. */
static void test_links_of_rare_gathers(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 10 = 5\n"
                   "call nvmlDeviceGetNvLinkState 0 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 165 0 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 1007\n"))
        return;
    for (unsigned i = 0; i < 6; i++) { /* each minute, single links as well */
        gather(&m, 60);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "0"), 1, 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        gather(&m, 900);
        CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 1007 * 1024, 0);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "dram"), -1, 0);
    }
    finish(&m);
}

/* NVLink 5 counts bytes, by other fields; a GPU without links has no sum of them, not even 0. */
static void test_other_links(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetNvLinkState 0 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 202 4294967295 = ull 1001\n"
                   "call nvmlDeviceGetFieldValues 0 202 0 = ull 1000\n"
                   "call nvmlDeviceGetFieldValues 0 204 0 = ull 2000\n"
                   "call nvmlDeviceGetFieldValues 0 219 0 = ull 5\n"
                   "call nvmlDeviceGetFieldValues 1 138 4294967295 = ull 0\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 1001, 0);
    CHECK(find(&m, "0001:3b:00.0", GTEL_M_GPU_LINKS_TX, "", NULL) == NULL);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "0"), 1000, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_RX, "0"), 2000, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_ERRORS, "0"), 5, 0);
    finish(&m);
}

/* A failure in the first long gather is no end of the links, and not that there are none. */
static void test_links_count(void)
{
    static const struct {
        const char *text; /* at first */
        double want[2];   /* link 1: at first, and in the third one */
    } rows[] = {{"call nvmlDeviceGetNvLinkState 0 0 = !999\n", {-1, 1}},
                {"call nvmlDeviceGetNvLinkState 0 1 = !999\n", {-1, 1}},
                {"call nvmlDeviceGetNvLinkState 0 1 = !2\n", {-1, -1}},
                {"call nvmlDeviceGetNvLinkState 0 0 = !3\n", {-1, -1}},
                {"call nvmlDeviceGetFieldValues 0 170 0 = !999\n", {1, 1}}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[900];
        test_label = rows[i].text;
        (void)snprintf(text, sizeof(text),
                       "call nvmlDeviceGetNvLinkState 0 0 = 1\n"
                       "call nvmlDeviceGetNvLinkState 0 1 = 1\n"
                       "call nvmlDeviceGetNvLinkState 0 2 = !2\n"
                       "call nvmlDeviceGetFieldValues 0 165 1 = uint 1\n"
                       "call nvmlDeviceGetFieldValues 0 170 0 = uint 1\n"
                       "call nvmlDeviceGetFieldValues 0 171 0 = uint 1\n"
                       "%sat 10s\ncall nvmlDeviceGetNvLinkState 0 0 = 1\n"
                       "call nvmlDeviceGetNvLinkState 0 1 = 1\n"
                       "call nvmlDeviceGetFieldValues 0 170 0 = uint 1\n",
                       rows[i].text);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), rows[i].want[0], 0);
        for (unsigned k = 0; k < 2; k++)
            gather(&m, 20);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), rows[i].want[1], 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), 1, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "2"), -1, 0);
        finish(&m);
    }
    test_label = "";
}

/*
 * With all links down there may be no sum, at first or again, until one is up; what no link that is
 * up has, the sum has neither.
 */
static void test_links_sum(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetNvLinkState 0 0 = 0\n"
                   "call nvmlDeviceGetFieldValues 0 165 0 = uint 0\n"
                   "at 70s\ncall nvmlDeviceGetFieldValues 0 165 0 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 0 = ull 7\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 7\n"
                   "at 150s\ncall nvmlDeviceGetFieldValues 0 139 4294967295 = ull 7\n"
                   "at 230s\ncall nvmlDeviceGetFieldValues 0 165 0 = uint 0\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = !3\n"
                   "at 330s\ncall nvmlDeviceGetFieldValues 0 165 0 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 7\n"))
        return;
    for (unsigned k = 0; k < 20; k++) {
        bool is_up = (k >= 4 && k < 12) || k >= 17;
        gather(&m, k > 0 ? 20 : 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), is_up ? 7 * 1024 : -1, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_RX, ""), -1, 0);
    }
    finish(&m);
}

int main(void)
{
    test_links();
    test_links_of_rare_gathers();
    test_links_count();
    test_links_sum();
    test_links_beside_gpm();
    test_other_links();
    test_events();
    test_many_xids();
    test_events_refused();
    test_events_refused_once();
    test_events_by_call();
    test_events_broken();
    test_events_of_lost();
    test_events_of_loss();
    test_events_beside_lost();
    test_events_of_third();
    test_events_pause();
    test_recovery();
    test_health();
    test_bar1();
    test_bar1_used();
    test_sessions_and_modes();
    test_drivers();
    test_pcie();
    test_host_sleep();
    test_address();
    test_denied();
    return test_result();
}
