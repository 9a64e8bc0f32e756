/* SPDX-License-Identifier: MIT */
/*
 * What the sources of Intel GPUs say of values that they have not: the reason, and advice only
 * where it helps on this very machine.
 */
#include "harness/source_lane.h"
#include "harness/test.h"

#include <stdio.h>

#define CARD(driver, id, bus)                                                                      \
    "file sys/devices/pci0000:00/0000:" bus ".0/uevent\n| DRIVER=" driver "\n| PCI_ID=8086:" id    \
    "\n| PCI_SLOT_NAME=0000:" bus ".0\n"                                                           \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:" bus ".0/drm/card0\n"              \
    "link sys/devices/pci0000:00/0000:" bus ".0/drm/card0/device -> ../../../0000:" bus ".0\n"     \
    "file sys/devices/pci0000:00/0000:" bus ".0/power/runtime_status\n| active\n"
#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define B580 CARD("xe", "E20B", "03:00")
#define RELEASE(text) "file proc/sys/kernel/osrelease\n| " text "\n"
#define PHYSFN                                                                                     \
    "link " DEVICE "/physfn -> ../0000:02:00.0\ndir sys/devices/pci0000:00/0000:02:00.0\n"
#define END "end\n"

/* What the findings of a group say: a reason with these words, and one piece of advice or none. */
struct want {
    const char *label;
    const char *text;
    const char *sources;
    enum gtel_measurement group;
    const char *why; /* NULL: no finding of that group */
    const char *fix; /* NULL: no advice */
};

static bool has_text(struct gtel_str text, const char *part)
{
    for (size_t i = 0; i <= text.n; i++)
        if (gtel_str_starts(gtel_str_skip(text, i), gtel_str_of(part)))
            return true;
    return false;
}

static void show(const struct gtel_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        printf(
            "    %s: \"%.*s\": \"%.*s\"\n",
            gtel_measurement_row((enum gtel_measurement)findings->finding[i].measurement)->name.p,
            GTEL_STR_ARG(findings->finding[i].why), GTEL_STR_ARG(findings->finding[i].fix));
}

static void check_findings(const struct want *want, const struct gtel_findings *findings)
{
    size_t of_group = 0;
    size_t right = 0;
    size_t helps = 0;
    size_t advice = 0;
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        bool is_about = finding->measurement == want->group;
        of_group += is_about;
        advice += is_about && finding->fix.n > 0;
        right += is_about && want->why && has_text(finding->why, want->why);
        helps += is_about && want->fix && has_text(finding->fix, want->fix);
    }
    bool is_fine = CHECK(want->why ? right > 0 : of_group == 0);
    is_fine = CHECK(helps == (want->fix ? 1 : 0)) && is_fine;
    if (!CHECK(advice == helps) || !is_fine)
        show(findings);
}

/* value: of that option, or NULL for its default. */
static void check_with(const struct want *want, enum gtel_option option, const char *value)
{
    struct gtel_findings findings = {0};
    struct lane lane;
    test_label = want->label;
    if (!CHECK(lane_init(&lane, want->text, want->sources)))
        return;
    if (value)
        lane_set(&lane, option, value);
    for (int i = 0; i < 2; i++) {
        lane_gather(&lane);
        lane_step(&lane, 1000);
    }
    gtel_group_diagnose(&lane.group, &findings);
    check_findings(want, &findings);
    gtel_findings_done(&findings);
    lane_done(&lane);
    test_label = "";
}

static void check(const struct want *want, const char *xe_engines)
{
    check_with(want, GTEL_O_XE_ENGINES, xe_engines);
}

static void test_xe_pmu(void)
{
    static const struct want cases[] = {
        {"an old kernel", B580 RELEASE("6.12.0") END, "xe,xe_pmu", GTEL_MEASUREMENT_GPU_ENGINE,
         "since Linux 6.15", "use Linux 6.15 or newer"},
        {"a kernel not known", B580 END, "xe,xe_pmu", GTEL_MEASUREMENT_GPU_ENGINE,
         "since Linux 6.15", "use Linux 6.15 or newer"},
        {"the last kernel without", B580 RELEASE("6.14.11") END, "xe,xe_pmu",
         GTEL_MEASUREMENT_GPU_ENGINE, "since Linux 6.15", "use Linux 6.15 or newer"},
        {"the first kernel with it", B580 RELEASE("6.15.0") END, "xe,xe_pmu",
         GTEL_MEASUREMENT_GPU_ENGINE, "CONFIG_PERF_EVENTS", NULL},
        {"a new kernel", B580 RELEASE("6.17.0") END, "xe,xe_pmu", GTEL_MEASUREMENT_GPU_ENGINE,
         "CONFIG_PERF_EVENTS", NULL},
        {"a virtual function", B580 PHYSFN RELEASE("6.12.0") END, "xe,xe_pmu",
         GTEL_MEASUREMENT_GPU_ENGINE, "virtual function", NULL},
    };
    static const struct want off = {"switched off", B580 RELEASE("6.17.0") END,
                                    "xe,xe_pmu",    GTEL_MEASUREMENT_GPU_ENGINE,
                                    "it is off",    NULL};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        check(&cases[i], NULL);
    check(&off, "off");
}

#define CAPABLE(set) "file proc/self/status\n| CapEff:\t" set "\n"
#define LEVEL(level) "file proc/sys/kernel/perf_event_paranoid\n| " level "\n"
#define REFUSED                                                                                    \
    CARD("i915", "46A6", "00:02")                                                                  \
    "file sys/bus/event_source/devices/i915/type\n| 12\n"                                          \
    "file sys/bus/event_source/devices/i915/cpumask\n| 0\n"                                        \
    "file sys/bus/event_source/devices/i915/events/rcs0-busy\n| config=0x0\n"                      \
    "file sys/bus/event_source/devices/i915/events/rcs0-busy.unit\n| ns\n"                         \
    "pmu i915 0x0 0 1e9\npmu_error i915 EACCES\n"
#define PERF(label, text, fix)                                                                     \
    {                                                                                              \
        label, REFUSED text END, "i915", GTEL_MEASUREMENT_GPU_ENGINE, "refused", fix               \
    }

/* The least that helps, by the setting, the rights that are there, and where the program runs. */
static void test_refused_events(void)
{
    static const struct want cases[] = {
        PERF("an ordinary user", CAPABLE("0") LEVEL("2"), ": give the program CAP_PERFMON, or run"),
        PERF("an old kernel", CAPABLE("0") LEVEL("2") RELEASE("5.4.0"),
             ": give the program CAP_SYS_ADMIN (CAP_PERFMON"),
        PERF("the last kernel without the right", CAPABLE("0") LEVEL("2") RELEASE("5.7.19"),
             ": give the program CAP_SYS_ADMIN (CAP_PERFMON"),
        PERF("the first kernel with it", CAPABLE("0") LEVEL("2") RELEASE("5.8.0"),
             ": give the program CAP_PERFMON, or run"),
        PERF("Debian's level", CAPABLE("0") LEVEL("3"),
             "paranoid=2 and give the program CAP_PERFMON"),
        PERF("Debian's level and the right", CAPABLE("4000000000") LEVEL("3"),
             "more than CAP_PERFMON: run sysctl kernel.perf_event_paranoid=2"),
        PERF("the right", CAPABLE("4000000000") LEVEL("2"), "something else refuses"),
        PERF("root", CAPABLE("3fffffffff") LEVEL("3"), "something else refuses"),
        PERF("a level that lets everybody", CAPABLE("0") LEVEL("0"), "something else refuses"),
        PERF("a container", CAPABLE("3fffffffff") LEVEL("2") "file proc/self/uid_map\n| 0 1000 1\n",
             "outside of the container"),
        PERF("nothing known", "", "not known: give the program CAP_PERFMON, or run"),
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        check(&cases[i], NULL);
}

#define HWMON(driver) "file " DEVICE "/hwmon/hwmon3/name\n| " driver "\n"
#define ENERGY(value) "file " DEVICE "/hwmon/hwmon3/energy1_input\n| " value "\n"

/* What a newer kernel gives depends on the hardware. */
static void test_sensors(void)
{
    static const struct want cases[] = {
        {"A770, an old kernel", CARD("i915", "56A0", "03:00") RELEASE("6.8.0") END, "i915",
         GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, "since Linux 6.14, and this is 6.8",
         "use Linux 6.14"},
        {"A770, power", CARD("i915", "56A0", "03:00") RELEASE("6.1.0") END, "i915",
         GTEL_MEASUREMENT_GPU_POWER_DOMAIN, "since Linux 6.2, and this is 6.1", "use Linux 6.2"},
        {"A770, a new kernel", CARD("i915", "56A0", "03:00") RELEASE("6.14.0") END, "i915",
         GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, "none for this GPU", NULL},
        {"Flex, its fan", CARD("i915", "56C0", "03:00") RELEASE("6.8.0") END, "i915",
         GTEL_MEASUREMENT_GPU_FAN, "none for this GPU", NULL},
        {"DG1 with xe", CARD("xe", "4905", "03:00") RELEASE("6.12.0") END, "xe",
         GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, "none for this GPU", NULL},
        {"Ponte Vecchio, temperature", CARD("xe", "0BD5", "03:00") RELEASE("6.12.0") END, "xe",
         GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, "none for this GPU", NULL},
        {"Ponte Vecchio, fan", CARD("xe", "0BD5", "03:00") RELEASE("6.12.0") END, "xe",
         GTEL_MEASUREMENT_GPU_FAN, "none for this GPU", NULL},
        {"B580, fan", B580 RELEASE("6.15.0") END, "xe", GTEL_MEASUREMENT_GPU_FAN,
         "since Linux 6.16", "use Linux 6.16"},
        {"a virtual function", B580 PHYSFN RELEASE("6.12.0") END, "xe", GTEL_MEASUREMENT_GPU_FAN,
         "virtual function", NULL},
        {"B580, energy from registers", B580 RELEASE("6.16.0") HWMON("xe") ENERGY("0") END, "xe",
         GTEL_MEASUREMENT_GPU_POWER_DOMAIN, "registers that hold nonsense", "use Linux 6.17"},
        {"B580, energy stays 0", B580 RELEASE("6.17.0") HWMON("xe") ENERGY("0") END, "xe",
         GTEL_MEASUREMENT_GPU_POWER_DOMAIN, "stays 0", NULL},
        {"the same, another driver",
         CARD("i915", "56A0", "03:00") RELEASE("6.8.0") HWMON("i915") ENERGY("0") END, "i915",
         GTEL_MEASUREMENT_GPU_POWER_DOMAIN, "stays 0", NULL},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        check(&cases[i], NULL);
}

#define STATUS(text) "file " DEVICE "/power/runtime_status\n| " text "\n"

/* A GPU that is not read has that as its one reason; one that may be woken has its own. */
static void test_states(void)
{
    static const struct {
        const char *wake;
        struct want want;
    } cases[] = {
        {"never",
         {"asleep", B580 STATUS("suspended") END, "xe", GTEL_MEASUREMENT_GPU, "suspended", NULL}},
        {"never",
         {"asleep: of parts nothing", B580 STATUS("suspended") RELEASE("6.15.0") END, "xe",
          GTEL_MEASUREMENT_GPU_FAN, NULL, NULL}},
        {"always", {"woken", B580 STATUS("suspended") END, "xe", GTEL_MEASUREMENT_GPU, NULL, NULL}},
        {"always",
         {"woken: parts", B580 STATUS("suspended") RELEASE("6.15.0") END, "xe",
          GTEL_MEASUREMENT_GPU_FAN, "since Linux 6.16", "use Linux 6.16"}},
        {"never", {"awake", B580 END, "xe", GTEL_MEASUREMENT_GPU, NULL, NULL}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        check_with(&cases[i].want, GTEL_O_WAKE, cases[i].wake);
}

#define IGPU CARD("i915", "46A6", "00:02")
#define GUEST                                                                                      \
    "file sys/devices/system/cpu/modalias\n"                                                       \
    "| cpu:type:x86,ven0000fam0006mod009A:feature:,0000,009F,00A0\n"
#define RAPL_EVENT(name)                                                                           \
    "file sys/bus/event_source/devices/power/type\n| 21\n"                                         \
    "file sys/bus/event_source/devices/power/cpumask\n| 0\n"                                       \
    "file sys/bus/event_source/devices/power/events/" name "\n| event=0x02\n"                      \
    "file sys/bus/event_source/devices/power/events/" name ".unit\n| Joules\n"                     \
    "file sys/bus/event_source/devices/power/events/" name ".scale\n| 2.3e-10\n"                   \
    "pmu power 0x2 0 1e9\n"
#define ZONE(dir, label)                                                                           \
    "file sys/class/powercap/" dir "/name\n| " label "\n"                                          \
    "file sys/class/powercap/" dir "/max_energy_range_uj\n| 1000000000\n"                          \
    "refuse sys/class/powercap/" dir "/energy_uj EACCES\n"
#define POWER(label, text, why, fix)                                                               \
    {                                                                                              \
        label, IGPU text END, "rapl", GTEL_MEASUREMENT_GPU_POWER_DOMAIN, why, fix                  \
    }
#define DEGREES(label, text, why, fix)                                                             \
    {                                                                                              \
        label, IGPU text END, "rapl", GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR, why, fix            \
    }

static void test_processor(void)
{
    static const struct want cases[] = {
        POWER("no module", "", "no kernel module", "modprobe -a rapl intel_rapl_msr"),
        POWER("a virtual machine", GUEST, "the host of a virtual machine", NULL),
        POWER("the package only", RAPL_EVENT("energy-pkg"), "does not count", NULL),
        POWER("the package only, refused",
              RAPL_EVENT("energy-pkg") "pmu_error power EACCES\n" CAPABLE("0") LEVEL("2"),
              "does not count", "give the program CAP_PERFMON"),
        POWER("the package only, by powercap", ZONE("intel-rapl:0", "package-0"), "does not count",
              NULL),
        POWER("the GPU by powercap only",
              ZONE("intel-rapl:0", "package-0") ZONE("intel-rapl:0:1", "uncore"), "to root alone",
              "modprobe rapl"),
        DEGREES("no module", "", "", "modprobe coretemp"),
        DEGREES("a virtual machine", GUEST, "the host of a virtual machine", NULL),
        DEGREES("cores only",
                "file sys/devices/platform/coretemp.0/hwmon/hwmon5/name\n| coretemp\n",
                "no sensor of its package", NULL),
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        check(&cases[i], NULL);
}

int main(void)
{
    test_states();
    test_processor();
    test_sensors();
    test_refused_events();
    test_xe_pmu();
    return test_result();
}
