/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source with each call failing in turn, with each code that the specification has, on
 * three machines whose GPUs may fall asleep: once, and as long as a while lasts.
 *
 * Each reading of each gather is compared with what is told without a fault: nothing else may be
 * told, and no other value. After the fault all is told again in time, and a GPU that stands still
 * is left alone as before.
 */
#include "sources/moving.h"
#include "sources/recorded.h"
#include "sources/sysman.h"
#include "sources/told.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const struct moving_step steps[] = {
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_STANDS},  {1, MOVING_STANDS},
    {1, MOVING_STANDS},  {9, MOVING_SLEEPS},  {12, MOVING_WORKS},  {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {125, MOVING_WORKS}, {125, MOVING_WORKS},
    {125, MOVING_WORKS}, {125, MOVING_WORKS}, {125, MOVING_WORKS}, {1, MOVING_WORKS},
    {1, MOVING_WORKS},   {1, MOVING_WORKS},   {1, MOVING_STANDS},  {1, MOVING_STANDS},
    {1, MOVING_STANDS},  {1, MOVING_STANDS},
};
enum {
    STEPS = GTEL_ARRAY_LEN(steps),
    FAILING = 3,    /* gathers whose calls fail in turn; the last of the while, too */
    LOSS_END = 10,  /* the first gather beyond the pause of a GPU that was lost */
    PAUSE_END = 18, /* beyond that after an answer for good */
    END = STEPS - 5,
    REST = STEPS - 2,
    CARRIED_MAX = 16
};

static const uint32_t codes[] = {
    0x1,        0x70000001, 0x70000002, 0x70000003, 0x70000006, 0x70000007, 0x70010000, 0x70010001,
    0x70020000, 0x70020001, 0x78000001, 0x78000002, 0x78000003, 0x78000004, 0x78000005, 0x78000006,
    0x78000007, 0x78000008, 0x7800000c, 0x7800000d, 0x7800001b, 0x78000020, 0x7ffffffe};

/* When what fails is asked again. */
enum again { AT_ONCE, AFTER_LOSS, RARELY };

static enum again again_of(uint32_t code)
{
    switch (code) {
    case 0x70000001:
    case 0x70000006:
    case 0x78000020:
        return AFTER_LOSS;
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
        return AT_ONCE;
    }
}

/* A counter as it was told last in this life. */
struct carried {
    uint64_t key;
    double value;
    size_t gather;
};

struct walk {
    struct machine m;
    struct told_life right; /* what is true: the GPUs are asked all the time */
    struct told_life whole; /* what is told without a fault */
    size_t gpus;
    unsigned calls[STEPS]; /* until the end of each gather, without a fault */
    /* The present life. */
    struct told_life *learned; /* one of the above, or NULL: to be compared */
    struct told now;
    struct carried carried[CARRIED_MAX];
    size_t carries;
    size_t gather;
    uint32_t code;
    size_t wrong;
};

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

static struct carried *carried_of(struct walk *walk, uint64_t key)
{
    for (size_t i = 0; i < walk->carries; i++)
        if (walk->carried[i].key == key)
            return &walk->carried[i];
    if (!CHECK(walk->carries < CARRIED_MAX))
        return NULL;
    struct carried *new = &walk->carried[walk->carries++];
    *new = (struct carried){.key = key, .gather = STEPS};
    return new;
}

/*
 * Energy is carried on over the ends of a counter, from where it was seen first: it may begin
 * elsewhere, but grows as it does without a fault. What was used within a long time that cannot be
 * told from a longer one is left out of it.
 */
static bool is_carried_on(struct walk *walk, const struct gtel_reading *reading)
{
    uint64_t key = told_key(reading, (enum gtel_metric)reading->metric);
    const struct told_life *right = &walk->right;
    double value = gtel_reading_number(reading);
    if (reading->metric != GTEL_M_ENERGY && reading->metric != GTEL_M_GPU_ENERGY)
        return false;
    struct carried *carried = carried_of(walk, key);
    if (!carried)
        return false;
    struct carried last = *carried;
    *carried = (struct carried){key, value, walk->gather};
    if (last.gather == STEPS)
        return true;
    double seconds = 0;
    for (size_t i = last.gather + 1; i <= walk->gather; i++)
        seconds += right->seconds[i];
    double grown =
        told_value(&right->told[walk->gather], key) - told_value(&right->told[last.gather], key);
    double off = value - last.value - grown;
    return off < 1e-6 && (off > -1e-6 || (seconds > 125 && value >= last.value));
}

/* A GPU that says nothing but that it needs a reset. */
static bool is_said_by_code(const struct walk *walk, const struct gtel_reading *reading)
{
    return reading->metric == GTEL_M_GPU_RESET_NEEDED && walk->code == 0x70000006 &&
           gtel_reading_number(reading) == 1;
}

/*
 * What a driver says at once that it has not is not waited for: the figure of the whole GPU is made
 * of the parts that are left, and is that of one of them.
 */
static bool is_of_others(const struct walk *walk, const struct gtel_reading *reading)
{
    enum gtel_metric metric = (enum gtel_metric)reading->metric;
    enum gtel_metric part = metric == GTEL_M_GPU_TEMPERATURE ? GTEL_M_TEMPERATURE
                            : metric == GTEL_M_GPU_FREQUENCY ? GTEL_M_FREQUENCY_ACTUAL
                                                             : GTEL_M_NONE;
    const struct told *right = &walk->right.told[walk->gather];
    bool found = false;
    for (size_t i = 0; i < right->n; i++)
        found = found || (right->reading[i].metric == part &&
                          right->reading[i].value == gtel_reading_number(reading));
    return found && again_of(walk->code) == RARELY;
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct walk *walk = arg;
    if (aspect != GTEL_ASPECT_VALUE || !is_about_gpu(reading))
        return;
    if (walk->learned) {
        told_add(&walk->learned->told[walk->gather], reading);
        return;
    }
    told_add(&walk->now, reading);
    bool is_carried = is_carried_on(walk, reading);
    if (told_is_right(&walk->right, walk->gather, reading) || is_carried ||
        is_said_by_code(walk, reading) || is_of_others(walk, reading))
        return;
    if (walk->wrong++ == 0 && !CHECK(!"a reading is not right")) {
        printf("    in gather %zu: ", walk->gather);
        told_print(reading);
    }
}

/* A life without a fault. */
static void learn(struct walk *walk, struct told_life *life, const char *wake)
{
    char error[100];
    struct gtel_sink sink = {walk, begin_readings, put, end_readings};
    *life = (struct told_life){.gathers = STEPS};
    CHECK_INT(
        gtel_option_set(&walk->m.options, GTEL_O_WAKE, gtel_str_of(wake), error, sizeof(error)), 0);
    walk->learned = life;
    rewind_machine(&walk->m);
    start_whole(&walk->m, &sink);
    for (size_t i = 0; i < STEPS; i++) {
        walk->gather = i;
        life->seconds[i] = steps[i].seconds;
        gather_whole(&walk->m, steps[i].seconds);
        walk->calls[i] = spy.calls;
    }
    end_whole(&walk->m);
    walk->learned = NULL;
}

/* A call before the readings themselves: it is repeated at the next discovery. */
static bool is_lookup(const char *name)
{
    return strstr(name, "DriverGet") || strcmp(name, "zesDeviceGet") == 0 ||
           strcmp(name, "zesDeviceGetProperties") == 0;
}

/* The gather from which on all is told again; shares and rates one later. */
static size_t due_of(const char *name, uint32_t code, size_t failed_in)
{
    enum again again = is_lookup(name) ? AT_ONCE : again_of(code);
    /* At a discovery nothing is known yet of what the kernel's address belongs to. */
    if (strcmp(name, "zesDevicePciGetProperties") == 0 && failed_in == 0)
        again = again_of(code);
    return again == AFTER_LOSS ? LOSS_END : again == RARELY ? PAUSE_END : failed_in + 1;
}

/*
 * Gathers more until a figure is told again: rates are one later; energy waits for the next step
 * where one may have been too long for its counter.
 */
static size_t more_of(enum gtel_metric metric)
{
    if (metric == GTEL_M_POWER || metric == GTEL_M_GPU_POWER)
        return 2;
    return metric == GTEL_M_ENERGY || metric == GTEL_M_GPU_ENERGY ||
           gtel_metric_row(metric)->kind == GTEL_KIND_RATIO;
}

static void check_missing(const struct walk *walk, size_t due)
{
    const struct told *whole = &walk->whole.told[walk->gather];
    for (size_t i = 0; walk->gather >= due && i < whole->n; i++) {
        const struct gtel_metric_row *row = gtel_metric_row(whole->reading[i].metric);
        size_t more = more_of(whole->reading[i].metric);
        if (walk->gather < due + more || told_find(&walk->now, whole->reading[i].key))
            continue;
        if (!CHECK(!"all is told again in time"))
            printf("    in gather %zu: %s %.*s %.*s is missing\n", walk->gather,
                   whole->reading[i].device,
                   GTEL_STR_ARG(gtel_measurement_row(row->measurement)->name),
                   GTEL_STR_ARG(row->field));
        return;
    }
}

/* Readings of Level Zero that are missing, by device. */
static size_t missing_of(const struct walk *walk, const char *device)
{
    const struct told *whole = &walk->whole.told[walk->gather];
    size_t n = 0;
    for (size_t i = 0; i < whole->n; i++)
        n += strcmp(whole->reading[i].device, device) == 0 &&
             !told_find(&walk->now, whole->reading[i].key);
    return n;
}

/* What fails on one GPU is nothing to others. */
static void check_others(const struct walk *walk)
{
    const struct told *whole = &walk->whole.told[walk->gather];
    const char *lacking = NULL;
    for (size_t i = 0; i < whole->n; i++) {
        const char *device = whole->reading[i].device;
        if (missing_of(walk, device) == 0)
            continue;
        CHECK(!lacking || strcmp(lacking, device) == 0);
        lacking = device;
    }
}

/* A life in which the call of that number fails, or all calls of that name for a while. */
static void live(struct walk *walk, unsigned at, const char *name, uint32_t code)
{
    struct gtel_sink sink = {walk, begin_readings, put, end_readings};
    size_t failed_in = STEPS;
    rewind_machine(&walk->m);
    start_whole(&walk->m, &sink);
    spy.fail_at = at;
    spy.fail_all = name;
    spy.fail_code = code;
    walk->code = code;
    walk->wrong = 0;
    walk->carries = 0;
    for (size_t i = 0; i < STEPS; i++) {
        unsigned before = spy.calls;
        walk->gather = i;
        walk->now.n = 0;
        if (i == FAILING)
            spy.fail_all = NULL;
        gather_whole(&walk->m, steps[i].seconds);
        if (spy.failed_name && (failed_in == STEPS || spy.fail_all))
            failed_in = i;
        bool has_started = !spy.failed_name || !strstr(spy.failed_name, "Init");
        if (has_started && failed_in < i)
            check_missing(walk, name ? again_of(code) == RARELY ? PAUSE_END : LOSS_END
                                     : due_of(spy.failed_name, code, failed_in));
        if (has_started && !name && failed_in == i && !is_lookup(spy.failed_name))
            check_others(walk);
        if (steps[i].mood == MOVING_SLEEPS || (i >= REST && has_started))
            CHECK_INT(spy.calls, before); /* it is left alone */
    }
    CHECK(spy.logs[GTEL_LOG_WARNING] <= (name ? walk->gpus : 1)); /* once for each GPU */
    CHECK_INT(spy.logs[GTEL_LOG_ERROR], 0);
    end_whole(&walk->m);
}

static const char *const names[] = {
#define GTEL_ZES_SYM(name, need, shape, type) #name,
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
};

static void fail_in_turn(struct walk *walk, const char *machine)
{
    char label[128];
    for (unsigned at = 1; at <= walk->calls[FAILING - 1]; at++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "%s: call %u with code 0x%x", machine, at,
                           (unsigned)codes[i]);
            test_label = label;
            live(walk, at, NULL, codes[i]);
        }
    for (size_t n = 0; n < GTEL_ARRAY_LEN(names); n++)
        for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
            (void)snprintf(label, sizeof(label), "%s: %s with code 0x%x", machine, names[n],
                           (unsigned)codes[i]);
            test_label = label;
            live(walk, 0, names[n], codes[i]);
        }
    test_label = "";
}

/* least: readings that a gather tells at the end. */
static void walk_machine(const char *name, const char *text, const char *const *folders,
                         size_t least)
{
    static struct walk walk;
    struct gtel_buf buf;
    char error[100];
    walk.gpus = 0;
    while (folders[walk.gpus])
        walk.gpus++;
    gtel_buf_init(&buf, 1 << 20);
    moving_machine(&buf, text, folders, steps, STEPS);
    gtel_buf_char(&buf, '\0');
    if (!CHECK(!buf.has_failed) || !begin_text(&walk.m, buf.p))
        return;
    CHECK_INT(
        gtel_option_set(&walk.m.options, GTEL_O_SOURCES, GTEL_STR("sysman"), error, sizeof(error)),
        0);
    CHECK_INT(
        gtel_option_set(&walk.m.options, GTEL_O_RESCAN, GTEL_STR("100ms"), error, sizeof(error)),
        0);
    test_label = name;
    learn(&walk, &walk.right, "always");
    learn(&walk, &walk.whole, "never");
    CHECK(walk.whole.told[END].n >= least);
    CHECK(walk.calls[STEPS - 1] == walk.calls[REST - 1]);
    fail_in_turn(&walk, name);
    printf("%s: %u calls, %zu readings\n", name, walk.calls[FAILING - 1], walk.whole.told[END].n);
    finish_text(&walk.m);
    gtel_buf_done(&buf);
}

static void walk_recorded(const char *name, const char *folder, size_t least)
{
    const char *const folders[] = {folder, NULL};
    char *text = machine_text(name);
    if (CHECK(text))
        walk_machine(name, text, folders, least);
    free(text);
}

static void walk_common(void)
{
    static const char *const folders[] = {"sys/devices/pci0000:00/0000:03:00.0",
                                          "sys/devices/pci0000:00/0000:04:00.0", NULL};
    static const char clock[] = "call zesDeviceEnumFrequencyDomains 0 = 1\n"
                                "call zesFrequencyGetProperties 0 0 = 0 0 0 300 2400\n"
                                "call zesFrequencyGetState 0 0 = -1 2400 -1 300 2400 0\n";
    char text[16384];
    (void)snprintf(text, sizeof(text), "%s%s%s", XE I915 KERNEL LIBRARY, common_calls, clock);
    walk_machine("two GPUs", text, folders, 40);
}

int main(void)
{
    walk_common();
    walk_recorded("xe-b580-l0", "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0", 40);
    walk_recorded("i915-pvc-l0", "sys/devices/pci0000:26/0000:26:01.0/0000:29:00.0", 40);
    return test_result();
}
