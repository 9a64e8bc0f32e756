/* SPDX-License-Identifier: MIT */
/* The error counts of a PCIe device. */
#include "parse/aer.h"

#include <errno.h>

/* Cuts the last line off *rest; false when nothing is left. The sum stands in the last one. */
static bool last_line(struct gtel_str *rest, struct gtel_str *ret)
{
    size_t n = rest->n;
    if (n == 0)
        return false;
    while (n > 0 && rest->p[n - 1] != '\n')
        n--;
    *ret = gtel_str_skip(*rest, n);
    rest->n = n > 0 ? n - 1 : 0;
    return true;
}

int gtel_aer_total(struct gtel_str text, struct gtel_str name, uint64_t *ret)
{
    struct gtel_str line;
    struct gtel_str word;
    while (last_line(&text, &line)) {
        if (!gtel_str_word(&line, &word) || !gtel_str_eq(word, name))
            continue;
        return gtel_str_u64(gtel_str_trim(line), ret);
    }
    return -ENODATA;
}
