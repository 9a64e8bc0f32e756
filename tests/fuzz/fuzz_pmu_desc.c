/* SPDX-License-Identifier: MIT */
/* Fuzz target: the texts by which a perf PMU describes itself. */
#include "fuzz/fuzz.h"
#include "parse/pmu_desc.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    uint64_t value;
    uint32_t cpu;
    uint32_t n;
    double seconds;
    double scale;
    uint8_t first;
    uint8_t last;
    (void)gtel_pmu_term(text, GTEL_STR("config"), &value);
    if (gtel_pmu_unit_seconds(text, &seconds) == 0)
        FUZZ_CHECK(seconds > 0 && seconds <= 1);
    if (gtel_pmu_cpus(text, &cpu, &n) == 0)
        FUZZ_CHECK(n > 0 && (uint64_t)cpu + n <= (uint64_t)INT32_MAX + 1);
    if (gtel_pmu_scale(text, &scale) == 0)
        FUZZ_CHECK(scale > 0 && scale < INFINITY);
    if (gtel_pmu_format(text, &first, &last) == 0)
        FUZZ_CHECK(first <= last && last < 64);
    return 0;
}
