/* SPDX-License-Identifier: MIT */
/* Names of PCI devices. */
#include "parse/pci_ids.h"

#include <errno.h>

/* Four hexadecimal digits and a blank at the front of a line; the name is what follows. */
static bool take_id(struct gtel_str line, uint64_t *ret_id, struct gtel_str *ret_name)
{
    if (line.n < 5 || line.p[4] != ' ' || gtel_str_hex((struct gtel_str){line.p, 4}, ret_id) < 0 ||
        line.p[1] == 'x')
        return false;
    *ret_name = gtel_str_trim(gtel_str_skip(line, 5));
    return ret_name->n > 0;
}

int gtel_pci_ids_find(struct gtel_str text, uint16_t vendor, uint16_t device, struct gtel_str *ret)
{
    struct gtel_str line;
    struct gtel_str name;
    uint64_t id;
    bool is_vendor = false;
    while (gtel_str_line(&text, &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (line.p[0] != '\t') {
            if (is_vendor)
                return -ENOENT; /* the next vendor begins */
            is_vendor = take_id(line, &id, &name) && id == vendor;
        } else if (is_vendor && take_id(gtel_str_skip(line, 1), &id, &name) && id == device) {
            *ret = name;
            return 0;
        }
    }
    return -ENOENT;
}

static struct gtel_str without_vendor(struct gtel_str name, struct gtel_str vendor)
{
    if (gtel_str_starts(name, vendor) && name.n > vendor.n && name.p[vendor.n] == ' ')
        return gtel_str_trim(gtel_str_skip(name, vendor.n));
    return name;
}

static bool has_digit(struct gtel_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= '0' && text.p[i] <= '9')
            return true;
    return false;
}

int gtel_pci_market_name(struct gtel_str name, struct gtel_str vendor, char *buf, size_t size)
{
    name = without_vendor(gtel_str_trim(name), vendor);
    size_t open = gtel_str_find(name, '[');
    struct gtel_str inside = gtel_str_skip(name, open + 1);
    size_t close = gtel_str_find(inside, ']');
    struct gtel_str code = gtel_str_trim((struct gtel_str){name.p, open});
    bool has_close = close < inside.n;
    inside = without_vendor(gtel_str_trim((struct gtel_str){inside.p, close}), vendor);
    bool is_market = has_close && inside.n > 0; /* else there are no brackets, or odd ones */
    if (!is_market) {
        (void)gtel_str_copy(buf, size, name);
    } else if (has_digit(inside) || code.n == 0) {
        (void)gtel_str_copy(buf, size, inside);
    } else if (gtel_str_copy(buf, size, code) && code.n + 2 < size) {
        buf[code.n] = ' ';
        (void)gtel_str_copy(buf + code.n + 1, size - code.n - 1, inside);
    }
    return buf[0] == '\0' ? -EINVAL : is_market;
}

int gtel_amd_ids_find(struct gtel_str text, uint16_t device, uint16_t revision,
                      struct gtel_str *ret)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str id[2];
        uint64_t number[2];
        bool is_entry = gtel_str_part(&line, ',', &id[0]) && gtel_str_part(&line, ',', &id[1]) &&
                        gtel_str_hex(gtel_str_trim(id[0]), &number[0]) == 0 &&
                        gtel_str_hex(gtel_str_trim(id[1]), &number[1]) == 0;
        line = gtel_str_trim(line);
        if (!is_entry || number[0] != device || number[1] != revision || line.n == 0)
            continue;
        *ret = line;
        return 0;
    }
    return -ENOENT;
}
