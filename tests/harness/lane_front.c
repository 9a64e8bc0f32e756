/* SPDX-License-Identifier: MIT */
/* A lane as its front end has it. */
#include "harness/lane_front.h"

#include "harness/lane_way.h"
#include "harness/test.h"
#include "recording/tree.h"

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct lane_front *front = arg;
    front->level = level;
    front->logs++;
    (void)gtel_str_copy(front->log, sizeof(front->log), gtel_str_of(text));
    gtel_buf_printf(&front->all, "%s\n", text);
}

bool lane_front_open(struct lane_front *front, const char *text)
{
    char error[200];
    *front = (struct lane_front){.peer = -1};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &front->tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(front->tree, true, 0, &front->env) == 0))
        return false;
    front->env.log = (struct gtel_log){on_log, front};
    gtel_options_init(&front->options);
    gtel_buf_init(&front->buf, 1 << 20);
    gtel_buf_init(&front->all, 1 << 20);
    struct gtel_lane_setup setup = {.name = "kernel",
                                    .env = &front->env,
                                    .options = &front->options,
                                    .helper = "/nonexistent/gtel"};
    return CHECK(gtel_lane_init(&front->lane, &setup) == 0);
}

void lane_front_hang_up(struct lane_front *front)
{
    if (front->peer != -1)
        lane_way_close(front->peer);
    front->peer = -1;
}

void lane_front_close(struct lane_front *front)
{
    lane_front_hang_up(front);
    gtel_lanes_done(&front->lane, 1, 0);
    gtel_buf_done(&front->buf);
    gtel_buf_done(&front->all);
    gtel_batch_done(&front->batch);
    gtel_registry_done(&front->registry);
    gtel_env_tree_done(&front->env);
    gtel_tree_free(front->tree);
}
