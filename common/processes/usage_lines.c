/* SPDX-License-Identifier: MIT */
/* The lines of gpu_process. */
#include "processes/usage_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t keep_ns = 600000000000; /* a place, after its name was among the largest */

void gtel_usage_lines_done(struct gtel_usage_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->line[i].text);
    free(lines->line);
    free(lines->order);
    free(lines->device);
    gtel_index_done(&lines->index);
    *lines = (struct gtel_usage_lines){0};
}

void gtel_usage_lines_begin(struct gtel_usage_lines *lines)
{
    for (size_t i = 0; i < lines->devices; i++)
        lines->device[i].gather = 0;
}

void gtel_usage_sum_add(struct gtel_usage_sum *to, const struct gtel_usage_sum *sum)
{
    const struct gtel_use *use = &sum->use;
    bool is_first = to->processes == 0;
    to->processes += sum->processes;
    gtel_use_memory_add(&to->use.memory, &use->memory, is_first);
    to->use.has_share = use->has_share & (is_first ? UINT32_MAX : to->use.has_share);
    to->any_share |= sum->any_share;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        to->use.share[kind] += use->share[kind];
}

/* Devices */

static bool make_room(struct gtel_usage_lines *lines, size_t n)
{
    if (n <= lines->devices)
        return true;
    struct gtel_usage_device *p = realloc(lines->device, n * sizeof(*p));
    if (!p)
        return false;
    memset(p + lines->devices, 0, (n - lines->devices) * sizeof(*p));
    lines->device = p;
    lines->devices = n;
    return true;
}

bool gtel_usage_lines_has_device(const struct gtel_usage_lines *lines, size_t index)
{
    return lines->device[index].gather == lines->gather + 1;
}

struct gtel_usage_device *gtel_usage_lines_device(struct gtel_usage_lines *lines,
                                                  const struct gtel_device *device, uint8_t source,
                                                  uint8_t origin)
{
    if (!make_room(lines, device->index + 1))
        return NULL;
    struct gtel_usage_device *on = &lines->device[device->index];
    if (gtel_usage_lines_has_device(lines, device->index))
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

static uint64_t hash_of(const struct gtel_device *device, const struct gtel_usage_tags *tags)
{
    return gtel_hash(tags->hash, &device->index, sizeof(device->index));
}

static bool grow(struct gtel_usage_lines *lines)
{
    size_t size = lines->size ? lines->size * 2 : 64;
    if (lines->n < lines->size)
        return true;
    if (gtel_index_reserve(&lines->index, size) < 0)
        return false;
    struct gtel_usage_line **order = realloc(lines->order, size * sizeof(struct gtel_usage_line *));
    if (!order)
        return false;
    lines->order = order;
    struct gtel_usage_line *line = realloc(lines->line, size * sizeof(*line));
    if (!line)
        return false;
    lines->line = line;
    lines->size = size;
    return true;
}

static struct gtel_usage_line *make(struct gtel_usage_lines *lines,
                                    const struct gtel_device *device,
                                    const struct gtel_usage_tags *tags)
{
    size_t n = length_of(tags);
    char *text = grow(lines) ? malloc(n) : NULL; /* never empty: the first tag has a value */
    if (!text)
        return NULL;
    memcpy(text, tags->text, n);
    gtel_index_put(&lines->index, hash_of(device, tags), lines->n);
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
    for (;;) {
        int64_t i = gtel_index_next(&lines->index, hash_of(device, tags), &at);
        if (i == GTEL_INDEX_NONE)
            return make(lines, device, tags);
        if (is_line(&lines->line[i], device, tags))
            return &lines->line[i];
    }
}

/* Whether it is there in this gather. */
static bool is_there(const struct gtel_usage_lines *lines, const struct gtel_usage_line *line)
{
    return line->gather == lines->gather + 1;
}

void gtel_usage_lines_add(struct gtel_usage_lines *lines, const struct gtel_device *device,
                          const struct gtel_usage_tags *tags, const struct gtel_usage_sum *sum)
{
    struct gtel_usage_line *line = tags ? find_or_make(lines, device, tags) : NULL;
    if (!line) {
        gtel_usage_sum_add(&lines->device[device->index].other, sum);
        return;
    }
    if (!is_there(lines, line)) {
        line->gather = lines->gather + 1;
        line->sum = (struct gtel_usage_sum){0};
    }
    gtel_usage_sum_add(&line->sum, sum);
}

/* Choosing */

static double busy_of(const struct gtel_use *use)
{
    double busy = 0;
    for (size_t kind = 0; kind < GTEL_ENGINE_KINDS; kind++)
        if (use->share[kind] > busy)
            busy = use->share[kind];
    return busy < 1 ? busy : 1;
}

/* The first kind, as far as it is known. */
static double memory_of(const struct gtel_use *use)
{
    return (double)use->memory.bytes[0];
}

static double score_of(const struct gtel_usage_lines *lines, const struct gtel_usage_line *line)
{
    double all = memory_of(&lines->device[line->device->index].all.use);
    double memory = all > 0 ? memory_of(&line->sum.use) / all : 0;
    double busy = busy_of(&line->sum.use);
    return memory > busy ? memory : busy;
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

void gtel_usage_lines_choose(struct gtel_usage_lines *lines, uint64_t limit, uint64_t now_ns)
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
            gtel_usage_sum_add(&on->other, &line->sum);
    }
}

void gtel_usage_lines_end(struct gtel_usage_lines *lines)
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
    lines->gather++;
    if (!has_moved)
        return;
    gtel_index_reset(&lines->index);
    for (size_t i = 0; i < kept; i++)
        gtel_index_put(&lines->index, hash_of(lines->line[i].device, &lines->line[i].tags), i);
}
