/* SPDX-License-Identifier: MIT */
/* amdgpu's gpu_metrics as readings: values of the moment. */
#include "sources/amd/table.h"

#include "base/error.h"
#include "host/env.h"
#include "parse/pcie.h"
#include "sources/amd/table_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

/*
 * A text attribute of sysfs has less than a page. As a binary one the table may become larger, up
 * to 128 KiB (amd-gfx, April 2026: "Change gpu_metrics over to binary").
 */
enum { FILE_FIRST = 8192, FILE_MOST = 128 * 1024 };

void gtel_amd_table_file_close(const struct gtel_env *env, struct gtel_amd_table_file *file)
{
    gtel_fs_close(env, &file->file);
    free(file->buf);
    *file = (struct gtel_amd_table_file){0};
}

int gtel_amd_table_file_read(const struct gtel_env *env, struct gtel_amd_table_file *file,
                             enum gtel_amd_table table)
{
    struct gtel_str bytes;
    int r = -E2BIG;
    if (!gtel_fs_is_open(&file->file))
        return -EBADF;
    if (file->buf)
        r = gtel_fs_read_bytes(env, &file->file, (char *)file->buf, file->size, &bytes);
    while (r == -E2BIG && file->size < FILE_MOST) {
        size_t size = file->size > 0 ? 2 * file->size : FILE_FIRST;
        unsigned char *p = realloc(file->buf, size);
        if (!p)
            return -ENOMEM;
        file->buf = p;
        file->size = size;
        r = gtel_fs_read_bytes(env, &file->file, (char *)file->buf, file->size, &bytes);
    }
    if (r == 0)
        r = gtel_amd_metrics_parse(table, bytes.p, bytes.n, &file->metrics);
    if (r < 0)
        file->metrics = (struct gtel_amd_metrics){0};
    return r == -EPERM || r == -EBUSY ? -ENODATA : r;
}

/* ---- chips ---- */

enum gtel_amd_chip gtel_amd_chip(const struct gtel_drm_card *drm)
{
    /* Kernel: amdgpu/amdgpu_drv.c; of Strix, RDNA 3 and 4: libdrm's amdgpu.ids. */
    static const struct {
        uint16_t first;
        uint16_t last;
        enum gtel_amd_chip chip;
    } ids[] = {
        {0x1114, 0x1114, GTEL_AMD_STRIX},          {0x13db, 0x13fe, GTEL_AMD_CYAN_SKILLFISH},
        {0x143f, 0x143f, GTEL_AMD_CYAN_SKILLFISH}, {0x150e, 0x150e, GTEL_AMD_STRIX},
        {0x1586, 0x1586, GTEL_AMD_STRIX},          {0x15d8, 0x15d8, GTEL_AMD_RAVEN},
        {0x15dd, 0x15dd, GTEL_AMD_RAVEN},          {0x15e7, 0x15e7, GTEL_AMD_RENOIR},
        {0x1636, 0x1638, GTEL_AMD_RENOIR},         {0x164c, 0x164c, GTEL_AMD_RENOIR},
        {0x7388, 0x7390, GTEL_AMD_MI100},          {0x73a0, 0x73bf, GTEL_AMD_NAVI21},
        {0x7408, 0x7410, GTEL_AMD_MI200},          {0x7440, 0x749f, GTEL_AMD_NAVI3X},
        {0x7550, 0x755f, GTEL_AMD_NAVI4X},         {0x7590, 0x759f, GTEL_AMD_NAVI4X},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(ids); i++)
        if (drm->device_id >= ids[i].first && drm->device_id <= ids[i].last)
            return ids[i].chip;
    return GTEL_AMD_OTHER;
}

static enum gtel_amd_family family_of(const struct gtel_amd_metrics *metrics,
                                      enum gtel_amd_chip chip)
{
    if (metrics->format > 1)
        return metrics->format == 2 ? GTEL_AMD_APU2 : GTEL_AMD_APU3;
    if (metrics->content >= 4)
        return GTEL_AMD_MI300;
    return chip == GTEL_AMD_MI100 || chip == GTEL_AMD_MI200 ? GTEL_AMD_MI : GTEL_AMD_GPU;
}

/* ---- values of the moment ---- */

static const uint64_t has_link = UINT64_C(1) << GTEL_AMD_TABLE_ROWS_MAX; /* in given */

#define F(id) GTEL_AMD_##id
#define U(unit) GTEL_AMD_UNIT_##unit
#define TO(metric, part) GTEL_M_##metric, GTEL_STR_INIT(part)

enum {
    GPU = GTEL_AMD_GPU,
    MI = GTEL_AMD_MI,
    MI3 = GTEL_AMD_MI300,
    APU2 = GTEL_AMD_APU2,
    APU3 = GTEL_AMD_APU3,
    DISCRETE = GPU | MI | MI3,
    APU = APU2 | APU3,
    ALL = DISCRETE | APU
};

/*
 * The first row of a metric and part that has a value gives it, so rows of one stand together.
 * Names are those of hwmon's files, where a file has the same value.
 *
 * Clocks of shaders: a Navi's current one is what is asked for, and its mean what runs (an RX 7600S
 * that sleeps shows 1200 MHz and 0, as hwmon does); Instinct's is the current one. Of APUs some
 * fill one of both (Rembrandt, Phoenix: means; Van Gogh: current). The regulators' temperature of
 * MI300 is the highest of all (kernel: smu_v13_0_6_ppt.c). Format 3 has the power of an APU and of
 * the GPU beside it in "socket", as hwmon does, and the APU's own (kgd_pp_interface.h).
 */
static const struct row {
    uint16_t field;
    uint8_t families;
    uint8_t unit; /* in a self-describing table */
    double scale; /* base units = value × scale */
    uint16_t metric;
    struct gtel_str part;
} rows[] = {
    {F(AVERAGE_GFX_ACTIVITY), DISCRETE, U(PERCENT), 0.01, TO(GPU_BUSY, "")},
    {F(AVERAGE_UMC_ACTIVITY), DISCRETE, U(PERCENT), 0.01, TO(GPU_MEMORY_BANDWIDTH, "")},
    {F(AVERAGE_MM_ACTIVITY), GPU | MI, U(NONE), 0.01, TO(ENGINE_BUSY, "video")},
    {F(AVERAGE_MM_ACTIVITY), APU2, U(NONE), 0.0001, TO(ENGINE_BUSY, "video")},
    {F(AVERAGE_VCN_ACTIVITY), APU3, U(NONE), 0.01, TO(ENGINE_BUSY, "video")},
    {F(VCN_ACTIVITY), MI3, U(NONE), 0.01, TO(ENGINE_BUSY, "video")},
    {F(VCN_BUSY), MI3, U(PERCENT), 0.01, TO(ENGINE_BUSY, "video")},
    {F(JPEG_ACTIVITY), MI3, U(NONE), 0.01, TO(ENGINE_BUSY, "jpeg")},
    {F(JPEG_BUSY), MI3, U(PERCENT), 0.01, TO(ENGINE_BUSY, "jpeg")},
    {F(TEMPERATURE_EDGE), GPU | MI, U(NONE), 1, TO(TEMPERATURE, "edge")},
    {F(TEMPERATURE_GFX), APU, U(NONE), 0.01, TO(TEMPERATURE, "edge")},
    {F(TEMPERATURE_HOTSPOT), DISCRETE, U(CELSIUS), 1, TO(TEMPERATURE, "junction")},
    {F(TEMPERATURE_MEM), DISCRETE, U(CELSIUS), 1, TO(TEMPERATURE, "mem")},
    {F(TEMPERATURE_SOC), APU, U(NONE), 0.01, TO(TEMPERATURE, "soc")},
    {F(TEMPERATURE_SKIN), APU3, U(NONE), 0.01, TO(TEMPERATURE, "skin")},
    {F(TEMPERATURE_VRGFX), GPU | MI, U(NONE), 1, TO(TEMPERATURE, "vr_gfx")},
    {F(TEMPERATURE_VRSOC), GPU | MI, U(NONE), 1, TO(TEMPERATURE, "vr_soc")},
    {F(TEMPERATURE_VRSOC), MI3, U(CELSIUS), 1, TO(TEMPERATURE, "vr")},
    {F(TEMPERATURE_VRMEM), GPU | MI, U(NONE), 1, TO(TEMPERATURE, "vr_mem")},
    {F(TEMPERATURE_HBM), MI | MI3, U(CELSIUS), 1, TO(TEMPERATURE, "hbm")},
    {F(TEMPERATURE_MID), MI3, U(CELSIUS), 1, TO(TEMPERATURE, "mid")},
    {F(TEMPERATURE_AID), MI3, U(CELSIUS), 1, TO(TEMPERATURE, "aid")},
    {F(TEMPERATURE_XCD), MI3, U(CELSIUS), 1, TO(TEMPERATURE, "xcd")},
    {F(CURR_SOCKET_POWER), MI3, U(WATT), 1, TO(POWER, "pkg")},
    {F(AVERAGE_SOCKET_POWER), GPU | MI, U(NONE), 1, TO(POWER, "pkg")},
    {F(AVERAGE_APU_POWER), APU3, U(NONE), 1e-3, TO(POWER, "pkg")},
    {F(AVERAGE_SOCKET_POWER), APU, U(NONE), 1e-3, TO(POWER, "pkg")},
    {F(AVERAGE_ALL_CORE_POWER), APU3, U(NONE), 1e-3, TO(POWER, "cpu")},
    {F(AVERAGE_CPU_POWER), APU2, U(NONE), 1e-3, TO(POWER, "cpu")},
    {F(AVERAGE_SOC_POWER), APU2, U(NONE), 1e-3, TO(POWER, "soc")},
    {F(AVERAGE_GFX_POWER), APU, U(NONE), 1e-3, TO(POWER, "gfx")},
    {F(VOLTAGE_GFX), GPU | MI, U(NONE), 1e-3, TO(VOLTAGE, "vddgfx")},
    {F(AVERAGE_GFX_VOLTAGE), APU2, U(NONE), 1e-3, TO(VOLTAGE, "vddgfx")},
    {F(VOLTAGE_SOC), GPU | MI, U(NONE), 1e-3, TO(VOLTAGE, "vddsoc")},
    {F(AVERAGE_SOC_VOLTAGE), APU2, U(NONE), 1e-3, TO(VOLTAGE, "vddnb")},
    {F(VOLTAGE_MEM), GPU | MI, U(NONE), 1e-3, TO(VOLTAGE, "vddmem")},
    {F(AVERAGE_CPU_VOLTAGE), APU2, U(NONE), 1e-3, TO(VOLTAGE, "vddcpu")},
    {F(AVERAGE_GFXCLK_FREQUENCY), GPU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "graphics")},
    {F(CURRENT_GFXCLK), MI | MI3 | APU2, U(MHZ), 1e6, TO(FREQUENCY_ACTUAL, "graphics")},
    {F(AVERAGE_GFXCLK_FREQUENCY), APU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "graphics")},
    {F(CURRENT_UCLK), ALL, U(MHZ), 1e6, TO(FREQUENCY_ACTUAL, "memory")},
    {F(AVERAGE_UCLK_FREQUENCY), APU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "memory")},
    {F(CURRENT_SOCCLK), ALL, U(MHZ), 1e6, TO(FREQUENCY_ACTUAL, "soc")},
    {F(AVERAGE_SOCCLK_FREQUENCY), APU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "soc")},
    {F(CURRENT_FCLK), APU2, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "fabric")},
    {F(AVERAGE_FCLK_FREQUENCY), APU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "fabric")},
    {F(CURRENT_VCLK0), DISCRETE, U(MHZ), 1e6, TO(FREQUENCY_ACTUAL, "vclk")},
    {F(CURRENT_VCLK), APU2, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "vclk")},
    {F(AVERAGE_VCLK_FREQUENCY), APU, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "vclk")},
    {F(CURRENT_DCLK0), DISCRETE, U(MHZ), 1e6, TO(FREQUENCY_ACTUAL, "dclk")},
    {F(CURRENT_DCLK), APU2, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "dclk")},
    {F(AVERAGE_DCLK_FREQUENCY), APU2, U(NONE), 1e6, TO(FREQUENCY_ACTUAL, "dclk")},
    {F(CURRENT_FAN_SPEED), GPU | MI, U(NONE), 1, TO(FAN_RPM, "1")},
};
_Static_assert(GTEL_ARRAY_LEN(rows) <= GTEL_AMD_TABLE_ROWS_MAX, "rows");

/*
 * Fields of a chip that are not what they are of others: Renoir's socket power is in watts or
 * milliwatts, by firmware; Cyan Skillfish's power is cut to 16 bits, which end at 65 W (kernel:
 * smu12/renoir_ppt.c, smu11/cyan_skillfish_ppt.c); the fabric's clock of format 2 is Renoir's
 * alone, and the memory's of others (smu11/vangogh_ppt.c, smu13/smu_v13_0_4_ppt.c …); the video
 * activity of format 2 is in percent or hundredths of that, and known for Renoir and revision 2.1
 * (smu13/yellow_carp_ppt.c …) alone; that of MI200 is 0 without a measurement
 * (smu13/aldebaran_ppt.c; a later patch, for stable kernels as well, leaves it at all ones).
 */
static bool is_suspect(const struct gtel_amd_scene *scene, const struct row *row)
{
    if (scene->chip == GTEL_AMD_MI200 && row->metric == GTEL_M_ENGINE_BUSY)
        return true;
    if (scene->family != GTEL_AMD_APU2)
        return false;
    if (row->metric == GTEL_M_ENGINE_BUSY)
        return scene->metrics->content != 1 && scene->chip != GTEL_AMD_RENOIR;
    if (gtel_str_eq(row->part, GTEL_STR("fabric")))
        return scene->chip != GTEL_AMD_RENOIR;
    return row->metric == GTEL_M_POWER &&
           (scene->chip == GTEL_AMD_CYAN_SKILLFISH ||
            (scene->chip == GTEL_AMD_RENOIR && row->field == GTEL_AMD_AVERAGE_SOCKET_POWER));
}

/* 0 stands for "not provided" but where nothing can be 0: a share, a fan. */
static bool is_plausible(uint16_t metric, double value)
{
    switch (metric) {
    case GTEL_M_TEMPERATURE:
        return value > 0 && value <= 150;
    case GTEL_M_POWER:
        return value > 0 && value <= 5000;
    case GTEL_M_VOLTAGE:
        return value > 0 && value <= 5;
    case GTEL_M_FREQUENCY_ACTUAL:
        return value > 0 && value <= 20e9;
    case GTEL_M_FAN_RPM:
        return value >= 0 && value <= 30000;
    default:
        return value >= 0 && value <= 1;
    }
}

static bool value_of(const struct gtel_amd_scene *scene, const struct row *row, unsigned i,
                     double *ret)
{
    const struct gtel_amd_place *place = &scene->metrics->place[row->field];
    uint64_t raw;
    if (!gtel_amd_metrics_get(scene->metrics, (enum gtel_amd_field)row->field, i, &raw))
        return false;
    double value = (place->is_signed ? (double)(int64_t)raw : (double)raw) * row->scale;
    if (!is_plausible(row->metric, value))
        return false;
    *ret = value;
    return true;
}

/* The mean of the engines of a kind, over all partitions. */
static bool sample_engines(const struct gtel_amd_scene *scene, const struct row *row)
{
    double sum = 0;
    unsigned n = 0;
    for (int part = -1; part < scene->metrics->parts; part++)
        n += gtel_amd_metrics_add(scene->metrics, part, (enum gtel_amd_field)row->field, 100, &sum);
    if (n > 0)
        gtel_batch_f64(scene->batch, scene->device, GTEL_M_ENGINE_BUSY, row->part, sum / 100 / n);
    return n > 0;
}

/*
 * Of several temperatures each has a number behind its name; of several clocks the first one stands
 * for all, as in hwmon.
 */
static bool sample_row(const struct gtel_amd_scene *scene, const struct row *row)
{
    const struct gtel_amd_place *place = &scene->metrics->place[row->field];
    bool has_value = false;
    if (is_suspect(scene, row) || (place->unit != GTEL_AMD_UNIT_NONE && place->unit != row->unit))
        return false;
    if (row->metric == GTEL_M_ENGINE_BUSY && scene->family == GTEL_AMD_MI300)
        return sample_engines(scene, row);
    for (unsigned i = 0; i < place->count; i++) {
        char text[32];
        double value;
        struct gtel_str part = row->part;
        if (!value_of(scene, row, i, &value))
            continue;
        if (row->metric == GTEL_M_TEMPERATURE && place->count > 1) {
            (void)snprintf(text, sizeof(text), "%s%u", part.p, i);
            part = gtel_batch_text(scene->batch, gtel_str_of(text));
        }
        gtel_batch_number(scene->batch, scene->device, (enum gtel_metric)row->metric, part, value);
        has_value = true;
        if (row->metric == GTEL_M_FREQUENCY_ACTUAL)
            break;
    }
    return has_value;
}

static bool is_same(const struct row *a, const struct row *b)
{
    return a->metric == b->metric && gtel_str_eq(a->part, b->part);
}

static void sample_rows(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene)
{
    const struct row *given = NULL;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        if ((rows[i].families & scene->family) == 0 ||
            scene->metrics->place[rows[i].field].count == 0 ||
            (given && is_same(given, &rows[i])) ||
            (rows[i].metric == GTEL_M_FAN_RPM && !table->has_fan) || !sample_row(scene, &rows[i]))
            continue;
        given = &rows[i];
        table->given |= UINT64_C(1) << i;
    }
}

/*
 * The driver's own view: a card with a bridge of its own has another link inside. That of RDNA 4
 * has the first generation for the fifth (kernel: smu14/smu_v14_0_2_ppt.c, LINK_SPEED_MAX is 3):
 * the upstream port's files know better.
 */
static void sample_link(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene)
{
    uint64_t lanes;
    uint64_t speed;
    uint64_t gen;
    if (scene->chip == GTEL_AMD_NAVI4X ||
        !gtel_amd_metrics_get(scene->metrics, GTEL_AMD_PCIE_LINK_WIDTH, 0, &lanes) ||
        !gtel_amd_metrics_get(scene->metrics, GTEL_AMD_PCIE_LINK_SPEED, 0, &speed) || lanes == 0 ||
        lanes > 32 || (lanes & (lanes - 1)) != 0)
        return;
    bool is_whole = scene->metrics->place[GTEL_AMD_PCIE_LINK_SPEED].unit == GTEL_AMD_UNIT_GT;
    if (gtel_link_gen((double)speed / (is_whole ? 1 : 10), &gen) < 0)
        return;
    gtel_batch_u64(scene->batch, scene->device, GTEL_M_GPU_PCIE_GEN, GTEL_STR_NONE, gen);
    gtel_batch_u64(scene->batch, scene->device, GTEL_M_GPU_PCIE_WIDTH, GTEL_STR_NONE, lanes);
    table->given |= has_link;
}

/* ---- one sample ---- */

void gtel_amd_table_close(const struct gtel_env *env, struct gtel_amd_table_state *table)
{
    gtel_amd_table_file_close(env, &table->file);
    *table = (struct gtel_amd_table_state){0};
}

static void log_result(const struct gtel_env *env, struct gtel_amd_table_state *table,
                       const char *card, int r)
{
    const unsigned char *at = table->file.buf;
    char fix[128] = "the other files are read";
    if (r == -EPROTONOSUPPORT || r == -EBADMSG)
        (void)snprintf(fix, sizeof(fix),
                       "revision %u.%u of %u bytes is not understood; the other files are read",
                       at[2], at[3], at[0] + 256u * at[1]);
    gtel_failure_log(&env->log, &table->error, r, fix, "amdgpu: %s: gpu_metrics", card);
}

int gtel_amd_table_sample(struct gtel_amd_table_state *table, const struct gtel_card *card,
                          struct gtel_batch *batch)
{
    const struct gtel_env *env = card->cards->env;
    const struct gtel_amd_metrics *metrics = &table->file.metrics;
    int r = gtel_amd_table_file_read(env, &table->file, GTEL_AMD_TABLE_GPU);
    if (r != -ENODEV && r != -EBADF)
        log_result(env, table, card->drm.key, r);
    if (r < 0) {
        gtel_amd_table_break(table);
        return r;
    }
    enum gtel_amd_chip chip = gtel_amd_chip(&card->drm);
    struct gtel_amd_scene scene = {.metrics = metrics,
                                   .card = card,
                                   .device = card->device,
                                   .batch = batch,
                                   .chip = chip,
                                   .family = family_of(metrics, chip)};
    batch->origin = GTEL_AMD_TABLE_ORIGIN;
    gtel_amd_table_counters(table, &scene);
    sample_rows(table, &scene);
    sample_link(table, &scene);
    gtel_amd_table_throttling(table, &scene);
    return 0;
}

bool gtel_amd_table_has(const struct gtel_amd_table_state *table, enum gtel_metric metric,
                        struct gtel_str part)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if ((table->given >> i & 1) != 0 && rows[i].metric == metric &&
            gtel_str_eq(rows[i].part, part))
            return true;
    return (table->given & has_link) != 0 &&
           (metric == GTEL_M_GPU_PCIE_GEN || metric == GTEL_M_GPU_PCIE_WIDTH);
}

void gtel_amd_table_sample_npu(struct gtel_amd_table_state *table, const struct gtel_device *npu,
                               struct gtel_batch *batch)
{
    static const struct row power = {F(AVERAGE_IPU_POWER), APU3, U(NONE), 1e-3, TO(POWER, "pkg")};
    static const struct row clock = {F(AVERAGE_IPUCLK_FREQUENCY), APU3, U(NONE), 1e6,
                                     TO(FREQUENCY_ACTUAL, "npu")};
    const struct gtel_amd_metrics *metrics = &table->file.metrics;
    double sum = 0;
    unsigned n = 0;
    batch->origin = GTEL_AMD_TABLE_ORIGIN;
    const struct gtel_amd_scene scene = {.metrics = metrics, .device = npu, .batch = batch};
    (void)sample_row(&scene, &power);
    (void)sample_row(&scene, &clock);
    for (unsigned i = 0; i < metrics->place[GTEL_AMD_AVERAGE_IPU_ACTIVITY].count; i++) {
        uint64_t percent;
        if (!gtel_amd_metrics_get(metrics, GTEL_AMD_AVERAGE_IPU_ACTIVITY, i, &percent))
            continue;
        if (percent > 100) /* a firmware that has hundredths: its small values are no percent */
            return;
        sum += (double)percent / 100;
        n++;
    }
    if (n > 0)
        gtel_batch_f64(batch, npu, GTEL_M_GPU_BUSY, GTEL_STR_NONE, sum / n);
}
