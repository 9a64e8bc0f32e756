/* SPDX-License-Identifier: MIT */
/* The sources of one lane, where they really run. */
#include "lanes/group.h"

#include "base/error.h"
#include "lanes/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MAX = 64 };

bool gtel_group_is_opted_in(const struct gtel_options *options, const struct gtel_source *source)
{
    return source->opt_in_plus_1 == 0 ||
           gtel_option_is(options, (enum gtel_option)(source->opt_in_plus_1 - 1), "on");
}

bool gtel_group_is_chosen(const struct gtel_options *options, const struct gtel_source *source)
{
    struct gtel_str rest = gtel_option_text(options, GTEL_O_SOURCES);
    struct gtel_str name;
    bool is_listed = rest.n == 0;
    while (gtel_str_part(&rest, ',', &name))
        is_listed = is_listed || gtel_str_eq(gtel_str_trim(name), gtel_str_of(source->name));
    return is_listed && gtel_group_is_opted_in(options, source);
}

int gtel_group_init(struct gtel_group *group, const char *lane, const struct gtel_env *env,
                    const struct gtel_options *options)
{
    *group = (struct gtel_group){.env = env, .options = options, .sent = UINT64_MAX};
    gtel_usage_init(&group->usage, env, options);
    group->batch.usage = &group->usage;
    gtel_cards_init(&group->cards, env, options);
    group->registry.cards = &group->cards;
    for (int i = 0; gtel_sources[i]; i++) {
        const struct gtel_source *source = gtel_sources[i];
        if (strcmp(source->lane, lane) != 0 || !gtel_group_is_chosen(options, source))
            continue;
        struct gtel_group_entry *entry = &group->entry[group->n];
        *entry =
            (struct gtel_group_entry){.source = gtel_source_whole(source), .index = (uint8_t)i};
        entry->state = calloc(1, entry->source.state_size ? entry->source.state_size : 1);
        if (!entry->state)
            return -ENOMEM;
        group->n++;
    }
    return 0;
}

void gtel_group_done(struct gtel_group *group)
{
    for (size_t i = 0; i < group->n; i++) {
        struct gtel_group_entry *entry = &group->entry[i];
        if (entry->phase != GTEL_GROUP_CLOSED)
            entry->source.close(entry->state);
        free(entry->state);
    }
    gtel_usage_done(&group->usage);
    gtel_batch_done(&group->batch);
    gtel_cards_done(&group->cards);
    gtel_registry_done(&group->registry);
    *group = (struct gtel_group){0};
}

/* In gathers; those that are rare make it no longer than the usual bound on a clock. */
static void lengthen(const struct gtel_group *group, struct gtel_backoff *pause)
{
    uint64_t last = group->period_ns > 0 ? GTEL_BACKOFF_LAST_NS / group->period_ns : PAUSE_MAX;
    last = last < PAUSE_MAX ? last : PAUSE_MAX;
    gtel_backoff_fail(pause, group->gathers + 1, last < 1 ? last : 1, last);
}

static void note_failure(struct gtel_group *group, struct gtel_group_entry *entry, const char *what,
                         int r)
{
    bool is_known = entry->error < 0;
    group->errors++;
    entry->error = r;
    if (is_known)
        return;
    const char *fix = group->env->ops->shortage ? gtel_fs_shortage_fix(r) : ""; /* Linux's words */
    gtel_log(&group->env->log, GTEL_LOG_WARNING, "%s: %s failed: %s; %s%strying again",
             entry->source.name, what, gtel_error_text(r), fix, fix[0] ? "; " : "");
}

static void note_success(struct gtel_group *group, struct gtel_group_entry *entry)
{
    if (entry->error == 0)
        return;
    entry->error = 0;
    gtel_log(&group->env->log, GTEL_LOG_INFO, "%s: works again", entry->source.name);
}

static void schedule_rescan(struct gtel_group *group, struct gtel_group_entry *entry)
{
    entry->rescan_ns = group->now_ns + gtel_option_number(group->options, GTEL_O_RESCAN);
}

/* True when the source is open. */
static bool ensure_open(struct gtel_group *group, struct gtel_group_entry *entry)
{
    if (entry->phase != GTEL_GROUP_CLOSED)
        return true;
    if (entry->rescan_ns > group->now_ns && entry->version == group->cards.version)
        return false;
    entry->version = group->cards.version;
    memset(entry->state, 0, entry->source.state_size);
    (void)gtel_fs_shortage(group->env); /* what was before is of no interest */
    int r = gtel_source_open(&entry->source, entry->state, group->env, group->options);
    if (r == 0) {
        entry->phase = GTEL_GROUP_OPEN;
        entry->rescan_ns = 0;
        return true;
    }
    int shortage = gtel_error_is_absence(r) ? gtel_fs_shortage(group->env) : r;
    if (shortage == 0) {
        schedule_rescan(group, entry);
    } else {
        lengthen(group, &entry->pause);
        note_failure(group, entry, "start", shortage);
    }
    return false;
}

static int ensure_discovered(struct gtel_group *group, struct gtel_group_entry *entry)
{
    if (entry->version == group->cards.version && entry->rescan_ns > group->now_ns)
        return entry->found;
    if (gtel_backoff_is_waiting(&entry->discovery_pause, group->gathers))
        return entry->found;
    schedule_rescan(group, entry);
    entry->found = entry->source.discover(entry->state, &group->registry);
    entry->version = group->cards.version;
    if (gtel_error_is_absence(entry->found))
        entry->found = 0;
    if (entry->found < 0) {
        entry->rescan_ns = 0;
        lengthen(group, &entry->discovery_pause);
    } else {
        entry->discovery_pause = (struct gtel_backoff){0};
    }
    return entry->found;
}

static void sample_entry(struct gtel_group *group, struct gtel_group_entry *entry)
{
    if (entry->phase == GTEL_GROUP_TICK_STUCK)
        entry->phase = GTEL_GROUP_OPEN;
    if (gtel_backoff_is_waiting(&entry->pause, group->gathers))
        return;
    if (!ensure_open(group, entry))
        return;
    int found = ensure_discovered(group, entry);
    group->batch.source = entry->index;
    group->batch.origin = 0;
    group->batch.t_ns = gtel_env_now(group->env);
    int r = entry->source.sample(entry->state, &group->registry, &group->batch);
    if (r == -ENODEV) {
        entry->rescan_ns = 0; /* at the next gather */
        r = 0;
    }
    bool is_sampled = r >= 0 || gtel_error_is_absence(r);
    if (is_sampled)
        entry->pause = (struct gtel_backoff){0};
    else
        lengthen(group, &entry->pause);
    if (!is_sampled)
        note_failure(group, entry, "sampling", r);
    else if (found < 0)
        note_failure(group, entry, "discovery", found);
    else
        note_success(group, entry);
}

void gtel_group_diagnose(struct gtel_group *group, struct gtel_findings *findings)
{
    for (size_t i = 0; i < group->n; i++) {
        struct gtel_group_entry *entry = &group->entry[i];
        const char *const text[3] = {entry->source.name,
                                     "the source does not work; it is tried again", NULL};
        findings->source = entry->index;
        if (entry->error < 0)
            gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU, entry->error, text);
        if (entry->phase != GTEL_GROUP_CLOSED && entry->source.diagnose)
            entry->source.diagnose(entry->state, &group->registry, findings);
    }
}

void gtel_group_sample(struct gtel_group *group)
{
    gtel_batch_reset(&group->batch);
    gtel_usage_begin(&group->usage);
    group->gathers++;
    uint64_t now_ns = gtel_env_now(group->env);
    group->period_ns = group->now_ns > 0 ? now_ns - group->now_ns : 0;
    group->now_ns = now_ns;
    gtel_cards_begin(&group->cards, &group->registry);
    for (size_t i = 0; i < group->n; i++)
        sample_entry(group, &group->entry[i]);
    gtel_usage_emit(&group->usage, &group->batch);
    group->errors += group->batch.failed_sources;
    if (group->batch.findings)
        gtel_group_diagnose(group, group->batch.findings);
}

uint64_t gtel_group_rss(const struct gtel_env *env, struct gtel_fs_file *statm)
{
    char buf[128];
    struct gtel_str text;
    struct gtel_str word;
    uint64_t pages = 0;
    if (env->page_size == 0)
        return 0;
    if (!gtel_fs_is_open(statm) && gtel_fs_open(env, statm, "proc/self/statm") < 0)
        return 0;
    if (gtel_fs_read(env, statm, buf, sizeof(buf), &text) < 0)
        return 0;
    /* proc(5): size, resident, … in pages */
    if (!gtel_str_word(&text, &word) || !gtel_str_word(&text, &word) ||
        gtel_str_u64(word, &pages) < 0)
        return 0;
    return pages * env->page_size;
}

void gtel_group_answer(struct gtel_group *group, uint64_t request, bool with_findings,
                       struct gtel_fs_file *statm, struct gtel_buf *out)
{
    struct gtel_findings findings = {0};
    struct gtel_batch *batch = &group->batch;
    batch->findings = with_findings ? &findings : NULL;
    gtel_group_sample(group);
    /* To a limit, since the start: readings, and devices at each search for them. */
    uint64_t dropped = batch->dropped + group->registry.dropped + group->usage.dropped;
    const struct gtel_answer head = {.request = request,
                                     .errors = group->errors,
                                     .dropped = dropped,
                                     .rss_bytes = statm ? gtel_group_rss(group->env, statm) : 0,
                                     .needs_restart = group->registry.renewal == GTEL_RENEWAL_DUE};
    bool with_devices = group->sent != group->registry.generation;
    gtel_buf_reset(out);
    gtel_wire_answer(out, &head, &group->registry, with_devices, batch);
    if (out->has_failed) { /* beyond all limits: say nothing rather than half */
        batch->dropped += batch->n;
        batch->n = 0;
        batch->findings = NULL;
        gtel_buf_reset(out);
        gtel_wire_answer(out, &head, &group->registry, with_devices, batch);
    }
    batch->findings = NULL;
    gtel_findings_done(&findings);
    group->sent = group->registry.generation;
}

/* When a source asks to be called, or 0. */
static uint64_t due_of(const struct gtel_group *group, const struct gtel_group_entry *entry)
{
    bool can_tick = entry->phase == GTEL_GROUP_OPEN &&
                    !gtel_backoff_is_waiting(&entry->pause, group->gathers + 1);
    return can_tick && entry->source.due_ns ? entry->source.due_ns(entry->state) : 0;
}

uint64_t gtel_group_due(const struct gtel_group *group)
{
    uint64_t first = 0;
    for (size_t i = 0; i < group->n; i++) {
        uint64_t due = due_of(group, &group->entry[i]);
        first = due > 0 && (first == 0 || due < first) ? due : first;
    }
    return first;
}

void gtel_group_tick(struct gtel_group *group)
{
    gtel_batch_reset(&group->batch);
    for (size_t i = 0; i < group->n; i++) {
        struct gtel_group_entry *entry = &group->entry[i];
        uint64_t now = gtel_env_now(group->env);
        uint64_t due = due_of(group, entry);
        if (due == 0 || now < due)
            continue;
        group->batch.source = entry->index;
        group->batch.origin = 0;
        group->batch.t_ns = now;
        if (entry->source.tick(entry->state, &group->registry, &group->batch) == -ENODEV)
            entry->rescan_ns = 0;
        due = due_of(group, entry);
        if (due > 0 && due <= now)
            entry->phase = GTEL_GROUP_TICK_STUCK;
    }
    gtel_batch_reset(&group->batch);
    gtel_usage_begin(&group->usage);
}
