/* SPDX-License-Identifier: MIT */
/* What the kernel reports of a process. */
#include "parse/pid.h"

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
    size_t close = text.n;
    while (close > open && text.p[close - 1] != ')')
        close--;
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
    static const struct gtel_str key = GTEL_STR_INIT("CapEff:");
    struct gtel_str line;
    while (gtel_str_line(&status, &line))
        if (gtel_str_starts(line, key))
            return gtel_str_hex(gtel_str_trim(gtel_str_skip(line, key.n)), ret);
    return -ENODATA;
}
