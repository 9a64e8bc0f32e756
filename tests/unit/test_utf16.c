/* SPDX-License-Identifier: MIT */
/* Text of Windows, and what it calls PCI devices. */
#include "harness/test.h"
#include "parse/pci.h"
#include "parse/utf16.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *label;
    uint16_t units[8];
    size_t n;
    size_t size;
    const char *want;
} texts[] = {
    {"nothing", {0}, 0, 8, ""},
    {"ASCII up to a NUL", {'A', 'r', 'c', 0, 'x'}, 5, 8, "Arc"},
    {"without a NUL", {'A', 'r'}, 2, 8, "Ar"},
    {"the last of one byte, the first of two", {0x7f, 0x80}, 2, 8, "\x7f\xc2\x80"},
    {"the last of two, the first of three", {0x7ff, 0x800}, 2, 8, "\xdf\xbf\xe0\xa0\x80"},
    {"the trade mark", {0x2122}, 1, 8, "\xe2\x84\xa2"},
    {"the last of three", {0xffff}, 1, 8, "\xef\xbf\xbf"},
    {"a pair", {0xd83d, 0xde00}, 2, 8, "\xf0\x9f\x98\x80"},
    {"the first and the last pair",
     {0xd800, 0xdc00, 0xdbff, 0xdfff},
     4,
     16,
     "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
    {"half a pair at the end", {'a', 0xd83d}, 2, 8, "a?"},
    {"its second half alone", {0xde00, 'b'}, 2, 8, "?b"},
    {"two first halves", {0xd83d, 0xd83d, 0xde00}, 3, 8, "?\xf0\x9f\x98\x80"},
    {"a character that does not fit", {'a', 0x2122}, 2, 4, "a"},
    {"one that just fits", {'a', 0x2122}, 2, 5, "a\xe2\x84\xa2"},
    {"room for a NUL alone", {'a'}, 1, 1, ""},
};

static void test_texts(void)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char buf[32];
        test_label = texts[i].label;
        memset(buf, '#', sizeof(buf));
        struct gtel_str got = gtel_utf16_text(texts[i].units, texts[i].n, buf, texts[i].size);
        CHECK(gtel_str_eq(got, gtel_str_of(texts[i].want)));
        CHECK(buf[got.n] == '\0');
        CHECK(buf[texts[i].size] == '#');
    }
    test_label = "";
}

static const struct {
    const char *text;
    int rc;
    uint16_t vendor;
    uint16_t device;
} instances[] = {
    {"PCI\\VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00\\6&1A2B3C4D&0&00080008", 0, 0x8086, 0xe20b},
    {"PCI\\VEN_10de&DEV_2684", 0, 0x10de, 0x2684},
    {"PCI\\VEN_1002&DEV_744C\\6", 0, 0x1002, 0x744c},
    {"", -EINVAL, 0, 0},
    {"PCI\\VEN_8086", -EINVAL, 0, 0},
    {"PCI\\VEN_8086&DEV_E20", -EINVAL, 0, 0},
    {"PCI\\VEN_8086&DEV_E20B0", -EINVAL, 0, 0},
    {"PCI\\VEN_8086&DEV_0xE2&SUBSYS", -EINVAL, 0, 0},
    {"PCI\\VEN_80 6&DEV_E20B", -EINVAL, 0, 0},
    {"PCI\\DEV_E20B&VEN_8086", -EINVAL, 0, 0},
    {"ROOT\\BASICRENDER\\0000", -EINVAL, 0, 0},
    {"SWD\\REMOTEDISPLAYENUM\\RDPIDD_INDIRECTDISPLAY&SESSIONID_0002", -EINVAL, 0, 0},
    {"USB\\VEN_8086&DEV_E20B", -EINVAL, 0, 0},
};

static void test_instances(void)
{
    for (size_t i = 0; i < sizeof(instances) / sizeof(instances[0]); i++) {
        uint16_t ids[2] = {0, 0};
        test_label = instances[i].text;
        CHECK_INT(gtel_pci_instance_parse(gtel_str_of(instances[i].text), ids), instances[i].rc);
        CHECK_INT(ids[0], instances[i].vendor);
        CHECK_INT(ids[1], instances[i].device);
    }
    test_label = "";
}

int main(void)
{
    test_texts();
    test_instances();
    return test_result();
}
