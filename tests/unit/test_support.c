/* SPDX-License-Identifier: MIT */
/* Since which Linux version drivers report what of which card. */
#include "tables/support.h"
#include "harness/test.h"

static const struct support_case {
    const char *label;
    const char *driver;
    const char *measurement;
    enum gtel_intel_family family;
    const char *since; /* NULL: never, or the table does not say */
} cases[] = {
    {"a fan", "i915", "gpu_fan", GTEL_INTEL_DG2, "6.12"},
    {"a fan with the other driver", "xe", "gpu_fan", GTEL_INTEL_BATTLEMAGE, "6.16"},
    {"a card that its host cools", "i915", "gpu_fan", GTEL_INTEL_FLEX, NULL},
    {"the second of two measurements", "i915", "gpu_power_domain", GTEL_INTEL_DG1, "6.2"},
    {"a version with a condition", "xe", "gpu_temperature_sensor", GTEL_INTEL_BATTLEMAGE,
     "6.15; memory channels 7.0"},
    {"in any version", "xe", "gpu_power_domain", GTEL_INTEL_PONTE_VECCHIO, "any; Battlemage 6.17"},
    {"a card that the driver does not run", "i915", "gpu_fan", GTEL_INTEL_BATTLEMAGE, NULL},
    {"the same", "xe", "gpu_temperature_sensor", GTEL_INTEL_DG1, NULL},
    {"an unknown family", "xe", "gpu_fan", GTEL_INTEL_OTHER, NULL},
    {"a measurement without families", "xe", "gpu_engine", GTEL_INTEL_DG2, NULL},
    {"the beginning of a name", "xe", "gpu", GTEL_INTEL_DG1, NULL},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *since = gtel_support_since(gtel_str_of(cases[i].driver),
                                               gtel_str_of(cases[i].measurement), cases[i].family);
        test_label = cases[i].label;
        CHECK_STR(gtel_str_of(since ? since : "never"), cases[i].since ? cases[i].since : "never");
    }
    return test_result();
}
