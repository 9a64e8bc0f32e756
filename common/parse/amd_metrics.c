/* SPDX-License-Identifier: MIT */
/* The binary tables of amdgpu. */
#include "parse/amd_metrics.h"

#include "base/compiler.h"

#include <errno.h>

enum {
    HEADER = 4,     /* u16 size, u8 format, u8 content */
    ATTRIBUTES = 8, /* a self-describing table: the header, s32 count, attributes */
    ENCODING = 8    /* an attribute: u64 encoding, values */
};

/* The columns of amd_metrics.def, and SELF. */
enum layout {
    V1_0,
    V1_1,
    V1_4,
    V1_5,
    V1_6,
    V1_7,
    V1_8,
    V2_0,
    V2_1,
    V3_0,
    PARTITION,
    GPUBOARD,
    BASEBOARD,
    LAYOUTS,
    SELF = LAYOUTS
};

static const struct revision {
    uint8_t table; /* enum gtel_amd_table */
    uint8_t format;
    uint8_t content;
    uint8_t layout;
    uint16_t size; /* 0: any */
    /* The array of partitions (8 of them), in 1.6 to 1.8. */
    uint16_t parts_at;
    uint16_t part_size;
} revisions[] = {
    {GTEL_AMD_TABLE_GPU, 1, 0, V1_0, 80, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 1, V1_1, 96, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 2, V1_1, 104, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 3, V1_1, 120, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 4, V1_4, 288, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 5, V1_5, 360, 0, 0},
    {GTEL_AMD_TABLE_GPU, 1, 6, V1_6, 1664, 312, 168},
    {GTEL_AMD_TABLE_GPU, 1, 7, V1_7, 2208, 344, 232},
    {GTEL_AMD_TABLE_GPU, 1, 8, V1_8, 3872, 344, 440},
    {GTEL_AMD_TABLE_GPU, 1, 9, SELF, 0, 0, 0},
    {GTEL_AMD_TABLE_GPU, 2, 0, V2_0, 120, 0, 0},
    {GTEL_AMD_TABLE_GPU, 2, 1, V2_1, 120, 0, 0},
    {GTEL_AMD_TABLE_GPU, 2, 2, V2_1, 128, 0, 0},
    {GTEL_AMD_TABLE_GPU, 2, 3, V2_1, 152, 0, 0},
    {GTEL_AMD_TABLE_GPU, 2, 4, V2_1, 168, 0, 0},
    {GTEL_AMD_TABLE_GPU, 3, 0, V3_0, 264, 0, 0},
    {GTEL_AMD_TABLE_PARTITION, 1, 0, PARTITION, 488, 0, 0},
    {GTEL_AMD_TABLE_PARTITION, 1, 1, SELF, 0, 0, 0},
    {GTEL_AMD_TABLE_GPUBOARD, 1, 0, GPUBOARD, 120, 0, 0},
    {GTEL_AMD_TABLE_GPUBOARD, 1, 1, SELF, 0, 0, 0},
    {GTEL_AMD_TABLE_BASEBOARD, 1, 0, BASEBOARD, 144, 0, 0},
    {GTEL_AMD_TABLE_BASEBOARD, 1, 1, SELF, 0, 0, 0},
};
enum { PARTS = 8 };

static const struct row {
    uint8_t field;
    uint8_t width;
    uint8_t count;
    uint16_t at[LAYOUTS];
} rows[] = {
#define GTEL_AMD_FIELD(id, w, n, ...) {GTEL_AMD_##id, w, n, {__VA_ARGS__}},
#define GTEL_AMD_ALSO(id, w, n, ...) {GTEL_AMD_##id, w, n, {__VA_ARGS__}},
#include "parse/amd_metrics.def"
};
_Static_assert(GTEL_AMD_FIELDS <= 256, "a row's field");

/* The names of sensors, by field less the first sensor's. */
static const char *const sensors[] = {
#define GTEL_AMD_SENSOR(id, name) name,
#include "parse/amd_metrics.def"
};
enum { FIRST_SENSOR = GTEL_AMD_NODE_TEMP_RETIMER };
_Static_assert(GTEL_ARRAY_LEN(sensors) == (size_t)GTEL_AMD_ATTRIBUTES - FIRST_SENSOR, "sensors");

/* Kernel: enum amdgpu_vr_temp. The other sensors of boards 1.0 have the order of the attributes. */
static const char *const vr_1_0[] = {
    "vr_vddcr_vdd0",   "vr_vddcr_vdd1",     "vr_vddcr_vdd2",     "vr_vddcr_vdd3",
    "vr_vddcr_soc_a",  "vr_vddcr_soc_c",    "vr_vddcr_socio_a",  "vr_vddcr_socio_c",
    "vr_vdd_085_hbm",  "vr_vddcr_11_hbm_b", "vr_vddcr_11_hbm_d", "vr_vdd_usr",
    "vr_vddio_11_e32",
};

/* The tables have the order of bytes of the machines that these GPUs are in: little endian. */
static uint64_t number(const unsigned char *at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t extend(uint64_t value, unsigned bits)
{
    uint64_t sign = 1ull << (bits - 1);
    return (value ^ sign) - sign;
}

static const struct revision *find_revision(enum gtel_amd_table table, const unsigned char *bytes)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(revisions); i++)
        if (revisions[i].table == (uint8_t)table && revisions[i].format == bytes[2] &&
            revisions[i].content == bytes[3])
            return &revisions[i];
    return NULL;
}

/* The fields of a fixed layout; those behind the end belong to later revisions of it. */
static void place_rows(const struct revision *revision, struct gtel_amd_metrics *metrics)
{
    metrics->layout = revision;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        uint16_t at = row->at[revision->layout];
        if (at == 0 || at + (unsigned)row->width * row->count > revision->size)
            continue;
        metrics->place[row->field] = (struct gtel_amd_place){
            .offset = at,
            .count = row->count,
            .width = row->width,
        };
    }
    metrics->parts = revision->part_size > 0 ? PARTS : 0;
    metrics->part_size = revision->part_size;
    metrics->parts_at = revision->parts_at;
}

static bool is_all(const unsigned char *bytes, size_t n, unsigned char value)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Of two attributes of one id, the first counts. */
static void place_attribute(struct gtel_amd_metrics *metrics, uint64_t encoding, size_t at,
                            unsigned width)
{
    uint64_t id = encoding >> 10 & 0x3ff;
    unsigned count = encoding & 0x3ff;
    if (id >= GTEL_AMD_ATTRIBUTES || metrics->place[id].offset != 0 || count == 0)
        return;
    metrics->place[id] = (struct gtel_amd_place){
        .offset = (uint16_t)at,
        .count = (uint16_t)count,
        .width = (uint8_t)width,
        .unit = (uint8_t)(encoding >> 24),
        .is_signed = (encoding >> 20 & 1) != 0,
    };
}

/*
 * A self-describing table: packed, whatever the kernel's struct looks like. Attributes come and go
 * with the driver's version: 47 in 1,150 bytes and 50 in 1,258 have been seen under revision 1.9.
 */
static int place_attributes(struct gtel_amd_metrics *metrics)
{
    size_t at = ATTRIBUTES;
    bool has_zeros = true;
    bool has_ones = true;
    if (metrics->size < ATTRIBUTES)
        return -EBADMSG;
    uint64_t n = number(metrics->bytes + HEADER, 4); /* a negative one is larger than any table */
    for (uint64_t i = 0; i < n; i++) {
        if (metrics->size - at < ENCODING)
            return -EBADMSG;
        uint64_t encoding = number(metrics->bytes + at, ENCODING);
        uint64_t type = encoding >> 20 & 0xf; /* 0 u8, 1 s8, 2 u16 … 7 s64 */
        at += ENCODING;
        if (type > 7 || encoding >> 32 != 0)
            return -EPROTONOSUPPORT;
        unsigned width = 1u << (type / 2);
        size_t length = (encoding & 0x3ff) * width;
        if (metrics->size - at < length)
            return -EBADMSG;
        place_attribute(metrics, encoding, at, width);
        has_zeros = has_zeros && is_all(metrics->bytes + at, length, 0);
        has_ones = has_ones && is_all(metrics->bytes + at, length, 0xff);
        at += length;
    }
    return has_zeros || has_ones ? -ENODATA : 0;
}

int gtel_amd_metrics_parse(enum gtel_amd_table table, const void *bytes, size_t n,
                           struct gtel_amd_metrics *ret)
{
    const unsigned char *at = bytes;
    if (n == 0)
        return -ENODATA;
    if (n < HEADER)
        return -EBADMSG;
    size_t size = (size_t)number(at, 2);
    const struct revision *revision = find_revision(table, at);
    if (!revision || (revision->size != 0 && revision->size != size))
        return -EPROTONOSUPPORT;
    if (n < size)
        return -EBADMSG;
    if (revision->layout != SELF &&
        (is_all(at + HEADER, size - HEADER, 0) || is_all(at + HEADER, size - HEADER, 0xff)))
        return -ENODATA;
    if (ret->layout != revision) {
        struct gtel_amd_metrics metrics = {.bytes = bytes,
                                           .size = (uint16_t)size,
                                           .format = revision->format,
                                           .content = revision->content};
        int r = 0;
        if (revision->layout == SELF)
            r = place_attributes(&metrics);
        else
            place_rows(revision, &metrics);
        if (r < 0)
            return r;
        *ret = metrics;
    }
    ret->bytes = bytes;
    return 0;
}

bool gtel_amd_metrics_part(const struct gtel_amd_metrics *metrics, int part,
                           enum gtel_amd_field field, unsigned i, uint64_t *ret)
{
    const struct gtel_amd_place *place = &metrics->place[field];
    bool is_there = gtel_amd_metrics_is_per_part(metrics, field)
                        ? part >= 0 && part < metrics->parts
                        : part < 0;
    if (i >= place->count || !is_there)
        return false;
    size_t at = place->offset + (size_t)i * place->width;
    if (part > 0)
        at += (size_t)part * metrics->part_size;
    uint64_t value = number(metrics->bytes + at, place->width);
    if (value == UINT64_MAX >> (64 - 8 * place->width))
        return false;
    *ret = place->is_signed ? extend(value, 8u * place->width) : value;
    return true;
}

unsigned gtel_amd_metrics_add(const struct gtel_amd_metrics *metrics, int part,
                              enum gtel_amd_field field, uint64_t most, double *sum)
{
    unsigned n = 0;
    for (unsigned i = 0; i < metrics->place[field].count; i++) {
        uint64_t value;
        if (!gtel_amd_metrics_part(metrics, part, field, i, &value) || value > most)
            continue;
        *sum += (double)value;
        n++;
    }
    return n;
}

/* An entry of boards 1.0: the sensor's number in the upper 8 bits, degrees in the others. */
static bool get_entry(const struct gtel_amd_metrics *metrics, enum gtel_amd_field field, unsigned i,
                      struct gtel_amd_sensor *ret)
{
    static const unsigned nodes = GTEL_AMD_VR_TEMP_VDDCR_SOCIO_A - GTEL_AMD_NODE_TEMP_RETIMER;
    static const unsigned systems = GTEL_AMD_ATTRIBUTES - GTEL_AMD_SYSTEM_TEMP_UBB_FPGA;
    uint64_t entry;
    const char *name = NULL;
    if (!gtel_amd_metrics_get(metrics, field, i, &entry) || (entry & 0xffffff) == 0xffffff)
        return false;
    unsigned id = (unsigned)(entry >> 24);
    if (field == GTEL_AMD_NODE_TEMP && id < nodes)
        name = sensors[id];
    else if (field == GTEL_AMD_VR_TEMP && id < GTEL_ARRAY_LEN(vr_1_0))
        name = vr_1_0[id];
    else if (field == GTEL_AMD_SYSTEM_TEMP && id < systems)
        name = sensors[GTEL_AMD_SYSTEM_TEMP_UBB_FPGA - FIRST_SENSOR + id];
    if (!name)
        return false;
    ret->name = name;
    ret->celsius = (double)(int64_t)extend(entry & 0xffffff, 24);
    return true;
}

bool gtel_amd_metrics_sensor(const struct gtel_amd_metrics *metrics, unsigned i,
                             struct gtel_amd_sensor *ret)
{
    uint64_t value;
    unsigned nodes = metrics->place[GTEL_AMD_NODE_TEMP].count;
    if (metrics->place[GTEL_AMD_SYSTEM_TEMP].count > 0)
        return get_entry(metrics, GTEL_AMD_SYSTEM_TEMP, i, ret);
    if (nodes > 0)
        return i < nodes ? get_entry(metrics, GTEL_AMD_NODE_TEMP, i, ret)
                         : get_entry(metrics, GTEL_AMD_VR_TEMP, i - nodes, ret);
    if (i >= GTEL_ARRAY_LEN(sensors))
        return false;
    enum gtel_amd_field field = (enum gtel_amd_field)(FIRST_SENSOR + i);
    uint8_t unit = metrics->place[field].unit;
    if ((unit != GTEL_AMD_UNIT_CELSIUS && unit != GTEL_AMD_UNIT_NONE) ||
        !gtel_amd_metrics_get(metrics, field, 0, &value))
        return false;
    ret->name = sensors[i];
    ret->celsius = metrics->place[field].is_signed ? (double)(int64_t)value : (double)value;
    return true;
}
