/* SPDX-License-Identifier: MIT */
/*
 * What a device cycle costs beside the bare system calls, and what a gather allocates.
 *
 *     bench_device MACHINE.tree
 *
 * The recorded machine is written as real files into a scratch folder. Then, in turn: cycles of the
 * kernel lane (sampling all devices and making the frame that a helper sends), and the very same
 * outside calls bare: pread from the same descriptors with the same sizes, and for perf counters,
 * DRM queries and uevents the system calls that stand for them on both sides (outside.h). What
 * sources do between gathers (bursts of xe's counters) is omitted on both sides. Prints one JSON
 * line: CPU time of both per cycle, the ratio (median over the rounds), the same over a floor in
 * which a query is one pread, without opening and closing its node, calls and readings per
 * cycle, the CPU time of a whole gather beyond the lane's, and the heap allocations in all steady
 * cycles of the lane and of whole gathers with the line-protocol sink.
 */
#include "bench/outside.h"
#include "lanes/group.h"
#include "sinks/lineproto.h"
#include "lanes/wire.h"
#include "bench/median.h"
#include "harness/tree_files.h"
#include "gtel.h"
#include "recording/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 41, CYCLES = 50 };

static const uint64_t interval_ns = 1000000000;

/* Allocations are counted by the linker's --wrap. */
static unsigned long allocations;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    allocations++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    allocations++;
    return __real_realloc(p, n);
}

static double cpu_us(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        return 0;
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void lane_cycle(struct gtel_group *group, struct gtel_buf *frame)
{
    struct gtel_answer answer = {.request = 1};
    gtel_group_sample(group);
    gtel_buf_reset(frame);
    gtel_wire_answer(frame, &answer, &group->registry, false, &group->batch);
}

/* The time until the next gather, with what sources do in between. */
static void pass_interval(struct gtel_group *group, const struct gtel_env *env)
{
    uint64_t end = gtel_env_now(env) + interval_ns;
    for (;;) {
        uint64_t now = gtel_env_now(env);
        uint64_t due = gtel_group_due(group);
        if (due == 0 || due >= end)
            break;
        outside_step(due > now ? due - now : 0);
        gtel_group_tick(group);
    }
    uint64_t now = gtel_env_now(env);
    outside_step(end > now ? end - now : 0);
}

static double time_lane(struct gtel_group *group, const struct gtel_env *env,
                        struct gtel_buf *frame)
{
    double sum = 0;
    for (int i = 0; i < CYCLES; i++) {
        pass_interval(group, env);
        double start = cpu_us();
        lane_cycle(group, frame);
        sum += cpu_us() - start;
    }
    return sum / CYCLES;
}

/* As often as the lane, and timed in the same way. */
static double time_floor(bool is_least)
{
    double sum = 0;
    for (int i = 0; i < CYCLES; i++) {
        double start = cpu_us();
        if (!outside_replay(is_least))
            return 0;
        sum += cpu_us() - start;
    }
    return sum / CYCLES;
}

struct result {
    size_t devices;
    size_t readings;
    double lane_us;
    double floor_us;
    double ratio;
    double least_us; /* the floor with one pread for each query */
    double least_ratio;
    double gather_us;
    unsigned long lane_allocations;
    unsigned long gather_allocations;
};

/* One gather after an interval, with what sources do in between omitted. */
static double time_gather(struct gtel_context *context, const struct gtel_env *env,
                          struct gtel_buf *out)
{
    uint64_t end = gtel_env_now(env) + interval_ns;
    for (;;) {
        uint64_t now = gtel_env_now(env);
        uint64_t due = gtel_context_due(context);
        if (due == 0 || due >= end)
            break;
        outside_step(due > now ? due - now : 0);
        gtel_context_tick(context);
    }
    uint64_t now = gtel_env_now(env);
    outside_step(end > now ? end - now : 0);
    gtel_buf_reset(out);
    double start = cpu_us();
    gtel_context_gather(context); /* the values show what it did */
    return cpu_us() - start;
}

static void bench_gather(const struct gtel_env *env, const struct gtel_options *options,
                         struct result *ret)
{
    static struct gtel_lineproto lp;
    struct gtel_buf out;
    struct gtel_context *context = NULL;
    gtel_buf_init(&out, 1 << 24);
    gtel_lineproto_init(&lp, &out, GTEL_STR_NONE);
    struct gtel_sink sink = gtel_lineproto_sink(&lp);
    struct gtel_setup setup = {.env = env, .options = options, .sink = &sink};
    if (gtel_context_new(&setup, &context) < 0)
        return;
    static double gather[ROUNDS];
    for (int i = 0; i < 5; i++)
        (void)time_gather(context, env, &out);
    unsigned long before = allocations;
    for (int i = 0; i < ROUNDS; i++) {
        gather[i] = 0;
        for (int k = 0; k < CYCLES; k++)
            gather[i] += time_gather(context, env, &out) / CYCLES;
    }
    ret->gather_allocations = allocations - before;
    ret->gather_us = median(gather, ROUNDS);
    gtel_context_free(context);
    gtel_buf_done(&out);
}

static int bench_lane(const struct gtel_env *env, const struct gtel_options *options,
                      struct result *ret)
{
    static struct gtel_group group;
    static double lane[ROUNDS];
    static double bare[ROUNDS];
    static double ratio[ROUNDS];
    static double least[ROUNDS];
    static double least_ratio[ROUNDS];
    struct gtel_buf frame;
    gtel_buf_init(&frame, GTEL_FRAME_MAX);
    if (gtel_group_init(&group, "kernel", env, options) < 0)
        return 1;
    for (int i = 0; i < 5; i++) {
        lane_cycle(&group, &frame);
        pass_interval(&group, env);
    }
    outside_record(true);
    lane_cycle(&group, &frame);
    outside_record(false);
    unsigned long before = allocations;
    for (int i = 0; i < ROUNDS; i++) {
        lane[i] = time_lane(&group, env, &frame);
        bare[i] = time_floor(false);
        ratio[i] = lane[i] / bare[i];
        least[i] = time_floor(true);
        least_ratio[i] = lane[i] / least[i];
    }
    *ret = (struct result){.devices = group.registry.n,
                           .readings = group.batch.n,
                           .lane_us = median(lane, ROUNDS),
                           .floor_us = median(bare, ROUNDS),
                           .ratio = median(ratio, ROUNDS),
                           .least_us = median(least, ROUNDS),
                           .least_ratio = median(least_ratio, ROUNDS),
                           .lane_allocations = allocations - before};
    gtel_group_done(&group);
    gtel_buf_done(&frame);
    return 0;
}

static int bench(const struct gtel_env *env)
{
    static struct gtel_options options;
    struct result result;
    char error[64];
    gtel_options_init(&options);
    /* Looks for GPUs, and what is sent once in a while, are no part of a steady cycle. */
    if (gtel_option_set(&options, GTEL_O_RESCAN, GTEL_STR("1h"), error, sizeof(error)) < 0 ||
        gtel_option_set(&options, GTEL_O_INFO_INTERVAL, GTEL_STR("24h"), error, sizeof(error)) <
            0 ||
        bench_lane(env, &options, &result) != 0)
        return 1;
    bench_gather(env, &options, &result);
    size_t files = outside_calls(OUTSIDE_FILE);
    printf("{\"bench\":\"device_cycle\",\"gpus\":%zu,\"files\":%zu,\"counters\":%zu,"
           "\"queries\":%zu,\"uevents\":%zu,\"readings\":%zu,"
           "\"cpu_us\":%.1f,\"floor_us\":%.1f,\"ratio\":%.3f,\"least_floor_us\":%.1f,"
           "\"least_ratio\":%.3f,\"front_us\":%.1f,"
           "\"allocations_lane\":%lu,\"allocations_gather\":%lu}\n",
           result.devices, files, outside_calls(OUTSIDE_COUNTERS), outside_calls(OUTSIDE_QUERY),
           outside_calls(OUTSIDE_UEVENT), result.readings, result.lane_us, result.floor_us,
           result.ratio, result.least_us, result.least_ratio, result.gather_us - result.lane_us,
           result.lane_allocations, result.gather_allocations);
    return result.devices > 0 && files > 0 && result.gather_us > 0 ? 0 : 1;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* The bench on real files: env is the recorded machine. */
static int on_files(const struct gtel_env *recorded)
{
    char dir[] = "/dev/shm/gtel-bench-XXXXXX";
    struct gtel_env env;
    int r = 1;
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    struct gtel_env outside;
    if (expand_tree(recorded, dir) == 0 && gtel_env_posix_init(dir, &env) == 0) {
        if (outside_init(&env, recorded, dir, &outside))
            r = bench(&outside);
        outside_done();
        gtel_env_posix_done(&env);
    }
    (void)nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS); /* scratch */
    return r;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    char error[200] = "it cannot be read";
    struct gtel_tree *tree = NULL;
    struct gtel_env recorded;
    char *text = argc == 2 ? read_whole_file(argv[1], &n) : NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_device MACHINE.tree\n");
        return 2;
    }
    int r = 1;
    if (!text || gtel_tree_parse((struct gtel_str){text, n}, &tree, error, sizeof(error)) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], error);
    } else if (gtel_env_tree_init(tree, true, 0, &recorded) == 0) {
        r = on_files(&recorded);
        gtel_env_tree_done(&recorded);
    }
    gtel_tree_free(tree);
    free(text);
    return r;
}
