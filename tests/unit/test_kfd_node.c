/* SPDX-License-Identifier: MIT */
/* The properties of a node of KFD's topology. */
#include "parse/kfd_node.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    const char *want;
} cases[] = {
    {"a GPU",
     "cpu_cores_count 0\nsimd_count 192\nlocation_id 768\ndomain 0\ndrm_render_minor 128\n", 0,
     "0000:03:00.0"},
    {"device and function", "location_id 50425\ndomain 0\n", 0, "0000:c4:1f.1"},
    {"another domain", "location_id 17152\ndomain 2\n", 0, "0002:43:00.0"},
    {"a partition, since 6.9", "location_id 2684354560\nlocation_id 768\n", 0, "0000:00:00.0"},
    {"partition 3 at 03:00.0", "location_id 805307136\ndomain 1\n", 0, "0001:03:00.0"},
    {"partition 3 until 6.8", "location_id 771\ndomain 1\n", 0, "0001:03:00.3"},
    {"no domain, as before 5.5", "location_id 768\n", 0, "0000:03:00.0"},
    {"no newline at the end", "domain 0\nlocation_id 768", 0, "0000:03:00.0"},
    {"a processor", "cpu_cores_count 16\nlocation_id 0\ndomain 0\n", -ENODATA, ""},
    {"names that begin with the name", "location_id2 5\nmy_location_id 7\n", -ENODATA, ""},
    {"nothing", "", -ENODATA, ""},
    {"no value", "location_id\ndomain 0\n", -EINVAL, ""},
    {"no number", "location_id 0x300\ndomain 0\n", -EINVAL, ""},
    {"a domain that is no number", "location_id 768\ndomain -1\n", -EINVAL, ""},
    {"too large", "location_id 4294967296\n", -ERANGE, ""},
    {"too large a domain", "location_id 768\ndomain 4294967296\n", -ERANGE, ""},
    {"overflow", "location_id 18446744073709551616\n", -ERANGE, ""},
};

static const struct {
    const char *text;
    int rc;
    uint32_t want;
} nodes[] = {
    {"location_id 768\ndrm_render_minor 129\n", 0, 129},
    {"drm_render_minor 4294967295", 0, UINT32_MAX},
    {"drm_render_minor 0\n", -ENODATA, 7}, /* a processor */
    {"location_id 768\n", -ENODATA, 7},
    {"drm_render_minor x\n", -EINVAL, 7},
    {"drm_render_minor 4294967296\n", -ERANGE, 7},
};

static const struct {
    const char *label;
    const char *text;
    int rc;
    uint64_t want;
} banks[] = {
    {"visible", "heap_type 1\nsize_in_bytes 25767706624\nflags 0\nwidth 8192\n", 0, 25767706624},
    {"not visible", "heap_type 2\nsize_in_bytes 1\n", 0, 1},
    {"the host's", "heap_type 0\nsize_in_bytes 4096\n", -ENODATA, 7},
    {"the local data share", "heap_type 4\nsize_in_bytes 65536\n", -ENODATA, 7},
    {"no size", "heap_type 1\nsize_in_bytes 0\n", -ENODATA, 7},
    {"no line of it", "heap_type 1\n", -ENODATA, 7},
    {"no heap", "size_in_bytes 4096\n", -ENODATA, 7},
    {"no number", "heap_type 1\nsize_in_bytes x\n", -EINVAL, 7},
    {"overflow", "heap_type 1\nsize_in_bytes 18446744073709551616\n", -ERANGE, 7},
    {"nothing", "", -ENODATA, 7},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++) {
        uint64_t got = 7;
        test_label = banks[i].label;
        CHECK_INT(gtel_kfd_bank_bytes(gtel_str_of(banks[i].text), &got), banks[i].rc);
        CHECK_INT(got, banks[i].want);
    }
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        uint32_t got = 7;
        test_label = nodes[i].text;
        CHECK_INT(gtel_kfd_node_render(gtel_str_of(nodes[i].text), &got), nodes[i].rc);
        CHECK_INT(got, nodes[i].want);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_pci pci = {0};
        char text[GTEL_PCI_TEXT_MAX] = "";
        test_label = cases[i].label;
        int r = gtel_kfd_node_pci(gtel_str_of(cases[i].text), &pci);
        CHECK_INT(r, cases[i].rc);
        if (r == 0)
            gtel_pci_print(text, &pci);
        CHECK_STR(gtel_str_of(text), cases[i].want);
    }
    return test_result();
}
