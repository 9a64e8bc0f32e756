/* SPDX-License-Identifier: MIT */
/* Names of the machine's users. */
#include "host/users.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void gtel_users_done(struct gtel_users *users)
{
    free(users->text);
    *users = (struct gtel_users){0};
}

void gtel_users_name(struct gtel_users *users, const struct gtel_env *env, uint32_t user, char *buf)
{
    (void)users;
    (void)env;
    (void)snprintf(buf, GTEL_USER_NAME_MAX, "%" PRIu32, user);
}
