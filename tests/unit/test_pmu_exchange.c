/* SPDX-License-Identifier: MIT */
/*
 * What is asked of the kernel for a group of perf counters, with the kernel played by this program:
 * the linker hands it the system calls of host/pmu_posix.c. Nothing here depends on what the
 * machine allows.
 */
#include "host/env_posix.h"
#include "harness/test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_FD = 1000, EVENTS_MAX = GTEL_PMU_EVENTS_MAX };

/* What the played kernel does, and what it has seen. */
static struct {
    size_t refused; /* the event, from 1, that is refused with refusal (a positive errno) */
    int refusal;
    int interrupted; /* reads before which a signal comes */
    int read_error;  /* a positive errno */
    size_t short_by; /* bytes that a read lacks */
    uint64_t extra;  /* events more than there are, by the kernel's count */
    /* Seen. */
    struct perf_event_attr attr[EVENTS_MAX];
    int leader[EVENTS_MAX];
    bool is_open[EVENTS_MAX];
    size_t opened;
    int reads;
} kernel;

long __wrap_syscall(long number, ...);
ssize_t __wrap_read(int fd, void *buf, size_t n);
int __wrap_close(int fd);

long __wrap_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    const struct perf_event_attr *attr = va_arg(args, const struct perf_event_attr *);
    int pid = va_arg(args, int);
    int cpu = va_arg(args, int);
    int leader = va_arg(args, int);
    int flags = va_arg(args, int);
    va_end(args);
    CHECK_INT(number, SYS_perf_event_open);
    CHECK_INT(pid, -1); /* every process, on one CPU: a device's PMU takes nothing else */
    CHECK_INT(cpu, 3);
    CHECK_INT(flags, PERF_FLAG_FD_CLOEXEC);
    if (kernel.refused == kernel.opened + 1 || !CHECK(kernel.opened < EVENTS_MAX)) {
        errno = kernel.refusal;
        return -1;
    }
    size_t i = kernel.opened++;
    kernel.attr[i] = *attr;
    kernel.leader[i] = leader;
    kernel.is_open[i] = true;
    return FIRST_FD + (long)i;
}

/*
 * A group's leader reports all of it: number, time enabled, one value for each
 * (perf_event_open(2)).
 */
ssize_t __wrap_read(int fd, void *buf, size_t n)
{
    uint64_t answer[2 + EVENTS_MAX] = {kernel.opened + kernel.extra, 5000000000};
    kernel.reads++;
    CHECK_INT(fd, FIRST_FD);
    CHECK_INT(n, (2 + kernel.opened) * sizeof(answer[0]));
    if (kernel.interrupted > 0) {
        kernel.interrupted--;
        errno = EINTR;
        return -1;
    }
    if (kernel.read_error > 0) {
        errno = kernel.read_error;
        return -1;
    }
    for (size_t i = 0; i < kernel.opened; i++)
        answer[2 + i] = 100 + i;
    n = n < sizeof(answer) ? n : sizeof(answer);
    memcpy(buf, answer, n);
    return (ssize_t)(n - kernel.short_by);
}

int __wrap_close(int fd)
{
    if (!CHECK(fd >= FIRST_FD && fd < FIRST_FD + EVENTS_MAX))
        return -1;
    CHECK(kernel.is_open[fd - FIRST_FD]);
    kernel.is_open[fd - FIRST_FD] = false;
    return 0;
}

static size_t left_open(void)
{
    size_t n = 0;
    for (size_t i = 0; i < EVENTS_MAX; i++)
        n += kernel.is_open[i] ? 1 : 0;
    return n;
}

static const uint64_t configs[3] = {0x1000, 2, UINT64_C(1) << 60};

static void test_group(void)
{
    struct gtel_env_posix pmu = {0};
    uint64_t values[3] = {0};
    uint64_t enabled_ns = 0;
    memset(&kernel, 0, sizeof(kernel));
    test_label = "a group";
    int handle = gtel_pmu_posix_open(&pmu, 27, configs, 3, 3);
    CHECK_INT(handle, 0);
    CHECK_INT(kernel.opened, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct perf_event_attr *attr = &kernel.attr[i];
        CHECK_INT(attr->type, 27);
        CHECK_INT(attr->config, configs[i]);
        CHECK_INT(attr->size, sizeof(*attr));
        CHECK_INT(attr->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_GROUP);
        CHECK_INT(attr->sample_period, 0); /* counts, and samples nothing */
        CHECK(attr->inherit == 0 && attr->disabled == 0 && attr->exclude_kernel == 0);
        CHECK_INT(kernel.leader[i], i > 0 ? FIRST_FD : -1);
    }
    kernel.interrupted = 2;
    CHECK_INT(gtel_pmu_posix_read(&pmu, handle, values, 3, &enabled_ns), 0);
    CHECK_INT(kernel.reads, 3);
    CHECK(values[0] == 100 && values[1] == 101 && values[2] == 102 && enabled_ns == 5000000000);
    CHECK_INT(gtel_pmu_posix_read(&pmu, handle, values, 2, &enabled_ns), -EBADF);
    gtel_pmu_posix_close(&pmu, handle);
    CHECK_INT(left_open(), 0);
    CHECK_INT(gtel_pmu_posix_read(&pmu, handle, values, 3, &enabled_ns), -EBADF);
    gtel_pmu_posix_done(&pmu);
}

/* Each event refused in turn: those before it are closed, and the reason is reported. */
static void test_refusals(void)
{
    static const struct {
        const char *label;
        int refusal;
        int want;
    } cases[] = {
        {"no right", EACCES, -EACCES},    {"no right, by seccomp", EPERM, -EPERM},
        {"no such PMU", ENOENT, -ENOENT}, {"gone", ENODEV, -ENODEV},
        {"another CPU", EINVAL, -EINVAL}, {"descriptors", EMFILE, -EMFILE},
        {"no perf", ENOSYS, -EOPNOTSUPP},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t event = 1; event <= 3; event++) {
            struct gtel_env_posix pmu = {0};
            memset(&kernel, 0, sizeof(kernel));
            kernel.refused = event;
            kernel.refusal = cases[i].refusal;
            test_label = cases[i].label;
            CHECK_INT(gtel_pmu_posix_open(&pmu, 27, configs, 3, 3), cases[i].want);
            CHECK_INT(kernel.opened, event - 1);
            CHECK_INT(left_open(), 0);
            kernel.refused = 0;
            kernel.opened = 0;
            CHECK_INT(gtel_pmu_posix_open(&pmu, 27, configs, 3, 3), 0); /* nothing is left over */
            gtel_pmu_posix_close(&pmu, 0);
            gtel_pmu_posix_done(&pmu);
        }
    }
}

/* An answer that is not whole gives no value. */
static void test_reads(void)
{
    static const struct {
        const char *label;
        int error;
        size_t short_by;
        uint64_t extra;
        int want;
    } cases[] = {
        {"gone", ENODEV, 0, 0, -ENODEV},
        {"short", 0, 8, 0, -EIO},
        {"nothing: an event in error state", 0, 40, 0, -EIO},
        {"another number of events", 0, 0, 1, -EIO},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_env_posix pmu = {0};
        uint64_t values[3] = {7, 7, 7};
        uint64_t enabled_ns = 9;
        memset(&kernel, 0, sizeof(kernel));
        test_label = cases[i].label;
        CHECK_INT(gtel_pmu_posix_open(&pmu, 27, configs, 3, 3), 0);
        kernel.read_error = cases[i].error;
        kernel.short_by = cases[i].short_by;
        kernel.extra = cases[i].extra;
        CHECK_INT(gtel_pmu_posix_read(&pmu, 0, values, 3, &enabled_ns), cases[i].want);
        CHECK(values[0] == 7 && values[1] == 7 && values[2] == 7 && enabled_ns == 9);
        gtel_pmu_posix_close(&pmu, 0);
        gtel_pmu_posix_done(&pmu);
    }
}

static void test_limits(void)
{
    static uint64_t many[GTEL_PMU_EVENTS_MAX + 1];
    struct gtel_env_posix pmu = {0};
    test_label = "limits";
    memset(&kernel, 0, sizeof(kernel));
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, 0, 3), -EINVAL);
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, GTEL_PMU_EVENTS_MAX + 1, 3), -EINVAL);
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, 1, (uint32_t)INT32_MAX + 1), -EINVAL);
    CHECK_INT(kernel.opened, 0);
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, GTEL_PMU_EVENTS_MAX, 3), 0);
    CHECK_INT(kernel.opened, GTEL_PMU_EVENTS_MAX);
    gtel_pmu_posix_close(&pmu, 0);
    kernel.opened = 0;
    for (int i = 0; i < GTEL_PMU_GROUPS_MAX; i++)
        CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, 1, 3), i);
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, 1, 3), -EMFILE);
    CHECK_INT(kernel.opened, GTEL_PMU_GROUPS_MAX);
    gtel_pmu_posix_close(&pmu, 5); /* each is the leader of a group of its own */
    CHECK_INT(gtel_pmu_posix_open(&pmu, 27, many, 1, 3), 5);
    gtel_pmu_posix_done(&pmu);
}

int main(void)
{
    test_limits();
    test_group();
    test_refusals();
    test_reads();
    return test_result();
}
