/* SPDX-License-Identifier: MIT */
/* Messages as Telegraf reads them. */
#include "execd/out.h"

#include <string.h>

static void write_message(void *arg, enum gtel_log_level level, const char *text)
{
    enum { MESSAGE_MAX = 500 };
    static const char letters[] = "EWID";
    char line[MESSAGE_MAX] = "E! ";
    (void)arg;
    if ((unsigned)level < sizeof(letters) - 1)
        line[0] = letters[level];
    gtel_str_clean(line + 3, sizeof(line) - 4, gtel_str_of(text)); /* what is cut, between two */
    size_t n = strlen(line);
    line[n++] = '\n';
    gtel_out_message((struct gtel_str){line, n});
}

struct gtel_log gtel_out_log(void)
{
    return (struct gtel_log){.write = write_message};
}
