/* SPDX-License-Identifier: MIT */
/* Frames: what goes in comes out, and cut or bent frames are refused. */
#include "lanes/wire.h"
#include "harness/test.h"

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
                                .has_device_clock = true};
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
    CHECK(batch->reading[2].has_device_clock);
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
    CHECK(back.needs_restart);
    check_answer(&front, &got);
    test_label = "damage";
    test_damage(frame.payload);
    gtel_buf_done(&buf);
    gtel_batch_done(&sent);
    gtel_batch_done(&got);
    gtel_registry_done(&lane);
    gtel_registry_done(&front);
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

int main(void)
{
    test_answer();
    test_findings();
    test_others();
    return test_result();
}
