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
                   "at 2s\ncall nvmlDeviceGetFieldValues 0 197 0 = uint 4294000500\n"
                   "at 3s\ncall nvmlDeviceGetFieldValues 0 197 0 = uint 700\n"))
        return;
    static const double want[] = {-1, 0, 500, -1, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        if (i == 3)
            spy.with_spy.suspended_ns = slept_ns;
        gather(&m, i ? 1 : 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_PCIE_TX, NULL), want[i], 1);
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

int main(void)
{
    test_drivers();
    test_pcie();
    test_host_sleep();
    test_address();
    test_denied();
    return test_result();
}
