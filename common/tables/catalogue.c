/* SPDX-License-Identifier: MIT */
/* The metric table. */
#include "tables/catalogue.h"

static const struct gtel_metric_row metric_rows[] = {
#define GTEL_METRIC(id_, measurement_, field_, kind_, type_, unit_, scale_, rate_, ctype_, cinst_, \
                    cscale_, text_)                                                                \
    [GTEL_M_##id_] = {.measurement = GTEL_MEASUREMENT_##measurement_,                              \
                      .field = GTEL_STR_INIT(field_),                                              \
                      .kind = GTEL_KIND_##kind_,                                                   \
                      .type = GTEL_TYPE_##type_,                                                   \
                      .unit = unit_,                                                               \
                      .scale = scale_,                                                             \
                      .rate = GTEL_M_##rate_,                                                      \
                      .collectd_type = ctype_,                                                     \
                      .collectd_instance = cinst_,                                                 \
                      .collectd_scale = cscale_,                                                   \
                      .text = text_},
#include "tables/catalogue.def"
#undef GTEL_METRIC
};

static const struct gtel_measurement_row measurement_rows[] = {
#define GTEL_MEASUREMENT(id_, name_, text_, ...)                                                   \
    [GTEL_MEASUREMENT_##id_] = {.name = GTEL_STR_INIT(name_), .text = text_, .dims = {__VA_ARGS__}},
#include "tables/catalogue.def"
#undef GTEL_MEASUREMENT
};

const struct gtel_metric_row *gtel_metric_row(enum gtel_metric id)
{
    return &metric_rows[id];
}

const struct gtel_measurement_row *gtel_measurement_row(enum gtel_measurement id)
{
    return &measurement_rows[id];
}

static void write_row(struct gtel_buf *buf, const struct gtel_metric_row *row)
{
    static const char *const kinds[] = {"gauge", "state", "counter", "ratio", "text"};
    static const char *const types[] = {"float", "integer", "string"};
    gtel_buf_printf(buf, "| `%.*s` | %s, %s | ", GTEL_STR_ARG(row->field), kinds[row->kind],
                    types[row->type]);
    if (row->collectd_type)
        gtel_buf_printf(buf, "`%s-%s`", row->collectd_type, row->collectd_instance);
    gtel_buf_printf(buf, " | %s |\n", row->text);
}

void gtel_catalogue_write(struct gtel_buf *buf)
{
    for (size_t m = 0; m < GTEL_MEASUREMENT_COUNT; m++) {
        const struct gtel_measurement_row *measurement = &measurement_rows[m];
        gtel_buf_printf(buf, "%s### `%.*s`\n\n%s", m > 0 ? "\n" : "",
                        GTEL_STR_ARG(measurement->name), measurement->text);
        for (size_t d = 0; d < GTEL_DIMS_MAX && measurement->dims[d]; d++)
            gtel_buf_printf(buf, "%s`%s`", d == 0 ? " Tags: " : ", ", measurement->dims[d]);
        gtel_buf_printf(buf,
                        "%s\n\n| field | kind, type | collectd | meaning |\n|---|---|---|---|\n",
                        measurement->dims[0] ? "." : "");
        for (size_t i = 0; i < GTEL_M_COUNT; i++)
            if (metric_rows[i].measurement == m && metric_rows[i].field.n > 0)
                write_row(buf, &metric_rows[i]);
    }
}
