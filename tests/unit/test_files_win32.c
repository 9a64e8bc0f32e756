/* SPDX-License-Identifier: MIT */
/* What Windows says of processes and counters, as files of its env; under Wine, which has no sets.
 */
#include "base/compiler.h"
#include "host/fs.h"
#include "host/process.h"
#include "harness/alloc_fault.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static struct gtel_env env;

/* This very process: its name, its start, its user. */
static void test_process(void)
{
    struct gtel_process_book book = {0};
    struct gtel_process_who who;
    struct gtel_process_id self = {.pid = GetCurrentProcessId()};
    FILETIME start;
    FILETIME other;
    wchar_t user[64];
    char name[64];
    DWORD n = GTEL_ARRAY_LEN(user);
    CHECK(GetProcessTimes(GetCurrentProcess(), &start, &other, &other, &other));
    CHECK_INT(gtel_process_start(&env, self.pid, &self.start), 0);
    CHECK(self.start == ((uint64_t)start.dwHighDateTime << 32 | start.dwLowDateTime));
    CHECK(GetEnvironmentVariableW(L"USERNAME", user, n) > 0);
    CHECK(WideCharToMultiByte(CP_UTF8, 0, user, -1, name, sizeof(name), NULL, NULL) > 0);
    CHECK_INT(gtel_process_who(&env, &book, self, GTEL_WHO_NAME | GTEL_WHO_USER, &who), 0);
    CHECK_STR(gtel_str_of(who.name), "test_unit_files_win32.exe");
    CHECK_STR(gtel_str_of(who.user), name);
    self.start++; /* another one that had this number */
    CHECK_INT(gtel_process_who(&env, &book, self, GTEL_WHO_NAME, &who), -ESRCH);
    gtel_process_book_done(&book);
}

/* Without memory for a list of processes no process has ended. */
static void test_memory(void)
{
    uint64_t start;
    for (uint64_t at = 1; at <= 4; at++) {
        struct gtel_env other;
        if (!CHECK(gtel_env_win32_init(&other) == 0))
            return;
        alloc_fault_arm(at);
        int r = gtel_process_start(&other, GetCurrentProcessId(), &start);
        CHECK_INT(r, at <= alloc_fault_count() ? -ENOMEM : 0);
        alloc_fault_arm(0);
        CHECK_INT(gtel_process_start(&other, GetCurrentProcessId(), &start), 0);
        gtel_env_win32_done(&other);
    }
}

static void test_nothing(void)
{
    static const char *const paths[] = {
        "proc/4294967295/stat",
        "proc/-1/stat",
        "proc/x/stat",
        "proc/stat",
        "proc/1/fd",
        "",
        "windows/counters/978C167D-4764-4D9C-9824-14747351DC81", /* Wine has no such set */
        "windows/counters/978C167D-4764-4D9C-9824-14747351DC8",
        "windows/counters/978C167D-4764-4D9C-9824-14747351DC81-0",
        "windows/counters/978C167D-4764-4D9C-9824+14747351DC81",
    };
    struct gtel_stat info;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(paths); i++) {
        test_label = paths[i];
        CHECK_INT(env.ops->file_open(env.arg, paths[i]), -ENOENT);
        CHECK_INT(env.ops->stat(env.arg, paths[i], &info), -ENOENT);
    }
    test_label = NULL;
}

/* Files are closed: there are always as many as there were. */
static void test_handles(void)
{
    char path[GTEL_FS_PATH_MAX];
    (void)gtel_fs_path(path, "proc/%lu/stat", GetCurrentProcessId());
    int handles[64];
    int n = 0;
    while (n < 64 && (handles[n] = env.ops->file_open(env.arg, path)) >= 0)
        n++;
    CHECK(n > 0 && n < 64 && handles[n] == -EMFILE);
    while (n > 0)
        env.ops->file_close(env.arg, handles[--n]);
    for (int i = 0; i < 1000; i++) {
        int handle = env.ops->file_open(env.arg, path);
        CHECK(handle >= 0);
        env.ops->file_close(env.arg, handle);
    }
}

/* Display devices by WMI, of which Wine has one. Twice: COM ends in between. */
static void test_controllers(void)
{
    char text[GTEL_FS_TEXT_MAX];
    struct gtel_str said;
    for (unsigned i = 0; i < 2; i++) {
        if (!CHECK(gtel_fs_text(&env, GTEL_WMI_CONTROLLERS, text, sizeof(text), &said) == 0))
            return;
        CHECK(gtel_str_starts(said, GTEL_STR("PNPDeviceID: PCI\\VEN_")));
        CHECK(strstr(text, "\nName: "));
        const char *ram = strstr(text, "\nAdapterRAM: ");
        CHECK(ram && strtoull(ram + sizeof("\nAdapterRAM: ") - 1, NULL, 10) > 1 << 20);
    }
    (void)fprintf(stderr, "%.*s", GTEL_STR_ARG(said));
}

int main(void)
{
    if (!CHECK(gtel_env_win32_init(&env) == 0))
        return test_result();
    test_process();
    test_memory();
    test_nothing();
    test_handles();
    test_controllers();
    gtel_env_win32_done(&env);
    return test_result();
}
