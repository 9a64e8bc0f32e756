/* SPDX-License-Identifier: MIT */
/*
 * Level Zero Sysman as played back from a recorded machine.
 *
 * The machine says `library libze_loader.so.1` and answers with `call` lines. The key is the call,
 * then the number of the device, then that of the part as the enumeration lists them, then what
 * else goes in; the answer is what comes out, in the order of the structure (zes_abi.h), without
 * stype, pNext, names and other texts. A structure that is chained to it comes behind it.
 *
 *     call zesInit =                              0x78000001 as answer: !0x78000001
 *     call zesDriverGet = 1                       drivers; one without a line
 *     call zesDeviceGet 0 = 2                     of driver 0; devices of driver 1 begin with 16
 *     call zesDeviceGetProperties 0 = TYPE VENDOR SUBDEVICES UUID   (UUID: 32 hexadecimal digits)
 *     call zesDeviceGetSubDevicePropertiesExp 0 = TILE UUID …   (each tile)
 *     call zesDriverGetDeviceByUuidExp =          looks through the UUIDs of the lines above, as it
 *                                                 does without a line
 *     call zesDeviceGetState 0 = RESET REPAIRED   (reasons are set, none is cleared)
 *     call zesDeviceProcessesGetState 0 = PID MEMORY SHARED ENGINES …   (each process)
 *     call zesDeviceGetEccState 0 = CURRENT PENDING ACTION
 *     call zesDevicePciGetProperties 0 = DOMAIN BUS DEVICE FUNCTION GEN WIDTH BANDWIDTH 1 0 1
 *     call zesDeviceEnumPowerDomains 0 = 2        a second number: what the filling call finds
 *     call zesPowerGetProperties 0 1 = 0 0 DEFAULT MIN MAX DOMAIN
 *     call zesFrequencyGetProperties 0 0 = TYPE 0 0 MIN MAX
 *     call zesPowerGetEnergyCounter 0 1 = MICROJOULES MICROSECONDS
 *     call zesPowerGetLimits 0 1 = ENABLED POWER INTERVAL ENABLED POWER AC DC
 *     call zesPowerGetLimitsExt 0 1 = LEVEL SOURCE UNIT ENABLED INTERVAL LIMIT …  (each limit)
 *     call zesTemperatureGetConfig 0 2 = CRITICAL  UP DOWN CELSIUS  UP DOWN CELSIUS   (thresholds)
 *     call zesTemperatureGetState 0 2 = 61.5
 *     call zesMemoryGetProperties 0 0 = TYPE 0 0 LOCATION BYTES COUNTERBITS
 *     call zesRasGetState 0 0 = 0 1 2 3 4 5 6     more than seven are written behind the structure
 *     call zesRasGetStateExp 0 0 = CATEGORY COUNT …
 *     call zesFanGetState 0 0 0 = 1450            (units)
 *     call zesPsuGetState 0 0 = VOLTAGE FANFAILED CELSIUS MILLIAMPERES
 *
 * `!N` as answer is result code N; `untouched` is success with nothing written; with fewer words
 * the rest is not written; `nan` is no number. Behind `unchained` a structure is refused to which
 * another one is chained. A list of structures may begin with `counts N`: that
 * many says the call that counts, whatever there is. Of processes a list that is too short gets
 * what fits, the number of all and INVALID_SIZE; others get what fits. Properties are written with
 * their heads where drivers do so. A call on a device without a line is UNSUPPORTED_FEATURE; before
 * a successful start all are UNINITIALIZED, and a start that failed stays so.
 * `call NAME = !nosymbol` takes the call out of the library.
 *
 * The calls have no context argument, so what is being played is process-wide, as with NVML: one
 * tree at a time, as often as wanted; who comes with another one gets -EBUSY. Metrics are played
 * beside it (replay_zet.h).
 */
#ifndef GTEL_RECORDING_REPLAY_ZES_H
#define GTEL_RECORDING_REPLAY_ZES_H

#include "recording/tree.h"

/* Starts to answer from the tree, which outlives the replay. 0, or -EBUSY when another one is. */
int gtel_replay_zes_open(const struct gtel_tree *tree);
/* The function of that name, or NULL. */
void *gtel_replay_zes_symbol(const char *name);
/*
 * What the machine answers to a call on a handle of a device or a part, for a library that plays
 * more calls than these. A result code; *ret, which the machine owns, with success only.
 */
uint32_t gtel_replay_zes_ask(const char *name, const void *handle, struct gtel_str *ret);
/* The last user's ends the replay; functions answer UNINITIALIZED from then on. */
void gtel_replay_zes_close(void);

/*
 * For the replay of metrics: the answer to a key, or its result code, or `missing` without a line;
 * UNINITIALIZED before zeInit.
 */
uint32_t gtel_replay_zes_ask_core(const char *key, uint32_t missing, struct gtel_str *ret);
bool gtel_replay_zes_is_driver(const void *handle);
/* The handle of a device, or NULL; the number of a handle, false when it is no device's. */
void *gtel_replay_zes_device(size_t nth);
bool gtel_replay_zes_device_number(const void *handle, size_t *ret);

#endif
