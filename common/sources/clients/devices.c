/* SPDX-License-Identifier: MIT */
/* The devices whose clients are read. */
#include "sources/clients/clients.h"

#include "sources/drm/cards.h"
#include "sources/drm/hwmon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The kernel's helper for drivers without memory of their own prints a kind while some object of
 * the client has it (from 6.14 on; before, what is active always, and the others with any object
 * whose state the driver knows): drm_file.c, drm_show_memory_stats. Which kinds a driver can print,
 * from its first text with memory on: msm/msm_gem.c, panfrost/panfrost_gem.c,
 * panthor/panthor_gem.c, v3d/v3d_bo.c, etnaviv/etnaviv_gem.c, ivpu/ivpu_gem.c (their *_gem_status).
 * memory.c decides when a missing line is a 0.
 */
enum {
    PRINTS_ACTIVE = 1u << GTEL_FDINFO_ACTIVE,
    PRINTS_RESIDENT = PRINTS_ACTIVE | 1u << GTEL_FDINFO_RESIDENT,
    PRINTS_PURGEABLE = PRINTS_RESIDENT | 1u << GTEL_FDINFO_PURGEABLE
};

/*
 * Names are those of the drivers in sysfs, which differ from drm-driver in a text where one DRM
 * driver has several platform drivers: of msm the one whose device is the master, a display
 * controller (msm_dpu, msm_mdp, mdp4) or, without one, or with nodes of its own, the GPU (adreno).
 * (kernel: i915/i915_drm_client.c, xe/xe_drm_client.c, amdgpu/amdgpu_fdinfo.c, panfrost_drv.c,
 * panthor_drv.c, msm/msm_drv.c, msm/disp/dpu1/dpu_kms.c, msm/disp/mdp5/mdp5_kms.c,
 * msm/disp/mdp4/mdp4_kms.c, msm/adreno/adreno_device.c, v3d_drv.c, etnaviv_drv.c, ivpu_drv.c,
 * amdxdna_pci_drv.c; the file `profiling`: Documentation/gpu/panfrost.rst, panthor.rst)
 */
static const struct gtel_client_driver known[] = {
    {.name = "i915",
     .clients = {5, 19},
     .engines = {6, 5},
     .memory = {6, 8},
     .counting = GTEL_COUNTS_EXACTLY},
    {.name = "xe", .engines = {6, 11}, .counting = GTEL_COUNTS_EXACTLY, .wakes = true},
    {.name = "amdgpu", .clients = {5, 19}, .counting = GTEL_COUNTS_NO_ZEROS, .has_kfd = true},
    {.name = "panfrost", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 8}, .profiling = 1},
    {.name = "panthor",
     .omitted_memory = PRINTS_RESIDENT,
     .clients = {6, 14},
     .profiling = 2}, /* 1: cycles */
    {.name = "msm", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 0}},
    {.name = "msm_dpu", .text = "msm", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 0}},
    {.name = "msm_mdp", .text = "msm", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 0}},
    {.name = "mdp4", .text = "msm", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 0}},
    {.name = "adreno", .text = "msm", .omitted_memory = PRINTS_PURGEABLE, .clients = {6, 0}},
    {.name = "v3d", .omitted_memory = PRINTS_RESIDENT, .clients = {6, 8}},
    {.name = "etnaviv", .omitted_memory = PRINTS_RESIDENT, .clients = {6, 14}},
    {.name = "intel_vpu", .omitted_memory = PRINTS_RESIDENT, .clients = {6, 19}},
    {.name = "amdxdna",
     .text = "amdxdna_accel_driver",
     .omitted_memory = PRINTS_ACTIVE,
     .clients = {7, 2}},
    {.name = NULL}, /* any other one */
};

/*
 * Drivers that take work and print nothing about their clients (as of Linux 7.2; vc4/vc4_drv.c; of
 * those in Rust, asahi, nova and tyr, none can: rust/kernel/drm/device.rs, show_fdinfo).
 */
static const char *const silent[] = {"asahi",  "lima",    "nouveau", "nova", "nova-drm",
                                     "nvidia", "powervr", "radeon",  "tyr",  "vc4-drm"};

const struct gtel_client_driver *gtel_client_driver_find(const char *name)
{
    const struct gtel_client_driver *driver = known;
    while (driver->name && strcmp(driver->name, name) != 0)
        driver++;
    return driver;
}

/* A driver that is not known may print them; a device that takes no work has no clients. */
static bool may_have_clients(const struct gtel_drm_device *drm)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(silent); i++)
        if (strcmp(silent[i], drm->card.driver) == 0)
            return false;
    return drm->has_work && gtel_card_has_gpu(&drm->card);
}

int gtel_clients_any(const struct gtel_env *env)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {0};
    bool has_any = false;
    int r = gtel_drm_devices(env, &arena, true, &list);
    for (size_t i = 0; r == 0 && i < list.n; i++)
        has_any = has_any || may_have_clients(&list.device[i]);
    gtel_arena_done(&arena);
    return r == 0 && !has_any ? -ENOENT : r;
}

/* Finding */

static int64_t find(const struct gtel_clients *state, struct gtel_str key)
{
    for (size_t i = 0; i < state->n; i++)
        if (gtel_str_eq(gtel_str_of(state->device[i]->card.key), key))
            return (int64_t)i;
    return -1;
}

static int64_t find_or_add(struct gtel_clients *state, const char *key)
{
    int64_t at = find(state, gtel_str_of(key));
    if (at >= 0 || state->n == GTEL_CLIENT_DEVICES_MAX)
        return at;
    state->device[state->n] = calloc(1, sizeof(struct gtel_client_device));
    return state->device[state->n] ? (int64_t)state->n++ : -1;
}

/* Where its memory is; tried again until it is known. */
static void find_place(const struct gtel_env *env, struct gtel_client_device *device)
{
    bool is_amdgpu = strcmp(device->card.driver, "amdgpu") == 0;
    int r = is_amdgpu ? gtel_hwmon_is_apu(env, &device->card, device->path) : 0;
    if (r >= 0)
        device->place = r == 1 ? GTEL_PLACE_HOST : GTEL_PLACE_OWN;
}

static void close_device(const struct gtel_env *env, struct gtel_client_device *device)
{
    gtel_awake_close(env, &device->awake);
    gtel_fs_close(env, &device->vfs);
    device->place = GTEL_PLACE_UNKNOWN;
    device->guests = GTEL_GUESTS_NONE;
    device->rest = (struct gtel_rest){0};
}

/*
 * Most devices have no such file. It comes from the kernel's memory (kernel: pci/iov.c); still no
 * sleeping device is asked, for functions that are on keep it awake. Guests have no process here;
 * what cannot be read counts as one.
 */
static void read_vfs(const struct gtel_env *env, struct gtel_client_device *device)
{
    uint64_t n = 0;
    int r = device->wants_vfs ? gtel_fs_open_optional(env, &device->vfs,
                                                      GTEL_FS_AT("%s/sriov_numvfs", device->path))
                              : 0;
    device->wants_vfs = r < 0;
    bool has_vfs = r < 0 || (gtel_fs_is_open(&device->vfs) &&
                             (gtel_fs_read_u64(env, &device->vfs, &n) < 0 || n > 0));
    bool had_vfs = device->guests == GTEL_GUESTS_PRESENT;
    device->guests = has_vfs ? GTEL_GUESTS_PRESENT : had_vfs ? GTEL_GUESTS_LEFT : GTEL_GUESTS_NONE;
}

static int register_device(struct gtel_clients *state, struct gtel_client_device *device,
                           struct gtel_registry *registry)
{
    const struct gtel_drm_card *card = &device->card;
    int r = gtel_registry_add(registry, gtel_str_of(card->key), &device->device);
    if (r < 0)
        return r;
    gtel_cards_identify(state->env, registry, device->device, card);
    gtel_cards_label(state->env, registry, device->device, card);
    gtel_device_relabel(registry, device->device, GTEL_LABEL_DRIVER, gtel_str_of(card->driver));
    bool is_render = gtel_str_starts(gtel_str_of(card->card), GTEL_STR("render"));
    if (is_render) /* its card may come */
        gtel_device_label(registry, device->device, GTEL_LABEL_CARD, gtel_str_of(card->card));
    else
        gtel_device_relabel(registry, device->device, GTEL_LABEL_CARD, gtel_str_of(card->card));
    return 0;
}

/* Where a card stands in front of the GPU, its power state is not the GPU's: it is not reported. */
static int open_awake(const struct gtel_env *env, struct gtel_client_device *device)
{
    char path[GTEL_FS_PATH_MAX];
    bool has_core = gtel_card_core(env, &device->card, path) == 0;
    int r = gtel_awake_open(env, &device->awake, has_core ? path : device->path);
    if (!has_core)
        gtel_fs_close(env, &device->awake.status);
    return r;
}

static int add_device(struct gtel_clients *state, struct gtel_registry *registry,
                      const struct gtel_drm_device *drm)
{
    int64_t at = find_or_add(state, drm->card.key);
    if (at < 0)
        return state->n == GTEL_CLIENT_DEVICES_MAX ? 0 : -ENOMEM;
    struct gtel_client_device *device = state->device[at];
    bool is_same = device->is_present && strcmp(device->card.card, drm->card.card) == 0 &&
                   strcmp(device->card.driver, drm->card.driver) == 0;
    if (!is_same) {
        close_device(state->env, device);
        gtel_client_table_forget_bases(&state->table, (uint32_t)at);
        device->engines = 0; /* another driver has other ones */
        memset(device->engine, 0, sizeof(device->engine));
    }
    device->card = drm->card;
    device->is_present = true;
    device->is_found = true;
    device->driver = gtel_client_driver_find(drm->card.driver);
    (void)gtel_str_copy(device->path, sizeof(device->path), gtel_str_of(drm->path)); /* it fits */
    find_place(state->env, device);
    bool rests = device->driver->wakes && !registry->cards->may_wake;
    device->rest.delay_ns =
        rests ? gtel_awake_rest_delay(state->env, &device->awake, device->path, false) : 0;
    if (device->driver->name || device->texts == GTEL_TEXTS_REPORT) {
        int r = register_device(state, device, registry);
        if (r < 0)
            return r;
    }
    device->wants_vfs = true;
    device->is_watched = gtel_awake_watch(state->env, &device->awake, device->path) == 0;
    return device->awake.is_open ? 0 : open_awake(state->env, device);
}

static void remove_device(struct gtel_clients *state, struct gtel_client_device *device,
                          struct gtel_registry *registry)
{
    if (device->is_present && device->device)
        gtel_registry_lost(registry, device->device);
    device->is_present = false;
    device->is_read = false;
    close_device(state->env, device);
}

static void add_node(struct gtel_clients *state, const struct gtel_drm_node *node, uint32_t at)
{
    size_t i = 0;
    while (i < state->nodes &&
           (state->node[i].major != node->major || state->node[i].minor != node->minor))
        i++;
    if (i == GTEL_DRM_NODES_MAX)
        return;
    state->node[i] = *node;
    state->node[i].device = at;
    state->nodes = i == state->nodes ? i + 1 : state->nodes;
}

/*
 * Nodes of devices that may have clients; the position becomes that in the state's list. Nodes that
 * were missed stay.
 */
static void update_nodes(struct gtel_clients *state, const struct gtel_drm_devices *list)
{
    state->nodes = list->missed == 0 ? 0 : state->nodes;
    for (size_t i = 0; i < list->nodes; i++) {
        const struct gtel_drm_device *drm = &list->device[list->node[i].device];
        int64_t at = may_have_clients(drm) ? find(state, gtel_str_of(drm->card.key)) : -1;
        if (at >= 0)
            add_node(state, &list->node[i], (uint32_t)at);
    }
}

/* What was not known before may be a client's: descriptors that were none are read again. */
static void update_missed(struct gtel_clients *state, const struct gtel_drm_devices *list,
                          bool is_kfd_missed)
{
    bool had_missed = state->is_incomplete;
    state->is_incomplete = list->missed > 0 || is_kfd_missed;
    for (size_t i = 0; i < state->n; i++) {
        const struct gtel_client_device *device = state->device[i];
        bool is_known = device->place != GTEL_PLACE_UNKNOWN && device->is_watched;
        state->is_incomplete = state->is_incomplete || (device->is_present && !is_known);
    }
    if (had_missed)
        gtel_scan_read_again(state->scan);
}

/*
 * Whose pids there are. 0; or why it is not known: -ENOENT where the kernel does not say, or an
 * error that may pass.
 */
static int find_namespace(struct gtel_clients *state)
{
    char buf[64];
    state->namespace = gtel_process_namespace(state->env);
    if (state->namespace != GTEL_NAMESPACE_UNKNOWN)
        return 0;
    int64_t n = state->env->ops->link_read(state->env->arg, "proc/self/ns/pid", buf, sizeof(buf));
    return n < 0 ? (int)n : -EAGAIN;
}

int gtel_clients_discover(struct gtel_clients *state, struct gtel_registry *registry)
{
    struct gtel_drm_devices list = {0};
    int first = 0;
    gtel_arena_reset(&state->arena);
    int r = gtel_drm_devices(state->env, &state->arena, true, &list);
    if (r < 0 && r != -ENOENT)
        return r; /* what is known stays */
    int hidden = find_namespace(state);
    for (size_t i = 0; i < state->n; i++)
        state->device[i]->is_found = list.missed > 0; /* what was not seen may be there then */
    for (size_t i = 0; i < list.n; i++) {
        r = may_have_clients(&list.device[i]) ? add_device(state, registry, &list.device[i]) : 0;
        first = first < 0 ? first : r;
    }
    for (size_t i = 0; i < state->n; i++)
        if (!state->device[i]->is_found)
            remove_device(state, state->device[i], registry);
    update_nodes(state, &list);
    update_missed(state, &list, !gtel_clients_find_kfd(state, hidden));
    return first;
}

int64_t gtel_clients_node(const struct gtel_clients *state, uint32_t major, uint32_t minor)
{
    for (size_t i = 0; i < state->nodes; i++)
        if (state->node[i].major == major && state->node[i].minor == minor)
            return state->node[i].device;
    return -1;
}

/* Whether a text without address and node may be about the device, by the driver's name. */
static bool is_about(const struct gtel_client_device *device, struct gtel_str driver)
{
    const char *name = device->driver->text ? device->driver->text : device->card.driver;
    return device->is_present && !device->card.is_pci && gtel_str_eq(gtel_str_of(name), driver);
}

static int32_t find_by_driver(const struct gtel_clients *state, struct gtel_str driver)
{
    int32_t found = GTEL_CLIENT_FREE;
    for (size_t i = 0; i < state->n; i++)
        if (is_about(state->device[i], driver))
            found = found == GTEL_CLIENT_FREE ? (int32_t)i : GTEL_CLIENT_NO_DEVICE;
    for (size_t i = 0; found == GTEL_CLIENT_NO_DEVICE && i < state->n; i++)
        if (is_about(state->device[i], driver))
            gtel_clients_miss(state->device[i], GTEL_GAP_AMBIGUOUS);
    return found;
}

int32_t gtel_clients_device(const struct gtel_clients *state, const struct gtel_fdinfo *fdinfo,
                            const struct gtel_scan_text *seen)
{
    int64_t at = fdinfo->pdev.n > 0 ? find(state, fdinfo->pdev)
                                    : gtel_clients_node(state, seen->major, seen->minor);
    if (fdinfo->pdev.n == 0 && seen->major == 0)
        return find_by_driver(state, fdinfo->driver);
    return at < 0 ? GTEL_CLIENT_FREE : (int32_t)at;
}

void gtel_clients_close_devices(struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++) {
        close_device(state->env, state->device[i]);
        free(state->device[i]);
    }
    state->n = 0;
}

/* Each gather */

/* Whether it has slept since the last gather, however short, or may have. */
static bool has_slept(const struct gtel_env *env, struct gtel_client_device *device)
{
    uint64_t before_ns = device->suspended_ns;
    uint64_t now_ns = before_ns;
    int r = gtel_awake_suspended(env, &device->awake, &now_ns);
    device->suspended_ns = now_ns;
    bool is_uncounted = r == -ENOENT && device->is_watched; /* there is no such file */
    return r == 0 ? now_ns != before_ns : !is_uncounted;
}

/* 0, -ENODEV when the device was removed, or another error: its clients are not read then. */
static int check_device(struct gtel_clients *state, struct gtel_client_device *device)
{
    const struct gtel_env *env = state->env;
    bool wakes = device->driver->wakes;
    if (env->ops->exists(env->arg, device->path) == -ENOENT)
        return -ENODEV;
    int r = gtel_awake_look(env, &device->awake, &device->is_asleep);
    if (r < 0)
        return r;
    if (device->is_asleep) {
        gtel_rest_slept(&device->rest);
        device->was_asleep = true;
    } else if (has_slept(env, device)) {
        device->was_asleep = true;
    }
    bool may_use = !device->is_asleep || state->registry->cards->may_wake;
    device->is_read =
        !wakes || (may_use && !gtel_awake_rests(env, &device->awake, &device->rest, state->t_ns));
    if (device->is_read && !device->is_asleep && !state->is_keeping)
        read_vfs(env, device);
    return 0;
}

/* Whether it counts time by a clock that stands still, or begins again, while it sleeps. */
static bool stands_still(const struct gtel_client_device *device)
{
    bool has_clock = device->driver->wakes;
    for (size_t e = 0; e < device->engines; e++)
        has_clock = has_clock || device->engine[e].total > 0 || device->engine[e].total_before > 0;
    return has_clock;
}

/* No share spans a sleep of such a device: its clock does not count that time. */
static void forget_before(struct gtel_clients *state, size_t i)
{
    struct gtel_client_device *device = state->device[i];
    gtel_client_table_forget_bases(&state->table, (uint32_t)i);
    for (size_t e = 0; e < device->engines; e++) {
        device->engine[e].total = 0;
        device->engine[e].total_before = 0;
    }
}

static void begin_device(struct gtel_client_device *device)
{
    device->work = GTEL_WORK_UNREAD;
    device->gap = GTEL_GAP_NONE;
    for (size_t e = 0; e < device->engines; e++) {
        struct gtel_client_engine *engine = &device->engine[e];
        engine->total_before = engine->total;
        engine->total = 0;
        engine->used = 0;
    }
}

static int add_name(void *arg, struct gtel_str name)
{
    uint64_t *sum = arg;
    *sum += gtel_hash(GTEL_HASH_SEED, name.p, name.n);
    return 0;
}

/* Another number when a node was added or removed. */
static uint64_t sum_of_nodes(const struct gtel_env *env)
{
    static const char *const folders[] = {"sys/class/drm", "sys/class/accel"};
    uint64_t sum = 1;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++)
        if (env->ops->dir_list(env->arg, folders[i], add_name, &sum) < 0)
            sum++; /* usually not there */
    return sum;
}

void gtel_clients_find_returned(struct gtel_clients *state)
{
    bool is_missing = false;
    for (size_t i = 0; i < state->n; i++)
        is_missing = is_missing || !state->device[i]->is_present;
    uint64_t sum = is_missing ? sum_of_nodes(state->env) : state->nodes_sum;
    if (sum == state->nodes_sum)
        return;
    state->nodes_sum = sum;
    (void)gtel_clients_discover(state, state->registry);
    state->needs_discovery = true; /* once more: its render node comes before its card */
}

void gtel_clients_check_devices(struct gtel_clients *state, struct gtel_batch *batch)
{
    for (size_t i = 0; i < state->n; i++) {
        struct gtel_client_device *device = state->device[i];
        if (!state->is_keeping)
            begin_device(device);
        device->is_read = false;
        int r = device->is_present ? check_device(state, device) : 0;
        if (r < 0 && device->device)
            gtel_batch_failed(batch, device->device);
        if (r == -ENODEV) {
            remove_device(state, device, state->registry);
            state->needs_discovery = true;
            continue;
        }
        if (r == 0 && device->device && gtel_fs_is_open(&device->awake.status))
            gtel_batch_u64(batch, device->device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE,
                           !device->is_asleep);
        if (device->is_read && device->was_asleep && stands_still(device))
            forget_before(state, i);
        if (device->is_read)
            device->was_asleep = false;
    }
}

void gtel_clients_update_rests(struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++) {
        struct gtel_client_device *device = state->device[i];
        if (device->rest.delay_ns > 0 && device->work != GTEL_WORK_UNREAD)
            gtel_rest_note(&device->rest, device->work == GTEL_WORK_NONE, state->t_ns);
    }
}
