/* SPDX-License-Identifier: MIT */
/*
 * NVML's binary interface, as far as we call it: result codes, structures, shapes of functions.
 *
 * Written from the public documentation (NVML API Reference; the section is named at each item) and
 * valid for API generations 10 to 13 on 64-bit Linux and Windows. The vendor's header is not used:
 * it differs between toolkits, and its macros redirect names. tests/abi compares both where it is
 * installed. The calls themselves are listed in nvml_syms.def, by the shapes at the end.
 */
#ifndef GTEL_ABI_NVML_ABI_H
#define GTEL_ABI_NVML_ABI_H

#include <stddef.h>
#include <stdint.h>

/* nvmlReturn_t (Device Enums). Codes that are not listed are treated as a passing failure. */
enum {
    GTEL_NVML_SUCCESS = 0,
    GTEL_NVML_UNINITIALIZED = 1,
    GTEL_NVML_INVALID_ARGUMENT = 2,
    GTEL_NVML_NOT_SUPPORTED = 3,
    GTEL_NVML_NO_PERMISSION = 4,
    GTEL_NVML_NOT_FOUND = 6,
    GTEL_NVML_INSUFFICIENT_SIZE = 7,
    GTEL_NVML_DRIVER_NOT_LOADED = 9,
    GTEL_NVML_TIMEOUT = 10,
    GTEL_NVML_FUNCTION_NOT_FOUND = 13,
    GTEL_NVML_GPU_IS_LOST = 15,
    GTEL_NVML_RESET_REQUIRED = 16,
    GTEL_NVML_VERSION_MISMATCH = 18, /* LIB_RM_VERSION_MISMATCH */
    GTEL_NVML_MEMORY = 20,
    GTEL_NVML_NO_DATA = 21,
    GTEL_NVML_ARGUMENT_VERSION_MISMATCH = 25,
    GTEL_NVML_DEPRECATED = 26,
    GTEL_NVML_NOT_READY = 27,
    GTEL_NVML_GPU_NOT_FOUND = 28,
    GTEL_NVML_UNKNOWN = 999
};

/* Buffer sizes, with the NUL (Field Value Enums and constants: NVML_DEVICE_*_BUFFER_SIZE). */
enum {
    GTEL_NVML_NAME_SIZE = 96, /* V2 size; also enough for the first */
    GTEL_NVML_UUID_SIZE = 96, /* V2 size */
    GTEL_NVML_VERSION_SIZE = 80,
    GTEL_NVML_BUS_ID_SIZE = 32,
    GTEL_NVML_LEGACY_BUS_ID_SIZE = 16
};

/* nvmlDevice_t: an opaque pointer. */
struct gtel_nvml_device;

/* nvmlClockType_t */
enum { GTEL_NVML_CLOCK_GRAPHICS, GTEL_NVML_CLOCK_SM, GTEL_NVML_CLOCK_MEM, GTEL_NVML_CLOCK_VIDEO };
/* nvmlTemperatureSensors_t */
enum { GTEL_NVML_TEMPERATURE_GPU };
/* nvmlTemperatureThresholds_t */
enum {
    GTEL_NVML_THRESHOLD_SHUTDOWN,
    GTEL_NVML_THRESHOLD_SLOWDOWN,
    GTEL_NVML_THRESHOLD_MEM_MAX,
    GTEL_NVML_THRESHOLD_GPU_MAX
};
/* nvmlMemoryErrorType_t and nvmlEccCounterType_t */
enum { GTEL_NVML_ECC_CORRECTED, GTEL_NVML_ECC_UNCORRECTED };
enum { GTEL_NVML_ECC_VOLATILE, GTEL_NVML_ECC_AGGREGATE };
/* nvmlMemoryLocation_t: those that GPUs with HBM or GDDR6 report */
enum { GTEL_NVML_LOCATION_DRAM = 2, GTEL_NVML_LOCATION_SRAM = 7 };
/*
 * nvmlDeviceGpuRecoveryAction_t; codes beyond are actions of a later API. From driver 595 on; 5 was
 * another one before (API Reference, change log: 595; Python binding of 575: GPU_RESET_BUS)
 */
enum {
    GTEL_NVML_RECOVERY_NONE,
    GTEL_NVML_RECOVERY_DRAIN_P2P = 3,
    GTEL_NVML_RECOVERY_DRAIN_AND_RESET,
    GTEL_NVML_RECOVERY_IMEX_DOMAIN,
    GTEL_NVML_RECOVERY_SYSTEM_REBOOT = 7
};
/* nvmlPerfPolicyType_t */
enum { GTEL_NVML_POLICY_POWER, GTEL_NVML_POLICY_THERMAL, GTEL_NVML_POLICY_BOARD_LIMIT = 3 };
/* nvmlPstates_t: 0 to 15, or this. */
enum { GTEL_NVML_PSTATE_UNKNOWN = 32 };

/* nvmlClocksEventReasons, the bits (older name: nvmlClocksThrottleReasons). */
enum {
    GTEL_NVML_REASON_SW_POWER_CAP = 0x4,
    GTEL_NVML_REASON_HW_SLOWDOWN = 0x8,
    GTEL_NVML_REASON_SW_THERMAL = 0x20,
    GTEL_NVML_REASON_HW_THERMAL = 0x40,
    GTEL_NVML_REASON_HW_POWER_BRAKE = 0x80
};

/* NVML_FI_DEV_* (Field Value Enums). */
enum {
    GTEL_NVML_FI_RETIRED_SBE = 29,
    GTEL_NVML_FI_RETIRED_DBE = 30,
    GTEL_NVML_FI_RETIRED_PENDING = 31,
    GTEL_NVML_FI_PERF_POWER = 74, /* PERF_POLICY_*: nanoseconds */
    GTEL_NVML_FI_PERF_THERMAL = 75,
    GTEL_NVML_FI_PERF_BOARD_LIMIT = 77,
    GTEL_NVML_FI_PERF_RELIABILITY = 79,
    GTEL_NVML_FI_MEMORY_TEMP = 82,
    GTEL_NVML_FI_PCIE_REPLAYS = 94,
    GTEL_NVML_FI_LINK_TX_KIB = 138, /* NVLINK_THROUGHPUT_DATA_*: payload; scopeId is the link */
    GTEL_NVML_FI_LINK_RX_KIB = 139,
    GTEL_NVML_FI_REMAPPED_COR = 142,
    GTEL_NVML_FI_REMAPPED_UNC = 143,
    GTEL_NVML_FI_REMAPPED_PENDING = 144,
    GTEL_NVML_FI_REMAPPED_FAILURE = 145,
    GTEL_NVML_FI_LINK_REPLAYS = 161,
    GTEL_NVML_FI_LINK_RECOVERIES = 162,
    GTEL_NVML_FI_LINK_CRC_ERRORS = 163,
    GTEL_NVML_FI_LINK_STATE = 165,
    GTEL_NVML_FI_PCIE_RECOVERIES = 169, /* from L0 to recovery */
    GTEL_NVML_FI_C2C_LINKS = 170, /* so many links to the CPU; C2C_LINK_* below: scopeId is one */
    GTEL_NVML_FI_C2C_STATE = 171,
    GTEL_NVML_FI_PCIE_CORRECTABLE = 173,
    GTEL_NVML_FI_PCIE_NAKS_RECEIVED = 174,
    GTEL_NVML_FI_PCIE_RECEIVER_ERROR = 175,
    GTEL_NVML_FI_PCIE_BAD_TLP = 176,
    GTEL_NVML_FI_PCIE_NAKS_SENT = 177,
    GTEL_NVML_FI_PCIE_BAD_DLLP = 178,
    GTEL_NVML_FI_PCIE_NONFATAL = 179,
    GTEL_NVML_FI_PCIE_FATAL = 180,
    GTEL_NVML_FI_PCIE_UNSUPPORTED = 181,
    GTEL_NVML_FI_PCIE_LCRC = 182,
    GTEL_NVML_FI_PCIE_LANE = 183,
    GTEL_NVML_FI_POWER_AVERAGE = 185, /* milliwatts, over 1 s */
    GTEL_NVML_FI_POWER_INSTANT = 186, /* milliwatts; so are the limits */
    GTEL_NVML_FI_POWER_LIMIT_MIN = 187,
    GTEL_NVML_FI_POWER_LIMIT_MAX = 188,
    GTEL_NVML_FI_POWER_LIMIT_DEFAULT = 189,
    GTEL_NVML_FI_POWER_LIMIT_REQUESTED = 192,
    GTEL_NVML_FI_TLIMIT_SHUTDOWN = 193, /* degrees relative to T.Limit */
    GTEL_NVML_FI_TLIMIT_SLOWDOWN = 194,
    GTEL_NVML_FI_TLIMIT_MEM_MAX = 195,
    GTEL_NVML_FI_TLIMIT_GPU_MAX = 196,
    GTEL_NVML_FI_PCIE_TX_BYTES = 197, /* "value can be wrapped": 32 bits on an H200 */
    GTEL_NVML_FI_PCIE_RX_BYTES = 198,
    GTEL_NVML_FI_LINK5_TX_BYTES = 202, /* NVLINK_COUNT_*: NVLink 5 */
    GTEL_NVML_FI_LINK5_RX_BYTES = 204,
    GTEL_NVML_FI_LINK5_RECOVERIES = 215,
    GTEL_NVML_FI_LINK5_ERRORS = 219, /* effective: those that correction left */
    GTEL_NVML_FI_RECOVERY_ACTION = 230,
    GTEL_NVML_FI_C2C_CRC_ERRORS = 231, /* C2C_LINK_ERROR_INTR */
    GTEL_NVML_FI_C2C_REPLAYS = 232,
    GTEL_NVML_FI_SW_THERMAL_TIME = 269, /* CLOCKS_EVENT_REASON_*: nanoseconds; from 580.82 on */
    GTEL_NVML_FI_HW_THERMAL_TIME = 270,
    GTEL_NVML_FI_POWER_BRAKE_TIME = 271,
    GTEL_NVML_FI_SW_THERMAL_TIME_575 = 251, /* the same in drivers 575 to 580.81 */
    GTEL_NVML_FI_HW_THERMAL_TIME_575 = 252,
    GTEL_NVML_FI_POWER_BRAKE_TIME_575 = 253
};

/* scopeId of the power fields. */
enum { GTEL_NVML_SCOPE_GPU, GTEL_NVML_SCOPE_MODULE, GTEL_NVML_SCOPE_MEMORY };

/* scopeId of the fields of links, for the sum of all. */
#define GTEL_NVML_SCOPE_ALL_LINKS UINT32_MAX

/* nvmlValueType_t. An unsigned long is 64 bits wide on Linux and 32 on Windows. */
enum {
    GTEL_NVML_TYPE_DOUBLE,
    GTEL_NVML_TYPE_UINT,
    GTEL_NVML_TYPE_ULONG,
    GTEL_NVML_TYPE_ULLONG,
    GTEL_NVML_TYPE_SLLONG,
    GTEL_NVML_TYPE_SINT,
    GTEL_NVML_TYPE_USHORT
};

/* A versioned struct carries this word at its beginning (NVML_STRUCT_VERSION). */
#define GTEL_NVML_VERSION(type, n) ((unsigned)(sizeof(type) | ((unsigned)(n) << 24)))

/* nvmlPciInfo_t (Device Structs) */
struct gtel_nvml_pci {
    char bus_id_legacy[GTEL_NVML_LEGACY_BUS_ID_SIZE];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id; /* device in the high half, vendor in the low half */
    unsigned pci_subsystem_id;
    char bus_id[GTEL_NVML_BUS_ID_SIZE];
};

/* nvmlUtilization_t: percent */
struct gtel_nvml_utilization {
    unsigned gpu;
    unsigned memory;
};

/* nvmlMemory_t: bytes; used includes what the driver reserves */
struct gtel_nvml_memory {
    uint64_t total;
    uint64_t free;
    uint64_t used;
};

/* nvmlMemory_v2_t: bytes; total = reserved + used + free */
struct gtel_nvml_memory_v2 {
    unsigned version;
    uint64_t total;
    uint64_t reserved;
    uint64_t free;
    uint64_t used;
};

/* nvmlTemperature_v1_t: degrees Celsius */
struct gtel_nvml_temperature {
    unsigned version;
    unsigned sensor;
    int temperature;
};

/* nvmlMarginTemperature_v1_t: degrees Celsius */
struct gtel_nvml_margin {
    unsigned version;
    int margin;
};

/* nvmlFanSpeedInfo_v1_t: revolutions per minute */
struct gtel_nvml_fan_speed {
    unsigned version;
    unsigned fan;
    unsigned speed;
};

/* nvmlViolationTime_t: microseconds and nanoseconds */
struct gtel_nvml_violation {
    uint64_t reference_time;
    uint64_t violation_time;
};

/* nvmlEccSramErrorStatus_v1_t: errors of SRAM, uncorrected where the name does not say otherwise */
struct gtel_nvml_sram_status {
    unsigned version;
    uint64_t aggregate_parity;
    uint64_t aggregate_secded;
    uint64_t aggregate_corrected;
    uint64_t volatile_parity;
    uint64_t volatile_secded;
    uint64_t volatile_corrected;
    uint64_t aggregate_l2; /* by place, for the life of the board */
    uint64_t aggregate_sm;
    uint64_t aggregate_pcie;
    uint64_t aggregate_mcu;
    uint64_t aggregate_other;
    unsigned is_threshold_exceeded; /* so many that the board is to be examined */
};

/* nvmlRowRemapperHistogramValues_t: memory banks, by how many of their spare rows are left */
struct gtel_nvml_remap_histogram {
    unsigned max; /* all of them */
    unsigned high;
    unsigned partial;
    unsigned low;
    unsigned none;
};

/* nvmlRepairStatus_v1_t: what the next reset will repair */
struct gtel_nvml_repair_status {
    unsigned version;
    unsigned is_channel_pending; /* of memory */
    unsigned is_tpc_pending;     /* texture processing cluster */
};

/* nvmlGpuFabricState_t and NVML_GPU_FABRIC_HEALTH_SUMMARY_* */
enum { GTEL_NVML_FABRIC_NONE, GTEL_NVML_FABRIC_COMPLETED = 3 };
enum {
    GTEL_NVML_FABRIC_UNKNOWN,
    GTEL_NVML_FABRIC_HEALTHY,
    GTEL_NVML_FABRIC_UNHEALTHY,
    GTEL_NVML_FABRIC_LIMITED
};

/* nvmlGpuFabricInfo_v3_t; the second version ends before the summary */
struct gtel_nvml_fabric {
    unsigned version;
    unsigned char cluster_uuid[16];
    int status; /* a result code, once the state is completed */
    unsigned clique;
    unsigned char state;
    unsigned health_mask;
    unsigned char health_summary;
};
#define GTEL_NVML_FABRIC_V2 ((unsigned)offsetof(struct gtel_nvml_fabric, health_summary) | 2u << 24)

/* nvmlConfComputeSystemState_t */
struct gtel_nvml_confidential {
    unsigned environment;
    unsigned feature; /* 0 off, 1 on, 2 on for bare metal */
    unsigned is_open_to_tools;
};

/* nvmlGridLicensableFeatures_t, with nvmlGridLicensableFeature_t and nvmlGridLicenseExpiry_t */
enum { GTEL_NVML_LICENCES_MAX = 3 };
struct gtel_nvml_licences {
    int is_supported;
    unsigned n;
    struct {
        unsigned code;
        unsigned is_licensed;
        char info[128];
        char name[128];
        unsigned is_enabled;
        unsigned year;
        unsigned short time[5];
        unsigned char expiry;
    } feature[GTEL_NVML_LICENCES_MAX];
};

/* nvmlFBCStats_t */
struct gtel_nvml_capture_stats {
    unsigned sessions;
    unsigned fps; /* mean */
    unsigned latency_us;
};

/* nvmlProcessUtilizationInfo_v1_t: percent, since the sample before */
struct gtel_nvml_process_share {
    uint64_t time_us; /* on the driver's clock */
    unsigned pid;
    unsigned sm;
    unsigned memory;
    unsigned encoder;
    unsigned decoder;
    unsigned jpeg;
    unsigned ofa;
};

/* nvmlProcessUtilizationSample_t: the same of drivers before 550 */
struct gtel_nvml_process_sample {
    unsigned pid;
    uint64_t time_us;
    unsigned sm;
    unsigned memory;
    unsigned encoder;
    unsigned decoder;
};

/* nvmlProcessesUtilizationInfo_v1_t */
struct gtel_nvml_shares {
    unsigned version;
    unsigned n;       /* in: room; out: used, or wanted with INSUFFICIENT_SIZE */
    uint64_t last_us; /* only samples after it */
    struct gtel_nvml_process_share *share;
};

/* nvmlEventType*: bits, of those that are used here */
#define GTEL_NVML_EVENT_DOUBLE_BIT_ECC UINT64_C(0x2)
#define GTEL_NVML_EVENT_XID UINT64_C(0x8)
#define GTEL_NVML_EVENT_RECOVERY_ACTION UINT64_C(0x8000)

/* nvmlEventSet_t: an opaque pointer. */
struct gtel_nvml_event_set;

/* nvmlEventData_t; data is the number of an Xid, 999 for one that has none, and 0 for others */
struct gtel_nvml_event {
    struct gtel_nvml_device *device;
    uint64_t type;
    uint64_t data;
    unsigned gpu_instance;
    unsigned compute_instance;
};

/* nvmlValue_t */
union gtel_nvml_value {
    double d;
    unsigned ui;
    unsigned long ul;
    uint64_t ull;
    int64_t sll;
    int si;
    unsigned short us;
};

/* nvmlFieldValue_t */
struct gtel_nvml_field {
    unsigned field_id;
    unsigned scope_id;
    int64_t timestamp; /* microseconds since 1970 */
    int64_t latency_us;
    unsigned value_type;
    int rc; /* of this entry */
    union gtel_nvml_value value;
};

/* nvmlGpmSample_t: an opaque pointer. */
struct gtel_nvml_gpm_sample;

/* NVML_GPM_METRIC_* (GPM Enums): percent, and PCIe in MiB/s */
enum {
    GTEL_NVML_GPM_SM = 2,
    GTEL_NVML_GPM_SM_OCCUPANCY = 3,
    GTEL_NVML_GPM_TENSOR = 5,
    GTEL_NVML_GPM_DRAM = 10,
    GTEL_NVML_GPM_FP64 = 11,
    GTEL_NVML_GPM_FP32 = 12,
    GTEL_NVML_GPM_FP16 = 13,
    GTEL_NVML_GPM_PCIE_TX = 20,
    GTEL_NVML_GPM_PCIE_RX = 21,
    GTEL_NVML_GPM_NVDEC = 30, /* the first of 8 */
    GTEL_NVML_GPM_NVJPG = 40, /* of 8 */
    GTEL_NVML_GPM_NVOFA = 50, /* of 2 */
    GTEL_NVML_GPM_NVENC = 166 /* of 4 */
};

/*
 * Plain versions, unlike those of other structs. The number of metrics is that of the header of
 * 13.5: 98 in 12.0, 210 in 12.9 and 13.0, under the same version.
 */
enum { GTEL_NVML_GPM_SUPPORT_VERSION = 1, GTEL_NVML_GPM_GET_VERSION = 1, GTEL_NVML_GPM_MAX = 477 };

/* nvmlGpmSupport_t (GPM Structs) */
struct gtel_nvml_gpm_support {
    unsigned version;
    unsigned is_supported;
};

/* nvmlGpmMetric_t; the texts are the library's. */
struct gtel_nvml_gpm_metric {
    unsigned metric_id;
    int rc;
    double value;
    const char *short_name;
    const char *long_name;
    const char *unit;
};

/* nvmlGpmMetricsGet_t; older libraries know fewer elements and rely on n. */
struct gtel_nvml_gpm_get {
    unsigned version;
    unsigned n;
    struct gtel_nvml_gpm_sample *older;
    struct gtel_nvml_gpm_sample *newer;
    struct gtel_nvml_gpm_metric metric[GTEL_NVML_GPM_MAX];
};

/*
 * Shapes: parameters that many calls share. Every call returns a result code.
 */
#define GTEL_NVML_PARAMS_GET(type) (struct gtel_nvml_device * device, type * ret)
#define GTEL_NVML_PARAMS_plain (void)
#define GTEL_NVML_PARAMS_system_text (char *ret, unsigned size)
#define GTEL_NVML_PARAMS_count (unsigned *ret)
#define GTEL_NVML_PARAMS_by_index (unsigned index, struct gtel_nvml_device **ret)
#define GTEL_NVML_PARAMS_by_place                                                                  \
    (struct gtel_nvml_device * device, unsigned place, struct gtel_nvml_device **ret)
#define GTEL_NVML_PARAMS_by_text (const char *text, struct gtel_nvml_device **ret)
#define GTEL_NVML_PARAMS_text (struct gtel_nvml_device * device, char *ret, unsigned size)
#define GTEL_NVML_PARAMS_u32 GTEL_NVML_PARAMS_GET(unsigned)
#define GTEL_NVML_PARAMS_u64 GTEL_NVML_PARAMS_GET(uint64_t)
#define GTEL_NVML_PARAMS_u32_of (struct gtel_nvml_device * device, unsigned of, unsigned *ret)
#define GTEL_NVML_PARAMS_u32_pair (struct gtel_nvml_device * device, unsigned *ret, unsigned *ret_2)
#define GTEL_NVML_PARAMS_u64_of2                                                                   \
    (struct gtel_nvml_device * device, unsigned of, unsigned of_2, uint64_t *ret)
#define GTEL_NVML_PARAMS_u64_of3                                                                   \
    (struct gtel_nvml_device * device, unsigned of, unsigned of_2, unsigned of_3, uint64_t *ret)
#define GTEL_NVML_PARAMS_u32_three                                                                 \
    (struct gtel_nvml_device * device, unsigned *ret, unsigned *ret_2, unsigned *ret_3)
#define GTEL_NVML_PARAMS_i32_pair (struct gtel_nvml_device * device, int *ret, int *ret_2)
#define GTEL_NVML_PARAMS_system_i32 (int *ret)
#define GTEL_NVML_PARAMS_text_80 (struct gtel_nvml_device * device, char *ret)
#define GTEL_NVML_PARAMS_fabric GTEL_NVML_PARAMS_GET(struct gtel_nvml_fabric)
#define GTEL_NVML_PARAMS_confidential (struct gtel_nvml_confidential * ret)
#define GTEL_NVML_PARAMS_licences GTEL_NVML_PARAMS_GET(struct gtel_nvml_licences)
#define GTEL_NVML_PARAMS_vgpus (struct gtel_nvml_device * device, unsigned *n, unsigned *ret)
#define GTEL_NVML_PARAMS_sram GTEL_NVML_PARAMS_GET(struct gtel_nvml_sram_status)
#define GTEL_NVML_PARAMS_histogram GTEL_NVML_PARAMS_GET(struct gtel_nvml_remap_histogram)
#define GTEL_NVML_PARAMS_repair GTEL_NVML_PARAMS_GET(struct gtel_nvml_repair_status)
#define GTEL_NVML_PARAMS_capture GTEL_NVML_PARAMS_GET(struct gtel_nvml_capture_stats)
#define GTEL_NVML_PARAMS_pci GTEL_NVML_PARAMS_GET(struct gtel_nvml_pci)
#define GTEL_NVML_PARAMS_utilization GTEL_NVML_PARAMS_GET(struct gtel_nvml_utilization)
#define GTEL_NVML_PARAMS_memory GTEL_NVML_PARAMS_GET(struct gtel_nvml_memory)
#define GTEL_NVML_PARAMS_memory_v2 GTEL_NVML_PARAMS_GET(struct gtel_nvml_memory_v2)
#define GTEL_NVML_PARAMS_temperature GTEL_NVML_PARAMS_GET(struct gtel_nvml_temperature)
#define GTEL_NVML_PARAMS_margin GTEL_NVML_PARAMS_GET(struct gtel_nvml_margin)
#define GTEL_NVML_PARAMS_fan_speed GTEL_NVML_PARAMS_GET(struct gtel_nvml_fan_speed)
#define GTEL_NVML_PARAMS_violation                                                                 \
    (struct gtel_nvml_device * device, unsigned of, struct gtel_nvml_violation *ret)
#define GTEL_NVML_PARAMS_fields                                                                    \
    (struct gtel_nvml_device * device, int n, struct gtel_nvml_field *ret)
/* nvmlProcessInfo_t has had three forms under the same names: bytes */
#define GTEL_NVML_PARAMS_processes (struct gtel_nvml_device * device, unsigned *n, void *ret)
#define GTEL_NVML_PARAMS_shares GTEL_NVML_PARAMS_GET(struct gtel_nvml_shares)
#define GTEL_NVML_PARAMS_samples                                                                   \
    (struct gtel_nvml_device * device, struct gtel_nvml_process_sample * ret, unsigned *n,         \
     uint64_t last_us)
#define GTEL_NVML_PARAMS_event_create (struct gtel_nvml_event_set * *ret)
#define GTEL_NVML_PARAMS_event_free (struct gtel_nvml_event_set * set)
#define GTEL_NVML_PARAMS_event_register                                                            \
    (struct gtel_nvml_device * device, uint64_t types, struct gtel_nvml_event_set * set)
#define GTEL_NVML_PARAMS_event_wait                                                                \
    (struct gtel_nvml_event_set * set, struct gtel_nvml_event * ret, unsigned timeout_ms)
#define GTEL_NVML_PARAMS_gpm_support GTEL_NVML_PARAMS_GET(struct gtel_nvml_gpm_support)
#define GTEL_NVML_PARAMS_gpm_alloc (struct gtel_nvml_gpm_sample * *ret)
#define GTEL_NVML_PARAMS_gpm_free (struct gtel_nvml_gpm_sample * sample)
#define GTEL_NVML_PARAMS_gpm_sample                                                                \
    (struct gtel_nvml_device * device, struct gtel_nvml_gpm_sample * sample)
#define GTEL_NVML_PARAMS_gpm_sample_of                                                             \
    (struct gtel_nvml_device * device, unsigned of, struct gtel_nvml_gpm_sample *sample)
#define GTEL_NVML_PARAMS_gpm_get (struct gtel_nvml_gpm_get * ret)

/* The calls as a table of typed pointers; a call that the library lacks is NULL. */
struct gtel_nvml_calls {
#define GTEL_NVML_SYM(name, need, shape) int(*name) GTEL_NVML_PARAMS_##shape;
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
};

#endif
