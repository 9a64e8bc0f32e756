/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source with a real shared object, inline and in a helper process.
 *
 *     test_sysman_library FOLDER        below it VARIANT/libze_loader.so.1
 */
#include "host/fs.h"
#include "harness/ze_loader.h"
#include "harness/vendor_library.h"
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A card of i915, so that both ways to start Level Zero are open. */
static const struct vendor level_zero = {
    .name = "intel",
    .lane = "sysman",
    .soname = "libze_loader.so.1",
    .metric = GTEL_M_GPU_TEMPERATURE,
    .machine =
        "file usr/lib64/libze_loader.so.1\n"
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
        "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
        "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
        "| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n",
};

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

static void test_inline(const char *folder)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(variants); i++) {
        struct front front;
        if (!begin_variant(&level_zero, folder, variants[i].name) || !start(&front, NULL))
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

static void check_round(const struct front *front, const struct loader *loader)
{
    if (!loader->says) {
        CHECK(front->view.log[0] == '\0' || strstr(front->view.log, "Level Zero") != NULL);
        return;
    }
    const char *line = strstr(front->view.log, loader->says);
    CHECK(line && !strstr(line + 1, loader->says));
    CHECK_INT(front->view.puts[GTEL_M_GPU_TEMPERATURE], 0);
}

/*
 * The system's own loader, where it is installed: without a GPU it says one thing, again and again,
 * and keeps nothing. With a driver, which takes longer, as often as fits into a minute.
 */
static void test_system(void)
{
    enum { ROUNDS = 2000, WARM = 20, PAGES_MORE = 128 };
    uint64_t before = 0;
    uint64_t begin_ns = 0;
    struct loader loader = {0};
    test_label = "the system's loader";
    for (int i = 0; i < ROUNDS; i++) {
        struct front front;
        if (!CHECK(begin_world(&level_zero, "libze_loader.so.1")) || !start(&front, NULL))
            return;
        if (i == 0) {
            loader = loader_look(&world.real);
            begin_ns = gtel_env_now(&world.real);
        }
        gather(&front);
        check_round(&front, &loader);
        if (i == 0)
            printf("the system's loader: %s: %s", loader.text,
                   front.view.log[0] ? front.view.log : "quiet\n");
        bool is_over =
            loader.has_driver && gtel_env_now(&world.real) - begin_ns > 60 * (uint64_t)SECOND_NS;
        gtel_context_free(front.context);
        if (i == WARM)
            before = resident();
        if (i == ROUNDS - 1)
            CHECK(!measures_memory || loader.has_driver || resident() <= before + PAGES_MORE);
        end_world();
        if (is_over)
            break;
    }
    test_label = "";
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--lane") == 0)
        return serve_lane(&level_zero, argc, argv);
    if (argc != 2)
        return 1;
    test_system();
    test_inline(argv[1]);
    test_hang(&level_zero, argv[1], argv[0]);
    test_crash(&level_zero, argv[1], argv[0]);
    return test_result();
}
