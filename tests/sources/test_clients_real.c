/* SPDX-License-Identifier: MIT */
/*
 * The scan for clients on the real /proc: processes that hold device nodes in their descriptors, in
 * namespaces of their own, so that nothing else of the machine counts.
 *
 *     test_clients_real rights
 *     test_clients_real churn [SEED]
 */
#include "harness/fd_holders.h"
#include "sources/clients/scan.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 150 };

static const uint64_t second_ns = 1000000000;

/* A scan of the real machine whose clock goes a second further with each gather. */
struct watch {
    const struct holders *holders;
    struct gtel_env env;
    struct gtel_env_ops ops;
    struct gtel_scan *scan;
    uint32_t pid[NODES + 1]; /* who was reported to hold the node; 0: nobody */
    uint32_t fd[NODES + 1];
    bool is_gone[NODES + 1];
    size_t texts;
};

/* Env ops get the env's own argument: the clock needs a place of its own. */
static uint64_t clock_ns;

static uint64_t stepped_ns(void *arg)
{
    (void)arg;
    return clock_ns;
}

static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    struct watch *watch = arg;
    size_t node = holders_node(watch->holders, text->text);
    if (node == 0)
        return 0;
    CHECK(text->major == 0 || text->major == 226);
    watch->texts++;
    if (watch->pid[node] == 0) {
        watch->pid[node] = text->owner.birth.pid;
        watch->fd[node] = text->fd;
    }
    return (uint32_t)node;
}

static void closed(void *arg, uint32_t key)
{
    struct watch *watch = arg;
    watch->is_gone[key] = true;
}

static bool watch_init(struct watch *watch, const struct holders *holders, uint64_t rotation_ns)
{
    const struct gtel_scan_settings settings = {.rotation_ns = rotation_ns};
    memset(watch, 0, sizeof(*watch));
    clock_ns = second_ns;
    watch->holders = holders;
    if (!CHECK(gtel_env_posix_init("/", &watch->env) == 0))
        return false;
    watch->ops = *watch->env.ops;
    watch->ops.monotonic_ns = stepped_ns;
    watch->env.ops = &watch->ops;
    return CHECK(gtel_scan_new(&watch->env, &settings, &watch->scan) == 0);
}

static void watch_done(struct watch *watch)
{
    gtel_scan_free(watch->scan);
    gtel_env_posix_done(&watch->env);
}

static void gather(struct watch *watch)
{
    const struct gtel_scan_hooks hooks = {.arg = watch, .read = read_text, .closed = closed};
    memset(watch->pid, 0, sizeof(watch->pid));
    memset(watch->is_gone, 0, sizeof(watch->is_gone));
    watch->texts = 0;
    clock_ns += second_ns;
    CHECK_INT(gtel_scan_gather(watch->scan, &hooks), 0);
}

/* ---- churn ---- */

enum {
    PROCESSES = 48,
    FDS = 100,
    GATHERS = 400,
    ROTATION_S = 60,
    HISTORY = 2,
    FREE = -1,
    OTHER = 0
};

/* What a process holds, by our own book. */
struct entry {
    struct holder holder;
    int held[FDS];           /* FREE, OTHER or a node */
    unsigned since[FDS];     /* the gather before which it was put there */
    bool is_known[FDS];      /* the scan has walked it since */
    unsigned count[HISTORY]; /* of descriptors, at the last gathers; [0] is the newest */
    unsigned born;           /* the gather before which it began */
    bool has_parent;
    size_t parent;
};

static struct entry entries[PROCESSES];
static struct holders nodes;
static unsigned now; /* gather */
static unsigned reused;
static uint64_t noise = 88172645463325252u;

static unsigned any(unsigned n)
{
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return (unsigned)(noise % n);
}

static unsigned count_of(const struct entry *entry)
{
    unsigned n = 0;
    for (int fd = 0; fd < FDS; fd++)
        n += entry->held[fd] != FREE ? 1 : 0;
    return n;
}

static void put(struct entry *entry, int fd, int what)
{
    entry->held[fd] = what;
    entry->since[fd] = now;
    entry->is_known[fd] = false;
}

/* Asks for the next process number, so that one that was used is used again (Linux 3.3). */
static void want_pid(pid_t pid)
{
    char text[32];
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    int n = snprintf(text, sizeof(text), "%d", (int)pid - 1);
    if (fd >= 0 && write(fd, text, (size_t)n) == n)
        reused++;
    (void)close(fd);
}

static void end_process(size_t i)
{
    for (size_t k = 0; k < PROCESSES; k++)
        if (entries[k].holder.pid > 0 && entries[k].has_parent && entries[k].parent == i)
            end_process(k);
    holder_end(&entries[i].holder);
    for (int fd = 0; fd < FDS; fd++)
        entries[i].held[fd] = FREE;
    entries[i].has_parent = false;
}

static void begin_process(size_t i)
{
    struct entry *entry = &entries[i];
    if (!CHECK(holder_start(&nodes, 0, &entry->holder)))
        return;
    entry->born = now;
    entry->has_parent = false;
    for (int fd = 0; fd < FDS; fd++) {
        put(entry, fd, fd < 3 ? OTHER : FREE);
        if (fd >= 3 && any(8) != 0 && CHECK(holder_other(&entry->holder, fd) == 0))
            put(entry, fd, OTHER);
    }
}

static void fork_process(size_t i)
{
    size_t child = 0;
    while (child < PROCESSES && entries[child].holder.pid > 0)
        child++;
    if (child == PROCESSES)
        return;
    if (!CHECK(holder_fork(&entries[i].holder, &entries[child].holder) == 0))
        return;
    memcpy(entries[child].held, entries[i].held, sizeof(entries[i].held));
    for (int fd = 0; fd < FDS; fd++)
        put(&entries[child], fd, entries[i].held[fd]);
    entries[child].born = now;
    entries[child].has_parent = true;
    entries[child].parent = i;
}

/* One change to the descriptors of a process that takes orders. */
static void change_descriptor(size_t i)
{
    struct entry *entry = &entries[i];
    int fd = 3 + (int)any(FDS - 3);
    int from = 3 + (int)any(FDS - 3);
    size_t other = any(PROCESSES);
    int node = 1 + (int)any(NODES);
    switch (any(8)) {
    case 0:
    case 1:
    case 2:
        if (CHECK(holder_open(&entry->holder, (size_t)node, fd) == 0))
            put(entry, fd, node);
        break;
    case 3:
    case 4:
        if (entry->held[fd] != FREE && CHECK(holder_other(&entry->holder, fd) == 0))
            put(entry, fd, OTHER);
        break;
    case 5:
        if (entry->held[fd] != FREE && CHECK(holder_close(&entry->holder, fd) == 0))
            put(entry, fd, FREE);
        break;
    case 6:
        if (from != fd && entry->held[from] != FREE &&
            CHECK(holder_dup(&entry->holder, from, fd) == 0))
            put(entry, fd, entry->held[from]);
        break;
    default:
        if (other != i && entries[other].holder.socket >= 0 && entry->held[from] > OTHER &&
            CHECK(holder_pass(&entry->holder, from, &entries[other].holder, fd) == 0))
            put(&entries[other], fd, entry->held[from]);
        break;
    }
}

static void change_something(void)
{
    size_t i = any(PROCESSES);
    unsigned kind = any(40);
    if (entries[i].holder.pid <= 0) {
        begin_process(i);
    } else if (kind == 0) {
        end_process(i);
    } else if (kind == 1) {
        pid_t pid = entries[i].holder.pid;
        end_process(i);
        want_pid(pid);
        begin_process(i);
    } else if (kind == 2 && entries[i].holder.socket >= 0) {
        fork_process(i);
    } else if (entries[i].holder.socket >= 0) {
        change_descriptor(i);
    }
}

/* What the scan must know after a gather, and what at the latest. */
static void keep_book(const struct watch *watch, unsigned rotation)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        struct entry *entry = &entries[i];
        memmove(&entry->count[1], &entry->count[0], sizeof(entry->count) - sizeof(entry->count[0]));
        entry->count[0] = count_of(entry);
        bool is_walked = entry->count[0] != entry->count[1];
        for (int fd = 0; fd < FDS && entry->holder.pid > 0; fd++) {
            int node = entry->held[fd];
            bool is_reported = node > OTHER && watch->pid[node] == (uint32_t)entry->holder.pid &&
                               watch->fd[node] == (uint32_t)fd;
            unsigned age = now - entry->since[fd];
            bool is_of_birth = entry->since[fd] <= entry->born;
            if (is_reported || age >= rotation || is_of_birth || is_walked)
                entry->is_known[fd] = true;
        }
    }
}

/* Everything that must be known is reported, and nothing else. Returns how many nodes are held. */
static unsigned compare(const struct watch *watch)
{
    bool is_held[NODES + 1] = {false};
    bool must[NODES + 1] = {false};
    bool is_right[NODES + 1] = {false};
    unsigned held = 0;
    for (size_t i = 0; i < PROCESSES; i++)
        for (int fd = 0; fd < FDS && entries[i].holder.pid > 0; fd++) {
            int node = entries[i].held[fd];
            if (node <= OTHER)
                continue;
            is_held[node] = true;
            must[node] = must[node] || entries[i].is_known[fd];
            is_right[node] =
                is_right[node] || (watch->pid[node] == (uint32_t)entries[i].holder.pid &&
                                   watch->fd[node] == (uint32_t)fd);
        }
    for (int node = 1; node <= NODES; node++) {
        held += is_held[node] ? 1 : 0;
        bool is_fine = CHECK(!must[node] || watch->pid[node] != 0) &&
                       CHECK(watch->pid[node] == 0 || is_right[node]) &&
                       CHECK(!watch->is_gone[node] || watch->pid[node] == 0);
        if (!is_fine)
            printf("    gather %u, node %d, reported of %u:%u\n", now, node, watch->pid[node],
                   watch->fd[node]);
    }
    return held;
}

/* Processes and descriptors come and go; what is held is found in the promised time. */
static void test_churn(void)
{
    static struct watch watch;
    uint64_t promised_ns = ROTATION_S * second_ns;
    unsigned held = 0;
    size_t texts = 0;
    if (!CHECK(holders_init(&nodes, NODES)) ||
        !CHECK(watch_init(&watch, &nodes, ROTATION_S * second_ns)))
        return;
    for (size_t i = 0; i < PROCESSES; i++)
        entries[i].holder.socket = -1;
    for (size_t i = 0; i < PROCESSES - 8; i++)
        begin_process(i);
    for (now = 1; now <= GATHERS; now++) {
        for (unsigned n = any(8); n > 0; n--)
            change_something();
        gather(&watch);
        const struct gtel_scan_counts *counts = gtel_scan_counts(watch.scan);
        promised_ns = counts->rotation_ns > promised_ns ? counts->rotation_ns : promised_ns;
        keep_book(&watch, (unsigned)(promised_ns / second_ns) + 2);
        held = compare(&watch);
        texts += watch.texts;
        CHECK(counts->waiting == 0 && counts->dropped == 0 && counts->readable == counts->visible);
    }
    printf("%d gathers, %u of %d nodes held, %zu texts, round in %" PRIu64
           " s, %u process numbers used again\n",
           GATHERS, held, NODES, texts, promised_ns / second_ns, reused);
    CHECK(held > NODES / 4 && reused > 0);
    for (size_t i = 0; i < PROCESSES; i++)
        if (entries[i].holder.pid > 0)
            end_process(i);
    gather(&watch);
    CHECK(watch.texts == 0 && gtel_scan_counts(watch.scan)->clients == 0);
    watch_done(&watch);
    holders_done(&nodes);
}

/* ---- rights ---- */

enum {
    ROOT,
    OWN,
    FOREIGN,
    HOLDERS,
    USER = 61234,
    OTHER_USER = 61235,
    PTRACE = 1u << CAP_SYS_PTRACE,
    SEARCH = 1u << CAP_DAC_READ_SEARCH
};

static const struct rights {
    const char *label;
    uid_t uid;
    uint32_t capabilities;
    const char *hidepid; /* option of the mount of /proc; NULL: none */
    bool sees_others;
    bool is_by_text;
    bool has_first;
} rights[] = {
    {"root", 0, 0, NULL, true, false, true},
    {"a user", USER, 0, NULL, false, false, true},
    {"a user with CAP_SYS_PTRACE", USER, PTRACE, NULL, true, true, true},
    {"a user with CAP_DAC_READ_SEARCH", USER, SEARCH, NULL, false, false, true},
    {"a user with both", USER, PTRACE | SEARCH, NULL, true, false, true},
    {"root, hidepid=2", 0, 0, "hidepid=2", true, false, true},
    {"a user, hidepid=1", USER, 0, "hidepid=1", false, false, true},
    {"a user, hidepid=2", USER, 0, "hidepid=2", false, false, false},
    {"a user with CAP_SYS_PTRACE, hidepid=2", USER, PTRACE, "hidepid=2", true, true, true},
};

static bool become(const struct rights *row)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}, {0}};
    if (row->uid == 0)
        return true;
    if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(row->uid, row->uid, row->uid) < 0 || setresuid(row->uid, row->uid, row->uid) < 0)
        return false;
    data[0].permitted = data[0].effective = row->capabilities;
    return syscall(SYS_capset, &header, data) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
}

static void check_rights(const struct rights *row, const struct holders *holders,
                         const struct holder *holder)
{
    static struct watch watch;
    if (!CHECK(become(row)) || !CHECK(watch_init(&watch, holders, 0)))
        return;
    for (int i = 0; i < 3; i++) {
        gather(&watch);
        const struct gtel_scan_counts *counts = gtel_scan_counts(watch.scan);
        for (size_t k = 0; k < HOLDERS; k++) {
            bool is_seen = row->sees_others || k == OWN;
            CHECK_INT(watch.pid[k + 1], is_seen ? holder[k].pid : 0);
        }
        CHECK(watch.pid[HOLDERS + 1] == 0); /* outside of our process namespace */
        CHECK(counts->has_init == row->has_first && (counts->by_text > 0) == row->is_by_text);
        CHECK_INT(counts->clients, row->sees_others ? HOLDERS : 1);
        CHECK_INT(counts->visible, row->has_first ? HOLDERS + 1 : 1);
        CHECK_INT(counts->readable, row->sees_others ? HOLDERS + 1 : 1);
        CHECK(counts->waiting == 0);
    }
    watch_done(&watch);
}

static bool run_child(void (*run)(void *arg), void *arg)
{
    int status = -1;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run(arg);
        (void)fflush(stdout);
        _exit(test_has_failed() ? 1 : 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

struct rights_case {
    const struct rights *row;
    const struct holders *holders;
    const struct holder *holder;
};

static void run_rights(void *arg)
{
    const struct rights_case *one = arg;
    test_label = one->row->label;
    if (one->row->hidepid && !CHECK(unshare(CLONE_NEWNS) == 0))
        return;
    if (one->row->hidepid &&
        !CHECK(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV, one->row->hidepid) == 0))
        return;
    check_rights(one->row, one->holders, one->holder);
}

/* The process that the node of this number is held by is outside of the namespace. */
static struct holders outside;

static void test_rights(void)
{
    struct holder holder[HOLDERS];
    static const uid_t uids[HOLDERS] = {0, USER, OTHER_USER};
    holders_moved(&outside);
    for (size_t i = 0; i < HOLDERS; i++)
        CHECK(holder_start(&outside, uids[i], &holder[i]) &&
              holder_open(&holder[i], i + 1, 3) == 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rights); i++) {
        struct rights_case one = {&rights[i], &outside, holder};
        test_label = rights[i].label;
        CHECK(run_child(run_rights, &one));
    }
    for (size_t i = 0; i < HOLDERS; i++)
        holder_end(&holder[i]);
}

/* ---- namespaces ---- */

/* The first process of a process namespace, with its /proc. */
static void run_inside(void *arg)
{
    void (*test)(void) = *(void (**)(void))arg;
    if (CHECK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0) &&
        CHECK(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV, NULL) == 0))
        test();
}

static void run_namespace(void *arg)
{
    if (CHECK(unshare(CLONE_NEWNS | CLONE_NEWPID) == 0))
        CHECK(run_child(run_inside, arg));
}

int main(int argc, char **argv)
{
    bool is_churn = argc >= 2 && strcmp(argv[1], "churn") == 0;
    void (*test)(void) = is_churn ? test_churn : test_rights;
    struct holder holder = {.socket = -1};
    uint64_t seed;
    if (argc == 3 && gtel_str_u64(gtel_str_of(argv[2]), &seed) == 0)
        noise ^= seed << 20;
    if (!is_churn) {
        if (!CHECK(holders_init(&outside, HOLDERS + 1)))
            return test_result();
        CHECK(holder_start(&outside, 0, &holder) && holder_open(&holder, HOLDERS + 1, 3) == 0);
    }
    CHECK(run_child(run_namespace, &test));
    holder_end(&holder);
    holders_done(&outside);
    return test_result();
}
