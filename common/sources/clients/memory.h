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

/* Where the GPU's own memory is: its own, or a piece of the host's. */
enum gtel_client_place { GTEL_PLACE_UNKNOWN, GTEL_PLACE_OWN, GTEL_PLACE_HOST };

/* omitted: a bit per kind of parse/fdinfo.h that the driver omits when it is 0. */
void gtel_client_memory(const struct gtel_fdinfo *fdinfo, enum gtel_client_place place_of_own,
                        uint32_t omitted, struct gtel_use_memory *ret);

#endif
