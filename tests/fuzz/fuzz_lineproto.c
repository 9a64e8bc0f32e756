/* SPDX-License-Identifier: MIT */
/* Fuzz target: whatever names and values say, the line-protocol encoder writes whole, sound lines.
 */
#include "sinks/lineproto.h"
#include "fuzz/fuzz.h"
#include "harness/lineproto_check.h"

#include <string.h>

struct input {
    struct gtel_str rest;
};

static uint8_t take(struct input *in)
{
    if (in->rest.n == 0)
        return 0;
    uint8_t byte = (uint8_t)in->rest.p[0];
    in->rest = gtel_str_skip(in->rest, 1);
    return byte;
}

static struct gtel_str take_text(struct input *in)
{
    size_t n = take(in) % 40;
    if (n > in->rest.n)
        n = in->rest.n;
    struct gtel_str text = {in->rest.p, n};
    in->rest = gtel_str_skip(in->rest, n);
    return text;
}

static uint64_t take_bits(struct input *in)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | take(in);
    return bits;
}

static void take_reading(struct input *in, struct gtel_reading *reading)
{
    uint8_t what = take(in);
    reading->metric = take(in);
    reading->value_type = what % 3;
    if ((what & 4) != 0)
        for (size_t i = 0; i < GTEL_DIMS_MAX; i++)
            reading->dim[i] = take_text(in);
    if (reading->value_type == GTEL_VALUE_TEXT) {
        reading->value.text = take_text(in);
        return;
    }
    uint64_t bits = take_bits(in);
    if (reading->value_type == GTEL_VALUE_U64)
        reading->value.u64 = bits;
    else
        memcpy(&reading->value.f64, &bits, sizeof(bits));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {fuzz_text(data, size)};
    struct gtel_device device = {.key = "0000:03:00.0"};
    struct gtel_buf buf;
    struct gtel_lineproto lp;
    size_t lines = 0;
    gtel_buf_init(&buf, 64u * take(&in));
    gtel_lineproto_init(&lp, &buf, take_text(&in));
    for (size_t i = 0; i <= GTEL_LABEL_INSTANCE; i++)
        (void)gtel_str_copy(device.label[i], sizeof(device.label[i]), take_text(&in));
    struct gtel_sink sink = gtel_lineproto_sink(&lp);
    sink.begin(sink.arg, take_bits(&in));
    struct gtel_reading reading = {.device = &device};
    uint64_t n = 0;
    for (; in.rest.n > 0; n++) {
        uint8_t aspect = take(&in);
        take_reading(&in, &reading);
        reading.device = (aspect & 8) != 0 ? NULL : &device;
        sink.put(sink.arg, &reading, (enum gtel_aspect)(aspect & 3));
    }
    sink.end(sink.arg);
    const char *error = lp_text(gtel_buf_text(&buf), &lines);
    if (error)
        (void)fprintf(stderr, "%s\n", error);
    FUZZ_CHECK(!error);
    FUZZ_CHECK(lines == lp.lines && lp.dropped <= n);
    gtel_buf_done(&buf);
    return 0;
}
