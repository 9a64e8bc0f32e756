/* SPDX-License-Identifier: MIT */
/*
 * What a gather of the lane clients costs with processes of ROCm, beside the bare system calls.
 *
 *     bench_kfd FOLDER PROCESSES ROUNDS
 *
 * Makes, in an empty FOLDER, a machine of 8 amdgpu cards and so many processes, each with VRAM on
 * all of them, as files. Then, in turn: a gather of the lane, all of it, and the floor: list proc
 * and KFD's, one stat of each process, one pread of each file of KFD from descriptors that are
 * kept. Prints a JSON line where nobody uses ROCm, and one where all do: CPU time of both, medians;
 * the ratio; heap allocations of all steady gathers. It fails when the ratio with ROCm is
 * above 1.4 (1.20 to 1.36 of one process on the same machine, the mean is 1.3), or a gather
 * allocates more than once for each listing of a folder that is none of procfs. And where nobody
 * uses ROCm, when a gather costs more than 1.1 times one of the same machine with cards of a driver
 * without KFD, made in turn.
 */
#include "bench/median.h"
#include "harness/alloc_fault.h"
#include "lanes/group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { GPUS = 8, FILES = 3, PROCESSES_MAX = 1000, ROUNDS_MAX = 1000 };

static int folder;
static int kept[PROCESSES_MAX * GPUS * FILES];
static size_t files;
static char buffer[65536];
static uint64_t listings; /* of folders, which are none of procfs here */
static struct gtel_env_ops counting;
static const struct gtel_env_ops *real;

static bool fail(const char *what)
{
    (void)fprintf(stderr, "bench_kfd: %s: %s\n", what, strerror(errno));
    return false;
}

static double cpu_ms(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        return 0;
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Makes what is missing of the folders in front of the last part. */
static void make_folders(const char *path)
{
    char part[256];
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
        (void)mkdirat(folder, part, 0755);
    }
}

static bool put_file(const char *path, const char *text)
{
    make_folders(path);
    int fd = openat(folder, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return (fd >= 0 && close(fd) == 0 && is_written) || fail(path);
}

static bool put_link(const char *path, const char *to)
{
    make_folders(path);
    return symlinkat(to, folder, path) == 0 || fail(path);
}

static bool put_gpu(unsigned n, const char *driver)
{
    char path[256];
    char text[256];
    (void)snprintf(path, sizeof(path), "sys/devices/0000:%02x:00.0/uevent", n + 1);
    (void)snprintf(text, sizeof(text),
                   "DRIVER=%s\nPCI_ID=1002:74A1\nPCI_SLOT_NAME=0000:%02x:00.0\n", driver, n + 1);
    bool is_put = put_file(path, text);
    (void)snprintf(path, sizeof(path), "sys/devices/0000:%02x:00.0/power/runtime_status", n + 1);
    is_put = is_put && put_file(path, "active\n");
    (void)snprintf(text, sizeof(text), "../../../devices/0000:%02x:00.0", n + 1);
    (void)snprintf(path, sizeof(path), "sys/class/drm/card%u/device", n);
    is_put = is_put && put_link(path, text);
    (void)snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device", 128 + n);
    is_put = is_put && put_link(path, text);
    (void)snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/gpu_id", n);
    (void)snprintf(text, sizeof(text), "%u\n", 100 + n);
    is_put = is_put && put_file(path, text);
    (void)snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/properties", n);
    (void)snprintf(text, sizeof(text), "location_id %u\ndomain 0\n", (n + 1) << 8);
    return is_put && put_file(path, text);
}

static bool put_process(unsigned pid, const char *name)
{
    char path[256];
    char text[256];
    (void)snprintf(path, sizeof(path), "proc/%u/stat", pid);
    (void)snprintf(text, sizeof(text), "%u (%s) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 50 0 0\n",
                   pid, name);
    bool is_put = put_file(path, text);
    (void)snprintf(path, sizeof(path), "proc/%u/fd/0", pid);
    return is_put && put_link(path, "/dev/null");
}

static bool put_kfd(unsigned pid)
{
    static const char *const names[FILES][2] = {{"vram_%u", "1073741824\n"},
                                                {"stats_%u/evicted_ms", "0\n"},
                                                {"stats_%u/cu_occupancy", "9\n"}};
    char path[256];
    for (unsigned n = 0; n < GPUS * FILES; n++) {
        int at = snprintf(path, sizeof(path), "sys/class/kfd/kfd/proc/%u/", pid);
        const char *name = names[n % FILES][0];
        (void)snprintf(path + at, sizeof(path) - (size_t)at, "%.*s%u%s", (int)strcspn(name, "%"),
                       name, 100 + n / FILES, strchr(name, '%') + 2);
        if (!put_file(path, names[n % FILES][1]))
            return false;
        kept[files] = openat(folder, path, O_RDONLY | O_CLOEXEC);
        if (kept[files++] < 0)
            return fail(path);
    }
    return true;
}

/* What getdents64(2) writes for each name. */
struct entry {
    uint64_t ino;
    int64_t off;
    uint16_t length;
    uint8_t type;
    char name[];
};

static uint64_t list(const char *name, bool has_stats)
{
    uint64_t sum = 0;
    char path[300];
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    for (;;) {
        long n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
        if (n <= 0)
            break;
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(const void *)(buffer + at);
            at += entry->length;
            (void)snprintf(path, sizeof(path), "%s/fd", entry->name);
            if (has_stats && entry->name[0] <= '9' && fstatat(fd, path, &st, 0) == 0)
                sum += (uint64_t)st.st_size;
        }
    }
    (void)close(fd);
    return sum;
}

static double time_floor(uint64_t *sum)
{
    double start = cpu_ms();
    *sum += list("proc", true) + list("sys/class/kfd/kfd/proc", false);
    for (size_t i = 0; i < files; i++)
        *sum += (uint64_t)pread(kept[i], buffer, 4096, 0);
    return cpu_ms() - start;
}

static double time_gather(struct gtel_group *group)
{
    double start = cpu_ms();
    gtel_group_sample(group);
    return cpu_ms() - start;
}

/* other: of the same machine without KFD; NULL: it is not compared. */
static bool measure(struct gtel_group *group, struct gtel_group *other, unsigned processes,
                    size_t rounds)
{
    static double gather[ROUNDS_MAX];
    static double floor[ROUNDS_MAX];
    static double ratio[ROUNDS_MAX];
    static double scan_ratio[ROUNDS_MAX];
    uint64_t sum = 0;
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i < 5; i++) {
        (void)time_gather(group);
        (void)time_gather(other ? other : group);
        (void)nanosleep(&pause, NULL);
    }
    size_t n = group->batch.n;
    alloc_fault_arm(0);
    listings = 0;
    for (size_t i = 0; i < rounds; i++) {
        (void)nanosleep(&pause, NULL);
        gather[i] = time_gather(group);
        (void)nanosleep(&pause, NULL);
        floor[i] = time_floor(&sum);
        ratio[i] = floor[i] > 0 ? gather[i] / floor[i] : 0;
        (void)nanosleep(&pause, NULL);
        scan_ratio[i] = other ? gather[i] / time_gather(other) : 1;
    }
    uint64_t allocations = alloc_fault_count();
    (void)printf("{\"bench\":\"kfd\",\"processes\":%u,\"gpus\":%d,\"files\":%zu,\"readings\":%zu,"
                 "\"gather_ms\":%.3f,\"floor_ms\":%.3f,\"ratio\":%.2f,\"scan_ratio\":%.2f,"
                 "\"allocations\":%" PRIu64 "%s}\n",
                 processes, GPUS, files, n, median(gather, rounds), median(floor, rounds),
                 median(ratio, rounds), median(scan_ratio, rounds), allocations,
                 sum == 0 ? ",\"empty\":1" : "");
    return allocations <= listings &&
           (other ? median(scan_ratio, rounds) <= 1.1 : median(ratio, rounds) <= 1.4);
}

/* Below root, in a folder of the driver's name: the last one made is the one of ROCm. */
static bool make_machine(const char *root, const char *driver, unsigned processes)
{
    struct rlimit limit;
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", root, driver);
    if (mkdir(path, 0755) != 0)
        return fail(path);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_made = put_link("proc/self/ns/pid", "pid:[4026531836]") &&
                   put_file("proc/self/stat", "9 (gtel) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 "
                                              "0 0\n") &&
                   put_process(1, "init");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (unsigned n = 0; is_made && n < GPUS; n++)
        is_made = put_gpu(n, driver);
    make_folders("sys/class/kfd/kfd/proc/");
    for (unsigned i = 0; is_made && i < processes; i++)
        is_made = put_process(1000 + i, "rank");
    return is_made;
}

static int count_listing(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                         void *fn_arg)
{
    listings++;
    return real->dir_list_from(arg, path, first, fn, fn_arg);
}

static bool begin(const char *root, const char *driver, struct gtel_env *env,
                  struct gtel_group *group)
{
    static struct gtel_options options;
    char path[512];
    gtel_options_init(&options);
    (void)snprintf(path, sizeof(path), "%s/%s", root, driver);
    if (gtel_env_posix_init(path, env) < 0)
        return false;
    real = env->ops;
    counting = *real;
    counting.dir_list_from = count_listing;
    env->ops = &counting;
    return gtel_group_init(group, "clients", env, &options) == 0;
}

static bool run(const char *root, unsigned processes, size_t rounds)
{
    static struct gtel_env env[2];
    static struct gtel_group group[2];
    if (!begin(root, "i915", &env[0], &group[0]) || !begin(root, "amdgpu", &env[1], &group[1]))
        return fail(root);
    bool is_well = measure(&group[1], &group[0], 0, rounds);
    for (unsigned i = 0; i < processes; i++)
        if (!put_kfd(1000 + i))
            return false;
    is_well = measure(&group[1], NULL, processes, rounds) && is_well;
    for (size_t i = 0; i < 2; i++) {
        gtel_group_done(&group[i]);
        gtel_env_posix_done(&env[i]);
    }
    return is_well;
}

int main(int argc, char **argv)
{
    unsigned processes = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    size_t rounds = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (processes == 0 || processes > PROCESSES_MAX || rounds == 0 || rounds > ROUNDS_MAX) {
        (void)fprintf(stderr, "usage: bench_kfd FOLDER PROCESSES ROUNDS\n");
        return 2;
    }
    bool is_well = make_machine(argv[1], "i915", processes) &&
                   make_machine(argv[1], "amdgpu", processes) && run(argv[1], processes, rounds);
    return is_well ? 0 : 1;
}
