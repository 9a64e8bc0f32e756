/* SPDX-License-Identifier: MIT */
/* A fake collectd daemon: the plugin_* functions that our plugins call, with memory. */
#include "fakes/collectd_daemon.h"

#include "base/compiler.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct fake_daemon fake_daemon;

/* Facts of collectd 5.12's types.db; unit.collectd_sink compares them where the file is installed.
 */
const struct fake_type fake_types[] = {
    {"bytes", "value", DS_TYPE_GAUGE, 0, NAN},
    {"current", "value", DS_TYPE_GAUGE, NAN, NAN},
    {"duration", "seconds", DS_TYPE_GAUGE, 0, NAN},
    {"energy", "value", DS_TYPE_GAUGE, NAN, NAN},
    {"errors", "value", DS_TYPE_DERIVE, 0, NAN},
    {"fanspeed", "value", DS_TYPE_GAUGE, 0, NAN},
    {"frequency", "value", DS_TYPE_GAUGE, 0, NAN},
    {"gauge", "value", DS_TYPE_GAUGE, NAN, NAN},
    {"irq", "value", DS_TYPE_DERIVE, 0, NAN},
    {"memory", "value", DS_TYPE_GAUGE, 0, 281474976710656},
    {"percent", "value", DS_TYPE_GAUGE, 0, 100.1},
    {"power", "value", DS_TYPE_GAUGE, NAN, NAN},
    {"temperature", "value", DS_TYPE_GAUGE, NAN, NAN},
    {"total_bytes", "value", DS_TYPE_DERIVE, 0, NAN},
    {"total_operations", "value", DS_TYPE_DERIVE, 0, NAN},
    {"total_time_in_ms", "value", DS_TYPE_DERIVE, 0, NAN},
    {"voltage", "value", DS_TYPE_GAUGE, NAN, NAN},
    {NULL, NULL, 0, 0, 0},
};

void fake_daemon_reset(void)
{
    memset(&fake_daemon, 0, sizeof(fake_daemon));
}

void fake_daemon_clear(void)
{
    fake_daemon.n = 0;
    fake_daemon.log_n = 0;
    fake_daemon.log[0] = '\0';
}

const struct fake_value *fake_daemon_find(const char *name)
{
    for (size_t i = 0; i < fake_daemon.n; i++) {
        const value_list_t *vl = &fake_daemon.value[i].list;
        char text[3 * DATA_MAX_NAME_LEN];
        (void)snprintf(text, sizeof(text), "%s/%s-%s", vl->plugin_instance, vl->type,
                       vl->type_instance);
        if (strcmp(text, name) == 0)
            return &fake_daemon.value[i];
    }
    return NULL;
}

int fake_daemon_said(const char *text)
{
    int n = 0;
    for (const char *p = strstr(fake_daemon.log, text); p; p = strstr(p + 1, text))
        n++;
    return n;
}

int fake_daemon_configure(oconfig_item_t *lines, int n)
{
    oconfig_item_t block = {.children = lines, .children_num = n};
    return fake_daemon.config(&block);
}

static void set_name(const char *name)
{
    (void)gtel_str_copy(fake_daemon.name, sizeof(fake_daemon.name), gtel_str_of(name));
}

GTEL_EXPORT int plugin_register_complex_config(const char *type, int (*callback)(oconfig_item_t *))
{
    set_name(type);
    fake_daemon.config = callback;
    return 0;
}

GTEL_EXPORT int plugin_register_init(const char *name, plugin_init_cb callback)
{
    set_name(name);
    fake_daemon.init = callback;
    return 0;
}

GTEL_EXPORT int plugin_register_shutdown(const char *name, plugin_shutdown_cb callback)
{
    set_name(name);
    fake_daemon.shutdown = callback;
    return 0;
}

GTEL_EXPORT int plugin_register_complex_read(const char *group, const char *name,
                                             plugin_read_cb callback, cdtime_t interval,
                                             user_data_t const *user_data)
{
    (void)group;
    if (fake_daemon.refuses_read)
        return -1;
    set_name(name);
    fake_daemon.read = callback;
    fake_daemon.read_data = *user_data;
    fake_daemon.read_interval = interval;
    fake_daemon.registrations++;
    return 0;
}

GTEL_EXPORT int plugin_dispatch_values(value_list_t const *vl)
{
    if (fake_daemon.n == FAKE_VALUES_MAX || vl->values_len != 1)
        return -1;
    struct fake_value *value = &fake_daemon.value[fake_daemon.n++];
    value->list = *vl;
    value->value = vl->values[0];
    value->list.values = &value->value;
    return 0;
}

GTEL_EXPORT const data_set_t *plugin_get_ds(const char *name)
{
    static data_source_t source;
    static data_set_t set;
    if (fake_daemon.unknown_type && strcmp(name, fake_daemon.unknown_type) == 0)
        return NULL;
    if (fake_daemon.other_type && strcmp(name, fake_daemon.other_type) == 0)
        return &fake_daemon.other_set;
    for (const struct fake_type *t = fake_types; t->type; t++) {
        if (strcmp(t->type, name) != 0)
            continue;
        source = (data_source_t){.type = t->ds_type, .min = t->min, .max = t->max};
        set = (data_set_t){.ds_num = 1, .ds = &source};
        return &set;
    }
    return NULL;
}

GTEL_EXPORT cdtime_t plugin_get_interval(void)
{
    return TIME_T_TO_CDTIME_T_STATIC(1);
}

GTEL_EXPORT void plugin_log(int level, const char *format, ...)
{
    const char *word = level == LOG_ERR       ? "error"
                       : level == LOG_WARNING ? "warning"
                       : level == LOG_INFO    ? "info"
                                              : "debug";
    size_t room = sizeof(fake_daemon.log) - fake_daemon.log_n;
    char text[1024]; /* as long as the daemon's */
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    int n = snprintf(fake_daemon.log + fake_daemon.log_n, room, "%s: %s\n", word, text);
    if (n > 0 && (size_t)n < room)
        fake_daemon.log_n += (size_t)n;
}
