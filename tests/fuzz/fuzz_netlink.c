/* SPDX-License-Identifier: MIT */
/* Fuzz target: messages of generic netlink. */
#include "fuzz/fuzz.h"
#include "parse/netlink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str whole = fuzz_text(data, size);
    struct gtel_str rest = whole;
    struct gtel_netlink_message message;
    size_t before = rest.n;
    while (gtel_netlink_next(&rest, &message) == 0) {
        struct gtel_str text;
        uint32_t number;
        uint16_t half;
        FUZZ_CHECK(rest.n < before && message.error <= 0);
        before = rest.n;
        for (uint16_t type = 0; type < 6; type++) {
            if (gtel_netlink_text(message.attrs, type, &text) == 0)
                FUZZ_CHECK(text.p >= whole.p && text.p + text.n <= whole.p + whole.n);
            (void)gtel_netlink_u32(message.attrs, type, &number);
            (void)gtel_netlink_u16(message.attrs, type, &half);
        }
    }
    return 0;
}
