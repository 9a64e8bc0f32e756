/* SPDX-License-Identifier: MIT */
/* What `gtel doctor` says of the machine and of who runs the program. */
#include "execd/host_facts.h"

#include "host/fs.h"
#include "host/pnp.h"

#include <inttypes.h>

/* capability.h: numbers of the bits in CapEff. */
static const struct right_row {
    const char *name;
    unsigned bit;
} rights[GTEL_RIGHTS] = {
    [GTEL_RIGHT_PERFMON] = {"CAP_PERFMON", GTEL_CAP_PERFMON},
    [GTEL_RIGHT_SYS_ADMIN] = {"CAP_SYS_ADMIN", GTEL_CAP_SYS_ADMIN},
    [GTEL_RIGHT_SYS_PTRACE] = {"CAP_SYS_PTRACE", 19},
    [GTEL_RIGHT_NET_ADMIN] = {"CAP_NET_ADMIN", 12},
    [GTEL_RIGHT_DAC_READ_SEARCH] = {"CAP_DAC_READ_SEARCH", 2},
};

const char *gtel_host_right_name(enum gtel_right right)
{
    return rights[right].name;
}

/* The number of a group in the text of /etc/group: "render:x:105:alice,bob" (group(5)). */
static bool find_group(struct gtel_str text, struct gtel_str name, uint64_t *ret)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str part;
        if (!gtel_str_part(&line, ':', &part) || !gtel_str_eq(part, name))
            continue;
        (void)gtel_str_part(&line, ':', &part); /* the password; a short line has no number next */
        if (gtel_str_part(&line, ':', &part) && gtel_str_u64(part, ret) == 0)
            return true;
    }
    return false;
}

static bool has_number(struct gtel_str list, uint64_t want)
{
    struct gtel_str word;
    uint64_t number;
    while (gtel_str_word(&list, &word))
        if (gtel_str_u64(word, &number) == 0 && number == want)
            return true;
    return false;
}

enum { FILE_MAX = 65536 };

/* A file, or its first bytes. */
static bool read_start(const struct gtel_env *env, const char *path, char *buf,
                       struct gtel_str *ret)
{
    int handle = env->ops->file_open(env->arg, path);
    int64_t n = handle >= 0 ? env->ops->file_read(env->arg, handle, buf, FILE_MAX) : -1;
    if (handle >= 0)
        env->ops->file_close(env->arg, handle);
    *ret = (struct gtel_str){buf, n > 0 ? (size_t)n : 0};
    return n >= 0;
}

static void read_groups(const struct gtel_env *env, struct gtel_str groups,
                        struct gtel_host_facts *facts)
{
    char buf[FILE_MAX];
    struct gtel_str text;
    uint64_t gid;
    if (read_start(env, "etc/group", buf, &text)) {
        facts->has_render_group = find_group(text, GTEL_STR("render"), &gid);
        facts->is_render = facts->has_render_group && has_number(groups, gid) ? GTEL_YES : GTEL_NO;
    }
}

/* proc(5): Uid: real, effective, saved, file system. */
static void read_status(const struct gtel_env *env, struct gtel_host_facts *facts)
{
    char buf[FILE_MAX];
    struct gtel_str text;
    struct gtel_str line = GTEL_STR_NONE;
    struct gtel_str word;
    if (read_start(env, "proc/self/status", buf, &text)) {
        if (gtel_str_value(text, GTEL_STR("Uid"), ':', &line) && gtel_str_word(&line, &word) &&
            gtel_str_word(&line, &word))
            (void)gtel_str_u64(word, &facts->uid); /* else it is not known */
        if (gtel_str_value(text, GTEL_STR("Groups"), ':', &line))
            read_groups(env, line, facts);
    }
}

static void read_word(const struct gtel_env *env, const char *path, char *ret, size_t size)
{
    char buf[128];
    struct gtel_str text;
    if (gtel_fs_text(env, path, buf, sizeof(buf), &text) == 0)
        (void)gtel_str_copy(ret, size, text); /* cut where it does not fit: for people */
}

static bool read_windows(const struct gtel_env *env, struct gtel_host_facts *ret)
{
    char buf[4096];
    struct gtel_str text;
    struct gtel_str value;
    if (gtel_fs_text(env, GTEL_HOST_FACTS, buf, sizeof(buf), &text) < 0)
        return false;
    if (gtel_str_value(text, GTEL_STR("Version"), ':', &value))
        (void)gtel_str_copy(ret->version, sizeof(ret->version), value); /* cut: for people */
    if (gtel_str_value(text, GTEL_STR("User"), ':', &value))
        (void)gtel_str_copy(ret->account, sizeof(ret->account), value);
    if (gtel_str_value(text, GTEL_STR("Administrator"), ':', &value))
        ret->is_administrator = gtel_str_eq(value, GTEL_STR("yes")) ? GTEL_YES : GTEL_NO;
    return true;
}

/* "<key>ProductVersion</key> <string>14.5</string>", on two lines. */
static bool read_mac(const struct gtel_env *env, struct gtel_host_facts *ret)
{
    static const char path[] = "System/Library/CoreServices/SystemVersion.plist";
    char buf[4096];
    struct gtel_str text;
    struct gtel_str line;
    struct gtel_str value;
    bool is_next = false;
    if (!gtel_fs_exists(env, path))
        return false;
    if (gtel_fs_text(env, path, buf, sizeof(buf), &text) < 0)
        return true;
    while (gtel_str_line(&text, &line)) {
        line = gtel_str_trim(line);
        if (is_next && gtel_str_between(line, GTEL_STR("<string>"), GTEL_STR("</string>"), &value))
            (void)gtel_str_copy(ret->version, sizeof(ret->version), value); /* cut: for people */
        is_next = gtel_str_eq(line, GTEL_STR("<key>ProductVersion</key>"));
    }
    return true;
}

void gtel_host_facts_read(const struct gtel_env *env, struct gtel_host_facts *ret)
{
    *ret = (struct gtel_host_facts){.uid = UINT64_MAX};
    if (read_windows(env, ret) || gtel_pnp_is_there(env))
        ret->system = GTEL_HOST_WINDOWS;
    else if (read_mac(env, ret))
        ret->system = GTEL_HOST_MAC;
    if (ret->system != GTEL_HOST_LINUX)
        return;
    read_word(env, "proc/sys/kernel/osrelease", ret->kernel, sizeof(ret->kernel));
    (void)gtel_release_parse(gtel_str_of(ret->kernel), &ret->release); /* else zero */
    read_word(env, "proc/sys/kernel/perf_event_paranoid", ret->paranoid, sizeof(ret->paranoid));
    ret->has_drop_in = gtel_fs_exists(env, GTEL_HOST_DROP_IN);
    ret->has_own_drop_in = gtel_fs_exists(env, GTEL_HOST_OWN_DROP_IN);
    read_status(env, ret);
    for (size_t i = 0; i < GTEL_RIGHTS; i++)
        ret->right[i] = gtel_kernel_has_capability(env, rights[i].bit);
}

static const char *yes_or_no(enum gtel_known known)
{
    static const char *const words[] = {"not known", "no", "yes"};
    return words[known];
}

/* The rights in that state, on one line; nothing when there are none. */
static void write_rights(const struct gtel_host_facts *facts, enum gtel_known known,
                         const char *title, struct gtel_buf *buf)
{
    size_t n = 0;
    for (size_t i = 0; i < GTEL_RIGHTS_SHOWN; i++) {
        if (facts->right[i] != known)
            continue;
        if (n++ == 0)
            gtel_buf_printf(buf, "  %-14s", title);
        gtel_buf_printf(buf, "%s%s", n > 1 ? " " : "", rights[i].name);
    }
    if (n > 0)
        gtel_buf_char(buf, '\n');
}

void gtel_host_facts_write(const struct gtel_host_facts *facts, struct gtel_buf *buf)
{
    if (facts->system != GTEL_HOST_LINUX)
        gtel_buf_printf(buf, "  system        %s, version %s\n",
                        facts->system == GTEL_HOST_MAC ? "macOS" : "Windows",
                        facts->version[0] ? facts->version : "not known");
    if (facts->system == GTEL_HOST_MAC)
        return;
    if (facts->system == GTEL_HOST_WINDOWS) {
        gtel_buf_printf(buf, "  user          %s; administrator: %s\n",
                        facts->account[0] ? facts->account : "not known",
                        yes_or_no(facts->is_administrator));
        return;
    }
    gtel_buf_printf(buf, "  kernel        %s\n", facts->kernel[0] ? facts->kernel : "not known");
    gtel_buf_printf(buf, "  perf events   kernel.perf_event_paranoid = %s\n",
                    facts->paranoid[0] ? facts->paranoid : "not known");
    gtel_buf_str(buf, GTEL_STR("  user          "));
    if (facts->uid == UINT64_MAX)
        gtel_buf_str(buf, GTEL_STR("not known"));
    else
        gtel_buf_printf(buf, "uid %" PRIu64 "%s", facts->uid, facts->uid == 0 ? " (root)" : "");
    gtel_buf_printf(buf, "; in group render: %s\n",
                    facts->is_render == GTEL_NO && !facts->has_render_group
                        ? "no such group"
                        : yes_or_no(facts->is_render));
    write_rights(facts, GTEL_YES, "rights", buf);
    write_rights(facts, GTEL_NO, "no right", buf);
    write_rights(facts, GTEL_NOT_KNOWN, "right unknown", buf);
}
