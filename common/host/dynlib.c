/* SPDX-License-Identifier: MIT */
/* Fills a table of function pointers from a vendor library. */
#include "host/dynlib.h"

#include <errno.h>
#include <string.h>

static void set_pointer(void *table, size_t offset, void *address)
{
    memcpy((char *)table + offset, &address, sizeof(address));
}

int gtel_dynlib_open(const struct gtel_env *env, struct gtel_dynlib *dynlib,
                     const char *const *sonames, const struct gtel_dynlib_symbol *symbols, size_t n,
                     void *table)
{
    void *lib;
    int r = env->ops->lib_open(env->arg, sonames, &lib);
    if (r < 0)
        return r;
    dynlib->lib = lib;
    for (size_t i = 0; i < n; i++) {
        void *address = env->ops->lib_symbol(env->arg, lib, symbols[i].name);
        set_pointer(table, symbols[i].offset, address);
        if (address || !symbols[i].is_required)
            continue;
        gtel_log(&env->log, GTEL_LOG_WARNING, "%s has no %s: not used; install a newer version",
                 sonames[0], symbols[i].name);
        for (size_t k = 0; k <= i; k++)
            set_pointer(table, symbols[k].offset, NULL);
        gtel_dynlib_close(env, dynlib);
        return -ENOSYS;
    }
    return 0;
}

void gtel_dynlib_close(const struct gtel_env *env, struct gtel_dynlib *dynlib)
{
    if (!dynlib->lib)
        return;
    env->ops->lib_close(env->arg, dynlib->lib);
    dynlib->lib = NULL;
}
