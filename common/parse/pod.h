/* SPDX-License-Identifier: MIT */
/*
 * Names of pods and containers of Kubernetes, from what the kubelet leaves on a host: names of
 * files below /var/log, and mounts of a process. Pure: no allocation, no input or output.
 *
 * Names of namespaces and containers are DNS labels, those of pods may have dots, so none of them
 * has the underscore that separates them (kubernetes: pkg/kubelet/kuberuntime/legacy.go,
 * logPathDelimiter of kuberuntime_container.go).
 */
#ifndef GTEL_PARSE_POD_H
#define GTEL_PARSE_POD_H

#include "base/str.h"

/* Bytes of each, with its NUL. */
enum {
    GTEL_POD_NAME_MAX = 254,
    GTEL_POD_NAMESPACE_MAX = 64,
    GTEL_POD_CONTAINER_MAX = 64,
    GTEL_POD_UID_MAX = 37,
    GTEL_POD_ID_MAX = 65
};

/* All borrow from the text, and fit into the sizes above. */
struct gtel_pod_file {
    struct gtel_str pod;
    struct gtel_str namespace_;
    struct gtel_str container; /* not of a folder */
    struct gtel_str key;       /* of a link the container's id, 64 digits; of others the uid */
};

/*
 * Whether it is the uid of a pod, with that character for its dashes, or the hash that a pod from a
 * file has (kubernetes: pkg/kubelet/config/common.go).
 */
bool gtel_pod_is_uid(struct gtel_str s, char dash);
/*
 * A link in /var/log/containers: POD_NAMESPACE_CONTAINER-ID.log. False for any other name, also for
 * a long one that the kubelet has cut: what it cuts is the id.
 */
bool gtel_pod_link(struct gtel_str name, struct gtel_pod_file *ret);
/*
 * A folder in /var/log/pods: NAMESPACE_POD_UID, where the uid of a pod from a file is a hash
 * without dashes. False for any other name.
 */
bool gtel_pod_folder(struct gtel_str name, struct gtel_pod_file *ret);
/*
 * The name of the container of a process in the pod of that uid, from the text of its
 * /proc/PID/mountinfo: the kubelet mounts …/pods/UID/containers/NAME/HASH into it. False: not
 * found.
 */
bool gtel_pod_mount(struct gtel_str mountinfo, struct gtel_str uid, struct gtel_str *ret);
/* Container and uid of the next such mount of any pod; *mountinfo goes on behind it. */
bool gtel_pod_mount_next(struct gtel_str *mountinfo, struct gtel_pod_file *ret);

#endif
