/* SPDX-License-Identifier: MIT */
/* Source drm_clients: sight, sleep, time, drivers that come and go, and its memory. */
#include "harness/alloc_fault.h"
#include "harness/client_machine.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

static const char card0[] = "0000:01:00.0";
static const char card1[] = "0000:02:00.0";

/* One card, a process with one client, for so many seconds. */
static void put_machine(struct gtel_buf *text, const char *driver, unsigned seconds)
{
    clients_begin(text);
    clients_card(text, 0, driver);
    clients_process(text, 700, "worker", 50);
    clients_fd(text, 700, 5, 0);
    for (unsigned t = 0; t <= seconds; t++) {
        if (t > 0)
            gtel_buf_printf(text, "at %us\n", t);
        clients_text(text, (struct clients_client){700, 5, 0, driver, 9}, t);
    }
}

/* Sight */

static const struct {
    const char *label;
    const char *text; /* instead of what a machine with all rights has */
    const char *what; /* of a finding; NULL: none */
    const char *fix;
} sights[] = {
    {"all", "", NULL, NULL},
    {"in a container", "link proc/self/ns/pid -> pid:[4026532299]\n", "proc/self/ns/pid",
     "--pid=host"},
    {"hidepid", "gone proc/1\n", "proc/1", "CAP_SYS_PTRACE"},
    {"another user's process", "refuse proc/800/fd EACCES\nrefuse proc/800/fdinfo EACCES\n",
     "proc/PID/fdinfo", "CAP_SYS_PTRACE"},
};

static bool has_finding(const struct lane *lane, const char *what, const char *fix)
{
    struct gtel_findings findings = {0};
    bool has = false;
    gtel_group_diagnose((struct gtel_group *)&lane->group, &findings);
    for (size_t i = 0; i < findings.n; i++) {
        const struct gtel_finding *finding = &findings.finding[i];
        bool is_it = !what || gtel_str_eq(finding->what, gtel_str_of(what));
        has = has || (is_it && (!fix || strstr(finding->fix.n ? finding->fix.p : "", fix)));
    }
    gtel_findings_done(&findings);
    return has;
}

/*
 * Where not everything is seen, processes are reported, and no sum is treated as that of the GPU.
 */
static void test_sight(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(sights) / sizeof(sights[0]); i++) {
        struct lane lane;
        bool is_whole = !sights[i].what;
        test_label = sights[i].label;
        put_machine(&text, "i915", 0);
        clients_process(&text, 800, "hidden", 50);
        gtel_buf_printf(&text, "%s", sights[i].text);
        for (unsigned t = 1; t <= 2; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            clients_text(&text, (struct clients_client){700, 5, 0, "i915", 9}, t);
        }
        if (!clients_run(&lane, &text, 2))
            break;
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"), 0.05, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), is_whole ? 0.05 : -1,
                   1e-9);
        CHECK(is_whole ? !has_finding(&lane, NULL, NULL)
                       : has_finding(&lane, sights[i].what, sights[i].fix));
        const struct gtel_reading *visible =
            lane_find(&lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL);
        const struct gtel_reading *readable =
            lane_find(&lane, GTEL_M_SELF_PROCESSES_READABLE, NULL, NULL);
        if (CHECK(visible && readable)) {
            CHECK_INT(visible->value.u64, i == 2 ? 2 : 3);
            CHECK_INT(readable->value.u64, i == 2 || i == 3 ? 2 : 3);
            CHECK(!visible->device);
        }
        CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

/*
 * Work that is not known may be that of a process that is out of sight: then how many use the GPU
 * is not known, and nobody has it to itself.
 */
static void test_unknown_work(void)
{
    static const double counts[] = {1, -1, -1, 1}; /* without engines; in the order of sights */
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 2 * GTEL_ARRAY_LEN(sights); i++) {
        struct lane lane;
        bool has_engines = i % 2 == 0;
        test_label = sights[i / 2].label;
        clients_begin(&text);
        clients_card(&text, 0, "i915");
        clients_process(&text, 700, "worker", 50);
        clients_process(&text, 800, "hidden", 50);
        clients_fd(&text, 700, 5, 0);
        gtel_buf_printf(&text,
                        "| drm-driver:\ti915\n| drm-client-id:\t9\n| drm-pdev:\t%s\n"
                        "| drm-resident-local0:\t1 MiB\n%s%s",
                        card0, has_engines ? "| drm-engine-render:\t5 ns\n" : "",
                        sights[i / 2].text);
        if (!clients_run(&lane, &text, 2))
            break;
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL),
                   has_engines ? 1 : counts[i / 2], 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"), 1048576, 0);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

/* Descriptors whose driver reports nothing: how many processes there are is not known. */
static void test_silent(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_process(&text, 700, "worker", 50);
    clients_fd(&text, 700, 5, 0);
    gtel_buf_printf(&text, "| pos:\t0\n| flags:\t02100002\n");
    if (clients_run(&lane, &text, 1)) {
        CHECK(lane_device(&lane, card0) != NULL);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), -1, 0);
        CHECK(has_finding(&lane, "fdinfo", NULL));
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* A driver that nobody here has heard of is a GPU as soon as a client of it says something. */
static void test_new_driver(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "gpu2040");
    clients_card(&text, 1, "nouveau");
    clients_process(&text, 700, "worker", 50);
    for (unsigned t = 0; t <= 4; t++) {
        gtel_buf_printf(&text, "at %us\n", t + 1);
        if (t == 1)
            clients_fd(&text, 700, 5, 0);
        if (t >= 1)
            clients_text(&text, (struct clients_client){700, 5, 0, "gpu2040", 3}, t);
    }
    if (clients_run(&lane, &text, 0)) {
        CHECK(!lane_device(&lane, card0));
        for (int t = 0; t < 5; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK(lane_device(&lane, card0) != NULL);
        CHECK(!lane_device(&lane, card1));
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"), 0.05, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"), 1048576, 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Sleep */

struct touches {
    uint64_t texts;
};

static void count_texts(void *arg, enum fault_op op, const char *path)
{
    struct touches *touches = arg;
    if ((op == FAULT_OPEN || op == FAULT_READ) && strcmp(path, "proc/700/fdinfo/5") == 0)
        touches->texts++;
}

/* Gathers once, a second later, and says how often the client was read. */
static uint64_t reads(struct lane *lane)
{
    struct touches touches = {0};
    lane_step(lane, 1000);
    lane->fault->watch = count_texts;
    lane->fault->watch_arg = &touches;
    lane_gather(lane);
    lane->fault->watch = NULL;
    return touches.texts;
}

#define STATUS "file sys/devices/0000:01:00.0/power/runtime_status\n| "

/* What a client has in GTT is in the HBM of an MI300A, and the host's memory of a card. */
static void test_mi300a(void)
{
    static const char *const ids[] = {"1002:74A0", "1002:74A1"};
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        clients_begin(&text);
        clients_card(&text, 0, "amdgpu");
        gtel_buf_printf(&text,
                        "file sys/devices/0000:01:00.0/uevent\n| DRIVER=amdgpu\n| PCI_ID=%s\n"
                        "| PCI_SLOT_NAME=0000:01:00.0\n",
                        ids[i]);
        clients_process(&text, 700, "worker", 50);
        clients_fd(&text, 700, 5, 0);
        clients_text(&text, (struct clients_client){700, 5, 0, "amdgpu", 3}, 0);
        if (clients_run(&lane, &text, 0)) {
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"),
                       (i == 0 ? 1088 : 1024) * 1024.0, 0);
            lane_done(&lane);
        }
    }
    gtel_buf_done(&text);
}

/* The clients of an xe card that sleeps are not read; it is not asleep with the other drivers. */
static void test_asleep(const char *driver)
{
    bool is_xe = strcmp(driver, "xe") == 0;
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, driver, 2);
    for (unsigned t = 3; t <= 9; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        if (t == 3)
            gtel_buf_printf(&text, STATUS "suspended\n");
        if (t == 6)
            gtel_buf_printf(&text, STATUS "active\n");
        clients_text(&text, (struct clients_client){700, 5, 0, driver, 9}, t);
    }
    test_label = driver;
    if (clients_run(&lane, &text, 1)) {
        for (unsigned t = 2; t <= 9; t++) {
            bool is_asleep = t >= 3 && t < 6;
            CHECK((reads(&lane) == 0) == (is_xe && is_asleep));
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_AWAKE, NULL), is_asleep ? 0 : 1, 0);
            /* The process has the GPU all the time. */
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 1, 0);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"),
                       is_xe && is_asleep ? -1 : 1048576, 0);
            /* No share spans the sleep. */
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"),
                       is_xe && (is_asleep || t == 6) ? -1 : 0.05, 1e-9);
        }
        lane_done(&lane);
    }
    gtel_buf_done(&text);
    test_label = "";
}

/* With Wake, a sleeping card is read. */
static void test_wake(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "xe", 0);
    gtel_buf_printf(&text, STATUS "suspended\nend\n");
    gtel_buf_char(&text, '\0');
    if (CHECK(lane_init_in(&lane, "clients", text.p, ""))) {
        lane_set(&lane, GTEL_O_WAKE, "always");
        lane_gather(&lane);
        CHECK(reads(&lane) > 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

#define USERS(n) "file sys/devices/0000:01:00.0/power/runtime_usage\n| " n "\n"

/* Devices without hardware have no clients to speak of, and some drivers never print any. */
static void test_no_hardware(void)
{
    static const char *const drivers[] = {"vkms", "virtio_gpu", "virtio-pci", "vc4-drm",
                                          "tyr",  "asahi",      "i915"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(drivers); i++) {
        struct gtel_buf text;
        struct lane lane;
        bool is_gpu = i == 6;
        test_label = drivers[i];
        gtel_buf_init(&text, 1 << 20);
        clients_begin(&text);
        clients_card(&text, 0, drivers[i]);
        clients_process(&text, 700, "worker", 50);
        clients_fd(&text, 700, 5, 0);
        clients_text(&text, (struct clients_client){700, 5, 0, drivers[i], 9}, 0);
        if (clients_run(&lane, &text, 2)) {
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), is_gpu ? 1 : -1, 0);
            CHECK(gtel_source_present(gtel_sources[gtel_source_find(GTEL_STR("drm_clients"))],
                                      &lane.fault->env) == is_gpu);
            /* Without a device that may have some, processes are not even walked. */
            CHECK((lane_find(&lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL) != NULL) == is_gpu);
            lane_done(&lane);
        }
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* A card whose client does nothing from 3 s on; power: of its folder. In use for a second at used.
 */
static void put_idle(struct gtel_buf *text, unsigned delay_ms, const char *power, unsigned used)
{
    put_machine(text, "xe", 3);
    gtel_buf_printf(text,
                    "file sys/devices/0000:01:00.0/power/control\n| auto\n"
                    "file sys/devices/0000:01:00.0/power/autosuspend_delay_ms\n| %u\n%s",
                    delay_ms, power);
    /* The GPU's clock goes on. */
    for (unsigned t = 4; t <= 60; t++) {
        gtel_buf_printf(
            text,
            "at %us\nfile proc/700/fdinfo/5\n| drm-driver:\txe\n| drm-client-id:\t9\n"
            "| drm-pdev:\t%s\n| drm-resident-vram0:\t1 MiB\n| drm-cycles-rcs:\t2880000\n"
            "| drm-total-cycles-rcs:\t%" PRIu64 "\n",
            t, card0, 10000000000 + (uint64_t)t * 19200000);
        if (used > 0 && (t == used || t == used + 1))
            gtel_buf_printf(text, USERS("%d"), t == used);
    }
}

/* An idle xe card is left alone for longer than it takes to fall asleep, and then read again. */
static void test_rest(void)
{
    static const struct {
        const char *label;
        unsigned delay_ms;
        const char *power;
        unsigned longest; /* gathers without a reading, one a second */
        unsigned used;    /* when it is, for a second */
    } cases[] = {
        {"a second", 1000, "", 2, 0},
        {"the same, and nobody uses it", 1000, USERS("0"), 2, 0},
        {"somebody uses it", 1000, USERS("1"), 0, 0},
        {"ten seconds: it could work unseen", 10000, "", 0, 0},
        {"ten seconds, and something would report it", 10000, USERS("0"), 13, 0},
        {"in use in the middle of that: no more rest", 10000, USERS("0"), 4, 45},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lane lane;
        unsigned longest = 0;
        unsigned silent = 0;
        unsigned total = 0;
        test_label = cases[i].label;
        put_idle(&text, cases[i].delay_ms, cases[i].power, cases[i].used);
        if (!clients_run(&lane, &text, 3))
            break;
        for (unsigned t = 4; t < 60; t++) {
            silent = reads(&lane) == 0 ? silent + 1 : 0;
            total += silent > 0;
            longest = silent > longest ? silent : longest;
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 1, 0);
            CHECK(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker") <= 0);
        }
        CHECK_INT(longest, cases[i].longest);
        CHECK_INT(total, cases[i].longest); /* nothing sleeps: the next rest waits */
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

/* Where nobody asks for long, xe's clients are read in between. */
static void test_keep(void)
{
    struct gtel_buf text;
    struct lane lane;
    struct touches touches = {0};
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "xe", 300);
    if (clients_run(&lane, &text, 2)) {
        lane.fault->watch = count_texts;
        lane.fault->watch_arg = &touches;
        lane_step(&lane, 80000);
        CHECK_INT(touches.texts, 0);
        lane_step(&lane, 200000);
        CHECK(touches.texts >= 2 && touches.texts <= 3);
        lane.fault->watch = NULL;
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"), 1048576, 0);
        for (int i = 0; i < 4; i++) { /* what was done in between is of none of these seconds */
            lane_step(&lane, 1000);
            lane_gather(&lane);
            const struct gtel_reading *busy = lane_find(&lane, GTEL_M_ENGINE_BUSY, "render", NULL);
            CHECK_NEAR(busy ? busy->value.f64 : -1, 0.05, 1e-9);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"), 0.05, 1e-9);
        }
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Nor then what would wake a GPU that has fallen asleep since the gather. */
static void test_keep_asleep(void)
{
    struct gtel_buf text;
    struct lane lane;
    struct touches touches = {0};
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "xe", 2);
    gtel_buf_printf(&text, "at 50s\n" STATUS "suspended\nat 1000s\n");
    if (clients_run(&lane, &text, 2)) {
        lane.fault->watch = count_texts;
        lane.fault->watch_arg = &touches;
        lane_step(&lane, 60000);
        lane_step(&lane, 300000);
        CHECK_INT(touches.texts, 0);
        lane.fault->watch = NULL;
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Time */

static uint64_t slept_ns;

static uint64_t give_slept(void *arg)
{
    (void)arg;
    return slept_ns;
}

/* No share spans a sleep of the host, nor a gap; a late call takes none and spoils none. */
static void test_spans(void)
{
    static const struct {
        unsigned step_ms;
        uint64_t slept_s;
        double share;
    } steps[] = {{1000, 0, 0.05}, {1000, 0, 0.05},  {1000, 600, -1},  {1000, 600, 0.05},
                 {50, 600, -1},   {950, 600, 0.05}, {20000, 600, -1}, {1000, 600, 0.05}};
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "i915", 40);
    if (clients_run(&lane, &text, 0)) {
        struct gtel_env_ops ops = *lane.fault->env.ops;
        ops.suspended_ns = give_slept;
        lane.fault->env.ops = &ops;
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            char label[32];
            (void)snprintf(label, sizeof(label), "step %u", (unsigned)i);
            test_label = label;
            slept_ns = steps[i].slept_s * 1000000000;
            lane_step(&lane, steps[i].step_ms);
            lane_gather(&lane);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"), steps[i].share,
                       1e-9);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "worker"), 1048576, 0);
        }
        lane_done(&lane);
    }
    slept_ns = 0;
    test_label = "";
    gtel_buf_done(&text);
}

/* The count of a client is of the interval in which its process began; otherwise it has no share
 * yet, and no sum is treated as that of the GPU. */
static void test_births(void)
{
    static const struct {
        const char *label;
        unsigned start; /* ticks; gathers are at 200, 300 and 400 */
        unsigned ns;
        double share;
    } births[] = {
        {"in the interval", 350, 300000000, 0.3},
        {"in the interval before", 250, 300000000, -1},
        {"in the future: another clock", 4000, 300000000, -1},
        {"in the interval, with more than it can have done", 350, 1500000000, -1},
        {"long ago, but has done nothing", 10, 0, 0},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(births) / sizeof(births[0]); i++) {
        struct lane lane;
        double share = births[i].share;
        test_label = births[i].label;
        put_machine(&text, "i915", 2);
        gtel_buf_printf(&text, "at 3s\n");
        clients_text(&text, (struct clients_client){700, 5, 0, "i915", 9}, 3);
        clients_process(&text, 900, "newcomer", births[i].start);
        clients_fd(&text, 900, 3, 0);
        gtel_buf_printf(&text,
                        "| drm-driver:\ti915\n| drm-client-id:\t10\n| drm-pdev:\t%s\n"
                        "| drm-engine-render:\t%u ns\n| drm-engine-video:\t0 ns\n"
                        "| drm-engine-capacity-video:\t2\n",
                        card0, births[i].ns);
        if (!clients_run(&lane, &text, 3))
            break;
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "newcomer"), share, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"),
                   share < 0 ? -1 : 0.05 + share, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 2, 0);
        /* The next sum stands for its own interval only. The worker's text stays as it is. */
        lane_step(&lane, 1000);
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "newcomer"), 0, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), 0, 1e-9);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

/* Coming and going */

/* A card that leaves is gone immediately; one that comes is found with its first client. */
static void test_comes_and_goes(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "i915", 2);
    gtel_buf_printf(&text, "at 3s\ngone sys/devices/0000:01:00.0\ngone sys/class/drm/card0\n"
                           "gone sys/class/drm/renderD128\nfile proc/700/fdinfo/5\n| pos:\t0\n"
                           "at 4s\n");
    clients_card(&text, 1, "i915");
    clients_process(&text, 710, "second", 350);
    clients_fd(&text, 710, 4, 1);
    clients_text(&text, (struct clients_client){710, 4, 1, "i915", 1}, 0);
    gtel_buf_printf(&text, "at 5s\n");
    clients_text(&text, (struct clients_client){710, 4, 1, "i915", 1}, 1);
    if (clients_run(&lane, &text, 2)) {
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "worker"), 1, 0);
        lane_step(&lane, 1000);
        lane_gather(&lane);
        const struct gtel_device *gone = lane_device(&lane, card0);
        CHECK(gone && !gone->is_present);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), -1, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "worker"), -1, 0);
        for (int t = 4; t <= 6; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK(lane_device(&lane, card1) != NULL);
        CHECK_NEAR(clients_value(&lane, card1, GTEL_M_PROCESS_COUNT, "second"), 1, 0);
        CHECK_NEAR(clients_value(&lane, card1, GTEL_M_PROCESS_COUNT, "worker"), -1, 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* A driver that is bound again after a while, as another card: there in the first gather after. */
static void test_returns(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "i915", 2);
    gtel_buf_printf(&text,
                    "at 3s\ngone sys/class/drm/card0\ngone sys/class/drm/renderD128\n"
                    "file proc/700/fdinfo/5\n| pos:\t0\n"
                    "at 8s\nlink sys/class/drm/card1 -> ../../devices/0000:01:00.0/drm/card1\n"
                    "link sys/devices/0000:01:00.0/drm/card1/device -> ../../../0000:01:00.0\n"
                    "link sys/class/drm/renderD129 -> "
                    "../../devices/0000:01:00.0/drm/renderD129\n"
                    "link sys/devices/0000:01:00.0/drm/renderD129/device -> "
                    "../../../0000:01:00.0\n");
    clients_process(&text, 710, "second", 750);
    clients_fd(&text, 710, 4, 1);
    clients_text(&text, (struct clients_client){710, 4, 0, "i915", 9}, 0);
    for (unsigned t = 9; t <= 10; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        clients_text(&text, (struct clients_client){710, 4, 0, "i915", 9}, t - 8);
    }
    if (clients_run(&lane, &text, 7)) {
        const struct gtel_device *device = lane_device(&lane, card0);
        CHECK(device && !device->is_present);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, NULL), -1, 0);
        /* What it has done until it is seen first is more than one interval's: not known. */
        for (unsigned t = 8; t <= 10; t++) {
            double share = t == 8 ? -1 : 0.05;
            lane_step(&lane, 1000);
            lane_gather(&lane);
            CHECK(device && device->is_present);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "second"), 1, 0);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "second"), share, 1e-9);
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), share, 1e-9);
        }
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Its render node comes before its card, which is known in the gather after. */
static void test_returns_in_parts(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "i915", 2);
    gtel_buf_printf(&text,
                    "at 3s\ngone sys/class/drm/card0\ngone sys/class/drm/renderD128\n"
                    "file proc/700/fdinfo/5\n| pos:\t0\n"
                    "at 8s\nlink sys/class/drm/renderD129 -> "
                    "../../devices/0000:01:00.0/drm/renderD129\n"
                    "link sys/devices/0000:01:00.0/drm/renderD129/device -> "
                    "../../../0000:01:00.0\n"
                    "at 8500ms\nlink sys/class/drm/card1 -> ../../devices/0000:01:00.0/drm/card1\n"
                    "link sys/devices/0000:01:00.0/drm/card1/device -> ../../../0000:01:00.0\n");
    clients_process(&text, 710, "second", 750);
    clients_fd(&text, 710, 4, 1);
    clients_text(&text, (struct clients_client){710, 4, 0, "i915", 9}, 0);
    if (clients_run(&lane, &text, 7)) {
        static const char *const cards[] = {"card0", "card1"};
        for (unsigned t = 8; t <= 9; t++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
            const struct gtel_device *device = lane_device(&lane, card0);
            CHECK(device && device->is_present);
            if (device)
                CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_CARD]), cards[t - 8]);
        }
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "second"), 1, 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/*
 * A card that is awake at each check and has slept for half of the 2nd and of the 4th second; a
 * process that begins in the 4th one. Cycles are counted by a clock that slept, too; time is not.
 */
static void test_unseen_sleep(const char *driver, bool is_by_cycles)
{
    static const unsigned suspended_ms[] = {9000, 9000, 9500, 9500, 10000, 10000};
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    test_label = driver;
    put_machine(&text, driver, 0);
    for (unsigned t = 0; t <= 5; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\n", t);
        gtel_buf_printf(&text, "file sys/devices/%s/power/runtime_suspended_time\n| %u\n", card0,
                        suspended_ms[t]);
        clients_text(&text, (struct clients_client){700, 5, 0, driver, 9}, t);
        if (t < 4)
            continue;
        if (t == 4) {
            clients_process(&text, 800, "new", 480);
            clients_fd(&text, 800, 5, 0);
        }
        clients_text(&text, (struct clients_client){800, 5, 0, driver, 10}, t);
    }
    if (!clients_run(&lane, &text, 0))
        return;
    for (unsigned t = 1; t <= 5; t++) {
        bool has_slept = t == 2 || t == 4;
        lane_step(&lane, 1000);
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"),
                   is_by_cycles && has_slept ? -1 : 0.05, 1e-9);
        if (t == 4 && is_by_cycles)
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "new"), -1, 0);
        if (t == 5)
            CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "new"), 0.05, 1e-9);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
    test_label = "";
}

/* What does not change costs no memory. */
static void test_steady(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, "i915", 1);
    if (clients_run(&lane, &text, 20)) {
        alloc_fault_arm(0);
        for (int i = 0; i < 20; i++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK_INT(alloc_fault_count(), 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Each allocation fails in turn: nothing breaks, and all is there some gathers later. */
static void test_memory(void)
{
    struct gtel_buf text;
    bool has_failed = true;
    gtel_buf_init(&text, 1 << 20);
    for (uint64_t k = 1; has_failed; k++) {
        struct lane lane;
        char label[32];
        (void)snprintf(label, sizeof(label), "allocation %u", (unsigned)k);
        test_label = label;
        put_machine(&text, "i915", 20);
        gtel_buf_printf(&text, "end\n");
        gtel_buf_char(&text, '\0');
        if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
            break;
        alloc_fault_arm(k);
        for (int t = 0; t < 18; t++) {
            lane_gather(&lane);
            lane_step(&lane, 1000);
        }
        has_failed = alloc_fault_count() >= k;
        lane_gather(&lane);
        alloc_fault_arm(0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "worker"), 0.05, 1e-9);
        CHECK(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render") > 0);
        CHECK(k > 20 || has_failed);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

int main(void)
{
    test_sight();
    test_unknown_work();
    test_silent();
    test_new_driver();
    test_mi300a();
    test_asleep("xe");
    test_asleep("i915");
    test_wake();
    test_no_hardware();
    test_rest();
    test_keep();
    test_keep_asleep();
    test_spans();
    test_births();
    test_comes_and_goes();
    test_returns();
    test_returns_in_parts();
    test_unseen_sleep("xe", true);
    test_unseen_sleep("i915", false);
    test_steady();
    test_memory();
    return test_result();
}
