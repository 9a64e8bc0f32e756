/* SPDX-License-Identifier: MIT */
/* Which files of amdgpu are read, and what that does to a card. */
#include "sources/amd/gpu.h"

#include "base/error.h"
#include "sources/drm/hwmon.h"
#include "sources/drm/link.h"

#include <errno.h>

/*
 * What reading a file does, by kernel. Nothing but FREE is read of a card that sleeps, and of one
 * that is left alone so that it can fall asleep.
 * (kernel: amd/pm/amdgpu_pm.c of 6.1, 6.12 and 7.3, amdgpu/amdgpu_{vram,gtt}_mgr.c,
 * amdgpu_device.c, amdgpu_ras.c, amdgpu_gfx.c; drivers/pci/pci-sysfs.c)
 */
enum effect {
    /* Nothing, on every kernel: the driver's memory. */
    FREE,
    /*
     * Up to 6.14 it resumes a card that sleeps; since then it fails with EPERM or EBUSY. On every
     * kernel it starts the autosuspend delay, 5 s, again.
     */
    WAKES,
    /* Registers are accessed without any guard, on every kernel: of a sleeping card, never. */
    REGISTERS,
    /* Configuration space; from 6.1.157 and 6.12.54 on it resumes the port, in D3cold the card. */
    CONFIG
};

#define ELSEWHERE GTEL_M_COUNT, GTEL_ATTR_BYTES, 0, ""

/*
 * All that gtel reads of amdgpu. Rows without a metric are read elsewhere, and are here for what
 * they do: gpu_metrics by table.c, xcp, board and texts by parts.c, errors by ras.c. Of hwmon,
 * limits, labels and pwm1_min are FREE; the rest WAKES. Never read: pcie_bw, which sleeps for a
 * second, and whatever is not in this table, since some files crash kernels (smxi/inxi#234).
 */
static const struct file {
    const char *name;
    enum effect effect;
    enum gtel_metric metric;
    enum gtel_attr_form form;
    double scale;
    const char *part;
} files[] = {
    {"mem_info_vram_used", FREE, GTEL_M_MEMORY_USED, GTEL_ATTR_BYTES, 1, "vram"},
    {"mem_info_vram_total", FREE, GTEL_M_MEMORY_TOTAL, GTEL_ATTR_BYTES, 1, "vram"},
    {"mem_info_vis_vram_used", FREE, GTEL_M_MEMORY_VISIBLE_USED, GTEL_ATTR_BYTES, 1, "vram"},
    {"mem_info_vis_vram_total", FREE, GTEL_M_MEMORY_VISIBLE, GTEL_ATTR_BYTES, 1, "vram"},
    {"mem_info_gtt_used", FREE, GTEL_M_MEMORY_USED, GTEL_ATTR_BYTES, 1, "gtt"},
    {"mem_info_gtt_total", FREE, GTEL_M_MEMORY_TOTAL, GTEL_ATTR_BYTES, 1, "gtt"},
    {"gpu_busy_percent", WAKES, GTEL_M_GPU_BUSY, GTEL_ATTR_SHARE, 0.01, ""},
    {"mem_busy_percent", WAKES, GTEL_M_GPU_MEMORY_BANDWIDTH, GTEL_ATTR_SHARE, 0.01, ""},
    {"vcn_busy_percent", WAKES, GTEL_M_ENGINE_BUSY, GTEL_ATTR_SHARE, 0.01, "video"},
    {"pp_dpm_*", WAKES, ELSEWHERE},
    {"hwmon/*", WAKES, ELSEWHERE},
    {"gpu_metrics", WAKES, ELSEWHERE},
    {"xcp/xcp_metrics", WAKES, ELSEWHERE},
    {"board/*", WAKES, ELSEWHERE},
    {"pcie_replay_count", REGISTERS, ELSEWHERE},
    {"ras/*", REGISTERS, ELSEWHERE},
    {"current_compute_partition", REGISTERS, ELSEWHERE},
    {"current_link_*", CONFIG, ELSEWHERE},
    {"mem_info_vram_vendor", FREE, ELSEWHERE},
    {"unique_id", FREE, ELSEWHERE},
    {"vbios_version", FREE, ELSEWHERE},
    {"product_name", FREE, ELSEWHERE},
    {"current_memory_partition", REGISTERS, ELSEWHERE},
    {"power/*", FREE, ELSEWHERE},
};

/*
 * The firmware of Raven keeps saying 100 (drm/amd issue 1932); Cyan Skillfish reads a register that
 * is all ones.
 */
bool gtel_amd_has_stuck_busy(const struct gtel_drm_card *drm)
{
    enum gtel_amd_chip chip = gtel_amd_chip(drm);
    return chip == GTEL_AMD_RAVEN || chip == GTEL_AMD_CYAN_SKILLFISH;
}

/*
 * VcnActivity of Strix is in percent (kernel: amd/pm, smu14_driver_if_v14_0_0.h), which its table
 * has (3.0), and of which vcn_busy_percent has a hundredth (smu_v14_0_0_ppt.c; amd-gfx, February
 * 2024: "modify the gfx activity scaling", of gfx alone).
 */
static bool has_wrong_video(const struct gtel_drm_card *drm)
{
    return gtel_amd_chip(drm) == GTEL_AMD_STRIX;
}

/*
 * KFD puts all memory of an MI300A's jobs into GTT, and VRAM has nothing or a piece of the same HBM
 * (kernel: amdgpu_amdkfd_gpuvm.c, gmc_v9_0.c, is_app_apu); what GTT may have at most is a limit of
 * the whole host's. So neither has a size that a share could be taken of.
 */
static bool is_no_size(const struct gtel_drm_card *drm, enum gtel_metric metric)
{
    return (metric == GTEL_M_MEMORY_TOTAL || metric == GTEL_M_MEMORY_VISIBLE) &&
           gtel_hwmon_is_mi300a(drm);
}

static bool is_busy(enum gtel_metric metric)
{
    return metric == GTEL_M_GPU_BUSY || metric == GTEL_M_GPU_MEMORY_BANDWIDTH;
}

bool gtel_amd_is_free(struct gtel_str name)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        if (gtel_str_eq(name, gtel_str_of(files[i].name)))
            return files[i].effect == FREE;
    return false;
}

static void add_files(struct gtel_attr_list *list)
{
    bool is_stuck = gtel_amd_has_stuck_busy(&list->card->drm);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++) {
        const struct file *file = &files[i];
        const struct gtel_attr_kind kind = {file->metric, file->form, file->scale};
        const struct gtel_str dims[GTEL_ATTR_DIMS] = {gtel_str_of(file->part)};
        if (file->metric == GTEL_M_COUNT || (is_stuck && is_busy(file->metric)) ||
            is_no_size(&list->card->drm, file->metric) ||
            (file->metric == GTEL_M_ENGINE_BUSY && has_wrong_video(&list->card->drm)))
            continue;
        gtel_attr_add(list, &kind, dims, list->card->path, gtel_str_of(file->name));
    }
}

static const struct {
    const char *file;
    struct gtel_str domain;
} clocks[GTEL_AMD_CLOCKS] = {
    {"pp_dpm_sclk", GTEL_STR_INIT("graphics")},  {"pp_dpm_mclk", GTEL_STR_INIT("memory")},
    {"pp_dpm_socclk", GTEL_STR_INIT("soc")},     {"pp_dpm_fclk", GTEL_STR_INIT("fabric")},
    {"pp_dpm_vclk", GTEL_STR_INIT("vclk")},      {"pp_dpm_vclk1", GTEL_STR_INIT("vclk1")},
    {"pp_dpm_dclk", GTEL_STR_INIT("dclk")},      {"pp_dpm_dclk1", GTEL_STR_INIT("dclk1")},
    {"pp_dpm_dcefclk", GTEL_STR_INIT("display")}};

void gtel_amd_read_levels(struct gtel_amd_gpu *gpu)
{
    const struct gtel_card *card = gpu->card.card;
    gpu->is_level_due = false;
    for (size_t i = 0; i < GTEL_AMD_CLOCKS; i++) {
        char buf[GTEL_FS_TEXT_MAX];
        struct gtel_str text;
        gpu->level[i] = (struct gtel_dpm){0};
        int r = gtel_fs_text(card->cards->env, GTEL_FS_AT("%s/%s", card->path, clocks[i].file), buf,
                             sizeof(buf), &text);
        gpu->is_level_due = gpu->is_level_due || r == -EBUSY || r == -EPERM;
        if (r == 0)
            (void)gtel_dpm_parse(text, &gpu->level[i]); /* no levels: not known */
    }
}

void gtel_amd_put_levels(const struct gtel_amd_gpu *gpu, struct gtel_batch *batch)
{
    const struct gtel_device *device = gpu->card.card->device;
    for (size_t i = 0; i < GTEL_AMD_CLOCKS; i++) {
        if (gpu->level[i].max_mhz == 0)
            continue;
        gtel_batch_u64(batch, device, GTEL_M_FREQUENCY_HARDWARE_MIN, clocks[i].domain,
                       gpu->level[i].min_mhz * 1000000);
        gtel_batch_u64(batch, device, GTEL_M_FREQUENCY_HARDWARE_MAX, clocks[i].domain,
                       gpu->level[i].max_mhz * 1000000);
    }
}

void gtel_amd_add(struct gtel_attr_list *list)
{
    struct gtel_amd_gpu *gpu = list->own;
    int r = gtel_hwmon_is_apu(list->env, &list->card->drm, list->card->path);
    bool is_apu = r > 0;
    if (gtel_error_is_broken(r) && !gtel_error_is_refusal(r)) {
        gtel_attr_list_check(list, r); /* whose memory it is is not known: at the next discovery */
        return;
    }
    add_files(list);
    gtel_hwmon_add(list);
    if (!is_apu) /* that of an APU is within the chip */
        gtel_link_add(list);
    if (!gpu)
        return;
    gtel_amd_read_levels(gpu);
    gpu->is_apu = is_apu;
    gpu->is_one_memory = gtel_hwmon_is_mi300a(&list->card->drm);
    gpu->given = 0; /* the list may be opened again */
    for (size_t i = 0; i < list->n; i++)
        gpu->table.has_fan = gpu->table.has_fan || list->attr[i].kind.metric == GTEL_M_FAN_RPM;
    gtel_attr_list_check(list,
                         gtel_fs_open_optional(list->env, &gpu->table.file.file,
                                               GTEL_FS_AT("%s/gpu_metrics", list->card->path)));
    /* A client that begins to work allocates memory. */
    gtel_card_read_autosuspend(
        gpu->card.card,
        gtel_fs_exists(list->env, GTEL_FS_AT("%s/mem_info_vram_used", list->card->path)));
}
