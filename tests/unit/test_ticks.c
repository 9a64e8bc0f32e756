/* SPDX-License-Identifier: MIT */
/* What happens between gathers: counters of few bits are read, however rare the gathers are. */
#include "lanes/group.h"
#include "lanes/wire.h"
#include "harness/env_fault.h"
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define GT DEVICE "/tile0/gt0"
#define CARD                                                                                       \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_SLOT_NAME=0000:03:00.0\n"                          \
    "file " DEVICE "/vendor\n| 0x8086\n"                                                           \
    "file proc/sys/kernel/osrelease\n| 6.17.0\n"                                                   \
    "file " DEVICE "/device\n| 0xe20b\n"                                                           \
    "link " DEVICE "/driver -> ../../../bus/pci/drivers/xe\n"                                      \
    "file " DEVICE "/drm/card0/dev\n| 226:0\n"                                                     \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " GT "/gtidle/name\n| gt0-rc\n"                                                          \
    "file " GT "/freq0/act_freq\n| 1200\n"                                                         \
    "grow " GT "/gtidle/idle_residency_ms 1000 400\n"
/* 250 W */
#define ENERGY                                                                                     \
    "file " DEVICE "/hwmon/hwmon3/name\n| xe\n"                                                    \
    "grow " DEVICE "/hwmon/hwmon3/energy1_input 1000000 250000000\n"
#define STATUS(word) "file " DEVICE "/power/runtime_status\n| " word "\n"

static const uint64_t second_ns = 1000000000u;

/* How long the file named stood unread at most. */
struct gaps {
    const struct gtel_env *env;
    struct gtel_str file; /* the end of its path */
    uint64_t last_ns;
    uint64_t longest_ns;
    unsigned reads;
};

struct machine {
    struct gtel_tree *tree;
    struct gtel_env tree_env;
    struct env_fault fault;
    struct gtel_options options;
    struct gtel_sink sink;
    struct gtel_context *context;
    struct gaps gaps;
    double watts; /* of the last gather; 0: none */
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct machine *machine = arg;
    (void)wall_ns;
    machine->watts = 0;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct machine *machine = arg;
    (void)aspect;
    if (reading->metric == GTEL_M_POWER)
        machine->watts = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_call(void *arg, enum fault_op op, const char *path)
{
    struct gaps *gaps = arg;
    if (op != FAULT_READ || !gtel_str_ends(gtel_str_of(path), gaps->file))
        return;
    uint64_t now_ns = gtel_env_now(gaps->env);
    uint64_t gap_ns = gaps->reads > 0 ? now_ns - gaps->last_ns : 0;
    gaps->longest_ns = gap_ns > gaps->longest_ns ? gap_ns : gaps->longest_ns;
    gaps->last_ns = now_ns;
    gaps->reads++;
}

static bool begin(struct machine *machine, const char *text, bool is_stepped, const char *file)
{
    char error[128];
    *machine = (struct machine){.sink = {machine, on_begin, on_put, on_end}};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, is_stepped, 0, &machine->tree_env), 0);
    env_fault_init(&machine->fault, &machine->tree_env);
    gtel_options_init(&machine->options);
    machine->gaps = (struct gaps){.env = &machine->tree_env, .file = gtel_str_of(file)};
    machine->fault.watch = on_call;
    machine->fault.watch_arg = &machine->gaps;
    return true;
}

static void end(struct machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->tree_env);
    gtel_tree_free(machine->tree);
}

/* An hour of the stepped machine, as the program goes through it. */
static void pass_hour(struct machine *machine)
{
    uint64_t end_ns = gtel_env_now(&machine->tree_env) + 3600 * second_ns;
    for (;;) {
        uint64_t now_ns = gtel_env_now(&machine->tree_env);
        uint64_t due_ns = gtel_context_due(machine->context);
        if (due_ns == 0 || due_ns >= end_ns) {
            gtel_env_tree_step(&machine->tree_env, end_ns - now_ns);
            return;
        }
        if (!CHECK(due_ns > now_ns))
            return;
        gtel_env_tree_step(&machine->tree_env, due_ns - now_ns);
        gtel_context_tick(machine->context);
    }
}

static const struct hour_case {
    const char *label;
    const char *text;
    const char *file;
    double watts;       /* of each gather */
    unsigned reads;     /* of the file in an hour, between the gathers */
    unsigned longest_s; /* without one */
} hour_cases[] = {
    {"energy", CARD ENERGY STATUS("active") "end\n", "energy1_input", 250, 29, 120},
    {"idle time beside energy", CARD ENERGY STATUS("active") "end\n", "idle_residency_ms", 250, 29,
     120},
    {"idle time alone", CARD STATUS("active") "end\n", "idle_residency_ms", 0, 0, 3600},
    {"a value that needs no more reads", CARD ENERGY STATUS("active") "end\n", "act_freq", 250, 0,
     3600},
    {"asleep from the first minute on",
     CARD ENERGY STATUS("active") "at 60s\n" STATUS("suspended") "end\n", "energy1_input", 0, 0, 0},
    {"asleep for half an hour",
     CARD ENERGY STATUS("active") "at 60s\n" STATUS("suspended") "at 1830s\n" STATUS(
         "active") "end\n",
     "energy1_input", 250, 14, 1920},
};

/* Gathers an hour apart: the files are read in between, and that is all that is done. */
static void test_hours(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(hour_cases); i++) {
        const struct hour_case *c = &hour_cases[i];
        static struct machine machine;
        test_label = c->label;
        if (!begin(&machine, c->text, true, c->file))
            return;
        struct gtel_setup setup = {.env = &machine.fault.env,
                                   .options = &machine.options,
                                   .sink = &machine.sink,
                                   .interval_ns = 3600 * second_ns};
        if (!CHECK(gtel_context_new(&setup, &machine.context) == 0))
            return;
        gtel_context_gather(machine.context);
        unsigned before = machine.gaps.reads;
        CHECK_INT(before, 1);
        pass_hour(&machine);
        CHECK_INT(machine.gaps.reads - before, c->reads);
        gtel_context_gather(machine.context);
        CHECK_INT(machine.gaps.longest_ns / second_ns, c->longest_s);
        CHECK_NEAR(machine.watts, c->watts, 0.01);
        end(&machine);
    }
    test_label = "";
}

/*
 * Gathers two hours apart: counters of 32 bits and 1.28 us, which the kernel carries on at each
 * read, turn after 91 minutes. The deeper sleep of an Ivy Bridge is one of them.
 */
static void test_turns(void)
{
    static const char text[] =
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:00:02.0/drm/card0\n"
        "file sys/devices/pci0000:00/0000:00:02.0/uevent\n| DRIVER=i915\n| PCI_ID=8086:0166\n"
        "| PCI_SLOT_NAME=0000:00:02.0\n"
        "link sys/devices/pci0000:00/0000:00:02.0/driver -> ../../../bus/pci/drivers/i915\n"
        "link sys/devices/pci0000:00/0000:00:02.0/drm/card0/device -> ../../../0000:00:02.0\n"
        "grow sys/devices/pci0000:00/0000:00:02.0/drm/card0/power/rc6_residency_ms 1000 100\n"
        "grow sys/devices/pci0000:00/0000:00:02.0/drm/card0/power/rc6p_residency_ms 1000 900\n"
        "end\n";
    static struct machine machine;
    if (!begin(&machine, text, true, "rc6p_residency_ms"))
        return;
    struct gtel_setup setup = {.env = &machine.fault.env,
                               .options = &machine.options,
                               .sink = &machine.sink,
                               .interval_ns = 7200 * second_ns};
    if (!CHECK(gtel_context_new(&setup, &machine.context) == 0))
        return;
    gtel_context_gather(machine.context);
    CHECK_INT(machine.gaps.reads, 1);
    pass_hour(&machine);
    gtel_context_tick(machine.context);
    pass_hour(&machine);
    gtel_context_gather(machine.context);
    CHECK_INT(machine.gaps.reads, 3);
    CHECK_INT(machine.gaps.longest_ns / second_ns, 3600);
    end(&machine);
}

/* ---- a real helper ---- */

/* What the helper does, seen from outside. */
struct shared {
    uint64_t ahead_ns; /* of the real clock */
    unsigned reads;
};

static struct shared *shared;

/* Time flies: after each reading of the file the helper's clock stands 119.9 s further. */
static void fly(void *arg, enum fault_op op, const char *path)
{
    (void)arg;
    if (op != FAULT_READ || !gtel_str_ends(gtel_str_of(path), GTEL_STR("energy1_input")))
        return;
    shared->reads++;
    shared->ahead_ns += 119900000000u;
}

static uint64_t flying_ns(void *arg)
{
    (void)arg;
    return gtel_env_real_now() + shared->ahead_ns;
}

static int run_helper(struct machine *machine, int fd)
{
    struct gtel_env_ops ops = *machine->fault.env.ops;
    ops.monotonic_ns = flying_ns;
    machine->fault.env.ops = &ops;
    machine->fault.watch = fly;
    int r = gtel_lane_serve("kernel", fd, &machine->fault.env, &machine->options);
    machine->fault.env.ops = NULL;
    return r;
}

/* The next frame of the wanted type. */
static bool receive(int fd, enum gtel_frame_type want, struct gtel_buf *in, struct gtel_frame *ret)
{
    size_t used = 0;
    gtel_buf_reset(in);
    for (;;) {
        char byte;
        int r = in->n > 0 ? gtel_frame_next(gtel_buf_text(in), ret, &used) : -EAGAIN;
        if (r == 0 && ret->type == want)
            return true;
        if (r == 0)
            gtel_buf_reset(in);
        if ((r < 0 && r != -EAGAIN) || recv(fd, &byte, 1, 0) != 1)
            return false;
        gtel_buf_char(in, byte);
    }
}

/* Asks the helper for its readings; returns how many of them are energy. */
static unsigned ask(int fd, struct gtel_buf *in, uint64_t number)
{
    static struct gtel_wire_map map;
    static struct gtel_batch batch;
    static struct gtel_registry registry;
    struct gtel_answer answer = {0};
    struct gtel_frame frame;
    struct gtel_buf out;
    unsigned energies = 0;
    gtel_buf_init(&out, 64);
    gtel_wire_request(&out, number, false);
    CHECK_INT(send(fd, out.p, out.n, MSG_NOSIGNAL), out.n);
    gtel_buf_done(&out);
    if (!CHECK(receive(fd, GTEL_FRAME_ANSWER, in, &frame)))
        return 0;
    gtel_batch_reset(&batch);
    CHECK_INT(gtel_wire_read_answer(frame.payload, &registry, &map, &batch, &answer), 0);
    CHECK_INT(answer.request, number);
    for (size_t i = 0; i < batch.n; i++)
        energies += batch.reading[i].metric == GTEL_M_ENERGY ? 1 : 0;
    if (number == 2) { /* the last one */
        gtel_batch_done(&batch);
        gtel_registry_done(&registry);
    }
    return energies;
}

static void talk(int fd)
{
    struct gtel_buf in;
    struct gtel_frame frame;
    gtel_buf_init(&in, GTEL_FRAME_MAX);
    CHECK(receive(fd, GTEL_FRAME_HELLO, &in, &frame));
    (void)usleep(300000);
    CHECK_INT(shared->reads, 0); /* nothing is open yet: nothing is due */
    CHECK_INT(ask(fd, &in, 1), 1);
    for (int i = 0; i < 200 && shared->reads < 5; i++)
        (void)usleep(50000);
    CHECK(shared->reads >= 5); /* in eight minutes of its time, without a request */
    CHECK_INT(ask(fd, &in, 2), 1);
    gtel_buf_done(&in);
}

static void test_helper(void)
{
    static struct machine machine;
    int fd[2];
    test_label = "helper";
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(shared != MAP_FAILED) || !CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0) ||
        !begin(&machine, CARD ENERGY STATUS("active") "end\n", false, "energy1_input"))
        return;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fd[0]);
        _exit(run_helper(&machine, fd[1]) == 0 ? 0 : 1);
    }
    (void)close(fd[1]);
    int status = -1;
    if (CHECK(pid > 0)) {
        talk(fd[0]);
        (void)close(fd[0]); /* it ends by itself, also while it waits for the next reading */
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK_INT(status, 0);
    }
    end(&machine);
    (void)munmap(shared, sizeof(*shared));
    test_label = "";
}

/* An answer beyond its limit has no readings, and says how many they were. */
static void test_limit(void)
{
    static struct machine machine;
    static struct gtel_group group;
    size_t limit = GTEL_FRAME_MAX;
    size_t readings[2] = {0};
    test_label = "limit";
    if (!begin(&machine, CARD ENERGY STATUS("active") "end\n", false, "energy1_input") ||
        !CHECK(gtel_group_init(&group, "kernel", &machine.fault.env, &machine.options) == 0))
        return;
    for (size_t i = 0; i < 2; i++) {
        static struct gtel_wire_map map;
        struct gtel_batch batch = {0};
        struct gtel_registry registry = {0};
        struct gtel_answer answer = {0};
        struct gtel_frame frame;
        struct gtel_buf out;
        size_t used = 0;
        map = (struct gtel_wire_map){0};
        group.sent = UINT64_MAX; /* with the devices */
        gtel_buf_init(&out, limit);
        gtel_group_answer(&group, i, false, NULL, &out);
        limit = out.n - 1;
        CHECK_INT(gtel_frame_next(gtel_buf_text(&out), &frame, &used), 0);
        CHECK_INT(gtel_wire_read_answer(frame.payload, &registry, &map, &batch, &answer), 0);
        readings[i] = batch.n;
        CHECK_INT(map.n, 1);
        CHECK_INT(answer.dropped, 0); /* it is in the next one */
        gtel_buf_done(&out);
        gtel_batch_done(&batch);
        gtel_registry_done(&registry);
    }
    CHECK(readings[0] > 2);
    CHECK_INT(readings[1], 0);
    CHECK(group.batch.dropped > 2);
    gtel_group_done(&group);
    end(&machine);
    test_label = "";
}

int main(void)
{
    test_hours();
    test_turns();
    test_helper();
    test_limit();
    return test_result();
}
