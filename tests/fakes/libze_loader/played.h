/* SPDX-License-Identifier: MIT */
/*
 * Level Zero as played from a recorded machine, in a shared object with its loader's name.
 *
 * The machine says `library libze_loader.so.1` and answers with `call` lines. The key is the call,
 * then the number of the device, then that of the part as the enumeration lists them, then what
 * else goes in; the answer is what comes out, in the order of the structure (zes_abi.h), without
 * stype, pNext, names and other texts. A structure that is chained to it comes behind it.
 *
 *     call zesInit =                              0x78000001 as answer: !0x78000001
 *     call zesDriverGet = 1                       drivers; one without a line
 *     call zesDeviceGet 0 = 2                     of driver 0; devices of driver 1 begin with 16
 *     call zesDeviceGetProperties 0 = TYPE VENDOR SUBDEVICES UUID ID   (UUID: 32 digits, hex)
 *     call zesDeviceGetSubDevicePropertiesExp 0 = TILE UUID …   (each tile)
 *     call zesDriverGetDeviceByUuidExp =          scans the UUIDs of the lines above, as it
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
 * What else a call can do: fakes/player.h.
 *
 * Metrics, with the same keys: the call, the number of the device, that of its metric group, that
 * of the metric.
 *
 *     call zeDriverGet = 1                        as zesDriverGet
 *     call zeDeviceGet 0 = 2                      as zesDeviceGet; the same devices
 *     call zeDeviceGetSubDevices 0 = 2 4          tiles: how many, and the first one's device
 *     call zeDeviceGetProperties 0 = TYPE VENDOR [TILE]     without a line: what zes… says
 *     call zeDevicePciGetPropertiesExt 0 = DOMAIN BUS DEVICE FUNCTION             (the same)
 *     call zetDeviceEnableMetricsExp 0 =          without a line: no metrics on this device
 *     call zetMetricGroupGet 0 = 2                a second number: what the filling call finds
 *     call zetMetricGroupGetProperties 0 1 = NAME SAMPLING DOMAIN METRICS
 *     call zetMetricGet 0 1 = 3
 *     call zetMetricGetProperties 0 1 2 = NAME KIND TYPE     (zet_metric_type_t, zet_value_type_t)
 *     call zetMetricStreamerOpen 0 1 = EVERY PERIOD          what the driver makes of it
 *     call zetMetricStreamerReadData 0 1 = BYTES CODE …      of each read since the stream was
 *                                                 opened, the last pair for all further ones;
 *                                                 2^64-1 bytes: it claims them and writes none
 *     call zetMetricStreamerReadData room 0 1 = BYTES        without a line: enough
 *     call zetMetricStreamerClose 0 1 =           without a line: success
 *     call zetMetricGroupCalculateMetricValues 0 1 = VALUE …   report by report, metric by metric;
 *                                                 or: untouched N
 *     call zetMetricGroupCalculateMultipleMetricValuesExp 0 1 = SETS VALUE …   as many in each set
 *
 * With "code N" before all that of the last two the filling call answers code N, and the values.
 * Where the call that enables metrics is taken out of the library, they are there without it. A
 * stream wants an active group, and bytes are calculated from as many as were read. What a driver
 * would refuse is refused: a group that is not active (NOT_READY), a second stream of a device, a
 * group put away while its stream is open (IN_USE), handles that are no more (NULL_HANDLE). A
 * stream that fails to close stays open, but one of stalls (domain 100), which is no more in any
 * case.
 *
 * Calls that set something succeed and change nothing that is read:
 *
 *     call zesDeviceEccConfigurable 0 = 1
 *     call zesDeviceSetEccState 0 = CURRENT PENDING ACTION
 *     call zesFrequencyGetAvailableClocks 0 0 = 300 350 …
 *     call zesFrequencySetRange 0 0 =
 *     call zesPowerSetLimitsExt 0 0 =
 *     call zesPowerGetUsage 0 0 = INSTANT AVERAGE   after 100 ms, as with the real driver
 */
#ifndef GTEL_TESTS_FAKES_PLAYED_H
#define GTEL_TESTS_FAKES_PLAYED_H

#include "base/str.h"

/*
 * What the machine answers to a call on a handle of a device or a part. A result code; *ret, which
 * the machine owns, with success only.
 */
uint32_t gtel_played_ask(const char *name, const void *handle, struct gtel_str *ret);
/*
 * The answer to a key, or its result code, or `missing` without a line; UNINITIALIZED before
 * zeInit.
 */
uint32_t gtel_played_ask_core(const char *key, uint32_t missing, struct gtel_str *ret);
bool gtel_played_is_driver(const void *handle);
/* The handle of a device, or NULL; the number of a handle, false when it is no device's. */
void *gtel_played_device(size_t nth);
bool gtel_played_device_number(const void *handle, size_t *ret);
/* Nothing is enabled, active or open any more. */
void gtel_played_metrics_reset(void);

#endif
