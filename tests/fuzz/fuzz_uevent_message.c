/* SPDX-License-Identifier: MIT */
/* Fuzz target: the kernel's messages about devices. */
#include "fuzz/fuzz.h"
#include "parse/uevent.h"

static bool lies_in(struct gtel_str part, struct gtel_str whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str message = fuzz_text(data, size);
    struct gtel_uevent event;
    struct gtel_str value;
    struct gtel_str device;
    if (gtel_uevent_parse(message, &event) < 0)
        return 0;
    FUZZ_CHECK(event.action.n > 0 && lies_in(event.action, message));
    FUZZ_CHECK(event.devpath.p[0] == '/' && lies_in(event.devpath, message));
    FUZZ_CHECK(lies_in(event.values, message));
    if (gtel_uevent_value(&event, GTEL_STR("WEDGED"), &value) == 0)
        FUZZ_CHECK(lies_in(value, event.values));
    if (gtel_uevent_card(event.devpath, &device) == 0)
        FUZZ_CHECK(device.n > 0 && lies_in(device, event.devpath));
    return 0;
}
