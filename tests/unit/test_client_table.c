/* SPDX-License-Identifier: MIT */
/* The clients of all processes: duplicates, owners, ageing, ids reused, long random lives. */
#include "harness/alloc_fault.h"
#include "sources/clients/table.h"
#include "harness/test.h"

#include <errno.h>
#include <string.h>

static const struct gtel_client_key key_a = {.id = 7, .device = 0};

static struct gtel_client *see(struct gtel_client_table *table, struct gtel_client_key key,
                               uint32_t pid, uint64_t start, int want)
{
    struct gtel_client *client = NULL;
    struct gtel_client_process process = {.pid = pid, .number = start};
    bool is_new = false;
    CHECK_INT(gtel_client_table_see(table, &key, process, &client, &is_new), want);
    return client;
}

static uint32_t owner_of(const struct gtel_client_table *table, uint64_t id)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->client[i].key.id == id)
            return table->client[i].owner.pid;
    return 0;
}

/* One gather in which the client 7 is seen with each of these processes (0 ends the list). */
static uint32_t gather(struct gtel_client_table *table, const uint32_t *pids)
{
    gtel_client_table_begin(table);
    for (size_t i = 0; pids[i] != 0; i++)
        see(table, key_a, pids[i], 1, i == 0);
    gtel_client_table_end(table);
    return owner_of(table, 7);
}

static void test_owner(void)
{
    static const struct {
        const char *label;
        uint32_t pids[5][4];
        uint32_t owner[5];
    } cases[] = {
        {"one process, several descriptors", {{5, 5, 5}, {5, 5}, {5}}, {5, 5, 5}},
        {"the first of those that are seen", {{4, 9, 6}, {6, 9, 4}}, {4, 4}},
        {"kept when a lower one comes", {{9}, {3, 9}, {3, 9}}, {9, 9, 9}},
        {"given on when the owner has gone", {{9}, {12, 9}, {15, 12}, {12, 15}}, {9, 9, 15, 15}},
        {"kept over gathers without a sight", {{9}, {0}, {3, 9}}, {9, 9, 9}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_client_table table = {0};
        test_label = cases[i].label;
        for (size_t k = 0; k < 5 && cases[i].owner[k] != 0; k++) {
            CHECK_INT(gather(&table, cases[i].pids[k]), cases[i].owner[k]);
            CHECK_INT(table.n, 1);
        }
        gtel_client_table_done(&table);
    }
    test_label = "";
}

struct births {
    const char *label;
    struct gtel_pid_birth birth[3]; /* in the order of sight; pid 0 ends the list */
    uint32_t owner;
};

static void gather_births(struct gtel_client_table *table, const struct births *births)
{
    struct gtel_client *client;
    bool is_new;
    gtel_client_table_begin(table);
    for (size_t k = 0; k < 3 && births->birth[k].pid != 0; k++) {
        struct gtel_client_process process = {
            .pid = births->birth[k].pid, .number = 1, .birth = births->birth[k]};
        CHECK_INT(gtel_client_table_see(table, &key_a, process, &client, &is_new), k == 0);
    }
    gtel_client_table_end(table);
}

/* Of the processes that are seen with a client in a gather, it is that of the one that began first.
 */
static void test_births(void)
{
    static const struct births cases[] = {
        {"a child with a lower number", {{70, 20, 30}, {60, 30, 1}}, 30},
        {"a child with a higher number", {{60, 30, 1}, {70, 40, 30}}, 30},
        {"forked in the same tick", {{60, 20, 30}, {60, 30, 1}}, 30},
        {"strangers of one tick: the first seen", {{60, 20, 1}, {60, 30, 1}}, 20},
        {"a start that is not known", {{0, 20, 30}, {60, 30, 1}}, 20},
        {"three generations", {{80, 20, 40}, {70, 40, 30}, {60, 30, 1}}, 30},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gtel_client_table table = {0};
        test_label = cases[i].label;
        for (unsigned round = 0; round < 2; round++) {
            gather_births(&table, &cases[i]);
            CHECK_INT(owner_of(&table, 7), cases[i].owner);
        }
        gtel_client_table_done(&table);
    }
    test_label = "";
}

/* A process number that was used again is another process. */
static void test_pid_reuse(void)
{
    struct gtel_client_table table = {0};
    gtel_client_table_begin(&table);
    see(&table, key_a, 50, 100, 1);
    gtel_client_table_end(&table);
    gtel_client_table_begin(&table);
    see(&table, key_a, 50, 900, 1);
    see(&table, key_a, 20, 300, 0);
    gtel_client_table_end(&table);
    CHECK_INT(owner_of(&table, 7), 50);
    CHECK_INT(table.client[0].owner.number, 900);
    gtel_client_table_done(&table);
}

static void test_keys(void)
{
    static const struct gtel_client_key keys[] = {
        {.id = 7, .device = 0},
        {.id = 7, .device = 1},
        {.id = 8, .device = 0},
        {.id = 7, .pid = 100},
        {.id = 7, .device = 1, .pid = 100},
        {.id = 7, .pid = 101},
        {.id = 0, .device = 0},
        {.id = UINT64_MAX, .device = 0},
    };
    enum { N = sizeof(keys) / sizeof(keys[0]) };
    struct gtel_client_table table = {0};
    for (int round = 0; round < 2; round++) {
        gtel_client_table_begin(&table);
        for (size_t i = 0; i < N; i++)
            see(&table, keys[i], 1, 1, 1);
        for (size_t i = 0; i < N; i++)
            see(&table, keys[i], 2, 1, 0);
        gtel_client_table_end(&table);
        CHECK_INT(table.n, N);
    }
    gtel_client_table_done(&table);
}

static void test_remove(void)
{
    static const uint32_t nobody[] = {0};
    static const uint32_t somebody[] = {5, 0};
    struct gtel_client_table table = {0};
    const uint64_t hash = gtel_client_hash(&key_a);
    CHECK(!gtel_client_table_find(&table, hash));
    gtel_client_table_remove(&table, hash);
    gather(&table, somebody);
    table.client[0].share[0] = (struct gtel_share){.count = 3, .kind = GTEL_SHARE_TIME};
    for (int i = 0; i < 10; i++) {
        gather(&table, nobody);
        CHECK(table.n == 1 && !gtel_client_is_seen(&table, &table.client[0]));
    }
    gather(&table, somebody);
    CHECK(table.n == 1 && table.client[0].share[0].count == 3);
    CHECK(gtel_client_table_find(&table, hash) == table.client);
    gtel_client_table_remove(&table, hash + 1);
    CHECK_INT(table.n, 1);
    gtel_client_table_remove(&table, hash);
    CHECK_INT(table.n, 0);
    gather(&table, somebody);
    CHECK(table.n == 1 && table.client[0].share[0].count == 0);
    gtel_client_table_reset(&table);
    CHECK(table.n == 0 && !gtel_client_table_find(&table, hash));
    gather(&table, somebody);
    CHECK_INT(table.n, 1);
    gtel_client_table_done(&table);
}

/* The owner is gone and a counter stands below its base: the id has been given to another one. */
static void test_id_reuse(void)
{
    struct gtel_client_table table = {0};
    for (int i = 0; i < 4; i++) {
        gtel_client_table_begin(&table);
        struct gtel_client *client = see(&table, key_a, i < 2 ? 5 : 6, 1, 1);
        if (!client)
            break;
        client->share[0] = (struct gtel_share){.count = 100, .kind = GTEL_SHARE_TIME};
        client->has_share = 1;
        client->is_below = i > 0; /* at 1: its own counter catches up; at 2: another client */
        gtel_client_table_end(&table);
        CHECK_INT(table.client[0].share[0].kind, i == 2 ? GTEL_SHARE_NONE : GTEL_SHARE_TIME);
        CHECK_INT(table.client[0].has_share, i != 2);
    }
    gtel_client_table_forget_bases(&table, 1);
    CHECK_INT(table.client[0].share[0].kind, GTEL_SHARE_TIME);
    gtel_client_table_forget_bases(&table, 0);
    CHECK_INT(table.client[0].share[0].kind, GTEL_SHARE_NONE);
    gtel_client_table_done(&table);
}

static void test_limit(void)
{
    struct gtel_client_table table = {0};
    gtel_client_table_begin(&table);
    for (uint64_t i = 0; i < GTEL_CLIENTS_MAX; i++)
        see(&table, (struct gtel_client_key){.id = i}, 1, 1, 1);
    see(&table, (struct gtel_client_key){.id = GTEL_CLIENTS_MAX}, 1, 1, -ENOSPC);
    see(&table, (struct gtel_client_key){.id = 3}, 1, 1, 0);
    gtel_client_table_end(&table);
    CHECK_INT(table.n, GTEL_CLIENTS_MAX);
    CHECK_INT(table.dropped, 1);
    gtel_client_table_done(&table);
}

/* Each allocation fails in turn: the client is not taken, and is at the next gather. */
static void test_memory(void)
{
    for (uint64_t k = 1; k < 50; k++) {
        struct gtel_client_table table = {0};
        bool was_refused = false;
        alloc_fault_arm(k);
        for (int round = 0; round < 3; round++) {
            gtel_client_table_begin(&table);
            for (uint64_t i = 0; i < 300; i++) {
                struct gtel_client *client;
                bool is_new;
                struct gtel_client_key key = {.id = i};
                int r = gtel_client_table_see(&table, &key, (struct gtel_client_process){.pid = 1},
                                              &client, &is_new);
                CHECK(r == 1 || r == -ENOMEM);
                was_refused = was_refused || r < 0;
            }
            gtel_client_table_end(&table);
        }
        alloc_fault_arm(0);
        CHECK_INT(table.n, 300);
        gtel_client_table_done(&table);
        if (!was_refused)
            return;
    }
    CHECK(false);
}

/* A small generator, so that a failure can be repeated. */
static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

enum { LIVES = 512, ROUNDS = 4000 };

static struct gtel_client_key key_of(uint32_t i)
{
    return (struct gtel_client_key){.id = i / 2, .device = i % 2};
}

/* Random births and deaths beside a plain list; then a steady set allocates nothing. */
static void test_lives(void)
{
    struct gtel_client_table table = {0};
    uint64_t random = 20261121;
    bool is_alive[LIVES] = {false};
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        size_t want = 0;
        if (round == ROUNDS - 90)
            alloc_fault_arm(0);
        gtel_client_table_begin(&table);
        for (uint32_t i = 0; i < LIVES; i++) {
            bool was_alive = is_alive[i];
            if (round <= ROUNDS - 100 && next(&random) % 16 == 0)
                is_alive[i] = !was_alive;
            const struct gtel_client_key key = key_of(i);
            if (was_alive && !is_alive[i])
                gtel_client_table_remove(&table, gtel_client_hash(&key));
            want += is_alive[i];
            if (!is_alive[i])
                continue;
            struct gtel_client *client = see(&table, key, i + 1, 1, 1);
            CHECK(client && (!was_alive || client->memory.bytes[0] == i));
            if (client)
                client->memory.bytes[0] = i;
        }
        gtel_client_table_end(&table);
        CHECK_INT(table.n, want);
    }
    CHECK_INT(alloc_fault_count(), 0);
    gtel_client_table_done(&table);
}

int main(void)
{
    test_owner();
    test_births();
    test_pid_reuse();
    test_keys();
    test_remove();
    test_id_reuse();
    test_limit();
    test_memory();
    test_lives();
    return test_result();
}
