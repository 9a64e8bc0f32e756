/* SPDX-License-Identifier: MIT */
/* What the NVML source says of values that it has not: what was asked, why, and what helps. */
#include "harness/nvml_machine.h"
#include "harness/test.h"

#include <errno.h>

#define GPU "sys/bus/pci/devices/0000:19:00.0/"
#define PCI_GPU(status)                                                                            \
    "file " GPU "vendor\n| 0x10de\nfile " GPU "class\n| 0x030000\n"                                \
    "dir sys/bus/pci/drivers/nvidia\nlink " GPU "driver -> ../../drivers/nvidia\n"                 \
    "file " GPU "power/runtime_status\n| " status "\n"
#define DENIED "run gtel as root or administrator, or in a container with the device nodes"

#define WINDOWS                                                                                    \
    "file System32/setupapi.dll\nlibrary libwddm.so\n"                                             \
    "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_10DE&DEV_2335\\6\n"                             \
    "call SetupDiGetDevicePropertyW 0 23 = 0x19\n"                                                 \
    "call SetupDiGetDevicePropertyW 0 30 = 0\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 32 = 1\n"

#define RESET                                                                                      \
    "dmesg | grep -i xid says what happened; stop what uses the GPU, and the agent that runs "     \
    "gtel, then nvidia-smi --gpu-reset -i GPU; or reboot"
#define LOOK_UP "nvmlDeviceGetHandleByIndex_v2"
#define REFUSED(code)                                                                              \
    "1 of the GPUs that NVML counts cannot be looked up, the first with code " code
#define NODES "nvidia-smi says whether the driver works; in a container, check the device nodes"
#define HAS_GPM "call nvmlGpmQueryDeviceSupport 0 = 1\n"
#define INSTANCE                                                                                   \
    "call nvmlDeviceGetMaxMigDeviceCount 0 = 7\n"                                                  \
    "call nvmlDeviceGetMigDeviceHandleByIndex 0 1 = ok\n"                                          \
    "call nvmlDeviceGetGpuInstanceId 0/1 = 9\ncall nvmlDeviceGetComputeInstanceId 0/1 = 0\n"       \
    "call nvmlDeviceGetUUID 0/1 = MIG-a\ncall nvmlDeviceGetMemoryInfo_v2 0/1 = 500 0 400 100\n"
#define LINK(gen, width)                                                                           \
    "call nvmlDeviceGetMaxPcieLinkGeneration 0 = " gen "\n"                                        \
    "call nvmlDeviceGetMaxPcieLinkWidth 0 = " width "\n"
#define LINK_NOW(gen, width)                                                                       \
    "call nvmlDeviceGetCurrPcieLinkGeneration 0 = " gen "\n"                                       \
    "call nvmlDeviceGetCurrPcieLinkWidth 0 = " width "\n"
#define BYTES                                                                                      \
    "call nvmlDeviceGetFieldValues 0 197 0 = uint 5\n"                                             \
    "call nvmlDeviceGetFieldValues 0 198 0 = uint 6\n"
#define FIELDS "field PCIE_TX_BYTES, field PCIE_RX_BYTES"
#define FILLS(ms)                                                                                  \
    "a counter of 32 bits, which this link can fill in " ms " ms: shorter than the interval"

static const struct diagnose_case {
    const char *label;
    const char *text;
    unsigned gathers;
    enum gtel_measurement group;
    const char *what; /* how a finding of that group begins, about the first GPU or the machine */
    const char *why;  /* the whole; NULL: there is no such finding */
    const char *fix;  /* the whole; "": none */
} cases[] = {
    {"two drivers", "call nvmlInit_v2 = !18\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 18: library and kernel driver are of different versions: reload the driver "
     "or reboot",
     "load the driver of the library's version: reboot, or stop what uses the GPUs, then modprobe "
     "-r nvidia_uvm nvidia_drm nvidia_modeset nvidia; modprobe nvidia"},
    {"no module", "call nvmlInit_v2 = !9\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 9: the kernel driver is not loaded", "load it:\nmodprobe nvidia"},
    {"no right", "call nvmlInit_v2 = !4\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 4: this user may not open /dev/nvidiactl: let it read and write that file",
     "let this user read and write /dev/nvidiactl and /dev/nvidia0"},
    {"something else", "call nvmlInit_v2 = !999\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 999: in a container, are the device nodes there?", NODES},
    {"a stub", "call nvmlInit_v2 = !3\n", 2, GTEL_MEASUREMENT_GPU, "nvmlInit_v2",
     "it answers code 3: it may be a stub without a driver", NODES},
    {"no reason, under Windows", WINDOWS "call nvmlInit_v2 = !999\n", 2, GTEL_MEASUREMENT_GPU,
     "nvmlInit_v2", "it answers code 999: nvidia-smi says whether the driver works",
     "install or update NVIDIA's driver; nvidia-smi says whether it works"},
    {"shares of processes",
     "link proc/self/ns/pid -> pid:[4026531836]\n"
     "call nvmlDeviceGetComputeRunningProcesses_v3 0 = 1200 4096\n"
     "call nvmlDeviceGetProcessesUtilizationInfo = !nosymbol\n"
     "call nvmlDeviceGetProcessUtilization = !nosymbol\n",
     2, GTEL_MEASUREMENT_GPU_PROCESS, "nvmlDeviceGetProcessUtilization",
     "this GPU or driver does not report the shares of processes", ""},
    {"shares of processes: none yet", "", 2, GTEL_MEASUREMENT_GPU_PROCESS, "nvmlDevice", NULL,
     NULL},
    {"all is well", "", 2, GTEL_MEASUREMENT_GPU, "nvmlInit", NULL, NULL},
    {"refused", "call nvmlDeviceGetHandleByIndex_v2 0 = !4\n", 2, GTEL_MEASUREMENT_GPU, LOOK_UP,
     REFUSED("4"), DENIED},
    {"refused, beside one that is lost",
     "call nvmlDeviceGetHandleByIndex_v2 0 = !4\n"
     "at 2s\ncall nvmlDeviceGetHandleByIndex_v2 1 = !15\n"
     "call nvmlDeviceGetUtilizationRates 1 = !15\n",
     8, GTEL_MEASUREMENT_GPU, LOOK_UP, REFUSED("4"), DENIED},
    {"refused: gone", "call nvmlDeviceGetHandleByIndex_v2 0 = !15\n", 2, GTEL_MEASUREMENT_GPU,
     LOOK_UP, REFUSED("15"), RESET},
    {"refused: gone, under Windows", WINDOWS "call nvmlDeviceGetHandleByIndex_v2 0 = !15\n", 2,
     GTEL_MEASUREMENT_GPU, "NVML", "the GPU is lost or needs a reset (NVML code 15)",
     "the event log of Windows says what happened (source nvlddmkm); disable the GPU in the Device "
     "Manager and enable it again, or reboot"},
    {"refused: another reason", "call nvmlDeviceGetHandleByIndex_v2 0 = !3\n", 2,
     GTEL_MEASUREMENT_GPU, LOOK_UP, REFUSED("3"), "nvidia-smi -L says which"},
    {"refused: known from sysfs", PCI_GPU("active") "call nvmlDeviceGetHandleByIndex_v2 0 = !999\n",
     2, GTEL_MEASUREMENT_GPU, "NVML", "the GPU is lost or needs a reset (NVML code 999)", RESET},
    {"refused: said once", PCI_GPU("active") "call nvmlDeviceGetHandleByIndex_v2 0 = !999\n", 2,
     GTEL_MEASUREMENT_GPU, LOOK_UP, NULL, NULL},
    {"lost: said once",
     "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n"
     "call nvmlDeviceGetHandleByIndex_v2 0 = !15\n",
     4, GTEL_MEASUREMENT_GPU, LOOK_UP, NULL, NULL},
    {"not listed any more", "at 20s\ncall nvmlDeviceGetCount_v2 = 0\n", 40, GTEL_MEASUREMENT_GPU,
     "NVML", "NVML does not list the GPU any more", RESET},
    {"lost", "at 1s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n", 4, GTEL_MEASUREMENT_GPU, "NVML",
     "the GPU is lost or needs a reset (NVML code 15)", RESET},
    {"reset required", "at 1s\ncall nvmlDeviceGetUtilizationRates 0 = !16\n", 4,
     GTEL_MEASUREMENT_GPU, "NVML", "the GPU is lost or needs a reset (NVML code 16)", RESET},
    {"lost: nothing of its calls", "at 1s\ncall nvmlDeviceGetUtilizationRates 0 = !15\n", 4,
     GTEL_MEASUREMENT_GPU_FAN, "nvml", NULL, NULL},
    {"asleep", PCI_GPU("suspended"), 2, GTEL_MEASUREMENT_GPU, "power/runtime_status",
     "suspended: nothing is read, so that the GPU stays asleep", ""},
    {"asleep: nothing of its calls", PCI_GPU("suspended"), 2, GTEL_MEASUREMENT_GPU_FAN, "nvml",
     NULL, NULL},
    {"awake", PCI_GPU("active"), 2, GTEL_MEASUREMENT_GPU, "power/runtime_status", NULL, NULL},
    {"one call fails", "call nvmlDeviceGetUtilizationRates 0 = !999\n", 2, GTEL_MEASUREMENT_GPU,
     "nvmlDeviceGetUtilizationRates", "1 readings failed, this one first, with code 999", ""},
    {"two calls fail",
     "call nvmlDeviceGetUtilizationRates 0 = !999\ncall nvmlDeviceGetPerformanceState 0 = !10\n", 2,
     GTEL_MEASUREMENT_GPU, "nvmlDeviceGetUtilizationRates",
     "2 readings failed, this one first, with code 999", ""},
    {"a call failed before",
     "call nvmlDeviceGetUtilizationRates 0 = !999\nat 2s\n"
     "call nvmlDeviceGetUtilizationRates 0 = 41 7\n",
     4, GTEL_MEASUREMENT_GPU, "nvmlDeviceGetUtilizationRates", NULL, NULL},
    {"not there", "call nvmlDeviceGetFanSpeed_v2 0 0 = !3\ncall nvmlDeviceGetFanSpeed 0 = !3\n", 2,
     GTEL_MEASUREMENT_GPU_FAN,
     "nvmlDeviceGetFanSpeed_v2, nvmlDeviceGetFanSpeed, nvmlDeviceGetFanSpeedRPM",
     "this GPU or driver does not support it", ""},
    {"refused", "call nvmlDeviceGetFanSpeed_v2 0 0 = !4\ncall nvmlDeviceGetFanSpeed 0 = !4\n", 2,
     GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed", "this GPU or driver does not support it",
     DENIED},
    {"no value this time", "call nvmlDeviceGetFanSpeed_v2 0 0 = !6\n", 2, GTEL_MEASUREMENT_GPU_FAN,
     "nvmlDeviceGetFanSpeed_v2", NULL, NULL},
    {"it has worked before", "at 2s\ncall nvmlDeviceGetFanSpeed_v2 0 0 = !3\n", 3,
     GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed_v2", NULL, NULL},
    {"there", "", 2, GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeed_v2", NULL, NULL},
    {"divided", INSTANCE, 2, GTEL_MEASUREMENT_GPU_FAN, "nvmlDeviceGetFanSpeedRPM",
     "not while the GPU is divided by MIG, or not at all", ""},
    {"activity: the first gather", HAS_GPM, 1, GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM",
     "a mean needs two gathers; there was no second one yet", ""},
    {"activity: it has worked", HAS_GPM "call nvmlGpmMetricsGet 0 2 = 50\n", 2,
     GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM", NULL, NULL},
    {"activity: not of this GPU", "", 2, GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM",
     "this GPU or driver does not support it: it needs Hopper or newer", ""},
    {"activity: it fails", HAS_GPM "call nvmlGpmSampleGet 0 = !10\n", 2,
     GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM", "it answers code 10", ""},
    {"activity: refused", HAS_GPM "call nvmlGpmSampleGet 0 = !4\n", 2,
     GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM", "it answers code 4", DENIED},
    {"activity: divided", INSTANCE "call nvmlGpmMetricsGet 0/gi9 2 = 80\n" HAS_GPM, 3,
     GTEL_MEASUREMENT_GPU_ACTIVITY, "NVML GPM",
     "the GPU is divided by MIG: instances report it, on Hopper or newer", ""},
    {"bytes: no fields", LINK("5", "16"), 2, GTEL_MEASUREMENT_GPU, FIELDS, NULL, NULL},
    {"bytes: no speed", BYTES, 2, GTEL_MEASUREMENT_GPU, FIELDS,
     "a counter of 32 bits, and the speed of the link is not known", ""},
    {"bytes: a speed in part", BYTES LINK("5", "0") LINK_NOW("4", "8"), 2, GTEL_MEASUREMENT_GPU,
     FIELDS, "a counter of 32 bits, and the speed of the link is not known", ""},
    {"bytes: the other part", BYTES LINK("0", "16") LINK_NOW("4", "8"), 2, GTEL_MEASUREMENT_GPU,
     FIELDS, "a counter of 32 bits, and the speed of the link is not known", ""},
    {"bytes: a fast link", BYTES LINK("5", "16"), 2, GTEL_MEASUREMENT_GPU, FIELDS, FILLS("67"), ""},
    {"bytes: a link that runs slowly", BYTES LINK("4", "8") LINK_NOW("1", "4"), 2,
     GTEL_MEASUREMENT_GPU, FIELDS, FILLS("268"), ""},
    {"bytes: a link that is said to be slow", BYTES LINK("1", "4") LINK_NOW("4", "8"), 2,
     GTEL_MEASUREMENT_GPU, FIELDS, FILLS("268"), ""},
    {"bytes: a slow link", BYTES LINK("3", "1"), 2, GTEL_MEASUREMENT_GPU, FIELDS, NULL, NULL},
};

static void check_case(const struct diagnose_case *c, const struct gtel_findings *findings)
{
    size_t found = 0;
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        if (finding->measurement != c->group ||
            !gtel_str_starts(finding->what, gtel_str_of(c->what)) ||
            (finding->device && strcmp(finding->device->key, "0000:19:00.0") != 0))
            continue;
        found++;
        CHECK_STR(finding->why, c->why ? c->why : "");
        if (c->fix)
            CHECK_STR(finding->fix, c->fix);
    }
    if (!CHECK(found == (c->why ? 1 : 0)))
        for (size_t i = 0; i < findings->n; i++)
            printf("    %u: %.*s: %.*s\n", findings->finding[i].measurement,
                   GTEL_STR_ARG(findings->finding[i].what), GTEL_STR_ARG(findings->finding[i].why));
}

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct machine m;
        test_label = cases[i].label;
        if (!begin(&m, cases[i].text))
            continue;
        for (unsigned k = 0; k < cases[i].gathers; k++)
            gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        check_case(&cases[i], &findings);
        gtel_findings_done(&findings);
        finish(&m);
    }
    test_label = "";
}

#define NO_LIBRARY(label, text, fix)                                                               \
    {                                                                                              \
        label, text, 2, GTEL_MEASUREMENT_GPU, "libnvidia-ml.so.1",                                 \
            "the driver's NVML library cannot be opened", fix                                      \
    }

static void test_no_library(void)
{
    static const struct diagnose_case none[] = {
        NO_LIBRARY("no library", "",
                   "install it: apt install libnvidia-ml1 (Debian), libnvidia-compute-VERSION "
                   "(Ubuntu)"),
        NO_LIBRARY("a library that cannot be loaded",
                   "file usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1\n",
                   "its file is there: ldd shows what it lacks; gtel needs driver 390 or newer"),
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(none); i++) {
        struct gtel_findings findings = {0};
        struct machine m;
        test_label = none[i].label;
        if (!begin(&m, none[i].text))
            continue;
        spy.open_error = -ENOENT;
        gather(&m, 1);
        gtel_group_diagnose(&m.group, &findings);
        check_case(&none[i], &findings);
        CHECK_INT(findings.n, 1);
        gtel_findings_done(&findings);
        spy.opens = 0; /* there was nothing to close */
        spy.open_error = 0;
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_cases();
    test_no_library();
    return test_result();
}
