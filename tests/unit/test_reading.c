/* SPDX-License-Identifier: MIT */
/* The batch: how many readings it takes, and what it does with the rest. */
#include "pipeline/reading.h"
#include "harness/test.h"

#include <math.h>

static void put(struct gtel_batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_VISIBLE, GTEL_STR_NONE, i);
}

/* The very last one fits, one more is dropped and counted; after a reset there is room again. */
static void test_limit(void)
{
    struct gtel_batch batch = {0};
    test_label = "limit";
    for (int round = 0; round < 2; round++) {
        put(&batch, GTEL_BATCH_MAX);
        CHECK_INT(batch.n, GTEL_BATCH_MAX);
        CHECK_INT(batch.dropped, round);
        put(&batch, 1);
        CHECK_INT(batch.n, GTEL_BATCH_MAX);
        CHECK_INT(batch.dropped, round + 1);
        CHECK_INT(batch.reading[0].value.u64, 0);
        CHECK_INT(batch.reading[GTEL_BATCH_MAX - 1].value.u64, GTEL_BATCH_MAX - 1);
        gtel_batch_reset(&batch);
        CHECK_INT(batch.n, 0);
    }
    gtel_batch_done(&batch);
}

/* As it grows, nothing is lost and nothing is moved out of order. */
static void test_growth(void)
{
    struct gtel_batch batch = {0};
    static const size_t counts[] = {1, 255, 256, 257, 511, 512, 513, 1025};
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        test_label = "growth";
        gtel_batch_reset(&batch);
        put(&batch, counts[c]);
        CHECK_INT(batch.n, counts[c]);
        CHECK(batch.size >= batch.n);
        for (size_t i = 0; i < batch.n; i++)
            if (batch.reading[i].value.u64 != i) {
                CHECK_INT(batch.reading[i].value.u64, i);
                break;
            }
    }
    CHECK_INT(batch.dropped, 0);
    gtel_batch_done(&batch);
}

static void test_values(void)
{
    struct gtel_batch batch = {.t_ns = 7, .source = 3, .origin = 2};
    struct gtel_reading own = {
        .metric = GTEL_M_SELF_GATHER, .t_ns = 9, .value_type = GTEL_VALUE_F64};
    test_label = "values";
    gtel_batch_f64(&batch, NULL, GTEL_M_SELF_GATHER, GTEL_STR_NONE, NAN);
    gtel_batch_f64(&batch, NULL, GTEL_M_SELF_GATHER, GTEL_STR_NONE, INFINITY);
    CHECK_INT(batch.n, 0);
    CHECK_INT(batch.dropped, 0); /* no value, and none was lost */
    gtel_batch_f64(&batch, NULL, GTEL_M_SELF_GATHER, GTEL_STR_NONE, 0.5);
    gtel_batch_put(&batch, &own);
    if (CHECK(batch.n == 2)) {
        CHECK_INT(batch.reading[0].t_ns, 7);
        CHECK_INT(batch.reading[1].t_ns, 9);
        CHECK_INT(batch.reading[1].source, 3);
        CHECK_INT(batch.reading[1].origin, 2);
        CHECK_NEAR(gtel_reading_number(&batch.reading[0]), 0.5, 0);
    }
    gtel_batch_done(&batch);
}

int main(void)
{
    test_limit();
    test_growth();
    test_values();
    return test_result();
}
