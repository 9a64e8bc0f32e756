/* SPDX-License-Identifier: MIT */
/* When a lane starts its helper, what it believes of it, and when it gives it up. */
#include "harness/lane_front.h"
#include "harness/lane_way.h"
#include "harness/test.h"
#include "recording/tree.h"

#include <errno.h>

static const uint64_t second_ns = 1000000000u;
static const uint64_t mib = 1u << 20;

/* Sends what is in buf as the helper; what the front end makes of it. */
static int say(struct lane_front *front)
{
    struct gtel_str payload;
    struct gtel_channel *channel = &front->lane.channel;
    CHECK(lane_way_send(front->peer, gtel_buf_text(&front->buf)));
    gtel_channels_wait(&channel, 1, second_ns);
    gtel_buf_reset(&front->buf);
    int got = gtel_lane_receive(&front->lane, &payload);
    if (got != 1)
        return got;
    int r = gtel_wire_read_answer(payload, &front->registry, &front->lane.map, &front->batch,
                                  &front->lane.answer);
    gtel_batch_reset(&front->batch);
    gtel_lane_understood(&front->lane, r);
    return 1;
}

static void say_hello(struct lane_front *front, const char *version)
{
    gtel_wire_hello(&front->buf, gtel_str_of(version));
    CHECK_INT(say(front), 0);
}

/* A helper that has just been started, and has greeted. */
static bool connect_helper(struct lane_front *front)
{
    lane_front_hang_up(front);
    if (!CHECK(lane_way_open(&front->lane.channel, &front->peer)))
        return false;
    front->lane.state = GTEL_LANE_GREETING;
    front->lane.answers = 0;
    say_hello(front, GTEL_TEST_VERSION);
    return CHECK(front->lane.state == GTEL_LANE_IDLE);
}

static void answer(struct lane_front *front, const struct gtel_answer *answer)
{
    gtel_lane_request(&front->lane, 7, 8, 9, false);
    CHECK_INT(front->lane.state, GTEL_LANE_BUSY);
    CHECK(gtel_lane_is_waiting(&front->lane));
    gtel_wire_answer(&front->buf, answer, &front->registry, false, &front->batch);
    CHECK_INT(say(front), 1);
}

static void answer_times(struct lane_front *front, unsigned n, uint64_t rss_bytes)
{
    const struct gtel_answer same = {.request = 7, .rss_bytes = rss_bytes};
    for (unsigned i = 0; i < n; i++)
        answer(front, &same);
}

/* A helper that cannot be started, the first one or a later one, is tried after growing pauses. */
static void test_tries(void)
{
    static const struct {
        const char *label;
        bool has_started; /* one before it */
        uint64_t step_s;
        /* In which gathers it is tried; 0 after the last. */
        uint32_t tries[12];
    } cases[] = {
        {"the first helper", false, 1, {1, 2, 4, 7, 12, 21, 38, 71, 136, 201}},
        {"its successors", true, 1, {1, 2, 4, 7, 12, 21, 38, 71, 136, 201}},
        {"after 64 s", false, 20, {1, 2, 4, 7, 11, 15, 19, 23, 27, 31}},
        {"after one gather", false, 300, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct lane_front front;
        char want[200];
        size_t n = 0;
        test_label = cases[i].label;
        if (!lane_front_open(&front, LANE_FRONT_CARD))
            return;
        front.lane.started_ns = cases[i].has_started;
        const uint32_t *tries = cases[i].tries;
        for (uint32_t gather = 1; gather < 211 && tries[n] > 0; gather++) {
            front.lane.start_error = 0;
            gtel_lane_tick(&front.lane, 1, gather * cases[i].step_s * second_ns);
            if (front.lane.start_error == 0)
                continue;
            CHECK_INT(front.lane.start_error, -ENOENT);
            CHECK_INT(gather, tries[n]);
            n++;
        }
        CHECK_INT(tries[n], 0);
        CHECK_INT(front.logs, 1);
        CHECK_INT(front.level, GTEL_LOG_ERROR);
        (void)snprintf(want, sizeof(want),
                       "lane kernel: cannot start the helper /nonexistent/gtel: No such file or "
                       "directory; %s; trying again",
                       lane_way_missing_fix);
        CHECK_STR(gtel_str_of(front.log), want);
        CHECK_INT(front.lane.restarts, 0);
        CHECK_INT(front.lane.started_ns, cases[i].has_started);
        lane_front_close(&front);
    }
}

/* Without a GPU nothing is tried, and it is checked each Rescan interval (30 s). */
static void test_probes(void)
{
    static const struct {
        uint64_t now_s;
        bool is_tried;
    } cases[] = {{1, false}, {30, false}, {31, true}};
    static struct lane_front front;
    test_label = "probes";
    if (!lane_front_open(&front, "file proc/uptime\n| 1 1\nat 1500ms\n" LANE_FRONT_CARD))
        return;
    CHECK_INT(gtel_option_number(&front.options, GTEL_O_RESCAN), 30 * second_ns);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        gtel_lane_tick(&front.lane, 1, cases[i].now_s * second_ns);
        CHECK_INT(front.lane.start_error != 0, cases[i].is_tried);
        gtel_env_tree_step(&front.env, second_ns);
    }
    lane_front_close(&front);
}

/* A death after ten answers in a row begins a new series of pauses; after nine it does not. */
static void test_series_of_deaths(void)
{
    static const struct {
        unsigned answers;
        uint32_t pause; /* gathers */
    } cases[] = {{0, 0}, {0, 1}, {9, 2}, {1, 4}, {10, 0}, {9, 1}, {0, 2}};
    static struct lane_front front;
    struct gtel_str none;
    test_label = "series of deaths";
    if (!lane_front_open(&front, LANE_FRONT_CARD))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases) && connect_helper(&front); i++) {
        answer_times(&front, cases[i].answers, 0);
        lane_front_hang_up(&front);
        CHECK_INT(gtel_lane_receive(&front.lane, &none), 0);
        CHECK_INT(front.lane.state, GTEL_LANE_OFF);
        CHECK_INT(front.lane.pause.due - front.lane.gathers - 1, cases[i].pause);
    }
    lane_front_close(&front);
}

static void test_growth(void)
{
    static const struct {
        const char *label;
        unsigned answers; /* before */
        uint64_t from_mib;
        uint64_t to_mib;
        uint64_t more;
        bool is_given_up;
    } cases[] = {
        {"by 256 MiB", 10, 40, 296, 0, false},
        {"by one byte more", 10, 40, 296, 1, true},
        {"before it has settled", 9, 40, 1000, 0, false},
        {"from a size that is not known", 10, 0, 1000, 0, false},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct lane_front front;
        test_label = cases[i].label;
        if (!lane_front_open(&front, LANE_FRONT_CARD) || !connect_helper(&front))
            return;
        answer_times(&front, cases[i].answers, cases[i].from_mib * mib);
        front.logs = 0;
        answer_times(&front, 1, cases[i].to_mib * mib + cases[i].more);
        CHECK_INT(front.lane.state, cases[i].is_given_up ? GTEL_LANE_OFF : GTEL_LANE_IDLE);
        CHECK_INT(front.logs, cases[i].is_given_up);
        if (cases[i].is_given_up)
            CHECK_STR(gtel_str_of(front.log), "lane kernel: helper has grown by more than 256 MiB: "
                                              "a library leaks memory; starting it again");
        lane_front_close(&front);
    }
}

/* What the helpers before this one have counted stays counted; each counts from 0. */
static void test_totals(void)
{
    static struct lane_front front;
    const struct gtel_answer first = {.request = 7, .errors = 3, .dropped = 5};
    const struct gtel_answer second = {
        .request = 7, .errors = 2, .dropped = 1, .needs_restart = true};
    test_label = "totals";
    if (!lane_front_open(&front, LANE_FRONT_CARD) || !connect_helper(&front))
        return;
    answer(&front, &first);
    CHECK_INT(front.lane.past.errors + front.lane.past.dropped, 0);
    lane_front_hang_up(&front);
    gtel_lane_tick(&front.lane, 1, 0);
    CHECK_STR(gtel_str_of(front.log), "lane kernel: helper ended; starting it again");
    CHECK_INT(front.level, GTEL_LOG_WARNING);
    CHECK_INT(front.lane.past.errors, 3);
    CHECK_INT(front.lane.past.dropped, 5);
    CHECK_INT(front.lane.answer.errors, 0);
    if (!connect_helper(&front))
        return;
    answer(&front, &second); /* asks for its successor */
    CHECK_STR(gtel_str_of(front.log), "lane kernel: works again");
    CHECK_INT(front.level, GTEL_LOG_INFO);
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK(front.lane.is_renewed);
    CHECK_INT(front.lane.past.errors, 5);
    CHECK_INT(front.lane.past.dropped, 6);
    lane_front_close(&front);
}

static void test_versions(void)
{
    static struct lane_front front;
    test_label = "version";
    if (!lane_front_open(&front, LANE_FRONT_CARD) || !connect_helper(&front))
        return;
    say_hello(&front, GTEL_TEST_VERSION); /* twice is no harm */
    CHECK_INT(front.lane.state, GTEL_LANE_IDLE);
    say_hello(&front, "0.0.123456789012345678901234567890123456789");
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK_INT(front.logs, 1);
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    CHECK_STR(gtel_str_of(front.log),
              "lane kernel: the helper /nonexistent/gtel is version "
              "0.0.123456789012345678901234567890123456 and this is version " GTEL_TEST_VERSION
              ": restart the agent; if they still differ, install the same version of both, or "
              "name the right program with collectd's option Helper");
    CHECK_INT(front.lane.pause.due - front.lane.gathers - 1,
              64); /* gathers: somebody has to install another one */
    lane_front_close(&front);
}

static void log_line(struct lane_front *front, uint8_t level, const char *text)
{
    gtel_wire_log(&front->buf, level, gtel_str_of(text));
    CHECK_INT(say(front), 0);
}

static void test_logs(void)
{
    static struct lane_front front;
    test_label = "logs";
    if (!lane_front_open(&front, LANE_FRONT_CARD) || !connect_helper(&front))
        return;
    log_line(&front, GTEL_LOG_INFO, "one");
    CHECK_INT(front.level, GTEL_LOG_INFO);
    log_line(&front, GTEL_LOG_ERROR, "one"); /* again, by the same helper */
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    CHECK_INT(front.logs, 2);
    log_line(&front, GTEL_LOG_DEBUG, "");
    CHECK_STR(gtel_str_of(front.log), "");

    test_label = "logs of a successor";
    front.logs = 0;
    const struct gtel_answer last = {.request = 7, .needs_restart = true};
    log_line(&front, GTEL_LOG_WARNING, "two");
    answer(&front, &last);
    if (!connect_helper(&front))
        return;
    log_line(&front, GTEL_LOG_WARNING, "two"); /* known */
    CHECK_INT(front.logs, 1);
    log_line(&front, GTEL_LOG_WARNING, "three");
    CHECK_STR(gtel_str_of(front.log), "three");
    log_line(&front, GTEL_LOG_WARNING, "two"); /* news again */
    CHECK_INT(front.logs, 3);
    lane_front_close(&front);
}

/* What never fits into this state is no answer. */
static void test_unasked(void)
{
    static struct lane_front front;
    const struct gtel_answer unasked = {.request = 7};
    test_label = "unasked";
    if (!lane_front_open(&front, LANE_FRONT_CARD) || !connect_helper(&front))
        return;
    gtel_wire_answer(&front.buf, &unasked, &front.registry, false, &front.batch);
    CHECK_INT(say(&front), 0);
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    CHECK_STR(gtel_str_of(front.log), "lane kernel: helper protocol error; starting it again");
    CHECK_INT(front.level, GTEL_LOG_ERROR);
    gtel_lane_request(&front.lane, 1, 1, 1, false); /* nobody to ask */
    CHECK_INT(front.lane.state, GTEL_LANE_OFF);
    lane_front_close(&front);
}

static void test_lateness(void)
{
    static const struct {
        const char *label;
        uint32_t answers;
        uint64_t now_ns;
        uint64_t late;
    } cases[] = {
        {"starting", 0, 14999999999u, 0},
        {"no answer for five seconds", 0, 15000000000u, 1},
        {"after the first answer", 1, 10000000001u, 1},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct lane_front front;
        test_label = cases[i].label;
        if (!lane_front_open(&front, LANE_FRONT_CARD))
            return;
        front.lane.started_ns = 10 * second_ns;
        front.lane.answers = cases[i].answers;
        gtel_lane_missed(&front.lane, cases[i].now_ns, 500999999);
        CHECK_INT(front.lane.late, cases[i].late);
        CHECK_INT(front.logs, cases[i].late);
        gtel_lane_missed(&front.lane, cases[i].now_ns, 500999999);
        CHECK_INT(front.lane.late, 2 * cases[i].late);
        CHECK_INT(front.logs, cases[i].late); /* once */
        if (cases[i].late > 0)
            CHECK_STR(gtel_str_of(front.log), "lane kernel: no answer within 500 ms; its readings "
                                              "are missing until it answers");
        lane_front_close(&front);
    }
}

static void test_resident(void)
{
    static const struct {
        const char *label;
        const char *text;
        uint64_t want;
    } cases[] = {
        {"pages", "file proc/self/statm\n| 9000 1234 800 10 0 500 0\nend\n", 1234 * 4096},
        {"the last word", "file proc/self/statm\n| 9000 1234\nend\n", 1234 * 4096},
        {"too short", "file proc/self/statm\n| 9000\nend\n", 0},
        {"no number", "file proc/self/statm\n| 9000 x\nend\n", 0},
        {"no file", "file proc/uptime\n| 1 1\nend\n", 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        static struct lane_front front;
        struct gtel_fs_file file = {0};
        test_label = cases[i].label;
        if (!lane_front_open(&front, cases[i].text))
            return;
        front.env.page_size = 4096;
        CHECK_INT(gtel_group_rss(&front.env, &file), cases[i].want);
        CHECK_INT(gtel_group_rss(&front.env, &file), cases[i].want); /* from the open file */
        front.env.page_size = 0;
        CHECK_INT(gtel_group_rss(&front.env, &file), 0);
        gtel_fs_close(&front.env, &file);
        lane_front_close(&front);
    }
}

/* A command line has room for 63 words. */
static void test_many_words(void)
{
    static const struct {
        size_t words; /* beside the three first ones */
        int error;
    } cases[] = {{60, -ENOENT}, {61, -E2BIG}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const char *more[62] = {NULL};
        static struct lane_front front;
        test_label = "many words";
        if (!lane_front_open(&front, LANE_FRONT_CARD))
            return;
        for (size_t k = 0; k < cases[i].words; k++)
            more[k] = "word";
        front.lane.setup.helper_args = more;
        gtel_lane_tick(&front.lane, 1, second_ns);
        CHECK_INT(front.lane.start_error, cases[i].error);
        lane_front_close(&front);
    }
}

int main(void)
{
    test_many_words();
    test_tries();
    test_probes();
    test_series_of_deaths();
    test_growth();
    test_totals();
    test_versions();
    test_logs();
    test_unasked();
    test_lateness();
    test_resident();
    return test_result();
}
