/* SPDX-License-Identifier: MIT */
/* Frames: any bytes from the other side give readings that hold together, or -EPROTO. */
#include "fuzz.h"

#include "lanes/wire.h"
#include "sources/source.h"

#include <stdlib.h>

static void check(const struct gtel_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct gtel_reading *reading = &batch->reading[i];
        if (!reading->device || reading->metric >= GTEL_M_COUNT ||
            reading->value_type > GTEL_VALUE_TEXT)
            abort();
    }
}

static void check_findings(const struct gtel_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        if (finding->measurement >= GTEL_MEASUREMENT_COUNT || finding->error > 0 ||
            finding->source >= GTEL_SOURCES_MAX)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gtel_batch batch;
    static struct gtel_wire_map map;
    struct gtel_registry registry = {0};
    struct gtel_str bytes = {(const char *)data, size};
    struct gtel_findings findings = {0};
    struct gtel_frame frame;
    struct gtel_answer answer;
    size_t used;
    uint64_t number;
    bool with_findings;
    uint8_t level;
    struct gtel_str text;
    map = (struct gtel_wire_map){0};
    gtel_batch_reset(&batch);
    batch.findings = &findings;
    while (gtel_frame_next(bytes, &frame, &used) == 0) {
        if (gtel_wire_read_answer(frame.payload, &registry, &map, &batch, &answer) == 0)
            check(&batch);
        check_findings(&findings);
        (void)gtel_wire_read_request(frame.payload, &number, &with_findings);
        (void)gtel_wire_read_log(frame.payload, &level, &text);
        bytes = gtel_str_skip(bytes, used);
    }
    batch.findings = NULL;
    gtel_findings_done(&findings);
    gtel_registry_done(&registry);
    return 0;
}
