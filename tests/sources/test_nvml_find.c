/* SPDX-License-Identifier: MIT */
/* How GPUs of NVIDIA are found: codes of each look-up, keys, labels, limits, sleep. */
#include "sources/nvidia/nvml.h"
#include "harness/nvml_machine.h"
#include "harness/test.h"

static const char first[] = "0000:19:00.0";
static const char other[] = "0001:3b:00.0";

static struct gtel_device *device_of(const struct machine *m, const char *key)
{
    return gtel_registry_find(&m->group.registry, gtel_str_of(key));
}

static bool is_there(const struct machine *m, const char *key)
{
    const struct gtel_device *device = device_of(m, key);
    return device && device->is_present;
}

/* ---- codes ---- */

/* What the second discovery does about a code; it comes 30 s after the first. */
enum fate {
    KEPT,    /* it may pass: the GPU stays, and is asked for in the next gather */
    REMOVED, /* until the next discovery */
    STOPPED  /* all GPUs: NVML is started again */
};

static const struct {
    int code;
    enum fate fate;
} look_ups[] = {{1, STOPPED},  {2, REMOVED},  {3, REMOVED},  {4, REMOVED},  {5, KEPT},
                {6, REMOVED},  {7, KEPT},     {9, STOPPED},  {10, KEPT},    {13, REMOVED},
                {15, REMOVED}, {16, REMOVED}, {18, STOPPED}, {20, KEPT},    {21, KEPT},
                {25, REMOVED}, {26, REMOVED}, {27, KEPT},    {28, REMOVED}, {999, KEPT}};

static void test_look_up(const char *call, const char *more)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(look_ups); i++) {
        enum fate fate = look_ups[i].fate;
        struct machine m;
        char text[400];
        (void)snprintf(text, sizeof(text), "%sat 20s\ncall %s = !%d\n", more, call,
                       look_ups[i].code);
        test_label = text;
        if (!begin(&m, text))
            return;
        spy.count_name = "nvmlDeviceGetCount_v2";
        gather(&m, 1);
        CHECK(is_there(&m, first) && is_there(&m, other));
        gather(&m, 29);
        CHECK_INT(spy.counted, 1);
        gather(&m, 1);
        CHECK_INT(spy.counted, fate == REMOVED ? 2 : 3); /* what may pass is tried twice */
        CHECK_INT(is_there(&m, first), fate == KEPT);
        CHECK_INT(is_there(&m, other), fate != STOPPED);
        CHECK_INT(find(&m, first, GTEL_M_GPU_BUSY, NULL, NULL) != NULL, fate == KEPT);
        CHECK_INT(spy.closes, fate == STOPPED ? 2 : 0);
        gather(&m, 1);
        CHECK_INT(spy.counted, fate == REMOVED ? 2 : fate == KEPT ? 4 : 3);
        finish(&m);
    }
    test_label = "";
}

/* A GPU that does not answer for good is asked for less and less often. */
static void test_pauses(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetHandleByIndex_v2 0 = !999\n"))
        return;
    spy.count_name = "nvmlDeviceGetCount_v2";
    for (int k = 0; k < 300; k++)
        gather(&m, 1);
    CHECK(spy.counted > 10 && spy.counted < 25); /* one in ten is the core's, each 30 s */
    CHECK_INT(spy.logs, 1);
    CHECK_STR(gtel_str_of(spy.last_log), "nvml: 1 of the GPUs cannot be looked up, the first with "
                                         "code 999 (gtel doctor says more)");
    CHECK(is_there(&m, other));
    finish(&m);
}

#define GPU_AT(address)                                                                            \
    "file sys/bus/pci/devices/" address "/vendor\n| 0x10de\n"                                      \
    "file sys/bus/pci/devices/" address "/class\n| 0x030200\n"                                     \
    "dir sys/bus/pci/drivers/nvidia\n"                                                             \
    "link sys/bus/pci/devices/" address "/driver -> ../../drivers/nvidia\n"

/* Starts again, and may wake who sleeps. */
static void wake_always(struct machine *m)
{
    char error[128];
    CHECK_INT(gtel_option_set(&m->options, GTEL_O_WAKE, GTEL_STR("always"), error, sizeof(error)),
              0);
    gtel_group_done(&m->group);
    start_lane(m);
}

/* A GPU that has not answered since the start is known from sysfs, unless it may be another's. */
static void test_gone(void)
{
    static const struct {
        const char *text;
        bool is_known;
        unsigned logs; /* in a minute */
    } cases[] = {
        {GPU_AT("0000:19:00.0") GPU_AT("0001:3b:00.0"), true, 1},
        {GPU_AT("0000:19:00.0") GPU_AT("0001:3b:00.0") GPU_AT("0001:3c:00.0"), false, 1},
        {"", false, 1},
    };
    static const int codes[] = {15, 16, 999};
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(cases) * GTEL_ARRAY_LEN(codes); i++) {
        size_t at = i / 2 / GTEL_ARRAY_LEN(codes);
        struct machine m;
        char text[4096];
        (void)snprintf(text, sizeof(text),
                       "%scall nvmlDeviceGetHandleByIndex_v2 0 = !%d\nat 60s\n"
                       "call nvmlDeviceGetHandleByIndex_v2 0 = ok\n",
                       cases[at].text, codes[i / 2 % GTEL_ARRAY_LEN(codes)]);
        test_label = text;
        if (!begin(&m, text))
            return;
        if (i % 2 > 0)
            wake_always(&m);
        for (int k = 0; k < 59; k++)
            gather(&m, 1);
        CHECK_INT(device_of(&m, first) != NULL, cases[at].is_known);
        CHECK(!is_there(&m, first));
        CHECK(is_there(&m, other));
        CHECK_INT(spy.logs, cases[at].logs);
        for (int k = 0; k < 100; k++)
            gather(&m, 1);
        CHECK(is_there(&m, first));
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0.41, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* Without the number of GPUs nothing is known of any. */
static void test_count(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(look_ups); i++) {
        bool is_stopped = look_ups[i].fate == STOPPED;
        struct machine m;
        char text[100];
        (void)snprintf(text, sizeof(text), "at 20s\ncall nvmlDeviceGetCount_v2 = !%d\n",
                       look_ups[i].code);
        test_label = text;
        if (!begin(&m, text))
            return;
        spy.count_name = "nvmlDeviceGetCount_v2";
        gather(&m, 1);
        gather(&m, 30);
        CHECK_INT(is_there(&m, first), !is_stopped);
        CHECK_INT(find(&m, first, GTEL_M_GPU_BUSY, NULL, NULL) != NULL, !is_stopped);
        CHECK_INT(spy.counted, 3);
        gather(&m, 1);
        CHECK_INT(spy.counted, is_stopped ? 3 : 4);
        finish(&m);
    }
    test_label = "";
}

/* One of two is not counted any more. */
static void test_removed(void)
{
    struct machine m;
    if (!begin(&m, "at 20s\ncall nvmlDeviceGetCount_v2 = 1\nat 50s\n"
                   "call nvmlDeviceGetCount_v2 = 2\n"))
        return;
    gather(&m, 1);
    gather(&m, 30);
    CHECK(is_there(&m, first) && !is_there(&m, other));
    CHECK(!find(&m, other, GTEL_M_GPU_BUSY, NULL, NULL));
    CHECK_INT(spy.closes, 0);
    gather(&m, 30);
    CHECK(is_there(&m, other) && find(&m, other, GTEL_M_GPU_BUSY, NULL, NULL));
    CHECK_INT(device_of(&m, first)->arrivals, 1);
    CHECK_INT(device_of(&m, other)->arrivals, 2);
    finish(&m);
}

/* What only the hardware knows says whether a lost GPU is back. */
static const struct {
    const char *lacks; /* what the library has not, from the start */
    const char *text;
    bool is_back;
} backs[] = {
    {"", "", true},
    {"", "call nvmlDeviceGetTemperature 0 0 = !15\n", false},
    {"", "call nvmlDeviceGetTemperature 0 0 = !16\n", false},
    {"", "call nvmlDeviceGetTemperature 0 0 = !28\n", false},
    {"", "call nvmlDeviceGetTemperature 0 0 = !3\n", true},
    {"call nvmlDeviceGetTemperature = !nosymbol\n", "", true},
    {"call nvmlDeviceGetTemperature = !nosymbol\n", "call nvmlDeviceGetPerformanceState 0 = !15\n",
     false},
    {"call nvmlDeviceGetTemperature = !nosymbol\n", "call nvmlDeviceGetPerformanceState 0 = 0\n",
     true},
    {"call nvmlDeviceGetTemperature = !nosymbol\n"
     "call nvmlDeviceGetPerformanceState = !nosymbol\n",
     "", true},
};

static void test_back(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(backs); i++) {
        struct machine m;
        char text[500];
        test_label = backs[i].text;
        (void)snprintf(text, sizeof(text),
                       "%sat 2s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
                       "at 3s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n%s",
                       backs[i].lacks, backs[i].text);
        if (!begin(&m, text))
            return;
        gather(&m, 1);
        gather(&m, 1);
        CHECK(!is_there(&m, first));
        gather(&m, 1);
        CHECK_INT(is_there(&m, first), backs[i].is_back);
        CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), backs[i].is_back ? 0.41 : -1, 1e-9);
        CHECK_INT(device_of(&m, first)->arrivals, backs[i].is_back ? 2 : 1);
        CHECK(is_there(&m, other));
        finish(&m);
    }
    test_label = "";
}

/* ---- keys and labels ---- */

#define TEN "0123456789"
#define UUID_OF_88 TEN TEN TEN TEN TEN TEN TEN TEN "01234567"

/* The key of the first GPU, by what the library answers. */
static const struct {
    const char *text;
    const char *key; /* NULL: it is not there */
} keys[] = {
    {"", first},
    {"call nvmlDeviceGetPciInfo_v3 0 = 0000ABCD:3B:1F.7 0x233510de 0\n", "abcd:3b:1f.7"},
    {"call nvmlDeviceGetPciInfo_v3 0 = !3\n", "nvidia:GPU-a"},
    {"call nvmlDeviceGetPciInfo_v3 0 = nonsense 0x233510de 0\n", "nvidia:GPU-a"},
    {"call nvmlDeviceGetPciInfo_v3 0 = !15\n", NULL},
    {"call nvmlDeviceGetPciInfo_v3 = !nosymbol\n", "nvidia:GPU-a"},
    {"call nvmlDeviceGetPciInfo_v3 0 = !3\ncall nvmlDeviceGetUUID 0 = !3\n", NULL},
    {"call nvmlDeviceGetPciInfo_v3 0 = !3\ncall nvmlDeviceGetUUID 0 = " UUID_OF_88 "\n",
     "nvidia:" UUID_OF_88},
    {"call nvmlDeviceGetPciInfo_v3 0 = !3\ncall nvmlDeviceGetUUID 0 = " UUID_OF_88 "8\n", NULL},
};

static void test_keys(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++) {
        struct machine m;
        test_label = keys[i].text;
        if (!begin(&m, keys[i].text))
            return;
        gather(&m, 1);
        CHECK_INT(m.group.registry.n, keys[i].key ? 2 : 1);
        CHECK(!keys[i].key || find(&m, keys[i].key, GTEL_M_POWER, "gpu", NULL));
        finish(&m);
    }
    test_label = "";
}

/* Two GPUs cannot have one address: the second answer is of the first GPU again. */
static void test_same_key(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetPciInfo_v3 1 = 00000000:19:00.0 0x233510de 0\n"))
        return;
    gather(&m, 1);
    CHECK_INT(m.group.registry.n, 1);
    CHECK_INT(device_of(&m, first)->arrivals, 1);
    CHECK_NEAR(value(&m, GTEL_M_GPU_BUSY, NULL), 0, 0); /* as the second one says */
    finish(&m);
}

static const struct {
    const char *text;
    enum gtel_label label;
    const char *want;
} labels[] = {
    {"", GTEL_LABEL_GPU, first},
    {"", GTEL_LABEL_VENDOR, "nvidia"},
    {"", GTEL_LABEL_DRIVER, "nvidia"},
    {"", GTEL_LABEL_INSTANCE, ""},
    {"", GTEL_LABEL_MODES, ""},
    {"call nvmlDeviceGetName 0 = !3\n", GTEL_LABEL_MODEL, "NVIDIA 10de:2335"},
    {"call nvmlDeviceGetName = !nosymbol\n", GTEL_LABEL_MODEL, "NVIDIA 10de:2335"},
    {"call nvmlDeviceGetName 0 = !3\ncall nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0 0\n",
     GTEL_LABEL_MODEL, ""},
    {"call nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0x23358086 0\n", GTEL_LABEL_PCI_ID, ""},
    {"call nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0x1fff10de 0\n", GTEL_LABEL_PCI_ID, "10de:1fff"},
    {"call nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0x00ff10de 0\n", GTEL_LABEL_PCI_ID, "10de:00ff"},
    {"call nvmlDeviceGetPciInfo_v3 0 = !3\n", GTEL_LABEL_PCI_ID, ""},
    {"call nvmlDeviceGetMinorNumber 0 = !3\n", GTEL_LABEL_CARD, ""},
    {"call nvmlDeviceGetMinorNumber = !nosymbol\n", GTEL_LABEL_CARD, ""},
    {"call nvmlDeviceGetMinorNumber 0 = 0\n", GTEL_LABEL_CARD, "nvidia0"},
    {"call nvmlSystemGetDriverVersion = !3\n", GTEL_LABEL_DRIVER_VERSION, ""},
    {"call nvmlDeviceGetVbiosVersion 0 = !3\n", GTEL_LABEL_FIRMWARE, ""},
    {"call nvmlDeviceGetVbiosVersion = !nosymbol\n", GTEL_LABEL_FIRMWARE, ""},
    {"call nvmlDeviceGetGspFirmwareVersion 0 = 590.48.01\n", GTEL_LABEL_GSP_FIRMWARE, "590.48.01"},
    {"call nvmlDeviceGetGspFirmwareVersion 0 = !3\n", GTEL_LABEL_GSP_FIRMWARE, ""},
    {"call nvmlDeviceGetCudaComputeCapability 0 = 9 0\n", GTEL_LABEL_COMPUTE_CAPABILITY, "9.0"},
    {"call nvmlDeviceGetCudaComputeCapability 0 = !3\n", GTEL_LABEL_COMPUTE_CAPABILITY, ""},
    {"call nvmlSystemGetCudaDriverVersion = 13020\n", GTEL_LABEL_CUDA_VERSION, "13.2"},
    {"call nvmlSystemGetCudaDriverVersion = 1\n", GTEL_LABEL_CUDA_VERSION, "0.0"},
    {"call nvmlSystemGetCudaDriverVersion = 0\n", GTEL_LABEL_CUDA_VERSION, ""},
    {"call nvmlSystemGetCudaDriverVersion = !3\n", GTEL_LABEL_CUDA_VERSION, ""},
    {"call nvmlDeviceGetArchitecture 0 = 1\n", GTEL_LABEL_ARCHITECTURE, ""},
    {"call nvmlDeviceGetArchitecture 0 = 2\n", GTEL_LABEL_ARCHITECTURE, "Kepler"},
    {"call nvmlDeviceGetArchitecture 0 = 9\n", GTEL_LABEL_ARCHITECTURE, "Hopper"},
    {"call nvmlDeviceGetArchitecture 0 = 13\n", GTEL_LABEL_ARCHITECTURE, "Rubin"},
    {"call nvmlDeviceGetArchitecture 0 = 14\n", GTEL_LABEL_ARCHITECTURE, ""},
    /* Each discovery reads what can change. */
    {"at 20s\ncall nvmlDeviceGetName 0 = NVIDIA H300\n", GTEL_LABEL_MODEL, "NVIDIA H300"},
    {"at 20s\ncall nvmlDeviceGetVbiosVersion 0 = 97.01\n", GTEL_LABEL_FIRMWARE, "97.01"},
    {"at 20s\ncall nvmlSystemGetDriverVersion = 595.1\n", GTEL_LABEL_DRIVER_VERSION, "595.1"},
    {"at 20s\ncall nvmlDeviceGetUUID 0 = GPU-c\n", GTEL_LABEL_UUID, "GPU-c"},
    {"call nvmlDeviceGetMigMode 0 = 0 0\nat 20s\ncall nvmlDeviceGetMigMode 0 = 1 1\n",
     GTEL_LABEL_MODES, "mig=on"},
    /* Another GPU at the address has nothing of the one before. */
    {"at 20s\ncall nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0x1fff10de 0\n", GTEL_LABEL_PCI_ID,
     "10de:1fff"},
    {"at 20s\ncall nvmlDeviceGetPciInfo_v3 0 = 0:19:00.0 0x1fff10de 0\n"
     "call nvmlDeviceGetVbiosVersion 0 = !3\n",
     GTEL_LABEL_FIRMWARE, ""},
};

static void test_labels(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(labels); i++) {
        struct machine m;
        test_label = labels[i].text;
        if (!begin(&m, labels[i].text))
            return;
        gather(&m, 1);
        gather(&m, 30);
        const struct gtel_device *device = m.group.registry.device[0];
        CHECK_STR(gtel_str_of(device->label[labels[i].label]), labels[i].want);
        finish(&m);
    }
    test_label = "";
}

/* What shows that there may be a GPU, when nvidiactl is not there. */
static void test_present(void)
{
    static const struct {
        const char *text;
        bool is_present;
    } rows[] = {{"", false},
                {"file dev/dxg\n", true},
                {"file proc/driver/nvidia/version\n| x\n", true},
                {"dir sys/module/nvidia\n", true},
                {"dir sys/module/nvidiafb\n", false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[100];
        test_label = rows[i].text;
        (void)snprintf(text, sizeof(text), "%sat 1s\ngone dev/nvidiactl\n", rows[i].text);
        if (!begin(&m, text))
            return;
        const struct gtel_source *source = &m.group.entry[0].source;
        CHECK(source->present(&m.env));
        gather(&m, 2);
        CHECK_INT(source->present(&m.env), rows[i].is_present);
        finish(&m);
    }
    test_label = "";
}

/* ---- limits ---- */

/* No more look-ups than there is room for GPUs, whatever the library says. */
static void test_many(void)
{
    struct machine m;
    if (!begin(&m, "call nvmlDeviceGetCount_v2 = 4000000000\n"))
        return;
    spy.count_name = "nvmlDeviceGetHandleByIndex_v2";
    gather(&m, 1);
    CHECK_INT(spy.counted, GTEL_NVML_GPUS_MAX);
    CHECK_INT(m.group.registry.n, 2);
    finish(&m);
}

/* How fast the link could be is asked for until it is known, and then no more: it takes long. */
static void test_link_is_asked_once(void)
{
    static const struct {
        const char *text;
        unsigned calls; /* for both GPUs by three discoveries, and for a row of the table */
    } cases[] = {{"", 6 + 2},
                 {"call nvmlDeviceGetMaxPcieLinkGeneration 0 = 3\n", 6 + 3},
                 {"call nvmlDeviceGetMaxPcieLinkGeneration 0 = 3\n"
                  "call nvmlDeviceGetMaxPcieLinkWidth 0 = 16\n",
                  4 + 3},
                 {"call nvmlDeviceGetMaxPcieLinkGeneration 0 = 3\n"
                  "call nvmlDeviceGetMaxPcieLinkWidth 0 = 16\n"
                  "at 20s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
                  "at 50s\ncall nvmlDeviceGetUtilizationRates 0 = 0 0\n", /* it may be another */
                  4 + 3 + 1}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].text;
        if (!begin(&m, cases[i].text))
            return;
        spy.count_name = "nvmlDeviceGetMaxPcieLinkGeneration";
        gather(&m, 1);
        gather(&m, 30);
        gather(&m, 30);
        CHECK_INT(spy.counted, cases[i].calls);
        finish(&m);
    }
    test_label = "";
}

/* ---- sleep ---- */

#define PCI "sys/bus/pci/devices/0000:19:00.0/"
#define ASLEEP "file " PCI "power/runtime_status\n| suspended\n"
#define CARD_OF(vendor, class, driver)                                                             \
    "file " PCI "vendor\n| " vendor "\nfile " PCI                                                  \
    "class\n| " class "\n"                                                                         \
                      "dir sys/bus/pci/drivers/" driver "\nlink " PCI                              \
                      "driver -> ../../drivers/" driver "\n"

#define PLUGGED(vendor, power)                                                                     \
    "file System32/setupapi.dll\nlibrary libwddm.so\n"                                             \
    "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_" vendor "&DEV_2335\\6\n"                       \
    "call SetupDiGetDevicePropertyW 0 23 = 0x19\ncall SetupDiGetDevicePropertyW 0 30 = 0\n"        \
    "call SetupDiGetDevicePropertyW 0 32 = " power "\n"

/* Which devices are GPUs that must not be woken; of the others NVML is asked at the start. */
static const struct {
    const char *text;
    unsigned starts;
} sleepers[] = {
    {CARD_OF("0x10de", "0x030000", "nvidia") ASLEEP, 0},
    {CARD_OF("0x10de", "0x030200", "nvidia") ASLEEP, 0},
    {CARD_OF("0x10de", "0x038000", "nvidia") ASLEEP, 0},
    {CARD_OF("0x10de", "0x040300", "nvidia") ASLEEP, 1}, /* its sound */
    {CARD_OF("0x10de", "0x020000", "nvidia") ASLEEP, 1},
    {CARD_OF("0x10df", "0x030000", "nvidia") ASLEEP, 1},
    {CARD_OF("0x10de", "0x030000", "nouveau") ASLEEP, 1},
    {CARD_OF("0x10de", "0x030000", "nvidiafb") ASLEEP, 1},
    {"file " PCI "vendor\n| 0x10de\nfile " PCI "class\n| 0x030000\n" ASLEEP, 1}, /* no driver */
    {"file " PCI "vendor\n| 0x10de\n" ASLEEP, 1},
    {CARD_OF("0x10de", "0x030000", "nvidia"), 1}, /* no power files */
    {CARD_OF("0x10de", "0x030000", "nvidia") "file " PCI "power/runtime_status\n| active\n", 1},
    {CARD_OF("0x10de", "0x030000", "nvidia") "file " PCI "power/runtime_status\n| error\n", 1},
    {PLUGGED("10DE", "4"), 0},
    {PLUGGED("10DE", "1"), 1},
    {PLUGGED("8086", "4"), 1},
};

static void test_sleepers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(sleepers); i++) {
        struct machine m;
        test_label = sleepers[i].text;
        if (!begin(&m, sleepers[i].text))
            return;
        spy.count_name = "nvmlInit_v2";
        for (int k = 0; k < 3; k++)
            gather(&m, 30);
        CHECK_INT(spy.counted, sleepers[i].starts);
        finish(&m);
    }
    test_label = "";
}

#define AWAKE CARD_OF("0x10de", "0x030000", "nvidia") "file " PCI "power/runtime_status\n| active\n"
#define IDLE "call nvmlDeviceGetCount_v2 = 1\ncall nvmlDeviceGetUtilizationRates 0 = 0 0\n" AWAKE
#define SUSPENDS(control, ms)                                                                      \
    "file " PCI "power/control\n| " control "\n"                                                   \
    "file " PCI "power/runtime_suspended_time\n| " ms "\n"

#define D3_FILE "proc/driver/nvidia/gpus/0000:19:00.0/power"
#define D3(status)                                                                                 \
    "file " D3_FILE "\n| Runtime D3 status:" status "\n| Video Memory:               Active\n"

#define WINDOWS                                                                                    \
    "call nvmlDeviceGetCount_v2 = 1\ncall nvmlDeviceGetUtilizationRates 0 = 0 0\n"                 \
    "file System32/setupapi.dll\nlibrary libwddm.so\n"                                             \
    "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_10DE&DEV_2335\\6\n"                             \
    "call SetupDiGetDevicePropertyW 0 23 = 0x19\n"                                                 \
    "call SetupDiGetDevicePropertyW 0 30 = 0\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 32 = 1\n"

/* Whether NVML is closed after a minute, so that an idle GPU can fall asleep. */
static const struct {
    const char *text;
    unsigned closes;
} closings[] = {
    {IDLE SUSPENDS("auto", "1"), 1},
    {IDLE SUSPENDS("auto", "0"), 0},
    {IDLE SUSPENDS("on", "9000"), 0},
    /* It has not slept yet. */
    {IDLE SUSPENDS("auto", "0") D3("         Enabled (fine-grained)"), 1},
    {IDLE SUSPENDS("auto", "0") D3(" Enabled (coarse-grained)"), 1},
    {IDLE SUSPENDS("auto", "0") D3("          Disabled by default"), 0},
    {IDLE SUSPENDS("auto", "0") D3("          Not supported"), 0},
    {IDLE SUSPENDS("auto", "0") D3(""), 0},
    {IDLE SUSPENDS("on", "0") D3(" Enabled (fine-grained)"), 0},
    {IDLE SUSPENDS("auto", "0") "file " D3_FILE "\n| Video Memory: Enabled\n", 0},
    {IDLE "file " PCI "power/control\n| auto\n", 0},
    {IDLE "file " PCI "power/runtime_suspended_time\n| 9000\n", 0},
    {IDLE SUSPENDS("auto", "9000") "call nvmlDeviceGetUtilizationRates 0 = 1 0\n", 0},
    {IDLE SUSPENDS("auto", "9000") "call nvmlDeviceGetUtilizationRates 0 = 0 5\n", 1},
    {IDLE SUSPENDS("auto", "9000") "call nvmlDeviceGetUtilizationRates 0 = !3\n", 0},
    {WINDOWS, 1}, /* though it was not seen asleep */
    {WINDOWS "call nvmlDeviceGetUtilizationRates 0 = 1 0\n", 0},
    /* The other one may not suspend: it works, or does nothing. */
    {IDLE SUSPENDS("auto", "9000") "call nvmlDeviceGetCount_v2 = 2\n"
                                   "call nvmlDeviceGetUtilizationRates 1 = 1 0\n",
     0},
    {IDLE SUSPENDS("auto", "9000") "call nvmlDeviceGetCount_v2 = 2\n"
                                   "call nvmlDeviceGetUtilizationRates 1 = 0 0\n",
     1},
};

static void test_closings(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(closings); i++) {
        struct machine m;
        test_label = closings[i].text;
        if (!begin(&m, closings[i].text))
            return;
        spy.count_name = "nvmlShutdown";
        for (int k = 0; k <= 30; k++) {
            CHECK_INT(spy.counted, 0);
            gather(&m, 1); /* idle since the first of these */
        }
        CHECK_INT(spy.counted, closings[i].closes);
        finish(&m);
    }
    test_label = "";
}

/*
 * While devices cannot be listed nobody knows who sleeps, and NVML is not started; a GPU that a
 * whole list does not have is not known to sleep, and is asked.
 */
static void test_unlisted(void)
{
    struct machine m;
    test_label = "no list";
    if (!begin(&m, WINDOWS "call double SetupDiGetClassDevsW = fail 0xc0000001 1 1000\n"))
        return;
    spy.count_name = "nvmlInit_v2";
    for (int k = 0; k < 3; k++)
        gather(&m, 30);
    CHECK_INT(spy.counted, 0);
    wake_always(&m);
    spy.count_name = "nvmlInit_v2";
    gather(&m, 30);
    CHECK_INT(spy.counted, 1);
    finish(&m);
    test_label = "another GPU in the list";
    if (!begin(&m, WINDOWS "call SetupDiGetDevicePropertyW 0 23 = 0x20\n"))
        return;
    spy.count_name = "nvmlDeviceGetUtilizationRates";
    gather(&m, 1);
    gather(&m, 1);
    CHECK_INT(spy.counted, 2);
    finish(&m);
    test_label = "";
}

/*
 * Idle for 30 s: closed, for 20 s at least. Each time at which nothing falls asleep doubles how
 * long they must be idle, up to an hour and a little.
 */
static void test_times(void)
{
    static const unsigned waits_s[] = {30, 60, 120, 240, 480, 960, 1920, 3840, 3840, 3840};
    struct gtel_nvml_sleep sleep = {0};
    uint64_t now = 100ull * SECOND;
    CHECK(!gtel_nvml_sleep_is_on(&sleep, now));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(waits_s); i++) {
        uint64_t wait = waits_s[i] * (uint64_t)SECOND;
        CHECK(!gtel_nvml_sleep_begin(&sleep, true, now));
        CHECK(!gtel_nvml_sleep_begin(&sleep, true, now + wait - 1));
        CHECK(gtel_nvml_sleep_begin(&sleep, true, now + wait));
        now += wait;
        CHECK(gtel_nvml_sleep_is_on(&sleep, now + 20ull * SECOND - 1));
        now += 20ull * SECOND;
        CHECK(!gtel_nvml_sleep_is_on(&sleep, now));
        CHECK(!gtel_nvml_sleep_is_on(&sleep, now));
    }
    sleep = (struct gtel_nvml_sleep){0};
    CHECK(!gtel_nvml_sleep_begin(&sleep, true, now));
    CHECK(!gtel_nvml_sleep_begin(&sleep, false, now + 20ull * SECOND)); /* work in between */
    CHECK(!gtel_nvml_sleep_begin(&sleep, true, now + 31ull * SECOND));
    CHECK(!gtel_nvml_sleep_begin(&sleep, true, now + 60ull * SECOND));
    CHECK(gtel_nvml_sleep_begin(&sleep, true, now + 61ull * SECOND));
}

int main(void)
{
    test_look_up("nvmlDeviceGetHandleByIndex_v2 0", "");
    test_pauses();
    test_gone();
    test_count();
    test_removed();
    test_back();
    test_keys();
    test_same_key();
    test_labels();
    test_present();
    test_many();
    test_link_is_asked_once();
    test_sleepers();
    test_closings();
    test_unlisted();
    test_times();
    return test_result();
}
