/* SPDX-License-Identifier: MIT */
/* The line-protocol encoder: exact lines, nasty names, limits, and a round trip. */
#include "sinks/lineproto.h"
#include "harness/lineproto_check.h"
#include "harness/test.h"

#include <errno.h>
#include <math.h>

static const struct gtel_device card = {
    .key = "0000:03:00.0",
    .label = {[GTEL_LABEL_GPU] = "0000:03:00.0",
              [GTEL_LABEL_VENDOR] = "intel",
              [GTEL_LABEL_DRIVER] = "xe",
              [GTEL_LABEL_MODEL] = "Arc, B580"},
};

struct output {
    struct gtel_buf buf;
    struct gtel_lineproto lp;
    struct gtel_sink sink;
};

static void output_init(struct output *out, size_t limit, const char *host)
{
    gtel_buf_init(&out->buf, limit);
    gtel_lineproto_init(&out->lp, &out->buf, gtel_str_of(host));
    out->sink = gtel_lineproto_sink(&out->lp);
    out->sink.begin(out->sink.arg, 1767225600000000001);
}

static struct gtel_str output_end(struct output *out)
{
    out->sink.end(out->sink.arg);
    return gtel_buf_text(&out->buf);
}

static struct gtel_reading f64(enum gtel_metric metric, const char *dim, double value)
{
    return (struct gtel_reading){.device = &card,
                                 .metric = (uint16_t)metric,
                                 .dim = {gtel_str_of(dim)},
                                 .value.f64 = value,
                                 .value_type = GTEL_VALUE_F64};
}

static struct gtel_reading u64(enum gtel_metric metric, const char *dim, uint64_t value)
{
    struct gtel_reading reading = f64(metric, dim, 0);
    reading.value.u64 = value;
    reading.value_type = GTEL_VALUE_U64;
    return reading;
}

static struct gtel_reading text(enum gtel_metric metric, struct gtel_str value)
{
    struct gtel_reading reading = f64(metric, "", 0);
    reading.value.text = value;
    reading.value_type = GTEL_VALUE_TEXT;
    return reading;
}

static void put(struct output *out, struct gtel_reading reading)
{
    out->sink.put(out->sink.arg, &reading, GTEL_ASPECT_VALUE);
}

#define TAGS ",driver=xe,gpu=0000:03:00.0,model=Arc\\,\\ B580,vendor=intel"
#define TIME " 1767225600000000001\n"

static void test_lines(void)
{
    test_label = "lines";
    struct output out;
    output_init(&out, 1 << 16, "");
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    struct gtel_reading busy = f64(GTEL_M_GPU_BUSY, "", 0.125);
    out.sink.put(out.sink.arg, &busy, GTEL_ASPECT_VALUE);
    out.sink.put(out.sink.arg, &busy, GTEL_ASPECT_MIN);
    out.sink.put(out.sink.arg, &busy, GTEL_ASPECT_MAX);
    put(&out, u64(GTEL_M_GPU_FREQUENCY, "", 2099999999));
    put(&out, f64(GTEL_M_ENGINE_BUSY, "render", 1. / 3));
    put(&out, f64(GTEL_M_ENGINE_BUSY_TIME, "render", 123456.789012345));
    put(&out, f64(GTEL_M_ENGINE_BUSY, "copy", 0));
    put(&out, f64(GTEL_M_FREQUENCY_IDLE_TIME, "gt", 5)); /* internal */
    put(&out, text(GTEL_M_INFO_UUID, GTEL_STR("a\"b\\c\nd")));
    struct gtel_reading self = f64(GTEL_M_SELF_GATHER, "", 0.0005);
    self.device = NULL;
    put(&out, self);
    CHECK_STR(
        output_end(&out),
        "gpu" TAGS " up=1i,busy_percent=12.5,busy_percent_min=12.5,busy_percent_max=12.5,"
        "frequency_mhz=2100i" TIME
        "gpu_engine,driver=xe,engine=render,gpu=0000:03:00.0,model=Arc\\,\\ B580,vendor=intel "
        "busy_percent=33.3333333,busy_seconds=123456.789012345" TIME
        "gpu_engine,driver=xe,engine=copy,gpu=0000:03:00.0,model=Arc\\,\\ B580,vendor=intel "
        "busy_percent=0" TIME "gpu_info" TAGS " uuid=\"a\\\"b\\\\c?d\"" TIME
        "gtel gather_seconds=0.0005" TIME);
    CHECK_INT(out.lp.lines, 5);
    CHECK_INT(out.lp.dropped, 0);
    gtel_buf_done(&out.buf);
}

static void test_tags(void)
{
    test_label = "tags";
    struct output out;
    output_init(&out, 1 << 16, "my host");
    struct gtel_device mig = card;
    (void)gtel_str_copy(mig.label[GTEL_LABEL_INSTANCE], GTEL_LABEL_MAX, GTEL_STR("mig1"));
    (void)gtel_str_copy(mig.label[GTEL_LABEL_GPU], GTEL_LABEL_MAX, GTEL_STR(""));
    (void)gtel_str_copy(mig.label[GTEL_LABEL_MODEL], GTEL_LABEL_MAX, GTEL_STR(""));
    struct gtel_reading reading = u64(GTEL_M_ENGINE_CAPACITY, "copy", 2);
    reading.device = &mig;
    reading.dim[1] = GTEL_STR("3");
    reading.dim[2] = GTEL_STR("0");
    put(&out, reading);
    reading.dim[1] = GTEL_STR_NONE;
    put(&out, reading);
    CHECK_STR(output_end(&out),
              "gpu_engine,driver=xe,engine=copy,gpu=0000:03:00.0,gt=0,host=my\\ host,"
              "instance=mig1/3,vendor=intel capacity=2i" TIME
              "gpu_engine,driver=xe,engine=copy,gpu=0000:03:00.0,gt=0,host=my\\ host,"
              "instance=mig1,vendor=intel capacity=2i" TIME);
    gtel_buf_done(&out.buf);
}

static const struct value_case {
    const char *label;
    struct gtel_reading reading;
    int rc;
    const char *want;
} value_cases[] = {
    {"largest integer",
     {.metric = GTEL_M_GPU_MEMORY_USED, .value.u64 = INT64_MAX},
     0,
     "9223372036854775807i"},
    {"one more", {.metric = GTEL_M_GPU_MEMORY_USED, .value.u64 = (uint64_t)1 << 63}, -ERANGE, ""},
    {"an integer that is a float inside",
     {.metric = GTEL_M_FAN_RPM, .value.f64 = 1499.6, .value_type = GTEL_VALUE_F64},
     0,
     "1500i"},
    {"too large for an integer",
     {.metric = GTEL_M_FAN_RPM, .value.f64 = 1e19, .value_type = GTEL_VALUE_F64},
     -ERANGE,
     ""},
    {"too small for an integer",
     {.metric = GTEL_M_FAN_RPM, .value.f64 = -9.3e18, .value_type = GTEL_VALUE_F64},
     -ERANGE,
     ""},
    {"a counter",
     {.metric = GTEL_M_ENGINE_BUSY_TIME, .value.f64 = 1.0 / 3, .value_type = GTEL_VALUE_F64},
     0,
     "0.333333333333333"},
    {"not a number for an integer",
     {.metric = GTEL_M_FAN_RPM, .value.f64 = NAN, .value_type = GTEL_VALUE_F64},
     -ERANGE,
     ""},
    {"negative integer",
     {.metric = GTEL_M_FAN_RPM, .value.f64 = -3, .value_type = GTEL_VALUE_F64},
     0,
     "-3i"},
    {"negative float",
     {.metric = GTEL_M_GPU_TEMPERATURE, .value.f64 = -40.5, .value_type = GTEL_VALUE_F64},
     0,
     "-40.5"},
    {"float from an integer", {.metric = GTEL_M_GPU_POWER, .value.u64 = 75}, 0, "75"},
    {"infinite",
     {.metric = GTEL_M_GPU_POWER, .value.f64 = INFINITY, .value_type = GTEL_VALUE_F64},
     -ERANGE,
     ""},
    {"infinite once scaled",
     {.metric = GTEL_M_GPU_BUSY, .value.f64 = 1e308, .value_type = GTEL_VALUE_F64},
     -ERANGE,
     ""},
    {"very large",
     {.metric = GTEL_M_GPU_POWER, .value.f64 = 1e300, .value_type = GTEL_VALUE_F64},
     0,
     "1e+300"},
    {"text for a number",
     {.metric = GTEL_M_GPU_POWER, .value.text = {"x", 1}, .value_type = GTEL_VALUE_TEXT},
     -EINVAL,
     ""},
    {"number for a text", {.metric = GTEL_M_INFO_UUID, .value.u64 = 1}, -EINVAL, ""},
    {"empty text", {.metric = GTEL_M_INFO_UUID, .value_type = GTEL_VALUE_TEXT}, -ENODATA, ""},
    {"text of backslashes",
     {.metric = GTEL_M_INFO_UUID, .value.text = {"\\\\", 2}, .value_type = GTEL_VALUE_TEXT},
     0,
     "\"\\\\\\\\\""},
};

static void test_values(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(value_cases); i++) {
        struct gtel_buf buf;
        gtel_buf_init(&buf, 1024);
        test_label = value_cases[i].label;
        CHECK_INT(gtel_lineproto_value(&buf, &value_cases[i].reading), value_cases[i].rc);
        CHECK_STR(gtel_buf_text(&buf), value_cases[i].want);
        gtel_buf_done(&buf);
    }
}

/* Names that a user can give a process, and what a tag says then. */
static const struct name_case {
    const char *label;
    struct gtel_str name;
    const char *want; /* NULL: no tag */
} name_cases[] = {
    {"quote, newline, backslash", GTEL_STR_INIT("a\"b\n\\c,d e=1"), "a\"b?/c\\,d\\ e\\=1"},
    {"the letters of escapes", GTEL_STR_INIT("a\"b\\n\\c,d e=1"), "a\"b/n/c\\,d\\ e\\=1"},
    {"only backslashes", GTEL_STR_INIT("\\\\\\"), "///"},
    {"backslash at the end", GTEL_STR_INIT("a\\"), "a/"},
    {"empty", GTEL_STR_INIT(""), NULL},
    {"newline only", GTEL_STR_INIT("\n"), "?"},
    {"cut in the middle of a character", GTEL_STR_INIT("1234567890123\xe2\x82"), "1234567890123??"},
    {"whole characters", GTEL_STR_INIT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
     "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"overlong", GTEL_STR_INIT("\xc0\xaf\xe0\x80\xaf"), "?????"},
    {"surrogate", GTEL_STR_INIT("\xed\xa0\x80"), "???"},
    {"beyond Unicode", GTEL_STR_INIT("\xf4\x90\x80\x80\xff"), "?????"},
    {"C1 control", GTEL_STR_INIT("a\xc2\x85z"), "a??z"},
    {"NUL and DEL", GTEL_STR_INIT("a\0b\x7f"), "a?b?"},
    {"tab, CR", GTEL_STR_INIT("a\tb\r"), "a?b?"},
    {"hash", GTEL_STR_INIT("#x"), "#x"},
    {"blank at the end", GTEL_STR_INIT("x "), "x\\ "},
    {"only separators", GTEL_STR_INIT(", ="), "\\,\\ \\="},
};

static void test_names(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(name_cases); i++) {
        struct output out;
        struct lp_line line;
        test_label = name_cases[i].label;
        output_init(&out, 4096, "");
        struct gtel_reading reading = u64(GTEL_M_PROCESS_COUNT, "", 1);
        reading.dim[0] = name_cases[i].name;
        put(&out, reading);
        struct gtel_str got = output_end(&out);
        struct gtel_str one;
        struct gtel_str rest = got;
        CHECK(gtel_str_line(&rest, &one) && rest.n == 0);
        const char *error = lp_line(one, &line);
        CHECK_STR(gtel_str_of(error), "");
        CHECK_STR(lp_tag(&line, "process"), name_cases[i].want);
        gtel_buf_done(&out.buf);
    }
}

static void test_limits(void)
{
    struct output out;
    test_label = "no room for the second line";
    output_init(&out, 120, "");
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    put(&out, f64(GTEL_M_ENGINE_BUSY, "render", 0.5));
    put(&out, f64(GTEL_M_ENGINE_BUSY_TIME, "render", 5));
    CHECK_STR(output_end(&out), "gpu" TAGS " up=1i" TIME);
    CHECK_INT(out.lp.dropped, 2);
    CHECK_INT(out.lp.lines, 1);
    gtel_buf_done(&out.buf);

    test_label = "a shorter line still fits";
    output_init(&out, 120, "");
    put(&out, f64(GTEL_M_PROCESS_COUNT, "0123456789012345678901234567890123456789012345678901", 1));
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    CHECK_STR(output_end(&out), "gpu" TAGS " up=1i" TIME);
    CHECK_INT(out.lp.dropped, 1);
    gtel_buf_done(&out.buf);

    test_label = "every limit";
    for (size_t limit = 0; limit < 400; limit++) {
        size_t lines = 0;
        output_init(&out, limit, "");
        put(&out, u64(GTEL_M_GPU_UP, "", 1));
        put(&out, f64(GTEL_M_GPU_POWER, "", 12.25));
        put(&out, f64(GTEL_M_GPU_POWER, "", NAN));
        put(&out, f64(GTEL_M_ENGINE_BUSY, "render", 0.5));
        put(&out, f64(GTEL_M_ENGINE_BUSY_TIME, "render", 5));
        struct gtel_str got = output_end(&out);
        CHECK_STR(gtel_str_of(lp_text(got, &lines)), "");
        CHECK_INT(out.lp.lines, lines);
        CHECK_INT(out.lp.dropped, 1 + 4 - 2 * lines);
        gtel_buf_done(&out.buf);
    }

    test_label = "no value";
    output_init(&out, 4096, "");
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    put(&out, f64(GTEL_M_GPU_POWER, "", NAN));
    put(&out, text(GTEL_M_INFO_UUID, GTEL_STR_NONE)); /* nothing is said: nothing is dropped */
    CHECK_STR(output_end(&out), "gpu" TAGS " up=1i" TIME);
    CHECK_INT(out.lp.dropped, 1);
    gtel_buf_done(&out.buf);

    test_label = "the last time";
    output_init(&out, 4096, "");
    out.sink.begin(out.sink.arg, UINT64_MAX);
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    CHECK_STR(output_end(&out), "gpu" TAGS " up=1i 9223372036854775806\n");
    gtel_buf_done(&out.buf);

    test_label = "a field twice";
    output_init(&out, 4096, "");
    put(&out, u64(GTEL_M_GPU_UP, "", 1));
    put(&out, u64(GTEL_M_GPU_UP, "", 0));
    CHECK_STR(output_end(&out), "gpu" TAGS " up=1i" TIME);
    CHECK_INT(out.lp.dropped, 1);
    gtel_buf_done(&out.buf);
}

/* What the encoder relies on: plain names, no field named as a tag of its line. */
static void test_catalogue(void)
{
    test_label = "catalogue";
    for (size_t m = 0; m < GTEL_M_COUNT; m++) {
        struct output out;
        struct lp_line line;
        struct gtel_reading reading = u64((enum gtel_metric)m, "x", 1);
        if (gtel_metric_row((enum gtel_metric)m)->type == GTEL_TYPE_STRING)
            reading = text((enum gtel_metric)m, GTEL_STR("x"));
        const struct gtel_measurement_row *row =
            gtel_measurement_row(gtel_metric_row((enum gtel_metric)m)->measurement);
        for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
            reading.dim[d] = row->dims[d] ? GTEL_STR("x") : GTEL_STR_NONE;
        output_init(&out, 4096, "h");
        for (int aspect = GTEL_ASPECT_VALUE; aspect <= GTEL_ASPECT_MAX; aspect++)
            out.sink.put(out.sink.arg, &reading, (enum gtel_aspect)aspect);
        CHECK_INT(out.lp.dropped, 0);
        for (int aspect = GTEL_ASPECT_VALUE; aspect <= GTEL_ASPECT_MAX; aspect++)
            out.sink.put(out.sink.arg, &reading, (enum gtel_aspect)aspect); /* again: dropped */
        struct gtel_str got = output_end(&out);
        CHECK_INT(out.lp.dropped, gtel_metric_row((enum gtel_metric)m)->field.n > 0 ? 3 : 0);
        if (gtel_metric_row((enum gtel_metric)m)->field.n > 0) {
            const char *error = lp_line((struct gtel_str){got.p, got.n - 1}, &line);
            CHECK_STR(gtel_str_of(error), "");
            CHECK_INT(line.nfields, 3);
            for (size_t d = 0; d < GTEL_DIMS_MAX && row->dims[d]; d++)
                CHECK_STR(lp_tag(&line, row->dims[d]), "x");
        } else {
            CHECK_STR(got, "");
        }
        gtel_buf_done(&out.buf);
    }
}

/* Printable text comes back as it went in, but for the backslash in a tag. */
static void test_round_trip(void)
{
    static const char letters[] = "aZ0, =\"'#~\\\xc3\xa9";
    uint32_t random = 12345;
    test_label = "round trip";
    for (int run = 0; run < 2000; run++) {
        char name[24];
        char plain[64];
        size_t n = 0;
        while (n < 1 + random % 20) {
            random = random * 1664525u + 1013904223u;
            char c = letters[(random >> 16) % (sizeof(letters) - 2)];
            name[n++] = c;
            if (c == '\xc3')
                name[n++] = '\xa9';
        }
        struct gtel_str in = {name, n};
        struct output out;
        struct lp_line line;
        output_init(&out, 4096, "");
        struct gtel_reading reading = text(GTEL_M_INFO_UUID, in);
        put(&out, reading);
        struct gtel_str got = output_end(&out);
        const char *error = lp_line((struct gtel_str){got.p, got.n - 1}, &line);
        CHECK_STR(gtel_str_of(error), "");
        CHECK(gtel_str_eq(gtel_str_of(lp_string(plain, lp_field(&line, "uuid"))), in));
        gtel_buf_reset(&out.buf);
        out.sink.begin(out.sink.arg, 1);
        reading = u64(GTEL_M_PROCESS_COUNT, "", 1);
        reading.dim[0] = in;
        put(&out, reading);
        got = output_end(&out);
        error = lp_line((struct gtel_str){got.p, got.n - 1}, &line);
        CHECK_STR(gtel_str_of(error), "");
        for (size_t i = 0; i < n; i++)
            name[i] = name[i] == '\\' ? '/' : name[i];
        CHECK(gtel_str_eq(gtel_str_of(lp_plain(plain, lp_tag(&line, "process"))), in));
        gtel_buf_done(&out.buf);
    }
}

static const char *const refused[] = {
    "",
    "#m f=1 1",
    "m f=1",
    "m  f=1 1",
    "m f=1. 1",
    "m f=.5 1",
    "m f=+1 1",
    "m f=NaN 1",
    "m f=1u 1",
    "m f=007i 1",
    "m f=9223372036854775808i 1",
    "m f=t 1",
    "m f=1e400 1",
    "m f=1,5 1",
    "m,t= f=1 1",
    "m,t=a=b f=1 1",
    "m,t=a,t=b f=1 1",
    "m,u=a,t=b f=1 1",
    "m,t=a t=1 1",
    "m,time=a f=1 1",
    "m f=1,f=2 1",
    "m f=1 1\r",
    "m f=1 1.5",
    "m f=1 9223372036854775808",
    "m f=1, 1",
    "m,t=a\\ f=1 1",
    "m,t=a\\\\ f=1 1",
    "m,t=\xff f=1 1",
    "m f=\"a 1",
    "m f=\"a\\b\" 1",
    "m f=\"a\nb\" 1",
};

static void test_checker(void)
{
    struct lp_line line;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(refused); i++) {
        test_label = refused[i];
        CHECK(lp_line(gtel_str_of(refused[i]), &line) != NULL);
    }
    test_label = "accepted";
    CHECK(!lp_line(GTEL_STR("a\\ b,t=\\=\\,,u=\xc3\xa4 f=-1i,g=1.5e-07,h=\"\\\"\\\\\" 0"), &line));
    CHECK_INT(line.nfields, 3);
}

int main(void)
{
    test_lines();
    test_tags();
    test_values();
    test_names();
    test_limits();
    test_catalogue();
    test_round_trip();
    test_checker();
    return test_result();
}
