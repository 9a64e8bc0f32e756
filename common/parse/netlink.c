/* SPDX-License-Identifier: MIT */
/* Messages of netlink and generic netlink. */
#include "parse/netlink.h"

#include <errno.h>
#include <string.h>

enum {
    HEADER = 16,        /* struct nlmsghdr */
    GENERIC_HEADER = 4, /* struct genlmsghdr */
    ATTR_HEADER = 4,    /* struct nlattr */
    TYPE_ERROR = 2,     /* NLMSG_ERROR, with error 0: an acknowledgement */
    TYPE_DONE = 3,      /* NLMSG_DONE */
    TYPE_FIRST = 16,    /* NLMSG_MIN_TYPE: generic netlink's families begin here */
    FLAG_REQUEST = 1,   /* NLM_F_REQUEST */
    FLAG_MULTI = 2,     /* NLM_F_MULTI */
    FLAG_DUMP = 0x300,  /* NLM_F_DUMP */
    TYPE_MASK = 0x3fff  /* NLA_TYPE_MASK */
};

static uint16_t get_u16(const char *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint32_t get_u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* n filled up to 4 bytes, at most what is there. */
static size_t aligned(size_t n, size_t max)
{
    size_t filled = (n + 3) & ~(size_t)3;
    return filled < max ? filled : max;
}

/* The error at the front of the payload; without one, it went well. */
static int end_error(struct gtel_str payload)
{
    int32_t error = 0;
    if (payload.n >= sizeof(error))
        memcpy(&error, payload.p, sizeof(error));
    return error < 0 && error > -4096 ? (int)error : error == 0 ? 0 : -EIO;
}

int gtel_netlink_next(struct gtel_str *rest, struct gtel_netlink_message *ret)
{
    if (rest->n == 0)
        return -ENODATA;
    if (rest->n < HEADER)
        return -EINVAL;
    size_t n = get_u32(rest->p);
    if (n < HEADER || n > rest->n)
        return -EINVAL;
    uint16_t type = get_u16(rest->p + 4);
    struct gtel_str payload = {rest->p + HEADER, n - HEADER};
    struct gtel_netlink_message message = {.kind = GTEL_NETLINK_OTHER,
                                           .sequence = get_u32(rest->p + 8)};
    if (type == TYPE_ERROR || type == TYPE_DONE) {
        message.kind = GTEL_NETLINK_END;
        message.error = end_error(payload);
    } else if (type >= TYPE_FIRST && payload.n >= GENERIC_HEADER) {
        bool is_part = (get_u16(rest->p + 6) & FLAG_MULTI) != 0;
        message.kind = is_part ? GTEL_NETLINK_PART : GTEL_NETLINK_ANSWER;
        message.attrs = gtel_str_skip(payload, GENERIC_HEADER);
    }
    *rest = gtel_str_skip(*rest, aligned(n, rest->n));
    *ret = message;
    return 0;
}

int gtel_netlink_attr(struct gtel_str attrs, uint16_t type, struct gtel_str *ret)
{
    while (attrs.n > 0) {
        if (attrs.n < ATTR_HEADER)
            return -EINVAL;
        size_t n = get_u16(attrs.p);
        if (n < ATTR_HEADER || n > attrs.n)
            return -EINVAL;
        if ((get_u16(attrs.p + 2) & TYPE_MASK) == type) {
            *ret = (struct gtel_str){attrs.p + ATTR_HEADER, n - ATTR_HEADER};
            return 0;
        }
        attrs = gtel_str_skip(attrs, aligned(n, attrs.n));
    }
    return -ENOENT;
}

static int get_number(struct gtel_str attrs, uint16_t type, void *ret, size_t n)
{
    struct gtel_str value;
    int r = gtel_netlink_attr(attrs, type, &value);
    if (r < 0)
        return r;
    if (value.n != n)
        return -EINVAL;
    memcpy(ret, value.p, n);
    return 0;
}

int gtel_netlink_u16(struct gtel_str attrs, uint16_t type, uint16_t *ret)
{
    return get_number(attrs, type, ret, sizeof(*ret));
}

int gtel_netlink_u32(struct gtel_str attrs, uint16_t type, uint32_t *ret)
{
    return get_number(attrs, type, ret, sizeof(*ret));
}

int gtel_netlink_text(struct gtel_str attrs, uint16_t type, struct gtel_str *ret)
{
    struct gtel_str value;
    int r = gtel_netlink_attr(attrs, type, &value);
    if (r == 0)
        *ret = (struct gtel_str){value.p, gtel_str_find(value, '\0')};
    return r;
}

static void put_u16(char *p, uint16_t v)
{
    memcpy(p, &v, sizeof(v));
}

static void put_u32(char *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}

size_t gtel_netlink_write(const struct gtel_netlink_request *request, char *buf)
{
    const size_t start = HEADER + GENERIC_HEADER;
    size_t n = start;
    if (request->value.n > GTEL_NETLINK_REQUEST_MAX - start - ATTR_HEADER - 3)
        return 0;
    memset(buf, 0, GTEL_NETLINK_REQUEST_MAX);
    if (request->value.n > 0) {
        put_u16(buf + n, (uint16_t)(ATTR_HEADER + request->value.n));
        put_u16(buf + n + 2, request->attr_type);
        memcpy(buf + n + ATTR_HEADER, request->value.p, request->value.n);
        n += aligned(ATTR_HEADER + request->value.n, SIZE_MAX);
    }
    put_u32(buf, (uint32_t)n);
    put_u16(buf + 4, request->family);
    put_u16(buf + 6, (uint16_t)(FLAG_REQUEST | (request->is_dump ? FLAG_DUMP : 0)));
    put_u32(buf + 8, request->sequence);
    buf[HEADER] = (char)request->command;
    buf[HEADER + 1] = (char)request->version;
    return n;
}
