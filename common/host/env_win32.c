/* SPDX-License-Identifier: MIT */
/* The real machine under Windows, as far as libraries of vendors need it. */
#include "host/env.h"

#include "host/files_win32.h"
#include "host/system_win32.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <psapi.h> /* needs windows.h */

enum { PATH_LENGTH = 1024 }; /* of paths that we look for, in UTF-16 units with the NUL */

struct win32_env {
    wchar_t root[PATH_LENGTH]; /* the folder of Windows, "C:\WINDOWS" */
    size_t root_n;
    uint32_t page_size;
    struct gtel_win32_files *files;
};

/* Handles of what is no file: how much memory this process has, and what the doctor says. */
enum { STATM = 0, HOST_FACTS, FILES_FIRST };

/* ---- clocks: Windows counts them in units of 100 ns ---- */

/* QueryUnbiasedInterruptTimePrecise of Windows 10; its library is in every process. */
static struct {
    INIT_ONCE once;
    void(WINAPI *call)(ULONGLONG *); /* NULL: an older Windows */
} precise = {.once = INIT_ONCE_STATIC_INIT};

static BOOL CALLBACK find_precise(INIT_ONCE *once, void *arg, void **ret)
{
    (void)once;
    (void)arg;
    (void)ret;
    (void)gtel_win32_function(L"kernelbase.dll", "QueryUnbiasedInterruptTimePrecise",
                              &precise.call);
    return TRUE;
}

/*
 * Without the time in which the host slept, which a performance counter counts. Before Windows 10
 * it goes on with the timer's ticks, of 0.5 to 16 ms.
 */
uint64_t gtel_env_real_now(void)
{
    ULONGLONG units;
    (void)InitOnceExecuteOnce(&precise.once, find_precise, NULL, NULL); /* cannot fail */
    if (!precise.call)
        return QueryUnbiasedInterruptTime(&units) ? units * 100 : 0;
    precise.call(&units);
    return units * 100;
}

uint64_t gtel_env_real_wall(void)
{
    /* FILETIME counts from 1601 (Windows: minwinbase.h, FILETIME). */
    static const uint64_t from_1601_to_1970 = 116444736000000000;
    FILETIME time;
    GetSystemTimePreciseAsFileTime(&time);
    return (((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) - from_1601_to_1970) * 100;
}

static uint64_t monotonic_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_now();
}

static uint64_t wall_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_wall();
}

/* To a tick or two: one of the two clocks counts milliseconds. */
static uint64_t suspended_ns(void *arg)
{
    uint64_t awake_ns = gtel_env_real_now();
    (void)arg;
    uint64_t all_ns = GetTickCount64() * 1000000;
    return awake_ns > 0 && all_ns > awake_ns ? all_ns - awake_ns : 0;
}

/* ---- files: those of files_win32.h, how much memory this process has, what doctor says ---- */

static int exists(void *arg, const char *path)
{
    const struct win32_env *env = arg;
    wchar_t wide[PATH_LENGTH];
    int handle = gtel_win32_files_open(env->files, path);
    if (handle >= 0) {
        gtel_win32_files_close(env->files, handle);
        return 0;
    }
    memcpy(wide, env->root, env->root_n * sizeof(wide[0]));
    wide[env->root_n] = L'\\';
    int room = PATH_LENGTH - (int)env->root_n - 1;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide + env->root_n + 1,
                            room) == 0)
        return -ENAMETOOLONG;
    if (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES)
        return 0;
    return GetLastError() == ERROR_ACCESS_DENIED ? -EACCES : -ENOENT;
}

static int file_open(void *arg, const char *path)
{
    const struct win32_env *env = arg;
    if (strcmp(path, "proc/self/statm") == 0)
        return STATM;
    if (strcmp(path, GTEL_HOST_FACTS) == 0)
        return HOST_FACTS;
    int handle = gtel_win32_files_open(env->files, path);
    return handle < 0 ? handle : FILES_FIRST + handle;
}

/* proc(5): all and resident memory, in pages. */
static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    const struct win32_env *env = arg;
    PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof(memory)};
    if (handle == HOST_FACTS)
        return gtel_win32_facts(buf, n);
    if (handle != STATM)
        return gtel_win32_files_read(env->files, handle - FILES_FIRST, buf, n);
    if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof(memory)))
        return -EIO;
    int length = snprintf(buf, n, "%zu %zu\n", memory.PagefileUsage / env->page_size,
                          memory.WorkingSetSize / env->page_size);
    return length < (int)n ? length : -ENOBUFS;
}

static void file_close(void *arg, int handle)
{
    const struct win32_env *env = arg;
    if (handle >= FILES_FIRST)
        gtel_win32_files_close(env->files, handle - FILES_FIRST);
}

static int dir_list(void *arg, const char *path, gtel_dir_fn fn, void *fn_arg)
{
    (void)arg;
    (void)path;
    (void)fn;
    (void)fn_arg;
    return -ENOENT;
}

static int dir_list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    (void)arg;
    (void)path;
    (void)first;
    (void)fn;
    (void)fn_arg;
    return -ENOENT;
}

static int64_t link_read(void *arg, const char *path, char *buf, size_t n)
{
    (void)arg;
    (void)path;
    (void)buf;
    (void)n;
    return -ENOENT;
}

static int stat_file(void *arg, const char *path, struct gtel_stat *ret)
{
    const struct win32_env *env = arg;
    return gtel_win32_files_stat(env->files, path, ret);
}

static int process_start(void *arg, uint32_t pid, uint64_t *ret)
{
    const struct win32_env *env = arg;
    return gtel_win32_files_start(env->files, pid, ret);
}

/* ---- libraries ---- */

/*
 * The flags that say where to look, or 0 for a name that would be looked for in a folder that
 * somebody else may choose: a relative path, or one that begins at the current drive.
 */
static DWORD places(const char *name)
{
    bool is_full = name[0] != '\0' && name[1] == ':' && (name[2] == '\\' || name[2] == '/');
    if (is_full)
        return LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32;
    return strpbrk(name, "\\/:") ? 0 : LOAD_LIBRARY_SEARCH_SYSTEM32;
}

int gtel_env_real_lib_open(const char *name, void **ret)
{
    wchar_t wide[PATH_LENGTH];
    DWORD flags = places(name);
    DWORD mode;
    if (flags == 0 ||
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide, PATH_LENGTH) == 0)
        return -ENOENT;
    /* A file that is no library makes no window that waits for somebody to press a button. */
    bool is_quiet = SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode);
    HMODULE module = LoadLibraryExW(wide, NULL, flags);
    DWORD error = GetLastError();
    if (is_quiet)
        (void)SetThreadErrorMode(mode, NULL);
    if (!module)
        return gtel_win32_error(error);
    *ret = module;
    return 0;
}

void *gtel_env_real_lib_symbol(void *lib, const char *name)
{
    void *address;
    FARPROC function = GetProcAddress(lib, name);
    memcpy(&address, &function, sizeof(address));
    return address;
}

void gtel_env_real_lib_close(void *lib)
{
    (void)FreeLibrary(lib); /* a library that stays loaded is no harm */
}

static int lib_open(void *arg, const char *const *names, void **ret)
{
    int first = -ENOENT;
    (void)arg;
    for (size_t i = 0; names[i]; i++) {
        int r = gtel_env_real_lib_open(names[i], ret);
        if (r == 0)
            return 0;
        first = first == -ENOENT ? r : first;
    }
    return first;
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    return gtel_env_real_lib_symbol(lib, name);
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    gtel_env_real_lib_close(lib);
}

static const struct gtel_env_ops win32_ops = {
    .monotonic_ns = monotonic_ns,
    .wall_ns = wall_ns,
    .suspended_ns = suspended_ns,
    .file_open = file_open,
    .file_read = file_read,
    .file_close = file_close,
    .dir_list = dir_list,
    .link_read = link_read,
    .exists = exists,
    .stat = stat_file,
    .process_start = process_start,
    .dir_list_from = dir_list_from,
    .lib_open = lib_open,
    .lib_symbol = lib_symbol,
    .lib_close = lib_close,
};

int gtel_env_win32_init(struct gtel_env *ret)
{
    struct win32_env *env = calloc(1, sizeof(*env));
    if (!env)
        return -ENOMEM;
    UINT n = GetSystemWindowsDirectoryW(env->root, PATH_LENGTH);
    env->files = gtel_win32_files_new();
    if (!env->files || n == 0 || n >= PATH_LENGTH - 1) {
        int r = env->files ? -EIO : -ENOMEM;
        gtel_win32_files_free(env->files);
        free(env);
        return r;
    }
    env->root_n = n;
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    env->page_size = system.dwPageSize;
    *ret = (struct gtel_env){.ops = &win32_ops, .arg = env, .page_size = env->page_size};
    return 0;
}

void gtel_env_win32_done(struct gtel_env *env)
{
    struct win32_env *win32 = env->arg;
    if (win32)
        gtel_win32_files_free(win32->files);
    free(win32);
    *env = (struct gtel_env){0};
}
