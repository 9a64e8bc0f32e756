/* SPDX-License-Identifier: MIT */
/*
 * Names of the machine's users, from its file etc/passwd.
 *
 * The file is kept in memory and read again when it is some minutes old, or when a user is not in
 * it. Users from elsewhere (LDAP, systemd's own) have no name here: asking the C library would load
 * foreign code and wait for a network.
 */
#ifndef GTEL_HOST_USERS_H
#define GTEL_HOST_USERS_H

#include "host/env.h"

enum { GTEL_USER_NAME_MAX = 33 }; /* bytes of a name, with its NUL */

/* A zeroed struct has read nothing yet. */
struct gtel_users {
    char *buf;
    struct gtel_str text; /* of the file, in buf */
    uint64_t read_ns;     /* when it was read last, or tried to, on the env's clock; 0: never */
    int error; /* of the last try: 0 or a negative errno; the text is an older one then */
};

void gtel_users_done(struct gtel_users *users);
/*
 * The name of a user, fit to be shown, or the number where none is known, into buf of
 * GTEL_USER_NAME_MAX bytes. users NULL: the number.
 */
void gtel_users_name(struct gtel_users *users, const struct gtel_env *env, uint32_t user,
                     char *buf);

#endif
