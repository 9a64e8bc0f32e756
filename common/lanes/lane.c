/* SPDX-License-Identifier: MIT */
/* A lane as its front end sees it. */
#include "lanes/lane.h"

#include "base/error.h"
#include "base/version.h"

#include <errno.h>
#include <string.h>

enum {
    ARGS_MAX = 64,
    PAUSE_MAX = 64,
    SOUND_ANSWERS = 10 /* in a row: a death after them begins a new series */,
    RX_MIN = 4096
};

/*
 * How much a helper may grow after its first SOUND_ANSWERS, by when libraries and drivers are all
 * in: sources keep what they know of a machine in some MB, so it is a library that leaks.
 */
static const uint64_t growth_max = 256u << 20;

/* A helper that has never answered is starting, not late, for this long. */
static const uint64_t start_grace_ns = 5000000000u;

static const struct gtel_log *log_of(const struct gtel_lane *lane)
{
    return &lane->setup.env->log;
}

static bool is_inline(const struct gtel_lane *lane)
{
    return !lane->setup.helper;
}

int gtel_lane_init(struct gtel_lane *lane, const struct gtel_lane_setup *setup)
{
    *lane = (struct gtel_lane){.setup = *setup};
    gtel_channel_init(&lane->channel);
    gtel_helper_text_init(&lane->text);
    gtel_buf_init(&lane->tx, GTEL_FRAME_MAX);
    gtel_buf_init(&lane->rx, is_inline(lane) ? GTEL_FRAME_MAX : 2 * (size_t)GTEL_FRAME_MAX);
    return is_inline(lane) ? gtel_group_init(&lane->group, setup->name, setup->env, setup->options)
                           : 0;
}

void gtel_lane_close(struct gtel_lane *lane)
{
    gtel_channel_close(&lane->channel);
    lane->state = GTEL_LANE_OFF;
    lane->rx_used = 0;
    gtel_buf_reset(&lane->rx);
}

/* Until all helpers have ended, at most wait_ns. */
static void await_ends(struct gtel_lane *lanes, size_t n, uint64_t wait_ns)
{
    const uint64_t step_ns = 2000000;
    for (uint64_t waited = 0;; waited += step_ns) {
        bool is_all = true;
        int status;
        for (size_t i = 0; i < n; i++)
            is_all = gtel_channel_reap(&lanes[i].channel, &status) && is_all;
        if (is_all || waited >= wait_ns)
            break;
        gtel_channel_nap(step_ns);
    }
}

/* One that has not ended now hangs, and may do so for ever, at full speed. */
static void kill_rest(struct gtel_lane *lanes, size_t n)
{
    int status;
    for (size_t i = 0; i < n; i++) {
        struct gtel_lane *lane = &lanes[i];
        if (gtel_channel_reap(&lane->channel, &status) || !gtel_channel_kill(&lane->channel) ||
            !lane->is_late)
            continue;
        gtel_log(log_of(lane), GTEL_LOG_WARNING,
                 "lane %s: the helper hangs: killed at the end of the program", lane->setup.name);
    }
}

void gtel_lanes_done(struct gtel_lane *lanes, size_t n, uint64_t wait_ns)
{
    for (size_t i = 0; i < n; i++)
        gtel_lane_close(&lanes[i]);
    await_ends(lanes, n, wait_ns);
    kill_rest(lanes, n);
    await_ends(lanes, n, wait_ns);
    for (size_t i = 0; i < n; i++) {
        gtel_helper_text_close(&lanes[i].text, log_of(&lanes[i]), lanes[i].setup.name);
        gtel_group_done(&lanes[i].group);
        gtel_buf_done(&lanes[i].tx);
        gtel_buf_done(&lanes[i].rx);
    }
}

/* Gathers until the next start; more and more, until one has lived for a while. */
static void lengthen_pause(struct gtel_lane *lane)
{
    gtel_backoff_fail(&lane->pause, lane->gathers + 1, 1, PAUSE_MAX);
    lane->pause_ns = lane->tick_ns;
}

/* Failures are logged when they begin; the same one does not come again until it has worked. */
static void note_failure(struct gtel_lane *lane)
{
    lengthen_pause(lane);
    lane->is_failing = true;
}

/* The helper's command line. Words built here live in buf, one after the other, each with its NUL.
 */
static int build_args(const struct gtel_lane *lane, struct gtel_buf *buf, char **args)
{
    size_t at[GTEL_O_COUNT];
    size_t words = 0;
    for (size_t i = 0; i < GTEL_O_COUNT; i++) {
        if (!lane->setup.options->value[i].is_given ||
            (gtel_option_row((enum gtel_option)i)->where & GTEL_OPTION_EXECD) == 0)
            continue;
        at[words++] = buf->n;
        gtel_option_argument(buf, lane->setup.options, (enum gtel_option)i);
        gtel_buf_char(buf, '\0');
    }
    if (buf->has_failed)
        return -ENOMEM;
    size_t n = 0;
    args[n++] = (char *)(uintptr_t)lane->setup.helper; /* posix_spawn does not write to them */
    args[n++] = (char *)(uintptr_t) "--lane";
    args[n++] = (char *)(uintptr_t)lane->setup.name;
    for (size_t i = 0; i < words && n < ARGS_MAX - 1; i++)
        args[n++] = buf->p + at[i];
    for (size_t i = 0; lane->setup.helper_args && lane->setup.helper_args[i]; i++) {
        if (n == ARGS_MAX - 1)
            return -E2BIG;
        args[n++] = (char *)(uintptr_t)lane->setup.helper_args[i];
    }
    args[n] = NULL;
    return 0;
}

static int start_helper(struct gtel_lane *lane)
{
    char *args[ARGS_MAX];
    struct gtel_buf words;
    gtel_buf_init(&words, 16384);
    int r = build_args(lane, &words, args);
    if (r == 0)
        r = gtel_channel_start(&lane->channel, &lane->text, lane->setup.helper, args);
    if (r < 0)
        gtel_helper_text_close(&lane->text, log_of(lane), lane->setup.name);
    gtel_buf_done(&words);
    return r;
}

static bool has_work(const struct gtel_lane *lane)
{
    for (size_t i = 0; gtel_sources[i]; i++) {
        const struct gtel_source *source = gtel_sources[i];
        if (strcmp(source->lane, lane->setup.name) == 0 &&
            gtel_group_is_chosen(lane->setup.options, source) &&
            gtel_source_present(source, lane->setup.env))
            return true;
    }
    return false;
}

/* Whether there is something to read, looked up no more often than the Rescan interval. */
static bool is_due(struct gtel_lane *lane, uint64_t now_ns)
{
    if (gtel_backoff_is_waiting(&lane->pause, ++lane->gathers) &&
        now_ns - lane->pause_ns <= GTEL_BACKOFF_LAST_NS) /* where gathers are rare */
        return false;
    if (lane->started_ns > 0)
        return true;
    if (now_ns < lane->probe_ns)
        return false;
    (void)gtel_fs_shortage(lane->setup.env); /* what was before is of no interest */
    bool is_found = has_work(lane);
    lane->shortage = is_found ? 0 : gtel_fs_shortage(lane->setup.env);
    if (lane->shortage == 0) /* else soon again */
        lane->probe_ns = now_ns + gtel_option_number(lane->setup.options, GTEL_O_RESCAN);
    return is_found;
}

/* Takes in what an idle helper has left behind: messages, or its end. */
static void drain_idle(struct gtel_lane *lane)
{
    struct gtel_str none;
    if (lane->state == GTEL_LANE_IDLE)
        (void)gtel_lane_receive(lane, &none); /* no answer is due: one would be nonsense */
}

void gtel_lane_tick(struct gtel_lane *lane, uint64_t number, uint64_t now_ns)
{
    int status;
    lane->tick_ns = now_ns;
    drain_idle(lane);
    if (lane->state != GTEL_LANE_OFF || !gtel_channel_reap(&lane->channel, &status) ||
        !is_due(lane, now_ns))
        return;
    lane->answers = 0;
    int r = is_inline(lane) ? 0 : start_helper(lane);
    lane->start_error = r;
    if (r < 0) {
        if (!lane->is_failing)
            gtel_log(log_of(lane), GTEL_LOG_ERROR,
                     "lane %s: cannot start the helper %s: %s; %s; trying again", lane->setup.name,
                     lane->setup.helper, gtel_error_text(r), gtel_channel_start_fix(r));
        note_failure(lane);
        lane->probe_ns = now_ns; /* the pause is enough */
        return;
    }
    if (lane->started_ns > 0 && !lane->is_renewed && !is_inline(lane))
        lane->restarts++; /* a restart that it asked for is no accident */
    gtel_wire_map_renew(&lane->map);
    lane->request = number;
    lane->started_ns = now_ns;
    lane->state = is_inline(lane) ? GTEL_LANE_IDLE : GTEL_LANE_GREETING;
}

/* Leaves the helper to its end; the next one counts from 0. *ret_status: if it has ended already.
 */
static void leave(struct gtel_lane *lane, int *ret_status)
{
    gtel_lane_close(lane);
    gtel_helper_text_close(&lane->text, log_of(lane), lane->setup.name);
    if (!is_inline(lane)) {
        lane->past.errors += lane->answer.errors;
        lane->past.dropped += lane->answer.dropped;
        lane->answer = (struct gtel_answer){0};
    }
    (void)gtel_channel_reap(&lane->channel,
                            ret_status); /* not ended yet: gtel_lane_tick checks again */
}

/* Gives up this helper; the next one starts after a pause. */
static void drop(struct gtel_lane *lane, enum gtel_log_level level, const char *why)
{
    char death[32];
    int status = 0;
    leave(lane, &status);
    lane->is_renewed = false;
    gtel_channel_death(status, death, sizeof(death));
    if (!lane->is_failing)
        gtel_log(log_of(lane), level, "lane %s: helper %s%s; starting it again", lane->setup.name,
                 why, death);
    note_failure(lane);
}

/* Sends what is in tx to the helper. */
static void send_request(struct gtel_lane *lane)
{
    if (gtel_channel_send(&lane->channel, gtel_buf_text(&lane->tx)) < 0)
        drop(lane, GTEL_LOG_WARNING, "ended");
    else
        lane->state = GTEL_LANE_BUSY;
}

void gtel_lane_request(struct gtel_lane *lane, uint64_t number, uint64_t now_ns, uint64_t wall_ns,
                       bool with_findings)
{
    if (lane->state != GTEL_LANE_IDLE)
        return;
    lane->request = number;
    lane->request_ns = now_ns;
    lane->request_wall_ns = wall_ns;
    if (is_inline(lane)) {
        lane->rx_used = 0;
        gtel_group_answer(&lane->group, number, with_findings, NULL, &lane->rx);
        if (lane->rx.has_failed)
            gtel_buf_reset(&lane->rx);
        else
            lane->state = GTEL_LANE_BUSY;
        return;
    }
    gtel_buf_reset(&lane->tx);
    gtel_wire_request(&lane->tx, number, with_findings);
    send_request(lane);
}

/* Reads what is there. Returns 0, or -EPIPE when the helper is gone. */
static int fill_rx(struct gtel_lane *lane)
{
    struct gtel_buf *rx = &lane->rx;
    for (;;) {
        if (rx->n == rx->size && !gtel_buf_make_room(rx, RX_MIN))
            return -ENOMEM;
        int64_t n = gtel_channel_receive(&lane->channel, rx->p + rx->n, rx->size - rx->n);
        if (n <= 0)
            return (int)n;
        rx->n += (size_t)n;
    }
}

static void forget_used(struct gtel_lane *lane)
{
    size_t n = lane->rx.n - lane->rx_used;
    if (lane->rx_used == 0)
        return;
    memmove(lane->rx.p, lane->rx.p + lane->rx_used, n);
    gtel_buf_back(&lane->rx, n);
    lane->rx_used = 0;
}

static int take_hello(struct gtel_lane *lane, struct gtel_str version)
{
    if (gtel_str_eq(version, gtel_str_of(gtel_version))) {
        if (lane->state == GTEL_LANE_GREETING)
            lane->state = GTEL_LANE_IDLE;
        return 0;
    }
    if (!lane->is_failing)
        gtel_log(log_of(lane), GTEL_LOG_ERROR,
                 "lane %s: the helper %s is version %.*s and this is version %s: restart the "
                 "agent; if they still differ, install the same version of both, or name the right "
                 "program with collectd's option Helper",
                 lane->setup.name, lane->setup.helper, (int)(version.n < 40 ? version.n : 40),
                 version.n ? version.p : "", gtel_version);
    lane->is_failing = true;
    lane->pause.pause = PAUSE_MAX;
    return -EPROTO;
}

static int take_log(struct gtel_lane *lane, struct gtel_str payload)
{
    uint8_t level;
    struct gtel_str text;
    int r = gtel_wire_read_log(payload, &level, &text);
    if (r < 0)
        return r;
    /* What the helper before this one has logged last is not logged again. */
    uint64_t hash = gtel_hash(GTEL_HASH_SEED, text.p, text.n);
    bool is_news = !lane->is_renewed || hash != lane->said;
    lane->said = hash;
    if (is_news)
        gtel_log(log_of(lane), (enum gtel_log_level)level, "%.*s", GTEL_STR_ARG(text));
    return 0;
}

/* Handles one frame. 1: an answer in *ret_payload; 0: something else; negative: nonsense. */
static int take_frame(struct gtel_lane *lane, const struct gtel_frame *frame,
                      struct gtel_str *ret_payload)
{
    switch (frame->type) {
    case GTEL_FRAME_HELLO:
        return take_hello(lane, frame->payload);
    case GTEL_FRAME_LOG:
        return take_log(lane, frame->payload);
    case GTEL_FRAME_ANSWER:
        if (lane->state != GTEL_LANE_BUSY)
            return -EPROTO;
        lane->state = GTEL_LANE_ANSWERED;
        *ret_payload = frame->payload;
        return 1;
    default:
        return -EPROTO;
    }
}

int gtel_lane_receive(struct gtel_lane *lane, struct gtel_str *ret_payload)
{
    int gone = 0;
    if (!is_inline(lane) && lane->channel.fd < 0)
        return 0;
    forget_used(lane);
    if (!is_inline(lane)) {
        gone = fill_rx(lane);
        gtel_helper_text_forward(&lane->text, log_of(lane), lane->setup.name);
    }
    for (;;) {
        struct gtel_frame frame;
        size_t used;
        struct gtel_str bytes = gtel_str_skip(gtel_buf_text(&lane->rx), lane->rx_used);
        int r = gtel_frame_next(bytes, &frame, &used);
        if (r == -EAGAIN)
            break;
        if (r == 0) {
            lane->rx_used += used;
            r = take_frame(lane, &frame, ret_payload);
        }
        if (r == 1)
            return 1;
        if (r < 0) {
            drop(lane, GTEL_LOG_ERROR, "protocol error");
            return 0;
        }
    }
    if (gone < 0)
        drop(lane, GTEL_LOG_WARNING,
             lane->state == GTEL_LANE_GREETING ? "ended without a greeting" : "ended");
    return 0;
}

/* A helper that only grows is restarted. */
static void check_growth(struct gtel_lane *lane)
{
    uint64_t rss = lane->answer.rss_bytes;
    if (lane->answers == SOUND_ANSWERS)
        lane->settled_rss = rss;
    if (lane->answers > SOUND_ANSWERS && lane->settled_rss > 0 &&
        rss > lane->settled_rss + growth_max)
        drop(lane, GTEL_LOG_WARNING, "has grown by more than 256 MiB: a library leaks memory");
}

/* A helper that can do no more has its successor at the next gather, if it has lived for a while.
 */
static void renew(struct gtel_lane *lane)
{
    int status = 0;
    leave(lane, &status);
    lane->is_renewed = true;
    lengthen_pause(lane);
}

void gtel_lane_understood(struct gtel_lane *lane, int r)
{
    if (r < 0) {
        drop(lane, GTEL_LOG_ERROR, "protocol error in an answer");
        return;
    }
    bool is_late = lane->is_late && lane->request == lane->missed;
    if (!is_late && (lane->is_failing || lane->is_late))
        gtel_log(log_of(lane), GTEL_LOG_INFO, "lane %s: works again", lane->setup.name);
    lane->state = GTEL_LANE_IDLE;
    if (lane->answers == 0)
        gtel_helper_text_renew(&lane->text);
    lane->is_failing = false;
    lane->is_late = is_late;
    if (++lane->answers >= SOUND_ANSWERS)
        lane->pause = (struct gtel_backoff){0};
    if (is_inline(lane))
        return;
    check_growth(lane);
    if (lane->state == GTEL_LANE_IDLE && lane->answer.needs_restart)
        renew(lane);
}

bool gtel_lane_is_waiting(const struct gtel_lane *lane)
{
    return lane->state == GTEL_LANE_BUSY || lane->state == GTEL_LANE_GREETING;
}

void gtel_lane_missed(struct gtel_lane *lane, uint64_t now_ns, uint64_t waited_ns)
{
    if (lane->answers == 0 && now_ns - lane->started_ns < start_grace_ns)
        return;
    lane->late++;
    lane->missed = lane->request;
    if (lane->is_late)
        return;
    lane->is_late = true;
    gtel_log(log_of(lane), GTEL_LOG_WARNING,
             "lane %s: no answer within %u ms; its readings are missing until it answers",
             lane->setup.name, (unsigned)(waited_ns / 1000000u));
}

void gtel_lanes_wait(struct gtel_lane *lanes, size_t n, uint64_t wait_ns)
{
    struct gtel_channel *channels[GTEL_SOURCES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < n && count < GTEL_SOURCES_MAX; i++)
        if (gtel_lane_is_waiting(&lanes[i]) && lanes[i].channel.fd >= 0)
            channels[count++] = &lanes[i].channel;
    if (count > 0)
        gtel_channels_wait(channels, count, wait_ns);
}
