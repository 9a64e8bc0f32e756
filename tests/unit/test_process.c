/* SPDX-License-Identifier: MIT */
/* Who a process is: texts of the kernel, recorded processes, and this one. */
#include "host/process.h"
#include "host/tree.h"
#include "parse/pid.h"
#include "test.h"

#include <errno.h>

/* Fields 3 to 21 of stat, and those behind field 22. */
#define BEFORE " S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 "
#define BEHIND " 1000 0 18446744073709551615 0 0 0"

static const struct {
    const char *label;
    const char *text;
    int rc;
    const char *name;
    uint64_t start;
} stat_cases[] = {
    {"plain", "42 (ffmpeg)" BEFORE "567" BEHIND, 0, "ffmpeg", 567},
    {"nothing behind the start", "42 (ffmpeg)" BEFORE "567\n", 0, "ffmpeg", 567},
    {"blanks", "42 (Web Content)" BEFORE "1" BEHIND, 0, "Web Content", 1},
    {"parentheses", "42 ((sd-pam))" BEFORE "1" BEHIND, 0, "(sd-pam)", 1},
    {"a name that looks like fields", "42 (a) S 1 2 (b)" BEFORE "9" BEHIND, 0, "a) S 1 2 (b", 9},
    {"a newline", "42 (a\nb)" BEFORE "9" BEHIND, 0, "a\nb", 9},
    {"no name", "42 ()" BEFORE "9" BEHIND, 0, "", 9},
    {"empty", "", -EINVAL, "", 0},
    {"not closed", "42 (a" BEFORE "9" BEHIND, -EINVAL, "", 0},
    {"not opened", "42 a)" BEFORE "9" BEHIND, -EINVAL, "", 0},
    {"closed before it opens", "42 )(" BEFORE "9" BEHIND, -EINVAL, "", 0},
    {"cut before the start", "42 (a)" BEFORE, -EINVAL, "", 0},
    {"nothing behind the name", "42 (a)", -EINVAL, "", 0},
    {"no number", "42 (a)" BEFORE "-9" BEHIND, -EINVAL, "", 0},
    {"the largest", "42 (a)" BEFORE "18446744073709551615" BEHIND, 0, "a", UINT64_MAX},
    {"too large", "42 (a)" BEFORE "18446744073709551616" BEHIND, -ERANGE, "", 0},
};

static const struct {
    const char *label;
    const char *text;
    int rc;
    uint32_t user;
} user_cases[] = {
    {"plain", "Name:\tx\nUid:\t1000\t1001\t1002\t1003\nGid:\t1\t2\t3\t4\n", 0, 1001},
    {"a name that holds the key", "Name:\tUid: 5 6\nUid:\t1\t2\t3\t4\n", 0, 2},
    {"the largest", "Uid:\t0\t4294967295\t0\t0", 0, UINT32_MAX},
    {"too large", "Uid:\t0\t4294967296\t0\t0", -EINVAL, 0},
    {"one number", "Uid:\t7\n", -EINVAL, 0},
    {"no number", "Uid:\t7\tx\n", -EINVAL, 0},
    {"no such line", "Name:\tx\n", -ENODATA, 0},
    {"empty", "", -ENODATA, 0},
};

static void test_parsers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(stat_cases); i++) {
        struct gtel_str name = GTEL_STR_NONE;
        uint64_t start = 0;
        test_label = stat_cases[i].label;
        CHECK_INT(gtel_pid_stat(gtel_str_of(stat_cases[i].text), &name, &start), stat_cases[i].rc);
        CHECK_STR(name, stat_cases[i].name);
        CHECK(start == stat_cases[i].start);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(user_cases); i++) {
        uint32_t user = 0;
        test_label = user_cases[i].label;
        CHECK_INT(gtel_pid_user(gtel_str_of(user_cases[i].text), &user), user_cases[i].rc);
        CHECK_INT(user, user_cases[i].user);
    }
    test_label = "";
}

static const char machine[] = "file proc/42/stat\n| 42 (ff\tmpeg)" BEFORE "567" BEHIND "\n"
                              "file proc/42/status\n| Name:\tffmpeg\n| Uid:\t0\t1000\t0\t0\n"
                              "file proc/43/stat\n| nonsense\n"
                              "file proc/43/status\n| Uid:\t0\t7\t0\t0\n"
                              "refuse proc/44/stat EACCES\n"
                              "end\n";

static void test_machine(void)
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200];
    struct gtel_process_who who = {0};
    uint64_t start = 0;
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    CHECK_INT(gtel_process_start(&env, 42, &start), 0);
    CHECK_INT(start, 567);
    CHECK_INT(gtel_process_start(&env, 1, &start), -ESRCH);
    CHECK_INT(gtel_process_start(&env, 43, &start), -EINVAL);
    CHECK_INT(gtel_process_start(&env, 44, &start), -EACCES);
    const uint32_t both = GTEL_WHO_NAME | GTEL_WHO_USER;
    CHECK_INT(gtel_process_who(&env, NULL, (struct gtel_process_id){42, 0}, both, &who), 0);
    CHECK_STR(gtel_str_of(who.name), "ff?mpeg");
    CHECK_STR(gtel_str_of(who.user), "1000");
    CHECK_INT(gtel_process_who(&env, NULL, (struct gtel_process_id){42, 567}, GTEL_WHO_USER, &who),
              0);
    CHECK_STR(gtel_str_of(who.name), "");
    /* Another process with that pid is not the one that was asked for. */
    CHECK_INT(gtel_process_who(&env, NULL, (struct gtel_process_id){42, 568}, both, &who), -ESRCH);
    CHECK_STR(gtel_str_of(who.user), "1000");
    CHECK_INT(gtel_process_who(&env, NULL, (struct gtel_process_id){43, 0}, both, &who), -EINVAL);
    CHECK_STR(gtel_str_of(who.name), "");
    CHECK_STR(gtel_str_of(who.user), "7");
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_parsers();
    test_machine();
    return test_result();
}
