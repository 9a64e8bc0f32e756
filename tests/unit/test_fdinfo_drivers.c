/* SPDX-License-Identifier: MIT */
/*
 * DRM client text of each driver and kernel, as files of the fuzz corpus: made from what the
 * kernels' sources write, not recorded on hardware.
 */
#include "base/buf.h"
#include "parse/fdinfo.h"
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>

enum { SAYS_MAX = 2048 };

/*
 * What a text says, in short: engines as name:busy (b, ns), cycles (c), total cycles (t),
 * capacity (x, above 1); regions as name:bytes used, and D, H, - or ? for the place, s and
 * bytes where something is shared.
 */
static const struct {
    const char *file;
    const char *says; /* NULL: no DRM client */
} cases[] = {
    {"i915-5.19",
     "i915 0000:00:02.0 7 render:b9288864723 copy:b2035071108 video:b0x2 video-enhance:b0"},
    {"i915-6.1-guc", "i915 0000:03:00.0 12"},
    {"i915-6.8-guc", "i915 0000:03:00.0 31 render:b48213377911 copy:b1288400112 video:b770125x2 "
                     "video-enhance:b0x2 compute:b3300112345678x4 system0:36892672Hs4194304 "
                     "local0:1073741824Ds16777216 stolen-system0:0- stolen-local0:66060288-"},
    {"msm-6.5", "msm - 31 memory:36700160Hs1"},
    {"xe-6.8", "xe 0000:04:00.0 57 system:0H gtt:1572864Hs8192 vram0:201326592Ds8192 stolen:0-"},
    {"xe-6.16",
     "xe 0000:04:00.0 57 rcs:c28257900t7655183225 bcs:c0t7655183225 vcs:c0t7655183225x2 "
     "vecs:c0t7655183225x2 ccs:c1093112233t7655183225 system:65536H gtt:12582912Hs12582912 "
     "vram0:2147483648Ds33554432 stolen:0-"},
    {"xe-6.16-pvc", "xe 0000:4d:00.0 903 bcs:c90112t7655183225x17 vcs:c0t7655183225x4 "
                    "ccs:c61000112233t7655183225x8 system:0H gtt:98304H vram0:34359738368D "
                    "vram1:17179869184D stolen:0-"},
    {"xe-6.16-vf", "xe 0000:04:00.1 3 system:0H gtt:4096H vram0:67108864D stolen:0-"},
    {"xe-other", "xe 0000:04:00.0 8 other:c5t7655183225"},
    {"amdgpu-5.16", NULL},
    {"amdgpu-5.19", "amdgpu 0000:03:00.0 77309411338 gfx:b2117734013 dma:b66012 vram:66920448D "
                    "gtt:8421376H cpu:0H"},
    {"amdgpu-6.1-idle", "amdgpu 0000:03:00.0 77309411338 vram:0D gtt:0H cpu:0H"},
    {"amdgpu-6.5", "amdgpu 0000:03:00.0 88 gfx:b2117734013 compute:b1002 dma:b66012 dec:b44123987 "
                   "vram:66920448D gtt:8421376H cpu:0H"},
    {"amdgpu-6.11", "amdgpu 0000:03:00.0 88 gfx:b2117734013 compute:b1002 dma:b66012 enc:b812000 "
                    "enc_1:b12000 jpeg:b5 vpe:b99 vram:66920448Ds10485760 gtt:8421376H cpu:0H"},
    {"amdgpu-6.14",
     "amdgpu 0000:c3:00.0 1021 gfx:b998877665544 compute:b123456789 "
     "dma:b5566 enc:b77 cpu:4096H gtt:8421376Hs4194304 vram:1811939328Ds536870912 gds:0- gws:0- "
     "oa:0- doorbell:8192-"},
    {"amdgpu-6.14-rocm", "amdgpu 0000:c3:00.0 1021 cpu:4096H gtt:8421376Hs4194304 "
                         "vram:1811939328Ds536870912 gds:0- gws:0- oa:0- doorbell:8192-"},
    {"amdgpu-blocks", "amdgpu 0000:03:00.0 5 dec:b123 enc:b7"},
    {"msm", "msm - 4 gpu:b88122334455c61233445566 memory:73007104Hs8388608"},
    {"panfrost", "panfrost - 19 fragment:b1846584880c1424359409 "
                 "vertex-tiler:b71932239c52617357 memory:290455552H"},
    {"panfrost-unprofiled", "panfrost - 19 fragment:b0c0 vertex-tiler:b0c0 "
                            "memory:290455552H"},
    {"panthor", "panthor - 6 panthor:b111110952750c94439687187 memory:17276928H"},
    {"v3d", "v3d - 11 bin:b4239330 render:b91245671 tfu:b0 csd:b12000111 cache_clean:b9001 cpu:b0"},
    {"etnaviv", "etnaviv - 2 memory:1835008H"},
    {"ivpu", "intel_vpu 0000:00:0b.0 14 memory:25161728Hs4096"},
    {"amdxdna", "amdxdna_accel_driver 0000:c5:00.1 9 memory:68157440H"},
    {"amdxdna-engine", "amdxdna_accel_driver 0000:c5:00.1 9 npu-amdxdna:b5123"},
    {"nouveau", "nouveau 0000:01:00.0 3"},
    {"new-driver", "novelty - 1 shader:b12 ray-tracer:c5 hbm0:3145728?"},
    {"removed-6.16", NULL},
    {"eventpoll", NULL},
    {"eventfd", NULL},
};

static void say_value(struct gtel_buf *out, bool is_there, char letter, uint64_t value)
{
    if (is_there)
        gtel_buf_printf(out, "%c%" PRIu64, letter, value);
}

static void say_all(struct gtel_buf *out, const struct gtel_fdinfo *info)
{
    uint64_t used;
    gtel_buf_printf(out, "%.*s %.*s", GTEL_STR_ARG(info->driver),
                    GTEL_STR_ARG(info->pdev.n > 0 ? info->pdev : GTEL_STR("-")));
    say_value(out, info->has_client_id, ' ', info->client_id);
    for (size_t i = 0; i < info->engines; i++) {
        const struct gtel_fdinfo_engine *engine = &info->engine[i];
        gtel_buf_printf(out, " %.*s:", GTEL_STR_ARG(engine->name));
        say_value(out, engine->has_busy_ns, 'b', engine->busy_ns);
        say_value(out, engine->has_cycles, 'c', engine->cycles);
        say_value(out, engine->has_total_cycles, 't', engine->total_cycles);
        say_value(out, engine->capacity != 1, 'x', engine->capacity);
    }
    for (size_t i = 0; i < info->regions; i++) {
        const struct gtel_fdinfo_region *region = &info->region[i];
        gtel_buf_printf(out, " %.*s:", GTEL_STR_ARG(region->name));
        if (gtel_fdinfo_region_used(region, &used))
            gtel_buf_printf(out, "%" PRIu64, used);
        gtel_buf_printf(out, "%c", "DH-?"[gtel_fdinfo_region_place(region->name)]);
        say_value(out, region->bytes[GTEL_FDINFO_SHARED] > 0, 's',
                  region->bytes[GTEL_FDINFO_SHARED]);
    }
}

/* The file in memory of its own size, so that a read beyond it is found. NULL: none. */
static char *read_file(const char *name, size_t *ret_n)
{
    static char buf[GTEL_FDINFO_TEXT_MAX];
    char path[512];
    (void)snprintf(path, sizeof(path), TEST_DIR "/fuzz/corpus/fdinfo/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    size_t n = fread(buf, 1, sizeof(buf), f);
    (void)fclose(f); /* only read */
    char *text = malloc(n + (n == 0));
    for (size_t i = 0; text && i < n; i++)
        text[i] = buf[i];
    *ret_n = n;
    return text;
}

static void test_text(const char *text, size_t n, const char *want)
{
    struct gtel_fdinfo info;
    int r = gtel_fdinfo_parse((struct gtel_str){text, n}, &info);
    CHECK_INT(r, want ? 0 : -ENODATA);
    if (r < 0)
        return;
    struct gtel_buf got;
    gtel_buf_init(&got, SAYS_MAX);
    say_all(&got, &info);
    CHECK_STR(((struct gtel_str){got.p, got.n}), want);
    gtel_buf_done(&got);
    CHECK_INT(info.missed, 0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = 0;
        char *text = read_file(cases[i].file, &n);
        test_label = cases[i].file;
        CHECK(text != NULL);
        if (text)
            test_text(text, n, cases[i].says);
        free(text);
    }
    return test_result();
}
