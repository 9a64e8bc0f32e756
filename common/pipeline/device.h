/* SPDX-License-Identifier: MIT */
/*
 * The registry of devices: identity and labels of everything a user would call a GPU.
 *
 * A device's key is its PCI address in the full form 0000:03:00.0, or <vendor>:<uuid> without PCI;
 * a part with an identity of its own (a MIG instance) is a device with a parent. Sources that see
 * the same key share the device; the first to know a label fills it. A device keeps its address and
 * index while the registry lives, also when the hardware is gone (is_present false).
 */
#ifndef GTEL_PIPELINE_DEVICE_H
#define GTEL_PIPELINE_DEVICE_H

#include "base/str.h"

enum gtel_label {
    GTEL_LABEL_GPU,                /* tag gpu: the PCI address (the parent's, for an instance) */
    GTEL_LABEL_VENDOR,             /* tag: intel amd nvidia apple */
    GTEL_LABEL_DRIVER,             /* tag: i915 xe amdgpu nvidia */
    GTEL_LABEL_MODEL,              /* tag: market name, or "Intel 8086:e20b" */
    GTEL_LABEL_INSTANCE,           /* tag: MIG instance, VF; empty for a whole GPU */
    GTEL_LABEL_UUID,               /* info */
    GTEL_LABEL_TILE_UUIDS,         /* info: 0=… 1=…, of each tile */
    GTEL_LABEL_PCI_ID,             /* info: 8086:e20b */
    GTEL_LABEL_CARD,               /* info: card0, nvidia0 */
    GTEL_LABEL_DRIVER_VERSION,     /* info */
    GTEL_LABEL_FIRMWARE,           /* info */
    GTEL_LABEL_ARCHITECTURE,       /* info: Hopper */
    GTEL_LABEL_COMPUTE_CAPABILITY, /* info: 9.0 */
    GTEL_LABEL_CUDA_VERSION,       /* info: 13.0 */
    GTEL_LABEL_GSP_FIRMWARE,       /* info */
    GTEL_LABEL_MODES,              /* info: mig=off compute=default … */
    GTEL_LABEL_MEMORY_VENDOR,      /* info: samsung */
    GTEL_LABEL_PROFILE,            /* info: 1g.10gb, of a MIG instance */
    GTEL_LABEL_COUNT
};

enum {
    GTEL_LABEL_MAX = 160, /* bytes of a label with its NUL; longer text is cut */
    GTEL_KEY_MAX = 96,
    GTEL_DEVICES_MAX = 512 /* more are dropped and counted */
};

struct gtel_device {
    char key[GTEL_KEY_MAX];
    char label[GTEL_LABEL_COUNT][GTEL_LABEL_MAX];
    uint32_t index;     /* position in the registry */
    uint32_t arrivals;  /* how often it has come: its counters restart each time */
    uint32_t sleeps;    /* how often it was seen to have fallen asleep; the context's own count */
    uint32_t suspends;  /* how often it has slept since a check, seen or not; the context's own */
    double suspended_s; /* for how long until the last check, where that is known; the same */
    uint64_t luid;      /* how Windows calls it until it restarts; 0: not known */
    bool is_present;    /* answered the last discovery */
    bool is_asleep;     /* runtime suspended at the last check */
    bool is_left_alone; /* asleep, or allowed to fall asleep: the sources of its lane that come
                           after its driver's do nothing that would wake it */
    /* Whose readings of its processes were taken last, and in which gather that counts no more; the
       context's own. */
    uint32_t processes_rank;
    uint64_t processes_until;
};

struct gtel_cards;

/* Whether the lane begins again in a new process. */
enum gtel_renewal {
    GTEL_RENEWAL_NEVER,    /* it does not run in a helper process */
    GTEL_RENEWAL_POSSIBLE, /* it does, and that can be restarted */
    GTEL_RENEWAL_DUE       /* a source's library can do no more in this process */
};

struct gtel_registry {
    struct gtel_device **device; /* each allocated by itself */
    size_t n;
    uint64_t generation;      /* grows when a device, a label or is_present changes */
    uint64_t dropped;         /* devices beyond GTEL_DEVICES_MAX */
    struct gtel_cards *cards; /* of the lane: sources/drm/cards.h */
    enum gtel_renewal renewal;
};

/* A zeroed struct is an empty registry. */
void gtel_registry_done(struct gtel_registry *registry);

/*
 * Finds the device of that key, or adds it, and marks it present. 0, -EINVAL for an empty or too
 * long key, -ENOSPC beyond the limit, -ENOMEM. *ret lives as long as the registry.
 */
int gtel_registry_add(struct gtel_registry *registry, struct gtel_str key,
                      struct gtel_device **ret);
/* The device of that key, or NULL. */
struct gtel_device *gtel_registry_find(const struct gtel_registry *registry, struct gtel_str key);
/* A part of a GPU with an identity of its own: a MIG instance, a partition. */
static inline bool gtel_device_is_part(const struct gtel_device *device)
{
    return device->label[GTEL_LABEL_INSTANCE][0] != '\0';
}
/* How many GPUs there are, parts of one not counted; with those that are gone or without. */
size_t gtel_registry_gpus(const struct gtel_registry *registry, bool with_gone);
/* Marks a device as gone; it stays registered, and its `up` becomes 0. */
void gtel_registry_lost(struct gtel_registry *registry, struct gtel_device *device);

/*
 * Sets a label where it is empty or, with gtel_device_relabel, in any case. Control characters are
 * replaced by blanks, the text is cut to GTEL_LABEL_MAX - 1 bytes, an empty value changes nothing.
 */
void gtel_device_label(struct gtel_registry *registry, struct gtel_device *device,
                       enum gtel_label label, struct gtel_str value);
void gtel_device_relabel(struct gtel_registry *registry, struct gtel_device *device,
                         enum gtel_label label, struct gtel_str value);
/*
 * Sets the label pci_id. True: it was another one, so another GPU has the address now; the labels
 * from the model on, which are those of the GPU before, are emptied.
 */
bool gtel_device_label_id(struct gtel_registry *registry, struct gtel_device *device,
                          struct gtel_str value);
/* Sets those labels of a part of a GPU, where they are empty, that say which GPU it is. */
void gtel_device_label_part(struct gtel_registry *registry, struct gtel_device *part,
                            const struct gtel_device *whole);

#endif
