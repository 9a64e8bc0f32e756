/* SPDX-License-Identifier: MIT */
/* Fuzz target: the release of a kernel. */
#include "fuzz/fuzz.h"
#include "parse/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_release release;
    if (gtel_release_parse(fuzz_text(data, size), &release) == 0) {
        FUZZ_CHECK(size >= 3);
        FUZZ_CHECK(gtel_release_is_at_least(&release, release.major, release.minor));
        FUZZ_CHECK(release.major == UINT32_MAX ||
                   !gtel_release_is_at_least(&release, release.major + 1, 0));
    }
    return 0;
}
