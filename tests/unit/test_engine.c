/* SPDX-License-Identifier: MIT */
/* The classes of engines that users see. */
#include "tables/engine.h"
#include "harness/test.h"

static const struct {
    const char *name;
    const char *tag;
} cases[] = {
    {"render", "render"},
    {"rcs", "render"},
    {"gfx", "render"},
    {"gpu", "render"},
    {"fragment", "render"},
    {"panthor", "render"},
    {"copy", "copy"},
    {"bcs", "copy"},
    {"dma", "copy"},
    {"compute", "compute"},
    {"ccs", "compute"},
    {"csd", "compute"},
    {"video", "video"},
    {"vcs", "video"},
    {"video-enhance", "video-enhance"},
    {"vecs", "video-enhance"},
    {"vpe", "video-enhance"},
    {"enc", "encode"},
    {"enc_1", "encode"},
    {"dec", "decode"},
    {"jpeg", "jpeg"},
    {"ofa", "ofa"},
    {"vertex-tiler", "other"},
    {"bin", "other"},
    {"tfu", "other"},
    {"cache_clean", "other"},
    {"cpu", "other"},
    {"other", "other"},
    {"npu-amdxdna", "other"},
    /* names are compared whole */
    {"", "other"},
    {"vide", "other"},
    {"video-enhancer", "other"},
    {"compute-copy", "other"},
    {"rcs0", "other"},
    {"enc_", "other"},
    {"RCS", "other"},
    {" rcs", "other"},
};

/* As they stand behind engtype_. */
static const struct {
    const char *name;
    const char *tag;
} windows_cases[] = {
    {"3D", "render"},
    {"3d", "render"},
    {"High Priority 3D", "render"},
    {"Copy", "copy"},
    {"Copy 1", "copy"},
    {"Compute", "compute"},
    {"Compute_0", "compute"},
    {"Compute 12", "compute"},
    {"High Priority Compute", "compute"},
    {"Low Priority Compute 1", "compute"},
    {"Cuda", "compute"},
    {"VideoDecode", "decode"},
    {"Video Decode 1", "decode"},
    {"VideoEncode", "encode"},
    {"VideoProcessing", "video-enhance"},
    {"Video Codec 0", "video"},
    {"JPEG_Decode_0", "jpeg"},
    {"Video JPEG", "jpeg"},
    {"OFA_0", "ofa"},
    {"Overlay", "other"},
    {"Security", "other"},
    {"GSC", "other"},
    {"", "other"},
    {"_ 0", "other"},
    {"2D", "other"},
    {"ComputeCopy", "other"},
    {"a name of more than thirty-two letters that ends in Compute", "other"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(windows_cases) / sizeof(windows_cases[0]); i++) {
        test_label = windows_cases[i].name;
        struct gtel_str name = gtel_str_of(windows_cases[i].name);
        CHECK_STR(gtel_engine_kind_name(gtel_engine_kind_of_windows(name)), windows_cases[i].tag);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_label = cases[i].name;
        CHECK_STR(gtel_engine_kind_name(gtel_engine_kind_of(gtel_str_of(cases[i].name))),
                  cases[i].tag);
    }
    test_label = "tags are names";
    for (int kind = 0; kind < GTEL_ENGINE_KINDS; kind++) {
        struct gtel_str tag = gtel_engine_kind_name((enum gtel_engine_kind)kind);
        CHECK(tag.n > 0);
        CHECK_INT(gtel_engine_kind_of(tag), kind);
    }
    test_label = "a number that is no class";
    CHECK_STR(gtel_engine_kind_name((enum gtel_engine_kind)99), "other");
    return test_result();
}
