/* SPDX-License-Identifier: MIT */
/*
 * Level Zero's metrics with each call failing in turn, with each code of the specification, on
 * three machines whose GPUs may fall asleep: once, and as long as a while lasts.
 *
 * Each reading of each gather is compared with what is reported without a fault: nothing else may
 * be reported, and no other value. After the fault all is reported again in time, nothing stays
 * open, and a GPU that does nothing is left alone as before.
 */
#include "harness/metrics_machine.h"
#include "harness/moving_machine.h"
#include "harness/fixtures.h"
#include "harness/fault_walk.h"
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

static const struct moving_step steps[] = {
    {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_WORKS},
    {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_STANDS}, {1, MOVING_STANDS},
    {1, MOVING_STANDS}, {9, MOVING_SLEEPS}, {12, MOVING_WORKS}, {1, MOVING_WORKS},
    {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_WORKS},  {610, MOVING_WORKS},
    {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_WORKS},  {1, MOVING_STANDS},
    {1, MOVING_STANDS}, {1, MOVING_STANDS}, {1, MOVING_STANDS},
};
enum {
    STEPS = GTEL_ARRAY_LEN(steps),
    FAILING = 4,    /* gathers whose calls fail in turn */
    WHILE_END = 12, /* beyond the pauses of what has failed for these gathers, and awake */
    PAUSE_END = 16, /* beyond those of an answer for good */
    END = STEPS - 5,
    REST = STEPS - 2
};

static struct {
    struct machine m;
    struct walk walk;
    unsigned calls[STEPS]; /* until the end of each gather, without a fault */
    unsigned warnings;     /* the same */
    uint32_t code;
} it;

/* Tried again after ten minutes. */
static bool is_for_good(uint32_t code)
{
    return code == 0x70010000 || code == 0x70020000 || (code >= 0x78000001 && code <= 0x78000003) ||
           code == 0x78000005 || code == 0x78000007 || code == 0x7800000c || code == 0x7800000d;
}

/* That data were lost is what one of the codes says. */
static bool is_excused(void *arg, const struct gtel_reading *reading)
{
    (void)arg;
    return it.code == 0x70020001 && gtel_reading_number(reading) == 1 &&
           (reading->metric == GTEL_M_ACTIVITY_DROPPED || reading->metric == GTEL_M_STALL_DROPPED);
}

/* A result is reported by the gather after the window that it is of. */
static size_t more_of(enum gtel_metric metric)
{
    return gtel_metric_row(metric)->measurement == GTEL_MEASUREMENT_GPU ? 0 : 1;
}

static void learn(struct gathered_life *life)
{
    struct gtel_sink sink = walk_sink(&it.walk);
    *life = (struct gathered_life){.gathers = STEPS};
    it.walk.learned = life;
    rewind_machine(&it.m);
    start_whole(&it.m, &sink);
    for (size_t i = 0; i < STEPS; i++) {
        walk_next(&it.walk, i);
        gather_whole(&it.m, steps[i].seconds);
        it.calls[i] = spy.calls;
    }
    it.warnings = spy.logs[GTEL_LOG_WARNING];
    end_whole(&it.m);
    it.walk.learned = NULL;
}

/* A call before the measurements: it is repeated at the next discovery. */
static bool is_lookup(const char *name)
{
    return strcmp(name, "zeDriverGet") == 0 || strncmp(name, "zeDevice", 8) == 0;
}

/* As long as these fail, more cannot be done than to try twice. */
static bool is_closing(const char *name)
{
    return strcmp(name, "zetMetricStreamerClose") == 0 || strcmp(name, "zeContextDestroy") == 0 ||
           strcmp(name, "zetContextActivateMetricGroups") == 0;
}

/* The first gather that is so long after another one; STEPS: there is none. */
static size_t first_after(size_t gather, unsigned seconds)
{
    unsigned passed = 0;
    size_t i = gather;
    while (i < STEPS && (i == gather || passed < seconds))
        passed += ++i < STEPS ? steps[i].seconds : 0;
    return i;
}

/* The first gather that asks again reports what was measured after it in the next one. */
static size_t due_of(const char *name, uint32_t code, size_t failed_in)
{
    bool is_late = is_for_good(code) && !is_lookup(name);
    return is_late ? first_after(failed_in, 600) + 1 : failed_in + 1;
}

/* A life in which the call of that number fails, or all calls of that name for a while. */
static void live(unsigned at, const char *name, uint32_t code)
{
    struct gtel_sink sink = walk_sink(&it.walk);
    size_t failed_in = STEPS;
    rewind_machine(&it.m);
    start_whole(&it.m, &sink);
    spy.fail_at = at;
    spy.fail_all = name;
    spy.fail_code = code;
    it.code = code;
    it.walk.wrong = 0;
    for (size_t i = 0; i < STEPS; i++) {
        unsigned before = spy.calls;
        walk_next(&it.walk, i);
        if (i == FAILING)
            spy.fail_all = NULL;
        gather_whole(&it.m, steps[i].seconds);
        if (spy.failed_name && (failed_in == STEPS || spy.fail_all))
            failed_in = i;
        bool has_started = !spy.failed_name || strcmp(spy.failed_name, "zeInit") != 0;
        if (has_started && failed_in < i)
            walk_check(&it.walk,
                       name ? (is_for_good(code) ? PAUSE_END : WHILE_END)
                            : due_of(spy.failed_name, code, failed_in),
                       more_of);
        if (steps[i].mood == MOVING_SLEEPS ||
            (i >= REST && has_started && (failed_in <= END || failed_in == STEPS)))
            CHECK_INT(spy.calls, before); /* it is left alone */
        CHECK(is_all_closed() || (name && is_closing(name)));
    }
    CHECK(name || spy.logs[GTEL_LOG_WARNING] <= it.warnings + 1);
    CHECK_INT(spy.logs[GTEL_LOG_ERROR], 0);
    end_whole(&it.m);
}

static const char *const names[] = {
#define GTEL_ZET_SYM(name, need, shape, type) #name,
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
};

static void set_option(enum gtel_option option, const char *value)
{
    char error[100];
    CHECK_INT(gtel_option_set(&it.m.options, option, gtel_str_of(value), error, sizeof(error)), 0);
}

/* least: readings that a gather reports at the end. */
static void walk_machine(const char *name, const char *text, const char *folder, const char *idle,
                         size_t least)
{
    const struct moving_gpu gpus[] = {{folder, idle}, {NULL, NULL}};
    struct gtel_buf buf;
    gtel_buf_init(&buf, 1 << 20);
    moving_machine(&buf, text, gpus, steps, STEPS);
    gtel_buf_char(&buf, '\0');
    if (!CHECK(!buf.has_failed) || !begin_text(&it.m, buf.p))
        return;
    set_option(GTEL_O_SOURCES, "l0metrics");
    set_option(GTEL_O_RESCAN, "100ms");
    it.walk.is_excused = is_excused;
    test_label = name;
    learn(&it.walk.right);
    learn(&it.walk.whole);
    CHECK(it.walk.whole.gathered[END].n >= least);
    CHECK(it.calls[STEPS - 1] == it.calls[REST - 1]);
    const struct walk_calls calls = {.n = it.calls[STEPS - 1],
                                     .early = it.calls[FAILING - 1],
                                     .name = names,
                                     .names = GTEL_ARRAY_LEN(names)};
    walk_fail_in_turn(name, &calls, live);
    printf("%s: %u calls, %zu readings\n", name, it.calls[STEPS - 1],
           it.walk.whole.gathered[END].n);
    finish_text(&it.m);
    gtel_buf_done(&buf);
}

static void walk_recorded(const char *name, const char *folder, const char *idle, size_t least)
{
    char *text = machine_text(name);
    if (CHECK(text))
        walk_machine(name, text, folder, idle, least);
    free(text);
}

int main(int argc, char **argv)
{
    test_split(&argc, argv);
    walk_machine("xe", common_machine, "sys/devices/pci0000:00/0000:03:00.0",
                 "tile0/gt0/gtidle/idle_residency_ms", 10);
    walk_recorded("xe-b580-l0m", "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0",
                  "tile0/gt0/gtidle/idle_residency_ms", 30);
    walk_recorded("i915-pvc-l0m", "sys/devices/pci0000:26/0000:26:01.0/0000:29:00.0",
                  "drm/card1/gt/gt0/rc6_residency_ms", 30);
    return test_result();
}
