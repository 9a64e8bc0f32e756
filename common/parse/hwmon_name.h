/* SPDX-License-Identifier: MIT */
/*
 * Names of hwmon attributes: "temp12_crit" is item "crit" of channel 12 of kind temp. Pure: no
 * allocation, no input or output.
 *
 * The grammar is that of the kernel's Documentation/hwmon/sysfs-interface.rst: type, number,
 * underscore, item; of "pwm1" the item is empty.
 */
#ifndef GTEL_PARSE_HWMON_NAME_H
#define GTEL_PARSE_HWMON_NAME_H

#include "base/str.h"

enum gtel_hwmon_kind {
    GTEL_HWMON_CURRENT,     /* curr, milliampere */
    GTEL_HWMON_ENERGY,      /* energy, microjoule */
    GTEL_HWMON_FAN,         /* fan, revolutions per minute */
    GTEL_HWMON_FREQUENCY,   /* freq, hertz */
    GTEL_HWMON_POWER,       /* power, microwatt */
    GTEL_HWMON_PWM,         /* pwm, 0 to 255 */
    GTEL_HWMON_TEMPERATURE, /* temp, millidegree Celsius */
    GTEL_HWMON_VOLTAGE      /* in, millivolt; the only kind that counts from 0 */
};

struct gtel_hwmon_name {
    enum gtel_hwmon_kind kind;
    uint32_t channel;
    struct gtel_str item; /* "input", "label", "crit"; empty of a pwm; borrows from the text */
};

/* 0, or -EINVAL for anything else that lies in the directory ("name", "device"). */
int gtel_hwmon_name_parse(struct gtel_str text, struct gtel_hwmon_name *ret);

#endif
