/* SPDX-License-Identifier: MIT */
/* Fuzz target: files about processes and users, reduced to what a recorded machine needs. */
#include "fuzz/fuzz.h"
#include "recording/scrub_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gtel_str paths[] = {
        GTEL_STR_INIT("proc/1/cgroup"), GTEL_STR_INIT("etc/passwd"), GTEL_STR_INIT("proc/1/stat"),
        GTEL_STR_INIT("proc/1/fdinfo/3")};
    const size_t n = sizeof(paths) / sizeof(paths[0]);
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 20);
    gtel_scrub_reduce(paths[size > 0 ? data[size - 1] % n : 0], fuzz_text(data, size), &out);
    FUZZ_CHECK(!out.has_failed);
    gtel_buf_done(&out);
    return 0;
}
