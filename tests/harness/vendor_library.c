/* SPDX-License-Identifier: MIT */
/* The source of a vendor library with a real shared object. */
#include "harness/vendor_library.h"

#include "harness/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct world world;

static int lib_open(void *arg, const char *const *names, void **ret)
{
    const char *const only[] = {world.file, NULL};
    (void)arg;
    (void)names;
    return world.real.ops->lib_open(world.real.arg, only, ret);
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    return world.real.ops->lib_symbol(world.real.arg, lib, name);
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    world.real.ops->lib_close(world.real.arg, lib);
}

bool begin_world(const struct vendor *vendor, const char *file)
{
    char error[100];
    char text[4096];
    (void)snprintf(text, sizeof(text), "%send\n", vendor->machine);
    world.vendor = vendor;
    if (gtel_tree_parse(gtel_str_of(text), &world.tree, error, sizeof(error)) < 0 ||
        gtel_env_tree_init(world.tree, false, 0, &world.env) < 0 ||
        gtel_env_posix_init("/", &world.real) < 0)
        return false;
    (void)gtel_str_copy(world.file, sizeof(world.file), gtel_str_of(file));
    world.ops = *world.env.ops;
    world.ops.lib_open = lib_open;
    world.ops.lib_symbol = lib_symbol;
    world.ops.lib_close = lib_close;
    world.env.ops = &world.ops;
    return true;
}

bool begin_variant(const struct vendor *vendor, const char *folder, const char *name)
{
    char file[1024];
    test_label = name;
    (void)snprintf(file, sizeof(file), "%s/%s/%s", folder, name, vendor->soname);
    return CHECK(begin_world(vendor, file));
}

void end_world(void)
{
    gtel_env_tree_done(&world.env);
    gtel_env_posix_done(&world.real);
    gtel_tree_free(world.tree);
}

void nap(unsigned ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&ts, NULL);
}

static void on_begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct front *front = arg;
    (void)aspect;
    front->view.puts[reading->metric]++;
    front->view.last[reading->metric] = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct front *front = arg;
    size_t n = strlen(front->view.log);
    (void)level;
    (void)snprintf(front->view.log + n, sizeof(front->view.log) - n, "%s\n", text);
}

bool start(struct front *front, const char *helper)
{
    char error[100];
    *front = (struct front){.helper_args = {"--fake", world.file, NULL}};
    front->sink = (struct gtel_sink){front, on_begin, on_put, on_end};
    world.env.log = (struct gtel_log){on_log, front};
    gtel_options_init(&front->options);
    CHECK_INT(
        gtel_option_set(&front->options, GTEL_O_DEADLINE, GTEL_STR("200ms"), error, sizeof(error)),
        0);
    struct gtel_setup setup = {.env = &world.env,
                               .options = &front->options,
                               .sink = &front->sink,
                               .vendor = world.vendor->name,
                               .helper = helper,
                               .helper_args = front->helper_args};
    return CHECK(gtel_context_new(&setup, &front->context) == 0);
}

void gather(struct front *front)
{
    memset(front->view.puts, 0, sizeof(front->view.puts));
    gtel_context_gather(front->context);
}

bool gather_until(struct front *front, enum gtel_metric metric)
{
    for (int i = 0; i < 50; i++) {
        gather(front);
        if (front->view.puts[metric] > 0)
            return true;
        nap(100);
    }
    return false;
}

void test_hang(const struct vendor *vendor, const char *folder, const char *helper)
{
    struct front front;
    if (!begin_variant(vendor, folder, "hang") || !start(&front, helper))
        return;
    CHECK(gather_until(&front, vendor->metric));
    for (int i = 0; i < 4; i++) {
        uint64_t before = gtel_env_now(&world.env);
        gather(&front);
        CHECK(gtel_env_now(&world.env) - before < SECOND_NS);
    }
    CHECK_INT(front.view.puts[vendor->metric], 0);
    CHECK(front.view.last[GTEL_M_SELF_LANES_LATE] > 0);
    uint64_t before = gtel_env_now(&world.env);
    gtel_context_free(front.context);
    CHECK(gtel_env_now(&world.env) - before < SECOND_NS);
    end_world();
    test_label = "";
}

void test_crash(const struct vendor *vendor, const char *folder, const char *helper)
{
    struct front front;
    bool was_absent = false;
    if (!begin_variant(vendor, folder, "crash") || !start(&front, helper))
        return;
    CHECK(gather_until(&front, vendor->metric));
    for (int i = 0; i < 30 && !was_absent; i++) {
        gather(&front);
        was_absent = front.view.puts[vendor->metric] == 0;
        nap(50);
    }
    CHECK(was_absent);
    CHECK(gather_until(&front, vendor->metric));
    CHECK(front.view.last[GTEL_M_SELF_LANE_RESTARTS] > 0);
    gtel_context_free(front.context);
    end_world();
    test_label = "";
}

int serve_lane(const struct vendor *vendor, int argc, char **argv)
{
    struct gtel_options options;
    const char *file = "";
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--fake") == 0)
            file = argv[i + 1];
    if (!begin_world(vendor, file))
        return 1;
    gtel_options_init(&options);
    int r = gtel_lane_serve(vendor->lane, 3, &world.env, &options);
    end_world();
    return r < 0;
}
