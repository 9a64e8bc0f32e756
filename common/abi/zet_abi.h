/* SPDX-License-Identifier: MIT */
/*
 * Level Zero's binary interface for metrics, as far as we call it: structures, functions, and what
 * is needed of the core API to get there.
 *
 * Written from the public specification (oneAPI Level Zero, core and tools programming guide and
 * API; the item's name there stands at each item) and valid for revisions 1.3 to 1.17 on 64-bit
 * Linux and Windows. The vendor's headers are not used: tests/abi compares with them where they are
 * installed. Result codes, heads and device properties are those of zes_abi.h. The calls themselves
 * are listed in zet_syms.def, by the shapes at the end.
 */
#ifndef GTEL_ABI_ZET_ABI_H
#define GTEL_ABI_ZET_ABI_H

#include "abi/zes_abi.h"

#include <stddef.h>

/* ze_result_t: success, and some of the data is lost (zetMetricStreamerReadData) */
#define GTEL_ZET_DROPPED_DATA 0x70020001u

/* ze_structure_type_t, zet_structure_type_t: the first word of structures */
enum {
    GTEL_ZE_TYPE_DEVICE_PROPERTIES = 0x3,
    GTEL_ZE_TYPE_CONTEXT_DESC = 0xd,
    GTEL_ZE_TYPE_PCI_EXT_PROPERTIES = 0x10008,
    GTEL_ZET_TYPE_GROUP_PROPERTIES = 0x1,
    GTEL_ZET_TYPE_METRIC_PROPERTIES = 0x2,
    GTEL_ZET_TYPE_STREAMER_DESC = 0x3
};

/* zet_metric_group_sampling_type_flag_t */
enum { GTEL_ZET_TIME_BASED = 0x2 };
/* zet_metric_type_t. The address of an instruction was 9 in revisions 1.11.0 to 1.11.4. */
enum { GTEL_ZET_METRIC_IP = 0x7ffffffe };
/* zet_value_type_t */
enum {
    GTEL_ZET_UINT32,
    GTEL_ZET_UINT64,
    GTEL_ZET_FLOAT32,
    GTEL_ZET_FLOAT64,
    GTEL_ZET_BOOL8,
    GTEL_ZET_STRING, /* this one and those behind it: since 1.6.10 */
    GTEL_ZET_UINT8,
    GTEL_ZET_UINT16
};
/* zet_metric_group_calculation_type_t */
enum { GTEL_ZET_METRIC_VALUES = 0 };
/* ZET_MAX_METRIC_GROUP_NAME, …_DESCRIPTION, ZET_MAX_METRIC_NAME, …_COMPONENT, …_RESULT_UNITS */
enum { GTEL_ZET_NAME = 256 };

/* ze_context_desc_t */
struct gtel_ze_context_desc {
    struct gtel_zes_head head;
    uint32_t flags;
};

/* ze_pci_address_ext_t and ze_pci_speed_ext_t in ze_pci_ext_properties_t */
struct gtel_ze_pci_ext_properties {
    struct gtel_zes_head head;
    uint32_t domain;
    uint32_t bus;
    uint32_t device;
    uint32_t function;
    struct gtel_zes_pci_speed max_speed;
};

/* zet_metric_group_properties_t */
struct gtel_zet_group_properties {
    struct gtel_zes_head head;
    char name[GTEL_ZET_NAME];
    char description[GTEL_ZET_NAME];
    uint32_t sampling_type; /* bits */
    uint32_t domain;        /* groups of one domain exclude each other */
    uint32_t metrics;
};

/* zet_metric_properties_t */
struct gtel_zet_metric_properties {
    struct gtel_zes_head head;
    char name[GTEL_ZET_NAME];
    char description[GTEL_ZET_NAME];
    char component[GTEL_ZET_NAME];
    uint32_t tier;
    uint32_t metric_type;
    uint32_t result_type;
    char units[GTEL_ZET_NAME];
};

/* zet_metric_streamer_desc_t: reports, nanoseconds; the driver writes what it really uses */
struct gtel_zet_streamer_desc {
    struct gtel_zes_head head;
    uint32_t notify_every;
    uint32_t period;
};

/* zet_value_t in zet_typed_value_t */
struct gtel_zet_value {
    uint32_t type;
    union {
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        uint8_t b8;
    } is;
};

/*
 * Shapes beyond those of zes_abi.h, written in the same way. GTEL_ZET_PARAMS_list, _get … are those
 * of the same name there; handle is of whatever the call is about.
 */
#define GTEL_ZET_PARAMS_init(type) GTEL_ZES_PARAMS_init(type)
#define GTEL_ZET_PARAMS_drivers(type) GTEL_ZES_PARAMS_drivers(type)
#define GTEL_ZET_PARAMS_list(type) GTEL_ZES_PARAMS_list(type)
#define GTEL_ZET_PARAMS_get(type) GTEL_ZES_PARAMS_get(type)
#define GTEL_ZET_PARAMS_one(type) (void *handle)
#define GTEL_ZET_PARAMS_context(type)                                                              \
    (void *handle, const struct gtel_ze_context_desc *desc, type ret)
#define GTEL_ZET_PARAMS_activate(type) (void *context, void *handle, uint32_t count, type group)
#define GTEL_ZET_PARAMS_open(type)                                                                 \
    (void *context, void *handle, void *group, struct gtel_zet_streamer_desc *desc, void *event,   \
     type ret)
#define GTEL_ZET_PARAMS_read(type) (void *handle, uint32_t max_reports, size_t *size, type ret)
#define GTEL_ZET_PARAMS_calculate(type)                                                            \
    (void *handle, uint32_t kind, size_t size, const uint8_t *raw, uint32_t *count, type ret)
/* sets: a tile each; counts: how many of all values are each one's */
#define GTEL_ZET_PARAMS_calculate_sets(type)                                                       \
    (void *handle, uint32_t kind, size_t size, const uint8_t *raw, uint32_t *sets,                 \
     uint32_t *count, uint32_t *counts, type ret)

/* The calls as a table of typed pointers; a call that the loader lacks is NULL. */
struct gtel_zet_calls {
#define GTEL_ZET_SYM(name, need, shape, type) uint32_t(*name) GTEL_ZET_PARAMS_##shape(type);
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
};

#endif
