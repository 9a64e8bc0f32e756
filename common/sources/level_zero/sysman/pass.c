/* SPDX-License-Identifier: MIT */
/*
 * One pass over one GPU: ask what is due, and decide what each result code means.
 *
 * Each question of each part lives and dies alone. What a GPU does not have, or what is not for
 * this user, is asked for again every ten minutes; what fails, with growing pauses; "no value now"
 * is no failure.
 */
#include "sources/level_zero/sysman/sysman.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SECOND_NS 1000000000u
#define RARELY_NS (600 * (uint64_t)SECOND_NS)
#define PAUSE_LAST_NS (64 * (uint64_t)SECOND_NS)
#define GIVEN_UP_NS (2 * RARELY_NS)
#define AWAITED_NS (4 * (uint64_t)SECOND_NS)
#define REST_NS (60 * (uint64_t)SECOND_NS)
#define LOST_FIRST_NS (10 * (uint64_t)SECOND_NS)
#define LOST_LAST_NS (300 * (uint64_t)SECOND_NS)
#define LOST_STALE_NS (40 * (uint64_t)SECOND_NS)

#define ROW_OR(call_, or_, read_, family_, measurement_)                                           \
    {                                                                                              \
        .call = #call_, .offset = offsetof(struct gtel_zes_calls, call_),                          \
        .or_offset = offsetof(struct gtel_zes_calls, or_), .read = gtel_sysman_read_##read_,       \
        .family = GTEL_SYSMAN_##family_, .measurement = GTEL_MEASUREMENT_##measurement_            \
    }
#define ROW(call_, read_, family_, measurement_) ROW_OR(call_, call_, read_, family_, measurement_)

/*
 * Counters of these calls on Linux: width and unit, the shortest time to a turn, and what is done
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
    ROW(zesDevicePciGetState, link, PCI, GPU),
    ROW(zesDevicePciGetStats, traffic, PCI, GPU),
    ROW(zesDeviceGetState, state, PCI, GPU),
    ROW(zesDeviceGetEccState, ecc, PCI, GPU),
    ROW(zesDeviceProcessesGetState, processes, PCI, GPU_PROCESS),
    ROW(zesFrequencyGetState, frequency, FREQUENCY, GPU_FREQUENCY_DOMAIN),
    ROW(zesFrequencyGetRange, range, FREQUENCY, GPU_FREQUENCY_DOMAIN),
    ROW(zesFrequencyGetThrottleTime, throttle, FREQUENCY, GPU_THROTTLE),
    ROW(zesPowerGetEnergyCounter, energy, POWER, GPU_POWER_DOMAIN),
    ROW_OR(zesPowerGetLimits, zesPowerGetLimitsExt, limits, POWER, GPU_POWER_DOMAIN),
    ROW(zesTemperatureGetState, temperature, TEMPERATURE, GPU_TEMPERATURE_SENSOR),
    ROW(zesTemperatureGetConfig, threshold, TEMPERATURE, GPU_TEMPERATURE_SENSOR),
    ROW(zesMemoryGetState, memory, MEMORY, GPU_MEMORY_REGION),
    ROW(zesMemoryGetBandwidth, bandwidth, MEMORY, GPU_MEMORY_REGION),
    ROW(zesEngineGetActivity, engine, ENGINE, GPU_ENGINE),
    ROW_OR(zesRasGetState, zesRasGetStateExp, ras, RAS, GPU_ERROR),
    ROW(zesFabricPortGetState, port, FABRIC, GPU_FABRIC),
    ROW(zesFabricPortGetThroughput, port_rate, FABRIC, GPU_FABRIC),
    ROW(zesFabricPortGetFabricErrorCounters, port_errors, FABRIC, GPU_FABRIC),
    ROW(zesFanGetState, fan, FAN, GPU_FAN),
    ROW(zesPsuGetState, psu, PSU, GPU_POWER_DOMAIN),
    ROW(zesStandbyGetMode, standby, STANDBY, GPU_FREQUENCY_DOMAIN),
};

const size_t gtel_sysman_rows_n = GTEL_ARRAY_LEN(gtel_sysman_rows);

size_t gtel_sysman_ask_of(size_t row)
{
    size_t ask = 0;
    while (ask < row && gtel_sysman_rows[row - ask - 1].family == gtel_sysman_rows[row].family)
        ask++;
    return ask < GTEL_SYSMAN_ASKS ? ask : GTEL_SYSMAN_ASKS - 1;
}

bool gtel_sysman_is_used(const struct gtel_sysman_part *part)
{
    return part->use == GTEL_SYSMAN_USED;
}

size_t gtel_sysman_wanted(const struct gtel_sysman_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->part[i].use != GTEL_SYSMAN_LEFT_OUT;
    return n;
}

bool gtel_sysman_has_tiles(const struct gtel_sysman_list *list, uint32_t type)
{
    for (size_t i = 0; i < list->n; i++)
        if (gtel_sysman_is_used(&list->part[i]) && list->part[i].type == type &&
            list->part[i].is_on_tile)
            return true;
    return false;
}

bool gtel_sysman_has(const struct gtel_sysman *sysman, size_t offset)
{
    void *address;
    memcpy(&address, (const char *)&sysman->call + offset, sizeof(address));
    return address != NULL;
}

bool gtel_sysman_is_permanent(uint32_t code)
{
    switch (code) {
    case GTEL_ZE_NO_PERMISSION:
    case GTEL_ZE_UNSUPPORTED_VERSION:
    case GTEL_ZE_UNSUPPORTED_FEATURE:
    case GTEL_ZE_INVALID_ARGUMENT:
    case GTEL_ZE_NULL_HANDLE:
    case GTEL_ZE_NULL_POINTER:
    case GTEL_ZE_INVALID_ENUMERATION:
    case GTEL_ZE_UNSUPPORTED_ENUMERATION:
    case GTEL_ZE_UNINITIALIZED: /* of a started Level Zero: see is_loss() */
        return true;
    default:
        return false;
    }
}

/* "No value this time." */
static bool is_quiet(uint32_t code)
{
    return code == GTEL_ZE_NOT_READY || code == GTEL_ZE_NOT_AVAILABLE ||
           code == GTEL_ZE_LOW_POWER || code == GTEL_SYSMAN_NO_VALUE;
}

static bool says_loss(uint32_t code)
{
    return code == GTEL_ZE_DEVICE_LOST || code == GTEL_ZE_REQUIRES_RESET ||
           code == GTEL_ZE_SURVIVABILITY;
}

/*
 * Loaders say "not started" of a single function that the driver's table lacks, too (level zero:
 * table of result codes), and drivers say "lost" of a single question that failed (compute-runtime,
 * sysman: memory of i915 and xe). It is the whole GPU where the first call of each device says so,
 * or where several families do at the same time.
 */
static bool is_loss(struct gtel_sysman_pass *pass, uint32_t code)
{
    struct gtel_zes_device_properties got = {.head.type = GTEL_ZES_TYPE_DEVICE_PROPERTIES};
    bool may_be = says_loss(code);
    if (!may_be && code != GTEL_ZE_UNINITIALIZED)
        return false;
    bool is_elsewhere = may_be && (pass->families_lost & ~(1U << pass->family)) != 0;
    pass->families_lost |= may_be ? 1U << pass->family : 0;
    if (is_elsewhere)
        return true;
    uint32_t first = pass->sysman->call.zesDeviceGetProperties(pass->gpu->handle, &got);
    return may_be ? says_loss(first) : first == code;
}

static void hint_rights(const struct gtel_sysman_pass *pass, const char *call)
{
    if (pass->gpu->has_denied)
        return;
    pass->gpu->has_denied = true;
    gtel_log(&pass->sysman->cards.env->log, GTEL_LOG_INFO,
             "sysman: %s: %s is not permitted; gtel doctor says which right it needs",
             pass->gpu->card->drm.key, call);
}

/* The next try: at once after the first failure, then after 1, 2, 4 … 64 seconds. */
static void back_off(const struct gtel_sysman_pass *pass, struct gtel_sysman_ask *ask)
{
    ask->due_ns = pass->now + ask->pause_ns;
    if (ask->pause_ns == 0)
        ask->pause_ns = SECOND_NS;
    else if (ask->pause_ns < PAUSE_LAST_NS)
        ask->pause_ns *= 2;
}

static const char *loss_name(uint32_t code)
{
    switch (code) {
    case GTEL_ZE_DEVICE_LOST:
        return "the GPU is lost";
    case GTEL_ZE_UNINITIALIZED:
        return "Level Zero says that it is not started";
    default:
        return "the GPU needs a reset or repair";
    }
}

static void lose(const struct gtel_sysman_pass *pass, uint32_t code)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    if (!gpu->is_lost)
        gtel_log(&pass->sysman->cards.env->log, GTEL_LOG_WARNING,
                 "sysman: %s: %s (Level Zero code 0x%x); trying again", gpu->card->drm.key,
                 loss_name(code), (unsigned)code);
    gpu->is_lost = true;
    gpu->first_code = code;
    gpu->lost_pause_ns = gpu->lost_pause_ns == 0             ? LOST_FIRST_NS
                         : gpu->lost_pause_ns < LOST_LAST_NS ? gpu->lost_pause_ns * 2
                                                             : LOST_LAST_NS;
    gpu->lost_ns = pass->now + gpu->lost_pause_ns;
}

void gtel_sysman_settle(struct gtel_sysman_pass *pass, struct gtel_sysman_ask *ask,
                        const char *call, uint32_t code)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    ask->code = code;
    ask->was_asked = true;
    if (code == GTEL_ZE_SUCCESS)
        ask->since_ns = 0;
    else if (ask->since_ns == 0)
        ask->since_ns = pass->now;
    ask->has_answered = ask->has_answered || code == GTEL_ZE_SUCCESS ||
                        code == GTEL_SYSMAN_NO_VALUE || gtel_sysman_is_permanent(code);
    if (code == GTEL_ZE_SUCCESS) {
        ask->has_worked = true;
        ask->due_ns = 0;
        ask->pause_ns = 0;
    } else if (is_loss(pass, code)) {
        lose(pass, code);
    } else if (gtel_sysman_is_permanent(code)) {
        ask->due_ns = pass->now + RARELY_NS;
        if (code == GTEL_ZE_NO_PERMISSION)
            hint_rights(pass, call);
    } else {
        if (code != GTEL_ZE_LOW_POWER)
            back_off(pass, ask);
        if (is_quiet(code))
            return;
        gtel_batch_failed(pass->batch, gpu->card->device);
        if (gpu->failed++ == 0) {
            gpu->first = call;
            gpu->first_code = code;
        }
    }
}

static void put(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                const struct gtel_sysman_place *place, struct gtel_reading *reading)
{
    reading->device = pass->gpu->card->device;
    reading->metric = (uint16_t)metric;
    for (size_t i = 0; place && i < GTEL_ARRAY_LEN(place->dim); i++)
        reading->dim[i] = place->dim[i];
    if (place && place->t_us > 0) {
        reading->t_ns = place->t_us * 1000;
        reading->has_device_clock = true;
    }
    gtel_batch_put(pass->batch, reading);
}

void gtel_sysman_put_u64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, uint64_t value)
{
    struct gtel_reading reading = {.value_type = GTEL_VALUE_U64, .value.u64 = value};
    put(pass, metric, place, &reading);
}

void gtel_sysman_put_f64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, double value)
{
    struct gtel_reading reading = {.value_type = GTEL_VALUE_F64, .value.f64 = value};
    if (isfinite(value))
        put(pass, metric, place, &reading);
}

bool gtel_sysman_is_over(const struct gtel_sysman_pass *pass)
{
    return pass->gpu->is_lost && pass->gpu->lost_ns > pass->now;
}

static void ask_row(struct gtel_sysman_pass *pass, size_t i)
{
    const struct gtel_sysman_row *row = &gtel_sysman_rows[i];
    struct gtel_sysman_list *list = &pass->gpu->list[row->family];
    size_t ask = gtel_sysman_ask_of(i);
    pass->family = row->family;
    bool has =
        gtel_sysman_has(pass->sysman, row->offset) || gtel_sysman_has(pass->sysman, row->or_offset);
    for (size_t k = 0; k < list->n && !gtel_sysman_is_over(pass); k++) {
        struct gtel_sysman_part *part = &list->part[k];
        if (!gtel_sysman_is_used(part) || part->ask[ask].due_ns > pass->now)
            continue;
        uint32_t code = has ? row->read(pass, part) : GTEL_ZE_UNSUPPORTED_FEATURE;
        gtel_sysman_settle(pass, &part->ask[ask], row->call, code);
    }
}

static bool is_failing(const struct gtel_sysman_ask *ask)
{
    return ask->pause_ns > 0 && !is_quiet(ask->code);
}

static bool is_list_failing(const struct gtel_sysman_list *list)
{
    bool found = is_failing(&list->ask);
    for (size_t k = 0; k < list->n; k++) {
        found = found || is_failing(&list->part[k].describe);
        for (size_t a = 0; a < GTEL_SYSMAN_ASKS; a++)
            found = found || is_failing(&list->part[k].ask[a]);
    }
    return found;
}

/* Says once when readings begin to fail, and once when all work again. */
static void note_streak(const struct gtel_sysman_pass *pass)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    const struct gtel_log *log = &pass->sysman->cards.env->log;
    if (gpu->failed > 0 && !gpu->is_failing)
        gtel_log(log, GTEL_LOG_WARNING,
                 "sysman: %s: %" PRIu32 " readings failed, first %s with code 0x%x",
                 gpu->card->drm.key, gpu->failed, gpu->first, (unsigned)gpu->first_code);
    gpu->is_failing = gpu->failed > 0 || gpu->is_failing;
    bool has_failing = false;
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES; f++)
        has_failing = has_failing || is_list_failing(&gpu->list[f]);
    if (!gpu->is_failing || has_failing || gpu->failed > 0)
        return;
    gtel_log(log, GTEL_LOG_INFO, "sysman: %s: all readings work again", gpu->card->drm.key);
    gpu->is_failing = false;
}

/* Where a clock is not told, the kernel says whether the GPU has worked since the last pass. */
static bool has_slept(const struct gtel_sysman_pass *pass)
{
    const struct gtel_env *env = pass->sysman->cards.env;
    struct gtel_sysman_gpu *gpu = pass->gpu;
    uint64_t before_ns = gpu->gts_ns;
    gpu->gts_ns = pass->now;
    gtel_gts_open(env, &gpu->gts, &gpu->card->drm, gpu->card->path);
    return gtel_gts_look(env, &gpu->gts, pass->now - before_ns) == GTEL_GTS_IDLE && before_ns > 0;
}

/* Clocks that stop where nothing is done: the memory's goes on as long as the GPU is awake. */
static size_t clocks_that_stop(const struct gtel_sysman_pass *pass)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_FREQUENCY];
    size_t n = gtel_sysman_wanted(list);
    for (size_t i = 0; i < list->n; i++)
        n -= gtel_sysman_is_used(&list->part[i]) && list->part[i].type == GTEL_ZES_FREQ_MEMORY;
    return n;
}

/* Nothing that tells is no standstill: the GPU may be at work. */
static bool is_still(const struct gtel_sysman_pass *pass)
{
    size_t clocks = clocks_that_stop(pass);
    if (pass->is_running)
        return false;
    return (clocks > 0 && pass->still_clocks == clocks) || has_slept(pass);
}

/*
 * A GPU that may fall asleep, and that has stood still for as long as that takes, is read about
 * once a minute only: the sources of its driver give it rests of their own to sleep in, which
 * ours must leave undisturbed without knowing of them.
 */
static void note_idle(const struct gtel_sysman_pass *pass)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    if (gpu->delay_ns == 0 || !is_still(pass)) {
        gpu->idle_since_ns = 0;
        return;
    }
    if (gpu->idle_since_ns == 0)
        gpu->idle_since_ns = pass->now;
    if (pass->now - gpu->idle_since_ns >= gpu->delay_ns)
        gpu->rest_ns = pass->now + REST_NS + 2 * gpu->delay_ns;
}

/* Those that wrap are through in 131 s at the most that a board can draw: see power.c. */
#define KEEP_NS (120 * (uint64_t)SECOND_NS)

uint64_t gtel_sysman_energy_due(const struct gtel_sysman_gpu *gpu)
{
    bool is_kept = gtel_sysman_wraps(gpu) && gpu->energy_ns > 0;
    return is_kept ? gpu->energy_ns + KEEP_NS : 0;
}

void gtel_sysman_keep_energy(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                             struct gtel_batch *batch, bool may_ask)
{
    struct gtel_sysman_pass pass = {
        .sysman = sysman, .gpu = gpu, .batch = batch, .now = gtel_env_now(sysman->cards.env)};
    for (size_t i = 0; may_ask && i < gtel_sysman_rows_n && !gtel_sysman_is_over(&pass); i++)
        if (gtel_sysman_rows[i].read == gtel_sysman_read_energy)
            ask_row(&pass, i);
    gpu->energy_ns = pass.now;
}

bool gtel_sysman_is_stale(const struct gtel_sysman_gpu *gpu)
{
    return gpu->is_lost && gpu->has_worked && gpu->lost_pause_ns >= LOST_STALE_NS;
}

/* A GPU that answers nothing else. */
static void put_lost(const struct gtel_sysman_pass *pass)
{
    if (pass->gpu->first_code == GTEL_ZE_REQUIRES_RESET)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_RESET_NEEDED, NULL, 1);
}

void gtel_sysman_pass(struct gtel_sysman *sysman, struct gtel_sysman_gpu *gpu,
                      struct gtel_batch *batch)
{
    struct gtel_sysman_pass pass = {
        .sysman = sysman, .gpu = gpu, .batch = batch, .now = gtel_env_now(sysman->cards.env)};
    bool was_lost = gpu->is_lost;
    batch->t_ns = pass.now;
    gpu->failed = 0;
    if (gtel_sysman_is_over(&pass)) {
        put_lost(&pass);
        return;
    }
    for (size_t f = 0; f < GTEL_SYSMAN_FAMILIES && !gtel_sysman_is_over(&pass); f++)
        if (f != GTEL_SYSMAN_ENGINE || gpu->may_hold)
            gtel_sysman_list_parts(&pass, (enum gtel_sysman_family)f);
    for (size_t i = 0; i < gtel_sysman_rows_n && !gtel_sysman_is_over(&pass); i++)
        ask_row(&pass, i);
    if (gtel_sysman_is_over(&pass)) {
        put_lost(&pass);
        return;
    }
    gpu->is_lost = false;
    gpu->has_worked = true;
    gpu->lost_pause_ns = 0;
    if (was_lost)
        gtel_log(&sysman->cards.env->log, GTEL_LOG_INFO, "sysman: %s: the GPU answers again",
                 gpu->card->drm.key);
    gtel_sysman_put_engines(&pass);
    gtel_sysman_put_resets(&pass);
    note_streak(&pass);
    note_idle(&pass);
}
