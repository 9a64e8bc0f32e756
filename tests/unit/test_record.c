/* SPDX-License-Identifier: MIT */
/* Recording a machine: what was asked is written once per state, and identities are made up. */
#include "host/fs.h"
#include "harness/recorder.h"
#include "harness/test.h"

#include <errno.h>

/* A machine that reports who it is in every way that is looked for. */
static const char secrets[] =
    "file proc/sys/kernel/hostname\n| rack17-node4.example.org\n"
    "file sys/dev0/serial_number\n| UKB7-00412345\n"
    "file sys/dev0/board_number\n| K39201-502\n"
    "file sys/dev0/uuid\n| 4c4c4544-0042-3510-8052-b4c04f4d3732\n"
    "file sys/dev0/uevent\n| DRIVER=xe\n| ID_SERIAL_SHORT=UKB7-00412345\n"
    "| PCI_SLOT_NAME=0000:03:00.0\n"
    "file sys/dev0/text\n| of 4c4c4544-0042-3510-8052-b4c04f4d3732 on rack17-node4, by maria\n"
    "| Serial Number: 99ZZ 17-C\n| maria2 rack17-node45 8086:e20b\n"
    "file etc/group\n| root:x:0:\n| users:x:100:maria,jose\n| render:x:105:maria\n"
    "end\n";

static const char *const hidden[] = {"rack17-node4", "00412345", "K39201", "4c4c4544",
                                     "maria",        "99ZZ",     "jose",   "17-C"};
static const char *const kept[] = {
    "DRIVER=xe",     "0000:03:00.0",     "user10002 host15", "8086:e20b",
    "render:x:105:", "ID_SERIAL_SHORT=", "Serial Number: "};

static int read_file(const struct gtel_env *env, const char *path)
{
    char buf[4096];
    struct gtel_str text;
    return gtel_fs_text(env, path, buf, sizeof(buf), &text);
}

static void test_secrets(void)
{
    static struct recorder recorder;
    static const char *const files[] = {"proc/sys/kernel/hostname",
                                        "sys/dev0/serial_number",
                                        "sys/dev0/board_number",
                                        "sys/dev0/uuid",
                                        "sys/dev0/uevent",
                                        "sys/dev0/text",
                                        "etc/group"};
    if (!recorder_start(&recorder, secrets))
        return;
    gtel_scrub_host(&recorder.scrub, GTEL_STR("rack17-node4"));
    gtel_scrub_user(&recorder.scrub, GTEL_STR("maria"));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        CHECK_INT(read_file(&recorder.env, files[i]), 0);
    const char *text = recorder_finish(&recorder);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(hidden); i++) {
        test_label = hidden[i];
        CHECK(strstr(text, hidden[i]) == NULL);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kept); i++) {
        test_label = kept[i];
        CHECK(strstr(text, kept[i]) != NULL);
    }
    test_label = "shape";
    const char *uuid = strstr(text, "file sys/dev0/uuid\n| ");
    if (CHECK(uuid != NULL)) {
        char made_up[37] = "";
        memcpy(made_up, uuid + strlen("file sys/dev0/uuid\n| "), 36);
        CHECK(made_up[8] == '-' && made_up[13] == '-' && made_up[23] == '-');
        const char *again = strstr(text, "of ");
        CHECK(again && strstr(again, made_up) != NULL); /* the same one everywhere */
    }
    CHECK(recorder.scrub.replaced[GTEL_SCRUB_UUID] == 1 && !recorder.scrub.has_failed);
    recorder_stop(&recorder);
}

static const char machine[] = "link sys/class/a -> ../devices/b/c\n"
                              "file sys/devices/b/c/value\n| 1\n"
                              "file sys/devices/b/c/other\n| 2\n"
                              "refuse sys/devices/b/c/secret EACCES\n"
                              "error sys/devices/b/c/broken EIO\n"
                              "file sys/bus/event_source/devices/p/type\n| 9\n"
                              "pmu p 0x10 5 100\n"
                              "query dev/dri/renderD128 xe 3\n| 4:7 4:0 48:0 3:0x10203\n"
                              "query_error dev/dri/renderD128 xe 4 EACCES\n"
                              "uevents on\n"
                              "at 1s\nfile sys/devices/b/c/value\n| 3\n"
                              "uevent change /devices/b/c SERIAL=A1B2 WEDGED=none\n"
                              "at 2s\ngone sys/devices/b/c\n"
                              "end\n";

static void ask_all(const struct gtel_env *env)
{
    unsigned char answer[64];
    const uint64_t config = 0x10;
    CHECK_INT(read_file(env, "sys/class/a/value"), 0);
    CHECK_INT(read_file(env, "sys/class/a/secret"), -EACCES);
    CHECK_INT(read_file(env, "sys/class/a/broken"), -EIO);
    CHECK_INT(read_file(env, "sys/class/a/absent"), -ENOENT);
    CHECK(gtel_fs_exists(env, "sys/class/a/other") && !gtel_fs_exists(env, "sys/class/b"));
    int handle = gtel_env_pmu_open(env, 9, &config, 1, 0);
    CHECK(handle >= 0);
    env->ops->pmu_close(env->arg, handle);
    CHECK_INT(gtel_env_drm_query(env, "dev/dri/renderD128", GTEL_DRM_XE, 3, answer, sizeof(answer)),
              59);
    CHECK_INT(gtel_env_drm_query(env, "dev/dri/renderD128", GTEL_DRM_XE, 4, answer, sizeof(answer)),
              -EACCES);
}

static const char wanted[] = "link sys/class/a -> ../devices/b/c\n"
                             "file sys/devices/b/c/value\n| 1\n"
                             "refuse sys/devices/b/c/secret EACCES\n"
                             "error sys/devices/b/c/broken EIO\n"
                             "file sys/devices/b/c/other\n"
                             "pmu p 0x10 5 0\n"
                             "query dev/dri/renderD128 xe 3\n| 8:0x7 48:0x0 3:0x10203\n"
                             "query_error dev/dri/renderD128 xe 4 EACCES\n"
                             "uevents on\n"
                             "at 1s\n"
                             "file sys/devices/b/c/value\n| 3\n"
                             "uevent change /devices/b/c SERIAL=";

static void test_states(void)
{
    static struct recorder recorder;
    static const char *const none[] = {"libx.so.1", NULL};
    static const char *const path[] = {"/opt/acme/libx.so.1", NULL};
    static const char *const other[] = {"liby.so.1", "liby.so", NULL};
    char message[512];
    void *lib;
    test_label = "states";
    if (!recorder_start(&recorder, machine))
        return;
    const struct gtel_env *env = &recorder.env;
    ask_all(env);
    int ear = gtel_env_uevent_open(env);
    CHECK(ear >= 0);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    CHECK_INT(read_file(env, "sys/class/a/value"), 0);
    CHECK(env->ops->uevent_read(env->arg, ear, message, sizeof(message)) > 0);
    CHECK_STR(gtel_record_env_libraries(env), "");
    CHECK_INT(env->ops->lib_open(env->arg, none, &lib), -ENOENT);
    CHECK_INT(env->ops->lib_open(env->arg, path, &lib), -ENOENT);
    CHECK_INT(env->ops->lib_open(env->arg, other, &lib), -ENOENT);
    CHECK_INT(env->ops->lib_open(env->arg, none, &lib), -ENOENT);
    CHECK_STR(gtel_record_env_libraries(env), "libx.so.1 liby.so.1");
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 2000000000);
    CHECK_INT(read_file(env, "sys/class/a/value"), -ENOENT);
    env->ops->uevent_close(env->arg, ear);
    struct gtel_str text = gtel_str_of(recorder_finish(&recorder));
    CHECK(gtel_str_starts(text, gtel_str_of(wanted)));
    CHECK(strstr(text.p, "A1B2") == NULL && strstr(text.p, " WEDGED=none\n") != NULL);
    CHECK(gtel_str_ends(text, GTEL_STR("at 2s\ngone sys/devices/b/c\nend\n")));
    if (!gtel_str_starts(text, gtel_str_of(wanted)))
        printf("%s", text.p);
    recorder_stop(&recorder);
}

/* Messages about cards, PCI devices and hangs are recorded; of others only that there was one. */
static void test_messages(void)
{
    static const char text[] = "uevents on\nat 1s\n"
                               "uevent change /devices/pci0/usb1 SUBSYSTEM=usb\n"
                               "uevent change /devices/pci0/0000:03:00.0/drm/card0 A=1\n"
                               "uevent change /devices/pci0/0000:03:00.0 SUBSYSTEM=pci\n"
                               "uevent change /devices/pci0/0000:03:00.0 WEDGED=none\n"
                               "uevent change /devices/pci0/net SUBSYSTEM=net\nend\n";
    static struct recorder recorder;
    char message[512];
    int n = 0;
    test_label = "messages";
    if (!recorder_start(&recorder, text))
        return;
    int ear = gtel_env_uevent_open(&recorder.env);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    while (recorder.env.ops->uevent_read(recorder.env.arg, ear, message, sizeof(message)) > 0)
        n++;
    CHECK_INT(n, 5); /* all are passed on */
    recorder.env.ops->uevent_close(recorder.env.arg, ear);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)),
              "uevents on\nat 1s\n"
              "uevent change /devices/other\n"
              "uevent change /devices/pci0/0000:03:00.0/drm/card0 A=1\n"
              "uevent change /devices/pci0/0000:03:00.0 SUBSYSTEM=pci\n"
              "uevent change /devices/pci0/0000:03:00.0 WEDGED=none\n"
              "uevent change /devices/other\nend\n");
    recorder_stop(&recorder);
}

/* Bytes with a NUL inside; a text that ends in NULs stays one. */
static void test_binary(void)
{
    static const char text[] =
        "binary sys/a/table\n"
        "| 1:17 1:0 1:255 1:3 1:0 1:0 1:0 1:0 1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8\n"
        "| 1:0\n"
        "file sys/a/text\n| 5\n| ??\nend\n";
    static struct recorder recorder;
    test_label = "binary";
    if (!recorder_start(&recorder, "binary sys/a/table\n| 2:17 1:255 5:3 9:0x0807060504030201\n"
                                   "binary sys/a/text\n| 1:53 1:10 2:0\nend\n"))
        return;
    CHECK_INT(read_file(&recorder.env, "sys/a/table"), 0);
    CHECK_INT(read_file(&recorder.env, "sys/a/text"), 0);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), text);
    recorder_stop(&recorder);
}

/* Times are written in the largest unit that holds them. */
static void test_times(void)
{
    static const char text[] = "file a/b\n| 1\nat 1s\nfile a/b\n| 2\nat 1500ms\nfile a/b\n| 3\n"
                               "at 1500000001ns\nfile a/b\n| 4\nend\n";
    static const uint64_t times[] = {0, 1000000000, 1500000000, 1500000001};
    static struct recorder recorder;
    test_label = "times";
    if (!recorder_start(&recorder, text))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(times); i++) {
        gtel_env_tree_step(&recorder.inner, i > 0 ? times[i] - times[i - 1] : 0);
        gtel_record_at(&recorder.record, times[i]);
        CHECK_INT(read_file(&recorder.env, "a/b"), 0);
    }
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), text);
    recorder_stop(&recorder);
}

static const char processes[] = "char proc/9/fd/3 226:128\n"
                                "link proc/9/fd/5 -> /home/maria/letter.txt\n"
                                "owner proc/9 1000\n"
                                "refuse proc/10/fd EACCES\n"
                                "link proc/10/fd/0 -> /home/maria/letter.txt\n"
                                "file proc/uptime\n| 5\n"
                                "at 1s\n"
                                "gone proc/9\nlink proc/9/fd/0 -> x\nowner proc/9 0\n"
                                "at 2s\n"
                                "gone proc/10\n"
                                "end\n";

static const char recorded[] = "dir proc\ndir proc/10\ndir proc/9\nowner proc/9 1000\n"
                               "char proc/9/fd/3 226:128\nlink proc/9/fd/5 -> other\n"
                               "refuse proc/10/fd EACCES\nlink proc/10/fd/0 -> other\n"
                               "file proc/uptime\n| 5\n"
                               "at 1s\n";

static int skip_number(void *arg, uint32_t number)
{
    (void)arg;
    (void)number;
    return 0;
}

static void list(const struct gtel_env *env, const char *path, int want)
{
    test_label = path;
    CHECK_INT(env->ops->dir_list_from(env->arg, path, 1, skip_number, NULL), want);
}

static int stat_path(const struct gtel_env *env, const char *path)
{
    struct gtel_stat st;
    return env->ops->stat(env->arg, path, &st);
}

/* That processes have something open is recorded, and not what it is called. */
static void test_processes(void)
{
    static struct recorder recorder;
    if (!recorder_start(&recorder, processes))
        return;
    const struct gtel_env *env = &recorder.env;
    list(env, "proc", 0);
    CHECK_INT(stat_path(env, "proc/9"), 0);
    CHECK_INT(stat_path(env, "proc/9/fd/3"), 0);
    list(env, "proc/9/fd", 0);
    CHECK_INT(stat_path(env, "proc/9/fd/5"), -ENOENT);
    list(env, "proc/10/fd", -EACCES);
    CHECK_INT(stat_path(env, "proc/10/fd"), 0);
    CHECK_INT(read_file(env, "proc/uptime"), 0);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    list(env, "proc", 0);
    CHECK_INT(stat_path(env, "proc/9"), 0);
    list(env, "proc/9/fd", 0);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 2000000000);
    list(env, "proc", 0);
    const char *text = recorder_finish(&recorder);
    test_label = "text";
    if (!CHECK(gtel_str_starts(gtel_str_of(text), gtel_str_of(recorded))) ||
        !CHECK(strstr(text, "gone proc/10\nend\n") != NULL) ||
        !CHECK(strstr(text, "owner proc/9 0\n") != NULL) || !CHECK(strstr(text, "maria") == NULL))
        printf("%s", text);
    recorder_stop(&recorder);
}

/* Counters, each with its value when it was read; what fails, and that it does so no more. */
static void test_counters(void)
{
    static const char text[] = "file sys/bus/event_source/devices/p/type\n| 9\n"
                               "pmu p 0x10 5 1000\npmu p 0x11 7 0\n"
                               "at 1s\npmu_error p EACCES\nat 2s\npmu_error p none\nend\n";
    static const uint64_t both[2] = {0x10, 0x11};
    static const uint64_t unknown[1] = {0x99};
    static struct recorder recorder;
    uint64_t values[2];
    uint64_t t_ns;
    test_label = "counters";
    if (!recorder_start(&recorder, text))
        return;
    const struct gtel_env *env = &recorder.env;
    CHECK_INT(gtel_env_pmu_open(env, 9, both, 2, 0), 0);
    CHECK_INT(gtel_env_pmu_open(env, 9, both + 1, 1, 0), 1);
    CHECK_INT(gtel_env_pmu_open(env, 9, unknown, 1, 0), -ENODEV);
    CHECK_INT(gtel_env_pmu_open(env, 8, both, 2, 0), -ENOENT);
    CHECK_INT(env->ops->pmu_read(env->arg, 1, values, 1, &t_ns), 0);
    CHECK_INT(values[0], 7);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    CHECK_INT(env->ops->pmu_read(env->arg, 0, values, 2, &t_ns), 0);
    CHECK(values[0] == 1005 && values[1] == 7);
    CHECK_INT(env->ops->pmu_read(env->arg, 0, values, 1, &t_ns), -EBADF);
    CHECK_INT(gtel_env_pmu_open(env, 9, both, 2, 0), -EACCES);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 2000000000);
    env->ops->pmu_close(env->arg, 0);
    static const int none[] = {0, 2, -1, 256};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(none); i++) {
        CHECK_INT(env->ops->pmu_read(env->arg, none[i], values, 2, &t_ns), -EBADF);
        env->ops->pmu_close(env->arg, none[i]); /* no harm */
    }
    CHECK_INT(gtel_env_pmu_open(env, 9, both + 1, 1, 0), 0);
    CHECK_INT(env->ops->pmu_read(env->arg, 1, values, 1, &t_ns), 0); /* still open */
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)),
              "pmu p 0x10 5 0\npmu p 0x11 7 0\n"
              "at 1s\npmu p 0x10 1005 0\npmu_error p EACCES\n"
              "at 2s\npmu_error p none\nend\n");
    recorder_stop(&recorder);
}

/* Answers of drivers as words: eight bytes each, long runs of zero in one, six in a line. */
static void test_words(void)
{
    static const char text[] = "query dev/dri/renderD128 xe 5\n"
                               "| 8:1 8:2 8:3 8:4 8:5 8:6 8:7 15:0 1:255 20:0 4:5 3:9\nend\n";
    static struct recorder recorder;
    unsigned char answer[128];
    test_label = "words";
    if (!recorder_start(&recorder, text))
        return;
    CHECK_INT(gtel_env_drm_query(&recorder.env, "dev/dri/renderD128", GTEL_DRM_XE, 5, answer,
                                 sizeof(answer)),
              99);
    CHECK_INT(gtel_env_drm_query(&recorder.env, "dev/dri/renderD128", GTEL_DRM_I915, 5, answer,
                                 sizeof(answer)),
              -ENOENT);
    CHECK_INT(gtel_env_drm_query(&recorder.env, "dev/dri/renderD128", GTEL_DRM_XE, 5, answer, 98),
              -E2BIG);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)),
              "query dev/dri/renderD128 xe 5\n"
              "| 8:0x1 8:0x2 8:0x3 8:0x4 8:0x5 8:0x6\n"
              "| 8:0x7 8:0x0 8:0xff00000000000000 16:0x0 8:0x500000000 3:0x9\nend\n");
    recorder_stop(&recorder);
}

/* Error counters of drivers. */
static void test_errors(void)
{
    static const char text[] = "ras 0000:03:00.0 correctable-errors device-memory 5\n"
                               "ras 0000:03:00.0 correctable-errors fabric 1\n"
                               "at 1s\nras_error EPERM\n"
                               "at 2s\nras_error none\n"
                               "ras 0000:03:00.0 correctable-errors device-memory 6\nend\n";
    static struct recorder recorder;
    test_label = "errors";
    if (!recorder_start(&recorder, text))
        return;
    for (uint64_t s = 0; s < 3; s++) {
        struct gtel_ras_counter counters[4];
        size_t n = 9;
        gtel_record_at(&recorder.record, s * 1000000000);
        CHECK_INT(gtel_env_ras_read(&recorder.env, "0000:03:00.0", counters, 4, &n),
                  s == 1 ? -EPERM : 0);
        CHECK_INT(n, s == 1 ? 9 : 2);
        CHECK_INT(gtel_env_ras_read(&recorder.env, "0000:04:00.0", counters, 4, &n),
                  s == 1 ? -EPERM : -ENOENT);
        gtel_env_tree_step(&recorder.inner, 1000000000);
    }
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), text);
    recorder_stop(&recorder);
}

/* What two listeners hear is written once, also after the first one has stopped. */
static void test_listeners(void)
{
    static const char text[] = "uevents on\nat 1s\nuevent lost\n"
                               "uevent change /devices/pci0/drm/card0 A=1\n"
                               "at 2s\nuevent change /devices/pci0/drm/card0 A=2\nend\n";
    static struct recorder recorder;
    char message[512];
    test_label = "listeners";
    if (!recorder_start(&recorder, text))
        return;
    const struct gtel_env *env = &recorder.env;
    int first = gtel_env_uevent_open(env);
    int second = gtel_env_uevent_open(env);
    CHECK(first >= 0 && second >= 0);
    for (uint64_t s = 1; s < 3; s++) {
        gtel_env_tree_step(&recorder.inner, 1000000000);
        gtel_record_at(&recorder.record, s * 1000000000);
        for (int i = 0; i < 3; i++) {
            int64_t a =
                s == 1 ? env->ops->uevent_read(env->arg, first, message, sizeof(message)) : 0;
            int64_t b = env->ops->uevent_read(env->arg, second, message, sizeof(message));
            CHECK(s > 1 || a == b);
            CHECK(i < 2 || b == -EAGAIN);
        }
        if (s == 1)
            env->ops->uevent_close(env->arg, first);
    }
    env->ops->uevent_close(env->arg, second);
    CHECK(env->ops->uevent_read(env->arg, second, message, sizeof(message)) < 0);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), text);
    recorder_stop(&recorder);
}

static int count_number(void *arg, uint32_t number)
{
    (void)number;
    ++*(int *)arg;
    return 0;
}

static int count_name(void *arg, struct gtel_str name)
{
    (void)name;
    ++*(int *)arg;
    return 0;
}

enum question { EXISTS, LINK, LIST, NUMBERS, OPEN, STAT };

/* Its result, for a listing how many names there were. */
static int64_t ask(const struct gtel_env *env, enum question question, const char *path)
{
    char buf[64];
    struct gtel_stat st;
    int n = 0;
    int64_t r = 0;
    switch (question) {
    case EXISTS:
        r = env->ops->exists(env->arg, path);
        break;
    case LINK:
        r = env->ops->link_read(env->arg, path, buf, sizeof(buf));
        break;
    case LIST:
        r = env->ops->dir_list(env->arg, path, count_name, &n);
        break;
    case NUMBERS:
        r = env->ops->dir_list_from(env->arg, path, 0, count_number, &n);
        break;
    case OPEN:
        r = env->ops->file_open(env->arg, path);
        r = r < 0 ? r : env->ops->file_read(env->arg, (int)r, buf, sizeof(buf));
        break;
    case STAT:
        r = env->ops->stat(env->arg, path, &st);
        break;
    }
    return r < 0 ? r : r + n;
}

static const struct {
    enum question question;
    const char *path;
    int64_t rc;
    const char *want;
} questions[] = {
    {EXISTS, "a/b", 0, "file a/b\n"},
    {EXISTS, "a/l", 0, "link a/l -> b\nfile a/b\n"},
    {EXISTS, "a/dir", 0, "link a/dir -> ../d\ndir d\n"},
    {EXISTS, "a/none", -ENOENT, "link a/none -> nowhere\n"},
    {EXISTS, "c", -ENOENT, ""},
    {LINK, "a/l", 1, "link a/l -> b\n"},
    {LINK, "a/b", -EINVAL, "file a/b\n"},
    {LINK, "d", -EINVAL, "dir d\n"},
    {LINK, "c", -ENOENT, ""},
    {LIST, "d", 4, "dir d\nlink d/12 -> x\nfile d/7\ndir d/8\nfile d/x\n"},
    {LIST, "a/dir", 4, "link a/dir -> ../d\ndir d\nlink d/12 -> x\nfile d/7\ndir d/8\nfile d/x\n"},
    {LIST, "a/b", -ENOTDIR, "file a/b\n"},
    {LIST, "no", -EACCES, "refuse no EACCES\n"},
    {LIST, "c", -ENOENT, ""},
    {NUMBERS, "d", 3, "dir d\nlink d/12 -> x\nfile d/7\ndir d/8\n"},
    {OPEN, "d/x", 2, "file d/x\n| 2\n"},
    {OPEN, "a/dir/x", 2, "link a/dir -> ../d\nfile d/x\n| 2\n"},
    {OPEN, "a/l", 2, "link a/l -> b\nfile a/b\n| 1\n"},
    {OPEN, "a/root", 2, "link a/root -> /d/x\nfile d/x\n| 2\n"},
    {OPEN, "a/near", 2, "link a/near -> e/f\nfile a/e/f\n| 3\n"},
    {OPEN, "d", -EISDIR, "dir d\n"},
    {OPEN, "a/dir", -EISDIR, "link a/dir -> ../d\ndir d\n"},
    {OPEN, "no", -EACCES, "refuse no EACCES\n"},
    {OPEN, "empty", 0, "file empty\n"},
    {OPEN, "broken", -EIO, "error broken EIO\n"},
    {OPEN, "c", -ENOENT, ""},
    {STAT, "dev/dri/card0", 0, "char dev/dri/card0 226:0\n"},
    {STAT, "d/x", 0, "file d/x\nowner d/x 1000\n"},
    {STAT, "a/root", 0, "link a/root -> /d/x\nfile d/x\nowner d/x 1000\n"},
    {STAT, "d", 0, "dir d\n"},
    {STAT, "c", -ENOENT, ""},
};

/* What each question leaves in the record of a machine of which nothing was known. */
static void test_questions(void)
{
    static const char text[] = "file a/b\n| 1\nlink a/l -> b\nlink a/dir -> ../d\n"
                               "link a/none -> nowhere\nfile d/x\n| 2\nfile d/7\nlink d/12 -> x\n"
                               "dir d/8\nrefuse no EACCES\nfile empty\nerror broken EIO\n"
                               "link a/root -> /d/x\nlink a/near -> e/f\nfile a/e/f\n| 3\n"
                               "char dev/dri/card0 226:0\nowner d/x 1000\nowner d/y 0\nend\n";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(questions); i++) {
        static struct recorder recorder;
        char want[200];
        test_label = questions[i].path;
        if (!recorder_start(&recorder, text))
            return;
        const struct gtel_env *env = &recorder.env;
        CHECK_INT(env->ops->monotonic_ns(env->arg),
                  recorder.inner.ops->monotonic_ns(recorder.inner.arg));
        CHECK_INT(env->ops->wall_ns(env->arg), recorder.inner.ops->wall_ns(recorder.inner.arg));
        CHECK(env->ops->wall_ns(env->arg) > 0);
        int64_t r = ask(env, questions[i].question, questions[i].path);
        CHECK_INT(r, questions[i].rc);
        (void)snprintf(want, sizeof(want), "%send\n", questions[i].want);
        CHECK_STR(gtel_str_of(recorder_finish(&recorder)), want);
        recorder_stop(&recorder);
    }
    test_label = "";
}

/* Files that are open together; a number that is free is used again, and not answered before. */
static void test_handles(void)
{
    enum { FILES = 130 };
    static struct recorder recorder;
    char buf[8] = "";
    test_label = "handles";
    if (!recorder_start(&recorder, "file a\n| 12345\nfile b\n| 7\nend\n"))
        return;
    const struct gtel_env *env = &recorder.env;
    for (int i = 0; i < FILES; i++)
        CHECK_INT(env->ops->file_open(env->arg, i == 64 ? "b" : "a"), i);
    CHECK_INT(env->ops->file_read(env->arg, 64, buf, sizeof(buf)), 2);
    CHECK_INT(buf[0], '7');
    CHECK_INT(env->ops->file_read(env->arg, FILES - 1, buf, 3), 3); /* no more than there is room */
    CHECK(memcmp(buf, "123", 3) == 0);
    env->ops->file_close(env->arg, 64);
    static const int none[] = {64, FILES, 255, 256, -1};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(none); i++) {
        CHECK_INT(env->ops->file_read(env->arg, none[i], buf, sizeof(buf)), -EBADF);
        env->ops->file_close(env->arg, none[i]); /* no harm */
    }
    CHECK_INT(env->ops->file_read(env->arg, 63, buf, sizeof(buf)), 6);
    CHECK_INT(env->ops->file_open(env->arg, "b"), 64);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), "file a\n| 12345\nfile b\n| 7\nend\n");
    recorder_stop(&recorder);
}

/* A file that may not be read any more, then may be; a device that comes again with new files. */
static void test_changes(void)
{
    static const char text[] = "file a/b\n| 1\nat 1s\nrefuse a/b EACCES\n"
                               "at 2s\nfile a/b\n| 1\nat 3s\ngone a\nat 4s\nfile a/b\n| 1\nend\n";
    static struct recorder recorder;
    static const int want[] = {0, -EACCES, 0, -ENOENT, 0};
    test_label = "changes";
    if (!recorder_start(&recorder, text))
        return;
    for (uint64_t s = 0; s < GTEL_ARRAY_LEN(want); s++) {
        gtel_record_at(&recorder.record, s * 1000000000);
        CHECK_INT(read_file(&recorder.env, "a/b"), want[s]);
        gtel_env_tree_step(&recorder.inner, 1000000000);
    }
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), text);
    recorder_stop(&recorder);
}

/* The device of a file that is kept open is removed, and perhaps comes again with another file. */
static void test_dead(void)
{
    static const struct {
        const char *label;
        const char *change;
        const char *want;
    } cases[] = {
        {"removed", "gone d\n", "gone d\n"},
        {"again there", "gone d\nfile d/x\n| 5\n", "gone d/x\nfile d/x\n| 5\n"},
        {"again there, without content", "gone d\nfile d/x\n", "gone d/x\nfile d/x\n"},
        {"again there, and broken", "gone d\nfile d/x\nerror d/x EIO\n", "error d/x EIO\n"},
        {"again there, and closed", "gone d\nrefuse d/x EACCES\n", ""},
        {"the link removed", "gone d\ngone l\nfile d/x\n| 5\n", "gone l\n"},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct recorder recorder;
        char text[200];
        char want[200];
        char buf[8];
        (void)snprintf(text, sizeof(text), "file d/x\n| 1\nlink l -> d/x\nat 1s\n%send\n",
                       cases[i].change);
        (void)snprintf(want, sizeof(want), "link l -> d/x\nfile d/x\n| 1\n%s%send\n", "at 1s\n",
                       cases[i].want);
        if (!recorder_start(&recorder, text))
            return;
        test_label = cases[i].label;
        const struct gtel_env *env = &recorder.env;
        CHECK_INT(read_file(env, "l"), 0);
        int handle = env->ops->file_open(env->arg, "l"); /* no news */
        CHECK_INT(env->ops->file_read(env->arg, handle, buf, sizeof(buf)), 2);
        gtel_env_tree_step(&recorder.inner, 1000000000);
        gtel_record_at(&recorder.record, 1000000000);
        CHECK_INT(env->ops->file_read(env->arg, handle, buf, sizeof(buf)), -ENODEV);
        CHECK_STR(gtel_str_of(recorder_finish(&recorder)), want);
        recorder_stop(&recorder);
    }
    test_label = "";
}

static void set(struct gtel_record *record, const char *path, enum gtel_record_kind kind,
                const char *text)
{
    gtel_record_set(record, gtel_str_of(path), kind, gtel_str_of(text));
}

/* What lies below what, from the first path on. */
static void test_below(void)
{
    static const char *const known[] = {"x", "y", "z/1", "z/10"};
    struct gtel_scrub scrub = {0};
    struct gtel_record record;
    struct gtel_buf out;
    struct gtel_str names[GTEL_ARRAY_LEN(known)];
    test_label = "below";
    gtel_buf_init(&out, 1 << 16);
    gtel_record_init(&record, &scrub);
    set(&record, "", GTEL_RECORD_DIR, "");
    CHECK_INT(record.nodes, 0); /* the root is there */
    set(&record, "d/5", GTEL_RECORD_FILE, "1\n");
    set(&record, "e", GTEL_RECORD_FILE, "1\n");
    CHECK(gtel_record_has_below(&record, GTEL_STR("d")));
    CHECK(!gtel_record_has_below(&record, GTEL_STR("d/5")));
    CHECK(!gtel_record_has_below(&record, GTEL_STR("e")));
    set(&record, "e/f", GTEL_RECORD_FILE, "2\n"); /* that was no file, then */
    set(&record, "e", GTEL_RECORD_FILE, "3\n");
    gtel_record_keep(&record, GTEL_STR("d"), names, 0, true);
    CHECK(!gtel_record_has_below(&record, GTEL_STR("d")));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(known); i++) {
        names[i] = gtel_str_of(known[i]);
        set(&record, known[i], GTEL_RECORD_DIR, "");
    }
    set(&record, "z/2", GTEL_RECORD_DIR, "");
    set(&record, "z/word", GTEL_RECORD_DIR, "");
    set(&record, "z/2/3", GTEL_RECORD_DIR, "");
    static struct gtel_str ones[] = {GTEL_STR_INIT("1"), GTEL_STR_INIT("10")};
    gtel_record_keep(&record, GTEL_STR("z"), ones, 2, true);
    CHECK(gtel_record_find(&record, GTEL_STR("z/1")) == GTEL_RECORD_DIR);
    CHECK(gtel_record_find(&record, GTEL_STR("z/10")) == GTEL_RECORD_DIR);
    CHECK(gtel_record_find(&record, GTEL_STR("z/2")) == GTEL_RECORD_NOTHING);
    CHECK(gtel_record_find(&record, GTEL_STR("z/2/3")) == GTEL_RECORD_NOTHING);
    CHECK(gtel_record_find(&record, GTEL_STR("z/word")) == GTEL_RECORD_DIR);
    gtel_record_keep(&record, GTEL_STR("z"), ones, 1, false);
    CHECK(gtel_record_find(&record, GTEL_STR("z/word")) == GTEL_RECORD_NOTHING);
    CHECK_INT(gtel_record_write(&record, NULL, NULL, &out), 0);
    CHECK_STR(gtel_buf_text(&out),
              "file d/5\n| 1\nfile e\n| 1\nfile e/f\n| 2\nfile e\n| 3\ngone d/5\n"
              "dir x\ndir y\ndir z/1\ndir z/10\ndir z/2\ndir z/word\ndir z/2/3\n"
              "gone z/2\ngone z/10\ngone z/word\nend\n");
    gtel_record_done(&record);
    gtel_scrub_done(&scrub);
    gtel_buf_done(&out);
}

int main(void)
{
    test_counters();
    test_words();
    test_errors();
    test_listeners();
    test_questions();
    test_handles();
    test_changes();
    test_dead();
    test_below();
    test_secrets();
    test_states();
    test_messages();
    test_times();
    test_binary();
    test_processes();
    return test_result();
}
