/* SPDX-License-Identifier: MIT */
/*
 * What plays Level Zero in our tests does what its drivers and loaders do: the 14 behaviours that
 * readers have to survive, by their numbers. How the sources survive them: source.sysman*,
 * source.l0metrics*, golden.*l0*, e2e.faults.
 */
#include "abi/zet_abi.h"
#include "harness/test.h"
#include "harness/tree_library.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A machine of some calls, and the functions that answer from it; `play` begins one. */
static struct {
    struct gtel_tree *tree;
    struct gtel_env env;
    void *library;
    struct gtel_zes_calls zes;
    struct gtel_zet_calls zet;
    void *gpu; /* device 0 */
} it;

static void *symbol(const char *name)
{
    return it.env.ops->lib_symbol(it.env.arg, it.library, name);
}

static void look_up(void)
{
    void *address;
#define GTEL_ZES_SYM(name, need, shape, type)                                                      \
    address = symbol(#name);                                                                       \
    memcpy(&it.zes.name, &address, sizeof(address));
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
#define GTEL_ZET_SYM(name, need, shape, type)                                                      \
    address = symbol(#name);                                                                       \
    memcpy(&it.zet.name, &address, sizeof(address));
#include "abi/zet_syms.def"
#undef GTEL_ZET_SYM
}

static bool open_library(void)
{
    static const char *const names[] = {"libze_loader.so.1", NULL};
    tree_library_play(&it.env, it.tree, TEST_PLAYED);
    return CHECK(it.env.ops->lib_open(it.env.arg, names, &it.library) == 0);
}

static bool load(const char *text)
{
    char error[200];
    char all[4096];
    (void)snprintf(all, sizeof(all), "library libze_loader.so.1\ncall zesDeviceGet 0 = 1\n%send\n",
                   text);
    it.tree = NULL;
    return CHECK(gtel_tree_parse(gtel_str_of(all), &it.tree, error, sizeof(error)) == 0) &&
           CHECK(gtel_env_tree_init(it.tree, true, 0, &it.env) == 0) && open_library();
}

static void begin(const char *text)
{
    void *driver = NULL;
    uint32_t n = 1;
    it.gpu = NULL;
    if (!load(text))
        return;
    look_up();
    CHECK_INT(it.zes.zesInit(0), GTEL_ZE_SUCCESS);
    CHECK_INT(it.zet.zeInit(0), GTEL_ZE_SUCCESS);
    CHECK_INT(it.zes.zesDriverGet(&n, &driver), GTEL_ZE_SUCCESS);
    n = 1;
    CHECK_INT(it.zes.zesDeviceGet(driver, &n, &it.gpu), GTEL_ZE_SUCCESS);
    CHECK(it.gpu);
}

static void go_on(unsigned seconds)
{
    gtel_env_tree_step(&it.env, (uint64_t)seconds * 1000000000);
    (void)gtel_env_now(&it.env); /* what has happened until then has */
}

static void end(void)
{
    it.env.ops->lib_close(it.env.arg, it.library);
    gtel_env_tree_done(&it.env);
    gtel_tree_free(it.tree);
}

/* The first part of an enumeration, or NULL. */
static void *part(uint32_t (*list)(void *handle, uint32_t *count, void **ret))
{
    void *handle = NULL;
    uint32_t n = 1;
    return list(it.gpu, &n, &handle) == GTEL_ZE_SUCCESS ? handle : NULL;
}

/* 1: a loader has what its revision had (level zero: first header of each function). */
static void test_generations(void)
{
    static const struct {
        const char *revision;
        const char *missing[4];
    } cases[] = {
        {"1.4", {"zesInit", "zesDriverGet", "zesDeviceGet", "zesRasGetStateExp"}},
        {"1.5", {"zesRasGetStateExp", "zesDriverGetDeviceByUuidExp", "zetDeviceEnableMetricsExp"}},
        {"1.9", {"zetDeviceEnableMetricsExp", "zetDeviceDisableMetricsExp"}},
        {"1.13", {NULL}},
        {"1.17", {NULL}},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[512] = "";
        size_t n = 0;
        for (size_t k = 0; k < 4 && cases[i].missing[k]; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "call %s = !nosymbol\n",
                                  cases[i].missing[k]);
        test_label = cases[i].revision;
        if (!load(text))
            continue;
        for (size_t k = 0; k < 4 && cases[i].missing[k]; k++)
            CHECK(!symbol(cases[i].missing[k]));
        CHECK(symbol("zeInit"));
        CHECK(symbol("zesDevicePciGetProperties"));
        CHECK(!symbol("zesNoSuchCall"));
        end();
    }
}

/* 2: a start that fails does so for ever; what comes before a start is refused. */
static void test_start(void)
{
    static const char *const codes[] = {"0x78000001", "0x70010000", "0x70020000", "0x78000002"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
        char text[100];
        uint64_t code = 0;
        uint32_t n = 0;
        (void)snprintf(text, sizeof(text), "call zesInit = !%s\nat 1s\ncall zesInit =\n", codes[i]);
        (void)gtel_str_hex(gtel_str_of(codes[i]), &code);
        if (!load(text))
            continue;
        look_up();
        CHECK_INT(it.zes.zesDriverGet(&n, NULL), GTEL_ZE_UNINITIALIZED);
        CHECK_INT(it.zes.zesInit(0), code);
        go_on(2);
        CHECK_INT(it.zes.zesInit(0), code);
        CHECK_INT(it.zes.zesDriverGet(&n, NULL), GTEL_ZE_UNINITIALIZED);
        end();
    }
}

/* 3: counts, then fills; the number changes between the two; any number at all. */
static void test_counts(void)
{
    static const struct {
        const char *answer;
        uint32_t counted; /* by the first call */
        uint32_t room;    /* of the second */
        uint32_t given;
    } cases[] = {
        {"0", 0, 8, 0},
        {"3", 3, 8, 3},
        {"3", 3, 2, 2},
        {"2 4", 2, 8, 4},
        {"2 4", 2, 2, 2},
        {"4 1", 4, 4, 1},
        {"0xffffffff", UINT32_MAX, 8, 8},
        {"3 0xffffffff", 3, 8, 8},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[100];
        void *list[9] = {NULL};
        uint32_t n = 0;
        (void)snprintf(text, sizeof(text), "call zesDeviceEnumFans 0 = %s\n", cases[i].answer);
        test_label = text;
        begin(text);
        CHECK_INT(it.zes.zesDeviceEnumFans(it.gpu, &n, NULL), GTEL_ZE_SUCCESS);
        CHECK_INT(n, cases[i].counted);
        n = cases[i].room;
        CHECK_INT(it.zes.zesDeviceEnumFans(it.gpu, &n, list), GTEL_ZE_SUCCESS);
        CHECK_INT(n, cases[i].given);
        for (uint32_t k = 0; k < 9; k++)
            CHECK((list[k] != NULL) == (k < cases[i].given));
        end();
    }
    struct gtel_zes_ras_state_exp got[4];
    uint32_t n = 0;
    begin("call zesDeviceEnumRasErrorSets 0 = 1\n"
          "call zesRasGetStateExp 0 0 = counts 0xffffffff 5 50 7 70\n");
    void *ras = part(it.zes.zesDeviceEnumRasErrorSets);
    CHECK_INT(it.zes.zesRasGetStateExp(ras, &n, NULL), GTEL_ZE_SUCCESS);
    CHECK_INT(n, UINT32_MAX);
    n = 4;
    CHECK_INT(it.zes.zesRasGetStateExp(ras, &n, got), GTEL_ZE_SUCCESS);
    CHECK(n == 2 && got[1].category == 7 && got[1].count == 70);
    end();
}

/* 5: success with nothing, with a part, or with more written than was asked for. */
static void test_outputs(void)
{
    begin("call zesDeviceEnumFrequencyDomains 0 = 1\ncall zesFrequencyGetState 0 0 = untouched\n"
          "call zesFrequencyGetProperties 0 0 = 0 1 1\ncall zesDeviceEnumTemperatureSensors 0 = 1\n"
          "call zesTemperatureGetProperties 0 0 = 5 0 0\ncall zesDeviceEnumMemoryModules 0 = 1\n"
          "call zesMemoryGetProperties 0 0 = 0 0 0 1 1000 64\n"
          "at 1s\ncall zesMemoryGetProperties 0 0 = unchained 0 0 0 1 1000\n");
    struct gtel_zes_freq_state state = {.head.type = GTEL_ZES_TYPE_FREQ_STATE, .actual = 7};
    void *clock = part(it.zes.zesDeviceEnumFrequencyDomains);
    CHECK_INT(it.zes.zesFrequencyGetState(clock, &state), GTEL_ZE_SUCCESS);
    CHECK_NEAR(state.actual, 7, 0);
    struct gtel_zes_mem_counter_bits bits = {.head.type = GTEL_ZES_TYPE_MEM_COUNTER_BITS};
    struct gtel_zes_freq_properties freq = {
        .head = {GTEL_ZES_TYPE_FREQ_PROPERTIES, NULL}, .min = 7, .max = 8};
    CHECK_INT(it.zes.zesFrequencyGetProperties(clock, &freq), GTEL_ZE_SUCCESS);
    CHECK(freq.subdevice_id == 1 && freq.min == 7 && freq.max == 8);
    CHECK(freq.head.type != GTEL_ZES_TYPE_FREQ_PROPERTIES && !freq.head.next);
    struct gtel_zes_temp_properties temp = {.head.type = GTEL_ZES_TYPE_TEMP_PROPERTIES};
    CHECK_INT(
        it.zes.zesTemperatureGetProperties(part(it.zes.zesDeviceEnumTemperatureSensors), &temp),
        GTEL_ZE_SUCCESS);
    CHECK(temp.type == 5 && temp.head.type != GTEL_ZES_TYPE_TEMP_PROPERTIES);
    CHECK(temp.head.next != NULL); /* an address of the driver's own */
    struct gtel_zes_mem_properties memory = {.head = {GTEL_ZES_TYPE_MEM_PROPERTIES, &bits}};
    CHECK_INT(it.zes.zesMemoryGetProperties(part(it.zes.zesDeviceEnumMemoryModules), &memory),
              GTEL_ZE_SUCCESS);
    CHECK(memory.head.next == &bits && bits.bits == 64);
    bits.head.type = 99;
    memory.head = (struct gtel_zes_head){GTEL_ZES_TYPE_MEM_PROPERTIES, &bits};
    CHECK_INT(it.zes.zesMemoryGetProperties(part(it.zes.zesDeviceEnumMemoryModules), &memory),
              GTEL_ZE_INVALID_ARGUMENT);
    go_on(1);
    bits.head.type = GTEL_ZES_TYPE_MEM_COUNTER_BITS;
    memory.head = (struct gtel_zes_head){GTEL_ZES_TYPE_MEM_PROPERTIES, &bits};
    CHECK_INT(it.zes.zesMemoryGetProperties(part(it.zes.zesDeviceEnumMemoryModules), &memory),
              GTEL_ZE_INVALID_ARGUMENT);
    memory.head.next = NULL;
    CHECK_INT(it.zes.zesMemoryGetProperties(part(it.zes.zesDeviceEnumMemoryModules), &memory),
              GTEL_ZE_SUCCESS);
    memory.head.type = 99;
    CHECK_INT(it.zes.zesMemoryGetProperties(part(it.zes.zesDeviceEnumMemoryModules), &memory),
              GTEL_ZE_INVALID_ARGUMENT);
    end();
}

/* 5: bits that are set beside those that are, as drivers from 26.18 on do. */
static void test_bits(void)
{
    begin("call zesDeviceGetState 0 = 1 2\nat 1s\ncall zesDeviceGetState 0 = 0 0\n");
    struct gtel_zes_device_state state = {.head.type = GTEL_ZES_TYPE_DEVICE_STATE, .reset = 4};
    CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &state), GTEL_ZE_SUCCESS);
    CHECK(state.reset == 5 && state.repaired == 2);
    go_on(1);
    CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &state), GTEL_ZE_SUCCESS);
    CHECK(state.reset == 5 && state.repaired == 0);
    end();
}

/* 6, 7: what drivers say for "unknown", and counters as they are said to be. */
static void test_values(void)
{
    begin("call zesDeviceEnumFrequencyDomains 0 = 1\n"
          "call zesFrequencyGetState 0 0 = -1 -1 nan -1 0 0\n"
          "call zesDevicePciGetState 0 = 0 -1 -1 -1\ncall zesDeviceEnumPowerDomains 0 = 1\n"
          "call zesPowerGetEnergyCounter 0 0 = 262143999999 1099511627775\nat 1s\n"
          "call zesPowerGetEnergyCounter 0 0 = 1 1099511627775\n");
    struct gtel_zes_freq_state clock = {.head.type = GTEL_ZES_TYPE_FREQ_STATE};
    struct gtel_zes_pci_state link = {.head.type = GTEL_ZES_TYPE_PCI_STATE};
    struct gtel_zes_energy energy = {0};
    CHECK_INT(it.zes.zesFrequencyGetState(part(it.zes.zesDeviceEnumFrequencyDomains), &clock), 0);
    CHECK(clock.voltage == -1 && clock.request == -1 && isnan(clock.tdp) && clock.actual == 0);
    CHECK_INT(it.zes.zesDevicePciGetState(it.gpu, &link), 0);
    CHECK(link.speed.gen == -1 && link.speed.width == -1 && link.speed.max_bandwidth == -1);
    void *power = part(it.zes.zesDeviceEnumPowerDomains);
    CHECK_INT(it.zes.zesPowerGetEnergyCounter(power, &energy), 0);
    CHECK_INT(energy.energy, 262143999999);
    go_on(1);
    CHECK_INT(it.zes.zesPowerGetEnergyCounter(power, &energy), 0);
    CHECK(energy.energy == 1 && energy.timestamp == UINT64_C(1099511627775)); /* time stands */
    end();
}

/* 8, 9: an NPU of another driver beside GPUs in an order of the driver's; parts without a number.
 */
static void test_devices(void)
{
    void *driver[2] = {NULL};
    void *device[2] = {NULL};
    void *sensor[2] = {NULL};
    uint32_t n = 2;
    begin("call zesDriverGet = 2\ncall zesDeviceGet 0 = 2\ncall zesDeviceGet 1 = 1\n"
          "call zesDeviceGetProperties 0 = 1 0x8086 2 00000000000000000000000000000000\n"
          "call zesDevicePciGetProperties 0 = 0 9 0 0 -1 -1 -1 0 0 0\n"
          "call zesDevicePciGetProperties 1 = 0 3 0 0 -1 -1 -1 0 0 0\n"
          "call zesDeviceGetProperties 16 = 5 0x8086 0\n"
          "call zesDeviceEnumTemperatureSensors 0 = !0x70010000\n"
          "call zesDeviceEnumTemperatureSensors 1 = 2\n");
    struct gtel_zes_device_ext_properties ext = {.head.type = GTEL_ZES_TYPE_DEVICE_EXT_PROPERTIES};
    struct gtel_zes_device_properties got = {.head = {GTEL_ZES_TYPE_DEVICE_PROPERTIES, &ext},
                                             .core.uuid = {1}};
    struct gtel_zes_pci_properties pci = {.head.type = GTEL_ZES_TYPE_PCI_PROPERTIES};
    CHECK_INT(it.zes.zesDriverGet(&n, driver), 0);
    CHECK_INT(it.zes.zesDeviceGet(driver[0], &n, device), 0);
    CHECK_INT(it.zes.zesDeviceGetProperties(device[0], &got), 0);
    CHECK(got.core.device_type == 1 && got.subdevices == 2 && got.core.uuid[0] == 0);
    CHECK_INT(it.zes.zesDevicePciGetProperties(device[1], &pci), 0);
    CHECK_INT(pci.bus, 3);
    CHECK_INT(it.zes.zesDeviceEnumTemperatureSensors(device[0], &n, sensor), GTEL_ZE_NO_PERMISSION);
    CHECK_INT(it.zes.zesDeviceEnumTemperatureSensors(device[1], &n, sensor), 0);
    CHECK(n == 2 && sensor[0] != sensor[1]);
    n = 1;
    CHECK_INT(it.zes.zesDeviceGet(driver[1], &n, device), 0);
    got.head = (struct gtel_zes_head){GTEL_ZES_TYPE_DEVICE_PROPERTIES, NULL};
    CHECK_INT(it.zes.zesDeviceGetProperties(device[0], &got), 0);
    CHECK_INT(got.core.device_type, 5);
    end();
}

/* 10: drivers of two years wrote ten categories where seven have room. */
static void test_ras(void)
{
    begin("call zesDeviceEnumRasErrorSets 0 = 2\ncall zesRasGetState 0 0 = 1 2 3 4 5 6 7\n"
          "call zesRasGetState 0 1 = 1 2 3 4 5 6 7 8 9 10\n");
    void *set[2] = {NULL};
    uint32_t n = 2;
    CHECK_INT(it.zes.zesDeviceEnumRasErrorSets(it.gpu, &n, set), 0);
    for (size_t i = 0; i < 2; i++) {
        struct gtel_zes_ras_state got = {.head.type = GTEL_ZES_TYPE_RAS_STATE};
        CHECK_INT(it.zes.zesRasGetState(set[i], 0, &got), 0);
        CHECK_INT(got.category[6], 7);
        CHECK_INT(got.category[9], i == 0 ? 0 : 10);
        CHECK_INT(it.zes.zesRasGetState(set[i], 1, &got), GTEL_ZE_INVALID_ARGUMENT);
    }
    end();
}

/* 11: a list of processes that is too short is filled, refused, and its true length is reported. */
static void test_processes(void)
{
    struct gtel_zes_process_state got[3];
    uint32_t n = 0;
    begin("call zesDeviceProcessesGetState 0 = counts 2 7 5000 0 1 7 100 0 1 8 200 0 1\n"
          "at 1s\ncall zesDeviceProcessesGetState 0 = !0x70010000\n");
    CHECK_INT(it.zes.zesDeviceProcessesGetState(it.gpu, &n, NULL), 0);
    CHECK_INT(n, 2);
    for (size_t i = 0; i < 3; i++)
        got[i] = (struct gtel_zes_process_state){.head.type = GTEL_ZES_TYPE_PROCESS_STATE};
    CHECK_INT(it.zes.zesDeviceProcessesGetState(it.gpu, &n, got), GTEL_ZE_INVALID_SIZE);
    CHECK_INT(n, 3);
    CHECK(got[0].pid == 7 && got[1].memory == 100 && got[2].pid == 0);
    CHECK_INT(it.zes.zesDeviceProcessesGetState(it.gpu, &n, got), 0);
    CHECK(n == 3 && got[2].pid == 8);
    go_on(1);
    CHECK_INT(it.zes.zesDeviceProcessesGetState(it.gpu, &n, got), GTEL_ZE_NO_PERMISSION);
    end();
}

/* 12: a state for some time, and back. */
static void test_lost(void)
{
    static const struct {
        const char *answer;
        uint32_t code;
    } cases[] = {{"!0x70000001", GTEL_ZE_DEVICE_LOST},
                 {"!0x70000006", GTEL_ZE_REQUIRES_RESET},
                 {"!0x70000007", GTEL_ZE_LOW_POWER},
                 {"!0x78000020", GTEL_ZE_SURVIVABILITY}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        char text[200];
        struct gtel_zes_device_state got = {.head.type = GTEL_ZES_TYPE_DEVICE_STATE};
        (void)snprintf(text, sizeof(text),
                       "call zesDeviceGetState 0 = 0 0\nat 1s\ncall zesDeviceGetState 0 = %s\n"
                       "at 2s\ncall zesDeviceGetState 0 = 2 1\n",
                       cases[i].answer);
        begin(text);
        CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &got), 0);
        go_on(1);
        CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &got), cases[i].code);
        go_on(1);
        CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &got), 0);
        CHECK(got.reset == 2 && got.repaired == 1);
        end();
    }
}

/* ---- 14: metrics ---- */

static const char metrics[] =
    "call zeDeviceGetProperties 0 = 1 0x8086\ncall zetDeviceEnableMetricsExp 0 =\n"
    "call zetMetricGroupGet 0 = 4\n"
    "call zetMetricGroupGetProperties 0 0 = ComputeBasic 1 0 2\n"
    "call zetMetricGroupGetProperties 0 1 = ComputeBasic 2 0 2\n"
    "call zetMetricGet 0 1 = 2\ncall zetMetricGetProperties 0 1 0 = GpuTime 0 1\n"
    "call zetMetricGetProperties 0 1 1 = XmxActive 0 2\n"
    "call zetMetricGroupGetProperties 0 2 = EuStallSampling 2 100 2\n"
    "call zetMetricGet 0 2 = 2\ncall zetMetricGetProperties 0 2 0 = IP 9 1\n"
    "call zetMetricGetProperties 0 2 1 = PSDepStall 1 1\n"
    "call zetMetricGroupGetProperties 0 3 = EuStallSampling 2 100 1\n"
    "call zetMetricGet 0 3 = 1\ncall zetMetricGetProperties 0 3 0 = IP 0x7ffffffe 1\n"
    "call zetMetricStreamerOpen 0 1 = 1000 10240000\n"
    "call zetMetricStreamerReadData 0 1 = 0 0 0 0x70020001 512 0x70020001 256 0\n"
    "call zetMetricGroupCalculateMetricValues 0 1 = code 0x70020001 1000 62.5 3000 12.5\n"
    "call zetMetricStreamerOpen 0 2 = !0x7ffffffe\ncall zetMetricStreamerOpen 0 3 = !1\n";

/* A group in both kinds of sampling; columns of both types, and the address under either number. */
static void check_groups(void *const *group)
{
    static const uint32_t sampling[] = {1, 2, 2, 2};
    static const uint32_t address[] = {9, GTEL_ZET_METRIC_IP};
    for (size_t i = 0; i < 4; i++) {
        struct gtel_zet_group_properties got = {.head.type = GTEL_ZET_TYPE_GROUP_PROPERTIES};
        CHECK_INT(it.zet.zetMetricGroupGetProperties(group[i], &got), 0);
        CHECK_INT(got.sampling_type, sampling[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        struct gtel_zet_metric_properties got = {.head.type = GTEL_ZET_TYPE_METRIC_PROPERTIES};
        void *metric = NULL;
        uint32_t n = 1;
        CHECK_INT(it.zet.zetMetricGet(group[2 + i], &n, &metric), 0);
        CHECK_INT(it.zet.zetMetricGetProperties(metric, &got), 0);
        CHECK_INT(got.metric_type, address[i]);
    }
}

static uint32_t open_stream(void *context, void *group, void **ret)
{
    struct gtel_zet_streamer_desc desc = {.head.type = GTEL_ZET_TYPE_STREAMER_DESC};
    CHECK_INT(it.zet.zetContextActivateMetricGroups(context, it.gpu, 1, &group), 0);
    return it.zet.zetMetricStreamerOpen(context, it.gpu, group, &desc, NULL, ret);
}

static void check_values(const struct gtel_zet_value *value)
{
    CHECK(value[0].type == GTEL_ZET_UINT64 && value[0].is.u64 == 1000);
    CHECK(value[3].type == GTEL_ZET_FLOAT32 && value[3].is.f32 == 12.5F);
}

/* Reads with nothing, with a loss and nothing, with a loss and data; two reports in one. */
static void check_stream(void *stream, void *group)
{
    static const struct {
        size_t n;
        uint32_t code;
    } reads[] = {{0, 0}, {0, GTEL_ZET_DROPPED_DATA}, {512, GTEL_ZET_DROPPED_DATA}, {256, 0}};
    static uint8_t raw[65536];
    struct gtel_zet_value value[4];
    uint32_t count = 0;
    size_t all = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(reads); i++) {
        size_t n = sizeof(raw);
        CHECK_INT(it.zet.zetMetricStreamerReadData(stream, UINT32_MAX, &n, raw), reads[i].code);
        CHECK_INT(n, reads[i].n);
        all += n;
    }
    CHECK_INT(it.zet.zetMetricGroupCalculateMetricValues(group, 0, all, raw, &count, NULL), 0);
    CHECK_INT(count, 4);
    CHECK_INT(it.zet.zetMetricGroupCalculateMetricValues(group, 0, all, raw, &count, value),
              GTEL_ZET_DROPPED_DATA); /* that samples were lost, with the values */
    check_values(value);
    go_on(1); /* from now on the data are of several tiles */
    CHECK_INT(it.zet.zetMetricGroupCalculateMetricValues(group, 0, all, raw, &count, value),
              GTEL_ZE_INVALID_ARGUMENT);
    uint32_t sets = 0;
    uint32_t counts[2] = {0};
    count = 0;
    CHECK_INT(it.zet.zetMetricGroupCalculateMultipleMetricValuesExp(group, 0, all, raw, &sets,
                                                                    &count, NULL, NULL),
              0);
    CHECK(sets == 2 && count == 4);
    memset(value, 0, sizeof(value));
    CHECK_INT(it.zet.zetMetricGroupCalculateMultipleMetricValuesExp(group, 0, all, raw, &sets,
                                                                    &count, counts, value),
              GTEL_ZET_DROPPED_DATA);
    CHECK(counts[0] == 2 && counts[1] == 2);
    check_values(value);
}

/* A stream that fails to close stays; one of stalls is no more then. */
static void check_close(void *context, void *stream, void *stalls)
{
    CHECK_INT(it.zet.zetMetricStreamerClose(stream), GTEL_ZE_UNKNOWN);
    go_on(1);
    CHECK_INT(it.zet.zetMetricStreamerClose(stream), 0);
    CHECK_INT(it.zet.zetMetricStreamerClose(stream), GTEL_ZE_NULL_HANDLE);
    CHECK_INT(open_stream(context, stalls, &stream), 0);
    CHECK_INT(it.zet.zetMetricStreamerClose(stream), GTEL_ZE_UNKNOWN);
    CHECK_INT(it.zet.zetMetricStreamerClose(stream), GTEL_ZE_NULL_HANDLE);
    CHECK_INT(it.zet.zetContextActivateMetricGroups(context, it.gpu, 0, NULL), 0);
}

static void test_metrics(void)
{
    char text[4096];
    void *driver = NULL;
    void *context = NULL;
    void *stream = NULL;
    void *group[4] = {NULL};
    uint32_t n = 4;
    const struct gtel_ze_context_desc desc = {.head.type = GTEL_ZE_TYPE_CONTEXT_DESC};
    (void)snprintf(text, sizeof(text),
                   "%sat 1s\ncall zetMetricGroupCalculateMetricValues 0 1 = !0x78000004\n"
                   "call zetMetricGroupCalculateMultipleMetricValuesExp 0 1 = "
                   "code 0x70020001 2 1000 62.5 3000 12.5\n"
                   "call zetMetricStreamerClose 0 1 = !0x7ffffffe\n"
                   "at 2s\ncall zetMetricStreamerClose 0 1 =\n"
                   "call zetMetricStreamerOpen 0 2 = 1000 600\n"
                   "call zetMetricStreamerClose 0 2 = !0x7ffffffe\n",
                   metrics);
    begin(text);
    CHECK_INT(it.zet.zetMetricGroupGet(it.gpu, &n, group), GTEL_ZE_UNINITIALIZED);
    CHECK_INT(it.zet.zetDeviceEnableMetricsExp(it.gpu), 0);
    CHECK_INT(it.zet.zetMetricGroupGet(it.gpu, &n, group), 0);
    check_groups(group);
    n = 1;
    CHECK_INT(it.zet.zeDriverGet(&n, &driver), 0);
    CHECK_INT(it.zet.zeContextCreate(driver, &desc, &context), 0);
    struct gtel_zet_streamer_desc early = {.head.type = GTEL_ZET_TYPE_STREAMER_DESC};
    CHECK_INT(it.zet.zetMetricStreamerOpen(context, it.gpu, group[1], &early, NULL, &stream),
              GTEL_ZE_NOT_READY);
    CHECK_INT(open_stream(context, group[2], &stream), GTEL_ZE_UNKNOWN);
    CHECK_INT(open_stream(context, group[3], &stream), GTEL_ZE_NOT_READY);
    CHECK_INT(open_stream(context, group[1], &stream), 0);
    CHECK_INT(it.zet.zetMetricStreamerOpen(context, it.gpu, group[1], &early, NULL, &driver),
              GTEL_ZE_IN_USE);
    check_stream(stream, group[1]);
    check_close(context, stream, group[2]);
    end();
}

/* ---- 4 and 13 ---- */

static uint64_t real_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* 4: any code at the Nth call, once or for some; 13: calls that take their time. */
static void test_faults(void)
{
    static const uint32_t codes[] = {0, 0, 0x70000001, 0, 0x7ffffffe, 0x7ffffffe, 0};
    uint32_t (*usage)(void *handle, uint32_t *instant, uint32_t *average);
    begin("call zesDeviceEnumPowerDomains 0 = 1\ncall zesPowerGetUsage 0 0 = 0 75000\n"
          "call zesDeviceGetState 0 = 0 0\ncall double zesDeviceGetState = fail 0x70000001 3\n"
          "call double zesDeviceEnumFans = hang 30\n"
          "at 1s\ncall double zesDeviceGetState = fail 0x7ffffffe 5 2\n");
    for (size_t i = 0; i < GTEL_ARRAY_LEN(codes); i++) {
        struct gtel_zes_device_state got = {.head.type = GTEL_ZES_TYPE_DEVICE_STATE};
        CHECK_INT(it.zes.zesDeviceGetState(it.gpu, &got), codes[i]);
        if (i == 3)
            go_on(1);
    }
    uint32_t instant = 1;
    uint32_t average = 0;
    uint64_t start = real_ms();
    void *address = symbol("zesPowerGetUsage");
    memcpy(&usage, &address, sizeof(usage));
    if (CHECK(usage)) {
        CHECK_INT(usage(part(it.zes.zesDeviceEnumPowerDomains), &instant, &average), 0);
        CHECK_INT(instant, 0);
        CHECK_INT(average, 75000);
        CHECK(real_ms() - start >= 100);
    }
    start = real_ms();
    (void)part(it.zes.zesDeviceEnumFans);
    CHECK(real_ms() - start >= 30);
    end();
}

/* Where nothing plays libraries, and for two machines in one process. */
static void test_refused(void)
{
    static const char *const names[] = {"libze_loader.so.1", NULL};
    struct gtel_tree *other;
    struct gtel_env env;
    char error[200];
    void *library;
    begin("");
    CHECK_INT(
        gtel_tree_parse(GTEL_STR("library libze_loader.so.1\nend\n"), &other, error, sizeof(error)),
        0);
    CHECK_INT(gtel_env_tree_init(other, true, 0, &env), 0);
    CHECK_INT(env.ops->lib_open(env.arg, names, &library), -EPERM);
    tree_library_play(&env, other, TEST_PLAYED);
    CHECK_INT(env.ops->lib_open(env.arg, names, &library), -EBUSY);
    tree_library_play(&env, other, TEST_DIR);
    CHECK_INT(env.ops->lib_open(env.arg, names, &library), -ENOENT);
    gtel_env_tree_done(&env);
    gtel_tree_free(other);
    end();
}

/* A library that is closed has forgotten its machine, though something else keeps it loaded. */
static void test_given_back(void)
{
    static const char *const names[] = {"libze_loader.so.1", NULL};
    void *kept = NULL;
    if (!CHECK(gtel_env_real_lib_open(TEST_PLAYED "/libze_loader.so.1", &kept) == 0))
        return;
    for (int i = 0; i < 2; i++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        char error[200];
        void *library = NULL;
        CHECK_INT(gtel_tree_parse(GTEL_STR("library libze_loader.so.1\nend\n"), &tree, error,
                                  sizeof(error)),
                  0);
        CHECK_INT(gtel_env_tree_init(tree, true, 0, &env), 0);
        tree_library_play(&env, tree, TEST_PLAYED);
        if (CHECK(env.ops->lib_open(env.arg, names, &library) == 0))
            env.ops->lib_close(env.arg, library);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    gtel_env_real_lib_close(kept);
}

int main(void)
{
    static void (*const tests[])(void) = {
        test_generations, test_start,   test_counts,  test_outputs,   test_bits,
        test_values,      test_devices, test_ras,     test_processes, test_lost,
        test_metrics,     test_faults,  test_refused, test_given_back};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(tests); i++) {
        tests[i]();
        test_label = "";
    }
    return test_result();
}
