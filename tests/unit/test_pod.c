/* SPDX-License-Identifier: MIT */
/* Names of pods and containers, as the kubelet leaves them on a host. */
#include "base/compiler.h"
#include "harness/test.h"
#include "parse/pod.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UUID "7881ed9e-c63e-4425-b5e0-ac55a08ae939"
#define HASH "e77889d75ec8be65235fe5a966d3f808"
#define A60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *name;
    const char *want; /* pod|namespace|container|id; NULL: none */
} link_cases[] = {
    {"train-0_ml_main-" ID ".log", "train-0|ml|main|" ID},
    {"coredns-5d78c9869d-4w9bz_kube-system_coredns-" ID ".log",
     "coredns-5d78c9869d-4w9bz|kube-system|coredns|" ID},
    {"a.b-c.0_team-a_side-car-2-" ID ".log", "a.b-c.0|team-a|side-car-2|" ID},
    {"train-0_ml_" A60 "aaa-" ID ".log", "train-0|ml|" A60 "aaa|" ID},
    {"train-0_ml_" A60 "aaaa-" ID ".log", NULL}, /* 64 characters are no label */
    {"train-0_" A60 "aaaa_c-" ID ".log", NULL},
    /* The kubelet cuts long names, and with them the id. */
    {"train-0_ml_main-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde.log", NULL},
    {"train-0_ml_main-" ID, NULL},
    {"train-0_ml_main" ID ".log", NULL},
    {"train-0_ml_-" ID ".log", NULL},
    {"train-0_ml_" ID ".log", NULL},
    {"train-0__main-" ID ".log", NULL},
    {"_ml_main-" ID ".log", NULL},
    {"train-0_ml_main_x-" ID ".log", NULL},
    {"train-0_ml-" ID ".log", NULL},
    {"k8s_train-0_ml_POD-" ID ".log", NULL},
    {"train-0_ml_POD-" ID ".log", NULL}, /* the pause container of old Docker */
    {"train 0_ml_main-" ID ".log", NULL},
    {"Train-0_ml_main-" ID ".log", NULL},
    {"train-0_m.l_main-" ID ".log", NULL},
    {"train-0_ml_main-0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef.log", NULL},
    {".log", NULL},
    {"", NULL},
};

static const struct {
    const char *name;
    const char *want; /* pod|namespace|uid; NULL: none */
} folder_cases[] = {
    {"ml_train-0_" UUID, "train-0|ml|" UUID},
    {"kube-system_etcd-k8s-control_" HASH, "etcd-k8s-control|kube-system|" HASH},
    {"ml_a.b_" UUID, "a.b|ml|" UUID},
    {UUID, NULL}, /* before 1.14 */
    {"ml_train-0", NULL},
    {"ml_train-0_", NULL},
    {"ml__" UUID, NULL},
    {"_train-0_" UUID, NULL},
    {"ml_train-0_x_" UUID, NULL},
    {"ml_train-0_" UUID "_", NULL},
    {"ml_train-0_" HASH "0", NULL},
    {"ml_train-0_e77889d75ec8be65235fe5a966d3f8--", NULL},
    {"ml_train-0_g881ed9e-c63e-4425-b5e0-ac55a08ae939", NULL},
    {"ML_train-0_" UUID, NULL},
    {"", NULL},
};

#define BEFORE "711 690 0:52 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/a:/b\n"
#define MOUNT(path, at) "713 711 259:2 " path " " at " rw,relatime - ext4 /dev/nvme0n1p2 rw\n"
#define KUBELET "/var/lib/kubelet/pods/"

static const struct {
    const char *label;
    const char *text;
    const char *want; /* NULL: none */
} mount_cases[] = {
    {"usual", BEFORE MOUNT(KUBELET UUID "/containers/main/5d8a1f2c", "/dev/termination-log"),
     "main"},
    {"another folder of the kubelet",
     MOUNT("/k/pods/" UUID "/containers/side-car/5d8a1f2c", "/dev/termination-log"), "side-car"},
    {"another place in the container",
     MOUNT(KUBELET UUID "/containers/main/5d8a1f2c", "/tmp/last-words"), "main"},
    {"the first counts",
     MOUNT(KUBELET UUID "/containers/a/00000001", "/x")
         MOUNT(KUBELET UUID "/containers/b/00000002", "/y"),
     "a"},
    {"no newline", "1 2 3:4 /pods/" UUID "/containers/main/0", "main"},
    {"another pod's",
     MOUNT(KUBELET "00000000-c63e-4425-b5e0-ac55a08ae939/containers/main/5d8a1f2c", "/x"), NULL},
    {"its hosts", MOUNT(KUBELET UUID "/etc-hosts", "/etc/hosts"), NULL},
    {"a volume", MOUNT(KUBELET UUID "/volumes/kubernetes.io~secret/containers/x", "/x"), NULL},
    {"deeper", MOUNT(KUBELET UUID "/containers/main/5d8a1f2c/x", "/x"), NULL},
    {"no hash", MOUNT(KUBELET UUID "/containers/main/", "/x"), NULL},
    {"twice a slash", MOUNT(KUBELET UUID "/containers/main//", "/x"), NULL},
    {"no name", MOUNT(KUBELET UUID "/containers//5d8a1f2c", "/x"), NULL},
    {"no label", MOUNT(KUBELET UUID "/containers/ma\\040in/5d8a1f2c", "/x"), NULL},
    {"as a place, not as a source", "1 2 3:4 / " KUBELET UUID "/containers/main/0 rw - x y z\n",
     NULL},
    {"too few fields", "1 2 3:4\n", NULL},
    {"empty", "", NULL},
};

static void show(const struct gtel_pod_file *file, bool is_link, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%.*s|%.*s%s%.*s|%.*s", GTEL_STR_ARG(file->pod),
                   GTEL_STR_ARG(file->namespace_), is_link ? "|" : "",
                   GTEL_STR_ARG(file->container), GTEL_STR_ARG(file->key));
}

static void test_files(void)
{
    char buf[400];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(link_cases); i++) {
        struct gtel_pod_file file = {.pod = GTEL_STR("kept")};
        const char *want = link_cases[i].want ? link_cases[i].want : "kept|||";
        test_label = link_cases[i].name;
        CHECK_INT(gtel_pod_link(gtel_str_of(link_cases[i].name), &file),
                  link_cases[i].want != NULL);
        show(&file, true, buf, sizeof(buf));
        CHECK_STR(gtel_str_of(buf), want);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folder_cases); i++) {
        struct gtel_pod_file file = {.pod = GTEL_STR("kept")};
        const char *want = folder_cases[i].want ? folder_cases[i].want : "kept||";
        test_label = folder_cases[i].name;
        CHECK_INT(gtel_pod_folder(gtel_str_of(folder_cases[i].name), &file),
                  folder_cases[i].want != NULL);
        show(&file, false, buf, sizeof(buf));
        CHECK_STR(gtel_str_of(buf), want);
    }
}

static void test_mounts(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(mount_cases); i++) {
        struct gtel_str name = GTEL_STR("kept");
        test_label = mount_cases[i].label;
        CHECK_INT(gtel_pod_mount(gtel_str_of(mount_cases[i].text), GTEL_STR(UUID), &name),
                  mount_cases[i].want != NULL);
        CHECK_STR(name, mount_cases[i].want ? mount_cases[i].want : "kept");
    }
}

int main(void)
{
    test_files();
    test_mounts();
    return test_result();
}
