/* SPDX-License-Identifier: MIT */
/* Texts of /proc and /etc about processes, users and the kernel. */
#include "parse/proc.h"

#include <errno.h>

/*
 * Fields of stat are counted from 1; the name is the second (kernel:
 * Documentation/filesystems/proc.rst, table 1-4).
 */
enum { FIELD_BEHIND_NAME = 3, FIELD_PARENT = 4, FIELD_START = 22 };

bool gtel_pid_is_older(const struct gtel_pid_birth *a, const struct gtel_pid_birth *b)
{
    if (a->start == 0 || b->start == 0)
        return false;
    return a->start < b->start || (a->start == b->start && b->parent == a->pid);
}

int gtel_pid_stat(struct gtel_str text, struct gtel_pid_stat *ret)
{
    size_t open = gtel_str_find(text, '(');
    /* All behind the name is numbers and the letter of the state, so the last one closes it. */
    size_t close = gtel_str_behind(text, ')');
    if (open == text.n || close < open + 2)
        return -EINVAL;
    struct gtel_str rest = gtel_str_skip(text, close);
    struct gtel_str word = GTEL_STR_NONE;
    uint64_t parent = 0;
    for (int field = FIELD_BEHIND_NAME; field <= FIELD_START; field++) {
        if (!gtel_str_word(&rest, &word))
            return -EINVAL;
        if (field == FIELD_PARENT && (gtel_str_u64(word, &parent) < 0 || parent > UINT32_MAX))
            parent = 0;
    }
    uint64_t start;
    int r = gtel_str_u64(word, &start);
    if (r < 0)
        return r;
    *ret = (struct gtel_pid_stat){
        .name = {text.p + open + 1, close - open - 2}, .parent = (uint32_t)parent, .start = start};
    return 0;
}

int gtel_capabilities_parse(struct gtel_str status, uint64_t *ret)
{
    struct gtel_str set;
    return gtel_str_value(status, GTEL_STR("CapEff"), ':', &set) ? gtel_str_hex(set, ret)
                                                                 : -ENODATA;
}

/* Cuts the digits at the front off *text. */
static int take_number(struct gtel_str *text, uint32_t *ret)
{
    uint64_t value;
    size_t n = 0;
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    if (gtel_str_u64((struct gtel_str){text->p, n}, &value) < 0 || value > UINT32_MAX)
        return -EINVAL;
    *ret = (uint32_t)value;
    *text = gtel_str_skip(*text, n);
    return 0;
}

int gtel_release_parse(struct gtel_str text, struct gtel_release *ret)
{
    struct gtel_release release;
    int r = take_number(&text, &release.major);
    if (r < 0 || !gtel_str_starts(text, GTEL_STR(".")))
        return -EINVAL;
    text = gtel_str_skip(text, 1);
    r = take_number(&text, &release.minor);
    if (r == 0)
        *ret = release;
    return r;
}

bool gtel_release_is_at_least(const struct gtel_release *release, uint32_t major, uint32_t minor)
{
    return release->major > major || (release->major == major && release->minor >= minor);
}

/* name:password:number:… with something behind the number, so that a cut line is none. */
static bool take_line(struct gtel_str line, struct gtel_str *ret_name, uint64_t *ret_user)
{
    struct gtel_str password;
    struct gtel_str number;
    return gtel_str_part(&line, ':', ret_name) && gtel_str_part(&line, ':', &password) &&
           gtel_str_part(&line, ':', &number) && line.n > 0 && ret_name->n > 0 &&
           gtel_str_u64(number, ret_user) == 0;
}

int gtel_passwd_find(struct gtel_str text, uint32_t user, struct gtel_str *ret)
{
    struct gtel_str line;
    struct gtel_str name;
    uint64_t number;
    while (gtel_str_line(&text, &line)) {
        if (!take_line(line, &name, &number) || number != user)
            continue;
        *ret = name;
        return 0;
    }
    return -ENOENT;
}
