/* SPDX-License-Identifier: MIT */
/* A recorded machine that is recorded again. */
#include "harness/recorder.h"

#include "harness/test.h"

bool recorder_start(struct recorder *recorder, const char *text)
{
    char error[200] = "";
    *recorder = (struct recorder){0};
    gtel_buf_init(&recorder->out, 1 << 20);
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &recorder->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    gtel_record_init(&recorder->record, &recorder->scrub);
    return CHECK(gtel_env_tree_init(recorder->tree, true, 1, &recorder->inner) == 0) &&
           CHECK(gtel_record_env_init(&recorder->inner, &recorder->record, &recorder->env) == 0);
}

const char *recorder_finish(struct recorder *recorder)
{
    struct gtel_tree *back = NULL;
    char error[200] = "";
    CHECK_INT(gtel_record_write(&recorder->record, NULL, NULL, &recorder->out), 0);
    if (!CHECK(gtel_tree_parse(gtel_buf_text(&recorder->out), &back, error, sizeof(error)) == 0))
        printf("    %s\n", error);
    gtel_tree_free(back);
    gtel_buf_char(&recorder->out, '\0');
    return recorder->out.p;
}

void recorder_stop(struct recorder *recorder)
{
    gtel_record_env_done(&recorder->env);
    gtel_record_done(&recorder->record);
    gtel_scrub_done(&recorder->scrub);
    gtel_env_tree_done(&recorder->inner);
    gtel_tree_free(recorder->tree);
    gtel_buf_done(&recorder->out);
}
