/* SPDX-License-Identifier: MIT */
/* The table for people: whole tables, as a terminal gets them. */
#include "execd/table.h"
#include "harness/test.h"

#include <math.h>

static const struct gtel_device card = {
    .key = "0000:03:00.0",
    .label = {[GTEL_LABEL_GPU] = "0000:03:00.0", [GTEL_LABEL_MODEL] = "Arc B580"},
};
static const struct gtel_device other = {
    .key = "0000:41:00.0",
    .label =
        {[GTEL_LABEL_GPU] = "0000:41:00.0", [GTEL_LABEL_MODEL] = "A model of more than 24 letters"},
};
static const struct gtel_device part = {
    .key = "0000:41:00.0/mig1",
    .label = {[GTEL_LABEL_GPU] = "0000:41:00.0", [GTEL_LABEL_INSTANCE] = "mig1"},
};

static struct gtel_table table;
static struct gtel_buf out;
static struct gtel_sink sink;

static void put(const struct gtel_device *device, enum gtel_metric metric, const char *name,
                double value)
{
    const struct gtel_reading reading = {.device = device,
                                         .metric = (uint16_t)metric,
                                         .dim = {gtel_str_of(name)},
                                         .value.f64 = value,
                                         .value_type = GTEL_VALUE_F64};
    sink.put(sink.arg, &reading, GTEL_ASPECT_VALUE);
}

static void put_process(const char *name, double busy, double mib)
{
    if (busy >= 0)
        put(&card, GTEL_M_PROCESS_BUSY, name, busy);
    if (mib >= 0)
        put(&card, GTEL_M_PROCESS_MEMORY, name, mib * (1 << 20));
}

static void begin(bool is_watching)
{
    gtel_buf_init(&out, 1 << 16);
    gtel_table_init(&table, &out, is_watching);
    sink = gtel_table_sink(&table);
    sink.begin(sink.arg, 1);
}

static void check(const char *want)
{
    sink.end(sink.arg);
    CHECK_STR(gtel_buf_text(&out), want);
    gtel_table_done(&table);
    gtel_buf_done(&out);
}

#define HEADING                                                                                    \
    "GPU           MODEL                     BUSY             MEMORY GiB      TEMP  POWER W     "  \
    "CLOCK MHz\n"

static void test_gpu(void)
{
    const double gib = 1 << 30;
    test_label = "all values, and only of the GPU as a whole";
    begin(false);
    put(&card, GTEL_M_GPU_UP, "", 1);
    put(&card, GTEL_M_GPU_AWAKE, "", 1);
    put(&card, GTEL_M_GPU_BUSY, "", 0.254);
    put(&card, GTEL_M_GPU_MEMORY_USED, "", 1.5 * gib);
    put(&card, GTEL_M_GPU_MEMORY_TOTAL, "", 12 * gib);
    put(&card, GTEL_M_GPU_TEMPERATURE, "", 61.4);
    put(&card, GTEL_M_GPU_POWER, "", 142.6);
    put(&card, GTEL_M_GPU_POWER_LIMIT, "", 190);
    put(&card, GTEL_M_GPU_FREQUENCY, "", 2.05e9);
    put(&card, GTEL_M_GPU_THROTTLED, "", 1);
    put(&card, GTEL_M_ENGINE_BUSY, "render", 0.9);
    put(NULL, GTEL_M_SELF_GATHER, "", 1);
    const struct gtel_reading most = {
        .device = &card, .metric = GTEL_M_GPU_BUSY, .value.f64 = 0.9, .value_type = GTEL_VALUE_F64};
    sink.put(sink.arg, &most, GTEL_ASPECT_MAX);
    check(HEADING "0000:03:00.0  Arc B580                  |||.......  25 %   1.5/12.0    61 C   "
                  "143/190    2050  throttled\n");
    test_label = "nothing known";
    begin(false);
    put(&other, GTEL_M_GPU_UP, "", 1);
    check(HEADING "0000:41:00.0  A model of more than 24                 -       -          "
                  "-       -           -\n");
    test_label = "more than all, and a limit of neither memory nor power";
    begin(false);
    put(&card, GTEL_M_GPU_BUSY, "", 1.04);
    put(&card, GTEL_M_GPU_MEMORY_USED, "", 0.25 * gib);
    put(&card, GTEL_M_GPU_POWER, "", 7);
    put(&card, GTEL_M_GPU_THROTTLED, "", 0);
    check(HEADING "0000:03:00.0  Arc B580                  |||||||||| 104 %   0.2          "
                  "-       7           -\n");
}

static void test_rows(void)
{
    test_label = "no GPU";
    begin(false);
    check("");
    test_label = "asleep, not there, a part";
    begin(false);
    put(&card, GTEL_M_GPU_UP, "", 1);
    put(&card, GTEL_M_GPU_AWAKE, "", 0);
    put(&card, GTEL_M_GPU_BUSY, "", 0.5);
    put(&other, GTEL_M_GPU_UP, "", 0);
    put(&part, GTEL_M_GPU_AWAKE, "", 0);
    check(HEADING "0000:03:00.0  Arc B580                  asleep\n"
                  "0000:41:00.0  A model of more than 24   does not answer\n"
                  "mig1          of 0000:41:00.0           asleep\n");
    test_label = "in place of the table before";
    begin(true);
    put(&card, GTEL_M_GPU_UP, "", 0);
    check("\033[H\033[J" HEADING "0000:03:00.0  Arc B580                  does not answer\n");
}

#define ROW "0000:03:00.0  Arc B580                  asleep\n"

static void test_processes(void)
{
    test_label = "one: its fields are one row";
    begin(false);
    put(&card, GTEL_M_GPU_AWAKE, "", 0);
    put_process("one", 0.5, 100);
    check(HEADING ROW "  one                                   |||||.....  50 %      100 MiB\n");
    test_label = "the busiest, then the largest, five of seven";
    begin(false);
    put(&card, GTEL_M_GPU_AWAKE, "", 0);
    put_process("idle", 0, 10);
    put_process("large", 0, 4000);
    put_process("unknown", -1, 9000);
    put_process("busy", 0.7, -1);
    put_process("busier", 0.96, 1);
    put_process("small", 0, 5);
    put_process("middle", 0, 20);
    check(HEADING ROW "  busier                                ||||||||||  96 %        1 MiB\n"
                      "  busy                                  |||||||...  70 %\n"
                      "  large                                 ..........   0 %     4000 MiB\n"
                      "  middle                                ..........   0 %       20 MiB\n"
                      "  idle                                  ..........   0 %       10 MiB\n");
    test_label = "memory alone; of none of the GPU before; a long name";
    begin(false);
    put(&other, GTEL_M_GPU_UP, "", 0);
    put(&card, GTEL_M_GPU_AWAKE, "", 0);
    put_process("a name of forty letters, two are too many", -1, 0);
    check(HEADING "0000:41:00.0  A model of more than 24   does not answer\n" ROW
                  "  a name of forty letters, two are too m              -          0 MiB\n");
}

int main(void)
{
    test_gpu();
    test_rows();
    test_processes();
    return test_result();
}
