/* SPDX-License-Identifier: MIT */
/*
 * The scan for clients on recorded machines, where the kernel also reports the processor time of a
 * process and the number that it gave last: what is not asked then, and what is found all the same.
 */
#include "sources/clients/scan.h"

#include "base/buf.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

enum { KEYS_MAX = 64 };

static const uint64_t second_ns = 1000000000;

static struct gtel_tree *tree;
static struct gtel_env machine;
static struct gtel_env env; /* what the scan gets */
static struct gtel_env_ops ops;
static struct gtel_scan *scan;
static uint32_t holder[KEYS_MAX]; /* the process of each client; 0: none */
static bool is_gone[KEYS_MAX];

/* What the kernel is asked for in a gather. */
static unsigned lists;     /* of processes */
static uint32_t first_pid; /* from which one on, the last time */
static unsigned numbers;   /* of descriptors */
static unsigned times;     /* of processors */
static uint32_t busy_pid;  /* works all the time; 0: none */
static uint32_t woken_pid; /* works from now on, too */
static int list_error;     /* of the next list */

static int count_stat(void *arg, int handle, const char *name, struct gtel_stat *ret)
{
    numbers += name[0] == '\0' ? 1 : 0;
    return machine.ops->dir_stat(arg, handle, name, ret);
}

static int count_list(void *arg, const char *path, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    if (strcmp(path, "proc") != 0)
        return machine.ops->dir_list_from(arg, path, first, fn, fn_arg);
    int error = list_error;
    list_error = 0;
    lists++;
    first_pid = first;
    return error != 0 ? error : machine.ops->dir_list_from(arg, path, first, fn, fn_arg);
}

static int count_time(void *arg, uint32_t pid, uint64_t *ret_ns)
{
    bool is_working = pid == busy_pid || pid == woken_pid;
    times++;
    *ret_ns = is_working ? machine.ops->monotonic_ns(arg) : 1;
    return 0;
}

static uint64_t seen(void *arg, const struct gtel_scan_seen *seen)
{
    static const struct gtel_str name = GTEL_STR_INIT("drm-client-id:");
    struct gtel_str rest = seen->text;
    struct gtel_str line;
    uint64_t key = 0;
    (void)arg;
    while (gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, name))
            (void)gtel_str_u64(gtel_str_trim(gtel_str_skip(line, name.n)), &key);
    if (key == 0 || !CHECK(key < KEYS_MAX))
        return 0;
    holder[key] = seen->pid;
    return key;
}

static void gone(void *arg, uint64_t key)
{
    (void)arg;
    is_gone[key % KEYS_MAX] = true;
}

static bool start(const char *text)
{
    char error[200] = "";
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    CHECK_INT(gtel_env_tree_init(tree, true, 1, &machine), 0);
    ops = *machine.ops;
    ops.dir_stat = count_stat;
    ops.dir_list_from = count_list;
    ops.process_cpu = count_time;
    env = machine;
    env.ops = &ops;
    busy_pid = woken_pid = 0;
    return CHECK(gtel_scan_new(&env, NULL, &scan) == 0);
}

static void stop(void)
{
    gtel_scan_free(scan);
    gtel_env_tree_done(&machine);
    gtel_tree_free(tree);
}

static int gather(void)
{
    const struct gtel_scan_hooks hooks = {.seen = seen, .gone = gone};
    memset(holder, 0, sizeof(holder));
    memset(is_gone, 0, sizeof(is_gone));
    lists = numbers = times = 0;
    first_pid = 0;
    return gtel_scan_gather(scan, &hooks);
}

static int later(unsigned seconds)
{
    gtel_env_tree_step(&machine, seconds * second_ns);
    return gather();
}

#define FDINFO(pid, fd, id)                                                                        \
    "file proc/" pid "/fdinfo/" fd "\n| drm-driver: x\n| drm-client-id:\t" id "\n"
#define CLIENT(pid, fd, id) "char proc/" pid "/fd/" fd " 226:128\n" FDINFO(pid, fd, id)
#define OTHER(pid, fd)                                                                             \
    "link proc/" pid "/fd/" fd " -> other\nfile proc/" pid "/fdinfo/" fd "\n| pos: 0\n"
#define LAST(pid) "file proc/sys/kernel/ns_last_pid\n| " pid "\n"

/* ---- processes that do nothing ---- */

enum { PROCESSES = 50, BUSY = 7, WOKEN = 20, AGAIN = 30, SHARING = 40 };

static bool start_quiet(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        gtel_buf_printf(&text, "link proc/%u/fd/0 -> other\nfile proc/%u/fdinfo/0\n| pos: 0\n", pid,
                        pid);
    gtel_buf_str(&text, GTEL_STR("at 30s\n" CLIENT("7", "5", "1") CLIENT("20", "5", "2")));
    gtel_buf_str(&text, GTEL_STR("gone proc/30\n" CLIENT("30", "3", "3")));
    gtel_buf_str(&text, GTEL_STR(CLIENT("40", "7", "5")));
    gtel_buf_str(&text, GTEL_STR("at 60s\n" CLIENT("7", "6", "4") "end\n"));
    gtel_buf_char(&text, '\0');
    bool is_fine = CHECK(!text.has_failed) && start(text.p);
    gtel_buf_done(&text);
    return is_fine;
}

static void test_quiet(void)
{
    test_label = "quiet";
    if (!start_quiet())
        return;
    busy_pid = BUSY;
    CHECK_INT(gather(), 0);
    CHECK(gtel_scan_counts(scan)->quiet == 0);
    for (unsigned t = 1; t < 30; t++) {
        CHECK_INT(later(1), 0);
        if (t < 5)
            CHECK(gtel_scan_counts(scan)->quiet == 0 && numbers == PROCESSES);
        if (t < 15)
            continue;
        CHECK_INT(gtel_scan_counts(scan)->quiet, PROCESSES - 1);
        CHECK(numbers > PROCESSES / 10 && numbers < PROCESSES / 3); /* those whose turn it is */
        CHECK(times + 1 >= numbers && times < PROCESSES / 2);       /* and one that works */
    }
    test_label = "what works has another number: at once";
    woken_pid = WOKEN;
    busy_pid = BUSY;
    unsigned t = 0;
    CHECK_INT(later(1), 0);
    CHECK(holder[1] == BUSY);
    test_label = "what did nothing has, or is another one: within 5 s";
    for (; t < 5 && (holder[2] == 0 || holder[5] == 0); t++)
        CHECK_INT(later(1), 0);
    CHECK(holder[2] == WOKEN);
    CHECK(holder[5] == SHARING); /* though another one has opened its descriptor */
    woken_pid = AGAIN;           /* another process has used another time */
    for (t = 0; t < 5 && holder[3] == 0; t++)
        CHECK_INT(later(1), 0);
    CHECK(holder[3] == AGAIN && holder[1] == BUSY);
    test_label = "what has clients is always asked";
    busy_pid = woken_pid = 0;
    for (t = 0; t < 18; t++)
        CHECK_INT(later(1), 0);
    CHECK(gtel_scan_counts(scan)->clients == 4 && numbers > 4 && numbers <= 4 + times);
    CHECK_INT(later(30), 0);
    CHECK(holder[4] == BUSY);
    stop();
}

/* At 10 s, each is asked in each gather: what works for its number, too. */
static void test_long_interval(void)
{
    test_label = "long interval";
    if (!start_quiet())
        return;
    CHECK_INT(gather(), 0);
    CHECK_INT(later(10), 0);
    CHECK_INT(later(10), 0);
    CHECK(numbers == PROCESSES && times == PROCESSES);
    CHECK_INT(gtel_scan_counts(scan)->quiet, PROCESSES);
    busy_pid = BUSY;
    woken_pid = WOKEN;
    CHECK_INT(later(10), 0);
    CHECK(holder[1] == BUSY && holder[2] == WOKEN);
    stop();
}

/* ---- processes that are new ---- */

/* clang-format off */
static const char born[] =
    LAST("100") OTHER("10", "0") OTHER("100", "0") OTHER("200", "0")
    "at 2s\n" LAST("102") CLIENT("101", "3", "1")
    "at 3s\n" LAST("103") CLIENT("102", "3", "6") /* late; 103 is a thread */
    "at 4s\n" LAST("104") CLIENT("104", "3", "2") "gone proc/101\n"
    "at 6s\n" LAST("12") CLIENT("11", "3", "3") /* numbers restart */
    "at 7s\n" LAST("13") CLIENT("13", "3", "4")
    "at 11s\ngone proc/200\n"
    "at 15s\n" LAST("?") CLIENT("14", "3", "5")
    "end\n";
/* clang-format on */

static void test_born(void)
{
    test_label = "the whole list, twice";
    if (!start(born))
        return;
    CHECK_INT(gather(), 0);
    CHECK(lists == 1 && first_pid == 1);
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 1);
    test_label = "one is new";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 101 && holder[1] == 101);
    CHECK_INT(gtel_scan_counts(scan)->visible, 4);
    test_label = "a thread is new, and a process that had its number before";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 101 && holder[1] == 101 && holder[6] == 102);
    test_label = "one is new, another one ends";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 103 && holder[2] == 104 && is_gone[1]);
    CHECK_INT(gtel_scan_counts(scan)->visible, 5);
    test_label = "nothing is new";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 104);
    test_label = "numbers restart";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 1 && holder[3] == 11);
    test_label = "after a failure, the whole list";
    list_error = -EIO;
    CHECK_INT(later(1), -EIO);
    CHECK(holder[3] == 0 && !is_gone[3]);
    CHECK_INT(later(1), 0);
    CHECK(first_pid == 1 && holder[4] == 13 && holder[3] == 11);
    CHECK_INT(later(1), 0);
    CHECK(first_pid == 1 && gtel_scan_counts(scan)->visible == 7);
    test_label = "what has ended is known within 5 s";
    CHECK_INT(later(1), 0);
    CHECK_INT(lists, 0);
    for (unsigned t = 0; t < 4; t++)
        CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 1 && gtel_scan_counts(scan)->visible == 6);
    test_label = "the last number is not reported";
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 1 && holder[5] == 14);
    CHECK_INT(later(1), 0);
    CHECK(lists == 1 && first_pid == 1);
    stop();
}

int main(void)
{
    test_quiet();
    test_long_interval();
    test_born();
    return test_result();
}
