/* SPDX-License-Identifier: MIT */
/*
 * What it costs to parse what drivers say of a client, beside what it costs to read it.
 *
 *     bench_fdinfo FOLDER DRIVER...     the files of FOLDER that are named "DRIVER-…" or "DRIVER"
 *
 * One JSON line: nanoseconds per file to parse, the floor (a bare pread of the same text from a
 * kept descriptor of a file in memory, which needs no driver to write the text), their ratio, and,
 * for comparison, one pread of a file in /proc/self/fdinfo, which the kernel writes again each
 * time, though only a few lines. Values are medians over rounds in which both are taken in turn.
 */
#include "bench/median.h"
#include "parse/fdinfo.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 64, ROUNDS = 101, PASSES = 200 };

struct bench {
    char text[FILES_MAX][GTEL_FDINFO_TEXT_MAX];
    size_t n[FILES_MAX];
    int fd[FILES_MAX];
    size_t files;
    size_t bytes;
    uint64_t sum; /* of results, so that the work cannot be omitted */
};

static double now_ns(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_MONOTONIC, &ts) != 0)
        return 0;
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* A copy of the file in memory, with a descriptor that stays. */
static bool load(struct bench *bench, int folder, const char *name)
{
    size_t i = bench->files;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 || i == FILES_MAX ? -1 : read(fd, bench->text[i], sizeof(bench->text[i]));
    if (fd >= 0)
        (void)close(fd); /* only read */
    if (n <= 0)
        return false;
    bench->fd[i] = memfd_create("fdinfo", MFD_CLOEXEC);
    if (bench->fd[i] < 0 || write(bench->fd[i], bench->text[i], (size_t)n) != n)
        return false;
    bench->n[i] = (size_t)n;
    bench->bytes += (size_t)n;
    bench->files++;
    return true;
}

static bool is_wanted(const char *name, char **drivers)
{
    for (; *drivers; drivers++) {
        size_t n = strlen(*drivers);
        if (strncmp(name, *drivers, n) == 0 && (name[n] == '\0' || name[n] == '-'))
            return true;
    }
    return false;
}

static bool load_folder(struct bench *bench, const char *path, char **drivers)
{
    DIR *dir = opendir(path);
    struct dirent *entry = dir ? readdir(dir) : NULL;
    bool is_ok = entry != NULL;
    for (; entry; entry = readdir(dir))
        if (is_wanted(entry->d_name, drivers) && !load(bench, dirfd(dir), entry->d_name))
            is_ok = false;
    if (dir)
        (void)closedir(dir); /* only read */
    return is_ok && bench->files > 0;
}

static void parse_all(struct bench *bench)
{
    static struct gtel_fdinfo info;
    for (size_t i = 0; i < bench->files; i++) {
        if (gtel_fdinfo_parse((struct gtel_str){bench->text[i], bench->n[i]}, &info) == 0)
            bench->sum += info.engines + info.client_id;
    }
}

static void read_all(struct bench *bench)
{
    static char buf[GTEL_FDINFO_TEXT_MAX];
    for (size_t i = 0; i < bench->files; i++)
        if (pread(bench->fd[i], buf, sizeof(buf), 0) > 0)
            bench->sum += (unsigned char)buf[0];
}

static void read_own(struct bench *bench, int fd)
{
    static char buf[GTEL_FDINFO_TEXT_MAX];
    for (size_t i = 0; i < bench->files; i++)
        if (pread(fd, buf, sizeof(buf), 0) > 0)
            bench->sum += (unsigned char)buf[0];
}

static void measure(struct bench *bench, int own)
{
    static double parse[ROUNDS];
    static double bare[ROUNDS];
    static double proc[ROUNDS];
    static double ratio[ROUNDS];
    double per_file = 1.0 / PASSES / (double)bench->files;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ns();
        for (int k = 0; k < PASSES; k++)
            parse_all(bench);
        double parsed = now_ns();
        for (int k = 0; k < PASSES; k++)
            read_all(bench);
        double read = now_ns();
        for (int k = 0; k < PASSES; k++)
            read_own(bench, own);
        parse[i] = (parsed - start) * per_file;
        bare[i] = (read - parsed) * per_file;
        proc[i] = (now_ns() - read) * per_file;
        ratio[i] = parse[i] / bare[i];
    }
    printf("{\"bench\":\"fdinfo\",\"files\":%zu,\"bytes_per_file\":%.0f,\"parse_ns\":%.0f,"
           "\"floor_ns\":%.0f,\"ratio\":%.3f,\"procfs_ns\":%.0f}\n",
           bench->files, (double)bench->bytes / (double)bench->files, median(parse, ROUNDS),
           median(bare, ROUNDS), median(ratio, ROUNDS), median(proc, ROUNDS));
}

int main(int argc, char **argv)
{
    static struct bench bench;
    char path[64];
    if (argc < 3) {
        fprintf(stderr, "usage: bench_fdinfo FOLDER DRIVER...\n");
        return 2;
    }
    if (!load_folder(&bench, argv[1], argv + 2)) {
        fprintf(stderr, "%s: no such files, or too many\n", argv[1]);
        return 1;
    }
    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bench.fd[0]);
    int own = open(path, O_RDONLY | O_CLOEXEC);
    if (own < 0) {
        perror(path);
        return 1;
    }
    measure(&bench, own);
    return bench.sum > 0 ? 0 : 1;
}
