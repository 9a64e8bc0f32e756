/* SPDX-License-Identifier: MIT */
/* Fuzz target: the binary tables of amdgpu, each input as each of them. */
#include "fuzz/fuzz.h"
#include "parse/amd_metrics.h"

static void check_place(const struct gtel_amd_metrics *metrics, enum gtel_amd_field field)
{
    const struct gtel_amd_place *place = &metrics->place[field];
    bool is_per_part = gtel_amd_metrics_is_per_part(metrics, field);
    unsigned parts = is_per_part ? metrics->parts : 1;
    uint64_t value;
    FUZZ_CHECK((place->offset == 0) == (place->count == 0));
    if (place->count == 0)
        return;
    FUZZ_CHECK(place->width == 1 || place->width == 2 || place->width == 4 || place->width == 8);
    FUZZ_CHECK(place->offset >= 4 && place->count < 1024);
    FUZZ_CHECK(place->offset + (size_t)place->count * place->width +
                   (parts - 1) * (size_t)metrics->part_size <=
               metrics->size);
    for (unsigned i = 0; i <= place->count; i++) {
        bool has = gtel_amd_metrics_get(metrics, field, i, &value);
        FUZZ_CHECK(!has || (i < place->count && !is_per_part));
        for (int part = 0; part <= metrics->parts; part++) {
            has = gtel_amd_metrics_part(metrics, part, field, i, &value);
            FUZZ_CHECK(!has || (i < place->count && part < metrics->parts && is_per_part));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum gtel_amd_table tables[] = {GTEL_AMD_TABLE_GPU, GTEL_AMD_TABLE_PARTITION,
                                                 GTEL_AMD_TABLE_GPUBOARD, GTEL_AMD_TABLE_BASEBOARD};
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
        struct gtel_amd_metrics metrics = {0};
        if (gtel_amd_metrics_parse(tables[t], data, size, &metrics) < 0)
            continue;
        FUZZ_CHECK(metrics.size <= size);
        for (unsigned field = 0; field < GTEL_AMD_FIELDS; field++)
            check_place(&metrics, (enum gtel_amd_field)field);
        for (unsigned i = 0; i < 2 * GTEL_AMD_SENSORS_MAX; i++) {
            struct gtel_amd_sensor sensor;
            if (gtel_amd_metrics_sensor(&metrics, i, &sensor))
                FUZZ_CHECK(i < GTEL_AMD_SENSORS_MAX && sensor.name[0] != '\0');
        }
    }
    return 0;
}
