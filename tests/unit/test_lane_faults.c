/* SPDX-License-Identifier: MIT */
/*
 * Real helper processes that are killed or get no processor time: everything else is there in time.
 *
 *     test_lane_faults GTEL MACHINE.tree
 */
#include "harness/helper_process.h"
#include "harness/lane_machine.h"
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

static const uint64_t second_ns = 1000000000u;

static void test_killed(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    test_label = "killed";
    if (!lane_machine_start(&machine, gtel, tree) || !CHECK(lane_machine_settle(&machine)))
        return;
    uint64_t pid = helper_of("nvml");
    if (CHECK(pid > 0))
        CHECK(helper_kill(pid));
    for (unsigned i = 0; i < helper_gathers_to_return(); i++) {
        lane_machine_nap(50);
        CHECK(lane_machine_gather(&machine) < second_ns);
        CHECK(lane_machine_has_kernel(&machine)); /* the other lane loses nothing */
    }
    CHECK(lane_machine_has_nvml(&machine));
    CHECK(strstr(machine.view.log, "lane nvml: helper ended") != NULL);
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 1, 0);
    CHECK(strstr(machine.view.log, "lane nvml: works again") != NULL);
    CHECK_INT(machine.view.logs, 2);
    CHECK(helper_of("nvml") != pid);
    lane_machine_stop(&machine);
    CHECK(helper_of("--lane") == 0); /* nothing is left */
}

static void test_stopped(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    char error[64];
    test_label = "stopped";
    if (!lane_machine_start(&machine, gtel, tree))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_DEADLINE, GTEL_STR("100ms"), error, sizeof(error)),
        0);
    if (!CHECK(lane_machine_settle(&machine)))
        return;
    uint64_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    CHECK(helper_halt(pid));
    for (int i = 0; i < 5; i++) {
        CHECK(lane_machine_gather(&machine) < second_ns);
        CHECK(lane_machine_has_kernel(&machine));
        CHECK(!lane_machine_has_nvml(&machine));
        CHECK(helper_of("nvml") == pid); /* no second helper beside a hung one */
    }
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANES_LATE], 5, 0);
    uint64_t shortest_ns = UINT64_MAX;
    for (int i = 5; i < 15; i++) { /* and is waited for no longer, at last */
        uint64_t spent_ns = lane_machine_gather(&machine);
        shortest_ns = i >= 10 && spent_ns < shortest_ns ? spent_ns : shortest_ns;
    }
    CHECK(shortest_ns < second_ns / 25); /* the deadline is half of the shortest interval */
    CHECK_INT(machine.view.logs, 1);     /* said once */
    CHECK(strstr(machine.view.log, "lane nvml: no answer within") != NULL);
    CHECK(helper_go_on(pid));
    lane_machine_nap(50);
    unsigned sections = machine.view.sections;
    (void)lane_machine_gather(&machine);
    CHECK(lane_machine_has_nvml(&machine));
    CHECK_INT(machine.view.sections - sections,
              2); /* the late answer with its own time, and now's */
    CHECK_NEAR(machine.view.last[GTEL_M_SELF_LANE_RESTARTS], 0, 0);

    CHECK(helper_halt(pid)); /* a hung helper does not hold up the end either */
    uint64_t before = gtel_env_real_now();
    lane_machine_stop(&machine);
    CHECK(gtel_env_real_now() - before < second_ns);
    CHECK(!helper_is_there(pid)); /* it was killed, and its status collected */
    CHECK(strstr(machine.view.log, "lane nvml: no answer within") != NULL);
}

/* A lane that is late in every gather: each of its answers says that its GPU is up. */
static void test_always_late(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    char error[64];
    test_label = "always late";
    if (!lane_machine_start(&machine, gtel, tree))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_DEADLINE, GTEL_STR("100ms"), error, sizeof(error)),
        0);
    uint64_t pid = CHECK(lane_machine_settle(&machine)) ? helper_of("nvml") : 0;
    if (!CHECK(pid > 0))
        return;
    unsigned gpus = machine.view.readings[GTEL_M_GPU_UP];
    for (unsigned i = 0; i < 6; i++) {
        CHECK(helper_halt(pid));
        (void)lane_machine_gather(&machine);
        CHECK(lane_machine_has_nvml(&machine) == (i > 0)); /* of the gather before */
        CHECK_INT(machine.view.logs, 1);                   /* late answers do not work again */
        CHECK_INT(machine.view.readings[GTEL_M_GPU_UP], i > 0 ? gpus : gpus - 1);
        CHECK_INT(machine.view.readings[GTEL_M_GPU_READINGS_FAILED], i > 0 ? gpus : gpus - 1);
        CHECK(helper_go_on(pid));
        lane_machine_nap(100);
    }
    CHECK_NEAR(machine.view.last[GTEL_M_GPU_UP], 1, 0);
    (void)lane_machine_gather(&machine);
    CHECK(strstr(machine.view.log, "lane nvml: works again") != NULL);
    lane_machine_stop(&machine);
}

/* Requests without a pause between them teach no interval: the next deadline is not 0 ms. */
static void test_flood(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    static const char message[] = "no answer within ";
    test_label = "flood";
    if (!lane_machine_start(&machine, gtel, tree) || !CHECK(lane_machine_settle(&machine)))
        return;
    for (int i = 0; i < 50; i++)
        (void)lane_machine_gather(&machine);
    uint64_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    machine.view.log[0] = '\0';
    CHECK(helper_halt(pid));
    for (int i = 0; i < 3; i++)
        CHECK(lane_machine_gather(&machine) >= 10000000);
    const char *at = strstr(machine.view.log, message);
    if (CHECK(at != NULL))
        CHECK(strncmp(at + strlen(message), "0 ms", 4) != 0);
    lane_machine_stop(&machine);
}

/* Gathers until there are this many values of engine use; false after 10 s. */
static bool settle_engines(struct lane_machine *machine, unsigned *ret_n)
{
    for (int i = 0; i < 100; i++) {
        (void)lane_machine_gather(machine);
        *ret_n = machine->view.readings[GTEL_M_ENGINE_BUSY];
        if (*ret_n > 0)
            return true;
        lane_machine_nap(100);
    }
    return false;
}

/* Counters with a clock of their own: both the late answer and that of now have their rates. */
static void test_late_rates(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    char error[64];
    unsigned n = 0;
    test_label = "late rates";
    if (!lane_machine_start(&machine, gtel, tree))
        return;
    CHECK_INT(
        gtel_option_set(&machine.options, GTEL_O_DEADLINE, GTEL_STR("100ms"), error, sizeof(error)),
        0);
    uint64_t pid = CHECK(settle_engines(&machine, &n)) ? helper_of("kernel") : 0;
    if (!CHECK(pid > 0))
        return;
    lane_machine_nap(200);
    CHECK(helper_halt(pid));
    (void)lane_machine_gather(&machine);
    CHECK_INT(machine.view.readings[GTEL_M_ENGINE_BUSY], 0);
    lane_machine_nap(200);
    CHECK(helper_go_on(pid));
    lane_machine_nap(100);
    (void)lane_machine_gather(&machine);
    CHECK_INT(machine.view.readings[GTEL_M_ENGINE_BUSY], 2 * n);
    lane_machine_stop(&machine);
}

static size_t count_findings(const struct gtel_findings *findings, const char *source)
{
    size_t n = 0;
    for (size_t i = 0; i < findings->n; i++)
        n += strcmp(gtel_sources[findings->finding[i].source]->name, source) == 0;
    return n;
}

static void diagnose(struct lane_machine *machine, uint64_t wait_ns, struct gtel_findings *findings)
{
    gtel_context_set_findings(machine->context, findings);
    gtel_context_sample(machine->context, wait_ns);
    gtel_context_set_findings(machine->context, NULL);
}

/* Findings come from the helpers; one that hangs says nothing and shows as late. */
static void test_diagnosed(const char *gtel, const char *tree)
{
    static struct lane_machine machine;
    struct gtel_findings findings = {0};
    struct gtel_lane_report lane = {0};
    test_label = "diagnosed";
    if (!lane_machine_start(&machine, gtel, tree) || !CHECK(lane_machine_settle(&machine)))
        return;
    diagnose(&machine, 3 * second_ns, &findings);
    CHECK(count_findings(&findings, "xe") > 0 && count_findings(&findings, "nvml") > 0);
    for (size_t i = 0; i < findings.n; i++)
        CHECK(
            !findings.finding[i].device ||
            findings.finding[i].device ==
                gtel_context_registry(machine.context)->device[findings.finding[i].device->index]);
    CHECK(gtel_context_lane(machine.context, 0, &lane));
    CHECK_INT(lane.health, GTEL_LANE_FINE);
    CHECK(lane.error == 0 && !lane.fix); /* nothing to fix */
    gtel_findings_done(&findings);

    uint64_t pid = helper_of("nvml");
    if (!CHECK(pid > 0))
        return;
    CHECK(helper_halt(pid));
    diagnose(&machine, second_ns / 10, &findings);
    CHECK(count_findings(&findings, "xe") > 0 && count_findings(&findings, "nvml") == 0);
    for (size_t i = 0; gtel_context_lane(machine.context, i, &lane); i++)
        if (lane.health != GTEL_LANE_UNUSED)
            CHECK_INT(lane.health,
                      strcmp(lane.name, "nvml") == 0 ? GTEL_LANE_LATE : GTEL_LANE_FINE);
    gtel_findings_done(&findings);
    CHECK(helper_go_on(pid));
    lane_machine_nap(50);
    CHECK(lane_machine_gather(&machine) <
          second_ns); /* the findings that came too late are no readings */
    CHECK(lane_machine_has_kernel(&machine) && lane_machine_has_nvml(&machine));
    lane_machine_stop(&machine);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: test_lane_faults GTEL MACHINE.tree I915.tree\n");
        return 2;
    }
    test_killed(argv[1], argv[2]);
    test_stopped(argv[1], argv[2]);
    test_always_late(argv[1], argv[2]);
    test_flood(argv[1], argv[2]);
    test_late_rates(argv[1], argv[3]);
    test_diagnosed(argv[1], argv[2]);
    return test_result();
}
