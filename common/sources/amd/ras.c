/* SPDX-License-Identifier: MIT */
/*
 * Source amdgpu_ras: what amdgpu counts of an AMD GPU's hardware errors: by block of the chip, the
 * pages of its memory that are bad, and PCIe packets that were sent again.
 *
 * These files access registers, most of them without a check of the GPU's power state, and take
 * longer than others (kernel: amdgpu/amdgpu_ras.c, amdgpu_device.c). So they are read once a
 * minute, and never while the GPU sleeps; in between the counts are repeated. The driver adds up
 * what the hardware has counted since it was loaded, so others who read do no harm.
 */
#include "base/error.h"
#include "parse/amd_texts.h"
#include "sources/drm/card_source.h"

/* As the driver names them (kernel: amdgpu_ras.c, ras_block_string); no other file is opened. */
static const struct gtel_str blocks[] = {
    GTEL_STR_INIT("umc"),   GTEL_STR_INIT("sdma"),      GTEL_STR_INIT("gfx"),
    GTEL_STR_INIT("mmhub"), GTEL_STR_INIT("athub"),     GTEL_STR_INIT("pcie_bif"),
    GTEL_STR_INIT("hdp"),   GTEL_STR_INIT("xgmi_wafl"), GTEL_STR_INIT("df"),
    GTEL_STR_INIT("smn"),   GTEL_STR_INIT("sem"),       GTEL_STR_INIT("mp0"),
    GTEL_STR_INIT("mp1"),   GTEL_STR_INIT("fuse"),      GTEL_STR_INIT("mca"),
    GTEL_STR_INIT("vcn"),   GTEL_STR_INIT("jpeg"),      GTEL_STR_INIT("ih"),
    GTEL_STR_INIT("mpio"),  GTEL_STR_INIT("mmsch"),
};

enum { BLOCKS = GTEL_ARRAY_LEN(blocks), PAGES = BLOCKS, REPLAYS, PARTS };
enum { TEXT_MAX = 256 << 10 }; /* 28 bytes for each bad page of 4 KiB */
enum { ORIGIN_RAS, ORIGIN_REPLAYS };

/* What a part counts, by its position. */
struct what {
    uint8_t origin;
    const char *name;
    struct gtel_str kind;
    const struct gtel_str *severity; /* of each count; NULL: replays */
};

/* A little less than a minute, so that a clock's jitter does not skip a gather. */
static const uint64_t minute_ns = 59500000000;

static const char *const drivers[] = {"amdgpu", NULL};

/* A file, and what it said last. */
struct part {
    struct gtel_fs_file file;
    struct gtel_amd_ras last;
    uint64_t due_ns;
    int error;
};

struct ras_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct part part[PARTS];
};

struct amd_ras {
    struct gtel_card_source source; /* first */
    char text[TEXT_MAX];
};

static struct what what_of(size_t i)
{
    static const struct gtel_str errors[GTEL_AMD_RAS_COUNTS] = {
        GTEL_STR_INIT("uncorrected"), GTEL_STR_INIT("corrected"), GTEL_STR_INIT("deferred")};
    static const struct gtel_str pages[GTEL_AMD_RAS_COUNTS] = {
        GTEL_STR_INIT("retired"), GTEL_STR_INIT("pending"), GTEL_STR_INIT("failed")};
    if (i < BLOCKS)
        return (struct what){ORIGIN_RAS, blocks[i].p, blocks[i], errors};
    if (i == PAGES)
        return (struct what){ORIGIN_RAS, "gpu_vram_bad_pages", GTEL_STR("bad-pages"), pages};
    return (struct what){ORIGIN_REPLAYS, "pcie_replay_count", GTEL_STR_NONE, NULL};
}

static bool is_open(const struct ras_card *own, size_t i)
{
    return gtel_fs_is_open(&own->part[i].file);
}

static void close_files(const struct gtel_env *env, void *own)
{
    for (size_t i = 0; i < PARTS; i++)
        gtel_fs_close(env, &((struct ras_card *)own)->part[i].file);
}

/* ---- finding ---- */

/* Opening a file reads nothing. */
static int open_part(struct ras_card *own, size_t i, const char *file)
{
    return gtel_fs_open_optional(own->card->cards->env, &own->part[i].file,
                                 GTEL_FS_AT("%s/%s", own->card->path, file));
}

/* "aca_umc" (Linux 6.9 and newer, MI300) or "umc_err_count", which have the same text. */
static int open_blocks(struct ras_card *own)
{
    int first = open_part(own, PAGES, "ras/gpu_vram_bad_pages");
    for (size_t i = 0; i < 2 * (size_t)BLOCKS; i++) {
        const char *block = blocks[i / 2].p;
        int r = open_part(own, i / 2,
                          i % 2 == 0 ? GTEL_FS_AT("ras/aca_%s", block)
                                     : GTEL_FS_AT("ras/%s_err_count", block));
        first = first < 0 ? first : r;
    }
    return first;
}

/* MI300 and newer have the replays in gpu_metrics, counted from elsewhere. */
static int discover_card(void *state, void *p)
{
    struct ras_card *own = p;
    const struct gtel_env *env = own->card->cards->env;
    const char *path = own->card->path;
    int r[2] = {0};
    (void)state;
    if (!gtel_fs_exists(env, GTEL_FS_AT("%s/current_compute_partition", path)))
        r[0] = open_part(own, REPLAYS, "pcie_replay_count");
    if (gtel_fs_exists(env, GTEL_FS_AT("%s/ras", path)))
        r[1] = open_blocks(own);
    return r[0] < 0 ? r[0] : r[1];
}

/* ---- reading ---- */

/*
 * EINVAL is the answer of a block without counters, and with older kernels while a reset runs.
 * Chips whose replays nobody counts show 0 (kernel: amdgpu/nv.c): then 0 is no reading.
 */
static int read_part(struct amd_ras *ras, struct part *part, size_t i)
{
    struct gtel_str text;
    int r = gtel_fs_read(ras->source.env, &part->file, ras->text, sizeof(ras->text), &text);
    if (r < 0)
        return r == -EINVAL ? -ENODATA : r;
    if (i == PAGES)
        return gtel_amd_pages_parse(text, &part->last);
    if (i < BLOCKS)
        return gtel_amd_ras_parse(text, &part->last);
    r = gtel_str_u64(text, &part->last.count[0]);
    part->last.known = part->last.count[0] > 0;
    return r;
}

static void put_last(struct gtel_batch *batch, const struct ras_card *own, size_t i)
{
    const struct gtel_amd_ras *last = &own->part[i].last;
    const struct what what = what_of(i);
    batch->origin = what.origin;
    for (unsigned c = 0; c < GTEL_AMD_RAS_COUNTS; c++) {
        if ((last->known & 1u << c) == 0)
            continue;
        if (what.severity)
            gtel_batch_error(batch, own->card->device, what.kind, what.severity[c], last->count[c]);
        else
            gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_PCIE_REPLAYS, GTEL_STR_NONE,
                           last->count[c]);
    }
}

/* What fails is tried again in the next gather, as after a reset; what is absent in a minute. */
static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    struct ras_card *own = p;
    int first = 0;
    batch->t_ns = gtel_env_now(own->card->cards->env);
    for (size_t i = 0; !own->card->device->is_left_alone && i < PARTS; i++) {
        struct part *part = &own->part[i];
        bool is_due = part->due_ns <= batch->t_ns;
        if (!is_open(own, i) || (is_due && !gtel_card_may_read(own->card)))
            continue;
        if (is_due) {
            part->error = read_part(state, part, i);
            if (part->error < 0)
                part->last.known = 0;
            if (part->error == -ENODEV)
                return -ENODEV;
            if (!gtel_error_is_broken(part->error))
                part->due_ns = batch->t_ns + minute_ns;
            else if (first == 0)
                first = part->error;
        }
        put_last(batch, own, i);
    }
    return first;
}

/* ---- what is missing ---- */

static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    static const char *const none[3] = {
        "ras/umc_err_count",
        "the driver counts no errors of this GPU: boards without ECC have none", NULL};
    const struct ras_card *own = p;
    bool has_any = false;
    (void)state;
    for (size_t i = 0; i < PARTS; i++) {
        const char *const text[3] = {what_of(i).name};
        has_any = has_any || (i < BLOCKS && is_open(own, i));
        if (gtel_error_is_broken(own->part[i].error))
            gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_ERROR,
                             own->part[i].error, text);
    }
    if (!has_any)
        gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_ERROR, 0, none);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct ras_card),
    .failure = "amdgpu_ras: %s: error counts",
    .close = close_files,
    .discover = discover_card,
    .sample = sample_card,
    .diagnose = diagnose_card,
};

/* In the order of ORIGIN_RAS … */
static const char *const origins[] = {"RAS", "PCIe replays", NULL};

const struct gtel_source gtel_source_amdgpu_ras = {
    .name = "amdgpu_ras",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "Hardware errors of AMD GPUs by block of the chip, bad pages of their memory, and "
               "PCIe packets that were sent again, once a minute",
    .needs = "no rights; boards with ECC",
    .origins = origins,
    .state_size = sizeof(struct amd_ras),
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
};
