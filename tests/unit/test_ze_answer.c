/* SPDX-License-Identifier: MIT */
/* What codes of Level Zero mean, when to ask again, lists of handles, and whether a GT worked. */
#include "sources/level_zero/answer.h"

#include "abi/zes_abi.h"
#include "base/compiler.h"
#include "harness/test.h"
#include "recording/tree.h"
#include "sources/level_zero/gts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* ---- codes ---- */

static const struct {
    uint32_t code;
    enum gtel_answer answer;
} answers[] = {
    {0, GTEL_ANSWER_FINE},
    {0x1, GTEL_ANSWER_SILENT},         /* NOT_READY */
    {0x70000001, GTEL_ANSWER_FAILING}, /* DEVICE_LOST */
    {0x70000002, GTEL_ANSWER_FAILING}, /* OUT_OF_HOST_MEMORY */
    {0x70000006, GTEL_ANSWER_FAILING}, /* DEVICE_REQUIRES_RESET */
    {0x70000007, GTEL_ANSWER_ASLEEP},  /* DEVICE_IN_LOW_POWER_STATE */
    {0x70010000, GTEL_ANSWER_REFUSED}, /* INSUFFICIENT_PERMISSIONS */
    {0x70010001, GTEL_ANSWER_SILENT},  /* NOT_AVAILABLE */
    {0x70020000, GTEL_ANSWER_FAILING}, /* DEPENDENCY_UNAVAILABLE */
    {0x78000001, GTEL_ANSWER_ABSENT},  /* UNINITIALIZED */
    {0x78000002, GTEL_ANSWER_ABSENT},  /* UNSUPPORTED_VERSION */
    {0x78000003, GTEL_ANSWER_ABSENT},  /* UNSUPPORTED_FEATURE */
    {0x78000004, GTEL_ANSWER_ABSENT},  /* INVALID_ARGUMENT */
    {0x78000005, GTEL_ANSWER_ABSENT},  /* INVALID_NULL_HANDLE */
    {0x78000006, GTEL_ANSWER_FAILING}, /* HANDLE_OBJECT_IN_USE */
    {0x78000007, GTEL_ANSWER_ABSENT},  /* INVALID_NULL_POINTER */
    {0x78000008, GTEL_ANSWER_FAILING}, /* INVALID_SIZE */
    {0x7800000c, GTEL_ANSWER_ABSENT},  /* INVALID_ENUMERATION */
    {0x7800000d, GTEL_ANSWER_ABSENT},  /* UNSUPPORTED_ENUMERATION */
    {0x78000020, GTEL_ANSWER_FAILING}, /* SURVIVABILITY_MODE_DETECTED */
    {0x7ffffffe, GTEL_ANSWER_FAILING}, /* UNKNOWN */
    {0x12345678, GTEL_ANSWER_FAILING}, /* of a later API */
    {GTEL_ZE_NO_VALUE, GTEL_ANSWER_SILENT},
    {GTEL_ZE_NOT_ASKED, GTEL_ANSWER_SILENT},
};

static void test_answers(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(answers); i++) {
        char label[32];
        (void)snprintf(label, sizeof(label), "0x%x", (unsigned)answers[i].code);
        test_label = label;
        CHECK_INT(gtel_answer_of(answers[i].code), answers[i].answer);
    }
    test_label = "";
}

/* ---- pauses ---- */

static void test_pauses(void)
{
    static const unsigned pauses_s[] = {0, 1, 2, 4, 8, 16, 32, 64, 64, 64};
    static const enum gtel_answer growing[] = {GTEL_ANSWER_FAILING, GTEL_ANSWER_SILENT};
    static const enum gtel_answer rare[] = {GTEL_ANSWER_ABSENT, GTEL_ANSWER_REFUSED};
    static const enum gtel_answer fine[] = {GTEL_ANSWER_FINE, GTEL_ANSWER_ASLEEP};
    const uint64_t now = 1000 * SECOND_NS;
    for (size_t k = 0; k < 2; k++) {
        struct gtel_backoff retry = {0};
        for (size_t i = 0; i < GTEL_ARRAY_LEN(pauses_s); i++) {
            gtel_retry_after(&retry, growing[k], now);
            CHECK_INT(retry.due, now + pauses_s[i] * SECOND_NS);
        }
        gtel_retry_after(&retry, rare[k], now);
        CHECK_INT(retry.due, now + 600 * SECOND_NS);
        gtel_retry_after(&retry, growing[k], now); /* the first failure again */
        CHECK_INT(retry.due, now);
        gtel_retry_after(&retry, growing[k], now);
        CHECK_INT(retry.due, now + SECOND_NS);
        gtel_retry_after(&retry, fine[k], now);
        CHECK_INT(retry.due, 0);
        gtel_retry_after(&retry, growing[k], now);
        CHECK_INT(retry.due, now);
    }
}

/* ---- lists ---- */

enum { PLACES = 8 };

/* What a driver answers: in each pair of calls the number, then what it says and writes. */
static struct {
    uint32_t count[4];  /* to the first call of each pair */
    uint32_t filled[4]; /* to the second one */
    uint32_t code[4];   /* of the second one */
    uint32_t first_code;
    uint32_t room[4]; /* what it was given */
    size_t hole;      /* a place that stays empty; PLACES: none */
    unsigned calls;
} driver;

static char places[PLACES];

static uint32_t answer_list(uint32_t *count, void **ret)
{
    size_t pair = driver.calls++ / 2;
    if (!ret) {
        CHECK_INT(*count, 0);
        *count = driver.count[pair];
        return driver.first_code;
    }
    driver.room[pair] = *count;
    for (size_t i = 0; i < *count && i < PLACES && driver.code[pair] == GTEL_ZE_SUCCESS; i++)
        ret[i] = i == driver.hole ? NULL : &places[i];
    *count = driver.filled[pair];
    return driver.code[pair];
}

static uint32_t list_of_device(void *handle, uint32_t *count, void **ret)
{
    CHECK(handle == (void *)places);
    return answer_list(count, ret);
}

static const struct list_case {
    const char *label;
    uint32_t count[4];
    uint32_t filled[4];
    uint32_t code[4];
    uint32_t first_code;
    size_t hole;
    uint32_t room; /* of the last call that fills */
    unsigned calls;
    uint32_t want;
    size_t n;
} lists[] = {
    {"none", {0}, {0}, {0}, 0, PLACES, 0, 1, 0, 0},
    {"it cannot count", {3}, {0}, {0}, GTEL_ZE_UNKNOWN, PLACES, 0, 1, GTEL_ZE_UNKNOWN, 0},
    {"one", {1}, {1}, {0}, 0, PLACES, 1, 2, 0, 1},
    {"three", {3}, {3}, {0}, 0, PLACES, 3, 2, 0, 3},
    {"a hole", {3}, {3}, {0}, 0, 1, 3, 2, 0, 2},
    {"fewer than counted", {3}, {2}, {0}, 0, PLACES, 3, 2, 0, 2},
    {"more than there is room for", {3}, {9}, {0}, 0, PLACES, 3, 2, 0, 3},
    {"as many as allowed", {4}, {4}, {0}, 0, PLACES, 4, 2, 0, 4},
    {"one more than allowed", {5}, {5}, {0}, 0, PLACES, 4, 2, 0, 4},
    {"a lie", {UINT32_MAX}, {UINT32_MAX}, {0}, 0, PLACES, 4, 2, 0, 4},
    {"it cannot fill", {3}, {3}, {GTEL_ZE_UNKNOWN}, 0, PLACES, 3, 2, GTEL_ZE_UNKNOWN, 0},
};

static void set_driver(const struct list_case *c)
{
    memset(&driver, 0, sizeof(driver));
    memcpy(driver.count, c->count, sizeof(driver.count));
    memcpy(driver.filled, c->filled, sizeof(driver.filled));
    memcpy(driver.code, c->code, sizeof(driver.code));
    driver.first_code = c->first_code;
    driver.hole = c->hole;
    test_label = c->label;
}

static void check_handles(const struct list_case *c, void *const *handle, size_t n)
{
    CHECK_INT(n, c->n);
    for (size_t i = 0; i < n; i++)
        CHECK(handle[i] == &places[i < c->hole ? i : i + 1]);
    CHECK_INT(driver.room[c->calls / 2 > 0 ? c->calls / 2 - 1 : 0], c->room);
    CHECK_INT(driver.calls, c->calls);
}

static void test_lists(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lists); i++) {
        void **handle;
        size_t n = 77;
        set_driver(&lists[i]);
        CHECK_INT(gtel_ze_list(list_of_device, places, 4, &handle, &n), lists[i].want);
        check_handles(&lists[i], handle, n);
        free(handle);
        n = 77;
        set_driver(&lists[i]);
        CHECK_INT(gtel_ze_drivers(answer_list, 4, &handle, &n), lists[i].want);
        check_handles(&lists[i], handle, n);
        free(handle);
    }
    test_label = "";
}

/* A list that grows between the two calls is asked for again, three times in all. */
static void test_growing(void)
{
    static const struct list_case grows[] = {
        {"once", {1, 2}, {2, 2}, {GTEL_ZE_INVALID_SIZE, 0}, 0, PLACES, 2, 4, 0, 2},
        {"twice",
         {1, 2, 3},
         {2, 3, 3},
         {GTEL_ZE_INVALID_SIZE, GTEL_ZE_INVALID_SIZE, 0},
         0,
         PLACES,
         3,
         6,
         0,
         3},
        {"each time",
         {1, 2, 3, 4},
         {2, 3, 4, 4},
         {GTEL_ZE_INVALID_SIZE, GTEL_ZE_INVALID_SIZE, GTEL_ZE_INVALID_SIZE, 0},
         0,
         PLACES,
         3,
         6,
         GTEL_ZE_INVALID_SIZE,
         0},
        {"and is empty then", {1, 0}, {2}, {GTEL_ZE_INVALID_SIZE}, 0, PLACES, 1, 3, 0, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(grows); i++) {
        void **handle;
        size_t n = 77;
        set_driver(&grows[i]);
        CHECK_INT(gtel_ze_list(list_of_device, places, 4, &handle, &n), grows[i].want);
        check_handles(&grows[i], handle, n);
        free(handle);
    }
    test_label = "";
}

/* ---- sleep of GTs ---- */

static bool begin(const char *text, struct gtel_tree **ret, struct gtel_env *env)
{
    char all[4096];
    char error[200] = "";
    (void)snprintf(all, sizeof(all), "%send\n", text);
    if (!CHECK(gtel_tree_parse(gtel_str_of(all), ret, error, sizeof(error)) == 0)) {
        printf("    %s\n", error);
        return false;
    }
    return CHECK(gtel_env_tree_init(*ret, true, 0, env) == 0);
}

#define XE_GT(at) "file sys/devices/gpu/" at "/gtidle/idle_residency_ms\n| 5\n"
#define I915_GT(at) "file sys/class/drm/card7/" at "/rc6_residency_ms\n| 5\n"

/* How many files are opened of a card, by its driver. */
static const struct {
    const char *driver;
    const char *text;
    size_t files;
} cards[] = {
    {"xe", "", 0},
    {"xe", XE_GT("tile0/gt0"), 1},
    {"xe", XE_GT("tile0/gt0") XE_GT("tile0/gt1") XE_GT("tile1/gt2") XE_GT("tile3/gt7"), 4},
    {"xe", XE_GT("tile4/gt0") XE_GT("tile0/gt8"), 0},
    {"xe", I915_GT("gt/gt0") I915_GT("power"), 0},
    {"i915", I915_GT("gt/gt0") I915_GT("gt/gt7"), 2},
    {"i915", I915_GT("gt/gt8"), 0},
    {"i915", I915_GT("power"), 1},
    {"i915", I915_GT("gt/gt1") I915_GT("power"), 1},
    {"i915", XE_GT("tile0/gt0"), 0},
};

static void test_files(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cards); i++) {
        struct gtel_drm_card drm = {.card = "card7"};
        struct gtel_gts gts = {.n = 0};
        struct gtel_tree *tree;
        struct gtel_env env;
        char label[32];
        (void)snprintf(label, sizeof(label), "row %zu", i);
        test_label = label;
        (void)snprintf(drm.driver, sizeof(drm.driver), "%s", cards[i].driver);
        if (!begin(cards[i].text, &tree, &env))
            return;
        gtel_gts_open(&env, &gts, &drm, "sys/devices/gpu");
        CHECK_INT(gts.n, cards[i].files);
        gtel_gts_open(&env, &gts, &drm, "sys/devices/gpu"); /* that was done */
        CHECK_INT(gts.n, cards[i].files);
        gtel_gts_close(&env, &gts);
        CHECK(gts.n == 0 && !gts.is_open);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

/* Two GTs: by how many milliseconds each has grown since the last check, a second before. */
static const struct {
    const char *gt0; /* NULL: its file has been removed */
    const char *gt1;
    uint64_t free_ns; /* of the second, in which it could sleep */
    enum gtel_gts_state want;
} checks[] = {
    {"2000", "2000", 1000000000, GTEL_GTS_IDLE},
    {"1970", "1970", 1000000000, GTEL_GTS_IDLE}, /* 30 ms are the slack */
    {"1969", "2000", 1000000000, GTEL_GTS_WORKING},
    {"2000", "1969", 1000000000, GTEL_GTS_WORKING},
    {"1969", "1969", 999000000, GTEL_GTS_IDLE},
    {"1000", "1000", 1000000000, GTEL_GTS_WORKING},
    {"1000", "1000", 30000000, GTEL_GTS_IDLE},
    {"1000", "1000", 30000001, GTEL_GTS_WORKING},
    {"999", "2000", 1000000000, GTEL_GTS_UNKNOWN}, /* a counter that went back */
    {"2000", "999", 1000000000, GTEL_GTS_UNKNOWN},
    {"999", "1000", 1000000000, GTEL_GTS_WORKING}, /* one works, whatever the other does */
    {"1000", "999", 1000000000, GTEL_GTS_WORKING},
    {"x", "2000", 1000000000, GTEL_GTS_UNKNOWN},
    {"2000", "x", 1000000000, GTEL_GTS_UNKNOWN},
};

static void test_checks(void)
{
    const struct gtel_drm_card drm = {.card = "card7", .driver = "xe"};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(checks); i++) {
        struct gtel_gts gts = {.n = 0};
        struct gtel_tree *tree;
        struct gtel_env env;
        char text[800];
        char label[32];
        (void)snprintf(label, sizeof(label), "row %zu", i);
        test_label = label;
        (void)snprintf(text, sizeof(text),
                       "file sys/devices/gpu/tile0/gt0/gtidle/idle_residency_ms\n| 1000\n"
                       "file sys/devices/gpu/tile0/gt1/gtidle/idle_residency_ms\n| 1000\nat 1s\n"
                       "file sys/devices/gpu/tile0/gt0/gtidle/idle_residency_ms\n| %s\n"
                       "file sys/devices/gpu/tile0/gt1/gtidle/idle_residency_ms\n| %s\n",
                       checks[i].gt0, checks[i].gt1);
        if (!begin(text, &tree, &env))
            return;
        CHECK_INT(gtel_gts_look(&env, &gts, SECOND_NS), GTEL_GTS_UNKNOWN); /* no file */
        gtel_gts_open(&env, &gts, &drm, "sys/devices/gpu");
        (void)gtel_gts_look(&env, &gts, SECOND_NS);
        gtel_env_tree_step(&env, SECOND_NS);
        CHECK_INT(gtel_gts_look(&env, &gts, checks[i].free_ns), checks[i].want);
        gtel_gts_close(&env, &gts);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

int main(void)
{
    test_answers();
    test_pauses();
    test_lists();
    test_growing();
    test_files();
    test_checks();
    return test_result();
}
