/* SPDX-License-Identifier: MIT */
/*
 * Where a vendor library lies that dlopen() of a helper finds, without loading it.
 *
 * A helper has a clean environment, so LD_LIBRARY_PATH counts for nothing: the folders are those of
 * /etc/ld.so.conf and what it includes, those that linkers know without it (ld.so(8)), and those of
 * NixOS and Guix, which gtel adds by itself. The cache that ldconfig makes of them is not read: a
 * library in a folder that ldconfig has not seen yet is opened by its path (host/dynlib.h).
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

#endif
