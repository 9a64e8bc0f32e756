/* SPDX-License-Identifier: MIT */
/*
 * A helper process behind a pipe with a name that is used once.
 *
 * Both ends are opened here, before the helper is started, and it inherits its own as standard
 * input: nobody else can have been given it. It is born in a job that ends with the last handle of
 * it, so that no helper outlives its front end, however that ends.
 */
#include "lanes/channel.h"

#include "base/buf.h"
#include "host/system_win32.h"
#include "lanes/pipe_win32.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIPE_BYTES = 65536,
    WAIT_MAX = 32,
    SEND_MS = 10, /* a request is far smaller than the pipe */
    HANDLES = 3,
    ATTRIBUTES = 2,
    COMMAND_MAX = 32767 /* UTF-16 units (CreateProcessW) */
};

struct life {
    HANDLE process;
    HANDLE job;
};

/* What a helper is started with. */
struct birth {
    HANDLE way;    /* its end of the pipe */
    HANDLE nul;    /* its standard output */
    intptr_t text; /* its standard error */
    HANDLE given[HANDLES];
    HANDLE job;
    LPPROC_THREAD_ATTRIBUTE_LIST attributes;
};

const char *gtel_channel_start_fix(int error)
{
    switch (-error) {
    case ENOMEM:
        return "the host is out of memory";
    case EACCES:
        return "see whether this account may run it: its permissions, and what guards the host "
               "(AppLocker, antivirus)";
    default:
        return "install gtel for this machine there";
    }
}

const char *gtel_channel_hang_fix(void)
{
    return "see the event log (System, source Display); a driver that hangs needs a restart of the "
           "host";
}

void gtel_channel_init(struct gtel_channel *channel)
{
    *channel = (struct gtel_channel){.fd = -1};
}

void gtel_channel_close(struct gtel_channel *channel)
{
    if (channel->fd >= 0) {
        gtel_pipe_close(channel->pipe);
        free(channel->pipe);
    }
    channel->pipe = NULL;
    channel->fd = -1;
}

bool gtel_channel_reap(struct gtel_channel *channel, int *ret_status)
{
    struct life *life = channel->life;
    DWORD code = 0;
    *ret_status = 0;
    if (!life)
        return true;
    if (WaitForSingleObject(life->process, 0) == WAIT_TIMEOUT)
        return false;
    if (GetExitCodeProcess(life->process, &code))
        *ret_status = (int)code;
    (void)CloseHandle(life->process);
    (void)CloseHandle(life->job); /* and what it has started */
    free(life);
    channel->life = NULL;
    channel->pid = 0;
    return true;
}

void gtel_channel_death(int status, char *ret, size_t size)
{
    ret[0] = '\0';
    if (status < 0) /* the exceptions' codes: ntstatus.h, severity 3 */
        (void)snprintf(ret, size, " (exception 0x%08x)", (unsigned)status);
}

bool gtel_channel_kill(struct gtel_channel *channel)
{
    struct life *life = channel->life;
    return TerminateJobObject(life->job, 1);
}

void gtel_channel_nap(uint64_t ns)
{
    Sleep((DWORD)((ns + 999999) / 1000000));
}

/* ---- birth ---- */

/* Both ends: ours in *ret, the helper's in birth. */
static int open_pipe(struct birth *birth, HANDLE *ret)
{
    static LONG number;
    SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
    LARGE_INTEGER ticks = {0};
    wchar_t name[96];
    (void)QueryPerformanceCounter(&ticks);
    (void)swprintf(name, sizeof(name) / sizeof(name[0]), L"\\\\.\\pipe\\gtel-%lx-%lx-%llx",
                   GetCurrentProcessId(), (unsigned long)InterlockedIncrement(&number),
                   (unsigned long long)ticks.QuadPart);
    *ret = CreateNamedPipeW(
        name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, PIPE_BYTES, PIPE_BYTES, 0,
        NULL);
    if (*ret == INVALID_HANDLE_VALUE)
        return gtel_win32_error(GetLastError());
    birth->way =
        CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING,
                    FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
    if (birth->way != INVALID_HANDLE_VALUE)
        return 0;
    int r = gtel_win32_error(GetLastError());
    (void)CloseHandle(*ret);
    return r;
}

static int open_job(struct birth *birth)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    birth->job = CreateJobObjectW(NULL, NULL);
    if (birth->job && SetInformationJobObject(birth->job, JobObjectExtendedLimitInformation,
                                              &limits, sizeof(limits)))
        return 0;
    return gtel_win32_error(GetLastError());
}

/* Of all handles only those, and of all jobs that one. */
static int limit_birth(struct birth *birth)
{
    SIZE_T size = 0;
    (void)InitializeProcThreadAttributeList(NULL, ATTRIBUTES, 0, &size); /* says how much */
    LPPROC_THREAD_ATTRIBUTE_LIST list = malloc(size);
    if (!list)
        return -ENOMEM;
    if (!InitializeProcThreadAttributeList(list, ATTRIBUTES, 0, &size)) {
        free(list);
        return -ENOMEM;
    }
    birth->attributes = list;
    birth->given[0] = birth->way;
    birth->given[1] = birth->nul;
    birth->given[2] = (HANDLE)birth->text;
    /* PROC_THREAD_ATTRIBUTE_JOB_LIST (Windows 10: winbase.h); older headers lack it. */
    static const DWORD_PTR job_list = 0x2000d;
    if (UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, birth->given,
                                  sizeof(birth->given), NULL, NULL) &&
        UpdateProcThreadAttribute(list, 0, job_list, &birth->job, sizeof(birth->job), NULL, NULL))
        return 0;
    return gtel_win32_error(GetLastError());
}

/* One word, so that CommandLineToArgvW and the C library read the same again. */
static void add_word(struct gtel_buf *line, const char *word)
{
    size_t slashes = 0;
    gtel_buf_str(line, line->n > 0 ? GTEL_STR(" \"") : GTEL_STR("\""));
    for (const char *p = word; *p; p++) {
        if (*p == '"') /* those before it are doubled, and it has one of its own */
            for (slashes++; slashes > 0; slashes--)
                gtel_buf_char(line, '\\');
        slashes = *p == '\\' ? slashes + 1 : 0;
        gtel_buf_char(line, *p);
    }
    for (; slashes > 0; slashes--)
        gtel_buf_char(line, '\\');
    gtel_buf_char(line, '"');
}

/* Allocated, for CreateProcessW, which writes to it. NULL: no memory, or too long. */
static wchar_t *command_line(char *const *args)
{
    struct gtel_buf line;
    wchar_t *ret = malloc(COMMAND_MAX * sizeof(*ret));
    gtel_buf_init(&line, (size_t)4 * COMMAND_MAX);
    for (size_t i = 0; args[i]; i++)
        add_word(&line, args[i]);
    gtel_buf_char(&line, '\0');
    if (ret && (line.has_failed || MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, line.p, -1,
                                                       ret, COMMAND_MAX) == 0)) {
        free(ret);
        ret = NULL;
    }
    gtel_buf_done(&line);
    return ret;
}

/* Nothing of the front end's own environment: sorted, each with its NUL, one more at the end.
 * Sockets, cryptography and COM ask for SystemRoot. */
static void environment(wchar_t *ret, size_t size)
{
    wchar_t root[MAX_PATH] = L"";
    UINT n = GetSystemWindowsDirectoryW(root, MAX_PATH);
    if (n == 0 || n >= MAX_PATH)
        root[0] = L'\0';
    int length =
        swprintf(ret, size, L"PATH=%ls\\System32|SystemRoot=%ls|windir=%ls|", root, root, root);
    for (int i = 0; i < length; i++)
        ret[i] = ret[i] == L'|' ? L'\0' : ret[i]; /* no path has it */
    ret[length > 0 ? length : 0] = L'\0';
    ret[length > 0 ? length + 1 : 1] = L'\0';
}

static int create(struct birth *birth, const wchar_t *path, wchar_t *line, struct life *life,
                  pid_t *ret_pid)
{
    wchar_t variables[4 * MAX_PATH];
    PROCESS_INFORMATION made;
    STARTUPINFOEXW start = {.StartupInfo = {.cb = sizeof(start),
                                            .dwFlags = STARTF_USESTDHANDLES,
                                            .hStdInput = birth->way,
                                            .hStdOutput = birth->nul,
                                            .hStdError = (HANDLE)birth->text},
                            .lpAttributeList = birth->attributes};
    environment(variables, sizeof(variables) / sizeof(variables[0]) - 2);
    DWORD flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    if (!CreateProcessW(path, line, NULL, NULL, TRUE, flags, variables, NULL, &start.StartupInfo,
                        &made))
        return gtel_win32_error(GetLastError());
    (void)CloseHandle(made.hThread);
    *life = (struct life){made.hProcess, birth->job};
    birth->job = NULL;
    *ret_pid = (pid_t)made.dwProcessId;
    return 0;
}

/* With the handles of the birth that were opened before. */
static int create_with(struct birth *birth, struct gtel_channel *channel, const char *path,
                       char *const *args)
{
    struct life *life = calloc(1, sizeof(*life));
    wchar_t *wide = malloc(GTEL_WIN32_PATH_MAX * sizeof(*wide));
    wchar_t *line = command_line(args);
    int r = life && wide && line ? gtel_win32_path(path, wide) : -ENOMEM;
    if (r == 0)
        r = create(birth, wide, line, life, &channel->pid);
    if (r == 0)
        channel->life = life;
    else
        free(life);
    free(line);
    free(wide);
    return r;
}

static void close_handle(HANDLE handle)
{
    if (handle && handle != INVALID_HANDLE_VALUE)
        (void)CloseHandle(handle);
}

static int give_birth(struct birth *birth, struct gtel_helper_text *text,
                      struct gtel_channel *channel, const char *path, char *const *args)
{
    SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
    birth->nul = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                             OPEN_EXISTING, 0, NULL);
    int r = birth->nul == INVALID_HANDLE_VALUE ? gtel_win32_error(GetLastError()) : open_job(birth);
    if (r == 0)
        r = gtel_helper_text_open(text, &birth->text);
    if (r == 0) {
        r = limit_birth(birth);
        if (r == 0)
            r = create_with(birth, channel, path, args);
        gtel_helper_text_end(birth->text);
    }
    if (birth->attributes)
        DeleteProcThreadAttributeList(birth->attributes);
    free(birth->attributes);
    close_handle(birth->job);
    close_handle(birth->nul);
    close_handle(birth->way);
    return r;
}

int gtel_channel_start(struct gtel_channel *channel, struct gtel_helper_text *text,
                       const char *path, char *const *args)
{
    struct birth birth = {0};
    HANDLE ours;
    struct gtel_pipe *pipe = malloc(sizeof(*pipe));
    int r = pipe ? open_pipe(&birth, &ours) : -ENOMEM;
    if (r == 0) {
        r = give_birth(&birth, text, channel, path, args);
        if (r == 0)
            r = gtel_pipe_open(pipe, ours); /* should this fail, the helper sees it and ends */
        else
            (void)CloseHandle(ours);
    }
    if (r == 0) {
        channel->pipe = pipe;
        channel->fd = 0;
        return 0;
    }
    free(pipe);
    return r;
}

/* ---- life ---- */

int gtel_channel_send(struct gtel_channel *channel, struct gtel_str text)
{
    return gtel_pipe_write(channel->pipe, text, SEND_MS);
}

int64_t gtel_channel_receive(struct gtel_channel *channel, void *buf, size_t n)
{
    return gtel_pipe_take(channel->pipe, buf, n);
}

void gtel_channels_wait(struct gtel_channel *const *channels, size_t n, uint64_t wait_ns)
{
    HANDLE events[WAIT_MAX];
    DWORD count = 0;
    for (size_t i = 0; i < n && count < WAIT_MAX; i++) {
        struct gtel_pipe *pipe = channels[i]->pipe;
        if (gtel_pipe_is_ready(pipe))
            return;
        events[count++] = pipe->read.hEvent;
    }
    uint64_t ms = (wait_ns + 999999u) / 1000000u;
    (void)WaitForMultipleObjects(count, events, FALSE, ms < 60000 ? (DWORD)ms : 60000);
}
