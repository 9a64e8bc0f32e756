/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a process, by the texts of its folder /proc/<pid>. Pure: no allocation,
 * no input or output.
 */
#ifndef GTEL_PARSE_PID_H
#define GTEL_PARSE_PID_H

#include "base/str.h"

/*
 * Name and start of a process, from the text of its file stat. The name is whatever the program
 * chose: it may hold blanks, newlines and parentheses. *ret_start: clock ticks since the host
 * booted; with the pid it is the identity of a process. 0, -EINVAL or -ERANGE. *ret_name borrows.
 */
int gtel_pid_stat(struct gtel_str text, struct gtel_str *ret_name, uint64_t *ret_start);

/* When a process began, and what distinguishes two that began in the same tick. */
struct gtel_pid_birth {
    uint64_t start; /* clock ticks since the host booted; 0: not known */
    uint32_t pid;
    uint32_t parent; /* its pid */
};

/*
 * Whether a began before b, as far as that is known. A lower number does not show it: the kernel
 * starts again at low numbers when it has used them all.
 */
bool gtel_pid_is_older(const struct gtel_pid_birth *a, const struct gtel_pid_birth *b);

#endif
