/* SPDX-License-Identifier: MIT */
/* Recording: whatever a file holds, the record can be read back. */
#include "fuzz.h"

#include "recording/record.h"
#include "recording/tree.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gtel_str paths[] = {
        GTEL_STR_INIT("sys/a/uevent"),  GTEL_STR_INIT("sys/a/serial"),
        GTEL_STR_INIT("etc/group"),     GTEL_STR_INIT("etc/passwd"),
        GTEL_STR_INIT("proc/1/cgroup"), GTEL_STR_INIT("proc/sys/kernel/osrelease"),
        GTEL_STR_INIT("proc/1/comm"),   GTEL_STR_INIT("proc/sys/kernel/hostname")};
    static struct gtel_scrub scrub;
    static struct gtel_record record;
    struct gtel_tree *tree = NULL;
    struct gtel_buf out;
    char error[100];
    const struct gtel_str text = {(const char *)data, size};
    gtel_buf_init(&out, 1 << 20);
    gtel_scrub_host(&scrub, GTEL_STR("host"));
    gtel_record_init(&record, &scrub);
    size_t n = sizeof(paths) / sizeof(paths[0]);
    gtel_record_set(&record, paths[size > 0 ? data[size - 1] % n : 0], GTEL_RECORD_FILE, text);
    gtel_record_at(&record, 1);
    gtel_record_gone(&record, GTEL_STR("sys/a"));
    if (gtel_record_write(&record, NULL, NULL, &out) == 0 &&
        gtel_tree_parse(gtel_buf_text(&out), &tree, error, sizeof(error)) < 0)
        abort();
    gtel_tree_free(tree);
    gtel_record_done(&record);
    gtel_scrub_done(&scrub);
    gtel_buf_done(&out);
    return 0;
}
