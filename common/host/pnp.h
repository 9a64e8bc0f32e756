/* SPDX-License-Identifier: MIT */
/*
 * The display devices of a Windows host as Plug and Play has them in its books: nothing here
 * reaches a device, so that one that sleeps stays asleep.
 *
 * Power states are those of now; the list is that of the last gtel_pnp_list.
 */
#ifndef GTEL_HOST_PNP_H
#define GTEL_HOST_PNP_H

#include "abi/wddm_abi.h"
#include "host/library.h"
#include "parse/pci.h"

enum {
    GTEL_PNP_ID_MAX = 200, /* units of an instance id with its NUL (cfgmgr32.h) */
    GTEL_PNP_UNITS = 256,  /* of a text with its NUL */
    GTEL_PNP_INTEL = 0x8086
};

struct gtel_pnp_calls {
#define GTEL_PNP_SYM(name, result, params) result(*name) params;
#include "abi/pnp_syms.def"
#undef GTEL_PNP_SYM
};

/* Zeroed: not open. */
struct gtel_pnp {
    struct gtel_dynlib library;
    struct gtel_pnp_calls call;
    struct gtel_dynlib registry;
    int32_t (*get_value)(void *key, const uint16_t *path, const uint16_t *name, uint32_t flags,
                         uint32_t *ret_type, void *ret, uint32_t *size); /* RegGetValueW, or NULL */
    void *set; /* the list of devices; NULL: none */
};

/* A GPU on PCI. */
struct gtel_pnp_gpu {
    uint16_t id[GTEL_PNP_ID_MAX];
    uint16_t pci_id[2]; /* vendor and device */
    struct gtel_pci pci;
    char key[GTEL_PCI_TEXT_MAX]; /* the same in the kernel's form */
    uint32_t problem;            /* the code of the Device Manager; 0: none is known */
    struct gtel_devinfo info;    /* in the list */
};

/* Whether the host is one that has it; loads nothing. */
bool gtel_pnp_is_there(const struct gtel_env *env);
/* What to call something, or to do about it, under Windows and elsewhere. */
static inline const char *gtel_pnp_word(const struct gtel_env *env, const char *windows,
                                        const char *other)
{
    return gtel_pnp_is_there(env) ? windows : other;
}
/* Opens the library, and lists nothing yet. 0, -ENOENT where there is none, or as gtel_dynlib_open.
 */
int gtel_pnp_open(const struct gtel_env *env, struct gtel_pnp *pnp);
void gtel_pnp_close(const struct gtel_env *env, struct gtel_pnp *pnp);
/* Lists the devices again. 0, or -EIO: the list is still the last one. */
int gtel_pnp_list(struct gtel_pnp *pnp);
/*
 * The device at place i of the list. 0; 1: there are no more; -ENOENT for what is none on PCI, or a
 * part of another host's GPU (GPU-P); -ENODEV for one that Windows does not use: it is disabled, or
 * its driver has failed; -EIO when that cannot be known now.
 */
int gtel_pnp_get(const struct gtel_pnp *pnp, uint32_t i, struct gtel_pnp_gpu *ret);
/* 1 is D0 … 4 is D3; 0: the device is no more, is not used, or its state is not known. */
uint32_t gtel_pnp_power(const struct gtel_pnp *pnp, const struct gtel_devinfo *info);
/* The device's version of its driver into ret; false: not known. */
bool gtel_pnp_driver_version(const struct gtel_pnp *pnp, const struct gtel_devinfo *info, char *ret,
                             size_t size);
/* The units of a text of its books (GTEL_SPDRP_…), which end in NUL; false without one. */
bool gtel_pnp_text(const struct gtel_pnp *pnp, const struct gtel_devinfo *info, uint32_t property,
                   uint16_t ret[GTEL_PNP_UNITS]);

/* Bytes of memory, as the driver's setup wrote them into the registry; 0: not known. */
uint64_t gtel_pnp_registry_size(const struct gtel_pnp *pnp, const struct gtel_devinfo *info);
/* The interface that the GPU has as an adapter of the driver model. 0 or -ENOENT. */
int gtel_pnp_interface(const struct gtel_pnp *pnp, const struct gtel_pnp_gpu *gpu,
                       struct gtel_interface_detail *ret);

/*
 * Opens, lists and finds a GPU: by its address ("0000:03:00.0"), or where that is empty the first
 * of that vendor. 0; -ENOENT where there is no such GPU, or no Plug and Play; else as those above.
 * Closed on failure.
 */
int gtel_pnp_find(const struct gtel_env *env, struct gtel_pnp *pnp, struct gtel_str address,
                  uint16_t vendor, struct gtel_pnp_gpu *ret);
/* Whether the host has a GPU of that vendor on PCI. */
bool gtel_pnp_has(const struct gtel_env *env, uint16_t vendor);

#endif
