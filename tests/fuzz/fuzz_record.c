/* SPDX-License-Identifier: MIT */
/* Recording: whatever a file holds, the record can be read back. */
#include "fuzz.h"

#include "host/record.h"
#include "host/tree.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gtel_scrub scrub;
    static struct gtel_record record;
    struct gtel_tree *tree = NULL;
    struct gtel_buf out;
    char error[100];
    const struct gtel_str text = {(const char *)data, size};
    gtel_buf_init(&out, 1 << 20);
    gtel_scrub_name(&scrub, GTEL_SCRUB_HOST, GTEL_STR("host"));
    if (gtel_record_init(&record, &scrub) == 0) {
        gtel_record_file(&record, GTEL_STR("sys/a/uevent"), text);
        gtel_record_file(&record, GTEL_STR("sys/a/serial"), text);
        gtel_record_at(&record, 1);
        gtel_record_file(&record, GTEL_STR("etc/group"), text);
        gtel_record_gone(&record, GTEL_STR("sys/a"));
        if (gtel_record_write(&record, &out) == 0 &&
            gtel_tree_parse(gtel_buf_text(&out), &tree, error, sizeof(error)) < 0)
            abort();
    }
    gtel_tree_free(tree);
    gtel_record_done(&record);
    gtel_scrub_done(&scrub);
    gtel_buf_done(&out);
    return 0;
}
