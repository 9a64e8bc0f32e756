/* SPDX-License-Identifier: MIT */
/* Helper processes of this process. */
#include "harness/helper_process.h"

#include "base/str.h"
#include "harness/whole_file.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

unsigned helper_gathers_to_return(void)
{
    return 1;
}
