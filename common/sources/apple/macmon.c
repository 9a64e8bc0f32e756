/* SPDX-License-Identifier: MIT */
/*
 * Source macmon: the GPU of an Apple chip, through the program macmon (vladkens/macmon: readme.md,
 * changelog.md, src_app/main.rs).
 *
 * One `macmon pipe` lives as long as the source and writes a line each second, which tick() takes;
 * a gather reports the mean of the lines since the one before. Should it end or fall silent, it is
 * started again after a pause that grows.
 */
#include "sources/source.h"

#include "base/error.h"
#include "base/backoff.h"
#include "host/env.h"
#include "host/fs.h"
#include "parse/json.h"
#include "parse/macmon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

enum {
    LINE_LEN_MAX = 32768, /* those of an Ultra with all its cores have some 6 KiB */
    READS_MAX = 16,       /* of one call, so that a flood is bounded work */
    FIRST_STEPS = 50,     /* of 50 ms, for the first line */
    USAGE_ERROR = 2,      /* exit status for an argument that is not known (clap-rs/clap) */
};

static const uint64_t stale_ns = 4 * SECOND;   /* older values are not repeated */
static const uint64_t silent_ns = 10 * SECOND; /* then it is ended */
static const uint64_t steady_ns = 64 * SECOND; /* who ran so long needs no pause */
static const uint64_t pause_max_ns = 512 * SECOND;

/* Homebrew's folders. PATH is not asked: what it names may be another user's. */
static const struct place {
    const char *folder;
    const char *program;
} places[] = {{"opt/homebrew/bin", "/opt/homebrew/bin/macmon"},
              {"usr/local/bin", "/usr/local/bin/macmon"}};

enum { OTHERS, ACTIVE, SCALED };
static const char *const origins[] = {"macmon", "macmon (active ratio)", "macmon (scaled ratio)",
                                      NULL};

static const struct row {
    enum gtel_macmon_value value;
    enum gtel_metric metric;
    const char *part;
} rows[] = {
    {GTEL_MACMON_BUSY, GTEL_M_GPU_BUSY, NULL},
    {GTEL_MACMON_FREQUENCY, GTEL_M_FREQUENCY_ACTUAL, "graphics"},
    {GTEL_MACMON_TEMPERATURE, GTEL_M_TEMPERATURE, "gpu"},
    {GTEL_MACMON_RAM_TOTAL, GTEL_M_MEMORY_TOTAL, "system"},
    {GTEL_MACMON_RAM_USED, GTEL_M_MEMORY_USED, "system"},
    {GTEL_MACMON_POWER_GPU, GTEL_M_GPU_POWER, NULL},
    {GTEL_MACMON_POWER_GPU, GTEL_M_POWER, "gpu"},
    {GTEL_MACMON_POWER_ANE, GTEL_M_POWER, "ane"},
    {GTEL_MACMON_POWER_ALL, GTEL_M_POWER, "pkg"},
};

struct macmon {
    const struct gtel_env *env;
    void *memory;              /* for the parser */
    const struct place *place; /* of the program; NULL: none */
    int child_plus_1;          /* 0: none runs */
    bool no_soc;               /* it does not know --soc-info */
    bool has_line;             /* since it was started */
    bool is_taken;             /* the lines so far were reported */
    uint64_t start_ns;
    uint64_t line_ns;  /* of the last line with values */
    uint64_t heard_ns; /* the same or start_ns, and later by the time in which nobody listened */
    uint64_t due_ns;   /* 0: it was never started */
    struct gtel_backoff pause;
    int error;
    char why[120];
    struct gtel_device *device; /* NULL: no line has come yet */
    struct gtel_macmon now;
    double sum[GTEL_MACMON_VALUES];
    unsigned lines[GTEL_MACMON_VALUES]; /* behind the sum */
    size_t n;                           /* of the present line; more than it has room for: lost */
    char line[LINE_LEN_MAX];
};

/* ---- the program ---- */

static const struct place *find(const struct gtel_env *env)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++)
        if (gtel_fs_exists(env, places[i].program + 1))
            return &places[i];
    return NULL;
}

static bool is_mac(const struct gtel_env *env)
{
    return gtel_fs_exists(env, "System/Library/CoreServices/SystemVersion.plist");
}

static bool present(const struct gtel_env *env)
{
    return is_mac(env) && find(env);
}

static bool find_program(const struct gtel_env *env, char *ret, size_t size)
{
    const struct place *place = find(env);
    return place && gtel_str_copy(ret, size, gtel_str_of(place->program + 1));
}

static const struct gtel_source_library program = {
    .name = "macmon",
    .fix = "brew install macmon; it is looked for in /opt/homebrew/bin and /usr/local/bin",
    .is_wanted = is_mac,
    .find = find_program};

/* r and its reason are in the log once; it is started again later. */
static void fail(struct macmon *macmon, int r)
{
    uint64_t now = gtel_env_now(macmon->env);
    if (macmon->has_line && now - macmon->start_ns >= steady_ns)
        macmon->pause = (struct gtel_backoff){0};
    gtel_failure_log(&macmon->env->log, &macmon->error, r, "gtel doctor says more",
                     "macmon: %s: %s", macmon->place ? macmon->place->program : "none",
                     macmon->why);
    gtel_backoff_fail(&macmon->pause, now, SECOND, pause_max_ns);
    macmon->due_ns = macmon->pause.due;
}

/* What another user could exchange is not run with our rights: Homebrew's folders are a user's. */
static int check_owner(struct macmon *macmon, const char *path)
{
    struct gtel_stat info;
    int r = macmon->env->ops->stat(macmon->env->arg, path, &info);
    if (r < 0 || info.uid == 0 || info.uid == macmon->env->uid)
        return r;
    (void)snprintf(macmon->why, sizeof(macmon->why), "/%s belongs to user %u, and this is user %u",
                   path, (unsigned)info.uid, (unsigned)macmon->env->uid);
    return -EPERM;
}

static void start(struct macmon *macmon)
{
    const char *soc = macmon->no_soc ? NULL : "--soc-info";
    macmon->place = find(macmon->env);
    macmon->has_line = false;
    macmon->n = 0;
    macmon->start_ns = macmon->heard_ns = gtel_env_now(macmon->env);
    (void)gtel_str_copy(macmon->why, sizeof(macmon->why), GTEL_STR("cannot be started"));
    int r = macmon->place ? check_owner(macmon, macmon->place->folder) : -ENOENT;
    if (r == 0)
        r = check_owner(macmon, macmon->place->program + 1);
    if (r == 0) {
        const char *const args[] = {
            macmon->place->program, "pipe", "-s", "0", "-i", "1000", soc, NULL};
        r = gtel_env_child_start(macmon->env, args);
    }
    if (r < 0)
        fail(macmon, r);
    else
        macmon->child_plus_1 = r + 1;
}

/* Ends it, which gives r for what it has done or not done. */
static void stop(struct macmon *macmon, int r)
{
    int status = macmon->env->ops->child_end(macmon->env->arg, macmon->child_plus_1 - 1);
    macmon->child_plus_1 = 0;
    if (r == -EPIPE && status == USAGE_ERROR && !macmon->no_soc && !macmon->has_line) {
        macmon->no_soc = true; /* before 0.6.1: again without that argument */
        start(macmon);
        return;
    }
    if (r == -ETIMEDOUT)
        (void)gtel_str_copy(macmon->why, sizeof(macmon->why), GTEL_STR("silent for 10 s"));
    else
        (void)snprintf(macmon->why, sizeof(macmon->why), "ended with exit status %d", status);
    fail(macmon, r);
}

/* ---- its lines ---- */

static void name_device(struct macmon *macmon, struct gtel_registry *registry)
{
    const struct gtel_str name = GTEL_STR("apple0");
    if (!macmon->device && gtel_registry_add(registry, name, &macmon->device) < 0) {
        macmon->device = NULL;
        return;
    }
    gtel_device_label(registry, macmon->device, GTEL_LABEL_GPU, name);
    gtel_device_label(registry, macmon->device, GTEL_LABEL_VENDOR, GTEL_STR("apple"));
    gtel_device_label(registry, macmon->device, GTEL_LABEL_DRIVER, GTEL_STR("agx"));
    gtel_device_label(registry, macmon->device, GTEL_LABEL_MODEL, gtel_str_of(macmon->now.model));
}

static void take_line(struct macmon *macmon, struct gtel_registry *registry)
{
    struct gtel_macmon line;
    if (macmon->n > sizeof(macmon->line) ||
        gtel_macmon_parse((struct gtel_str){macmon->line, macmon->n}, macmon->memory, &line) < 0)
        return; /* one that was cut, a warning */
    for (size_t i = 0; i < GTEL_MACMON_VALUES; i++) {
        if (macmon->is_taken || (i == GTEL_MACMON_BUSY && line.is_scaled != macmon->now.is_scaled))
            macmon->sum[i] = macmon->lines[i] = 0;
        if ((line.known >> i & 1) != 0) {
            macmon->sum[i] += line.value[i];
            macmon->lines[i]++;
        }
    }
    macmon->now = line;
    macmon->is_taken = false;
    macmon->has_line = true;
    macmon->line_ns = macmon->heard_ns = gtel_env_now(macmon->env);
    name_device(macmon, registry);
    gtel_failure_log(&macmon->env->log, &macmon->error, 0, "", "macmon: %s",
                     macmon->place->program);
}

static void take_bytes(struct macmon *macmon, struct gtel_registry *registry, struct gtel_str bytes)
{
    while (bytes.n > 0) {
        size_t end = gtel_str_find(bytes, '\n');
        if (macmon->n + end <= sizeof(macmon->line))
            memcpy(macmon->line + macmon->n, bytes.p, end);
        macmon->n += end;
        if (end < bytes.n) {
            take_line(macmon, registry);
            macmon->n = 0;
        }
        bytes = gtel_str_skip(bytes, end + 1);
    }
}

/* Takes what has come, for which at most wait_ns are waited; starts it where that is due. */
static void advance(struct macmon *macmon, struct gtel_registry *registry, uint64_t wait_ns)
{
    char buf[16384];
    int64_t n = 1;
    uint64_t now = gtel_env_now(macmon->env);
    if (macmon->child_plus_1 > 0 && now > macmon->due_ns)
        macmon->heard_ns += now - macmon->due_ns; /* a Mac that slept: so did the child */
    if (macmon->child_plus_1 == 0 && !gtel_backoff_is_waiting(&macmon->pause, now))
        start(macmon);
    for (int i = 0; i < READS_MAX && macmon->child_plus_1 > 0 && n != -EAGAIN; i++) {
        n = macmon->env->ops->child_read(macmon->env->arg, macmon->child_plus_1 - 1, buf,
                                         sizeof(buf), wait_ns);
        now = gtel_env_now(macmon->env);
        macmon->due_ns = now + SECOND;
        if (n > 0)
            take_bytes(macmon, registry, (struct gtel_str){buf, (size_t)n});
        else if (n != -EAGAIN)
            stop(macmon, n < 0 ? (int)n : -EPIPE);
        wait_ns = 0;
    }
    if (macmon->child_plus_1 > 0 && now >= macmon->heard_ns + silent_ns)
        stop(macmon, -ETIMEDOUT);
}

/* ---- readings ---- */

/* Busy time and power are means of the lines since the last gather, others are of the last line. */
static void emit_row(const struct macmon *macmon, const struct row *row, struct gtel_batch *batch)
{
    const struct gtel_str part = gtel_str_of(row->part);
    const unsigned lines = macmon->lines[row->value];
    double value = macmon->now.value[row->value];
    bool is_mean = row->metric == GTEL_M_GPU_BUSY || row->metric == GTEL_M_GPU_POWER ||
                   row->metric == GTEL_M_POWER;
    if (is_mean ? lines == 0 : (macmon->now.known >> row->value & 1) == 0)
        return;
    if (is_mean)
        value = macmon->sum[row->value] / lines;
    gtel_batch_number(batch, macmon->device, row->metric, part, value);
}

static void emit(const struct macmon *macmon, struct gtel_batch *batch)
{
    const struct gtel_macmon *now = &macmon->now;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        bool is_busy = rows[i].value == GTEL_MACMON_BUSY;
        batch->origin = (uint8_t)(!is_busy ? OTHERS : now->is_scaled ? SCALED : ACTIVE);
        emit_row(macmon, &rows[i], batch);
    }
    for (size_t i = 0; i < GTEL_MACMON_FANS; i++)
        if (now->fan[i].rpm >= 0)
            gtel_batch_number(batch, macmon->device, GTEL_M_FAN_RPM, gtel_str_of(now->fan[i].name),
                              now->fan[i].rpm);
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct macmon *macmon = state;
    bool is_first = macmon->due_ns == 0;
    advance(macmon, registry, 0);
    for (int i = 0; i < FIRST_STEPS && is_first && !macmon->has_line; i++)
        if (macmon->child_plus_1 > 0)
            advance(macmon, registry, SECOND / 20);
    batch->t_ns = gtel_env_now(macmon->env);
    if (gtel_error_is_broken(macmon->error))
        gtel_batch_failed(batch, macmon->device);
    if (macmon->error < 0 || !macmon->device || batch->t_ns > macmon->line_ns + stale_ns)
        return 0;
    batch->t_ns = macmon->line_ns;
    emit(macmon, batch);
    macmon->is_taken = true;
    return 0;
}

static uint64_t due_ns(const void *state)
{
    const struct macmon *macmon = state;
    return macmon->due_ns;
}

static int tick(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    (void)batch;
    advance(state, registry, 0);
    return 0;
}

static int open_macmon(void *state, const struct gtel_env *env, const struct gtel_options *options)
{
    struct macmon *macmon = state;
    (void)options;
    if (!present(env))
        return -ENOENT;
    macmon->env = env;
    macmon->memory = malloc(gtel_json_memory(LINE_LEN_MAX));
    return macmon->memory ? 0 : -ENOMEM;
}

/* The GPU is known from the first line on; it does not come or go. */
static int discover(void *state, struct gtel_registry *registry)
{
    (void)state;
    (void)registry;
    return 0;
}

static void diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct macmon *macmon = state;
    const char *fix = "try it by hand, as this user: macmon pipe -s 1; it needs an Apple chip, and "
                      "fails in virtual machines";
    if (macmon->error == -EPERM)
        fix = "macmon and its folder have to belong to root or to the user who runs this: start "
              "the agent as the owner of Homebrew (brew services without sudo)";
    const char *const text[3] = {macmon->place ? macmon->place->program : "macmon", macmon->why,
                                 fix};
    (void)registry;
    if (macmon->error < 0)
        gtel_finding_put(findings, macmon->device, GTEL_MEASUREMENT_GPU, macmon->error, text);
}

static void close_macmon(void *state)
{
    struct macmon *macmon = state;
    if (macmon->child_plus_1 > 0)
        (void)macmon->env->ops->child_end(macmon->env->arg, macmon->child_plus_1 - 1);
    free(macmon->memory);
    *macmon = (struct macmon){0};
}

const struct gtel_source gtel_source_macmon = {
    .name = "macmon",
    .lane = "macmon",
    .vendor = "apple",
    .summary =
        "The GPU of Apple chips through macmon: use, clock, temperature, fans, power of GPU, "
        "neural engine and package, memory of the machine",
    .needs = "macOS, and macmon 0.5 or newer in one of Homebrew's folders; no rights",
    .origins = origins,
    .library = &program,
    .state_size = sizeof(struct macmon),
    .present = present,
    .open = open_macmon,
    .discover = discover,
    .sample = sample,
    .due_ns = due_ns,
    .tick = tick,
    .diagnose = diagnose,
    .close = close_macmon,
};
