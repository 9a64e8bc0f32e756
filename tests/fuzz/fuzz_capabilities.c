/* SPDX-License-Identifier: MIT */
/* Fuzz target: the capabilities of a process. */
#include "fuzz/fuzz.h"
#include "parse/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t set;
    (void)gtel_capabilities_parse(fuzz_text(data, size), &set); /* any answer is fine */
    return 0;
}
