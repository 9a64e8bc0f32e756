/* SPDX-License-Identifier: MIT */
/* The loader of Level Zero: its names, and what it says. */
#include "sources/level_zero.h"

#include "abi/zes_abi.h"
#include "host/fs.h"

#include <stdio.h>

static const char soname[] = "libze_loader.so.1";
static const char plain_name[] = "libze_loader.so"; /* where there is nothing else */

static const char *const folders[] = {
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/lib/x86_64-linux-gnu",
    "usr/local/lib64",
    "usr/local/lib",
    "run/opengl-driver/lib",
};

bool gtel_level_zero_is_installed(const struct gtel_env *env)
{
    char path[GTEL_FS_PATH_MAX];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++)
        if (gtel_fs_exists(env, gtel_fs_path(path, "%s/%s", folders[i], soname)) ||
            gtel_fs_exists(env, gtel_fs_path(path, "%s/%s", folders[i], plain_name)))
            return true;
    return gtel_fs_exists(env, "System32/ze_loader.dll"); /* below the folder of Windows */
}

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
    static const char *const text[3] = {soname, "it cannot be opened",
                                        "apt install libze1 (Debian), level-zero (Ubuntu)"};
    gtel_finding_put(findings, NULL, measurement, 0, text);
}

void gtel_level_zero_put_wait(const struct gtel_cards *cards, enum gtel_measurement measurement,
                              struct gtel_findings *findings)
{
    char why[128];
    const char *const text[3] = {"Level Zero", why,
                                 "let that GPU work once, or set the option Wake to always"};
    const struct gtel_card *card = gtel_cards_awaited(cards);
    if (!card)
        return;
    (void)snprintf(why, sizeof(why), "it starts with all GPUs at once, and waits until %s is awake",
                   card->drm.key);
    gtel_finding_put(findings, NULL, measurement, 0, text);
}
