/* SPDX-License-Identifier: MIT */
/* Windows Management Instrumentation, as far as it knows display devices. */
#ifndef GTEL_HOST_WMI_WIN32_H
#define GTEL_HOST_WMI_WIN32_H

#include <stddef.h>
#include <stdint.h>

/*
 * Asks for all Win32_VideoController and writes them as text: "PNPDeviceID: …", "Name: …" and
 * "AdapterRAM: …" of each, a line each, where it has them. The first call of a process may take ten
 * seconds; it has no deadline of its own. Returns bytes, n when there is no room for all, or a
 * negative errno; -ENOENT where Windows has no such thing.
 */
int64_t gtel_win32_wmi_controllers(char *buf, size_t n);

#endif
