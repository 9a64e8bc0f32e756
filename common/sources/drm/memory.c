/* SPDX-License-Identifier: MIT */
/*
 * Memory of Intel GPUs, asked of their drivers i915 and xe through the render node.
 *
 * Regions have the same names with both drivers: the GPU's own memory is vram0, of a second tile
 * vram1 (fdinfo of i915 calls it local0), the host's memory as far as the GPU reaches it is system.
 * The values of the GPU as a whole count its own memory only, so an integrated GPU has none.
 *
 * i915 of intel-gpu-i915-backports reports the size of the GPU's own memory, and how much of it is
 * left, in two files too, to everyone: they help where the query does not have it.
 *
 * A node is opened for each question and closed again, and what cannot change is asked once per
 * discovery: sizes, where the kernel hides what is used.
 */
#include "host/drm.h"
#include "host/env.h"
#include "base/error.h"
#include "host/kernel.h"
#include "sources/drm/card_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ORIGIN_I915, ORIGIN_XE, ORIGIN_FILES };

static const char *const drivers[] = {"i915", "xe", NULL};
static const char *const origins[] = {"i915 query", "xe query", "sysfs (lmem)", NULL};

/* By number; more than two tiles have not been built. */
static const struct gtel_str own_names[] = {GTEL_STR_INIT("vram0"), GTEL_STR_INIT("vram1"),
                                            GTEL_STR_INIT("vram2"), GTEL_STR_INIT("vram3")};

struct memory_card {
    struct gtel_card *card;       /* first: see sources/drm/cards.h */
    char node[GTEL_DRM_NODE_MAX]; /* "dev/dri/renderD128"; empty: none found */
    enum gtel_drm_driver driver;
    int error;   /* of the last query; 0 before the first */
    int logged;  /* the last failure that was logged */
    bool is_due; /* to be asked at the next sample */
    struct gtel_drm_regions regions;
    size_t length;             /* of the last answer, in bytes; 0: none yet */
    struct gtel_fs_file total; /* of the backports; not open elsewhere */
    struct gtel_fs_file left;
    bool has_searched; /* for these files, since the last discovery */
};

static void close_files(const struct gtel_env *env, void *own)
{
    struct memory_card *card = own;
    gtel_fs_close(env, &card->total);
    gtel_fs_close(env, &card->left);
}

/*
 * Finds the render node, whose number changes when the driver is bound again. 0, also without one;
 * after a failure, what is known stays.
 */
static int find_node(void *state, void *p)
{
    const struct gtel_card_source *source = state;
    struct memory_card *own = p;
    char node[GTEL_DRM_NODE_MAX] = "";
    own->is_due = true;
    own->has_searched = false;
    own->driver = strcmp(own->card->drm.driver, "xe") == 0 ? GTEL_DRM_XE : GTEL_DRM_I915;
    int r = gtel_drm_render_node(source->env, own->card->path, node);
    r = gtel_error_is_no_path(r) ? 0 : r;
    if (r == 0)
        memcpy(own->node, node, sizeof(own->node));
    return r;
}

static const char *fix_of(int error)
{
    if (gtel_error_is_refusal(error))
        return "add the user of this program to the group that owns it, usually render; going on "
               "without it until then";
    if (error == -ECANCELED)
        return "the driver has given the GPU up (wedged) until it is bound again; trying again";
    return "trying again";
}

/* Used memory changes with each gather; sizes, refusals and absence stay until a discovery. */
static bool is_changing(const struct memory_card *own)
{
    bool has_used = false;
    for (size_t i = 0; i < own->regions.n; i++)
        has_used = has_used || own->regions.region[i].used > 0;
    return own->error == 0 ? has_used
                           : gtel_error_is_broken(own->error) && !gtel_error_is_refusal(own->error);
}

static void ask(const struct gtel_env *env, struct memory_card *own)
{
    own->error = gtel_drm_regions(env, own->node, own->driver, &own->length, &own->regions);
    if (own->error < 0)
        own->regions.n = 0;
    own->is_due = is_changing(own);
    gtel_failure_log(&env->log, &own->logged, own->error == -ENODEV ? -ENOENT : own->error,
                     fix_of(own->error), "drm_memory: %s: memory: /%s", own->card->drm.key,
                     own->node);
}

static struct gtel_str region_name(const struct gtel_drm_region *region)
{
    if (region->is_device)
        return region->number < GTEL_ARRAY_LEN(own_names) ? own_names[region->number]
                                                          : GTEL_STR_NONE;
    return region->number == 0 ? GTEL_STR("system") : GTEL_STR_NONE;
}

static void put_region(struct gtel_batch *batch, const struct gtel_device *device,
                       const struct gtel_drm_region *region)
{
    struct gtel_str name = region_name(region);
    if (name.n == 0)
        return;
    gtel_batch_u64(batch, device, GTEL_M_MEMORY_TOTAL, name, region->total);
    if (region->used > 0)
        gtel_batch_u64(batch, device, GTEL_M_MEMORY_USED, name, region->used);
    if (region->visible > 0)
        gtel_batch_u64(batch, device, GTEL_M_MEMORY_VISIBLE, name, region->visible);
    if (region->visible_used != UINT64_MAX)
        gtel_batch_u64(batch, device, GTEL_M_MEMORY_VISIBLE_USED, name, region->visible_used);
}

/*
 * The GPU's own memory over all tiles; used memory only when each of them has it. Returns whether
 * that is so; *ret_total is 0 where no size is known.
 */
static bool put_sums(struct gtel_batch *batch, const struct memory_card *own, uint64_t *ret_total)
{
    uint64_t total = 0;
    uint64_t used = 0;
    bool has_used = true;
    for (size_t i = 0; i < own->regions.n; i++) {
        const struct gtel_drm_region *region = &own->regions.region[i];
        if (!region->is_device)
            continue;
        total += region->total;
        used += region->used;
        has_used = has_used && region->used > 0;
    }
    *ret_total = total;
    if (total == 0)
        return false;
    gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_MEMORY_TOTAL, GTEL_STR_NONE, total);
    if (has_used)
        gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_MEMORY_USED, GTEL_STR_NONE, used);
    return has_used;
}

/* Opens the files once after each discovery, where the driver has them. */
static void open_files(const struct gtel_env *env, struct memory_card *own)
{
    const char *card = own->card->drm.card;
    if (own->has_searched || own->driver != GTEL_DRM_I915)
        return;
    own->has_searched = true;
    if (gtel_fs_is_open(&own->left))
        return;
    gtel_fs_close(env, &own->total);
    if (gtel_fs_open(env, &own->total, GTEL_FS_AT("sys/class/drm/%s/lmem_total_bytes", card)) == 0)
        (void)gtel_fs_open(env, &own->left, /* not there: the same as no files */
                           GTEL_FS_AT("sys/class/drm/%s/lmem_avail_bytes", card));
}

/* Bytes over all tiles, and what is left of them (backports: i915/i915_sysfs.c). */
static void put_files(const struct gtel_env *env, struct gtel_batch *batch, struct memory_card *own,
                      uint64_t known_total)
{
    uint64_t total;
    uint64_t left;
    open_files(env, own);
    if (!gtel_fs_is_open(&own->left) || gtel_fs_read_u64(env, &own->total, &total) < 0 ||
        gtel_fs_read_u64(env, &own->left, &left) < 0 || total == 0 || left > total)
        return;
    batch->origin = ORIGIN_FILES;
    if (known_total == 0)
        gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_MEMORY_TOTAL, GTEL_STR_NONE, total);
    gtel_batch_u64(batch, own->card->device, GTEL_M_GPU_MEMORY_USED, GTEL_STR_NONE, total - left);
}

/* Opening a node of xe wakes a sleeping GPU, so that one is not asked. */
static int sample_card(void *state, void *p, struct gtel_batch *batch)
{
    const struct gtel_card_source *source = state;
    struct memory_card *own = p;
    uint64_t total;
    bool is_asked = own->is_due && own->node[0] != '\0';
    bool has_files =
        own->driver == GTEL_DRM_I915 && (!own->has_searched || gtel_fs_is_open(&own->left));
    bool has_work = is_asked || own->regions.n > 0 || has_files;
    if (!has_work || !gtel_card_may_read(own->card))
        return 0;
    batch->t_ns = gtel_env_now(source->env);
    batch->origin = own->driver == GTEL_DRM_XE ? ORIGIN_XE : ORIGIN_I915;
    if (is_asked)
        ask(source->env, own);
    for (size_t i = 0; i < own->regions.n; i++)
        put_region(batch, own->card->device, &own->regions.region[i]);
    if (!put_sums(batch, own, &total))
        put_files(source->env, batch, own, total);
    return is_asked && own->is_due ? own->error : 0;
}

static void put_finding(struct gtel_findings *findings, const struct memory_card *own,
                        const char *what, const char *why, const char *fix)
{
    const char *const text[3] = {what, why, fix};
    gtel_finding_put(findings, own->card->device, GTEL_MEASUREMENT_GPU_MEMORY_REGION, own->error,
                     text);
}

/* The question got no answer. */
static void diagnose_error(const struct gtel_env *env, const struct memory_card *own,
                           struct gtel_findings *findings)
{
    char what[GTEL_DRM_NODE_MAX + 1];
    /* It has no memory of its own, so that no query has its use. */
    bool is_integrated = own->card->drm.is_pci && own->card->drm.pci.bus == 0;
    (void)snprintf(what, sizeof(what), "/%s", own->node);
    if (gtel_error_is_refusal(own->error))
        put_finding(findings, own, what, "this user may not open the render node",
                    "add the user of this program to the group that owns it, usually render");
    else if (own->error == -ENOENT)
        put_finding(findings, own, what, "the kernel has this node and /dev has not",
                    "in a container: hand the device in, as with --device=/dev/dri");
    else if (own->error == -EOPNOTSUPP)
        put_finding(findings, own, what, "this driver has no query for memory regions",
                    !is_integrated && gtel_kernel_is_older(env, 6, 0) ? "use Linux 6.0 or newer"
                                                                      : NULL);
    else if (own->error == -ECANCELED)
        put_finding(findings, own, what, "the driver has given the GPU up (wedged)",
                    "see the kernel log; unbind and bind the driver, or restart the machine");
    else
        put_finding(findings, own, what, NULL, NULL);
}

/* Why the kernel hides what is used; what helps, or NULL. */
static const char *explain_hidden(const struct gtel_env *env, const char **ret_fix)
{
    *ret_fix = NULL;
    if (gtel_kernel_is_nested(env)) {
        *ret_fix = "run the program outside of the container, with CAP_PERFMON";
        return "the kernel shows it to CAP_PERFMON only, and rights in a container's user "
               "namespace do not count";
    }
    if (gtel_kernel_has_capability(env, GTEL_CAP_PERFMON) == GTEL_YES ||
        gtel_kernel_has_capability(env, GTEL_CAP_SYS_ADMIN) == GTEL_YES)
        return "the kernel hides it although this program has CAP_PERFMON; in a container's user "
               "namespace that would count for nothing";
    *ret_fix = "give the program CAP_PERFMON";
    return "the kernel shows it to CAP_PERFMON only";
}

/* Sizes without what is used of them. */
static void diagnose_hidden(const struct gtel_env *env, const struct memory_card *own,
                            struct gtel_findings *findings)
{
    const char *text[3] = {"used memory"};
    char fix[160];
    struct gtel_release release;
    bool is_xe = own->driver == GTEL_DRM_XE;
    text[1] = explain_hidden(env, &text[2]);
    if (is_xe && gtel_kernel_release(env, &release) && gtel_release_is_at_least(&release, 6, 17)) {
        text[1] = "xe says 0, which cannot be true; since Linux 6.17 it hides nothing";
        text[2] = NULL;
    } else if (is_xe && text[2]) {
        (void)snprintf(fix, sizeof(fix), "%s, or use Linux 6.17 or newer", text[2]);
        text[2] = fix;
    } else if (!is_xe && gtel_kernel_is_older(env, 6, 0)) {
        text[1] = "i915 reports it from Linux 6.0 on";
        text[2] = "use Linux 6.0 or newer";
    }
    gtel_finding_put_lack(findings, own->card->device, GTEL_MEASUREMENT_GPU_MEMORY_REGION,
                          GTEL_M_GPU_MEMORY_USED, 0, text);
}

static void diagnose_card(const void *state, const void *p, struct gtel_findings *findings)
{
    const struct gtel_env *env = ((const struct gtel_card_source *)state)->env;
    const struct memory_card *own = p;
    size_t own_regions = 0;
    size_t hidden = 0;
    for (size_t i = 0; i < own->regions.n; i++) {
        own_regions += own->regions.region[i].is_device ? 1 : 0;
        hidden += own->regions.region[i].is_device && own->regions.region[i].used == 0 ? 1 : 0;
    }
    if (own->node[0] == '\0')
        put_finding(findings, own, "render node", "the driver has made none", NULL);
    else if (own->error == 0 && own->length == 0)
        return; /* asleep or left alone: the driver's own source says so */
    else if (own->error < 0)
        diagnose_error(env, own, findings);
    else if (own->regions.n == 0)
        put_finding(findings, own, "memory regions", "the driver lists none (an admin-only PF)",
                    NULL);
    else if (own_regions == 0)
        put_finding(findings, own, "own memory", "an integrated GPU uses the host's", NULL);
    else if (hidden > 0)
        diagnose_hidden(env, own, findings);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct memory_card),
    .close = close_files,
    .discover = find_node,
    .sample = sample_card,
    .diagnose = diagnose_card,
};

const struct gtel_source gtel_source_drm_memory = {
    .name = "drm_memory",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Memory of Intel GPUs by region, from queries to the drivers i915 and xe, and from "
               "files where i915 has them",
    .needs = "the group render; used memory: i915 Linux 6.0 and CAP_PERFMON, xe CAP_PERFMON up to "
             "Linux 6.16; source i915 or xe, so that an idle GPU can sleep",
    .origins = origins,
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
};
