/* SPDX-License-Identifier: MIT */
/* A line of `macmon pipe`. */
#include "parse/macmon.h"

#include "base/compiler.h"
#include "parse/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SCALED = 1, RENAMED, RENAMED_AGAIN, ACTIVE }; /* ranks of names: the highest counts */

#define BYTES(least) least, 281474976710656
#define WATTS 0, 5000

/* Without a sensor, macmon prints 0 °C. */
static const struct row {
    const char *keys; /* names that lead to it, ">" between; in an array the position */
    enum gtel_macmon_value value;
    unsigned rank;
    double least; /* below, or above the next: unknown */
    double most;
    double scale;
} rows[] = {
    {"gpu_active_ratio", GTEL_MACMON_BUSY, ACTIVE, 0, 1, 1},
    {"gpu_scaled_ratio", GTEL_MACMON_BUSY, RENAMED_AGAIN, 0, 1, 1},
    {"gpu_usage_ratio", GTEL_MACMON_BUSY, RENAMED, 0, 1, 1},
    {"gpu_usage>1", GTEL_MACMON_BUSY, SCALED, 0, 1, 1},
    {"gpu_freq_mhz", GTEL_MACMON_FREQUENCY, 2, 0, 20000, 1e6},
    {"gpu_usage>0", GTEL_MACMON_FREQUENCY, 1, 0, 20000, 1e6},
    {"temp>gpu_temp_avg", GTEL_MACMON_TEMPERATURE, 1, 1, 150, 1},
    {"memory>ram_total", GTEL_MACMON_RAM_TOTAL, 1, BYTES(1), 1},
    {"memory>ram_usage", GTEL_MACMON_RAM_USED, 1, BYTES(0), 1},
    {"gpu_power", GTEL_MACMON_POWER_GPU, 1, WATTS, 1},
    {"ane_power", GTEL_MACMON_POWER_ANE, 1, WATTS, 1},
    {"all_power", GTEL_MACMON_POWER_ALL, 1, WATTS, 1},
};

struct reader {
    struct gtel_macmon now;
    unsigned rank[GTEL_MACMON_VALUES];
};

static bool is_at(const struct gtel_json_path *path, const char *keys)
{
    struct gtel_str rest = gtel_str_of(keys);
    struct gtel_str key;
    size_t n = 0;
    while (gtel_str_part(&rest, '>', &key))
        if (n == path->n || !gtel_str_eq(path->key[n++], key))
            return false;
    return n == path->n;
}

static void take_value(struct reader *reader, const struct row *row, struct gtel_str text)
{
    const unsigned bit = 1U << row->value;
    double value;
    if (row->rank < reader->rank[row->value])
        return;
    reader->rank[row->value] = row->rank;
    reader->now.known &= ~bit;
    if (gtel_str_f64(text, &value) < 0 || !(value >= row->least && value <= row->most))
        return;
    reader->now.known |= bit;
    reader->now.value[row->value] = value * row->scale + 0.0; /* no "-0" */
}

/* Nothing to show, such as half a character, leaves the number. */
static void take_name(struct gtel_macmon_fan *fan, struct gtel_str text)
{
    char name[GTEL_MACMON_NAME_MAX];
    gtel_str_clean(name, sizeof(name), text);
    if (name[0] != '\0')
        memcpy(fan->name, name, sizeof(name));
}

/* fans: [{name, rpm, max_rpm}] */
static void take_fan(struct reader *reader, const struct gtel_json_path *path, struct gtel_str text)
{
    uint64_t place;
    if (path->n != 3 || !gtel_str_eq(path->key[0], GTEL_STR("fans")) ||
        gtel_str_u64(path->key[1], &place) < 0 || place >= GTEL_MACMON_FANS)
        return;
    struct gtel_macmon_fan *fan = &reader->now.fan[place];
    if (gtel_str_eq(path->key[2], GTEL_STR("name")))
        take_name(fan, text);
    if (gtel_str_eq(path->key[2], GTEL_STR("rpm")) &&
        (gtel_str_f64(text, &fan->rpm) < 0 || fan->rpm > 50000))
        fan->rpm = -1;
}

static void on_value(void *arg, const struct gtel_json_path *path, struct gtel_str text)
{
    struct reader *reader = arg;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if (is_at(path, rows[i].keys))
            take_value(reader, &rows[i], text);
    take_fan(reader, path, text);
    if (is_at(path, "soc>chip_name") && !gtel_str_eq(text, GTEL_STR("N/A")))
        gtel_str_clean(reader->now.model, sizeof(reader->now.model), text);
}

static void on_end(void *arg, const struct gtel_json_path *path)
{
    (void)arg;
    (void)path;
}

int gtel_macmon_parse(struct gtel_str line, void *memory, struct gtel_macmon *ret)
{
    const unsigned all = 1U << GTEL_MACMON_POWER_ALL;
    const unsigned powers = 1U << GTEL_MACMON_POWER_GPU | 1U << GTEL_MACMON_POWER_ANE | all;
    struct reader reader = {.rank = {0}};
    struct gtel_macmon *now = &reader.now;
    const struct gtel_json_visitor visitor = {&reader, on_value, on_end};
    for (unsigned i = 0; i < GTEL_MACMON_FANS; i++) {
        now->fan[i].rpm = -1;
        (void)snprintf(now->fan[i].name, sizeof(now->fan[i].name), "%u", i + 1);
    }
    int r = gtel_json_read(line, memory, &visitor);
    if (r < 0)
        return r;
    if ((now->known & all) != 0 && now->value[GTEL_MACMON_POWER_ALL] <= 0)
        now->known &= ~powers; /* no chip draws nothing: its energy is not counted */
    if ((now->known & 1U << GTEL_MACMON_RAM_TOTAL) != 0 &&
        now->value[GTEL_MACMON_RAM_USED] > now->value[GTEL_MACMON_RAM_TOTAL])
        now->known &= ~(1U << GTEL_MACMON_RAM_USED);
    now->is_scaled = reader.rank[GTEL_MACMON_BUSY] < ACTIVE;
    if (now->known == 0)
        return -ENODATA;
    *ret = *now;
    return 0;
}
