/* SPDX-License-Identifier: MIT */
/*
 * Source drm_clients: what is said of a GPU and of a line of processes is what its clients did in
 * the interval of that gather, all of them, or nothing is said.
 *
 * Each machine is a few clients whose counters are given per second; what has to be reported of
 * each interval is worked out by hand beside them.
 */
#include "harness/client_machine.h"
#include "harness/test.h"

#include <stdio.h>

static const char card0[] = "0000:01:00.0";
static const char folder[] = "sys/devices/0000:01:00.0";

enum { SECONDS_MAX = 12 };

/* -1: nothing is reported. */
struct expected {
    double gpu;  /* the share of the render engines */
    double line; /* the same, of the processes called "train" */
};

/* The text of a client of amdgpu: 1 MiB, and so many ms of the graphics engine. */
static void put_ms(struct gtel_buf *text, unsigned pid, unsigned id, unsigned ms)
{
    gtel_buf_printf(text,
                    "file proc/%u/fdinfo/5\n| pos:\t0\n| drm-driver:\tamdgpu\n"
                    "| drm-client-id:\t%u\n| drm-pdev:\t%s\n| drm-memory-vram:\t1024 KiB\n"
                    "| drm-engine-gfx:\t%u000000 ns\n",
                    pid, id, card0, ms);
}

static void put_client(struct gtel_buf *text, unsigned pid, unsigned id, unsigned ms)
{
    clients_fd(text, pid, 5, 0);
    put_ms(text, pid, id, ms);
}

/* A card of amdgpu, and processes since long ago: 700 "train", 800 "viewer". */
static void begin(struct gtel_buf *text)
{
    clients_begin(text);
    clients_card(text, 0, "amdgpu");
    clients_process(text, 700, "train", 10);
    clients_process(text, 800, "viewer", 10);
}

/* Gathers at 0 s, 1 s … and compares those from 1 s on. */
static void check(const char *label, struct gtel_buf *text, const struct expected *expected,
                  size_t n)
{
    struct lane lane;
    char at[80];
    test_label = label;
    if (!clients_run(&lane, text, 0))
        return;
    CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), -1, 0);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(at, sizeof(at), "%s, %u s", label, (unsigned)i + 1);
        test_label = at;
        lane_step(&lane, 1000);
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), expected[i].gpu,
                   1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "train"), expected[i].line,
                   1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY_TIME, NULL), -1, 0);
    }
    lane_done(&lane);
    test_label = "";
}

/* An old process opens a client that has worked for an unknown time before: one gather says
 * nothing, and none afterwards stands for it. */
static void test_unknown_gather(void)
{
    static const unsigned works[][5] = {{10000, 11000, 12000, 12000, 12000},
                                        {10000, 10000, 10000, 11000, 11000}};
    static const struct expected expected[][4] = {{{1, 1}, {-1, 1}, {0, 0}, {0, 0}},
                                                  {{0, 0}, {-1, 0}, {1, 1}, {0, 0}}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        begin(&text);
        put_client(&text, 700, 44, works[i][0]);
        for (unsigned t = 1; t < 5; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            put_ms(&text, 700, 44, works[i][t]);
            if (t == 2)
                put_client(&text, 800, 77, 1);
        }
        check(i == 0 ? "work, then none" : "none, then work", &text, expected[i], 4);
    }
    gtel_buf_done(&text);
}

/* Counters of a driver that is not known here. */
static void test_counters(void)
{
    static const struct {
        const char *label;
        const char *before;
        const char *counter; /* its value is that of the second */
        const char *behind;
        unsigned works[4];
        struct expected expected[3];
    } cases[] = {
        {"time", "", "engine", "00000000 ns\n", {7, 12, 12, 22}, {{0.5, 0.5}, {0, 0}, {1, 1}}},
        {"cycles, and the highest clock: no share of time",
         "| drm-maxfreq-gfx:\t1000 Hz\n",
         "cycles",
         "\n",
         {7, 507, 507, 757},
         {{-1, -1}, {-1, -1}, {-1, -1}}},
        {"cycles alone", "", "cycles", "\n", {7, 507, 507, 757}, {{-1, -1}, {-1, -1}, {-1, -1}}},
        {"all cycles alone",
         "",
         "total-cycles",
         "\n",
         {7, 507, 607, 757},
         {{-1, -1}, {-1, -1}, {-1, -1}}},
        {"some of all cycles",
         "| drm-cycles-gfx:\t7\n",
         "total-cycles",
         "\n",
         {7, 507, 607, 757},
         {{0, 0}, {0, 0}, {0, 0}}},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        clients_begin(&text);
        clients_card(&text, 0, "msm");
        clients_process(&text, 700, "train", 10);
        clients_fd(&text, 700, 5, 0);
        for (unsigned t = 0; t < 4; t++) {
            if (t > 0)
                gtel_buf_printf(&text, "at %us\n", t);
            gtel_buf_printf(&text,
                            "file proc/700/fdinfo/5\n| pos:\t0\n| drm-driver:\tmsm\n"
                            "| drm-client-id:\t7\n| drm-pdev:\t%s\n"
                            "| drm-memory-vram:\t1024 KiB\n%s| drm-%s-gfx:\t%u%s",
                            card0, cases[i].before, cases[i].counter, cases[i].works[t],
                            cases[i].behind);
        }
        check(cases[i].label, &text, cases[i].expected, 3);
    }
    gtel_buf_done(&text);
}

/* The text of a client of a driver that is not known here, by its id: so many ms of its engine. */
static void put_other_ms(struct gtel_buf *text, unsigned pid, unsigned ms)
{
    gtel_buf_printf(text,
                    "file proc/%u/fdinfo/5\n| pos:\t0\n| drm-driver:\tmsm\n| drm-client-id:\t44\n"
                    "| drm-pdev:\t%s\n| drm-engine-gfx:\t%u000000 ns\n",
                    pid, card0, ms);
}

/*
 * One process hands its client on to another. A count that goes on is that of the same client; one
 * that has gone back is of another one with that id, and has a share after the gather that follows.
 */
static void test_new_owner(void)
{
    static const unsigned works[][6] = {{1000, 1500, 2000, 2500, 3000, 3500},
                                        {1000, 1500, 100, 600, 1100, 1600}};
    static const struct expected expected[][5] = {
        {{0.5, -1}, {0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}},
        {{0.5, -1}, {-1, -1}, {-1, -1}, {0.5, 0.5}, {0.5, 0.5}}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        begin(&text);
        clients_card(&text, 0, "msm");
        clients_fd(&text, 800, 5, 0);
        put_other_ms(&text, 800, works[i][0]);
        for (unsigned t = 1; t < 6; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            if (t == 2) {
                gtel_buf_printf(&text, "gone proc/800/fd/5\ngone proc/800/fdinfo/5\n");
                clients_fd(&text, 700, 5, 0);
            }
            put_other_ms(&text, t < 2 ? 800 : 700, works[i][t]);
        }
        check(i == 0 ? "handed on" : "another one", &text, expected[i], 5);
    }
    gtel_buf_done(&text);
}

/* Another GPU sleeps, with clients of its own: this one's are all known. */
static void test_beside_asleep(void)
{
    static const struct expected expected[] = {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    clients_card(&text, 1, "xe");
    clients_fd(&text, 800, 5, 1);
    clients_text(&text, (struct clients_client){800, 5, 1, "xe", 3}, 0);
    put_client(&text, 700, 44, 1000);
    for (unsigned t = 1; t < 4; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        put_ms(&text, 700, 44, 1000 + 500 * t);
        if (t == 1)
            gtel_buf_printf(&text,
                            "file sys/devices/0000:02:00.0/power/runtime_status\n| suspended\n");
    }
    check("beside one that sleeps", &text, expected, 3);
    gtel_buf_done(&text);
}

/* Where init is not seen, others may be hidden, too; but not where this program is init. */
static void test_init(void)
{
    static const struct {
        const char *label;
        const char *text;
        struct expected expected[2];
    } cases[] = {
        {"init is hidden", "gone proc/1\n", {{-1, 0.5}, {-1, 0.5}}},
        {"this program is init",
         "gone proc/1\nfile proc/self/stat\n| 1 (gtel) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 "
         "0\n",
         {{0.5, 0.5}, {0.5, 0.5}}},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        begin(&text);
        gtel_buf_str(&text, gtel_str_of(cases[i].text));
        put_client(&text, 700, 44, 1000);
        for (unsigned t = 1; t < 3; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            put_ms(&text, 700, 44, 1000 + 500 * t);
        }
        check(cases[i].label, &text, cases[i].expected, 2);
    }
    gtel_buf_done(&text);
}

/* A card that was away: nothing of the time before or between is in what is reported after it. */
static void test_away(void)
{
    static const struct expected expected[] = {{0.5, 0.5}, {-1, -1},   {-1, -1},   {-1, -1},
                                               {-1, -1},   {0.9, 0.9}, {0.1, 0.1}, {0, 0}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    put_client(&text, 700, 44, 10000);
    gtel_buf_printf(&text, "at 1s\n");
    put_ms(&text, 700, 44, 10500);
    gtel_buf_printf(&text,
                    "at 2s\ngone sys/class/drm\ngone proc/700/fd/5\ngone proc/700/fdinfo/5\n"
                    "gone %s\nat 5s\n",
                    folder);
    clients_card(&text, 0, "amdgpu");
    put_client(&text, 700, 90, 1);
    gtel_buf_printf(&text, "at 6s\n");
    put_ms(&text, 700, 90, 901);
    gtel_buf_printf(&text, "at 7s\n");
    put_ms(&text, 700, 90, 1001);
    check("away", &text, expected, 8);
    gtel_buf_done(&text);
}

/* The second of two cards goes and comes, without clients: it is there in the first gather then. */
static void test_second_card(void)
{
    enum { GONE = 1, BACK = 6, END = 8 };
    static const char second[] = "0000:02:00.0";
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    put_client(&text, 700, 44, 10000);
    clients_card(&text, 1, "amdgpu");
    gtel_buf_printf(&text,
                    "at %ds\ngone sys/class/drm/card1\ngone sys/class/drm/renderD129\n"
                    "gone sys/devices/%s\nat %ds\n",
                    GONE, second, BACK);
    clients_card(&text, 1, "amdgpu");
    if (!clients_run(&lane, &text, 0))
        return;
    for (int t = 0; t < END; t++) {
        CHECK_NEAR(clients_value(&lane, second, GTEL_M_GPU_PROCESSES, NULL),
                   t < GONE || t >= BACK ? 0 : -1, 0);
        lane_step(&lane, 1000);
        lane_gather(&lane);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
}

/* A card whose clients are not read for two gathers, because it sleeps: what was done in between
 * is of no interval that is reported. */
static void test_unread_gathers(void)
{
    static const struct expected expected[] = {
        {0.5, 0.5}, {-1, -1}, {-1, -1}, {-1, -1}, {0.25, 0.25}};
    static const unsigned per_mille[] = {0, 500, 500, 500, 600, 850};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "xe");
    clients_process(&text, 700, "train", 10);
    clients_fd(&text, 700, 5, 0);
    for (unsigned t = 0; t < 6; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\n", t);
        gtel_buf_printf(&text, "file %s/power/runtime_status\n| %s\n", folder,
                        t == 2 || t == 3 ? "suspended" : "active");
        gtel_buf_printf(&text,
                        "file proc/700/fdinfo/5\n| drm-driver:\txe\n| drm-client-id:\t9\n"
                        "| drm-pdev:\t%s\n| drm-cycles-rcs:\t%u\n| drm-total-cycles-rcs:\t%u\n",
                        card0, 1000000 + per_mille[t] * 19200, 100000000 + t * 19200000);
    }
    check("asleep", &text, expected, 5);
    gtel_buf_done(&text);
}

/* The text of a client of i915 that reports both of its engines, of one, or of none. */
static void put_engines(struct gtel_buf *text, unsigned pid, unsigned id, unsigned render_ms,
                        const char *video)
{
    gtel_buf_printf(text,
                    "file proc/%u/fdinfo/5\n| drm-driver:\ti915\n| drm-client-id:\t%u\n"
                    "| drm-pdev:\t%s\n| drm-resident-local0:\t1 MiB\n%s",
                    pid, id, card0, video);
    if (render_ms > 0)
        gtel_buf_printf(text, "| drm-engine-render:\t%u000000 ns\n", render_ms);
}

/*
 * Two encoders of one card are two engines of one class, and amdgpu reports one when it has
 * worked. The busiest counts: what "train" uses is the same whatever "viewer" does beside it, and
 * video engines are all that is known of this card, so the busiest of them is its headline.
 */
static void test_two_engines(void)
{
    static const struct {
        unsigned train_ms;  /* of enc, in each interval */
        unsigned viewer_ms; /* of enc_1 */
        double device;
    } steps[] = {{800, 0, 0.8}, {800, 400, 0.8}, {200, 400, 0.4}, {0, 0, 0}};
    struct gtel_buf text;
    struct lane lane;
    unsigned train_ms = 5000;
    unsigned viewer_ms = 0;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    clients_fd(&text, 700, 5, 0);
    clients_fd(&text, 800, 5, 0);
    for (unsigned t = 0; t <= GTEL_ARRAY_LEN(steps); t++) {
        if (t > 0) {
            gtel_buf_printf(&text, "at %us\n", t);
            train_ms += steps[t - 1].train_ms;
            viewer_ms += steps[t - 1].viewer_ms;
        }
        gtel_buf_printf(&text,
                        "file proc/700/fdinfo/5\n| drm-driver:\tamdgpu\n| drm-client-id:\t7\n"
                        "| drm-pdev:\t%s\n| drm-engine-enc:\t%u000000 ns\n"
                        "file proc/800/fdinfo/5\n| drm-driver:\tamdgpu\n| drm-client-id:\t8\n"
                        "| drm-pdev:\t%s\n",
                        card0, train_ms, card0);
        if (viewer_ms > 0)
            gtel_buf_printf(&text, "| drm-engine-enc_1:\t%u000000 ns\n", viewer_ms);
    }
    if (!clients_run(&lane, &text, 0))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        lane_step(&lane, 1000);
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_ENCODE, "train"),
                   steps[i].train_ms / 1e3, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_ENCODE, "viewer"),
                   steps[i].viewer_ms / 1e3, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "encode"), steps[i].device,
                   1e-9);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
}

/* Where the chip's VCN is of version 4 or newer, amdgpu's one ring enc decodes, too. */
static void test_one_ring(void)
{
    static const struct {
        const char *label;
        const char *driver;
        int major; /* of VCN; -1: there is no such file */
        bool is_video;
    } cases[] = {{"Vega: no versions", "amdgpu", -1, false},
                 {"VCN 3", "amdgpu", 3, false},
                 {"VCN 4", "amdgpu", 4, true},
                 {"VCN 5", "amdgpu", 5, true},
                 {"another driver", "xe", 5, false}};
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        clients_begin(&text);
        clients_card(&text, 0, cases[i].driver);
        clients_process(&text, 700, "train", 10);
        clients_fd(&text, 700, 5, 0);
        if (cases[i].major >= 0)
            gtel_buf_printf(&text, "file %s/ip_discovery/die/0/12/0/major\n| %d\n", folder,
                            cases[i].major);
        for (unsigned t = 0; t < 2; t++)
            gtel_buf_printf(&text,
                            "%sfile proc/700/fdinfo/5\n| drm-driver:\t%s\n| drm-client-id:\t7\n"
                            "| drm-pdev:\t%s\n| drm-engine-enc:\t%u000000 ns\n",
                            t > 0 ? "at 1s\n" : "", cases[i].driver, card0, 5000 + t * 250);
        if (!clients_run(&lane, &text, 1))
            return;
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_VIDEO, "train"),
                   cases[i].is_video ? 0.25 : -1, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_ENCODE, "train"),
                   cases[i].is_video ? -1 : 0.25, 1e-9);
        CHECK_NEAR(
            clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, cases[i].is_video ? "video" : "encode"),
            0.25, 1e-9);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

#define VIDEO "| drm-engine-video:\t0 ns\n"

/*
 * A driver that reports each engine of each client leaves one out for some gathers: it may have
 * worked. What it did meanwhile is of no interval that is reported later. The viewer is idle and
 * reports both engines, but in the last case, where it omits one that another client
 * reports.
 */
static void test_omitted(void)
{
    static const struct {
        const char *label;
        unsigned render_ms[7]; /* of "train"; 0: omitted */
        const char *train;     /* the other engine of each; omitted as well with its own render */
        const char *viewer;
        struct expected expected[6];
    } cases[] = {
        {"for four gathers",
         {10000, 10100, 0, 0, 0, 0, 10600},
         VIDEO,
         VIDEO,
         {{0.1, 0.1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}},
        {"for one",
         {10000, 10100, 10200, 0, 10400, 10600, 10700},
         VIDEO,
         VIDEO,
         {{0.1, 0.1}, {0.1, 0.1}, {-1, -1}, {-1, -1}, {0.2, 0.2}, {0.1, 0.1}}},
        {"switched off",
         {10000, 10100, 0, 0, 0, 0, 0},
         "",
         "",
         {{0.1, 0.1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}},
        {"by one client only",
         {10000, 10100, 10200, 10300, 10400, 10500, 10600},
         "",
         VIDEO,
         {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}},
        {"by another client only",
         {10000, 10100, 10200, 10300, 10400, 10500, 10600},
         VIDEO,
         "",
         {{-1, 0.1}, {-1, 0.1}, {-1, 0.1}, {-1, 0.1}, {-1, 0.1}, {-1, 0.1}}},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        clients_begin(&text);
        clients_card(&text, 0, "i915");
        clients_process(&text, 700, "train", 10);
        clients_process(&text, 800, "viewer", 10);
        clients_fd(&text, 700, 5, 0);
        clients_fd(&text, 800, 5, 0);
        for (unsigned t = 0; t < 7; t++) {
            if (t > 0)
                gtel_buf_printf(&text, "at %us\n", t);
            put_engines(&text, 700, 45, cases[i].render_ms[t],
                        cases[i].render_ms[t] > 0 ? cases[i].train : "");
            put_engines(&text, 800, 46, 1000, cases[i].viewer);
        }
        check(cases[i].label, &text, cases[i].expected, 6);
    }
    gtel_buf_done(&text);
}

/* Two processes of one name, and one of another; a text cannot be read, or a client is new. */
struct gather {
    double count;  /* processes of the line "train" */
    double memory; /* MiB */
    double busy;   /* of that line */
    double gpu;
    uint64_t failed;
};

static void check_line(const char *label, struct gtel_buf *text, const struct gather *want,
                       size_t n)
{
    struct lane lane;
    char at[80];
    test_label = label;
    if (!clients_run(&lane, text, 0))
        return;
    for (size_t i = 0; i < n; i++) {
        double memory = want[i].memory > 0 ? want[i].memory * 1048576 : want[i].memory;
        (void)snprintf(at, sizeof(at), "%s, %u s", label, (unsigned)i + 1);
        test_label = at;
        lane_step(&lane, 1000);
        lane_gather(&lane);
        const struct gtel_device *device = lane_device(&lane, card0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "train"), want[i].count, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY, "train"), memory, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_MEMORY_VRAM, "train"), memory, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "train"), want[i].busy, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_BUSY, "train"), want[i].busy, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), want[i].gpu, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "viewer"), 0.01, 1e-9);
        if (CHECK(device))
            CHECK_INT(lane.group.batch.failed[device->index], want[i].failed);
    }
    lane_done(&lane);
    test_label = "";
}

/* 700 works at 90 %, 701 at 1 %; at 2 s (and 3 s) the text of 700 cannot be read. */
static void test_unread_client(void)
{
    static const struct gather once[] = {{2, 2, 0.91, 0.92, 0},
                                         {2, -1, -1, -1, 1},
                                         {2, 2, -1, -1, 0}, /* two seconds' work */
                                         {2, 2, 0.91, 0.92, 0}};
    static const struct gather twice[] = {{2, 2, 0.91, 0.92, 0},
                                          {2, -1, -1, -1, 1},
                                          {2, -1, -1, -1, 1},
                                          {2, 2, -1, -1, 0},
                                          {2, 2, 0.91, 0.92, 0}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (unsigned last = 2; last <= 3; last++) {
        begin(&text);
        clients_process(&text, 701, "train", 10);
        for (unsigned t = 0; t <= 5; t++) {
            if (t == 0)
                for (unsigned pid = 700; pid <= 800; pid += pid == 700 ? 1 : 99)
                    clients_fd(&text, pid, 5, 0);
            else
                gtel_buf_printf(&text, "at %us\n", t);
            if (t >= 2 && t <= last)
                gtel_buf_printf(&text, "error proc/700/fdinfo/5 EAGAIN\n");
            else
                put_ms(&text, 700, 45, 1000 + t * 900);
            put_ms(&text, 701, 46, 1000 + t * 10);
            put_ms(&text, 800, 47, 1000 + t * 10);
        }
        check_line(last == 2 ? "unread once" : "unread twice", &text, last == 2 ? once : twice,
                   last == 2 ? 4 : 5);
    }
    gtel_buf_done(&text);
}

/* A process opens a second client that has done 0.9 s by the next gather: how much of that is of
 * this interval is not known, nor how busy the process was. */
static void test_second_client(void)
{
    static const struct gather want[] = {{1, 1, 0, 0.01, 0}, {1, 2, -1, -1, 0}, {1, 2, 0, 0.01, 0}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    put_client(&text, 700, 45, 1000);
    put_client(&text, 800, 47, 1000);
    for (unsigned t = 1; t <= 3; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        put_ms(&text, 800, 47, 1000 + t * 10);
        if (t == 2)
            gtel_buf_printf(&text,
                            "char proc/700/fd/6 226:128\nfile proc/700/fdinfo/6\n"
                            "| drm-driver:\tamdgpu\n| drm-client-id:\t46\n| drm-pdev:\t%s\n"
                            "| drm-memory-vram:\t1024 KiB\n| drm-engine-gfx:\t900000000 ns\n",
                            card0);
    }
    check_line("a second client", &text, want, 3);
    gtel_buf_done(&text);
}

/* A new client whose text cannot be read: how busy the GPU was is not known. */
static void test_unread_newcomer(void)
{
    static const struct expected expected[] = {{0.1, 0.1}, {-1, 0.1}, {-1, 0.1}, {0.15, 0.1}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    put_client(&text, 700, 45, 1000);
    for (unsigned t = 1; t <= 4; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        put_ms(&text, 700, 45, 1000 + t * 100);
        if (t == 2)
            gtel_buf_printf(&text, "char proc/800/fd/5 226:128\n"
                                   "error proc/800/fdinfo/5 EAGAIN\n");
        if (t >= 3)
            put_ms(&text, 800, 46, t * 50);
    }
    check("an unread newcomer", &text, expected, 4);
    struct lane lane;
    if (CHECK(lane_init_in(&lane, "clients", text.p, ""))) {
        for (unsigned t = 0; t <= 4; t++) {
            lane_gather(&lane);
            CHECK_INT(lane.group.batch.failed[lane_device(&lane, card0)->index], t == 2);
            lane_step(&lane, 1000);
        }
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* A counter goes back and catches up: what was done in these two intervals is not known. */
static void test_back(void)
{
    static const unsigned ms[] = {1000, 1500, 1400, 1800, 1900, 1900};
    static const struct expected expected[] = {{0.5, 0.5}, {-1, -1}, {-1, -1}, {0.1, 0.1}, {0, 0}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    begin(&text);
    put_client(&text, 700, 45, ms[0]);
    for (unsigned t = 1; t <= 5; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        put_ms(&text, 700, 45, ms[t]);
    }
    check("goes back", &text, expected, 5);
    gtel_buf_done(&text);
}

/*
 * A client that is gone takes what it did since the last gather with it. One that worked till then
 * may have gone on; of one that had nothing to do that is not supposed.
 */
static void test_gone(void)
{
    static const struct {
        const char *label;
        unsigned ms[3]; /* of "train" at 0 s, 1 s, 2 s; it is gone before 3 s */
        const char *how;
        struct expected expected[5];
    } cases[] = {
        {"the process ends",
         {1000, 1000, 2000},
         "gone proc/700\n",
         {{0.01, 0}, {1.0, 1.0}, {-1, -1}, {0.01, -1}, {0.01, -1}}},
        {"the descriptor is closed",
         {1000, 1000, 1001},
         "gone proc/700/fd/5\ngone proc/700/fdinfo/5\n",
         {{0.01, 0}, {0.011, 0.001}, {-1, -1}, {0.01, -1}, {0.01, -1}}},
        {"it did nothing",
         {1000, 2000, 2000},
         "gone proc/700\n",
         {{1.0, 1.0}, {0.01, 0}, {0.01, -1}, {0.01, -1}, {0.01, -1}}},
        {"what it did was not known",
         {1000, 1500, 1200},
         "gone proc/700\n",
         {{0.51, 0.5}, {-1, -1}, {-1, -1}, {0.01, -1}, {0.01, -1}}},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(&text);
        put_client(&text, 700, 45, cases[i].ms[0]);
        put_client(&text, 800, 47, 1000);
        for (unsigned t = 1; t <= 5; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            put_ms(&text, 800, 47, 1000 + t * 10);
            if (t <= 2)
                put_ms(&text, 700, 45, cases[i].ms[t]);
            if (t == 2)
                gtel_buf_printf(&text, "at 2950ms\n%s", cases[i].how);
        }
        check(cases[i].label, &text, cases[i].expected, 5);
    }
    gtel_buf_done(&text);
}

/*
 * A client can come behind a descriptor that an old process has opened before, in place of another
 * one. Where the kernel does not report how many a process has, that is not seen immediately when
 * it opens one more, either, and the sums are not those of the GPU.
 */
static void test_numbers(void)
{
    static const struct {
        const char *release;
        struct expected expected[2];
    } cases[] = {{"6.1.0-26-amd64", {{-1, 0.1}, {-1, 0.1}}}, {"6.2.0", {{0.1, 0.1}, {0.1, 0.1}}}};
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        begin(&text);
        gtel_buf_printf(&text, "file proc/sys/kernel/osrelease\n| %s\n", cases[i].release);
        put_client(&text, 700, 45, 1000);
        for (unsigned t = 1; t <= 2; t++) {
            gtel_buf_printf(&text, "at %us\n", t);
            put_ms(&text, 700, 45, 1000 + t * 100);
        }
        check(cases[i].release, &text, cases[i].expected, 2);
    }
    gtel_buf_done(&text);
}

/*
 * While virtual functions are on, guests use the GPU, and no process here is theirs; nor is it
 * known while the file that says so cannot be opened (-1), or has no number (-2).
 */
static void test_functions(void)
{
    static const struct {
        const char *label;
        int functions[6];
        struct expected expected[5];
    } cases[] = {
        {"virtual functions",
         {0, 0, 2, 2, 0, 0},
         {{0.1, 0.1}, {-1, 0.1}, {-1, 0.1}, {-1, 0.1}, {0.1, 0.1}}},
        {"perhaps some",
         {-1, -1, -1, 0, 0, 0},
         {{-1, 0.1}, {-1, 0.1}, {-1, 0.1}, {0.1, 0.1}, {0.1, 0.1}}},
        {"one virtual function",
         {1, 0, 0, 0, 1, 1},
         {{-1, 0.1}, {0.1, 0.1}, {0.1, 0.1}, {-1, 0.1}, {-1, 0.1}}},
        {"no number of them",
         {-2, -2, 0, 0, -2, 0},
         {{-1, 0.1}, {-1, 0.1}, {0.1, 0.1}, {-1, 0.1}, {-1, 0.1}}},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        begin(&text);
        put_client(&text, 700, 45, 1000);
        for (unsigned t = 0; t <= 5; t++) {
            int functions = cases[i].functions[t];
            if (t > 0)
                gtel_buf_printf(&text, "at %us\n", t);
            if (functions == -1)
                gtel_buf_printf(&text, "refuse %s/sriov_numvfs EACCES\n", folder);
            if (functions == -2)
                gtel_buf_printf(&text, "file %s/sriov_numvfs\n| some\n", folder);
            if (functions >= 0 && t > 0 && cases[i].functions[t - 1] == -1)
                gtel_buf_printf(&text, "gone %s/sriov_numvfs\n", folder);
            if (functions >= 0)
                gtel_buf_printf(&text, "file %s/sriov_numvfs\n| %d\n", folder, functions);
            put_ms(&text, 700, 45, 1000 + t * 100);
        }
        check(cases[i].label, &text, cases[i].expected, 5);
    }
    gtel_buf_done(&text);
}

int main(void)
{
    test_unknown_gather();
    test_counters();
    test_new_owner();
    test_beside_asleep();
    test_init();
    test_two_engines();
    test_one_ring();
    test_away();
    test_second_card();
    test_unread_gathers();
    test_omitted();
    test_unread_client();
    test_second_client();
    test_unread_newcomer();
    test_back();
    test_gone();
    test_numbers();
    test_functions();
    return test_result();
}
