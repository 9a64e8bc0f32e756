/* SPDX-License-Identifier: MIT */
/* Source drm_clients on small machines whose numbers are known, where others count wrongly. */
#include "harness/client_machine.h"
#include "harness/test.h"

#include <stdio.h>

static const char card0[] = "0000:01:00.0";
static const char card1[] = "0000:02:00.0";

enum { OPENS = 2, SECONDS = 3 };

struct layout {
    const char *label;
    const char *driver;
    unsigned cards;
    unsigned processes; /* each has two clients of one card, and a second descriptor of the first */
    bool has_children;  /* each has a child with the same descriptors */
};

static unsigned pid_of(unsigned process, bool is_child)
{
    return (is_child ? 2000 : 1000) + process;
}

/* All descriptors of a process, or their texts at a later time. */
static void put_process(struct gtel_buf *text, const struct layout *layout, unsigned process,
                        bool is_child, unsigned second)
{
    const unsigned pid = pid_of(process, is_child);
    const unsigned card = process % layout->cards;
    for (unsigned i = 0; i <= OPENS; i++) {
        unsigned id = 10 + process * OPENS + (i < OPENS ? i : 0);
        if (second == 0)
            clients_fd(text, pid, 3 + i, card);
        clients_text(text, (struct clients_client){pid, 3 + i, card, layout->driver, id}, second);
    }
}

static void put_machine(struct gtel_buf *text, const struct layout *layout)
{
    char name[16];
    clients_begin(text);
    for (unsigned c = 0; c < layout->cards; c++)
        clients_card(text, c, layout->driver);
    for (unsigned p = 0; p < layout->processes; p++)
        for (int child = 0; child <= (layout->has_children ? 1 : 0); child++) {
            (void)snprintf(name, sizeof(name), "%s%u", child ? "child" : "gpu", p);
            clients_process(text, pid_of(p, child), name, 10);
        }
    for (unsigned t = 0; t <= SECONDS; t++) {
        if (t > 0)
            gtel_buf_printf(text, "at %us\n", t);
        for (unsigned p = 0; p < layout->processes; p++)
            for (int child = 0; child <= (layout->has_children ? 1 : 0); child++)
                put_process(text, layout, p, child, t);
    }
}

static const struct layout layouts[] = {
    {"i915: 10 % and 2 MiB a process, 50 % and 10 MiB in all", "i915", 1, 5, false},
    {"the same, each with a child that has its descriptors", "i915", 1, 5, true},
    {"xe: 20 % and 4 MiB a card", "xe", 2, 4, false},
    {"xe with children", "xe", 2, 4, true},
    {"amdgpu with children: 20 % and 4 MiB a card", "amdgpu", 2, 4, true},
};

static void check_card(const struct lane *lane, const struct layout *layout, const char *card)
{
    const double each = 0.05 * OPENS;
    const unsigned processes = layout->processes / layout->cards; /* they divide evenly */
    bool is_i915 = strcmp(layout->driver, "i915") == 0;
    CHECK_NEAR(clients_value(lane, card, GTEL_M_GPU_PROCESSES, NULL), processes, 0);
    CHECK_NEAR(clients_sum(lane, card, GTEL_M_PROCESS_RENDER), each * processes, 1e-9);
    CHECK_NEAR(clients_sum(lane, card, GTEL_M_PROCESS_BUSY), each * processes, 1e-9);
    CHECK_NEAR(clients_sum(lane, card, GTEL_M_PROCESS_MEMORY), OPENS * 1048576.0 * processes, 0);
    /* two video engines: 2.5 % a client */
    CHECK_NEAR(clients_sum(lane, card, GTEL_M_PROCESS_VIDEO), is_i915 ? each / 2 * processes : 0,
               1e-9);
    /* The GPU: the sum of its clients. */
    CHECK_NEAR(clients_value(lane, card, GTEL_M_ENGINE_BUSY, "render"), each * processes, 1e-9);
    CHECK_NEAR(clients_value(lane, card, GTEL_M_ENGINE_BUSY, "video"),
               is_i915 ? each / 2 * processes : -1, 1e-9);
}

static void test_layouts(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        const struct layout *layout = &layouts[i];
        struct lane lane;
        test_label = layout->label;
        put_machine(&text, layout);
        if (!clients_run(&lane, &text, SECONDS))
            break;
        check_card(&lane, layout, card0);
        if (layout->cards > 1)
            check_card(&lane, layout, card1);
        for (unsigned p = 0; p < layout->processes; p++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "gpu%u", p);
            const char *card = p % layout->cards == 0 ? card0 : card1;
            CHECK_NEAR(clients_value(&lane, card, GTEL_M_PROCESS_RENDER, name), 0.1, 1e-9);
            CHECK_NEAR(clients_value(&lane, card, GTEL_M_PROCESS_MEMORY, name), 2 * 1048576.0, 0);
            CHECK_NEAR(clients_value(&lane, card, GTEL_M_PROCESS_COUNT, name), 1, 0);
        }
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "child0"), -1, 0);
        CHECK_INT(lane.fault->logs[GTEL_LOG_WARNING], 0);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
    test_label = "";
}

/* 800 clients of 0.1 % each are 80 % of the GPU: nothing is cut to whole percents. */
static void test_tiny(void)
{
    enum { TINY = 400 };
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 8 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    for (unsigned p = 0; p < TINY; p++)
        clients_process(&text, 1000 + p, "tiny", 10);
    for (unsigned t = 0; t <= SECONDS; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\n", t);
        for (unsigned p = 0; p < TINY * 2; p++) {
            const unsigned pid = 1000 + p / 2;
            const unsigned fd = 3 + p % 2;
            if (t == 0)
                clients_fd(&text, pid, fd, 0);
            gtel_buf_printf(&text,
                            "file proc/%u/fdinfo/%u\n| drm-driver:\ti915\n| drm-client-id:\t%u\n"
                            "| drm-pdev:\t%s\n| drm-engine-render:\t%u ns\n",
                            pid, fd, 1 + p, card0, 7000000 + t * 1000000);
        }
    }
    if (clients_run(&lane, &text, SECONDS)) {
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_RENDER, "tiny"), 0.8, 1e-9);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "tiny"), TINY, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), TINY, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), 0.8, 1e-9);
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

/* Our own process is not in the list, whatever it has open. */
static void test_self(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_process(&text, 4242, "gtel", 5);
    clients_process(&text, 700, "other-one", 5);
    for (unsigned t = 0; t <= 1; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\n", t);
        else
            clients_fd(&text, 4242, 9, 0);
        clients_text(&text, (struct clients_client){4242, 9, 0, "i915", 77}, t);
    }
    if (clients_run(&lane, &text, 1)) {
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_GPU_PROCESSES, NULL), 0, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_PROCESS_COUNT, "gtel"), -1, 0);
        CHECK_NEAR(clients_value(&lane, card0, GTEL_M_ENGINE_BUSY, "render"), -1, 0);
        const struct gtel_reading *visible =
            lane_find(&lane, GTEL_M_SELF_PROCESSES_VISIBLE, NULL, NULL);
        CHECK(visible && visible->value.u64 == 2); /* init and the other one */
        lane_done(&lane);
    }
    gtel_buf_done(&text);
}

int main(void)
{
    test_layouts();
    test_tiny();
    test_self();
    return test_result();
}
