/* SPDX-License-Identifier: MIT */
/* The calls of Level Zero that pyzes knows and we never make. */
#include "fakes/libze_loader/played.h"

#include "abi/zes_abi.h"
#include "fakes/player.h"

enum { CLOCKS_MAX = 256, USAGE_MS = 100 };

/* Each exported name is declared before it is defined: there is no header for them. */
#define EXPORT(name, parameters)                                                                   \
    GTEL_EXPORT uint32_t name parameters;                                                          \
    uint32_t name parameters

/* The next number of an answer; UNKNOWN when there is none. */
static uint32_t next(struct gtel_str *text, double *ret)
{
    struct gtel_str word;
    return gtel_str_word(text, &word) && gtel_str_f64(word, ret) == 0 ? GTEL_ZE_SUCCESS
                                                                      : GTEL_ZE_UNKNOWN;
}

static uint32_t next_flag(struct gtel_str *text, uint8_t *ret)
{
    double v = 0;
    uint32_t code = next(text, &v);
    *ret = v != 0;
    return code;
}

/* A call that only succeeds or fails. */
static uint32_t answer_code(const char *name, const void *handle)
{
    struct gtel_str text;
    (void)gtel_player_begin(name);
    return gtel_played_ask(name, handle, &text);
}

EXPORT(zesDeviceEccConfigurable, (void *device, uint8_t *ret))
{
    struct gtel_str text;
    (void)gtel_player_begin("zesDeviceEccConfigurable");
    uint32_t code = gtel_played_ask("zesDeviceEccConfigurable", device, &text);
    return code ? code : next_flag(&text, ret);
}

EXPORT(zesDeviceSetEccState,
       (void *device, const void *wanted, struct gtel_zes_ecc_properties *ret))
{
    struct gtel_str text;
    double v[3] = {0};
    (void)gtel_player_begin("zesDeviceSetEccState");
    uint32_t code =
        wanted ? gtel_played_ask("zesDeviceSetEccState", device, &text) : GTEL_ZE_NULL_POINTER;
    for (size_t i = 0; i < 3 && code == GTEL_ZE_SUCCESS; i++)
        code = next(&text, &v[i]);
    if (code == GTEL_ZE_SUCCESS) {
        ret->current = (uint32_t)v[0];
        ret->pending = (uint32_t)v[1];
        ret->action = (uint32_t)v[2];
    }
    return code;
}

EXPORT(zesPowerSetLimitsExt, (void *power, uint32_t *count, const void *limits))
{
    return count && limits ? answer_code("zesPowerSetLimitsExt", power) : GTEL_ZE_NULL_POINTER;
}

EXPORT(zesFrequencySetRange, (void *frequency, const struct gtel_zes_freq_range *range))
{
    return range ? answer_code("zesFrequencySetRange", frequency) : GTEL_ZE_NULL_POINTER;
}

EXPORT(zesFrequencyGetAvailableClocks, (void *frequency, uint32_t *count, double *ret))
{
    struct gtel_str text;
    double clock[CLOCKS_MAX];
    uint32_t n = 0;
    (void)gtel_player_begin("zesFrequencyGetAvailableClocks");
    uint32_t code = gtel_played_ask("zesFrequencyGetAvailableClocks", frequency, &text);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    while (n < CLOCKS_MAX && next(&text, &clock[n]) == GTEL_ZE_SUCCESS)
        n++;
    for (uint32_t i = 0; ret && i < n && i < *count; i++)
        ret[i] = clock[i];
    *count = !ret || *count == 0 || *count > n ? n : *count;
    return GTEL_ZE_SUCCESS;
}

/* Slow by itself: the driver measures twice. Milliwatts. */
EXPORT(zesPowerGetUsage, (void *power, uint32_t *instant, uint32_t *average))
{
    struct gtel_str text;
    double v[2] = {0};
    (void)gtel_player_begin("zesPowerGetUsage");
    gtel_player_nap(USAGE_MS);
    uint32_t code = gtel_played_ask("zesPowerGetUsage", power, &text);
    for (size_t i = 0; i < 2 && code == GTEL_ZE_SUCCESS; i++)
        code = next(&text, &v[i]);
    if (code == GTEL_ZE_SUCCESS) {
        *instant = (uint32_t)v[0];
        *average = (uint32_t)v[1];
    }
    return code;
}
