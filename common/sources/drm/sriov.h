/* SPDX-License-Identifier: MIT */
/*
 * Virtual functions of PCI devices (SR-IOV), as far as this machine has the physical one too: in a
 * virtual machine, a function looks like a device of its own.
 *
 * Only links are read; they come from the kernel's memory (kernel: drivers/pci/iov.c).
 */
#ifndef GTEL_SOURCES_DRM_SRIOV_H
#define GTEL_SOURCES_DRM_SRIOV_H

#include "host/fs.h"
#include "parse/pci.h"

enum { GTEL_SRIOV_MAX = 256 }; /* functions of one device that are checked */

/*
 * Whether the device in that directory, with that PCI address, is a virtual function. pf gets the
 * address of the physical one (GTEL_PCI_TEXT_MAX bytes), *ret_number the function's number as xe
 * counts them, from 1 (virtfn0 is 1). 0, -ENOENT for any other device, or the error of the check.
 */
int gtel_sriov_look(const struct gtel_env *env, const char *device_path, struct gtel_str key,
                    char *pf, uint32_t *ret_number);

#endif
