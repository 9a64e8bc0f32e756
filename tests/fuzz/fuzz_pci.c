/* SPDX-License-Identifier: MIT */
/* Fuzz target: PCI addresses. What parses is printed, and the print parses to the same again. */
#include "fuzz/fuzz.h"
#include "parse/pci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_pci pci;
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
