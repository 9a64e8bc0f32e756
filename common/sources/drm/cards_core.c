/* SPDX-License-Identifier: MIT */
/* Which device is the GPU behind a card. */
#include "sources/drm/cards.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *card; /* driver of the card */
    const char *core; /* and of the GPU */
} facades[] = {{"msm", "adreno"},  {"msm_dpu", "adreno"},  {"msm_mdp", "adreno"},
               {"mdp4", "adreno"}, {"vc4-drm", "vc4_v3d"}, {"etnaviv", "etnaviv-gpu"}};

struct search {
    char name[GTEL_DRM_NAME_MAX];
    size_t n;
};

/* A device's name has a dot: "3d00000.gpu". Other entries of a driver's folder have none. */
static int add_device(void *arg, struct gtel_str name)
{
    struct search *search = arg;
    if (gtel_str_find(name, '.') < name.n &&
        gtel_str_copy(search->name, sizeof(search->name), name))
        search->n++;
    return 0;
}

int gtel_card_core(const struct gtel_env *env, const struct gtel_drm_card *drm, char *path)
{
    struct search search = {.n = 0};
    size_t i = 0;
    while (i < GTEL_ARRAY_LEN(facades) && strcmp(facades[i].card, drm->driver) != 0)
        i++;
    gtel_fs_path(path, "%s/%s/device", gtel_drm_folder(drm), drm->card);
    if (i == GTEL_ARRAY_LEN(facades))
        return 0;
    gtel_fs_path(path, "sys/bus/platform/drivers/%s", facades[i].core);
    int r = env->ops->dir_list(env->arg, path, add_device, &search);
    if (r < 0)
        return r;
    gtel_fs_path(path, "sys/bus/platform/drivers/%s/%s", facades[i].core, search.name);
    return search.n == 1 ? 0 : -ENOENT;
}
