/* SPDX-License-Identifier: MIT */
/* A lane as its front end has it, with what it logs. */
#ifndef GTEL_HARNESS_LANE_FRONT_H
#define GTEL_HARNESS_LANE_FRONT_H

#include "lanes/lane.h"

/* A recorded machine with one GPU. */
#define LANE_FRONT_DEVICE "sys/devices/pci0000:00/0000:03:00.0"
#define LANE_FRONT_CARD                                                                            \
    "link sys/class/drm/card0 -> ../../devices/pci0000:00/0000:03:00.0/drm/card0\n"                \
    "file " LANE_FRONT_DEVICE "/uevent\n| DRIVER=xe\n| PCI_SLOT_NAME=0000:03:00.0\n"               \
    "link " LANE_FRONT_DEVICE "/driver -> ../../../bus/pci/drivers/xe\n"                           \
    "file " LANE_FRONT_DEVICE "/drm/card0/dev\n| 226:0\n"                                          \
    "link " LANE_FRONT_DEVICE "/drm/card0/device -> ../../../0000:03:00.0\nend\n"

struct lane_front {
    struct gtel_tree *tree;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_lane lane;
    struct gtel_registry registry;
    struct gtel_batch batch;
    struct gtel_buf buf;
    intptr_t peer; /* -1: none */
    enum gtel_log_level level;
    unsigned logs;
    char log[600];       /* the last one */
    struct gtel_buf all; /* a line for each */
};

/*
 * A lane of the recorded machine text whose helper cannot be started: the tests play it themselves,
 * or name another program.
 */
bool lane_front_open(struct lane_front *front, const char *text);
/* Ends the helper that the test plays. */
void lane_front_hang_up(struct lane_front *front);
void lane_front_close(struct lane_front *front);

#endif
