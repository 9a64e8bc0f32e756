/* SPDX-License-Identifier: MIT */
/* Names of hwmon attributes. */
#include "parse/hwmon_name.h"

#include "base/compiler.h"

#include <errno.h>

static const struct gtel_str kinds[] = {
    [GTEL_HWMON_CURRENT] = GTEL_STR_INIT("curr"),
    [GTEL_HWMON_ENERGY] = GTEL_STR_INIT("energy"),
    [GTEL_HWMON_FAN] = GTEL_STR_INIT("fan"),
    [GTEL_HWMON_FREQUENCY] = GTEL_STR_INIT("freq"),
    [GTEL_HWMON_POWER] = GTEL_STR_INIT("power"),
    [GTEL_HWMON_PWM] = GTEL_STR_INIT("pwm"),
    [GTEL_HWMON_TEMPERATURE] = GTEL_STR_INIT("temp"),
    [GTEL_HWMON_VOLTAGE] = GTEL_STR_INIT("in"),
};

int gtel_hwmon_name_parse(struct gtel_str text, struct gtel_hwmon_name *ret)
{
    size_t underscore = gtel_str_find(text, '_');
    size_t letters = 0;
    while (letters < underscore && !gtel_is_digit(text.p[letters]))
        letters++;
    uint64_t channel;
    int r = gtel_str_u64((struct gtel_str){text.p + letters, underscore - letters}, &channel);
    if (r < 0 || channel > UINT32_MAX || underscore + 1 == text.n)
        return -EINVAL;
    struct gtel_str item = gtel_str_skip(text, underscore < text.n ? underscore + 1 : text.n);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kinds); i++) {
        if (!gtel_str_eq((struct gtel_str){text.p, letters}, kinds[i]) ||
            (item.n == 0 && i != GTEL_HWMON_PWM))
            continue;
        *ret = (struct gtel_hwmon_name){
            .kind = (enum gtel_hwmon_kind)i, .channel = (uint32_t)channel, .item = item};
        return 0;
    }
    return -EINVAL;
}
