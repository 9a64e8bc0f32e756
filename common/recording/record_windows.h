/* SPDX-License-Identifier: MIT */
/*
 * What Windows answers about its GPUs, as lines of a recorded machine.
 *
 * Its calls say nothing of the env that they were found in, so they are not listened to: after each
 * gather the same questions are asked again, of GPUs in D0 those of the driver model, too. What is
 * not on PCI is not asked about.
 */
#ifndef GTEL_RECORDING_RECORD_WINDOWS_H
#define GTEL_RECORDING_RECORD_WINDOWS_H

#include "host/pnp.h"
#include "recording/record.h"

/* The name by which recorded machines have the libraries of Windows itself. */
#define GTEL_RECORD_WINDOWS_LIBRARY "libwddm.so"

enum { GTEL_RECORD_WINDOWS_MAX = 16 }; /* devices; more are not recorded */

struct gtel_record_windows_calls {
#define GTEL_WDDM_SYM(name, result, params) result(*name) params;
#include "abi/wddm_syms.def"
#undef GTEL_WDDM_SYM
};

/* Zeroed: nothing is open. */
struct gtel_record_windows {
    struct gtel_pnp pnp;
    struct gtel_dynlib library;
    struct gtel_record_windows_calls call;
    uint16_t id[GTEL_RECORD_WINDOWS_MAX][GTEL_PNP_ID_MAX]; /* a device keeps its number */
    size_t n;
    struct gtel_record *record;
};

/* Asks all there is to be asked now; nothing where the host is no Windows. */
void gtel_record_windows(struct gtel_record_windows *windows, const struct gtel_env *env,
                         struct gtel_record *record);
void gtel_record_windows_close(struct gtel_record_windows *windows, const struct gtel_env *env);

#endif
