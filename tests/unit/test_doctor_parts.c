/* SPDX-License-Identifier: MIT */
/* Parts of `gtel doctor`: what is known of the machine and its user, and the advice at the end. */
#include "execd/doctor_fix.h"

#include "gtel.h"
#include "harness/test.h"
#include "recording/tree.h"

#include <stdlib.h>

/* ---- lines of text ---- */

#define TEN "123456789 "
#define FIFTY TEN TEN TEN TEN TEN
#define SIXTY FIFTY TEN
#define SEVENTY SIXTY TEN

/* The 80th column may be used, the next one not. */
static void test_wrap(void)
{
    static const struct {
        size_t at;
        size_t indent;
        const char *text;
        const char *want;
    } cases[] = {
        {0, 0, "", "\n"},
        {0, 0, " a  b\n c ", "a b c\n"},
        {0, 2, SEVENTY "1234567890 x", SEVENTY "1234567890\n  x\n"},
        {0, 2, SEVENTY "12345678 x", SEVENTY "12345678 x\n"},
        {0, 2, SEVENTY "123456789 x", SEVENTY "123456789\n  x\n"},
        {10, 4, SEVENTY "x", "123456789 " TEN TEN TEN TEN TEN "123456789\n    x\n"},
        {0, 70, SEVENTY "123456789 1234567890 x",
         SEVENTY "123456789\n" /* the words that follow begin in column 70 */
                 "                                                                      "
                 "1234567890\n"
                 "                                                                      x\n"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf out;
        gtel_buf_init(&out, 1000);
        test_label = cases[i].text;
        gtel_buf_wrap(&out, cases[i].at, cases[i].indent, gtel_str_of(cases[i].text));
        CHECK_STR(gtel_buf_text(&out), cases[i].want);
        gtel_buf_done(&out);
    }
    test_label = "";
}

/* ---- the machine ---- */

static void read_facts(const char *text, struct gtel_host_facts *ret)
{
    char error[200];
    struct gtel_tree *tree;
    struct gtel_env env;
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0))
        return;
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    gtel_host_facts_read(&env, ret);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

#define STATUS "file proc/self/status\n"
#define GROUP "file etc/group\n| root:x:0:\n| short\n| render:x:105:bob\n"

#define PLIST "file System/Library/CoreServices/SystemVersion.plist\n"

/* Bits of capability.h: 38 PERFMON, 21 SYS_ADMIN, 19 SYS_PTRACE, 12 NET_ADMIN. */
static const struct {
    const char *text;
    const char *want;
} hosts[] = {
    {"end\n", "  kernel        not known\n"
              "  perf events   kernel.perf_event_paranoid = not known\n"
              "  user          not known; in group render: not known\n"
              "  right unknown CAP_PERFMON CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_NET_ADMIN\n"},
    {"file proc/sys/kernel/osrelease\n| 6.12.1-x\nfile proc/sys/kernel/perf_event_paranoid\n| 3\n"
     "file proc/sys/kernel/x\n| 1\n" STATUS
     "| Name:\tgtel\n| UidX:\t7 7 7 7\n| Uid:\t1000\t1001\t1002\t1003\n| Groups:\t10 105 \n"
     "| CapEffX:\t0\n| CapEff:\t0000004000080000\n" GROUP "end\n",
     "  kernel        6.12.1-x\n"
     "  perf events   kernel.perf_event_paranoid = 3\n"
     "  user          uid 1001; in group render: yes\n"
     "  rights        CAP_PERFMON CAP_SYS_PTRACE\n"
     "  no right      CAP_SYS_ADMIN CAP_NET_ADMIN\n"},
    {STATUS "| Uid:\t1000 0\n| Groups:\t10 1050\n| CapEff:\t0000000000201000\n" GROUP "end\n",
     "  kernel        not known\n"
     "  perf events   kernel.perf_event_paranoid = not known\n"
     "  user          uid 0 (root); in group render: no\n"
     "  rights        CAP_SYS_ADMIN CAP_NET_ADMIN\n"
     "  no right      CAP_PERFMON CAP_SYS_PTRACE\n"},
    {STATUS "| Uid:\t1000\n| Groups:\t\n| CapEff:\t0\nfile etc/group\n| root:x:0:\nend\n",
     "  kernel        not known\n"
     "  perf events   kernel.perf_event_paranoid = not known\n"
     "  user          not known; in group render: no such group\n"
     "  no right      CAP_PERFMON CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_NET_ADMIN\n"},
    {STATUS "| Uid:\t1 2\n| Groups:\t105\n| CapEff:\tg\nend\n",
     "  kernel        not known\n"
     "  perf events   kernel.perf_event_paranoid = not known\n"
     "  user          uid 2; in group render: not known\n"
     "  right unknown CAP_PERFMON CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_NET_ADMIN\n"},
    /* Windows: nothing of Linux, even where a file of it should be there. */
    {STATUS "| Uid:\t1 2\nfile windows/system\n| Version: 10.0.26100\n| User: BOX\\user one\n"
            "| Administrator: no\nend\n",
     "  system        Windows, version 10.0.26100\n"
     "  user          BOX\\user one; administrator: no\n"},
    {"file windows/system\n| Users: x\nend\n", "  system        Windows, version not known\n"
                                               "  user          not known; administrator: not "
                                               "known\n"},
    {"file windows/system\nend\n", "  system        Windows, version not known\n"
                                   "  user          not known; administrator: not known\n"},
    /* macOS: the string behind its key, and no other one. */
    {PLIST "|   <key>ProductCopyright</key>\n|   <string>1983-2026</string>\n"
           "|   <key>ProductVersion</key>\n|   <string>15.3.1</string>\n"
           "|   <key>iOSSupportVersion</key>\n|   <string>18.3</string>\nend\n",
     "  system        macOS, version 15.3.1\n"},
    {PLIST "|   <key>ProductVersion</key>\n|   <true/>\n|   <string>15.3.1</string>\nend\n",
     "  system        macOS, version not known\n"},
    {"error System/Library/CoreServices/SystemVersion.plist EIO\nend\n",
     "  system        macOS, version not known\n"},
};

static void test_hosts(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(hosts); i++) {
        struct gtel_host_facts facts;
        struct gtel_buf out;
        test_label = hosts[i].text;
        gtel_buf_init(&out, 4000);
        read_facts(hosts[i].text, &facts);
        gtel_host_facts_write(&facts, &out);
        CHECK_STR(gtel_buf_text(&out), hosts[i].want);
        gtel_buf_done(&out);
    }
    test_label = "";
}

/* ---- advice ---- */

#define PERFMON "give the program CAP_PERFMON"
#define EITHER "give the program CAP_SYS_ADMIN (CAP_PERFMON since Linux 5.8)"
#define PTRACE "give the program CAP_SYS_PTRACE"
#define LEVEL "run sysctl kernel.perf_event_paranoid=2 and " PERFMON
#define LEVEL_ALONE "run sysctl kernel.perf_event_paranoid=2"
#define RENDER "add the user to the group render"
#define SERVICE(names) "AmbientCapabilities=" names "\\n'"
#define FILES(names) "setcap " names "+ep \"$gtel\"\n"
#define SYSCTL "sysctl kernel.perf_event_paranoid=2\n"
#define USERMOD "usermod -aG render telegraf"
#define USER(uid, caps) STATUS "| Uid:\t1000 " uid "\n| Groups:\t1\n| CapEff:\t" caps "\n"
#define RELEASE(text) "file proc/sys/kernel/osrelease\n| " text "\n"

static const struct {
    const char *label;
    const char *fix[3];
    const char *facts;
    const char *service; /* NULL: no rights are to be given */
    const char *files;
    bool has_sysctl;
    bool has_usermod;
} advice[] = {
    {"one right", {PERFMON}, USER("5", "0"), SERVICE("CAP_PERFMON"), FILES("cap_perfmon"), 0, 0},
    {"two, in the order of the kernel's rights",
     {PTRACE, PERFMON},
     USER("5", "0"),
     SERVICE("CAP_PERFMON CAP_SYS_PTRACE"),
     FILES("cap_perfmon,cap_sys_ptrace"),
     0,
     0},
    {"one that is there stays",
     {PTRACE},
     USER("5", "4000001000"),
     SERVICE("CAP_PERFMON CAP_SYS_PTRACE CAP_NET_ADMIN"),
     FILES("cap_perfmon,cap_sys_ptrace,cap_net_admin"),
     0,
     0},
    {"root's are not given",
     {PTRACE},
     USER("0", "4000001000"),
     SERVICE("CAP_SYS_PTRACE"),
     FILES("cap_sys_ptrace"),
     0,
     0},
    {"it is there", {PERFMON}, USER("5", "4000000000"), NULL, NULL, 0, 0},
    {"a package gives it to the service",
     {PERFMON},
     USER("5", "0") "file " GTEL_HOST_DROP_IN "\n| [Service]\n",
     SERVICE("CAP_PERFMON"),
     FILES("cap_perfmon"),
     0,
     0},
    {"a file of the administrator gives it to the service",
     {PERFMON},
     USER("5", "0") "file " GTEL_HOST_OWN_DROP_IN "\n| [Service]\n",
     SERVICE("CAP_PERFMON"),
     FILES("cap_perfmon"),
     0,
     0},
    {"it replaces that of a package",
     {PERFMON},
     USER("5", "0") "file " GTEL_HOST_OWN_DROP_IN "\n| [Service]\nfile " GTEL_HOST_DROP_IN
                    "\n| [Service]\n",
     SERVICE("CAP_PERFMON"),
     FILES("cap_perfmon"),
     0,
     0},
    {"a package gives it, and it is there",
     {PERFMON},
     USER("5", "4000000000") "file " GTEL_HOST_DROP_IN "\n| [Service]\n",
     NULL,
     NULL,
     0,
     0},
    {"either, a new kernel",
     {EITHER},
     USER("5", "0") RELEASE("5.8.0"),
     SERVICE("CAP_PERFMON"),
     FILES("cap_perfmon"),
     0,
     0},
    {"either, an old kernel",
     {EITHER},
     USER("5", "0") RELEASE("5.7.9"),
     SERVICE("CAP_SYS_ADMIN"),
     FILES("cap_sys_admin"),
     0,
     0},
    {"a setting beside it",
     {LEVEL},
     USER("5", "0"),
     SERVICE("CAP_PERFMON"),
     FILES("cap_perfmon"),
     1,
     0},
    {"a setting alone", {LEVEL_ALONE}, USER("5", "0"), NULL, NULL, 1, 0},
    {"the group", {RENDER}, USER("5", "0"), NULL, NULL, 0, 1},
    {"the group, which it has",
     {RENDER},
     USER("5", "0") "file etc/group\n| render:x:1:\n",
     NULL,
     NULL,
     0,
     0},
    {"the group, and a right",
     {RENDER, PTRACE},
     USER("5", "0"),
     SERVICE("CAP_SYS_PTRACE"),
     FILES("cap_sys_ptrace"),
     0,
     1},
    {"all",
     {RENDER, PTRACE, LEVEL},
     USER("5", "0"),
     SERVICE("CAP_PERFMON CAP_SYS_PTRACE"),
     FILES("cap_perfmon,cap_sys_ptrace"),
     1,
     1},
    {"nothing with a command", {"use Linux 6.17 or newer"}, USER("5", "0"), NULL, NULL, 0, 0},
};

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* Commands that are joined by a line "and". */
static void check_commands(size_t i, const char *text)
{
    size_t parts = (advice[i].service ? 1u : 0u) + advice[i].has_sysctl + advice[i].has_usermod;
    CHECK_INT(count(text, "How, as root"), parts > 0);
    CHECK_INT(count(text, "\\nAmbientCapabilities"), advice[i].service != NULL);
    CHECK_INT(count(text, "setcap"), advice[i].files != NULL);
    CHECK(!advice[i].service || strstr(text, advice[i].service));
    CHECK(!advice[i].files || strstr(text, advice[i].files));
    CHECK_INT(count(text, "  " SYSCTL "  echo kernel.perf_event_paranoid=2 > /etc/sysctl.d"),
              advice[i].has_sysctl);
    CHECK_INT(count(text, USERMOD), advice[i].has_usermod);
    bool is_own = strstr(advice[i].facts, GTEL_HOST_OWN_DROP_IN) != NULL;
    CHECK_INT(count(text, "/" GTEL_HOST_DROP_IN ".\ngtel-processes.conf"),
              advice[i].service && !is_own && strstr(advice[i].facts, GTEL_HOST_DROP_IN));
    CHECK_INT(count(text, "rights that /" GTEL_HOST_OWN_DROP_IN "\ngives it"),
              advice[i].service && is_own);
    CHECK_INT(count(text, "\nand\n"), advice[i].service ? parts - 1 : 0);
}

static void test_commands(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(advice); i++) {
        struct gtel_doctor_fixes fixes = {.n = 0};
        struct gtel_host_facts facts;
        struct gtel_buf out;
        char text[1000];
        test_label = advice[i].label;
        (void)snprintf(text, sizeof(text), "%send\n", advice[i].facts);
        read_facts(text, &facts);
        for (size_t k = 0; k < 3 && advice[i].fix[k]; k++)
            CHECK_INT(gtel_doctor_fixes_text(&fixes, gtel_str_of(advice[i].fix[k]), "it"), k + 1);
        gtel_buf_init(&out, 10000);
        gtel_doctor_fixes_write(&fixes, &facts, false, &out);
        gtel_buf_char(&out, '\0');
        check_commands(i, out.p);
        gtel_buf_done(&out);
        gtel_doctor_fixes_done(&fixes);
    }
    test_label = "";
}

/* What root may read is not what the agent may read. */
static void test_root(void)
{
    static const struct {
        const char *label;
        enum gtel_host_system system;
        uint64_t uid;
        bool has_command;
    } cases[] = {{"root", GTEL_HOST_LINUX, 0, true},
                 {"another user", GTEL_HOST_LINUX, 990, false},
                 {"not known", GTEL_HOST_LINUX, UINT64_MAX, false},
                 {"a Mac", GTEL_HOST_MAC, 0, false},
                 {"Windows", GTEL_HOST_WINDOWS, 0, false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        for (size_t n = 0; n < 4; n++) {
            struct gtel_doctor_fixes fixes = {.n = 0};
            struct gtel_host_facts facts = {.system = cases[i].system, .uid = cases[i].uid};
            struct gtel_buf out;
            bool is_script = n % 2 == 1;
            test_label = cases[i].label;
            if (n >= 2)
                (void)gtel_doctor_fixes_text(&fixes, GTEL_STR("one"), "it");
            gtel_buf_init(&out, 10000);
            gtel_doctor_fixes_write(&fixes, &facts, is_script, &out);
            gtel_buf_char(&out, '\0');
            CHECK_INT(count(out.p, is_script ? "\n#   sudo systemd-run --pipe --uid=telegraf"
                                             : "\n  sudo systemd-run --pipe --uid=telegraf"),
                      cases[i].has_command);
            gtel_buf_done(&out);
            gtel_doctor_fixes_done(&fixes);
        }
    test_label = "";
}

/* Advice is given once, with all that it is good for, each of it once. */
static void test_list(void)
{
    static const struct gtel_device device = {.key = "0000:03:00.0"};
    const struct gtel_finding findings[] = {
        {.measurement = GTEL_MEASUREMENT_GPU_FAN, .device = &device, .fix = GTEL_STR_INIT("one")},
        {.measurement = GTEL_MEASUREMENT_GPU_FAN, .device = &device, .fix = GTEL_STR_INIT("two")},
        {.measurement = GTEL_MEASUREMENT_GPU_FAN, .device = &device, .fix = GTEL_STR_INIT("one")},
        {.measurement = GTEL_MEASUREMENT_GPU_FAN, .device = &device, .fix = GTEL_STR_INIT("")},
        {.measurement = GTEL_MEASUREMENT_GPU_ENGINE, .fix = GTEL_STR_INIT("one")}};
    static const size_t numbers[] = {1, 2, 1, 0, 1};
    struct gtel_doctor_fixes fixes = {.n = 0};
    struct gtel_host_facts facts = {.uid = 1};
    struct gtel_buf out;
    char want[300];
    gtel_buf_init(&out, 10000);
    gtel_doctor_fixes_write(&fixes, &facts, false, &out);
    CHECK_STR(gtel_buf_text(&out), "\nNothing is missing that could be fixed.\n");
    gtel_buf_reset(&out);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(findings); i++)
        CHECK_INT(gtel_doctor_fixes_add(&fixes, &findings[i]), numbers[i]);
    gtel_doctor_fixes_write(&fixes, &facts, false, &out);
    (void)snprintf(want, sizeof(want),
                   "\nWhat can be fixed\n"
                   "  [1] for gpu_fan of 0000:03:00.0, gpu_engine of all GPUs of %s\n      one\n"
                   "  [2] for gpu_fan of 0000:03:00.0\n      two\n",
                   gtel_sources[0]->name);
    CHECK_STR(gtel_buf_text(&out), want);
    gtel_buf_done(&out);
    gtel_doctor_fixes_done(&fixes);
    CHECK_INT(fixes.n, 0);
}

/* Both parts of an item may use the 80th column, and go on below their beginning. */
static void test_item(void)
{
    static const struct {
        const char *brings;
        const char *fix;
        const char *want;
    } cases[] = {
        {SIXTY "1234567890", SIXTY TEN "1234",
         "  [1] for " SIXTY "1234567890\n      " SIXTY TEN "1234\n"},
        {SIXTY "1234567890 x", SIXTY TEN "1234 x",
         "  [1] for " SIXTY "1234567890\n      x\n      " SIXTY TEN "1234\n      x\n"},
        {SIXTY "12345678901", SIXTY TEN "12345",
         "  [1] for " FIFTY "123456789\n      12345678901\n      " SIXTY "123456789\n"
         "      12345\n"},
    };
    struct gtel_host_facts facts = {.uid = 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_doctor_fixes fixes = {.n = 0};
        struct gtel_buf out;
        test_label = cases[i].want;
        gtel_buf_init(&out, 10000);
        CHECK_INT(gtel_doctor_fixes_text(&fixes, gtel_str_of(cases[i].fix), cases[i].brings), 1);
        gtel_doctor_fixes_write(&fixes, &facts, false, &out);
        CHECK(gtel_str_has(gtel_buf_text(&out), gtel_str_of(cases[i].want)));
        gtel_buf_done(&out);
        gtel_doctor_fixes_done(&fixes);
    }
    test_label = "";
}

/*
 * Lines of advice behind the first are commands, of some programs and without a shell's signs;
 * after "or:" they are another way and stay comments.
 */
static const struct {
    const char *fix;
    const char *lines; /* what stands behind the comment of the advice */
} scripts[] = {
    {"load it:\nmodprobe a", "modprobe a\n"},
    {"modprobe a", ""},
    {"use both:\nmodprobe a\nchmod a+r /sys/b*/c", "modprobe a\nchmod a+r /sys/b*/c\n"},
    {"be root; or:\nsysctl a.b=0", "# sysctl a.b=0\n"},
    {"hostile:\nrm -r /", ""},
    {"hostile:\necho 1 > /sys/$(reboot)/x", ""},
    {"hostile:\necho `reboot`", ""},
    {"hostile:\necho a; reboot", ""},
    {"hostile:\necho a && reboot", ""},
    {"hostile:\necho a | sh", ""},
    {"hostile:\necho 'a", ""},
    {"hostile:\necho \"a", ""},
    {"hostile:\necho a \\", ""},
    {"hostile:\nechoes 1", ""},
};

#define HEAD                                                                                       \
    "#!/bin/sh\n"                                                                                  \
    "# What gtel doctor would fix on this machine. Nothing of it has been run: read it,\n"         \
    "# remove what you do not want, and run it as root. For collectd, write collectd for\n"        \
    "# telegraf.\nset -eu\n"

static void test_script(void)
{
    struct gtel_host_facts facts = {.uid = 1};
    struct gtel_buf out;
    gtel_buf_init(&out, 10000);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(scripts); i++) {
        struct gtel_doctor_fixes fixes = {.n = 0};
        struct gtel_str rest = gtel_str_of(scripts[i].fix);
        char want[700] = HEAD "\n#  [1] for a fan\n#     ";
        struct gtel_str word;
        test_label = scripts[i].fix;
        while (gtel_str_word(&rest, &word))
            (void)snprintf(want + strlen(want), sizeof(want) - strlen(want), " %.*s",
                           GTEL_STR_ARG(word));
        (void)snprintf(want + strlen(want), sizeof(want) - strlen(want), "\n%s", scripts[i].lines);
        (void)gtel_doctor_fixes_text(&fixes, gtel_str_of(scripts[i].fix), "a fan");
        gtel_buf_reset(&out);
        gtel_doctor_fixes_write(&fixes, &facts, true, &out);
        CHECK_STR(gtel_buf_text(&out), want);
        gtel_doctor_fixes_done(&fixes);
    }
    test_label = "";
    const struct gtel_doctor_fixes none = {.n = 0};
    gtel_buf_reset(&out);
    gtel_doctor_fixes_write(&none, &facts, true, &out);
    CHECK_STR(gtel_buf_text(&out), "#!/bin/sh\n# There is nothing that gtel knows how to fix.\n");
    gtel_buf_done(&out);
}

/* Of what it is good for, what fits in 600 characters; of advice, 64 pieces. */
static void test_limits(void)
{
    struct gtel_doctor_fixes fixes = {.n = 0};
    char text[GTEL_DOCTOR_FIXES_MAX + 2][16];
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(text[0], sizeof(text[0]), "gpu_fan of %03u", i);
        CHECK_INT(gtel_doctor_fixes_text(&fixes, GTEL_STR("advice"), text[0]), 1);
    }
    struct gtel_str brings = gtel_buf_text(&fixes.brings[0]);
    CHECK_INT(brings.n, 37 * 16 - 2); /* 14 characters, and ", " between them: no 38th */
    CHECK_STR(gtel_str_skip(brings, brings.n - 16), ", gpu_fan of 036");
    for (size_t i = 1; i < GTEL_DOCTOR_FIXES_MAX + 2; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "advice %zu", i);
        size_t number = gtel_doctor_fixes_text(&fixes, gtel_str_of(text[i]), "x");
        CHECK_INT(number, i < GTEL_DOCTOR_FIXES_MAX ? i + 1 : 0);
    }
    CHECK_INT(gtel_doctor_fixes_text(&fixes, GTEL_STR("advice 63"), "y"), 64);
    gtel_doctor_fixes_done(&fixes);
}

int main(void)
{
    test_wrap();
    test_hosts();
    test_commands();
    test_list();
    test_root();
    test_item();
    test_script();
    test_limits();
    return test_result();
}
