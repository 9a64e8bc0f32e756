/* SPDX-License-Identifier: MIT */
/* Names of Intel GPUs by PCI device id; a few that are met often, never needed to find a GPU. */
#ifndef GTEL_SOURCES_INTEL_NAMES_H
#define GTEL_SOURCES_INTEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* "Intel Arc B580", or NULL when the id is not in the table. */
const char *gtel_intel_name(uint16_t device_id);

#endif
