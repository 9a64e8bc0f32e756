/* SPDX-License-Identifier: MIT */
/*
 * amdgpu's gpu_metrics as readings: sensors, power, clocks, activity, throttling, energy, links.
 *
 * One read is one message to the firmware and gives what ten other files give. Which field means
 * what, in which unit, depends on the revision and on the chip. A suspect value is not reported:
 * the busy share of APUs, which the driver's own file has in percent; an energy counter whose unit
 * is not known for the chip, or which does not agree with the power.
 *
 * The caller decides whether the card may be read (it is awake), and reads other files for what the
 * table does not have.
 */
#ifndef GTEL_SOURCES_AMD_TABLE_H
#define GTEL_SOURCES_AMD_TABLE_H

#include "base/counter.h"
#include "parse/amd_metrics.h"
#include "sources/drm/attr.h"

/* A binary table and its memory. Zeroed: not open; to open it is to open its file. */
struct gtel_amd_table_file {
    struct gtel_fs_file file;
    unsigned char *buf; /* from the first read on */
    size_t size;
    struct gtel_amd_metrics metrics; /* of the last read; zeroed when that failed */
};

void gtel_amd_table_file_close(const struct gtel_env *env, struct gtel_amd_table_file *file);
/*
 * Reads it and finds its fields: file->metrics. 0; the errors of
 * gtel_amd_metrics_parse; -ENODATA also while the card sleeps or is being reset (-EPERM, -EBUSY:
 * kernel amd/pm/amdgpu_pm.c); -EBADF when it is not open; -E2BIG, -ENOMEM; the errno of the read.
 */
int gtel_amd_table_file_read(const struct gtel_env *env, struct gtel_amd_table_file *file,
                             enum gtel_amd_table table);

/* Chips whose values have a meaning of their own. */
enum gtel_amd_chip {
    GTEL_AMD_OTHER,
    GTEL_AMD_RAVEN, /* and Picasso, Raven 2 */
    GTEL_AMD_CYAN_SKILLFISH,
    GTEL_AMD_RENOIR, /* and Lucienne, Cezanne, Barcelo */
    GTEL_AMD_STRIX,  /* Point and Halo, and Krackan */
    GTEL_AMD_NAVI21,
    GTEL_AMD_NAVI3X,
    GTEL_AMD_NAVI4X,
    GTEL_AMD_MI100,
    GTEL_AMD_MI200
};

/* Which of them a card has, by its PCI id. */
enum gtel_amd_chip gtel_amd_chip(const struct gtel_drm_card *drm);

/* Position in the source's list of origins: after those of attributes. */
enum { GTEL_AMD_TABLE_ORIGIN = GTEL_ATTR_HWMON + 1 };

enum {
    GTEL_AMD_TABLE_ROWS_MAX = 63,
    GTEL_AMD_TABLE_SHARES = 5,     /* residencies of MI300 */
    GTEL_AMD_TABLE_RESIDENCIES = 7 /* of APUs */
};

/* Time that a limit was in force, on the clock of the firmware's accumulation counter. */
struct gtel_amd_share {
    struct gtel_counter counter;
    uint64_t held;  /* ticks in which it was in force … */
    uint64_t ticks; /* … of these */
};

/* The energy counter beside the integral of power, since start_ns. */
struct gtel_amd_energy_check {
    uint64_t start_ns; /* 0: none runs; UINT64_MAX: they did not agree, for good */
    uint64_t last_ns;
    double last_w;
    double integral_j;
    uint64_t start_sum;
    uint32_t samples;
};

/* gpu_metrics of one card. Zeroed: not open. The caller may set has_fan once it is open. */
struct gtel_amd_table_state {
    struct gtel_amd_table_file file;
    int error;
    uint64_t given; /* rows that have ever had a value, as bits; the uppermost: the link */
    bool has_fan;   /* hwmon shows a fan of the card: without one the table has 0, too */
    struct gtel_counter energy;
    struct gtel_amd_energy_check check;
    struct gtel_counter accumulation;
    struct gtel_amd_share share[GTEL_AMD_TABLE_SHARES];
    bool was_busy; /* in the last table */
    uint32_t residency[GTEL_AMD_TABLE_RESIDENCIES];
    bool has_residency;
    uint64_t throttled; /* reasons that have ever been in force, as bits */
};

void gtel_amd_table_close(const struct gtel_env *env, struct gtel_amd_table_state *table);

/*
 * Reads the table of a card that is awake into the batch, whose t_ns is now. 0; -ENODEV when the
 * device is removed; any other negative errno: it gave nothing this time, and the other files are
 * to be read. Logs once when it begins to fail.
 */
int gtel_amd_table_sample(struct gtel_amd_table_state *table, const struct gtel_card *card,
                          struct gtel_batch *batch);
/*
 * The card sleeps, or has slept, since the last table: nothing is compared over that time, and what
 * counts less afterwards has begun again. Also after a table that could not be read.
 */
void gtel_amd_table_break(struct gtel_amd_table_state *table);
/*
 * Whether the table has ever had that value of that part ("edge", "graphics", "1" of a fan; empty
 * for metrics of the whole GPU), so that no other file needs to be read for it while sample() is 0.
 * Known for metrics of measurement gpu, temperatures, power, voltages, clocks, engines and fans.
 */
bool gtel_amd_table_has(const struct gtel_amd_table_state *table, enum gtel_metric metric,
                        struct gtel_str part);

/*
 * What the table that was read last has of an APU's NPU, as readings of that device: busy_percent,
 * power and clock.
 */
void gtel_amd_table_sample_npu(struct gtel_amd_table_state *table, const struct gtel_device *npu,
                               struct gtel_batch *batch);

#endif
