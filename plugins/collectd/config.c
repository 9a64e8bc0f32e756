/* SPDX-License-Identifier: MIT */
/* A <Plugin> block to options. */
#include "module.h"

#include <math.h>

/*
 * Appends one value as the text that a user would write. The daemon has already read numbers as
 * doubles (15 digits give back what was written), and on, yes, true, off, no and false without
 * quotes as booleans (collectd: src/liboconfig/scanner.l).
 */
static void write_value(struct gtel_buf *buf, const oconfig_value_t *value)
{
    if (value->type == OCONFIG_TYPE_STRING)
        gtel_buf_str(buf, gtel_str_of(value->value.string));
    else if (value->type == OCONFIG_TYPE_BOOLEAN)
        gtel_buf_str(buf, value->value.boolean ? GTEL_STR("on") : GTEL_STR("off"));
    else if (isfinite(value->value.number))
        gtel_buf_f64(buf, value->value.number, 15);
    else
        gtel_buf_str(buf, GTEL_STR("nan"));
}

/* Several values of one line become a list with commas; what is no list then refuses it. */
static void write_values(struct gtel_buf *buf, const oconfig_item_t *item)
{
    for (int i = 0; i < item->values_num; i++) {
        if (i > 0)
            gtel_buf_char(buf, ',');
        write_value(buf, &item->values[i]);
    }
}

static bool is_list(enum gtel_option id)
{
    return id == GTEL_O_SOURCES || gtel_option_row(id)->type == GTEL_OPTION_WORDS;
}

/* A list may stand on several lines, as the lists of other plugins do. */
static void set_option(const oconfig_item_t *item, enum gtel_option id,
                       struct gtel_options *options, const struct gtel_log *log)
{
    char error[256] = "";
    struct gtel_buf buf;
    gtel_buf_init(&buf, 4096);
    bool is_again = options->value[id].is_given;
    if (is_again && is_list(id) && gtel_option_text(options, id).n > 0) {
        gtel_buf_str(&buf, gtel_option_text(options, id));
        gtel_buf_char(&buf, ',');
    }
    write_values(&buf, item);
    int r = buf.has_failed ? -ERANGE : 0;
    if (r < 0 || item->values_num < 1) {
        gtel_log(log, GTEL_LOG_WARNING, "option %s: needs one value; its default stays",
                 gtel_option_row(id)->name);
    } else {
        r = gtel_option_set(options, id, gtel_buf_text(&buf), error, sizeof(error));
        if (r < 0)
            gtel_log(log, GTEL_LOG_WARNING, "option %s; it is ignored", error);
        else if (is_again && !is_list(id))
            gtel_log(log, GTEL_LOG_WARNING, "option %s is set twice; the last line counts",
                     gtel_option_row(id)->name);
    }
    gtel_buf_done(&buf);
}

void gtel_collectd_configure(const oconfig_item_t *block, struct gtel_options *options,
                             const struct gtel_log *log)
{
    for (int i = 0; i < block->children_num; i++) {
        const oconfig_item_t *item = &block->children[i];
        enum gtel_option id = gtel_option_find(gtel_str_of(item->key), GTEL_OPTION_COLLECTD);
        if (id == GTEL_O_COUNT || item->children_num > 0)
            gtel_log(log, GTEL_LOG_WARNING,
                     "unknown option '%.80s' is ignored; collectd-gtel(5) lists the plugin's",
                     item->key ? item->key : "");
        else
            set_option(item, id, options, log);
    }
}
