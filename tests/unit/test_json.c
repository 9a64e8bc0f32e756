/* SPDX-License-Identifier: MIT */
/* Texts and numbers in JSON, with the names that lead to them. */
#include "parse/json.h"

#include "base/buf.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

/* "a.b=text;" for a value, "a.b!" for an end. */
static void put_path(struct gtel_buf *out, const struct gtel_json_path *path)
{
    for (size_t i = 0; i < path->n; i++) {
        gtel_buf_str(out, gtel_str_of(i > 0 ? "." : ""));
        gtel_buf_str(out, path->key[i]);
    }
}

static void on_value(void *arg, const struct gtel_json_path *path, struct gtel_str text)
{
    put_path(arg, path);
    gtel_buf_char(arg, '=');
    gtel_buf_str(arg, text);
    gtel_buf_char(arg, ';');
}

static void on_end(void *arg, const struct gtel_json_path *path)
{
    put_path(arg, path);
    gtel_buf_char(arg, '!');
}

static int read_text(struct gtel_str text, struct gtel_buf *out)
{
    const struct gtel_json_visitor visitor = {out, on_value, on_end};
    void *memory = malloc(gtel_json_memory(text.n));
    int r = CHECK(memory != NULL) ? gtel_json_read(text, memory, &visitor) : -ENOMEM;
    free(memory);
    return r;
}

#define KEY63 "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"

static const struct {
    const char *label;
    const char *text;
    int r;
    const char *want;
} cases[] = {
    {"nothing", "", -EBADMSG, ""},
    {"blanks", " \n", -EBADMSG, ""},
    {"an empty object", "{}", 0, "!"},
    {"an empty array", "[]", 0, "!"},
    {"a number alone", "1", 0, "=1;"},
    {"a text alone", "\"a\"", 0, "=a;"},
    {"values", "{\"a\": 1, \"b\": -2.5e3, \"c\": \"x\", \"d\": \"\"}", 0, "a=1;b=-2.5e3;c=x;d=;!"},
    {"no values", "{\"a\": true, \"b\": false, \"c\": null, \"d\": 0}", 0, "d=0;!"},
    {"positions", "[true, 1, [2, 3], {\"a\": 4}, null, 5]", 0, "1=1;2.0=2;2.1=3;2!3.a=4;3!5=5;!"},
    {"nested", "{\"a\": {\"b\": [{\"c\": 1}]}, \"d\": 2}", 0, "a.b.0.c=1;a.b.0!a.b!a!d=2;!"},
    {"a name again", "{\"a\": 1, \"a\": 2}", 0, "a=1;a=2;!"},
    {"escapes", "{\"a\\u0042\\n\": \"\\\"\\\\\\/\\t\\u20ac\"}", 0, "aB\n=\"\\/\t\xe2\x82\xac;!"},
    {"no UTF-8", "{\"a\": \"\xff\xfe\"}", 0, "a=\xff\xfe;!"},
    {"what follows", "{\"a\": 1}\n{\"b\": 2}", 0, "a=1;!"},
    {"garbage follows", "[1] and more", 0, "0=1;!"},
    {"a long name", "{\"" KEY63 "\": 1, \"" KEY63 "k\": 2}", 0, KEY63 "=1;=2;!"},
    {"as deep as can be", "[[[[[[[[1]]]]]]]]", 0,
     "0.0.0.0.0.0.0.0=1;0.0.0.0.0.0.0!0.0.0.0.0.0!0.0.0.0.0!0.0.0.0!0.0.0!0.0!0!!"},
    {"too deep", "[1, [[[[[[[[2]]]]]]]]]", -E2BIG, "0=1;"},
    {"cut in a text", "{\"a\": {\"b\": 1}, \"c\": \"x", -EBADMSG, "a.b=1;a!"},
    {"cut in a number", "[1, 2", -EBADMSG, "0=1;1=2;"},
    {"cut in a name", "{\"a", -EBADMSG, ""},
    {"cut behind a name", "{\"a\":", -EBADMSG, ""},
    {"no comma", "[1 2]", -EBADMSG, "0=1;"},
    {"no JSON", "{'a': 1}", -EBADMSG, ""},
    {"NaN", "{\"a\": 1, \"b\": NaN}", -EBADMSG, "a=1;"},
    {"a line break in a text", "{\"a\": \"x\ny\"}", -EBADMSG, ""},
    {"an end too many", "]", -EBADMSG, ""},
    {"another end", "[1}", -EBADMSG, "0=1;"},
};

static void test_read(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_buf out;
        gtel_buf_init(&out, 4096);
        test_label = cases[i].label;
        CHECK_INT(read_text(gtel_str_of(cases[i].text), &out), cases[i].r);
        CHECK_STR(gtel_buf_text(&out), cases[i].want);
        gtel_buf_done(&out);
    }
    test_label = "";
}

/* Its memory suffices for texts with escapes of any length, and for the end of one that is cut. */
static void test_memory(void)
{
    static const size_t sizes[] = {1, 100, 2047, 2048, 4096, 65535, 65536, 1000000, 2097152};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gtel_buf text;
        struct gtel_buf out;
        gtel_buf_init(&text, 8 << 20);
        gtel_buf_init(&out, 8 << 20);
        gtel_buf_str(&text, GTEL_STR("[\""));
        for (size_t n = 0; n < sizes[i] / 2; n++)
            gtel_buf_str(&text, GTEL_STR("\\n"));
        gtel_buf_str(&text, GTEL_STR("\", \""));
        for (size_t n = 0; n < sizes[i]; n++)
            gtel_buf_char(&text, 'x');
        CHECK_INT(read_text(gtel_buf_text(&text), &out), -EBADMSG);
        CHECK_INT(out.n, 3 + sizes[i] / 2);
        gtel_buf_done(&text);
        gtel_buf_done(&out);
    }
}

static void test_find(void)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"{}", "{}"},
        {"[1]", "[1]"},
        {"text", ""},
        {"text\n", ""},
        {"text { not at the front\n{\"a\"", "{\"a\""},
        {"a\n\nb\r\n[\n{", "[\n{"},
        {" {", ""},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_STR(gtel_json_find(gtel_str_of(texts[i][0])), texts[i][1]);
}

int main(void)
{
    test_read();
    test_memory();
    test_find();
    return test_result();
}
