/* SPDX-License-Identifier: MIT */
/* Processes of an NVIDIA GPU: the forms of NVML's lists, shares, and what is not believed. */
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
    /* Compute and graphics at a time: one process, the memory once. */
    {COMPUTE "_v3 0 = 1200 4096\n"
             "call nvmlDeviceGetGraphicsRunningProcesses_v3 0 = 1200 4096, 1300 8192\n"
             "call nvmlDeviceGetMPSComputeRunningProcesses_v3 0 = 1200 4096\n",
     4096, 8192, 2},
    /* Two instances of a MIG GPU are two amounts of one process. */
    {COMPUTE "_v3 0 = 1200 4096 1 0, 1200 1024 2 0\n", 5120, -1, 1},
    /* Unknown memory is not 0. */
    {COMPUTE "_v3 0 = 1200 18446744073709551615\n", -1, -1, 1},
    {COMPUTE "_v3 0 = 0 4096, 1300 8192\n", -1, 8192, 1},
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

/* From another pid namespace a process is counted, and has no name: the pid is of somebody else. */
static void test_foreign(void)
{
    struct machine m;
    if (!begin(&m, PROCESSES "link proc/self/ns/pid -> pid:[4026532999]\n" COMPUTE
                             "_v3 0 = 1200 4096, 1300 8192\n"))
        return;
    gather(&m, 0);
    CHECK_NEAR(memory(&m, "train"), -1, 0);
    CHECK_NEAR(memory(&m, "other"), 4096 + 8192, 0);
    CHECK_NEAR(value(&m, GTEL_M_GPU_PROCESSES, ""), 2, 0);
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
    gather(&m, 10);
    CHECK_NEAR(busy(&m, "train"), -1, 0);
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

/* With ProcessEnergy, energy and shares are of the same intervals, so both come each time. */
static void test_energy(void)
{
    struct machine m;
    char error[100];
    if (!begin(&m, PROCESSES COMPUTE "_v3 0 = 1200 4096\n" SHARES "100 1200 90 1 0 0 0 0\n"
                                     "call nvmlDeviceGetTotalEnergyConsumption 0 = 1000\n"
                                     "at 4s\n" SHARES "300 1200 40 9 0 0 0 0\n"
                                     "call nvmlDeviceGetTotalEnergyConsumption 0 = 9000\n"
                                     "at 5s\n" SHARES "301 1200 50 9 0 0 0 0\n"))
        return;
    gtel_group_done(&m.group);
    CHECK_INT(
        gtel_option_set(&m.options, GTEL_O_PROCESS_ENERGY, GTEL_STR("on"), error, sizeof(error)),
        0);
    start_lane(&m);
    for (unsigned i = 0; i < 5; i++)
        gather(&m, i > 0);
    CHECK_NEAR(busy(&m, "train"), 0.4, 1e-12);
    CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, ""), 9, 1e-12);
    gather(&m, 1);
    CHECK_NEAR(busy(&m, "train"), 0.5, 1e-12);
    CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, ""), 9, 1e-12);
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

int main(void)
{
    test_forms();
    test_foreign();
    test_shares();
    test_energy();
    test_many();
    return test_result();
}
