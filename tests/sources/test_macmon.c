/* SPDX-License-Identifier: MIT */
/* Source macmon: its one child, the child's lines, and what is left when it ends. */
#include "harness/played_tool.h"
#include "harness/source_harness.h"
#include "harness/source_lane.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "opt/homebrew/bin/macmon"
#define VERSION "file System/Library/CoreServices/SystemVersion.plist\n| <?xml\n"
#define MAC VERSION "file " PROGRAM "\n|\n"
#define LINE(ratio, watts)                                                                         \
    "{\"gpu_active_ratio\":" ratio ",\"gpu_power\":" watts                                         \
    ",\"all_power\":9,\"gpu_freq_mhz\":720}\n"

/* What plays macmon. */
static struct {
    const char *text; /* what it writes */
    size_t n;
    size_t at;
    size_t chunk; /* in one read at most; 0: all that there is room for */
    bool has_ended;
    int status;
    bool knows_soc;
    bool is_endless; /* begins again at the end of the text */
    bool is_paced;   /* the text once a second */
    uint64_t next_ns;
    const struct gtel_env *clock;
    bool is_running;
    unsigned starts;
    uint64_t start_ns[32]; /* of each of them, on the machine's clock */
    unsigned reads;
    uint64_t waited_ns;  /* in all of them */
    char args[256];      /* of the last start */
    const char *path;    /* of a real one instead; NULL: none */
    struct gtel_env env; /* that starts that */
} child;

static int child_start(void *arg, const char *const *args)
{
    (void)arg;
    size_t n = 0;
    bool has_soc = false;
    if (child.starts < sizeof(child.start_ns) / sizeof(child.start_ns[0]))
        child.start_ns[child.starts] = gtel_env_now(child.clock);
    child.starts++;
    for (size_t i = 0; args[i] && n < sizeof(child.args); i++) {
        n += (size_t)snprintf(child.args + n, sizeof(child.args) - n, " %s", args[i]);
        has_soc = has_soc || strcmp(args[i], "--soc-info") == 0;
    }
    CHECK(!child.is_running); /* never a second one */
    child.is_running = true;
    child.at = 0;
    if (has_soc && !child.knows_soc) {
        child.has_ended = true;
        child.status = 2;
    } else if (child.status == 2) {
        child.has_ended = false;
        child.status = 0;
    }
    if (child.path) {
        const char *const real[] = {child.path, args[1], NULL};
        return gtel_env_child_start(&child.env, real);
    }
    return (int)child.starts;
}

static int64_t child_read(void *arg, int handle, void *buf, size_t n, uint64_t wait_ns)
{
    (void)arg;
    child.reads++;
    child.waited_ns += wait_ns;
    if (child.path)
        return child.env.ops->child_read(child.env.arg, handle, buf, n, wait_ns);
    if (!CHECK(handle == (int)child.starts) || child.has_ended)
        return 0;
    if (child.at == child.n && child.is_endless)
        child.at = 0;
    if (child.is_paced && gtel_env_now(child.clock) >= child.next_ns) {
        child.at = 0;
        child.next_ns = gtel_env_now(child.clock) + 1000000000;
    }
    size_t size = child.n - child.at < n ? child.n - child.at : n;
    if (child.chunk > 0 && size > child.chunk)
        size = child.chunk;
    if (size == 0)
        return -EAGAIN;
    memcpy(buf, child.text + child.at, size);
    child.at += size;
    return (int64_t)size;
}

static int child_end(void *arg, int handle)
{
    (void)arg;
    child.is_running = !child.path && handle != (int)child.starts; /* another one was ended */
    if (child.path)
        return child.env.ops->child_end(child.env.arg, handle);
    return child.has_ended ? child.status : 256 + 9;
}

struct play {
    struct machine machine;
    struct gtel_env_ops ops;
};

static void says(const char *text)
{
    child.text = text;
    child.n = strlen(text);
    child.at = 0;
}

static bool begin(struct play *play, const char *text)
{
    memset(play, 0, sizeof(*play));
    memset(&child, 0, sizeof(child));
    child.knows_soc = true;
    says(LINE("0.25", "4"));
    if (!CHECK(machine_init(&play->machine, text, "macmon")))
        return false;
    child.clock = &play->machine.tree_env;
    play->ops = *play->machine.tree_env.ops;
    play->ops.child_start = child_start;
    play->ops.child_read = child_read;
    play->ops.child_end = child_end;
    play->machine.tree_env.ops = &play->ops;
    return true;
}

static void end(struct play *play)
{
    machine_close(&play->machine);
    CHECK(!child.is_running);
    CHECK_INT(play->machine.fault->open_files, 0);
    machine_done(&play->machine);
}

static double value(const struct play *play, enum gtel_metric metric, const char *dim)
{
    const struct gtel_reading *got = machine_find(&play->machine, "apple0", metric, dim, NULL);
    return got ? gtel_reading_number(got) : -1;
}

static double busy(const struct play *play)
{
    return value(play, GTEL_M_GPU_BUSY, NULL);
}

/* Lets quarters of a second pass; calls tick() when it is due, as the lane does. */
static void pass_quarters(struct play *play, unsigned quarters)
{
    struct machine *machine = &play->machine;
    for (unsigned i = 0; i < quarters; i++) {
        machine_step(machine, 250);
        uint64_t due = machine->source->due_ns(machine->state);
        if (due > 0 && due <= gtel_env_now(&machine->tree_env))
            CHECK(!machine->source->tick(machine->state, &machine->registry, &machine->batch));
    }
}

static void pass(struct play *play, unsigned seconds)
{
    pass_quarters(play, 4 * seconds);
}

static size_t findings(struct play *play, const char *what, const char *why)
{
    struct gtel_findings found = {0};
    play->machine.source->diagnose(play->machine.state, &play->machine.registry, &found);
    size_t n = found.n;
    if (n > 0 && what) {
        CHECK(gtel_str_ends(found.finding[0].what, gtel_str_of(what)));
        CHECK_STR(found.finding[0].why, why);
        bool is_refused = strstr(why, " belongs to user ") != NULL;
        CHECK(gtel_str_starts(found.finding[0].fix, is_refused ? GTEL_STR("macmon and its folder")
                                                               : GTEL_STR("try it by hand")));
        CHECK_INT(found.finding[0].measurement, GTEL_MEASUREMENT_GPU);
    }
    gtel_findings_done(&found);
    return n;
}

/* One child, whatever is asked and however often. */
static void test_one_child(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    child.is_paced = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_STR(gtel_str_of(child.args), " /" PROGRAM " pipe -s 0 -i 1000 --soc-info");
    CHECK_NEAR(busy(&play), 0.25, 0);
    CHECK_NEAR(value(&play, GTEL_M_POWER, "gpu"), 4, 0);
    CHECK_NEAR(value(&play, GTEL_M_GPU_POWER, NULL), 4, 0); /* not of the chip */
    CHECK_NEAR(value(&play, GTEL_M_GPU_FREQUENCY, NULL), 720e6, 0);
    CHECK_INT(play.machine.registry.n, 1);
    const struct gtel_device *device = play.machine.registry.device[0];
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_GPU]), "apple0");
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_VENDOR]), "apple");
    CHECK_STR(gtel_str_of(device->label[GTEL_LABEL_DRIVER]), "agx");
    uint64_t before = play.machine.fault->calls;
    uint64_t reads = child.reads;
    for (int i = 0; i < 100; i++) {
        pass(&play, 1);
        play.machine.needs_discovery = i % 10 == 0;
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), 0.25, 0);
    }
    says("");
    machine_step(&play.machine, 3600000); /* the Mac sleeps, and a gather comes first: no silence */
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.starts, 1);
    CHECK_INT(play.machine.fault->calls - before, child.reads - reads); /* nothing else */
    CHECK_INT(findings(&play, NULL, NULL), 0);
    end(&play);
}

/* A gather has the mean of the lines since the one before, and repeats the last ones a while. */
static void test_mean(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    says("");
    CHECK_INT(machine_gather(&play.machine), 0); /* waits in vain */
    CHECK_INT(play.machine.registry.n, 0);
    says(LINE("0.2", "4") LINE("0.4", "8"));
    pass(&play, 1);
    says(LINE("0.9", "12"));
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.5, 1e-9);
    CHECK_NEAR(value(&play, GTEL_M_POWER, "gpu"), 8, 1e-9);
    pass(&play, 1);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.5, 1e-9);
    says(LINE("0.1", "2"));
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.1, 1e-9);
    CHECK_NEAR(value(&play, GTEL_M_POWER, "gpu"), 2, 1e-9);
    uint64_t t_ns = machine_find(&play.machine, NULL, GTEL_M_GPU_BUSY, NULL, NULL)->t_ns;
    pass(&play, 4);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.1, 1e-9);
    CHECK_INT(machine_find(&play.machine, NULL, GTEL_M_GPU_BUSY, NULL, NULL)->t_ns, t_ns);
    pass_quarters(&play, 1);
    CHECK_INT(machine_gather(&play.machine), 0); /* too old */
    CHECK_NEAR(busy(&play), -1, 0);
    CHECK_INT(child.starts, 1);
    end(&play);
}

/* Which ratio it was, also when it changes between two gathers. */
static void test_which_ratio(void)
{
    static const struct {
        const char *text;
        double want;
        uint8_t origin;
    } steps[] = {
        {"{\"gpu_usage\":[1,0.2]}\n", 0.2, 2},
        {"{\"gpu_active_ratio\":0.6}\n", 0.6, 1},
        {"{\"gpu_active_ratio\":0.6}\n{\"gpu_scaled_ratio\":0.4}\n", 0.4, 2},
        {"{\"gpu_scaled_ratio\":0.4}\n{\"gpu_active_ratio\":0.6}\n{\"gpu_active_ratio\":0.8}\n",
         0.7, 1},
        {"{\"gpu_active_ratio\":1.7,\"gpu_scaled_ratio\":0.4,\"gpu_freq_mhz\":1}\n", -1, 0},
    };
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        says(steps[i].text);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), steps[i].want, 1e-9);
        const struct gtel_reading *got =
            machine_find(&play.machine, "apple0", GTEL_M_GPU_BUSY, NULL, NULL);
        CHECK(got ? got->origin == steps[i].origin : steps[i].origin == 0);
        pass(&play, 1);
    }
    end(&play);
}

/* Lines that come in pieces of any size, or cut in two at any place. */
static void test_cut(void)
{
    static const char lines[] = LINE("0.25", "4") LINE("0.75", "6");
    for (size_t chunk = 1; chunk < sizeof(lines); chunk++) {
        struct play play;
        if (!begin(&play, MAC "end\n"))
            return;
        says(lines);
        child.chunk = chunk;
        CHECK_INT(machine_gather(&play.machine), 0);
        pass(&play, 20);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(play.machine.batch.n > 0 ? busy(&play) : 0.5, 0.5, 0.25);
        end(&play);
    }
    for (size_t cut = 0; cut < sizeof(LINE("0.25", "4")) - 2; cut++) {
        char text[400];
        struct play play;
        if (!begin(&play, MAC "end\n"))
            return;
        (void)snprintf(text, sizeof(text), "%.*s\n%s", (int)cut, lines, LINE("0.75", "6"));
        says(text);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), 0.75, 0); /* nothing of the one that was cut */
        CHECK_NEAR(value(&play, GTEL_M_POWER, "gpu"), 6, 0);
        end(&play);
    }
}

/* Lines that are too long, no JSON, or without end. */
static void test_bad_lines(void)
{
    enum { LARGE = 2 << 20 };
    static const char good[] = LINE("0.75", "6");
    static const char head[] = "{\"gpu_active_ratio\":0.5,\"x\":\"";
    static const char tail[] = "\"}\n";
    char *text = malloc(LARGE + sizeof(good));
    struct play play;
    if (!CHECK(text != NULL) || !begin(&play, MAC "end\n"))
        return;
    memset(text, 'x', LARGE);
    memcpy(text, head, sizeof(head));
    text[sizeof(head) - 1] = 'x';
    memcpy(text + LARGE - 3, tail, sizeof(tail)); /* its NUL is overwritten now */
    memcpy(text + LARGE, good, sizeof(good));
    says(text);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.75, 0);
    CHECK_INT(child.starts, 1);
    text[LARGE - 1] = 'x'; /* without end: bounded work, and it is started again */
    says(text);
    child.n = LARGE;
    child.is_endless = true;
    unsigned before = child.reads;
    pass(&play, 1);
    CHECK(child.reads - before <= 16);
    pass(&play, 11);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), -1, 0);
    CHECK(child.starts >= 2 && child.starts <= 3);
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 1);
    child.is_endless = false;
    says("\n\nwarning: x\n{\"gpu_active_ratio\":NaN}\n{}\n[]\n" LINE("0.25", "4") "garbage\n");
    child.is_paced = true;
    pass(&play, 20);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.25, 0);
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_INFO], 1);
    free(text);
    end(&play);
}

/* It ends immediately, again and again: when the next one is started. */
static void test_pauses(void)
{
    static const unsigned quarters[] = {0,   1,   5,    13,   29,   61,   125,
                                        253, 509, 1021, 2045, 4093, 6141, 8189};
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    child.has_ended = true;
    child.status = 1;
    CHECK_INT(machine_gather(&play.machine), 0);
    pass_quarters(&play, 8188);
    CHECK_INT(child.starts, sizeof(quarters) / sizeof(quarters[0]) - 1);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(play.machine.batch.n, 0);
    CHECK(play.machine.batch.failed_sources != 0);
    CHECK_INT(findings(&play, "/macmon", "ended with exit status 1"), 1);
    CHECK_INT(play.machine.registry.n, 0); /* an Intel Mac has no such GPU */
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 1);
    child.has_ended = false;
    pass_quarters(&play, 1);
    for (size_t i = 0; i < sizeof(quarters) / sizeof(quarters[0]); i++)
        CHECK_INT(child.start_ns[i] - child.start_ns[0], quarters[i] * UINT64_C(250000000));
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.25, 0);
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_INFO], 1);
    end(&play);
}

/* One that has worked for a minute needs no pause; one that writes a line and ends does. */
static void test_restart(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    CHECK_INT(machine_gather(&play.machine), 0);
    child.is_paced = true;
    for (int round = 0; round < 3; round++) {
        pass(&play, 70);
        unsigned before = child.starts;
        child.has_ended = true;
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), -1, 0); /* not what it said before */
        child.has_ended = false;
        pass(&play, 1);
        CHECK_INT(child.starts, before + 1);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), 0.25, 0);
    }
    for (int i = 0; i < 120; i++) {
        child.has_ended = i % 2 == 0;
        pass(&play, 1);
        CHECK_INT(machine_gather(&play.machine), 0);
    }
    CHECK(child.starts <= 12);
    end(&play);
}

/* Before 0.6.1 it knows no --soc-info: asked once, and never again. */
static void test_old(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    child.knows_soc = false;
    says("{\"gpu_usage\":[396,0.5]}\n");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(busy(&play), 0.5, 0);
    CHECK_INT(child.starts, 2);
    CHECK_STR(gtel_str_of(child.args), " /" PROGRAM " pipe -s 0 -i 1000");
    CHECK_INT(play.machine.fault->logs[GTEL_LOG_WARNING], 0);
    pass(&play, 9);
    child.has_ended = true;
    child.status = 1;
    pass(&play, 1);
    child.has_ended = false;
    pass(&play, 1);
    CHECK_INT(child.starts, 3);
    end(&play);
}

/* Only the first gather waits, and for 2.5 s at most; a tick comes each second. */
static void test_first_line(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    says("");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.reads, 1 + 50);
    CHECK_INT(child.waited_ns, 2500000000);
    CHECK_INT(play.machine.batch.failed_sources, 0);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.reads, 1 + 50 + 1);
    pass_quarters(&play, 3);
    CHECK_INT(child.reads, 1 + 50 + 1);
    pass_quarters(&play, 1);
    CHECK_INT(child.reads, 1 + 50 + 2);
    pass(&play, 3);
    CHECK_INT(child.reads, 1 + 50 + 5);
    CHECK_INT(child.waited_ns, 2500000000);
    end(&play);
}

/* The line is there: nothing is waited for. So many reads at most in one go. */
static void test_reads(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.reads, 2); /* the line, and that there is no other one */
    CHECK_INT(child.waited_ns, 0);
    child.is_endless = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.reads, 2 + 16);
    end(&play);
}

/* One that writes nothing for ten seconds, in which the Mac is awake, is ended. */
static void test_silent(void)
{
    for (int i = 0; i < 4; i++) {
        struct play play;
        if (!begin(&play, MAC "end\n"))
            return;
        says(i % 2 == 0 ? "" : LINE("0.25", "4"));
        CHECK_INT(machine_gather(&play.machine), 0);
        pass_quarters(&play, 8);
        machine_step(&play.machine, i < 2 ? 0 : 3600000);
        pass_quarters(&play, i < 2 ? 31 : 28);
        CHECK_INT(findings(&play, NULL, NULL), 0);
        pass_quarters(&play, 1);
        CHECK_INT(findings(&play, "/macmon", "silent for 10 s"), 1);
        CHECK_INT(child.starts, 1);
        CHECK(strstr(play.machine.fault->last_log, "macmon: /" PROGRAM ": silent for 10 s: ") !=
              NULL);
        pass_quarters(&play, 1);
        CHECK_INT(child.starts, 2);
        end(&play);
    }
}

/* Whoever has written lines for 64 s is started without a pause. */
static void test_steady(void)
{
    static const struct {
        unsigned quarters; /* of its life */
        unsigned pause;    /* until the next start */
    } lives[] = {{255, 4}, {256, 1}};
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        struct play play;
        if (!begin(&play, MAC "end\n"))
            return;
        child.has_ended = true;
        child.status = 1;
        CHECK_INT(machine_gather(&play.machine), 0); /* one that ends immediately */
        child.has_ended = false;
        child.is_endless = true;
        pass_quarters(&play, 1 + lives[i].quarters);
        child.has_ended = true;
        CHECK_INT(machine_gather(&play.machine), 0);
        pass_quarters(&play, lives[i].pause - 1);
        CHECK_INT(child.starts, 2);
        pass_quarters(&play, 1);
        CHECK_INT(child.starts, 3);
        end(&play);
    }
}

/* A line that was begun by one program is not ended by the next one. */
static void test_no_rest(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    says("{\"gpu_active_ratio\":0.9");
    CHECK_INT(machine_gather(&play.machine), 0);
    child.has_ended = true;
    CHECK_INT(machine_gather(&play.machine), 0);
    child.has_ended = false;
    says("}\n" LINE("0.25", "4"));
    pass_quarters(&play, 1);
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.starts, 2);
    CHECK_NEAR(busy(&play), 0.25, 0);
    end(&play);
}

/* Exit status 2 means an argument that is not known only before the first line. */
static void test_status_2(void)
{
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    CHECK_INT(machine_gather(&play.machine), 0);
    child.has_ended = true;
    child.status = 2;
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_INT(child.starts, 1);
    CHECK_INT(findings(&play, "/macmon", "ended with exit status 2"), 1);
    pass_quarters(&play, 1);
    CHECK_STR(gtel_str_of(child.args), " /" PROGRAM " pipe -s 0 -i 1000 --soc-info");
    end(&play);
}

/* One line may be as long as there is room for it. */
static void test_longest_line(void)
{
    enum { ROOM = 32768 };
    static const char head[] = "{\"gpu_active_ratio\":0.5,\"x\":\"";
    for (size_t over = 0; over < 2; over++) {
        static char text[ROOM + 8];
        struct play play;
        size_t n = ROOM + over; /* without its end */
        if (!begin(&play, MAC "end\n"))
            return;
        memset(text, 'x', n);
        memcpy(text, head, sizeof(head) - 1);
        memcpy(text + n - 2, "\"}\n", 4);
        says(text);
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_NEAR(busy(&play), over ? -1 : 0.5, 0);
        end(&play);
    }
}

/* What is of the machine as a whole, and of its parts: bytes and turns are whole numbers. */
static void test_rows(void)
{
    static const struct {
        enum gtel_metric metric;
        const char *dim;
        double want;
    } rows[] = {{GTEL_M_FREQUENCY_ACTUAL, "graphics", 700e6}, /* of the last line */
                {GTEL_M_TEMPERATURE, "gpu", 52.5},
                {GTEL_M_MEMORY_TOTAL, "system", 1000},
                {GTEL_M_MEMORY_USED, "system", 250},
                {GTEL_M_GPU_POWER, NULL, 5}, /* a mean */
                {GTEL_M_POWER, "gpu", 5},
                {GTEL_M_POWER, "ane", 2},
                {GTEL_M_POWER, "pkg", 15},
                {GTEL_M_FAN_RPM, "Left", 1235},
                {GTEL_M_FAN_RPM, "Right", 1234}};
    struct play play;
    if (!begin(&play, MAC "end\n"))
        return;
    says("{\"gpu_power\":4,\"ane_power\":1,\"all_power\":10,\"gpu_freq_mhz\":500}\n"
         "{\"gpu_power\":6,\"ane_power\":3,\"all_power\":20,\"gpu_freq_mhz\":700,"
         "\"temp\":{\"gpu_temp_avg\":52.5},\"memory\":{\"ram_total\":1000,\"ram_usage\":250},"
         "\"fans\":[{\"name\":\"Left\",\"rpm\":1234.5},{\"name\":\"Right\",\"rpm\":1234.4}]}\n");
    CHECK_INT(machine_gather(&play.machine), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        test_label = gtel_metric_row(rows[i].metric)->field.p;
        CHECK_NEAR(value(&play, rows[i].metric, rows[i].dim), rows[i].want, 1e-9);
    }
    test_label = "";
    says("{\"gpu_power\":6,\"memory\":{\"ram_total\":1000}}\n");
    CHECK_INT(machine_gather(&play.machine), 0);
    CHECK_NEAR(value(&play, GTEL_M_MEMORY_TOTAL, "system"), 1000, 0);
    CHECK_NEAR(value(&play, GTEL_M_MEMORY_USED, "system"), -1, 0);
    CHECK_NEAR(value(&play, GTEL_M_FREQUENCY_ACTUAL, "graphics"), -1, 0);
    CHECK_NEAR(value(&play, GTEL_M_POWER, "ane"), -1, 0);
    end(&play);
}

/* Where it is searched for, and whose it may be. */
static void test_places(void)
{
    static const struct {
        const char *label;
        const char *text;
        const char *runs; /* NULL: nothing */
        const char *why;
        bool is_present;
    } cases[] = {
        {"no Mac", "file " PROGRAM "\n|\nend\n", NULL, NULL, false},
        {"none", VERSION "end\n", NULL, NULL, false},
        {"on PATH alone", VERSION "file usr/bin/macmon\n|\nend\n", NULL, NULL, false},
        {"the other folder", VERSION "file usr/local/bin/macmon\n|\nend\n", "/usr/local/bin/macmon",
         NULL, true},
        {"both", MAC "file usr/local/bin/macmon\n|\nend\n", "/" PROGRAM, NULL, true},
        {"a user's", MAC "owner " PROGRAM " 501\nend\n", NULL,
         "/" PROGRAM " belongs to user 501, and this is user 0", true},
        {"in a user's folder", MAC "owner opt/homebrew/bin 501\nend\n", NULL,
         "/opt/homebrew/bin belongs to user 501, and this is user 0", true},
        {"a link to a user's",
         VERSION "file opt/homebrew/Cellar/macmon\n|\nlink " PROGRAM " -> ../Cellar/macmon\n"
                 "owner opt/homebrew/Cellar/macmon 501\nend\n",
         NULL, "/" PROGRAM " belongs to user 501, and this is user 0", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct play play;
        test_label = cases[i].label;
        if (!begin(&play, cases[i].text))
            return;
        CHECK(play.machine.source->present(&play.machine.fault->env) == cases[i].is_present);
        CHECK_INT(machine_gather(&play.machine), cases[i].is_present ? 0 : -ENOENT);
        CHECK_INT(child.starts, cases[i].runs != NULL);
        if (cases[i].runs)
            CHECK(gtel_str_starts(gtel_str_of(child.args + 1), gtel_str_of(cases[i].runs)));
        if (cases[i].why)
            CHECK_INT(findings(&play, "/macmon", cases[i].why), 1);
        end(&play);
    }
    test_label = "";
}

/* The user who owns it may run it; whom another user's belongs to, not even as that user's friend.
 */
static void test_own(void)
{
    static const uint32_t uids[] = {501, 502, 0};
    for (size_t i = 0; i < 3; i++) {
        struct play play;
        if (!begin(&play, MAC "owner opt/homebrew/bin 501\nowner " PROGRAM " 501\nend\n"))
            return;
        play.machine.fault->env.uid = uids[i];
        CHECK_INT(machine_gather(&play.machine), 0);
        CHECK_INT(child.starts, uids[i] == 501);
        end(&play);
    }
}

/* Without macmon there is not one call until the next Rescan. */
static void test_quiet(void)
{
    static const char *const texts[] = {"end\n", VERSION "end\n"};
    for (size_t i = 0; i < 2; i++) {
        struct lane lane;
        if (!CHECK(lane_init_in(&lane, "macmon", texts[i], "")))
            return;
        lane_gather(&lane);
        uint64_t calls = lane.fault->calls;
        CHECK(calls <= 3);
        for (int s = 1; s < 29; s++) {
            lane_step(&lane, 1000);
            lane_gather(&lane);
        }
        CHECK_INT(lane.fault->calls, calls);
        CHECK_INT(lane.group.batch.n, 0);
        CHECK_INT(gtel_group_due(&lane.group), 0);
        lane_done(&lane);
    }
}

/* A real process, which writes and lives on, is read without being started again, and is gone
 * afterwards. */
static void test_real(void)
{
    struct played_tools tools;
    struct play play;
    char path[TOOL_PATH_MAX];
    if (!begin(&play, MAC "end\n") || !played_tools_init(&tools) ||
        !CHECK(gtel_env_posix_init("/", &child.env) == 0))
        return;
    CHECK_INT(child.env.uid, geteuid());
    child.path = played_tool(&tools, "macmon", path);
    played_tool_says(&tools, "macmon", "pipe", "0 hang",
                     gtel_str_of("{\"gpu_active\n" LINE("0.25", "4") LINE("0.75", "6")));
    CHECK_INT(machine_gather(&play.machine), 0); /* waits for the first line */
    CHECK_NEAR(busy(&play), 0.5, 0.25);
    for (int i = 0; i < 3; i++) {
        pass(&play, 1);
        CHECK_INT(machine_gather(&play.machine), 0);
    }
    CHECK(busy(&play) > 0);
    CHECK_INT(child.starts, 1);
    end(&play);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    gtel_env_posix_done(&child.env);
    played_tools_done(&tools);
}

/* Each outside call fails in turn: nothing wrong is reported, and all is back later. */
static void test_walk(void)
{
    static const int errors[] = {-EIO, -EACCES, -ENOENT, -ENODEV, -EMFILE, -EAGAIN};
    uint64_t calls = 0;
    for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
        for (uint64_t at = 0; at <= calls; at++) {
            struct play play;
            char label[64];
            double got = -1;
            (void)snprintf(label, sizeof(label), "call %u fails with %d", (unsigned)at, errors[e]);
            test_label = label;
            if (!begin(&play, MAC "end\n"))
                return;
            child.is_paced = true;
            env_fault_arm(play.machine.fault, at, errors[e]);
            for (int i = 0; i < 12; i++) {
                play.machine.needs_discovery = true;
                got = machine_gather(&play.machine) == 0 ? busy(&play) : -1;
                double power = value(&play, GTEL_M_POWER, "gpu");
                CHECK(got < 0 || (got > 0.2499 && got < 0.2501));
                CHECK(power < 0 || (power > 3.99 && power < 4.01));
                if (at == 0 && i == 3)
                    calls = play.machine.fault->calls;
                if (play.machine.is_open)
                    pass(&play, 2);
                else
                    machine_step(&play.machine, 2000);
            }
            CHECK(got > 0);
            CHECK(child.starts <= 3);
            end(&play);
        }
    CHECK(calls > 10);
    test_label = "";
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        test_walk();
        return test_result();
    }
    test_one_child();
    test_mean();
    test_which_ratio();
    test_cut();
    test_bad_lines();
    test_pauses();
    test_restart();
    test_old();
    test_first_line();
    test_reads();
    test_silent();
    test_steady();
    test_no_rest();
    test_status_2();
    test_longest_line();
    test_rows();
    test_places();
    test_own();
    test_quiet();
    test_real();
    return test_result();
}
