/* SPDX-License-Identifier: MIT */
/*
 * Attributes: kept files of a device that become readings.
 *
 * Drivers differ in where files lie and what they are called, which is settled when the files are
 * listed (attr_list.h). From then on a file is an attribute: a prepared reading and the form of its
 * text. Reading a GPU is one read per attribute.
 *
 * Whatever the text is, a value is right or absent: values that no hardware can have, counters that
 * turn, begin again or move impossibly are handled here, for all drivers.
 */
#ifndef GTEL_SOURCES_DRM_ATTR_H
#define GTEL_SOURCES_DRM_ATTR_H

#include "base/counter.h"
#include "pipeline/reading.h"
#include "sources/drm/cards.h"

enum { GTEL_ATTR_DIMS = 3 }; /* at most */

enum gtel_attr_form {
    GTEL_ATTR_INTEGER, /* value × scale as integer */
    GTEL_ATTR_RARE,    /* the same, read once a minute and repeated: asking takes long, or wakes */
    GTEL_ATTR_BYTES,   /* the same of memory: any number */
    GTEL_ATTR_CLOCK,   /* the same of a clock: 0 and what no GPU reaches are no reading */
    GTEL_ATTR_FLAG,    /* 0 or 1 */
    GTEL_ATTR_MASK,    /* hexadecimal flags: whether the lowest is set */
    GTEL_ATTR_IDLE,    /* "gt-c0", "gt-c6"; anything else is no reading */
    GTEL_ATTR_PROFILE, /* "base [power_saving]": whether that stands in brackets */
    /*
     * Sensors, up to FAN: value × scale. Negative values but of temperatures are a driver's errno:
     * absent.
     */
    GTEL_ATTR_TEMPERATURE,
    GTEL_ATTR_VOLTAGE,
    GTEL_ATTR_POWER,
    GTEL_ATTR_SHARE,      /* 0 to 1 */
    GTEL_ATTR_LIMIT,      /* 0 means "off": no reading */
    GTEL_ATTR_FAN,        /* revolutions per minute; keeps its value while the driver says EAGAIN */
    GTEL_ATTR_COUNTER,    /* value × scale */
    GTEL_ATTR_COUNTER32,  /* the same from 32 bits that wrap: extended */
    GTEL_ATTR_ENERGY,     /* microjoule behind plausibility gates */
    GTEL_ATTR_TOTAL,      /* the sum of PCIe errors (parse/pcie.h); 0 is no reading */
    GTEL_ATTR_LINK_SPEED, /* "16.0 GT/s PCIe" */
    GTEL_ATTR_LINK_WIDTH
};

/* Positions in the list of origins of each source that has attributes. */
enum { GTEL_ATTR_SYSFS, GTEL_ATTR_HWMON };

/* What an attribute is, without its file. */
struct gtel_attr_kind {
    enum gtel_metric metric;
    enum gtel_attr_form form;
    double scale; /* base units = number in the file × scale */
};

/* What an attribute remembers of earlier reads. */
struct gtel_attr_state {
    struct gtel_counter counter; /* of a fan, or RARE: when it was read last */
    int error;                   /* of the last read */
    uint64_t reported_plus_1;    /* ENERGY, FAN: number in the file at the last sample; 0: none */
                                 /* RARE: the value */
    uint64_t suspect_until_ns;   /* ENERGY: no reading until then */
    uint64_t suspended_ns;       /* ENERGY, FAN: how long the card had slept at the last read */
};

struct gtel_attr {
    struct gtel_fs_file file;
    struct gtel_attr_kind kind;
    uint8_t origin;
    struct gtel_str name; /* of the file */
    const struct gtel_device *device;
    struct gtel_str dim[GTEL_ATTR_DIMS];
    struct gtel_attr_state state;
};

/* The attributes of one card. Zeroed: none. */
struct gtel_attrs {
    struct gtel_attr *attr;
    size_t n;
    uint64_t hash;          /* of their paths; 0: to be listed again */
    double limit_w;         /* the largest power limit seen, or 0 */
    uint64_t keep_ns;       /* the longest time between two reads; 0: any */
    bool is_drop_logged;    /* more files than a list can have were logged */
    bool is_suspect_logged; /* impossible energy has been logged */
};

/* One sample over the attributes of a card. */
struct gtel_attr_sample {
    const struct gtel_card *card;
    struct gtel_attrs *attrs;
    struct gtel_batch *batch;
    uint32_t read;   /* attributes that gave a value or were quietly absent */
    int error;       /* of the first one that failed */
    bool is_between; /* gathers: the readings are discarded */
};

/* Whether the kernel extends the counter in the file at each read, so that it must not wait. */
bool gtel_attr_is_kept(const struct gtel_attr *attr);
/* The longest time between two reads of these attributes in which no counter turns; 0: any. */
uint64_t gtel_attr_keep(const struct gtel_attr *attr, size_t n);
/*
 * Reads one attribute into the batch; logs when it begins to fail and when it works again. Returns
 * 0, also when it has no value now; -ENODEV when the device is removed; else the errno.
 */
int gtel_attr_read(struct gtel_attr_sample *sample, struct gtel_attr *attr);
/* Reads all of them. -ENODEV, the first error when nothing at all could be read, or 0. */
int gtel_attrs_read(struct gtel_attr_sample *sample);
void gtel_attrs_close(const struct gtel_env *env, struct gtel_attrs *attrs);

#endif
