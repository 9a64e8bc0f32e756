/* SPDX-License-Identifier: MIT */
/* Fuzz target: UTF-16. What comes out is UTF-8 without a NUL, and fits. */
#include "fuzz/fuzz.h"
#include "parse/utf16.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t room = (size_t)data[0] % 64 + 1;
    size_t n = (size - 1) / 2;
    uint16_t *units = malloc(n * sizeof(*units) + 1);
    char *buf = malloc(room);
    if (units && buf) {
        if (n > 0)
            memcpy(units, data + 1, n * sizeof(*units));
        struct gtel_str text = gtel_utf16_text(units, n, buf, room);
        FUZZ_CHECK(text.n < room && buf[text.n] == '\0' && strlen(buf) == text.n);
        while (text.n > 0) {
            size_t length = (unsigned char)text.p[0] < 0x80 ? 1 : gtel_str_utf8(text);
            bool is_c1 = text.n > 1 && text.p[0] == '\xc2' && (unsigned char)text.p[1] < 0xa0;
            FUZZ_CHECK(length > 0 || is_c1);
            text = gtel_str_skip(text, length > 0 ? length : 2);
        }
    }
    free(units);
    free(buf);
    return 0;
}
