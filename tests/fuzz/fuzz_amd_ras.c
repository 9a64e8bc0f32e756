/* SPDX-License-Identifier: MIT */
/* Fuzz target: amdgpu's texts about hardware errors; the first byte says which. */
#include "fuzz/fuzz.h"
#include "parse/amd_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_amd_ras got = {.known = 100};
    if (size == 0)
        return 0;
    struct gtel_str text = fuzz_text(data + 1, size - 1);
    bool is_list = data[0] == 'p';
    int r = is_list ? gtel_amd_pages_parse(text, &got) : gtel_amd_ras_parse(text, &got);
    if (r < 0) {
        FUZZ_CHECK(got.known == 100);
    } else if (is_list) {
        /* "0 : 0 : R" and its newline have at least 6 bytes. */
        FUZZ_CHECK(got.known == 7);
        FUZZ_CHECK((got.count[0] + got.count[1] + got.count[2]) * 6 <= size + 1);
    } else {
        FUZZ_CHECK(got.known > 0 && got.known < 8 && size > sizeof("ue:"));
    }
    return 0;
}
