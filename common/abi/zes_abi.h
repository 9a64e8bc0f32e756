/* SPDX-License-Identifier: MIT */
/*
 * Level Zero Sysman's binary interface, as far as we call it: result codes, structures, functions.
 *
 * Written from the public specification (oneAPI Level Zero, Sysman programming guide and API; the
 * item's name there stands at each item) and valid for revisions 1.0 to 1.17 on 64-bit Linux and
 * Windows. The vendor's headers are not used: tests/abi compares with them where they are
 * installed. Handles are opaque pointers, ze_bool_t is uint8_t, enumerations have 32 bits. The
 * calls themselves are listed in zes_syms.def, by the shapes at the end.
 */
#ifndef GTEL_ABI_ZES_ABI_H
#define GTEL_ABI_ZES_ABI_H

#include <stdint.h>

/* ze_result_t. Codes that are not listed are treated as a passing failure. */
#define GTEL_ZE_SUCCESS 0x0u
#define GTEL_ZE_NOT_READY 0x1u
#define GTEL_ZE_DEVICE_LOST 0x70000001u
#define GTEL_ZE_OUT_OF_HOST_MEMORY 0x70000002u
#define GTEL_ZE_REQUIRES_RESET 0x70000006u
#define GTEL_ZE_LOW_POWER 0x70000007u
#define GTEL_ZE_NO_PERMISSION 0x70010000u
#define GTEL_ZE_NOT_AVAILABLE 0x70010001u
#define GTEL_ZE_NO_DEPENDENCY 0x70020000u
#define GTEL_ZE_UNINITIALIZED 0x78000001u
#define GTEL_ZE_UNSUPPORTED_VERSION 0x78000002u
#define GTEL_ZE_UNSUPPORTED_FEATURE 0x78000003u
#define GTEL_ZE_INVALID_ARGUMENT 0x78000004u
#define GTEL_ZE_NULL_HANDLE 0x78000005u
#define GTEL_ZE_IN_USE 0x78000006u
#define GTEL_ZE_NULL_POINTER 0x78000007u
#define GTEL_ZE_INVALID_SIZE 0x78000008u
#define GTEL_ZE_INVALID_ENUMERATION 0x7800000cu
#define GTEL_ZE_UNSUPPORTED_ENUMERATION 0x7800000du
#define GTEL_ZE_SURVIVABILITY 0x78000020u
#define GTEL_ZE_UNKNOWN 0x7ffffffeu

/* zes_structure_type_t: the first word of most structures. */
enum {
    GTEL_ZES_TYPE_DEVICE_PROPERTIES = 0x1,
    GTEL_ZES_TYPE_PCI_PROPERTIES = 0x2,
    GTEL_ZES_TYPE_FABRIC_PORT_PROPERTIES = 0x6,
    GTEL_ZES_TYPE_FAN_PROPERTIES = 0x7,
    GTEL_ZES_TYPE_FREQ_PROPERTIES = 0x9,
    GTEL_ZES_TYPE_MEM_PROPERTIES = 0xb,
    GTEL_ZES_TYPE_POWER_PROPERTIES = 0xd,
    GTEL_ZES_TYPE_RAS_PROPERTIES = 0xf,
    GTEL_ZES_TYPE_TEMP_PROPERTIES = 0x14,
    GTEL_ZES_TYPE_DEVICE_STATE = 0x15,
    GTEL_ZES_TYPE_PROCESS_STATE = 0x16,
    GTEL_ZES_TYPE_PCI_STATE = 0x17,
    GTEL_ZES_TYPE_FABRIC_PORT_STATE = 0x19,
    GTEL_ZES_TYPE_FREQ_STATE = 0x1b,
    GTEL_ZES_TYPE_MEM_STATE = 0x1e,
    GTEL_ZES_TYPE_RAS_STATE = 0x22,
    GTEL_ZES_TYPE_ECC_PROPERTIES = 0x26,
    GTEL_ZES_TYPE_POWER_LIMIT_EXT = 0x27,
    GTEL_ZES_TYPE_POWER_EXT_PROPERTIES = 0x28,
    GTEL_ZES_TYPE_FABRIC_PORT_ERRORS = 0x2a,
    GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES = 0x2d,
    GTEL_ZES_TYPE_MEM_COUNTER_BITS = 0x20002,
    GTEL_ZES_TYPE_SUBDEVICE = 0x20004
};

/* ze_device_type_t */
enum { GTEL_ZE_DEVICE_GPU = 1 };
/* zes_repair_status_t */
enum { GTEL_ZES_REPAIR_NOT_PERFORMED = 1, GTEL_ZES_REPAIR_PERFORMED };
/* zes_device_ecc_state_t, since 1.4 */
enum { GTEL_ZES_ECC_ENABLED = 1, GTEL_ZES_ECC_DISABLED };
/* zes_freq_domain_t */
enum { GTEL_ZES_FREQ_GPU, GTEL_ZES_FREQ_MEMORY, GTEL_ZES_FREQ_MEDIA };
/* zes_freq_throttle_reason_flag_t */
enum {
    GTEL_ZES_THROTTLE_AVE_PWR_CAP = 0x1,
    GTEL_ZES_THROTTLE_BURST_PWR_CAP = 0x2,
    GTEL_ZES_THROTTLE_CURRENT_LIMIT = 0x4,
    GTEL_ZES_THROTTLE_THERMAL_LIMIT = 0x8,
    GTEL_ZES_THROTTLE_PSU_ALERT = 0x10,
    GTEL_ZES_THROTTLE_HW_RANGE = 0x40,
    GTEL_ZES_THROTTLE_VOLTAGE = 0x80, /* this one and those behind it: since 1.15 */
    GTEL_ZES_THROTTLE_THERMAL = 0x100,
    GTEL_ZES_THROTTLE_POWER = 0x200
};
/* zes_power_domain_t */
enum {
    GTEL_ZES_POWER_UNKNOWN,
    GTEL_ZES_POWER_CARD,
    GTEL_ZES_POWER_PACKAGE,
    GTEL_ZES_POWER_STACK,
    GTEL_ZES_POWER_MEMORY,
    GTEL_ZES_POWER_GPU
};
/* zes_power_source_t */
enum { GTEL_ZES_SOURCE_BATTERY = 2 };
/* zes_power_level_t */
enum {
    GTEL_ZES_LEVEL_UNKNOWN,
    GTEL_ZES_LEVEL_SUSTAINED,
    GTEL_ZES_LEVEL_BURST,
    GTEL_ZES_LEVEL_PEAK,
    GTEL_ZES_LEVEL_INSTANTANEOUS
};
/* zes_limit_unit_t */
enum { GTEL_ZES_UNIT_CURRENT = 1, GTEL_ZES_UNIT_POWER };
/* zes_temp_sensors_t */
enum {
    GTEL_ZES_TEMP_GLOBAL,
    GTEL_ZES_TEMP_GPU,
    GTEL_ZES_TEMP_MEMORY,
    GTEL_ZES_TEMP_GLOBAL_MIN,
    GTEL_ZES_TEMP_GPU_MIN,
    GTEL_ZES_TEMP_MEMORY_MIN,
    GTEL_ZES_TEMP_BOARD,
    GTEL_ZES_TEMP_BOARD_MIN,
    GTEL_ZES_TEMP_VOLTAGE_REGULATOR
};
/* zes_mem_loc_t */
enum { GTEL_ZES_MEM_DEVICE = 1 };
/* zes_mem_health_t */
enum {
    GTEL_ZES_MEM_HEALTH_OK = 1,
    GTEL_ZES_MEM_HEALTH_DEGRADED,
    GTEL_ZES_MEM_HEALTH_CRITICAL,
    GTEL_ZES_MEM_HEALTH_REPLACE
};
/* zes_ras_error_cat_t, zes_ras_error_category_exp_t */
enum { GTEL_ZES_RAS_RESET };
/* zes_ras_error_type_t */
enum { GTEL_ZES_RAS_CORRECTABLE, GTEL_ZES_RAS_UNCORRECTABLE };
/* zes_fabric_port_status_t */
enum {
    GTEL_ZES_PORT_UNKNOWN,
    GTEL_ZES_PORT_HEALTHY,
    GTEL_ZES_PORT_DEGRADED,
    GTEL_ZES_PORT_FAILED,
    GTEL_ZES_PORT_DISABLED
};
/* zes_fan_speed_units_t */
enum { GTEL_ZES_FAN_RPM };

enum {
    GTEL_ZES_STRING = 64,        /* ZES_STRING_PROPERTY_SIZE */
    GTEL_ZES_UUID = 16,          /* ZES_MAX_UUID_SIZE, ZE_MAX_DEVICE_UUID_SIZE */
    GTEL_ZES_NAME = 256,         /* ZE_MAX_DEVICE_NAME, ZES_MAX_FABRIC_PORT_MODEL_SIZE */
    GTEL_ZES_RAS_CATEGORIES = 7, /* ZES_MAX_RAS_ERROR_CATEGORY_COUNT */
    GTEL_ZES_RAS_ROOM = 14       /* revisions 1.5.17 to 1.6.0 had 10 categories: room for more */
};

/* The beginning of most structures. next: NULL, or a structure that is chained to it. */
struct gtel_zes_head {
    uint32_t type;
    void *next;
};

/* ze_device_properties_t; MHz, bytes, nanoseconds */
struct gtel_ze_device_properties {
    struct gtel_zes_head head;
    uint32_t device_type;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t flags;
    uint32_t subdevice_id;
    uint32_t core_clock;
    uint64_t max_allocation;
    uint32_t max_contexts;
    uint32_t max_priority;
    uint32_t threads_per_eu;
    uint32_t simd_width;
    uint32_t eus_per_subslice;
    uint32_t subslices_per_slice;
    uint32_t slices;
    uint64_t timer_resolution;
    uint32_t timestamp_bits;
    uint32_t kernel_timestamp_bits;
    uint8_t uuid[GTEL_ZES_UUID];
    char name[GTEL_ZES_NAME];
};

/* zes_device_properties_t */
struct gtel_zes_device_properties {
    struct gtel_zes_head head;
    struct gtel_ze_device_properties core;
    uint32_t subdevices; /* 0: a GPU of one tile */
    char serial[GTEL_ZES_STRING];
    char board[GTEL_ZES_STRING];
    char brand[GTEL_ZES_STRING];
    char model[GTEL_ZES_STRING];
    char vendor[GTEL_ZES_STRING];
    char driver_version[GTEL_ZES_STRING];
};

/* zes_device_ext_properties_t, since 1.7: chained to the former */
struct gtel_zes_device_ext_properties {
    struct gtel_zes_head head;
    uint8_t uuid[GTEL_ZES_UUID];
    uint32_t device_type;
    uint32_t flags;
};

/* zes_uuid_t, since 1.7 */
struct gtel_zes_uuid {
    uint8_t id[GTEL_ZES_UUID];
};

/* zes_subdevice_exp_properties_t, since 1.9 */
struct gtel_zes_subdevice {
    struct gtel_zes_head head;
    uint32_t id;
    struct gtel_zes_uuid uuid;
};

/* zes_device_state_t */
struct gtel_zes_device_state {
    struct gtel_zes_head head;
    uint32_t reset;    /* bits: why a reset is needed */
    uint32_t repaired; /* of the hardware by itself, at the last reset */
};

/* zes_process_state_t: bytes; engines are bits of zes_engine_type_flag_t */
struct gtel_zes_process_state {
    struct gtel_zes_head head;
    uint32_t pid;
    uint64_t memory;
    uint64_t shared;
    uint32_t engines;
};

/* zes_device_ecc_properties_t, since 1.4 */
struct gtel_zes_ecc_properties {
    struct gtel_zes_head head;
    uint32_t current;
    uint32_t pending;
    uint32_t action; /* what makes the pending state the current one */
};

/* zes_pci_speed_t: -1 is unknown; bytes per second of all lanes in one direction */
struct gtel_zes_pci_speed {
    int32_t gen;
    int32_t width;
    int64_t max_bandwidth;
};

/* zes_pci_properties_t; the address is zes_pci_address_t */
struct gtel_zes_pci_properties {
    struct gtel_zes_head head;
    uint32_t domain;
    uint32_t bus;
    uint32_t device;
    uint32_t function;
    struct gtel_zes_pci_speed max_speed;
    uint8_t has_bandwidth;
    uint8_t has_packets;
    uint8_t has_replays;
};

/* zes_pci_state_t */
struct gtel_zes_pci_state {
    struct gtel_zes_head head;
    uint32_t status;
    uint32_t quality_issues;
    uint32_t stability_issues;
    struct gtel_zes_pci_speed speed;
};

/* zes_pci_stats_t: microseconds, bytes */
struct gtel_zes_pci_stats {
    uint64_t timestamp;
    uint64_t replays;
    uint64_t packets;
    uint64_t rx;
    uint64_t tx;
    struct gtel_zes_pci_speed speed;
};

/* zes_freq_properties_t: MHz */
struct gtel_zes_freq_properties {
    struct gtel_zes_head head;
    uint32_t type;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    uint8_t can_control;
    uint8_t has_throttle_event;
    double min;
    double max;
};

/* zes_freq_range_t: MHz, -1 is unknown */
struct gtel_zes_freq_range {
    double min;
    double max;
};

/* zes_freq_state_t: volts and MHz, -1 is unknown */
struct gtel_zes_freq_state {
    struct gtel_zes_head head;
    double voltage;
    double request;
    double tdp;
    double efficient;
    double actual;
    uint32_t throttle_reasons;
};

/* zes_freq_throttle_time_t: microseconds */
struct gtel_zes_throttle_time {
    uint64_t throttled;
    uint64_t timestamp;
};

/* zes_power_properties_t: milliwatts, -1 is unknown */
struct gtel_zes_power_properties {
    struct gtel_zes_head head;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    uint8_t can_control;
    uint8_t has_threshold;
    int32_t default_limit;
    int32_t min_limit;
    int32_t max_limit;
};

/* zes_power_ext_properties_t, since 1.4: chained to the former */
struct gtel_zes_power_ext_properties {
    struct gtel_zes_head head;
    uint32_t domain;
    void *default_limit; /* NULL, or a zes_power_limit_ext_desc_t to fill */
};

/* zes_power_energy_counter_t: microjoules, microseconds */
struct gtel_zes_energy {
    uint64_t energy;
    uint64_t timestamp;
};

/* zes_power_limit_ext_desc_t: milliwatts or milliamperes, -1 is unknown; since 1.4 */
struct gtel_zes_limit_ext {
    struct gtel_zes_head head;
    uint32_t level;
    uint32_t source;
    uint32_t unit;
    uint8_t is_enabled_locked;
    uint8_t is_enabled;
    uint8_t is_interval_locked;
    int32_t interval;
    uint8_t is_limit_locked;
    int32_t limit;
};

/* zes_power_sustained_limit_t, zes_power_burst_limit_t, zes_power_peak_limit_t: milliwatts */
struct gtel_zes_limit_sustained {
    uint8_t is_enabled;
    int32_t power;
    int32_t interval;
};
struct gtel_zes_limit_burst {
    uint8_t is_enabled;
    int32_t power;
};
struct gtel_zes_limit_peak {
    int32_t power_ac;
    int32_t power_dc;
};

/* zes_temp_properties_t: degrees Celsius, -1 is unknown */
struct gtel_zes_temp_properties {
    struct gtel_zes_head head;
    uint32_t type;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    double max;
    uint8_t has_critical;
    uint8_t has_threshold1;
    uint8_t has_threshold2;
};

/* zes_mem_properties_t: bytes; 0 and -1 are unknown */
struct gtel_zes_mem_properties {
    struct gtel_zes_head head;
    uint32_t type;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    uint32_t location;
    uint64_t physical_size;
    int32_t bus_width;
    int32_t channels;
};

/*
 * zes_mem_bandwidth_counter_bits_exp_properties_t, since 1.9.1 of the headers: chained to the
 * former in zesMemoryGetProperties. Intel's driver lists it and leaves it as it is
 * (sysman/telemetry.c).
 */
struct gtel_zes_mem_counter_bits {
    struct gtel_zes_head head;
    uint32_t bits;
};

/* zes_mem_state_t: bytes */
struct gtel_zes_mem_state {
    struct gtel_zes_head head;
    uint32_t health;
    uint64_t free;
    uint64_t size;
};

/* zes_mem_bandwidth_t: bytes, bytes per second, microseconds */
struct gtel_zes_mem_bandwidth {
    uint64_t read;
    uint64_t write;
    uint64_t max;
    uint64_t timestamp;
};

/* zes_ras_properties_t */
struct gtel_zes_ras_properties {
    struct gtel_zes_head head;
    uint32_t type;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
};

/* zes_ras_state_t, with room for what drivers of some revisions write behind it */
struct gtel_zes_ras_state {
    struct gtel_zes_head head;
    uint64_t category[GTEL_ZES_RAS_ROOM];
};

/* zes_ras_state_exp_t, since 1.7.9 */
struct gtel_zes_ras_state_exp {
    uint32_t category;
    uint64_t count;
};

/* zes_fabric_port_id_t */
struct gtel_zes_port_id {
    uint32_t fabric;
    uint32_t attach;
    uint8_t number;
};

/* zes_fabric_port_speed_t: bits per second of one lane; -1 is unknown */
struct gtel_zes_port_speed {
    int64_t bit_rate;
    int32_t width;
};

/* zes_fabric_port_properties_t */
struct gtel_zes_port_properties {
    struct gtel_zes_head head;
    char model[GTEL_ZES_NAME];
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    struct gtel_zes_port_id id;
    struct gtel_zes_port_speed max_rx;
    struct gtel_zes_port_speed max_tx;
};

/* zes_fabric_port_state_t */
struct gtel_zes_port_state {
    struct gtel_zes_head head;
    uint32_t status;
    uint32_t quality_issues;
    uint32_t failure_reasons;
    struct gtel_zes_port_id remote;
    struct gtel_zes_port_speed rx;
    struct gtel_zes_port_speed tx;
};

/* zes_fabric_port_throughput_t: microseconds, bytes */
struct gtel_zes_port_throughput {
    uint64_t timestamp;
    uint64_t rx;
    uint64_t tx;
};

/* zes_fabric_port_error_counters_t, since 1.5 */
struct gtel_zes_port_errors {
    struct gtel_zes_head head;
    uint64_t link_failures;
    uint64_t firmware_communication;
    uint64_t firmware;
    uint64_t link_degrades;
};

/* zes_fan_properties_t: bits of modes and units, -1 is unknown */
struct gtel_zes_fan_properties {
    struct gtel_zes_head head;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
    uint8_t can_control;
    uint32_t modes;
    uint32_t units;
    int32_t max_rpm;
    int32_t max_points;
};

/*
 * Shapes: parameters that many calls share; of `get` and `get_list`, what they write. Every call
 * returns a result code. handle is of a device or of a part of one.
 */
#define GTEL_ZES_PARAMS_init(type) (uint32_t flags)
#define GTEL_ZES_PARAMS_drivers(type) (uint32_t * count, type ret)
#define GTEL_ZES_PARAMS_list(type) (void *handle, uint32_t *count, type ret)
#define GTEL_ZES_PARAMS_get(type) (void *handle, type ret)
#define GTEL_ZES_PARAMS_get_list(type) (void *handle, uint32_t *count, type ret)
#define GTEL_ZES_PARAMS_limits(type)                                                               \
    (void *handle, type ret, struct gtel_zes_limit_burst *burst, struct gtel_zes_limit_peak *peak)
#define GTEL_ZES_PARAMS_ras(type) (void *handle, uint8_t clear, type ret)
#define GTEL_ZES_PARAMS_fan(type) (void *handle, uint32_t units, type ret)

/* The calls as a table of typed pointers; a call that the loader lacks is NULL. */
struct gtel_zes_calls {
#define GTEL_ZES_SYM(name, need, shape, type) uint32_t(*name) GTEL_ZES_PARAMS_##shape(type);
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
};

#endif
