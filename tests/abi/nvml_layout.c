/* SPDX-License-Identifier: MIT */
/*
 * Sizes and offsets of our NVML declarations, checked by the compiler. The values are those of the
 * public header of API generation 13, compiled for x86-64; arm64 has the same layout.
 */
#include "abi/nvml_abi.h"

#include <stddef.h>

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(gtel_nvml_pci, 68);
AT(gtel_nvml_pci, bus_id_legacy, 0);
AT(gtel_nvml_pci, domain, 16);
AT(gtel_nvml_pci, bus, 20);
AT(gtel_nvml_pci, device, 24);
AT(gtel_nvml_pci, pci_device_id, 28);
AT(gtel_nvml_pci, pci_subsystem_id, 32);
AT(gtel_nvml_pci, bus_id, 36);

SIZE(gtel_nvml_utilization, 8);
AT(gtel_nvml_utilization, memory, 4);

SIZE(gtel_nvml_memory, 24);
AT(gtel_nvml_memory, free, 8);
AT(gtel_nvml_memory, used, 16);

SIZE(gtel_nvml_memory_v2, 40);
AT(gtel_nvml_memory_v2, total, 8);
AT(gtel_nvml_memory_v2, reserved, 16);
AT(gtel_nvml_memory_v2, free, 24);
AT(gtel_nvml_memory_v2, used, 32);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_memory_v2, 2) == 0x02000028u, "memory v2");

SIZE(gtel_nvml_temperature, 12);
AT(gtel_nvml_temperature, sensor, 4);
AT(gtel_nvml_temperature, temperature, 8);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_temperature, 1) == 0x0100000cu, "temperature");

SIZE(gtel_nvml_margin, 8);
AT(gtel_nvml_margin, margin, 4);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_margin, 1) == 0x01000008u, "margin");

SIZE(gtel_nvml_fan_speed, 12);
AT(gtel_nvml_fan_speed, fan, 4);
AT(gtel_nvml_fan_speed, speed, 8);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_fan_speed, 1) == 0x0100000cu, "fan speed");

SIZE(gtel_nvml_violation, 16);
AT(gtel_nvml_violation, violation_time, 8);

SIZE(gtel_nvml_field, 40);
AT(gtel_nvml_field, scope_id, 4);
AT(gtel_nvml_field, timestamp, 8);
AT(gtel_nvml_field, latency_us, 16);
AT(gtel_nvml_field, value_type, 24);
AT(gtel_nvml_field, rc, 28);
AT(gtel_nvml_field, value, 32);
_Static_assert(sizeof(union gtel_nvml_value) == 8, "value");

SIZE(gtel_nvml_gpm_support, 8);
SIZE(gtel_nvml_gpm_metric, 40);
AT(gtel_nvml_gpm_metric, rc, 4);
AT(gtel_nvml_gpm_metric, value, 8);
SIZE(gtel_nvml_gpm_get, 19104);
AT(gtel_nvml_gpm_get, n, 4);
AT(gtel_nvml_gpm_get, older, 8);
AT(gtel_nvml_gpm_get, newer, 16);
AT(gtel_nvml_gpm_get, metric, 24);

SIZE(gtel_nvml_sram_status, 104);
AT(gtel_nvml_sram_status, aggregate_parity, 8);
AT(gtel_nvml_sram_status, volatile_parity, 32);
AT(gtel_nvml_sram_status, aggregate_l2, 56);
AT(gtel_nvml_sram_status, is_threshold_exceeded, 96);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_sram_status, 1) == 0x01000068u, "SRAM status");
SIZE(gtel_nvml_remap_histogram, 20);
AT(gtel_nvml_remap_histogram, none, 16);
SIZE(gtel_nvml_repair_status, 12);
AT(gtel_nvml_repair_status, is_tpc_pending, 8);
SIZE(gtel_nvml_capture_stats, 12);
SIZE(gtel_nvml_process_share, 40);
AT(gtel_nvml_process_share, pid, 8);
AT(gtel_nvml_process_share, sm, 12);
AT(gtel_nvml_process_share, ofa, 32);
SIZE(gtel_nvml_process_sample, 32);
AT(gtel_nvml_process_sample, time_us, 8);
AT(gtel_nvml_process_sample, sm, 16);
AT(gtel_nvml_process_sample, decoder, 28);
SIZE(gtel_nvml_shares, 24);
AT(gtel_nvml_shares, last_us, 8);
AT(gtel_nvml_shares, share, 16);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_shares, 1) == 0x01000018u, "shares");
SIZE(gtel_nvml_event, 32);
AT(gtel_nvml_event, type, 8);
AT(gtel_nvml_event, data, 16);
AT(gtel_nvml_event, gpu_instance, 24);

SIZE(gtel_nvml_fabric, 40);
AT(gtel_nvml_fabric, cluster_uuid, 4);
AT(gtel_nvml_fabric, status, 20);
AT(gtel_nvml_fabric, clique, 24);
AT(gtel_nvml_fabric, state, 28);
AT(gtel_nvml_fabric, health_mask, 32);
AT(gtel_nvml_fabric, health_summary, 36);
_Static_assert(GTEL_NVML_VERSION(struct gtel_nvml_fabric, 3) == 0x03000028u, "fabric v3");
_Static_assert(GTEL_NVML_FABRIC_V2 == 0x02000024u, "fabric v2");
SIZE(gtel_nvml_confidential, 12);
AT(gtel_nvml_confidential, feature, 4);
SIZE(gtel_nvml_licences, 860);
AT(gtel_nvml_licences, feature[0].is_licensed, 12);
AT(gtel_nvml_licences, feature[1].is_licensed, 296);

/* A program, so that the build compiles it as a test. */
int main(void)
{
    return 0;
}
