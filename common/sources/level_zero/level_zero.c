/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero: where it is, its start, and when the helper needs a restart. */
#include "sources/level_zero/level_zero.h"

#include "abi/zes_abi.h"
#include "host/library.h"

#include <errno.h>

#define TEN_MINUTES_NS UINT64_C(600000000000)

static const char soname[] = "libze_loader.so.1";
static const char *const drivers[] = {"i915", "xe", "wddm", NULL};

static bool find(const struct gtel_env *env, char *ret, size_t size)
{
    static const char dll[] = "System32/ze_loader.dll"; /* below the folder of Windows */
    return gtel_library_find(env, gtel_level_zero_names, ret, size) ||
           (gtel_fs_exists(env, dll) && gtel_str_copy(ret, size, gtel_str_of(dll)));
}

static bool is_wanted(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers) || gtel_pnp_has(env, GTEL_PNP_INTEL);
}

bool gtel_level_zero_present(const struct gtel_env *env)
{
    char path[GTEL_FS_PATH_MAX];
    return is_wanted(env) && find(env, path, sizeof(path));
}

static const char packages[] = "apt install libze1 (Debian), level-zero (Ubuntu)";

const struct gtel_source_library gtel_level_zero_library = {
    .name = "Level Zero", .soname = soname, .fix = packages, .is_wanted = is_wanted, .find = find};

const char *gtel_level_zero_fix(const struct gtel_env *env, const char *others)
{
    return gtel_pnp_word(env, "install or update Intel's graphics driver", others);
}

static const char *advice_on(const struct gtel_env *env, uint32_t code)
{
    switch (code) {
    case GTEL_ZE_UNINITIALIZED:
        return gtel_pnp_word(env, "it finds no GPU: install or update Intel's graphics driver",
                             "it finds no GPU: is Intel's driver for it installed "
                             "(libze-intel-gpu1, intel-level-zero-gpu)?");
    case GTEL_ZE_NO_PERMISSION:
        return gtel_pnp_word(
            env, "this account may not use the GPU",
            "this user may not open the GPU's device nodes: add it to the group render");
    case GTEL_ZE_NO_DEPENDENCY:
        return "a library that it needs is missing";
    case GTEL_ZE_UNSUPPORTED_VERSION:
        return "loader and driver are of different versions";
    default:
        return "this driver does not work";
    }
}

int gtel_level_zero_open(struct gtel_level_zero *lz, const struct gtel_env *env,
                         const struct gtel_options *options)
{
    if (!gtel_level_zero_present(env))
        return -ENOENT;
    lz->cards.env = env;
    lz->cards.drivers = drivers;
    lz->cards.pnp_vendor = GTEL_PNP_INTEL;
    lz->options = options;
    return 0;
}

void gtel_level_zero_close(struct gtel_level_zero *lz)
{
    const struct gtel_env *env = lz->cards.env;
    if (!env)
        return;
    gtel_card_list_done(&lz->cards);
    gtel_dynlib_close(env, &lz->dynlib);
}

void *gtel_level_zero_at(const struct gtel_level_zero *lz, uint32_t domain, uint32_t bus,
                         uint32_t device, uint32_t function)
{
    for (size_t i = 0; i < lz->cards.n; i++) {
        const struct gtel_drm_card *drm = &gtel_card_at(&lz->cards, i)->drm;
        if (drm->is_pci && domain == drm->pci.domain && bus == drm->pci.bus &&
            device == drm->pci.device && function == drm->pci.function)
            return lz->cards.slot[i].own;
    }
    return NULL;
}

/* Its start opens the nodes of all GPUs: it waits until none of them sleeps. */
static bool may_start(const struct gtel_level_zero *lz)
{
    return lz->cards.n > 0 && !gtel_card_list_awaited(&lz->cards);
}

bool gtel_level_zero_load(struct gtel_level_zero *lz, const struct gtel_dynlib_symbol *symbols,
                          size_t n, void *calls)
{
    const struct gtel_env *env = lz->cards.env;
    if (lz->state == GTEL_LEVEL_ZERO_FAILED || lz->state == GTEL_LEVEL_ZERO_RUNS || !may_start(lz))
        return false;
    if (gtel_dynlib_open(env, &lz->dynlib, gtel_level_zero_names, symbols, n, calls) == 0) {
        lz->started_ns = gtel_env_now(env);
        return true;
    }
    lz->dynlib = (struct gtel_dynlib){0};
    if (lz->state == GTEL_LEVEL_ZERO_NEW)
        gtel_log(&env->log, lz->level, "%s: %s cannot be used; going on without Level Zero",
                 lz->source, gtel_level_zero_names[0]);
    lz->state = GTEL_LEVEL_ZERO_NO_LIBRARY;
    return false;
}

bool gtel_level_zero_may_ask(const struct gtel_level_zero *lz)
{
    return lz->state == GTEL_LEVEL_ZERO_RUNS && !gtel_card_list_awaited(&lz->cards);
}

void gtel_level_zero_started(struct gtel_level_zero *lz, uint32_t code, const char *advice)
{
    lz->state = code == GTEL_ZE_SUCCESS ? GTEL_LEVEL_ZERO_RUNS : GTEL_LEVEL_ZERO_FAILED;
    lz->advice = advice ? advice : advice_on(lz->cards.env, code);
    if (lz->state == GTEL_LEVEL_ZERO_FAILED)
        gtel_log(&lz->cards.env->log, lz->level, "%s: Level Zero does not start, code 0x%x: %s",
                 lz->source, (unsigned)code, lz->advice);
}

/* ---- restarts ---- */

void gtel_level_zero_restart(const struct gtel_level_zero *lz, struct gtel_registry *registry,
                             const char *why)
{
    if (registry->renewal != GTEL_RENEWAL_POSSIBLE)
        return;
    registry->renewal = GTEL_RENEWAL_DUE;
    if (why)
        gtel_log(&lz->cards.env->log, GTEL_LOG_INFO, "%s: %s: restarting the helper", lz->source,
                 why);
}

int gtel_level_zero_discover(struct gtel_level_zero *lz, struct gtel_registry *registry,
                             bool has_devices)
{
    int r = gtel_card_list_discover(&lz->cards, registry);
    bool is_useless = lz->state == GTEL_LEVEL_ZERO_FAILED ||
                      (lz->state == GTEL_LEVEL_ZERO_RUNS && lz->cards.n > 0 && !has_devices);
    for (size_t i = 0; i < lz->cards.n && lz->started_ns > 0; i++)
        if (lz->cards.slot[i].is_new)
            gtel_level_zero_restart(lz, registry, "a GPU was added");
    if (is_useless && gtel_env_now(lz->cards.env) - lz->started_ns >= TEN_MINUTES_NS)
        gtel_level_zero_restart(lz, registry, NULL);
    return r;
}

/* The folder of a card is another one after each bind. Windows shows no more than a device. */
static void check_card(const struct gtel_level_zero *lz, struct gtel_card *card,
                       struct gtel_registry *registry)
{
    const struct gtel_env *env = lz->cards.env;
    struct gtel_stat stat;
    bool is_asleep;
    if (card->awake.pnp.set) {
        card->is_gone = gtel_awake_look(env, &card->awake, &is_asleep) < 0;
        return;
    }
    int r = env->ops->stat(env->arg, GTEL_FS_AT("sys/class/drm/%s", card->drm.card), &stat);
    card->is_gone = r == -ENOENT;
    if (r < 0)
        return;
    if (card->node != 0 && card->node != stat.ino && lz->started_ns > 0)
        gtel_level_zero_restart(lz, registry, "a GPU was removed and added again");
    card->node = stat.ino;
}

bool gtel_level_zero_check(const struct gtel_level_zero *lz, struct gtel_registry *registry)
{
    bool is_due = lz->state == GTEL_LEVEL_ZERO_NEW && may_start(lz);
    for (size_t i = 0; i < lz->cards.n; i++) {
        check_card(lz, gtel_card_at(&lz->cards, i), registry);
        is_due = is_due || gtel_card_at(&lz->cards, i)->is_gone;
    }
    return is_due;
}

/* ---- doctor ---- */

bool gtel_level_zero_diagnose(const struct gtel_level_zero *lz, const char *start_call,
                              enum gtel_measurement measurement, struct gtel_findings *findings)
{
    const struct gtel_card *card = gtel_card_list_awaited(&lz->cards);
    const struct gtel_finding_place at = {findings, NULL, measurement};
    const char *loader = gtel_pnp_word(lz->cards.env, "ze_loader.dll", soname);
    const char *fix = gtel_level_zero_fix(lz->cards.env, packages);
    if (lz->state == GTEL_LEVEL_ZERO_NO_LIBRARY)
        gtel_finding_say(&at, loader, fix, "it cannot be opened");
    else if (lz->state == GTEL_LEVEL_ZERO_FAILED)
        gtel_finding_say(&at, start_call, NULL, "%s", lz->advice);
    else if (lz->state == GTEL_LEVEL_ZERO_NEW && card)
        gtel_finding_say(
            &at, "Level Zero", "let that GPU work once, or set the option Wake to always",
            "it starts with all GPUs together, and waits until %s is awake", card->drm.key);
    return lz->state == GTEL_LEVEL_ZERO_RUNS;
}

void gtel_level_zero_say_unknown(const struct gtel_card *card, enum gtel_measurement measurement,
                                 struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, card->device, measurement};
    gtel_finding_say(
        &at, "Level Zero",
        gtel_level_zero_fix(card->cards->env,
                            "install Intel's Level Zero driver for it (libze-intel-gpu1, "
                            "intel-level-zero-gpu)"),
        "it does not know this GPU");
}
