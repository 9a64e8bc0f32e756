/* SPDX-License-Identifier: MIT */
/*
 * Source amdgpu: each value may be missing alone, for every reason that the driver has; values that
 * are known to be wrong; the link of the slot; and what an idle card or one that woke is left with.
 */
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY "0000:03:00.0"
#define BRIDGES "sys/devices/pci0000:00/0000:01:00.0/0000:02:00.0/"
#define DEVICE BRIDGES KEY
#define CARD(id)                                                                                   \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:01:00.0/0000:02:00.0/" KEY          \
    "/drm/card0\nlink " DEVICE "/drm/card0/device -> ../../../" KEY "\n"                           \
    "file " DEVICE "/uevent\n| DRIVER=amdgpu\n| PCI_ID=1002:" id "\n| PCI_SLOT_NAME=" KEY "\n"
#define TEXT(name, value) "file " DEVICE "/" name "\n| " value "\n"
#define MON(name, value) TEXT("hwmon/hwmon2/" name, value)
#define POWER(status) TEXT("power/runtime_status", status)
#define SLEEPS(status)                                                                             \
    POWER(status) TEXT("power/control", "auto") TEXT("power/autosuspend_delay_ms", "5000")
#define VRAM(bytes) TEXT("mem_info_vram_used", bytes) TEXT("mem_info_vram_total", "4000")
#define EDGE MON("temp1_input", "40000") MON("temp1_label", "edge")
#define WATTS MON("power1_average", "30000000") MON("power1_label", "PPT")
#define LIMIT MON("power1_cap", "90000000")
#define FAN MON("fan1_input", "900") MON("pwm1", "51")
#define VOLTS MON("in0_input", "800") MON("in0_label", "vddgfx")
#define CLOCK MON("freq1_input", "500000000") MON("freq1_label", "sclk")
#define SENSORS MON("name", "amdgpu") EDGE WATTS LIMIT FAN VOLTS CLOCK
#define ALL                                                                                        \
    CARD("67DF")                                                                                   \
    POWER("active")                                                                                \
    VRAM("1000")                                                                                   \
    SENSORS TEXT("gpu_busy_percent", "12") TEXT("mem_busy_percent", "7")                           \
        TEXT("vcn_busy_percent", "3")

/* A file, and what it alone gives. */
static const struct alone {
    const char *file;
    enum gtel_metric metric;
    const char *part;
    double value;
} files[] = {
    {"gpu_busy_percent", GTEL_M_GPU_BUSY, "", 0.12},
    {"mem_busy_percent", GTEL_M_GPU_MEMORY_BANDWIDTH, "", 0.07},
    {"vcn_busy_percent", GTEL_M_ENGINE_BUSY, "video", 0.03},
    {"mem_info_vram_used", GTEL_M_MEMORY_USED, "vram", 1000},
    {"mem_info_vram_total", GTEL_M_MEMORY_TOTAL, "vram", 4000},
    {"hwmon/hwmon2/temp1_input", GTEL_M_TEMPERATURE, "edge", 40},
    {"hwmon/hwmon2/power1_average", GTEL_M_POWER, "pkg", 30},
    {"hwmon/hwmon2/power1_cap", GTEL_M_POWER_LIMIT, "pkg", 90},
    {"hwmon/hwmon2/fan1_input", GTEL_M_FAN_RPM, "1", 900},
    {"hwmon/hwmon2/pwm1", GTEL_M_FAN, "1", 0.2},
    {"hwmon/hwmon2/in0_input", GTEL_M_VOLTAGE, "vddgfx", 0.8},
    {"hwmon/hwmon2/freq1_input", GTEL_M_FREQUENCY_ACTUAL, "graphics", 5e8},
};

static double value_of(const struct machine *machine, enum gtel_metric metric, const char *part)
{
    const struct gtel_reading *got = machine_find(machine, NULL, metric, part, NULL);
    return got ? gtel_reading_number(got) : -1;
}

/* For a while, or from the begin on; the others are there all the same, and nothing is logged. */
static void test_alone(const char *how, bool is_first)
{
    char text[8192];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct machine machine;
        char gone[256];
        (void)snprintf(gone, sizeof(gone), how, files[i].file);
        (void)snprintf(text, sizeof(text), "%s%s%sat 4s\nend\n", ALL, is_first ? "" : "at 2s\n",
                       gone);
        test_label = gone;
        if (!CHECK(machine_init(&machine, text, "amdgpu")))
            return;
        for (int t = 0; t < 3; t++) {
            bool is_missing = is_first || t == 2;
            CHECK_INT(machine_gather(&machine), 0);
            for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
                CHECK_NEAR(value_of(&machine, files[k].metric, files[k].part),
                           k == i && is_missing ? -1 : files[k].value, 1e-9);
            machine_step(&machine, 1000);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
        machine_done(&machine);
    }
}

/* clang-format off */
#define MI300A                                                                                     \
    CARD("74A0") VRAM("1000") TEXT("mem_info_gtt_used", "500") TEXT("mem_info_gtt_total", "16000") \
    TEXT("current_link_speed", "32.0 GT/s PCIe") TEXT("current_link_width", "16")                  \
    MON("name", "amdgpu") "end\n"
/* clang-format on */

#define GTT_USED TEXT("mem_info_gtt_used", "500")
#define GTT_TOTAL TEXT("mem_info_gtt_total", "16000")
#define APU CARD("163F") MON("name", "amdgpu") MON("in1_input", "700")

static const struct value_case {
    const char *label;
    const char *text;
    enum gtel_metric metric;
    const char *part;
    double want;
} values[] = {
    {"Raven's busy share sticks", CARD("15DD") TEXT("gpu_busy_percent", "100") "end\n",
     GTEL_M_GPU_BUSY, NULL, -1},
    {"Cyan Skillfish's, too", CARD("13FE") TEXT("gpu_busy_percent", "100") "end\n", GTEL_M_GPU_BUSY,
     NULL, -1},
    {"a hundredth of Strix's video", CARD("150E") TEXT("vcn_busy_percent", "1") "end\n",
     GTEL_M_ENGINE_BUSY, "video", -1},
    {"all", CARD("67DF") TEXT("gpu_busy_percent", "100") "end\n", GTEL_M_GPU_BUSY, NULL, 1},
    {"one more", CARD("67DF") TEXT("gpu_busy_percent", "101") "end\n", GTEL_M_GPU_BUSY, NULL, -1},
    {"more than all", CARD("67DF") TEXT("gpu_busy_percent", "255") "end\n", GTEL_M_GPU_BUSY, NULL,
     -1},
    {"NULs behind a number",
     CARD("67DF") MON("name", "amdgpu") "binary " DEVICE
                                        "/hwmon/hwmon2/temp1_input\n| 1:52 1:50 1:48 1:48 1:48 "
                                        "1:10 1:0 1:0\nend\n",
     GTEL_M_TEMPERATURE, "edge", 42},
    {"a momentary power alone",
     CARD("67DF") MON("name", "amdgpu") MON("power1_input", "5000000") "end\n", GTEL_M_POWER, "pkg",
     5},
    {"average power first",
     CARD("67DF") MON("name", "amdgpu") MON("power1_input", "5000000")
         MON("power1_average", "4000000") "end\n",
     GTEL_M_POWER, "pkg", 4},
    {"three times its limit",
     CARD("67DF") MON("name", "amdgpu") LIMIT MON("power1_average", "270000000") "end\n",
     GTEL_M_POWER, "pkg", 270},
    {"more than that",
     CARD("67DF") MON("name", "amdgpu") LIMIT MON("power1_average", "270000001") "end\n",
     GTEL_M_POWER, "pkg", -1},
    {"the burst limit of an APU",
     CARD("163F") MON("name", "amdgpu") MON("power2_cap", "16000000")
         MON("power2_label", "fastPPT") "end\n",
     GTEL_M_POWER_BURST_LIMIT, "pkg", 16},
    {"an APU's memory is both kinds", APU VRAM("1000") GTT_USED GTT_TOTAL "end\n",
     GTEL_M_GPU_MEMORY_TOTAL, "", 20000},
    {"so is what it uses", APU VRAM("1000") GTT_USED GTT_TOTAL "end\n", GTEL_M_GPU_MEMORY_USED, "",
     1500},
    {"VRAM alone where GTT is not known", APU VRAM("1000") "end\n", GTEL_M_GPU_MEMORY_USED, NULL,
     1000},
    {"nor how much is used", APU VRAM("1000") GTT_TOTAL "end\n", GTEL_M_GPU_MEMORY_TOTAL, NULL,
     4000},
    {"nor its size", APU VRAM("1000") GTT_USED "end\n", GTEL_M_GPU_MEMORY_USED, NULL, 1000},
    {"an APU whose VRAM is not known", APU GTT_USED GTT_TOTAL "end\n", GTEL_M_GPU_MEMORY_USED, NULL,
     -1},
    {"nor how much is used", APU TEXT("mem_info_vram_total", "4000") GTT_USED GTT_TOTAL "end\n",
     GTEL_M_GPU_MEMORY_TOTAL, NULL, 4000},
    {"nor its size", APU TEXT("mem_info_vram_used", "1000") GTT_USED GTT_TOTAL "end\n",
     GTEL_M_GPU_MEMORY_USED, NULL, 1000},
    {"a card's memory is its own", CARD("744C") VRAM("1000") GTT_USED GTT_TOTAL "end\n",
     GTEL_M_GPU_MEMORY_USED, NULL, 1000},
    {"an MI300A: what jobs use is in GTT", MI300A, GTEL_M_MEMORY_USED, "gtt", 500},
    {"an MI300A: VRAM is in the same HBM", MI300A, GTEL_M_MEMORY_USED, "vram", 1000},
    {"an MI300A: nothing of which it is a share", MI300A, GTEL_M_MEMORY_TOTAL, NULL, -1},
    {"an MI300A: no part is the GPU's", MI300A, GTEL_M_GPU_MEMORY_USED, NULL, -1},
    {"an MI300A: a link within the chip", MI300A, GTEL_M_GPU_PCIE_WIDTH, NULL, -1},
    {"the link of the slot",
     CARD("744C") TEXT("current_link_speed", "16.0 GT/s PCIe") TEXT("current_link_width", "16")
         TEXT("../vendor", "0x1002") TEXT("../class", "0x060400") TEXT("../../vendor", "0x1002")
             TEXT("../../class", "0x060400") TEXT("../../current_link_speed", "8.0 GT/s PCIe")
                 TEXT("../../current_link_width", "8") "end\n",
     GTEL_M_GPU_PCIE_WIDTH, NULL, 8},
    {"a slot without a link",
     CARD("744C") TEXT("current_link_speed", "16.0 GT/s PCIe") TEXT("current_link_width", "16")
         TEXT("../vendor", "0x1002") TEXT("../class", "0x060400") TEXT("../../vendor", "0x1002")
             TEXT("../../class", "0x060400") "end\n",
     GTEL_M_GPU_PCIE_WIDTH, NULL, -1},
    {"one bridge of AMD's alone",
     CARD("744C") TEXT("current_link_speed", "16.0 GT/s PCIe") TEXT("current_link_width", "16")
         TEXT("../vendor", "0x1002") TEXT("../class", "0x060400") TEXT("../../vendor", "0x8086")
             TEXT("../../class", "0x060400") TEXT("../../current_link_speed", "8.0 GT/s PCIe")
                 TEXT("../../current_link_width", "8") "end\n",
     GTEL_M_GPU_PCIE_WIDTH, NULL, -1},
    {"a link without bridges",
     CARD("67DF") TEXT("current_link_speed", "8.0 GT/s PCIe")
         TEXT("current_link_width", "16") "end\n",
     GTEL_M_GPU_PCIE_WIDTH, NULL, 16},
};

static void test_values(void)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct machine machine;
        test_label = values[i].label;
        if (CHECK(machine_init(&machine, values[i].text, "amdgpu"))) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(value_of(&machine, values[i].metric, values[i].part), values[i].want, 1e-9);
            for (size_t k = 0; k < machine.batch.n; k++) {
                const struct gtel_reading *reading = &machine.batch.reading[k];
                bool is_memory = reading->metric == GTEL_M_MEMORY_USED;
                CHECK(reading->is_apart == (is_memory && strstr(values[i].text, "1002:74A0")));
            }
        }
        machine_done(&machine);
    }
}

/* Up to which number a file has a value; -1: none. */
static void test_limits(void)
{
    static const struct {
        const char *file;
        const char *label; /* of a sensor; NULL: it has none */
        const char *text;
        enum gtel_metric metric;
        double want;
    } limits[] = {
        {"temp1", "edge", "-40001", GTEL_M_TEMPERATURE, -1},
        {"temp1", "edge", "-40000", GTEL_M_TEMPERATURE, -40},
        {"temp1", "edge", "-201", GTEL_M_TEMPERATURE, -0.201},
        {"temp1", "edge", "-200", GTEL_M_TEMPERATURE, -1},
        {"temp1", "edge", "0", GTEL_M_TEMPERATURE, -1},
        {"temp1", "edge", "1", GTEL_M_TEMPERATURE, 0.001},
        {"temp1", "edge", "150000", GTEL_M_TEMPERATURE, 150},
        {"temp1", "edge", "150001", GTEL_M_TEMPERATURE, -1},
        {"in0", "vddgfx", "0", GTEL_M_VOLTAGE, -1},
        {"in0", "vddgfx", "1", GTEL_M_VOLTAGE, 0.001},
        {"freq1", "sclk", "0", GTEL_M_FREQUENCY_ACTUAL, -1},
        {"freq1", "sclk", "1", GTEL_M_FREQUENCY_ACTUAL, 1},
        {"freq1", "sclk", "20000000000", GTEL_M_FREQUENCY_ACTUAL, 2e10},
        {"freq1", "sclk", "20000000001", GTEL_M_FREQUENCY_ACTUAL, -1},
        {"fan1", NULL, "0", GTEL_M_FAN_RPM, 0},
        {"fan1", NULL, "100000", GTEL_M_FAN_RPM, 100000},
        {"fan1", NULL, "100001", GTEL_M_FAN_RPM, -1},
        {"power1", "PPT", "0", GTEL_M_POWER, -1},
        {"power1", "PPT", "1", GTEL_M_POWER, 1e-6},
        {"power1", "PPT", "1500000000", GTEL_M_POWER, 1500},
        {"power1", "PPT", "1500000001", GTEL_M_POWER, -1},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct machine machine;
        char text[1024];
        size_t n = (size_t)snprintf(
            text, sizeof(text),
            CARD("67DF") MON("name", "amdgpu") "file " DEVICE "/hwmon/hwmon2/%s_input\n| %s\n",
            limits[i].file, limits[i].text);
        if (limits[i].label)
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  "file " DEVICE "/hwmon/hwmon2/%s_label\n| %s\n", limits[i].file,
                                  limits[i].label);
        (void)snprintf(text + n, sizeof(text) - n, "end\n");
        test_label = limits[i].text;
        if (CHECK(machine_init(&machine, text, "amdgpu"))) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(value_of(&machine, limits[i].metric, NULL), limits[i].want, 1e-9);
        }
        machine_done(&machine);
    }
}

/* Each second: 'E' everything, 'm' memory alone, 'z' asleep, '.' nothing. */
static const struct life {
    const char *label;
    const char *text;
    const char *want;
} lives[] = {
#define IDLE CARD("67DF") SLEEPS("active") VRAM("1000") SENSORS TEXT("gpu_busy_percent", "0")
    {"idle for a delay, then left alone for one", IDLE "end\n", "EEEEEEmmmmmmmEEEEEE"},
    {"falls asleep meanwhile", IDLE "at 10500ms\n" POWER("suspended") "end\n", "EEEEEEmmmmmzzz"},
    {"memory is allocated", IDLE "at 7500ms\n" VRAM("2000") "end\n", "EEEEEEmmEEEEEEEEEEEEE"},
    {"works",
     CARD("67DF") SLEEPS("active") VRAM("1000") SENSORS TEXT("gpu_busy_percent", "1") "end\n",
     "EEEEEEEEEEEEE"},
    {"busy is not known, memory is",
     CARD("6820") SLEEPS("active") VRAM("1000") SENSORS "error " DEVICE
                                                        "/gpu_busy_percent EOPNOTSUPP\nend\n",
     "EEEEEEmmmmmmmEEEEEE"},
    {"neither is known",
     CARD("6820") POWER("active") TEXT("power/control", "auto")
         TEXT("power/autosuspend_delay_ms", "3000") SENSORS "end\n",
     "EEEEEEEEEEEEE"},
    {"woken, without gpu_metrics",
     CARD("67DF") SLEEPS("suspended") VRAM("1000") SENSORS "at 1500ms\n" POWER("active") "end\n",
     "zzEEE"},
    {"woken, with gpu_metrics",
     CARD("744C") SLEEPS("suspended") VRAM("1000")
         SENSORS TEXT("gpu_metrics", "") "at 1500ms\n" POWER("active") "end\n",
     "zz...............EEE"},
    {"a sleep between two gathers",
     CARD("744C") POWER("active") VRAM("1000") SENSORS TEXT("power/runtime_suspended_time", "100")
         TEXT("gpu_metrics", "") "at 1500ms\n" TEXT("power/runtime_suspended_time", "400") "end\n",
     "EEmmmmmmmmmmmmmmmEE"},
    {"a sleep within a pause",
     CARD("744C") SLEEPS("active") VRAM("1000") SENSORS TEXT("gpu_busy_percent", "0") TEXT(
         "power/runtime_suspended_time", "100") TEXT("gpu_metrics", "") "at 7500ms\n" VRAM("2000")
         TEXT("power/runtime_suspended_time", "400") "end\n",
     "EEEEEEmmmmmmmmmmmmmmmmmEE"},
#undef IDLE
};

static void test_lives(void)
{
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        struct machine machine;
        char got[64] = "";
        test_label = lives[i].label;
        if (!CHECK(machine_init(&machine, lives[i].text, "amdgpu")))
            return;
        for (size_t t = 0; lives[i].want[t]; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            bool has_all = value_of(&machine, GTEL_M_TEMPERATURE, "edge") > 0;
            bool has_memory = value_of(&machine, GTEL_M_MEMORY_USED, "vram") > 0;
            got[t] = (char)(has_all ? 'E' : has_memory ? 'm' : '.');
            if (machine.registry.device[0]->is_asleep)
                got[t] = 'z';
            CHECK(machine.registry.device[0]->is_left_alone == (got[t] != 'E'));
            machine_step(&machine, 1000);
        }
        CHECK_STR(gtel_str_of(got), lives[i].want);
        machine_done(&machine);
    }
}

/* Where it may be woken, a card with gpu_metrics that sleeps between all gathers is read in each.
 */
static void test_may_wake(void)
{
    struct machine machine;
    char text[4096];
    char error[200];
    size_t n = (size_t)snprintf(text, sizeof(text), "%s",
                                CARD("744C") SLEEPS("suspended") VRAM("1000")
                                    SENSORS TEXT("gpu_metrics", "")
                                        TEXT("power/runtime_suspended_time", "100"));
    for (int t = 1; t < 4; t++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "at %ds\nfile " DEVICE "/power/runtime_suspended_time\n| %d\n", t,
                              100 + t * 900);
    (void)snprintf(text + n, sizeof(text) - n, "end\n");
    test_label = "may wake";
    if (!CHECK(machine_init(&machine, text, "amdgpu")))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_WAKE, GTEL_STR("always"), error, sizeof(error)),
        0);
    for (int t = 0; t < 4; t++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine.registry.device[0]->is_asleep);
        CHECK(value_of(&machine, GTEL_M_TEMPERATURE, "edge") > 0);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

#define NO_VIDEO                                                                                   \
    "vcn_busy_percent: 0: this kernel does not show the use of this chip's video engine; Linux "   \
    "6.12 "                                                                                        \
    "does for most since RDNA 2: "

/* Which files are missing or wrong, and why. */
static const struct {
    const char *label;
    const char *text;
    const char *says[8];
} said[] = {
    {"nothing but a card",
     CARD("67DF") POWER("active") "end\n",
     {"hwmon: 0: the driver shows no sensors: a virtual function has none, nor has a driver that "
      "was loaded with amdgpu.dpm=0: ",
      "hwmon/power1_average: 0: this driver shows no power of this chip: ",
      "gpu_busy_percent: 0: this driver does not show how busy this chip is: ",
      "mem_info_vram_used: 0: this driver does not show the memory in use: ", NO_VIDEO,
      "hwmon/fan1_input: 0: an APU or a card without a fan of its own: "}},
    {"everything", ALL "end\n", {NULL}},
    {"refused, garbage and empty",
     ALL "error " DEVICE "/gpu_busy_percent EPERM\nfile " DEVICE "/mem_busy_percent\n| x\n"
         "file " DEVICE "/hwmon/hwmon2/fan1_input\nerror " DEVICE
         "/hwmon/hwmon2/in0_input EINVAL\nend\n",
     {"mem_busy_percent: 0: its text is not what the kernel's documents say: ",
      "gpu_busy_percent: 1: the driver does not wake the card for it, or resets the card: ",
      "in0_input: 22: this chip or its firmware does not report it: ",
      "fan1_input: 0: the file is empty: the driver cannot read the value: "}},
    {"a share that sticks",
     CARD("15DD") POWER("active") VRAM("1000") SENSORS TEXT("gpu_busy_percent", "100")
         TEXT("vcn_busy_percent", "3") "end\n",
     {"gpu_busy_percent: 0: the firmware of this chip reports wrong values, which are ignored: "}},
    {"busy, not known, without data",
     ALL "error " DEVICE "/gpu_busy_percent EBUSY\nerror " DEVICE
         "/hwmon/hwmon2/in0_input EOPNOTSUPP\nerror " DEVICE "/mem_busy_percent ENODATA\nend\n",
     {"gpu_busy_percent: 16: the driver is busy with a reset or a suspend of the card: ",
      "mem_busy_percent: 61: this chip or its firmware does not report it: ",
      "in0_input: 95: this chip or its firmware does not report it: "}},
    {"left alone",
     CARD("67DF") SLEEPS("active") VRAM("1000") SENSORS TEXT("gpu_busy_percent", "0") "end\n",
     {"power/autosuspend_delay_ms: 0: idle, or just woken: little is read for a while, so that the "
      "GPU can fall asleep: "}},
    {"asleep",
     CARD("67DF") SLEEPS("suspended") VRAM("1000") SENSORS "end\n",
     {"power/runtime_status: 0: suspended: nothing is read, so that the GPU stays asleep: "}},
};

static void test_said(void)
{
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct gtel_findings findings = {0};
        struct machine machine;
        test_label = said[i].label;
        if (!CHECK(machine_init(&machine, said[i].text, "amdgpu")))
            return;
        for (int t = 0; t < 8; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            machine_step(&machine, 1000);
        }
        machine.source->diagnose(machine.state, &machine.registry, &findings);
        check_findings(&findings, said[i].says, 8);
        gtel_findings_done(&findings);
        machine_done(&machine);
    }
    test_label = "";
}

/* Removed and added again between two gathers, as the same card: it is read again soon. */
static void test_return(void)
{
    struct machine machine;
    test_label = "return";
    if (!CHECK(machine_init(&machine, ALL "at 1500ms\ngone " DEVICE "\n" ALL "end\n", "amdgpu")))
        return;
    for (int t = 0; t < 5; t++) {
        (void)machine_gather(&machine); /* -ENODEV makes discovery due */
        CHECK(t == 2 || t == 3 || value_of(&machine, GTEL_M_TEMPERATURE, "edge") > 0);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
    test_label = "";
}

int main(void)
{
    static const char *const refusals[] = {"EPERM", "EBUSY", "EINVAL", "EOPNOTSUPP", "ENODATA"};
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        char how[128];
        (void)snprintf(how, sizeof(how), "error " DEVICE "/%%s %s\n", refusals[i]);
        test_alone(how, false);
    }
    test_alone("file " DEVICE "/%s\n", false);
    test_alone("gone " DEVICE "/%s\n", true);
    test_values();
    test_limits();
    test_lives();
    test_may_wake();
    test_said();
    test_return();
    return test_result();
}
