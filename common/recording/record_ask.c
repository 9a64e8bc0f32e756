/* SPDX-License-Identifier: MIT */
/* What a recording env writes down of counters, drivers and messages. */
#include "recording/record_ask.h"

#include "host/fs.h"
#include "parse/uevent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void gtel_record_ask_answer(struct gtel_record_env *env, const char *words, const char *answer)
{
    char line[2 * GTEL_RECORD_PATH];
    if (words[0] == '\0')
        return; /* more than a line of the format can have */
    (void)snprintf(line, sizeof(line), "%s %s", words, answer);
    gtel_record_set(env->record, gtel_str_of(GTEL_FS_AT("\1%s", words)), GTEL_RECORD_ANSWER,
                    gtel_str_of(line));
}

bool gtel_record_ask_is_known(const struct gtel_record_env *env, const char *words)
{
    return gtel_record_find(env->record, gtel_str_of(GTEL_FS_AT("\1%s", words))) ==
           GTEL_RECORD_ANSWER;
}

/* That something fails, or, with r of 0 or more, that it does so no more. */
static void record_error(struct gtel_record_env *env, const char *words, int r)
{
    if (r < 0 || gtel_record_ask_is_known(env, words))
        gtel_record_ask_answer(env, words, r < 0 ? gtel_record_error_name(r) : "none");
}

/* ---- counters ---- */

/* A counter that the PMU does not have is no failure of the PMU. */
static void record_pmu_error(struct gtel_record_env *env, const char *pmu, int r)
{
    if (pmu[0] != '\0' && r != -ENOENT && r != -ENODEV && r != -EOPNOTSUPP)
        record_error(env, GTEL_FS_AT("pmu_error %s", pmu), r);
}

static void record_counters(struct gtel_record_env *env, const struct gtel_record_group *group,
                            const uint64_t *values)
{
    for (size_t i = 0; i < group->n && group->pmu[0]; i++)
        gtel_record_ask_answer(env, GTEL_FS_AT("pmu %s 0x%" PRIx64, group->pmu, group->config[i]),
                               GTEL_FS_AT("%" PRIu64 " 0", values[i]));
}

int gtel_record_ask_pmu_open(void *arg, uint32_t type, const uint64_t *configs, size_t n,
                             uint32_t cpu)
{
    struct gtel_record_env *env = arg;
    const struct gtel_env *inner = env->inner;
    uint64_t values[GTEL_PMU_EVENTS_MAX];
    uint64_t enabled_ns;
    char name[GTEL_TREE_PMU_MAX] = "";
    int handle = gtel_env_pmu_open(inner, type, configs, n, cpu);
    (void)gtel_tree_pmu_name(inner, type, name); /* else it stays empty */
    record_pmu_error(env, name, handle);
    if (handle < 0)
        return handle;
    if (handle >= GTEL_RECORD_GROUPS || n > GTEL_PMU_EVENTS_MAX) {
        inner->ops->pmu_close(inner->arg, handle);
        return -EMFILE;
    }
    struct gtel_record_group *group = &env->group[handle];
    memcpy(group->pmu, name, sizeof(name));
    group->n = n;
    memcpy(group->config, configs, n * sizeof(*configs));
    /* The counters must be there when they are opened, so they are read now. */
    if (inner->ops->pmu_read(inner->arg, handle, values, n, &enabled_ns) == 0)
        record_counters(env, group, values);
    return handle;
}

int gtel_record_ask_pmu_read(void *arg, int handle, uint64_t *values, size_t n,
                             uint64_t *ret_enabled_ns)
{
    struct gtel_record_env *env = arg;
    int r = env->inner->ops->pmu_read(env->inner->arg, handle, values, n, ret_enabled_ns);
    if (r == 0 && n == env->group[handle].n)
        record_counters(env, &env->group[handle], values);
    return r;
}

void gtel_record_ask_pmu_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    env->inner->ops->pmu_close(env->inner->arg, handle);
}

/* ---- queries ---- */

static size_t count_zeros(const unsigned char *bytes, size_t n)
{
    size_t zeros = 0;
    while (zeros < n && bytes[zeros] == 0)
        zeros++;
    return zeros;
}

void gtel_record_ask_words(struct gtel_buf *out, const unsigned char *bytes, size_t n,
                           size_t line_words)
{
    for (size_t i = 0, words = 0; i < n; words++) {
        uint64_t value = 0;
        size_t width = n - i < 8 ? n - i : 8;
        size_t zeros = count_zeros(bytes + i, n - i);
        if (zeros >= 2 * sizeof(value))
            width = zeros - zeros % sizeof(value);
        for (size_t k = 0; k < width && k < sizeof(value); k++)
            value |= (uint64_t)bytes[i + k] << 8 * k;
        gtel_buf_printf(out, "%s%zu:0x%" PRIx64,
                        line_words > 0 && words % line_words == 0 ? "\n| " : " ", width, value);
        i += width;
    }
}

enum { LINE_WORDS = 6 };

static void record_query(struct gtel_record_env *env, const char *name, const void *bytes,
                         int64_t r)
{
    struct gtel_buf lines;
    if (r != -ENOENT && r != -E2BIG)
        record_error(env, GTEL_FS_AT("query_error %s", name), (int)r);
    if (r < 0)
        return;
    gtel_buf_init(&lines, 1 << 16);
    gtel_buf_printf(&lines, "query %s", name);
    gtel_record_ask_words(&lines, bytes, (size_t)r, LINE_WORDS);
    gtel_record_set(env->record, gtel_str_of(GTEL_FS_AT("\1query %s", name)), GTEL_RECORD_ANSWER,
                    gtel_buf_text(&lines));
    gtel_buf_done(&lines);
}

int64_t gtel_record_ask_drm_query(void *arg, const char *node, enum gtel_drm_driver driver,
                                  uint32_t item, void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    int64_t r = gtel_env_drm_query(env->inner, node, driver, item, buf, n);
    record_query(env,
                 GTEL_FS_AT("%s %s %" PRIu32, node, driver == GTEL_DRM_XE ? "xe" : "i915", item),
                 buf, r);
    return r;
}

/* ---- messages of the kernel ---- */

int gtel_record_ask_uevent_open(void *arg)
{
    struct gtel_record_env *env = arg;
    int r = gtel_env_uevent_open(env->inner);
    if (r != -EOPNOTSUPP)
        gtel_record_ask_answer(env, "uevents", r >= 0 ? "on" : gtel_record_error_name(r));
    return r;
}

/* Whether a message is about a card, or a driver and its device. */
static bool is_about_gpus(const struct gtel_uevent *event)
{
    struct gtel_str text;
    return gtel_uevent_card(event->devpath, &text) == 0 ||
           gtel_uevent_value(event, GTEL_STR("WEDGED"), &text) == 0 ||
           (gtel_uevent_value(event, GTEL_STR("SUBSYSTEM"), &text) == 0 &&
            (gtel_str_eq(text, GTEL_STR("pci")) || gtel_str_eq(text, GTEL_STR("drm"))));
}

/*
 * The parts of a message that a line has room for: those without blanks. Of other devices only that
 * something was heard.
 */
static void record_message(struct gtel_record_env *env, const struct gtel_uevent *event)
{
    struct gtel_buf line;
    struct gtel_str rest = event->values;
    struct gtel_str part;
    if (!is_about_gpus(event)) {
        gtel_record_event(env->record, GTEL_STR("uevent change /devices/other"));
        return;
    }
    gtel_buf_init(&line, 4096);
    gtel_buf_printf(&line, "uevent %.*s %.*s", GTEL_STR_ARG(event->action),
                    GTEL_STR_ARG(event->devpath));
    while (gtel_str_part(&rest, '\0', &part)) {
        bool is_word = part.n > 0;
        for (size_t i = 0; i < part.n; i++)
            is_word = is_word && (unsigned char)part.p[i] > ' ';
        if (is_word && !gtel_str_starts(part, GTEL_STR("ACTION=")) &&
            !gtel_str_starts(part, GTEL_STR("DEVPATH=")))
            gtel_buf_printf(&line, " %.*s", GTEL_STR_ARG(part));
    }
    gtel_record_event(env->record, gtel_buf_text(&line));
    gtel_buf_done(&line);
}

int64_t gtel_record_ask_uevent_read(void *arg, int handle, void *buf, size_t n)
{
    struct gtel_record_env *env = arg;
    struct gtel_uevent event;
    int64_t r = env->inner->ops->uevent_read(env->inner->arg, handle, buf, n);
    if (env->heard_by_plus_1 == 0)
        env->heard_by_plus_1 = handle + 1;
    if (env->heard_by_plus_1 != handle + 1)
        return r; /* the same messages again */
    if (r == -ENOBUFS)
        gtel_record_event(env->record, GTEL_STR("uevent lost"));
    else if (r > 0 && gtel_uevent_parse((struct gtel_str){buf, (size_t)r}, &event) == 0)
        record_message(env, &event);
    return r;
}

void gtel_record_ask_uevent_close(void *arg, int handle)
{
    struct gtel_record_env *env = arg;
    if (env->heard_by_plus_1 == handle + 1)
        env->heard_by_plus_1 = 0;
    env->inner->ops->uevent_close(env->inner->arg, handle);
}

int gtel_record_ask_ras_read(void *arg, const char *device, struct gtel_ras_counter *ret,
                             size_t max, size_t *ret_n)
{
    struct gtel_record_env *env = arg;
    int r = gtel_env_ras_read(env->inner, device, ret, max, ret_n);
    if (r == -ENOENT || r == -EOPNOTSUPP)
        return r;
    record_error(env, "ras_error", r);
    for (size_t i = 0; r == 0 && i < *ret_n; i++)
        gtel_record_ask_answer(env, GTEL_FS_AT("ras %s %s %s", device, ret[i].node, ret[i].name),
                               GTEL_FS_AT("%" PRIu32, ret[i].value));
    return r;
}
