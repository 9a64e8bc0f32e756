/* SPDX-License-Identifier: MIT */
/*
 * What a result means: 0 is fine, some errors only say that something is not here, and any other
 * one says that it is broken.
 *
 * Results are 0 or a negative errno. What is not here is skipped quietly and is no failure of a
 * source (sources/source.h); what is broken is reported and tried again later.
 */
#ifndef GTEL_BASE_ERROR_H
#define GTEL_BASE_ERROR_H

#include <errno.h>
#include <stdbool.h>

/* Of Linux only; recorded machines have them everywhere. Windows has no errno of these values. */
#ifndef ESTALE
#define ESTALE 1116
#endif
#ifndef EHOSTDOWN
#define EHOSTDOWN 1112
#endif

/* The words for a negative errno, and the number behind it: those of Linux on each system. */
const char *gtel_error_text(int r);
int gtel_error_number(int r);

/* The machine, the kernel or the device does not have it. */
static inline bool gtel_error_is_absence(int r)
{
    return r == -ENOENT || r == -EOPNOTSUPP || r == -ENODATA;
}

/* The same of a path whose device may just be removed, or whose parent may be no directory. */
static inline bool gtel_error_is_no_path(int r)
{
    return gtel_error_is_absence(r) || r == -ENODEV || r == -ENOTDIR;
}

/* This user may not read it. */
static inline bool gtel_error_is_refusal(int r)
{
    return r == -EACCES || r == -EPERM;
}

/* A failure: neither fine nor absent. */
static inline bool gtel_error_is_broken(int r)
{
    return r < 0 && !gtel_error_is_absence(r);
}

#endif
