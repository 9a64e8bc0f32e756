/* SPDX-License-Identifier: MIT */
/*
 * Source drm_clients where descriptors may not be checked (CAP_SYS_PTRACE alone): whose client a
 * text without an address is says only the name of the driver in it.
 */
#include "harness/client_machine.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

/* A GPU that is no PCI device: card<n>, renderD<128 + n>, its name being <n>.gpu. */
static void put_card(struct gtel_buf *text, unsigned n, const char *driver)
{
    static const char *const nodes[] = {"card", "renderD"};
    const unsigned numbers[] = {n, 128 + n};
    gtel_buf_printf(text, "file sys/devices/%u.gpu/uevent\n| DRIVER=%s\n", n, driver);
    for (size_t i = 0; i < 2; i++)
        gtel_buf_printf(text,
                        "link sys/class/drm/%s%u -> ../../devices/%u.gpu/drm/%s%u\n"
                        "link sys/devices/%u.gpu/drm/%s%u/device -> ../../../%u.gpu\n",
                        nodes[i], numbers[i], n, nodes[i], numbers[i], n, nodes[i], numbers[i], n);
}

/* A client that uses 5 % of an engine. */
static void put_text(struct gtel_buf *text, const char *driver, unsigned second)
{
    gtel_buf_printf(text,
                    "file proc/700/fdinfo/5\n| pos:\t0\n| drm-driver:\t%s\n| drm-client-id:\t3\n"
                    "| drm-engine-gpu:\t%u ns\n| drm-memory-memory:\t1024 KiB\n",
                    driver, 50000000 * second);
}

static void put_machine(struct gtel_buf *text, const char *reported)
{
    clients_process(text, 700, "worker", 50);
    clients_process(text, 701, "other", 50);
    clients_fd(text, 700, 5, 0);
    put_text(text, reported, 1);
    gtel_buf_str(text, GTEL_STR("refuse proc/700/fd EACCES\n"));
    for (unsigned t = 1; t <= 3; t++) {
        gtel_buf_printf(text, "at %us\n", t);
        put_text(text, reported, t + 1);
    }
}

static const struct {
    const char *driver;   /* in sysfs */
    const char *reported; /* in a text */
    bool is_it;
} names[] = {
    {"msm", "msm", true},           {"msm_dpu", "msm", true},  {"msm_mdp", "msm", true},
    {"mdp4", "msm", true},          {"adreno", "msm", true},   {"panthor", "panthor", true},
    {"gpu2040", "gpu2040", true},   {"msm_dpu", "v3d", false}, {"msm_dpu", "msm_dpu", false},
    {"panfrost", "panthor", false},
};

static void test_names(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct lane lane;
        char label[64];
        (void)snprintf(label, sizeof(label), "%s, %s", names[i].driver, names[i].reported);
        test_label = label;
        clients_begin(&text);
        put_card(&text, 0, names[i].driver);
        put_machine(&text, names[i].reported);
        if (!clients_run(&lane, &text, 3))
            break;
        CHECK_NEAR(clients_value(&lane, "0.gpu", GTEL_M_PROCESS_RENDER, "worker"),
                   names[i].is_it ? 0.05 : -1, 1e-9);
        CHECK_NEAR(clients_value(&lane, "0.gpu", GTEL_M_PROCESS_MEMORY, "worker"),
                   names[i].is_it ? 1048576 : -1, 0);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
}

static bool has_finding(struct lane *lane, const char *device)
{
    struct gtel_findings findings = {0};
    bool has = false;
    gtel_group_diagnose(&lane->group, &findings);
    for (size_t i = 0; i < findings.n; i++)
        has = has ||
              (findings.finding[i].device && strcmp(findings.finding[i].device->key, device) == 0 &&
               gtel_str_eq(findings.finding[i].what, GTEL_STR("drm-driver of fdinfo")));
    gtel_findings_done(&findings);
    return has;
}

/* Two GPUs of one driver, and one of another: nothing is said of the two until the client ends. */
static void test_several(void)
{
    struct gtel_buf text;
    struct lane lane;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    put_card(&text, 0, "panfrost");
    put_card(&text, 1, "panfrost");
    put_card(&text, 2, "v3d");
    put_machine(&text, "panfrost");
    gtel_buf_str(&text, GTEL_STR("at 4s\ngone proc/700\n"));
    if (!clients_run(&lane, &text, 0))
        return;
    for (unsigned t = 1; t <= 4; t++) {
        bool is_there = t < 4;
        lane_step(&lane, 1000);
        lane_gather(&lane);
        for (unsigned n = 0; n < 2; n++) {
            const char *key = n == 0 ? "0.gpu" : "1.gpu";
            CHECK_NEAR(clients_value(&lane, key, GTEL_M_GPU_PROCESSES, NULL), is_there ? -1 : 0, 0);
            CHECK_NEAR(clients_value(&lane, key, GTEL_M_PROCESS_COUNT, NULL), -1, 0);
            CHECK(has_finding(&lane, key) == is_there);
        }
        CHECK_NEAR(clients_value(&lane, "2.gpu", GTEL_M_GPU_PROCESSES, NULL), 0, 0);
        CHECK(!has_finding(&lane, "2.gpu"));
    }
    lane_done(&lane);
    gtel_buf_done(&text);
}

/* A card and an accelerator may have the same number: their kinds differ. */
static void test_kinds_of_nodes(void)
{
    struct gtel_buf text;
    struct lane lane;
    test_label = "kinds of nodes";
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    put_card(&text, 0, "v3d");
    gtel_buf_str(&text, GTEL_STR("file sys/devices/7.npu/uevent\n| DRIVER=intel_vpu\n"
                                 "link sys/class/accel/accel0 -> ../../devices/7.npu/accel/accel0\n"
                                 "link sys/devices/7.npu/accel/accel0/device -> ../../../7.npu\n"));
    for (unsigned pid = 700; pid <= 701; pid++) {
        clients_process(&text, pid, pid == 700 ? "draws" : "infers", 50);
        gtel_buf_printf(&text,
                        "char proc/%u/fd/5 %u:0\nfile proc/%u/fdinfo/5\n| drm-driver:\t%s\n"
                        "| drm-client-id:\t%u\n| drm-memory-memory:\t%u KiB\n",
                        pid, pid == 700 ? 226 : 261, pid, pid == 700 ? "v3d" : "intel_vpu", pid,
                        pid == 700 ? 1024 : 2048);
    }
    gtel_buf_str(&text, GTEL_STR("at 5s\n"));
    if (!clients_run(&lane, &text, 2))
        return;
    CHECK_NEAR(clients_value(&lane, "0.gpu", GTEL_M_PROCESS_MEMORY, "draws"), 1048576, 0);
    CHECK_NEAR(clients_value(&lane, "0.gpu", GTEL_M_PROCESS_MEMORY, "infers"), -1, 0);
    CHECK_NEAR(clients_value(&lane, "7.npu", GTEL_M_PROCESS_MEMORY, "infers"), 2097152, 0);
    CHECK_NEAR(clients_value(&lane, "7.npu", GTEL_M_PROCESS_MEMORY, "draws"), -1, 0);
    lane_done(&lane);
    gtel_buf_done(&text);
    test_label = "";
}

/* An idle GPU that its clients' texts keep awake is read each time only where it may be woken. */
static void test_wake(void)
{
    static const char *const wakes[] = {"never", "always"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(wakes); i++) {
        struct gtel_buf text;
        struct lane lane;
        unsigned reads = 0;
        test_label = wakes[i];
        gtel_buf_init(&text, 1 << 20);
        clients_begin(&text);
        clients_card(&text, 0, "xe");
        gtel_buf_str(&text, GTEL_STR("file sys/devices/0000:01:00.0/power/control\n| auto\n"
                                     "file sys/devices/0000:01:00.0/power/autosuspend_delay_ms\n"
                                     "| 1000\n"
                                     "file sys/devices/0000:01:00.0/power/runtime_usage\n| 0\n"));
        clients_process(&text, 700, "worker", 50);
        clients_fd(&text, 700, 5, 0);
        for (unsigned t = 0; t < 20; t++) {
            if (t > 0)
                gtel_buf_printf(&text, "at %us\n", t);
            gtel_buf_printf(&text,
                            "file proc/700/fdinfo/5\n| drm-driver:\txe\n| drm-client-id:\t9\n"
                            "| drm-pdev:\t0000:01:00.0\n| drm-resident-vram0:\t1024 KiB\n"
                            "| drm-cycles-rcs:\t5\n| drm-total-cycles-rcs:\t%u\n",
                            1000 * (t + 1));
        }
        gtel_buf_str(&text, GTEL_STR("end\n"));
        gtel_buf_char(&text, '\0');
        if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
            return;
        lane_set(&lane, GTEL_O_WAKE, wakes[i]);
        for (unsigned t = 0; t < 20; t++) {
            lane_gather(&lane);
            reads += clients_value(&lane, "0000:01:00.0", GTEL_M_PROCESS_MEMORY, "worker") > 0;
            lane_step(&lane, 1000);
        }
        CHECK((reads == 20) == (i == 1));
        CHECK(reads >= 2);
        lane_done(&lane);
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* A text that names a GPU which nobody has heard of: it is found in the same gather. */
static void test_new_gpu(void)
{
    struct gtel_buf text;
    struct lane lane;
    test_label = "a new GPU";
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    for (unsigned t = 1; t <= 4; t++) {
        gtel_buf_printf(&text, "at %us\n", t);
        if (t == 2)
            clients_card(&text, 1, "i915");
        if (t == 4)
            clients_card(&text, 2, "i915");
        if (t % 2 != 0)
            continue;
        clients_process(&text, 700 + t, t == 2 ? "second" : "third", 50);
        clients_fd(&text, 700 + t, 5, t / 2);
        clients_text(&text, (struct clients_client){700 + t, 5, t / 2, "i915", t}, t);
    }
    gtel_buf_str(&text, GTEL_STR("end\n"));
    gtel_buf_char(&text, '\0');
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1h");
    for (unsigned t = 0; t <= 4; t++) {
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, "0000:02:00.0", GTEL_M_PROCESS_MEMORY, "second"),
                   t < 2 ? -1 : 1048576, 0);
        CHECK_NEAR(clients_value(&lane, "0000:03:00.0", GTEL_M_PROCESS_MEMORY, "third"),
                   t < 4 ? -1 : 1048576, 0);
        lane_step(&lane, 1000);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
    test_label = "";
}

/* A card that cannot be read is searched for soon, then less and less often, until it can. */
static void test_missed(bool has_render_node)
{
    enum { READABLE = 10, END = 17 };
    struct gtel_buf text;
    struct machine machine;
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_card(&text, 1, "i915");
    clients_process(&text, 700, "worker", 50);
    if (!has_render_node)
        gtel_buf_str(&text, GTEL_STR("gone sys/class/drm/renderD129\n"));
    gtel_buf_printf(&text, "error sys/devices/0000:02:00.0/uevent EIO\nat %ds\n", READABLE);
    clients_card(&text, 1, "i915");
    gtel_buf_printf(&text, "at %ds\nend\n", END + 1);
    gtel_buf_char(&text, '\0');
    if (CHECK(machine_init(&machine, text.p, "drm_clients"))) {
        for (unsigned t = 1; t <= END; t++) {
            bool is_due = t == 1 || t == 2 || t == 4 || t == 8 || t == 16;
            char label[32];
            (void)snprintf(label, sizeof(label), "gather %u", t);
            test_label = label;
            CHECK_INT(machine_gather(&machine), is_due ? -ENODEV : 0);
            const struct gtel_device *device =
                gtel_registry_find(&machine.registry, GTEL_STR("0000:02:00.0"));
            CHECK((device && device->is_present) == (t > 16));
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    gtel_buf_done(&text);
    test_label = "";
}

/* A client that names its node alone stays with its card while that cannot be read. */
static void test_node_of_missed(void)
{
    enum { END = 6 };
    struct gtel_buf text;
    struct lane lane;
    test_label = "a node of a card that is missed";
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_process(&text, 700, "worker", 50);
    clients_fd(&text, 700, 5, 0);
    for (unsigned t = 0; t <= END; t++) {
        if (t > 0)
            gtel_buf_printf(&text, "at %us\n", t);
        if (t == 3)
            gtel_buf_str(&text, GTEL_STR("error sys/devices/0000:01:00.0/uevent EIO\n"));
        gtel_buf_printf(&text,
                        "file proc/700/fdinfo/5\n| pos:\t0\n| drm-driver:\ti915\n"
                        "| drm-client-id:\t9\n| drm-engine-render:\t%u000000 ns\n",
                        1000 + 50 * t);
    }
    gtel_buf_str(&text, GTEL_STR("end\n"));
    gtel_buf_char(&text, '\0');
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1s");
    for (unsigned t = 0; t <= END; t++) {
        lane_gather(&lane);
        CHECK_NEAR(clients_value(&lane, "0000:01:00.0", GTEL_M_PROCESS_RENDER, "worker"),
                   t == 0 ? -1 : 0.05, 1e-9);
        lane_step(&lane, 1000);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
    test_label = "";
}

/* The number of a card becomes that of another GPU: the first one is not there any more. */
static void test_renumbered(void)
{
    struct gtel_buf text;
    struct lane lane;
    test_label = "renumbered";
    gtel_buf_init(&text, 1 << 20);
    clients_begin(&text);
    clients_card(&text, 0, "i915");
    clients_process(&text, 700, "worker", 50);
    clients_fd(&text, 700, 5, 0);
    clients_text(&text, (struct clients_client){700, 5, 0, "i915", 9}, 0);
    gtel_buf_str(&text, GTEL_STR("at 2s\ngone proc/700\ngone sys/class/drm\n"
                                 "file sys/devices/0000:09:00.0/uevent\n| DRIVER=i915\n"
                                 "| PCI_SLOT_NAME=0000:09:00.0\n"));
    for (int i = 0; i < 2; i++) {
        const char *node = i == 0 ? "card0" : "renderD128";
        gtel_buf_printf(&text,
                        "link sys/class/drm/%s -> ../../devices/0000:09:00.0/drm/%s\n"
                        "link sys/devices/0000:09:00.0/drm/%s/device -> ../../../0000:09:00.0\n",
                        node, node, node);
    }
    gtel_buf_str(&text, GTEL_STR("at 4s\nend\n"));
    gtel_buf_char(&text, '\0');
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1s");
    for (unsigned t = 0; t <= 4; t++) {
        lane_gather(&lane);
        lane_step(&lane, 1000);
    }
    const struct gtel_device *before = lane_device(&lane, "0000:01:00.0");
    const struct gtel_device *now = lane_device(&lane, "0000:09:00.0");
    CHECK(before && !before->is_present);
    CHECK(now && now->is_present);
    lane_done(&lane);
    gtel_buf_done(&text);
    test_label = "";
}

int main(void)
{
    test_names();
    test_several();
    test_kinds_of_nodes();
    test_wake();
    test_new_gpu();
    test_missed(true);
    test_missed(false);
    test_node_of_missed();
    test_renumbered();
    return test_result();
}
