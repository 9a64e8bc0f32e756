/* SPDX-License-Identifier: MIT */
/*
 * Sizes and offsets of our declarations of Windows, checked by the compiler. The values are those
 * of Microsoft's headers (d3dkmthk.h, d3dkmdt.h, setupapi.h, cfg.h) compiled for x86-64.
 */
#include "abi/wddm_abi.h"

#include <stddef.h>

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(gtel_luid, 8);
SIZE(gtel_guid, 16);

SIZE(gtel_d3dkmt_open, 24);
AT(gtel_d3dkmt_open, adapter, 8);
AT(gtel_d3dkmt_open, luid, 12);
SIZE(gtel_d3dkmt_close, 4);
SIZE(gtel_d3dkmt_query_info, 24);
AT(gtel_d3dkmt_query_info, type, 4);
AT(gtel_d3dkmt_query_info, data, 8);
AT(gtel_d3dkmt_query_info, size, 16);

SIZE(gtel_kmt_segment_size, 24);
AT(gtel_kmt_segment_size, shared, 16);

/* 80 with what the compiler adds: the packed one ends behind its last member. */
AT(gtel_kmt_node_metadata, type, 4);
AT(gtel_kmt_node_metadata, name, 8);
AT(gtel_kmt_node_metadata, flags, 72);
AT(gtel_kmt_node_metadata, has_gpu_mmu, 76);
AT(gtel_kmt_node_metadata, has_io_mmu, GTEL_KMT_NODE_METADATA_SIZE - 1);

SIZE(gtel_kmt_adapter_perf, 64);
AT(gtel_kmt_adapter_perf, memory_frequency, 8);
AT(gtel_kmt_adapter_perf, memory_frequency_max, 16);
AT(gtel_kmt_adapter_perf, memory_frequency_max_oc, 24);
AT(gtel_kmt_adapter_perf, memory_bandwidth, 32);
AT(gtel_kmt_adapter_perf, pcie_bandwidth, 40);
AT(gtel_kmt_adapter_perf, fan_rpm, 48);
AT(gtel_kmt_adapter_perf, power, 52);
AT(gtel_kmt_adapter_perf, temperature, 56);
AT(gtel_kmt_adapter_perf, power_state_override, 60);

SIZE(gtel_kmt_adapter_perf_caps, 40);
AT(gtel_kmt_adapter_perf_caps, memory_bandwidth_max, 8);
AT(gtel_kmt_adapter_perf_caps, pcie_bandwidth_max, 16);
AT(gtel_kmt_adapter_perf_caps, fan_rpm_max, 24);
AT(gtel_kmt_adapter_perf_caps, temperature_max, 28);
AT(gtel_kmt_adapter_perf_caps, temperature_warning, 32);

SIZE(gtel_kmt_node_perf, 56);
AT(gtel_kmt_node_perf, physical_adapter, 4);
AT(gtel_kmt_node_perf, frequency, 8);
AT(gtel_kmt_node_perf, frequency_max, 16);
AT(gtel_kmt_node_perf, frequency_max_oc, 24);
AT(gtel_kmt_node_perf, voltage, 32);
AT(gtel_kmt_node_perf, voltage_max, 36);
AT(gtel_kmt_node_perf, voltage_max_oc, 40);
AT(gtel_kmt_node_perf, transition_latency, 48);

AT(gtel_kmt_adapter_statistics, nodes, 4);
AT(gtel_kmt_adapter_statistics, outputs, 8);
AT(gtel_kmt_adapter_statistics, resets, 16);
SIZE(gtel_kmt_segment_statistics, 152);
AT(gtel_kmt_segment_statistics, committed, 8);
AT(gtel_kmt_segment_statistics, resident, 16);
AT(gtel_kmt_segment_statistics, is_aperture, 40);
AT(gtel_kmt_segment_statistics, properties, 104);
SIZE(gtel_kmt_node_statistics, 616);
AT(gtel_kmt_node_statistics, running, 0);
AT(gtel_kmt_node_statistics, perf, 544);

/* Microsoft's own assertion of the whole: 0x328. */
SIZE(gtel_d3dkmt_statistics, 0x328);
AT(gtel_d3dkmt_statistics, luid, 4);
AT(gtel_d3dkmt_statistics, process, 16);
AT(gtel_d3dkmt_statistics, result, 24);
AT(gtel_d3dkmt_statistics, id, 800);

SIZE(gtel_devinfo, 32);
AT(gtel_devinfo, class, 4);
AT(gtel_devinfo, instance, 20);
AT(gtel_devinfo, reserved, 24);
SIZE(gtel_device_interface, 32);
AT(gtel_device_interface, flags, 20);
AT(gtel_interface_detail, path, 4);
SIZE(gtel_devpropkey, 20);
AT(gtel_devpropkey, id, 16);
SIZE(gtel_power_data, 56);
AT(gtel_power_data, state, 4);

int main(void)
{
    return 0;
}
