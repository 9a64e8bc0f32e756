/* SPDX-License-Identifier: MIT */
/* What source drm_clients says of processes and clients that it does not know, word by word. */
#include "harness/client_machine.h"
#include "harness/findings.h"
#include "harness/test.h"

#include <errno.h>

enum { SAYS_MAX = 4 };

#define CONTAINER                                                                                  \
    "proc/self/ns/pid: 0: this is a container (a pid namespace): processes outside of"             \
    " it cannot be seen: run gtel on the host, or give the container the host's "                  \
    "processes: docker and podman run --pid=host, Kubernetes hostPID: true"
#define HIDEPID                                                                                    \
    "proc/1: 0: proc is mounted with hidepid: processes of other users cannot be "                 \
    "seen: give the program CAP_SYS_PTRACE, or let its user into the group that the "              \
    "mount option gid= names"
#define PTRACE                                                                                     \
    "give the program CAP_SYS_PTRACE; in a container, start it with --user "                       \
    "0 --pid=host --cap-add=SYS_PTRACE"
#define BY_TEXT                                                                                    \
    "proc/PID/fd: 0: descriptors can only be identified by reading them, which would "             \
    "wake a sleeping GPU; new clients are found when it is awake: give the program "               \
    "CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE"
#define SUSPENDED "fdinfo: 0: suspended: clients are not read, so that the GPU stays asleep: "
#define NO_NUMBERS                                                                                 \
    "st_size of proc/PID/fd: 0: this kernel does not report how many descriptors a "               \
    "process has: clients that a process opens later are found within 60 s: run Linux"             \
    " 6.2 or newer"
#define NO_SUM                                                                                     \
    "st_size of proc/PID/fd: 0: the sum over clients is that of the GPU only where "               \
    "the kernel reports how many descriptors a process has: run Linux 6.2 or newer"
#define RARE                                                                                       \
    "proc/PID/fd: 0: very many descriptors are open: a client behind one that "                    \
    "replaced another is found within 61 s: "
#define NO_CLIENTS "fdinfo: 0: the driver does not report its clients: "
#define NO_ENGINES                                                                                 \
    "drm-engine- of fdinfo: 0: the driver does not report engine time of its clients:"             \
    " "
#define RUNS_ON                                                                                    \
    "drm-cycles- of fdinfo: 0: the driver counts the work of a context when it switches out: one " \
    "that runs on has 0 meanwhile: use Linux 6.15 or newer"
#define NO_MEMORY                                                                                  \
    "drm-memory of fdinfo: 0: the driver does not report memory of its clients, or "               \
    "only in unknown regions: "

#define KFD "sys/class/kfd/kfd/"
#define ROCM(pid) "file " KFD "proc/" pid "/pasid\n| 0\n"
#define OPEN(who, whose)                                                                           \
    "sys/class/kfd/kfd/proc: 0: " who                                                              \
    " ROCm open, and the work of its queues (KFD) is in no text of a client: no "                  \
    "compute, copy and busy shares of " whose ", and no engine use from clients: "
#define ONE_OPEN OPEN("1 process has", "those with memory or queues")
#define TWO_OPEN OPEN("2 processes have", "those with memory or queues")
#define ANY_OPEN OPEN("1 process has", "any process")
#define NOT_LISTED "sys/class/kfd/kfd/proc: 13: which processes use ROCm is not known: "
#define USER_QUEUES                                                                                \
    "sys/module/amdgpu/parameters/user_queue: 0: clients may have queues in user"                  \
    " mode, whose work is in no text of a client: no busy shares, and no engine "                  \
    "use from clients: "

/* A machine with one card, a client of process 700 in the first seconds, and a process 800. */
static const struct sight {
    const char *label;
    const char *driver;
    /* Of the client's engines and memory, instead of what the driver writes; "": no line of DRM. */
    const char *text;
    const char *more; /* at 0 s */
    const char *then; /* at 1 s */
    unsigned step_ms; /* between gathers; 0: a second */
    const char *says[SAYS_MAX];
} cases[] = {
    {"all is known", "i915", NULL, "", "", 0, {NULL}},
    {"a container",
     "i915",
     NULL,
     "link proc/self/ns/pid -> pid:[4026532299]\n",
     "",
     0,
     {CONTAINER}},
    {"a namespace that is not known", "i915", NULL, "gone proc/self/ns\n", "", 0, {NULL}},
    {"hidepid", "i915", NULL, "gone proc/1\n", "", 0, {HIDEPID}},
    {"one of three belongs to others",
     "i915",
     NULL,
     "refuse proc/800/fd EACCES\nrefuse proc/800/fdinfo EACCES\n",
     "",
     0,
     {"proc/PID/fdinfo: 0: others own 1 of 3 visible processes, which cannot be "
      "read: " PTRACE}},
    {"one of three, of a driver that needs sums",
     "gpu2040",
     NULL,
     "refuse proc/800/fd EACCES\nrefuse proc/800/fdinfo EACCES\n",
     "",
     0,
     {"proc/PID/fdinfo: 0: others own 1 of 3 visible processes, which cannot be read: " PTRACE,
      "DRM clients: 0: the sum over clients is that of the GPU only where all processes are seen "
      "and read: " PTRACE}},
    {"identified by text, and the GPU sleeps",
     "xe",
     NULL,
     "refuse proc/800/fd EACCES\n",
     "file sys/devices/0000:01:00.0/power/runtime_status\n| suspended\nlink proc/800/fd/1 -> "
     "/dev/null\nfile proc/800/fdinfo/1\n| pos:\t0\n",
     0,
     {BY_TEXT, SUSPENDED}},
    {"a kernel without numbers",
     "i915",
     NULL,
     "file proc/sys/kernel/osrelease\n| 6.1.0\n",
     "",
     0,
     {NO_NUMBERS}},
    {"no numbers, of a driver that needs sums",
     "gpu2040",
     NULL,
     "file proc/sys/kernel/osrelease\n| 6.1.0\n",
     "",
     0,
     {NO_NUMBERS, NO_SUM}},
    {"gathers that are rare", "i915", NULL, "", "", 61000, {RARE}},
    {"gathers each minute", "i915", NULL, "", "", 60000, {NULL}},
    {"a descriptor that cannot be checked",
     "i915",
     NULL,
     "",
     "refuse proc/800/fd EIO\n",
     0,
     {"proc/PID/fd: 0: 1 of 3 processes still to be scanned: clients of a GPU may be missing: "}},
    {"switched off",
     "panfrost",
     "| drm-engine-x:\t1 ns\n"
     "| drm-memory-vram:\t4 KiB\n",
     "file sys/class/drm/card0/device/profiling\n| 0\nfile sys/devices/0000:01:00.0/profiling\n| "
     "0\n",
     "",
     0,
     {"sys/class/drm/card0/device/profiling: 0: the driver counts engine time only when this is "
      "switched on: switch it on, as root:\necho 1 > /sys/class/drm/card0/device/profiling"}},
    {"cycles alone are switched on",
     "panthor",
     "| drm-cycles-panthor:\t1\n"
     "| drm-memory-vram:\t4 KiB\n",
     "file sys/class/drm/card0/device/profiling\n| 1\nfile sys/devices/0000:01:00.0/profiling\n| "
     "1\n",
     "",
     0,
     {"sys/class/drm/card0/device/profiling: 0: the driver counts engine time only when this is "
      "switched on: switch it on, as root:\necho 2 > /sys/class/drm/card0/device/profiling"}},
    {"time alone is switched on",
     "panthor",
     "| drm-engine-panthor:\t1 ns\n"
     "| drm-memory-vram:\t4 KiB\n",
     "file sys/devices/0000:01:00.0/profiling\n| 2\n",
     "",
     0,
     {NULL}},
    {"switched on",
     "panfrost",
     "| drm-engine-x:\t1 ns\n"
     "| drm-memory-vram:\t4 KiB\n",
     "file sys/devices/0000:01:00.0/profiling\n| 1\n",
     "",
     0,
     {NULL}},
    {"a file of that name of another driver",
     "gpu2040",
     "| drm-memory-vram:\t4 KiB\n",
     "file sys/devices/0000:01:00.0/profiling\n| 0\n",
     "",
     0,
     {NO_ENGINES}},
    {"i915 6.4.0: no engines",
     "i915",
     "| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.4.0\n",
     "",
     0,
     {NO_ENGINES "run Linux 6.5 or newer"}},
    {"i915 6.5.0: no engines",
     "i915",
     "| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.5.0\n",
     "",
     0,
     {NO_ENGINES}},
    {"xe 6.10.0: no engines",
     "xe",
     "| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.10.0\n",
     "",
     0,
     {NO_ENGINES "run Linux 6.11 or newer"}},
    {"xe 6.11.0: no engines",
     "xe",
     "| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.11.0\n",
     "",
     0,
     {NO_ENGINES}},
    {"i915 5.18.0: no clients",
     "i915",
     "",
     "file proc/sys/kernel/osrelease\n| 5.18.0\n",
     "",
     0,
     {NO_NUMBERS, NO_CLIENTS "run Linux 5.19 or newer"}},
    {"i915 5.19.0: no clients",
     "i915",
     "",
     "file proc/sys/kernel/osrelease\n| 5.19.0\n",
     "",
     0,
     {NO_NUMBERS, NO_CLIENTS}},
    {"amdgpu 5.18.0: no clients",
     "amdgpu",
     "",
     "file proc/sys/kernel/osrelease\n| 5.18.0\n",
     "",
     0,
     {NO_NUMBERS, NO_CLIENTS "run Linux 5.19 or newer"}},
    {"msm 5.19.0: no clients",
     "msm",
     "",
     "file proc/sys/kernel/osrelease\n| 5.19.0\n",
     "",
     0,
     {NO_NUMBERS, NO_CLIENTS "run Linux 6.0 or newer"}},
    {"v3d 6.7.0: no clients",
     "v3d",
     "",
     "file proc/sys/kernel/osrelease\n| 6.7.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 6.8 or newer"}},
    {"v3d 6.8.0: no clients",
     "v3d",
     "",
     "file proc/sys/kernel/osrelease\n| 6.8.0\n",
     "",
     0,
     {NO_CLIENTS}},
    {"panfrost 6.7.0: no clients",
     "panfrost",
     "",
     "file proc/sys/kernel/osrelease\n| 6.7.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 6.8 or newer"}},
    {"etnaviv 6.12.0: no clients",
     "etnaviv",
     "",
     "file proc/sys/kernel/osrelease\n| 6.12.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 6.14 or newer"}},
    {"panthor 6.13.0: no clients",
     "panthor",
     "",
     "file proc/sys/kernel/osrelease\n| 6.13.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 6.14 or newer"}},
    {"intel_vpu 6.18.0: no clients",
     "intel_vpu",
     "",
     "file proc/sys/kernel/osrelease\n| 6.18.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 6.19 or newer"}},
    {"amdxdna 7.1.0: no clients",
     "amdxdna",
     "",
     "file proc/sys/kernel/osrelease\n| 7.1.0\n",
     "",
     0,
     {NO_CLIENTS "run Linux 7.2 or newer"}},
    {"amdxdna 7.2.0: no clients",
     "amdxdna",
     "",
     "file proc/sys/kernel/osrelease\n| 7.2.0\n",
     "",
     0,
     {NO_CLIENTS}},
    {"gpu2040 6.7.0: no engines",
     "gpu2040",
     "| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.7.0\n",
     "",
     0,
     {NO_ENGINES}},
    {"no engines, and the kernel is not known",
     "i915",
     "| drm-memory-vram:\t4 KiB\n",
     "",
     "",
     0,
     {NO_ENGINES}},
    {"engines that never worked",
     "i915",
     "| drm-engine-render:\t0 ns\n"
     "| drm-memory-vram:\t4 KiB\n",
     "",
     "",
     0,
     {NULL}},
    {"i915 6.7.0: no memory",
     "i915",
     "| drm-engine-x:\t1 ns\n",
     "file proc/sys/kernel/osrelease\n| 6.7.0\n",
     "",
     0,
     {NO_MEMORY "run Linux 6.8 or newer"}},
    {"i915 6.8.0: no memory",
     "i915",
     "| drm-engine-x:\t1 ns\n",
     "file proc/sys/kernel/osrelease\n| 6.8.0\n",
     "",
     0,
     {NO_MEMORY}},
    {"xe 6.14.0: contexts that run on",
     "xe",
     "| drm-engine-x:\t1 ns\n| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.14.0\n",
     "",
     0,
     {RUNS_ON}},
    {"xe 6.15.0: counted",
     "xe",
     "| drm-engine-x:\t1 ns\n| drm-memory-vram:\t4 KiB\n",
     "file proc/sys/kernel/osrelease\n| 6.15.0\n",
     "",
     0,
     {NULL}},
    {"asleep",
     "xe",
     NULL,
     "",
     "file sys/devices/0000:01:00.0/power/runtime_status\n| suspended\n",
     0,
     {SUSPENDED}},
    {"guests",
     "gpu2040",
     NULL,
     "file sys/devices/0000:01:00.0/sriov_numvfs\n| 1\n",
     "",
     0,
     {"sriov_numvfs: 0: virtual functions are on: guests use the GPU, too, and their work is in no "
      "client: "}},
    {"guests of a driver that counts itself",
     "i915",
     NULL,
     "file sys/devices/0000:01:00.0/sriov_numvfs\n| 1\n",
     "",
     0,
     {NULL}},
    {"KFD: one process", "amdgpu", NULL, ROCM("700"), "", 0, {ONE_OPEN, ONE_OPEN}},
    {"KFD: two processes", "amdgpu", NULL, ROCM("700") ROCM("800"), "", 0, {TWO_OPEN, TWO_OPEN}},
    {"KFD: one process, of another driver", "gpu2040", NULL, ROCM("700"), "", 0, {NULL}},
    {"KFD: in a container",
     "amdgpu",
     NULL,
     ROCM("700") "link proc/self/ns/pid -> pid:[4026532299]\n",
     "",
     0,
     {CONTAINER, ANY_OPEN, ANY_OPEN,
      "DRM clients: 0: the sum over clients is that of the GPU only where all processes are seen "
      "and read: "}},
    {"KFD: refused",
     "amdgpu",
     NULL,
     "refuse " KFD "proc EACCES\n",
     "",
     0,
     {NOT_LISTED, NOT_LISTED}},
    {"KFD: nobody", "amdgpu", NULL, "dir " KFD "proc\n", "", 0, {NULL}},
    {"queues of clients",
     "amdgpu",
     NULL,
     "file sys/module/amdgpu/parameters/user_queue\n| 1\n",
     "",
     0,
     {USER_QUEUES, USER_QUEUES}},
    {"nobody uses it", "i915", NULL, "", "gone proc/700\n", 0, {NULL}},
};

static void put_sight(struct gtel_buf *text, const struct sight *sight)
{
    clients_begin(text);
    clients_card(text, 0, sight->driver);
    clients_process(text, 700, "worker", 50);
    clients_process(text, 800, "other", 50);
    clients_fd(text, 700, 5, 0);
    for (unsigned t = 0; t < 3; t++) {
        if (t > 0)
            gtel_buf_printf(text, "at %us\n", t);
        if (sight->text && sight->text[0] == '\0')
            gtel_buf_printf(text, "file proc/700/fdinfo/5\n| pos:\t0\n");
        else if (sight->text)
            gtel_buf_printf(text,
                            "file proc/700/fdinfo/5\n| drm-driver:\t%s\n| drm-client-id:\t9\n"
                            "| drm-pdev:\t0000:01:00.0\n%s",
                            sight->driver, sight->text);
        else
            clients_text(text, (struct clients_client){700, 5, 0, sight->driver, 9}, t);
        gtel_buf_printf(text, "%s", t == 0 ? sight->more : t == 1 ? sight->then : "");
    }
}

int main(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_findings findings = {0};
        struct lane lane;
        test_label = cases[i].label;
        put_sight(&text, &cases[i]);
        if (!clients_run(&lane, &text, 0))
            break;
        for (int n = 0; n < 3; n++) {
            lane_step(&lane, cases[i].step_ms ? cases[i].step_ms : 1000);
            lane_gather(&lane);
        }
        gtel_group_diagnose(&lane.group, &findings);
        check_findings(&findings, cases[i].says, SAYS_MAX);
        gtel_findings_done(&findings);
        lane_done(&lane);
    }
    test_label = "";
    gtel_buf_done(&text);
    return test_result();
}
