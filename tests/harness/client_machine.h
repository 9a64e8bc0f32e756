/* SPDX-License-Identifier: MIT */
/*
 * Machines with clients for tests, made by calls: cards, processes, descriptors and what their
 * texts say, over time. And what the source drm_clients makes of them.
 */
#ifndef GTEL_TESTS_HARNESS_CLIENT_MACHINE_H
#define GTEL_TESTS_HARNESS_CLIENT_MACHINE_H

#include "base/buf.h"
#include "harness/source_lane.h"

/* The beginnings of a machine: its host with all rights, its own process being 4242. */
void clients_begin(struct gtel_buf *text);
/* A PCI card with the number n: card<n>, renderD<128 + n>, address 0000:0<n + 1>:00.0. */
void clients_card(struct gtel_buf *text, unsigned n, const char *driver);
/* A process of that name, without a GPU. start: in ticks; 100 a second, 100 when time begins. */
void clients_process(struct gtel_buf *text, unsigned pid, const char *name, unsigned start);
/* A client as a process has it. */
struct clients_client {
    unsigned pid;
    unsigned fd;
    unsigned card;
    const char *driver;
    unsigned id;
};

/* A descriptor of the card's render node; its text follows as lines. */
void clients_fd(struct gtel_buf *text, unsigned pid, unsigned fd, unsigned card);
/*
 * The text of a client so many seconds after time 0: it uses 5 % of the main engine (i915: and as
 * much time of two video engines), and 1 MiB.
 */
void clients_text(struct gtel_buf *text, struct clients_client client, unsigned second);

/* Gathers at 0 s, 1 s … n s. */
bool clients_run(struct lane *lane, struct gtel_buf *text, unsigned seconds);
/* A value of a line of gpu_process, or -1. device: "0000:01:00.0". */
double clients_value(const struct lane *lane, const char *device, enum gtel_metric metric,
                     const char *process);
/* The sum of a value over all lines of a device. */
double clients_sum(const struct lane *lane, const char *device, enum gtel_metric metric);

#endif
