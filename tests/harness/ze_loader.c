/* SPDX-License-Identifier: MIT */
/* Which loader of Level Zero this system has, and what a source has to say of it. */
#include "harness/ze_loader.h"

#include <stddef.h>

static bool is_there(const struct gtel_env *real, const char *const *names)
{
    void *lib = NULL;
    if (real->ops->lib_open(real->arg, names, &lib) < 0)
        return false;
    real->ops->lib_close(real->arg, lib);
    return true;
}

/* Without a driver the start says that nothing is there (loaders 1.8.12, 1.20.6 and 1.32.0). */
struct loader loader_look(const struct gtel_env *real)
{
    static const char *const loaders[] = {"libze_loader.so.1", NULL};
    static const char *const drivers[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
                                          NULL};
    if (!is_there(real, loaders))
        return (struct loader){.says = "libze_loader.so.1 cannot be used", .text = "none"};
    if (is_there(real, drivers))
        return (struct loader){.has_driver = true, .text = "one with Intel's driver"};
    return (struct loader){.says = "code 0x78000001", .text = "one alone"};
}
