/* SPDX-License-Identifier: MIT */
/*
 * Lines of ld.so.conf, which names the folders of shared libraries (ldconfig(8)). Pure: no
 * allocation, no input or output.
 */
#ifndef GTEL_PARSE_LDSO_H
#define GTEL_PARSE_LDSO_H

#include "base/str.h"

enum gtel_ldso_line {
    GTEL_LDSO_NOTHING, /* a comment, an empty line, what is no path from the root, "hwcap …" */
    GTEL_LDSO_FOLDER,
    GTEL_LDSO_INCLUDE
};

/*
 * What a line says. *ret, borrowed, is a folder without the slash at its front and its end ("opt/x
 * y/lib"; "=TYPE" is cut off), or the patterns behind "include", divided by blanks; it is written
 * for these two only.
 */
enum gtel_ldso_line gtel_ldso_parse(struct gtel_str line, struct gtel_str *ret);

/* Whether a name is one that a pattern means, in which * is any text and ? any byte (glob(7)). */
bool gtel_ldso_matches(struct gtel_str pattern, struct gtel_str name);

#endif
