/* SPDX-License-Identifier: MIT */
/* What the Sysman source reads. */
#include "sources/level_zero/sysman/rows.h"

#define MINUTE_NS UINT64_C(60000000000)

/*
 * Counters of these calls on Linux: width and unit, the shortest time to a wrap, and what is done
 * about it (compute-runtime: sysman, product helpers of DG2, PVC, BMG and CRI).
 *
 *   PciGetStats            64 bits, 1 By      never
 *   PowerGetEnergyCounter
 *     of hwmon             32 bits, 2^-14 J   4.4 min at 1000 W: source i915 or xe reads the file
 *     of DG2's telemetry   64 bits, 2^-20 J   never
 *     of BMG and CRI       32 bits, 2^-14 J   131 s at 2000 W: power.c, read each 2 min
 *     of CRI's memory      16 bits, 2^-14 J   4 J: not asked
 *   MemoryGetBandwidth
 *     of BMG and DG2       64 bits, 32 By     never
 *     of PVC               32 bits, 32 By     83 ms: asked only where it has 64 bits
 *   RasGetState, ...Exp    64 bits            never
 *   FabricPortGet...       64 bits, 1 By      never
 *   FrequencyGetThrottleTime  64 bits, 1 us   never
 */
#define ROW(family_, ask_, call_, type)                                                            \
    .call = GTEL_SYSMAN_CALL(call_, type), .family = GTEL_SYSMAN_##family_, .ask = (ask_)
#define TYPE(name) GTEL_ZES_TYPE_##name
#define GET(name) .get = gtel_sysman_get_##name
#define READ(name) .read = gtel_sysman_read_##name
#define EACH_MINUTE .period_ns = MINUTE_NS

const struct gtel_sysman_row gtel_sysman_rows[] = {
    {ROW(PCI, 0, zesDevicePciGetState, TYPE(PCI_STATE)), READ(link)},
    {ROW(PCI, 1, zesDevicePciGetStats, 0), GET(traffic), READ(traffic)},
    {ROW(PCI, 2, zesDeviceGetState, 0), GET(state), READ(state), EACH_MINUTE},
    {ROW(PCI, 3, zesDeviceGetEccState, 0), GET(ecc), READ(ecc), EACH_MINUTE},
    {ROW(PCI, 4, zesDeviceProcessesGetState, 0), GET(processes)},
    {ROW(FREQUENCY, 0, zesFrequencyGetState, TYPE(FREQ_STATE)), READ(clock)},
    {ROW(FREQUENCY, 1, zesFrequencyGetRange, 0), READ(range), EACH_MINUTE},
    {ROW(FREQUENCY, 2, zesFrequencyGetThrottleTime, 0), READ(throttle)},
    {ROW(POWER, 0, zesPowerGetEnergyCounter, 0), GET(energy), READ(energy)},
    {ROW(POWER, 1, zesPowerGetLimits, 0), GET(limits), READ(limits), EACH_MINUTE},
    {ROW(TEMPERATURE, 0, zesTemperatureGetState, 0), READ(temperature)},
    {ROW(MEMORY, 0, zesMemoryGetState, TYPE(MEM_STATE)), READ(memory)},
    {ROW(MEMORY, 1, zesMemoryGetBandwidth, 0), GET(bandwidth), READ(bandwidth)},
    {ROW(RAS, 0, zesRasGetState, 0), GET(ras)},
    {ROW(FABRIC, 0, zesFabricPortGetState, TYPE(FABRIC_PORT_STATE)), READ(port)},
    {ROW(FABRIC, 1, zesFabricPortGetThroughput, 0), READ(port_rate)},
    {ROW(FABRIC, 2, zesFabricPortGetFabricErrorCounters, TYPE(FABRIC_PORT_ERRORS)),
     READ(port_errors)},
    {ROW(FAN, 0, zesFanGetState, 0), GET(fan), READ(fan)},
};

const size_t gtel_sysman_rows_n = GTEL_ARRAY_LEN(gtel_sysman_rows);
_Static_assert(GTEL_ARRAY_LEN(gtel_sysman_rows) <= GTEL_SYSMAN_ROWS_MAX, "rows");

static enum gtel_answer ask_part(struct gtel_sysman_pass *pass, const struct gtel_sysman_row *row,
                                 struct gtel_sysman_part *part)
{
    union gtel_sysman_answer *got = &part->ask[row->ask].got;
    uint32_t *last = &part->ask[row->ask].code;
    uint32_t code =
        row->get ? row->get(pass, part, got)
                 : gtel_sysman_get(pass->sysman, &row->call, part->handle, NULL, got, sizeof(*got));
    if (code == GTEL_ZE_SUCCESS && row->read)
        code = row->read(pass, part, got);
    /* Under Windows it is also every failure of the kernel (compute-runtime, KmdSysManager). */
    if (code == GTEL_ZE_INVALID_ARGUMENT && *last != GTEL_ZE_NOT_ASKED &&
        gtel_answer_of(*last) != GTEL_ANSWER_ABSENT)
        code = GTEL_ZE_UNKNOWN; /* what has answered before is not absent */
    return gtel_sysman_record(pass, last, row->call.name, code);
}

/* The next time, by how many parts gave each answer. */
static void set_due(struct gtel_backoff *retry, const unsigned answers[], uint64_t period_ns,
                    uint64_t now)
{
    bool is_fine = answers[GTEL_ANSWER_FINE] > 0;
    bool is_failing = answers[GTEL_ANSWER_SILENT] > 0 || answers[GTEL_ANSWER_FAILING] > 0;
    bool is_asleep = answers[GTEL_ANSWER_ASLEEP] > 0;
    if (is_failing && (period_ns > 0 || !is_fine)) {
        gtel_retry_after(retry, GTEL_ANSWER_FAILING, now);
    } else if (is_fine || is_asleep) {
        *retry = (struct gtel_backoff){.due = period_ns > 0 && !is_asleep ? now + period_ns : 0};
    } else if (answers[GTEL_ANSWER_ABSENT] > 0 || answers[GTEL_ANSWER_REFUSED] > 0) {
        gtel_retry_after(retry, GTEL_ANSWER_ABSENT, now);
    }
}

void gtel_sysman_ask_row(struct gtel_sysman_pass *pass, size_t i, bool is_new)
{
    const struct gtel_sysman_row *row = &gtel_sysman_rows[i];
    const struct gtel_sysman_list *list = &pass->gpu->list[row->family];
    struct gtel_backoff *retry = &pass->gpu->row[i];
    unsigned answers[GTEL_ANSWER_FAILING + 1] = {0};
    bool is_due = is_new || retry->due <= pass->now;
    pass->family = row->family;
    for (size_t k = 0; k < list->n && !gtel_sysman_is_over(pass); k++) {
        struct gtel_sysman_part *part = &list->part[k];
        if (part->use != GTEL_SYSMAN_USED)
            continue;
        if (is_due)
            answers[ask_part(pass, row, part)]++;
        else if (row->period_ns > 0 && part->ask[row->ask].code == GTEL_ZE_SUCCESS)
            (void)row->read(pass, part, &part->ask[row->ask].got);
    }
    if (is_due && !gtel_sysman_is_over(pass))
        set_due(retry, answers, row->period_ns, pass->now);
}
