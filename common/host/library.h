/* SPDX-License-Identifier: MIT */
/*
 * Vendor libraries, which may not be there: where one lies that dlopen() of a helper finds, without
 * loading it, and the calls of one that is opened through the env, never linked.
 *
 * A helper has a clean environment, so LD_LIBRARY_PATH counts for nothing: the folders are those of
 * /etc/ld.so.conf and what it includes, those that linkers know without it (ld.so(8)), and those of
 * NixOS and Guix, which gtel adds by itself. The cache that ldconfig makes of them is not read: a
 * library in a folder that ldconfig has not seen yet is opened by its path.
 *
 * The list of calls is a .def file; it expands into a struct of typed pointers and into rows of
 * name, offset and need:
 *
 *     GTEL_SYM(nvmlInit_v2, REQUIRED)
 *
 * All or nothing: a missing REQUIRED call closes the library. A missing OPTIONAL call is a NULL.
 */
#ifndef GTEL_HOST_LIBRARY_H
#define GTEL_HOST_LIBRARY_H

#include "host/fs.h"

/*
 * The first of the names (NULL at the end) that is there: a path from the root, or a name in one of
 * the folders. ret, of size bytes, gets its path without the slash at the front; it is written when
 * the result is true. A path that is longer is none.
 */
bool gtel_library_find(const struct gtel_env *env, const char *const *names, char *ret,
                       size_t size);

struct gtel_dynlib_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool is_required;
};

struct gtel_dynlib {
    void *lib; /* NULL: not open */
};

/*
 * Opens the first of sonames (NULL at the end), by its path where that is known only from
 * ld.so.conf, and fills the table. Returns 0; -ENOENT when no such library is there; -EPERM where
 * the env forbids libraries; -ENOSYS when a required call is missing (logged with its name; the
 * library is closed and the table zeroed).
 */
int gtel_dynlib_open(const struct gtel_env *env, struct gtel_dynlib *dynlib,
                     const char *const *sonames, const struct gtel_dynlib_symbol *symbols, size_t n,
                     void *table);
/* Closes the library; the table's pointers are then invalid. A zeroed dynlib is fine. */
void gtel_dynlib_close(const struct gtel_env *env, struct gtel_dynlib *dynlib);

#endif
