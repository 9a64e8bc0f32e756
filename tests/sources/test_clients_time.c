/* SPDX-License-Identifier: MIT */
/* When a client's text was true: one whose read took long is read again, but not for ever. */
#include "base/buf.h"
#include "recording/tree.h"
#include "sources/clients/scan.h"
#include "harness/test.h"

enum { CLIENTS = 10 };

static const uint64_t second_ns = 1000000000;

/* A recorded machine, in which another program runs while the next texts of clients are read. */
static struct {
    struct gtel_env machine;
    struct gtel_env_ops ops;
    uint64_t extra_ns; /* of the clock */
    uint64_t delay_ns;
    unsigned delays;
    unsigned reads;
    unsigned texts;
    uint64_t text_ns;
} world;

static uint64_t monotonic_ns(void *arg)
{
    return world.machine.ops->monotonic_ns(arg) + world.extra_ns;
}

static bool is_of_client(struct gtel_str text)
{
    struct gtel_str line;
    while (gtel_str_line(&text, &line))
        if (gtel_str_starts(line, GTEL_STR("drm-client-id:")))
            return true;
    return false;
}

static int64_t file_read(void *arg, int handle, void *buf, size_t n)
{
    int64_t r = world.machine.ops->file_read(arg, handle, buf, n);
    if (r <= 0 || !is_of_client((struct gtel_str){buf, (size_t)r}))
        return r;
    world.reads++;
    if (world.delays > 0) {
        world.delays--;
        world.extra_ns += world.delay_ns;
    }
    return r;
}

static uint32_t read_text(void *arg, const struct gtel_scan_text *text)
{
    (void)arg;
    world.texts++;
    world.text_ns = text->t_ns;
    return text->owner.birth.pid; /* a client each */
}

static void closed(void *arg, uint32_t client)
{
    (void)arg;
    (void)client;
}

static void check_gathers(struct gtel_scan *scan)
{
    static const struct {
        const char *label;
        uint64_t delay_ns;
        unsigned delays;
        unsigned again;
    } cases[] = {
        {"not interrupted", 20000, CLIENTS, 0},       {"interrupted once", 650000, 1, 1},
        {"interrupted twice in a row", 650000, 2, 2}, {"always slow", 650000, 1000, 4},
        {"and four times again", 650000, 1000, 4},
    };
    const struct gtel_scan_hooks hooks = {.read = read_text, .closed = closed};
    CHECK_INT(gtel_scan_gather(scan, &hooks), 0);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        test_label = cases[i].label;
        gtel_env_tree_step(&world.machine, second_ns);
        world.reads = 0;
        world.texts = 0;
        world.delay_ns = cases[i].delay_ns;
        world.delays = cases[i].delays;
        CHECK_INT(gtel_scan_gather(scan, &hooks), 0);
        CHECK_INT(world.texts, CLIENTS); /* each once */
        CHECK_INT(world.reads, CLIENTS + cases[i].again);
        CHECK_INT(world.text_ns, monotonic_ns(world.machine.arg)); /* the last read's */
    }
    test_label = "";
}

int main(void)
{
    const struct gtel_scan_settings settings = {.rotation_ns = 0};
    struct gtel_buf text;
    struct gtel_tree *tree = NULL;
    struct gtel_scan *scan = NULL;
    char error[200] = "";
    gtel_buf_init(&text, 1 << 16);
    for (unsigned pid = 1; pid <= CLIENTS; pid++)
        gtel_buf_printf(&text,
                        "char proc/%u/fd/3 226:128\nfile proc/%u/fdinfo/3\n| drm-driver: i915\n"
                        "| drm-client-id: %u\n",
                        pid, pid, pid);
    gtel_buf_str(&text, GTEL_STR("end\n"));
    if (!CHECK(gtel_tree_parse(gtel_buf_text(&text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 1, &world.machine) == 0))
        return test_result();
    world.ops = *world.machine.ops;
    world.ops.monotonic_ns = monotonic_ns;
    world.ops.file_read = file_read;
    const struct gtel_env env = {.ops = &world.ops, .arg = world.machine.arg};
    if (CHECK(gtel_scan_new(&env, &settings, &scan) == 0))
        check_gathers(scan);
    gtel_scan_free(scan);
    gtel_env_tree_done(&world.machine);
    gtel_tree_free(tree);
    gtel_buf_done(&text);
    return test_result();
}
