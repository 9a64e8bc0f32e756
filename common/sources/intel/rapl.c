/* SPDX-License-Identifier: MIT */
/* Source rapl: power and package temperature of GPUs that are part of an Intel CPU. */
#include "sources/drm/hwmon.h"
#include "host/kernel.h"
#include "sources/drm/card_source.h"
#include "sources/intel/perf.h"
#include "sources/intel/rapl_meter.h"

#include "base/error.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Position in the list of origins, behind those of the ways of an open meter. */
enum { CORETEMP = GTEL_RAPL_WAYS - GTEL_RAPL_PERF };

static const char package_0[] = "sys/devices/platform/coretemp.0";
static const char package_1[] = "sys/devices/platform/coretemp.1";

/*
 * The sensor of the CPU package (kernel: Documentation/hwmon/coretemp.rst), millidegrees. The GPU
 * is one of the places that it watches, and a core is often hotter: so it is a temperature of its
 * own and never stands for the GPU's.
 */
struct sensor {
    struct gtel_fs_file file;
    uint64_t limit; /* 0: not known */
    uint64_t critical;
};

struct rapl_card {
    struct gtel_card *card;
    bool is_integrated;
    int logged;      /* the last refusal that was, or 0 */
    bool has_failed; /* the last read */
    int sensor_error;
    struct gtel_rapl_meter meter;
    struct sensor sensor;
    uint64_t read_ns;
};

static const char *const drivers[] = {"i915", "xe", NULL};

static void close_card(const struct gtel_env *env, void *own)
{
    struct rapl_card *card = own;
    gtel_rapl_close(env, &card->meter);
    gtel_fs_close(env, &card->sensor.file);
}

/* ---- discovery ---- */

/*
 * Integrated graphics are always 0000:00:02.0, and their driver gives them no hwmon directory: a
 * discrete card that a virtual machine has there must not get the values of a CPU.
 */
static int is_integrated(const struct gtel_env *env, const struct gtel_card *card)
{
    char path[GTEL_FS_PATH_MAX];
    if (strcmp(card->drm.key, "0000:00:02.0") != 0 || card->drm.vendor_id != 0x8086)
        return 0;
    int r = gtel_hwmon_folder(env, card->path, path);
    return r == -ENOENT ? 1 : r;
}

/* A limit beside the sensor; it may change, but not within a Rescan interval. */
static uint64_t read_limit(const struct gtel_env *env, const char *dir, const char *item)
{
    uint64_t value = 0;
    int r = gtel_fs_u64(env, GTEL_FS_AT("%s/temp1_%s", dir, item), &value);
    return r == 0 ? value : 0;
}

/* The package is channel 1, and cores begin at 2 (kernel: drivers/hwmon/coretemp.c). */
static int find_sensor(const struct gtel_env *env, struct sensor *sensor)
{
    char dir[GTEL_FS_PATH_MAX];
    char buf[64];
    struct gtel_str label;
    if (gtel_fs_exists(env, package_1))
        return -ERANGE; /* several packages */
    int r = gtel_hwmon_folder(env, package_0, dir);
    if (r == 0)
        r = gtel_fs_text(env, GTEL_FS_AT("%s/temp1_label", dir), buf, sizeof(buf), &label);
    if (r == 0 && !gtel_str_eq(label, GTEL_STR("Package id 0")))
        r = -ENOENT;
    if (r < 0)
        return r;
    sensor->limit = read_limit(env, dir, "max");
    sensor->critical = read_limit(env, dir, "crit");
    return gtel_fs_is_open(&sensor->file)
               ? 0
               : gtel_fs_open(env, &sensor->file, GTEL_FS_AT("%s/temp1_input", dir));
}

static int refresh(void *state, void *own)
{
    struct gtel_card_source *rapl = state;
    struct rapl_card *card = own;
    if (!card->is_integrated) {
        int r = is_integrated(rapl->env, card->card);
        if (r <= 0)
            return r;
        card->is_integrated = true;
    }
    gtel_arena_reset(&rapl->arena);
    gtel_rapl_refresh(rapl->env, &rapl->arena, &card->meter);
    int r = card->meter.way == GTEL_RAPL_CLOSED ? card->meter.error[GTEL_RAPL_PERF] : 0;
    if (r == 0 || gtel_error_is_refusal(r))
        gtel_intel_perf_log(rapl->env, "rapl", card->card->drm.key, "power", r, &card->logged);
    card->sensor_error = find_sensor(rapl->env, &card->sensor);
    return 0;
}

/* ---- sampling ---- */

static int sample_energy(const struct gtel_env *env, struct rapl_card *card,
                         struct gtel_batch *batch)
{
    static const struct gtel_str names[GTEL_RAPL_DOMAINS] = {GTEL_STR_INIT("gpu"),
                                                             GTEL_STR_INIT("package")};
    double joules[GTEL_RAPL_DOMAINS];
    const struct gtel_device *device = card->card->device;
    card->read_ns = batch->t_ns;
    int r = gtel_rapl_read(env, &card->meter, batch->t_ns, joules);
    if (r < 0)
        return r;
    batch->origin = (uint8_t)(card->meter.way - GTEL_RAPL_PERF);
    for (size_t i = 0; i < GTEL_RAPL_DOMAINS; i++)
        if (!isnan(joules[i]))
            gtel_batch_f64(batch, device, GTEL_M_ENERGY, names[i], joules[i]);
    if (!isnan(joules[GTEL_RAPL_GPU]))
        gtel_batch_f64(batch, device, GTEL_M_GPU_ENERGY, GTEL_STR_NONE, joules[GTEL_RAPL_GPU]);
    return 0;
}

static void put_degrees(struct gtel_batch *batch, const struct gtel_device *device,
                        enum gtel_metric metric, double millidegrees)
{
    gtel_batch_f64(batch, device, metric, GTEL_STR("package"), millidegrees / 1e3);
}

/* coretemp answers EAGAIN while the CPU has no valid reading. */
static int sample_temperature(const struct gtel_env *env, struct rapl_card *card,
                              struct gtel_batch *batch)
{
    struct sensor *sensor = &card->sensor;
    const struct gtel_device *device = card->card->device;
    int64_t value;
    if (!gtel_fs_is_open(&sensor->file))
        return 0;
    int r = gtel_fs_read_i64(env, &sensor->file, &value);
    if (r == -EAGAIN || r == -ENODATA)
        return 0;
    if (r < 0) {
        gtel_fs_close(env, &sensor->file); /* coretemp was loaded again, or its CPU is off */
        return r;
    }
    batch->origin = CORETEMP;
    put_degrees(batch, device, GTEL_M_TEMPERATURE, (double)value);
    if (sensor->limit > 0)
        put_degrees(batch, device, GTEL_M_TEMPERATURE_LIMIT, (double)sensor->limit);
    if (sensor->critical > 0)
        put_degrees(batch, device, GTEL_M_TEMPERATURE_CRITICAL, (double)sensor->critical);
    return 0;
}

/* What has failed is closed, and opened again by the discovery that this asks for: once. */
static int sample_card(const struct gtel_env *env, struct rapl_card *card, struct gtel_batch *batch)
{
    batch->t_ns = gtel_env_now(env);
    int energy = sample_energy(env, card, batch);
    int temperature = sample_temperature(env, card, batch);
    int r = energy < 0 ? energy : temperature;
    bool has_failed_before = card->has_failed;
    card->has_failed = r < 0;
    if (r == 0)
        return 0;
    gtel_batch_failed(batch, card->card->device);
    return has_failed_before ? r : -ENODEV;
}

static int sample(void *state, struct gtel_registry *registry, struct gtel_batch *batch)
{
    const struct gtel_card_source *rapl = state;
    int first = 0;
    (void)registry;
    for (size_t i = 0; i < rapl->cards.n; i++) {
        struct rapl_card *card = rapl->cards.slot[i].own;
        if (!card->is_integrated)
            continue;
        int r = sample_card(rapl->env, card, batch);
        first = first < 0 ? first : r;
    }
    return first;
}

/* ---- between gathers ---- */

/* A zone of 262144 J is through in four minutes at 1000 W. */
static uint64_t due_ns(const void *own)
{
    const uint64_t keep_ns = 120 * UINT64_C(1000000000);
    const struct rapl_card *card = own;
    bool is_kept = card->meter.way == GTEL_RAPL_POWERCAP;
    return is_kept && card->read_ns > 0 ? card->read_ns + keep_ns : 0;
}

static int tick_card(void *state, void *own, struct gtel_batch *batch)
{
    const struct gtel_env *env = ((const struct gtel_card_source *)state)->env;
    struct rapl_card *card = own;
    batch->t_ns = gtel_env_now(env);
    /* Closed after a failure: the next gather reports it. */
    (void)sample_energy(env, card, batch);
    return 0;
}

/* ---- what is missing ---- */

static const char several[] =
    "the machine has several CPU packages, and nothing says which one the GPU is part of";

static const char guest[] = "the processor's counters stay with the host of a virtual machine";

/* About power of the GPU itself, which its package never stands for. */
static void put_power(struct gtel_findings *findings, const struct rapl_card *card, int error,
                      const char *const text[3])
{
    gtel_finding_put_lack(findings, card->card->device, GTEL_MEASUREMENT_GPU_POWER_DOMAIN,
                          GTEL_M_GPU_ENERGY, error, text);
}

/* The PMU cannot be opened, so neither of its events. */
static void diagnose_perf(const struct gtel_env *env, const struct rapl_card *card,
                          struct gtel_findings *findings)
{
    char fix[256];
    bool lacks_gpu = card->meter.event_error == -ENOENT;
    const char *text[3] = {lacks_gpu ? "perf event power/energy-pkg/"
                                     : "perf event power/energy-gpu/"};
    int r = card->meter.error[GTEL_RAPL_PERF];
    if (r == -ERANGE)
        text[1] = several;
    else if (gtel_error_is_refusal(r))
        text[2] = gtel_intel_perf_fix(env, fix, sizeof(fix));
    put_power(findings, card, r, text);
}

/* Refused, as it is made: where the event is there, it asks for less than root. */
static void diagnose_powercap(const struct rapl_card *card, struct gtel_findings *findings)
{
    const struct gtel_rapl_meter *meter = &card->meter;
    const char *text[3] = {meter->zone_path[0] ? meter->zone_path : "sys/class/powercap"};
    int r = meter->error[GTEL_RAPL_POWERCAP];
    if (r == -ERANGE)
        text[1] = several;
    else if (gtel_error_is_refusal(r))
        text[1] = "the kernel shows it to root alone";
    if (gtel_error_is_refusal(r) && meter->pmu_error == -ENOENT)
        text[2] =
            "load the kernel module rapl and give the program CAP_PERFMON, or run the program "
            "as root:\nmodprobe rapl";
    put_power(findings, card, r, text);
}

/* Nothing counts the GPU's energy here. */
static void diagnose_uncounted(const struct gtel_env *env, const struct rapl_card *card,
                               struct gtel_findings *findings)
{
    const struct gtel_rapl_meter *meter = &card->meter;
    const char *text[3] = {"perf event power/energy-gpu/, sys/class/powercap"};
    if (gtel_kernel_is_guest(env)) {
        text[1] = guest;
    } else if (meter->pmu_error != -ENOENT || meter->packages > 0 ||
               meter->way != GTEL_RAPL_CLOSED) {
        text[0] = "perf event power/energy-gpu/";
        text[1] = "this CPU does not count the energy of its GPU";
    } else {
        text[1] = "no kernel module reads the CPU's energy counters";
        text[2] = "load the kernel modules:\nmodprobe -a rapl intel_rapl_msr";
    }
    put_power(findings, card, -ENOENT, text);
}

static void diagnose_power(const struct gtel_env *env, const struct rapl_card *card,
                           struct gtel_findings *findings)
{
    int perf = card->meter.error[GTEL_RAPL_PERF];
    int powercap = card->meter.error[GTEL_RAPL_POWERCAP];
    bool has_zone = powercap < 0 && powercap != -ENOENT; /* it cannot be used */
    if (perf < 0 && perf != -ENOENT)
        diagnose_perf(env, card, findings);
    if (has_zone && perf != -ERANGE)
        diagnose_powercap(card, findings);
    if (!has_zone && (perf == -ENOENT || card->meter.event_error == -ENOENT))
        diagnose_uncounted(env, card, findings);
}

static void diagnose_sensor(const struct gtel_env *env, const struct rapl_card *card,
                            struct gtel_findings *findings)
{
    const char *text[3] = {package_0};
    if (card->sensor_error == -ERANGE) {
        text[1] = several;
    } else if (card->sensor_error == -ENOENT && gtel_kernel_is_guest(env)) {
        text[1] = guest;
    } else if (card->sensor_error == -ENOENT && gtel_fs_exists(env, package_0)) {
        text[1] = "this CPU has no sensor of its package";
    } else if (card->sensor_error == -ENOENT) {
        text[2] = "load the kernel module:\nmodprobe coretemp";
    }
    gtel_finding_put(findings, card->card->device, GTEL_MEASUREMENT_GPU_TEMPERATURE_SENSOR,
                     card->sensor_error, text);
}

static void diagnose_card(const void *state, const void *own, struct gtel_findings *findings)
{
    const struct gtel_env *env = ((const struct gtel_card_source *)state)->env;
    const struct rapl_card *card = own;
    if (card->is_integrated && !gtel_rapl_has(&card->meter, GTEL_RAPL_GPU))
        diagnose_power(env, card, findings);
    if (card->is_integrated && card->sensor_error < 0)
        diagnose_sensor(env, card, findings);
}

static const struct gtel_card_work work = {
    .own_size = sizeof(struct rapl_card),
    .close = close_card,
    .discover = refresh,
    .due_ns = due_ns,
    .tick = tick_card,
    .diagnose = diagnose_card,
};

/* In the order of enum gtel_rapl_way from PERF on, then CORETEMP. */
static const char *const origins[] = {"RAPL PMU", "RAPL powercap", "coretemp", NULL};

const struct gtel_source gtel_source_rapl = {
    .name = "rapl",
    .lane = "kernel",
    .vendor = "intel",
    .summary = "Power of GPUs that are part of an Intel CPU, and power and temperature of the "
               "package around them",
    .needs = "a CPU that counts it; CAP_PERFMON, or root for powercap; the temperature needs no "
             "right",
    .origins = origins,
    .is_indirect = true,
    .drivers = drivers,
    .work = &work,
    .sample = sample,
};
