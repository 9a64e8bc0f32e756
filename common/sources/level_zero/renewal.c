/* SPDX-License-Identifier: MIT */
/* When a library that finds its devices once in the life of a process is to be started anew. */
#include "sources/level_zero/renewal.h"

#include <errno.h>

#define IN_VAIN_NS 600000000000u
#define AWAITED_NS 600000000000u

void gtel_renewal_ask(const struct gtel_renewal *renewal, const struct gtel_env *env,
                      struct gtel_registry *registry, const char *why)
{
    if (registry->is_spent || !registry->can_renew)
        return;
    registry->is_spent = true;
    if (why)
        gtel_log(&env->log, GTEL_LOG_INFO, "%s: %s: starting Level Zero anew", renewal->source,
                 why);
}

void gtel_renewal_discovered(struct gtel_renewal *renewal, const struct gtel_card_list *cards,
                             struct gtel_registry *registry, bool is_in_vain)
{
    uint64_t now = gtel_env_now(cards->env);
    for (size_t i = 0; i < cards->n && renewal->was_tried; i++)
        if (cards->slot[i].is_new)
            gtel_renewal_ask(renewal, cards->env, registry, "a GPU has come");
    if (is_in_vain && now - renewal->tried_ns >= IN_VAIN_NS)
        gtel_renewal_ask(renewal, cards->env, registry, NULL);
    renewal->most = cards->n > renewal->most ? cards->n : renewal->most;
    if (cards->n == renewal->most)
        renewal->missing_ns = 0;
    else if (renewal->missing_ns == 0)
        renewal->missing_ns = now;
}

/* The folder of a card is another one after each bind. */
static void look_at_node(const struct gtel_renewal *renewal, const struct gtel_env *env,
                         struct gtel_card *card, struct gtel_registry *registry)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_stat stat;
    int r = env->ops->stat(env->arg, gtel_fs_path(path, "sys/class/drm/%s", card->drm.card), &stat);
    card->is_gone = r == -ENOENT;
    if (r < 0)
        return;
    if (card->node != 0 && card->node != stat.ino && renewal->was_tried)
        gtel_renewal_ask(renewal, env, registry, "a GPU has come again");
    card->node = stat.ino;
}

bool gtel_renewal_look(const struct gtel_renewal *renewal, const struct gtel_card_list *cards,
                       struct gtel_registry *registry)
{
    uint64_t missing_ns = renewal->missing_ns;
    bool is_due = missing_ns > 0 && gtel_env_now(cards->env) - missing_ns < AWAITED_NS;
    for (size_t i = 0; i < cards->n; i++) {
        look_at_node(renewal, cards->env, gtel_card_at(cards, i), registry);
        is_due = is_due || gtel_card_at(cards, i)->is_gone;
    }
    return is_due;
}
