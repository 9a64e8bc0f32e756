/* SPDX-License-Identifier: MIT */
/* The tags of processes: which, when they are read, and for how many. */
#include "processes/usage_names.h"
#include "base/buf.h"
#include "harness/env_fault.h"
#include "harness/test.h"
#include "recording/tree.h"

static const uint64_t second_ns = 1000000000u;

#define STAT                                                                                       \
    " S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9 1000 0 18446744073709551615 0 0 0\n"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UUID "7881ed9e-c63e-4425-b5e0-ac55a08ae939"

static const char machine_text[] =
    "file proc/42/stat\n| 42 (a\\b)" STAT "owner proc/42 1000\n"
    "file proc/42/cgroup\n| 0::/kubepods.slice/kubepods-pod7881ed9e_c63e_4425_b5e0_ac55a08ae939"
    ".slice/cri-containerd-" ID ".scope\n"
    "link var/log/containers/p_n_c-" ID ".log -> /x\nfile etc/passwd\n| u:x:1000:0::/:\n"
    "file proc/43/stat\n| 43 ( )" STAT "file proc/43/cgroup\n| 0::/system.slice/s.service\n"
    "file proc/44/stat\n| 44 (other)" STAT "file proc/45/stat\n| 45 (x)" STAT
    "file proc/46/stat\n| 46 (train)" STAT
    "file proc/46/cgroup\n| 0::/slurm/uid_1000/job_77/step_0/task_0\n"
    "error proc/48/stat EIO\nerror proc/49/stat EACCES\nerror proc/50/stat EPERM\n"
    "error proc/52/stat EBUSY\nend\n";

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct env_fault fault;
    struct gtel_options options;
    struct gtel_usage_names names;
};

static bool begin(struct machine *machine, const char *tags)
{
    char error[200];
    *machine = (struct machine){.tree = NULL};
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine_text), &machine->tree, error, sizeof(error)) ==
               0) ||
        !CHECK(gtel_env_tree_init(machine->tree, true, 0, &machine->env) == 0))
        return false;
    env_fault_init(&machine->fault, &machine->env);
    gtel_options_init(&machine->options);
    return CHECK(gtel_option_set(&machine->options, GTEL_O_PROCESS_TAGS, gtel_str_of(tags), error,
                                 sizeof(error)) == 0);
}

static void end(struct machine *machine)
{
    CHECK_INT(machine->fault.open_files, 0);
    gtel_usage_names_done(&machine->names);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
    test_label = "";
}

static bool tags_of(struct machine *machine, uint32_t pid, struct gtel_usage_tags *ret)
{
    return gtel_usage_names_of(&machine->names, &machine->fault.env, &machine->options,
                               (struct gtel_process_id){pid, 9}, ret);
}

static void test_tags(void)
{
    static const char all[] = "container,pod,namespace,pod_uid,job_id,unit,user,pid";
    static const struct {
        const char *tags; /* the option ProcessTags */
        uint32_t pid;
        const char *want; /* NULL: it is not one of its own */
    } cases[] = {
        {"", 42, "a/b||||||||"},
        {all, 42, "a/b|c|p|n|" UUID "||cri-containerd-" ID ".scope|u|42"},
        {"pid", 42, "a/b||||||||42"},
        {"container", 42, "a/b|c|||||||"},
        {"pod", 42, "a/b||p||||||"},
        {"namespace", 42, "a/b|||n|||||"},
        {"pod_uid", 42, "a/b||||" UUID "||||"},
        {"user", 42, "a/b|||||||u|"},
        {"unit", 43, "?||||||s.service||"},
        {all, 43, "?||||||s.service|0|43"},
        {"job_id", 46, "train|||||77|||"},
        {"", 44, NULL},
        {"", 45, "x||||||||"},
        {"", 47, NULL},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        struct gtel_usage_tags tags;
        struct gtel_buf text;
        test_label = cases[i].tags;
        if (!begin(&machine, cases[i].tags))
            return;
        gtel_buf_init(&text, 1000);
        gtel_usage_names_begin(&machine.names, second_ns);
        bool has_tags = tags_of(&machine, cases[i].pid, &tags);
        CHECK_INT(has_tags, cases[i].want != NULL);
        size_t at = 0;
        for (size_t d = 0; d < 9 && has_tags; d++) {
            gtel_buf_printf(&text, "%s%.*s", d > 0 ? "|" : "", (int)tags.n[d], tags.text + at);
            at += tags.n[d];
        }
        CHECK_STR(gtel_buf_text(&text), cases[i].want);
        gtel_buf_done(&text);
        end(&machine);
    }
}

/* After 10 s, then each 60 to 75 s; one that cannot be read after 10 s each time. */
static void test_times(void)
{
    static const struct {
        uint32_t pid;
        uint64_t at[6]; /* seconds */
    } cases[] = {
        {42, {1, 11, 81, 151, 221}}, {45, {1, 11, 84, 157, 230}}, {47, {1, 11, 21, 31, 41, 51}}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        struct gtel_usage_tags tags;
        size_t n = 0;
        test_label = "times";
        if (!begin(&machine, ""))
            return;
        for (uint64_t s = 1; s < 60 || (s < 300 && cases[i].pid != 47); s++) {
            uint64_t before = machine.fault.calls;
            gtel_usage_names_begin(&machine.names, s * second_ns);
            CHECK_INT(tags_of(&machine, cases[i].pid, &tags), cases[i].pid != 47);
            if (machine.fault.calls == before)
                continue;
            if (n < GTEL_ARRAY_LEN(cases[i].at) && cases[i].at[n] > 0)
                CHECK_INT(s, cases[i].at[n]);
            n++;
        }
        CHECK_INT(n, cases[i].pid == 42 ? 6 : cases[i].pid == 45 ? 5 : 6);
        end(&machine);
    }
}

/* What may pass is tried again in the next gather; what does not, after 10 s. */
static void test_errors(void)
{
    static const struct {
        uint32_t pid;
        unsigned reads; /* in 22 gathers, a second apart; 2: what is hidden is known */
    } cases[] = {{47, 3}, {48, 22}, {49, 2}, {50, 2}, {52, 22}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        struct gtel_usage_tags tags;
        unsigned reads = 0;
        char label[16];
        if (!begin(&machine, ""))
            return;
        (void)snprintf(label, sizeof(label), "pid %u", (unsigned)cases[i].pid);
        test_label = label;
        for (uint64_t s = 1; s <= 22; s++) {
            uint64_t before = machine.fault.calls;
            gtel_usage_names_begin(&machine.names, s * second_ns);
            (void)tags_of(&machine, cases[i].pid, &tags);
            reads += machine.fault.calls > before;
        }
        CHECK_INT(reads, cases[i].reads);
        end(&machine);
    }
}

/* 500 in a gather; the others in the next one. Those that were not asked for are forgotten. */
static void test_many(void)
{
    enum { PROCESSES = 700 };
    static const uint32_t want[] = {500, 200, 0};
    struct machine machine;
    struct gtel_usage_tags tags;
    test_label = "many";
    if (!begin(&machine, ""))
        return;
    for (size_t g = 0; g < GTEL_ARRAY_LEN(want); g++) {
        uint32_t read = 0;
        gtel_usage_names_begin(&machine.names, (g + 1) * second_ns);
        for (uint32_t pid = 1000; pid < 1000 + PROCESSES; pid++) {
            uint64_t before = machine.fault.calls;
            CHECK(!tags_of(&machine, pid, &tags));
            read += machine.fault.calls > before;
        }
        CHECK_INT(read, want[g]);
        CHECK_INT(machine.names.n, PROCESSES);
    }
    for (uint32_t g = 0; g < 2; g++) {
        gtel_usage_names_begin(&machine.names, (4 + g) * second_ns);
        uint64_t before = machine.fault.calls;
        CHECK(!tags_of(&machine, 1699, &tags));
        CHECK_INT(machine.fault.calls, before); /* still known */
        CHECK_INT(tags_of(&machine, 45, &tags), true);
        CHECK_INT(machine.names.n, g == 0 ? PROCESSES + 1 : 2); /* forgotten when one begins */
    }
    gtel_usage_names_begin(&machine.names, 6 * second_ns); /* in which nobody uses a GPU */
    gtel_usage_names_begin(&machine.names, 7 * second_ns);
    CHECK_INT(machine.names.n, 0);
    end(&machine);
}

int main(void)
{
    test_tags();
    test_times();
    test_errors();
    test_many();
    return test_result();
}
