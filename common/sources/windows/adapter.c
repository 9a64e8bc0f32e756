/* SPDX-License-Identifier: MIT */
/*
 * What the driver model says of a GPU. A call may succeed and write nothing (Wine 8.0 does so, and
 * kernels that are older than a part of an answer): answers are filled with ones before, and a
 * value that is still all ones afterwards is not known. What drivers do not report is 0.
 */
#include "sources/windows/wddm.h"

#include "base/error.h"
#include "parse/utf16.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEDICATED, SHARED, MEMORIES };

static const struct gtel_str regions[MEMORIES] = {GTEL_STR_INIT("vram"), GTEL_STR_INIT("shared")};
static const struct gtel_str graphics = GTEL_STR_INIT("graphics");

/* ntstatus.h: what is not there, beside what is broken. */
static int error_of(int32_t status)
{
    switch ((uint32_t)status) {
    case 0xc0000002: /* NOT_IMPLEMENTED */
    case 0xc000000d: /* INVALID_PARAMETER: older kernels of newer questions */
    case 0xc000007a: /* PROCEDURE_NOT_FOUND */
    case 0xc00000bb: /* NOT_SUPPORTED */
        return -EOPNOTSUPP;
    case 0xc0000022: /* ACCESS_DENIED */
        return -EACCES;
    case 0xc00002b6: /* DEVICE_REMOVED */
        return -ENODEV;
    default:
        return GTEL_STATUS_IS_FINE(status) ? 0 : -EIO;
    }
}

/* Fills in what the answer leaves as it is. */
static int query_info(const struct gtel_wddm *wddm, const struct gtel_wddm_adapter *adapter,
                      uint32_t type, void *data, uint32_t size)
{
    struct gtel_d3dkmt_query_info query = {
        .adapter = adapter->handle, .type = type, .data = data, .size = size};
    if (!wddm->call.D3DKMTQueryAdapterInfo)
        return -EOPNOTSUPP;
    return error_of(wddm->call.D3DKMTQueryAdapterInfo(&query));
}

/* One number of 32 bits, or UINT32_MAX: not known. */
static uint32_t query_number(const struct gtel_wddm *wddm, const struct gtel_wddm_adapter *adapter,
                             uint32_t type)
{
    uint32_t value = UINT32_MAX;
    return query_info(wddm, adapter, type, &value, sizeof(value)) == 0 ? value : UINT32_MAX;
}

static int query_statistics(const struct gtel_wddm *wddm, const struct gtel_wddm_adapter *adapter,
                            uint32_t type, uint32_t id, struct gtel_d3dkmt_statistics *ret)
{
    if (!wddm->call.D3DKMTQueryStatistics)
        return -EOPNOTSUPP;
    *ret = (struct gtel_d3dkmt_statistics){.type = type, .luid = adapter->luid, .id = id};
    memset(&ret->result, 0xff, sizeof(ret->result));
    return error_of(wddm->call.D3DKMTQueryStatistics(ret));
}

/* ---- opening ---- */

/* The class of an engine, by its type and the name that the driver gives it. */
static enum gtel_engine_kind engine_kind(uint32_t type, struct gtel_str name)
{
    static const enum gtel_engine_kind kinds[] = {
        [GTEL_DXGK_ENGINE_3D] = GTEL_ENGINE_KIND_RENDER,
        [GTEL_DXGK_ENGINE_VIDEO_DECODE] = GTEL_ENGINE_KIND_DECODE,
        [GTEL_DXGK_ENGINE_VIDEO_ENCODE] = GTEL_ENGINE_KIND_ENCODE,
        [GTEL_DXGK_ENGINE_VIDEO_PROCESSING] = GTEL_ENGINE_KIND_VIDEO_ENHANCE,
        [GTEL_DXGK_ENGINE_SCENE_ASSEMBLY] = GTEL_ENGINE_KIND_OTHER,
        [GTEL_DXGK_ENGINE_COPY] = GTEL_ENGINE_KIND_COPY,
        [GTEL_DXGK_ENGINE_OVERLAY] = GTEL_ENGINE_KIND_OTHER,
        [GTEL_DXGK_ENGINE_CRYPTO] = GTEL_ENGINE_KIND_OTHER,
        [GTEL_DXGK_ENGINE_VIDEO_CODEC] = GTEL_ENGINE_KIND_VIDEO,
    };
    if (type != GTEL_DXGK_ENGINE_OTHER)
        return type < GTEL_ARRAY_LEN(kinds) ? kinds[type] : GTEL_ENGINE_KIND_OTHER;
    return gtel_engine_kind_of_windows(name);
}

/* What is broken, not what is absent, is kept for another try. */
static void note(struct gtel_wddm_adapter *adapter, int r)
{
    if (gtel_error_is_broken(r) && adapter->error == 0)
        adapter->error = r;
}

/* Whether it is of another class than before. One that fails to be described stays as it was. */
static bool describe_node(const struct gtel_wddm *wddm, struct gtel_wddm_adapter *adapter,
                          uint32_t n)
{
    struct gtel_kmt_node_metadata data = {.node = n, .type = UINT32_MAX};
    struct gtel_wddm_node *node = &adapter->node[n];
    char name[sizeof(data.name) * 2];
    int r = query_info(wddm, adapter, GTEL_KMT_NODE_METADATA, &data, GTEL_KMT_NODE_METADATA_SIZE);
    enum gtel_engine_kind before = node->kind;
    note(adapter, r);
    (void)snprintf(node->name, sizeof(node->name), "node%" PRIu32, n);
    if (r < 0 || data.type == UINT32_MAX)
        return false;
    struct gtel_str text =
        gtel_utf16_text(data.name, GTEL_ARRAY_LEN(data.name), name, sizeof(name));
    node->kind = engine_kind(data.type, text);
    while (text.n > 0 && strchr("0123456789 _", text.p[text.n - 1]))
        text.n--;
    gtel_str_clean(node->of, sizeof(node->of), text);
    return node->kind != before;
}

/* Nothing has been read of the nodes yet. */
static void begin_nodes(struct gtel_wddm_adapter *adapter)
{
    memset(adapter->busy, 0, sizeof(adapter->busy));
    for (uint32_t i = 0; i < adapter->nodes; i++) {
        adapter->node[i].running = UINT64_MAX;
        adapter->node[i].counted = 0;
        adapter->node[i].has_moved = false;
        adapter->node[i].backs = 0;
    }
}

/*
 * Numbers beyond reason are as good as none. What was read of the nodes stays while there are as
 * many, of the same classes.
 */
static void describe_parts(const struct gtel_wddm *wddm, struct gtel_wddm_adapter *adapter)
{
    enum { REASON = 4096 };
    struct gtel_d3dkmt_statistics query;
    uint32_t before = adapter->nodes;
    adapter->nodes = 0;
    adapter->segments = 0;
    int r = query_statistics(wddm, adapter, GTEL_KMT_STATISTICS_ADAPTER, 0, &query);
    note(adapter, r);
    if (r < 0 || query.result.adapter.nodes > REASON || query.result.adapter.segments > REASON ||
        query.result.adapter.nodes == 0)
        return;
    /* Use of a part of the memory would not be that of the memory. */
    if (query.result.adapter.segments <= GTEL_WDDM_SEGMENTS_MAX)
        adapter->segments = query.result.adapter.segments;
    adapter->nodes = query.result.adapter.nodes;
    if (adapter->nodes > GTEL_WDDM_NODES_MAX)
        adapter->nodes = GTEL_WDDM_NODES_MAX;
    bool has_changed = adapter->nodes != before;
    for (uint32_t i = 0; has_changed && i < adapter->nodes; i++)
        adapter->node[i] = (struct gtel_wddm_node){.kind = GTEL_ENGINE_KINDS};
    for (uint32_t i = 0; i < adapter->nodes; i++)
        has_changed |= describe_node(wddm, adapter, i);
    if (has_changed)
        begin_nodes(adapter);
}

static uint64_t known(uint64_t bytes)
{
    return bytes == UINT64_MAX ? 0 : bytes;
}

/* The version as people write it, 2700 is 2.7 (KMT_DRIVERVERSION), and who schedules. */
static void describe_modes(const struct gtel_wddm *wddm, struct gtel_wddm_adapter *adapter)
{
    uint32_t version = query_number(wddm, adapter, GTEL_KMT_DRIVER_VERSION);
    uint32_t caps = query_number(wddm, adapter, GTEL_KMT_WDDM_2_7_CAPS);
    const char *schedules = caps == UINT32_MAX                 ? ""
                            : (caps & GTEL_KMT_SCHEDULES) != 0 ? " hardware_scheduling=on"
                                                               : " hardware_scheduling=off";
    if (version >= 1000 && version != UINT32_MAX)
        (void)snprintf(adapter->modes, sizeof(adapter->modes), "wddm=%" PRIu32 ".%" PRIu32 "%s",
                       version / 1000, version % 1000 / 100, schedules);
}

bool gtel_wddm_is_invented(const struct gtel_wddm_gpu *gpu, uint64_t bytes)
{
    return gpu->pnp.pci_id[0] == GTEL_PNP_INTEL && gpu->pnp.pci.bus == 0 &&
           bytes < UINT64_C(3) << 30;
}

static void describe(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    struct gtel_wddm_adapter *adapter = &gpu->adapter;
    struct gtel_kmt_segment_size size = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct gtel_kmt_adapter_perf_caps caps = {0};
    int r = query_info(wddm, adapter, GTEL_KMT_SEGMENT_SIZE, &size, sizeof(size));
    note(adapter, r);
    if (r == 0) {
        bool is_none = gtel_wddm_is_invented(gpu, size.dedicated);
        adapter->total[DEDICATED] = is_none ? 0 : known(size.dedicated);
        adapter->total[SHARED] = known(size.shared);
    }
    r = query_info(wddm, adapter, GTEL_KMT_ADAPTER_PERF_CAPS, &caps, sizeof(caps));
    note(adapter, r);
    if (r == 0)
        adapter->temperature_warning = (double)caps.temperature_warning / 10;
    describe_modes(wddm, adapter);
    describe_parts(wddm, adapter);
}

/* The adapter of the device's interface. */
static int open_adapter(const struct gtel_wddm *wddm, const struct gtel_wddm_gpu *gpu,
                        struct gtel_wddm_adapter *adapter)
{
    struct gtel_interface_detail detail;
    struct gtel_d3dkmt_open open = {.name = detail.path};
    int r = gtel_pnp_interface(&wddm->pnp, &gpu->pnp, &detail);
    if (r == 0)
        r = error_of(wddm->call.D3DKMTOpenAdapterFromDeviceName(&open));
    adapter->error = r;
    adapter->nodes = 0; /* what was read of another adapter says nothing */
    if (r == 0)
        adapter->state = GTEL_WDDM_OPEN;
    adapter->handle = open.adapter;
    adapter->luid = open.luid;
    return r;
}

/* Whether it is another thing than a GPU of this host that works. */
static bool is_no_gpu(uint32_t type)
{
    const uint32_t others = GTEL_KMT_IS_SOFTWARE | GTEL_KMT_IS_INDIRECT | GTEL_KMT_IS_PARAVIRTUAL;
    const uint32_t works = GTEL_KMT_IS_RENDER | GTEL_KMT_IS_COMPUTE_ONLY;
    return type != UINT32_MAX && ((type & others) != 0 || (type & works) == 0);
}

void gtel_wddm_adapter_open(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    struct gtel_wddm_adapter *adapter = &gpu->adapter;
    uint64_t now_ns = gtel_env_now(wddm->env);
    bool is_open = adapter->state == GTEL_WDDM_OPEN;
    if ((is_open && adapter->error == 0) || !wddm->call.D3DKMTOpenAdapterFromDeviceName ||
        !wddm->call.D3DKMTCloseAdapter || gtel_backoff_is_waiting(&adapter->backoff, now_ns))
        return;
    adapter->error = 0;
    if (is_open || open_adapter(wddm, gpu, adapter) == 0) {
        if (is_no_gpu(query_number(wddm, adapter, GTEL_KMT_ADAPTER_TYPE))) {
            gtel_wddm_adapter_close(wddm, gpu);
            adapter->state = GTEL_WDDM_NO_GPU;
        } else {
            describe(wddm, gpu);
        }
    }
    if (adapter->error < 0)
        gtel_backoff_fail(&adapter->backoff, now_ns, GTEL_BACKOFF_FIRST_NS, GTEL_BACKOFF_LAST_NS);
    else
        adapter->backoff = (struct gtel_backoff){0};
}

void gtel_wddm_adapter_close(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    const struct gtel_d3dkmt_close close = {gpu->adapter.handle};
    if (gpu->adapter.state != GTEL_WDDM_OPEN)
        return;
    (void)wddm->call.D3DKMTCloseAdapter(&close); /* nothing else could be done */
    gpu->adapter.state = GTEL_WDDM_CLOSED;
}

/* ---- memory ---- */

static bool is_shared(const struct gtel_kmt_segment_statistics *segment)
{
    bool is_system = segment->properties != UINT64_MAX &&
                     (segment->properties & GTEL_KMT_SEGMENT_IS_SYSTEM) != 0;
    return segment->is_aperture != 0 || is_system;
}

/* What is resident in all segments; false where one does not say. */
static bool read_memory(const struct gtel_wddm *wddm, const struct gtel_wddm_adapter *adapter,
                        uint64_t used[MEMORIES])
{
    struct gtel_d3dkmt_statistics query;
    const struct gtel_kmt_segment_statistics *segment = &query.result.segment;
    for (uint32_t i = 0; i < adapter->segments; i++) {
        if (query_statistics(wddm, adapter, GTEL_KMT_STATISTICS_SEGMENT, i, &query) < 0 ||
            segment->resident == UINT64_MAX || segment->is_aperture == UINT32_MAX)
            return false;
        used[is_shared(segment) ? SHARED : DEDICATED] += segment->resident;
    }
    return adapter->segments > 0;
}

static void sample_memory(const struct gtel_wddm *wddm, const struct gtel_wddm_gpu *gpu,
                          struct gtel_batch *batch)
{
    uint64_t used[MEMORIES] = {0};
    bool is_known = read_memory(wddm, &gpu->adapter, used);
    for (size_t i = 0; i < MEMORIES; i++) {
        uint64_t total = gpu->adapter.total[i];
        if (total > 0)
            gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_TOTAL, regions[i], total);
        if (is_known && total > 0 && used[i] <= total)
            gtel_batch_u64(batch, gpu->device, GTEL_M_MEMORY_USED, regions[i], used[i]);
    }
}

/* ---- engines ---- */

/* The nodes of one class. */
struct class
{
    uint32_t n;
    uint32_t read;
    uint32_t moved;
    uint32_t alike; /* the most of one name */
};

static void put_busy(struct gtel_batch *batch, const struct gtel_wddm_gpu *gpu,
                     enum gtel_engine_kind kind, struct gtel_str instance, double running)
{
    struct gtel_reading reading = {.device = gpu->device,
                                   .metric = GTEL_M_ENGINE_BUSY_TIME,
                                   .value_type = GTEL_VALUE_F64,
                                   .dim = {gtel_engine_kind_name(kind), instance}};
    reading.value.f64 = running / 1e7;
    gtel_batch_put(batch, &reading);
}

/* A clock and its highest, in hertz, where the driver reports them. False: it does not. */
static bool put_frequency(struct gtel_batch *batch, const struct gtel_wddm_gpu *gpu,
                          const struct gtel_str domain[2], uint64_t now, uint64_t max)
{
    static const uint64_t highest = 20000000000; /* beyond is no clock */
    struct gtel_reading reading = {.device = gpu->device,
                                   .metric = GTEL_M_FREQUENCY_ACTUAL,
                                   .value_type = GTEL_VALUE_F64,
                                   .value.f64 = (double)now,
                                   .dim = {domain[0], domain[1]}};
    if (now == 0 || now > highest)
        return false;
    gtel_batch_put(batch, &reading);
    reading.metric = GTEL_M_FREQUENCY_HARDWARE_MAX;
    reading.value.f64 = (double)max;
    if (max >= now && max <= highest)
        gtel_batch_put(batch, &reading);
    return true;
}

/*
 * The clock of the hardware that the node runs on: that of an Intel GPU is the one of GT 0, as
 * Level Zero and Linux have it. False: the driver does not report it.
 */
static bool put_clock(struct gtel_batch *batch, const struct gtel_wddm_gpu *gpu,
                      const struct gtel_kmt_node_perf *perf)
{
    enum { MILLIVOLTS = 5000 };
    bool is_intel = gpu->pnp.pci_id[0] == GTEL_PNP_INTEL;
    const struct gtel_str domain[2] = {graphics, is_intel ? GTEL_STR("0") : GTEL_STR_NONE};
    if (!put_frequency(batch, gpu, domain, perf->frequency, perf->frequency_max))
        return false;
    if (perf->voltage > 0 && perf->voltage <= MILLIVOLTS)
        gtel_batch_f64(batch, gpu->device, GTEL_M_VOLTAGE, graphics, (double)perf->voltage / 1e3);
    return true;
}

/*
 * Reads one node. A running time counts only once it was seen to move: that of some drivers stands
 * still while the engine works (LibreHardwareMonitor #797).
 */
static bool read_node(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu, uint32_t n,
                      struct gtel_kmt_node_perf *ret_perf)
{
    struct gtel_d3dkmt_statistics query;
    struct gtel_wddm_node *node = &gpu->adapter.node[n];
    if (query_statistics(wddm, &gpu->adapter, GTEL_KMT_STATISTICS_NODE, n, &query) < 0 ||
        query.result.node.running == UINT64_MAX)
        return false;
    uint64_t running = query.result.node.running;
    node->has_moved = node->has_moved || running > node->running;
    node->backs += node->running != UINT64_MAX && running < node->running;
    node->running = running;
    *ret_perf = query.result.node.perf;
    return true;
}

static bool is_alike(const struct gtel_wddm_node *a, const struct gtel_wddm_node *b)
{
    return a->kind == b->kind && strcmp(a->of, b->of) == 0;
}

/* The mean running time of the nodes that are like this one, and how many there are. */
static double mean_of(const struct gtel_wddm_adapter *adapter, const struct gtel_wddm_node *node,
                      uint32_t *ret_n)
{
    double sum = 0;
    *ret_n = 0;
    for (uint32_t i = 0; i < adapter->nodes; i++) {
        bool is_like = is_alike(&adapter->node[i], node);
        sum += is_like ? (double)adapter->node[i].running : 0;
        *ret_n += is_like;
    }
    return sum / *ret_n;
}

/*
 * What is alike counts on average. Of what is not, as AMD's 3D and High Priority 3D, which share
 * hardware, the busiest: the class goes on by as much as the one that did most since the last time.
 * Where a running time went back the class begins again at 0, so that no rate spans it.
 */
static void count_class(struct gtel_wddm_adapter *adapter, enum gtel_engine_kind kind,
                        struct class *of)
{
    double most = 0;
    bool is_back = false;
    for (uint32_t i = 0; i < adapter->nodes; i++) {
        struct gtel_wddm_node *node = &adapter->node[i];
        uint32_t n;
        if (node->kind != kind)
            continue;
        double mean = mean_of(adapter, node, &n);
        of->alike = n > of->alike ? n : of->alike;
        if (of->read < of->n)
            continue;
        most = mean - node->counted > most ? mean - node->counted : most;
        node->counted = mean;
        is_back = is_back || node->backs > 0;
        node->backs = 0;
    }
    adapter->busy[kind] = is_back ? 0 : adapter->busy[kind] + most;
}

/*
 * A class of which one has never moved is left to the performance counters: it may work uncounted.
 * Compute is not reported before 3D, where both are: alone it would stand for the GPU.
 */
static void put_classes(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu,
                        struct class *classes, struct gtel_batch *batch)
{
    const struct class *render = &classes[GTEL_ENGINE_KIND_RENDER];
    for (size_t k = 0; k < GTEL_ENGINE_KINDS; k++) {
        enum gtel_engine_kind kind = (enum gtel_engine_kind)k;
        struct class *of = &classes[kind];
        bool is_whole = kind != GTEL_ENGINE_KIND_COMPUTE || render->moved == render->n;
        if (of->n == 0)
            continue;
        count_class(&gpu->adapter, kind, of);
        if (kind != GTEL_ENGINE_KIND_OTHER || of->alike == of->n)
            gtel_batch_u64(batch, gpu->device, GTEL_M_ENGINE_CAPACITY, gtel_engine_kind_name(kind),
                           of->alike);
        if (of->read == of->n && of->moved == of->n && is_whole)
            put_busy(batch, gpu, kind, GTEL_STR_NONE, gpu->adapter.busy[kind]);
    }
    if (!gtel_option_is(wddm->options, GTEL_O_ENGINE_INSTANCES, "on"))
        return;
    for (uint32_t i = 0; i < gpu->adapter.nodes; i++) {
        const struct gtel_wddm_node *node = &gpu->adapter.node[i];
        if (node->has_moved && node->kind < GTEL_ENGINE_KINDS)
            put_busy(batch, gpu, node->kind, gtel_str_of(node->name), (double)node->running);
    }
}

static void sample_engines(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu,
                           struct gtel_batch *batch)
{
    struct class classes[GTEL_ENGINE_KINDS + 1] = {0};
    struct gtel_kmt_node_perf perf;
    bool has_clock = false;
    batch->t_ns = gtel_env_now(wddm->env);
    for (uint32_t i = 0; i < gpu->adapter.nodes; i++) {
        struct gtel_wddm_node *node = &gpu->adapter.node[i];
        struct class *of = &classes[node->kind];
        of->n++;
        if (!read_node(wddm, gpu, i, &perf)) {
            gtel_batch_failed(batch, gpu->device);
            continue;
        }
        of->read++;
        of->moved += node->has_moved;
        if (!has_clock && node->kind == GTEL_ENGINE_KIND_RENDER)
            has_clock = put_clock(batch, gpu, &perf);
    }
    put_classes(wddm, gpu, classes, batch);
}

/* ---- the card ---- */

static void sample_card(const struct gtel_wddm *wddm, const struct gtel_wddm_gpu *gpu,
                        struct gtel_batch *batch)
{
    enum { TENTHS = 2000, RPM = 100000 }; /* beyond is no value */
    static const struct gtel_str memory[2] = {GTEL_STR_INIT("memory")};
    static const struct gtel_str sensor = GTEL_STR_INIT("gpu");
    const struct gtel_device *device = gpu->device;
    struct gtel_kmt_adapter_perf perf = {0};
    if (query_info(wddm, &gpu->adapter, GTEL_KMT_ADAPTER_PERF, &perf, sizeof(perf)) < 0)
        return;
    if (perf.temperature > 0 && perf.temperature <= TENTHS) {
        double warning = gpu->adapter.temperature_warning;
        gtel_batch_f64(batch, device, GTEL_M_TEMPERATURE, sensor, (double)perf.temperature / 10);
        if (warning > 0 && warning * 10 <= (double)TENTHS)
            gtel_batch_f64(batch, device, GTEL_M_TEMPERATURE_CRITICAL, sensor, warning);
    }
    if (perf.fan_rpm > 0 && perf.fan_rpm <= RPM)
        gtel_batch_u64(batch, device, GTEL_M_FAN_RPM, GTEL_STR("0"), perf.fan_rpm);
    (void)put_frequency(batch, gpu, memory, perf.memory_frequency, perf.memory_frequency_max);
}

int gtel_wddm_adapter_sample(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu,
                             struct gtel_batch *batch)
{
    struct gtel_d3dkmt_statistics query;
    int r = query_statistics(wddm, &gpu->adapter, GTEL_KMT_STATISTICS_ADAPTER, 0, &query);
    if (r < 0 && gpu->adapter.nodes > 0)
        return -ENODEV; /* after a restart of the driver the adapter is another one */
    if (gpu->adapter.nodes > 0 && query.result.adapter.resets != UINT32_MAX)
        gtel_batch_u64(batch, gpu->device, GTEL_M_GPU_RESETS, GTEL_STR_NONE,
                       query.result.adapter.resets);
    sample_memory(wddm, gpu, batch);
    sample_card(wddm, gpu, batch);
    sample_engines(wddm, gpu, batch);
    return 0;
}
