/* SPDX-License-Identifier: MIT */
/*
 * What the jobs of the program `guest` share (guest.c); all of it ends the program when something
 * fails. Errors and results go to standard output as lines for judge.py; nothing is judged here.
 */
#ifndef GUEST_HANDS_H
#define GUEST_HANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GUEST_NODE "/dev/dri/renderD128"

_Noreturn void guest_fail(const char *what);
uint64_t guest_now_ns(void); /* CLOCK_MONOTONIC */
void guest_sleep_until(uint64_t at_ns);
uint32_t guest_number(const char *text); /* up to a million */
void guest_put_text(const char *path, const char *text);

struct guest_program {
    pid_t pid;
    int in;
    int out;
    char text[1 << 18];
    size_t n;
};

/* What one gather said. */
struct guest_answer {
    int up; /* of the GPU; -1: no line about it */
    bool has_clocks;
    bool has_engines;
    double busy; /* in percent, of the GPU and of two classes of engines; -1: not reported */
    double render;
    double video;
    double load; /* processes of that name; -1: no line */
    double lane_restarts;
    uint64_t asked_ns;
    uint64_t took_ns;
};

/* Gathers at steady times; between two of them the driver gets a command, at any moment. */
struct guest_schedule {
    const char *driver;
    uint64_t interval_ns;
    uint64_t next_ns;
    uint32_t random;
    uint32_t parts; /* of 32, for which rcs0 is busy; module/load.c */
    struct guest_program program;
};

/* argv: driver, a number that is the job's, milliseconds between gathers, program. */
struct guest_schedule *guest_begin(char **argv);
void guest_end(struct guest_schedule *schedule);
uint32_t guest_draw(struct guest_schedule *schedule, uint32_t below);
/* Asks for a gather and takes its lines; the last one is the program's own. */
struct guest_answer guest_gather(struct guest_program *program);
/* The same at its time. */
struct guest_answer guest_gather_on_time(struct guest_schedule *schedule);
void guest_say_answer(const char *what, uint32_t n, uint32_t parts,
                      const struct guest_answer *answer);
/* The lines about processes, and the program's own, of the last answer. */
void guest_say_processes(const struct guest_program *program);

/* Opens a node as a client that keeps a class of engines busy for parts of 32. -1: it is gone. */
int guest_open_node(const char *path, uint32_t class, uint32_t parts);
void guest_set_busy(int fd, uint32_t class, uint32_t parts);
/* Sends a descriptor over a socket, and takes it there. */
void guest_pass_fd(int over, int fd);
void guest_take_fd(int from);

/* Jobs in files of their own. */
_Noreturn void guest_run_clients(void); /* clients.c */
int guest_run_shares(char **argv);      /* shares.c */
int guest_run_churn(char **argv);       /* churn.c */

#endif
