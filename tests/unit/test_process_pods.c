/* SPDX-License-Identifier: MIT */
/* The pod of a process, by each of the places that name it. */
#include "base/buf.h"
#include "harness/alloc_fault.h"
#include "harness/env_fault.h"
#include "harness/test.h"
#include "host/fs.h"
#include "host/process.h"
#include "recording/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields 3 to 21 of stat, and those behind field 22. */
#define BEFORE " S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 "
#define BEHIND " 1000 0 18446744073709551615 0 0 0"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "7881ed9e_c63e_4425_b5e0_ac55a08ae939"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define PODS "/kubepods.slice/kubepods-pod" POD ".slice/"
#define UUID "7881ed9e-c63e-4425-b5e0-ac55a08ae939"
#define STAT " (train)" BEFORE "9" BEHIND "\n"
/* 42 is in a container, 43 in one that Docker runs in it, 44 in none, 45 in Podman's pod. */
static const char pod_machine[] =
    "file proc/42/stat\n| 42" STAT "file proc/43/stat\n| 43" STAT "file proc/44/stat\n| 44" STAT
    "file proc/45/stat\n| 45" STAT "file proc/42/cgroup\n| 0::" PODS "cri-containerd-" ID ".scope\n"
    "file proc/43/cgroup\n| 0::" PODS "cri-containerd-" ID ".scope/docker/" ID2 "\n"
    "file proc/44/cgroup\n| 0::" PODS "crio-conmon-" ID ".scope\n"
    "file proc/45/cgroup\n| 0::/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID
    ".scope\n";
static const char links[] = "link var/log/containers/other-1_ml_main-" ID2 ".log -> /x\n"
                            "link var/log/containers/train-0_ml_main-" ID ".log -> /x\n";
static const char folders[] =
    "dir var/log/pods/kube-system_etcd-n1_e77889d75ec8be65235fe5a966d3f808\n"
    "dir var/log/pods/ml_train-0_" UUID "\n";
static const char mounts[] =
    "file proc/42/mountinfo\n| 1 2 0:52 / / rw - overlay overlay rw\n"
    "| 3 1 259:2 /var/lib/kubelet/pods/" UUID
    "/containers/main/5d8a1f2c /dev/termination-log rw - ext4 /dev/sda rw\n";
/* Names of one letter. */
static const char short_links[] = "link var/log/containers/p_n_c-" ID ".log -> /x\n";
static const char short_folders[] = "dir var/log/pods/n_p_" UUID "\n";
static const char refused[] = "refuse var/log/containers EACCES\nrefuse var/log/pods EACCES\n"
                              "refuse proc/42/mountinfo EACCES\n";

static const struct {
    const char *label;
    const char *parts[4];
    const char *want[4]; /* container|uid|pod|namespace of 42 to 45 */
    size_t unknown;      /* of the three in Kubernetes */
} pod_cases[] = {
    {"links alone",
     {links},
     {"main|" UUID "|train-0|ml", "fedcba987654|" UUID "|train-0|ml", "|" UUID "||",
      "0123456789ab|fedcba987654||"},
     1},
    {"folders alone",
     {folders},
     {"0123456789ab|" UUID "|train-0|ml", "fedcba987654|" UUID "|train-0|ml",
      "|" UUID "|train-0|ml", "0123456789ab|fedcba987654||"},
     1},
    {"mounts alone",
     {mounts},
     {"main|" UUID "||", "fedcba987654|" UUID "||", "|" UUID "||", "0123456789ab|fedcba987654||"},
     2},
    {"folders and mounts, as most users",
     {folders, mounts},
     {"main|" UUID "|train-0|ml", "fedcba987654|" UUID "|train-0|ml", "|" UUID "|train-0|ml",
      "0123456789ab|fedcba987654||"},
     0},
    {"all",
     {links, folders, mounts},
     {"main|" UUID "|train-0|ml", "fedcba987654|" UUID "|train-0|ml", "|" UUID "|train-0|ml",
      "0123456789ab|fedcba987654||"},
     0},
    {"short names",
     {short_links, short_folders},
     {"c|" UUID "|p|n", "fedcba987654|" UUID "|p|n", "|" UUID "|p|n",
      "0123456789ab|fedcba987654||"},
     0},
    {"nothing may be read",
     {refused},
     {"0123456789ab|" UUID "||", "fedcba987654|" UUID "||", "|" UUID "||",
      "0123456789ab|fedcba987654||"},
     2},
    {"nothing is there",
     {NULL},
     {"0123456789ab|" UUID "||", "fedcba987654|" UUID "||", "|" UUID "||",
      "0123456789ab|fedcba987654||"},
     2},
};

enum { OF_PODS = GTEL_WHO_CONTAINER | GTEL_WHO_POD | GTEL_WHO_POD_NAME | GTEL_WHO_NAMESPACE };

static const char *join_pod(const struct gtel_process_who *who, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s|%s|%s|%s", who->container, who->pod, who->pod_name,
                   who->namespace_);
    return buf;
}

static bool make_machine(const char *const *parts, size_t n, struct gtel_tree **tree,
                         struct gtel_env *env)
{
    struct gtel_buf text;
    char error[200] = "";
    gtel_buf_init(&text, 1 << 20);
    gtel_buf_str(&text, gtel_str_of(pod_machine));
    for (size_t i = 0; i < n && parts[i]; i++)
        gtel_buf_str(&text, gtel_str_of(parts[i]));
    gtel_buf_str(&text, GTEL_STR("end\n"));
    bool is_made = CHECK(gtel_tree_parse(gtel_buf_text(&text), tree, error, sizeof(error)) == 0) &&
                   CHECK(gtel_env_tree_init(*tree, true, 0, env) == 0);
    gtel_buf_done(&text);
    if (!is_made)
        printf("    %s\n", error);
    return is_made;
}

static void test_pods(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(pod_cases); i++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        struct gtel_process_book book = {.jobs.uses = 0};
        static struct env_fault fault;
        char buf[500];
        test_label = pod_cases[i].label;
        if (!make_machine(pod_cases[i].parts, GTEL_ARRAY_LEN(pod_cases[i].parts), &tree, &env))
            return;
        env_fault_init(&fault, &env);
        for (uint32_t pid = 42; pid <= 45; pid++) {
            struct gtel_process_who who = {.name = ""};
            const struct gtel_process_id id = {pid, 9};
            CHECK_INT(gtel_process_who(&fault.env, &book, id, OF_PODS, &who), 0);
            CHECK_STR(gtel_str_of(join_pod(&who, buf, sizeof(buf))), pod_cases[i].want[pid - 42]);
            /* What is known is not searched for again: cgroup and stat are opened, read, closed. */
            uint64_t calls = fault.calls;
            CHECK_INT(gtel_process_who(&fault.env, &book, id, OF_PODS, &who), 0);
            if (pod_cases[i].unknown == 0)
                CHECK_INT(fault.calls - calls, 4);
            /* Nothing comes from there that was not asked for. */
            CHECK_INT(gtel_process_who(&fault.env, &book, id, GTEL_WHO_POD, &who), 0);
            CHECK(who.pod_name[0] == '\0' && who.namespace_[0] == '\0' && who.container[0] == '\0');
        }
        CHECK_INT(gtel_pods_unknown(&book.pods), pod_cases[i].unknown);
        CHECK_INT(fault.open_files, 0);
        gtel_process_book_done(&book);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* A name that is missing is searched for again after a pause that grows; then it stays. */
static void test_pods_later(void)
{
    static const char *const parts[] = {"at 100s\nlink var/log/containers/train-0_ml_main-" ID
                                        ".log -> /x\nat 200s\ngone var/log/containers\n"};
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_pods pods = {.n = 0};
    static struct env_fault fault;
    uint64_t calls[240];
    if (!make_machine(parts, 1, &tree, &env))
        return;
    env_fault_init(&fault, &env);
    test_label = "later";
    for (size_t s = 0; s < GTEL_ARRAY_LEN(calls); s++) {
        uint64_t before = fault.calls;
        const struct gtel_pod *pod =
            gtel_pods_find(&pods, &fault.env, GTEL_STR(UUID), GTEL_STR(ID), 42);
        calls[s] = fault.calls - before;
        CHECK(pod && (pod->pod[0] != '\0') == (s >= 151));
        gtel_env_tree_step(&env, 1000000000);
    }
    for (size_t s = 0; s < GTEL_ARRAY_LEN(calls); s++) /* pauses of 0, 10, 20, 40, 80 s */
        CHECK_INT(calls[s] > 0, s == 0 || s == 1 || s == 11 || s == 31 || s == 71 || s == 151);
    test_label = "";
    gtel_pods_done(&pods);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* More containers than are remembered, and than fit into memory. */
static void test_many_pods(void)
{
    static const char *const parts[] = {NULL};
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_pods pods = {.n = 0};
    char id[GTEL_POD_ID_MAX];
    if (!make_machine(parts, 1, &tree, &env))
        return;
    test_label = "many";
    alloc_fault_arm(1);
    CHECK(gtel_pods_find(&pods, &env, GTEL_STR(UUID), GTEL_STR(ID), 42) == NULL);
    alloc_fault_arm(0);
    for (uint32_t i = 0; i < 3 * GTEL_PODS_MAX; i++) {
        (void)snprintf(id, sizeof(id), "%064" PRIu32, i);
        CHECK(gtel_pods_find(&pods, &env, GTEL_STR(UUID), GTEL_STR(ID), 42) != NULL);
        const struct gtel_pod *pod =
            gtel_pods_find(&pods, &env, GTEL_STR(UUID), gtel_str_of(id), 42);
        CHECK(pod && strcmp(pod->id, id) == 0);
    }
    CHECK_INT(pods.n, GTEL_PODS_MAX);
    CHECK(strcmp(pods.pod[0].id, ID) == 0); /* used all the time */
    test_label = "";
    gtel_pods_done(&pods);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

/* Of a folder with more names than are compared it is not known what the others are. */
static void test_many_names(void)
{
    for (unsigned before = GTEL_PODS_FILES_MAX - 1; before <= GTEL_PODS_FILES_MAX; before++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        struct gtel_pods pods = {.n = 0};
        struct gtel_buf text;
        bool fits = before < GTEL_PODS_FILES_MAX;
        test_label = fits ? "the last name" : "one more";
        gtel_buf_init(&text, 1 << 20);
        for (unsigned i = 0; i < before; i++)
            gtel_buf_printf(&text, "dir var/log/containers/a%u\n", i);
        gtel_buf_char(&text, '\0');
        const char *const parts[] = {text.p, short_links};
        if (make_machine(parts, 2, &tree, &env)) {
            const struct gtel_pod *pod =
                gtel_pods_find(&pods, &env, GTEL_STR(UUID), GTEL_STR(ID), 42);
            CHECK(pod && (pod->pod[0] != '\0') == fits);
            CHECK_INT(pods.error[0], fits ? 0 : -E2BIG);
            (void)gtel_pods_find(&pods, &env, GTEL_STR(UUID), GTEL_STR_NONE, 44);
            CHECK_INT(pods.error[0], 0); /* not even looked for: there is no container */
            gtel_pods_done(&pods);
            gtel_env_tree_done(&env);
            gtel_tree_free(tree);
        }
        gtel_buf_done(&text);
    }
    test_label = "";
}

/* The list of mounts is read whole, though the kernel gives it in pieces. */
static void test_mountinfo(void)
{
    static char want[1 << 20];
    static char got[1 << 20];
    struct gtel_env env;
    struct gtel_str text = GTEL_STR_NONE;
    FILE *file = fopen("/proc/self/mountinfo", "r");
    if (!CHECK(file != NULL) || !CHECK(gtel_env_posix_init("/", &env) == 0))
        return;
    size_t n = fread(want, 1, sizeof(want), file);
    (void)fclose(file);
    CHECK_INT(gtel_fs_text(&env, "proc/self/mountinfo", got, sizeof(got), &text), 0);
    CHECK(gtel_str_eq(text, gtel_str_trim((struct gtel_str){want, n})));
    gtel_env_posix_done(&env);
}

/* The folders as the kubelet makes them, as a user sees them who is nobody. Needs root. */
static void test_ordinary_user(void)
{
    static const struct {
        const char *label;
        mode_t links, folders;
        const char *pod;
        const char *container;
        int errors[2];
    } user_cases[] = {
        {"as the kubelet makes them", 0755, 0750, "train-0", "main", {0, 0}},
        {"older hosts", 0750, 0755, "train-0", "", {-EACCES, 0}},
        {"neither", 0700, 0750, "", "", {-EACCES, -EACCES}},
    };
    enum { NOBODY = 65534 };
    char top[] = "/tmp/gtel-pods-XXXXXX";
    char path[4][200];
    if (geteuid() != 0 || !CHECK(mkdtemp(top) != NULL))
        return;
    (void)snprintf(path[0], sizeof(path[0]), "%s/var", top);
    (void)snprintf(path[1], sizeof(path[1]), "%s/var/log", top);
    (void)snprintf(path[2], sizeof(path[2]), "%s/var/log/containers", top);
    (void)snprintf(path[3], sizeof(path[3]), "%s/var/log/pods", top);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(mkdir(path[i], 0755) + chown(path[i], 0, 1), 0); /* the test keeps its group 0 */
    CHECK_INT(chmod(top, 0755), 0);
    char link[300];
    char folder[300];
    (void)snprintf(link, sizeof(link), "%s/train-0_ml_main-" ID ".log", path[2]);
    (void)snprintf(folder, sizeof(folder), "%s/ml_train-0_" UUID, path[3]);
    CHECK_INT(symlink("/nowhere", link), 0);
    CHECK_INT(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(user_cases); i++) {
        struct gtel_env env;
        struct gtel_pods pods = {.n = 0};
        test_label = user_cases[i].label;
        CHECK_INT(chmod(path[2], user_cases[i].links) + chmod(path[3], user_cases[i].folders), 0);
        if (!CHECK(seteuid(NOBODY) == 0) || !CHECK(gtel_env_posix_init(top, &env) == 0))
            break;
        const struct gtel_pod *pod = gtel_pods_find(&pods, &env, GTEL_STR(UUID), GTEL_STR(ID), 1);
        CHECK(pod && strcmp(pod->pod, user_cases[i].pod) == 0);
        CHECK(pod && strcmp(pod->container, user_cases[i].container) == 0);
        CHECK_INT(pods.error[0], user_cases[i].errors[0]);
        CHECK_INT(pods.error[1], user_cases[i].errors[1]);
        gtel_pods_done(&pods);
        gtel_env_posix_done(&env);
        CHECK_INT(seteuid(0), 0);
    }
    test_label = "";
    CHECK_INT(unlink(link) + rmdir(folder) + rmdir(path[3]) + rmdir(path[2]) + rmdir(path[1]) +
                  rmdir(path[0]) + rmdir(top),
              0);
}

int main(void)
{
    test_pods();
    test_pods_later();
    test_many_pods();
    test_many_names();
    test_mountinfo();
    test_ordinary_user();
    return test_result();
}
