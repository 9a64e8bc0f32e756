/* SPDX-License-Identifier: MIT */
/* PCIe bytes and activity of NVIDIA GPUs against a link whose bytes are known. */
#include "sources/nvidia/gpu.h"
#include "harness/test.h"

#include <math.h>
#include <stdlib.h>

#define MS 1000000ull
#define S 1000000000ull
#define GB 1e9
#define MIB 1048576.0

struct gtel_nvml_gpm_sample {
    double bytes[GTEL_NVML_PCIE_WAYS];
    uint64_t t_ns;
};

/* A GPU whose link moves bytes at a constant speed, and the library that knows of it. */
static struct {
    uint64_t now_ns;
    double speed[GTEL_NVML_PCIE_WAYS]; /* bytes a second */
    double bytes[GTEL_NVML_PCIE_WAYS]; /* up to now */
    int sample_code;
    int means_code;
    int pcie_code;      /* of the PCIe metrics alone */
    bool is_unnamed;    /* metrics answer 0 without a name */
    double too_much;    /* factor of the PCIe metrics */
    uint64_t sample_ns; /* what calls take */
    uint64_t dram_ns;
    unsigned allocated;
} link_;

static void go(uint64_t ns)
{
    link_.now_ns += ns;
    for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS; way++)
        link_.bytes[way] += link_.speed[way] * (double)ns / 1e9;
}

static uint64_t monotonic_ns(void *arg)
{
    (void)arg;
    return link_.now_ns;
}

static int fake_support(struct gtel_nvml_device *device, struct gtel_nvml_gpm_support *ret)
{
    (void)device;
    ret->is_supported = 1;
    return GTEL_NVML_SUCCESS;
}

static int fake_alloc(struct gtel_nvml_gpm_sample **ret)
{
    *ret = calloc(1, sizeof(**ret));
    link_.allocated++;
    return *ret ? GTEL_NVML_SUCCESS : GTEL_NVML_MEMORY;
}

static int fake_free(struct gtel_nvml_gpm_sample *sample)
{
    free(sample);
    link_.allocated--;
    return GTEL_NVML_SUCCESS;
}

static int fake_sample(struct gtel_nvml_device *device, struct gtel_nvml_gpm_sample *sample)
{
    (void)device;
    go(link_.sample_ns);
    sample->t_ns = link_.now_ns; /* also when it fails: the sample is spoilt then */
    memcpy(sample->bytes, link_.bytes, sizeof(sample->bytes));
    return link_.sample_code;
}

static int fake_means(struct gtel_nvml_gpm_get *get)
{
    double seconds = (double)(get->newer->t_ns - get->older->t_ns) / 1e9;
    if (link_.means_code != GTEL_NVML_SUCCESS)
        return link_.means_code;
    CHECK(seconds >= 0.1);
    for (unsigned i = 0; i < get->n; i++) {
        struct gtel_nvml_gpm_metric *metric = &get->metric[i];
        bool is_tx = metric->metric_id == GTEL_NVML_GPM_PCIE_TX;
        bool is_pcie = is_tx || metric->metric_id == GTEL_NVML_GPM_PCIE_RX;
        size_t way = is_tx ? GTEL_NVML_PCIE_TX : GTEL_NVML_PCIE_RX;
        metric->rc = is_pcie ? link_.pcie_code : GTEL_NVML_SUCCESS;
        metric->short_name = link_.is_unnamed ? "" : "name";
        metric->value = 50;
        if (is_pcie)
            metric->value =
                (get->newer->bytes[way] - get->older->bytes[way]) / seconds / MIB * link_.too_much;
        if (metric->metric_id == GTEL_NVML_GPM_DRAM)
            go(link_.dram_ns);
        if (link_.is_unnamed)
            metric->value = 0;
    }
    return GTEL_NVML_SUCCESS;
}

static int fake_fields(struct gtel_nvml_device *device, int n, struct gtel_nvml_field *ret)
{
    (void)device;
    for (int i = 0; i < n; i++) {
        bool is_tx = ret[i].field_id == GTEL_NVML_FI_PCIE_TX_BYTES;
        bool is_rx = ret[i].field_id == GTEL_NVML_FI_PCIE_RX_BYTES;
        size_t way = is_tx ? GTEL_NVML_PCIE_TX : GTEL_NVML_PCIE_RX;
        ret[i].rc = is_tx || is_rx ? GTEL_NVML_SUCCESS : GTEL_NVML_NOT_SUPPORTED;
        ret[i].value_type = GTEL_NVML_TYPE_UINT;
        ret[i].value.ui = (unsigned)(uint64_t)fmod(link_.bytes[way] + 4e9, 4294967296.0);
    }
    return GTEL_NVML_SUCCESS;
}

/* One GPU as the source reads it. */
struct machine {
    struct gtel_env_ops ops;
    struct gtel_env env;
    struct gtel_options options;
    struct gtel_nvml_library library;
    struct gtel_nvml_gpu *gpu;
    struct gtel_device device;
    struct gtel_batch batch;
};

static bool begin(struct machine *m, bool has_gpm, unsigned gen, unsigned width)
{
    memset(&link_, 0, sizeof(link_));
    link_.now_ns = 100 * S;
    link_.too_much = 1;
    memset(m, 0, sizeof(*m));
    m->ops.monotonic_ns = monotonic_ns;
    m->env.ops = &m->ops;
    gtel_options_init(&m->options);
    m->library.env = &m->env;
    m->library.options = &m->options;
    m->library.is_running = true;
    m->library.call.nvmlDeviceGetFieldValues = fake_fields;
    m->library.call.nvmlGpmQueryDeviceSupport = has_gpm ? fake_support : NULL;
    m->library.call.nvmlGpmSampleAlloc = fake_alloc;
    m->library.call.nvmlGpmSampleFree = fake_free;
    m->library.call.nvmlGpmSampleGet = fake_sample;
    m->library.call.nvmlGpmMetricsGet = fake_means;
    m->gpu = calloc(1, sizeof(*m->gpu));
    if (!CHECK(m->gpu != NULL))
        return false;
    m->gpu->device = &m->device;
    m->gpu->pcie.speed = gtel_nvml_pcie_speed(gen, width);
    return true;
}

static void finish(struct machine *m)
{
    gtel_nvml_gpm_done(&m->library.call, &m->gpu->gpm);
    CHECK_INT(link_.allocated, 0);
    gtel_batch_done(&m->batch);
    free(m->gpu);
}

/* One gather, as the source makes it. */
static void gather(struct machine *m)
{
    gtel_batch_reset(&m->batch);
    gtel_nvml_gpu_sample(&m->library, m->gpu, &m->batch);
}

/* -1 when there is none. */
static double value(const struct machine *m, enum gtel_metric metric, const char *dim)
{
    for (size_t i = 0; i < m->batch.n; i++)
        if (m->batch.reading[i].metric == metric &&
            gtel_str_eq(m->batch.reading[i].dim[0], gtel_str_of(dim)))
            return gtel_reading_number(&m->batch.reading[i]);
    return -1;
}

static double tx(const struct machine *m)
{
    return value(m, GTEL_M_GPU_PCIE_TX, NULL);
}

static double rx(const struct machine *m)
{
    return value(m, GTEL_M_GPU_PCIE_RX, NULL);
}

/* ---- the link ---- */

static void test_speed(void)
{
    static const struct {
        unsigned gen;
        unsigned width;
        double speed;
    } cases[] = {
        {1, 1, 0.3125e9}, {3, 1, 1e9}, {3, 16, 16e9}, {4, 16, 32e9}, {5, 16, 64e9},
        {7, 32, 512e9},   {0, 16, 0},  {8, 16, 0},    {5, 0, 0},     {5, 33, 0},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++)
        CHECK_NEAR(gtel_nvml_pcie_speed(cases[i].gen, cases[i].width), cases[i].speed, 0);
}

/* 55 GB a second wrap the field 13 times in each interval; GPM counts them all. */
static void test_fast_link(void)
{
    static const uint64_t intervals[] = {300 * MS, 1 * S, 5 * S, 60 * S};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(intervals); i++) {
        struct machine m;
        if (!begin(&m, true, 5, 16))
            return;
        link_.speed[GTEL_NVML_PCIE_TX] = 55.2 * GB;
        link_.speed[GTEL_NVML_PCIE_RX] = 1.5 * GB;
        link_.sample_ns = 200000;
        link_.dram_ns = 3 * MS;
        gather(&m);
        CHECK_NEAR(tx(&m), -1, 0);
        for (int k = 0; k < 10; k++) {
            double before = tx(&m);
            double start = link_.bytes[GTEL_NVML_PCIE_TX];
            go(intervals[i]);
            gather(&m);
            CHECK(tx(&m) >= 0);
            if (k == 0)
                CHECK_NEAR(tx(&m), 0, 0);
            else /* up to the time at which the samples were taken */
                CHECK_NEAR((tx(&m) - before) / (link_.bytes[GTEL_NVML_PCIE_TX] - start), 1, 0.011);
        }
        CHECK_NEAR(rx(&m) / tx(&m), 1.5 / 55.2, 1e-3);
        finish(&m);
    }
}

/* A narrow link: the field says all, modulo 2^32, and an interval that is too long says nothing. */
static void test_slow_link(void)
{
    struct machine m;
    if (!begin(&m, false, 3, 1))
        return;
    link_.now_ns = S; /* a clock that has just begun */
    link_.speed[GTEL_NVML_PCIE_TX] = 0.9 * GB;
    gather(&m);
    CHECK_NEAR(tx(&m), -1, 0);
    for (int k = 0; k < 12; k++) {
        go(S);
        gather(&m);
        CHECK_NEAR(tx(&m), 0.9 * GB * k, 4);
        CHECK_NEAR(rx(&m), 0, 0);
    }
    go(6 * S); /* it could have wrapped */
    gather(&m);
    CHECK_NEAR(tx(&m), -1, 0);
    go(S);
    gather(&m);
    CHECK_NEAR(tx(&m), 0, 0);
    go(4 * S); /* beyond 2^31, but no more than the link can move in that time */
    gather(&m);
    CHECK_NEAR(tx(&m), 3.6 * GB, 4);
    gtel_nvml_gpu_forget(m.gpu); /* NVML was started again: the counter as well, perhaps */
    link_.bytes[GTEL_NVML_PCIE_TX] = 0;
    gather(&m);
    CHECK_NEAR(tx(&m), -1, 0);
    go(S);
    gather(&m);
    CHECK_NEAR(tx(&m), 0, 0);
    finish(&m);
}

/* The interval grows beyond what the field can count: GPM goes on, from 0, and for good. */
static void test_switch(void)
{
    struct machine m;
    if (!begin(&m, true, 3, 1))
        return;
    link_.speed[GTEL_NVML_PCIE_TX] = 0.9 * GB;
    for (int k = 0; k < 3; k++) {
        gather(&m);
        go(S);
    }
    CHECK_NEAR(tx(&m), 0.9 * GB, 4);
    go(9 * S);
    gather(&m);
    CHECK_NEAR(tx(&m), 0, 0);
    CHECK_INT(m.batch.reading[m.batch.n - 1].origin, GTEL_NVML_ORIGIN_GPM);
    go(S);
    gather(&m);
    CHECK_NEAR(tx(&m), 0.9 * GB, 4);
    CHECK_INT(m.batch.reading[m.batch.n - 1].origin, GTEL_NVML_ORIGIN_GPM);
    finish(&m);
}

/* Without GPM a fast link has no bytes to show, and one of unknown speed neither. */
static void test_nothing(void)
{
    static const unsigned gens[] = {4, 0};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gens); i++) {
        struct machine m;
        if (!begin(&m, false, gens[i], 16))
            return;
        link_.speed[GTEL_NVML_PCIE_TX] = 1e6;
        for (int k = 0; k < 5; k++) {
            gather(&m);
            CHECK_NEAR(tx(&m), -1, 0);
            CHECK_NEAR(rx(&m), -1, 0);
            go(S);
        }
        finish(&m);
    }
}

/* ---- failures ---- */

/* What fails for a while does not cost a byte: the next window is longer. */
static void test_no_hole(void)
{
    static const struct {
        const char *label;
        int sample_code;
        int means_code;
        uint64_t pause_ns; /* until it is asked for again */
    } cases[] = {
        {"sample", GTEL_NVML_TIMEOUT, 0, S},
        {"means", 0, GTEL_NVML_UNKNOWN, S},
        {"permission", GTEL_NVML_NO_PERMISSION, 0, 61 * S},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct machine m;
        test_label = cases[i].label;
        if (!begin(&m, true, 5, 16))
            return;
        link_.speed[GTEL_NVML_PCIE_TX] = 40 * GB;
        gather(&m);
        go(S);
        gather(&m);
        double start = link_.bytes[GTEL_NVML_PCIE_TX];
        link_.sample_code = cases[i].sample_code;
        link_.means_code = cases[i].means_code;
        for (int k = 0; k < 3; k++) {
            go(S);
            gather(&m);
            CHECK_NEAR(tx(&m), -1, 0);
            CHECK_INT(m.batch.failed[0], k == 0 || cases[i].pause_ns == S);
            link_.speed[GTEL_NVML_PCIE_TX] = 10 * GB;
        }
        link_.sample_code = 0;
        link_.means_code = 0;
        go(cases[i].pause_ns);
        gather(&m);
        CHECK_NEAR(tx(&m), link_.bytes[GTEL_NVML_PCIE_TX] - start, 8);
        CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), 0.5, 1e-9);
        finish(&m);
    }
    test_label = "";
}

/* Where bytes cannot be known, the sums begin again at 0, and no byte is made up. */
static void test_holes(void)
{
    enum { PCIE_FAILS, UNNAMED, TOO_MUCH, LONG_GAP, RESET, CASES };
    static const char *const labels[] = {"PCIe alone", "no name", "more than the link can move",
                                         "long gap", "reset"};
    for (int i = 0; i < CASES; i++) {
        struct machine m;
        test_label = labels[i];
        if (!begin(&m, true, 5, 16))
            return;
        link_.speed[GTEL_NVML_PCIE_TX] = 50 * GB;
        for (int k = 0; k < 3; k++) {
            gather(&m);
            go(S);
        }
        link_.pcie_code = i == PCIE_FAILS ? GTEL_NVML_NO_DATA : GTEL_NVML_SUCCESS;
        link_.is_unnamed = i == UNNAMED;
        link_.too_much = i == TOO_MUCH ? 3 : 1;
        if (i == LONG_GAP)
            go(601 * S);
        if (i == RESET) {
            gtel_nvml_gpu_forget(m.gpu);
            link_.bytes[GTEL_NVML_PCIE_TX] = 0;
        }
        gather(&m);
        CHECK_NEAR(tx(&m), -1, 0);
        link_.pcie_code = GTEL_NVML_SUCCESS;
        link_.is_unnamed = false;
        link_.too_much = 1;
        for (int k = 0; k < 3; k++) {
            go(S);
            gather(&m);
            CHECK_NEAR(tx(&m), 50 * GB * k, 8);
        }
        finish(&m);
    }
    test_label = "";
}

/* Gathers that follow each other too fast for GPM lose nothing. */
static void test_short_gaps(void)
{
    struct machine m;
    if (!begin(&m, true, 5, 16))
        return;
    link_.speed[GTEL_NVML_PCIE_RX] = 20 * GB;
    gather(&m);
    go(S);
    gather(&m);
    double start = link_.bytes[GTEL_NVML_PCIE_RX];
    go(90 * MS);
    gather(&m);
    CHECK_NEAR(rx(&m), -1, 0);
    go(90 * MS);
    gather(&m);
    CHECK_NEAR(rx(&m), link_.bytes[GTEL_NVML_PCIE_RX] - start, 8);
    finish(&m);
}

/* Gathers just as far apart as GPM wants, and just as far as it may. */
static void test_gaps(void)
{
    static const struct {
        uint64_t gap_ns;
        bool has_mean;
    } gaps[] = {{99 * MS, false}, {100 * MS, true}, {600 * S, true}, {600 * S + 1, false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(gaps); i++) {
        struct machine m;
        if (!begin(&m, true, 5, 16))
            return;
        gather(&m);
        go(gaps[i].gap_ns);
        gather(&m);
        CHECK_INT(value(&m, GTEL_M_ACTIVITY, "sm") >= 0, gaps[i].has_mean);
        finish(&m);
    }
}

/* Permission is asked for again after a minute. */
static void test_permission(void)
{
    static const uint64_t pauses[] = {59500 * MS - 1, 59500 * MS};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(pauses); i++) {
        struct machine m;
        if (!begin(&m, true, 5, 16))
            return;
        link_.sample_code = GTEL_NVML_NO_PERMISSION;
        gather(&m);
        CHECK_INT(m.batch.failed[0], 1);
        go(pauses[i]);
        gather(&m);
        CHECK_INT(m.batch.failed[0], i);
        finish(&m);
    }
}

/* A quarter more than the link can move is what headers and clocks make; more is none. */
static void test_slack(void)
{
    static const struct {
        double factor; /* of 50 GB/s, on a link of 64 */
        bool counts;
    } cases[] = {{1.59, true}, {1.61, false}};
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        for (size_t way = 0; way < GTEL_NVML_PCIE_WAYS; way++) {
            struct machine m;
            if (!begin(&m, true, 5, 16))
                return;
            link_.speed[way] = 50 * GB;
            for (int k = 0; k < 3; k++) {
                link_.too_much = k == 2 ? cases[i].factor : 1;
                gather(&m);
                go(S);
            }
            CHECK_INT(tx(&m) >= 0, cases[i].counts);
            CHECK_INT(rx(&m) >= 0, cases[i].counts);
            finish(&m);
        }
    }
}

/* ---- DRAM ---- */

/* DRAM comes with the first two means and then each twenty seconds, other units each time. */
static void test_dram(void)
{
    struct machine m;
    unsigned n = 0;
    if (!begin(&m, true, 5, 16))
        return;
    link_.sample_ns = 2 * MS;
    link_.dram_ns = 5 * MS;
    gather(&m);
    for (int k = 0; k < 42; k++) {
        go(S);
        gather(&m);
        bool has_dram = value(&m, GTEL_M_ACTIVITY, "dram") >= 0;
        CHECK_INT(has_dram, k <= 1 || k == 21 || k == 41);
        n += value(&m, GTEL_M_ACTIVITY, "sm") >= 0 && tx(&m) >= 0;
    }
    CHECK_INT(n, 42);
    finish(&m);
}

/* What was read before NVML was started again says nothing about what is read afterwards. */
static void test_forget(void)
{
    for (int has_gpm = 0; has_gpm < 2; has_gpm++) {
        struct machine m;
        if (!begin(&m, has_gpm, has_gpm ? 5 : 3, has_gpm ? 16 : 1))
            return;
        link_.speed[GTEL_NVML_PCIE_TX] = 0.5 * GB;
        for (int k = 0; k < 5; k++) {
            gather(&m);
            go(S);
        }
        CHECK_NEAR(tx(&m), 1.5 * GB, 8);
        gtel_nvml_gpu_forget(m.gpu);
        for (int k = 0; k < 5; k++) {
            gather(&m);
            CHECK_NEAR(tx(&m), k == 0 ? -1 : 0.5 * GB * (k - 1), 8);
            CHECK_NEAR(value(&m, GTEL_M_ACTIVITY, "sm"), has_gpm && k > 0 ? 0.5 : -1, 1e-9);
            CHECK_INT(value(&m, GTEL_M_ACTIVITY, "dram") >= 0, has_gpm && (k == 1 || k == 2));
            go(S);
        }
        finish(&m);
    }
}

int main(void)
{
    test_speed();
    test_fast_link();
    test_slow_link();
    test_switch();
    test_nothing();
    test_no_hole();
    test_holes();
    test_short_gaps();
    test_gaps();
    test_permission();
    test_slack();
    test_dram();
    test_forget();
    return test_result();
}
