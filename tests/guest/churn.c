/* SPDX-License-Identifier: MIT */
/*
 * Clients that live for milliseconds, or a little longer, as fast as they can be made, under
 * process numbers that soon come again: thirty managers make a worker each, which opens the node,
 * and then an outsider, which does not. Beside them one process works steadily.
 */
#include "hands.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANAGERS = 30 };

static uint32_t draw(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

static _Noreturn void live(const char *name, bool is_client, uint32_t random)
{
    (void)prctl(PR_SET_NAME, name);
    if (is_client)
        (void)guest_open_node(GUEST_NODE, draw(&random, 4), draw(&random, 33));
    uint32_t most_us = draw(&random, 2) == 0 ? 4000 : 600000;
    guest_sleep_until(guest_now_ns() + draw(&random, most_us) * UINT64_C(1000));
    _exit(0);
}

static _Noreturn void manage(uint32_t random)
{
    (void)prctl(PR_SET_NAME, "manager");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)nice(19); /* an emulated CPU has no time for anything else otherwise */
    for (uint32_t i = 0;; i++) {
        pid_t pid = fork();
        if (pid == 0)
            live(i % 2 == 0 ? "worker" : "outsider", i % 2 == 0, draw(&random, UINT32_MAX));
        if (pid > 0)
            (void)waitpid(pid, NULL, 0);
    }
}

static pid_t begin_steady(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    (void)prctl(PR_SET_NAME, "steady");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (guest_open_node(GUEST_NODE, 0, 16) < 0)
        guest_fail(GUEST_NODE);
    for (;;)
        (void)pause();
}

static void ask(struct guest_schedule *schedule, const char *what, uint32_t n)
{
    struct guest_answer answer = guest_gather_on_time(schedule);
    guest_say_answer(what, n, 0, &answer);
    guest_say_processes(&schedule->program);
}

/* argv[1]: seconds. */
int guest_run_churn(char **argv)
{
    pid_t manager[MANAGERS];
    uint64_t end_ns = guest_now_ns() + guest_number(argv[1]) * UINT64_C(1000000000);
    pid_t steady = begin_steady();
    struct guest_schedule *schedule = guest_begin(argv);
    guest_put_text("/proc/sys/kernel/pid_max", "500");
    for (uint32_t i = 0; i < 4; i++)
        ask(schedule, "before", i);
    for (uint32_t i = 0; i < MANAGERS; i++) {
        manager[i] = fork();
        if (manager[i] == 0)
            manage(i + 1);
    }
    for (uint32_t i = 0; guest_now_ns() < end_ns; i++)
        ask(schedule, "churn", i);
    for (uint32_t i = 0; i < MANAGERS; i++) {
        (void)kill(manager[i], SIGKILL);
        (void)waitpid(manager[i], NULL, 0);
    }
    guest_sleep_until(guest_now_ns() + 10000000); /* the last ones end by themselves */
    for (uint32_t i = 0; i < 4; i++)
        ask(schedule, "after", i);
    guest_end(schedule);
    (void)kill(steady, SIGKILL);
    (void)waitpid(steady, NULL, 0);
    guest_put_text("/proc/sys/kernel/pid_max", "4194304");
    return 0;
}
