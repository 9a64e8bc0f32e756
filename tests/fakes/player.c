/* SPDX-License-Identifier: MIT */
/* The part of a played vendor library that all of them share. */
#include "fakes/player.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#define READ "rb"
#else
#define READ "re"
#endif

#ifndef GTEL_PLAY_FILE
#define GTEL_PLAY_FILE NULL
#endif

enum { TREE_MAX = 1 << 20, COUNTED_MAX = 16, PAUSE_NS = 700000000 };

static struct {
    const struct gtel_tree *tree;
    unsigned users;
    struct gtel_tree *own; /* read here */
    uint64_t second;       /* of that one */
    uint64_t ended_ns;     /* when the last call ended; 0: none has */
    void *kept;            /* what was leaked */
    bool is_stale;
    bool (*watch)(void *arg, const char *name);
    void *watch_arg;
    struct {
        const char *name;
        uint64_t calls;
    } counted[COUNTED_MAX]; /* calls of which some are to fail */
} playing;

int gtel_play(const struct gtel_tree *tree)
{
    if (!tree) {
        if (playing.users > 0 && --playing.users == 0)
            playing.tree = NULL;
        return 0;
    }
    if (playing.users > 0 && playing.tree != tree)
        return -EBUSY;
    if (playing.users++ == 0)
        gtel_player_reset();
    playing.tree = tree;
    return 0;
}

void gtel_play_watch(bool (*fn)(void *arg, const char *name), void *arg)
{
    playing.watch = fn;
    playing.watch_arg = arg;
}

const struct gtel_tree *gtel_player_tree(void)
{
    return playing.tree;
}

/* The machine that the variable names. */
static void play_own(void)
{
    static char text[TREE_MAX];
    char error[200] = "no such file";
    const char *path = getenv("GTEL_PLAY");
    path = path ? path : GTEL_PLAY_FILE;
    if (!path)
        return;
    FILE *file = fopen(path, READ);
    size_t n = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        (void)fclose(file);
    int r = gtel_tree_parse((struct gtel_str){text, n}, &playing.own, error, sizeof(error));
    if (r == 0)
        r = gtel_play(playing.own);
    if (r < 0)
        (void)fprintf(stderr, "GTEL_PLAY=%s: %s\n", path, error);
}

static void seek_own(void)
{
    if (playing.ended_ns != 0 && gtel_env_real_now() - playing.ended_ns > PAUSE_NS)
        playing.second++;
    gtel_tree_seek(playing.own, playing.second * 1000000000u);
}

#ifdef _WIN32
void gtel_player_nap(uint64_t ms)
{
    Sleep((DWORD)ms);
}
#else
void gtel_player_nap(uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}
#endif

static void spin(uint64_t ms)
{
    uint64_t until_ns = gtel_env_real_now() + ms * 1000000;
    while (gtel_env_real_now() < until_ns)
        continue;
}

/* Kept in a list: nothing that a leak checker would call a leak of ours. */
static void leak(uint64_t mib)
{
    size_t n = (size_t)mib << 20;
    void **block = n > 0 ? malloc(n) : NULL;
    if (!block)
        return;
    memset(block, 1, n);
    block[0] = playing.kept;
    playing.kept = block;
}

/* "CODE N" or "CODE N M". The code, when this call is one of those, or 0. */
static uint32_t fail(const char *name, struct gtel_str text)
{
    uint64_t v[3] = {0, 0, 1};
    struct gtel_str word;
    size_t at = 0;
    for (size_t i = 0; i < 3 && gtel_str_word(&text, &word); i++) {
        bool is_hex = gtel_str_starts(word, GTEL_STR("0x"));
        (void)(is_hex ? gtel_str_hex(word, &v[i]) : gtel_str_u64(word, &v[i]));
    }
    while (at < COUNTED_MAX - 1 && playing.counted[at].name &&
           strcmp(playing.counted[at].name, name) != 0)
        at++;
    playing.counted[at].name = name;
    uint64_t call = ++playing.counted[at].calls;
    return call >= v[1] && call < v[1] + v[2] ? (uint32_t)v[0] : 0;
}

/* So many KiB in one call; a pipe holds 64. */
static void flood(uint64_t kib)
{
    static const char text[] = "the flood";
    char line[1024];
    for (size_t i = 0; i < sizeof(line); i++)
        line[i] = i < sizeof(text) - 1 ? text[i] : '.';
    line[sizeof(line) - 1] = '\n';
    for (; kib > 0; kib--)
        (void)fwrite(line, 1, sizeof(line), stderr);
}

/* What `call double NAME` says. */
static uint32_t act(const char *name, struct gtel_str text)
{
    struct gtel_str word = GTEL_STR_NONE;
    uint64_t n = 0;
    (void)gtel_str_word(&text, &word);
    if (gtel_str_eq(word, GTEL_STR("fail")))
        return fail(name, text);
    (void)gtel_str_u64(gtel_str_trim(text), &n);
    if (gtel_str_eq(word, GTEL_STR("crash")))
        (void)raise(SIGSEGV);
    else if (gtel_str_eq(word, GTEL_STR("hang")))
        gtel_player_nap(n);
    else if (gtel_str_eq(word, GTEL_STR("spin")))
        spin(n);
    else if (gtel_str_eq(word, GTEL_STR("say")))
        (void)fprintf(stderr, "%.*s\n", GTEL_STR_ARG(gtel_str_trim(text)));
    else if (gtel_str_eq(word, GTEL_STR("flood")))
        flood(n);
    else if (gtel_str_eq(word, GTEL_STR("leak")))
        leak(n);
    else if (gtel_str_eq(word, GTEL_STR("stale")))
        playing.is_stale = true;
    return 0;
}

static bool is_missing(const char *name)
{
    struct gtel_str text;
    return gtel_tree_call(playing.tree, gtel_str_of(name), &text) == 0 &&
           gtel_str_eq(text, GTEL_STR("!nosymbol"));
}

uint32_t gtel_player_begin(const char *name)
{
    char key[100];
    struct gtel_str text;
    uint32_t code = 0;
    if (!playing.tree)
        play_own();
    if (!playing.tree)
        return gtel_player_codes.missing;
    if (playing.own)
        seek_own();
    (void)snprintf(key, sizeof(key), "double %s", name);
    if (gtel_tree_call(playing.tree, gtel_str_of(key), &text) == 0)
        code = act(name, text);
    if (code == 0 && playing.watch && playing.watch(playing.watch_arg, name))
        code = gtel_player_codes.unknown;
    if (code == 0 && playing.is_stale)
        code = gtel_player_codes.unknown;
    return code == 0 && is_missing(name) ? gtel_player_codes.missing : code;
}

void gtel_player_end(void)
{
    if (playing.own)
        playing.ended_ns = gtel_env_real_now();
}
