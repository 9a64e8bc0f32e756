/* SPDX-License-Identifier: MIT */
/* The parts of `gtel doctor` about the machine. */
#include "execd/doctor_host.h"

#include "base/error.h"
#include "host/drm.h"
#include "lanes/channel.h"
#include "lanes/group.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 16, DEVICES_MAX = 4096 };

/* ---- sources and helpers ---- */

enum use { IN_USE, SWITCHED_OFF, NOT_ASKED_FOR, USES, NOTHING_HERE };

static enum use use_of(const struct gtel_doctor_case *about, const struct gtel_source *source)
{
    if (!gtel_group_is_opted_in(about->options, source))
        return gtel_source_present(source, about->env) ? NOT_ASKED_FOR : NOTHING_HERE;
    if (!gtel_group_is_chosen(about->options, source))
        return SWITCHED_OFF;
    return gtel_source_present(source, about->env) ? IN_USE : NOTHING_HERE;
}

static void name_source(struct gtel_buf *names, const struct gtel_source *source, enum use use)
{
    gtel_buf_printf(names, "%s%s", names->n > 0 ? ", " : "", source->name);
    if (use != NOT_ASKED_FOR)
        return;
    gtel_buf_str(names, GTEL_STR(" (option "));
    gtel_option_flag(names, (enum gtel_option)(source->opt_in_plus_1 - 1));
    gtel_buf_str(names, GTEL_STR("=on)"));
}

void gtel_doctor_write_sources(const struct gtel_doctor_case *about, struct gtel_buf *out)
{
    static const char *const titles[USES] = {"in use", "switched off", "not asked for"};
    static const char *const ends[USES] = {"", " (option Sources)", ""};
    for (enum use use = IN_USE; use < USES; use++) {
        struct gtel_buf names;
        gtel_buf_init(&names, 2048);
        for (size_t s = 0; gtel_sources[s]; s++)
            if (use_of(about, gtel_sources[s]) == use)
                name_source(&names, gtel_sources[s], use);
        if (names.n > 0) {
            gtel_buf_str(&names, gtel_str_of(ends[use]));
            gtel_buf_printf(out, "  %-*s", INDENT - 2, titles[use]);
            gtel_buf_wrap(out, INDENT, INDENT, gtel_buf_text(&names));
        }
        gtel_buf_done(&names);
    }
}

void gtel_doctor_write_lanes(const struct gtel_doctor_case *about, struct gtel_doctor_fixes *fixes,
                             struct gtel_buf *out)
{
    static const char broken[] = "see the messages below; both programs must be of one version";
    struct gtel_lane_report lane;
    for (size_t i = 0; gtel_context_lane(about->context, i, &lane); i++) {
        char text[160];
        const char *fix = gtel_channel_hang_fix();
        const char *state = "does not answer";
        if (lane.health == GTEL_LANE_UNUSED || lane.health == GTEL_LANE_FINE)
            continue;
        if (lane.health == GTEL_LANE_UNSTARTED) {
            state = gtel_error_text(lane.error);
            fix = lane.fix;
        } else if (lane.health == GTEL_LANE_BROKEN) {
            state = "ended, or is of another version";
            fix = broken;
        }
        (void)snprintf(text, sizeof(text), "the helper of lane %.32s", lane.name);
        size_t number = gtel_doctor_fixes_text(fixes, gtel_str_of(fix), text);
        gtel_buf_printf(out, "  helper        lane %s: %s [%zu]\n", lane.name, state, number);
    }
}

/* ---- libraries ---- */

/* Once for all sources that need it; in the order of the table of sources. */
static bool is_first_user(size_t source)
{
    for (size_t i = 0; i < source; i++)
        if (gtel_sources[i]->library == gtel_sources[source]->library)
            return false;
    return gtel_sources[source]->library != NULL;
}

static void write_library(const struct gtel_doctor_case *about, bool is_windows,
                          const struct gtel_source_library *library, struct gtel_buf *out)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_buf line;
    size_t users = 0;
    gtel_buf_init(&line, 4096);
    gtel_buf_printf(&line, "%s (", library->name);
    for (size_t s = 0; gtel_sources[s]; s++)
        if (gtel_sources[s]->library == library)
            gtel_buf_printf(&line, "%s%s", users++ > 0 ? ", " : "", gtel_sources[s]->name);
    if (library->find(about->env, path, sizeof(path)))
        gtel_buf_printf(&line, is_windows ? "): installed, %%SystemRoot%%/%s" : "): installed, /%s",
                        path);
    else if (is_windows)
        gtel_buf_str(&line, GTEL_STR("): not installed; the GPU's driver brings it"));
    else if (!library->soname)
        gtel_buf_printf(&line, "): not installed; %s", library->fix);
    else
        gtel_buf_printf(&line,
                        "): not installed; %s. If %s lies elsewhere (conda, Guix), add its folder "
                        "to /etc/ld.so.conf.d and run ldconfig: helpers do not get LD_LIBRARY_PATH",
                        library->fix, library->soname);
    gtel_buf_printf(out, "  %-*s", INDENT - 2, library->soname ? "library" : "program");
    gtel_buf_wrap(out, INDENT, INDENT, gtel_buf_text(&line));
    gtel_buf_done(&line);
}

void gtel_doctor_write_libraries(const struct gtel_doctor_case *about, bool is_windows,
                                 struct gtel_buf *out)
{
    for (size_t s = 0; gtel_sources[s]; s++)
        if (is_first_user(s) && gtel_sources[s]->library->is_wanted(about->env))
            write_library(about, is_windows, gtel_sources[s]->library, out);
}

/* ---- cards ---- */

struct cards {
    const struct gtel_doctor_case *about;
    struct gtel_doctor_fixes *fixes;
    struct gtel_buf *out;
};

/* A DRM card: the base names of what its links point to. */
static void write_card(const struct cards *cards, struct gtel_str name)
{
    char key_buf[GTEL_DRM_NAME_MAX];
    char driver_buf[GTEL_DRM_NAME_MAX];
    struct gtel_str key;
    struct gtel_str driver;
    const struct gtel_env *env = cards->about->env;
    if (gtel_fs_link_name(env, GTEL_FS_AT("sys/class/drm/%.*s/device", GTEL_STR_ARG(name)), key_buf,
                          sizeof(key_buf), &key) < 0)
        key = GTEL_STR("device not known");
    /* Partitions of an AMD GPU are among the GPUs (kernel: amdxcp/amdgpu_xcp_drv.c). */
    if (gtel_context_find(cards->about->context, key) ||
        gtel_str_starts(key, GTEL_STR("amdgpu_xcp_")))
        return;
    if (gtel_fs_link_name(env, GTEL_FS_AT("sys/class/drm/%.*s/device/driver", GTEL_STR_ARG(name)),
                          driver_buf, sizeof(driver_buf), &driver) < 0)
        driver = GTEL_STR("not known");
    gtel_buf_printf(cards->out, "  %-*.*s%.*s, driver %.*s: no source reads it\n", INDENT - 2,
                    GTEL_STR_ARG(name), GTEL_STR_ARG(key), GTEL_STR_ARG(driver));
}

/* What drives the GPUs of a vendor, where some source reads them then; or NULL. */
static const char *driver_fix(uint64_t vendor)
{
    if (vendor == 0x8086)
        return "load them, then see dmesg | grep -E 'xe|i915':\nmodprobe -a i915 xe";
    if (vendor == 0x10de && gtel_source_find(GTEL_STR("nvml")) >= 0)
        return "install NVIDIA's driver; then modprobe nvidia";
    if (vendor == 0x1002 && gtel_source_find(GTEL_STR("drm_clients")) >= 0)
        return "load it, then see dmesg | grep amdgpu:\nmodprobe amdgpu";
    return NULL;
}

/* A PCI device of class 03 (display) that has no driver. */
static void write_pci(const struct cards *cards, struct gtel_str name)
{
    const char *folder = GTEL_FS_AT("sys/bus/pci/devices/%.*s", GTEL_STR_ARG(name));
    char buf[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    uint64_t class = 0;
    uint64_t vendor = 0;
    const struct gtel_env *env = cards->about->env;
    if (gtel_fs_hex(env, GTEL_FS_AT("%s/class", folder), &class) < 0 || class >> 16 != 3 ||
        gtel_context_find(cards->about->context, name) ||
        gtel_fs_link_name(env, GTEL_FS_AT("%s/driver", folder), buf, sizeof(buf), &driver) == 0)
        return;
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/vendor", folder), &vendor); /* stays 0: no advice then */
    bool is_function = gtel_fs_exists(env, GTEL_FS_AT("%s/physfn", folder));
    size_t number = 0;
    if (!is_function && driver_fix(vendor))
        number = gtel_doctor_fixes_text(cards->fixes, gtel_str_of(driver_fix(vendor)),
                                        GTEL_FS_AT("PCI device %.*s", GTEL_STR_ARG(name)));
    gtel_buf_printf(cards->out, "  %-*s%.*s, vendor %04x: no driver has it%s", INDENT - 2, "PCI",
                    GTEL_STR_ARG(name), (unsigned)vendor,
                    is_function ? ", a virtual function" : "");
    if (number > 0)
        gtel_buf_printf(cards->out, " [%zu]", number);
    gtel_buf_char(cards->out, '\n');
}

void gtel_doctor_write_cards(const struct gtel_doctor_case *about, struct gtel_doctor_fixes *fixes,
                             struct gtel_buf *out)
{
    const struct cards cards = {about, fixes, out};
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    if (gtel_fs_list(about->env, "sys/class/drm", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n && i < DEVICES_MAX; i++)
            if (gtel_drm_is_card(names[i]))
                write_card(&cards, names[i]);
    gtel_arena_reset(&arena);
    if (gtel_fs_list(about->env, "sys/bus/pci/devices", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n && i < DEVICES_MAX; i++)
            write_pci(&cards, names[i]);
    gtel_arena_done(&arena);
}
