/* SPDX-License-Identifier: MIT */
/* Source drm_clients: what KFD has of the processes of ROCm. */
#include "harness/client_machine.h"
#include "harness/test.h"

#include <errno.h>
#include <string.h>

static const char first_gpu[] = "0000:01:00.0";
static const char second_gpu[] = "0000:02:00.0";

#define KFD "sys/class/kfd/kfd/"
#define NODE(n, id, place)                                                                         \
    "file " KFD "topology/nodes/" n "/gpu_id\n| " id "\n"                                          \
    "file " KFD "topology/nodes/" n "/properties\n| simd_count 96\n| location_id " place "\n"
/* A processor, the first GPU, the second one in two partitions. */
#define NODES                                                                                      \
    NODE("0", "0", "0") NODE("1", "77", "256") NODE("2", "88", "512") NODE("3", "89", "268435968")
#define VRAM(pid, id, bytes) "file " KFD "proc/" pid "/vram_" id "\n| " bytes "\n"
#define STATS(pid, id, name, value) "file " KFD "proc/" pid "/stats_" id "/" name "\n| " value "\n"
#define IDLE(pid, id) VRAM(pid, id, "0") "dir " KFD "proc/" pid "/queues\n"
#define FOREIGN "link proc/self/ns/pid -> pid:[4026532299]\n"
#define STATUS(status) "file sys/devices/0000:01:00.0/power/runtime_status\n| " status "\n"

/* Two processes, "first" (700) and "second" (701), have a client of the first GPU, of 1 MiB. */
static const struct {
    const char *label;
    const char *text;
    double memory;   /* MiB of "first" on the first GPU */
    double units;    /* its compute units */
    double evicted;  /* ms */
    double count;    /* processes of the first GPU */
    double other;    /* MiB of "other" there; -1: no such line */
    bool is_hidden;  /* its compute share is not known */
    double on_other; /* MiB of all processes of the second GPU */
} cases[] = {
    {"no KFD", "", 1, -1, -1, 2, -1, false, 0},
    {"a process",
     NODES VRAM("700", "77", "8388608") STATS("700", "77", "evicted_ms", "250")
         STATS("700", "77", "cu_occupancy", "12"),
     8, 12, 250, 2, -1, true, 0},
    {"less than its client has",
     NODES VRAM("700", "77", "524288") STATS("700", "77", "cu_occupancy", "0"), 1, 0, -1, 2, -1,
     true, 0},
    {"a chip without occupancy",
     NODES VRAM("700", "77", "8388608") STATS("700", "77", "evicted_ms", "0"), 8, -1, 0, 2, -1,
     true, 0},
    {"asleep",
     NODES VRAM("700", "77", "8388608") STATS("700", "77", "evicted_ms", "0")
         STATS("700", "77", "cu_occupancy", "12") STATUS("suspended"),
     8, -1, 0, 2, -1, true, 0},
    {"falls asleep",
     NODES VRAM("700", "77", "8388608") STATS("700", "77", "cu_occupancy", "12")
         STATUS("suspending"),
     8, -1, -1, 2, -1, true, 0},
    {"only opened", NODES IDLE("700", "77"), 1, -1, -1, 2, -1, false, 0},
    {"queues without VRAM", NODES VRAM("700", "77", "0") "dir " KFD "proc/700/queues/3\n", 1, -1,
     -1, 2, -1, true, 0},
    {"no folder of queues", NODES VRAM("700", "77", "0"), 1, -1, -1, 2, -1, true, 0},
    {"on the other GPU, in both partitions",
     NODES IDLE("700", "77") VRAM("700", "88", "2097152") VRAM("700", "89", "3145728"), 1, -1, -1,
     2, -1, false, 5},
    {"may only use the other GPU",
     NODES VRAM("700", "88", "2097152") "dir " KFD "proc/700/queues/0\n", 1, -1, -1, 2, -1, false,
     2},
    {"partitions as until Linux 6.8",
     NODE("1", "77", "256") NODE("2", "88", "512") NODE("3", "89", "515") IDLE("700", "77")
         VRAM("700", "88", "1048576") VRAM("700", "89", "1048576"),
     1, -1, -1, 2, -1, false, 2},
    {"nodes of a GPU that do not stand together",
     NODE("1", "88", "512") NODE("2", "77", "256") NODE("3", "89", "268435968")
         VRAM("700", "77", "8388608") VRAM("700", "88", "2097152") VRAM("700", "89", "3145728"),
     8, -1, -1, 2, -1, true, 5},
    {"a GPU that KFD does not have",
     NODE("0", "0", "0") NODE("2", "88", "512") VRAM("700", "88", "2097152"), 1, -1, -1, 2, -1,
     false, 2},
    {"one byte on the other GPU", NODES VRAM("700", "77", "0") VRAM("700", "88", "1"), 1, -1, -1, 2,
     -1, false, 1.0 / 1048576},
    {"no VRAM in a kernel before 5.9", NODES "file " KFD "proc/700/pasid\n| 32768\n", 1, -1, -1, 2,
     -1, true, 0},
    {"a node that the device cgroup denies",
     NODES "refuse " KFD "topology/nodes/1/gpu_id EPERM\n" VRAM("700", "77", "8388608"), 1, -1, -1,
     2, -1, true, 0},
    {"a node of the other GPU that it denies",
     NODES "refuse " KFD "topology/nodes/3/gpu_id EPERM\n" IDLE("700", "77"), 1, -1, -1, 2, -1,
     false, 0},
    {"the largest number of a GPU",
     NODE("1", "4294967295", "256") VRAM("700", "4294967295", "8388608"), 8, -1, -1, 2, -1, true,
     0},
    {"too large a number of a GPU",
     NODE("1", "4294967373", "256") IDLE("700", "77") VRAM("700", "77", "8388608"), 1, -1, -1, 2,
     -1, false, 0},
    {"the same of a file",
     NODES VRAM("700", "77", "8388608") "refuse " KFD "proc/700/vram_77 EPERM\n", 1, -1, -1, 2, -1,
     true, 0},
    {"a file that fails", NODES VRAM("700", "77", "8388608") "refuse " KFD "proc/700/vram_77 EIO\n",
     -1, -1, -1, -1, -1, true, 0},
    {"no number", NODES VRAM("700", "77", "many"), -1, -1, -1, -1, -1, true, 0},
    {"a process that is hidden", NODES IDLE("700", "77") VRAM("5", "77", "3145728"), 1, -1, -1, 3,
     3, false, 0},
    {"in a container: may be one of ours", NODES FOREIGN VRAM("5", "77", "1048576"), 1, -1, -1, -1,
     -1, true, 0},
    {"in a container: one more than ours",
     NODES FOREIGN VRAM("5", "77", "1048576") VRAM("6", "77", "3145728")
         VRAM("700", "77", "5242880"),
     1, -1, -1, -1, 7, true, 0},
    {"in a container: only opened", NODES FOREIGN IDLE("5", "77"), 1, -1, -1, 2, -1, false, 0},
};

/* What must never be opened, nor read of a GPU that sleeps; and what is opened late. */
struct watch {
    bool is_asleep;
    unsigned gather;
    unsigned late; /* openings of KFD's files after the third gather */
};

static void watch_path(void *arg, enum fault_op op, const char *path)
{
    struct watch *watch = arg;
    CHECK(!strstr(path, "dev/kfd"));
    CHECK(!strstr(path, "/sdma_"));
    CHECK(!(strstr(path, "/queues/")));
    CHECK(!(watch->is_asleep && strstr(path, "cu_occupancy")));
    watch->late += op == FAULT_OPEN && watch->gather > 3 && strstr(path, KFD "proc");
}

static void put_machine(struct gtel_buf *text, const char *kfd)
{
    clients_begin(text);
    clients_card(text, 0, "amdgpu");
    clients_card(text, 1, "amdgpu");
    for (unsigned pid = 700; pid <= 701; pid++) {
        clients_process(text, pid, pid == 700 ? "first" : "second", 50);
        clients_fd(text, pid, 5, 0);
    }
    gtel_buf_printf(text, "%s", kfd);
    for (unsigned t = 0; t <= 6; t++) {
        if (t > 0)
            gtel_buf_printf(text, "at %us\n", t);
        for (unsigned pid = 700; pid <= 701; pid++) {
            clients_text(text, (struct clients_client){pid, 5, 0, "amdgpu", pid}, t);
            gtel_buf_printf(text, "| drm-engine-compute:\t%u ns\n", 10000000 * (t + 1));
        }
    }
    gtel_buf_printf(text, "end\n");
    gtel_buf_char(text, '\0');
}

static double mib_of(const struct lane *lane, const char *gpu, const char *process)
{
    double bytes = clients_value(lane, gpu, GTEL_M_PROCESS_MEMORY, process);
    return bytes > 0 ? bytes / 1048576 : bytes;
}

static void run_case(size_t c)
{
    struct gtel_buf text;
    struct lane lane;
    struct watch watch = {.is_asleep = strstr(cases[c].text, "suspend") != NULL};
    gtel_buf_init(&text, 1 << 20);
    test_label = cases[c].label;
    put_machine(&text, cases[c].text);
    if (!CHECK(lane_init_in(&lane, "clients", text.p, "")))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1h");
    lane.fault->watch = watch_path;
    lane.fault->watch_arg = &watch;
    for (; watch.gather < 6; watch.gather++) {
        lane_gather(&lane);
        if (watch.gather < 5)
            lane_step(&lane, 1000);
    }
    CHECK_NEAR(mib_of(&lane, first_gpu, "first"), cases[c].memory, 1e-9);
    CHECK_NEAR(mib_of(&lane, first_gpu, "second"), 1, 1e-9);
    CHECK((lane.group.batch.failed[0] > 0) == (cases[c].memory < 0));
    CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_COMPUTE_UNITS, "first"),
               cases[c].units, 0);
    CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_EVICTED, "first"), cases[c].evicted,
               0);
    CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_GPU_PROCESSES, NULL), cases[c].count, 0);
    CHECK_NEAR(mib_of(&lane, first_gpu, "other"), cases[c].other, 1e-9);
    CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_MEMORY_VRAM, "other"),
               clients_value(&lane, first_gpu, GTEL_M_PROCESS_MEMORY, "other"), 0);
    CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_COMPUTE, "first"),
               cases[c].is_hidden ? -1 : 0.01, 1e-9);
    CHECK_NEAR(clients_sum(&lane, second_gpu, GTEL_M_PROCESS_MEMORY), cases[c].on_other * 1048576,
               1e-9);
    CHECK(watch.late == 0 || strstr(cases[c].text, "refuse"));
    lane_done(&lane);
    gtel_buf_done(&text);
}

/*
 * No client has used an engine of the driver yet: then none has done anything, but for those with
 * work of KFD, or where that is not known. Shares of "first" and "second"; -1: not known.
 */
static void test_without_engines(void)
{
    static const struct {
        const char *label;
        const char *text;
        double first, second;
    } machines[] = {
        {"no KFD", "", 0, 0},
        {"a process of KFD", NODES VRAM("700", "77", "8388608"), -1, 0},
        {"on the other GPU", NODES IDLE("700", "77") VRAM("700", "88", "8388608"), 0, 0},
        {"in a container", NODES FOREIGN VRAM("5", "77", "8388608"), -1, -1},
        {"no list of processes", NODES "refuse " KFD "proc EIO\n", -1, -1},
        {"KFD without its processes", NODES, -1, -1},
        {"user queues", "file sys/module/amdgpu/parameters/user_queue\n| 1\n", -1, -1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(machines); i++) {
        struct gtel_buf text;
        struct lane lane;
        test_label = machines[i].label;
        gtel_buf_init(&text, 1 << 20);
        clients_begin(&text);
        clients_card(&text, 0, "amdgpu");
        clients_card(&text, 1, "amdgpu");
        for (unsigned pid = 700; pid <= 701; pid++) {
            clients_process(&text, pid, pid == 700 ? "first" : "second", 50);
            clients_fd(&text, pid, 5, 0);
            gtel_buf_printf(&text,
                            "| drm-driver:\tamdgpu\n| drm-client-id:\t%u\n"
                            "| drm-pdev:\t%s\n| drm-memory-vram:\t1024 KiB\n",
                            pid, first_gpu);
        }
        gtel_buf_printf(&text, "%s", machines[i].text);
        if (CHECK(clients_run(&lane, &text, 2))) {
            CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_BUSY, "first"),
                       machines[i].first, 0);
            CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_BUSY, "second"),
                       machines[i].second, 0);
            CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_PROCESS_COMPUTE, "second"),
                       machines[i].second, 0);
            lane_done(&lane);
        }
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* What fails of KFD as a whole: then more may be used of its GPUs than is in texts. */
static void test_broken(void)
{
    static const struct {
        const char *label;
        const char *text;
        double memory; /* MiB of each process on the first GPU */
        double count;  /* processes there */
    } broken[] = {
        {"no list of processes", NODES "refuse " KFD "proc EIO\n", -1, -1},
        {"no list of nodes", NODES "refuse " KFD "topology/nodes EIO\n", -1, -1},
        {"a node that fails", NODES "error " KFD "topology/nodes/1/gpu_id EIO\n", -1, -1},
        {"a node that fails before one that is denied",
         NODES "error " KFD "topology/nodes/1/gpu_id EIO\nerror " KFD
               "topology/nodes/2/gpu_id EPERM\n",
         -1, -1},
        {"a node that fails after one that is denied",
         NODES "error " KFD "topology/nodes/1/gpu_id EPERM\nerror " KFD
               "topology/nodes/2/gpu_id EIO\n",
         -1, -1},
        {"nodes that are denied",
         NODES "error " KFD "topology/nodes/1/gpu_id EPERM\nerror " KFD
               "topology/nodes/2/gpu_id EPERM\n",
         1, 2},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(broken); i++) {
        struct gtel_buf text;
        struct lane lane;
        test_label = broken[i].label;
        gtel_buf_init(&text, 1 << 20);
        put_machine(&text, broken[i].text);
        if (CHECK(clients_run(&lane, &text, 3))) {
            CHECK_NEAR(mib_of(&lane, first_gpu, "first"), broken[i].memory, 1e-9);
            CHECK_NEAR(mib_of(&lane, first_gpu, "second"), broken[i].memory, 1e-9);
            CHECK_NEAR(clients_value(&lane, first_gpu, GTEL_M_GPU_PROCESSES, NULL), broken[i].count,
                       0);
            lane_done(&lane);
        }
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* As many nodes as are remembered, and one more: what is on it is not known. */
static void test_many_nodes(void)
{
    enum { MOST = 128 };
    for (unsigned n = MOST; n <= MOST + 1; n++) {
        struct gtel_buf text;
        struct gtel_buf kfd;
        struct lane lane;
        test_label = n == MOST ? "as many nodes as are remembered" : "one more";
        gtel_buf_init(&text, 1 << 20);
        gtel_buf_init(&kfd, 1 << 20);
        for (unsigned i = 0; i < n; i++)
            gtel_buf_printf(&kfd, NODE("%u", "%u", "%u"), i, 1000 + i, i,
                            i == 0 || i == MOST - 1 ? 256u : 512u);
        gtel_buf_printf(&kfd, VRAM("700", "1000", "3145728") VRAM("700", "%u", "5242880"),
                        1000 + MOST - 1);
        gtel_buf_char(&kfd, '\0');
        put_machine(&text, kfd.p);
        if (CHECK(clients_run(&lane, &text, 3))) {
            CHECK_NEAR(mib_of(&lane, first_gpu, "first"), n == MOST ? 8 : -1, 1e-9);
            CHECK_NEAR(mib_of(&lane, first_gpu, "second"), n == MOST ? 1 : -1, 1e-9);
            lane_done(&lane);
        }
        gtel_buf_done(&text);
        gtel_buf_done(&kfd);
    }
    test_label = "";
}

/* A process ends, another one gets its number, and a GPU gets other nodes. */
static void test_changes(void)
{
    static const double want[] = {8, 8, 1, 16, 16, 32};
    struct gtel_buf text;
    struct lane lane;
    test_label = "changes";
    gtel_buf_init(&text, 1 << 20);
    put_machine(&text, NODES VRAM("700", "77", "8388608"));
    char *changed = strstr(text.p, "at 2s\n");
    struct gtel_buf all;
    gtel_buf_init(&all, 1 << 20);
    gtel_buf_printf(&all, "%.*sat 2s\ngone " KFD "proc/700\n", (int)(changed - text.p), text.p);
    changed += strlen("at 2s\n");
    char *later = strstr(changed, "at 3s\n");
    gtel_buf_printf(&all, "%.*sat 3s\n" VRAM("700", "77", "16777216"), (int)(later - changed),
                    changed);
    later += strlen("at 3s\n");
    char *last = strstr(later, "at 5s\n");
    gtel_buf_printf(&all, "%.*sat 5s\n" NODE("1", "78", "256") VRAM("700", "78", "33554432") "%s",
                    (int)(last - later), later, last + strlen("at 5s\n"));
    gtel_buf_char(&all, '\0');
    if (CHECK(lane_init_in(&lane, "clients", all.p, ""))) {
        lane_set(&lane, GTEL_O_RESCAN, "100ms");
        for (size_t t = 0; t < sizeof(want) / sizeof(want[0]); t++) {
            lane_gather(&lane);
            CHECK_NEAR(mib_of(&lane, first_gpu, "first"), want[t], 1e-9);
            lane_step(&lane, 1000);
        }
        lane_done(&lane);
    }
    gtel_buf_done(&text);
    gtel_buf_done(&all);
}

enum { MANY = 40, ROOM = 32, FIRST = 600, LATE = 650 };

/* The openings of a process's memory, and one that fails. */
struct room {
    struct env_fault *fault;
    unsigned opens;
    unsigned opens_of_last; /* of those that are there from the beginning to the end */
    int error;
};

static void watch_room(void *arg, enum fault_op op, const char *path)
{
    struct room *room = arg;
    if (op != FAULT_OPEN || !strstr(path, "/vram_"))
        return;
    room->opens++;
    room->opens_of_last += strstr(path, "/607/") != NULL;
    if (room->error == 0 || !strstr(path, "/650/"))
        return;
    room->fault->error = room->error;
    room->fault->fail_at = room->fault->calls + 1;
    room->error = 0;
}

static unsigned kept_files(const struct env_fault *fault)
{
    unsigned n = 0;
    for (int i = 0; i < FAULT_HANDLES_MAX; i++)
        n += fault->is_open[i] && strstr(fault->path[i], "/vram_");
    return n;
}

static bool is_kept(const struct env_fault *fault, const char *process)
{
    for (int i = 0; i < FAULT_HANDLES_MAX; i++)
        if (fault->is_open[i] && strstr(fault->path[i], process))
            return true;
    return false;
}

/*
 * Where no more files can be kept open, 32 are closed and what they report is read all the same;
 * when processes end, others get their room.
 */
static void test_room(int error)
{
    struct gtel_buf text;
    struct gtel_buf kfd;
    struct gtel_buf machine;
    struct lane lane;
    struct room room = {0};
    test_label = error == -EMFILE ? "no room in the process" : "no room in the system";
    gtel_buf_init(&text, 1 << 20);
    gtel_buf_init(&kfd, 1 << 20);
    gtel_buf_init(&machine, 1 << 20);
    gtel_buf_str(&kfd, GTEL_STR(NODES));
    for (unsigned i = 0; i < MANY; i++)
        gtel_buf_printf(&kfd, "file " KFD "proc/%u/vram_77\n| 1048576\n", FIRST + i);
    gtel_buf_char(&kfd, '\0');
    put_machine(&text, kfd.p);
    for (char *rest = text.p, *at = NULL; rest; rest = at) {
        at = strstr(rest + 1, "\nat ");
        gtel_buf_printf(&machine, "%.*s", at ? (int)(at - rest) : (int)strlen(rest), rest);
        if (strncmp(rest, "\nat 2s", 6) == 0)
            gtel_buf_printf(&machine, "\nfile " KFD "proc/%u/vram_77\n| 3145728", LATE);
        for (unsigned i = 0; i < 4 && strncmp(rest, "\nat 4s", 6) == 0; i++)
            gtel_buf_printf(&machine, "\ngone " KFD "proc/%u", FIRST + i);
    }
    gtel_buf_char(&machine, '\0');
    if (!CHECK(!machine.has_failed && lane_init_in(&lane, "clients", machine.p, "")))
        return;
    lane_set(&lane, GTEL_O_RESCAN, "1h");
    room.fault = lane.fault;
    room.error = error;
    lane.fault->watch = watch_room;
    lane.fault->watch_arg = &room;
    for (unsigned t = 0; t <= 5; t++) {
        lane_gather(&lane);
        unsigned kept = t < 2 ? MANY : MANY - ROOM;
        CHECK_INT(kept_files(lane.fault), kept);
        CHECK_NEAR(mib_of(&lane, first_gpu, "other"),
                   t < 2   ? MANY
                   : t < 4 ? MANY + 3
                           : MANY - 1,
                   1e-9);
        if (t == 1)
            CHECK_INT(room.opens, 5 * MANY); /* and the other nodes', which are not there, twice */
        CHECK_INT(room.opens_of_last, t == 0 ? 3 : 5);
        CHECK(is_kept(lane.fault, "/600/") == (t < 4)); /* it ends */
        lane_step(&lane, 1000);
    }
    lane_done(&lane);
    gtel_buf_done(&text);
    gtel_buf_done(&kfd);
    gtel_buf_done(&machine);
}

int main(void)
{
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        run_case(c);
    test_changes();
    test_without_engines();
    test_broken();
    test_many_nodes();
    test_room(-EMFILE);
    test_room(-ENFILE);
    return test_result();
}
