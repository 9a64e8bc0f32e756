/* SPDX-License-Identifier: MIT */
/*
 * Read-only access to small files below the env's root.
 *
 * A file that is read each cycle is a gtel_fs_file: opened at discovery, read again from its
 * beginning with one call (the kernel makes sysfs text again at each read from offset 0). Sources
 * give paths and get values; they never see a descriptor. All sizes have limits; too long is
 * -E2BIG, never a cut value. Errors are those of the env, and -EINVAL, -ERANGE for text that is no
 * number.
 */
#ifndef GTEL_HOST_FS_H
#define GTEL_HOST_FS_H

#include "base/arena.h"
#include "host/env.h"

enum {
    GTEL_FS_PATH_MAX = 512, /* bytes of a path, with its NUL */
    GTEL_FS_TEXT_MAX = 4096 /* longest file that is read in one call */
};

/* A file kept open. A zeroed struct is a file that is not open; closing it does nothing. */
struct gtel_fs_file {
    int handle_plus_1;
};

static inline bool gtel_fs_is_open(const struct gtel_fs_file *file)
{
    return file->handle_plus_1 != 0;
}

/* Opens path; *file must not be open. 0 or a negative errno. */
int gtel_fs_open(const struct gtel_env *env, struct gtel_fs_file *file, const char *path);
/* Opens path unless *file is open. 0, also where there is no such file, or a negative errno. */
int gtel_fs_open_optional(const struct gtel_env *env, struct gtel_fs_file *file, const char *path);
void gtel_fs_close(const struct gtel_env *env, struct gtel_fs_file *file);

/*
 * Reads an open file whole into buf of size bytes and trims blanks and newline at both ends.
 * *ret borrows from buf. 0, -EBADF when it is not open, -E2BIG when it has size bytes or more.
 */
int gtel_fs_read(const struct gtel_env *env, const struct gtel_fs_file *file, char *buf,
                 size_t size, struct gtel_str *ret);
/* The same without trimming, for a file that is no text. */
int gtel_fs_read_bytes(const struct gtel_env *env, const struct gtel_fs_file *file, char *buf,
                       size_t size, struct gtel_str *ret);
/* An open file as a decimal number. */
int gtel_fs_read_u64(const struct gtel_env *env, const struct gtel_fs_file *file, uint64_t *ret);
int gtel_fs_read_i64(const struct gtel_env *env, const struct gtel_fs_file *file, int64_t *ret);

/* The same for a file that is read once: open, read, close. */
int gtel_fs_text(const struct gtel_env *env, const char *path, char *buf, size_t size,
                 struct gtel_str *ret);
int gtel_fs_u64(const struct gtel_env *env, const char *path, uint64_t *ret);
/* Hexadecimal, as PCI ids in sysfs ("0x8086"). */
int gtel_fs_hex(const struct gtel_env *env, const char *path, uint64_t *ret);

/*
 * Whether anything could not be opened for want of descriptors or memory since the last question:
 * 0, or -EMFILE, -ENFILE or -ENOMEM. What was not found is then no sign that it is not there.
 */
int gtel_fs_shortage(const struct gtel_env *env);
/* What to do about these, a constant; for other errors an empty text. */
const char *gtel_fs_shortage_fix(int error);
bool gtel_fs_exists(const struct gtel_env *env, const char *path);
/* The last part of a link's target: the device behind `card0/device`, a driver's name. 0, -ENOENT …
 */
int gtel_fs_link_name(const struct gtel_env *env, const char *path, char *buf, size_t size,
                      struct gtel_str *ret);

/*
 * Names in a directory, sorted (runs of digits by value, so that card2 comes before card10) and
 * copied into the arena, at most max: more are dropped. 0 or a negative errno.
 */
int gtel_fs_list(const struct gtel_env *env, const char *path, struct gtel_arena *arena, size_t max,
                 struct gtel_str **ret, size_t *ret_n);

/*
 * Writes a formatted path into buf (GTEL_FS_PATH_MAX bytes) and returns buf; a path that does not
 * fit becomes the empty path, which no file has.
 */
const char *gtel_fs_path(char *buf, const char *fmt, ...) GTEL_PRINTF(2, 3);
/* The same in a buffer of its own, which lives as long as the block around it. */
#define GTEL_FS_AT(...) gtel_fs_path((char[GTEL_FS_PATH_MAX]){""}, __VA_ARGS__)

#endif
