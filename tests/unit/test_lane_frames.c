/* SPDX-License-Identifier: MIT */
/*
 * Garbage on the way between them: 2,000 times for a front end, 2,000 times for a helper.
 * Neither crashes, waits or believes it, and sound frames work afterwards.
 *
 *     test_lane_frames MACHINE.tree
 */
#include "lanes/lane.h"
#include "harness/lane_way.h"
#include "harness/whole_file.h"
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <stdlib.h>

enum { ROUNDS = 2000, BYTES_MAX = 4096 };

struct machine {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    unsigned logs;
};

/* Not random but different each time: xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct machine *machine = arg;
    (void)text;
    machine->logs += level <= GTEL_LOG_DEBUG;
}

static bool open_machine(struct machine *machine, const char *path)
{
    size_t n = 0;
    char error[200];
    char *text = read_whole_file(path, &n);
    *machine = (struct machine){0};
    bool is_ok = text && gtel_tree_parse((struct gtel_str){text, n}, &machine->tree, error,
                                         sizeof(error)) == 0;
    free(text);
    if (!CHECK(is_ok))
        return false;
    gtel_options_init(&machine->options);
    return CHECK(gtel_env_tree_init(machine->tree, false, gtel_env_real_now(), &machine->env) == 0);
}

/* A sound answer about one GPU, the frame with its head. */
static void put_answer(struct gtel_buf *buf)
{
    struct gtel_registry registry = {0};
    struct gtel_batch batch = {.source = 0};
    struct gtel_answer answer = {.request = 1};
    struct gtel_device *device = NULL;
    CHECK_INT(gtel_registry_add(&registry, GTEL_STR("0000:03:00.0"), &device), 0);
    gtel_batch_u64(&batch, device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
    gtel_batch_f64(&batch, device, GTEL_M_TEMPERATURE, GTEL_STR("pkg"), 41.5);
    gtel_wire_answer(buf, &answer, &registry, true, &batch);
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
}

static void bend(struct gtel_buf *buf, uint64_t *seed, size_t from)
{
    for (uint64_t n = next(seed) % 8; n > 0 && buf->n > from; n--)
        buf->p[from + next(seed) % (buf->n - from)] ^= (char)(1u << next(seed) % 8);
}

/* What a helper, or a front end, would never send; sometimes it is sound all the same. */
static void put_garbage(struct gtel_buf *buf, uint64_t *seed)
{
    const uint64_t kind = next(seed) % 7;
    gtel_buf_reset(buf);
    if (kind == 0) { /* no frame at all */
        for (uint64_t n = next(seed) % BYTES_MAX; n > 0; n--)
            gtel_buf_char(buf, (char)next(seed));
        return;
    }
    if (kind < 4)
        put_answer(buf);
    else if (kind == 4)
        gtel_wire_request(buf, next(seed), false);
    else if (kind == 5)
        gtel_wire_log(buf, (uint8_t)(next(seed) % 6), GTEL_STR("a message\x1b[31m"));
    else
        gtel_wire_hello(buf, GTEL_STR("9.9.9"));
    if (buf->has_failed || buf->n < GTEL_FRAME_HEADER)
        return;
    switch (next(seed) % 4) {
    case 0: /* another type, another length, another beginning */
        bend(buf, seed, 0);
        break;
    case 1: /* the head is sound, the rest is not */
        bend(buf, seed, GTEL_FRAME_HEADER);
        break;
    case 2: /* it ends too early */
        gtel_buf_back(buf, (size_t)(next(seed) % buf->n));
        break;
    default: /* much longer than it is, up to the limit and beyond */
        buf->p[8 + next(seed) % 4] = (char)next(seed);
        break;
    }
}

/* ---- a front end ---- */

struct front {
    struct gtel_lane lane;
    struct gtel_registry registry;
    struct gtel_batch batch;
    intptr_t peer; /* -1: none */
};

static void hang_up(struct front *front)
{
    if (front->peer != -1)
        lane_way_close(front->peer);
    front->peer = -1;
}

/* What was sent may take a moment. */
static void await_bytes(struct front *front)
{
    struct gtel_channel *channel = &front->lane.channel;
    if (channel->fd >= 0)
        gtel_channels_wait(&channel, 1, 1000000000u);
}

/* A helper that has greeted and was asked something. */
static bool connect_lane(struct front *front, uint64_t *seed)
{
    hang_up(front);
    gtel_lane_close(&front->lane);
    if (!CHECK(lane_way_open(&front->lane.channel, &front->peer)))
        return false;
    front->lane.state = next(seed) % 4 == 0 ? GTEL_LANE_GREETING : GTEL_LANE_BUSY;
    return true;
}

static int understand(struct front *front, struct gtel_str payload)
{
    int r;
    gtel_batch_reset(&front->batch);
    r = gtel_wire_read_answer(payload, &front->registry, &front->lane.map, &front->batch,
                              &front->lane.answer);
    for (size_t i = 0; r == 0 && i < front->batch.n; i++)
        CHECK(front->batch.reading[i].metric < GTEL_M_COUNT &&
              front->batch.reading[i].source < GTEL_SOURCES_MAX);
    gtel_lane_understood(&front->lane, r);
    return r;
}

static void take_all(struct front *front)
{
    struct gtel_str payload;
    await_bytes(front);
    while (gtel_lane_receive(&front->lane, &payload) == 1)
        (void)understand(front, payload);
    CHECK(front->registry.n <= GTEL_DEVICES_MAX);
    CHECK((front->lane.state == GTEL_LANE_OFF) == (front->lane.channel.fd < 0));
}

static void test_front(const char *path)
{
    static struct front front;
    struct machine machine;
    struct gtel_buf buf;
    uint64_t seed = 20261122;
    unsigned dropped = 0;
    test_label = "front end";
    if (!open_machine(&machine, path))
        return;
    machine.env.log = (struct gtel_log){on_log, &machine};
    struct gtel_lane_setup setup = {.name = "kernel",
                                    .env = &machine.env,
                                    .options = &machine.options,
                                    .helper = "/nonexistent/gtel"};
    CHECK_INT(gtel_lane_init(&front.lane, &setup), 0);
    front.peer = -1;
    gtel_buf_init(&buf, 1 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        if (front.lane.channel.fd < 0 && !connect_lane(&front, &seed))
            break;
        put_garbage(&buf, &seed);
        CHECK(lane_way_send(front.peer, gtel_buf_text(&buf)));
        if (buf.n > 0)
            take_all(&front);
        if (front.lane.channel.fd >= 0 && next(&seed) % 4 == 0) {
            hang_up(&front);
            for (int k = 0; k < 10 && front.lane.state != GTEL_LANE_OFF; k++)
                take_all(&front);
            CHECK_INT(front.lane.state, GTEL_LANE_OFF);
        }
        dropped += front.lane.channel.fd < 0;
    }
    CHECK(dropped > ROUNDS / 4);
    CHECK(front.lane.rx.size <= 4 * BYTES_MAX * 4); /* no room for what was only announced */

    test_label = "front end, sound again";
    if (connect_lane(&front, &seed)) {
        struct gtel_str payload;
        front.lane.state = GTEL_LANE_GREETING;
        gtel_buf_reset(&buf);
        gtel_wire_hello(&buf, gtel_str_of(gtel_version));
        CHECK(lane_way_send(front.peer, gtel_buf_text(&buf)));
        await_bytes(&front);
        CHECK_INT(gtel_lane_receive(&front.lane, &payload), 0);
        CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
        gtel_lane_request(&front.lane, 1, 1, 1, false);
        gtel_buf_reset(&buf);
        put_answer(&buf);
        CHECK(lane_way_send(front.peer, gtel_buf_text(&buf)));
        await_bytes(&front);
        if (CHECK(gtel_lane_receive(&front.lane, &payload) == 1))
            CHECK_INT(understand(&front, payload), 0);
        CHECK_INT(front.batch.n, 2);
        CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
        hang_up(&front);
    }
    gtel_buf_done(&buf);
    gtel_lanes_done(&front.lane, 1, 0);
    gtel_batch_done(&front.batch);
    gtel_registry_done(&front.registry);
    gtel_env_tree_done(&machine.env);
    gtel_tree_free(machine.tree);
}

/* ---- a helper ---- */

/* How many whole frames of that type a helper has sent. */
static unsigned count_frames(struct gtel_str rest, enum gtel_frame_type type)
{
    struct gtel_frame frame;
    size_t used;
    unsigned found = 0;
    while (gtel_frame_next(rest, &frame, &used) == 0) {
        found += frame.type == type;
        rest = gtel_str_skip(rest, used);
    }
    CHECK_INT(rest.n, 0); /* a helper itself sends whole frames only */
    return found;
}

/* One life of a helper with what waits for it. */
static void serve(struct machine *machine, struct gtel_str bytes, unsigned *ret_answers)
{
    static char said[1 << 20];
    size_t n = 0;
    CHECK_INT(lane_way_serve(&machine->env, &machine->options, bytes, said, sizeof(said), &n), 0);
    *ret_answers = count_frames((struct gtel_str){said, n}, GTEL_FRAME_ANSWER);
}

static void test_helper(const char *path)
{
    struct machine machine;
    struct gtel_buf buf;
    uint64_t seed = 12345;
    unsigned answers = 0;
    test_label = "helper";
    if (!open_machine(&machine, path))
        return;
    gtel_buf_init(&buf, 1 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        put_garbage(&buf, &seed);
        serve(&machine, gtel_buf_text(&buf), &answers);
        CHECK(answers <= 1);
    }
    test_label = "helper, sound again";
    gtel_buf_reset(&buf);
    gtel_wire_request(&buf, 1, false);
    gtel_wire_request(&buf, 2, false);
    serve(&machine, gtel_buf_text(&buf), &answers);
    CHECK_INT(answers, 2);
    test_label = "helper, a request that is called a message";
    gtel_buf_reset(&buf);
    gtel_wire_request(&buf, 1, false);
    buf.p[4] = GTEL_FRAME_LOG; /* behind the magic */
    serve(&machine, gtel_buf_text(&buf), &answers);
    CHECK_INT(answers, 0);
    gtel_buf_done(&buf);
    gtel_env_tree_done(&machine.env);
    gtel_tree_free(machine.tree);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: test_lane_frames MACHINE.tree\n");
        return 2;
    }
    test_front(argv[1]);
    test_helper(argv[1]);
    return test_result();
}
