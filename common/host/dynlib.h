/* SPDX-License-Identifier: MIT */
/*
 * Fills a table of function pointers from a vendor library that may not be there.
 *
 * A library is opened at run time through the env, never linked. The list of calls is a .def file;
 * it expands into a struct of typed pointers and into rows of name, offset and need:
 *
 *     GTEL_SYM(nvmlInit_v2, REQUIRED)
 *
 * All or nothing: a missing REQUIRED call closes the library. A missing OPTIONAL call is a NULL.
 */
#ifndef GTEL_HOST_DYNLIB_H
#define GTEL_HOST_DYNLIB_H

#include "host/env.h"

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
 * ld.so.conf (host/library.h), and fills the table. Returns 0; -ENOENT when no such library is
 * there; -EPERM where the env forbids libraries; -ENOSYS when a required call is missing (logged
 * with its name; the library is closed and the table zeroed).
 */
int gtel_dynlib_open(const struct gtel_env *env, struct gtel_dynlib *dynlib,
                     const char *const *sonames, const struct gtel_dynlib_symbol *symbols, size_t n,
                     void *table);
/* Closes the library; the table's pointers are then invalid. A zeroed dynlib is fine. */
void gtel_dynlib_close(const struct gtel_env *env, struct gtel_dynlib *dynlib);

#endif
