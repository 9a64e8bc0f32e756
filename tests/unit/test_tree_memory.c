/* SPDX-License-Identifier: MIT */
/* A recorded machine that does not fit into memory. */
#include "base/buf.h"
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

int main(void)
{
    test_memory();
    return test_result();
}
