/* SPDX-License-Identifier: MIT */
/* Fuzz target: what drivers call an engine. */
#include "fuzz/fuzz.h"
#include "parse/engine_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_engine_name name;
    if (gtel_engine_name_parse(fuzz_text(data, size), &name) < 0)
        return 0;
    FUZZ_CHECK((int)name.class >= 0 && name.class < GTEL_ENGINE_CLASSES);
    FUZZ_CHECK(name.instance <= UINT16_MAX || name.instance == UINT32_MAX);
    FUZZ_CHECK(gtel_engine_class_name(name.class).n > 0);
    return 0;
}
