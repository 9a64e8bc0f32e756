/* SPDX-License-Identifier: MIT */
/* Names of the machine's users. */
#include "host/users.h"

#include "host/fs.h"
#include "parse/passwd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t AGE_NS = 300000000000;     /* after which the file is read again */
static const uint64_t RETRY_NS = 60000000000;    /* the same where it did not help */
enum { FIRST_SIZE = 4096, LAST_SIZE = 4 << 20 }; /* bytes of it */

void gtel_users_done(struct gtel_users *users)
{
    free(users->buf);
    *users = (struct gtel_users){0};
}

/* Keeps what is there until there is something better. */
static int read_list(struct gtel_users *users, const struct gtel_env *env)
{
    int r = -E2BIG;
    for (size_t size = FIRST_SIZE; size <= LAST_SIZE && r == -E2BIG; size *= 2) {
        struct gtel_str text;
        char *buf = malloc(size);
        if (!buf)
            return -ENOMEM;
        r = gtel_fs_text(env, "etc/passwd", buf, size, &text);
        if (r == 0) {
            free(users->buf);
            users->buf = buf;
            users->text = text;
        } else {
            free(buf);
        }
    }
    return r;
}

static bool is_due(const struct gtel_users *users, uint64_t now, bool has_helped)
{
    uint64_t wait = has_helped && users->error == 0 ? AGE_NS : RETRY_NS;
    return users->read_ns == 0 || now - users->read_ns >= wait;
}

static bool find(struct gtel_users *users, const struct gtel_env *env, uint32_t user,
                 struct gtel_str *ret)
{
    uint64_t now = gtel_env_now(env);
    bool is_found = gtel_passwd_find(users->text, user, ret) == 0;
    if (!is_due(users, now, is_found))
        return is_found;
    users->error = read_list(users, env);
    users->read_ns = now;
    return gtel_passwd_find(users->text, user, ret) == 0;
}

void gtel_users_name(struct gtel_users *users, const struct gtel_env *env, uint32_t user, char *buf)
{
    struct gtel_str name;
    if (users && find(users, env, user, &name))
        gtel_str_clean(buf, GTEL_USER_NAME_MAX, name);
    else
        (void)snprintf(buf, GTEL_USER_NAME_MAX, "%" PRIu32, user);
}
