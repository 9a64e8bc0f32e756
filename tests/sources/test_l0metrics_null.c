/* SPDX-License-Identifier: MIT */
/*
 * The source of Level Zero's metrics with the system's loader and its null driver.
 *
 * Run with LD_LIBRARY_PATH at the driver's folder and ZE_ENABLE_NULL_DRIVER=1. First as it is: a
 * device that does not say what it is, is none of ours. Then a card is put under it, and its one
 * group and one metric get names that we know: a stream is opened, read, calculated and closed, and
 * the value is 0, as the driver says. At last the values are left untouched: they are not known.
 */
#include "abi/zet_abi.h"
#include "lanes/group.h"
#include "recording/tree.h"
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

static const char machine[] =
    "file usr/lib64/libze_loader.so.1\n"
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"
    "link sys/devices/pci0000:00/0000:03:00.0/drm/card0/device -> ../../../0000:03:00.0\n"
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n"
    "| DRIVER=xe\n| PCI_ID=8086:E20B\n| PCI_SLOT_NAME=0000:03:00.0\n"
    "end\n";

/* What is put under the null driver. */
enum pass { AS_IT_IS, A_CARD, UNTOUCHED, PASSES };

static struct {
    struct gtel_env env;
    struct gtel_env real;
    struct gtel_env_ops ops;
    struct gtel_zet_calls call;
    enum pass pass;
    unsigned opens;
    unsigned closes;
    unsigned contexts;
    unsigned reads;
    unsigned logs;
    char log[512];
} world;

static uint32_t device_properties(void *handle, struct gtel_ze_device_properties *ret)
{
    uint32_t code = world.call.zeDeviceGetProperties(handle, ret);
    CHECK_INT(ret->vendor_id, 0); /* nothing was written */
    if (world.pass != AS_IT_IS) {
        ret->device_type = GTEL_ZE_DEVICE_GPU;
        ret->vendor_id = 0x8086;
    }
    return code;
}

static uint32_t pci_properties(void *handle, struct gtel_ze_pci_ext_properties *ret)
{
    uint32_t code = world.call.zeDevicePciGetPropertiesExt(handle, ret);
    CHECK_INT(ret->domain, UINT32_MAX); /* as we had set it */
    ret->domain = 0;
    ret->bus = 3;
    return code;
}

static uint32_t group_properties(void *handle, struct gtel_zet_group_properties *ret)
{
    uint32_t code = world.call.zetMetricGroupGetProperties(handle, ret);
    (void)snprintf(ret->name, sizeof(ret->name), "ComputeBasic"); /* it has a name of its own */
    ret->sampling_type = GTEL_ZET_TIME_BASED;
    return code;
}

static uint32_t metric_properties(void *handle, struct gtel_zet_metric_properties *ret)
{
    uint32_t code = world.call.zetMetricGetProperties(handle, ret);
    (void)snprintf(ret->name, sizeof(ret->name), "XVE_ACTIVE");
    return code;
}

static uint32_t create_context(void *handle, const struct gtel_ze_context_desc *desc, void **ret)
{
    uint32_t code = world.call.zeContextCreate(handle, desc, ret);
    world.contexts += code == GTEL_ZE_SUCCESS;
    return code;
}

static uint32_t destroy_context(void *handle)
{
    uint32_t code = world.call.zeContextDestroy(handle);
    world.contexts -= code == GTEL_ZE_SUCCESS;
    return code;
}

static uint32_t open_stream(void *context, void *handle, void *group,
                            struct gtel_zet_streamer_desc *desc, void *event, void **ret)
{
    uint32_t code = world.call.zetMetricStreamerOpen(context, handle, group, desc, event, ret);
    world.opens += code == GTEL_ZE_SUCCESS && *ret != NULL;
    return code;
}

static uint32_t close_stream(void *handle)
{
    world.closes++;
    return world.call.zetMetricStreamerClose(handle);
}

static uint32_t read_data(void *handle, uint32_t max_reports, size_t *size, uint8_t *ret)
{
    world.reads += ret != NULL;
    return world.call.zetMetricStreamerReadData(handle, max_reports, size, ret);
}

static uint32_t calculate(void *handle, uint32_t kind, size_t size, const uint8_t *raw,
                          uint32_t *count, struct gtel_zet_value *ret)
{
    bool is_untouched = world.pass == UNTOUCHED;
    return world.call.zetMetricGroupCalculateMetricValues(handle, kind, size, raw, count,
                                                          is_untouched ? NULL : ret);
}

static int lib_open(void *arg, const char *const *names, void **ret)
{
    (void)arg;
    return world.real.ops->lib_open(world.real.arg, names, ret);
}

static void *lib_symbol(void *arg, void *lib, const char *name)
{
    void *address = world.real.ops->lib_symbol(world.real.arg, lib, name);
    (void)arg;
#define SHOW(name_, own)                                                                           \
    if (address && strcmp(name, #name_) == 0) {                                                    \
        struct gtel_zet_calls table = {.name_ = own};                                              \
        memcpy(&world.call.name_, &address, sizeof(address));                                      \
        memcpy(&address, &table.name_, sizeof(address));                                           \
    }
    SHOW(zeDeviceGetProperties, device_properties)
    SHOW(zeDevicePciGetPropertiesExt, pci_properties)
    SHOW(zetMetricGroupGetProperties, group_properties)
    SHOW(zetMetricGetProperties, metric_properties)
    SHOW(zeContextCreate, create_context)
    SHOW(zeContextDestroy, destroy_context)
    SHOW(zetMetricStreamerOpen, open_stream)
    SHOW(zetMetricStreamerClose, close_stream)
    SHOW(zetMetricStreamerReadData, read_data)
    SHOW(zetMetricGroupCalculateMetricValues, calculate)
#undef SHOW
    return address;
}

static void lib_close(void *arg, void *lib)
{
    (void)arg;
    world.real.ops->lib_close(world.real.arg, lib);
}

static void on_log(void *arg, enum gtel_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    world.logs++;
    (void)gtel_str_copy(world.log, sizeof(world.log), gtel_str_of(text));
}

/* A second by the machine's own clock, with what the source does in between. */
static void pass_second(struct gtel_group *group, const struct gtel_env_ops *played)
{
    uint64_t end_ns = gtel_env_now(&world.env) + 1000000000u;
    for (int i = 0; i < 100; i++) {
        uint64_t now_ns = gtel_env_now(&world.env);
        uint64_t due_ns = gtel_group_due(group);
        bool is_due = due_ns > 0 && due_ns < end_ns;
        uint64_t next_ns = is_due ? due_ns : end_ns;
        world.env.ops = played;
        gtel_env_tree_step(&world.env, next_ns > now_ns ? next_ns - now_ns : 0);
        world.env.ops = &world.ops;
        if (!is_due)
            break;
        gtel_group_tick(group);
    }
}

static void test_pass(struct gtel_tree *tree, const struct gtel_options *options)
{
    struct gtel_group group;
    uint32_t failed = 0;
    CHECK_INT(gtel_env_tree_init(tree, true, 0, &world.env), 0);
    const struct gtel_env_ops *played = world.env.ops;
    world.ops = *played;
    world.ops.lib_open = lib_open;
    world.ops.lib_symbol = lib_symbol;
    world.ops.lib_close = lib_close;
    world.env.ops = &world.ops;
    world.env.log = (struct gtel_log){on_log, NULL};
    world.opens = world.closes = world.reads = world.logs = 0;
    CHECK_INT(gtel_group_init(&group, "l0metrics", &world.env, options), 0);
    for (int i = 0; i < 3; i++) {
        gtel_group_sample(&group);
        /* Active units, samples, lost ones. */
        CHECK_INT(group.batch.n, world.pass == A_CARD && i > 0 ? 3 : 0);
        failed += group.batch.failed[0];
        CHECK_INT(world.opens, world.closes);
        CHECK_INT(world.contexts, 0);
        pass_second(&group, played);
    }
    gtel_group_done(&group);
    CHECK_INT(world.opens, world.closes);
    CHECK((world.opens > 0) == (world.pass != AS_IT_IS));
    CHECK((world.reads > 0) == (world.pass != AS_IT_IS));
    CHECK((failed > 0) == (world.pass == UNTOUCHED)); /* what was measured makes no sense */
    CHECK(world.logs <= 1);
    world.env.ops = played;
    gtel_env_tree_done(&world.env);
}

int main(void)
{
    static const char *const labels[PASSES] = {"as it is", "a card under it", "untouched"};
    struct gtel_tree *tree = NULL;
    struct gtel_options options;
    char error[100];
    gtel_options_init(&options);
    CHECK_INT(gtel_option_set(&options, GTEL_O_L0_METRICS, GTEL_STR("on"), error, sizeof(error)),
              0);
    if (!CHECK(gtel_tree_parse(gtel_str_of(machine), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_posix_init("/", &world.real) == 0))
        return test_result();
    for (int pass = 0; pass < PASSES; pass++) {
        world.pass = (enum pass)pass;
        test_label = labels[pass];
        test_pass(tree, &options);
        printf("%s: %u streams, %u reads, %s\n", labels[pass], world.opens, world.reads,
               world.logs > 0 ? world.log : "nothing said");
    }
    test_label = "";
    gtel_env_posix_done(&world.real);
    gtel_tree_free(tree);
    return test_result();
}
