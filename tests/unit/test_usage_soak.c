/* SPDX-License-Identifier: MIT */
/*
 * Random births, deaths and reused pids against a plain count of the same: CYCLES gathers, each
 * compared whole, and no more memory at the end than half-way.
 */
#include "harness/test.h"
#include "harness/usage_machine.h"

#include <inttypes.h>
#include <stdlib.h>

/* In so many cycles all that may be remembered has filled up by half of the time. */
enum { FULL = 500000 };

enum { PIDS = 64, FIRST_PID = 100, GPUS = 2, OFTEN = 40 };

/* What is known of a pid without the code under test. */
struct truth {
    bool is_there;
    bool is_named;         /* it lived at the end of a gather */
    bool is_replaced;      /* since it was added, by a process that has not been added */
    uint32_t name;         /* below OFTEN: used again and again; above: never again */
    uint64_t memory[GPUS]; /* of this gather; 0: not on it */
    double share[GPUS];
};

struct soak {
    struct machine *machine;
    uint64_t random;
    uint32_t names;
    struct truth truth[PIDS];
    struct truth added[PIDS]; /* as they were when they were added */
};

static uint32_t draw(struct soak *soak, uint32_t n)
{
    soak->random = soak->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(soak->random >> 33) % n;
}

static void begin(struct soak *soak, uint32_t i)
{
    char text[16];
    uint32_t name = draw(soak, 4) > 0 ? draw(soak, OFTEN) : OFTEN + soak->names++;
    soak->truth[i] = (struct truth){.is_there = true, .name = name};
    (void)snprintf(text, sizeof(text), "n%" PRIu32, name);
    machine_begin(soak->machine, FIRST_PID + i, text);
}

static void end(struct soak *soak, uint32_t i)
{
    soak->truth[i].is_there = false;
    machine_end(soak->machine, FIRST_PID + i);
}

static void change_some(struct soak *soak)
{
    for (uint32_t n = draw(soak, 6); n > 0; n--) {
        uint32_t i = draw(soak, PIDS);
        if (!soak->truth[i].is_there || draw(soak, 2) == 0)
            begin(soak, i); /* also where the pid has a new process immediately */
        else
            end(soak, i);
    }
    if (draw(soak, 5000) == 0)
        for (uint32_t i = 0; i < PIDS; i++)
            end(soak, i);
}

static void add_all(struct soak *soak)
{
    for (uint32_t i = 0; i < PIDS; i++) {
        struct truth *truth = &soak->truth[i];
        for (size_t d = 0; d < GPUS; d++) {
            bool is_on = truth->is_there && draw(soak, 3) > 0;
            truth->memory[d] = is_on ? (uint64_t)draw(soak, 1u << 30) + 1 : 0;
            truth->share[d] = is_on ? (double)draw(soak, 1000) / 100000 : 0;
            if (is_on)
                machine_add(soak->machine, d, FIRST_PID + i, truth->memory[d], truth->share[d]);
        }
        soak->added[i] = *truth;
    }
}

/* Between the scan and the end of the gather: some go, some of those pids come again. */
static void change_late(struct soak *soak)
{
    if (draw(soak, 3) > 0)
        return;
    uint32_t i = draw(soak, PIDS);
    if (!soak->truth[i].is_there)
        return;
    if (draw(soak, 2) == 0)
        end(soak, i);
    else
        begin(soak, i);
    soak->added[i].is_replaced = true;
}

static void note_names(struct soak *soak)
{
    for (uint32_t i = 0; i < PIDS; i++) {
        struct truth *added = &soak->added[i];
        bool is_used = added->memory[0] > 0 || added->memory[1] > 0;
        if (added->is_there && is_used && !added->is_replaced)
            soak->truth[i].is_named = true;
        added->is_named = added->is_named || (is_used && !added->is_replaced);
        if (!is_used && !added->is_replaced)
            soak->truth[i].is_named = false; /* forgotten: it would be checked again */
    }
}

/* What the line of a name has on a device, by the plain count. */
static double memory_of(const struct soak *soak, size_t device, uint64_t name)
{
    double sum = 0;
    for (uint32_t i = 0; i < PIDS; i++)
        if (soak->added[i].is_named && soak->added[i].name == name)
            sum += (double)soak->added[i].memory[device];
    return sum;
}

static void compare_line(const struct soak *soak, const struct gtel_reading *reading)
{
    uint64_t name = 0;
    if (gtel_str_eq(reading->dim[0], GTEL_STR("other")))
        return;
    CHECK_INT(gtel_str_u64(gtel_str_skip(reading->dim[0], 1), &name), 0);
    CHECK(gtel_reading_number(reading) == memory_of(soak, reading->device->index, name));
}

static void compare(const struct soak *soak)
{
    const struct machine *machine = soak->machine;
    for (size_t i = 0; i < machine->batch.n; i++)
        if (machine->batch.reading[i].metric == GTEL_M_PROCESS_MEMORY)
            compare_line(soak, &machine->batch.reading[i]);
    for (size_t d = 0; d < GPUS; d++) {
        double memory = 0;
        double share = 0;
        double n = 0;
        for (uint32_t i = 0; i < PIDS; i++) {
            memory += (double)soak->added[i].memory[d];
            share += soak->added[i].share[d];
            n += soak->added[i].memory[d] > 0;
        }
        CHECK(machine_sum(machine, d, GTEL_M_PROCESS_MEMORY) == memory);
        CHECK_NEAR(machine_sum(machine, d, GTEL_M_PROCESS_RENDER), share, 1e-9);
        CHECK(machine_sum(machine, d, GTEL_M_PROCESS_COUNT) == n);
        CHECK(n == 0 || machine_get(machine, d, GTEL_M_GPU_PROCESSES, "") == n);
        CHECK(machine_lines(machine, d) <= 21);
    }
}

/* Resident pages; 0 where it is not known, or says nothing because of an instrumented allocator. */
static uint64_t pages(void)
{
    uint64_t n = 0;
#ifndef __SANITIZE_ADDRESS__
    char line[128] = "";
    struct gtel_str rest;
    struct gtel_str word;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    bool has_line = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    rest = gtel_str_of(line);
    if (!has_line || !gtel_str_word(&rest, &word) || !gtel_str_word(&rest, &word) ||
        gtel_str_u64(word, &n) < 0)
        return 0;
#endif
    return n;
}

int main(int argc, char **argv)
{
    static struct soak soak;
    uint64_t cycles = 0;
    uint64_t before = 0;
    if (argc != 2 || gtel_str_u64(gtel_str_of(argv[1]), &cycles) < 0)
        return 2;
    soak.machine = machine_new("20", "");
    soak.random = 20260101;
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        change_some(&soak);
        add_all(&soak);
        change_late(&soak);
        machine_gather(soak.machine, draw(&soak, 100) == 0 ? 3600 : 0.1 * draw(&soak, 200));
        note_names(&soak);
        compare(&soak);
        if (cycle == cycles / 2)
            before = pages();
    }
    uint64_t after = pages();
    printf("%" PRIu64 " cycles, %" PRIu32 " names, %zu lines remembered, %" PRIu64 " to %" PRIu64
           " pages\n",
           cycles, soak.names, soak.machine->usage.lines.n, before, after);
    if (cycles >= FULL)
        CHECK(after <= before + 16); /* 64 KiB */
    machine_free(soak.machine);
    return test_result();
}
