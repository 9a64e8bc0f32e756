/* SPDX-License-Identifier: MIT */
/*
 * Makes the call of a row. All bits set is the vendor's way to say "no value" where a number has no
 * better one.
 */
#ifndef GTEL_SOURCES_NVIDIA_READ_H
#define GTEL_SOURCES_NVIDIA_READ_H

#include "sources/nvidia/gpu.h"

/* An NVML code; *ret only with SUCCESS. Not for rows that are fields. */
int gtel_nvml_read(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                   const struct gtel_nvml_row *row, struct gtel_nvml_answer *ret);
/*
 * Asks for the fields of n rows (numbers in gtel_nvml_rows) in one call. field has room for them.
 * An NVML code; with SUCCESS, each field has a code of its own.
 */
int gtel_nvml_read_fields(const struct gtel_nvml_calls *calls, struct gtel_nvml_device *device,
                          const size_t *row, struct gtel_nvml_field *field, size_t n);
/* The value of such a field. SUCCESS, its own code, or NO_DATA. */
int gtel_nvml_field_value(const struct gtel_nvml_field *field, struct gtel_nvml_answer *ret);

#endif
