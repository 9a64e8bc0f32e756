/* SPDX-License-Identifier: MIT */
/* Fuzz target: the properties of a node of KFD's topology. */
#include "fuzz/fuzz.h"
#include "parse/kfd_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_pci pci = {.domain = 7};
    uint32_t render = 0;
    uint64_t bytes = 0;
    FUZZ_CHECK((gtel_kfd_bank_bytes(fuzz_text(data, size), &bytes) == 0) == (bytes != 0));
    FUZZ_CHECK((gtel_kfd_node_render(fuzz_text(data, size), &render) == 0) == (render != 0));
    if (gtel_kfd_node_pci(fuzz_text(data, size), &pci) < 0) {
        FUZZ_CHECK(pci.domain == 7);
        return 0;
    }
    FUZZ_CHECK(size > sizeof("location_id"));
    FUZZ_CHECK(pci.device < 32 && pci.function < 8);
    return 0;
}
