/* SPDX-License-Identifier: MIT */
/*
 * Sizes and offsets of our Level Zero declarations, checked by the compiler. The values are those
 * of the specification's headers 1.0 to 1.17 for x86-64 and arm64 Linux and 64-bit Windows.
 */
#include "abi/zes_abi.h"

#include <stddef.h>

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(gtel_ze_device_properties, 368);
AT(gtel_ze_device_properties, head.next, 8);
AT(gtel_ze_device_properties, device_type, 16);
AT(gtel_ze_device_properties, vendor_id, 20);
AT(gtel_ze_device_properties, device_id, 24);
AT(gtel_ze_device_properties, flags, 28);
AT(gtel_ze_device_properties, subdevice_id, 32);
AT(gtel_ze_device_properties, core_clock, 36);
AT(gtel_ze_device_properties, max_allocation, 40);
AT(gtel_ze_device_properties, max_contexts, 48);
AT(gtel_ze_device_properties, max_priority, 52);
AT(gtel_ze_device_properties, threads_per_eu, 56);
AT(gtel_ze_device_properties, simd_width, 60);
AT(gtel_ze_device_properties, eus_per_subslice, 64);
AT(gtel_ze_device_properties, subslices_per_slice, 68);
AT(gtel_ze_device_properties, slices, 72);
AT(gtel_ze_device_properties, timer_resolution, 80);
AT(gtel_ze_device_properties, timestamp_bits, 88);
AT(gtel_ze_device_properties, kernel_timestamp_bits, 92);
AT(gtel_ze_device_properties, uuid, 96);
AT(gtel_ze_device_properties, name, 112);

SIZE(gtel_zes_device_properties, 776);
AT(gtel_zes_device_properties, head.next, 8);
AT(gtel_zes_device_properties, core, 16);
AT(gtel_zes_device_properties, subdevices, 384);
AT(gtel_zes_device_properties, serial, 388);
AT(gtel_zes_device_properties, board, 452);
AT(gtel_zes_device_properties, brand, 516);
AT(gtel_zes_device_properties, model, 580);
AT(gtel_zes_device_properties, vendor, 644);
AT(gtel_zes_device_properties, driver_version, 708);

SIZE(gtel_zes_device_ext_properties, 40);
AT(gtel_zes_device_ext_properties, head.next, 8);
AT(gtel_zes_device_ext_properties, uuid, 16);
AT(gtel_zes_device_ext_properties, device_type, 32);
AT(gtel_zes_device_ext_properties, flags, 36);

SIZE(gtel_zes_uuid, 16);
AT(gtel_zes_uuid, id, 0);

SIZE(gtel_zes_subdevice, 40);
AT(gtel_zes_subdevice, head.next, 8);
AT(gtel_zes_subdevice, id, 16);
AT(gtel_zes_subdevice, uuid, 20);

SIZE(gtel_zes_device_state, 24);
AT(gtel_zes_device_state, head.next, 8);
AT(gtel_zes_device_state, reset, 16);
AT(gtel_zes_device_state, repaired, 20);

SIZE(gtel_zes_process_state, 48);
AT(gtel_zes_process_state, head.next, 8);
AT(gtel_zes_process_state, pid, 16);
AT(gtel_zes_process_state, memory, 24);
AT(gtel_zes_process_state, shared, 32);
AT(gtel_zes_process_state, engines, 40);

SIZE(gtel_zes_ecc_properties, 32);
AT(gtel_zes_ecc_properties, head.next, 8);
AT(gtel_zes_ecc_properties, current, 16);
AT(gtel_zes_ecc_properties, pending, 20);
AT(gtel_zes_ecc_properties, action, 24);

SIZE(gtel_zes_pci_speed, 16);
AT(gtel_zes_pci_speed, gen, 0);
AT(gtel_zes_pci_speed, width, 4);
AT(gtel_zes_pci_speed, max_bandwidth, 8);

SIZE(gtel_zes_pci_properties, 56);
AT(gtel_zes_pci_properties, head.next, 8);
AT(gtel_zes_pci_properties, domain, 16);
AT(gtel_zes_pci_properties, max_speed, 32);
AT(gtel_zes_pci_properties, has_bandwidth, 48);
AT(gtel_zes_pci_properties, has_packets, 49);
AT(gtel_zes_pci_properties, has_replays, 50);

SIZE(gtel_zes_pci_state, 48);
AT(gtel_zes_pci_state, head.next, 8);
AT(gtel_zes_pci_state, status, 16);
AT(gtel_zes_pci_state, quality_issues, 20);
AT(gtel_zes_pci_state, stability_issues, 24);
AT(gtel_zes_pci_state, speed, 32);

SIZE(gtel_zes_pci_stats, 56);
AT(gtel_zes_pci_stats, timestamp, 0);
AT(gtel_zes_pci_stats, replays, 8);
AT(gtel_zes_pci_stats, packets, 16);
AT(gtel_zes_pci_stats, rx, 24);
AT(gtel_zes_pci_stats, tx, 32);
AT(gtel_zes_pci_stats, speed, 40);

SIZE(gtel_zes_freq_properties, 48);
AT(gtel_zes_freq_properties, head.next, 8);
AT(gtel_zes_freq_properties, type, 16);
AT(gtel_zes_freq_properties, on_subdevice, 20);
AT(gtel_zes_freq_properties, subdevice_id, 24);
AT(gtel_zes_freq_properties, can_control, 28);
AT(gtel_zes_freq_properties, has_throttle_event, 29);
AT(gtel_zes_freq_properties, min, 32);
AT(gtel_zes_freq_properties, max, 40);

SIZE(gtel_zes_freq_range, 16);
AT(gtel_zes_freq_range, min, 0);
AT(gtel_zes_freq_range, max, 8);

SIZE(gtel_zes_freq_state, 64);
AT(gtel_zes_freq_state, head.next, 8);
AT(gtel_zes_freq_state, voltage, 16);
AT(gtel_zes_freq_state, request, 24);
AT(gtel_zes_freq_state, tdp, 32);
AT(gtel_zes_freq_state, efficient, 40);
AT(gtel_zes_freq_state, actual, 48);
AT(gtel_zes_freq_state, throttle_reasons, 56);

SIZE(gtel_zes_throttle_time, 16);
AT(gtel_zes_throttle_time, throttled, 0);
AT(gtel_zes_throttle_time, timestamp, 8);

SIZE(gtel_zes_power_properties, 40);
AT(gtel_zes_power_properties, head.next, 8);
AT(gtel_zes_power_properties, on_subdevice, 16);
AT(gtel_zes_power_properties, subdevice_id, 20);
AT(gtel_zes_power_properties, can_control, 24);
AT(gtel_zes_power_properties, has_threshold, 25);
AT(gtel_zes_power_properties, default_limit, 28);
AT(gtel_zes_power_properties, min_limit, 32);
AT(gtel_zes_power_properties, max_limit, 36);

SIZE(gtel_zes_power_ext_properties, 32);
AT(gtel_zes_power_ext_properties, head.next, 8);
AT(gtel_zes_power_ext_properties, domain, 16);
AT(gtel_zes_power_ext_properties, default_limit, 24);

SIZE(gtel_zes_energy, 16);
AT(gtel_zes_energy, energy, 0);
AT(gtel_zes_energy, timestamp, 8);

SIZE(gtel_zes_limit_ext, 48);
AT(gtel_zes_limit_ext, head.next, 8);
AT(gtel_zes_limit_ext, level, 16);
AT(gtel_zes_limit_ext, source, 20);
AT(gtel_zes_limit_ext, unit, 24);
AT(gtel_zes_limit_ext, is_enabled_locked, 28);
AT(gtel_zes_limit_ext, is_enabled, 29);
AT(gtel_zes_limit_ext, is_interval_locked, 30);
AT(gtel_zes_limit_ext, interval, 32);
AT(gtel_zes_limit_ext, is_limit_locked, 36);
AT(gtel_zes_limit_ext, limit, 40);

SIZE(gtel_zes_limit_sustained, 12);
AT(gtel_zes_limit_sustained, is_enabled, 0);
AT(gtel_zes_limit_sustained, power, 4);
AT(gtel_zes_limit_sustained, interval, 8);

SIZE(gtel_zes_limit_burst, 8);
AT(gtel_zes_limit_burst, is_enabled, 0);
AT(gtel_zes_limit_burst, power, 4);

SIZE(gtel_zes_limit_peak, 8);
AT(gtel_zes_limit_peak, power_ac, 0);
AT(gtel_zes_limit_peak, power_dc, 4);

SIZE(gtel_zes_temp_properties, 48);
AT(gtel_zes_temp_properties, head.next, 8);
AT(gtel_zes_temp_properties, type, 16);
AT(gtel_zes_temp_properties, on_subdevice, 20);
AT(gtel_zes_temp_properties, subdevice_id, 24);
AT(gtel_zes_temp_properties, max, 32);
AT(gtel_zes_temp_properties, has_critical, 40);
AT(gtel_zes_temp_properties, has_threshold1, 41);
AT(gtel_zes_temp_properties, has_threshold2, 42);

SIZE(gtel_zes_mem_properties, 48);
AT(gtel_zes_mem_properties, head.next, 8);
AT(gtel_zes_mem_properties, type, 16);
AT(gtel_zes_mem_properties, on_subdevice, 20);
AT(gtel_zes_mem_properties, subdevice_id, 24);
AT(gtel_zes_mem_properties, location, 28);
AT(gtel_zes_mem_properties, physical_size, 32);
AT(gtel_zes_mem_properties, bus_width, 40);
AT(gtel_zes_mem_properties, channels, 44);

SIZE(gtel_zes_mem_counter_bits, 24);
AT(gtel_zes_mem_counter_bits, head.next, 8);
AT(gtel_zes_mem_counter_bits, bits, 16);

SIZE(gtel_zes_mem_state, 40);
AT(gtel_zes_mem_state, head.next, 8);
AT(gtel_zes_mem_state, health, 16);
AT(gtel_zes_mem_state, free, 24);
AT(gtel_zes_mem_state, size, 32);

SIZE(gtel_zes_mem_bandwidth, 32);
AT(gtel_zes_mem_bandwidth, read, 0);
AT(gtel_zes_mem_bandwidth, write, 8);
AT(gtel_zes_mem_bandwidth, max, 16);
AT(gtel_zes_mem_bandwidth, timestamp, 24);

SIZE(gtel_zes_ras_properties, 32);
AT(gtel_zes_ras_properties, head.next, 8);
AT(gtel_zes_ras_properties, type, 16);
AT(gtel_zes_ras_properties, on_subdevice, 20);
AT(gtel_zes_ras_properties, subdevice_id, 24);

_Static_assert(sizeof(struct gtel_zes_ras_state) >= 128, "room");
AT(gtel_zes_ras_state, head.next, 8);
AT(gtel_zes_ras_state, category, 16);

SIZE(gtel_zes_ras_state_exp, 16);
AT(gtel_zes_ras_state_exp, category, 0);
AT(gtel_zes_ras_state_exp, count, 8);

SIZE(gtel_zes_port_id, 12);
AT(gtel_zes_port_id, fabric, 0);
AT(gtel_zes_port_id, attach, 4);
AT(gtel_zes_port_id, number, 8);

SIZE(gtel_zes_port_speed, 16);
AT(gtel_zes_port_speed, bit_rate, 0);
AT(gtel_zes_port_speed, width, 8);

SIZE(gtel_zes_port_properties, 328);
AT(gtel_zes_port_properties, head.next, 8);
AT(gtel_zes_port_properties, model, 16);
AT(gtel_zes_port_properties, on_subdevice, 272);
AT(gtel_zes_port_properties, subdevice_id, 276);
AT(gtel_zes_port_properties, id, 280);
AT(gtel_zes_port_properties, max_rx, 296);
AT(gtel_zes_port_properties, max_tx, 312);

SIZE(gtel_zes_port_state, 72);
AT(gtel_zes_port_state, head.next, 8);
AT(gtel_zes_port_state, status, 16);
AT(gtel_zes_port_state, quality_issues, 20);
AT(gtel_zes_port_state, failure_reasons, 24);
AT(gtel_zes_port_state, remote, 28);
AT(gtel_zes_port_state, rx, 40);
AT(gtel_zes_port_state, tx, 56);

SIZE(gtel_zes_port_throughput, 24);
AT(gtel_zes_port_throughput, timestamp, 0);
AT(gtel_zes_port_throughput, rx, 8);
AT(gtel_zes_port_throughput, tx, 16);

SIZE(gtel_zes_port_errors, 48);
AT(gtel_zes_port_errors, head.next, 8);
AT(gtel_zes_port_errors, link_failures, 16);
AT(gtel_zes_port_errors, firmware_communication, 24);
AT(gtel_zes_port_errors, firmware, 32);
AT(gtel_zes_port_errors, link_degrades, 40);

SIZE(gtel_zes_fan_properties, 48);
AT(gtel_zes_fan_properties, head.next, 8);
AT(gtel_zes_fan_properties, on_subdevice, 16);
AT(gtel_zes_fan_properties, subdevice_id, 20);
AT(gtel_zes_fan_properties, can_control, 24);
AT(gtel_zes_fan_properties, modes, 28);
AT(gtel_zes_fan_properties, units, 32);
AT(gtel_zes_fan_properties, max_rpm, 36);
AT(gtel_zes_fan_properties, max_points, 40);

/* A program, so that the build compiles it as a test. */
int main(void)
{
    return 0;
}
