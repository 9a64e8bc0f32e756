/* SPDX-License-Identifier: MIT */
/*
 * What the clients of a GPU have made its engines do, from files that i915 of
 * intel-gpu-i915-backports has for each of them:
 *
 *     cardN/clients/<id>/busy/<class>     nanoseconds; classes are numbered as in i915_drm.h
 *
 * Everyone may read them. A client takes its time with it when it goes, so the time of a class is
 * the sum of what clients have added since the first sample, and what one did between the last
 * sample and its end is not in it. Nor is what the kernel does for itself.
 */
#ifndef GTEL_SOURCES_DRM_BUSY_CLIENTS_H
#define GTEL_SOURCES_DRM_BUSY_CLIENTS_H

#include "host/drm.h"
#include "parse/engine_name.h"

enum { GTEL_BUSY_CLIENTS_MAX = 512 };

struct gtel_busy_client {
    uint64_t id;
    uint64_t ns[GTEL_ENGINE_CLASSES];
};

/* Zeroed: nothing is known. */
struct gtel_busy_clients {
    struct gtel_busy_client
        *client; /* two lists of GTEL_BUSY_CLIENTS_MAX: the last sample, the next */
    size_t n;
    bool has_looked;
    uint64_t sum_ns[GTEL_ENGINE_CLASSES]; /* since the first sample */
    size_t engines[GTEL_ENGINE_CLASSES];
};

/*
 * Looks whether a card has such files, and counts its engines. 0, -ENOENT without them or without
 * engines, or another negative errno. The arena is for the time of the call.
 */
int gtel_busy_clients_open(const struct gtel_env *env, struct gtel_arena *arena,
                           const struct gtel_drm_card *card, struct gtel_busy_clients *clients);
/*
 * Adds what clients have done since the last sample. 0; -E2BIG for too many clients; another
 * negative errno, after which the next sample has the time of both.
 */
int gtel_busy_clients_read(const struct gtel_env *env, struct gtel_arena *arena,
                           const struct gtel_drm_card *card, struct gtel_busy_clients *clients);
void gtel_busy_clients_close(struct gtel_busy_clients *clients);

#endif
