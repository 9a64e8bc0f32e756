/* SPDX-License-Identifier: MIT */
/* amdgpu's gpu_metrics as readings, from real and made tables; values worked out by hand. */
#include "harness/amd_table_machine.h"

#include <errno.h>

/* ---- real tables ---- */

/* hwmon at the same time: 56, 59 and 54 degrees, 36 W, 1000 MHz of memory; busy 3 %. */
static void test_navi21(void)
{
    static const struct amd_want want[] = {
        {GTEL_M_TEMPERATURE, "edge", 56},
        {GTEL_M_TEMPERATURE, "junction", 59},
        {GTEL_M_TEMPERATURE, "mem", 54},
        {GTEL_M_TEMPERATURE, "vr_mem", 51},
        {GTEL_M_TEMPERATURE, "hbm", -1},
        {GTEL_M_POWER, "pkg", 36},
        {GTEL_M_ENERGY, "pkg", 17691.682},
        {GTEL_M_GPU_BUSY, "", 0.03},
        {GTEL_M_GPU_MEMORY_BANDWIDTH, "", 0},
        {GTEL_M_ENGINE_BUSY, "video", 0},
        {GTEL_M_FREQUENCY_ACTUAL, "graphics", 41e6},
        {GTEL_M_FREQUENCY_ACTUAL, "memory", 1000e6},
        {GTEL_M_FREQUENCY_ACTUAL, "soc", 800e6},
        {GTEL_M_FREQUENCY_ACTUAL, "vclk", -1}, /* 0: not running */
        {GTEL_M_VOLTAGE, "vddgfx", 0.775},
        {GTEL_M_VOLTAGE, "vddmem", 1.356},
        {GTEL_M_GPU_PCIE_WIDTH, "", 16},
        {GTEL_M_GPU_PCIE_GEN, "", 4},
        {GTEL_M_GPU_THROTTLED, "", 0},
        {GTEL_M_FAN_RPM, "1", -1},
    };
    struct amd_life life;
    amd_life_begin(&life, 0x73bf);
    amd_load("rx6900xt-padded");
    CHECK(!gtel_amd_table_has(&life.table, GTEL_M_POWER, GTEL_STR("pkg")));
    CHECK_INT(amd_gather(&life), 0);
    amd_check(&life, want, GTEL_ARRAY_LEN(want));
    CHECK_INT(amd_machine.reads, 1);
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_POWER, GTEL_STR("pkg")));
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_GPU_BUSY, GTEL_STR_NONE));
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_GPU_PCIE_GEN, GTEL_STR_NONE));
    CHECK(!gtel_amd_table_has(&life.table, GTEL_M_TEMPERATURE, GTEL_STR("hbm")));
    CHECK(!gtel_amd_table_has(&life.table, GTEL_M_FAN_RPM, GTEL_STR("1")));
    life.table.has_fan = true; /* which stands */
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_FAN_RPM, "1"), 0, 0);
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_FAN_RPM, GTEL_STR("1")));
    amd_life_end(&life);
    /* The same bytes of a chip whose unit of energy is not known. */
    amd_life_begin(&life, 0x73df);
    amd_load("rx6900xt-padded");
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_ENERGY, "pkg"), -1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_POWER, "pkg"), 36, 0);
    amd_life_end(&life);
}

/* hwmon: 25 degrees, 3.1 W, 800 MHz; gpu_busy_percent 0, which is 79 in hundredths here. */
static void test_phoenix(void)
{
    static const struct amd_want want[] = {
        {GTEL_M_TEMPERATURE, "edge", 25},
        {GTEL_M_TEMPERATURE, "soc", 27.37},
        {GTEL_M_POWER, "pkg", 3.401},
        {GTEL_M_POWER, "soc", 0.743},
        {GTEL_M_POWER, "gfx", 0.585},
        {GTEL_M_POWER, "cpu", -1},
        {GTEL_M_FREQUENCY_ACTUAL, "graphics", 8e8},
        {GTEL_M_FREQUENCY_ACTUAL, "memory", 4e8},
        {GTEL_M_FREQUENCY_ACTUAL, "fabric", -1}, /* the table has the memory's there */
        {GTEL_M_FREQUENCY_ACTUAL, "vclk", 8e8},
        {GTEL_M_FREQUENCY_ACTUAL, "dclk", 8e8},
        {GTEL_M_GPU_BUSY, "", -1},
        {GTEL_M_ENGINE_BUSY, "video", 0},
        {GTEL_M_GPU_THROTTLED, "", 0},
        {GTEL_M_GPU_PCIE_GEN, "", -1},
        {GTEL_M_ENERGY, "pkg", -1},
    };
    struct amd_life life;
    amd_life_begin(&life, 0x15bf);
    amd_load("phoenix");
    CHECK_INT(amd_gather(&life), 0);
    amd_check(&life, want, GTEL_ARRAY_LEN(want));
    amd_life_end(&life);
}

/* hwmon: 38 degrees, 9.087 W, 848 MHz. Its average_sys_power is 63536, which is none. */
static void test_strix(void)
{
    static const struct amd_want want[] = {
        {GTEL_M_TEMPERATURE, "edge", 38.12},
        {GTEL_M_TEMPERATURE, "soc", 40.62},
        {GTEL_M_TEMPERATURE, "skin", 35.98},
        {GTEL_M_POWER, "pkg", 9.839},
        {GTEL_M_POWER, "cpu", 2.499},
        {GTEL_M_POWER, "gfx", 1.536},
        {GTEL_M_POWER, "system", -1},
        {GTEL_M_FREQUENCY_ACTUAL, "graphics", 849e6},
        {GTEL_M_FREQUENCY_ACTUAL, "memory", 836e6},
        {GTEL_M_FREQUENCY_ACTUAL, "soc", 628e6},
        {GTEL_M_FREQUENCY_ACTUAL, "fabric", 1162e6},
        {GTEL_M_FREQUENCY_ACTUAL, "vclk", 800e6},
        {GTEL_M_GPU_BUSY, "", -1},
        {GTEL_M_ENGINE_BUSY, "video", 0},
        {GTEL_M_GPU_THROTTLED, "", -1},
        {GTEL_M_THROTTLE_ACTIVE, "fppt", -1},
    };
    struct amd_life life;
    amd_life_begin(&life, 0x150e);
    amd_load("strix-point");
    CHECK_INT(amd_gather(&life), 0);
    amd_check(&life, want, GTEL_ARRAY_LEN(want));
    /* Its residencies need two tables: nothing was in force, then FPPT, then nothing. */
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), 0, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "fppt"), -1, 0);
    amd_set("v3_0", GTEL_AMD_THROTTLE_RESIDENCY_FPPT, 0, 92400);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), 1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "fppt"), 1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "spl"), -1, 0);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "fppt"), 0, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), 0, 0);
    amd_life_end(&life);
}

/* The socket's power of format 3 includes a GPU beside the APU. */
static void test_socket_of_two(void)
{
    static const struct {
        const char *label;
        uint64_t apu_mw;
        double watts;
    } cases[] = {{"an APU and a GPU", 9839, 9.839},
                 {"the APU's own is not provided", 0, 95},
                 {"the APU's own is not available", UINT32_MAX, 95}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct amd_life life;
        test_label = cases[i].label;
        amd_life_begin(&life, 0x150e);
        amd_load("strix-point");
        amd_set("v3_0", GTEL_AMD_AVERAGE_SOCKET_POWER, 0, 95000);
        amd_set("v3_0", GTEL_AMD_AVERAGE_APU_POWER, 0, cases[i].apu_mw);
        CHECK_INT(amd_gather(&life), 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_POWER, "pkg"), cases[i].watts, 1e-9);
        amd_life_end(&life);
    }
    test_label = "";
}

/* What the table that a gather has read has of the NPU. */
static void sample_npu(struct amd_life *life)
{
    CHECK_INT(amd_gather(life), 0);
    gtel_batch_reset(&life->batch);
    gtel_amd_table_sample_npu(&life->table, &amd_device, &life->batch);
}

/* Its NPU: columns that work at 40 and 60 % and six at 0; 1.5 W, 800 MHz. */
static void test_npu(void)
{
    struct amd_life life;
    amd_life_begin(&life, 0x150e);
    amd_load("strix-point");
    for (unsigned i = 0; i < 8; i++)
        amd_set("v3_0", GTEL_AMD_AVERAGE_IPU_ACTIVITY, i, i < 2 ? 40 + 20 * i : 0);
    amd_set("v3_0", GTEL_AMD_AVERAGE_IPU_POWER, 0, 1500);
    amd_set("v3_0", GTEL_AMD_AVERAGE_IPUCLK_FREQUENCY, 0, 800);
    sample_npu(&life);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_BUSY, ""), 0.125, 1e-12);
    CHECK_NEAR(amd_value(&life, GTEL_M_POWER, "pkg"), 1.5, 1e-12);
    CHECK_NEAR(amd_value(&life, GTEL_M_FREQUENCY_ACTUAL, "npu"), 8e8, 0);
    CHECK_INT(life.batch.n, 3);
    /* A firmware with hundredths of percent. */
    amd_set("v3_0", GTEL_AMD_AVERAGE_IPU_ACTIVITY, 7, 101);
    sample_npu(&life);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_BUSY, ""), -1, 0);
    CHECK_INT(life.batch.n, 2);
    /* A single column that is known, all at work. */
    for (unsigned i = 0; i < 8; i++)
        amd_set("v3_0", GTEL_AMD_AVERAGE_IPU_ACTIVITY, i, i == 7 ? 100 : 0xffff);
    sample_npu(&life);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_BUSY, ""), 1, 0);
    amd_set("v3_0", GTEL_AMD_AVERAGE_IPU_ACTIVITY, 7, 0xffff);
    sample_npu(&life);
    CHECK_INT(life.batch.n, 2);
    /* An APU without one. */
    amd_load("phoenix");
    sample_npu(&life);
    CHECK_INT(life.batch.n, 0);
    amd_life_end(&life);
}

/* ---- units and traps by chip ---- */

static const struct chip_case {
    const char *label;
    const char *revision;
    uint16_t device_id;
    enum gtel_amd_field field;
    uint64_t number;
    enum gtel_metric metric;
    const char *dim;
    double want; /* -1: no reading */
} chip_cases[] = {
    {"Van Gogh: milliwatts", "v2_2", 0x163f, GTEL_AMD_AVERAGE_SOCKET_POWER, 4200, GTEL_M_POWER,
     "pkg", 4.2},
    {"Renoir: watts or milliwatts", "v2_2", 0x1638, GTEL_AMD_AVERAGE_SOCKET_POWER, 15, GTEL_M_POWER,
     "pkg", -1},
    {"Renoir: its parts are in milliwatts", "v2_2", 0x1638, GTEL_AMD_AVERAGE_SOC_POWER, 1500,
     GTEL_M_POWER, "soc", 1.5},
    {"Cyan Skillfish: cut to 16 bits", "v2_2", 0x13fe, GTEL_AMD_AVERAGE_SOCKET_POWER, 4200,
     GTEL_M_POWER, "pkg", -1},
    {"Rembrandt: video in hundredths", "v2_1", 0x1681, GTEL_AMD_AVERAGE_MM_ACTIVITY, 2500,
     GTEL_M_ENGINE_BUSY, "video", 0.25},
    {"Renoir, too", "v2_2", 0x1636, GTEL_AMD_AVERAGE_MM_ACTIVITY, 2500, GTEL_M_ENGINE_BUSY, "video",
     0.25},
    {"Van Gogh: percent or hundredths", "v2_2", 0x163f, GTEL_AMD_AVERAGE_MM_ACTIVITY, 25,
     GTEL_M_ENGINE_BUSY, "video", -1},
    {"Strix: video in percent", "v3_0", 0x150e, GTEL_AMD_AVERAGE_VCN_ACTIVITY, 37,
     GTEL_M_ENGINE_BUSY, "video", 0.37},
    {"or, by its size, in hundredths", "v3_0", 0x150e, GTEL_AMD_AVERAGE_VCN_ACTIVITY, 101,
     GTEL_M_ENGINE_BUSY, "video", -1},
    {"an APU's busy share is the driver's file's", "v2_4", 0x163f, GTEL_AMD_AVERAGE_GFX_ACTIVITY,
     79, GTEL_M_GPU_BUSY, "", -1},
    {"Van Gogh: the current clock", "v2_3", 0x163f, GTEL_AMD_CURRENT_GFXCLK, 1600,
     GTEL_M_FREQUENCY_ACTUAL, "graphics", 1.6e9},
    {"a clock that is 0", "v2_3", 0x163f, GTEL_AMD_CURRENT_GFXCLK, 0, GTEL_M_FREQUENCY_ACTUAL,
     "graphics", -1},
    {"Van Gogh: the memory's clock", "v2_3", 0x163f, GTEL_AMD_CURRENT_FCLK, 687,
     GTEL_M_FREQUENCY_ACTUAL, "fabric", -1},
    {"Rembrandt, too", "v2_1", 0x1681, GTEL_AMD_AVERAGE_FCLK_FREQUENCY, 687,
     GTEL_M_FREQUENCY_ACTUAL, "fabric", -1},
    {"Renoir: the fabric's clock", "v2_2", 0x1636, GTEL_AMD_CURRENT_FCLK, 1333,
     GTEL_M_FREQUENCY_ACTUAL, "fabric", 1333e6},
    {"Van Gogh: volts", "v2_4", 0x163f, GTEL_AMD_AVERAGE_GFX_VOLTAGE, 850, GTEL_M_VOLTAGE, "vddgfx",
     0.85},
    {"Vega 20: degrees", "v1_0", 0x66af, GTEL_AMD_TEMPERATURE_HOTSPOT, 71, GTEL_M_TEMPERATURE,
     "junction", 71},
    {"a Navi's shaders: not what is asked for", "v1_3", 0x744c, GTEL_AMD_CURRENT_GFXCLK, 1200,
     GTEL_M_FREQUENCY_ACTUAL, "graphics", -1},
    {"a Navi's shaders: what runs", "v1_3", 0x744c, GTEL_AMD_AVERAGE_GFXCLK_FREQUENCY, 300,
     GTEL_M_FREQUENCY_ACTUAL, "graphics", 3e8},
    {"MI210: what is current", "v1_3", 0x740f, GTEL_AMD_CURRENT_GFXCLK, 1700,
     GTEL_M_FREQUENCY_ACTUAL, "graphics", 1.7e9},
    {"MI210: a 0 that nothing has measured", "v1_3", 0x740f, GTEL_AMD_AVERAGE_MM_ACTIVITY, 0,
     GTEL_M_ENGINE_BUSY, "video", -1},
    {"Navi 31: video", "v1_3", 0x744c, GTEL_AMD_AVERAGE_MM_ACTIVITY, 0, GTEL_M_ENGINE_BUSY, "video",
     0},
    {"the second die's power", "v1_3", 0x7408, GTEL_AMD_AVERAGE_SOCKET_POWER, 0, GTEL_M_POWER,
     "pkg", -1},
    {"the second die's energy", "v1_3", 0x7408, GTEL_AMD_ENERGY_ACCUMULATOR, 0, GTEL_M_ENERGY,
     "pkg", -1},
    {"a temperature of 0 is none", "v1_3", 0x744c, GTEL_AMD_TEMPERATURE_VRGFX, 0,
     GTEL_M_TEMPERATURE, "vr_gfx", -1},
    {"nor is one that no chip has", "v1_3", 0x744c, GTEL_AMD_TEMPERATURE_VRGFX, 151,
     GTEL_M_TEMPERATURE, "vr_gfx", -1},
    {"a share above 100", "v1_3", 0x744c, GTEL_AMD_AVERAGE_GFX_ACTIVITY, 101, GTEL_M_GPU_BUSY, "",
     -1},
    {"MI100: joules", "v1_3", 0x738c, GTEL_AMD_ENERGY_ACCUMULATOR, 370, GTEL_M_ENERGY, "pkg", 370},
    {"MI210: 2^-16 J", "v1_3", 0x740f, GTEL_AMD_ENERGY_ACCUMULATOR, 131072, GTEL_M_ENERGY, "pkg",
     2},
    {"MI300X: 2^-16 J", "v1_5", 0x74a1, GTEL_AMD_ENERGY_ACCUMULATOR, 32768, GTEL_M_ENERGY, "pkg",
     0.5},
    {"Navi 31: not known", "v1_3", 0x744c, GTEL_AMD_ENERGY_ACCUMULATOR, 1000, GTEL_M_ENERGY, "pkg",
     -1},
    {"Vega 20: not known", "v1_0", 0x66af, GTEL_AMD_ENERGY_ACCUMULATOR, 1000, GTEL_M_ENERGY, "pkg",
     -1},
    {"MI300X: power of the moment", "v1_8", 0x74a1, GTEL_AMD_CURR_SOCKET_POWER, 749, GTEL_M_POWER,
     "pkg", 749},
    {"MI300X: of all regulators", "v1_4", 0x74a1, GTEL_AMD_TEMPERATURE_VRSOC, 61,
     GTEL_M_TEMPERATURE, "vr", 61},
    {"RDNA 3: a hotspot that is always hot", "v1_3", 0x7480, GTEL_AMD_INDEP_THROTTLE_STATUS,
     UINT64_C(1) << 36, GTEL_M_GPU_THROTTLED, "", 0},
    {"RDNA 4, too", "v1_3", 0x7551, GTEL_AMD_INDEP_THROTTLE_STATUS, UINT64_C(1) << 36,
     GTEL_M_GPU_THROTTLED, "", 0},
    {"Navi 44, beside another", "v1_3", 0x7590, GTEL_AMD_INDEP_THROTTLE_STATUS,
     UINT64_C(1) << 36 | 1, GTEL_M_THROTTLE_ACTIVE, "temp_hotspot", -1},
    {"another, beside it", "v1_3", 0x7551, GTEL_AMD_INDEP_THROTTLE_STATUS, UINT64_C(1) << 36 | 1,
     GTEL_M_THROTTLE_ACTIVE, "ppt0", 1},
    {"RDNA 2: a hot one", "v1_3", 0x73bf, GTEL_AMD_INDEP_THROTTLE_STATUS, UINT64_C(1) << 36,
     GTEL_M_THROTTLE_ACTIVE, "temp_hotspot", 1},
    {"bits that mean nothing", "v1_3", 0x73bf, GTEL_AMD_INDEP_THROTTLE_STATUS,
     UINT64_C(1) << 24 | UINT64_C(1) << 63, GTEL_M_GPU_THROTTLED, "", 0},
    {"2.1: bit 4 is the core", "v2_1", 0x15bf, GTEL_AMD_THROTTLE_STATUS, 1 << 4,
     GTEL_M_THROTTLE_ACTIVE, "temp_core", 1},
    {"2.1: bit 12 is EDC", "v2_1", 0x15bf, GTEL_AMD_THROTTLE_STATUS, 1 << 12,
     GTEL_M_THROTTLE_ACTIVE, "edc_gfx", 1},
    {"1.0: nobody says what the bits are", "v1_0", 0x66af, GTEL_AMD_THROTTLE_STATUS, 0xffff,
     GTEL_M_GPU_THROTTLED, "", -1},
    {"1.4: the mask is never set", "v1_4", 0x74a1, GTEL_AMD_THROTTLE_STATUS, 1,
     GTEL_M_GPU_THROTTLED, "", -1},
    {"2.2: the mask that is the same for all", "v2_2", 0x163f, GTEL_AMD_INDEP_THROTTLE_STATUS,
     UINT64_C(1) << 47, GTEL_M_THROTTLE_ACTIVE, "prochot_gfx", 1},
};

static void test_chips(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(chip_cases); i++) {
        const struct chip_case *c = &chip_cases[i];
        const struct amd_want want = {c->metric, c->dim, c->want};
        struct amd_life life;
        test_label = c->label;
        amd_life_begin(&life, c->device_id);
        amd_table_begin(c->revision);
        amd_set(c->revision, c->field, 0, c->number);
        /* Something besides, so that the table is not empty. */
        amd_put(amd_place(c->revision, GTEL_AMD_SYSTEM_CLOCK_COUNTER)->offset, 8, 1);
        CHECK_INT(amd_gather(&life), 0);
        amd_check(&life, &want, 1);
        amd_life_end(&life);
    }
    test_label = "";
}

/* Up to which number a value can be; one more is none. */
static void test_limits(void)
{
    static const struct {
        const char *revision;
        enum gtel_amd_field field;
        uint64_t first; /* the smallest one that is a value */
        uint64_t most;
        enum gtel_metric metric;
        const char *dim;
        double scale;
    } limits[] = {
        {"v1_3", GTEL_AMD_TEMPERATURE_EDGE, 1, 150, GTEL_M_TEMPERATURE, "edge", 1},
        {"v1_3", GTEL_AMD_AVERAGE_SOCKET_POWER, 1, 5000, GTEL_M_POWER, "pkg", 1},
        {"v1_3", GTEL_AMD_VOLTAGE_GFX, 1, 5000, GTEL_M_VOLTAGE, "vddgfx", 1e-3},
        {"v1_3", GTEL_AMD_CURRENT_UCLK, 1, 20000, GTEL_M_FREQUENCY_ACTUAL, "memory", 1e6},
        {"v1_3", GTEL_AMD_CURRENT_FAN_SPEED, 0, 30000, GTEL_M_FAN_RPM, "1", 1},
        {"v1_3", GTEL_AMD_AVERAGE_GFX_ACTIVITY, 0, 100, GTEL_M_GPU_BUSY, "", 0.01},
        {"v2_3", GTEL_AMD_TEMPERATURE_GFX, 1, 15000, GTEL_M_TEMPERATURE, "edge", 0.01},
    };
    for (size_t i = 0; i < 4 * GTEL_ARRAY_LEN(limits); i++) {
        size_t row = i / 4;
        uint64_t first = limits[row].first;
        const uint64_t numbers[] = {first, limits[row].most, limits[row].most + 1, 0};
        uint64_t number = numbers[i % 4];
        bool is_value = number >= first && number <= limits[row].most;
        struct amd_life life;
        char label[64];
        (void)snprintf(label, sizeof(label), "row %zu: %u", row, (unsigned)number);
        test_label = label;
        amd_life_begin(&life, 0x73bf);
        life.table.has_fan = true;
        amd_table_begin(limits[row].revision);
        amd_set(limits[row].revision, limits[row].field, 0, number);
        amd_put(amd_place(limits[row].revision, GTEL_AMD_SYSTEM_CLOCK_COUNTER)->offset, 8, 1);
        CHECK_INT(amd_gather(&life), 0);
        CHECK_NEAR(amd_value(&life, limits[row].metric, limits[row].dim),
                   is_value ? (double)number * limits[row].scale : -1, 1e-9);
        amd_life_end(&life);
    }
    test_label = "";
}

/* Reasons are reported from the first time on that they were in force. */
static void test_reasons(void)
{
    struct amd_life life;
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_set("v1_3", GTEL_AMD_TEMPERATURE_EDGE, 0, 50);
    amd_set("v1_3", GTEL_AMD_INDEP_THROTTLE_STATUS, 0, 1 | 1 << 16);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "ppt0"), 1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "tdc_gfx"), 1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), 1, 0);
    amd_set("v1_3", GTEL_AMD_INDEP_THROTTLE_STATUS, 0, 1 << 1);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "ppt0"), 0, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "ppt1"), 1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "ppt2"), -1, 0);
    amd_set("v1_3", GTEL_AMD_INDEP_THROTTLE_STATUS, 0, UINT64_MAX);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), -1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, "ppt0"), -1, 0);
    amd_life_end(&life);
}

/* Each bit of the mask that is the same on all chips. */
static void test_mask(void)
{
    static const char *const names[64] = {
        [0] = "ppt0",          [1] = "ppt1",          [2] = "ppt2",          [3] = "ppt3",
        [4] = "spl",           [5] = "fppt",          [6] = "sppt",          [7] = "sppt_apu",
        [16] = "tdc_gfx",      [17] = "tdc_soc",      [18] = "tdc_mem",      [19] = "tdc_vdd",
        [20] = "tdc_cvip",     [21] = "edc_cpu",      [22] = "edc_gfx",      [23] = "apcc",
        [32] = "temp_gpu",     [33] = "temp_core",    [34] = "temp_mem",     [35] = "temp_edge",
        [36] = "temp_hotspot", [37] = "temp_soc",     [38] = "temp_vr_gfx",  [39] = "temp_vr_soc",
        [40] = "temp_vr_mem0", [41] = "temp_vr_mem1", [42] = "temp_liquid0", [43] = "temp_liquid1",
        [44] = "vrhot0",       [45] = "vrhot1",       [46] = "prochot_cpu",  [47] = "prochot_gfx",
        [56] = "ppm",          [57] = "fit"};
    for (unsigned bit = 0; bit < GTEL_ARRAY_LEN(names); bit++) {
        struct amd_life life;
        size_t active = 0;
        test_label = names[bit] ? names[bit] : "no reason";
        amd_life_begin(&life, 0x73bf);
        amd_table_begin("v1_3");
        amd_set("v1_3", GTEL_AMD_INDEP_THROTTLE_STATUS, 0, UINT64_C(1) << bit);
        amd_put(amd_place("v1_3", GTEL_AMD_SYSTEM_CLOCK_COUNTER)->offset, 8, 1);
        CHECK_INT(amd_gather(&life), 0);
        for (size_t i = 0; i < life.batch.n; i++)
            active += life.batch.reading[i].metric == GTEL_M_THROTTLE_ACTIVE;
        CHECK_INT(active, names[bit] != NULL);
        CHECK(!names[bit] || amd_value(&life, GTEL_M_THROTTLE_ACTIVE, names[bit]) > 0);
        amd_life_end(&life);
    }
    test_label = "";
}

/* Each bit of a mask that has its own order: which reason it is. */
static void test_mask_2_1(void)
{
    static const char *const names[] = {
        "spl",     "fppt",    "sppt",        "sppt_apu",    "temp_core", "temp_gpu", "temp_soc",
        "tdc_vdd", "tdc_soc", "prochot_cpu", "prochot_gfx", "edc_cpu",   "edc_gfx"};
    for (unsigned bit = 0; bit < 16; bit++) {
        struct amd_life life;
        size_t active = 0;
        test_label = bit < GTEL_ARRAY_LEN(names) ? names[bit] : "no reason";
        amd_life_begin(&life, 0x15bf);
        amd_table_begin("v2_1");
        amd_set("v2_1", GTEL_AMD_THROTTLE_STATUS, 0, 1u << bit);
        amd_put(amd_place("v2_1", GTEL_AMD_SYSTEM_CLOCK_COUNTER)->offset, 8, 1);
        CHECK_INT(amd_gather(&life), 0);
        for (size_t i = 0; i < life.batch.n; i++)
            active += life.batch.reading[i].metric == GTEL_M_THROTTLE_ACTIVE;
        bool is_reason = bit < GTEL_ARRAY_LEN(names);
        CHECK_INT(active, is_reason);
        CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), is_reason, 0);
        CHECK(!is_reason || amd_value(&life, GTEL_M_THROTTLE_ACTIVE, names[bit]) > 0);
        amd_life_end(&life);
    }
    test_label = "";
}

/* Of a table before they began again, or that could not be read, nothing is known. */
static void check_mask_breaks(struct amd_life *life)
{
    test_label = "begun again";
    amd_set("v3_0", GTEL_AMD_THROTTLE_RESIDENCY_PROCHOT, 0, 0);
    CHECK_INT(amd_gather(life), 0);
    CHECK_NEAR(amd_value(life, GTEL_M_GPU_THROTTLED, ""), -1, 0);
    CHECK_INT(amd_gather(life), 0);
    CHECK_NEAR(amd_value(life, GTEL_M_GPU_THROTTLED, ""), 0, 0);
    test_label = "not read";
    amd_machine.error = -EBUSY;
    CHECK_INT(amd_gather(life), -ENODATA);
    amd_machine.error = 0;
    amd_set("v3_0", GTEL_AMD_THROTTLE_RESIDENCY_PROCHOT, 0, 500);
    CHECK_INT(amd_gather(life), 0);
    CHECK_NEAR(amd_value(life, GTEL_M_GPU_THROTTLED, ""), -1, 0);
}

/* Each residency that has grown. */
static void test_mask_3_0(void)
{
    static const char *const names[] = {"prochot_cpu", "spl",      "fppt",    "sppt",
                                        "temp_core",   "temp_gpu", "temp_soc"};
    struct amd_life life;
    amd_life_begin(&life, 0x150e);
    amd_load("strix-point");
    CHECK_INT(amd_gather(&life), 0);
    for (unsigned i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        test_label = names[i];
        amd_set("v3_0", GTEL_AMD_THROTTLE_RESIDENCY_PROCHOT + i, 0, 1000000 + i);
        CHECK_INT(amd_gather(&life), 0);
        for (unsigned k = 0; k < GTEL_ARRAY_LEN(names); k++)
            CHECK_NEAR(amd_value(&life, GTEL_M_THROTTLE_ACTIVE, names[k]),
                       k < i    ? 0
                       : k == i ? 1
                                : -1,
                       0);
        CHECK_NEAR(amd_value(&life, GTEL_M_GPU_THROTTLED, ""), 1, 0);
    }
    check_mask_breaks(&life);
    amd_life_end(&life);
    test_label = "";
}

/* Lanes are powers of two up to 32, and speeds those of PCIe; anything else is no link. */
static void test_link(void)
{
    static const struct {
        unsigned lanes;
        unsigned speed; /* tenths of GT/s */
        double gen;     /* -1: no link */
    } cases[] = {{1, 25, 1},    {2, 50, 2},    {4, 80, 3},    {8, 160, 4},   {16, 320, 5},
                 {32, 640, 6},  {0, 25, -1},   {3, 25, -1},   {6, 80, -1},   {12, 160, -1},
                 {24, 160, -1}, {33, 160, -1}, {64, 160, -1}, {16, 0, -1},   {16, 24, -1},
                 {16, 26, -1},  {16, 161, -1}, {16, 16, -1},  {16, 641, -1}, {16, 1280, -1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct amd_life life;
        test_label = "link";
        amd_life_begin(&life, 0x73bf);
        amd_table_begin("v1_3");
        amd_set("v1_3", GTEL_AMD_TEMPERATURE_EDGE, 0, 50);
        amd_set("v1_3", GTEL_AMD_PCIE_LINK_WIDTH, 0, cases[i].lanes);
        amd_set("v1_3", GTEL_AMD_PCIE_LINK_SPEED, 0, cases[i].speed);
        CHECK_INT(amd_gather(&life), 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_GPU_PCIE_GEN, ""), cases[i].gen, 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_GPU_PCIE_WIDTH, ""),
                   cases[i].gen > 0 ? (double)cases[i].lanes : -1, 0);
        amd_life_end(&life);
    }
    struct amd_life life;
    test_label = "RDNA 4 has 2.5 GT/s for 32";
    amd_life_begin(&life, 0x7550);
    amd_table_begin("v1_3");
    amd_set("v1_3", GTEL_AMD_PCIE_LINK_WIDTH, 0, 16);
    amd_set("v1_3", GTEL_AMD_PCIE_LINK_SPEED, 0, 25);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_GPU_PCIE_GEN, ""), -1, 0);
    CHECK(!gtel_amd_table_has(&life.table, GTEL_M_GPU_PCIE_GEN, GTEL_STR_NONE));
    amd_life_end(&life);
    test_label = "";
}

/* Of several shader engines the first that runs has the clock, as in hwmon. */
static void test_several(void)
{
    struct amd_life life;
    amd_life_begin(&life, 0x74a1);
    amd_table_begin("v1_6");
    amd_set("v1_6", GTEL_AMD_CURRENT_GFXCLK, 0, 0);
    amd_set("v1_6", GTEL_AMD_CURRENT_GFXCLK, 1, 132);
    amd_set("v1_6", GTEL_AMD_CURRENT_GFXCLK, 7, 2100);
    CHECK_INT(amd_gather(&life), 0);
    const struct gtel_reading *reading = amd_find(&life, GTEL_M_FREQUENCY_ACTUAL, "graphics");
    CHECK(reading && reading->value_type == GTEL_VALUE_U64 && reading->value.u64 == 132000000);
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_FREQUENCY_ACTUAL, GTEL_STR("graphics")));
    /* Video engines of all partitions: 4 known ones, 10, 20, 30 and 100 %: 40 %. */
    const struct amd_place_at *vcn = amd_place("v1_6", GTEL_AMD_VCN_BUSY);
    amd_put(vcn->offset, 2, 10);
    amd_put(vcn->offset + 2, 2, 20);
    amd_put(vcn->offset + 168, 2, 30);
    amd_put(vcn->offset + 7 * 168 + 6, 2, 100);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_ENGINE_BUSY, "video"), 0.4, 1e-12);
    CHECK_NEAR(amd_value(&life, GTEL_M_ENGINE_BUSY, "jpeg"), -1, 0); /* not known of any */
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_ENGINE_BUSY, GTEL_STR("video")));
    CHECK(!gtel_amd_table_has(&life.table, GTEL_M_ENGINE_BUSY, GTEL_STR("jpeg")));
    /* One engine alone, beside a number that is no share. */
    const struct amd_place_at *jpeg = amd_place("v1_6", GTEL_AMD_JPEG_BUSY);
    amd_put(jpeg->offset, 2, 100);
    amd_put(jpeg->offset + 2, 2, 101);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_ENGINE_BUSY, "jpeg"), 1, 0);
    CHECK(gtel_amd_table_has(&life.table, GTEL_M_ENGINE_BUSY, GTEL_STR("jpeg")));
    amd_put(jpeg->offset + 2, 2, 0xffff);
    amd_put(jpeg->offset, 2, 50);
    amd_put(jpeg->offset + 7 * 168 + 62, 2, 25);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_ENGINE_BUSY, "jpeg"), 0.375, 1e-12);
    amd_life_end(&life);
    /* Stacks of memory, one of which is not there. */
    amd_life_begin(&life, 0x740f);
    amd_table_begin("v1_3");
    amd_set("v1_3", GTEL_AMD_TEMPERATURE_HBM, 0, 50);
    amd_set("v1_3", GTEL_AMD_TEMPERATURE_HBM, 3, 53);
    CHECK_INT(amd_gather(&life), 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_TEMPERATURE, "hbm0"), 50, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_TEMPERATURE, "hbm1"), -1, 0);
    CHECK_NEAR(amd_value(&life, GTEL_M_TEMPERATURE, "hbm3"), 53, 0);
    amd_life_end(&life);
}

/* ---- what no table can be ---- */

static const struct bad_case {
    const char *label;
    int error;    /* of the read */
    size_t n;     /* bytes of a table 1.3 */
    int revision; /* instead of 3; 0: 3 */
    int want;
    unsigned logs;
} bad_cases[] = {
    {"nothing read", 0, 0, 0, -ENODATA, 0},
    {"asleep", -EPERM, 120, 0, -ENODATA, 0},
    {"suspended or in reset", -EBUSY, 120, 0, -ENODATA, 0},
    {"no such call", -EOPNOTSUPP, 120, 0, -EOPNOTSUPP, 0},
    {"unbound", -ENODEV, 120, 0, -ENODEV, 0},
    {"broken", -EIO, 120, 0, -EIO, 1},
    {"cut", 0, 119, 0, -EBADMSG, 1},
    {"three bytes", 0, 3, 0, -EBADMSG, 1},
    {"a revision of tomorrow", 0, 120, 10, -EPROTONOSUPPORT, 1},
};

static void test_bad(void)
{
    for (size_t c = 0; c < GTEL_ARRAY_LEN(bad_cases); c++) {
        struct amd_life life;
        test_label = bad_cases[c].label;
        amd_life_begin(&life, 0x73bf);
        amd_table_begin("v1_3");
        amd_set("v1_3", GTEL_AMD_TEMPERATURE_EDGE, 0, 50);
        amd_machine.n = bad_cases[c].n;
        amd_machine.error = bad_cases[c].error;
        if (bad_cases[c].revision > 0)
            amd_machine.bytes[3] = (unsigned char)bad_cases[c].revision;
        for (unsigned i = 0; i < 3; i++) {
            CHECK_INT(amd_gather(&life), bad_cases[c].want);
            CHECK_INT(life.batch.n, 0);
        }
        CHECK_INT(amd_machine.logs, bad_cases[c].logs);
        amd_machine.n = 120;
        amd_machine.error = 0;
        amd_machine.bytes[3] = 3;
        CHECK_INT(amd_gather(&life), 0);
        CHECK_NEAR(amd_value(&life, GTEL_M_TEMPERATURE, "edge"), 50, 0);
        CHECK_INT(amd_machine.logs, 2 * bad_cases[c].logs); /* works again */
        amd_life_end(&life);
    }
    test_label = "";
}

static void test_says_what(void)
{
    struct amd_life life;
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_machine.bytes[3] = 10;
    CHECK_INT(amd_gather(&life), -EPROTONOSUPPORT);
    CHECK(strstr(amd_machine.last_log, "0000:03:00.0: gpu_metrics") != NULL);
    CHECK(strstr(amd_machine.last_log, "revision 1.10 of 120 bytes") != NULL);
    amd_life_end(&life);
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_machine.bytes[0] = 5;
    amd_machine.bytes[1] = 2;
    amd_machine.bytes[2] = 9;
    amd_machine.n = 517;
    CHECK_INT(amd_gather(&life), -EPROTONOSUPPORT);
    CHECK(strstr(amd_machine.last_log, "revision 9.3 of 517 bytes") != NULL);
    amd_life_end(&life);
    amd_life_begin(&life, 0x73bf);
    amd_table_begin("v1_3");
    amd_machine.error = -EIO;
    CHECK_INT(amd_gather(&life), -EIO);
    CHECK(strstr(amd_machine.last_log, "; the other files are read") != NULL);
    amd_life_end(&life);
    struct gtel_amd_table_state none = {.error = 0};
    struct gtel_batch batch = {.n = 0};
    CHECK_INT(gtel_amd_table_sample(&none, &amd_card, &batch), -EBADF);
    CHECK_INT(batch.n, 0);
    gtel_amd_table_close(&amd_env, &none);
}

/* A file that is longer than its table: up to 128 KiB, with memory that grows once. */
static void test_long(void)
{
    static const struct {
        size_t n;
        int want;
        int reads; /* of the first gather */
    } cases[] = {{4096, 0, 1},
                 {8191, 0, 1},
                 {8192, 0, 2},
                 {16384, 0, 3},
                 {131071, 0, 5},
                 {131072, -E2BIG, 5},
                 {AMD_FILE_MAX, -E2BIG, 5}};
    for (size_t c = 0; c < GTEL_ARRAY_LEN(cases); c++) {
        struct amd_life life;
        amd_life_begin(&life, 0x73bf);
        amd_table_begin("v1_3");
        amd_set("v1_3", GTEL_AMD_TEMPERATURE_EDGE, 0, 50);
        amd_machine.n = cases[c].n;
        amd_machine.reads = 0;
        CHECK_INT(amd_gather(&life), cases[c].want);
        CHECK_INT(amd_machine.reads, cases[c].reads);
        CHECK_INT(amd_gather(&life), cases[c].want);
        CHECK_INT(amd_machine.reads, cases[c].reads + 1);
        amd_life_end(&life);
    }
}

int main(void)
{
    if (!amd_machine_init())
        return test_result();
    test_navi21();
    test_phoenix();
    test_strix();
    test_socket_of_two();
    test_npu();
    test_chips();
    test_limits();
    test_reasons();
    test_mask();
    test_mask_2_1();
    test_mask_3_0();
    test_link();
    test_several();
    test_bad();
    test_says_what();
    test_long();
    amd_machine_done();
    return test_result();
}
