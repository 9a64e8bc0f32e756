/* SPDX-License-Identifier: MIT */
/* Recording a machine: what was asked is written once per state, and identities are made up. */
#include "host/fs.h"
#include "recording/record_env.h"
#include "recording/tree.h"
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

struct recorder {
    struct gtel_tree *tree;
    struct gtel_env inner;
    struct gtel_scrub scrub;
    struct gtel_record record;
    struct gtel_env env;
    struct gtel_buf out;
};

static bool start(struct recorder *recorder, const char *text)
{
    char error[200] = "";
    *recorder = (struct recorder){0};
    gtel_buf_init(&recorder->out, 1 << 20);
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &recorder->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    return CHECK(gtel_env_tree_init(recorder->tree, true, 1, &recorder->inner) == 0) &&
           CHECK(gtel_record_init(&recorder->record, &recorder->scrub) == 0) &&
           CHECK(gtel_record_env_init(&recorder->inner, &recorder->record, &recorder->env) == 0);
}

/* The text of the record, which must be one that can be read back. */
static const char *finish(struct recorder *recorder)
{
    struct gtel_tree *back = NULL;
    char error[200] = "";
    CHECK_INT(gtel_record_write(&recorder->record, NULL, NULL, &recorder->out), 0);
    if (!CHECK(gtel_tree_parse(gtel_buf_text(&recorder->out), &back, error, sizeof(error)) == 0))
        printf("    %s\n", error);
    gtel_tree_free(back);
    gtel_buf_char(&recorder->out, '\0');
    return recorder->out.p;
}

static void stop(struct recorder *recorder)
{
    gtel_record_env_done(&recorder->env);
    gtel_record_done(&recorder->record);
    gtel_scrub_done(&recorder->scrub);
    gtel_env_tree_done(&recorder->inner);
    gtel_tree_free(recorder->tree);
    gtel_buf_done(&recorder->out);
}

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
    if (!start(&recorder, secrets))
        return;
    gtel_scrub_host(&recorder.scrub, GTEL_STR("rack17-node4"));
    gtel_scrub_user(&recorder.scrub, GTEL_STR("maria"));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        CHECK_INT(read_file(&recorder.env, files[i]), 0);
    const char *text = finish(&recorder);
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
    stop(&recorder);
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
    if (!start(&recorder, machine))
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
    struct gtel_str text = gtel_str_of(finish(&recorder));
    CHECK(gtel_str_starts(text, gtel_str_of(wanted)));
    CHECK(strstr(text.p, "A1B2") == NULL && strstr(text.p, " WEDGED=none\n") != NULL);
    CHECK(gtel_str_ends(text, GTEL_STR("at 2s\ngone sys/devices/b/c\nend\n")));
    if (!gtel_str_starts(text, gtel_str_of(wanted)))
        printf("%s", text.p);
    stop(&recorder);
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
    if (!start(&recorder, text))
        return;
    int ear = gtel_env_uevent_open(&recorder.env);
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    while (recorder.env.ops->uevent_read(recorder.env.arg, ear, message, sizeof(message)) > 0)
        n++;
    CHECK_INT(n, 5); /* all are passed on */
    recorder.env.ops->uevent_close(recorder.env.arg, ear);
    CHECK_STR(gtel_str_of(finish(&recorder)),
              "uevents on\nat 1s\n"
              "uevent change /devices/other\n"
              "uevent change /devices/pci0/0000:03:00.0/drm/card0 A=1\n"
              "uevent change /devices/pci0/0000:03:00.0 SUBSYSTEM=pci\n"
              "uevent change /devices/pci0/0000:03:00.0 WEDGED=none\n"
              "uevent change /devices/other\nend\n");
    stop(&recorder);
}

/* Times are written in the largest unit that holds them. */
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
    if (!start(&recorder, "binary sys/a/table\n| 2:17 1:255 5:3 9:0x0807060504030201\n"
                          "binary sys/a/text\n| 1:53 1:10 2:0\nend\n"))
        return;
    CHECK_INT(read_file(&recorder.env, "sys/a/table"), 0);
    CHECK_INT(read_file(&recorder.env, "sys/a/text"), 0);
    CHECK_STR(gtel_str_of(finish(&recorder)), text);
    stop(&recorder);
}

static void test_times(void)
{
    static const char text[] = "file a/b\n| 1\nat 1s\nfile a/b\n| 2\nat 1500ms\nfile a/b\n| 3\n"
                               "at 1500000001ns\nfile a/b\n| 4\nend\n";
    static const uint64_t times[] = {0, 1000000000, 1500000000, 1500000001};
    static struct recorder recorder;
    test_label = "times";
    if (!start(&recorder, text))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(times); i++) {
        gtel_env_tree_step(&recorder.inner, i > 0 ? times[i] - times[i - 1] : 0);
        gtel_record_at(&recorder.record, times[i]);
        CHECK_INT(read_file(&recorder.env, "a/b"), 0);
    }
    CHECK_STR(gtel_str_of(finish(&recorder)), text);
    stop(&recorder);
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
    if (!start(&recorder, processes))
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
    const char *text = finish(&recorder);
    test_label = "text";
    if (!CHECK(gtel_str_starts(gtel_str_of(text), gtel_str_of(recorded))) ||
        !CHECK(strstr(text, "gone proc/10\nend\n") != NULL) ||
        !CHECK(strstr(text, "owner proc/9 0\n") != NULL) || !CHECK(strstr(text, "maria") == NULL))
        printf("%s", text);
    stop(&recorder);
}

int main(void)
{
    test_secrets();
    test_states();
    test_messages();
    test_times();
    test_binary();
    test_processes();
    return test_result();
}
