/* SPDX-License-Identifier: MIT */
/* A fault walk over whole gathers. */
#include "harness/fault_walk.h"

#include "harness/test.h"

const uint32_t walk_codes[WALK_CODES] = {0x1,        0x70000001, 0x70000002, 0x70000006, 0x70000007,
                                         0x70010000, 0x70010001, 0x70020000, 0x78000001, 0x78000002,
                                         0x78000003, 0x78000004, 0x78000006, 0x78000008, 0x7800000d,
                                         0x78000020, 0x7ffffffe};

/* What the program says of itself, and of failures. */
static bool is_about_gpu(const struct gtel_reading *reading)
{
    return reading->device && reading->value_type != GTEL_VALUE_TEXT &&
           reading->metric != GTEL_M_GPU_READINGS_FAILED &&
           gtel_metric_row((enum gtel_metric)reading->metric)->measurement !=
               GTEL_MEASUREMENT_GPU_INFO;
}

static void begin_readings(void *arg, uint64_t wall_ns)
{
    (void)arg;
    (void)wall_ns;
}

static void end_readings(void *arg)
{
    (void)arg;
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct walk *walk = arg;
    if (aspect != GTEL_ASPECT_VALUE || !is_about_gpu(reading))
        return;
    if (walk->learned) {
        (void)gathered_add(&walk->learned->gathered[walk->gather], reading);
        return;
    }
    uint64_t key = gathered_add(&walk->now, reading);
    bool is_excused = walk->is_excused && walk->is_excused(walk->arg, reading);
    if (is_excused || gathered_is_right(&walk->right, walk->gather, reading, key, walk->now.n - 1))
        return;
    if (walk->wrong++ == 0) {
        test_note(false, __FILE__, __LINE__, "a reading is right");
        printf("    in gather %zu: ", walk->gather);
        gathered_print(reading);
    }
}

struct gtel_sink walk_sink(struct walk *walk)
{
    return (struct gtel_sink){walk, begin_readings, put, end_readings};
}

void walk_next(struct walk *walk, size_t gather)
{
    walk->gather = gather;
    walk->now.n = 0;
}

void walk_check(const struct walk *walk, size_t due, size_t (*more_of)(enum gtel_metric metric))
{
    const struct gathered *whole = &walk->whole.gathered[walk->gather];
    for (size_t i = 0; walk->gather >= due && i < whole->n; i++) {
        const struct gtel_metric_row *row = gtel_metric_row(whole->reading[i].metric);
        size_t more = more_of(whole->reading[i].metric);
        if (walk->gather < due + more || gathered_find_near(&walk->now, whole->reading[i].key, i))
            continue;
        test_note(false, __FILE__, __LINE__, "all is reported again in time");
        printf("    in gather %zu: %s %.*s %.*s is missing\n", walk->gather,
               whole->reading[i].device, GTEL_STR_ARG(gtel_measurement_row(row->measurement)->name),
               GTEL_STR_ARG(row->field));
        return;
    }
}

static size_t missing_of(const struct walk *walk, const char *device)
{
    const struct gathered *whole = &walk->whole.gathered[walk->gather];
    size_t n = 0;
    for (size_t i = 0; i < whole->n; i++)
        n += strcmp(whole->reading[i].device, device) == 0 &&
             !gathered_find_near(&walk->now, whole->reading[i].key, i);
    return n;
}

void walk_check_others(const struct walk *walk)
{
    const struct gathered *whole = &walk->whole.gathered[walk->gather];
    const char *lacking = NULL;
    for (size_t i = 0; i < whole->n; i++) {
        const char *device = whole->reading[i].device;
        if (missing_of(walk, device) == 0)
            continue;
        CHECK(!lacking || strcmp(lacking, device) == 0);
        lacking = device;
    }
}

static bool is_chosen(const struct walk_calls *calls, unsigned at, uint32_t code)
{
    return at <= calls->early || code == 0x70000001 || code == 0x78000003 || code == 0x7ffffffe;
}

void walk_fail_in_turn(const char *machine, const struct walk_calls *calls,
                       void (*live)(unsigned at, const char *name, uint32_t code))
{
    char label[128];
    for (unsigned at = 1; at <= calls->n; at++)
        for (size_t i = 0; i < WALK_CODES; i++) {
            if (!is_chosen(calls, at, walk_codes[i]) || !test_is_mine())
                continue;
            (void)snprintf(label, sizeof(label), "%s: call %u with code 0x%x", machine, at,
                           (unsigned)walk_codes[i]);
            test_label = label;
            live(at, NULL, walk_codes[i]);
        }
    for (size_t n = 0; n < calls->names; n++)
        for (size_t i = 0; i < WALK_CODES; i++) {
            if (!test_is_mine())
                continue;
            (void)snprintf(label, sizeof(label), "%s: %s with code 0x%x", machine, calls->name[n],
                           (unsigned)walk_codes[i]);
            test_label = label;
            live(0, calls->name[n], walk_codes[i]);
        }
    test_label = "";
}
