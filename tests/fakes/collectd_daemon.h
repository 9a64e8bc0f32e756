/* SPDX-License-Identifier: MIT */
/*
 * A fake collectd daemon: the plugin_* functions that our plugins call, with memory.
 *
 * It keeps the registered callbacks, the dispatched values and the messages of one plugin, and
 * knows the data sets that 5.12's types.db gives to the types of our catalogue. Not for several
 * threads.
 */
#ifndef GTEL_TESTS_COLLECTD_DAEMON_H
#define GTEL_TESTS_COLLECTD_DAEMON_H

#include "base/str.h"

#include "collectd/core/daemon/collectd.h"
#include "collectd/core/daemon/plugin.h"

enum { FAKE_VALUES_MAX = 4096, FAKE_LOG_MAX = 65536 };

struct fake_value {
    value_list_t list; /* values points to value */
    value_t value;
};

struct fake_daemon {
    char name[64]; /* of the plugin that registered */
    int (*config)(oconfig_item_t *);
    int (*init)(void);
    int (*shutdown)(void);
    plugin_read_cb read;
    user_data_t read_data;
    cdtime_t read_interval;
    int registrations;        /* of read callbacks */
    bool refuses_read;        /* the next registration of a read callback fails */
    const char *unknown_type; /* plugin_get_ds does not know it */
    const char *other_type;   /* plugin_get_ds gives other_set for it */
    data_set_t other_set;
    struct fake_value value[FAKE_VALUES_MAX];
    size_t n;
    char log[FAKE_LOG_MAX]; /* "warning: text\n"… */
    size_t log_n;
};

extern struct fake_daemon fake_daemon;

/* Forgets everything. */
void fake_daemon_reset(void);
/* Forgets values and messages only. */
void fake_daemon_clear(void);
/* The value of that name, "0000:03:00.0/percent-busy", or NULL. */
const struct fake_value *fake_daemon_find(const char *name);
/* How often text stands in the log. */
int fake_daemon_said(const char *text);
/* Calls configure with a block of n lines. Returns its result. */
int fake_daemon_configure(oconfig_item_t *lines, int n);

/* One configuration line with one value. */
#define FAKE_STRING(key_, text_)                                                                   \
    {                                                                                              \
        .key = (char[]){key_}, .values_num = 1, .values = &(oconfig_value_t)                       \
        {                                                                                          \
            .type = OCONFIG_TYPE_STRING, .value.string = (char[])                                  \
            {                                                                                      \
                text_                                                                              \
            }                                                                                      \
        }                                                                                          \
    }
#define FAKE_NUMBER(key_, number_)                                                                 \
    {                                                                                              \
        .key = (char[]){key_}, .values_num = 1, .values = &(oconfig_value_t)                       \
        {                                                                                          \
            .type = OCONFIG_TYPE_NUMBER, .value.number = (number_)                                 \
        }                                                                                          \
    }
#define FAKE_BOOLEAN(key_, is_)                                                                    \
    {                                                                                              \
        .key = (char[]){key_}, .values_num = 1, .values = &(oconfig_value_t)                       \
        {                                                                                          \
            .type = OCONFIG_TYPE_BOOLEAN, .value.boolean = (is_)                                   \
        }                                                                                          \
    }

/* The data sets of 5.12 that our catalogue uses; NULL type at the end. */
struct fake_type {
    const char *type;
    const char *source;
    int ds_type;
    double min; /* NAN: unbounded */
    double max;
};
extern const struct fake_type fake_types[];

#endif
