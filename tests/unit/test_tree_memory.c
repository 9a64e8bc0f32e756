/* SPDX-License-Identifier: MIT */
/* A recorded machine that does not fit into memory, read and written. */
#include "base/buf.h"
#include "recording/record.h"
#include "recording/tree.h"
#include "harness/alloc_fault.h"
#include "harness/test.h"

#include <errno.h>
#include <string.h>

static const char machine[] = "# a card\nwall 1000\n"
                              "link sys/class/drm/card0 -> ../../devices/pci/card0\n"
                              "file sys/devices/pci/card0/vendor\n| 0x8086\n"
                              "grow sys/devices/pci/card0/energy 7 2\n"
                              "binary sys/devices/pci/card0/table\n| 2:0x78 1:1\n"
                              "error sys/devices/pci/card0/busy EIO\n"
                              "library libze_loader.so.1\ncall zesInit =\nat 60s\n";

/* Whichever allocation fails: the machine is none, for want of memory. Nodes grow once, too. */
static void test_memory(void)
{
    struct gtel_buf text;
    char error[200] = "";
    int r = -ENOMEM;
    uint64_t k = 0;
    gtel_buf_init(&text, 1 << 20);
    gtel_buf_str(&text, gtel_str_of(machine));
    for (unsigned i = 0; i < 1100; i++)
        gtel_buf_printf(&text, "dir more/%u\n", i);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    CHECK(!text.has_failed);
    while (r == -ENOMEM && ++k < 1000) {
        struct gtel_tree *tree = NULL;
        alloc_fault_arm(k);
        r = gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error));
        bool has_failed = alloc_fault_count() >= k;
        alloc_fault_arm(0);
        CHECK_INT(r, has_failed ? -ENOMEM : 0);
        CHECK(!has_failed || (!tree && strcmp(error, "out of memory") == 0));
        gtel_tree_free(tree);
    }
    CHECK(k > 5 && k < 1000);
    gtel_buf_done(&text);
}

static void write_head(void *arg, struct gtel_buf *out)
{
    (void)arg;
    gtel_buf_str(out, GTEL_STR("# a machine\n"));
}

static int write_record(struct gtel_buf *out)
{
    struct gtel_scrub scrub = {0};
    struct gtel_record record;
    gtel_record_init(&record, &scrub);
    gtel_record_set(&record, GTEL_STR("sys/a/b"), GTEL_RECORD_FILE, GTEL_STR("1\n"));
    gtel_record_event(&record, GTEL_STR("uevent lost"));
    gtel_record_at(&record, 1000000000);
    gtel_record_gone(&record, GTEL_STR("sys/a/b"));
    int r = gtel_record_write(&record, write_head, NULL, out);
    gtel_record_done(&record);
    gtel_scrub_done(&scrub);
    return r;
}

/* Whichever allocation fails: there is the whole text, or none. */
static void test_record(void)
{
    uint64_t k = 0;
    test_label = "record";
    for (bool has_failed = true; has_failed && ++k < 100;) {
        struct gtel_buf out;
        gtel_buf_init(&out, 1 << 20);
        alloc_fault_arm(k);
        int r = write_record(&out);
        has_failed = alloc_fault_count() >= k;
        alloc_fault_arm(0);
        CHECK_INT(r, has_failed ? -ENOMEM : 0);
        if (r == 0)
            CHECK_STR(gtel_buf_text(&out), "# a machine\nfile sys/a/b\n| 1\nuevent lost\n"
                                           "at 1s\ngone sys/a/b\nend\n");
        gtel_buf_done(&out);
    }
    CHECK(k > 10 && k < 100);
    test_label = "";
}

/* As many paths as a record has room for, and one more. */
static void test_many_paths(void)
{
    const unsigned most = 1 << 18;
    struct gtel_scrub scrub = {0};
    struct gtel_record record;
    char path[16];
    test_label = "many paths";
    gtel_record_init(&record, &scrub);
    for (unsigned i = 0; i <= most; i++) {
        CHECK(!record.text.has_failed);
        (void)snprintf(path, sizeof(path), "%u", i);
        gtel_record_set(&record, gtel_str_of(path), GTEL_RECORD_DIR, GTEL_STR_NONE);
    }
    CHECK(record.text.has_failed);
    CHECK_INT(record.nodes, most);
    gtel_record_done(&record);
    gtel_scrub_done(&scrub);
    test_label = "";
}

int main(void)
{
    test_record();
    test_many_paths();
    test_memory();
    return test_result();
}
