/* SPDX-License-Identifier: MIT */
/* The PCIe link, and the ports of the fabric between GPUs. */
#include "sources/level_zero/sysman/sysman.h"

/* Intel's driver says that it does not know (compute-runtime: sysman pci). */
static bool put_link_health(const struct gtel_sysman_pass *pass, uint32_t status)
{
    bool is_known = status > GTEL_ZES_LINK_UNKNOWN && status <= GTEL_ZES_LINK_STABILITY_ISSUES;
    if (is_known)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_HEALTH, NULL, status - GTEL_ZES_LINK_GOOD);
    return is_known;
}

/* -1 is unknown: Intel's driver says so without root. */
uint32_t gtel_sysman_read_link(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_pci_state got = {.head.type = GTEL_ZES_TYPE_PCI_STATE,
                                     .speed = {.gen = -1, .width = -1, .max_bandwidth = -1}};
    uint32_t code = pass->sysman->call.zesDevicePciGetState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.speed.gen > 0 && got.speed.gen < 16)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_GEN, NULL, (uint64_t)got.speed.gen);
    if (got.speed.width > 0 && got.speed.width <= 32)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_WIDTH, NULL, (uint64_t)got.speed.width);
    bool has_health = put_link_health(pass, got.status);
    return has_health || got.speed.gen > 0 || got.speed.width > 0 ? GTEL_ZE_SUCCESS
                                                                  : GTEL_SYSMAN_NO_VALUE;
}

uint32_t gtel_sysman_read_traffic(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_pci_stats got = {.timestamp = UINT64_MAX};
    if (!part->is.pci.has_bandwidth && !part->is.pci.has_packets && !part->is.pci.has_replays)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    uint32_t code = pass->sysman->call.zesDevicePciGetStats(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.timestamp == UINT64_MAX || got.timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    struct gtel_sysman_place place = {.t_us = got.timestamp};
    part->is_counting = part->is_counting || got.rx > 0 || got.tx > 0;
    if (part->is.pci.has_bandwidth && part->is_counting) {
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_RX, &place, got.rx);
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_TX, &place, got.tx);
    }
    if (part->is.pci.has_packets && got.packets > 0)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_PACKETS, &place, got.packets);
    if (part->is.pci.has_replays)
        gtel_sysman_put_u64(pass, GTEL_M_GPU_PCIE_REPLAYS, &place, got.replays);
    return GTEL_ZE_SUCCESS;
}

/* A degraded link still carries data. */
uint32_t gtel_sysman_read_port(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_port_state got = {.head.type = GTEL_ZES_TYPE_FABRIC_PORT_STATE,
                                      .status = GTEL_ZES_PORT_UNKNOWN};
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    uint32_t code = pass->sysman->call.zesFabricPortGetState(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.status == GTEL_ZES_PORT_UNKNOWN || got.status > GTEL_ZES_PORT_DISABLED)
        return GTEL_SYSMAN_NO_VALUE;
    gtel_sysman_put_u64(pass, GTEL_M_FABRIC_UP, &place,
                        got.status == GTEL_ZES_PORT_HEALTHY ||
                            got.status == GTEL_ZES_PORT_DEGRADED);
    if (got.status != GTEL_ZES_PORT_DISABLED)
        gtel_sysman_put_u64(pass, GTEL_M_FABRIC_HEALTH, &place, got.status - GTEL_ZES_PORT_HEALTHY);
    return GTEL_ZE_SUCCESS;
}

uint32_t gtel_sysman_read_port_rate(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_port_throughput got = {.timestamp = UINT64_MAX};
    uint32_t code = pass->sysman->call.zesFabricPortGetThroughput(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.timestamp == UINT64_MAX || got.timestamp == 0)
        return GTEL_SYSMAN_NO_VALUE;
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}, .t_us = got.timestamp};
    gtel_sysman_put_u64(pass, GTEL_M_FABRIC_RX, &place, got.rx);
    gtel_sysman_put_u64(pass, GTEL_M_FABRIC_TX, &place, got.tx);
    return GTEL_ZE_SUCCESS;
}

uint32_t gtel_sysman_read_port_errors(struct gtel_sysman_pass *pass, struct gtel_sysman_part *part)
{
    struct gtel_zes_port_errors got = {.head.type = GTEL_ZES_TYPE_FABRIC_PORT_ERRORS,
                                       .link_failures = UINT64_MAX};
    struct gtel_sysman_place place = {.dim = {gtel_str_of(part->name)}};
    uint32_t code = pass->sysman->call.zesFabricPortGetFabricErrorCounters(part->handle, &got);
    if (code != GTEL_ZE_SUCCESS)
        return code;
    if (got.link_failures == UINT64_MAX)
        return GTEL_SYSMAN_NO_VALUE;
    gtel_sysman_put_u64(pass, GTEL_M_FABRIC_ERRORS, &place,
                        got.link_failures + got.firmware_communication + got.firmware +
                            got.link_degrades);
    return GTEL_ZE_SUCCESS;
}
