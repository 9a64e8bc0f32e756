/* SPDX-License-Identifier: MIT */
/* Source amd_tool: when it runs a tool, what it reports of it, and what is left of it. */
#include "harness/played_tool.h"
#include "harness/source_harness.h"
#include "harness/source_lane.h"
#include "harness/test.h"
#include "harness/tree_files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PCI(driver, addr)                                                                          \
    "link sys/bus/pci/drivers/" driver "/" addr " -> ../../../../devices/pci0000:00/" addr "\n"
#define NODE(addr) "sys/devices/pci0000:00/" addr
#define AWAKE(addr) "file " NODE(addr) "/power/runtime_status\n| active\n"
#define ASLEEP(addr) "file " NODE(addr) "/power/runtime_status\n| suspended\n"
#define GPU0 "0000:03:00.0"
#define GPU1 "0000:07:00.0"
#define TWO PCI("amdgpu", GPU0) AWAKE(GPU0) PCI("amdgpu", GPU1) AWAKE(GPU1)

/* What plays beside the recorded files: real children, whose time is the machine's, faster. */
static struct gtel_env real;
static struct machine *playing;
static unsigned starts;

static int child_start(void *arg, const char *const *args)
{
    (void)arg;
    starts++;
    return gtel_env_child_start(&real, args);
}

static int64_t child_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns)
{
    (void)arg;
    (void)wait_ns;
    int64_t got = real.ops->child_read(real.arg, handle, buf, n, 10000000);
    if (got == -EAGAIN)
        machine_step(playing, 50);
    return got;
}

static int child_end(void *arg, int handle)
{
    (void)arg;
    return real.ops->child_end(real.arg, handle);
}

struct play {
    struct machine machine;
    struct gtel_env_ops ops;
    struct played_tools tools;
};

static void set_tool(struct play *play, const char *name)
{
    char path[TOOL_PATH_MAX];
    char error[100];
    CHECK_INT(gtel_option_set(&play->machine.options, GTEL_O_AMD_TOOL,
                              gtel_str_of(played_tool(&play->tools, name, path)), error,
                              sizeof(error)),
              0);
}

static bool begin(struct play *play, const char *text, const char *tool)
{
    memset(play, 0, sizeof(*play));
    starts = 0;
    if (!CHECK(machine_init(&play->machine, text, "amd_tool")) ||
        !CHECK(played_tools_init(&play->tools)))
        return false;
    playing = &play->machine;
    play->ops = *play->machine.tree_env.ops;
    play->ops.child_start = child_start;
    play->ops.child_read = child_read;
    play->ops.child_end = child_end;
    play->machine.tree_env.ops = &play->ops;
    set_tool(play, tool);
    return true;
}

static void end(struct play *play)
{
    machine_close(&play->machine);
    CHECK_INT(play->machine.fault->open_files, 0);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    played_tools_done(&play->tools);
    machine_done(&play->machine);
}

/* A text of the corpus: what the tool says from now on. */
static void says(struct play *play, const char *tool, const char *word, const char *how,
                 const char *file)
{
    char path[512];
    size_t n = 0;
    (void)snprintf(path, sizeof(path), TEST_DIR "/fuzz/corpus/amd_tool/%s", file);
    char *text = read_whole_file(path, &n);
    if (CHECK(text != NULL))
        played_tool_says(&play->tools, tool, word, how, (struct gtel_str){text, n});
    free(text);
}

static void plays(struct play *play, const char *generation)
{
    char file[64];
    (void)snprintf(file, sizeof(file), "%s-static", generation);
    says(play, "amd-smi", "static", "0 plain", file);
    (void)snprintf(file, sizeof(file), "%s-metric", generation);
    says(play, "amd-smi", "metric", "0 plain", file);
}

/* Until the run that is due, or in progress, has ended; as the lane calls tick(). */
static void settle(struct play *play)
{
    struct machine *machine = &play->machine;
    for (int i = 0; i < 1000; i++) {
        uint64_t due = machine->source->due_ns(machine->state);
        uint64_t now = gtel_env_now(&machine->tree_env);
        if (due == 0 || due > now + 100000000)
            return;
        if (due > now)
            machine_step(machine, (due - now) / 1000000 + 1);
        CHECK_INT(machine->source->tick(machine->state, &machine->registry, &machine->batch), 0);
    }
    CHECK(false); /* the run does not end */
}

static double value(const struct play *play, const char *gpu, enum gtel_metric metric,
                    const char *dim)
{
    const struct gtel_reading *got = machine_find(&play->machine, gpu, metric, dim, NULL);
    return got ? gtel_reading_number(got) : -1;
}

static size_t findings(struct play *play, const char *what, const char *why)
{
    struct gtel_findings found = {0};
    size_t n;
    play->machine.source->diagnose(play->machine.state, &play->machine.registry, &found);
    n = found.n;
    if (n > 0 && what) {
        struct gtel_str text = found.finding[0].what;
        CHECK(gtel_str_ends(text, gtel_str_of(what)));
        CHECK(gtel_str_starts(found.finding[0].why, gtel_str_of(why)));
    }
    gtel_findings_done(&found);
    return n;
}

static void test_values(void)
{
    struct play play;
    if (!begin(&play, TWO "end\n", "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0); /* the first one waits */
    CHECK_INT(starts, 2);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.12, 1e-9);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_POWER, "pkg"), 88, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_POWER_LIMIT, "pkg"), 350, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_TEMPERATURE, "junction"), 52, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_TEMPERATURE_CRITICAL, "junction"), 110, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_ENERGY, "pkg"), -1, 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), 1, 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_POWER, "pkg"), -1, 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    /* The headlines come of these names. */
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_POWER, NULL), 88, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_TEMPERATURE, NULL), 44, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_FREQUENCY, NULL), 1302e6, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_MEMORY_USED, NULL), 614.0 * 1048576, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_THROTTLED, NULL), -1, 0);
    const struct gtel_device *device = gtel_registry_find(&play.machine.registry, GTEL_STR(GPU0));
    if (CHECK(device != NULL)) {
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), "Navi 31 [Radeon RX 7900 XTX]");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_DRIVER]), "amdgpu");
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_VENDOR]), "amd");
    }
    CHECK_INT(findings(&play, NULL, NULL), 0);
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 0);
    end(&play);
}

/* One run each 10 s however often it is asked; values are repeated, counters are not. */
static void test_pace(void)
{
    struct play play;
    if (!begin(&play, TWO "end\n", "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    uint64_t first = play.machine.batch.reading[play.machine.batch.n - 1].t_ns;
    for (int i = 0; i < 9; i++) {
        machine_step(&play.machine, 500);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.12, 1e-9);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_ERROR_COUNT, "ecc"), -1, 0);
        const struct gtel_reading *busy =
            machine_find(&play.machine, GPU0, GTEL_M_GPU_BUSY, NULL, NULL);
        CHECK(busy && busy->t_ns <= first); /* as old as they are */
    }
    CHECK_INT(starts, 2);
    says(&play, "amd-smi", "metric", "0 plain", "smi-6.0-metric");
    machine_step(&play.machine, 10000);
    settle(&play);
    CHECK_INT(starts, 3); /* limits and names are known */
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.03, 1e-9);
    /* Nothing calls it for a minute: old values are not repeated. */
    machine_step(&play.machine, 60000);
    says(&play, "amd-smi", "metric", "0 hang", "smi-6.0-metric");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
    settle(&play); /* the one that hangs is killed */
    end(&play);
}

/* All generations through a child, behind a warning and a flood of errors. */
static void test_generations(void)
{
    static const struct {
        const char *tool;
        const char *generation;
        const char *gpu;
        double busy;
    } cases[] = {
        {"amd-smi", "smi-5.7", "0000:0b:00.0", 0.64},
        {"amd-smi", "smi-6.0", "0000:83:00.0", 0.03},
        {"amd-smi", "smi-6.2", GPU0, 0.12},
        {"amd-smi", "smi-7", "0000:05:00.0", 0.77},
        {"amd-smi", "smi-gim", "0000:1b:00.0", 0.09},
        {"rocm-smi", "rocm-4.3", "0000:2d:00.0", 0.05},
        {"rocm-smi", "rocm-5.7", "0000:c6:00.0", 0.99},
        {"rocm-smi", "rocm-6.0", "0000:05:00.0", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct play play;
        char text[512];
        test_label = cases[i].generation;
        (void)snprintf(text, sizeof(text),
                       "link sys/bus/pci/drivers/%s/%s -> ../../../../devices/x\n"
                       "file sys/devices/x/power/runtime_status\n| active\nend\n",
                       i == 4 ? "gim" : "amdgpu", cases[i].gpu);
        if (!begin(&play, text, cases[i].tool))
            return;
        if (strcmp(cases[i].tool, "amd-smi") == 0)
            plays(&play, cases[i].generation);
        else
            says(&play, "rocm-smi", "showuse", "0 stderr", cases[i].generation);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(value(&play, cases[i].gpu, GTEL_M_GPU_BUSY, NULL), cases[i].busy, 1e-9);
        CHECK_INT(play.machine.registry.n, 1); /* GPUs of another driver are not taken */
        end(&play);
    }
    test_label = "";
}

/* Several devices of the tool are one GPU: what is of the whole comes once, the rest not at all. */
static void test_partitions(void)
{
    struct play play;
    const char *gpu = "0000:05:00.0";
    if (!begin(&play, PCI("amdgpu", "0000:05:00.0") AWAKE("0000:05:00.0") "end\n", "rocm-smi"))
        return;
    says(&play, "rocm-smi", "showuse", "0 plain", "rocm-6.1.2-cpx");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(play.machine.registry.n, 1);
    CHECK_NEAR(value(&play, gpu, GTEL_M_POWER, "pkg"), 240, 0);
    CHECK_NEAR(value(&play, gpu, GTEL_M_TEMPERATURE, "junction"), 48, 0);
    CHECK_NEAR(value(&play, gpu, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(value(&play, gpu, GTEL_M_MEMORY_TOTAL, "vram"), -1, 0);
    CHECK_NEAR(value(&play, gpu, GTEL_M_FREQUENCY_ACTUAL, "graphics"), -1, 0);
    CHECK_INT(findings(&play, "partitions", "a tool cannot say"), 1);
    end(&play);
}

static void test_failures(void)
{
    static const struct {
        const char *how;
        const char *file;
        const char *why;
    } cases[] = {
        {"0 hang", "smi-6.2-metric", "did not end within 5 s"},
        {"0 close", "smi-6.2-metric", "did not end within 5 s"},
        {"0 many", "smi-6.2-metric", "more than 2 MiB of output"},
        {"1 plain", "rocm-concise", "no GPU in 63 bytes of output, exit status 1"},
        {"0 plain", "smi-error", "it says: Command 'metrics' is invalid."},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct play play;
        test_label = cases[i].why;
        if (!begin(&play, TWO "end\n", "amd-smi"))
            return;
        plays(&play, "smi-6.2");
        says(&play, "amd-smi", "metric", cases[i].how, cases[i].file);
        CHECK_INT(machine_gather(&play.machine), 0);
        settle(&play);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_AWAKE, NULL), 1, 0);
        CHECK_INT(findings(&play, "/amd-smi", cases[i].why), 1);
        CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 1);
        unsigned before = starts;
        for (int s = 0; s < 9; s++) { /* a pause */
            machine_step(&play.machine, 1000);
            CHECK_INT(machine_gather(&play.machine), 0);
        }
        CHECK_INT(starts, before);
        plays(&play, "smi-6.2");
        machine_step(&play.machine, 2000);
        CHECK_INT(machine_gather(&play.machine), 0);
        settle(&play);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.12, 1e-9);
        CHECK_INT(findings(&play, NULL, NULL), 0);
        CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 1);
        CHECK_INT(play.machine.fault->logs[GTEL_LOG_INFO], 1);
        end(&play);
    }
    test_label = "";
}

/* While a GPU sleeps, nothing runs: a tool asks, and so wakes, all of them. */
static void test_sleep(void)
{
    struct play play;
    if (!begin(&play, TWO "at 5s\n" ASLEEP(GPU1) "at 60s\n" AWAKE(GPU1) "end\n", "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(starts, 2);
    machine_step(&play.machine, 5000);
    for (int s = 5; s < 55; s++) {
        machine_step(&play.machine, 1000);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_AWAKE, NULL), 0, 0);
        CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), -1, 0);
        CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    }
    CHECK_INT(starts, 2);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_INT(findings(&play, "runtime_status", "a GPU sleeps"), 1);
    machine_step(&play.machine, 20000);
    CHECK_INT(machine_gather(&play.machine), 0);
    settle(&play);
    CHECK_INT(starts, 3);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), 1, 0);
    end(&play);
}

/* Where one GPU has a file of the driver's, or none is bound, there is nothing to do. */
static void test_present(void)
{
    static const struct {
        const char *label;
        const char *text;
        bool is_present;
    } cases[] = {
        {"no GPU", "end\n", false},
        {"without files", TWO "end\n", true},
        {"another driver of AMD", PCI("gim", GPU0) "end\n", true},
        {"a driver that hands it on", PCI("vfio-pci", GPU0) "end\n", false},
        {"the driver alone", "file sys/bus/pci/drivers/amdgpu/bind\n|\nend\n", false},
        {"gpu_metrics", TWO "file " NODE(GPU0) "/gpu_metrics\n| x\nend\n", false},
        {"hwmon", TWO "file " NODE(GPU1) "/hwmon/hwmon0/name\n| amdgpu\nend\n", false},
        {"use", TWO "file " NODE(GPU1) "/gpu_busy_percent\n| 1\nend\n", false},
        {"memory", TWO "file " NODE(GPU1) "/mem_info_vram_total\n| 1\nend\n", false},
        {"WSL without a tool", "file dev/dxg\n|\nend\n", false},
        {"WSL", "file dev/dxg\n|\nfile opt/rocm/bin/amd-smi\n|\nend\n", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct play play;
        test_label = cases[i].label;
        if (!begin(&play, cases[i].text, "amd-smi"))
            return;
        CHECK(gtel_source_present(play.machine.source, &play.machine.fault->env) ==
              cases[i].is_present);
        if (!cases[i].is_present)
            CHECK_INT(machine_gather(&play.machine), -ENOENT);
        CHECK_INT(starts, 0);
        end(&play);
    }
    test_label = "";
}

/* Beside the files of the driver it costs nothing: not one call until the next Rescan. */
static void test_quiet(void)
{
    static const char *const texts[] = {TWO "file " NODE(GPU0) "/gpu_metrics\n| x\nend\n", "end\n"};
    for (size_t i = 0; i < 2; i++) {
        struct lane lane;
        if (!CHECK(lane_init_in(&lane, "amd_tool", texts[i], "")))
            return;
        lane_gather(&lane);
        uint64_t calls = lane.fault->calls;
        for (int s = 1; s < 29; s++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK_INT(lane.fault->calls, calls);
        CHECK_INT(lane.group.batch.n, 0);
        CHECK_INT(gtel_group_due(&lane.group), 0);
        lane_done(&lane);
    }
}

/* In WSL the tool alone knows the GPUs. */
static void test_wsl(void)
{
    struct play play;
    if (!begin(&play, "file dev/dxg\n|\nfile usr/bin/amd-smi\n|\nend\n", "amd-smi"))
        return;
    plays(&play, "smi-7");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, "0000:05:00.0", GTEL_M_GPU_BUSY, NULL), 0.77, 1e-9);
    CHECK_NEAR(value(&play, "0000:05:00.0", GTEL_M_GPU_AWAKE, NULL), -1, 0);
    play.machine.needs_discovery = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, "0000:05:00.0", GTEL_M_GPU_BUSY, NULL), 0.77, 1e-9);
    end(&play);
}

/* No tool is there; a path that is none; the files of the driver come. */
static void test_none(void)
{
    struct play play;
    char error[100];
    if (!begin(&play, TWO "at 5s\nfile " NODE(GPU0) "/gpu_metrics\n| x\nend\n", "amd-smi"))
        return;
    CHECK_INT(gtel_option_set(&play.machine.options, GTEL_O_AMD_TOOL, GTEL_STR("bin/amd-smi"),
                              error, sizeof(error)),
              -EINVAL);
    CHECK_INT(gtel_option_set(&play.machine.options, GTEL_O_AMD_TOOL, GTEL_STR_NONE, error,
                              sizeof(error)),
              0);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(starts, 0);
    CHECK_INT(findings(&play, "amd-smi, rocm-smi", "not found"), 1);
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 0); /* not here: no failure */
    machine_step(&play.machine, 5000);
    play.machine.needs_discovery = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(play.machine.batch.n, 0);
    CHECK_INT(play.machine.source->due_ns(play.machine.state), 0);
    const struct gtel_device *device = gtel_registry_find(&play.machine.registry, GTEL_STR(GPU0));
    CHECK(device && device->is_present); /* source amdgpu has it */
    end(&play);
}

/* Both GPUs were read; the first is gone now, so that the tool counts the other as 0. */
static bool begin_renumbered(struct play *play)
{
    static const char one[] = "[{\"gpu\": 0, \"usage\": {\"gfx_activity\": 42}}]";
    if (!begin(play, TWO "end\n", "amd-smi"))
        return false;
    plays(play, "smi-6.2");
    CHECK_INT(machine_gather(&play->machine), 0);
    played_tool_says(&play->tools, "amd-smi", "metric", "0 plain", gtel_str_of(one));
    return true;
}

/* The tool is asked again which is which. */
static void test_numbers(void)
{
    static const char its_name[] = "[{\"gpu\": 0, \"bus\": {\"bdf\": \"" GPU1 "\"}}]";
    struct play play;
    if (!begin_renumbered(&play))
        return;
    played_tool_says(&play.tools, "amd-smi", "static", "0 plain", gtel_str_of(its_name));
    machine_step(&play.machine, 10000);
    settle(&play);
    CHECK_INT(starts, 5); /* metric, static, metric */
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_POWER_LIMIT, NULL), -1, 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), 0.42, 1e-9);
    end(&play);
}

/* The same while the tool does not say which is which: a number may be another GPU's by now. */
static void test_unknown_numbers(void)
{
    struct play play;
    if (!begin_renumbered(&play))
        return;
    played_tool_says(&play.tools, "amd-smi", "static", "1 plain", GTEL_STR(""));
    machine_step(&play.machine, 10000);
    settle(&play);
    (void)machine_gather(&play.machine);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), -1, 0);
    end(&play);
}

/* One that goes away is lost; one that comes is read. */
static void test_changes(void)
{
    struct play play;
    if (!begin(&play, TWO "at 5s\ngone sys/bus/pci/drivers/amdgpu/" GPU1 "\nend\n", "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    machine_step(&play.machine, 5000);
    play.machine.needs_discovery = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    const struct gtel_device *device = gtel_registry_find(&play.machine.registry, GTEL_STR(GPU1));
    CHECK(device && !device->is_present);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.12, 1e-9);
    end(&play);
}

/* So is the only one; where another source has it now, it is there. */
static void test_last(void)
{
    struct play play;
    const char *text =
        PCI("amdgpu", GPU0) AWAKE(GPU0) "at 5s\ngone sys/bus/pci/drivers/amdgpu/" GPU0 "\nend\n";
    if (!begin(&play, text, "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    machine_step(&play.machine, 5000);
    play.machine.needs_discovery = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    const struct gtel_device *device = gtel_registry_find(&play.machine.registry, GTEL_STR(GPU0));
    CHECK(device && !device->is_present);
    end(&play);
}

/* Removed and added again between two discoveries: what was kept open is of the one before. */
static void test_return(void)
{
    struct play play;
    const char *text =
        PCI("amdgpu", GPU0) AWAKE(GPU0) "at 5s\ngone " NODE(GPU0) "\n" AWAKE(GPU0) "end\n";
    if (!begin(&play, text, "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    machine_step(&play.machine, 5000);
    for (int s = 0; s < 3; s++) {
        (void)machine_gather(&play.machine); /* -ENODEV makes discovery due */
        machine_step(&play.machine, 1000);
    }
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_AWAKE, NULL), 1, 0);
    end(&play);
}

/* While drivers cannot be listed, what is known stays; the list of another driver says nothing. */
static void test_refused_list(void)
{
    struct play play;
    if (!begin(&play,
               TWO "file sys/bus/pci/drivers/gim/bind\n|\nat 5s\n"
                   "refuse sys/bus/pci/drivers/amdgpu EACCES\nend\n",
               "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(machine_gather(&play.machine), 0);
    machine_step(&play.machine, 5000);
    play.machine.needs_discovery = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    const struct gtel_device *device = gtel_registry_find(&play.machine.registry, GTEL_STR(GPU0));
    CHECK(device && device->is_present);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), 0.12, 1e-9);
    end(&play);
}

/* As many GPUs as there may be, and one more of the other driver. */
static void test_many(void)
{
    enum { MOST = 64 };
    static char text[16384];
    struct play play;
    size_t n = 0;
    for (unsigned i = 0; i <= MOST; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "link sys/bus/pci/drivers/%s/0000:%02x:00.0 -> ../../x\n",
                              i < MOST ? "amdgpu" : "gim", i);
    (void)snprintf(text + n, sizeof(text) - n, "end\n");
    if (!begin(&play, text, "amd-smi"))
        return;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(play.machine.registry.n, MOST);
    CHECK(gtel_registry_find(&play.machine.registry, GTEL_STR("0000:3f:00.0")) != NULL);
    end(&play);
}

/* With the option Wake a tool runs while a GPU sleeps, too. */
static void test_may_wake(void)
{
    struct play play;
    char error[100];
    if (!begin(&play, PCI("amdgpu", GPU0) AWAKE(GPU0) PCI("amdgpu", GPU1) ASLEEP(GPU1) "end\n",
               "amd-smi"))
        return;
    plays(&play, "smi-6.2");
    CHECK_INT(gtel_option_set(&play.machine.options, GTEL_O_WAKE, GTEL_STR("always"), error,
                              sizeof(error)),
              0);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(starts, 2);
    CHECK_NEAR(value(&play, GPU1, GTEL_M_GPU_BUSY, NULL), 1, 0);
    CHECK_INT(findings(&play, NULL, NULL), 0);
    end(&play);
}

/* The last GPU goes while a run hangs: it is ended, and nothing is due any more. */
static void test_run_of_none(void)
{
    struct play play;
    const char *text =
        PCI("amdgpu", GPU0) AWAKE(GPU0) "at 10s\ngone sys/bus/pci/drivers/amdgpu/" GPU0 "\nend\n";
    if (!begin(&play, text, "amd-smi"))
        return;
    says(&play, "amd-smi", "static", "0 hang", "smi-6.2-static");
    CHECK_INT(machine_gather(&play.machine), 0); /* waits 4 s for the first run */
    CHECK_INT(starts, 1);
    CHECK(waitpid(-1, NULL, WNOHANG) == 0);
    machine_step(&play.machine, 10000);
    CHECK_INT(play.machine.source->discover(play.machine.state, &play.machine.registry), 0);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    CHECK_INT(play.machine.source->due_ns(play.machine.state), 0);
    end(&play);
}

/* Two devices of the tool with one address are parts of one GPU. */
static void test_one_address(void)
{
    static const char names[] = "[{\"gpu\": 0, \"bus\": {\"bdf\": \"" GPU0
                                "\"}}, {\"gpu\": 1, \"bus\": {\"bdf\": \"" GPU0 "\"}}]";
    static const char values[] = "[{\"gpu\": 0, \"usage\": {\"gfx_activity\": 42}}, "
                                 "{\"gpu\": 1, \"usage\": {\"gfx_activity\": 10}}]";
    struct play play;
    if (!begin(&play, TWO "end\n", "amd-smi"))
        return;
    played_tool_says(&play.tools, "amd-smi", "static", "0 plain", gtel_str_of(names));
    played_tool_says(&play.tools, "amd-smi", "metric", "0 plain", gtel_str_of(values));
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GPU0, GTEL_M_GPU_BUSY, NULL), -1, 0);
    CHECK_INT(findings(&play, "partitions", "a tool cannot say"), 1);
    end(&play);
}

/* A tool that fails again and again is tried less and less often: after 10 s, 20 s, 40 s. */
static void test_pauses(void)
{
    static const unsigned want[] = {0, 10, 30, 70};
    struct play play;
    size_t n = 0;
    if (!begin(&play, TWO "end\n", "amd-smi"))
        return;
    says(&play, "amd-smi", "static", "1 plain", "rocm-concise");
    for (unsigned t = 0; t < 100; t++) {
        unsigned before = starts;
        CHECK_INT(machine_gather(&play.machine), 0);
        settle(&play);
        CHECK(starts <= before + 1);
        if (starts > before && CHECK(n < GTEL_ARRAY_LEN(want)))
            CHECK_INT(t, want[n++]);
        machine_step(&play.machine, 1000);
    }
    CHECK_INT(n, GTEL_ARRAY_LEN(want));
    end(&play);
}

/* Each outside call fails in turn: nothing wrong is reported, and all is back later. */
static void test_walk(void)
{
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -ENODEV, -EMFILE};
    uint64_t calls = 0;
    for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
        for (uint64_t at = 0; at <= calls; at++) {
            struct play play;
            char label[64];
            (void)snprintf(label, sizeof(label), "call %u fails with %d", (unsigned)at, errors[e]);
            test_label = label;
            if (!begin(&play, TWO "end\n", "amd-smi"))
                return;
            plays(&play, "smi-6.2");
            env_fault_arm(play.machine.fault, at, errors[e]);
            double busy = -1;
            for (int i = 0; i < 8 && busy < 0; i++) {
                play.machine.needs_discovery = true;
                if (machine_gather(&play.machine) == 0) {
                    settle(&play);
                    (void)machine_gather(&play.machine);
                }
                busy = value(&play, GPU0, GTEL_M_GPU_BUSY, NULL);
                double power = value(&play, GPU0, GTEL_M_POWER, "pkg");
                CHECK(busy < 0 || (busy > 0.1199 && busy < 0.1201));
                CHECK(power < 0 || (power > 87.9 && power < 88.1));
                calls = at == 0 ? play.machine.fault->calls : calls;
                machine_step(&play.machine, 10000);
            }
            CHECK(busy > 0);
            end(&play);
        }
    CHECK(calls > 10);
    test_label = "";
}

int main(int argc, char **argv)
{
    (void)argv;
    if (!CHECK(gtel_env_posix_init("/", &real) == 0))
        return 1;
    if (argc > 1) {
        test_walk();
    } else {
        test_values();
        test_pace();
        test_generations();
        test_partitions();
        test_failures();
        test_sleep();
        test_present();
        test_quiet();
        test_wsl();
        test_none();
        test_numbers();
        test_unknown_numbers();
        test_changes();
        test_last();
        test_return();
        test_refused_list();
        test_many();
        test_may_wake();
        test_run_of_none();
        test_one_address();
        test_pauses();
    }
    gtel_env_posix_done(&real);
    return test_result();
}
