/* SPDX-License-Identifier: MIT */
/* Asks Windows about its GPUs and writes the answers down. */
#include "recording/record_windows.h"

#include "host/fs.h"
#include "parse/utf16.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* More nodes and segments than that are not read (sources/windows/wddm.h). */
enum { LINE_MAX = 4096, NODES_MAX = 64, SEGMENTS_MAX = 32, UNTOUCHED = 0xff };

static const char *const names[] = {"gdi32.dll", GTEL_RECORD_WINDOWS_LIBRARY, NULL};

static const struct gtel_dynlib_symbol symbols[] = {
#define GTEL_WDDM_SYM(name, result, params)                                                        \
    {#name, offsetof(struct gtel_record_windows_calls, name), false},
#include "abi/wddm_syms.def"
#undef GTEL_WDDM_SYM
};

enum { SYMBOLS = sizeof(symbols) / sizeof(symbols[0]) };

/* ---- lines ---- */

/* A key or an answer, which fit where a path does. */
#define WORDS(...) GTEL_FS_AT(__VA_ARGS__)

static void put_text(const struct gtel_record_windows *windows, const char *key,
                     struct gtel_str answer)
{
    gtel_record_answer(windows->record, WORDS("call %s =", key), answer);
}

static void put(const struct gtel_record_windows *windows, const char *key, const char *answer)
{
    put_text(windows, key, gtel_str_of(answer));
}

static void put_units(const struct gtel_record_windows *windows, const char *key,
                      const uint16_t *units, size_t n)
{
    char text[3 * GTEL_INTERFACE_PATH_MAX];
    struct gtel_str said = gtel_utf16_text(units, n, text, sizeof(text));
    if (said.n > 0)
        put_text(windows, key, said);
}

/* A status that is a failure, or the bytes of the answer; ones at its end were not written. */
static void put_bytes(const struct gtel_record_windows *windows, const char *key, int32_t status,
                      const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;
    struct gtel_buf words;
    while (n > 0 && byte[n - 1] == UNTOUCHED)
        n--;
    if (!GTEL_STATUS_IS_FINE(status)) {
        put(windows, key, WORDS("!0x%08" PRIx32, (uint32_t)status));
        return;
    }
    gtel_buf_init(&words, LINE_MAX);
    gtel_record_words(&words, byte, n, 0);
    put_text(windows, key, n > 0 ? gtel_str_trim(gtel_buf_text(&words)) : GTEL_STR("untouched"));
    gtel_buf_done(&words);
}

/* ---- the driver model ---- */

static void ask_info(const struct gtel_record_windows *windows, size_t device, uint32_t adapter)
{
    static const struct {
        uint32_t type;
        uint32_t size;
        int fill;
    } infos[] = {
        {GTEL_KMT_SEGMENT_SIZE, sizeof(struct gtel_kmt_segment_size), UNTOUCHED},
        {GTEL_KMT_DRIVER_VERSION, sizeof(uint32_t), UNTOUCHED},
        {GTEL_KMT_ADAPTER_TYPE, sizeof(uint32_t), UNTOUCHED},
        {GTEL_KMT_WDDM_2_7_CAPS, sizeof(uint32_t), UNTOUCHED},
        {GTEL_KMT_ADAPTER_PERF, sizeof(struct gtel_kmt_adapter_perf), 0}, /* has a number within */
        {GTEL_KMT_ADAPTER_PERF_CAPS, sizeof(struct gtel_kmt_adapter_perf_caps), 0},
    };
    for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++) {
        uint64_t data[8];
        _Static_assert(sizeof(struct gtel_kmt_adapter_perf) <= sizeof(data), "the largest");
        struct gtel_d3dkmt_query_info query = {
            .adapter = adapter, .type = infos[i].type, .data = data, .size = infos[i].size};
        memset(data, infos[i].fill, sizeof(data));
        put_bytes(windows, WORDS("D3DKMTQueryAdapterInfo %zu %" PRIu32, device, query.type),
                  windows->call.D3DKMTQueryAdapterInfo(&query), data, query.size);
    }
}

static void ask_node(const struct gtel_record_windows *windows, size_t device, uint32_t adapter,
                     uint32_t node)
{
    struct gtel_kmt_node_metadata data = {.node = node, .type = UINT32_MAX};
    struct gtel_d3dkmt_query_info query = {.adapter = adapter,
                                           .type = GTEL_KMT_NODE_METADATA,
                                           .data = &data,
                                           .size = GTEL_KMT_NODE_METADATA_SIZE};
    const char *key =
        WORDS("D3DKMTQueryAdapterInfo %zu %d %" PRIu32, device, GTEL_KMT_NODE_METADATA, node);
    char text[sizeof(data.name) * 2];
    int32_t status = windows->call.D3DKMTQueryAdapterInfo(&query);
    if (!GTEL_STATUS_IS_FINE(status) || data.type == UINT32_MAX) {
        put_bytes(windows, key, status, NULL, 0);
        return;
    }
    struct gtel_str name = gtel_utf16_text(data.name, 32, text, sizeof(text));
    put(windows, key, WORDS("%" PRIu32 " %.*s", data.type, GTEL_STR_ARG(name)));
}

/* As many bytes of the answer as sources know. */
static struct gtel_d3dkmt_statistics ask_statistics(const struct gtel_record_windows *windows,
                                                    size_t device, struct gtel_luid luid,
                                                    uint32_t type, uint32_t id)
{
    struct gtel_d3dkmt_statistics query = {.type = type, .luid = luid, .id = id};
    size_t n = sizeof(query.result.adapter);
    memset(&query.result, UNTOUCHED, sizeof(query.result));
    int32_t status = windows->call.D3DKMTQueryStatistics(&query);
    if (type == GTEL_KMT_STATISTICS_SEGMENT) {
        struct gtel_kmt_segment_statistics *segment = &query.result.segment;
        memset(segment->memory, 0, sizeof(segment->memory));
        memset(segment->more, 0, sizeof(segment->more));
        n = offsetof(struct gtel_kmt_segment_statistics, rest);
    } else if (type == GTEL_KMT_STATISTICS_NODE) {
        memset(query.result.node.more, 0, sizeof(query.result.node.more));
        n = offsetof(struct gtel_kmt_node_statistics, rest);
    }
    put_bytes(windows, WORDS("D3DKMTQueryStatistics %zu %" PRIu32 " %" PRIu32, device, type, id),
              status, &query.result, n);
    if (!GTEL_STATUS_IS_FINE(status))
        memset(&query.result, UNTOUCHED, sizeof(query.result));
    return query;
}

static void ask_adapter(const struct gtel_record_windows *windows, size_t device,
                        const uint16_t *interface)
{
    const struct gtel_record_windows_calls *call = &windows->call;
    struct gtel_d3dkmt_open open = {.name = interface};
    const char *key = WORDS("D3DKMTOpenAdapterFromDeviceName %zu", device);
    if (!call->D3DKMTOpenAdapterFromDeviceName || !call->D3DKMTCloseAdapter)
        return;
    int32_t status = call->D3DKMTOpenAdapterFromDeviceName(&open);
    if (!GTEL_STATUS_IS_FINE(status)) {
        put_bytes(windows, key, status, NULL, 0);
        return;
    }
    put(windows, key, WORDS("0x%" PRIx32, open.luid.low));
    if (call->D3DKMTQueryAdapterInfo)
        ask_info(windows, device, open.adapter);
    struct gtel_kmt_adapter_statistics all = {0};
    if (call->D3DKMTQueryStatistics)
        all = ask_statistics(windows, device, open.luid, GTEL_KMT_STATISTICS_ADAPTER, 0)
                  .result.adapter;
    for (uint32_t i = 0; all.segments <= SEGMENTS_MAX && i < all.segments; i++)
        (void)ask_statistics(windows, device, open.luid, GTEL_KMT_STATISTICS_SEGMENT, i);
    for (uint32_t i = 0; all.nodes != UINT32_MAX && i < all.nodes && i < NODES_MAX; i++) {
        (void)ask_statistics(windows, device, open.luid, GTEL_KMT_STATISTICS_NODE, i);
        if (call->D3DKMTQueryAdapterInfo)
            ask_node(windows, device, open.adapter, i);
    }
    (void)call->D3DKMTCloseAdapter(&(struct gtel_d3dkmt_close){open.adapter});
}

/* ---- Plug and Play ---- */

static void put_number(const struct gtel_record_windows *windows, size_t device, int property,
                       uint32_t number)
{
    put(windows, WORDS("SetupDiGetDevicePropertyW %zu %d", device, property),
        WORDS("%" PRIu32, number));
}

static void put_property(const struct gtel_record_windows *windows, size_t device,
                         const struct gtel_devinfo *info, uint32_t property)
{
    uint16_t units[GTEL_PNP_UNITS];
    if (gtel_pnp_text(&windows->pnp, info, property, units))
        put_units(windows,
                  WORDS("SetupDiGetDeviceRegistryPropertyW %zu %" PRIu32, device, property), units,
                  GTEL_PNP_UNITS);
}

/* By the key of the device's driver, as the played registry has it. */
static void put_size(const struct gtel_record_windows *windows, const struct gtel_devinfo *info)
{
    uint16_t units[GTEL_PNP_UNITS];
    char text[3 * GTEL_PNP_UNITS];
    uint64_t bytes = gtel_pnp_registry_size(&windows->pnp, info);
    if (bytes == 0 || !gtel_pnp_text(&windows->pnp, info, GTEL_SPDRP_DRIVER, units))
        return;
    struct gtel_str driver = gtel_utf16_text(units, GTEL_PNP_UNITS, text, sizeof(text));
    put(windows, WORDS("RegGetValueW %.*s HardwareInformation.qwMemorySize", GTEL_STR_ARG(driver)),
        WORDS("%" PRIu64, bytes));
}

static void ask_device(const struct gtel_record_windows *windows, size_t device,
                       const struct gtel_pnp_gpu *gpu)
{
    enum { VERSION = 3, BUS = 23, PLACE = 30, POWER = 32 }; /* devpkey.h */
    const struct gtel_pnp *pnp = &windows->pnp;
    struct gtel_interface_detail detail;
    char version[160];
    uint32_t power = gtel_pnp_power(pnp, &gpu->info);
    put_units(windows, WORDS("SetupDiGetDeviceInstanceIdW %zu", device), gpu->id, GTEL_PNP_ID_MAX);
    put_property(windows, device, &gpu->info, GTEL_SPDRP_DESCRIPTION);
    put_property(windows, device, &gpu->info, GTEL_SPDRP_DRIVER);
    put_number(windows, device, BUS, gpu->pci.domain << 8 | gpu->pci.bus);
    put_number(windows, device, PLACE, (uint32_t)gpu->pci.device << 16 | gpu->pci.function);
    put_number(windows, device, POWER, power);
    if (gpu->problem != 0)
        put(windows, WORDS("SetupDiGetDevicePropertyW %zu problem", device),
            WORDS("%" PRIu32, gpu->problem));
    if (gtel_pnp_driver_version(pnp, &gpu->info, version, sizeof(version)))
        put(windows, WORDS("SetupDiGetDevicePropertyW %zu %d", device, VERSION), version);
    put_size(windows, &gpu->info);
    if (gtel_pnp_interface(pnp, gpu, &detail) < 0)
        return;
    put_units(windows, WORDS("SetupDiGetDeviceInterfaceDetailW %zu", device), detail.path,
              GTEL_INTERFACE_PATH_MAX);
    if (power == GTEL_POWER_D0)
        ask_adapter(windows, device, detail.path);
}

/* The number of a device, the same as long as it is recorded; GTEL_RECORD_WINDOWS_MAX: no room. */
static size_t number_of(struct gtel_record_windows *windows, const struct gtel_pnp_gpu *gpu)
{
    for (size_t i = 0; i < windows->n; i++)
        if (memcmp(windows->id[i], gpu->id, sizeof(gpu->id)) == 0)
            return i;
    if (windows->n == GTEL_RECORD_WINDOWS_MAX)
        return windows->n;
    memcpy(windows->id[windows->n], gpu->id, sizeof(gpu->id));
    return windows->n++;
}

static bool open_all(struct gtel_record_windows *windows, const struct gtel_env *env)
{
    if (windows->pnp.library.lib)
        return true;
    if (gtel_pnp_open(env, &windows->pnp) < 0)
        return false;
    gtel_record_answer(windows->record, "library", GTEL_STR(GTEL_RECORD_WINDOWS_LIBRARY));
    (void)gtel_dynlib_open(env, &windows->library, names, symbols, SYMBOLS, &windows->call);
    for (size_t i = 0; i < SYMBOLS; i++) {
        void *address;
        memcpy(&address, (const char *)&windows->call + symbols[i].offset, sizeof(address));
        if (!address)
            put(windows, symbols[i].name, "!nosymbol");
    }
    return true;
}

void gtel_record_windows(struct gtel_record_windows *windows, const struct gtel_env *env,
                         struct gtel_record *record)
{
    struct gtel_pnp_gpu gpu;
    bool is_there[GTEL_RECORD_WINDOWS_MAX] = {false};
    windows->record = record;
    if (!open_all(windows, env) || gtel_pnp_list(&windows->pnp) < 0)
        return;
    int got = 0;
    for (uint32_t i = 0; got != 1; i++) {
        got = gtel_pnp_get(&windows->pnp, i, &gpu);
        bool is_gpu = got == 0 || got == -ENODEV;
        size_t device = is_gpu ? number_of(windows, &gpu) : GTEL_RECORD_WINDOWS_MAX;
        if (device == GTEL_RECORD_WINDOWS_MAX)
            continue;
        is_there[device] = true;
        ask_device(windows, device, &gpu);
    }
    for (size_t i = 0; i < windows->n; i++)
        if (!is_there[i])
            put(windows, WORDS("SetupDiGetDeviceInstanceIdW %zu", i), "gone");
}

void gtel_record_windows_close(struct gtel_record_windows *windows, const struct gtel_env *env)
{
    gtel_pnp_close(env, &windows->pnp);
    gtel_dynlib_close(env, &windows->library);
}
