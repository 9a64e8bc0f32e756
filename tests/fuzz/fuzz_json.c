/* SPDX-License-Identifier: MIT */
/* Fuzz target: JSON, and what tools write in front of it. */
#include "fuzz/fuzz.h"
#include "parse/json.h"

#include <errno.h>

struct seen {
    struct gtel_str text;
    size_t depth; /* of the last end */
    size_t ends;
};

static void check_path(const struct gtel_json_path *path)
{
    FUZZ_CHECK(path->n <= GTEL_JSON_DEPTH);
    for (size_t i = 0; i < path->n; i++)
        FUZZ_CHECK(path->key[i].n < GTEL_JSON_KEY_MAX);
}

static void on_value(void *arg, const struct gtel_json_path *path, struct gtel_str text)
{
    const struct seen *seen = arg;
    check_path(path);
    FUZZ_CHECK(text.n <= seen->text.n);
}

static void on_end(void *arg, const struct gtel_json_path *path)
{
    struct seen *seen = arg;
    check_path(path);
    seen->depth = path->n;
    seen->ends++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {.text = gtel_json_find(fuzz_text(data, size)), .depth = GTEL_JSON_DEPTH};
    const struct gtel_json_visitor visitor = {&seen, on_value, on_end};
    char *memory = malloc(gtel_json_memory(seen.text.n));
    if (!memory)
        return 0;
    int r = gtel_json_read(seen.text, memory, &visitor);
    free(memory);
    FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -E2BIG);
    FUZZ_CHECK(seen.text.n > 0 || r == -EBADMSG);
    if (r == 0) /* it begins with an object or array, which has ended last */
        FUZZ_CHECK(seen.ends > 0 && seen.depth == 0);
    FUZZ_CHECK(seen.ends <= seen.text.n / 2);
    return 0;
}
