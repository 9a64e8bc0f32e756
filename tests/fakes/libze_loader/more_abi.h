/* SPDX-License-Identifier: MIT */
/*
 * What of Level Zero Sysman's binary interface the player has beyond abi/zes_abi.h: the calls of
 * more_syms.def, which pyzes makes and we do not.
 */
#ifndef GTEL_TESTS_FAKES_MORE_ABI_H
#define GTEL_TESTS_FAKES_MORE_ABI_H

#include "abi/zes_abi.h"

/* zes_structure_type_t */
enum { GTEL_ZES_TYPE_ENGINE_PROPERTIES = 0x5, GTEL_ZES_TYPE_TEMP_CONFIG = 0x23 };

/* zes_engine_properties_t */
struct gtel_zes_engine_properties {
    struct gtel_zes_head head;
    uint32_t type;
    uint8_t on_subdevice;
    uint32_t subdevice_id;
};

/* zes_engine_stats_t: microseconds or ticks of the GPU, both the same */
struct gtel_zes_engine_stats {
    uint64_t active;
    uint64_t timestamp;
};

/* zes_temp_threshold_t: degrees Celsius; whether an event is sent on getting warmer, or colder */
struct gtel_zes_temp_threshold {
    uint8_t on_rise;
    uint8_t on_fall;
    double celsius;
};

/* zes_temp_config_t: threshold1 and threshold2 */
struct gtel_zes_temp_config {
    struct gtel_zes_head head;
    uint8_t on_critical;
    struct gtel_zes_temp_threshold threshold[2];
};

#define GTEL_ZES_PARAMS_by_uuid(type)                                                              \
    (void *driver, struct gtel_zes_uuid uuid, type ret, uint8_t *on_subdevice,                     \
     uint32_t *subdevice_id)
#define GTEL_ZES_ARGS_by_uuid , driver, uuid, ret, on_subdevice, subdevice_id

#endif
