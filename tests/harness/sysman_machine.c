/* SPDX-License-Identifier: MIT */
/* The Sysman source on recorded machines, with a spy between it and the played Level Zero. */
#include "harness/sysman_machine.h"

#include "harness/call_args.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <string.h>

#define SECOND 1000000000u

struct sysman_spy spy;

/* A code to answer instead of the real call, or 0. */
static uint32_t spy_before(const char *name)
{
    bool is_start = strcmp(name, "zesInit") == 0 || strcmp(name, "zeInit") == 0;
    spy.calls++;
    spy.early += !is_start && !spy.is_started;
    spy.counted += spy.count_name && strcmp(name, spy.count_name) == 0;
    if (spy.calls == spy.fail_at || (spy.fail_all && strcmp(name, spy.fail_all) == 0)) {
        spy.failed_name = name;
        return spy.fail_code;
    }
    spy.is_started = spy.is_started || is_start;
    return 0;
}

/* A list's length is asked for with 0 where there is no room (Level Zero: zesDriverGet). */
#define LENGTH_init
#define LENGTH_drivers CHECK(ret || *count == 0);
#define LENGTH_list LENGTH_drivers
#define LENGTH_get
#define LENGTH_get_list LENGTH_drivers
#define LENGTH_limits
#define LENGTH_ras
#define LENGTH_fan
#define LENGTH_by_uuid

#define APPLY_(fn, first, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_ZES_SYM(name, need, shape, type)                                                      \
    static uint32_t spy_##name GTEL_ZES_PARAMS_##shape(type)                                       \
    {                                                                                              \
        LENGTH_##shape uint32_t code = spy_before(#name);                                          \
        return code ? code : APPLY(spy.real.name, 0 GTEL_ZES_ARGS_##shape);                        \
    }
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM

static void *spy_symbol(void *arg, void *lib, const char *name)
{
    void *address = spy.ops->lib_symbol(arg, lib, name);
    if (!address)
        return NULL;
#define GTEL_ZES_SYM(name_, need, shape, type)                                                     \
    if (strcmp(name, #name_) == 0) {                                                               \
        uint32_t(*thunk) GTEL_ZES_PARAMS_##shape(type) = spy_##name_;                              \
        memcpy(&spy.real.name_, &address, sizeof(address));                                        \
        memcpy(&address, &thunk, sizeof(address));                                                 \
        return address;                                                                            \
    }
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
    return address; /* of Windows */
}

static int spy_open(void *arg, const char *const *names, void **ret)
{
    int r = spy.ops->lib_open(arg, names, ret);
    spy.opens += r == 0;
    return r;
}

static void spy_close(void *arg, void *lib)
{
    spy.closes++;
    spy.is_started = false;
    spy.ops->lib_close(arg, lib);
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
    headlines_done(&m->headlines);
    CHECK_INT(gtel_group_init(&m->group, "sysman", &m->env, &m->options), 0);
}

/* Device 1 is the xe card, device 0 the i915 one, and 16 an NPU of another driver. */
const char common_calls[] =
    "call zesDriverGet = 2\n"
    "call zesDeviceGet 0 = 2\n"
    "call zesDeviceGet 1 = 1\n"
    "call zesDeviceGetProperties 16 = 5 0x8086 0\n"
    "call zesDevicePciGetProperties 16 = 0 3 0 0 -1 -1 -1 0 0 0\n"
    "call zesDeviceGetProperties 0 = 1 0x8086 0\n"
    "call zesDevicePciGetProperties 0 = 0 4 0 0 4 16 -1 0 0 0\n"
    "call zesDeviceEnumTemperatureSensors 0 = 1\n"
    "call zesTemperatureGetProperties 0 0 = 0 0 0 -1\n"
    "call zesTemperatureGetState 0 0 = 55\n"
    "call zesDeviceGetProperties 1 = 1 0x8086 0 000102030405060708090a0b0c0d0e0f\n"
    "call zesDevicePciGetProperties 1 = 0 3 0 0 4 8 -1 1 0 1\n"
    "call zesDeviceGetState 1 = 1 1\n"
    "call zesDeviceEccAvailable 1 = 1\n"
    "call zesDeviceGetEccState 1 = 1 1 0\n"
    "call zesDeviceProcessesGetState 0 = 7 5000 1000 0x8 8 100 0 1 7 400 0 2\n"
    "call zesDevicePciGetState 1 = 0 4 8 15753846153\n"
    "call zesDevicePciGetStats 1 = 1000 3 0 11 12\n"
    "call zesDeviceEnumFrequencyDomains 1 = 1\n"
    "call zesFrequencyGetProperties 1 0 = 0 0 0 100 2600\n"
    "call zesFrequencyGetState 1 0 = 0.75 1500 -1 400 1400 0x8\n"
    "call zesFrequencyGetRange 1 0 = 300 2400\n"
    "call zesFrequencyGetThrottleTime 1 0 = 5000 1000\n"
    "call zesDeviceEnumPowerDomains 1 = 2\n"
    "call zesPowerGetProperties 1 0 = 0 0 -1 -1 -1 1\n"
    "call zesPowerGetProperties 1 1 = 0 0 -1 -1 -1 4\n"
    "call zesPowerGetEnergyCounter 1 0 = 5000000 1000\n"
    "call zesPowerGetEnergyCounter 1 1 = 1500000 1000\n"
    "call zesPowerGetLimitsExt 1 0 = 1 0 2 0 0 190000 3 0 1 0 0 320000\n"
    "call zesPowerGetLimits 1 1 = 1 50000 0 0 60000 -1 -1\n"
    "call zesDeviceEnumTemperatureSensors 1 = 2\n"
    "call zesTemperatureGetProperties 1 0 = 1 0 0 100\n"
    "call zesTemperatureGetProperties 1 1 = 2 0 0 -1\n"
    "call zesTemperatureGetState 1 0 = 61.5\n"
    "call zesTemperatureGetState 1 1 = 66\n"
    "call zesDeviceEnumMemoryModules 1 = 1\n"
    "call zesMemoryGetProperties 1 0 = 17 0 0 1 1000\n"
    "call zesMemoryGetState 1 0 = 2 750 1000\n"
    "call zesMemoryGetBandwidth 1 0 = 3000000 1000000 2000000 1000\n"
    "call zesDeviceEnumRasErrorSets 1 = 1\n"
    "call zesRasGetProperties 1 0 = 1 0 0\n"
    "call zesRasGetState 1 0 = 1 2 3 4 5 6 7 8 9 10\n"
    "call zesDeviceEnumFabricPorts 1 = 1\n"
    "call zesFabricPortGetProperties 1 0 = 1 0 5 0 3\n"
    "call zesFabricPortGetState 1 0 = 1\n"
    "call zesFabricPortGetThroughput 1 0 = 1000 400 500\n"
    "call zesFabricPortGetFabricErrorCounters 1 0 = 1 2 3 4\n"
    "call zesDeviceEnumFans 1 = 1\n"
    "call zesFanGetProperties 1 0 = 0 0 1\n"
    "call zesFanGetState 1 0 0 = 900\n";

bool begin_text(struct machine *m, const char *text)
{
    char error[200] = "";
    *m = (struct machine){0};
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &m->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    gtel_options_init(&m->options);
    CHECK_INT(gtel_env_tree_init(m->tree, true, 0, &m->env), 0);
    tree_library_play(&m->env, m->tree, TEST_PLAYED);
    spy.ops = m->env.ops;
    spy.with_spy = *m->env.ops;
    spy.with_spy.lib_open = spy_open;
    spy.with_spy.lib_symbol = spy_symbol;
    spy.with_spy.lib_close = spy_close;
    m->env.ops = &spy.with_spy;
    m->env.log = (struct gtel_log){on_log, NULL};
    return true;
}

bool begin_with(struct machine *m, const char *head, const char *text)
{
    char all[16384];
    (void)snprintf(all, sizeof(all), "%s%s%send\n", head, common_calls, text);
    if (!begin_text(m, all))
        return false;
    start_lane(m);
    return true;
}

bool begin(struct machine *m, const char *text)
{
    return begin_with(m, XE I915 KERNEL LIBRARY, text);
}

void finish(struct machine *m)
{
    gtel_group_done(&m->group);
    headlines_done(&m->headlines);
    CHECK_INT(spy.closes, spy.opens);
    CHECK_INT(spy.early, 0);
    finish_text(m);
}

void finish_text(struct machine *m)
{
    m->env.ops = spy.ops;
    gtel_env_tree_done(&m->env);
    gtel_tree_free(m->tree);
}

void go_on(struct machine *m, unsigned seconds)
{
    m->env.ops = spy.ops;
    gtel_env_tree_step(&m->env, (uint64_t)seconds * SECOND);
    m->env.ops = &spy.with_spy;
}

void gather(struct machine *m, unsigned seconds)
{
    go_on(m, seconds);
    gtel_group_sample(&m->group);
    headlines_append(&m->headlines, m->group.registry.n, &m->group.batch);
}

const char xe[] = "0000:03:00.0";
const char i915[] = "0000:04:00.0";

const struct gtel_reading *find(const struct machine *m, const char *gpu, enum gtel_metric metric,
                                const char *dim, const char *dim_2)
{
    for (size_t i = 0; i < m->group.batch.n; i++) {
        const struct gtel_reading *r = &m->group.batch.reading[i];
        if (r->metric == metric && strcmp(r->device->key, gpu) == 0 &&
            gtel_str_eq(r->dim[0], gtel_str_of(dim)) && gtel_str_eq(r->dim[1], gtel_str_of(dim_2)))
            return r;
    }
    return NULL;
}

/* -1 when there is no such reading. */
double value(const struct machine *m, enum gtel_metric metric, const char *dim, const char *dim_2)
{
    const struct gtel_reading *r = find(m, xe, metric, dim, dim_2);
    return r ? gtel_reading_number(r) : -1;
}

size_t readings_of(const struct machine *m, const char *gpu)
{
    size_t n = 0;
    for (size_t i = 0; i < m->group.batch.n; i++)
        n += strcmp(m->group.batch.reading[i].device->key, gpu) == 0;
    return n;
}

void rewind_machine(struct machine *m)
{
    gtel_env_tree_done(&m->env);
    CHECK_INT(gtel_env_tree_init(m->tree, true, 0, &m->env), 0);
    tree_library_play(&m->env, m->tree, TEST_PLAYED);
    m->env.log = (struct gtel_log){on_log, NULL};
    spy.with_spy.lib_open = spy_open;
    m->env.ops = &spy.with_spy;
}
