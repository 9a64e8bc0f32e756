/* SPDX-License-Identifier: MIT */
/*
 * Which processes work in queues that are in no fdinfo: those of ROCm, that is KFD's, and amdgpu's
 * own user-mode queues.
 *
 * KFD lists the processes that have /dev/kfd open, by their numbers in the first pid namespace
 * (kernel: amd/amdkfd/kfd_process.c, kfd_create_process_sysfs). What their queues do is in no
 * counter of theirs: the use of the classes that such queues work in is not known, nor is that of
 * the GPU. A process that is not listed any more may have worked until a moment ago, so that the
 * list of the gather before counts, too.
 */
#include "sources/clients/clients.h"

#include <errno.h>

/* Queues of KFD are for compute and for copies (kernel: include/uapi/linux/kfd_ioctl.h). */
static const uint32_t kfd_classes = 1u << GTEL_ENGINE_KIND_COMPUTE | 1u << GTEL_ENGINE_KIND_COPY;
/* User-mode queues are those of graphics, compute and copies (amdgpu/amdgpu_userq.c). */
static const uint32_t user_classes =
    1u << GTEL_ENGINE_KIND_RENDER | 1u << GTEL_ENGINE_KIND_COMPUTE | 1u << GTEL_ENGINE_KIND_COPY;

static int keep(void *arg, uint32_t pid)
{
    struct gtel_client_kfd_list *list = arg;
    if (list->n == GTEL_CLIENT_KFD_MAX)
        return -E2BIG;
    list->pid[list->n++] = pid;
    return 0;
}

static bool has_any_device(const struct gtel_clients *state)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->device[i]->is_present && state->device[i]->driver &&
            state->device[i]->driver->has_kfd)
            return true;
    return false;
}

/* 1: they are on, 2: there are no others; -1, the default, leaves them off (amdgpu_drv.c). */
void gtel_clients_check_queues(struct gtel_clients *state)
{
    uint64_t value;
    int r = gtel_fs_u64(state->env, "sys/module/amdgpu/parameters/user_queue", &value);
    state->kfd.has_user_queues = r == 0 && value > 0;
}

void gtel_clients_list_kfd(struct gtel_clients *state)
{
    const struct gtel_env *env = state->env;
    struct gtel_client_kfd *kfd = &state->kfd;
    struct gtel_client_kfd_list *list = &kfd->list[kfd->now ^= 1];
    *list = (struct gtel_client_kfd_list){0};
    if (!has_any_device(state))
        return;
    int r = env->ops->dir_list_from(env->arg, "sys/class/kfd/kfd/proc", 0, keep, list);
    list->error = r == -ENOENT || r == -ENOTDIR ? 0 : r;
    list->is_anyone = list->error < 0 || (list->n > 0 && !state->is_initial);
}

static bool is_listed(const struct gtel_client_kfd_list *list, uint32_t pid)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->pid[i] == pid)
            return true;
    return list->is_anyone;
}

uint32_t gtel_clients_hidden_of(const struct gtel_clients *state,
                                const struct gtel_client_device *device, uint32_t pid)
{
    const struct gtel_client_kfd *kfd = &state->kfd;
    if (!device->driver || !device->driver->has_kfd)
        return 0;
    uint32_t classes = kfd->has_user_queues ? user_classes : 0;
    if (is_listed(&kfd->list[0], pid) || is_listed(&kfd->list[1], pid))
        classes |= kfd_classes;
    return classes;
}

bool gtel_clients_is_hidden(const struct gtel_clients *state,
                            const struct gtel_client_device *device)
{
    const struct gtel_client_kfd *kfd = &state->kfd;
    bool has_any = kfd->has_user_queues;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kfd->list); i++)
        has_any = has_any || kfd->list[i].n > 0 || kfd->list[i].is_anyone;
    return has_any && device->driver && device->driver->has_kfd;
}
