/* SPDX-License-Identifier: MIT */
/* amdgpu's gpu_metrics as readings: counters, and throttling. */
#include "sources/amd/table_counters.h"

static bool get(const struct gtel_amd_scene *scene, enum gtel_amd_field field, unsigned i,
                uint64_t *ret)
{
    return gtel_amd_metrics_get(scene->metrics, field, i, ret);
}

/*
 * Carries a counter of that width on. A loaded driver begins again at a lower value, which delta
 * sees; what may be a jump begins again at 0.
 */
static enum gtel_counter_result carry(const struct gtel_amd_scene *scene,
                                      struct gtel_counter *counter, unsigned width, uint64_t value)
{
    counter->range = width < 8 ? UINT64_C(1) << (8 * width) : 0;
    enum gtel_counter_result result = gtel_counter_add(counter, value, scene->batch->t_ns);
    if (result == GTEL_COUNTER_FIRST || result == GTEL_COUNTER_RESET)
        counter->sum = value;
    else if (result != GTEL_COUNTER_STEP)
        counter->sum = 0;
    return result;
}

/* ---- energy ---- */

/*
 * Units by chip: 2^-16 J (kernel: kgd_pp_interface.h, 1.4 and later; amd/pm MI200), MI100's 1 J
 * (tables in ROCm/amdsmi#38: 370 in 10.285 s, at a power of 36 W), Navi 21's 1 mJ. The two latter
 * are 32 bits of the firmware. Others are not known. 0: none.
 */
static double energy_unit(const struct gtel_amd_scene *scene)
{
    if (scene->family == GTEL_AMD_MI300 || scene->chip == GTEL_AMD_MI200)
        return 1.0 / 65536;
    if (scene->chip == GTEL_AMD_MI100)
        return 1;
    return scene->chip == GTEL_AMD_NAVI21 ? 1e-3 : 0;
}

/* A minute at least, and so many samples that a changing load has been seen as it is. */
static const uint64_t check_ns = 60 * UINT64_C(1000000000);
static const uint64_t check_gap_ns = 120 * UINT64_C(1000000000);
enum { CHECK_SAMPLES = 20 };
static const double check_factor = 10;
/* What no card uses, in watts. */
static const double watts_most = 5000;

static void begin_check(struct gtel_amd_table_state *table, uint64_t now_ns, double watts)
{
    table->check = (struct gtel_amd_energy_check){
        .start_ns = now_ns, .last_ns = now_ns, .last_w = watts, .start_sum = table->energy.sum};
}

/*
 * Whether energy and the integral of power differ by more than that factor over a check. Units that
 * could be mixed up differ by 65 and more. A load in bursts that all samples miss is no fault: then
 * they have what the card uses when it is idle, a seventh of its most.
 */
static bool disagrees(struct gtel_amd_table_state *table, uint64_t now_ns, double watts,
                      double unit)
{
    struct gtel_amd_energy_check *check = &table->check;
    if (check->start_ns == 0 || now_ns - check->last_ns > check_gap_ns) {
        begin_check(table, now_ns, watts);
        return false;
    }
    check->integral_j += (check->last_w + watts) / 2 * ((double)(now_ns - check->last_ns) / 1e9);
    check->last_ns = now_ns;
    check->last_w = watts;
    check->samples++;
    if (now_ns - check->start_ns < check_ns || check->samples < CHECK_SAMPLES)
        return false;
    double energy_j = (double)(table->energy.sum - check->start_sum) * unit;
    double integral_j = check->integral_j;
    begin_check(table, now_ns, watts);
    return energy_j > check_factor * integral_j || check_factor * energy_j < integral_j;
}

/* The second die of a package, and Navi 3x and 4x, have 0. */
static void sample_energy(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene)
{
    double unit = energy_unit(scene);
    uint64_t raw;
    uint64_t watts;
    if (unit == 0 || table->check.start_ns == UINT64_MAX ||
        !get(scene, GTEL_AMD_ENERGY_ACCUMULATOR, 0, &raw) || raw == 0)
        return;
    /* Where no check runs, the card may have slept since: less than before is no turn then. */
    bool is_short = (scene->chip == GTEL_AMD_MI100 || scene->chip == GTEL_AMD_NAVI21) &&
                    table->check.start_ns != 0;
    table->energy.most = watts_most / unit;
    if (carry(scene, &table->energy, is_short ? 4 : 8, raw) != GTEL_COUNTER_STEP)
        table->check.start_ns = 0;
    if (!get(scene, GTEL_AMD_CURR_SOCKET_POWER, 0, &watts) &&
        !get(scene, GTEL_AMD_AVERAGE_SOCKET_POWER, 0, &watts)) {
        table->check.start_ns = 0;
    } else if (disagrees(table, scene->batch->t_ns, (double)watts, unit)) {
        table->check.start_ns = UINT64_MAX;
        gtel_log(&scene->card->cards->env->log, GTEL_LOG_WARNING,
                 "amdgpu: %s: the energy counter of gpu_metrics does not agree with the power: it "
                 "is not reported any more",
                 scene->card->drm.key);
        return;
    }
    double joules = (double)table->energy.sum * unit;
    gtel_batch_f64(scene->batch, scene->device, GTEL_M_ENERGY, GTEL_STR("pkg"), joules);
    /*
     * The first die of an MI250X or MI250 counts for both (kernel: smu13/aldebaran_ppt.c), and an
     * MI300A has the cores of its CPUs in the package (smu13/smu_v13_0_6_ppt.c, SocketEnergyAcc).
     */
    uint16_t id = scene->card->drm.device_id;
    if (id == 0x7408 || id == 0x740c || id == 0x74a0)
        gtel_batch_put(scene->batch, &(struct gtel_reading){.device = scene->device,
                                                            .metric = GTEL_M_GPU_ENERGY,
                                                            .value.f64 = joules,
                                                            .value_type = GTEL_VALUE_F64,
                                                            .is_apart = true});
}

/* ---- residencies ---- */

/*
 * An upper bound of the accumulation counter's rate, so that one that begins again is not treated
 * as one that turned; it counts some thousands a second.
 */
static const double ticks_most = 1e6;

/* The counter's step; 0: none, or one that is not known. */
static uint64_t step_of(const struct gtel_amd_scene *scene, struct gtel_counter *counter,
                        enum gtel_amd_field field, bool *ret_is_known)
{
    uint64_t before = counter->sum;
    uint64_t value;
    *ret_is_known = false;
    if (!get(scene, field, 0, &value)) {
        counter->last_ns = 0;
        return 0;
    }
    counter->most = ticks_most;
    *ret_is_known =
        carry(scene, counter, scene->metrics->place[field].width, value) == GTEL_COUNTER_STEP;
    return *ret_is_known ? counter->sum - before : 0;
}

/*
 * The share of a residency in the accumulation counter, by a clock that counts only trusted steps:
 * at idle, PPT, socket and HBM count as fast as that counter does, which is no throttling (seen on
 * an MI300X with AMD's driver 6.10.5). So a step is trusted when it is 0, or between two tables of
 * a GPU that works. Ticks are milliseconds here, whatever they are.
 */
static void sample_residencies(struct gtel_amd_table_state *table,
                               const struct gtel_amd_scene *scene)
{
    static const struct {
        enum gtel_amd_field field;
        struct gtel_str reason;
    } reasons[GTEL_AMD_TABLE_SHARES] = {
        {GTEL_AMD_PROCHOT_RESIDENCY_ACC, GTEL_STR_INIT("prochot")},
        {GTEL_AMD_PPT_RESIDENCY_ACC, GTEL_STR_INIT("ppt")},
        {GTEL_AMD_SOCKET_THM_RESIDENCY_ACC, GTEL_STR_INIT("socket_thermal")},
        {GTEL_AMD_VR_THM_RESIDENCY_ACC, GTEL_STR_INIT("vr_thermal")},
        {GTEL_AMD_HBM_THM_RESIDENCY_ACC, GTEL_STR_INIT("hbm_thermal")},
    };
    uint64_t percent;
    bool has_clock;
    bool is_known;
    bool is_busy = get(scene, GTEL_AMD_AVERAGE_GFX_ACTIVITY, 0, &percent) && percent >= 5;
    uint64_t all = step_of(scene, &table->accumulation, GTEL_AMD_ACCUMULATION_COUNTER, &has_clock);
    for (size_t i = 0; i < GTEL_AMD_TABLE_SHARES; i++) {
        struct gtel_amd_share *share = &table->share[i];
        uint64_t part = step_of(scene, &share->counter, reasons[i].field, &is_known);
        if (share->counter.last_ns == 0)
            continue; /* the table has no such field */
        if (!has_clock || !is_known) {
            share->held = 0;
            share->ticks = 0;
        } else if (part == 0 || (part <= all && is_busy && table->was_busy)) {
            share->held += part;
            share->ticks += all;
        }
        gtel_batch_put(scene->batch, &(struct gtel_reading){.device = scene->device,
                                                            .metric = GTEL_M_THROTTLE_RESIDENCY,
                                                            .value.f64 = (double)share->held / 1e3,
                                                            .value_type = GTEL_VALUE_F64,
                                                            .dim = {reasons[i].reason},
                                                            .t_ns = 1 + share->ticks * 1000000,
                                                            .has_device_clock = true});
    }
    table->was_busy = is_busy;
}

/* ---- PCIe and xGMI ---- */

/*
 * Of 64 bits (kernel: smu13/smu_v13_0_6_ppt.h), or of errors, of which no card has 2^32: a lower
 * value has begun again, which delta sees.
 */

static void put(const struct gtel_amd_scene *scene, enum gtel_metric metric, struct gtel_str dim,
                uint64_t value)
{
    gtel_batch_u64(scene->batch, scene->device, metric, dim, value);
}

static void sample_pcie(const struct gtel_amd_scene *scene)
{
    static const struct {
        enum gtel_amd_field field;
        struct gtel_str kind;
    } errors[] = {
        {GTEL_AMD_PCIE_L0_TO_RECOV_COUNT_ACC, GTEL_STR_INIT("pcie_recovery")},
        {GTEL_AMD_PCIE_LC_PERF_OTHER_END_RECOVERY, GTEL_STR_INIT("pcie_other_end_recovery")},
        {GTEL_AMD_PCIE_REPLAY_ROVER_COUNT_ACC, GTEL_STR_INIT("pcie_replay_rollover")},
        {GTEL_AMD_PCIE_NAK_SENT_COUNT_ACC, GTEL_STR_INIT("pcie_nak_sent")},
        {GTEL_AMD_PCIE_NAK_RCVD_COUNT_ACC, GTEL_STR_INIT("pcie_nak_received")},
    };
    uint64_t value;
    if (get(scene, GTEL_AMD_PCIE_REPLAY_COUNT_ACC, 0, &value))
        put(scene, GTEL_M_GPU_PCIE_REPLAYS, GTEL_STR_NONE, value);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(errors); i++)
        if (get(scene, errors[i].field, 0, &value))
            gtel_batch_error(scene->batch, scene->device, errors[i].kind, GTEL_STR("corrected"),
                             value);
}

/* Kibibytes (kernel: "Data in KB"); a link that nobody uses has 0, and none or an unknown status.
 */
static void sample_xgmi(const struct gtel_amd_scene *scene)
{
    static const struct gtel_str names[] = {GTEL_STR_INIT("xgmi0"), GTEL_STR_INIT("xgmi1"),
                                            GTEL_STR_INIT("xgmi2"), GTEL_STR_INIT("xgmi3"),
                                            GTEL_STR_INIT("xgmi4"), GTEL_STR_INIT("xgmi5"),
                                            GTEL_STR_INIT("xgmi6"), GTEL_STR_INIT("xgmi7")};
    static const struct {
        enum gtel_amd_field field;
        enum gtel_metric metric;
    } ways[2] = {{GTEL_AMD_XGMI_READ_DATA_ACC, GTEL_M_FABRIC_RX},
                 {GTEL_AMD_XGMI_WRITE_DATA_ACC, GTEL_M_FABRIC_TX}};
    for (unsigned i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        uint64_t status;
        uint64_t value;
        bool has_status = get(scene, GTEL_AMD_XGMI_LINK_STATUS, i, &status) && status <= 1;
        if (has_status)
            put(scene, GTEL_M_FABRIC_UP, names[i], status);
        for (size_t w = 0; w < GTEL_ARRAY_LEN(ways); w++) {
            const struct gtel_amd_place *place = &scene->metrics->place[ways[w].field];
            bool is_kb = place->unit == GTEL_AMD_UNIT_NONE || place->unit == GTEL_AMD_UNIT_KB;
            if (place->count > 1 && is_kb && get(scene, ways[w].field, i, &value) &&
                value <= UINT64_MAX / 1024 && (value > 0 || (has_status && status == 1)))
                put(scene, ways[w].metric, names[i], value * 1024);
        }
    }
}

void gtel_amd_table_break(struct gtel_amd_table_state *table)
{
    if (table->check.start_ns != UINT64_MAX)
        table->check.start_ns = 0;
    table->has_residency = false;
    table->was_busy = false;
}

void gtel_amd_table_counters(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene)
{
    sample_energy(table, scene);
    if (scene->family != GTEL_AMD_MI300)
        return;
    sample_residencies(table, scene);
    sample_pcie(scene);
    sample_xgmi(scene);
}

/* ---- throttling ---- */

/* Bits of the mask that is the same on all chips (kernel: amd/pm/swsmu/inc/amdgpu_smu.h). */
enum { HOTSPOT = 36 };
static const struct {
    uint8_t bit;
    const char *name;
} reasons[] = {{0, "ppt0"},          {1, "ppt1"},          {2, "ppt2"},
               {3, "ppt3"},          {4, "spl"},           {5, "fppt"},
               {6, "sppt"},          {7, "sppt_apu"},      {16, "tdc_gfx"},
               {17, "tdc_soc"},      {18, "tdc_mem"},      {19, "tdc_vdd"},
               {20, "tdc_cvip"},     {21, "edc_cpu"},      {22, "edc_gfx"},
               {23, "apcc"},         {32, "temp_gpu"},     {33, "temp_core"},
               {34, "temp_mem"},     {35, "temp_edge"},    {HOTSPOT, "temp_hotspot"},
               {37, "temp_soc"},     {38, "temp_vr_gfx"},  {39, "temp_vr_soc"},
               {40, "temp_vr_mem0"}, {41, "temp_vr_mem1"}, {42, "temp_liquid0"},
               {43, "temp_liquid1"}, {44, "vrhot0"},       {45, "vrhot1"},
               {46, "prochot_cpu"},  {47, "prochot_gfx"},  {56, "ppm"},
               {57, "fit"}};

/* Revision 2.1: bits of throttle_status, which its chips have in common (Rembrandt, Phoenix …). */
static uint64_t mask_2_1(uint64_t status)
{
    static const uint8_t bits[] = {4, 5, 6, 7, 33, 32, 37, 19, 17, 46, 47, 21, 22};
    uint64_t mask = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bits); i++)
        mask |= (status >> i & 1) << bits[i];
    return mask;
}

/*
 * Revision 3.0: residencies of 32 bits without a unit of time. One that has grown was in force
 * since the table before; one that is lower has begun again with all others. False: nothing is
 * known.
 */
static bool mask_3_0(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene,
                     uint64_t *ret)
{
    static const uint8_t bits[GTEL_AMD_TABLE_RESIDENCIES] = {46, 4, 5, 6, 33, 32, 37};
    bool is_known = table->has_residency;
    uint64_t mask = 0;
    table->has_residency = false;
    for (unsigned i = 0; i < GTEL_AMD_TABLE_RESIDENCIES; i++) {
        uint64_t value;
        if (!get(scene, (enum gtel_amd_field)(GTEL_AMD_THROTTLE_RESIDENCY_PROCHOT + i), 0, &value))
            return false;
        uint32_t step = (uint32_t)value - table->residency[i];
        if (step > 0)
            mask |= UINT64_C(1) << bits[i];
        is_known = is_known && step <= INT32_MAX;
        table->residency[i] = (uint32_t)value;
    }
    table->has_residency = true;
    *ret = mask;
    return is_known;
}

static bool mask_of(struct gtel_amd_table_state *table, const struct gtel_amd_scene *scene,
                    uint64_t *ret)
{
    uint64_t status;
    if (scene->family == GTEL_AMD_APU3)
        return mask_3_0(table, scene, ret);
    if (get(scene, GTEL_AMD_INDEP_THROTTLE_STATUS, 0, ret)) {
        /*
         * RDNA 3 has it set nearly always, also when idle (flightlessmango/MangoHud), as has RDNA 4
         * (Navi 48: ROCm/rocm-systems issue 11781).
         */
        if (scene->chip == GTEL_AMD_NAVI3X || scene->chip == GTEL_AMD_NAVI4X)
            *ret &= ~(UINT64_C(1) << HOTSPOT);
        return true;
    }
    if (scene->family != GTEL_AMD_APU2 || scene->metrics->content != 1 ||
        !get(scene, GTEL_AMD_THROTTLE_STATUS, 0, &status))
        return false;
    *ret = mask_2_1(status);
    return true;
}

void gtel_amd_table_throttling(struct gtel_amd_table_state *table,
                               const struct gtel_amd_scene *scene)
{
    uint64_t mask;
    bool is_throttled = false;
    if (!mask_of(table, scene, &mask))
        return;
    table->throttled |= mask;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reasons); i++) {
        bool is_active = (mask >> reasons[i].bit & 1) != 0;
        is_throttled = is_throttled || is_active;
        if ((table->throttled >> reasons[i].bit & 1) != 0)
            put(scene, GTEL_M_THROTTLE_ACTIVE, gtel_str_of(reasons[i].name), is_active);
    }
    put(scene, GTEL_M_GPU_THROTTLED, GTEL_STR_NONE, is_throttled);
}
