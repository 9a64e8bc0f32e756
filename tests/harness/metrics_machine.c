/* SPDX-License-Identifier: MIT */
/* The source of Level Zero's metrics on recorded machines, with a spy before the played library. */
#include "harness/metrics_machine.h"

#include "harness/call_args.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <stdio.h>
#include <string.h>

struct l0metrics_spy spy;

/* A code to answer instead of the real call, or 0. */
static uint32_t spy_before(const char *name)
{
    spy.calls++;
    spy.early += strcmp(name, "zeInit") != 0 && !spy.is_started;
    spy.counted += spy.count_name && strcmp(name, spy.count_name) == 0;
    if (spy.calls == spy.fail_at || (spy.fail_all && strcmp(name, spy.fail_all) == 0)) {
        spy.failed_name = name;
        return spy.fail_code;
    }
    return 0;
}

/* What a call that has been answered opens or closes. */
static void spy_after(const char *name, uint32_t code)
{
    if (code != GTEL_ZE_SUCCESS)
        return;
    spy.is_started = spy.is_started || strcmp(name, "zeInit") == 0;
    spy.contexts += strcmp(name, "zeContextCreate") == 0;
    spy.contexts -= strcmp(name, "zeContextDestroy") == 0;
    spy.streams += strcmp(name, "zetMetricStreamerOpen") == 0;
    spy.windows += strcmp(name, "zetMetricStreamerOpen") == 0;
    spy.streams -= strcmp(name, "zetMetricStreamerClose") == 0;
    spy.enabled += strcmp(name, "zetDeviceEnableMetricsExp") == 0;
    spy.enabled -= strcmp(name, "zetDeviceDisableMetricsExp") == 0;
}

/* A list's length is asked for with 0 where there is no room (Level Zero: zetMetricGroupGet). */
#define LENGTH_init
#define LENGTH_drivers CHECK(ret || *count == 0);
#define LENGTH_list LENGTH_drivers
#define LENGTH_get
#define LENGTH_one
#define LENGTH_context
#define LENGTH_activate
#define LENGTH_open
#define LENGTH_read CHECK(ret || *size == 0);
#define LENGTH_calculate LENGTH_drivers
#define LENGTH_calculate_sets

#define APPLY_(fn, first, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_ZET_SYM(name, need, shape, type)                                                      \
    static uint32_t spy_##name GTEL_ZET_PARAMS_##shape(type)                                       \
    {                                                                                              \
        LENGTH_##shape uint32_t code = spy_before(#name);                                          \
        if (code == 0) {                                                                           \
            code = APPLY(spy.real.name, 0 GTEL_ZET_ARGS_##shape);                                  \
            spy_after(#name, code);                                                                \
        }                                                                                          \
        return code;                                                                               \
    }
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM

/* The number of groups says which one is active. */
static uint32_t spy_activate(void *context, void *handle, uint32_t count, void **group)
{
    uint32_t code = spy_zetContextActivateMetricGroups(context, handle, count, group);
    CHECK(count == 0 ? group == NULL : count == 1);
    if (code == GTEL_ZE_SUCCESS)
        spy.groups = count;
    return code;
}

/* Which streams are open, and which of them are of stalls: domain 100. */
static uint32_t spy_open_stream(void *context, void *handle, void *group,
                                struct gtel_zet_streamer_desc *desc, void *event, void **ret)
{
    uint32_t code = spy_zetMetricStreamerOpen(context, handle, group, desc, event, ret);
    struct gtel_zet_group_properties of = {.head.type = GTEL_ZET_TYPE_GROUP_PROPERTIES};
    if (code != GTEL_ZE_SUCCESS || !*ret)
        return code;
    (void)spy.real.zetMetricGroupGetProperties(group, &of);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(spy.stream); i++)
        if (!spy.stream[i].handle) {
            spy.stream[i].handle = *ret;
            spy.stream[i].is_of_stalls = of.domain == 100;
            return code;
        }
    CHECK(false);
    return code;
}

/* One of stalls is no more once it was closed, whatever that answers; and nothing closes it then.
 */
static uint32_t spy_close_stream(void *handle)
{
    uint32_t code = spy_zetMetricStreamerClose(handle);
    size_t i = 0;
    while (i < GTEL_ARRAY_LEN(spy.stream) && spy.stream[i].handle != handle)
        i++;
    if (i == GTEL_ARRAY_LEN(spy.stream)) {
        spy.dead++;
        return code;
    }
    if (code != GTEL_ZE_SUCCESS && spy.stream[i].is_of_stalls) {
        (void)spy.real.zetMetricStreamerClose(handle);
        spy.streams--;
    }
    if (code == GTEL_ZE_SUCCESS || spy.stream[i].is_of_stalls)
        spy.stream[i].handle = NULL;
    return code;
}

static void *spy_symbol(void *arg, void *lib, const char *name)
{
    void *address = spy.ops->lib_symbol(arg, lib, name);
    if (!address)
        return NULL;
#define GTEL_ZET_SYM(name_, need, shape, type)                                                     \
    if (strcmp(name, #name_) == 0) {                                                               \
        uint32_t(*thunk) GTEL_ZET_PARAMS_##shape(type) = spy_##name_;                              \
        memcpy(&spy.real.name_, &address, sizeof(address));                                        \
        memcpy(&address, &thunk, sizeof(address));                                                 \
    }
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
    if (strcmp(name, "zetContextActivateMetricGroups") == 0) {
        uint32_t (*thunk)(void *, void *, uint32_t, void **) = spy_activate;
        memcpy(&address, &thunk, sizeof(address));
    }
    if (strcmp(name, "zetMetricStreamerOpen") == 0) {
        uint32_t(*thunk) GTEL_ZET_PARAMS_open(void **) = spy_open_stream;
        memcpy(&address, &thunk, sizeof(address));
    }
    if (strcmp(name, "zetMetricStreamerClose") == 0) {
        uint32_t (*thunk)(void *) = spy_close_stream;
        memcpy(&address, &thunk, sizeof(address));
    }
    return address;
}

static int spy_open(void *arg, const char *const *names, void **ret)
{
    int r = spy.ops->lib_open(arg, names, ret);
    spy.libraries += r == 0;
    return r;
}

static void spy_close(void *arg, void *lib)
{
    spy.libraries--;
    spy.is_started = false;
    spy.ops->lib_close(arg, lib);
}

static int64_t spy_read(void *arg, int handle, void *buf, size_t n)
{
    spy.reads++;
    return spy.ops->file_read(arg, handle, buf, n);
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    spy.logs[level]++;
    (void)gtel_str_copy(spy.last_log, sizeof(spy.last_log), gtel_str_of(text));
}

void forget_calls(void)
{
    const struct gtel_env_ops *ops = spy.ops;
    struct gtel_env_ops with_spy = spy.with_spy;
    memset(&spy, 0, sizeof(spy));
    spy.ops = ops;
    spy.with_spy = with_spy;
}

void start_lane(struct machine *m)
{
    forget_calls();
    CHECK_INT(gtel_group_init(&m->group, "l0metrics", &m->env, &m->options), 0);
}

const char common_machine[] =
    CARD("xe") LIBRARY "call zeInit =\n"
                       "call zeDriverGet = 1\n"
                       "call zeDeviceGet 0 = 2\n"
                       "call zeDeviceGetProperties 0 = 5 0x8086\n" /* an NPU */
                       "call zeDevicePciGetPropertiesExt 0 = 0 3 0 0\n"
                       "call zeDeviceGetProperties 1 = 1 0x8086\n"
                       "call zeDevicePciGetPropertiesExt 1 = 0 3 0 0\n"
                       "call zetDeviceEnableMetricsExp 1 =\n"
                       "call zetMetricGroupGet 1 = 2\n"
                       "call zetMetricGroupGetProperties 1 0 = ComputeBasic 2 0 4\n"
                       "call zetMetricGet 1 0 = 4\n"
                       "call zetMetricGetProperties 1 0 0 = GpuTime 0 1\n"
                       "call zetMetricGetProperties 1 0 1 = XveActive 6 2\n"
                       "call zetMetricGetProperties 1 0 2 = XveStall 6 2\n"
                       "call zetMetricGetProperties 1 0 3 = XmxActive 0 2\n"
                       "call zetMetricStreamerOpen 1 0 = 1024 10000000\n"
                       "call zetMetricStreamerReadData 1 0 = 512 0\n"
                       "call zetMetricGroupCalculateMetricValues 1 0 = 1000 40 20 30 3000 80 0 50\n"
                       "call zetMetricGroupGetProperties 1 1 = EuStallSampling 2 100 4\n"
                       "call zetMetricGet 1 1 = 4\n"
                       "call zetMetricGetProperties 1 1 0 = IP 0x7ffffffe 1\n"
                       "call zetMetricGetProperties 1 1 1 = Active 1 1\n"
                       "call zetMetricGetProperties 1 1 2 = SendStall 1 1\n"
                       "call zetMetricGetProperties 1 1 3 = SbidStall 1 1\n"
                       "call zetMetricStreamerOpen 1 1 = 1024 600\n"
                       "call zetMetricStreamerReadData 1 1 = 64 0 0 0\n"
                       "call zetMetricGroupCalculateMetricValues 1 1 = 5 1 2 1 6 0 1 0\n";

bool begin_text(struct machine *m, const char *text)
{
    char error[200] = "";
    *m = (struct machine){0};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &m->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    gtel_options_init(&m->options);
    CHECK_INT(gtel_option_set(&m->options, GTEL_O_L0_METRICS, GTEL_STR("on"), error, sizeof(error)),
              0);
    CHECK_INT(gtel_env_tree_init(m->tree, true, 0, &m->env), 0);
    tree_library_play(&m->env, m->tree, TEST_PLAYED);
    spy.ops = m->env.ops;
    spy.with_spy = *m->env.ops;
    spy.with_spy.lib_open = spy_open;
    spy.with_spy.lib_symbol = spy_symbol;
    spy.with_spy.lib_close = spy_close;
    spy.with_spy.file_read = spy_read;
    m->env.ops = &spy.with_spy;
    m->env.log = (struct gtel_log){on_log, NULL};
    return true;
}

static bool begin_all(struct machine *m, const char *head, const char *text)
{
    char all[16384];
    (void)snprintf(all, sizeof(all), "%s%send\n", head, text);
    if (!begin_text(m, all))
        return false;
    start_lane(m);
    return true;
}

bool begin(struct machine *m, const char *text)
{
    return begin_all(m, common_machine, text);
}

bool begin_with(struct machine *m, const char *text)
{
    return begin_all(m, CARD("xe") LIBRARY, text);
}

bool is_all_closed(void)
{
    return spy.contexts == 0 && spy.streams == 0 && spy.groups == 0;
}

void finish(struct machine *m)
{
    gtel_group_done(&m->group);
    CHECK(is_all_closed());
    CHECK_INT(spy.enabled, 0);
    CHECK_INT(spy.libraries, 0);
    CHECK_INT(spy.early, 0);
    CHECK_INT(spy.dead, 0);
    finish_text(m);
}

void finish_text(struct machine *m)
{
    m->env.ops = spy.ops;
    gtel_env_tree_done(&m->env);
    gtel_tree_free(m->tree);
}

static void step(struct machine *m, uint64_t ns)
{
    m->env.ops = spy.ops;
    gtel_env_tree_step(&m->env, ns);
    m->env.ops = &spy.with_spy;
}

void pass_ms(struct machine *m, unsigned ms, uint64_t (*due)(const struct machine *m),
             void (*tick)(struct machine *m))
{
    uint64_t now = gtel_env_now(&m->env);
    uint64_t end = now + (uint64_t)ms * 1000000;
    uint64_t tried = 0;
    for (uint64_t next = due(m); next > tried && next <= end; next = due(m)) {
        step(m, next > now ? next - now : 0);
        now = gtel_env_now(&m->env);
        tried = now;
        tick(m);
    }
    step(m, end - now);
}

static uint64_t due(const struct machine *m)
{
    return gtel_group_due(&m->group);
}

static void tick(struct machine *m)
{
    gtel_group_tick(&m->group);
}

void gather_ms(struct machine *m, unsigned ms)
{
    pass_ms(m, ms, due, tick);
    gtel_group_sample(&m->group);
}

void gather(struct machine *m, unsigned seconds)
{
    gather_ms(m, seconds * 1000);
}

double value(const struct machine *m, enum gtel_metric metric, const char *dim)
{
    for (size_t i = 0; i < m->group.batch.n; i++) {
        const struct gtel_reading *r = &m->group.batch.reading[i];
        if (r->metric == metric && gtel_str_eq(r->dim[0], gtel_str_of(dim)))
            return gtel_reading_number(r);
    }
    return -1;
}

void rewind_machine(struct machine *m)
{
    gtel_env_tree_done(&m->env);
    CHECK_INT(gtel_env_tree_init(m->tree, true, 0, &m->env), 0);
    tree_library_play(&m->env, m->tree, TEST_PLAYED);
    m->env.log = (struct gtel_log){on_log, NULL};
    m->env.ops = &spy.with_spy;
}
