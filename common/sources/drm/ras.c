/* SPDX-License-Identifier: MIT */
/*
 * Source drm_ras: errors that the hardware counts, as DRM drivers offer them through the generic
 * netlink family drm-ras (kernel: Documentation/gpu/drm-ras.rst).
 *
 * xe has two nodes, of correctable and of uncorrectable errors, with a counter for each part of the
 * chip. On newer hardware a counter is asked of the GPU (kernel: xe/xe_drm_ras.c), so a sleeping
 * one is left alone. Counters have 32 bits, more errors than a card that works makes in years; they
 * restart at 0 with the driver, and can be cleared.
 */
#include "host/env.h"
#include "host/kernel.h"
#include "base/error.h"
#include "sources/drm/card_source.h"
#include "tables/intel_names.h"

#include <string.h>

static const char *const drivers[] = {"xe", NULL};

struct ras_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    int error;              /* of the last question; absence and refusal last until a discovery */
    uint32_t asked;         /* after which discovery that was */
    int logged;             /* the last failure that was logged */
};

/* Whether xe has counters of it at all (kernel: xe/xe_drm_ras.c). */
static bool is_counted(const struct ras_card *own)
{
    enum gtel_intel_family family = gtel_intel_family(own->card->drm.device_id);
    return family == GTEL_INTEL_PONTE_VECCHIO || family == GTEL_INTEL_CRESCENT_ISLAND;
}

/* The kernel refuses before it looks for the GPU, so of most GPUs a refusal means nothing. */
static void log_change(const struct gtel_env *env, struct ras_card *own)
{
    bool is_refused = gtel_error_is_refusal(own->error);
    gtel_failure_log(&env->log, &own->logged, is_refused && !is_counted(own) ? 0 : own->error,
                     is_refused ? "give the program CAP_NET_ADMIN; going on without them" : "",
                     "drm_ras: %s: error counters", own->card->drm.key);
}

/* The words that other sources use too; the node's own name for what is not known. */
static struct gtel_str severity(struct gtel_batch *batch, const char *node)
{
    if (strcmp(node, "correctable-errors") == 0)
        return GTEL_STR("corrected");
    if (strcmp(node, "uncorrectable-errors") == 0)
        return GTEL_STR("uncorrected");
    return gtel_batch_text(batch, gtel_str_of(node));
}

static bool is_final(int r)
{
    return gtel_error_is_absence(r) || gtel_error_is_refusal(r);
}

static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    const struct gtel_card_source *source = state;
    const struct gtel_env *env = source->env;
    struct ras_card *own = p;
    struct gtel_ras_counter counter[GTEL_RAS_MAX];
    size_t n = 0;
    bool is_answered = own->asked == source->discoveries && is_final(own->error);
    if (is_answered || !own->card->drm.is_pci || !gtel_card_may_read(own->card))
        return 0;
    own->asked = source->discoveries;
    own->error = gtel_env_ras_read(env, own->card->drm.key, counter, GTEL_RAS_MAX, &n);
    log_change(env, own);
    for (size_t i = 0; own->error == 0 && i < n; i++)
        gtel_batch_error(batch, own->card->device,
                         gtel_batch_text(batch, gtel_str_of(counter[i].name)),
                         severity(batch, counter[i].node), counter[i].value);
    return is_final(own->error) ? 0 : own->error;
}

static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    const struct gtel_card_source *source = state;
    const struct ras_card *own = p;
    const char *text[3] = {"drm-ras (generic netlink)"};
    int error = own->asked == source->discoveries ? own->error : 0;
    if (error == 0)
        return;
    if (!is_final(error)) {
        text[1] = "asking for the error counters fails";
    } else if (!is_counted(own)) {
        text[1] = "xe counts the errors of Ponte Vecchio and Crescent Island only";
        error = 0;
    } else if (gtel_error_is_refusal(error)) {
        text[1] = "the error counters are for administrators";
        text[2] = "give the program CAP_NET_ADMIN";
    } else if (gtel_kernel_is_older(source->env, 7, 1)) {
        text[1] = "Linux has it since 7.1";
        text[2] = "use Linux 7.1 or newer";
    } else {
        text[1] = "this kernel is built without it";
    }
    gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_ERROR, error, text);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct ras_card),
    .sample = sample_card,
    .diagnose = diagnose_card,
};

static const char *const origins[] = {"drm-ras", NULL};

const struct gtel_source gtel_source_drm_ras = {
    .name = "drm_ras",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Hardware errors by part of the chip and severity, from the driver's counters",
    .needs = "Linux 7.1 or newer and CAP_NET_ADMIN; Ponte Vecchio or Crescent Island with xe",
    .origins = origins,
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
};
