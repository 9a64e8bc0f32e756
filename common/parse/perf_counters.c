/* SPDX-License-Identifier: MIT */
/* Performance counters of Windows about GPUs. */
#include "parse/perf_counters.h"

#include <errno.h>
#include <string.h>

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

struct out {
    char *p;
    size_t size;
    size_t n; /* more than size: it does not fit */
};

static uint64_t number(struct gtel_str bytes, size_t at, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i > 0; i--)
        value = value << 8 | (unsigned char)bytes.p[at + i - 1];
    return value;
}

/* Cuts off a block that has its size at a place in its header. */
static int cut(struct gtel_str *rest, size_t header, size_t place, struct gtel_str *ret)
{
    if (rest->n < header)
        return -EINVAL;
    size_t n = (size_t)number(*rest, place, 4);
    if (n < header || n > rest->n)
        return -EINVAL;
    *ret = (struct gtel_str){rest->p, n};
    *rest = gtel_str_skip(*rest, n);
    return 0;
}

static void print(struct out *out, const char *text, size_t n)
{
    if (out->n + n <= out->size)
        memcpy(out->p + out->n, text, n);
    out->n += n;
}

static void print_number(struct out *out, uint64_t value, char end)
{
    char text[21]; /* 2^64 - 1 has 20 digits */
    size_t at = sizeof(text);
    text[--at] = end;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    print(out, text + at, sizeof(text) - at);
}

/* UTF-16 up to its NUL; names of instances are ASCII but for what a driver calls its engine. */
static void print_name(struct out *out, struct gtel_str units)
{
    char text[GTEL_PERF_NAME_MAX + 1];
    size_t n = 0;
    for (size_t at = 0; at + 1 < units.n && n < GTEL_PERF_NAME_MAX; at += 2) {
        uint64_t unit = number(units, at, 2);
        if (unit == 0)
            break;
        text[n++] = unit >= ' ' && unit <= '~' ? (char)unit : '?';
    }
    text[n++] = '\n';
    print(out, text, n);
}

/* A value of another width than 4 or 8 bytes is none. */
static void print_value(struct out *out, uint32_t id, struct gtel_str data)
{
    size_t width = (size_t)number(data, 0, 4);
    if ((width != 4 && width != 8) || width > data.n - BLOCK_HEADER)
        return;
    print_number(out, id, ':');
    print_number(out, number(data, BLOCK_HEADER, width), ' ');
}

/* ids: the numbers of the counters, of 4 bytes each. */
static int print_instances(struct out *out, struct gtel_str rest, struct gtel_str ids,
                           uint64_t instances)
{
    for (uint64_t i = 0; i < instances; i++) {
        struct gtel_str header;
        struct gtel_str data;
        int r = cut(&rest, BLOCK_HEADER, 0, &header);
        for (size_t at = 0; r == 0 && at < ids.n; at += 4) {
            r = cut(&rest, BLOCK_HEADER, 4, &data);
            if (r == 0)
                print_value(out, (uint32_t)number(ids, at, 4), data);
        }
        if (r < 0)
            return r;
        print_name(out, gtel_str_skip(header, BLOCK_HEADER));
    }
    return 0;
}

static int print_set(struct out *out, struct gtel_str set)
{
    struct gtel_str rest = gtel_str_skip(set, COUNTER_HEADER);
    struct gtel_str counters;
    struct gtel_str instances;
    if (number(set, 0, 4) != 0)
        return -EIO;
    if (number(set, COUNTER_TYPE, 4) != TYPE_SET || cut(&rest, BLOCK_HEADER, 0, &counters) < 0 ||
        cut(&rest, BLOCK_HEADER, 0, &instances) < 0)
        return -EINVAL;
    struct gtel_str ids = gtel_str_skip(counters, BLOCK_HEADER);
    uint64_t n = number(counters, 4, 4);
    if (n > ids.n / 4)
        return -EINVAL;
    ids.n = (size_t)n * 4;
    return print_instances(out, gtel_str_skip(instances, BLOCK_HEADER), ids,
                           number(instances, 4, 4));
}

int gtel_perf_print(const void *data, size_t n, char *buf, size_t size, size_t *ret_n)
{
    struct out out = {.p = buf, .size = size};
    struct gtel_str rest = {data, n};
    struct gtel_str all;
    struct gtel_str set;
    if (cut(&rest, DATA_HEADER, 0, &all) < 0)
        return -EINVAL;
    uint64_t stamp = number(all, DATA_STAMP, 8);
    uint64_t frequency = number(all, DATA_FREQUENCY, 8);
    if (frequency == 0 || frequency > number_max || stamp / frequency > number_max)
        return -EINVAL;
    if (number(all, DATA_COUNTERS, 4) == 0)
        return -ENODATA;
    rest = gtel_str_skip(all, DATA_HEADER);
    if (cut(&rest, COUNTER_HEADER, COUNTER_SIZE, &set) < 0)
        return -EINVAL;
    print(&out, "clock ", 6);
    print_number(&out, stamp / frequency * second_ns + stamp % frequency * second_ns / frequency,
                 '\n');
    int r = print_set(&out, set);
    if (r < 0)
        return r;
    if (out.n > out.size)
        return -E2BIG;
    *ret_n = out.n;
    return 0;
}

/* ---- the text ---- */

int gtel_perf_clock(struct gtel_str *text, uint64_t *ret_ns)
{
    struct gtel_str line;
    if (!gtel_str_line(text, &line) || !gtel_str_starts(line, GTEL_STR("clock ")))
        return -EINVAL;
    return gtel_str_u64(gtel_str_skip(line, 6), ret_ns) < 0 ? -EINVAL : 0;
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
static int read_name(struct gtel_str name, struct gtel_perf_instance *instance)
{
    uint32_t high;
    uint32_t low;
    struct gtel_str part;
    if (!read_part(&name, GTEL_STR("pid"), &instance->pid) ||
        !read_part(&name, GTEL_STR("luid"), &high) || !read_part(&name, GTEL_STR_NONE, &low) ||
        !read_part(&name, GTEL_STR("phys"), &instance->adapter))
        return -EINVAL;
    instance->luid = (uint64_t)high << 32 | low;
    instance->engine = UINT32_MAX;
    if (name.n == 0)
        return 0;
    if (!read_part(&name, GTEL_STR("eng"), &instance->engine) || instance->engine == UINT32_MAX ||
        !gtel_str_part(&name, '_', &part) || !gtel_str_eq(part, GTEL_STR("engtype")))
        return -EINVAL;
    instance->type = name;
    return 0;
}

/* Whether a value stands in front, which is read then. */
static bool read_value(struct gtel_str *line, struct gtel_perf_instance *instance)
{
    struct gtel_str rest = *line;
    struct gtel_str word;
    struct gtel_str id;
    uint64_t number;
    uint64_t value;
    if (!gtel_str_part(&rest, ' ', &word) || !gtel_str_part(&word, ':', &id) ||
        gtel_str_u64(id, &number) < 0 || gtel_str_u64(word, &value) < 0)
        return false;
    if (number < GTEL_PERF_COUNTERS_MAX) {
        instance->has |= 1u << number;
        instance->value[number] = value;
    }
    *line = rest;
    return true;
}

int gtel_perf_next(struct gtel_str *text, struct gtel_perf_instance *ret)
{
    struct gtel_perf_instance instance = {0};
    struct gtel_str line;
    if (!gtel_str_line(text, &line))
        return -ENODATA;
    while (read_value(&line, &instance))
        continue;
    int r = read_name(line, &instance);
    if (r == 0)
        *ret = instance;
    return r;
}
