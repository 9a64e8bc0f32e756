/* SPDX-License-Identifier: MIT */
/*
 * The properties of a node of KFD's topology and of its memory, as "name value" lines (kernel:
 * amdkfd/kfd_topology.c, node_show, mem_show). Pure: no allocation, no input or output.
 */
#ifndef GTEL_PARSE_KFD_NODE_H
#define GTEL_PARSE_KFD_NODE_H

#include "parse/pci.h"

/*
 * Which PCI device the GPU of a node is. Partitions of a GPU are several nodes at its place; Linux
 * 6.5 to 6.8 count them in the function. 0; -ENODATA without a place, as for a processor (its
 * place is 0); -EINVAL or -ERANGE for a place that is none. *ret is written on success only.
 */
int gtel_kfd_node_pci(struct gtel_str text, struct gtel_pci *ret);
/* The number of its render node: 128 is renderD128. 0, -ENODATA without one, -EINVAL or -ERANGE. */
int gtel_kfd_node_render(struct gtel_str text, uint32_t *ret);
/*
 * The size of a bank of memory that is a GPU's own. 0; -ENODATA where it is not, or has no size;
 * -EINVAL or -ERANGE.
 */
int gtel_kfd_bank_bytes(struct gtel_str text, uint64_t *ret);

#endif
