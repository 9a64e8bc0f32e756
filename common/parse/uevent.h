/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a device: the text of its uevent file, lines of KEY=value, and the
 * messages that it sends when something happens to the device. Pure: no allocation, no input or
 * output.
 *
 * The kernel writes both from its own copy of the device's identity; reading them does not reach
 * the hardware.
 */
#ifndef GTEL_PARSE_UEVENT_H
#define GTEL_PARSE_UEVENT_H

#include "base/str.h"

/*
 * The value of the first line with exactly that key; it may be empty. Lines without `=` are passed
 * over. Returns 0 or -ENOENT. *ret borrows from text.
 */
int gtel_uevent_get(struct gtel_str text, struct gtel_str key, struct gtel_str *ret);
/*
 * The PCI ids of a value as "8086:56A0": four hexadecimal digits, a colon, four more. 0 or -EINVAL.
 */
int gtel_uevent_pci_id(struct gtel_str value, uint16_t *ret_vendor, uint16_t *ret_device);

/* A message: ACTION@DEVPATH, a NUL, and values, each KEY=value and a NUL. All parts borrow. */
struct gtel_uevent {
    struct gtel_str action;  /* "change", "add", "remove", "bind" … */
    struct gtel_str devpath; /* below /sys: "/devices/pci0000:00/0000:00:02.0/drm/card0" */
    struct gtel_str values;
};

/*
 * Takes a message of the kernel apart (kernel: lib/kobject_uevent.c). 0, or -EINVAL for anything
 * else, as the messages of udev, which begin with "libudev".
 */
int gtel_uevent_parse(struct gtel_str message, struct gtel_uevent *ret);
/* The value of the first part with exactly that key; it may be empty. 0 or -ENOENT. */
int gtel_uevent_value(const struct gtel_uevent *event, struct gtel_str key, struct gtel_str *ret);
/*
 * The device of a DRM card, by the path of the card: "0000:00:02.0" of the path above. 0, or
 * -ENOENT when the path is not that of a card (connectors and render nodes are none).
 */
int gtel_uevent_card(struct gtel_str devpath, struct gtel_str *ret_device);

#endif
