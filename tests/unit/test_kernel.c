/* SPDX-License-Identifier: MIT */
/* What the running kernel is, and where it puts us. */
#include "host/kernel.h"
#include "recording/tree.h"
#include "harness/test.h"

static bool start(const char *text, struct gtel_tree **tree, struct gtel_env *env)
{
    char error[128];
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), tree, error, sizeof(error)) == 0))
        return false;
    if (CHECK(gtel_env_tree_init(*tree, true, 0, env) == 0))
        return true;
    gtel_tree_free(*tree);
    return false;
}

#define RELEASE(text) "file proc/sys/kernel/osrelease\n| " text "\n"
#define CPU(text) "file sys/devices/system/cpu/modalias\n| cpu:type:" text "\n"
#define UIDS(text) "file proc/self/uid_map\n| " text "\n"

static void test_release(void)
{
    static const struct {
        const char *label;
        const char *text;
        bool has;
        bool is_older; /* than 6.15 */
    } cases[] = {
        {"older", RELEASE("6.1.0-26-amd64") "end\n", true, true},
        {"the same", RELEASE("6.15.0") "end\n", true, false},
        {"newer", RELEASE("7.0.1") "end\n", true, false},
        {"none", "end\n", false, false},
        {"not Linux", RELEASE("six") "end\n", false, false},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree;
        struct gtel_env env;
        struct gtel_release release;
        test_label = cases[i].label;
        if (!start(cases[i].text, &tree, &env))
            continue;
        CHECK_INT(gtel_kernel_release(&env, &release), cases[i].has);
        CHECK_INT(gtel_kernel_is_older(&env, 6, 15), cases[i].is_older);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

static void test_place(void)
{
    static const struct {
        const char *label;
        const char *text;
        bool is_guest;
        bool is_nested;
    } cases[] = {
        {"nothing known", "end\n", false, false},
        {"the machine itself",
         CPU("x86,ven0000fam0006mod009A:feature:,0000,009E,01C0")
             UIDS("         0          0 4294967295") "end\n",
         false, false},
        {"a type or a model of that number is no feature", CPU("x86,009F:feature:,0000") "end\n",
         false, false},
        {"a virtual machine",
         CPU("x86,ven0000fam0006mod009A:feature:,0000,009E,009F,00A0")
             UIDS("0 0 4294967295") "end\n",
         true, false},
        {"at the end", CPU("x86,ven0000fam0006mod009A:feature:,0000,009F") "end\n", true, false},
        {"another architecture", CPU("aarch64:feature:,0000,009F") "end\n", false, false},
        {"a rootless container", UIDS("0 1000 1\n| 1 100000 65536") "end\n", false, true},
        {"no number is mapped", "file proc/self/uid_map\nend\n", false, true},
        {"two ranges", UIDS("0 0 4294967295\n| 4294967295 1 1") "end\n", false, true},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree;
        struct gtel_env env;
        test_label = cases[i].label;
        if (!start(cases[i].text, &tree, &env))
            continue;
        CHECK_INT(gtel_kernel_is_guest(&env), cases[i].is_guest);
        CHECK_INT(gtel_kernel_is_nested(&env), cases[i].is_nested);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* Groups of a user of a large directory: more than a page. */
#define GROUPS_7 " 2100000001 2100000002 2100000003 2100000004 2100000005 2100000006 2100000007"
#define GROUPS_56 GROUPS_7 GROUPS_7 GROUPS_7 GROUPS_7 GROUPS_7 GROUPS_7 GROUPS_7 GROUPS_7
#define GROUPS_392 GROUPS_56 GROUPS_56 GROUPS_56 GROUPS_56 GROUPS_56 GROUPS_56 GROUPS_56

static void test_capability(void)
{
    static const struct {
        const char *label;
        const char *text;
        unsigned bit;
        enum gtel_known want;
    } cases[] = {
        {"it has it", "file proc/self/status\n| CapEff:\t0000004000000000\nend\n", 38, GTEL_YES},
        {"only the next one", "file proc/self/status\n| CapEff:\t0000008000000000\nend\n", 38,
         GTEL_NO},
        {"the first one", "file proc/self/status\n| CapEff:\t0000000000000001\nend\n", 0, GTEL_YES},
        {"a user of many groups",
         "file proc/self/status\n| Groups:\t" GROUPS_392 "\n| CapEff:\t0000004000000000\nend\n", 38,
         GTEL_YES},
        {"no such line", "file proc/self/status\n| Name:\tx\nend\n", 38, GTEL_NOT_KNOWN},
        {"no such file", "end\n", 38, GTEL_NOT_KNOWN},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree;
        struct gtel_env env;
        test_label = cases[i].label;
        if (!start(cases[i].text, &tree, &env))
            continue;
        CHECK_INT(gtel_kernel_has_capability(&env, cases[i].bit), cases[i].want);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

int main(void)
{
    test_capability();
    test_release();
    test_place();
    return test_result();
}
