/* SPDX-License-Identifier: MIT */
/* A folder with tools that play what a test says. */
#include "harness/played_tool.h"

#include "harness/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool played_tools_init(struct played_tools *tools)
{
    (void)snprintf(tools->folder, sizeof(tools->folder), "/tmp/gtel-tools-XXXXXX");
    return CHECK(mkdtemp(tools->folder) != NULL);
}

void played_tools_done(const struct played_tools *tools)
{
    DIR *dir = opendir(tools->folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        char path[TOOL_PATH_MAX + 64];
        (void)snprintf(path, sizeof(path), "%s/%s", tools->folder, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(path);
    }
    if (dir)
        (void)closedir(dir);
    CHECK_INT(rmdir(tools->folder), 0);
}

const char *played_tool(const struct played_tools *tools, const char *name, char *buf)
{
    (void)snprintf(buf, TOOL_PATH_MAX, "%s/%s", tools->folder, name);
    return buf;
}

void played_tool_says(const struct played_tools *tools, const char *name, const char *word,
                      const char *how, struct gtel_str text)
{
    char tool[TOOL_PATH_MAX];
    char path[TOOL_PATH_MAX + 64];
    (void)played_tool(tools, name, tool);
    if (access(tool, X_OK) < 0)
        CHECK_INT(symlink(TEST_TOOL, tool), 0);
    (void)snprintf(path, sizeof(path), "%s.%s", tool, word);
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    (void)fprintf(file, "%s\n", how);
    CHECK_INT(fwrite(text.p, 1, text.n, file), text.n);
    CHECK_INT(fclose(file), 0);
}
