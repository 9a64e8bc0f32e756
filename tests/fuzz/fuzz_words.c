/* SPDX-License-Identifier: MIT */
/* Fuzz target: binary data as words of a width and a value. */
#include "fuzz/fuzz.h"
#include "parse/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char bytes[64];
    size_t n = sizeof(bytes) + 1;
    if (gtel_words_pack(fuzz_text(data, size), 2.5, bytes, sizeof(bytes), &n) == 0)
        FUZZ_CHECK(n <= sizeof(bytes));
    else
        FUZZ_CHECK(n == sizeof(bytes) + 1);
    return 0;
}
