/* SPDX-License-Identifier: MIT */
/* Ends a helper whose front end has died. */
#include "execd/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STEP_NS = 100000000, GRACE_STEPS = 10, STACK = 256 << 10 };
/* A lack of memory or of processes may be over soon. */
enum { TRIES = 3, RETRY_NS = 10000000 };

struct watch {
    int fd;
    pid_t parent;
};

static void *run(void *arg)
{
    struct watch watch = *(struct watch *)arg;
    struct pollfd item = {.fd = watch.fd}; /* POLLHUP and POLLERR are always reported */
    free(arg);
    while (poll(&item, 1, -1) < 0 && errno == EINTR)
        continue;
    /* A poll that is refused ends here, too: the parent is then asked for every step. */
    for (int left = GRACE_STEPS; left > 0;) {
        struct timespec step = {.tv_nsec = STEP_NS};
        (void)nanosleep(&step, NULL);
        left -= getppid() != watch.parent ? 1 : 0;
    }
    _exit(EXIT_FAILURE);
}

static int start_thread(struct watch *watch)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int r = pthread_attr_init(&attr);
    if (r != 0)
        return -r;
    (void)sigfillset(&all); /* signals are for the helper's own thread; these two cannot fail */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (r == 0)
        r = pthread_attr_setstacksize(&attr, STACK);
    if (r == 0)
        r = pthread_create(&thread, &attr, run, watch);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return -r;
}

int gtel_watch_start(int fd)
{
    struct watch *watch = malloc(sizeof(*watch));
    if (!watch)
        return -ENOMEM;
    /* Should the parent be dead already, the greeting finds the socket closed, and that is it. */
    *watch = (struct watch){.fd = fd, .parent = getppid()};
    int r = -EAGAIN;
    for (int i = 0; i < TRIES && r < 0; i++) {
        struct timespec step = {.tv_nsec = i > 0 ? RETRY_NS : 0};
        (void)nanosleep(&step, NULL);
        r = start_thread(watch);
    }
    if (r < 0)
        free(watch);
    return r;
}
