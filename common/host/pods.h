/* SPDX-License-Identifier: MIT */
/*
 * What the pods and containers of Kubernetes are called, for who knows their ids.
 *
 * Three places know it, and each is enough for what it has; nobody is asked over a network or a
 * socket, and no file of a container is opened:
 *   /var/log/containers   pod, namespace and container, by the container's id
 *   /var/log/pods         pod and namespace, by the pod's uid
 *   /proc/PID/mountinfo   the container
 * Names of a container are searched for once and remembered, the least recently used being
 * forgotten; what was not found is searched for again after a growing pause, up to ten minutes.
 */
#ifndef GTEL_HOST_PODS_H
#define GTEL_HOST_PODS_H

#include "base/backoff.h"
#include "host/env.h"
#include "parse/pod.h"

enum {
    GTEL_PODS_MAX = 512,
    GTEL_PODS_FILES_MAX = 4096 /* names in a folder that are compared */
};

/* A container, or what of a pod is in none. Texts are empty when they are not known. */
struct gtel_pod {
    char uid[GTEL_POD_UID_MAX]; /* with dashes, or a hash without */
    char id[GTEL_POD_ID_MAX];   /* of the container; empty: none */
    char pod[GTEL_POD_NAME_MAX];
    char namespace_[GTEL_POD_NAMESPACE_MAX];
    char container[GTEL_POD_CONTAINER_MAX];
    struct gtel_backoff backoff; /* on the env's clock */
    uint64_t used;
};

/* A zeroed struct remembers nothing. */
struct gtel_pods {
    struct gtel_pod *pod;
    size_t n;
    size_t size;
    uint64_t uses;
    int error[2]; /* of the last time that /var/log/containers and /var/log/pods were listed */
};

void gtel_pods_done(struct gtel_pods *pods);
/*
 * The names for a process in the pod of that uid and the container of that id (empty: none), valid
 * until the next call; NULL when memory is out.
 */
const struct gtel_pod *gtel_pods_find(struct gtel_pods *pods, const struct gtel_env *env,
                                      struct gtel_str uid, struct gtel_str id, uint32_t pid);
/* Of how many pods and containers that were asked for a name is not known. */
size_t gtel_pods_unknown(const struct gtel_pods *pods);

#endif
