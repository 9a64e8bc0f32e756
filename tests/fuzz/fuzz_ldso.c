/* SPDX-License-Identifier: MIT */
/* Fuzz target: a line of ld.so.conf; of two lines, a pattern and a name. */
#include "fuzz/fuzz.h"
#include "parse/ldso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str rest = fuzz_text(data, size);
    struct gtel_str line;
    struct gtel_str name = GTEL_STR_NONE;
    struct gtel_str text = GTEL_STR_NONE;
    if (!gtel_str_line(&rest, &line))
        return 0;
    switch (gtel_ldso_parse(line, &text)) {
    case GTEL_LDSO_FOLDER:
        FUZZ_CHECK(text.n > 0 && text.n < line.n);
        FUZZ_CHECK(text.p[0] != '/' && text.p[text.n - 1] != '/');
        break;
    case GTEL_LDSO_INCLUDE:
        FUZZ_CHECK(text.n > 0 && text.n < line.n);
        break;
    default:
        FUZZ_CHECK(text.n == 0);
        break;
    }
    (void)gtel_str_line(&rest, &name);
    bool has_wildcard = gtel_str_find(line, '*') < line.n || gtel_str_find(line, '?') < line.n;
    bool matches = gtel_ldso_matches(line, name);
    if (!has_wildcard)
        FUZZ_CHECK(matches == gtel_str_eq(line, name));
    return 0;
}
