/* SPDX-License-Identifier: MIT */
/* Fills a table of function pointers from a vendor library. */
#include "host/dynlib.h"

#include "host/library.h"

#include <errno.h>
#include <string.h>

static void set_pointer(void *table, size_t offset, void *address)
{
    memcpy((char *)table + offset, &address, sizeof(address));
}

/* A library in a folder that the linker's cache does not have yet is opened by its path. */
static int open_any(const struct gtel_env *env, const char *const *sonames, void **ret)
{
    char path[GTEL_FS_PATH_MAX] = "/";
    const char *const by_path[] = {path, NULL};
    int r = env->ops->lib_open(env->arg, sonames, ret);
    if (r != -ENOENT || !gtel_library_find(env, sonames, path + 1, sizeof(path) - 1))
        return r;
    return env->ops->lib_open(env->arg, by_path, ret);
}

int gtel_dynlib_open(const struct gtel_env *env, struct gtel_dynlib *dynlib,
                     const char *const *sonames, const struct gtel_dynlib_symbol *symbols, size_t n,
                     void *table)
{
    void *lib;
    int r = open_any(env, sonames, &lib);
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
