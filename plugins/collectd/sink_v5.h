/* SPDX-License-Identifier: MIT */
/*
 * Readings to the value lists of collectd 5.
 *
 * What a value is called, its type and its scale are columns of the catalogue; this file only joins
 * them. A value list has five strings and nothing else: plugin is the plugin's name,
 * plugin_instance the GPU, type one of the daemon's types, type_instance the part of the GPU and
 * the aspect. Text metrics and gpu_info have no collectd type and are skipped.
 */
#ifndef GTEL_COLLECTD_SINK_V5_H
#define GTEL_COLLECTD_SINK_V5_H

#include "module.h"

struct gtel_sink_v5 {
    const char *plugin;
    struct gtel_log log;
    cdtime_t interval;
    cdtime_t time; /* of the values that follow */
    struct {
        int8_t ds_type;  /* DS_TYPE_..., or -1: not sent */
        bool is_percent; /* kept within 0 to 100 */
    } metric[GTEL_M_COUNT];
    uint64_t dropped; /* values that the daemon's type cannot hold */
};

/*
 * Looks all types up in the daemon's types.db; call it after the configuration was read. Each type
 * that the daemon lacks, or knows in a form that we cannot fill, is logged once, and its metrics
 * are off. plugin and log.arg outlive the sink.
 */
void gtel_sink_v5_init(struct gtel_sink_v5 *sink, const char *plugin, const struct gtel_log *log,
                       cdtime_t interval);
/* The sink to give to a context; arg is sink. */
struct gtel_sink gtel_sink_v5_sink(struct gtel_sink_v5 *sink);

/*
 * The names of one reading, each of DATA_MAX_NAME_LEN bytes. Bytes that the daemon or its text form
 * cannot carry (control characters, slashes) become underscores, and what is longer than the daemon
 * can hold is cut. A name that was changed so ends in "~" and eight hexadecimal digits of a hash of
 * the whole, so that different parts keep different names. Returns 0, or -ENOENT for a metric
 * without a collectd type.
 */
int gtel_sink_v5_name(const struct gtel_reading *reading, char *plugin_instance,
                      char *type_instance);

#endif
