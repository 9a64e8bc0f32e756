/* SPDX-License-Identifier: MIT */
/*
 * Our Level Zero declarations against the vendor's headers; built only where those are installed.
 * What came with a later revision than 1.4 is guarded by a macro that came with it or later.
 */
#include "abi/zes_abi.h"

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include <stddef.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #theirs)
#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
/* The parameters are those from which the shape in our table was made. */
#define CALL(name, ...)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), ze_result_t(__VA_ARGS__)), #name)

SAME_SIZE(gtel_ze_device_properties, ze_device_properties_t);
SAME_PLACE(gtel_ze_device_properties, head.type, ze_device_properties_t, stype);
SAME_PLACE(gtel_ze_device_properties, head.next, ze_device_properties_t, pNext);
SAME_PLACE(gtel_ze_device_properties, device_type, ze_device_properties_t, type);
SAME_PLACE(gtel_ze_device_properties, vendor_id, ze_device_properties_t, vendorId);
SAME_PLACE(gtel_ze_device_properties, device_id, ze_device_properties_t, deviceId);
SAME_PLACE(gtel_ze_device_properties, flags, ze_device_properties_t, flags);
SAME_PLACE(gtel_ze_device_properties, subdevice_id, ze_device_properties_t, subdeviceId);
SAME_PLACE(gtel_ze_device_properties, core_clock, ze_device_properties_t, coreClockRate);
SAME_PLACE(gtel_ze_device_properties, max_allocation, ze_device_properties_t, maxMemAllocSize);
SAME_PLACE(gtel_ze_device_properties, max_contexts, ze_device_properties_t, maxHardwareContexts);
SAME_PLACE(gtel_ze_device_properties, max_priority, ze_device_properties_t,
           maxCommandQueuePriority);
SAME_PLACE(gtel_ze_device_properties, threads_per_eu, ze_device_properties_t, numThreadsPerEU);
SAME_PLACE(gtel_ze_device_properties, simd_width, ze_device_properties_t, physicalEUSimdWidth);
SAME_PLACE(gtel_ze_device_properties, eus_per_subslice, ze_device_properties_t, numEUsPerSubslice);
SAME_PLACE(gtel_ze_device_properties, subslices_per_slice, ze_device_properties_t,
           numSubslicesPerSlice);
SAME_PLACE(gtel_ze_device_properties, slices, ze_device_properties_t, numSlices);
SAME_PLACE(gtel_ze_device_properties, timer_resolution, ze_device_properties_t, timerResolution);
SAME_PLACE(gtel_ze_device_properties, timestamp_bits, ze_device_properties_t, timestampValidBits);
SAME_PLACE(gtel_ze_device_properties, kernel_timestamp_bits, ze_device_properties_t,
           kernelTimestampValidBits);
SAME_PLACE(gtel_ze_device_properties, uuid, ze_device_properties_t, uuid);
SAME_PLACE(gtel_ze_device_properties, name, ze_device_properties_t, name);
SAME_SIZE(gtel_zes_device_properties, zes_device_properties_t);
SAME_PLACE(gtel_zes_device_properties, head.type, zes_device_properties_t, stype);
SAME_PLACE(gtel_zes_device_properties, head.next, zes_device_properties_t, pNext);
SAME_PLACE(gtel_zes_device_properties, core, zes_device_properties_t, core);
SAME_PLACE(gtel_zes_device_properties, subdevices, zes_device_properties_t, numSubdevices);
SAME_PLACE(gtel_zes_device_properties, serial, zes_device_properties_t, serialNumber);
SAME_PLACE(gtel_zes_device_properties, board, zes_device_properties_t, boardNumber);
SAME_PLACE(gtel_zes_device_properties, brand, zes_device_properties_t, brandName);
SAME_PLACE(gtel_zes_device_properties, model, zes_device_properties_t, modelName);
SAME_PLACE(gtel_zes_device_properties, vendor, zes_device_properties_t, vendorName);
SAME_PLACE(gtel_zes_device_properties, driver_version, zes_device_properties_t, driverVersion);
SAME_SIZE(gtel_zes_pci_speed, zes_pci_speed_t);
SAME_PLACE(gtel_zes_pci_speed, gen, zes_pci_speed_t, gen);
SAME_PLACE(gtel_zes_pci_speed, width, zes_pci_speed_t, width);
SAME_PLACE(gtel_zes_pci_speed, max_bandwidth, zes_pci_speed_t, maxBandwidth);
SAME_SIZE(gtel_zes_pci_properties, zes_pci_properties_t);
SAME_PLACE(gtel_zes_pci_properties, head.type, zes_pci_properties_t, stype);
SAME_PLACE(gtel_zes_pci_properties, head.next, zes_pci_properties_t, pNext);
SAME_PLACE(gtel_zes_pci_properties, domain, zes_pci_properties_t, address);
SAME_PLACE(gtel_zes_pci_properties, max_speed, zes_pci_properties_t, maxSpeed);
SAME_PLACE(gtel_zes_pci_properties, has_bandwidth, zes_pci_properties_t, haveBandwidthCounters);
SAME_PLACE(gtel_zes_pci_properties, has_packets, zes_pci_properties_t, havePacketCounters);
SAME_PLACE(gtel_zes_pci_properties, has_replays, zes_pci_properties_t, haveReplayCounters);
SAME_SIZE(gtel_zes_pci_state, zes_pci_state_t);
SAME_PLACE(gtel_zes_pci_state, head.type, zes_pci_state_t, stype);
SAME_PLACE(gtel_zes_pci_state, head.next, zes_pci_state_t, pNext);
SAME_PLACE(gtel_zes_pci_state, status, zes_pci_state_t, status);
SAME_PLACE(gtel_zes_pci_state, quality_issues, zes_pci_state_t, qualityIssues);
SAME_PLACE(gtel_zes_pci_state, stability_issues, zes_pci_state_t, stabilityIssues);
SAME_PLACE(gtel_zes_pci_state, speed, zes_pci_state_t, speed);
SAME_SIZE(gtel_zes_pci_stats, zes_pci_stats_t);
SAME_PLACE(gtel_zes_pci_stats, timestamp, zes_pci_stats_t, timestamp);
SAME_PLACE(gtel_zes_pci_stats, replays, zes_pci_stats_t, replayCounter);
SAME_PLACE(gtel_zes_pci_stats, packets, zes_pci_stats_t, packetCounter);
SAME_PLACE(gtel_zes_pci_stats, rx, zes_pci_stats_t, rxCounter);
SAME_PLACE(gtel_zes_pci_stats, tx, zes_pci_stats_t, txCounter);
SAME_PLACE(gtel_zes_pci_stats, speed, zes_pci_stats_t, speed);
SAME_SIZE(gtel_zes_engine_properties, zes_engine_properties_t);
SAME_PLACE(gtel_zes_engine_properties, head.type, zes_engine_properties_t, stype);
SAME_PLACE(gtel_zes_engine_properties, head.next, zes_engine_properties_t, pNext);
SAME_PLACE(gtel_zes_engine_properties, type, zes_engine_properties_t, type);
SAME_PLACE(gtel_zes_engine_properties, on_subdevice, zes_engine_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_engine_properties, subdevice_id, zes_engine_properties_t, subdeviceId);
SAME_SIZE(gtel_zes_engine_stats, zes_engine_stats_t);
SAME_PLACE(gtel_zes_engine_stats, active, zes_engine_stats_t, activeTime);
SAME_PLACE(gtel_zes_engine_stats, timestamp, zes_engine_stats_t, timestamp);
SAME_SIZE(gtel_zes_freq_properties, zes_freq_properties_t);
SAME_PLACE(gtel_zes_freq_properties, head.type, zes_freq_properties_t, stype);
SAME_PLACE(gtel_zes_freq_properties, head.next, zes_freq_properties_t, pNext);
SAME_PLACE(gtel_zes_freq_properties, type, zes_freq_properties_t, type);
SAME_PLACE(gtel_zes_freq_properties, on_subdevice, zes_freq_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_freq_properties, subdevice_id, zes_freq_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_freq_properties, can_control, zes_freq_properties_t, canControl);
SAME_PLACE(gtel_zes_freq_properties, has_throttle_event, zes_freq_properties_t,
           isThrottleEventSupported);
SAME_PLACE(gtel_zes_freq_properties, min, zes_freq_properties_t, min);
SAME_PLACE(gtel_zes_freq_properties, max, zes_freq_properties_t, max);
SAME_SIZE(gtel_zes_freq_range, zes_freq_range_t);
SAME_PLACE(gtel_zes_freq_range, min, zes_freq_range_t, min);
SAME_PLACE(gtel_zes_freq_range, max, zes_freq_range_t, max);
SAME_SIZE(gtel_zes_freq_state, zes_freq_state_t);
SAME_PLACE(gtel_zes_freq_state, head.type, zes_freq_state_t, stype);
SAME_PLACE(gtel_zes_freq_state, head.next, zes_freq_state_t, pNext);
SAME_PLACE(gtel_zes_freq_state, voltage, zes_freq_state_t, currentVoltage);
SAME_PLACE(gtel_zes_freq_state, request, zes_freq_state_t, request);
SAME_PLACE(gtel_zes_freq_state, tdp, zes_freq_state_t, tdp);
SAME_PLACE(gtel_zes_freq_state, efficient, zes_freq_state_t, efficient);
SAME_PLACE(gtel_zes_freq_state, actual, zes_freq_state_t, actual);
SAME_PLACE(gtel_zes_freq_state, throttle_reasons, zes_freq_state_t, throttleReasons);
SAME_SIZE(gtel_zes_throttle_time, zes_freq_throttle_time_t);
SAME_PLACE(gtel_zes_throttle_time, throttled, zes_freq_throttle_time_t, throttleTime);
SAME_PLACE(gtel_zes_throttle_time, timestamp, zes_freq_throttle_time_t, timestamp);
SAME_SIZE(gtel_zes_power_properties, zes_power_properties_t);
SAME_PLACE(gtel_zes_power_properties, head.type, zes_power_properties_t, stype);
SAME_PLACE(gtel_zes_power_properties, head.next, zes_power_properties_t, pNext);
SAME_PLACE(gtel_zes_power_properties, on_subdevice, zes_power_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_power_properties, subdevice_id, zes_power_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_power_properties, can_control, zes_power_properties_t, canControl);
SAME_PLACE(gtel_zes_power_properties, has_threshold, zes_power_properties_t,
           isEnergyThresholdSupported);
SAME_PLACE(gtel_zes_power_properties, default_limit, zes_power_properties_t, defaultLimit);
SAME_PLACE(gtel_zes_power_properties, min_limit, zes_power_properties_t, minLimit);
SAME_PLACE(gtel_zes_power_properties, max_limit, zes_power_properties_t, maxLimit);
SAME_SIZE(gtel_zes_power_ext_properties, zes_power_ext_properties_t);
SAME_PLACE(gtel_zes_power_ext_properties, head.type, zes_power_ext_properties_t, stype);
SAME_PLACE(gtel_zes_power_ext_properties, head.next, zes_power_ext_properties_t, pNext);
SAME_PLACE(gtel_zes_power_ext_properties, domain, zes_power_ext_properties_t, domain);
SAME_PLACE(gtel_zes_power_ext_properties, default_limit, zes_power_ext_properties_t, defaultLimit);
SAME_SIZE(gtel_zes_energy, zes_power_energy_counter_t);
SAME_PLACE(gtel_zes_energy, energy, zes_power_energy_counter_t, energy);
SAME_PLACE(gtel_zes_energy, timestamp, zes_power_energy_counter_t, timestamp);
SAME_SIZE(gtel_zes_limit_ext, zes_power_limit_ext_desc_t);
SAME_PLACE(gtel_zes_limit_ext, head.type, zes_power_limit_ext_desc_t, stype);
SAME_PLACE(gtel_zes_limit_ext, head.next, zes_power_limit_ext_desc_t, pNext);
SAME_PLACE(gtel_zes_limit_ext, level, zes_power_limit_ext_desc_t, level);
SAME_PLACE(gtel_zes_limit_ext, source, zes_power_limit_ext_desc_t, source);
SAME_PLACE(gtel_zes_limit_ext, unit, zes_power_limit_ext_desc_t, limitUnit);
SAME_PLACE(gtel_zes_limit_ext, is_enabled_locked, zes_power_limit_ext_desc_t, enabledStateLocked);
SAME_PLACE(gtel_zes_limit_ext, is_enabled, zes_power_limit_ext_desc_t, enabled);
SAME_PLACE(gtel_zes_limit_ext, is_interval_locked, zes_power_limit_ext_desc_t, intervalValueLocked);
SAME_PLACE(gtel_zes_limit_ext, interval, zes_power_limit_ext_desc_t, interval);
SAME_PLACE(gtel_zes_limit_ext, is_limit_locked, zes_power_limit_ext_desc_t, limitValueLocked);
SAME_PLACE(gtel_zes_limit_ext, limit, zes_power_limit_ext_desc_t, limit);
SAME_SIZE(gtel_zes_limit_sustained, zes_power_sustained_limit_t);
SAME_PLACE(gtel_zes_limit_sustained, is_enabled, zes_power_sustained_limit_t, enabled);
SAME_PLACE(gtel_zes_limit_sustained, power, zes_power_sustained_limit_t, power);
SAME_PLACE(gtel_zes_limit_sustained, interval, zes_power_sustained_limit_t, interval);
SAME_SIZE(gtel_zes_limit_burst, zes_power_burst_limit_t);
SAME_PLACE(gtel_zes_limit_burst, is_enabled, zes_power_burst_limit_t, enabled);
SAME_PLACE(gtel_zes_limit_burst, power, zes_power_burst_limit_t, power);
SAME_SIZE(gtel_zes_limit_peak, zes_power_peak_limit_t);
SAME_PLACE(gtel_zes_limit_peak, power_ac, zes_power_peak_limit_t, powerAC);
SAME_PLACE(gtel_zes_limit_peak, power_dc, zes_power_peak_limit_t, powerDC);
SAME_SIZE(gtel_zes_temp_properties, zes_temp_properties_t);
SAME_PLACE(gtel_zes_temp_properties, head.type, zes_temp_properties_t, stype);
SAME_PLACE(gtel_zes_temp_properties, head.next, zes_temp_properties_t, pNext);
SAME_PLACE(gtel_zes_temp_properties, type, zes_temp_properties_t, type);
SAME_PLACE(gtel_zes_temp_properties, on_subdevice, zes_temp_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_temp_properties, subdevice_id, zes_temp_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_temp_properties, max, zes_temp_properties_t, maxTemperature);
SAME_PLACE(gtel_zes_temp_properties, has_critical, zes_temp_properties_t, isCriticalTempSupported);
SAME_PLACE(gtel_zes_temp_properties, has_threshold1, zes_temp_properties_t, isThreshold1Supported);
SAME_PLACE(gtel_zes_temp_properties, has_threshold2, zes_temp_properties_t, isThreshold2Supported);
SAME_SIZE(gtel_zes_mem_properties, zes_mem_properties_t);
SAME_PLACE(gtel_zes_mem_properties, head.type, zes_mem_properties_t, stype);
SAME_PLACE(gtel_zes_mem_properties, head.next, zes_mem_properties_t, pNext);
SAME_PLACE(gtel_zes_mem_properties, type, zes_mem_properties_t, type);
SAME_PLACE(gtel_zes_mem_properties, on_subdevice, zes_mem_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_mem_properties, subdevice_id, zes_mem_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_mem_properties, location, zes_mem_properties_t, location);
SAME_PLACE(gtel_zes_mem_properties, physical_size, zes_mem_properties_t, physicalSize);
SAME_PLACE(gtel_zes_mem_properties, bus_width, zes_mem_properties_t, busWidth);
SAME_PLACE(gtel_zes_mem_properties, channels, zes_mem_properties_t, numChannels);
SAME_SIZE(gtel_zes_mem_state, zes_mem_state_t);
SAME_PLACE(gtel_zes_mem_state, head.type, zes_mem_state_t, stype);
SAME_PLACE(gtel_zes_mem_state, head.next, zes_mem_state_t, pNext);
SAME_PLACE(gtel_zes_mem_state, health, zes_mem_state_t, health);
SAME_PLACE(gtel_zes_mem_state, free, zes_mem_state_t, free);
SAME_PLACE(gtel_zes_mem_state, size, zes_mem_state_t, size);
SAME_SIZE(gtel_zes_mem_bandwidth, zes_mem_bandwidth_t);
SAME_PLACE(gtel_zes_mem_bandwidth, read, zes_mem_bandwidth_t, readCounter);
SAME_PLACE(gtel_zes_mem_bandwidth, write, zes_mem_bandwidth_t, writeCounter);
SAME_PLACE(gtel_zes_mem_bandwidth, max, zes_mem_bandwidth_t, maxBandwidth);
SAME_PLACE(gtel_zes_mem_bandwidth, timestamp, zes_mem_bandwidth_t, timestamp);
SAME_SIZE(gtel_zes_ras_properties, zes_ras_properties_t);
SAME_PLACE(gtel_zes_ras_properties, head.type, zes_ras_properties_t, stype);
SAME_PLACE(gtel_zes_ras_properties, head.next, zes_ras_properties_t, pNext);
SAME_PLACE(gtel_zes_ras_properties, type, zes_ras_properties_t, type);
SAME_PLACE(gtel_zes_ras_properties, on_subdevice, zes_ras_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_ras_properties, subdevice_id, zes_ras_properties_t, subdeviceId);
_Static_assert(sizeof(struct gtel_zes_ras_state) >= sizeof(zes_ras_state_t), "room");
SAME_PLACE(gtel_zes_ras_state, head.type, zes_ras_state_t, stype);
SAME_PLACE(gtel_zes_ras_state, head.next, zes_ras_state_t, pNext);
SAME_PLACE(gtel_zes_ras_state, category, zes_ras_state_t, category);
SAME_SIZE(gtel_zes_port_id, zes_fabric_port_id_t);
SAME_PLACE(gtel_zes_port_id, fabric, zes_fabric_port_id_t, fabricId);
SAME_PLACE(gtel_zes_port_id, attach, zes_fabric_port_id_t, attachId);
SAME_PLACE(gtel_zes_port_id, number, zes_fabric_port_id_t, portNumber);
SAME_SIZE(gtel_zes_port_speed, zes_fabric_port_speed_t);
SAME_PLACE(gtel_zes_port_speed, bit_rate, zes_fabric_port_speed_t, bitRate);
SAME_PLACE(gtel_zes_port_speed, width, zes_fabric_port_speed_t, width);
SAME_SIZE(gtel_zes_port_properties, zes_fabric_port_properties_t);
SAME_PLACE(gtel_zes_port_properties, head.type, zes_fabric_port_properties_t, stype);
SAME_PLACE(gtel_zes_port_properties, head.next, zes_fabric_port_properties_t, pNext);
SAME_PLACE(gtel_zes_port_properties, model, zes_fabric_port_properties_t, model);
SAME_PLACE(gtel_zes_port_properties, on_subdevice, zes_fabric_port_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_port_properties, subdevice_id, zes_fabric_port_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_port_properties, id, zes_fabric_port_properties_t, portId);
SAME_PLACE(gtel_zes_port_properties, max_rx, zes_fabric_port_properties_t, maxRxSpeed);
SAME_PLACE(gtel_zes_port_properties, max_tx, zes_fabric_port_properties_t, maxTxSpeed);
SAME_SIZE(gtel_zes_port_state, zes_fabric_port_state_t);
SAME_PLACE(gtel_zes_port_state, head.type, zes_fabric_port_state_t, stype);
SAME_PLACE(gtel_zes_port_state, head.next, zes_fabric_port_state_t, pNext);
SAME_PLACE(gtel_zes_port_state, status, zes_fabric_port_state_t, status);
SAME_PLACE(gtel_zes_port_state, quality_issues, zes_fabric_port_state_t, qualityIssues);
SAME_PLACE(gtel_zes_port_state, failure_reasons, zes_fabric_port_state_t, failureReasons);
SAME_PLACE(gtel_zes_port_state, remote, zes_fabric_port_state_t, remotePortId);
SAME_PLACE(gtel_zes_port_state, rx, zes_fabric_port_state_t, rxSpeed);
SAME_PLACE(gtel_zes_port_state, tx, zes_fabric_port_state_t, txSpeed);
SAME_SIZE(gtel_zes_port_throughput, zes_fabric_port_throughput_t);
SAME_PLACE(gtel_zes_port_throughput, timestamp, zes_fabric_port_throughput_t, timestamp);
SAME_PLACE(gtel_zes_port_throughput, rx, zes_fabric_port_throughput_t, rxCounter);
SAME_PLACE(gtel_zes_port_throughput, tx, zes_fabric_port_throughput_t, txCounter);
SAME_SIZE(gtel_zes_fan_properties, zes_fan_properties_t);
SAME_PLACE(gtel_zes_fan_properties, head.type, zes_fan_properties_t, stype);
SAME_PLACE(gtel_zes_fan_properties, head.next, zes_fan_properties_t, pNext);
SAME_PLACE(gtel_zes_fan_properties, on_subdevice, zes_fan_properties_t, onSubdevice);
SAME_PLACE(gtel_zes_fan_properties, subdevice_id, zes_fan_properties_t, subdeviceId);
SAME_PLACE(gtel_zes_fan_properties, can_control, zes_fan_properties_t, canControl);
SAME_PLACE(gtel_zes_fan_properties, modes, zes_fan_properties_t, supportedModes);
SAME_PLACE(gtel_zes_fan_properties, units, zes_fan_properties_t, supportedUnits);
SAME_PLACE(gtel_zes_fan_properties, max_rpm, zes_fan_properties_t, maxRPM);
SAME_PLACE(gtel_zes_fan_properties, max_points, zes_fan_properties_t, maxPoints);

SAME(GTEL_ZE_DEVICE_LOST, ZE_RESULT_ERROR_DEVICE_LOST);
SAME(GTEL_ZE_NOT_READY, ZE_RESULT_NOT_READY);
SAME(GTEL_ZE_OUT_OF_HOST_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
SAME(GTEL_ZE_OUT_OF_DEVICE_MEMORY, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
SAME(GTEL_ZE_NO_PERMISSION, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
SAME(GTEL_ZE_NOT_AVAILABLE, ZE_RESULT_ERROR_NOT_AVAILABLE);
SAME(GTEL_ZE_NO_DEPENDENCY, ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
SAME(GTEL_ZE_UNINITIALIZED, ZE_RESULT_ERROR_UNINITIALIZED);
SAME(GTEL_ZE_UNSUPPORTED_VERSION, ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
SAME(GTEL_ZE_UNSUPPORTED_FEATURE, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
SAME(GTEL_ZE_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_ARGUMENT);
SAME(GTEL_ZE_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
SAME(GTEL_ZE_IN_USE, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
SAME(GTEL_ZE_NULL_POINTER, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
SAME(GTEL_ZE_INVALID_SIZE, ZE_RESULT_ERROR_INVALID_SIZE);
SAME(GTEL_ZE_INVALID_ENUMERATION, ZE_RESULT_ERROR_INVALID_ENUMERATION);
SAME(GTEL_ZE_UNSUPPORTED_ENUMERATION, ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
SAME(GTEL_ZE_UNKNOWN, ZE_RESULT_ERROR_UNKNOWN);
SAME(GTEL_ZES_TYPE_DEVICE_PROPERTIES, ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES);
SAME(GTEL_ZES_TYPE_PCI_PROPERTIES, ZES_STRUCTURE_TYPE_PCI_PROPERTIES);
SAME(GTEL_ZES_TYPE_ENGINE_PROPERTIES, ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES);
SAME(GTEL_ZES_TYPE_FABRIC_PORT_PROPERTIES, ZES_STRUCTURE_TYPE_FABRIC_PORT_PROPERTIES);
SAME(GTEL_ZES_TYPE_FAN_PROPERTIES, ZES_STRUCTURE_TYPE_FAN_PROPERTIES);
SAME(GTEL_ZES_TYPE_FREQ_PROPERTIES, ZES_STRUCTURE_TYPE_FREQ_PROPERTIES);
SAME(GTEL_ZES_TYPE_MEM_PROPERTIES, ZES_STRUCTURE_TYPE_MEM_PROPERTIES);
SAME(GTEL_ZES_TYPE_POWER_PROPERTIES, ZES_STRUCTURE_TYPE_POWER_PROPERTIES);
SAME(GTEL_ZES_TYPE_RAS_PROPERTIES, ZES_STRUCTURE_TYPE_RAS_PROPERTIES);
SAME(GTEL_ZES_TYPE_TEMP_PROPERTIES, ZES_STRUCTURE_TYPE_TEMP_PROPERTIES);
SAME(GTEL_ZES_TYPE_PCI_STATE, ZES_STRUCTURE_TYPE_PCI_STATE);
SAME(GTEL_ZES_TYPE_FABRIC_PORT_STATE, ZES_STRUCTURE_TYPE_FABRIC_PORT_STATE);
SAME(GTEL_ZES_TYPE_FREQ_STATE, ZES_STRUCTURE_TYPE_FREQ_STATE);
SAME(GTEL_ZES_TYPE_MEM_STATE, ZES_STRUCTURE_TYPE_MEM_STATE);
SAME(GTEL_ZES_TYPE_RAS_STATE, ZES_STRUCTURE_TYPE_RAS_STATE);
SAME(GTEL_ZES_TYPE_POWER_EXT_PROPERTIES, ZES_STRUCTURE_TYPE_POWER_EXT_PROPERTIES);
SAME(GTEL_ZES_TYPE_POWER_LIMIT_EXT, ZES_STRUCTURE_TYPE_POWER_LIMIT_EXT_DESC);
SAME(GTEL_ZES_ENGINE_COMPUTE_ALL, ZES_ENGINE_GROUP_COMPUTE_ALL);
SAME(GTEL_ZES_ENGINE_MEDIA_ALL, ZES_ENGINE_GROUP_MEDIA_ALL);
SAME(GTEL_ZES_ENGINE_COPY_ALL, ZES_ENGINE_GROUP_COPY_ALL);
SAME(GTEL_ZES_ENGINE_COMPUTE, ZES_ENGINE_GROUP_COMPUTE_SINGLE);
SAME(GTEL_ZES_ENGINE_RENDER, ZES_ENGINE_GROUP_RENDER_SINGLE);
SAME(GTEL_ZES_ENGINE_DECODE, ZES_ENGINE_GROUP_MEDIA_DECODE_SINGLE);
SAME(GTEL_ZES_ENGINE_ENCODE, ZES_ENGINE_GROUP_MEDIA_ENCODE_SINGLE);
SAME(GTEL_ZES_ENGINE_COPY, ZES_ENGINE_GROUP_COPY_SINGLE);
SAME(GTEL_ZES_ENGINE_ENHANCEMENT, ZES_ENGINE_GROUP_MEDIA_ENHANCEMENT_SINGLE);
SAME(GTEL_ZES_ENGINE_3D, ZES_ENGINE_GROUP_3D_SINGLE);
SAME(GTEL_ZES_ENGINE_RENDER_ALL, ZES_ENGINE_GROUP_RENDER_ALL);
SAME(GTEL_ZES_FREQ_GPU, ZES_FREQ_DOMAIN_GPU);
SAME(GTEL_ZES_FREQ_MEMORY, ZES_FREQ_DOMAIN_MEMORY);
SAME(GTEL_ZES_THROTTLE_AVE_PWR_CAP, ZES_FREQ_THROTTLE_REASON_FLAG_AVE_PWR_CAP);
SAME(GTEL_ZES_THROTTLE_BURST_PWR_CAP, ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP);
SAME(GTEL_ZES_THROTTLE_CURRENT_LIMIT, ZES_FREQ_THROTTLE_REASON_FLAG_CURRENT_LIMIT);
SAME(GTEL_ZES_THROTTLE_THERMAL_LIMIT, ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT);
SAME(GTEL_ZES_THROTTLE_PSU_ALERT, ZES_FREQ_THROTTLE_REASON_FLAG_PSU_ALERT);
SAME(GTEL_ZES_THROTTLE_SW_RANGE, ZES_FREQ_THROTTLE_REASON_FLAG_SW_RANGE);
SAME(GTEL_ZES_THROTTLE_HW_RANGE, ZES_FREQ_THROTTLE_REASON_FLAG_HW_RANGE);
SAME(GTEL_ZES_POWER_UNKNOWN, ZES_POWER_DOMAIN_UNKNOWN);
SAME(GTEL_ZES_POWER_CARD, ZES_POWER_DOMAIN_CARD);
SAME(GTEL_ZES_POWER_PACKAGE, ZES_POWER_DOMAIN_PACKAGE);
SAME(GTEL_ZES_POWER_STACK, ZES_POWER_DOMAIN_STACK);
SAME(GTEL_ZES_LEVEL_SUSTAINED, ZES_POWER_LEVEL_SUSTAINED);
SAME(GTEL_ZES_LEVEL_BURST, ZES_POWER_LEVEL_BURST);
SAME(GTEL_ZES_LEVEL_PEAK, ZES_POWER_LEVEL_PEAK);
SAME(GTEL_ZES_LEVEL_INSTANTANEOUS, ZES_POWER_LEVEL_INSTANTANEOUS);
SAME(GTEL_ZES_UNIT_CURRENT, ZES_LIMIT_UNIT_CURRENT);
SAME(GTEL_ZES_UNIT_POWER, ZES_LIMIT_UNIT_POWER);
SAME(GTEL_ZES_TEMP_GLOBAL, ZES_TEMP_SENSORS_GLOBAL);
SAME(GTEL_ZES_TEMP_GPU, ZES_TEMP_SENSORS_GPU);
SAME(GTEL_ZES_TEMP_MEMORY, ZES_TEMP_SENSORS_MEMORY);
SAME(GTEL_ZES_TEMP_GLOBAL_MIN, ZES_TEMP_SENSORS_GLOBAL_MIN);
SAME(GTEL_ZES_TEMP_GPU_MIN, ZES_TEMP_SENSORS_GPU_MIN);
SAME(GTEL_ZES_TEMP_MEMORY_MIN, ZES_TEMP_SENSORS_MEMORY_MIN);
SAME(GTEL_ZES_MEM_SYSTEM, ZES_MEM_LOC_SYSTEM);
SAME(GTEL_ZES_MEM_DEVICE, ZES_MEM_LOC_DEVICE);
SAME(GTEL_ZES_RAS_CORRECTABLE, ZES_RAS_ERROR_TYPE_CORRECTABLE);
SAME(GTEL_ZES_RAS_UNCORRECTABLE, ZES_RAS_ERROR_TYPE_UNCORRECTABLE);
SAME(GTEL_ZES_PORT_UNKNOWN, ZES_FABRIC_PORT_STATUS_UNKNOWN);
SAME(GTEL_ZES_PORT_HEALTHY, ZES_FABRIC_PORT_STATUS_HEALTHY);
SAME(GTEL_ZES_PORT_DEGRADED, ZES_FABRIC_PORT_STATUS_DEGRADED);
SAME(GTEL_ZES_PORT_FAILED, ZES_FABRIC_PORT_STATUS_FAILED);
SAME(GTEL_ZES_PORT_DISABLED, ZES_FABRIC_PORT_STATUS_DISABLED);
SAME(GTEL_ZES_FAN_RPM, ZES_FAN_SPEED_UNITS_RPM);
SAME(GTEL_ZES_FAN_PERCENT, ZES_FAN_SPEED_UNITS_PERCENT);
SAME(GTEL_ZE_DEVICE_GPU, ZE_DEVICE_TYPE_GPU);
SAME(GTEL_ZES_STRING, ZES_STRING_PROPERTY_SIZE);
SAME(GTEL_ZES_NAME, ZE_MAX_DEVICE_NAME);
SAME(GTEL_ZES_NAME, ZES_MAX_FABRIC_PORT_MODEL_SIZE);

CALL(zeInit, ze_init_flags_t);
CALL(zeDriverGet, uint32_t *, ze_driver_handle_t *);
CALL(zeDeviceGet, ze_driver_handle_t, uint32_t *, ze_device_handle_t *);
CALL(zesDeviceGetProperties, zes_device_handle_t, zes_device_properties_t *);
CALL(zesDevicePciGetProperties, zes_device_handle_t, zes_pci_properties_t *);
CALL(zesDevicePciGetState, zes_device_handle_t, zes_pci_state_t *);
CALL(zesDevicePciGetStats, zes_device_handle_t, zes_pci_stats_t *);
CALL(zesDeviceEnumEngineGroups, zes_device_handle_t, uint32_t *, zes_engine_handle_t *);
CALL(zesEngineGetProperties, zes_engine_handle_t, zes_engine_properties_t *);
CALL(zesEngineGetActivity, zes_engine_handle_t, zes_engine_stats_t *);
CALL(zesDeviceEnumFrequencyDomains, zes_device_handle_t, uint32_t *, zes_freq_handle_t *);
CALL(zesFrequencyGetProperties, zes_freq_handle_t, zes_freq_properties_t *);
CALL(zesFrequencyGetRange, zes_freq_handle_t, zes_freq_range_t *);
CALL(zesFrequencyGetState, zes_freq_handle_t, zes_freq_state_t *);
CALL(zesFrequencyGetThrottleTime, zes_freq_handle_t, zes_freq_throttle_time_t *);
CALL(zesDeviceEnumPowerDomains, zes_device_handle_t, uint32_t *, zes_pwr_handle_t *);
CALL(zesPowerGetProperties, zes_pwr_handle_t, zes_power_properties_t *);
CALL(zesPowerGetEnergyCounter, zes_pwr_handle_t, zes_power_energy_counter_t *);
CALL(zesPowerGetLimits, zes_pwr_handle_t, zes_power_sustained_limit_t *, zes_power_burst_limit_t *,
     zes_power_peak_limit_t *);
CALL(zesPowerGetLimitsExt, zes_pwr_handle_t, uint32_t *, zes_power_limit_ext_desc_t *);
CALL(zesDeviceEnumTemperatureSensors, zes_device_handle_t, uint32_t *, zes_temp_handle_t *);
CALL(zesTemperatureGetProperties, zes_temp_handle_t, zes_temp_properties_t *);
CALL(zesTemperatureGetState, zes_temp_handle_t, double *);
CALL(zesDeviceEnumMemoryModules, zes_device_handle_t, uint32_t *, zes_mem_handle_t *);
CALL(zesMemoryGetProperties, zes_mem_handle_t, zes_mem_properties_t *);
CALL(zesMemoryGetState, zes_mem_handle_t, zes_mem_state_t *);
CALL(zesMemoryGetBandwidth, zes_mem_handle_t, zes_mem_bandwidth_t *);
CALL(zesDeviceEnumRasErrorSets, zes_device_handle_t, uint32_t *, zes_ras_handle_t *);
CALL(zesRasGetProperties, zes_ras_handle_t, zes_ras_properties_t *);
CALL(zesRasGetState, zes_ras_handle_t, ze_bool_t, zes_ras_state_t *);
CALL(zesDeviceEnumFabricPorts, zes_device_handle_t, uint32_t *, zes_fabric_port_handle_t *);
CALL(zesFabricPortGetProperties, zes_fabric_port_handle_t, zes_fabric_port_properties_t *);
CALL(zesFabricPortGetState, zes_fabric_port_handle_t, zes_fabric_port_state_t *);
CALL(zesFabricPortGetThroughput, zes_fabric_port_handle_t, zes_fabric_port_throughput_t *);
CALL(zesDeviceEnumFans, zes_device_handle_t, uint32_t *, zes_fan_handle_t *);
CALL(zesFanGetProperties, zes_fan_handle_t, zes_fan_properties_t *);
CALL(zesFanGetState, zes_fan_handle_t, zes_fan_speed_units_t, int32_t *);

#ifdef ZES_MAX_UUID_SIZE /* 1.7 */
SAME_SIZE(gtel_zes_device_ext_properties, zes_device_ext_properties_t);
SAME_PLACE(gtel_zes_device_ext_properties, head.type, zes_device_ext_properties_t, stype);
SAME_PLACE(gtel_zes_device_ext_properties, head.next, zes_device_ext_properties_t, pNext);
SAME_PLACE(gtel_zes_device_ext_properties, uuid, zes_device_ext_properties_t, uuid);
SAME_PLACE(gtel_zes_device_ext_properties, device_type, zes_device_ext_properties_t, type);
SAME_PLACE(gtel_zes_device_ext_properties, flags, zes_device_ext_properties_t, flags);
SAME_SIZE(gtel_zes_port_errors, zes_fabric_port_error_counters_t);
SAME_PLACE(gtel_zes_port_errors, head.type, zes_fabric_port_error_counters_t, stype);
SAME_PLACE(gtel_zes_port_errors, head.next, zes_fabric_port_error_counters_t, pNext);
SAME_PLACE(gtel_zes_port_errors, link_failures, zes_fabric_port_error_counters_t, linkFailureCount);
SAME_PLACE(gtel_zes_port_errors, firmware_communication, zes_fabric_port_error_counters_t,
           fwCommErrorCount);
SAME_PLACE(gtel_zes_port_errors, firmware, zes_fabric_port_error_counters_t, fwErrorCount);
SAME_PLACE(gtel_zes_port_errors, link_degrades, zes_fabric_port_error_counters_t, linkDegradeCount);
SAME(GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES, ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES);
SAME(GTEL_ZES_TYPE_FABRIC_PORT_ERRORS, ZES_STRUCTURE_TYPE_FABRIC_PORT_ERROR_COUNTERS);
SAME(GTEL_ZES_UUID, ZES_MAX_UUID_SIZE);
CALL(zesInit, zes_init_flags_t);
CALL(zesDriverGet, uint32_t *, zes_driver_handle_t *);
CALL(zesDeviceGet, zes_driver_handle_t, uint32_t *, zes_device_handle_t *);
CALL(zesFabricPortGetFabricErrorCounters, zes_fabric_port_handle_t,
     zes_fabric_port_error_counters_t *);
#endif

#ifdef ZES_RAS_GET_STATE_EXP_NAME /* 1.7.9 */
SAME_SIZE(gtel_zes_ras_state_exp, zes_ras_state_exp_t);
SAME_PLACE(gtel_zes_ras_state_exp, category, zes_ras_state_exp_t, category);
SAME_PLACE(gtel_zes_ras_state_exp, count, zes_ras_state_exp_t, errorCounter);
CALL(zesRasGetStateExp, zes_ras_handle_t, uint32_t *, zes_ras_state_exp_t *);
#endif

int main(void)
{
    return 0;
}
