/* SPDX-License-Identifier: MIT */
/* The end of a helper whose front end dies: that it is watched for, and what happens then. */
#include "execd/watch.h"

#include "base/compiler.h"
#include "base/str.h"
#include "harness/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned refusals; /* of threads, still to come */
static unsigned threads;  /* asked for */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
    sigset_t now;
    int detached = PTHREAD_CREATE_JOINABLE;
    threads++;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGTERM) == 1);
    CHECK(pthread_attr_getdetachstate(attr, &detached) == 0);
    CHECK_INT(detached, PTHREAD_CREATE_DETACHED);
    if (refusals > 0) {
        refusals--;
        return EAGAIN;
    }
    return __real_pthread_create(thread, attr, run, arg);
}

/* A lack may be over soon; a helper that nobody would end gets an error, and does not run. */
static void test_refused(void)
{
    static const struct {
        unsigned refusals;
        unsigned threads;
        int r;
    } cases[] = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 3, -EAGAIN}, {9, 3, -EAGAIN}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        int ends[2];
        sigset_t now;
        if (!CHECK(pipe(ends) == 0)) /* both stay open for the threads */
            return;
        refusals = cases[i].refusals;
        threads = 0;
        CHECK_INT(gtel_watch_start(ends[0]), cases[i].r);
        CHECK_INT(threads, cases[i].threads);
        CHECK(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGTERM) == 0);
    }
    refusals = 0;
}

static void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* A helper that hangs, of a front end that dies or only closes. Returns the helper's number. */
static pid_t start_helper(bool front_dies, pid_t *ret_front)
{
    int numbers[2];
    int socket[2];
    pid_t helper = 0;
    if (!CHECK(pipe(numbers) == 0 && pipe(socket) == 0))
        return 0;
    *ret_front = fork();
    if (*ret_front == 0) {
        helper = fork();
        if (helper == 0) {
            (void)close(socket[1]);
            if (gtel_watch_start(socket[0]) < 0)
                _exit(2);
            for (;;)
                (void)pause();
        }
        sleep_ms(100); /* the helper has found out who its parent is */
        if (write(numbers[1], &helper, sizeof(helper)) != sizeof(helper))
            _exit(1);
        (void)close(socket[1]);
        if (front_dies)
            _exit(0);
        for (;;)
            (void)pause();
    }
    (void)close(socket[1]);
    (void)close(numbers[1]);
    CHECK(read(numbers[0], &helper, sizeof(helper)) == sizeof(helper));
    (void)close(numbers[0]);
    (void)close(socket[0]);
    return helper;
}

/* Within a second and a half, not within half a one; never while the front end lives. */
static void test_ends(void)
{
    pid_t dying;
    pid_t living;
    int status = 0;
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); /* who has no parent any more is ours */
    pid_t left = start_helper(true, &dying);
    pid_t kept = start_helper(false, &living);
    if (left <= 0 || kept <= 0)
        return;
    CHECK(waitpid(dying, NULL, 0) == dying);
    sleep_ms(300);
    CHECK(waitpid(left, &status, WNOHANG) == 0); /* it may still end by itself */
    for (int i = 0; i < 100 && waitpid(left, &status, WNOHANG) == 0; i++)
        sleep_ms(100);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
    CHECK(kill(kept, 0) == 0); /* for its front end to decide */
    (void)kill(living, SIGKILL);
    CHECK(waitpid(living, NULL, 0) == living);
    (void)kill(kept, SIGKILL);
    CHECK(waitpid(kept, &status, 0) == kept);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
    test_ends();
    test_refused();
    return test_result();
}
