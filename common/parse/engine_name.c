/* SPDX-License-Identifier: MIT */
/* What drivers call an engine. */
#include "parse/engine_name.h"

#include "base/compiler.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    struct gtel_str name;
    enum gtel_engine_class class;
} names[] = {
    {GTEL_STR_INIT("rcs"), GTEL_ENGINE_RENDER},
    {GTEL_STR_INIT("bcs"), GTEL_ENGINE_COPY},
    {GTEL_STR_INIT("vcs"), GTEL_ENGINE_VIDEO},
    {GTEL_STR_INIT("vecs"), GTEL_ENGINE_VIDEO_ENHANCE},
    {GTEL_STR_INIT("ccs"), GTEL_ENGINE_COMPUTE},
    {GTEL_STR_INIT("render"), GTEL_ENGINE_RENDER},
    {GTEL_STR_INIT("copy"), GTEL_ENGINE_COPY},
    {GTEL_STR_INIT("video"), GTEL_ENGINE_VIDEO},
    {GTEL_STR_INIT("video-decode"), GTEL_ENGINE_VIDEO},
    {GTEL_STR_INIT("video-enhance"), GTEL_ENGINE_VIDEO_ENHANCE},
    {GTEL_STR_INIT("compute"), GTEL_ENGINE_COMPUTE},
};

struct gtel_str gtel_engine_class_name(enum gtel_engine_class class)
{
    static const struct gtel_str tags[GTEL_ENGINE_CLASSES] = {
        [GTEL_ENGINE_RENDER] = GTEL_STR_INIT("render"),
        [GTEL_ENGINE_COPY] = GTEL_STR_INIT("copy"),
        [GTEL_ENGINE_VIDEO] = GTEL_STR_INIT("video"),
        [GTEL_ENGINE_VIDEO_ENHANCE] = GTEL_STR_INIT("video-enhance"),
        [GTEL_ENGINE_COMPUTE] = GTEL_STR_INIT("compute"),
    };
    return tags[class];
}

const char *gtel_engine_name_print(char buf[GTEL_ENGINE_TEXT_MAX], enum gtel_engine_class class,
                                   uint32_t instance)
{
    /* The hardware's names are the first ones, in the order of the classes. */
    (void)snprintf(buf, GTEL_ENGINE_TEXT_MAX, "%.*s%u", GTEL_STR_ARG(names[class].name),
                   (unsigned)instance);
    return buf;
}

static char plain(char c)
{
    return (char)(c == '_' ? '-' : gtel_lower(c));
}

static bool is_name(struct gtel_str text, struct gtel_str name)
{
    if (text.n != name.n)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (plain(text.p[i]) != name.p[i])
            return false;
    return true;
}

int gtel_engine_name_parse(struct gtel_str text, struct gtel_engine_name *ret)
{
    size_t letters = text.n;
    uint64_t instance = UINT32_MAX;
    while (letters > 0 && text.p[letters - 1] >= '0' && text.p[letters - 1] <= '9')
        letters--;
    if (letters < text.n &&
        (gtel_str_u64(gtel_str_skip(text, letters), &instance) < 0 || instance > UINT16_MAX))
        return -EINVAL;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        if (!is_name((struct gtel_str){text.p, letters}, names[i].name))
            continue;
        *ret = (struct gtel_engine_name){names[i].class, (uint32_t)instance};
        return 0;
    }
    return -EINVAL;
}
