/* SPDX-License-Identifier: MIT */
/* DRM client text: what /proc/PID/fdinfo/FD says of a descriptor of a DRM device. */
#include "parse/fdinfo.h"

#include "base/compiler.h"

#include <errno.h>
#include <string.h>

/* What a key is about. */
enum field {
    FIELD_UNKNOWN,
    FIELD_PDEV,
    FIELD_CLIENT_ID,
    /* of an engine */
    FIELD_BUSY,
    FIELD_CAPACITY,
    FIELD_CYCLES,
    FIELD_TOTAL_CYCLES,
    /* of a region, as their kinds */
    FIELD_REGION,
    FIELD_TOTAL = FIELD_REGION + GTEL_FDINFO_TOTAL,
    FIELD_SHARED = FIELD_REGION + GTEL_FDINFO_SHARED,
    FIELD_RESIDENT = FIELD_REGION + GTEL_FDINFO_RESIDENT,
    FIELD_PURGEABLE = FIELD_REGION + GTEL_FDINFO_PURGEABLE,
    FIELD_ACTIVE = FIELD_REGION + GTEL_FDINFO_ACTIVE,
    FIELD_MEMORY = FIELD_REGION + GTEL_FDINFO_MEMORY
};

struct amount {
    uint64_t number;
    struct gtel_str unit;
};

/*
 * The words of keys are known when this is compiled, so that a comparison is a few instructions:
 * the length must be a constant here, too.
 */
#define IS(text, word)                                                                             \
    ((text).n == sizeof(word) - 1 && memcmp((text).p, word, sizeof(word) - 1) == 0)
#define CUT(text, word) cut(text, word, sizeof(word) - 1)

static inline bool cut(struct gtel_str *text, const char *word, size_t n)
{
    if (text->n < n || memcmp(text->p, word, n) != 0)
        return false;
    text->p += n;
    text->n -= n;
    return true;
}

/* Control characters, too: one comparison is what counts here. */
static inline bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline struct gtel_str strip_front(struct gtel_str text)
{
    const char *p = text.p;
    const char *end = p + text.n;
    while (p < end && is_blank(*p))
        p++;
    return (struct gtel_str){p, (size_t)(end - p)};
}

static inline struct gtel_str strip(struct gtel_str text)
{
    while (text.n > 0 && is_blank(text.p[text.n - 1]))
        text.n--;
    return strip_front(text);
}

/* gtel_str_line, in line: most of the work here is to find the ends of lines. */
static inline bool next_line(struct gtel_str *rest, struct gtel_str *ret)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    *ret = (struct gtel_str){rest->p, n};
    n += end != NULL;
    rest->p += n;
    rest->n -= n;
    return true;
}

/*
 * Cuts the words of a known key off a line: what stays begins with the name of the engine or
 * region, or is the value. The longer of two keys goes first: drm-engine-capacity-rcs is no engine
 * of the name capacity-rcs.
 */
static enum field take_field(struct gtel_str *line)
{
    switch (line->n > 0 ? line->p[0] : '\0') {
    case 'a':
        return CUT(line, "active-") ? FIELD_ACTIVE : FIELD_UNKNOWN;
    case 'c':
        if (CUT(line, "cycles-"))
            return FIELD_CYCLES;
        return CUT(line, "client-id:") ? FIELD_CLIENT_ID : FIELD_UNKNOWN;
    case 'e':
        if (!CUT(line, "engine-"))
            return FIELD_UNKNOWN;
        return CUT(line, "capacity-") ? FIELD_CAPACITY : FIELD_BUSY;
    case 'm':
        return CUT(line, "memory-") ? FIELD_MEMORY : FIELD_UNKNOWN;
    case 'p':
        if (CUT(line, "purgeable-"))
            return FIELD_PURGEABLE;
        return CUT(line, "pdev:") ? FIELD_PDEV : FIELD_UNKNOWN;
    case 'r':
        return CUT(line, "resident-") ? FIELD_RESIDENT : FIELD_UNKNOWN;
    case 's':
        return CUT(line, "shared-") ? FIELD_SHARED : FIELD_UNKNOWN;
    case 't':
        if (!CUT(line, "total-"))
            return FIELD_UNKNOWN;
        return CUT(line, "cycles-") ? FIELD_TOTAL_CYCLES : FIELD_TOTAL;
    default:
        return FIELD_UNKNOWN;
    }
}

/* Digits, and what follows as the unit. False when there are none, or too many. */
static inline bool take_amount(struct gtel_str line, struct amount *ret)
{
    enum { SURE = 19 }; /* as many digits always fit */
    struct gtel_str value = strip_front(line);
    const char *p = value.p;
    const char *end = p + value.n;
    const char *sure = value.n < SURE ? end : p + SURE;
    uint64_t number = 0;
    for (; p < sure && is_digit(*p); p++)
        number = number * 10 + (unsigned)(*p - '0');
    if (p == value.p)
        return false;
    if (p == value.p + SURE) {
        while (p < end && is_digit(*p))
            p++;
        if (gtel_str_u64((struct gtel_str){value.p, (size_t)(p - value.p)}, &number) < 0)
            return false;
    }
    ret->number = number;
    ret->unit = strip((struct gtel_str){p, (size_t)(end - p)});
    return true;
}

static bool scale(uint64_t number, uint64_t factor, uint64_t *ret)
{
    if (number > UINT64_MAX / factor)
        return false;
    *ret = number * factor;
    return true;
}

static bool take_size(const struct amount *amount, uint64_t *ret)
{
    if (IS(amount->unit, "KiB"))
        return scale(amount->number, 1024, ret);
    if (IS(amount->unit, "MiB"))
        return scale(amount->number, 1024 * 1024, ret);
    *ret = amount->number;
    return amount->unit.n == 0;
}

static void add(uint64_t value, uint64_t *sum, bool *ret_has)
{
    if (value > UINT64_MAX - *sum)
        return;
    *sum += value;
    *ret_has = true;
}

static inline bool is_same(struct gtel_str a, struct gtel_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* NULL: no name, or no room. Drivers write the lines of one engine one after another. */
static struct gtel_fdinfo_engine *find_engine(struct gtel_fdinfo *info, struct gtel_str name)
{
    for (size_t i = info->engines; i > 0; i--)
        if (is_same(name, info->engine[i - 1].name))
            return &info->engine[i - 1];
    if (name.n == 0 || info->engines == GTEL_FDINFO_ENGINES_MAX)
        return NULL;
    struct gtel_fdinfo_engine *engine = &info->engine[info->engines++];
    *engine = (struct gtel_fdinfo_engine){.name = name, .capacity = 1};
    return engine;
}

static struct gtel_fdinfo_region *find_region(struct gtel_fdinfo *info, struct gtel_str name)
{
    for (size_t i = info->regions; i > 0; i--)
        if (is_same(name, info->region[i - 1].name))
            return &info->region[i - 1];
    if (name.n == 0 || info->regions == GTEL_FDINFO_REGIONS_MAX)
        return NULL;
    struct gtel_fdinfo_region *region = &info->region[info->regions++];
    *region = (struct gtel_fdinfo_region){.name = name};
    return region;
}

/* Whether the unit is right, and a capacity one of some engines; zero ns may lack the unit. */
static bool is_sound(enum field field, const struct amount *amount)
{
    if (field == FIELD_BUSY)
        return IS(amount->unit, "ns") || (amount->unit.n == 0 && amount->number == 0);
    if (field == FIELD_CAPACITY && (amount->number == 0 || amount->number > UINT32_MAX))
        return false;
    return amount->unit.n == 0;
}

static void take_engine(struct gtel_fdinfo *info, enum field field, struct gtel_str name,
                        const struct amount *amount)
{
    struct gtel_fdinfo_engine *engine = is_sound(field, amount) ? find_engine(info, name) : NULL;
    if (!engine)
        return;
    switch (field) {
    case FIELD_BUSY:
        add(amount->number, &engine->busy_ns, &engine->has_busy_ns);
        break;
    case FIELD_CYCLES:
        add(amount->number, &engine->cycles, &engine->has_cycles);
        break;
    case FIELD_TOTAL_CYCLES:
        if (amount->number > engine->total_cycles)
            engine->total_cycles = amount->number;
        engine->has_total_cycles = true;
        break;
    default:
        if (amount->number > engine->capacity)
            engine->capacity = (uint32_t)amount->number;
        break;
    }
}

static bool take_region(struct gtel_fdinfo *info, unsigned kind, struct gtel_str name,
                        const struct amount *amount)
{
    uint64_t bytes;
    if (!take_size(amount, &bytes))
        return false;
    struct gtel_fdinfo_region *region = find_region(info, name);
    if (!region)
        return false;
    if (bytes > UINT64_MAX - region->bytes[kind])
        return false;
    region->bytes[kind] += bytes;
    region->has |= 1u << kind;
    return true;
}

/* Cuts a name and its colon off a line. Names are too short for a call of memchr. */
static inline bool take_name(struct gtel_str *line, struct gtel_str *ret)
{
    size_t n = 0;
    while (n < line->n && line->p[n] != ':')
        n++;
    if (n == line->n)
        return false;
    *ret = (struct gtel_str){line->p, n};
    line->p += n + 1;
    line->n -= n + 1;
    return true;
}

/* The rest of a line of an engine or region. */
static void take_value(struct gtel_fdinfo *info, enum field field, struct gtel_str line)
{
    struct gtel_str name;
    struct amount amount;
    bool is_sound = take_name(&line, &name) && take_amount(line, &amount);
    unsigned kind = (unsigned)field - FIELD_REGION;
    if (field >= FIELD_REGION && !(is_sound && take_region(info, kind, name, &amount)))
        info->missed |= 1u << kind;
    else if (field < FIELD_REGION && is_sound)
        take_engine(info, field, name, &amount);
}

/* A line without its "drm-". */
static void take_line(struct gtel_fdinfo *info, struct gtel_str line)
{
    enum field field = take_field(&line);
    if (field > FIELD_CLIENT_ID)
        take_value(info, field, line);
    else if (field == FIELD_PDEV && info->pdev.n == 0)
        info->pdev = strip(line);
    else if (field == FIELD_CLIENT_ID && !info->has_client_id)
        info->has_client_id = gtel_str_u64(strip(line), &info->client_id) == 0;
}

/*
 * Before names that a program chose, newlines and all: of a dma-buf (kernel: dma-buf/dma-buf.c),
 * and of the files of an io_uring, which older kernels do not escape (io_uring/fdinfo.c, d_iname).
 */
static inline bool is_before_names(struct gtel_str line)
{
    return CUT(&line, "exp_name:") || CUT(&line, "UserFiles:");
}

/*
 * Looks for the line that makes the text one of a DRM client. Then *text begins with the first line
 * that has a DRM key: on most kernels the same one.
 */
static bool find_driver(struct gtel_str *text, struct gtel_str *ret)
{
    struct gtel_str first = GTEL_STR_NONE;
    struct gtel_str rest = *text;
    struct gtel_str before = rest;
    struct gtel_str line;
    for (; next_line(&rest, &line); before = rest) {
        if (is_before_names(line))
            return false;
        if (!CUT(&line, "drm-"))
            continue;
        if (first.n == 0)
            first = before;
        if (!CUT(&line, "driver:"))
            continue;
        line = strip(line);
        if (line.n == 0)
            continue;
        *ret = line;
        *text = first;
        return true;
    }
    return false;
}

/* The lines that are whole in as much as was read. False when there may be more. */
static bool limit(struct gtel_str *text)
{
    if (text->n < GTEL_FDINFO_TEXT_MAX)
        return true;
    size_t n = gtel_str_behind(gtel_str_head(*text, GTEL_FDINFO_TEXT_MAX), '\n');
    bool is_whole = n == text->n;
    text->n = n;
    return is_whole;
}

int gtel_fdinfo_parse(struct gtel_str text, struct gtel_fdinfo *ret)
{
    struct gtel_str driver;
    struct gtel_str line;
    bool is_whole = limit(&text);
    if (!find_driver(&text, &driver))
        return -ENODATA;
    ret->driver = driver;
    ret->pdev = GTEL_STR_NONE;
    ret->client_id = 0;
    ret->has_client_id = false;
    ret->missed = is_whole ? 0 : (1u << GTEL_FDINFO_KINDS) - 1;
    ret->engines = 0;
    ret->regions = 0;
    while (next_line(&text, &line))
        if (CUT(&line, "drm-"))
            take_line(ret, line);
    return 0;
}

bool gtel_fdinfo_region_used(const struct gtel_fdinfo_region *region, uint64_t *ret)
{
    static const enum gtel_fdinfo_kind kinds[] = {GTEL_FDINFO_RESIDENT, GTEL_FDINFO_MEMORY,
                                                  GTEL_FDINFO_TOTAL};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kinds); i++)
        if ((region->has >> kinds[i] & 1u) != 0) {
            *ret = region->bytes[kinds[i]];
            return true;
        }
    return false;
}

enum gtel_fdinfo_place gtel_fdinfo_region_place(struct gtel_str name)
{
    static const struct {
        struct gtel_str name;
        enum gtel_fdinfo_place place;
    } places[] = {
        {GTEL_STR_INIT("vram"), GTEL_FDINFO_DEVICE},  /* xe, amdgpu */
        {GTEL_STR_INIT("gtt"), GTEL_FDINFO_HOST},     /* the same */
        {GTEL_STR_INIT("system"), GTEL_FDINFO_HOST},  /* i915, xe */
        {GTEL_STR_INIT("local"), GTEL_FDINFO_DEVICE}, /* i915 */
        {GTEL_STR_INIT("cpu"), GTEL_FDINFO_HOST},     /* amdgpu */
        {GTEL_STR_INIT("memory"), GTEL_FDINFO_HOST},  /* drivers without memory of their own */
        {GTEL_STR_INIT("stolen"), GTEL_FDINFO_APART}, /* what the firmware keeps: xe, i915 */
        {GTEL_STR_INIT("stolen-local"), GTEL_FDINFO_APART},
        {GTEL_STR_INIT("stolen-system"), GTEL_FDINFO_APART},
        {GTEL_STR_INIT("gds"), GTEL_FDINFO_APART}, /* amdgpu: on the chip */
        {GTEL_STR_INIT("gws"), GTEL_FDINFO_APART},
        {GTEL_STR_INIT("oa"), GTEL_FDINFO_APART},
        {GTEL_STR_INIT("doorbell"), GTEL_FDINFO_APART}, /* amdgpu: registers */
        {GTEL_STR_INIT("mmioremap"), GTEL_FDINFO_APART},
    };
    while (name.n > 0 && is_digit(name.p[name.n - 1]))
        name.n--;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++)
        if (is_same(name, places[i].name))
            return places[i].place;
    return GTEL_FDINFO_UNKNOWN;
}
