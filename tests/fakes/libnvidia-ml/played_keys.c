/* SPDX-License-Identifier: MIT */
/* Keys and answers of a recorded machine's NVML. */
#include "fakes/libnvidia-ml/played_keys.h"

#include "fakes/player.h"

#include <stdio.h>

enum { NO_ANSWER = -1 };

/* A handle is the address of an element; the element's number is the GPU's. */
static const char handles[GPUS_MAX];
static const char instance_handles[GPUS_MAX][PLACES_MAX];

struct gtel_nvml_device *device_at(unsigned gpu)
{
    return (struct gtel_nvml_device *)&handles[gpu];
}

struct gtel_nvml_device *instance_at(unsigned gpu, unsigned place)
{
    return (struct gtel_nvml_device *)&instance_handles[gpu][place];
}

/* A result code for "!N", or NO_ANSWER when text is no code. */
static int code_of(struct gtel_str text)
{
    uint64_t code;
    if (text.n < 2 || text.p[0] != '!' || gtel_str_u64(gtel_str_skip(text, 1), &code) < 0)
        return NO_ANSWER;
    return (int)code;
}

int ask_key(const char *key, int missing, struct gtel_str *ret)
{
    struct gtel_str text;
    if (gtel_tree_call(gtel_player_tree(), gtel_str_of(key), &text) < 0)
        return missing;
    int code = code_of(text);
    if (code != NO_ANSWER)
        return code;
    *ret = text;
    return GTEL_NVML_SUCCESS;
}

const char *who_is(const struct gtel_nvml_device *device, char *text)
{
    const char *at = (const char *)device;
    text[0] = '\0';
    for (unsigned i = 0; i < GPUS_MAX; i++) {
        if (at == &handles[i])
            (void)snprintf(text, WHO_SIZE, "%u", i);
        for (unsigned place = 0; place < PLACES_MAX; place++)
            if (at == &instance_handles[i][place])
                (void)snprintf(text, WHO_SIZE, "%u/%u", i, place);
    }
    return text;
}

int ask_who(const char *name, const char *who, int n, const unsigned *of, struct gtel_str *ret)
{
    char key[KEY_SIZE];
    if (!who[0])
        return GTEL_NVML_INVALID_ARGUMENT;
    int length = snprintf(key, sizeof(key), "%s %s", name, who);
    for (int i = 0; i < n; i++)
        length += snprintf(key + length, sizeof(key) - (size_t)length, " %u", of[i]);
    return ask_key(key, GTEL_NVML_NOT_SUPPORTED, ret);
}

int ask(const char *name, const struct gtel_nvml_device *device, int n, const unsigned *of,
        struct gtel_str *ret)
{
    char who[WHO_SIZE];
    return ask_who(name, who_is(device, who), n, of, ret);
}

int numbers(struct gtel_str text, uint64_t *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gtel_str word;
        int64_t v;
        if (!gtel_str_word(&text, &word))
            return GTEL_NVML_UNKNOWN;
        if (gtel_str_u64(word, &ret[i]) == 0)
            continue;
        if (gtel_str_i64(word, &v) == 0)
            ret[i] = (uint64_t)v;
        else if (!gtel_str_starts(word, GTEL_STR("0x")) || gtel_str_hex(word, &ret[i]) < 0)
            return GTEL_NVML_UNKNOWN;
    }
    return GTEL_NVML_SUCCESS;
}

int ask_numbers(const char *name, const struct gtel_nvml_device *device, uint64_t *ret, size_t n)
{
    struct gtel_str text;
    int rc = ask(name, device, 0, NULL, &text);
    return rc != GTEL_NVML_SUCCESS ? rc : numbers(text, ret, n);
}
