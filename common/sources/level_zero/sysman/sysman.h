/* SPDX-License-Identifier: MIT */
/*
 * Inside of the Sysman source: its state, its table of questions, and the parts that work on them.
 *
 * sysman.c is the source; library.c opens and starts Level Zero; find.c joins its devices to the
 * kernel's cards by PCI address and lists their parts; pass.c asks by a table and decides what a
 * result code means; identity.c tells UUIDs; power.c, figures.c, engines.c, links.c and state.c
 * turn answers into readings; diagnose.c says what is missing.
 *
 * Calls that only set something are never made. Of those that read, these are not, since they tell
 * nothing new or nothing true (the specification's text; compute-runtime for what its driver does):
 *
 * - zesPowerGetUsage sleeps 100 ms in each call, and its momentary power of the chip is 0: power
 *   comes from the energy counters. zesDeviceGetCardPowerDomain is often unsupported where the list
 *   of domains has it. zesPowerGetEnergyThreshold: no driver supports one.
 * - zesFrequencyGetAvailableClocks lists the steps between the lowest and the highest clock, which
 *   zesFrequencyGetProperties tells.
 * - zesEngineGetActivityExt, by virtual function, is unsupported.
 * - zesDeviceEccConfigurable says what may be set. zesRasGetConfig has thresholds of events.
 * - zesDriverEventListen blocks, and what it tells of is in the figures of the next gather.
 * - zesDevicePciGetBars: memory that the host sees is `visible_bytes`, asked of the kernel.
 *
 * Functions that call Level Zero return its result codes, the others 0 or a negative errno.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_SYSMAN_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_SYSMAN_H

#include "abi/zes_abi.h"
#include "host/dynlib.h"
#include "sources/level_zero/gts.h"
#include "sources/level_zero/renewal.h"
#include "sources/source.h"
#include "tables/intel_names.h"

enum {
    GTEL_SYSMAN_PARTS_MAX = 64, /* of one family; what a driver says beyond that is cut */
    GTEL_SYSMAN_DEVICES_MAX = 64,
    GTEL_SYSMAN_ASKS = 5,        /* questions to one part, at most */
    GTEL_SYSMAN_CATEGORIES = 16, /* kinds of errors */
    GTEL_SYSMAN_LEVELS = 5,      /* of power limits */
    GTEL_SYSMAN_NAME = 32
};

/* Success, and nothing was written or the driver says that it does not know: no code of theirs. */
#define GTEL_SYSMAN_NO_VALUE 0x6fffffffu

enum gtel_sysman_family {
    GTEL_SYSMAN_PCI, /* the device itself */
    GTEL_SYSMAN_FREQUENCY,
    GTEL_SYSMAN_POWER,
    GTEL_SYSMAN_TEMPERATURE,
    GTEL_SYSMAN_MEMORY,
    GTEL_SYSMAN_ENGINE,
    GTEL_SYSMAN_RAS,
    GTEL_SYSMAN_FABRIC,
    GTEL_SYSMAN_FAN,
    GTEL_SYSMAN_PSU,
    GTEL_SYSMAN_STANDBY,
    GTEL_SYSMAN_FAMILIES
};

/* What is known of one question. */
struct gtel_sysman_ask {
    uint64_t due_ns;   /* when to ask next */
    uint64_t pause_ns; /* how long the wait after the next failure is */
    uint64_t since_ns; /* when it failed first since it has worked; 0: it works */
    uint32_t code;     /* of the last time */
    bool was_asked;
    bool has_answered; /* with a figure, without one, or that there is none */
    bool has_worked;   /* with a figure */
};

/* An energy counter behind plausibility gates: see power.c. */
struct gtel_sysman_energy {
    bool has_last;
    bool has_slept;  /* since the last one: it may have begun anew */
    unsigned doubts; /* impossible steps one after another */
    uint64_t last_uj;
    uint64_t last_us;
    uint64_t total_uj; /* of all steps that are known, and the device's time over these */
    uint64_t total_us;
};

/*
 * Time at the peak bandwidth, and the device's time over which it was counted. Both go on by known
 * steps alone, so that a step left out is left out of both.
 */
struct gtel_sysman_bandwidth {
    bool has_last;
    uint64_t last_read;
    uint64_t last_write;
    uint64_t last_us;
    double peak_s;
    uint64_t total_us;
};

/* Time worked and time passed of an engine, behind a gate: see engines.c. */
struct gtel_sysman_activity {
    bool has_last;
    unsigned doubts; /* impossible steps one after another */
    uint64_t last_active;
    uint64_t last_timestamp;
    uint64_t last_ns; /* on our clock */
    double pace;      /* the fastest that its clock has gone: units per nanosecond; 0: not known */
    uint64_t active;  /* of all steps that are known */
    uint64_t passed;
};

/* Whether a part is asked for its figures. */
enum gtel_sysman_use {
    GTEL_SYSMAN_UNDESCRIBED, /* its properties could not be had yet */
    GTEL_SYSMAN_USED,
    GTEL_SYSMAN_LEFT_OUT /* nothing that we know, or the same as others */
};

struct gtel_sysman_part {
    void *handle;
    enum gtel_sysman_use use;
    struct gtel_sysman_ask describe; /* for its properties */
    uint32_t number;                 /* place in the driver's list */
    uint32_t type;                   /* in the family's own enumeration; of memory, its location */
    uint32_t tile;
    bool is_on_tile;
    bool is_counting;            /* counters that are 0 as long as nothing feeds them have moved */
    char name[GTEL_SYSMAN_NAME]; /* first dimension */
    char tile_text[12];          /* empty when it belongs to no tile */
    struct gtel_sysman_ask ask[GTEL_SYSMAN_ASKS];
    union {
        struct {
            struct gtel_sysman_energy energy;
            uint64_t limits_due_ns; /* limits are read once a minute and repeated */
            /* By zes_power_level_t, watts and amperes; 0: none. */
            double limit[GTEL_SYSMAN_LEVELS][2];
        } power;
        struct {
            uint32_t reasons_seen;
            bool is_withheld; /* no reason, which is not told as long as none was seen */
            uint64_t range_due_ns;
            double min_mhz;
            double max_mhz;
            double hardware_min_mhz;
            double hardware_max_mhz;
        } frequency;
        struct {
            double max;       /* degrees, or negative */
            double threshold; /* the same */
            uint64_t threshold_due_ns;
        } temperature;
        struct {
            struct gtel_sysman_bandwidth bandwidth;
            uint32_t counter_bits; /* 0: neither driver nor kernel says */
        } memory;
        struct {
            bool has_bandwidth;
            bool has_packets;
            bool has_replays;
            uint64_t state_due_ns; /* the state is read once a minute and repeated */
            int needs_reset;       /* these four: 1, 0, or -1: not known */
            int is_repaired;
            uint64_t ecc_due_ns; /* the same */
            int has_ecc;
            int is_ecc_pending;
        } pci;
        struct {
            struct gtel_sysman_activity activity;
            bool has_value;
        } engine;
        struct {
            uint64_t resets_ns; /* when it told how many last; 0: it has not */
        } ras;
        struct {
            uint32_t units;
        } fan;
        struct {
            bool has_fan;
            int32_t max_current; /* mA, or negative */
        } psu;
        struct {
            uint64_t due_ns;
            bool may_sleep;
        } standby;
    } is;
};

struct gtel_sysman_list {
    struct gtel_sysman_ask ask; /* of the enumeration */
    struct gtel_sysman_part *part;
    size_t n;
};

struct gtel_sysman_gpu {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    void *handle;           /* NULL: Level Zero does not know the card, or has not been asked */
    void *driver;           /* of the handle */
    struct gtel_zes_uuid uuid;
    uint32_t subdevices; /* tiles; 0: a GPU of one */
    bool is_prepared;    /* what its card says is filled in */
    bool is_identified;  /* its UUIDs are told, as far as they can be */
    bool is_lost;
    bool has_worked;
    bool is_failing;  /* has been logged */
    bool has_denied;  /* the hint about rights has been given */
    uint64_t lost_ns; /* asked again then */
    uint64_t lost_pause_ns;
    uint32_t failed; /* readings of the present pass */
    const char *first;
    uint32_t first_code;
    uint64_t energy_ns;     /* the last look at its energy; 0: none */
    uint64_t delay_ns;      /* until it falls asleep by itself; 0: it does not */
    uint64_t idle_since_ns; /* it has stood still at each look since; 0: it has not */
    struct gtel_gts gts;    /* looked at where clocks are not told */
    uint64_t gts_ns;        /* the last look at them; 0: none */
    uint64_t rest_ns;       /* it is left alone until then */
    enum gtel_intel_family hardware;
    bool may_hold;       /* counters that keep the GPU awake may be opened */
    bool has_processes;  /* nobody else tells of them */
    bool has_bad_energy; /* of card and package: the driver may read it where the kernel does */
    struct gtel_sysman_list list[GTEL_SYSMAN_FAMILIES];
};

enum gtel_sysman_start {
    GTEL_SYSMAN_NEW,
    GTEL_SYSMAN_NO_LIBRARY,
    GTEL_SYSMAN_FAILED,
    GTEL_SYSMAN_RUNS
};

struct gtel_sysman {
    struct gtel_card_list cards; /* env, may_wake */
    bool may_hold;               /* option XeEngines */
    struct gtel_dynlib dynlib;
    struct gtel_zes_calls call;
    enum gtel_sysman_start start;
    uint32_t start_code; /* of FAILED */
    struct gtel_renewal renewal;
    bool is_legacy;
};

/* One pass over one GPU. */
struct gtel_sysman_pass {
    struct gtel_sysman *sysman;
    struct gtel_sysman_gpu *gpu;
    struct gtel_batch *batch;
    uint64_t now;
    enum gtel_sysman_family family; /* that is asked */
    uint32_t families_lost;         /* bits: say that the GPU is lost */
    /* What becomes a figure of the whole GPU. */
    size_t still_clocks; /* were told to be 0 */
    bool is_running;     /* some clock was told not to be */
    uint64_t resets;
    size_t resets_read; /* sets of errors that have told theirs */
    bool has_resets;
};

typedef uint32_t (*gtel_sysman_read_fn)(struct gtel_sysman_pass *pass,
                                        struct gtel_sysman_part *part);

/* A question to each part of a family. */
struct gtel_sysman_row {
    const char *call; /* for messages */
    size_t offset;    /* of the call in struct gtel_zes_calls */
    size_t or_offset; /* of another one that does as well: loaders may have either */
    gtel_sysman_read_fn read;
    enum gtel_sysman_family family;
    enum gtel_measurement measurement;
};

extern const struct gtel_sysman_row gtel_sysman_rows[];
extern const size_t gtel_sysman_rows_n;
/* Which of the asks of a part a row is. */
size_t gtel_sysman_ask_of(size_t row);
/* Whether a part is asked; how many of a list are, or may still come to be. */
bool gtel_sysman_is_used(const struct gtel_sysman_part *part);
size_t gtel_sysman_wanted(const struct gtel_sysman_list *list);
/* Whether parts of that type belong to tiles: those of the card tell the same once more. */
bool gtel_sysman_has_tiles(const struct gtel_sysman_list *list, uint32_t type);
/* Whether the loader has the call at that offset of its table. */
bool gtel_sysman_has(const struct gtel_sysman *sysman, size_t offset);

/* library.c */

/*
 * Opens the loader and starts Level Zero unless that has been tried: a failed start stays so for
 * the life of the process (level zero: zeInit, zesInit). has_i915: the older way to start may work.
 */
void gtel_sysman_start_up(struct gtel_sysman *sysman, bool has_i915);
/* What a code of the start means to a user. */
const char *gtel_sysman_advice(uint32_t code);

/* find.c */

/* Looks for the devices behind cards that have none yet, and lists their parts where due. */
void gtel_sysman_find(struct gtel_sysman *sysman, struct gtel_registry *registry);
/* Lists the parts of a family where that is due. */
void gtel_sysman_list_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family);
/* The enumeration of a family, for messages. */
const char *gtel_sysman_list_name(enum gtel_sysman_family family);
/* Whether a device of Level Zero is the one at that address. */
bool gtel_sysman_is_at(const struct gtel_zes_pci_properties *got, const struct gtel_pci *pci);
/* Frees what belongs to a card: struct gtel_card_list. */
void gtel_sysman_close_gpu(const struct gtel_env *env, void *own);

/* identity.c */

/* Tells the UUIDs of a GPU that has a handle and is awake; one that sleeps waits for the next time.
 */
void gtel_sysman_identify(const struct gtel_sysman *sysman, struct gtel_registry *registry,
                          struct gtel_sysman_gpu *gpu);

/* pass.c */

/* Whether nothing more is to be asked in this pass: the GPU is lost. */
bool gtel_sysman_is_over(const struct gtel_sysman_pass *pass);
/* Asks everything that is due on one GPU. Failures are counted in the batch. */
void gtel_sysman_pass(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                      struct gtel_batch *batch);
/*
 * Energy counters that begin anew within minutes: when they want to be read again, if nobody asks
 * for them before; 0: not at all. And reads them, for the next pass to tell; may_ask: the GPU may
 * be asked now.
 */
uint64_t gtel_sysman_energy_due(const struct gtel_sysman_gpu *gpu);
void gtel_sysman_keep_energy(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                             struct gtel_batch *batch, bool may_ask);
/* Lost for so long that what is known of it here is of no use any more. */
bool gtel_sysman_is_stale(const struct gtel_sysman_gpu *gpu);
/* Decides what a result code means for a question. call: for messages. */
void gtel_sysman_settle(struct gtel_sysman_pass *pass, struct gtel_sysman_ask *ask,
                        const char *call, uint32_t code);
/* "Not on this GPU, or not for us": asked again rarely. */
bool gtel_sysman_is_permanent(uint32_t code);

/* Where a reading belongs; t_us: time on the device's clock, or 0 for ours. */
struct gtel_sysman_place {
    struct gtel_str dim[3];
    uint64_t t_us;
};
void gtel_sysman_put_u64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, uint64_t value);
void gtel_sysman_put_f64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, double value);

/* The readers of the table. */
uint32_t gtel_sysman_read_energy(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_limits(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_temperature(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_threshold(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_frequency(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_range(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_throttle(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_memory(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_bandwidth(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_engine(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_ras(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_fan(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_link(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_traffic(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_port(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_port_rate(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_port_errors(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_state(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_ecc(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_processes(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_psu(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);
uint32_t gtel_sysman_read_standby(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part);

/*
 * telemetry.c: how many bits the memory counters of a tile have, of Ponte Vecchio, as far as the
 * kernel says; 0: it does not.
 */
uint32_t gtel_sysman_counter_bits(const struct gtel_env *env, const struct gtel_drm_card *drm,
                                  uint32_t tile);
/* state.c: whether Sysman is to be asked for the processes of a card. */
bool gtel_sysman_knows_processes(const struct gtel_env *env, const struct gtel_drm_card *drm);
/* engines.c: engine classes from the engines that were just read. */
void gtel_sysman_put_engines(const struct gtel_sysman_pass *pass);
/* figures.c: resets of the whole GPU. */
void gtel_sysman_put_resets(const struct gtel_sysman_pass *pass);

/* power.c: whether the energy counters of the GPU begin anew within minutes. */
bool gtel_sysman_wraps(const struct gtel_sysman_gpu *gpu);
/* power.c: the GPU was seen asleep. */
void gtel_sysman_note_sleep(struct gtel_sysman_gpu *gpu);
/*
 * power.c: takes one sample of an energy counter; limit_w: the largest sustained limit known, 0 for
 * none. True when the counter has a value to show: total_uj at total_us.
 */
bool gtel_sysman_energy_step(struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                             uint64_t wrap_uj, double limit_w);

/* engines.c: takes one sample of an engine at a time on our clock; true when it has a value. */
bool gtel_sysman_activity_step(struct gtel_sysman_activity *activity,
                               const struct gtel_zes_engine_stats *now, uint64_t now_ns);

/* diagnose.c */
void gtel_sysman_diagnose(void *state, struct gtel_registry *registry,
                          struct gtel_findings *findings);

#endif
