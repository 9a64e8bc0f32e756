/* SPDX-License-Identifier: MIT */
/*
 * Source drm_health: what kernel and driver have counted and think of a GPU: PCIe errors, xe's own
 * verdict, cards that wait for a repair of their firmware, and virtual functions.
 *
 * A GPU behind a switch on its card has a link inside of the card only, so its own PCIe errors say
 * nothing of the slot's. These are counted by the card's first port, or by its partner, the port of
 * the slot (kernel: Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats). All these files are
 * the kernel's memory: reading them wakes nothing.
 *
 * A card that could not boot its firmware has no DRM card at all: xe binds to it, so that the
 * firmware can be written, and does nothing else ("survivability mode", kernel:
 * xe/xe_survivability_mode.c, 6.16 and newer). It is reported as a GPU that does not answer.
 */
#include "base/error.h"
#include "host/kernel.h"
#include "parse/pcie.h"
#include "sources/drm/card_source.h"
#include "sources/drm/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPAIRS_MAX = 16, NAMES_MAX = 4096 };
enum { HEALTH_CRITICAL = 2 }; /* the worst of what the catalogue says of GPU_HEALTH */
enum { ORIGIN_AER, ORIGIN_HEALTH, ORIGIN_SRIOV };

static const char *const drivers[] = {"i915", "xe", NULL};
static const char *const amd_drivers[] = {"amdgpu", NULL};
/* Where the errors of a card are counted; the ports of those with a switch. */
static const struct {
    const char *above; /* the device of the card */
    struct gtel_str kind;
} places[] = {{"", GTEL_STR_INIT("pcie-aer")},
              {"/../..", GTEL_STR_INIT("pcie-aer-card")},
              {"/../../..", GTEL_STR_INIT("pcie-aer-slot")}};
enum { AER_FILES = GTEL_ARRAY_LEN(places) * GTEL_AER_FILES };

static const char xe_path[] = "sys/bus/pci/drivers/xe";

struct health_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct gtel_fs_file aer[AER_FILES];
    struct gtel_fs_file verdict; /* gpu_health, opened when the GPU is first seen awake */
    bool has_asked;              /* verdict has been opened, or is not there */
    bool is_repairing;
    uint64_t functions_plus_1; /* virtual ones that are switched on; 0: it can have none */
};

/*
 * The kernel makes AER's files for each device that has the capability, and counts in them where a
 * root port has its AER service (kernel: pci/pcie/aer.c, pci/pcie/portdrv.c).
 */
enum aer_state {
    AER_UNKNOWN,
    AER_SERVED,     /* or there is no such folder, as in a recording without it */
    AER_DISABLED,   /* the driver is not there: pci=noaer */
    AER_OF_FIRMWARE /* no port has it: the firmware keeps the errors to itself, or none has AER */
};

struct drm_health {
    struct gtel_card_source source;
    enum aer_state aer;
    struct gtel_device
        *repair[REPAIRS_MAX]; /* devices of xe that are no cards: firmware needs it */
    size_t n;
};

/* Stops at the first device of xe. */
static int stop_at_device(void *arg, struct gtel_str name)
{
    struct gtel_pci pci;
    (void)arg;
    return gtel_pci_parse(name, &pci) == 0;
}

static int stop_at_any(void *arg, struct gtel_str name)
{
    (void)arg;
    (void)name;
    return 1;
}

/* Stops at a service of a root port: "0000:00:01.0:pcie002". */
static int stop_at_port(void *arg, struct gtel_str name)
{
    struct gtel_pci pci;
    size_t n = gtel_str_behind(name, ':');
    (void)arg;
    return n > 0 && gtel_pci_parse((struct gtel_str){name.p, n - 1}, &pci) == 0;
}

static bool present(const struct gtel_env *env)
{
    return gtel_cards_any(env, drivers) ||
           env->ops->dir_list(env->arg, xe_path, stop_at_device, NULL) == 1;
}

static void close_files(const struct gtel_env *env, void *own)
{
    struct health_card *card = own;
    for (size_t i = 0; i < AER_FILES; i++)
        gtel_fs_close(env, &card->aer[i]);
    gtel_fs_close(env, &card->verdict);
}

/* Finding */

/* A virtual function's errors are the physical one's. */
static bool is_function(const struct gtel_env *env, const struct health_card *own)
{
    return gtel_fs_exists(env, GTEL_FS_AT("%s/physfn", own->card->path));
}

static int open_aer(const struct gtel_env *env, struct health_card *own)
{
    int first = 0;
    bool has_ports = gtel_link_has_switch(env, own->card) && !is_function(env, own);
    for (size_t i = 0; i < (has_ports ? AER_FILES : GTEL_AER_FILES); i++) {
        if (gtel_fs_is_open(&own->aer[i]))
            continue;
        int r =
            gtel_fs_open(env, &own->aer[i],
                         GTEL_FS_AT("%s%s/%s", own->card->path, places[i / GTEL_AER_FILES].above,
                                    gtel_aer_files[i % GTEL_AER_FILES].name));
        first = first < 0 || gtel_error_is_no_path(r) ? first : r;
    }
    return first;
}

/* 0, or a negative errno: then *aer stays as it was. */
static int find_aer(const struct gtel_env *env, enum aer_state *aer)
{
    static const char driver[] = "sys/bus/pci_express/drivers/aer";
    int r = env->ops->dir_list(env->arg, "sys/bus/pci_express/drivers", stop_at_any, NULL);
    if (gtel_error_is_refusal(r))
        return 0; /* unknown, and it stays so */
    if (r < 0 && !gtel_error_is_no_path(r))
        return r;
    int ports = r == 1 ? env->ops->dir_list(env->arg, driver, stop_at_port, NULL) : 1;
    if (ports < 0 && ports != -ENOENT)
        return gtel_error_is_refusal(ports) ? 0 : ports;
    *aer = ports < 0 ? AER_DISABLED : ports == 0 ? AER_OF_FIRMWARE : AER_SERVED;
    return 0;
}

/*
 * Links virtfn0, virtfn1 … are there as long as the functions are (kernel: drivers/pci/iov.c). The
 * file sriov_numvfs has their number, but to read it takes the device's lock.
 */
static int count_functions(const struct gtel_env *env, struct health_card *own)
{
    char target[64];
    struct gtel_str name;
    uint64_t n = 0;
    int r = env->ops->exists(env->arg, GTEL_FS_AT("%s/sriov_numvfs", own->card->path));
    bool has_functions = r == 0;
    while (r == 0 && n < GTEL_FUNCTIONS_MAX) {
        r = gtel_fs_link_name(env, GTEL_FS_AT("%s/virtfn%u", own->card->path, (unsigned)n), target,
                              sizeof(target), &name);
        n += r == 0 ? 1 : 0;
    }
    if (r < 0 && !gtel_error_is_no_path(r))
        return r;
    own->functions_plus_1 = has_functions ? n + 1 : 0;
    return 0;
}

/* Whether the device waits for repair: 1 or 0, or a negative errno. */
static int needs_repair(const struct gtel_env *env, const char *dir)
{
    int r = env->ops->exists(env->arg, GTEL_FS_AT("%s/survivability_mode", dir));
    return r == 0 ? 1 : gtel_error_is_no_path(r) ? 0 : r;
}

static void log_repair(const struct gtel_env *env, const char *key)
{
    gtel_log(&env->log, GTEL_LOG_WARNING,
             "drm_health: %s: the card is in survivability mode: its firmware has to be written "
             "again, for example with fwupd",
             key);
}

static int discover_card(void *state, void *p)
{
    const struct gtel_env *env = ((const struct drm_health *)state)->source.env;
    struct health_card *own = p;
    bool is_xe = strcmp(own->card->drm.driver, "xe") == 0;
    int repair = is_xe ? needs_repair(env, own->card->path) : 0;
    if (repair > 0 && !own->is_repairing)
        log_repair(env, own->card->drm.key);
    if (repair >= 0)
        own->is_repairing = repair > 0;
    int r = open_aer(env, own);
    int counted = count_functions(env, own);
    r = r < 0 ? r : counted;
    return r < 0 || repair > 0 ? r : repair;
}

static bool is_card(const struct drm_health *health, const char *key)
{
    for (size_t i = 0; i < health->source.cards.n; i++)
        if (strcmp(gtel_card_at(&health->source.cards, i)->drm.key, key) == 0)
            return true;
    return false;
}

/* As its driver's source will call it once it is a card: a repaired GPU continues its series. */
static void label_repair(const struct gtel_env *env, struct gtel_registry *registry,
                         struct gtel_device *device)
{
    struct gtel_drm_card drm = {.driver = "xe"};
    uint64_t vendor;
    uint64_t id;
    (void)gtel_str_copy(drm.key, sizeof(drm.key), gtel_str_of(device->key));
    gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(device->key));
    gtel_device_label(registry, device, GTEL_LABEL_VENDOR, GTEL_STR("intel"));
    gtel_device_label(registry, device, GTEL_LABEL_DRIVER, GTEL_STR("xe"));
    if (gtel_fs_hex(env, GTEL_FS_AT("%s/%s/vendor", xe_path, device->key), &vendor) < 0 ||
        gtel_fs_hex(env, GTEL_FS_AT("%s/%s/device", xe_path, device->key), &id) < 0)
        return;
    drm.vendor_id = (uint16_t)vendor;
    drm.device_id = (uint16_t)id;
    gtel_cards_label(env, registry, device, &drm);
}

static bool has_device(struct gtel_device *const *list, size_t n, const struct gtel_device *device)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == device)
            return true;
    return false;
}

/* 1 and the device where one of xe is no card and waits for repair, 0, or a negative errno. */
static int find_repair(const struct drm_health *health, struct gtel_registry *registry,
                       struct gtel_str name, struct gtel_device **ret)
{
    const struct gtel_env *env = health->source.env;
    char key[GTEL_PCI_TEXT_MAX];
    struct gtel_pci pci;
    if (gtel_pci_parse(name, &pci) < 0)
        return 0;
    gtel_pci_print(key, &pci);
    if (is_card(health, key))
        return 0;
    int r = needs_repair(env, GTEL_FS_AT("%s/%.*s", xe_path, GTEL_STR_ARG(name)));
    struct gtel_device *device = gtel_registry_find(registry, gtel_str_of(key));
    bool is_known = device && has_device(health->repair, health->n, device);
    if (r == 0 || (r < 0 && !is_known))
        return r;
    int added = gtel_registry_add(registry, gtel_str_of(key), ret);
    if (added < 0)
        return added;
    if (!is_known)
        log_repair(env, key);
    label_repair(env, registry, *ret);
    return 1;
}

static int find_repairs(struct drm_health *health, struct gtel_registry *registry)
{
    struct gtel_device *found[REPAIRS_MAX];
    size_t kept = 0;
    int first = 0;
    struct gtel_str *names = NULL;
    size_t n = 0;
    gtel_arena_reset(&health->source.arena);
    int r = gtel_fs_list(health->source.env, xe_path, &health->source.arena, NAMES_MAX, &names, &n);
    if (r < 0 && !gtel_error_is_no_path(r))
        return r; /* what is known stays */
    for (size_t i = 0; i < n && kept < REPAIRS_MAX; i++) {
        r = find_repair(health, registry, names[i], &found[kept]);
        kept += r > 0 ? 1 : 0;
        first = first < 0 ? first : r;
    }
    for (size_t i = 0; i < health->n; i++)
        if (!has_device(found, kept, health->repair[i]) && !is_card(health, health->repair[i]->key))
            gtel_registry_lost(registry, health->repair[i]);
    memcpy(health->repair, found, kept * sizeof(struct gtel_device *));
    health->n = kept;
    return first < 0 ? first : 0;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct drm_health *health = state;
    int first = find_aer(health->source.env, &health->aer);
    int r = gtel_card_source_discover(state, registry);
    first = first < 0 ? first : r;
    bool is_intel = health->source.cards.drivers == drivers;
    r = is_intel ? find_repairs(health, registry) : 0;
    return first < 0 ? first : r;
}

/* Reading */

static void put(struct gtel_batch *batch, const struct gtel_device *device, enum gtel_metric metric,
                uint8_t origin, uint64_t value)
{
    batch->origin = origin;
    gtel_batch_u64(batch, device, metric, GTEL_STR_NONE, value);
}

/* Zero is reported only where errors are counted, and of the GPU itself. */
static int read_aer(const struct drm_health *health, const struct health_card *own,
                    struct gtel_batch *batch)
{
    const struct gtel_env *env = health->source.env;
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    uint64_t value;
    int first = 0;
    batch->origin = ORIGIN_AER;
    for (size_t i = 0; i < AER_FILES; i++) {
        if (!gtel_fs_is_open(&own->aer[i]))
            continue;
        int r = gtel_fs_read(env, &own->aer[i], buf, sizeof(buf), &text);
        if (r == 0)
            r = gtel_aer_total(text, &value);
        if (r == 0 && (value > 0 || (i < GTEL_AER_FILES && health->aer == AER_SERVED)))
            gtel_batch_error(batch, own->card->device, places[i / GTEL_AER_FILES].kind,
                             gtel_aer_files[i % GTEL_AER_FILES].severity, value);
        first = first < 0 ? first : r;
    }
    return first;
}

/* The words of xe's gpu_health (7.3 and newer). */
static int parse_verdict(struct gtel_str text, uint64_t *ret)
{
    static const struct gtel_str words[] = {GTEL_STR_INIT("ok"), GTEL_STR_INIT("warning"),
                                            GTEL_STR_INIT("critical")};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(words); i++) {
        if (!gtel_str_eq(text, words[i]))
            continue;
        *ret = i;
        return 0;
    }
    return -EINVAL;
}

/* The verdict may be asked of the hardware, so it is read of a GPU that is awake only. */
static int read_verdict(const struct drm_health *health, struct health_card *own, uint64_t *ret)
{
    char buf[32];
    struct gtel_str text;
    if ((own->has_asked && !gtel_fs_is_open(&own->verdict)) ||
        strcmp(own->card->drm.driver, "xe") != 0 || !gtel_card_may_read(own->card))
        return -ENOENT;
    if (!own->has_asked) {
        int r = gtel_fs_open(health->source.env, &own->verdict,
                             GTEL_FS_AT("%s/gpu_health", own->card->path));
        own->has_asked = r == 0 || r == -ENOENT;
        if (r < 0)
            return r;
    }
    int r = gtel_fs_read(health->source.env, &own->verdict, buf, sizeof(buf), &text);
    return r < 0 ? r : parse_verdict(text, ret);
}

static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    const struct drm_health *health = state;
    struct health_card *own = p;
    uint64_t verdict = 0;
    int r = read_aer(health, own, batch);
    int asked = own->is_repairing ? -ENOENT : read_verdict(health, own, &verdict);
    if (own->is_repairing || asked == 0)
        put(batch, own->card->device, GTEL_M_GPU_HEALTH, ORIGIN_HEALTH,
            own->is_repairing ? HEALTH_CRITICAL : verdict);
    if (own->functions_plus_1 > 0)
        put(batch, own->card->device, GTEL_M_GPU_VIRTUAL_FUNCTIONS, ORIGIN_SRIOV,
            own->functions_plus_1 - 1);
    return r < 0 || !gtel_error_is_broken(asked) ? r : asked;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct drm_health *health = state;
    int r = gtel_card_source_sample(state, registry, batch);
    for (size_t i = 0; i < health->n; i++)
        put(batch, health->repair[i], GTEL_M_GPU_HEALTH, ORIGIN_HEALTH, HEALTH_CRITICAL);
    return r;
}

/*
 * The kernel makes the files exactly for devices with the capability, so nothing brings them.
 * Integrated GPUs sit at the root and have none.
 */
static void diagnose_aer(const struct drm_health *health, const struct health_card *own,
                         struct gtel_findings *findings)
{
    static const char *const absent[3] = {
        "aer_dev_correctable",
        "the device has no AER, or the kernel is built without CONFIG_PCIEAER", NULL};
    static const char *const disabled[3] = {
        "aer_dev_correctable", "the kernel counts no PCIe errors: it was started with pci=noaer",
        "take pci=noaer off the kernel's command line"};
    static const char *const hidden[3] = {
        "aer_dev_correctable",
        "the kernel counts no PCIe errors: the firmware keeps them to itself, or the ports above "
        "have no AER",
        NULL};
    bool is_open = false;
    bool is_integrated = own->card->drm.is_pci && own->card->drm.pci.bus == 0;
    for (size_t i = 0; i < AER_FILES; i += GTEL_AER_FILES)
        is_open = is_open || gtel_fs_is_open(&own->aer[i]);
    if (is_integrated || is_function(health->source.env, own) ||
        (is_open && health->aer <= AER_SERVED))
        return;
    gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_ERROR, is_open ? 0 : -ENOENT,
                     !is_open                      ? absent
                     : health->aer == AER_DISABLED ? disabled
                                                   : hidden);
}

static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    static const char *const no_verdict[3] = {"gpu_health", "the xe driver has it since Linux 7.3",
                                              NULL};
    static const char *const none[3] = {"gpu_health", "xe gives no verdict of this GPU", NULL};
    const struct drm_health *health = state;
    const struct health_card *own = p;
    bool is_xe = strcmp(own->card->drm.driver, "xe") == 0;
    diagnose_aer(health, own, findings);
    if (is_xe && own->has_asked && !gtel_fs_is_open(&own->verdict))
        gtel_finding_put_lack(findings, own->card->device, GTEL_MEASUREMENT_GPU, GTEL_M_GPU_HEALTH,
                              -ENOENT,
                              gtel_kernel_is_older(health->source.env, 7, 3) ? no_verdict : none);
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    static const char *const repair[3] = {
        "survivability_mode", "the card's firmware could not start: there is no DRM card",
        "write the firmware again, for example with fwupd"};
    const struct drm_health *health = state;
    gtel_card_source_diagnose(state, registry, findings);
    for (size_t i = 0; i < health->n; i++)
        gtel_finding_put(findings, health->repair[i], GTEL_MEASUREMENT_GPU, 0, repair);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct health_card),
    .failure = "drm_health: %s: PCIe errors and health",
    .close = close_files,
    .discover = discover_card,
    .sample = sample_card,
    .diagnose = diagnose_card,
};

/* In the order of ORIGIN_AER … */
static const char *const origins[] = {"AER", "gpu_health", "SR-IOV", NULL};

const struct gtel_source gtel_source_drm_health = {
    .name = "drm_health",
    .lane = "kernel",
    .vendor = "intel",
    .summary =
        "PCIe errors (AER) of GPU and slot, the xe driver's verdict, cards in survivability mode "
        "and virtual functions",
    .needs = "Linux 4.19 or newer for AER, 6.16 for survivability mode, 7.3 for the verdict; no "
             "rights",
    .origins = origins,
    .state_size = sizeof(struct drm_health),
    .is_indirect = true,
    .present = present,
    .drivers = drivers,
    .work = &work,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
};

const struct gtel_source gtel_source_amdgpu_health = {
    .name = "amdgpu_health",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "PCIe errors (AER) of GPU and slot, and virtual functions of AMD GPUs",
    .needs = "Linux 4.19 or newer; no rights",
    .origins = origins,
    .state_size = sizeof(struct drm_health),
    .is_indirect = true,
    .drivers = amd_drivers,
    .work = &work,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
};
