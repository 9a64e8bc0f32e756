/* SPDX-License-Identifier: MIT */
/* The binary tables of amdgpu: where each field lies, and what no table can be. */
#include "base/compiler.h"
#include "parse/amd_metrics.h"
#include "harness/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct expected {
    const char *label;
    enum gtel_amd_field field;
    unsigned offset;
    unsigned width;
    unsigned count;
    bool is_per_part;
};

static const struct layout {
    const char *label;
    enum gtel_amd_table table;
    unsigned char format;
    unsigned char content;
    unsigned size;
    unsigned part_size;
    struct expected expected[52];
} layouts[] = {
#define AMD_TABLE(revision, table, format, content, size, part_size)                               \
    {                                                                                              \
#revision, GTEL_AMD_TABLE_##table, format, content, size, part_size,                       \
        {
#define AMD_FIELD(revision, field, name, offset, width, count)                                     \
    {#name, GTEL_AMD_##field, offset, width, count, false},
#define AMD_PART(revision, field, name, offset, width, count)                                      \
    {#name, GTEL_AMD_##field, offset, width, count, true},
#define AMD_END                                                                                    \
    {                                                                                              \
        NULL, GTEL_AMD_FIELDS, 0, 0, 0, false                                                      \
    }                                                                                              \
    }                                                                                              \
    }                                                                                              \
    ,
#include "abi/amd_layout.def"
};

enum { LARGEST = 4096 };

/* A table in memory of its own of n bytes, so that a read beyond it is seen. NULL: no memory. */
static unsigned char *copy_of(const unsigned char *bytes, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    if (CHECK(copy != NULL))
        memcpy(copy, bytes, n);
    return copy;
}

static void set_header(unsigned char *bytes, size_t size, unsigned format, unsigned content)
{
    bytes[0] = (unsigned char)(size & 0xff);
    bytes[1] = (unsigned char)(size >> 8);
    bytes[2] = (unsigned char)format;
    bytes[3] = (unsigned char)content;
}

/* Byte i is 7 i + 3, so that no two values beside each other are the same. */
static void fill(unsigned char *bytes, const struct layout *layout)
{
    for (size_t i = 0; i < layout->size; i++)
        bytes[i] = (unsigned char)(7 * i + 3);
    set_header(bytes, layout->size, layout->format, layout->content);
}

/* The value of these bytes, last byte first. */
static uint64_t value_at(size_t offset, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value * 256 + (unsigned char)(7 * (offset + i) + 3);
    return value;
}

static bool get(const struct gtel_amd_metrics *metrics, const struct expected *expected,
                unsigned part, unsigned i, uint64_t *ret)
{
    return expected->is_per_part
               ? gtel_amd_metrics_part(metrics, (int)part, expected->field, i, ret)
               : gtel_amd_metrics_get(metrics, expected->field, i, ret);
}

/* The sum of those of a partition that are at most the first one; all are without a bound. */
static void check_sum(const struct gtel_amd_metrics *metrics, const struct layout *layout,
                      const struct expected *expected, unsigned part)
{
    const size_t at = expected->offset + (size_t)part * layout->part_size;
    const uint64_t bounds[] = {value_at(at, expected->width), UINT64_MAX};
    for (size_t b = 0; b < GTEL_ARRAY_LEN(bounds); b++) {
        double want = 0;
        double got = 0;
        unsigned n = 0;
        for (unsigned i = 0; i < expected->count; i++) {
            uint64_t value = value_at(at + (size_t)i * expected->width, expected->width);
            want += value <= bounds[b] ? (double)value : 0;
            n += value <= bounds[b];
        }
        CHECK_INT(gtel_amd_metrics_add(metrics, expected->is_per_part ? (int)part : -1,
                                       expected->field, bounds[b], &got),
                  n);
        CHECK_NEAR(got, want, 0);
        CHECK_INT(gtel_amd_metrics_add(metrics, expected->is_per_part ? -1 : 0, expected->field,
                                       bounds[b], &got),
                  0);
    }
}

static void check_field(const struct gtel_amd_metrics *metrics, const struct layout *layout,
                        const struct expected *expected)
{
    unsigned parts = expected->is_per_part ? 8 : 1;
    uint64_t got = 0;
    for (unsigned part = 0; part < parts; part++) {
        check_sum(metrics, layout, expected, part);
        for (unsigned i = 0; i < expected->count; i++) {
            size_t at = expected->offset + (size_t)part * layout->part_size + i * expected->width;
            CHECK(at + expected->width <= layout->size);
            CHECK(get(metrics, expected, part, i, &got) && got == value_at(at, expected->width));
        }
    }
    CHECK(!get(metrics, expected, 0, expected->count, &got));
    CHECK(!get(metrics, expected, parts, 0, &got) || !expected->is_per_part);
    CHECK_INT(metrics->place[expected->field].unit, GTEL_AMD_UNIT_NONE);
}

/* A value that is not available, and those beside it, which are. */
static void check_ones(unsigned char *bytes, const struct layout *layout,
                       const struct expected *expected)
{
    struct gtel_amd_metrics metrics = {0};
    uint64_t got = 0;
    unsigned last = expected->count - 1;
    memset(bytes + expected->offset + (size_t)last * expected->width, 0xff, expected->width);
    if (CHECK(gtel_amd_metrics_parse(layout->table, bytes, layout->size, &metrics) == 0))
        CHECK(!get(&metrics, expected, 0, last, &got));
    if (last > 0)
        CHECK(get(&metrics, expected, 0, last - 1, &got));
}

static void test_layout(const struct layout *layout)
{
    unsigned char bytes[LARGEST];
    struct gtel_amd_metrics metrics = {0};
    size_t placed = 0;
    size_t n = 0;
    fill(bytes, layout);
    if (!CHECK(gtel_amd_metrics_parse(layout->table, bytes, layout->size, &metrics) == 0))
        return;
    CHECK_INT(metrics.size, layout->size);
    CHECK_INT(metrics.part_size, layout->part_size);
    CHECK_INT(metrics.parts, layout->part_size > 0 ? 8 : 0);
    for (; layout->expected[n].label; n++) {
        test_label = layout->expected[n].label;
        check_field(&metrics, layout, &layout->expected[n]);
        fill(bytes, layout);
        check_ones(bytes, layout, &layout->expected[n]);
        fill(bytes, layout);
    }
    for (size_t i = 0; i < GTEL_AMD_FIELDS; i++)
        placed += metrics.place[i].count > 0;
    CHECK_INT(placed, n); /* and no other field */
}

/* Every length; the right header over zeros or ones; other sizes, revisions and files. */
static void test_hostile(const struct layout *layout)
{
    unsigned char bytes[LARGEST];
    struct gtel_amd_metrics metrics = {0};
    fill(bytes, layout);
    for (size_t n = 0; n <= layout->size + 1u; n++) {
        unsigned char *copy = copy_of(bytes, n);
        int want = n == 0 ? -ENODATA : n < layout->size ? -EBADMSG : 0;
        if (copy)
            CHECK_INT(gtel_amd_metrics_parse(layout->table, copy, n, &metrics), want);
        free(copy);
    }
    static const ptrdiff_t off[] = {-8, -4, -1, 1, 4, 8};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(off); i++) {
        set_header(bytes, (size_t)((ptrdiff_t)layout->size + off[i]), layout->format,
                   layout->content);
        CHECK_INT(gtel_amd_metrics_parse(layout->table, bytes, sizeof(bytes), &metrics),
                  -EPROTONOSUPPORT);
    }
    for (unsigned table = GTEL_AMD_TABLE_GPU; table <= GTEL_AMD_TABLE_BASEBOARD; table++) {
        fill(bytes, layout);
        if (table != layout->table)
            CHECK(gtel_amd_metrics_parse((enum gtel_amd_table)table, bytes, layout->size,
                                         &metrics) < 0);
    }
    memset(bytes, 0, sizeof(bytes));
    set_header(bytes, layout->size, layout->format, layout->content);
    CHECK_INT(gtel_amd_metrics_parse(layout->table, bytes, layout->size, &metrics), -ENODATA);
    memset(bytes, 0xff, sizeof(bytes));
    CHECK_INT(gtel_amd_metrics_parse(layout->table, bytes, sizeof(bytes), &metrics),
              -EPROTONOSUPPORT);
    set_header(bytes, layout->size, layout->format, layout->content);
    CHECK_INT(gtel_amd_metrics_parse(layout->table, bytes, layout->size, &metrics), -ENODATA);
}

/* Revisions that nobody has made. */
static void test_unknown(void)
{
    static const unsigned char known[4] = {0, 9, 4, 0}; /* the last of each format */
    unsigned char bytes[LARGEST] = {0};
    struct gtel_amd_metrics metrics = {0};
    bytes[8] = 1;
    for (unsigned format = 0; format < 256; format++)
        for (unsigned content = 0; content < 256; content++) {
            bool is_known = format >= 1 && format <= 3 && content <= known[format];
            set_header(bytes, 3, format, content); /* a size that none has */
            CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, bytes, sizeof(bytes), &metrics),
                      is_known && format == 1 && content == 9 ? -EBADMSG : -EPROTONOSUPPORT);
        }
    set_header(bytes, 4, 4, 0);
    CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, bytes, 4, &metrics), -EPROTONOSUPPORT);
    CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, bytes, 3, &metrics), -EBADMSG);
}

/* A self-describing table under construction. */
struct writer {
    unsigned char bytes[LARGEST];
    size_t n;
};

static void put(struct writer *writer, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        writer->bytes[writer->n++] = (unsigned char)(value >> (8 * i));
}

static void put_attribute(struct writer *writer, uint64_t unit, uint64_t type, uint64_t id,
                          uint64_t instances)
{
    put(writer, unit << 24 | type << 20 | id << 10 | instances, 8);
}

static void begin(struct writer *writer, uint32_t count)
{
    writer->n = 4;
    put(writer, count, 4);
}

static int parse(struct writer *writer, enum gtel_amd_table table, struct gtel_amd_metrics *ret)
{
    unsigned content = table == GTEL_AMD_TABLE_GPU ? 9 : 1;
    set_header(writer->bytes, writer->n, 1, content);
    unsigned char *copy = copy_of(writer->bytes, writer->n);
    struct gtel_amd_metrics metrics = {0};
    if (!copy)
        return -ENOMEM;
    int r = gtel_amd_metrics_parse(table, copy, writer->n, &metrics);
    if (r == 0) {
        *ret = metrics;
        ret->bytes = writer->bytes;
    }
    free(copy);
    return r;
}

/* Attribute ids by number: 0 hotspot, 3 power, 7 energy, 30 xGMI written, 51 XCD, 100 unused. */
static void test_self_describing(void)
{
    struct writer writer;
    struct gtel_amd_metrics metrics = {0};
    uint64_t got = 0;
    begin(&writer, 8);
    put_attribute(&writer, 2, 2, 0, 1); /* u16, degrees */
    put(&writer, 48, 2);
    put_attribute(&writer, 0, 6, 7, 1); /* u64 behind 2 bytes: nothing is aligned */
    put(&writer, 0x0123456789abcdefu, 8);
    put_attribute(&writer, 9, 6, 30, 3);
    put(&writer, 1, 8);
    put(&writer, UINT64_MAX, 8);
    put(&writer, 3, 8);
    put_attribute(&writer, 2, 3, 51, 2); /* s16 */
    put(&writer, 0xfffb, 2);
    put(&writer, 0xffff, 2);
    put_attribute(&writer, 3, 0, 1023, 5); /* an id of tomorrow */
    put(&writer, 0x0102030405u, 5);
    put_attribute(&writer, 3, 4, 3, 1); /* the same id twice: the first counts */
    put(&writer, 550, 4);
    put_attribute(&writer, 3, 4, 3, 1);
    put(&writer, 551, 4);
    put_attribute(&writer, 2, 2, 1, 0); /* no instance */
    if (!CHECK(parse(&writer, GTEL_AMD_TABLE_GPU, &metrics) == 0))
        return;
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_TEMPERATURE_HOTSPOT, 0, &got) && got == 48);
    CHECK_INT(metrics.place[GTEL_AMD_TEMPERATURE_HOTSPOT].unit, GTEL_AMD_UNIT_CELSIUS);
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_ENERGY_ACCUMULATOR, 0, &got) &&
          got == 0x0123456789abcdefu);
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_XGMI_WRITE_DATA_ACC, 0, &got) && got == 1);
    CHECK(!gtel_amd_metrics_get(&metrics, GTEL_AMD_XGMI_WRITE_DATA_ACC, 1, &got));
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_XGMI_WRITE_DATA_ACC, 2, &got) && got == 3);
    CHECK(!gtel_amd_metrics_get(&metrics, GTEL_AMD_XGMI_WRITE_DATA_ACC, 3, &got));
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_TEMPERATURE_XCD, 0, &got));
    CHECK_INT((int64_t)got, -5);
    CHECK(!gtel_amd_metrics_get(&metrics, GTEL_AMD_TEMPERATURE_XCD, 1, &got));
    CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_CURR_SOCKET_POWER, 0, &got) && got == 550);
    CHECK(!gtel_amd_metrics_get(&metrics, GTEL_AMD_TEMPERATURE_MEM, 0, &got));
    CHECK(!gtel_amd_metrics_part(&metrics, 0, GTEL_AMD_CURR_SOCKET_POWER, 0, &got));
    for (size_t n = 0; n < writer.n; n++) { /* cut anywhere, with a header that says so or not */
        unsigned char *copy = copy_of(writer.bytes, n);
        if (!copy)
            return;
        CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, copy, n, &metrics),
                  n == 0 ? -ENODATA : -EBADMSG);
        if (n >= 4) {
            set_header(copy, n, 1, 9);
            CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, copy, n, &metrics), -EBADMSG);
        }
        free(copy);
    }
}

static const struct lie {
    const char *label;
    uint32_t count;
    uint64_t encoding;
    size_t values; /* bytes of 0x11 behind it */
    int want;
} lies[] = {
    {"as it should be", 1, 2 << 20 | 1, 2, 0},
    {"no attribute", 0, 2 << 20 | 1, 2, -ENODATA},
    {"one more than there are", 2, 2 << 20 | 1, 2, -EBADMSG},
    {"2^31 of them", 0x80000000u, 2 << 20 | 1, 2, -EBADMSG},
    {"-1", 0xffffffffu, 2 << 20 | 1, 2, -EBADMSG},
    {"two instances in the room of one", 1, 2 << 20 | 2, 2, -EBADMSG},
    {"1023 instances of 8 bytes", 1, 6 << 20 | 1023, 8183, -EBADMSG},
    {"the last instance cut", 1, 7 << 20 | 3, 23, -EBADMSG},
    {"the widest type", 1, 7 << 20 | 3, 24, 0},
    {"an unknown type", 1, 8 << 20 | 1, 8, -EPROTONOSUPPORT},
    {"the last unknown type", 1, 15 << 20 | 1, 8, -EPROTONOSUPPORT},
    {"an unknown id", 1, 2 << 20 | 1023 << 10 | 1, 2, 0},
    {"an unknown unit", 1, 0xffull << 24 | 2 << 20 | 1, 2, 0},
    {"bits beyond an encoding", 1, 1ull << 32 | 2 << 20 | 1, 2, -EPROTONOSUPPORT},
    {"all ones", 1, UINT64_MAX, 2, -EPROTONOSUPPORT},
    {"instances of nothing", 1, 2 << 20, 0, -ENODATA},
};

static void test_lies(void)
{
    static unsigned char bytes[16384];
    struct gtel_amd_metrics metrics = {0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lies); i++) {
        struct writer writer;
        test_label = lies[i].label;
        begin(&writer, lies[i].count);
        put(&writer, lies[i].encoding, 8);
        memcpy(bytes, writer.bytes, writer.n);
        memset(bytes + writer.n, 0x11, lies[i].values);
        set_header(bytes, writer.n + lies[i].values, 1, 9);
        unsigned char *copy = copy_of(bytes, writer.n + lies[i].values);
        if (copy)
            CHECK_INT(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPU, copy, writer.n + lies[i].values,
                                             &metrics),
                      lies[i].want);
        free(copy);
    }
    /* 1023 instances that are there. */
    struct writer writer;
    uint64_t got = 0;
    begin(&writer, 1);
    put_attribute(&writer, 1, 2, 33, 1023);
    for (uint64_t i = 0; i < 1023; i++)
        put(&writer, i, 2);
    if (CHECK(parse(&writer, GTEL_AMD_TABLE_GPU, &metrics) == 0))
        CHECK(gtel_amd_metrics_get(&metrics, GTEL_AMD_CURRENT_GFXCLK, 1022, &got) && got == 1022);
    /* All values zero, and all ones, behind right encodings. */
    for (unsigned fill_with = 0; fill_with <= 0xff; fill_with += 0xff) {
        begin(&writer, 2);
        put_attribute(&writer, 2, 2, 0, 1);
        put(&writer, fill_with * 0x101u, 2);
        put_attribute(&writer, 3, 0, 3, 2);
        put(&writer, fill_with * 0x101u, 2);
        CHECK_INT(parse(&writer, GTEL_AMD_TABLE_GPU, &metrics), -ENODATA);
    }
}

static void check_sensors(const struct gtel_amd_metrics *metrics,
                          const struct gtel_amd_sensor *want, size_t n)
{
    size_t found = 0;
    for (unsigned i = 0; i < GTEL_AMD_SENSORS_MAX + 10; i++) {
        struct gtel_amd_sensor got;
        if (!gtel_amd_metrics_sensor(metrics, i, &got))
            continue;
        if (CHECK(found < n)) {
            CHECK_STR(gtel_str_of(got.name), want[found].name);
            CHECK_NEAR(got.celsius, want[found].celsius, 0);
        }
        found++;
    }
    CHECK_INT(found, n);
}

/* Entries of boards 1.0: number of the sensor in the upper byte, degrees in the others. */
static void test_boards(void)
{
    static const struct gtel_amd_sensor gpu[] = {{"node_retimer", 61},
                                                 {"node_04_hbm_d_vr", -1 - 1},
                                                 {"vr_vddcr_vdd0", 70},
                                                 {"vr_vddio_11_e32", 0}};
    static const struct gtel_amd_sensor base[] = {{"system_ubb_fpga", 40}, {"system_ibc", 41}};
    static const struct gtel_amd_sensor self[] = {
        {"node_ibc", 33}, {"vr_vddcr_x1", -7}, {"system_ibc", 51}};
    struct gtel_amd_metrics metrics = {0};
    struct writer writer;
    memset(writer.bytes, 0xff, sizeof(writer.bytes));
    writer.n = 16;
    put(&writer, 0x0000003d, 4); /* node 0: 61 */
    put(&writer, 0x05fffffe, 4); /* node 5: -2 */
    put(&writer, 0x06000020, 4); /* no such node */
    put(&writer, 0x01ffffff, 4); /* node 1: not available */
    writer.n = 64;
    put(&writer, 0x00000046, 4); /* regulator 0: 70 */
    put(&writer, 0x0c000000, 4); /* regulator 12: 0 */
    put(&writer, 0x0d000020, 4); /* no such regulator */
    set_header(writer.bytes, 120, 1, 0);
    if (CHECK(gtel_amd_metrics_parse(GTEL_AMD_TABLE_GPUBOARD, writer.bytes, 144, &metrics) == 0))
        check_sensors(&metrics, gpu, GTEL_ARRAY_LEN(gpu));
    memset(writer.bytes, 0xff, sizeof(writer.bytes));
    writer.n = 16;
    put(&writer, 0x00000028, 4);
    writer.n = 16 + 31 * 4;
    put(&writer, 0x16000029, 4); /* 22, in the last place */
    set_header(writer.bytes, 144, 1, 0);
    if (CHECK(gtel_amd_metrics_parse(GTEL_AMD_TABLE_BASEBOARD, writer.bytes, 144, &metrics) == 0))
        check_sensors(&metrics, base, GTEL_ARRAY_LEN(base));
    begin(&writer, 6);
    put_attribute(&writer, 2, 3, 103, 1);
    put(&writer, 51, 2);
    put_attribute(&writer, 2, 3, 55, 1);
    put(&writer, 33, 2);
    put_attribute(&writer, 2, 3, 63, 1);
    put(&writer, 0xfff9, 2);
    put_attribute(&writer, 2, 3, 64, 1); /* not available */
    put(&writer, 0xffff, 2);
    put_attribute(&writer, 3, 3, 65, 1); /* watts */
    put(&writer, 12, 2);
    put_attribute(&writer, 0, 2, 52, 1); /* no temperature */
    put(&writer, 3, 2);
    if (CHECK(parse(&writer, GTEL_AMD_TABLE_GPUBOARD, &metrics) == 0))
        check_sensors(&metrics, self, GTEL_ARRAY_LEN(self));
}

int main(void)
{
    CHECK_INT(GTEL_ARRAY_LEN(layouts), 18);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(layouts); i++) {
        test_label = layouts[i].label;
        test_layout(&layouts[i]);
        test_label = layouts[i].label;
        test_hostile(&layouts[i]);
    }
    test_label = "";
    test_unknown();
    test_self_describing();
    test_lies();
    test_label = "";
    test_boards();
    return test_result();
}
