/* SPDX-License-Identifier: MIT */
/* Performance counters of Windows: names of instances, values, and buffers of any length. */
#include "base/compiler.h"
#include "parse/perf_counters.h"
#include "harness/perf_buffer.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    const char *line;
    int rc;
    uint32_t pid;
    uint64_t luid;
    uint32_t adapter;
    uint32_t engine;
    const char *type;
    uint32_t has;
    uint64_t first; /* counter 1 */
} lines[] = {
    {"1:5 2:7 pid_10472_luid_0x00000000_0x0000F814_phys_0_eng_0_engtype_3D", 0, 10472, 0xf814, 0, 0,
     "3D", 6, 5},
    {"1:5 pid_4_luid_0x00000001_0x0000C85A_phys_1_eng_3_engtype_Compute_0", 0, 4, 0x10000c85a, 1, 3,
     "Compute_0", 2, 5},
    {"1:5 pid_4_luid_0x00000000_0x0000C85A_phys_0_eng_12_engtype_High Priority 3D", 0, 4, 0xc85a, 0,
     12, "High Priority 3D", 2, 5},
    {"1:0 pid_1_luid_0x0_0x1_phys_0_eng_0_engtype_", 0, 1, 1, 0, 0, "", 2, 0},
    {"1:18446744073709551615 3:2 pid_4294967295_luid_0xFFFFFFFF_0xffffffff_phys_0", 0, 4294967295,
     UINT64_MAX, 0, UINT32_MAX, "", 10, UINT64_MAX},
    {"pid_7_luid_0x0_0x9_phys_0", 0, 7, 9, 0, UINT32_MAX, "", 0, 0},
    {"16:1 99:2 pid_7_luid_0x0_0x9_phys_0", 0, 7, 9, 0, UINT32_MAX, "", 0, 0},
    {"1:1 1:2 pid_7_luid_0x0_0x9_phys_0", 0, 7, 9, 0, UINT32_MAX, "", 2, 2},
    {"", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 _Total", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_4294967296_luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_-1_luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid__luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x100000000_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x0_0x9", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x0_0x9_phys_0_part_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x0_0x9_phys_0_eng_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x0_0x9_phys_0_eng_x_engtype_3D", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:5 pid_7_luid_0x0_0x9_phys_0_eng_4294967295_engtype_3D", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"-1:5 pid_7_luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
    {"1:18446744073709551616 pid_7_luid_0x0_0x9_phys_0", -EINVAL, 0, 0, 0, 0, NULL, 0, 0},
};

static char name_text[GTEL_PERF_NAME_MAX];

static void test_lines(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lines); i++) {
        struct gtel_perf_set set = {.rest = gtel_str_of(lines[i].line[0] ? lines[i].line : "\n")};
        struct gtel_perf_instance got = {0};
        struct gtel_perf_name name;
        test_label = lines[i].line;
        CHECK(gtel_perf_next(&set, &got));
        CHECK_INT(gtel_perf_name(&set, &got, name_text, &name), lines[i].rc);
        CHECK(!gtel_perf_next(&set, &(struct gtel_perf_instance){0}));
        if (lines[i].rc < 0)
            continue;
        CHECK_INT(name.pid, lines[i].pid);
        CHECK(name.luid == lines[i].luid);
        CHECK_INT(name.adapter, lines[i].adapter);
        CHECK_INT(name.engine, lines[i].engine);
        CHECK_STR(name.type, lines[i].type);
        CHECK_INT(got.has, lines[i].has);
        CHECK(got.value[1] == lines[i].first);
    }
    test_label = "";
}

static void test_clock(void)
{
    static const char *const bad[] = {"",           "clock",      "clock \n",
                                      "clock -1\n", "clocks 1\n", "1:5 x\n"};
    struct gtel_perf_set set = {.clock_ns = 77};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bad); i++)
        CHECK_INT(gtel_perf_begin(gtel_str_of(bad[i]), &set), -EINVAL);
    CHECK_INT(set.clock_ns, 77);
    CHECK_INT(gtel_perf_begin(GTEL_STR("clock 12\n1:5 x\n"), &set), 0);
    CHECK_INT(set.clock_ns, 12);
    CHECK_STR(set.rest, "1:5 x\n");
}

static unsigned char bytes[1 << 17];
static char text[1 << 17];

static struct perf_buffer two_instances(void)
{
    struct perf_buffer buffer = {.p = bytes, .size = sizeof(bytes)};
    perf_buffer_begin(&buffer, 2, 25000001, 10000000); /* 2.5000001 s at 10 MHz */
    perf_buffer_add(&buffer, "pid_1_luid_0x0_0x2_phys_0_eng_0_engtype_3D",
                    (const uint64_t[]){3, 4});
    perf_buffer_add(&buffer, "pid_5_luid_0x0_0x2_phys_0_eng_0_engtype_3D",
                    (const uint64_t[]){UINT64_MAX, 0});
    return buffer;
}

static int print(const struct perf_buffer *buffer, size_t n, struct gtel_str *ret)
{
    size_t length = 0;
    int r = gtel_perf_print((struct gtel_str){(char *)buffer->p, n}, text, sizeof(text), &length);
    *ret = (struct gtel_str){text, length};
    return r;
}

/* The same instances from the buffer as from its text. */
static void test_both(void)
{
    struct perf_buffer buffer = two_instances();
    struct gtel_perf_set sets[2];
    struct gtel_str printed;
    CHECK_INT(print(&buffer, buffer.n, &printed), 0);
    CHECK_INT(gtel_perf_begin((struct gtel_str){(char *)bytes, buffer.n}, &sets[0]), 0);
    CHECK_INT(gtel_perf_begin(printed, &sets[1]), 0);
    CHECK(sets[0].clock_ns == sets[1].clock_ns);
    struct gtel_perf_instance got[2] = {0};
    while (gtel_perf_next(&sets[0], &got[0]) && CHECK(gtel_perf_next(&sets[1], &got[1]))) {
        struct gtel_perf_name name[2];
        CHECK_INT(gtel_perf_name(&sets[0], &got[0], name_text, &name[0]), 0);
        CHECK_INT(gtel_perf_name(&sets[1], &got[1], NULL, &name[1]), 0);
        CHECK(gtel_str_eq(name[0].type, name[1].type));
        CHECK_INT(name[0].pid, name[1].pid);
        CHECK(name[0].luid == name[1].luid);
        CHECK_INT(name[0].adapter, name[1].adapter);
        CHECK_INT(name[0].engine, name[1].engine);
        CHECK_INT(got[0].has, got[1].has);
        CHECK_INT(memcmp(got[0].value, got[1].value, sizeof(got[0].value)), 0);
    }
    CHECK(!gtel_perf_next(&sets[1], &got[1]));
}

static void test_print(void)
{
    struct perf_buffer buffer = two_instances();
    struct gtel_str got;
    CHECK_INT(print(&buffer, buffer.n, &got), 0);
    CHECK_STR(got, "clock 2500000100\n"
                   "1:3 2:4 pid_1_luid_0x0_0x2_phys_0_eng_0_engtype_3D\n"
                   "1:18446744073709551615 2:0 pid_5_luid_0x0_0x2_phys_0_eng_0_engtype_3D\n");
    CHECK_INT(print(&buffer, sizeof(bytes), &got), 0); /* more room than was used */
    perf_buffer_begin(&buffer, 2, 0, 1);
    CHECK_INT(print(&buffer, buffer.n, &got), 0); /* nobody uses a GPU */
    CHECK_STR(got, "clock 0\n");
}

/* Cut anywhere, with the true size at its beginning or with the one of the whole. */
static void test_lengths(void)
{
    struct perf_buffer buffer = two_instances();
    size_t whole = buffer.n;
    struct gtel_str got;
    for (size_t n = 0; n < whole; n++) {
        unsigned char *end = malloc(n + 1); /* reading beyond it is seen by the sanitizers */
        if (!CHECK(end))
            return;
        memcpy(end, bytes, n);
        struct perf_buffer cut = {.p = end, .size = n};
        CHECK_INT(print(&cut, n, &got), -EINVAL);
        if (n >= 4)
            perf_buffer_set(&cut, 0, 4, n);
        CHECK_INT(print(&cut, n, &got), -EINVAL);
        free(end);
    }
    for (size_t size = 0; size < 60; size++) {
        size_t length = 0;
        CHECK_INT(gtel_perf_print((struct gtel_str){(char *)bytes, whole}, text, size, &length),
                  -E2BIG);
        CHECK_INT(length, 0);
    }
}

/* One number of the buffer at a time: place, width, value. */
static const struct {
    const char *label;
    size_t at;
    size_t width;
    uint64_t value;
    int rc;
} changes[] = {
    {"total size beyond the end", 0, 4, UINT32_MAX, -EINVAL},
    {"total size below a header", 0, 4, 47, -EINVAL},
    {"no counters", 4, 4, 0, -ENODATA},
    {"no frequency", 24, 8, 0, -EINVAL},
    {"a frequency that cannot be", 24, 8, UINT64_MAX, -EINVAL},
    {"a time that cannot be", 8, 8, UINT64_MAX, -EINVAL},
    {"an error instead of values", 48, 4, 4200, -EIO},
    {"one counter of one instance", 52, 4, 1, -EINVAL},
    {"size of the set", 56, 4, 15, -EINVAL},
    {"size of the set beyond the end", 56, 4, 0x7fffffff, -EINVAL},
    {"size of the numbers of counters", 64, 4, 7, -EINVAL},
    {"more numbers of counters than there is room for", 68, 4, 3, -EINVAL},
    {"2^32 - 1 counters", 68, 4, UINT32_MAX, -EINVAL},
    {"size of the instances", 80, 4, 0, -EINVAL},
    {"an instance more than there are", 84, 4, 3, -EINVAL},
    {"2^31 instances", 84, 4, UINT32_C(1) << 31, -EINVAL},
    {"size of an instance", 88, 4, 4, -EINVAL},
};

static void test_changes(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(changes); i++) {
        struct perf_buffer buffer = two_instances();
        struct gtel_str got;
        test_label = changes[i].label;
        perf_buffer_set(&buffer, changes[i].at, changes[i].width, changes[i].value);
        CHECK_INT(print(&buffer, buffer.n, &got), changes[i].rc);
        CHECK_INT(got.n, 0);
    }
    test_label = "";
}

/* The first value stands behind a header of 8 bytes and a name of 42 units, a NUL and a fill. */
static void test_widths(void)
{
    struct perf_buffer buffer = two_instances();
    struct gtel_str got;
    const size_t data = 88 + 8 + 88;
    perf_buffer_set(&buffer, data, 4, 4);
    perf_buffer_set(&buffer, data + 12, 4, 9); /* behind a value of 4 bytes: fill */
    CHECK_INT(print(&buffer, buffer.n, &got), 0);
    CHECK(gtel_str_starts(gtel_str_skip(got, 17), GTEL_STR("1:3 2:4 pid_1_")));
    perf_buffer_set(&buffer, data, 4, 16); /* longer than its block */
    CHECK_INT(print(&buffer, buffer.n, &got), 0);
    CHECK(gtel_str_starts(gtel_str_skip(got, 17), GTEL_STR("2:4 pid_1_")));
}

static void test_names(void)
{
    static char name[32768];
    struct perf_buffer buffer = {.p = bytes, .size = sizeof(bytes)};
    struct gtel_str got;
    memset(name, 'x', sizeof(name) - 1);
    perf_buffer_begin(&buffer, 1, 0, 1);
    perf_buffer_add(&buffer, name, (const uint64_t[]){1});
    perf_buffer_add(&buffer, "a\nb\x7f\xe9", (const uint64_t[]){2});
    perf_buffer_add(&buffer, "", (const uint64_t[]){3});
    CHECK_INT(print(&buffer, buffer.n, &got), 0);
    CHECK_INT(got.n, 8 + (4 + GTEL_PERF_NAME_MAX + 1) + 10 + 5);
    CHECK(gtel_str_ends(got, GTEL_STR("xx\n1:2 a?b??\n1:3 \n")));
}

/* What stands between a name and the next block is none of it, whatever it is. */
static void test_fill(void)
{
    static const char *const names[] = {"pid_1", "pid_12", "pid_123", "pid_1234", "a", ""};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(names); i++) {
        struct perf_buffer buffer = {.p = bytes, .size = sizeof(bytes)};
        struct gtel_perf_set set;
        struct gtel_perf_instance got;
        size_t n = strlen(names[i]);
        perf_buffer_begin(&buffer, 1, 0, 1);
        size_t start = buffer.n + 8;
        perf_buffer_add(&buffer, names[i], (const uint64_t[]){1});
        for (size_t at = start + 2 * (n + 1); at % 8 != 0; at++)
            bytes[at] = 0x5a;
        CHECK_INT(gtel_perf_begin((struct gtel_str){(char *)bytes, buffer.n}, &set), 0);
        CHECK(gtel_perf_next(&set, &got));
        CHECK_INT(got.name.n, 2 * n);
        CHECK_INT(got.value[1], 1);
    }
}

int main(void)
{
    test_lines();
    test_clock();
    test_both();
    test_print();
    test_lengths();
    test_changes();
    test_widths();
    test_names();
    test_fill();
    return test_result();
}
