/* SPDX-License-Identifier: MIT */
/*
 * What a scan for clients costs beside the bare system calls that it cannot do without.
 *
 *     bench_clients PROCESSES FDS EVERY CLIENTS DUPLICATES PAUSE_MS ROUNDS
 *     bench_clients - FILE PAUSE_MS ROUNDS
 *
 * Makes PROCESSES processes with FDS descriptors each; each one in EVERY (0: none) has CLIENTS
 * device nodes of major 226 open and DUPLICATES further descriptors of the first of them (mknod:
 * needs root). Or, with FILE, takes the processes that are there: FILE has the paths of the
 * clients' fdinfo files. Then, in turn, after a pause each, so that caches are as cold as they are
 * between gathers: a gather of the scan (a second after the one before, by its clock), and the
 * floor: list /proc, one stat for each process, one pread for each client from files that are kept
 * open. Prints one JSON line: CPU time of both, medians; the ratio; heap allocations of all steady
 * gathers; the longest of the first gathers, which is spread, and how many there were; and how
 * long rotation takes. It fails when a steady gather allocates, or a first one takes too long.
 */
#include "bench/median.h"
#include "harness/alloc_fault.h"
#include "harness/fd_holders.h"
#include "sources/clients/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 1000, CLIENTS_MAX = 65536, NODES = 64, FIRST_MAX = 1000 };

static const uint64_t second_ns = 1000000000;
/* A gather of the first scan looks for 30 ms, and does what each gather does. */
static const double first_longest_ms = 50;

struct shape {
    size_t processes;
    int fds;
    size_t every;
    int clients;
    int duplicates;
};

struct bench {
    struct gtel_env env;
    struct gtel_env_ops ops;
    struct gtel_scan *scan;
    size_t texts_read;
    uint64_t id[CLIENTS_MAX]; /* of clients, by hash; and their numbers */
    uint32_t number[CLIENTS_MAX];
    uint32_t numbers;
    uint64_t hash;
    struct holders holders;
    int text[CLIENTS_MAX]; /* fdinfo files of the floor */
    size_t texts;
    pid_t *pid;
    size_t pids;
};

static struct bench bench;
static uint64_t extra_ns; /* by which the scan's clock is ahead */
static char buffer[32768];

static bool fail(const char *what)
{
    (void)fprintf(stderr, "bench_clients: %s: %s\n", what, strerror(errno));
    return false;
}

static double cpu_ms(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        return 0;
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void pause_ms(uint64_t ms)
{
    const struct timespec ts = {.tv_sec = (time_t)(ms / 1000),
                                .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&ts, NULL);
}

/* ---- processes ---- */

static void hold(const struct shape *shape, const char *dir, bool is_client, size_t number)
{
    char path[128];
    int fd = 3;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, is_client ? "gpuclient" : "holder");
    for (int i = 3; i < 64 || i < shape->fds; i++)
        (void)close(i);
    for (int i = 0; is_client && i < shape->clients; i++, fd++) {
        (void)snprintf(path, sizeof(path), "%s/%zu", dir,
                       (number * (size_t)shape->clients + (size_t)i) % NODES + 1);
        if (open(path, O_PATH) != fd)
            _exit(1);
    }
    for (int i = 0; is_client && i < shape->duplicates; i++, fd++)
        if (dup(3) != fd)
            _exit(1);
    for (; fd < shape->fds; fd++)
        if (eventfd(0, 0) != fd)
            _exit(1);
    for (;;)
        (void)pause();
}

static bool open_text(const char *path)
{
    if (bench.texts == CLIENTS_MAX)
        return false;
    bench.text[bench.texts] = open(path, O_RDONLY | O_CLOEXEC);
    return bench.text[bench.texts++] >= 0 || fail(path);
}

static bool start_processes(const struct shape *shape, const struct holders *holders)
{
    bench.pid = calloc(shape->processes, sizeof(*bench.pid));
    if (!bench.pid)
        return fail("memory");
    for (size_t i = 0; i < shape->processes; i++) {
        bool is_client = shape->every > 0 && i % shape->every == 0;
        bench.pid[i] = fork();
        if (bench.pid[i] == 0)
            hold(shape, holders->dir, is_client, i);
        if (bench.pid[i] < 0)
            return fail("fork");
        bench.pids++;
    }
    pause_ms(1000 + shape->processes * (unsigned)shape->fds / 100); /* until all are ready */
    for (size_t i = 0; bench.pid && i < bench.pids; i++)
        for (int fd = 3; shape->every > 0 && i % shape->every == 0 && fd < 3 + shape->clients;
             fd++) {
            char path[64];
            (void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)bench.pid[i], fd);
            if (!open_text(path))
                return false;
        }
    return true;
}

static void end_processes(void)
{
    for (size_t i = 0; i < bench.pids; i++)
        (void)kill(bench.pid[i], SIGKILL);
    for (size_t i = 0; i < bench.pids; i++)
        (void)waitpid(bench.pid[i], NULL, 0);
    free(bench.pid);
}

/* The clients that somebody else has made. */
static bool read_list(const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(path);
    bool is_fine = true;
    while (is_fine && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        is_fine = open_text(line);
    }
    (void)fclose(file);
    return is_fine;
}

/* ---- the two sides ---- */

static uint64_t ahead_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_now() + extra_ns;
}

/* The number of the client of that id, from 1 on. */
static uint32_t number_of(uint64_t id)
{
    size_t at = (size_t)(gtel_hash(GTEL_HASH_SEED, &id, sizeof(id)) % CLIENTS_MAX);
    while (bench.id[at] != 0 && bench.id[at] != id)
        at = (at + 1) % CLIENTS_MAX;
    if (bench.id[at] == 0)
        bench.number[at] = ++bench.numbers;
    bench.id[at] = id;
    return bench.number[at];
}

/* A client has an id, or, without a driver, process and node. */
static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    static const struct gtel_str name = GTEL_STR_INIT("drm-client-id:");
    struct gtel_str rest = text->text;
    struct gtel_str line;
    uint64_t id = 0;
    (void)arg;
    while (id == 0 && gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, name))
            (void)gtel_str_u64(gtel_str_trim(gtel_str_skip(line, name.n)), &id);
    bench.texts_read++;
    return number_of(id != 0 ? id
                             : (uint64_t)text->owner.birth.pid << 32 |
                                   holders_node(&bench.holders, text->text));
}

static double time_scan(const struct gtel_scan_hooks *hooks)
{
    extra_ns += second_ns;
    bench.texts_read = 0;
    double start = cpu_ms();
    if (gtel_scan_gather(bench.scan, hooks) < 0)
        return 0;
    return cpu_ms() - start;
}

/* What getdents64(2) writes for each name. */
struct entry {
    uint64_t ino;
    int64_t off;
    uint16_t length;
    uint8_t type;
    char name[];
};

static double time_floor(void)
{
    char path[64];
    struct stat st;
    double start = cpu_ms();
    int proc = open("/proc", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    for (;;) {
        long n = syscall(SYS_getdents64, proc, buffer, sizeof(buffer));
        if (n <= 0)
            break;
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
            at += entry->length;
            if (entry->name[0] < '0' || entry->name[0] > '9')
                continue;
            (void)snprintf(path, sizeof(path), "%s/fd", entry->name);
            if (fstatat(proc, path, &st, 0) == 0)
                bench.hash += (uint64_t)st.st_size;
        }
    }
    (void)close(proc);
    for (size_t i = 0; i < bench.texts; i++) {
        ssize_t n = pread(bench.text[i], buffer, sizeof(buffer), 0);
        bench.hash += n > 0 ? (uint64_t)n : 0;
    }
    return cpu_ms() - start;
}

/* Gathers until everything was walked; how many, and the longest. */
static size_t run_first(const struct gtel_scan_hooks *hooks, double *ret_longest_ms)
{
    size_t n = 0;
    *ret_longest_ms = 0;
    do {
        uint64_t start_ns = gtel_env_real_now();
        (void)time_scan(hooks);
        double took_ms = (double)(gtel_env_real_now() - start_ns) / 1e6;
        *ret_longest_ms = took_ms > *ret_longest_ms ? took_ms : *ret_longest_ms;
        pause_ms(20);
    } while (gtel_scan_counts(bench.scan)->waiting > 0 && ++n < FIRST_MAX);
    return n + 1;
}

/* False, and says why, for a promise that is broken. */
static bool measure(uint64_t pause, size_t rounds)
{
    static double scan[ROUNDS_MAX];
    static double floor[ROUNDS_MAX];
    static double ratio[ROUNDS_MAX];
    const struct gtel_scan_hooks hooks = {.read = read_text};
    double longest_ms;
    size_t first = run_first(&hooks, &longest_ms);
    (void)time_scan(&hooks);
    alloc_fault_arm(0);
    uint64_t allocations = 0;
    for (size_t i = 0; i < rounds; i++) {
        pause_ms(pause);
        uint64_t before = alloc_fault_count();
        scan[i] = time_scan(&hooks);
        allocations += alloc_fault_count() - before;
        pause_ms(pause);
        floor[i] = time_floor();
        ratio[i] = floor[i] > 0 ? scan[i] / floor[i] : 0;
    }
    const struct gtel_scan_counts *counts = gtel_scan_counts(bench.scan);
    (void)printf("{\"bench\":\"clients\",\"processes\":%" PRIu32 ",\"clients\":%" PRIu32
                 ",\"scan_ms\":%.3f,\"floor_ms\":%.3f,\"ratio\":%.2f,"
                 "\"allocations\":%" PRIu64 ",\"first_gathers\":%zu,\"first_longest_ms\":%.1f,"
                 "\"rotation_s\":%" PRIu64 "}\n",
                 counts->visible, counts->clients, median(scan, rounds), median(floor, rounds),
                 median(ratio, rounds), allocations, first, longest_ms,
                 counts->rotation_ns / second_ns);
    if (allocations > 0)
        (void)fprintf(stderr, "bench_clients: steady gathers allocate\n");
    if (longest_ms >= first_longest_ms)
        (void)fprintf(stderr, "bench_clients: a first gather takes %.0f ms or more\n",
                      first_longest_ms);
    return allocations == 0 && longest_ms < first_longest_ms;
}

/* ---- the command ---- */

static uint64_t number(const char *text)
{
    uint64_t value = 0;
    if (gtel_str_u64(gtel_str_of(text), &value) < 0)
        (void)fprintf(stderr, "bench_clients: '%s' is no number\n", text);
    return value;
}

static bool prepare(char **argv)
{
    struct shape shape;
    if (strcmp(argv[1], "-") == 0)
        return read_list(argv[2]);
    shape = (struct shape){.processes = number(argv[1]),
                           .fds = (int)number(argv[2]),
                           .every = number(argv[3]),
                           .clients = (int)number(argv[4]),
                           .duplicates = (int)number(argv[5])};
    return (holders_init(&bench.holders, NODES) || fail("device nodes (mknod needs root)")) &&
           start_processes(&shape, &bench.holders);
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    if (argc != 8 && !(argc == 5 && strcmp(argv[1], "-") == 0)) {
        (void)fprintf(stderr,
                      "usage: bench_clients PROCESSES FDS EVERY CLIENTS DUPLICATES PAUSE_MS "
                      "ROUNDS\n       bench_clients - FILE PAUSE_MS ROUNDS\n");
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    bool is_fine = prepare(argv) && gtel_env_posix_init("/", &bench.env) == 0;
    if (is_fine) {
        bench.ops = *bench.env.ops;
        bench.ops.monotonic_ns = ahead_ns;
        bench.env.ops = &bench.ops;
        is_fine = gtel_scan_new(&bench.env, NULL, &bench.scan) == 0;
    }
    size_t rounds = number(argv[argc - 1]);
    bool is_kept = true;
    if (is_fine)
        is_kept = measure(number(argv[argc - 2]), rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX);
    gtel_scan_free(bench.scan);
    if (is_fine)
        gtel_env_posix_done(&bench.env);
    end_processes();
    if (bench.holders.nodes > 0)
        holders_done(&bench.holders);
    return is_fine && is_kept ? 0 : 1;
}
