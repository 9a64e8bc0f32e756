/* SPDX-License-Identifier: MIT */
/* Fuzz target: numbers, lines, words and parts of borrowed text. */
#include "base/str.h"
#include "fuzz/fuzz.h"

#include <math.h>

static bool is_inside(struct gtel_str part, struct gtel_str whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void numbers(struct gtel_str text)
{
    uint64_t u = 0;
    int64_t i = 0;
    double f = 0;
    if (gtel_str_u64(text, &u) == 0 && u <= INT64_MAX)
        FUZZ_CHECK(gtel_str_i64(text, &i) == 0 && i == (int64_t)u);
    if (gtel_str_i64(text, &i) == 0)
        FUZZ_CHECK(gtel_str_f64(text, &f) == 0);
    if (gtel_str_f64(text, &f) == 0)
        FUZZ_CHECK(isfinite(f));
    (void)gtel_str_hex(text, &u);
    (void)gtel_str_duration(text, &u);
}

/* Every cut lies inside the text, and the cutting ends. */
static void cuts(struct gtel_str text)
{
    struct gtel_str part;
    struct gtel_str rest = text;
    size_t n = 0;
    while (gtel_str_line(&rest, &part))
        FUZZ_CHECK(is_inside(part, text) && gtel_str_find(part, '\n') == part.n && n++ <= text.n);
    rest = text;
    n = 0;
    while (gtel_str_word(&rest, &part))
        FUZZ_CHECK(is_inside(part, text) && part.n > 0 && n++ <= text.n);
    rest = text;
    n = 0;
    while (gtel_str_part(&rest, ',', &part))
        FUZZ_CHECK(is_inside(part, text) && gtel_str_find(part, ',') == part.n && n++ <= text.n);
    FUZZ_CHECK(is_inside(gtel_str_trim(text), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    numbers(text);
    numbers(gtel_str_trim(text));
    cuts(text);
    char copy[16];
    bool is_whole = gtel_str_copy(copy, sizeof(copy), text);
    FUZZ_CHECK(is_whole == (text.n < sizeof(copy)));
    return 0;
}
