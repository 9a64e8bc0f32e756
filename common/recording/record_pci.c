/* SPDX-License-Identifier: MIT */
/* The list of all PCI devices, reduced to those that the recorded machine has. */
#include "recording/record_pci.h"

#include "parse/uevent.h"

void gtel_record_pci_learn(struct gtel_record_pci *pci, struct gtel_str path, struct gtel_str text)
{
    uint64_t number;
    uint16_t vendor;
    uint16_t device;
    struct gtel_str value;
    if (!gtel_str_starts(path, GTEL_STR("sys/")))
        return;
    if (gtel_str_ends(path, GTEL_STR("/device")) &&
        gtel_str_hex(gtel_str_trim(text), &number) == 0 && number <= UINT16_MAX)
        device = (uint16_t)number;
    else if (!gtel_str_ends(path, GTEL_STR("/uevent")) ||
             gtel_uevent_get(text, GTEL_STR("PCI_ID"), &value) < 0 ||
             gtel_uevent_pci_id(value, &vendor, &device) < 0)
        return;
    pci->device[device / 8] |= (unsigned char)(1u << device % 8);
}

bool gtel_record_pci_is_list(struct gtel_str path)
{
    return gtel_str_starts(path, GTEL_STR("usr/share/")) &&
           gtel_str_ends(path, GTEL_STR("/pci.ids"));
}

/* "\t56a0  DG2 [Arc A770]" */
static bool is_known(const struct gtel_record_pci *pci, struct gtel_str line)
{
    uint64_t id;
    return gtel_str_hex(gtel_str_head(gtel_str_skip(line, 1), 4), &id) == 0 &&
           (pci->device[id / 8] >> id % 8 & 1) != 0;
}

void gtel_record_pci_reduce(const struct gtel_record_pci *pci, struct gtel_str text,
                            struct gtel_buf *out)
{
    struct gtel_str vendor = GTEL_STR_NONE; /* whose line is to be written */
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (line.p[0] != '\t') {
            vendor = line;
        } else if (is_known(pci, line)) {
            if (vendor.n > 0)
                gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(vendor));
            gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(line));
            vendor = GTEL_STR_NONE;
        }
    }
}
