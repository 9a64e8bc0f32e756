/* SPDX-License-Identifier: MIT */
/* Parts of amd/table.c: what one table means, and what of it needs the one before. */
#ifndef GTEL_SOURCES_AMD_TABLE_COUNTERS_H
#define GTEL_SOURCES_AMD_TABLE_COUNTERS_H

#include "sources/amd/table.h"

/* By revision, and by chip where revision 1.3 means both. As bits. */
enum gtel_amd_family {
    GTEL_AMD_GPU = 1,   /* Vega 12 and 20, Navi: 1.0 to 1.3 */
    GTEL_AMD_MI = 2,    /* MI100, MI200: 1.3 */
    GTEL_AMD_MI300 = 4, /* and later ones: 1.4 to 1.9 */
    GTEL_AMD_APU2 = 8,  /* 2.0 to 2.4 */
    GTEL_AMD_APU3 = 16  /* 3.0 */
};

/* One table, and where its readings go. */
struct gtel_amd_scene {
    const struct gtel_amd_metrics *metrics;
    const struct gtel_card *card; /* that has the table */
    const struct gtel_device *device;
    struct gtel_batch *batch;
    enum gtel_amd_chip chip;
    enum gtel_amd_family family;
};

/* Energy, residencies, PCIe, xGMI. */
void gtel_amd_table_counters(struct gtel_amd_table_state *table,
                             const struct gtel_amd_scene *scene);
/* Reasons that are in force, or were since the table before (3.0). */
void gtel_amd_table_throttling(struct gtel_amd_table_state *table,
                               const struct gtel_amd_scene *scene);

#endif
