/* SPDX-License-Identifier: MIT */
/* Fuzz target: performance counters of Windows, as a buffer and as text. */
#include "fuzz/fuzz.h"
#include "parse/perf_counters.h"

#include <errno.h>
#include <string.h>

static size_t read_text(struct gtel_str text)
{
    const struct gtel_str whole = text;
    struct gtel_perf_instance instance;
    size_t lines = 0;
    uint64_t clock_ns;
    int r = gtel_perf_clock(&text, &clock_ns);
    for (; r != -ENODATA; lines++) {
        size_t before = text.n;
        r = gtel_perf_next(&text, &instance);
        FUZZ_CHECK(r == -ENODATA || text.n < before);
        if (r == 0 && instance.type.n > 0)
            FUZZ_CHECK(instance.type.p >= whole.p &&
                       instance.type.p + instance.type.n <= whole.p + whole.n);
        if (r == 0)
            FUZZ_CHECK(instance.has < 1u << GTEL_PERF_COUNTERS_MAX);
    }
    return lines;
}

/* What is printed is a line with the time and one for each instance, all of which can be read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char buf[1 << 20];
    size_t n = 0;
    (void)read_text(fuzz_text(data, size));
    int r = gtel_perf_print(data, size, buf, sizeof(buf), &n);
    FUZZ_CHECK(r <= 0 && n <= sizeof(buf) && (r == 0) == (n > 0));
    if (r < 0)
        return 0;
    size_t newlines = 0;
    for (size_t i = 0; i < n; i++)
        newlines += buf[i] == '\n';
    FUZZ_CHECK(memcmp(buf, "clock ", 6) == 0 && buf[n - 1] == '\n');
    FUZZ_CHECK(read_text((struct gtel_str){buf, n}) == newlines);
    if (n > 1)
        FUZZ_CHECK(gtel_perf_print(data, size, buf, n - 1, &n) == -E2BIG);
    return 0;
}
