/* SPDX-License-Identifier: MIT */
/* The batch job of a process. */
#include "parse/job.h"

/* Three levels of a path, and what is known of those above. */
struct level {
    struct gtel_str above; /* the parent's parent */
    struct gtel_str parent;
    struct gtel_str name;
    bool is_below_oar;
    uint64_t manager_plus_1; /* whose number; 0: none */
};

/* How many digits it begins with. */
static size_t digits(struct gtel_str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* Whether it is of these characters, and not empty. */
static bool is_of(struct gtel_str s, struct gtel_str set)
{
    for (size_t i = 0; i < s.n; i++)
        if (gtel_str_find(set, s.p[i]) == set.n)
            return false;
    return s.n > 0;
}

/* ---- Slurm ---- */

/* slurmstepd.scope, or NODE_slurmstepd.scope (slurm: src/plugins/cgroup/v2/cgroup_v2.c). */
static bool is_step_scope(struct gtel_str name)
{
    return gtel_str_eq(name, GTEL_STR("slurmstepd.scope")) ||
           gtel_str_ends(name, GTEL_STR("_slurmstepd.scope"));
}

/* /slurm/uid_U or /slurm_NODE/uid_U (slurm: src/interfaces/cgroup.c). */
static bool is_user_folder(const struct level *level)
{
    struct gtel_str user;
    return gtel_str_between(level->parent, GTEL_STR("uid_"), GTEL_STR_NONE, &user) &&
           digits(user) == user.n &&
           (gtel_str_eq(level->above, GTEL_STR("slurm")) ||
            gtel_str_starts(level->above, GTEL_STR("slurm_")));
}

static bool is_slurm(const struct level *level, struct gtel_str *ret)
{
    enum { DIGITS_MAX = 10 }; /* 32 bits */
    return gtel_str_between(level->name, GTEL_STR("job_"), GTEL_STR_NONE, ret) &&
           ret->n <= DIGITS_MAX && digits(*ret) == ret->n &&
           (is_step_scope(level->parent) || is_user_folder(level));
}

/*
 * "s" and 13 digits of Crockford's base 32 for 64 bits, so that the first is at most F (slurm:
 * src/common/sluid.c).
 */
static bool is_sluid(const struct level *level, struct gtel_str *ret)
{
    enum { DIGITS = 13 };
    struct gtel_str number;
    *ret = level->name;
    return gtel_str_between(level->name, GTEL_STR("s"), GTEL_STR_NONE, &number) &&
           number.n == DIGITS && is_of(number, GTEL_STR("0123456789ABCDEFGHJKMNPQRSTVWXYZ")) &&
           is_of(gtel_str_head(number, 1), GTEL_STR("0123456789ABCDEF")) &&
           is_step_scope(level->parent);
}

/* ---- the others ---- */

/* NUMBER[INDEX].SERVER, where only the number is always there. */
static bool is_pbs_id(struct gtel_str name)
{
    size_t n = digits(name);
    struct gtel_str rest = gtel_str_skip(name, n);
    struct gtel_str index = gtel_str_skip(rest, 1);
    if (n > 0 && gtel_str_starts(rest, GTEL_STR("[")) && digits(index) > 0)
        rest = gtel_str_skip(index, digits(index) + 1);
    return n > 0 && gtel_str_starts(rest, GTEL_STR("."));
}

/*
 * In the folder of the service, whose name can be configured; PBS 18 has a slice of its own for
 * each job, or with no systemd a folder (openpbs: src/hooks/cgroups/pbs_cgroups.PY).
 */
static bool is_pbs(const struct level *level, struct gtel_str *ret)
{
    bool has_ids = gtel_str_eq(level->parent, GTEL_STR("jobid"));
    bool is_known = gtel_str_eq(level->above, GTEL_STR("pbs_jobs.service")) ||
                    gtel_str_eq(level->above, GTEL_STR("pbspro.service"));
    *ret = level->name;
    if (gtel_str_eq(level->parent, GTEL_STR("pbspro.slice")))
        return gtel_str_between(level->name, GTEL_STR("pbspro-"), GTEL_STR(".slice"), ret) &&
               digits(*ret) > 0;
    if ((is_known && (has_ids || gtel_str_eq(level->parent, GTEL_STR("jobs")))) ||
        gtel_str_eq(level->parent, GTEL_STR("pbspro")))
        return digits(level->name) > 0;
    return has_ids && gtel_str_ends(level->above, GTEL_STR(".service")) && is_pbs_id(level->name);
}

static bool is_torque(const struct level *level, struct gtel_str *ret)
{
    *ret = level->name;
    return gtel_str_eq(level->parent, GTEL_STR("torque")) && digits(level->name) > 0;
}

/*
 * imp-shell-RANK-ID.service of a system, shell-RANK-ID.service of somebody's own instance; an id is
 * "f" and base 58 (flux-core: src/modules/job-exec/bulk-exec.c, src/common/libutil/fluid.c). What a
 * user's own manager runs can be anything. Users below 1000 are of the system (systemd:
 * docs/UIDS-GIDS.md) and have no further numbers of users to hand out.
 */
static bool is_flux(const struct level *level, struct gtel_str *ret)
{
    enum { SYSTEM_USERS = 1000 };
    struct gtel_str rest;
    bool is_system =
        gtel_str_between(level->name, GTEL_STR("imp-shell-"), GTEL_STR(".service"), &rest);
    if (!is_system &&
        !gtel_str_between(level->name, GTEL_STR("shell-"), GTEL_STR(".service"), &rest))
        return false;
    struct gtel_str id = gtel_str_skip(rest, digits(rest) + 1);
    *ret = id;
    if (level->manager_plus_1 > (is_system ? SYSTEM_USERS : 0))
        return false;
    return digits(rest) > 0 && rest.n > digits(rest) && rest.p[digits(rest)] == '-' &&
           gtel_str_starts(id, GTEL_STR("f")) &&
           is_of(gtel_str_skip(id, 1),
                 GTEL_STR("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"));
}

/*
 * X-jobs.slice/X.JOB.scope, and X.JOB.TASK.scope of an array; a tight parallel environment has a
 * slice of its own, X-jobs-JOB.slice, with X.JOB.master.scope and X.JOB-TASK.scope (hpc-gridware:
 * clusterscheduler, ocs_Job.cc).
 */
static bool is_grid_engine(const struct level *level, struct gtel_str *ret)
{
    struct gtel_str cell = gtel_str_head(level->name, gtel_str_find(level->name, '.'));
    struct gtel_str id = gtel_str_skip(level->name, cell.n + 1);
    struct gtel_str slice = gtel_str_skip(level->parent, cell.n);
    size_t n = digits(id);
    if (cell.n == 0 || n == 0 || !gtel_str_starts(level->parent, cell) ||
        !gtel_str_ends(level->name, GTEL_STR(".scope")) ||
        !(gtel_str_eq(slice, GTEL_STR("-jobs.slice")) ||
          gtel_str_between(slice, GTEL_STR("-jobs-"), GTEL_STR(".slice"), &slice)))
        return false;
    struct gtel_str task = gtel_str_skip(id, n + 1);
    if (id.p[n] == '.' && digits(task) > 0)
        n += 1 + digits(task);
    *ret = gtel_str_head(id, n);
    return id.p[n] == '.' || id.p[n] == '-';
}

/* /oar/USER_JOB, or oar-uUID-jJOB… below oar.slice (oar: FAQ; alumet: its patterns of OAR 3). */
static bool is_oar(const struct level *level, struct gtel_str *ret)
{
    struct gtel_str rest;
    size_t at = level->name.n;
    while (at > 0 && level->name.p[at - 1] != '_')
        at--;
    *ret = gtel_str_skip(level->name, at);
    if (gtel_str_eq(level->parent, GTEL_STR("oar")))
        return at > 1 && ret->n > 0 && digits(*ret) == ret->n;
    if (!level->is_below_oar ||
        !gtel_str_between(level->name, GTEL_STR("oar-u"), GTEL_STR_NONE, &rest) ||
        digits(rest) == 0)
        return false;
    rest = gtel_str_skip(rest, digits(rest));
    *ret = gtel_str_head(gtel_str_skip(rest, 2), digits(gtel_str_skip(rest, 2)));
    return gtel_str_starts(rest, GTEL_STR("-j")) && ret->n > 0;
}

/* ---- paths ---- */

/* Writes *ret where the level is a job's. */
static void record_job(const struct level *level, struct gtel_job *ret)
{
    static bool (*const rules[])(const struct level *, struct gtel_str *) = {
        is_slurm, is_sluid, is_pbs, is_torque, is_grid_engine, is_oar};
    struct gtel_str id;
    if (is_flux(level, &id))
        *ret = (struct gtel_job){.id = id, .manager_plus_1 = level->manager_plus_1};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && level->manager_plus_1 == 0; i++)
        if (rules[i](level, &id))
            *ret = (struct gtel_job){.id = id, .is_sluid = rules[i] == is_sluid};
}

static void record_place(struct level *level)
{
    struct gtel_str user;
    uint64_t number;
    level->is_below_oar |= gtel_str_eq(level->name, GTEL_STR("oar.slice"));
    if (!gtel_str_between(level->name, GTEL_STR("user@"), GTEL_STR(".service"), &user))
        return;
    bool is_number = gtel_str_u64(user, &number) == 0 && number <= UINT32_MAX;
    level->manager_plus_1 = (is_number ? number : UINT32_MAX) + 1;
}

struct gtel_job gtel_job_find(struct gtel_str path)
{
    struct level level = {.name = GTEL_STR_NONE};
    struct gtel_job job = {.id = GTEL_STR_NONE};
    struct gtel_str rest = path;
    bool is_outside = false; /* the path comes from another cgroup namespace */
    while (gtel_str_part(&rest, '/', &level.name)) {
        is_outside |= gtel_str_eq(level.name, GTEL_STR(".."));
        if (level.name.n == 0 || gtel_str_eq(level.name, GTEL_STR("..")))
            continue;
        if (job.is_sluid && !is_outside && job.step.n == 0 && gtel_str_eq(level.parent, job.id) &&
            gtel_str_starts(level.name, GTEL_STR("step_")))
            job.step = gtel_str_head(path, (size_t)(level.name.p - path.p) + level.name.n);
        record_job(&level, &job);
        record_place(&level);
        level.above = level.parent;
        level.parent = level.name;
    }
    return job;
}

bool gtel_job_title(struct gtel_str cmdline, struct gtel_str *ret)
{
    static const struct gtel_str begin = GTEL_STR_INIT("slurmstepd: [");
    enum { DIGITS_MAX = 10 };
    struct gtel_str title = gtel_str_head(cmdline, gtel_str_find(cmdline, '\0'));
    struct gtel_str inside; /* JOB.STEP, and perhaps a word */
    if (!gtel_str_between(title, begin, GTEL_STR("]"), &inside))
        return false;
    size_t n = digits(inside);
    if (n == 0 || n > DIGITS_MAX || n + 1 >= inside.n || inside.p[n] != '.')
        return false;
    *ret = gtel_str_head(inside, n);
    return true;
}
