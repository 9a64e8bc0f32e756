/* SPDX-License-Identifier: MIT */
/*
 * What the Sysman source reads: a table of questions to the parts of a family, and a small reader
 * for each. A new value is a row, a structure in abi/zes_abi.h and a reader.
 *
 * A row is in one of three states, by what its parts answer: all absent or refused, asked again
 * every ten minutes; none with a value and some failing, asked with growing pauses; or fine. Next
 * to a part with a value the others are asked again each time.
 */
#ifndef GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ROWS_H
#define GTEL_SOURCES_LEVEL_ZERO_SYSMAN_ROWS_H

#include "sources/level_zero/sysman/ask.h"

struct gtel_sysman_row {
    struct gtel_sysman_call call;
    enum gtel_sysman_family family;
    size_t ask; /* position among the rows of its family */
    /* In place of one structure by `call`; NULL: that. */
    uint32_t (*get)(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                    union gtel_sysman_answer *ret);
    /* Adds what was answered. Returns SUCCESS or, without having added anything, GTEL_ZE_NO_VALUE.
     */
    uint32_t (*read)(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                     const union gtel_sysman_answer *got);
    uint64_t period_ns; /* of asking; between two times the answer is read again. 0: each sample */
};

extern const struct gtel_sysman_row gtel_sysman_rows[];
extern const size_t gtel_sysman_rows_n;

/* Asks what is due of a row; is_new: there are parts that it has not asked yet. */
void gtel_sysman_ask_row(struct gtel_sysman_pass *pass, size_t row, bool is_new);

/* The readers. */
#define GTEL_SYSMAN_GET(name)                                                                      \
    uint32_t gtel_sysman_get_##name(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,  \
                                    union gtel_sysman_answer *ret)
#define GTEL_SYSMAN_READ(name)                                                                     \
    uint32_t gtel_sysman_read_##name(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part, \
                                     const union gtel_sysman_answer *got)

/* clocks.c */
GTEL_SYSMAN_READ(clock);
GTEL_SYSMAN_READ(range);
GTEL_SYSMAN_READ(throttle);
/* device.c */
GTEL_SYSMAN_GET(state);
GTEL_SYSMAN_READ(state);
GTEL_SYSMAN_GET(ecc);
GTEL_SYSMAN_READ(ecc);
GTEL_SYSMAN_GET(processes);
/* errors.c */
GTEL_SYSMAN_GET(ras);
/* Adds the resets of the whole GPU: their sum over the sets of errors that were just read. */
void gtel_sysman_add_resets(const struct gtel_sysman_pass *pass);
/* links.c */
GTEL_SYSMAN_READ(link);
GTEL_SYSMAN_GET(traffic);
GTEL_SYSMAN_READ(traffic);
GTEL_SYSMAN_READ(port);
GTEL_SYSMAN_READ(port_rate);
GTEL_SYSMAN_READ(port_errors);
/* memory.c */
GTEL_SYSMAN_READ(memory);
GTEL_SYSMAN_GET(bandwidth);
GTEL_SYSMAN_READ(bandwidth);
/* The memory of the whole GPU, where each of its memories has answered in this sample. */
void gtel_sysman_add_memory(const struct gtel_sysman_pass *pass);
/* power.c */
GTEL_SYSMAN_GET(energy);
GTEL_SYSMAN_READ(energy);
GTEL_SYSMAN_GET(limits);
GTEL_SYSMAN_READ(limits);
/* Whether the energy counters of the GPU wrap within minutes. */
bool gtel_sysman_wraps(const struct gtel_sysman_gpu *gpu);
/* The GPU was seen asleep: its counters may have restarted. */
void gtel_sysman_record_sleep(struct gtel_sysman_gpu *gpu);
/*
 * Takes one sample of an energy counter that wraps at wrap_uj (0: never); limit_w: the largest
 * sustained limit known, 0 for none. True when the counter has a value: total_uj at total_us.
 */
bool gtel_sysman_energy_step(struct gtel_sysman_energy *energy, const struct gtel_zes_energy *now,
                             uint64_t wrap_uj, double limit_w);
/* sensors.c */
GTEL_SYSMAN_READ(temperature);
GTEL_SYSMAN_GET(fan);
GTEL_SYSMAN_READ(fan);
/* telemetry.c, what the kernel says of the telemetry that Level Zero reads. */
/* How many bits the memory counters of a tile of Ponte Vecchio have; 0: the kernel does not say. */
uint32_t gtel_sysman_counter_bits(const struct gtel_env *env, const struct gtel_drm_card *drm,
                                  uint32_t tile);

#endif
