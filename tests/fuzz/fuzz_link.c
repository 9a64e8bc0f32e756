/* SPDX-License-Identifier: MIT */
/* Fuzz target: the text of a PCIe link. */
#include "fuzz/fuzz.h"
#include "parse/pcie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    uint64_t value;
    if (gtel_link_speed(text, &value) == 0)
        FUZZ_CHECK(value >= 1 && value <= 6);
    if (gtel_link_width(text, &value) == 0)
        FUZZ_CHECK(value >= 1 && value <= 64);
    return 0;
}
