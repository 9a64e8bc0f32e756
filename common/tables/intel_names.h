/* SPDX-License-Identifier: MIT */
/* Names of Intel GPUs by PCI device id; never needed to find a GPU. */
#ifndef GTEL_TABLES_INTEL_NAMES_H
#define GTEL_TABLES_INTEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* "Intel Arc B580", a market name; NULL when the id is not in the table. */
const char *gtel_intel_name(uint16_t device_id);
/* "Intel Battlemage", what the hardware is called in the driver; NULL when that is not known. */
const char *gtel_intel_code_name(uint16_t device_id);

#endif
