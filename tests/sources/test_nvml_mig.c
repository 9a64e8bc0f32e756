/* SPDX-License-Identifier: MIT */
/* MIG instances of NVIDIA GPUs. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

#define GPU "0000:19:00.0"
#define A GPU "/mig2.0"
#define B GPU "/mig9.0"

#define PLACE(place, gi, ci, uuid, profile)                                                        \
    "call nvmlDeviceGetMigDeviceHandleByIndex 0 " place " = ok\n"                                  \
    "call nvmlDeviceGetGpuInstanceId 0/" place " = " gi "\n"                                       \
    "call nvmlDeviceGetComputeInstanceId 0/" place " = " ci "\n"                                   \
    "call nvmlDeviceGetUUID 0/" place " = " uuid "\n"                                              \
    "call nvmlDeviceGetName 0/" place " = NVIDIA H200 MIG " profile "\n"                           \
    "call nvmlDeviceGetMemoryInfo_v2 0/" place " = 500 0 400 100\n"                                \
    "call nvmlDeviceGetMemoryErrorCounter 0/" place " 1 0 7 = 3\n"                                 \
    "call nvmlDeviceGetPowerUsage 0/" place " = 600000\n"                                          \
    "call nvmlDeviceGetTemperature 0/" place " 0 = 53\n"                                           \
    "call nvmlDeviceGetUtilizationRates 0/" place " = 41 7\n"

/* Two instances, with a hole between them; the first GPU refuses its utilisation. */
#define MIG                                                                                        \
    "call nvmlDeviceGetUtilizationRates 0 = !3\n"                                                  \
    "call nvmlDeviceGetMaxMigDeviceCount 0 = 7\n"                                                  \
    "call nvmlDeviceGetMaxMigDeviceCount 1 = 0\n"                                                  \
    "call nvmlGpmQueryDeviceSupport 0 = 1\n"                                                       \
    "call nvmlGpmSampleGet 0 = !3\n"                                                               \
    "call nvmlGpmMetricsGet 0/gi2 2 = 80\n"                                                        \
    "call nvmlGpmMetricsGet 0/gi2 20 = 1000\n"                                                     \
    "call nvmlGpmMetricsGet 0/gi9 2 = 12.5\n" PLACE("0", "2", "0", "MIG-a", "3g.71gb")             \
        PLACE("3", "9", "0", "MIG-b", "1g.18gb")

static const struct gtel_device *device_of(const struct machine *m, const char *key)
{
    return gtel_registry_find(&m->group.registry, gtel_str_of(key));
}

static double of(const struct machine *m, const char *gpu, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *r = find(m, gpu, metric, dim, NULL);
    return r ? gtel_reading_number(r) : -1;
}

static double errors_of(const struct machine *m, const char *gpu)
{
    const struct gtel_reading *r =
        find(m, gpu, GTEL_M_ERROR_COUNT, "ecc_volatile_sram", "uncorrected");
    return r ? gtel_reading_number(r) : -1;
}

static bool is_there(const struct machine *m, const char *gpu)
{
    const struct gtel_device *device = device_of(m, gpu);
    return device && device->is_present;
}

static void test_values(void)
{
    struct machine m;
    if (!begin(&m, MIG))
        return;
    gather(&m, 1);
    gather(&m, 1);
    const struct gtel_device *device = device_of(&m, B);
    if (CHECK(device)) {
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_GPU]), GPU);
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_INSTANCE]), "mig9.0");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), "NVIDIA H200");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_UUID]), "MIG-b");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_PROFILE]), "1g.18gb");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_PCI_ID]), "10de:2335");
    }
    CHECK_NEAR(of(&m, A, GTEL_M_ACTIVITY, "sm"), 0.8, 1e-9);
    CHECK_NEAR(of(&m, B, GTEL_M_ACTIVITY, "sm"), 0.125, 1e-9);
    CHECK_NEAR(of(&m, B, GTEL_M_MEMORY_USED, "vram"), 100, 0);
    CHECK_NEAR(of(&m, B, GTEL_M_MEMORY_TOTAL, "vram"), 500, 0);
    CHECK_NEAR(errors_of(&m, B), 3, 0);
    /* What a library may answer for an instance, and is the GPU's. */
    CHECK_NEAR(of(&m, B, GTEL_M_POWER, "gpu"), -1, 0);
    CHECK_NEAR(of(&m, B, GTEL_M_TEMPERATURE, "gpu"), -1, 0);
    CHECK_NEAR(of(&m, B, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(of(&m, A, GTEL_M_GPU_PCIE_TX, NULL), -1, 0);
    /* The GPU keeps what it does not refuse. */
    CHECK_NEAR(value(&m, GTEL_M_POWER, "gpu"), 625.24, 1e-9);
    CHECK_NEAR(value(&m, GTEL_M_MEMORY_USED, "vram"), 250, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_INT(m.group.batch.failed[0], 0);
    finish(&m);
}

/* What the third gather finds in place 3, where B was. */
static const struct {
    const char *label;
    const char *text;
    const char *key;
    int arrivals;  /* of that key's device */
    double memory; /* used, -1: not there */
    double sm;
} changes[] = {
    {"the same", "", B, 1, 100, 0.125},
    {"another uuid", "call nvmlDeviceGetUUID 0/3 = MIG-c\n", B, 2, 100, -1},
    {"another profile", "call nvmlDeviceGetName 0/3 = NVIDIA H200 MIG 1g.35gb\n", B, 2, 100, -1},
    {"another compute instance", "call nvmlDeviceGetComputeInstanceId 0/3 = 1\n", GPU "/mig9.1", 1,
     100, -1},
    {"another place",
     "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = !6\n" PLACE("1", "9", "0", "MIG-b", "1g.18gb"),
     B, 1, 100, 0.125},
    {"destroyed", "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = !6\n", B, 1, -1, -1},
    {"destroyed, with another code", "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = !2\n", B, 1,
     -1, -1},
    {"destroyed between two calls", "call nvmlDeviceGetGpuInstanceId 0/3 = !6\n", B, 1, -1, -1},
    {"destroyed while it is read", "call nvmlDeviceGetMemoryInfo_v2 0/3 = !15\n", B, 1, -1, -1},
    {"a failure that passes", "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = !999\n", B, 1, -1,
     -1},
    {"not ready", "call nvmlDeviceGetUUID 0/3 = !27\n", B, 1, -1, -1},
};

static void test_changes(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(changes); i++) {
        struct machine m;
        char text[8192];
        test_label = changes[i].label;
        (void)snprintf(text, sizeof(text), "%sat 3s\n%s", MIG, changes[i].text);
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        gather(&m, 1);
        CHECK_NEAR(of(&m, B, GTEL_M_ACTIVITY, "sm"), 0.125, 1e-9);
        gather(&m, 1);
        const struct gtel_device *device = device_of(&m, changes[i].key);
        CHECK_INT(device ? (int)device->arrivals : 0, changes[i].arrivals);
        CHECK_NEAR(of(&m, changes[i].key, GTEL_M_MEMORY_USED, "vram"), changes[i].memory, 0);
        CHECK_NEAR(of(&m, changes[i].key, GTEL_M_ACTIVITY, "sm"), changes[i].sm, 1e-9);
        CHECK_NEAR(of(&m, A, GTEL_M_ACTIVITY, "sm"), 0.8, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_POWER, "gpu"), 625.24, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* An instance that could not be read for a moment has not been away, one that was destroyed has. */
static void test_comes_back(void)
{
    static const struct {
        const char *answer;
        bool is_there;
        int arrivals;
        uint32_t failed; /* of the GPU, when it is not read */
    } codes[] = {{"!999", true, 1, 1}, {"!27", true, 1, 0}, {"!21", true, 1, 0},
                 {"!10", true, 1, 1},  {"!6", false, 2, 0}, {"!3", false, 2, 0},
                 {"!15", false, 2, 0}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
        struct machine m;
        char text[8192];
        test_label = codes[i].answer;
        (void)snprintf(text, sizeof(text),
                       "%sat 2s\ncall nvmlDeviceGetMigDeviceHandleByIndex 0 3 = %s\n"
                       "at 3s\ncall nvmlDeviceGetMigDeviceHandleByIndex 0 3 = ok\n",
                       MIG, codes[i].answer);
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        gather(&m, 1);
        CHECK_INT(is_there(&m, B), codes[i].is_there);
        CHECK_INT(m.group.batch.failed[0], codes[i].failed);
        CHECK_NEAR(of(&m, B, GTEL_M_MEMORY_USED, "vram"), -1, 0);
        gather(&m, 1);
        CHECK(is_there(&m, B));
        CHECK_INT((int)device_of(&m, B)->arrivals, codes[i].arrivals);
        CHECK_NEAR(of(&m, B, GTEL_M_MEMORY_USED, "vram"), 100, 0);
        finish(&m);
    }
    test_label = "";
}

/* Of two compute instances of a GPU instance the first reports memory, errors and activity. */
static void test_shared(void)
{
    struct machine m;
    if (!begin(&m, MIG PLACE("1", "2", "1", "MIG-d",
                             "1c.3g.71gb") "at 3s\n"
                                           "call nvmlDeviceGetMigDeviceHandleByIndex 0 0 = !6\n"))
        return;
    gather(&m, 1);
    gather(&m, 1);
    CHECK_NEAR(of(&m, A, GTEL_M_MEMORY_USED, "vram"), 100, 0);
    CHECK_NEAR(of(&m, GPU "/mig2.1", GTEL_M_GPU_AWAKE, NULL), 1, 0);
    CHECK_NEAR(of(&m, GPU "/mig2.1", GTEL_M_MEMORY_USED, "vram"), -1, 0);
    CHECK_NEAR(of(&m, GPU "/mig2.1", GTEL_M_ACTIVITY, "sm"), -1, 0);
    CHECK_NEAR(errors_of(&m, GPU "/mig2.1"), -1, 0);
    gather(&m, 1);
    gather(&m, 1);
    CHECK(!is_there(&m, A));
    CHECK_NEAR(of(&m, GPU "/mig2.1", GTEL_M_MEMORY_USED, "vram"), 100, 0);
    CHECK_NEAR(of(&m, GPU "/mig2.1", GTEL_M_ACTIVITY, "sm"), 0.8, 1e-9);
    finish(&m);
}

/* A library without a call: what is left of B. */
static const struct {
    const char *text;
    bool is_there;
    double memory;
    double sm;
    const char *profile;
} without[] = {
    {"nvmlDeviceGetMaxMigDeviceCount", false, -1, -1, ""},
    {"nvmlDeviceGetMigDeviceHandleByIndex", false, -1, -1, ""},
    {"nvmlDeviceGetGpuInstanceId", false, -1, -1, ""},
    {"nvmlDeviceGetComputeInstanceId", false, -1, -1, ""},
    {"nvmlGpmMigSampleGet", true, 100, -1, "1g.18gb"},
    {"nvmlGpmSampleAlloc", true, 100, -1, "1g.18gb"},
    {"nvmlDeviceGetName", true, 100, 0.125, ""},
};

static void test_symbols(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(without); i++) {
        struct machine m;
        char text[8192];
        test_label = without[i].text;
        (void)snprintf(text, sizeof(text), "%scall %s = !nosymbol\n", MIG, without[i].text);
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        gather(&m, 1);
        const struct gtel_device *device = device_of(&m, B);
        CHECK_INT(is_there(&m, B), without[i].is_there);
        CHECK_NEAR(of(&m, B, GTEL_M_MEMORY_USED, "vram"), without[i].memory, 0);
        CHECK_NEAR(of(&m, B, GTEL_M_ACTIVITY, "sm"), without[i].sm, 1e-9);
        CHECK_STR(gtel_str_of(device ? device->label[GTEL_LABEL_PROFILE] : ""), without[i].profile);
        CHECK_NEAR(value(&m, GTEL_M_POWER, "gpu"), 625.24, 1e-9);
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

/* Bounded work and series, whatever the library says. */
static void test_lies(void)
{
    struct machine m;
    if (!begin(&m, MIG "call nvmlDeviceGetMaxMigDeviceCount 0 = 4000000000\n" PLACE(
                       "1", "4000000000", "0", "MIG-d", "x") PLACE("2", "9", "0", "MIG-e", "y")))
        return;
    spy.count_name = "nvmlDeviceGetMigDeviceHandleByIndex";
    for (int i = 0; i < 5; i++)
        gather(&m, 1);
    CHECK_INT(spy.counted, 5 * 16);
    CHECK_INT((int)m.group.registry.n, 4);
    /* The first of one number counts, and it is the same one each time. */
    CHECK_STR(gtel_str_of(device_of(&m, B)->label[GTEL_LABEL_UUID]), "MIG-e");
    CHECK_INT((int)device_of(&m, B)->arrivals, 1);
    finish(&m);
}

/* Instances have numbers below 64. */
static void test_numbers(void)
{
    struct machine m;
    if (!begin(&m, MIG PLACE("4", "63", "0", "MIG-d", "x") PLACE("5", "64", "0", "MIG-e", "x")
                       PLACE("6", "3", "63", "MIG-f", "x")
                           PLACE("7", "3", "64", "MIG-g",
                                 "x") "call nvmlDeviceGetMaxMigDeviceCount 0 = 8\n"))
        return;
    gather(&m, 1);
    CHECK(is_there(&m, GPU "/mig63.0") && is_there(&m, GPU "/mig3.63"));
    CHECK(!device_of(&m, GPU "/mig64.0") && !device_of(&m, GPU "/mig3.64"));
    finish(&m);
}

static uint64_t slept_ns(void *arg)
{
    (void)arg;
    return 3600ull * SECOND;
}

/* No mean reaches over a sleep of the host. */
static void test_host_sleep(void)
{
    static const double want[] = {-1, 0.125, 0.125, -1, 0.125};
    struct machine m;
    if (!begin(&m, MIG))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        if (i == 3)
            spy.with_spy.suspended_ns = slept_ns;
        gather(&m, 1);
        CHECK_NEAR(of(&m, B, GTEL_M_ACTIVITY, "sm"), want[i], 1e-9);
    }
    finish(&m);
}

/* GPUs without MIG are asked once a minute, or once when they refuse. */
static void test_cost(void)
{
    static const struct {
        const char *text;
        unsigned calls; /* in three minutes, of two GPUs */
    } costs[] = {
        {"call nvmlDeviceGetMaxMigDeviceCount 0 = 0\ncall nvmlDeviceGetMaxMigDeviceCount 1 = 0\n",
         6},
        {"", 2},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(costs); i++) {
        struct machine m;
        if (!begin(&m, costs[i].text))
            return;
        spy.count_name = "nvmlDeviceGetMaxMigDeviceCount";
        for (int s = 0; s < 180; s++)
            gather(&m, 1);
        CHECK_INT(spy.counted, costs[i].calls);
        spy.count_name = "nvmlDeviceGetMigDeviceHandleByIndex";
        spy.counted = 0;
        gather(&m, 1);
        CHECK_INT(spy.counted, 0);
        finish(&m);
    }
}

/* MIG is switched off, and on again: what was refused is asked for again. */
static void test_switched(void)
{
    struct machine m;
    if (!begin(&m, MIG "at 10s\ncall nvmlDeviceGetMaxMigDeviceCount 0 = 0\n"
                       "call nvmlDeviceGetMigDeviceHandleByIndex 0 0 = !3\n"
                       "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = !3\n"
                       "call nvmlDeviceGetUtilizationRates 0 = 55 5\n"
                       "at 100s\ncall nvmlDeviceGetMaxMigDeviceCount 0 = 7\n"
                       "call nvmlDeviceGetMigDeviceHandleByIndex 0 3 = ok\n"
                       "call nvmlDeviceGetUtilizationRates 0 = !3\n"))
        return;
    gather(&m, 1);
    CHECK(is_there(&m, A) && is_there(&m, B));
    gather(&m, 10);
    CHECK(!is_there(&m, A) && !is_there(&m, B));
    gather(&m, 60);
    gather(&m, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.55, 1e-9);
    gather(&m, 70);
    CHECK(is_there(&m, B));
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_INT((int)device_of(&m, B)->arrivals, 2);
    finish(&m);
}

/* The GPU is lost, and with it its instances. */
static void test_lost(void)
{
    struct machine m;
    if (!begin(&m, MIG "at 2s\ncall nvmlDeviceGetMemoryInfo_v2 0 = !15\n"
                       "call nvmlDeviceGetTemperature 0 0 = !15\n"
                       "at 3s\ncall nvmlDeviceGetMemoryInfo_v2 0 = 1000 100 650 250\n"
                       "call nvmlDeviceGetTemperature 0 0 = 53\n"))
        return;
    gather(&m, 1);
    gather(&m, 1);
    CHECK(!is_there(&m, GPU) && !is_there(&m, A) && !is_there(&m, B));
    gather(&m, 40);
    gather(&m, 1);
    CHECK(is_there(&m, GPU) && is_there(&m, A) && is_there(&m, B));
    CHECK_INT((int)device_of(&m, B)->arrivals, 2);
    finish(&m);
}

/* Processes are those of the instance; the GPU then has no count, which would be that of a part. */
static void test_processes(void)
{
    struct machine m;
    if (!begin(&m, MIG
               "link proc/self/ns/pid -> pid:[4026531836]\nfile proc/1200/comm\n| train\n"
               "file proc/1200/stat\n| 1200 (train) S 1 1200 1200 0 -1 4194304 900 0 0 0 12 4 0 "
               "0 20 0 1 0 50000 9000000 800\n"
               "call nvmlDeviceGetComputeRunningProcesses_v3 0 = !4\n"
               "call nvmlDeviceGetComputeRunningProcesses_v3 0/0 = 1200 4096 2 0\n"
               "call nvmlDeviceGetComputeRunningProcesses_v3 0/3 = \n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(of(&m, A, GTEL_M_GPU_PROCESSES, NULL), 1, 0);
    CHECK_NEAR(of(&m, A, GTEL_M_PROCESS_MEMORY, "train"), 4096, 0);
    CHECK_NEAR(of(&m, B, GTEL_M_GPU_PROCESSES, NULL), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, NULL), -1, 0);
    CHECK_INT(m.group.batch.failed[0], 0);
    finish(&m);
}

static void check_whole(const struct machine *m)
{
    CHECK_NEAR(of(m, A, GTEL_M_MEMORY_USED, "vram"), 100, 0);
    CHECK_NEAR(of(m, B, GTEL_M_MEMORY_USED, "vram"), 100, 0);
    CHECK_NEAR(of(m, B, GTEL_M_ACTIVITY, "sm"), 0.125, 1e-9);
    CHECK_NEAR(value(m, GTEL_M_POWER, "gpu"), 625.24, 1e-9);
    for (size_t i = 0; i < m->group.registry.n; i++)
        CHECK_INT(m->group.batch.failed[i], 0);
}

/* Each call answers a code once; in the end NVML is started again and all is as before. */
static void test_faults(void)
{
    static const int codes[] = {1, 2, 3, 4, 6, 7, 9, 15, 18, 20, 21, 25, 27, 28, 999};
    struct machine m;
    char label[64];
    if (!begin(&m, MIG))
        return;
    gather(&m, 1);
    gather(&m, 1);
    check_whole(&m);
    unsigned calls = spy.calls;
    gtel_group_done(&m.group);
    CHECK(calls > 100);
    for (unsigned at = 1; at <= calls; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "call %u with code %d", at, codes[i]);
            test_label = label;
            start_lane(&m);
            spy.fail_at = at;
            spy.fail_code = codes[i];
            for (int k = 0; k < 3; k++)
                gather(&m, 1);
            spy.fail_at = spy.calls + 1;
            spy.fail_code = 1;
            gather(&m, 40);
            gather(&m, 1);
            gather(&m, 1);
            check_whole(&m);
            gtel_group_done(&m.group);
            CHECK_INT(spy.opens, spy.closes);
        }
    test_label = "";
    m.env.ops = spy.ops;
    gtel_env_tree_done(&m.env);
    gtel_tree_free(m.tree);
}

int main(void)
{
    test_values();
    test_changes();
    test_comes_back();
    test_shared();
    test_symbols();
    test_lies();
    test_numbers();
    test_host_sleep();
    test_cost();
    test_switched();
    test_lost();
    test_processes();
    test_faults();
    return test_result();
}
