/* SPDX-License-Identifier: MIT */
/* What a helper writes to its standard error: lines, limits, and that nobody ever waits. */
#include "lanes/helper_text.h"

#include "harness/test.h"
#include "harness/text_end.h"

#define PREFIX "lane nvml: standard error of the helper: "

struct said {
    unsigned n;
    char last[600];
};

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct said *said = arg;
    CHECK_INT(level, GTEL_LOG_WARNING);
    said->n++;
    (void)snprintf(said->last, sizeof(said->last), "%s", text);
}

static void put(intptr_t end, const char *text)
{
    CHECK_INT(text_end_write(end, text, strlen(text)), strlen(text));
}

static void test_lines(void)
{
    struct gtel_helper_text text;
    struct said said = {0};
    struct gtel_log log = {on_log, &said};
    intptr_t end;
    test_label = "lines";
    gtel_helper_text_init(&text);
    gtel_helper_text_forward(&text, &log, "nvml"); /* no helper yet */
    gtel_helper_text_close(&text, &log, "nvml");
    if (!CHECK(gtel_helper_text_open(&text, &end) == 0))
        return;
    CHECK(text_end_is_for(end, text.end));
    gtel_helper_text_forward(&text, &log, "nvml");
    CHECK_INT(said.n, 0);
    put(end, "one\n\n  \ntw");
    gtel_helper_text_forward(&text, &log, "nvml");
    CHECK_INT(said.n, 1);
    CHECK_STR(gtel_str_of(said.last), PREFIX "one");
    put(end, "o\nrest");
    gtel_helper_text_forward(&text, &log, "nvml");
    CHECK_INT(said.n, 2);
    CHECK_STR(gtel_str_of(said.last), PREFIX "two");
    for (int i = 0; i < 2 * GTEL_HELPER_LINE_MAX; i++)
        put(end, "x");
    gtel_helper_text_end(end);
    gtel_helper_text_close(&text, &log, "nvml");
    CHECK_INT(said.n, 3);
    CHECK_INT(strlen(said.last), strlen(PREFIX) + GTEL_HELPER_LINE_MAX);
    CHECK_INT(text.end, -1);
}

/* So many lines while it works, some more at its end, and all again once its successor works. */
static void test_limit(void)
{
    struct gtel_helper_text text;
    struct said said = {0};
    struct gtel_log log = {on_log, &said};
    unsigned begins[] = {GTEL_HELPER_LINES + 1, 0, GTEL_HELPER_LINES + 1};
    gtel_helper_text_init(&text);
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        intptr_t end;
        test_label = i == 1 ? "another that does not work either" : "limit";
        if (i == 2)
            gtel_helper_text_renew(&text);
        if (!CHECK(gtel_helper_text_open(&text, &end) == 0))
            return;
        said.n = 0;
        for (int k = 0; k < 100; k++) {
            put(end, "again\n");
            gtel_helper_text_forward(&text, &log, "nvml");
        }
        if (begins[i] > 0)
            CHECK_INT(said.n, GTEL_HELPER_LINES - GTEL_HELPER_LAST_LINES + 1);
        for (int k = 0; k < 100; k++)
            put(end, "the end\n");
        gtel_helper_text_end(end);
        gtel_helper_text_close(&text, &log, "nvml");
        CHECK_INT(said.n, begins[i]);
    }
    CHECK(strstr(said.last, "dropped") != NULL);
}

/* A helper that writes and writes gets an error and does not wait; nor does who reads nothing. */
static void test_full(void)
{
    struct gtel_helper_text text;
    struct said said = {0};
    struct gtel_log log = {on_log, &said};
    char block[4096];
    intptr_t end;
    test_label = "full";
    memset(block, 'y', sizeof(block));
    gtel_helper_text_init(&text);
    if (!CHECK(gtel_helper_text_open(&text, &end) == 0))
        return;
    int64_t n;
    int64_t written = 0;
    while ((n = text_end_write(end, block, sizeof(block))) > 0)
        written += n;
    CHECK(n == 0 && written >= 4096);
    gtel_helper_text_forward(&text, &log, "nvml");
    put(end, "\n"); /* there is room again */
    gtel_helper_text_forward(&text, &log, "nvml");
    CHECK_INT(said.n, 1);
    gtel_helper_text_end(end);
    gtel_helper_text_close(&text, &log, "nvml");
}

int main(void)
{
    test_lines();
    test_limit();
    test_full();
    return test_result();
}
