/* SPDX-License-Identifier: MIT */
/* Results by what they mean, and pauses that grow. */
#include "base/backoff.h"
#include "base/compiler.h"
#include "base/error.h"
#include "harness/test.h"

static void test_errors(void)
{
    static const struct {
        int r;
        bool is_absence;
        bool is_no_path;
        bool is_refusal;
        bool is_broken;
    } cases[] = {
        {0, false, false, false, false},         {-ENOENT, true, true, false, false},
        {-EOPNOTSUPP, true, true, false, false}, {-ENODATA, true, true, false, false},
        {-ENODEV, false, true, false, true},     {-ENOTDIR, false, true, false, true},
        {-EACCES, false, false, true, true},     {-EPERM, false, false, true, true},
        {-EIO, false, false, false, true},       {-ENOMEM, false, false, false, true},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char label[32];
        (void)snprintf(label, sizeof(label), "error %d", cases[i].r);
        test_label = label;
        CHECK_INT(gtel_error_is_absence(cases[i].r), cases[i].is_absence);
        CHECK_INT(gtel_error_is_no_path(cases[i].r), cases[i].is_no_path);
        CHECK_INT(gtel_error_is_refusal(cases[i].r), cases[i].is_refusal);
        CHECK_INT(gtel_error_is_broken(cases[i].r), cases[i].is_broken);
        test_label = "";
    }
}

static void test_pauses(void)
{
    static const uint64_t want[] = {0, 1, 2, 4, 8, 16, 32, 64, 64, 64};
    struct gtel_backoff backoff = {0};
    test_label = "gathers";
    CHECK(!gtel_backoff_is_waiting(&backoff, 0));
    uint64_t now = 100;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gtel_backoff_fail(&backoff, now + 1, 1, 64);
        CHECK_INT(backoff.due, now + 1 + want[i]);
        CHECK(want[i] == 0 || gtel_backoff_is_waiting(&backoff, backoff.due - 1));
        CHECK(!gtel_backoff_is_waiting(&backoff, backoff.due));
        now = backoff.due;
    }
}

/* The last pause need not be a power of two, and the first one may come before the first try. */
static void test_bounds(void)
{
    static const uint64_t want[] = {60, 120, 240, 480, 960, 1000, 1000};
    struct gtel_backoff backoff = {.pause = 60};
    test_label = "seconds";
    for (size_t i = 0; i < GTEL_ARRAY_LEN(want); i++) {
        gtel_backoff_fail(&backoff, 7, 60, 1000);
        CHECK_INT(backoff.due, 7 + want[i]);
    }
}

int main(void)
{
    test_errors();
    test_pauses();
    test_bounds();
    return test_result();
}
