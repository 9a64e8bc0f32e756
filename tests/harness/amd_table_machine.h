/* SPDX-License-Identifier: MIT */
/*
 * One card with a gpu_metrics in memory, for the tests of amd/table.c: tables are real ones
 * (fuzz/corpus/amd_metrics), or made by setting fields at the offsets of abi/amd_layout.def.
 */
#ifndef GTEL_TESTS_HARNESS_AMD_TABLE_MACHINE_H
#define GTEL_TESTS_HARNESS_AMD_TABLE_MACHINE_H

#include "base/compiler.h"
#include "sources/amd/table.h"
#include "harness/test.h"

#define S UINT64_C(1000000000)

enum { AMD_FILE_MAX = 300000 };

struct amd_machine {
    unsigned char *bytes; /* AMD_FILE_MAX of them */
    size_t n;             /* so many are in the file */
    int error;            /* of a read */
    int reads;
    uint64_t now_ns;
    unsigned logs;
    char last_log[512];
};

extern struct amd_machine amd_machine;
extern const struct gtel_env amd_env;
extern struct gtel_device amd_device;
extern struct gtel_card amd_card;

struct amd_life {
    struct gtel_amd_table_state table;
    struct gtel_batch batch;
};

/* Once per program. False: no memory. */
bool amd_machine_init(void);
void amd_machine_done(void);

/* A card with that PCI id, at 100 s, with an empty file. */
void amd_life_begin(struct amd_life *life, uint16_t device_id);
void amd_life_end(struct amd_life *life);
/* What gtel_amd_table_sample returns. */
int amd_gather(struct amd_life *life);

/* The reading of that metric and its first dimension, or NULL. */
const struct gtel_reading *amd_find(const struct amd_life *life, enum gtel_metric metric,
                                    const char *dim);
/* -1: there is none. */
double amd_value(const struct amd_life *life, enum gtel_metric metric, const char *dim);

struct amd_want {
    enum gtel_metric metric;
    const char *dim;
    double value; /* -1: must not be there */
};

void amd_check(const struct amd_life *life, const struct amd_want *want, size_t n);

/* Where a field lies; of GTEL_AMD_FIELDS, the table's size and format * 256 + content. */
struct amd_place_at {
    const char *revision; /* "v1_3" */
    enum gtel_amd_field field;
    unsigned offset;
    unsigned width;
};

const struct amd_place_at *amd_place(const char *revision, enum gtel_amd_field field);
void amd_put(size_t at, size_t width, uint64_t number);
/* A table in which nothing is available. */
void amd_table_begin(const char *revision);
void amd_set(const char *revision, enum gtel_amd_field field, unsigned i, uint64_t number);
/* A file of the corpus. */
void amd_load(const char *name);

#endif
