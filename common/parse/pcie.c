/* SPDX-License-Identifier: MIT */
/* Texts of a PCIe device in sysfs. */
#include "parse/pcie.h"

#include "base/compiler.h"

#include <errno.h>

/* PCI Express Base Specification, chapter 8: data rates by generation. */
static const double speeds[] = {2.5, 5, 8, 16, 32, 64};

int gtel_link_gen(double gts, uint64_t *ret_gen)
{
    for (uint64_t i = 0; i < GTEL_ARRAY_LEN(speeds); i++) {
        if (gts > speeds[i] - 0.05 && gts < speeds[i] + 0.05) {
            *ret_gen = i + 1;
            return 0;
        }
    }
    return -ERANGE;
}

int gtel_link_speed(struct gtel_str text, uint64_t *ret_gen)
{
    struct gtel_str number;
    struct gtel_str unit;
    double speed;
    if (!gtel_str_word(&text, &number))
        return -EINVAL;
    if (gtel_str_eq(number, GTEL_STR("Unknown")))
        return -ENODATA;
    if (!gtel_str_word(&text, &unit) || !gtel_str_eq(unit, GTEL_STR("GT/s")))
        return -EINVAL;
    int r = gtel_str_f64(number, &speed);
    return r < 0 ? r : gtel_link_gen(speed, ret_gen);
}

/* The same, chapter 7: link widths. */
static const uint64_t widths[] = {1, 2, 4, 8, 12, 16, 32};

int gtel_link_width(struct gtel_str text, uint64_t *ret_lanes)
{
    uint64_t lanes;
    int r = gtel_str_u64(text, &lanes);
    if (r < 0)
        return r;
    /*
     * 255 is the kernel's PCIE_LNK_WIDTH_UNKNOWN (include/linux/pci.h), and 63 all ones in a
     * register of a device that does not answer (PCI_EXP_LNKSTA_NLW); 0 on integrated GPUs.
     */
    if (lanes == 0 || lanes == 63 || lanes == 255)
        return -ENODATA;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(widths); i++) {
        if (lanes == widths[i]) {
            *ret_lanes = lanes;
            return 0;
        }
    }
    return -ERANGE;
}

/* Cuts the last line off *rest; false when nothing is left. The sum stands in the last one. */
static bool last_line(struct gtel_str *rest, struct gtel_str *ret)
{
    size_t n = gtel_str_behind(*rest, '\n');
    if (rest->n == 0)
        return false;
    *ret = gtel_str_skip(*rest, n);
    rest->n = n > 0 ? n - 1 : 0;
    return true;
}

int gtel_aer_total(struct gtel_str text, uint64_t *ret)
{
    struct gtel_str line;
    struct gtel_str word;
    while (last_line(&text, &line)) {
        if (!gtel_str_word(&line, &word) || !gtel_str_starts(word, GTEL_STR("TOTAL_ERR_")))
            continue;
        return gtel_str_u64(gtel_str_trim(line), ret);
    }
    return -ENODATA;
}
