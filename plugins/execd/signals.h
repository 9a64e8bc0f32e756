/* SPDX-License-Identifier: MIT */
/* Signals that the program takes as events: SIGTERM, SIGINT and SIGUSR1; for pace_posix. */
#ifndef GTEL_EXECD_SIGNALS_H
#define GTEL_EXECD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * From now on they do nothing of their own. Returns a descriptor that poll(2) calls readable when
 * one has come; to be closed. Negative: not possible, and they end the program as ever.
 */
int gtel_signals_open(void);
/* The next one that has come, if any. */
bool gtel_signals_next(int fd, int *ret_signal);

#endif
