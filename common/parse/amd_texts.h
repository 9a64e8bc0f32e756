/* SPDX-License-Identifier: MIT */
/*
 * Texts of amdgpu: a clock's levels (pp_dpm_sclk and its kin), hardware errors of one block of the
 * chip, and memory pages that are not used any more. Pure: no allocation, no input or output.
 *
 * A level is a line "1: 1257Mhz" with a star behind the current one. Positions mean nothing: tables
 * have been seen with no star and with a star on each line, with a first line "S:" for a clock that
 * is stopped, with a line in the middle that is the clock of the moment, and empty. So only the
 * range is read (kernel: amd/pm/amdgpu_pm.c; captures of ilya-zlobintsev/LACT).
 *
 * Errors: kernel, drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c, "AMDGPU RAS sysfs Error Count Interface"
 * and "AMDGPU RAS sysfs gpu_vram_bad_pages Interface".
 */
#ifndef GTEL_PARSE_AMD_TEXTS_H
#define GTEL_PARSE_AMD_TEXTS_H

#include "base/str.h"

struct gtel_dpm {
    uint64_t min_mhz; /* 1 to 20000 */
    uint64_t max_mhz;
};

/*
 * The lowest and the highest level; a clock of the moment is none. Lines of another form, without a
 * number for a name or with a clock that no GPU has are skipped; a NUL ends the text. 0, or
 * -ENODATA when no level is left.
 */
int gtel_dpm_parse(struct gtel_str text, struct gtel_dpm *ret);

enum { GTEL_AMD_RAS_COUNTS = 3 };

/* Counts; those whose bit (1 << i) is not set in known are not there. */
struct gtel_amd_ras {
    uint64_t count[GTEL_AMD_RAS_COUNTS];
    unsigned known;
};

/*
 * Errors of one block since the driver was loaded: lines "ue: 0", "ce: 12" and, with newer
 * kernels and not of all blocks, "de: 0"; uncorrected, corrected and deferred in that order in
 * *ret. Other lines are skipped. 0; -ENODATA when no line is such a count, as in the sentence that
 * stands there while the driver cannot ask; -EBADMSG for a count that is no number or is there
 * twice.
 */
int gtel_amd_ras_parse(struct gtel_str text, struct gtel_amd_ras *ret);
/*
 * Bad pages of the memory: lines "0x00005b0f : 0x00001000 : R". *ret has the number of those that
 * are retired (R), that wait for it (P: in use until then) and that could not be retired (F); all
 * three are known. 0, also for an empty text: there are none; -EBADMSG for a line of another form.
 */
int gtel_amd_pages_parse(struct gtel_str text, struct gtel_amd_ras *ret);

#endif
