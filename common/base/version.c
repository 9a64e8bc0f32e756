/* SPDX-License-Identifier: MIT */
/* The version of the program. */
#include "base/version.h"

const char gtel_version[] = GTEL_VERSION;
