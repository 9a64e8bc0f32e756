/* SPDX-License-Identifier: MIT */
/* The scan for clients on a recorded machine. */
#include "harness/scan_world.h"

#include "harness/test.h"

#include <string.h>

static const uint64_t second_ns = 1000000000;

static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    static const struct gtel_str name = GTEL_STR_INIT("drm-client-id:");
    struct scan_world *world = arg;
    struct gtel_str rest = text->text;
    struct gtel_str line;
    uint64_t key = 0;
    while (gtel_str_line(&rest, &line))
        if (gtel_str_starts(line, name))
            (void)gtel_str_u64(gtel_str_trim(gtel_str_skip(line, name.n)), &key);
    if (key == 0 || !CHECK(key < SCAN_KEYS_MAX))
        return 0;
    CHECK(text->owner.number != 0 && text->t_ns != 0);
    CHECK(text->major == 0 || text->major == 226 || text->major == 261);
    world->texts++;
    world->seen += world->is_read[key] ? 0 : 1;
    world->is_read[key] = true;
    return (uint32_t)key;
}

static bool may_read(void *arg, const struct gtel_scan_ask *ask)
{
    const struct scan_world *world = arg;
    return !world->is_asleep || (ask->major != 0 && ask->minor != 129) ||
           (ask->major == 0 && ask->client != 0);
}

static void closed(void *arg, uint32_t key)
{
    struct scan_world *world = arg;
    CHECK(key != 0 && key < SCAN_KEYS_MAX && !world->is_gone[key]);
    world->is_gone[key % SCAN_KEYS_MAX] = true;
}

bool scan_start(struct scan_world *world, const char *text, uint64_t rotation_ns)
{
    const struct gtel_scan_settings settings = {.rotation_ns = rotation_ns};
    char error[200] = "";
    memset(world, 0, sizeof(*world));
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &world->tree, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    CHECK_INT(gtel_env_tree_init(world->tree, true, 1, &world->machine), 0);
    env_fault_init(&world->fault, &world->machine);
    world->env = world->fault.env;
    world->hooks = (struct gtel_scan_hooks){
        .arg = world, .read = read_text, .may_read = may_read, .closed = closed};
    return CHECK(gtel_scan_new(&world->env, &settings, &world->scan) == 0);
}

void scan_stop(struct scan_world *world)
{
    gtel_scan_free(world->scan);
    CHECK_INT(world->fault.open_files, 0);
    gtel_env_tree_done(&world->machine);
    gtel_tree_free(world->tree);
}

int scan_gather(struct scan_world *world)
{
    world->seen = 0;
    world->texts = 0;
    memset(world->is_read, 0, sizeof(world->is_read));
    memset(world->pid, 0, sizeof(world->pid));
    memset(world->is_gone, 0, sizeof(world->is_gone));
    uint64_t before = world->fault.calls;
    int r = gtel_scan_gather(world->scan, &world->hooks);
    world->calls = world->fault.calls - before;
    for (uint32_t key = 1; key < SCAN_KEYS_MAX; key++)
        if (world->is_read[key] && !world->is_gone[key]) {
            const struct gtel_scan_owner *owner = gtel_scan_owner(world->scan, key);
            world->pid[key] = owner->birth.pid;
            world->process[key] = owner->number;
        }
    return r;
}

/* A second later. */
int scan_later(struct scan_world *world)
{
    gtel_env_tree_step(&world->machine, second_ns);
    return scan_gather(world);
}

const struct gtel_scan_counts *scan_counts(const struct scan_world *world)
{
    return gtel_scan_counts(world->scan);
}

void scan_put_process(struct gtel_buf *out, unsigned pid, unsigned fds)
{
    for (unsigned fd = 0; fd < fds; fd++)
        gtel_buf_printf(out, "link proc/%u/fd/%u -> other\nfile proc/%u/fdinfo/%u\n| pos: 0\n", pid,
                        fd, pid, fd);
}

void scan_put_client(struct gtel_buf *out, unsigned pid, unsigned fd, unsigned id)
{
    gtel_buf_printf(out,
                    "char proc/%u/fd/%u 226:128\nfile proc/%u/fdinfo/%u\n"
                    "| drm-driver:\tx\n| drm-client-id:\t%u\n",
                    pid, fd, pid, fd, id);
}

bool scan_start_buf(struct scan_world *world, struct gtel_buf *text, uint64_t rotation_ns)
{
    gtel_buf_char(text, '\0');
    bool is_fine = CHECK(!text->has_failed) && scan_start(world, text->p, rotation_ns);
    gtel_buf_done(text);
    return is_fine;
}

static uint64_t ticking_ns(void *arg)
{
    struct scan_world *world = arg;
    world->extra_ns += world->tick_ns;
    return world->machine.ops->monotonic_ns(world->machine.arg) + world->extra_ns;
}

/* The ops of the fault env, with the world as their argument where it matters: the clock. */
struct scan_world *scan_the_world;

static uint64_t clock_of_world(void *arg)
{
    (void)arg;
    return ticking_ns(scan_the_world);
}

void scan_set_clock(struct scan_world *world, uint64_t tick_ns)
{
    world->ops = *world->fault.env.ops;
    world->ops.monotonic_ns = clock_of_world;
    world->env.ops = &world->ops;
    world->tick_ns = tick_ns;
    scan_the_world = world;
}
