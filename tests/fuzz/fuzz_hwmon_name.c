/* SPDX-License-Identifier: MIT */
/* Fuzz target: names of hwmon attributes. */
#include "fuzz/fuzz.h"
#include "parse/hwmon_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_hwmon_name name;
    if (gtel_hwmon_name_parse(text, &name) < 0)
        return 0;
    FUZZ_CHECK(name.item.n > 0 || name.kind == GTEL_HWMON_PWM);
    FUZZ_CHECK(gtel_str_ends(text, name.item));
    FUZZ_CHECK((int)name.kind >= 0 && name.kind <= GTEL_HWMON_VOLTAGE);
    return 0;
}
