/* SPDX-License-Identifier: MIT */
/* A folder with tools that play what a test says: see fakes/tool.c. */
#ifndef GTEL_TESTS_HARNESS_PLAYED_TOOL_H
#define GTEL_TESTS_HARNESS_PLAYED_TOOL_H

#include "base/str.h"

enum { TOOL_PATH_MAX = 256 };

struct played_tools {
    char folder[64];
};

/* Makes an empty folder; false when that fails. */
bool played_tools_init(struct played_tools *tools);
/* Removes it with all that is in it. */
void played_tools_done(const struct played_tools *tools);
/* The path of a tool in buf, of TOOL_PATH_MAX bytes; returns buf. */
const char *played_tool(const struct played_tools *tools, const char *name, char *buf);
/* What that tool does from now on with that first word: how ("0 plain") and what it prints. */
void played_tool_says(const struct played_tools *tools, const char *name, const char *word,
                      const char *how, struct gtel_str text);

#endif
