/* SPDX-License-Identifier: MIT */
/* What is done to GPUs that sleep: what wakes them, and what does not. */
#include "harness/wake_watch.h"

#include "host/fs.h"
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

/* As the option XeEngines has it. */
static const uint64_t burst_ns = 100000000;

/*
 * What the kernel answers from its own memory of the device: links, the names in a directory,
 * whether a file is there, and some files, by the last part of the path (kernel:
 * drivers/pci/pci-sysfs.c, pci_config_attr).
 */
static bool is_harmless(enum fault_op op, struct gtel_str path)
{
    static const char *const names[] = {"/vendor",
                                        "/device",
                                        "/class",
                                        "/uevent",
                                        "/revision",
                                        "/product_name", /* amdgpu's from its own memory, too */
                                        "/vbios_version",
                                        "/unique_id",
                                        "/mem_info_vram_used",
                                        "/mem_info_vram_total",
                                        "/mem_info_vis_vram_used",
                                        "/mem_info_vis_vram_total",
                                        "/mem_info_gtt_used",
                                        "/mem_info_gtt_total",
                                        "/mem_info_vram_vendor",
                                        "/power/control",
                                        "/power/runtime_status",
                                        "/power/runtime_suspended_time",
                                        "/aer_dev_correctable",
                                        "/aer_dev_nonfatal",
                                        "/aer_dev_fatal"};
    if (op == FAULT_LINK || op == FAULT_LIST || op == FAULT_EXISTS)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (gtel_str_ends(path, gtel_str_of(names[i])))
            return true;
    return false;
}

static bool is_below(const char *path, const char *dir, const char *name)
{
    char start[128];
    (void)snprintf(start, sizeof(start), "%s%s/", dir, name);
    return strstr(path, start) != NULL;
}

static bool is_about(const struct wakes *wakes, const struct wakes_card *card, enum fault_op op,
                     const char *path)
{
    if (op == FAULT_PMU)
        return card->xe_pmu != 0 && wakes->fault->pmu_type == card->xe_pmu;
    if (op == FAULT_STALL)
        return strcmp(path, card->node) == 0;
    if (op == FAULT_QUERY) /* i915's does not wake */
        return strcmp(path, card->node) == 0 && strcmp(card->drm.driver, "xe") == 0;
    return is_below(path, "sys/class/drm/", card->drm.card) || is_below(path, "/", card->drm.key) ||
           (card->node[0] != '\0' && is_below(path, "sys/class/drm/", card->node + 8));
}

static void note_burst(struct wakes *wakes, const struct wakes_card *card)
{
    if (card->xe_pmu == 0 || wakes->fault->pmu_type != card->xe_pmu)
        return;
    wakes->bursts++;
    if (wakes->fault->pmu_open_ns > wakes->longest_ns)
        wakes->longest_ns = wakes->fault->pmu_open_ns;
}

static void on_call(void *arg, enum fault_op op, const char *path)
{
    struct wakes *wakes = arg;
    for (size_t i = 0; i < wakes->n; i++) {
        const struct wakes_card *card = &wakes->card[i];
        if (op == FAULT_PMU_CLOSE) {
            note_burst(wakes, card);
            continue;
        }
        if (!card->is_asleep || !is_about(wakes, card, op, path))
            continue;
        /* Opening a file of sysfs asks no driver; xe's are not even opened. */
        bool is_opened = op == FAULT_OPEN && strcmp(card->drm.driver, "amdgpu") == 0;
        if (is_opened || is_harmless(op, gtel_str_of(path))) {
            wakes->looks++;
            continue;
        }
        if (wakes->wakes++ == 0)
            (void)snprintf(wakes->first, sizeof(wakes->first), "%s: %s", card->drm.key, path);
    }
}

static void watch_card(const struct gtel_env *env, const struct gtel_drm_card *drm,
                       struct wakes_card *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char name[GTEL_DRM_NAME_MAX + 4];
    char buf[32];
    struct gtel_str text;
    uint64_t type;
    *ret = (struct wakes_card){.drm = *drm};
    gtel_fs_path(path, "sys/class/drm/%s/device", drm->card);
    if (gtel_drm_render_node(env, path, ret->node) < 0)
        ret->node[0] = '\0';
    (void)snprintf(name, sizeof(name), "xe_%s", drm->key);
    for (char *p = name; *p; p++)
        *p = (char)(*p == ':' ? '_' : *p);
    gtel_fs_path(path, "sys/bus/event_source/devices/%s/type", name);
    if (gtel_fs_u64(env, path, &type) == 0)
        ret->xe_pmu = (uint32_t)type;
    gtel_fs_path(path, "sys/class/drm/%s/device/power/runtime_status", drm->card);
    ret->is_asleep = gtel_fs_text(env, path, buf, sizeof(buf), &text) == 0 &&
                     gtel_str_starts(text, GTEL_STR("suspend"));
}

void wakes_init(struct wakes *wakes, struct env_fault *fault)
{
    *wakes = (struct wakes){.fault = fault};
    fault->watch = on_call;
    fault->watch_arg = wakes;
}

void wakes_look(struct wakes *wakes, const struct gtel_env *env)
{
    struct gtel_arena arena = {0};
    struct gtel_drm_devices list = {0};
    wakes->n = 0;
    (void)gtel_drm_devices(env, &arena, false, &list); /* else none is watched */
    for (size_t i = 0; i < list.n && wakes->n < WAKES_CARDS_MAX; i++) {
        const struct gtel_drm_card *card = &list.device[i].card;
        if (strcmp(card->driver, "amdgpu") != 0 && strcmp(card->driver, "i915") != 0 &&
            strcmp(card->driver, "xe") != 0)
            continue;
        watch_card(env, card, &wakes->card[wakes->n]);
        wakes->seen_asleep += wakes->card[wakes->n++].is_asleep;
    }
    gtel_arena_done(&arena);
}

void wakes_check(struct wakes *wakes)
{
    wakes->fault->watch = NULL;
    wakes->fault->watch_arg = NULL;
    CHECK_INT(wakes->wakes, 0);
    CHECK_STR(gtel_str_of(wakes->first), "");
    CHECK(wakes->longest_ns <= burst_ns);
    CHECK((wakes->looks > 0) == (wakes->seen_asleep > 0));
}
