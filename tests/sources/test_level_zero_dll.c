/* SPDX-License-Identifier: MIT */
/*
 * Level Zero's loader as Windows has it, a DLL: where it is looked for, what our own table finds in
 * it, calls through our own pointers, and the sources with it. The loader is played.
 *
 *     test_level_zero_dll FOLDER MACHINE...     FOLDER/VARIANT/ze_loader.dll; recorded machines,
 *                                               those with metrics by names that end in "l0m"
 */
#include "abi/zet_abi.h"
#include "lanes/group.h"
#include "host/library.h"
#include "recording/tree.h"
#include "sources/level_zero/level_zero.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#undef OPTIONAL /* an empty word of Windows */
#define SECOND 1000000000u

enum { GATHERS = 5, TREE_MAX = 1 << 20 };

static const struct gtel_dynlib_symbol symbols[] = {
#define OPTIONAL false
#define REQUIRED true
#define GTEL_ZES_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zes_calls, name), need},
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
};
static const struct gtel_dynlib_symbol metric_symbols[] = {
#define GTEL_ZET_SYM(name, need, shape, type) {#name, offsetof(struct gtel_zet_calls, name), need},
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
#undef OPTIONAL
#undef REQUIRED
};

/* The real libraries, and what was said. */
static struct {
    struct gtel_env real;
    char file[512]; /* the only one that a machine sees; empty: none */
    unsigned logs;
    char log[512];
} world;

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    world.logs++;
    (void)gtel_str_copy(world.log, sizeof(world.log), gtel_str_of(text));
}

static void forget_log(void)
{
    world.logs = 0;
    world.log[0] = '\0';
}

static const char *variant(const char *folder, const char *name)
{
    (void)snprintf(world.file, sizeof(world.file), "%s/%s/ze_loader.dll", folder, name);
    return world.file;
}

/* ---- where it is looked for ---- */

static int open_only(const char *name, struct gtel_zes_calls *calls, struct gtel_dynlib *dynlib)
{
    const char *const names[] = {name, NULL};
    memset(calls, 0xee, sizeof(*calls));
    *dynlib = (struct gtel_dynlib){0};
    return gtel_dynlib_open(&world.real, dynlib, names, symbols, GTEL_ARRAY_LEN(symbols), calls);
}

static int try_only(const char *name)
{
    struct gtel_zes_calls calls;
    struct gtel_dynlib dynlib;
    int r = open_only(name, &calls, &dynlib);
    gtel_dynlib_close(&world.real, &dynlib);
    return r;
}

/* It lies in the current folder, and beside this program where the tests are run from there. */
static void test_planted(const char *folder)
{
    static const char *const names[] = {
        "ze_loader.dll", ".\\ze_loader.dll", "./ze_loader.dll", "C:ze_loader.dll", "", NULL};
    test_label = "planted";
    if (!CHECK(CopyFileA(variant(folder, "new"), "ze_loader.dll", FALSE)))
        return;
    for (size_t i = 0; names[i]; i++)
        CHECK_INT(try_only(names[i]), -ENOENT);
    char full[512];
    DWORD n = GetFullPathNameA("ze_loader.dll", sizeof(full), full, NULL);
    CHECK(n > 2 && n < sizeof(full));
    CHECK_INT(try_only(full), 0);
    CHECK_INT(try_only(full + 2), -ENOENT);         /* on whatever drive is the current one */
    HMODULE module = LoadLibraryA("ze_loader.dll"); /* so it was a trap */
    CHECK(module != NULL);
    if (module)
        (void)FreeLibrary(module);
    CHECK(DeleteFileA("ze_loader.dll"));
}

static bool is_installed(void)
{
    char path[GTEL_FS_PATH_MAX];
    return gtel_level_zero_library.find(&world.real, path, sizeof(path));
}

/* Only under Wine: the folder of a real system is not ours. */
static void test_system(const char *folder)
{
    char path[512];
    void *lib;
    test_label = "system";
    UINT n = GetSystemDirectoryA(path, sizeof(path) - 32);
    bool is_wine = GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") != NULL;
    if (!is_wine || !CHECK(n > 0 && n < sizeof(path) - 32))
        return;
    (void)snprintf(path + n, sizeof(path) - n, "\\ze_loader.dll");
    const struct gtel_env_ops *ops = world.real.ops;
    CHECK_INT(ops->lib_open(world.real.arg, gtel_level_zero_names, &lib), -ENOENT);
    CHECK(!is_installed());
    CHECK(CopyFileA(variant(folder, "new"), path, FALSE));
    CHECK(is_installed());
    CHECK_INT(try_only(gtel_level_zero_names[0]), 0);
    CHECK(DeleteFileA(path));
    CHECK(!is_installed());
}

/* A copy of a DLL with another processor in its header, and a text with a DLL's name. */
static void test_unusable(const char *folder)
{
    static char image[TREE_MAX];
    test_label = "unusable";
    FILE *file = fopen(variant(folder, "new"), "rb");
    size_t n = file ? fread(image, 1, sizeof(image), file) : 0;
    if (file)
        (void)fclose(file);
    size_t at = n > 0x40 ? (unsigned char)image[0x3c] : 0; /* of the header "PE" */
    if (!CHECK(at > 0 && memcmp(image + at, "PE\0\0\x64\x86", 6) == 0))
        return;
    memcpy(image + at + 4, "\x64\xaa", 2); /* ARM64 (Windows: winnt.h) */
    for (int i = 0; i < 2; i++) {
        size_t size = i == 0 ? n : 100;
        char full[512];
        file = fopen("unusable.dll", "wb");
        CHECK(file && fwrite(i == 0 ? image : variant(folder, "new"), 1, size, file) == size);
        if (file)
            (void)fclose(file);
        CHECK(GetFullPathNameA("unusable.dll", sizeof(full), full, NULL) > 0);
        forget_log();
        CHECK_INT(try_only(full), -ENOEXEC);
        CHECK_INT(world.logs, 0);
    }
    CHECK(DeleteFileA("unusable.dll"));
    CHECK_INT(try_only(variant(folder, "absent")), -ENOENT);
}

/* ---- what is found in it, and calls ---- */

static void *at(const void *table, size_t offset)
{
    void *address;
    memcpy(&address, (const char *)table + offset, sizeof(address));
    return address;
}

/* Every call of both tables, in a library that has all. */
static void test_symbols(void)
{
    const char *const names[] = {TEST_PLAYED "/libze_loader.so.1", NULL};
    struct gtel_dynlib dynlib = {0};
    struct gtel_zes_calls calls;
    struct gtel_zet_calls metric_calls;
    test_label = "symbols";
    CHECK_INT(open_only(names[0], &calls, &dynlib), 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(symbols); i++)
        if (!CHECK(at(&calls, symbols[i].offset) != NULL))
            printf("    %s\n", symbols[i].name);
    CHECK(GetProcAddress(dynlib.lib, "gtel_tree_parse") == NULL); /* exports its own alone */
    gtel_dynlib_close(&world.real, &dynlib);
    CHECK(dynlib.lib == NULL);
    CHECK_INT(gtel_dynlib_open(&world.real, &dynlib, names, metric_symbols,
                               GTEL_ARRAY_LEN(metric_symbols), &metric_calls),
              0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metric_symbols); i++)
        if (!CHECK(at(&metric_calls, metric_symbols[i].offset) != NULL))
            printf("    %s\n", metric_symbols[i].name);
    gtel_dynlib_close(&world.real, &dynlib);
}

static void test_calls(const char *folder)
{
    struct gtel_dynlib dynlib;
    struct gtel_zes_calls call;
    void *driver = NULL;
    void *device = NULL;
    void *sensor = NULL;
    uint32_t n = 0;
    struct gtel_zes_device_properties properties = {.head.type = GTEL_ZES_TYPE_DEVICE_PROPERTIES};
    double celsius = 0;
    test_label = "calls";
    if (!CHECK(open_only(variant(folder, "new"), &call, &dynlib) == 0))
        return;
    CHECK(call.zesInit && call.zesDriverGet && call.zesDeviceGet && !call.zeInit &&
          !call.zeDeviceGet);
    CHECK_INT(call.zesInit(0), GTEL_ZE_SUCCESS);
    CHECK_INT(call.zesDriverGet(&n, NULL), GTEL_ZE_SUCCESS);
    CHECK_INT(n, 1);
    CHECK_INT(call.zesDriverGet(&n, &driver), GTEL_ZE_SUCCESS);
    CHECK_INT(call.zesDeviceGet(driver, &n, &device), GTEL_ZE_SUCCESS);
    CHECK_INT(call.zesDeviceGet(device, &n, &device), GTEL_ZE_NULL_HANDLE);
    CHECK_INT(call.zesDeviceGetProperties(device, &properties), GTEL_ZE_SUCCESS);
    CHECK_INT(properties.core.device_type, GTEL_ZE_DEVICE_GPU);
    CHECK_INT(properties.core.vendor_id, 0x8086);
    CHECK_INT(call.zesDeviceEnumTemperatureSensors(device, &n, &sensor), GTEL_ZE_SUCCESS);
    CHECK_INT(call.zesTemperatureGetState(sensor, &celsius), GTEL_ZE_SUCCESS);
    CHECK_NEAR(celsius, 61.5, 0);
    gtel_dynlib_close(&world.real, &dynlib);
}

/* A loader of before 1.9.4, and one without a call that must be there. */
static void test_lacks(const char *folder)
{
    struct gtel_dynlib dynlib;
    struct gtel_zes_calls call;
    static const struct gtel_zes_calls none;
    test_label = "old";
    CHECK_INT(open_only(variant(folder, "old"), &call, &dynlib), 0);
    CHECK(!call.zesInit && !call.zesDriverGet && call.zeInit && call.zesDeviceGetProperties);
    gtel_dynlib_close(&world.real, &dynlib);
    test_label = "missing";
    forget_log();
    CHECK_INT(open_only(variant(folder, "missing"), &call, &dynlib), -ENOSYS);
    CHECK(dynlib.lib == NULL);
    CHECK(call.zesInit == none.zesInit && call.zesDeviceGetProperties == NULL);
    CHECK_INT(world.logs, 1);
    CHECK(strstr(world.log, "ze_loader.dll has no zesDeviceGetProperties") != NULL);
}

/* ---- the source ---- */

/* Files and clock of a recorded machine; its loader, or the DLL. */
struct machine {
    struct gtel_env env;
    struct gtel_env_ops ops;
    const struct gtel_env_ops *played;
    struct gtel_options options;
    struct gtel_group group;
};

static int lib_open(void *arg, const char *const *names, void **ret)
{
    const char *const only[] = {world.file, NULL};
    (void)arg;
    CHECK(strcmp(names[0], "ze_loader.dll") == 0);
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

static bool begin(struct machine *m, const char *lane, struct gtel_tree *tree, bool is_dll)
{
    char error[100];
    *m = (struct machine){0};
    gtel_options_init(&m->options);
    CHECK_INT(gtel_option_set(&m->options, GTEL_O_L0_METRICS, GTEL_STR("on"), error, sizeof(error)),
              0);
    if (!CHECK(gtel_env_tree_init(tree, true, 0, &m->env) == 0))
        return false;
    tree_library_play(&m->env, tree, TEST_PLAYED);
    m->played = m->env.ops;
    m->ops = *m->played;
    if (is_dll) {
        m->ops.lib_open = lib_open;
        m->ops.lib_symbol = lib_symbol;
        m->ops.lib_close = lib_close;
    }
    m->env.ops = &m->ops;
    m->env.log = (struct gtel_log){on_log, NULL};
    return CHECK(gtel_group_init(&m->group, lane, &m->env, &m->options) == 0);
}

static void finish(struct machine *m)
{
    gtel_group_done(&m->group);
    m->env.ops = m->played;
    gtel_env_tree_done(&m->env);
}

/* Goes on by a second. */
static void go_on(struct machine *m)
{
    enum { TICKS = 20 }; /* as often as windows of metrics want */
    for (int i = 0; i < TICKS; i++) {
        gtel_env_tree_step(&m->env, SECOND / TICKS);
        gtel_group_tick(&m->group);
    }
}

static const char card[] =
    "file System32/ze_loader.dll\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
    "| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\nend\n";

/* The one that sets the variable stands last: it stays set in this process. */
static const struct {
    const char *name;
    bool has_value;
    unsigned logs;
    const char *log; /* the last line has this */
} variants[] = {
    {"new", true, 0, ""},
    {"no_gpu", false, 1, "code 0x78000001"},
    {"empty", false, 0, ""},
    {"missing", false, 2, "ze_loader.dll cannot be used"},
    {"absent", false, 1, "ze_loader.dll cannot be used"},
    {"old", true, 0, ""},
};

/* Whether the last gather has the temperature of the only sensor that all variants report. */
static bool has_temperature(const struct machine *m)
{
    const struct gtel_batch *batch = &m->group.batch;
    for (size_t i = 0; i < batch->n; i++)
        if (batch->reading[i].metric == GTEL_M_TEMPERATURE)
            return gtel_reading_number(&batch->reading[i]) == 61.5;
    return false;
}

static void test_source(const char *folder)
{
    char error[200];
    struct gtel_tree *tree;
    if (!CHECK(gtel_tree_parse(gtel_str_of(card), &tree, error, sizeof(error)) == 0))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(variants); i++) {
        struct machine m;
        forget_log();
        (void)variant(folder, variants[i].name);
        test_label = variants[i].name;
        if (!begin(&m, "sysman", tree, true))
            break;
        for (int k = 0; k < GATHERS; k++) {
            go_on(&m);
            gtel_group_sample(&m.group);
        }
        CHECK_INT(has_temperature(&m), variants[i].has_value);
        CHECK_INT(world.logs, variants[i].logs);
        CHECK(strstr(world.log, variants[i].log) != NULL);
        finish(&m);
    }
    gtel_tree_free(tree);
}

/* ---- whole machines ---- */

static struct gtel_tree *read_machine(const char *path)
{
    static char text[TREE_MAX];
    char error[200] = "it cannot be read";
    struct gtel_tree *tree = NULL;
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        (void)fclose(file);
    if (!CHECK(n > 0 &&
               gtel_tree_parse((struct gtel_str){text, n}, &tree, error, sizeof(error)) == 0))
        printf("    %s: %s\n", path, error);
    return tree;
}

static void test_machine(const char *lane, const char *path)
{
    struct machine m;
    size_t readings = 0;
    test_label = path;
    forget_log();
    struct gtel_tree *tree = read_machine(path);
    if (tree && begin(&m, lane, tree, false)) {
        for (int i = 0; i < GATHERS; i++) {
            gtel_group_sample(&m.group);
            readings += m.group.batch.n;
            go_on(&m);
        }
        finish(&m);
    }
    CHECK(readings > 0);
    printf("%s: %s: %u readings\n", path, lane, (unsigned)readings);
    gtel_tree_free(tree);
}

int main(int argc, char **argv)
{
    char folder[256];
    if (argc < 3 || !CHECK(gtel_env_win32_init(&world.real) == 0))
        return 1;
    DWORD n = GetFullPathNameA(argv[1], sizeof(folder), folder, NULL);
    if (!CHECK(n > 0 && n < sizeof(folder)))
        return 1;
    world.real.log = (struct gtel_log){on_log, NULL};
    test_system(folder);
    test_planted(folder);
    test_unusable(folder);
    test_symbols();
    test_calls(folder);
    test_lacks(folder);
    test_source(folder);
    for (int i = 2; i < argc; i++)
        test_machine(strstr(argv[i], "l0m.tree") ? "l0metrics" : "sysman", argv[i]);
    gtel_env_win32_done(&world.real);
    return test_result();
}
