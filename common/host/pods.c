/* SPDX-License-Identifier: MIT */
/* Names of pods and containers. */
#include "host/pods.h"

#include "base/grow.h"
#include "host/fs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    MOUNTINFO_MAX = 65536 /* some 300 mounts; longer ones name no container */
};

static const uint64_t first_pause_ns = 10000000000;
static const uint64_t last_pause_ns = 600000000000;

void gtel_pods_done(struct gtel_pods *pods)
{
    free(pods->pod);
    *pods = (struct gtel_pods){0};
}

struct listing {
    struct gtel_pod *pod;
    bool (*parse)(struct gtel_str name, struct gtel_pod_file *ret);
    struct gtel_str key;
    int seen;
};

static int compare_name(void *arg, struct gtel_str name)
{
    struct listing *listing = arg;
    struct gtel_pod_file file;
    if (listing->seen++ == GTEL_PODS_FILES_MAX)
        return -E2BIG;
    if (!listing->parse(name, &file) || !gtel_str_eq(file.key, listing->key))
        return 0;
    struct gtel_pod *pod = listing->pod;
    (void)gtel_str_copy(pod->pod, sizeof(pod->pod), file.pod);
    (void)gtel_str_copy(pod->namespace_, sizeof(pod->namespace_), file.namespace_);
    if (file.container.n > 0)
        (void)gtel_str_copy(pod->container, sizeof(pod->container), file.container);
    return 1;
}

/* Searches a folder for the name that has the key. 0 also when it is not there. */
static int list(const struct gtel_env *env, const char *folder, struct listing *listing)
{
    int r = listing->key.n > 0 ? env->ops->dir_list(env->arg, folder, compare_name, listing) : 0;
    return r > 0 ? 0 : r;
}

static void read_mounts(const struct gtel_env *env, uint32_t pid, struct gtel_pod *pod)
{
    char buf[MOUNTINFO_MAX];
    struct gtel_str text;
    struct gtel_str name;
    if (gtel_fs_text(env, GTEL_FS_AT("proc/%" PRIu32 "/mountinfo", pid), buf, sizeof(buf), &text) ==
            0 &&
        gtel_pod_mount(text, gtel_str_of(pod->uid), &name))
        (void)gtel_str_copy(pod->container, sizeof(pod->container), name);
}

static bool is_whole(const struct gtel_pod *pod)
{
    return pod->pod[0] && (pod->container[0] || !pod->id[0]);
}

static void search(struct gtel_pods *pods, const struct gtel_env *env, uint32_t pid,
                   struct gtel_pod *pod)
{
    struct listing links = {.pod = pod, .parse = gtel_pod_link, .key = gtel_str_of(pod->id)};
    struct listing folders = {.pod = pod, .parse = gtel_pod_folder, .key = gtel_str_of(pod->uid)};
    pods->error[0] = list(env, "var/log/containers", &links);
    if (!pod->pod[0])
        pods->error[1] = list(env, "var/log/pods", &folders);
    if (!pod->container[0] && pod->id[0])
        read_mounts(env, pid, pod);
    uint64_t now_ns = gtel_env_now(env);
    if (!is_whole(pod))
        gtel_backoff_fail(&pod->backoff, now_ns, first_pause_ns, last_pause_ns);
}

/* The entry, new or that of another container that was not used for longest; NULL: no memory. */
static struct gtel_pod *entry_of(struct gtel_pods *pods, struct gtel_str uid, struct gtel_str id)
{
    struct gtel_pod *oldest = NULL;
    for (size_t i = 0; i < pods->n; i++) {
        struct gtel_pod *pod = &pods->pod[i];
        if (gtel_str_eq(gtel_str_of(pod->uid), uid) && gtel_str_eq(gtel_str_of(pod->id), id))
            return pod;
        if (!oldest || pod->used < oldest->used)
            oldest = pod;
    }
    struct gtel_pod *pod = oldest;
    if (gtel_grow(&pods->pod, &pods->size, pods->n + 1, GTEL_PODS_MAX, sizeof(*pod)))
        pod = &pods->pod[pods->n++];
    if (!pod)
        return NULL;
    *pod = (struct gtel_pod){.used = 0};
    (void)gtel_str_copy(pod->uid, sizeof(pod->uid), uid);
    (void)gtel_str_copy(pod->id, sizeof(pod->id), id);
    return pod;
}

const struct gtel_pod *gtel_pods_find(struct gtel_pods *pods, const struct gtel_env *env,
                                      struct gtel_str uid, struct gtel_str id, uint32_t pid)
{
    struct gtel_pod *pod = entry_of(pods, uid, id);
    if (!pod)
        return NULL;
    pod->used = ++pods->uses;
    if (!is_whole(pod) && !gtel_backoff_is_waiting(&pod->backoff, gtel_env_now(env)))
        search(pods, env, pid, pod);
    return pod;
}

size_t gtel_pods_unknown(const struct gtel_pods *pods)
{
    size_t n = 0;
    for (size_t i = 0; i < pods->n; i++)
        n += !is_whole(&pods->pod[i]);
    return n;
}
