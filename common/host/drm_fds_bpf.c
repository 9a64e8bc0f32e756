/* SPDX-License-Identifier: MIT */
/* The list of descriptors of DRM devices, from a BPF iterator through libbpf. */
#include "host/env_posix.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The compiled program, made by contrib/cmake/Embed.cmake. */
extern const unsigned char gtel_drm_fds_object[];
extern const size_t gtel_drm_fds_object_size;

enum { LIST_MAX = 256 }; /* descriptors read in one call */

/* Refusals are returned; libbpf would write them to standard error. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

/*
 * The list has the numbers of the first process namespace, whose own number is fixed (kernel:
 * include/linux/proc_ns.h).
 */
static bool is_first_namespace(void)
{
    static const char first[] = "pid:[4026531836]";
    char link[64];
    ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link));
    return n == (ssize_t)(sizeof(first) - 1) && memcmp(link, first, sizeof(first) - 1) == 0;
}

/* 0 or a negative errno. What was made is in env->drm_fds, also after a failure. */
static int load(struct gtel_env_posix *env)
{
    if (!is_first_namespace())
        return -EOPNOTSUPP;
    (void)libbpf_set_print(print_nothing);
    struct bpf_object *object =
        bpf_object__open_mem(gtel_drm_fds_object, gtel_drm_fds_object_size, NULL);
    if (!object)
        return errno > 0 ? -errno : -EOPNOTSUPP;
    env->drm_fds.object = object;
    if (bpf_object__load(object) < 0)
        return -errno;
    struct bpf_program *program = bpf_object__find_program_by_name(object, "gtel_drm_fds");
    env->drm_fds.link = program ? bpf_program__attach_iter(program, NULL) : NULL;
    return env->drm_fds.link ? 0 : errno > 0 ? -errno : -EOPNOTSUPP;
}

static int hand_out(int fd, gtel_drm_fd_fn fn, void *fn_arg)
{
    struct gtel_drm_fd list[LIST_MAX];
    for (;;) {
        ssize_t got = read(fd, list, sizeof(list));
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue; /* EAGAIN: the kernel wants a rest after a million of files */
        if (got <= 0)
            return got < 0 ? -errno : 0;
        for (size_t i = 0; i < (size_t)got / sizeof(list[0]); i++) {
            int r = fn(fn_arg, &list[i]);
            if (r != 0)
                return r;
        }
    }
}

int gtel_drm_fds_list(void *arg, gtel_drm_fd_fn fn, void *fn_arg)
{
    struct gtel_env_posix *env = arg;
    if (!env->drm_fds.object && env->drm_fds.error == 0)
        env->drm_fds.error = load(env);
    if (env->drm_fds.error < 0)
        return env->drm_fds.error;
    int fd = bpf_iter_create(bpf_link__fd(env->drm_fds.link));
    if (fd < 0)
        return -errno; /* libbpf sets it whatever it returns */
    int r = hand_out(fd, fn, fn_arg);
    (void)close(fd);
    return r;
}

void gtel_drm_fds_done(struct gtel_env_posix *env)
{
    (void)bpf_link__destroy(env->drm_fds.link); /* both accept NULL */
    bpf_object__close(env->drm_fds.object);
}
