/* SPDX-License-Identifier: MIT */
/* The kinds of memory of a client, from the text of each driver and of drivers to come. */
#include "sources/clients/clients.h"
#include "harness/test.h"

#include <string.h>

enum { NEVER = -1, K = 1024, M = 1024 * K };

/* In the order of the columns below. */
static const enum gtel_metric metrics[] = {
    GTEL_M_PROCESS_MEMORY,        GTEL_M_PROCESS_MEMORY_SHARED,    GTEL_M_PROCESS_MEMORY_ALLOCATED,
    GTEL_M_PROCESS_MEMORY_ACTIVE, GTEL_M_PROCESS_MEMORY_PURGEABLE, GTEL_M_PROCESS_MEMORY_VRAM,
    GTEL_M_PROCESS_MEMORY_SYSTEM,
};

static void check(const char *label, struct gtel_str text, enum gtel_client_place place,
                  uint32_t omitted, const int64_t *want)
{
    static struct gtel_fdinfo info;
    struct gtel_use_memory got;
    memset(&got, 0xa5, sizeof(got));
    test_label = label;
    CHECK_INT(gtel_fdinfo_parse(text, &info), 0);
    gtel_client_memory(&info, place, omitted, &got);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(metrics); i++) {
        uint64_t bytes = 0;
        bool has = gtel_use_memory_get(&got, metrics[i], &bytes);
        CHECK_INT(has ? (int64_t)bytes : NEVER, want[i]);
    }
}

/* Worked out by hand from the files; sizes that are not round are sums of their lines. */
static const struct {
    const char *file; /* of the fuzz corpus */
    const char *driver;
    bool is_integrated;
    int64_t want[7]; /* memory, shared, allocated, active, purgeable, vram, system */
} drivers[] = {
    {"i915-5.19", "i915", false, {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"i915-6.8-guc",
     "i915",
     false,
     {(int64_t)1024 * M, 16 * M, (int64_t)1536 * M, 512 * M, 4 * K, (int64_t)1024 * M, 36028 * K}},
    /* up to 7.2 what is purgeable is reported of one region only */
    {"xe-6.8", "xe", false, {192 * M, 8 * K, 192 * M, 0, NEVER, 192 * M, 1536 * K}},
    {"xe-6.16",
     "xe",
     false,
     {(int64_t)2048 * M, 32 * M, (int64_t)2048 * M, 4 * M, NEVER, (int64_t)2048 * M,
      12 * M + 64 * K}},
    {"xe-6.16-pvc",
     "xe",
     false,
     {(int64_t)49152 * M, 0, (int64_t)49152 * M, (int64_t)16384 * M, NEVER, (int64_t)49152 * M,
      96 * K}},
    {"xe-6.16-vf", "xe", false, {64 * M, 0, 64 * M, 0, NEVER, 64 * M, 4 * K}},
    {"xe-other", "xe", false, {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"amdgpu-5.19", "amdgpu", false, {65352 * K, NEVER, NEVER, NEVER, NEVER, 65352 * K, 8224 * K}},
    {"amdgpu-5.19",
     "amdgpu",
     true,
     {(65352 + 8224) * K, NEVER, NEVER, NEVER, NEVER, 65352 * K, 8224 * K}},
    {"amdgpu-6.1-idle", "amdgpu", false, {0, NEVER, NEVER, NEVER, NEVER, 0, 0}},
    {"amdgpu-6.5", "amdgpu", false, {65352 * K, NEVER, NEVER, NEVER, NEVER, 65352 * K, 8224 * K}},
    {"amdgpu-6.11",
     "amdgpu",
     false,
     {65352 * K, 10240 * K, NEVER, NEVER, NEVER, 65352 * K, 8224 * K}},
    {"amdgpu-6.14",
     "amdgpu",
     false,
     {1728 * M, 512 * M, 1792 * M, NEVER, 2 * M, 1728 * M, 8228 * K}},
    {"amdgpu-6.14",
     "amdgpu",
     true,
     {1728 * M + 8228 * K, 516 * M, 1792 * M + 8228 * K, NEVER, 2 * M, 1728 * M, 8228 * K}},
    {"msm", "msm", false, {71296 * K, 8 * M, 71296 * K, 128 * K, 0, NEVER, 71296 * K}},
    {"msm-6.5", "msm", false, {35 * M, 1, 35 * M, 0, 0, NEVER, 35 * M}},
    {"panfrost", "panfrost", false, {277 * M, 0, 277 * M, 0, 4 * M, NEVER, 277 * M}},
    {"panthor", "panthor", false, {16872 * K, 0, 16872 * K, 0, 0, NEVER, 16872 * K}},
    {"v3d", "v3d", false, {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    /* what is resident is not reported beside memory of its own */
    {"v3d-6.14", "v3d", false, {NEVER, 8 * M, 24 * M, 0, NEVER, NEVER, NEVER}},
    {"etnaviv-6.14", "etnaviv", false, {NEVER, 0, 3 * M, 0, NEVER, NEVER, NEVER}},
    {"etnaviv", "etnaviv", false, {1792 * K, 0, 1792 * K, 0, 0, NEVER, 1792 * K}},
    {"ivpu", "intel_vpu", false, {24572 * K, 4 * K, 24 * M, 8 * K, 0, NEVER, 24572 * K}},
    {"amdxdna", "amdxdna", false, {65 * M, 0, 65 * M, 0, 0, NEVER, 65 * M}},
    {"new-driver", "novelty", false, {3 * M, NEVER, 3 * M, NEVER, NEVER, NEVER, NEVER}},
};

static void test_drivers(void)
{
    static char text[GTEL_FDINFO_TEXT_MAX];
    for (size_t i = 0; i < GTEL_ARRAY_LEN(drivers); i++) {
        const struct gtel_client_driver *driver = gtel_client_driver_find(drivers[i].driver);
        enum gtel_client_place place = drivers[i].is_integrated ? GTEL_PLACE_HOST : GTEL_PLACE_OWN;
        char path[512];
        (void)snprintf(path, sizeof(path), TEST_DIR "/fuzz/corpus/fdinfo/%s", drivers[i].file);
        test_label = drivers[i].file;
        FILE *f = fopen(path, "rb");
        CHECK(f != NULL);
        if (!f)
            continue;
        size_t n = fread(text, 1, sizeof(text), f);
        (void)fclose(f); /* only read */
        check(drivers[i].file, (struct gtel_str){text, n}, place, driver->omitted_memory,
              drivers[i].want);
    }
}

#define X "drm-driver:\tx\n"

enum {
    IS_INTEGRATED = 1,
    IS_ANYWHERE = 2,
    OMITS_ALL = 1 << GTEL_FDINFO_RESIDENT | 1 << GTEL_FDINFO_ACTIVE | 1 << GTEL_FDINFO_PURGEABLE
};

static const struct {
    const char *label;
    const char *text;
    unsigned flags;
    uint32_t omitted;
    int64_t want[7];
} cases[] = {
    {"nothing", X, 0, 0, {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"where the GPU's memory is, is not known yet",
     X "drm-resident-vram:\t4\ndrm-resident-gtt:\t2\n",
     IS_ANYWHERE,
     0,
     {NEVER, NEVER, NEVER, NEVER, NEVER, 4, 2}},
    {"several tiles",
     X "drm-resident-vram0:\t4\ndrm-resident-vram1:\t2\n",
     0,
     0,
     {6, NEVER, NEVER, NEVER, NEVER, 6, NEVER}},
    {"a part of the regions reports a kind",
     X "drm-total-vram0:\t4\ndrm-active-vram0:\t3\ndrm-total-vram1:\t2\n",
     0,
     0,
     {6, NEVER, 6, NEVER, NEVER, 6, NEVER}},
    {"a region of the GPU does not report what is used",
     X "drm-shared-vram0:\t4\ndrm-total-vram1:\t2\ndrm-shared-vram1:\t1\ndrm-total-gtt:\t1\n",
     0,
     0,
     {NEVER, 5, NEVER, NEVER, NEVER, NEVER, 1}},
    {"the host's memory is beside the GPU's own",
     X "drm-total-local0:\t4\ndrm-total-system0:\t2\ndrm-active-system0:\t1\n",
     0,
     0,
     {4, NEVER, 4, NEVER, NEVER, 4, 2}},
    {"what is kept apart counts nowhere",
     X "drm-total-system0:\t4\ndrm-total-stolen-system0:\t2\n",
     0,
     0,
     {4, NEVER, 4, NEVER, NEVER, NEVER, 4}},
    {"regions of no known place are the client's",
     X "drm-resident-a:\t4\ndrm-resident-b:\t2\n",
     0,
     0,
     {6, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"an unknown region beside one of the host: perhaps the GPU's own",
     X "drm-total-hbm0:\t4\ndrm-total-system:\t2\n",
     0,
     0,
     {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"an unknown region beside the GPU's own: perhaps the host's",
     X "drm-total-vram0:\t0\ndrm-total-sysmem:\t2\n",
     0,
     0,
     {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"an unknown region with nothing in it changes nothing",
     X "drm-total-vram0:\t4\ndrm-total-sysmem:\t0\ndrm-total-gtt:\t1\n",
     0,
     0,
     {4, NEVER, 4, NEVER, NEVER, 4, 1}},
    {"an unknown region beside the host's with nothing in it",
     X "drm-total-hbm0:\t4\ndrm-total-system:\t0\n",
     0,
     0,
     {4, NEVER, 4, NEVER, NEVER, NEVER, NEVER}},
    {"a line of a kind that is no size",
     X "drm-total-vram0:\t4\ndrm-active-vram0:\t1 GiB\n",
     0,
     0,
     {4, NEVER, 4, NEVER, NEVER, 4, NEVER}},
    {"a line of a region that is no size",
     X "drm-total-vram0:\t4\ndrm-total-vram1:\t1 GiB\ndrm-shared-vram0:\t1\n",
     0,
     0,
     {NEVER, 1, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"a resident size of one region is no size: total stands for nothing",
     X "drm-total-vram0:\t4\ndrm-resident-vram0:\t1 GiB\n",
     0,
     0,
     {NEVER, NEVER, 4, NEVER, NEVER, NEVER, NEVER}},
    {"more than a number holds",
     X "drm-total-vram0:\t18446744073709551615\ndrm-total-vram1:\t1\ndrm-active-vram0:\t1\n"
       "drm-active-vram1:\t2\n",
     0,
     0,
     {NEVER, NEVER, NEVER, 3, NEVER, NEVER, NEVER}},
    {"kinds that are omitted when they are 0, beside memory of its own: resident may be unknown",
     X "drm-total-memory:\t4\ndrm-shared-memory:\t1\n",
     0,
     OMITS_ALL,
     {NEVER, 1, 4, 0, NEVER, NEVER, NEVER}},
    {"the same with shared memory only",
     X "drm-total-memory:\t4\ndrm-shared-memory:\t4\n",
     0,
     OMITS_ALL,
     {0, 4, 4, 0, 0, NEVER, 0}},
    {"the same without memory",
     X "drm-total-memory:\t0\ndrm-shared-memory:\t0\n",
     0,
     OMITS_ALL,
     {0, 0, 0, 0, 0, NEVER, 0}},
    {"the same without what is shared: not the kernel's own text",
     X "drm-total-memory:\t0\n",
     0,
     OMITS_ALL,
     {NEVER, NEVER, 0, NEVER, NEVER, NEVER, NEVER}},
    {"what is purgeable is a part of what is resident",
     X "drm-total-memory:\t4\ndrm-shared-memory:\t0\ndrm-resident-memory:\t3\n",
     0,
     OMITS_ALL,
     {3, 0, 4, 0, 0, NEVER, 3}},
    {"each region for itself",
     X "drm-total-memory:\t4\ndrm-shared-memory:\t4\ndrm-total-system:\t2\n"
       "drm-shared-system:\t1\n",
     0,
     OMITS_ALL,
     {NEVER, 5, 6, 0, NEVER, NEVER, NEVER}},
    {"the same of a driver that is not known to do that",
     X "drm-total-memory:\t4\ndrm-shared-memory:\t0\n",
     0,
     0,
     {4, 0, 4, NEVER, NEVER, NEVER, 4}},
    {"the same reported",
     X "drm-total-memory:\t4\ndrm-resident-memory:\t3\ndrm-active-memory:\t2\n",
     0,
     OMITS_ALL & ~(1u << GTEL_FDINFO_PURGEABLE),
     {3, NEVER, 4, 2, NEVER, NEVER, 3}},
    {"without a total nothing was omitted",
     X "drm-shared-memory:\t4\n",
     0,
     1u << GTEL_FDINFO_RESIDENT | 1u << GTEL_FDINFO_ACTIVE,
     {NEVER, 4, NEVER, NEVER, NEVER, NEVER, NEVER}},
    {"a piece of the host's memory, all kinds",
     X "drm-total-vram:\t8\ndrm-resident-vram:\t7\ndrm-shared-vram:\t1\ndrm-active-vram:\t2\n"
       "drm-purgeable-vram:\t3\ndrm-total-gtt:\t80\ndrm-resident-gtt:\t70\ndrm-shared-gtt:\t10\n"
       "drm-active-gtt:\t20\ndrm-purgeable-gtt:\t30\n",
     IS_INTEGRATED,
     0,
     {77, 11, 88, 22, 33, 7, 70}},
};

static void test_cases(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        enum gtel_client_place place = (cases[i].flags & IS_ANYWHERE) != 0     ? GTEL_PLACE_UNKNOWN
                                       : (cases[i].flags & IS_INTEGRATED) != 0 ? GTEL_PLACE_HOST
                                                                               : GTEL_PLACE_OWN;
        check(cases[i].label, gtel_str_of(cases[i].text), place, cases[i].omitted, cases[i].want);
    }
}

/* What stands beyond the end of a text may be of any region. */
static void test_cut(void)
{
    static const int64_t unknown[] = {NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER};
    static char text[GTEL_FDINFO_TEXT_MAX];
    static const char head[] = X "drm-total-vram:\t8\ndrm-client-name:\t";
    memset(text, 'n', sizeof(text));
    memcpy(text, head, sizeof(head) - 1);
    check("a cut text", (struct gtel_str){text, sizeof(text)}, GTEL_PLACE_OWN, 0, unknown);
}

int main(void)
{
    test_drivers();
    test_cases();
    test_cut();
    return test_result();
}
