/* SPDX-License-Identifier: MIT */
/* What a helper writes to its standard error. */
#include "lanes/helper_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    FD_MIN = 4, /* the helper's standard files and its socket are below */
    CHUNK = 4096,
    CHUNKS_MAX = 16 /* a whole pipe */
};

void gtel_helper_text_init(struct gtel_helper_text *text)
{
    *text = (struct gtel_helper_text){.fd = -1};
}

int gtel_helper_text_open(struct gtel_helper_text *text, int *ret_fd)
{
    int fd[2];
    /* O_NONBLOCK belongs to each end (pipe(2)), and the helper inherits it with its end. */
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    int high = fcntl(fd[1], F_DUPFD_CLOEXEC, FD_MIN);
    int error = errno;
    (void)close(fd[1]);
    if (high < 0) {
        (void)close(fd[0]);
        return -error;
    }
    text->fd = fd[0];
    text->n = 0;
    *ret_fd = high;
    return 0;
}

static void end_line(struct gtel_helper_text *text, const struct gtel_log *log, const char *lane,
                     uint32_t limit)
{
    struct gtel_str line = gtel_str_trim((struct gtel_str){text->line, text->n});
    text->n = 0;
    if (line.n == 0 || text->lines > limit)
        return;
    if (text->lines++ < limit)
        gtel_log(log, GTEL_LOG_WARNING, "lane %s: standard error of the helper: %.*s", lane,
                 GTEL_STR_ARG(line));
    else
        gtel_log(log, GTEL_LOG_WARNING,
                 "lane %s: standard error of the helper: more lines, which are dropped", lane);
}

static void add(struct gtel_helper_text *text, const struct gtel_log *log, const char *lane,
                struct gtel_str bytes, uint32_t limit)
{
    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] == '\n')
            end_line(text, log, lane, limit);
        else if (text->n < sizeof(text->line))
            text->line[text->n++] = bytes.p[i];
    }
}

static void forward(struct gtel_helper_text *text, const struct gtel_log *log, const char *lane,
                    uint32_t limit)
{
    char chunk[CHUNK];
    for (int i = 0; i < CHUNKS_MAX; i++) {
        ssize_t n = read(text->fd, chunk, sizeof(chunk));
        if (n <= 0)
            return; /* nothing now, or the end: the socket says so, too */
        add(text, log, lane, (struct gtel_str){chunk, (size_t)n}, limit);
    }
}

void gtel_helper_text_forward(struct gtel_helper_text *text, const struct gtel_log *log,
                              const char *lane)
{
    if (text->fd >= 0)
        forward(text, log, lane, GTEL_HELPER_LINES - GTEL_HELPER_LAST_LINES);
}

void gtel_helper_text_close(struct gtel_helper_text *text, const struct gtel_log *log,
                            const char *lane)
{
    if (text->fd < 0)
        return;
    forward(text, log, lane, GTEL_HELPER_LINES);
    end_line(text, log, lane, GTEL_HELPER_LINES);
    (void)close(text->fd);
    text->fd = -1;
}

void gtel_helper_text_renew(struct gtel_helper_text *text)
{
    text->lines = 0;
}
