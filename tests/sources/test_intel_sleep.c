/* SPDX-License-Identifier: MIT */
/* Sources i915 and xe: a sleeping GPU is left alone, and an idle one gets the rest it needs. */
#include "sources/drm/rest.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <stdlib.h>

/* Calls that reach below one card, by whether they may while it sleeps. */
struct touch {
    const char *card; /* "sys/class/drm/card10/" */
    uint64_t allowed;
    uint64_t forbidden;
    char first[FAULT_PATH_MAX];
};

/*
 * Allowed: the state itself, and what the kernel answers from its own memory of the device (uevent
 * and links). Everything else counts, looking into folders too.
 */
static void watch(void *arg, enum fault_op op, const char *path)
{
    struct touch *touch = arg;
    struct gtel_str s = gtel_str_of(path);
    if (!gtel_str_starts(s, gtel_str_of(touch->card)))
        return;
    if (op == FAULT_LINK || gtel_str_ends(s, GTEL_STR("/device/power/runtime_status")) ||
        gtel_str_ends(s, GTEL_STR("/device/power/runtime_suspended_time")) ||
        gtel_str_ends(s, GTEL_STR("/device/uevent"))) {
        touch->allowed++;
        return;
    }
    if (touch->forbidden++ == 0)
        (void)gtel_str_copy(touch->first, sizeof(touch->first), s);
}

static void gather_watched(struct machine *machine, struct touch *touch)
{
    touch->allowed = 0;
    touch->forbidden = 0;
    touch->first[0] = '\0';
    machine->needs_discovery = true; /* a rescan in every gather: it too must keep off */
    CHECK_INT(machine_gather(machine), 0);
}

/* card10 sleeps until 2 s; card4 falls asleep at 2 s, with its files kept open. */
static void test_untouched(void)
{
    struct machine machine;
    char *text = machine_text("intel-12");
    struct touch touch = {.card = "sys/class/drm/card10/"};
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    machine.fault->watch = watch;
    machine.fault->watch_arg = &touch;
    gather_watched(&machine, &touch);
    CHECK(touch.allowed > 0);
    CHECK_INT(touch.forbidden, 0);
    CHECK_STR(gtel_str_of(touch.first), "");
    machine_step(&machine, 1000);
    gather_watched(&machine, &touch);
    CHECK_INT(touch.forbidden, 0);
    machine_step(&machine, 1000);
    gather_watched(&machine, &touch);
    CHECK(touch.forbidden > 20); /* awake: the watch does see reads */

    touch.card = "sys/class/drm/card4/";
    gather_watched(&machine, &touch);
    CHECK(touch.allowed > 0);
    CHECK_INT(touch.forbidden, 0);
    CHECK_STR(gtel_str_of(touch.first), "");
    CHECK(machine_find(&machine, "0000:13:00.0", GTEL_M_GPU_AWAKE, NULL, NULL));
    CHECK_INT(gtel_registry_find(&machine.registry, GTEL_STR("0000:13:00.0"))->is_asleep, 1);
    machine_done(&machine);
    free(text);
}

/* Every path that a gather names, but those below other cards; links are no files. */
struct paths {
    const char *card; /* "sys/class/drm/card10/" */
    char list[4096];  /* a line each, in the order in which they were first named */
};

static void note_path(void *arg, enum fault_op op, const char *path)
{
    struct paths *paths = arg;
    struct gtel_str s = gtel_str_of(path);
    char line[FAULT_PATH_MAX + 2];
    bool is_below_a_card = gtel_str_starts(s, GTEL_STR("sys/class/drm/card"));
    (void)snprintf(line, sizeof(line), "%s\n", path);
    if (op == FAULT_LINK || strstr(paths->list, line) ||
        (is_below_a_card && !gtel_str_starts(s, gtel_str_of(paths->card))))
        return;
    size_t n = strlen(paths->list);
    if (CHECK(n + strlen(line) < sizeof(paths->list)))
        memcpy(paths->list + n, line, strlen(line) + 1);
}

/*
 * The same as a list, by whatever path: with a sleeping card10, discovery and sampling open these
 * files and no other, neither by the card's PCI address nor through a class of sensors. The name of
 * a model is asked for once.
 */
static void test_opened_files(void)
{
    struct machine machine;
    char *text = machine_text("intel-12");
    struct paths paths = {.card = "sys/class/drm/card10/"};
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    machine.fault->watch = note_path;
    machine.fault->watch_arg = &paths;
    for (int i = 0; i < 2; i++) {
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
    }
    /* The counters are those of the five cards that are awake. */
    CHECK_STR(gtel_str_of(paths.list), "sys/class/drm\n"
                                       "sys/class/accel\n"
                                       "sys/class/drm/card10/device/uevent\n"
                                       "usr/share/misc/pci.ids\n"
                                       "usr/share/hwdata/pci.ids\n"
                                       "run/udev/data/+pci:0000:03:00.0\n"
                                       "sys/class/drm/card10/device/power/runtime_suspended_time\n"
                                       "sys/class/drm/card10/device/power/runtime_status\n"
                                       "sys/bus/event_source/devices/i915_0000_03_00.0/type\n"
                                       "sys/bus/event_source/devices/i915_0000_0b_00.0/type\n"
                                       "sys/bus/event_source/devices/i915_0000_13_00.0/type\n"
                                       "sys/bus/event_source/devices/i915_0000_1b_00.0/type\n"
                                       "sys/bus/event_source/devices/i915_0000_23_00.0/type\n");
    machine_done(&machine);
    free(text);
}

/* Wake=always reads it all the same, and says that it slept. */
static void test_wake(void)
{
    struct machine machine;
    char error[100];
    char *text = machine_text("intel-12");
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_WAKE, GTEL_STR("always"), error, sizeof(error)),
        0);
    CHECK_INT(machine_gather(&machine), 0);
    const struct gtel_reading *awake =
        machine_find(&machine, "0000:2b:00.0", GTEL_M_GPU_AWAKE, NULL, NULL);
    if (CHECK(awake))
        CHECK_INT(awake->value.u64, 0);
    CHECK(machine_find(&machine, "0000:2b:00.0", GTEL_M_GPU_ENERGY, NULL, NULL));
    machine_done(&machine);
    free(text);
}

/*
 * An idle B580 with a delay of 1 s: seen idle from 0 s to 1 s, left alone at 2 s, asleep at 3 s.
 * While it rests, it is as untouched as while it sleeps.
 */
static void test_rest_of_a_gpu(void)
{
    struct machine machine;
    char *text = machine_text("xe-sleep");
    struct touch touch = {.card = "sys/class/drm/card0/"};
    if (!CHECK(machine_init(&machine, text, "xe")))
        return;
    machine.fault->watch = watch;
    machine.fault->watch_arg = &touch;
    gather_watched(&machine, &touch);
    machine_step(&machine, 1000);
    gather_watched(&machine, &touch);
    CHECK(touch.forbidden > 0);
    CHECK(machine_find(&machine, NULL, GTEL_M_GPU_ENERGY, NULL, NULL));
    machine_step(&machine, 1000);
    gather_watched(&machine, &touch);
    CHECK_INT(touch.forbidden, 0);
    const struct gtel_reading *awake = machine_find(&machine, NULL, GTEL_M_GPU_AWAKE, NULL, NULL);
    CHECK(awake && awake->value.u64 == 1);
    machine_step(&machine, 1000);
    gather_watched(&machine, &touch);
    CHECK_INT(touch.forbidden, 0);
    awake = machine_find(&machine, NULL, GTEL_M_GPU_AWAKE, NULL, NULL);
    CHECK(awake && awake->value.u64 == 0);
    machine_done(&machine);
    free(text);
}

static const uint64_t s = 1000000000;

/* Notes a full reading each second from `from` on, for n seconds; returns the readings taken. */
static uint64_t read_each_second(struct gtel_rest *rest, uint64_t from, uint64_t n, bool idle)
{
    uint64_t taken = 0;
    for (uint64_t t = from; t < from + n; t++) {
        if (gtel_rest_is_on(rest, t * s))
            continue;
        taken++;
        gtel_rest_note(rest, idle, t * s);
    }
    return taken;
}

static void test_rest(void)
{
    struct gtel_rest rest = {0};
    test_label = "never without a delay";
    CHECK_INT(read_each_second(&rest, 100, 50, true), 50);

    test_label = "not for the time before the first check";
    rest = (struct gtel_rest){.delay_ns = s};
    CHECK_INT(read_each_second(&rest, 1, 1, true), 1);
    CHECK(!gtel_rest_is_on(&rest, s));

    test_label = "never while busy";
    rest = (struct gtel_rest){.delay_ns = s};
    CHECK_INT(read_each_second(&rest, 100, 50, false), 50);

    /* At 100 the first check has nothing before it; idle from 100 to 110; rest up to 123.5. */
    test_label = "a delay of 10 s";
    rest = (struct gtel_rest){.delay_ns = 10 * s};
    CHECK_INT(read_each_second(&rest, 100, 11, true), 11);
    CHECK(gtel_rest_is_on(&rest, 110 * s + 1));
    CHECK(gtel_rest_is_on(&rest, 247 * s / 2 - 1));
    CHECK(!gtel_rest_is_on(&rest, 124 * s));

    test_label = "held awake: waits 60 s, then 120 s, at most 960 s";
    CHECK_INT(rest.retry_ns, 184 * s);
    CHECK_INT(read_each_second(&rest, 124, 60, true), 60);
    CHECK_INT(read_each_second(&rest, 184, 14, true), 1); /* idle all along: immediately */
    CHECK_INT(read_each_second(&rest, 198, 1, true), 1);
    CHECK_INT(rest.retry_ns, (198 + 120) * s);
    (void)read_each_second(&rest, 199, 10000, true);
    CHECK_INT(rest.pause_ns, 960 * s);

    test_label = "asleep: the next rest comes immediately again";
    gtel_rest_slept(&rest);
    CHECK_INT(rest.delay_ns, 10 * s);
    CHECK_INT(rest.retry_ns, 0);

    test_label = "read rarely: sleeps between two readings by itself";
    rest = (struct gtel_rest){.delay_ns = s};
    for (uint64_t t = 100; t < 1000; t += 10) {
        CHECK(!gtel_rest_is_on(&rest, t * s));
        gtel_rest_note(&rest, true, t * s);
    }
    test_label = "";
}

int main(void)
{
    test_untouched();
    test_opened_files();
    test_wake();
    test_rest_of_a_gpu();
    test_rest();
    return test_result();
}
