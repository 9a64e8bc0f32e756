/* SPDX-License-Identifier: MIT */
/*
 * State of the Sysman source: GPUs, their parts by family, and what each part last answered.
 *
 * The headers in layers: state.h; ask.h (calls, result codes, readings, what Level Zero lists);
 * rows.h (the table of what is read, and the files that read it).
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_STATE_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_STATE_H

#include "abi/zes_abi.h"
#include "sources/level_zero/answer.h"
#include "sources/level_zero/gts.h"
#include "sources/level_zero/level_zero.h"
#include "tables/intel_names.h"

enum {
    GTEL_SYSMAN_PARTS_MAX = 64, /* of one family; more are dropped */
    GTEL_SYSMAN_ROWS_MAX = 32,  /* of the table */
    GTEL_SYSMAN_ASKS = 5,       /* rows of one family, at most */
    GTEL_SYSMAN_LEVELS = 5,     /* of power limits */
    GTEL_SYSMAN_NAME = 32
};

enum gtel_sysman_family {
    GTEL_SYSMAN_PCI, /* the device itself */
    GTEL_SYSMAN_FREQUENCY,
    GTEL_SYSMAN_POWER,
    GTEL_SYSMAN_TEMPERATURE,
    GTEL_SYSMAN_MEMORY,
    GTEL_SYSMAN_RAS,
    GTEL_SYSMAN_FABRIC,
    GTEL_SYSMAN_FAN,
    GTEL_SYSMAN_FAMILIES
};

/* An energy counter behind plausibility checks: see power.c. */
struct gtel_sysman_energy {
    bool has_slept;    /* since the last one: the counter may have restarted */
    unsigned rejected; /* impossible steps one after another */
    uint64_t last_uj;
    uint64_t last_us;  /* 0: there was none */
    uint64_t total_uj; /* of all steps that are known, and the device's time over these */
    uint64_t total_us;
};

/* Time at the peak bandwidth, and the device's time over which it was counted; known steps only. */
struct gtel_sysman_bandwidth {
    uint64_t last_read;
    uint64_t last_write;
    uint64_t last_us;
    double peak_s;
    uint64_t total_us;
};

enum gtel_sysman_use {
    GTEL_SYSMAN_UNDESCRIBED, /* its properties are not known yet */
    GTEL_SYSMAN_USED,
    GTEL_SYSMAN_SKIPPED /* nothing that we know, or the same as others */
};

/* What one row of a family answers: see rows.h. */
union gtel_sysman_answer {
    struct gtel_zes_device_state device_state;
    struct gtel_zes_ecc_properties ecc;
    struct gtel_zes_pci_state pci_state;
    struct gtel_zes_pci_stats pci_stats;
    struct gtel_zes_freq_range range;
    struct gtel_zes_freq_state clock;
    struct gtel_zes_throttle_time throttle;
    struct gtel_zes_energy energy;
    struct gtel_zes_mem_state memory_state;
    struct gtel_zes_mem_bandwidth bandwidth;
    struct gtel_zes_port_state port_state;
    struct gtel_zes_port_throughput port_rate;
    struct gtel_zes_port_errors port_errors;
    double celsius;
    int32_t speed;
    uint8_t is_available;
};

/* One handle of a family. */
struct gtel_sysman_part {
    void *handle;
    enum gtel_sysman_use use;
    uint32_t number;  /* position in the driver's list */
    uint32_t type;    /* in the family's own enumeration; of memory, its location */
    bool is_counting; /* counters that are 0 as long as nothing feeds them have moved */
    uint32_t tile;
    char name[GTEL_SYSMAN_NAME]; /* first dimension */
    char tile_text[12];          /* empty when it belongs to no tile: gtel_sysman_on_tile */
    uint32_t described;          /* the last result code of its properties */
    struct {
        uint32_t code; /* the last one; GTEL_ZE_NOT_ASKED at first */
        union gtel_sysman_answer got;
    } ask[GTEL_SYSMAN_ASKS]; /* by row of its family */
    union {
        struct {
            struct gtel_sysman_energy energy;
            /* By zes_power_level_t, watts and amperes; 0: none. */
            double limit[GTEL_SYSMAN_LEVELS][2];
        } power;
        struct {
            uint32_t reasons_seen;
            double hardware_min_mhz;
            double hardware_max_mhz;
        } frequency;
        struct {
            double max; /* not a number, or negative: unknown */
        } temperature;
        struct {
            struct gtel_sysman_bandwidth bandwidth;
            uint32_t counter_bits; /* 0: unknown */
        } memory;
        struct {
            bool has_bandwidth;
            bool has_packets;
        } pci;
        struct {
            bool has_resets; /* has ever reported them */
            uint64_t resets; /* UINT64_MAX: not reported in this sample */
        } ras;
    } is;
};

/* Whether it is one of a tile, not of the card. */
static inline bool gtel_sysman_on_tile(const struct gtel_sysman_part *part)
{
    return part->tile_text[0] != '\0';
}

struct gtel_sysman_list {
    struct gtel_backoff retry; /* of the enumeration and of what describes its parts */
    uint32_t code;             /* of the enumeration */
    struct gtel_sysman_part *part;
    size_t n;
};

enum gtel_sysman_stage {
    GTEL_SYSMAN_NEW,
    GTEL_SYSMAN_PREPARED,  /* what is known without Level Zero is filled in */
    GTEL_SYSMAN_IDENTIFIED /* and its UUIDs are known, as far as they can be */
};

struct gtel_sysman_gpu {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    void *handle;           /* NULL: Level Zero does not know the card, or has not been asked */
    struct gtel_zes_uuid uuid;
    uint32_t subdevices; /* tiles; 0: a GPU of one */
    enum gtel_sysman_stage stage;
    enum gtel_intel_family hardware;
    bool has_processes;  /* nobody else reports them */
    bool has_bad_energy; /* of card and package: the driver may read it where the kernel does */

    uint64_t lost_ns;     /* since when it answers nothing; 0: it answers */
    uint64_t lost_due_ns; /* asked again then */
    uint32_t lost_code;
    bool has_worked;
    bool is_failing; /* has been logged */
    bool is_denied;  /* the hint about rights has been logged */

    uint64_t energy_ns; /* the last reading of its energy; 0: none */

    uint64_t delay_ns;      /* until it falls asleep by itself; 0: it does not */
    struct gtel_gts gts;    /* whether it works */
    uint64_t gts_ns;        /* the last reading of them; 0: none */
    uint64_t idle_since_ns; /* 0: it is not idle */
    uint64_t rest_ns;       /* it is left alone until then */

    struct gtel_sysman_list list[GTEL_SYSMAN_FAMILIES];
    struct gtel_backoff row[GTEL_SYSMAN_ROWS_MAX];
};

/* Arc A and Flex. */
static inline bool gtel_sysman_is_dg2(const struct gtel_sysman_gpu *gpu)
{
    return gpu->hardware == GTEL_INTEL_DG2 || gpu->hardware == GTEL_INTEL_FLEX;
}

struct gtel_sysman {
    struct gtel_level_zero lz;
    struct gtel_zes_calls call;
    bool is_legacy; /* started by zeInit */
};

#endif
