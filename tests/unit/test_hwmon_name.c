/* SPDX-License-Identifier: MIT */
/* Names of hwmon attributes. */
#include "parse/hwmon_name.h"
#include "harness/test.h"

#include <errno.h>

static const struct {
    const char *text;
    int rc;
    int kind;
    uint32_t channel;
    const char *item;
} cases[] = {
    {"temp1_input", 0, GTEL_HWMON_TEMPERATURE, 1, "input"},
    {"temp21_emergency", 0, GTEL_HWMON_TEMPERATURE, 21, "emergency"},
    {"in0_input", 0, GTEL_HWMON_VOLTAGE, 0, "input"},
    {"power1_max_interval", 0, GTEL_HWMON_POWER, 1, "max_interval"},
    {"energy2_input", 0, GTEL_HWMON_ENERGY, 2, "input"},
    {"curr2_crit", 0, GTEL_HWMON_CURRENT, 2, "crit"},
    {"fan3_label", 0, GTEL_HWMON_FAN, 3, "label"},
    {"name", -EINVAL, 0, 0, ""},
    {"pwm1", 0, GTEL_HWMON_PWM, 1, ""},
    {"pwm1_auto_point1_pwm", 0, GTEL_HWMON_PWM, 1, "auto_point1_pwm"},
    {"freq2_input", 0, GTEL_HWMON_FREQUENCY, 2, "input"},
    {"pwm", -EINVAL, 0, 0, ""},
    {"pwm1_", -EINVAL, 0, 0, ""},
    {"temp_input", -EINVAL, 0, 0, ""},
    {"temp1_", -EINVAL, 0, 0, ""},
    {"temp1", -EINVAL, 0, 0, ""},
    {"1_input", -EINVAL, 0, 0, ""},
    {"temperature1_input", -EINVAL, 0, 0, ""},
    {"intrusion0_alarm", -EINVAL, 0, 0, ""},
    {"temp4294967295_input", 0, GTEL_HWMON_TEMPERATURE, 4294967295U, "input"},
    {"temp4294967296_input", -EINVAL, 0, 0, ""},
    {"temp1x_input", -EINVAL, 0, 0, ""},
    {"", -EINVAL, 0, 0, ""},
    {"_", -EINVAL, 0, 0, ""},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_hwmon_name got = {.item = GTEL_STR_NONE};
        test_label = cases[i].text;
        if (!CHECK(gtel_hwmon_name_parse(gtel_str_of(cases[i].text), &got) == cases[i].rc) ||
            cases[i].rc < 0)
            continue;
        CHECK_INT(got.kind, cases[i].kind);
        CHECK_INT(got.channel, cases[i].channel);
        CHECK_STR(got.item, cases[i].item);
    }
    return test_result();
}
