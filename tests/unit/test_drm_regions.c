/* SPDX-License-Identifier: MIT */
/* Answers of i915 and xe to queries for memory regions and engines. */
#include "parse/drm_regions.h"
#include "parse/words.h"
#include "harness/test.h"

#include <errno.h>

#define GIB(n) ((uint64_t)(n) << 30)
#define I915_HEADER(n) "4:" n " 12:0 "
#define I915(kind, number, probed, unallocated, visible, visible_unallocated)                      \
    "2:" kind " 2:" number " 4:0 8:" probed " 8:" unallocated " 8:" visible                        \
    " 8:" visible_unallocated " 48:0 "
#define XE_HEADER(n) "4:" n " 4:0 "
#define XE(kind, instance, total, used, visible, visible_used)                                     \
    "2:" kind " 2:" instance " 4:4096 8:" total " 8:" used " 8:" visible " 8:" visible_used " 48:" \
    "0 "
/* 16 GiB, 12 GiB, 256 MiB; all ones. */
#define G16 "0x400000000"
#define G12 "0x300000000"
#define M256 "0x10000000"
#define ONES "0xffffffffffffffff"

struct want {
    bool is_device;
    uint16_t number;
    uint64_t total;
    /* UINT64_MAX: not known */
    uint64_t used;
    uint64_t visible;
    uint64_t visible_used;
};
#define NONE UINT64_MAX

static const struct {
    const char *label;
    bool is_xe;
    const char *words;
    int rc;
    size_t n;
    struct want want[3];
} cases[] = {
    {"i915: A770 with the right, 4 GiB used",
     false,
     I915_HEADER("2") I915("0", "0", G16, G16, G16, G16) I915("1", "0", G16, G12, G16, G12),
     0,
     2,
     {{false, 0, GIB(16), NONE, NONE, NONE}, {true, 0, GIB(16), GIB(4), GIB(16), GIB(4)}}},
    {"i915: without the right",
     false,
     I915_HEADER("1") I915("1", "0", G16, G16, G16, G16),
     0,
     1,
     {{true, 0, GIB(16), NONE, GIB(16), NONE}}},
    {"i915: before 6.0",
     false,
     I915_HEADER("1") I915("1", "0", G16, G16, "0", "0"),
     0,
     1,
     {{true, 0, GIB(16), NONE, NONE, NONE}}},
    {"i915: small BAR, nothing used of it",
     false,
     I915_HEADER("1") I915("1", "0", G16, G12, M256, M256),
     0,
     1,
     {{true, 0, GIB(16), GIB(4), 1 << 28, 0}}},
    {"i915: more unallocated than there is",
     false,
     I915_HEADER("1") I915("1", "0", G12, G16, M256, G16),
     0,
     1,
     {{true, 0, GIB(12), NONE, 1 << 28, NONE}}},
    {"i915: size not known",
     false,
     I915_HEADER("1") I915("1", "0", ONES, ONES, ONES, ONES),
     0,
     0,
     {{0}}},
    {"i915: unallocated not known",
     false,
     I915_HEADER("1") I915("1", "0", G12, ONES, ONES, ONES),
     0,
     1,
     {{true, 0, GIB(12), NONE, NONE, NONE}}},
    {"i915: a kind to come",
     false,
     I915_HEADER("2") I915("2", "0", G16, G16, G16, G16) I915("1", "0", G16, G16, "0", "0"),
     0,
     1,
     {{true, 0, GIB(16), NONE, NONE, NONE}}},
    {"xe: B580",
     true,
     XE_HEADER("2") XE("0", "0", G16, "0", "0", "0") XE("1", "1", G12, M256, G12, M256),
     0,
     2,
     {{false, 0, GIB(16), NONE, NONE, NONE}, {true, 0, GIB(12), 1 << 28, GIB(12), 1 << 28}}},
    {"xe: without the right, small BAR",
     true,
     XE_HEADER("1") XE("1", "1", G12, "0", M256, "0"),
     0,
     1,
     {{true, 0, GIB(12), NONE, 1 << 28, NONE}}},
    {"xe: nothing used of the small BAR",
     true,
     XE_HEADER("1") XE("1", "1", G12, M256, M256, "0"),
     0,
     1,
     {{true, 0, GIB(12), 1 << 28, 1 << 28, 0}}},
    {"xe: two tiles",
     true,
     XE_HEADER("3") XE("0", "0", G16, M256, "0", "0") XE("1", "1", G12, M256, G12, M256)
         XE("1", "2", G16, M256, G16, M256),
     0,
     3,
     {{false, 0, GIB(16), 1 << 28, NONE, NONE},
      {true, 0, GIB(12), 1 << 28, GIB(12), 1 << 28},
      {true, 1, GIB(16), 1 << 28, GIB(16), 1 << 28}}},
    {"xe: more used than there is",
     true,
     XE_HEADER("1") XE("1", "1", M256, G12, G12, G12),
     0,
     1,
     {{true, 0, 1 << 28, NONE, NONE, NONE}}},
    {"xe: an admin-only PF has none", true, XE_HEADER("0"), 0, 0, {{0}}},
    {"bytes beyond the count", true, XE_HEADER("0") "8:7", 0, 0, {{0}}},
    {"xe: cut in a region", true, XE_HEADER("1") "2:1 2:1 4:4096 8:1", -EINVAL, 0, {{0}}},
    {"xe: a count beyond all", true, XE_HEADER("4294967295") "88:0", -EINVAL, 0, {{0}}},
    {"xe: cut in the header", true, "4:0", -EINVAL, 0, {{0}}},
    {"i915: cut in the header", false, "4:0 4:0", -EINVAL, 0, {{0}}},
    {"nothing", true, "", -EINVAL, 0, {{0}}},
};

static void check_region(const struct gtel_drm_region *got, const struct want *want)
{
    CHECK(got->is_device == want->is_device);
    CHECK_INT(got->number, want->number);
    CHECK_INT(got->total, want->total);
    CHECK((got->used > 0) == (want->used != NONE));
    CHECK((got->visible > 0) == (want->visible != NONE));
    CHECK((got->visible_used != UINT64_MAX) == (want->visible_used != NONE));
    if ((got->used > 0))
        CHECK_INT(got->used, want->used);
    if (got->visible > 0)
        CHECK_INT(got->visible, want->visible);
    if (got->visible_used != UINT64_MAX)
        CHECK_INT(got->visible_used, want->visible_used);
}

static void test_regions(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char answer[512];
        struct gtel_drm_regions got = {0};
        size_t n = 0;
        test_label = cases[i].label;
        CHECK_INT(gtel_words_pack(gtel_str_of(cases[i].words), -1, answer, sizeof(answer), &n), 0);
        int r = cases[i].is_xe ? gtel_xe_regions_parse(answer, n, &got)
                               : gtel_i915_regions_parse(answer, n, &got);
        CHECK_INT(r, cases[i].rc);
        CHECK_INT(got.n, cases[i].n);
        for (size_t j = 0; j < got.n && j < 3; j++)
            check_region(&got.region[j], &cases[i].want[j]);
    }
    test_label = "";
}

/* One region more than there is room for. */
static void test_too_many(void)
{
    unsigned char answer[8 + (GTEL_DRM_REGIONS_MAX + 1) * 88] = {GTEL_DRM_REGIONS_MAX};
    struct gtel_drm_regions got = {0};
    for (size_t i = 0; i <= GTEL_DRM_REGIONS_MAX; i++)
        answer[8 + i * 88 + 8] = 1; /* bytes in total */
    CHECK_INT(gtel_xe_regions_parse(answer, sizeof(answer), &got), 0);
    CHECK_INT(got.n, GTEL_DRM_REGIONS_MAX);
    CHECK_INT(got.region[GTEL_DRM_REGIONS_MAX - 1].number, GTEL_DRM_REGIONS_MAX - 1);
    answer[0]++;
    CHECK_INT(gtel_xe_regions_parse(answer, sizeof(answer), &got), -E2BIG);
}

/* Lunar Lake: render, two copy engines' worth, and media on the second GT. */
static void test_engines(void)
{
    static const char words[] = "4:3 4:0 2:0 2:0 2:0 2:0 24:0 2:1 2:8 2:0 2:0 24:0 "
                                "2:2 2:1 2:1 2:0 24:0";
    unsigned char answer[512];
    struct gtel_xe_engine list[3];
    size_t n = 0;
    size_t engines = 7;
    CHECK_INT(gtel_words_pack(gtel_str_of(words), -1, answer, sizeof(answer), &n), 0);
    CHECK_INT(gtel_xe_engines_parse(answer, n, list, 2, &engines), -E2BIG);
    CHECK_INT(gtel_xe_engines_parse(answer, n - 1, list, 3, &engines), -EINVAL);
    CHECK_INT(gtel_xe_engines_parse(answer, 7, list, 3, &engines), -EINVAL);
    CHECK_INT(engines, 7);
    CHECK_INT(gtel_xe_engines_parse(answer, n, list, 3, &engines), 0);
    CHECK_INT(engines, 3);
    CHECK(list[0].engine_class == 0 && list[0].instance == 0 && list[0].gt == 0);
    CHECK(list[1].engine_class == 1 && list[1].instance == 8 && list[1].gt == 0);
    CHECK(list[2].engine_class == 2 && list[2].instance == 1 && list[2].gt == 1);
}

int main(void)
{
    test_regions();
    test_too_many();
    test_engines();
    return test_result();
}
