/* SPDX-License-Identifier: MIT */
/* Messages on standard error: a level that Telegraf knows, one line each, bounded. */
#include "execd/out.h"

#include "base/compiler.h"
#include "base/str.h"
#include "harness/test.h"

#include <unistd.h>

enum { LINE_MAX_BYTES = 499 };

static const struct message_case {
    const char *label;
    int level;
    const char *text;
    const char *want;
} message_cases[] = {
    {"an error", GTEL_LOG_ERROR, "no", "E! no\n"},
    {"a warning", GTEL_LOG_WARNING, "odd", "W! odd\n"},
    {"information", GTEL_LOG_INFO, "", "I! \n"},
    {"for debugging", GTEL_LOG_DEBUG, "x", "D! x\n"},
    {"another level", 4, "x", "E! x\n"},
    {"control characters", GTEL_LOG_INFO, "a\nb\033[2Jc", "I! a?b?[2Jc\n"},
};

/* What one message writes to standard error. */
static struct gtel_str write_one(int level, const char *text, char *buf, size_t size)
{
    int ends[2];
    int kept = dup(STDERR_FILENO);
    if (!CHECK(pipe(ends) == 0) || !CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO))
        return GTEL_STR_NONE;
    struct gtel_log log = gtel_out_log();
    log.write(log.arg, (enum gtel_log_level)level, text);
    CHECK(dup2(kept, STDERR_FILENO) == STDERR_FILENO && close(kept) == 0 && close(ends[1]) == 0);
    ssize_t n = read(ends[0], buf, size);
    CHECK(close(ends[0]) == 0);
    return (struct gtel_str){buf, n > 0 ? (size_t)n : 0};
}

int main(void)
{
    char buf[2048];
    char text[1200];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(message_cases); i++) {
        const struct message_case *c = &message_cases[i];
        test_label = c->label;
        CHECK_STR(write_one(c->level, c->text, buf, sizeof(buf)), c->want);
    }
    for (size_t n = 480; n < sizeof(text); n += n < 520 ? 1 : 679) {
        test_label = "long messages";
        memset(text, 'a', n);
        text[n] = '\0';
        struct gtel_str got = write_one(GTEL_LOG_INFO, text, buf, sizeof(buf));
        CHECK_INT(got.n, n + 4 < LINE_MAX_BYTES ? n + 4 : LINE_MAX_BYTES);
        CHECK(gtel_str_ends(got, GTEL_STR("aaaa\n")));
    }
    return test_result();
}
