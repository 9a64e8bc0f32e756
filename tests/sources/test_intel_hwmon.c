/* SPDX-License-Identifier: MIT */
/* Sources i915 and xe: what each attribute of their hwmon directories becomes. */
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD(driver) CARD_ID(driver, "56A0")
#define CARD_ID(driver, id)                                                                        \
    "file " DEVICE "/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:" id "\n"                          \
    "| PCI_SLOT_NAME=0000:03:00.0\n"                                                               \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/hwmon/hwmon2/name\n| " driver "\n"
#define SENSOR(name, value) "file " DEVICE "/hwmon/hwmon2/" name "\n| " value "\n"
#define RELEASE(text) "file proc/sys/kernel/osrelease\n| " text "\n"
#define ENERGIES                                                                                   \
    SENSOR("energy1_input", "3000000")                                                             \
    SENSOR("energy2_input", "2000000") SENSOR("power1_crit", "328000000") "end\n"
#define BATTLEMAGE CARD_ID("xe", "E20C")
/* The card's own value, the package's and the GPU's: all or none. */
#define WANT_ENERGIES(card, pkg)                                                                   \
    {                                                                                              \
        {GTEL_M_ENERGY, "card", card}, {GTEL_M_ENERGY, "pkg", pkg},                                \
            {GTEL_M_GPU_ENERGY, NULL, card}, {GTEL_M_POWER_PEAK_LIMIT, "card", 328},               \
        {                                                                                          \
            GTEL_M_NONE, NULL, 0                                                                   \
        }                                                                                          \
    }
#define GT(number, hwmon, energy)                                                                  \
    "file " DEVICE "/hwmon/hwmon" hwmon "/name\n| i915_gt" number "\n"                             \
    "file " DEVICE "/hwmon/hwmon" hwmon "/energy1_input\n| " energy "\n"

enum { WANT_MAX = 7 };

static const struct hwmon_case {
    const char *label;
    const char *driver;
    const char *text;
    struct {
        enum gtel_metric metric; /* NONE: no more */
        const char *dim;
        double value; /* -1: absent */
    } want[WANT_MAX];
} cases[] = {
    {"i915: voltage is the card's",
     "i915",
     CARD("i915") SENSOR("in0_input", "750") "end\n",
     {{GTEL_M_VOLTAGE, "card", 0.75}, {GTEL_M_NONE, NULL, 0}}},
    {"i915: PL1 and I1",
     "i915",
     CARD("i915") SENSOR("power1_max", "190000000") SENSOR("power1_rated_max", "225000000")
         SENSOR("power1_max_interval", "28000") SENSOR("power1_crit", "300000000") "end\n",
     {{GTEL_M_POWER_LIMIT, "card", 190},
      {GTEL_M_POWER_PEAK_LIMIT, "card", 300},
      {GTEL_M_GPU_POWER_LIMIT, NULL, 190},
      {GTEL_M_NONE, NULL, 0}}},
    {"i915: a limit that is off, and a peak in milliamperes",
     "i915",
     CARD("i915") SENSOR("power1_max", "0") SENSOR("power1_rated_max", "225000000")
         SENSOR("curr1_crit", "25000") SENSOR("fan1_input", "900") "end\n",
     {{GTEL_M_POWER_LIMIT, NULL, -1},
      {GTEL_M_POWER_PEAK_LIMIT, NULL, -1},
      {GTEL_M_PEAK_CURRENT_LIMIT, "card", 25},
      {GTEL_M_GPU_POWER_LIMIT, NULL, -1},
      {GTEL_M_FAN_RPM, "1", -1},
      {GTEL_M_NONE, NULL, 0}}},
    {"i915: temperature without a label",
     "i915",
     CARD("i915") SENSOR("temp1_input", "61500") "end\n",
     {{GTEL_M_TEMPERATURE, "pkg", 61.5},
      {GTEL_M_GPU_TEMPERATURE, NULL, 61.5},
      {GTEL_M_NONE, NULL, 0}}},
    {"i915: energy beyond 32 bits, and of its GTs",
     "i915",
     CARD("i915") SENSOR("energy1_input", "5000000000000") GT("0", "3", "7000000")
         GT("1", "10", "2000000") "end\n",
     {{GTEL_M_ENERGY, "card", 5e6},
      {GTEL_M_ENERGY, "gt0", 7},
      {GTEL_M_ENERGY, "gt1", 2},
      {GTEL_M_GPU_ENERGY, NULL, 5e6},
      {GTEL_M_NONE, NULL, 0}}},
    {"i915: GTs alone make no headline",
     "i915",
     CARD("i915") GT("0", "3", "7000000") "end\n",
     {{GTEL_M_ENERGY, "gt0", 7}, {GTEL_M_GPU_ENERGY, NULL, -1}, {GTEL_M_NONE, NULL, 0}}},
    {"xe: max is the limit, cap that of bursts, crit under its own name",
     "xe",
     CARD("xe") SENSOR("power1_label", "card") SENSOR("power1_cap", "200000000")
         SENSOR("power1_max", "180000000") SENSOR("power1_crit", "400000000")
             SENSOR("power2_cap", "0") SENSOR("power2_max", "150000000") "end\n",
     {{GTEL_M_POWER_LIMIT, "card", 180},
      {GTEL_M_POWER_BURST_LIMIT, "card", 200},
      {GTEL_M_POWER_LIMIT, "pkg", 150},
      {GTEL_M_POWER_BURST_LIMIT, "pkg", -1},
      {GTEL_M_POWER_PEAK_LIMIT, "card", 400},
      {GTEL_M_GPU_POWER_LIMIT, NULL, 180},
      {GTEL_M_NONE, NULL, 0}}},
    {"xe: the channels without labels",
     "xe",
     CARD("xe") SENSOR("energy1_input", "3000000") SENSOR("energy2_input", "2000000")
         SENSOR("in1_input", "800") SENSOR("curr2_crit", "25000") "end\n",
     {{GTEL_M_ENERGY, "card", 3},
      {GTEL_M_ENERGY, "pkg", 2},
      {GTEL_M_VOLTAGE, "pkg", 0.8},
      {GTEL_M_PEAK_CURRENT_LIMIT, "pkg", 25},
      {GTEL_M_GPU_ENERGY, NULL, 3},
      {GTEL_M_NONE, NULL, 0}}},
    {"xe: the package alone is the headline",
     "xe",
     CARD("xe") SENSOR("energy2_input", "2000000") SENSOR("power2_max", "150000000") "end\n",
     {{GTEL_M_GPU_ENERGY, NULL, 2}, {GTEL_M_GPU_POWER_LIMIT, NULL, 150}, {GTEL_M_NONE, NULL, 0}}},
    {"xe: Battlemage on 6.16: registers that hold nonsense", "xe",
     BATTLEMAGE RELEASE("6.16.4-2-MANJARO") ENERGIES, WANT_ENERGIES(-1, -1)},
    {"xe: Battlemage on a kernel that is not known", "xe", BATTLEMAGE ENERGIES,
     WANT_ENERGIES(-1, -1)},
    {"xe: Battlemage on 6.17: telemetry", "xe", BATTLEMAGE RELEASE("6.17.0") ENERGIES,
     WANT_ENERGIES(3, 2)},
    {"xe: another card on 6.16", "xe", CARD("xe") RELEASE("6.16.4") ENERGIES, WANT_ENERGIES(3, 2)},
    {"xe: limits of a temperature",
     "xe",
     CARD("xe") SENSOR("temp2_label", "pkg") SENSOR("temp2_input", "-2000")
         SENSOR("temp2_max", "95000") SENSOR("temp2_crit", "100000")
             SENSOR("temp2_emergency", "110000") "end\n",
     {{GTEL_M_TEMPERATURE, "pkg", -2},
      {GTEL_M_TEMPERATURE_LIMIT, "pkg", 95},
      {GTEL_M_TEMPERATURE_CRITICAL, "pkg", 100},
      {GTEL_M_TEMPERATURE_EMERGENCY, "pkg", 110},
      {GTEL_M_NONE, NULL, 0}}},
    {"xe: memory channels",
     "xe",
     CARD("xe") SENSOR("temp17_label", "vram_ch_11") SENSOR("temp17_input", "71000") "end\n",
     {{GTEL_M_TEMPERATURE, "vram_ch_11", 71},
      {GTEL_M_GPU_TEMPERATURE, NULL, -1},
      {GTEL_M_NONE, NULL, 0}}},
};

static void check(const struct hwmon_case *c)
{
    struct machine machine;
    if (CHECK(machine_init(&machine, c->text, c->driver))) {
        CHECK_INT(machine_gather(&machine), 0);
        for (size_t i = 0; i < WANT_MAX && c->want[i].metric != GTEL_M_NONE; i++) {
            const struct gtel_reading *got =
                machine_find(&machine, NULL, c->want[i].metric, c->want[i].dim, NULL);
            CHECK_NEAR(got ? gtel_reading_number(got) : -1, c->want[i].value, 1e-9);
        }
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

/* The card's energy at the present time, or -1. */
static double energy_of(struct machine *machine)
{
    CHECK_INT(machine_gather(machine), 0);
    const struct gtel_reading *got = machine_find(machine, NULL, GTEL_M_ENERGY, "card", NULL);
    return got ? gtel_reading_number(got) : -1;
}

/* What is read between gathers when it is due. */
static void tick(struct machine *machine)
{
    gtel_batch_reset(&machine->batch);
    machine->batch.t_ns = gtel_env_now(&machine->fault->env);
    CHECK_INT(machine->source->tick(machine->state, &machine->registry, &machine->batch), 0);
}

/*
 * In 300 of 360 s the card sleeps, with its register reset and a turn added by the driver: 162 kJ,
 * which 570 W could be over 360 s, and not over the 60 s in which it was awake. The sum begins
 * again at 0 immediately, quietly; once more at 0 it would be no power at all.
 */
static void test_energy_of_sleep(void)
{
    /* clang-format off */
    static const char text[] =
        CARD("i915") SENSOR("power1_max", "190000000") SENSOR("energy1_input", "100000000000")
        "file " DEVICE "/power/runtime_status\n| active\n"
        "file " DEVICE "/power/runtime_suspended_time\n| 0\n"
        "at 300s\n" SENSOR("energy1_input", "262000000000")
        "file " DEVICE "/power/runtime_suspended_time\n| 300000\n"
        "at 361s\n" SENSOR("energy1_input", "262020000000")
        "at 380s\n" SENSOR("energy1_input", "524000000000")
        "file " DEVICE "/power/runtime_suspended_time\n| 310000\n"
        "at 400s\n" SENSOR("energy1_input", "786000000000")
        "file " DEVICE "/power/runtime_suspended_time\n| 320000\n"
        "at 411s\n" SENSOR("energy1_input", "786000000001")
        "at 412s\n" SENSOR("energy1_input", "1048000000000") "end\n";
    /* clang-format on */
    struct machine machine;
    test_label = "energy of a sleep";
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    CHECK_NEAR(energy_of(&machine), 100000, 1e-9);
    machine_step(&machine, 360000);
    CHECK_NEAR(energy_of(&machine), 0, 1e-9);
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), 20, 1e-9);
    machine_step(&machine, 20000);
    CHECK_NEAR(energy_of(&machine), 0, 1e-9);
    machine_step(&machine, 20000);
    CHECK_NEAR(energy_of(&machine), -1, 0); /* 0 twice would be a power of 0 */
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_step(&machine, 10000);
    CHECK_NEAR(energy_of(&machine), 1e-6, 1e-12);
    machine_step(&machine, 1000); /* without a sleep it is none */
    CHECK_NEAR(energy_of(&machine), -1, 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_done(&machine);
    test_label = "";
}

static double rpm_of(struct machine *machine, const char *fan)
{
    const struct gtel_reading *got = machine_find(machine, NULL, GTEL_M_FAN_RPM, fan, NULL);
    return got ? gtel_reading_number(got) : -1;
}

/*
 * The first value is over the time since somebody's last read, however long ago. At 2 s it is over
 * a sleep, and at 3 s the one before it does not return with EAGAIN.
 */
static void test_fans(void)
{
    /* clang-format off */
    static const char text[] =
        SENSOR("fan1_input", "900") SENSOR("fan3_input", "0") SENSOR("fan3_max", "3000")
        SENSOR("fan4_input", "214748364") SENSOR("temp2_input", "50000")
        "file " DEVICE "/power/runtime_status\n| active\n"
        "file " DEVICE "/power/runtime_suspended_time\n| 0\n"
        "at 1500ms\n" SENSOR("fan1_input", "40")
        "file " DEVICE "/power/runtime_suspended_time\n| 700\n"
        "at 2500ms\nerror " DEVICE "/hwmon/hwmon2/fan1_input EAGAIN\n"
        "at 3500ms\n" SENSOR("fan1_input", "800") "end\n";
    /* clang-format on */
    static const char *const drivers[] = {"xe", "i915"};
    static const char *const heads[] = {CARD("xe"), CARD("i915")};
    static const double want[] = {-1, 900, -1, -1, 800};
    static const double still[] = {-1, 0, -1, 0, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(drivers); i++) {
        char whole[4096];
        struct machine machine;
        test_label = drivers[i];
        (void)snprintf(whole, sizeof(whole), "%s%s", heads[i], text);
        if (!CHECK(machine_init(&machine, whole, drivers[i])))
            return;
        for (size_t t = 0; t < GTEL_ARRAY_LEN(want); t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_NEAR(rpm_of(&machine, "1"), want[t], 0);
            CHECK_NEAR(rpm_of(&machine, "3"), still[t], 0);
            CHECK_NEAR(rpm_of(&machine, "4"), -1, 0);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/*
 * What means more than three times the limit is no energy, and the next minute has none: 600 J in
 * 2 s can be, 300.000001 J in 1 s cannot, and another such step later begins another minute.
 */
static void test_steps_of_energy(void)
{
    /* clang-format off */
    static const char text[] =
        CARD("i915") SENSOR("power1_max", "100000000") SENSOR("energy1_input", "5000000")
        "at 2s\n" SENSOR("energy1_input", "605000000")
        "at 3s\n" SENSOR("energy1_input", "905000001")
        "at 4s\ngrow " DEVICE "/hwmon/hwmon2/energy1_input 906000001 1000000\n"
        "at 63s\n" SENSOR("energy1_input", "965000001")
        "at 65s\n" SENSOR("energy1_input", "966000001")
        "at 66s\n" SENSOR("energy1_input", "7000000")
        "at 67s\n" SENSOR("energy1_input", "400000000")
        "at 187s\n" SENSOR("energy1_input", "500000000")
        "at 190s\n" SENSOR("energy1_input", "600000000") "end\n";
    /* clang-format on */
    struct machine machine;
    test_label = "steps of energy";
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    CHECK_NEAR(energy_of(&machine), 5, 1e-9);
    machine_step(&machine, 2000);
    CHECK_NEAR(energy_of(&machine), 605, 1e-9);
    for (unsigned second = 3; second < 63; second++) {
        machine_step(&machine, 1000);
        CHECK_NEAR(energy_of(&machine), -1, 0);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1); /* once */
    }
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), 0, 0); /* begins again */
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), -1, 0); /* stands still */
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), 1, 1e-6);
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), 7, 1e-9); /* the driver was loaded again */
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), -1, 0);
    machine_step(&machine, 120000);
    tick(&machine);
    machine_step(&machine, 3000);
    CHECK_NEAR(energy_of(&machine), 0, 0); /* begins with what is reported */
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_done(&machine);
}

/* Without a limit: 1500 W. Zero is no energy. */
static void test_most_energy(void)
{
    static const char text[] = CARD("i915") SENSOR("energy1_input", "0") "at 1s\n" SENSOR(
        "energy1_input", "1500000000") "at 2s\n" SENSOR("energy1_input", "3000000001") "end\n";
    struct machine machine;
    test_label = "the most energy";
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    CHECK_NEAR(energy_of(&machine), -1, 0);
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), 1500, 1e-9);
    machine_step(&machine, 1000);
    CHECK_NEAR(energy_of(&machine), -1, 0);
    machine_done(&machine);
}

static void stall(void *arg, enum fault_op op, const char *path)
{
    if (op == FAULT_READ && gtel_str_ends(gtel_str_of(path), GTEL_STR("/runtime_status")))
        gtel_env_tree_step(arg, 300000000);
}

/* A helper that gets no processor time after it has begun: what it reads then is as late. */
static void test_stalled(void)
{
    /* clang-format off */
    static const char text[] =
        CARD("xe") "grow " DEVICE "/hwmon/hwmon2/energy1_input 1000000 100000000\n"
        "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"
        "grow " DEVICE "/tile0/gt0/gtidle/idle_residency_ms 7 500\n"
        "file " DEVICE "/power/runtime_status\n| active\nend\n";
    /* clang-format on */
    static const struct {
        const char *label;
        enum gtel_metric metric;
        double want; /* each second */
    } counters[] = {{"energy, stalled", GTEL_M_ENERGY, 100},
                    {"idle time, stalled", GTEL_M_FREQUENCY_IDLE_TIME, 0.5}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(counters); i++) {
        struct machine machine;
        double value[2] = {0, 0};
        uint64_t t_ns[2] = {0, 0};
        test_label = counters[i].label;
        if (!CHECK(machine_init(&machine, text, "xe")))
            return;
        for (size_t t = 0; t < 2; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            const struct gtel_reading *got =
                machine_find(&machine, NULL, counters[i].metric, NULL, NULL);
            value[t] = CHECK(got != NULL) ? gtel_reading_number(got) : 0;
            t_ns[t] = got ? got->t_ns : 0;
            machine_step(&machine, 1000);
            machine.fault->watch = stall;
            machine.fault->watch_arg = &machine.tree_env;
        }
        CHECK_NEAR((value[1] - value[0]) / ((double)(t_ns[1] - t_ns[0]) / 1e9), counters[i].want,
                   1e-6);
        machine.fault->watch = NULL;
        machine_done(&machine);
    }
    test_label = "";
}

/* When counters that turn are read at the latest: each 2 min with energy, else each hour. */
static void test_kept(void)
{
    static const struct {
        const char *label;
        const char *text;
        uint64_t minutes; /* 0: no matter when */
    } kept[] = {
        {"nothing that turns", CARD("i915") SENSOR("temp1_input", "50000") "end\n", 0},
        {"energy", CARD("i915") SENSOR("energy1_input", "5000000") "end\n", 2},
        {"residency",
         CARD("i915") "file " DEVICE "/drm/card0/gt/gt0/rc6_residency_ms\n| 500\nend\n", 60},
        {"both",
         CARD("i915")
             SENSOR("energy1_input", "5000000") "file " DEVICE
                                                "/drm/card0/gt/gt0/rc6_residency_ms\n| 500\nend\n",
         2},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kept); i++) {
        struct machine machine;
        test_label = kept[i].label;
        if (!CHECK(machine_init(&machine, kept[i].text, "i915")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        uint64_t now_ns = gtel_env_now(&machine.fault->env);
        uint64_t due_ns = machine.source->due_ns(machine.state);
        CHECK_INT(due_ns, kept[i].minutes > 0 ? now_ns + kept[i].minutes * 60000000000 : 0);
        uint64_t calls = machine.fault->calls;
        machine_step(&machine, kept[i].minutes * 60000 - 1); /* not yet */
        tick(&machine);
        CHECK(kept[i].minutes == 0 || machine.fault->calls == calls);
        machine_step(&machine, 1);
        tick(&machine);
        CHECK((machine.fault->calls > calls) == (kept[i].minutes > 0));
        machine_done(&machine);
    }
}

/* A card of which a file cannot be opened is searched again in each of the next four gathers, then
 * rarely.
 */
static void test_retries(void)
{
    static const char text[] = CARD("i915")
        SENSOR("temp1_input",
               "50000") "refuse " DEVICE "/hwmon/hwmon2/in0_input EIO\n"
                        "at 8s\n" SENSOR("in0_input",
                                         "750") "at 9s\n"
                                                "gone " DEVICE "/hwmon/hwmon2/in0_input\n"
                                                "refuse " DEVICE "/hwmon/hwmon2/in0_input EIO\n"
                                                "file " DEVICE
                                                "/hwmon/hwmon2/temp2_input\n| 60000\nend\n";
    struct machine machine;
    test_label = "retries";
    if (!CHECK(machine_init(&machine, text, "i915")))
        return;
    for (unsigned second = 0; second < 16; second++) {
        /* One that is not due is made by the option Rescan. */
        machine.needs_discovery = machine.needs_discovery || second > 5;
        bool is_due = second < 4 || (second >= 9 && second < 13); /* it was well at 8 s */
        CHECK_INT(machine_gather(&machine), is_due ? -ENODEV : 0);
        CHECK(machine_find(&machine, NULL, GTEL_M_TEMPERATURE, NULL, NULL));
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], second < 9 ? 1 : 2); /* said once each */
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        check(&cases[i]);
    }
    test_energy_of_sleep();
    test_fans();
    test_steps_of_energy();
    test_most_energy();
    test_stalled();
    test_kept();
    test_retries();
    return test_result();
}
