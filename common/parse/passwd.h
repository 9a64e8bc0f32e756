/* SPDX-License-Identifier: MIT */
/* The list of users, /etc/passwd (man 5 passwd). Pure: no allocation, no input or output. */
#ifndef GTEL_PARSE_PASSWD_H
#define GTEL_PARSE_PASSWD_H

#include "base/str.h"

/* The name of the first user with that number. 0 or -ENOENT. *ret borrows from text. */
int gtel_passwd_find(struct gtel_str text, uint32_t user, struct gtel_str *ret);

#endif
