/* SPDX-License-Identifier: MIT */
/*
 * Source drm_clients over many gathers of a host whose processes and clients are born, forked,
 * passed on, closed and killed at random, with numbers that are given anew: sums are those of a
 * plain count kept beside it, and memory stays flat.
 *
 *     test_clients_soak GATHERS
 */
#include "cycle/group.h"
#include "sources/fake_proc.h"
#include "test.h"

#include <stdlib.h>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>
#define HAVE_MALLINFO 1
#endif

enum { PIDS = 40, IDS = 90, CAPACITY = 100, RATE_MAX = 900, BELOW_MAX = 3, TICK_NS = 10000000 };

/* What is known of a client beside it. */
struct truth {
    uint64_t worked_ns; /* really */
    uint64_t dip_ns;    /* what it hides now */
    uint64_t base_ns;   /* the highest that was told */
    uint32_t below;     /* gathers in a row below it */
    uint32_t rate;      /* per mille of one engine */
    bool has_base;
    bool is_newborn; /* of a process that began after the last gather */
};

struct soak {
    struct fake_proc fake;
    struct gtel_options options;
    struct gtel_group group;
    struct truth truth[FAKE_CLIENTS];
    struct fake_process before[FAKE_PROCESSES]; /* at the last gather */
    uint64_t random;
    uint64_t id_ns[IDS + 1]; /* the last gather that has seen it */
    bool has_happened;       /* since the last gather */
    uint64_t last_ns;        /* of the last gather */
    bool has_told;           /* of the engine */
    size_t unknown;          /* gathers with a client whose share could not be known */
};

static uint32_t next(struct soak *soak, uint32_t n)
{
    soak->random = soak->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(soak->random >> 33) % n;
}

/* Births and deaths */

static int free_fd(const struct fake_process *process)
{
    for (int f = 0; f < FAKE_FDS; f++)
        if (process->fd[f] < 0)
            return f;
    return -1;
}

/* Also one that was taken at the last gather: that could not be told from the same client. */
static bool is_id_taken(const struct soak *soak, uint32_t id)
{
    const struct fake_proc *fake = &soak->fake;
    if (soak->id_ns[id] == soak->last_ns)
        return true;
    for (int c = 0; c < FAKE_CLIENTS; c++)
        if (fake->client[c].is_alive && fake->client[c].id == id)
            return true;
    return false;
}

static void open_client(struct soak *soak, int process)
{
    bool is_newborn = soak->fake.process[process].start * TICK_NS >= soak->last_ns;
    int fd = free_fd(&soak->fake.process[process]);
    uint32_t id = 1 + next(soak, IDS);
    for (int c = 0; fd >= 0 && c < FAKE_CLIENTS; c++) {
        if (soak->fake.client[c].is_alive || is_id_taken(soak, id))
            continue;
        soak->fake.client[c] =
            (struct fake_client){.is_alive = true, .id = id, .memory_kib = next(soak, 100000)};
        soak->truth[c] = (struct truth){.rate = next(soak, RATE_MAX), .is_newborn = is_newborn};
        fake_proc_set(&soak->fake, process, fd, c);
        return;
    }
}

static int any_process(struct soak *soak)
{
    int at = (int)next(soak, FAKE_PROCESSES);
    return soak->fake.process[at].is_alive && soak->fake.process[at].pid != 1 ? at : -1;
}

/* A client that nobody has looked at yet stays with its process: its count is of that one's life.
 */
static bool is_known(const struct soak *soak, int client)
{
    return client < 0 || soak->truth[client].has_base;
}

static void fork_process(struct soak *soak, int parent)
{
    for (int f = 0; f < FAKE_FDS; f++)
        if (!is_known(soak, soak->fake.process[parent].fd[f]))
            return;
    int child = fake_proc_start(&soak->fake, 2 + next(soak, PIDS));
    for (int f = 0; child >= 0 && f < FAKE_FDS; f++)
        fake_proc_set(&soak->fake, child, f, soak->fake.process[parent].fd[f]);
}

/* dup within a process, or a descriptor sent to another one. */
static void pass_on(struct soak *soak, int from, int to)
{
    int fd = free_fd(&soak->fake.process[to]);
    int client = soak->fake.process[from].fd[next(soak, FAKE_FDS)];
    if (fd >= 0 && client >= 0 && is_known(soak, client))
        fake_proc_set(&soak->fake, to, fd, client);
}

static void happen(struct soak *soak)
{
    int process = any_process(soak);
    int other = any_process(soak);
    uint32_t what = next(soak, 12);
    if (what < 2) {
        int born = fake_proc_start(&soak->fake, 2 + next(soak, PIDS));
        for (uint32_t n = next(soak, 4); born >= 0 && n > 0; n--)
            open_client(soak, born);
    } else if (process < 0) {
        return;
    } else if (what < 4) {
        fake_proc_end(&soak->fake, process);
    } else if (what == 4) {
        open_client(soak, process);
    } else if (what == 5) {
        fork_process(soak, process);
    } else if (what < 8 && other >= 0) {
        pass_on(soak, process, other);
    } else if (what < 10) {
        fake_proc_set(&soak->fake, process, (int)next(soak, FAKE_FDS), -1);
    }
}

/* Time */

static void work(struct soak *soak, uint64_t ns)
{
    soak->fake.now_ns += ns;
    for (int c = 0; c < FAKE_CLIENTS; c++)
        if (soak->fake.client[c].is_alive)
            soak->truth[c].worked_ns += ns / 1000 * soak->truth[c].rate;
}

static uint32_t count_fds(const struct fake_process *process)
{
    uint32_t n = process->ordinary;
    for (int f = 0; f < FAKE_FDS; f++)
        n += process->fd[f] >= 0;
    return n;
}

/*
 * A client behind a new descriptor is found at once where the number of descriptors has changed.
 * What takes longer is for the tests of the scan, so here it always does.
 */
static void open_others(struct soak *soak)
{
    for (int p = 0; p < FAKE_PROCESSES; p++) {
        struct fake_process *process = &soak->fake.process[p];
        bool has_changed = memcmp(process->fd, soak->before[p].fd, sizeof(process->fd)) != 0;
        if (process->is_alive && has_changed && count_fds(process) == count_fds(&soak->before[p]))
            process->ordinary = process->ordinary == 3 ? 4 : 3;
        soak->before[p] = *process;
    }
}

/*
 * What the texts say: now and then a counter goes back for a while; but not when a client's owner
 * may have gone, for that together means another client.
 */
static void tell(struct soak *soak)
{
    for (int c = 0; c < FAKE_CLIENTS; c++) {
        struct truth *truth = &soak->truth[c];
        if (!soak->fake.client[c].is_alive)
            continue;
        bool dips = !soak->has_happened && next(soak, 10) == 0;
        truth->dip_ns = dips ? next(soak, 2000000000) : 0;
        if (truth->dip_ns > truth->worked_ns)
            truth->dip_ns = truth->worked_ns;
        soak->fake.client[c].told_ns = truth->worked_ns - truth->dip_ns;
    }
}

/* The share of a client by the rules of linux-drm, or -1 where it cannot be known. */
static double share_of(struct truth *truth, uint64_t told_ns, uint64_t dt_ns, bool is_whole)
{
    double share = -1;
    if (!truth->has_base) {
        bool is_known = told_ns == 0 || (truth->is_newborn && is_whole);
        share = is_known ? (double)told_ns / (double)dt_ns / CAPACITY : -1;
    } else if (told_ns >= truth->base_ns) {
        share = (double)(told_ns - truth->base_ns) / (double)dt_ns / CAPACITY;
    } else if (++truth->below < BELOW_MAX) {
        return 0; /* the base stays */
    }
    truth->has_base = true;
    truth->is_newborn = false;
    truth->below = 0;
    truth->base_ns = told_ns;
    return share;
}

static double number_of(const struct soak *soak, enum gtel_metric metric)
{
    for (size_t i = 0; i < soak->group.batch.n; i++)
        if (soak->group.batch.reading[i].metric == metric)
            return gtel_reading_number(&soak->group.batch.reading[i]);
    return -1;
}

static void check_engine(struct soak *soak, double shares, size_t unknown, bool is_whole)
{
    double got = number_of(soak, GTEL_M_ENGINE_BUSY);
    if (unknown > 0 || !is_whole) {
        CHECK_NEAR(got, -1, 0);
        return;
    }
    if (got < 0 && !soak->has_told)
        return; /* no client has told of an engine yet */
    soak->has_told = true;
    CHECK_NEAR(got, shares, 1e-9);
}

static void gather(struct soak *soak, bool is_whole)
{
    uint64_t dt_ns = soak->fake.now_ns - soak->last_ns;
    double memory = 0;
    double shares = 0;
    size_t unknown = 0;
    size_t clients = 0;
    open_others(soak);
    tell(soak);
    gtel_group_sample(&soak->group);
    for (int c = 0; c < FAKE_CLIENTS; c++) {
        const struct fake_client *client = &soak->fake.client[c];
        if (!client->is_alive)
            continue;
        double share = share_of(&soak->truth[c], client->told_ns, dt_ns, is_whole);
        unknown += share < 0;
        shares += share > 0 ? share : 0;
        memory += (double)client->memory_kib * 1024;
        soak->id_ns[client->id] = soak->fake.now_ns;
        clients++;
    }
    double busy = number_of(soak, GTEL_M_PROCESS_RENDER);
    if (clients > 0 && soak->has_told)
        CHECK_NEAR(busy, unknown > 0 || !is_whole ? -1 : shares, 1e-9);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY), clients > 0 ? memory : -1, 0);
    check_engine(soak, shares, unknown, is_whole);
    soak->unknown += unknown > 0;
    soak->last_ns = soak->fake.now_ns;
}

static size_t heap(void)
{
#ifdef HAVE_MALLINFO
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static bool start(struct soak *soak)
{
    *soak = (struct soak){.random = 20261121};
    gtel_options_init(&soak->options);
    if (!CHECK(fake_proc_init(&soak->fake)) ||
        !CHECK(gtel_group_init(&soak->group, "clients", &soak->fake.env, &soak->options) == 0))
        return false;
    (void)fake_proc_start(&soak->fake, 1);
    gather(soak, false);
    return true;
}

static void run(struct soak *soak, uint64_t gathers)
{
    size_t early = 0; /* the most memory in the second tenth, and in the last one */
    size_t late = 0;
    for (uint64_t i = 0; i < gathers && !test_has_failed(); i++) {
        work(soak, 20000000 + next(soak, 400) * 1000000ull);
        uint32_t events = next(soak, 4);
        soak->has_happened = events > 0;
        for (; events > 0; events--)
            happen(soak);
        work(soak, 300000000 + next(soak, 400) * 1000000ull);
        gather(soak, true);
        size_t used = i % 16 == 0 ? heap() : 0;
        if (i >= gathers / 10 && i < gathers / 5)
            early = used > early ? used : early;
        if (i >= gathers / 10 * 9)
            late = used > late ? used : late;
    }
    CHECK(late <= early + 65536);
    CHECK(soak->unknown * 2 < gathers);
    printf("%llu gathers, %llu with unknown shares; heap %zu, then %zu bytes\n",
           (unsigned long long)gathers, (unsigned long long)soak->unknown, early, late);
}

int main(int argc, char **argv)
{
    static struct soak soak;
    uint64_t gathers = 0;
    if (argc < 2 || !CHECK(gtel_str_u64(gtel_str_of(argv[1]), &gathers) == 0) || !start(&soak))
        return 1;
    run(&soak, gathers);
    gtel_group_done(&soak.group);
    CHECK_INT(soak.fake.open_files, 0);
    fake_proc_done(&soak.fake);
    return test_result();
}
