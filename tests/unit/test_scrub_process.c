/* SPDX-License-Identifier: MIT */
/* Files about processes and users, scrubbed: nothing of a person's, and still of use. */
#include "recording/record.h"
#include "parse/cgroup.h"
#include "parse/proc.h"
#include "parse/pod.h"
#include "harness/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "7881ed9e-c63e-4425-b5e0-ac55a08ae939"
#define UID_ "7881ed9e_c63e_4425_b5e0_ac55a08ae939"
#define HASH "d9be2b9a0f3f8e0f2c1a4b5c6d7e8f90"

static const struct {
    const char *label;
    const char *path; /* of the cgroup */
    const char *secret[2];
    const char *kept;
} cases[] = {
    {"a service", "/system.slice/jellyfin.service", {NULL}, "/system.slice/jellyfin.service\n"},
    {"the root", "/", {NULL}, "0::/\n"},
    {"Docker", "/docker/" ID, {ID}, "/docker/"},
    {"Docker, systemd", "/system.slice/docker-" ID ".scope/init", {ID}, ".scope/init\n"},
    {"Kubernetes", "/kubepods/burstable/pod" UID "/" ID, {UID, ID}, "/kubepods/burstable/pod"},
    {"Kubernetes, systemd",
     "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope",
     {UID_, ID},
     "/kubepods.slice/kubepods-pod"},
    {"a pod from a file", "/kubepods/pod" HASH "/crio-" ID, {HASH, ID}, "/crio-"},
    {"two ids in a name",
     "/a-pod" UID_ ".slice:cri-containerd:" ID,
     {UID_, ID},
     ".slice:cri-containerd:"},
    {"Podman",
     "/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID ".scope",
     {ID2, ID},
     "/machine.slice/machine-libpod_pod_"},
    {"LXC",
     "/lxc.payload.customer/system.slice/a.service",
     {"customer"},
     "/system.slice/a.service\n"},
    {"LXC, old", "/lxc/customer/ns", {"customer"}, "/ns\n"},
    {"nspawn", "/machine.slice/machine-customer.scope/payload", {"customer"}, ".scope/payload\n"},
    {"nspawn, a service",
     "/machine.slice/systemd-nspawn@customer.service/payload",
     {"customer"},
     "/machine.slice/systemd-nspawn@"},
};

static const char *scrub_file(struct gtel_scrub *scrub, const char *path, const char *text,
                              struct gtel_buf *out)
{
    struct gtel_record record;
    struct gtel_buf whole;
    gtel_buf_reset(out);
    gtel_buf_init(&whole, 1 << 16);
    gtel_record_init(&record, scrub);
    gtel_record_set(&record, gtel_str_of(path), GTEL_RECORD_FILE, gtel_str_of(text));
    CHECK_INT(gtel_record_write(&record, NULL, NULL, &whole), 0);
    for (struct gtel_str rest = gtel_buf_text(&whole), line; gtel_str_line(&rest, &line);)
        if (gtel_str_starts(line, GTEL_STR("| ")))
            gtel_buf_printf(out, "%.*s\n", GTEL_STR_ARG(gtel_str_skip(line, 2)));
    gtel_buf_char(out, '\0');
    CHECK(!out->has_failed);
    gtel_record_done(&record);
    gtel_buf_done(&whole);
    return out->p;
}

/* Of a process the rights alone, each line once. */
static void test_status(struct gtel_buf *out)
{
    static const char text[] = "Name:\tsecret\nUmask:\t0022\nPPid:\t1234\nUid:\t0\t0\t0\t0\n"
                               "VmRSS:\t 812 kB\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n";
    static struct gtel_scrub scrub;
    test_label = "status";
    CHECK_STR(gtel_str_of(scrub_file(&scrub, "proc/42/status", text, out)),
              "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
    test_label = "";
}

static void test_cgroup(struct gtel_buf *out)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct gtel_scrub scrub;
        char text[400];
        struct gtel_cgroup before;
        struct gtel_cgroup after;
        test_label = cases[i].label;
        (void)snprintf(text, sizeof(text), "0::%s\n", cases[i].path);
        const char *clean = scrub_file(&scrub, "proc/42/cgroup", text, out);
        for (size_t k = 0; k < 2 && cases[i].secret[k]; k++)
            CHECK(strstr(clean, cases[i].secret[k]) == NULL);
        CHECK(strstr(clean, cases[i].kept) != NULL);
        CHECK_INT(strlen(clean), strlen(text));
        /* It is the same kind of place as before. */
        CHECK_INT(gtel_cgroup_parse(gtel_str_of(text), &before), 0);
        CHECK_INT(gtel_cgroup_parse(gtel_str_of(clean), &after), 0);
        CHECK_INT(strlen(after.unit), strlen(before.unit));
        CHECK_INT(strlen(after.container), strlen(before.container));
        CHECK_INT(strlen(after.pod), strlen(before.pod));
        gtel_scrub_done(&scrub);
    }
    test_label = "";
}

/* The same id is the same everywhere; a container's name is no secret as a word. */
static void test_again(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    char first[200];
    const char *clean = scrub_file(&scrub, "proc/1/cgroup", "0::/docker/" ID "\n", out);
    (void)snprintf(first, sizeof(first), "%s", clean);
    clean = scrub_file(&scrub, "proc/2/cgroup", "0::/docker/" ID2 "\n", out);
    CHECK(strcmp(clean, first) != 0);
    clean = scrub_file(&scrub, "proc/3/cgroup", "0::/docker/" ID "\n", out);
    CHECK(strcmp(clean, first) == 0);
    (void)scrub_file(&scrub, "proc/4/cgroup", "0::/lxc.payload.drm\n", out);
    clean = scrub_file(&scrub, "sys/class/text", "drm and lxc.payload.drm", out);
    CHECK(strncmp(clean, "drm and lxc.payload.", 20) == 0);
    CHECK(strcmp(clean + 20, "drm") != 0);
    CHECK_INT(scrub.replaced[GTEL_SCRUB_UUID], 2);
    CHECK_INT(scrub.replaced[GTEL_SCRUB_HOST], 1);
    gtel_scrub_done(&scrub);
}

/* Of mounts the kubelet's alone, and of these the container. */
static void test_mounts(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    static const char mounts[] =
        "21 1 0:52 / / rw - overlay overlay rw,lowerdir=/var/lib/customer\n"
        "22 21 0:53 / /home rw - nfs4 files.customer.test:/export/home rw,addr=192.0.2.7\n"
        "23 21 0:54 / /mnt rw - cifs //nas/customer rw,username=maria,domain=customer\n"
        "24 21 0:55 / /run/secrets/customer-token ro - tmpfs tmpfs rw\n"
        "25 21 8:1 /srv/customer/pods/" UID "/volumes/kubernetes.io~secret/customer/0 /a ro - x y\n"
        "26 21 8:1 /srv/customer/pods/" UID "/containers/main/5d8a1f2c /dev/customer rw - ext4 y\n"
        "27 21 8:1 /srv/customer/pods/customer/containers/main/5d8a1f2c /dev/log rw - ext4 y\n"
        "28 21 8:1 /pods/" UID "/containers/customer_x/5d8a1f2c /dev/log rw - ext4 y\n";
    struct gtel_pod_file before;
    struct gtel_pod_file after;
    struct gtel_str rest = gtel_str_of(mounts);
    const char *clean = scrub_file(&scrub, "proc/42/mountinfo", mounts, out);
    test_label = "mounts";
    CHECK(gtel_str_starts(gtel_str_of(clean), GTEL_STR("0 0 0:0 /pods/")));
    CHECK(gtel_str_ends(gtel_str_of(clean), GTEL_STR("/containers/main/0\n")));
    CHECK_INT(strlen(clean), strlen("0 0 0:0 /pods/" UID "/containers/main/0\n"));
    CHECK(strstr(clean, UID) == NULL);
    CHECK(gtel_pod_mount_next(&rest, &before) && gtel_str_starts(rest, GTEL_STR("27")));
    CHECK(!gtel_pod_mount_next(&rest, &after));
    rest = gtel_str_of(clean);
    CHECK(gtel_pod_mount_next(&rest, &after));
    CHECK(gtel_str_eq(before.container, after.container) && before.key.n == after.key.n);
    test_label = "";
    gtel_scrub_done(&scrub);
}

/* Of a descriptor what a GPU's client says, and of any other nothing: it names people's files. */
static void test_fdinfo(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    static const char client[] = "drm-driver:\tmsm\ndrm-client-id:\t7\ndrm-engine-gpu:\t9 ns\n";
    char text[200];
    test_label = "fdinfo";
    (void)snprintf(text, sizeof(text), "pos:\t0\nflags:\t02100002\nlock:\t1: a\n%spath:\t/a\n",
                   client);
    CHECK_STR(gtel_str_of(scrub_file(&scrub, "proc/42/fdinfo/3", text, out)), client);
    /* io_uring (kernel: io_uring/fdinfo.c), a dma-buf (drivers/dma-buf/dma-buf.c) */
    static const char *const others[] = {
        "pos:\t0\nSqMask:\t0x7\nUserFiles:\t1\n    0: /home/maria/divorce.odt\n",
        "pos:\t0\nsize:\t4096\ncount:\t1\nexp_name:\tsystem\nname:\tmaria's window\n",
        "pos:\t0\ndrm-client-id:\t7\n", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK_STR(gtel_str_of(scrub_file(&scrub, "proc/42/fdinfo/3", others[i], out)), "");
    test_label = "";
}

static void test_others(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    struct gtel_str name = GTEL_STR_NONE;
    struct gtel_pid_stat stat = {.name = GTEL_STR_NONE};
    const char *clean = scrub_file(
        &scrub, "proc/42/stat",
        "42 (a (b)) S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 567 1000 0 94131934107728\n",
        out);
    CHECK_INT(gtel_pid_stat(gtel_str_of(clean), &stat), 0);
    CHECK_STR(stat.name, "a (b)");
    CHECK_INT(stat.parent, 1);
    CHECK_INT(stat.start, 567);
    CHECK(strstr(clean, "94131934107728") == NULL);
    (void)scrub_file(&scrub, "proc/42/stat", "42 (a) S 1", out);
    (void)scrub_file(&scrub, "proc/42/stat", "", out);
    clean =
        scrub_file(&scrub, "etc/passwd",
                   "root:x:0:0:root:/root:/bin/sh\nmaria:x:1000:1000:Maria:/home/maria:/bin/sh\n"
                   "+::::::\n",
                   out);
    CHECK_STR(gtel_str_of(clean), "root:x:0:0::/:\nuser1000:x:1000:1000::/:\n");
    CHECK_INT(gtel_passwd_find(gtel_str_of(clean), 1000, &name), 0);
    CHECK_STR(name, "user1000");
    /* Files of other names are none of these. */
    clean = scrub_file(&scrub, "sys/42/cgroup", "0::/docker/" ID, out);
    CHECK(strstr(clean, "/docker/") != NULL);
    gtel_scrub_done(&scrub);
}

int main(void)
{
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 16);
    test_status(&out);
    test_cgroup(&out);
    test_mounts(&out);
    test_fdinfo(&out);
    test_again(&out);
    test_others(&out);
    gtel_buf_done(&out);
    return test_result();
}
