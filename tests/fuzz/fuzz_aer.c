/* SPDX-License-Identifier: MIT */
/* Fuzz target: the error counts of a PCIe device. */
#include "fuzz/fuzz.h"
#include "parse/pcie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t value = 1;
    if (gtel_aer_total(fuzz_text(data, size), &value) < 0)
        FUZZ_CHECK(value == 1);
    else
        FUZZ_CHECK(size > sizeof("TOTAL_ERR_"));
    return 0;
}
