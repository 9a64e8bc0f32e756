/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's counters: loading, and the zones of powercap. */
#include "host.h"

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/powercap.h>

static bool has_pmu = true;
module_param(has_pmu, bool, 0444);
MODULE_PARM_DESC(has_pmu, "RAPL's perf PMU beside powercap");

unsigned int host_errors = 5;
module_param_named(errors, host_errors, uint, 0644);
MODULE_PARM_DESC(errors, "corrected errors of core-compute");

static u64 loaded_ns;
static struct powercap_control_type *rapl;
static struct powercap_zone *package;
static struct powercap_zone *uncore;

u64 host_age_ns(void)
{
    return ktime_get_ns() - loaded_ns;
}

/* A counter of 2^-14 J and 32 bits, as the real ones (intel_rapl_common.c). */
static int max_energy(struct powercap_zone *zone, u64 *uj)
{
    *uj = 262143328850ull;
    return 0;
}

static int energy(struct powercap_zone *zone, u64 *uj)
{
    u64 watts8 = zone == uncore ? HOST_GPU_WATTS8 : HOST_PACKAGE_WATTS8;
    *uj = mul_u64_u64_div_u64(host_age_ns(), watts8, 8000);
    return 0;
}

static int release(struct powercap_zone *zone)
{
    return 0;
}

static const struct powercap_zone_ops zone_ops = {
    .get_max_energy_range_uj = max_energy, .get_energy_uj = energy, .release = release};

/* The zones have no constraints, and powercap asks for their functions all the same. */
static int no_get(struct powercap_zone *zone, int id, u64 *value)
{
    return -ENODATA;
}

static int no_set(struct powercap_zone *zone, int id, u64 value)
{
    return -ENODATA;
}

static const struct powercap_zone_constraint_ops constraint_ops = {
    .set_power_limit_uw = no_set,
    .get_power_limit_uw = no_get,
    .set_time_window_us = no_set,
    .get_time_window_us = no_get,
};

int host_zones_register(void)
{
    rapl = powercap_register_control_type(NULL, "intel-rapl", NULL);
    if (IS_ERR(rapl))
        return PTR_ERR(rapl);
    package = powercap_register_zone(NULL, rapl, "package-0", NULL, &zone_ops, 0, &constraint_ops);
    if (IS_ERR(package)) {
        powercap_unregister_control_type(rapl);
        return PTR_ERR(package);
    }
    uncore = powercap_register_zone(NULL, rapl, "uncore", package, &zone_ops, 0, &constraint_ops);
    if (IS_ERR(uncore)) {
        powercap_unregister_zone(rapl, package);
        powercap_unregister_control_type(rapl);
        return PTR_ERR(uncore);
    }
    return 0;
}

void host_zones_unregister(void)
{
    powercap_unregister_zone(rapl, uncore);
    powercap_unregister_zone(rapl, package);
    powercap_unregister_control_type(rapl);
}

static int __init host_init(void)
{
    int r;
    loaded_ns = ktime_get_ns();
    r = host_zones_register();
    if (r)
        return r;
    r = host_ras_register();
    if (r)
        goto no_ras;
    r = has_pmu ? host_power_register() : 0;
    if (r)
        goto no_power;
    return 0;
no_power:
    host_ras_unregister();
no_ras:
    host_zones_unregister();
    return r;
}

static void __exit host_exit(void)
{
    if (has_pmu)
        host_power_unregister();
    host_ras_unregister();
    host_zones_unregister();
}

module_init(host_init);
module_exit(host_exit);
MODULE_DESCRIPTION("Made-up counters of a host for tests in a virtual machine");
MODULE_LICENSE("GPL");
