/* SPDX-License-Identifier: MIT */
/* Fuzz target: lines of macmon. */
#include "fuzz/fuzz.h"
#include "parse/json.h"
#include "parse/macmon.h"

#include <errno.h>
#include <string.h>

static bool has(const struct gtel_macmon *line, enum gtel_macmon_value value)
{
    return (line->known >> value & 1) != 0;
}

static void check_line(const struct gtel_macmon *line)
{
    static const double most[GTEL_MACMON_VALUES] = {1, 20e9, 150, 0x1p48, 0x1p48, 5e3, 5e3, 5e3};
    FUZZ_CHECK(line->known != 0 && line->known >> GTEL_MACMON_VALUES == 0);
    for (unsigned i = 0; i < GTEL_MACMON_VALUES; i++)
        if ((line->known >> i & 1) != 0)
            FUZZ_CHECK(line->value[i] >= 0 && line->value[i] <= most[i]);
    if (has(line, GTEL_MACMON_TEMPERATURE))
        FUZZ_CHECK(line->value[GTEL_MACMON_TEMPERATURE] >= 1);
    if (has(line, GTEL_MACMON_POWER_ALL))
        FUZZ_CHECK(line->value[GTEL_MACMON_POWER_ALL] > 0);
    if (has(line, GTEL_MACMON_RAM_USED) && has(line, GTEL_MACMON_RAM_TOTAL))
        FUZZ_CHECK(line->value[GTEL_MACMON_RAM_USED] <= line->value[GTEL_MACMON_RAM_TOTAL]);
    for (size_t i = 0; i < GTEL_MACMON_FANS; i++) {
        const struct gtel_macmon_fan *fan = &line->fan[i];
        FUZZ_CHECK(memchr(fan->name, '\0', sizeof(fan->name)) != NULL && fan->name[0] != '\0');
        FUZZ_CHECK(fan->rpm <= 50000);
    }
    FUZZ_CHECK(memchr(line->model, '\0', sizeof(line->model)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *memory = malloc(gtel_json_memory(size));
    struct gtel_macmon line;
    struct gtel_macmon untouched;
    memset(&line, 0x55, sizeof(line));
    memcpy(&untouched, &line, sizeof(line));
    if (memory) {
        int r = gtel_macmon_parse(fuzz_text(data, size), memory, &line);
        FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -E2BIG || r == -ENODATA);
        if (r == 0)
            check_line(&line);
        else
            FUZZ_CHECK(memcmp((const char *)&line, (const char *)&untouched, sizeof(line)) == 0);
    }
    free(memory);
    return 0;
}
