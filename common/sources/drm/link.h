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

/* Adds speed and width of the link; nothing where no port of the card reports a real one. */
void gtel_link_add(struct gtel_attr_list *list);

#endif
