/* SPDX-License-Identifier: MIT */
/*
 * What a figure costs decides how often it is asked for.
 *
 * Seen on an H200 with driver 580.159: most calls take 1 to 2 us, but the energy counter 3.9 ms,
 * the highest clocks 1.4 ms each, the thermal margin 1.0 ms and the thermal time counters 0.6 to
 * 0.8 ms each, all of it CPU time. So each figure is measured, and a dear one is asked for no more
 * often than each ten seconds, or each minute where it is of less use, and only while the pass has
 * time for it. In the passes between it is absent: an old counter with a new time would be a wrong
 * rate.
 */
#include "sources/nvidia/nvml.h"

static const uint64_t cheap_ns = 300000;
static const uint64_t outlier_ns = 1000000; /* the scheduler's part of a measurement is cut off */
static const uint64_t budget_ns = 4500000;  /* of a pass over one GPU: below the promised 5 ms */
/* A little less than the interval meant, so that a clock's jitter does not skip a pass. */
static const uint64_t dear_pace_ns = 9500000000;
static const uint64_t minor_pace_ns = 59500000000;
static const uint64_t slow_pace_ns = 60000000000;
static const uint64_t slow_dear_pace_ns = 120000000000;
/* Long enough for the second gather of --once, and for the first one after the start. */
static const uint64_t fresh_ns = 750000000;

void gtel_nvml_note_cost(struct gtel_nvml_slot *slot, uint64_t cost_ns)
{
    uint64_t noted = cost_ns < outlier_ns ? cost_ns : outlier_ns;
    slot->last_cost_ns = cost_ns > 0 ? cost_ns : 1;
    slot->mean_cost_ns = slot->mean_cost_ns > 0 ? (3 * slot->mean_cost_ns + noted) / 4 : noted;
    if (slot->mean_cost_ns == 0)
        slot->mean_cost_ns = 1;
}

bool gtel_nvml_is_cheap(const struct gtel_nvml_row *row, const struct gtel_nvml_slot *slot)
{
    bool is_measured = row->is_slow || row->may_be_dear || row->is_minor;
    return !is_measured || (slot->mean_cost_ns > 0 && slot->mean_cost_ns < cheap_ns);
}

uint64_t gtel_nvml_next_due(const struct gtel_nvml_row *row, const struct gtel_nvml_slot *slot,
                            uint64_t now_ns)
{
    bool is_cheap = gtel_nvml_is_cheap(row, slot);
    if (row->is_slow)
        return now_ns + (is_cheap ? slow_pace_ns : slow_dear_pace_ns);
    if (is_cheap)
        return 0;
    return now_ns + (row->is_minor ? minor_pace_ns : dear_pace_ns);
}

bool gtel_nvml_fits(const struct gtel_nvml_slot *slot, uint64_t used_ns, size_t taken)
{
    return slot->last_cost_ns == 0 || taken == 0 || used_ns + slot->last_cost_ns <= budget_ns;
}

bool gtel_nvml_is_fresh(const struct gtel_nvml_row *row, const struct gtel_nvml_slot *slot,
                        uint64_t now_ns)
{
    if (row->is_slow)
        return true;
    return !gtel_nvml_is_cheap(row, slot) && now_ns - slot->read_ns < fresh_ns;
}
