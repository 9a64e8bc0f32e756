/* SPDX-License-Identifier: MIT */
/* The program: start, one gather per request, stop; lists for the documentation; helpers. */
#include "base/error.h"
#include "lanes/lane.h"
#include "execd/args.h"
#include "execd/capture.h"
#include "execd/doctor.h"
#include "execd/explain.h"
#include "execd/out.h"
#include "execd/pace.h"
#include "execd/privileges.h"
#include "execd/system.h"
#include "execd/table.h"
#include "gtel.h"
#include "machine.h"
#include "recording/tree.h"
#include "whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, OUTPUT_MAX = 16 << 20, CAPTURE_MAX = 48 << 20 };

/* Between priming the counters and the first gather: long enough for rates that mean something. */
static const uint64_t rates_ns = 250000000u;
static const uint64_t once_ns = 500000000u;
/* The same on a recorded machine, which need not be waited for. */
static const uint64_t once_step_ns = 1000000000u;
/* How long it goes on while the first scan of all processes is not finished, and how often it
 * asks whether it is. */
static const uint64_t looking_ns = 5000000000u;
static const uint64_t looking_step_ns = 250000000u;
/* How long the last gather waits for lanes that have never answered; Telegraf kills after 5 s. */
static const uint64_t starting_ns = 3000000000u;

struct program {
    struct gtel_args args;
    struct gtel_log log;
    struct gtel_privileges privileges;
    struct gtel_machine machine;
    struct gtel_pace pace;
    struct gtel_buf out;
    struct gtel_lineproto encoder;
    struct gtel_explain explain;
    struct gtel_table table;
    struct gtel_doctor doctor;
    struct gtel_sink sink;
    struct gtel_context *context;
    uint64_t interval_ns;
    uint64_t now_ns;    /* of a stepped machine */
    uint64_t primed_ns; /* when the counters were read first */
    char helper[GTEL_MACHINE_PATH_MAX];
};

static bool is_doctor(const struct program *program)
{
    return program->args.action == GTEL_ARGS_DOCTOR || program->args.action == GTEL_ARGS_SCRIPT;
}

/* ---- gathers ---- */

static void go_to(void *arg, uint64_t t_ns)
{
    struct program *program = arg;
    struct gtel_env *env = &program->machine.env;
    uint64_t now_ns = gtel_env_now(env);
    if (!program->args.is_stepped)
        gtel_pace_pause(&program->pace, t_ns);
    else if (t_ns > now_ns)
        gtel_env_tree_step(env, t_ns - now_ns);
}

/* Waits until a time on the machine's clock, with what sources ask for in between. */
static void pause_until(struct program *program, uint64_t t_ns)
{
    for (;;) {
        uint64_t due_ns = gtel_context_due(program->context);
        if (due_ns == 0 || due_ns >= t_ns || gtel_pace_is_cut(&program->pace))
            break;
        go_to(program, due_ns);
        gtel_context_tick(program->context);
    }
    go_to(program, t_ns);
}

/* The same for so long. */
static void step(struct program *program, uint64_t ns)
{
    pause_until(program, gtel_env_now(&program->machine.env) + ns);
    program->now_ns += ns;
}

/* 0, or why the output could not be written. */
static int gather(struct program *program)
{
    uint64_t dropped = program->encoder.dropped;
    gtel_buf_reset(&program->out);
    gtel_context_gather(program->context);
    if (dropped == 0 && program->encoder.dropped > 0)
        gtel_log(&program->log, GTEL_LOG_WARNING,
                 "readings were dropped from the output: more than %d MB in one gather, or values "
                 "beyond 63 bits; --sources takes fewer",
                 OUTPUT_MAX >> 20);
    return gtel_out_write(&program->pace, gtel_buf_text(&program->out));
}

static void prime(struct program *program, uint64_t wait_ns)
{
    gtel_context_sample(program->context, wait_ns);
    program->primed_ns = gtel_pace_now();
}

/* Before the first answer to a newline: rates, and with the end in sight everything. */
static void prepare_first(struct program *program)
{
    pause_until(program, program->primed_ns + rates_ns);
    if (program->pace.ending != GTEL_PACE_INPUT_ENDED ||
        !gtel_context_is_starting(program->context))
        return;
    prime(program, starting_ns);
    pause_until(program, program->primed_ns + rates_ns);
}

/*
 * Which processes use the GPUs is known when all were scanned once, which takes seconds
 * where they have very many descriptors.
 */
static void await_processes(struct program *program)
{
    const struct gtel_env *env = &program->machine.env;
    uint64_t begin_ns = gtel_env_now(env);
    while (gtel_context_processes_waiting(program->context) > 0 &&
           !gtel_pace_is_cut(&program->pace)) {
        if (gtel_env_now(env) - begin_ns >= looking_ns) {
            gtel_log(&env->log, GTEL_LOG_WARNING,
                     "%u processes could not be scanned in %u s: what they use of the GPUs "
                     "is missing; without --once it comes later",
                     (unsigned)gtel_context_processes_waiting(program->context),
                     (unsigned)(looking_ns / 1000000000u));
            break;
        }
        step(program, looking_step_ns);
        prime(program, starting_ns);
    }
}

/*
 * The time of a single gather on a recorded machine: whole intervals, for recorded counters move
 * when a state begins, and half an interval would have all of its work. A recording that ends
 * before the second interval has no time for a sample half-way.
 */
static void step_once(struct program *program, uint64_t wait_ns)
{
    uint64_t end_ns = gtel_tree_duration(program->machine.tree);
    step(program, program->interval_ns);
    if (end_ns > 0 && end_ns < program->now_ns + program->interval_ns)
        return;
    gtel_context_sample(program->context, wait_ns);
    step(program, program->interval_ns);
}

/*
 * What a single gather needs before it: the counters primed, and half-way a sample, from
 * which on it is known which GPUs work (sources/intel/xe_pmu.c). wait_ns: of that sample.
 */
static void prepare_once(struct program *program, uint64_t wait_ns)
{
    prime(program, starting_ns);
    await_processes(program);
    if (program->args.is_stepped) {
        step_once(program, wait_ns);
        return;
    }
    pause_until(program, program->primed_ns + once_ns / 2);
    gtel_context_sample(program->context, wait_ns);
    pause_until(program, program->primed_ns + once_ns);
}

static int run_once(struct program *program)
{
    prepare_once(program, 0);
    return gather(program);
}

/*
 * As for --once, with more time: a slow answer is not what is searched for. 1: the doctor found
 * something to fix.
 */
static int run_doctor(struct program *program)
{
    bool is_script = program->args.action == GTEL_ARGS_SCRIPT;
    prepare_once(program, starting_ns);
    program->doctor.env = &program->machine.env;
    program->doctor.options = &program->args.options;
    program->doctor.context = program->context;
    bool has_fixes = gtel_doctor_report(&program->doctor, is_script, &program->out);
    gtel_buf_clean(&program->out);
    int r = gtel_out_write(&program->pace, gtel_buf_text(&program->out));
    return r < 0 ? r : has_fixes;
}

/* A recorded machine by its own time: gathers follow each other without a pause. */
static int run_stepped(struct program *program)
{
    uint64_t end_ns = gtel_tree_duration(program->machine.tree);
    int r = 0;
    prime(program, 0);
    for (uint64_t n = 0; r == 0; n++) {
        bool is_over =
            program->args.count > 0 ? n >= program->args.count : n > 0 && program->now_ns >= end_ns;
        if (is_over)
            break;
        step(program, program->interval_ns);
        r = gather(program);
    }
    return r;
}

/* Two clocks make twice the gathers; a person who watches may ask for one more. */
static bool warn_of_newline(const struct program *program)
{
    if (program->pace.newlines == 0 || !gtel_args_has_clock(&program->args) ||
        program->args.is_watching)
        return false;
    gtel_log(&program->log, GTEL_LOG_WARNING,
             "a newline on standard input asks for gathers, and so does the program's own clock: "
             "omit interval in the file of --config and --interval, or set signal = \"none\" in "
             "Telegraf");
    return true;
}

static int run_loop(struct program *program)
{
    bool has_warned = false;
    bool has_clock = gtel_args_has_clock(&program->args);
    int r = 0;
    if (!has_clock)
        prime(program, 0);
    for (uint64_t n = 0; r == 0;) {
        if (program->args.count > 0 && n >= program->args.count)
            break;
        program->pace.tick_ns = program->args.is_stepped ? 0 : gtel_context_due(program->context);
        enum gtel_pace_event event = gtel_pace_wait(&program->pace);
        if (event == GTEL_PACE_END)
            break;
        if (event == GTEL_PACE_SAMPLE) {
            gtel_context_sample(program->context, 0);
            continue;
        }
        if (event == GTEL_PACE_TICK) {
            gtel_context_tick(program->context);
            continue;
        }
        if (program->args.is_stepped)
            step(program, program->interval_ns);
        else if (n == 0 && !has_clock)
            prepare_first(program);
        has_warned = has_warned || warn_of_newline(program);
        r = gather(program);
        n++;
    }
    return r;
}

static int run(struct program *program)
{
    int r;
    if (is_doctor(program))
        r = run_doctor(program);
    else if (program->args.is_once)
        r = run_once(program);
    else if (program->args.is_stepped && gtel_args_has_clock(&program->args))
        r = run_stepped(program);
    else
        r = run_loop(program);
    if (program->pace.error < 0) {
        gtel_log(&program->log, GTEL_LOG_ERROR, "cannot wait for input and signals: %s: %s%s",
                 gtel_pace_call, gtel_error_text(program->pace.error), gtel_pace_fix);
        return program->pace.error;
    }
    /* Nobody reads us any more, or not in time: the end, and no failure of ours. */
    return r == -EPIPE || r == -ETIMEDOUT ? 0 : r;
}

/* ---- start and stop ---- */

/* The path of this program, by which helpers are started. */
static const char *find_helper(struct program *program)
{
    if (gtel_option_number(&program->args.options, GTEL_O_ISOLATION) != 0 ||
        program->args.is_stepped)
        return NULL;
    if (gtel_system_program(program->helper, sizeof(program->helper)) == 0)
        return program->helper;
    gtel_log(&program->log, GTEL_LOG_WARNING,
             "the path of this program cannot be read: sources run inside the program");
    return NULL;
}

/*
 * Vendor libraries obey the environment of the process that loads them, and by now the loader of
 * shared objects has read its own part. Helpers start with a clean one. 0, or -EINVAL with a
 * message.
 */
static int refuse_inside(const struct program *program, const char *helper)
{
    if (helper || !program->privileges.is_raised)
        return 0;
    gtel_log(&program->log, GTEL_LOG_ERROR,
             "sources are not run inside a program that has capabilities which its user lacks: "
             "start it without --isolation=none, or without the capabilities");
    return -EINVAL;
}

static int start(struct program *program)
{
    const struct gtel_options *options = &program->args.options;
    struct gtel_str host = gtel_option_text(options, GTEL_O_HOST_TAG);
    int r;
    bool watches_input = !program->args.is_once &&
                         !(program->args.is_stepped && gtel_args_has_clock(&program->args));
    gtel_pace_init(&program->pace, gtel_args_has_clock(&program->args) ? program->interval_ns : 0,
                   gtel_option_number(options, GTEL_O_SAMPLE_INTERVAL), watches_input);
    gtel_buf_init(&program->out, OUTPUT_MAX);
    gtel_lineproto_init(&program->encoder, &program->out, host);
    gtel_explain_init(&program->explain, &program->out, host);
    gtel_table_init(&program->table, &program->out,
                    program->args.is_watching && gtel_system_is_terminal());
    if (program->args.is_explained)
        program->sink = gtel_explain_sink(&program->explain);
    else if (program->args.is_watching || (program->args.is_once && gtel_system_is_terminal()))
        program->sink = gtel_table_sink(&program->table);
    else
        program->sink = gtel_lineproto_sink(&program->encoder);
    if (is_doctor(program)) {
        r = gtel_doctor_init(&program->doctor);
        if (r < 0)
            return r;
        program->sink = gtel_doctor_sink(&program->doctor);
        program->machine.env.log = gtel_doctor_log(&program->doctor);
    }
    const char *helper = find_helper(program);
    r = refuse_inside(program, helper);
    if (r < 0)
        return r;
    struct gtel_setup setup = {
        .env = &program->machine.env,
        .options = options,
        .sink = &program->sink,
        .helper = helper,
        .helper_args = program->machine.helper_args,
        .interval_ns = program->args.is_stepped ||
                               (gtel_args_has_clock(&program->args) && !program->args.is_once)
                           ? program->interval_ns
                           : 0, /* once: its gathers follow each other sooner */
    };
    return gtel_context_new(&setup, &program->context);
}

static void stop(struct program *program)
{
    gtel_context_free(program->context);
    gtel_explain_done(&program->explain);
    gtel_table_done(&program->table);
    gtel_doctor_done(&program->doctor);
    gtel_buf_done(&program->out);
    gtel_pace_done(&program->pace);
    gtel_out_close();
}

static int complain(const struct program *program, const char *error)
{
    gtel_log(&program->log, GTEL_LOG_ERROR, "%s", error);
    return EXIT_USAGE;
}

/* 0, or a negative errno, which has been logged. */
static int open_machine(struct program *program)
{
    struct gtel_machine_setup setup = {.root = program->args.root,
                                       .is_stepped = program->args.is_stepped,
                                       .epoch_ns = program->args.epoch_ns};
    char error[GTEL_ARGS_ERROR_MAX] = "";
    int r = gtel_machine_open(&program->machine, &setup, error, sizeof(error));
    if (r < 0)
        gtel_log(&program->log, GTEL_LOG_ERROR, "--root %s", error);
    else
        program->machine.env.log = program->log;
    return r;
}

/*
 * Vendor runtimes read settings for debugging from the working directory, and that may be a folder
 * where somebody else may write. After this no relative path is opened any more.
 */
static int leave_folder(const struct program *program)
{
    int r = gtel_system_leave_folder();
    if (r < 0)
        gtel_log(&program->log, GTEL_LOG_ERROR, "cannot change to the folder /: %s",
                 gtel_error_text(r));
    return r < 0 ? -EACCES : 0;
}

/* That of a recording by default, or more where its states are further apart. */
static uint64_t once_interval(const struct program *program)
{
    uint64_t first_ns = gtel_tree_lasts(program->machine.tree);
    return first_ns > 2 * once_step_ns ? first_ns : once_step_ns;
}

static int run_program(struct program *program)
{
    int r = open_machine(program);
    if (r == 0)
        r = leave_folder(program);
    if (r < 0)
        return EXIT_USAGE;
    program->interval_ns = gtel_option_number(&program->args.options, GTEL_O_INTERVAL);
    if (program->args.is_once && program->args.is_stepped && !gtel_args_has_clock(&program->args))
        program->interval_ns = once_interval(program);
    r = start(program);
    int status = r == -EINVAL ? EXIT_USAGE : EXIT_FAILURE; /* an option that the core refuses */
    if (r == 0) {
        r = run(program);
        status = r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (r < 0 && status != EXIT_USAGE && program->pace.error == 0)
        gtel_log(&program->log, GTEL_LOG_ERROR, "cannot go on: %s", gtel_error_text(r));
    stop(program);
    gtel_machine_close(&program->machine);
    return status;
}

/* ---- capture ---- */

static int complain_of_file(const struct program *program, int r, const char *problem)
{
    if (r < 0)
        gtel_log(&program->log, GTEL_LOG_ERROR, "capture %s: %s", program->args.file, problem);
    return r;
}

/* The end, with the rights of the user alone. 0, or a negative errno, which has been logged. */
static int write_file(const struct program *program)
{
    char problem[160] = "";
    int r = gtel_privileges_pause(&program->privileges);
    if (r < 0)
        (void)snprintf(problem, sizeof(problem), "%s", gtel_error_text(r));
    else
        r = gtel_whole_file_write(program->args.file, gtel_buf_text(&program->out), problem,
                                  sizeof(problem));
    return complain_of_file(program, r, problem);
}

/* For people and for copies from a terminal; a record in a file stays as it is. */
static int write_output(struct program *program)
{
    if (gtel_system_is_terminal())
        gtel_buf_clean(&program->out);
    int r = gtel_out_write(&program->pace, gtel_buf_text(&program->out));
    if (r < 0)
        gtel_log(&program->log, GTEL_LOG_ERROR, "capture: standard output: %s", gtel_error_text(r));
    return r;
}

static int write_capture(void *arg)
{
    struct program *program = arg;
    return program->args.file ? write_file(program) : write_output(program);
}

static int run_capture(struct program *program)
{
    const struct gtel_options *options = &program->args.options;
    int r = open_machine(program);
    if (r < 0)
        return EXIT_USAGE;
    bool is_given = options->value[GTEL_O_INTERVAL].is_given;
    struct gtel_capture capture = {
        .env = &program->machine.env,
        .options = options,
        .log = program->log,
        .pace = &program->pace,
        .go_to = go_to,
        .write = write_capture,
        .arg = program,
        .grain_ns = program->args.is_stepped ? 1 : 1000000,
        .interval_ns = is_given ? gtel_option_number(options, GTEL_O_INTERVAL) : once_step_ns,
        .count = program->args.count,
    };
    gtel_pace_init(&program->pace, 0, 0, false);
    gtel_buf_init(&program->out, CAPTURE_MAX);
    r = gtel_capture_run(&capture, &program->out);
    gtel_buf_done(&program->out);
    gtel_pace_done(&program->pace);
    gtel_machine_close(&program->machine);
    return r == -EINVAL ? EXIT_USAGE : r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A helper: its output is the way to the front end, and standard output stays silent. */
static int run_lane(struct program *program)
{
    int fd = gtel_system_helper_fd();
    if (fd < 0)
        return complain(program, "--lane is how the program starts its own helpers; it is not for "
                                 "the command line");
    int r = gtel_system_begin_helper(fd);
    if (r < 0) {
        gtel_log(&program->log, GTEL_LOG_ERROR, "cannot start a thread: %s; %s", gtel_error_text(r),
                 gtel_channel_start_fix(r));
        return EXIT_FAILURE;
    }
    r = open_machine(program);
    if (r == 0)
        r = leave_folder(program);
    if (r < 0)
        return EXIT_USAGE;
    r = gtel_lane_serve(program->args.lane, fd, &program->machine.env, &program->args.options);
    gtel_machine_close(&program->machine);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- lists ---- */

static void write_sources(struct gtel_buf *buf)
{
    gtel_buf_str(buf, GTEL_STR("| source | vendor | lane | reads | needs | seen on |\n"
                               "|---|---|---|---|---|---|\n"));
    for (size_t i = 0; gtel_sources[i]; i++) {
        const struct gtel_source *source = gtel_sources[i];
        gtel_buf_printf(buf, "| `%s` | %s | %s | %s | %s | %s |\n", source->name, source->vendor,
                        source->lane, source->summary, source->needs,
                        source->seen ? source->seen : "not tried on hardware");
    }
}

static int print(const struct program *program)
{
    struct gtel_buf buf;
    gtel_buf_init(&buf, OUTPUT_MAX);
    switch (program->args.action) {
    case GTEL_ARGS_HELP:
        gtel_args_help(&buf);
        break;
    case GTEL_ARGS_LIST_METRICS:
        gtel_catalogue_write(&buf);
        break;
    case GTEL_ARGS_LIST_SOURCES:
        write_sources(&buf);
        break;
    case GTEL_ARGS_LIST_OPTIONS:
        gtel_options_write(&buf, GTEL_OPTION_EXECD);
        break;
    case GTEL_ARGS_LIST_OPTIONS_COLLECTD:
        gtel_options_write(&buf, GTEL_OPTION_COLLECTD);
        break;
    default:
        gtel_buf_printf(&buf, "gtel %s\n", gtel_version);
        break;
    }
    bool is_written = fwrite(buf.p, 1, buf.n, stdout) == buf.n && fflush(stdout) == 0;
    gtel_buf_done(&buf);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int complain_of_rights(const struct program *program, int r)
{
    if (r == -EPERM)
        return complain(program, "set-user-ID and set-group-ID programs are not supported: give "
                                 "rights with setcap or in the unit (README, Permissions)");
    gtel_log(&program->log, GTEL_LOG_ERROR, "capabilities cannot be read or changed: %s",
             gtel_error_text(r));
    return EXIT_USAGE;
}

/* 0, or what to end with, which has been logged. Files that options name are the user's to open. */
static int read_arguments(struct program *program, int argc, char **argv)
{
    char error[GTEL_ARGS_ERROR_MAX] = "";
    struct gtel_privileges *privileges = &program->privileges;
    int r = gtel_privileges_init(privileges);
    if (r == 0)
        r = gtel_privileges_pause(privileges);
    if (r < 0)
        return complain_of_rights(program, r);
    if (gtel_args_parse(&program->args, argc, argv, error, sizeof(error)) < 0)
        return complain(program, error);
    /* Before a gather in vain. */
    if (program->args.action == GTEL_ARGS_CAPTURE && program->args.file) {
        r = gtel_whole_file_check(program->args.file, error, sizeof(error));
        if (complain_of_file(program, r, error) < 0)
            return EXIT_FAILURE;
    }
    /* A machine that the user names must need no more rights than the user's; before any thread. */
    r = program->args.root ? gtel_privileges_drop(privileges) : gtel_privileges_resume(privileges);
    return r < 0 ? complain_of_rights(program, r) : 0;
}

int main(int argc, char **argv)
{
    if (gtel_system_init(&argc, &argv) < 0)
        return EXIT_FAILURE;
    bool has_output = gtel_out_init();
    struct program *program = calloc(1, sizeof(*program));
    if (!program)
        return EXIT_FAILURE;
    program->log = gtel_out_log();
    int status = read_arguments(program, argc - 1, argv + 1);
    if (status != EXIT_SUCCESS)
        ; /* has been said */
    else if (program->args.action == GTEL_ARGS_LANE)
        status = run_lane(program);
    else if (program->args.action == GTEL_ARGS_CAPTURE)
        status = has_output || program->args.file ? run_capture(program) : EXIT_SUCCESS;
    else if (program->args.action != GTEL_ARGS_RUN && !is_doctor(program))
        status = print(program);
    else if (has_output)
        status = run_program(program);
    free(program);
    return status;
}
