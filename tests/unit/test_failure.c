/* SPDX-License-Identifier: MIT */
/* Failures are logged when they begin and when they are over. */
#include "base/error.h"
#include "host/env.h"
#include "harness/test.h"

struct last {
    char text[200];
    enum gtel_log_level level;
};

static void keep(void *arg, enum gtel_log_level level, const char *text)
{
    struct last *last = arg;
    last->level = level;
    (void)snprintf(last->text, sizeof(last->text), "%s", text);
}

/* One try after the other, and what is logged for each. */
static const struct {
    const char *label;
    int r;
    const char *fix;
    const char *want; /* empty: nothing */
    enum gtel_log_level level;
} steps[] = {
    {"fine from the start", 0, "", "", GTEL_LOG_INFO},
    {"not here", -ENOENT, "", "", GTEL_LOG_INFO},
    {"it begins to fail", -EIO, "trying again", "x: y 3: Input/output error; trying again",
     GTEL_LOG_WARNING},
    {"the same again", -EIO, "trying again", "", GTEL_LOG_INFO},
    {"in another way", -EACCES, "ask root", "", GTEL_LOG_INFO},
    {"it is over", 0, "", "x: y 3: works again", GTEL_LOG_INFO},
    {"fine", 0, "", "", GTEL_LOG_INFO},
    {"without advice", -EACCES, "", "x: y 3: Permission denied", GTEL_LOG_WARNING},
    {"absent now", -ENOENT, "", "x: y 3: No such file or directory", GTEL_LOG_INFO},
    {"fine again", 0, "", "", GTEL_LOG_INFO},
};

static void test_steps(void)
{
    struct last last;
    const struct gtel_log log = {.write = keep, .arg = &last};
    int error = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(steps); i++) {
        test_label = steps[i].label;
        last = (struct last){.level = GTEL_LOG_INFO};
        gtel_failure_log(&log, &error, steps[i].r, steps[i].fix, "x: y %d", 3);
        CHECK_INT(error, steps[i].r);
        CHECK_STR(gtel_str_of(last.text), steps[i].want);
        CHECK_INT(last.level, steps[i].level);
    }
}

int main(void)
{
    test_steps();
    return test_result();
}
