/* SPDX-License-Identifier: MIT */
/* Windows has no programs with more rights than those of the user who starts them. */
#include "execd/privileges.h"

int gtel_privileges_init(struct gtel_privileges *privileges)
{
    *privileges = (struct gtel_privileges){0};
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
