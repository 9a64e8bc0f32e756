/* SPDX-License-Identifier: MIT */
/* The NVML source on a recorded machine. */
#include "harness/nvml_machine.h"

#include "harness/call_args.h"
#include "harness/test.h"
#include "harness/tree_library.h"

struct nvml_spy spy;

/* A code to answer instead of the real call, or 0. */
static int spy_before(const char *name)
{
    spy.calls++;
    if (spy.count_name && strcmp(name, spy.count_name) == 0)
        spy.counted++;
    if (spy.calls != spy.fail_at)
        return 0;
    spy.failed_name = name;
    return spy.fail_code;
}

#define APPLY_(fn, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_NVML_SYM(name, need, shape)                                                           \
    static int spy_##name GTEL_NVML_PARAMS_##shape                                                 \
    {                                                                                              \
        int code = spy_before(#name);                                                              \
        return code ? code : APPLY(spy.real.name GTEL_NVML_ARGS_##shape);                          \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM

static void *spy_symbol(void *arg, void *lib, const char *name)
{
    void *address = spy.ops->lib_symbol(arg, lib, name);
    if (!address)
        return NULL;
#define GTEL_NVML_SYM(name_, need, shape)                                                          \
    if (strcmp(name, #name_) == 0) {                                                               \
        int(*thunk) GTEL_NVML_PARAMS_##shape = spy_##name_;                                        \
        memcpy(&spy.real.name_, &address, sizeof(address));                                        \
        memcpy(&address, &thunk, sizeof(address));                                                 \
        return address;                                                                            \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
    return address; /* another library's */
}

static int spy_open(void *arg, const char *const *names, void **ret)
{
    spy.opens++;
    return spy.open_error ? spy.open_error : spy.ops->lib_open(arg, names, ret);
}

static void spy_close(void *arg, void *lib)
{
    spy.closes++;
    spy.ops->lib_close(arg, lib);
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    spy.logs++;
    (void)gtel_str_copy(spy.last_log, sizeof(spy.last_log), gtel_str_of(text));
}

void start_lane(struct machine *m)
{
    memset(&spy.real, 0, sizeof(spy.real));
    spy.calls = 0;
    spy.fail_at = 0;
    spy.failed_name = NULL;
    spy.opens = 0;
    spy.closes = 0;
    spy.open_error = 0;
    spy.count_name = NULL;
    spy.counted = 0;
    spy.logs = 0;
    spy.last_log[0] = '\0';
    CHECK_INT(gtel_group_init(&m->group, "nvml", &m->env, &m->options), 0);
}

static void init_env(struct machine *m)
{
    CHECK_INT(gtel_env_tree_init(m->tree, true, 0, &m->env), 0);
    tree_library_play(&m->env, m->tree, TEST_PLAYED);
    spy.ops = m->env.ops;
    spy.with_spy = *m->env.ops;
    spy.with_spy.lib_open = spy_open;
    spy.with_spy.lib_symbol = spy_symbol;
    spy.with_spy.lib_close = spy_close;
}

bool begin(struct machine *m, const char *text)
{
    static const char head[] =
        "file dev/nvidiactl\n"
        "library libnvidia-ml.so.1\n"
        "call nvmlSystemGetDriverVersion = 590.48.01\n"
        "call nvmlDeviceGetCount_v2 = 2\n"
        "call nvmlDeviceGetPciInfo_v3 0 = 00000000:19:00.0 0x233510de 0x18be10de\n"
        "call nvmlDeviceGetPciInfo_v3 1 = 00000001:3B:00.0 0x233510de 0x18be10de\n"
        "call nvmlDeviceGetName 0 = NVIDIA H200\n"
        "call nvmlDeviceGetName 1 = NVIDIA H200\n"
        "call nvmlDeviceGetUUID 0 = GPU-a\n"
        "call nvmlDeviceGetUUID 1 = GPU-b\n"
        "call nvmlDeviceGetVbiosVersion 0 = 96.00\n"
        "call nvmlDeviceGetMinorNumber 0 = 3\n"
        "call nvmlDeviceGetUtilizationRates 0 = 41 7\n"
        "call nvmlDeviceGetUtilizationRates 1 = 0 0\n"
        "call nvmlDeviceGetMemoryInfo_v2 0 = 1000 100 650 250\n"
        "call nvmlDeviceGetMemoryInfo 0 = 1000 650 350\n"
        "call nvmlDeviceGetMemoryInfo_v2 1 = 1000 100 900 0\n"
        "call nvmlDeviceGetTemperatureV 0 = 52\n"
        "call nvmlDeviceGetTemperature 0 0 = 53\n"
        "call nvmlDeviceGetTemperature 1 0 = 40\n"
        "call nvmlDeviceGetFieldValues 0 186 0 = uint 625240\n"
        "call nvmlDeviceGetFieldValues 0 185 0 = uint 627320\n"
        "call nvmlDeviceGetFieldValues 1 186 0 = uint 80000\n"
        "call nvmlDeviceGetPowerUsage 0 = 600000\n"
        "call nvmlDeviceGetClockInfo 0 1 = 1980\n"
        "call nvmlDeviceGetClockInfo 0 0 = 1965\n"
        "call nvmlDeviceGetClockInfo 1 1 = 345\n"
        "call nvmlDeviceGetEnforcedPowerLimit 0 = 700000\n"
        "call nvmlDeviceGetEnforcedPowerLimit 1 = 700000\n"
        "call nvmlDeviceGetCurrentClocksThrottleReasons 0 = 0x24\n"
        "call nvmlDeviceGetFieldValues 0 193 0 = int -8\n"
        "call nvmlDeviceGetFieldValues 0 74 0 = ull 5459682741000\n"
        "call nvmlDeviceGetTotalEccErrors 0 1 0 = 5\n"
        "call nvmlDeviceGetFanSpeed_v2 0 0 = 30\n"
        "call nvmlDeviceGetFanSpeed_v2 0 1 = 35\n"
        "call nvmlDeviceGetFanSpeed 0 = 31\n";
    static char all[32768];
    char error[200] = "";
    (void)snprintf(all, sizeof(all), "%s%send\n", head, text);
    *m = (struct machine){0};
    if (!CHECK(gtel_tree_parse(gtel_str_of(all), &m->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    gtel_options_init(&m->options);
    init_env(m);
    m->env.ops = &spy.with_spy;
    m->env.log = (struct gtel_log){on_log, NULL};
    start_lane(m);
    return true;
}

void finish(struct machine *m)
{
    gtel_group_done(&m->group);
    CHECK_INT(spy.closes, spy.opens - (spy.open_error ? 1 : 0));
    m->env.ops = spy.ops;
    gtel_env_tree_done(&m->env);
    gtel_tree_free(m->tree);
}

void gather(struct machine *m, unsigned seconds)
{
    m->env.ops = spy.ops;
    gtel_env_tree_step(&m->env, (uint64_t)seconds * SECOND);
    m->env.ops = &spy.with_spy;
    gtel_group_sample(&m->group);
}

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

double value(const struct machine *m, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *r = find(m, "0000:19:00.0", metric, dim, NULL);
    return r ? gtel_reading_number(r) : -1;
}
