/* SPDX-License-Identifier: MIT */
/*
 * A source that reads its cards by attributes alone (attr.h): only while a card is awake, and
 * opened when it is first seen awake. The parts of struct gtel_card_work (card_source.h).
 */
#ifndef GTEL_SOURCES_DRM_ATTR_SOURCE_H
#define GTEL_SOURCES_DRM_ATTR_SOURCE_H

#include "base/backoff.h"
#include "sources/drm/attr_list.h"
#include "sources/drm/card_source.h"

/* In the order of GTEL_ATTR_SYSFS … */
extern const char *const gtel_attr_origins[];

struct gtel_attr_card {
    struct gtel_card *card; /* first: see sources/drm/cards.h */
    struct gtel_attrs attrs;
    struct gtel_backoff retry; /* while its list cannot be opened */
};

/* Sets what is not given of the work of a source that has `add`. */
void gtel_attr_source_complete(struct gtel_card_work *work);
/*
 * Lists what a card that is awake has, and opens it where that differs from what is open. 0 or
 * -ENOMEM; attrs.hash is 0 where not all could be opened.
 */
int gtel_attr_source_update(struct gtel_card_source *source, struct gtel_attr_card *own);
/*
 * Before a card that is awake is read: lists and opens what it has where that was not done, or not
 * whole. 0 or -ENOMEM.
 */
int gtel_attr_source_open(struct gtel_card_source *source, struct gtel_attr_card *own,
                          uint64_t now_ns);
int gtel_attr_source_discover(void *state, void *own);
void gtel_attr_source_diagnose(const void *state, const void *own, struct gtel_findings *findings);
void gtel_attr_source_close_card(const struct gtel_env *env, void *own);

#endif
