/* SPDX-License-Identifier: MIT */
/* A lane as its helper process runs it. */
#include "lanes/serve.h"

#include "base/version.h"
#include "lanes/lane.h"
#include "lanes/peer.h"

#include <errno.h>
#include <limits.h>

struct server {
    int fd;
    struct gtel_buf out;
    struct gtel_buf log_out;
    struct gtel_group group;
    struct gtel_fs_file statm;
};

static void send_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct server *server = arg;
    gtel_buf_reset(&server->log_out);
    gtel_wire_log(&server->log_out, (uint8_t)level, gtel_str_of(text));
    if (!server->log_out.has_failed)
        (void)gtel_peer_send(server->fd, gtel_buf_text(&server->log_out)); /* gone: see serve */
}

static int answer(struct server *server, uint64_t number, bool with_findings)
{
    gtel_group_answer(&server->group, number, with_findings, &server->statm, &server->out);
    return gtel_peer_send(server->fd, gtel_buf_text(&server->out));
}

/* Handles the whole frames at the front of bytes; *ret_used is what they take. */
static int handle(struct server *server, struct gtel_str bytes, size_t *ret_used)
{
    *ret_used = 0;
    for (;;) {
        struct gtel_frame frame;
        size_t used;
        uint64_t number;
        bool with_findings;
        int r = gtel_frame_next(gtel_str_skip(bytes, *ret_used), &frame, &used);
        if (r == -EAGAIN)
            return 0;
        if (r == 0 && frame.type != GTEL_FRAME_REQUEST)
            r = -EPROTO;
        if (r == 0)
            r = gtel_wire_read_request(frame.payload, &number, &with_findings);
        if (r == 0)
            r = answer(server, number, with_findings);
        if (r < 0)
            return r;
        *ret_used += used;
    }
}

/* For how long to wait for the front end: until a source asks to be called; -1: for ever. */
static int wait_ms(const struct server *server)
{
    const uint64_t ms = 1000000;
    uint64_t due = gtel_group_due(&server->group);
    uint64_t now = gtel_env_now(server->group.env);
    if (due == 0)
        return -1;
    if (due <= now)
        return 0;
    uint64_t wait = (due - now) / ms + 1;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* Calls sources that ask for it while the front end says nothing. False: it is gone. */
static bool wait_for_front_end(struct server *server)
{
    for (;;) {
        int n = gtel_peer_wait(server->fd, wait_ms(server));
        if (n != 0)
            return n > 0;
        gtel_group_tick(&server->group);
    }
}

/* Until the socket closes; a front end that talks nonsense is left the same way. */
static void serve(struct server *server)
{
    char in[4 * GTEL_FRAME_HEADER + 64];
    size_t n = 0;
    while (n < sizeof(in) && wait_for_front_end(server)) {
        int64_t got = gtel_peer_receive(server->fd, in + n, sizeof(in) - n);
        if (got <= 0)
            return;
        n += (size_t)got;
        size_t used;
        if (handle(server, (struct gtel_str){in, n}, &used) < 0)
            return;
        for (size_t i = used; i < n; i++)
            in[i - used] = in[i];
        n -= used;
    }
}

int gtel_lane_serve(const char *lane, int fd, struct gtel_env *env,
                    const struct gtel_options *options)
{
    struct server server = {.fd = fd};
    int r = gtel_peer_open(fd);
    if (r < 0)
        return r;
    gtel_buf_init(&server.out, GTEL_FRAME_MAX);
    gtel_buf_init(&server.log_out, 4096);
    gtel_wire_hello(&server.out, gtel_str_of(gtel_version));
    r = gtel_peer_send(fd, gtel_buf_text(&server.out));
    if (r == 0) {
        env->log = (struct gtel_log){send_log, &server};
        r = gtel_group_init(&server.group, lane, env, options);
        server.group.registry.renewal = GTEL_RENEWAL_POSSIBLE;
        if (r == 0)
            serve(&server);
        gtel_group_done(&server.group);
        env->log = (struct gtel_log){0};
    }
    gtel_fs_close(env, &server.statm);
    gtel_buf_done(&server.out);
    gtel_buf_done(&server.log_out);
    return r;
}
