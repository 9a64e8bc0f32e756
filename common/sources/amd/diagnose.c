/* SPDX-License-Identifier: MIT */
/* What an AMD GPU lacks, and why. */
#include "sources/amd/gpu.h"

#include <errno.h>
#include <string.h>

static void put_lack(struct gtel_findings *findings, const struct gtel_card *card,
                     enum gtel_metric metric, int error, const char *const text[3])
{
    gtel_finding_put_lack(findings, card->device, gtel_metric_row(metric)->measurement, metric,
                          error, text);
}

/* Why the driver gives no value now (kernel: amd/pm/amdgpu_pm.c). */
static const char *reason_of(int error)
{
    switch (error) {
    case -EPERM:
        return "the driver does not wake the card for it, or resets the card";
    case -EBUSY:
        return "the driver is busy with a reset or a suspend of the card";
    case -EOPNOTSUPP:
    case -EINVAL:
    case -ENODATA:
        return "this chip or its firmware does not report it";
    default:
        return error == 0 ? "the file is empty: the driver cannot read the value" : NULL;
    }
}

/* Files that are open and give nothing, quietly: each value may be missing alone. */
static void diagnose_attr(const struct gtel_card *card, const struct gtel_attr *attr,
                          struct gtel_findings *findings)
{
    char buf[GTEL_FS_TEXT_MAX];
    char name[GTEL_DRM_NAME_MAX];
    struct gtel_str text;
    int r = gtel_fs_read(card->cards->env, &attr->file, buf, sizeof(buf), &text);
    if (r == 0 && text.n > 0)
        return;
    (void)gtel_str_copy(name, sizeof(name), attr->name);
    const char *const lines[3] = {name, reason_of(r), NULL};
    put_lack(findings, card, attr->kind.metric, r, lines);
}

static bool has_metric(const struct gtel_attrs *attrs, enum gtel_metric metric)
{
    for (size_t i = 0; i < attrs->n; i++)
        if (attrs->attr[i].kind.metric == metric)
            return true;
    return false;
}

/* Files that are not there. */
static void diagnose_missing(const struct gtel_amd_gpu *gpu, struct gtel_findings *findings)
{
    static const struct {
        enum gtel_metric metric;
        const char *text[3];
    } rows[] = {
        {GTEL_M_TEMPERATURE,
         {"hwmon",
          "the driver shows no sensors: a virtual function has none, nor has a driver that was "
          "loaded with amdgpu.dpm=0",
          NULL}},
        {GTEL_M_POWER, {"hwmon/power1_average", "this driver shows no power of this chip", NULL}},
        {GTEL_M_GPU_BUSY,
         {"gpu_busy_percent", "this driver does not show how busy this chip is", NULL}},
        {GTEL_M_MEMORY_USED,
         {"mem_info_vram_used", "this driver does not show the memory in use", NULL}},
        {GTEL_M_ENGINE_BUSY,
         {"vcn_busy_percent",
          "this kernel does not show the use of this chip's video engine; "
          "Linux 6.12 does for most since RDNA 2",
          NULL}},
        {GTEL_M_FAN_RPM, {"hwmon/fan1_input", "an APU or a card without a fan of its own", NULL}},
    };
    static const char *const stuck[3] = {
        "gpu_busy_percent", "the firmware of this chip reports wrong values, which are ignored",
        NULL};
    bool is_stuck = gtel_amd_has_stuck_busy(&gpu->card.card->drm);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if (!has_metric(&gpu->card.attrs, rows[i].metric))
            put_lack(findings, gpu->card.card, rows[i].metric, 0,
                     is_stuck && rows[i].metric == GTEL_M_GPU_BUSY ? stuck : rows[i].text);
}

void gtel_amd_diagnose(const void *state, const void *own, struct gtel_findings *findings)
{
    static const char *const alone[3] = {
        "power/autosuspend_delay_ms",
        "idle, or just woken: little is read for a while, so that the GPU can fall asleep", NULL};
    const struct gtel_amd_gpu *gpu = own;
    const struct gtel_card *card = gpu->card.card;
    if (card->device->is_left_alone && !card->device->is_asleep)
        put_lack(findings, card, GTEL_M_GPU_BUSY, 0, alone);
    gtel_attr_source_diagnose(state, own, findings);
    if (gpu->table.error < 0) {
        const char *const table[3] = {"gpu_metrics", "it cannot be read: other files are instead",
                                      NULL};
        put_lack(findings, card, GTEL_M_GPU_THROTTLED, gpu->table.error, table);
    }
    if (!gtel_card_may_read(card) || gpu->card.attrs.hash == 0)
        return;
    for (size_t i = 0; i < gpu->card.attrs.n; i++)
        if (gpu->card.attrs.attr[i].state.error == 0)
            diagnose_attr(card, &gpu->card.attrs.attr[i], findings);
    diagnose_missing(gpu, findings);
}
