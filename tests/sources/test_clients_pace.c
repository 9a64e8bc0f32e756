/* SPDX-License-Identifier: MIT */
/* The scan for clients: how much it does in a gather, and when the rest and everything again. */
#include "harness/scan_world.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t second_ns = 1000000000;
static const uint64_t millisecond_ns = 1000000;

/* What the outside does, and how often it was asked. */
static struct {
    const char *bad; /* the path of a descriptor whose check fails */
    int error;
    const char *unlisted; /* the path of a directory whose list fails in the same way */
    unsigned checks;      /* of descriptors */
    unsigned reads;       /* of files */
    uint64_t takes_ns;    /* a list of processes */
} outside;

static int check(void *arg, const char *path, struct gtel_stat *ret)
{
    bool is_descriptor = strstr(path, "/fd/") != NULL;
    outside.checks += is_descriptor;
    if (outside.bad && strcmp(path, outside.bad) == 0)
        return outside.error;
    return scan_the_world->fault.env.ops->stat(arg, path, ret);
}

static int64_t read_file(void *arg, int file, void *buf, size_t size)
{
    outside.reads++;
    return scan_the_world->fault.env.ops->file_read(arg, file, buf, size);
}

static int list(void *arg, const char *path, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    if (strcmp(path, "proc") == 0)
        scan_the_world->extra_ns += outside.takes_ns;
    if (outside.unlisted && strcmp(path, outside.unlisted) == 0)
        return outside.error;
    return scan_the_world->fault.env.ops->dir_list_from(arg, path, first, fn, fn_arg);
}

static int refuse_dir(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return -EOPNOTSUPP;
}

/* The world whose outside is played; its directories are not kept, so that paths say what is asked.
 */
static bool begin(struct scan_world *world, struct gtel_buf *text, uint64_t tick_ns)
{
    memset(&outside, 0, sizeof(outside));
    gtel_buf_str(text, GTEL_STR("end\n"));
    if (!scan_start_buf(world, text, 0))
        return false;
    scan_set_clock(world, tick_ns);
    world->ops.stat = check;
    world->ops.file_read = read_file;
    world->ops.dir_list_from = list;
    world->ops.dir_open = refuse_dir;
    return true;
}

/* A millisecond later, when no rotation is due. */
static int soon(struct scan_world *world)
{
    gtel_env_tree_step(&world->machine, millisecond_ns);
    return scan_gather(world);
}

/*
 * A descriptor that cannot be checked may be a client's, and its process is walked again: but not
 * where it is of another file system, is closed, or belongs to others.
 */
static void test_unknown(void)
{
    static const struct {
        int error;
        unsigned waiting;
    } cases[] = {{-ENOTCONN, 0}, {-ESTALE, 0}, {-ETIMEDOUT, 0}, {-EHOSTDOWN, 0}, {-ENOENT, 0},
                 {-ESRCH, 0},    {-ENODEV, 0}, {-EACCES, 0},    {-EPERM, 0},     {-EIO, 1},
                 {-EINTR, 1},    {-ENOMEM, 1}, {-ENOTDIR, 1}};
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        test_label = strerror(-cases[i].error);
        gtel_buf_init(&text, 1 << 16);
        scan_put_process(&text, 5, 3);
        scan_put_client(&text, 5, 3, 1);
        scan_put_client(&text, 5, 4, 2);
        if (!begin(&world, &text, 0))
            return;
        outside.bad = "proc/5/fd/4";
        outside.error = cases[i].error;
        CHECK_INT(scan_gather(&world), 0);
        CHECK(world.pid[1] == 5 && world.pid[2] == 0);
        CHECK_INT(scan_counts(&world)->waiting, cases[i].waiting);
        CHECK_INT(scan_counts(&world)->readable, 1);
        CHECK_INT(outside.checks, 5);
        CHECK_INT(soon(&world), 0);
        CHECK_INT(outside.checks, cases[i].waiting ? 10 : 5);
        outside.bad = NULL;
        CHECK_INT(soon(&world), 0);
        CHECK_INT(world.pid[2], cases[i].waiting ? 5 : 0);
        scan_stop(&world);
    }
    test_label = "";
}

/* A process that ends before its descriptors are listed has ended: nothing waits for it. */
static void test_ends(void)
{
    static const struct {
        int error;
        bool has_ended;
    } cases[] = {{-ENOENT, true}, {-ESRCH, true}, {-EIO, false}, {-EMFILE, false}};
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        test_label = strerror(-cases[i].error);
        gtel_buf_init(&text, 1 << 16);
        scan_put_client(&text, 5, 4, 1);
        scan_put_client(&text, 6, 4, 2);
        gtel_buf_str(&text, GTEL_STR("at 1s\n"));
        scan_put_client(&text, 6, 5, 3);
        if (!begin(&world, &text, 0))
            return;
        CHECK(scan_gather(&world) == 0 && world.pid[1] == 5 && world.pid[2] == 6);
        outside.unlisted = "proc/6/fd";
        outside.error = cases[i].error;
        CHECK_INT(scan_later(&world), 0);
        CHECK(world.pid[1] == 5 && world.is_gone[2] == cases[i].has_ended);
        CHECK_INT(scan_counts(&world)->waiting, cases[i].has_ended ? 0 : 1);
        CHECK_INT(scan_counts(&world)->visible, cases[i].has_ended ? 1 : 2);
        CHECK_INT(scan_counts(&world)->readable, scan_counts(&world)->visible);
        outside.unlisted = NULL; /* another one has its number */
        CHECK_INT(soon(&world), 0);
        CHECK(world.pid[1] == 5 && world.pid[2] == 6 && world.pid[3] == 6);
        CHECK_INT(scan_counts(&world)->waiting, 0);
        scan_stop(&world);
    }
    test_label = "";
}

/* What was a client stays one while its descriptor cannot be checked. */
static void test_still_known(void)
{
    static struct scan_world world;
    struct gtel_buf text;
    test_label = "still known";
    gtel_buf_init(&text, 1 << 16);
    scan_put_client(&text, 5, 4, 2);
    gtel_buf_str(&text, GTEL_STR("at 1s\n"));
    scan_put_client(&text, 5, 6, 3);
    if (!begin(&world, &text, 0))
        return;
    CHECK(scan_gather(&world) == 0 && world.pid[2] == 5);
    outside.bad = "proc/5/fd/4";
    outside.error = -EIO;
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[2] == 5 && world.pid[3] == 5 && !world.is_gone[2]);
    CHECK_INT(scan_counts(&world)->waiting, 1);
    scan_stop(&world);
    test_label = "";
}

/*
 * A walk reads the clock for each eighth descriptor, and stops after 30 ms of the gather; but where
 * these have begun late, after the fourth part of that. Here each reading takes 1 ms.
 */
static void test_deadline(void)
{
    enum { FDS = 1000 };
    static const struct {
        const char *label;
        uint64_t takes_ms;
        unsigned checks;
    } cases[] = {{"in time", 0, 208}, {"late", 100, 40}};
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        test_label = cases[i].label;
        gtel_buf_init(&text, 1 << 20);
        scan_put_process(&text, 5, FDS);
        if (!begin(&world, &text, millisecond_ns))
            return;
        outside.takes_ns = cases[i].takes_ms * millisecond_ns;
        unsigned checks = cases[i].checks;
        for (unsigned n = 1; checks < FDS; n++) {
            CHECK_INT(n == 1 ? scan_gather(&world) : scan_later(&world), 0);
            CHECK_INT(outside.checks, checks);
            checks += cases[i].checks + 16; /* the kernel's list is not asked for again */
            CHECK(scan_counts(&world)->is_first && scan_counts(&world)->waiting == 1);
            CHECK(scan_counts(&world)->unknown == 1 && scan_counts(&world)->readable == 0);
        }
        CHECK_INT(scan_later(&world), 0);
        CHECK_INT(outside.checks, FDS);
        CHECK(!scan_counts(&world)->is_first && scan_counts(&world)->waiting == 0);
        scan_stop(&world);
    }
    test_label = "";
}

/* Where texts are read instead, a walk that stops goes on where it was, too. */
static void test_texts_in_time(void)
{
    enum { FDS = 500 };
    static struct scan_world world;
    struct gtel_buf text;
    unsigned gathers = 1;
    test_label = "texts in time";
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 5, FDS);
    for (unsigned fd = 0; fd < FDS; fd++)
        gtel_buf_printf(&text, "file proc/5/fdinfo/%u\n| pos:\t0\n", fd);
    scan_put_client(&text, 5, FDS, 1);
    gtel_buf_str(&text, GTEL_STR("refuse proc/5/fd EACCES\n"));
    if (!begin(&world, &text, millisecond_ns / 8)) /* the clock is read at each text */
        return;
    CHECK_INT(scan_gather(&world), 0);
    while (scan_counts(&world)->is_first && gathers < 20) {
        CHECK(world.pid[1] == 0);
        CHECK_INT(scan_later(&world), 0);
        gathers++;
    }
    CHECK_INT(gathers, 3);
    CHECK_INT(world.pid[1], 5);
    CHECK_INT(scan_counts(&world)->by_text, 1);
    CHECK(outside.reads < 2 * FDS + 50); /* each text and its end once */
    scan_stop(&world);
    test_label = "";
}

static void count_long(void *arg, enum fault_op op, const char *path)
{
    *(unsigned *)arg +=
        op == FAULT_OPEN && path[0] == 'p' && strncmp(path, "proc/5/fdinfo/4", 15) == 0;
}

/*
 * Texts as long as those of inotify and epoll are read in the first walk, and then in rotations,
 * also where the process opens and closes another file all the time.
 */
static void check_long_texts(const char *label, unsigned longs, unsigned period)
{
    static const unsigned seconds[] = {0, 1, 2, 3, 62, 63};
    static struct scan_world world;
    struct gtel_buf text;
    unsigned opens = 0;
    test_label = label;
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 9, 800); /* fewer come round in less than a minute */
    gtel_buf_str(&text, GTEL_STR("refuse proc/5/fd EACCES\nlink proc/5/fd/3 -> other\n" FDINFO(
                            "5/fdinfo/3", "1")));
    for (unsigned n = 0; n < longs; n++) {
        gtel_buf_printf(&text, "link proc/5/fd/%u -> other\nfile proc/5/fdinfo/%u\n", 40 + n,
                        40 + n);
        for (unsigned i = 0; i < 400; i++)
            gtel_buf_printf(&text, "| inotify wd:%u ino:12345678 sdev:800001 mask:fce\n", i);
    }
    for (unsigned i = 1; i < 64; i++)
        if (i % period == 0)
            gtel_buf_printf(&text, "at %us\ngone proc/5/fd/%u\n", i, 100 + i - 1);
        else
            gtel_buf_printf(&text, "at %us\nlink proc/5/fd/%u -> other\n", i, 100 + i);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 0))
        return;
    world.fault.watch = count_long;
    world.fault.watch_arg = &opens;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(seconds); i++) {
        unsigned before = i > 0 ? seconds[i - 1] : 0;
        gtel_env_tree_step(&world.machine, (seconds[i] - before) * UINT64_C(1000000000));
        CHECK_INT(scan_gather(&world), 0);
        CHECK_INT(opens, seconds[i] < 60 ? longs : 2 * longs);
        CHECK_INT(world.pid[1], 5);
        CHECK_INT(scan_counts(&world)->waiting, 0);
    }
    scan_stop(&world);
    test_label = "";
}

static void test_long_texts(void)
{
    check_long_texts("a long text", 1, 100);
    check_long_texts("a long text, and fewer descriptors", 1, 2);
    check_long_texts("very many long texts", 9, 2);
}

static int open_slowly(void *arg, const char *path)
{
    if (strncmp(path, "proc/5/fdinfo/", 14) == 0)
        scan_the_world->extra_ns += 10 * millisecond_ns;
    return scan_the_world->fault.env.ops->file_open(arg, path);
}

static bool is_none(void *arg, struct gtel_str text)
{
    (void)arg;
    (void)text;
    return false;
}

/* Texts that take long to make do not make a gather long: the clock is read at each of them. */
static void test_slow_texts(void)
{
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    gtel_buf_str(&text, GTEL_STR("refuse proc/5/fd EACCES\nlink proc/5/fd/0 -> other\n"));
    for (unsigned fd = 0; fd < 100; fd++)
        gtel_buf_printf(&text, "file proc/5/fdinfo/%u\n| pos: 0\n", fd);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 0))
        return;
    test_label = "slow texts";
    scan_set_clock(&world, 0);
    world.ops.file_open = open_slowly;
    world.hooks.is_drm = is_none;
    do {
        uint64_t before_ns = world.extra_ns;
        CHECK_INT(scan_later(&world), 0);
        CHECK(world.extra_ns - before_ns <= 40 * millisecond_ns);
    } while (scan_counts(&world)->waiting > 0 && world.extra_ns < 2 * second_ns);
    CHECK_INT(world.extra_ns, second_ns);
    scan_stop(&world);
    test_label = "";
}

/*
 * Two processes that each take several gathers, and change in each: between them the others have
 * their turn, and the first scan ends when each was walked once.
 */
static void test_two_busy(void)
{
    enum { FDS = 600, GATHERS = 14 };
    static struct scan_world world;
    struct gtel_buf text;
    unsigned found = 0;
    test_label = "two busy processes";
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 5, FDS);
    scan_put_process(&text, 6, FDS);
    scan_put_client(&text, 9, 3, 1);
    for (unsigned n = 1; n < GATHERS; n++)
        gtel_buf_printf(&text, "at %us\n" OTHER("5", "%u") OTHER("6", "%u"), n, FDS + n, FDS + n,
                        FDS + n, FDS + n);
    if (!begin(&world, &text, millisecond_ns))
        return;
    for (unsigned n = 1; n <= GATHERS; n++) {
        CHECK_INT(n == 1 ? scan_gather(&world) : scan_later(&world), 0);
        found = found == 0 && world.pid[1] == 9 ? n : found;
    }
    CHECK_INT(found, 3);
    CHECK_INT(scan_counts(&world)->unknown, 0);
    CHECK(!scan_counts(&world)->is_first);
    scan_stop(&world);
    test_label = "";
}

/* Very many new clients are found over several gathers, so that reading them has an end, too. */
static void test_fresh(void)
{
    static const size_t texts[] = {1032, 1032, 936, 1};
    static struct scan_world world;
    struct gtel_buf text;
    test_label = "fresh";
    gtel_buf_init(&text, 1 << 22);
    for (unsigned fd = 0; fd < 3000; fd++)
        scan_put_client(&text, 5, fd, 1);
    if (!begin(&world, &text, 0))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(texts); i++) {
        CHECK_INT(i == 0 ? scan_gather(&world) : scan_later(&world), 0);
        CHECK_INT(world.texts, texts[i] + (i == 1 || i == 2)); /* and the one that leads */
        CHECK_INT(world.pid[1], 5);
    }
    scan_stop(&world);
    test_label = "";
}

/* Between two readings of the clock another program may have run: so often is a text read again. */
static void test_read_in_time(void)
{
    static const struct {
        uint64_t tick_ns;
        unsigned reads; /* of ten texts */
    } cases[] = {{100000, 10}, {100001, 14}};
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        test_label = "read in time";
        gtel_buf_init(&text, 1 << 16);
        for (unsigned fd = 0; fd < 10; fd++)
            scan_put_client(&text, 5, fd, fd + 1);
        if (!begin(&world, &text, cases[i].tick_ns))
            return;
        for (int n = 0; n < 3; n++) {
            outside.reads = 0;
            CHECK_INT(n == 0 ? scan_gather(&world) : scan_later(&world), 0);
            CHECK(world.seen == 10 && world.texts == 10);
            CHECK(n == 0 || outside.reads == cases[i].reads);
        }
        scan_stop(&world);
    }
    test_label = "";
}

/*
 * One descriptor takes the place of another, so that the number stays the same: found when rotation
 * comes round. It walks at least eight descriptors a second, and everything in 15/16 of a minute.
 */
static void test_round(void)
{
    static const struct {
        unsigned fds;
        unsigned seconds;
    } cases[] = {{8, 2}, {16, 3}, {24, 4}, {449, 57}, {1000, 57}};
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        char label[32];
        (void)snprintf(label, sizeof(label), "%u descriptors", cases[i].fds);
        test_label = label;
        gtel_buf_init(&text, 1 << 20);
        scan_put_process(&text, 5, cases[i].fds);
        gtel_buf_str(&text, GTEL_STR("at 500ms\n"));
        scan_put_client(&text, 5, 3, 1);
        if (!begin(&world, &text, 0))
            return;
        CHECK_INT(scan_gather(&world), 0);
        for (unsigned second = 1; second <= cases[i].seconds; second++) {
            CHECK_INT(scan_later(&world), 0);
            CHECK_INT(world.pid[1], second < cases[i].seconds ? 0 : 5);
        }
        CHECK_INT(scan_counts(&world)->rotation_ns, 60 * second_ns);
        scan_stop(&world);
        test_label = "";
    }
}

/* Of 60 processes as many as the time that has passed of the 56.25 s. */
static void test_share_of_round(void)
{
    enum { PROCESSES = 60, FDS = 20 };
    static struct scan_world world;
    struct gtel_buf text;
    test_label = "share of a round";
    gtel_buf_init(&text, 1 << 22);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_process(&text, pid, FDS);
    gtel_buf_str(&text, GTEL_STR("at 500ms\n"));
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_client(&text, pid, pid % FDS, pid);
    if (!begin(&world, &text, 0))
        return;
    CHECK_INT(scan_gather(&world), 0);
    for (unsigned second = 1; second <= 57; second++) {
        CHECK_INT(scan_later(&world), 0);
        CHECK_INT(scan_counts(&world)->clients,
                  second < 57 ? second * PROCESSES * 100 / 5625 : PROCESSES);
    }
    scan_stop(&world);
    test_label = "";
}

/* Gathers that are rare make a round longer, and so does what costs too much. */
static void test_promise(void)
{
    static struct scan_world world;
    struct gtel_buf text;
    test_label = "rare gathers";
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 5, 1000);
    if (!begin(&world, &text, 0))
        return;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_counts(&world)->rotation_ns, 60 * second_ns);
    for (int n = 0; n < 2; n++) {
        gtel_env_tree_step(&world.machine, 50 * second_ns);
        CHECK_INT(scan_gather(&world), 0);
        CHECK_INT(scan_counts(&world)->rotation_ns, (n == 0 ? 60 : 100) * second_ns);
    }
    scan_stop(&world);
    test_label = "60,000 descriptors, 800 a second";
    gtel_buf_init(&text, 1 << 24);
    for (unsigned pid = 1; pid <= 10; pid++)
        scan_put_process(&text, pid, 6000);
    if (!begin(&world, &text, 0))
        return;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_counts(&world)->rotation_ns, 75 * second_ns);
    scan_stop(&world);
    test_label = "";
}

/* A device's text that was none of a client is read again only when the caller asks for it. */
static void test_read_again(void)
{
    static const char machine[] =
        CLIENT("5", "3", "1") "char proc/5/fd/4 226:129\n"
                              "file proc/5/fdinfo/4\n| pos: 0\n"
                              "at 1ms\nfile proc/5/fdinfo/4\n| drm-client-id:\t2\n";
    static struct scan_world world;
    struct gtel_buf text;
    test_label = "read again";
    gtel_buf_init(&text, 1 << 16);
    gtel_buf_str(&text, gtel_str_of(machine));
    if (!begin(&world, &text, 0))
        return;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(soon(&world), 0);
    CHECK(world.seen == 1 && outside.reads > 0);
    gtel_scan_read_again(world.scan);
    outside.reads = 0;
    CHECK_INT(soon(&world), 0);
    CHECK(world.pid[1] == 5 && world.pid[2] == 5);
    CHECK_INT(outside.reads, 2);
    scan_stop(&world);
    test_label = "";
}

int main(void)
{
    test_unknown();
    test_still_known();
    test_ends();
    test_deadline();
    test_texts_in_time();
    test_long_texts();
    test_slow_texts();
    test_two_busy();
    test_fresh();
    test_read_in_time();
    test_round();
    test_share_of_round();
    test_promise();
    test_read_again();
    return test_result();
}
