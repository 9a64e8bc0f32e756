/* SPDX-License-Identifier: MIT */
/*
 * What a client uses of memory, from the regions of its text. Pure.
 *
 * A client's memory is what it has of the GPU's own; where the GPU has none, or a piece of the
 * host's (an APU), what it has of the host's for its buffers, too. The other kinds but those of one
 * place count in the same regions. Each kind is known when all of these regions report it, and is
 * not known otherwise: a part would pass as the whole.
 *
 * A region of a name that is not known here may be the GPU's own memory or the host's. What has
 * nothing in it changes nothing. If there is no other one, its amounts are the client's, wherever
 * that memory is, and nothing is known by place; among others, nothing is known at all.
 */
#ifndef GTEL_SOURCES_CLIENTS_MEMORY_H
#define GTEL_SOURCES_CLIENTS_MEMORY_H

#include "pipeline/use.h"
#include "parse/fdinfo.h"

/* What is known beyond the text. */
struct gtel_client_memory_rules {
    bool is_place_known; /* of is_integrated */
    bool is_integrated;  /* the GPU's own memory is a piece of the host's */
    uint32_t omitted;    /* a bit per kind of parse/fdinfo.h that is omitted when it is 0 */
};

void gtel_client_memory(const struct gtel_fdinfo *fdinfo,
                        const struct gtel_client_memory_rules *rules, struct gtel_use_memory *ret);

#endif
