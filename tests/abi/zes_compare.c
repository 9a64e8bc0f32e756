/* SPDX-License-Identifier: MIT */
/*
 * Our Level Zero declarations against the vendor's headers; built only where those are installed.
 * What came with a later revision than 1.4 is guarded by a macro that came with it or later.
 */
#include "fakes/libze_loader/more_abi.h"

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include <stddef.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs);
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #theirs);
#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs);
/* The parameters are those from which the shape in our table was made. */
#define CALL(name, ...)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), ze_result_t(__VA_ARGS__)),       \
                   #name);                                                                         \
    enum { compared_##name = 1 }

#include "abi/zes_pairs.def"

_Static_assert(sizeof(struct gtel_zes_ras_state) >= sizeof(zes_ras_state_t), "room");

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
CALL(zesTemperatureGetConfig, zes_temp_handle_t, zes_temp_config_t *);
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
CALL(zesDeviceGetState, zes_device_handle_t, zes_device_state_t *);
CALL(zesDeviceProcessesGetState, zes_device_handle_t, uint32_t *, zes_process_state_t *);
CALL(zesDeviceEccAvailable, zes_device_handle_t, ze_bool_t *);
CALL(zesDeviceGetEccState, zes_device_handle_t, zes_device_ecc_properties_t *);

#ifdef ZES_MAX_UUID_SIZE /* 1.7 */
CALL(zesInit, zes_init_flags_t);
CALL(zesDriverGet, uint32_t *, zes_driver_handle_t *);
CALL(zesDeviceGet, zes_driver_handle_t, uint32_t *, zes_device_handle_t *);
CALL(zesFabricPortGetFabricErrorCounters, zes_fabric_port_handle_t,
     zes_fabric_port_error_counters_t *);
#endif

#ifdef ZES_RAS_GET_STATE_EXP_NAME /* 1.7.9 */
CALL(zesRasGetStateExp, zes_ras_handle_t, uint32_t *, zes_ras_state_exp_t *);
#endif

#ifdef ZES_SYSMAN_DEVICE_MAPPING_EXP_NAME /* 1.9.1 */
CALL(zesDeviceGetSubDevicePropertiesExp, zes_device_handle_t, uint32_t *,
     zes_subdevice_exp_properties_t *);
CALL(zesDriverGetDeviceByUuidExp, zes_driver_handle_t, zes_uuid_t, zes_device_handle_t *,
     ze_bool_t *, uint32_t *);
#endif

/* None of our calls is omitted; with headers that have them all. */
#ifdef ZES_SYSMAN_DEVICE_MAPPING_EXP_NAME /* 1.9.1 */
#define GTEL_ZES_SYM(name, need, shape, type) _Static_assert(compared_##name, #name);
#include "abi/zes_syms.def"
#include "fakes/libze_loader/more_syms.def"
#undef GTEL_ZES_SYM
#endif

int main(void)
{
    return 0;
}
