/* SPDX-License-Identifier: MIT */
/* What a helper writes to its standard error. */
#include "lanes/helper_text.h"

enum { CHUNK = 4096, CHUNKS_MAX = 16 /* a whole pipe */ };

void gtel_helper_text_init(struct gtel_helper_text *text)
{
    *text = (struct gtel_helper_text){.end = -1};
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
        int64_t n = gtel_helper_text_read(text->end, chunk, sizeof(chunk));
        if (n <= 0)
            return; /* nothing now, or the end: the way to the helper says so, too */
        add(text, log, lane, (struct gtel_str){chunk, (size_t)n}, limit);
    }
}

void gtel_helper_text_forward(struct gtel_helper_text *text, const struct gtel_log *log,
                              const char *lane)
{
    if (text->end != -1)
        forward(text, log, lane, GTEL_HELPER_LINES - GTEL_HELPER_LAST_LINES);
}

void gtel_helper_text_close(struct gtel_helper_text *text, const struct gtel_log *log,
                            const char *lane)
{
    if (text->end == -1)
        return;
    forward(text, log, lane, GTEL_HELPER_LINES);
    end_line(text, log, lane, GTEL_HELPER_LINES);
    gtel_helper_text_end(text->end);
    text->end = -1;
}

void gtel_helper_text_renew(struct gtel_helper_text *text)
{
    text->lines = 0;
}
