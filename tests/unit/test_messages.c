/* SPDX-License-Identifier: MIT */
/* Messages and tables: whatever comes from outside, no byte of it steers a terminal. */
#include "base/buf.h"
#include "host/env.h"
#include "harness/test.h"

enum { ROOM = 700 };

struct heard {
    char text[ROOM];
    int n;
};

static void hear(void *arg, enum gtel_log_level level, const char *text)
{
    struct heard *heard = arg;
    (void)level;
    (void)snprintf(heard->text, sizeof(heard->text), "%s", text);
    heard->n++;
}

static const struct {
    const char *label;
    const char *text;
    const char *want; /* as a message */
    const char *page; /* as a table; NULL: the same */
} cases[] = {
    {"plain", "card0: 5 W", "card0: 5 W", NULL},
    {"a colour", "\033[31mred\033[0m", "?[31mred?[0m", NULL},
    {"a title", "\033]0;x\007", "?]0;x?", NULL},
    {"the same in C1",
     "\x9b"
     "31m\x9d"
     "0;x\x9c",
     "?31m?0;x?", NULL},
    {"the same in UTF-8",
     "\xc2\x9b"
     "31m\xc2\x9d"
     "0;x\xc2\x9c",
     "??31m??0;x??", NULL},
    {"first and last of C1", "\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0", NULL},
    {"DEL and backspace", "a\x7f\bb", "a??b", NULL},
    {"lines", "a\nb\r\nc\td", "a b? c d", "a\nb?\nc?d"},
    {"other languages", "G\xc3\xa4nge \xe2\x82\xac \xf0\x9f\x98\x80",
     "G\xc3\xa4nge \xe2\x82\xac \xf0\x9f\x98\x80", NULL},
    {"no UTF-8", "\xff\xfe\xc0\x80\xed\xa0\x80 \xf5\x80\x80\x80", "??????? ????", NULL},
};

static void test_cases(void)
{
    struct heard heard = {.n = 0};
    const struct gtel_log log = {.write = hear, .arg = &heard};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_buf buf;
        test_label = cases[i].label;
        gtel_log(&log, GTEL_LOG_ERROR, "%s", cases[i].text);
        CHECK_STR(gtel_str_of(heard.text), cases[i].want);
        gtel_buf_init(&buf, ROOM);
        gtel_buf_str(&buf, gtel_str_of(cases[i].text));
        gtel_buf_clean(&buf);
        CHECK_STR(gtel_buf_text(&buf), cases[i].page ? cases[i].page : cases[i].want);
        gtel_buf_done(&buf);
    }
    CHECK_INT(heard.n, GTEL_ARRAY_LEN(cases));
}

/* Each byte by itself, and each behind the first byte of a longer character. */
static void test_bytes(void)
{
    struct heard heard = {.n = 0};
    const struct gtel_log log = {.write = hear, .arg = &heard};
    test_label = "bytes";
    for (unsigned first = 0; first < 0x100; first++)
        for (unsigned c = 1; c < 0x100; c++) {
            const char text[] = {(char)(first ? first : 'a'), (char)c, 'z', '\0'};
            gtel_log(&log, GTEL_LOG_INFO, "%s", text);
            bool is_c1 =
                (unsigned char)heard.text[0] == 0xc2 && (unsigned char)heard.text[1] < 0xa0;
            bool is_bad = is_c1;
            for (const char *p = heard.text; *p; p++)
                is_bad |= (unsigned char)*p < ' ' || *p == 0x7f;
            is_bad |= (unsigned char)heard.text[0] >= 0x80 && (unsigned char)heard.text[0] < 0xc2;
            if (is_bad)
                CHECK(!is_bad);
        }
    CHECK_INT(heard.n, 0x100 * 0xff);
}

/* A cut never leaves half a character. */
static void test_long(void)
{
    struct heard heard = {.n = 0};
    const struct gtel_log log = {.write = hear, .arg = &heard};
    char text[ROOM];
    for (size_t lead = 0; lead < 3; lead++) {
        size_t n = lead;
        memset(text, 'a', lead);
        for (; n + 3 < sizeof(text); n += 3)
            memcpy(text + n, "\xe2\x82\xac", 3);
        text[n] = '\0';
        test_label = "long";
        gtel_log(&log, GTEL_LOG_WARNING, "%s", text);
        size_t got = strlen(heard.text);
        CHECK(got > 490 && got < 500 && (got - lead) % 3 == 0);
        CHECK(memcmp(heard.text, text, got) == 0);
    }
}

static void test_empty(void)
{
    struct gtel_buf buf;
    test_label = "empty";
    gtel_buf_init(&buf, 10);
    gtel_buf_clean(&buf);
    CHECK_INT(buf.n, 0);
    gtel_buf_bytes(&buf, "\0\xe2\x82", 3); /* a NUL, and a character without its end */
    gtel_buf_clean(&buf);
    CHECK_STR(gtel_buf_text(&buf), "???");
    gtel_buf_done(&buf);
}

int main(void)
{
    test_cases();
    test_bytes();
    test_long();
    test_empty();
    return test_result();
}
