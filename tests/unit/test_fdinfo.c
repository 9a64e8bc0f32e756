/* SPDX-License-Identifier: MIT */
/* DRM client text: every rule of the grammar, and the texts of every driver. */
#include "parse/fdinfo.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

/* A text with one engine and one region at most, and what it must say. */
struct engine_case {
    const char *label;
    const char *text;
    const char *name;
    uint64_t busy_ns;
    uint64_t cycles;
    uint64_t total_cycles;
    uint32_t capacity;
    const char *has; /* b: busy_ns, c: cycles, t: total_cycles */
};

#define X "drm-driver:\tx\n"

static const struct engine_case engine_cases[] = {
    {"ns", X "drm-engine-rcs:\t7 ns\n", "rcs", 7, 0, 0, 1, "b"},
    {"no newline at the end", X "drm-engine-rcs:\t7 ns", "rcs", 7, 0, 0, 1, "b"},
    {"carriage returns", X "drm-engine-rcs:\t7 ns\r\n", "rcs", 7, 0, 0, 1, "b"},
    {"no blank after the colon", X "drm-engine-rcs:7 ns\n", "rcs", 7, 0, 0, 1, "b"},
    {"blanks before and after", X "drm-engine-bin: \t 7 \tns \n", "bin", 7, 0, 0, 1, "b"},
    {"zero without a unit", X "drm-engine-rcs:\t0\n", "rcs", 0, 0, 0, 1, "b"},
    {"capacity before its engine", X "drm-engine-capacity-v:\t2\ndrm-engine-v:\t7 ns\n", "v", 7, 0,
     0, 2, "b"},
    {"capacity after its engine", X "drm-engine-v:\t7 ns\ndrm-engine-capacity-v:\t2\n", "v", 7, 0,
     0, 2, "b"},
    {"capacity alone", X "drm-engine-capacity-v:\t4\n", "v", 0, 0, 0, 4, ""},
    {"an engine of the name capacity", X "drm-engine-capacity:\t7 ns\n", "capacity", 7, 0, 0, 1,
     "b"},
    {"a hyphen in the name", X "drm-engine-video-enhance:\t7 ns\n", "video-enhance", 7, 0, 0, 1,
     "b"},
    {"a hyphen in the name, capacity", X "drm-engine-capacity-video-enhance:\t2\n", "video-enhance",
     0, 0, 0, 2, ""},
    {"an underscore in the name", X "drm-engine-enc_1:\t7 ns\n", "enc_1", 7, 0, 0, 1, "b"},
    {"total cycles are no region", X "drm-cycles-ccs:\t4000\ndrm-total-cycles-ccs:\t90000\n", "ccs",
     0, 4000, 90000, 1, "ct"},
    {"maxfreq says nothing", X "drm-maxfreq-gpu:\t5 Hz\n", NULL, 0, 0, 0, 0, ""},
    {"curfreq is no standard", X "drm-curfreq-gpu:\t5 Hz\ndrm-cycles-gpu:\t1\n", "gpu", 0, 1, 0, 1,
     "c"},
    {"twice: times add up", X "drm-engine-dec:\t100 ns\ndrm-engine-dec:\t23 ns\n", "dec", 123, 0, 0,
     1, "b"},
    {"twice: what describes does not",
     X "drm-total-cycles-a:\t8\ndrm-cycles-a:\t1\ndrm-engine-capacity-a:\t2\n"
       "drm-total-cycles-a:\t9\ndrm-cycles-a:\t2\ndrm-engine-capacity-a:\t1\n",
     "a", 0, 3, 9, 2, "ct"},
    {"twice: more than there can be",
     X "drm-engine-a:\t18446744073709551615 ns\ndrm-engine-a:\t1 ns\n", "a", UINT64_MAX, 0, 0, 1,
     "b"},
    {"the largest number", X "drm-cycles-a:\t18446744073709551615\n", "a", 0, UINT64_MAX, 0, 1,
     "c"},
    {"nineteen digits", X "drm-cycles-a:\t9999999999999999999\n", "a", 0, 9999999999999999999u, 0,
     1, "c"},
    {"zeros in front", X "drm-cycles-a:\t0000000000000000000000042\n", "a", 0, 42, 0, 1, "c"},
    {"one more than that", X "drm-cycles-a:\t18446744073709551616\n", NULL, 0, 0, 0, 0, ""},
    {"another unit", X "drm-engine-a:\t7 us\n", NULL, 0, 0, 0, 0, ""},
    {"no unit", X "drm-engine-a:\t7\n", NULL, 0, 0, 0, 0, ""},
    {"zero in another unit", X "drm-engine-a:\t0x10\n", NULL, 0, 0, 0, 0, ""},
    {"cycles with a unit", X "drm-cycles-a:\t7 ns\n", NULL, 0, 0, 0, 0, ""},
    {"two units", X "drm-engine-a:\t7 ns ns\n", NULL, 0, 0, 0, 0, ""},
    {"a fraction", X "drm-engine-a:\t7.5 ns\n", NULL, 0, 0, 0, 0, ""},
    {"a sign", X "drm-engine-a:\t-7 ns\n", NULL, 0, 0, 0, 0, ""},
    {"no number", X "drm-engine-a:\t ns\n", NULL, 0, 0, 0, 0, ""},
    {"no value", X "drm-engine-a:\n", NULL, 0, 0, 0, 0, ""},
    {"no colon", X "drm-engine-a\n", NULL, 0, 0, 0, 0, ""},
    {"no name", X "drm-engine-:\t7 ns\n", NULL, 0, 0, 0, 0, ""},
    {"no name, capacity", X "drm-engine-capacity-:\t7\n", NULL, 0, 0, 0, 0, ""},
    {"no engine behind the name", X "drm-engine-capacity-a:\t0\n", NULL, 0, 0, 0, 0, ""},
    {"the most behind the name", X "drm-engine-capacity-a:\t4294967295\n", "a", 0, 0, 0, UINT32_MAX,
     ""},
    {"too many behind the name", X "drm-engine-capacity-a:\t4294967296\n", NULL, 0, 0, 0, 0, ""},
    {"a key that is no more", X "drm-engine\t7 ns\ndrm-:\t1\ndrm\ndrm-engines-a:\t1 ns\n", NULL, 0,
     0, 0, 0, ""},
    {"a driver's own key", X "xdrm-engine-a:\t7 ns\nx-engine-a:\t7 ns\n drm-engine-a:\t7 ns\n",
     NULL, 0, 0, 0, 0, ""},
    {"capitals", X "DRM-engine-a:\t7 ns\ndrm-Engine-a:\t7 ns\n", NULL, 0, 0, 0, 0, ""},
};

static void check_engine(const struct gtel_fdinfo_engine *got, const struct engine_case *want)
{
    CHECK_STR(got->name, want->name);
    CHECK_INT(got->busy_ns, want->busy_ns);
    CHECK_INT(got->cycles, want->cycles);
    CHECK_INT(got->total_cycles, want->total_cycles);
    CHECK_INT(got->capacity, want->capacity);
    CHECK_INT(got->has_busy_ns, strchr(want->has, 'b') != NULL);
    CHECK_INT(got->has_cycles, strchr(want->has, 'c') != NULL);
    CHECK_INT(got->has_total_cycles, strchr(want->has, 't') != NULL);
}

static void test_engines(void)
{
    for (size_t i = 0; i < sizeof(engine_cases) / sizeof(engine_cases[0]); i++) {
        const struct engine_case *want = &engine_cases[i];
        struct gtel_fdinfo got = {0};
        test_label = want->label;
        CHECK_INT(gtel_fdinfo_parse(gtel_str_of(want->text), &got), 0);
        CHECK_INT(got.engines, want->name != NULL);
        CHECK_INT(got.regions, 0);
        if (got.engines == 1 && want->name)
            check_engine(&got.engine[0], want);
    }
}

static const struct {
    const char *label;
    const char *text;
    const char *name;
    const char *has; /* t: total, s: shared, r: resident, p: purgeable, a: active, m: memory */
    uint64_t bytes;  /* all that are there have this number */
    uint32_t missed;
} region_cases[] = {
    {"bytes", X "drm-total-vram0:\t5\n", "vram0", "t", 5, 0},
    {"KiB", X "drm-shared-vram0:\t5 KiB\n", "vram0", "s", 5120, 0},
    {"MiB", X "drm-resident-vram0:\t5 MiB\n", "vram0", "r", 5242880, 0},
    {"zero", X "drm-purgeable-gtt:\t0\n", "gtt", "p", 0, 0},
    {"zero with a unit", X "drm-active-gtt:\t0 KiB\n", "gtt", "a", 0, 0},
    {"older name, blank before the tab", X "drm-memory-gtt: \t8 KiB\n", "gtt", "m", 8192, 0},
    {"a hyphen in the name", X "drm-total-stolen-system0:\t1\n", "stolen-system0", "t", 1, 0},
    {"a region of the name cycles", X "drm-total-cycles:\t1\n", "cycles", "t", 1, 0},
    {"a region of the name memory", X "drm-memory-memory:\t1\n", "memory", "m", 1, 0},
    {"all together",
     X "drm-total-a:\t1 KiB\ndrm-shared-a:\t1024\ndrm-resident-a:\t1024\ndrm-purgeable-a:\t1 KiB\n"
       "drm-active-a:\t1 KiB\ndrm-memory-a:\t1 KiB\n",
     "a", "tsrpam", 1024, 0},
    {"twice", X "drm-resident-a:\t1\ndrm-resident-a:\t2\n", "a", "r", 3, 0},
    {"the largest size", X "drm-total-a:\t18014398509481983 KiB\n", "a", "t", 18446744073709550592u,
     0},
    {"twice: the most that there can be", X "drm-total-a:\t18446744073709551614\ndrm-total-a:\t1\n",
     "a", "t", UINT64_MAX, 0},
    {"twice: more than there can be", X "drm-total-a:\t18446744073709551615\ndrm-total-a:\t1\n",
     "a", "t", UINT64_MAX, 1},
    {"too large", X "drm-total-a:\t18014398509481984 KiB\n", NULL, "", 0, 1},
    {"too many MiB", X "drm-total-a:\t17592186044416 MiB\n", NULL, "", 0, 1},
    {"another unit", X "drm-total-a:\t1 GiB\n", NULL, "", 0, 1},
    {"a unit of the old amdgpu", X "drm-total-a:\t1 kB\n", NULL, "", 0, 1},
    {"a unit with more behind it", X "drm-total-a:\t1 KiBs\n", NULL, "", 0, 1},
    {"no name", X "drm-total-:\t1 KiB\n", NULL, "", 0, 1},
    {"no category", X "drm-total:\t1 KiB\ndrm-vram0:\t1 KiB\n", NULL, "", 0, 0},
};

static void test_regions(void)
{
    for (size_t i = 0; i < sizeof(region_cases) / sizeof(region_cases[0]); i++) {
        struct gtel_fdinfo got = {0};
        const char *has = region_cases[i].has;
        uint64_t bytes = region_cases[i].bytes;
        test_label = region_cases[i].label;
        CHECK_INT(gtel_fdinfo_parse(gtel_str_of(region_cases[i].text), &got), 0);
        CHECK_INT(got.regions, region_cases[i].name != NULL);
        CHECK_INT(got.engines, 0);
        CHECK_INT(got.missed, region_cases[i].missed ? 1u << GTEL_FDINFO_TOTAL : 0);
        if (got.regions != 1 || !region_cases[i].name)
            continue;
        const struct gtel_fdinfo_region *region = &got.region[0];
        CHECK_STR(region->name, region_cases[i].name);
        for (unsigned kind = 0; kind < GTEL_FDINFO_KINDS; kind++) {
            bool is_reported = (region->has >> kind & 1u) != 0;
            CHECK_INT(is_reported, strchr(has, "tsrpam"[kind]) != NULL);
            CHECK(region->bytes[kind] == (is_reported ? bytes : 0));
        }
    }
}

static const struct {
    const char *label;
    const char *text;
    int rc;
    const char *driver;
    const char *pdev;
    uint64_t client_id;
    bool has_client_id;
} client_cases[] = {
    {"nothing", "", -ENODATA, "", "", 0, false},
    {"no DRM client", "pos:\t0\nflags:\t02\ntfd: 5 events: 19\n", -ENODATA, "", "", 0, false},
    {"a removed device", "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t641\n", -ENODATA, "", "", 0,
     false},
    {"no driver", "drm-pdev:\t0000:03:00.0\ndrm-engine-rcs:\t1 ns\n", -ENODATA, "", "", 0, false},
    {"a driver without a name", "drm-driver:\t\ndrm-client-id:\t1\n", -ENODATA, "", "", 0, false},
    {"amdgpu before 5.19", "pdev:\t0000:03:00.0\nvram mem:\t8 kB\ngfx0:\t1.00%\n", -ENODATA, "", "",
     0, false},
    {"a driver's own key of that name", "xdrm-driver:\tx\n drm-driver:\tx\n", -ENODATA, "", "", 0,
     false},
    {"a longer key", "drm-driver-version:\tx\n", -ENODATA, "", "", 0, false},
    {"a dma-buf with a name", "size:\t1\ncount:\t1\nexp_name:\tsystem\nname:\t\ndrm-driver:\tmsm\n",
     -ENODATA, "", "", 0, false},
    {"files of io_uring",
     "SqMask:\t0x7\nUserFiles:\t2\n    0: \ndrm-driver:\txe\n    1: \ndrm-pdev:\t0000:03:00.0\n",
     -ENODATA, "", "", 0, false},
    {"a driver", "drm-driver:\txe", 0, "xe", "", 0, false},
    {"blanks around", "drm-driver: \t xe \r\n", 0, "xe", "", 0, false},
    {"the driver last",
     "pos:\t0\ndrm-client-id:\t4\ndrm-pdev:\t0000:03:00.0\nx:\ty\ndrm-driver:\txe\n", 0, "xe",
     "0000:03:00.0", 4, true},
    {"a colon in each value",
     X "drm-pdev:\t10000:e1:00.0\ndrm-client-name:\tbrowser: tab 3: video\n", 0, "x",
     "10000:e1:00.0", 0, false},
    {"the first of two stays",
     X "drm-driver:\ty\ndrm-pdev:\ta\ndrm-pdev:\tb\ndrm-client-id:\t1\ndrm-client-id:\t2\n"
       "drm-client-name:\tc\ndrm-client-name:\td\n",
     0, "x", "a", 1, true},
    {"an id of 64 bits", X "drm-client-id:\t18446744073709551615\n", 0, "x", "", UINT64_MAX, true},
    {"an id that is too large", X "drm-client-id:\t18446744073709551616\n", 0, "x", "", 0, false},
    {"an id that is none", X "drm-client-id:\t-1\ndrm-client-id:\t7 ns\ndrm-client-id:\n", 0, "x",
     "", 0, false},
    {"no name of a client", X "drm-client-name:\t\n", 0, "x", "", 0, false},
    {"longer keys", X "drm-client-ids:\t7\ndrm-client:\t7\ndrm-pdevs:\t7\n", 0, "x", "", 0, false},
};

static void test_clients(void)
{
    for (size_t i = 0; i < sizeof(client_cases) / sizeof(client_cases[0]); i++) {
        struct gtel_fdinfo got = {.client_id = 77, .engines = 5};
        test_label = client_cases[i].label;
        int r = gtel_fdinfo_parse(gtel_str_of(client_cases[i].text), &got);
        CHECK_INT(r, client_cases[i].rc);
        if (r < 0) {
            CHECK(got.client_id == 77 && got.engines == 5);
            continue;
        }
        CHECK_STR(got.driver, client_cases[i].driver);
        CHECK_STR(got.pdev, client_cases[i].pdev);
        CHECK_INT(got.client_id, client_cases[i].client_id);
        CHECK_INT(got.has_client_id, client_cases[i].has_client_id);
        CHECK_INT(got.engines, 0);
        CHECK_INT(got.regions, 0);
    }
}

/* Names are compared whole, and each has its own values. */
static void test_names(void)
{
    static const char *const names[] = {"compute-copy", "compute", "video", "video-enhance", "vid"};
    struct gtel_fdinfo got;
    test_label = "names that begin like others";
    CHECK_INT(gtel_fdinfo_parse(GTEL_STR("drm-driver:\ti915\n"
                                         "drm-engine-compute-copy:\t1 ns\n"
                                         "drm-engine-compute:\t2 ns\n"
                                         "drm-engine-video:\t3 ns\n"
                                         "drm-engine-video-enhance:\t4 ns\n"
                                         "drm-engine-capacity-video-enhance:\t2\n"
                                         "drm-engine-vid:\t5 ns\n"
                                         "drm-engine-compute:\t0 ns\n"),
                                &got),
              0);
    CHECK_INT(got.engines, 5);
    for (size_t i = 0; i < got.engines && i < 5; i++) {
        CHECK_STR(got.engine[i].name, names[i]);
        CHECK_INT(got.engine[i].busy_ns, i + 1);
        CHECK_INT(got.engine[i].capacity, i == 3 ? 2 : 1);
    }
}

static void append(char *text, const char *form, int i)
{
    size_t n = strlen(text);
    (void)snprintf(text + n, GTEL_FDINFO_TEXT_MAX * 2 - n, form, i, i);
}

static void test_room(void)
{
    static char text[GTEL_FDINFO_TEXT_MAX * 2];
    struct gtel_fdinfo got;
    for (int n = 16; n <= 18; n++) {
        test_label = n == 16 ? "16 of each" : "more than 16 of each";
        text[0] = '\0';
        append(text, X, 0);
        for (int i = 0; i < n; i++)
            append(text, "drm-engine-e%d:\t%d ns\n", i);
        for (int i = 0; i < n; i++)
            append(text, "drm-total-r%d:\t%d KiB\n", i);
        append(text, "drm-engine-e3:\t1000 ns\n", 0);
        CHECK_INT(gtel_fdinfo_parse(gtel_str_of(text), &got), 0);
        CHECK_INT(got.engines, 16);
        CHECK_INT(got.regions, 16);
        CHECK_INT(got.missed, n > 16 ? 1 << GTEL_FDINFO_TOTAL : 0);
        CHECK_INT(got.engine[15].busy_ns, 15);
        CHECK_INT(got.engine[3].busy_ns, 1003);
        CHECK_INT(got.region[15].bytes[GTEL_FDINFO_TOTAL], 15360);
    }
}

/* Without its NUL. */
static void put(char *at, const char *z)
{
    for (; *z != '\0'; at++, z++)
        *at = *z;
}

/* A text of n bytes: a driver, filler, and an engine at the very end of it. */
static int parse_long(size_t n, const char *end, struct gtel_fdinfo *ret)
{
    static const char head[] = X "drm-engine-first:\t1 ns\ndrm-client-name:\t";
    char *text = malloc(n);
    if (!text)
        return -ENOMEM;
    memset(text, 'n', n);
    put(text, head);
    put(text + n - strlen(end), end);
    int r = gtel_fdinfo_parse((struct gtel_str){text, n}, ret);
    ret->driver = GTEL_STR_NONE; /* they go with the text */
    free(text);
    return r;
}

static void test_length(void)
{
    static const char cut[] = "\ndrm-engine-last:\t12";
    static const char whole[] = "\ndrm-cycles-last:\t12\n";
    struct gtel_fdinfo got;
    test_label = "below the limit a last line counts without its newline";
    CHECK_INT(parse_long(GTEL_FDINFO_TEXT_MAX - 1, "\ndrm-engine-last:\t12 ns", &got), 0);
    CHECK_INT(got.engines, 2);
    test_label = "a whole line up to the limit";
    CHECK_INT(parse_long(GTEL_FDINFO_TEXT_MAX, whole, &got), 0);
    CHECK_INT(got.engines, 2);
    test_label = "a line that the limit cuts";
    CHECK_INT(parse_long(GTEL_FDINFO_TEXT_MAX, cut, &got), 0);
    CHECK_INT(got.engines, 1);
    CHECK_INT(got.missed, (1 << GTEL_FDINFO_KINDS) - 1);
    test_label = "a number that the limit would shorten";
    CHECK_INT(parse_long(GTEL_FDINFO_TEXT_MAX + 1, "\ndrm-cycles-last:\t1234\n", &got), 0);
    CHECK_INT(got.engines, 1);
    test_label = "one line beyond the limit";
    CHECK_INT(parse_long(GTEL_FDINFO_TEXT_MAX + sizeof(whole) - 2, whole, &got), 0);
    CHECK_INT(got.engines, 1);
    test_label = "no newline at all";
    static char text[GTEL_FDINFO_TEXT_MAX];
    memset(text, 'n', sizeof(text));
    put(text, "drm-driver:");
    CHECK_INT(gtel_fdinfo_parse((struct gtel_str){text, sizeof(text)}, &got), -ENODATA);
}

static void test_used(void)
{
    struct gtel_fdinfo_region region = {0};
    uint64_t used = 77;
    test_label = "used";
    CHECK(!gtel_fdinfo_region_used(&region, &used));
    region.has = 1u << GTEL_FDINFO_SHARED | 1u << GTEL_FDINFO_ACTIVE | 1u << GTEL_FDINFO_PURGEABLE;
    CHECK(!gtel_fdinfo_region_used(&region, &used));
    CHECK_INT(used, 77);
    region.has |= 1u << GTEL_FDINFO_TOTAL;
    region.bytes[GTEL_FDINFO_TOTAL] = 3;
    CHECK(gtel_fdinfo_region_used(&region, &used) && used == 3);
    region.has |= 1u << GTEL_FDINFO_MEMORY;
    region.bytes[GTEL_FDINFO_MEMORY] = 2;
    CHECK(gtel_fdinfo_region_used(&region, &used) && used == 2);
    region.has |= 1u << GTEL_FDINFO_RESIDENT;
    CHECK(gtel_fdinfo_region_used(&region, &used) && used == 0);
}

static const struct {
    const char *name;
    enum gtel_fdinfo_place place;
} places[] = {
    {"vram", GTEL_FDINFO_DEVICE},
    {"vram0", GTEL_FDINFO_DEVICE},
    {"vram1", GTEL_FDINFO_DEVICE},
    {"local0", GTEL_FDINFO_DEVICE},
    {"local12", GTEL_FDINFO_DEVICE},
    {"system", GTEL_FDINFO_HOST},
    {"system0", GTEL_FDINFO_HOST},
    {"gtt", GTEL_FDINFO_HOST},
    {"cpu", GTEL_FDINFO_HOST},
    {"memory", GTEL_FDINFO_HOST},
    {"stolen", GTEL_FDINFO_APART},
    {"stolen-local0", GTEL_FDINFO_APART},
    {"stolen-system0", GTEL_FDINFO_APART},
    {"gds", GTEL_FDINFO_APART},
    {"gws", GTEL_FDINFO_APART},
    {"oa", GTEL_FDINFO_APART},
    {"doorbell", GTEL_FDINFO_APART},
    {"mmioremap", GTEL_FDINFO_APART},
    {"stolen-vram0", GTEL_FDINFO_UNKNOWN},
    {"sysmem", GTEL_FDINFO_UNKNOWN},
    {"vramp", GTEL_FDINFO_UNKNOWN},
    {"vram0a", GTEL_FDINFO_UNKNOWN},
    {"visible-vram", GTEL_FDINFO_UNKNOWN},
    {"0", GTEL_FDINFO_UNKNOWN},
    {"", GTEL_FDINFO_UNKNOWN},
};

static void test_places(void)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        test_label = places[i].name;
        CHECK_INT(gtel_fdinfo_region_place(gtel_str_of(places[i].name)), places[i].place);
    }
}

int main(void)
{
    test_clients();
    test_engines();
    test_regions();
    test_names();
    test_room();
    test_length();
    test_used();
    test_places();
    return test_result();
}
