/* SPDX-License-Identifier: MIT */
/* A recorded machine with Level Zero on which everything moves. */
#include "harness/moving_machine.h"

#include <math.h>

enum { WORDS_MAX = 64 };

/* Battlemage's counters of energy restart there: 2^18 J in microjoules (sysman/power.c). */
static const double wrap_uj = 262144000000;

/* How a number of an answer moves: by work done, by time, by steps, in turn, or not at all. */
enum way {
    AS_IT_IS,
    BY_WORK,  /* grows by so much in a second of work */
    BY_TIME,  /* grows by so much in a second */
    BY_STEP,  /* grows by so much in each step */
    IN_TURN,  /* differs by up to four times so much */
    BY_CLOCK, /* the same, and 0 where the GPU stands */
    BY_PEAK   /* grows by so much of the third number in a second of work */
};

struct number {
    enum way way;
    double by;
};

static const struct moving_call {
    struct gtel_str name;
    struct number number[16]; /* of the last call the first is of all */
} calls[] = {
    {GTEL_STR_INIT("zesPowerGetEnergyCounter"), {{BY_WORK, 120e6}, {BY_TIME, 1e6}}},
    {GTEL_STR_INIT("zesFrequencyGetThrottleTime"), {{BY_WORK, 5e5}, {BY_TIME, 1e6}}},
    {GTEL_STR_INIT("zesMemoryGetBandwidth"),
     {{BY_PEAK, 0.6}, {BY_PEAK, 0.3}, {AS_IT_IS, 0}, {BY_TIME, 1e6}}},
    {GTEL_STR_INIT("zesDevicePciGetStats"),
     {{BY_TIME, 1e6}, {BY_STEP, 1}, {AS_IT_IS, 0}, {BY_WORK, 1e9}, {BY_WORK, 2e9}}},
    {GTEL_STR_INIT("zesFabricPortGetThroughput"), {{BY_TIME, 1e6}, {BY_WORK, 3e9}, {BY_WORK, 4e9}}},
    {GTEL_STR_INIT("zesFabricPortGetFabricErrorCounters"), {{BY_STEP, 1}}},
    {GTEL_STR_INIT("zesRasGetState"), {{BY_STEP, 1}, {BY_STEP, 2}, {BY_STEP, 1}}},
    {GTEL_STR_INIT("zesRasGetStateExp"),
     {{AS_IT_IS, 0}, {BY_STEP, 1}, {AS_IT_IS, 0}, {BY_STEP, 2}}},
    {GTEL_STR_INIT("zesTemperatureGetState"), {{IN_TURN, 0.5}}},
    {GTEL_STR_INIT("zesFrequencyGetState"),
     {{AS_IT_IS, 0}, {IN_TURN, 50}, {AS_IT_IS, 0}, {AS_IT_IS, 0}, {BY_CLOCK, 50}}},
    {GTEL_STR_INIT("zesMemoryGetState"), {{AS_IT_IS, 0}, {IN_TURN, 16}}},
    {GTEL_STR_INIT("zesFanGetState"), {{IN_TURN, 10}}},
    {GTEL_STR_INIT("zesDeviceProcessesGetState"), {{AS_IT_IS, 0}, {IN_TURN, 64}}},
    {GTEL_STR_INIT("zetMetricGroupCalculateMetricValues"), {{IN_TURN, 1}}},
};

/* What has passed until a state. */
struct state {
    double seconds;
    double busy; /* of that */
    double work;
    size_t step;
    enum moving_mood mood;
};

static double moved(const struct number *number, double value, double peak,
                    const struct state *state)
{
    double turn = (double)(state->step * 7 % 5);
    switch (number->way) {
    case BY_WORK:
        return value + number->by * state->work;
    case BY_PEAK:
        return value + number->by * state->work * peak;
    case BY_TIME:
        return value + number->by * state->seconds;
    case BY_STEP:
        return value + number->by * (double)state->step;
    case IN_TURN:
        return value > 0 ? value + number->by * turn : value;
    case BY_CLOCK:
        return state->mood == MOVING_WORKS && value > 0 ? value - number->by * turn : 0;
    default:
        return value;
    }
}

static const struct moving_call *call_of(struct gtel_str name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (gtel_str_eq(calls[i].name, name))
            return &calls[i];
    return NULL;
}

static const struct number *number_of(const struct moving_call *call, size_t i)
{
    static const struct number none = {AS_IT_IS, 0};
    bool is_last = call == &calls[sizeof(calls) / sizeof(calls[0]) - 1];
    if (is_last)
        return &call->number[0];
    return i < sizeof(call->number) / sizeof(call->number[0]) ? &call->number[i] : &none;
}

/* "NAME DEVICE … = NUMBERS"; nothing where the answer does not begin with a number. */
static void put_call(struct gtel_buf *buf, struct gtel_str line, const struct state *state)
{
    struct gtel_str rest = gtel_str_skip(line, gtel_str_find(line, '=') + 1);
    struct gtel_str name;
    struct gtel_str word[WORDS_MAX];
    double value[WORDS_MAX] = {0};
    size_t n = 0;
    (void)gtel_str_word(&line, &name); /* "call" */
    (void)gtel_str_word(&line, &name);
    const struct moving_call *call = call_of(name);
    while (n < WORDS_MAX && gtel_str_word(&rest, &word[n])) {
        bool is_number = gtel_str_f64(word[n], &value[n]) == 0;
        if (!is_number && n == 0)
            return;
        n++;
    }
    if (!call || n == 0)
        return;
    gtel_buf_printf(buf, "call %.*s %.*s=", GTEL_STR_ARG(name), (int)gtel_str_find(line, '='),
                    line.p);
    for (size_t i = 0; i < n; i++) {
        const struct number *number = number_of(call, i);
        double now = moved(number, value[i], value[2], state);
        if (number->way == AS_IT_IS)
            gtel_buf_printf(buf, " %.*s", GTEL_STR_ARG(word[i]));
        else
            gtel_buf_printf(buf, " %.15g", call == &calls[0] ? fmod(now, wrap_uj) : now);
    }
    gtel_buf_char(buf, '\n');
}

static void put_state(struct gtel_buf *buf, struct gtel_str head, const struct moving_gpu *gpus,
                      const struct state *state)
{
    struct gtel_str line;
    gtel_buf_printf(buf, "at %.0fs\n", state->seconds);
    for (; gpus->folder; gpus++) {
        if (state->step == 1)
            gtel_buf_printf(buf,
                            "file %s/power/control\n| auto\n"
                            "file %s/power/autosuspend_delay_ms\n| 1000\n",
                            gpus->folder, gpus->folder);
        gtel_buf_printf(buf, "file %s/power/runtime_status\n| %s\n", gpus->folder,
                        state->mood == MOVING_SLEEPS ? "suspended" : "active");
        if (gpus->idle)
            gtel_buf_printf(buf, "file %s/%s\n| %.0f\n", gpus->folder, gpus->idle,
                            5000 + 1000 * (state->seconds - state->busy));
    }
    while (gtel_str_line(&head, &line))
        if (gtel_str_starts(line, GTEL_STR("call ")))
            put_call(buf, line, state);
}

/* The text before its first later state. */
static struct gtel_str head_of(const char *text)
{
    struct gtel_str rest = gtel_str_of(text);
    struct gtel_str line;
    const char *start = rest.p;
    while (gtel_str_line(&rest, &line) && !gtel_str_starts(line, GTEL_STR("at ")) &&
           !gtel_str_eq(line, GTEL_STR("end")))
        start = rest.p;
    return (struct gtel_str){text, (size_t)(start - text)};
}

void moving_machine(struct gtel_buf *buf, const char *text, const struct moving_gpu *gpus,
                    const struct moving_step *step, size_t n)
{
    struct gtel_str head = head_of(text);
    struct state state = {0};
    gtel_buf_str(buf, head);
    for (size_t i = 0; i < n; i++) {
        double load = step[i].mood == MOVING_WORKS ? 0.2 + 0.1 * (double)(i * 3 % 5) : 0;
        state.seconds += step[i].seconds;
        state.busy += step[i].mood == MOVING_WORKS ? step[i].seconds : 0;
        state.work += load * step[i].seconds;
        state.step = i + 1;
        state.mood = step[i].mood;
        put_state(buf, head, gpus, &state);
    }
    gtel_buf_printf(buf, "end\n");
}
