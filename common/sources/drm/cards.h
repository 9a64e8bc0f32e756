/* SPDX-License-Identifier: MIT */
/*
 * The DRM cards of the machine, GPUs and NPUs, found once for all sources of a lane.
 *
 * A lane has one struct gtel_cards (registry->cards): which card is which, whether it sleeps, and
 * what its sources have to know of each other. A source has a struct gtel_card_list: the cards of
 * its drivers, each with a piece of the source's own state, in step with the machine since the last
 * gtel_card_list_discover.
 *
 * They are listed once per gather at most, and only where a source looks for devices, after
 * a listing that was not complete, or while a card is missing that was there. When anything has
 * changed, version grows, and the lane calls the discover() of all its sources. A card keeps its
 * address while the lane lives, also when the hardware is removed.
 */
#ifndef GTEL_SOURCES_DRM_CARDS_H
#define GTEL_SOURCES_DRM_CARDS_H

#include "host/drm.h"
#include "pipeline/reading.h"
#include "sources/drm/awake.h"
#include "sources/drm/rest.h"
#include "tables/options.h"

/*
 * What source xe has just read of an xe card's GTs, a bit each, for the sources that measure them
 * while they work; and the time in which those kept GTs awake, which says nothing about idleness.
 */
struct gtel_card_gts {
    uint32_t idle;        /* slept all of the time since the reading before, to a millisecond */
    uint32_t busy;        /* did not */
    uint32_t nearly_idle; /* of these: slept almost all of it */
    uint32_t held;        /* kept awake since that reading, for held_ns */
    uint64_t held_ns;
};

struct gtel_card {
    struct gtel_cards *cards; /* of the lane */
    struct gtel_drm_card drm;
    struct gtel_device *device; /* NULL: of no driver that a source of the lane knows */
    struct gtel_awake awake;    /* open while the card is present */
    struct gtel_rest rest;      /* its pauses, where a source reads autosuspend */
    uint64_t suspended_ns;      /* for how long it was, when that was read last; 0: not known */
    char path[64];              /* of the device: "sys/class/drm/card0/device" */
    char
        core_path[128]; /* of the GPU behind it (gtel_card_core): mostly the same; empty: unknown */
    struct gtel_card_gts gts;
    const struct gtel_amd_metrics *gpu_metrics; /* of amdgpu, in this gather; NULL: none */
    uint64_t node;       /* of Level Zero: which of the kernel's cards; 0: not known */
    bool is_gone;        /* the same: removed since */
    uint32_t generation; /* grows when what sources hold open of it has become useless */
    bool is_present;
    uint32_t listing;   /* the last one that found it */
    bool is_registered; /* since the last listing */
};

/* What sources read as names: sensors, domains, reasons, GT numbers. Zeroed: empty. */
struct gtel_card_texts {
    struct gtel_arena arena;
    struct gtel_str *text;
    size_t n;
    size_t size;
};

/* Zeroed but for env and may_wake: nothing is known. */
struct gtel_cards {
    const struct gtel_env *env;
    bool may_wake;       /* the option Wake is "always" */
    uint16_t pnp_vendor; /* whose GPUs under Windows belong to them, too; 0: nobody's */
    struct gtel_card **card;
    size_t n;
    uint32_t version;        /* grows when all sources have to look for devices */
    uint32_t listings;       /* so far */
    uint32_t retries;        /* listings in a row that were not complete */
    bool is_listed;          /* in this gather */
    struct gtel_arena arena; /* for the time of a listing */
    struct gtel_card_texts texts;
};

void gtel_cards_init(struct gtel_cards *cards, const struct gtel_env *env,
                     const struct gtel_options *options);
void gtel_cards_done(struct gtel_cards *cards);
/* A gather begins: lists the cards where none may wait for the next discovery of a source. */
void gtel_cards_begin(struct gtel_cards *cards, struct gtel_registry *registry);
/* A device has come, left or changed: all sources of the lane have to look for devices. */
void gtel_cards_changed(struct gtel_cards *cards);

/*
 * Whether a card may be touched now: it is present and awake, and does not pause so that it can
 * fall asleep.
 */
bool gtel_card_may_read(const struct gtel_card *card);
/*
 * Whether the driver has left the card: then its folder is removed, while that of the device stays
 * and its runtime_status answers on (seen in tests/guest, Linux 6.1).
 */
bool gtel_card_is_removed(const struct gtel_card *card);

enum gtel_card_power { GTEL_CARD_AWAKE, GTEL_CARD_ASLEEP, GTEL_CARD_PAUSES };

/*
 * For the source that stands for the card's driver, at the beginning of its sample: sets
 * batch->t_ns, reports whether the card is awake and for how long it was suspended, and decides
 * whether the sources of the lane may read it (GTEL_CARD_AWAKE). 0; -EBADF: its state is not
 * known; -ENODEV: the driver has left it, as far as that shows; or the error of a read.
 */
int gtel_card_begin(struct gtel_card *card, struct gtel_batch *batch, enum gtel_card_power *ret);
/* The card is used: its pause ends, and it may be read. */
void gtel_card_end_pause(struct gtel_card *card, struct gtel_batch *batch);
/* The same without a report, outside of a sample: 1 when it may be read, 0, or a negative errno. */
int gtel_card_check_power(struct gtel_card *card);
/*
 * Reads for how long the card, which is awake, has to be left alone until it falls asleep, and so
 * has its pauses. is_watched: something that may be read meanwhile shows whether it is used.
 */
void gtel_card_read_autosuspend(struct gtel_card *card, bool is_watched);
/*
 * A file of the card answered -ENODEV. Where its device was removed, another one may have its name
 * now: closes what was kept of the power state, for the next discovery to open.
 */
void gtel_card_check_return(struct gtel_card *card);
/*
 * The card has left, or its driver has been loaded again: its counters begin again, and all sources
 * open the card again at their next discovery that finds it.
 */
void gtel_card_leave(struct gtel_card *card, struct gtel_registry *registry);

enum { GTEL_FUNCTIONS_MAX = 256 }; /* virtual functions of one device that are checked */

/* A card, and what a source keeps for it. */
struct gtel_card_slot {
    void *own; /* begins with a struct gtel_card *; all else is zeroed when the card is opened */
    uint32_t generation; /* of the card, when own was opened */
    bool is_new;         /* zeroed by the last discovery */
    bool is_lost;        /* answered -ENODEV: card_source.h */
    int error;           /* the last one that was logged: the same */
};

/* Whether a source reads a card; wakes nothing. */
typedef bool (*gtel_card_fn)(const struct gtel_env *env, const struct gtel_drm_card *drm);

struct gtel_card_list {
    const struct gtel_env *env;
    const char *const *drivers; /* NULL at the end */
    gtel_card_fn is_wanted;     /* instead of drivers */
    uint16_t pnp_vendor;        /* of the GPUs of driver "wddm"; 0: none are wanted */
    size_t own_size;
    /* Closes what own holds of the outside world; NULL: nothing. */
    void (*close)(const struct gtel_env *env, void *own);
    struct gtel_card_slot *slot;
    size_t n;
};

/*
 * Brings the list in step with the machine and registers the devices. Removed cards leave the list;
 * what is kept of a card that was opened again is closed and zeroed. 0, -ENOMEM, or the first
 * error: what is known stays.
 */
int gtel_card_list_discover(struct gtel_card_list *list, struct gtel_registry *registry);
/* Closes and zeroes what the source keeps for that card, which answered -ENODEV. */
void gtel_card_list_reopen(const struct gtel_card_list *list, void *own);
/* A card that may not be touched now, or NULL: what begins with all GPUs together waits for it. */
const struct gtel_card *gtel_card_list_awaited(const struct gtel_card_list *list);
void gtel_card_list_done(struct gtel_card_list *list);

static inline struct gtel_card *gtel_card_at(const struct gtel_card_list *list, size_t i)
{
    return *(struct gtel_card **)list->slot[i].own;
}

/*
 * Sets the labels gpu and instance where they are empty: the card's own address; of a virtual
 * function, the address of the physical one and "vf1" … A failed check sets nothing, and the next
 * discovery checks again.
 */
void gtel_cards_identify(const struct gtel_env *env, struct gtel_registry *registry,
                         struct gtel_device *device, const struct gtel_drm_card *drm);
/*
 * Sets the labels vendor, model and pci_id where they are empty or of another GPU that had the
 * address before: the same for all sources. The model is the best name that is known: on the
 * market, of the platform, the ids; without PCI, that of the device tree.
 */
void gtel_cards_label(const struct gtel_env *env, struct gtel_registry *registry,
                      struct gtel_device *device, const struct gtel_drm_card *drm);
/*
 * The same under Windows, with the name that Device Manager shows; all that have a part in the GPU
 * label it so. A model is for ever: it is made up of the ids only when is_last_try. False: not yet.
 */
bool gtel_cards_label_pnp(const struct gtel_pnp *pnp, struct gtel_registry *registry,
                          struct gtel_device *device, const struct gtel_pnp_gpu *gpu,
                          bool is_last_try);
/*
 * Whether the kernel's energy counters of a card are useless: up to Linux 6.16 xe reads those of
 * Battlemage, of the card and of the package, from registers that hold nonsense on some boards
 * (kernel: xe/xe_hwmon.c, REG_PKG_ENERGY_STATUS; telemetry since "Read energy status from PMT"). A
 * B570 on 6.16.4 showed 300 to 4,000 W, and 710 and 977 MJ of card and package (Syllo/nvtop #409),
 * a B580 millions of watts (MangoHud #1793). No bound separates such steps from true ones: so there
 * is no value, also on a kernel that is not known.
 */
bool gtel_cards_has_bad_energy(const struct gtel_env *env, const struct gtel_drm_card *drm);
/*
 * Which device has a GPU's power state and clock. Mostly it is the one behind the DRM card. Some
 * drivers make the card of a display controller or of a device without hardware, and the GPU is a
 * device of another driver: the state of the card means nothing for it (kernel:
 * msm/adreno/adreno_device.c, vc4/vc4_v3d.c, etnaviv/etnaviv_gpu.c). Writes its path into path:
 * GTEL_FS_PATH_MAX bytes. 0; -ENOENT where there is none, or several of which none stands for the
 * GPU; or the error of the listing.
 */
int gtel_card_core(const struct gtel_env *env, const struct gtel_drm_card *drm, char *path);
/* False for virtual and display devices, which have no GPU behind their render node. */
bool gtel_card_has_gpu(const struct gtel_drm_card *drm);
/* Whether the machine has a card of one of the drivers; wakes nothing. */
bool gtel_cards_any(const struct gtel_env *env, const char *const *drivers);
bool gtel_cards_any_wanted(const struct gtel_env *env, gtel_card_fn is_wanted);

#endif
