/* SPDX-License-Identifier: MIT */
/* Fuzz target: the list of PCI devices, and names from there. */
#include "fuzz/fuzz.h"
#include "parse/pci_ids.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_str name;
    char buf[24];
    memset(buf, 'x', sizeof(buf));
    if (gtel_amd_ids_find(text, 0x744c, 0xc8, &name) == 0)
        FUZZ_CHECK(name.n > 0 && name.p >= text.p && name.p + name.n <= text.p + text.n);
    if (gtel_pci_ids_find(text, 0x8086, 0x56a0, &name) == 0) {
        FUZZ_CHECK(name.n > 0 && name.p >= text.p && name.p + name.n <= text.p + text.n);
        text = name;
    }
    if (gtel_pci_market_name(text, GTEL_STR("Intel"), buf, sizeof(buf)) >= 0)
        FUZZ_CHECK(buf[0] != '\0');
    FUZZ_CHECK(memchr(buf, '\0', sizeof(buf)) != NULL);
    return 0;
}
