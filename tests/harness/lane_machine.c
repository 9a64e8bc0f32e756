/* SPDX-License-Identifier: MIT */
/* A recorded machine read by real helper processes. */
#include "harness/lane_machine.h"

#include "harness/test.h"
#include "harness/whole_file.h"
#include "lanes/channel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_begin(void *arg, uint64_t wall_ns)
{
    struct lane_view *view = arg;
    view->sections += wall_ns > 0;
}

static void on_put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct lane_view *view = arg;
    (void)aspect;
    view->readings[reading->metric]++;
    view->last[reading->metric] = gtel_reading_number(reading);
}

static void on_end(void *arg)
{
    (void)arg;
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    struct lane_view *view = arg;
    size_t n = strlen(view->log);
    (void)level;
    view->logs++;
    (void)snprintf(view->log + n, sizeof(view->log) - n, "%s\n", text);
}

bool lane_machine_start(struct lane_machine *machine, const char *helper, const char *tree_path)
{
    size_t n = 0;
    char error[200] = "";
    char *text = read_whole_file(tree_path, &n);
    *machine = (struct lane_machine){0};
    machine->sink = (struct gtel_sink){&machine->view, on_begin, on_put, on_end};
    uint64_t epoch_ns = gtel_env_real_now();
    bool is_ok = text && gtel_tree_parse((struct gtel_str){text, n}, &machine->tree, error,
                                         sizeof(error)) == 0;
    free(text);
    if (!CHECK(is_ok))
        return false;
    CHECK_INT(gtel_env_tree_init(machine->tree, false, epoch_ns, &machine->env), 0);
    machine->env.log = (struct gtel_log){on_log, &machine->view};
    gtel_options_init(&machine->options);
    CHECK_INT(
        gtel_option_set(&machine->options, GTEL_O_RESCAN, GTEL_STR("200ms"), error, sizeof(error)),
        0);
    (void)snprintf(machine->epoch, sizeof(machine->epoch), "%llu", (unsigned long long)epoch_ns);
    machine->helper_args[0] = "--root";
    machine->helper_args[1] = tree_path;
    machine->helper_args[2] = "--epoch";
    machine->helper_args[3] = machine->epoch;
    struct gtel_setup setup = {.env = &machine->env,
                               .options = &machine->options,
                               .sink = &machine->sink,
                               .helper = helper,
                               .helper_args = machine->helper_args};
    return CHECK(gtel_context_new(&setup, &machine->context) == 0);
}

void lane_machine_stop(struct lane_machine *machine)
{
    gtel_context_free(machine->context);
    gtel_env_tree_done(&machine->env);
    gtel_tree_free(machine->tree);
}

void lane_machine_nap(unsigned ms)
{
    gtel_channel_nap((uint64_t)ms * 1000000);
}

uint64_t lane_machine_gather(struct lane_machine *machine)
{
    memset(machine->view.readings, 0, sizeof(machine->view.readings));
    uint64_t before = gtel_env_real_now();
    gtel_context_gather(machine->context);
    return gtel_env_real_now() - before;
}

bool lane_machine_has_kernel(const struct lane_machine *machine)
{
    return machine->view.readings[GTEL_M_FREQUENCY_ACTUAL] > 0 &&
           machine->view.readings[GTEL_M_ENERGY] > 0;
}

bool lane_machine_has_nvml(const struct lane_machine *machine)
{
    return machine->view.readings[GTEL_M_GPU_PERFORMANCE_STATE] > 0;
}

bool lane_machine_settle(struct lane_machine *machine)
{
    for (int i = 0; i < 100; i++) {
        (void)lane_machine_gather(machine);
        if (lane_machine_has_kernel(machine) && lane_machine_has_nvml(machine))
            return true;
        lane_machine_nap(100);
    }
    return false;
}
