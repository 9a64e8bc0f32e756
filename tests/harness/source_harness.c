/* SPDX-License-Identifier: MIT */
/* One source on one recorded machine, for tests. */
#include "harness/source_harness.h"

#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool machine_init(struct machine *machine, const char *text, const char *source)
{
    char error[200] = "no text";
    memset(machine, 0, sizeof(*machine));
    gtel_options_init(&machine->options);
    machine->needs_discovery = true;
    machine->whole = gtel_source_whole(gtel_sources[gtel_source_find(gtel_str_of(source))]);
    machine->source = &machine->whole;
    machine->state = calloc(1, machine->source->state_size);
    machine->fault = calloc(1, sizeof(*machine->fault));
    if (!text || !machine->state || !machine->fault ||
        gtel_tree_parse(gtel_str_of(text), &machine->tree, error, sizeof(error)) < 0 ||
        gtel_env_tree_init(machine->tree, true, 0, &machine->tree_env) < 0) {
        printf("tree: %s\n", error);
        return false;
    }
    env_fault_init(machine->fault, &machine->tree_env);
    return true;
}

void machine_close(struct machine *machine)
{
    if (machine->is_open)
        machine->source->close(machine->state);
    machine->is_open = false;
    gtel_cards_done(&machine->cards);
}

void machine_done(struct machine *machine)
{
    machine_close(machine);
    free(machine->state);
    gtel_batch_done(&machine->batch);
    headlines_done(&machine->headlines);
    gtel_registry_done(&machine->registry);
    gtel_env_tree_done(&machine->tree_env);
    gtel_tree_free(machine->tree);
    free(machine->fault);
}

int machine_gather(struct machine *machine)
{
    int r = 0;
    gtel_batch_reset(&machine->batch);
    if (!machine->is_open) {
        r = gtel_source_open(machine->source, machine->state, &machine->fault->env,
                             &machine->options);
        if (r < 0)
            return r;
        machine->is_open = true;
    }
    if (!machine->cards.env)
        gtel_cards_init(&machine->cards, &machine->fault->env, &machine->options);
    machine->registry.cards = &machine->cards;
    gtel_cards_begin(&machine->cards, &machine->registry);
    if (machine->needs_discovery || machine->version != machine->cards.version) {
        r = machine->source->discover(machine->state, &machine->registry);
        machine->version = machine->cards.version;
        if (r < 0)
            return r;
        machine->needs_discovery = false;
    }
    r = machine->source->sample(machine->state, &machine->registry, &machine->batch);
    headlines_append(&machine->headlines, machine->registry.n, &machine->batch);
    machine->needs_discovery = r == -ENODEV;
    return r;
}

void machine_step(struct machine *machine, uint64_t ms)
{
    gtel_env_tree_step(&machine->tree_env, ms * 1000000);
}

static bool is_dim(struct gtel_str dim, const char *want)
{
    return !want || gtel_str_eq(dim, gtel_str_of(want));
}

const struct gtel_reading *machine_find(const struct machine *machine, const char *device,
                                        enum gtel_metric metric, const char *dim0, const char *dim1)
{
    for (size_t i = 0; i < machine->batch.n; i++) {
        const struct gtel_reading *reading = &machine->batch.reading[i];
        if (reading->metric == metric && is_dim(reading->dim[0], dim0) &&
            is_dim(reading->dim[1], dim1) && (!device || strcmp(reading->device->key, device) == 0))
            return reading;
    }
    return NULL;
}

uint64_t machine_hash(const struct machine *machine)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < machine->batch.n; i++) {
        const struct gtel_reading *reading = &machine->batch.reading[i];
        double value = gtel_reading_number(reading);
        uint64_t h = gtel_hash(GTEL_HASH_SEED, reading->device->key, strlen(reading->device->key));
        h = gtel_hash(h, &reading->metric, sizeof(reading->metric));
        h = gtel_hash(h, &value, sizeof(value));
        for (size_t d = 0; d < GTEL_DIMS_MAX; d++)
            h = gtel_hash(h, reading->dim[d].p, reading->dim[d].n);
        sum += h;
    }
    return sum;
}

static void gather_thrice(struct machine *machine)
{
    for (int i = 0; i < 3; i++) {
        (void)machine_gather(machine); /* the fault may show in any of them */
        machine_step(machine, 100);
    }
}

/* The hash of the last gather of a life in which that call fails; 0: none does. */
static uint64_t fail_once(const char *text, const char *source, uint64_t call, int error,
                          uint64_t *ret_calls)
{
    struct machine machine;
    if (!CHECK(machine_init(&machine, text, source)))
        return 0;
    env_fault_arm(machine.fault, call, error);
    gather_thrice(&machine);
    *ret_calls = machine.fault->calls;
    CHECK(call == 0 || machine.fault->has_failed);
    env_fault_arm(machine.fault, 0, 0);
    gather_thrice(&machine);
    machine.needs_discovery = true;
    CHECK_INT(machine_gather(&machine), 0);
    uint64_t hash = machine_hash(&machine);
    for (size_t i = 0; i < machine.registry.n; i++)
        CHECK(machine.registry.device[i]->is_present);
    machine_close(&machine);
    CHECK_INT(machine.fault->open_files, 0);
    machine_done(&machine);
    return hash;
}

uint64_t machine_fail_in_turn(const char *text, const char *source, const int *errors)
{
    const char *name = test_label;
    uint64_t calls = 0;
    uint64_t ignored = 0;
    uint64_t want = fail_once(text, source, 0, 0, &calls);
    CHECK(want != 0);
    for (; *errors != 0; errors++)
        for (uint64_t k = 1; k <= calls; k++) {
            char label[100];
            (void)snprintf(label, sizeof(label), "%s: call %llu of %llu with %d", name,
                           (unsigned long long)k, (unsigned long long)calls, *errors);
            test_label = label;
            CHECK(fail_once(text, source, k, *errors, &ignored) == want);
        }
    test_label = name;
    return calls;
}
