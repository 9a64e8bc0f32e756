/* SPDX-License-Identifier: MIT */
/* Signals as events: kqueue(2), which sees them although they are ignored (EVFILT_SIGNAL). */
#include "execd/signals.h"

#include <sys/event.h>
#include <unistd.h>

static const int taken[] = {SIGTERM, SIGINT, SIGUSR1};

enum { TAKEN = sizeof(taken) / sizeof(taken[0]) };

int gtel_signals_open(void)
{
    struct kevent changes[TAKEN];
    int fd = kqueue(); /* no child inherits it */
    if (fd < 0)
        return -1;
    for (int i = 0; i < TAKEN; i++) {
        (void)signal(taken[i], SIG_IGN);
        EV_SET(&changes[i], (uintptr_t)taken[i], EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
    }
    if (kevent(fd, changes, TAKEN, NULL, 0, NULL) == 0)
        return fd;
    for (int i = 0; i < TAKEN; i++)
        (void)signal(taken[i], SIG_DFL);
    (void)close(fd);
    return -1;
}

bool gtel_signals_next(int fd, int *ret_signal)
{
    const struct timespec now = {0};
    struct kevent event;
    if (kevent(fd, NULL, 0, &event, 1, &now) != 1)
        return false;
    *ret_signal = (int)event.ident;
    return true;
}
