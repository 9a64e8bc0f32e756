/* SPDX-License-Identifier: MIT */
/* The scan for clients on recorded machines: what is found, when, and what it costs. */
#include "harness/alloc_fault.h"
#include "harness/scan_world.h"
#include "harness/test.h"

#include <errno.h>
#include <inttypes.h>

static const uint64_t second_ns = 1000000000;
static const uint64_t millisecond_ns = 1000000;

/* ---- clients with many descriptors ---- */

static const char shared[] = "file proc/uptime\n| 5\n" OTHER("1", "0")   /* nothing to find */
    CLIENT("20", "3", "7") CLIENT("20", "4", "7") CLIENT("20", "9", "8") /* dup, and another */
    CLIENT("10", "5", "9")                                               /* one of its own */
    "at 1s\n" CLIENT("10", "3", "7")                                     /* passed on */
    CLIENT("30", "3", "7")                                               /* forked */
    "at 3s\ngone proc/20/fd/3\ngone proc/20/fdinfo/3\n"                  /* the other is left */
    "at 4s\ngone proc/20\n"                                              /* to the lowest */
    "at 5s\ngone proc/10\n"
    "at 6s\ngone proc/30/fd/3\ngone proc/30/fdinfo/3\n" /* count: none is left */
    "at 7s\nend\n";

/* One stands for the client: the first one; then one of its process; then the lowest process. */
static void test_shared(void)
{
    static struct scan_world world;
    if (!scan_start(&world, shared, 0))
        return;
    test_label = "first sight";
    CHECK_INT(scan_gather(&world), 0);
    CHECK(world.pid[7] == 20 && world.pid[8] == 20 && world.pid[9] == 10);
    CHECK(world.seen == 3 && world.texts == 4); /* the duplicate is seen once */
    CHECK(scan_counts(&world)->visible == 3 && scan_counts(&world)->readable == 3);
    CHECK_INT(scan_counts(&world)->clients, 3);
    CHECK(scan_counts(&world)->has_init && scan_counts(&world)->has_numbers &&
          scan_counts(&world)->waiting == 0);
    CHECK_INT(scan_counts(&world)->by_text, 0);
    uint64_t process = world.process[7];
    test_label = "passed on and forked";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[7] == 20 && world.process[7] == process && world.seen == 3);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[7] == 20 && world.seen == 3); /* each client once */
    test_label = "one descriptor less";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[7] == 20 && world.process[7] == process && world.pid[8] == 20);
    CHECK_INT(world.seen, 3);
    test_label = "the process ends";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[7] == 10 && world.pid[8] == 0 && world.is_gone[8] && !world.is_gone[7]);
    test_label = "the next one ends";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[7] == 30 && world.pid[9] == 0 && world.is_gone[9] && !world.is_gone[7]);
    test_label = "none is left";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.seen == 0 && world.is_gone[7] && !world.is_gone[9]);
    CHECK_INT(scan_counts(&world)->clients, 0);
    scan_stop(&world);
}

#define STAT(pid, name, parent)                                                                    \
    "file proc/" pid "/stat\n| " pid " (" name ") S " parent                                       \
    " 1 1 0 - 0 0 0 0 0 0 0 0 0 0 0 1 0 100\n"
#define HOLDER(pid, parent, start, id)                                                             \
    "file proc/" pid "/stat\n| 1 (w) S " parent " 1 1 0 - 0 0 0 0 0 0 0 0 0 0 0 1 0 " start        \
    "\n" CLIENT(pid, "5", id)

/* Numbers began again. Forked: long after, before that one, in the same tick. 7: its own parent. */
static const char family[] = HOLDER("900", "1", "500", "1") HOLDER("20", "900", "800", "1")
    HOLDER("30", "900", "700", "1") HOLDER("950", "1", "600", "2") HOLDER("40", "950", "600", "2")
        HOLDER("7", "7", "100",
               "3") "refuse proc/7/fdinfo/5 EACCES\nat 2s\ngone proc/900\ngone proc/950\nend\n";

/* The process that began first has the client, whatever its number. */
static void test_family(void)
{
    static struct scan_world world;
    if (!scan_start(&world, family, 0) || !CHECK(scan_gather(&world) == 0))
        return;
    CHECK(scan_later(&world) == 0 && world.pid[1] == 900 && world.pid[2] == 950);
    CHECK(scan_later(&world) == 0 && world.pid[1] == 30 && world.pid[2] == 40);
    scan_stop(&world);
}

/* One client in three processes, which differ in start and parent: whose it is. */
static void test_births(void)
{
    static const struct {
        const char *label;
        struct gtel_pid_birth birth[3]; /* pid 0: none */
        uint32_t owner;
    } cases[] = {
        {"a child with a lower number", {{70, 20, 30}, {60, 30, 1}}, 30},
        {"a child with a higher number", {{60, 30, 1}, {70, 40, 30}}, 30},
        {"forked in the same tick", {{60, 20, 30}, {60, 30, 1}}, 30},
        {"unrelated ones of one tick: the lower number", {{60, 20, 1}, {60, 30, 1}}, 20},
        {"a start that is not known", {{0, 20, 30}, {60, 30, 1}}, 20},
        {"three generations", {{80, 20, 40}, {70, 40, 30}, {60, 30, 1}}, 30},
    };
    static struct scan_world world;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf text;
        gtel_buf_init(&text, 1 << 16);
        for (size_t k = 0; k < 3 && cases[i].birth[k].pid != 0; k++) {
            const struct gtel_pid_birth *birth = &cases[i].birth[k];
            gtel_buf_printf(&text,
                            "file proc/%u/stat\n| 1 (w) S %u 1 1 0 - 0 0 0 0 0 0 0 0 0 0 0 1 0 "
                            "%" PRIu64 "\n",
                            birth->pid, birth->parent, birth->start);
            scan_put_client(&text, birth->pid, 3, 1);
        }
        gtel_buf_str(&text, GTEL_STR("at 1s\nend\n"));
        if (!scan_start_buf(&world, &text, 0))
            return;
        test_label = cases[i].label;
        CHECK(scan_gather(&world) == 0 && world.pid[1] == cases[i].owner);
        CHECK(scan_later(&world) == 0 && world.pid[1] == cases[i].owner);
        scan_stop(&world);
    }
    test_label = "";
}

static const char numbers[] = CLIENT("5", "3", "1") OTHER("5", "0") OTHER("5", "1")
    OTHER("6", "0") "char proc/6/fd/4 226:1\nfile proc/6/fdinfo/4\n| pos: 0\n" /* no statistics */
                    "char proc/6/fd/5 261:0\n" FDINFO("6/fdinfo/5", "2")       /* an accelerator */
    "char proc/6/fd/6 1:3\n" FDINFO("6/fdinfo/6", "3")                         /* no GPU */
    "dir proc/7/fd\n"                                         /* a thread of the kernel */
    "at 1s\ngone proc/5\n" CLIENT("5", "3", "4")              /* the number is used again */
    "at 2s\n" FDINFO("5/fdinfo/3", "5")                       /* the descriptor, too */
    "at 3s\nfile proc/5/fdinfo/3\n| pos: 0\n"                 /* the driver was unbound */
    "at 4s\n" FDINFO("6/fdinfo/4", "6") CLIENT("6", "7", "1") /* a number that is new again */
    "at 5s\nend\n";

static void test_numbers(void)
{
    static struct scan_world world;
    if (!scan_start(&world, numbers, 3 * second_ns))
        return;
    test_label = "kinds of descriptors";
    CHECK_INT(scan_gather(&world), 0);
    CHECK(world.pid[1] == 5 && world.pid[2] == 6 && world.pid[3] == 0 && world.seen == 2);
    CHECK(scan_counts(&world)->visible == 3 && scan_counts(&world)->readable == 3);
    uint64_t process = world.process[1];
    test_label = "pid used again";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[4] == 5 && world.process[4] != process && world.is_gone[1]);
    CHECK_INT(world.seen, 2);
    process = world.process[4];
    test_label = "descriptor used again";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[5] == 5 && world.process[5] == process && world.is_gone[4]);
    test_label = "no client any more";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.is_gone[5] && world.seen == 1 && world.pid[2] == 6);
    test_label = "a client where there was none";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[6] == 6 && world.pid[1] == 6 && world.seen == 3);
    scan_stop(&world);
}

/* ---- time ---- */

/*
 * One descriptor takes the place of another, so that the number stays the same: found by when it
 * was promised, and at no gather does rotation cost more than the rest.
 */
static void test_rotation(void)
{
    enum { PROCESSES = 60, FDS = 20, ROTATION_S = 40 };
    static struct scan_world world;
    struct gtel_buf text;
    unsigned found = 0;
    gtel_buf_init(&text, 1 << 24);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_process(&text, pid, FDS);
    gtel_buf_str(&text, GTEL_STR("at 1s\n"));
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_client(&text, pid, pid % FDS, pid);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, ROTATION_S * second_ns))
        return;
    test_label = "rotation";
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(world.seen, 0);
    uint64_t first_calls = world.calls;
    unsigned passed = 0;
    for (; passed < ROTATION_S && found < PROCESSES; passed++) {
        CHECK_INT(scan_later(&world), 0);
        /* listing, a number and a text each; and as much again, where a text costs three calls */
        CHECK(world.calls <= 2 * (1 + PROCESSES + world.texts) + 4);
        found = scan_counts(&world)->clients;
    }
    CHECK(found == PROCESSES && passed > ROTATION_S / 2 && first_calls > PROCESSES * FDS);
    CHECK(scan_counts(&world)->rotation_ns == ROTATION_S * second_ns);
    scan_stop(&world);
}

/* A rotation that would cost too much takes longer, and the scan knows how long. */
static void test_long_rotation(void)
{
    enum { FDS = 6000, PROCESSES = 10 };
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 24);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_process(&text, pid, FDS);
    gtel_buf_str(&text, GTEL_STR("at 100s\n"));
    scan_put_client(&text, PROCESSES, FDS - 1, 1);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 60 * second_ns))
        return;
    test_label = "long rotation";
    CHECK_INT(scan_gather(&world), 0);
    uint64_t promised_ns = scan_counts(&world)->rotation_ns;
    CHECK(promised_ns > 70 * second_ns && promised_ns < 80 * second_ns);
    uint64_t passed = 0;
    while (scan_counts(&world)->clients == 0 && passed <= 100 + 2 * promised_ns / second_ns) {
        CHECK_INT(scan_later(&world), 0);
        passed++;
    }
    CHECK(scan_counts(&world)->clients == 1 && passed > 100);
    scan_stop(&world);
}

/* A first scan is spread: no gather looks for long, and all is found in the end. */
static void test_spread(void)
{
    enum { PROCESSES = 100, FDS = 100 };
    static struct scan_world world;
    struct gtel_buf text;
    uint64_t longest_ns = 0;
    unsigned gathers = 0;
    gtel_buf_init(&text, 1 << 24);
    for (unsigned pid = 1; pid <= PROCESSES; pid++) {
        scan_put_process(&text, pid, FDS);
        scan_put_client(&text, pid, FDS, pid);
    }
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 0))
        return;
    test_label = "spread";
    scan_set_clock(&world, 8 * 4000); /* 4 us for each of eight descriptors */
    do {
        uint64_t before_ns = world.extra_ns;
        CHECK_INT(scan_later(&world), 0);
        uint64_t took_ns = world.extra_ns - before_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
        CHECK(scan_counts(&world)->waiting > 0 || scan_counts(&world)->clients == PROCESSES);
        CHECK(scan_counts(&world)->is_first == (scan_counts(&world)->waiting > 0));
    } while (scan_counts(&world)->waiting > 0 && ++gathers < 100);
    CHECK(gathers >= 1 && gathers < 10 && longest_ns < 50 * millisecond_ns);
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(world.seen, PROCESSES);
    scan_stop(&world);
}

/* ---- rights ---- */

/* clang-format off */
static const char rights[] =
    "refuse proc/5/fd EACCES\nlink proc/5/fd/3 -> other\n" /* by text */
    FDINFO("5/fdinfo/3", "1") "file proc/5/fdinfo/4\n| pos: 0\n" FDINFO("5/fdinfo/7", "1")
    "refuse proc/6/fd EACCES\nlink proc/6/fd/0 -> other\nrefuse proc/6/fdinfo EACCES\n"
    CLIENT("7", "3", "2")
    "at 1s\n" FDINFO("5/fdinfo/5", "3") "link proc/5/fd/5 -> other\n"
    "at 2s\ngone proc/6/fd\ngone proc/6/fdinfo\n" CLIENT("6", "0", "4") CLIENT("6", "1", "5")
    "at 3s\ngone proc/5/fdinfo/3\nend\n";
/* clang-format on */

static void test_rights(void)
{
    static struct scan_world world;
    if (!scan_start(&world, rights, 0))
        return;
    test_label = "rights";
    CHECK_INT(scan_gather(&world), 0);
    CHECK(world.pid[1] == 5 && world.pid[2] == 7 && scan_counts(&world)->by_text > 0);
    CHECK(scan_counts(&world)->visible == 3 && scan_counts(&world)->readable == 2);
    CHECK(!scan_counts(&world)->has_init);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[3] == 5 && world.seen == 3);
    test_label = "rights that came";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[4] == 6 && world.pid[5] == 6 && scan_counts(&world)->readable == 3);
    test_label = "by text, one descriptor less";
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 5 && world.seen == 5);
    scan_stop(&world);
}

/* clang-format off */
static const char asleep[] =
    CLIENT("5", "3", "1")
    "char proc/6/fd/3 226:129\n" FDINFO("6/fdinfo/3", "2")
    "at 1s\nchar proc/6/fd/4 226:129\n" FDINFO("6/fdinfo/4", "3")
    "refuse proc/8/fd EACCES\nlink proc/8/fd/0 -> other\n" FDINFO("8/fdinfo/0", "4")
    "at 3s\ngone proc/6/fd/3\ngone proc/6/fdinfo/3\nend\n";
/* clang-format on */

/* What sleeps is neither read nor closed, nor is what may be of a device that sleeps. */
static void test_asleep(void)
{
    static struct scan_world world;
    if (!scan_start(&world, asleep, 0))
        return;
    test_label = "asleep";
    CHECK_INT(scan_gather(&world), 0);
    CHECK(world.pid[1] == 5 && world.pid[2] == 6);
    world.is_asleep = true;
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 5 && world.seen == 1 && !world.is_gone[2]);
    CHECK_INT(scan_counts(&world)->asleep, 3);
    world.is_asleep = false;
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 5 && world.pid[2] == 6 && world.pid[3] == 6 && world.pid[4] == 8);
    CHECK_INT(scan_counts(&world)->asleep, 0);
    world.is_asleep = true;
    CHECK_INT(scan_later(&world), 0); /* gone while asleep */
    CHECK(world.is_gone[2] && !world.is_gone[3] && world.pid[3] == 0);
    scan_stop(&world);
}

/* clang-format off */
static const char ours[] =
    "link proc/self -> 40\n" STAT("40", "gtel", "39") CLIENT("40", "3", "1")
    STAT("41", "gtel", "39") CLIENT("41", "3", "2")
    STAT("42", "gtel", "1") CLIENT("42", "3", "3")
    STAT("43", "a) gtel)", "39") CLIENT("43", "3", "4")
    "refuse proc/44/fd EACCES\nlink proc/44/fd/0 -> other\n"
    STAT("44", "gtel", "39") FDINFO("44/fdinfo/3", "5")
    "at 1s\nend\n";
/* clang-format on */

/* Neither this process nor other helpers of the same program. */
static void test_ours(void)
{
    static struct scan_world world;
    if (!scan_start(&world, ours, 0))
        return;
    test_label = "ours";
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 0 && world.pid[2] == 0 && world.pid[3] == 42 && world.pid[4] == 43);
    CHECK(world.pid[5] == 0 && world.seen == 2 && scan_counts(&world)->visible == 2);
    scan_stop(&world);
}

/* clang-format off */
static const char brokers[] =
    STAT("9", "systemd-logind", "1") CLIENT("9", "3", "1") CLIENT("9", "4", "2")
    CLIENT("50", "5", "1")
    STAT("10", "seatd", "1")
    "refuse proc/10/fd EACCES\nlink proc/10/fd/0 -> other\n" FDINFO("10/fdinfo/3", "3")
    "at 2s\n" CLIENT("60", "3", "3") "gone proc/50\nat 5s\nend\n";
/* clang-format on */

/* Who opens a device for others is not the one that uses it, if another one has it. */
static void test_brokers(void)
{
    static struct scan_world world;
    if (!scan_start(&world, brokers, 0))
        return;
    test_label = "brokers";
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 50 && world.pid[2] == 9 && world.pid[3] == 10 && world.seen == 3);
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 9 && world.pid[2] == 9 && world.pid[3] == 60 && world.seen == 3);
    scan_stop(&world);
}

/* ---- kernels that do not report numbers ---- */

static int stat_without_size(void *arg, const char *path, struct gtel_stat *ret)
{
    int r = scan_the_world->fault.env.ops->stat(arg, path, ret);
    ret->size = 0;
    return r;
}

static int refuse_dir(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    CHECK(false); /* a kept directory would not show that its process has ended */
    return -EOPNOTSUPP;
}

/* A process that begins is walked in each gather; others in rotation. */
static void test_without_numbers(void)
{
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 5, 20);
    gtel_buf_str(&text, GTEL_STR("at 1s\n"));
    scan_put_process(&text, 6, 5);
    gtel_buf_str(&text, GTEL_STR("at 2s\n"));
    scan_put_client(&text, 6, 5, 1);
    scan_put_client(&text, 5, 20, 2);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 8 * second_ns))
        return;
    test_label = "without numbers";
    scan_set_clock(&world, 0);
    world.ops.stat = stat_without_size;
    world.ops.dir_open = refuse_dir;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.pid[1] == 6 && !scan_counts(&world)->has_numbers);
    for (unsigned i = 0; i < 8 && scan_counts(&world)->clients < 2; i++)
        CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_counts(&world)->clients, 2);
    scan_stop(&world);
}

/* For 10 s after it was first seen, and not one that was there before the scan. */
static void test_young(void)
{
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    scan_put_process(&text, 5, 2000);
    gtel_buf_str(&text, GTEL_STR("at 1s\n"));
    scan_put_process(&text, 6, 5);
    gtel_buf_str(&text, GTEL_STR("at 2s\n"));
    scan_put_client(&text, 5, 2000, 2);
    gtel_buf_str(&text, GTEL_STR("at 11s\n"));
    scan_put_client(&text, 6, 5, 1);
    gtel_buf_str(&text, GTEL_STR("at 12s\n"));
    scan_put_client(&text, 6, 6, 3);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 1000000 * second_ns))
        return;
    test_label = "young processes";
    scan_set_clock(&world, 0);
    world.ops.stat = stat_without_size;
    CHECK_INT(scan_gather(&world), 0);
    for (unsigned second = 1; second <= 12; second++) {
        CHECK_INT(scan_later(&world), 0);
        CHECK_INT(scan_counts(&world)->clients, second >= 11);
    }
    CHECK(world.pid[1] == 6 && world.pid[3] == 0);
    scan_stop(&world);
}

static uint64_t moved_by;

static int stat_moved(void *arg, const char *path, struct gtel_stat *ret)
{
    int r = stat_without_size(arg, path, ret);
    if (strcmp(path, "proc/20/fd") == 0)
        ret->ino += moved_by;
    return r;
}

/*
 * The kernel gives a folder of proc a new inode when it had no memory for the old one: the process
 * is the same, and keeps what it shares with one that began in the same tick.
 */
static void test_new_inode(void)
{
    static const char text[] = STAT("10", "receiver", "1") OTHER("10", "0") STAT("20", "owner", "1")
        CLIENT("20", "5", "1") "at 1s\n" CLIENT("10", "5", "1") "end\n";
    static struct scan_world world;
    if (!scan_start(&world, text, 8 * second_ns))
        return;
    test_label = "a new inode";
    scan_set_clock(&world, 0);
    world.ops.stat = stat_moved;
    moved_by = 0;
    CHECK_INT(scan_gather(&world), 0);
    uint64_t process = world.process[1];
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    moved_by = 1000;
    for (unsigned i = 0; i < 10; i++) {
        CHECK_INT(scan_later(&world), 0);
        CHECK(world.pid[1] == 20 && world.process[1] == process);
    }
    scan_stop(&world);
}

/* ---- cost ---- */

/* In the steady state: one listing, one number for each process, one text for each client. */
static void test_cost(void)
{
    enum { PROCESSES = 100, CLIENTS = 50 };
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 22);
    for (unsigned pid = 1; pid <= PROCESSES; pid++) {
        scan_put_process(&text, pid, 3);
        if (pid > PROCESSES - CLIENTS)
            scan_put_client(&text, pid, 3, pid);
        if (pid > PROCESSES - CLIENTS)
            scan_put_client(&text, pid, 4, pid); /* a duplicate */
    }
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 1000000 * second_ns))
        return;
    test_label = "cost";
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    for (unsigned i = 0; i < 20; i++) {
        alloc_fault_arm(0);
        CHECK_INT(scan_later(&world), 0);
        CHECK_INT(alloc_fault_count(), 0);
        CHECK_INT(world.seen, CLIENTS);
        /* and the little that rotation does in any case */
        CHECK(world.calls <= 1 + PROCESSES + CLIENTS + 30);
    }
    CHECK_INT(world.fault.open_files, PROCESSES + CLIENTS);
    scan_stop(&world);
}

static int open_some(void *arg, const char *path)
{
    if ((int)scan_the_world->fault.open_files >= scan_the_world->open_max)
        return -EMFILE;
    return scan_the_world->fault.env.ops->file_open(arg, path);
}

static int open_some_dirs(void *arg, const char *path)
{
    if ((int)scan_the_world->fault.open_files >= scan_the_world->open_max)
        return -EMFILE;
    return scan_the_world->fault.env.ops->dir_open(arg, path);
}

static int list_some(void *arg, const char *path, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    if ((int)scan_the_world->fault.open_files >= scan_the_world->open_max)
        return -EMFILE;
    return scan_the_world->fault.env.ops->dir_list_from(arg, path, first, fn, fn_arg);
}

/* With few descriptors of our own, all is found and read, at a higher cost. */
static void test_few_descriptors(void)
{
    enum { PROCESSES = 100 };
    static struct scan_world world;
    for (int max = 1; max <= 130; max += 43) {
        struct gtel_buf text;
        gtel_buf_init(&text, 1 << 22);
        for (unsigned pid = 1; pid <= PROCESSES; pid++)
            scan_put_client(&text, pid, 3, pid);
        gtel_buf_str(&text, GTEL_STR("end\n"));
        if (!scan_start_buf(&world, &text, 0))
            return;
        test_label = "few descriptors";
        scan_set_clock(&world, 0);
        world.open_max = max;
        world.ops.file_open = open_some;
        world.ops.dir_open = open_some_dirs;
        world.ops.dir_list_from = list_some;
        CHECK_INT(scan_gather(&world), 0);
        for (unsigned i = 0; i < 5; i++)
            CHECK_INT(scan_later(&world), 0);
        CHECK_INT(world.seen, PROCESSES);
        scan_stop(&world);
    }
}

/* So many that are open already that not even the processes can be listed: some are given back. */
static void test_fewer_descriptors(void)
{
    enum { PROCESSES = 100 };
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 22);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        scan_put_client(&text, pid, 3, pid);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 0))
        return;
    test_label = "fewer descriptors";
    scan_set_clock(&world, 0);
    world.open_max = 1000;
    world.ops.file_open = open_some;
    world.ops.dir_open = open_some_dirs;
    world.ops.dir_list_from = list_some;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK(world.seen == PROCESSES && world.fault.open_files > PROCESSES);
    for (unsigned i = 0; i < 5; i++) {
        world.open_max = (int)world.fault.open_files; /* others have opened what was left */
        CHECK_INT(scan_later(&world), 0);
        CHECK_INT(world.seen, PROCESSES);
        CHECK((int)world.fault.open_files <= world.open_max);
    }
    scan_stop(&world);
}

static uint32_t read_any(void *arg, const struct gtel_scan_text *text)
{
    (void)arg;
    return text->owner.birth.pid * 10000 + text->fd; /* each descriptor is another client */
}

/* One that opens a device very often neither takes the room of others nor the kernel's memory. */
static void test_many_descriptors(void)
{
    enum { FDS = 9000, SLOTS = 8192, FILES = 4096 };
    static struct scan_world world;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 22);
    for (unsigned fd = 0; fd < FDS; fd++)
        gtel_buf_printf(&text, "char proc/5/fd/%u 226:128\nfile proc/5/fdinfo/%u\n| a\n", fd, fd);
    scan_put_client(&text, 6, 3, 1);
    gtel_buf_str(&text, GTEL_STR("at 20s\ngone proc/5\n"));
    scan_put_client(&text, 5, 3, 2);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!scan_start_buf(&world, &text, 0))
        return;
    test_label = "many descriptors";
    world.hooks.read = read_any;
    world.hooks.closed = NULL;
    CHECK_INT(scan_gather(&world), 0);
    for (unsigned i = 0; i < 19; i++)
        CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_counts(&world)->clients, SLOTS + 1);
    CHECK(scan_counts(&world)->dropped > 0);
    CHECK_INT(world.fault.open_files, FILES + 2);
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_counts(&world)->clients, 2);
    CHECK_INT(scan_counts(&world)->dropped, 0);
    CHECK_INT(world.fault.open_files, 4);
    scan_stop(&world);
    test_label = "";
}

static int list_very_many(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                          void *fn_arg)
{
    int r = scan_the_world->fault.env.ops->dir_list_from(arg, path, first, fn, fn_arg);
    if (strcmp(path, "proc") == 0)
        for (uint32_t pid = 1000; r == 0 && pid < 1000 + (1 << 17); pid++)
            r = fn(fn_arg, pid);
    return r;
}

/* Of more processes than are kept, those that are kept have their clients. */
static void test_very_many_processes(void)
{
    static struct scan_world world;
    if (!scan_start(&world, CLIENT("6", "3", "1") "at 1s\nend\n", 0))
        return;
    test_label = "very many processes";
    scan_set_clock(&world, 0);
    world.ops.dir_list_from = list_very_many;
    CHECK_INT(scan_gather(&world), 0);
    CHECK_INT(world.pid[1], 6);
    CHECK(scan_counts(&world)->dropped > 0);
    world.ops.dir_list_from = scan_the_world->fault.env.ops->dir_list_from;
    CHECK_INT(scan_later(&world), 0);
    CHECK_INT(scan_counts(&world)->dropped, 0);
    scan_stop(&world);
    test_label = "";
}

/* ---- faults ---- */

static const char many[] = "link proc/self -> 3\n" STAT("3", "gtel", "2") OTHER("4", "0")
    CLIENT("5", "3", "1") CLIENT("5", "4", "1") OTHER("5", "5")
        CLIENT("6", "3",
               "1") "refuse proc/7/fd EACCES\nlink proc/7/fd/0 -> other\n" FDINFO("7/fdinfo/3", "2")
            CLIENT("8", "3", "3") CLIENT("9", "1", "7") "at 1s\n" CLIENT(
                "8", "4", "4") "gone proc/5/fd/3\ngone proc/5/fdinfo/3\n"
                               "gone proc/9\n" CLIENT("9", "1", "8") "at 2s\ngone proc/5\n" CLIENT(
                                   "10", "3", "5") CLIENT("8", "2", "6") "at 5s\nend\n";

/* Three gathers with a fault, and two without: all is there in the first of these. */
static void run_with_fault(const char *label, uint64_t call, uint64_t allocation, int error,
                           unsigned gathers, size_t whole)
{
    static struct scan_world world;
    if (!scan_start(&world, many, 3 * second_ns))
        return;
    env_fault_arm(&world.fault, call, error);
    alloc_fault_arm(allocation);
    int r = scan_gather(&world);
    bool is_known = r < 0 || scan_counts(&world)->dropped > 0 || scan_counts(&world)->waiting > 0;
    CHECK(allocation == 0 || world.seen == whole || is_known); /* what is missing is counted */
    (void)scan_later(&world);
    (void)scan_later(&world);
    env_fault_arm(&world.fault, 0, 0);
    alloc_fault_arm(0);
    for (unsigned i = 0; i < gathers; i++)
        CHECK_INT(scan_later(&world), 0);
    test_label = label;
    bool is_fine =
        CHECK(world.seen == 7) && CHECK(world.pid[1] == 6 && world.pid[2] == 7) &&
        CHECK(world.pid[3] == 8 && world.pid[4] == 8 && world.pid[5] == 10) &&
        CHECK(world.pid[6] == 8 && world.pid[8] == 9 && scan_counts(&world)->clients == 7);
    if (!is_fine)
        printf("    call %" PRIu64 ", allocation %" PRIu64 ", error %d\n", call, allocation, error);
    scan_stop(&world);
}

static void test_faults(void)
{
    static const int errors[] = {-EIO, -ENOMEM, -EMFILE, -EINTR, -ENOENT, -ESRCH, -EACCES};
    static struct scan_world world;
    if (!scan_start(&world, many, 3 * second_ns))
        return;
    alloc_fault_arm(0);
    (void)scan_gather(&world);
    size_t whole = world.seen;
    (void)scan_later(&world);
    (void)scan_later(&world);
    uint64_t calls = world.fault.calls;
    uint64_t allocations = alloc_fault_count();
    scan_stop(&world);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        for (uint64_t k = 1; k <= calls; k++) /* an answer that kernels give is valid for a while */
            run_with_fault("a call fails", k, 0, errors[i], i < 4 ? 1 : 3, whole);
    for (uint64_t k = 1; k <= allocations; k++)
        run_with_fault("an allocation fails", 0, k, 0, 1, whole);
    CHECK(calls > 50 && allocations > 5);
}

int main(void)
{
    test_faults();
    test_shared();
    test_family();
    test_births();
    test_numbers();
    test_rotation();
    test_long_rotation();
    test_spread();
    test_rights();
    test_asleep();
    test_ours();
    test_brokers();
    test_without_numbers();
    test_young();
    test_new_inode();
    test_cost();
    test_few_descriptors();
    test_fewer_descriptors();
    test_many_descriptors();
    test_very_many_processes();
    return test_result();
}
