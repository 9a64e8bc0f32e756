/* SPDX-License-Identifier: MIT */
/*
 * Source npu: NPUs, which are DRM devices with accelerator nodes.
 *
 * intel_vpu has files beside its PCI device (kernel: accel/ivpu/ivpu_sysfs.c): the time in which a
 * job was submitted (Linux 6.11), the memory of all buffers (6.15), and clocks, of which the
 * current one is 0 while the NPU sleeps (about 6.16). Newest kernels have the clocks in freq/, too,
 * where the names used here are links. No power, no temperature. The NPU falls asleep after 10 to
 * 100 ms without a job; its files are the driver's memory, or are read without waking it.
 *
 * amdxdna has sensors in hwmon only with AMD's own package (amd/xdna-driver #1324), which ask the
 * platform and not the NPU. Its load, power and clock are in the table of the APU's GPU: source
 * amdgpu reports them for this device. An ioctl has them as well, and keeps the NPU awake.
 */
#include "sources/drm/attr_source.h"
#include "sources/drm/hwmon.h"

#include <string.h>

static const char *const drivers[] = {"intel_vpu", "amdxdna", NULL};

static void add(struct gtel_attr_list *list)
{
    static const struct gtel_attr_file busy[] = {
        {"npu_busy_time_us", {GTEL_M_ENGINE_BUSY_TIME, GTEL_ATTR_COUNTER, 1e-6}},
    };
    static const struct gtel_attr_file clocks[] = {
        {"npu_current_frequency_mhz", {GTEL_M_FREQUENCY_ACTUAL, GTEL_ATTR_CLOCK, 1e6}},
        {"npu_max_frequency_mhz", {GTEL_M_FREQUENCY_HARDWARE_MAX, GTEL_ATTR_CLOCK, 1e6}},
    };
    static const struct gtel_attr_file memory[] = {
        {"npu_memory_utilization", {GTEL_M_GPU_MEMORY_USED, GTEL_ATTR_BYTES, 1}},
    };
    static const struct gtel_str engine[GTEL_ATTR_DIMS] = {GTEL_STR_INIT("compute")};
    static const struct gtel_str domain[GTEL_ATTR_DIMS] = {GTEL_STR_INIT("npu")};
    if (strcmp(list->card->drm.driver, "amdxdna") == 0) {
        gtel_hwmon_add(list);
        return;
    }
    gtel_attr_add_files(list, engine, list->card->path, busy, GTEL_ARRAY_LEN(busy));
    gtel_attr_add_files(list, NULL, list->card->path, memory, GTEL_ARRAY_LEN(memory));
    gtel_attr_add_files(list, domain, list->card->path, clocks, GTEL_ARRAY_LEN(clocks));
}

static const struct gtel_card_work work = {
    .add = add,
    .asleep = "intel_vpu",
    .failure = "npu: %s",
};

const struct gtel_source gtel_source_npu = {
    .name = "npu",
    .lane = "kernel",
    .vendor = "drm",
    .summary = "Power state of NPUs; of Intel's (ivpu) how busy they are, memory and clocks",
    .needs = "no rights; Linux 6.11 for busy shares, 6.15 for memory, about 6.16 for clocks",
    .origins = gtel_attr_origins,
    .drivers = drivers,
    .work = &work,
};
