/* SPDX-License-Identifier: MIT */
/* A loader of Level Zero that plays a recorded machine, with faults. */
#include "fakes/libze_loader/double.h"

#include "abi/zet_abi.h"
#include "recording/replay_zes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#define READ "rb"
#else
#define READ "re"
#endif

enum { TREE_MAX = 1 << 20, CLOCKS_MAX = 256, COUNTED_MAX = 16, USAGE_MS = 100 };

/* As with the replay, the calls have no context: one machine per process. */
static struct {
    const struct gtel_tree *tree;
    unsigned users;        /* sources that play it */
    struct gtel_tree *own; /* read here */
    struct gtel_env env;   /* the clock of that one */
    void *kept;            /* what was leaked */
    bool is_stale;         /* handles are of no use any more, in this process */
    struct {
        const char *name;
        uint64_t calls;
    } counted[COUNTED_MAX]; /* calls of which some are to fail */
} playing;

int gtel_double_play(const struct gtel_tree *tree)
{
    if (!tree) {
        gtel_replay_zes_close();
        if (playing.users > 0 && --playing.users == 0)
            playing.tree = NULL;
        return 0;
    }
    int r = gtel_replay_zes_open(tree);
    if (r < 0)
        return r;
    playing.tree = tree;
    playing.users++;
    return 0;
}

/* The machine that the variable names. */
static void play_own(void)
{
    static char text[TREE_MAX];
    char error[200] = "no such file";
    const char *path = getenv("GTEL_DOUBLE");
    FILE *file = path ? fopen(path, READ) : NULL;
    size_t n = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        (void)fclose(file);
    int r = gtel_tree_parse((struct gtel_str){text, n}, &playing.own, error, sizeof(error));
    if (r == 0)
        r = gtel_env_tree_init(playing.own, false, gtel_env_real_now(), &playing.env);
    if (r == 0)
        r = gtel_double_play(playing.own);
    if (r < 0)
        (void)fprintf(stderr, "GTEL_DOUBLE=%s: %s\n", path ? path : "", error);
}

#ifdef _WIN32
static void nap(uint64_t ms)
{
    Sleep((DWORD)ms);
}
#else
static void nap(uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}
#endif

static void spin(uint64_t ms)
{
    uint64_t until_ns = gtel_env_real_now() + ms * 1000000;
    while (gtel_env_real_now() < until_ns)
        continue;
}

/* Kept in a list: nothing that a leak checker would call a leak of ours. */
static void leak(uint64_t mib)
{
    size_t n = (size_t)mib << 20;
    void **block = n > 0 ? malloc(n) : NULL;
    if (!block)
        return;
    memset(block, 1, n);
    block[0] = playing.kept;
    playing.kept = block;
}

/* "CODE N" or "CODE N M". The code, when this call is one of those, or 0. */
static uint32_t fail(const char *name, struct gtel_str text)
{
    uint64_t v[3] = {0, 0, 1};
    struct gtel_str word;
    size_t at = 0;
    for (size_t i = 0; i < 3 && gtel_str_word(&text, &word); i++) {
        bool is_hex = gtel_str_starts(word, GTEL_STR("0x"));
        (void)(is_hex ? gtel_str_hex(word, &v[i]) : gtel_str_u64(word, &v[i]));
    }
    while (at < COUNTED_MAX - 1 && playing.counted[at].name &&
           strcmp(playing.counted[at].name, name) != 0)
        at++;
    playing.counted[at].name = name;
    uint64_t call = ++playing.counted[at].calls;
    return call >= v[1] && call < v[1] + v[2] ? (uint32_t)v[0] : GTEL_ZE_SUCCESS;
}

/* What the machine wants the call to do beside answering. A result code to answer, or 0. */
static uint32_t before(const char *name)
{
    char key[100];
    struct gtel_str text;
    struct gtel_str word;
    uint64_t n = 0;
    if (!playing.tree)
        play_own();
    if (playing.own)
        (void)gtel_env_now(&playing.env); /* goes on to the present */
    (void)snprintf(key, sizeof(key), "double %s", name);
    if (!playing.tree || gtel_tree_call(playing.tree, gtel_str_of(key), &text) < 0 ||
        !gtel_str_word(&text, &word))
        return playing.is_stale ? GTEL_ZE_UNKNOWN : GTEL_ZE_SUCCESS;
    if (gtel_str_eq(word, GTEL_STR("fail")))
        return fail(name, text);
    (void)gtel_str_u64(gtel_str_trim(text), &n);
    if (gtel_str_eq(word, GTEL_STR("crash")))
        (void)raise(SIGSEGV);
    else if (gtel_str_eq(word, GTEL_STR("hang")))
        nap(n);
    else if (gtel_str_eq(word, GTEL_STR("spin")))
        spin(n);
    else if (gtel_str_eq(word, GTEL_STR("say")))
        (void)fprintf(stderr, "%.*s\n", GTEL_STR_ARG(gtel_str_trim(text)));
    else if (gtel_str_eq(word, GTEL_STR("leak")))
        leak(n);
    else if (gtel_str_eq(word, GTEL_STR("stale")))
        playing.is_stale = true;
    return playing.is_stale ? GTEL_ZE_UNKNOWN : GTEL_ZE_SUCCESS;
}

/* Each exported name is declared before it is defined: there is no header for them. */
#define EXPORT(name, parameters)                                                                   \
    GTEL_EXPORT uint32_t name parameters;                                                          \
    uint32_t name parameters

#define APPLY_(fn, first, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_ZES_SYM(name, need, shape, type)                                                      \
    EXPORT(name, GTEL_ZES_PARAMS_##shape(type))                                                    \
    {                                                                                              \
        uint32_t(*call) GTEL_ZES_PARAMS_##shape(type);                                             \
        uint32_t code = before(#name);                                                             \
        void *address = gtel_replay_zes_symbol(#name);                                             \
        memcpy(&call, &address, sizeof(call));                                                     \
        if (code)                                                                                  \
            return code;                                                                           \
        return call ? APPLY(call, 0 GTEL_ZES_ARGS_##shape) : GTEL_ZE_UNSUPPORTED_FEATURE;          \
    }
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
#define GTEL_ZET_SYM(name, need, shape, type)                                                      \
    EXPORT(name, GTEL_ZET_PARAMS_##shape(type))                                                    \
    {                                                                                              \
        uint32_t(*call) GTEL_ZET_PARAMS_##shape(type);                                             \
        uint32_t code = before(#name);                                                             \
        void *address = gtel_replay_zes_symbol(#name);                                             \
        memcpy(&call, &address, sizeof(call));                                                     \
        if (code)                                                                                  \
            return code;                                                                           \
        return call ? APPLY(call, 0 GTEL_ZET_ARGS_##shape) : GTEL_ZE_UNSUPPORTED_FEATURE;          \
    }
#define GTEL_ZET_WITHOUT_SHARED
#include "abi/zet_syms.def"
#undef GTEL_ZET_WITHOUT_SHARED
#undef GTEL_ZET_SYM

/* ---- what we never call ---- */

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
    (void)before(name);
    return gtel_replay_zes_ask(name, handle, &text);
}

EXPORT(zesDeviceEccConfigurable, (void *device, uint8_t *ret))
{
    struct gtel_str text;
    (void)before("zesDeviceEccConfigurable");
    uint32_t code = gtel_replay_zes_ask("zesDeviceEccConfigurable", device, &text);
    return code ? code : next_flag(&text, ret);
}

EXPORT(zesDeviceSetEccState,
       (void *device, const void *wanted, struct gtel_zes_ecc_properties *ret))
{
    struct gtel_str text;
    double v[3] = {0};
    (void)before("zesDeviceSetEccState");
    uint32_t code =
        wanted ? gtel_replay_zes_ask("zesDeviceSetEccState", device, &text) : GTEL_ZE_NULL_POINTER;
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
    (void)before("zesFrequencyGetAvailableClocks");
    uint32_t code = gtel_replay_zes_ask("zesFrequencyGetAvailableClocks", frequency, &text);
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
    (void)before("zesPowerGetUsage");
    nap(USAGE_MS);
    uint32_t code = gtel_replay_zes_ask("zesPowerGetUsage", power, &text);
    for (size_t i = 0; i < 2 && code == GTEL_ZE_SUCCESS; i++)
        code = next(&text, &v[i]);
    if (code == GTEL_ZE_SUCCESS) {
        *instant = (uint32_t)v[0];
        *average = (uint32_t)v[1];
    }
    return code;
}
