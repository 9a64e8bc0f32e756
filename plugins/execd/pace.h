/* SPDX-License-Identifier: MIT */
/*
 * When to gather, and when to end: standard input, signals and the program's own clock.
 *
 * Any number of newlines that have queued up are one request, as for the plugins of Telegraf's own
 * shim; SIGUSR1 is one too. The end of the input, SIGTERM and SIGINT end the program, after a
 * request that came before. So does a standard output that nobody reads any more. The own clock
 * ticks at multiples of the interval after the start: it does not drift, and ticks that were missed
 * are skipped rather than made up for.
 *
 * Only one pace in a process: it blocks the signals that it takes. Under Windows a thread reads
 * standard input all the time, since Telegraf waits for ever where nobody reads its newlines;
 * Ctrl-C and Ctrl-Break are SIGINT, and there is nothing like SIGUSR1.
 */
#ifndef GTEL_EXECD_PACE_H
#define GTEL_EXECD_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum gtel_pace_event { GTEL_PACE_GATHER, GTEL_PACE_SAMPLE, GTEL_PACE_TICK, GTEL_PACE_END };

/* Why the end was asked for: the last that holds. */
enum gtel_pace_ending {
    GTEL_PACE_GOES_ON,
    GTEL_PACE_INPUT_ENDED,
    GTEL_PACE_STOPPED, /* by SIGTERM or SIGINT */
    GTEL_PACE_OUT_CLOSED
};

struct gtel_pace {
    int in;            /* standard input, or -1 when it is not watched */
    int out;           /* standard output */
    int signal;        /* readable when one came (execd/signals.h), or negative */
    bool is_pending;   /* somebody asked for a gather */
    uint64_t newlines; /* that have asked for one since the start, those read together as one */
    enum gtel_pace_ending ending;
    int error;               /* why nothing can be waited for, a negative errno, or 0 */
    int failed_reads;        /* of the input, in a row */
    uint64_t ending_ns;      /* when the end was asked for */
    uint64_t interval_ns;    /* of the own clock; 0: none */
    uint64_t next_ns;        /* its next tick */
    uint64_t sample_ns;      /* between samples within an interval; 0: none */
    uint64_t next_sample_ns; /* when the next of them is due */
    uint64_t tick_ns;        /* when to return with GTEL_PACE_TICK, set by the caller; 0: never */
};

/*
 * interval_ns 0: no own clock. The clock's first tick is now. watches_input false: standard input
 * is left alone; with a clock it is also left alone where it is no pipe, socket or terminal, since
 * the end of /dev/null means nothing.
 */
void gtel_pace_init(struct gtel_pace *pace, uint64_t interval_ns, uint64_t sample_ns,
                    bool watches_input);
void gtel_pace_done(struct gtel_pace *pace);

/*
 * Waits for the next thing to do. After GTEL_PACE_END there is nothing more; it also comes when the
 * system refuses to wait (pace->error).
 */
enum gtel_pace_event gtel_pace_wait(struct gtel_pace *pace);
/*
 * Waits until the time t_ns and takes in what comes meanwhile. SIGTERM, SIGINT, a closed output and
 * an error cut it; the end of the input does not, since the last gather shall have its rates.
 */
void gtel_pace_pause(struct gtel_pace *pace, uint64_t t_ns);
/* Whether such a pause is cut, and the next one would be. */
bool gtel_pace_is_cut(const struct gtel_pace *pace);
/*
 * Waits until standard output takes at least 4096 bytes. Returns 0, -EPIPE when nobody reads it,
 * -ETIMEDOUT once the end has been asked for and a second has passed, or pace->error.
 */
int gtel_pace_writable(struct gtel_pace *pace);

/* What differs by system: the call behind pace->error, and what may help, or nothing. */
extern const char gtel_pace_call[];
extern const char gtel_pace_fix[];
/* The same: finds what is waited for, as gtel_pace_init says. */
void gtel_pace_open(struct gtel_pace *pace, bool watches_input);
/* The same: waits for anything until t_ns, and takes it in; true when standard output
 * can be written to and wants_out. */
bool gtel_pace_wait_any(struct gtel_pace *pace, uint64_t t_ns, bool wants_out);
/* Nanoseconds on the monotonic clock of the system. */
uint64_t gtel_pace_now(void);
/* For gtel_pace_wait_any: the end is asked for. */
static inline void gtel_pace_begin_end(struct gtel_pace *pace, enum gtel_pace_ending why)
{
    if (pace->ending == GTEL_PACE_GOES_ON)
        pace->ending_ns = gtel_pace_now();
    if (pace->ending < why)
        pace->ending = why;
}

/* The first tick after now_ns of a clock with a tick at tick_ns. */
uint64_t gtel_pace_next_tick(uint64_t tick_ns, uint64_t interval_ns, uint64_t now_ns);

#endif
