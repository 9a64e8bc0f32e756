/* SPDX-License-Identifier: MIT */
/* Fuzz target: records of EU stall sampling. */
#include "fuzz/fuzz.h"
#include "parse/eu_stall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    for (int layout = 0; layout < GTEL_EU_STALL_LAYOUTS; layout++) {
        struct gtel_eu_stall_sums sums = {{0}};
        int r = gtel_eu_stall_add((enum gtel_eu_stall_layout)layout, text.p, text.n, &sums);
        FUZZ_CHECK((r == 0) == (text.n % GTEL_EU_STALL_RECORD == 0));
        for (size_t k = 0; r == 0 && k < GTEL_EU_STALL_KINDS; k++)
            FUZZ_CHECK(sums.count[k] <= 255 * (text.n / GTEL_EU_STALL_RECORD));
    }
    return 0;
}
