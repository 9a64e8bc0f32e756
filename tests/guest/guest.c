/* SPDX-License-Identifier: MIT */
/*
 * The tests' hands inside the virtual machine, linked statically: one program, several jobs.
 *
 *     guest as UID GROUP|- RIGHTS PROGRAM...  runs it as that user in that further group, with "-",
 *                                            or capabilities as "perfmon+ptrace"
 *     guest clients                          opens the render node in every way there is; waits
 *     guest load                             opens, uses and closes nodes for ever
 *     guest cycles DRIVER N MS PROGRAM...    takes the driver away and back N times
 *     guest changes DRIVER N MS PROGRAM...   asks N times while the engines' work changes
 *
 * The last two start the program and ask it for values by newlines each MS milliseconds, as
 * Telegraf does.
 * What it finds goes to standard output as lines for judge.py; nothing is judged here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODE "/dev/dri/renderD128"
#define ADDRESS "0000:00:02.0"

static void fail(const char *what)
{
    printf("guest: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t at_ns)
{
    struct timespec t = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

static uint32_t number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value > 1000000) {
        errno = EINVAL;
        fail(text);
    }
    return (uint32_t)value;
}

/* ---- as ---- */

/* The capabilities that an agent may be given, of which the C library's headers may know less. */
static const struct {
    const char *name;
    uint32_t number;
} rights[] = {{"perfmon", 38}, {"ptrace", 19}};

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
            fail(text);
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
        fail("capabilities");
    for (uint32_t i = 0; i < 64; i++)
        if (set >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) != 0)
            fail("ambient capability");
}

static int run_as(char **argv)
{
    uid_t uid = number(argv[0]);
    bool has_group = strcmp(argv[1], "-") != 0;
    gid_t group = has_group ? number(argv[1]) : 0;
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setgroups(has_group ? 1 : 0, &group) != 0 ||
        setgid(uid) != 0 || setuid(uid) != 0)
        fail("user");
    if (uid != 0)
        keep_rights(strcmp(argv[2], "-") == 0 ? 0 : rights_of(argv[2]));
    (void)execv(argv[3], argv + 3);
    fail(argv[3]);
    return 1;
}

/* ---- clients ---- */

struct busy {
    uint32_t class;
    uint32_t parts;
};

static int open_node(uint32_t class, uint32_t parts)
{
    struct busy busy = {class, parts};
    int fd = open(NODE, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, _IOW('d', 0x7f, struct busy), &busy) == 0)
        return fd;
    if (errno != ENODEV) /* removed in between */
        fail("busy");
    (void)close(fd);
    return -1;
}

static void pass_fd(int over, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    char byte = 'x';
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    if (sendmsg(over, &message, 0) != 1)
        fail("sendmsg");
}

static void take_fd(int from)
{
    char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    if (recvmsg(from, &message, 0) != 1)
        fail("recvmsg");
}

/*
 * Two clients in three processes: one opened here, duplicated, inherited by a child and sent to
 * another process; and one that this process has to itself.
 */
static _Noreturn void run_clients(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        fail("socketpair");
    pid_t receiver = fork();
    if (receiver == 0) {
        (void)prctl(PR_SET_NAME, "receiver");
        take_fd(pair[1]);
        for (;;)
            (void)pause();
    }
    int shared = open_node(0, 20);
    if (shared < 0 || dup(shared) < 0)
        fail(NODE);
    pass_fd(pair[0], shared);
    pid_t heir = fork();
    if (heir == 0) {
        (void)prctl(PR_SET_NAME, "heir");
        for (;;)
            (void)pause();
    }
    if (open_node(2, 40) < 0)
        fail(NODE);
    printf("clients owner=%d heir=%d receiver=%d\n", (int)getpid(), (int)heir, (int)receiver);
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}

/* ---- load ---- */

/* Holds some files over a removal, opens and closes others; the node is not always there. */
static _Noreturn void run_load(void)
{
    int held[8];
    size_t n = 0;
    memset(held, -1, sizeof(held));
    for (uint32_t i = 0;; i++) {
        int fd = open_node(i % 4, i % 33);
        size_t at = n++ % (sizeof(held) / sizeof(held[0]));
        if (held[at] >= 0)
            (void)close(held[at]);
        held[at] = fd;
        int other = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
        if (other >= 0)
            (void)close(other);
        sleep_until(now_ns() + 17000000);
    }
}

/* ---- a program that is asked ---- */

struct program {
    pid_t pid;
    int in;
    int out;
    char text[1 << 18];
    size_t n;
};

/* What one gather said. */
struct answer {
    int up; /* of the GPU; -1: no line about it */
    bool has_clocks;
    bool has_engines;
    double busy; /* in percent, of the GPU and of two classes of engines; -1: not told */
    double render;
    double video;
    double lane_restarts;
    uint64_t asked_ns;
    uint64_t took_ns;
};

static void start(struct program *program, char **argv)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        fail("pipe");
    program->pid = fork();
    if (program->pid == 0) {
        int err = open("/tmp/messages", O_CREAT | O_TRUNC | O_WRONLY, 0644);
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err, 2) < 0)
            _exit(126);
        (void)close(err);
        (void)execv(argv[0], argv);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    program->in = in[1];
    program->out = out[0];
}

/* Whether a whole line begins with that word. */
static bool has_line(const struct program *program, const char *word)
{
    const char *at = program->text;
    size_t n = strlen(word);
    for (const char *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n'))
        if (strncmp(at, word, n) == 0)
            return true;
    return false;
}

/*
 * The number of a field in the line of that measurement and tag. The names of the fields come after
 * a blank or a comma (line protocol); -1: not there.
 */
static double value_of(const struct program *program, const char *measurement, const char *tag,
                       const char *field)
{
    const char *at = program->text;
    for (const char *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n')) {
        const char *tagged = strstr(at, tag);
        if (strncmp(at, measurement, strlen(measurement)) != 0 || !tagged || tagged > end)
            continue;
        const char *name = strstr(at, field);
        while (name && name < end && (name[-1] != ' ' && name[-1] != ','))
            name = strstr(name + 1, field);
        if (name && name < end)
            return strtod(name + strlen(field), NULL);
    }
    return -1;
}

/* Asks for a gather and takes its lines; the last one is the program's own. */
static struct answer gather(struct program *program)
{
    struct answer answer = {.up = -1, .asked_ns = now_ns()};
    program->n = 0;
    program->text[0] = '\0';
    if (write(program->in, "\n", 1) != 1)
        fail("newline");
    while (!has_line(program, "gtel ") && !has_line(program, "gtel,")) {
        struct pollfd wait = {program->out, POLLIN, 0};
        if (program->n + 1 >= sizeof(program->text) || poll(&wait, 1, 20000) != 1)
            fail("no answer");
        ssize_t got =
            read(program->out, program->text + program->n, sizeof(program->text) - 1 - program->n);
        if (got <= 0)
            fail("the program has ended");
        program->n += (size_t)got;
        program->text[program->n] = '\0';
    }
    answer.took_ns = now_ns() - answer.asked_ns;
    if (strstr(program->text, " up=1i"))
        answer.up = 1;
    else if (strstr(program->text, " up=0i"))
        answer.up = 0;
    answer.has_clocks = has_line(program, "gpu_frequency,");
    answer.has_engines = has_line(program, "gpu_engine,");
    answer.busy = value_of(program, "gpu,", ",gpu=", "busy_percent=");
    answer.render = value_of(program, "gpu_engine,", "engine=render", "busy_percent=");
    answer.video = value_of(program, "gpu_engine,", "engine=video,", "busy_percent=");
    answer.lane_restarts = value_of(program, "gtel", "", "lane_restarts=");
    return answer;
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
static void say_files(const struct program *program, uint32_t cycle, uint64_t interval_ns)
{
    sleep_until(now_ns() + interval_ns * 6 / 10);
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

static void put_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        fail(path);
    (void)close(fd);
}

/* Gathers at steady times; between two of them the driver is told something, at any moment. */
struct schedule {
    const char *driver;
    uint64_t interval_ns;
    uint64_t next_ns;
    uint32_t random;
    uint32_t parts; /* of 32, for which rcs0 is busy; module/load.c */
    struct program program;
};

static struct schedule *begin(char **argv)
{
    struct schedule *schedule = calloc(1, sizeof(*schedule));
    if (!schedule)
        fail("memory");
    schedule->driver = argv[0];
    schedule->interval_ns = number(argv[2]) * UINT64_C(1000000);
    schedule->random = 1;
    schedule->parts = 20;
    (void)signal(SIGPIPE, SIG_IGN);
    start(&schedule->program, argv + 3);
    return schedule;
}

static void end(struct schedule *schedule)
{
    uint64_t end_ns = now_ns();
    int status = -1;
    (void)close(schedule->program.in);
    (void)waitpid(schedule->program.pid, &status, 0);
    printf("end status=%d ms=%u\n", status, (unsigned)((now_ns() - end_ns) / 1000000));
    free(schedule);
}

static uint32_t draw(struct schedule *schedule, uint32_t below)
{
    schedule->random = schedule->random * 1664525u + 1013904223u;
    return (schedule->random >> 8) % below;
}

static void set_parts(struct schedule *schedule, uint32_t parts)
{
    char path[128];
    char text[16];
    (void)snprintf(path, sizeof(path), "/sys/module/%s/parameters/parts", schedule->driver);
    (void)snprintf(text, sizeof(text), "%u", parts);
    put_text(path, text);
    schedule->parts = parts;
}

static void tell_driver(struct schedule *schedule, const char *verb)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/%s", schedule->driver, verb);
    put_text(path, ADDRESS);
}

static struct answer gather_on_time(struct schedule *schedule)
{
    sleep_until(schedule->next_ns);
    schedule->next_ns = now_ns() + schedule->interval_ns;
    return gather(&schedule->program);
}

static void say_answer(const char *what, uint32_t n, uint32_t parts, const struct answer *answer)
{
    printf("%s n=%u up=%d clocks=%d engines=%d parts=%u busy=%.4f render=%.4f video=%.4f "
           "restarts=%.0f asked_us=%llu took_us=%llu\n",
           what, n, answer->up, answer->has_clocks, answer->has_engines, parts, answer->busy,
           answer->render, answer->video, answer->lane_restarts,
           (unsigned long long)(answer->asked_ns / 1000),
           (unsigned long long)(answer->took_ns / 1000));
}

/* ---- cycles ---- */

static void tell_and_gather(struct schedule *schedule, const char *verb, const char *what,
                            uint32_t cycle)
{
    uint64_t now = now_ns();
    if (schedule->next_ns < now) /* the driver took its time */
        schedule->next_ns = now;
    uint64_t room = schedule->next_ns - now;
    sleep_until(now + room * draw(schedule, 90) / 100);
    if (verb)
        tell_driver(schedule, verb);
    struct answer answer = gather_on_time(schedule);
    say_answer(what, cycle, schedule->parts, &answer);
}

/* The same with the gather under way: its own answer may be either, the next one's may not. */
static void tell_while_gathering(struct schedule *schedule, const char *verb, const char *what,
                                 uint32_t cycle)
{
    sleep_until(schedule->next_ns);
    schedule->next_ns = now_ns() + schedule->interval_ns;
    uint64_t at_ns = now_ns() + draw(schedule, 6000) * 1000u;
    pid_t pid = fork();
    if (pid == 0) {
        sleep_until(at_ns);
        tell_driver(schedule, verb);
        _exit(0);
    }
    struct answer answer = gather(&schedule->program);
    say_answer("race", cycle, schedule->parts, &answer);
    if (waitpid(pid, NULL, 0) != pid)
        fail("waitpid");
    tell_and_gather(schedule, NULL, what, cycle);
}

static void run_cycle(struct schedule *schedule, uint32_t i)
{
    void (*tell)(struct schedule *, const char *, const char *, uint32_t) =
        i % 4 == 0 ? tell_while_gathering : tell_and_gather;
    tell(schedule, "unbind", "lost", i);
    set_parts(schedule, 4 + draw(schedule, 29)); /* it comes back with other work */
    tell(schedule, "bind", "back", i);
}

static int run_cycles(char **argv)
{
    uint32_t n = number(argv[1]);
    struct schedule *schedule = begin(argv);
    for (int i = 0; i < 3; i++)
        tell_and_gather(schedule, NULL, "first", 0);
    tell_and_gather(schedule, NULL, "quiet", 0);
    say_files(&schedule->program, 0, schedule->interval_ns);
    for (uint32_t i = 1; i <= n; i++) {
        run_cycle(schedule, i);
        if (i % 10 != 5 && i % 10 != 8 && i != n)
            continue;
        for (int k = 0; k < 2; k++) /* xe's engines are reported from the third answer on */
            tell_and_gather(schedule, NULL, "more", i);
        tell_and_gather(schedule, NULL, "quiet", i);
        if (i % 50 == 5 || i == n)
            say_files(&schedule->program, i, schedule->interval_ns);
    }
    end(schedule);
    return 0;
}

/* ---- changes ---- */

/* In the later half of an interval, after any burst of xe's. */
static void change(struct schedule *schedule, uint32_t parts)
{
    sleep_until(schedule->next_ns - schedule->interval_ns * (100 + draw(schedule, 400)) / 1000);
    set_parts(schedule, parts);
    printf("change parts=%u at_us=%llu\n", parts, (unsigned long long)(now_ns() / 1000));
}

static int run_changes(char **argv)
{
    static const uint32_t parts[] = {32, 4, 24, 12, 31, 5};
    uint32_t n = number(argv[1]);
    struct schedule *schedule = begin(argv);
    for (uint32_t i = 0; i < n; i++) {
        struct answer answer = gather_on_time(schedule);
        say_answer("gather", i, schedule->parts, &answer);
        if (i % 3 == 2)
            change(schedule, parts[i / 3 % (sizeof(parts) / sizeof(parts[0]))]);
    }
    end(schedule);
    return 0;
}

int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 5 && strcmp(argv[1], "as") == 0)
        return run_as(argv + 2);
    if (argc == 2 && strcmp(argv[1], "clients") == 0)
        run_clients();
    if (argc == 2 && strcmp(argv[1], "load") == 0)
        run_load();
    if (argc > 5 && strcmp(argv[1], "cycles") == 0)
        return run_cycles(argv + 2);
    if (argc > 5 && strcmp(argv[1], "changes") == 0)
        return run_changes(argv + 2);
    printf("guest: no such job\n");
    return 2;
}
