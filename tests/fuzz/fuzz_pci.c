/* SPDX-License-Identifier: MIT */
/* Fuzz target: PCI addresses, and what Windows calls PCI devices. What parses is printed, and the
 * print parses to the same again. */
#include "fuzz/fuzz.h"
#include "parse/pci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_pci pci;
    uint16_t ids[2];
    struct gtel_str front = {(const char *)data, size < 21 ? size : 21};
    if (gtel_pci_instance_parse(fuzz_text(data, size), ids) == 0) {
        char again_text[32];
        uint16_t again_ids[2];
        (void)snprintf(again_text, sizeof(again_text), "PCI\\VEN_%04X&DEV_%04X", ids[0], ids[1]);
        FUZZ_CHECK(front.n == 21 && gtel_pci_instance_parse(front, again_ids) == 0);
        FUZZ_CHECK(gtel_pci_instance_parse(gtel_str_of(again_text), again_ids) == 0);
        FUZZ_CHECK(again_ids[0] == ids[0] && again_ids[1] == ids[1]);
    }
    if (gtel_pci_parse(fuzz_text(data, size), &pci) < 0)
        return 0;
    FUZZ_CHECK(pci.device < 32 && pci.function < 8);
    char text[GTEL_PCI_TEXT_MAX];
    gtel_pci_print(text, &pci);
    struct gtel_pci again;
    FUZZ_CHECK(gtel_pci_parse(gtel_str_of(text), &again) == 0);
    FUZZ_CHECK(again.domain == pci.domain && again.bus == pci.bus && again.device == pci.device &&
               again.function == pci.function);
    return 0;
}
