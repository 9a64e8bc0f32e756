/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without a fuzzer: every file of a corpus folder, then mutations of them.
 *
 *     replay CORPUS [N]      N mutations (100000), the same ones in each run
 *
 * The input ends where a page without any rights begins, so that reading one byte too far ends the
 * run with any compiler. The input of a run that ends badly is left in "fuzz-crash" in the present
 * directory: it belongs into the corpus.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_MAX = 65536, SEEDS_MAX = 1000 };

struct seed {
    uint8_t *p;
    size_t n;
};

struct replay {
    struct seed seed[SEEDS_MAX];
    size_t nseeds;
    uint64_t random;
    uint8_t work[INPUT_MAX];
    size_t n;       /* bytes in work */
    uint8_t *guard; /* the page that must not be read */
};

/* For the signal handler alone. */
static const uint8_t *volatile input_at;
static volatile size_t input_n;

static void leave_input(int number)
{
    int fd = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write(fd, input_at, input_n) == (ssize_t)input_n)
        (void)close(fd);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* xorshift64: the same numbers everywhere. */
static uint64_t next(struct replay *replay)
{
    uint64_t x = replay->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    replay->random = x;
    return x;
}

/* A number below n, which may be 0. */
static size_t below(struct replay *replay, size_t n)
{
    return n ? (size_t)(next(replay) % n) : 0;
}

static void run(struct replay *replay, const uint8_t *p, size_t n)
{
    uint8_t *at = replay->guard - n;
    if (n > 0)
        memcpy(at, p, n);
    input_at = at;
    input_n = n;
    (void)LLVMFuzzerTestOneInput(at, n);
}

static void insert(struct replay *replay, const void *p, size_t n)
{
    size_t at = below(replay, replay->n + 1);
    if (n == 0 || replay->n + n > INPUT_MAX)
        return;
    memmove(replay->work + at + n, replay->work + at, replay->n - at);
    memcpy(replay->work + at, p, n);
    replay->n += n;
}

static void cut(struct replay *replay)
{
    size_t at = below(replay, replay->n);
    size_t n = 1 + below(replay, replay->n - at);
    if (replay->n == 0)
        return;
    memmove(replay->work + at, replay->work + at + n, replay->n - at - n);
    replay->n -= n;
}

/* Text that parsers stumble over. */
static void insert_word(struct replay *replay)
{
    static const char *const words[] = {
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775808",
        "-1",
        "0x",
        "1e999",
        "\n",
        "\r\n",
        " ",
        "\t",
        "=",
        ":",
        "/",
        ",",
        "\"",
        "\\",
        "..",
        "0",
        "\xff\xff\xff\xff",
    };
    const char *word = words[below(replay, sizeof(words) / sizeof(words[0]))];
    insert(replay, word, strlen(word));
}

/* A piece of some seed, at any place. */
static void insert_piece(struct replay *replay)
{
    const struct seed *seed = &replay->seed[below(replay, replay->nseeds)];
    size_t from = below(replay, seed->n);
    size_t n = below(replay, seed->n - from + 1);
    insert(replay, seed->p + from, n);
}

static void change_byte(struct replay *replay)
{
    if (replay->n == 0)
        return;
    uint8_t *byte = &replay->work[below(replay, replay->n)];
    if (next(replay) & 1)
        *byte = (uint8_t)next(replay);
    else
        *byte = (uint8_t)(*byte ^ (1U << below(replay, 8)));
}

/* The smaller one of two, so that most runs are short, and a change meets what matters. */
static const struct seed *choose(struct replay *replay)
{
    const struct seed *a = &replay->seed[below(replay, replay->nseeds)];
    const struct seed *b = &replay->seed[below(replay, replay->nseeds)];
    return a->n < b->n ? a : b;
}

static void mutate(struct replay *replay)
{
    const struct seed *seed = choose(replay);
    if (seed->n > 0)
        memcpy(replay->work, seed->p, seed->n);
    replay->n = seed->n;
    for (size_t i = 1 + below(replay, 6); i > 0; i--) {
        switch (below(replay, 6)) {
        case 0:
            cut(replay);
            break;
        case 1:
            insert_word(replay);
            break;
        case 2:
            insert_piece(replay);
            break;
        default:
            change_byte(replay);
            break;
        }
    }
}

/* The file at path as a seed; what cannot be read is an error, so that no seed is lost unseen. */
static int load(struct replay *replay, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > INPUT_MAX || replay->nseeds == SEEDS_MAX) {
        (void)fprintf(stderr, "%s: unreadable or too long, or too many files\n", path);
        return 1;
    }
    struct seed *seed = &replay->seed[replay->nseeds];
    seed->p = malloc((size_t)st.st_size + 1);
    ssize_t n = seed->p ? read(fd, seed->p, (size_t)st.st_size) : -1;
    (void)close(fd);
    replay->nseeds++;
    if (n != st.st_size)
        return 1;
    seed->n = (size_t)n;
    return 0;
}

static int skip_dots(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Sorted, so that every machine makes the same mutations. */
static int load_folder(struct replay *replay, const char *folder)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, skip_dots, alphasort);
    int failures = n > 0 ? 0 : 1;
    for (int i = 0; i < n; i++) {
        char path[1024];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        failures += load(replay, path);
        free(names[i]);
    }
    free(names);
    if (n <= 0)
        (void)fprintf(stderr, "%s: no corpus\n", folder);
    return failures;
}

static int make_guard(struct replay *replay)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (INPUT_MAX + page - 1) / page * page;
    uint8_t *p =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    replay->guard = p + room;
    return mprotect(replay->guard, page, PROT_NONE) != 0;
}

int main(int argc, char **argv)
{
    static struct replay replay = {.random = 0x9e3779b97f4a7c15};
    uint64_t n = 100000;
    if (argc < 2 || argc > 3 || (argc == 3 && gtel_str_u64(gtel_str_of(argv[2]), &n) < 0)) {
        (void)fprintf(stderr, "usage: replay CORPUS [N]\n");
        return 2;
    }
    if (make_guard(&replay) != 0 || load_folder(&replay, argv[1]) != 0)
        return 1;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], leave_input);
    run(&replay, NULL, 0);
    for (size_t i = 0; i < replay.nseeds; i++)
        run(&replay, replay.seed[i].p, replay.seed[i].n);
    for (uint64_t i = 0; i < n; i++) {
        mutate(&replay);
        run(&replay, replay.work, replay.n);
    }
    for (size_t i = 0; i < replay.nseeds; i++)
        free(replay.seed[i].p);
    printf("%zu files, %llu mutations\n", replay.nseeds, (unsigned long long)n);
    return 0;
}
