/* SPDX-License-Identifier: MIT */
/* Display devices as Plug and Play has them in its books. */
#include "host/pnp.h"

#include "host/fs.h"
#include "parse/utf16.h"

#include <errno.h>
#include <string.h>

enum { DEVICES_MAX = 256, MICROSOFT = 0x1414 };

/*
 * From the folder of the system. The second name is never there: recorded machines play all
 * libraries of Windows by that one.
 */
static const char *const names[] = {"setupapi.dll", "libwddm.so", NULL};
static const char *const registry_names[] = {"advapi32.dll", "libwddm.so", NULL};

static const struct gtel_dynlib_symbol symbols[] = {
#define GTEL_PNP_SYM(name, result, params) {#name, offsetof(struct gtel_pnp_calls, name), true},
#include "abi/pnp_syms.def"
#undef GTEL_PNP_SYM
};
static const struct gtel_dynlib_symbol get_value = {"RegGetValueW", 0, false};

/* GUID_DEVCLASS_DISPLAY */
static const struct gtel_guid display_class = {
    0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};

/* devpkey.h: DEVPKEY_Device_BusNumber, _Address, _PowerData; _ProblemCode; _DriverVersion */
#define DEVICE_PROPERTY(id)                                                                        \
    {                                                                                              \
        {0xa45c254e, 0xdf1c, 0x4efd, {0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0}}, id         \
    }
static const struct gtel_devpropkey bus_number = DEVICE_PROPERTY(23);
static const struct gtel_devpropkey place_number = DEVICE_PROPERTY(30);
static const struct gtel_devpropkey power_data = DEVICE_PROPERTY(32);
static const struct gtel_devpropkey problem_code = {
    {0x4340a6c5, 0x93fa, 0x4706, {0x97, 0x2c, 0x7b, 0x64, 0x80, 0x08, 0xa5, 0xa7}}, 3};
static const struct gtel_devpropkey driver_version = {
    {0xa8b865dd, 0x2e3d, 0x4094, {0xad, 0x97, 0xe5, 0x93, 0xa7, 0x0c, 0x75, 0xd6}}, 3};

bool gtel_pnp_is_there(const struct gtel_env *env)
{
    return gtel_fs_exists(env, "System32/setupapi.dll"); /* below the folder of Windows */
}

int gtel_pnp_open(const struct gtel_env *env, struct gtel_pnp *pnp)
{
    if (!gtel_pnp_is_there(env))
        return -ENOENT;
    int r =
        gtel_dynlib_open(env, &pnp->library, names, symbols, GTEL_ARRAY_LEN(symbols), &pnp->call);
    if (r == 0) /* without the registry all else is known */
        (void)gtel_dynlib_open(env, &pnp->registry, registry_names, &get_value, 1, &pnp->get_value);
    return r;
}

static void forget(struct gtel_pnp *pnp)
{
    if (pnp->set)
        (void)pnp->call.SetupDiDestroyDeviceInfoList(pnp->set); /* nothing else could be done */
    pnp->set = NULL;
}

void gtel_pnp_close(const struct gtel_env *env, struct gtel_pnp *pnp)
{
    forget(pnp);
    gtel_dynlib_close(env, &pnp->library);
    gtel_dynlib_close(env, &pnp->registry);
    pnp->call = (struct gtel_pnp_calls){0};
    pnp->get_value = NULL;
}

int gtel_pnp_list(struct gtel_pnp *pnp)
{
    void *set = pnp->call.SetupDiGetClassDevsW(&display_class, NULL, NULL, GTEL_DIGCF_PRESENT);
    if (set == GTEL_NO_LIST)
        return -EIO;
    forget(pnp);
    pnp->set = set;
    return 0;
}

/* Whether the property is there and has exactly these bytes. */
static bool read_property(const struct gtel_pnp *pnp, const struct gtel_devinfo *info,
                          const struct gtel_devpropkey *property, void *ret, uint32_t size)
{
    struct gtel_devinfo device = *info;
    uint32_t type;
    uint32_t n = 0;
    return pnp->call.SetupDiGetDevicePropertyW(pnp->set, &device, property, &type, ret, size, &n,
                                               0) != 0 &&
           n == size;
}

/* 0 where all is well, or nothing is known of it. */
static uint32_t problem_of(const struct gtel_pnp *pnp, const struct gtel_devinfo *info)
{
    uint32_t code = 0;
    return read_property(pnp, info, &problem_code, &code, sizeof(code)) ? code : 0;
}

uint32_t gtel_pnp_power(const struct gtel_pnp *pnp, const struct gtel_devinfo *info)
{
    struct gtel_power_data data = {0};
    bool is_known = pnp->set && read_property(pnp, info, &power_data, &data, sizeof(data)) &&
                    data.state >= GTEL_POWER_D0 && data.state <= GTEL_POWER_D3;
    is_known = is_known && (data.state == GTEL_POWER_D0 || problem_of(pnp, info) == 0);
    return is_known ? data.state : 0;
}

/*
 * Device and function stand in the address; a bus number beyond eight bits has the domain above
 * them (wdm.h, PCI_SEGMENT_BUS_NUMBER).
 */
static bool read_place(const struct gtel_pnp *pnp, struct gtel_pnp_gpu *gpu)
{
    uint32_t bus;
    uint32_t place;
    if (!read_property(pnp, &gpu->info, &bus_number, &bus, sizeof(bus)) ||
        !read_property(pnp, &gpu->info, &place_number, &place, sizeof(place)) || bus >> 24 != 0 ||
        place >> 16 > 31 || (place & 0xffff) > 7)
        return false;
    gpu->pci = (struct gtel_pci){.domain = bus >> 8,
                                 .bus = (uint8_t)bus,
                                 .device = (uint8_t)(place >> 16),
                                 .function = (uint8_t)place};
    gtel_pci_print(gpu->key, &gpu->pci);
    return true;
}

int gtel_pnp_get(const struct gtel_pnp *pnp, uint32_t i, struct gtel_pnp_gpu *ret)
{
    char text[GTEL_PNP_ID_MAX * 3];
    uint32_t n;
    *ret = (struct gtel_pnp_gpu){.info.size = sizeof(ret->info)};
    if (i >= DEVICES_MAX || pnp->call.SetupDiEnumDeviceInfo(pnp->set, i, &ret->info) == 0)
        return 1;
    if (pnp->call.SetupDiGetDeviceInstanceIdW(pnp->set, &ret->info, ret->id, GTEL_PNP_ID_MAX, &n) ==
        0)
        return -EIO;
    ret->id[GTEL_PNP_ID_MAX - 1] = 0;
    const struct gtel_str id = gtel_utf16_text(ret->id, GTEL_PNP_ID_MAX, text, sizeof(text));
    if (gtel_pci_instance_parse(id, ret->pci_id) < 0 || ret->pci_id[0] == MICROSOFT)
        return -ENOENT;
    if (!read_place(pnp, ret))
        return -EIO;
    ret->problem = problem_of(pnp, &ret->info);
    return ret->problem != 0 ? -ENODEV : 0;
}

bool gtel_pnp_driver_version(const struct gtel_pnp *pnp, const struct gtel_devinfo *info, char *ret,
                             size_t size)
{
    uint16_t units[64] = {0};
    char text[sizeof(units)];
    struct gtel_devinfo device = *info;
    uint32_t type;
    uint32_t n;
    return pnp->call.SetupDiGetDevicePropertyW(pnp->set, &device, &driver_version, &type, units,
                                               sizeof(units), &n, 0) != 0 &&
           gtel_str_copy(ret, size,
                         gtel_utf16_text(units, GTEL_ARRAY_LEN(units), text, sizeof(text)));
}

bool gtel_pnp_text(const struct gtel_pnp *pnp, const struct gtel_devinfo *info, uint32_t property,
                   uint16_t ret[GTEL_PNP_UNITS])
{
    struct gtel_devinfo device = *info;
    uint32_t type;
    uint32_t n = 0;
    memset(ret, 0, GTEL_PNP_UNITS * sizeof(*ret));
    return pnp->call.SetupDiGetDeviceRegistryPropertyW(
               pnp->set, &device, property, &type, ret,
               (GTEL_PNP_UNITS - 1) * (uint32_t)sizeof(*ret), &n) != 0 &&
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
uint64_t gtel_pnp_registry_size(const struct gtel_pnp *pnp, const struct gtel_devinfo *info)
{
    static const uint64_t capped = 0xfff00000;
    uint16_t path[64 + GTEL_PNP_UNITS];
    uint16_t name[64];
    uint64_t bytes = 0;
    uint32_t type;
    uint32_t n = sizeof(bytes);
    size_t front = put_units(path, "SYSTEM\\CurrentControlSet\\Control\\Class\\");
    (void)put_units(name, "HardwareInformation.qwMemorySize");
    if (!pnp->get_value || !gtel_pnp_text(pnp, info, GTEL_SPDRP_DRIVER, path + front) ||
        pnp->get_value(GTEL_LOCAL_MACHINE, path, name, GTEL_REG_64_BITS, &type, &bytes, &n) != 0 ||
        n != sizeof(bytes) || bytes == capped)
        return 0;
    return bytes;
}

int gtel_pnp_interface(const struct gtel_pnp *pnp, const struct gtel_pnp_gpu *gpu,
                       struct gtel_interface_detail *ret)
{
    /* GUID_DISPLAY_DEVICE_ARRIVAL */
    static const struct gtel_guid arrival = {
        0x1ca05180, 0xa699, 0x450a, {0x9a, 0x0c, 0xde, 0x4f, 0xbe, 0x3d, 0xdd, 0x89}};
    struct gtel_device_interface interface = {.size = sizeof(interface)};
    uint32_t n;
    const struct gtel_pnp_calls *call = &pnp->call;
    void *set = call->SetupDiGetClassDevsW(&arrival, gpu->id, NULL,
                                           GTEL_DIGCF_PRESENT | GTEL_DIGCF_DEVICE_INTERFACE);
    if (set == GTEL_NO_LIST)
        return -ENOENT;
    *ret = (struct gtel_interface_detail){.size = GTEL_INTERFACE_DETAIL_SIZE};
    bool is_there =
        call->SetupDiEnumDeviceInterfaces(set, NULL, &arrival, 0, &interface) != 0 &&
        call->SetupDiGetDeviceInterfaceDetailW(set, &interface, ret, sizeof(*ret), &n, NULL) != 0;
    ret->path[GTEL_INTERFACE_PATH_MAX - 1] = 0;
    (void)call->SetupDiDestroyDeviceInfoList(set);
    return is_there && ret->path[0] != 0 ? 0 : -ENOENT;
}

/* ---- one question ---- */

int gtel_pnp_find(const struct gtel_env *env, struct gtel_pnp *pnp, struct gtel_str address,
                  uint16_t vendor, struct gtel_pnp_gpu *ret)
{
    int r = gtel_pnp_open(env, pnp);
    if (r == 0)
        r = gtel_pnp_list(pnp);
    for (uint32_t i = 0; r == 0; i++) {
        int got = gtel_pnp_get(pnp, i, ret);
        bool is_it =
            address.n > 0 ? gtel_str_eq(address, gtel_str_of(ret->key)) : ret->pci_id[0] == vendor;
        if (got == 0 && is_it)
            return 0;
        r = got == 1 ? -ENOENT : 0;
    }
    gtel_pnp_close(env, pnp);
    return r;
}

bool gtel_pnp_has(const struct gtel_env *env, uint16_t vendor)
{
    struct gtel_pnp pnp = {0};
    struct gtel_pnp_gpu gpu;
    bool has_it = gtel_pnp_find(env, &pnp, GTEL_STR_NONE, vendor, &gpu) == 0;
    gtel_pnp_close(env, &pnp);
    return has_it;
}
