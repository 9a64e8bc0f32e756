/* SPDX-License-Identifier: MIT */
/*
 * What every PCI GPU of a machine has in files, whatever the sources know of it: for a recorded
 * machine, which must have the GPU also where its values come from a vendor's library.
 *
 * Nothing here wakes a GPU: its registers are only read while it is awake.
 */
#ifndef GTEL_EXECD_SURVEY_H
#define GTEL_EXECD_SURVEY_H

#include "base/buf.h"
#include "gtel.h"

/*
 * Reads the GPUs' files through env, which records them, and appends a line for each that no source
 * of the context reads, and why: "GPU 0000:01:00.0 (10de:2702, driver nvidia): …".
 */
void gtel_survey(const struct gtel_env *env, struct gtel_context *context, struct gtel_buf *out);

#endif
