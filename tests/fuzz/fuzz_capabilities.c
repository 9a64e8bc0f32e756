/* SPDX-License-Identifier: MIT */
/* Fuzz target: the capabilities of a process. */
#include "fuzz/fuzz.h"
#include "parse/capabilities.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t set;
    if (gtel_capabilities_parse(fuzz_text(data, size), &set) == 0)
        (void)gtel_capabilities_perfmon(set);
    return 0;
}
