/* SPDX-License-Identifier: MIT */
/*
 * 200 lives of helpers that lie (tests/fakes/liar.c), beside a lane that does not.
 *
 * No gather waits beyond its deadline or fails, the honest lane has its readings, nothing of what
 * was opened or started stays, and the log has few lines for each life.
 *
 *     test_lane_lives LIAR MACHINE.tree
 */
#include "gtel.h"
#include "harness/helper_process.h"
#include "harness/system.h"
#include "harness/test.h"
#include "harness/whole_file.h"
#include "lanes/channel.h"
#include "recording/tree.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { LIVES = 200, GATHERS = 28, CONTEXTS_MAX = 100, LINES_PER_LIFE = 40, ALARM_S = 280 };

static const uint64_t second_ns = 1000000000u;

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_sink sink;
    struct gtel_context *context;
    char epoch[32];
    const char *helper_args[7];
    unsigned honest; /* readings of the honest lane in a gather */
    unsigned own;    /* of the program */
    unsigned logs;
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct machine *machine = arg;
    (void)aspect;
    machine->honest += reading->metric == GTEL_M_FREQUENCY_ACTUAL;
    machine->own += reading->metric == GTEL_M_SELF_GPUS;
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct machine *machine = arg;
    CHECK(level <= GTEL_LOG_DEBUG && strlen(text) <= 1100);
    machine->logs++;
}

static bool start(struct machine *machine, char **argv, const char *folder)
{
    size_t n = 0;
    char error[200] = "";
    char *text = read_whole_file(argv[2], &n);
    *machine = (struct machine){.sink = {machine, on_begin, on_put, on_end}};
    uint64_t epoch_ns = gtel_env_real_now();
    bool is_ok = text && gtel_tree_parse((struct gtel_str){text, n}, &machine->tree, error,
                                         sizeof(error)) == 0;
    free(text);
    if (!CHECK(is_ok))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, false, epoch_ns, &machine->env), 0);
    machine->env.log = (struct gtel_log){on_log, machine};
    gtel_options_init(&machine->options);
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%llu", (unsigned long long)epoch_ns);
    const char *const words[] = {"--root", argv[2], "--epoch", machine->epoch,
                                 "--lies", folder,  NULL};
    memcpy(machine->helper_args, words, sizeof(words));
    struct gtel_setup setup = {.env = &machine->env,
                               .options = &machine->options,
                               .sink = &machine->sink,
                               .helper = argv[1],
                               .helper_args = machine->helper_args,
                               .interval_ns = 2 * second_ns};
    return CHECK(gtel_context_new(&setup, &machine->context) == 0);
}

static void stop(struct machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

static size_t count_lives(const char *folder)
{
    char path[512];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%s/lives", folder);
    return n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

/* One context with some lives in each of its lanes. Returns how many gathers lacked the honest one.
 */
static unsigned run(struct machine *machine)
{
    unsigned without = 0;
    for (int i = 0; i < GATHERS; i++) {
        machine->honest = 0;
        machine->own = 0;
        uint64_t before = gtel_env_real_now();
        gtel_context_gather(machine->context);
        CHECK(gtel_env_real_now() - before < 5 * second_ns); /* a deadline, and a busy host */
        CHECK_INT(machine->own, 1);
        without += machine->honest == 0;
        gtel_channel_nap(5000000);
    }
    return without;
}

int main(int argc, char **argv)
{
    static struct machine machine;
    char folder[SYSTEM_PATH_MAX];
    char path[SYSTEM_PATH_MAX + 16];
    if (argc != 3) {
        fprintf(stderr, "usage: test_lane_lives LIAR MACHINE.tree\n");
        return 2;
    }
    system_end_after(ALARM_S);
    if (!CHECK(system_scratch_folder(folder)))
        return 1;
    size_t open_before = system_count_open();
    unsigned gathers = 0;
    unsigned without = 0;
    unsigned logs = 0;
    for (int c = 0; c < CONTEXTS_MAX && count_lives(folder) <= LIVES; c++) {
        if (!start(&machine, argv, folder))
            break;
        without += run(&machine);
        gathers += GATHERS;
        uint64_t before = gtel_env_real_now();
        stop(&machine);
        CHECK(gtel_env_real_now() - before < 2 * second_ns);
        CHECK(!helper_is_left());
        logs += machine.logs;
    }
    size_t lives = count_lives(folder);
    printf("%zu lives, %u gathers, %u without the honest lane, %u messages\n", lives, gathers,
           without, logs);
    CHECK(lives > LIVES);
    CHECK(without * 10 < gathers); /* on a busy host it may be late, too */
    CHECK(logs < LINES_PER_LIFE * lives);
    CHECK_INT(system_count_open(), open_before);
    (void)snprintf(path, sizeof(path), "%s/lives", folder);
    system_remove_file(path);
    system_remove_folder(folder);
    return test_result();
}
