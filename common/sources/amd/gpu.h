/* SPDX-License-Identifier: MIT */
/*
 * What source amdgpu keeps for a GPU, and which of the driver's files it reads.
 *
 * A sleeping card is never touched: power/runtime_status comes first, on every kernel, and a
 * missing one counts as awake. What reading a file does to a card is in one table (files.c): while
 * a card is left alone so that it can fall asleep, only files that are free are read.
 */
#ifndef GTEL_SOURCES_AMD_GPU_H
#define GTEL_SOURCES_AMD_GPU_H

#include "parse/amd_texts.h"
#include "sources/amd/table.h"
#include "sources/drm/attr_source.h"

enum { GTEL_AMD_CLOCKS = 9 };

struct gtel_amd_gpu {
    struct gtel_attr_card card; /* first: its attributes are the text files */
    struct gtel_amd_table_state table;
    uint64_t given; /* by the table, when it was decided which attributes it covers */
    bool is_covered[GTEL_ATTRS_MAX];
    bool is_apu;        /* its memory is the host's: VRAM is a part set aside, GTT the rest */
    bool is_one_memory; /* its regions are of one memory, and none of them is the GPU's */
    struct gtel_dpm level[GTEL_AMD_CLOCKS]; /* of each clock; max_mhz is 0: not known */
    bool is_level_due; /* the driver refused some of them for a moment, as in a reset */
    /* 1 + for how long the card was suspended, at the last sample that read it; 0: there was none
     */
    uint64_t suspended_plus_1;
    uint64_t settled_ns;  /* after waking: no reading before that time */
    uint64_t memory_used; /* VRAM and GTT, in bytes */
};

/* Adds the files of a card that is awake; with list->own, reads its levels and what it is. */
void gtel_amd_add(struct gtel_attr_list *list);
/* Reads the levels of a card that is awake: once per discovery, since they change rarely. */
void gtel_amd_read_levels(struct gtel_amd_gpu *gpu);
void gtel_amd_put_levels(const struct gtel_amd_gpu *gpu, struct gtel_batch *batch);
/* Whether the card's busy values are known to be wrong, so that they are not read. */
bool gtel_amd_has_stuck_busy(const struct gtel_drm_card *drm);
/* Whether reading that file of a card neither wakes it nor keeps it awake. */
bool gtel_amd_is_free(struct gtel_str name);
void gtel_amd_diagnose(const void *state, const void *own, struct gtel_findings *findings);

#endif
