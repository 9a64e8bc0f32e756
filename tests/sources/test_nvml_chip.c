/* SPDX-License-Identifier: MIT */
/* Engines, fabric, links to the CPU, vGPU and modes of NVIDIA GPUs. */
#include "harness/nvml_machine.h"
#include "harness/test.h"
#include "sources/nvidia/nvlink.h"

static double busy(const struct machine *m, const char *class, const char *engine)
{
    const struct gtel_reading *r = find(m, "0000:19:00.0", GTEL_M_ENGINE_BUSY, class, engine);
    return r ? gtel_reading_number(r) : -1;
}

/* Shares, by what the library answers for the metric of the engine. */
static const struct {
    const char *answer;
    double want; /* -1: the engine is not there */
} shares[] = {
    {"0", -1},  {"37.5", 0.375}, {"100", 1},  {"100.0001", 1}, {"101", -1}, {"1e300", -1},
    {"-1", -1}, {"nan", -1},     {"inf", -1}, {"unnamed", -1}, {"!3", -1},  {"!21", -1},
};

static void want_engines(struct machine *m)
{
    char error[100];
    CHECK_INT(
        gtel_option_set(&m->options, GTEL_O_ENGINE_INSTANCES, GTEL_STR("on"), error, sizeof(error)),
        0);
    gtel_group_done(&m->group);
    start_lane(m);
}

static void test_shares(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(shares); i++) {
        struct machine m;
        char text[240];
        test_label = shares[i].answer;
        (void)snprintf(text, sizeof(text),
                       "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 31 = %s\n"
                       "call nvmlGpmMetricsGet 0 2 = %s\n"
                       "call nvmlDeviceGetDecoderUtilization 0 = 12 100000\n",
                       shares[i].answer, shares[i].answer);
        if (!begin(&m, text))
            return;
        want_engines(&m);
        gather(&m, 0);
        CHECK_NEAR(busy(&m, "decode", "nvdec1"), -1, 0);
        gather(&m, 1);
        CHECK_NEAR(busy(&m, "decode", "nvdec1"), shares[i].want, 1e-12);
        CHECK_NEAR(busy(&m, "decode", "nvdec0"), -1, 0);
        bool is_zero = strcmp(shares[i].answer, "0") == 0; /* a unit is there when idle */
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), is_zero ? 0 : shares[i].want, 1e-12);
        CHECK_NEAR(busy(&m, "decode", ""), 0.12, 1e-12); /* the class keeps its own */
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

/* The first and the last of each kind, and no metric beside them. */
static const struct {
    unsigned id;
    const char *class;
    const char *engine;
} engines[] = {{30, "decode", "nvdec0"},  {37, "decode", "nvdec7"}, {40, "jpeg", "nvjpg0"},
               {47, "jpeg", "nvjpg7"},    {50, "ofa", "nvofa0"},    {51, "ofa", "nvofa1"},
               {166, "encode", "nvenc0"}, {169, "encode", "nvenc3"}};

/* An engine that is idle may not be there, until it has worked. */
static void test_first_work(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlGpmQueryDeviceSupport 0 = 1\ncall nvmlGpmMetricsGet 0 31 = 0\n"
                   "call nvmlGpmMetricsGet 0 32 = 0\n"
                   "at 2s\ncall nvmlGpmMetricsGet 0 31 = 25\n"
                   "at 3s\ncall nvmlGpmMetricsGet 0 31 = 0\n"))
        return;
    want_engines(&m);
    static const double want[] = {-1, -1, 0.25, 0};
    for (unsigned second = 0; second < GTEL_ARRAY_LEN(want); second++) {
        gather(&m, second > 0);
        CHECK_NEAR(busy(&m, "decode", "nvdec1"), want[second], 0);
        CHECK_NEAR(busy(&m, "decode", "nvdec2"), -1, 0);
    }
    finish(&m);
}

static size_t count_engines(const struct machine *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->group.batch.n; i++)
        n += m->group.batch.reading[i].metric == GTEL_M_ENGINE_BUSY;
    return n;
}

static void test_engines(bool is_wanted)
{
    struct machine m;
    char text[8000] = "call nvmlGpmQueryDeviceSupport 0 = 1\n";
    size_t length = strlen(text);
    for (unsigned id = 22; id < 210; id++) /* 0.25 % more than the id before */
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "call nvmlGpmMetricsGet 0 %u = %.2f\n", id, id / 4.0);
    if (!begin(&m, text))
        return;
    if (is_wanted)
        want_engines(&m);
    gather(&m, 0);
    gather(&m, 1);
    CHECK_INT(count_engines(&m), is_wanted ? 22 : 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(engines) && is_wanted; i++) {
        test_label = engines[i].engine;
        CHECK_NEAR(busy(&m, engines[i].class, engines[i].engine), engines[i].id / 4e2, 1e-12);
    }
    test_label = "";
    finish(&m);
}

/* The place in the fabric, by status, clique, state, mask and summary (NVML header 13.5). */
static const struct {
    const char *answer;
    double ready; /* -1: absent */
    double health;
} fabrics[] = {
    {"0 1 3 0 1", 1, 0},     {"0 1 3 0 2", 1, 2},    {"0 1 3 0 3", 1, 1},
    {"0 1 3 0 0", 1, -1},    {"0 1 3 0x1 9", 1, -1}, /* a summary of a later API */
    {"0 1 3 0x2 0", 1, 0},                           /* bandwidth not degraded */
    {"0 1 3 0x1 0", 1, 1},                           /* degraded */
    {"0 1 3 0x5a6 0", 1, 2}, /* routes recover, and the configuration is wrong */
    {"0 1 3 0x1a6 0", 1, 1}, /* routes recover, the configuration is right */
    {"0 1 3 0x1aa 0", 1, 0}, /* nothing is wrong */
    {"0 1 3 0x1", 1, 1},     /* the second version */
    {"0 1 3 0x10", 1, 2},    /* a route is unhealthy */
    {"0 1 3 0x100", 1, 0},   /* the configuration alone: right */
    {"0 1 3 0x200", 1, 2},   /* wrong */
    {"0 1 3 0x40", 1, 1},    /* recovery of a timeout */
    {"0 1 3 0", 1, -1},      {"999 1 3 0 1", 0, 0}, /* completed with an error */
    {"999 1 2 0 1", 0, 0},                          /* in progress */
    {"0 1 1 0 0", 0, -1},                           /* not begun */
    {"0 0 0 0x2 1", -1, -1},                        /* no fabric */
    {"!3", -1, -1},          {"!13", -1, -1},
};

static void test_fabric(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(fabrics); i++) {
        struct machine m;
        char text[100];
        test_label = fabrics[i].answer;
        (void)snprintf(text, sizeof(text), "call nvmlDeviceGetGpuFabricInfoV 0 = %s\n",
                       fabrics[i].answer);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_FABRIC_READY, ""), fabrics[i].ready, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_FABRIC_HEALTH, ""), fabrics[i].health, 0);
        CHECK_INT(m.group.batch.failed[0], 0);
        finish(&m);
    }
    test_label = "";
}

static const struct {
    const char *text;
    double vgpus;
    double licensed;
} virtual_gpus[] = {
    {"call nvmlDeviceGetActiveVgpus 0 = 0\n", 0, -1},
    {"call nvmlDeviceGetActiveVgpus 0 = 7\n", 7, -1},
    {"call nvmlDeviceGetActiveVgpus 0 = 4294967295\n", -1, -1},
    {"call nvmlDeviceGetActiveVgpus 0 = !3\n", -1, -1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 1 1 0 0\n", -1, 1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 3 0 0 1\n", -1, 1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 2 0 0 1\n", -1, 0},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 4000000000 0 0 1\n", -1, 1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 0 1 1 1\n", -1, -1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 0 = 0 1 1 0 0\n", -1, -1},
    {"call nvmlDeviceGetGridLicensableFeatures_v4 = !nosymbol\n", -1, -1},
};

static void test_virtual_gpus(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(virtual_gpus); i++) {
        struct machine m;
        test_label = virtual_gpus[i].text;
        if (!begin(&m, virtual_gpus[i].text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_VGPUS, ""), virtual_gpus[i].vgpus, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_VGPU_LICENSED, ""), virtual_gpus[i].licensed, 0);
        finish(&m);
    }
    test_label = "";
}

/* The longest words of all modes fit into the label. */
static const struct {
    const char *text;
    const char *want;
} modes[] = {
    {"call nvmlSystemGetConfComputeState = 2 0 0\n", "confidential=off"},
    {"call nvmlSystemGetConfComputeState = 2 1 0\n", "confidential=on"},
    {"call nvmlSystemGetConfComputeState = 2 1 1\n", "confidential=devtools"},
    {"call nvmlSystemGetConfComputeState = 2 0 1\n", "confidential=off"},
    {"call nvmlSystemGetConfComputeState = 2 2 0\n", "confidential=bare_metal"},
    {"call nvmlSystemGetConfComputeState = 2 3 0\n", ""},
    {"call nvmlDeviceGetC2cModeInfoV 0 = 1\n", "c2c=on"},
    {"call nvmlDeviceGetC2cModeInfoV 0 = 2\n", ""},
    {"call nvmlDeviceGetMigMode 0 = 1 0\n", "mig=on"},
    {"call nvmlDeviceGetMigMode 0 = 2 1\n", ""},
    {"call nvmlDeviceGetComputeMode 0 = 0\n", "compute=default"},
    {"call nvmlDeviceGetComputeMode 0 = 4\n", ""},
    {"call nvmlDeviceGetPersistenceMode 0 = 1\n", "persistence=on"},
    {"call nvmlDeviceGetPersistenceMode 0 = 2\n", ""},
    {"call nvmlDeviceGetVirtualizationMode 0 = 4\n", "virtualization=vsga_host"},
    {"call nvmlDeviceGetVirtualizationMode 0 = 5\n", ""},
    {"call nvmlDeviceGetHostVgpuMode 0 = 2\n", ""},
    {"call nvmlDeviceGetHostVgpuMode 0 = 1\n", "vgpu_host=sriov"},
    {"call nvmlDeviceGetMigMode 0 = 0 1\ncall nvmlDeviceGetComputeMode 0 = 3\n"
     "call nvmlDeviceGetPersistenceMode 0 = 0\ncall nvmlDeviceGetVirtualizationMode 0 = 1\n"
     "call nvmlDeviceGetHostVgpuMode 0 = 0\ncall nvmlDeviceGetC2cModeInfoV 0 = 0\n"
     "call nvmlSystemGetConfComputeState = 2 2 0\n",
     "mig=off compute=exclusive_process persistence=off virtualization=passthrough "
     "vgpu_host=non_sriov c2c=off confidential=bare_metal"},
};

static void test_modes(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(modes); i++) {
        struct machine m;
        if (!begin(&m, modes[i].text))
            return;
        gather(&m, 0);
        CHECK_STR(gtel_str_of(m.group.registry.device[0]->label[GTEL_LABEL_MODES]), modes[i].want);
        finish(&m);
    }
}

/* Two links to the CPU, one of which is down; beside NVLink, and without it. */
static const char c2c[] = "call nvmlDeviceGetFieldValues 0 170 0 = uint 2\n"
                          "call nvmlDeviceGetFieldValues 0 171 0 = uint 1\n"
                          "call nvmlDeviceGetFieldValues 0 231 0 = ull 4\n"
                          "call nvmlDeviceGetFieldValues 0 232 0 = ull 5\n"
                          "call nvmlDeviceGetFieldValues 0 171 1 = uint 0\n";

static void test_c2c(const char *more, double links)
{
    struct machine m;
    char text[800];
    (void)snprintf(text, sizeof(text), "%s%s", c2c, more);
    if (!begin(&m, text))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_CRC, "c2c0"), 4, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_REPLAYS, "c2c0"), 5, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c1"), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_CRC, "c2c1"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c2"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "0"), links, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_CRC, "0"), -1, 0);
    finish(&m);
}

static void test_c2c_counts(void)
{
    static const struct {
        const char *count;
        double up;
    } counts[] = {{"uint 1", 1},           {"uint 14", 1}, {"uint 15", -1},
                  {"uint 4294967295", -1}, {"int -1", -1}, {"double nan", -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(counts); i++) {
        struct machine m;
        char text[200];
        test_label = counts[i].count;
        (void)snprintf(text, sizeof(text),
                       "call nvmlDeviceGetFieldValues 0 170 0 = %s\n"
                       "call nvmlDeviceGetFieldValues 0 171 0 = uint 1\n",
                       counts[i].count);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), counts[i].up, 0);
        finish(&m);
    }
    test_label = "";
}

/* A field that a link has not is no failure; one that fails is. */
static void test_c2c_failures(void)
{
    static const struct {
        const char *text;
        uint32_t failed;
    } cases[] = {{"call nvmlDeviceGetFieldValues 0 231 0 = !3\n", 0},
                 {"call nvmlDeviceGetFieldValues 0 231 0 = !999\n", 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        char text[800];
        (void)snprintf(text, sizeof(text), "%s%s", c2c, cases[i].text);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), 1, 0);
        CHECK_NEAR(value(&m, GTEL_M_FABRIC_CRC, "c2c0"), -1, 0);
        CHECK_INT(m.group.batch.failed[0], cases[i].failed);
        finish(&m);
    }
}

/* Not more links than there is room for, whatever the library says. */
static void test_many_links(void)
{
    struct machine m;
    char text[4000];
    char last[16];
    size_t n = 0;
    for (unsigned i = 0; i <= GTEL_NVML_LINKS_MAX; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "call nvmlDeviceGetNvLinkState 0 %u = 1\n"
                              "call nvmlDeviceGetFieldValues 0 165 %u = uint 1\n",
                              i, i);
    if (!begin(&m, text))
        return;
    gather(&m, 0);
    (void)snprintf(last, sizeof(last), "%u", GTEL_NVML_LINKS_MAX - 1);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, last), 1, 0);
    (void)snprintf(last, sizeof(last), "%u", GTEL_NVML_LINKS_MAX);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, last), -1, 0);
    finish(&m);
}

/* Before Hopper a call has the state of a link, and no field; what a link that is up does not have
 * is not asked for again. */
static void test_links_by_call(void)
{
    struct machine m;
    if (!begin(&m,
               "call nvmlDeviceGetNvLinkState 0 0 = 0\ncall nvmlDeviceGetNvLinkState 0 1 = 1\n"
               "call nvmlDeviceGetNvLinkState 0 2 = !2\n"
               "call nvmlDeviceGetFieldValues 0 138 1 = ull 1000\n"
               "at 30s\ncall nvmlDeviceGetFieldValues 0 162 1 = ull 4\n"
               "call nvmlDeviceGetNvLinkState 0 0 = 1\ncall nvmlDeviceGetNvLinkState 0 1 = !999\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "0"), 0, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "1"), 1024000, 0);
    CHECK_INT(m.group.batch.failed[0], 0);
    gather(&m, 60);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "0"), 1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "1"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_RECOVERIES, "1"), -1, 0);
    CHECK_INT(m.group.batch.failed[0], 1);
    finish(&m);
}

/* Where both fields of a metric answer, it is the first of them, and stays so. */
static void test_links_of_both(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetNvLinkState 0 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 7\n"
                   "call nvmlDeviceGetFieldValues 0 202 4294967295 = ull 9000\n"
                   "call nvmlDeviceGetFieldValues 0 138 0 = ull 7\n"
                   "call nvmlDeviceGetFieldValues 0 202 0 = ull 9000\n"
                   "call nvmlDeviceGetFieldValues 0 204 0 = ull 9000\n"
                   "call nvmlDeviceGetFieldValues 0 171 0 = uint 1\n"
                   "call nvmlDeviceGetFieldValues 0 170 0 = uint 1\n"
                   "at 30s\ncall nvmlDeviceGetFieldValues 0 138 0 = !3\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = !3\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), 7168, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "0"), 7168, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_RX, "0"), 9000, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), 1, 0);
    gather(&m, 60);
    CHECK_NEAR(value(&m, GTEL_M_GPU_LINKS_TX, ""), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_TX, "0"), -1, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_RX, "0"), 9000, 0);
    CHECK_NEAR(value(&m, GTEL_M_FABRIC_UP, "c2c0"), 1, 0);
    finish(&m);
}

/* Two GPUs take turns: what is read each 20 s or each minute is read of one of them in a gather. */
static void test_turns(void)
{
    static const char *const gpus[] = {"0000:19:00.0", "0001:3b:00.0"};
    static const struct {
        enum gtel_metric metric;
        unsigned period;
        unsigned at[2]; /* the first time after the first gathers, which are at 0, 1 and 2 s */
    } rows[] = {{GTEL_M_GPU_LINKS_TX, 20, {22, 12}},
                {GTEL_M_FABRIC_UP, 60, {62, 32}},
                {GTEL_M_GPU_ENERGY, 60, {62, 32}}};
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetNvLinkState 0 0 = 1\ncall nvmlDeviceGetNvLinkState 1 0 = 1\n"
                   "call nvmlDeviceGetFieldValues 0 138 4294967295 = ull 7\n"
                   "call nvmlDeviceGetFieldValues 1 138 4294967295 = ull 7\n"
                   "call nvmlDeviceGetTotalEnergyConsumption 0 = 5\n"
                   "call nvmlDeviceGetTotalEnergyConsumption 1 = 5\n"))
        return;
    spy.count_name = "nvmlDeviceGetEnforcedPowerLimit"; /* a setting: from the first gather on */
    for (unsigned s = 0; s < 200; s++) {
        spy.counted = 0;
        gather(&m, s > 0);
        CHECK_INT(spy.counted, s == 0 ? 2 : s % 60 == 0 || s % 60 == 30);
        for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(rows); i++) {
            unsigned at = rows[i / 2].at[i % 2];
            const char *link = rows[i / 2].metric == GTEL_M_FABRIC_UP ? "0" : "";
            bool is_turn = s < 3 || (s >= at && (s - at) % rows[i / 2].period == 0);
            CHECK_INT(find(&m, gpus[i % 2], rows[i / 2].metric, link, NULL) != NULL, is_turn);
        }
    }
    finish(&m);
}

int main(void)
{
    test_fabric();
    test_virtual_gpus();
    test_modes();
    test_c2c("", -1);
    test_c2c("call nvmlDeviceGetNvLinkState = !nosymbol\n", -1);
    test_c2c("call nvmlDeviceGetNvLinkState 0 0 = 1\ncall nvmlDeviceGetNvLinkState 0 1 = !2\n"
             "call nvmlDeviceGetFieldValues 0 165 0 = uint 1\n",
             1);
    test_c2c_counts();
    test_c2c_failures();
    test_many_links();
    test_shares();
    test_first_work();
    test_engines(true);
    test_engines(false);
    test_turns();
    test_links_by_call();
    test_links_of_both();
    return test_result();
}
