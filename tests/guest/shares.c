/* SPDX-License-Identifier: MIT */
/*
 * Processes whose work on the GPU is known, and a program that is asked what they do. The jobs are
 * done by children, each with a name and any number of clients, at the word of this process: it
 * knows when each of them began to do what.
 *
 * Beside each answer stands what the kernel says of the same clients at that time.
 */
#include "hands.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MAX = 2, PLAYERS_MAX = 8, TEXT_MAX = 8192 };
enum { RENDER, COPY, VIDEO, ENHANCE };

/* A word to a player; it answers with a byte once it has done so. */
struct word {
    char what; /* 'o' open, 'b' be busy, 'd' duplicate, 'f' fork, 's' send, 't' take */
    uint32_t client;
    uint32_t class;
    uint32_t parts;
};

struct player {
    const char *name;
    pid_t pid;
    int over;            /* words go this way */
    int fd[CLIENTS_MAX]; /* numbers in the player's table; -1: none */
};

struct stage {
    struct guest_schedule *schedule;
    struct player player[PLAYERS_MAX];
    size_t n;
    pid_t heir;
    int pair[2]; /* for a descriptor on its way to another player */
};

/* ---- a player ---- */

/* One that has what this process has, and stays when it goes. */
static pid_t fork_heir(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    (void)prctl(PR_SET_NAME, "heir");
    for (;;)
        (void)pause();
}

/* Returns the number of a descriptor that was opened or of a process that was made, or 0. */
static int obey(const struct word *word, int *fd, const int *pair)
{
    static const char *const nodes[CLIENTS_MAX] = {GUEST_NODE, "/dev/dri/card0"};
    int *client = &fd[word->client];
    switch (word->what) {
    case 'o':
        *client = guest_open_node(nodes[word->client], RENDER, word->parts);
        if (*client < 0)
            guest_fail(nodes[word->client]);
        return *client;
    case 'b':
        guest_set_busy(*client, word->class, word->parts);
        return 0;
    case 'd':
        return dup(*client);
    case 'f':
        return fork_heir();
    case 's':
        guest_pass_fd(pair[0], *client);
        return 0;
    default:
        guest_take_fd(pair[1]);
        return 0;
    }
}

static _Noreturn void play(const char *name, int over, const int *pair)
{
    struct word word;
    int fd[CLIENTS_MAX] = {-1, -1};
    (void)prctl(PR_SET_NAME, name);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(over, &word, sizeof(word)) == (ssize_t)sizeof(word)) {
        int done = obey(&word, fd, pair);
        if (write(over, &done, sizeof(done)) != (ssize_t)sizeof(done))
            break;
    }
    _exit(0);
}

/* ---- the stage ---- */

static struct player *enter(struct stage *stage, const char *name)
{
    struct player *player = &stage->player[stage->n++];
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        guest_fail("socketpair");
    *player = (struct player){.name = name, .over = pair[0], .fd = {-1, -1}};
    player->pid = fork();
    if (player->pid == 0)
        play(name, pair[1], stage->pair);
    (void)close(pair[1]);
    return player;
}

static int command(struct player *player, struct word word)
{
    int done = -1;
    if (write(player->over, &word, sizeof(word)) != (ssize_t)sizeof(word) ||
        read(player->over, &done, sizeof(done)) != (ssize_t)sizeof(done) || done < 0)
        guest_fail(player->name);
    return done;
}

static void say_work(const struct player *player, uint32_t client, uint32_t class, uint32_t parts)
{
    printf("work who=%s client=%u class=%u parts=%u at_us=%llu\n", player->name, client, class,
           parts, (unsigned long long)(guest_now_ns() / 1000));
}

static void work(struct player *player, uint32_t client, uint32_t class, uint32_t parts)
{
    (void)command(player, (struct word){'b', client, class, parts});
    say_work(player, client, class, parts);
}

static void open_client(struct player *player, uint32_t client, uint32_t parts)
{
    player->fd[client] = command(player, (struct word){'o', client, RENDER, parts});
    say_work(player, client, RENDER, parts);
}

static void leave(struct player *player)
{
    (void)kill(player->pid, SIGKILL);
    (void)waitpid(player->pid, NULL, 0);
    (void)close(player->over);
    player->pid = 0;
    printf("gone who=%s at_us=%llu\n", player->name, (unsigned long long)(guest_now_ns() / 1000));
}

/* What the kernel says of a client now, in one line for each key. */
static void say_text(const struct player *player, uint32_t client)
{
    char path[64];
    char text[TEXT_MAX];
    (void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)player->pid, player->fd[client]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    uint64_t at_ns = guest_now_ns();
    if (n <= 0)
        guest_fail(path);
    (void)close(fd);
    text[n] = '\0';
    printf("text who=%s client=%u at_ns=%llu\n", player->name, client, (unsigned long long)at_ns);
    for (char *at = text, *end = strchr(at, '\n'); end; at = end + 1, end = strchr(at, '\n'))
        if (strncmp(at, "drm-", 4) == 0)
            printf("%.*s\n", (int)(end - at), at);
}

static void ask(struct stage *stage, uint32_t n)
{
    guest_sleep_until(stage->schedule->next_ns);
    for (size_t i = 0; i < stage->n; i++)
        for (uint32_t client = 0; client < CLIENTS_MAX; client++)
            if (stage->player[i].pid != 0 && stage->player[i].fd[client] >= 0)
                say_text(&stage->player[i], client);
    struct guest_answer answer = guest_gather_on_time(stage->schedule);
    guest_say_answer("gather", n, 0, &answer);
    guest_say_processes(&stage->schedule->program);
}

/* ---- the play ---- */

/* After the gather of that number, late in the interval. */
static void act(struct stage *stage, uint32_t n)
{
    struct player *owner = &stage->player[0];
    struct player *receiver = &stage->player[1];
    struct player *copier = &stage->player[2];
    struct player *coder = &stage->player[3];
    switch (n) {
    case 4: /* from now on in five descriptors of three processes, none of them older */
        (void)command(owner, (struct word){'d', 0, 0, 0});
        (void)command(owner, (struct word){'s', 0, 0, 0});
        (void)command(receiver, (struct word){'t', 0, 0, 0});
        stage->heir = command(owner, (struct word){'f', 0, 0, 0});
        break;
    case 6:
        work(owner, 0, RENDER, 28);
        work(coder, 0, VIDEO, 60);
        break;
    case 8: {
        struct player *newcomer = enter(stage, "newcomer");
        open_client(newcomer, 0, 24);
        break;
    }
    case 9:
        work(copier, 0, COPY, 31);
        work(coder, 0, VIDEO, 3);
        work(coder, 0, ENHANCE, 0);
        break;
    case 12:
        leave(copier);
        work(owner, 1, VIDEO, 0);
        break;
    case 14:
        leave(owner);
        break;
    default:
        break;
    }
}

static void set_up(struct stage *stage)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stage->pair) != 0)
        guest_fail("socketpair");
    struct player *owner = enter(stage, "owner");
    (void)enter(stage, "receiver"); /* not before: the process that began first has the client */
    struct player *copier = enter(stage, "copier");
    struct player *coder = enter(stage, "coder");
    open_client(owner, 0, 16);
    open_client(owner, 1, 0);
    work(owner, 1, VIDEO, 40);
    open_client(copier, 0, 4);
    work(copier, 0, COPY, 8);
    open_client(coder, 0, 0);
    work(coder, 0, VIDEO, 16);
    work(coder, 0, ENHANCE, 24);
}

int guest_run_shares(char **argv)
{
    uint32_t n = guest_number(argv[1]);
    struct stage *stage = calloc(1, sizeof(*stage));
    if (!stage)
        guest_fail("memory");
    set_up(stage);
    stage->schedule = guest_begin(argv);
    for (uint32_t i = 0; i < n; i++) {
        ask(stage, i);
        guest_sleep_until(stage->schedule->next_ns - stage->schedule->interval_ns *
                                                         (100 + guest_draw(stage->schedule, 400)) /
                                                         1000);
        act(stage, i);
    }
    for (size_t i = 0; i < stage->n; i++)
        if (stage->player[i].pid != 0)
            leave(&stage->player[i]);
    (void)kill(stage->heir, SIGKILL);
    for (uint32_t i = 0; i < 2; i++)
        ask(stage, n + i);
    guest_end(stage->schedule);
    free(stage);
    return 0;
}
