/* SPDX-License-Identifier: MIT */
/*
 * A shared object with NVML's names that asks the real library, and writes each call and its answer
 * in the grammar of recorded machines (recording/tree.h, recording/replay_nvml.h):
 *
 *     GTEL_NVML_REAL=/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 GTEL_NVML_RECORD=machine.tree \
 *         record FOLDER/libnvidia-ml.so.1 SECONDS
 *
 * A pause of the caller begins a later state: the n-th is `at ns`. An answer is written when it is
 * another one than before. Uuids are replaced; nothing else that NVML is asked for here names a
 * machine or its owner. One thread, one user; the file is complete once nvmlShutdown was called.
 */
#include "abi/nvml_abi.h"
#include "base/compiler.h"
#include "harness/call_args.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEVICES_MAX = 256,
    WHO_SIZE = 24,
    EVENTS_MAX = 16,
    KEYS_MAX = 1024,
    TEXT_MAX = 160,
    WORDS_MAX = 32,
    PAUSE_NS = 700000000
};

struct answer {
    char key[TEXT_MAX];
    char text[TEXT_MAX];
};

/* All that it knows: NVML's functions have no context argument. */
static struct {
    struct gtel_nvml_calls real;
    void *library;
    FILE *out;
    struct { /* as keys name it: "0", "0/2" for a MIG instance */
        const struct gtel_nvml_device *handle;
        char who[WHO_SIZE];
    } device[DEVICES_MAX];
    size_t devices;
    struct answer answer[KEYS_MAX];
    size_t n;
    int64_t idle_since_ns; /* when the last call returned; 0: there was none */
    unsigned state;
    struct { /* which GPU a sample is of */
        const struct gtel_nvml_gpm_sample *sample;
        char who[WHO_SIZE];
    } sample[KEYS_MAX];
    size_t samples;
    struct {
        const char *who;
        uint64_t type;
        uint64_t data;
        unsigned count;
    } event[EVENTS_MAX];
    size_t events;
} proxy;

/* ---- writing ---- */

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void begin_call(void)
{
    if (proxy.idle_since_ns != 0 && now_ns() - proxy.idle_since_ns > PAUSE_NS && proxy.out)
        (void)fprintf(proxy.out, "at %us\n", ++proxy.state);
}

static void end_call(void)
{
    proxy.idle_since_ns = now_ns();
}

static struct answer *answer_of(const char *key)
{
    for (size_t i = 0; i < proxy.n; i++)
        if (strcmp(proxy.answer[i].key, key) == 0)
            return &proxy.answer[i];
    if (proxy.n == KEYS_MAX)
        return NULL;
    struct answer *answer = &proxy.answer[proxy.n++];
    (void)snprintf(answer->key, sizeof(answer->key), "%s", key);
    (void)snprintf(answer->text, sizeof(answer->text), "\n"); /* none yet: an empty one is one */
    return answer;
}

/* Writes an answer, or its code, unless it is the one that was written last. */
static void write_answer(const char *key, int code, const char *text)
{
    char whole[TEXT_MAX];
    struct answer *answer = answer_of(key);
    if (code == GTEL_NVML_SUCCESS)
        (void)snprintf(whole, sizeof(whole), "%s", text);
    else
        (void)snprintf(whole, sizeof(whole), "!%d", code);
    if (!proxy.out || (answer && strcmp(answer->text, whole) == 0))
        return;
    (void)fprintf(proxy.out, "call %s = %s\n", key, whole);
    if (answer)
        (void)snprintf(answer->text, sizeof(answer->text), "%s", whole);
}

static const char *who_is(const struct gtel_nvml_device *device)
{
    for (size_t i = 0; i < proxy.devices; i++)
        if (proxy.device[i].handle == device)
            return proxy.device[i].who;
    return "unknown";
}

/* Handles of MIG instances change while a place keeps its number. */
static void remember_device(const struct gtel_nvml_device *device, const char *who)
{
    size_t i = 0;
    while (i < proxy.devices && strcmp(proxy.device[i].who, who) != 0)
        i++;
    if (i == DEVICES_MAX)
        return;
    proxy.devices = i == proxy.devices ? i + 1 : proxy.devices;
    proxy.device[i].handle = device;
    (void)snprintf(proxy.device[i].who, WHO_SIZE, "%s", who);
}

/* What an answer looks like: printf's parameters behind the result code. */
static void note(const char *name, const struct gtel_nvml_device *device, int code,
                 const char *format, ...)
{
    char key[TEXT_MAX];
    char text[TEXT_MAX] = "";
    va_list list;
    va_start(list, format);
    if (code == GTEL_NVML_SUCCESS)
        (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    (void)snprintf(key, sizeof(key), "%s %s", name, who_is(device));
    write_answer(key, code, text);
}

/* The same with further words of the key. */
static void note_of(const char *name, const struct gtel_nvml_device *device, int code,
                    const char *words, const char *text)
{
    char key[TEXT_MAX];
    (void)snprintf(key, sizeof(key), "%s %s%s", name, who_is(device), words);
    write_answer(key, code, text);
}

/* ---- one function per shape: asks, and writes ---- */

typedef int(*plain_fn) GTEL_NVML_PARAMS_plain;

static int ask_plain(const char *name, plain_fn real)
{
    int code = real();
    if (code != GTEL_NVML_SUCCESS)
        write_answer(name, code, "");
    if (strcmp(name, "nvmlShutdown") == 0 && proxy.out) {
        (void)fprintf(proxy.out, "end\n");
        (void)fclose(proxy.out);
        proxy.out = NULL;
    }
    return code;
}

static int ask_system_text(const char *name, int(*real) GTEL_NVML_PARAMS_system_text, char *ret,
                           unsigned size)
{
    int code = real(ret, size);
    write_answer(name, code, ret);
    return code;
}

static int ask_count(const char *name, int(*real) GTEL_NVML_PARAMS_count, unsigned *ret)
{
    char text[TEXT_MAX];
    int code = real(ret);
    (void)snprintf(text, sizeof(text), "%u", code == GTEL_NVML_SUCCESS ? *ret : 0);
    write_answer(name, code, text);
    return code;
}

static int ask_by_index(const char *name, int(*real) GTEL_NVML_PARAMS_by_index, unsigned index,
                        struct gtel_nvml_device **ret)
{
    char key[TEXT_MAX];
    char who[WHO_SIZE];
    int code = real(index, ret);
    (void)snprintf(key, sizeof(key), "%s %u", name, index);
    (void)snprintf(who, sizeof(who), "%u", index);
    if (code == GTEL_NVML_SUCCESS)
        remember_device(*ret, who);
    else
        write_answer(key, code, "");
    return code;
}

static int ask_by_place(const char *name, int(*real) GTEL_NVML_PARAMS_by_place,
                        struct gtel_nvml_device *device, unsigned place,
                        struct gtel_nvml_device **ret)
{
    char words[WORDS_MAX];
    char who[WHO_SIZE];
    int code = real(device, place, ret);
    (void)snprintf(words, sizeof(words), " %u", place);
    (void)snprintf(who, sizeof(who), "%.8s/%u", who_is(device), place);
    if (code == GTEL_NVML_SUCCESS)
        remember_device(*ret, who);
    note_of(name, device, code, words, "ok");
    return code;
}

static int ask_by_text(const char *name, int(*real) GTEL_NVML_PARAMS_by_text, const char *text,
                       struct gtel_nvml_device **ret)
{
    (void)name; /* played back from the addresses */
    return real(text, ret);
}

/* For the end of a uuid: the number of a GPU; for a MIG instance a hash, since another one of the
 * same number must differ. */
static uint64_t replacement(const char *uuid, const char *who)
{
    uint64_t hash = 14695981039346656037u;
    if (!strchr(who, '/'))
        return strtoull(who, NULL, 10);
    for (const char *p = uuid; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash & 0xffffffffffff;
}

static int ask_text(const char *name, int(*real) GTEL_NVML_PARAMS_text,
                    struct gtel_nvml_device *device, char *ret, unsigned size)
{
    int code = real(device, ret, size);
    if (strcmp(name, "nvmlDeviceGetUUID") == 0)
        note(name, device, code, "%.4s00000000-1111-2222-3333-%012" PRIx64, ret,
             replacement(ret, who_is(device)));
    else
        note(name, device, code, "%s", ret);
    return code;
}

static int ask_u32(const char *name, int(*real) GTEL_NVML_PARAMS_u32,
                   struct gtel_nvml_device *device, unsigned *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u", *ret);
    return code;
}

static int ask_u64(const char *name, int(*real) GTEL_NVML_PARAMS_u64,
                   struct gtel_nvml_device *device, uint64_t *ret)
{
    int code = real(device, ret);
    note(name, device, code, strstr(name, "Reasons") ? "0x%" PRIx64 : "%" PRIu64, *ret);
    return code;
}

static int ask_u32_of(const char *name, int(*real) GTEL_NVML_PARAMS_u32_of,
                      struct gtel_nvml_device *device, unsigned of, unsigned *ret)
{
    char words[WORDS_MAX];
    char text[TEXT_MAX];
    int code = real(device, of, ret);
    (void)snprintf(words, sizeof(words), " %u", of);
    (void)snprintf(text, sizeof(text), "%u", *ret);
    note_of(name, device, code, words, text);
    return code;
}

static int ask_u32_pair(const char *name, int(*real) GTEL_NVML_PARAMS_u32_pair,
                        struct gtel_nvml_device *device, unsigned *ret, unsigned *ret_2)
{
    int code = real(device, ret, ret_2);
    note(name, device, code, "%u %u", *ret, *ret_2);
    return code;
}

static int ask_u64_of2(const char *name, int(*real) GTEL_NVML_PARAMS_u64_of2,
                       struct gtel_nvml_device *device, unsigned of, unsigned of_2, uint64_t *ret)
{
    char words[WORDS_MAX];
    char text[TEXT_MAX];
    int code = real(device, of, of_2, ret);
    (void)snprintf(words, sizeof(words), " %u %u", of, of_2);
    (void)snprintf(text, sizeof(text), "%" PRIu64, *ret);
    note_of(name, device, code, words, text);
    return code;
}

static int note_u64_of3(const char *name, const struct gtel_nvml_device *device, const unsigned *of,
                        int code, const uint64_t *ret)
{
    char words[WORDS_MAX];
    char text[TEXT_MAX];
    (void)snprintf(words, sizeof(words), " %u %u %u", of[0], of[1], of[2]);
    (void)snprintf(text, sizeof(text), "%" PRIu64, *ret);
    note_of(name, device, code, words, text);
    return code;
}

/* A macro, since it has more parameters than a function should. */
#define APPLY(ask, ...) ask(__VA_ARGS__)
#define ask_u64_of3(name, real, device, of, of_2, of_3, ret)                                       \
    note_u64_of3(name, device, (const unsigned[]){of, of_2, of_3},                                 \
                 (real)(device, of, of_2, of_3, ret), ret)

static int ask_u32_three(const char *name, int(*real) GTEL_NVML_PARAMS_u32_three,
                         struct gtel_nvml_device *device, unsigned *ret, unsigned *ret_2,
                         unsigned *ret_3)
{
    int code = real(device, ret, ret_2, ret_3);
    note(name, device, code, "%u %u %u", *ret, *ret_2, *ret_3);
    return code;
}

static int ask_i32_pair(const char *name, int(*real) GTEL_NVML_PARAMS_i32_pair,
                        struct gtel_nvml_device *device, int *ret, int *ret_2)
{
    int code = real(device, ret, ret_2);
    note(name, device, code, "%d %d", *ret, *ret_2);
    return code;
}

static int ask_system_i32(const char *name, int(*real) GTEL_NVML_PARAMS_system_i32, int *ret)
{
    char text[TEXT_MAX];
    int code = real(ret);
    (void)snprintf(text, sizeof(text), "%d", *ret);
    write_answer(name, code, text);
    return code;
}

static int ask_text_80(const char *name, int(*real) GTEL_NVML_PARAMS_text_80,
                       struct gtel_nvml_device *device, char *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%.79s", ret);
    return code;
}

static int ask_sram(const char *name, int(*real) GTEL_NVML_PARAMS_sram,
                    struct gtel_nvml_device *device, struct gtel_nvml_sram_status *ret)
{
    int code = real(device, ret);
    note(name, device, code,
         "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
         " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
         ret->aggregate_parity, ret->aggregate_secded, ret->aggregate_corrected,
         ret->volatile_parity, ret->volatile_secded, ret->volatile_corrected, ret->aggregate_l2,
         ret->aggregate_sm, ret->aggregate_pcie, ret->aggregate_mcu, ret->aggregate_other,
         ret->is_threshold_exceeded);
    return code;
}

static int ask_histogram(const char *name, int(*real) GTEL_NVML_PARAMS_histogram,
                         struct gtel_nvml_device *device, struct gtel_nvml_remap_histogram *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u %u %u %u %u", ret->max, ret->high, ret->partial, ret->low,
         ret->none);
    return code;
}

static int ask_repair(const char *name, int(*real) GTEL_NVML_PARAMS_repair,
                      struct gtel_nvml_device *device, struct gtel_nvml_repair_status *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u %u", ret->is_channel_pending, ret->is_tpc_pending);
    return code;
}

static int ask_capture(const char *name, int(*real) GTEL_NVML_PARAMS_capture,
                       struct gtel_nvml_device *device, struct gtel_nvml_capture_stats *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u %u %u", ret->sessions, ret->fps, ret->latency_us);
    return code;
}

static int ask_fabric(const char *name, int(*real) GTEL_NVML_PARAMS_fabric,
                      struct gtel_nvml_device *device, struct gtel_nvml_fabric *ret)
{
    int code = real(device, ret);
    if (code == GTEL_NVML_ARGUMENT_VERSION_MISMATCH)
        return code; /* asked again with the older version */
    note(name, device, code,
         ret->version == GTEL_NVML_FABRIC_V2 ? "%d %u %u 0x%x" : "%d %u %u 0x%x %u", ret->status,
         ret->clique, ret->state, ret->health_mask, ret->health_summary);
    return code;
}

static int ask_confidential(const char *name, int(*real) GTEL_NVML_PARAMS_confidential,
                            struct gtel_nvml_confidential *ret)
{
    char text[TEXT_MAX];
    int code = real(ret);
    (void)snprintf(text, sizeof(text), "%u %u %u", ret->environment, ret->feature,
                   ret->is_open_to_tools);
    write_answer(name, code, text);
    return code;
}

static int ask_licences(const char *name, int(*real) GTEL_NVML_PARAMS_licences,
                        struct gtel_nvml_device *device, struct gtel_nvml_licences *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%d %u %u %u %u", ret->is_supported, ret->n,
         ret->feature[0].is_licensed, ret->feature[1].is_licensed, ret->feature[2].is_licensed);
    return code;
}

static int ask_vgpus(const char *name, int(*real) GTEL_NVML_PARAMS_vgpus,
                     struct gtel_nvml_device *device, unsigned *n, unsigned *ret)
{
    int code = real(device, n, ret);
    note(name, device, code == GTEL_NVML_INSUFFICIENT_SIZE ? GTEL_NVML_SUCCESS : code, "%u", *n);
    return code;
}

static int ask_pci(const char *name, int(*real) GTEL_NVML_PARAMS_pci,
                   struct gtel_nvml_device *device, struct gtel_nvml_pci *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%.31s 0x%08x 0x%08x", ret->bus_id, ret->pci_device_id,
         ret->pci_subsystem_id);
    return code;
}

static int ask_utilization(const char *name, int(*real) GTEL_NVML_PARAMS_utilization,
                           struct gtel_nvml_device *device, struct gtel_nvml_utilization *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u %u", ret->gpu, ret->memory);
    return code;
}

static int ask_memory(const char *name, int(*real) GTEL_NVML_PARAMS_memory,
                      struct gtel_nvml_device *device, struct gtel_nvml_memory *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%" PRIu64 " %" PRIu64 " %" PRIu64, ret->total, ret->free, ret->used);
    return code;
}

static int ask_memory_v2(const char *name, int(*real) GTEL_NVML_PARAMS_memory_v2,
                         struct gtel_nvml_device *device, struct gtel_nvml_memory_v2 *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, ret->total,
         ret->reserved, ret->free, ret->used);
    return code;
}

static int ask_temperature(const char *name, int(*real) GTEL_NVML_PARAMS_temperature,
                           struct gtel_nvml_device *device, struct gtel_nvml_temperature *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%d", ret->temperature);
    return code;
}

static int ask_margin(const char *name, int(*real) GTEL_NVML_PARAMS_margin,
                      struct gtel_nvml_device *device, struct gtel_nvml_margin *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%d", ret->margin);
    return code;
}

static int ask_fan_speed(const char *name, int(*real) GTEL_NVML_PARAMS_fan_speed,
                         struct gtel_nvml_device *device, struct gtel_nvml_fan_speed *ret)
{
    char words[WORDS_MAX];
    char text[TEXT_MAX];
    int code = real(device, ret);
    (void)snprintf(words, sizeof(words), " %u", ret->fan);
    (void)snprintf(text, sizeof(text), "%u", ret->speed);
    note_of(name, device, code, words, text);
    return code;
}

static int ask_violation(const char *name, int(*real) GTEL_NVML_PARAMS_violation,
                         struct gtel_nvml_device *device, unsigned of,
                         struct gtel_nvml_violation *ret)
{
    char words[WORDS_MAX];
    char text[TEXT_MAX];
    int code = real(device, of, ret);
    (void)snprintf(words, sizeof(words), " %u", of);
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, ret->reference_time,
                   ret->violation_time);
    note_of(name, device, code, words, text);
    return code;
}

static void print_field(const struct gtel_nvml_field *field, char *text, size_t size)
{
    switch (field->value_type) {
    case GTEL_NVML_TYPE_DOUBLE:
        (void)snprintf(text, size, "double %.6f", field->value.d);
        break;
    case GTEL_NVML_TYPE_UINT:
        (void)snprintf(text, size, "uint %u", field->value.ui);
        break;
    case GTEL_NVML_TYPE_ULONG:
        (void)snprintf(text, size, "ulong %lu", field->value.ul);
        break;
    case GTEL_NVML_TYPE_ULLONG:
        (void)snprintf(text, size, "ull %" PRIu64, field->value.ull);
        break;
    case GTEL_NVML_TYPE_SLLONG:
        (void)snprintf(text, size, "sll %" PRId64, field->value.sll);
        break;
    case GTEL_NVML_TYPE_SINT:
        (void)snprintf(text, size, "int %d", field->value.si);
        break;
    case GTEL_NVML_TYPE_USHORT:
        (void)snprintf(text, size, "ushort %u", field->value.us);
        break;
    default:
        (void)snprintf(text, size, "type%u", field->value_type);
        break;
    }
}

static int ask_fields(const char *name, int(*real) GTEL_NVML_PARAMS_fields,
                      struct gtel_nvml_device *device, int n, struct gtel_nvml_field *ret)
{
    int code = real(device, n, ret);
    if (code != GTEL_NVML_SUCCESS)
        note(name, device, code, "");
    for (int i = 0; i < n && code == GTEL_NVML_SUCCESS; i++) {
        char words[WORDS_MAX];
        char text[TEXT_MAX];
        (void)snprintf(words, sizeof(words), " %u %u", ret[i].field_id, ret[i].scope_id);
        print_field(&ret[i], text, sizeof(text));
        note_of(name, device, ret[i].rc, words, text);
    }
    return code;
}

/* An entry has 24 bytes here, as in all drivers but those of one half year. */
static int ask_processes(const char *name, int(*real) GTEL_NVML_PARAMS_processes,
                         struct gtel_nvml_device *device, unsigned *n, void *ret)
{
    char text[TEXT_MAX] = "";
    int length = 0;
    int code = real(device, n, ret);
    for (unsigned i = 0; code == GTEL_NVML_SUCCESS && i < *n && length < TEXT_MAX - 64; i++) {
        const unsigned char *at = (const unsigned char *)ret + (size_t)i * 24;
        uint32_t pid;
        uint64_t bytes;
        memcpy(&pid, at, sizeof(pid));
        memcpy(&bytes, at + 8, sizeof(bytes));
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%u %" PRIu64,
                           i > 0 ? ", " : "", pid, bytes);
    }
    if (code != GTEL_NVML_INSUFFICIENT_SIZE)
        note(name, device, code, "%s", text);
    return code;
}

static int ask_shares(const char *name, int(*real) GTEL_NVML_PARAMS_shares,
                      struct gtel_nvml_device *device, struct gtel_nvml_shares *ret)
{
    char text[TEXT_MAX] = "";
    int length = 0;
    int code = real(device, ret);
    for (unsigned i = 0; code == GTEL_NVML_SUCCESS && i < ret->n && length < TEXT_MAX - 64; i++) {
        const struct gtel_nvml_process_share *s = &ret->share[i];
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "%s%" PRIu64 " %u %u %u %u %u %u %u", i > 0 ? ", " : "", s->time_us,
                           s->pid, s->sm, s->memory, s->encoder, s->decoder, s->jpeg, s->ofa);
    }
    if (code != GTEL_NVML_INSUFFICIENT_SIZE)
        note(name, device, code, "%s", text);
    return code;
}

static int ask_samples(const char *name, int(*real) GTEL_NVML_PARAMS_samples,
                       struct gtel_nvml_device *device, struct gtel_nvml_process_sample *ret,
                       unsigned *n, uint64_t last_us)
{
    char text[TEXT_MAX] = "";
    int length = 0;
    int code = real(device, ret, n, last_us);
    for (unsigned i = 0; code == GTEL_NVML_SUCCESS && i < *n && length < TEXT_MAX - 64; i++)
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "%s%" PRIu64 " %u %u %u %u %u", i > 0 ? ", " : "", ret[i].time_us,
                           ret[i].pid, ret[i].sm, ret[i].memory, ret[i].encoder, ret[i].decoder);
    if (code != GTEL_NVML_INSUFFICIENT_SIZE)
        note(name, device, code, "%s", text);
    return code;
}

static int ask_event_create(const char *name, int(*real) GTEL_NVML_PARAMS_event_create,
                            struct gtel_nvml_event_set **ret)
{
    int code = real(ret);
    if (code != GTEL_NVML_SUCCESS)
        write_answer(name, code, "");
    return code;
}

static int ask_event_free(const char *name, int(*real) GTEL_NVML_PARAMS_event_free,
                          struct gtel_nvml_event_set *set)
{
    (void)name;
    return real(set);
}

static int ask_event_register(const char *name, int(*real) GTEL_NVML_PARAMS_event_register,
                              struct gtel_nvml_device *device, uint64_t types,
                              struct gtel_nvml_event_set *set)
{
    int code = real(device, types, set);
    if (code != GTEL_NVML_SUCCESS)
        note(name, device, code, "%s", "");
    return code;
}

/* Writes all events so far, when there is a new one. */
static int ask_event_wait(const char *name, int(*real) GTEL_NVML_PARAMS_event_wait,
                          struct gtel_nvml_event_set *set, struct gtel_nvml_event *ret,
                          unsigned timeout_ms)
{
    char text[TEXT_MAX] = "";
    size_t i = 0;
    int length = 0;
    int code = real(set, ret, timeout_ms);
    if (code != GTEL_NVML_SUCCESS)
        return code;
    while (i < proxy.events &&
           (proxy.event[i].who != who_is(ret->device) || proxy.event[i].type != ret->type ||
            proxy.event[i].data != ret->data))
        i++;
    if (i == EVENTS_MAX)
        return code;
    proxy.events = i == proxy.events ? i + 1 : proxy.events;
    proxy.event[i].who = who_is(ret->device);
    proxy.event[i].type = ret->type;
    proxy.event[i].data = ret->data;
    proxy.event[i].count++;
    for (i = 0; i < proxy.events && length < TEXT_MAX - 64; i++)
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "%s%s %" PRIu64 " %" PRIu64 " %u", i > 0 ? ", " : "", proxy.event[i].who,
                           proxy.event[i].type, proxy.event[i].data, proxy.event[i].count);
    write_answer(name, code, text);
    return code;
}

static int ask_gpm_support(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_support,
                           struct gtel_nvml_device *device, struct gtel_nvml_gpm_support *ret)
{
    int code = real(device, ret);
    note(name, device, code, "%u", ret->is_supported);
    return code;
}

static int ask_gpm_alloc(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_alloc,
                         struct gtel_nvml_gpm_sample **ret)
{
    int code = real(ret);
    if (code != GTEL_NVML_SUCCESS)
        write_answer(name, code, "");
    return code;
}

static int ask_gpm_free(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_free,
                        struct gtel_nvml_gpm_sample *sample)
{
    int code = real(sample);
    if (code != GTEL_NVML_SUCCESS)
        write_answer(name, code, "");
    return code;
}

static void remember_sample(const struct gtel_nvml_gpm_sample *sample, const char *who)
{
    size_t i = 0;
    while (i < proxy.samples && proxy.sample[i].sample != sample)
        i++;
    if (i == KEYS_MAX)
        return;
    if (i == proxy.samples)
        proxy.samples++;
    proxy.sample[i].sample = sample;
    (void)snprintf(proxy.sample[i].who, WHO_SIZE, "%s", who);
}

static int ask_gpm_sample(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_sample,
                          struct gtel_nvml_device *device, struct gtel_nvml_gpm_sample *sample)
{
    int code = real(device, sample);
    remember_sample(sample, who_is(device));
    if (code != GTEL_NVML_SUCCESS)
        note(name, device, code, "");
    return code;
}

static int ask_gpm_sample_of(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_sample_of,
                             struct gtel_nvml_device *device, unsigned of,
                             struct gtel_nvml_gpm_sample *sample)
{
    char words[WORDS_MAX];
    char who[WHO_SIZE];
    int code = real(device, of, sample);
    (void)snprintf(words, sizeof(words), " %u", of);
    (void)snprintf(who, sizeof(who), "%.8s/gi%u", who_is(device), of);
    remember_sample(sample, who);
    if (code != GTEL_NVML_SUCCESS)
        note_of(name, device, code, words, "");
    return code;
}

static int ask_gpm_get(const char *name, int(*real) GTEL_NVML_PARAMS_gpm_get,
                       struct gtel_nvml_gpm_get *ret)
{
    int code = real(ret);
    const char *who = "unknown";
    for (size_t i = 0; i < proxy.samples; i++)
        if (proxy.sample[i].sample == ret->newer)
            who = proxy.sample[i].who;
    for (unsigned i = 0; i < ret->n && code == GTEL_NVML_SUCCESS; i++) {
        const struct gtel_nvml_gpm_metric *metric = &ret->metric[i];
        char key[TEXT_MAX];
        char text[TEXT_MAX] = "unnamed";
        (void)snprintf(key, sizeof(key), "%s %s %u", name, who, metric->metric_id);
        if (metric->rc == GTEL_NVML_SUCCESS && metric->short_name && metric->short_name[0])
            (void)snprintf(text, sizeof(text), "%.9f", metric->value);
        write_answer(key, metric->rc, text);
    }
    return code;
}

/* ---- NVML's names ---- */

static void open_real(void)
{
    const char *real = getenv("GTEL_NVML_REAL");
    const char *record = getenv("GTEL_NVML_RECORD");
    if (proxy.library || !real || !record)
        return;
    proxy.library = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    proxy.out = proxy.library ? fopen(record, "w") : NULL;
    if (!proxy.out)
        return;
    (void)fprintf(proxy.out, "library libnvidia-ml.so.1\n");
#define GTEL_NVML_SYM(name, need, shape)                                                           \
    {                                                                                              \
        void *address = dlsym(proxy.library, #name);                                               \
        memcpy(&proxy.real.name, &address, sizeof(address));                                       \
        if (!address)                                                                              \
            write_answer(#name, GTEL_NVML_SUCCESS, "!nosymbol");                                   \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
}

/* Each exported name is declared before it is defined: there is no header for them. */
#define GTEL_NVML_SYM(name, need, shape)                                                           \
    GTEL_EXPORT int name GTEL_NVML_PARAMS_##shape;                                                 \
    int name GTEL_NVML_PARAMS_##shape                                                              \
    {                                                                                              \
        open_real();                                                                               \
        if (!proxy.real.name)                                                                      \
            return GTEL_NVML_FUNCTION_NOT_FOUND;                                                   \
        begin_call();                                                                              \
        int code = APPLY(ask_##shape, #name, proxy.real.name GTEL_NVML_ARGS_##shape);              \
        end_call();                                                                                \
        return code;                                                                               \
    }
#include "abi/nvml_syms.def"
#undef GTEL_NVML_SYM
