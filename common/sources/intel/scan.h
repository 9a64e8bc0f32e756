/* SPDX-License-Identifier: MIT */
/*
 * Lists what an Intel GPU has to read, without reading it: paths become attributes (attr.h).
 *
 * A scan lives for one discovery of one GPU, which is awake. It opens nothing but names and labels;
 * gpu.h opens the files of the list when it differs from the one in use.
 */
#ifndef GTEL_SOURCES_INTEL_SCAN_H
#define GTEL_SOURCES_INTEL_SCAN_H

#include "host/drm.h"
#include "sources/intel/attr.h"

enum { GTEL_INTEL_ATTRS_MAX = 512 };

/* Texts that live as long as a source: sensors, domains, reasons, GT numbers. Zeroed: empty. */
struct gtel_intel_texts {
    struct gtel_arena arena;
    struct gtel_str text[1024];
    size_t n;
};

struct gtel_intel_scan {
    const struct gtel_env *env;
    const struct gtel_drm_card *card;
    const struct gtel_device *device;
    struct gtel_intel_texts *texts;
    struct gtel_arena *arena;               /* for the time of the scan */
    char card_path[GTEL_FS_PATH_MAX / 2];   /* sys/class/drm/card0 */
    char device_path[GTEL_FS_PATH_MAX / 2]; /* sys/class/drm/card0/device */
    struct gtel_intel_attr *attr;           /* GTEL_INTEL_ATTRS_MAX of them */
    const char **path;                      /* one per attribute */
    size_t n;
    size_t dropped;
    uint64_t hash; /* over paths and dimensions, in order */
    int error;     /* -ENOMEM: the list is of no use */
    int doubt;     /* a look failed: parts may be missing or without their label */
};

/* Takes the arrays from the arena. 0 or -ENOMEM. */
int gtel_intel_scan_init(struct gtel_intel_scan *scan);

/* One copy of a text for the life of the source; empty when there are too many or memory is out. */
struct gtel_str gtel_intel_text(struct gtel_intel_scan *scan, struct gtel_str text);
struct gtel_str gtel_intel_number_text(struct gtel_intel_scan *scan, uint64_t number);

/* What an attribute is, without its file. */
struct gtel_intel_kind {
    enum gtel_metric metric;
    enum gtel_intel_form form;
    double scale;
    enum gtel_intel_headline headline;
    uint8_t origin;
    bool is_idle_time;
};

/*
 * Adds the file dir/name with up to three dimensions (texts of gtel_intel_text or constants; NULL:
 * none). Whether it exists shows when it is opened.
 */
void gtel_intel_add(struct gtel_intel_scan *scan, const struct gtel_intel_kind *kind,
                    const struct gtel_str *dims, const char *dir, struct gtel_str name);

/* Where the frequency files of a GT lie and which GT it is. */
struct gtel_intel_gt {
    struct gtel_str domain; /* "graphics", "media" */
    struct gtel_str gt;
    struct gtel_str tile; /* empty on a GPU of one tile */
    bool is_main;         /* its clock is that of the GPU */
};

/* Adds actual, requested, min, max (names in that order) of a GT. */
void gtel_intel_add_clocks(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                           const char *dir, const char *const names[4]);
/* A file of a GT that is a figure of its clock domain. */
struct gtel_intel_figure {
    const char *name;
    enum gtel_metric metric;
    enum gtel_intel_form form;
    double scale;
};

/* Adds n files below dir. */
void gtel_intel_add_figures(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                            const char *dir, const struct gtel_intel_figure *figures, size_t n);
/* Adds every file of dir that begins with prefix as a reason, and the status file. */
void gtel_intel_add_throttle(struct gtel_intel_scan *scan, const struct gtel_intel_gt *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status);
/* Adds the sensors of the hwmon directory of that name. */
void gtel_intel_add_hwmon(struct gtel_intel_scan *scan, struct gtel_str name);
/* Adds speed and width of the PCIe link that the card is plugged in with. */
void gtel_intel_add_link(struct gtel_intel_scan *scan);

/* Notes the result of a look: absence is an answer, anything else that is negative is a doubt. */
void gtel_intel_doubt(struct gtel_intel_scan *scan, int r);

/*
 * Numbers of the entries "<prefix><number>" of a directory, ascending, at most max. Returns how
 * many (0 when the directory is not there).
 */
size_t gtel_intel_numbers(struct gtel_intel_scan *scan, const char *dir, struct gtel_str prefix,
                          uint64_t *ret, size_t max);

#endif
