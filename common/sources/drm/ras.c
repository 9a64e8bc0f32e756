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
#include "host/kernel.h"
#include "sources/drm/cards.h"
#include "sources/source.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <string.h>

static const char *const drivers[] = {"xe", NULL};

struct ras_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    int error;              /* of the last question; absence and refusal last until a discovery */
    bool is_logged;         /* a refusal or failure */
};

struct drm_ras {
    struct gtel_card_list cards;
};

static bool is_absence(int r)
{
    return r == -ENOENT || r == -EOPNOTSUPP || r == -ENODATA;
}

static bool is_refusal(int r)
{
    return r == -EPERM || r == -EACCES;
}

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers);
}

static int open_ras(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct drm_ras *ras = state;
    (void)options;
    ras->cards = (struct gtel_card_list){
        .env = env, .drivers = drivers, .own_size = sizeof(struct ras_card)};
    return 0;
}

static void close_ras(void *state)
{
    struct drm_ras *ras = state;
    gtel_card_list_done(&ras->cards);
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct drm_ras *ras = state;
    int r = gtel_card_list_discover(&ras->cards, registry);
    for (size_t i = 0; i < ras->cards.n; i++)
        ((struct ras_card *)ras->cards.slot[i].own)->error = 0;
    return r;
}

/* Whether xe has counters of it at all (kernel: xe/xe_drm_ras.c). */
static bool is_counted(const struct ras_card *own)
{
    enum gtel_intel_family family = gtel_intel_family(own->card->drm.device_id);
    return family == GTEL_INTEL_PONTE_VECCHIO || family == GTEL_INTEL_CRESCENT_ISLAND;
}

/*
 * Says once what is wrong and what would help, and once that it is over. The kernel refuses before
 * it looks for the GPU, so of most GPUs a refusal means nothing.
 */
static void note(const struct gtel_env *env, struct ras_card *own)
{
    bool is_refused = is_refusal(own->error);
    bool is_wrong = own->error < 0 && !is_absence(own->error) && !(is_refused && !is_counted(own));
    if (is_wrong == own->is_logged)
        return;
    own->is_logged = is_wrong;
    gtel_log(&env->log, is_wrong ? GTEL_LOG_WARNING : GTEL_LOG_INFO,
             "drm_ras: %s: error counters: %s%s", own->card->drm.key,
             is_wrong ? strerror(-own->error) : "works again",
             is_refused ? "; give the program CAP_NET_ADMIN; going on without them" : "");
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

static void sample_card(const struct gtel_env *env, struct ras_card *own, struct gtel_batch *batch)
{
    struct gtel_ras_counter counter[GTEL_RAS_MAX];
    size_t n = 0;
    own->error = env->ops->ras_read(env->arg, own->card->drm.key, counter, GTEL_RAS_MAX, &n);
    note(env, own);
    if (own->error < 0 && !is_absence(own->error) && !is_refusal(own->error))
        gtel_batch_failed(batch, own->card->device);
    for (size_t i = 0; own->error == 0 && i < n; i++) {
        struct gtel_reading reading = {.device = own->card->device,
                                       .metric = GTEL_M_ERROR_COUNT,
                                       .value_type = GTEL_VALUE_U64,
                                       .value.u64 = counter[i].value,
                                       .dim = {gtel_batch_text(batch, gtel_str_of(counter[i].name)),
                                               severity(batch, counter[i].node)}};
        gtel_batch_put(batch, &reading);
    }
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct drm_ras *ras = state;
    (void)registry;
    for (size_t i = 0; i < ras->cards.n; i++) {
        struct ras_card *own = ras->cards.slot[i].own;
        bool is_due = !is_absence(own->error) && !is_refusal(own->error);
        if (is_due && own->card->drm.is_pci && gtel_card_may_read(own->card))
            sample_card(ras->cards.env, own, batch);
    }
    return 0;
}

static void diagnose_card(const struct gtel_env *env, const struct ras_card *own,
                          struct gtel_findings *findings)
{
    const char *text[3] = {"drm-ras (generic netlink)"};
    int error = own->error;
    if (!is_absence(error) && !is_refusal(error)) {
        text[1] = "asking for the error counters fails";
    } else if (!is_counted(own)) {
        text[1] = "xe counts the errors of Ponte Vecchio and Crescent Island only";
        error = 0;
    } else if (is_refusal(error)) {
        text[1] = "the error counters are for administrators";
        text[2] = "give the program CAP_NET_ADMIN";
    } else if (gtel_kernel_is_older(env, 7, 1)) {
        text[1] = "Linux has it since 7.1";
        text[2] = "use Linux 7.1 or newer";
    } else {
        text[1] = "this kernel is built without it";
    }
    gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_ERROR, error, text);
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct drm_ras *ras = state;
    (void)registry;
    for (size_t i = 0; i < ras->cards.n; i++) {
        const struct ras_card *own = ras->cards.slot[i].own;
        if (own->error < 0)
            diagnose_card(ras->cards.env, own, findings);
    }
}

static const char *const origins[] = {"drm-ras", NULL};

const struct gtel_source gtel_source_drm_ras = {
    .name = "drm_ras",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Hardware errors by part of the chip and severity, from the driver's counters",
    .needs = "Linux 7.1 or newer and CAP_NET_ADMIN; Ponte Vecchio or Crescent Island with xe",
    .seen = "not tried on hardware",
    .origins = origins,
    .state_size = sizeof(struct drm_ras),
    .is_hearsay = true,
    .present = present,
    .open = open_ras,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_ras,
};
