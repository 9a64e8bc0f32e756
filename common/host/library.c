/* SPDX-License-Identifier: MIT */
/* Vendor libraries: where one lies that dlopen() of a helper finds, and what it offers. */
#include "host/library.h"

#include <errno.h>
#include <string.h>

enum { DEPTH_MAX = 4, FILES_MAX = 256 }; /* of files that include each other */

/*
 * What linkers know without a configuration, by distribution: Debian's by processor, "64" of others
 * (ld.so(8)); the rest is where drivers of NixOS and packages of a Guix system lie.
 */
static const char *const folders[] = {
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "lib64",
    "lib",
    "usr/local/lib/x86_64-linux-gnu",
    "usr/local/lib64",
    "usr/local/lib",
    "run/opengl-driver/lib",
    "run/current-system/profile/lib",
};

struct search {
    const struct gtel_env *env;
    struct gtel_arena arena;
    const char *name; /* of the library */
    char *ret;
    size_t size;  /* of ret */
    size_t files; /* read so far */
};

/* Writes the path only when something is there. */
static bool is_there(const struct search *search, const char *path)
{
    return gtel_fs_exists(search->env, path) &&
           gtel_str_copy(search->ret, search->size, gtel_str_of(path));
}

static bool is_in(const struct search *search, struct gtel_str folder)
{
    return is_there(search, GTEL_FS_AT("%.*s/%s", GTEL_STR_ARG(folder), search->name));
}

/* A pattern has one star, as that of every distribution ("*.conf"), or none. */
static bool matches(struct gtel_str pattern, struct gtel_str name)
{
    size_t star = gtel_str_find(pattern, '*');
    if (star == pattern.n)
        return gtel_str_eq(name, pattern);
    struct gtel_str behind = gtel_str_skip(pattern, star + 1);
    return name.n >= star + behind.n && gtel_str_starts(name, gtel_str_head(pattern, star)) &&
           gtel_str_ends(name, behind);
}

static bool read_file(struct search *search, const char *path, int depth);

/*
 * Reads the files of one pattern of an include, which counts from the folder of the file that has
 * it ("include ld.so.conf.d/x.conf" of Fedora) or from the root. Only its last part has a star.
 */
static bool include(struct search *search, const char *file, struct gtel_str pattern, int depth)
{
    char whole[GTEL_FS_PATH_MAX];
    struct gtel_str *names;
    size_t n;
    bool is_found = false;
    if (gtel_str_starts(pattern, GTEL_STR("/")))
        gtel_fs_path(whole, "%.*s", GTEL_STR_ARG(gtel_str_skip(pattern, 1)));
    else
        gtel_fs_path(whole, "%.*s%.*s", (int)gtel_str_behind(gtel_str_of(file), '/'), file,
                     GTEL_STR_ARG(pattern));
    struct gtel_str name = gtel_str_of(whole);
    size_t folder = gtel_str_behind(name, '/');
    name = gtel_str_skip(name, folder);
    if (gtel_fs_list(search->env, GTEL_FS_AT("%.*s", (int)(folder > 0 ? folder - 1 : 0), whole),
                     &search->arena, FILES_MAX, &names, &n) < 0)
        return false;
    for (size_t i = 0; i < n && !is_found; i++) {
        if (!matches(name, names[i]))
            continue;
        is_found = read_file(
            search, GTEL_FS_AT("%.*s%.*s", (int)folder, whole, GTEL_STR_ARG(names[i])), depth + 1);
    }
    return is_found;
}

/* The folder of a line without the slash at its front and its end; "=libc6" is of old systems. */
static struct gtel_str folder_of(struct gtel_str line)
{
    struct gtel_str folder = gtel_str_trim(gtel_str_head(line, gtel_str_find(line, '=')));
    while (gtel_str_ends(folder, GTEL_STR("/")))
        folder.n--;
    return gtel_str_skip(folder, 1);
}

/* Whether the library is in a folder that a file names (ldconfig(8)), or one that it includes. */
static bool read_file(struct search *search, const char *path, int depth)
{
    char buf[GTEL_FS_TEXT_MAX];
    struct gtel_str rest;
    struct gtel_str line;
    struct gtel_str word;
    if (depth >= DEPTH_MAX || search->files++ >= FILES_MAX ||
        gtel_fs_text(search->env, path, buf, sizeof(buf), &rest) < 0)
        return false;
    while (gtel_str_line(&rest, &line)) {
        line = gtel_str_trim(gtel_str_head(line, gtel_str_find(line, '#')));
        if (gtel_str_starts(line, GTEL_STR("/"))) {
            if (is_in(search, folder_of(line)))
                return true;
        } else if (gtel_str_word(&line, &word) && gtel_str_eq(word, GTEL_STR("include"))) {
            while (gtel_str_word(&line, &word))
                if (include(search, path, word, depth))
                    return true;
        }
    }
    return false;
}

static bool find_name(struct search *search)
{
    if (read_file(search, "etc/ld.so.conf", 0))
        return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(folders); i++)
        if (is_in(search, gtel_str_of(folders[i])))
            return true;
    return false;
}

bool gtel_library_find(const struct gtel_env *env, const char *const *names, char *ret, size_t size)
{
    struct search search = {.env = env, .ret = ret, .size = size};
    bool is_found = false;
    for (size_t i = 0; names[i] && !is_found; i++) {
        search.name = names[i];
        search.files = 0;
        is_found = names[i][0] == '/' ? is_there(&search, names[i] + 1) : find_name(&search);
    }
    gtel_arena_done(&search.arena);
    return is_found;
}

/* ---- opening ---- */

static void set_pointer(void *table, size_t offset, void *address)
{
    memcpy((char *)table + offset, &address, sizeof(address));
}

/* A library in a folder that the linker's cache does not have yet is opened by its path. */
static int open_any(const struct gtel_env *env, const char *const *sonames, void **ret)
{
    char path[GTEL_FS_PATH_MAX] = "/";
    const char *const by_path[] = {path, NULL};
    int r = env->ops->lib_open(env->arg, sonames, ret);
    if (r != -ENOENT || !gtel_library_find(env, sonames, path + 1, sizeof(path) - 1))
        return r;
    return env->ops->lib_open(env->arg, by_path, ret);
}

int gtel_dynlib_open(const struct gtel_env *env, struct gtel_dynlib *dynlib,
                     const char *const *sonames, const struct gtel_dynlib_symbol *symbols, size_t n,
                     void *table)
{
    void *lib;
    int r = open_any(env, sonames, &lib);
    if (r < 0)
        return r;
    dynlib->lib = lib;
    for (size_t i = 0; i < n; i++) {
        void *address = env->ops->lib_symbol(env->arg, lib, symbols[i].name);
        set_pointer(table, symbols[i].offset, address);
        if (address || !symbols[i].is_required)
            continue;
        gtel_log(&env->log, GTEL_LOG_WARNING, "%s has no %s: not used; install a newer version",
                 sonames[0], symbols[i].name);
        for (size_t k = 0; k <= i; k++)
            set_pointer(table, symbols[k].offset, NULL);
        gtel_dynlib_close(env, dynlib);
        return -ENOSYS;
    }
    return 0;
}

void gtel_dynlib_close(const struct gtel_env *env, struct gtel_dynlib *dynlib)
{
    if (!dynlib->lib)
        return;
    env->ops->lib_close(env->arg, dynlib->lib);
    dynlib->lib = NULL;
}
