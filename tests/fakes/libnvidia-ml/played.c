/* SPDX-License-Identifier: MIT */
/*
 * NVML as played from a recorded machine, in a shared object with its name.
 *
 * Answers come from the `call` lines of the tree (recording/tree.h). The key is the call, then the
 * number of the GPU, then the other numbers that go in; the answer is what comes out, in the order
 * of the vendor's structure, without version words:
 *
 *     call nvmlDeviceGetCount_v2 = 2
 *     call nvmlDeviceGetName 0 = NVIDIA H200
 *     call nvmlDeviceGetPciInfo_v3 0 = 00000000:19:00.0 0x233510de 0x18be10de   (id, subsystem id)
 *     call nvmlDeviceGetUtilizationRates 0 = 100 7
 *     call nvmlDeviceGetMemoryInfo_v2 0 = TOTAL RESERVED FREE USED
 *     call nvmlDeviceGetMemoryInfo 0 = TOTAL FREE USED
 *     call nvmlDeviceGetClockInfo 0 1 = 1980                                    (clock type)
 *     call nvmlDeviceGetTotalEccErrors 0 1 0 = 0                                (error, counter)
 *     call nvmlDeviceGetMemoryErrorCounter 0 1 0 2 = 0                   (error, counter, place)
 *     call nvmlDeviceGetFieldValues 0 186 0 = uint 625240                       (field, scope)
 *     call nvmlDeviceGetGpuFabricInfoV 0 = 0 1 3 0x12 1     (status, clique, state, mask, summary)
 *     call nvmlDeviceGetGridLicensableFeatures_v4 0 = 1 1 1 0 0   (supported, count, licensed ...)
 *     call nvmlGpmQueryDeviceSupport 0 = 1
 *     call nvmlGpmMetricsGet 0 2 = 87.5                                         (GPM metric)
 *     call nvmlGpmMetricsGet 0 400 = unnamed        (0 without a name: the library knows no such)
 *
 *     call nvmlDeviceGetMaxMigDeviceCount 0 = 7
 *     call nvmlDeviceGetMigDeviceHandleByIndex 0 2 = ok      (the MIG instance at place 2 of GPU 0)
 *     call nvmlDeviceGetGpuInstanceId 0/2 = 9                (its answers: GPU/place for the GPU)
 *     call nvmlGpmMetricsGet 0/gi9 2 = 87.5                  (GPM is of GPU instances)
 *
 *     call nvmlDeviceGetComputeRunningProcesses_v3 0 = 1200 4096, 1300 8192 1 0  (pid, bytes, ids)
 *     call nvmlDeviceGetComputeRunningProcesses_v3 stride = 32      (24 without: bytes of an entry)
 *     call nvmlDeviceGetProcessesUtilizationInfo 0 = TIME PID SM MEMORY ENCODER DECODER JPEG OFA,
 *         ...
 *     call nvmlDeviceGetProcessUtilization 0 = TIME PID SM MEMORY ENCODER DECODER, ...
 *     call nvmlDeviceGetSupportedEventTypes 0 = 0x801f
 *     call nvmlEventSetWait_v2 = 0 8 79 3, 1 2 0 1  (GPU, type, data: so many since the beginning)
 *
 * An event set reports what has come since it was made, in this order.
 *
 *     call nvmlEventSetWait_v2 0 = !15          (of each set in which GPU 0 has been registered)
 *
 * The word before a field's value is its type: double uint ulong ull sll int ushort; a double may
 * be its bits in hexadecimal. `!N` as answer is return code N. A call on a GPU without a line is
 * NOT_SUPPORTED; nvmlInit_v2, nvmlShutdown and the look-ups of a GPU below the count succeed
 * without one. `call NAME = !nosymbol` takes the call out of the library. What else a call can do:
 * fakes/player.h.
 */
#include "abi/nvml_abi.h"
#include "fakes/libnvidia-ml/played_keys.h"
#include "fakes/player.h"
#include "harness/call_args.h"
#include "parse/pci.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 16,
    WORDS_MAX = 12 /* numbers in an answer */
};

/* A sample remembers whose it is; the answers are those of the time at which they are asked for. */
struct gtel_nvml_gpm_sample {
    char who[WHO_SIZE];
};

const struct gtel_player_codes gtel_player_codes = {GTEL_NVML_UNKNOWN,
                                                    GTEL_NVML_FUNCTION_NOT_FOUND};

/* There is nothing that stays open but samples, which are their callers'. */
void gtel_player_reset(void)
{
}

static int copy_text(struct gtel_str text, char *ret, unsigned size)
{
    if (text.n >= size)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    (void)gtel_str_copy(ret, size, text); /* it fits */
    return GTEL_NVML_SUCCESS;
}

static int answer_plain(const char *name)
{
    struct gtel_str text;
    return ask_key(name, GTEL_NVML_SUCCESS, &text);
}

static int answer_system_text(const char *name, char *ret, unsigned size)
{
    struct gtel_str text;
    int rc = ask_key(name, GTEL_NVML_NOT_SUPPORTED, &text);
    return rc != GTEL_NVML_SUCCESS ? rc : copy_text(text, ret, size);
}

static int answer_count(const char *name, unsigned *ret)
{
    struct gtel_str text = GTEL_STR("0");
    uint64_t n;
    int rc = ask_key(name, GTEL_NVML_SUCCESS, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = numbers(text, &n, 1);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (unsigned)n;
    return rc;
}

static int answer_by_index(const char *name, unsigned index, struct gtel_nvml_device **ret)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    unsigned n = 0;
    (void)snprintf(key, sizeof(key), "%s %u", name, index);
    int rc = ask_key(key, GTEL_NVML_SUCCESS, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = answer_count("nvmlDeviceGetCount_v2", &n);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    if (index >= n || index >= GPUS_MAX)
        return GTEL_NVML_INVALID_ARGUMENT;
    *ret = device_at(index);
    return GTEL_NVML_SUCCESS;
}

/* The MIG instance at a place. */
static int answer_by_place(const char *name, struct gtel_nvml_device *device, unsigned place,
                           struct gtel_nvml_device **ret)
{
    char key[KEY_SIZE];
    char who[WHO_SIZE];
    struct gtel_str text;
    (void)snprintf(key, sizeof(key), "%s %s %u", name, who_is(device, who), place);
    int rc = ask_key(key, GTEL_NVML_NOT_FOUND, &text);
    for (unsigned i = 0; i < GPUS_MAX && place < PLACES_MAX && rc == GTEL_NVML_SUCCESS; i++)
        if (device == device_at(i))
            *ret = instance_at(i, place);
    return rc;
}

static int answer_text(const char *name, struct gtel_nvml_device *device, char *ret, unsigned size)
{
    struct gtel_str text;
    int rc = ask(name, device, 0, NULL, &text);
    return rc != GTEL_NVML_SUCCESS ? rc : copy_text(text, ret, size);
}

static int answer_u32(const char *name, struct gtel_nvml_device *device, unsigned *ret)
{
    uint64_t v;
    int rc = ask_numbers(name, device, &v, 1);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (unsigned)v;
    return rc;
}

static int answer_u64(const char *name, struct gtel_nvml_device *device, uint64_t *ret)
{
    uint64_t v;
    int rc = ask_numbers(name, device, &v, 1);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = v;
    return rc;
}

static int answer_u32_of(const char *name, struct gtel_nvml_device *device, unsigned of,
                         unsigned *ret)
{
    struct gtel_str text;
    uint64_t v;
    int rc = ask(name, device, 1, &of, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = numbers(text, &v, 1);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (unsigned)v;
    return rc;
}

static int answer_u32_pair(const char *name, struct gtel_nvml_device *device, unsigned *ret,
                           unsigned *ret_2)
{
    uint64_t v[2];
    int rc = ask_numbers(name, device, v, 2);
    if (rc == GTEL_NVML_SUCCESS) {
        *ret = (unsigned)v[0];
        *ret_2 = (unsigned)v[1];
    }
    return rc;
}

static int answer_u64_of2(const char *name, struct gtel_nvml_device *device, unsigned of,
                          unsigned of_2, uint64_t *ret)
{
    const unsigned both[] = {of, of_2};
    struct gtel_str text;
    int rc = ask(name, device, 2, both, &text);
    return rc != GTEL_NVML_SUCCESS ? rc : numbers(text, ret, 1);
}

static int answer_u64_of3(const char *name, struct gtel_nvml_device *device, unsigned of,
                          unsigned of_2, unsigned of_3, uint64_t *ret)
{
    const unsigned all[] = {of, of_2, of_3};
    struct gtel_str text;
    int rc = ask(name, device, 3, all, &text);
    return rc != GTEL_NVML_SUCCESS ? rc : numbers(text, ret, 1);
}

static int answer_u32_three(const char *name, struct gtel_nvml_device *device, unsigned *ret,
                            unsigned *ret_2, unsigned *ret_3)
{
    uint64_t v[3];
    int rc = ask_numbers(name, device, v, 3);
    if (rc == GTEL_NVML_SUCCESS) {
        *ret = (unsigned)v[0];
        *ret_2 = (unsigned)v[1];
        *ret_3 = (unsigned)v[2];
    }
    return rc;
}

static int answer_i32_pair(const char *name, struct gtel_nvml_device *device, int *ret, int *ret_2)
{
    unsigned v[2];
    int rc = answer_u32_pair(name, device, &v[0], &v[1]);
    if (rc == GTEL_NVML_SUCCESS) {
        *ret = (int)v[0];
        *ret_2 = (int)v[1];
    }
    return rc;
}

static int answer_system_i32(const char *name, int *ret)
{
    struct gtel_str text;
    uint64_t v = 0;
    int rc = ask_key(name, GTEL_NVML_NOT_SUPPORTED, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = numbers(text, &v, 1);
    *ret = (int)v;
    return rc;
}

static int answer_text_80(const char *name, struct gtel_nvml_device *device, char *ret)
{
    return answer_text(name, device, ret, GTEL_NVML_VERSION_SIZE);
}

static int answer_sram(const char *name, struct gtel_nvml_device *device,
                       struct gtel_nvml_sram_status *ret)
{
    uint64_t v[WORDS_MAX];
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    int rc = ask_numbers(name, device, v, 12);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    memcpy(&ret->aggregate_parity, v, 11 * sizeof(v[0])); /* they stand in this order */
    ret->is_threshold_exceeded = (unsigned)v[11];
    return rc;
}

static int answer_histogram(const char *name, struct gtel_nvml_device *device,
                            struct gtel_nvml_remap_histogram *ret)
{
    uint64_t v[WORDS_MAX];
    int rc = ask_numbers(name, device, v, 5);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_remap_histogram){(unsigned)v[0], (unsigned)v[1], (unsigned)v[2],
                                                  (unsigned)v[3], (unsigned)v[4]};
    return rc;
}

static int answer_repair(const char *name, struct gtel_nvml_device *device,
                         struct gtel_nvml_repair_status *ret)
{
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    return answer_u32_pair(name, device, &ret->is_channel_pending, &ret->is_tpc_pending);
}

static int answer_capture(const char *name, struct gtel_nvml_device *device,
                          struct gtel_nvml_capture_stats *ret)
{
    return answer_u32_three(name, device, &ret->sessions, &ret->fps, &ret->latency_us);
}

/* status clique state mask [summary]: without the last, the library knows the second version. */
static int answer_fabric(const char *name, struct gtel_nvml_device *device,
                         struct gtel_nvml_fabric *ret)
{
    struct gtel_str text;
    uint64_t v[5];
    int rc = ask(name, device, 0, NULL, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    bool is_v3 = numbers(text, v, 5) == GTEL_NVML_SUCCESS;
    if (ret->version != (is_v3 ? GTEL_NVML_VERSION(*ret, 3) : GTEL_NVML_FABRIC_V2))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    rc = numbers(text, v, 4);
    ret->status = (int)v[0];
    ret->clique = (unsigned)v[1];
    ret->state = (unsigned char)v[2];
    ret->health_mask = (unsigned)v[3];
    if (is_v3)
        ret->health_summary = (unsigned char)v[4];
    return rc;
}

static int answer_confidential(const char *name, struct gtel_nvml_confidential *ret)
{
    struct gtel_str text;
    uint64_t v[3];
    int rc = ask_key(name, GTEL_NVML_NOT_SUPPORTED, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = numbers(text, v, 3);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_confidential){(unsigned)v[0], (unsigned)v[1], (unsigned)v[2]};
    return rc;
}

/* supported count licensed ...: a number for each of the three features */
static int answer_licences(const char *name, struct gtel_nvml_device *device,
                           struct gtel_nvml_licences *ret)
{
    uint64_t v[5];
    int rc = ask_numbers(name, device, v, 5);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    ret->is_supported = (int)v[0];
    ret->n = (unsigned)v[1];
    for (size_t i = 0; i < GTEL_NVML_LICENCES_MAX; i++)
        ret->feature[i].is_licensed = (unsigned)v[2 + i];
    return rc;
}

/* Only how many there are. */
static int answer_vgpus(const char *name, struct gtel_nvml_device *device, unsigned *n,
                        unsigned *ret)
{
    int rc = answer_u32(name, device, n);
    (void)ret;
    return rc == GTEL_NVML_SUCCESS && *n > 0 ? GTEL_NVML_INSUFFICIENT_SIZE : rc;
}

static int answer_pci(const char *name, struct gtel_nvml_device *device, struct gtel_nvml_pci *ret)
{
    struct gtel_str text;
    struct gtel_str word;
    struct gtel_pci pci = {0}; /* of a text that is no address */
    uint64_t id[2];
    int rc = ask(name, device, 0, NULL, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    if (!gtel_str_word(&text, &word) || word.n >= sizeof(ret->bus_id) ||
        numbers(text, id, 2) != GTEL_NVML_SUCCESS)
        return GTEL_NVML_UNKNOWN;
    (void)gtel_pci_parse(word, &pci);
    *ret = (struct gtel_nvml_pci){.domain = pci.domain,
                                  .bus = pci.bus,
                                  .device = pci.device,
                                  .pci_device_id = (unsigned)id[0],
                                  .pci_subsystem_id = (unsigned)id[1]};
    if (strcmp(name, "nvmlDeviceGetPciInfo_v2") == 0)
        memset(ret->bus_id, 0xff, sizeof(ret->bus_id)); /* reserved words, by what they hold */
    else
        (void)gtel_str_copy(ret->bus_id, sizeof(ret->bus_id), word); /* it fits */
    (void)snprintf(ret->bus_id_legacy, sizeof(ret->bus_id_legacy), "%04X:%02X:%02X.%X",
                   pci.domain & 0xffff, pci.bus, pci.device, pci.function);
    return GTEL_NVML_SUCCESS;
}

/* Finds the GPU with that PCI address. */
static int answer_by_text(const char *name, const char *bus_id, struct gtel_nvml_device **ret)
{
    struct gtel_pci want;
    unsigned n = 0;
    struct gtel_str text;
    int rc = ask_key(name, GTEL_NVML_SUCCESS, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = answer_count("nvmlDeviceGetCount_v2", &n);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    if (gtel_pci_parse(gtel_str_of(bus_id), &want) < 0)
        return GTEL_NVML_INVALID_ARGUMENT;
    for (unsigned i = 0; i < n && i < GPUS_MAX; i++) {
        struct gtel_nvml_device *device = device_at(i);
        struct gtel_nvml_pci pci;
        if (answer_pci("nvmlDeviceGetPciInfo_v3", device, &pci) == GTEL_NVML_SUCCESS &&
            pci.domain == want.domain && pci.bus == want.bus && pci.device == want.device)
            return answer_by_index("nvmlDeviceGetHandleByIndex_v2", i, ret);
    }
    return GTEL_NVML_NOT_FOUND;
}

static int answer_utilization(const char *name, struct gtel_nvml_device *device,
                              struct gtel_nvml_utilization *ret)
{
    return answer_u32_pair(name, device, &ret->gpu, &ret->memory);
}

static int answer_memory(const char *name, struct gtel_nvml_device *device,
                         struct gtel_nvml_memory *ret)
{
    uint64_t v[3];
    int rc = ask_numbers(name, device, v, 3);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_memory){.total = v[0], .free = v[1], .used = v[2]};
    return rc;
}

static int answer_memory_v2(const char *name, struct gtel_nvml_device *device,
                            struct gtel_nvml_memory_v2 *ret)
{
    uint64_t v[WORDS_MAX];
    if (ret->version != GTEL_NVML_VERSION(*ret, 2))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    int rc = ask_numbers(name, device, v, 4);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_memory_v2){
            .version = ret->version, .total = v[0], .reserved = v[1], .free = v[2], .used = v[3]};
    return rc;
}

static int answer_temperature(const char *name, struct gtel_nvml_device *device,
                              struct gtel_nvml_temperature *ret)
{
    uint64_t v;
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    int rc = ask_numbers(name, device, &v, 1);
    if (rc == GTEL_NVML_SUCCESS)
        ret->temperature = (int)(int64_t)v;
    return rc;
}

static int answer_margin(const char *name, struct gtel_nvml_device *device,
                         struct gtel_nvml_margin *ret)
{
    uint64_t v;
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    int rc = ask_numbers(name, device, &v, 1);
    if (rc == GTEL_NVML_SUCCESS)
        ret->margin = (int)(int64_t)v;
    return rc;
}

static int answer_fan_speed(const char *name, struct gtel_nvml_device *device,
                            struct gtel_nvml_fan_speed *ret)
{
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    return answer_u32_of(name, device, ret->fan, &ret->speed);
}

static int answer_violation(const char *name, struct gtel_nvml_device *device, unsigned of,
                            struct gtel_nvml_violation *ret)
{
    struct gtel_str text;
    uint64_t v[2];
    int rc = ask(name, device, 1, &of, &text);
    if (rc == GTEL_NVML_SUCCESS)
        rc = numbers(text, v, 2);
    if (rc == GTEL_NVML_SUCCESS)
        *ret = (struct gtel_nvml_violation){.reference_time = v[0], .violation_time = v[1]};
    return rc;
}

static const char *const type_names[] = {
    [GTEL_NVML_TYPE_DOUBLE] = "double", [GTEL_NVML_TYPE_UINT] = "uint",
    [GTEL_NVML_TYPE_ULONG] = "ulong",   [GTEL_NVML_TYPE_ULLONG] = "ull",
    [GTEL_NVML_TYPE_SLLONG] = "sll",    [GTEL_NVML_TYPE_SINT] = "int",
    [GTEL_NVML_TYPE_USHORT] = "ushort",
};

static int set_value(struct gtel_nvml_field *field, unsigned type, struct gtel_str text)
{
    uint64_t v = 0;
    field->value_type = type;
    memset(&field->value, 0, sizeof(field->value));
    if (type == GTEL_NVML_TYPE_DOUBLE && gtel_str_f64(text, &field->value.d) == 0)
        return GTEL_NVML_SUCCESS;
    int rc = numbers(text, &v, 1);
    if (type == GTEL_NVML_TYPE_UINT || type == GTEL_NVML_TYPE_SINT)
        field->value.ui = (unsigned)v;
    else if (type == GTEL_NVML_TYPE_USHORT)
        field->value.us = (unsigned short)v;
    else if (type == GTEL_NVML_TYPE_ULONG)
        field->value.ul = (unsigned long)v;
    else
        field->value.ull = v;
    return rc;
}

/* The result code of one field, whose value it sets. */
static int answer_field(const char *name, const struct gtel_nvml_device *device,
                        struct gtel_nvml_field *field)
{
    const unsigned both[] = {field->field_id, field->scope_id};
    struct gtel_str text;
    struct gtel_str word;
    int rc = ask(name, device, 2, both, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    if (!gtel_str_word(&text, &word))
        return GTEL_NVML_UNKNOWN;
    for (unsigned i = 0; i < GTEL_ARRAY_LEN(type_names); i++)
        if (gtel_str_eq(word, gtel_str_of(type_names[i])))
            return set_value(field, i, gtel_str_trim(text));
    return GTEL_NVML_UNKNOWN;
}

/* The call succeeds also when fields do not; `call nvmlDeviceGetFieldValues 0 = !N` fails it whole.
 */
static int answer_fields(const char *name, struct gtel_nvml_device *device, int n,
                         struct gtel_nvml_field *ret)
{
    char key[KEY_SIZE];
    char who[WHO_SIZE];
    struct gtel_str text;
    (void)snprintf(key, sizeof(key), "%s %s", name, who_is(device, who));
    int rc = ask_key(key, GTEL_NVML_SUCCESS, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    for (int i = 0; i < n; i++)
        ret[i].rc = answer_field(name, device, &ret[i]);
    return GTEL_NVML_SUCCESS;
}

static int answer_gpm_support(const char *name, struct gtel_nvml_device *device,
                              struct gtel_nvml_gpm_support *ret)
{
    if (ret->version != GTEL_NVML_GPM_SUPPORT_VERSION)
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    return answer_u32(name, device, &ret->is_supported);
}

static int answer_gpm_alloc(const char *name, struct gtel_nvml_gpm_sample **ret)
{
    int rc = answer_plain(name);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    *ret = calloc(1, sizeof(**ret));
    return *ret ? GTEL_NVML_SUCCESS : GTEL_NVML_MEMORY;
}

/* Frees also when the recording says that the call fails. */
static int answer_gpm_free(const char *name, struct gtel_nvml_gpm_sample *sample)
{
    free(sample);
    return answer_plain(name);
}

static int answer_gpm_sample(const char *name, struct gtel_nvml_device *device,
                             struct gtel_nvml_gpm_sample *sample)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    (void)snprintf(key, sizeof(key), "%s %s", name, who_is(device, sample->who));
    return ask_key(key, GTEL_NVML_SUCCESS, &text);
}

static int answer_gpm_sample_of(const char *name, struct gtel_nvml_device *device, unsigned of,
                                struct gtel_nvml_gpm_sample *sample)
{
    char key[KEY_SIZE];
    char who[WHO_SIZE];
    struct gtel_str text;
    (void)snprintf(key, sizeof(key), "%s %s %u", name, who_is(device, who), of);
    (void)snprintf(sample->who, sizeof(sample->who), "%.8s/gi%u", who, of);
    return ask_key(key, GTEL_NVML_SUCCESS, &text);
}

static int answer_gpm_get(const char *name, struct gtel_nvml_gpm_get *ret)
{
    if (!ret->older || !ret->newer || strcmp(ret->older->who, ret->newer->who) != 0)
        return GTEL_NVML_INVALID_ARGUMENT;
    for (unsigned i = 0; i < ret->n; i++) {
        struct gtel_str text;
        struct gtel_nvml_gpm_metric *metric = &ret->metric[i];
        metric->rc = ask_who(name, ret->newer->who, 1, &metric->metric_id, &text);
        if (metric->rc != GTEL_NVML_SUCCESS)
            continue;
        bool is_unnamed = gtel_str_eq(text, GTEL_STR("unnamed"));
        metric->value = 0;
        metric->short_name = is_unnamed ? "" : "recorded";
        if (!is_unnamed && gtel_str_f64(text, &metric->value) < 0)
            metric->rc = GTEL_NVML_UNKNOWN;
    }
    return GTEL_NVML_SUCCESS;
}

/* The number after the name, or another one. */
static unsigned setting(const char *name, const char *what, unsigned otherwise)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    uint64_t v;
    (void)snprintf(key, sizeof(key), "%s %s", name, what);
    if (ask_key(key, GTEL_NVML_NOT_SUPPORTED, &text) != GTEL_NVML_SUCCESS ||
        numbers(text, &v, 1) != GTEL_NVML_SUCCESS)
        return otherwise;
    return (unsigned)v;
}

static unsigned count_parts(struct gtel_str text)
{
    struct gtel_str part;
    unsigned n = 0;
    while (gtel_str_part(&text, ',', &part))
        n += gtel_str_trim(part).n > 0;
    return n;
}

static int answer_processes(const char *name, struct gtel_nvml_device *device, unsigned *n,
                            void *ret)
{
    struct gtel_str text;
    struct gtel_str part;
    unsigned char *at = ret;
    unsigned stride = setting(name, "stride", 24);
    int rc = ask(name, device, 0, NULL, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    unsigned room = *n;
    *n = setting(name, "count", count_parts(text));
    if (*n > room)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    while (gtel_str_part(&text, ',', &part) && gtel_str_trim(part).n > 0) {
        uint64_t v[4] = {0, 0, UINT32_MAX, UINT32_MAX};
        const uint64_t none = 0;
        if (numbers(part, v, 4) != GTEL_NVML_SUCCESS)
            (void)numbers(part, v, 2);
        const unsigned words[] = {(unsigned)v[0], 0, (unsigned)v[2], (unsigned)v[3]};
        memcpy(at, words, 8);
        memcpy(at + 8, &v[1], 8);
        if (stride >= 24)
            memcpy(at + 16, &words[2], 8);
        if (stride >= 32)
            memcpy(at + 24, &none, 8);
        at += stride;
    }
    return rc;
}

static int answer_shares(const char *name, struct gtel_nvml_device *device,
                         struct gtel_nvml_shares *ret)
{
    struct gtel_str text;
    struct gtel_str part;
    unsigned room = ret->n;
    if (ret->version != GTEL_NVML_VERSION(*ret, 1))
        return GTEL_NVML_ARGUMENT_VERSION_MISMATCH;
    int rc = ask(name, device, 0, NULL, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    ret->n = setting(name, "count", count_parts(text));
    if (ret->n > room)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    for (unsigned i = 0; gtel_str_part(&text, ',', &part); i++) {
        uint64_t v[8];
        if (numbers(part, v, 8) != GTEL_NVML_SUCCESS)
            return GTEL_NVML_UNKNOWN;
        ret->share[i] = (struct gtel_nvml_process_share){
            v[0],           (unsigned)v[1], (unsigned)v[2], (unsigned)v[3],
            (unsigned)v[4], (unsigned)v[5], (unsigned)v[6], (unsigned)v[7]};
    }
    return rc;
}

static int answer_samples(const char *name, struct gtel_nvml_device *device,
                          struct gtel_nvml_process_sample *ret, unsigned *n, uint64_t last_us)
{
    struct gtel_str text;
    struct gtel_str part;
    unsigned room = *n;
    (void)last_us;
    int rc = ask(name, device, 0, NULL, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    *n = setting(name, "count", count_parts(text));
    if (*n > room)
        return GTEL_NVML_INSUFFICIENT_SIZE;
    for (unsigned i = 0; gtel_str_part(&text, ',', &part); i++) {
        uint64_t v[6];
        if (numbers(part, v, 6) != GTEL_NVML_SUCCESS)
            return GTEL_NVML_UNKNOWN;
        ret[i] = (struct gtel_nvml_process_sample){(unsigned)v[1], v[0],           (unsigned)v[2],
                                                   (unsigned)v[3], (unsigned)v[4], (unsigned)v[5]};
    }
    return rc;
}

/* How much of each entry of the line was reported, or came before. */
struct gtel_nvml_event_set {
    uint64_t reported[EVENTS_MAX];
    bool has_gpu[GPUS_MAX];
};

/* The n-th entry of the line: GPU, type, data, count. False: there is none. */
static bool find_event(size_t n, uint64_t *ret)
{
    struct gtel_str text;
    struct gtel_str part;
    if (ask_key("nvmlEventSetWait_v2", GTEL_NVML_NOT_SUPPORTED, &text) != GTEL_NVML_SUCCESS)
        return false;
    for (size_t i = 0; n < EVENTS_MAX && gtel_str_part(&text, ',', &part); i++)
        if (i == n)
            return numbers(part, ret, 4) == GTEL_NVML_SUCCESS;
    return false;
}

static int answer_event_create(const char *name, struct gtel_nvml_event_set **ret)
{
    uint64_t event[4];
    int rc = answer_plain(name);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    *ret = calloc(1, sizeof(**ret));
    for (size_t i = 0; *ret && find_event(i, event); i++)
        (*ret)->reported[i] = event[3];
    return *ret ? GTEL_NVML_SUCCESS : GTEL_NVML_MEMORY;
}

static int answer_event_free(const char *name, struct gtel_nvml_event_set *set)
{
    free(set);
    return answer_plain(name);
}

static int answer_event_register(const char *name, struct gtel_nvml_device *device, uint64_t types,
                                 struct gtel_nvml_event_set *set)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    char who[WHO_SIZE];
    if (!set || types == 0)
        return GTEL_NVML_INVALID_ARGUMENT;
    (void)snprintf(key, sizeof(key), "%s %s", name, who_is(device, who));
    int rc = ask_key(key, GTEL_NVML_SUCCESS, &text);
    for (unsigned i = 0; i < GPUS_MAX && rc == GTEL_NVML_SUCCESS; i++)
        set->has_gpu[i] = set->has_gpu[i] || device == device_at(i);
    return rc;
}

/* The answer that a GPU in the set has to each wait, or SUCCESS. */
static int answer_of_gpus(const char *name, const struct gtel_nvml_event_set *set)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    int rc = GTEL_NVML_SUCCESS;
    for (unsigned i = 0; i < GPUS_MAX && rc == GTEL_NVML_SUCCESS; i++) {
        (void)snprintf(key, sizeof(key), "%s %u", name, i);
        if (set->has_gpu[i])
            rc = ask_key(key, GTEL_NVML_SUCCESS, &text);
    }
    return rc;
}

static int answer_event_wait(const char *name, struct gtel_nvml_event_set *set,
                             struct gtel_nvml_event *ret, unsigned timeout_ms)
{
    uint64_t event[4];
    struct gtel_str text;
    if (timeout_ms > 0) /* nobody is to wait here */
        return GTEL_NVML_INVALID_ARGUMENT;
    int rc = answer_of_gpus(name, set);
    if (rc == GTEL_NVML_SUCCESS)
        rc = ask_key(name, GTEL_NVML_TIMEOUT, &text);
    if (rc != GTEL_NVML_SUCCESS)
        return rc;
    for (size_t i = 0; find_event(i, event); i++) {
        if (set->reported[i] >= event[3] || event[0] >= GPUS_MAX)
            continue;
        set->reported[i]++;
        *ret = (struct gtel_nvml_event){.device = device_at((unsigned)event[0]),
                                        .type = event[1],
                                        .data = event[2],
                                        .gpu_instance = UINT32_MAX,
                                        .compute_instance = UINT32_MAX};
        return GTEL_NVML_SUCCESS;
    }
    return GTEL_NVML_TIMEOUT;
}

/* Each exported name is declared before it is defined: there is no header for them. */
#define GTEL_NVML_SYM(name, need, shape)                                                           \
    GTEL_EXPORT int name GTEL_NVML_PARAMS_##shape;                                                 \
    int name GTEL_NVML_PARAMS_##shape                                                              \
    {                                                                                              \
        int code = (int)gtel_player_begin(#name);                                                  \
        if (code == GTEL_NVML_SUCCESS)                                                             \
            code = answer_##shape(#name GTEL_NVML_ARGS_##shape);                                   \
        gtel_player_end();                                                                         \
        return code;                                                                               \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
