/* SPDX-License-Identifier: MIT */
/* A device's uevent text. */
#include "parse/uevent.h"
#include "test.h"

#include <errno.h>

static const struct {
    const char *label;
    const char *text;
    const char *key;
    int rc;
    const char *want;
} get_cases[] = {
    {"empty", "", "DRIVER", -ENOENT, ""},
    {"first line", "DRIVER=xe\nPCI_ID=8086:E20B\n", "DRIVER", 0, "xe"},
    {"last line without a newline", "DRIVER=xe\nPCI_ID=8086:E20B", "PCI_ID", 0, "8086:E20B"},
    {"a key that begins with the key", "PCI_ID_X=1\nPCI_ID=2\n", "PCI_ID", 0, "2"},
    {"the key as a value", "A=DRIVER\n", "DRIVER", -ENOENT, ""},
    {"no equals sign", "DRIVER\n", "DRIVER", -ENOENT, ""},
    {"empty value", "DRIVER=\n", "DRIVER", 0, ""},
    {"two of a kind: the first", "A=1\nA=2\n", "A", 0, "1"},
    {"equals sign in the value", "A=b=c\n", "A", 0, "b=c"},
    {"CRLF", "A=1\r\n", "A", 0, "1"},
};

static const struct {
    const char *text;
    int rc;
    uint16_t vendor;
    uint16_t device;
} id_cases[] = {
    {"8086:56A0", 0, 0x8086, 0x56a0},
    {"8086:e20b", 0, 0x8086, 0xe20b},
    {"0000:0000", 0, 0, 0},
    {"8086", -EINVAL, 0, 0},
    {"8086:", -EINVAL, 0, 0},
    {":56A0", -EINVAL, 0, 0},
    {"8086:56A", -EINVAL, 0, 0},
    {"8086:056A0", -EINVAL, 0, 0},
    {"0x86:0x56", -EINVAL, 0, 0},
    {"8086:56G0", -EINVAL, 0, 0},
    {"", -EINVAL, 0, 0},
    {"8086:56A0:1", -EINVAL, 0, 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(get_cases) / sizeof(get_cases[0]); i++) {
        struct gtel_str got = GTEL_STR_NONE;
        test_label = get_cases[i].label;
        CHECK_INT(
            gtel_uevent_get(gtel_str_of(get_cases[i].text), gtel_str_of(get_cases[i].key), &got),
            get_cases[i].rc);
        CHECK_STR(got, get_cases[i].want);
    }
    for (size_t i = 0; i < sizeof(id_cases) / sizeof(id_cases[0]); i++) {
        uint16_t vendor = 0;
        uint16_t device = 0;
        test_label = id_cases[i].text;
        CHECK_INT(gtel_uevent_pci_id(gtel_str_of(id_cases[i].text), &vendor, &device),
                  id_cases[i].rc);
        CHECK_INT(vendor, id_cases[i].vendor);
        CHECK_INT(device, id_cases[i].device);
    }
    return test_result();
}
