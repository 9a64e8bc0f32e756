/* SPDX-License-Identifier: MIT */
/*
 * The table of values: which NVML call or field feeds which metric.
 *
 * Units are those of the NVML API Reference: percent, MHz, mW, mJ, ns, degrees Celsius.
 * Alternatives of one group stand in order of preference. Fields come first within a group, since
 * they are read first.
 *
 * The counters, as an H200 with driver 580.159 answers them: width, unit, fastest growth there can
 * be, when they are full at that, and whether a reading per interval (1 s, up to a minute) will do.
 *
 *     counter                               bits  unit   fastest         full after    verdict
 *     nvmlDeviceGetTotalEnergyConsumption    64   mJ     3e6/s (3 kW)    195,000 a     counts
 *     fields 74, 75, 77, 79, 269 to 271      64   ns     1e9/s           585 a         counts (1)
 *     fields 251 to 253                      64   ns     1e9/s           585 a         counts (2)
 *     nvmlDeviceGetViolationStatus           64   ns     1e9/s           585 a         counts (2)
 *     fields 197, 198: PCIe bytes            32   B      64e9/s          0.067 s       pcie.c
 *     GPM 20, 21: PCIe MiB/s                  -   MiB/s  a mean, no counter            pcie.c (3)
 *     field 94, ...GetPcieReplayCounter      32   1      1e6/s (4)       1.2 h         counts
 *     nvmlDeviceGetTotalEccErrors            64   1      1e6/s           585,000 a     counts
 *     ...MemoryErrorCounter, ...SramEcc...   64   1      1e6/s           585,000 a     counts
 *     fields 169, 173 to 183: PCIe errors    32   1      1e6/s (4)       1.2 h         counts
 *     fields 142, 143: remapped rows         64   1      512 in all      never         counts
 *     fields 29, 30: retired pages            ?   1      64 in all       never         counts (2)
 *
 * (1) field 78, one of them, was 25,199,059,712, beyond 32 bits; (2) not supported there, width and
 * unit by the API Reference; (3) right in windows of 1, 5, 20 and 60 s at full speed; (4) each
 * replay waits for an answer over the link.
 *
 * What a call costs decides its period. Most take 1 to 2 us there, all of it CPU time; but the
 * energy counter 3.9 ms, the highest clocks 1.4 ms each, the thermal margin 1.0 ms, the thermal
 * time counters 0.6 to 0.8 ms each, and 0.15 to 0.2 ms each PCIe error, BAR1, ECC mode and repair.
 */
#include "sources/nvidia/rows.h"

#include "sources/nvidia/library.h"

#define CALL(name) .call = #name, .offset = offsetof(struct gtel_nvml_calls, name)
#define READ(name) .shape = GTEL_NVML_SHAPE_##name
#define FORM(name) .form = GTEL_NVML_FORM_##name
#define FIELD(id, scope) .call = "field " #id, .of = GTEL_NVML_FI_##id, .of_2 = (scope)
#define GROUP(name) .group = GTEL_NVML_GROUP_##name
#define SINCE(major, minor) .since = GTEL_NVML_DRIVER(major, minor)
#define BEFORE(major, minor) .before = GTEL_NVML_DRIVER(major, minor)
#define MINUTE .period = GTEL_NVML_EACH_MINUTE
#define INSTANCE .is_of_instance = true
#define SETTING .period = GTEL_NVML_SETTING
#define TO(name) .metric = GTEL_M_##name, .headline = GTEL_M_NONE
#define HEADLINE(name) .metric = GTEL_M_##name, .headline = GTEL_M_GPU_##name
#define DIM(text) .dim = {GTEL_STR_INIT(text)}
#define DIMS(text, text_2) .dim = {GTEL_STR_INIT(text), GTEL_STR_INIT(text_2)}
#define PERCENT .scale = 1e-2
#define MILLI .scale = 1e-3
#define NANO .scale = 1e-9
#define MEGA .scale = 1e6
#define PLAIN .scale = 1
#define PARTS(name) .form = GTEL_NVML_FORM_PARTS, .part = (name)
#define THRESHOLD(name)                                                                            \
    CALL(nvmlDeviceGetTemperatureThreshold), READ(DEGREES), SETTING, PLAIN,                        \
        .of = GTEL_NVML_THRESHOLD_##name
#define CLOCK(name) CALL(nvmlDeviceGetClockInfo), READ(U32_OF), .of = GTEL_NVML_CLOCK_##name, MEGA
#define CLOCK_MAX(name)                                                                            \
    CALL(nvmlDeviceGetMaxClockInfo), READ(U32_OF), .of = GTEL_NVML_CLOCK_##name, SETTING, MEGA
#define THROTTLE(id) FIELD(id, 0), MINUTE, TO(THROTTLE_TIME), NANO
#define VIOLATION(policy)                                                                          \
    CALL(nvmlDeviceGetViolationStatus), READ(VIOLATION), MINUTE, TO(THROTTLE_TIME), NANO,          \
        .of = GTEL_NVML_POLICY_##policy
#define ECC_TOTAL(type, counter)                                                                   \
    CALL(nvmlDeviceGetTotalEccErrors), READ(U64_OF2), MINUTE, TO(ERROR_COUNT), PLAIN,              \
        .of = GTEL_NVML_ECC_##type, .of_2 = GTEL_NVML_ECC_##counter
#define ECC(type, counter, place)                                                                  \
    CALL(nvmlDeviceGetMemoryErrorCounter), READ(U64_OF3),                                          \
        .of = GTEL_NVML_ECC_##type, .of_2 = GTEL_NVML_ECC_##counter,                               \
        .of_3 = GTEL_NVML_LOCATION_##place, MINUTE, TO(ERROR_COUNT), PLAIN
#define PCIE(id, kind, severity)                                                                   \
    FIELD(PCIE_##id, 0), MINUTE, TO(ERROR_COUNT), DIMS(kind, severity), PLAIN

#define COUNT(kind, severity)                                                                      \
    {                                                                                              \
        GTEL_M_ERROR_COUNT, {GTEL_STR_INIT(kind), GTEL_STR_INIT(severity)}, 1                      \
    }
#define OF_GPU(name)                                                                               \
    {                                                                                              \
        GTEL_M_##name, {{NULL, 0}}, 1                                                              \
    }
#define OF(name, dim, scale)                                                                       \
    {                                                                                              \
        GTEL_M_##name, {GTEL_STR_INIT(dim)}, (scale)                                               \
    }

/* Corrected ones of SRAM have rows of their own, which older cards answer, too. */
static const struct gtel_nvml_part sram[] = {
    COUNT("ecc_aggregate_sram_parity", "uncorrected"),
    COUNT("ecc_aggregate_sram_secded", "uncorrected"),
    OF_GPU(NONE),
    COUNT("ecc_volatile_sram_parity", "uncorrected"),
    COUNT("ecc_volatile_sram_secded", "uncorrected"),
    OF_GPU(NONE),
    COUNT("ecc_aggregate_sram_l2", "uncorrected"),
    COUNT("ecc_aggregate_sram_sm", "uncorrected"),
    COUNT("ecc_aggregate_sram_pcie", "uncorrected"),
    COUNT("ecc_aggregate_sram_mcu", "uncorrected"),
    COUNT("ecc_aggregate_sram_other", "uncorrected"),
    OF_GPU(GPU_SRAM_THRESHOLD),
};
static const struct gtel_nvml_part bar1[] = {OF_GPU(NONE), OF(MEMORY_USED, "bar1", 1)};
static const struct gtel_nvml_part ecc_mode[] = {OF_GPU(GPU_ECC), OF_GPU(GPU_ECC_PENDING)};
static const struct gtel_nvml_part repair[] = {OF_GPU(GPU_MEMORY_REPAIR_PENDING),
                                               OF_GPU(GPU_TPC_REPAIR_PENDING)};
static const struct gtel_nvml_part histogram[] = {
    OF(MEMORY_BANKS_ALL_SPARE, "vram", 1), OF(MEMORY_BANKS_HIGH_SPARE, "vram", 1),
    OF(MEMORY_BANKS_PARTIAL_SPARE, "vram", 1), OF(MEMORY_BANKS_LOW_SPARE, "vram", 1),
    OF(MEMORY_BANKS_NO_SPARE, "vram", 1)};
static const struct gtel_nvml_part fabric[] = {OF_GPU(GPU_FABRIC_READY), OF_GPU(GPU_FABRIC_HEALTH)};
static const struct gtel_nvml_part encoder[] = {OF(ENGINE_SESSIONS, "encode", 1),
                                                OF(ENGINE_FRAMES, "encode", 1),
                                                OF(ENGINE_LATENCY, "encode", 1e-6)};
static const struct gtel_nvml_part capture[] = {OF(ENGINE_SESSIONS, "capture", 1),
                                                OF(ENGINE_FRAMES, "capture", 1),
                                                OF(ENGINE_LATENCY, "capture", 1e-6)};

const struct gtel_nvml_row gtel_nvml_rows[] = {
    /* Power of the board: momentary, else the mean of a second, else what the old call gives. */
    {FIELD(POWER_INSTANT, GTEL_NVML_SCOPE_GPU), GROUP(POWER), HEADLINE(POWER), DIM("gpu"), MILLI},
    {FIELD(POWER_AVERAGE, GTEL_NVML_SCOPE_GPU), GROUP(POWER), HEADLINE(POWER), DIM("gpu"), MILLI},
    {CALL(nvmlDeviceGetPowerUsage), READ(U32), GROUP(POWER), HEADLINE(POWER), DIM("gpu"), MILLI},
    {FIELD(POWER_AVERAGE, GTEL_NVML_SCOPE_GPU), TO(POWER_AVERAGE), DIM("gpu"), MILLI},
    {FIELD(POWER_INSTANT, GTEL_NVML_SCOPE_MODULE), TO(POWER), DIM("module"), MILLI},
    {FIELD(POWER_AVERAGE, GTEL_NVML_SCOPE_MEMORY), FORM(MEMORY_POWER), TO(POWER), DIM("memory"),
     MILLI},
    {CALL(nvmlDeviceGetTotalEnergyConsumption), READ(U64), MINUTE, HEADLINE(ENERGY), DIM("gpu"),
     MILLI},
    {CALL(nvmlDeviceGetEnforcedPowerLimit), READ(U32), SETTING, HEADLINE(POWER_LIMIT), DIM("gpu"),
     MILLI},
    {FIELD(POWER_LIMIT_DEFAULT, 0), SETTING, TO(POWER_LIMIT_DEFAULT), DIM("gpu"), MILLI},
    {FIELD(POWER_LIMIT_REQUESTED, 0), SETTING, TO(POWER_LIMIT_REQUESTED), DIM("gpu"), MILLI},
    {FIELD(POWER_LIMIT_MIN, 0), SETTING, TO(POWER_LIMIT_MIN), DIM("gpu"), MILLI},
    {FIELD(POWER_LIMIT_MAX, 0), SETTING, TO(POWER_LIMIT_MAX), DIM("gpu"), MILLI},

    {CALL(nvmlDeviceGetUtilizationRates), READ(UTILIZATION), FORM(UTILIZATION), TO(NONE), PERCENT},
    {CALL(nvmlDeviceGetEncoderUtilization), READ(U32_PAIR), TO(ENGINE_BUSY), DIM("encode"),
     PERCENT},
    {CALL(nvmlDeviceGetDecoderUtilization), READ(U32_PAIR), TO(ENGINE_BUSY), DIM("decode"),
     PERCENT},
    {CALL(nvmlDeviceGetJpgUtilization), READ(U32_PAIR), TO(ENGINE_BUSY), DIM("jpeg"), PERCENT},
    {CALL(nvmlDeviceGetOfaUtilization), READ(U32_PAIR), TO(ENGINE_BUSY), DIM("ofa"), PERCENT},

    /* The two have different ideas of "used" (emit.c): one of them for good, never a mixture. */
    {CALL(nvmlDeviceGetMemoryInfo_v2), READ(MEMORY_V2), GROUP(MEMORY), FORM(MEMORY), TO(NONE),
     INSTANCE, PLAIN},
    {CALL(nvmlDeviceGetMemoryInfo), READ(MEMORY), GROUP(MEMORY), FORM(MEMORY), TO(NONE), INSTANCE,
     PLAIN},
    {CALL(nvmlDeviceGetBAR1MemoryInfo), READ(MEMORY), FORM(BAR1), SETTING, TO(NONE), INSTANCE,
     PLAIN},
    /* What is used is no setting: absent in between, not repeated. */
    {CALL(nvmlDeviceGetBAR1MemoryInfo), READ(MEMORY), PARTS(bar1), MINUTE, TO(NONE), INSTANCE},

    {CALL(nvmlDeviceGetEncoderStats), READ(ENCODER), PARTS(encoder), TO(ENGINE_SESSIONS)},
    {CALL(nvmlDeviceGetFBCStats), READ(CAPTURE), PARTS(capture), TO(ENGINE_SESSIONS)},

    {CALL(nvmlDeviceGetTemperatureV), READ(TEMPERATURE_V), GROUP(TEMPERATURE), TO(TEMPERATURE),
     DIM("gpu"), PLAIN},
    {CALL(nvmlDeviceGetTemperature), READ(DEGREES), .of = GTEL_NVML_TEMPERATURE_GPU,
     GROUP(TEMPERATURE), TO(TEMPERATURE), DIM("gpu"), PLAIN},
    {FIELD(MEMORY_TEMP, 0), TO(TEMPERATURE), DIM("memory"), PLAIN},
    {CALL(nvmlDeviceGetMarginTemperature), READ(MARGIN), MINUTE, TO(TEMPERATURE_MARGIN), DIM("gpu"),
     PLAIN},
    /* Which form of limits a card has depends on the card (an RTX 4080 SUPER has the first). */
    {THRESHOLD(GPU_MAX), TO(TEMPERATURE_LIMIT), DIM("gpu")},
    {THRESHOLD(SLOWDOWN), TO(TEMPERATURE_CRITICAL), DIM("gpu")},
    {THRESHOLD(SHUTDOWN), TO(TEMPERATURE_EMERGENCY), DIM("gpu")},
    {THRESHOLD(MEM_MAX), TO(TEMPERATURE_LIMIT), DIM("memory")},
    {FIELD(TLIMIT_GPU_MAX, 0), SETTING, TO(TEMPERATURE_LIMIT_MARGIN), DIM("gpu"), PLAIN},
    {FIELD(TLIMIT_SLOWDOWN, 0), SETTING, TO(TEMPERATURE_CRITICAL_MARGIN), DIM("gpu"), PLAIN},
    {FIELD(TLIMIT_SHUTDOWN, 0), SETTING, TO(TEMPERATURE_EMERGENCY_MARGIN), DIM("gpu"), PLAIN},
    {FIELD(TLIMIT_MEM_MAX, 0), SETTING, TO(TEMPERATURE_LIMIT_MARGIN), DIM("memory"), PLAIN},

    {CLOCK(GRAPHICS), TO(FREQUENCY_ACTUAL), DIM("graphics")},
    {CLOCK(SM), TO(FREQUENCY_ACTUAL), DIM("sm")},
    {CLOCK(MEM), TO(FREQUENCY_ACTUAL), DIM("memory")},
    {CLOCK(VIDEO), TO(FREQUENCY_ACTUAL), DIM("video")},
    /* What the board can do; no call says what it may do now (nvidia-smi -lgc). */
    {CLOCK_MAX(GRAPHICS), TO(FREQUENCY_HARDWARE_MAX), DIM("graphics")},
    {CLOCK_MAX(SM), TO(FREQUENCY_HARDWARE_MAX), DIM("sm")},
    {CLOCK_MAX(MEM), TO(FREQUENCY_HARDWARE_MAX), DIM("memory")},
    {CLOCK_MAX(VIDEO), TO(FREQUENCY_HARDWARE_MAX), DIM("video")},
    {CALL(nvmlDeviceGetPerformanceState), READ(PSTATE), TO(GPU_PERFORMANCE_STATE), PLAIN},

    {CALL(nvmlDeviceGetCurrentClocksEventReasons), READ(U64), GROUP(REASONS), FORM(REASONS),
     TO(THROTTLE_ACTIVE), PLAIN},
    {CALL(nvmlDeviceGetCurrentClocksThrottleReasons), READ(U64), GROUP(REASONS), FORM(REASONS),
     TO(THROTTLE_ACTIVE), PLAIN},
    {THROTTLE(PERF_POWER), GROUP(TIME_POWER), DIM("power_cap")},
    {VIOLATION(POWER), GROUP(TIME_POWER), DIM("power_cap")},
    {THROTTLE(PERF_THERMAL), GROUP(TIME_THERMAL), DIM("thermal")},
    {VIOLATION(THERMAL), GROUP(TIME_THERMAL), DIM("thermal")},
    {THROTTLE(PERF_BOARD_LIMIT), GROUP(TIME_BOARD), DIM("board_limit")},
    {VIOLATION(BOARD_LIMIT), GROUP(TIME_BOARD), DIM("board_limit")},
    {THROTTLE(PERF_RELIABILITY), DIM("reliability")},
    /* Their ids moved: 251 to 253 became 269 to 271, which had been settings of power smoothing. */
    {THROTTLE(SW_THERMAL_TIME), SINCE(580, 82), DIM("sw_thermal")},
    {THROTTLE(HW_THERMAL_TIME), SINCE(580, 82), DIM("hw_thermal")},
    {THROTTLE(POWER_BRAKE_TIME), SINCE(580, 82), DIM("power_brake")},
    {THROTTLE(SW_THERMAL_TIME_575), SINCE(575, 0), BEFORE(580, 82), DIM("sw_thermal")},
    {THROTTLE(HW_THERMAL_TIME_575), SINCE(575, 0), BEFORE(580, 82), DIM("hw_thermal")},
    {THROTTLE(POWER_BRAKE_TIME_575), SINCE(575, 0), BEFORE(580, 82), DIM("power_brake")},

    {CALL(nvmlDeviceGetFanSpeed_v2), READ(FANS), GROUP(FANS), FORM(FANS), TO(FAN), PERCENT},
    {CALL(nvmlDeviceGetFanSpeed), READ(U32), GROUP(FANS), FORM(FANS), TO(FAN), PERCENT},
    {CALL(nvmlDeviceGetFanSpeedRPM), READ(FANS_RPM), FORM(FANS), TO(FAN_RPM), PLAIN},

    {CALL(nvmlDeviceGetCurrPcieLinkGeneration), READ(U32), FORM(LINK), TO(GPU_PCIE_GEN), PLAIN},
    {CALL(nvmlDeviceGetCurrPcieLinkWidth), READ(U32), FORM(LINK), TO(GPU_PCIE_WIDTH), PLAIN},
    {CALL(nvmlDeviceGetMaxPcieLinkGeneration), READ(U32), FORM(LINK), SETTING, TO(GPU_PCIE_GEN_MAX),
     PLAIN},
    {CALL(nvmlDeviceGetMaxPcieLinkWidth), READ(U32), FORM(LINK), SETTING, TO(GPU_PCIE_WIDTH_MAX),
     PLAIN},
    {FIELD(PCIE_TX_BYTES, 0), FORM(PCIE), TO(GPU_PCIE_TX), PLAIN},
    {FIELD(PCIE_RX_BYTES, 0), FORM(PCIE), TO(GPU_PCIE_RX), PLAIN},
    {FIELD(PCIE_REPLAYS, 0), GROUP(REPLAYS), TO(GPU_PCIE_REPLAYS), PLAIN},
    {CALL(nvmlDeviceGetPcieReplayCounter), READ(U32), GROUP(REPLAYS), TO(GPU_PCIE_REPLAYS), PLAIN},

    {PCIE(RECOVERIES, "pcie_recovery", "corrected")},
    {PCIE(CORRECTABLE, "pcie", "corrected")},
    {PCIE(NONFATAL, "pcie", "nonfatal")},
    {PCIE(FATAL, "pcie", "fatal")},
    {PCIE(NAKS_RECEIVED, "pcie_nak_received", "corrected")},
    {PCIE(NAKS_SENT, "pcie_nak_sent", "corrected")},
    {PCIE(RECEIVER_ERROR, "pcie_receiver_error", "corrected")},
    {PCIE(BAD_TLP, "pcie_bad_tlp", "corrected")},
    {PCIE(BAD_DLLP, "pcie_bad_dllp", "corrected")},
    {PCIE(LCRC, "pcie_lcrc", "corrected")},
    {PCIE(LANE, "pcie_lane", "corrected")},
    {PCIE(UNSUPPORTED, "pcie_unsupported_request", "nonfatal")},

    {CALL(nvmlDeviceGetEccMode), READ(ECC_MODE), SETTING, PARTS(ecc_mode), TO(GPU_ECC)},
    {FIELD(RECOVERY_ACTION, 0), SETTING, FORM(RECOVERY), TO(GPU_RECOVERY_ACTION), PLAIN},
    {CALL(nvmlDeviceGetRepairStatus), READ(REPAIR), SETTING, PARTS(repair),
     TO(GPU_MEMORY_REPAIR_PENDING)},
    {ECC_TOTAL(CORRECTED, VOLATILE), DIMS("ecc_volatile", "corrected")},
    {ECC_TOTAL(UNCORRECTED, VOLATILE), DIMS("ecc_volatile", "uncorrected")},
    {ECC_TOTAL(CORRECTED, AGGREGATE), DIMS("ecc_aggregate", "corrected")},
    {ECC_TOTAL(UNCORRECTED, AGGREGATE), DIMS("ecc_aggregate", "uncorrected")},
    {ECC(CORRECTED, VOLATILE, DRAM), DIMS("ecc_volatile_dram", "corrected")},
    {ECC(UNCORRECTED, VOLATILE, DRAM), DIMS("ecc_volatile_dram", "uncorrected")},
    {ECC(CORRECTED, AGGREGATE, DRAM), DIMS("ecc_aggregate_dram", "corrected")},
    {ECC(UNCORRECTED, AGGREGATE, DRAM), DIMS("ecc_aggregate_dram", "uncorrected")},
    {ECC(CORRECTED, VOLATILE, SRAM), DIMS("ecc_volatile_sram", "corrected")},
    {ECC(UNCORRECTED, VOLATILE, SRAM), DIMS("ecc_volatile_sram", "uncorrected"), INSTANCE},
    {ECC(CORRECTED, AGGREGATE, SRAM), DIMS("ecc_aggregate_sram", "corrected")},
    {ECC(UNCORRECTED, AGGREGATE, SRAM), DIMS("ecc_aggregate_sram", "uncorrected")},
    {CALL(nvmlDeviceGetSramEccErrorStatus), READ(SRAM), MINUTE, PARTS(sram), TO(ERROR_COUNT)},
    {CALL(nvmlDeviceGetRowRemapperHistogram), READ(HISTOGRAM), SETTING, PARTS(histogram),
     TO(MEMORY_BANKS_ALL_SPARE)},
    {CALL(nvmlDeviceGetGpuFabricInfoV), READ(FABRIC), SETTING, PARTS(fabric), TO(GPU_FABRIC_READY)},
    {CALL(nvmlDeviceGetActiveVgpus), READ(VGPUS), SETTING, TO(GPU_VGPUS), PLAIN},
    {CALL(nvmlDeviceGetGridLicensableFeatures_v4), READ(LICENCES), SETTING, TO(GPU_VGPU_LICENSED),
     PLAIN},
    {FIELD(REMAPPED_PENDING, 0), SETTING, TO(GPU_REMAP_PENDING), PLAIN},
    {FIELD(REMAPPED_FAILURE, 0), SETTING, TO(GPU_REMAP_FAILED), PLAIN},
    {FIELD(RETIRED_PENDING, 0), SETTING, TO(GPU_RETIREMENT_PENDING), PLAIN},
    {FIELD(REMAPPED_COR, 0), MINUTE, TO(ERROR_COUNT), DIMS("remapped_rows", "corrected"), PLAIN},
    {FIELD(REMAPPED_UNC, 0), MINUTE, TO(ERROR_COUNT), DIMS("remapped_rows", "uncorrected"), PLAIN},
    {FIELD(RETIRED_SBE, 0), MINUTE, TO(ERROR_COUNT), DIMS("retired_pages", "corrected"), PLAIN},
    {FIELD(RETIRED_DBE, 0), MINUTE, TO(ERROR_COUNT), DIMS("retired_pages", "uncorrected"), PLAIN},
};

const size_t gtel_nvml_rows_n = GTEL_ARRAY_LEN(gtel_nvml_rows);

_Static_assert(GTEL_ARRAY_LEN(gtel_nvml_rows) <= GTEL_NVML_ROWS_MAX, "slots for all rows");
