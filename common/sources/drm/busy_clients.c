/* SPDX-License-Identifier: MIT */
/* What the clients of a GPU have made its engines do, from files of its driver. */
#include "sources/drm/busy_clients.h"

#include "host/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINES_MAX = 128 };

void gtel_busy_clients_close(struct gtel_busy_clients *clients)
{
    free(clients->client);
    *clients = (struct gtel_busy_clients){0};
}

/* cardN/engine/<name>: i915's settings of each engine. */
static int count_engines(const struct gtel_env *env, struct gtel_arena *arena,
                         const struct gtel_drm_card *card, struct gtel_busy_clients *clients)
{
    struct gtel_str *names;
    struct gtel_engine_name engine;
    size_t n;
    size_t engines = 0;
    int r = gtel_fs_list(env, GTEL_FS_AT("sys/class/drm/%s/engine", card->card), arena, ENGINES_MAX,
                         &names, &n);
    memset(clients->engines, 0, sizeof(clients->engines));
    for (size_t i = 0; r == 0 && i < n && i < ENGINES_MAX; i++) {
        if (gtel_engine_name_parse(names[i], &engine) < 0 || engine.instance == UINT32_MAX)
            continue;
        clients->engines[engine.class]++;
        engines++;
    }
    return r == 0 && engines == 0 ? -ENOENT : r;
}

int gtel_busy_clients_open(const struct gtel_env *env, struct gtel_arena *arena,
                           const struct gtel_drm_card *card, struct gtel_busy_clients *clients)
{
    int r = env->ops->exists(env->arg, GTEL_FS_AT("sys/class/drm/%s/clients", card->card));
    if (r == 0)
        r = count_engines(env, arena, card, clients);
    if (r < 0)
        return r;
    clients->client = calloc(2 * (size_t)GTEL_BUSY_CLIENTS_MAX, sizeof(*clients->client));
    return clients->client ? 0 : -ENOMEM;
}

/* 1; 0 for a client that has gone since it was listed, or has no such files; a negative errno. */
static int read_client(const struct gtel_env *env, const char *dir, struct gtel_str id,
                       struct gtel_busy_client *ret)
{
    int found = 0;
    *ret = (struct gtel_busy_client){0};
    if (gtel_str_u64(id, &ret->id) < 0)
        return 0;
    for (unsigned c = 0; c < GTEL_ENGINE_CLASSES; c++) {
        int r =
            gtel_fs_u64(env, GTEL_FS_AT("%s/%.*s/busy/%u", dir, GTEL_STR_ARG(id), c), &ret->ns[c]);
        if (r == 0)
            found = 1;
        else if (r != -ENOENT && r != -ENODEV)
            return r;
    }
    return found;
}

/* The same client at the last sample: ids are given in turn, and both lists are in their order. */
static const struct gtel_busy_client *find(const struct gtel_busy_clients *clients, uint64_t id,
                                           size_t *at)
{
    while (*at < clients->n && clients->client[*at].id < id)
        (*at)++;
    return *at < clients->n && clients->client[*at].id == id ? &clients->client[*at] : NULL;
}

/*
 * A client that is new has done all of its time since the last sample: ids are given in turn, and
 * none again. A time that goes back has to catch up before it counts again.
 */
static void add_up(struct gtel_busy_clients *clients, struct gtel_busy_client *next, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; clients->has_looked && i < n; i++) {
        const struct gtel_busy_client *last = find(clients, next[i].id, &at);
        for (size_t c = 0; c < GTEL_ENGINE_CLASSES; c++) {
            uint64_t last_ns = last ? last->ns[c] : 0;
            if (next[i].ns[c] < last_ns)
                next[i].ns[c] = last_ns;
            clients->sum_ns[c] += next[i].ns[c] - last_ns;
        }
    }
    memcpy(clients->client, next, n * sizeof(*next));
    clients->n = n;
    clients->has_looked = true;
}

int gtel_busy_clients_read(const struct gtel_env *env, struct gtel_arena *arena,
                           const struct gtel_drm_card *card, struct gtel_busy_clients *clients)
{
    char dir[GTEL_FS_PATH_MAX];
    struct gtel_str *names;
    struct gtel_busy_client *next = clients->client + GTEL_BUSY_CLIENTS_MAX;
    size_t listed = 0;
    size_t n = 0;
    gtel_fs_path(dir, "sys/class/drm/%s/clients", card->card);
    int r = gtel_fs_list(env, dir, arena, GTEL_BUSY_CLIENTS_MAX, &names, &listed);
    if (r == 0 && listed > GTEL_BUSY_CLIENTS_MAX)
        r = -E2BIG;
    for (size_t i = 0; r >= 0 && i < listed; i++) {
        r = read_client(env, dir, names[i], &next[n]);
        n += r > 0 ? 1 : 0;
    }
    if (r < 0)
        return r;
    add_up(clients, next, n);
    return 0;
}
