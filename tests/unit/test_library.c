/* SPDX-License-Identifier: MIT */
/* Where a helper finds a vendor's library. */
#include "host/library.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <string.h>

#define CONF(text) "file etc/ld.so.conf\n| " text "\n"
#define DEBIAN CONF("include /etc/ld.so.conf.d/*.conf")
#define CHAIN                                                                                      \
    "file etc/a.conf\n| include b.conf\nfile etc/b.conf\n| include c.conf\n"                       \
    "file etc/c.conf\n| /opt/c/lib\n| include d.conf\nfile etc/d.conf\n| /opt/d/lib\n"
#define FILE_OF(folder) "file " folder "/libx.so.1\n"

static const char *const names[] = {"libx.so.1", "/opt/drivers/libx.so.1", "libx.so", NULL};

static const struct {
    const char *label;
    const char *text;
    const char *want; /* NULL: none */
} cases[] = {
    {"none", "", NULL},
    {"a usual folder", FILE_OF("usr/lib64"), "usr/lib64/libx.so.1"},
    {"Debian, a folder of its own",
     DEBIAN
     "file etc/ld.so.conf.d/oneapi.conf\n| # oneAPI\n| /opt/intel/lib\n" FILE_OF("opt/intel/lib"),
     "opt/intel/lib/libx.so.1"},
    {"Fedora: from the folder of the file",
     CONF("include ld.so.conf.d/*.conf") "file etc/ld.so.conf.d/conda.conf\n"
                                         "| /home/u/conda/lib\n" FILE_OF("home/u/conda/lib"),
     "home/u/conda/lib/libx.so.1"},
    {"Gentoo: all in one file", CONF("/usr/lib/llvm\n| /opt/b/lib") FILE_OF("opt/b/lib"),
     "opt/b/lib/libx.so.1"},
    {"the configuration goes before what is known without it",
     CONF("/opt/b/lib") FILE_OF("opt/b/lib") FILE_OF("usr/lib"), "opt/b/lib/libx.so.1"},
    {"blanks, a comment, a slash at the end",
     CONF("  /opt/b/lib//  # and why") FILE_OF("opt/b/lib"), "opt/b/lib/libx.so.1"},
    {"with a type, of old systems", CONF("/opt/b/lib=libc6") FILE_OF("opt/b/lib"),
     "opt/b/lib/libx.so.1"},
    {"a folder whose name begins as a word of it", CONF("/include") FILE_OF("include"),
     "include/libx.so.1"},
    {"what is no folder",
     CONF("# /opt/b/lib\n| hwcap 1 /opt/b/lib\n| opt/b/lib\n| include\n| include # /opt/b/lib\n"
          "| includes /etc/a.conf\n| /") "file etc/a.conf\n| /opt/b/lib\n" FILE_OF("opt/b/lib"),
     NULL},
    {"tabs, and two patterns",
     CONF("\tinclude\tnone*.conf a*.conf") "file etc/ab.conf\n| /opt/b/lib\n" FILE_OF("opt/b/lib"),
     "opt/b/lib/libx.so.1"},
    {"a star for nothing",
     CONF("include a*.conf") "file etc/a.conf\n| /opt/b/lib\n" FILE_OF("opt/b/lib"),
     "opt/b/lib/libx.so.1"},
    {"the star is not shared",
     CONF("include a.c*.conf") "file etc/a.conf\n| /opt/b/lib\n" FILE_OF("opt/b/lib"), NULL},
    {"a name in full",
     CONF("include /etc/a.con") "file etc/a.conf\n| /opt/b/lib\n" FILE_OF("opt/b/lib"), NULL},
    {"not a configuration",
     DEBIAN "file etc/ld.so.conf.d/x.conf.bak\n| /opt/b/lib\n" FILE_OF("opt/b/lib"), NULL},
    {"a folder without it", CONF("/opt/b/lib") "file opt/b/lib/liby.so.1\n", NULL},
    {"a file in the root",
     CONF("include /x*.conf") "file xyz.conf\n| /opt/c/lib\n" FILE_OF("opt/c/lib"),
     "opt/c/lib/libx.so.1"},
    {"files that include each other",
     CONF("include /etc/a.conf") "file etc/a.conf\n| include /etc/ld.so.conf /etc/a.conf\n"
                                 "| /opt/b/lib\n" FILE_OF("opt/b/lib"),
     "opt/b/lib/libx.so.1"},
    {"four files, each included by the one before",
     CONF("include a.conf") CHAIN FILE_OF("opt/c/lib"), "opt/c/lib/libx.so.1"},
    {"a fifth one", CONF("include a.conf") CHAIN FILE_OF("opt/d/lib"), NULL},
    {"of NixOS", FILE_OF("run/opengl-driver/lib"), "run/opengl-driver/lib/libx.so.1"},
    {"of a Guix system", FILE_OF("run/current-system/profile/lib"),
     "run/current-system/profile/lib/libx.so.1"},
    {"by its path", FILE_OF("opt/drivers"), "opt/drivers/libx.so.1"},
    {"under another name", "file usr/lib/libx.so\n", "usr/lib/libx.so"},
    {"not to be read", DEBIAN "refuse etc/ld.so.conf.d/a.conf EACCES\n", NULL},
};

static void test_find(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[1024];
        char error[200] = "";
        char path[64] = "";
        struct gtel_tree *tree;
        struct gtel_env env;
        test_label = cases[i].label;
        (void)snprintf(text, sizeof(text), "%send\n", cases[i].text);
        if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0)) {
            printf("    %s\n", error);
            continue;
        }
        CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
        CHECK_INT(gtel_library_find(&env, names, path, sizeof(path)), cases[i].want != NULL);
        CHECK_STR(gtel_str_of(path), cases[i].want ? cases[i].want : "");
        CHECK(!gtel_library_find(&env, names, path, 8)); /* too long for it */
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* ---- opening it ---- */

struct opener {
    const struct gtel_env_ops *real;
    void *arg;
    char opened[64];
};

/* The cache of ldconfig does not have it: only its path opens it. */
static int open_by_path(void *arg, const char *const *sonames, void **ret)
{
    struct opener *opener = arg;
    if (strcmp(sonames[0], "/opt/b/lib/libx.so.1") != 0)
        return -ENOENT;
    (void)gtel_str_copy(opener->opened, sizeof(opener->opened), gtel_str_of(sonames[0]));
    *ret = opener;
    return 0;
}

static void close_it(void *arg, void *lib)
{
    CHECK(arg == lib);
}

static int exists(void *arg, const char *path)
{
    const struct opener *opener = arg;
    return opener->real->exists(opener->arg, path);
}

static int file_open(void *arg, const char *path)
{
    const struct opener *opener = arg;
    return opener->real->file_open(opener->arg, path);
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    const struct opener *opener = arg;
    return opener->real->file_read(opener->arg, handle, buf, n);
}

static void file_close(void *arg, int handle)
{
    const struct opener *opener = arg;
    opener->real->file_close(opener->arg, handle);
}

static void test_open(void)
{
    static const char text[] = CONF("/opt/b/lib") FILE_OF("opt/b/lib") "end\n";
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env real;
    struct gtel_dynlib dynlib = {0};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0))
        return;
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &real), 0);
    struct opener opener = {.real = real.ops, .arg = real.arg};
    const struct gtel_env_ops ops = {.file_open = file_open,
                                     .file_read = file_read,
                                     .file_close = file_close,
                                     .exists = exists,
                                     .lib_open = open_by_path,
                                     .lib_close = close_it};
    const struct gtel_env env = {.ops = &ops, .arg = &opener};
    CHECK_INT(gtel_dynlib_open(&env, &dynlib, names, NULL, 0, NULL), 0);
    CHECK_STR(gtel_str_of(opener.opened), "/opt/b/lib/libx.so.1");
    gtel_dynlib_close(&env, &dynlib);
    gtel_env_tree_done(&real);
    gtel_tree_free(tree);
}

/* A library that has what its name says: "gone" is no call of it. */
static void *symbol(void *arg, void *lib, const char *name)
{
    CHECK(arg == lib);
    return strcmp(name, "gone") == 0 ? NULL : arg;
}

static int open_plainly(void *arg, const char *const *sonames, void **ret)
{
    (void)sonames;
    *ret = arg;
    return 0;
}

static void drop_log(void *arg, enum gtel_log_level level, const char *text)
{
    unsigned *logs = arg;
    CHECK(level == GTEL_LOG_WARNING && strstr(text, "has no gone") != NULL);
    ++*logs;
}

/* All or nothing: without a call that is needed, no pointer is left. */
static void test_table(void)
{
    static const struct gtel_dynlib_symbol symbols[] = {
        {"first", 0, true}, {"gone", sizeof(void *), true}, {"last", 2 * sizeof(void *), false}};
    static const struct gtel_dynlib_symbol optional[] = {
        {"first", 0, true}, {"gone", sizeof(void *), false}, {"last", 2 * sizeof(void *), true}};
    const struct gtel_env_ops ops = {
        .lib_open = open_plainly, .lib_symbol = symbol, .lib_close = close_it};
    unsigned logs = 0;
    struct gtel_env env = {.ops = &ops, .log = {drop_log, &logs}};
    struct gtel_dynlib dynlib = {0};
    void *table[3] = {NULL};
    env.arg = &env;
    test_label = "table";
    CHECK_INT(gtel_dynlib_open(&env, &dynlib, names, symbols, 3, table), -ENOSYS);
    CHECK(!dynlib.lib && !table[0] && !table[1] && !table[2]);
    CHECK_INT(logs, 1);
    CHECK_INT(gtel_dynlib_open(&env, &dynlib, names, optional, 3, table), 0);
    CHECK(dynlib.lib && table[0] && !table[1] && table[2]);
    CHECK_INT(logs, 1);
    gtel_dynlib_close(&env, &dynlib);
}

int main(void)
{
    test_table();
    test_find();
    test_open();
    return test_result();
}
