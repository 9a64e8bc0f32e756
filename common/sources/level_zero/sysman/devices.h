/* SPDX-License-Identifier: MIT */
/* Level Zero's start for Sysman, its devices, and the UUIDs by which other programs know them. */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_DEVICES_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_DEVICES_H

#include "sources/level_zero/sysman/ask.h"

/*
 * Opens and starts Level Zero unless that was done or a GPU sleeps, and finds the devices behind
 * cards that have none yet.
 */
void gtel_sysman_find_devices(struct gtel_sysman *sysman, struct gtel_registry *registry);

#endif
