/* SPDX-License-Identifier: MIT */
/*
 * Our declarations of Level Zero's metrics against the vendor's headers; built only where those are
 * installed. What came with a later revision than 1.4 is guarded by a macro that came with it.
 */
#include "abi/zet_abi.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #theirs)
#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
/* The parameters are those from which the shape in our table was made. */
#define CALL(name, ...)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), ze_result_t(__VA_ARGS__)),       \
                   #name);                                                                         \
    enum { compared_##name = 1 }

SAME_SIZE(gtel_ze_context_desc, ze_context_desc_t);
SAME_PLACE(gtel_ze_context_desc, head.type, ze_context_desc_t, stype);
SAME_PLACE(gtel_ze_context_desc, head.next, ze_context_desc_t, pNext);
SAME_PLACE(gtel_ze_context_desc, flags, ze_context_desc_t, flags);
SAME_SIZE(gtel_ze_pci_ext_properties, ze_pci_ext_properties_t);
SAME_PLACE(gtel_ze_pci_ext_properties, head.type, ze_pci_ext_properties_t, stype);
SAME_PLACE(gtel_ze_pci_ext_properties, head.next, ze_pci_ext_properties_t, pNext);
SAME_PLACE(gtel_ze_pci_ext_properties, domain, ze_pci_ext_properties_t, address.domain);
SAME_PLACE(gtel_ze_pci_ext_properties, bus, ze_pci_ext_properties_t, address.bus);
SAME_PLACE(gtel_ze_pci_ext_properties, device, ze_pci_ext_properties_t, address.device);
SAME_PLACE(gtel_ze_pci_ext_properties, function, ze_pci_ext_properties_t, address.function);
SAME_PLACE(gtel_ze_pci_ext_properties, max_speed, ze_pci_ext_properties_t, maxSpeed);
SAME_SIZE(gtel_zes_pci_speed, ze_pci_speed_ext_t);
SAME_PLACE(gtel_zes_pci_speed, gen, ze_pci_speed_ext_t, genVersion);
SAME_PLACE(gtel_zes_pci_speed, width, ze_pci_speed_ext_t, width);
SAME_PLACE(gtel_zes_pci_speed, max_bandwidth, ze_pci_speed_ext_t, maxBandwidth);
SAME_SIZE(gtel_zet_group_properties, zet_metric_group_properties_t);
SAME_PLACE(gtel_zet_group_properties, head.type, zet_metric_group_properties_t, stype);
SAME_PLACE(gtel_zet_group_properties, head.next, zet_metric_group_properties_t, pNext);
SAME_PLACE(gtel_zet_group_properties, name, zet_metric_group_properties_t, name);
SAME_PLACE(gtel_zet_group_properties, description, zet_metric_group_properties_t, description);
SAME_PLACE(gtel_zet_group_properties, sampling_type, zet_metric_group_properties_t, samplingType);
SAME_PLACE(gtel_zet_group_properties, domain, zet_metric_group_properties_t, domain);
SAME_PLACE(gtel_zet_group_properties, metrics, zet_metric_group_properties_t, metricCount);
SAME_SIZE(gtel_zet_metric_properties, zet_metric_properties_t);
SAME_PLACE(gtel_zet_metric_properties, head.type, zet_metric_properties_t, stype);
SAME_PLACE(gtel_zet_metric_properties, head.next, zet_metric_properties_t, pNext);
SAME_PLACE(gtel_zet_metric_properties, name, zet_metric_properties_t, name);
SAME_PLACE(gtel_zet_metric_properties, description, zet_metric_properties_t, description);
SAME_PLACE(gtel_zet_metric_properties, component, zet_metric_properties_t, component);
SAME_PLACE(gtel_zet_metric_properties, tier, zet_metric_properties_t, tierNumber);
SAME_PLACE(gtel_zet_metric_properties, metric_type, zet_metric_properties_t, metricType);
SAME_PLACE(gtel_zet_metric_properties, result_type, zet_metric_properties_t, resultType);
SAME_PLACE(gtel_zet_metric_properties, units, zet_metric_properties_t, resultUnits);
SAME_SIZE(gtel_zet_streamer_desc, zet_metric_streamer_desc_t);
SAME_PLACE(gtel_zet_streamer_desc, head.type, zet_metric_streamer_desc_t, stype);
SAME_PLACE(gtel_zet_streamer_desc, head.next, zet_metric_streamer_desc_t, pNext);
SAME_PLACE(gtel_zet_streamer_desc, notify_every, zet_metric_streamer_desc_t, notifyEveryNReports);
SAME_PLACE(gtel_zet_streamer_desc, period, zet_metric_streamer_desc_t, samplingPeriod);
SAME_SIZE(gtel_zet_value, zet_typed_value_t);
SAME_PLACE(gtel_zet_value, type, zet_typed_value_t, type);
SAME_PLACE(gtel_zet_value, is.u32, zet_typed_value_t, value.ui32);
SAME_PLACE(gtel_zet_value, is.u64, zet_typed_value_t, value.ui64);
SAME_PLACE(gtel_zet_value, is.f32, zet_typed_value_t, value.fp32);
SAME_PLACE(gtel_zet_value, is.f64, zet_typed_value_t, value.fp64);
SAME_PLACE(gtel_zet_value, is.b8, zet_typed_value_t, value.b8);

SAME(GTEL_ZET_DROPPED_DATA, ZE_RESULT_WARNING_DROPPED_DATA);
SAME(GTEL_ZE_TYPE_DEVICE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
SAME(GTEL_ZE_TYPE_CONTEXT_DESC, ZE_STRUCTURE_TYPE_CONTEXT_DESC);
SAME(GTEL_ZE_TYPE_PCI_EXT_PROPERTIES, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
SAME(GTEL_ZET_TYPE_GROUP_PROPERTIES, ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES);
SAME(GTEL_ZET_TYPE_METRIC_PROPERTIES, ZET_STRUCTURE_TYPE_METRIC_PROPERTIES);
SAME(GTEL_ZET_TYPE_STREAMER_DESC, ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC);
SAME(GTEL_ZET_TIME_BASED, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
SAME(GTEL_ZET_UINT32, ZET_VALUE_TYPE_UINT32);
SAME(GTEL_ZET_UINT64, ZET_VALUE_TYPE_UINT64);
SAME(GTEL_ZET_FLOAT32, ZET_VALUE_TYPE_FLOAT32);
SAME(GTEL_ZET_FLOAT64, ZET_VALUE_TYPE_FLOAT64);
SAME(GTEL_ZET_BOOL8, ZET_VALUE_TYPE_BOOL8);
SAME(GTEL_ZET_METRIC_VALUES, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_GROUP_NAME);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_GROUP_DESCRIPTION);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_NAME);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_DESCRIPTION);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_COMPONENT);
SAME(GTEL_ZET_NAME, ZET_MAX_METRIC_RESULT_UNITS);

CALL(zeInit, ze_init_flags_t);
CALL(zeDriverGet, uint32_t *, ze_driver_handle_t *);
CALL(zeDeviceGet, ze_driver_handle_t, uint32_t *, ze_device_handle_t *);
CALL(zeDeviceGetSubDevices, ze_device_handle_t, uint32_t *, ze_device_handle_t *);
CALL(zeDeviceGetProperties, ze_device_handle_t, ze_device_properties_t *);
CALL(zeDevicePciGetPropertiesExt, ze_device_handle_t, ze_pci_ext_properties_t *);
CALL(zeContextCreate, ze_driver_handle_t, const ze_context_desc_t *, ze_context_handle_t *);
CALL(zeContextDestroy, ze_context_handle_t);
CALL(zetMetricGroupGet, zet_device_handle_t, uint32_t *, zet_metric_group_handle_t *);
CALL(zetMetricGroupGetProperties, zet_metric_group_handle_t, zet_metric_group_properties_t *);
CALL(zetMetricGet, zet_metric_group_handle_t, uint32_t *, zet_metric_handle_t *);
CALL(zetMetricGetProperties, zet_metric_handle_t, zet_metric_properties_t *);
CALL(zetContextActivateMetricGroups, zet_context_handle_t, zet_device_handle_t, uint32_t,
     zet_metric_group_handle_t *);
CALL(zetMetricStreamerOpen, zet_context_handle_t, zet_device_handle_t, zet_metric_group_handle_t,
     zet_metric_streamer_desc_t *, ze_event_handle_t, zet_metric_streamer_handle_t *);
CALL(zetMetricStreamerReadData, zet_metric_streamer_handle_t, uint32_t, size_t *, uint8_t *);
CALL(zetMetricStreamerClose, zet_metric_streamer_handle_t);
CALL(zetMetricGroupCalculateMetricValues, zet_metric_group_handle_t,
     zet_metric_group_calculation_type_t, size_t, const uint8_t *, uint32_t *, zet_typed_value_t *);
CALL(zetMetricGroupCalculateMultipleMetricValuesExp, zet_metric_group_handle_t,
     zet_metric_group_calculation_type_t, size_t, const uint8_t *, uint32_t *, uint32_t *,
     uint32_t *, zet_typed_value_t *);

#ifdef ZET_METRICS_RUNTIME_ENABLE_DISABLE_EXP_NAME /* 1.13 */
CALL(zetDeviceEnableMetricsExp, zet_device_handle_t);
CALL(zetDeviceDisableMetricsExp, zet_device_handle_t);
#endif

/* None of our calls is omitted; with headers that have them all. */
#ifdef ZET_METRICS_RUNTIME_ENABLE_DISABLE_EXP_NAME /* 1.13 */
#define GTEL_ZET_SYM(name, need, shape, type) _Static_assert(compared_##name, #name);
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
#endif

int main(void)
{
    return 0;
}
