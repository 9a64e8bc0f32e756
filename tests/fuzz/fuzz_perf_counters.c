/* SPDX-License-Identifier: MIT */
/* Fuzz target: performance counters of Windows, as a buffer and as text. */
#include "fuzz/fuzz.h"
#include "parse/perf_counters.h"

#include <errno.h>
#include <string.h>

static size_t read_set(struct gtel_str data)
{
    struct gtel_perf_instance instance;
    struct gtel_perf_name name;
    char text[GTEL_PERF_NAME_MAX];
    struct gtel_perf_set set;
    size_t instances = 0;
    if (gtel_perf_begin(data, &set) < 0)
        return 1;
    for (size_t before = set.rest.n; gtel_perf_next(&set, &instance); before = set.rest.n) {
        instances++;
        FUZZ_CHECK(set.rest.n < before);
        FUZZ_CHECK(instance.has < 1u << GTEL_PERF_COUNTERS_MAX);
        FUZZ_CHECK(instance.name.n == 0 || (instance.name.p > data.p &&
                                            instance.name.p + instance.name.n <= data.p + data.n));
        int r = gtel_perf_name(&set, &instance, text, &name);
        const struct gtel_str from = set.ids.p ? (struct gtel_str){text, sizeof(text)} : data;
        if (r == 0 && name.type.n > 0)
            FUZZ_CHECK(name.type.p >= from.p && name.type.p + name.type.n <= from.p + from.n);
    }
    return instances + 1;
}

/* What is printed is a line with the time and one for each instance, all of which can be read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char buf[1 << 20];
    struct gtel_str whole = fuzz_text(data, size);
    size_t n = 0;
    size_t instances = read_set(whole);
    int r = gtel_perf_print(whole, buf, sizeof(buf), &n);
    FUZZ_CHECK(r <= 0 && n < sizeof(buf) && (r == 0) == (n > 0));
    if (r < 0)
        return 0;
    size_t newlines = 0;
    for (size_t i = 0; i < n; i++)
        newlines += buf[i] == '\n';
    FUZZ_CHECK(memcmp(buf, "clock ", 6) == 0 && buf[n - 1] == '\n');
    FUZZ_CHECK(read_set((struct gtel_str){buf, n}) == newlines);
    FUZZ_CHECK(instances == newlines); /* none was cut off */
    if (n > 1)
        FUZZ_CHECK(gtel_perf_print(whole, buf, n - 1, &n) == -E2BIG);
    return 0;
}
