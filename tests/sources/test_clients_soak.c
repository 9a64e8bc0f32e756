/* SPDX-License-Identifier: MIT */
/*
 * Source drm_clients over many gathers of a host whose processes and clients are born, forked,
 * passed on, closed and killed at random, with numbers that are reused: each share that is reported
 * is the work that was really done in the interval of that gather, of those that are dead by then,
 * too; shares are omitted where that cannot be known, and nowhere else; and memory stays flat.
 *
 *     test_clients_soak GATHERS
 */
#include "lanes/group.h"
#include "harness/proc_fixture.h"
#include "harness/test.h"

#include <stdlib.h>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>
#define HAVE_MALLINFO 1
#endif

enum { PIDS = 40, IDS = 90, CAPACITY = 100, RATE_MAX = 900, BELOW_MAX = 3, TICK_NS = 10000000 };

/* What is known of a client beside it. */
struct truth {
    uint64_t worked_ns;   /* really */
    uint64_t gathered_ns; /* the same, at the last gather */
    uint64_t dip_ns;      /* what it hides now */
    uint64_t base_ns;     /* the highest that was reported */
    uint32_t below;       /* gathers in a row below it */
    uint32_t rate;        /* per mille of one engine */
    bool is_open;         /* it was not closed yet */
    bool has_base;        /* it was there at the last gather */
    bool has_worked;      /* then, or may have */
    bool is_newborn;      /* of a process that began after the last gather */
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
    bool has_reported;       /* of the engine */
    uint64_t real_ns;        /* of work since the last gather, of all that lived in it */
    uint64_t unseen_ns;      /* a part of it: of those that came and went since then */
    bool has_lost;           /* since then: a client that was at work */
    size_t gathered;         /* gathers with a share of the GPU */
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

/* Also one that was taken at the last gather: that could not be distinguished from the same client.
 */
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

/* What a client leaves behind that has ended since the last gather. */
static void end_client(struct soak *soak, int c)
{
    struct truth *truth = &soak->truth[c];
    if (!truth->is_open || soak->fake.client[c].is_alive)
        return;
    truth->is_open = false;
    soak->has_lost = soak->has_lost || (truth->has_base && truth->has_worked);
    soak->unseen_ns += truth->has_base ? 0 : truth->worked_ns;
}

static void open_client(struct soak *soak, int process)
{
    bool is_newborn = soak->fake.process[process].start * TICK_NS >= soak->last_ns;
    int fd = free_fd(&soak->fake.process[process]);
    uint32_t id = 1 + next(soak, IDS);
    for (int c = 0; fd >= 0 && c < FAKE_CLIENTS; c++) {
        if (soak->fake.client[c].is_alive || is_id_taken(soak, id))
            continue;
        end_client(soak, c);
        soak->fake.client[c] =
            (struct fake_client){.is_alive = true, .id = id, .memory_kib = next(soak, 100000)};
        /* One in eight does nothing. */
        uint32_t rate = next(soak, 8) > 0 ? next(soak, RATE_MAX) : 0;
        soak->truth[c] = (struct truth){.is_open = true, .rate = rate, .is_newborn = is_newborn};
        fake_proc_set(&soak->fake, process, fd, c);
        return;
    }
}

static int any_process(struct soak *soak)
{
    int at = (int)next(soak, FAKE_PROCESSES);
    return soak->fake.process[at].is_alive && soak->fake.process[at].pid != 1 ? at : -1;
}

/* A client that nobody has checked yet stays with its process: its count is of that one's life.
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
    for (int c = 0; c < FAKE_CLIENTS; c++) {
        uint64_t worked_ns = ns / 1000 * soak->truth[c].rate;
        if (!soak->fake.client[c].is_alive)
            continue;
        soak->truth[c].worked_ns += worked_ns;
        soak->real_ns += worked_ns;
    }
}

static uint32_t count_fds(const struct fake_process *process)
{
    uint32_t n = process->ordinary;
    for (int f = 0; f < FAKE_FDS; f++)
        n += process->fd[f] >= 0;
    return n;
}

/*
 * A client behind a new descriptor is found immediately where the number of descriptors has
 * changed. What takes longer is for the tests of the scan, so here it always does.
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
static void report(struct soak *soak)
{
    for (int c = 0; c < FAKE_CLIENTS; c++) {
        struct truth *truth = &soak->truth[c];
        if (!soak->fake.client[c].is_alive)
            continue;
        bool dips = !soak->has_happened && truth->has_base && next(soak, 60) == 0;
        truth->dip_ns = dips ? next(soak, 2000000000) : 0;
        if (truth->dip_ns > truth->worked_ns)
            truth->dip_ns = truth->worked_ns;
        if (truth->worked_ns - truth->dip_ns >= truth->base_ns)
            truth->dip_ns = 0; /* one that stays behind without going back nobody can know */
        soak->fake.client[c].reported_ns = truth->worked_ns - truth->dip_ns;
    }
}

/* Whether what a client did since the last gather can be known from what it reports. */
static bool is_known_now(struct truth *truth, uint64_t reported_ns, bool is_whole)
{
    bool was_below = truth->below > 0;
    bool is_known = is_whole && !was_below && reported_ns >= truth->base_ns;
    if (!truth->has_base)
        is_known = reported_ns == 0 || (truth->is_newborn && is_whole);
    else if (reported_ns < truth->base_ns && ++truth->below < BELOW_MAX)
        return false; /* the base stays */
    truth->has_base = true;
    truth->is_newborn = false;
    truth->below = 0;
    truth->base_ns = reported_ns;
    return is_known;
}

static double number_of(const struct soak *soak, enum gtel_metric metric)
{
    for (size_t i = 0; i < soak->group.batch.n; i++)
        if (soak->group.batch.reading[i].metric == metric)
            return gtel_reading_number(&soak->group.batch.reading[i]);
    return -1;
}

/* What was done since the last gather, and by whom. */
struct sums {
    size_t clients;
    size_t unknown;    /* of these: of whom it cannot be known */
    uint64_t alive_ns; /* of work */
    double memory;
    double active;
    double system;
    size_t quiet; /* clients that do not say what is active */
};

static struct sums sum_up(struct soak *soak, bool is_whole)
{
    struct sums sums = {0};
    for (int c = 0; c < FAKE_CLIENTS; c++) {
        const struct fake_client *client = &soak->fake.client[c];
        struct truth *truth = &soak->truth[c];
        end_client(soak, c);
        if (!client->is_alive)
            continue;
        bool is_known = is_known_now(truth, client->reported_ns, is_whole);
        uint64_t worked_ns = truth->worked_ns - truth->gathered_ns;
        truth->has_worked = !is_known || worked_ns > 0;
        truth->gathered_ns = truth->worked_ns;
        sums.unknown += !is_known;
        sums.alive_ns += worked_ns;
        int64_t active_kib = fake_proc_active_kib(client);
        sums.memory += (double)client->memory_kib * 1024;
        sums.active += active_kib >= 0 ? (double)active_kib * 1024 : 0;
        sums.quiet += active_kib < 0;
        sums.system += (double)client->id * 1024;
        sums.clients++;
        soak->id_ns[client->id] = soak->fake.now_ns;
    }
    return sums;
}

/* Each kind is the sum over the clients, or not known where one of them does not say it. */
static void check_memory(const struct soak *soak, const struct sums *sums)
{
    bool has_any = sums->clients > 0;
    bool has_active = has_any && sums->quiet == 0;
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY), has_any ? sums->memory : -1, 0);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY_VRAM), has_any ? sums->memory : -1, 0);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY_ALLOCATED), has_any ? sums->memory * 2 : -1,
               0);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY_SYSTEM), has_any ? sums->system : -1, 0);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY_ACTIVE), has_active ? sums->active : -1, 0);
    CHECK_NEAR(number_of(soak, GTEL_M_PROCESS_MEMORY_PURGEABLE), -1, 0);
}

/* Reported is what was done; what only clients did that came and went, nobody can have seen. */
static void check_engine(struct soak *soak, const struct sums *sums, double full_ns)
{
    double got = number_of(soak, GTEL_M_ENGINE_BUSY);
    bool is_known = sums->unknown == 0 && !soak->has_lost;
    soak->has_reported =
        soak->has_reported || got >= 0; /* before: no client has reported an engine yet */
    if (!is_known || !soak->has_reported) {
        CHECK_NEAR(got, -1, 0);
        return;
    }
    soak->gathered++;
    CHECK_NEAR(got, (double)(soak->real_ns - soak->unseen_ns) / full_ns, 1e-9);
    CHECK(got <= (double)soak->real_ns / full_ns + 1e-9);
}

static void gather(struct soak *soak, bool is_whole)
{
    double full_ns = (double)(soak->fake.now_ns - soak->last_ns) * CAPACITY;
    open_others(soak);
    report(soak);
    gtel_group_sample(&soak->group);
    struct sums sums = sum_up(soak, is_whole);
    double busy = number_of(soak, GTEL_M_PROCESS_RENDER);
    if (sums.clients > 0)
        CHECK_NEAR(busy, sums.unknown > 0 ? -1 : (double)sums.alive_ns / full_ns, 1e-9);
    check_memory(soak, &sums);
    if (is_whole)
        check_engine(soak, &sums, full_ns);
    soak->unknown += sums.unknown > 0;
    soak->last_ns = soak->fake.now_ns;
    soak->real_ns = soak->unseen_ns = 0;
    soak->has_lost = false;
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
    CHECK(soak->unknown * 2 < gathers && soak->gathered * 4 > gathers);
    printf("%llu gathers, %llu with unknown shares, %llu with one of the GPU; heap %zu, then %zu "
           "bytes\n",
           (unsigned long long)gathers, (unsigned long long)soak->unknown,
           (unsigned long long)soak->gathered, early, late);
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
