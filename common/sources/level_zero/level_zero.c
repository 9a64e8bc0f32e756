/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero: its names, and what it says. */
#include "sources/level_zero/level_zero.h"

#include "abi/zes_abi.h"
#include "host/library.h"

#include <stdio.h>

static const char soname[] = "libze_loader.so.1";
static bool find(const struct gtel_env *env, char *ret, size_t size)
{
    static const char dll[] = "System32/ze_loader.dll"; /* below the folder of Windows */
    return gtel_library_find(env, gtel_level_zero_names, ret, size) ||
           (gtel_fs_exists(env, dll) && gtel_str_copy(ret, size, gtel_str_of(dll)));
}

bool gtel_level_zero_is_installed(const struct gtel_env *env)
{
    char path[GTEL_FS_PATH_MAX];
    return find(env, path, sizeof(path));
}

static bool is_wanted(const struct gtel_env *env)
{
    static const char *const drivers[] = {"i915", "xe", NULL};
    return gtel_cards_any(env, drivers);
}

static const char packages[] = "apt install libze1 (Debian), level-zero (Ubuntu)";

const struct gtel_source_library gtel_level_zero_library = {
    .name = "Level Zero", .soname = soname, .fix = packages, .is_wanted = is_wanted, .find = find};

const char *gtel_level_zero_advice(uint32_t code)
{
    switch (code) {
    case GTEL_ZE_UNINITIALIZED:
        return "it finds no GPU: is Intel's driver for it installed (libze-intel-gpu1, "
               "intel-level-zero-gpu)?";
    case GTEL_ZE_NO_PERMISSION:
        return "this user may not open the GPU's device nodes: add it to the group render";
    case GTEL_ZE_NO_DEPENDENCY:
        return "a library that it needs is missing";
    case GTEL_ZE_UNSUPPORTED_VERSION:
        return "loader and driver are of different versions";
    default:
        return "this driver does not work";
    }
}

void gtel_level_zero_put_absent(enum gtel_measurement measurement, struct gtel_findings *findings)
{
    static const char *const text[3] = {soname, "it cannot be opened", packages};
    gtel_finding_put(findings, NULL, measurement, 0, text);
}

void gtel_level_zero_put_wait(const struct gtel_card_list *cards, enum gtel_measurement measurement,
                              struct gtel_findings *findings)
{
    char why[128];
    const char *const text[3] = {"Level Zero", why,
                                 "let that GPU work once, or set the option Wake to always"};
    const struct gtel_card *card = gtel_card_list_awaited(cards);
    if (!card)
        return;
    (void)snprintf(why, sizeof(why), "it starts with all GPUs at once, and waits until %s is awake",
                   card->drm.key);
    gtel_finding_put(findings, NULL, measurement, 0, text);
}
