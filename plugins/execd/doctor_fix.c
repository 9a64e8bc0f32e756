/* SPDX-License-Identifier: MIT */
/* The end of what `gtel doctor` prints: what can be fixed. */
#include "execd/doctor_fix.h"

#include "gtel.h"

enum { BRINGS_MAX = 600, BLOCK_MAX = 16384 };

void gtel_doctor_fixes_done(struct gtel_doctor_fixes *fixes)
{
    for (size_t i = 0; i < fixes->n; i++)
        gtel_buf_done(&fixes->brings[i]);
    fixes->n = 0;
}

size_t gtel_doctor_fixes_text(struct gtel_doctor_fixes *fixes, struct gtel_str fix,
                              const char *brings)
{
    size_t i = 0;
    while (i < fixes->n && !gtel_str_eq(fixes->fix[i], fix))
        i++;
    if (i == GTEL_DOCTOR_FIXES_MAX)
        return 0;
    struct gtel_buf *text = &fixes->brings[i];
    if (i == fixes->n) {
        gtel_buf_init(text, BRINGS_MAX);
        fixes->fix[fixes->n++] = fix;
    }
    size_t before = text->n;
    if (!gtel_str_has(gtel_buf_text(text), gtel_str_of(brings)))
        gtel_buf_printf(text, "%s%s", before > 0 ? ", " : "", brings);
    if (text->has_failed)
        gtel_buf_back(text, before); /* eight GPUs and more lack the same */
    return i + 1;
}

size_t gtel_doctor_fixes_add(struct gtel_doctor_fixes *fixes, const struct gtel_finding *finding)
{
    struct gtel_buf brings;
    size_t number = 0;
    if (finding->fix.n == 0)
        return 0;
    gtel_buf_init(&brings, GTEL_KEY_MAX + 64);
    gtel_buf_str(&brings, gtel_measurement_row((enum gtel_measurement)finding->measurement)->name);
    if (finding->device)
        gtel_buf_printf(&brings, " of %s", finding->device->key);
    else
        gtel_buf_printf(&brings, " of all GPUs of %s", gtel_sources[finding->source]->name);
    gtel_buf_char(&brings, '\0');
    if (!brings.has_failed)
        number = gtel_doctor_fixes_text(fixes, finding->fix, brings.p);
    gtel_buf_done(&brings);
    return number;
}

static bool is_named(const struct gtel_doctor_fixes *fixes, const char *name)
{
    for (size_t i = 0; i < fixes->n; i++)
        if (gtel_str_has(fixes->fix[i], gtel_str_of(name)))
            return true;
    return false;
}

/* Whether the advice asks for a right that the program lacks. */
static bool is_missing(const struct gtel_doctor_fixes *fixes, const struct gtel_host_facts *facts,
                       enum gtel_right right)
{
    /* Kernels before 5.8 have CAP_SYS_ADMIN in the place of CAP_PERFMON (capabilities(7)), and the
     * advice names both. */
    bool has_perfmon = facts->release.major == 0 || gtel_release_is_at_least(&facts->release, 5, 8);
    bool is_other = right == (has_perfmon ? GTEL_RIGHT_SYS_ADMIN : GTEL_RIGHT_PERFMON);
    return is_named(fixes, gtel_host_right_name(right)) && facts->right[right] != GTEL_YES &&
           !is_other;
}

/*
 * The rights to give, as systemd writes them: those that are missing, and those that the program
 * has been given before, which the commands would take away.
 */
static void put_rights(const struct gtel_doctor_fixes *fixes, const struct gtel_host_facts *facts,
                       struct gtel_buf *out)
{
    size_t missing = 0;
    bool is_given = facts->uid != UINT64_MAX && facts->uid != 0;
    for (size_t i = 0; i < GTEL_RIGHTS; i++)
        missing += is_missing(fixes, facts, (enum gtel_right)i);
    for (size_t i = 0; missing > 0 && i < GTEL_RIGHTS; i++)
        if (is_missing(fixes, facts, (enum gtel_right)i) ||
            (is_given && facts->right[i] == GTEL_YES))
            gtel_buf_printf(out, "%s%s", out->n > 0 ? " " : "",
                            gtel_host_right_name((enum gtel_right)i));
}

/* Asked for beside the right, where that is not enough (perf.c). */
static const char setting[] = "kernel.perf_event_paranoid=2";

/* What brings the rights that the advice names; the advice cannot know who runs the program. */
enum step { STEP_SETTING, STEP_RIGHTS, STEP_GROUP, STEPS };

/* The commands of one step, a line each; nothing where it is not needed. rights: of put_rights. */
static void put_step(const struct gtel_doctor_fixes *fixes, const struct gtel_host_facts *facts,
                     enum step step, struct gtel_str rights, struct gtel_buf *out)
{
    if (step == STEP_SETTING && is_named(fixes, setting))
        gtel_buf_printf(out,
                        "sysctl %s\n"
                        "echo %s > /etc/sysctl.d/90-gtel.conf\n",
                        setting, setting);
    if (step == STEP_RIGHTS && rights.n > 0)
        gtel_buf_printf(out,
                        "mkdir -p /etc/systemd/system/telegraf.service.d\n"
                        "printf '[Service]\\nAmbientCapabilities=%.*s\\n' \\\n"
                        "  > /etc/systemd/system/telegraf.service.d/gtel.conf\n"
                        "systemctl daemon-reload; systemctl restart telegraf\n",
                        GTEL_STR_ARG(rights));
    if (step == STEP_GROUP && is_named(fixes, "render") && facts->is_render != GTEL_YES)
        gtel_buf_str(out, GTEL_STR("usermod -aG render telegraf; systemctl restart telegraf\n"));
}

static void put_lines(struct gtel_buf *out, const char *prefix, struct gtel_str text)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line))
        gtel_buf_printf(out, "%s%.*s\n", prefix, GTEL_STR_ARG(line));
}

static void put_drop_in(const struct gtel_host_facts *facts, struct gtel_str rights,
                        const char *prefix, struct gtel_buf *out)
{
    if (rights.n == 0 || !(facts->has_drop_in || facts->has_own_drop_in))
        return;
    gtel_buf_char(out, '\n');
    if (facts->has_own_drop_in)
        put_lines(out, prefix,
                  GTEL_STR("Telegraf's service has the rights that /" GTEL_HOST_OWN_DROP_IN
                           "\ngives it, which `sudo -u telegraf gtel doctor` does not have.\n"));
    else
        put_lines(out, prefix,
                  GTEL_STR("The package telegraf-gtel gives Telegraf's service CAP_PERFMON, which "
                           "`sudo -u\ntelegraf gtel doctor` does not have: /" GTEL_HOST_DROP_IN
                           ".\n"
                           "gtel-processes.conf beside it says how to give CAP_SYS_PTRACE.\n"));
}

/* setcap(8) writes the rights as "cap_perfmon,cap_sys_ptrace+ep". */
static void put_by_hand(struct gtel_str rights, struct gtel_buf *out)
{
    gtel_buf_str(out, GTEL_STR("or, for gtel by hand; any user who may start it sees what these "
                               "rights\nshow, so give it to one group:\n"
                               "  gtel=$(command -v gtel)\n"
                               "  chown root:telegraf \"$gtel\"; chmod 0750 \"$gtel\"\n"
                               "  setcap "));
    for (size_t i = 0; i < rights.n; i++)
        gtel_buf_char(out, rights.p[i] == ' ' ? ',' : gtel_lower(rights.p[i]));
    gtel_buf_str(out, GTEL_STR("+ep \"$gtel\"\n"));
}

/*
 * Whether a line of advice is a command that may stand in a script as it is. Advice comes from
 * helpers and may name files: what it could do is limited to these programs, without a shell's
 * other signs.
 */
static bool is_command(struct gtel_str line)
{
    static const char *const programs[] = {"chmod ", "echo ", "modprobe ", "sysctl "};
    static const struct gtel_str signs = GTEL_STR_INIT(" ./_-=+*>:");
    bool is_known = false;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(programs); i++)
        is_known = is_known || gtel_str_starts(line, gtel_str_of(programs[i]));
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        is_known = is_known && (gtel_is_alnum(c) || gtel_str_find(signs, c) < signs.n);
    }
    return is_known;
}

/* The first line of advice is prose; with "or:" at its end the commands are another way. */
static void put_script_fix(struct gtel_str fix, struct gtel_buf *out)
{
    struct gtel_str prose;
    struct gtel_str line;
    if (!gtel_str_line(&fix, &prose))
        return;
    bool is_other = gtel_str_ends(prose, GTEL_STR(" or:"));
    while (gtel_str_line(&fix, &line))
        if (is_command(line))
            gtel_buf_printf(out, "%s%.*s\n", is_other ? "# " : "", GTEL_STR_ARG(line));
}

static void put_head(const struct gtel_doctor_fixes *fixes, const struct gtel_host_facts *facts,
                     bool is_script, struct gtel_buf *out)
{
    bool is_windows = facts->system == GTEL_HOST_WINDOWS;
    if (is_script && !is_windows)
        gtel_buf_str(out, GTEL_STR("#!/bin/sh\n"));
    if (fixes->n == 0)
        gtel_buf_str(out, is_script ? GTEL_STR("# There is nothing that gtel knows how to fix.\n")
                                    : GTEL_STR("\nNothing is missing that could be fixed.\n"));
    else if (!is_script)
        gtel_buf_str(out, GTEL_STR("\nWhat can be fixed\n"));
    else if (is_windows)
        gtel_buf_str(out, GTEL_STR("# What gtel doctor would fix on this machine, by hand.\n"));
    else
        gtel_buf_str(out, GTEL_STR("# What gtel doctor would fix on this machine. Nothing of it "
                                   "has been run: read it,\n# remove what you do not want, and run "
                                   "it as root. For collectd, write collectd for\n"
                                   "# telegraf.\nset -eu\n"));
}

/* Root lacks no right, and the agent often runs as another user. */
static void put_root(const struct gtel_host_facts *facts, const char *prefix, struct gtel_buf *out)
{
    if (facts->system != GTEL_HOST_LINUX || facts->uid != 0)
        return;
    gtel_buf_char(out, '\n');
    put_lines(
        out, prefix,
        GTEL_STR("This is what root may read, as Debian's collectd does; Telegraf's user may read\n"
                 "less. To check as that user, with the rights of its unit (omit those that it\n"
                 "does not have):\n"
                 "  sudo systemd-run --pipe --uid=telegraf \\\n"
                 "    -p AmbientCapabilities=\"CAP_PERFMON CAP_SYS_PTRACE\" \\\n"
                 "    -p SupplementaryGroups=render gtel doctor\n"));
}

static void put_fix(const struct gtel_doctor_fixes *fixes, size_t i, struct gtel_buf *out)
{
    gtel_buf_printf(out, "  [%zu] for ", i + 1);
    gtel_buf_wrap(out, 10, 6, gtel_buf_text(&fixes->brings[i]));
    gtel_buf_str(out, GTEL_STR("      "));
    gtel_buf_wrap(out, 6, 6, fixes->fix[i]);
}

static void put_commands(const struct gtel_doctor_fixes *fixes, const struct gtel_host_facts *facts,
                         bool is_script, struct gtel_buf *block, struct gtel_buf *out)
{
    static const char *const reasons[STEPS] = {
        "The setting named above, now and from each start on",
        "The rights named above, for Telegraf's service", "The group named above, for Telegraf"};
    struct gtel_buf names;
    size_t n = 0;
    gtel_buf_init(&names, 256);
    put_rights(fixes, facts, &names);
    struct gtel_str rights = gtel_buf_text(&names);
    put_drop_in(facts, rights, is_script ? "# " : "", out);
    for (enum step step = STEP_SETTING; step < STEPS; step++) {
        gtel_buf_reset(block);
        put_step(fixes, facts, step, rights, block);
        if (block->n == 0)
            continue;
        if (is_script)
            gtel_buf_printf(out, "\n# %s\n", reasons[step]);
        else
            gtel_buf_str(out, n++ > 0 ? GTEL_STR("and\n")
                                      : GTEL_STR("\nHow, as root; for collectd, write collectd for "
                                                 "telegraf:\n"));
        put_lines(out, is_script ? "" : "  ", gtel_buf_text(block));
        if (step == STEP_RIGHTS && !is_script)
            put_by_hand(rights, out);
    }
    gtel_buf_done(&names);
}

void gtel_doctor_fixes_write(const struct gtel_doctor_fixes *fixes,
                             const struct gtel_host_facts *facts, bool is_script,
                             struct gtel_buf *out)
{
    struct gtel_buf block;
    gtel_buf_init(&block, BLOCK_MAX);
    put_head(fixes, facts, is_script, out);
    for (size_t i = 0; i < fixes->n; i++) {
        gtel_buf_reset(&block);
        put_fix(fixes, i, &block);
        if (is_script)
            gtel_buf_char(out, '\n');
        put_lines(out, is_script ? "#" : "", gtel_buf_text(&block));
        if (is_script)
            put_script_fix(fixes->fix[i], out);
    }
    put_commands(fixes, facts, is_script, &block, out);
    put_root(facts, is_script ? "# " : "", out);
    gtel_buf_done(&block);
}
