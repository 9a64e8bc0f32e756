/* SPDX-License-Identifier: MIT */
/* The jobs' common means, and a program that is asked for values by newlines, as Telegraf does. */
#include "hands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void guest_fail(const char *what)
{
    printf("guest: %s: %s\n", what, strerror(errno));
    exit(1);
}

uint64_t guest_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void guest_sleep_until(uint64_t at_ns)
{
    struct timespec t = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

uint32_t guest_number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value > 1000000) {
        errno = EINVAL;
        guest_fail(text);
    }
    return (uint32_t)value;
}

static void start(struct guest_program *program, char **argv)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        guest_fail("pipe");
    program->pid = fork();
    if (program->pid == 0) {
        int err = open("/tmp/messages", O_CREAT | O_TRUNC | O_WRONLY, 0644);
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err, 2) < 0)
            _exit(126);
        (void)close(err);
        (void)execv(argv[0], argv);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    program->in = in[1];
    program->out = out[0];
}

/* Whether a whole line begins with that word. */
static bool has_line(const struct guest_program *program, const char *word)
{
    const char *at = program->text;
    size_t n = strlen(word);
    for (const char *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n'))
        if (strncmp(at, word, n) == 0)
            return true;
    return false;
}

/*
 * The number of a field in the line of that measurement and tag. The names of the fields come after
 * a blank or a comma (line protocol); -1: not there.
 */
static double value_of(const struct guest_program *program, const char *measurement,
                       const char *tag, const char *field)
{
    const char *at = program->text;
    for (const char *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n')) {
        const char *tagged = strstr(at, tag);
        if (strncmp(at, measurement, strlen(measurement)) != 0 || !tagged || tagged > end)
            continue;
        const char *name = strstr(at, field);
        while (name && name < end && (name[-1] != ' ' && name[-1] != ','))
            name = strstr(name + 1, field);
        if (name && name < end)
            return strtod(name + strlen(field), NULL);
    }
    return -1;
}

/* Asks for a gather and takes its lines; the last one is the program's own. */
struct guest_answer guest_gather(struct guest_program *program)
{
    struct guest_answer answer = {.up = -1, .asked_ns = guest_now_ns()};
    program->n = 0;
    program->text[0] = '\0';
    if (write(program->in, "\n", 1) != 1)
        guest_fail("newline");
    while (!has_line(program, "gtel ") && !has_line(program, "gtel,")) {
        struct pollfd wait = {program->out, POLLIN, 0};
        if (program->n + 1 >= sizeof(program->text) || poll(&wait, 1, 20000) != 1)
            guest_fail("no answer");
        ssize_t got =
            read(program->out, program->text + program->n, sizeof(program->text) - 1 - program->n);
        if (got <= 0)
            guest_fail("the program has ended");
        program->n += (size_t)got;
        program->text[program->n] = '\0';
    }
    answer.took_ns = guest_now_ns() - answer.asked_ns;
    if (strstr(program->text, " up=1i"))
        answer.up = 1;
    else if (strstr(program->text, " up=0i"))
        answer.up = 0;
    answer.has_clocks = has_line(program, "gpu_frequency_domain,");
    answer.has_engines = has_line(program, "gpu_engine,");
    answer.busy = value_of(program, "gpu,", ",gpu=", "busy_percent=");
    answer.render = value_of(program, "gpu_engine,", "engine=render", "busy_percent=");
    answer.video = value_of(program, "gpu_engine,", "engine=video,", "busy_percent=");
    answer.load = value_of(program, "gpu_process,", ",process=load,", "processes=");
    answer.lane_restarts = value_of(program, "gtel", "", "lane_restarts=");
    return answer;
}

void guest_put_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        guest_fail(path);
    (void)close(fd);
}

struct guest_schedule *guest_begin(char **argv)
{
    struct guest_schedule *schedule = calloc(1, sizeof(*schedule));
    if (!schedule)
        guest_fail("memory");
    schedule->driver = argv[0];
    schedule->interval_ns = guest_number(argv[2]) * UINT64_C(1000000);
    schedule->random = 1;
    schedule->parts = 20;
    (void)signal(SIGPIPE, SIG_IGN);
    start(&schedule->program, argv + 3);
    return schedule;
}

void guest_end(struct guest_schedule *schedule)
{
    uint64_t end_ns = guest_now_ns();
    int status = -1;
    (void)close(schedule->program.in);
    (void)waitpid(schedule->program.pid, &status, 0);
    printf("end status=%d ms=%u\n", status, (unsigned)((guest_now_ns() - end_ns) / 1000000));
    free(schedule);
}

uint32_t guest_draw(struct guest_schedule *schedule, uint32_t below)
{
    schedule->random = schedule->random * 1664525u + 1013904223u;
    return (schedule->random >> 8) % below;
}

struct guest_answer guest_gather_on_time(struct guest_schedule *schedule)
{
    guest_sleep_until(schedule->next_ns);
    schedule->next_ns = guest_now_ns() + schedule->interval_ns;
    return guest_gather(&schedule->program);
}

void guest_say_answer(const char *what, uint32_t n, uint32_t parts,
                      const struct guest_answer *answer)
{
    printf("%s n=%u up=%d clocks=%d engines=%d parts=%u busy=%.4f render=%.4f video=%.4f "
           "load=%.0f restarts=%.0f asked_us=%llu took_us=%llu\n",
           what, n, answer->up, answer->has_clocks, answer->has_engines, parts, answer->busy,
           answer->render, answer->video, answer->load, answer->lane_restarts,
           (unsigned long long)(answer->asked_ns / 1000),
           (unsigned long long)(answer->took_ns / 1000));
}

void guest_say_processes(const struct guest_program *program)
{
    const char *at = program->text;
    for (const char *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n'))
        if (strncmp(at, "gpu_process,", 12) == 0 || strncmp(at, "gtel", 4) == 0 ||
            strncmp(at, "gpu_engine,", 11) == 0 || strncmp(at, "gpu,", 4) == 0)
            printf("%.*s\n", (int)(end - at), at);
}
