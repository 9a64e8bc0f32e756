/* SPDX-License-Identifier: MIT */
/* Performance counters of Windows about GPUs. */
#include "parse/perf_counters.h"

#include "base/compiler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Sizes and places in bytes; little endian as Windows is (Microsoft: perflib.h; MS-PCQ 2.2.4). */
enum {
    DATA_HEADER = 48, /* PERF_DATA_HEADER: TotalSize, NumCounters, PerfTimeStamp, … */
    DATA_COUNTERS = 4,
    DATA_STAMP = 8,
    DATA_FREQUENCY = 24,
    COUNTER_HEADER = 16, /* PERF_COUNTER_HEADER: Status, Type, Size, Reserved */
    COUNTER_TYPE = 4,
    COUNTER_SIZE = 8,
    BLOCK_HEADER = 8, /* PERF_MULTI_COUNTERS, PERF_MULTI_INSTANCES, PERF_INSTANCE_HEADER and
                         PERF_COUNTER_DATA: two numbers of 32 bits, one of them the size */
    TYPE_SET = 6      /* PERF_COUNTERSET: all counters of all instances */
};

static const uint64_t second_ns = 1000000000;
static const uint64_t number_max = 10000000000; /* seconds, and ticks of a clock in one */

static const struct gtel_str clock_word = GTEL_STR_INIT("clock ");

/* As compilers know it for one load. */
static uint32_t number(const char *p)
{
    const unsigned char *byte = (const unsigned char *)p;
    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static uint64_t long_number(const char *p)
{
    return number(p) | (uint64_t)number(p + 4) << 32;
}

/* Cuts off a block that has its size at a place in its header. */
static bool cut(struct gtel_str *rest, size_t header, size_t place, struct gtel_str *ret)
{
    if (rest->n < header)
        return false;
    size_t n = number(rest->p + place);
    if (n < header || n > rest->n)
        return false;
    *ret = (struct gtel_str){rest->p, n};
    *rest = (struct gtel_str){rest->p + n, rest->n - n};
    return true;
}

static void put_value(struct gtel_perf_instance *instance, uint64_t id, uint64_t value)
{
    if (id >= GTEL_PERF_COUNTERS_MAX)
        return;
    instance->has |= 1u << id;
    instance->value[id] = value;
}

/* ---- the buffer ---- */

/* A name ends at its NUL. Behind that the block is filled up to 8 bytes, with anything. */
static struct gtel_str name_of(struct gtel_str header)
{
    enum { LAST = 4 }; /* units: the NUL and the fill */
    struct gtel_str name = gtel_str_skip(header, BLOCK_HEADER);
    for (size_t i = name.n / 2 > LAST ? name.n / 2 - LAST : 0; i < name.n / 2; i++)
        if (name.p[2 * i] == 0 && name.p[2 * i + 1] == 0)
            return gtel_str_head(name, 2 * i);
    return name;
}

static bool cut_instance(struct gtel_str *rest, struct gtel_str ids, struct gtel_perf_instance *ret)
{
    struct gtel_str header;
    if (!cut(rest, BLOCK_HEADER, 0, &header))
        return false;
    ret->name = name_of(header);
    for (size_t at = 0; at < ids.n; at += 4) {
        struct gtel_str data;
        if (!cut(rest, BLOCK_HEADER, 4, &data))
            return false;
        size_t width = number(data.p);
        const char *value = data.p + BLOCK_HEADER;
        if ((width == 4 || width == 8) && width <= data.n - BLOCK_HEADER) /* else it is no value */
            put_value(ret, number(ids.p + at), width == 8 ? long_number(value) : number(value));
    }
    return true;
}

static int begin_buffer(struct gtel_str data, struct gtel_perf_set *set)
{
    struct gtel_str rest;
    struct gtel_str header;
    struct gtel_str counters;
    struct gtel_str instances;
    if (!cut(&data, DATA_HEADER, 0, &rest))
        return -EINVAL;
    uint64_t stamp = long_number(rest.p + DATA_STAMP);
    uint64_t frequency = long_number(rest.p + DATA_FREQUENCY);
    if (frequency == 0 || frequency > number_max || stamp / frequency > number_max)
        return -EINVAL;
    set->clock_ns = stamp / frequency * second_ns + stamp % frequency * second_ns / frequency;
    if (number(rest.p + DATA_COUNTERS) == 0)
        return -ENODATA;
    rest = gtel_str_skip(rest, DATA_HEADER);
    if (!cut(&rest, COUNTER_HEADER, COUNTER_SIZE, &header))
        return -EINVAL;
    if (number(header.p) != 0)
        return -EIO;
    rest = gtel_str_skip(header, COUNTER_HEADER);
    if (number(header.p + COUNTER_TYPE) != TYPE_SET || !cut(&rest, BLOCK_HEADER, 0, &counters) ||
        !cut(&rest, BLOCK_HEADER, 0, &instances))
        return -EINVAL;
    uint32_t n = number(counters.p + 4);
    set->ids = gtel_str_head(gtel_str_skip(counters, BLOCK_HEADER), (size_t)n * 4);
    set->left = number(instances.p + 4);
    set->rest = gtel_str_skip(instances, BLOCK_HEADER);
    return n == set->ids.n / 4 ? 0 : -EINVAL;
}

/* ---- the text ---- */

/* Whether a value stands in front, which is read then. */
static bool cut_value(struct gtel_str *line, struct gtel_perf_instance *instance)
{
    struct gtel_str rest = *line;
    struct gtel_str word;
    struct gtel_str id;
    uint64_t number;
    uint64_t value;
    if (!gtel_str_part(&rest, ' ', &word) || !gtel_str_part(&word, ':', &id) ||
        gtel_str_u64(id, &number) < 0 || gtel_str_u64(word, &value) < 0)
        return false;
    put_value(instance, number, value);
    *line = rest;
    return true;
}

static int begin_text(struct gtel_str text, struct gtel_perf_set *set)
{
    struct gtel_str line;
    (void)gtel_str_line(&text, &line); /* there is one */
    set->rest = text;
    return gtel_str_u64(gtel_str_skip(line, clock_word.n), &set->clock_ns) < 0 ? -EINVAL : 0;
}

/* ---- both ---- */

int gtel_perf_begin(struct gtel_str data, struct gtel_perf_set *ret)
{
    struct gtel_perf_set set = {0};
    int r = gtel_str_starts(data, clock_word) ? begin_text(data, &set) : begin_buffer(data, &set);
    if (r == 0)
        *ret = set;
    return r;
}

bool gtel_perf_next(struct gtel_perf_set *set, struct gtel_perf_instance *ret)
{
    ret->has = 0;
    if (set->ids.p) {
        bool is_there = set->left > 0 && cut_instance(&set->rest, set->ids, ret);
        set->left -= is_there ? 1 : 0;
        return is_there;
    }
    if (!gtel_str_line(&set->rest, &ret->name))
        return false;
    while (cut_value(&ret->name, ret))
        continue;
    return true;
}

/* UTF-16 up to its NUL; names of instances are ASCII but for what a driver calls its engine. */
static struct gtel_str text_of(const struct gtel_perf_set *set, struct gtel_str name,
                               char ret[GTEL_PERF_NAME_MAX])
{
    size_t n = 0;
    if (!set->ids.p)
        return name;
    for (; n < name.n / 2 && n < GTEL_PERF_NAME_MAX; n++) {
        const unsigned char *byte = (const unsigned char *)name.p + 2 * n;
        unsigned unit = byte[0] | (unsigned)byte[1] << 8;
        if (unit == 0)
            break;
        ret[n] = unit >= ' ' && unit <= '~' ? (char)unit : '?';
    }
    return (struct gtel_str){ret, n};
}

/* Cuts "NAME_NUMBER" and the '_' behind it off; the number is hexadecimal where it begins so. */
static bool read_part(struct gtel_str *rest, struct gtel_str name, uint32_t *ret)
{
    struct gtel_str part;
    uint64_t value;
    if (name.n > 0 && (!gtel_str_part(rest, '_', &part) || !gtel_str_eq(part, name)))
        return false;
    if (!gtel_str_part(rest, '_', &part))
        return false;
    int r = gtel_str_starts(part, GTEL_STR("0x")) ? gtel_str_hex(part, &value)
                                                  : gtel_str_u64(part, &value);
    *ret = (uint32_t)value;
    return r == 0 && value <= UINT32_MAX;
}

/* The type of an engine is all that is left: it may have underscores and blanks. */
int gtel_perf_name(const struct gtel_perf_set *set, const struct gtel_perf_instance *instance,
                   char text[GTEL_PERF_NAME_MAX], struct gtel_perf_name *ret)
{
    uint32_t high;
    uint32_t low;
    struct gtel_str part;
    struct gtel_str name = text_of(set, instance->name, text);
    if (!read_part(&name, GTEL_STR("pid"), &ret->pid) ||
        !read_part(&name, GTEL_STR("luid"), &high) || !read_part(&name, GTEL_STR_NONE, &low) ||
        !read_part(&name, GTEL_STR("phys"), &ret->adapter))
        return -EINVAL;
    ret->luid = (uint64_t)high << 32 | low;
    ret->engine = UINT32_MAX;
    ret->type = name;
    if (name.n == 0)
        return 0;
    if (!read_part(&name, GTEL_STR("eng"), &ret->engine) || ret->engine == UINT32_MAX ||
        !gtel_str_part(&name, '_', &part) || !gtel_str_eq(part, GTEL_STR("engtype")))
        return -EINVAL;
    ret->type = name;
    return 0;
}

/* ---- as text ---- */

/* *n: the bytes so far; those beyond size are counted and not written. */
GTEL_PRINTF(4, 5)
static void print(char *buf, size_t size, size_t *n, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t at = *n < size ? *n : size;
    *n += (size_t)vsnprintf(buf + at, size - at, fmt, args); /* numbers and texts: no failure */
    va_end(args);
}

int gtel_perf_print(struct gtel_str data, char *buf, size_t size, size_t *ret_n)
{
    struct gtel_perf_instance instance;
    struct gtel_perf_set set;
    char name[GTEL_PERF_NAME_MAX];
    size_t n = 0;
    int r = gtel_perf_begin(data, &set);
    if (r < 0)
        return r;
    print(buf, size, &n, "clock %" PRIu64 "\n", set.clock_ns);
    while (gtel_perf_next(&set, &instance)) {
        for (uint32_t id = 0; id < GTEL_PERF_COUNTERS_MAX; id++)
            if ((instance.has >> id & 1) != 0)
                print(buf, size, &n, "%" PRIu32 ":%" PRIu64 " ", id, instance.value[id]);
        struct gtel_str text = text_of(&set, instance.name, name);
        print(buf, size, &n, "%.*s\n", GTEL_STR_ARG(text));
    }
    if (set.left > 0 || n >= size)
        return set.left > 0 ? -EINVAL : -E2BIG;
    *ret_n = n;
    return 0;
}
