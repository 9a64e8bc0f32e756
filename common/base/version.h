/* SPDX-License-Identifier: MIT */
/* The version of the program, which is also that of the frames between front end and helper. */
#ifndef GTEL_BASE_VERSION_H
#define GTEL_BASE_VERSION_H

extern const char gtel_version[]; /* "0.2.0" */

#endif
