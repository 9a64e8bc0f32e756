/* SPDX-License-Identifier: MIT */
/*
 * The tests' hands inside the virtual machine, linked statically: one program, several jobs.
 *
 *     guest as UID GROUP|- RIGHTS PROGRAM...  runs it as that user in that further group, with "-",
 *                                            or capabilities as "perfmon+ptrace"
 *     guest clients                          opens the render node in every way there is; waits
 *     guest cycles DRIVER N MS PROGRAM...    takes the driver away and back N times,
 *                                            while two processes open and close nodes
 *     guest changes DRIVER N MS PROGRAM...   asks N times while the engines' work changes
 *     guest shares DRIVER N MS PROGRAM...    the same while processes work, come and go
 *     guest churn DRIVER SECONDS MS PROGRAM...  the same under clients that live for milliseconds
 *
 * The last four start the program and ask it for values by newlines each MS milliseconds, as
 * Telegraf does.
 * What it finds goes to standard output as lines for judge.py; nothing is judged here.
 */
#include "hands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADDRESS "0000:00:02.0"

/* ---- as ---- */

/* The capabilities that an agent may be given, of which the C library's headers may know less. */
static const struct {
    const char *name;
    uint32_t number;
} rights[] = {{"perfmon", 38}, {"ptrace", 19}, {"net_admin", 12}};

/* The bits of words that are joined by "+". */
static uint64_t rights_of(const char *text)
{
    uint64_t set = 0;
    for (;; text++) {
        size_t n = strcspn(text, "+");
        size_t i = 0;
        while (i < sizeof(rights) / sizeof(rights[0]) &&
               (strlen(rights[i].name) != n || memcmp(rights[i].name, text, n) != 0))
            i++;
        if (i == sizeof(rights) / sizeof(rights[0])) {
            errno = EINVAL;
            guest_fail(text);
        }
        set |= UINT64_C(1) << rights[i].number;
        text += n;
        if (*text == '\0')
            return set;
    }
}

/* The capabilities survive the change of user and go to the program as ambient ones. */
static void keep_rights(uint64_t set)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof(data));
    for (size_t i = 0; i < 2; i++)
        data[i].permitted = data[i].effective = data[i].inheritable = (uint32_t)(set >> 32 * i);
    if (syscall(SYS_capset, &header, data) != 0)
        guest_fail("capabilities");
    for (uint32_t i = 0; i < 64; i++)
        if (set >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) != 0)
            guest_fail("ambient capability");
}

static int run_as(char **argv)
{
    uid_t uid = guest_number(argv[0]);
    bool has_group = strcmp(argv[1], "-") != 0;
    gid_t group = has_group ? guest_number(argv[1]) : 0;
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setgroups(has_group ? 1 : 0, &group) != 0 ||
        setgid(uid) != 0 || setuid(uid) != 0)
        guest_fail("user");
    if (uid != 0)
        keep_rights(strcmp(argv[2], "-") == 0 ? 0 : rights_of(argv[2]));
    (void)execv(argv[3], argv + 3);
    guest_fail(argv[3]);
    return 1;
}

/* ---- load ---- */

/* The render node has another number while descriptors of the one before are held. */
static int open_present_node(uint32_t class, uint32_t parts)
{
    char path[sizeof("/dev/dri/") + 256] = "";
    DIR *dir = opendir("/dev/dri");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL)
        if (strncmp(entry->d_name, "renderD", 7) == 0)
            (void)snprintf(path, sizeof(path), "/dev/dri/%s", entry->d_name);
    if (dir)
        (void)closedir(dir);
    return path[0] == '\0' ? -1 : guest_open_node(path, class, parts);
}

/* Holds some files over a removal, opens and closes others; the node is not always there. */
static _Noreturn void run_load(void)
{
    int held[8];
    size_t n = 0;
    (void)prctl(PR_SET_NAME, "load");
    memset(held, -1, sizeof(held));
    for (uint32_t i = 0;; i++) {
        int fd = open_present_node(i % 4, i % 33);
        size_t at = n++ % (sizeof(held) / sizeof(held[0]));
        if (held[at] >= 0)
            (void)close(held[at]);
        held[at] = fd;
        int other = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
        if (other >= 0)
            (void)close(other);
        guest_sleep_until(guest_now_ns() + 17000000);
    }
}

/* ---- cycles ---- */

static void set_parts(struct guest_schedule *schedule, uint32_t parts)
{
    char path[128];
    char text[16];
    (void)snprintf(path, sizeof(path), "/sys/module/%s/parameters/parts", schedule->driver);
    (void)snprintf(text, sizeof(text), "%u", parts);
    guest_put_text(path, text);
    schedule->parts = parts;
}

static void command_driver(struct guest_schedule *schedule, const char *verb)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/%s", schedule->driver, verb);
    guest_put_text(path, ADDRESS);
}

/* Open files of a process, or of nothing. */
static uint32_t count_files(uint32_t pid)
{
    char path[64];
    uint32_t n = 0;
    (void)snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n >= 2 ? n - 2 : 0; /* without "." and ".." */
}

/* The parent of a process: the field after the name, which is in brackets (proc(5)). 0: none. */
static uint32_t parent_of(uint32_t pid)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    return at ? (uint32_t)strtoul(at + 4, NULL, 10) : 0;
}

/*
 * Says how many files the program and each of its helpers have open, late in an interval: xe's
 * engine counters are open for a while after a gather.
 */
static void say_files(const struct guest_program *program, uint32_t cycle, uint64_t interval_ns)
{
    guest_sleep_until(guest_now_ns() + interval_ns * 6 / 10);
    printf("files cycle=%u program=%u", cycle, count_files((uint32_t)program->pid));
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid != 0 && parent_of(pid) == (uint32_t)program->pid)
            printf(" helper=%u", count_files(pid));
    }
    if (dir)
        (void)closedir(dir);
    printf("\n");
}

static void command_and_gather(struct guest_schedule *schedule, const char *verb, const char *what,
                               uint32_t cycle)
{
    uint64_t now = guest_now_ns();
    if (schedule->next_ns < now) /* the driver took its time */
        schedule->next_ns = now;
    uint64_t room = schedule->next_ns - now;
    guest_sleep_until(now + room * guest_draw(schedule, 90) / 100);
    if (verb)
        command_driver(schedule, verb);
    struct guest_answer answer = guest_gather_on_time(schedule);
    guest_say_answer(what, cycle, schedule->parts, &answer);
}

/* The same with the gather under way: its own answer may be either, the next one's may not. */
static void command_while_gathering(struct guest_schedule *schedule, const char *verb,
                                    const char *what, uint32_t cycle)
{
    guest_sleep_until(schedule->next_ns);
    schedule->next_ns = guest_now_ns() + schedule->interval_ns;
    uint64_t at_ns = guest_now_ns() + guest_draw(schedule, 6000) * 1000u;
    pid_t pid = fork();
    if (pid == 0) {
        guest_sleep_until(at_ns);
        command_driver(schedule, verb);
        _exit(0);
    }
    struct guest_answer answer = guest_gather(&schedule->program);
    guest_say_answer("race", cycle, schedule->parts, &answer);
    if (waitpid(pid, NULL, 0) != pid)
        guest_fail("waitpid");
    command_and_gather(schedule, NULL, what, cycle);
}

static void run_cycle(struct guest_schedule *schedule, uint32_t i)
{
    void (*command)(struct guest_schedule *, const char *, const char *, uint32_t) =
        i % 4 == 0 ? command_while_gathering : command_and_gather;
    command(schedule, "unbind", "lost", i);
    set_parts(schedule, 4 + guest_draw(schedule, 29)); /* it comes back with other work */
    command(schedule, "bind", "back", i);
}

static pid_t fork_load(void)
{
    pid_t pid = fork();
    if (pid == 0)
        run_load();
    return pid;
}

static int run_cycles(char **argv)
{
    uint32_t n = guest_number(argv[1]);
    struct guest_schedule *schedule = guest_begin(argv);
    for (int i = 0; i < 3; i++)
        command_and_gather(schedule, NULL, "first", 0);
    command_and_gather(schedule, NULL, "quiet", 0);
    say_files(&schedule->program, 0, schedule->interval_ns);
    pid_t load[2] = {fork_load(), fork_load()};
    for (uint32_t i = 1; i <= n; i++) {
        run_cycle(schedule, i);
        if (i % 10 != 5 && i % 10 != 8 && i != n)
            continue;
        for (int k = 0; k < 2; k++) /* xe's engines are reported from the third answer on */
            command_and_gather(schedule, NULL, "more", i);
        command_and_gather(schedule, NULL, "quiet", i);
    }
    for (size_t i = 0; i < 2; i++) {
        (void)kill(load[i], SIGKILL);
        (void)waitpid(load[i], NULL, 0);
    }
    for (int k = 0; k < 3; k++)
        command_and_gather(schedule, NULL, "alone", n);
    say_files(&schedule->program, n, schedule->interval_ns);
    guest_end(schedule);
    return 0;
}

/* ---- changes ---- */

/* In the later half of an interval, after any burst of xe's. */
static void change(struct guest_schedule *schedule, uint32_t parts)
{
    guest_sleep_until(schedule->next_ns -
                      schedule->interval_ns * (100 + guest_draw(schedule, 400)) / 1000);
    set_parts(schedule, parts);
    printf("change parts=%u at_us=%llu\n", parts, (unsigned long long)(guest_now_ns() / 1000));
}

static int run_changes(char **argv)
{
    static const uint32_t parts[] = {32, 4, 24, 12, 31, 5};
    uint32_t n = guest_number(argv[1]);
    struct guest_schedule *schedule = guest_begin(argv);
    for (uint32_t i = 0; i < n; i++) {
        struct guest_answer answer = guest_gather_on_time(schedule);
        guest_say_answer("gather", i, schedule->parts, &answer);
        if (i % 3 == 2)
            change(schedule, parts[i / 3 % (sizeof(parts) / sizeof(parts[0]))]);
    }
    guest_end(schedule);
    return 0;
}

int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 5 && strcmp(argv[1], "as") == 0)
        return run_as(argv + 2);
    if (argc == 2 && strcmp(argv[1], "clients") == 0)
        guest_run_clients();
    if (argc > 5 && strcmp(argv[1], "cycles") == 0)
        return run_cycles(argv + 2);
    if (argc > 5 && strcmp(argv[1], "changes") == 0)
        return run_changes(argv + 2);
    if (argc > 5 && strcmp(argv[1], "shares") == 0)
        return guest_run_shares(argv + 2);
    if (argc > 5 && strcmp(argv[1], "churn") == 0)
        return guest_run_churn(argv + 2);
    printf("guest: no such job\n");
    return 2;
}
