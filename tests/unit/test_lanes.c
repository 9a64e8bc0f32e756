/* SPDX-License-Identifier: MIT */
/*
 * Lanes with real helper processes: several contexts in several threads, helpers that are killed,
 * stopped, missing, of another version, or not ours at all, and libraries and cards that go and
 * come.
 *
 *     test_lanes GTEL MACHINE.tree
 */
#include "harness/tree_files.h"
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, LANES_MAX = 8 };

static const uint64_t second_ns = 1000000000u;

/* What one gather said, and what was logged since the start. */
struct view {
    unsigned readings[GTEL_M_COUNT];
    double last[GTEL_M_COUNT];
    unsigned sections;
    unsigned logs;
    char log[4096];
};

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct view view;
    struct gtel_context *context;
    char epoch[32];
    const char *helper_args[5];
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct view *view = arg;
    view->sections += wall_ns > 0;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct view *view = arg;
    (void)aspect;
    view->readings[reading->metric]++;
    view->last[reading->metric] = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct view *view = arg;
    size_t n = strlen(view->log);
    (void)level;
    view->logs++;
    (void)snprintf(view->log + n, sizeof(view->log) - n, "%s\n", text);
}

static bool start(struct machine *machine, const char *helper, const char *tree_path)
{
    size_t n = 0;
    char error[200] = "";
    char *text = read_whole_file(tree_path, &n);
    *machine = (struct machine){0};
    machine->sink = (struct gtel_sink){&machine->view, on_begin, on_put, on_end};
    uint64_t epoch_ns = gtel_env_real_now();
    bool is_ok = text && gtel_tree_parse((struct gtel_str){text, n}, &machine->tree, error,
                                         sizeof(error)) == 0;
    free(text);
    if (!CHECK(is_ok))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, false, epoch_ns, &machine->env), 0);
    machine->env.log = (struct gtel_log){on_log, &machine->view};
    gtel_options_init(&machine->options);
    CHECK_INT(
        gtel_option_set(&machine->options, GTEL_O_RESCAN, GTEL_STR("200ms"), error, sizeof(error)),
        0);
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%llu", (unsigned long long)epoch_ns);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = tree_path;
    machine->helper_args[2] = "--epoch";
    machine->helper_args[3] = machine->epoch;
    struct gtel_setup setup = {.env = &machine->env,
                               .options = &machine->options,
                               .sink = &machine->sink,
                               .helper = helper,
                               .helper_args = machine->helper_args};
    return CHECK(gtel_context_new(&setup, &machine->context) == 0);
}

static void stop(struct machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

static void nap(unsigned ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&ts, NULL);
}

/* One gather, with the view cleared before it; returns how long it took. */
static uint64_t gather(struct machine *machine)
{
    memset(machine->view.readings, 0, sizeof(machine->view.readings));
    uint64_t before = gtel_env_real_now();
    CHECK_INT(gtel_context_gather(machine->context), 0);
    return gtel_env_real_now() - before;
}

static bool has_kernel(const struct machine *machine)
{
    return machine->view.readings[GTEL_M_FREQUENCY_ACTUAL] > 0 &&
           machine->view.readings[GTEL_M_ENERGY] > 0;
}

static bool has_nvml(const struct machine *machine)
{
    return machine->view.readings[GTEL_M_GPU_PERFORMANCE_STATE] > 0;
}

/* Gathers until both lanes answer; false after 10 s. */
static bool settle(struct machine *machine)
{
    for (int i = 0; i < 100; i++) {
        (void)gather(machine);
        if (has_kernel(machine) && has_nvml(machine))
            return true;
        nap(100);
    }
    return false;
}

/* Whether a process is a helper of that lane, by its command line. */
static bool is_helper(uint64_t pid, const char *lane)
{
    char path[64];
    char line[4096];
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(line, 1, sizeof(line) - 1, file);
    (void)fclose(file);
    line[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    return strstr(line, "--lane") && strstr(line, lane);
}

/* Our own child that runs this lane, or 0. */
static pid_t helper_of(const char *lane)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    size_t n = 0;
    char *text = read_whole_file(path, &n);
    struct gtel_str rest = {text, text ? n : 0};
    struct gtel_str word;
    pid_t found = 0;
    while (gtel_str_word(&rest, &word)) {
        uint64_t pid = 0;
        if (gtel_str_u64(word, &pid) == 0 && is_helper(pid, lane))
            found = (pid_t)pid;
    }
    free(text);
    return found;
}

/* The signals that a process's first thread blocks; all where that is not known. */
static uint64_t blocked_by(pid_t pid)
{
    char path[64];
    uint64_t mask = UINT64_MAX;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
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
    static struct machine machine;
    sigset_t all;
    sigset_t before;
    test_label = "signal mask";
    (void)sigfillset(&all);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
    bool is_ready = start(&machine, gtel, tree) && CHECK(settle(&machine));
    CHECK_INT(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    if (!is_ready)
        return;
    CHECK_INT(blocked_by(helper_of("nvml")), 0);
    CHECK_INT(blocked_by(helper_of("kernel")), 0);
    stop(&machine);
}

/* A daemon has files and sockets open; its helpers get none of them. */
static void test_files(const char *gtel, const char *tree)
{
    enum { FOREIGN = 77 };
    static struct machine machine;
    char path[64];
    struct stat st;
    test_label = "files";
    if (!CHECK(dup2(STDERR_FILENO, FOREIGN) == FOREIGN))
        return;
    if (start(&machine, gtel, tree) && CHECK(settle(&machine))) {
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)helper_of("nvml"));
        CHECK_INT(lstat(path, &st), 0); /* its socket */
#if __GLIBC_PREREQ(2, 34)               /* posix_spawn_file_actions_addclosefrom_np */
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)helper_of("nvml"), FOREIGN);
        CHECK(lstat(path, &st) < 0);
#endif
        stop(&machine);
    }
    CHECK_INT(close(FOREIGN), 0);
}

static void test_killed(const char *gtel, const char *tree)
{
    static struct machine machine;
    test_label = "killed";
    if (!start(&machine, gtel, tree) || !CHECK(settle(&machine)))
        return;
    pid_t pid = helper_of("nvml");
    if (CHECK(pid > 0))
        CHECK_INT(kill(pid, SIGKILL), 0);
    nap(50);
    CHECK(gather(&machine) < second_ns);
    CHECK(has_kernel(&machine)); /* the other lane loses nothing */
    CHECK(has_nvml(&machine));   /* and this one is there again in the same gather */
    CHECK(strstr(machine.view.log, "lane nvml: helper ended") != NULL);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 1, 0);
    CHECK(strstr(machine.view.log, "lane nvml: works again") != NULL);
    CHECK_INT(machine.view.logs, 2);
    CHECK(helper_of("nvml") != pid);
    stop(&machine);
    CHECK(helper_of("--lane") == 0); /* nothing is left */
}

static void test_stopped(const char *gtel, const char *tree)
{
    static struct machine machine;
    char error[64];
    test_label = "stopped";
    if (!start(&machine, gtel, tree))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_DEADLINE, GTEL_STR("100ms"), error, sizeof(error)),
        0);
    if (!CHECK(settle(&machine)))
        return;
    pid_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (int i = 0; i < 5; i++) {
        CHECK(gather(&machine) < second_ns);
        CHECK(has_kernel(&machine));
        CHECK(!has_nvml(&machine));
        CHECK(helper_of("nvml") == pid); /* no second helper beside a hung one */
    }
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANES_LATE], 5, 0);
    CHECK_INT(machine.view.logs, 1); /* said once */
    CHECK(strstr(machine.view.log, "lane nvml: no answer within") != NULL);
    CHECK_INT(kill(pid, SIGCONT), 0);
    nap(50);
    unsigned sections = machine.view.sections;
    (void)gather(&machine);
    CHECK(has_nvml(&machine));
    CHECK_INT(machine.view.sections - sections,
              2); /* the late answer with its own time, and now's */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 0, 0);

    CHECK_INT(kill(pid, SIGSTOP), 0); /* a hung helper does not hold up the end either */
    uint64_t before = gtel_env_real_now();
    stop(&machine);
    CHECK(gtel_env_real_now() - before < second_ns);
    CHECK(kill(pid, 0) < 0); /* it was killed, and its status collected */
    CHECK(strstr(machine.view.log, "lane nvml: no answer within") != NULL);
}

/* Requests without a pause between them teach no interval: the next deadline is not 0 ms. */
static void test_flood(const char *gtel, const char *tree)
{
    static struct machine machine;
    static const char message[] = "no answer within ";
    test_label = "flood";
    if (!start(&machine, gtel, tree) || !CHECK(settle(&machine)))
        return;
    for (int i = 0; i < 50; i++)
        (void)gather(&machine);
    pid_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    machine.view.log[0] = '\0';
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (int i = 0; i < 3; i++)
        CHECK(gather(&machine) >= 10000000);
    const char *at = strstr(machine.view.log, message);
    if (CHECK(at != NULL))
        CHECK(strncmp(at + strlen(message), "0 ms", 4) != 0);
    stop(&machine);
}

static size_t count_findings(const struct gtel_findings *findings, const char *source)
{
    size_t n = 0;
    for (size_t i = 0; i < findings->n; i++)
        n += strcmp(gtel_sources[findings->finding[i].source]->name, source) == 0;
    return n;
}

static void diagnose(struct machine *machine, uint64_t wait_ns, struct gtel_findings *findings)
{
    gtel_context_set_findings(machine->context, findings);
    CHECK_INT(gtel_context_sample(machine->context, wait_ns), 0);
    gtel_context_set_findings(machine->context, NULL);
}

/* Findings come from the helpers; one that hangs says nothing and shows as late. */
static void test_diagnosed(const char *gtel, const char *tree)
{
    static struct machine machine;
    struct gtel_findings findings = {0};
    struct gtel_lane_report lane = {0};
    test_label = "diagnosed";
    if (!start(&machine, gtel, tree) || !CHECK(settle(&machine)))
        return;
    diagnose(&machine, 3 * second_ns, &findings);
    CHECK(count_findings(&findings, "xe") > 0 && count_findings(&findings, "nvml") > 0);
    for (size_t i = 0; i < findings.n; i++)
        CHECK(!findings.finding[i].device ||
              findings.finding[i].device ==
                  gtel_context_device(machine.context, findings.finding[i].device->index));
    CHECK(gtel_context_lane(machine.context, 0, &lane));
    CHECK_INT(lane.health, GTEL_LANE_FINE);
    CHECK(lane.error == 0 && !lane.fix); /* nothing to fix */
    gtel_findings_done(&findings);

    pid_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    CHECK_INT(kill(pid, SIGSTOP), 0);
    diagnose(&machine, second_ns / 10, &findings);
    CHECK(count_findings(&findings, "xe") > 0 && count_findings(&findings, "nvml") == 0);
    for (size_t i = 0; gtel_context_lane(machine.context, i, &lane); i++)
        if (lane.health != GTEL_LANE_UNUSED)
            CHECK_INT(lane.health,
                      strcmp(lane.name, "nvml") == 0 ? GTEL_LANE_LATE : GTEL_LANE_FINE);
    gtel_findings_done(&findings);
    CHECK_INT(kill(pid, SIGCONT), 0);
    nap(50);
    CHECK(gather(&machine) < second_ns); /* the findings that came too late are no readings */
    CHECK(has_kernel(&machine) && has_nvml(&machine));
    stop(&machine);
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
    static struct machine machine;
    char path[] = "/tmp/gtel-machine-XXXXXX";
    test_label = "appearing";
    if (!write_changed(tree, "at 1s\n", "", path) || !start(&machine, gtel, path))
        return;
    (void)gather(&machine);
    CHECK(machine.view.readings[GTEL_M_SELF_GPUS] > 0);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 0, 0);
    CHECK(helper_of("--lane") == 0);
    CHECK(settle(&machine));
    (void)gather(&machine); /* on a busy machine the answer of one lane came late */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 2, 0);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 0, 0);
    CHECK(strstr(machine.view.log, "no GPU found") != NULL);
    CHECK(strstr(machine.view.log, "GPUs found: 2") != NULL);
    stop(&machine);
    (void)unlink(path);
}

/* The driver is unloaded and the library removed while the helper runs. */
static void test_vanishing(const char *gtel, const char *tree)
{
    static const char change[] = "at 2s\ncall nvmlInit_v2 = !9\n"
                                 "call nvmlDeviceGetUtilizationRates 0 = !9\n"
                                 "library libnvidia-ml.so.1 gone\n";
    static struct machine machine;
    char path[] = "/tmp/gtel-machine-XXXXXX";
    test_label = "vanishing";
    if (!write_changed(tree, "", change, path) || !start(&machine, gtel, path))
        return;
    CHECK(settle(&machine));
    int gathers_without = 0;
    for (int i = 0; i < 100 && gathers_without < 5; i++) {
        CHECK(gather(&machine) < second_ns);
        CHECK(has_kernel(&machine)); /* the other lane loses nothing */
        gathers_without += has_nvml(&machine) ? 0 : 1;
        nap(50);
    }
    CHECK_INT(gathers_without, 5);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_GPUS], 1, 0);
    CHECK(machine.view.last[GTEL_M_SELF_ERRORS] >= 4); /* counted in each gather */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANES_LATE], 0, 0);
    CHECK(strstr(machine.view.log, "the kernel driver is not loaded") != NULL);
    CHECK(helper_of("nvml") > 0); /* it waits there for the library */
    stop(&machine);
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
        static struct machine machine;
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
        if (!start(&machine, helper, tree))
            return;
        for (int k = 0; k < 4; k++) {
            CHECK(gather(&machine) < second_ns);
            nap(50);
        }
        if (!CHECK(strstr(machine.view.log, bad_helpers[i].message) != NULL))
            printf("    %s\n", machine.view.log);
        CHECK(machine.view.readings[GTEL_M_SELF_GPUS] > 0); /* it runs on, and says so */
        CHECK_INT(machine.view.logs, 2);                    /* once for each of the two lanes */
        stop(&machine);
        if (bad_helpers[i].script)
            (void)unlink(path);
    }
}

static void *run_thread(void *arg)
{
    char **argv = arg;
    struct machine *machine = calloc(1, sizeof(*machine));
    if (!machine)
        return NULL;
    bool is_ok = start(machine, argv[1], argv[2]) && settle(machine);
    for (int i = 0; i < 5 && is_ok; i++) {
        (void)gather(machine);
        is_ok = has_kernel(machine) && has_nvml(machine);
        nap(20);
    }
    stop(machine);
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
    test_killed(argv[1], argv[2]);
    test_stopped(argv[1], argv[2]);
    test_flood(argv[1], argv[2]);
    test_diagnosed(argv[1], argv[2]);
    test_appearing(argv[1], argv[2]);
    test_vanishing(argv[1], argv[2]);
    test_bad_helpers(argv[2]);
    test_threads(argv);
    return test_result();
}
