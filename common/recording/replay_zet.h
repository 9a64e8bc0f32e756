/* SPDX-License-Identifier: MIT */
/*
 * Level Zero's metrics as played back from a recorded machine; a part of replay_zes.h, with the
 * same keys: the call, the number of the device, that of its metric group, that of the metric.
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
 *                                                 opened, the last pair for all further ones
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
 */
#ifndef GTEL_RECORDING_REPLAY_ZET_H
#define GTEL_RECORDING_REPLAY_ZET_H

/* The function of that name, or NULL. */
void *gtel_replay_zet_symbol(const char *name);
/* The library has been closed: nothing is open any more. */
void gtel_replay_zet_reset(void);

#endif
