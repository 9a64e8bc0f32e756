/* SPDX-License-Identifier: MIT */
/*
 * Files that Windows does not have, for its env: what it says of GPUs and processes by calls.
 *
 *     windows/counters/GUID   a set of performance counters (parse/perf_counters.h)
 *     proc/PID/stat           as under Linux: name, and start in units of 100 ns since 1601
 *     proc/PID                its owner by the last part of its SID, for stat alone
 *     etc/passwd              names of those owners that were asked for so far
 *     windows/wmi/Win32_VideoController   display devices by WMI, when it is read: slow
 *                             (host/wmi_win32.h)
 *
 * All processes are listed by one call, which is made again when a set was read again, and after a
 * second. No right is needed but for owners of other users' processes. The calls are looked up when
 * they are needed first, in DLLs that each Windows has.
 */
#ifndef GTEL_HOST_FILES_WIN32_H
#define GTEL_HOST_FILES_WIN32_H

#include "host/env.h"

struct gtel_win32_files;

/* NULL: no memory. */
struct gtel_win32_files *gtel_win32_files_new(void);
/* Accepts NULL. */
void gtel_win32_files_free(struct gtel_win32_files *files);

/* As the operations of an env; -ENOENT for other files than those above. */
int gtel_win32_files_open(struct gtel_win32_files *files, const char *path);
int64_t gtel_win32_files_read(struct gtel_win32_files *files, int handle, void *buf, size_t n);
void gtel_win32_files_close(struct gtel_win32_files *files, int handle);
int gtel_win32_files_start(struct gtel_win32_files *files, uint32_t pid, uint64_t *ret);
int gtel_win32_files_stat(struct gtel_win32_files *files, const char *path, struct gtel_stat *ret);

#endif
