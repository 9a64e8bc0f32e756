/* SPDX-License-Identifier: MIT */
/*
 * Lanes with real helper processes: several contexts in several threads, what helpers inherit,
 * helpers that are missing, of another version, or not ours at all, and libraries and cards that go
 * and come.
 *
 *     test_lanes GTEL MACHINE.tree SILENT NOISE OTHER STEERS HALF CLIENTS.tree
 *
 * The five before the last are helpers that are not ours (fakes/odd_helper.c).
 */
#include "harness/helper_process.h"
#include "harness/lane_machine.h"
#include "harness/system.h"
#include "harness/test.h"
#include "harness/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

static const uint64_t second_ns = 1000000000u;

/* A daemon has files and sockets open and blocks signals; its helpers inherit none of that. */
static void test_inherited(const char *gtel, const char *tree)
{
    static const char *const lanes[] = {"nvml", "kernel"};
    static struct lane_machine machine;
    test_label = "inherited";
    if (!CHECK(helper_gifts_open()))
        return;
    if (lane_machine_start(&machine, gtel, tree) && CHECK(lane_machine_settle(&machine))) {
        for (size_t i = 0; i < GTEL_ARRAY_LEN(lanes); i++) {
            CHECK(helper_has_way(helper_of(lanes[i])));
            CHECK(!helper_has_gift(helper_of(lanes[i])));
        }
        lane_machine_stop(&machine);
    }
    CHECK(helper_gifts_close());
}

/* The machine with text before it, or behind it, in a file of its own, *path. */
static bool write_changed(const char *tree, const char *before, const char *behind, char *path)
{
    static const char last[] = "end\n";
    size_t n = 0;
    char *text = read_whole_file(tree, &n);
    FILE *file = system_scratch_file(path) ? fopen(path, "wb") : NULL;
    bool is_ok = text && file && n > strlen(last);
    if (is_ok) {
        n -= strlen(last);
        is_ok = fputs(before, file) >= 0 && fwrite(text, 1, n, file) == n &&
                fputs(behind, file) >= 0 && fputs(last, file) >= 0;
    }
    if (file)
        is_ok = fclose(file) == 0 && is_ok;
    free(text);
    return CHECK(is_ok);
}

/* Cards, drivers and the library appear after the start: no helper before, both lanes then. */
static void test_appearing(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    char path[SYSTEM_PATH_MAX];
    test_label = "appearing";
    if (!write_changed(tree, "at 1s\n", "", path) || !lane_machine_start(&machine, gtel, path))
        return;
    (void)lane_machine_gather(&machine);
    CHECK(machine.view.readings[GTEL_M_SELF_GPUS] > 0);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 0, 0);
    CHECK(helper_of("--lane") == 0);
    CHECK(lane_machine_settle(&machine));
    (void)lane_machine_gather(&machine); /* on a busy machine the answer of one lane came late */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 2, 0);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 0, 0);
    CHECK(strstr(machine.view.log, "no GPU found") != NULL);
    CHECK(strstr(machine.view.log, "GPUs found: 2") != NULL);
    lane_machine_stop(&machine);
    system_remove_file(path);
}

/* The driver is unloaded and the library removed while the helper runs. */
static void test_vanishing(const char *gtel, const char *tree)
{
    static const char change[] = "at 2s\ncall nvmlInit_v2 = !9\n"
                                 "call nvmlDeviceGetUtilizationRates 0 = !9\n"
                                 "library libnvidia-ml.so.1 gone\n";
    static struct lane_machine machine;
    char path[SYSTEM_PATH_MAX];
    test_label = "vanishing";
    if (!write_changed(tree, "", change, path) || !lane_machine_start(&machine, gtel, path))
        return;
    CHECK(lane_machine_settle(&machine));
    int gathers_without = 0;
    for (int i = 0; i < 100 && gathers_without < 5; i++) {
        CHECK(lane_machine_gather(&machine) < second_ns);
        CHECK(lane_machine_has_kernel(&machine)); /* the other lane loses nothing */
        gathers_without += lane_machine_has_nvml(&machine) ? 0 : 1;
        lane_machine_nap(50);
    }
    CHECK_INT(gathers_without, 5);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 1, 0);
    CHECK(machine.view.last[GTEL_M_SELF_ERRORS] >= 4); /* counted in each gather */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANES_LATE], 0, 0);
    CHECK(strstr(machine.view.log, "the kernel driver is not loaded") != NULL);
    CHECK(helper_of("nvml") > 0); /* it waits there for the library */
    lane_machine_stop(&machine);
    system_remove_file(path);
}

/* What a lane knew that hangs since does not stand against what another one knows now. */
static void test_hanging(const char *gtel, const char *tree)
{
    static const char change[] = "at 5s\ngone sys/class/drm/card0\n"
                                 "gone sys/devices/pci0000:00/0000:03:00.0\n";
    static struct lane_machine machine;
    char path[SYSTEM_PATH_MAX];
    test_label = "hanging";
    if (!write_changed(tree, "", change, path) || !lane_machine_start(&machine, gtel, path))
        return;
    for (int i = 0; i < 60 && machine.view.readings[GTEL_M_SELF_PROCESSES_VISIBLE] == 0; i++) {
        (void)lane_machine_gather(&machine);
        lane_machine_nap(50);
    }
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 2, 0);
    uint64_t pid = helper_of("clients");
    if (CHECK(pid > 0) && CHECK(helper_halt(pid))) {
        for (int i = 0; i < 160 && machine.view.last[GTEL_M_SELF_GPUS] > 1; i++) {
            (void)lane_machine_gather(&machine);
            lane_machine_nap(50);
        }
        CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 1, 0);
        CHECK(helper_go_on(pid));
    }
    lane_machine_stop(&machine);
    system_remove_file(path);
}

static const struct {
    const char *label;
    const char *helper; /* NULL: the next word */
    const char *message;
} bad_helpers[] = {
    {"missing", "/nonexistent/gtel", "cannot start the helper /nonexistent/gtel"},
    {"not ours", NULL, "ended without a greeting"},
    {"talks nonsense", NULL, "protocol error"},
    {"other version", NULL, "is version 9.8.7 and this is version " GTEL_TEST_VERSION},
    {"steers a terminal", NULL, "is version ?[31m?? and this"},
};

static void test_bad_helpers(const char *tree, char **helpers)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bad_helpers); i++) {
        static struct lane_machine machine;
        const char *helper = bad_helpers[i].helper ? bad_helpers[i].helper : *helpers++;
        test_label = bad_helpers[i].label;
        if (!lane_machine_start(&machine, helper, tree))
            return;
        for (int k = 0; k < 4; k++) {
            CHECK(lane_machine_gather(&machine) < second_ns);
            lane_machine_nap(50);
        }
        if (!CHECK(strstr(machine.view.log, bad_helpers[i].message) != NULL))
            printf("    %s\n", machine.view.log);
        CHECK(machine.view.readings[GTEL_M_SELF_GPUS] > 0); /* it runs on, and says so */
        CHECK_INT(machine.view.logs, 2);                    /* once for each of the two lanes */
        lane_machine_stop(&machine);
    }
}

/* A helper that never says hello: it is waited for as long as one that does not answer. */
static void test_half_hello(const char *tree, const char *helper)
{
    static struct lane_machine machine;
    static const uint64_t deadline_ns = 10000000;
    uint64_t shortest_ns = UINT64_MAX;
    char error[64];
    test_label = "half a hello";
    if (!lane_machine_start(&machine, helper, tree))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_DEADLINE, GTEL_STR("10ms"), error, sizeof(error)),
        0);
    for (int i = 0; i < 20; i++) {
        uint64_t spent_ns = lane_machine_gather(&machine);
        CHECK(i >= 10 || spent_ns >= deadline_ns);
        shortest_ns = spent_ns < shortest_ns ? spent_ns : shortest_ns;
    }
    CHECK(shortest_ns < deadline_ns);
    CHECK(helper_of("nvml") > 0); /* and not killed */
    lane_machine_stop(&machine);
}

static void *run_thread(void *arg)
{
    char **argv = arg;
    struct lane_machine *machine = calloc(1, sizeof(*machine));
    if (!machine)
        return NULL;
    bool is_ok = lane_machine_start(machine, argv[1], argv[2]) && lane_machine_settle(machine);
    for (int i = 0; i < 5 && is_ok; i++) {
        (void)lane_machine_gather(machine);
        is_ok = lane_machine_has_kernel(machine) && lane_machine_has_nvml(machine);
        lane_machine_nap(20);
    }
    lane_machine_stop(machine);
    free(machine);
    return is_ok ? arg : NULL;
}

/* The program alone decides: counters of the checks are not shared between threads. */
static void test_threads(char **argv)
{
    test_label = "threads";
    CHECK_INT(system_run_threads(THREADS, run_thread, argv), THREADS);
}

int main(int argc, char **argv)
{
    if (argc != 9) {
        fprintf(stderr, "usage: test_lanes GTEL MACHINE.tree SILENT NOISE OTHER STEERS HALF "
                        "CLIENTS.tree\n");
        return 2;
    }
    test_inherited(argv[1], argv[2]);
    test_appearing(argv[1], argv[2]);
    test_vanishing(argv[1], argv[2]);
    test_hanging(argv[1], argv[8]);
    test_bad_helpers(argv[2], argv + 3);
    test_half_hello(argv[2], argv[7]);
    test_threads(argv);
    return test_result();
}
