/* SPDX-License-Identifier: MIT */
/*
 * How the Sysman source asks: calls that fill one structure or several, what a result code means
 * for the GPU, and readings.
 *
 * Calls that only set something are never made. Of those that read, these are not, since what they
 * report is known without them or not true (the specification; compute-runtime for its driver):
 *
 * - zesPowerGetUsage sleeps 100 ms in each call, and its momentary power of the chip is 0: power
 *   comes from the energy counters. zesDeviceGetCardPowerDomain is often unsupported where the list
 *   of domains has it. zesPowerGetEnergyThreshold: no driver supports one.
 * - zesFrequencyGetAvailableClocks lists the steps between the lowest and the highest clock, which
 *   zesFrequencyGetProperties has.
 * - zesDeviceEnumEngineGroups: Intel's driver opens the kernel's perf counters for it, which
 *   sources i915 and xe_pmu read with fewer rights, and keeps them open, so that a GPU of xe never
 *   sleeps. Under Windows sources wddm and wddm_clients have engines.
 * - zesTemperatureGetConfig and power supplies: no driver of Intel has them.
 * - zesStandbyGetMode: rc6_enable of i915, which every user may read; other drivers have none.
 * - zesDeviceEccConfigurable says what may be set. zesRasGetConfig has thresholds of events.
 * - zesDriverEventListen blocks, and its events are in the values of the next gather.
 * - zesDevicePciGetBars: memory that the host sees is `visible_bytes`, asked of the kernel.
 *
 * Functions that call Level Zero return its result codes.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ASK_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ASK_H

#include "sources/level_zero/sysman/state.h"

/* One sample of one GPU. */
struct gtel_sysman_pass {
    struct gtel_sysman *sysman;
    struct gtel_sysman_gpu *gpu;
    struct gtel_batch *batch;
    uint64_t now;
    enum gtel_sysman_family family; /* that is asked */
    uint32_t families_lost;         /* bits: say that the GPU is lost */
    uint32_t failed;                /* readings */
    const char *first;              /* of these, and its code */
    uint32_t first_code;
    uint64_t memory_total; /* bytes of the memories that have answered, */
    size_t memories;       /* how many these are, and the same of what is used */
    uint64_t memory_used;
    size_t memories_used;
};

/* A call that fills one structure. */
struct gtel_sysman_call {
    const char *name;
    size_t offset; /* in struct gtel_zes_calls */
    uint32_t type; /* of the structure; 0: it has no head */
};
#define GTEL_SYSMAN_CALL(call, type_)                                                              \
    {                                                                                              \
        .name = #call, .offset = offsetof(struct gtel_zes_calls, call), .type = (type_)            \
    }

/* What drivers say of a device, or of a part of one. */
union gtel_sysman_properties {
    struct gtel_zes_head head;
    struct gtel_zes_device_properties device;
    struct gtel_zes_pci_properties pci;
    struct gtel_zes_freq_properties frequency;
    struct gtel_zes_power_properties power;
    struct gtel_zes_temp_properties temperature;
    struct gtel_zes_mem_properties memory;
    struct gtel_zes_ras_properties ras;
    struct gtel_zes_port_properties port;
    struct gtel_zes_fan_properties fan;
};

/*
 * Asks for one structure, into a union of that size, of which all bits are set before: -1, the
 * largest number, not a number. UNSUPPORTED_FEATURE where the loader lacks the call. chained: NULL,
 * or what is chained to it. A driver that does not know the chained structure refuses the call:
 * after two refusals it is asked without.
 */
uint32_t gtel_sysman_get(const struct gtel_sysman *sysman, const struct gtel_sysman_call *call,
                         void *handle, struct gtel_zes_head *chained, void *ret, size_t size);

/* A call that counts, then fills an array of structures of that size with a head of that type. */
struct gtel_sysman_array {
    struct gtel_sysman_call call;
    size_t size;
    uint32_t max;
};
/* Sets all bits before it fills `ret`, which has room for `max`. *ret_n: how many were filled. */
uint32_t gtel_sysman_get_array(const struct gtel_sysman *sysman,
                               const struct gtel_sysman_array *array, void *handle, void *ret,
                               uint32_t *ret_n);

/*
 * Records what a part or a list answered in *last: counts a failure, says once what is not
 * permitted, and finds out whether the GPU is lost. Returns what the code means.
 */
enum gtel_answer gtel_sysman_record(struct gtel_sysman_pass *pass, uint32_t *last, const char *call,
                                    uint32_t code);
/* Whether nothing more is asked in this sample: the GPU is lost. */
bool gtel_sysman_is_over(const struct gtel_sysman_pass *pass);
/* How many parts of a list are asked, or may still be. */
size_t gtel_sysman_wanted(const struct gtel_sysman_list *list);
/* Whether parts of that type belong to tiles: those of the card report the same once more. */
bool gtel_sysman_has_tiles(const struct gtel_sysman_list *list, uint32_t type);

/* Where a reading belongs; t_us: time on the device's clock, or 0 for ours. */
struct gtel_sysman_place {
    struct gtel_str dim[3];
    uint64_t t_us;
};
struct gtel_sysman_place gtel_sysman_place_of(const struct gtel_sysman_part *part, uint64_t t_us);
/* Not UINT64_MAX, and no number that is not finite. place NULL: the GPU. */
void gtel_sysman_add_u64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, uint64_t value);
void gtel_sysman_add_f64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, double value);

/* ---- parts.c: the parts of a GPU by family: lists of handles, and what each of them is ---- */

/* Lists the parts of a family where that is due. True: there are new ones to be asked. */
bool gtel_sysman_list_parts(struct gtel_sysman_pass *pass, enum gtel_sysman_family family);
/* The call that lists a family, for messages. */
const char *gtel_sysman_list_name(enum gtel_sysman_family family);

/* ---- devices.c: Level Zero's start for Sysman, its devices, and their UUIDs ---- */

/*
 * Opens and starts Level Zero unless that was done or a GPU sleeps, and finds the devices behind
 * cards that have none yet.
 */
void gtel_sysman_find_devices(struct gtel_sysman *sysman, struct gtel_registry *registry);

/* ---- diagnose.c: what Level Zero does not give, and why ---- */

void gtel_sysman_diagnose(void *state, struct gtel_registry *registry,
                          struct gtel_findings *findings);

#endif
