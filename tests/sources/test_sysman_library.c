/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source with a real shared object, inline and in a helper process.
 *
 *     test_sysman_library FOLDER        below it VARIANT/libze_loader.so.1
 *
 * As `test_sysman_library --lane sysman … --fake FILE` it is the helper of its own tests: the
 * helpers of the program have a clean environment, so that no variable could lead them to another
 * library.
 */
#include "gtel.h"
#include "host/fs.h"
#include "host/tree.h"
#include "test.h"

#include <stdlib.h>
#include <time.h>

static const uint64_t second_ns = 1000000000u;

/* A card of i915, so that both ways to start Level Zero are open. */
static const char machine[] =
    "file usr/lib64/libze_loader.so.1\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
    "| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "end\n";

/* Files and clock of a recorded machine, libraries of the real one: only this file. */
static struct {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_env real;
    struct gtel_env_ops ops;
    char file[1024];
} world;

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

struct view {
    unsigned puts[GTEL_M_COUNT];
    double last[GTEL_M_COUNT];
    char log[2048];
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct view *view = arg;
    (void)aspect;
    view->puts[reading->metric]++;
    view->last[reading->metric] = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct view *view = arg;
    size_t n = strlen(view->log);
    (void)level;
    (void)snprintf(view->log + n, sizeof(view->log) - n, "%s\n", text);
}

static bool begin_world(const char *file)
{
    char error[100];
    if (gtel_tree_parse(gtel_str_of(machine), &world.tree, error, sizeof(error)) < 0 ||
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

static void end_world(void)
{
    gtel_env_tree_done(&world.env);
    gtel_env_posix_done(&world.real);
    gtel_tree_free(world.tree);
}

static void nap(unsigned ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&ts, NULL);
}

struct front {
    struct view view;
    struct gtel_options options;
    struct gtel_sink sink;
    const char *helper_args[3];
    struct gtel_context *context;
};

/* helper: NULL runs the source in here. */
static bool start(struct front *front, const char *helper)
{
    char error[100];
    *front = (struct front){.helper_args = {"--fake", world.file, NULL}};
    front->sink = (struct gtel_sink){&front->view, on_begin, on_put, on_end};
    world.env.log = (struct gtel_log){on_log, &front->view};
    gtel_options_init(&front->options);
    CHECK_INT(
        gtel_option_set(&front->options, GTEL_O_DEADLINE, GTEL_STR("200ms"), error, sizeof(error)),
        0);
    struct gtel_setup setup = {.env = &world.env,
                               .options = &front->options,
                               .sink = &front->sink,
                               .vendor = "intel",
                               .helper = helper,
                               .helper_args = front->helper_args};
    return CHECK(gtel_context_new(&setup, &front->context) == 0);
}

static void gather(struct front *front)
{
    memset(front->view.puts, 0, sizeof(front->view.puts));
    CHECK_INT(gtel_context_gather(front->context), 0);
}

/* Gathers until a metric is there, at most 5 s. */
static bool gather_until(struct front *front, enum gtel_metric metric)
{
    for (int i = 0; i < 50; i++) {
        gather(front);
        if (front->view.puts[metric] > 0)
            return true;
        nap(100);
    }
    return false;
}

/* The one that sets the variable stands last: it stays set in this process. */
static const struct {
    const char *name;
    bool has_value;
    const char *log; /* NULL: it says nothing */
} variants[] = {
    {"new", true, NULL},
    {"no_gpu", false, "code 0x78000001"},
    {"empty", false, NULL},
    {"missing", false, "zesDeviceGetProperties"},
    {"absent", false, "libze_loader.so.1"},
    {"old", true, NULL},
};

static bool begin_variant(const char *folder, const char *name)
{
    char file[1024];
    test_label = name;
    (void)snprintf(file, sizeof(file), "%s/%s/libze_loader.so.1", folder, name);
    return CHECK(begin_world(file));
}

static void test_inline(const char *folder)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(variants); i++) {
        struct front front;
        if (!begin_variant(folder, variants[i].name) || !start(&front, NULL))
            return;
        for (int k = 0; k < 3; k++)
            gather(&front);
        CHECK_INT(front.view.puts[GTEL_M_GPU_TEMPERATURE], variants[i].has_value);
        if (variants[i].has_value)
            CHECK_NEAR(front.view.last[GTEL_M_GPU_TEMPERATURE], 61.5, 0);
        CHECK(variants[i].log ? strstr(front.view.log, variants[i].log) != NULL
                              : front.view.log[0] == '\0');
        gtel_context_free(front.context);
        end_world();
    }
    test_label = "";
}

/* A sanitizer keeps what is freed. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const bool measures_memory = true;
#else
static const bool measures_memory = false;
#endif

/* Resident memory of this process in pages; 0 when that is not known. */
static uint64_t resident(void)
{
    char buf[128];
    struct gtel_str text;
    struct gtel_str word;
    uint64_t pages = 0;
    if (gtel_fs_text(&world.real, "proc/self/statm", buf, sizeof(buf), &text) == 0 &&
        gtel_str_word(&text, &word) && gtel_str_word(&text, &word))
        (void)gtel_str_u64(word, &pages);
    return pages;
}

/* The system's own loader, where it is installed: without a GPU it is quiet, again and again. */
static void test_system(void)
{
    enum { ROUNDS = 2000, WARM = 20, PAGES_MORE = 128 };
    uint64_t before = 0;
    test_label = "the system's loader";
    for (int i = 0; i < ROUNDS; i++) {
        struct front front;
        if (!CHECK(begin_world("libze_loader.so.1")) || !start(&front, NULL))
            return;
        gather(&front);
        bool has_driver = front.view.log[0] == '\0'; /* then it is no matter of the loader alone */
        CHECK(has_driver || strstr(front.view.log, "Level Zero") != NULL);
        CHECK(has_driver || front.view.puts[GTEL_M_GPU_TEMPERATURE] == 0);
        gtel_context_free(front.context);
        if (i == WARM)
            before = resident();
        if (i == ROUNDS - 1)
            CHECK(!measures_memory || resident() <= before + PAGES_MORE);
        end_world();
        if (has_driver)
            break;
    }
    test_label = "";
}

/* A call that never returns costs this lane its readings, and nobody else any time. */
static void test_hang(const char *folder, const char *helper)
{
    struct front front;
    if (!begin_variant(folder, "hang") || !start(&front, helper))
        return;
    CHECK(gather_until(&front, GTEL_M_GPU_TEMPERATURE));
    for (int i = 0; i < 4; i++) {
        uint64_t before = gtel_env_now(&world.env);
        gather(&front);
        CHECK(gtel_env_now(&world.env) - before < second_ns);
    }
    CHECK_INT(front.view.puts[GTEL_M_GPU_TEMPERATURE], 0);
    CHECK(front.view.last[GTEL_M_SELF_LANES_LATE] > 0);
    uint64_t before = gtel_env_now(&world.env);
    gtel_context_free(front.context);
    CHECK(gtel_env_now(&world.env) - before < second_ns);
    end_world();
    test_label = "";
}

/* A library that crashes ends its helper; a new one is started after a pause. */
static void test_crash(const char *folder, const char *helper)
{
    struct front front;
    if (!begin_variant(folder, "crash") || !start(&front, helper))
        return;
    CHECK(gather_until(&front, GTEL_M_GPU_TEMPERATURE));
    bool was_absent = false;
    for (int i = 0; i < 30 && !was_absent; i++) {
        gather(&front);
        was_absent = front.view.puts[GTEL_M_GPU_TEMPERATURE] == 0;
        nap(50);
    }
    CHECK(was_absent);
    CHECK(gather_until(&front, GTEL_M_GPU_TEMPERATURE));
    CHECK(front.view.last[GTEL_M_SELF_LANE_RESTARTS] > 0);
    gtel_context_free(front.context);
    end_world();
    test_label = "";
}

/* What the front end starts: serves the lane with the fake library. */
static int serve(int argc, char **argv)
{
    struct gtel_options options;
    const char *file = "";
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--fake") == 0)
            file = argv[i + 1];
    if (!begin_world(file))
        return 1;
    gtel_options_init(&options);
    int r = gtel_lane_serve("sysman", 3, &world.env, &options);
    end_world();
    return r < 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--lane") == 0)
        return serve(argc, argv);
    if (argc != 2)
        return 1;
    test_system();
    test_inline(argv[1]);
    test_hang(argv[1], argv[0]);
    test_crash(argv[1], argv[0]);
    return test_result();
}
