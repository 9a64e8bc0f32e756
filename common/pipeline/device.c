/* SPDX-License-Identifier: MIT */
/* The registry of devices. */
#include "pipeline/device.h"

#include "base/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gtel_registry_done(struct gtel_registry *registry)
{
    for (size_t i = 0; i < registry->n; i++)
        free(registry->device[i]);
    free(registry->device);
    *registry = (struct gtel_registry){0};
}

struct gtel_device *gtel_registry_find(const struct gtel_registry *registry, struct gtel_str key)
{
    for (size_t i = 0; i < registry->n; i++)
        if (gtel_str_eq(gtel_str_of(registry->device[i]->key), key))
            return registry->device[i];
    return NULL;
}

static int grow(struct gtel_registry *registry, struct gtel_device **ret)
{
    if (registry->n >= GTEL_DEVICES_MAX) {
        registry->dropped++;
        return -ENOSPC;
    }
    struct gtel_device **list =
        realloc(registry->device, (registry->n + 1) * sizeof(struct gtel_device *));
    if (!list)
        return -ENOMEM;
    registry->device = list;
    struct gtel_device *device = calloc(1, sizeof(*device));
    if (!device)
        return -ENOMEM;
    device->index = (uint32_t)registry->n;
    list[registry->n++] = device;
    *ret = device;
    return 0;
}

int gtel_registry_add(struct gtel_registry *registry, struct gtel_str key, struct gtel_device **ret)
{
    if (key.n == 0 || key.n >= GTEL_KEY_MAX)
        return -EINVAL;
    struct gtel_device *device = gtel_registry_find(registry, key);
    if (!device) {
        int r = grow(registry, &device);
        if (r < 0)
            return r;
        (void)gtel_str_copy(device->key, sizeof(device->key), key);
    }
    if (!device->is_present) {
        device->is_present = true;
        device->arrivals++;
        registry->generation++;
    }
    *ret = device;
    return 0;
}

size_t gtel_registry_gpus(const struct gtel_registry *registry, bool with_gone)
{
    size_t n = 0;
    for (size_t i = 0; i < registry->n; i++) {
        const struct gtel_device *device = registry->device[i];
        n += !gtel_device_is_part(device) && (with_gone || device->is_present);
    }
    return n;
}

void gtel_registry_lost(struct gtel_registry *registry, struct gtel_device *device)
{
    if (!device->is_present)
        return;
    device->is_present = false;
    device->is_asleep = false;
    registry->generation++;
}

void gtel_device_relabel(struct gtel_registry *registry, struct gtel_device *device,
                         enum gtel_label label, struct gtel_str value)
{
    char clean[GTEL_LABEL_MAX] = {0};
    value = gtel_str_trim(value);
    (void)gtel_str_copy(clean, sizeof(clean), value);
    for (char *p = clean; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    if (clean[0] == '\0' || strcmp(clean, device->label[label]) == 0)
        return;
    memcpy(device->label[label], clean, sizeof(clean));
    registry->generation++;
}

void gtel_device_label(struct gtel_registry *registry, struct gtel_device *device,
                       enum gtel_label label, struct gtel_str value)
{
    if (device->label[label][0] == '\0')
        gtel_device_relabel(registry, device, label, value);
}

bool gtel_device_label_id(struct gtel_registry *registry, struct gtel_device *device,
                          struct gtel_str value)
{
    struct gtel_str before = gtel_str_of(device->label[GTEL_LABEL_PCI_ID]);
    bool is_other = value.n > 0 && before.n > 0 && !gtel_str_eq(value, before);
    for (size_t l = GTEL_LABEL_MODEL; is_other && l < GTEL_LABEL_COUNT; l++)
        if (l != GTEL_LABEL_INSTANCE) /* that of a virtual function goes with the address */
            device->label[l][0] = '\0';
    gtel_device_label(registry, device, GTEL_LABEL_PCI_ID, value);
    return is_other;
}

void gtel_device_label_part(struct gtel_registry *registry, struct gtel_device *part,
                            const struct gtel_device *whole)
{
    static const enum gtel_label same[] = {GTEL_LABEL_GPU, GTEL_LABEL_VENDOR, GTEL_LABEL_DRIVER,
                                           GTEL_LABEL_MODEL, GTEL_LABEL_PCI_ID};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(same); i++)
        gtel_device_label(registry, part, same[i], gtel_str_of(whole->label[same[i]]));
}
