/* SPDX-License-Identifier: MIT */
/* Recording long files: never a part of one as if it were all of it. */
#include "host/fs.h"
#include "harness/recorder.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE = 64 };

/* A machine with one file of so many lines. */
static void print_file(struct gtel_buf *out, size_t lines)
{
    char line[LINE] = "";
    memset(line, 'x', LINE - 1);
    gtel_buf_reset(out);
    gtel_buf_str(out, GTEL_STR("file a\n"));
    for (size_t i = 0; i < lines; i++)
        gtel_buf_printf(out, "| %s\n", line);
    gtel_buf_str(out, GTEL_STR("end\n"));
    gtel_buf_char(out, '\0');
    CHECK(!out->has_failed);
}

static int read_into(const struct gtel_env *env, size_t room)
{
    struct gtel_fs_file file = {0};
    struct gtel_str text;
    char *buf = malloc(room);
    if (!CHECK(buf != NULL))
        return -ENOMEM;
    CHECK_INT(gtel_fs_open(env, &file, "a"), 0);
    int r = gtel_fs_read_bytes(env, &file, buf, room, &text);
    if (r == 0)
        r = (int)text.n;
    gtel_fs_close(env, &file);
    free(buf);
    return r;
}

static const struct {
    const char *label;
    size_t lines;
    size_t room[2]; /* of two readers, one after the other; 0: only one */
    int rc[2];      /* bytes, or an error */
    bool is_whole;  /* in the record */
} long_files[] = {
    {"shorter", 1023, {65536}, {1023 * LINE}, true},
    {"shorter, for a number", 1023, {32}, {-E2BIG}, true},
    {"just as long as is read in any case", 1024, {65536}, {-E2BIG}, false},
    {"the same with more room", 1024, {65536, 65537}, {-E2BIG, 65536}, true},
    {"too long", 2000, {65536}, {-E2BIG}, false},
    {"too long for a number", 2000, {32}, {-E2BIG}, false},
    {"more room", 2000, {65536, 131072}, {-E2BIG, 2000 * LINE}, true},
    {"more room, then less", 2000, {131072, 4096}, {2000 * LINE, -E2BIG}, true},
    {"as long as is written", 8192, {1 << 20}, {8192 * LINE}, true},
    {"too long for the format", 8193, {1 << 20}, {8193 * LINE}, false},
    {"more room than there is", 1, {(16 << 20) + 1}, {-ENOMEM}, false},
};

static void test_long(void)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(long_files); i++) {
        static struct recorder recorder;
        print_file(&text, long_files[i].lines);
        test_label = long_files[i].label;
        if (!recorder_start(&recorder, text.p))
            break;
        for (int k = 0; k < 2 && long_files[i].room[k] > 0; k++)
            CHECK_INT(read_into(&recorder.env, long_files[i].room[k]), long_files[i].rc[k]);
        if (long_files[i].rc[0] == -ENOMEM)
            CHECK(recorder.record.text.has_failed);
        else
            CHECK_STR(gtel_str_of(recorder_finish(&recorder)),
                      long_files[i].is_whole ? text.p : "error a E2BIG\nend\n");
        recorder_stop(&recorder);
    }
    gtel_buf_done(&text);
}

/* Of the list of all PCI devices the machine's own, also those that come later. */
static void test_list(void)
{
    static const char lines[] = "1002  Advanced Micro Devices\n| \t744c  Navi 31\n"
                                "| 8086  Intel Corporation\n| \t56a0  DG2 [Arc A770]\n";
    static struct recorder recorder;
    char text[1200];
    char want[1200];
    (void)snprintf(text, sizeof(text),
                   "file sys/a/uevent\n| DRIVER=xe\n| PCI_ID=8086:56A0\n"
                   "file sys/c/uevent\n| DRIVER=usb\n"
                   "file sys/c/device\n| 0x1056a1\n"
                   "file etc/device\n| 0x4641\n"
                   "link usr/share/misc/pci.ids -> ../hwdata/pci.ids\n"
                   "file usr/share/hwdata/pci.ids\n"
                   "| # List\n| \n| 0001  SafeNet\n| \t0001  A\n"
                   "| 1002  Advanced Micro Devices\n| \t744b  Navi\n| \t744c  Navi 31\n"
                   "| \t\t1002 0e3b  Radeon\n"
                   "| 8086  Intel Corporation\n| \t4641  Host Bridge\n| \t56a0  DG2 [Arc A770]\n"
                   "| \t\t56a0 1020  A card\n| \t56a1  DG2 [Arc A750]\n"
                   "| C 03  Display\n| \t00  VGA\n"
                   "at 1s\nfile sys/b/device\n| 0x744c\nend\n");
    (void)snprintf(want, sizeof(want),
                   "file sys/a/uevent\n| DRIVER=xe\n| PCI_ID=8086:56A0\n"
                   "file sys/c/uevent\n| DRIVER=usb\n"
                   "file sys/c/device\n| 0x1056a1\n"
                   "file etc/device\n| 0x4641\n"
                   "link usr/share/misc/pci.ids -> ../hwdata/pci.ids\n"
                   "file usr/share/hwdata/pci.ids\n"
                   "| 8086  Intel Corporation\n| \t56a0  DG2 [Arc A770]\n"
                   "at 1s\nfile sys/b/device\n| 0x744c\n"
                   "file usr/share/hwdata/pci.ids\n| %send\n",
                   lines);
    test_label = "list of devices";
    if (!recorder_start(&recorder, text))
        return;
    static const char *const files[] = {"sys/a/uevent", "sys/c/uevent", "sys/c/device",
                                        "etc/device", "usr/share/misc/pci.ids"};
    char buf[4096];
    struct gtel_str got;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        CHECK_INT(gtel_fs_text(&recorder.env, files[i], buf, sizeof(buf), &got), 0);
    CHECK(gtel_str_ends(got, GTEL_STR("\t00  VGA"))); /* who asks gets all of it */
    gtel_env_tree_step(&recorder.inner, 1000000000);
    gtel_record_at(&recorder.record, 1000000000);
    CHECK_INT(gtel_fs_text(&recorder.env, "sys/b/device", buf, sizeof(buf), &got), 0);
    CHECK_INT(gtel_fs_text(&recorder.env, files[4], buf, sizeof(buf), &got), 0);
    CHECK_STR(gtel_str_of(recorder_finish(&recorder)), want);
    recorder_stop(&recorder);
}

int main(void)
{
    test_long();
    test_list();
    return test_result();
}
