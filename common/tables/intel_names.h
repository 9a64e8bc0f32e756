/* SPDX-License-Identifier: MIT */
/* What is known of Intel GPUs by PCI device id; never needed to find a GPU. */
#ifndef GTEL_TABLES_INTEL_NAMES_H
#define GTEL_TABLES_INTEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of hardware of which drivers give different values. */
enum gtel_intel_family {
    GTEL_INTEL_OTHER, /* among them all integrated ones, and what is newer than this table */
    GTEL_INTEL_DG1,
    GTEL_INTEL_DG2,
    GTEL_INTEL_FLEX, /* the same chip without a fan of its own (ATS-M) */
    GTEL_INTEL_PONTE_VECCHIO,
    GTEL_INTEL_BATTLEMAGE,
    GTEL_INTEL_CRESCENT_ISLAND
};

/* "Intel Arc B580", a market name; NULL when the id is not in the table. */
const char *gtel_intel_name(uint16_t device_id);
/* "Intel Battlemage", what the hardware is called in the driver; NULL when that is not known. */
const char *gtel_intel_code_name(uint16_t device_id);
enum gtel_intel_family gtel_intel_family(uint16_t device_id);

#endif
