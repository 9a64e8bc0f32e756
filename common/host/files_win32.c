/* SPDX-License-Identifier: MIT */
/* Files that Windows does not have: performance counters, processes, users, WMI. */
#include "host/files_win32.h"

#include "base/grow.h"
#include "host/system_win32.h"
#include "host/wmi_win32.h"
#include "parse/perf_counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum {
    HANDLES_MAX = 32,
    USERS_MAX = 64,
    BYTES_FIRST = 65536, /* of what a call gives */
    BYTES_LAST = 64 << 20,
    TRIES = 4,
    NAME_SIZE = 256 /* bytes of UTF-8 */
};

static const uint64_t fresh_ns = 1000000000;

/* ---- what the calls take (Microsoft: perflib.h, winternl.h) ---- */

struct counter_id {
    GUID set;
    ULONG status; /* written */
    ULONG size;
    ULONG counter; /* all ones: each */
    ULONG instance;
    ULONG index;
    ULONG reserved;
    wchar_t name[4]; /* "*", filled up to 8 bytes */
};
_Static_assert(sizeof(struct counter_id) == 48, "PERF_COUNTER_IDENTIFIER and a name");

/* SYSTEM_PROCESS_INFORMATION as far as it is of use. */
struct process_info {
    ULONG next; /* bytes from here; 0: the last one */
    ULONG threads;
    LARGE_INTEGER reserved[3];
    LARGE_INTEGER created;
    LARGE_INTEGER times[2];
    USHORT name_bytes;
    USHORT name_room;
    const wchar_t *name;
    LONG priority;
    HANDLE pid;
};
_Static_assert(offsetof(struct process_info, created) == 32, "64-bit Windows");
_Static_assert(offsetof(struct process_info, name) == 64, "64-bit Windows");
_Static_assert(offsetof(struct process_info, pid) == 80, "64-bit Windows");

enum { SYSTEM_PROCESSES = 5 };
#define INFO_LENGTH_MISMATCH ((LONG)0xC0000004)
#define WMI_GUID_NOT_FOUND 4200ul /* winerror.h: no such set */

struct calls {
    ULONG(WINAPI *open)(const wchar_t *machine, HANDLE *query);
    ULONG(WINAPI *add)(HANDLE query, struct counter_id *counters, DWORD bytes);
    ULONG(WINAPI *read)(HANDLE query, void *data, DWORD bytes, DWORD *need);
    ULONG(WINAPI *close)(HANDLE query);
    BOOL(WINAPI *open_token)(HANDLE process, DWORD access, HANDLE *token);
    BOOL(WINAPI *token_info)
    (HANDLE token, TOKEN_INFORMATION_CLASS kind, void *ret, DWORD bytes, DWORD *need);
    BOOL(WINAPI *lookup)
    (const wchar_t *machine, PSID sid, wchar_t *name, DWORD *units, wchar_t *domain,
     DWORD *domain_units, SID_NAME_USE *use);
    LONG(WINAPI *system_info)(int kind, void *ret, ULONG bytes, ULONG *need);
};

struct process {
    uint32_t pid;
    uint64_t start;
    const wchar_t *name; /* in the bytes of the call */
    int name_units;
};

struct user {
    uint32_t number;
    unsigned char sid[SECURITY_MAX_SID_SIZE];
    DWORD sid_bytes;
    char name[NAME_SIZE];
};

enum kind { NOTHING, COUNTERS, STAT, PASSWD, CONTROLLERS };

struct handle {
    enum kind kind;
    uint32_t pid;
    GUID set;
    HANDLE query;   /* NULL: to be opened */
    uint64_t round; /* in which the set was read last */
};

struct gtel_win32_files {
    struct calls call;
    void *advapi;
    void *ntdll;
    struct handle handle[HANDLES_MAX];
    unsigned char *infos; /* of the processes, as the call gives them */
    size_t infos_size;
    struct process *process; /* by pid */
    size_t processes;
    size_t process_room;
    uint64_t listed_ns; /* 0: not in this round */
    uint64_t round;     /* another one begins when a set is read again */
    struct user user[USERS_MAX];
    size_t users;
};

static void find_call(void *lib, const char *name, void *ret)
{
    void *address = lib ? gtel_env_real_lib_symbol(lib, name) : NULL;
    memcpy(ret, &address, sizeof(address));
}

struct gtel_win32_files *gtel_win32_files_new(void)
{
    struct gtel_win32_files *files = calloc(1, sizeof(*files));
    if (!files)
        return NULL;
    struct calls *call = &files->call;
    (void)gtel_env_real_lib_open("advapi32.dll", &files->advapi); /* else there are no such files */
    (void)gtel_env_real_lib_open("ntdll.dll", &files->ntdll);
    find_call(files->advapi, "PerfOpenQueryHandle", &call->open);
    find_call(files->advapi, "PerfAddCounters", &call->add);
    find_call(files->advapi, "PerfQueryCounterData", &call->read);
    find_call(files->advapi, "PerfCloseQueryHandle", &call->close);
    find_call(files->advapi, "OpenProcessToken", &call->open_token);
    find_call(files->advapi, "GetTokenInformation", &call->token_info);
    find_call(files->advapi, "LookupAccountSidW", &call->lookup);
    find_call(files->ntdll, "NtQuerySystemInformation", &call->system_info);
    return files;
}

void gtel_win32_files_free(struct gtel_win32_files *files)
{
    if (!files)
        return;
    for (int i = 0; i < HANDLES_MAX; i++)
        gtel_win32_files_close(files, i);
    if (files->advapi)
        gtel_env_real_lib_close(files->advapi);
    if (files->ntdll)
        gtel_env_real_lib_close(files->ntdll);
    free(files->infos);
    free(files->process);
    free(files);
}

/* ---- counters ---- */

static int perf_error(ULONG error)
{
    return error == 0 ? 0 : error == WMI_GUID_NOT_FOUND ? -ENOENT : gtel_win32_error(error);
}

static void close_query(struct gtel_win32_files *files, struct handle *handle)
{
    if (handle->query)
        (void)files->call.close(handle->query); /* nothing else could be done */
    handle->query = NULL;
}

/* The status of each counter is in its identifier: Wine succeeds, and says there that it has none.
 */
static int open_query(struct gtel_win32_files *files, struct handle *handle)
{
    const struct calls *call = &files->call;
    struct counter_id id = {.set = handle->set,
                            .size = sizeof(id),
                            .counter = UINT32_MAX,
                            .instance = UINT32_MAX,
                            .name = L"*"};
    if (!call->open || !call->add || !call->read || !call->close)
        return -ENOENT;
    if (handle->query)
        return 0;
    int r = perf_error(call->open(NULL, &handle->query));
    if (r < 0) {
        handle->query = NULL;
        return r;
    }
    r = perf_error(call->add(handle->query, &id, sizeof(id)));
    r = r == 0 ? perf_error(id.status) : r;
    if (r < 0)
        close_query(files, handle);
    return r;
}

/* A query that fails is opened again at the next reading: the set may have been registered again.
 */
static int64_t read_counters(struct gtel_win32_files *files, struct handle *handle, void *buf,
                             size_t n)
{
    struct gtel_perf_set set;
    uint32_t length = 0;
    int r = open_query(files, handle);
    if (handle->round == files->round) {
        files->round++;
        files->listed_ns = 0;
    }
    handle->round = files->round;
    if (r == 0) {
        DWORD need;
        DWORD room = n < BYTES_LAST ? (DWORD)n : BYTES_LAST;
        ULONG error = files->call.read(handle->query, buf, room, &need);
        if (error == ERROR_NOT_ENOUGH_MEMORY)
            return (int64_t)n;
        r = perf_error(error);
    }
    if (r == 0)
        r = gtel_perf_begin((struct gtel_str){buf, n}, &set);
    if (r == 0)
        memcpy(&length, buf, sizeof(length)); /* perflib.h: PERF_DATA_HEADER.TotalSize */
    else
        close_query(files, handle);
    return r < 0 ? r : (int64_t)length;
}

/* ---- processes ---- */

static int by_pid(const void *a, const void *b)
{
    const struct process *left = a;
    const struct process *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

static int add_process(struct gtel_win32_files *files, const struct process_info *info)
{
    if (!gtel_grow(&files->process, &files->process_room, files->processes + 1, SIZE_MAX,
                   sizeof(*files->process)))
        return -ENOMEM;
    files->process[files->processes++] = (struct process){.pid = (uint32_t)(uintptr_t)info->pid,
                                                          .start = (uint64_t)info->created.QuadPart,
                                                          .name = info->name,
                                                          .name_units = info->name_bytes / 2};
    return 0;
}

static int list_processes(struct gtel_win32_files *files)
{
    uint64_t now_ns = gtel_env_real_now();
    ULONG need = BYTES_FIRST;
    LONG status = INFO_LENGTH_MISMATCH;
    int r = files->call.system_info ? 0 : -ENOENT;
    if (files->listed_ns > 0 && now_ns - files->listed_ns < fresh_ns)
        return 0;
    for (int i = 0; i < TRIES && r == 0 && status == INFO_LENGTH_MISMATCH; i++) {
        if (!gtel_grow(&files->infos, &files->infos_size, need, BYTES_LAST, 1))
            r = -ENOMEM;
        else
            status = files->call.system_info(SYSTEM_PROCESSES, files->infos,
                                             (ULONG)files->infos_size, &need);
    }
    files->processes = 0;
    files->listed_ns = 0;
    if (r < 0 || status < 0)
        return r < 0 ? r : -EIO;
    for (size_t at = 0; r == 0;) {
        if (files->infos_size - at < sizeof(struct process_info))
            return -EIO;
        struct process_info info;
        memcpy(&info, files->infos + at, sizeof(info));
        r = add_process(files, &info);
        if (info.next == 0 || info.next > files->infos_size - at)
            break;
        at += info.next;
    }
    qsort(files->process, files->processes, sizeof(*files->process), by_pid);
    files->listed_ns = r == 0 ? now_ns : 0;
    return r;
}

/* 0; -ENOENT without such a process, or another negative errno. */
static int find_process(struct gtel_win32_files *files, uint32_t pid, const struct process **ret)
{
    const struct process key = {.pid = pid};
    int r = list_processes(files);
    if (r < 0)
        return r;
    *ret = files->processes > 0
               ? bsearch(&key, files->process, files->processes, sizeof(key), by_pid)
               : NULL;
    return *ret ? 0 : -ENOENT;
}

/* As proc(5) has it: pid, name, state, parent … and start as the 22nd. */
static int64_t read_stat(struct gtel_win32_files *files, uint32_t pid, char *buf, size_t n)
{
    char name[NAME_SIZE];
    const struct process *process;
    int length = 0;
    int r = find_process(files, pid, &process);
    if (r < 0)
        return r;
    if (process->name && process->name_units > 0)
        length = WideCharToMultiByte(CP_UTF8, 0, process->name, process->name_units, name,
                                     sizeof(name) - 1, NULL, NULL);
    if (length == 0) /* pid 0; or a name that is longer than any file's */
        length = snprintf(name, sizeof(name), "%s", pid == 0 ? "Idle" : "?");
    length = snprintf(buf, n, "%" PRIu32 " (%.*s) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %" PRIu64,
                      pid, length, name, process->start);
    return length < (int)n ? length : (int64_t)n;
}

int gtel_win32_files_start(struct gtel_win32_files *files, uint32_t pid, uint64_t *ret)
{
    const struct process *process;
    int r = find_process(files, pid, &process);
    if (r == 0)
        *ret = process->start;
    return r;
}

/* ---- users ---- */

/* The owner's SID. The process may belong to somebody about whom we may not ask. */
static int read_owner(const struct gtel_win32_files *files, uint32_t pid, TOKEN_USER *ret,
                      DWORD bytes)
{
    const struct calls *call = &files->call;
    HANDLE token = NULL;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
    if (!process)
        return -EACCES;
    bool is_read = call->open_token && call->token_info &&
                   call->open_token(process, TOKEN_QUERY, &token) &&
                   call->token_info(token, TokenUser, ret, bytes, &bytes);
    if (token)
        (void)CloseHandle(token);
    (void)CloseHandle(process);
    return is_read ? 0 : -EACCES;
}

/* Adds the user. -EACCES where another one has the number: neither is confused with the other. */
static int add_user(struct gtel_win32_files *files, uint32_t number, PSID sid, DWORD bytes)
{
    wchar_t name[NAME_SIZE];
    wchar_t domain[NAME_SIZE];
    DWORD units = NAME_SIZE;
    DWORD domain_units = NAME_SIZE;
    SID_NAME_USE use;
    for (size_t i = 0; i < files->users; i++)
        if (files->user[i].number == number)
            return files->user[i].sid_bytes == bytes && memcmp(files->user[i].sid, sid, bytes) == 0
                       ? 0
                       : -EACCES;
    if (files->users == USERS_MAX || bytes > SECURITY_MAX_SID_SIZE)
        return -EACCES;
    struct user *user = &files->user[files->users];
    user->name[0] = '\0';
    if (files->call.lookup &&
        files->call.lookup(NULL, sid, name, &units, domain, &domain_units, &use) &&
        !WideCharToMultiByte(CP_UTF8, 0, name, -1, user->name, NAME_SIZE, NULL, NULL))
        user->name[0] = '\0';
    user->number = number;
    user->sid_bytes = bytes;
    memcpy(user->sid, sid, bytes);
    files->users++;
    return 0;
}

static int find_owner(struct gtel_win32_files *files, uint32_t pid, uint32_t *ret)
{
    union {
        TOKEN_USER user;
        unsigned char bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } token;
    const struct process *process;
    int r = find_process(files, pid, &process);
    if (r == 0)
        r = read_owner(files, pid, &token.user, sizeof(token));
    if (r < 0)
        return r;
    /* winnt.h, SID: revision, count, authority of 6 bytes, then numbers of 4 bytes. */
    const unsigned char *sid = token.user.User.Sid;
    DWORD bytes = 8 + 4 * (DWORD)sid[1];
    if (sid[1] == 0)
        return -EACCES;
    memcpy(ret, sid + bytes - 4, sizeof(*ret));
    return add_user(files, *ret, token.user.User.Sid, bytes);
}

static int64_t read_users(const struct gtel_win32_files *files, char *buf, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < files->users && at < n; i++) {
        const struct user *user = &files->user[i];
        int length = user->name[0] ? snprintf(buf + at, n - at, "%s:x:%" PRIu32 ":::\n", user->name,
                                              user->number)
                                   : 0;
        at += length > 0 ? (size_t)length : 0;
    }
    return (int64_t)(at < n ? at : n);
}

/* ---- files ---- */

/* "978C167D-4764-4D9C-9824-14747351DC81" */
static bool read_guid(struct gtel_str text, GUID *ret)
{
    static const unsigned char digits[] = {8, 4, 4, 4, 12};
    uint64_t part[5];
    for (size_t i = 0; i < 5; i++) {
        struct gtel_str word;
        if (!gtel_str_part(&text, '-', &word) || word.n != digits[i] ||
            gtel_str_hex(word, &part[i]) < 0)
            return false;
    }
    *ret = (GUID){.Data1 = (ULONG)part[0], .Data2 = (USHORT)part[1], .Data3 = (USHORT)part[2]};
    ret->Data4[0] = (unsigned char)(part[3] >> 8);
    ret->Data4[1] = (unsigned char)part[3];
    for (size_t i = 0; i < 6; i++)
        ret->Data4[2 + i] = (unsigned char)(part[4] >> (40 - 8 * i));
    return text.n == 0;
}

static bool read_pid(struct gtel_str text, uint32_t *ret)
{
    uint64_t number;
    if (gtel_str_u64(text, &number) < 0 || number > UINT32_MAX)
        return false;
    *ret = (uint32_t)number;
    return true;
}

int gtel_win32_files_open(struct gtel_win32_files *files, const char *path)
{
    static const struct gtel_str counters = GTEL_STR_INIT(GTEL_PERF_FOLDER);
    struct gtel_str text = gtel_str_of(path);
    struct gtel_str part;
    struct handle handle = {NOTHING};
    const struct process *process;
    int r = 0;
    if (gtel_str_eq(text, GTEL_STR("etc/passwd")))
        handle.kind = PASSWD;
    else if (gtel_str_eq(text, GTEL_STR(GTEL_WMI_CONTROLLERS)))
        handle.kind = CONTROLLERS;
    else if (gtel_str_between(text, GTEL_STR("proc/"), GTEL_STR("/stat"), &part) &&
             read_pid(part, &handle.pid))
        handle.kind = STAT;
    else if (gtel_str_starts(text, counters) &&
             read_guid(gtel_str_skip(text, counters.n), &handle.set))
        handle.kind = COUNTERS;
    if (handle.kind == NOTHING)
        return -ENOENT;
    if (handle.kind == STAT)
        r = find_process(files, handle.pid, &process);
    else if (handle.kind == COUNTERS)
        r = open_query(files, &handle);
    for (int i = 0; i < HANDLES_MAX && r == 0; i++)
        if (files->handle[i].kind == NOTHING) {
            files->handle[i] = handle;
            return i;
        }
    close_query(files, &handle);
    return r < 0 ? r : -EMFILE;
}

int64_t gtel_win32_files_read(struct gtel_win32_files *files, int handle, void *buf, size_t n)
{
    if (handle < 0 || handle >= HANDLES_MAX || files->handle[handle].kind == NOTHING)
        return -EBADF;
    if (files->handle[handle].kind == STAT)
        return read_stat(files, files->handle[handle].pid, buf, n);
    if (files->handle[handle].kind == PASSWD)
        return read_users(files, buf, n);
    if (files->handle[handle].kind == CONTROLLERS)
        return gtel_win32_wmi_controllers(buf, n);
    return read_counters(files, &files->handle[handle], buf, n);
}

void gtel_win32_files_close(struct gtel_win32_files *files, int handle)
{
    if (handle < 0 || handle >= HANDLES_MAX)
        return;
    close_query(files, &files->handle[handle]);
    files->handle[handle] = (struct handle){NOTHING};
}

int gtel_win32_files_stat(struct gtel_win32_files *files, const char *path, struct gtel_stat *ret)
{
    struct gtel_str text = gtel_str_of(path);
    uint32_t pid;
    uint32_t owner;
    if (!gtel_str_starts(text, GTEL_STR("proc/")) || !read_pid(gtel_str_skip(text, 5), &pid))
        return -ENOENT;
    int r = find_owner(files, pid, &owner);
    if (r == 0)
        *ret = (struct gtel_stat){.uid = owner};
    return r;
}
