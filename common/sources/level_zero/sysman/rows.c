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
 *   EngineGetActivity      64 bits, 1 us      never; ticks of xe the same
 *   RasGetState, ...Exp    64 bits            never
 *   FabricPortGet...       64 bits, 1 By      never
 *   FrequencyGetThrottleTime  64 bits, 1 us   never
 */
const struct gtel_sysman_row gtel_sysman_rows[] = {
#define ROW(family_, ask_, call_, type)                                                            \
    .call = GTEL_SYSMAN_CALL(call_, type), .family = GTEL_SYSMAN_##family_, .ask = (ask_)
    {ROW(PCI, 0, zesDevicePciGetState, GTEL_ZES_TYPE_PCI_STATE), .read = gtel_sysman_read_link},
    {ROW(PCI, 1, zesDevicePciGetStats, 0), .get = gtel_sysman_get_traffic,
     .read = gtel_sysman_read_traffic},
    {ROW(PCI, 2, zesDeviceGetState, GTEL_ZES_TYPE_DEVICE_STATE), .get = gtel_sysman_get_state,
     .read = gtel_sysman_read_state, .add = gtel_sysman_add_state},
    {ROW(PCI, 3, zesDeviceGetEccState, GTEL_ZES_TYPE_ECC_PROPERTIES), .get = gtel_sysman_get_ecc,
     .read = gtel_sysman_read_ecc, .add = gtel_sysman_add_ecc},
    {ROW(PCI, 4, zesDeviceProcessesGetState, 0), .get = gtel_sysman_get_processes},
    {ROW(FREQUENCY, 0, zesFrequencyGetState, GTEL_ZES_TYPE_FREQ_STATE),
     .read = gtel_sysman_read_clock},
    {ROW(FREQUENCY, 1, zesFrequencyGetRange, 0), .read = gtel_sysman_read_range,
     .add = gtel_sysman_add_range},
    {ROW(FREQUENCY, 2, zesFrequencyGetThrottleTime, 0), .read = gtel_sysman_read_throttle},
    {ROW(POWER, 0, zesPowerGetEnergyCounter, 0), .get = gtel_sysman_get_energy,
     .read = gtel_sysman_read_energy},
    {ROW(POWER, 1, zesPowerGetLimits, 0), .get = gtel_sysman_get_limits,
     .add = gtel_sysman_add_limits},
    {ROW(TEMPERATURE, 0, zesTemperatureGetState, 0), .read = gtel_sysman_read_temperature},
    {ROW(TEMPERATURE, 1, zesTemperatureGetConfig, GTEL_ZES_TYPE_TEMP_CONFIG),
     .read = gtel_sysman_read_threshold, .add = gtel_sysman_add_threshold},
    {ROW(MEMORY, 0, zesMemoryGetState, GTEL_ZES_TYPE_MEM_STATE), .read = gtel_sysman_read_memory},
    {ROW(MEMORY, 1, zesMemoryGetBandwidth, 0), .get = gtel_sysman_get_bandwidth,
     .read = gtel_sysman_read_bandwidth},
    {ROW(ENGINE, 0, zesEngineGetActivity, 0), .read = gtel_sysman_read_engine},
    {ROW(RAS, 0, zesRasGetState, 0), .get = gtel_sysman_get_ras},
    {ROW(FABRIC, 0, zesFabricPortGetState, GTEL_ZES_TYPE_FABRIC_PORT_STATE),
     .read = gtel_sysman_read_port},
    {ROW(FABRIC, 1, zesFabricPortGetThroughput, 0), .read = gtel_sysman_read_port_rate},
    {ROW(FABRIC, 2, zesFabricPortGetFabricErrorCounters, GTEL_ZES_TYPE_FABRIC_PORT_ERRORS),
     .read = gtel_sysman_read_port_errors},
    {ROW(FAN, 0, zesFanGetState, 0), .get = gtel_sysman_get_fan, .read = gtel_sysman_read_fan},
    {ROW(PSU, 0, zesPsuGetState, GTEL_ZES_TYPE_PSU_STATE), .read = gtel_sysman_read_psu},
    {ROW(STANDBY, 0, zesStandbyGetMode, 0), .read = gtel_sysman_read_standby,
     .add = gtel_sysman_add_standby},
#undef ROW
};

const size_t gtel_sysman_rows_n = GTEL_ARRAY_LEN(gtel_sysman_rows);
_Static_assert(GTEL_ARRAY_LEN(gtel_sysman_rows) <= GTEL_SYSMAN_ROWS_MAX, "rows");

static enum gtel_answer ask_part(struct gtel_sysman_pass *pass, const struct gtel_sysman_row *row,
                                 struct gtel_sysman_part *part)
{
    union gtel_sysman_answer got;
    uint32_t code = row->get ? row->get(pass, part, &got)
                             : gtel_sysman_get(pass->sysman, &row->call, part->handle, NULL, &got);
    if (code == GTEL_ZE_SUCCESS && row->read)
        code = row->read(pass, part, &got);
    return gtel_sysman_record(pass, &part->code[row->ask], row->call.name, code);
}

/* The next time, by how many parts gave each answer. */
static void set_due(struct gtel_backoff *retry, const unsigned answers[], bool is_slow,
                    uint64_t now)
{
    bool is_fine = answers[GTEL_ANSWER_FINE] > 0;
    bool is_failing = answers[GTEL_ANSWER_SILENT] > 0 || answers[GTEL_ANSWER_FAILING] > 0;
    bool is_asleep = answers[GTEL_ANSWER_ASLEEP] > 0;
    if (is_failing && (is_slow || !is_fine)) {
        gtel_retry_after(retry, GTEL_ANSWER_FAILING, now);
    } else if (is_fine || is_asleep) {
        *retry = (struct gtel_backoff){.due = is_slow && !is_asleep ? now + MINUTE_NS : 0};
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
        if (row->add && part->code[row->ask] == GTEL_ZE_SUCCESS)
            row->add(pass, part);
    }
    if (is_due && !gtel_sysman_is_over(pass))
        set_due(retry, answers, row->add != NULL, pass->now);
}
