/* SPDX-License-Identifier: MIT */
/* How often a figure of NVML is asked for, by what it costs. */
#include "sources/nvidia/nvml.h"
#include "harness/test.h"

#define MS 1000000ull
#define S 1000000000ull

static const struct {
    const char *label;
    bool is_slow;
    bool may_be_dear;
    bool is_minor;
    uint64_t cost_ns;
    uint64_t due_ns;     /* after a reading at 100 s */
    bool is_fresh_soon;  /* half a second later */
    bool is_fresh_later; /* two seconds later */
} cases[] = {
    {"always: each pass, never repeated", false, false, false, 5 * MS, 0, false, false},
    {"cheap: the same", false, true, false, 2000, 0, false, false},
    {"cheap and minor: the same", false, false, true, 2000, 0, false, false},
    {"dear: each ten seconds", false, true, false, 4 * MS, 109 * S + 500 * MS, true, false},
    {"dear and minor: each minute", false, false, true, 600000, 159 * S + 500 * MS, true, false},
    {"slow: each minute, repeated", true, false, false, 2000, 160 * S, true, true},
    {"slow and dear: each two minutes", true, false, false, 2 * MS, 220 * S, true, true},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_nvml_row row = {.is_slow = cases[i].is_slow,
                                    .may_be_dear = cases[i].may_be_dear,
                                    .is_minor = cases[i].is_minor};
        struct gtel_nvml_slot slot = {.read_ns = 100 * S};
        test_label = cases[i].label;
        gtel_nvml_note_cost(&slot, cases[i].cost_ns);
        CHECK_INT(gtel_nvml_next_due(&row, &slot, 100 * S), cases[i].due_ns);
        CHECK_INT(gtel_nvml_is_fresh(&row, &slot, 100 * S + 500 * MS), cases[i].is_fresh_soon);
        CHECK_INT(gtel_nvml_is_fresh(&row, &slot, 102 * S), cases[i].is_fresh_later);
    }
}

static void test_costs(void)
{
    struct gtel_nvml_row row = {.may_be_dear = true};
    struct gtel_nvml_slot slot = {0};
    test_label = "costs";
    CHECK(!gtel_nvml_is_cheap(&row, &slot)); /* not measured: by itself, whatever the time */
    CHECK(gtel_nvml_fits(&slot, 100 * MS, 5));
    gtel_nvml_note_cost(&slot, 0); /* a clock that stands still */
    CHECK(gtel_nvml_is_cheap(&row, &slot));
    gtel_nvml_note_cost(&slot, 20 * MS); /* once late is not dear */
    CHECK(gtel_nvml_is_cheap(&row, &slot));
    for (int i = 0; i < 5; i++)
        gtel_nvml_note_cost(&slot, 600000);
    CHECK(!gtel_nvml_is_cheap(&row, &slot));
    slot.last_cost_ns = 4 * MS;
    CHECK(gtel_nvml_fits(&slot, 400000, 1));
    CHECK(!gtel_nvml_fits(&slot, 600000, 1));
    CHECK(gtel_nvml_fits(&slot, 10 * MS, 0)); /* the first one always: nothing waits for ever */
}

int main(void)
{
    test_cases();
    test_costs();
    return test_result();
}
