/* SPDX-License-Identifier: MIT */
/* The way along a path, link by link. */
#include "recording/way.h"

#include <errno.h>
#include <string.h>

enum { LINKS_MAX = 16, PARTS_MAX = 64 };

struct gtel_str gtel_way_parent(struct gtel_str path)
{
    size_t n = gtel_str_behind(path, '/');
    return (struct gtel_str){path.p, n > 0 ? n - 1 : 0};
}

bool gtel_way_is_descriptors(struct gtel_str path)
{
    struct gtel_str part;
    uint64_t pid;
    return gtel_str_part(&path, '/', &part) && gtel_str_eq(part, GTEL_STR("proc")) &&
           gtel_str_part(&path, '/', &part) && gtel_str_u64(part, &pid) == 0 &&
           gtel_str_eq(path, GTEL_STR("fd"));
}

static void go_up(struct gtel_way *way)
{
    way->n = gtel_way_parent((struct gtel_str){way->path, way->n}).n;
    way->path[way->n] = '\0';
}

static int go_part(struct gtel_way *way, struct gtel_str part, bool follows)
{
    char target[GTEL_WAY_MAX];
    if (part.n == 0 || gtel_str_eq(part, GTEL_STR(".")))
        return 0;
    if (gtel_str_eq(part, GTEL_STR(".."))) {
        go_up(way);
        return 0;
    }
    if (way->n + part.n + 1 >= sizeof(way->path))
        return -ENAMETOOLONG;
    if (way->n > 0)
        way->path[way->n++] = '/';
    memcpy(way->path + way->n, part.p, part.n);
    way->n += part.n;
    way->path[way->n] = '\0';
    int64_t n = way->link(way->arg, way->path, follows, target);
    if (n <= 0)
        return (int)n;
    if (++way->links > LINKS_MAX)
        return -ELOOP;
    go_up(way);
    if (target[0] == '/')
        way->n = 0;
    return gtel_way_go(way, (struct gtel_str){target, (size_t)n}, true);
}

int gtel_way_go(struct gtel_way *way, struct gtel_str path, bool follows_last)
{
    struct gtel_str part;
    for (int parts = 0; gtel_str_part(&path, '/', &part); parts++) {
        int r = parts > PARTS_MAX ? -ENAMETOOLONG : go_part(way, part, path.n > 0 || follows_last);
        if (r < 0)
            return r;
    }
    return 0;
}
