/* SPDX-License-Identifier: MIT */
/* Fuzz target: the list of users. */
#include "fuzz/fuzz.h"
#include "parse/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_str name;
    for (uint32_t user = 0; user < 4; user++)
        if (gtel_passwd_find(text, user, &name) == 0)
            FUZZ_CHECK(name.n > 0 && name.p >= text.p && name.p + name.n < text.p + text.n);
    return 0;
}
