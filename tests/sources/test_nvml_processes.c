/* SPDX-License-Identifier: MIT */
/* Processes of an NVIDIA GPU: the forms of NVML's lists, shares, and what is not believed. */
#include "harness/alloc_fault.h"
#include "harness/nvml_machine.h"
#include "harness/test.h"

/* Two processes that can be named, seen from the host's own pid namespace. */
#define PROCESSES                                                                                  \
    "link proc/self/ns/pid -> pid:[4026531836]\n"                                                  \
    "file proc/1200/stat\n| 1200 (train) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n"        \
    "file proc/1200/comm\n| train\n"                                                               \
    "file proc/1300/stat\n| 1300 (serve) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 600 0 0\n"        \
    "file proc/1300/comm\n| serve\n"

#define COMPUTE "call nvmlDeviceGetComputeRunningProcesses"

static double memory(const struct machine *m, const char *name)
{
    return value(m, GTEL_M_PROCESS_MEMORY, name);
}

/* One symbol, several forms, and calls that drivers do not have. */
static const struct {
    const char *text;
    double train;
    double serve;
    double processes;
} forms[] = {
    {COMPUTE "_v3 0 = 1200 4096, 1300 8192\n", 4096, 8192, 2},
    {COMPUTE "_v3 0 = 1200 4096, 1300 8192\n" COMPUTE "_v3 stride = 32\n", 4096, 8192, 2},
    {COMPUTE "_v3 0 = 1200 4096, 1300 8192\n" COMPUTE "_v3 stride = 16\n", 4096, 8192, 2},
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 stride = 32\n", 4096, -1, 1},
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 stride = 16\n", 4096, -1, 1},
    {COMPUTE "_v3 0 = 1200 4096\n", 4096, -1, 1},
    {COMPUTE "_v3 = !nosymbol\n" COMPUTE "_v2 0 = 1200 4096, 1300 8192\n", 4096, 8192, 2},
    {COMPUTE "_v3 = !nosymbol\n" COMPUTE "_v2 = !nosymbol\n" COMPUTE " 0 = 1200 4096\n" COMPUTE
             " stride = 16\n",
     4096, -1, 1},
    {COMPUTE "_v3 0 =\n", -1, -1, 0},
    /* Twice in one list. */
    {COMPUTE "_v3 0 = 1200 4096, 1200 4096\n", 4096, -1, 1},
    {COMPUTE "_v3 0 = 1200 4096, 1300 8192, 1200 4096\n", 4096, 8192, 2},
    /* Compute and graphics at a time: one process, the memory once. */
    {COMPUTE "_v3 0 = 1200 4096\n"
             "call nvmlDeviceGetGraphicsRunningProcesses_v3 0 = 1200 4096, 1300 8192\n"
             "call nvmlDeviceGetMPSComputeRunningProcesses_v3 0 = 1200 4096\n",
     4096, 8192, 2},
#define GRAPHICS "call nvmlDeviceGetGraphicsRunningProcesses"
#define MPS "call nvmlDeviceGetMPSComputeRunningProcesses"
    /* Each list by the newest call that the library has. */
    {GRAPHICS "_v3 0 = 1200 1\n" GRAPHICS "_v2 0 = 1200 2\n" GRAPHICS " 0 = 1200 4\n", 1, -1, 1},
    {GRAPHICS "_v3 = !nosymbol\n" GRAPHICS "_v2 0 = 1200 2\n" GRAPHICS " 0 = 1200 4\n", 2, -1, 1},
    {GRAPHICS "_v3 = !nosymbol\n" GRAPHICS "_v2 = !nosymbol\n" GRAPHICS " 0 = 1200 4\n", 4, -1, 1},
    {GRAPHICS "_v3 = !nosymbol\n" GRAPHICS "_v2 = !nosymbol\n" GRAPHICS " = !nosymbol\n" MPS
              "_v3 0 = 1200 1\n" MPS "_v2 0 = 1200 2\n" MPS " 0 = 1200 4\n",
     1, -1, 1},
    {MPS "_v3 = !nosymbol\n" MPS "_v2 0 = 1200 2\n" MPS " 0 = 1200 4\n", 2, -1, 1},
    {MPS "_v3 = !nosymbol\n" MPS "_v2 = !nosymbol\n" MPS " 0 = 1200 4\n", 4, -1, 1},
    {"", -1, -1, -1},
    /* One list that fails: the others are not all there is. */
    {COMPUTE "_v3 0 = 1200 4096\n" GRAPHICS "_v3 0 = !999\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" MPS "_v3 0 = !15\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" MPS "_v3 0 = !6\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" MPS "_v3 0 = !25\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" MPS "_v3 0 = !4\n", 4096, -1, 1},
    /* The same process in lists of different forms, and of two instances. */
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 stride = 16\n" GRAPHICS "_v3 0 = 1200 4096\n", 4096,
     -1, 1},
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 stride = 32\n" GRAPHICS "_v3 0 = 1200 4096\n", 4096,
     -1, 1},
    {COMPUTE "_v3 0 = 1200 4096 1 0\n" GRAPHICS "_v3 0 = 1200 4096 1 0\n", 4096, -1, 1},
    {COMPUTE "_v3 0 = 1200 4096 1 0\n" GRAPHICS "_v3 0 = 1200 1024 2 0\n", 5120, -1, 1},
    {COMPUTE "_v3 0 = 1200 4096 1 0\n" GRAPHICS "_v3 0 = 1200 1024 1 1\n", 5120, -1, 1},
    /* The highest pid that there can be, and the next number. */
    {COMPUTE "_v3 0 = 4194304 4096, 1300 8192\n", -1, 8192, 2},
    {COMPUTE "_v3 0 = 4194305 4096, 1300 8192\n", -1, -1, -1},
#undef GRAPHICS
#undef MPS
    /* Two instances of a MIG GPU are two amounts of one process. */
    {COMPUTE "_v3 0 = 1200 4096 1 0, 1200 1024 2 0\n", 5120, -1, 1},
    /* Unknown memory is not 0. */
    {COMPUTE "_v3 0 = 1200 18446744073709551615\n", -1, -1, 1},
    /* Of a namespace that has no number for it: so there are more. */
    {COMPUTE "_v3 0 = 0 4096, 1300 8192\n", -1, 8192, -1},
    /* Not believed: pids that no Linux has, sizes that lie, an entry of an unknown size. */
    {COMPUTE "_v3 0 = 4294967295 4096, 1300 8192\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 count = 4294967295\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 count = 7\n", -1, -1, -1},
    {COMPUTE "_v3 0 = 1200 4096, 1300 8192\n" COMPUTE "_v3 stride = 40\n", -1, -1, -1},
    {COMPUTE "_v3 0 = !999\n", -1, -1, -1},
    {COMPUTE "_v3 0 = !4\n", -1, -1, -1},
    /* In WSL the numbers are those of Windows. */
    {COMPUTE "_v3 0 = 1200 4096\nfile dev/dxg\n", -1, -1, -1},
};

static void test_forms(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(forms); i++) {
        struct machine m;
        char text[1200];
        char label[16];
        (void)snprintf(text, sizeof(text), "%s%s", PROCESSES, forms[i].text);
        (void)snprintf(label, sizeof(label), "row %zu", i);
        test_label = label;
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(memory(&m, "train"), forms[i].train, 0);
        CHECK_NEAR(memory(&m, "serve"), forms[i].serve, 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), forms[i].processes, 0);
        finish(&m);
    }
    test_label = "";
}

/*
 * In another pid namespace a process has no name, since the pid is of somebody else there, and how
 * many there are is not known: NVML lists those of that namespace alone.
 */
static void test_foreign(void)
{
    struct machine m;
    if (!begin(&m, PROCESSES "link proc/self/ns/pid -> pid:[4026532999]\n" COMPUTE
                             "_v3 0 = 1200 4096, 1300 8192\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(memory(&m, "train"), -1, 0);
    CHECK_NEAR(memory(&m, "other"), 4096 + 8192, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), -1, 0);
    finish(&m);
}

static double busy(const struct machine *m, const char *name)
{
    return value(m, GTEL_M_PROCESS_BUSY, name);
}

/* TIME PID SM MEMORY ENCODER DECODER JPEG OFA: the first answer only says what is old. */
#define SHARES "call nvmlDeviceGetProcessesUtilizationInfo 0 = "

static void test_shares(void)
{
    struct machine m;
    if (!begin(&m, PROCESSES COMPUTE
               "_v3 0 = 1200 4096, 1300 8192\n" SHARES "100 1200 90 1 0 0 0 0\n"
               "at 20s\n" SHARES "300 1200 40 9 0 70 0 0, 299 1300 55 0 101 0 0 0\n"
               "at 40s\n" SHARES "300 1200 40 9 0 70 0 0, 400 999 50 0 0 0 0 0\n"
               "at 60s\n" SHARES "!6\n"
               "at 80s\n" SHARES "!999\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(busy(&m, "train"), -1, 0);
    gather(&m, 10); /* no newer sample */
    CHECK_NEAR(busy(&m, "train"), 0, 0);
    gather(&m, 10); /* the class used most; what is not believed is not known */
    CHECK_NEAR(busy(&m, "train"), 0.7, 1e-12);
    CHECK_NEAR(value(&m, GTEL_M_PROCESS_COMPUTE, "train"), 0.4, 1e-12);
    CHECK_NEAR(busy(&m, "serve"), -1, 0);
    gather(&m, 1);
    CHECK_NEAR(busy(&m, "train"), -1, 0); /* not asked for in this gather */
    CHECK_NEAR(memory(&m, "train"), 4096, 0);
    gather(&m, 19); /* a sample as old as the last, and one of a process that is not there */
    CHECK_NEAR(busy(&m, "train"), 0, 0);
    CHECK_NEAR(busy(&m, "serve"), 0, 0);
    gather(&m, 20);
    CHECK_NEAR(busy(&m, "train"), 0, 0);
    gather(&m, 20);
    CHECK_NEAR(busy(&m, "train"), -1, 0);
    CHECK_NEAR(memory(&m, "serve"), 8192, 0);
    finish(&m);
}

/* Each engine by itself: the most of a process's samples; 100 is a share, and 101 is none. */
static void test_engines(void)
{
    static const struct {
        const char *samples;
        double want[6]; /* busy, compute, encode, decode, jpeg, ofa */
    } rows[] = {
        {"300 1200 1 90 2 3 4 5", {0.05, 0.01, 0.02, 0.03, 0.04, 0.05}},
        {"300 1200 1 90 2 3 4 5, 301 1200 5 0 4 3 2 1", {0.05, 0.05, 0.04, 0.03, 0.04, 0.05}},
        {"300 1200 100 0 100 100 100 100", {1, 1, 1, 1, 1, 1}},
        {"300 1200 101 0 0 0 0 0", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 300 0 0 0 0 0", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 0 0 0 101 0 0", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 0 0 0 0 101 0", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 0 0 0 0 0 101", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 0 101 0 0 0 0", {0, 0, 0, 0, 0, 0}}, /* of memory: not a share of ours */
        {"300 1200 7 0 0 0 0 0, 301 1200 101 0 0 0 0 0", {-1, -1, -1, -1, -1, -1}},
        {"300 1200 101 0 0 0 0 0, 301 1200 7 0 0 0 0 0", {-1, -1, -1, -1, -1, -1}},
        {"101 1200 7 0 0 0 0 0", {0.07, 0.07, 0, 0, 0, 0}},
        {"100 1200 7 0 0 0 0 0", {0, 0, 0, 0, 0, 0}}, /* as old as what was there before */
        {"300 0 7 0 0 0 0 0, 300 999 7 0 0 0 0 0", {0, 0, 0, 0, 0, 0}},
        {"!21", {-1, -1, -1, -1, -1, -1}},
        {"!6", {0, 0, 0, 0, 0, 0}},
    };
    static const enum gtel_metric metrics[] = {GTEL_M_PROCESS_BUSY,   GTEL_M_PROCESS_COMPUTE,
                                               GTEL_M_PROCESS_ENCODE, GTEL_M_PROCESS_DECODE,
                                               GTEL_M_PROCESS_JPEG,   GTEL_M_PROCESS_OFA};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[1200];
        test_label = rows[i].samples;
        (void)snprintf(text, sizeof(text),
                       PROCESSES COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                                         "at 20s\n" SHARES "%s\n",
                       rows[i].samples);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        gather(&m, 20);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(metrics); k++)
            CHECK_NEAR(value(&m, metrics[k], "train"), rows[i].want[k], 1e-12);
        finish(&m);
    }
    test_label = "";
}

/* Drivers before 550: TIME PID SM MEMORY ENCODER DECODER. Of JPEG and OFA nothing is known. */
#define NO_SHARES "call nvmlDeviceGetProcessesUtilizationInfo = !nosymbol\n"
#define OLD_SHARES "call nvmlDeviceGetProcessUtilization 0 = "

static void test_old_shares(void)
{
    static const struct {
        const char *samples;
        double train;
        double serve;
    } rows[] = {
        {"300 1200 40 9 0 70", 0.7, 0},
        {"300 1200 1 0 2 3, 301 1200 4 0 5 6, 302 1300 7 0 0 0, 303 1200 0 0 8 0, 304 1300 9 0 0 0",
         0.08, 0.09},
        {"100 1200 40 0 0 0, 99 1300 50 0 0 0", 0, 0},
        {"300 1200 101 0 0 0, 300 1300 50 0 0 0", -1, 0.5},
        {"300 0 40 0 0 0, 300 999 50 0 0 0", 0, 0},
        {"!6", 0, 0},
        {"!999", -1, -1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[1200];
        test_label = rows[i].samples;
        (void)snprintf(text, sizeof(text),
                       PROCESSES NO_SHARES COMPUTE "_v3 0 = 1200 4096, 1300 8192\n" OLD_SHARES
                                                   "100 1200 90 1 0 0\n"
                                                   "at 20s\n" OLD_SHARES "%s\n",
                       rows[i].samples);
        if (!begin(&m, text))
            return;
        gather(&m, 0);
        CHECK_NEAR(busy(&m, "train"), -1, 0);
        gather(&m, 20);
        CHECK_NEAR(busy(&m, "train"), rows[i].train, 1e-12);
        CHECK_NEAR(busy(&m, "serve"), rows[i].serve, 1e-12);
        CHECK_INT(value(&m, GTEL_M_PROCESS_DECODE, "train") >= 0, rows[i].train >= 0);
        CHECK_NEAR(value(&m, GTEL_M_PROCESS_JPEG, "train"), -1, 0);
        CHECK_NEAR(value(&m, GTEL_M_PROCESS_OFA, "train"), -1, 0);
        finish(&m);
    }
    test_label = "";
}

/* What was seen is not asked for again: a sample counts in one interval only. */
static void test_seen(void)
{
    struct machine m;
    if (!begin(&m,
               PROCESSES COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                                 "at 20s\n" SHARES "300 1200 9 0 0 0 0 0, 200 1200 8 0 0 0 0 0\n"
                                 "at 40s\n" SHARES "300 1200 9 0 0 0 0 0, 250 1200 8 0 0 0 0 0\n"
                                 "at 60s\n" SHARES "301 1200 7 0 0 0 0 0\n"))
        return;
    static const double want[] = {-1, 0.09, 0, 0.07, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gather(&m, i > 0 ? 20 : 0);
        CHECK_NEAR(busy(&m, "train"), want[i], 1e-12);
    }
    finish(&m);
}

/* How often a call is made in six gathers of twenty seconds, by what it answers. */
static void test_calls(void)
{
    static const char list[] = "nvmlDeviceGetComputeRunningProcesses_v3";
    static const char shares[] = "nvmlDeviceGetProcessesUtilizationInfo";
    static const char old[] = "nvmlDeviceGetProcessUtilization";
    static const struct {
        const char *call;
        const char *text;
        unsigned calls; /* for the first GPU, and two for the other one, each minute */
        uint32_t failed;
    } rows[] = {
        {list, COMPUTE "_v3 0 = 1200 4096\n", 6, 0},
        {list, "", 2, 0}, /* each minute */
        {list, COMPUTE "_v3 0 = !4\n", 2, 0},
        {list, COMPUTE "_v3 0 = !25\n", 2, 0}, /* a form that is not known */
        {list, COMPUTE "_v3 0 = 1200 4096, 1300 8192\n" COMPUTE "_v3 stride = 40\n", 2, 0},
        {list, COMPUTE "_v3 0 = !999\n", 6, 1},
        {list, COMPUTE "_v3 0 = !6\n", 6, 1},
        /* It needs more room than it may have, and more each time that it gets some. */
        {list, COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 count = 8193\n", 6, 1},
        {list, COMPUTE "_v3 0 = 1200 4096\n" COMPUTE "_v3 count = 8192\n", 3, 0},
        {list, COMPUTE "_v3 0 = !7\n", 4 * 5 + 1, 1},
        {shares, COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n", 6, 0},
        {shares, COMPUTE "_v3 0 = 1200 4096\n", 1, 0},
        {shares, COMPUTE "_v3 0 = 1200 4096\n" SHARES "!4\n", 1, 0},
        {shares, COMPUTE "_v3 0 = 1200 4096\n" SHARES "!999\n", 6, 0},
        {shares, COMPUTE "_v3 0 = 1200 4096\n" SHARES "!6\n", 6, 0},
        {shares, SHARES "100 1200 90 1 0 0 0 0\n", 0, 0}, /* nobody to have one */
        /* None is there now; those that come later are asked for from then on. */
        {shares, COMPUTE "_v3 0 =\n" SHARES "100 1200 90 1 0 0 0 0\n", 0, 0},
        {shares, SHARES "!6\n" COMPUTE "_v3 0 =\nat 70s\n" COMPUTE "_v3 0 = 1200 4096\n", 2, 0},
        {shares,
         COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                 "call nvmlDeviceGetProcessesUtilizationInfo count = 8192\n",
         7, 0},
        {shares,
         COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                 "call nvmlDeviceGetProcessesUtilizationInfo count = 8193\n",
         6, 0},
        {shares, COMPUTE "_v3 0 = 1200 4096\n" SHARES "!7\n", 13, 0}, /* until it says too many */
        {old, COMPUTE "_v3 0 = 1200 4096\n" OLD_SHARES "100 1200 90 1 0 0\n", 0, 0},
        {old, NO_SHARES COMPUTE "_v3 0 = 1200 4096\n" OLD_SHARES "100 1200 90 1 0 0\n", 6, 0},
        {old, NO_SHARES COMPUTE "_v3 0 = 1200 4096\n", 1, 0},
        {old, NO_SHARES COMPUTE "_v3 0 = 1200 4096\n" OLD_SHARES "!7\n", 13, 0},
        {old,
         NO_SHARES COMPUTE "_v3 0 = 1200 4096\n" OLD_SHARES "100 1200 90 1 0 0\n"
                           "call nvmlDeviceGetProcessUtilization count = 8192\n",
         7, 0},
        {old,
         NO_SHARES COMPUTE "_v3 0 = 1200 4096\n" OLD_SHARES "100 1200 90 1 0 0\n"
                           "call nvmlDeviceGetProcessUtilization count = 8193\n",
         6, 0},
        {old,
         NO_SHARES "call nvmlDeviceGetProcessUtilization = !nosymbol\n" COMPUTE
                   "_v3 0 = 1200 4096\n",
         0, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        struct machine m;
        char text[1200];
        char label[16];
        (void)snprintf(label, sizeof(label), "row %zu", i);
        test_label = label;
        (void)snprintf(text, sizeof(text), "%s%s", PROCESSES, rows[i].text);
        if (!begin(&m, text))
            return;
        spy.count_name = rows[i].call;
        for (unsigned k = 0; k < 6; k++)
            gather(&m, k > 0 ? 20 : 0);
        CHECK_INT(spy.counted, rows[i].calls + (rows[i].call == list ? 2 : 0));
        CHECK_INT(m.group.batch.failed[0], rows[i].failed);
        finish(&m);
    }
    test_label = "";
}

/* NVML was started again: what it has refused is asked for again, and old shares are not new. */
static void test_restart(void)
{
    struct machine m;
    if (!begin(&m, PROCESSES COMPUTE "_v3 0 = !4\n"
                                     "at 2s\ncall nvmlDeviceGetUtilizationRates 0 = !9\n"
                                     "at 3s\ncall nvmlDeviceGetUtilizationRates 0 = 41 7\n" COMPUTE
                                     "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"))
        return;
    gather(&m, 1);
    CHECK_NEAR(memory(&m, "train"), -1, 0);
    gather(&m, 1);
    gather(&m, 20);
    CHECK_NEAR(memory(&m, "train"), 4096, 0);
    CHECK_NEAR(busy(&m, "train"), -1, 0);
    gather(&m, 20);
    CHECK_NEAR(busy(&m, "train"), 0, 0);
    finish(&m);
}

/* When a process began is read once, as long as it is in the lists. */
static unsigned stat_opens;

static int count_stat(void *arg, const char *path)
{
    stat_opens += strstr(path, "/stat") != NULL;
    return spy.ops->file_open(arg, path);
}

static void test_starts(void)
{
    struct machine m;
    if (!begin(&m, PROCESSES COMPUTE "_v3 0 = 1200 4096, 1300 8192\n"
                                     "at 3s\n" COMPUTE "_v3 0 = 1300 8192, 1200 4096\n"
                                     "at 4s\n" COMPUTE "_v3 0 = 1300 8192\n"
                                     "at 5s\n" COMPUTE "_v3 0 = 1200 4096, 1300 8192, 1400 1\n"))
        return;
    /* Each of both twice, for its name as well; 1400 is not there, and tried again. */
    static const unsigned want[] = {4, 0, 0, 0, 0, 4, 1};
    spy.with_spy.file_open = count_stat;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        stat_opens = 0;
        gather(&m, i > 0);
        CHECK_INT(stat_opens, want[i]);
    }
    finish(&m);
}

/* With ProcessEnergy, energy is read in the gathers that have shares, and in no others. */
static void test_energy(void)
{
    static const struct {
        unsigned seconds; /* since the gather before */
        double busy;      /* -1: absent */
        double joules;
    } gathers[] = {{0, -1, 1},   {1, -1, 1},  {1, -1, 1},  {1, -1, -1},  {1, -1, -1},
                   {18, 0.4, 9}, {1, -1, -1}, {1, -1, -1}, {18, 0.5, 12}};
    struct machine m;
    char error[100];
    if (!begin(&m, PROCESSES COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                                     "call nvmlDeviceGetTotalEnergyConsumption 0 = 1000\n"
                                     "at 4s\n" SHARES "300 1200 40 9 0 0 0 0\n"
                                     "call nvmlDeviceGetTotalEnergyConsumption 0 = 9000\n"
                                     "at 40s\n" SHARES "301 1200 50 9 0 0 0 0\n"
                                     "call nvmlDeviceGetTotalEnergyConsumption 0 = 12000\n"))
        return;
    gtel_group_done(&m.group);
    CHECK_INT(
        gtel_option_set(&m.options, GTEL_O_PROCESS_ENERGY, GTEL_STR("on"), error, sizeof(error)),
        0);
    start_lane(&m);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gathers); i++) {
        gather(&m, gathers[i].seconds);
        CHECK_NEAR(busy(&m, "train"), gathers[i].busy, 1e-12);
        CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, ""), gathers[i].joules, 1e-12);
    }
    finish(&m);
}

/* A thousand processes: all are there, the first time and later; one ends. */
static void test_many(void)
{
    enum { MANY = 1000 };
    static char text[MANY * 16 + 200];
    struct machine m;
    int n = snprintf(text, sizeof(text), COMPUTE "_v3 0 = 1 7");
    for (int i = 2; i <= MANY; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ",%d 7", i);
    (void)snprintf(text + n, sizeof(text) - (size_t)n, "\nat 5s\n" COMPUTE "_v3 0 = 1 7\n");
    if (!begin(&m, text))
        return;
    for (int i = 0; i < 3; i++) {
        gather(&m, i > 0);
        CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), MANY, 0);
        CHECK_NEAR(memory(&m, "other"), 7 * MANY, 0);
    }
    gather(&m, 4);
    CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), 1, 0);
    finish(&m);
}

/* One gather's list of so many processes. */
static void list_many(struct gtel_buf *text, unsigned second, unsigned n)
{
    gtel_buf_printf(text, "at %us\n" COMPUTE "_v3 0 =", second);
    for (unsigned i = 1; i <= n; i++)
        gtel_buf_printf(text, i == 1 ? " %u 7" : ",%u 7", i);
    gtel_buf_char(text, '\n');
}

/* There is room for a quarter more than the last time, and for 64 beside it. */
static void test_room(void)
{
    static const struct {
        unsigned processes;
        unsigned calls;
    } gathers[] = {{64, 1}, {65, 2}, {65 + 16 + 64, 1}, {65 + 16 + 65, 2}};
    struct gtel_buf text;
    struct machine m;
    gtel_buf_init(&text, 16384);
    for (unsigned i = 0; i < GTEL_ARRAY_LEN(gathers); i++)
        list_many(&text, i + 1, gathers[i].processes);
    gtel_buf_char(&text, '\0');
    if (begin(&m, text.p)) {
        spy.count_name = "nvmlDeviceGetComputeRunningProcesses_v3";
        for (unsigned i = 0; i < GTEL_ARRAY_LEN(gathers); i++) {
            spy.counted = 0;
            gather(&m, 1);
            CHECK_INT(spy.counted, gathers[i].calls + (i == 0)); /* the other GPU once */
            CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), gathers[i].processes, 0);
        }
        finish(&m);
    }
    gtel_buf_done(&text);
}

/* Lists of the same length take no memory any more, also where they fill all that there is. */
static void test_no_allocation(void)
{
    struct gtel_buf text;
    struct machine m;
    uint64_t taken[2] = {0};
    gtel_buf_init(&text, 16384);
    list_many(&text, 1, 64);
    gtel_buf_char(&text, '\0');
    for (size_t i = 0; i < 2 && begin(&m, i == 0 ? text.p : ""); i++) {
        for (unsigned t = 0; t < 5; t++)
            gather(&m, 1);
        alloc_fault_arm(0);
        gather(&m, 1);
        taken[i] = alloc_fault_count();
        finish(&m);
    }
    CHECK_INT(taken[0], taken[1]); /* those of the played library */
    gtel_buf_done(&text);
}

/* More samples than there is room for: the library says how many, and is asked again. */
static void test_many_shares(void)
{
    struct gtel_buf text;
    struct machine m;
    gtel_buf_init(&text, 16384);
    gtel_buf_printf(&text, "%s",
                    PROCESSES COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                                      "at 20s\n" SHARES "200 1200 5 0 0 0 0 0");
    for (unsigned i = 1; i < 200; i++)
        gtel_buf_printf(&text, ",%u 1200 %u 0 0 0 0 0", 200 + i, i % 50);
    gtel_buf_bytes(&text, "\n", 2);
    if (begin(&m, text.p)) {
        spy.count_name = "nvmlDeviceGetProcessesUtilizationInfo";
        gather(&m, 0);
        CHECK_INT(spy.counted, 1);
        gather(&m, 20);
        CHECK_INT(spy.counted, 3);
        CHECK_NEAR(busy(&m, "train"), 0.49, 1e-12);
        finish(&m);
    }
    gtel_buf_done(&text);
}

int main(void)
{
    test_forms();
    test_foreign();
    test_shares();
    test_engines();
    test_old_shares();
    test_seen();
    test_calls();
    test_restart();
    test_starts();
    test_energy();
    test_many();
    test_room();
    test_no_allocation();
    test_many_shares();
    return test_result();
}
