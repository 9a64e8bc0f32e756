/* SPDX-License-Identifier: MIT */
/* Fuzz target: what amd-smi and rocm-smi print. */
#include "fuzz/fuzz.h"
#include "parse/json.h"
#include "sources/amd/tool_read.h"

#include <errno.h>
#include <string.h>

static void check_device(const struct gtel_amd_tool_device *device)
{
    FUZZ_CHECK(device->index >= -1 && device->index < 1024);
    FUZZ_CHECK(memchr(device->model, '\0', sizeof(device->model)) != NULL);
    FUZZ_CHECK((device->has & device->bad) == 0);
    for (size_t i = 0; i < GTEL_AMD_TOOL_ROWS; i++) {
        const struct gtel_amd_tool_row *row = &gtel_amd_tool_rows[i];
        if ((device->has >> i & 1) == 0)
            continue;
        FUZZ_CHECK(i < gtel_amd_tool_rows_n);
        FUZZ_CHECK(device->value[i] >= row->least && device->value[i] <= row->most);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *memory = malloc(gtel_json_memory(size));
    struct gtel_amd_tool_answer *answer = malloc(sizeof(*answer));
    if (memory && answer) {
        int r = gtel_amd_tool_read(fuzz_text(data, size), memory, answer);
        FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -EPROTO);
        FUZZ_CHECK((r == 0) == (answer->n > 0) && answer->n <= GTEL_AMD_TOOL_DEVICES);
        FUZZ_CHECK((r == -EPROTO) == (answer->n == 0 && answer->error[0] != '\0'));
        for (size_t i = 0; i < answer->n; i++)
            check_device(&answer->device[i]);
    }
    free(memory);
    free(answer);
    return 0;
}
