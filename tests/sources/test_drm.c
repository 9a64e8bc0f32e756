/* SPDX-License-Identifier: MIT */
/* Source drm: which cards are GPUs, and what of them is a value. */
#include "base/buf.h"
#include "harness/source_harness.h"
#include "harness/test.h"
#include "sources/drm/attr_list.h"

#include <errno.h>
#include <string.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define DRIVER(name)                                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/uevent\n| DRIVER=" name "\n| PCI_SLOT_NAME=0000:03:00.0\n"
#define CARD(name) DRIVER(name) "dir " DEVICE "/drm/renderD128\n"
#define SENSOR(name, value)                                                                        \
    "file " DEVICE "/hwmon/hwmon2/name\n| any\n"                                                   \
    "file " DEVICE "/hwmon/hwmon2/" name "\n| " value "\n"
#define POWER(status, control)                                                                     \
    "file " DEVICE "/power/runtime_status\n| " status "\n"                                         \
    "file " DEVICE "/power/control\n| " control "\n"                                               \
    "file " DEVICE "/power/autosuspend_delay_ms\n| 5000\n"
#define FILE_OF(name, value) "file " DEVICE "/" name "\n| " value "\n"
#define CORE "sys/devices/platform/3d00000.gpu"
#define CORE_LINK(name, to)                                                                        \
    "link sys/bus/platform/drivers/adreno/" name " -> ../../../../devices/platform/" to "\n"

#define LINK(at, gts, lanes)                                                                       \
    FILE_OF(at "current_link_speed", gts " GT/s PCIe") FILE_OF(at "current_link_width", lanes)
#define PORT(at, vendor, gts, lanes)                                                               \
    FILE_OF(at "vendor", vendor) FILE_OF(at "class", "0x060400") LINK(at, gts, lanes)
#define ON CARD("nouveau") POWER("active", "on")

enum { WANT_MAX = 6 };

static const struct drm_case {
    const char *label;
    const char *text;
    size_t devices;
    struct {
        enum gtel_metric metric; /* NONE: no more */
        const char *dim;
        double value; /* -1: absent */
    } want[WANT_MAX];
} cases[] = {
    {"a display", DRIVER("ast") "end\n", 0, {{GTEL_M_NONE, NULL, 0}}},
    {"a source of its own", CARD("i915") "end\n", 0, {{GTEL_M_NONE, NULL, 0}}},
    {"a virtual device", CARD("virtio-pci") "end\n", 0, {{GTEL_M_NONE, NULL, 0}}},
    {"another one", CARD("virtio-mmio") "end\n", 0, {{GTEL_M_NONE, NULL, 0}}},
    {"a driver that nobody knows",
     CARD("tyr") SENSOR("temp1_input", "51000") SENSOR("temp3_input", "52000") "end\n",
     1,
     {{GTEL_M_GPU_AWAKE, NULL, 1},
      {GTEL_M_TEMPERATURE, "gpu", 51},
      {GTEL_M_TEMPERATURE, "3", 52},
      {GTEL_M_NONE, NULL, 0}}},
    {"an errno as temperature",
     CARD("nouveau") SENSOR("temp1_input", "-19") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"no temperature",
     CARD("radeon") SENSOR("temp1_input", "0") SENSOR("freq1_input", "0") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, NULL, -1}, {GTEL_M_FREQUENCY_ACTUAL, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"hotter than silicon",
     CARD("radeon") SENSOR("temp1_input", "151000") SENSOR("temp1_crit", "150000") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, NULL, -1},
      {GTEL_M_TEMPERATURE_CRITICAL, "gpu", 150},
      {GTEL_M_NONE, NULL, 0}}},
    {"power: average before input",
     CARD("radeon") SENSOR("power1_average", "30000000") SENSOR("power1_input", "90000000") "end\n",
     1,
     {{GTEL_M_POWER, "card", 30}, {GTEL_M_NONE, NULL, 0}}},
    {"power above three times the limit",
     CARD("radeon") SENSOR("power1_input", "301000000") SENSOR("power1_cap", "100000000") "end\n",
     1,
     {{GTEL_M_POWER, "card", -1}, {GTEL_M_POWER_LIMIT, "card", 100}, {GTEL_M_NONE, NULL, 0}}},
    {"pwm of 255, and of 100",
     CARD("radeon") SENSOR("pwm1", "51") SENSOR("pwm2", "256") SENSOR("pwm1_enable", "2") "end\n",
     1,
     {{GTEL_M_FAN, "1", 0.2}, {GTEL_M_FAN, "2", -1}, {GTEL_M_NONE, NULL, 0}}},
    {"the coldest and the hottest that sensors measure",
     CARD("radeon") SENSOR("temp1_input", "-40000") SENSOR("temp2_input", "150000")
         SENSOR("temp3_input", "-40001") SENSOR("temp4_input", "150001") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, "gpu", -40},
      {GTEL_M_TEMPERATURE, "2", 150},
      {GTEL_M_TEMPERATURE, "3", -1},
      {GTEL_M_TEMPERATURE, "4", -1},
      {GTEL_M_NONE, NULL, 0}}},
    {"errnos end just below 0",
     CARD("nouveau") SENSOR("temp1_input", "-201") SENSOR("temp2_input", "-200")
         SENSOR("temp3_input", "1") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, "gpu", -0.201},
      {GTEL_M_TEMPERATURE, "2", -1},
      {GTEL_M_TEMPERATURE, "3", 0.001},
      {GTEL_M_NONE, NULL, 0}}},
    {"power of three times the limit",
     CARD("radeon") SENSOR("power1_input", "300000000") SENSOR("power1_cap", "100000000") "end\n",
     1,
     {{GTEL_M_POWER, "card", 300}, {GTEL_M_NONE, NULL, 0}}},
    {"power just above that",
     CARD("radeon") SENSOR("power1_input", "300000001") SENSOR("power1_cap", "100000000") "end\n",
     1,
     {{GTEL_M_POWER, "card", -1}, {GTEL_M_NONE, NULL, 0}}},
    {"the most without a limit, and a limit of 0 is none",
     CARD("radeon") SENSOR("power1_input", "1500000000") SENSOR("power1_cap", "0") "end\n",
     1,
     {{GTEL_M_POWER, "card", 1500}, {GTEL_M_POWER_LIMIT, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"more than that, and a limit of next to nothing",
     CARD("radeon") SENSOR("power1_input", "1500000001") "end\n",
     1,
     {{GTEL_M_POWER, "card", -1}, {GTEL_M_NONE, NULL, 0}}},
    {"no power at all",
     CARD("radeon") SENSOR("power1_input", "0") "end\n",
     1,
     {{GTEL_M_POWER, "card", -1}, {GTEL_M_NONE, NULL, 0}}},
    {"voltages: 0 is one",
     CARD("nouveau") SENSOR("in0_input", "0") SENSOR("in1_input", "1") "end\n",
     1,
     {{GTEL_M_VOLTAGE, "card", 0}, {GTEL_M_VOLTAGE, "1", 0.001}, {GTEL_M_NONE, NULL, 0}}},
    {"the least and the most of a pwm",
     CARD("radeon") SENSOR("pwm1", "0") SENSOR("pwm2", "255") SENSOR("pwm3", "-1") "end\n",
     1,
     {{GTEL_M_FAN, "1", 0}, {GTEL_M_FAN, "2", 1}, {GTEL_M_FAN, "3", -1}, {GTEL_M_NONE, NULL, 0}}},
    {"the fastest clock, and one that is none",
     CARD("radeon") SENSOR("freq1_input", "20000000000") SENSOR("freq2_input", "20000000001")
         SENSOR("freq3_input", "1") "end\n",
     1,
     {{GTEL_M_FREQUENCY_ACTUAL, "graphics", 20e9},
      {GTEL_M_FREQUENCY_ACTUAL, "2", -1},
      {GTEL_M_FREQUENCY_ACTUAL, "3", 1},
      {GTEL_M_NONE, NULL, 0}}},
    {"nouveau: pwm in percent, and a fan that is slow to read",
     CARD("nouveau") SENSOR("pwm1", "51") SENSOR("fan1_input", "900") "end\n",
     1,
     {{GTEL_M_FAN, "1", 0.51}, {GTEL_M_FAN_RPM, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"errors are a value when there are any",
     CARD("radeon") FILE_OF("aer_dev_fatal", "Undefined 1\n| DLP 1\n| TOTAL_ERR_FATAL 2")
         FILE_OF("aer_dev_correctable", "RxErr 0\n| TOTAL_ERR_COR 0") "end\n",
     1,
     {{GTEL_M_ERROR_COUNT, "pcie-aer", 2}, {GTEL_M_NONE, NULL, 0}}},
    {"one error",
     CARD("radeon") FILE_OF("aer_dev_fatal", "DLP 1\n| TOTAL_ERR_FATAL 1") "end\n",
     1,
     {{GTEL_M_ERROR_COUNT, "pcie-aer", 1}, {GTEL_M_NONE, NULL, 0}}},
    {"no sensor and no link of a card that may fall asleep",
     CARD("tyr") POWER("active", "auto") SENSOR("temp1_input", "51000") FILE_OF(
         "current_link_speed", "16.0 GT/s PCIe") FILE_OF("current_link_width", "16") "end\n",
     1,
     {{GTEL_M_GPU_AWAKE, NULL, 1},
      {GTEL_M_TEMPERATURE, NULL, -1},
      {GTEL_M_GPU_PCIE_GEN, NULL, -1},
      {GTEL_M_NONE, NULL, 0}}},
    {"sensors of nouveau all the same, and the link of one that may not",
     CARD("nouveau") POWER("active", "on") SENSOR("temp1_input", "51000") FILE_OF(
         "current_link_speed", "16.0 GT/s PCIe") FILE_OF("current_link_width", "16") "end\n",
     1,
     {{GTEL_M_TEMPERATURE, "gpu", 51},
      {GTEL_M_GPU_PCIE_GEN, NULL, 4},
      {GTEL_M_GPU_PCIE_WIDTH, NULL, 16},
      {GTEL_M_NONE, NULL, 0}}},
    {"a GPU behind a switch: the link of the first port that has more than that",
     ON LINK("", "2.5", "1") PORT("../", "0x8086", "8.0", "1")
         PORT("../../", "0x8086", "16.0", "8") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, 3}, {GTEL_M_GPU_PCIE_WIDTH, NULL, 1}, {GTEL_M_NONE, NULL, 0}}},
    {"the second port has",
     ON LINK("", "2.5", "1") PORT("../", "0x8086", "2.5", "1")
         PORT("../../", "0x8086", "5.0", "1") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, 2}, {GTEL_M_GPU_PCIE_WIDTH, NULL, 1}, {GTEL_M_NONE, NULL, 0}}},
    {"the second port has more lanes",
     ON LINK("", "2.5", "1") PORT("../", "0x8086", "2.5", "1")
         PORT("../../", "0x8086", "2.5", "2") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, 1}, {GTEL_M_GPU_PCIE_WIDTH, NULL, 2}, {GTEL_M_NONE, NULL, 0}}},
    {"neither port has",
     ON LINK("", "2.5", "1") PORT("../", "0x8086", "2.5", "1")
         PORT("../../", "0x8086", "2.5", "1") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, -1}, {GTEL_M_GPU_PCIE_WIDTH, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"ports of another switch",
     ON LINK("", "2.5", "1") PORT("../", "0x1022", "8.0", "1")
         PORT("../../", "0x1022", "16.0", "8") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, -1}, {GTEL_M_GPU_PCIE_WIDTH, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"two lanes of its own",
     ON LINK("", "2.5", "2") PORT("../", "0x8086", "8.0", "16") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, 1}, {GTEL_M_GPU_PCIE_WIDTH, NULL, 2}, {GTEL_M_NONE, NULL, 0}}},
    {"one faster lane of its own",
     ON LINK("", "5.0", "1") PORT("../", "0x8086", "8.0", "16") "end\n",
     1,
     {{GTEL_M_GPU_PCIE_GEN, NULL, 2}, {GTEL_M_GPU_PCIE_WIDTH, NULL, 1}, {GTEL_M_NONE, NULL, 0}}},
    {"a display before the GPU",
     CARD("msm_dpu") POWER("suspended", "auto") CORE_LINK("3d00000.gpu", "3d00000.gpu") CORE_LINK(
         "bind", "3d00000.gpu") "file " CORE "/power/runtime_status\n| active\n"
                                "file " CORE "/devfreq/3d00000.gpu/cur_freq\n| 300000000\n"
                                "file " CORE "/devfreq/3d00000.gpu/max_freq\n| 0\nend\n",
     1,
     {{GTEL_M_GPU_AWAKE, NULL, 1},
      {GTEL_M_FREQUENCY_ACTUAL, "graphics", 3e8},
      {GTEL_M_FREQUENCY_MAX, NULL, -1},
      {GTEL_M_NONE, NULL, 0}}},
    {"two GPUs behind a display: none stands for it",
     CARD("msm_dpu") CORE_LINK("3d00000.gpu", "3d00000.gpu")
         CORE_LINK("4d00000.gpu", "3d00000.gpu") "dir " CORE "\nend\n",
     0,
     {{GTEL_M_NONE, NULL, 0}}},
};

static void check(const struct drm_case *c)
{
    struct machine machine;
    test_label = c->label;
    if (CHECK(machine_init(&machine, c->text, "drm"))) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.registry.n, c->devices);
        CHECK(gtel_source_present(machine.source, &machine.fault->env) == (c->devices > 0));
        for (size_t i = 0; i < WANT_MAX && c->want[i].metric != GTEL_M_NONE; i++) {
            const struct gtel_reading *got =
                machine_find(&machine, NULL, c->want[i].metric, c->want[i].dim, NULL);
            CHECK_NEAR(got ? gtel_reading_number(got) : -1, c->want[i].value, 1e-9);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
    test_label = "";
}

static void watch(void *arg, enum fault_op op, const char *path)
{
    (void)op;
    *(bool *)arg = *(bool *)arg || (path && strstr(path, "hwmon"));
}

/* From the first check on: asleep, nothing of its sensors is opened, read or listed. */
static void test_asleep(void)
{
    static const char text[] =
        CARD("nouveau") POWER("suspended", "auto") SENSOR("temp1_input", "51000")
            SENSOR("pwm1", "20") "at 2s\n" POWER("active", "auto") "at 3s\n"
                                                                   "gone sys/class/drm/card0\n"
                                                                   "end\n";
    struct machine machine;
    bool has_touched = false;
    if (!CHECK(machine_init(&machine, text, "drm")))
        return;
    machine.fault->watch = watch;
    machine.fault->watch_arg = &has_touched;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(!has_touched);
        CHECK(machine.registry.device[0]->is_left_alone);
        CHECK_INT(machine.batch.n, 1);
        machine_step(&machine, 1000);
    }
    CHECK_INT(machine_gather(&machine), 0);
    CHECK(has_touched);
    CHECK(machine_find(&machine, NULL, GTEL_M_TEMPERATURE, "gpu", NULL));
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), -ENODEV); /* the driver has left it */
    machine_done(&machine);
}

/* The read of a file that fails. */
struct broken {
    struct env_fault *fault;
    const char *name;
    int error;
};

static void break_read(void *arg, enum fault_op op, const char *path)
{
    const struct broken *broken = arg;
    if (op != FAULT_READ || !path || !strstr(path, broken->name))
        return;
    broken->fault->error = broken->error;
    broken->fault->fail_at = broken->fault->calls + 1;
}

/* What a sensor cannot say now is absent; what else fails is counted, but for files that went. */
static void test_failures(void)
{
    static const struct {
        const char *name;
        int error;
        bool is_failure;
    } failures[] = {{"temp1_input", -EINVAL, false},       {"temp1_input", -EBUSY, true},
                    {"temp1_input", -EPERM, true},         {"temp1_input", -EIO, true},
                    {"temp1_input", -ENODATA, false},      {"temp1_input", -ENOENT, false},
                    {"temp1_input", -EOPNOTSUPP, false},   {"current_link_speed", -EINVAL, true},
                    {"current_link_speed", -EBUSY, true},  {"current_link_speed", -EPERM, true},
                    {"current_link_speed", -ENOENT, false}};
    static const char text[] = CARD("radeon") POWER("active", "on") SENSOR("temp1_input", "51000")
        FILE_OF("current_link_speed", "16.0 GT/s PCIe") FILE_OF("current_link_width", "16") "end\n";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(failures); i++) {
        struct machine machine;
        struct broken broken = {.name = failures[i].name, .error = failures[i].error};
        bool is_sensor = strcmp(failures[i].name, "temp1_input") == 0;
        test_label = failures[i].name;
        if (!CHECK(machine_init(&machine, text, "drm")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        broken.fault = machine.fault;
        machine.fault->watch = break_read;
        machine.fault->watch_arg = &broken;
        for (int n = 0; n < 2; n++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.batch.failed[0], failures[i].is_failure);
            CHECK(!machine_find(&machine, NULL, GTEL_M_TEMPERATURE, NULL, NULL) == is_sensor);
            CHECK(!machine_find(&machine, NULL, GTEL_M_GPU_PCIE_GEN, NULL, NULL) == !is_sensor);
            CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], failures[i].is_failure); /* once */
            machine_step(&machine, 1000);
        }
        machine.fault->watch = NULL;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK(machine_find(&machine, NULL, GTEL_M_TEMPERATURE, "gpu", NULL));
        machine_done(&machine);
    }
    test_label = "";
}

/* Where nothing could be read of a card, that is another failure. */
static void test_all_fails(void)
{
    static const char text[] = CARD("radeon") SENSOR("temp1_input", "51000") "end\n";
    struct machine machine;
    struct broken broken = {.name = "temp1_input", .error = -EIO};
    test_label = "all fails";
    if (!CHECK(machine_init(&machine, text, "drm")))
        return;
    broken.fault = machine.fault;
    machine.fault->watch = break_read;
    machine.fault->watch_arg = &broken;
    for (int n = 0; n < 3; n++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(machine.batch.failed[0], 2);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 2); /* once each */
    }
    broken.error = -ENODATA;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.failed[0], 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 2);
    machine_done(&machine);
    test_label = "";
}

/* More sensors than there is room for: how many are skipped is said once. */
static void test_too_many(void)
{
    enum { OTHERS = 3 }; /* those of AER */
    struct gtel_buf text;
    struct machine machine;
    for (unsigned more = 0; more < 2; more++) {
        test_label = more ? "one too many" : "as many as can be";
        gtel_buf_init(&text, 1 << 20);
        gtel_buf_str(&text, GTEL_STR(CARD("radeon")));
        for (unsigned i = 0; i < GTEL_ATTRS_MAX - OTHERS + more; i++)
            gtel_buf_printf(&text,
                            "file " DEVICE "/hwmon/hwmon%u/name\n| any\n"
                            "file " DEVICE "/hwmon/hwmon%u/temp%u_input\n| 51000\n",
                            i / 100, i / 100, i % 100 + 1);
        gtel_buf_str(&text, GTEL_STR("end\n"));
        gtel_buf_char(&text, '\0');
        if (!CHECK(!text.has_failed && machine_init(&machine, text.p, "drm")))
            return;
        for (int n = 0; n < 3; n++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], more);
            machine.needs_discovery = true;
        }
        CHECK(more == 0 || strstr(machine.fault->last_log, "has 1 files too many to read"));
        machine_done(&machine);
        gtel_buf_done(&text);
    }
    test_label = "";
}

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(&cases[i]);
    test_asleep();
    test_failures();
    test_all_fails();
    test_too_many();
    return test_result();
}
