/* SPDX-License-Identifier: MIT */
/* What an Intel GPU lacks, and why. */
#include "sources/intel/gpu.h"

#include "base/error.h"
#include "host/kernel.h"
#include "sources/intel/perf.h"
#include "tables/support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A diagnosis of one GPU. */
struct diagnosis {
    const struct gtel_env *env;
    const struct gtel_intel *intel;
    const struct gtel_intel_gpu *gpu;
    const struct gtel_card *card;
    struct gtel_findings *findings;
    struct gtel_release kernel; /* zeroed: not known */
};

static void put(const struct diagnosis *diagnosis, enum gtel_measurement measurement, int error,
                const char *what, const char *why, const char *fix)
{
    const char *const text[3] = {what, why, fix};
    gtel_finding_put(diagnosis->findings, diagnosis->card->device, measurement, error, text);
}

/* ---- engines ---- */

static void diagnose_pmu(const struct diagnosis *diagnosis)
{
    const struct gtel_intel_pmu *pmu = &diagnosis->gpu->pmu;
    const struct gtel_drm_card *card = &diagnosis->card->drm;
    char dir[GTEL_INTEL_PERF_DIR_MAX];
    char fix[256];
    if (!gtel_intel_has_pmu(diagnosis->intel) || !card->is_pci || pmu->handle_plus_1 != 0)
        return;
    gtel_intel_perf_dir(dir, "i915", card->key);
    if (!gtel_fs_exists(diagnosis->env, GTEL_FS_AT("%s/type", dir)))
        gtel_intel_perf_dir(dir, "i915", NULL);
    bool is_refused = gtel_error_is_refusal(pmu->error);
    const char *why =
        is_refused ? "opening the engine counters is refused"
        : pmu->error == -ENOENT
            ? "this kernel was built without perf events for i915, or /sys is a container's"
            : "the engine counters cannot be opened";
    put(diagnosis, GTEL_MEASUREMENT_GPU_ENGINE, pmu->error, dir, why,
        is_refused ? gtel_intel_perf_fix(diagnosis->env, fix, sizeof(fix)) : NULL);
}

/* Source xe_pmu is not there to say so. */
static void diagnose_option(const struct diagnosis *diagnosis)
{
    static const char *const text[3] = {"option XeEngines", "it is off: engine use is not measured",
                                        NULL};
    if (!gtel_intel_has_pmu(diagnosis->intel) &&
        gtel_option_is(diagnosis->intel->source.options, GTEL_O_XE_ENGINES, "off"))
        gtel_finding_put_lack(diagnosis->findings, diagnosis->card->device,
                              GTEL_MEASUREMENT_GPU_ENGINE, GTEL_M_ENGINE_BUSY, 0, text);
}

/* ---- files ---- */

/* Of a virtual function, which has no sensors, the rest is said below. */
static bool is_function(const struct diagnosis *diagnosis)
{
    return gtel_fs_exists(diagnosis->env,
                          GTEL_FS_AT("sys/class/drm/%s/device/physfn", diagnosis->card->drm.card));
}

/* Counters that are not read at all: see cards.h. */
static void diagnose_bad_energy(const struct diagnosis *diagnosis)
{
    static const char *const text[3] = {
        "hwmon/energy*_input",
        "this kernel reads the energy of Battlemage from registers that hold nonsense: ignored",
        "use Linux 6.17 or newer, with the PMT driver (intel_vsec)"};
    gtel_finding_put_lack(diagnosis->findings, diagnosis->card->device,
                          GTEL_MEASUREMENT_GPU_POWER_DOMAIN, GTEL_M_ENERGY, 0, text);
}

/* ---- sensors ---- */

static bool has_value(const struct gtel_attrs *attrs, enum gtel_measurement measurement)
{
    for (size_t i = 0; i < attrs->n; i++)
        if (gtel_metric_row(attrs->attr[i].kind.metric)->measurement == measurement)
            return true;
    return false;
}

/* Why a GPU has none of these sensors. */
static void explain_sensor(const struct diagnosis *diagnosis, enum gtel_measurement measurement)
{
    const struct gtel_finding_place at = {diagnosis->findings, diagnosis->card->device,
                                          measurement};
    const struct gtel_drm_card *card = &diagnosis->card->drm;
    const char *text =
        gtel_support_since(gtel_str_of(card->driver), gtel_measurement_row(measurement)->name,
                           gtel_intel_family(card->device_id));
    const struct gtel_release *kernel = &diagnosis->kernel;
    struct gtel_release since;
    char fix[64];
    if (is_function(diagnosis)) {
        gtel_finding_say(&at, "hwmon", NULL, "a virtual function (SR-IOV) has no sensors");
    } else if (text && kernel->major > 0 && gtel_release_parse(gtel_str_of(text), &since) == 0 &&
               !gtel_release_is_at_least(kernel, since.major, since.minor)) {
        (void)snprintf(fix, sizeof(fix), "use Linux %u.%u or newer", since.major, since.minor);
        gtel_finding_say(&at, "hwmon", fix, "%s gives it since Linux %u.%u, and this is %u.%u",
                         card->driver, since.major, since.minor, kernel->major, kernel->minor);
    } else {
        gtel_finding_say(&at, "hwmon", NULL, "%s gives none for this GPU", card->driver);
    }
}

/* An integrated GPU has none: its power and temperature are the processor's (rapl.c). */
static void diagnose_sensors(const struct diagnosis *diagnosis)
{
    static const enum gtel_measurement sensors[] = {GTEL_MEASUREMENT_GPU_POWER_DOMAIN,
                                                    GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
                                                    GTEL_MEASUREMENT_GPU_FAN};
    if (diagnosis->card->drm.is_pci && diagnosis->card->drm.pci.bus == 0)
        return;
    bool is_bad =
        !is_function(diagnosis) && gtel_cards_has_bad_energy(diagnosis->env, &diagnosis->card->drm);
    if (is_bad)
        diagnose_bad_energy(diagnosis);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(sensors); i++) {
        bool is_explained = is_bad && sensors[i] == GTEL_MEASUREMENT_GPU_POWER_DOMAIN;
        if (!is_explained && !has_value(&diagnosis->gpu->files.attrs, sensors[i]))
            explain_sensor(diagnosis, sensors[i]);
    }
}

/* ---- all of it ---- */

static void diagnose_gpu(const struct diagnosis *diagnosis)
{
    const struct gtel_card *card = diagnosis->card;
    if (diagnosis->gpu->is_lost) {
        put(diagnosis, GTEL_MEASUREMENT_GPU, -ENODEV, card->drm.card,
            "the driver has left the GPU, or is being loaded", NULL);
    } else if (card->device->is_asleep && !card->cards->may_wake) {
        gtel_attr_source_diagnose(diagnosis->intel, diagnosis->gpu, diagnosis->findings);
    } else if (card->device->is_left_alone) {
        put(diagnosis, GTEL_MEASUREMENT_GPU, 0, "power/autosuspend_delay_ms",
            "idle: nothing is read for a while, so that the GPU can fall asleep", NULL);
    } else {
        diagnose_pmu(diagnosis);
        diagnose_option(diagnosis);
        gtel_attr_source_diagnose(diagnosis->intel, diagnosis->gpu, diagnosis->findings);
        diagnose_sensors(diagnosis);
    }
}

void gtel_intel_diagnose(void *state, struct gtel_registry *registry,
                         struct gtel_findings *findings)
{
    const struct gtel_intel *intel = state;
    const struct gtel_card_list *cards = &intel->source.cards;
    struct diagnosis diagnosis = {.env = intel->source.env, .intel = intel, .findings = findings};
    (void)registry;
    (void)gtel_kernel_release(diagnosis.env, &diagnosis.kernel);
    for (size_t i = 0; i < cards->n; i++) {
        diagnosis.gpu = cards->slot[i].own;
        diagnosis.card = gtel_card_at(cards, i);
        diagnose_gpu(&diagnosis);
    }
}
