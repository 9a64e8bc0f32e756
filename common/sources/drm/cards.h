/* SPDX-License-Identifier: MIT */
/*
 * The DRM cards that a source is about, each with a piece of the source's private state.
 *
 * For sources that add to what the driver's own source (i915, xe) reports: the list is kept in step
 * with the machine at each discovery, and says which cards may be read now. Such a source comes
 * after the driver's in gtel_sources, and runs in the same lane.
 */
#ifndef GTEL_SOURCES_DRM_CARDS_H
#define GTEL_SOURCES_DRM_CARDS_H

#include "pipeline/device.h"
#include "sources/drm/awake.h"
#include "host/drm.h"

/* The beginning of a source's state for one card. */
struct gtel_card {
    struct gtel_drm_card drm;
    struct gtel_device *device;
    struct gtel_awake awake;
    char path[64]; /* of the device: "sys/class/drm/card0/device" */
    uint64_t
        node; /* which of the kernel's cards it is (sources/level_zero/renewal.h); 0: not known */
    bool is_gone;  /* the kernel has it no more (the same) */
    bool is_new;   /* since the last discovery: nothing of it is open yet; the source clears it */
    bool is_found; /* by the discovery that runs */
};

struct gtel_cards {
    const struct gtel_env *env;
    const char *const *drivers; /* NULL at the end */
    size_t state_size;          /* of a source's state for one card: struct gtel_card is its head */
    /* Frees what the source holds for a card that is gone or will be opened anew. */
    void (*close)(const struct gtel_env *env, struct gtel_card *card);
    bool may_wake; /* the Wake option */
    struct gtel_card **card;
    size_t n;
    struct gtel_arena arena; /* for the time of a discovery */
};

/*
 * Sets the labels gpu and instance where they are empty: the card's own address; of a virtual
 * function, the address of the physical one and "vf1" … A look that fails sets nothing, and the
 * next discovery looks again.
 */
void gtel_cards_identify(const struct gtel_env *env, struct gtel_registry *registry,
                         struct gtel_device *device, const struct gtel_drm_card *drm);
/*
 * Sets the labels vendor, model and pci_id where they are empty: the same for all sources, since
 * any of them may be the first to speak of a GPU. The model is the best name that is known: on the
 * market, of the platform, the ids; without PCI, what the device tree says it is.
 */
void gtel_cards_label(const struct gtel_env *env, struct gtel_registry *registry,
                      struct gtel_device *device, const struct gtel_drm_card *drm);
/*
 * Whether what the kernel says of a card's energy is no measure of it: up to Linux 6.16 xe reads
 * that of Battlemage, of the card and of the package, from registers that hold nonsense on some
 * boards (kernel: xe/xe_hwmon.c, REG_PKG_ENERGY_STATUS; telemetry since "Read energy status from
 * PMT"). A B570 on 6.16.4 showed 300 to 4,000 W, and 710 and 977 MJ of card and package
 * (Syllo/nvtop #409), a B580 millions of watts (MangoHud #1793). No bound separates such steps
 * from true ones: so there is no value, also on a kernel that is not known.
 */
bool gtel_cards_has_bad_energy(const struct gtel_env *env, const struct gtel_drm_card *drm);
/* Whether the machine has a card of one of the drivers; wakes nothing. */
bool gtel_cards_any(const struct gtel_env *env, const char *const *drivers);
/*
 * Finds cards and registers their devices. A card that is gone is closed and left out; one that is
 * back under another number is closed and new. 0, -ENOMEM, or the first error: what is known stays.
 */
int gtel_cards_discover(struct gtel_cards *cards, struct gtel_registry *registry);
/* Whether the card may be touched now: its GPU is awake and not left alone so that it can sleep. */
bool gtel_cards_may_read(const struct gtel_cards *cards, const struct gtel_card *card);
/* A card that may not be touched now, or NULL: what begins with all GPUs at once waits for it. */
const struct gtel_card *gtel_cards_awaited(const struct gtel_cards *cards);
/* The state is opened anew at the next discovery: the card answered -ENODEV. */
void gtel_cards_reopen(const struct gtel_cards *cards, struct gtel_card *card);
void gtel_cards_done(struct gtel_cards *cards);

#endif
