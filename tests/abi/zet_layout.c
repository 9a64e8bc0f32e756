/* SPDX-License-Identifier: MIT */
/*
 * Sizes and offsets of our declarations of Level Zero's metrics, checked by the compiler. The
 * values are those of the specification's headers 1.0 to 1.17 for x86-64 and arm64 Linux and
 * 64-bit Windows.
 */
#include "abi/zet_abi.h"

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

SIZE(gtel_ze_context_desc, 24);
AT(gtel_ze_context_desc, head.next, 8);
AT(gtel_ze_context_desc, flags, 16);

SIZE(gtel_ze_pci_ext_properties, 48);
AT(gtel_ze_pci_ext_properties, head.next, 8);
AT(gtel_ze_pci_ext_properties, domain, 16);
AT(gtel_ze_pci_ext_properties, bus, 20);
AT(gtel_ze_pci_ext_properties, device, 24);
AT(gtel_ze_pci_ext_properties, function, 28);
AT(gtel_ze_pci_ext_properties, max_speed, 32);

SIZE(gtel_zet_group_properties, 544);
AT(gtel_zet_group_properties, head.next, 8);
AT(gtel_zet_group_properties, name, 16);
AT(gtel_zet_group_properties, description, 272);
AT(gtel_zet_group_properties, sampling_type, 528);
AT(gtel_zet_group_properties, domain, 532);
AT(gtel_zet_group_properties, metrics, 536);

SIZE(gtel_zet_metric_properties, 1056);
AT(gtel_zet_metric_properties, head.next, 8);
AT(gtel_zet_metric_properties, name, 16);
AT(gtel_zet_metric_properties, description, 272);
AT(gtel_zet_metric_properties, component, 528);
AT(gtel_zet_metric_properties, tier, 784);
AT(gtel_zet_metric_properties, metric_type, 788);
AT(gtel_zet_metric_properties, result_type, 792);
AT(gtel_zet_metric_properties, units, 796);

SIZE(gtel_zet_streamer_desc, 24);
AT(gtel_zet_streamer_desc, head.next, 8);
AT(gtel_zet_streamer_desc, notify_every, 16);
AT(gtel_zet_streamer_desc, period, 20);

SIZE(gtel_zet_value, 16);
AT(gtel_zet_value, type, 0);
AT(gtel_zet_value, is, 8);
AT(gtel_zet_value, is.f64, 8);

/* A program, so that the build compiles it as a test. */
int main(void)
{
    return 0;
}
