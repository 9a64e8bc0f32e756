/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source with each call failing in turn, with each code that the specification has, on
 * five machines whose GPUs may fall asleep: once, and as long as a while lasts.
 *
 * Each reading of each gather is compared with what is reported without a fault: nothing else may
 * be reported, and no other value. After the fault all is reported again in time, and a GPU that
 * stands still is left alone as before.
 */
#include "harness/moving_machine.h"
#include "harness/fixtures.h"
#include "harness/sysman_machine.h"
#include "harness/fault_walk.h"
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

/* Where the kernel counts how long a GPU has slept. */
#define XE_IDLE "tile0/gt0/gtidle/idle_residency_ms"
#define I915_IDLE "drm/card1/gt/gt0/rc6_residency_ms"

static const struct moving_step steps[] = {
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_STANDS},  {1, MOVING_STANDS},
    {1, MOVING_STANDS},  {9, MOVING_SLEEPS},  {12, MOVING_WORKS},  {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {125, MOVING_WORKS}, {125, MOVING_WORKS},
    {125, MOVING_WORKS}, {125, MOVING_WORKS}, {125, MOVING_WORKS}, {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_STANDS},  {1, MOVING_STANDS},
    {1, MOVING_STANDS},  {1, MOVING_STANDS},  {1, MOVING_STANDS},  {1, MOVING_STANDS},
};
enum {
    STEPS = GTEL_ARRAY_LEN(steps),
    FAILING = 3,    /* gathers whose calls fail with each code, and a while */
    WHILE_END = 10, /* the first gather beyond the pause after some failures */
    PAUSE_END = 18, /* beyond that after an answer for good */
    END = STEPS - 7,
    REST = STEPS - 2,
    CARRIED_MAX = 16
};

/* When what fails is asked again. */
enum again { NOW, RARELY };

static enum again again_of(uint32_t code)
{
    switch (code) {
    case 0x70010000:
    case 0x78000001:
    case 0x78000002:
    case 0x78000003:
    case 0x78000004:
    case 0x78000005:
    case 0x78000007:
    case 0x7800000c:
    case 0x7800000d:
        return RARELY;
    default:
        return NOW;
    }
}

/* A counter as it was reported last in this life. */
struct carried {
    uint64_t key;
    double value;
    size_t gather;
};

static struct {
    struct machine m;
    struct walk walk;
    size_t gpus;
    unsigned calls[STEPS]; /* until the end of each gather, without a fault */
    /* The present life. */
    struct carried carried[CARRIED_MAX];
    size_t carries;
    uint32_t code;
} it;

static struct carried *carried_of(uint64_t key)
{
    for (size_t i = 0; i < it.carries; i++)
        if (it.carried[i].key == key)
            return &it.carried[i];
    if (!CHECK(it.carries < CARRIED_MAX))
        return NULL;
    struct carried *new = &it.carried[it.carries++];
    *new = (struct carried){.key = key, .gather = STEPS};
    return new;
}

/*
 * Energy is carried on over the ends of a counter, from where it was seen first: it may begin
 * elsewhere, but grows as it does without a fault. What was used within a long time that cannot be
 * reported from a longer one is not in it.
 */
static bool is_carried_on(const struct gtel_reading *reading)
{
    uint64_t key = gathered_key(reading, (enum gtel_metric)reading->metric);
    const struct gathered_life *right = &it.walk.right;
    double value = gtel_reading_number(reading);
    if (reading->metric != GTEL_M_ENERGY && reading->metric != GTEL_M_GPU_ENERGY)
        return false;
    struct carried *carried = carried_of(key);
    if (!carried)
        return false;
    struct carried last = *carried;
    *carried = (struct carried){key, value, it.walk.gather};
    if (last.gather == STEPS)
        return true;
    double seconds = 0;
    for (size_t i = last.gather + 1; i <= it.walk.gather; i++)
        seconds += right->seconds[i];
    double grown = gathered_value(&right->gathered[it.walk.gather], key) -
                   gathered_value(&right->gathered[last.gather], key);
    double off = value - last.value - grown;
    return off < 1e-6 && (off > -1e-6 || (seconds > 125 && value >= last.value));
}

/*
 * What a driver says that it has not is not awaited, and in the first gather the context
 * does not know of a part that has not answered: the value of the whole GPU is made of the parts
 * that are left, and is that of one of them.
 */
static bool is_of_others(const struct gtel_reading *reading)
{
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    enum gtel_metric part = metric == GTEL_M_GPU_TEMPERATURE ? GTEL_M_TEMPERATURE
                            : metric == GTEL_M_GPU_FREQUENCY ? GTEL_M_FREQUENCY_ACTUAL
                                                             : GTEL_M_NONE;
    const struct gathered *right = &it.walk.right.gathered[it.walk.gather];
    bool found = false;
    for (size_t i = 0; i < right->n; i++)
        found = found || (right->reading[i].metric == part &&
                          right->reading[i].value == gtel_reading_number(reading));
    return found && (again_of(it.code) == RARELY || it.walk.gather == 0);
}

static bool is_excused(void *arg, const struct gtel_reading *reading)
{
    (void)arg;
    bool is_carried = is_carried_on(reading);
    return is_carried || is_of_others(reading);
}

static void set_option(enum gtel_option option, const char *value)
{
    char error[100];
    CHECK_INT(gtel_option_set(&it.m.options, option, gtel_str_of(value), error, sizeof(error)), 0);
}

/* A life without a fault. */
static void learn(struct gathered_life *life, const char *wake)
{
    struct gtel_sink sink = walk_sink(&it.walk);
    *life = (struct gathered_life){.gathers = STEPS};
    set_option(GTEL_O_WAKE, wake);
    it.walk.learned = life;
    rewind_machine(&it.m);
    start_whole(&it.m, &sink);
    for (size_t i = 0; i < STEPS; i++) {
        walk_next(&it.walk, i);
        life->seconds[i] = steps[i].seconds;
        gather_whole(&it.m, steps[i].seconds);
        it.calls[i] = spy.calls;
    }
    end_whole(&it.m);
    it.walk.learned = NULL;
}

/* A call before the readings themselves: it is repeated at the next discovery. */
static bool is_lookup(const char *name)
{
    return strstr(name, "DriverGet") || strcmp(name, "zesDeviceGet") == 0 ||
           strcmp(name, "zeDeviceGet") == 0 || strcmp(name, "zesDeviceGetProperties") == 0;
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

/* The gather from which on all is reported again; shares and rates one later. */
static size_t due_of(const char *name, uint32_t code, size_t failed_in)
{
    enum again again = is_lookup(name) ? NOW : again_of(code);
    /* At a discovery nothing is known yet of what the kernel's address belongs to. */
    if (strcmp(name, "zesDevicePciGetProperties") == 0 && failed_in == 0)
        again = again_of(code);
    return first_after(failed_in, again == RARELY ? 600 : 1);
}

/*
 * Gathers more until a value is reported again: rates are one later; energy waits for the next
 * step where one may have been too long for its counter.
 */
static size_t more_of(enum gtel_metric metric)
{
    if (metric == GTEL_M_POWER || metric == GTEL_M_GPU_POWER)
        return 2;
    return metric == GTEL_M_ENERGY || metric == GTEL_M_GPU_ENERGY ||
           gtel_metric_row(metric)->kind == GTEL_KIND_RATIO;
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
    it.carries = 0;
    it.walk.wrong = 0;
    for (size_t i = 0; i < STEPS; i++) {
        unsigned before = spy.calls;
        walk_next(&it.walk, i);
        if (i == FAILING)
            spy.fail_all = NULL;
        gather_whole(&it.m, steps[i].seconds);
        if (spy.failed_name && (failed_in == STEPS || spy.fail_all))
            failed_in = i;
        bool has_started = !spy.failed_name || !strstr(spy.failed_name, "Init");
        if (has_started && failed_in < i)
            walk_check(&it.walk,
                       name ? again_of(code) == RARELY ? PAUSE_END : WHILE_END
                            : due_of(spy.failed_name, code, failed_in),
                       more_of);
        if (has_started && !name && failed_in == i && !is_lookup(spy.failed_name))
            walk_check_others(&it.walk);
        if (steps[i].mood == MOVING_SLEEPS ||
            (i >= REST && has_started && (failed_in <= END || failed_in == STEPS)))
            CHECK_INT(spy.calls, before); /* it is left alone */
    }
    CHECK(spy.logs[GTEL_LOG_WARNING] <= (name ? it.gpus : 1)); /* once for each GPU */
    CHECK_INT(spy.logs[GTEL_LOG_ERROR], 0);
    end_whole(&it.m);
}

static const char *const names[] = {
#define GTEL_ZES_SYM(name, need, shape, type) #name,
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
};

/* least: readings that a gather reports at the end. */
static void walk_machine(const char *name, const char *text, const struct moving_gpu *gpus,
                         size_t least)
{
    struct gtel_buf buf;
    for (it.gpus = 0; gpus[it.gpus].folder;)
        it.gpus++;
    gtel_buf_init(&buf, 1 << 20);
    moving_machine(&buf, text, gpus, steps, STEPS);
    gtel_buf_char(&buf, '\0');
    if (!CHECK(!buf.has_failed) || !begin_text(&it.m, buf.p))
        return;
    set_option(GTEL_O_SOURCES, "sysman");
    set_option(GTEL_O_RESCAN, "100ms");
    it.walk.is_excused = is_excused;
    test_label = name;
    learn(&it.walk.right, "always");
    learn(&it.walk.whole, "never");
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
    const struct moving_gpu gpus[] = {{folder, idle}, {NULL, NULL}};
    char *text = machine_text(name);
    if (CHECK(text))
        walk_machine(name, text, gpus, least);
    free(text);
}

/* Of the i915 card, so that it may be left alone. */
static const char clock[] = "call zesDeviceEnumFrequencyDomains 0 = 1\n"
                            "call zesFrequencyGetProperties 0 0 = 0 0 0 300 2400\n"
                            "call zesFrequencyGetState 0 0 = -1 2400 -1 300 2400 0\n";

static void walk_common(void)
{
    static const struct moving_gpu gpus[] = {{"sys/devices/pci0000:00/0000:03:00.0", XE_IDLE},
                                             {"sys/devices/pci0000:00/0000:04:00.0", I915_IDLE},
                                             {NULL, NULL}};
    char text[16384];
    (void)snprintf(text, sizeof(text), "%s%s%s", XE I915 KERNEL LIBRARY, common_calls, clock);
    walk_machine("two GPUs", text, gpus, 40);
}

/* A loader of before 1.9.4, without zesInit. */
static void walk_legacy(void)
{
    static const struct moving_gpu gpus[] = {{"sys/devices/pci0000:00/0000:04:00.0", I915_IDLE},
                                             {NULL, NULL}};
    char text[16384];
    (void)snprintf(text, sizeof(text), "%s%s%s%s", I915 KERNEL LIBRARY, common_calls, clock,
                   "call zesInit = !nosymbol\ncall zesDriverGet = !nosymbol\n"
                   "call zesDeviceGet = !nosymbol\ncall zeInit =\ncall zeDriverGet = 1\n"
                   "call zeDeviceGet 0 = 1\n");
    walk_machine("an old loader", text, gpus, 10);
}

int main(int argc, char **argv)
{
    test_split(&argc, argv);
    walk_legacy();
    walk_common();
    walk_recorded("xe-b580-l0", "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0", XE_IDLE, 40);
    walk_recorded("i915-pvc-l0", "sys/devices/pci0000:26/0000:26:01.0/0000:29:00.0", I915_IDLE, 40);
    walk_recorded("l0-spec", "sys/devices/pci0000:26/0000:26:01.0/0000:29:00.0", I915_IDLE, 40);
    return test_result();
}
