/* SPDX-License-Identifier: MIT */
/*
 * The names of the parameters of each shape of a vendor call (PARAMS in abi/), as arguments behind
 * another one: for doubles that pass a call on.
 */
#ifndef GTEL_HARNESS_CALL_ARGS_H
#define GTEL_HARNESS_CALL_ARGS_H

#define GTEL_NVML_ARGS_plain
#define GTEL_NVML_ARGS_system_text , ret, size
#define GTEL_NVML_ARGS_count , ret
#define GTEL_NVML_ARGS_by_index , index, ret
#define GTEL_NVML_ARGS_by_place , device, place, ret
#define GTEL_NVML_ARGS_by_text , text, ret
#define GTEL_NVML_ARGS_text , device, ret, size
#define GTEL_NVML_ARGS_u32 , device, ret
#define GTEL_NVML_ARGS_u64 , device, ret
#define GTEL_NVML_ARGS_u32_of , device, of, ret
#define GTEL_NVML_ARGS_u32_pair , device, ret, ret_2
#define GTEL_NVML_ARGS_u64_of2 , device, of, of_2, ret
#define GTEL_NVML_ARGS_u64_of3 , device, of, of_2, of_3, ret
#define GTEL_NVML_ARGS_u32_three , device, ret, ret_2, ret_3
#define GTEL_NVML_ARGS_i32_pair , device, ret, ret_2
#define GTEL_NVML_ARGS_system_i32 , ret
#define GTEL_NVML_ARGS_text_80 , device, ret
#define GTEL_NVML_ARGS_fabric , device, ret
#define GTEL_NVML_ARGS_confidential , ret
#define GTEL_NVML_ARGS_licences , device, ret
#define GTEL_NVML_ARGS_vgpus , device, n, ret
#define GTEL_NVML_ARGS_sram , device, ret
#define GTEL_NVML_ARGS_histogram , device, ret
#define GTEL_NVML_ARGS_repair , device, ret
#define GTEL_NVML_ARGS_capture , device, ret
#define GTEL_NVML_ARGS_pci , device, ret
#define GTEL_NVML_ARGS_utilization , device, ret
#define GTEL_NVML_ARGS_memory , device, ret
#define GTEL_NVML_ARGS_memory_v2 , device, ret
#define GTEL_NVML_ARGS_temperature , device, ret
#define GTEL_NVML_ARGS_margin , device, ret
#define GTEL_NVML_ARGS_fan_speed , device, ret
#define GTEL_NVML_ARGS_violation , device, of, ret
#define GTEL_NVML_ARGS_fields , device, n, ret
#define GTEL_NVML_ARGS_processes , device, n, ret
#define GTEL_NVML_ARGS_shares , device, ret
#define GTEL_NVML_ARGS_samples , device, ret, n, last_us
#define GTEL_NVML_ARGS_event_create , ret
#define GTEL_NVML_ARGS_event_free , set
#define GTEL_NVML_ARGS_event_register , device, types, set
#define GTEL_NVML_ARGS_event_wait , set, ret, timeout_ms
#define GTEL_NVML_ARGS_gpm_support , device, ret
#define GTEL_NVML_ARGS_gpm_alloc , ret
#define GTEL_NVML_ARGS_gpm_free , sample
#define GTEL_NVML_ARGS_gpm_sample , device, sample
#define GTEL_NVML_ARGS_gpm_sample_of , device, of, sample
#define GTEL_NVML_ARGS_gpm_get , ret

#define GTEL_ZES_ARGS_init , flags
#define GTEL_ZES_ARGS_drivers , count, ret
#define GTEL_ZES_ARGS_list , handle, count, ret
#define GTEL_ZES_ARGS_get , handle, ret
#define GTEL_ZES_ARGS_get_list , handle, count, ret
#define GTEL_ZES_ARGS_limits , handle, ret, burst, peak
#define GTEL_ZES_ARGS_ras , handle, clear, ret
#define GTEL_ZES_ARGS_fan , handle, units, ret

#define GTEL_ZET_ARGS_init GTEL_ZES_ARGS_init
#define GTEL_ZET_ARGS_drivers GTEL_ZES_ARGS_drivers
#define GTEL_ZET_ARGS_list GTEL_ZES_ARGS_list
#define GTEL_ZET_ARGS_get GTEL_ZES_ARGS_get
#define GTEL_ZET_ARGS_one , handle
#define GTEL_ZET_ARGS_context , handle, desc, ret
#define GTEL_ZET_ARGS_activate , context, handle, count, group
#define GTEL_ZET_ARGS_open , context, handle, group, desc, event, ret
#define GTEL_ZET_ARGS_read , handle, max_reports, size, ret
#define GTEL_ZET_ARGS_calculate , handle, kind, size, raw, count, ret
#define GTEL_ZET_ARGS_calculate_sets , handle, kind, size, raw, sets, count, counts, ret

#endif
