/* SPDX-License-Identifier: MIT */
/*
 * What a gather costs under Windows with 4 GPUs and 200 processes beside the calls that it makes,
 * and what it allocates.
 *
 *     bench_windows LIMIT
 *
 * The env is that of Windows; the calls of setupapi, gdi32, advapi32 and ntdll that the sources
 * wddm and wddm_clients make are played here, since Wine has neither such GPUs nor these counters.
 * Each makes a call of the system that stands for it, and writes its answer: a set of performance
 * counters is built in each call, name by name, as Windows has its provider add each instance with
 * its name again (Microsoft: PcwAddInstance). In turn: gathers with the line-protocol sink, and as
 * many calls bare, with the one for the program's own memory. What these cost on Windows is not
 * known, so the ratio says how costs move, not what they are there. Prints one JSON line: the
 * shortest time of both, since whatever else runs makes others longer, their ratio, and the heap
 * allocations in all steady gathers. Fails when the ratio is above LIMIT, when a gather made other
 * calls or lacked lines, and when anything was allocated.
 */
#include "abi/wddm_abi.h"
#include "gtel.h"
#include "harness/alloc_fault.h"
#include "sinks/lineproto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <psapi.h> /* needs windows.h */

enum { GPUS = 4, PROCESSES = 200, NODES = 4, SEGMENTS = 2, ROUNDS = 84, GATHERS = 10, WARM = 6 };
enum { FIRST_PID = 10000, HANDLE_FIRST = 0x40000040, HANDLE_STEP = 0x40, LUID_FIRST = 0x9000 };
enum { ENGINE_COUNTERS = 2, MEMORY_COUNTERS = 5, NAME_UNITS = 96, ANSWER_MAX = 2 << 20 };
enum { SYSTEM_PROCESSES = 5, ENTRY = 256, ENTRY_NAME = 192 };
#define LENGTH_MISMATCH ((LONG)0xC0000004)

enum call { POWER, INFO, STATISTICS, COUNTERS, LIST, CALLS };
static unsigned long called[CALLS];
static uint64_t now_ns = 1000000000000;
static char lists[GPUS + 1];

static struct {
    LONG(WINAPI *system_info)(int kind, void *ret, ULONG bytes, ULONG *need);
    LONG(WINAPI *query_info)(void *query);
    LONG(WINAPI *query_statistics)(void *query);
} real;

void *__real_gtel_env_real_lib_symbol(void *lib, const char *name);
void *__wrap_gtel_env_real_lib_symbol(void *lib, const char *name);

/* ---- Plug and Play ---- */

static void *play_SetupDiGetClassDevsW(const void *class, const uint16_t *enumerator, void *parent,
                                       uint32_t flags)
{
    size_t gpu = GPUS;
    (void)class;
    (void)parent;
    (void)flags;
    for (; enumerator && *enumerator; enumerator++)
        if (*enumerator == '#') /* before the number in our names */
            gpu = enumerator[1] - (size_t)'0';
    return &lists[gpu];
}

static int32_t play_SetupDiEnumDeviceInfo(void *set, uint32_t index, struct gtel_devinfo *ret)
{
    ret->instance = index;
    return set == &lists[GPUS] && index < GPUS;
}

/* As many as Windows has. */
#define REGISTRY_PROPERTY_PARAMS                                                                   \
    (void *set, struct gtel_devinfo *device, uint32_t property, uint32_t *ret_type, void *ret,     \
     uint32_t size, uint32_t *ret_size)
#define PROPERTY_PARAMS                                                                            \
    (void *set, struct gtel_devinfo *device, const struct gtel_devpropkey *property,               \
     uint32_t *ret_type, void *ret, uint32_t size, uint32_t *ret_size, uint32_t flags)

static bool put_text(const char *fmt, unsigned gpu, uint16_t *ret, uint32_t units, uint32_t *ret_n)
{
    char text[128];
    int n = snprintf(text, sizeof(text), fmt, gpu);
    *ret_n = (uint32_t)n + 1;
    for (int i = 0; i <= n && (uint32_t)n < units; i++)
        ret[i] = (unsigned char)text[i];
    return (uint32_t)n < units;
}

static int32_t play_SetupDiGetDeviceInstanceIdW(void *set, struct gtel_devinfo *device,
                                                uint16_t *ret, uint32_t units, uint32_t *ret_units)
{
    (void)set;
    return put_text("PCI\\VEN_8086&DEV_E20B&SUBSYS_00000000&REV_00\\4&#%u&0&0009", device->instance,
                    ret, units, ret_units);
}

static int32_t play_SetupDiGetDeviceRegistryPropertyW REGISTRY_PROPERTY_PARAMS
{
    (void)set;
    *ret_type = 1; /* REG_SZ */
    return property == GTEL_SPDRP_DESCRIPTION &&
           put_text("GPU %u", device->instance, ret, size / 2, ret_size);
}

/* A value of the registry stands for what Plug and Play keeps. */
static int32_t play_SetupDiGetDevicePropertyW PROPERTY_PARAMS
{
    struct gtel_power_data power = {sizeof(power), GTEL_POWER_D0, {0}};
    uint32_t number = property->id == 23 ? device->instance + 3 : 0;
    wchar_t text[128];
    DWORD bytes = sizeof(text);
    (void)set;
    (void)flags;
    called[POWER]++;
    (void)RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion",
                       L"ProductName", RRF_RT_REG_SZ, NULL, text, &bytes);
    *ret_type = property->id == 32 ? 0x1003 : 0x7; /* devpropdef.h */
    *ret_size = property->id == 32 ? sizeof(power) : sizeof(number);
    if (size < *ret_size || (property->id != 23 && property->id != 30 && property->id != 32))
        return 0;
    memcpy(ret, property->id == 32 ? (void *)&power : (void *)&number, *ret_size);
    return 1;
}

static int32_t play_SetupDiEnumDeviceInterfaces(void *set, struct gtel_devinfo *device,
                                                const void *class, uint32_t index,
                                                struct gtel_device_interface *ret)
{
    (void)device;
    (void)class;
    (void)ret;
    return set != &lists[GPUS] && index == 0;
}

static int32_t play_SetupDiGetDeviceInterfaceDetailW(void *set, void *place,
                                                     struct gtel_interface_detail *ret,
                                                     uint32_t size, uint32_t *ret_size,
                                                     struct gtel_devinfo *device)
{
    (void)place;
    (void)device;
    return put_text("\\\\?\\PCI#%u", (unsigned)((char *)set - lists), ret->path, (size - 4) / 2,
                    ret_size);
}

static int32_t play_SetupDiDestroyDeviceInfoList(void *set)
{
    (void)set;
    return 1;
}

/* ---- the driver model ---- */

static int32_t play_D3DKMTOpenAdapterFromDeviceName(struct gtel_d3dkmt_open *adapter)
{
    const uint16_t *p = adapter->name;
    while (*p && *p != '#')
        p++;
    uint32_t gpu = (uint32_t)p[1] - '0';
    adapter->adapter = HANDLE_FIRST + gpu * HANDLE_STEP;
    adapter->luid = (struct gtel_luid){.low = LUID_FIRST + gpu};
    return GTEL_STATUS_SUCCESS;
}

static int32_t play_D3DKMTCloseAdapter(const struct gtel_d3dkmt_close *adapter)
{
    (void)adapter;
    return GTEL_STATUS_SUCCESS;
}

static int32_t play_D3DKMTQueryAdapterInfo(struct gtel_d3dkmt_query_info *query)
{
    static const uint32_t types[NODES] = {GTEL_DXGK_ENGINE_3D, GTEL_DXGK_ENGINE_COPY,
                                          GTEL_DXGK_ENGINE_VIDEO_DECODE,
                                          GTEL_DXGK_ENGINE_VIDEO_ENCODE};
    called[INFO]++;
    if (real.query_info)
        (void)real.query_info(query); /* which knows no such adapter */
    if (query->type == GTEL_KMT_ADAPTER_TYPE) {
        *(uint32_t *)query->data = GTEL_KMT_IS_RENDER;
    } else if (query->type == GTEL_KMT_SEGMENT_SIZE) {
        *(struct gtel_kmt_segment_size *)query->data =
            (struct gtel_kmt_segment_size){12ull << 30, 0, 16ull << 30};
    } else if (query->type == GTEL_KMT_NODE_METADATA) {
        struct gtel_kmt_node_metadata *node = query->data;
        node->type = types[node->node % NODES];
        memset(node->name, 0, sizeof(node->name));
    } else if (query->type == GTEL_KMT_ADAPTER_PERF) {
        struct gtel_kmt_adapter_perf *perf = query->data;
        perf->memory_frequency = 2375000000;
        perf->fan_rpm = 1200;
        perf->temperature = 615;
    } else {
        return (int32_t)0xc00000bb; /* NOT_SUPPORTED */
    }
    return GTEL_STATUS_SUCCESS;
}

static int32_t play_D3DKMTQueryStatistics(struct gtel_d3dkmt_statistics *query)
{
    called[STATISTICS]++;
    if (real.query_statistics)
        (void)real.query_statistics(query);
    memset(&query->result, 0, sizeof(query->result));
    if (query->type == GTEL_KMT_STATISTICS_ADAPTER) {
        query->result.adapter.segments = SEGMENTS;
        query->result.adapter.nodes = NODES;
    } else if (query->type == GTEL_KMT_STATISTICS_SEGMENT) {
        query->result.segment.resident = 1u << 30;
        query->result.segment.is_aperture = query->id;
    } else {
        query->result.node.running = now_ns / 200;
        query->result.node.perf.frequency = 2850000000;
    }
    return GTEL_STATUS_SUCCESS;
}

/* ---- counters ---- */

struct writer {
    unsigned char *p;
    size_t n;
};

static void put(struct writer *writer, const void *bytes, size_t n)
{
    memcpy(writer->p + writer->n, bytes, n);
    writer->n += n;
}

static void put_pair(struct writer *writer, size_t a, size_t b)
{
    const uint32_t pair[] = {(uint32_t)a, (uint32_t)b};
    put(writer, pair, sizeof(pair));
}

/* PERF_INSTANCE_HEADER with the name, then PERF_COUNTER_DATA of each counter. */
static void put_instance(struct writer *writer, const wchar_t *name, int units, uint32_t counters,
                         uint64_t value)
{
    size_t bytes = (8 + ((size_t)units + 1) * 2 + 7) / 8 * 8;
    put_pair(writer, bytes, 0);
    memset(writer->p + writer->n, 0, bytes - 8);
    memcpy(writer->p + writer->n, name, (size_t)units * 2);
    writer->n += bytes - 8;
    for (uint32_t i = 0; i < counters; i++) {
        put_pair(writer, 8, 16);
        put(writer, &value, sizeof(value));
    }
}

static size_t put_instances(struct writer *writer, bool is_memory)
{
    wchar_t name[NAME_UNITS];
    size_t count = 0;
    for (unsigned p = 0; p < PROCESSES; p++)
        for (unsigned g = 0; g < GPUS; g++)
            for (unsigned e = 0; e < (is_memory ? 1 : NODES); e++, count++) {
                int n = is_memory
                            ? _snwprintf(name, NAME_UNITS, L"pid_%u_luid_0x%08X_0x%08X_phys_0",
                                         FIRST_PID + p, 0u, LUID_FIRST + g)
                            : _snwprintf(name, NAME_UNITS,
                                         L"pid_%u_luid_0x%08X_0x%08X_phys_0_eng_%u_engtype_%ls",
                                         FIRST_PID + p, 0u, LUID_FIRST + g, e,
                                         e == 0   ? L"3D"
                                         : e == 1 ? L"Copy"
                                                  : L"VideoDecode");
                put_instance(writer, name, n, is_memory ? MEMORY_COUNTERS : ENGINE_COUNTERS,
                             is_memory ? 3u << 20 : now_ns / 100 / PROCESSES / 2);
            }
    return count;
}

/* perflib.h: PERF_DATA_HEADER, PERF_COUNTER_HEADER, PERF_MULTI_COUNTERS, PERF_MULTI_INSTANCES. */
static size_t build(unsigned char *p, bool is_memory)
{
    struct writer writer = {p, 0};
    const uint64_t times[] = {now_ns / 100, 0, 10000000, 0, 0};
    uint32_t counters = is_memory ? MEMORY_COUNTERS : ENGINE_COUNTERS;
    put_pair(&writer, 0, 1);
    put(&writer, times, sizeof(times));
    put_pair(&writer, 0, 6);
    put_pair(&writer, 0, 0);
    put_pair(&writer, 8 + 4 * (size_t)counters, counters);
    for (uint32_t id = 1; id <= counters; id++)
        put(&writer, &id, sizeof(id));
    size_t at = writer.n;
    put_pair(&writer, 0, 0);
    uint32_t count = (uint32_t)put_instances(&writer, is_memory);
    uint32_t sizes[] = {(uint32_t)writer.n, (uint32_t)(writer.n - 48), (uint32_t)(writer.n - at)};
    memcpy(p, &sizes[0], 4);
    memcpy(p + 48 + 8, &sizes[1], 4);
    memcpy(p + at, &sizes[2], 4);
    memcpy(p + at + 4, &count, 4);
    return writer.n;
}

/* Queries in the order in which they were opened; whether each is of the set about memory. */
static bool is_memory[8];
static size_t queries;

static ULONG play_PerfOpenQueryHandle(const wchar_t *machine, HANDLE *query)
{
    (void)machine;
    *query = &is_memory[queries++ % GTEL_ARRAY_LEN(is_memory)];
    return 0;
}

/* PERF_COUNTER_IDENTIFIER: the set, then a status. */
static ULONG play_PerfAddCounters(HANDLE query, void *counters, DWORD bytes)
{
    uint32_t first;
    (void)bytes;
    memcpy(&first, counters, sizeof(first));
    memset((char *)counters + sizeof(GUID), 0, sizeof(ULONG));
    *(bool *)query = first == 0xf802502b; /* GPU Process Memory */
    return 0;
}

static ULONG play_PerfQueryCounterData(HANDLE query, void *data, DWORD bytes, DWORD *need)
{
    called[COUNTERS]++;
    *need = ANSWER_MAX;
    if (bytes < ANSWER_MAX)
        return ERROR_NOT_ENOUGH_MEMORY;
    (void)build(data, *(bool *)query);
    return 0;
}

static ULONG play_PerfCloseQueryHandle(HANDLE query)
{
    (void)query;
    return 0;
}

/* SYSTEM_PROCESS_INFORMATION (winternl.h): the host's list is read, and ours stands in the answer.
 */
static LONG play_NtQuerySystemInformation(int kind, void *ret, ULONG bytes, ULONG *need)
{
    static unsigned char host[1 << 18];
    unsigned char *p = ret;
    ULONG unused;
    called[LIST]++;
    (void)real.system_info(SYSTEM_PROCESSES, host, sizeof(host), &unused);
    *need = PROCESSES * ENTRY;
    if (kind != SYSTEM_PROCESSES || bytes < *need)
        return LENGTH_MISMATCH;
    for (uint32_t i = 0; i < PROCESSES; i++, p += ENTRY) {
        const uint32_t next = i + 1 < PROCESSES ? ENTRY : 0;
        const uint64_t created = 134000000000000000 + i;
        const uint64_t pid = FIRST_PID + i;
        wchar_t *name = (wchar_t *)(void *)(p + ENTRY_NAME);
        const uint16_t name_bytes = (uint16_t)(2 * _snwprintf(name, 32, L"worker%u.exe", i % 20));
        memcpy(p, &next, sizeof(next));
        memcpy(p + 32, &created, sizeof(created));
        memcpy(p + 56, &name_bytes, sizeof(name_bytes));
        memcpy(p + 64, &name, sizeof(name));
        memcpy(p + 80, &pid, sizeof(pid));
    }
    return 0;
}

/* ---- the env ---- */

#define PLAYED(name)                                                                               \
    {                                                                                              \
#name, (void (*)(void))play_##name                                                         \
    }
static const struct {
    const char *name;
    void (*play)(void);
} plays[] = {
    PLAYED(SetupDiGetClassDevsW),
    PLAYED(SetupDiEnumDeviceInfo),
    PLAYED(SetupDiGetDeviceInstanceIdW),
    PLAYED(SetupDiGetDeviceRegistryPropertyW),
    PLAYED(SetupDiGetDevicePropertyW),
    PLAYED(SetupDiEnumDeviceInterfaces),
    PLAYED(SetupDiGetDeviceInterfaceDetailW),
    PLAYED(SetupDiDestroyDeviceInfoList),
    PLAYED(D3DKMTOpenAdapterFromDeviceName),
    PLAYED(D3DKMTCloseAdapter),
    PLAYED(D3DKMTQueryAdapterInfo),
    PLAYED(D3DKMTQueryStatistics),
    PLAYED(PerfOpenQueryHandle),
    PLAYED(PerfAddCounters),
    PLAYED(PerfQueryCounterData),
    PLAYED(PerfCloseQueryHandle),
    PLAYED(NtQuerySystemInformation),
};

static void *find_play(const char *name)
{
    void *address = NULL;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(plays); i++)
        if (strcmp(plays[i].name, name) == 0)
            memcpy(&address, &plays[i].play, sizeof(address));
    return address;
}

void *__wrap_gtel_env_real_lib_symbol(void *lib, const char *name)
{
    void *address = find_play(name);
    return address ? address : __real_gtel_env_real_lib_symbol(lib, name);
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    (void)arg;
    return __wrap_gtel_env_real_lib_symbol(lib, name);
}

static uint64_t played_now(void *arg)
{
    (void)arg;
    return now_ns;
}

static uint64_t no_sleep(void *arg)
{
    (void)arg;
    return 0;
}

static void find_real(const wchar_t *library, const char *name, void *ret)
{
    HMODULE module = LoadLibraryW(library);
    FARPROC function = module ? GetProcAddress(module, name) : NULL;
    memcpy(ret, &function, sizeof(function));
}

/* ---- the bench ---- */

static double now_us(void)
{
    LARGE_INTEGER ticks;
    LARGE_INTEGER frequency;
    (void)QueryPerformanceCounter(&ticks);
    (void)QueryPerformanceFrequency(&frequency);
    return (double)ticks.QuadPart * 1e6 / (double)frequency.QuadPart;
}

/* Keeps the shorter one of a time, unless that is 0, and the time since start. */
static void keep_shorter(double *us, double start)
{
    double passed = now_us() - start;
    if (*us <= 0 || passed < *us)
        *us = passed;
}

static void time_gathers(struct gtel_context *context, struct gtel_buf *out, double *us)
{
    for (int i = 0; i < GATHERS; i++) {
        now_ns += 1000000000;
        gtel_buf_reset(out);
        double start = now_us();
        gtel_context_gather(context); /* the values show what it did */
        keep_shorter(us, start);
    }
}

static void call_gpu(uint32_t gpu, const unsigned long *calls)
{
    struct gtel_d3dkmt_statistics statistics = {.luid = {.low = LUID_FIRST + gpu}};
    struct gtel_kmt_adapter_perf perf = {0};
    struct gtel_d3dkmt_query_info info = {.adapter = HANDLE_FIRST + gpu * HANDLE_STEP,
                                          .type = GTEL_KMT_ADAPTER_PERF,
                                          .data = &perf,
                                          .size = sizeof(perf)};
    struct gtel_power_data power;
    struct gtel_devinfo device = {.instance = gpu};
    const struct gtel_devpropkey property = {.id = 32};
    uint32_t type;
    uint32_t n;
    for (unsigned long i = 0; i < calls[POWER] / GPUS; i++)
        (void)play_SetupDiGetDevicePropertyW(lists, &device, &property, &type, &power,
                                             sizeof(power), &n, 0);
    for (unsigned long i = 0; i < calls[INFO] / GPUS; i++)
        (void)play_D3DKMTQueryAdapterInfo(&info);
    for (unsigned long i = 0; i < calls[STATISTICS] / GPUS; i++) {
        statistics.type = i == 0          ? GTEL_KMT_STATISTICS_ADAPTER
                          : i <= SEGMENTS ? GTEL_KMT_STATISTICS_SEGMENT
                                          : GTEL_KMT_STATISTICS_NODE;
        (void)play_D3DKMTQueryStatistics(&statistics);
    }
}

/* As many calls of each kind as a gather has made. */
static void time_calls(const unsigned long *calls, double *us)
{
    static unsigned char answer[ANSWER_MAX];
    ULONG need;
    for (int i = 0; i < GATHERS; i++) {
        double start = now_us();
        PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof(memory)};
        now_ns += 1000000000;
        for (uint32_t gpu = 0; gpu < GPUS; gpu++)
            call_gpu(gpu, calls);
        for (unsigned long k = 0; k < calls[COUNTERS]; k++)
            (void)play_PerfQueryCounterData(&is_memory[k % 2], answer, sizeof(answer), &need);
        for (unsigned long k = 0; k < calls[LIST]; k++)
            (void)play_NtQuerySystemInformation(SYSTEM_PROCESSES, answer, sizeof(answer), &need);
        (void)K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof(memory));
        keep_shorter(us, start);
    }
    now_ns -= (uint64_t)GATHERS * 1000000000; /* as if they had not been */
}

static int bench(struct gtel_context *context, struct gtel_buf *out,
                 const struct gtel_lineproto *lp, double limit)
{
    double gather = 0;
    double bare = 0;
    unsigned long calls[CALLS];
    alloc_fault_arm(0);
    for (int i = 0; i < WARM; i++)
        time_gathers(context, out, &gather);
    bool is_counted = alloc_fault_count() > 0; /* the first gathers do allocate */
    memcpy(calls, called, sizeof(calls));
    time_gathers(context, out, &gather);
    for (int i = 0; i < CALLS; i++)
        calls[i] = (called[i] - calls[i]) / GATHERS;
    gather = 0; /* those so far were not steady */
    uint64_t lines = lp->lines;
    uint64_t allocations = 0;
    for (int i = 0; i < ROUNDS; i++) {
        alloc_fault_arm(0);
        time_gathers(context, out, &gather);
        allocations += alloc_fault_count();
        time_calls(calls, &bare);
    }
    lines = (lp->lines - lines) / ((uint64_t)ROUNDS * GATHERS);
    double ratio = gather / bare;
    printf("{\"bench\":\"windows_gather\",\"gpus\":%d,\"processes\":%d,\"power\":%lu,"
           "\"info\":%lu,\"statistics\":%lu,\"counters\":%lu,\"lists\":%lu,\"lines\":%llu,"
           "\"gather_us\":%.1f,\"bare_us\":%.1f,\"ratio\":%.3f,\"allocations\":%llu}\n",
           GPUS, PROCESSES, calls[POWER], calls[INFO], calls[STATISTICS], calls[COUNTERS],
           calls[LIST], (unsigned long long)lines, gather, bare, ratio,
           (unsigned long long)allocations);
    bool is_whole = calls[POWER] == GPUS && calls[INFO] == GPUS && calls[COUNTERS] == 2 &&
                    calls[STATISTICS] == (size_t)GPUS * (1 + SEGMENTS + NODES) &&
                    calls[LIST] == 1 && lines > GPUS * 20;
    return is_whole && is_counted && allocations == 0 && ratio <= limit ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct gtel_lineproto lp;
    static struct gtel_options options;
    static struct gtel_env_ops ops;
    struct gtel_context *context = NULL;
    struct gtel_env env;
    struct gtel_buf out;
    char error[64];
    find_real(L"ntdll.dll", "NtQuerySystemInformation", &real.system_info);
    find_real(L"gdi32.dll", "D3DKMTQueryAdapterInfo", &real.query_info);
    find_real(L"gdi32.dll", "D3DKMTQueryStatistics", &real.query_statistics);
    double limit = argc == 2 ? strtod(argv[1], NULL) : 0;
    if (!(limit > 0) || !real.system_info || gtel_env_win32_init(&env) < 0)
        return 1;
    ops = *env.ops;
    ops.lib_symbol = lib_symbol;
    ops.monotonic_ns = played_now;
    ops.suspended_ns = no_sleep;
    env.ops = &ops;
    gtel_buf_init(&out, 1 << 24);
    gtel_lineproto_init(&lp, &out, GTEL_STR_NONE);
    gtel_options_init(&options);
    struct gtel_sink sink = gtel_lineproto_sink(&lp);
    struct gtel_setup setup = {.env = &env, .options = &options, .sink = &sink};
    /* Searches, and what is sent once in a while, are no part of a steady gather. */
    int r = gtel_option_set(&options, GTEL_O_SOURCES, GTEL_STR("wddm,wddm_clients"), error,
                            sizeof(error));
    r = r < 0 ? r : gtel_option_set(&options, GTEL_O_RESCAN, GTEL_STR("1h"), error, sizeof(error));
    r = r < 0 ? r
              : gtel_option_set(&options, GTEL_O_INFO_INTERVAL, GTEL_STR("24h"), error,
                                sizeof(error));
    if (r == 0 && gtel_context_new(&setup, &context) == 0)
        r = bench(context, &out, &lp, limit);
    else
        r = 1;
    gtel_context_free(context);
    gtel_buf_done(&out);
    gtel_env_win32_done(&env);
    return r;
}
