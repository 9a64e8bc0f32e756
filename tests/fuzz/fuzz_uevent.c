/* SPDX-License-Identifier: MIT */
/* Fuzz target: uevent text, and the PCI ids in it. */
#include "fuzz/fuzz.h"
#include "parse/uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_str value;
    uint16_t vendor;
    uint16_t device;
    if (gtel_uevent_get(text, GTEL_STR("PCI_SLOT_NAME"), &value) == 0)
        FUZZ_CHECK(value.n == 0 || (value.p >= text.p && value.p + value.n <= text.p + text.n));
    if (gtel_uevent_get(text, GTEL_STR("PCI_ID"), &value) == 0 &&
        gtel_uevent_pci_id(value, &vendor, &device) == 0)
        FUZZ_CHECK(value.n == 9);
    (void)gtel_uevent_pci_id(text, &vendor, &device);
    return 0;
}
