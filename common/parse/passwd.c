/* SPDX-License-Identifier: MIT */
/* The list of users. */
#include "parse/passwd.h"

#include <errno.h>

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
