/* SPDX-License-Identifier: MIT */
/* Rights beyond those of the user who starts the program. */
#include "execd/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* capget(2): version 3 has two words of 32 bits for each set. */
enum { WORDS = _LINUX_CAPABILITY_U32S_3 };

static int read_sets(struct __user_cap_data_struct *sets)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, sets) < 0 ? -errno : 0;
}

static int write_sets(const struct __user_cap_data_struct *sets)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
}

/*
 * AT_SECURE: the kernel gave rights when the program was started (getauxval(3)). It is not set for
 * ambient capabilities (capabilities(7)), which show in the permitted set.
 */
static int compare_rights(struct gtel_privileges *ret)
{
    struct __user_cap_data_struct sets[WORDS];
    uint32_t permitted = 0;
    int r = read_sets(sets);
    if (r < 0)
        return r;
    for (int i = 0; i < WORDS; i++) {
        permitted |= sets[i].permitted;
        ret->effective[i] = sets[i].effective;
    }
    ret->is_raised = getuid() != 0 && (getauxval(AT_SECURE) != 0 || permitted != 0);
    return 0;
}

/*
 * As in common/lanes/lane.c for helpers: a helper can also be started by hand. The loader of shared
 * objects has read its own variables by now; it ignores them where AT_SECURE is set.
 */
static int replace_environment(void)
{
    /* In memory of the C library's own, since other libraries may change these two later. */
    bool is_done =
        clearenv() == 0 && setenv("LC_ALL", "C", 1) == 0 && setenv("PATH", "/usr/bin:/bin", 1) == 0;
    return is_done ? 0 : -ENOMEM;
}

int gtel_privileges_init(struct gtel_privileges *privileges)
{
    *privileges = (struct gtel_privileges){0};
    if (getuid() != geteuid() || getgid() != getegid())
        return -EPERM;
    int r = compare_rights(privileges);
    if (r == 0 && privileges->is_raised)
        r = replace_environment();
    return r;
}

static int set_effective(const uint32_t *effective)
{
    struct __user_cap_data_struct sets[WORDS];
    int r = read_sets(sets);
    if (r < 0)
        return r;
    for (int i = 0; i < WORDS; i++)
        sets[i].effective = effective[i];
    return write_sets(sets);
}

int gtel_privileges_pause(const struct gtel_privileges *privileges)
{
    static const uint32_t none[WORDS] = {0};
    return privileges->is_raised ? set_effective(none) : 0;
}

int gtel_privileges_resume(const struct gtel_privileges *privileges)
{
    return privileges->is_raised ? set_effective(privileges->effective) : 0;
}

int gtel_privileges_drop(struct gtel_privileges *privileges)
{
    const struct __user_cap_data_struct none[WORDS] = {{0}};
    if (!privileges->is_raised)
        return 0;
    /* Ambient capabilities go with the inheritable ones (capabilities(7)); file capabilities of a
     * helper are held back by no_new_privs (prctl(2)). */
    int r = write_sets(none);
    if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        r = -errno;
    privileges->is_raised = privileges->is_raised && r < 0;
    return r;
}
