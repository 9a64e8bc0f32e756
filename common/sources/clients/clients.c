/* SPDX-License-Identifier: MIT */
/* Source drm_clients: who uses which GPU, from DRM fdinfo. */
#include "sources/clients/clients.h"

#include "host/kernel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Where the context timestamp of an xe GPU has 32 bits (before Xe2), the kernel extends it when a
 * client is read: each 100 s at least (kernel: xe/xe_lrc.c).
 */
static const uint64_t keep_ns = 90000000000;
/* A first scan of many descriptors is not left to the gathers alone. */
static const uint64_t first_ns = 100000000;

static const char *const origins[] = {"DRM clients", "DRM clients and KFD", NULL};

static bool present(const struct gtel_env *env)
{
    return gtel_clients_any(env) == 0;
}

static int open_source(void *p, const struct gtel_env *env, const struct gtel_options *options)
{
    struct gtel_clients *state = p;
    int r = gtel_clients_any(env);
    (void)options;
    if (r < 0)
        return r;
    state->env = env;
    r = gtel_scan_new(env, NULL, &state->scan);
    if (r == 0)
        state->counts = gtel_scan_counts(state->scan);
    return r;
}

static int discover(void *p, struct gtel_registry *registry)
{
    return gtel_clients_discover(p, registry);
}

static int scan(struct gtel_clients *state)
{
    const struct gtel_scan_hooks hooks = {.arg = state,
                                          .read = gtel_clients_read,
                                          .is_drm = gtel_clients_is_drm,
                                          .may_read = gtel_clients_may_read,
                                          .failed = gtel_clients_failed,
                                          .closed = gtel_clients_closed};
    state->table.gather++;
    return gtel_scan_gather(state->scan, &hooks);
}

static bool has_devices(const struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->device[i]->is_present)
            return true;
    return false;
}

static void begin_gather(struct gtel_clients *state, struct gtel_registry *registry,
                         struct gtel_batch *batch)
{
    uint64_t suspended_ns = gtel_env_suspended(state->env);
    uint64_t boot_ns = state->clock.last_ns + state->clock.suspended_ns;
    state->registry = registry;
    state->batch = batch;
    state->t_ns = gtel_env_now(state->env);
    state->has_searched = false;
    state->needs_discovery = false;
    batch->t_ns = state->t_ns;
    state->span = gtel_share_tick(&state->clock, state->t_ns, suspended_ns, &state->dt_ns);
    state->boot_before_ns = boot_ns;
    if (state->span == GTEL_SPAN_GAP)
        for (size_t i = 0; i < state->n; i++)
            gtel_client_table_forget_bases(&state->table, (uint32_t)i);
}

/* What the clients use: per process, and per engine class of each device */

/* The engines of each class. */
struct classes {
    double share[GTEL_ENGINE_KINDS];      /* of the busiest */
    uint32_t capacity[GTEL_ENGINE_KINDS]; /* of all */
    uint32_t is_known;                    /* a bit per class that has engines */
};

/*
 * Engines that have names of their own within a class are unlike (amdgpu's enc and enc_1, all that
 * is "other"), and a driver may report one only once it has worked. So the busiest counts: neither
 * a mean over those seen so far, which other processes would change, nor a sum, which would call a
 * class full while each of its engines has room. Like engines are one name with a capacity.
 */
static void add(struct classes *classes, const struct gtel_client_engine *engine, double share)
{
    enum gtel_engine_kind kind = engine->kind;
    classes->is_known |= 1u << kind;
    classes->capacity[kind] += engine->capacity;
    classes->share[kind] = share > classes->share[kind] ? share : classes->share[kind];
}

/* The engines that a client omits although they may have worked. */
static uint32_t unreported(const struct gtel_client_device *device,
                           const struct gtel_client *client)
{
    const uint32_t all = (1u << device->engines) - 1;
    bool are_idle = device->driver->counting == GTEL_COUNTS_NO_ZEROS;
    return are_idle ? 0 : all & ~client->has_engine;
}

/* All engines or none: the busiest of a part of them would be no value of the client. */
static void sum_client(const struct gtel_client_device *device, const struct gtel_client *client,
                       struct gtel_use *use)
{
    struct classes classes = {0};
    if (client->has_share != client->has_engine || unreported(device, client) != 0)
        return;
    for (size_t e = 0; e < device->engines; e++) {
        /* One that another client was the first to report, and later than this one was read. */
        bool is_new = (client->has_share >> e & 1) == 0;
        add(&classes, &device->engine[e], is_new ? 0 : client->share_of[e]);
    }
    /* Nobody has used an engine yet, and all GPUs of that driver have one for compute. */
    if (device->engines == 0 && device->driver->counting == GTEL_COUNTS_NO_ZEROS)
        classes.is_known = 1u << GTEL_ENGINE_KIND_COMPUTE;
    use->has_share = classes.is_known;
    memcpy(use->share, classes.share, sizeof(use->share));
}

/* NULL: the number is not in use, or the client may be of several devices. */
static struct gtel_client_device *device_of(const struct gtel_clients *state,
                                            const struct gtel_client *client)
{
    return client->key.device >= 0 ? state->device[client->key.device] : NULL;
}

/*
 * Whose the client is. A counter that went back when the owner changed is that of another client,
 * which has the id now.
 */
static const struct gtel_scan_owner *update_owner(const struct gtel_clients *state, size_t i)
{
    struct gtel_client *client = &state->table.client[i];
    const struct gtel_scan_owner *owner = gtel_scan_owner(state->scan, (uint32_t)i + 1);
    if (client->owner != 0 && client->owner != owner->number && gtel_client_is_below(client))
        gtel_client_forget_bases(client);
    client->owner = owner->number;
    return owner;
}

/* Whether the processes of other containers and users are visible, too. */
static bool are_all_visible(const struct gtel_clients *state)
{
    return state->namespace == GTEL_NAMESPACE_HOST && state->counts->has_init;
}

/*
 * A client whose text may not be read now, or cannot be, is still there, and its process with it;
 * what that process uses of the device is not known then.
 */
static void report_client(const struct gtel_clients *state, struct gtel_batch *batch, size_t i)
{
    const struct gtel_client *client = &state->table.client[i];
    struct gtel_client_device *device = device_of(state, client);
    struct gtel_use use = {0};
    if (!device || !device->is_present || !device->device)
        return;
    const struct gtel_scan_owner *owner = update_owner(state, i);
    if (gtel_client_is_read(&state->table, client)) {
        use.memory = client->memory;
        if (state->span != GTEL_SPAN_SHORT)
            sum_client(device, client, &use);
    } else if (device->is_read) {
        gtel_batch_failed(batch, device->device);
    }
    gtel_clients_hide(state, device, owner->birth.pid, &use);
    /* Work that is not known of it could be that of a process that is not visible. */
    if (!are_all_visible(state) && device->is_read && (use.has_share == 0 || use.hidden != 0))
        gtel_clients_miss(device, GTEL_GAP_UNREAD);
    const struct gtel_process_id process = {.pid = owner->birth.pid, .start = owner->birth.start};
    gtel_usage_add(batch->usage, device->device, batch->source, batch->origin, process, &use);
}

/* Whether there are any processes: false for a recording that has none. */
static bool has_processes(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = state->counts;
    return state->scan_error == 0 && (counts->has_init || counts->visible > 0);
}

/* Whether nothing is left to be walked: only then is it known who has no client. */
static bool is_walked(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = state->counts;
    return !counts->is_first && counts->waiting == 0 && counts->unread == 0 &&
           counts->dropped == 0 && !state->is_incomplete;
}

/*
 * Whether every process of the host was walked, and the kernel shows when one opens more, so that
 * sums are those of the device.
 */
static bool is_complete(const struct gtel_clients *state)
{
    const struct gtel_scan_counts *counts = state->counts;
    return state->scan_error == 0 && are_all_visible(state) && is_walked(state) &&
           counts->visible == counts->readable && (counts->has_numbers || counts->is_listed) &&
           !(counts->by_text > 0 && counts->asleep > 0);
}

/* Engines of which a client of this gather does not report what it did. */
static void mark_partial(struct gtel_clients *state)
{
    for (size_t i = 0; i < state->table.n; i++) {
        const struct gtel_client *client = &state->table.client[i];
        struct gtel_client_device *device = device_of(state, client);
        if (!device)
            continue;
        bool is_read = gtel_client_is_read(&state->table, client);
        uint32_t unknown = is_read ? unreported(device, client) : (1u << device->engines) - 1;
        for (size_t e = 0; unknown != 0; e++, unknown >>= 1)
            if ((unknown & 1) != 0)
                device->engine[e].used = NAN;
    }
}

/*
 * The device's share of a class is the sum of its clients', each of them over the interval of this
 * gather. No more than that is known: there is no value in a gather in which the share of one
 * client is not known, or in which one was closed that was at work. What clients do that come and
 * go within an interval is not seen: the sums are a lower bound.
 */
static void report_engines(struct gtel_batch *batch, const struct gtel_client_device *device)
{
    struct classes classes = {0};
    bool is_exact = device->driver->counting == GTEL_COUNTS_EXACTLY;
    for (size_t e = 0; e < device->engines; e++) {
        const struct gtel_client_engine *engine = &device->engine[e];
        if (isnan(engine->used))
            return;
        add(&classes, engine, engine->used < 1 ? engine->used : 1);
    }
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++) {
        if ((classes.is_known >> kind & 1) == 0)
            continue;
        struct gtel_str name = gtel_engine_kind_name((enum gtel_engine_kind)kind);
        gtel_batch_f64(batch, device->device, GTEL_M_ENGINE_BUSY, name, classes.share[kind]);
        if (is_exact && kind != GTEL_ENGINE_KIND_OTHER)
            gtel_batch_u64(batch, device->device, GTEL_M_ENGINE_CAPACITY, name,
                           classes.capacity[kind]);
    }
}

/* What was not walked yet is neither readable nor not. */
static void report_counts(const struct gtel_clients *state, struct gtel_batch *batch)
{
    const struct gtel_scan_counts *counts = state->counts;
    if (counts->is_first) {
        gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_WAITING, GTEL_STR_NONE, counts->waiting);
        return;
    }
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_VISIBLE, GTEL_STR_NONE,
                   counts->visible - counts->unknown);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_READABLE, GTEL_STR_NONE, counts->readable);
}

/* Whether the clients of a device that were read in this gather are all that it had to do. */
static bool is_whole(const struct gtel_clients *state, const struct gtel_client_device *device)
{
    return state->span == GTEL_SPAN_WHOLE && device->is_read && device->gap != GTEL_GAP_AMBIGUOUS &&
           !device->has_closed && device->guests == GTEL_GUESTS_NONE &&
           !gtel_clients_is_hidden(state, device);
}

static void report(struct gtel_clients *state, struct gtel_batch *batch)
{
    bool are_sums_whole = is_complete(state);
    bool is_through = is_walked(state);
    mark_partial(state);
    for (size_t i = 0; i < state->n; i++) {
        struct gtel_client_device *device = state->device[i];
        if (!device->is_present || !device->device)
            continue;
        if (are_sums_whole && is_whole(state, device))
            report_engines(batch, device);
        device->has_closed = device->has_closed && state->span == GTEL_SPAN_SHORT;
    }
    for (size_t i = 0; i < state->table.n; i++)
        report_client(state, batch, i);
    gtel_clients_report_kfd(state, batch);
    for (size_t i = 0; i < state->n; i++) {
        const struct gtel_client_device *device = state->device[i];
        if (is_through && device->is_present && device->device &&
            device->texts != GTEL_TEXTS_SILENT && device->gap == GTEL_GAP_NONE)
            gtel_usage_complete(batch->usage, device->device, batch->source, batch->origin);
    }
    report_counts(state, batch);
}

/* Each gather */

static int sample(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_clients *state = p;
    begin_gather(state, registry, batch);
    gtel_clients_find_returned(state);
    gtel_clients_check_devices(state, batch);
    if (!has_devices(state)) {
        gtel_scan_reset(state->scan);
        gtel_client_table_reset(&state->table);
        return state->needs_discovery ? -ENODEV : 0;
    }
    gtel_clients_read_kfd(state);
    state->scan_error = scan(state);
    if (has_processes(state)) {
        gtel_clients_update_rests(state);
        report(state, batch);
    }
    /* What a discovery has missed is searched for immediately, and then less and less often. */
    state->missed = state->is_incomplete ? state->missed + 1 : 0;
    bool is_due = state->missed > 0 && (state->missed & (state->missed - 1)) == 0;
    bool is_wanted = is_due || state->needs_discovery;
    return is_wanted && state->scan_error == 0 ? -ENODEV : state->scan_error;
}

/* Between gathers */

static uint64_t due_ns(const void *p)
{
    const struct gtel_clients *state = p;
    if (has_devices(state) && state->counts->is_first)
        return state->t_ns + first_ns;
    for (size_t i = 0; i < state->n; i++) {
        const struct gtel_client_device *device = state->device[i];
        if (device->is_present && device->driver->wakes && device->work != GTEL_WORK_UNREAD)
            return state->t_ns + keep_ns;
    }
    return 0;
}

static int tick(void *p, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_clients *state = p;
    state->registry = registry;
    state->batch = batch;
    state->t_ns = gtel_env_now(state->env);
    state->is_keeping = true;
    gtel_clients_check_devices(state, batch);
    int r = has_devices(state) ? scan(state) : 0;
    state->is_keeping = false;
    return state->needs_discovery ? -ENODEV : r;
}

/* Why processes, or what they use of a GPU, are not known */

struct diagnosis {
    const struct gtel_clients *state;
    struct gtel_release kernel; /* zeroed: not known */
    struct gtel_finding_place at;
};

/* The host */

/* Where processes of others cannot be read. */
static const char read_fix[] =
    "give the program CAP_SYS_PTRACE; in a container, start it with --user 0 "
    "--pid=host --cap-add=SYS_PTRACE";

static uint32_t count_refused(const struct gtel_scan_counts *counts)
{
    return counts->visible - counts->unknown - counts->readable;
}

static void diagnose_rights(const struct diagnosis *diagnosis)
{
    const struct gtel_clients *state = diagnosis->state;
    const struct gtel_scan_counts *counts = state->counts;
    uint32_t refused = count_refused(counts);
    if (state->namespace == GTEL_NAMESPACE_OTHER)
        gtel_finding_say(
            &diagnosis->at, "proc/self/ns/pid",
            "run gtel on the host, or give the container the host's processes: docker and podman "
            "run --pid=host, Kubernetes hostPID: true",
            "this is a container (a pid namespace): processes outside of it cannot be seen");
    if (!counts->has_init)
        gtel_finding_say(
            &diagnosis->at, "proc/1",
            "give the program CAP_SYS_PTRACE, or let its user into the group that the mount "
            "option gid= names",
            "proc is mounted with hidepid: processes of other users cannot be seen");
    if (refused > 0)
        gtel_finding_say(&diagnosis->at, "proc/PID/fdinfo", read_fix,
                         "others own %u of %u visible processes, which cannot be read",
                         (unsigned)refused, (unsigned)counts->visible);
    if (counts->by_text > 0 && counts->asleep > 0)
        gtel_finding_say(
            &diagnosis->at, "proc/PID/fd",
            "give the program CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE",
            "descriptors can only be identified by reading them, which would wake a sleeping "
            "GPU; new clients are found when it is awake");
}

static void diagnose_pace(const struct diagnosis *diagnosis)
{
    const struct gtel_scan_counts *counts = diagnosis->state->counts;
    const uint64_t promise_ns = 60000000000;
    unsigned seconds = (unsigned)((counts->rotation_ns + 999999999) / 1000000000);
    if (!counts->has_numbers)
        gtel_finding_say(&diagnosis->at, "st_size of proc/PID/fd", "run Linux 6.2 or newer",
                         "this kernel does not report how many descriptors a process has: clients "
                         "that a process opens later are found within %u s",
                         seconds);
    else if (counts->rotation_ns > promise_ns)
        gtel_finding_say(&diagnosis->at, "proc/PID/fd", NULL,
                         "very many descriptors are open: a client behind one that replaced "
                         "another is found within %u s",
                         seconds);
    if (counts->is_first || counts->waiting > counts->asleep)
        gtel_finding_say(&diagnosis->at, "proc/PID/fd", NULL,
                         "%u of %u processes still to be scanned: clients of a GPU may be missing",
                         (unsigned)counts->waiting, (unsigned)counts->visible);
    if (counts->dropped > 0 || diagnosis->state->table.dropped > 0)
        gtel_finding_say(&diagnosis->at, "clients", NULL,
                         "there are more processes, or clients of them, than the limit");
}

/* The devices */

/* What needs a newer kernel: "run Linux 6.8 or newer", or NULL. */
static const char *newer(const struct diagnosis *diagnosis, const struct gtel_release *since,
                         char *buf, size_t size)
{
    if (diagnosis->kernel.major == 0 ||
        gtel_release_is_at_least(&diagnosis->kernel, since->major, since->minor))
        return NULL;
    (void)snprintf(buf, size, "run Linux %u.%u or newer", (unsigned)since->major,
                   (unsigned)since->minor);
    return buf;
}

static bool is_profiling_off(const struct diagnosis *diagnosis,
                             const struct gtel_client_device *device, char *path)
{
    uint64_t value;
    gtel_fs_path(path, "%s/profiling", device->path);
    return device->driver->profiling != 0 &&
           gtel_fs_u64(diagnosis->state->env, path, &value) == 0 &&
           (value & device->driver->profiling) == 0;
}

static void diagnose_engines(const struct diagnosis *diagnosis,
                             const struct gtel_client_device *device)
{
    char path[GTEL_FS_PATH_MAX];
    char fix[GTEL_FS_PATH_MAX + 64];
    char buf[64];
    if (is_profiling_off(diagnosis, device, path)) {
        (void)snprintf(fix, sizeof(fix), "switch it on, as root:\necho %u > /%s",
                       (unsigned)device->driver->profiling, path);
        gtel_finding_say(&diagnosis->at, path, fix,
                         "the driver counts engine time only when this is switched on");
    } else if (device->engines == 0) {
        gtel_finding_say(&diagnosis->at, "drm-engine- of fdinfo",
                         newer(diagnosis, &device->driver->engines, buf, sizeof(buf)),
                         "the driver does not report engine time of its clients");
    } else if (strcmp(device->card.driver, "xe") == 0 && diagnosis->kernel.major > 0 &&
               !gtel_release_is_at_least(&diagnosis->kernel, 6, 15)) {
        /* kernel: 617d824c5323 (drm/xe: Add WA BB to capture active context utilization) */
        gtel_finding_say(&diagnosis->at, "drm-cycles- of fdinfo", "use Linux 6.15 or newer",
                         "the driver counts the work of a context when it switches out: one that "
                         "runs on has 0 meanwhile");
    }
}

static bool has_memory(const struct gtel_clients *state, const struct gtel_client_device *device)
{
    uint64_t bytes;
    for (size_t i = 0; i < state->table.n; i++) {
        const struct gtel_client *client = &state->table.client[i];
        if (client->key.device >= 0 && state->device[client->key.device] == device &&
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
    bool is_anyone = kfd->error < 0 || diagnosis->state->namespace != GTEL_NAMESPACE_HOST;
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
    gtel_finding_put(diagnosis->at.findings, NULL, GTEL_MEASUREMENT_GPU_PROCESS, kfd->error, text);
    gtel_finding_put(diagnosis->at.findings, device->device, GTEL_MEASUREMENT_GPU_ENGINE,
                     kfd->error, text);
}

static void diagnose_device(struct diagnosis *diagnosis, const struct gtel_client_device *device)
{
    char buf[64];
    if (device->texts == GTEL_TEXTS_SILENT) {
        gtel_finding_say(&diagnosis->at, "fdinfo",
                         newer(diagnosis, &device->driver->clients, buf, sizeof(buf)),
                         "the driver does not report its clients");
        return;
    }
    if (device->gap == GTEL_GAP_AMBIGUOUS)
        gtel_finding_say(
            &diagnosis->at, "drm-driver of fdinfo",
            "give the program CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE",
            "of clients in processes whose descriptors may not be checked, only the driver is "
            "known, and it has several GPUs here: the GPU of these clients is not known");
    if (!device->is_read) {
        gtel_finding_say(&diagnosis->at, "fdinfo", NULL,
                         device->is_asleep
                             ? "suspended: clients are not read, so that the GPU stays asleep"
                             : "idle: clients are not read for a while, so that the GPU can fall "
                               "asleep");
        return;
    }
    if (device->work == GTEL_WORK_UNREAD)
        return; /* nobody uses it */
    diagnose_engines(diagnosis, device);
    diagnose_hidden(diagnosis, device);
    if (!has_memory(diagnosis->state, device))
        gtel_finding_say(
            &diagnosis->at, "drm-memory of fdinfo",
            newer(diagnosis, &device->driver->memory, buf, sizeof(buf)),
            "the driver does not report memory of its clients, or only in unknown regions");
    /* Drivers with counters of the whole device need no sums. */
    bool has_better = device->driver->counting == GTEL_COUNTS_EXACTLY;
    const struct gtel_scan_counts *counts = diagnosis->state->counts;
    if (device->engines == 0 || has_better)
        return;
    diagnosis->at.measurement = GTEL_MEASUREMENT_GPU_ENGINE;
    if (device->guests != GTEL_GUESTS_NONE)
        gtel_finding_say(&diagnosis->at, "sriov_numvfs", NULL,
                         "virtual functions are on: guests use the GPU, too, and their work is in "
                         "no client");
    else if (!counts->has_numbers && !counts->is_listed)
        gtel_finding_say(&diagnosis->at, "st_size of proc/PID/fd", "run Linux 6.2 or newer",
                         "the sum over clients is that of the GPU only where the kernel reports "
                         "how many descriptors a process has");
    else if (!is_complete(diagnosis->state))
        gtel_finding_say(
            &diagnosis->at, "DRM clients", count_refused(counts) > 0 ? read_fix : NULL,
            "the sum over clients is that of the GPU only where all processes are seen and read");
}

static void diagnose(void *p, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_clients *state = p;
    struct diagnosis diagnosis = {
        .state = state, .at = {.findings = findings, .measurement = GTEL_MEASUREMENT_GPU_PROCESS}};
    (void)registry;
    if (!has_processes(state))
        return;
    (void)gtel_kernel_release(state->env, &diagnosis.kernel);
    diagnose_rights(&diagnosis);
    diagnose_pace(&diagnosis);
    for (size_t i = 0; i < state->n; i++) {
        if (!state->device[i]->is_present || !state->device[i]->device)
            continue;
        diagnosis.at.device = state->device[i]->device;
        diagnosis.at.measurement = GTEL_MEASUREMENT_GPU_PROCESS;
        diagnose_device(&diagnosis, state->device[i]);
    }
}

static void close_source(void *p)
{
    struct gtel_clients *state = p;
    gtel_clients_close_kfd(state);
    gtel_clients_close_devices(state);
    gtel_scan_free(state->scan);
    gtel_client_table_done(&state->table);
    gtel_arena_done(&state->arena);
    state->scan = NULL;
}

const struct gtel_source gtel_source_drm_clients = {
    .name = "drm_clients",
    .lane = "clients",
    .vendor = "clients",
    .summary = "GPU memory and engine time of each process, and engine use where every process "
               "can be read, from DRM fdinfo; memory, evictions and compute units of ROCm "
               "processes, from KFD",
    .needs = "Linux 5.19 or newer (memory on Intel 6.8, xe engines 6.11); CAP_SYS_PTRACE for the "
             "processes of other users",
    .origins = origins,
    .state_size = sizeof(struct gtel_clients),
    .is_indirect = true,
    .has_all_engines = true, /* sums are reported only where all work of each client is known */
    .present = present,
    .open = open_source,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .due_ns = due_ns,
    .tick = tick,
    .close = close_source,
};
