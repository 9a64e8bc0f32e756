/* SPDX-License-Identifier: MIT */
/* The table of values: which NVML call or field feeds which metric, and how often. */
#ifndef GTEL_SOURCES_NVIDIA_ROWS_H
#define GTEL_SOURCES_NVIDIA_ROWS_H

#include "base/str.h"
#include "tables/catalogue.h"

enum {
    GTEL_NVML_ROWS_MAX = 128,
    GTEL_NVML_WORDS = 12 /* numbers that one row yields: fans, or parts of a structure */
};

/* Alternatives for one value: the first that answers is used until NVML is started again. */
enum gtel_nvml_group {
    GTEL_NVML_GROUP_NONE,
    GTEL_NVML_GROUP_POWER,
    GTEL_NVML_GROUP_MEMORY,
    GTEL_NVML_GROUP_TEMPERATURE,
    GTEL_NVML_GROUP_REASONS,
    GTEL_NVML_GROUP_FANS,
    GTEL_NVML_GROUP_REPLAYS,
    GTEL_NVML_GROUP_TIME_POWER,
    GTEL_NVML_GROUP_TIME_THERMAL,
    GTEL_NVML_GROUP_TIME_BOARD,
    GTEL_NVML_GROUP_COUNT
};

/* How often a row is read. Rows of one period come in one gather, so that the others are short. */
enum gtel_nvml_period {
    GTEL_NVML_EACH_GATHER,
    GTEL_NVML_EACH_MINUTE, /* and absent in between: an old counter would be a wrong rate */
    GTEL_NVML_SETTING      /* each minute, and repeated in between */
};

/* Parameters and result of a row's call. */
enum gtel_nvml_shape {
    GTEL_NVML_SHAPE_FIELD, /* no call of its own: read together with the other fields */
    GTEL_NVML_SHAPE_U32,
    GTEL_NVML_SHAPE_U32_OF,
    GTEL_NVML_SHAPE_U32_PAIR, /* percent, and a sampling period */
    GTEL_NVML_SHAPE_U64,
    GTEL_NVML_SHAPE_U64_OF2,
    GTEL_NVML_SHAPE_U64_OF3,
    GTEL_NVML_SHAPE_DEGREES, /* an unsigned number that the vendor means as signed degrees */
    GTEL_NVML_SHAPE_PSTATE,
    GTEL_NVML_SHAPE_UTILIZATION, /* words: GPU, memory */
    GTEL_NVML_SHAPE_MEMORY,      /* words: total, used */
    GTEL_NVML_SHAPE_MEMORY_V2,   /* words: total, used, reserved */
    GTEL_NVML_SHAPE_TEMPERATURE_V,
    GTEL_NVML_SHAPE_MARGIN,
    GTEL_NVML_SHAPE_VIOLATION,
    GTEL_NVML_SHAPE_FANS, /* a word per fan */
    GTEL_NVML_SHAPE_FANS_RPM,
    GTEL_NVML_SHAPE_ECC_MODE,  /* words: enabled; a change is pending */
    GTEL_NVML_SHAPE_SRAM,      /* words: the structure's, in its order */
    GTEL_NVML_SHAPE_HISTOGRAM, /* the same */
    GTEL_NVML_SHAPE_REPAIR,    /* words: memory, texture processing cluster */
    GTEL_NVML_SHAPE_ENCODER,   /* words: sessions, frames per second, microseconds */
    GTEL_NVML_SHAPE_CAPTURE,   /* the same */
    GTEL_NVML_SHAPE_FABRIC,    /* words: ready; health, if known */
    GTEL_NVML_SHAPE_VGPUS,
    GTEL_NVML_SHAPE_LICENCES /* words: one is held */
};

/* What readings an answer makes. */
enum gtel_nvml_form {
    GTEL_NVML_FORM_VALUE, /* value × scale */
    GTEL_NVML_FORM_PARTS, /* each word is one of the row's parts */
    GTEL_NVML_FORM_UTILIZATION,
    GTEL_NVML_FORM_MEMORY,
    GTEL_NVML_FORM_MEMORY_POWER,
    GTEL_NVML_FORM_REASONS,
    GTEL_NVML_FORM_FANS,
    GTEL_NVML_FORM_LINK, /* as VALUE, of a GPU with a PCIe link */
    GTEL_NVML_FORM_BAR1,
    GTEL_NVML_FORM_RECOVERY,
    GTEL_NVML_FORM_PCIE /* none: pcie.c counts these */
};

/* What one word of an answer is. */
struct gtel_nvml_part {
    enum gtel_metric metric;
    struct gtel_str dim[2];
    double scale; /* base unit = word × scale */
};

/* One call or field, and the metrics that it yields. */
struct gtel_nvml_row {
    const char *call; /* for messages */
    size_t offset;    /* of the call in struct gtel_nvml_calls */
    enum gtel_nvml_shape shape;
    enum gtel_nvml_form form;
    unsigned of;   /* clock type, threshold, field id … */
    unsigned of_2; /* scope of a field, ECC counter */
    unsigned of_3; /* place of ECC errors */
    enum gtel_nvml_group group;
    enum gtel_nvml_period period;
    enum gtel_metric metric;   /* or NONE: the form knows */
    enum gtel_metric headline; /* of the whole GPU, where the core does not make it; or NONE */
    struct gtel_str dim[2];
    double scale;                      /* base unit = value × scale */
    const struct gtel_nvml_part *part; /* one per word; with FORM_PARTS */
    bool is_of_instance;               /* a MIG instance answers it, for itself */
    unsigned since;  /* driver from which on it means this (GTEL_NVML_DRIVER); 0: any */
    unsigned before; /* and from which on it does not; 0: none */
};

extern const struct gtel_nvml_row gtel_nvml_rows[];
extern const size_t gtel_nvml_rows_n; /* at most GTEL_NVML_ROWS_MAX */

#endif
