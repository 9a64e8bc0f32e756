/* SPDX-License-Identifier: MIT */
/* Starts a program without a shell. */
#include "host/spawn_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_files(posix_spawn_file_actions_t *actions, const int *fd, int n)
{
    int r = 0;
    for (int i = n - 1; r == 0 && i >= 0; i--)
        if (fd[i] >= 0)
            r = posix_spawn_file_actions_adddup2(actions, fd[i], i);
    for (int i = 0; r == 0 && i < n; i++)
        if (fd[i] < 0)
            r = posix_spawn_file_actions_addopen(actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY,
                                                 0);
#ifdef GTEL_HAVE_CLOSEFROM
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(actions, n);
#endif
    return -r;
}

static int set_state(posix_spawnattr_t *attr, bool has_own_group)
{
    sigset_t none;
    sigset_t all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT /* macOS: only what set_files() names is handed on */
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    (void)sigemptyset(&none); /* these two fail for no argument that exists here */
    (void)sigfillset(&all);
    int r = posix_spawnattr_setsigmask(attr, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(attr, &all);
    if (r == 0)
        /* the number of a new group is 0 if nothing else is set: its own */
        r = posix_spawnattr_setflags(attr, has_own_group ? flags | POSIX_SPAWN_SETPGROUP : flags);
    return -r;
}

int gtel_spawn_posix(const char *path, char *const *args, const int *fd, int n, bool has_own_group,
                     pid_t *ret)
{
    char lc_all[] = "LC_ALL=C";
    char search[] = "PATH=/usr/bin:/bin";
    char *env[] = {lc_all, search, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int r = -posix_spawn_file_actions_init(&actions);
    if (r < 0)
        return r;
    r = -posix_spawnattr_init(&attr);
    if (r == 0) {
        r = set_files(&actions, fd, n);
        if (r == 0)
            r = set_state(&attr, has_own_group);
        if (r == 0)
            r = -posix_spawn(ret, path, &actions, &attr, args, env);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

#ifdef __linux__

int gtel_spawn_posix_pipe(int fd[2])
{
    return pipe2(fd, O_CLOEXEC) < 0 ? -errno : 0;
}

int gtel_spawn_posix_sockets(int fd[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0 ? -errno : 0;
}

#else /* set_state() keeps what another thread starts in between from getting them */

static int close_on_exec(const int fd[2], int r)
{
    for (int i = 0; r == 0 && i < 2; i++)
        r = fcntl(fd[i], F_SETFD, FD_CLOEXEC); /* cannot fail for what is open */
    return r < 0 ? -errno : 0;
}

int gtel_spawn_posix_pipe(int fd[2])
{
    return close_on_exec(fd, pipe(fd));
}

int gtel_spawn_posix_sockets(int fd[2])
{
    return close_on_exec(fd, socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
}

#endif
