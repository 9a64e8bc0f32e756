/* SPDX-License-Identifier: MIT */
/*
 * What Windows says of display devices, as far as we ask: the kernel side of its driver model
 * (D3DKMT*, gdi32.dll), the records of Plug and Play (SetupDi*, setupapi.dll) and the registry.
 *
 * Written from Microsoft's documentation (MicrosoftDocs/windows-driver-docs-ddi; the item's name
 * there stands at each item) for 64-bit Windows 10 1803 and newer. D3DKMTQueryStatistics is "for
 * system use" there; what is used of it has stood still since Windows 8, as programs show that live
 * on it (winsiderss/systeminformer: plugins/ExtendedTools/gpumon.c). The calls themselves are
 * listed in wddm_syms.def and pnp_syms.def. Offsets: tests/abi/wddm_layout.c.
 */
#ifndef GTEL_ABI_WDDM_ABI_H
#define GTEL_ABI_WDDM_ABI_H

#include <stdint.h>

/* LUID: of an adapter, until the next boot or restart of its driver. */
struct gtel_luid {
    uint32_t low;
    int32_t high;
};

struct gtel_guid {
    uint32_t a;
    uint16_t b;
    uint16_t c;
    uint8_t d[8];
};

/* ---- D3DKMT*: all return an NTSTATUS, in which the upper bit is a failure ---- */

#define GTEL_STATUS_SUCCESS 0
#define GTEL_STATUS_IS_FINE(status) ((int32_t)(status) >= 0)

/* D3DKMT_OPENADAPTERFROMDEVICENAME */
struct gtel_d3dkmt_open {
    const uint16_t *name; /* of a device interface; ends in NUL */
    uint32_t adapter;     /* out, as the rest */
    struct gtel_luid luid;
};

/* D3DKMT_CLOSEADAPTER */
struct gtel_d3dkmt_close {
    uint32_t adapter;
};

/* D3DKMT_QUERYADAPTERINFO */
struct gtel_d3dkmt_query_info {
    uint32_t adapter;
    uint32_t type;
    void *data;
    uint32_t size;
};

/* KMTQUERYADAPTERINFOTYPE */
enum {
    GTEL_KMT_SEGMENT_SIZE = 3,
    GTEL_KMT_DRIVER_VERSION = 13, /* of the driver model: one number, 2700 is 2.7 */
    GTEL_KMT_ADAPTER_TYPE = 15,
    GTEL_KMT_NODE_METADATA = 25,
    GTEL_KMT_ADAPTER_PERF = 62,
    GTEL_KMT_ADAPTER_PERF_CAPS = 63,
    GTEL_KMT_WDDM_2_7_CAPS = 70
};

/* D3DKMT_SEGMENTSIZEINFO: bytes */
struct gtel_kmt_segment_size {
    uint64_t dedicated;
    uint64_t dedicated_system;
    uint64_t shared;
};

/* D3DKMT_ADAPTERTYPE */
enum {
    GTEL_KMT_IS_RENDER = 1u << 0,
    GTEL_KMT_IS_SOFTWARE = 1u << 2,
    GTEL_KMT_IS_INDIRECT = 1u << 6,
    GTEL_KMT_IS_PARAVIRTUAL = 1u << 7,
    GTEL_KMT_IS_COMPUTE_ONLY = 1u << 11
};

/* D3DKMT_WDDM_2_7_CAPS */
enum { GTEL_KMT_SCHEDULES = 1u << 1 }; /* hardware scheduling is on */

/* D3DKMT_NODEMETADATA, which is packed there: its size is not that of this struct. */
struct gtel_kmt_node_metadata {
    uint32_t node; /* in; the physical adapter in the upper half */
    uint32_t type; /* DXGK_ENGINE_TYPE */
    uint16_t name[32];
    uint32_t flags;
    uint8_t has_gpu_mmu;
    uint8_t has_io_mmu;
};
enum { GTEL_KMT_NODE_METADATA_SIZE = 78 };

/* DXGK_ENGINE_TYPE */
enum {
    GTEL_DXGK_ENGINE_OTHER,
    GTEL_DXGK_ENGINE_3D,
    GTEL_DXGK_ENGINE_VIDEO_DECODE,
    GTEL_DXGK_ENGINE_VIDEO_ENCODE,
    GTEL_DXGK_ENGINE_VIDEO_PROCESSING,
    GTEL_DXGK_ENGINE_SCENE_ASSEMBLY,
    GTEL_DXGK_ENGINE_COPY,
    GTEL_DXGK_ENGINE_OVERLAY,
    GTEL_DXGK_ENGINE_CRYPTO,
    GTEL_DXGK_ENGINE_VIDEO_CODEC
};

/*
 * D3DKMT_ADAPTER_PERFDATA. 0 is "not reported"; power is tenths of a percent of a limit that nobody
 * reports, and the bandwidths are of a time that nobody says.
 */
struct gtel_kmt_adapter_perf {
    uint32_t physical_adapter; /* in */
    uint32_t reserved;
    uint64_t memory_frequency; /* hertz, as the two below */
    uint64_t memory_frequency_max;
    uint64_t memory_frequency_max_oc;
    uint64_t memory_bandwidth;
    uint64_t pcie_bandwidth;
    uint32_t fan_rpm;
    uint32_t power;
    uint32_t temperature; /* tenths of a degree Celsius */
    uint8_t power_state_override;
};

/* D3DKMT_ADAPTER_PERFDATACAPS */
struct gtel_kmt_adapter_perf_caps {
    uint32_t physical_adapter; /* in */
    uint32_t reserved;
    uint64_t memory_bandwidth_max;
    uint64_t pcie_bandwidth_max;
    uint32_t fan_rpm_max;
    uint32_t temperature_max;     /* above it is damage */
    uint32_t temperature_warning; /* above it the clock falls; both tenths of a degree */
};

/* D3DKMT_NODE_PERFDATA: hertz and millivolts */
struct gtel_kmt_node_perf {
    uint32_t node;
    uint32_t physical_adapter;
    uint64_t frequency;
    uint64_t frequency_max;
    uint64_t frequency_max_oc;
    uint32_t voltage;
    uint32_t voltage_max;
    uint32_t voltage_max_oc;
    uint64_t transition_latency;
};

/* D3DKMT_QUERYSTATISTICS_TYPE */
enum {
    GTEL_KMT_STATISTICS_ADAPTER = 0,
    GTEL_KMT_STATISTICS_SEGMENT = 3,
    GTEL_KMT_STATISTICS_NODE = 5
};

/* D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION, its beginning */
struct gtel_kmt_adapter_statistics {
    uint32_t segments;
    uint32_t nodes;
    uint32_t outputs;
    uint32_t vsync;
    uint32_t resets; /* TdrDetectedCount */
};

/* D3DKMT_QUERYSTATISTICS_SEGMENT_INFORMATION */
struct gtel_kmt_segment_statistics {
    uint64_t commit_limit;
    uint64_t committed; /* bytes, as the next */
    uint64_t resident;
    uint8_t memory[16];
    uint32_t is_aperture; /* a window into the host's memory */
    uint8_t more[60];
    uint64_t properties; /* since WDDM 2.9 */
    uint8_t rest[40];
};
enum { GTEL_KMT_SEGMENT_IS_SYSTEM = 1 }; /* bit of properties: the host's memory */

/* D3DKMT_QUERYSTATISTICS_NODE_INFORMATION */
struct gtel_kmt_node_statistics {
    uint64_t running; /* of all processes: 100 ns, whatever the header says */
    uint8_t more[536];
    struct gtel_kmt_node_perf perf; /* since WDDM 2.4 */
    uint8_t rest[16];
};

/* D3DKMT_QUERYSTATISTICS */
struct gtel_d3dkmt_statistics {
    uint32_t type;
    struct gtel_luid luid;
    void *process; /* NULL: all */
    union {
        struct gtel_kmt_adapter_statistics adapter;
        struct gtel_kmt_segment_statistics segment;
        struct gtel_kmt_node_statistics node;
        uint8_t bytes[776];
    } result;
    uint32_t id; /* of the segment or node */
    uint32_t reserved;
};

/* ---- SetupDi*: 0 is a failure ---- */

#define GTEL_NO_LIST ((void *)(intptr_t)-1) /* INVALID_HANDLE_VALUE */

/* SP_DEVINFO_DATA */
struct gtel_devinfo {
    uint32_t size;
    struct gtel_guid class;
    uint32_t instance;
    uintptr_t reserved;
};

/* SP_DEVICE_INTERFACE_DATA */
struct gtel_device_interface {
    uint32_t size;
    struct gtel_guid class;
    uint32_t flags;
    uintptr_t reserved;
};

/* SP_DEVICE_INTERFACE_DETAIL_DATA_W; size is that of the four bytes and one unit, rounded up. */
enum { GTEL_INTERFACE_DETAIL_SIZE = 8, GTEL_INTERFACE_PATH_MAX = 512 };
struct gtel_interface_detail {
    uint32_t size;
    uint16_t path[GTEL_INTERFACE_PATH_MAX]; /* ends in NUL */
};

/* DEVPROPKEY */
struct gtel_devpropkey {
    struct gtel_guid set;
    uint32_t id;
};

/* CM_POWER_DATA, its beginning; 1 is D0 … 4 is D3 (DEVICE_POWER_STATE). */
struct gtel_power_data {
    uint32_t size;
    uint32_t state;
    uint8_t more[48];
};
enum { GTEL_POWER_D0 = 1, GTEL_POWER_D3 = 4 };

enum {
    GTEL_DIGCF_PRESENT = 0x2,
    GTEL_DIGCF_DEVICE_INTERFACE = 0x10,
    GTEL_SPDRP_DESCRIPTION = 0,
    GTEL_SPDRP_DRIVER = 9 /* the name of its key below …\Control\Class */
};

/* ---- the registry: 0 is fine, all else an error ---- */

/* HKEY_LOCAL_MACHINE: (LONG)0x80000002 as a pointer */
#define GTEL_LOCAL_MACHINE ((void *)(intptr_t)(int32_t)0x80000002)
enum { GTEL_REG_64_BITS = 0x48 }; /* RRF_RT_QWORD: also eight bytes of REG_BINARY */

#endif
