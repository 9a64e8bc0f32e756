/* SPDX-License-Identifier: MIT */
/*
 * Source amdgpu_parts: what lies around an AMD GPU's own values: its partitions, the sensors of its
 * board, and the texts that say what it is.
 *
 * An Instinct MI300 or newer can be divided into partitions, which are GPUs to ROCm. Each is a
 * device with a label `instance`; power, temperatures, fabric and errors are the package's and
 * reported there alone. Partition 0 is the PCI device; each further one has a device of the
 * platform, which leads nowhere (kernel: amdxcp/amdgpu_xcp_drv.c), and all of these are there in
 * each mode. Which are in use is known to KFD, which lists those of one GPU one after another
 * (amdkfd/kfd_device.c, kgd2kfd_device_init).
 */
#include "base/error.h"
#include "parse/kfd_node.h"
#include "sources/amd/table.h"
#include "sources/drm/card_source.h"

#include <stdio.h>
#include <string.h>

enum { UNITS_MAX = 8 };
enum { ORIGIN_XCP, ORIGIN_BOARD, ORIGIN_KFD };

static const char *const drivers[] = {"amdgpu", NULL};

/* MI350 and newer (kernel: amd/pm/amdgpu_pm.c); MI400 has those of the node in board/npm. */
static const struct {
    const char *file;
    enum gtel_metric metric;
    struct gtel_str domain;
} powers[] = {
    {"node_power", GTEL_M_POWER, GTEL_STR_INIT("node")},
    {"cur_node_power_limit", GTEL_M_POWER_LIMIT, GTEL_STR_INIT("node")},
    {"max_node_power_limit", GTEL_M_POWER_LIMIT_MAX, GTEL_STR_INIT("node")},
    {"baseboard_power", GTEL_M_POWER, GTEL_STR_INIT("baseboard")},
    {"baseboard_power_limit", GTEL_M_POWER_LIMIT, GTEL_STR_INIT("baseboard")},
};

static const struct {
    const char *file;
    enum gtel_amd_table table;
} boards[] = {{"gpuboard_temp", GTEL_AMD_TABLE_GPUBOARD},
              {"baseboard_temp", GTEL_AMD_TABLE_BASEBOARD}};

/* render and bytes are of the last search. */
struct unit {
    struct gtel_device *device;
    uint32_t render;                  /* number of its node */
    uint64_t bytes;                   /* of its memory; 0: not known */
    struct gtel_amd_table_file table; /* Linux 7.0 and newer */
};

struct parts_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    bool is_divided;
    size_t shown; /* by KFD, now */
    struct unit unit[UNITS_MAX];
    size_t n;
    struct gtel_amd_table_file board[GTEL_ARRAY_LEN(boards)];
    struct gtel_fs_file power[GTEL_ARRAY_LEN(powers)];
    bool has_board;
};

static void close_files(const struct gtel_env *env, void *p)
{
    struct parts_card *own = p;
    for (size_t i = 0; i < UNITS_MAX; i++)
        gtel_amd_table_file_close(env, &own->unit[i].table);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(boards); i++)
        gtel_amd_table_file_close(env, &own->board[i]);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(powers); i++)
        gtel_fs_close(env, &own->power[i]);
}

/* ---- texts ---- */

static bool read_text(const struct parts_card *own, const char *file, char *buf, size_t size)
{
    struct gtel_str text;
    return gtel_fs_text(own->card->cards->env, GTEL_FS_AT("%s/%s", own->card->path, file), buf,
                        size, &text) == 0 &&
           gtel_str_copy(buf, size, text);
}

/* From the driver's memory, on each kernel (amdgpu_device.c, amdgpu_atombios.c, amdgpu_vram_mgr.c).
 */
static void label_texts(struct gtel_registry *registry, struct parts_card *own)
{
    static const struct {
        const char *file;
        enum gtel_label label;
    } texts[] = {{"unique_id", GTEL_LABEL_UUID},
                 {"vbios_version", GTEL_LABEL_FIRMWARE},
                 {"mem_info_vram_vendor", GTEL_LABEL_MEMORY_VENDOR}};
    char buf[GTEL_LABEL_MAX];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(texts); i++)
        if (read_text(own, texts[i].file, buf, sizeof(buf)) && strspn(buf, "0") < strlen(buf))
            gtel_device_label(registry, own->card->device, texts[i].label, gtel_str_of(buf));
}

/* Both are registers, read without a guard: of a card that is awake, once per discovery. */
static void read_modes(struct gtel_registry *registry, struct parts_card *own)
{
    char compute[16];
    char memory[16];
    char text[64];
    if (!gtel_card_may_read(own->card) ||
        !read_text(own, "current_compute_partition", compute, sizeof(compute)))
        return; /* what was known stays */
    own->is_divided = strcmp(compute, "SPX") != 0 && strcmp(compute, "UNKNOWN") != 0;
    bool has_memory = read_text(own, "current_memory_partition", memory, sizeof(memory));
    (void)snprintf(text, sizeof(text), "partition=%s%s%s", compute, has_memory ? " memory=" : "",
                   has_memory ? memory : "");
    gtel_device_relabel(registry, own->card->device, GTEL_LABEL_MODES, gtel_str_of(text));
}

/* ---- partitions ---- */

struct finder {
    const struct gtel_card_source *source;
    struct parts_card *at; /* whose partitions follow */
    int error;             /* which partitions there are is not known */
    int lack;              /* nor is the size of the memory of one */
};

static struct parts_card *find_card(const struct gtel_card_source *source, struct gtel_str key)
{
    for (size_t i = 0; i < source->cards.n; i++)
        if (gtel_str_eq(gtel_str_of(gtel_card_at(&source->cards, i)->drm.key), key))
            return source->cards.slot[i].own;
    return NULL;
}

/* The text of a node's file. -ENOENT: none, or the node has gone since it was listed. */
static int read_node(const struct finder *finder, uint32_t number, const char *file, char *buf,
                     struct gtel_str *ret)
{
    return gtel_fs_text(
        finder->source->env,
        GTEL_FS_AT("sys/class/kfd/kfd/topology/nodes/%lu/%s", (unsigned long)number, file), buf,
        GTEL_FS_TEXT_MAX, ret);
}

/*
 * A partition's memory is what KFD gives to its processes: its share of the memory partition that
 * it lies in (kernel: amdgpu_amdkfd_get_local_mem_info, amdgpu_amdkfd_xcp_memory_size), in one
 * bank (kfd_crat.c, kfd_create_vcrat_image_gpu).
 */
static int add_node(void *arg, uint32_t number)
{
    struct finder *finder = arg;
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_pci pci;
    uint32_t render;
    int r = read_node(finder, number, "properties", buf, &text);
    finder->error = r < 0 && r != -ENOENT ? r : finder->error;
    if (r < 0 || gtel_kfd_node_pci(text, &pci) < 0 || gtel_kfd_node_render(text, &render) < 0)
        return 0;
    r = gtel_fs_link_name(finder->source->env,
                          GTEL_FS_AT("sys/class/drm/renderD%lu/device", (unsigned long)render), buf,
                          sizeof(buf), &text);
    struct parts_card *first = r == 0 ? find_card(finder->source, text) : NULL;
    const struct gtel_pci *at = finder->at ? &finder->at->card->drm.pci : NULL;
    if (first)
        finder->at = first;
    else if (r < 0 || !at || at->bus != pci.bus || at->device != pci.device)
        finder->at = NULL;
    if (!finder->at || finder->at->shown == UNITS_MAX)
        return 0;
    struct unit *unit = &finder->at->unit[finder->at->shown++];
    unit->render = render;
    unit->bytes = 0;
    r = read_node(finder, number, "mem_banks/0/properties", buf, &text);
    if (r == 0)
        (void)gtel_kfd_bank_bytes(text, &unit->bytes); /* else it is not known */
    else if (r != -ENOENT)
        finder->lack = r;
    return 0;
}

/* The device of a partition, and its table. 0 or a negative errno. */
static int open_unit(struct gtel_registry *registry, struct parts_card *own, size_t i)
{
    const struct gtel_env *env = own->card->cards->env;
    struct unit *unit = &own->unit[i];
    int r = gtel_registry_add(registry, gtel_str_of(GTEL_FS_AT("%s/xcp%zu", own->card->drm.key, i)),
                              &unit->device);
    if (r < 0)
        return r;
    gtel_device_label_part(registry, unit->device, own->card->device);
    gtel_device_label(registry, unit->device, GTEL_LABEL_INSTANCE,
                      gtel_str_of(GTEL_FS_AT("xcp%zu", i)));
    return gtel_fs_open_optional(
        env, &unit->table.file,
        GTEL_FS_AT("sys/class/drm/renderD%lu/device/xcp/xcp_metrics", (unsigned long)unit->render));
}

/* One that KFD shows is the GPU itself. */
static int update_units(struct gtel_registry *registry, struct parts_card *own)
{
    size_t n = own->shown > 1 ? own->shown : 0;
    int first = 0;
    for (size_t i = n; i < own->n; i++)
        gtel_amd_table_file_close(own->card->cards->env, &own->unit[i].table);
    own->n = n;
    for (size_t i = 0; i < n; i++) {
        int r = open_unit(registry, own, i);
        if (!own->unit[i].device)
            own->n = i; /* no memory */
        first = first < 0 ? first : r;
    }
    return first;
}

/* Partitions that are no more: the GPU is divided in another way, or has been removed. */
static void drop_ended(const struct finder *finder, struct gtel_registry *registry)
{
    for (size_t d = 0; d < registry->n; d++) {
        struct gtel_device *device = registry->device[d];
        struct gtel_str key = gtel_str_of(device->key);
        size_t slash = gtel_str_find(key, '/');
        const struct parts_card *own = find_card(finder->source, (struct gtel_str){key.p, slash});
        bool is_kept = own && finder->error < 0;
        for (size_t i = 0; own && i < own->n; i++)
            is_kept = is_kept || own->unit[i].device == device;
        if (device->is_present && !is_kept &&
            gtel_str_starts(gtel_str_skip(key, slash), GTEL_STR("/xcp")))
            gtel_registry_lost(registry, device);
    }
}

static int open_board(struct parts_card *own)
{
    const struct gtel_env *env = own->card->cards->env;
    const char *folder = GTEL_FS_AT("%s/board", own->card->path);
    int first = 0;
    own->has_board = own->has_board || gtel_fs_exists(env, folder);
    for (size_t i = 0; own->has_board && i < GTEL_ARRAY_LEN(boards); i++) {
        int r = gtel_fs_open_optional(env, &own->board[i].file,
                                      GTEL_FS_AT("%s/%s", folder, boards[i].file));
        first = first < 0 ? first : r;
    }
    for (size_t i = 0; own->has_board && i < 2 * GTEL_ARRAY_LEN(powers); i++) {
        const char *in = i % 2 == 1 ? "npm/" : "";
        int r = gtel_fs_open_optional(env, &own->power[i / 2],
                                      GTEL_FS_AT("%s/%s%s", folder, in, powers[i / 2].file));
        first = first < 0 ? first : r;
    }
    return first;
}

static int discover(void *state, struct gtel_registry *registry)
{
    const struct gtel_card_source *source = state;
    struct finder finder = {.source = source};
    bool is_any_divided = false;
    int first = gtel_card_source_discover(state, registry);
    for (size_t i = 0; i < source->cards.n; i++) {
        struct parts_card *own = source->cards.slot[i].own;
        if (source->cards.slot[i].is_new)
            label_texts(registry, own);
        read_modes(registry, own);
        int r = open_board(own);
        first = first < 0 ? first : r;
        own->shown = 0;
        is_any_divided = is_any_divided || own->is_divided;
    }
    if (is_any_divided) {
        int r = source->env->ops->dir_list_from(
            source->env->arg, "sys/class/kfd/kfd/topology/nodes", 0, add_node, &finder);
        finder.error = r < 0 && r != -ENOENT ? r : finder.error;
    }
    for (size_t i = 0; finder.error == 0 && i < source->cards.n; i++) {
        int r = update_units(registry, source->cards.slot[i].own);
        first = first < 0 ? first : r;
    }
    drop_ended(&finder, registry);
    first = first < 0 ? first : finder.error;
    return first < 0 ? first : finder.lack;
}

/* ---- reading ---- */

/*
 * Of partition `part` in the package's table, or of the table's own (-1): the mean of those that it
 * has, in percent; a clock is the mean of its compute dies.
 */
static void put_unit(struct gtel_batch *batch, const struct gtel_device *device,
                     const struct gtel_amd_metrics *metrics, int part)
{
    static const struct {
        enum gtel_amd_field field;
        enum gtel_metric metric;
        struct gtel_str dim;
        uint64_t most;
        double scale;
    } rows[] = {
        {GTEL_AMD_GFX_BUSY_INST, GTEL_M_GPU_BUSY, GTEL_STR_INIT(""), 100, 0.01},
        {GTEL_AMD_VCN_BUSY, GTEL_M_ENGINE_BUSY, GTEL_STR_INIT("video"), 100, 0.01},
        {GTEL_AMD_JPEG_BUSY, GTEL_M_ENGINE_BUSY, GTEL_STR_INIT("jpeg"), 100, 0.01},
        {GTEL_AMD_CURRENT_GFXCLK, GTEL_M_FREQUENCY_ACTUAL, GTEL_STR_INIT("graphics"), 20000, 1e6},
    };
    for (size_t r = 0; r < GTEL_ARRAY_LEN(rows); r++) {
        double sum = 0;
        unsigned n = gtel_amd_metrics_add(metrics, part, rows[r].field, rows[r].most, &sum);
        double mean = n > 0 ? sum * rows[r].scale / n : 0;
        if (n > 0 && (mean > 0 || rows[r].metric != GTEL_M_FREQUENCY_ACTUAL))
            gtel_batch_number(batch, device, rows[r].metric, rows[r].dim, mean);
    }
}

/* -ENODEV, or 0: what is absent in a table is absent. */
static int read_units(struct parts_card *own, struct gtel_batch *batch)
{
    const struct gtel_env *env = own->card->cards->env;
    const struct gtel_amd_metrics *package = own->card->gpu_metrics;
    for (size_t i = 0; i < own->n; i++) {
        struct unit *unit = &own->unit[i];
        batch->origin = ORIGIN_KFD;
        if (unit->bytes > 0)
            gtel_batch_u64(batch, unit->device, GTEL_M_MEMORY_TOTAL, GTEL_STR("vram"), unit->bytes);
        batch->origin = ORIGIN_XCP;
        int r = gtel_amd_table_file_read(env, &unit->table, GTEL_AMD_TABLE_PARTITION);
        if (r == -ENODEV)
            return r;
        if (r == 0)
            put_unit(batch, unit->device, &unit->table.metrics, -1);
        else if (r == -EBADF && package && i < package->parts)
            put_unit(batch, unit->device, package, (int)i);
    }
    return 0;
}

static int read_board(struct parts_card *own, struct gtel_batch *batch)
{
    const struct gtel_env *env = own->card->cards->env;
    const struct gtel_device *device = own->card->device;
    struct gtel_amd_sensor sensor;
    uint64_t watts;
    for (size_t b = 0; b < GTEL_ARRAY_LEN(boards); b++) {
        int r = gtel_amd_table_file_read(env, &own->board[b], boards[b].table);
        if (r == -ENODEV)
            return r;
        for (unsigned i = 0; r == 0 && i < GTEL_AMD_SENSORS_MAX; i++)
            if (gtel_amd_metrics_sensor(&own->board[b].metrics, i, &sensor) && sensor.celsius > 0 &&
                sensor.celsius <= 150)
                gtel_batch_f64(batch, device, GTEL_M_TEMPERATURE, gtel_str_of(sensor.name),
                               sensor.celsius);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(powers); i++) {
        int r = gtel_fs_read_u64(env, &own->power[i], &watts);
        if (r == -ENODEV)
            return r;
        if (r == 0 && watts > 0 && watts < 1000000)
            gtel_batch_f64(batch, device, powers[i].metric, powers[i].domain, (double)watts);
    }
    return 0;
}

static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    struct parts_card *own = p;
    (void)state;
    if (own->n == 0 && !own->has_board)
        return 0;
    batch->t_ns = gtel_env_now(own->card->cards->env);
    batch->origin = ORIGIN_XCP;
    for (size_t i = 0; i < own->n; i++)
        gtel_batch_u64(batch, own->unit[i].device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE,
                       !own->card->device->is_asleep);
    if (!gtel_card_may_read(own->card))
        return 0;
    int r = read_units(own, batch);
    batch->origin = ORIGIN_BOARD;
    return r < 0 ? r : read_board(own, batch);
}

static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    static const char *const hidden[3] = {
        "sys/class/kfd/kfd/topology", "the GPU is divided, and KFD does not show its partitions",
        "give the container /sys/class/kfd and the GPU's devices"};
    static const char *const used[3] = {
        "mem_info_vram_used", "the kernel knows the used memory of the whole GPU only", NULL};
    const struct parts_card *own = p;
    (void)state;
    for (size_t i = 0; i < own->n; i++)
        gtel_finding_put_lack(findings, own->unit[i].device, GTEL_MEASUREMENT_GPU_MEMORY_REGION,
                              GTEL_M_MEMORY_USED, 0, used);
    if (own->is_divided && own->n == 0)
        gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU, 0, hidden);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct parts_card),
    .close = close_files,
    .sample = sample_card,
    .diagnose = diagnose_card,
};

/* In the order of ORIGIN_XCP … */
static const char *const origins[] = {"xcp_metrics", "board sensors", "KFD", NULL};

const struct gtel_source gtel_source_amdgpu_parts = {
    .name = "amdgpu_parts",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "Partitions of Instinct GPUs as instances, temperatures and power of their boards, "
               "and what an AMD GPU is",
    .needs =
        "no rights; partitions need KFD, their use Linux 7.0 or AMD's own driver; of their memory "
        "the kernel knows the size alone",
    .origins = origins,
    .drivers = drivers,
    .work = &work,
    .discover = discover,
};
