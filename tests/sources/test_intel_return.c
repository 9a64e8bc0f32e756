/* SPDX-License-Identifier: MIT */
/* Sources i915 and xe: a driver that leaves its GPU and comes back while the program runs. */
#include "harness/source_harness.h"
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * As seen in a virtual machine (tests/guest): unbind takes the card's folder and leaves that of the
 * PCI device, whose runtime_status still answers. Bind makes the card first, its folders later.
 */
#define DEVICE "sys/devices/pci0000:00/0000:00:02.0"
#define UEVENT(driver)                                                                             \
    "file " DEVICE "/uevent\n" driver "| PCI_ID=8086:46A6\n| PCI_SLOT_NAME=0000:00:02.0\n"
#define STATUS(text) "file " DEVICE "/power/runtime_status\n| " text "\n"
#define BARE UEVENT("| DRIVER=i915\n")
#define CARD(n)                                                                                    \
    BARE "link sys/class/drm/card" n " -> ../../devices/pci0000:00/0000:00:02.0/drm/card" n "\n"   \
         "link " DEVICE "/drm/card" n "/device -> ../../../0000:00:02.0\n"
#define CLOCK(n) "file " DEVICE "/drm/card" n "/gt_act_freq_mhz\n| 1000\n"
#define UNBIND UEVENT("") "gone sys/class/drm/card0\ngone " DEVICE "/drm\n"

static bool has_clock(const struct machine *machine)
{
    return machine_find(machine, NULL, GTEL_M_GPU_FREQUENCY, NULL, NULL) != NULL;
}

/* Gathers at 0 s, 1 s, …; '-' lost, '+' present without a clock, 'C' present with it. */
static void check_life(const char *label, const char *text, const char *want)
{
    struct machine machine;
    char got[16] = "";
    test_label = label;
    if (CHECK(machine_init(&machine, text, "i915"))) {
        for (size_t t = 0; want[t]; t++) {
            int r = machine_gather(&machine);
            CHECK(r == 0 || r == -ENODEV);
            bool is_present = machine.registry.n == 1 && machine.registry.device[0]->is_present;
            got[t] = (char)(!is_present ? '-' : has_clock(&machine) ? 'C' : '+');
            CHECK(is_present || !has_clock(&machine));
            machine_step(&machine, 1000);
        }
        CHECK_STR(gtel_str_of(got), want);
        CHECK_INT(machine.fault->logs[GTEL_LOG_WARNING], 0);
    }
    machine_done(&machine);
}

static const struct life {
    const char *label;
    const char *text;
    const char *want;
} lives[] = {
    {"away for 3 s",
     CARD("0") CLOCK("0") STATUS("active") "at 2s\n" UNBIND "at 5s\n" CARD("0") CLOCK("0") "end\n",
     "CC---CCC"},
    {"back under another number",
     CARD("0") CLOCK("0") STATUS("active") "at 2s\n" UNBIND "at 3s\n" CARD("1") CLOCK("1") "end\n",
     "CC-CC"},
    {"away while asleep",
     CARD("0") CLOCK("0") STATUS("suspended") "at 1s\n" UNBIND "at 3s\n" STATUS("active") CARD("0")
         CLOCK("0") "end\n",
     "+--CC"},
    {"back before its folders are",
     CARD("0") CLOCK("0") STATUS("active") "at 2s\n" UNBIND
                                           "at 3s\n" CARD("0") "at 4s\n" CLOCK("0") "end\n",
     "CC-+CC"},
    {"away for ever", CARD("0") CLOCK("0") STATUS("active") "at 1s\n" UNBIND "end\n", "C-------"},
};

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lives); i++)
        check_life(lives[i].label, lives[i].text, lives[i].want);
    return test_result();
}
