/* SPDX-License-Identifier: MIT */
/* Small files, the ends of links, and the order of names. */
#include "host/fs.h"
#include "host/numbers.h"
#include "harness/env_fault.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env; /* of the tree */
    struct env_fault fault;
};

static bool open_machine(struct machine *machine, const char *text)
{
    char error[200];
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(machine->tree, true, 0, &machine->env) == 0))
        return false;
    env_fault_init(&machine->fault, &machine->env);
    return true;
}

static void close_machine(struct machine *machine)
{
    CHECK_INT(machine->fault.open_files, 0);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

static const char files[] =
    "file empty\nfile blanks\n|  12 \n|\n"
    "file seven\n| 7\nfile minus\n| -7\nfile hex\n| 0x80ff\nfile word\n| x\n"
    "file longest\n| 000000000000000000000000000012\n"
    "file longer\n| 0000000000000000000000000000012\n"
    "file broken\n| 1\nerror broken EIO\nend\n";

static void test_numbers(void)
{
    static const struct {
        const char *path;
        int rc[3]; /* as a number, with a sign, as a hexadecimal one */
        int64_t want[3];
    } cases[] = {
        {"seven", {0, 0, 0}, {7, 7, 7}},
        {"minus", {-EINVAL, 0, -EINVAL}, {99, -7, 99}},
        {"hex", {-EINVAL, -EINVAL, 0}, {99, 99, 0x80ff}},
        {"blanks", {0, 0, 0}, {12, 12, 0x12}},
        {"longest", {0, 0, 0}, {12, 12, 0x12}},
        {"longer", {-E2BIG, -E2BIG, -E2BIG}, {99, 99, 99}},
        {"word", {-EINVAL, -EINVAL, -EINVAL}, {99, 99, 99}},
        {"empty", {-EINVAL, -EINVAL, -EINVAL}, {99, 99, 99}},
        {"none", {-ENOENT, -EBADF, -ENOENT}, {99, 99, 99}},
        {"broken", {-EIO, -EIO, -EIO}, {99, 99, 99}},
    };
    struct machine machine;
    if (!open_machine(&machine, files))
        return;
    const struct gtel_env *env = &machine.fault.env;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_fs_file file = {0};
        uint64_t number = 99;
        uint64_t kept = 99;
        int64_t with_sign = 99;
        uint64_t hex = 99;
        test_label = cases[i].path;
        CHECK_INT(gtel_fs_u64(env, cases[i].path, &number), cases[i].rc[0]);
        CHECK_INT(number, cases[i].want[0]);
        CHECK_INT(gtel_fs_hex(env, cases[i].path, &hex), cases[i].rc[2]);
        CHECK_INT(hex, cases[i].want[2]);
        (void)gtel_fs_open(env, &file, cases[i].path);
        CHECK_INT(gtel_fs_read_i64(env, &file, &with_sign), cases[i].rc[1]);
        CHECK_INT(with_sign, cases[i].want[1]);
        if (gtel_fs_is_open(&file))
            CHECK_INT(gtel_fs_read_u64(env, &file, &kept), cases[i].rc[0]);
        CHECK_INT(kept, cases[i].want[0]);
        gtel_fs_close(env, &file);
        CHECK(!gtel_fs_is_open(&file));
        CHECK_INT(gtel_fs_read_u64(env, &file, &kept), -EBADF);
        gtel_fs_close(env, &file); /* twice is no harm */
        CHECK_INT(gtel_fs_exists(env, cases[i].path), cases[i].rc[0] != -ENOENT);
    }
    test_label = "";
    close_machine(&machine);
}

/* One byte less than the room, and as many. */
static void test_sizes(void)
{
    char buf[8];
    struct gtel_str text = GTEL_STR_NONE;
    struct machine machine;
    test_label = "sizes";
    if (!open_machine(&machine, "file a\n| abc\nend\n"))
        return;
    const struct gtel_env *env = &machine.fault.env;
    CHECK_INT(gtel_fs_text(env, "a", buf, 5, &text), 0);
    CHECK_STR(text, "abc");
    CHECK_INT(gtel_fs_text(env, "a", buf, 4, &text), -E2BIG); /* with its newline */
    struct gtel_fs_file file = {0};
    CHECK_INT(gtel_fs_open(env, &file, "a"), 0);
    CHECK_INT(gtel_fs_read_bytes(env, &file, buf, 5, &text), 0);
    CHECK_STR(text, "abc\n");
    gtel_fs_close(env, &file);
    close_machine(&machine);
    test_label = "";
}

/* One that is not there, that cannot be opened, that can, and that is open already. */
static void test_optional(void)
{
    struct machine machine;
    struct gtel_fs_file file = {0};
    test_label = "optional";
    if (!open_machine(&machine, "file a\n| 1\nend\n"))
        return;
    const struct gtel_env *env = &machine.fault.env;
    CHECK_INT(gtel_fs_open_optional(env, &file, "none"), 0);
    env_fault_arm(&machine.fault, 1, -EACCES);
    CHECK_INT(gtel_fs_open_optional(env, &file, "a"), -EACCES);
    CHECK(!gtel_fs_is_open(&file));
    CHECK_INT(gtel_fs_open_optional(env, &file, "a"), 0);
    CHECK(gtel_fs_is_open(&file));
    CHECK_INT(gtel_fs_open_optional(env, &file, "none"), 0);
    CHECK_INT(machine.fault.open_files, 1);
    gtel_fs_close(env, &file);
    close_machine(&machine);
    test_label = "";
}

static void test_link_names(void)
{
    static const struct {
        const char *path;
        size_t size;
        int rc;
        const char *want;
    } cases[] = {
        {"far", 4, 0, "xe1"},     {"far", 3, -E2BIG, ""},   {"near", 8, 0, "x"},
        {"slash", 8, 0, "dir"},   {"root", 8, -EINVAL, ""}, {"none", 8, -ENOENT, ""},
        {"file", 8, -EINVAL, ""},
    };
    struct machine machine;
    if (!open_machine(&machine, "link far -> ../../bus/xe1\nlink near -> x\nlink slash -> a/dir/\n"
                                "link root -> /\nfile file\n| 1\nend\n"))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char buf[8];
        struct gtel_str name = GTEL_STR_NONE;
        test_label = cases[i].path;
        CHECK_INT(gtel_fs_link_name(&machine.fault.env, cases[i].path, buf, cases[i].size, &name),
                  cases[i].rc);
        CHECK_STR(name, cases[i].want);
    }
    test_label = "";
    close_machine(&machine);
}

/* Runs of digits by value, everything else by its bytes. */
static void test_order(void)
{
    static const char *const want[] = {
        "00b",     "0a",       "1",        "2b",       "10",       "99999999999999999999",
        "card",    "card0",    "card0-DP", "card01",   "card1",    "card2",
        "card2x3", "card10",   "card10-1", "card10-2", "card10-9", "card10a",
        "card11",  "\xc3\xa9",
    };
    struct machine machine;
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    test_label = "order";
    if (!open_machine(&machine,
                      "dir d/card10a\ndir d/card2x3\ndir d/card10-9\ndir d/card10-1\ndir d/2b\n"
                      "dir d/card01\ndir d/card1\ndir d/card0\ndir d/card\ndir d/card10\n"
                      "dir d/10\ndir d/1\ndir d/card11\ndir d/card2\ndir d/\xc3\xa9\n"
                      "dir d/00b\ndir d/0a\ndir d/99999999999999999999\ndir d/card10-2\n"
                      "dir d/card0-DP\nend\n"))
        return;
    const struct gtel_env *env = &machine.fault.env;
    CHECK_INT(gtel_fs_list(env, "d", &arena, 30, &names, &n), 0);
    CHECK_INT(n, GTEL_ARRAY_LEN(want));
    for (size_t i = 0; i < n && i < GTEL_ARRAY_LEN(want); i++)
        CHECK_STR(names[i], want[i]);
    CHECK_INT(gtel_fs_list(env, "d", &arena, 2, &names, &n), 0);
    CHECK_INT(n, 2); /* the others were dropped */
    CHECK_INT(gtel_fs_list(env, "none", &arena, 2, &names, &n), -ENOENT);
    gtel_arena_done(&arena);
    close_machine(&machine);
    test_label = "";
}

/* More numbers than there is room for at first, in order. */
static int next_number(void *arg, uint32_t number)
{
    uint32_t *last = arg;
    CHECK_INT(number, *last + 1);
    *last = number;
    return 0;
}

static void test_many_numbers(void)
{
    struct gtel_numbers numbers = {.first = 1};
    char name[16];
    uint32_t last = 0;
    test_label = "many numbers";
    for (unsigned i = 1000; i > 0; i--) {
        (void)snprintf(name, sizeof(name), "%u", i);
        CHECK_INT(gtel_numbers_add(&numbers, gtel_str_of(name)), 0);
    }
    CHECK_INT(gtel_numbers_each(&numbers, next_number, &last), 0);
    CHECK_INT(last, 1000);
    gtel_numbers_done(&numbers);
    test_label = "";
}

static void test_paths(void)
{
    char long_name[GTEL_FS_PATH_MAX];
    memset(long_name, 'x', sizeof(long_name));
    long_name[GTEL_FS_PATH_MAX - 2] = '\0';
    test_label = "paths";
    CHECK_STR(gtel_str_of(GTEL_FS_AT("%s/%d", "a", 7)), "a/7");
    CHECK_INT(strlen(GTEL_FS_AT("%s/", long_name)), GTEL_FS_PATH_MAX - 1);
    CHECK_STR(gtel_str_of(GTEL_FS_AT("%s/a", long_name)), "");
    test_label = "";
}

static void test_shortages(void)
{
    static const struct {
        int error;
        const char *want;
    } cases[] = {
        {-EMFILE, "this process has too many files open: raise LimitNOFILE= of the unit, or the "
                  "limit of the user (ulimit -n)"},
        {-ENFILE, "the host has too many files open: raise fs.file-max (sysctl)"},
        {-ENOMEM, "the host, or the container (memory.max, MemoryMax=), is out of memory"},
        {-EIO, ""},
        {0, ""},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        CHECK_STR(gtel_str_of(gtel_fs_shortage_fix(cases[i].error)), cases[i].want);
    struct machine machine;
    if (!open_machine(&machine, "end\n"))
        return;
    CHECK_INT(gtel_fs_shortage(&machine.env), 0); /* a recorded machine has none */
    close_machine(&machine);
}

int main(void)
{
    test_numbers();
    test_sizes();
    test_optional();
    test_link_names();
    test_order();
    test_many_numbers();
    test_paths();
    test_shortages();
    return test_result();
}
