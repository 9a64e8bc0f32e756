/* SPDX-License-Identifier: MIT */
/* Source uevents: what is counted, what is said without an event, losses and refusals. */
#include "harness/alloc_fault.h"
#include "harness/findings.h"
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

#define CARD(n, addr, driver)                                                                      \
    "link sys/class/drm/card" n " -> ../../devices/pci0000:00/" addr "/drm/card" n "\n"            \
    "link sys/devices/pci0000:00/" addr "/drm/card" n "/device -> ../../../" addr "\n"             \
    "file sys/devices/pci0000:00/" addr "/uevent\n| DRIVER=" driver "\n"                           \
    "| PCI_SLOT_NAME=" addr "\n"
#define TWO CARD("0", "0000:00:02.0", "i915") CARD("1", "0000:03:00.0", "xe")
#define KERNEL(release) "file proc/sys/kernel/osrelease\n| " release "\n"
#define SAYS(addr, card, values)                                                                   \
    "uevent change /devices/pci0000:00/" addr "/drm/" card " SUBSYSTEM=drm " values "\n"
#define HANG SAYS("0000:00:02.0", "card0", "ERROR=1")
#define RESET SAYS("0000:00:02.0", "card0", "RESET=1")
#define DONE SAYS("0000:00:02.0", "card0", "ERROR=0")

#define IGPU "0000:00:02.0"
#define CARD1 "0000:03:00.0"

static int64_t resets(const struct machine *machine, const char *device)
{
    const struct gtel_reading *got = machine_find(machine, device, GTEL_M_GPU_RESETS, NULL, NULL);
    return got ? (int64_t)got->value.u64 : -1;
}

/* -1: not said. */
static int64_t errors(const struct machine *machine, const char *device, const char *kind,
                      const char *severity)
{
    const struct gtel_reading *got =
        machine_find(machine, device, GTEL_M_ERROR_COUNT, kind, severity);
    return got ? (int64_t)got->value.u64 : -1;
}

static void test_counts(void)
{
    static const char text[] = KERNEL("6.16.3") TWO
        "uevents on\n" HANG /* before anybody listens */
        "at 1s\n" HANG RESET DONE
        /* others: a connector, another card's driver, a key that is none */
        "uevent change /devices/pci0000:00/0000:00:02.0/drm/card0 SUBSYSTEM=drm HOTPLUG=1\n"
        "uevent change /devices/pci0000:00/0000:00:02.0/drm/card0/card0-DP-1 RESET=1\n"
        "uevent change /devices/pci0000:00/0000:09:00.0/drm/card5 RESET=1\n"
        "uevent add /devices/virtual/net/veth0 RESET=1\n"
        "at 2s\n" HANG RESET SAYS("0000:03:00.0", "card1", "WEDGED=rebind,bus-reset PID=1")
            SAYS("0000:03:00.0", "card1", "WEDGED=none") SAYS("0000:03:00.0", "card1", "RESET=1")
                SAYS("0000:00:02.0", "card0",
                     "L3_PARITY_ERROR=1 ROW=1 BANK=2 SUBBANK=0 SLICE=0") "end\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, IGPU), 0);
    CHECK_INT(errors(&machine, IGPU, "hang", NULL), -1); /* the reset of an engine is silent */
    CHECK_INT(errors(&machine, IGPU, "wedged", "fatal"), 0);
    CHECK_INT(errors(&machine, IGPU, "l3-parity", NULL), -1);
    CHECK_INT(resets(&machine, CARD1), -1); /* xe is silent about resets */
    CHECK_INT(errors(&machine, CARD1, "hang", NULL), -1);
    CHECK_INT(errors(&machine, CARD1, "wedged", "fatal"), 0);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.cards.version, machine.version);
    CHECK_INT(resets(&machine, IGPU), 1);
    CHECK_INT(errors(&machine, IGPU, "hang", "nonfatal"), 1);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, IGPU), 2);
    CHECK_INT(errors(&machine, IGPU, "hang", "nonfatal"), 2);
    CHECK_INT(errors(&machine, IGPU, "l3-parity", "nonfatal"), 1);
    CHECK_INT(errors(&machine, IGPU, "wedged", "fatal"), 0);
    CHECK_INT(errors(&machine, CARD1, "wedged", "fatal"), 1);
    CHECK_INT(errors(&machine, CARD1, "wedged", "corrected"), 1);
    CHECK_INT(resets(&machine, CARD1), 1); /* should it say so */
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

#define OLD                                                                                        \
    "uevent WEDGED: 0: kernels before 6.16 do not say that a device is wedged: use Linux 6.16 or " \
    "newer"

/* Zero is said only where the kernel would say otherwise. */
static void test_old_kernel(void)
{
    static const char text[] = KERNEL("6.14.0") TWO
        "uevents on\nat 1s\n" SAYS("0000:03:00.0", "card1", "WEDGED=rebind") "end\n";
    static const char *const says[] = {OLD, OLD};
    struct gtel_findings findings = {0};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, CARD1, "wedged", "fatal"), -1);
    machine.source->diagnose(machine.state, &machine.registry, &findings);
    check_findings(&findings, says, GTEL_ARRAY_LEN(says));
    CHECK(findings.finding[0].device && findings.finding[1].device != findings.finding[0].device);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(errors(&machine, CARD1, "wedged", "fatal"), 1); /* a backport */
    gtel_findings_done(&findings);
    machine_done(&machine);
}

/* Where nothing may be reported, nothing heard is not zero. */
static void test_apart(void)
{
    static const char *const says =
        "uevents (netlink): 0: in a container's own network the kernel may say nothing of devices: "
        "give the container the host's network (--network=host)";
    static const char nested[] = "file proc/self/uid_map\n| 0 1000 1\n";
    static const struct {
        const char *label;
        const char *more;
        int64_t resets[3]; /* at 0 s, after a message about a network device, after another */
        size_t findings[3];
    } cases[] = {
        {"the machine", "file proc/self/uid_map\n| 0 0 4294967295\n", {0, 0, 0}, {0, 0, 0}},
        {"rootless", "", {-1, -1, 0}, {1, 1, 0}},
        {"rootless in the host's network",
         "file proc/sys/net/core/dev_weight\n| 64\n",
         {0, 0, 0},
         {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine;
        char text[2000];
        test_label = cases[i].label;
        (void)snprintf(text, sizeof(text), "%s%s%s%s", KERNEL("6.16.0") TWO "uevents on\n", nested,
                       cases[i].more,
                       "at 1s\nuevent add /devices/virtual/net/veth0 SUBSYSTEM=net\n"
                       "at 2s\nuevent change /devices/platform/x SUBSYSTEM=platform\nend\n");
        if (!CHECK(machine_init(&machine, text, "uevents")))
            return;
        for (int t = 0; t < 3; t++) {
            struct gtel_findings findings = {0};
            CHECK_INT(machine_gather(&machine), 0);
            CHECK_INT(resets(&machine, IGPU), cases[i].resets[t]);
            CHECK_INT(errors(&machine, CARD1, "wedged", "fatal"), cases[i].resets[t]);
            machine.source->diagnose(machine.state, &machine.registry, &findings);
            check_findings(&findings, &says, cases[i].findings[t]);
            gtel_findings_done(&findings);
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

/* Lost messages: said once, counted as failures, and never guessed. */
static void test_loss(void)
{
    static const char text[] =
        TWO "uevents on\nat 1s\n" RESET "uevent lost\n" RESET "at 2s\nuevent lost\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, IGPU), 2);
    CHECK_INT(machine.batch.failed_sources, 1);
    CHECK(machine.cards.version != machine.version); /* a device's coming may be among them */
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.failed_sources, 1);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine_done(&machine);
}

static void test_refused(void)
{
    static const char text[] = TWO "uevents EPERM\nat 2s\nuevents on\nend\n";
    static const char none[] = TWO "end\n";
    static const char *const says =
        "uevents (netlink): 1: the kernel's messages about devices cannot be heard: let it use "
        "AF_NETLINK (RestrictAddressFamilies of systemd, seccomp)";
    struct gtel_findings findings = {0};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, IGPU), -1);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 1);
    machine.source->diagnose(machine.state, &machine.registry, &findings);
    check_findings(&findings, &says, 1);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, IGPU), 0);
    gtel_findings_done(&findings);
    machine_done(&machine);
    if (!CHECK(machine_init(&machine, none, "uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.n, 0);
    CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    machine_done(&machine);
}

/* The next message cannot be read. */
static void fail_once(void *arg, enum fault_op op, const char *path)
{
    struct env_fault *fault = arg;
    (void)path;
    if (op != FAULT_UEVENT)
        return;
    fault->fail_at = fault->calls + 1;
    fault->error = -EIO;
    fault->watch = NULL;
}

/* Refused, heard, and refused again: said each time that it begins. */
static void test_refused_again(void)
{
    static const char text[] = TWO "uevents EPERM\nat 2s\nuevents on\nat 4s\nuevents EPERM\nend\n";
    static const uint64_t warnings[] = {1, 1, 1, 1, 1, 2, 2};
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    for (size_t t = 0; t < sizeof(warnings) / sizeof(warnings[0]); t++) {
        if (t == 4) {
            machine.fault->watch = fail_once;
            machine.fault->watch_arg = machine.fault;
        }
        CHECK_INT(machine_gather(&machine), t == 4 ? -EIO : 0);
        CHECK((machine.cards.version != machine.version) == (t == 4)); /* anything may be lost */
        CHECK_INT(resets(&machine, IGPU), t == 2 || t == 3 ? 0 : -1);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], warnings[t]);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* Messages about as many devices as are counted, and about one more. */
static void test_many_devices(void)
{
    enum { MOST = 64 };
    static char text[32768];
    for (unsigned others = MOST - 1; others <= MOST; others++) {
        struct machine machine;
        size_t n = (size_t)snprintf(text, sizeof(text), "%s", TWO "uevents on\nat 1s\n");
        for (unsigned i = 0; i < others; i++)
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  SAYS("0000:%02x:01.0", "card9", "RESET=1"), i);
        (void)snprintf(text + n, sizeof(text) - n, "%s", RESET "end\n");
        test_label = others < MOST ? "the last one" : "one more";
        if (!CHECK(machine_init(&machine, text, "uevents")))
            return;
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(resets(&machine, IGPU), others < MOST);
        machine_done(&machine);
    }
    test_label = "";
}

/* More messages than one gather reads: the rest is read by the next one. */
static void test_many_messages(void)
{
    enum { MOST = 4096, REST = 3 };
    struct machine machine;
    const size_t size = (MOST + REST + 10) * sizeof(RESET);
    char *text = malloc(size);
    if (!CHECK(text != NULL))
        return;
    size_t n = (size_t)snprintf(text, size, "%s", TWO "uevents on\nat 1s\n");
    for (unsigned i = 0; i < MOST + REST; i++)
        n += (size_t)snprintf(text + n, size - n, "%s", RESET);
    (void)snprintf(text + n, size - n, "at 2s\nend\n");
    if (CHECK(machine_init(&machine, text, "uevents"))) {
        CHECK_INT(machine_gather(&machine), 0);
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(resets(&machine, IGPU), MOST);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(resets(&machine, IGPU), MOST + REST);
    }
    machine_done(&machine);
    free(text);
}

/* A card that goes and comes: the others of the lane get to know, and the counts go on. */
static void test_hotplug(void)
{
    static const char text[] = TWO
        "uevents on\nat 1s\n" RESET "uevent unbind /devices/pci0000:00/0000:00:02.0 SUBSYSTEM=pci\n"
        "uevent remove /devices/pci0000:00/0000:00:02.0/drm/card0 SUBSYSTEM=drm\n"
        "gone sys/class/drm/card0\nat 2s\n" CARD(
            "3", "0000:00:02.0",
            "i915") "uevent bind /devices/pci0000:00/0000:00:02.0 SUBSYSTEM=pci DRIVER=i915\n"
                    "at 3s\nuevent bind /devices/virtual/x SUBSYSTEM=other\nend\n";
    static const bool has_changed[4] = {false, true, true, false};
    static const int64_t want[4] = {0, -1, 1, 1}; /* -1: it is not there */
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "uevents")))
        return;
    for (int i = 0; i < 4; i++) {
        CHECK_INT(machine_gather(&machine), 0);
        CHECK((machine.cards.version != machine.version) == has_changed[i]);
        CHECK_INT(resets(&machine, IGPU), want[i]);
        machine_step(&machine, 1000);
    }
    machine_done(&machine);
}

/* After which messages the sources of the lane search for cards again. */
static void test_changes(void)
{
#define PCI "/devices/pci0000:00/0000:03:00.0"
    static const struct {
        const char *message;
        bool is_change;
    } cases[] = {
        {"uevent add " PCI "/drm/card1 SUBSYSTEM=drm", true},
        {"uevent remove " PCI "/drm/card1 SUBSYSTEM=drm", true},
        {"uevent change " PCI "/drm/card1 SUBSYSTEM=drm", false},
        {"uevent change " PCI "/drm/card1 SUBSYSTEM=drm ERROR=1", false},
        {"uevent change " PCI "/drm/card1 SUBSYSTEM=drm WEDGED=rebind", true},
        {"uevent add " PCI "/sound/card1 SUBSYSTEM=sound", false},
        {"uevent add " PCI " SUBSYSTEM=pci", false},
        {"uevent remove " PCI " SUBSYSTEM=pci", false},
        {"uevent bind " PCI " SUBSYSTEM=pci", true},
        {"uevent unbind " PCI " SUBSYSTEM=pci", true},
        {"uevent bind " PCI " SUBSYSTEM=usb", false},
        {"uevent unbind " PCI " DRIVER=pci", false},
        {"uevent bind " PCI "/drm/card1 SUBSYSTEM=drm", false},
        {"uevent lost", true},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[2000];
        struct machine machine;
        test_label = cases[i].message;
        (void)snprintf(text, sizeof(text), "%sat 1s\n%s\nat 2s\nend\n", TWO "uevents on\n",
                       cases[i].message);
        if (!CHECK(machine_init(&machine, text, "uevents")))
            return;
        for (int t = 0; t < 3; t++) {
            CHECK_INT(machine_gather(&machine), 0);
            CHECK((machine.cards.version != machine.version) == (t == 1 && cases[i].is_change));
            machine_step(&machine, 1000);
        }
        machine_done(&machine);
    }
    test_label = "";
}

static void test_faults(void)
{
    static const char text[] = TWO "uevents on\nat 5s\nend\n";
    static const int errors[] = {-EIO, -EMFILE, -ENOBUFS, 0};
    CHECK(machine_fail_in_turn(text, "uevents", errors) > 10);
    alloc_fault_arm(0);
    (void)machine_fail_in_turn(text, "uevents", &errors[3]); /* none */
    uint64_t n = alloc_fault_count();
    for (uint64_t k = 1; k <= n; k++) {
        struct machine machine;
        if (!CHECK(machine_init(&machine, text, "uevents")))
            break;
        alloc_fault_arm(k);
        (void)machine_gather(&machine); /* the failure may show */
        alloc_fault_arm(0);
        machine.needs_discovery = true;
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(resets(&machine, IGPU), 0);
        machine_done(&machine);
    }
    test_label = "";
}

/* amdgpu says when a reset is over; Intel's GPUs are another source's. */
static void test_amd(void)
{
    static const char text[] =
        KERNEL("6.16.3") TWO CARD("2", "0000:44:00.0", "amdgpu") "uevents on\nat 1s\n" RESET SAYS(
            "0000:44:00.0", "card2", "WEDGED=none PID=7 TASK=hog")
            SAYS("0000:44:00.0", "card2", "WEDGED=none")
                SAYS("0000:44:00.0", "card2", "WEDGED=rebind") "end\n";
    static const char old[] =
        KERNEL("6.12.1") CARD("2", "0000:44:00.0", "amdgpu") "uevents on\nend\n";
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, "amdgpu_uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, "0000:44:00.0"), 0);
    CHECK_INT(errors(&machine, "0000:44:00.0", "wedged", "fatal"), 0);
    machine_step(&machine, 1000);
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(resets(&machine, "0000:44:00.0"), 2);
    CHECK_INT(errors(&machine, "0000:44:00.0", "wedged", "corrected"), 2);
    CHECK_INT(errors(&machine, "0000:44:00.0", "wedged", "fatal"), 1);
    CHECK_INT(resets(&machine, IGPU), -1);
    CHECK_INT(machine.batch.n, 3);
    machine_done(&machine);
    if (!CHECK(machine_init(&machine, old, "amdgpu_uevents")))
        return;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.batch.n, 0); /* a kernel that says nothing of it */
    machine_done(&machine);
}

int main(void)
{
    test_amd();
    test_counts();
    test_old_kernel();
    test_apart();
    test_loss();
    test_refused();
    test_refused_again();
    test_many_devices();
    test_many_messages();
    test_hotplug();
    test_changes();
    test_faults();
    return test_result();
}
