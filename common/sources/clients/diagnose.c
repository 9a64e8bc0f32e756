/* SPDX-License-Identifier: MIT */
/* Why processes, or what they use of a GPU, are not known. */
#include "sources/clients/clients.h"

#include "parse/release.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct diagnosis {
    const struct gtel_clients *state;
    struct gtel_findings *findings;
    bool has_kernel;
    struct gtel_release kernel;
};

static void add(const struct diagnosis *diagnosis, const struct gtel_device *device,
                enum gtel_measurement measurement, const char *what, const char *why,
                const char *fix)
{
    const char *const text[3] = {what, why, fix};
    gtel_finding_put(diagnosis->findings, device, measurement, 0, text);
}

/* The host */

/* Where processes of others cannot be read. */
static const char read_fix[] =
    "give the program CAP_SYS_PTRACE; in a container, start it with --cap-add=SYS_PTRACE";

static uint32_t count_refused(const struct gtel_scan_counts *counts)
{
    return counts->visible - counts->unknown - counts->readable;
}

static void diagnose_rights(const struct diagnosis *diagnosis)
{
    const struct gtel_clients *state = diagnosis->state;
    const struct gtel_scan_counts *counts = gtel_scan_counts(state->scan);
    uint32_t refused = count_refused(counts);
    char why[160];
    if (state->is_namespace_known && !state->is_initial)
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/self/ns/pid",
            "this is a container (a pid namespace): processes outside of it cannot be seen",
            "run gtel on the host, or give the container the host's processes: docker and podman "
            "run --pid=host, Kubernetes hostPID: true");
    if (!counts->has_init)
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/1",
            "proc is mounted with hidepid: processes of other users cannot be seen",
            "give the program CAP_SYS_PTRACE, or let its user into the group that the mount "
            "option gid= names");
    if (refused > 0) {
        (void)snprintf(why, sizeof(why),
                       "others own %u of %u visible processes, which cannot be read",
                       (unsigned)refused, (unsigned)counts->visible);
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/PID/fdinfo", why, read_fix);
    }
    if (counts->is_by_text && counts->asleep > 0)
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/PID/fd",
            "descriptors can only be identified by reading them, which would wake a sleeping "
            "GPU; new clients are found when it is awake",
            "give the program CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE");
}

static void diagnose_pace(const struct diagnosis *diagnosis)
{
    const struct gtel_scan_counts *counts = gtel_scan_counts(diagnosis->state->scan);
    const uint64_t promise_ns = 60000000000;
    unsigned seconds = (unsigned)((counts->rotation_ns + 999999999) / 1000000000);
    char why[200];
    if (!counts->has_numbers) {
        (void)snprintf(
            why, sizeof(why),
            "this kernel does not report how many descriptors a process has: clients that "
            "a process opens later are found within %u s",
            seconds);
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "st_size of proc/PID/fd", why,
            "run Linux 6.2 or newer");
    } else if (counts->rotation_ns > promise_ns) {
        (void)snprintf(
            why, sizeof(why),
            "very many descriptors are open: a client behind one that replaced another is "
            "found within %u s",
            seconds);
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/PID/fd", why, NULL);
    }
    if (counts->is_first || counts->waiting > counts->asleep) {
        (void)snprintf(why, sizeof(why),
                       "%u of %u processes still to be scanned: clients of a GPU may be missing",
                       (unsigned)counts->waiting, (unsigned)counts->visible);
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "proc/PID/fd", why, NULL);
    }
    if (counts->dropped > 0 || diagnosis->state->table.dropped > 0)
        add(diagnosis, NULL, GTEL_MEASUREMENT_GPU_PROCESS, "clients",
            "there are more clients than the limit", NULL);
}

/* The devices */

/* Since when a driver prints what of its clients (kernel: see devices.c). */
static const struct {
    const char *driver;
    struct {
        uint32_t major;
        uint32_t minor;
    } engines, memory;
} since[] = {
    {"i915", {6, 5}, {6, 8}},     {"xe", {6, 11}, {6, 8}},       {"amdgpu", {5, 19}, {5, 19}},
    {"panfrost", {6, 8}, {6, 8}}, {"panthor", {6, 14}, {6, 14}},
};

/* What needs a newer kernel: "run Linux 6.8 or newer", or NULL. */
static const char *newer(const struct diagnosis *diagnosis, const char *driver, bool is_memory,
                         char *buf, size_t size)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(since); i++) {
        uint32_t major = is_memory ? since[i].memory.major : since[i].engines.major;
        uint32_t minor = is_memory ? since[i].memory.minor : since[i].engines.minor;
        if (strcmp(since[i].driver, driver) != 0 || !diagnosis->has_kernel ||
            gtel_release_is_at_least(&diagnosis->kernel, major, minor))
            continue;
        (void)snprintf(buf, size, "run Linux %u.%u or newer", (unsigned)major, (unsigned)minor);
        return buf;
    }
    return NULL;
}

static bool is_profiling_off(const struct diagnosis *diagnosis,
                             const struct gtel_client_device *device, char *path)
{
    uint64_t value;
    gtel_fs_path(path, "%s/profiling", device->path);
    return device->driver && device->driver->has_profiling &&
           gtel_fs_u64(diagnosis->state->env, path, &value) == 0 && value == 0;
}

static void diagnose_engines(const struct diagnosis *diagnosis,
                             const struct gtel_client_device *device)
{
    char path[GTEL_FS_PATH_MAX];
    char fix[GTEL_FS_PATH_MAX + 64];
    char buf[64];
    if (is_profiling_off(diagnosis, device, path)) {
        (void)snprintf(fix, sizeof(fix), "switch it on, as root:\necho 1 > /%s", path);
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, path,
            "the driver counts engine time only when this is switched on", fix);
    } else if (device->engines == 0) {
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, "drm-engine- of fdinfo",
            "the driver does not report engine time of its clients",
            newer(diagnosis, device->card.driver, false, buf, sizeof(buf)));
    }
}

static bool has_memory(const struct gtel_clients *state, const struct gtel_client_device *device)
{
    uint64_t bytes;
    for (size_t i = 0; i < state->table.n; i++) {
        const struct gtel_client *client = &state->table.client[i];
        if (state->device[client->key.device] == device &&
            gtel_use_memory_get(&client->memory, GTEL_M_PROCESS_MEMORY, &bytes))
            return true;
    }
    return false;
}

/* Work that is in no text of a client. */
static void diagnose_hidden(const struct diagnosis *diagnosis,
                            const struct gtel_client_device *device)
{
    const struct gtel_client_kfd *kfd = &diagnosis->state->kfd;
    bool is_anyone = kfd->error < 0 || !diagnosis->state->is_initial;
    const char *what = "sys/class/kfd/kfd/proc";
    char why[240] = "";
    if (!gtel_clients_is_hidden(diagnosis->state, device))
        return;
    if (kfd->has_user_queues) {
        what = "sys/module/amdgpu/parameters/user_queue";
        (void)snprintf(
            why, sizeof(why),
            "clients may have queues in user mode, whose work is in no text of a client: no "
            "busy shares, and no engine use from clients");
    } else if (kfd->error < 0) {
        (void)snprintf(why, sizeof(why), "which processes use ROCm is not known");
    } else {
        (void)snprintf(
            why, sizeof(why),
            "%u process%s ROCm open, and the work of its queues (KFD) is in no text of a "
            "client: no compute, copy and busy shares of %s, and no engine use from "
            "clients",
            (unsigned)kfd->listed, kfd->listed == 1 ? " has" : "es have",
            is_anyone ? "any process" : "those with memory or queues");
    }
    const char *const text[3] = {what, why, NULL};
    gtel_finding_put(diagnosis->findings, NULL, GTEL_MEASUREMENT_GPU_PROCESS, kfd->error, text);
    gtel_finding_put(diagnosis->findings, device->device, GTEL_MEASUREMENT_GPU_ENGINE, kfd->error,
                     text);
}

static void diagnose_device(const struct diagnosis *diagnosis,
                            const struct gtel_client_device *device)
{
    char buf[64];
    if (device->is_silent) {
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, "fdinfo",
            "the driver does not report its clients", "run Linux 5.19 or newer");
        return;
    }
    if (device->has_ambiguous)
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, "drm-driver of fdinfo",
            "of clients in processes whose descriptors may not be checked, only the driver is "
            "known, and it has several GPUs here: the GPU of these clients is not known",
            "give the program CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE");
    if (!device->is_read) {
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, "fdinfo",
            device->is_asleep ? "suspended: clients are not read, so that the GPU stays asleep"
                              : "idle: clients are not read for a while, so that the GPU can fall "
                                "asleep",
            NULL);
        return;
    }
    if (!device->has_texts)
        return; /* nobody uses it */
    diagnose_engines(diagnosis, device);
    diagnose_hidden(diagnosis, device);
    if (!has_memory(diagnosis->state, device))
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_PROCESS, "drm-memory of fdinfo",
            "the driver does not report memory of its clients, or only in unknown regions",
            newer(diagnosis, device->card.driver, true, buf, sizeof(buf)));
    /* Drivers with counters of the whole device need no sums. */
    bool has_better = device->driver && device->driver->is_exact;
    const struct gtel_scan_counts *counts = gtel_scan_counts(diagnosis->state->scan);
    if (device->engines > 0 && !has_better && device->has_vfs)
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_ENGINE, "sriov_numvfs",
            "virtual functions are on: guests use the GPU, too, and their work is in no client",
            NULL);
    else if (device->engines > 0 && !has_better && !counts->has_numbers && !counts->is_listed)
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_ENGINE, "st_size of proc/PID/fd",
            "the sum over clients is that of the GPU only where the kernel reports how many "
            "descriptors a process has",
            "run Linux 6.2 or newer");
    else if (device->engines > 0 && !has_better && !gtel_clients_is_complete(diagnosis->state))
        add(diagnosis, device->device, GTEL_MEASUREMENT_GPU_ENGINE, "DRM clients",
            "the sum over clients is that of the GPU only where all processes are seen and read",
            count_refused(counts) > 0 ? read_fix : NULL);
}

void gtel_clients_diagnose(void *p, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_clients *state = p;
    struct diagnosis diagnosis = {.state = state, .findings = findings};
    char buf[256];
    struct gtel_str text;
    (void)registry;
    if (!gtel_clients_has_processes(state))
        return;
    diagnosis.has_kernel =
        gtel_fs_text(state->env, "proc/sys/kernel/osrelease", buf, sizeof(buf), &text) == 0 &&
        gtel_release_parse(text, &diagnosis.kernel) == 0;
    diagnose_rights(&diagnosis);
    diagnose_pace(&diagnosis);
    for (size_t i = 0; i < state->n; i++)
        if (state->device[i]->is_present && state->device[i]->device)
            diagnose_device(&diagnosis, state->device[i]);
}
