/* SPDX-License-Identifier: MIT */
/* What the kernel says of a device: uevent text and messages. */
#include "parse/uevent.h"
#include "harness/test.h"

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

/* A message with the NUL behind its last part, as in the literal. */
#define MESSAGE(literal) literal, sizeof(literal)

#define CARD0 "/devices/pci0000:00/0000:00:02.0/drm/card0"

static const struct {
    const char *label;
    const char *bytes;
    size_t n;
    int rc;
    const char *action;
    const char *devpath;
    const char *key;
    int value_rc;
    const char *value;
} message_cases[] = {
    {"a reset",
     MESSAGE("change@" CARD0 "\0ACTION=change\0DEVPATH=" CARD0 "\0SUBSYSTEM=drm\0RESET=1"), 0,
     "change", CARD0, "RESET", 0, "1"},
    {"a wedged device", MESSAGE("change@" CARD0 "\0SUBSYSTEM=drm\0WEDGED=rebind,bus-reset\0PID=12"),
     0, "change", CARD0, "WEDGED", 0, "rebind,bus-reset"},
    {"a key that ends with the key", MESSAGE("change@/a\0I915_ERROR=1\0ERROR=0"), 0, "change", "/a",
     "ERROR", 0, "0"},
    {"no values", MESSAGE("add@/a"), 0, "add", "/a", "ERROR", -ENOENT, ""},
    {"no NUL at all", "add@/a", 6, 0, "add", "/a", "ERROR", -ENOENT, ""},
    {"a value without a NUL", "add@/a\0X=1", 10, 0, "add", "/a", "X", 0, "1"},
    {"empty parts", MESSAGE("add@/a\0\0\0X=1"), 0, "add", "/a", "X", 0, "1"},
    {"the action is no value", MESSAGE("ERROR@/a\0=1"), 0, "ERROR", "/a", "ERROR", -ENOENT, ""},
    {"a message of udev", MESSAGE("libudev\0\xfe\xed\xca\xfe"), -EINVAL, "", "", "", 0, ""},
    {"no action", MESSAGE("@/a"), -EINVAL, "", "", "", 0, ""},
    {"no path", MESSAGE("add@"), -EINVAL, "", "", "", 0, ""},
    {"a path that is relative", MESSAGE("add@a"), -EINVAL, "", "", "", 0, ""},
    {"empty", "", 0, -EINVAL, "", "", "", 0, ""},
};

static const struct {
    const char *path;
    int rc;
    const char *device;
} card_cases[] = {
    {CARD0, 0, "0000:00:02.0"},
    {"/devices/platform/soc/gpu0/drm/card12", 0, "gpu0"},
    {CARD0 "/card0-DP-1", -ENOENT, ""},
    {"/devices/pci0000:00/0000:00:02.0/drm/renderD128", -ENOENT, ""},
    {"/devices/pci0000:00/0000:00:02.0/card0", -ENOENT, ""},
    {"/devices/pci0000:00/0000:00:02.0/drm/card", -ENOENT, ""},
    {"/drm/card0", -ENOENT, ""},
    {"drm/card0", -ENOENT, ""},
    {"/module/drm", -ENOENT, ""},
    {"", -ENOENT, ""},
};

static void test_messages(void)
{
    for (size_t i = 0; i < sizeof(message_cases) / sizeof(message_cases[0]); i++) {
        struct gtel_uevent event = {GTEL_STR_NONE, GTEL_STR_NONE, GTEL_STR_NONE};
        struct gtel_str value = GTEL_STR_NONE;
        test_label = message_cases[i].label;
        CHECK_INT(gtel_uevent_parse((struct gtel_str){message_cases[i].bytes, message_cases[i].n},
                                    &event),
                  message_cases[i].rc);
        CHECK_STR(event.action, message_cases[i].action);
        CHECK_STR(event.devpath, message_cases[i].devpath);
        if (message_cases[i].rc < 0)
            continue;
        CHECK_INT(gtel_uevent_value(&event, gtel_str_of(message_cases[i].key), &value),
                  message_cases[i].value_rc);
        CHECK_STR(value, message_cases[i].value);
    }
    for (size_t i = 0; i < sizeof(card_cases) / sizeof(card_cases[0]); i++) {
        struct gtel_str device = GTEL_STR_NONE;
        test_label = card_cases[i].path;
        CHECK_INT(gtel_uevent_card(gtel_str_of(card_cases[i].path), &device), card_cases[i].rc);
        CHECK_STR(device, card_cases[i].device);
    }
}

int main(void)
{
    test_messages();
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
