/* SPDX-License-Identifier: MIT */
/* Fuzz target: a clock's levels as amdgpu lists them. */
#include "fuzz/fuzz.h"
#include "parse/amd_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_dpm range = {0};
    if (gtel_dpm_parse(fuzz_text(data, size), &range) < 0) {
        FUZZ_CHECK(range.min_mhz == 0 && range.max_mhz == 0);
        return 0;
    }
    FUZZ_CHECK(size >= sizeof("0:1Mhz") - 1);
    FUZZ_CHECK(range.min_mhz > 0 && range.min_mhz <= range.max_mhz && range.max_mhz <= 20000);
    return 0;
}
