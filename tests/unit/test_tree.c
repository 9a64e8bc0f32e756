/* SPDX-License-Identifier: MIT */
/* Recorded machines: the text, the state over time, and the env made of it. */
#include "base/buf.h"
#include "host/fs.h"
#include "recording/tree.h"
#include "recording/way.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    const char *label;
    const char *text;
    int rc;
    const char *error; /* part of the message */
} parse_cases[] = {
    {"empty machine", "end\n", 0, ""},
    {"no final newline", "dir a\nend", 0, ""},
    {"nothing", "", -EINVAL, "has been cut"},
    {"cut in the middle", "file a\n| 1\nfile b\n", -EINVAL, "has been cut"},
    {"text after end", "end\nfile a\n", -EINVAL, "line 2: text after end"},
    {"unknown word", "fiel a\nend\n", -EINVAL, "line 1: unknown word"},
    {"no path", "file\nend\n", -EINVAL, "a path is missing"},
    {"absolute path", "file /etc/passwd\nend\n", -EINVAL, "must be relative"},
    {"link without a target", "link a ->\nend\n", -EINVAL, "PATH -> TARGET"},
    {"link without an arrow", "link a b\nend\n", -EINVAL, "PATH -> TARGET"},
    {"grow without a rate", "grow a 1\nend\n", -EINVAL, "START PER_SECOND"},
    {"unknown error", "error a EWHAT\nend\n", -EINVAL, "line 1: not an error"},
    {"time without a unit is seconds", "at 1\nend\n", 0, ""},
    {"bad time", "at soon\nend\n", -EINVAL, "not a time"},
    {"times go back", "at 2s\nat 1s\nend\n", -EINVAL, "must grow"},
    {"wall too late", "dir a\nwall 5\nend\n", -EINVAL, "wall SECONDS"},
    {"call without an answer", "call f 0\nend\n", -EINVAL, "ANSWER"},
    {"query without an item", "query dev/dri/renderD128 xe\nend\n", -EINVAL, "NODE i915|xe ITEM"},
    {"query of another driver", "query dev/dri/renderD128 amdgpu 1\nend\n", -EINVAL,
     "NODE i915|xe ITEM"},
    {"query beyond 32 bits", "query a xe 4294967296\nend\n", -EINVAL, "NODE i915|xe ITEM"},
    {"query with a bad word", "query a xe 1\n| 4:1 4\nend\n", -EINVAL, "line 2: expected: | WID"},
    {"query with no answer", "query a xe 1\nend\n", 0, ""},
    {"query_error without an error", "query_error a xe 1\nend\n", -EINVAL, "not an error"},
    {"query_error without an item", "query_error a xe\nend\n", -EINVAL, "i915|xe ITEM ERROR"},
    {"char without numbers", "char proc/5/fd/3\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"char without a minor", "char proc/5/fd/3 226\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"char beyond 32 bits", "char a 226:4294967296\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"owner without a number", "owner proc/5 root\nend\n", -EINVAL, "PATH UID"},
    {"binary file with a bad word", "binary a\n| 2:120 x\nend\n", -EINVAL, "expected: | WIDTH"},
    {"binary file that is too long", "binary a\n| 8192:0\n| 1:0\nend\n", -EINVAL, "at most 8 KiB"},
    {"query with a counter", "query a xe 1\n| 4:1+1\nend\n", -EINVAL, "expected: | WIDTH"},
    {"a word alone", "at\nend\n", -EINVAL, "line 1: not a time"},
    {"the same time again", "at 0s\nat 0s\nend\n", 0, ""},
    {"wall without a number", "wall now\nend\n", -EINVAL, "wall SECONDS"},
    {"the last second of wall", "wall 9000000000\nend\n", 0, ""},
    {"wall beyond that", "wall 9000000001\nend\n", -EINVAL, "wall SECONDS"},
    {"library without a name", "library\nend\n", -EINVAL, "library NAME"},
    {"call without a name", "call = 1\nend\n", -EINVAL, "ANSWER"},
    {"call with a long answer", "call f = 1 = 2\nend\n", 0, ""},
    {"pmu without a number", "pmu a\nend\n", -EINVAL, "pmu NAME CONFIG START"},
    {"pmu with a bad number", "pmu a zz 1 2\nend\n", -EINVAL, "pmu NAME CONFIG START"},
    {"pmu without a start", "pmu a 0x1\nend\n", -EINVAL, "pmu NAME CONFIG START"},
    {"pmu without a rate", "pmu a 0x1 1\nend\n", -EINVAL, "pmu NAME CONFIG START"},
    {"pmu", "pmu a 0x1 1 2\nend\n", 0, ""},
    {"pmu_error without an error", "pmu_error a\nend\n", -EINVAL, "not an error"},
    {"pmu_error without a name", "pmu_error\nend\n", -EINVAL, "pmu_error NAME ERROR"},
    {"pmu_error that is none", "pmu_error a none\nend\n", 0, ""},
    {"query of i915", "query a i915 4294967295\nend\n", 0, ""},
    {"query with a word for an item", "query a xe b\nend\n", -EINVAL, "NODE i915|xe ITEM"},
    {"ras without a value", "ras a b c\nend\n", -EINVAL, "ras DEVICE NODE NAME VALUE"},
    {"ras without a name", "ras a b\nend\n", -EINVAL, "ras DEVICE NODE NAME VALUE"},
    {"ras with a bad value", "ras a b c d\nend\n", -EINVAL, "ras DEVICE NODE NAME VALUE"},
    {"ras with the largest value", "ras a b c 4294967295\nend\n", 0, ""},
    {"ras beyond 32 bits", "ras a b c 4294967296\nend\n", -EINVAL, "ras DEVICE"},
    {"uevent alone", "uevent\nend\n", -EINVAL, "uevent ACTION"},
    {"uevent without a path", "uevent change\nend\n", -EINVAL, "uevent ACTION"},
    {"uevent of a relative path", "uevent change a\nend\n", -EINVAL, "uevent ACTION"},
    {"uevent lost", "uevent lost\nend\n", 0, ""},
    {"uevent that is called so", "uevent lost /a\nend\n", 0, ""},
    {"uevents on", "uevents on\nend\n", 0, ""},
    {"uevents off", "uevents off\nend\n", -EINVAL, "not an error"},
    {"char at 32 bits", "char a 4294967295:4294967295\nend\n", 0, ""},
    {"char with a major beyond 32 bits", "char a 4294967296:1\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"char with a bad minor", "char a 226:x\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"owner at 32 bits", "owner proc/5 4294967295\nend\n", 0, ""},
    {"owner beyond 32 bits", "owner proc/5 4294967296\nend\n", -EINVAL, "PATH UID"},
    {"grow with a bad start", "grow a x 1\nend\n", -EINVAL, "START PER_SECOND"},
    {"grow with a bad rate", "grow a 1 x\nend\n", -EINVAL, "START PER_SECOND"},
    {"refuse without an error", "refuse a\nend\n", -EINVAL, "line 1: not an error"},
    {"comments and empty lines", "\n#x\n  \nend\n#y\n\n", 0, ""},
    {"char with a bad major", "char a x:226\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"char with three numbers", "char a 1:2:3\nend\n", -EINVAL, "MAJOR:MINOR"},
    {"content without a file", "| x\nend\n", -EINVAL, "unknown word"},
};

static void test_parse(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(parse_cases); i++) {
        struct gtel_tree *tree = NULL;
        char error[200] = "";
        test_label = parse_cases[i].label;
        int r = gtel_tree_parse(gtel_str_of(parse_cases[i].text), &tree, error, sizeof(error));
        CHECK_INT(r, parse_cases[i].rc);
        if (r < 0 && !CHECK(strstr(error, parse_cases[i].error) != NULL))
            printf("    %s\n", error);
        gtel_tree_free(tree);
    }
}

/* A file of somebody else, named by mistake or on purpose, is not repeated in a message. */
static void test_no_echo(void)
{
    static const char *const texts[] = {
        "SECRET",
        "SECRET=word\nend\n",
        "file /SECRET\nend\n",
        "at SECRET\nend\n",
        "error a SECRET\nend\n",
        "end\nSECRET\n",
        "ras_error SECRET\nend\n",
        "uevent SECRET\nend\n",
        "pmu_error a SECRET\nend\n",
        "call SECRET\nend\n",
        "query SECRET\nend\n",
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(texts); i++) {
        struct gtel_tree *tree = NULL;
        char error[200] = "";
        test_label = texts[i];
        CHECK_INT(gtel_tree_parse(gtel_str_of(texts[i]), &tree, error, sizeof(error)), -EINVAL);
        CHECK(strstr(error, "line ") != NULL);
        CHECK(!strstr(error, "SECRET"));
        gtel_tree_free(tree);
    }
}

/* Lines of a kind, before a last one that may be too much. */
static void check_limit(const char *label, const char *first, const char *line, size_t n,
                        const char *want)
{
    struct gtel_buf text;
    struct gtel_tree *tree = NULL;
    char error[200] = "";
    test_label = label;
    gtel_buf_init(&text, 64 << 20);
    gtel_buf_str(&text, gtel_str_of(first));
    for (size_t i = 0; i < n; i++)
        gtel_buf_printf(&text, line, (unsigned)i);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    CHECK(!text.has_failed);
    int r = gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error));
    CHECK_INT(r, want ? -EINVAL : 0);
    if (want)
        CHECK_STR(gtel_str_of(error), want);
    gtel_tree_free(tree);
    gtel_buf_done(&text);
}

/* A message has its action and its path twice, and a NUL behind each part and the whole. */
static void test_long_messages(void)
{
    char line[4200];
    int longest = 4095 - (int)sizeof("add@/d") - (int)sizeof("ACTION=add") -
                  (int)sizeof("DEVPATH=/d") - (int)sizeof("A=");
    for (int n = longest; n <= longest + 1; n++) {
        (void)snprintf(line, sizeof(line), "uevent add /d A=%0*d\n", n, 0);
        check_limit("a message", "", line, 1,
                    n == longest ? NULL : "line 1: more than 4096 bytes of a message");
    }
}

/* A machine that is too large says which limit it is, and in which line. */
static void test_limits(void)
{
    char names[600];
    char line[620];
    memset(names, 'x', sizeof(names) - 1);
    names[sizeof(names) - 1] = '\0';
    check_limit("content", "file a\n", "| %015u\n", 65536, NULL);
    check_limit("more content", "dir b\nfile a\n", "| %015u\n", 65537,
                "line 65539: more than 1048576 bytes of content");
    check_limit("changes", "", "dir a\n", 1 << 20, NULL);
    check_limit("more changes", "\n", "dir a\n", (1 << 20) + 1,
                "line 1048578: more than 1048576 changes of files, links and answers");
    check_limit("files", "", "dir %x\n", (1 << 19) - 1, NULL); /* and the root */
    check_limit("more files later", "dir a\nat 1s\n", "dir a/%x\n", 1 << 19,
                "line 524289: more than 524288 files, directories, links and answers");
    (void)snprintf(line, sizeof(line), "call %s = 1\n", names);
    check_limit("words of a call", "", line, 1, "line 1: more than 511 bytes of names in a line");
    (void)snprintf(line, sizeof(line), "library %s\n", names);
    check_limit("a name", "", line, 1, "line 1: more than 511 bytes of names in a line");
    /* With the blank or the prefix before it in what it becomes. */
    (void)snprintf(line, sizeof(line), "call f %.*s = 1\n", 508, names);
    check_limit("the longest words of a call", "", line, 1, NULL);
    (void)snprintf(line, sizeof(line), "call f %.*s = 1\n", 509, names);
    check_limit("longer words of a call", "", line, 1,
                "line 1: more than 511 bytes of names in a line");
    (void)snprintf(line, sizeof(line), "library %.*s\n", 502, names);
    check_limit("the longest name", "", line, 1, NULL);
    (void)snprintf(line, sizeof(line), "library %.*s\n", 503, names);
    check_limit("a longer name", "", line, 1, "line 1: more than 511 bytes of names in a line");
    for (int n = 504; n <= 505; n++) { /* a path is a word of it, too */
        (void)snprintf(line, sizeof(line), "owner %.*s 1\n", n, names);
        check_limit("an owner's path", "", line, 1,
                    n == 504 ? NULL : "line 1: more than 511 bytes of names in a line");
    }
    for (int n = 504; n <= 505; n++) {
        (void)snprintf(line, sizeof(line), "pmu %.*s 0xa 1 1\n", n, names);
        check_limit("the name of a PMU", "", line, 1,
                    n == 504 ? NULL : "line 1: more than 511 bytes of names in a line");
    }
    (void)snprintf(line, sizeof(line), "ras a %.*s b 1\n", 509, names);
    check_limit("a word between others", "", line, 1,
                "line 1: more than 511 bytes of names in a line");
    (void)snprintf(line, sizeof(line), "dir %.*s\n", 511, names);
    check_limit("the longest path", "", line, 1, NULL);
    (void)snprintf(line, sizeof(line), "dir %.*s\n", 512, names);
    check_limit("a longer path", "", line, 1,
                "line 1: a path must be relative and below 512 bytes");
    test_long_messages();
}

static const char machine[] = "# a card\n"
                              "wall 1000\n"
                              "link sys/class/drm/card0 -> ../../devices/pci/card0\n"
                              "link sys/devices/pci/card0/device -> ../\n"
                              "file sys/devices/pci/vendor\n"
                              "| 0x8086\n"
                              "file sys/devices/pci/two\n"
                              "| a\n"
                              "|  b\n"
                              "grow sys/devices/pci/energy 100 50.5\n"
                              "grow ticks 1000000 13440000\n"
                              "error sys/devices/pci/bad EIO\n"
                              "refuse sys/devices/pci/secret EACCES\n"
                              "link loop -> loop\n"
                              "library libx.so\n"
                              "call f  0   1 = 42 u32\n"
                              "at 2s\n"
                              "file sys/devices/pci/vendor\n"
                              "| 0x1002\n"
                              "gone sys/devices/pci/two\n"
                              "file sys/class/drm/card0/device/late\n"
                              "| 1\n"
                              "call f 0 1 = 43 u32\n"
                              "library libx.so gone\n"
                              "at 3s\n"
                              "gone sys/devices\n"
                              "end\n";

static void check_file(const struct gtel_env *env, const char *path, int rc, const char *want)
{
    char buf[64];
    struct gtel_str got;
    test_label = path;
    CHECK_INT(gtel_fs_text(env, path, buf, sizeof(buf), &got), rc);
    if (rc == 0)
        CHECK_STR(got, want);
}

static void test_states(struct gtel_tree *tree, struct gtel_env *env)
{
    struct gtel_str answer = GTEL_STR_NONE;
    check_file(env, "sys/class/drm/card0/device/vendor", 0, "0x8086");
    check_file(env, "sys/devices/pci/two", 0, "a\n b");
    check_file(env, "sys/devices/pci/energy", 0, "100");
    check_file(env, "sys/devices/pci/bad", -EIO, "");
    check_file(env, "sys/devices/pci/secret", -EACCES, "");
    check_file(env, "sys/devices/pci/none", -ENOENT, "");
    check_file(env, "loop", -ELOOP, "");
    check_file(env, "sys", -EISDIR, "");
    CHECK_INT(gtel_tree_call(tree, GTEL_STR("f 0 1"), &answer), 0);
    CHECK_STR(answer, "42 u32");
    CHECK(gtel_tree_has_library(tree, GTEL_STR("libx.so")));
    CHECK(!gtel_tree_has_library(tree, GTEL_STR("libx")));

    struct gtel_fs_file two = {0};
    CHECK_INT(gtel_fs_open(env, &two, "sys/devices/pci/two"), 0);
    gtel_env_tree_step(env, 1000000000);
    check_file(env, "sys/devices/pci/energy", 0, "150"); /* 150.5 is cut */
    gtel_env_tree_step(env, 1000000000);
    check_file(env, "sys/devices/pci/vendor", 0, "0x1002");
    check_file(env, "sys/devices/pci/late", 0, "1");
    check_file(env, "sys/devices/pci/two", -ENOENT, "");
    CHECK_INT(gtel_tree_call(tree, GTEL_STR("f 0 1"), &answer), 0);
    CHECK_STR(answer, "43 u32");
    CHECK(!gtel_tree_has_library(tree, GTEL_STR("libx.so")));
    char buf[8];
    struct gtel_str text;
    CHECK_INT(gtel_fs_read(env, &two, buf, sizeof(buf), &text), -ENODEV);
    gtel_fs_close(env, &two);
    CHECK(env->ops->wall_ns(env->arg) == 1002000000000u);

    gtel_env_tree_step(env, 1000000000);
    CHECK(!gtel_fs_exists(env, "sys/devices"));
    CHECK(!gtel_fs_exists(env, "sys/class/drm/card0/device/vendor"));
    gtel_env_tree_step(env, 1100000000);
    check_file(env, "ticks", 0, "56104000"); /* at 4.1 s, and none is lost to binary fractions */
    gtel_tree_seek(tree, 0);                 /* back to the beginning */
}

static void test_listing(struct gtel_tree *tree, struct gtel_env *env)
{
    (void)tree;
    struct gtel_arena arena = {0};
    struct gtel_str *names = NULL;
    size_t n = 0;
    test_label = "listing";
    CHECK_INT(gtel_fs_list(env, "list", &arena, 3, &names, &n), 0);
    CHECK_INT(n, 3);
    CHECK_INT(gtel_fs_list(env, "list", &arena, 10, &names, &n), 0);
    CHECK_STR(names[0], "card1");
    CHECK_STR(names[1], "card2");
    CHECK_STR(names[2], "card10");
    CHECK_STR(names[3], "card10-DP-1");
    CHECK_INT(gtel_fs_list(env, "nothing", &arena, 10, &names, &n), -ENOENT);
    gtel_arena_done(&arena);
}

static const char processes[] = "char proc/9/fd/3 226:4294967295\n"
                                "link proc/9/fd/0 -> other\n"
                                "owner proc/9 1000\n"
                                "link proc/10/fd/1 -> other\n"
                                "refuse proc/11/fd EACCES\n"
                                "link proc/11/fd/0 -> other\n"
                                "file proc/cpuinfo\n"
                                "| x\n"
                                "at 1s\n"
                                "gone proc/9\n"
                                "char proc/9/fd/3 226:128\n"
                                "owner proc/9 0\n"
                                "end\n";

struct seen {
    uint32_t number[8];
    size_t n;
    size_t stop_at; /* 0: never */
};

static int keep_number(void *arg, uint32_t number)
{
    struct seen *seen = arg;
    if (CHECK(seen->n < GTEL_ARRAY_LEN(seen->number)))
        seen->number[seen->n++] = number;
    return seen->n == seen->stop_at ? 7 : 0;
}

/* Ways as they are walked in recorded machines and in records of real ones. */
static int64_t follow(void *arg, const char *path, bool follows, char *buf)
{
    (void)arg;
    if (follows && path[0] == 'l') /* "l9" is a link to "l8", and so on; "l0" is none */
        return path[1] == '\0' || strcmp(path, "l0") == 0
                   ? 0
                   : snprintf(buf, GTEL_WAY_MAX, "l%lu", strtoul(path + 1, NULL, 10) - 1);
    return 0;
}

static void test_ways(void)
{
    static const struct {
        const char *label;
        const char *path;
        const char *to;
        int parts; /* "/." before it */
        int rc;
    } cases[] = {
        {"nothing", "", "", 0, 0},
        {"the root", "/", "", 0, 0},
        {"up from the root", "../../a", "a", 0, 0},
        {"up from a part of one letter", "a/..", "", 0, 0},
        {"up from the second part", "a/b/../c", "a/c", 0, 0},
        {"slashes and dots", "//a/./b//", "a/b", 0, 0},
        {"links", "l1", "l0", 0, 0},
        {"a link in another folder", "a/l1", "a/l1", 0, 0},
        {"as many links as are followed", "l16", "l0", 0, 0},
        {"one more", "l17", "l1", 0, -ELOOP},
        {"as many parts as are walked", "a", "a", 64, 0},
        {"one part more", "a", "", 65, -ENAMETOOLONG},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_way way = {.link = follow};
        struct gtel_buf path;
        test_label = cases[i].label;
        gtel_buf_init(&path, 1 << 10);
        for (int k = 0; k < cases[i].parts; k++)
            gtel_buf_str(&path, GTEL_STR("./"));
        gtel_buf_str(&path, gtel_str_of(cases[i].path));
        CHECK_INT(gtel_way_go(&way, gtel_buf_text(&path), true), cases[i].rc);
        CHECK_STR(gtel_str_of(way.path), cases[i].to);
        gtel_buf_done(&path);
    }
    static const char *const unfollowed[][2] = {{"l1", "l1"}, {"l1/b", "l0/b"}, {"a/l1", "a/l1"}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(unfollowed); i++) {
        struct gtel_way way = {.link = follow};
        test_label = "the last part is not followed";
        CHECK_INT(gtel_way_go(&way, gtel_str_of(unfollowed[i][0]), false), 0);
        CHECK_STR(gtel_str_of(way.path), unfollowed[i][1]);
    }
    CHECK_STR(gtel_way_parent(GTEL_STR("/a")), "");
    CHECK_STR(gtel_way_parent(GTEL_STR("a/b")), "a");
    /* The longest path: it and its NUL fit. */
    char text[GTEL_WAY_MAX + 2] = "a/";
    memset(text + 2, 'x', sizeof(text) - 3);
    for (size_t n = GTEL_WAY_MAX - 2; n <= GTEL_WAY_MAX; n++) {
        struct gtel_way way = {.link = follow};
        bool fits = n < GTEL_WAY_MAX;
        test_label = "a long path";
        CHECK_INT(gtel_way_go(&way, (struct gtel_str){text, n}, true), fits ? 0 : -ENAMETOOLONG);
        CHECK_INT(way.n, fits ? n : 1);
    }
    test_label = "";
}

static void test_numbers(const struct gtel_env *env)
{
    struct seen seen = {.n = 0};
    CHECK_INT(env->ops->dir_list_from(env->arg, "proc", 0, keep_number, &seen), 0);
    CHECK(seen.n == 3 && seen.number[0] == 9 && seen.number[1] == 10 && seen.number[2] == 11);
    seen = (struct seen){.stop_at = 1};
    CHECK_INT(env->ops->dir_list_from(env->arg, "proc", 10, keep_number, &seen), 7);
    CHECK(seen.n == 1 && seen.number[0] == 10);
    CHECK_INT(env->ops->dir_list_from(env->arg, "proc/8/fd", 0, keep_number, &seen), -ENOENT);
    CHECK_INT(env->ops->dir_list_from(env->arg, "proc/11/fd", 0, keep_number, &seen), -EACCES);
}

static void test_processes(struct gtel_tree *tree, struct gtel_env *env)
{
    (void)tree;
    test_label = "processes";
    struct gtel_stat st = {0};
    struct gtel_stat later = {0};
    test_numbers(env);
    CHECK_INT(env->ops->stat(env->arg, "proc/9/fd/3", &st), 0);
    CHECK(st.is_char && st.major == 226 && st.minor == UINT32_MAX && st.uid == 0);
    CHECK_INT(env->ops->stat(env->arg, "proc/9/fd/0", &st), -ENOENT);
    CHECK_INT(env->ops->file_open(env->arg, "proc/9/fd/3"), -ENXIO);
    CHECK_INT(env->ops->stat(env->arg, "proc/11/fd", &st), 0);
    CHECK(st.size == 1);
    CHECK_INT(env->ops->stat(env->arg, "proc/cpuinfo", &st), 0);
    CHECK(st.size == 2 && !st.is_char);
    CHECK_INT(env->ops->stat(env->arg, "proc/9", &st), 0);
    CHECK(st.uid == 1000);
    CHECK_INT(env->ops->stat(env->arg, "proc/9/fd", &st), 0);
    CHECK(st.size == 2 && !st.is_char && st.uid == 0);
    CHECK(env->ops->stat(env->arg, "proc/9/fd", &later) == 0 && later.ino == st.ino);
    int dir = gtel_env_dir_open(env, "proc/9/fd");
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "", &later), 0);
    CHECK(later.size == 2 && later.ino == st.ino);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "3", &later), 0);
    CHECK(later.is_char && later.major == 226);
    CHECK_INT(gtel_env_dir_open(env, "proc/8/fd"), -ENOENT);
    gtel_env_tree_step(env, 1000000000);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "", &later), -ENOENT);
    CHECK_INT(env->ops->dir_stat(env->arg, dir, "3", &later), -ENOENT);
    env->ops->dir_close(env->arg, dir);
    CHECK_INT(env->ops->stat(env->arg, "proc/9/fd", &later), 0);
    CHECK(later.size == 1 && later.ino != st.ino);
    CHECK(env->ops->stat(env->arg, "proc/9", &st) == 0 && st.uid == 0);
    CHECK(env->ops->stat(env->arg, "proc/9/fd/3", &st) == 0 && st.minor == 128);
}

static void with_machine(const char *text, void (*test)(struct gtel_tree *, struct gtel_env *))
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200] = "";
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return;
    }
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    test(tree, &env);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* Bytes are what their words say at the time of the read; another state starts counters again. */
static void test_binary(struct gtel_tree *tree, struct gtel_env *env)
{
    static const unsigned char want[][6] = {{0x78, 0, 1, 3, 254, 255},
                                            {0x78, 0, 1, 3, 3, 0}, /* turned */
                                            {0x78, 0, 1, 3, 7, 0}};
    unsigned char bytes[16];
    (void)tree;
    test_label = "binary";
    int handle = env->ops->file_open(env->arg, "table");
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        CHECK_INT(env->ops->file_read(env->arg, handle, bytes, sizeof(bytes)), 6);
        CHECK(memcmp(bytes, want[i], 6) == 0);
        CHECK_INT(env->ops->file_read(env->arg, handle, bytes, 4), 4); /* cut */
        gtel_env_tree_step(env, 2000000000);
    }
    CHECK_INT(env->ops->file_read(env->arg, handle, bytes, sizeof(bytes)), -EIO);
    env->ops->file_close(env->arg, handle);
}

/* Listeners to messages: as many as there is room for, and room again after one has ended. */
static void test_listeners(void)
{
    char message[256];
    char error[200];
    int handle[5];
    struct gtel_tree *tree;
    struct gtel_env env;
    test_label = "listeners";
    if (!CHECK(gtel_tree_parse(GTEL_STR("uevents on\nend\n"), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    for (int i = 0; i < 5; i++)
        handle[i] = env.ops->uevent_open(env.arg);
    CHECK(handle[3] >= 0);
    CHECK_INT(handle[4], -EMFILE);
    env.ops->uevent_close(env.arg, handle[2]);
    CHECK_INT(env.ops->uevent_read(env.arg, handle[2], message, sizeof(message)), -EBADF);
    CHECK_INT(env.ops->uevent_open(env.arg), handle[2]);
    for (int i = 0; i < 4; i++)
        env.ops->uevent_close(env.arg, handle[i]);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    test_label = "";
}

int main(void)
{
    test_parse();
    test_no_echo();
    test_limits();
    test_ways();
    test_listeners();
    with_machine(machine, test_states);
    with_machine(processes, test_processes);
    with_machine("binary table\n| 2:0x78 1:1 1:3\n| 2:65534+2.5\nat 4s\nbinary table\n"
                 "| 2:120 1:1 1:3 2:7+100\nat 5s\nerror table EIO\nend\n",
                 test_binary);
    with_machine("dir list/card10\ndir list/card2\ndir list/card1\ndir list/card10-DP-1\nend\n",
                 test_listing);
    return test_result();
}
