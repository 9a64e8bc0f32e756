/* SPDX-License-Identifier: MIT */
/*
 * Messages on standard error: a level that Telegraf knows, one line each, bounded. Standard output:
 * all of it, in whole lines where its pipe has room for them.
 */
#include "execd/out.h"

#include "base/compiler.h"
#include "base/str.h"
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
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

/* The reader's end, in a process of its own: 0 when all of text came, each time with whole lines.
 */
static int read_lines(int fd, struct gtel_str text, bool has_lines)
{
    char buf[65536];
    ssize_t n;
    while ((n = read(fd, buf, sizeof(buf))) > 0) {
        if ((size_t)n > text.n || memcmp(buf, text.p, (size_t)n) != 0)
            return 1;
        if (has_lines && buf[n - 1] != '\n')
            return 2;
        text = gtel_str_skip(text, (size_t)n);
    }
    return text.n == 0 ? 0 : 3;
}

/* Output that is longer than its pipe, or than a pipe takes at one time. */
static void test_writes(void)
{
    static const struct {
        const char *label;
        size_t size; /* bytes */
        size_t line;
    } cases[] = {
        {"nothing", 0, 1},
        {"a line", 100, 100},
        {"a byte", 1, 1},
        {"as long as the pipe", 8192, 1},
        {"many lines", 100000, 100},
        {"lines of a page", 81940, 4097},
        {"one long line", 50000, 50000},
    };
    static char text[100000];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        int ends[2];
        struct gtel_pace pace;
        struct gtel_str all = {text, cases[i].size};
        test_label = cases[i].label;
        for (size_t k = 0; k < all.n; k++)
            text[k] = k % cases[i].line == cases[i].line - 1 ? '\n' : (char)('a' + k % 26);
        if (!CHECK(pipe(ends) == 0) || !CHECK(fcntl(ends[1], F_SETPIPE_SZ, 8192) == 8192))
            return;
        (void)fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            (void)close(ends[1]);
            _exit(read_lines(ends[0], all, cases[i].line <= 4096));
        }
        int kept = dup(STDOUT_FILENO);
        bool is_ready = pid > 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO;
        gtel_pace_init(&pace, 0, 0, false);
        int r = is_ready ? gtel_out_write(&pace, all) : -1;
        bool is_back = dup2(kept, STDOUT_FILENO) == STDOUT_FILENO;
        (void)close(kept);
        (void)close(ends[0]);
        (void)close(ends[1]);
        gtel_pace_done(&pace);
        int status = -1;
        CHECK(is_back && waitpid(pid, &status, 0) == pid);
        CHECK_INT(r, 0);
        CHECK_INT(status, 0);
    }
    test_label = "";
}

/* Nobody reads any more. */
static void test_closed(void)
{
    int ends[2];
    struct gtel_pace pace;
    test_label = "closed";
    if (!CHECK(pipe(ends) == 0) || !CHECK(close(ends[0]) == 0))
        return;
    (void)fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    bool is_ready = dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO;
    gtel_pace_init(&pace, 0, 0, false);
    int r = gtel_out_write(&pace, GTEL_STR("x\n"));
    CHECK(is_ready && dup2(kept, STDOUT_FILENO) == STDOUT_FILENO);
    (void)close(kept);
    (void)close(ends[1]);
    gtel_pace_done(&pace);
    CHECK_INT(r, -EPIPE);
    test_label = "";
}

int main(void)
{
    test_writes();
    test_closed();
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
