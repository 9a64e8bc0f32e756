/* SPDX-License-Identifier: MIT */
/* What drivers call an engine. */
#include "parse/engine_name.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    int rc;
    int class;
    uint32_t instance;
} cases[] = {
    {"rcs0", 0, GTEL_ENGINE_RENDER, 0},
    {"bcs8", 0, GTEL_ENGINE_COPY, 8},
    {"vcs1", 0, GTEL_ENGINE_VIDEO, 1},
    {"vecs0", 0, GTEL_ENGINE_VIDEO_ENHANCE, 0},
    {"ccs3", 0, GTEL_ENGINE_COMPUTE, 3},
    {"rcs", 0, GTEL_ENGINE_RENDER, UINT32_MAX},
    {"vecs", 0, GTEL_ENGINE_VIDEO_ENHANCE, UINT32_MAX},
    {"RENDER", 0, GTEL_ENGINE_RENDER, UINT32_MAX},
    {"Copy", 0, GTEL_ENGINE_COPY, UINT32_MAX},
    {"VIDEO", 0, GTEL_ENGINE_VIDEO, UINT32_MAX},
    {"VIDEO_DECODE", 0, GTEL_ENGINE_VIDEO, UINT32_MAX},
    {"VIDEO_ENHANCE", 0, GTEL_ENGINE_VIDEO_ENHANCE, UINT32_MAX},
    {"video-enhance", 0, GTEL_ENGINE_VIDEO_ENHANCE, UINT32_MAX},
    {"video-enhance1", 0, GTEL_ENGINE_VIDEO_ENHANCE, 1},
    {"COMPUTE", 0, GTEL_ENGINE_COMPUTE, UINT32_MAX},
    {"rcs9", 0, GTEL_ENGINE_RENDER, 9},
    {"VECS12", 0, GTEL_ENGINE_VIDEO_ENHANCE, 12},
    {"rcs65535", 0, GTEL_ENGINE_RENDER, 65535},
    {"rcs65536", -EINVAL, 0, 0},
    {"rcs18446744073709551616", -EINVAL, 0, 0},
    {"", -EINVAL, 0, 0},
    {"0", -EINVAL, 0, 0},
    {"rc", -EINVAL, 0, 0},
    {"rcs-0", -EINVAL, 0, 0},
    {"rcs0x", -EINVAL, 0, 0},
    {" rcs0", -EINVAL, 0, 0},
    {"vc1s", -EINVAL, 0, 0},
    {"compute-copy", -EINVAL, 0, 0},
    {"video-enhancer", -EINVAL, 0, 0},
    {"gsccs0", -EINVAL, 0, 0},
    {".defaults", -EINVAL, 0, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_engine_name got = {0};
        test_label = cases[i].text;
        int r = gtel_engine_name_parse(gtel_str_of(cases[i].text), &got);
        CHECK_INT(r, cases[i].rc);
        CHECK_INT(got.class, cases[i].class);
        CHECK_INT(got.instance, cases[i].instance);
    }
    test_label = "printed and parsed";
    for (int c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        struct gtel_engine_name got = {0};
        char text[GTEL_ENGINE_TEXT_MAX];
        CHECK(gtel_engine_name_print(text, (enum gtel_engine_class)c, UINT16_MAX) == text);
        CHECK_INT(gtel_engine_name_parse(gtel_str_of(text), &got), 0);
        CHECK_INT(got.class, c);
        CHECK_INT(got.instance, UINT16_MAX);
        CHECK(strlen(text) <= 9);
    }
    test_label = "tags are names";
    for (int c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        struct gtel_engine_name got = {0};
        struct gtel_str tag = gtel_engine_class_name((enum gtel_engine_class)c);
        CHECK_INT(gtel_engine_name_parse(tag, &got), 0);
        CHECK_INT(got.class, c);
    }
    return test_result();
}
