/* SPDX-License-Identifier: MIT */
/*
 * Lists what a card has to read, without reading it, and opens the list: paths become attributes
 * (attr.h).
 *
 * A list lives for one discovery of one card, which is awake. Making it opens nothing but names and
 * labels. It replaces the attributes in use when it differs from them; what an attribute remembers
 * stays.
 */
#ifndef GTEL_SOURCES_DRM_ATTR_LIST_H
#define GTEL_SOURCES_DRM_ATTR_LIST_H

#include "pipeline/finding.h"
#include "sources/drm/attr.h"

enum { GTEL_ATTRS_MAX = 512 };

struct gtel_attr_list {
    const struct gtel_card *card;
    struct gtel_arena *arena; /* for the time of the list; reset by init */
    void *own; /* what the source keeps for the card; NULL: the list is for a diagnosis alone */
    const struct gtel_env *env;
    char card_path[64];     /* sys/class/drm/card0; that of the device is card->path */
    struct gtel_attr *attr; /* GTEL_ATTRS_MAX of them */
    const char **path;      /* one per attribute */
    size_t n;
    size_t dropped;
    uint8_t origin; /* of what is added; GTEL_ATTR_SYSFS at first */
    uint64_t hash;  /* over paths and dimensions, in order */
    int error;      /* -ENOMEM: the list is of no use */
    int failure;    /* of the machine: parts may be missing or without their label */
};

/* A file, and what it means. */
struct gtel_attr_file {
    const char *name;
    struct gtel_attr_kind kind;
};

/* card and arena are set. 0 or -ENOMEM. */
int gtel_attr_list_init(struct gtel_attr_list *list);

/* One copy of a text for the life of the lane; empty when there are too many or memory is out. */
struct gtel_str gtel_attr_text(struct gtel_attr_list *list, struct gtel_str text);
struct gtel_str gtel_attr_number_text(struct gtel_attr_list *list, uint64_t number);

/*
 * Adds the file dir/name with up to three dimensions (texts of gtel_attr_text or constants; NULL:
 * none). Whether it exists shows when it is opened.
 */
void gtel_attr_add(struct gtel_attr_list *list, const struct gtel_attr_kind *kind,
                   const struct gtel_str *dims, const char *dir, struct gtel_str name);
void gtel_attr_add_files(struct gtel_attr_list *list, const struct gtel_str *dims, const char *dir,
                         const struct gtel_attr_file *files, size_t n);

/* Records a result: absence is an answer, anything else that is negative a failure. */
void gtel_attr_list_check(struct gtel_attr_list *list, int r);
/*
 * Numbers of the entries "<prefix><number>" of a directory, ascending, at most max. Returns how
 * many (0 when the directory is not there).
 */
size_t gtel_attr_numbers(struct gtel_attr_list *list, const char *dir, struct gtel_str prefix,
                         uint64_t *ret, size_t max);

/*
 * Opens the list where it differs from the attributes in use; a list with failures replaces no
 * whole one. Files that cannot be opened are logged once and skipped, and attrs->hash is 0 then.
 * 0 or -ENOMEM.
 */
int gtel_attrs_update(struct gtel_attrs *attrs, const struct gtel_attr_list *list);
/* What of an open list cannot be read, and what of a new one cannot be opened (NULL: do not check).
 */
void gtel_attrs_diagnose(const struct gtel_env *env, const struct gtel_attrs *attrs,
                         const struct gtel_attr_list *list, struct gtel_findings *findings);

#endif
