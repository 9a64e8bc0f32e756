/* SPDX-License-Identifier: MIT */
/* Who a process is: texts of the kernel, recorded processes, and this one. */
#include "base/buf.h"
#include "harness/alloc_fault.h"
#include "harness/env_fault.h"
#include "host/fs.h"
#include "host/process.h"
#include "host/slurm.h"
#include "recording/tree.h"
#include "parse/proc.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    uint32_t user;
    int rc;
    const char *name;
} passwd_cases[] = {
    {"first", "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/:\n", 0, 0, "root"},
    {"last, no newline", "root:x:0:0::/:\nalice:x:1000:1000", 1000, 0, "alice"},
    {"the first of two", "a:x:5:5::/:\nb:x:5:5::/:\n", 5, 0, "a"},
    {"not there", "a:x:5:5::/:\n", 6, -ENOENT, ""},
    {"the group has the number", "a:x:5:6::/:\n", 6, -ENOENT, ""},
    {"a cut line", "a:x:5:5::/:\nalice:x:10", 10, -ENOENT, ""},
    {"a line of NIS", "+:x:5:::\n+::::::\na:x:6:6::/:\n", 6, 0, "a"},
    {"no name", ":x:6:6::/:\n", 6, -ENOENT, ""},
    {"no number", "a:x:-1:6::/:\nb:x::6::/:\n", 0, -ENOENT, ""},
    {"above 32 bits", "a:x:4294967296:6::/:\n", 0, -ENOENT, ""},
    {"empty", "", 0, -ENOENT, ""},
};

static const struct {
    const char *label;
    const char *text;
    uint32_t parent;
} parent_cases[] = {
    {"plain", "42 (a)" BEFORE "9" BEHIND, 1},
    {"another pid namespace", "42 (a) S 0 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 9", 0},
    {"the largest", "42 (a) S 4294967295 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 9", UINT32_MAX},
    {"larger by one", "42 (a) S 4294967297 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 9", 0},
    {"too large", "42 (a) S 4294967296 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 9", 0},
    {"no number", "42 (a) S -1 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 9", 0},
};

static const struct {
    const char *label;
    struct gtel_pid_birth a, b; /* start, pid, parent */
    bool is_older;
} birth_cases[] = {
    {"before", {1, 9, 0}, {2, 8, 0}, true},
    {"after", {2, 8, 0}, {1, 9, 0}, false},
    {"the first tick", {1, 9, 0}, {UINT64_MAX, 8, 0}, true},
    {"not known", {0, 8, 0}, {2, 9, 0}, false},
    {"the other is not known", {2, 8, 0}, {0, 9, 0}, false},
    {"parent, not known", {0, 8, 0}, {0, 9, 8}, false},
    {"parent, in the same tick", {5, 8, 0}, {5, 9, 8}, true},
    {"parent, in the first tick", {1, 8, 0}, {1, 9, 8}, true},
    {"child, in the same tick", {5, 9, 8}, {5, 8, 0}, false},
    {"other processes, in the same tick", {5, 8, 1}, {5, 9, 1}, false},
    {"a child that is older has another parent of that pid", {6, 8, 0}, {5, 9, 8}, false},
};

static void test_births(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(parent_cases); i++) {
        struct gtel_pid_stat stat = {.name = GTEL_STR_NONE};
        test_label = parent_cases[i].label;
        CHECK_INT(gtel_pid_stat(gtel_str_of(parent_cases[i].text), &stat), 0);
        CHECK_INT(stat.parent, parent_cases[i].parent);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(birth_cases); i++) {
        test_label = birth_cases[i].label;
        CHECK_INT(gtel_pid_is_older(&birth_cases[i].a, &birth_cases[i].b), birth_cases[i].is_older);
    }
    test_label = "";
}

static void test_parsers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(stat_cases); i++) {
        struct gtel_pid_stat stat = {.name = GTEL_STR_NONE};
        test_label = stat_cases[i].label;
        CHECK_INT(gtel_pid_stat(gtel_str_of(stat_cases[i].text), &stat), stat_cases[i].rc);
        CHECK_STR(stat.name, stat_cases[i].name);
        CHECK(stat.start == stat_cases[i].start);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(passwd_cases); i++) {
        struct gtel_str name = GTEL_STR_NONE;
        test_label = passwd_cases[i].label;
        CHECK_INT(gtel_passwd_find(gtel_str_of(passwd_cases[i].text), passwd_cases[i].user, &name),
                  passwd_cases[i].rc);
        CHECK_STR(name, passwd_cases[i].name);
    }
    test_label = "";
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "7881ed9e_c63e_4425_b5e0_ac55a08ae939"

static const char machine[] =
    "file etc/passwd\n| root:x:0:0:root:/root:/bin/sh\n| al\tice:x:1000:1000::/:\n"
    "file proc/42/stat\n| 42 (ff\tmpeg)" BEFORE "567" BEHIND "\n"
    "file proc/42/cgroup\n| 0::/kubepods.slice/kubepods-pod" POD ".slice/crio-" ID ".scope\n"
    "owner proc/42 1000\n"
    /* Texts that make no sense. */
    "file proc/43/stat\n| nonsense\nfile proc/43/cgroup\n| nonsense\nowner proc/43 7\n"
    /* Only its name may be read. */
    "file proc/44/stat\n| 44 (secret)" BEFORE "9" BEHIND "\n"
    "refuse proc/44/cgroup EACCES\n"
    /* A kernel without cgroups. */
    "file proc/45/stat\n| 45 (small)" BEFORE "9" BEHIND "\n"
    "refuse proc/46/stat EACCES\nfile proc/46/cgroup\n| 0::/system.slice/a.service\n"
    "file proc/47/stat\n| 47 (broken)" BEFORE "9" BEHIND "\nerror proc/47/cgroup EIO\n"
    "at 1s\ngone proc/42\n"
    "at 2s\nowner proc/42 0\n"
    "file proc/42/stat\n| 42 (other)" BEFORE "1000" BEHIND "\n"
    "file proc/42/cgroup\n| 0::/init.scope\n"
    "end\n";

enum {
    EVERYTHING = GTEL_WHO_NAME | GTEL_WHO_USER | GTEL_WHO_UNIT | GTEL_WHO_CONTAINER | GTEL_WHO_POD |
                 GTEL_WHO_JOB
};

/* One text of all, so that a case is a line. */
static const char *join(const struct gtel_process_who *who, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s|%s|%s|%s|%s|%s", who->name, who->user, who->unit, who->container,
                   who->pod, who->job);
    return buf;
}

#define EMPTY "|||||"

static const struct {
    const char *label;
    struct gtel_process_id process;
    uint32_t wanted;
    int rc;
    const char *want;
} who_cases[] = {
    {"everything",
     {42, 567},
     EVERYTHING,
     0,
     "ff?mpeg|al?ice|crio-" ID ".scope|0123456789ab|7881ed9e-c63e-4425-b5e0-ac55a08ae939|"},
    {"any process of the pid", {42, 0}, GTEL_WHO_NAME, 0, "ff?mpeg|||||"},
    {"the container alone", {42, 567}, GTEL_WHO_CONTAINER, 0, "|||0123456789ab||"},
    {"the user alone", {42, 567}, GTEL_WHO_USER, 0, "|al?ice||||"},
    {"nothing", {42, 567}, 0, 0, EMPTY},
    {"another process of that pid", {42, 568}, EVERYTHING, -ESRCH, "untouched|||||"},
    {"no such process", {41, 0}, EVERYTHING, -ESRCH, "untouched|||||"},
    {"texts that make no sense", {43, 0}, EVERYTHING, -EINVAL, "|7||||"},
    {"the same with a start", {43, 5}, EVERYTHING, -EINVAL, EMPTY},
    {"may not be read", {44, 9}, EVERYTHING, 0, "secret|root||||"},
    {"no cgroups", {45, 9}, EVERYTHING, 0, "small|root||||"},
    {"the name may not be read", {46, 0}, EVERYTHING, 0, "|root|a.service|||"},
    {"the start may not be read", {46, 9}, EVERYTHING, 0, EMPTY},
    {"broken", {47, 9}, EVERYTHING, -EIO, "broken|root||||"},
};

static void check_who(const struct gtel_env *env)
{
    struct gtel_process_book book = {.jobs.uses = 0};
    char buf[500];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(who_cases); i++) {
        struct gtel_process_who who = {.name = "untouched"};
        test_label = who_cases[i].label;
        CHECK_INT(gtel_process_who(env, &book, who_cases[i].process, who_cases[i].wanted, &who),
                  who_cases[i].rc);
        CHECK_STR(gtel_str_of(join(&who, buf, sizeof(buf))), who_cases[i].want);
    }
    test_label = "";
    gtel_process_book_done(&book);
}

/* A process goes, and another one gets its pid. */
static void check_life(struct gtel_env *env)
{
    const struct gtel_process_id process = {42, 567};
    struct gtel_process_who who = {.name = "untouched"};
    struct gtel_process_book book = {.jobs.uses = 0};
    uint64_t start = 0;
    CHECK_INT(gtel_process_start(env, 42, &start), 0);
    CHECK_INT(start, 567);
    CHECK_INT(gtel_process_start(env, 43, &start), -EINVAL);
    CHECK_INT(gtel_process_start(env, 46, &start), -EACCES);
    gtel_env_tree_step(env, 1000000000);
    CHECK_INT(gtel_process_start(env, 42, &start), -ESRCH);
    CHECK_INT(gtel_process_who(env, &book, process, EVERYTHING, &who), -ESRCH);
    gtel_env_tree_step(env, 1000000000);
    CHECK_INT(gtel_process_start(env, 42, &start), 0);
    CHECK_INT(start, 1000);
    CHECK_INT(gtel_process_who(env, &book, process, EVERYTHING, &who), -ESRCH);
    CHECK_STR(gtel_str_of(who.name), "untouched");
    CHECK_INT(gtel_process_who(env, &book, (struct gtel_process_id){42, start}, EVERYTHING, &who),
              0);
    CHECK_STR(gtel_str_of(who.name), "other");
    CHECK_STR(gtel_str_of(who.user), "root");
    gtel_process_book_done(&book);
}

/* Every call to the outside and every allocation fails once, in every way; the rest is right. */
static void walk(const struct gtel_env *inner, int error)
{
    static struct env_fault fault;
    struct gtel_process_who whole = {.name = ""};
    struct gtel_process_book book = {.jobs.uses = 0};
    char want[500];
    char got[500];
    env_fault_init(&fault, inner);
    CHECK_INT(gtel_process_who(&fault.env, &book, who_cases[0].process, EVERYTHING, &whole), 0);
    gtel_process_book_done(&book);
    const uint64_t calls = fault.calls;
    CHECK(calls >= 7); /* a check, and three files to open and read */
    for (uint64_t at = 1; at <= calls; at++) {
        struct gtel_process_who who = whole;
        env_fault_arm(&fault, at, error);
        int r = gtel_process_who(&fault.env, &book, who_cases[0].process, EVERYTHING, &who);
        CHECK(fault.has_failed);
        CHECK(r == 0 || r == -ESRCH || r == error);
        CHECK_INT(fault.open_files, 0);
        /* What is not as it should be is not there, but for a user: that one has a number. */
        CHECK(who.name[0] == '\0' || strcmp(who.name, whole.name) == 0);
        CHECK(who.user[0] == '\0' || strcmp(who.user, whole.user) == 0 ||
              strcmp(who.user, "1000") == 0);
        CHECK(who.pod[0] == '\0' || strcmp(who.pod, whole.pod) == 0);
        gtel_process_book_done(&book);
        env_fault_arm(&fault, 0, 0);
        CHECK_INT(gtel_process_who(&fault.env, &book, who_cases[0].process, EVERYTHING, &who), 0);
        CHECK_STR(gtel_str_of(join(&who, got, sizeof(got))), join(&whole, want, sizeof(want)));
        gtel_process_book_done(&book);
    }
}

static void check_no_memory(const struct gtel_env *env)
{
    struct gtel_users users = {0};
    char name[GTEL_USER_NAME_MAX];
    alloc_fault_arm(1);
    gtel_users_name(&users, env, 1000, name);
    CHECK(alloc_fault_count() > 0);
    alloc_fault_arm(0);
    CHECK_STR(gtel_str_of(name), "1000");
    CHECK_INT(users.error, -ENOMEM);
    free(users.buf);
}

static void test_machine(void)
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200];
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    check_who(&env);
    walk(&env, -EIO);
    walk(&env, -ENOENT);
    walk(&env, -ESRCH);
    walk(&env, -EACCES);
    walk(&env, -EMFILE);
    check_no_memory(&env);
    check_life(&env);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* ---- Slurm ---- */

#define STEPD "/system.slice/slurmstepd.scope/"
#define FLUX "/user.slice/user-765.slice/user@765.service/imp-shell-4-fPY66riwfnP.service"
#define SLURMD "/system.slice/slurmd.service"

/*
 * 100 is of a step whose daemon is in its cgroup, 200 of one whose cgroups cannot be read, 300 of
 * one with a SLUID that nobody can translate, 400 of a Slurm without cgroups, 500 of a user who has
 * made a daemon's title, 502 and 504 of one who has started su and sudo with such a title, 600 of
 * Flux, 700 of the user that runs Flux.
 */
enum { SU = 501, SUDO = 503 };
static const struct {
    uint32_t pid;
    uint32_t parent;
    uint32_t owner;
    const char *cgroup;
    const char *cmdline;
} slurm_processes[] = {
    {98, 1, 0, "/", "sleep"},
    {99, 1, 0, STEPD "s5K1KKYAYG5D00/step_0/slurm", "slurmstepd: [3385.0]"},
    {100, 99, 1000, STEPD "s5K1KKYAYG5D00/step_0/user/task_0", "train"},
    {101, 1, 1000, STEPD "s5K1KKYAYG5D00/step_1/user/task_0", "late"},
    {198, 1, 0, "/", "slurmstepd: [77.batch stepmgr]"},
    {199, 198, 1000, STEPD "sEKNKTV3WPV500/step_batch/user/task_0", "bash"},
    {200, 199, 1000, STEPD "sEKNKTV3WPV500/step_batch/user/task_0", "train"},
    {300, 1, 1000, STEPD "s0000000000001/step_0/user/task_0", "train"},
    {399, 1, 0, SLURMD, "slurmstepd: [12.extern]"},
    {400, 399, 1000, SLURMD, "train"},
    {499, 1, 1000, SLURMD, "slurmstepd: [1.0]"},
    {500, 499, 1000, SLURMD, "forger"},
    {SU, 1, 0, SLURMD, "slurmstepd: [998.0]"},
    {502, SU, 1000, SLURMD, "forger"},
    {SUDO, 1, 0, SLURMD, "slurmstepd: [999.0]"},
    {504, SUDO, 1000, SLURMD, "forger"},
    {600, 1, 1000, FLUX, "train"},
    {700, 1, 765, FLUX, "train"},
    {800, 801, 1000, SLURMD, "train"},
    {801, 800, 1000, SLURMD, "loop"},
};

static void add_slurm_process(struct gtel_buf *text, size_t i, uint32_t parent)
{
    uint32_t pid = slurm_processes[i].pid;
    gtel_buf_printf(text,
                    "file proc/%" PRIu32 "/stat\n| %" PRIu32 " (a) S %" PRIu32
                    " 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 %" PRIu32 BEHIND "\n",
                    pid, pid, parent, pid);
    gtel_buf_printf(text, "file proc/%" PRIu32 "/cgroup\n| 0::%s\n", pid,
                    slurm_processes[i].cgroup);
    gtel_buf_printf(text,
                    "file proc/%" PRIu32 "/cmdline\n| %s\nowner proc/%" PRIu32 " %" PRIu32 "\n",
                    pid, slurm_processes[i].cmdline, pid, slurm_processes[i].owner);
    /* sudo makes the real user root, but not the real group (sudo: set_perms.c, PERM_ROOT). */
    gtel_buf_printf(text,
                    "file proc/%" PRIu32 "/status\n| Uid:\t%u\t0\t0\t0\n| Gid:\t%u\t0\t0\t0\n", pid,
                    pid == SU ? 1000 : slurm_processes[i].owner,
                    pid == SU || pid == SUDO ? 1000 : slurm_processes[i].owner);
}

/* A second later the daemons of the first two jobs have gone, and the third has one. */
static void write_slurm_machine(struct gtel_buf *text)
{
    gtel_buf_init(text, 1 << 16);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(slurm_processes); i++)
        add_slurm_process(text, i, slurm_processes[i].parent);
    gtel_buf_printf(text, "file sys/fs/cgroup" STEPD
                          "s5K1KKYAYG5D00/step_0/slurm/cgroup.procs\n| 98\n| 99\n"
                          "at 1s\ngone proc/99\ngone proc/198\n");
    for (size_t i = 0; i < GTEL_ARRAY_LEN(slurm_processes); i++)
        if (slurm_processes[i].pid == 300)
            add_slurm_process(text, i, 399);
    gtel_buf_printf(text, "end\n");
}

static const struct {
    const char *label;
    uint32_t pid;
    const char *job;
} slurm_cases[] = {
    {"the daemon in the step's cgroup", 100, "3385"},
    {"another step of the same job", 101, "3385"},
    {"a daemon among the parents", 200, "77"},
    {"nobody translates it", 300, "s0000000000001"},
    {"no cgroups of Slurm", 400, "12"},
    {"a title of a user's process", 500, ""},
    {"a title of su", 502, ""},
    {"a title of sudo", 504, ""},
    {"Flux", 600, "fPY66riwfnP"},
    {"the user that runs Flux", 700, ""},
    {"parents in a circle", 800, ""},
};

/* What was found once stays, also where a later question would be answered in another way. */
static void test_slurm(void)
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_process_book book = {.jobs.uses = 0};
    static struct env_fault fault;
    char error[200];
    struct gtel_buf text;
    write_slurm_machine(&text);
    bool is_made = CHECK(gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error)) == 0);
    gtel_buf_done(&text);
    if (!is_made || !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < GTEL_ARRAY_LEN(slurm_cases); i++) {
            const struct gtel_process_id id = {slurm_cases[i].pid, slurm_cases[i].pid};
            struct gtel_process_who who = {.name = ""};
            uint64_t before = fault.calls;
            test_label = slurm_cases[i].label;
            CHECK_INT(gtel_process_who(&fault.env, &book, id, GTEL_WHO_JOB, &who), 0);
            CHECK_STR(gtel_str_of(who.job), slurm_cases[i].job);
            if (round > 0) /* its cgroup and stat, and the owner of a process of Flux */
                CHECK(fault.calls - before <= 7);
        }
        gtel_env_tree_step(&env, 1000000000);
    }
    test_label = "";
    gtel_process_book_done(&book);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* More jobs than are remembered: the oldest is forgotten, the others are not asked for again. */
static void test_many_jobs(void)
{
    struct gtel_env env;
    struct gtel_tree *tree = NULL;
    struct gtel_slurm_jobs jobs = {.uses = 0};
    static struct env_fault fault;
    char error[200];
    char sluid[16];
    if (!CHECK(gtel_tree_parse(GTEL_STR("end\n"), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    for (uint32_t i = 0; i <= GTEL_SLURM_JOBS_MAX; i++) {
        (void)snprintf(sluid, sizeof(sluid), "s%013u", (unsigned)i);
        const struct gtel_slurm_process process = {.sluid = gtel_str_of(sluid), .pid = 9};
        CHECK_STR(gtel_str_of(gtel_slurm_number(&jobs, &fault.env, &process)), "");
    }
    uint64_t calls = fault.calls;
    CHECK(calls > 0);
    for (uint32_t i = GTEL_SLURM_JOBS_MAX + 1; i-- > 0;) {
        (void)snprintf(sluid, sizeof(sluid), "s%013u", (unsigned)i);
        const struct gtel_slurm_process process = {.sluid = gtel_str_of(sluid), .pid = 9};
        (void)gtel_slurm_number(&jobs, &fault.env, &process);
        CHECK(i == 0 ? fault.calls > calls : fault.calls == calls);
    }
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* ---- namespaces ---- */

static void test_namespaces(void)
{
    static const struct {
        const char *label;
        const char *text;
        enum gtel_namespace want;
    } cases[] = {
        {"of the host", "link proc/self/ns/pid -> pid:[4026531836]\nend\n", GTEL_NAMESPACE_HOST},
        {"another", "link proc/self/ns/pid -> pid:[4026531837]\nend\n", GTEL_NAMESPACE_OTHER},
        {"none", "end\n", GTEL_NAMESPACE_UNKNOWN},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        char error[200];
        test_label = cases[i].label;
        if (!CHECK(gtel_tree_parse(gtel_str_of(cases[i].text), &tree, error, sizeof(error)) == 0) ||
            !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
            return;
        CHECK_INT(gtel_process_namespace(&env), cases[i].want);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* ---- users ---- */

/* The list grows beyond one read, changes, cannot be read, and can again. */
static const char list_machine[] = "file etc/passwd\n| root:x:0:0::/:\n| old:x:5:5::/:\n"
                                   "at 100s\nfile etc/passwd\n| new:x:5:5::/:\n| late:x:6:6::/:\n"
                                   "at 400s\nerror etc/passwd EIO\n"
                                   "at 800s\nfile etc/passwd\n| root:x:0:0::/:\n"
                                   "at 1200s\ngone etc/passwd\nend\n";

static void test_users(void)
{
    static const struct {
        uint64_t wait_s;
        uint32_t user;
        const char *want;
        uint64_t calls; /* so far */
        int error;
    } steps[] = {
        {0, 5, "old", 2, 0},
        {50, 5, "old", 2, 0},
        {0, 6, "6", 2, 0},    /* not there, but the list is fresh */
        {50, 5, "old", 2, 0}, /* a minute old: good enough for who is in it */
        {0, 6, "late", 4, 0},
        {0, 5, "new", 4, 0},
        {0, 0, "0", 4, 0},
        {299, 5, "new", 4, 0},
        {1, 5, "new", 6, -EIO}, /* the older list is better than none */
        {59, 5, "new", 6, -EIO},
        {1, 6, "late", 8, -EIO},
        {340, 0, "root", 10, 0},
        {0, 4294967295, "4294967295", 10, 0},
        {400, 0, "root", 11, -ENOENT},
    };
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_users users = {0};
    static struct env_fault fault;
    char error[200];
    char name[GTEL_USER_NAME_MAX];
    if (!CHECK(gtel_tree_parse(gtel_str_of(list_machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        test_label = steps[i].want;
        gtel_env_tree_step(&env, steps[i].wait_s * 1000000000);
        gtel_users_name(&users, &fault.env, steps[i].user, name);
        CHECK_STR(gtel_str_of(name), steps[i].want);
        CHECK_INT(fault.calls, steps[i].calls);
        CHECK_INT(users.error, steps[i].error);
    }
    test_label = "";
    free(users.buf);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* A list that is longer than a read, and one that is too long. */
static void test_long_list(void)
{
    enum { LINES = 20000 };
    struct gtel_buf text;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_users users = {0};
    char error[200];
    char name[GTEL_USER_NAME_MAX];
    gtel_buf_init(&text, 16 << 20);
    gtel_buf_printf(&text, "file etc/passwd\n");
    for (uint32_t i = 0; i < LINES; i++)
        gtel_buf_printf(&text, "| user%" PRIu32 ":x:%" PRIu32 ":100::/home/user:/bin/sh\n", i, i);
    gtel_buf_printf(&text, "end\n");
    if (CHECK(gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error)) == 0) &&
        CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0)) {
        gtel_users_name(&users, &env, LINES - 1, name);
        CHECK_STR(gtel_str_of(name), "user19999");
        gtel_env_tree_done(&env);
    }
    free(users.buf);
    gtel_tree_free(tree);
    gtel_buf_done(&text);
}

/* ---- real processes ---- */

static void check_self(const struct gtel_env *env)
{
    struct gtel_process_id self = {(uint32_t)getpid(), 0};
    struct gtel_process_who who = {.name = ""};
    struct gtel_process_book book = {.jobs.uses = 0};
    CHECK_INT(prctl(PR_SET_NAME, "a) R 1 (\n\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"), 0);
    CHECK_INT(gtel_process_start(env, self.pid, &self.start), 0);
    CHECK(self.start > 0);
    CHECK_INT(gtel_process_who(env, &book, self, EVERYTHING, &who), 0);
    CHECK_STR(gtel_str_of(who.name), "a) R 1 (?\xc3\xa4\xc3\xa4\xc3\xa4");
    CHECK(who.user[0] != '\0');
    self.start++;
    CHECK_INT(gtel_process_who(env, &book, self, EVERYTHING, &who), -ESRCH);
    gtel_process_book_done(&book);
}

/* A process that has ended is there until it was waited for. */
static void check_child(const struct gtel_env *env)
{
    struct gtel_process_id child = {0, 0};
    struct gtel_process_who who;
    struct gtel_process_book book = {.jobs.uses = 0};
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (!CHECK(pid > 0))
        return;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    child.pid = (uint32_t)pid;
    CHECK_INT(gtel_process_start(env, child.pid, &child.start), 0);
    CHECK_INT(gtel_process_who(env, &book, child, EVERYTHING, &who), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(gtel_process_who(env, &book, child, EVERYTHING, &who), -ESRCH);
    gtel_process_book_done(&book);
}

static void test_real(void)
{
    struct gtel_env env;
    if (!CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    check_self(&env);
    check_child(&env);
    gtel_env_posix_done(&env);
}

#define SLURM_STEP STEPD "s5K1KKYAYG5D00/step_0"

static void add_titled(struct gtel_buf *text, uint64_t pid, uint64_t parent, const char *title)
{
    gtel_buf_printf(text,
                    "file proc/%" PRIu64 "/stat\n| %" PRIu64 " (a) S %" PRIu64
                    " 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 5" BEHIND "\nfile proc/%" PRIu64
                    "/cmdline\n| %s\nfile proc/%" PRIu64 "/status\n| Uid:\t0\t0\t0\t0\n"
                    "| Gid:\t0\t0\t0\t0\n",
                    pid, pid, parent, pid, title, pid);
}

/* Asks for the number of the job of the process 900 on a machine of that text. */
static void check_slurm_number(const char *label, struct gtel_buf *text, bool with_step,
                               const char *want)
{
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    static struct gtel_slurm_jobs jobs;
    char error[200];
    struct gtel_slurm_process process = {.pid = 900, .start = 5};
    test_label = label;
    jobs = (struct gtel_slurm_jobs){.uses = 0};
    if (with_step)
        process.step = GTEL_STR(SLURM_STEP);
    gtel_buf_str(text, GTEL_STR("end\n"));
    if (!CHECK(gtel_tree_parse(gtel_buf_text(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    CHECK_STR(gtel_str_of(gtel_slurm_number(&jobs, &env, &process)), want);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    gtel_buf_reset(text);
    test_label = "";
}

/* A step's daemon is searched for among so many processes of its cgroup, and so many parents. */
static void test_slurm_limits(void)
{
    static const struct {
        const char *label;
        const char *procs;
        const char *want;
    } lists[] = {
        {"alone", "| 99\n", "3385"},
        {"behind what is no number", "| x\n| -1\n| 99x\n| 99\n", "3385"},
        {"no process has the number 0", "| 0\n", ""},
        {"beyond 32 bits", "| 4294967395\n", ""},
        {"nobody", "|\n", ""},
    };
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 18);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lists); i++) {
        add_titled(&text, 0, 0, "slurmstepd: [7.0]");
        add_titled(&text, 99, 1, "slurmstepd: [3385.0]");
        gtel_buf_printf(&text, "file sys/fs/cgroup" SLURM_STEP "/slurm/cgroup.procs\n%s",
                        lists[i].procs);
        check_slurm_number(lists[i].label, &text, true, lists[i].want);
    }
    add_titled(&text, 99, 1, "slurmstepd: [3385.0]");
    add_titled(&text, 98, 1, "slurmstepd: [8.0]");
    add_titled(&text, 900, 97, "a");
    add_titled(&text, 97, 1, "slurmstepd: [9.0]");
    gtel_buf_str(&text,
                 GTEL_STR("file sys/fs/cgroup" SLURM_STEP "/slurm/cgroup.procs\n| 99\n| 98\n"
                          "file sys/fs/cgroup/unified" SLURM_STEP "/slurm/cgroup.procs\n| 98\n"));
    check_slurm_number("the first daemon, and no parent", &text, true, "3385");
    add_titled(&text, 99, 1, "sleep");
    add_titled(&text, 900, 97, "a");
    add_titled(&text, 97, 1, "slurmstepd: [9.0]");
    gtel_buf_str(&text, GTEL_STR("file sys/fs/cgroup" SLURM_STEP "/slurm/cgroup.procs\n| 99\n"));
    check_slurm_number("a parent where the step has no daemon", &text, true, "9");
    add_titled(&text, 99, 1, "slurmstepd: [3385.0]");
    gtel_buf_str(&text,
                 GTEL_STR("file sys/fs/cgroup/unified" SLURM_STEP "/slurm/cgroup.procs\n| 99\n"));
    check_slurm_number("beside version 1", &text, true, "3385");
    for (size_t before = 15; before <= 16; before++) {
        add_titled(&text, 99, 1, "slurmstepd: [3385.0]");
        gtel_buf_str(&text, GTEL_STR("file sys/fs/cgroup" SLURM_STEP "/slurm/cgroup.procs\n"));
        for (size_t i = 0; i < before; i++)
            gtel_buf_str(&text, GTEL_STR("| 98\n"));
        gtel_buf_str(&text, GTEL_STR("| 99\n"));
        check_slurm_number("the last of many", &text, true, before == 15 ? "3385" : "");
    }
    for (uint64_t generations = 64; generations <= 65; generations++) {
        for (uint64_t i = 0; i < generations; i++)
            add_titled(&text, 900 + i, 901 + i, "a");
        add_titled(&text, 900 + generations, 1, "slurmstepd: [3385.0]");
        check_slurm_number("the last of many parents", &text, false,
                           generations == 64 ? "3385" : "");
    }
    add_titled(&text, 900, 2, "a");
    add_titled(&text, 2, 1, "slurmstepd: [3385.0]");
    check_slurm_number("the second process of a host", &text, false, "3385");
    add_titled(&text, 900, 1, "a");
    add_titled(&text, 1, 0, "slurmstepd: [3385.0]");
    check_slurm_number("the first process is no step's", &text, false, "");
    gtel_buf_done(&text);
}

/* Of more jobs than are remembered the one that was asked for longest ago is forgotten. */
static void test_slurm_many(void)
{
    static struct gtel_slurm_jobs jobs;
    static struct env_fault fault;
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    char error[200];
    if (!CHECK(gtel_tree_parse(GTEL_STR("end\n"), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    test_label = "many jobs";
    for (uint32_t i = 0; i <= GTEL_SLURM_JOBS_MAX + 1; i++) {
        char id[20];
        (void)snprintf(id, sizeof(id), "s%013" PRIu32, i % (GTEL_SLURM_JOBS_MAX + 1));
        uint64_t before = fault.calls;
        const struct gtel_slurm_process process = {.sluid = gtel_str_of(id), .pid = 900};
        CHECK_STR(gtel_str_of(gtel_slurm_number(&jobs, &fault.env, &process)), "");
        CHECK(fault.calls > before); /* the first one was forgotten for the last */
        CHECK_INT(gtel_slurm_unknown(&jobs), i < GTEL_SLURM_JOBS_MAX ? i + 1 : GTEL_SLURM_JOBS_MAX);
        before = fault.calls;
        CHECK_STR(gtel_str_of(gtel_slurm_number(&jobs, &fault.env, &process)), "");
        CHECK_INT(fault.calls, before);
    }
    for (uint32_t i = 2; i < GTEL_SLURM_JOBS_MAX + 1; i++) { /* all others are still known */
        char id[20];
        (void)snprintf(id, sizeof(id), "s%013" PRIu32, i);
        uint64_t before = fault.calls;
        const struct gtel_slurm_process process = {.sluid = gtel_str_of(id), .pid = 900};
        (void)gtel_slurm_number(&jobs, &fault.env, &process);
        CHECK_INT(fault.calls, before);
    }
    test_label = "";
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_parsers();
    test_births();
    test_machine();
    test_namespaces();
    test_slurm();
    test_slurm_limits();
    test_slurm_many();
    test_many_jobs();
    test_users();
    test_long_list();
    test_real();
    return test_result();
}
