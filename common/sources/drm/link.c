/* SPDX-License-Identifier: MIT */
/* The PCIe link that a card is plugged in with. */
#include "sources/drm/link.h"

#include "parse/pcie.h"

const struct gtel_aer_file gtel_aer_files[GTEL_AER_FILES] = {
    {"aer_dev_correctable", GTEL_STR_INIT("corrected")},
    {"aer_dev_nonfatal", GTEL_STR_INIT("nonfatal")},
    {"aer_dev_fatal", GTEL_STR_INIT("fatal")},
};

enum { INTEL = 0x8086, AMD = 0x1002 };

struct link {
    uint64_t gen;
    uint64_t lanes;
};

/* False when the port reports no valid link. */
static bool read_link(const struct gtel_env *env, const char *port, struct link *ret)
{
    char buf[64];
    struct gtel_str text;
    if (gtel_fs_text(env, GTEL_FS_AT("%s/current_link_speed", port), buf, sizeof(buf), &text) < 0 ||
        gtel_link_speed(text, &ret->gen) < 0)
        return false;
    return gtel_fs_text(env, GTEL_FS_AT("%s/current_link_width", port), buf, sizeof(buf), &text) ==
               0 &&
           gtel_link_width(text, &ret->lanes) == 0;
}

static bool has_hex(const struct gtel_env *env, const char *port, const char *name, uint64_t want)
{
    uint64_t value;
    return gtel_fs_hex(env, GTEL_FS_AT("%s/%s", port, name), &value) == 0 && value == want;
}

static bool is_bridge(const struct gtel_env *env, const char *port, uint16_t vendor)
{
    return has_hex(env, port, "vendor", vendor) && has_hex(env, port, "class", 0x060400);
}

/* Bridges of AMD's cards have ATI's vendor id, too (kernel: amdgpu/amdgpu_device.c). */
bool gtel_link_has_switch(const struct gtel_env *env, const struct gtel_card *card)
{
    uint16_t vendor = card->drm.vendor_id;
    return card->drm.is_pci && (vendor == INTEL || vendor == AMD) &&
           is_bridge(env, GTEL_FS_AT("%s/..", card->path), vendor) &&
           is_bridge(env, GTEL_FS_AT("%s/../..", card->path), vendor);
}

/*
 * Discrete Intel cards carry a switch, and the GPU behind it always reports 2.5 GT/s x1 (A380,
 * A770, B580; Syllo/nvtop PR #344). Its parent is the switch's downstream port, the next one the
 * upstream port, which has the slot's link. Writes the path of the port to read into port; false
 * when none has a valid link.
 */
static bool find_port(const struct gtel_attr_list *list, char *port)
{
    static const char *const above[] = {"/..", "/../.."};
    struct link link;
    gtel_fs_path(port, "%s/..", list->card->path);
    if (list->card->drm.vendor_id == AMD && is_bridge(list->env, port, AMD)) {
        gtel_fs_path(port, "%s/../..", list->card->path);
        return gtel_link_has_switch(list->env, list->card) && read_link(list->env, port, &link);
    }
    gtel_fs_path(port, "%s", list->card->path);
    if (!read_link(list->env, port, &link))
        return false;
    uint16_t vendor = list->card->drm.vendor_id; /* 0: not known */
    if ((vendor != INTEL && vendor != 0) || list->card->drm.pci.bus == 0 || link.lanes != 1 ||
        link.gen != 1)
        return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(above); i++) {
        gtel_fs_path(port, "%s%s", list->card->path, above[i]);
        if (is_bridge(list->env, port, INTEL) && read_link(list->env, port, &link) &&
            (link.lanes > 1 || link.gen > 1))
            return true;
    }
    return false;
}

void gtel_link_add(struct gtel_attr_list *list)
{
    static const struct gtel_attr_file files[] = {
        {"current_link_speed", {GTEL_M_GPU_PCIE_GEN, GTEL_ATTR_LINK_SPEED, 1}},
        {"current_link_width", {GTEL_M_GPU_PCIE_WIDTH, GTEL_ATTR_LINK_WIDTH, 1}},
    };
    char port[GTEL_FS_PATH_MAX];
    if (list->card->drm.is_pci && find_port(list, port))
        gtel_attr_add_files(list, NULL, port, files, GTEL_ARRAY_LEN(files));
}

void gtel_link_add_errors(struct gtel_attr_list *list)
{
    static const struct gtel_attr_kind kind = {GTEL_M_ERROR_COUNT, GTEL_ATTR_TOTAL, 1};
    for (size_t i = 0; list->card->drm.is_pci && i < GTEL_AER_FILES; i++) {
        const struct gtel_str dims[GTEL_ATTR_DIMS] = {GTEL_STR("pcie-aer"),
                                                      gtel_aer_files[i].severity};
        gtel_attr_add(list, &kind, dims, list->card->path, gtel_str_of(gtel_aer_files[i].name));
    }
}
