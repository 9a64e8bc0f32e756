/* SPDX-License-Identifier: MIT */
/* The clients of all processes: keys, numbers that are given again, long random lives. */
#include "harness/alloc_fault.h"
#include "sources/clients/table.h"
#include "harness/test.h"

static size_t used(const struct gtel_client_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        n += table->client[i].key.device != GTEL_CLIENT_FREE ? 1 : 0;
    return n;
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
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            CHECK_INT(gtel_client_table_add(&table, &keys[i]), i + 1);
            CHECK_INT(used(&table), round == 0 ? i + 1 : N);
        }
    gtel_client_table_done(&table);
}

static void test_remove(void)
{
    static const struct gtel_client_key key_a = {.id = 7};
    static const struct gtel_client_key key_b = {.id = 8};
    static const struct gtel_client_key key_c = {.id = 9};
    struct gtel_client_table table = {0};
    table.gather++;
    CHECK_INT(gtel_client_table_add(&table, &key_a), 1);
    CHECK_INT(gtel_client_table_add(&table, &key_b), 2);
    gtel_client_table_get(&table, 1)->share[0].count = 3;
    gtel_client_table_get(&table, 2)->gather = table.gather;
    CHECK(!gtel_client_is_read(&table, gtel_client_table_get(&table, 1)));
    CHECK(gtel_client_is_read(&table, gtel_client_table_get(&table, 2)));
    table.gather++;
    CHECK(!gtel_client_is_read(&table, gtel_client_table_get(&table, 2)));
    CHECK_INT(gtel_client_table_get(&table, gtel_client_table_add(&table, &key_a))->share[0].count,
              3);
    test_label = "the number is given again";
    gtel_client_table_remove(&table, 1);
    CHECK_INT(used(&table), 1);
    CHECK_INT(gtel_client_table_add(&table, &key_c), 1);
    CHECK_INT(gtel_client_table_get(&table, 1)->share[0].count, 0);
    CHECK_INT(gtel_client_table_add(&table, &key_b), 2);
    CHECK_INT(gtel_client_table_add(&table, &key_a), 3);
    test_label = "everything is forgotten";
    gtel_client_table_remove(&table, 2);
    gtel_client_table_reset(&table);
    CHECK_INT(used(&table), 0);
    CHECK_INT(gtel_client_table_add(&table, &key_b), 1);
    test_label = "";
    gtel_client_table_done(&table);
}

static void test_bases(void)
{
    struct gtel_client_table table = {0};
    const struct gtel_client_key key = {.id = 7, .device = 1};
    struct gtel_client *client = gtel_client_table_get(&table, gtel_client_table_add(&table, &key));
    client->share[0] = (struct gtel_share){.count = 100, .kind = GTEL_SHARE_TIME};
    client->has_share = 1;
    client->t_ns = 5;
    gtel_client_table_forget_bases(&table, 0);
    CHECK(client->share[0].kind == GTEL_SHARE_TIME && client->has_share == 1);
    gtel_client_table_forget_bases(&table, 1);
    CHECK(client->share[0].kind == GTEL_SHARE_NONE && client->has_share == 0);
    CHECK_INT(client->t_ns, 0);
    gtel_client_table_done(&table);
}

static void test_limit(void)
{
    struct gtel_client_table table = {0};
    for (uint64_t i = 0; i < GTEL_CLIENTS_MAX; i++)
        CHECK(gtel_client_table_add(&table, &(struct gtel_client_key){.id = i}) == i + 1);
    CHECK_INT(
        gtel_client_table_add(&table, &(struct gtel_client_key){.id = (uint64_t)GTEL_CLIENTS_MAX}),
        0);
    CHECK_INT(gtel_client_table_add(&table, &(struct gtel_client_key){.id = 3}), 4);
    CHECK_INT(table.dropped, 1);
    gtel_client_table_done(&table);
}

/* Each allocation fails in turn: the client is not added, and is the next time. */
static void test_memory(void)
{
    for (uint64_t k = 1; k < 50; k++) {
        struct gtel_client_table table = {0};
        bool was_refused = false;
        alloc_fault_arm(k);
        for (int round = 0; round < 3; round++)
            for (uint64_t i = 0; i < 300; i++)
                was_refused =
                    gtel_client_table_add(&table, &(struct gtel_client_key){.id = i}) == 0 ||
                    was_refused;
        alloc_fault_arm(0);
        CHECK_INT(used(&table), 300);
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

/* Random births and deaths beside a plain list; then a steady set allocates nothing. */
static void test_lives(void)
{
    struct gtel_client_table table = {0};
    uint64_t random = 20261121;
    uint32_t number[LIVES] = {0}; /* 0: not alive */
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        size_t want = 0;
        if (round == ROUNDS - 90)
            alloc_fault_arm(0);
        for (uint32_t i = 0; i < LIVES; i++) {
            const struct gtel_client_key key = {.id = i / 2, .device = i % 2 ? 1 : 0};
            bool was_alive = number[i] != 0;
            bool is_alive = was_alive;
            if (round <= ROUNDS - 100 && next(&random) % 16 == 0)
                is_alive = !was_alive;
            if (was_alive && !is_alive)
                gtel_client_table_remove(&table, number[i]);
            uint32_t now = is_alive ? gtel_client_table_add(&table, &key) : 0;
            CHECK(!was_alive || !is_alive || now == number[i]);
            number[i] = now;
            want += is_alive;
            if (!is_alive)
                continue;
            struct gtel_client *client = gtel_client_table_get(&table, now);
            CHECK(!was_alive || client->memory.bytes[0] == i);
            client->memory.bytes[0] = i;
        }
        CHECK_INT(used(&table), want);
    }
    CHECK(table.n <= LIVES);
    CHECK_INT(alloc_fault_count(), 0);
    gtel_client_table_done(&table);
}

int main(void)
{
    test_keys();
    test_remove();
    test_bases();
    test_limit();
    test_memory();
    test_lives();
    return test_result();
}
