/* SPDX-License-Identifier: MIT */
/* Lists what a card has to read, and opens the list. */
#include "sources/drm/attr_list.h"

#include "base/error.h"
#include "base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 1024 };

int gtel_attr_list_init(struct gtel_attr_list *list)
{
    gtel_arena_reset(list->arena);
    list->attr = gtel_arena_alloc(list->arena, GTEL_ATTRS_MAX * sizeof(*list->attr));
    list->path = gtel_arena_alloc(list->arena, GTEL_ATTRS_MAX * sizeof(*list->path));
    if (!list->attr || !list->path)
        return -ENOMEM;
    list->env = list->card->cards->env;
    (void)snprintf(list->card_path, sizeof(list->card_path), "%s/%s",
                   gtel_drm_folder(&list->card->drm), list->card->drm.card);
    list->hash = GTEL_HASH_SEED;
    return 0;
}

void gtel_attr_list_check(struct gtel_attr_list *list, int r)
{
    if (r == -ENOMEM)
        list->error = r;
    else if (gtel_error_is_broken(r))
        list->failure = r;
}

struct gtel_str gtel_attr_text(struct gtel_attr_list *list, struct gtel_str text)
{
    struct gtel_card_texts *texts = &list->card->cards->texts;
    for (size_t i = 0; i < texts->n; i++)
        if (gtel_str_eq(texts->text[i], text))
            return texts->text[i];
    struct gtel_str copy;
    if (!gtel_grow(&texts->text, &texts->size, texts->n + 1, TEXTS_MAX, sizeof(copy)) ||
        gtel_arena_str(&texts->arena, text, &copy) < 0)
        return GTEL_STR_NONE;
    texts->text[texts->n++] = copy;
    return copy;
}

struct gtel_str gtel_attr_number_text(struct gtel_attr_list *list, uint64_t number)
{
    char buf[24];
    (void)snprintf(buf, sizeof(buf), "%llu", (unsigned long long)number);
    return gtel_attr_text(list, gtel_str_of(buf));
}

void gtel_attr_add(struct gtel_attr_list *list, const struct gtel_attr_kind *kind,
                   const struct gtel_str *dims, const char *dir, struct gtel_str name)
{
    char path[GTEL_FS_PATH_MAX];
    struct gtel_str copy;
    gtel_fs_path(path, "%s/%.*s", dir, GTEL_STR_ARG(name));
    if (list->n == GTEL_ATTRS_MAX) {
        list->dropped++;
        return;
    }
    if (gtel_arena_str(list->arena, gtel_str_of(path), &copy) < 0) {
        list->error = -ENOMEM;
        return;
    }
    list->path[list->n] = copy.p;
    list->hash = gtel_hash(list->hash, copy.p, copy.n + 1);
    struct gtel_attr *attr = &list->attr[list->n++];
    *attr = (struct gtel_attr){
        .kind = *kind,
        .origin = list->origin,
        .name = gtel_attr_text(list, name),
        .device = list->card->device,
    };
    for (size_t i = 0; dims && i < GTEL_ATTR_DIMS; i++) {
        list->hash = gtel_hash(list->hash, &dims[i].n, sizeof(dims[i].n));
        list->hash = gtel_hash(list->hash, dims[i].p, dims[i].n);
        attr->dim[i] = dims[i];
    }
}

void gtel_attr_add_files(struct gtel_attr_list *list, const struct gtel_str *dims, const char *dir,
                         const struct gtel_attr_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gtel_attr_add(list, &files[i].kind, dims, dir, gtel_str_of(files[i].name));
}

size_t gtel_attr_numbers(struct gtel_attr_list *list, const char *dir, struct gtel_str prefix,
                         uint64_t *ret, size_t max)
{
    struct gtel_str *names;
    size_t n;
    size_t kept = 0;
    int r = gtel_fs_list(list->env, dir, list->arena, 256, &names, &n);
    gtel_attr_list_check(list, r);
    if (r < 0)
        return 0;
    for (size_t i = 0; i < n && kept < max; i++)
        if (gtel_str_starts(names[i], prefix) &&
            gtel_str_u64(gtel_str_skip(names[i], prefix.n), &ret[kept]) == 0)
            kept++;
    return kept;
}

/* ---- opening ---- */

static void inherit(struct gtel_attr *attr, const struct gtel_attrs *before)
{
    for (size_t i = 0; before->attr && i < before->n; i++) {
        const struct gtel_attr *old = &before->attr[i];
        if (old->kind.metric != attr->kind.metric || !gtel_str_eq(old->name, attr->name) ||
            !gtel_str_eq(old->dim[0], attr->dim[0]) || !gtel_str_eq(old->dim[1], attr->dim[1]))
            continue;
        attr->state = old->state;
        return;
    }
}

/* Opens those of the list that are there; the first failure, and of what. */
static int open_files(struct gtel_attrs *attrs, const struct gtel_attr_list *list,
                      const char **ret_what)
{
    int first = list->failure;
    *ret_what = "its folder in /sys";
    for (size_t i = 0; i < list->n; i++) {
        struct gtel_attr *attr = &attrs->attr[attrs->n];
        *attr = attrs->attr[i];
        int r = gtel_fs_open(list->env, &attr->file, list->path[i]);
        attrs->n += r == 0 ? 1 : 0;
        if (r < 0 && r != -ENOENT && first == 0) {
            first = r;
            *ret_what = list->path[i];
        }
    }
    return first;
}

static int open_list(struct gtel_attrs *attrs, const struct gtel_attr_list *list)
{
    const char *what;
    bool was_whole = !attrs->attr || attrs->hash != 0; /* else the failure has been logged */
    struct gtel_attr *attr = calloc(list->n + 1, sizeof(*attr));
    if (!attr)
        return -ENOMEM;
    for (size_t i = 0; i < list->n; i++) {
        attr[i] = list->attr[i];
        inherit(&attr[i], attrs);
    }
    gtel_attrs_close(list->env, attrs);
    attrs->attr = attr;
    int first = open_files(attrs, list, &what);
    attrs->keep_ns = gtel_attr_keep(attrs->attr, attrs->n);
    attrs->hash = first == 0 ? list->hash : 0;
    if (first < 0 && was_whole)
        gtel_log(&list->env->log, GTEL_LOG_WARNING, "%s: %s: %s%s: %s; going on without it%s",
                 list->card->drm.driver, list->card->drm.key, first == list->failure ? "" : "/",
                 what, strerror(-first),
                 gtel_error_is_refusal(first) ? " until this user may read it" : "");
    return 0;
}

/* A driver makes its files one after another: one that was missing may have come since. */
static bool has_more(const struct gtel_attrs *attrs, const struct gtel_attr_list *list)
{
    size_t n = 0;
    for (size_t i = 0; attrs->n < list->n && i < list->n; i++)
        n += gtel_fs_exists(list->env, list->path[i]) ? 1 : 0;
    return n > attrs->n;
}

int gtel_attrs_update(struct gtel_attrs *attrs, const struct gtel_attr_list *list)
{
    bool is_whole = attrs->attr && attrs->hash != 0;
    if (list->error < 0)
        return list->error;
    if (list->dropped > 0 && !attrs->is_drop_logged)
        gtel_log(&list->env->log, GTEL_LOG_WARNING, "%s: %s has %zu files too many to read",
                 list->card->drm.driver, list->card->drm.key, list->dropped);
    attrs->is_drop_logged = list->dropped > 0;
    if (is_whole && list->failure < 0)
        return 0;
    return attrs->hash != list->hash || has_more(attrs, list) ? open_list(attrs, list) : 0;
}

/* ---- what is missing ---- */

static void put(struct gtel_findings *findings, const struct gtel_attr *attr, int error,
                const char *what, const char *why, const char *fix)
{
    const char *const text[3] = {what, why, fix};
    gtel_finding_put(findings, attr->device, gtel_metric_row(attr->kind.metric)->measurement, error,
                     text);
}

/* Files that are there and cannot be opened: the attributes in use lack them. */
static void diagnose_closed(const struct gtel_attr_list *list, struct gtel_findings *findings)
{
    const char *const folder[3] = {list->card->path, "a folder or name below it cannot be read",
                                   gtel_error_is_refusal(list->failure) ? "let this user read it"
                                                                        : NULL};
    if (list->failure < 0)
        gtel_finding_put(findings, list->card->device, GTEL_MEASUREMENT_GPU, list->failure, folder);
    for (size_t i = 0; i < list->n; i++) {
        struct gtel_fs_file file = {0};
        int r = gtel_fs_open(list->env, &file, list->path[i]);
        gtel_fs_close(list->env, &file);
        if (r < 0 && r != -ENOENT)
            put(findings, &list->attr[i], r, list->path[i], NULL,
                gtel_error_is_refusal(r) ? "let this user read the file, or run gtel as root"
                                         : NULL);
    }
}

/* A file that is open and cannot be read, or shows what cannot be true. */
static void diagnose_attr(const struct gtel_env *env, const struct gtel_attr *attr,
                          struct gtel_findings *findings)
{
    const struct gtel_attr_state *state = &attr->state;
    char name[GTEL_DRM_NAME_MAX];
    char buf[48];
    struct gtel_str text;
    (void)gtel_str_copy(name, sizeof(name), attr->name);
    if (state->error < 0) {
        int r = gtel_fs_read(env, &attr->file, buf, sizeof(buf), &text);
        bool is_text = r == 0 && (state->error == -EINVAL || state->error == -ERANGE);
        put(findings, attr, r < 0 || is_text ? r : state->error, name,
            is_text ? "its text is not what the kernel's documents say" : NULL, NULL);
    }
    if (state->suspect_until_ns > gtel_env_now(env))
        put(findings, attr, 0, name, "it makes impossible steps, which are ignored", NULL);
    else if (attr->kind.form == GTEL_ATTR_ENERGY && state->counter.last_ns > 0 &&
             state->counter.last == 0)
        put(findings, attr, 0, name, "it stays 0, which cannot be true and is ignored", NULL);
}

void gtel_attrs_diagnose(const struct gtel_env *env, const struct gtel_attrs *attrs,
                         const struct gtel_attr_list *list, struct gtel_findings *findings)
{
    if (list)
        diagnose_closed(list, findings);
    for (size_t i = 0; i < attrs->n; i++)
        diagnose_attr(env, &attrs->attr[i], findings);
}
