/* SPDX-License-Identifier: MIT */
/*
 * A fake collectd host: collectd_host HELPER PLUGIN.so MACHINE.tree [PLUGIN.so MACHINE.tree]...
 *
 * Loads the plugins as the daemon does, each in its own life of configuration, init, reads and
 * shutdown, all of them together, and twice. Checks what must hold for any machine: values come,
 * with one time per read, no name twice, each in the range of its type; each plugin is alone;
 * shutdown is short. The plugins run with the real core and real helpers.
 */
#include "fakes/collectd_daemon.h"

#include "base/compiler.h"
#include "harness/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <time.h>

enum { PLUGINS_MAX = 4, READS = 4 };

struct plugin {
    const char *path;
    const char *machine;
    const char *helper;
    char name[64];
    struct {
        int (*config)(oconfig_item_t *);
        int (*init)(void);
        int (*shutdown)(void);
        plugin_read_cb read;
        user_data_t data;
    } callback;
};

static double now(void)
{
    struct timespec ts = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void nap(double s)
{
    struct timespec ts = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - floor(s)) * 1e9)};
    (void)nanosleep(&ts, NULL);
}

static bool load(struct plugin *plugin)
{
    void (*module_register_fn)(void) = NULL;
    void *lib = dlopen(plugin->path, RTLD_NOW);
    void *symbol = lib ? dlsym(lib, "module_register") : NULL;
    if (!CHECK(symbol != NULL)) {
        printf("    %s\n", dlerror());
        return false;
    }
    memcpy(&module_register_fn, &symbol, sizeof(symbol)); /* as POSIX promises */
    fake_daemon_reset();
    module_register_fn();
    (void)gtel_str_copy(plugin->name, sizeof(plugin->name), gtel_str_of(fake_daemon.name));
    plugin->callback.config = fake_daemon.config;
    plugin->callback.init = fake_daemon.init;
    plugin->callback.shutdown = fake_daemon.shutdown;
    return CHECK(fake_daemon.config && fake_daemon.init && fake_daemon.shutdown);
}

/* One good line each, between bad ones. */
static void configure(const struct plugin *plugin)
{
    char helper[256];
    char machine[256];
    (void)gtel_str_copy(helper, sizeof(helper), gtel_str_of(plugin->helper));
    (void)gtel_str_copy(machine, sizeof(machine), gtel_str_of(plugin->machine));
    oconfig_value_t values[] = {{.type = OCONFIG_TYPE_STRING, .value.string = helper},
                                {.type = OCONFIG_TYPE_STRING, .value.string = machine}};
    oconfig_item_t lines[] = {
        FAKE_STRING("NoSuchOption", "1"),
        {.key = (char[]){"Helper"}, .values = &values[0], .values_num = 1},
        FAKE_NUMBER("Deadline", -3),
        {.key = (char[]){"Root"}, .values = &values[1], .values_num = 1},
    };
    oconfig_item_t block = {.children = lines, .children_num = GTEL_ARRAY_LEN(lines)};
    fake_daemon_clear();
    CHECK_INT(plugin->callback.config(&block), 0);
    CHECK_INT(fake_daemon_said("NoSuchOption"), 1);
    CHECK_INT(fake_daemon_said("Deadline: '-3'"), 1);
    CHECK_INT(fake_daemon_said("warning: "), 2);
    CHECK_INT(fake_daemon_said(plugin->name), 2);
}

static void check_range(const struct fake_value *value)
{
    for (const struct fake_type *t = fake_types; t->type; t++) {
        if (strcmp(t->type, value->list.type) != 0 || t->ds_type != DS_TYPE_GAUGE)
            continue;
        double v = value->value.gauge;
        CHECK(isfinite(v) && !(v < t->min) && !(v > t->max)); /* NAN: unbounded */
        return;
    }
}

static void check_values(const struct plugin *plugin)
{
    size_t of_gpu = 0;
    for (size_t i = 0; i < fake_daemon.n; i++) {
        const value_list_t *vl = &fake_daemon.value[i].list;
        char label[3 * DATA_MAX_NAME_LEN];
        (void)snprintf(label, sizeof(label), "%s/%s-%s", vl->plugin_instance, vl->type,
                       vl->type_instance);
        test_label = label;
        CHECK_STR(gtel_str_of(vl->plugin), plugin->name);
        CHECK_INT(vl->time, fake_daemon.value[0].list.time);
        CHECK_INT(vl->interval, plugin_get_interval());
        CHECK(fake_daemon_find(label) == &fake_daemon.value[i]); /* the first of that name */
        check_range(&fake_daemon.value[i]);
        of_gpu += vl->plugin_instance[0] != '\0';
        test_label = "";
    }
    CHECK(of_gpu > 0);
    CHECK(fake_daemon_find("/gauge-gtel-gpus") != NULL);
}

static void begin_life(struct plugin *plugin)
{
    configure(plugin);
    double start = now();
    CHECK_INT(plugin->callback.init(), 0);
    CHECK(now() - start < 0.1); /* the daemon does not wait for a GPU */
    plugin->callback.read = fake_daemon.read;
    plugin->callback.data = fake_daemon.read_data;
}

static void read_all(struct plugin *plugins, size_t n, bool is_last)
{
    for (size_t i = 0; i < n; i++) {
        fake_daemon_clear();
        CHECK_INT(plugins[i].callback.read(&plugins[i].callback.data), 0);
        if (!is_last)
            continue;
        check_values(&plugins[i]);
        printf("%s: %zu values\n%s", plugins[i].name, fake_daemon.n, fake_daemon.log);
    }
}

static void run_life(struct plugin *plugins, size_t n)
{
    for (size_t i = 0; i < n; i++)
        begin_life(&plugins[i]);
    for (int k = 1; k <= READS; k++) {
        nap(0.3);
        read_all(plugins, n, k == READS);
    }
    /* The first goes while the others read on. */
    double start = now();
    CHECK_INT(plugins[0].callback.shutdown(), 0);
    CHECK(now() - start < 1.0);
    if (n > 1)
        read_all(plugins + 1, n - 1, true);
    for (size_t i = 1; i < n; i++)
        CHECK_INT(plugins[i].callback.shutdown(), 0);
}

int main(int argc, char **argv)
{
    struct plugin plugins[PLUGINS_MAX] = {{0}};
    size_t n = 0;
    for (int i = 2; i + 1 < argc && n < PLUGINS_MAX; i += 2) {
        plugins[n].helper = argv[1];
        plugins[n].path = argv[i];
        plugins[n].machine = argv[i + 1];
        if (!load(&plugins[n]))
            return test_result();
        n++;
    }
    if (!CHECK(n > 0))
        return test_result();
    run_life(plugins, n);
    run_life(plugins, n);
    return test_result();
}
