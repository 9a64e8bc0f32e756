/* SPDX-License-Identifier: MIT */
/* Read-only access to small files below the env's root. */
#include "host/fs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int gtel_fs_open(const struct gtel_env *env, struct gtel_fs_file *file, const char *path)
{
    int handle = env->ops->file_open(env->arg, path);
    if (handle < 0)
        return handle;
    file->handle_plus_1 = handle + 1;
    return 0;
}

int gtel_fs_open_optional(const struct gtel_env *env, struct gtel_fs_file *file, const char *path)
{
    int r = gtel_fs_is_open(file) ? 0 : gtel_fs_open(env, file, path);
    return r == -ENOENT ? 0 : r;
}

void gtel_fs_close(const struct gtel_env *env, struct gtel_fs_file *file)
{
    if (file->handle_plus_1 == 0)
        return;
    env->ops->file_close(env->arg, file->handle_plus_1 - 1);
    file->handle_plus_1 = 0;
}

int gtel_fs_read_bytes(const struct gtel_env *env, const struct gtel_fs_file *file, char *buf,
                       size_t size, struct gtel_str *ret)
{
    if (file->handle_plus_1 == 0)
        return -EBADF;
    int64_t n = env->ops->file_read(env->arg, file->handle_plus_1 - 1, buf, size);
    if (n < 0)
        return (int)n;
    if ((size_t)n >= size)
        return -E2BIG;
    *ret = (struct gtel_str){buf, (size_t)n};
    return 0;
}

int gtel_fs_read(const struct gtel_env *env, const struct gtel_fs_file *file, char *buf,
                 size_t size, struct gtel_str *ret)
{
    int r = gtel_fs_read_bytes(env, file, buf, size, ret);
    if (r == 0)
        *ret = gtel_str_trim(*ret);
    return r;
}

/* Longest decimal number with its sign and newline, and room to see that it is longer. */
enum { NUMBER_MAX = 32 };

int gtel_fs_read_u64(const struct gtel_env *env, const struct gtel_fs_file *file, uint64_t *ret)
{
    char buf[NUMBER_MAX];
    struct gtel_str text;
    int r = gtel_fs_read(env, file, buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_str_u64(text, ret);
}

int gtel_fs_read_i64(const struct gtel_env *env, const struct gtel_fs_file *file, int64_t *ret)
{
    char buf[NUMBER_MAX];
    struct gtel_str text;
    int r = gtel_fs_read(env, file, buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_str_i64(text, ret);
}

int gtel_fs_text(const struct gtel_env *env, const char *path, char *buf, size_t size,
                 struct gtel_str *ret)
{
    struct gtel_fs_file file = {0};
    int r = gtel_fs_open(env, &file, path);
    if (r < 0)
        return r;
    r = gtel_fs_read(env, &file, buf, size, ret);
    gtel_fs_close(env, &file);
    return r;
}

int gtel_fs_u64(const struct gtel_env *env, const char *path, uint64_t *ret)
{
    char buf[NUMBER_MAX];
    struct gtel_str text;
    int r = gtel_fs_text(env, path, buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_str_u64(text, ret);
}

int gtel_fs_hex(const struct gtel_env *env, const char *path, uint64_t *ret)
{
    char buf[NUMBER_MAX];
    struct gtel_str text;
    int r = gtel_fs_text(env, path, buf, sizeof(buf), &text);
    return r < 0 ? r : gtel_str_hex(text, ret);
}

int gtel_fs_shortage(const struct gtel_env *env)
{
    return env->ops->shortage ? env->ops->shortage(env->arg) : 0;
}

const char *gtel_fs_shortage_fix(int error)
{
    switch (-error) {
    case EMFILE:
        return "this process has too many files open: raise LimitNOFILE= of the unit, or the "
               "limit of the user (ulimit -n)";
    case ENFILE:
        return "the host has too many files open: raise fs.file-max (sysctl)";
    case ENOMEM:
        return "the host, or the container (memory.max, MemoryMax=), is out of memory";
    default:
        return "";
    }
}

bool gtel_fs_exists(const struct gtel_env *env, const char *path)
{
    return env->ops->exists(env->arg, path) == 0;
}

int gtel_fs_link_name(const struct gtel_env *env, const char *path, char *buf, size_t size,
                      struct gtel_str *ret)
{
    char target[GTEL_FS_PATH_MAX];
    int64_t n = env->ops->link_read(env->arg, path, target, sizeof(target));
    if (n < 0)
        return (int)n;
    if ((size_t)n >= sizeof(target))
        return -E2BIG;
    struct gtel_str rest = {target, (size_t)n};
    struct gtel_str name = GTEL_STR_NONE;
    while (gtel_str_part(&rest, '/', &name))
        ;
    if (name.n == 0)
        return -EINVAL;
    if (!gtel_str_copy(buf, size, name))
        return -E2BIG;
    *ret = (struct gtel_str){buf, name.n};
    return 0;
}

struct listing {
    struct gtel_arena *arena;
    struct gtel_str *names;
    size_t max;
    size_t n;
};

static int collect(void *arg, struct gtel_str name)
{
    struct listing *listing = arg;
    if (listing->n == listing->max)
        return 1;
    return gtel_arena_str(listing->arena, name, &listing->names[listing->n++]);
}

/* The digits at the front of *s as a number, cut off; false when there are none or too many. */
static bool take_number(struct gtel_str *s, uint64_t *ret)
{
    size_t n = 0;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    if (gtel_str_u64((struct gtel_str){s->p, n}, ret) < 0)
        return false;
    *s = gtel_str_skip(*s, n);
    return true;
}

static int compare_names(const void *pa, const void *pb)
{
    const struct gtel_str *whole_a = pa;
    const struct gtel_str *whole_b = pb;
    struct gtel_str a = *whole_a;
    struct gtel_str b = *whole_b;
    while (a.n > 0 && b.n > 0) {
        uint64_t na;
        uint64_t nb;
        struct gtel_str ra = a;
        struct gtel_str rb = b;
        if (take_number(&ra, &na) && take_number(&rb, &nb) && na != nb)
            return na < nb ? -1 : 1;
        if (a.p[0] != b.p[0])
            return (unsigned char)a.p[0] < (unsigned char)b.p[0] ? -1 : 1;
        a = gtel_str_skip(a, 1);
        b = gtel_str_skip(b, 1);
    }
    return gtel_str_cmp(*whole_a, *whole_b);
}

int gtel_fs_list(const struct gtel_env *env, const char *path, struct gtel_arena *arena, size_t max,
                 struct gtel_str **ret, size_t *ret_n)
{
    struct listing listing = {.arena = arena, .max = max};
    listing.names = gtel_arena_alloc(arena, max * sizeof(*listing.names));
    if (!listing.names)
        return -ENOMEM;
    int r = env->ops->dir_list(env->arg, path, collect, &listing);
    if (r < 0)
        return r;
    qsort(listing.names, listing.n, sizeof(*listing.names), compare_names);
    *ret = listing.names;
    *ret_n = listing.n;
    return 0;
}

const char *gtel_fs_path(char *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(buf, GTEL_FS_PATH_MAX, fmt, args);
    va_end(args);
    if (n < 0 || n >= GTEL_FS_PATH_MAX)
        buf[0] = '\0';
    return buf;
}
