/* SPDX-License-Identifier: MIT */
/*
 * Source uevents: what the kernel says of GPUs: hangs, resets, wedged devices, and devices that
 * come and go.
 *
 * The kernel keeps no count of these, so only what is heard is counted, from zero at the start of
 * the program. Listening touches no GPU.
 */
#include "host/kernel.h"
#include "parse/uevent.h"
#include "sources/drm/card_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    TALLIES_MAX = 64,
    MESSAGES_MAX = 4096, /* read in one gather; more wait for the next one */
    MESSAGE_SIZE = 8192  /* UEVENT_BUFFER_SIZE is 2048, behind it the path (kernel: kobject.h) */
};

/* What has been heard of one device; it stays when the device goes. Our own, of 64 bits. */
struct tally {
    char key[GTEL_DRM_NAME_MAX];
    uint64_t resets;
    uint64_t hangs;
    uint64_t parity_errors;
    uint64_t wedged;
    uint64_t recovered;
};

struct uevents {
    struct gtel_card_source source;
    struct tally tally[TALLIES_MAX];
    size_t n;
    int handle_plus_1;
    int error;                      /* why nothing is heard, or 0 */
    bool has_lost;                  /* lost messages have been logged */
    enum gtel_known reports_wedged; /* whether the kernel says so when a device is wedged */
    /* Whether messages about devices come here: in some network namespaces none do. */
    enum gtel_known comes;
    bool has_changed; /* a device may have come, left or changed */
};

static const char *const drivers[] = {"i915", "xe", NULL};
static const char *const amd_drivers[] = {"amdgpu", NULL};

static void stop_listening(struct uevents *uevents)
{
    if (uevents->handle_plus_1 > 0)
        uevents->source.env->ops->uevent_close(uevents->source.env->arg,
                                               uevents->handle_plus_1 - 1);
    uevents->handle_plus_1 = 0;
}

static void close_uevents(void *state)
{
    struct uevents *uevents = state;
    stop_listening(uevents);
    gtel_card_source_close(state);
}

static void read_release(struct uevents *uevents)
{
    struct gtel_release release;
    if (uevents->reports_wedged == GTEL_NOT_KNOWN &&
        gtel_kernel_release(uevents->source.env, &release))
        uevents->reports_wedged = gtel_release_is_at_least(&release, 6, 16) ? GTEL_YES : GTEL_NO;
}

/* Without AMD GPUs nobody listens for them: a new one is heard of by uevents, or found by Rescan.
 */
static int open_amd(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    (void)state;
    (void)options;
    return gtel_cards_any(env, amd_drivers) ? 0 : -ENOENT;
}

static int discover(void *state, struct gtel_registry *registry)
{
    struct uevents *uevents = state;
    read_release(uevents);
    return gtel_card_source_discover(state, registry);
}

/*
 * The kernel sends what it says of devices to network namespaces that belong to the user namespace
 * that the machine began with (kernel: lib/kobject_uevent.c, uevent_net_init); in a rootless
 * container's own one, listening works and nothing comes. Only in the network namespace that the
 * machine began with, settings of net.core that count for the whole machine are shown (kernel:
 * net/core/sysctl_net_core.c).
 */
static bool is_apart(const struct gtel_env *env)
{
    return gtel_kernel_is_nested(env) && !gtel_fs_exists(env, "proc/sys/net/core/dev_weight");
}

/* Logs once why nothing is heard; it is tried again at each gather. */
static void listen(struct uevents *uevents)
{
    if (uevents->handle_plus_1 > 0)
        return;
    int before = uevents->error;
    int r = gtel_env_uevent_open(uevents->source.env);
    uevents->error = r < 0 ? r : 0;
    if (r >= 0) {
        uevents->handle_plus_1 = r + 1;
        if (uevents->comes != GTEL_YES)
            uevents->comes = is_apart(uevents->source.env) ? GTEL_NO : GTEL_YES;
    } else if (r != -EOPNOTSUPP && (before == 0 || before == -EOPNOTSUPP)) {
        gtel_log(&uevents->source.env->log, GTEL_LOG_WARNING,
                 "uevents: listening to the kernel's messages: %s; resets and hangs are not "
                 "counted (a service needs AF_NETLINK in RestrictAddressFamilies)",
                 strerror(-r));
    }
}

/* The tally of a device, made if needed; NULL when there are too many. */
static struct tally *find_tally(struct uevents *uevents, struct gtel_str key, bool makes)
{
    for (size_t i = 0; i < uevents->n; i++)
        if (gtel_str_eq(gtel_str_of(uevents->tally[i].key), key))
            return &uevents->tally[i];
    if (!makes || uevents->n == TALLIES_MAX || key.n >= GTEL_DRM_NAME_MAX)
        return NULL;
    struct tally *tally = &uevents->tally[uevents->n++];
    (void)gtel_str_copy(tally->key, sizeof(tally->key), key); /* it fits */
    return tally;
}

static bool has_value(const struct gtel_uevent *event, struct gtel_str key, struct gtel_str want)
{
    struct gtel_str value;
    return gtel_uevent_value(event, key, &value) == 0 && gtel_str_eq(value, want);
}

/*
 * i915 says ERROR=1 and RESET=1 before it resets a whole GT, and ERROR=0 when that went well. Most
 * hangs end with the reset of one engine, by i915 or GuC, which is silent: no message does not mean
 * no hang (kernel: i915/gt/intel_reset.c: intel_gt_reset_global). L3 parity
 * errors are those of Ivybridge and Haswell (i915_irq.c). WEDGED names what brings the device back,
 * `none` when nothing is needed (drm_drv.c: drm_dev_wedged_event, 6.16 and newer); amdgpu says that
 * after each reset of the GPU or of a ring (amdgpu_device.c, amdgpu_job.c).
 */
static void count(struct uevents *uevents, const struct gtel_uevent *event)
{
    struct gtel_str device;
    struct gtel_str wedged;
    if (gtel_uevent_card(event->devpath, &device) < 0)
        return;
    bool is_hang = has_value(event, GTEL_STR("ERROR"), GTEL_STR("1"));
    bool is_reset = has_value(event, GTEL_STR("RESET"), GTEL_STR("1"));
    bool is_parity = has_value(event, GTEL_STR("L3_PARITY_ERROR"), GTEL_STR("1"));
    bool is_wedged = gtel_uevent_value(event, GTEL_STR("WEDGED"), &wedged) == 0;
    if (!is_hang && !is_reset && !is_parity && !is_wedged)
        return;
    struct tally *tally = find_tally(uevents, device, true);
    if (!tally)
        return;
    tally->hangs += is_hang;
    tally->resets += is_reset;
    tally->parity_errors += is_parity;
    if (is_wedged && gtel_str_eq(wedged, GTEL_STR("none")))
        tally->recovered++;
    else
        tally->wedged += is_wedged;
}

/* A card comes and goes, or a driver takes or leaves a device: `bind` is sent when it is ready. */
static bool is_hotplug(const struct gtel_uevent *event)
{
    struct gtel_str device;
    if (gtel_str_eq(event->action, GTEL_STR("add")) ||
        gtel_str_eq(event->action, GTEL_STR("remove")))
        return gtel_uevent_card(event->devpath, &device) == 0;
    return (gtel_str_eq(event->action, GTEL_STR("bind")) ||
            gtel_str_eq(event->action, GTEL_STR("unbind"))) &&
           has_value(event, GTEL_STR("SUBSYSTEM"), GTEL_STR("pci"));
}

/* Network devices, and what is below them, are reported in the namespace that they are in. */
static bool is_of_network(struct gtel_str devpath)
{
    return gtel_str_has(devpath, GTEL_STR("/net/"));
}

static void take(struct uevents *uevents, struct gtel_str message)
{
    struct gtel_uevent event;
    if (gtel_uevent_parse(message, &event) < 0)
        return;
    if (!is_of_network(event.devpath)) /* of a device that the machine has */
        uevents->comes = GTEL_YES;
    struct gtel_str wedged;
    bool is_wedged = gtel_uevent_value(&event, GTEL_STR("WEDGED"), &wedged) == 0;
    /* A device that has just been given up may need repair: drm_health checks it. */
    uevents->has_changed = uevents->has_changed || is_wedged || is_hotplug(&event);
    if (gtel_str_eq(event.action, GTEL_STR("change")))
        count(uevents, &event);
}

/* What was lost may have been anything: the counts are lower bounds from here on. */
static void note_loss(struct uevents *uevents, struct gtel_batch *batch)
{
    uevents->has_changed = true;
    gtel_batch_failed(batch, NULL);
    if (uevents->has_lost)
        return;
    uevents->has_lost = true;
    gtel_log(&uevents->source.env->log, GTEL_LOG_WARNING,
             "uevents: the kernel's messages came faster than they were read, and some are lost: "
             "resets and hangs may be missing in the counts; raise net.core.rmem_max if this "
             "happens again");
}

/* Reads the messages that wait. 0 or the error of a socket that has to be opened again. */
static int hear(struct uevents *uevents, struct gtel_batch *batch)
{
    char buf[MESSAGE_SIZE];
    const struct gtel_env *env = uevents->source.env;
    for (int i = 0; i < MESSAGES_MAX && uevents->handle_plus_1 > 0; i++) {
        int64_t n = env->ops->uevent_read(env->arg, uevents->handle_plus_1 - 1, buf, sizeof(buf));
        if (n == -EAGAIN)
            return 0;
        if (n == -ENOBUFS || n == -E2BIG) {
            note_loss(uevents, batch);
        } else if (n < 0) {
            stop_listening(uevents);
            uevents->has_changed = true;
            return (int)n;
        } else {
            take(uevents, (struct gtel_str){buf, (size_t)n});
        }
    }
    return 0;
}

/* Zero is reported only of what this driver and this kernel would report here. */
static void report(struct uevents *uevents, const struct gtel_card *card, struct gtel_batch *batch)
{
    static const struct tally nothing;
    const struct tally *tally = find_tally(uevents, gtel_str_of(card->drm.key), false);
    bool is_reported = uevents->comes == GTEL_YES;
    bool is_i915 = is_reported && strcmp(card->drm.driver, "i915") == 0;
    if (!tally)
        tally = &nothing;
    bool is_amd = strcmp(card->drm.driver, "amdgpu") == 0;
    bool has_recovered =
        tally->recovered > 0 || (is_amd && is_reported && uevents->reports_wedged == GTEL_YES);
    uint64_t resets = is_amd ? tally->recovered : tally->resets;
    if (is_i915 || (is_amd && has_recovered) || resets > 0)
        gtel_batch_u64(batch, card->device, GTEL_M_GPU_RESETS, GTEL_STR_NONE, resets);
    if (tally->hangs > 0)
        gtel_batch_error(batch, card->device, GTEL_STR("hang"), GTEL_STR("nonfatal"), tally->hangs);
    if (tally->parity_errors > 0)
        gtel_batch_error(batch, card->device, GTEL_STR("l3-parity"), GTEL_STR("nonfatal"),
                         tally->parity_errors);
    if ((is_reported && uevents->reports_wedged == GTEL_YES) || tally->wedged > 0)
        gtel_batch_error(batch, card->device, GTEL_STR("wedged"), GTEL_STR("fatal"), tally->wedged);
    if (has_recovered)
        gtel_batch_error(batch, card->device, GTEL_STR("wedged"), GTEL_STR("corrected"),
                         tally->recovered);
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct uevents *uevents = state;
    listen(uevents);
    int r = hear(uevents, batch);
    if (uevents->has_changed) {
        gtel_cards_changed(registry->cards);
        (void)gtel_card_list_discover(&uevents->source.cards,
                                      registry); /* comes again at the next gather */
    }
    uevents->has_changed = false;
    for (size_t i = 0; i < uevents->source.cards.n && uevents->handle_plus_1 > 0; i++)
        if (gtel_card_at(&uevents->source.cards, i)->device->is_present)
            report(uevents, gtel_card_at(&uevents->source.cards, i), batch);
    return r;
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    static const char *const refused[3] = {
        "uevents (netlink)", "the kernel's messages about devices cannot be heard",
        "let it use AF_NETLINK (RestrictAddressFamilies of systemd, seccomp)"};
    static const char *const unheard[3] = {
        "uevents (netlink)", "this root is not the running machine, or is a recording without them",
        NULL};
    static const char *const silent[3] = {"uevent WEDGED",
                                          "kernels before 6.16 do not say that a device is wedged",
                                          "use Linux 6.16 or newer"};
    static const char *const apart[3] = {
        "uevents (netlink)", "in a container's own network the kernel may say nothing of devices",
        "give the container the host's network (--network=host)"};
    const struct uevents *uevents = state;
    bool is_listening = uevents->handle_plus_1 > 0;
    (void)registry;
    if (is_listening && uevents->comes == GTEL_NO)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_ERROR, 0, apart);
    if (!is_listening && uevents->source.cards.n > 0)
        gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_ERROR, uevents->error,
                         uevents->error == -EOPNOTSUPP ? unheard : refused);
    for (size_t i = 0; i < uevents->source.cards.n; i++)
        if (is_listening && uevents->reports_wedged == GTEL_NO)
            gtel_finding_put(findings, gtel_card_at(&uevents->source.cards, i)->device,
                             GTEL_MEASUREMENT_GPU_ERROR, 0, silent);
}

static const struct gtel_card_work work = {.own_size = sizeof(struct gtel_card *)};

static const char *const origins[] = {"uevents", NULL};

const struct gtel_source gtel_source_uevents = {
    .name = "uevents",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Resets, hangs and wedged GPUs since the program started, and GPUs that come and "
               "go, from the kernel's messages",
    .needs = "AF_NETLINK; Linux 6.16 or newer for wedged GPUs; no rights",
    .origins = origins,
    .state_size = sizeof(struct uevents),
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_uevents,
};

const struct gtel_source gtel_source_amdgpu_uevents = {
    .name = "amdgpu_uevents",
    .lane = "kernel",
    .vendor = "amd",
    .summary = "Resets and wedged GPUs since the program started, and AMD GPUs that come and go, "
               "from the kernel's messages",
    .needs = "AF_NETLINK; Linux 6.16 or newer for resets; no rights",
    .origins = origins,
    .state_size = sizeof(struct uevents),
    .is_indirect = true,
    .drivers = amd_drivers,
    .work = &work,
    .open = open_amd,
    .discover = discover,
    .sample = sample,
    .diagnose = diagnose,
    .close = close_uevents,
};
