/* SPDX-License-Identifier: MIT */
/*
 * The scan for clients with the kernel's own list of descriptors: the kernel is played from the
 * recorded machine's files. With an argument, the real one is asked on the real /proc, as root.
 *
 *     test_clients_list [real]
 */
#include "sources/clients/scan.h"

#include "base/buf.h"
#include "harness/fd_holders.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

enum { KEYS_MAX = 64, PROCESSES = 40, FDS = 12 };

static const uint64_t second_ns = 1000000000;

/* What was found, and what the played kernel does. */
struct world {
    struct gtel_env env;
    struct gtel_env_ops ops;
    struct gtel_scan *scan;
    const struct holders *holders; /* NULL: a recorded machine */
    uint32_t pid[KEYS_MAX];
    uint32_t fd[KEYS_MAX];
    bool is_gone[KEYS_MAX];
};

/* Env ops get the recorded machine's own argument: these need places of their own. */
static struct {
    const struct gtel_env_ops *ops;
    unsigned lists; /* asked for */
    unsigned walks; /* of descriptors */
    int error;      /* after `given` descriptors */
    unsigned given;
    uint64_t took_ns; /* what each list takes */
    uint64_t extra_ns;
    uint32_t hidden;   /* a process that is not in proc yet; 0: none */
    gtel_number_fn fn; /* the caller's, of the others */
    void *fn_arg;
} kernel;

static uint64_t clock_ns(void *arg)
{
    return kernel.ops->monotonic_ns(arg) + kernel.extra_ns;
}

static int take_seen(void *arg, uint32_t pid)
{
    (void)arg;
    return pid == kernel.hidden ? 0 : kernel.fn(kernel.fn_arg, pid);
}

static int list_from(void *arg, const char *path, uint32_t first, gtel_number_fn fn, void *fn_arg)
{
    kernel.walks += strcmp(path, "proc") != 0 ? 1 : 0;
    kernel.fn = fn;
    kernel.fn_arg = fn_arg;
    if (kernel.hidden > 0 && strcmp(path, "proc") == 0)
        return kernel.ops->dir_list_from(arg, path, first, take_seen, NULL);
    return kernel.ops->dir_list_from(arg, path, first, fn, fn_arg);
}

static int play(void *arg, gtel_drm_fd_fn fn, void *fn_arg)
{
    unsigned n = 0;
    kernel.lists++;
    kernel.extra_ns += kernel.took_ns;
    for (uint32_t pid = 1; pid <= PROCESSES; pid++)
        for (uint32_t fd = 0; fd < FDS; fd++) {
            struct gtel_stat st;
            char path[64];
            (void)snprintf(path, sizeof(path), "proc/%u/fd/%u", pid, fd);
            if (kernel.ops->stat(arg, path, &st) < 0 || !st.is_char ||
                (st.major != 226 && st.major != 261))
                continue;
            if (kernel.error < 0 && n++ == kernel.given)
                return kernel.error;
            const struct gtel_drm_fd found = {pid, fd, st.major, st.minor};
            int r = fn(fn_arg, &found);
            if (r != 0)
                return r;
        }
    return kernel.error;
}

static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    static const struct gtel_str name = GTEL_STR_INIT("drm-client-id:");
    struct world *world = arg;
    struct gtel_str rest = text->text;
    struct gtel_str line;
    uint64_t key = world->holders ? holders_node(world->holders, text->text) : 0;
    while (!world->holders && gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, name))
            (void)gtel_str_u64(gtel_str_trim(gtel_str_skip(line, name.n)), &key);
    if (key == 0 || key >= KEYS_MAX)
        return 0;
    if (world->pid[key] == 0) {
        world->pid[key] = text->owner.birth.pid;
        world->fd[key] = text->fd;
    }
    return (uint32_t)key;
}

static void closed(void *arg, uint32_t key)
{
    struct world *world = arg;
    world->is_gone[key] = true;
}

static int gather(struct world *world)
{
    const struct gtel_scan_hooks hooks = {.arg = world, .read = read_text, .closed = closed};
    memset(world->pid, 0, sizeof(world->pid));
    memset(world->is_gone, 0, sizeof(world->is_gone));
    kernel.lists = kernel.walks = 0;
    return gtel_scan_gather(world->scan, &hooks);
}

static const struct gtel_scan_counts *counts(const struct world *world)
{
    return gtel_scan_counts(world->scan);
}

/* ---- a played kernel ---- */

static void put(struct gtel_buf *out, unsigned pid, unsigned fd, unsigned id)
{
    if (id == 0)
        gtel_buf_printf(out, "link proc/%u/fd/%u -> other\nfile proc/%u/fdinfo/%u\n| pos: 0\n", pid,
                        fd, pid, fd);
    else
        gtel_buf_printf(out,
                        "char proc/%u/fd/%u 226:128\nfile proc/%u/fdinfo/%u\n"
                        "| drm-driver:\tx\n| drm-client-id:\t%u\n",
                        pid, fd, pid, fd, id);
}

/* 40 processes of 8 descriptors; two have clients. Then descriptors take each other's places. */
static char *make_machine(void)
{
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 20);
    for (unsigned pid = 1; pid <= PROCESSES; pid++)
        for (unsigned fd = 0; fd < 8; fd++)
            put(&out, pid, fd, pid == 7 && fd == 3 ? 1 : pid == 30 && fd == 5 ? 2 : 0);
    gtel_buf_str(&out, GTEL_STR("at 1s\n")); /* the numbers of descriptors stay the same */
    put(&out, 12, 4, 3);
    gtel_buf_str(&out, GTEL_STR("gone proc/7/fd/3\ngone proc/7/fdinfo/3\n"));
    put(&out, 7, 3, 0);
    gtel_buf_str(&out, GTEL_STR("at 2s\n")); /* one more, of no interest */
    put(&out, 20, 9, 0);
    gtel_buf_str(&out, GTEL_STR("at 3s\ngone proc/30/fd/5\ngone proc/30/fdinfo/5\n"));
    put(&out, 30, 6, 2); /* the client moves to another descriptor */
    put(&out, 30, 5, 0);
    gtel_buf_str(&out, GTEL_STR("at 4s\nend\n"));
    gtel_buf_char(&out, '\0');
    return out.has_failed ? NULL : out.p;
}

/* Lives through the gathers of a machine, which is freed, and calls fn in each. */
static void live_on(char *text, int gathers, uint64_t step_ns,
                    void (*fn)(struct world *world, int gather))
{
    static struct world world;
    struct gtel_tree *tree = NULL;
    char error[200] = "";
    memset(&world, 0, sizeof(world));
    if (!CHECK(text) ||
        !CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 1, &world.env) == 0))
        return;
    kernel.ops = world.env.ops;
    kernel.extra_ns = 0;
    world.ops = *world.env.ops;
    world.ops.monotonic_ns = clock_ns;
    world.ops.dir_list_from = list_from;
    world.ops.drm_fds = play;
    world.env.ops = &world.ops;
    if (CHECK(gtel_scan_new(&world.env, NULL, &world.scan) == 0)) {
        for (int n = 0; n < gathers; n++) {
            CHECK_INT(gather(&world), 0);
            fn(&world, n);
            gtel_env_tree_step(&world.env, step_ns);
        }
        gtel_scan_free(world.scan);
    }
    world.env.ops = kernel.ops;
    gtel_env_tree_done(&world.env);
    gtel_tree_free(tree);
    free(text);
}

/* The five seconds of the machine above. */
static void live(void (*fn)(struct world *world, int second))
{
    live_on(make_machine(), 5, second_ns, fn);
}

/* What there is to be found in each second. */
static void check_found(const struct world *world, int second)
{
    CHECK_INT(world->pid[1], second == 0 ? 7 : 0);
    CHECK_INT(world->pid[2], 30);
    CHECK_INT(world->fd[2], second < 3 ? 5 : 6);
    CHECK_INT(world->pid[3], second == 0 ? 0 : 12);
    CHECK(world->is_gone[1] == (second == 1) && !world->is_gone[2]);
    CHECK(counts(world)->visible == PROCESSES && counts(world)->readable == PROCESSES);
    CHECK_INT(counts(world)->waiting, 0);
}

static void check_listed(struct world *world, int second)
{
    check_found(world, second);
    CHECK_INT(kernel.lists, 1);
    CHECK_INT(kernel.walks, 0);
    CHECK(counts(world)->is_listed && counts(world)->has_numbers && counts(world)->by_text == 0);
}

static void test_listed(void)
{
    test_label = "listed";
    kernel.took_ns = 0;
    kernel.error = 0;
    live(check_listed);
}

/* The first process and the last one; 20 is another helper of this program. */
static char *make_few(void)
{
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 16);
    put(&out, 5, 3, 1);
    put(&out, 20, 3, 2);
    put(&out, PROCESSES, FDS - 1, 3);
    gtel_buf_str(&out,
                 GTEL_STR("file proc/self/stat\n| 99 (gtel) S 9 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 "
                          "0 1 0 5 0 0\nfile proc/20/stat\n| 20 (gtel) S 9 1 1 0 -1 0 0 0 0 "
                          "0 0 0 0 0 20 0 1 0 5 0 0\nat 1s\nend\n"));
    gtel_buf_char(&out, '\0');
    return out.has_failed ? NULL : out.p;
}

/* In the first gather one process came after proc was read, and before the list. */
static void check_few(struct world *world, int second)
{
    CHECK(counts(world)->is_listed);
    CHECK_INT(world->pid[1], kernel.hidden == 5 ? 0 : 5);
    CHECK_INT(world->pid[2], 0);
    CHECK_INT(world->pid[3], kernel.hidden == PROCESSES ? 0 : PROCESSES);
    kernel.hidden = 0;
    (void)second;
}

static void test_few(void)
{
    static const uint32_t hidden[] = {0, 5, PROCESSES};
    kernel.took_ns = 0;
    kernel.error = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(hidden); i++) {
        test_label = hidden[i] == 0 ? "few" : hidden[i] == 5 ? "the first came" : "the last came";
        kernel.hidden = hidden[i];
        live_on(make_few(), 2, second_ns, check_few);
    }
    test_label = "";
}

/* A list that takes 5 ms is asked for each 2.5 s: nothing else changes in between. */
static void check_paused(struct world *world, int second)
{
    bool is_due = second == 0 || second == 3;
    CHECK_INT(kernel.lists, is_due);
    CHECK(counts(world)->is_listed);
    CHECK_INT(counts(world)->rotation_ns, 2500000000);
    CHECK_INT(world->pid[2], 30);
    CHECK_INT(world->pid[3], second < 3 ? 0 : 12); /* not listed before */
}

static void test_paused(void)
{
    test_label = "paused";
    kernel.took_ns = 5000000;
    kernel.error = 0;
    live(check_paused);
}

/* Without the list, or with a part of it only, all is found by walking. */
static void check_fallback(struct world *world, int second)
{
    if (second == 0)
        check_found(world, second);
    CHECK(!counts(world)->is_listed && counts(world)->rotation_ns == 60 * second_ns);
    CHECK_INT(kernel.lists, second == 0);
    CHECK_INT(world->pid[2], 30);
    CHECK_INT(counts(world)->visible, PROCESSES);
}

static void test_fallback(void)
{
    static const int errors[] = {-EOPNOTSUPP, -EPERM, -EACCES, -EINVAL, -EIO, -EMFILE, -ENOMEM};
    kernel.took_ns = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        for (kernel.given = 0; kernel.given < 2; kernel.given++) {
            test_label = kernel.given == 0 ? "refused" : "broken off";
            kernel.error = errors[i];
            live(check_fallback);
        }
}

/* What may pass is asked for again after a minute, anything else never: gathers each 20 s. */
static bool may_pass;

static void check_retried(struct world *world, int n)
{
    (void)world;
    CHECK_INT(kernel.lists, n == 0 || (may_pass && n % 3 == 0));
}

static void test_retried(void)
{
    static const struct {
        int error;
        bool may_pass;
    } cases[] = {{-EMFILE, true}, {-ENFILE, true}, {-ENOMEM, true}, {-EINTR, true},
                 {-EPERM, false}, {-EIO, false},   {-EAGAIN, false}};
    kernel.took_ns = 0;
    kernel.given = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = strerror(-cases[i].error);
        kernel.error = cases[i].error;
        may_pass = cases[i].may_pass;
        live_on(make_machine(), 8, 20 * second_ns, check_retried);
    }
}

/* A list that takes very long is asked for as often as rotation would come round. */
static void check_slow(struct world *world, int n)
{
    CHECK_INT(kernel.lists, n % 3 == 0);
    CHECK_INT(counts(world)->rotation_ns, 60 * second_ns);
}

static void test_slow(void)
{
    test_label = "slow";
    kernel.took_ns = 121000000; /* 500 times that is more than a minute */
    kernel.error = 0;
    live_on(make_machine(), 7, 20 * second_ns, check_slow);
}

/* Processes behind the last one of the list have none any more, and a new one may be the last. */
static char *make_ends(void)
{
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 16);
    put(&out, 5, 3, 1);
    put(&out, 8, 3, 2);
    put(&out, 9, 3, 3);
    gtel_buf_str(&out, GTEL_STR("at 1s\n"));
    put(&out, 9, 3, 0);
    gtel_buf_str(&out, GTEL_STR("at 2s\n"));
    put(&out, 5, 3, 0);
    put(&out, 8, 3, 0);
    put(&out, 12, 7, 4);
    gtel_buf_str(&out, GTEL_STR("at 3s\nend\n"));
    gtel_buf_char(&out, '\0');
    return out.has_failed ? NULL : out.p;
}

static void check_ends(struct world *world, int second)
{
    CHECK(counts(world)->is_listed && counts(world)->waiting == 0);
    CHECK_INT(counts(world)->clients, second == 0 ? 3 : second == 1 ? 2 : 1);
    CHECK_INT(world->pid[1], second < 2 ? 5 : 0);
    CHECK_INT(world->pid[2], second < 2 ? 8 : 0);
    CHECK_INT(world->pid[3], second < 1 ? 9 : 0);
    CHECK_INT(world->pid[4], second < 2 ? 0 : 12);
    CHECK(world->is_gone[3] == (second == 1) && world->is_gone[1] == (second == 2));
}

static void test_ends(void)
{
    test_label = "ends";
    kernel.took_ns = 0;
    kernel.error = 0;
    live_on(make_ends(), 3, second_ns, check_ends);
    test_label = "";
}

/* ---- the real one ---- */

/* The clock goes on by a second with each gather. */
static uint64_t real_ns;

static uint64_t real_clock(void *arg)
{
    (void)arg;
    return real_ns;
}

static int count(void *arg, const struct gtel_drm_fd *fd)
{
    (void)fd;
    ++*(unsigned *)arg;
    return 0;
}

/* A node in the place of another file, by one of many processes: found in the next gather. */
static void check_real(struct world *world, const struct holder *holder, bool is_listed)
{
    int gathers = 0;
    world->pid[2] = 0;
    CHECK_INT(holder_open(&holder[1], 2, 5), 0); /* another file was there */
    while (world->pid[2] == 0 && gathers++ < 90) {
        real_ns += second_ns;
        CHECK_INT(gather(world), 0);
        CHECK_INT(world->pid[1], holder[0].pid);
    }
    printf("a descriptor that took another's place was found in gather %d\n", gathers);
    CHECK_INT(world->pid[2], holder[1].pid);
    CHECK(gathers == 1 || !is_listed);
    CHECK(counts(world)->is_listed == is_listed);
}

static void test_real(void)
{
    static struct world world;
    struct holders holders;
    struct holder holder[2];
    unsigned found = 0;
    test_label = "real";
    if (!CHECK(holders_init(&holders, 2)) || !CHECK(gtel_env_posix_init("/", &world.env) == 0))
        return;
    int r = gtel_env_drm_fds(&world.env, count, &found);
    printf("the kernel's list: %s\n", r == 0 ? "there" : strerror(-r));
#ifdef GTEL_HAVE_BPF
    CHECK(r == 0 || r == -EPERM || r == -EOPNOTSUPP || r == -ENOENT || r == -ESRCH);
#else
    CHECK_INT(r, -EOPNOTSUPP);
#endif
    world.ops = *world.env.ops;
    world.ops.monotonic_ns = real_clock;
    world.env.ops = &world.ops;
    world.holders = &holders;
    real_ns = second_ns;
    for (int i = 0; i < 2; i++)
        CHECK(holder_start(&holders, 0, &holder[i]));
    CHECK(holder_open(&holder[0], 1, 4) == 0 && holder_other(&holder[1], 5) == 0);
    if (CHECK(gtel_scan_new(&world.env, NULL, &world.scan) == 0)) {
        CHECK_INT(gather(&world), 0);
        CHECK_INT(world.pid[1], holder[0].pid);
        check_real(&world, holder, r == 0);
        gtel_scan_free(world.scan);
    }
    for (int i = 0; i < 2; i++)
        holder_end(&holder[i]);
    gtel_env_posix_done(&world.env);
    holders_done(&holders);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "real") == 0) {
        test_real();
        return test_result();
    }
    test_listed();
    test_few();
    test_paused();
    test_fallback();
    test_retried();
    test_slow();
    test_ends();
    return test_result();
}
