/* SPDX-License-Identifier: MIT */
/* Source xe: whether a GT slept since the gather before, for those who must not wake it. */
#include "harness/source_harness.h"
#include "harness/test.h"

#define DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define CARD                                                                                       \
    "file " DEVICE "/uevent\n| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"      \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "link " DEVICE "/drm/card0/device -> ../../../0000:03:00.0\n"                                  \
    "file " DEVICE "/tile0/gt0/gtidle/name\n| gt0-rc\n"
#define SLEPT(ms) "file " DEVICE "/tile0/gt0/gtidle/idle_residency_ms\n| " ms "\n"
#define MACHINE(ms) CARD SLEPT("5000") "at 500ms\n" SLEPT(ms) "end\n"

#define SUSPENDED(ms) "file " DEVICE "/power/runtime_suspended_time\n| " ms "\n"

enum { NOTHING, IDLE, NEARLY, BUSY };

static const struct {
    const char *label;
    const char *text;
    uint64_t held_ms; /* of the second between the gathers, awake because of us */
    int want;
} cases[] = {
    {"all of the time", MACHINE("6000"), 0, IDLE},
    {"but for what the file does not show", MACHINE("5998"), 0, IDLE},
    {"almost all", MACHINE("5997"), 0, NEARLY},
    {"98 %", MACHINE("5980"), 0, NEARLY},
    {"less", MACHINE("5979"), 0, BUSY},
    {"not at all", MACHINE("5000"), 0, BUSY},
    {"a counter that began again", MACHINE("4999"), 0, NOTHING},
    {"longer, by what reading may take", MACHINE("6102"), 0, IDLE},
    {"longer than there was time: what xe takes for a wrap", MACHINE("6103"), 0, NOTHING},
    {"the card did not sleep",
     CARD SUSPENDED("700") SLEPT("5000") "at 500ms\n" SUSPENDED("700") SLEPT("6000") "end\n", 0,
     IDLE},
    {"the card slept meanwhile",
     CARD SUSPENDED("700") SLEPT("5000") "at 500ms\n" SUSPENDED("900") SLEPT("6000") "end\n", 0,
     NOTHING},
    {"all but what we held", MACHINE("5898"), 100, IDLE},
    {"almost all but that", MACHINE("5897"), 100, NEARLY},
    {"98 % of the rest", MACHINE("5882"), 100, NEARLY},
    {"less than that", MACHINE("5881"), 100, BUSY},
    {"held all of the time", MACHINE("5000"), 1000, NOTHING},
    {"held almost all of it", MACHINE("5000"), 999, IDLE},
};

/* So long has the host slept. */
static uint64_t host_slept_ns;

static uint64_t sleeping_host(void *arg)
{
    (void)arg;
    return host_slept_ns;
}

static void test_host(void)
{
    struct machine machine;
    test_label = "the host slept meanwhile";
    if (!CHECK(machine_init(&machine, MACHINE("6000"), "xe")))
        return;
    struct gtel_env_ops ops = *machine.fault->env.ops;
    ops.suspended_ns = sleeping_host;
    machine.fault->env.ops = &ops;
    CHECK_INT(machine_gather(&machine), 0);
    machine_step(&machine, 1000);
    host_slept_ns += 60000000000;
    CHECK_INT(machine_gather(&machine), 0);
    CHECK_INT(machine.cards.card[0]->gts.idle, 0);
    CHECK_INT(machine.cards.card[0]->gts.busy, 0);
    machine_done(&machine);
}

int main(void)
{
    test_host();
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine machine;
        test_label = cases[i].label;
        if (!CHECK(machine_init(&machine, cases[i].text, "xe")))
            break;
        CHECK_INT(machine_gather(&machine), 0);
        struct gtel_card_gts *gts = &machine.cards.card[0]->gts;
        CHECK(gts->idle == 0 && gts->busy == 0 && gts->nearly_idle == 0);
        gts->held = cases[i].held_ms > 0;
        gts->held_ns = cases[i].held_ms * 1000000;
        machine_step(&machine, 1000);
        CHECK_INT(machine_gather(&machine), 0);
        CHECK_INT(gts->idle, cases[i].want == IDLE);
        CHECK_INT(gts->busy, cases[i].want == NEARLY || cases[i].want == BUSY);
        CHECK_INT(gts->nearly_idle, cases[i].want == NEARLY);
        CHECK(gts->held == 0 && gts->held_ns == 0);
        machine_done(&machine);
    }
    return test_result();
}
