/* SPDX-License-Identifier: MIT */
/* The tags of processes. */
#include "processes/usage_names.h"

#include "base/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READS_MAX = 500, /* per gather: each costs a few system calls per file of proc/PID */
    FIRST_PAUSE_S = 10,
    LATER_PAUSE_S = 60,
    TEXT_SIZE = 768 /* of all tags together; a pid has ten digits */
};

_Static_assert(sizeof(struct gtel_process_who) + 10 <= TEXT_SIZE, "all tags fit");

static const uint64_t second_ns = 1000000000u;

/*
 * The tags in the order of the catalogue's row, the pid behind them. The words of ProcessTags are
 * those behind the first, in the same order.
 */
static const struct {
    uint32_t who; /* what it takes */
    size_t at;    /* the text in struct gtel_process_who */
} dims[] = {
    {GTEL_WHO_NAME, offsetof(struct gtel_process_who, name)},
    {GTEL_WHO_CONTAINER, offsetof(struct gtel_process_who, container)},
    {GTEL_WHO_POD_NAME, offsetof(struct gtel_process_who, pod_name)},
    {GTEL_WHO_NAMESPACE, offsetof(struct gtel_process_who, namespace_)},
    {GTEL_WHO_POD, offsetof(struct gtel_process_who, pod)},
    {GTEL_WHO_JOB, offsetof(struct gtel_process_who, job)},
    {GTEL_WHO_UNIT, offsetof(struct gtel_process_who, unit)},
    {GTEL_WHO_USER, offsetof(struct gtel_process_who, user)},
};
enum { DIM_PID = sizeof(dims) / sizeof(dims[0]) };

_Static_assert((int)DIM_PID < (int)GTEL_DIMS_MAX, "a dimension per tag");

static bool is_wanted(uint64_t tags, size_t dim)
{
    return (tags >> (dim - 1) & 1) != 0;
}

void gtel_usage_names_done(struct gtel_usage_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->process[i].text);
    free(names->process);
    gtel_index_done(&names->index);
    gtel_process_book_done(&names->book);
    *names = (struct gtel_usage_names){0};
}

/* The text of all tags under construction. */
struct text {
    char p[TEXT_SIZE];
    size_t n;
    struct gtel_usage_tags tags;
};

/* Appends to the tag of that position; all of them fit (TEXT_SIZE). */
static void add(struct text *text, size_t dim, struct gtel_str value)
{
    for (size_t i = 0; i < value.n; i++) {
        /* Line protocol shows both as a slash (sinks/lineproto.c): they are one name here, too. */
        text->p[text->n++] = value.p[i];
        if (value.p[i] == '\\')
            text->p[text->n - 1] = '/';
        text->tags.n[dim]++;
    }
}

/* In the order of the dimensions: the text has them one behind the other. */
static void write_tags(struct text *text, const struct gtel_process_who *who,
                       struct gtel_process_id id, uint64_t wanted)
{
    char pid[16];
    struct gtel_str name = gtel_str_trim(gtel_str_of(who->name));
    /* A line without its first tag is another one. */
    add(text, 0, name.n > 0 ? name : GTEL_STR("?"));
    for (size_t dim = 1; dim < DIM_PID; dim++)
        add(text, dim, gtel_str_of((const char *)who + dims[dim].at));
    (void)snprintf(pid, sizeof(pid), "%" PRIu32, id.pid);
    if (is_wanted(wanted, DIM_PID))
        add(text, DIM_PID, gtel_str_of(pid));
    text->tags.hash = gtel_hash(GTEL_HASH_SEED, text->tags.n, sizeof(text->tags.n));
    text->tags.hash = gtel_hash(text->tags.hash, text->p, text->n);
}

static uint32_t wanted_of(uint64_t tags)
{
    uint32_t wanted = dims[0].who;
    for (size_t dim = 1; dim < DIM_PID; dim++)
        wanted |= is_wanted(tags, dim) ? dims[dim].who : 0;
    return wanted;
}

static void keep(struct gtel_usage_process *process, const struct text *text)
{
    if (text->n > process->size) {
        char *p = realloc(process->text, text->n);
        if (!p)
            return; /* what was known stays; without anything, it is read again */
        process->text = p;
        process->size = text->n;
    }
    memcpy(process->text, text->p, text->n);
    process->tags = text->tags;
}

/* Reads who a process is. What cannot be read now leaves what is known of it. */
static void read_who(struct gtel_usage_names *names, const struct gtel_env *env, uint64_t wanted,
                     struct gtel_usage_process *process)
{
    struct gtel_process_who who = {0};
    struct text text = {.n = 0};
    names->reads++;
    int r = gtel_process_who(env, &names->book, process->id, wanted_of(wanted), &who);
    uint64_t pause_s = process->text ? LATER_PAUSE_S + process->id.pid % 16 : FIRST_PAUSE_S;
    process->due_ns = names->now_ns + pause_s * second_ns;
    bool may_pass = r != -ENOENT && r != -ESRCH && r != -EACCES && r != -EPERM;
    if (r < 0 && may_pass)
        process->due_ns = names->now_ns; /* in the next gather again */
    if (r < 0 && who.name[0] == '\0')
        return; /* it has ended, or is hidden */
    write_tags(&text, &who, process->id, wanted);
    keep(process, &text);
}

static bool grow(struct gtel_usage_names *names)
{
    return gtel_index_reserve(&names->index, names->n + 1) == 0 &&
           gtel_grow(&names->process, &names->size, names->n + 1, SIZE_MAX,
                     sizeof(*names->process));
}

/* The process, remembered from now on; NULL when memory is out. */
static struct gtel_usage_process *process_of(struct gtel_usage_names *names,
                                             struct gtel_process_id id)
{
    const uint64_t key[2] = {id.pid, id.start};
    uint64_t hash = gtel_hash(GTEL_HASH_SEED, key, sizeof(key));
    size_t at = 0;
    int64_t i;
    while ((i = gtel_index_next(&names->index, hash, &at)) != GTEL_INDEX_NONE) {
        struct gtel_usage_process *process = &names->process[i];
        if (process->id.pid == id.pid && process->id.start == id.start)
            return process;
    }
    if (!grow(names))
        return NULL;
    gtel_index_put(&names->index, hash, names->n);
    struct gtel_usage_process *process = &names->process[names->n++];
    *process = (struct gtel_usage_process){.id = id, .hash = hash};
    return process;
}

void gtel_usage_names_begin(struct gtel_usage_names *names, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->n; i++) {
        if (names->process[i].gather == names->gather)
            names->process[kept++] = names->process[i];
        else
            free(names->process[i].text);
    }
    names->gather++;
    names->now_ns = now_ns;
    names->reads = 0;
    if (kept == names->n)
        return;
    names->n = kept;
    gtel_index_reset(&names->index);
    for (size_t i = 0; i < kept; i++)
        gtel_index_put(&names->index, names->process[i].hash, i);
}

bool gtel_usage_names_of(struct gtel_usage_names *names, const struct gtel_env *env,
                         const struct gtel_options *options, struct gtel_process_id id,
                         struct gtel_usage_tags *ret)
{
    struct gtel_usage_process *process = process_of(names, id);
    if (!process)
        return false;
    process->gather = names->gather;
    if (process->due_ns <= names->now_ns && names->reads < READS_MAX)
        read_who(names, env, gtel_option_number(options, GTEL_O_PROCESS_TAGS), process);
    if (!process->text)
        return false;
    *ret = process->tags;
    ret->text = process->text;
    struct gtel_str name = {process->text, process->tags.n[0]};
    return !gtel_str_eq(name, GTEL_STR("other"));
}
