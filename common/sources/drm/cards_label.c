/* SPDX-License-Identifier: MIT */
/* What a card is called: vendor and model, the same for all sources. */
#include "sources/drm/cards.h"

#include "host/pci_names.h"
#include "parse/uevent.h"
#include "parse/utf16.h"
#include "tables/intel_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AMD = 0x1002 };

/* By the PCI vendor, else by the driver: that of a board without PCI. */
static const struct {
    uint16_t id;
    const char *tag;
    const char *name; /* as people write it; also what is left away at the front of a model */
} vendors[] = {
    {0x8086, "intel", "Intel"},
    {AMD, "amd", "AMD"},
    {0x1022, "amd", "AMD"},
    {0x10de, "nvidia", "NVIDIA"},
};

static const struct {
    const char *driver;
    const char *tag;
} makers[] = {
    {"adreno", "qualcomm"}, {"amdgpu", "amd"},       {"amdxdna", "amd"},
    {"asahi", "apple"},     {"etnaviv", "vivante"},  {"i915", "intel"},
    {"intel_vpu", "intel"}, {"lima", "arm"},         {"mdp4", "qualcomm"},
    {"msm", "qualcomm"},    {"msm_dpu", "qualcomm"}, {"msm_mdp", "qualcomm"},
    {"panfrost", "arm"},    {"panthor", "arm"},      {"powervr", "imagination"},
    {"tyr", "arm"},         {"v3d", "broadcom"},     {"vc4-drm", "broadcom"},
    {"xe", "intel"},
};

static size_t vendor_of(uint16_t id)
{
    size_t i = 0;
    while (i < GTEL_ARRAY_LEN(vendors) && vendors[i].id != id)
        i++;
    return i;
}

static const char *maker_of(const struct gtel_drm_card *drm)
{
    size_t vendor = vendor_of(drm->vendor_id);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(makers); i++)
        if (strcmp(makers[i].driver, drm->driver) == 0)
            return makers[i].tag;
    return vendor < GTEL_ARRAY_LEN(vendors) ? vendors[vendor].tag : "";
}

/* The device tree's word for the GPU: "brcm,2712-v3d" (kernel: of_device_uevent). */
static bool find_compatible(const struct gtel_env *env, const struct gtel_drm_card *drm, char *buf,
                            size_t size)
{
    char path[GTEL_FS_PATH_MAX];
    char text[GTEL_FS_TEXT_MAX];
    struct gtel_str uevent;
    struct gtel_str value;
    if (gtel_card_core(env, drm, path) < 0 ||
        gtel_fs_text(env, GTEL_FS_AT("%s/uevent", path), text, sizeof(text), &uevent) < 0 ||
        gtel_uevent_get(uevent, GTEL_STR("OF_COMPATIBLE_0"), &value) < 0 || value.n == 0)
        return false;
    (void)gtel_str_copy(buf, size, value); /* a long one is cut */
    return true;
}

/*
 * The best name of a PCI device into buf, which is never left empty: the market's from the machine,
 * then ours, the machine's code name, the platform's, the ids. Names of ours are as pci.ids would
 * have them, so that a machine that gets or loses the list keeps its series.
 */
static void find_name(const struct gtel_env *env, const struct gtel_drm_card *drm,
                      const char *vendor, char *buf, size_t size)
{
    const uint16_t ids[2] = {drm->vendor_id, drm->device_id};
    bool is_intel = drm->vendor_id == 0x8086;
    int n = snprintf(buf, size, "%s ", vendor);
    size_t used = n > 0 && (size_t)n < size ? (size_t)n : 0;
    if (drm->vendor_id == AMD &&
        gtel_amd_name(env, GTEL_FS_AT("sys/class/drm/%s/device", drm->card), drm->device_id,
                      buf + used, size - used) == 0)
        return;
    int known = gtel_pci_name(env, drm->key, ids, gtel_str_of(vendor), buf + used, size - used);
    const char *name = known <= 0 && is_intel ? gtel_intel_name(drm->device_id) : NULL;
    if (!name && known >= 0)
        return;
    if (!name && is_intel)
        name = gtel_intel_code_name(drm->device_id);
    if (name)
        (void)snprintf(buf, size, "%s", name);
    else
        (void)snprintf(buf, size, "%s %04x:%04x", vendor, drm->vendor_id, drm->device_id);
}

/* The model of another device with these ids, so that the long list is read once. */
static const char *find_twin(const struct gtel_registry *registry, const struct gtel_device *device)
{
    for (size_t i = 0; i < registry->n; i++) {
        const struct gtel_device *other = registry->device[i];
        if (other != device && other->label[GTEL_LABEL_MODEL][0] != '\0' &&
            strcmp(other->label[GTEL_LABEL_PCI_ID], device->label[GTEL_LABEL_PCI_ID]) == 0)
            return other->label[GTEL_LABEL_MODEL];
    }
    return NULL;
}

void gtel_cards_label(const struct gtel_env *env, struct gtel_registry *registry,
                      struct gtel_device *device, const struct gtel_drm_card *drm)
{
    char text[GTEL_LABEL_MAX];
    size_t vendor = vendor_of(drm->vendor_id);
    const char *maker = maker_of(drm);
    const char *twin = NULL;
    bool is_known = !drm->is_pci || drm->vendor_id != 0; /* a name without its ids would stay */
    gtel_device_relabel(registry, device, GTEL_LABEL_VENDOR, gtel_str_of(maker));
    if (drm->vendor_id != 0) {
        (void)snprintf(text, sizeof(text), "%04x:%04x", drm->vendor_id, drm->device_id);
        (void)gtel_device_label_id(registry, device, gtel_str_of(text));
        if (drm->vendor_id != AMD) /* whose names differ by the revision, too */
            twin = find_twin(registry, device);
    }
    if (device->label[GTEL_LABEL_MODEL][0] != '\0' || !is_known)
        return;
    if (twin)
        (void)gtel_str_copy(text, sizeof(text), gtel_str_of(twin));
    else if (vendor < GTEL_ARRAY_LEN(vendors))
        find_name(env, drm, vendors[vendor].name, text, sizeof(text));
    else if (strcmp(maker, "intel") == 0)
        (void)snprintf(text, sizeof(text), "Intel");
    else if (!find_compatible(env, drm, text, sizeof(text)))
        return;
    gtel_device_label(registry, device, GTEL_LABEL_MODEL, gtel_str_of(text));
}

/* What stands in the books may have its place in an INF in front. */
bool gtel_cards_label_pnp(const struct gtel_pnp *pnp, struct gtel_registry *registry,
                          struct gtel_device *device, const struct gtel_pnp_gpu *gpu,
                          bool is_last_try)
{
    uint16_t units[GTEL_PNP_UNITS];
    char text[GTEL_LABEL_MAX];
    size_t vendor = vendor_of(gpu->pci_id[0]);
    bool is_known = vendor < GTEL_ARRAY_LEN(vendors);
    bool is_nvidia = is_known && strcmp(vendors[vendor].tag, "nvidia") == 0; /* NVML has it, too */
    gtel_device_label(registry, device, GTEL_LABEL_GPU, gtel_str_of(gpu->key));
    if (is_known)
        gtel_device_relabel(registry, device, GTEL_LABEL_VENDOR, gtel_str_of(vendors[vendor].tag));
    gtel_device_relabel(registry, device, GTEL_LABEL_DRIVER,
                        is_nvidia ? GTEL_STR("nvidia") : GTEL_STR("wddm"));
    (void)snprintf(text, sizeof(text), "%04x:%04x", gpu->pci_id[0], gpu->pci_id[1]);
    (void)gtel_device_label_id(registry, device, gtel_str_of(text));
    if (gtel_pnp_text(pnp, &gpu->info, GTEL_SPDRP_DESCRIPTION, units)) {
        struct gtel_str name = gtel_utf16_text(units, GTEL_PNP_UNITS, text, sizeof(text));
        if (gtel_str_starts(name, GTEL_STR("@")))
            name = gtel_str_skip(name, gtel_str_find(name, ';') + 1);
        gtel_device_label(registry, device, GTEL_LABEL_MODEL, name);
    } else if (is_last_try) {
        (void)snprintf(text, sizeof(text), "%s %04x:%04x", is_known ? vendors[vendor].name : "GPU",
                       gpu->pci_id[0], gpu->pci_id[1]);
        gtel_device_label(registry, device, GTEL_LABEL_MODEL, gtel_str_of(text));
    }
    return device->label[GTEL_LABEL_MODEL][0] != '\0';
}
