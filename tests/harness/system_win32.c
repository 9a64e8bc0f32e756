/* SPDX-License-Identifier: MIT */
/* What tests with real helpers need of the system that they run on. */
#include "harness/system.h"

#include <stdint.h>
#include <stdio.h>
#include <windows.h>

enum { THREADS_MAX = 16, HANDLES_MAX = 4096, HANDLE_STEP = 4 };

struct thread {
    HANDLE handle;
    void *(*run)(void *arg);
    void *arg;
    void *result;
};

/* The file that GetTempFileName makes keeps the name ours alone. */
bool system_scratch_file(char *ret)
{
    char folder[MAX_PATH];
    char path[MAX_PATH];
    DWORD n = GetTempPathA(sizeof(folder), folder);
    if (n == 0 || n >= sizeof(folder) || GetTempFileNameA(folder, "gtl", 0, path) == 0)
        return false;
    (void)snprintf(ret, SYSTEM_PATH_MAX, "%s", path);
    return true;
}

bool system_scratch_folder(char *ret)
{
    return system_scratch_file(ret) && DeleteFileA(ret) && CreateDirectoryA(ret, NULL);
}

void system_remove_file(const char *path)
{
    (void)DeleteFileA(path); /* scratch */
}

void system_remove_folder(const char *path)
{
    (void)RemoveDirectoryA(path); /* scratch */
}

/* Handles are small multiples of 4 (Microsoft: Kernel Objects). Wine does not count them itself. */
size_t system_count_open(void)
{
    size_t n = 0;
    for (uintptr_t value = HANDLE_STEP; value < (uintptr_t)HANDLES_MAX * HANDLE_STEP;
         value += HANDLE_STEP) {
        DWORD flags;
        n += GetHandleInformation((HANDLE)value, &flags) != 0;
    }
    return n;
}

static DWORD WINAPI end_late(void *arg)
{
    Sleep((DWORD)(uintptr_t)arg * 1000);
    printf("the time is over\n");
    (void)fflush(stdout);
    (void)TerminateProcess(GetCurrentProcess(), 3);
    return 0;
}

void system_end_after(unsigned seconds)
{
    HANDLE thread = CreateThread(NULL, 0, end_late, (void *)(uintptr_t)seconds, 0, NULL);
    if (thread)
        (void)CloseHandle(thread);
}

static DWORD WINAPI run_thread(void *arg)
{
    struct thread *thread = arg;
    thread->result = thread->run(thread->arg);
    return 0;
}

size_t system_run_threads(size_t n, void *(*run)(void *arg), void *arg)
{
    struct thread thread[THREADS_MAX];
    size_t good = 0;
    for (size_t i = 0; i < n && n <= THREADS_MAX; i++) {
        thread[i] = (struct thread){.run = run, .arg = arg};
        thread[i].handle = CreateThread(NULL, 0, run_thread, &thread[i], 0, NULL);
    }
    for (size_t i = 0; i < n && n <= THREADS_MAX; i++) {
        if (!thread[i].handle)
            continue;
        (void)WaitForSingleObject(thread[i].handle, INFINITE);
        (void)CloseHandle(thread[i].handle);
        good += thread[i].result != NULL;
    }
    return good;
}
