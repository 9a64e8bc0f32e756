/* SPDX-License-Identifier: MIT */
/* Names of PCI devices from what the machine has. */
#include "host/pci_names.h"

#include "parse/pci_ids.h"
#include "parse/uevent.h"

#include <errno.h>
#include <stdlib.h>

enum { LIST_MAX = 4 << 20 };       /* bytes of pci.ids, which has 1.5 MiB */
enum { AMD_LIST_MAX = 256 << 10 }; /* and of amdgpu.ids, which has 16 KiB */

/* Debian and Arch, Fedora and SUSE. */
static const char *const lists[] = {"usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids"};

/* udev keeps what it knows as lines E:KEY=value (systemd: libsystemd/sd-device/device-private.c).
 */
static int ask_udev(const struct gtel_env *env, const char *key, char *buf, size_t size,
                    struct gtel_str *ret)
{
    struct gtel_str text;
    int r = gtel_fs_text(env, GTEL_FS_AT("run/udev/data/+pci:%s", key), buf, size, &text);
    return r < 0 ? r : gtel_uevent_get(text, GTEL_STR("E:ID_MODEL_FROM_DATABASE"), ret);
}

/* 1 for a market name, 0 for another. */
static int ask_lists(const struct gtel_env *env, const uint16_t ids[2], struct gtel_str vendor,
                     char *buf, size_t size)
{
    struct gtel_str text;
    struct gtel_str name;
    char *list = malloc(LIST_MAX);
    if (!list)
        return -ENOMEM;
    int r = -ENOENT;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lists) && r < 0; i++) {
        r = gtel_fs_text(env, lists[i], list, LIST_MAX, &text);
        if (r == 0)
            r = gtel_pci_ids_find(text, ids[0], ids[1], &name);
        if (r == 0)
            r = gtel_pci_market_name(name, vendor, buf, size);
    }
    free(list);
    return r < 0 ? -ENOENT : r;
}

int gtel_pci_name(const struct gtel_env *env, const char *key, const uint16_t ids[2],
                  struct gtel_str vendor, char *buf, size_t size)
{
    char text[GTEL_FS_TEXT_MAX];
    struct gtel_str name;
    int listed = ask_lists(env, ids, vendor, buf, size);
    if (listed > 0 || listed == -ENOMEM || ask_udev(env, key, text, sizeof(text), &name) < 0)
        return listed;
    /* buf keeps the list's name unless udev's is better. */
    char own[GTEL_FS_TEXT_MAX];
    int known = gtel_pci_market_name(name, vendor, own, sizeof(own));
    if (known < 0 || (known == 0 && listed == 0))
        return listed;
    (void)gtel_str_copy(buf, size, gtel_str_of(own)); /* a long one is cut */
    return known;
}

int gtel_amd_name(const struct gtel_env *env, const char *device_path, uint16_t device, char *buf,
                  size_t size)
{
    static const struct gtel_str vendor = GTEL_STR_INIT("AMD");
    char text[GTEL_FS_TEXT_MAX];
    struct gtel_str name;
    uint64_t revision;
    int r =
        gtel_fs_text(env, GTEL_FS_AT("%s/product_name", device_path), text, sizeof(text), &name);
    if (r == 0 && gtel_pci_market_name(name, vendor, buf, size) >= 0)
        return 0; /* boards with a memory for it; empty on others */
    char *list = malloc(AMD_LIST_MAX);
    r = list ? gtel_fs_hex(env, GTEL_FS_AT("%s/revision", device_path), &revision) : -ENOMEM;
    if (r == 0)
        r = gtel_fs_text(env, "usr/share/libdrm/amdgpu.ids", list, AMD_LIST_MAX, &name);
    if (r == 0)
        r = gtel_amd_ids_find(name, device, (uint16_t)revision, &name);
    if (r == 0)
        r = gtel_pci_market_name(name, vendor, buf, size);
    free(list);
    return r < 0 ? -ENOENT : 0;
}
