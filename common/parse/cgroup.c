/* SPDX-License-Identifier: MIT */
/* Where a process runs. */
#include "parse/cgroup.h"

#include "parse/job.h"
#include "parse/pod.h"

#include <errno.h>

enum {
    ID_DIGITS = 64,    /* of a container or Podman's pod */
    SHOWN_DIGITS = 12, /* of these, as docker and podman show them */
    NAME_LEN = 255     /* longest name of a directory, so of a cgroup (limits.h: NAME_MAX) */
};

/* What is in the path of one hierarchy; all parts borrow from it. */
struct place {
    struct gtel_str unit;
    struct gtel_str container;
    struct gtel_str pod;
    struct gtel_str pod_container; /* of a pod of Kubernetes, the whole id */
    bool is_kubernetes;
    struct gtel_job job;
    size_t depth; /* containers and pods on the way */
    int rank;     /* of its hierarchy: the higher, the better it is kept; 0: there is none */
};

/* A step on the way down a path. */
struct step {
    struct gtel_str parent;
    struct gtel_str name;
    struct gtel_str below; /* the rest of the path */
};

/* ---- units ---- */

/*
 * Processes are in units of these kinds (systemd: docs/CONTROL_GROUP_INTERFACE.md; a slice holds
 * units only). The manager of a user is a service whose own processes are in an init.scope below
 * it, where its name says more than that.
 */
static void look_for_unit(struct place *place, const struct step *step)
{
    static const struct gtel_str kinds[] = {GTEL_STR_INIT(".service"), GTEL_STR_INIT(".scope"),
                                            GTEL_STR_INIT(".socket"), GTEL_STR_INIT(".mount"),
                                            GTEL_STR_INIT(".swap")};
    struct gtel_str name;
    if (gtel_str_eq(step->name, GTEL_STR("init.scope")) &&
        gtel_str_between(step->parent, GTEL_STR("user@"), GTEL_STR(".service"), &name))
        return;
    /* A name that the kernel uses itself is escaped (systemd: basic/cgroup-util.c, cg_escape). */
    bool is_escaped = gtel_str_starts(step->name, GTEL_STR("_"));
    struct gtel_str unit = gtel_str_skip(step->name, is_escaped);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (gtel_str_between(unit, GTEL_STR_NONE, kinds[i], &name))
            place->unit = unit;
}

/* ---- pods ---- */

/*
 * podUID, or as a slice …-podUID.slice, where dashes of the uid have become underscores since a
 * dash in the name of a slice stands for a level (kubernetes:
 * pkg/kubelet/cm/cgroup_manager_linux.go; a guaranteed pod has no class before it).
 */
static bool is_kube_pod(struct gtel_str name, struct gtel_str *ret)
{
    static const struct gtel_str key = GTEL_STR_INIT("pod");
    struct gtel_str slice;
    if (!gtel_str_between(name, GTEL_STR_NONE, GTEL_STR(".slice"), &slice))
        return gtel_str_between(name, key, GTEL_STR_NONE, ret) && gtel_pod_is_uid(*ret, '-');
    size_t at = slice.n;
    while (at > 0 && slice.p[at - 1] != '-')
        at--;
    return gtel_str_between(gtel_str_skip(slice, at), key, GTEL_STR_NONE, ret) &&
           gtel_pod_is_uid(*ret, '_');
}

/* Podman: …-libpod_pod_ID.slice (libpod/runtime_pod_linux.go), or ID below libpod_parent. */
static bool is_podman_pod(const struct step *step, struct gtel_str *ret)
{
    static const struct gtel_str key = GTEL_STR_INIT("libpod_pod_");
    struct gtel_str name = step->name;
    if (gtel_str_eq(step->parent, GTEL_STR("libpod_parent"))) {
        *ret = gtel_str_head(name, SHOWN_DIGITS);
        return name.n == ID_DIGITS && gtel_str_is_hex(name);
    }
    if (!gtel_str_between(name, GTEL_STR_NONE, GTEL_STR(".slice"), &name) ||
        name.n < ID_DIGITS + key.n)
        return false;
    struct gtel_str id = gtel_str_skip(name, name.n - ID_DIGITS);
    *ret = gtel_str_head(id, SHOWN_DIGITS);
    return gtel_str_is_hex(id) && gtel_str_ends(gtel_str_head(name, name.n - ID_DIGITS), key);
}

/* ---- containers ---- */

/*
 * LXC and Incus: lxc.payload.NAME (lxc: src/lxc/cgroups/cgroup.h), in version 3 lxc.payload/NAME,
 * before that and on Proxmox lxc/NAME.
 */
static bool is_lxc(const struct step *step, struct gtel_str *ret)
{
    *ret = step->name;
    return gtel_str_eq(step->parent, GTEL_STR("lxc")) ||
           gtel_str_eq(step->parent, GTEL_STR("lxc.payload")) ||
           gtel_str_between(step->name, GTEL_STR("lxc.payload."), GTEL_STR_NONE, ret);
}

/*
 * Containers and virtual machines of systemd-machined: machine-NAME.scope, or a service of nspawn
 * (systemd: man systemd-nspawn, units/systemd-nspawn@.service.in; NixOS: container@.service).
 */
static bool is_machine(const struct step *step, struct gtel_str *ret)
{
    struct gtel_str below = step->below;
    struct gtel_str next;
    if (!gtel_str_eq(step->parent, GTEL_STR("machine.slice")))
        return false;
    if (gtel_str_part(&below, '/', &next) && gtel_str_eq(next, GTEL_STR("supervisor")))
        return false; /* nspawn itself; the container is in "payload" */
    return gtel_str_between(step->name, GTEL_STR("machine-"), GTEL_STR(".scope"), ret) ||
           gtel_str_between(step->name, GTEL_STR("systemd-nspawn@"), GTEL_STR(".service"), ret) ||
           gtel_str_between(step->name, GTEL_STR("container@"), GTEL_STR(".service"), ret);
}

/*
 * ID alone, or behind a word, and that as a scope:
 *   docker/ID, docker-ID.scope                     Docker (moby: daemon/oci_linux.go)
 *   ID, cri-containerd-ID.scope, nerdctl-ID.scope  containerd
 *   crio-ID, crio-ID.scope, crio-conmon-ID.scope   CRI-O (internal/config/cgmgr)
 *   libpod-ID, libpod-ID.scope, libpod-conmon-ID.scope, libpod-payload-ID  Podman (libpod)
 *   kata_ID                                        Kata Containers
 */
static bool is_id(struct gtel_str name, struct gtel_str *ret)
{
    struct gtel_str scope;
    if (gtel_str_between(name, GTEL_STR_NONE, GTEL_STR(".scope"), &scope))
        name = scope;
    if (name.n < ID_DIGITS)
        return false;
    struct gtel_str id = gtel_str_skip(name, name.n - ID_DIGITS);
    struct gtel_str word = gtel_str_head(name, name.n - ID_DIGITS);
    if (!gtel_str_is_hex(id) || gtel_str_ends(word, GTEL_STR("conmon-")))
        return false;
    *ret = gtel_str_head(id, SHOWN_DIGITS);
    return word.n == 0 || word.p[word.n - 1] == '-' || word.p[word.n - 1] == '_';
}

/* ---- paths ---- */

static void take_step(struct place *place, const struct step *step)
{
    struct gtel_str found;
    look_for_unit(place, step);
    bool is_kubernetes = is_kube_pod(step->name, &found);
    if (is_kubernetes || is_podman_pod(step, &found)) {
        place->pod = found;
        place->is_kubernetes = is_kubernetes;
        place->pod_container = GTEL_STR_NONE;
        place->depth++;
    } else if (is_lxc(step, &found) || is_machine(step, &found) || is_id(step->name, &found)) {
        bool is_pods = place->is_kubernetes && place->pod_container.n == 0;
        if (is_pods && is_id(step->name, &place->pod_container))
            place->pod_container.n = ID_DIGITS;
        place->container = found;
        place->depth++;
    }
}

/*
 * A runtime that takes systemd's way to name a cgroup for a path makes one directory of
 * SLICE:WORD:ID (seen with containerd where only the kubelet is set to use systemd).
 */
static void take_name(struct place *place, struct step step)
{
    static const struct gtel_str mark = GTEL_STR_INIT(".slice");
    struct gtel_str rest = step.name;
    struct gtel_str part;
    size_t colon = gtel_str_find(rest, ':');
    if (colon == rest.n || !gtel_str_ends(gtel_str_head(rest, colon), mark)) {
        take_step(place, &step);
        return;
    }
    while (gtel_str_part(&rest, ':', &part)) {
        take_step(place, &(struct step){step.parent, part, GTEL_STR_NONE});
        step.parent = part;
    }
}

/*
 * Out of a cgroup namespace the kernel shows the way from the reader's own cgroup: "/../…". Behind
 * the path of a cgroup that is being removed stands " (deleted)" (kernel: kernel/cgroup/cgroup.c,
 * proc_cgroup_show).
 */
static void take_path(struct place *place, struct gtel_str path)
{
    struct gtel_str rest;
    struct step step = {GTEL_STR_NONE, GTEL_STR_NONE, GTEL_STR_NONE};
    if (!gtel_str_between(path, GTEL_STR_NONE, GTEL_STR(" (deleted)"), &rest))
        rest = path;
    place->job = gtel_job_find(rest);
    while (gtel_str_part(&rest, '/', &step.name)) {
        step.below = rest;
        if (step.name.n == 0 || gtel_str_eq(step.name, GTEL_STR("..")))
            continue;
        take_name(place, step);
        step.parent = step.name;
    }
}

/*
 * A line: number, controllers and path, with colons between them (man 7 cgroups). The hierarchy of
 * version 2 is that with the number 0; of the others systemd's own is the one that it keeps best.
 */
static bool take_line(struct gtel_str line, struct place *ret)
{
    struct gtel_str number;
    struct gtel_str controllers;
    uint64_t n;
    if (!gtel_str_part(&line, ':', &number) || !gtel_str_part(&line, ':', &controllers) ||
        gtel_str_u64(number, &n) < 0 || !gtel_str_starts(line, GTEL_STR("/")))
        return false;
    *ret = (struct place){.rank = 1};
    if (n == 0)
        ret->rank = 3;
    else if (gtel_str_eq(controllers, GTEL_STR("name=systemd")))
        ret->rank = 2;
    take_path(ret, line);
    return true;
}

/*
 * Of hierarchies that differ, the one that names more containers is nearer to the truth: a
 * runtime does not use all of them, and leaves the process in its own unit in the others.
 */
static bool is_better(const struct place *place, const struct place *than)
{
    if (than->rank == 0 || place->depth != than->depth)
        return than->rank == 0 || place->depth > than->depth;
    if ((place->unit.n > 0) != (than->unit.n > 0))
        return place->unit.n > 0;
    return place->rank > than->rank;
}

/* ---- texts ---- */

/* Copies text for the eye, with \xNN undone (systemd: man systemd-escape). */
static void show(char *buf, size_t size, struct gtel_str text)
{
    char plain[NAME_LEN];
    size_t n = 0;
    while (text.n > 0 && n < sizeof(plain)) {
        uint64_t c;
        struct gtel_str digits = gtel_str_skip(gtel_str_head(text, 4), 2);
        bool is_escape = gtel_str_starts(text, GTEL_STR("\\x")) && digits.n == 2 &&
                         gtel_str_is_hex(digits) && gtel_str_hex(digits, &c) == 0;
        plain[n++] = is_escape ? (char)c : text.p[0];
        text = gtel_str_skip(text, is_escape ? 4 : 1);
    }
    gtel_str_clean(buf, size, (struct gtel_str){plain, n});
}

/* A scheduler does not use all hierarchies of version 1: the best one may show its daemon's unit.
 */
static void add_job(struct place *best, const struct place *place)
{
    if (best->job.id.n == 0)
        best->job = place->job;
}

int gtel_cgroup_parse(struct gtel_str text, struct gtel_cgroup *ret)
{
    struct place best = {0};
    struct place first = {0}; /* that has a job */
    struct place place;
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        if (!take_line(line, &place))
            continue;
        add_job(&first, &place);
        if (is_better(&place, &best))
            best = place;
    }
    if (best.rank == 0)
        return -ENODATA;
    add_job(&best, &first);
    ret->is_kubernetes = best.is_kubernetes;
    ret->pod_container = best.pod_container;
    ret->is_pods_own = best.pod_container.n > 0 && best.pod_container.p == best.container.p;
    show(ret->job, sizeof(ret->job), best.job.id);
    ret->job_step = best.job.is_sluid ? best.job.step : GTEL_STR_NONE;
    ret->is_sluid = best.job.is_sluid;
    ret->job_manager_plus_1 = best.job.manager_plus_1;
    show(ret->unit, sizeof(ret->unit), best.unit);
    show(ret->container, sizeof(ret->container), best.container);
    show(ret->pod, sizeof(ret->pod), best.pod);
    for (char *p = ret->pod; *p; p++)
        if (*p == '_')
            *p = '-';
    return 0;
}
