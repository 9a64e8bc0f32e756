/* SPDX-License-Identifier: MIT */
/* Machines with clients for tests. */
#include "harness/client_machine.h"

#include "harness/test.h"

void clients_begin(struct gtel_buf *text)
{
    gtel_buf_reset(text);
    gtel_buf_printf(text, "link proc/self/ns/pid -> pid:[4026531836]\n"
                          "file proc/self/stat\n| 4242 (gtel) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 "
                          "1 0 5 0 0\n");
    clients_process(text, 1, "init", 0);
}

void clients_card(struct gtel_buf *text, unsigned n, const char *driver)
{
    static const char *const nodes[] = {"card", "renderD"};
    const unsigned numbers[] = {n, 128 + n};
    gtel_buf_printf(text,
                    "file sys/devices/0000:0%u:00.0/uevent\n| DRIVER=%s\n| PCI_ID=8086:E20B\n"
                    "| PCI_SLOT_NAME=0000:0%u:00.0\n"
                    "file sys/devices/0000:0%u:00.0/power/runtime_status\n| active\n",
                    n + 1, driver, n + 1, n + 1);
    for (size_t i = 0; i < 2; i++)
        gtel_buf_printf(
            text,
            "link sys/class/drm/%s%u -> ../../devices/0000:0%u:00.0/drm/%s%u\n"
            "link sys/devices/0000:0%u:00.0/drm/%s%u/device -> ../../../0000:0%u:00.0\n",
            nodes[i], numbers[i], n + 1, nodes[i], numbers[i], n + 1, nodes[i], numbers[i], n + 1);
}

void clients_process(struct gtel_buf *text, unsigned pid, const char *name, unsigned start)
{
    gtel_buf_printf(text,
                    "file proc/%u/comm\n| %s\nfile proc/%u/stat\n"
                    "| %u (%s) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n"
                    "link proc/%u/fd/0 -> /dev/null\nfile proc/%u/fdinfo/0\n| pos:\t0\n",
                    pid, name, pid, pid, name, start, pid, pid);
}

void clients_fd(struct gtel_buf *text, unsigned pid, unsigned fd, unsigned card)
{
    gtel_buf_printf(text, "char proc/%u/fd/%u 226:%u\nfile proc/%u/fdinfo/%u\n", pid, fd,
                    128 + card, pid, fd);
}

/* What the drivers write; amdgpu as on Linux 6.1, xe with a clock of 19.2 MHz. */
void clients_text(struct gtel_buf *text, struct clients_client client, unsigned second)
{
    const uint64_t ns = 3000000000 + (uint64_t)second * 50000000;
    gtel_buf_printf(text, "file proc/%u/fdinfo/%u\n| pos:\t0\n", client.pid, client.fd);
    gtel_buf_printf(text, "| drm-driver:\t%s\n| drm-client-id:\t%u\n| drm-pdev:\t0000:0%u:00.0\n",
                    client.driver, client.id, client.card + 1);
    if (strcmp(client.driver, "i915") == 0)
        gtel_buf_printf(text,
                        "| drm-resident-local0:\t1 MiB\n| drm-engine-render:\t%" PRIu64 " ns\n"
                        "| drm-engine-video:\t%" PRIu64 " ns\n"
                        "| drm-engine-capacity-video:\t2\n",
                        ns, ns);
    else if (strcmp(client.driver, "xe") == 0)
        gtel_buf_printf(text,
                        "| drm-resident-vram0:\t1024 KiB\n| drm-cycles-rcs:\t%" PRIu64 "\n"
                        "| drm-total-cycles-rcs:\t%" PRIu64 "\n",
                        (uint64_t)second * 960000, 10000000000 + (uint64_t)second * 19200000);
    else
        gtel_buf_printf(text,
                        "| drm-memory-vram:\t1024 KiB\n| drm-memory-gtt: \t64 KiB\n"
                        "| drm-engine-gfx:\t%" PRIu64 " ns\n",
                        ns);
}

bool clients_run(struct lane *lane, struct gtel_buf *text, unsigned seconds)
{
    gtel_buf_printf(text, "end\n");
    gtel_buf_char(text, '\0');
    if (!CHECK(!text->has_failed) || !CHECK(lane_init_in(lane, "clients", text->p, "")))
        return false;
    for (unsigned t = 0; t <= seconds; t++) {
        if (t > 0)
            lane_step(lane, 1000);
        lane_gather(lane);
    }
    return true;
}

static bool is_of(const struct gtel_reading *reading, const char *device, enum gtel_metric metric)
{
    return reading->metric == metric && reading->device &&
           strcmp(reading->device->key, device) == 0;
}

double clients_value(const struct lane *lane, const char *device, enum gtel_metric metric,
                     const char *process)
{
    for (size_t i = 0; i < lane->group.batch.n; i++) {
        const struct gtel_reading *reading = &lane->group.batch.reading[i];
        if (is_of(reading, device, metric) &&
            (!process || gtel_str_eq(reading->dim[0], gtel_str_of(process))))
            return gtel_reading_number(reading);
    }
    return -1;
}

double clients_sum(const struct lane *lane, const char *device, enum gtel_metric metric)
{
    double sum = 0;
    for (size_t i = 0; i < lane->group.batch.n; i++)
        if (is_of(&lane->group.batch.reading[i], device, metric))
            sum += gtel_reading_number(&lane->group.batch.reading[i]);
    return sum;
}
