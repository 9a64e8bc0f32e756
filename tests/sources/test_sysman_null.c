/* SPDX-License-Identifier: MIT */
/*
 * The Sysman source with the system's loader of Level Zero and its null driver, which succeeds with
 * everything and writes nothing.
 *
 * Run with LD_LIBRARY_PATH at the driver's folder and ZE_ENABLE_NULL_DRIVER=1. The first pass takes
 * it as it is: a device that does not say what it is, is none of ours. In the second one a card is
 * put under it, and one part into each list, so that each getter is asked: what it leaves untouched
 * is unknown.
 */
#include "abi/zes_abi.h"
#include "harness/call_args.h"
#include "harness/vendor_library.h"
#include "harness/test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct vendor level_zero = {
    .name = "intel",
    .lane = "sysman",
    .soname = "libze_loader.so.1",
    .machine =
        "file usr/lib64/libze_loader.so.1\n"
        "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
        "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
        "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
        "| DRIVER=i915\n| PCI_ID=8086:56A0\n| PCI_SLOT_NAME=0000:03:00.0\n"
        "file proc/sys/kernel/osrelease\n| 5.15.0\n",
};

static struct {
    struct gtel_zes_calls real;
    unsigned calls; /* of functions that are not the start */
    unsigned gets;  /* that succeeded */
    bool is_shown;  /* the second pass */
} null;

/* ---- what becomes of the driver's answers, by shape: the result code ---- */

static uint32_t note(uint32_t code)
{
    null.calls++;
    null.gets += code == GTEL_ZE_SUCCESS;
    return code;
}

static uint32_t after_init(const char *name, uint32_t code, uint32_t flags)
{
    (void)name;
    (void)flags;
    return code;
}

static uint32_t after_drivers(const char *name, uint32_t code, const uint32_t *count, void **ret)
{
    (void)name;
    (void)count;
    (void)ret;
    return note(code);
}

/* One part in each list: counting leaves the count at 0, filling fills as many as asked for. */
static uint32_t after_get_list(const char *name, uint32_t code, const void *handle, uint32_t *count,
                               const void *ret)
{
    (void)name;
    (void)handle;
    if (null.is_shown && !ret && code == GTEL_ZE_SUCCESS && *count == 0)
        *count = 1;
    return note(code);
}

static uint32_t after_list(const char *name, uint32_t code, const void *handle, uint32_t *count,
                           void **ret)
{
    return after_get_list(name, code, handle, count, ret);
}

/* What a part is, so that it is asked for its values. */
static void write_part(const char *name, void *ret)
{
    const struct {
        const char *name;
        size_t offset;
        uint32_t value;
        size_t size;
    } members[] = {
#define MEMBER(call, type, member, value)                                                          \
    {call, offsetof(struct gtel_zes_##type, member), value,                                        \
     sizeof(((struct gtel_zes_##type *)NULL)->member)}
        MEMBER("zesFrequencyGetProperties", freq_properties, type, GTEL_ZES_FREQ_GPU),
        MEMBER("zesPowerGetProperties", power_properties, on_subdevice, 0),
        MEMBER("zesTemperatureGetProperties", temp_properties, type, GTEL_ZES_TEMP_GPU),
        MEMBER("zesMemoryGetProperties", mem_properties, location, GTEL_ZES_MEM_DEVICE),
        MEMBER("zesRasGetProperties", ras_properties, type, GTEL_ZES_RAS_CORRECTABLE),
        MEMBER("zesFabricPortGetProperties", port_properties, id.attach, 0),
        MEMBER("zesFanGetProperties", fan_properties, units, 1),
#undef MEMBER
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(members); i++) {
        uint8_t low = (uint8_t)members[i].value;
        if (strcmp(members[i].name, name) == 0)
            memcpy((char *)ret + members[i].offset,
                   members[i].size == 1 ? (const void *)&low : (const void *)&members[i].value,
                   members[i].size);
    }
}

/* Enough of a card that it is treated as ours. */
static void write_card(const char *name, void *ret)
{
    if (strcmp(name, "zesDeviceGetProperties") == 0) {
        struct gtel_zes_device_properties *device = ret;
        CHECK_INT(device->core.vendor_id, UINT32_MAX); /* set by the caller: nothing was written */
        device->core.device_type = GTEL_ZE_DEVICE_GPU;
        device->core.vendor_id = 0x8086;
    }
    if (strcmp(name, "zesDevicePciGetProperties") == 0) {
        struct gtel_zes_pci_properties *pci = ret;
        CHECK_INT(pci->bus, UINT32_MAX);
        pci->domain = 0;
        pci->bus = 3;
        pci->device = 0;
        pci->function = 0;
    }
    if (strcmp(name, "zesDeviceEccAvailable") == 0)
        *(uint8_t *)ret = 1;
}

static uint32_t after_get(const char *name, uint32_t code, const void *handle, void *ret)
{
    (void)handle;
    if (null.is_shown) {
        write_card(name, ret);
        write_part(name, ret);
    }
    return note(code);
}

static uint32_t after_limits(const char *name, uint32_t code, const void *handle, const void *ret,
                             const void *burst, const void *peak)
{
    (void)name;
    (void)handle;
    (void)ret;
    (void)burst;
    (void)peak;
    return note(code);
}

static uint32_t after_ras(const char *name, uint32_t code, const void *handle, uint8_t clear,
                          const void *ret)
{
    (void)name;
    (void)handle;
    (void)clear;
    (void)ret;
    return note(code);
}

static uint32_t after_fan(const char *name, uint32_t code, const void *handle, uint32_t units,
                          const void *ret)
{
    (void)name;
    (void)handle;
    (void)units;
    (void)ret;
    return note(code);
}

#define APPLY_(fn, first, ...) fn(__VA_ARGS__)
#define APPLY(...) APPLY_(__VA_ARGS__)
#define GTEL_ZES_SYM(name, need, shape, type)                                                      \
    static uint32_t null_##name GTEL_ZES_PARAMS_##shape(type)                                      \
    {                                                                                              \
        uint32_t code = APPLY(null.real.name, 0 GTEL_ZES_ARGS_##shape);                            \
        return after_##shape(#name, code GTEL_ZES_ARGS_##shape);                                   \
    }
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM

static void *(*real_symbol)(void *arg, void *lib, const char *name);

static void *find_symbol(void *arg, void *lib, const char *name)
{
    void *address = real_symbol(arg, lib, name);
    if (!address)
        return NULL;
#define GTEL_ZES_SYM(name_, need, shape, type)                                                     \
    if (strcmp(name, #name_) == 0) {                                                               \
        uint32_t(*thunk) GTEL_ZES_PARAMS_##shape(type) = null_##name_;                             \
        memcpy(&null.real.name_, &address, sizeof(address));                                       \
        memcpy(&address, &thunk, sizeof(address));                                                 \
        return address;                                                                            \
    }
#include "abi/zes_syms.def"
#undef GTEL_ZES_SYM
    return NULL;
}

/* Metrics that are there without Level Zero's values: the core's, and those of the card's files. */
static bool is_others(size_t metric)
{
    enum gtel_measurement of = gtel_metric_row((enum gtel_metric)metric)->measurement;
    return metric == GTEL_M_GPU_UP || metric == GTEL_M_GPU_AWAKE ||
           metric == GTEL_M_GPU_READINGS_FAILED || of == GTEL_MEASUREMENT_GPU_INFO ||
           of == GTEL_MEASUREMENT_GTEL;
}

static void test_pass(bool is_shown, unsigned calls_min)
{
    struct front front;
    null.is_shown = is_shown;
    null.calls = 0;
    null.gets = 0;
    test_label = is_shown ? "a card under it" : "as it is";
    if (!CHECK(begin_world(&level_zero, level_zero.soname)))
        return;
    real_symbol = world.ops.lib_symbol;
    world.ops.lib_symbol = find_symbol;
    if (!start(&front, NULL))
        return;
    for (int i = 0; i < 3; i++) {
        gather(&front);
        for (size_t m = 0; m < GTEL_M_COUNT; m++)
            if (front.view.puts[m] > 0 && !is_others(m))
                CHECK_STR(gtel_metric_row((enum gtel_metric)m)->field, "nothing");
    }
    CHECK(null.calls >= calls_min);
    CHECK_INT(null.gets, null.calls); /* all of it succeeds */
    CHECK_NEAR(front.view.last[GTEL_M_GPU_READINGS_FAILED], 0, 0);
    CHECK_STR(gtel_str_of(front.view.log), "");
    gtel_context_free(front.context);
    end_world();
    test_label = "";
}

int main(void)
{
    test_pass(false, 2);
    test_pass(true, 45);
    return test_result();
}
