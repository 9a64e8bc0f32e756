/* SPDX-License-Identifier: MIT */
/* The recorded machines of tests/fixtures. */
#include "harness/fixtures.h"

#include "host/env.h"
#include "host/fs.h"

#include <stdio.h>
#include <stdlib.h>

size_t machine_names(char names[MACHINES_MAX][MACHINE_NAME_MAX])
{
    struct gtel_env env;
    struct gtel_arena arena = {0};
    struct gtel_str *files = NULL;
    size_t n = 0;
    size_t kept = 0;
    const struct gtel_str suffix = GTEL_STR(".tree");
    if (gtel_env_posix_init(TEST_DIR, &env) < 0)
        return 0;
    if (gtel_fs_list(&env, "fixtures", &arena, 4096, &files, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n && kept < MACHINES_MAX; i++) {
        struct gtel_str name = files[i];
        if (!gtel_str_ends(name, suffix))
            continue;
        name.n -= suffix.n;
        kept += gtel_str_copy(names[kept], MACHINE_NAME_MAX, name) ? 1 : 0;
    }
    gtel_arena_done(&arena);
    gtel_env_posix_done(&env);
    return kept;
}

char *machine_text(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/fixtures/%s.tree", TEST_DIR, name);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    size_t n = file && text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file)
        (void)fclose(file);
    if (n == 0) {
        printf("%s: unreadable\n", path);
        free(text);
        return NULL;
    }
    return text;
}
