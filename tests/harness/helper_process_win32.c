/* SPDX-License-Identifier: MIT */
/* Helper processes of this process. */
#include "harness/helper_process.h"

#include <string.h>
#include <windows.h>

#include <tlhelp32.h> /* needs windows.h */

/* winternl.h (PROCESS_BASIC_INFORMATION, PEB, RTL_USER_PROCESS_PARAMETERS), 64 bits. */
enum { BASIC_INFORMATION = 0, PEB_PARAMETERS = 0x20 };
enum { PARAMETERS_INPUT = 0x20, PARAMETERS_COMMAND_LINE = 0x70 };
typedef LONG(WINAPI *query_fn)(HANDLE, int, void *, ULONG, ULONG *);
typedef LONG(WINAPI *process_fn)(HANDLE);
typedef BOOL(WINAPI *compare_fn)(HANDLE, HANDLE);

static HANDLE gift;

struct basic {
    void *status;
    char *peb;
    void *rest[4];
};

struct counted { /* UNICODE_STRING */
    USHORT bytes;
    USHORT room;
    wchar_t *text;
};

static FARPROC function_of(const char *name)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name);
}

/* A field of its RTL_USER_PROCESS_PARAMETERS. */
static bool read_parameter(HANDLE process, size_t offset, void *ret, size_t size)
{
    FARPROC function = function_of("NtQueryInformationProcess");
    query_fn query;
    struct basic basic;
    char *parameters;
    memcpy(&query, &function, sizeof(query));
    return query(process, BASIC_INFORMATION, &basic, sizeof(basic), NULL) >= 0 &&
           ReadProcessMemory(process, basic.peb + PEB_PARAMETERS, &parameters, sizeof(parameters),
                             NULL) &&
           ReadProcessMemory(process, parameters + offset, ret, size, NULL);
}

static bool read_line(HANDLE process, wchar_t *ret, size_t size)
{
    struct counted line;
    return read_parameter(process, PARAMETERS_COMMAND_LINE, &line, sizeof(line)) &&
           line.bytes < size && ReadProcessMemory(process, line.text, ret, line.bytes, NULL);
}

static bool is_helper(uint64_t pid, const wchar_t *lane)
{
    wchar_t line[8192] = L"";
    HANDLE process = OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, (DWORD)pid);
    bool is_known = process && read_line(process, line, sizeof(line) - sizeof(line[0]));
    if (process)
        (void)CloseHandle(process);
    return is_known && wcsstr(line, L"--lane") && wcsstr(line, lane);
}

uint64_t helper_of(const char *lane)
{
    wchar_t wide[64];
    PROCESSENTRY32W entry = {.dwSize = sizeof(entry)};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    uint64_t found = 0;
    if (all == INVALID_HANDLE_VALUE || MultiByteToWideChar(CP_UTF8, 0, lane, -1, wide, 64) == 0)
        return 0;
    for (BOOL is_one = Process32FirstW(all, &entry); is_one; is_one = Process32NextW(all, &entry))
        if (entry.th32ParentProcessID == GetCurrentProcessId() &&
            is_helper(entry.th32ProcessID, wide))
            found = entry.th32ProcessID;
    (void)CloseHandle(all);
    return found;
}

static bool call(const char *name, uint64_t pid)
{
    FARPROC function = function_of(name);
    HANDLE process = OpenProcess(PROCESS_SUSPEND_RESUME, FALSE, (DWORD)pid);
    process_fn change;
    memcpy(&change, &function, sizeof(change));
    bool is_done = process && function && change(process) >= 0;
    if (process)
        (void)CloseHandle(process);
    return is_done;
}

bool helper_halt(uint64_t pid)
{
    return call("NtSuspendProcess", pid);
}

bool helper_go_on(uint64_t pid)
{
    return call("NtResumeProcess", pid);
}

bool helper_kill(uint64_t pid)
{
    HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)pid);
    bool is_done = process && TerminateProcess(process, 1);
    if (process)
        (void)CloseHandle(process);
    return is_done;
}

bool helper_is_there(uint64_t pid)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);
    bool is_alive = process && WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    if (process)
        (void)CloseHandle(process);
    return is_alive;
}

bool helper_is_left(void)
{
    PROCESSENTRY32W entry = {.dwSize = sizeof(entry)};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    bool is_left = all == INVALID_HANDLE_VALUE; /* as far as is known */
    for (BOOL is_one = !is_left && Process32FirstW(all, &entry); is_one;
         is_one = Process32NextW(all, &entry))
        is_left = is_left || entry.th32ParentProcessID == GetCurrentProcessId();
    if (all != INVALID_HANDLE_VALUE)
        (void)CloseHandle(all);
    return is_left;
}

/* A handle of that value in the process, as one of ours; NULL: it has none. */
static HANDLE handle_of(HANDLE process, HANDLE value)
{
    HANDLE ret = NULL;
    BOOL is_there =
        DuplicateHandle(process, value, GetCurrentProcess(), &ret, 0, FALSE, DUPLICATE_SAME_ACCESS);
    return is_there ? ret : NULL;
}

bool helper_has_way(uint64_t pid)
{
    DWORD access = PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | PROCESS_DUP_HANDLE;
    HANDLE process = OpenProcess(access, FALSE, (DWORD)pid);
    HANDLE value;
    if (!process)
        return false;
    HANDLE input = read_parameter(process, PARAMETERS_INPUT, &value, sizeof(value))
                       ? handle_of(process, value)
                       : NULL;
    bool is_pipe = input && GetFileType(input) == FILE_TYPE_PIPE;
    if (input)
        (void)CloseHandle(input);
    (void)CloseHandle(process);
    return is_pipe;
}

bool helper_gifts_open(void)
{
    SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
    gift = CreateEventW(&inherited, TRUE, FALSE, NULL);
    return gift != NULL;
}

/* What is inherited has the same value there; the helper may have something else of that value. */
bool helper_has_gift(uint64_t pid)
{
    FARPROC function = GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "CompareObjectHandles");
    HANDLE process = OpenProcess(PROCESS_DUP_HANDLE, FALSE, (DWORD)pid);
    compare_fn compare;
    memcpy(&compare, &function, sizeof(compare));
    if (!process || !function)
        return true; /* as far as is known */
    HANDLE theirs = handle_of(process, gift);
    bool is_same = theirs && compare(theirs, gift);
    if (theirs)
        (void)CloseHandle(theirs);
    (void)CloseHandle(process);
    return is_same;
}

bool helper_gifts_close(void)
{
    return CloseHandle(gift);
}

/* The ends of its pipe and of the process come one after the other. */
unsigned helper_gathers_to_return(void)
{
    return 5;
}
