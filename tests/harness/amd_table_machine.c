/* SPDX-License-Identifier: MIT */
/* One card with a gpu_metrics in memory. */
#include "harness/amd_table_machine.h"

#include <errno.h>
#include <stdlib.h>

struct amd_machine amd_machine;

static uint64_t now(void *arg)
{
    (void)arg;
    return amd_machine.now_ns;
}

static int open_file(void *arg, const char *path)
{
    (void)arg;
    return strcmp(path, "card/gpu_metrics") == 0 ? 7 : -ENOENT;
}

static int64_t read_file(void *arg, int handle, void *buf, size_t n)
{
    (void)arg;
    CHECK_INT(handle, 7);
    amd_machine.reads++;
    if (amd_machine.error < 0)
        return amd_machine.error;
    size_t got = amd_machine.n < n ? amd_machine.n : n;
    memcpy(buf, amd_machine.bytes, got);
    return (int64_t)got;
}

static void close_file(void *arg, int handle)
{
    (void)arg;
    CHECK_INT(handle, 7);
}

static void write_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    amd_machine.logs++;
    (void)snprintf(amd_machine.last_log, sizeof(amd_machine.last_log), "%s", text);
}

static const struct gtel_env_ops ops = {
    .monotonic_ns = now, .file_open = open_file, .file_read = read_file, .file_close = close_file};
const struct gtel_env amd_env = {.ops = &ops, .log = {.write = write_log}};

/* ---- one card ---- */

struct gtel_device amd_device = {.key = "0000:03:00.0"};
static struct gtel_cards cards = {.env = &amd_env};
struct gtel_card amd_card = {
    .cards = &cards, .device = &amd_device, .drm = {.key = "0000:03:00.0", .driver = "amdgpu"}};

void amd_life_begin(struct amd_life *life, uint16_t device_id)
{
    memset(life, 0, sizeof(*life));
    amd_machine.now_ns = 100 * S;
    amd_machine.logs = 0;
    amd_machine.error = 0;
    memset(amd_machine.bytes, 0, AMD_FILE_MAX);
    amd_card.drm.device_id = device_id;
    CHECK_INT(gtel_fs_open(&amd_env, &life->table.file.file, "card/gpu_metrics"), 0);
}

void amd_life_end(struct amd_life *life)
{
    gtel_amd_table_close(&amd_env, &life->table);
    gtel_batch_done(&life->batch);
}

int amd_gather(struct amd_life *life)
{
    gtel_batch_reset(&life->batch);
    life->batch.t_ns = amd_machine.now_ns;
    return gtel_amd_table_sample(&life->table, &amd_card, &life->batch);
}

const struct gtel_reading *amd_find(const struct amd_life *life, enum gtel_metric metric,
                                    const char *dim)
{
    const struct gtel_reading *found = NULL;
    for (size_t i = 0; i < life->batch.n; i++) {
        const struct gtel_reading *reading = &life->batch.reading[i];
        if (reading->metric != (uint16_t)metric || !gtel_str_eq(reading->dim[0], gtel_str_of(dim)))
            continue;
        CHECK(found == NULL); /* once */
        CHECK(reading->device == &amd_device && reading->origin == GTEL_AMD_TABLE_ORIGIN);
        found = reading;
    }
    return found;
}

double amd_value(const struct amd_life *life, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *reading = amd_find(life, metric, dim);
    return reading ? gtel_reading_number(reading) : -1;
}

void amd_check(const struct amd_life *life, const struct amd_want *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double got = amd_value(life, want[i].metric, want[i].dim);
        double off = got > want[i].value ? got - want[i].value : want[i].value - got;
        if (!CHECK(off <= 1e-12 * got || off <= 1e-12))
            printf("    metric %u '%s': got %.17g, want %.17g\n", want[i].metric, want[i].dim, got,
                   want[i].value);
    }
}

/* ---- tables in memory ---- */

static const struct amd_place_at places[] = {
#define AMD_TABLE(revision, table, format, content, size, part_size)                               \
    {#revision, GTEL_AMD_FIELDS, size, format * 256 + (content)},
#define AMD_FIELD(revision, field, name, offset, width, count)                                     \
    {#revision, GTEL_AMD_##field, offset, width},
#define AMD_PART(revision, field, name, offset, width, count)                                      \
    {#revision, GTEL_AMD_##field, offset, width},
#define AMD_END
#include "abi/amd_layout.def"
};

const struct amd_place_at *amd_place(const char *revision, enum gtel_amd_field field)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(places); i++)
        if (places[i].field == field && strcmp(places[i].revision, revision) == 0)
            return &places[i];
    CHECK(false);
    return &places[0];
}

void amd_put(size_t at, size_t width, uint64_t number)
{
    for (size_t i = 0; i < width; i++)
        amd_machine.bytes[at + i] = (unsigned char)(number >> (8 * i));
}

void amd_table_begin(const char *revision)
{
    const struct amd_place_at *place = amd_place(revision, GTEL_AMD_FIELDS);
    amd_machine.n = place->offset;
    memset(amd_machine.bytes, 0xff, amd_machine.n);
    amd_put(0, 2, place->offset);
    amd_machine.bytes[2] = (unsigned char)(place->width / 256);
    amd_machine.bytes[3] = (unsigned char)(place->width % 256);
}

void amd_set(const char *revision, enum gtel_amd_field field, unsigned i, uint64_t number)
{
    const struct amd_place_at *place = amd_place(revision, field);
    amd_put(place->offset + (size_t)i * place->width, place->width, number);
}

void amd_load(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/fuzz/corpus/amd_metrics/%s", TEST_DIR, name);
    FILE *file = fopen(path, "rb");
    amd_machine.n = 0;
    if (!CHECK(file != NULL))
        return;
    amd_machine.n = fread(amd_machine.bytes, 1, AMD_FILE_MAX, file);
    (void)fclose(file);
}

bool amd_machine_init(void)
{
    amd_machine.bytes = malloc(AMD_FILE_MAX);
    return CHECK(amd_machine.bytes != NULL);
}

void amd_machine_done(void)
{
    free(amd_machine.bytes);
}
