/* SPDX-License-Identifier: MIT */
/* Reduces files about processes and users to what a reader of a recorded machine needs. */
#include "recording/scrub_rules.h"

#include "base/compiler.h"
#include "parse/fdinfo.h"
#include "parse/pod.h"

#include <inttypes.h>

/* Up to the start of the process, field 22: behind it are addresses and signals (proc(5)). */
static void write_stat(struct gtel_str text, struct gtel_buf *out)
{
    enum { WORDS = 20 };
    struct gtel_str rest = gtel_str_skip(text, gtel_str_behind(text, ')'));
    struct gtel_str word;
    for (int i = 0; i < WORDS; i++)
        (void)gtel_str_word(&rest, &word); /* fewer words: all of them */
    gtel_buf_str(out, gtel_str_head(text, text.n - rest.n));
    gtel_buf_char(out, '\n');
}

/* Of a process only what says which rights it has (proc(5)). */
static void write_status(struct gtel_str text, struct gtel_buf *out)
{
    static const struct gtel_str keys[] = {
        GTEL_STR_INIT("Uid"),    GTEL_STR_INIT("Gid"),        GTEL_STR_INIT("Groups"),
        GTEL_STR_INIT("CapPrm"), GTEL_STR_INIT("CapEff"),     GTEL_STR_INIT("CapBnd"),
        GTEL_STR_INIT("CapAmb"), GTEL_STR_INIT("NoNewPrivs"), GTEL_STR_INIT("Seccomp")};
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        const struct gtel_str key = gtel_str_head(line, gtel_str_find(line, ':'));
        for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++)
            if (gtel_str_eq(key, keys[i]))
                gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(line));
    }
}

bool gtel_scrub_user_line(struct gtel_str line, struct gtel_str *ret_name, uint64_t *ret_number)
{
    struct gtel_str rest = line;
    struct gtel_str part;
    if (!gtel_str_part(&rest, ':', ret_name) || !gtel_str_part(&rest, ':', &part) ||
        !gtel_str_part(&rest, ':', &part) || gtel_str_u64(part, ret_number) < 0)
        return false;
    return *ret_number >= GTEL_SCRUB_PEOPLE_FROM || gtel_str_ends(line, GTEL_STR("sh"));
}

/* Without the real name, the home and the shell (passwd(5)). */
static void write_users(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str name = GTEL_STR_NONE;
        uint64_t number = UINT64_MAX;
        bool is_person = gtel_scrub_user_line(line, &name, &number);
        if (is_person || number == 0)
            gtel_buf_printf(out, "%.*s:x:%" PRIu64 ":%" PRIu64 "::/:\n", GTEL_STR_ARG(name), number,
                            number);
        else if (number < UINT64_MAX)
            gtel_buf_printf(out, "user%" PRIu64 ":x:%" PRIu64 ":%" PRIu64 "::/:\n", number, number,
                            number);
    }
}

/* group(5): only the groups that matter for devices, without members. */
static void write_groups(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str name;
        struct gtel_str password;
        struct gtel_str gid;
        if (gtel_str_part(&line, ':', &name) && gtel_str_part(&line, ':', &password) &&
            gtel_str_part(&line, ':', &gid) &&
            (gtel_str_eq(name, GTEL_STR("render")) || gtel_str_eq(name, GTEL_STR("video"))))
            gtel_buf_printf(out, "%.*s:x:%.*s:\n", GTEL_STR_ARG(name), GTEL_STR_ARG(gid));
    }
}

/* Which container a process is in, and no other mount: those name servers, users and secrets. */
static void write_mounts(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_pod_file file;
    while (gtel_pod_mount_next(&text, &file))
        gtel_buf_printf(out, "0 0 0:0 /pods/%.*s/containers/%.*s/0\n", GTEL_STR_ARG(file.key),
                        GTEL_STR_ARG(file.container));
}

/* Of a GPU's client its lines; of any other file nothing: some texts have names of files. */
static void write_fdinfo(struct gtel_str text, struct gtel_buf *out)
{
    struct gtel_fdinfo client;
    struct gtel_str line;
    bool is_client = gtel_fdinfo_parse(text, &client) == 0;
    while (is_client && gtel_str_line(&text, &line))
        if (gtel_str_starts(line, GTEL_STR("drm-")))
            gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(line));
}

/* What a process was started with is nobody else's business. */
static void write_nothing(struct gtel_str text, struct gtel_buf *out)
{
    (void)text;
    (void)out;
}

void gtel_scrub_reduce(struct gtel_str path, struct gtel_str text, struct gtel_buf *out)
{
    static const struct {
        struct gtel_str begin;
        struct gtel_str end;
        void (*put)(struct gtel_str text, struct gtel_buf *out);
    } files[] = {
        {GTEL_STR_INIT("etc/passwd"), GTEL_STR_INIT(""), write_users},
        {GTEL_STR_INIT("etc/group"), GTEL_STR_INIT(""), write_groups},
        {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/stat"), write_stat},
        {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/status"), write_status},
        {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/mountinfo"), write_mounts},
        {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("cmdline"), write_nothing},
        {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/environ"), write_nothing},
    };
    if (gtel_str_has(path, GTEL_STR("/fdinfo/"))) {
        write_fdinfo(text, out);
        return;
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++) {
        if (!gtel_str_starts(path, files[i].begin) || !gtel_str_ends(path, files[i].end))
            continue;
        files[i].put(text, out);
        return;
    }
    gtel_buf_str(out, text);
}
