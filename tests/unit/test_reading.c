/* SPDX-License-Identifier: MIT */
/* The batch: how many readings it takes, and what it does with the rest. */
#include "pipeline/reading.h"
#include "harness/test.h"

#include <errno.h>
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
    struct gtel_reading none = own;
    none.value.f64 = NAN;
    test_label = "values";
    gtel_batch_put(&batch, &none);
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
    gtel_batch_number(&batch, NULL, GTEL_M_FAN_RPM, GTEL_STR("1"), 1199.5);
    gtel_batch_number(&batch, NULL, GTEL_M_FAN_RPM, GTEL_STR("2"), 1199.4);
    gtel_batch_number(&batch, NULL, GTEL_M_POWER, GTEL_STR("pkg"), 0.5);
    gtel_batch_number(&batch, NULL, GTEL_M_POWER, GTEL_STR("pkg"), NAN);
    if (CHECK(batch.n == 5)) {
        CHECK(batch.reading[2].value_type == GTEL_VALUE_U64 && batch.reading[2].value.u64 == 1200);
        CHECK(batch.reading[3].value_type == GTEL_VALUE_U64 && batch.reading[3].value.u64 == 1199);
        CHECK(batch.reading[4].value_type == GTEL_VALUE_F64);
        CHECK_NEAR(batch.reading[4].value.f64, 0.5, 0);
        CHECK_STR(batch.reading[4].dim[0], "pkg");
    }
    gtel_batch_done(&batch);
}

/* What is counted as a failure of a device, of a source; until the reset. */
static void test_failures(void)
{
    static struct gtel_batch batch;
    const struct gtel_device device = {.index = GTEL_DEVICES_MAX - 1};
    test_label = "failures";
    gtel_batch_failed(&batch, &device);
    gtel_batch_failed(&batch, &device);
    gtel_batch_failed(&batch, NULL);
    CHECK_INT(batch.failed[GTEL_DEVICES_MAX - 1], 2);
    CHECK_INT(batch.failed_sources, 1);
    gtel_batch_reset(&batch);
    CHECK_INT(batch.failed[GTEL_DEVICES_MAX - 1], 0);
    CHECK_INT(batch.failed_sources, 0);
    CHECK_STR(gtel_batch_text(&batch, GTEL_STR("text")), "text");
    gtel_batch_done(&batch);
}

static void test_numbers(void)
{
    const struct gtel_reading text = {.value_type = GTEL_VALUE_TEXT, .value.text = GTEL_STR("7")};
    const struct gtel_reading whole = {.value_type = GTEL_VALUE_U64, .value.u64 = 7};
    test_label = "numbers";
    CHECK_NEAR(gtel_reading_number(&text), 0, 0);
    CHECK_NEAR(gtel_reading_number(&whole), 7, 0);
}

/* Each change of what is registered is seen by its generation, and nothing else is. */
static void test_registry(void)
{
    struct gtel_registry registry = {0};
    struct gtel_device *device = NULL;
    struct gtel_device *again = NULL;
    char key[GTEL_KEY_MAX + 1];
    memset(key, 'k', sizeof(key));
    test_label = "registry";
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR(""), &device), -EINVAL);
    CHECK_INT(gtel_registry_add(&registry, (struct gtel_str){key, GTEL_KEY_MAX}, &device), -EINVAL);
    CHECK_INT(registry.generation, 0);
    CHECK_INT(gtel_registry_add(&registry, (struct gtel_str){key, GTEL_KEY_MAX - 1}, &device), 0);
    CHECK_INT(strlen(device->key), GTEL_KEY_MAX - 1);
    CHECK(device->is_present && device->arrivals == 1 && device->index == 0);
    CHECK_INT(registry.generation, 1);
    CHECK_INT(gtel_registry_add(&registry, (struct gtel_str){key, GTEL_KEY_MAX - 1}, &again), 0);
    CHECK(again == device && device->arrivals == 1);
    CHECK_INT(registry.generation, 1);
    device->is_asleep = true;
    gtel_registry_lost(&registry, device);
    CHECK(!device->is_present && !device->is_asleep);
    CHECK_INT(registry.generation, 2);
    gtel_registry_lost(&registry, device);
    CHECK_INT(registry.generation, 2);
    CHECK_INT(gtel_registry_add(&registry, (struct gtel_str){key, GTEL_KEY_MAX - 1}, &again), 0);
    CHECK(device->is_present && device->arrivals == 2);
    CHECK_INT(registry.generation, 3);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("x"), &again), 0);
    CHECK(again != device && again->index == 1);
    CHECK(gtel_registry_find(&registry, GTEL_STR("x")) == again);
    CHECK(gtel_registry_find(&registry, GTEL_STR("y")) == NULL);
    gtel_registry_done(&registry);
    CHECK_INT(registry.n, 0);
}

static void test_labels(void)
{
    static const struct {
        const char *value;
        const char *want;
        unsigned generation; /* more than before */
    } steps[] = {
        {"", "", 0},
        {" \n ", "", 0},
        {" Arc\tA770\x1f\x7f! ", "Arc A770  !", 1},
        {"Arc A770  !", "Arc A770  !", 0},
        {"", "Arc A770  !", 0},
        {"B580", "B580", 1},
    };
    struct gtel_registry registry = {0};
    struct gtel_device *device = NULL;
    char longest[GTEL_LABEL_MAX + 1];
    test_label = "labels";
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("x"), &device), 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        uint64_t before = registry.generation;
        gtel_device_relabel(&registry, device, GTEL_LABEL_MODEL, gtel_str_of(steps[i].value));
        CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), steps[i].want);
        CHECK_INT(registry.generation - before, steps[i].generation);
    }
    gtel_device_label(&registry, device, GTEL_LABEL_MODEL, GTEL_STR("other"));
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_MODEL]), "B580");
    memset(longest, 'x', sizeof(longest));
    gtel_device_label(&registry, device, GTEL_LABEL_UUID,
                      (struct gtel_str){longest, sizeof(longest)});
    CHECK_INT(strlen(device->label[GTEL_LABEL_UUID]), GTEL_LABEL_MAX - 1);
    gtel_registry_done(&registry);
}

/* The last one fits, one more is counted; those that are there are still found. */
static void test_many_devices(void)
{
    struct gtel_registry registry = {0};
    struct gtel_device *device = NULL;
    test_label = "many devices";
    for (unsigned i = 0; i <= GTEL_DEVICES_MAX; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "gpu%u", i);
        CHECK_INT(gtel_registry_add(&registry, gtel_str_of(key), &device),
                  i < GTEL_DEVICES_MAX ? 0 : -ENOSPC);
    }
    CHECK_INT(registry.n, GTEL_DEVICES_MAX);
    CHECK_INT(registry.dropped, 1);
    CHECK_INT(registry.generation, GTEL_DEVICES_MAX);
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("gpu511"), &device), 0);
    CHECK_INT(device->index, 511);
    CHECK_INT(registry.dropped, 1);
    gtel_registry_done(&registry);
}

int main(void)
{
    test_limit();
    test_growth();
    test_values();
    test_failures();
    test_numbers();
    test_registry();
    test_labels();
    test_many_devices();
    return test_result();
}
