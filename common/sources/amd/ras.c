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
#include "parse/amd_ras.h"
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

enum { BLOCKS = GTEL_ARRAY_LEN(blocks), PAGES = BLOCKS, REPLAYS, PARTS, NAMES_MAX = 128 };
enum { TEXT_MAX = 256 << 10 }; /* 28 bytes for each bad page of 4 KiB */
enum { ORIGIN_RAS, ORIGIN_REPLAYS };

/* A little less than a minute, so that a clock's jitter does not skip a gather. */
static const uint64_t minute_ns = 59500000000;

static const char *const drivers[] = {"amdgpu", NULL};
_Static_assert(PARTS <= 32, "bits");

/* A file, and what it said last. */
struct part {
    struct gtel_fs_file file;
    struct gtel_amd_ras last;
    uint64_t due_ns;
    int error;
};

struct ras_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    uint32_t open;          /* parts, as bits: most cards have few */
    struct part part[PARTS];
};

struct amd_ras {
    struct gtel_card_source source; /* first */
    struct gtel_arena arena;        /* for the time of a listing */
    char text[TEXT_MAX];
};

static bool is_open(const struct ras_card *own, size_t i)
{
    return (own->open >> i & 1) != 0;
}

static void close_files(const struct gtel_env *env, void *own)
{
    for (size_t i = 0; i < PARTS; i++)
        gtel_fs_close(env, &((struct ras_card *)own)->part[i].file);
}

/* ---- finding ---- */

/* Opening a file reads nothing. 0, also where it is not there, or a negative errno. */
static int open_part(struct ras_card *own, size_t i, const char *folder, struct gtel_str name)
{
    if (is_open(own, i))
        return 0;
    int r = gtel_fs_open(own->card->cards->env, &own->part[i].file,
                         GTEL_FS_AT("%s/%s%.*s", own->card->path, folder, GTEL_STR_ARG(name)));
    own->open |= (uint32_t)(r == 0) << i;
    return r == -ENOENT ? 0 : r;
}

/* Of "umc_err_count" or "aca_umc" (Linux 6.9 and newer, MI300), which have the same text. */
static size_t part_of(struct gtel_str name)
{
    static const struct gtel_str front = GTEL_STR_INIT("aca_");
    static const struct gtel_str back = GTEL_STR_INIT("_err_count");
    size_t i = 0;
    if (gtel_str_eq(name, GTEL_STR("gpu_vram_bad_pages")))
        return PAGES;
    if (gtel_str_starts(name, front))
        name = gtel_str_skip(name, front.n);
    else if (gtel_str_ends(name, back))
        name.n -= back.n;
    else
        return PARTS;
    while (i < BLOCKS && !gtel_str_eq(blocks[i], name))
        i++;
    return i < BLOCKS ? i : PARTS;
}

/* MI300 and newer have the replays in gpu_metrics, counted from elsewhere. */
static int discover_card(void *state, void *p)
{
    struct amd_ras *ras = state;
    struct ras_card *own = p;
    const struct gtel_env *env = ras->source.env;
    struct gtel_str *names = NULL;
    size_t n = 0;
    int first = 0;
    if (!gtel_fs_exists(env, GTEL_FS_AT("%s/current_compute_partition", own->card->path)))
        first = open_part(own, REPLAYS, "", GTEL_STR("pcie_replay_count"));
    gtel_arena_reset(&ras->arena);
    int r = gtel_fs_list(env, GTEL_FS_AT("%s/ras", own->card->path), &ras->arena, NAMES_MAX, &names,
                         &n);
    first = first < 0 || r == -ENOENT ? first : r;
    for (size_t i = 0; r == 0 && i < n && i < NAMES_MAX; i++) {
        size_t part = part_of(names[i]);
        int opened = part < PARTS ? open_part(own, part, "ras/", names[i]) : 0;
        first = first < 0 ? first : opened;
    }
    return first;
}

/* ---- reading ---- */

/*
 * EINVAL is the answer of a block without counters, and with older kernels while a reset runs.
 * Chips whose replays nobody counts show 0 (kernel: amdgpu/nv.c), so 0 is no reading.
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
    static const struct gtel_str words[2][GTEL_AMD_RAS_COUNTS] = {
        {GTEL_STR_INIT("uncorrected"), GTEL_STR_INIT("corrected"), GTEL_STR_INIT("deferred")},
        {GTEL_STR_INIT("retired"), GTEL_STR_INIT("pending"), GTEL_STR_INIT("failed")}};
    const struct gtel_amd_ras *last = &own->part[i].last;
    if (last->known == 0)
        return;
    batch->origin = i == REPLAYS ? ORIGIN_REPLAYS : ORIGIN_RAS;
    for (unsigned c = 0; c < GTEL_AMD_RAS_COUNTS; c++) {
        if ((last->known & 1u << c) == 0)
            continue;
        if (i == REPLAYS)
            gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_PCIE_REPLAYS, GTEL_STR_NONE,
                           last->count[c]);
        else
            gtel_batch_error(batch, own->card->device,
                             i < BLOCKS ? blocks[i] : GTEL_STR("bad-pages"), words[i == PAGES][c],
                             last->count[c]);
    }
}

/* What fails is tried again in the next gather, as after a reset; what is absent in a minute. */
static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    struct ras_card *own = p;
    bool is_any_due = false;
    int first = 0;
    batch->t_ns = gtel_env_now(own->card->cards->env);
    for (size_t i = 0; i < PARTS; i++)
        is_any_due = is_any_due || (is_open(own, i) && own->part[i].due_ns <= batch->t_ns);
    if (own->card->device->is_left_alone || (is_any_due && !gtel_card_may_read(own->card)))
        return 0;
    for (size_t i = 0; i < PARTS; i++) {
        struct part *part = &own->part[i];
        if (!is_open(own, i))
            continue;
        if (part->due_ns <= batch->t_ns) {
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
        const char *const text[3] = {i < BLOCKS   ? blocks[i].p
                                     : i == PAGES ? "gpu_vram_bad_pages"
                                                  : "pcie_replay_count"};
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

static void close_ras(void *state)
{
    gtel_card_source_close(state);
    gtel_arena_done(&((struct amd_ras *)state)->arena);
}

/* In the order of ORIGIN_RAS … */
static const char *const origins[] = {"RAS", "PCIe replays", NULL};

const struct gtel_source gtel_source_amdgpu_ras = {
    .name = "amdgpu_ras",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "Hardware errors of AMD GPUs by block of the chip, bad pages of their memory, and "
               "PCIe packets that were sent again, once a minute",
    .needs = "no rights; boards with ECC",
    .seen = "not tried on hardware",
    .origins = origins,
    .state_size = sizeof(struct amd_ras),
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
    .discover = gtel_card_source_discover,
    .sample = gtel_card_source_sample,
    .diagnose = gtel_card_source_diagnose,
    .close = close_ras,
};
