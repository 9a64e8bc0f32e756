/* SPDX-License-Identifier: MIT */
/* What the running kernel is, and where it puts us. */
#include "host/kernel.h"

bool gtel_kernel_release(const struct gtel_env *env, struct gtel_release *ret)
{
    char buf[128];
    struct gtel_str text;
    return gtel_fs_text(env, "proc/sys/kernel/osrelease", buf, sizeof(buf), &text) == 0 &&
           gtel_release_parse(text, ret) == 0;
}

bool gtel_kernel_is_older(const struct gtel_env *env, uint32_t major, uint32_t minor)
{
    struct gtel_release release;
    return gtel_kernel_release(env, &release) && !gtel_release_is_at_least(&release, major, minor);
}

/*
 * By the processor's features: word × 32 + bit (kernel: arch/x86/include/asm/cpufeatures.h), as
 * "cpu:type:x86,ven0000fam0006mod009A:feature:,0000,0001,…" (kernel: arch/x86/kernel/cpu/match.c).
 */
bool gtel_kernel_is_guest(const struct gtel_env *env)
{
    enum { HYPERVISOR = 4 * 32 + 31 }; /* X86_FEATURE_HYPERVISOR */
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_str part;
    uint64_t number;
    if (gtel_fs_text(env, "sys/devices/system/cpu/modalias", buf, sizeof(buf), &text) < 0 ||
        !gtel_str_starts(text, GTEL_STR("cpu:type:x86,")))
        return false;
    (void)gtel_str_part(&text, ',', &part); /* the type */
    (void)gtel_str_part(&text, ',', &part); /* the model */
    while (gtel_str_part(&text, ',', &part))
        if (gtel_str_hex(part, &number) == 0 && number == HYPERVISOR)
            return true;
    return false;
}

/* The line stands behind the groups of the user, which may be hundreds (proc(5)). */
enum gtel_known gtel_kernel_has_capability(const struct gtel_env *env, unsigned bit)
{
    char buf[16384];
    struct gtel_str status;
    uint64_t set;
    if (gtel_fs_text(env, "proc/self/status", buf, sizeof(buf), &status) < 0 ||
        gtel_capabilities_parse(status, &set) < 0)
        return GTEL_NOT_KNOWN;
    return (set >> bit & 1) != 0 ? GTEL_YES : GTEL_NO;
}

/* The initial one maps all numbers to themselves (user_namespaces(7)). */
bool gtel_kernel_is_nested(const struct gtel_env *env)
{
    static const uint64_t initial[3] = {0, 0, UINT32_MAX};
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    struct gtel_str word;
    if (gtel_fs_text(env, "proc/self/uid_map", buf, sizeof(buf), &text) < 0)
        return false;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(initial); i++) {
        uint64_t number;
        if (!gtel_str_word(&text, &word) || gtel_str_u64(word, &number) < 0 || number != initial[i])
            return true;
    }
    return gtel_str_word(&text, &word);
}
