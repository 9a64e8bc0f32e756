/* SPDX-License-Identifier: MIT */
/* What the program says of itself, and of each device as a whole. */
#include "lanes/self.h"

#include "base/error.h"
#include "base/grow.h"
#include "lanes/group.h"

#include <stdlib.h>
#include <string.h>

enum { ORIGINS_MAX = 512 }; /* bytes of metrics_source */

/* As a number of devices: nothing can be opened, so that nobody knows. */
static const size_t not_known = SIZE_MAX;
/* The same: nothing was said yet. */
static const size_t nothing_said = SIZE_MAX - 1;

void gtel_self_init(struct gtel_self *self, const struct gtel_env *env)
{
    struct gtel_str text;
    *self = (struct gtel_self){.env = env, .said_found = nothing_said};
    gtel_buf_init(&self->origins, ORIGINS_MAX);
    char buf[GTEL_LABEL_MAX];
    if (gtel_fs_text(env, "proc/sys/kernel/osrelease", buf, sizeof(buf), &text) == 0)
        (void)gtel_str_copy(self->kernel, sizeof(self->kernel), text); /* never longer */
}

void gtel_self_done(struct gtel_self *self, const struct gtel_env *env)
{
    if (self->env)
        gtel_fs_close(env, &self->statm);
    free(self->device);
    gtel_buf_done(&self->origins);
    *self = (struct gtel_self){0};
}

void gtel_self_begin(struct gtel_self *self, uint64_t request)
{
    self->request = request;
    self->readings = 0;
    for (size_t i = 0; i < self->n; i++)
        self->device[i].answer = GTEL_SELF_NONE;
}

/* Room for all devices of the registry; false when memory is out. */
static bool make_room(struct gtel_self *self, size_t n)
{
    return gtel_grow_zeroed(&self->device, &self->n, n, GTEL_DEVICES_MAX, sizeof(*self->device));
}

void gtel_self_record(struct gtel_self *self, const struct gtel_reading *reading)
{
    if (!reading->device || !make_room(self, reading->device->index + 1))
        return;
    struct gtel_self_device *device = &self->device[reading->device->index];
    if (reading->metric == GTEL_M_GPU_BUSY)
        device->is_busy_idle = reading->source == GTEL_SOURCE_CORE;
    if (reading->source == GTEL_SOURCE_CORE || reading->is_derived)
        return;
    if (!gtel_sources[reading->source]->is_indirect)
        device->answered = self->request;
    device->origins[reading->source] |= 1u << (reading->origin & 31u);
    self->readings++;
}

const char gtel_self_idle_origin[] = "idle residency";

static bool is_for(const struct gtel_source *source, const struct gtel_device *device)
{
    const char *const *driver = source->drivers;
    while (driver && *driver && strcmp(*driver, device->label[GTEL_LABEL_DRIVER]) != 0)
        driver++;
    return !driver || *driver;
}

static bool is_for_one(uint32_t sources, const struct gtel_device *device)
{
    for (size_t s = 0; gtel_sources[s]; s++)
        if ((sources >> s & 1) != 0 && is_for(gtel_sources[s], device))
            return true;
    return false;
}

void gtel_self_answered(struct gtel_self *self, const struct gtel_registry *registry,
                        const struct gtel_wire_map *map, const struct gtel_batch *batch,
                        uint32_t direct)
{
    if (!make_room(self, registry->n))
        return;
    for (size_t i = 0; i < registry->n; i++) {
        if (map->arrivals[i] == 0)
            continue;
        /* Also when a new helper has never seen it: it is gone. */
        if (is_for_one(direct, registry->device[i]))
            self->device[i].answer = GTEL_SELF_DIRECT;
        else if (self->device[i].answer == GTEL_SELF_NONE)
            self->device[i].answer = GTEL_SELF_INDIRECT;
        self->device[i].failed += batch->failed[i];
    }
}

static void write_origin(struct gtel_buf *buf, const char *text)
{
    if (buf->n > 0)
        gtel_buf_str(buf, GTEL_STR(" + "));
    gtel_buf_str(buf, gtel_str_of(text));
}

static void write_origins_of(const struct gtel_self_device *device, bool of_kernel,
                             struct gtel_buf *buf)
{
    for (size_t s = 0; gtel_sources[s]; s++) {
        const char *const *origins = gtel_sources[s]->origins;
        uint32_t seen = device->origins[s] | device->origins_before[s];
        if ((strcmp(gtel_sources[s]->lane, "kernel") == 0) != of_kernel)
            continue;
        for (size_t o = 0; origins[o]; o++)
            if ((seen >> o & 1u) != 0)
                write_origin(buf, origins[o]);
    }
}

/* "sysfs + hwmon + NVML": those of the system, then the others, each in source order. */
static void write_origins(const struct gtel_self_device *device, struct gtel_buf *buf)
{
    write_origins_of(device, true, buf);
    write_origins_of(device, false, buf);
    if (device->is_busy_idle)
        write_origin(buf, gtel_self_idle_origin);
}

/* What has been silent for a whole interval of gpu_info is no source any more. */
static void forget_origins(struct gtel_self_device *device)
{
    memcpy(device->origins_before, device->origins, sizeof(device->origins));
    memset(device->origins, 0, sizeof(device->origins));
}

static void put_text(struct gtel_batch *batch, const struct gtel_device *device,
                     enum gtel_metric metric, struct gtel_str text)
{
    struct gtel_reading reading = {.device = device,
                                   .metric = (uint16_t)metric,
                                   .value_type = GTEL_VALUE_TEXT,
                                   .value.text = gtel_batch_text(batch, text)};
    if (text.n > 0)
        gtel_batch_put(batch, &reading);
}

_Static_assert((int)GTEL_M_INFO_PROFILE - (int)GTEL_M_INFO_UUID ==
                   (int)GTEL_LABEL_PROFILE - (int)GTEL_LABEL_UUID,
               "a row per label, in their order");

static uint64_t hash_info(const struct gtel_device *device, struct gtel_str origins)
{
    uint64_t h = gtel_hash(GTEL_HASH_SEED, origins.p, origins.n);
    for (size_t l = 0; l < GTEL_LABEL_COUNT; l++)
        h = gtel_hash(h, device->label[l], strlen(device->label[l]) + 1);
    return h;
}

static void report_info(struct gtel_self *self, const struct gtel_device *device,
                        uint64_t interval_ns, struct gtel_batch *batch)
{
    struct gtel_self_device *own = &self->device[device->index];
    uint64_t now_ns = gtel_env_now(self->env);
    gtel_buf_reset(&self->origins);
    write_origins(own, &self->origins);
    struct gtel_str origins = gtel_buf_text(&self->origins);
    uint64_t hash = hash_info(device, origins);
    bool is_over = own->info_ns > 0 && now_ns - own->info_ns >= interval_ns;
    if (hash != own->info_hash || is_over) {
        if (is_over)
            forget_origins(own);
        own->info_ns = now_ns;
        own->info_hash = hash;
        gtel_batch_u64(batch, device, GTEL_M_INFO, GTEL_STR_NONE, 1);
        for (int label = GTEL_LABEL_UUID; label <= GTEL_LABEL_PROFILE; label++)
            put_text(batch, device, (enum gtel_metric)(GTEL_M_INFO_UUID + label - GTEL_LABEL_UUID),
                     gtel_str_of(device->label[label]));
        put_text(batch, device, GTEL_M_INFO_KERNEL, gtel_str_of(self->kernel));
        put_text(batch, device, GTEL_M_INFO_METRICS_SOURCE, origins);
    }
}

void gtel_self_report(struct gtel_self *self, const struct gtel_registry *registry,
                      const struct gtel_options *options, struct gtel_batch *batch)
{
    for (size_t i = 0; i < registry->n && i < self->n; i++) {
        const struct gtel_device *device = registry->device[i];
        struct gtel_self_device *own = &self->device[i];
        bool is_known = own->request >= self->request; /* by another lane */
        bool is_direct = own->answer == GTEL_SELF_DIRECT;
        if (own->answer == GTEL_SELF_NONE)
            continue; /* its lane has not answered: nothing is known of it now */
        if (is_known && own->answer <= own->reported)
            continue;
        if (own->is_destroyed && !device->is_present)
            continue; /* a part, not a GPU that is missed: 0 once */
        own->is_destroyed = gtel_device_is_part(device) && !device->is_present;
        own->reported = own->answer;
        own->request = self->request;
        bool is_up = device->is_present && own->answered == self->request;
        if (is_direct || !device->is_present)
            gtel_batch_u64(batch, device, GTEL_M_GPU_UP, GTEL_STR_NONE, is_up);
        if (!is_known)
            gtel_batch_u64(batch, device, GTEL_M_GPU_READINGS_FAILED, GTEL_STR_NONE, own->failed);
        if (is_direct ? is_up : device->is_present)
            report_info(self, device, gtel_option_number(options, GTEL_O_INFO_INTERVAL), batch);
    }
}

void gtel_self_totals(struct gtel_self *self, const struct gtel_registry *registry,
                      const struct gtel_self_totals *totals, struct gtel_batch *batch)
{
    uint64_t rss = gtel_group_rss(self->env, &self->statm);
    gtel_batch_f64(batch, NULL, GTEL_M_SELF_GATHER, GTEL_STR_NONE, (double)totals->gather_ns / 1e9);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_GPUS, GTEL_STR_NONE,
                   gtel_registry_gpus(registry, false));
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_READINGS, GTEL_STR_NONE, self->readings);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_DROPPED, GTEL_STR_NONE, totals->dropped);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_LANES_LATE, GTEL_STR_NONE, totals->lanes_late);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_LANE_RESTARTS, GTEL_STR_NONE, totals->lane_restarts);
    gtel_batch_u64(batch, NULL, GTEL_M_SELF_ERRORS, GTEL_STR_NONE, totals->errors);
    if (rss > 0)
        gtel_batch_u64(batch, NULL, GTEL_M_SELF_RSS, GTEL_STR_NONE, rss + totals->rss_bytes);
}

void gtel_self_say_found(struct gtel_self *self, size_t devices, int shortage, uint64_t rescan_ns)
{
    if (self->said_found == devices)
        return;
    if (shortage < 0 && devices == 0) {
        if (self->said_found != not_known)
            gtel_log(&self->env->log, GTEL_LOG_ERROR,
                     "it is not known which GPUs there are: %s; %s; trying again",
                     gtel_error_text(shortage), gtel_fs_shortage_fix(shortage));
        self->said_found = not_known;
        return;
    }
    if (devices == 0)
        gtel_log(
            &self->env->log, GTEL_LOG_WARNING,
            "no GPU found%s: no driver that is known here (gtel --list-sources) is loaded, a "
            "vendor's library is missing, or GPUs do not answer (gtel doctor says more); checking "
            "again every %u s",
            self->is_narrowed ? " by the sources in the option Sources" : "",
            (unsigned)((rescan_ns + 999999999u) / 1000000000u));
    else if (self->said_found != nothing_said)
        gtel_log(&self->env->log, GTEL_LOG_INFO, "GPUs found: %u", (unsigned)devices);
    self->said_found = devices;
}
