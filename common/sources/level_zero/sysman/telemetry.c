/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of the telemetry that Level Zero reads: how wide its memory counters are.
 *
 * The specification has a structure for that, chained to zes_mem_properties_t of
 * zesMemoryGetProperties (level zero: EXT_MemoryBwCounterValidBits, since 1.8). Intel's driver
 * lists the extension, but fills the structure in nowhere (compute-runtime of August 2026:
 * sysman_driver_handle_imp_helper.cpp, sysman_memory_imp.cpp). It knows by the telemetry's guid
 * (sysman_product_helper_pvc.cpp), which the kernel shows to everybody.
 */
#include "sources/level_zero/sysman/rows.h"

#include "host/fs.h"

#include <string.h>

enum { NODES_MAX = 256, LINK_SIZE = 512, BITS_WIDE = 64 };

/* Telemetry of Ponte Vecchio with 64-bit counters (compute-runtime: sysman_const.h). */
static const uint64_t guid_wide = 0xb15a0ede;

/* "/devices/pci0000:26/0000:26:01.0/" of a link into sysfs: the port that a card hangs at. */
static struct gtel_str port_of(struct gtel_str link)
{
    static const char head[] = "/devices/";
    while (link.n > 0 && !gtel_str_starts(link, GTEL_STR("/devices/")))
        link = gtel_str_skip(link, 1);
    size_t n = sizeof(head) - 1;
    for (size_t parts = 0; parts < 2 && n < link.n; n++)
        parts += link.p[n] == '/';
    return n < link.n ? (struct gtel_str){link.p, n} : GTEL_STR_NONE;
}

static struct gtel_str read_link(const struct gtel_env *env, const char *path, char buf[LINK_SIZE])
{
    int64_t n = env->ops->link_read(env->arg, path, buf, LINK_SIZE);
    return n > 0 && n < LINK_SIZE ? (struct gtel_str){buf, (size_t)n} : GTEL_STR_NONE;
}

/* The number of "telem12" when it is a node of that port. */
static bool is_node(const struct gtel_env *env, struct gtel_str name, struct gtel_str port,
                    uint64_t *ret)
{
    char path[GTEL_FS_PATH_MAX];
    char link[LINK_SIZE];
    const struct gtel_str prefix = GTEL_STR("telem");
    if (!gtel_str_starts(name, prefix) || gtel_str_u64(gtel_str_skip(name, prefix.n), ret) < 0)
        return false;
    (void)gtel_fs_path(path, "sys/class/intel_pmt/%.*s", GTEL_STR_ARG(name));
    return gtel_str_eq(port_of(read_link(env, path, link)), port);
}

/* The first node is the card's, and those of its tiles follow by number; or there is one alone. */
static bool node_of(const struct gtel_env *env, struct gtel_str port, uint32_t tile, uint64_t *ret)
{
    struct gtel_arena arena = {0};
    struct gtel_str *name = NULL;
    size_t n = 0;
    size_t found = 0;
    uint64_t first = 0;
    uint64_t number = 0;
    if (gtel_fs_list(env, "sys/class/intel_pmt", &arena, NODES_MAX, &name, &n) < 0)
        n = 0;
    for (size_t i = 0; i < n; i++)
        if (is_node(env, name[i], port, &number)) {
            first = found == 0 || number < first ? number : first;
            found++;
        }
    gtel_arena_done(&arena);
    *ret = found == 1 ? first : first + tile + 1;
    return found > 0;
}

uint32_t gtel_sysman_counter_bits(const struct gtel_env *env, const struct gtel_drm_card *drm,
                                  uint32_t tile)
{
    char path[GTEL_FS_PATH_MAX];
    char link[LINK_SIZE];
    uint64_t node;
    uint64_t guid;
    (void)gtel_fs_path(path, "sys/class/drm/%s", drm->card);
    struct gtel_str port = port_of(read_link(env, path, link));
    if (port.n == 0 || !node_of(env, port, tile, &node))
        return 0;
    (void)gtel_fs_path(path, "sys/class/intel_pmt/telem%llu/guid", (unsigned long long)node);
    return gtel_fs_hex(env, path, &guid) == 0 && guid == guid_wide ? BITS_WIDE : 0;
}
