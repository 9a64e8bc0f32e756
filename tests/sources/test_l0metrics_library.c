/* SPDX-License-Identifier: MIT */
/*
 * The source of Level Zero's metrics with the system's own loader, where it is installed: a machine
 * without a GPU has no metrics, which is logged once, and keeps nothing.
 */
#include "lanes/group.h"
#include "host/fs.h"
#include "recording/tree.h"
#include "harness/ze_loader.h"
#include "harness/test.h"

#include <string.h>

#define MINUTE_NS 60000000000u

static const char machine[] =
    "file usr/lib64/libze_loader.so.1\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
    "| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "end\n";

/* Files and clock of a recorded machine, libraries of the real one. */
static struct {
    struct gtel_env env;
    struct gtel_env real;
    struct gtel_env_ops ops;
    unsigned logs;
    char log[512];
} world;

static int lib_open(void *arg, const char *const *names, void **ret)
{
    (void)arg;
    return world.real.ops->lib_open(world.real.arg, names, ret);
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

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    world.logs++;
    (void)gtel_str_copy(world.log, sizeof(world.log), gtel_str_of(text));
}

static void run_once(struct gtel_tree *tree, const struct gtel_options *options)
{
    struct gtel_group group;
    world.logs = 0;
    world.log[0] = '\0';
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &world.env), 0);
    const struct gtel_env_ops *played = world.env.ops;
    world.ops = *played;
    world.ops.lib_open = lib_open;
    world.ops.lib_symbol = lib_symbol;
    world.ops.lib_close = lib_close;
    world.env.ops = &world.ops;
    world.env.log = (struct gtel_log){on_log, NULL};
    CHECK_INT(gtel_group_init(&group, "l0metrics", &world.env, options), 0);
    gtel_group_sample(&group);
    gtel_group_tick(&group);
    gtel_group_sample(&group);
    CHECK_INT(group.batch.n, 0);
    gtel_group_done(&group);
    world.env.ops = played;
    gtel_env_tree_done(&world.env);
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

int main(void)
{
    enum { ROUNDS = 2000, WARM = 20, PAGES_MORE = 128 };
    struct gtel_tree *tree = NULL;
    struct gtel_options options;
    char error[100];
    uint64_t before = 0;
    gtel_options_init(&options);
    CHECK_INT(gtel_option_set(&options, GTEL_O_L0_METRICS, GTEL_STR("on"), error, sizeof(error)),
              0);
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_posix_init("/", &world.real) == 0))
        return test_result();
    struct loader loader = loader_look(&world.real);
    uint64_t begin_ns = gtel_env_now(&world.real);
    for (int i = 0; i < ROUNDS; i++) {
        run_once(tree, &options);
        CHECK(loader.has_driver ? world.logs <= 1 : world.logs == 1);
        CHECK(!loader.says || strstr(world.log, loader.says) != NULL);
        if (i == 0)
            printf("the system's loader: %s: %s\n", loader.text, world.log);
        if (i == WARM)
            before = resident();
        if (i == ROUNDS - 1)
            CHECK(!measures_memory || loader.has_driver || resident() <= before + PAGES_MORE);
        /* A driver takes longer: as often as fits into a minute. */
        if (loader.has_driver && gtel_env_now(&world.real) - begin_ns > MINUTE_NS)
            break;
    }
    gtel_env_posix_done(&world.real);
    gtel_tree_free(tree);
    return test_result();
}
