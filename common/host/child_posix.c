/* SPDX-License-Identifier: MIT */
/* Programs that write text to their standard output. */
#include "host/env_posix.h"

#include "host/spawn_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* The descriptor of a child's output: closed; the child was killed and may not have ended yet. */
enum { CLOSED = -1, KILLED = -2 };

enum { STEP_MS = 2, END_STEPS = 100 };

static bool reap(struct gtel_child_posix *child, int *ret_status)
{
    pid_t r = waitpid(child->pid, ret_status, WNOHANG);
    if (r == 0 || (r < 0 && errno == EINTR))
        return false;
    child->pid = 0;
    return true;
}

/* A place for a child; one that was killed and has ended meanwhile leaves its own. */
static int find_place(struct gtel_env_posix *env)
{
    int status;
    for (int i = 0; i < GTEL_CHILDREN_MAX; i++)
        if (env->child[i].pid == 0 || (env->child[i].fd == KILLED && reap(&env->child[i], &status)))
            return i;
    return -EBUSY;
}

static int open_pipe(int fd[2])
{
    int r = gtel_spawn_posix_pipe(fd);
    if (r < 0)
        return r;
    /* The child's end waits, ours does not. */
    if (fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0)
        return 0;
    int error = errno;
    (void)close(fd[0]);
    (void)close(fd[1]);
    return -error;
}

int gtel_child_posix_start(void *arg, const char *const *args)
{
    struct gtel_env_posix *env = arg;
    int fd[2];
    int handle = find_place(env);
    if (handle < 0)
        return handle;
    struct gtel_child_posix *child = &env->child[handle];
    int r = gtel_env_posix_note(env, open_pipe(fd));
    if (r < 0)
        return r;
#ifdef PR_CAP_AMBIENT
    /* It is for us to have more rights than a user, not for a tool that the user may name. */
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
#endif
    const int fds[] = {-1, fd[1], -1};
    /* posix_spawn does not write to the arguments. */
    r = gtel_spawn_posix(args[0], (char *const *)(uintptr_t)args, fds, 3, true, &child->pid);
    (void)close(fd[1]);
    child->fd = fd[0];
    if (r == 0)
        return handle;
    (void)close(fd[0]);
    child->pid = 0;
    return gtel_env_posix_note(env, r);
}

int64_t gtel_child_posix_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns)
{
    struct gtel_env_posix *env = arg;
    struct gtel_child_posix *child = &env->child[handle];
    struct pollfd item = {.fd = child->fd, .events = POLLIN};
    siginfo_t info = {0};
    if (child->fd >= 0) {
        if (wait_ns > 0) /* an error of it is one of read, too */
            (void)poll(&item, 1, (int)(wait_ns / 1000000));
        ssize_t got = read(child->fd, buf, n);
        if (got > 0)
            return got;
        if (got < 0)
            return errno == EINTR ? -EAGAIN : -errno;
        (void)close(child->fd);
        child->fd = CLOSED;
    } else if (wait_ns > 0) {
        (void)poll(NULL, 0, STEP_MS);
    }
    /* Until it is reaped, its group keeps its number. */
    int r = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return r == 0 && info.si_pid == 0 ? -EAGAIN : 0;
}

int gtel_child_posix_end(void *arg, int handle)
{
    struct gtel_env_posix *env = arg;
    struct gtel_child_posix *child = &env->child[handle];
    int status = 0;
    /* Before the pipe: a child that writes would end by SIGPIPE, in a race with this. */
    (void)kill(-child->pid, SIGKILL); /* also what it has started and not waited for */
    if (child->fd >= 0)
        (void)close(child->fd);
    child->fd = KILLED;
    for (int i = 0; !reap(child, &status); i++) {
        if (i == END_STEPS)
            return -EBUSY;
        (void)poll(NULL, 0, STEP_MS);
    }
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

void gtel_child_posix_done(struct gtel_env_posix *env)
{
    for (int i = 0; i < GTEL_CHILDREN_MAX; i++)
        if (env->child[i].pid != 0)
            (void)gtel_child_posix_end(env, i);
}
