/* SPDX-License-Identifier: MIT */
/*
 * Lanes with real helper processes: several contexts in several threads, what helpers inherit,
 * helpers that are missing, of another version, or not ours at all, and libraries and cards that go
 * and come.
 *
 *     test_lanes GTEL MACHINE.tree
 */
#include "harness/helper_process.h"
#include "harness/lane_machine.h"
#include "harness/test.h"
#include "harness/whole_file.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LANES_MAX = 8 };

static const uint64_t second_ns = 1000000000u;

/* The signals that a process's first thread blocks; all where that is not known. */
static uint64_t blocked_by(uint64_t pid)
{
    char path[64];
    uint64_t mask = UINT64_MAX;
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", pid);
    size_t n = 0;
    char *text = read_whole_file(path, &n);
    struct gtel_str rest = {text, text ? n : 0};
    struct gtel_str line;
    while (gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, GTEL_STR("SigBlk:")))
            (void)gtel_str_hex(gtel_str_trim(gtel_str_skip(line, 7)), &mask);
    free(text);
    return mask;
}

/* A daemon's threads block signals; its helpers do not inherit that. */
static void test_mask(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    sigset_t all;
    sigset_t before;
    test_label = "signal mask";
    (void)sigfillset(&all);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
    bool is_ready =
        lane_machine_start(&machine, gtel, tree) && CHECK(lane_machine_settle(&machine));
    CHECK_INT(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    if (!is_ready)
        return;
    CHECK_INT(blocked_by(helper_of("nvml")), 0);
    CHECK_INT(blocked_by(helper_of("kernel")), 0);
    lane_machine_stop(&machine);
}

/* A daemon has files and sockets open; its helpers get none of them. */
static void test_files(const char *gtel, const char *tree)
{
    enum { FOREIGN = 77 };
    static struct lane_machine machine;
    char path[64];
    struct stat st;
    test_label = "files";
    if (!CHECK(dup2(STDERR_FILENO, FOREIGN) == FOREIGN))
        return;
    if (lane_machine_start(&machine, gtel, tree) && CHECK(lane_machine_settle(&machine))) {
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)helper_of("nvml"));
        CHECK_INT(lstat(path, &st), 0); /* its socket */
#if __GLIBC_PREREQ(2, 34)               /* posix_spawn_file_actions_addclosefrom_np */
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)helper_of("nvml"), FOREIGN);
        CHECK(lstat(path, &st) < 0);
#endif
        lane_machine_stop(&machine);
    }
    CHECK_INT(close(FOREIGN), 0);
}

/* The machine with text before it, or behind it, in a file of its own: path is a template. */
static bool write_changed(const char *tree, const char *before, const char *behind, char *path)
{
    static const char last[] = "end\n";
    size_t n = 0;
    char *text = read_whole_file(tree, &n);
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
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
    char path[] = "/tmp/gtel-machine-XXXXXX";
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
    (void)unlink(path);
}

/* The driver is unloaded and the library removed while the helper runs. */
static void test_vanishing(const char *gtel, const char *tree)
{
    static const char change[] = "at 2s\ncall nvmlInit_v2 = !9\n"
                                 "call nvmlDeviceGetUtilizationRates 0 = !9\n"
                                 "library libnvidia-ml.so.1 gone\n";
    static struct lane_machine machine;
    char path[] = "/tmp/gtel-machine-XXXXXX";
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
    (void)unlink(path);
}

static const struct {
    const char *label;
    const char *helper;
    const char *script; /* written to the scratch helper when not NULL */
    const char *message;
} bad_helpers[] = {
    {"missing", "/nonexistent/gtel", NULL, "cannot start the helper /nonexistent/gtel"},
    {"not ours", "/bin/true", NULL, "ended without a greeting"},
    {"talks nonsense", NULL, "#!/bin/sh\necho 'this is no frame at all' >&3\nsleep 1\n",
     "protocol error"},
    {"other version", NULL,
     "#!/bin/sh\nprintf 'GTEL\\001\\000\\000\\000\\005\\000\\000\\0009.8.7' >&3\nsleep 1\n",
     "is version 9.8.7 and this is version " GTEL_TEST_VERSION},
    {"steers a terminal", NULL,
     "#!/bin/sh\nprintf 'GTEL\\001\\000\\000\\000\\007\\000\\000\\000\\033[31m\\302\\233' >&3\n"
     "sleep 1\n",
     "is version ?[31m?? and this"},
};

static void test_bad_helpers(const char *tree)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bad_helpers); i++) {
        static struct lane_machine machine;
        char path[] = "/tmp/gtel-helper-XXXXXX";
        const char *helper = bad_helpers[i].helper;
        test_label = bad_helpers[i].label;
        if (bad_helpers[i].script) {
            int fd = mkstemp(path);
            size_t n = strlen(bad_helpers[i].script);
            CHECK(fd >= 0 && write(fd, bad_helpers[i].script, n) == (ssize_t)n &&
                  fchmod(fd, 0700) == 0 && close(fd) == 0);
            helper = path;
        }
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
        if (bad_helpers[i].script)
            (void)unlink(path);
    }
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
    pthread_t thread[THREADS];
    test_label = "threads";
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, run_thread, argv), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        CHECK_INT(pthread_join(thread[i], &result), 0);
        CHECK(result != NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_lanes GTEL MACHINE.tree\n");
        return 2;
    }
    test_mask(argv[1], argv[2]);
    test_files(argv[1], argv[2]);
    test_appearing(argv[1], argv[2]);
    test_vanishing(argv[1], argv[2]);
    test_bad_helpers(argv[2]);
    test_threads(argv);
    return test_result();
}
