/* SPDX-License-Identifier: MIT */
/* Lines of ld.so.conf, and the patterns in them. */
#include "parse/ldso.h"
#include "harness/test.h"

static const struct {
    const char *line;
    enum gtel_ldso_line kind;
    const char *text;
} lines[] = {
    {"/usr/local/lib", GTEL_LDSO_FOLDER, "usr/local/lib"},
    {"  /opt/x y/lib//  ", GTEL_LDSO_FOLDER, "opt/x y/lib"},
    {"/opt/a # and why", GTEL_LDSO_FOLDER, "opt/a"},
    {"/lib=libc6", GTEL_LDSO_FOLDER, "lib"},
    {"//lib", GTEL_LDSO_FOLDER, "lib"},
    {"/includes", GTEL_LDSO_FOLDER, "includes"},
    {"include /etc/ld.so.conf.d/*.conf", GTEL_LDSO_INCLUDE, "/etc/ld.so.conf.d/*.conf"},
    {"\tinclude\tld.so.conf.d/*.conf b", GTEL_LDSO_INCLUDE, "ld.so.conf.d/*.conf b"},
    {"include a", GTEL_LDSO_INCLUDE, "a"},
    {"include", GTEL_LDSO_NOTHING, ""},
    {"include ", GTEL_LDSO_NOTHING, ""},
    {"include # none", GTEL_LDSO_NOTHING, ""},
    {"hwcap 1 /lib", GTEL_LDSO_NOTHING, ""},
    {"# /usr/lib", GTEL_LDSO_NOTHING, ""},
    {"relative/lib", GTEL_LDSO_NOTHING, ""},
    {"/", GTEL_LDSO_NOTHING, ""},
    {"/=libc6", GTEL_LDSO_NOTHING, ""},
    {"", GTEL_LDSO_NOTHING, ""},
};

static const struct {
    const char *pattern;
    const char *name;
    bool matches;
} patterns[] = {
    {"*.conf", "x86_64-linux-gnu.conf", true},
    {"*.conf", ".conf", true},
    {"*.conf", "a.conf.bak", false},
    {"*.conf", "conf", false},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "aXcYb", false},
    {"*", "", true},
    {"**", "x", true},
    {"?.conf", "a.conf", true},
    {"?.conf", ".conf", false},
    {"?b", "aXb", false},
    {"*ab", "aab", true},
    {"exact", "exact", true},
    {"exact", "exac", false},
    {"exac", "exact", false},
    {"", "", true},
    {"", "x", false},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct gtel_str text = {NULL, 0};
        test_label = lines[i].line;
        CHECK_INT(gtel_ldso_parse(gtel_str_of(lines[i].line), &text), lines[i].kind);
        CHECK_STR(text, lines[i].text);
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        test_label = patterns[i].pattern;
        CHECK_INT(
            gtel_ldso_matches(gtel_str_of(patterns[i].pattern), gtel_str_of(patterns[i].name)),
            patterns[i].matches);
    }
    return test_result();
}
