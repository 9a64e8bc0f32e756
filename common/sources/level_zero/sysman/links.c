/* SPDX-License-Identifier: MIT */
/* The PCIe link, and the ports of the fabric between GPUs. */
#include "sources/level_zero/sysman/rows.h"

/*
 * -1 is unknown: Intel's driver answers so without root. It reports neither the link's state nor
 * how often packets were sent again.
 */
GTEL_SYSMAN_READ(link)
{
    const struct gtel_zes_pci_speed *speed = &got->pci_state.speed;
    (void)part;
    if (speed->gen > 0 && speed->gen < 16)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_PCIE_GEN, NULL, (uint64_t)speed->gen);
    if (speed->width > 0 && speed->width <= 32)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_PCIE_WIDTH, NULL, (uint64_t)speed->width);
    return speed->gen > 0 || speed->width > 0 ? GTEL_ZE_SUCCESS : GTEL_ZE_NO_VALUE;
}

static bool is_moving(uint64_t counter)
{
    return counter > 0 && counter != UINT64_MAX;
}

GTEL_SYSMAN_GET(traffic)
{
    static const struct gtel_sysman_call call = GTEL_SYSMAN_CALL(zesDevicePciGetStats, 0);
    if (!part->is.pci.has_bandwidth && !part->is.pci.has_packets)
        return GTEL_ZE_UNSUPPORTED_FEATURE;
    return gtel_sysman_get(pass->sysman, &call, part->handle, NULL, ret, sizeof(*ret));
}

GTEL_SYSMAN_READ(traffic)
{
    const struct gtel_zes_pci_stats *stats = &got->pci_stats;
    struct gtel_sysman_place place = {.t_us = stats->timestamp};
    if (stats->timestamp == UINT64_MAX || stats->timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    part->is_counting = part->is_counting || is_moving(stats->rx) || is_moving(stats->tx);
    if (part->is.pci.has_bandwidth && part->is_counting) {
        gtel_sysman_add_u64(pass, GTEL_M_GPU_PCIE_RX, &place, stats->rx);
        gtel_sysman_add_u64(pass, GTEL_M_GPU_PCIE_TX, &place, stats->tx);
    }
    if (part->is.pci.has_packets && stats->packets > 0)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_PCIE_PACKETS, &place, stats->packets);
    return GTEL_ZE_SUCCESS;
}

/* A degraded link still carries data. */
GTEL_SYSMAN_READ(port)
{
    uint32_t status = got->port_state.status;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (status == GTEL_ZES_PORT_UNKNOWN || status > GTEL_ZES_PORT_DISABLED)
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_FABRIC_UP, &place,
                        status == GTEL_ZES_PORT_HEALTHY || status == GTEL_ZES_PORT_DEGRADED);
    if (status != GTEL_ZES_PORT_DISABLED)
        gtel_sysman_add_u64(pass, GTEL_M_FABRIC_HEALTH, &place, status - GTEL_ZES_PORT_HEALTHY);
    return GTEL_ZE_SUCCESS;
}

GTEL_SYSMAN_READ(port_rate)
{
    const struct gtel_zes_port_throughput *rate = &got->port_rate;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, rate->timestamp);
    if (rate->timestamp == UINT64_MAX || rate->timestamp == 0)
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_FABRIC_RX, &place, rate->rx);
    gtel_sysman_add_u64(pass, GTEL_M_FABRIC_TX, &place, rate->tx);
    return GTEL_ZE_SUCCESS;
}

GTEL_SYSMAN_READ(port_errors)
{
    const struct gtel_zes_port_errors *errors = &got->port_errors;
    struct gtel_sysman_place place = gtel_sysman_place_of(part, 0);
    if (errors->link_failures == UINT64_MAX || errors->link_degrades == UINT64_MAX)
        return GTEL_ZE_NO_VALUE;
    gtel_sysman_add_u64(pass, GTEL_M_FABRIC_ERRORS, &place,
                        errors->link_failures + errors->firmware_communication + errors->firmware +
                            errors->link_degrades);
    return GTEL_ZE_SUCCESS;
}
