/* SPDX-License-Identifier: MIT */
/*
 * What Windows says of display devices, as played from a recorded machine: setupapi.dll, gdi32.dll
 * and advapi32.dll in one shared object.
 *
 * The machine has `file System32/setupapi.dll` and `library libwddm.so`, and answers with `call`
 * lines. N is the number of a device, 0 to 15; words are those of parse/words.h, as of binary
 * files, and counters among them grow from time 0 on.
 *
 *     call SetupDiGetDeviceInstanceIdW N = PCI\VEN_8086&DEV_E20B&SUBSYS_…     it is there
 *     call SetupDiGetDeviceRegistryPropertyW N 0 = Intel(R) Arc(TM) B580 Graphics   description
 *     call SetupDiGetDeviceRegistryPropertyW N 9 = {4d36e968-…}\0001     key of its driver
 *     call SetupDiGetDevicePropertyW N 23 = 3                   bus
 *     call SetupDiGetDevicePropertyW N 30 = 0x10000             device and function
 *     call SetupDiGetDevicePropertyW N 32 = 1                   power state: 1 is D0 … 4 is D3
 *     call SetupDiGetDevicePropertyW N problem = 43             code of the Device Manager
 *     call SetupDiGetDevicePropertyW N 3 = 32.0.101.6734        version of its driver
 *     call SetupDiGetDeviceInterfaceDetailW N = \\?\PCI#VEN_…   the interface's name
 *     call D3DKMTOpenAdapterFromDeviceName N = 0xF814           the low half of its LUID
 *     call D3DKMTQueryAdapterInfo N TYPE = WORDS
 *     call D3DKMTQueryAdapterInfo N 25 NODE = ENGINETYPE NAME
 *     call D3DKMTQueryStatistics N TYPE ID = WORDS
 *     call RegGetValueW {4d36e968-…}\0001 NAME = 12884901888
 *
 * `gone` as first answer: the device is not there any more. `!0xC0000022` as answer of a D3DKMT
 * call is that status; `untouched` is success with nothing written, and fewer words than the answer
 * has leave the rest as it is. Without a line a call fails, with NOT_SUPPORTED if it has a status.
 * Whoever asks with an old LUID or handle gets INVALID_PARAMETER. What else a call can do:
 * fakes/player.h.
 */
#include "abi/wddm_abi.h"
#include "fakes/player.h"
#include "parse/utf16.h"
#include "parse/words.h"
#include "recording/tree_node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 16, KEY_SIZE = 256, ALL = 1, OF_ONE = 2, HANDLE = 0x40000040, HANDLE_STEP = 0x40 };

#define NOT_SUPPORTED 0xc00000bbu
#define INVALID_PARAMETER 0xc000000du

const struct gtel_player_codes gtel_player_codes = {0xc0000001, 0xc000007a};

/* The address of an element is a list: of all devices, or of one's interfaces. */
static char lists[DEVICES + 1];

/* How many lists and adapters are open: tests ask (sources/test_wddm.c). */
GTEL_EXPORT int gtel_played_wddm_open;
int gtel_played_wddm_open;

void gtel_player_reset(void)
{
    gtel_played_wddm_open = 0;
}

/* ---- answers ---- */

/* False without a line; a text that begins with '!' is one. */
static bool ask(const char *key, struct gtel_str *ret)
{
    return gtel_tree_call(gtel_player_tree(), gtel_str_of(key), ret) == 0;
}

static bool ask_device(const char *name, unsigned device, struct gtel_str *ret)
{
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof(key), "%s %u", name, device);
    return ask(key, ret);
}

static bool number_of(struct gtel_str text, uint64_t *ret)
{
    bool is_hex = gtel_str_starts(text, GTEL_STR("0x"));
    return (is_hex ? gtel_str_hex(text, ret) : gtel_str_u64(text, ret)) == 0;
}

static uint32_t status_of(struct gtel_str text)
{
    uint64_t code = 0;
    (void)number_of(gtel_str_skip(text, 1), &code);
    return gtel_str_starts(text, GTEL_STR("!")) ? (uint32_t)code : 0;
}

/* Characters of ASCII as units, with a NUL; false when they do not fit. */
static bool put_units(struct gtel_str text, uint16_t *ret, size_t units)
{
    if (text.n >= units)
        return false;
    for (size_t i = 0; i < text.n; i++)
        ret[i] = (unsigned char)text.p[i];
    ret[text.n] = 0;
    return true;
}

/* ---- Plug and Play ---- */

static bool is_device(unsigned device, struct gtel_str *ret)
{
    return ask_device("SetupDiGetDeviceInstanceIdW", device, ret) &&
           !gtel_str_eq(*ret, GTEL_STR("gone"));
}

static unsigned device_of(const struct gtel_devinfo *info)
{
    return info->instance - 1;
}

static void *answer_SetupDiGetClassDevsW(const struct gtel_guid *class, const uint16_t *enumerator,
                                         void *parent, uint32_t flags)
{
    char id[512];
    struct gtel_str text;
    (void)class;
    (void)parent;
    if ((flags & GTEL_DIGCF_PRESENT) == 0)
        return (void *)(intptr_t)-1;
    if (!enumerator) {
        gtel_played_wddm_open++;
        return &lists[DEVICES];
    }
    struct gtel_str want = gtel_utf16_text(enumerator, sizeof(id) / 4, id, sizeof(id));
    for (unsigned i = 0; i < DEVICES; i++)
        if (is_device(i, &text) && gtel_str_eq(text, want)) {
            gtel_played_wddm_open++;
            return &lists[i];
        }
    return (void *)(intptr_t)-1;
}

static int32_t answer_SetupDiEnumDeviceInfo(void *set, uint32_t index, struct gtel_devinfo *ret)
{
    struct gtel_str text;
    if (set != &lists[DEVICES] || ret->size != sizeof(*ret))
        return 0;
    for (unsigned i = 0; i < DEVICES; i++)
        if (is_device(i, &text) && index-- == 0) {
            ret->instance = i + 1;
            return 1;
        }
    return 0;
}

static int32_t answer_SetupDiGetDeviceInstanceIdW(void *set, struct gtel_devinfo *device,
                                                  uint16_t *ret, uint32_t units,
                                                  uint32_t *ret_units)
{
    struct gtel_str text;
    (void)set;
    if (!is_device(device_of(device), &text))
        return 0;
    *ret_units = (uint32_t)text.n + 1;
    return put_units(text, ret, units);
}

static int32_t answer_SetupDiGetDeviceRegistryPropertyW(struct gtel_devinfo *device,
                                                        uint32_t property, uint32_t *ret_type,
                                                        void *ret, uint32_t size,
                                                        uint32_t *ret_size)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    (void)snprintf(key, sizeof(key), "SetupDiGetDeviceRegistryPropertyW %u %" PRIu32,
                   device_of(device), property);
    if (!is_device(device_of(device), &text) || !ask(key, &text))
        return 0;
    *ret_type = 1; /* REG_SZ */
    *ret_size = (uint32_t)(text.n + 1) * 2;
    return put_units(text, ret, size / 2);
}

static int32_t answer_SetupDiGetDevicePropertyW(struct gtel_devinfo *device,
                                                const struct gtel_devpropkey *property,
                                                uint32_t *ret_type, void *ret, uint32_t size,
                                                uint32_t *ret_size)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    uint64_t number;
    struct gtel_power_data power = {.size = sizeof(power)};
    bool is_problem = property->set.a == 0x4340a6c5;
    bool is_version = property->id == 3 && !is_problem;
    (void)snprintf(key, sizeof(key), "SetupDiGetDevicePropertyW %u %" PRIu32, device_of(device),
                   property->id);
    if (is_problem)
        (void)snprintf(key, sizeof(key), "SetupDiGetDevicePropertyW %u problem", device_of(device));
    if (!is_device(device_of(device), &text) || !ask(key, &text))
        return 0;
    *ret_type = is_version ? 0x12 : property->id == 32 ? 0x1003 : 0x7; /* devpropdef.h */
    if (is_version) {
        *ret_size = (uint32_t)(text.n + 1) * 2;
        return put_units(text, ret, size / 2);
    }
    if (!number_of(text, &number))
        return 0;
    power.state = (uint32_t)number;
    *ret_size = property->id == 32 ? sizeof(power) : sizeof(power.state);
    if (size < *ret_size)
        return 0;
    memcpy(ret, property->id == 32 ? (void *)&power : (void *)&power.state, *ret_size);
    return 1;
}

static int32_t answer_SetupDiEnumDeviceInterfaces(void *set, struct gtel_devinfo *device,
                                                  const struct gtel_guid *class, uint32_t index,
                                                  struct gtel_device_interface *ret)
{
    struct gtel_str text;
    (void)device;
    (void)class;
    size_t n = (size_t)((char *)set - lists);
    return index == 0 && ret->size == sizeof(*ret) && n < DEVICES &&
           ask_device("SetupDiGetDeviceInterfaceDetailW", (unsigned)n, &text);
}

static int32_t answer_SetupDiGetDeviceInterfaceDetailW(void *set,
                                                       struct gtel_device_interface *interface,
                                                       struct gtel_interface_detail *ret,
                                                       uint32_t size, uint32_t *ret_size,
                                                       struct gtel_devinfo *ret_device)
{
    struct gtel_str text;
    (void)interface;
    (void)ret_device;
    if (ret->size != GTEL_INTERFACE_DETAIL_SIZE ||
        !ask_device("SetupDiGetDeviceInterfaceDetailW", (unsigned)((char *)set - lists), &text))
        return 0;
    *ret_size = (uint32_t)(text.n + 1) * 2 + 4;
    return put_units(text, ret->path, (size - 4) / 2);
}

static int32_t answer_SetupDiDestroyDeviceInfoList(void *set)
{
    (void)set;
    gtel_played_wddm_open--;
    return 1;
}

/* ---- the driver model ---- */

/* The device of a handle or of a LUID, or DEVICES. */
static unsigned device_of_luid(const struct gtel_luid *luid)
{
    struct gtel_str text;
    uint64_t low;
    for (unsigned i = 0; i < DEVICES; i++)
        if (is_device(i, &text) && ask_device("D3DKMTOpenAdapterFromDeviceName", i, &text) &&
            number_of(text, &low) && low == luid->low && luid->high == 0)
            return i;
    return DEVICES;
}

static unsigned device_of_handle(uint32_t handle)
{
    uint32_t n = (handle - HANDLE) / HANDLE_STEP;
    return n < DEVICES && (handle - HANDLE) % HANDLE_STEP == 0 ? n : DEVICES;
}

static int32_t answer_D3DKMTOpenAdapterFromDeviceName(struct gtel_d3dkmt_open *adapter)
{
    char name[1024];
    struct gtel_str text;
    uint64_t low;
    struct gtel_str want =
        gtel_utf16_text(adapter->name, GTEL_INTERFACE_PATH_MAX, name, sizeof(name));
    for (unsigned i = 0; i < DEVICES; i++) {
        if (!ask_device("SetupDiGetDeviceInterfaceDetailW", i, &text) || !gtel_str_eq(text, want))
            continue;
        if (!ask_device("D3DKMTOpenAdapterFromDeviceName", i, &text))
            return (int32_t)NOT_SUPPORTED;
        if (!number_of(text, &low))
            return (int32_t)status_of(text);
        adapter->adapter = HANDLE + i * HANDLE_STEP;
        adapter->luid = (struct gtel_luid){.low = (uint32_t)low};
        gtel_played_wddm_open++;
        return GTEL_STATUS_SUCCESS;
    }
    return (int32_t)INVALID_PARAMETER;
}

static int32_t answer_D3DKMTCloseAdapter(const struct gtel_d3dkmt_close *adapter)
{
    if (device_of_handle(adapter->adapter) == DEVICES)
        return (int32_t)INVALID_PARAMETER;
    gtel_played_wddm_open--;
    return GTEL_STATUS_SUCCESS;
}

/* Writes the words of an answer. */
static int32_t put_words(const char *key, void *ret, size_t size)
{
    unsigned char bytes[GTEL_TREE_BYTES_MAX];
    struct gtel_str text;
    size_t n;
    if (!ask(key, &text))
        return (int32_t)NOT_SUPPORTED;
    if (status_of(text) != 0 || gtel_str_eq(text, GTEL_STR("untouched")))
        return (int32_t)status_of(text);
    double seconds = (double)gtel_player_tree()->now_ns / 1e9;
    if (gtel_words_pack(text, seconds, bytes, sizeof(bytes), &n) < 0 || n > size)
        return (int32_t)INVALID_PARAMETER;
    memcpy(ret, bytes, n);
    return GTEL_STATUS_SUCCESS;
}

/* ENGINETYPE NAME */
static int32_t put_node(unsigned device, struct gtel_kmt_node_metadata *ret)
{
    char key[KEY_SIZE];
    struct gtel_str text;
    struct gtel_str word = GTEL_STR_NONE;
    uint64_t type;
    (void)snprintf(key, sizeof(key), "D3DKMTQueryAdapterInfo %u 25 %" PRIu32, device, ret->node);
    if (!ask(key, &text))
        return (int32_t)NOT_SUPPORTED;
    if (status_of(text) != 0 || gtel_str_eq(text, GTEL_STR("untouched")))
        return (int32_t)status_of(text);
    (void)gtel_str_word(&text, &word);
    if (!number_of(word, &type) || !put_units(gtel_str_trim(text), ret->name, 32))
        return (int32_t)INVALID_PARAMETER;
    ret->type = (uint32_t)type;
    return GTEL_STATUS_SUCCESS;
}

static int32_t answer_D3DKMTQueryAdapterInfo(struct gtel_d3dkmt_query_info *query)
{
    char key[KEY_SIZE];
    unsigned device = device_of_handle(query->adapter);
    if (device == DEVICES)
        return (int32_t)INVALID_PARAMETER;
    if (query->type == GTEL_KMT_NODE_METADATA)
        return query->size == GTEL_KMT_NODE_METADATA_SIZE ? put_node(device, query->data)
                                                          : (int32_t)INVALID_PARAMETER;
    (void)snprintf(key, sizeof(key), "D3DKMTQueryAdapterInfo %u %" PRIu32, device, query->type);
    return put_words(key, query->data, query->size);
}

static int32_t answer_D3DKMTQueryStatistics(struct gtel_d3dkmt_statistics *query)
{
    char key[KEY_SIZE];
    unsigned device = device_of_luid(&query->luid);
    if (device == DEVICES || query->process)
        return (int32_t)INVALID_PARAMETER;
    (void)snprintf(key, sizeof(key), "D3DKMTQueryStatistics %u %" PRIu32 " %" PRIu32, device,
                   query->type, query->id);
    return put_words(key, &query->result, sizeof(query->result));
}

/* ---- the registry ---- */

static int32_t answer_RegGetValueW(const uint16_t *path, const uint16_t *name, uint32_t flags,
                                   uint32_t *ret_type, void *ret, uint32_t *size)
{
    static const struct gtel_str front =
        GTEL_STR_INIT("SYSTEM\\CurrentControlSet\\Control\\Class\\");
    char text[KEY_SIZE];
    char path_buf[KEY_SIZE];
    char name_buf[64];
    struct gtel_str answer;
    uint64_t value;
    struct gtel_str folder = gtel_utf16_text(path, sizeof(path_buf), path_buf, sizeof(path_buf));
    (void)gtel_utf16_text(name, sizeof(name_buf), name_buf, sizeof(name_buf));
    if (flags != GTEL_REG_64_BITS || !gtel_str_starts(folder, front))
        return 87; /* ERROR_INVALID_PARAMETER */
    (void)snprintf(text, sizeof(text), "RegGetValueW %s %s", folder.p + front.n, name_buf);
    if (!ask(text, &answer) || !number_of(answer, &value) || *size < sizeof(value))
        return 2;   /* ERROR_FILE_NOT_FOUND */
    *ret_type = 11; /* REG_QWORD */
    *size = sizeof(value);
    memcpy(ret, &value, sizeof(value));
    return 0;
}

/* ---- exports: what a call that is to fail returns depends on its kind ---- */

static void *failed_list(uint32_t code)
{
    (void)code;
    return (void *)(intptr_t)-1;
}

static int32_t failed_flag(uint32_t code)
{
    (void)code;
    return 0;
}

static int32_t failed_status(uint32_t code)
{
    return (int32_t)code;
}

#define CALL(kind, result, name, params, args)                                                     \
    GTEL_EXPORT result name params;                                                                \
    result name params                                                                             \
    {                                                                                              \
        uint32_t code = gtel_player_begin(#name);                                                  \
        result r = code ? failed_##kind(code) : answer_##name args;                                \
        gtel_player_end();                                                                         \
        return r;                                                                                  \
    }

/* NOLINTBEGIN(readability-function-size): their parameters are those of Windows */
CALL(list, void *, SetupDiGetClassDevsW,
     (const struct gtel_guid *class, const uint16_t *enumerator, void *parent, uint32_t flags),
     (class, enumerator, parent, flags))
CALL(flag, int32_t, SetupDiEnumDeviceInfo, (void *set, uint32_t index, struct gtel_devinfo *ret),
     (set, index, ret))
CALL(flag, int32_t, SetupDiGetDeviceInstanceIdW,
     (void *set, struct gtel_devinfo *device, uint16_t *ret, uint32_t units, uint32_t *ret_units),
     (set, device, ret, units, ret_units))
CALL(flag, int32_t, SetupDiGetDeviceRegistryPropertyW,
     (void *set, struct gtel_devinfo *device, uint32_t property, uint32_t *ret_type, void *ret,
      uint32_t size, uint32_t *ret_size),
     (((void)set, device), property, ret_type, ret, size, ret_size))
CALL(flag, int32_t, SetupDiGetDevicePropertyW,
     (void *set, struct gtel_devinfo *device, const struct gtel_devpropkey *property,
      uint32_t *ret_type, void *ret, uint32_t size, uint32_t *ret_size, uint32_t flags),
     (((void)set, (void)flags, device), property, ret_type, ret, size, ret_size))
CALL(flag, int32_t, SetupDiEnumDeviceInterfaces,
     (void *set, struct gtel_devinfo *device, const struct gtel_guid *class, uint32_t index,
      struct gtel_device_interface *ret),
     (set, device, class, index, ret))
CALL(flag, int32_t, SetupDiGetDeviceInterfaceDetailW,
     (void *set, struct gtel_device_interface *interface, struct gtel_interface_detail *ret,
      uint32_t size, uint32_t *ret_size, struct gtel_devinfo *ret_device),
     (set, interface, ret, size, ret_size, ret_device))
CALL(flag, int32_t, SetupDiDestroyDeviceInfoList, (void *set), (set))
CALL(status, int32_t, D3DKMTOpenAdapterFromDeviceName, (struct gtel_d3dkmt_open * adapter),
     (adapter))
CALL(status, int32_t, D3DKMTCloseAdapter, (const struct gtel_d3dkmt_close *adapter), (adapter))
CALL(status, int32_t, D3DKMTQueryAdapterInfo, (struct gtel_d3dkmt_query_info * query), (query))
CALL(status, int32_t, D3DKMTQueryStatistics, (struct gtel_d3dkmt_statistics * query), (query))
CALL(status, int32_t, RegGetValueW,
     (void *key, const uint16_t *path, const uint16_t *name, uint32_t flags, uint32_t *ret_type,
      void *ret, uint32_t *size),
     (((void)key, path), name, flags, ret_type, ret, size))
/* NOLINTEND(readability-function-size) */
