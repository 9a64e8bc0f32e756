/* SPDX-License-Identifier: MIT */
/*
 * Reads and creates the files that a user names: configurations, recorded machines, captures.
 *
 * Regular files of a disk only. What has no end, or waits for somebody (FIFO, device, /proc/kmsg),
 * is an error and never a hang.
 */
#ifndef GTEL_WHOLE_FILE_H
#define GTEL_WHOLE_FILE_H

#include "base/buf.h"

/*
 * Appends the content of a file that has at most text->limit bytes. Returns 0, or a negative errno
 * with what is wrong in problem (of size bytes, at least 1; without the path).
 */
int gtel_whole_file_read(const char *path, struct gtel_buf *text, char *problem, size_t size);
/*
 * Whether gtel_whole_file_write can be expected to work, asked before there is anything to write;
 * the file and its folder stay as they are. Returns as above.
 */
int gtel_whole_file_check(const char *path, char *problem, size_t size);
/*
 * Creates a file; one that is there, also a link to nothing, is an error (-EEXIST). Returns as
 * above.
 */
int gtel_whole_file_write(const char *path, struct gtel_str text, char *problem, size_t size);

#endif
