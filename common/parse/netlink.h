/* SPDX-License-Identifier: MIT */
/*
 * Messages of netlink and generic netlink: taking answers apart, and putting requests together.
 * Pure: no allocation, no input or output.
 *
 * The layouts are those of the kernel's include/uapi/linux/netlink.h and genetlink.h, in the byte
 * order of this machine: a message is a header of 16 bytes and a payload, an attribute a header of
 * 4 bytes and a value, each filled up to 4 bytes.
 */
#ifndef GTEL_PARSE_NETLINK_H
#define GTEL_PARSE_NETLINK_H

#include "base/str.h"

enum gtel_netlink_kind {
    GTEL_NETLINK_ANSWER, /* attributes of a generic netlink message */
    GTEL_NETLINK_PART,   /* the same; more messages follow, up to an end */
    GTEL_NETLINK_END,    /* of an answer of several messages, or an error: see error */
    GTEL_NETLINK_OTHER
};

struct gtel_netlink_message {
    enum gtel_netlink_kind kind;
    int error;             /* of GTEL_NETLINK_END: 0 or a negative errno */
    uint32_t sequence;     /* the number of the request */
    struct gtel_str attrs; /* borrowed */
};

/*
 * Cuts the first message off *rest. 0, -ENODATA when nothing is left, -EINVAL when what is left is
 * no message.
 */
int gtel_netlink_next(struct gtel_str *rest, struct gtel_netlink_message *ret);
/* The first attribute of that type. 0, -ENOENT, or -EINVAL where the attributes are malformed. */
int gtel_netlink_attr(struct gtel_str attrs, uint16_t type, struct gtel_str *ret);
/* The same as a number of 2 or 4 bytes; -EINVAL for another size. */
int gtel_netlink_u16(struct gtel_str attrs, uint16_t type, uint16_t *ret);
int gtel_netlink_u32(struct gtel_str attrs, uint16_t type, uint32_t *ret);
/* The same as text, which ends at its first NUL. */
int gtel_netlink_text(struct gtel_str attrs, uint16_t type, struct gtel_str *ret);

enum { GTEL_NETLINK_REQUEST_MAX = 128 };

struct gtel_netlink_request {
    uint16_t family;
    uint8_t command;
    uint8_t version;
    bool is_dump; /* all there are, else one */
    uint32_t sequence;
    uint16_t attr_type; /* one attribute; value empty: none */
    struct gtel_str value;
};

/* Writes the bytes of a request; returns their number, or 0 when the value is too long. */
size_t gtel_netlink_write(const struct gtel_netlink_request *request, char *buf);

#endif
