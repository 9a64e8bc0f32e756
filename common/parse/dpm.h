/* SPDX-License-Identifier: MIT */
/*
 * A clock's levels as amdgpu lists them (pp_dpm_sclk and its kin). Pure: no allocation, no input or
 * output.
 *
 * A level is a line "1: 1257Mhz" with a star behind the current one. Positions mean nothing: tables
 * have been seen with no star and with a star on each line, with a first line "S:" for a clock that
 * is stopped, with a line in the middle that is the clock of the moment, and empty. So only the
 * range is read (kernel: amd/pm/amdgpu_pm.c; captures of ilya-zlobintsev/LACT).
 */
#ifndef GTEL_PARSE_DPM_H
#define GTEL_PARSE_DPM_H

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

#endif
