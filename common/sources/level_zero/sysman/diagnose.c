/* SPDX-License-Identifier: MIT */
/* What Level Zero does not give, and why. */

#include "sources/level_zero/sysman/rows.h"

#include <stdio.h>

static const char telem[] = "run as root, or let every user read the files:\n"
                            "chmod a+r /sys/class/intel_pmt/telem*/telem";

/* The group of metrics that a family feeds, and what its values need. */
static const struct {
    enum gtel_measurement measurement;
    const char *fix;
} needs[GTEL_SYSMAN_FAMILIES] = {
    [GTEL_SYSMAN_PCI] = {GTEL_MEASUREMENT_GPU, telem},
    [GTEL_SYSMAN_FREQUENCY] = {GTEL_MEASUREMENT_GPU_FREQUENCY_DOMAIN, NULL},
    [GTEL_SYSMAN_POWER] = {GTEL_MEASUREMENT_GPU_POWER_DOMAIN, telem},
    [GTEL_SYSMAN_TEMPERATURE] = {GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, telem},
    [GTEL_SYSMAN_MEMORY] = {GTEL_MEASUREMENT_GPU_MEMORY_REGION, telem},
    [GTEL_SYSMAN_RAS] = {GTEL_MEASUREMENT_GPU_ERROR, "run gtel as root"},
    [GTEL_SYSMAN_FABRIC] = {GTEL_MEASUREMENT_GPU_FABRIC, "run gtel as root"},
    [GTEL_SYSMAN_FAN] = {GTEL_MEASUREMENT_GPU_FAN, NULL},
};

/* One finding for a question that was not answered. */
static void add_code(const struct gtel_sysman_gpu *gpu, enum gtel_sysman_family family,
                     uint32_t code, const char *call, struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->card->device, needs[family].measurement};
    char said[48];
    const char *why = said;
    bool is_refused = code == GTEL_ZE_NO_PERMISSION;
    if (code == GTEL_ZE_NOT_ASKED || code == GTEL_ZE_SUCCESS)
        return;
    (void)snprintf(said, sizeof(said), "Level Zero answers code 0x%x", (unsigned)code);
    if (is_refused)
        why = "Level Zero does not let this user have it";
    else if (code == GTEL_ZE_UNSUPPORTED_FEATURE || code == GTEL_ZE_UNINITIALIZED)
        why = "this GPU, driver or loader does not have it";
    else if (code == GTEL_ZE_NO_VALUE)
        why = "the driver answers without a value";
    else if (code == GTEL_ZE_NOT_AVAILABLE)
        why = "the driver has no value now";
    gtel_finding_say(&at, call, is_refused ? needs[family].fix : NULL, "%s", why);
}

static void diagnose_family(const struct gtel_sysman_gpu *gpu, enum gtel_sysman_family family,
                            struct gtel_findings *findings)
{
    const struct gtel_sysman_list *list = &gpu->list[family];
    add_code(gpu, family, list->code, gtel_sysman_list_name(family), findings);
    for (size_t i = 0; i < gtel_sysman_rows_n; i++)
        for (size_t k = 0; gtel_sysman_rows[i].family == family && k < list->n; k++)
            add_code(gpu, family, list->part[k].ask[gtel_sysman_rows[i].ask].code,
                     gtel_sysman_rows[i].call.name, findings);
}

/* Reasons of throttling that have no value: see add_reasons() in clocks.c. */
static void diagnose_reasons(const struct gtel_sysman_gpu *gpu, struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->card->device,
                                          GTEL_MEASUREMENT_GPU_THROTTLE};
    const struct gtel_sysman_list *list = &gpu->list[GTEL_SYSMAN_FREQUENCY];
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *part = &list->part[i];
        if (part->use == GTEL_SYSMAN_USED && part->type == GTEL_ZES_FREQ_GPU &&
            part->ask[0].code == GTEL_ZE_SUCCESS && part->is.frequency.reasons_seen == 0)
            gtel_finding_say(&at, "zesFrequencyGetState", NULL,
                             "the driver says that nothing slows the GPU down, as it does where it "
                             "cannot read the reasons: they are reported once there was one");
    }
}

static void diagnose_gpu(const struct gtel_sysman_gpu *gpu, struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->card->device, GTEL_MEASUREMENT_GPU};
    if (!at.device)
        return;
    if (gpu->lost_ns > 0) {
        gtel_finding_say(&at, "Level Zero", NULL,
                         "the GPU is lost or needs a reset or repair (code 0x%x)",
                         (unsigned)gpu->lost_code);
        return;
    }
    if (!gpu->handle) {
        gtel_level_zero_say_unknown(gpu->card, GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, findings);
        return;
    }
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES; f++)
        diagnose_family(gpu, (enum gtel_sysman_family)f, findings);
    diagnose_reasons(gpu, findings);
}

void gtel_sysman_diagnose(void *state, struct gtel_registry *registry,
                          struct gtel_findings *findings)
{
    const struct gtel_sysman *sysman = state;
    (void)registry;
    if (!gtel_level_zero_diagnose(&sysman->lz, sysman->is_legacy ? "zeInit" : "zesInit",
                                  GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, findings))
        return;
    for (size_t i = 0; i < sysman->lz.cards.n; i++)
        diagnose_gpu(sysman->lz.cards.slot[i].own, findings);
}
