/* SPDX-License-Identifier: MIT */
/* What tests with real helpers need of the system that they run on. */
#include "harness/system.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

bool system_scratch_folder(char *ret)
{
    (void)snprintf(ret, SYSTEM_PATH_MAX, "/tmp/gtel-test-XXXXXX");
    return mkdtemp(ret) != NULL;
}

bool system_scratch_file(char *ret)
{
    (void)snprintf(ret, SYSTEM_PATH_MAX, "/tmp/gtel-test-XXXXXX");
    int fd = mkstemp(ret);
    return fd >= 0 && close(fd) == 0;
}

void system_remove_file(const char *path)
{
    (void)unlink(path); /* scratch */
}

void system_remove_folder(const char *path)
{
    (void)rmdir(path); /* scratch */
}

size_t system_count_open(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

void system_end_after(unsigned seconds)
{
    (void)alarm(seconds);
}

size_t system_run_threads(size_t n, void *(*run)(void *arg), void *arg)
{
    pthread_t thread[THREADS_MAX];
    size_t started = 0;
    size_t good = 0;
    while (started < n && n <= THREADS_MAX && !pthread_create(&thread[started], NULL, run, arg))
        started++;
    for (size_t i = 0; i < started; i++) {
        void *result = NULL;
        good += pthread_join(thread[i], &result) == 0 && result;
    }
    return good;
}
