/* SPDX-License-Identifier: MIT */
/* How the Sysman source asks: calls, what a result code means for the GPU, and readings. */
#include "sources/level_zero/sysman/ask.h"

#include <math.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define LOST_PAUSE_NS (10 * SECOND_NS)

enum { TRIES = 3, SPARE = 16 };

typedef uint32_t (*get_fn)(void *handle, void *ret);
typedef uint32_t (*get_array_fn)(void *handle, uint32_t *count, void *ret);

/* Whatever they point to, pointers are passed in the same way. */
static void find_call(const struct gtel_sysman *sysman, size_t offset, void *ret)
{
    memcpy(ret, (const char *)&sysman->call + offset, sizeof(get_fn));
}

static bool is_refused(uint32_t code)
{
    return code == GTEL_ZE_INVALID_ARGUMENT || code == GTEL_ZE_UNSUPPORTED_ENUMERATION;
}

uint32_t gtel_sysman_get(const struct gtel_sysman *sysman, const struct gtel_sysman_call *call,
                         void *handle, struct gtel_zes_head *chained, void *ret, size_t size)
{
    get_fn get;
    uint32_t code = GTEL_ZE_INVALID_ARGUMENT;
    find_call(sysman, call->offset, &get);
    if (!get)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    for (int i = 0; i < (chained ? TRIES : 1) && is_refused(code); i++) {
        const struct gtel_zes_head head = {.type = call->type,
                                           .next = i < TRIES - 1 ? chained : NULL};
        memset(ret, 0xff, size);
        if (call->type != 0)
            memcpy(ret, &head, sizeof(head));
        code = get(handle, ret);
    }
    return code;
}

uint32_t gtel_sysman_get_array(const struct gtel_sysman *sysman,
                               const struct gtel_sysman_array *array, void *handle, void *ret,
                               uint32_t *ret_n)
{
    const struct gtel_zes_head head = {.type = array->call.type};
    get_array_fn get;
    uint32_t code = GTEL_ZE_INVALID_SIZE;
    uint32_t count = 0;
    *ret_n = 0;
    find_call(sysman, array->call.offset, &get);
    if (!get)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t counted = get(handle, &count, NULL);
    if (counted != GTEL_ZE_SUCCESS || count == 0)
        return counted;
    /* The list may grow between two calls; then the driver says how long it is. */
    for (int i = 0; i < TRIES && code == GTEL_ZE_INVALID_SIZE; i++) {
        uint32_t room = count < array->max - SPARE ? count + SPARE : array->max;
        memset(ret, 0xff, array->size * room);
        for (uint32_t k = 0; array->call.type != 0 && k < room; k++)
            memcpy((char *)ret + array->size * k, &head, sizeof(head));
        count = room;
        code = get(handle, &count, ret);
        *ret_n = count < room ? count : room;
    }
    return code;
}

/* ---- what a code means ---- */

static bool is_loss_code(uint32_t code)
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
    static const struct gtel_sysman_call first =
        GTEL_SYSMAN_CALL(zesDeviceGetProperties, GTEL_ZES_TYPE_DEVICE_PROPERTIES);
    union gtel_sysman_properties got;
    if (code != GTEL_ZE_UNINITIALIZED && !is_loss_code(code))
        return false;
    uint32_t others = pass->families_lost & ~(1U << pass->family);
    pass->families_lost |= is_loss_code(code) ? 1U << pass->family : 0;
    if (is_loss_code(code) && others != 0)
        return true;
    uint32_t answer =
        gtel_sysman_get(pass->sysman, &first, pass->gpu->handle, NULL, &got, sizeof(got));
    return is_loss_code(code) ? is_loss_code(answer) : answer == code;
}

static void lose(const struct gtel_sysman_pass *pass, uint32_t code)
{
    struct gtel_sysman_gpu *gpu = pass->gpu;
    if (gpu->lost_ns == 0) {
        gtel_log(&pass->sysman->lz.cards.env->log, GTEL_LOG_WARNING,
                 "sysman: %s: %s (Level Zero code 0x%x); trying again", gpu->card->drm.key,
                 code == GTEL_ZE_DEVICE_LOST     ? "the GPU is lost"
                 : code == GTEL_ZE_UNINITIALIZED ? "Level Zero says that it is not started"
                                                 : "the GPU needs a reset or repair",
                 (unsigned)code);
        gpu->lost_ns = pass->now;
    }
    memset(gpu->row, 0, sizeof(gpu->row)); /* all is asked again then */
    gpu->lost_code = code;
    gpu->lost_due_ns = pass->now + LOST_PAUSE_NS;
}

static void hint_rights(const struct gtel_sysman_pass *pass, const char *call)
{
    if (pass->gpu->is_denied)
        return;
    pass->gpu->is_denied = true;
    gtel_log(&pass->sysman->lz.cards.env->log, GTEL_LOG_INFO,
             "sysman: %s: %s is not permitted; gtel doctor says which right it needs",
             pass->gpu->card->drm.key, call);
}

enum gtel_answer gtel_sysman_record(struct gtel_sysman_pass *pass, uint32_t *last, const char *call,
                                    uint32_t code)
{
    enum gtel_answer answer = gtel_answer_of(code);
    *last = code;
    if (answer == GTEL_ANSWER_FINE)
        return answer;
    if (is_loss(pass, code)) {
        lose(pass, code);
    } else if (answer == GTEL_ANSWER_REFUSED) {
        hint_rights(pass, call);
    } else if (answer == GTEL_ANSWER_FAILING) {
        gtel_batch_failed(pass->batch, pass->gpu->card->device);
        if (pass->failed++ == 0) {
            pass->first = call;
            pass->first_code = code;
        }
    }
    return answer;
}

bool gtel_sysman_is_over(const struct gtel_sysman_pass *pass)
{
    return pass->gpu->lost_due_ns > pass->now;
}

size_t gtel_sysman_wanted(const struct gtel_sysman_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->part[i].use != GTEL_SYSMAN_SKIPPED;
    return n;
}

bool gtel_sysman_has_tiles(const struct gtel_sysman_list *list, uint32_t type)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->part[i].use == GTEL_SYSMAN_USED && list->part[i].type == type &&
            gtel_sysman_on_tile(&list->part[i]))
            return true;
    return false;
}

/* ---- readings ---- */

struct gtel_sysman_place gtel_sysman_place_of(const struct gtel_sysman_part *part, uint64_t t_us)
{
    return (struct gtel_sysman_place){.dim = {gtel_str_of(part->name)}, .t_us = t_us};
}

static void add(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
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

void gtel_sysman_add_u64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, uint64_t value)
{
    struct gtel_reading reading = {.value_type = GTEL_VALUE_U64, .value.u64 = value};
    if (value != UINT64_MAX)
        add(pass, metric, place, &reading);
}

void gtel_sysman_add_f64(const struct gtel_sysman_pass *pass, enum gtel_metric metric,
                         const struct gtel_sysman_place *place, double value)
{
    struct gtel_reading reading = {.value_type = GTEL_VALUE_F64, .value.f64 = value};
    if (isfinite(value))
        add(pass, metric, place, &reading);
}
