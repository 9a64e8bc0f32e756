/* SPDX-License-Identifier: MIT */
/* Helper processes of this process. */
#include "harness/helper_process.h"

#include "base/str.h"
#include "harness/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAY = 3, GIFT = 77 };

static sigset_t mask_before;

/* Whether a process is a helper of that lane, by its command line. */
static bool is_helper(uint64_t pid, const char *lane)
{
    char path[64];
    char line[4096];
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(line, 1, sizeof(line) - 1, file);
    (void)fclose(file);
    line[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    return strstr(line, "--lane") && strstr(line, lane);
}

uint64_t helper_of(const char *lane)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    size_t n = 0;
    char *text = read_whole_file(path, &n);
    struct gtel_str rest = {text, text ? n : 0};
    struct gtel_str word;
    uint64_t found = 0;
    while (gtel_str_word(&rest, &word)) {
        uint64_t pid = 0;
        if (gtel_str_u64(word, &pid) == 0 && is_helper(pid, lane))
            found = pid;
    }
    free(text);
    return found;
}

bool helper_kill(uint64_t pid)
{
    return kill((pid_t)pid, SIGKILL) == 0;
}

bool helper_halt(uint64_t pid)
{
    return kill((pid_t)pid, SIGSTOP) == 0;
}

bool helper_go_on(uint64_t pid)
{
    return kill((pid_t)pid, SIGCONT) == 0;
}

bool helper_is_there(uint64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

bool helper_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static bool has_descriptor(uint64_t pid, int fd)
{
    char path[64];
    struct stat st;
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fd/%d", pid, fd);
    return lstat(path, &st) == 0;
}

bool helper_has_way(uint64_t pid)
{
    return has_descriptor(pid, WAY);
}

/* The signals that a process's first thread blocks; all where that is not known. */
static uint64_t blocked_by(uint64_t pid)
{
    char path[64];
    uint64_t mask = UINT64_MAX;
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", pid);
    size_t n = 0;
    char *text = read_whole_file(path, &n);
    struct gtel_str rest = {text, text ? n : 0};
    struct gtel_str line;
    while (gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, GTEL_STR("SigBlk:")))
            (void)gtel_str_hex(gtel_str_trim(gtel_str_skip(line, 7)), &mask);
    free(text);
    return mask;
}

bool helper_gifts_open(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    return pthread_sigmask(SIG_BLOCK, &all, &mask_before) == 0 && dup2(STDERR_FILENO, GIFT) == GIFT;
}

bool helper_has_gift(uint64_t pid)
{
    if (blocked_by(pid) != 0)
        return true;
#if __GLIBC_PREREQ(2, 34) /* posix_spawn_file_actions_addclosefrom_np */
    return has_descriptor(pid, GIFT);
#else
    return false;
#endif
}

bool helper_gifts_close(void)
{
    return pthread_sigmask(SIG_SETMASK, &mask_before, NULL) == 0 && close(GIFT) == 0;
}

unsigned helper_gathers_to_return(void)
{
    return 1;
}
