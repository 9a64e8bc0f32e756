/* SPDX-License-Identifier: MIT */
/*
 * A helper that lies, differently in each of its lives.
 *
 *     liar --lane NAME ... --lies FOLDER
 *
 * The lane "kernel" is honest: there the real program runs. Each start adds a byte to FOLDER/lives,
 * and the number of the life chooses the lie. It lives no longer than a moment, so that the next
 * life comes; but from life LAST on it hangs for an hour, deaf to all that can be ignored.
 */
#include "base/compiler.h"
#include "harness/helper_self.h"
#include "lanes/channel.h"
#include "lanes/peer.h"
#include "lanes/wire.h"
#include "gtel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST = 200, MOMENT_MS = 20 };

struct liar {
    struct gtel_buf out;
    uint64_t seed;
};

static uint64_t next(struct liar *liar)
{
    liar->seed ^= liar->seed << 13; /* xorshift64 (Marsaglia 2003) */
    liar->seed ^= liar->seed >> 7;
    liar->seed ^= liar->seed << 17;
    return liar->seed;
}

static void nap(unsigned ms)
{
    gtel_channel_nap((uint64_t)ms * 1000000);
}

/* Sends what has been put together, but for so many bytes at the end. */
static void say(struct liar *liar, size_t less)
{
    size_t n = liar->out.n > less ? liar->out.n - less : 0;
    (void)gtel_peer_send(HELPER_SELF_WAY, (struct gtel_str){liar->out.p, n}); /* it may hang up */
    gtel_buf_reset(&liar->out);
}

static void greet(struct liar *liar)
{
    gtel_wire_hello(&liar->out, gtel_str_of(gtel_version));
    say(liar, 0);
}

/* A request, or half a moment without one. */
static void hear(void)
{
    char bytes[256];
    if (gtel_peer_wait(HELPER_SELF_WAY, MOMENT_MS) == 1)
        (void)gtel_peer_receive(HELPER_SELF_WAY, bytes, sizeof(bytes));
}

static void put_answer(struct liar *liar)
{
    struct gtel_registry registry = {0};
    struct gtel_batch batch = {.source = (uint8_t)gtel_source_find(GTEL_STR("nvml"))};
    struct gtel_answer answer = {.request = next(liar)};
    struct gtel_device *device = NULL;
    if (gtel_registry_add(&registry, GTEL_STR("0000:ff:00.0"), &device) < 0)
        _exit(9);
    gtel_batch_u64(&batch, device, GTEL_M_GPU_AWAKE, GTEL_STR_NONE, 1);
    gtel_wire_answer(&liar->out, &answer, &registry, true, &batch);
    gtel_batch_done(&batch);
    gtel_registry_done(&registry);
}

static void put_noise(struct liar *liar, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gtel_buf_char(&liar->out, (char)next(liar));
}

/* ---- lies before a request ---- */

static void wrong_version(struct liar *liar)
{
    gtel_wire_hello(&liar->out, GTEL_STR("9.8.7"));
    say(liar, 0);
    nap(MOMENT_MS);
}

static void no_greeting(struct liar *liar)
{
    (void)liar;
}

static void silence(struct liar *liar)
{
    (void)liar;
    nap(MOMENT_MS);
}

static void noise(struct liar *liar)
{
    put_noise(liar, 3000);
    say(liar, 0);
    nap(MOMENT_MS);
}

static void half_a_head(struct liar *liar)
{
    gtel_wire_hello(&liar->out, gtel_str_of(gtel_version));
    say(liar, liar->out.n - 5);
}

static void unasked(struct liar *liar)
{
    greet(liar);
    put_answer(liar);
    say(liar, 0);
    nap(MOMENT_MS);
}

static void huge(struct liar *liar)
{
    greet(liar);
    put_answer(liar);
    memset(liar->out.p + 8, 0xff, 4);
    say(liar, 0);
    nap(MOMENT_MS);
}

static void announced(struct liar *liar)
{
    const uint32_t n = GTEL_FRAME_MAX;
    greet(liar);
    hear();
    put_answer(liar);
    memcpy(liar->out.p + 8, &n, sizeof(n));
    say(liar, 0);
}

static void chatter(struct liar *liar)
{
    greet(liar);
    for (int i = 0; i < 500; i++) {
        gtel_wire_log(&liar->out, GTEL_LOG_DEBUG, GTEL_STR("\x1b[2J\x9b the same again"));
        say(liar, 0);
    }
    gtel_wire_log(&liar->out, 200, GTEL_STR("a level that there is not"));
    say(liar, 0);
    nap(MOMENT_MS);
}

static void shout(struct liar *liar)
{
    static const char line[] = "a library that prints and prints\n";
    greet(liar);
    for (int i = 0; i < 20000; i++)
        (void)!write(STDERR_FILENO, line, sizeof(line) - 1);
}

static void hang_up(struct liar *liar)
{
    greet(liar);
    helper_self_hang_up();
    nap(2 * MOMENT_MS);
}

/* ---- lies after a request ---- */

static void no_answer(struct liar *liar)
{
    greet(liar);
    hear();
    nap(MOMENT_MS);
}

static void killed(struct liar *liar)
{
    greet(liar);
    hear();
    helper_self_kill();
}

static void cut(struct liar *liar)
{
    greet(liar);
    hear();
    put_answer(liar);
    say(liar, 1 + next(liar) % (liar->out.n - 1));
}

static void bent(struct liar *liar)
{
    greet(liar);
    for (int i = 0; i < 5; i++) {
        hear();
        put_answer(liar);
        for (int k = 0; k < 3; k++)
            liar->out.p[GTEL_FRAME_HEADER + next(liar) % (liar->out.n - GTEL_FRAME_HEADER)] ^=
                (char)(1u << next(liar) % 8);
        say(liar, 0);
    }
}

static void twice(struct liar *liar)
{
    greet(liar);
    hear();
    put_answer(liar);
    put_answer(liar);
    say(liar, 0);
    nap(MOMENT_MS);
}

static void request(struct liar *liar)
{
    greet(liar);
    hear();
    gtel_wire_request(&liar->out, next(liar), false);
    say(liar, 0);
    nap(MOMENT_MS);
}

/* It works for a while, and then it does not. */
static void believed(struct liar *liar)
{
    greet(liar);
    for (int i = 0; i < 3; i++) {
        hear();
        put_answer(liar);
        say(liar, 0);
    }
    noise(liar);
}

static void (*const lies[])(struct liar *liar) = {
    wrong_version, no_greeting, silence, noise, half_a_head, unasked,
    huge,          announced,   chatter, shout, hang_up,     no_answer,
    killed,        cut,         bent,    twice, request,     believed};

static size_t count_life(const char *folder)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/lives", folder);
    FILE *file = fopen(path, "ab");
    if (!file || fputc('+', file) == EOF || fflush(file) != 0)
        _exit(8);
    long lives = ftell(file);
    if (fclose(file) != 0 || lives <= 0)
        _exit(8);
    return (size_t)lives;
}

int main(int argc, char **argv)
{
    static struct liar liar;
    if (argc < 5 || strcmp(argv[argc - 2], "--lies") != 0)
        return 7;
    const char *folder = argv[argc - 1];
    argv[argc - 2] = NULL;
    if (strcmp(argv[2], "kernel") == 0)
        return helper_self_become(GTEL_TEST_PROGRAM, argv);
    size_t life = count_life(folder);
    if (life >= LAST) {
        helper_self_deafen();
        nap(3600000);
    }
    if (!helper_self_open())
        return 5;
    gtel_buf_init(&liar.out, 1 << 20);
    liar.seed = 20261122 + life;
    lies[life % GTEL_ARRAY_LEN(lies)](&liar);
    gtel_buf_done(&liar.out);
    return 0;
}
