/* SPDX-License-Identifier: MIT */
/* The option table. */
#include "tables/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct gtel_option_row rows[] = {
#define GTEL_OPTION(id_, name_, type_, preset_, min_, max_, where_, text_)                         \
    [GTEL_O_##id_] = {name_, GTEL_OPTION_##type_, preset_, min_, max_, GTEL_OPTION_##where_, text_},
#include "tables/options.def"
#undef GTEL_OPTION
};

const struct gtel_option_row *gtel_option_row(enum gtel_option id)
{
    return &rows[id];
}

/* Next letter of a name without separators and case, or 0 at its end. */
static char next_letter(struct gtel_str *s)
{
    while (s->n > 0) {
        char c = s->p[0];
        *s = gtel_str_skip(*s, 1);
        if (c != '-' && c != '_')
            return gtel_lower(c);
    }
    return '\0';
}

static bool names_equal(struct gtel_str a, struct gtel_str b)
{
    for (;;) {
        char ca = next_letter(&a);
        char cb = next_letter(&b);
        if (ca != cb)
            return false;
        if (ca == '\0')
            return true;
    }
}

enum gtel_option gtel_option_find(struct gtel_str name, enum gtel_option_where where)
{
    for (size_t i = 0; i < GTEL_O_COUNT; i++)
        if ((rows[i].where & where) != 0 && names_equal(name, gtel_str_of(rows[i].name)))
            return (enum gtel_option)i;
    return GTEL_O_COUNT;
}

/* The bounds of a row are written by us, so they parse. */
static uint64_t bound(const struct gtel_option_row *row, const char *text)
{
    uint64_t v = 0;
    if (row->type == GTEL_OPTION_DURATION)
        (void)gtel_str_duration(gtel_str_of(text), &v);
    else
        (void)gtel_str_u64(gtel_str_of(text), &v);
    return v;
}

static int parse_choice(const struct gtel_option_row *row, struct gtel_str text, uint64_t *ret)
{
    struct gtel_str rest = gtel_str_of(row->min);
    struct gtel_str word;
    for (uint64_t i = 0; gtel_str_part(&rest, ',', &word); i++) {
        if (gtel_str_eq(word, text)) {
            *ret = i;
            return 0;
        }
    }
    return -EINVAL;
}

/* Any number of the words, or none; blanks around them are fine. */
static int parse_words(const struct gtel_option_row *row, struct gtel_str text, uint64_t *ret)
{
    struct gtel_str word;
    uint64_t bits = 0;
    if (text.n >= GTEL_OPTION_TEXT_MAX)
        return -ERANGE;
    while (gtel_str_part(&text, ',', &word)) {
        uint64_t position = 0;
        int r = parse_choice(row, gtel_str_trim(word), &position);
        if (r < 0)
            return r;
        bits |= (uint64_t)1 << position;
    }
    *ret = bits;
    return 0;
}

static int parse_value(const struct gtel_option_row *row, struct gtel_str text, uint64_t *ret)
{
    int r = 0;
    if (row->type == GTEL_OPTION_CHOICE)
        return parse_choice(row, text, ret);
    if (row->type == GTEL_OPTION_WORDS)
        return parse_words(row, text, ret);
    if (row->type == GTEL_OPTION_PATH && text.n > 0 && text.p[0] != '/')
        return -EINVAL;
    if (row->type == GTEL_OPTION_TEXT || row->type == GTEL_OPTION_PATH)
        return text.n < GTEL_OPTION_TEXT_MAX ? 0 : -ERANGE;
    if (row->type == GTEL_OPTION_DURATION)
        r = gtel_str_duration(text, ret);
    else
        r = gtel_str_u64(text, ret);
    if (r < 0)
        return r;
    return *ret < bound(row, row->min) || *ret > bound(row, row->max) ? -ERANGE : 0;
}

/* A sentence for each type: the name, the text in two words, min and max of the row. */
static const char *const complaints[] = {
    [GTEL_OPTION_DURATION] = "%s: '%.*s' is not a time from %s to %s (as 500ms, 10s, 2m)",
    [GTEL_OPTION_COUNT] = "%s: '%.*s' is not a number from %s to %s",
    [GTEL_OPTION_CHOICE] = "%s: '%.*s' is not one of: %s",
    [GTEL_OPTION_WORDS] = "%s: '%.*s' is no list (with commas) of some of: %s",
    [GTEL_OPTION_TEXT] = "%s: '%.*s…' is longer than 255 bytes",
    [GTEL_OPTION_PATH] = "%s: '%.*s' is not an absolute path, as %s",
};
_Static_assert(GTEL_OPTION_TEXT_MAX == 256, "as the sentence says");

static void explain(const struct gtel_option_row *row, struct gtel_str text, char *error,
                    size_t size)
{
    bool is_long = row->type == GTEL_OPTION_PATH && text.n > 0 && text.p[0] == '/';
    const char *complaint = complaints[is_long ? GTEL_OPTION_TEXT : row->type];
    text = gtel_str_head(text, 80);
    (void)snprintf(error, size, complaint, row->name, GTEL_STR_ARG(text), row->min, row->max);
}

int gtel_option_set(struct gtel_options *options, enum gtel_option id, struct gtel_str text,
                    char *error, size_t size)
{
    const struct gtel_option_row *row = &rows[id];
    text = gtel_str_trim(text);
    uint64_t number = 0;
    int r = parse_value(row, text, &number);
    if (r < 0) {
        explain(row, text, error, size);
        return r;
    }
    options->value[id].number = number;
    options->value[id].is_given = true;
    (void)gtel_str_copy(options->value[id].text, sizeof(options->value[id].text), text);
    return 0;
}

void gtel_options_init(struct gtel_options *options)
{
    *options = (struct gtel_options){0};
    for (size_t i = 0; i < GTEL_O_COUNT; i++) {
        char error[1];
        (void)gtel_option_set(options, (enum gtel_option)i, gtel_str_of(rows[i].preset), error,
                              sizeof(error)); /* our own defaults are in range: unit.options */
        options->value[i].is_given = false;
    }
}

uint64_t gtel_option_number(const struct gtel_options *options, enum gtel_option id)
{
    return options->value[id].number;
}

struct gtel_str gtel_option_text(const struct gtel_options *options, enum gtel_option id)
{
    return gtel_str_of(options->value[id].text);
}

bool gtel_option_is(const struct gtel_options *options, enum gtel_option id, const char *text)
{
    return gtel_str_eq(gtel_option_text(options, id), gtel_str_of(text));
}

void gtel_option_flag(struct gtel_buf *buf, enum gtel_option id)
{
    gtel_buf_str(buf, GTEL_STR("--"));
    for (const char *p = rows[id].name; *p; p++) {
        if (*p != gtel_lower(*p) && p != rows[id].name)
            gtel_buf_char(buf, '-');
        gtel_buf_char(buf, gtel_lower(*p));
    }
}

void gtel_option_argument(struct gtel_buf *buf, const struct gtel_options *options,
                          enum gtel_option id)
{
    gtel_option_flag(buf, id);
    gtel_buf_char(buf, '=');
    gtel_buf_str(buf, gtel_option_text(options, id));
}

static void write_range(struct gtel_buf *buf, const struct gtel_option_row *row)
{
    if (row->type == GTEL_OPTION_CHOICE || row->type == GTEL_OPTION_WORDS) {
        struct gtel_str rest = gtel_str_of(row->min);
        struct gtel_str word;
        if (row->type == GTEL_OPTION_WORDS)
            gtel_buf_str(buf, GTEL_STR("any of "));
        for (bool is_first = true; gtel_str_part(&rest, ',', &word); is_first = false)
            gtel_buf_printf(buf, "%s`%.*s`", is_first ? "" : ", ", GTEL_STR_ARG(word));
    } else if (row->type == GTEL_OPTION_TEXT) {
        gtel_buf_str(buf, GTEL_STR("text"));
    } else if (row->type == GTEL_OPTION_PATH) {
        gtel_buf_str(buf, GTEL_STR("absolute path"));
    } else {
        gtel_buf_printf(buf, "%s to %s", row->min, row->max);
    }
}

void gtel_options_write(struct gtel_buf *buf, enum gtel_option_where where)
{
    gtel_buf_str(buf, GTEL_STR("| option | default | values | meaning |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < GTEL_O_COUNT; i++) {
        if ((rows[i].where & where) == 0)
            continue;
        gtel_buf_str(buf, GTEL_STR("| `"));
        if (where == GTEL_OPTION_EXECD)
            gtel_option_flag(buf, (enum gtel_option)i);
        else
            gtel_buf_str(buf, gtel_str_of(rows[i].name));
        if (rows[i].preset[0])
            gtel_buf_printf(buf, "` | `%s` | ", rows[i].preset);
        else
            gtel_buf_str(buf, GTEL_STR("` | (empty) | "));
        write_range(buf, &rows[i]);
        gtel_buf_printf(buf, " | %s |\n", rows[i].text);
    }
}
