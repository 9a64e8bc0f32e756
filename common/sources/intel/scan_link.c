/* SPDX-License-Identifier: MIT */
/* Lists what an Intel GPU has to read: the PCIe link. */
#include "parse/link.h"
#include "sources/intel/scan.h"

struct link {
    uint64_t gen;
    uint64_t lanes;
};

/* False when the port says nothing sane about its link. */
static bool read_link(const struct gtel_env *env, const char *port, struct link *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char buf[64];
    struct gtel_str text;
    gtel_fs_path(path, "%s/current_link_speed", port);
    if (gtel_fs_text(env, path, buf, sizeof(buf), &text) < 0 ||
        gtel_link_speed(text, &ret->gen) < 0)
        return false;
    gtel_fs_path(path, "%s/current_link_width", port);
    return gtel_fs_text(env, path, buf, sizeof(buf), &text) == 0 &&
           gtel_link_width(text, &ret->lanes) == 0;
}

static bool has_hex(const struct gtel_env *env, const char *port, const char *name, uint64_t want)
{
    char path[GTEL_FS_PATH_MAX];
    uint64_t value;
    return gtel_fs_hex(env, gtel_fs_path(path, "%s/%s", port, name), &value) == 0 && value == want;
}

/* A PCI bridge of Intel's: a port of the switch on the card, or the slot's own root port. */
static bool is_intel_bridge(const struct gtel_env *env, const char *port)
{
    return has_hex(env, port, "vendor", 0x8086) && has_hex(env, port, "class", 0x060400);
}

/*
 * Discrete Intel cards carry a switch, and the GPU behind it always reports 2.5 GT/s x1 (A380,
 * A770, B580; Syllo/nvtop PR #344). Its parent is the switch's downstream port, the next one the
 * upstream port, which has the slot's link. Writes the path of the port to read into port; false
 * when none is sane.
 */
static bool find_port(const struct gtel_intel_scan *scan, char *port)
{
    static const char *const above[] = {"/..", "/../.."};
    struct link link;
    gtel_fs_path(port, "%s", scan->device_path);
    if (!read_link(scan->env, port, &link))
        return false;
    uint16_t vendor = scan->card->vendor_id; /* 0: not known */
    if ((vendor != 0x8086 && vendor != 0) || scan->card->pci.bus == 0 || link.lanes != 1 ||
        link.gen != 1)
        return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(above); i++) {
        gtel_fs_path(port, "%s%s", scan->device_path, above[i]);
        if (is_intel_bridge(scan->env, port) && read_link(scan->env, port, &link) &&
            (link.lanes > 1 || link.gen > 1))
            return true;
    }
    return false;
}

void gtel_intel_add_link(struct gtel_intel_scan *scan)
{
    static const struct gtel_intel_kind speed = {
        GTEL_M_GPU_PCIE_GEN,    GTEL_INTEL_LINK_SPEED, 1,
        GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_SYSFS,      false};
    static const struct gtel_intel_kind width = {
        GTEL_M_GPU_PCIE_WIDTH,  GTEL_INTEL_LINK_WIDTH, 1,
        GTEL_INTEL_NO_HEADLINE, GTEL_INTEL_SYSFS,      false};
    char port[GTEL_FS_PATH_MAX];
    if (!scan->card->is_pci || !find_port(scan, port))
        return;
    gtel_intel_add(scan, &speed, NULL, port, GTEL_STR("current_link_speed"));
    gtel_intel_add(scan, &width, NULL, port, GTEL_STR("current_link_width"));
}
