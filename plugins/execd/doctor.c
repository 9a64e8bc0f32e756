/* SPDX-License-Identifier: MIT */
/* `gtel doctor`: what is there, what is missing, why, and what would bring it. */
#include "execd/doctor.h"

#include "base/error.h"
#include "execd/doctor_fix.h"
#include "host/drm.h"
#include "host/pnp.h"
#include "lanes/channel.h"
#include "lanes/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { INDENT = 16, DEVICES_MAX = 4096 };
enum { ORIGINS_MAX = 16, NAME_WIDTH = 25, STATE_WIDTH = 7, MESSAGES_MAX = 16384 };
enum { TEXT_COLUMN = NAME_WIDTH + STATE_WIDTH, LACKS_MAX = 1 << 18 };

struct gtel_doctor_device {
    bool is_seen[GTEL_M_COUNT];
    bool is_asleep; /* and was so at the last gather */
    /* Bits of the origins of each source, by group. */
    uint16_t origin[GTEL_MEASUREMENT_COUNT][GTEL_SOURCES_MAX];
};

/* ---- what comes ---- */

int gtel_doctor_init(struct gtel_doctor *doctor)
{
    *doctor = (struct gtel_doctor){0};
    gtel_buf_init(&doctor->messages, MESSAGES_MAX);
    doctor->device = calloc(GTEL_DEVICES_MAX, sizeof(*doctor->device));
    return doctor->device ? 0 : -ENOMEM;
}

void gtel_doctor_done(struct gtel_doctor *doctor)
{
    free(doctor->device);
    doctor->device = NULL;
    gtel_buf_done(&doctor->messages);
    gtel_findings_done(&doctor->findings);
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gtel_doctor *doctor = arg;
    (void)aspect;
    if (!reading->device || reading->source == GTEL_SOURCE_CORE ||
        reading->device->index >= GTEL_DEVICES_MAX)
        return;
    struct gtel_doctor_device *device = &doctor->device[reading->device->index];
    enum gtel_measurement group = gtel_metric_row((enum gtel_metric)reading->metric)->measurement;
    device->is_seen[reading->metric] = true;
    if (reading->metric == GTEL_M_GPU_AWAKE)
        device->is_asleep = gtel_reading_number(reading) < 1;
    if (reading->source < GTEL_SOURCES_MAX && reading->origin < ORIGINS_MAX)
        device->origin[group][reading->source] |= (uint16_t)(1U << reading->origin);
}

struct gtel_sink gtel_doctor_sink(struct gtel_doctor *doctor)
{
    return (struct gtel_sink){.arg = doctor, .put = put};
}

static void keep_message(void *arg, enum gtel_log_level level, const char *text)
{
    struct gtel_doctor *doctor = arg;
    size_t before = doctor->messages.n;
    if (level > GTEL_LOG_WARNING)
        return;
    gtel_buf_printf(&doctor->messages, "%s\n", text);
    if (doctor->messages.has_failed)
        gtel_buf_back(&doctor->messages, before);
}

struct gtel_log gtel_doctor_log(struct gtel_doctor *doctor)
{
    return (struct gtel_log){keep_message, doctor};
}

struct report {
    const struct gtel_doctor *doctor;
    struct gtel_buf *out;
    struct gtel_host_facts facts;
    struct gtel_doctor_fixes fixes;
};

/* Whether the user names the sources to use: then others may have what is missing. */
static bool is_narrowed(const struct report *report)
{
    return gtel_option_text(report->doctor->options, GTEL_O_SOURCES).n > 0;
}

/* ---- sources and helpers ---- */

enum use { IN_USE, SWITCHED_OFF, NOT_ASKED_FOR, USES, NOTHING_HERE };

static enum use use_of(const struct gtel_doctor *doctor, const struct gtel_source *source)
{
    if (!gtel_group_is_opted_in(doctor->options, source))
        return gtel_source_present(source, doctor->env) ? NOT_ASKED_FOR : NOTHING_HERE;
    if (!gtel_group_is_chosen(doctor->options, source))
        return SWITCHED_OFF;
    return gtel_source_present(source, doctor->env) ? IN_USE : NOTHING_HERE;
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

static void write_sources(const struct report *report)
{
    static const char *const titles[USES] = {"in use", "switched off", "not asked for"};
    static const char *const ends[USES] = {"", " (option Sources)", ""};
    for (enum use use = IN_USE; use < USES; use++) {
        struct gtel_buf names;
        gtel_buf_init(&names, 2048);
        for (size_t s = 0; gtel_sources[s]; s++)
            if (use_of(report->doctor, gtel_sources[s]) == use)
                name_source(&names, gtel_sources[s], use);
        if (names.n > 0) {
            gtel_buf_str(&names, gtel_str_of(ends[use]));
            gtel_buf_printf(report->out, "  %-*s", INDENT - 2, titles[use]);
            gtel_buf_wrap(report->out, INDENT, INDENT, gtel_buf_text(&names));
        }
        gtel_buf_done(&names);
    }
}

/* Helpers that are late or could not start; nothing when all is well. */
static void write_lanes(struct report *report)
{
    static const char broken[] = "see the messages below; both programs must be of one version";
    struct gtel_lane_report lane;
    for (size_t i = 0; gtel_context_lane(report->doctor->context, i, &lane); i++) {
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
        size_t number = gtel_doctor_fixes_text(&report->fixes, gtel_str_of(fix), text);
        gtel_buf_printf(report->out, "  helper        lane %s: %s [%zu]\n", lane.name, state,
                        number);
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

static void write_library(const struct report *report, const struct gtel_source_library *library)
{
    bool is_windows = report->facts.system == GTEL_HOST_WINDOWS;
    char path[GTEL_FS_PATH_MAX];
    struct gtel_buf line;
    size_t users = 0;
    gtel_buf_init(&line, 4096);
    gtel_buf_printf(&line, "%s (", library->name);
    for (size_t s = 0; gtel_sources[s]; s++)
        if (gtel_sources[s]->library == library)
            gtel_buf_printf(&line, "%s%s", users++ > 0 ? ", " : "", gtel_sources[s]->name);
    if (library->find(report->doctor->env, path, sizeof(path)))
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
    gtel_buf_printf(report->out, "  %-*s", INDENT - 2, library->soname ? "library" : "program");
    gtel_buf_wrap(report->out, INDENT, INDENT, gtel_buf_text(&line));
    gtel_buf_done(&line);
}

/* Vendors' libraries that this machine's hardware could use: where they are, or what brings them.
 */
static void write_libraries(const struct report *report)
{
    for (size_t s = 0; gtel_sources[s]; s++)
        if (is_first_user(s) && gtel_sources[s]->library->is_wanted(report->doctor->env))
            write_library(report, gtel_sources[s]->library);
}

/* ---- cards ---- */

/* A DRM card: the base names of what its links point to. */
static void write_card(struct report *report, struct gtel_str name)
{
    char key_buf[GTEL_DRM_NAME_MAX];
    char driver_buf[GTEL_DRM_NAME_MAX];
    struct gtel_str key;
    struct gtel_str driver;
    const struct gtel_env *env = report->doctor->env;
    if (gtel_fs_link_name(env, GTEL_FS_AT("sys/class/drm/%.*s/device", GTEL_STR_ARG(name)), key_buf,
                          sizeof(key_buf), &key) < 0)
        key = GTEL_STR("device not known");
    /* Partitions of an AMD GPU are among the GPUs (kernel: amdxcp/amdgpu_xcp_drv.c). */
    if (gtel_registry_find(gtel_context_registry(report->doctor->context), key) ||
        gtel_str_starts(key, GTEL_STR("amdgpu_xcp_")))
        return;
    if (gtel_fs_link_name(env, GTEL_FS_AT("sys/class/drm/%.*s/device/driver", GTEL_STR_ARG(name)),
                          driver_buf, sizeof(driver_buf), &driver) < 0)
        driver = GTEL_STR("not known");
    gtel_buf_printf(report->out, "  %-*.*s%.*s, driver %.*s: no source%s reads it\n", INDENT - 2,
                    GTEL_STR_ARG(name), GTEL_STR_ARG(key), GTEL_STR_ARG(driver),
                    is_narrowed(report) ? " in the option Sources" : "");
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
static void write_pci(struct report *report, struct gtel_str name)
{
    const char *folder = GTEL_FS_AT("sys/bus/pci/devices/%.*s", GTEL_STR_ARG(name));
    char buf[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    uint64_t class = 0;
    uint64_t vendor = 0;
    const struct gtel_env *env = report->doctor->env;
    if (gtel_fs_hex(env, GTEL_FS_AT("%s/class", folder), &class) < 0 || class >> 16 != 3 ||
        gtel_registry_find(gtel_context_registry(report->doctor->context), name) ||
        gtel_fs_link_name(env, GTEL_FS_AT("%s/driver", folder), buf, sizeof(buf), &driver) == 0)
        return;
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/vendor", folder), &vendor); /* stays 0: no advice then */
    bool is_function = gtel_fs_exists(env, GTEL_FS_AT("%s/physfn", folder));
    size_t number = 0;
    if (!is_function && driver_fix(vendor))
        number = gtel_doctor_fixes_text(&report->fixes, gtel_str_of(driver_fix(vendor)),
                                        GTEL_FS_AT("PCI device %.*s", GTEL_STR_ARG(name)));
    gtel_buf_printf(report->out, "  %-*s%.*s, vendor %04x: no driver has it%s", INDENT - 2, "PCI",
                    GTEL_STR_ARG(name), (unsigned)vendor,
                    is_function ? ", a virtual function" : "");
    if (number > 0)
        gtel_buf_printf(report->out, " [%zu]", number);
    gtel_buf_char(report->out, '\n');
}

/* Graphics cards that no source reads, and PCI display devices without a driver. */
static void write_cards(struct report *report)
{
    const struct gtel_env *env = report->doctor->env;
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    if (gtel_fs_list(env, "sys/class/drm", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n; i++)
            if (gtel_drm_is_card(names[i]))
                write_card(report, names[i]);
    gtel_arena_reset(&arena);
    if (gtel_fs_list(env, "sys/bus/pci/devices", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n; i++)
            write_pci(report, names[i]);
    gtel_arena_done(&arena);
}

/* ---- groups of metrics ---- */

static const char *group_name(size_t group)
{
    return gtel_measurement_row((enum gtel_measurement)group)->name.p;
}

static size_t count_fields(const struct gtel_doctor_device *device, size_t group)
{
    size_t n = 0;
    for (size_t m = 0; m < GTEL_M_COUNT; m++) {
        const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)m);
        n += device->is_seen[m] && row->measurement == group && row->field.n > 0 ? 1 : 0;
    }
    return n;
}

/* NAME STATE text; the text's memory is freed. */
static void put_row(struct gtel_buf *out, const char *name, const char *state,
                    struct gtel_buf *text)
{
    gtel_buf_printf(out, "  %-*s%-*s", NAME_WIDTH - 2, name, STATE_WIDTH, state);
    gtel_buf_wrap(out, TEXT_COLUMN, TEXT_COLUMN, gtel_buf_text(text));
    gtel_buf_done(text);
}

/* "3 fields from i915 (sysfs + hwmon), rapl (perf)" */
static void write_origins(struct gtel_buf *text, const struct gtel_doctor_device *device,
                          size_t group, size_t fields)
{
    size_t sources = 0;
    gtel_buf_printf(text, "%zu field%s from ", fields, fields == 1 ? "" : "s");
    for (size_t s = 0; gtel_sources[s]; s++) {
        uint32_t bits = device->origin[group][s];
        if (bits == 0)
            continue;
        gtel_buf_printf(text, "%s%s (", sources++ > 0 ? ", " : "", gtel_sources[s]->name);
        size_t origins = 0;
        for (size_t o = 0; gtel_sources[s]->origins[o] && o < ORIGINS_MAX; o++)
            if (((unsigned)bits >> o & 1U) != 0)
                gtel_buf_printf(text, "%s%s", origins++ > 0 ? " + " : "",
                                gtel_sources[s]->origins[o]);
        gtel_buf_char(text, ')');
    }
}

/* NAME STATE "hwmon/energy1_input: Permission denied (errno 13): why [1]" */
static void put_finding(struct report *report, const char *name, const char *state,
                        const struct gtel_finding *finding, struct gtel_buf *out)
{
    struct gtel_buf text;
    size_t number = gtel_doctor_fixes_add(&report->fixes, finding);
    gtel_buf_init(&text, 8192);
    gtel_buf_str(&text, finding->what);
    if (finding->error < 0)
        gtel_buf_printf(&text, "%s%s (errno %d)", text.n > 0 ? ": " : "",
                        gtel_error_text(finding->error), gtel_error_number(finding->error));
    if (finding->why.n > 0)
        gtel_buf_printf(&text, "%s%.*s", text.n > 0 ? ": " : "", GTEL_STR_ARG(finding->why));
    if (number > 0)
        gtel_buf_printf(&text, " [%zu]", number);
    put_row(out, name, state, &text);
}

/*
 * Of a group that has values, what another source of it has not (-ENOENT) is not worth a word,
 * unless it is a value that nobody gives.
 */
static bool is_reported(const struct gtel_finding *finding, const struct gtel_doctor_device *seen,
                        bool has_fields)
{
    bool is_broken = finding->error != 0 && finding->error != -ENOENT;
    bool is_lacking = finding->lacks_plus_1 > 0 && !seen->is_seen[finding->lacks_plus_1 - 1];
    return !has_fields || is_broken || is_lacking || (finding->error == 0 && finding->fix.n > 0);
}

/* Whether what a source says of the machine as a whole is about values that it gives. */
static bool is_limit(const struct gtel_finding *finding, const struct gtel_doctor_device *seen)
{
    return !finding->device && seen->origin[finding->measurement][finding->source] != 0;
}

/* The source that gives the group and says of the machine why it cannot give all; NULL: none. */
static const char *limited_by(const struct report *report, const struct gtel_doctor_device *seen,
                              size_t group)
{
    for (size_t i = 0; i < report->doctor->findings.n; i++) {
        const struct gtel_finding *finding = &report->doctor->findings.finding[i];
        if (finding->measurement == group && is_limit(finding, seen))
            return gtel_sources[finding->source]->name;
    }
    return NULL;
}

/* One group of metrics of one device. False when nobody knows anything of it. */
static bool write_group(struct report *report, const struct gtel_device *device, size_t group)
{
    const struct gtel_doctor_device *seen = &report->doctor->device[device->index];
    const struct gtel_findings *findings = &report->doctor->findings;
    const char *limit = limited_by(report, seen, group);
    size_t fields = count_fields(seen, group);
    struct gtel_buf lacks;
    struct gtel_buf origins;
    gtel_buf_init(&lacks, LACKS_MAX);
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *finding = &findings->finding[i];
        bool is_first = fields == 0 && lacks.n == 0;
        if (finding->device == device && finding->measurement == group &&
            is_reported(finding, seen, fields > 0))
            put_finding(report, is_first ? group_name(group) : "", is_first ? "no" : "", finding,
                        &lacks);
    }
    if (fields > 0) {
        gtel_buf_init(&origins, 4096);
        write_origins(&origins, seen, group, fields);
        put_row(report->out, group_name(group), lacks.n > 0 || limit ? "part" : "yes", &origins);
        if (limit)
            gtel_buf_printf(report->out, "%*sbut not all: see %s at the end\n", TEXT_COLUMN, "",
                            limit);
    }
    bool is_known = fields > 0 || lacks.n > 0;
    gtel_buf_str(report->out, gtel_buf_text(&lacks));
    gtel_buf_done(&lacks);
    return is_known;
}

static bool is_group_of_gpu(size_t group)
{
    return group != GTEL_MEASUREMENT_GPU_INFO && group != GTEL_MEASUREMENT_GTEL;
}

/* Waking it would bring nothing: all that is there of Intel's NPUs is read while they sleep. */
static bool is_read_asleep(const struct gtel_device *device)
{
    return strcmp(device->label[GTEL_LABEL_DRIVER], "intel_vpu") == 0;
}

static void write_device(struct report *report, const struct gtel_device *device)
{
    const struct gtel_doctor_device *seen = &report->doctor->device[device->index];
    struct gtel_buf rest;
    const char *card = device->label[GTEL_LABEL_CARD];
    gtel_buf_printf(report->out, "\nGPU %s  %s; driver %s%s%s%s%s\n", device->key,
                    device->label[GTEL_LABEL_MODEL][0] ? device->label[GTEL_LABEL_MODEL]
                                                       : "not known",
                    device->label[GTEL_LABEL_DRIVER], card[0] ? ", " : "", card,
                    seen->is_asleep ? "; asleep" : "", device->is_present ? "" : "; gone");
    gtel_buf_init(&rest, 4096);
    for (size_t group = 0; group < GTEL_MEASUREMENT_COUNT; group++)
        if (is_group_of_gpu(group) && !write_group(report, device, group))
            gtel_buf_printf(&rest, "%s%s", rest.n > 0 ? ", " : "", group_name(group));
    if (rest.n > 0) {
        const char *asleep =
            gtel_pnp_word(report->doctor->env, "not read while the GPU sleeps",
                          "not read while the GPU sleeps (--wake=always wakes it)");
        gtel_buf_printf(&rest, ": %s",
                        seen->is_asleep && !is_read_asleep(device)
                            ? asleep
                            : "no source reports it for this GPU, or there is nothing "
                              "to report now");
        put_row(report->out, "others", "no", &rest);
    }
}

/* Whether the source gives some of what it says something about. */
static bool gives_some(const struct report *report, const struct gtel_finding *finding)
{
    for (size_t i = 0; i < GTEL_DEVICES_MAX; i++)
        if (is_limit(finding, &report->doctor->device[i]))
            return true;
    return false;
}

/* What the sources say of the machine as a whole. */
static void write_common(struct report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->doctor->findings.n; i++) {
        const struct gtel_finding *finding = &report->doctor->findings.finding[i];
        if (finding->device)
            continue;
        if (n++ == 0)
            gtel_buf_str(report->out, GTEL_STR("\nAll GPUs of a source\n"));
        put_finding(report, gtel_sources[finding->source]->name,
                    gives_some(report, finding) ? "part" : "no", finding, report->out);
    }
    if (report->doctor->findings.dropped > 0)
        gtel_buf_printf(report->out, "  and %zu findings more than fit\n",
                        report->doctor->findings.dropped);
}

static bool has_finding(const struct report *report, struct gtel_str source)
{
    for (size_t i = 0; i < report->doctor->findings.n; i++)
        if (gtel_str_eq(
                source,
                gtel_str_of(gtel_sources[report->doctor->findings.finding[i].source]->name)))
            return true;
    return false;
}

/* Messages of sources that have explained themselves by findings say nothing new, nor does that
 * there is no GPU. */
static void write_messages(struct report *report)
{
    struct gtel_str rest = gtel_buf_text(&report->doctor->messages);
    struct gtel_str line;
    size_t n = 0;
    while (gtel_str_line(&rest, &line)) {
        const struct gtel_str source = {line.p, gtel_str_find(line, ':')};
        if (has_finding(report, source) || gtel_str_starts(line, GTEL_STR("no GPU found")))
            continue;
        if (n++ == 0)
            gtel_buf_str(report->out, GTEL_STR("\nMessages during the check\n"));
        gtel_buf_str(report->out, GTEL_STR("  "));
        gtel_buf_wrap(report->out, 2, 4, line);
    }
}

/* What the program, or this report itself, could not open a file for: a negative errno, or 0. */
static int shortage_of(const struct gtel_doctor *doctor)
{
    int error = gtel_fs_shortage(doctor->env);
    return error < 0 ? error : gtel_context_shortage(doctor->context);
}

static void write_no_device(struct report *report, int shortage)
{
    if (shortage == 0)
        gtel_buf_printf(report->out, "\nNo GPU was found that a source %s reads.\n",
                        is_narrowed(report) ? "in the option Sources" : "of gtel");
    else
        gtel_buf_printf(report->out, "\nIt is not known which GPUs there are: %s.\n",
                        gtel_error_text(shortage));
}

/* Nor anything to fix: that does not mean that all is well. */
static void write_no_way(const struct report *report)
{
    const char *check = " Check that lspci shows the card, and that /sys and the device nodes are "
                        "visible (in a container: are they mounted?).";
    struct gtel_buf text;
    if (report->facts.system == GTEL_HOST_WINDOWS)
        check = " Check that the Device Manager shows the GPU with its driver.";
    else if (report->facts.system == GTEL_HOST_MAC)
        check = "";
    gtel_buf_init(&text, 300);
    gtel_buf_printf(&text, "There is nothing that gtel knows how to fix.%s%s",
                    is_narrowed(report) ? " Try without the option Sources (--sources)." : "",
                    check);
    gtel_buf_char(report->out, '\n');
    gtel_buf_wrap(report->out, 0, 0, gtel_buf_text(&text));
    gtel_buf_done(&text);
}

/* How long helpers, or sources inside this process, may think about what is missing. */
static const uint64_t diagnose_ns = 3000000000;

bool gtel_doctor_report(struct gtel_doctor *doctor, bool is_script, struct gtel_buf *out)
{
    struct report *report = calloc(1, sizeof(*report));
    if (!report)
        return true;
    gtel_context_set_findings(doctor->context, &doctor->findings);
    gtel_context_sample(doctor->context, diagnose_ns);
    gtel_context_set_findings(doctor->context, NULL);
    gtel_context_emit(doctor->context);
    *report = (struct report){.doctor = doctor, .out = out};
    size_t before = out->n;
    gtel_host_facts_read(doctor->env, &report->facts);
    gtel_buf_printf(out, "gtel %s\n", gtel_version);
    gtel_host_facts_write(&report->facts, out);
    write_sources(report);
    write_libraries(report);
    write_lanes(report);
    write_cards(report);
    const struct gtel_registry *registry = gtel_context_registry(doctor->context);
    for (size_t i = 0; i < registry->n; i++)
        write_device(report, registry->device[i]);
    int shortage = shortage_of(doctor);
    if (registry->n == 0)
        write_no_device(report, shortage);
    if (shortage < 0)
        (void)gtel_doctor_fixes_text(&report->fixes, gtel_str_of(gtel_fs_shortage_fix(shortage)),
                                     "this whole report");
    write_common(report);
    write_messages(report);
    if (is_script)
        gtel_buf_back(out, before);
    if (registry->n == 0 && report->fixes.n == 0 && !is_script)
        write_no_way(report);
    else
        gtel_doctor_fixes_write(&report->fixes, &report->facts, is_script, out);
    bool has_fixes = report->fixes.n > 0;
    gtel_doctor_fixes_done(&report->fixes);
    free(report);
    return has_fixes;
}
