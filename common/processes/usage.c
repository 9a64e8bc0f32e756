/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs. */
#include "processes/usage.h"

#include "base/compiler.h"
#include "base/grow.h"
#include "pipeline/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GTEL_M_PROCESS_OTHER - (int)GTEL_M_PROCESS_RENDER == GTEL_ENGINE_KIND_OTHER,
               "a row per class of engines, in their order");

static const uint64_t keep_ns = 600000000000; /* a place, after its name was among the largest */

/*
 * Adds one amount to another. A value that one of them does not know is not known of both; what is
 * known of it is added all the same, to rank lines by. to->processes 0: nothing was added yet.
 */
static void add_sum(struct gtel_usage_sum *to, const struct gtel_usage_sum *sum)
{
    if (to->processes == 0) {
        *to = *sum;
        return;
    }
    to->processes += sum->processes;
    gtel_use_memory_add(&to->use.memory, &sum->use.memory, false);
    to->use.has_share &= sum->use.has_share;
    to->any_share |= sum->any_share;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        to->use.share[kind] += sum->use.share[kind];
}

/* Devices */

static bool has_device(const struct gtel_usage_lines *lines, size_t index)
{
    return lines->device[index].gather == lines->gather + 1;
}

static struct gtel_usage_device *device_of(struct gtel_usage_lines *lines,
                                           const struct gtel_device *device, uint8_t source,
                                           uint8_t origin)
{
    if (!gtel_grow_zeroed(&lines->device, &lines->devices, device->index + 1, GTEL_DEVICES_MAX,
                          sizeof(*lines->device)))
        return NULL;
    struct gtel_usage_device *on = &lines->device[device->index];
    if (has_device(lines, device->index))
        return on;
    on->device = device;
    on->gather = lines->gather + 1;
    on->all = (struct gtel_usage_sum){0};
    on->other = (struct gtel_usage_sum){0};
    on->is_complete = false;
    on->source = source;
    on->origin = origin;
    return on;
}

/* Lines */

static size_t length_of(const struct gtel_usage_tags *tags)
{
    size_t n = 0;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
        n += tags->n[i];
    return n;
}

static bool is_line(const struct gtel_usage_line *line, const struct gtel_device *device,
                    const struct gtel_usage_tags *tags)
{
    return line->device == device && line->tags.hash == tags->hash &&
           memcmp(line->tags.n, tags->n, sizeof(tags->n)) == 0 &&
           memcmp(line->text, tags->text, length_of(tags)) == 0;
}

static uint64_t line_hash(const struct gtel_device *device, const struct gtel_usage_tags *tags)
{
    return gtel_hash(tags->hash, &device->index, sizeof(device->index));
}

static bool grow_lines(struct gtel_usage_lines *lines)
{
    size_t size = lines->size;
    return gtel_index_reserve(&lines->index, lines->n + 1) == 0 &&
           gtel_grow(&lines->order, &size, lines->n + 1, SIZE_MAX,
                     sizeof(struct gtel_usage_line *)) &&
           gtel_grow(&lines->line, &lines->size, lines->n + 1, SIZE_MAX, sizeof(*lines->line));
}

static struct gtel_usage_line *make(struct gtel_usage_lines *lines,
                                    const struct gtel_device *device,
                                    const struct gtel_usage_tags *tags)
{
    size_t n = length_of(tags);
    char *text = grow_lines(lines) ? malloc(n) : NULL; /* never empty: the first tag has a value */
    if (!text)
        return NULL;
    memcpy(text, tags->text, n);
    gtel_index_put(&lines->index, line_hash(device, tags), lines->n);
    struct gtel_usage_line *line = &lines->line[lines->n++];
    *line = (struct gtel_usage_line){.device = device, .tags = *tags, .text = text};
    line->tags.text = text;
    return line;
}

static struct gtel_usage_line *find_or_make(struct gtel_usage_lines *lines,
                                            const struct gtel_device *device,
                                            const struct gtel_usage_tags *tags)
{
    size_t at = 0;
    int64_t i;
    while ((i = gtel_index_next(&lines->index, line_hash(device, tags), &at)) != GTEL_INDEX_NONE)
        if (is_line(&lines->line[i], device, tags))
            return &lines->line[i];
    return make(lines, device, tags);
}

/* Whether it is there in this gather. */
static bool is_there(const struct gtel_usage_lines *lines, const struct gtel_usage_line *line)
{
    return line->gather == lines->gather + 1;
}

static void add_to_line(struct gtel_usage_lines *lines, const struct gtel_device *device,
                        const struct gtel_usage_tags *tags, const struct gtel_usage_sum *sum)
{
    struct gtel_usage_line *line = tags ? find_or_make(lines, device, tags) : NULL;
    if (!line) {
        add_sum(&lines->device[device->index].other, sum);
        return;
    }
    if (!is_there(lines, line)) {
        line->gather = lines->gather + 1;
        line->sum.processes = 0;
    }
    add_sum(&line->sum, sum);
}

/* Choosing */

/* The larger share: of the first kind of memory, as far as it is known, or of an engine class. */
static double score_of(const struct gtel_usage_lines *lines, const struct gtel_usage_line *line)
{
    const struct gtel_use *use = &line->sum.use;
    uint64_t all = lines->device[line->device->index].all.use.memory.bytes[0];
    double score = all > 0 ? (double)use->memory.bytes[0] / (double)all : 0;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        score = use->share[kind] > score ? use->share[kind] : score;
    return score < 1 ? score : 1;
}

/* Below 0 when a comes before b. No two lines are equal. */
static int compare(const struct gtel_usage_line *a, const struct gtel_usage_line *b)
{
    if (a->device != b->device)
        return a->device->index < b->device->index ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->until_ns != b->until_ns)
        return a->until_ns > b->until_ns ? -1 : 1;
    struct gtel_str text_a = {a->text, length_of(&a->tags)};
    struct gtel_str text_b = {b->text, length_of(&b->tags)};
    int c = gtel_str_cmp(text_a, text_b);
    return c != 0 ? c : memcmp(a->tags.n, b->tags.n, sizeof(a->tags.n));
}

static void sink(struct gtel_usage_line **p, size_t n, size_t at)
{
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && compare(p[child], p[child + 1]) < 0)
            child++;
        if (compare(p[at], p[child]) >= 0)
            return;
        struct gtel_usage_line *line = p[at];
        p[at] = p[child];
        p[child] = line;
        at = child;
    }
}

/* A heap sort: qsort() may allocate. */
static void sort(struct gtel_usage_line **p, size_t n)
{
    for (size_t i = n / 2; i > 0; i--)
        sink(p, n, i - 1);
    for (size_t i = n; i > 1; i--) {
        struct gtel_usage_line *last = p[0];
        p[0] = p[i - 1];
        p[i - 1] = last;
        sink(p, i - 1, 0);
    }
}

/* Lists those that are there, and counts the places that are taken. */
static size_t prepare(struct gtel_usage_lines *lines, uint64_t now_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->devices; i++)
        lines->device[i].places = 0;
    for (size_t i = 0; i < lines->n; i++) {
        struct gtel_usage_line *line = &lines->line[i];
        if (line->until_ns <= now_ns)
            line->until_ns = 0;
        lines->device[line->device->index].places += line->until_ns != 0 ? 1 : 0;
        if (!is_there(lines, line))
            continue;
        line->score = score_of(lines, line);
        lines->order[n++] = line;
    }
    return n;
}

static void choose(struct gtel_usage_lines *lines, uint64_t limit, uint64_t now_ns)
{
    size_t n = prepare(lines, now_ns);
    if (n > 0)
        sort(lines->order, n);
    const struct gtel_device *device = NULL;
    uint64_t rank = 0; /* on it */
    lines->shown = 0;
    for (size_t i = 0; i < n; i++) {
        struct gtel_usage_line *line = lines->order[i];
        struct gtel_usage_device *on = &lines->device[line->device->index];
        rank = line->device == device ? rank + 1 : 0;
        device = line->device;
        bool has_place = line->until_ns != 0;
        if (rank < limit && (has_place || on->places < limit)) {
            on->places += has_place ? 0 : 1;
            line->until_ns = now_ns + keep_ns;
        }
        if (line->until_ns != 0)
            lines->order[lines->shown++] = line;
        else
            add_sum(&on->other, &line->sum);
    }
}

static void end_lines(struct gtel_usage_lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->n; i++) {
        struct gtel_usage_line *line = &lines->line[i];
        if (line->until_ns != 0 || is_there(lines, line))
            lines->line[kept++] = *line;
        else
            free(line->text);
    }
    bool has_moved = kept < lines->n;
    lines->n = kept;
    lines->shown = 0;
    if (!has_moved)
        return;
    gtel_index_reset(&lines->index);
    for (size_t i = 0; i < kept; i++)
        gtel_index_put(&lines->index, line_hash(lines->line[i].device, &lines->line[i].tags), i);
}

/* Adding */

void gtel_usage_init(struct gtel_usage *usage, const struct gtel_env *env,
                     const struct gtel_options *options)
{
    *usage = (struct gtel_usage){.env = env, .options = options};
}

void gtel_usage_done(struct gtel_usage *usage)
{
    struct gtel_usage_lines *lines = &usage->lines;
    for (size_t i = 0; i < lines->n; i++)
        free(lines->line[i].text);
    free(lines->line);
    free(lines->order);
    free(lines->device);
    gtel_index_done(&lines->index);
    free(usage->entry);
    gtel_index_done(&usage->index);
    gtel_usage_names_done(&usage->names);
    *usage = (struct gtel_usage){0};
}

void gtel_usage_begin(struct gtel_usage *usage)
{
    usage->n = 0;
    gtel_index_reset(&usage->index);
    usage->lines.gather++;
}

void gtel_usage_complete(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                         uint8_t origin)
{
    if (!usage)
        return;
    struct gtel_usage_device *on = device_of(&usage->lines, device, source, origin);
    if (on)
        on->is_complete = true;
    else
        usage->dropped++;
}

static bool grow(struct gtel_usage *usage)
{
    return gtel_index_reserve(&usage->index, usage->n + 1) == 0 &&
           gtel_grow(&usage->entry, &usage->size, usage->n + 1, GTEL_USES_MAX,
                     sizeof(*usage->entry));
}

static uint64_t hash_of(const struct gtel_device *device, struct gtel_process_id process)
{
    const uint64_t key[3] = {device->index, process.pid, process.start};
    return gtel_hash(GTEL_HASH_SEED, key, sizeof(key));
}

static bool is_same(struct gtel_process_id a, struct gtel_process_id b)
{
    return a.pid == b.pid && a.start == b.start;
}

/* The entry of the process on the device, or NULL. */
static struct gtel_usage_entry *find_entry(const struct gtel_usage *usage, uint64_t hash,
                                           const struct gtel_device *device,
                                           struct gtel_process_id process)
{
    size_t at = 0;
    int64_t i;
    while ((i = gtel_index_next(&usage->index, hash, &at)) != GTEL_INDEX_NONE) {
        struct gtel_usage_entry *entry = &usage->entry[i];
        if (entry->device == device && is_same(entry->process, process))
            return entry;
    }
    return NULL;
}

/* The same, made where there is none; NULL when there is no room. */
static struct gtel_usage_entry *entry_of(struct gtel_usage *usage, const struct gtel_device *device,
                                         struct gtel_process_id process)
{
    uint64_t hash = hash_of(device, process);
    struct gtel_usage_entry *entry = find_entry(usage, hash, device, process);
    if (entry || !grow(usage))
        return entry;
    gtel_index_put(&usage->index, hash, usage->n);
    entry = &usage->entry[usage->n++];
    entry->device = device;
    entry->process = process;
    entry->sum.processes = 0;
    return entry;
}

/* Clears the amounts of what is not known. */
static void clear_unknown(struct gtel_use *use)
{
    for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++)
        if ((use->memory.has >> kind & 1u) == 0)
            use->memory.bytes[kind] = 0;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        if ((use->has_share >> kind & 1u) == 0 || !(use->share[kind] >= 0)) { /* NaN */
            use->has_share &= ~(1u << kind);
            use->share[kind] = 0;
        }
    use->has_share &= ~use->hidden;
}

void gtel_usage_add(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                    uint8_t origin, struct gtel_process_id process, const struct gtel_use *use)
{
    if (!usage)
        return;
    struct gtel_usage_device *on = device_of(&usage->lines, device, source, origin);
    if (!on) {
        usage->dropped++;
        return;
    }
    struct gtel_usage_entry *entry = entry_of(usage, device, process);
    /* Beyond the limit nobody remembers a process: each amount counts as one. */
    bool is_first = !entry || entry->sum.processes == 0;
    struct gtel_usage_sum sum = {.use = *use, .processes = is_first ? 1 : 0};
    clear_unknown(&sum.use);
    sum.any_share = sum.use.has_share | use->hidden;
    add_sum(entry ? &entry->sum : &on->other, &sum);
    add_sum(&on->all, &sum);
}

/*
 * Joins a sum with amounts that are known from elsewhere and may count the same memory again: of
 * memory_bytes and memory_vram_bytes, where the sum knows them, the larger one is what there is at
 * least; a kind that only the other one can know is added. Where memory was raised, the kinds that
 * only the sum knew are those of a part, and not known. *ret_more: by how much each kind grew.
 */
static void join_memory(struct gtel_use_memory *sum, const struct gtel_use_memory *other,
                        struct gtel_use_memory *ret_more)
{
    const uint32_t memory = 1u << gtel_use_kind(GTEL_M_PROCESS_MEMORY) |
                            1u << gtel_use_kind(GTEL_M_PROCESS_MEMORY_VRAM);
    uint32_t has = (sum->has & memory) | (other->has & ~memory);
    bool is_raised = false;
    *ret_more = (struct gtel_use_memory){.has = UINT32_MAX};
    for (size_t kind = 0; kind < GTEL_USE_MEMORIES; kind++) {
        if (((has & other->has) >> kind & 1u) != 0 && other->bytes[kind] > sum->bytes[kind]) {
            ret_more->bytes[kind] = other->bytes[kind] - sum->bytes[kind];
            sum->bytes[kind] = other->bytes[kind];
            is_raised = is_raised || (memory >> kind & 1u) != 0;
        }
    }
    sum->has = has | (is_raised ? 0 : sum->has);
}

void gtel_usage_join(struct gtel_usage *usage, const struct gtel_device *device, uint8_t source,
                     uint8_t origin, struct gtel_process_id process, const struct gtel_use *use)
{
    struct gtel_use_memory more;
    if (!usage)
        return;
    struct gtel_usage_entry *entry = find_entry(usage, hash_of(device, process), device, process);
    if (entry && !use)
        entry->sum.use.memory.has = 0;
    else if (!entry && use && grow(usage))
        gtel_usage_add(usage, device, source, origin, process, use);
    else if (!entry && use)
        usage->dropped++; /* beyond the limit: it may be in "other" already */
    struct gtel_usage_device *on = device_of(&usage->lines, device, source, origin);
    if (!on || !use)
        return;
    on->origin = origin; /* the lines are of both from now on */
    if (!entry)
        return;
    join_memory(&entry->sum.use.memory, &use->memory, &more);
    gtel_use_memory_add(&on->all.use.memory, &more, false);
}

void gtel_usage_join_unnamed(struct gtel_usage *usage, const struct gtel_device *device,
                             uint8_t source, uint8_t origin, uint64_t processes,
                             const struct gtel_use *use)
{
    if (!usage)
        return;
    struct gtel_usage_device *on = device_of(&usage->lines, device, source, origin);
    struct gtel_usage_sum sum = {.any_share = use->hidden};
    if (!on || processes <= on->all.processes)
        return;
    struct gtel_use_memory all = on->all.use.memory;
    all.has = use->memory.has; /* of the clients, what is known */
    join_memory(&all, &use->memory, &sum.use.memory);
    sum.use.memory.has = use->memory.has;
    sum.processes = processes - on->all.processes;
    add_sum(&on->other, &sum);
    add_sum(&on->all, &sum);
    on->origin = origin;
}

/* Emitting */

static void put(struct gtel_batch *batch, struct gtel_reading *reading, enum gtel_metric metric)
{
    reading->metric = (uint16_t)metric;
    gtel_batch_put(batch, reading);
}

static void put_count(struct gtel_batch *batch, struct gtel_reading *reading,
                      enum gtel_metric metric, uint64_t value)
{
    reading->value_type = GTEL_VALUE_U64;
    reading->value.u64 = value;
    put(batch, reading, metric);
}

static void put_shares(struct gtel_batch *batch, const struct gtel_usage_sum *sum,
                       struct gtel_reading *reading)
{
    double busy = 0;
    uint32_t known = sum->use.has_share;
    reading->value_type = GTEL_VALUE_F64;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++) {
        if ((known >> kind & 1u) == 0)
            continue;
        /* Each process was measured over its own time: the sum may pass 1 a little. */
        double share = sum->use.share[kind] < 1 ? sum->use.share[kind] : 1;
        reading->value.f64 = share;
        put(batch, reading, (enum gtel_metric)(GTEL_M_PROCESS_RENDER + kind));
        busy = share > busy ? share : busy;
    }
    reading->value.f64 = busy;
    if (known != 0 && known == sum->any_share) /* else it may be busier elsewhere */
        put(batch, reading, GTEL_M_PROCESS_BUSY);
}

/* The readings of one line; *reading has its device and tags. */
static void put_line(struct gtel_batch *batch, const struct gtel_usage_sum *sum,
                     struct gtel_reading *reading)
{
    put_count(batch, reading, GTEL_M_PROCESS_COUNT, sum->processes);
    for (int metric = GTEL_M_PROCESS_MEMORY; metric < GTEL_M_PROCESS_BUSY; metric++) {
        uint64_t bytes;
        if (gtel_use_memory_get(&sum->use.memory, (enum gtel_metric)metric, &bytes))
            put_count(batch, reading, (enum gtel_metric)metric, bytes);
    }
    put_shares(batch, sum, reading);
}

static void put_named(struct gtel_batch *batch, const struct gtel_usage_line *line)
{
    struct gtel_reading reading = {.device = line->device};
    const char *p = line->tags.text;
    for (size_t i = 0; i < GTEL_DIMS_MAX; i++) {
        reading.dim[i] = (struct gtel_str){p, line->tags.n[i]};
        p += line->tags.n[i];
    }
    put_line(batch, &line->sum, &reading);
}

/* What a device has besides named lines. */
static void put_device(struct gtel_batch *batch, const struct gtel_usage_device *on)
{
    struct gtel_reading reading = {.device = on->device};
    if (on->is_complete)
        put_count(batch, &reading, GTEL_M_GPU_PROCESSES, on->all.processes);
    reading.dim[0] = GTEL_STR("other");
    if (on->other.processes > 0)
        put_line(batch, &on->other, &reading);
}

/* Of a process on several devices, which follow one another mostly, the name is asked for once. */
static void name_all(struct gtel_usage *usage)
{
    struct gtel_usage_tags tags;
    bool is_named = false;
    for (size_t i = 0; i < usage->n; i++) {
        const struct gtel_usage_entry *entry = &usage->entry[i];
        if (i == 0 || !is_same(entry[-1].process, entry->process))
            is_named = gtel_usage_names_of(&usage->names, usage->env, usage->options,
                                           entry->process, &tags);
        add_to_line(&usage->lines, entry->device, is_named ? &tags : NULL, &entry->sum);
    }
}

/* Names that were wanted and not found. */
static void diagnose(const struct gtel_process_book *book, struct gtel_findings *findings)
{
    const struct {
        size_t n;
        int error;
        const char *text[3];
    } lacks[] = {
        {gtel_pods_unknown(&book->pods),
         book->pods.error[0] < 0 ? book->pods.error[0] : book->pods.error[1],
         {"var/log/containers, var/log/pods", "containers in pods without all their names",
          "give the program CAP_DAC_READ_SEARCH; in a container, mount both folders of the host "
          "into it, read-only"}},
        {gtel_slurm_unknown(&book->jobs),
         0,
         {"title of slurmstepd in proc/PID/cmdline",
          "jobs of Slurm without their number, so that job_id is the SLUID",
          "let the program see root's processes (proc without hidepid, the host's pid namespace) "
          "and sys/fs/cgroup"}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lacks); i++) {
        char why[160];
        const char *const text[3] = {lacks[i].text[0], why, lacks[i].text[2]};
        (void)snprintf(why, sizeof(why), "%s: %u", lacks[i].text[1], (unsigned)lacks[i].n);
        if (lacks[i].n > 0)
            gtel_finding_put(findings, NULL, GTEL_MEASUREMENT_GPU_PROCESS, lacks[i].error, text);
    }
}

void gtel_usage_emit(struct gtel_usage *usage, struct gtel_batch *batch)
{
    struct gtel_usage_lines *lines = &usage->lines;
    if (lines->devices == 0)
        return; /* no source here knows processes */
    uint64_t now_ns = gtel_env_now(usage->env);
    gtel_usage_names_begin(&usage->names, now_ns);
    name_all(usage);
    choose(lines, gtel_option_number(usage->options, GTEL_O_PROCESS_LIMIT), now_ns);
    batch->t_ns = now_ns;
    for (size_t i = 0; i < lines->devices; i++) {
        if (!has_device(lines, i))
            continue;
        batch->source = lines->device[i].source;
        batch->origin = lines->device[i].origin;
        put_device(batch, &lines->device[i]);
    }
    if (batch->findings) {
        batch->findings->source = batch->source;
        diagnose(&usage->names.book, batch->findings);
    }
    for (size_t i = 0; i < lines->shown; i++) {
        const struct gtel_usage_device *on = &lines->device[lines->order[i]->device->index];
        batch->source = on->source;
        batch->origin = on->origin;
        put_named(batch, lines->order[i]);
    }
    end_lines(lines);
    gtel_usage_begin(usage);
}
