/* SPDX-License-Identifier: MIT */
/*
 * What a helper writes to its standard error leads nowhere under Windows: a writer waits there for
 * room in a full pipe (WriteFile, "Pipes"), so that a library that prints much would hang its lane.
 */
#include "lanes/helper_text.h"

void gtel_helper_text_init(struct gtel_helper_text *text)
{
    *text = (struct gtel_helper_text){.fd = -1};
}

void gtel_helper_text_forward(struct gtel_helper_text *text, const struct gtel_log *log,
                              const char *lane)
{
    (void)text;
    (void)log;
    (void)lane;
}

void gtel_helper_text_close(struct gtel_helper_text *text, const struct gtel_log *log,
                            const char *lane)
{
    gtel_helper_text_forward(text, log, lane);
}

void gtel_helper_text_renew(struct gtel_helper_text *text)
{
    text->lines = 0;
}
