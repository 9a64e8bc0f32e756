/* SPDX-License-Identifier: MIT */
/* The energy that an Intel CPU package counts for itself and for the GPU in it (RAPL). */
#include "sources/intel/rapl_meter.h"

#include "base/error.h"
#include "parse/pmu_desc.h"
#include "sources/intel/perf.h"

#include <errno.h>
#include <math.h>

static const char pmu[] = "sys/bus/event_source/devices/power";
static const char powercap[] = "sys/class/powercap";

/* More than any package draws: a step beyond it is a counter that has restarted. */
static const double watts_max = 1000;

void gtel_rapl_close(const struct gtel_env *env, struct gtel_rapl_meter *meter)
{
    if (meter->handle_plus_1 != 0)
        env->ops->pmu_close(env->arg, meter->handle_plus_1 - 1);
    gtel_fs_close(env, &meter->type);
    meter->handle_plus_1 = 0;
    meter->n = 0;
    meter->is_suspect = false;
    for (size_t i = 0; i < GTEL_RAPL_DOMAINS; i++) {
        gtel_fs_close(env, &meter->counter[i].file);
        meter->counter[i] = (struct gtel_rapl_counter){.is_open = false};
    }
    meter->way = GTEL_RAPL_CLOSED;
}

/* ---- the perf PMU ---- */

/* The CPU of the only package; -ERANGE when there are several. */
static int find_cpu(const struct gtel_env *env, uint32_t *ret)
{
    uint32_t n = 0;
    int r = gtel_intel_perf_cpu(env, pmu, ret, &n);
    return r == 0 && n > 1 ? -ERANGE : r;
}

static int read_text(const struct gtel_env *env, const char *event, const char *suffix, char *buf,
                     struct gtel_str *ret)
{
    return gtel_fs_text(env, GTEL_FS_AT("%s/events/%s%s", pmu, event, suffix), buf, 64, ret);
}

/*
 * Takes an event (kernel: arch/x86/events/rapl.c): its number, and a scale such as
 * 2.3283064365386962890625e-10, which are 2^-32, in joules. It counts from 0 when it is opened.
 */
static int take_event(const struct gtel_env *env, enum gtel_rapl_domain domain,
                      struct gtel_rapl_meter *meter, uint64_t *config)
{
    static const char *const names[GTEL_RAPL_DOMAINS] = {"energy-gpu", "energy-pkg"};
    char buf[64];
    struct gtel_str text;
    double scale = 0;
    int r = read_text(env, names[domain], "", buf, &text);
    if (r == 0)
        r = gtel_pmu_term(text, GTEL_STR("event"), &config[meter->n]);
    if (r == 0)
        r = read_text(env, names[domain], ".unit", buf, &text);
    if (r == 0 && !gtel_str_eq(text, GTEL_STR("Joules")))
        r = -EOPNOTSUPP;
    if (r == 0)
        r = read_text(env, names[domain], ".scale", buf, &text);
    if (r == 0)
        r = gtel_pmu_scale(text, &scale);
    if (r < 0)
        return r;
    meter->event[meter->n++] = domain;
    meter->counter[domain] = (struct gtel_rapl_counter){
        .is_open = true, .has_counted = true, .scale = scale, .energy.last_ns = 1};
    return 0;
}

static bool is_suspect_error(int r)
{
    return r < 0 && r != -ENOENT && r != -EOPNOTSUPP;
}

/* Opens what the PMU has of the two; the error of the GPU's. */
static int open_perf(const struct gtel_env *env, struct gtel_rapl_meter *meter)
{
    uint64_t config[GTEL_RAPL_DOMAINS];
    int r = gtel_fs_open(env, &meter->type, GTEL_FS_AT("%s/type", pmu));
    if (r == 0)
        r = gtel_fs_read_u64(env, &meter->type, &meter->type_number);
    if (r == 0)
        r = meter->type_number > UINT32_MAX ? -EINVAL : find_cpu(env, &meter->cpu);
    meter->pmu_error = r;
    if (r < 0)
        return r;
    int of_gpu = take_event(env, GTEL_RAPL_GPU, meter, config);
    int of_package = take_event(env, GTEL_RAPL_PACKAGE, meter, config);
    meter->event_error = of_gpu;
    if (meter->n == 0)
        return of_gpu;
    meter->is_suspect = is_suspect_error(of_gpu) || is_suspect_error(of_package);
    r = gtel_env_pmu_open(env, (uint32_t)meter->type_number, config, meter->n, meter->cpu);
    if (r < 0)
        return r;
    meter->handle_plus_1 = r + 1;
    meter->way = GTEL_RAPL_PERF;
    return of_gpu;
}

static int read_perf(const struct gtel_env *env, const struct gtel_rapl_meter *meter,
                     uint64_t ret[GTEL_RAPL_DOMAINS])
{
    uint64_t value[GTEL_RAPL_DOMAINS] = {0};
    uint64_t enabled_ns;
    int r = env->ops->pmu_read(env->arg, meter->handle_plus_1 - 1, value, meter->n, &enabled_ns);
    for (size_t i = 0; i < meter->n; i++)
        ret[meter->event[i]] = value[i];
    return r;
}

/* Whether the counters that are open still are those of the PMU. */
static bool is_perf_current(const struct gtel_env *env, const struct gtel_rapl_meter *meter)
{
    uint64_t type;
    uint32_t cpu;
    return gtel_fs_read_u64(env, &meter->type, &type) == 0 && type == meter->type_number &&
           find_cpu(env, &cpu) == 0 && cpu == meter->cpu;
}

/* ---- powercap ---- */

/* Zones found, by domain: how many, and the name of the first one's directory. */
struct zones {
    size_t n[GTEL_RAPL_DOMAINS];
    struct gtel_str name[GTEL_RAPL_DOMAINS];
};

/*
 * "intel-rapl:0" called package-0, "intel-rapl:0:1" called uncore (kernel: Documentation/power/
 * powercap). intel-rapl-mmio counts the same again.
 */
static int find_zones(const struct gtel_env *env, struct gtel_arena *arena, struct zones *ret)
{
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(env, powercap, arena, 256, &names, &n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        char buf[64];
        struct gtel_str name;
        if (!gtel_str_starts(names[i], GTEL_STR("intel-rapl:")))
            continue;
        r = gtel_fs_text(env, GTEL_FS_AT("%s/%.*s/name", powercap, GTEL_STR_ARG(names[i])), buf,
                         sizeof(buf), &name);
        bool is_gpu = r == 0 && gtel_str_eq(name, GTEL_STR("uncore"));
        bool is_package = r == 0 && gtel_str_starts(name, GTEL_STR("package-"));
        if (!is_gpu && !is_package)
            continue;
        enum gtel_rapl_domain domain = is_gpu ? GTEL_RAPL_GPU : GTEL_RAPL_PACKAGE;
        if (ret->n[domain]++ == 0)
            ret->name[domain] = names[i];
    }
    return r;
}

static int open_zone(const struct gtel_env *env, struct gtel_str name,
                     struct gtel_rapl_counter *zone)
{
    if (zone->is_open)
        return 0;
    int r =
        gtel_fs_u64(env, GTEL_FS_AT("%s/%.*s/max_energy_range_uj", powercap, GTEL_STR_ARG(name)),
                    &zone->energy.range);
    if (r == 0)
        r = gtel_fs_open(env, &zone->file,
                         GTEL_FS_AT("%s/%.*s/energy_uj", powercap, GTEL_STR_ARG(name)));
    zone->is_open = r == 0;
    zone->scale = 1e-6;
    zone->energy.most = watts_max * 1e6;
    return r;
}

/*
 * Opens the zones of the two that are not open yet, since rights are given one by one, too; the
 * error of the GPU's.
 */
static int open_powercap(const struct gtel_env *env, struct gtel_arena *arena,
                         struct gtel_rapl_meter *meter)
{
    struct zones zones = {0};
    int error[GTEL_RAPL_DOMAINS];
    int r = find_zones(env, arena, &zones);
    meter->packages = zones.n[GTEL_RAPL_PACKAGE];
    if (r == 0 && (zones.n[GTEL_RAPL_PACKAGE] > 1 || zones.n[GTEL_RAPL_GPU] > 1))
        r = -ERANGE;
    if (r < 0)
        return r;
    for (size_t i = 0; i < GTEL_RAPL_DOMAINS; i++) {
        error[i] = zones.n[i] > 0 ? open_zone(env, zones.name[i], &meter->counter[i]) : -ENOENT;
        meter->way = error[i] == 0 ? GTEL_RAPL_POWERCAP : meter->way;
    }
    if (zones.n[GTEL_RAPL_GPU] > 0) {
        (void)gtel_str_copy(meter->zone_path, sizeof(meter->zone_path),
                            gtel_str_of(GTEL_FS_AT("%s/%.*s/energy_uj", powercap,
                                                   GTEL_STR_ARG(zones.name[GTEL_RAPL_GPU]))));
    }
    return error[GTEL_RAPL_GPU];
}

static int read_powercap(const struct gtel_env *env, const struct gtel_rapl_meter *meter,
                         uint64_t ret[GTEL_RAPL_DOMAINS])
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < GTEL_RAPL_DOMAINS; i++)
        if (meter->counter[i].is_open)
            r = gtel_fs_read_u64(env, &meter->counter[i].file, &ret[i]);
    return r;
}

/* ---- either ---- */

bool gtel_rapl_has(const struct gtel_rapl_meter *meter, enum gtel_rapl_domain domain)
{
    const struct gtel_rapl_counter *counter = &meter->counter[domain];
    return counter->is_open && (counter->has_counted || counter->energy.last_ns == 0);
}

void gtel_rapl_refresh(const struct gtel_env *env, struct gtel_arena *arena,
                       struct gtel_rapl_meter *meter)
{
    bool is_whole = true;
    for (size_t i = 0; i < GTEL_RAPL_DOMAINS; i++)
        is_whole = is_whole && meter->counter[i].is_open;
    if (meter->way == GTEL_RAPL_PERF && !meter->is_suspect && is_perf_current(env, meter))
        return;
    if (meter->way != GTEL_RAPL_POWERCAP) {
        gtel_rapl_close(env, meter);
        meter->event_error = 0;
        meter->packages = 0;
        meter->error[GTEL_RAPL_POWERCAP] = 0;
        meter->error[GTEL_RAPL_PERF] = open_perf(env, meter);
        if (meter->way != GTEL_RAPL_CLOSED)
            return; /* what the PMU does not count the zones do not count either */
        gtel_rapl_close(env, meter);
    } else if (is_whole) {
        return;
    }
    meter->error[GTEL_RAPL_POWERCAP] = open_powercap(env, arena, meter);
    if (meter->way == GTEL_RAPL_CLOSED)
        gtel_rapl_close(env, meter);
}

/*
 * Nothing is counted over a sleep of the host (ACPI S3): the package's registers lose their values,
 * and what is found then looks like a turn of 32 bits, to the kernel's PMU, too. After a step that
 * is not known to be right the sum starts again at 0, so that no rate is computed over it. Where it
 * was reported as 0 before, that would look like a step of 0: no reading then.
 */
static double joules_of(struct gtel_rapl_counter *counter, uint64_t value, uint64_t t_ns,
                        bool has_slept)
{
    bool was_zero = counter->has_counted && counter->energy.sum == 0;
    if (has_slept)
        counter->energy.last = value;
    bool is_step = gtel_counter_add(&counter->energy, value, t_ns) == GTEL_COUNTER_STEP;
    if (!is_step)
        counter->energy.sum = 0;
    counter->has_counted = counter->has_counted || value > 0;
    bool is_known = counter->has_counted && (is_step || !was_zero);
    return is_known ? (double)counter->energy.sum * counter->scale : NAN;
}

int gtel_rapl_read(const struct gtel_env *env, struct gtel_rapl_meter *meter, uint64_t t_ns,
                   double ret[GTEL_RAPL_DOMAINS])
{
    uint64_t value[GTEL_RAPL_DOMAINS] = {0};
    bool is_closed = meter->way == GTEL_RAPL_CLOSED;
    bool has_slept = !is_closed && gtel_env_has_slept(env, &meter->suspended_ns);
    int r = meter->way == GTEL_RAPL_PERF ? read_perf(env, meter, value)
                                         : read_powercap(env, meter, value);
    for (size_t i = 0; i < GTEL_RAPL_DOMAINS; i++)
        ret[i] = r == 0 && meter->counter[i].is_open
                     ? joules_of(&meter->counter[i], value[i], t_ns, has_slept)
                     : NAN;
    if (r < 0)
        gtel_rapl_close(env, meter);
    return r;
}
