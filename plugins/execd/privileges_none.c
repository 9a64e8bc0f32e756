/* SPDX-License-Identifier: MIT */
/*
 * Windows and macOS have no capabilities: a program has no more rights than the user who starts it,
 * but for set-user-ID of macOS, which is not supported.
 */
#include "execd/privileges.h"

#include <errno.h>
#include <unistd.h>

int gtel_privileges_init(struct gtel_privileges *privileges)
{
    *privileges = (struct gtel_privileges){0};
#ifndef _WIN32
    if (getuid() != geteuid() || getgid() != getegid())
        return -EPERM;
#endif
    return 0;
}

int gtel_privileges_pause(const struct gtel_privileges *privileges)
{
    (void)privileges;
    return 0;
}

int gtel_privileges_resume(const struct gtel_privileges *privileges)
{
    return gtel_privileges_pause(privileges);
}

int gtel_privileges_drop(struct gtel_privileges *privileges)
{
    return gtel_privileges_pause(privileges);
}
