/* SPDX-License-Identifier: MIT */
/* Source drm_clients while its first scan of all processes goes on. */
#include "gtel.h"
#include "harness/client_machine.h"
#include "harness/test.h"

#include <errno.h>

enum { PROCESSES = 60, FDS = 100, FIRST_PID = 700 };

static const char card0[] = "0000:01:00.0";

/* A clock that also runs during a gather: so much each time it is read. */
static struct {
    const struct gtel_env *tree;
    uint64_t extra_ns;
    uint64_t tick_ns;
} ticking;

static uint64_t ticking_now(void *arg)
{
    (void)arg;
    ticking.extra_ns += ticking.tick_ns;
    return gtel_env_now(ticking.tree) + ticking.extra_ns;
}

static void take_clock(struct lane *lane, struct gtel_env_ops *ops)
{
    *ops = *lane->fault->env.ops;
    ops->monotonic_ns = ticking_now;
    lane->fault->env.ops = ops;
    ticking.tree = &lane->tree_env;
    ticking.extra_ns = 0;
    ticking.tick_ns = 200000; /* the scan asks at every eighth descriptor: 25 us for each */
}

/*
 * 60 processes with 100 descriptors each, which take 150 ms: the first one and the last one hold a
 * client. The process of another user comes after them.
 */
static void put_machine(struct gtel_buf *text)
{
    clients_begin(text);
    clients_card(text, 0, "i915");
    for (unsigned i = 0; i < PROCESSES; i++) {
        unsigned pid = FIRST_PID + i;
        clients_process(text, pid, "worker", 50);
        for (unsigned fd = 1; fd < FDS; fd++)
            gtel_buf_printf(text, "link proc/%u/fd/%u -> /dev/null\n", pid, fd);
        if (i > 0 && i < PROCESSES - 1)
            continue;
        clients_fd(text, pid, FDS, 0);
        clients_text(text, (struct clients_client){pid, FDS, 0, "i915", i}, 0);
    }
    clients_process(text, 900, "hidden", 50);
    gtel_buf_str(text, GTEL_STR("refuse proc/900/fd EACCES\nrefuse proc/900/fdinfo EACCES\nend\n"));
    gtel_buf_char(text, '\0');
}

static bool has_finding(struct lane *lane, const char *what, const char *words)
{
    struct gtel_findings findings = {0};
    bool has = false;
    gtel_group_diagnose(&lane->group, &findings);
    for (size_t i = 0; i < findings.n; i++) {
        const struct gtel_finding *finding = &findings.finding[i];
        has = has || (gtel_str_eq(finding->what, gtel_str_of(what)) && finding->why.n > 0 &&
                      strstr(finding->why.p, words));
    }
    gtel_findings_done(&findings);
    return has;
}

/* What has not been checked is neither readable nor not, and how many use a GPU is not known. */
static void check_begun(struct lane *lane)
{
    CHECK(!lane_find(lane, GTEL_M_GPU_PROCESSES, NULL, NULL));
    CHECK(!lane_find(lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL));
    CHECK(!lane_find(lane, GTEL_M_SELF_PROCESSES_READABLE, NULL, NULL));
    CHECK_NEAR(clients_value(lane, card0, GTEL_M_ENGINE_BUSY_TIME, "render"), -1, 0);
    CHECK(has_finding(lane, "proc/PID/fd", "still to be scanned"));
    CHECK(!has_finding(lane, "proc/PID/fdinfo", ""));
    uint64_t due_ns = gtel_group_due(&lane->group);
    uint64_t now_ns = gtel_env_now(&lane->fault->env);
    CHECK(due_ns > now_ns - 100000000 && due_ns < now_ns + 100000000); /* it goes on soon */
}

static void test_begun(void)
{
    struct gtel_buf text;
    struct lane lane;
    struct gtel_env_ops ops;
    unsigned gathers = 0;
    gtel_buf_init(&text, 1 << 22);
    put_machine(&text);
    if (!CHECK(!text.has_failed) || !CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    take_clock(&lane, &ops);
    lane_gather(&lane);
    while (lane_find(&lane, GTEL_M_SELF_PROCESSES_WAITING, NULL, NULL) && gathers++ < 100) {
        check_begun(&lane);
        lane_step(&lane, 50);
        lane_gather(&lane);
    }
    CHECK(gathers >= 3 && gathers <= 8);
    CHECK_INT(gtel_group_due(&lane.group), 0);
    CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 2, 0);
    const struct gtel_reading *visible =
        lane_find(&lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL);
    const struct gtel_reading *readable =
        lane_find(&lane, GTEL_M_SELF_PROCESSES_READABLE, NULL, NULL);
    if (CHECK(visible && readable)) {
        CHECK_INT(visible->value.u64, PROCESSES + 2);
        CHECK_INT(readable->value.u64, PROCESSES + 1);
    }
    CHECK(has_finding(&lane, "proc/PID/fdinfo", "others own 1 of"));
    CHECK(!has_finding(&lane, "proc/PID/fd", ""));
    lane_done(&lane);
    gtel_buf_done(&text);
}

/* A process that a gather had no time for counts as neither when it is new. */
static void test_new_process(void)
{
    struct gtel_buf text;
    struct lane lane;
    struct gtel_env_ops ops;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_process(&text, 700, "worker", 50);
    gtel_buf_str(&text, GTEL_STR("at 1s\n"));
    clients_process(&text, 800, "new", 150);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    gtel_buf_char(&text, '\0');
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    take_clock(&lane, &ops);
    lane_gather(&lane);
    CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 0, 0);
    lane_step(&lane, 1000);
    ticking.tick_ns = 100000000; /* no time at all */
    lane_gather(&lane);
    const struct gtel_reading *visible =
        lane_find(&lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL);
    const struct gtel_reading *readable =
        lane_find(&lane, GTEL_M_SELF_PROCESSES_READABLE, NULL, NULL);
    if (CHECK(visible && readable)) {
        CHECK_INT(visible->value.u64, 2);
        CHECK_INT(readable->value.u64, 2);
    }
    CHECK(!lane_find(&lane, GTEL_M_GPU_PROCESSES, NULL, NULL));
    CHECK(!has_finding(&lane, "proc/PID/fdinfo", ""));
    CHECK(has_finding(&lane, "proc/PID/fd", "1 of 3 processes still to be scanned"));
    lane_done(&lane);
    gtel_buf_done(&text);
}

static struct {
    struct lane *lane;
    struct gtel_env_ops ops;
    size_t open_max; /* 0: any number */
} full;

static int list_while_room(void *arg, const char *path, uint32_t first, gtel_number_fn fn,
                           void *fn_arg)
{
    bool is_fds = gtel_str_ends(gtel_str_of(path), GTEL_STR("/fd"));
    if (is_fds && full.open_max > 0 && full.lane->fault->open_files >= full.open_max)
        return -EMFILE;
    return full.ops.dir_list_from(arg, path, first, fn, fn_arg);
}

/* No descriptor of our own is left when a process comes: it is listed in the gather after that. */
static void test_no_descriptor_left(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    for (unsigned pid = 700; pid <= 760; pid++) {
        if (pid == 760)
            gtel_buf_str(&text, GTEL_STR("at 5s\n"));
        clients_process(&text, pid, "worker", 50);
        clients_fd(&text, pid, 5, 0);
        clients_text(&text, (struct clients_client){pid, 5, 0, "i915", pid}, 0);
    }
    if (clients_run(&lane, &text, 3)) {
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 60, 0);
        full.lane = &lane;
        full.ops = *lane.fault->env.ops;
        full.open_max = lane.fault->open_files;
        struct gtel_env_ops ops = full.ops;
        ops.dir_list_from = list_while_room;
        lane.fault->env.ops = &ops;
        for (unsigned t = 4; t < 8; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 61, 0);
        lane.fault->env.ops = &full.ops;
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* A file system that does not answer holds no GPU, so a descriptor of it is no open question. */
static void test_dead_files(void)
{
    static const char *const errors[] = {"ENOTCONN", "ETIMEDOUT"};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct gtel_buf text;
        struct lane lane;
        gtel_buf_init(&text, 1 << 20);
        clients_begin(&text);
        clients_card(&text, 0, "i915");
        clients_process(&text, 700, "worker", 50);
        gtel_buf_printf(&text, "link proc/700/fd/4 -> /mnt/x\nrefuse proc/700/fd/4 %s\n",
                        errors[i]);
        if (clients_run(&lane, &text, 2)) {
            test_label = errors[i];
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 0, 0);
            lane_done(&lane);
        }
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* The front end knows, so that a single gather can wait. */

static void ignore(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void ignore_reading(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    (void)arg;
    (void)reading;
    (void)aspect;
}

static void ignore_end(void *arg)
{
    (void)arg;
}

static void test_context(void)
{
    struct gtel_buf text;
    struct lane lane; /* for its env */
    struct gtel_env_ops ops;
    const struct gtel_sink sink = {.begin = ignore, .put = ignore_reading, .end = ignore_end};
    struct gtel_context *context = NULL;
    unsigned samples = 0;
    gtel_buf_init(&text, 1 << 22);
    put_machine(&text);
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "drm_clients")))
        return;
    take_clock(&lane, &ops);
    const struct gtel_setup setup = {
        .env = &lane.fault->env, .options = &lane.options, .sink = &sink};
    if (CHECK(gtel_context_new(&setup, &context) == 0)) {
        CHECK_INT(gtel_context_processes_waiting(context), 0);
        gtel_context_sample(context, 0);
        while (gtel_context_processes_waiting(context) > 0 && samples++ < 100) {
            lane_step(&lane, 50);
            gtel_context_sample(context, 0);
        }
        CHECK(samples >= 3 && samples <= 8);
        CHECK_INT(gtel_context_processes_waiting(context), 0);
    }
    gtel_context_free(context);
    lane_done(&lane);
    gtel_buf_done(&text);
}

int main(void)
{
    test_begun();
    test_new_process();
    test_no_descriptor_left();
    test_dead_files();
    test_context();
    return test_result();
}
