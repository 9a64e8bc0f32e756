/* SPDX-License-Identifier: MIT */
/* Source drm_clients beside work that no text of a client reports: ROCm, user-mode queues. */
#include "harness/alloc_fault.h"
#include "harness/client_machine.h"
#include "harness/test.h"

static const char amdgpu[] = "0000:01:00.0";
static const char i915[] = "0000:02:00.0";

#define KFD "sys/class/kfd/kfd/"

enum { NONE, ITS_OWN, ALL, GRAPHICS_TOO }; /* whose shares are not known */

static const struct {
    const char *label;
    const char *text;
    int hidden;
} cases[] = {
    {"no KFD", "", NONE},
    {"nobody uses it", "file " KFD "topology/generation_id\n| 1\n", NONE},
    {"a process", "file " KFD "proc/700/pasid\n| 0\n", ITS_OWN},
    {"another process", "file " KFD "proc/5/pasid\n| 0\n", NONE},
    {"not to be listed", "refuse " KFD "proc EACCES\n", ALL},
    {"in a container", "file " KFD "proc/5/pasid\n| 0\nlink proc/self/ns/pid -> pid:[4026532299]\n",
     ALL},
    {"user-mode queues by default", "file sys/module/amdgpu/parameters/user_queue\n| -1\n", NONE},
    {"no user-mode queues", "file sys/module/amdgpu/parameters/user_queue\n| 0\n", NONE},
    {"user-mode queues", "file sys/module/amdgpu/parameters/user_queue\n| 1\n", GRAPHICS_TOO},
};

/* A process with clients of both cards: 5 % of the main engine, and the first one 1 % of others. */
static void put_clients(struct gtel_buf *text, unsigned pid, unsigned second)
{
    clients_text(text, (struct clients_client){pid, 5, 0, "amdgpu", pid}, second);
    gtel_buf_printf(text, "| drm-engine-compute:\t%u ns\n| drm-engine-dec:\t%u ns\n",
                    10000000 * (second + 1), 10000000 * (second + 1));
    clients_text(text, (struct clients_client){pid, 6, 1, "i915", pid}, second);
}

static void put_machine(struct gtel_buf *text, const char *kfd)
{
    clients_begin(text);
    clients_card(text, 0, "amdgpu");
    clients_card(text, 1, "i915");
    for (unsigned pid = 700; pid <= 701; pid++) {
        clients_process(text, pid, pid == 700 ? "first" : "second", 50);
        clients_fd(text, pid, 5, 0);
        clients_fd(text, pid, 6, 1);
    }
    gtel_buf_printf(text, "%s", kfd);
    for (unsigned t = 0; t <= 3; t++) {
        if (t > 0)
            gtel_buf_printf(text, "at %us\n", t);
        put_clients(text, 700, t);
        put_clients(text, 701, t);
    }
}

static void check_process(const struct lane *lane, const char *name, bool is_hidden,
                          bool is_graphics_hidden)
{
    CHECK_NEAR(clients_value(lane, amdgpu, GTEL_M_PROCESS_RENDER, name),
               is_graphics_hidden ? -1 : 0.05, 1e-9);
    CHECK_NEAR(clients_value(lane, amdgpu, GTEL_M_PROCESS_COMPUTE, name), is_hidden ? -1 : 0.01,
               1e-9);
    CHECK_NEAR(clients_value(lane, amdgpu, GTEL_M_PROCESS_DECODE, name), 0.01, 1e-9);
    CHECK_NEAR(clients_value(lane, amdgpu, GTEL_M_PROCESS_BUSY, name), is_hidden ? -1 : 0.05, 1e-9);
    /* The other driver has nothing to do with it. */
    CHECK_NEAR(clients_value(lane, i915, GTEL_M_PROCESS_BUSY, name), 0.05, 1e-9);
}

static bool has_engines(const struct lane *lane, const char *device)
{
    for (size_t i = 0; i < lane->group.batch.n; i++) {
        const struct gtel_reading *reading = &lane->group.batch.reading[i];
        if (reading->device && strcmp(reading->device->key, device) == 0 &&
            gtel_metric_row((enum gtel_metric)reading->metric)->measurement ==
                GTEL_MEASUREMENT_GPU_ENGINE)
            return true;
    }
    return false;
}

static void test_cases(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lane lane;
        int hidden = cases[i].hidden;
        bool has_any = hidden != NONE || strstr(cases[i].text, "proc/5");
        bool is_container = strstr(cases[i].text, "4026532299") != NULL;
        test_label = cases[i].label;
        put_machine(&text, cases[i].text);
        if (!clients_run(&lane, &text, 3))
            break;
        check_process(&lane, "first", hidden != NONE, hidden == GRAPHICS_TOO);
        check_process(&lane, "second", hidden >= ALL, hidden == GRAPHICS_TOO);
        CHECK(has_engines(&lane, amdgpu) == !has_any);
        CHECK(has_engines(&lane, i915) == !is_container);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

/* More than are remembered: any process may be one of them. */
static void test_many(void)
{
    struct gtel_buf text;
    struct gtel_buf kfd;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    gtel_buf_init(&kfd, 1 << 20);
    for (unsigned pid = 10000; pid < 12100; pid++)
        gtel_buf_printf(&kfd, "file " KFD "proc/%u/pasid\n| 0\n", pid);
    gtel_buf_char(&kfd, '\0');
    put_machine(&text, kfd.p);
    if (clients_run(&lane, &text, 3)) {
        check_process(&lane, "first", true, false);
        CHECK(!has_engines(&lane, amdgpu));
        lane_done(&lane);
    }
    gtel_buf_done(&text);
    gtel_buf_done(&kfd);
}

/* No memory for what a process that begins uses: then any client may be its own. */
static void test_no_memory(void)
{
    unsigned hidden = 0;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    test_label = "no memory";
    for (uint64_t fail_at = 1, last = 1; fail_at <= last; fail_at++) {
        struct lane lane;
        put_machine(&text, "");
        gtel_buf_str(&text, GTEL_STR("at 4s\nfile " KFD "proc/5/pasid\n| 0\n"));
        put_clients(&text, 700, 4);
        put_clients(&text, 701, 4);
        if (!clients_run(&lane, &text, 3))
            break;
        lane_step(&lane, 1000);
        alloc_fault_arm(fail_at);
        lane_gather(&lane);
        last = alloc_fault_count();
        alloc_fault_arm(0);
        hidden += clients_value(&lane, amdgpu, GTEL_M_PROCESS_COMPUTE, "first") < 0 &&
                  clients_value(&lane, amdgpu, GTEL_M_PROCESS_DECODE, "first") > 0;
        lane_done(&lane);
    }
    CHECK_INT(hidden, 1); /* once, and the decoder's share stays */
    test_label = "";
    gtel_buf_done(&text);
}

int main(void)
{
    test_cases();
    test_no_memory();
    test_many();
    return test_result();
}
