/* SPDX-License-Identifier: GPL-2.0-only */
/* Open files of the device node: clients, and what /proc/<pid>/fdinfo says of them. */
#include "guest.h"

#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>
#include <linux/atomic.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

struct client {
    u64 id;
    spinlock_t lock;
    u64 since_ns; /* of the present shares */
    u64 busy_ns[GUEST_CLASSES];
    u32 parts[GUEST_CLASSES];
};

#ifdef GUEST_XE
static const char *const class_names[GUEST_CLASSES] = {"rcs", "bcs", "vcs", "vecs"};
#else
static const char *const class_names[GUEST_CLASSES] = {"render", "copy", "video", "video-enhance"};
#endif
static const unsigned int capacities[GUEST_CLASSES] = {1, 1, 2, 1};
static atomic64_t last_id;

int guest_client_open(struct drm_device *drm, struct drm_file *file)
{
    struct client *client = kzalloc(sizeof(*client), GFP_KERNEL);
    if (!client)
        return -ENOMEM;
    spin_lock_init(&client->lock);
    client->id = atomic64_inc_return(&last_id);
    client->since_ns = ktime_get_ns();
    client->parts[GUEST_RENDER] = GUEST_CLIENT_BUSY;
    file->driver_priv = client;
    return 0;
}

void guest_client_close(struct drm_device *drm, struct drm_file *file)
{
    kfree(file->driver_priv);
}

/* Brings the times up to now. */
static void settle(struct client *client, u64 now_ns)
{
    unsigned int i;
    for (i = 0; i < GUEST_CLASSES; i++)
        client->busy_ns[i] += guest_part(now_ns - client->since_ns, client->parts[i]);
    client->since_ns = now_ns;
}

int guest_client_busy(struct drm_device *drm, void *data, struct drm_file *file)
{
    struct client *client = file->driver_priv;
    const struct guest_busy *busy = data;
    if (busy->class >= GUEST_CLASSES || busy->parts > capacities[busy->class] << GUEST_PARTS_LOG2)
        return -EINVAL;
    spin_lock(&client->lock);
    settle(client, ktime_get_ns());
    client->parts[busy->class] = busy->parts;
    spin_unlock(&client->lock);
    return 0;
}

#ifdef GUEST_XE
/* All times of one client on one clock, as xe since Linux 6.11. */
static void show_engines(struct seq_file *out, const struct guest_gpu *gpu, const u64 *busy_ns,
                         u64 now_ns)
{
    unsigned int i;
    for (i = 0; i < GUEST_CLASSES; i++) {
        seq_printf(out, "drm-cycles-%s:\t%llu\n", class_names[i],
                   div_u64(busy_ns[i] * GUEST_TICKS_PER_US, 1000));
        seq_printf(out, "drm-total-cycles-%s:\t%llu\n", class_names[i],
                   div_u64((now_ns - gpu->bound_ns) * GUEST_TICKS_PER_US, 1000));
        if (capacities[i] > 1)
            seq_printf(out, "drm-engine-capacity-%s:\t%u\n", class_names[i], capacities[i]);
    }
}

static const char *const regions[] = {"system", "gtt", "vram0", "stolen"};
#else
static void show_engines(struct seq_file *out, const struct guest_gpu *gpu, const u64 *busy_ns,
                         u64 now_ns)
{
    unsigned int i;
    for (i = 0; i < GUEST_CLASSES; i++) {
        seq_printf(out, "drm-engine-%s:\t%llu ns\n", class_names[i], busy_ns[i]);
        if (capacities[i] > 1)
            seq_printf(out, "drm-engine-capacity-%s:\t%u\n", class_names[i], capacities[i]);
    }
}

static const char *const regions[] = {"system0", "stolen-system0"};
#endif

/* The same for each client and for ever: the region's number, times 4 MiB. */
static void show_memory(struct seq_file *out)
{
    unsigned int i;
    for (i = 0; i < ARRAY_SIZE(regions); i++) {
        seq_printf(out, "drm-total-%s:\t%u KiB\n", regions[i], (i + 1) * 4096);
        seq_printf(out, "drm-shared-%s:\t%u KiB\n", regions[i], 1024);
        seq_printf(out, "drm-active-%s:\t%u\n", regions[i], 0);
        seq_printf(out, "drm-resident-%s:\t%u KiB\n", regions[i], (i + 1) * 4096 - 512);
    }
}

static void guest_show_fdinfo(struct seq_file *out, struct file *f)
{
    struct drm_file *file = f->private_data;
    struct guest_gpu *gpu = container_of(file->minor->dev, struct guest_gpu, drm);
    struct client *client = file->driver_priv;
    u64 busy_ns[GUEST_CLASSES];
    u64 now_ns;
    spin_lock(&client->lock);
    now_ns = ktime_get_ns();
    settle(client, now_ns);
    memcpy(busy_ns, client->busy_ns, sizeof(busy_ns));
    spin_unlock(&client->lock);
    seq_printf(out, "drm-driver:\t" GUEST_NAME "\n");
    seq_printf(out, "drm-client-id:\t%llu\n", client->id);
    seq_printf(out, "drm-pdev:\t%s\n", pci_name(gpu->pdev));
    show_memory(out);
    show_engines(out, gpu, busy_ns, now_ns);
}

const struct file_operations guest_files = {
    .owner = THIS_MODULE,
    .open = drm_open,
    .release = drm_release,
    .unlocked_ioctl = drm_ioctl,
    .compat_ioctl = drm_compat_ioctl,
    .poll = drm_poll,
    .read = drm_read,
    .llseek = noop_llseek,
    .show_fdinfo = guest_show_fdinfo,
#ifdef FOP_UNSIGNED_OFFSET
    .fop_flags = FOP_UNSIGNED_OFFSET,
#endif
};
