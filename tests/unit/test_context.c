/* SPDX-License-Identifier: MIT */
/* The context on a machine without GPUs, and its log. */
#include "gtel.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <errno.h>

struct record {
    unsigned begins;
    unsigned puts;
    unsigned of_metric[GTEL_M_COUNT];
    unsigned logs;
    char last[512];
};

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct record *record = arg;
    CHECK(wall_ns > 0);
    record->begins++;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct record *record = arg;
    CHECK_INT(aspect, GTEL_ASPECT_VALUE);
    record->puts++;
    record->of_metric[reading->metric]++;
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct record *record = arg;
    (void)level;
    record->logs++;
    (void)gtel_str_copy(record->last, sizeof(record->last), gtel_str_of(text));
}

static void test_no_gpu(void)
{
    struct record record = {0};
    struct gtel_sink sink = {&record, on_begin, on_put, on_end};
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_context *context = NULL;
    char error[128];
    if (!CHECK(gtel_tree_parse(GTEL_STR("end\n"), &tree, error, sizeof(error)) == 0))
        return;
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
    env.log = (struct gtel_log){on_log, &record};
    gtel_options_init(&options);
    struct gtel_setup setup = {.env = &env, .options = &options, .sink = &sink};
    CHECK_INT(gtel_context_new(&setup, &context), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(gtel_context_gather(context), 0);
        gtel_env_tree_step(&env, 1000000000);
    }
    CHECK_INT(record.begins, 5);
    CHECK_INT(record.of_metric[GTEL_M_SELF_GPUS], 5);
    CHECK_INT(record.of_metric[GTEL_M_GPU_UP], 0);
    CHECK_INT(record.logs, 1); /* said once */
    CHECK(strstr(record.last, "no GPU found") != NULL);
    gtel_context_free(context);

    char bad[64];
    CHECK_INT(gtel_option_set(&options, GTEL_O_SOURCES, GTEL_STR("nosuch"), bad, sizeof(bad)), 0);
    CHECK_INT(gtel_context_new(&setup, &context), -EINVAL);
    CHECK(strstr(record.last, "nosuch") != NULL);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
}

int main(void)
{
    test_no_gpu();
    return test_result();
}
