/* SPDX-License-Identifier: MIT */
/* Signals as events: signalfd(2). */
#include "execd/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

int gtel_signals_open(void)
{
    sigset_t set;
    (void)sigemptyset(&set); /* these fail for bad signal numbers only */
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* they end the program, then */
    return fd;
}

bool gtel_signals_next(int fd, int *ret_signal)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return false;
    *ret_signal = (int)info.ssi_signo;
    return true;
}
