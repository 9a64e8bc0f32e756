/* SPDX-License-Identifier: MIT */
/* The process of the program, as POSIX and Linux have it. */
#include "execd/system.h"

#include "execd/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h> /* dyld(3) */
#endif

enum { HELPER_FD = 3 };

int gtel_system_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)signal(SIGPIPE, SIG_IGN);
    return 0;
}

int gtel_system_program(char *ret, size_t size)
{
#ifdef __APPLE__
    uint32_t n = (uint32_t)size;
    return _NSGetExecutablePath(ret, &n) < 0 ? -ENAMETOOLONG : 0;
#else
    ssize_t n = readlink("/proc/self/exe", ret, size - 1);
    if (n <= 0)
        return n < 0 ? -errno : -EIO;
    ret[n] = '\0';
    return 0;
#endif
}

int gtel_system_leave_folder(void)
{
    return chdir("/") < 0 ? -errno : 0;
}

bool gtel_system_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

int gtel_system_helper_fd(void)
{
    return fcntl(HELPER_FD, F_GETFD) < 0 ? -1 : HELPER_FD;
}

/*
 * As many open files as the host allows: a helper keeps one for each process and each client of a
 * GPU (sources/clients/scan.h), and the usual limit of 1,024 is for programs that call select().
 */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* without it less is kept open */
}

int gtel_system_begin_helper(int fd)
{
    raise_file_limit();
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* vendor libraries may start programs */
    return gtel_watch_start(fd);
}
