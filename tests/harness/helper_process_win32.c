/* SPDX-License-Identifier: MIT */
/* Helper processes of this process. */
#include "harness/helper_process.h"

#include <string.h>
#include <windows.h>

#include <tlhelp32.h> /* needs windows.h */

/* winternl.h (PROCESS_BASIC_INFORMATION, PEB, RTL_USER_PROCESS_PARAMETERS), 64 bits. */
enum { BASIC_INFORMATION = 0, PEB_PARAMETERS = 0x20, PARAMETERS_COMMAND_LINE = 0x70 };
typedef LONG(WINAPI *query_fn)(HANDLE, int, void *, ULONG, ULONG *);
typedef LONG(WINAPI *process_fn)(HANDLE);

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

static bool read_line(HANDLE process, wchar_t *ret, size_t size)
{
    FARPROC function = function_of("NtQueryInformationProcess");
    query_fn query;
    struct basic basic;
    struct counted line;
    char *parameters;
    memcpy(&query, &function, sizeof(query));
    return query(process, BASIC_INFORMATION, &basic, sizeof(basic), NULL) >= 0 &&
           ReadProcessMemory(process, basic.peb + PEB_PARAMETERS, &parameters, sizeof(parameters),
                             NULL) &&
           ReadProcessMemory(process, parameters + PARAMETERS_COMMAND_LINE, &line, sizeof(line),
                             NULL) &&
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

/* The ends of its pipe and of the process come one after the other. */
unsigned helper_gathers_to_return(void)
{
    return 5;
}
