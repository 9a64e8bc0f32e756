/* SPDX-License-Identifier: MIT */
/* What a helper that a test plays does with itself. */
#include "harness/helper_self.h"

#include <signal.h>
#include <unistd.h>

bool helper_self_open(void)
{
    return true;
}

void helper_self_hang_up(void)
{
    (void)close(HELPER_SELF_WAY); /* of a socket */
}

void helper_self_kill(void)
{
    (void)raise(SIGKILL);
}

void helper_self_deafen(void)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
}

int helper_self_become(const char *path, char **argv)
{
    (void)execv(path, argv);
    return 6;
}
