/* SPDX-License-Identifier: MIT */
/* Source wmi: when it asks, what it takes for a size, and each outside call failing in turn. */
#include "base/compiler.h"
#include "harness/source_harness.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HEAD "file System32/setupapi.dll\nlibrary libwddm.so\n"
#define ID "PCI\\VEN_1002&DEV_6779\\4"
#define GPU                                                                                        \
    "call SetupDiGetDeviceInstanceIdW 0 = " ID "\n"                                                \
    "call SetupDiGetDeviceRegistryPropertyW 0 9 = {c}\\0001\n"                                     \
    "call SetupDiGetDevicePropertyW 0 23 = 3\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 30 = 0\n"                                                    \
    "call SetupDiGetDevicePropertyW 0 32 = 1\n"                                                    \
    "call SetupDiGetDeviceInterfaceDetailW 0 = PCI#VEN_1002\n"                                     \
    "call D3DKMTOpenAdapterFromDeviceName 0 = 0x1000\n"
#define WMI "file windows/wmi/Win32_VideoController\n"
#define ANSWER WMI "| PNPDeviceID: " ID "\n| Name: HD 6450\n| AdapterRAM: 1073741824\n"
#define GONE "at 3s\ncall SetupDiGetDeviceInstanceIdW 0 = gone\n"

static const char key[] = "0000:03:00.0";

struct asked {
    struct machine machine;
    unsigned times; /* that WMI was read */
};

static void watch(void *arg, enum fault_op op, const char *path)
{
    struct asked *asked = arg;
    asked->times += op == FAULT_READ && strcmp(path, "windows/wmi/Win32_VideoController") == 0;
}

static bool begin(struct asked *asked, const char *text)
{
    char all[8192];
    asked->times = 0;
    (void)snprintf(all, sizeof(all), HEAD "%send\n", text);
    if (!CHECK(machine_init(&asked->machine, all, "wmi")))
        return false;
    tree_library_play(&asked->machine.tree_env, asked->machine.tree, TEST_PLAYED);
    asked->machine.fault->watch = watch;
    asked->machine.fault->watch_arg = asked;
    return true;
}

/* A gather, and what the source wants to do behind it, as a lane does it. */
static int gather(struct asked *asked)
{
    struct machine *machine = &asked->machine;
    machine_step(machine, 1000);
    (void)gtel_env_now(&machine->tree_env);
    int r = machine_gather(machine);
    if (machine->is_open && machine->source->due_ns(machine->state) > 0) {
        size_t n = machine->batch.n;
        if (machine->source->tick(machine->state, &machine->registry, &machine->batch) == -ENODEV)
            machine->needs_discovery = true;
        CHECK_INT(machine->batch.n, n);
    }
    return r;
}

static double size_of(const struct asked *asked)
{
    const struct gtel_reading *reading =
        machine_find(&asked->machine, key, GTEL_M_MEMORY_TOTAL, "vram", NULL);
    return reading ? gtel_reading_number(reading) : -1;
}

static void test_size(void)
{
    struct asked asked;
    if (!begin(&asked, GPU ANSWER))
        return;
    CHECK(gtel_source_present(asked.machine.source, &asked.machine.fault->env));
    CHECK_INT(gather(&asked), 0);
    CHECK_NEAR(size_of(&asked), -1, 0); /* asked behind the gather */
    for (unsigned i = 0; i < 4; i++) {
        asked.machine.needs_discovery = i == 2;
        CHECK_INT(gather(&asked), 0);
        CHECK_NEAR(size_of(&asked), 1073741824, 0);
    }
    CHECK_INT(asked.times, 1);
    const struct gtel_device *device =
        gtel_registry_find(&asked.machine.registry, gtel_str_of(key));
    CHECK(device && device->is_present);
    CHECK(device && strcmp(device->label[GTEL_LABEL_MODEL], "HD 6450") == 0);
    CHECK(device && strcmp(device->label[GTEL_LABEL_VENDOR], "amd") == 0);
    machine_done(&asked.machine);
}

/* What the machine says, how often WMI is asked in three gathers, and the size in the end. */
static const struct {
    const char *label;
    const char *text;
    bool is_present; /* at its start */
    unsigned times;
    double want;
} cases[] = {
    {"the registry knows it",
     GPU ANSWER "call RegGetValueW {c}\\0001 HardwareInformation.qwMemorySize = 8000\n", false, 0,
     -1},
    {"the driver model knows it", GPU ANSWER "call D3DKMTQueryAdapterInfo 0 3 = 8:8000 8:0 8:0\n",
     true, 0, -1},
    {"the driver model knows that it has none",
     GPU ANSWER "call D3DKMTQueryAdapterInfo 0 3 = 8:0 8:0 8:8000\n", true, 0, -1},
    {"the driver model writes nothing", GPU ANSWER "call D3DKMTQueryAdapterInfo 0 3 = untouched\n",
     true, 1, 1073741824},
    {"no GPU of this host", GPU ANSWER "call D3DKMTQueryAdapterInfo 0 15 = 4:0x83\n", true, 0, -1},
    {"no GPU", ANSWER, false, 0, -1},
    {"it sleeps", GPU ANSWER "call SetupDiGetDevicePropertyW 0 32 = 4\n", true, 0, -1},
    {"its state is not known", GPU ANSWER "call SetupDiGetDevicePropertyW 0 32 = 9\n", true, 0, -1},
    {"it wakes and has a size",
     GPU ANSWER "call SetupDiGetDevicePropertyW 0 32 = 4\n"
                "call D3DKMTQueryAdapterInfo 0 3 = 8:0 8:0 8:8000\n"
                "at 2s\ncall SetupDiGetDevicePropertyW 0 32 = 1\n",
     true, 0, -1},
    {"it wakes",
     GPU ANSWER "call SetupDiGetDevicePropertyW 0 32 = 4\n"
                "at 2s\ncall SetupDiGetDevicePropertyW 0 32 = 1\n",
     true, 1, 1073741824},
    {"4 GiB or more", GPU WMI "| PNPDeviceID: " ID "\n| AdapterRAM: 4293918720\n", true, 1, -1},
    {"all ones", GPU WMI "| PNPDeviceID: " ID "\n| AdapterRAM: 4294967295\n", true, 1, -1},
    {"one byte less", GPU WMI "| PNPDeviceID: " ID "\n| AdapterRAM: 4293918719\n", true, 1,
     4293918719},
    {"none", GPU WMI "| PNPDeviceID: " ID "\n| AdapterRAM: 0\n", true, 1, -1},
    {"no number", GPU WMI "| PNPDeviceID: " ID "\n| AdapterRAM: -1\n", true, 1, -1},
    {"another GPU", GPU WMI "| PNPDeviceID: " ID "5\n| AdapterRAM: 1000\n", true, 1, -1},
    {"without a GPU", GPU WMI "| AdapterRAM: 1000\n", true, 1, -1},
    {"a size for the next one",
     GPU WMI "| PNPDeviceID: " ID "\n| PNPDeviceID: x\n| AdapterRAM: 1000\n", true, 1, -1},
    {"twice, of which the first counts", GPU ANSWER "| AdapterRAM: 5\n", true, 1, 1073741824},
    {"nothing", GPU WMI "| \n", true, 1, -1},
    {"no WMI", GPU, false, 0, -1},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct asked asked;
        test_label = cases[i].label;
        if (!begin(&asked, cases[i].text))
            return;
        CHECK_INT(gtel_source_present(asked.machine.source, &asked.machine.fault->env),
                  cases[i].is_present);
        for (unsigned k = 0; k < 3; k++)
            (void)gather(&asked);
        CHECK_INT(asked.times, cases[i].times);
        CHECK_NEAR(size_of(&asked), cases[i].want, 0);
        machine_done(&asked.machine);
    }
    test_label = "";
}

/* What is broken is reported until it works, and asked again when GPUs are searched for. */
static void test_broken(void)
{
    struct asked asked;
    if (!begin(&asked, GPU WMI "error windows/wmi/Win32_VideoController EIO\nat 4s\n" ANSWER))
        return;
    CHECK_INT(gather(&asked), 0);
    CHECK_INT(gather(&asked), -EIO);
    CHECK_INT(gather(&asked), -EIO);
    CHECK_INT(asked.times, 1);
    asked.machine.needs_discovery = true;
    CHECK_INT(gather(&asked), -EIO);
    CHECK_INT(gather(&asked), 0);
    CHECK_INT(asked.times, 2);
    CHECK_NEAR(size_of(&asked), 1073741824, 0);
    machine_done(&asked.machine);
}

/* Also of a GPU that WMI has no size of. */
static void test_removal(const char *text)
{
    struct asked asked;
    test_label = text;
    if (!begin(&asked, text))
        return;
    CHECK_INT(gather(&asked), 0);
    CHECK_INT(gather(&asked), 0);
    CHECK(gtel_registry_find(&asked.machine.registry, gtel_str_of(key))->is_present);
    CHECK_INT(gather(&asked), -ENODEV);
    CHECK_NEAR(size_of(&asked), -1, 0);
    CHECK_INT(gather(&asked), 0);
    CHECK(!gtel_registry_find(&asked.machine.registry, gtel_str_of(key))->is_present);
    machine_done(&asked.machine);
    test_label = "";
}

/* One outside call fails, those of the played Windows too: a size is right or absent, and back. */
static void test_walk(void)
{
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -EMFILE};
    enum { CALLS = 60, GATHERS = 6 };
    for (size_t e = 0; e < GTEL_ARRAY_LEN(errors); e++)
        for (uint64_t at = 1; at <= CALLS; at++) {
            struct asked asked;
            char label[64];
            (void)snprintf(label, sizeof(label), "call %u fails with %d", (unsigned)at, errors[e]);
            test_label = label;
            if (!begin(&asked, GPU ANSWER))
                return;
            asked.machine.fault->has_players = true;
            env_fault_arm(asked.machine.fault, at, errors[e]);
            for (unsigned i = 0; i < GATHERS; i++) {
                asked.machine.needs_discovery = asked.machine.needs_discovery || i % 2 == 0;
                if (gather(&asked) < 0 && !asked.machine.is_open)
                    machine_close(&asked.machine);
                CHECK(size_of(&asked) < 0 || size_of(&asked) == 1073741824);
            }
            CHECK_NEAR(size_of(&asked), 1073741824, 0);
            machine_close(&asked.machine);
            machine_done(&asked.machine);
        }
    test_label = "";
}

int main(void)
{
    test_size();
    test_cases();
    test_broken();
    test_removal(GPU ANSWER GONE);
    test_removal(GPU WMI "| \n" GONE);
    test_walk();
    return test_result();
}
