/* SPDX-License-Identifier: MIT */
/*
 * The callbacks of a collectd plugin.
 *
 * The daemon hands no user data to the configuration, init and shutdown callbacks, so one
 * file-scope pointer stands between them; the read callback gets the module as its data. Nothing of
 * the machine is opened before the first read: `collectd -t` and the start of the daemon never wait
 * for a GPU.
 */
#include "module.h"

#include "machine.h"
#include "sink_v5.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct module {
    struct gtel_options options;
    struct gtel_log log;
    struct gtel_sink_v5 sink;
    struct gtel_sink sink_table; /* the same as the core sees it */
    struct gtel_machine machine;
    struct gtel_context *context;
    char helper[GTEL_OPTION_TEXT_MAX];
    uint64_t interval_ns;
    bool is_registered; /* init was here; read callbacks come */
    enum { HELPER_NEW, HELPER_MISSING, HELPER_THERE, HELPER_GONE } helper_state;
    bool has_failed; /* the last read could not begin, and said so */
};

static struct module *module;

static void write_log(void *arg, enum gtel_log_level level, const char *text)
{
    static const int levels[] = {[GTEL_LOG_ERROR] = LOG_ERR,
                                 [GTEL_LOG_WARNING] = LOG_WARNING,
                                 [GTEL_LOG_INFO] = LOG_INFO,
                                 [GTEL_LOG_DEBUG] = LOG_DEBUG};
    (void)arg;
    bool is_known = (size_t)level < GTEL_ARRAY_LEN(levels); /* it may come from a helper */
    plugin_log(is_known ? levels[level] : LOG_INFO, GTEL_PLUGIN ": %s", text);
}

/* The module of this daemon, made when it is first needed; NULL when memory is out. */
static struct module *get_module(void)
{
    if (module)
        return module;
    module = calloc(1, sizeof(*module));
    if (!module) {
        plugin_log(LOG_ERR, GTEL_PLUGIN ": out of memory");
        return NULL;
    }
    module->log = (struct gtel_log){.write = write_log};
    gtel_options_init(&module->options);
    return module;
}

static int configure(oconfig_item_t *block)
{
    struct module *m = get_module();
    if (m)
        gtel_collectd_configure(block, &m->options, &m->log);
    return 0;
}

static int new_context(struct module *m)
{
    struct gtel_setup setup = {
        .env = &m->machine.env,
        .options = &m->options,
        .sink = &m->sink_table,
        .vendor = GTEL_VENDOR,
        .helper = m->helper,
        .helper_args = m->machine.helper_args,
        .interval_ns = m->interval_ns,
    };
    return gtel_context_new(&setup, &m->context);
}

/* What the first read opens. Returns 0 or a negative errno, which has been logged once. */
static int start(struct module *m)
{
    char root[GTEL_OPTION_TEXT_MAX];
    char error[400] = "";
    (void)gtel_str_copy(root, sizeof(root), gtel_option_text(&m->options, GTEL_O_ROOT)); /* fits */
    struct gtel_machine_setup setup = {.root = root};
    int r = gtel_machine_open(&m->machine, &setup, error, sizeof(error));
    if (r < 0) {
        if (!m->has_failed)
            gtel_log(&m->log, GTEL_LOG_ERROR, "cannot read the machine below %s; trying again",
                     error);
        return r;
    }
    m->machine.env.log = m->log;
    r = new_context(m);
    if (r == -EINVAL && gtel_option_text(&m->options, GTEL_O_SOURCES).n > 0) {
        /* The core has said what is wrong with it. No values at all would be the worse answer. */
        gtel_log(&m->log, GTEL_LOG_WARNING, "option Sources is ignored: all sources are used");
        (void)gtel_option_set(&m->options, GTEL_O_SOURCES, GTEL_STR_NONE, error, sizeof(error));
        r = new_context(m);
    }
    if (r < 0) {
        if (!m->has_failed)
            gtel_log(&m->log, GTEL_LOG_ERROR, "cannot start (error %d); trying again", -r);
        gtel_machine_close(&m->machine);
    }
    return r;
}

/*
 * Whether the helper can be run, checked before each gather because packages are replaced while
 * the daemon runs. Helpers that run already go on in either case.
 */
static bool check_helper(struct module *m)
{
    struct stat st;
    const char *fault = NULL;
    if (stat(m->helper, &st) < 0)
        fault = "is not there or cannot be reached";
    else if (!S_ISREG(st.st_mode) || access(m->helper, X_OK) < 0)
        fault = "is not a program that this user may run";

    bool was_missing = m->helper_state == HELPER_MISSING || m->helper_state == HELPER_GONE;
    if (fault && !was_missing)
        gtel_log(&m->log, GTEL_LOG_WARNING,
                 "the helper %s %s: no values until it is; install the gtel program there, or set "
                 "option Helper to its absolute path",
                 m->helper, fault);
    else if (!fault && was_missing)
        gtel_log(&m->log, GTEL_LOG_INFO, "the helper %s is there now", m->helper);
    bool has_run = m->helper_state == HELPER_THERE || m->helper_state == HELPER_GONE;
    m->helper_state = !fault ? HELPER_THERE : has_run ? HELPER_GONE : HELPER_MISSING;
    return m->helper_state != HELPER_MISSING;
}

/*
 * One gather. Always 0: the daemon answers a failure with pauses of up to a day, and everything
 * that can go wrong here can also come back. The core retries, with pauses of its own.
 */
static int read_values(user_data_t *data)
{
    struct module *m = data->data;
    if (!check_helper(m))
        return 0;
    int r = m->context ? 0 : start(m);
    if (r == 0)
        gtel_context_gather(m->context);
    m->has_failed = r < 0;
    return 0;
}

/* Never fails: the daemon would only take the read callback away. */
static int init(void)
{
    struct module *m = get_module();
    if (!m || m->is_registered)
        return 0;
    cdtime_t interval = plugin_get_interval();
    m->interval_ns = CDTIME_T_TO_NS(interval);
    gtel_sink_v5_init(&m->sink, GTEL_PLUGIN, &m->log, interval);
    m->sink_table = gtel_sink_v5_sink(&m->sink);
    struct gtel_str helper = gtel_option_text(&m->options, GTEL_O_HELPER);
    if (helper.n == 0)
        helper = GTEL_STR(GTEL_HELPER_PATH);
    (void)gtel_str_copy(m->helper, sizeof(m->helper), helper);

    user_data_t data = {.data = m, .free_func = NULL}; /* freed at shutdown */
    if (plugin_register_complex_read(NULL, GTEL_PLUGIN, read_values, interval, &data) != 0)
        gtel_log(&m->log, GTEL_LOG_ERROR, "the daemon refused the read callback: no values");
    else
        m->is_registered = true;
    return 0;
}

/* The daemon has ended its read threads before it calls this. */
static int end(void)
{
    struct module *m = module;
    if (!m)
        return 0;
    module = NULL;
    gtel_context_free(m->context);
    gtel_machine_close(&m->machine);
    if (m->sink.dropped > 1)
        gtel_log(&m->log, GTEL_LOG_INFO, "%llu values were dropped since the start",
                 (unsigned long long)m->sink.dropped);
    free(m);
    return 0;
}

GTEL_EXPORT void module_register(void)
{
    const char *name = GTEL_PLUGIN;
    (void)plugin_register_complex_config(name, configure); /* only without memory, which it logs */
    (void)plugin_register_init(name, init);
    (void)plugin_register_shutdown(name, end);
}
