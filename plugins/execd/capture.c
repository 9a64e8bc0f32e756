/* SPDX-License-Identifier: MIT */
/* `gtel capture`: writes a recorded machine from the one that is read. */
#include "execd/capture.h"

#include "base/error.h"
#include "execd/doctor.h"
#include "execd/host_facts.h"
#include "host/drm.h"
#include "host/fs.h"
#include "recording/record_env.h"
#include "recording/record_windows.h"
#include "recording/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPORT_MAX = 1 << 20, NAMES_MAX = 4 << 20 };
enum { DEVICES_MAX = 4096, CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 };

static const uint64_t second_ns = 1000000000;
static const uint64_t millisecond_ns = 1000000;

struct run {
    const struct gtel_capture *capture;
    struct gtel_scrub scrub;
    struct gtel_record record;
    struct gtel_env env; /* the recording one */
    struct gtel_record_windows windows;
    struct gtel_context *context;
    struct gtel_buf unread; /* lines about GPUs without values in the record */
    size_t gpus;            /* that sources read */
    uint64_t start_ns;
    uint64_t wall_ns;
};

/* The sink: nothing is emitted. */
static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    (void)arg;
    (void)reading;
    (void)aspect;
}

/* ---- names that identify ---- */

/* Files that hold names of this host and of the people on it; they are no part of the record. */
static void learn_host(struct gtel_scrub *scrub, struct gtel_str text)
{
    gtel_scrub_host(scrub, gtel_str_trim(text));
}

/* "search example.org" and "domain example.org" (resolv.conf(5)) */
static void learn_domains(struct gtel_scrub *scrub, struct gtel_str text)
{
    struct gtel_str line;
    struct gtel_str word;
    while (gtel_str_line(&text, &line))
        if (gtel_str_word(&line, &word) &&
            (gtel_str_eq(word, GTEL_STR("search")) || gtel_str_eq(word, GTEL_STR("domain"))))
            while (gtel_str_word(&line, &word))
                gtel_scrub_host(scrub, word);
}

/* Who started the program, also behind sudo, and users that are in no list of this machine. */
static void learn_environment(struct gtel_scrub *scrub, struct gtel_str text)
{
    static const struct gtel_str keys[] = {GTEL_STR_INIT("USER="), GTEL_STR_INIT("LOGNAME="),
                                           GTEL_STR_INIT("SUDO_USER=")};
    struct gtel_str part;
    while (gtel_str_part(&text, '\0', &part)) {
        for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++)
            if (gtel_str_starts(part, keys[i]))
                gtel_scrub_user(scrub, gtel_str_skip(part, keys[i].n));
        if (gtel_str_starts(part, GTEL_STR("HOSTNAME=")))
            gtel_scrub_host(scrub, gtel_str_skip(part, sizeof("HOSTNAME=") - 1));
    }
}

/* "User: HOST\\NAME" (host/env.h); the system's own accounts belong to everybody. */
static void learn_facts(struct gtel_scrub *scrub, struct gtel_str text)
{
    static const struct gtel_str user = GTEL_STR_INIT("User: ");
    struct gtel_str line;
    while (gtel_str_line(&text, &line)) {
        struct gtel_str name = gtel_str_skip(line, user.n);
        struct gtel_str host = {name.p, gtel_str_find(name, '\\')};
        if (!gtel_str_starts(line, user) || gtel_str_eq(host, GTEL_STR("NT AUTHORITY")))
            continue;
        gtel_scrub_host(scrub, host.n < name.n ? host : GTEL_STR_NONE);
        gtel_scrub_user(scrub, name);
    }
}

static int learn_home(void *arg, struct gtel_str name)
{
    gtel_scrub_user(arg, name);
    return 0;
}

static void learn_names(struct run *run)
{
    static const struct {
        const char *path;
        void (*learn)(struct gtel_scrub *scrub, struct gtel_str text);
    } files[] = {
        {"proc/sys/kernel/hostname", learn_host},
        {"proc/sys/kernel/domainname", learn_host},
        {"etc/hostname", learn_host},
        {"etc/resolv.conf", learn_domains},
        {"etc/passwd", gtel_scrub_users},
        {"proc/self/environ", learn_environment},
        {GTEL_HOST_FACTS, learn_facts},
    };
    const struct gtel_env *env = run->capture->env;
    char *buf = malloc(NAMES_MAX);
    if (!buf) {
        run->record.text.has_failed = true;
        return;
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++) {
        struct gtel_str text;
        int r = gtel_fs_text(env, files[i].path, buf, NAMES_MAX, &text);
        if (r == 0)
            files[i].learn(&run->scrub, text);
        run->scrub.has_failed = run->scrub.has_failed || r == -E2BIG;
    }
    (void)env->ops->dir_list(env->arg, "home", learn_home, &run->scrub); /* none: no names */
    free(buf);
}

/* ---- time ---- */

static bool is_ended(const struct run *run)
{
    return run->capture->pace && gtel_pace_is_cut(run->capture->pace);
}

/*
 * What is read at a gather counts as read at its time on the dot, so that the record replays at the
 * same interval; what sources ask for in between keeps its own time, to the millisecond.
 */
static void wait_until(struct run *run, uint64_t t_ns)
{
    const struct gtel_capture *capture = run->capture;
    for (;;) {
        uint64_t due_ns = gtel_context_due(run->context);
        if (due_ns == 0 || due_ns >= run->start_ns + t_ns || is_ended(run))
            break;
        capture->go_to(capture->arg, due_ns);
        uint64_t at_ns = gtel_env_now(capture->env) - run->start_ns;
        at_ns -= at_ns % capture->grain_ns;
        gtel_record_at(&run->record, at_ns < t_ns ? at_ns : t_ns - 1);
        gtel_context_tick(run->context);
    }
    capture->go_to(capture->arg, run->start_ns + t_ns);
    gtel_record_at(&run->record, t_ns);
}

/* ---- GPUs in files ---- */

static void read_file(const struct gtel_env *env, const char *path)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str text;
    (void)gtel_fs_text(env, path, buf, sizeof(buf), &text); /* reading it records it, or its lack */
}

/* Files of the device; those of its link ask the hardware. */
static void read_files(const struct gtel_env *env, const char *folder)
{
    static const char *const quiet[] = {"vendor", "device", "uevent", "power/control"};
    static const char *const awake[] = {"current_link_speed", "current_link_width",
                                        "max_link_speed", "max_link_width"};
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str status;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(quiet); i++)
        read_file(env, GTEL_FS_AT("%s/%s", folder, quiet[i]));
    if (gtel_fs_text(env, GTEL_FS_AT("%s/power/runtime_status", folder), buf, sizeof(buf),
                     &status) < 0 ||
        !gtel_str_eq(status, GTEL_STR("active")))
        return;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(awake); i++)
        read_file(env, GTEL_FS_AT("%s/%s", folder, awake[i]));
}

static void write_unread(const struct gtel_env *env, const char *folder, struct gtel_str name,
                         struct gtel_buf *out)
{
    char buf[GTEL_DRM_NAME_MAX];
    struct gtel_str driver;
    uint64_t vendor = 0;
    uint64_t device = 0;
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/vendor", folder), &vendor); /* stays 0: not known */
    (void)gtel_fs_hex(env, GTEL_FS_AT("%s/device", folder), &device); /* the same */
    gtel_buf_printf(out, "GPU %.*s (%04x:%04x", GTEL_STR_ARG(name), (unsigned)vendor,
                    (unsigned)device);
    if (gtel_fs_link_name(env, GTEL_FS_AT("%s/driver", folder), buf, sizeof(buf), &driver) < 0)
        gtel_buf_str(out, GTEL_STR(", no driver): its PCI device is in the file; it has no values "
                                   "without a driver\n"));
    else if (gtel_str_eq(driver, GTEL_STR("nvidia")))
        gtel_buf_str(out, GTEL_STR(", driver nvidia): its PCI device, power state and driver "
                                   "version are in the file; its values are answers of NVML, "
                                   "which are not\n"));
    else
        gtel_buf_printf(out,
                        ", driver %.*s): its PCI device and power state are in the file; no source "
                        "reads this driver's values\n",
                        GTEL_STR_ARG(driver));
}

/* What NVIDIA's driver says of itself, and the nodes of all of them. */
static void read_drivers(const struct gtel_env *env)
{
    static const char *const files[] = {"proc/driver/nvidia/version", "sys/module/nvidia/version"};
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(files); i++)
        read_file(env, files[i]);
    if (gtel_fs_list(env, "sys/class/drm", &arena, DEVICES_MAX, &names, &n) == 0)
        for (size_t i = 0; i < n; i++) {
            (void)gtel_fs_exists(env, GTEL_FS_AT("sys/class/drm/%.*s/device",
                                                 GTEL_STR_ARG(names[i]))); /* the same */
        }
    gtel_arena_done(&arena);
}

/*
 * Reads the files of every PCI GPU, whatever the sources know of it, so that the record has it also
 * where its values come from a vendor's library. Notes those that no source reads, and why: "GPU
 * 0000:01:00.0 (10de:2702, driver nvidia): …". Nothing wakes a GPU: its registers are only read
 * while it is awake.
 */
static void survey(struct run *run)
{
    const struct gtel_env *env = &run->env;
    struct gtel_arena arena = {0};
    struct gtel_str *names;
    size_t n;
    if (gtel_fs_list(env, "sys/bus/pci/devices", &arena, DEVICES_MAX, &names, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        const char *folder = GTEL_FS_AT("sys/bus/pci/devices/%.*s", GTEL_STR_ARG(names[i]));
        uint64_t class = 0;
        if (gtel_fs_hex(env, GTEL_FS_AT("%s/class", folder), &class) < 0 ||
            (class >> 16 != CLASS_DISPLAY && class >> 16 != CLASS_ACCELERATOR))
            continue;
        read_files(env, folder);
        if (!gtel_registry_find(gtel_context_registry(run->context), names[i]))
            write_unread(env, folder, names[i], &run->unread);
    }
    gtel_arena_done(&arena);
    read_drivers(env);
}

/* ---- the work ---- */

static void gather_all(struct run *run)
{
    const struct gtel_capture *capture = run->capture;
    for (uint64_t n = 1; n <= capture->count && !is_ended(run); n++) {
        wait_until(run, n * capture->interval_ns);
        gtel_context_gather(run->context);
        gtel_record_windows(&run->windows, capture->env, &run->record);
    }
}

/* The first sample, and what `gtel doctor` reads, so that it works on the record: its report is
 * discarded. */
static int record_doctor(struct run *run)
{
    struct gtel_doctor doctor;
    struct gtel_buf report;
    gtel_buf_init(&report, REPORT_MAX);
    int r = gtel_doctor_init(&doctor);
    doctor.env = &run->env;
    doctor.options = run->capture->options;
    doctor.context = run->context;
    if (r == 0)
        (void)gtel_doctor_report(&doctor, false, &report);
    gtel_record_windows(&run->windows, run->capture->env, &run->record);
    survey(run);
    gtel_doctor_done(&doctor);
    gtel_buf_done(&report);
    return r;
}

static int gather_and_diagnose(struct run *run)
{
    const struct gtel_sink sink = {.put = put};
    const struct gtel_setup setup = {.env = &run->env,
                                     .options = run->capture->options,
                                     .sink = &sink,
                                     .interval_ns = run->capture->interval_ns};
    int r = gtel_context_new(&setup, &run->context);
    if (r < 0)
        return r;
    r = record_doctor(run);
    if (r == 0)
        gather_all(run);
    run->gpus = gtel_context_registry(run->context)->n;
    gtel_context_free(run->context);
    return r;
}

/* "2 uuids, 1 host names" */
static void write_replaced(const struct gtel_scrub *scrub, struct gtel_buf *out)
{
    size_t before = out->n;
    for (size_t i = 0; i < GTEL_SCRUB_KINDS; i++)
        if (scrub->replaced[i] > 0)
            gtel_buf_printf(out, "%s%zu %s", out->n > before ? ", " : "", scrub->replaced[i],
                            gtel_scrub_kind_name((enum gtel_scrub_kind)i));
    if (out->n == before)
        gtel_buf_str(out, GTEL_STR("nothing"));
}

/* Year, month and day of a time, UTC, without the time zone of this machine. */
static void write_date(struct gtel_buf *out, uint64_t wall_ns)
{
    char text[32];
    struct tm tm;
    time_t t = (time_t)(wall_ns / second_ns);
    if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d", &tm) > 0)
        gtel_buf_str(out, gtel_str_of(text));
}

/* Lines about what a reader of the record will not find. */
static void write_missing(const struct run *run, struct gtel_str begin, struct gtel_buf *out)
{
    struct gtel_str unread = gtel_buf_text(&run->unread);
    struct gtel_str libraries = gtel_record_env_libraries(&run->env);
    struct gtel_str line;
    while (gtel_str_line(&unread, &line))
        gtel_buf_printf(out, "%.*svalues of %.*s\n", GTEL_STR_ARG(begin), GTEL_STR_ARG(line));
    if (run->gpus == 0 && run->unread.n == 0)
        gtel_buf_printf(out, "%.*sa GPU: no source and no PCI device of this machine has one\n",
                        GTEL_STR_ARG(begin));
    if (libraries.n > 0)
        gtel_buf_printf(out, "%.*sanswers of vendor libraries (%.*s)\n", GTEL_STR_ARG(begin),
                        GTEL_STR_ARG(libraries));
}

static void write_head(void *arg, struct gtel_buf *out)
{
    const struct run *run = arg;
    struct gtel_host_facts facts;
    gtel_host_facts_read(run->capture->env, &facts);
    gtel_buf_printf(out, "# Captured by gtel %s on ", gtel_version);
    write_date(out, run->wall_ns);
    gtel_buf_str(out, GTEL_STR(".\n"));
    if (facts.kernel[0]) /* other words there would be replaced, as those of a release */
        gtel_buf_printf(out, "# kernel %s\n", facts.kernel);
    if (facts.version[0])
        gtel_buf_printf(out, "# %s %s\n", facts.system == GTEL_HOST_MAC ? "macOS" : "Windows",
                        facts.version);
    gtel_buf_str(out, GTEL_STR("# Replaced by made-up ones: "));
    write_replaced(&run->scrub, out);
    gtel_buf_str(out, GTEL_STR(".\n# A file that is empty here was there and was not read.\n"));
    gtel_buf_printf(out, "# To play it: gtel --root FILE --stepped --interval %" PRIu64 "ms\n",
                    run->capture->interval_ns / millisecond_ns);
    write_missing(run, GTEL_STR("# NOT IN HERE: "), out);
    gtel_buf_printf(out, "wall %" PRIu64 "\n", run->wall_ns / second_ns);
}

static int write_record(struct run *run, struct gtel_buf *out)
{
    struct gtel_tree *tree = NULL;
    char error[200] = "";
    int r = gtel_record_write(&run->record, write_head, run, out);
    if (r < 0)
        return r;
    if (gtel_tree_parse(gtel_buf_text(out), &tree, error, sizeof(error)) < 0) {
        gtel_log(&run->capture->log, GTEL_LOG_ERROR, "the record cannot be read back: %s", error);
        return -EBADMSG;
    }
    gtel_tree_free(tree);
    return 0;
}

static void report_result(const struct run *run)
{
    struct gtel_buf text;
    gtel_buf_init(&text, 400);
    write_replaced(&run->scrub, &text);
    gtel_buf_char(&text, '\0');
    gtel_log(&run->capture->log, GTEL_LOG_INFO,
             "replaced by made-up ones: %s; please read the file before you give it away",
             text.has_failed ? "" : text.p);
    gtel_buf_done(&text);
    gtel_buf_init(&text, REPORT_MAX);
    write_missing(run, GTEL_STR("not in the file: "), &text);
    for (struct gtel_str rest = gtel_buf_text(&text), line; gtel_str_line(&rest, &line);)
        gtel_log(&run->capture->log, GTEL_LOG_WARNING, "%.*s", GTEL_STR_ARG(line));
    gtel_buf_done(&text);
}

/*
 * That the sources find no GPU says nothing of what is in the file, and that a library cannot be
 * used is our doing: both are in the result.
 */
static void write_log(void *arg, enum gtel_log_level level, const char *text)
{
    const struct run *run = arg;
    struct gtel_str libraries = gtel_record_env_libraries(&run->env);
    struct gtel_str library;
    bool is_known = gtel_str_starts(gtel_str_of(text), GTEL_STR("no GPU found"));
    while (gtel_str_word(&libraries, &library))
        is_known = is_known || gtel_str_has(gtel_str_of(text), library);
    if (!is_known)
        run->capture->log.write(run->capture->log.arg, level, text);
}

/* The others have been logged. */
static int complain(const struct gtel_capture *capture, int r)
{
    if (r < 0 && r != -EINVAL && r != -EBADMSG)
        gtel_log(&capture->log, GTEL_LOG_ERROR, "capture: %s", gtel_error_text(r));
    return r;
}

int gtel_capture_run(const struct gtel_capture *capture, struct gtel_buf *out)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return complain(capture, -ENOMEM);
    run->capture = capture;
    gtel_buf_init(&run->unread, REPORT_MAX);
    gtel_record_init(&run->record, &run->scrub);
    int r = complain(capture, gtel_record_env_init(capture->env, &run->record, &run->env));
    if (r == 0) {
        if (capture->log.write)
            run->env.log = (struct gtel_log){write_log, run};
        learn_names(run);
        run->start_ns = gtel_env_now(capture->env);
        run->wall_ns = capture->env->ops->wall_ns(capture->env->arg);
        r = gather_and_diagnose(run);
        if (r == 0)
            r = write_record(run, out);
        r = complain(capture, r);
        if (r == 0 && capture->write)
            r = capture->write(capture->arg);
        if (r == 0)
            report_result(run);
        gtel_record_windows_close(&run->windows, capture->env);
        gtel_record_env_done(&run->env);
    }
    gtel_buf_done(&run->unread);
    gtel_record_done(&run->record);
    gtel_scrub_done(&run->scrub);
    free(run);
    return r;
}
