/* SPDX-License-Identifier: MIT */
/*
 * Garbage through the socket, both ways: 2,000 times for a front end, 2,000 times for a helper.
 * Neither crashes, waits or believes it, and sound frames work afterwards.
 *
 *     test_lane_frames MACHINE.tree
 */
#include "lanes/lane.h"
#include "harness/tree_files.h"
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 2000, BYTES_MAX = 4096, ALARM_S = 100 };

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
    int peer;
};

/* A helper that has greeted and was asked something. */
static bool connect_lane(struct front *front, uint64_t *seed)
{
    int fd[2];
    if (front->peer >= 0)
        (void)close(front->peer);
    gtel_lane_close(&front->lane);
    if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0) ||
        !CHECK(fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0))
        return false;
    front->lane.channel.fd = fd[0];
    front->peer = fd[1];
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
        CHECK_INT(send(front.peer, buf.p, buf.n, MSG_NOSIGNAL), buf.n);
        take_all(&front);
        if (front.lane.channel.fd >= 0 && next(&seed) % 4 == 0) {
            (void)shutdown(front.peer, SHUT_RDWR);
            take_all(&front);
            CHECK_INT(front.lane.state, GTEL_LANE_OFF);
        }
        dropped += front.lane.channel.fd < 0;
    }
    CHECK(dropped > ROUNDS / 4);
    CHECK(front.lane.rx_size <= 4 * BYTES_MAX * 4); /* no room for what was only announced */

    test_label = "front end, sound again";
    if (connect_lane(&front, &seed)) {
        struct gtel_str payload;
        front.lane.state = GTEL_LANE_GREETING;
        gtel_buf_reset(&buf);
        gtel_wire_hello(&buf, gtel_str_of(gtel_version));
        CHECK_INT(send(front.peer, buf.p, buf.n, MSG_NOSIGNAL), buf.n);
        CHECK_INT(gtel_lane_receive(&front.lane, &payload), 0);
        CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
        gtel_lane_request(&front.lane, 1, 1, false);
        gtel_buf_reset(&buf);
        put_answer(&buf);
        CHECK_INT(send(front.peer, buf.p, buf.n, MSG_NOSIGNAL), buf.n);
        if (CHECK(gtel_lane_receive(&front.lane, &payload) == 1))
            CHECK_INT(understand(&front, payload), 0);
        CHECK_INT(front.batch.n, 2);
        CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
        (void)close(front.peer);
    }
    gtel_buf_done(&buf);
    gtel_lanes_done(&front.lane, 1, 0);
    gtel_batch_done(&front.batch);
    gtel_registry_done(&front.registry);
    gtel_env_tree_done(&machine.env);
    gtel_tree_free(machine.tree);
}

/* ---- a helper ---- */

/* How many whole frames of that type have come from a helper that has ended. */
static unsigned count_frames(int fd, enum gtel_frame_type type)
{
    static char bytes[1 << 20];
    size_t n = 0;
    ssize_t got;
    while (n < sizeof(bytes) && (got = recv(fd, bytes + n, sizeof(bytes) - n, 0)) > 0)
        n += (size_t)got;
    struct gtel_str rest = {bytes, n};
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

/* One life of a helper with what waits for it in the socket. */
static void serve(struct machine *machine, struct gtel_str bytes, unsigned *ret_answers)
{
    int fd[2];
    if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0))
        return;
    CHECK_INT(send(fd[0], bytes.p, bytes.n, MSG_NOSIGNAL), bytes.n);
    (void)shutdown(fd[0], SHUT_WR);
    CHECK_INT(gtel_lane_serve("clients", fd[1], &machine->env, &machine->options), 0);
    (void)close(fd[1]);
    *ret_answers = count_frames(fd[0], GTEL_FRAME_ANSWER);
    (void)close(fd[0]);
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
    (void)alarm(ALARM_S); /* what waits for ever fails */
    test_front(argv[1]);
    test_helper(argv[1]);
    return test_result();
}
