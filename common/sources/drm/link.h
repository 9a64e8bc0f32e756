/* SPDX-License-Identifier: MIT */
/*
 * The PCIe link that a card is plugged in with.
 *
 * Its files read the configuration space of the device. Newer kernels resume a sleeping port, and a
 * card in D3cold, for that (kernel: drivers/pci/pci-sysfs.c, 6.1.157, 6.12.54), and start the
 * autosuspend delay of the card again: they are read while the card is awake, and not of one that
 * is about to fall asleep.
 */
#ifndef GTEL_SOURCES_DRM_LINK_H
#define GTEL_SOURCES_DRM_LINK_H

#include "sources/drm/attr_list.h"

enum { GTEL_AER_FILES = 3 };

/* PCIe errors of a device: 64 bits each, which the kernel counts (pci/pcie/aer.c): no wrap. */
struct gtel_aer_file {
    const char *name;
    struct gtel_str severity;
};
extern const struct gtel_aer_file gtel_aer_files[GTEL_AER_FILES];

/*
 * Whether the card carries a switch of its own, as discrete ones of Intel and newer ones of AMD do:
 * above the GPU come a port of that switch, the card's first port (../..) and the slot's.
 */
bool gtel_link_has_switch(const struct gtel_env *env, const struct gtel_card *card);
/* Adds them. Where errors are not counted the kernel shows 0, so 0 is no reading. */
void gtel_link_add_errors(struct gtel_attr_list *list);
/* Adds speed and width of the link; nothing where no port of the card reports a real one. */
void gtel_link_add(struct gtel_attr_list *list);

#endif
