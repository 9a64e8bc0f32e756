/* SPDX-License-Identifier: MIT */
/* Display devices as Plug and Play has them in its books: nothing here reaches the device. */
#include "sources/windows/wddm.h"

#include "parse/utf16.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 256, TEXT_UNITS = 256, MICROSOFT = 0x1414, NVIDIA = 0x10de };

/* GUID_DEVCLASS_DISPLAY */
static const struct gtel_guid display_class = {
    0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};

/* devpkey.h: DEVPKEY_Device_BusNumber, _Address, _PowerData; _DriverVersion */
#define DEVICE_PROPERTY(id)                                                                        \
    {                                                                                              \
        {0xa45c254e, 0xdf1c, 0x4efd, {0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0}}, id         \
    }
static const struct gtel_devpropkey bus_number = DEVICE_PROPERTY(23);
static const struct gtel_devpropkey address = DEVICE_PROPERTY(30);
static const struct gtel_devpropkey power_data = DEVICE_PROPERTY(32);
static const struct gtel_devpropkey driver_version = {
    {0xa8b865dd, 0x2e3d, 0x4094, {0xad, 0x97, 0xe5, 0x93, 0xa7, 0x0c, 0x75, 0xd6}}, 3};

static const struct {
    uint16_t id;
    const char *tag;
    const char *name;
} vendors[] = {{0x8086, "intel", "Intel"}, {0x1002, "amd", "AMD"}, {NVIDIA, "nvidia", "NVIDIA"}};

/* Whether the property is there and has exactly these bytes. */
static bool read_property(const struct gtel_wddm *wddm, struct gtel_devinfo *info,
                          const struct gtel_devpropkey *property, void *ret, uint32_t size)
{
    uint32_t type;
    uint32_t n = 0;
    return wddm->call.SetupDiGetDevicePropertyW(wddm->set, info, property, &type, ret, size, &n,
                                                0) != 0 &&
           n == size;
}

bool gtel_wddm_read_power(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    struct gtel_power_data data = {0};
    bool is_known = wddm->set &&
                    read_property(wddm, &gpu->info, &power_data, &data, sizeof(data)) &&
                    data.state >= GTEL_POWER_D0 && data.state <= GTEL_POWER_D3;
    gpu->power = is_known ? data.state : 0;
    return is_known;
}

/*
 * Device and function stand in the address; a bus number beyond eight bits has the domain above
 * them (wdm.h, PCI_SEGMENT_BUS_NUMBER).
 */
static bool read_place(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    uint32_t bus;
    uint32_t place;
    if (!read_property(wddm, &gpu->info, &bus_number, &bus, sizeof(bus)) ||
        !read_property(wddm, &gpu->info, &address, &place, sizeof(place)) || bus >> 24 != 0 ||
        place >> 16 > 31 || (place & 0xffff) > 7)
        return false;
    const struct gtel_pci pci = {.domain = bus >> 8,
                                 .bus = (uint8_t)bus,
                                 .device = (uint8_t)(place >> 16),
                                 .function = (uint8_t)place};
    gtel_pci_print(gpu->key, &pci);
    return true;
}

/*
 * Reads which GPU it is. -ENOENT for what is none on PCI, or a part of another host's (GPU-P);
 * -EIO when that cannot be known now.
 */
static int read_identity(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    char text[GTEL_WDDM_ID_MAX * 3];
    uint32_t n;
    if (wddm->call.SetupDiGetDeviceInstanceIdW(wddm->set, &gpu->info, gpu->id, GTEL_WDDM_ID_MAX,
                                               &n) == 0)
        return -EIO;
    gpu->id[GTEL_WDDM_ID_MAX - 1] = 0;
    const struct gtel_str id = gtel_utf16_text(gpu->id, GTEL_WDDM_ID_MAX, text, sizeof(text));
    if (gtel_pci_instance_parse(id, gpu->pci) < 0 || gpu->pci[0] == MICROSOFT)
        return -ENOENT;
    return read_place(wddm, gpu) ? 0 : -EIO;
}

/* The units of a text of Plug and Play's, which end in NUL; false without one. */
static bool read_units(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu, uint32_t property,
                       uint16_t ret[TEXT_UNITS])
{
    uint32_t type;
    uint32_t n = 0;
    memset(ret, 0, TEXT_UNITS * sizeof(*ret));
    return wddm->call.SetupDiGetDeviceRegistryPropertyW &&
           wddm->call.SetupDiGetDeviceRegistryPropertyW(wddm->set, &gpu->info, property, &type, ret,
                                                        (TEXT_UNITS - 1) * (uint32_t)sizeof(*ret),
                                                        &n) != 0 &&
           ret[0] != 0;
}

/* ---- the registry ---- */

/* A path or name of ASCII in front, as units; how many they are. */
static size_t put_units(uint16_t *ret, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i <= n; i++)
        ret[i] = (unsigned char)text[i];
    return n;
}

/*
 * What the driver's setup wrote of its card. The older value beside it has 32 bits, and 4 GiB less
 * 1 MiB of any larger card: it is not asked, nor believed where it was copied.
 */
static uint64_t read_size(const struct gtel_wddm *wddm, struct gtel_wddm_gpu *gpu)
{
    static const uint64_t capped = 0xfff00000;
    uint16_t path[64 + TEXT_UNITS];
    uint16_t name[64];
    uint64_t bytes = 0;
    uint32_t type;
    uint32_t n = sizeof(bytes);
    size_t front = put_units(path, "SYSTEM\\CurrentControlSet\\Control\\Class\\");
    (void)put_units(name, "HardwareInformation.qwMemorySize");
    if (!wddm->call.RegGetValueW || !read_units(wddm, gpu, GTEL_SPDRP_DRIVER, path + front) ||
        wddm->call.RegGetValueW(GTEL_LOCAL_MACHINE, path, name, GTEL_REG_64_BITS, &type, &bytes,
                                &n) != 0 ||
        n != sizeof(bytes) || bytes == capped)
        return 0;
    return bytes;
}

/* ---- labels ---- */

static size_t vendor_of(const struct gtel_wddm_gpu *gpu)
{
    size_t i = 0;
    while (i < GTEL_ARRAY_LEN(vendors) && vendors[i].id != gpu->pci[0])
        i++;
    return i;
}

/*
 * As Device Manager shows it; what stands in the books may have its place in an INF in front. A
 * model is for ever: it is not made up before the name was asked for several times. False: not yet.
 */
static bool label_model(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                        struct gtel_wddm_gpu *gpu)
{
    uint16_t units[TEXT_UNITS];
    char text[GTEL_LABEL_MAX];
    size_t vendor = vendor_of(gpu);
    if (read_units(wddm, gpu, GTEL_SPDRP_DESCRIPTION, units)) {
        struct gtel_str name = gtel_utf16_text(units, TEXT_UNITS, text, sizeof(text));
        if (gtel_str_starts(name, GTEL_STR("@")))
            name = gtel_str_skip(name, gtel_str_find(name, ';') + 1);
        gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, name);
    }
    if (gpu->device->label[GTEL_LABEL_MODEL][0] != '\0')
        return true;
    if (wddm->retries < GTEL_WDDM_RETRIES)
        return false;
    (void)snprintf(text, sizeof(text), "%s %04x:%04x",
                   vendor < GTEL_ARRAY_LEN(vendors) ? vendors[vendor].name : "GPU", gpu->pci[0],
                   gpu->pci[1]);
    gtel_device_label(registry, gpu->device, GTEL_LABEL_MODEL, gtel_str_of(text));
    return true;
}

/*
 * NVIDIA's own number is the end of the one that Windows has: 32.0.15.6636 is 566.36. NVML reports
 * that, and both label the GPU.
 */
static struct gtel_str own_version(struct gtel_str version, char *buf, size_t size)
{
    struct gtel_str rest = version;
    struct gtel_str part;
    uint64_t number[4] = {0};
    size_t n = 0;
    while (n < 4 && gtel_str_part(&rest, '.', &part) && gtel_str_u64(part, &number[n]) == 0)
        n++;
    if (n < 4 || rest.n > 0 || number[2] > UINT16_MAX || number[3] > 9999)
        return version;
    unsigned all = (unsigned)(number[2] % 10 * 10000 + number[3]);
    (void)snprintf(buf, size, "%u.%02u", all / 100, all % 100);
    return gtel_str_of(buf);
}

static void label_version(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                          struct gtel_wddm_gpu *gpu)
{
    uint16_t units[64] = {0};
    char text[sizeof(units)];
    char own[32];
    uint32_t type;
    uint32_t n;
    if (wddm->call.SetupDiGetDevicePropertyW(wddm->set, &gpu->info, &driver_version, &type, units,
                                             sizeof(units), &n, 0) == 0)
        return;
    struct gtel_str version = gtel_utf16_text(units, GTEL_ARRAY_LEN(units), text, sizeof(text));
    if (gpu->pci[0] == NVIDIA)
        version = own_version(version, own, sizeof(own));
    gtel_device_relabel(registry, gpu->device, GTEL_LABEL_DRIVER_VERSION, version);
}

/* NVML labels its GPUs too, as on Linux. False: not all could be known. */
static bool label(const struct gtel_wddm *wddm, struct gtel_registry *registry,
                  struct gtel_wddm_gpu *gpu)
{
    char text[GTEL_LABEL_MAX];
    size_t vendor = vendor_of(gpu);
    bool is_nvidia = gpu->pci[0] == NVIDIA;
    gtel_device_label(registry, gpu->device, GTEL_LABEL_GPU, gtel_str_of(gpu->key));
    if (vendor < GTEL_ARRAY_LEN(vendors))
        gtel_device_label(registry, gpu->device, GTEL_LABEL_VENDOR,
                          gtel_str_of(vendors[vendor].tag));
    gtel_device_label(registry, gpu->device, GTEL_LABEL_DRIVER,
                      is_nvidia ? GTEL_STR("nvidia") : GTEL_STR("wddm"));
    (void)snprintf(text, sizeof(text), "%04x:%04x", gpu->pci[0], gpu->pci[1]);
    gtel_device_label(registry, gpu->device, GTEL_LABEL_PCI_ID, gtel_str_of(text));
    bool is_named = label_model(wddm, registry, gpu);
    label_version(wddm, registry, gpu);
    if (!is_nvidia) /* NVML's modes are others */
        gtel_device_relabel(registry, gpu->device, GTEL_LABEL_MODES,
                            gtel_str_of(gpu->adapter.modes));
    return is_named;
}

/* ---- which there are ---- */

static bool is_same(const struct gtel_wddm_gpu *a, const struct gtel_wddm_gpu *b)
{
    return strcmp(a->key, b->key) == 0 && memcmp(a->id, b->id, sizeof(a->id)) == 0;
}

/* The GPU that was known before, with its new place in the list, or another one. NULL: no room. */
static struct gtel_wddm_gpu *keep(struct gtel_wddm *wddm, const struct gtel_wddm_gpu *found)
{
    for (size_t i = 0; i < wddm->n; i++) {
        if (!is_same(wddm->gpu[i], found))
            continue;
        wddm->gpu[i]->info = found->info;
        return wddm->gpu[i];
    }
    struct gtel_wddm_gpu *gpu = wddm->n < GTEL_WDDM_GPUS_MAX ? malloc(sizeof(*gpu)) : NULL;
    if (!gpu)
        return NULL;
    *gpu = *found;
    wddm->gpu[wddm->n++] = gpu;
    return gpu;
}

/* 0, 1 when something of it could not be known, or a negative errno. */
static int add(struct gtel_wddm *wddm, struct gtel_registry *registry, struct gtel_wddm_gpu *gpu)
{
    gpu->is_found = true;
    if (gtel_wddm_read_power(wddm, gpu) && gpu->power == GTEL_POWER_D0)
        gtel_wddm_adapter_open(wddm, gpu);
    if (gpu->adapter.is_no_gpu)
        return 0;
    int r = gtel_registry_add(registry, gtel_str_of(gpu->key), &gpu->device);
    if (r < 0)
        return r;
    uint64_t size = read_size(wddm, gpu);
    gpu->registry_size = size > 0 ? size : gpu->registry_size;
    return label(wddm, registry, gpu) ? 0 : 1;
}

static void drop(struct gtel_wddm *wddm, struct gtel_registry *registry, size_t i)
{
    struct gtel_wddm_gpu *gpu = wddm->gpu[i];
    gtel_wddm_adapter_close(wddm, gpu);
    if (registry && gpu->device)
        gtel_registry_lost(registry, gpu->device);
    free(gpu);
    wddm->gpu[i] = wddm->gpu[--wddm->n];
}

/* One device of the list: 0, 1 when something of it could not be known, or a negative errno. */
static int find_one(struct gtel_wddm *wddm, struct gtel_registry *registry,
                    struct gtel_wddm_gpu *found)
{
    int r = read_identity(wddm, found);
    if (r < 0)
        return r == -ENOENT ? 0 : 1;
    struct gtel_wddm_gpu *gpu = keep(wddm, found);
    if (!gpu)
        return wddm->n < GTEL_WDDM_GPUS_MAX ? -ENOMEM : 0;
    return add(wddm, registry, gpu);
}

/* What Plug and Play did not say is asked again soon, as is whether a GPU is removed. */
int gtel_wddm_find(struct gtel_wddm *wddm, struct gtel_registry *registry)
{
    int result = 0;
    bool is_whole = true;
    void *set = wddm->call.SetupDiGetClassDevsW(&display_class, NULL, NULL, GTEL_DIGCF_PRESENT);
    if (set == GTEL_NO_LIST)
        return -EIO;
    if (wddm->set)
        (void)wddm->call.SetupDiDestroyDeviceInfoList(wddm->set); /* nothing else could be done */
    wddm->set = set;
    for (size_t i = 0; i < wddm->n; i++)
        wddm->gpu[i]->is_found = false;
    for (uint32_t i = 0; i < DEVICES_MAX; i++) {
        struct gtel_wddm_gpu found = {.info.size = sizeof(found.info)};
        if (wddm->call.SetupDiEnumDeviceInfo(set, i, &found.info) == 0)
            break;
        int r = find_one(wddm, registry, &found);
        is_whole = is_whole && r == 0;
        result = result == 0 && r < 0 ? r : result;
    }
    for (size_t i = wddm->n; i-- > 0;) {
        is_whole = is_whole && wddm->gpu[i]->is_found;
        if (!wddm->gpu[i]->is_found)
            drop(wddm, registry, i);
    }
    wddm->retries = is_whole ? 0 : wddm->retries + 1;
    return result;
}

void gtel_wddm_forget(struct gtel_wddm *wddm)
{
    while (wddm->n > 0)
        drop(wddm, NULL, wddm->n - 1);
    if (wddm->set)
        (void)wddm->call.SetupDiDestroyDeviceInfoList(wddm->set);
    wddm->set = NULL;
}
