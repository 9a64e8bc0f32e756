/* SPDX-License-Identifier: MIT */
/* Frames: what goes in comes out, and cut or bent frames are refused. */
#include "lanes/wire.h"
#include "harness/test.h"
#include "host/env.h"
#include "sources/source.h"

#include <errno.h>

static void fill(struct gtel_registry *registry, struct gtel_batch *batch)
{
    struct gtel_device *a = NULL;
    struct gtel_device *b = NULL;
    CHECK_INT(gtel_registry_add(registry, GTEL_STR("0000:03:00.0"), &a), 0);
    CHECK_INT(gtel_registry_add(registry, GTEL_STR("0000:04:00.0"), &b), 0);
    gtel_device_label(registry, a, GTEL_LABEL_MODEL, GTEL_STR("Arc"));
    gtel_registry_lost(registry, b);
    batch->t_ns = 77;
    gtel_batch_u64(batch, a, GTEL_M_FAN_RPM, GTEL_STR_NONE, 1200);
    gtel_batch_f64(batch, a, GTEL_M_TEMPERATURE, GTEL_STR("pkg"), 41.5);
    struct gtel_reading many = {.device = b,
                                .metric = GTEL_M_FREQUENCY_ACTUAL,
                                .value.u64 = 5,
                                .t_ns = 9,
                                .dim = {GTEL_STR("graphics"), GTEL_STR("1")},
                                .has_device_clock = true,
                                .is_apart = true};
    gtel_batch_put(batch, &many);
    gtel_batch_failed(batch, b);
    gtel_batch_failed(batch, b);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_PROCESSES_VISIBLE, GTEL_STR_NONE, 9);
}

static void check_answer(const struct gtel_registry *registry, const struct gtel_batch *batch)
{
    CHECK_INT(registry->n, 3);
    if (!CHECK(batch->n == 4))
        return;
    CHECK(!batch->reading[3].device && batch->reading[3].value.u64 == 9); /* the lane's own */
    CHECK_STR(gtel_str_of(batch->reading[0].device->key), "0000:03:00.0");
    CHECK_INT(batch->reading[0].device->index, 1); /* our own index, not the lane's */
    CHECK_STR(gtel_str_of(batch->reading[0].device->label[GTEL_LABEL_MODEL]), "Arc");
    CHECK_INT(batch->reading[0].value.u64, 1200);
    CHECK_INT(batch->reading[0].t_ns, 77);
    CHECK_STR(batch->reading[1].dim[0], "pkg");
    CHECK_NEAR(batch->reading[1].value.f64, 41.5, 0);
    CHECK_STR(batch->reading[2].dim[1], "1");
    CHECK(!batch->reading[0].has_device_clock && !batch->reading[0].is_apart);
    CHECK(batch->reading[2].has_device_clock && batch->reading[2].is_apart);
    CHECK_INT(batch->failed[2], 2);
}

/* Each length that is too short, and each byte bent: an error or a valid answer, never a crash. */
static void test_damage(struct gtel_str payload)
{
    struct gtel_registry registry = {0};
    struct gtel_batch batch = {0};
    struct gtel_answer answer;
    char copy[4096];
    if (!CHECK(payload.n <= sizeof(copy)))
        return;
    for (size_t n = 0; n < payload.n; n++) {
        static struct gtel_wire_map map;
        map = (struct gtel_wire_map){0};
        gtel_batch_reset(&batch);
        CHECK_INT(gtel_wire_read_answer((struct gtel_str){payload.p, n}, &registry, &map, &batch,
                                        &answer),
                  -EPROTO);
        memcpy(copy, payload.p, payload.n);
        copy[n] = (char)(copy[n] ^ 0xff);
        map = (struct gtel_wire_map){0};
        gtel_batch_reset(&batch);
        int r = gtel_wire_read_answer((struct gtel_str){copy, payload.n}, &registry, &map, &batch,
                                      &answer);
        CHECK(r == 0 || r == -EPROTO);
    }
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
}

/* Where each reading comes from, and all that is known of a GPU. */
static void test_origins(void)
{
    struct gtel_registry lane = {0};
    struct gtel_registry front = {0};
    struct gtel_batch sent = {0};
    struct gtel_batch got = {0};
    static struct gtel_wire_map map;
    const struct gtel_answer answer = {.request = 1};
    struct gtel_answer back = {0};
    struct gtel_device *device = NULL;
    struct gtel_buf buf;
    struct gtel_frame frame;
    size_t used = 0;
    char text[32];
    test_label = "origins";
    gtel_buf_init(&buf, 1 << 20);
    CHECK_INT(gtel_registry_add(&lane, GTEL_STR("0000:03:00.0"), &device), 0);
    for (int l = 0; l < GTEL_LABEL_COUNT; l++) {
        (void)snprintf(text, sizeof(text), "label %d", l);
        gtel_device_label(&lane, device, (enum gtel_label)l, gtel_str_of(text));
    }
    for (size_t s = 0; gtel_sources[s]; s++)
        for (size_t o = 0; gtel_sources[s]->origins[o]; o++) {
            sent.source = (uint8_t)s;
            sent.origin = (uint8_t)o;
            gtel_batch_u64(&sent, device, GTEL_M_FAN_RPM, GTEL_STR_NONE, 1000 * s + o);
        }
    gtel_wire_answer(&buf, &answer, &lane, true, &sent);
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(gtel_wire_read_answer(frame.payload, &front, &map, &got, &back), 0);
    CHECK(got.n == sent.n && got.n > 20 && front.n == 1);
    for (size_t i = 0; i < got.n; i++)
        CHECK_INT(got.reading[i].value.u64, 1000 * got.reading[i].source + got.reading[i].origin);
    for (int l = 0; l < GTEL_LABEL_COUNT && front.n == 1; l++)
        CHECK_STR(gtel_str_of(front.device[0]->label[l]), device->label[l]);
    test_label = "";
    gtel_buf_done(&buf);
    gtel_batch_done(&sent);
    gtel_batch_done(&got);
    gtel_registry_done(&lane);
    gtel_registry_done(&front);
}

static void test_answer(void)
{
    struct gtel_registry lane = {0};
    struct gtel_registry front = {0};
    static struct gtel_batch sent;
    static struct gtel_batch got;
    static struct gtel_wire_map map;
    struct gtel_device *first = NULL;
    struct gtel_buf buf;
    struct gtel_answer answer = {
        .request = 3, .errors = 1, .dropped = 2, .rss_bytes = 4096, .needs_restart = true};
    struct gtel_answer back = {0};
    struct gtel_frame frame;
    size_t used = 0;
    test_label = "answer";
    gtel_buf_init(&buf, 1 << 20);
    fill(&lane, &sent);
    CHECK_INT(gtel_registry_add(&front, GTEL_STR("0000:00:02.0"), &first), 0);
    gtel_wire_answer(&buf, &answer, &lane, true, &sent);
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(frame.type, GTEL_FRAME_ANSWER);
    CHECK_INT(used, buf.n);
    for (size_t n = 0; n < buf.n; n++) {
        struct gtel_frame none;
        CHECK_INT(gtel_frame_next((struct gtel_str){buf.p, n}, &none, &used), -EAGAIN);
    }
    CHECK_INT(gtel_wire_read_answer(frame.payload, &front, &map, &got, &back), 0);
    CHECK_INT(back.request, 3);
    CHECK_INT(back.rss_bytes, 4096);
    CHECK_INT(back.errors, 1);
    CHECK_INT(back.dropped, 2);
    CHECK(back.needs_restart);
    CHECK_INT(map.n, 2);
    CHECK(map.is_present[0] && !map.is_present[1]);
    check_answer(&front, &got);
    test_label = "damage";
    test_damage(frame.payload);
    gtel_buf_done(&buf);
    gtel_batch_done(&sent);
    gtel_batch_done(&got);
    gtel_registry_done(&lane);
    gtel_registry_done(&front);
}

/* The front end's uuid after a device has come twice. */
static void check_return(const char *instance, const char *id, const char *want)
{
    struct gtel_registry lane = {0};
    struct gtel_registry front = {0};
    static struct gtel_batch batch;
    static struct gtel_wire_map map;
    const struct gtel_answer answer = {.request = 1};
    struct gtel_device *device = NULL;
    map = (struct gtel_wire_map){0};
    for (int i = 0; i < 2; i++) {
        struct gtel_answer back;
        struct gtel_frame frame;
        struct gtel_buf buf;
        size_t used;
        gtel_buf_init(&buf, 1 << 20);
        CHECK_INT(gtel_registry_add(&lane, GTEL_STR("0000:03:00.0/mig1.0"), &device), 0);
        gtel_device_label(&lane, device, GTEL_LABEL_INSTANCE, gtel_str_of(instance));
        (void)gtel_device_label_id(&lane, device, gtel_str_of(i == 0 ? "8086:e20b" : id));
        gtel_device_label(&lane, device, GTEL_LABEL_MODEL, gtel_str_of(i == 0 ? "B580" : "A770"));
        gtel_device_label(&lane, device, GTEL_LABEL_CARD, gtel_str_of(i == 0 ? "card1" : ""));
        gtel_device_relabel(&lane, device, GTEL_LABEL_UUID, gtel_str_of(i == 0 ? "a" : "b"));
        gtel_wire_answer(&buf, &answer, &lane, true, &batch);
        CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
        CHECK_INT(gtel_wire_read_answer(frame.payload, &front, &map, &batch, &back), 0);
        gtel_registry_lost(&lane, device);
        gtel_buf_done(&buf);
    }
    if (CHECK(front.n == 1)) {
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_UUID]), want);
        CHECK_INT(front.device[0]->arrivals, 2);
        bool is_same = gtel_str_eq(gtel_str_of(id), GTEL_STR("8086:e20b"));
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_PCI_ID]), id);
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_MODEL]), is_same ? "B580" : "A770");
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_CARD]), is_same ? "card1" : "");
    }
    gtel_batch_done(&batch);
    gtel_registry_done(&lane);
    gtel_registry_done(&front);
}

/*
 * Numbers of instances are used again; of a whole GPU the first to know its uuid is right, unless
 * another GPU has its address now.
 */
static void test_return(void)
{
    check_return("mig1.0", "8086:e20b", "b");
    check_return("", "8086:e20b", "a");
    check_return("", "8086:56a0", "b");
}

static void put_findings(struct gtel_buf *buf, struct gtel_registry *lane)
{
    static const char *const text[3] = {"sys/a", "no right", "sysctl x=1\nor so"};
    static const char *const bare[3] = {"library", NULL, NULL};
    struct gtel_findings findings = {.source = 1, .dropped = 3};
    gtel_finding_put(&findings, lane->device[1], GTEL_MEASUREMENT_GPU_ENGINE, -EACCES, text);
    gtel_finding_put_lack(&findings, NULL, GTEL_MEASUREMENT_GPU, GTEL_M_GPU_HEALTH, 0, bare);
    const struct gtel_answer answer = {.request = 12};
    struct gtel_batch batch = {.findings = &findings};
    gtel_wire_answer(buf, &answer, lane, false, &batch);
    gtel_findings_done(&findings);
}

/* Findings come with our own devices; each length that is too short, and each byte bent, is safe.
 */
static void test_findings(void)
{
    struct gtel_device device = {.key = "0000:04:00.0", .index = 5};
    static struct gtel_wire_map map;
    struct gtel_registry lane = {0};
    struct gtel_batch batch = {0};
    struct gtel_findings got = {0};
    struct gtel_buf buf;
    struct gtel_frame frame;
    size_t used;
    struct gtel_answer answer = {0};
    struct gtel_batch back = {.findings = &got};
    struct gtel_registry front = {0};
    test_label = "findings";
    gtel_buf_init(&buf, 4096);
    fill(&lane, &batch);
    put_findings(&buf, &lane);
    map.n = 2;
    map.device[1] = &device;
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(gtel_wire_read_answer(frame.payload, &front, &map, &back, &answer), 0);
    CHECK_INT(answer.request, 12);
    CHECK_INT(got.dropped, 3);
    if (CHECK(got.n == 2)) {
        CHECK(got.finding[0].device == &device && !got.finding[1].device);
        CHECK_INT(got.finding[0].error, -EACCES);
        CHECK_INT(got.finding[0].source, 1);
        CHECK_STR(got.finding[0].fix, "sysctl x=1\nor so");
        CHECK_STR(got.finding[1].what, "library");
        CHECK_INT(got.finding[0].lacks_plus_1, 0);
        CHECK_INT(got.finding[1].lacks_plus_1, GTEL_M_GPU_HEALTH + 1);
    }
    for (size_t n = 0; n < frame.payload.n; n++) {
        char copy[512];
        CHECK_INT(gtel_wire_read_answer((struct gtel_str){frame.payload.p, n}, &front, &map, &back,
                                        &answer),
                  -EPROTO);
        memcpy(copy, frame.payload.p, frame.payload.n);
        copy[n] = (char)(copy[n] ^ 0xff);
        int r = gtel_wire_read_answer((struct gtel_str){copy, frame.payload.n}, &front, &map, &back,
                                      &answer);
        CHECK(r == 0 || r == -EPROTO);
    }
    map.device[1] = NULL;
    gtel_findings_done(&got);
    gtel_batch_done(&back);
    gtel_registry_done(&front);
    gtel_buf_done(&buf);
    gtel_batch_done(&batch);
    gtel_registry_done(&lane);
}

static void test_others(void)
{
    struct gtel_buf buf;
    struct gtel_frame frame;
    size_t used;
    uint64_t number = 0;
    uint8_t level = 9;
    struct gtel_str text = GTEL_STR_NONE;
    test_label = "small frames";
    gtel_buf_init(&buf, 4096);
    for (int i = 0; i < 2; i++) {
        bool with_findings = i == 0;
        gtel_wire_request(&buf, 42, i == 1);
        CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
        CHECK_INT(gtel_wire_read_request(frame.payload, &number, &with_findings), 0);
        CHECK_INT(number, 42);
        CHECK_INT(with_findings, i == 1);
        gtel_buf_reset(&buf);
    }
    gtel_wire_log(&buf, 1, GTEL_STR("hello"));
    CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
    CHECK_INT(gtel_wire_read_log(frame.payload, &level, &text), 0);
    CHECK_INT(level, 1);
    CHECK_STR(text, "hello");
    CHECK_INT(gtel_frame_next(GTEL_STR("no frame at all, of course"), &frame, &used), -EPROTO);
    gtel_buf_done(&buf);
}

/* ---- what only a liar writes ---- */

/* What stands in an answer with one device, one failure, one reading and one finding. */
struct bent {
    const char *label;
    int rc;
    size_t devices;    /* 0: the answer has none; else how many are announced */
    size_t key;        /* bytes */
    uint32_t arrivals; /* of the device */
    uint16_t failed;   /* whose reading failed */
    struct {
        uint16_t device;
        uint16_t metric;
        uint8_t source;
        uint8_t origin;
        uint8_t type;
        uint8_t dims;
    } reading;
    struct {
        uint16_t device;
        uint8_t measurement;
        uint8_t source;
        uint16_t lacks;
        uint32_t error;
    } finding;
    size_t text; /* bytes of the finding's first text */
    size_t more; /* bytes behind the end */
};

enum { NONE = 0xffff, OWN = GTEL_M_SELF_PROCESSES_VISIBLE, FAN = GTEL_M_FAN_RPM };
#define READING                                                                                    \
    {                                                                                              \
        0, FAN, 0, 0, GTEL_VALUE_U64, 0                                                            \
    }
#define FINDING                                                                                    \
    {                                                                                              \
        0, GTEL_MEASUREMENT_GPU, 0, 0, 0                                                           \
    }

static const struct bent bents[] = {
    {"sound", 0, 1, 9, 1, 0, READING, FINDING, 3, 0},
    {"no devices", 0, 0, 9, 1, 0, READING, FINDING, 3, 0},
    {"a byte more", -EPROTO, 1, 9, 1, 0, READING, FINDING, 3, 1},
    {"two bytes more", -EPROTO, 1, 9, 1, 0, READING, FINDING, 3, 2},
    {"a device less than announced", -EPROTO, 2, 9, 1, 0, READING, FINDING, 3, 0},
    {"too many devices", -EPROTO, GTEL_DEVICES_MAX + 1, 9, 1, 0, READING, FINDING, 3, 0},
    {"no key", -EPROTO, 1, 0, 1, 0, READING, FINDING, 3, 0},
    {"a key of one byte", 0, 1, 1, 1, 0, READING, FINDING, 3, 0},
    {"the longest key", 0, 1, GTEL_KEY_MAX - 1, 1, 0, READING, FINDING, 3, 0},
    {"a longer key", -EPROTO, 1, GTEL_KEY_MAX, 1, 0, READING, FINDING, 3, 0},
    {"never arrived", -EPROTO, 1, 9, 0, 0, READING, FINDING, 3, 0},
    {"a failure of no device", -EPROTO, 1, 9, 1, 1, READING, FINDING, 3, 0},
    {"a reading of no device",
     -EPROTO,
     1,
     9,
     1,
     0,
     {1, FAN, 0, 0, GTEL_VALUE_U64, 0},
     FINDING,
     3,
     0},
    {"the program's own", 0, 1, 9, 1, 0, {NONE, OWN, 0, 0, GTEL_VALUE_U64, 0}, FINDING, 3, 0},
    {"the program's own, of a device",
     -EPROTO,
     1,
     9,
     1,
     0,
     {0, OWN, 0, 0, GTEL_VALUE_U64, 0},
     FINDING,
     3,
     0},
    {"a device's, of none",
     -EPROTO,
     1,
     9,
     1,
     0,
     {NONE, FAN, 0, 0, GTEL_VALUE_U64, 0},
     FINDING,
     3,
     0},
    {"the last metric",
     0,
     1,
     9,
     1,
     0,
     {NONE, GTEL_M_COUNT - 1, 0, 0, GTEL_VALUE_U64, 0},
     FINDING,
     3,
     0},
    {"no metric", -EPROTO, 1, 9, 1, 0, {0, GTEL_M_COUNT, 0, 0, GTEL_VALUE_U64, 0}, FINDING, 3, 0},
    {"no source", -EPROTO, 1, 9, 1, 0, {0, FAN, 200, 0, GTEL_VALUE_U64, 0}, FINDING, 3, 0},
    {"no origin", -EPROTO, 1, 9, 1, 0, {0, FAN, 0, 200, GTEL_VALUE_U64, 0}, FINDING, 3, 0},
    {"no type", -EPROTO, 1, 9, 1, 0, {0, FAN, 0, 0, GTEL_VALUE_TEXT + 1, 0}, FINDING, 3, 0},
    {"a text for a number", -EPROTO, 1, 9, 1, 0, {0, FAN, 0, 0, GTEL_VALUE_TEXT, 0}, FINDING, 3, 0},
    {"a number for a text",
     -EPROTO,
     1,
     9,
     1,
     0,
     {0, GTEL_M_INFO_UUID, 0, 0, GTEL_VALUE_U64, 0},
     FINDING,
     3,
     0},
    {"a text", 0, 1, 9, 1, 0, {0, GTEL_M_INFO_UUID, 0, 0, GTEL_VALUE_TEXT, 0}, FINDING, 3, 0},
    {"all dimensions", 0, 1, 9, 1, 0, {0, FAN, 0, 0, GTEL_VALUE_U64, GTEL_DIMS_MAX}, FINDING, 3, 0},
    {"a dimension more",
     -EPROTO,
     1,
     9,
     1,
     0,
     {0, FAN, 0, 0, GTEL_VALUE_U64, GTEL_DIMS_MAX + 1},
     FINDING,
     3,
     0},
    {"a finding of no device",
     -EPROTO,
     1,
     9,
     1,
     0,
     READING,
     {1, GTEL_MEASUREMENT_GPU, 0, 0, 0},
     3,
     0},
    {"a finding of the machine",
     0,
     1,
     9,
     1,
     0,
     READING,
     {NONE, GTEL_MEASUREMENT_GPU, 0, 0, 0},
     3,
     0},
    {"the last group", 0, 1, 9, 1, 0, READING, {0, GTEL_MEASUREMENT_COUNT - 1, 0, 0, 0}, 3, 0},
    {"no group", -EPROTO, 1, 9, 1, 0, READING, {0, GTEL_MEASUREMENT_COUNT, 0, 0, 0}, 3, 0},
    {"a finding of no source",
     -EPROTO,
     1,
     9,
     1,
     0,
     READING,
     {0, GTEL_MEASUREMENT_GPU, 200, 0, 0},
     3,
     0},
    {"the last metric lacks",
     0,
     1,
     9,
     1,
     0,
     READING,
     {0, GTEL_MEASUREMENT_GPU, 0, GTEL_M_COUNT, 0},
     3,
     0},
    {"no metric lacks",
     -EPROTO,
     1,
     9,
     1,
     0,
     READING,
     {0, GTEL_MEASUREMENT_GPU, 0, GTEL_M_COUNT + 1, 0},
     3,
     0},
    {"the last error", 0, 1, 9, 1, 0, READING, {0, GTEL_MEASUREMENT_GPU, 0, 0, 4095}, 3, 0},
    {"no error", -EPROTO, 1, 9, 1, 0, READING, {0, GTEL_MEASUREMENT_GPU, 0, 0, 4096}, 3, 0},
    {"the longest text", 0, 1, 9, 1, 0, READING, FINDING, 4096, 0},
    {"a longer text", -EPROTO, 1, 9, 1, 0, READING, FINDING, 4097, 0},
};

static void add(struct gtel_buf *buf, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        gtel_buf_char(buf, (char)(value & 0xff));
        value >>= 8;
    }
}

static void add_text(struct gtel_buf *buf, size_t n)
{
    add(buf, n, 2);
    for (size_t i = 0; i < n; i++)
        gtel_buf_char(buf, 'k');
}

static void write_bent(struct gtel_buf *buf, const struct bent *bent)
{
    add(buf, 7, 8); /* the request */
    add(buf, 0, 8);
    add(buf, 0, 8);
    add(buf, 0, 8);
    add(buf, 0, 1);
    add(buf, bent->devices > 0, 1);
    if (bent->devices > 0) {
        add(buf, bent->devices, 4);
        add_text(buf, bent->key);
        add(buf, 1, 1); /* is present */
        add(buf, bent->arrivals, 4);
        for (size_t i = 0; i < GTEL_LABEL_COUNT; i++)
            add_text(buf, 0);
    }
    add(buf, 1, 4);
    add(buf, bent->failed, 2);
    add(buf, 2, 4); /* times */
    add(buf, 1, 4);
    add(buf, 55, 8);   /* time */
    add(buf, 1200, 8); /* value */
    add(buf, bent->reading.metric, 2);
    add(buf, bent->reading.device, 2);
    add(buf, bent->reading.source, 1);
    add(buf, bent->reading.origin, 1);
    add(buf, bent->reading.type, 1); /* and no flags */
    add(buf, bent->reading.dims, 1);
    if (bent->reading.type == GTEL_VALUE_TEXT)
        add_text(buf, 5);
    for (size_t i = 0; i < bent->reading.dims; i++)
        add_text(buf, 1);
    add(buf, 0, 4); /* findings dropped */
    add(buf, 1, 4);
    add(buf, bent->finding.device, 2);
    add(buf, bent->finding.measurement, 1);
    add(buf, bent->finding.source, 1);
    add(buf, bent->finding.lacks, 2);
    add(buf, bent->finding.error, 4);
    add_text(buf, bent->text);
    add_text(buf, 0);
    add_text(buf, 0);
    add(buf, 0, bent->more);
}

/* What a refused answer had is in none of the results that are asked for afterwards. */
static void test_bent(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bents); i++) {
        const struct bent *bent = &bents[i];
        static struct gtel_wire_map map;
        struct gtel_registry registry = {0};
        struct gtel_findings findings = {0};
        struct gtel_batch batch = {.findings = &findings};
        struct gtel_answer answer = {.request = 3};
        struct gtel_device *device = NULL;
        struct gtel_buf buf;
        test_label = bent->label;
        gtel_buf_init(&buf, 1 << 16);
        write_bent(&buf, bent);
        map = (struct gtel_wire_map){0};
        CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:01:00.0"), &device), 0);
        if (bent->devices == 0) {
            map.n = 1;
            map.device[0] = device;
        }
        CHECK_INT(gtel_wire_read_answer(gtel_buf_text(&buf), &registry, &map, &batch, &answer),
                  bent->rc);
        CHECK_INT(answer.request, bent->rc == 0 ? 7 : 3);
        if (bent->rc == 0 && CHECK(batch.n == 1 && findings.n == 1)) {
            CHECK_INT(batch.failed[bent->devices > 0], 2);
            CHECK_INT(batch.reading[0].t_ns, 55);
            CHECK_INT(batch.reading[0].metric, bent->reading.metric);
            CHECK_INT(batch.reading[0].source, bent->reading.source);
            CHECK(!batch.reading[0].has_device_clock);
            CHECK_INT(findings.finding[0].error, -(int)bent->finding.error);
            CHECK_INT(findings.finding[0].what.n, bent->text);
        }
        gtel_findings_done(&findings);
        gtel_batch_done(&batch);
        gtel_registry_done(&registry);
        gtel_buf_done(&buf);
    }
    test_label = "";
}

/* A lane's device for which no room was left here: what is said of it is counted and dropped. */
static void test_no_room(void)
{
    static struct gtel_wire_map map;
    struct gtel_registry registry = {0};
    struct gtel_findings findings = {0};
    struct gtel_batch batch = {.findings = &findings};
    struct gtel_answer answer;
    struct gtel_buf buf;
    struct bent sound = bents[0];
    test_label = "no room";
    sound.devices = 0;
    map.n = 1;
    gtel_buf_init(&buf, 1 << 16);
    write_bent(&buf, &sound);
    CHECK_INT(gtel_wire_read_answer(gtel_buf_text(&buf), &registry, &map, &batch, &answer), 0);
    CHECK_INT(batch.n, 0);
    CHECK_INT(batch.dropped, 1);
    CHECK_INT(findings.n, 0);
    CHECK_INT(findings.dropped, 1);
    batch.findings = NULL; /* nobody asked for them */
    CHECK_INT(gtel_wire_read_answer(gtel_buf_text(&buf), &registry, &map, &batch, &answer), 0);
    gtel_findings_done(&findings);
    gtel_batch_done(&batch);
    gtel_buf_done(&buf);
    test_label = "";
}

/* A device that comes again, and what may change of it. */
static void test_again(void)
{
    static const struct {
        uint32_t arrivals; /* as the lane says */
        const char *model;
        const char *driver;
        const char *card;
        uint32_t want; /* arrivals here */
        bool is_new;   /* helper */
        const char *id;
        const char *instance;
        const char *uuid;
    } steps[] = {{3, "Arc", "i915", "card0", 1, false, "", "", "a"},
                 {3, "B580", "xe", "card1", 1, false, "8086:56a0", "", "a"},
                 {4, "", "xe", "", 2, false, "", "", "a"},
                 {1, "", "", "card2", 3, false, "", "", "a"},
                 {1, "", "xe", "", 3, true, "8086:56a0", "", "b"},   /* the same */
                 {2, "", "i915", "", 4, false, "", "", "b"},         /* comes again */
                 {2, "", "", "", 4, true, "", "", "b"},              /* says little */
                 {1, "", "xe", "", 5, true, "", "", "b"},            /* the other driver */
                 {1, "", "i915", "", 6, true, "8086:56a0", "", "b"}, /* and back */
                 {1, "Arc", "i915", "", 7, true, "8086:56a1", "", "b"},
                 {1, "", "i915", "", 7, true, "8086:56a1", "1", "b"},
                 {1, "", "i915", "", 8, true, "8086:56a1", "1", "c"}};
    static const char *const drivers[] = {"i915", "i915", "xe",   "xe",   "xe",   "i915",
                                          "i915", "xe",   "i915", "i915", "i915", "i915"};
    static const char *const cards[] = {"card0", "card1", "card1", "card2", "card2", "card2",
                                        "card2", "card2", "card2", "",      "",      ""};
    static const char *const uuids[] = {"a", "a", "a", "a", "a", "a", "a", "a", "a", "b", "b", "c"};
    static struct gtel_wire_map map;
    struct gtel_registry front = {0};
    struct gtel_batch batch = {0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        struct gtel_registry lane = {0};
        struct gtel_device *device = NULL;
        struct gtel_answer answer = {.request = 1};
        struct gtel_buf buf;
        struct gtel_frame frame;
        size_t used;
        test_label = "again";
        gtel_buf_init(&buf, 1 << 16);
        CHECK_INT(gtel_registry_add(&lane, GTEL_STR("0000:03:00.0"), &device), 0);
        gtel_device_label(&lane, device, GTEL_LABEL_MODEL, gtel_str_of(steps[i].model));
        gtel_device_label(&lane, device, GTEL_LABEL_DRIVER, gtel_str_of(steps[i].driver));
        gtel_device_label(&lane, device, GTEL_LABEL_CARD, gtel_str_of(steps[i].card));
        gtel_device_label(&lane, device, GTEL_LABEL_PCI_ID, gtel_str_of(steps[i].id));
        gtel_device_label(&lane, device, GTEL_LABEL_INSTANCE, gtel_str_of(steps[i].instance));
        gtel_device_label(&lane, device, GTEL_LABEL_UUID, gtel_str_of(steps[i].uuid));
        if (steps[i].is_new)
            gtel_wire_map_renew(&map);
        device->arrivals = steps[i].arrivals;
        gtel_wire_answer(&buf, &answer, &lane, true, &batch);
        CHECK_INT(gtel_frame_next(gtel_buf_text(&buf), &frame, &used), 0);
        CHECK_INT(gtel_wire_read_answer(frame.payload, &front, &map, &batch, &answer), 0);
        CHECK_INT(front.n, 1);
        CHECK_INT(front.device[0]->arrivals, steps[i].want);
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_MODEL]), "Arc");
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_DRIVER]), drivers[i]);
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_CARD]), cards[i]);
        CHECK_STR(gtel_str_of(front.device[0]->label[GTEL_LABEL_UUID]), uuids[i]);
        gtel_buf_done(&buf);
        gtel_registry_done(&lane);
    }
    test_label = "";
    gtel_batch_done(&batch);
    gtel_registry_done(&front);
}

/* The head of a frame: magic, type and length, each at its limits. */
static void test_heads(void)
{
    static const struct {
        const char *label;
        uint64_t magic, type, n;
        size_t bytes; /* of the frame, that have come */
        int rc;
    } heads[] = {
        {"empty", 0x4c455447, GTEL_FRAME_HELLO, 0, 12, 0},
        {"a byte is missing", 0x4c455447, GTEL_FRAME_HELLO, 0, 11, -EAGAIN},
        {"the last type", 0x4c455447, GTEL_FRAME_REQUEST, 3, 15, 0},
        {"its last byte is missing", 0x4c455447, GTEL_FRAME_REQUEST, 3, 14, -EAGAIN},
        {"the next one has begun", 0x4c455447, GTEL_FRAME_LOG, 3, 16, 0},
        {"no type", 0x4c455447, 0, 0, 12, -EPROTO},
        {"behind the last type", 0x4c455447, GTEL_FRAME_REQUEST + 1, 0, 12, -EPROTO},
        {"another magic", 0x4c455446, GTEL_FRAME_HELLO, 0, 12, -EPROTO},
        {"the longest", 0x4c455447, GTEL_FRAME_ANSWER, GTEL_FRAME_MAX, 12, -EAGAIN},
        {"longer", 0x4c455447, GTEL_FRAME_ANSWER, GTEL_FRAME_MAX + 1, 12, -EPROTO},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(heads); i++) {
        struct gtel_buf buf;
        struct gtel_frame frame = {.payload = GTEL_STR_NONE};
        size_t used = 0;
        test_label = heads[i].label;
        gtel_buf_init(&buf, 100);
        add(&buf, heads[i].magic, 4);
        add(&buf, heads[i].type, 4);
        add(&buf, heads[i].n, 4);
        add(&buf, 0, 10);
        CHECK_INT(gtel_frame_next((struct gtel_str){buf.p, heads[i].bytes}, &frame, &used),
                  heads[i].rc);
        CHECK_INT(used, heads[i].rc == 0 ? 12 + heads[i].n : 0);
        CHECK_INT(frame.payload.n, heads[i].rc == 0 ? heads[i].n : 0);
        gtel_buf_done(&buf);
    }
    test_label = "";
}

/* Requests and messages that are too short, too long, or say nothing. */
static void test_small_damage(void)
{
    static const char request[] = {42, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    static const char strange[] = {42, 0, 0, 0, 0, 0, 0, 0, 2};
    static const char log[] = {GTEL_LOG_DEBUG, 'h', 'i'};
    static const char level[] = {GTEL_LOG_DEBUG + 1, 'h', 'i'};
    uint64_t number = 1;
    bool with_findings = false;
    uint8_t got = 99;
    struct gtel_str text = GTEL_STR_NONE;
    for (size_t n = 0; n <= sizeof(request); n++) {
        number = 1;
        CHECK_INT(gtel_wire_read_request((struct gtel_str){request, n}, &number, &with_findings),
                  n == 9 ? 0 : -EPROTO);
        CHECK_INT(number, n == 9 ? 42 : 1);
    }
    CHECK(with_findings);
    CHECK_INT(gtel_wire_read_request((struct gtel_str){strange, 9}, &number, &with_findings),
              -EPROTO);
    CHECK_INT(gtel_wire_read_log((struct gtel_str){log, 0}, &got, &text), -EPROTO);
    CHECK_INT(gtel_wire_read_log((struct gtel_str){level, 3}, &got, &text), -EPROTO);
    CHECK_INT(got, 99);
    CHECK_INT(gtel_wire_read_log((struct gtel_str){log, 3}, &got, &text), 0);
    CHECK_INT(got, GTEL_LOG_DEBUG);
    CHECK_STR(text, "hi");
}

int main(void)
{
    test_answer();
    test_origins();
    test_return();
    test_findings();
    test_others();
    test_bent();
    test_no_room();
    test_again();
    test_heads();
    test_small_damage();
    return test_result();
}
