/* SPDX-License-Identifier: MIT */
/* What amd-smi and rocm-smi print, generation by generation; cut, behind other text, and large. */
#include "sources/amd/tool_read.h"

#include "parse/json.h"
#include "harness/test.h"
#include "harness/tree_files.h"

#include <errno.h>

#define MIB 1048576.0
#define SMI_57 "smi-5.7-metric"
#define SMI_60 "smi-6.0-metric"
#define SMI_62 "smi-6.2-metric"
#define SMI_7 "smi-7-metric"
#define GIM "smi-gim-metric"
#define ROCM_43 "rocm-4.3"
#define ROCM_57 "rocm-5.7"
#define ROCM_60 "rocm-6.0"
#define CPX "rocm-6.1.2-cpx"
#define STOPPED "rocm-stopped"

/* In base units; NONE: there is no such value. */
#define NONE (-1e99)

static const struct {
    const char *file;
    size_t device;
    enum gtel_metric metric;
    const char *part;
    double want;
} cases[] = {
    {SMI_57, 0, GTEL_M_GPU_BUSY, NULL, 0.64},
    {SMI_57, 0, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0.21},
    {SMI_57, 0, GTEL_M_ENGINE_BUSY, "video", NONE},
    {SMI_57, 0, GTEL_M_POWER, "pkg", 187},
    {SMI_57, 0, GTEL_M_VOLTAGE, "vddgfx", 0.925},
    {SMI_57, 0, GTEL_M_VOLTAGE, "vddnb", NONE},
    {SMI_57, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", 2105e6},
    {SMI_57, 0, GTEL_M_FREQUENCY_MIN, "graphics", 500e6},
    {SMI_57, 0, GTEL_M_FREQUENCY_MAX, "memory", 1000e6},
    {SMI_57, 0, GTEL_M_TEMPERATURE, "junction", 71},
    {SMI_57, 0, GTEL_M_GPU_PCIE_GEN, NULL, 4},
    {SMI_57, 0, GTEL_M_GPU_PCIE_WIDTH, NULL, 16},
    {SMI_57, 0, GTEL_M_GPU_PCIE_REPLAYS, NULL, 3},
    {SMI_57, 0, GTEL_M_FAN_RPM, "1", 1391},
    {SMI_57, 0, GTEL_M_FAN, "1", 0.3686},
    {SMI_57, 0, GTEL_M_MEMORY_TOTAL, "vram", 16368 * MIB},
    {SMI_57, 0, GTEL_M_MEMORY_USED, "vram", 2046 * MIB},
    {SMI_57, 0, GTEL_M_MEMORY_VISIBLE, "vram", 256 * MIB},
    {SMI_57, 0, GTEL_M_MEMORY_USED, "gtt", 88 * MIB},
    {SMI_57, 0, GTEL_M_ERROR_COUNT, "corrected", NONE},
    {SMI_60, 0, GTEL_M_GPU_BUSY, NULL, 0.03},
    {SMI_60, 0, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0},
    {SMI_60, 0, GTEL_M_POWER, "pkg", 41},
    {SMI_60, 0, GTEL_M_POWER_LIMIT, "pkg", NONE},
    {SMI_60, 0, GTEL_M_GPU_THROTTLED, NULL, 0},
    {SMI_60, 0, GTEL_M_ENERGY, "pkg", NONE},
    {SMI_60, 0, GTEL_M_ERROR_COUNT, "corrected", 7},
    {SMI_60, 0, GTEL_M_FAN_RPM, "1", NONE},
    {SMI_60, 0, GTEL_M_MEMORY_USED, "vram", 10 * MIB},
    {SMI_60, 1, GTEL_M_GPU_BUSY, NULL, NONE},
    {SMI_60, 1, GTEL_M_TEMPERATURE, "edge", NONE},
    {SMI_60, 1, GTEL_M_TEMPERATURE, "junction", 44},
    {SMI_60, 1, GTEL_M_ENERGY, "pkg", NONE},
    {"smi-6.0-static", 0, GTEL_M_POWER_LIMIT, "pkg", 250},
    {"smi-6.0-static", 0, GTEL_M_TEMPERATURE_CRITICAL, "junction", 105},
    {"smi-6.0-static", 0, GTEL_M_TEMPERATURE_EMERGENCY, "mem", 100},
    {"smi-6.0-static", 1, GTEL_M_POWER_LIMIT, "pkg", NONE},
    {SMI_62, 0, GTEL_M_GPU_BUSY, NULL, 0.12},
    {SMI_62, 0, GTEL_M_ENGINE_BUSY, "video", 0.31},
    {SMI_62, 0, GTEL_M_POWER, "pkg", 88},
    {SMI_62, 0, GTEL_M_GPU_THROTTLED, NULL, NONE}, /* THROTTLED: at idle, too */
    {SMI_62, 0, GTEL_M_VOLTAGE, "vddnb", 0.906},
    {SMI_62, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", 1302e6},
    {SMI_62, 0, GTEL_M_FREQUENCY_ACTUAL, "memory", 456e6},
    {SMI_62, 0, GTEL_M_TEMPERATURE, "mem", 58},
    {SMI_62, 0, GTEL_M_GPU_PCIE_GEN, NULL, 1},
    {SMI_62, 0, GTEL_M_FAN_RPM, "1", 0},
    {SMI_62, 0, GTEL_M_FAN, "1", 0.2},
    {SMI_62, 0, GTEL_M_ENERGY, "pkg", NONE},
    {SMI_62, 0, GTEL_M_MEMORY_TOTAL, "gtt", 31980 * MIB},
    {SMI_62, 1, GTEL_M_GPU_BUSY, NULL, 1},
    {SMI_62, 1, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, NONE},
    {SMI_62, 1, GTEL_M_POWER, "pkg", NONE}, /* in another unit */
    {"smi-6.2-static", 1, GTEL_M_POWER_LIMIT, "pkg", 350},
    {"smi-6.2-static", 1, GTEL_M_TEMPERATURE_EMERGENCY, "edge", 105},
    {SMI_7, 0, GTEL_M_GPU_BUSY, NULL, 0.77},
    {SMI_7, 0, GTEL_M_POWER, "pkg", 317},
    {SMI_7, 0, GTEL_M_TEMPERATURE, "edge", NONE},
    {SMI_7, 0, GTEL_M_TEMPERATURE, "junction", 61},
    {SMI_7, 0, GTEL_M_FAN, "1", NONE},
    {"smi-7-static", 0, GTEL_M_POWER_LIMIT, "pkg", 750},
    {GIM, 0, GTEL_M_GPU_BUSY, NULL, 0.09},
    {GIM, 0, GTEL_M_ENGINE_BUSY, "video", 0},
    {GIM, 0, GTEL_M_POWER, "pkg", 142},
    {GIM, 0, GTEL_M_VOLTAGE, "vddgfx", NONE},
    {GIM, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", 131e6},
    {GIM, 0, GTEL_M_GPU_PCIE_GEN, NULL, 5},
    {GIM, 0, GTEL_M_GPU_PCIE_WIDTH, NULL, 16},
    {GIM, 0, GTEL_M_ERROR_COUNT, "corrected", 4},
    {GIM, 0, GTEL_M_ENERGY, "pkg", NONE},
    {ROCM_43, 0, GTEL_M_GPU_BUSY, NULL, 0.05},
    {ROCM_43, 0, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0.02},
    {ROCM_43, 0, GTEL_M_POWER, "pkg", 31},
    {ROCM_43, 0, GTEL_M_POWER_LIMIT, "pkg", 203},
    {ROCM_43, 0, GTEL_M_ENERGY, "pkg", NONE},
    {ROCM_43, 0, GTEL_M_VOLTAGE, "vddgfx", NONE}, /* 6 mV */
    {ROCM_43, 0, GTEL_M_TEMPERATURE, "edge", 41},
    {ROCM_43, 0, GTEL_M_TEMPERATURE, "mem", NONE},
    {ROCM_43, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", 500e6},
    {ROCM_43, 0, GTEL_M_FREQUENCY_ACTUAL, "memory", 96e6},
    {ROCM_43, 0, GTEL_M_GPU_PCIE_GEN, NULL, 4},
    {ROCM_43, 0, GTEL_M_GPU_PCIE_WIDTH, NULL, 16},
    {ROCM_43, 0, GTEL_M_MEMORY_TOTAL, "vram", 17163091968},
    {ROCM_43, 0, GTEL_M_MEMORY_VISIBLE_USED, "vram", 33554432},
    {ROCM_43, 0, GTEL_M_MEMORY_USED, "gtt", 44040192},
    {ROCM_57, 0, GTEL_M_TEMPERATURE, "hbm0", 39},
    {ROCM_57, 0, GTEL_M_TEMPERATURE, "hbm3", 41},
    {ROCM_57, 0, GTEL_M_TEMPERATURE, "hbm1", NONE},
    {ROCM_57, 0, GTEL_M_VOLTAGE, "vddgfx", 0.806},
    {ROCM_57, 0, GTEL_M_GPU_PCIE_REPLAYS, NULL, 2},
    {ROCM_57, 1, GTEL_M_POWER, "pkg", NONE}, /* "N/A (Secondary die)" */
    {ROCM_57, 1, GTEL_M_GPU_BUSY, NULL, 0.99},
    {ROCM_57, 1, GTEL_M_MEMORY_USED, "vram", 34351349760},
    {ROCM_60, 0, GTEL_M_POWER, "pkg", 131},
    {CPX, 0, GTEL_M_GPU_MEMORY_BANDWIDTH, NULL, 0.13},
    {CPX, 2, GTEL_M_GPU_BUSY, NULL, 0},
    {"two-texts", 0, GTEL_M_GPU_BUSY, NULL, 0.05},
    {"odd", 0, GTEL_M_GPU_BUSY, NULL, NONE},
    {"odd", 0, GTEL_M_FAN_RPM, "1", NONE},
    {"odd", 0, GTEL_M_TEMPERATURE, "edge", NONE},
    {"odd", 0, GTEL_M_MEMORY_TOTAL, "vram", NONE},
    {"odd", 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", NONE},
    {"odd", 0, GTEL_M_FREQUENCY_ACTUAL, "memory", NONE},     /* in another unit */
    {STOPPED, 0, GTEL_M_FREQUENCY_ACTUAL, "graphics", NONE}, /* as in the driver's files */
    {STOPPED, 0, GTEL_M_FREQUENCY_ACTUAL, "memory", 96e6},
    {"odd", 0, GTEL_M_GPU_PCIE_GEN, NULL, NONE},
    {"odd", 0, GTEL_M_GPU_PCIE_WIDTH, NULL, NONE},
    {"odd", 0, GTEL_M_GPU_PCIE_REPLAYS, NULL, NONE}, /* all ones of 32 bits */
};

/* Of each file: devices, the first one's number, address and name; what it returns. */
static const struct {
    const char *file;
    int r;
    size_t n;
    int64_t index;
    const char *address;
    const char *model;
} files[] = {
    {SMI_57, 0, 1, 0, "", ""},
    {"smi-5.7-static", 0, 1, 0, "0000:0b:00.0", "Navi 21 [Radeon RX 6800]"},
    {SMI_60, 0, 2, 0, "", ""},
    {"smi-6.0-static", 0, 2, 0, "0000:83:00.0", "MI210"},
    {SMI_62, 0, 2, 0, "", ""},
    {"smi-6.2-static", 0, 2, 0, "0000:03:00.0", "Navi 31 [Radeon RX 7900 XTX]"},
    {SMI_7, 0, 1, 0, "", ""},
    {"smi-7-static", 0, 1, 0, "0000:05:00.0", "AMD Instinct MI300X"},
    {GIM, 0, 1, 0, "", ""},
    {"smi-gim-static", 0, 1, 0, "0000:1b:00.0", "AMD Instinct MI300X"},
    {"smi-none-metric", 0, 1, 0, "", ""},
    {"smi-error", -EPROTO, 0, 0, NULL, NULL},
    {ROCM_43, 0, 1, -1, "0000:2d:00.0", ""}, /* 0x1002 is no name */
    {ROCM_57, 0, 2, -1, "0000:c1:00.0", "AMD INSTINCT MI250 (MCM) OAM AC MBA"},
    {ROCM_60, 0, 1, -1, "0000:05:00.0", ""},
    {CPX, 0, 3, -1, "0000:05:00.0", "AMD Instinct MI300X OAM"},
    {"rocm-concise", -EBADMSG, 0, 0, NULL, NULL},
    {"two-texts", 0, 1, 0, "", ""},
    {STOPPED, 0, 1, -1, "0000:03:00.0", ""},
    {"odd", 0, 1, -1, "0000:03:00.0", ""},
};

enum { FILES = sizeof(files) / sizeof(files[0]) };

static char *texts[FILES];
static size_t sizes[FILES];
static struct gtel_amd_tool_answer whole;
static struct gtel_amd_tool_answer part;

static int read_text(struct gtel_str text, struct gtel_amd_tool_answer *ret)
{
    void *memory = malloc(gtel_json_memory(text.n));
    int r = CHECK(memory != NULL) ? gtel_amd_tool_read(text, memory, ret) : -ENOMEM;
    free(memory);
    return r;
}

static bool load(void)
{
    for (size_t i = 0; i < FILES; i++) {
        char path[512];
        (void)snprintf(path, sizeof(path), TEST_DIR "/fuzz/corpus/amd_tool/%s", files[i].file);
        texts[i] = read_whole_file(path, &sizes[i]);
        if (!CHECK(texts[i] != NULL))
            return false;
    }
    return true;
}

static struct gtel_str text_of(const char *file)
{
    for (size_t i = 0; i < FILES; i++)
        if (strcmp(files[i].file, file) == 0)
            return (struct gtel_str){texts[i], sizes[i]};
    CHECK(false); /* no such row */
    return GTEL_STR_NONE;
}

static double value_of(const struct gtel_amd_tool_device *device, enum gtel_metric metric,
                       const char *dim)
{
    for (size_t i = 0; i < gtel_amd_tool_rows_n; i++) {
        const struct gtel_amd_tool_row *row = &gtel_amd_tool_rows[i];
        if (row->metric == metric && (device->has >> i & 1) != 0 &&
            gtel_str_eq(gtel_str_of(row->part), gtel_str_of(dim)))
            return device->value[i] * row->scale;
    }
    return NONE;
}

static void test_values(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char label[128];
        (void)snprintf(label, sizeof(label), "%s, device %zu, %s %s", cases[i].file,
                       cases[i].device, gtel_metric_row(cases[i].metric)->field.p,
                       cases[i].part ? cases[i].part : "");
        test_label = label;
        CHECK_INT(read_text(text_of(cases[i].file), &whole), 0);
        if (CHECK(cases[i].device < whole.n))
            CHECK_NEAR(value_of(&whole.device[cases[i].device], cases[i].metric, cases[i].part),
                       cases[i].want, 1e-9 * (cases[i].want > 1 ? cases[i].want : 1));
    }
    test_label = "";
}

static void test_devices(void)
{
    for (size_t i = 0; i < FILES; i++) {
        char address[GTEL_PCI_TEXT_MAX] = "";
        test_label = files[i].file;
        CHECK_INT(read_text((struct gtel_str){texts[i], sizes[i]}, &whole), files[i].r);
        if (!CHECK(whole.n == files[i].n) || whole.n == 0)
            continue;
        if (whole.device[0].has_pci)
            gtel_pci_print(address, &whole.device[0].pci);
        CHECK_INT(whole.device[0].index, files[i].index);
        CHECK_STR(gtel_str_of(address), files[i].address);
        CHECK_STR(gtel_str_of(whole.device[0].model), files[i].model);
        CHECK_INT(whole.error[0], 0);
    }
    test_label = "smi-none-metric";
    CHECK_INT(read_text(text_of(test_label), &whole), 0);
    CHECK_INT(whole.device[0].has, 0); /* N/A in each place */
    test_label = "smi-error";
    CHECK_INT(read_text(text_of(test_label), &whole), -EPROTO);
    CHECK_STR(gtel_str_of(whole.error),
              "Command 'metrics' is invalid. Run '--help' for more info.");
    test_label = "";
}

static bool is_same(const struct gtel_amd_tool_device *a, const struct gtel_amd_tool_device *b)
{
    bool is_equal = a->index == b->index && a->has_pci == b->has_pci && a->has == b->has &&
                    a->bad == b->bad && strcmp(a->model, b->model) == 0;
    for (size_t i = 0; i < GTEL_AMD_TOOL_ROWS; i++)
        is_equal = is_equal && ((a->has >> i & 1) == 0 || !(a->value[i] != b->value[i]));
    return is_equal;
}

/* Cut at each byte: only whole devices, each as in the whole text. */
static void test_cut(void)
{
    for (size_t i = 0; i < FILES; i++) {
        size_t most = 0;
        test_label = files[i].file;
        (void)read_text((struct gtel_str){texts[i], sizes[i]}, &whole);
        for (size_t n = 0; n <= sizes[i]; n++) {
            int r = read_text((struct gtel_str){texts[i], n}, &part);
            bool is_right = part.n <= whole.n && part.n >= most && (r == 0) == (part.n > 0);
            for (size_t d = 0; d < part.n && is_right; d++)
                is_right = is_same(&part.device[d], &whole.device[d]);
            most = part.n;
            if (!CHECK(is_right)) {
                printf("    cut at %zu\n", n);
                break;
            }
        }
        CHECK_INT(most, whole.n);
    }
    test_label = "";
}

/* Warnings in front, some of which look like JSON. */
static void test_front(void)
{
    static const char *const fronts[] = {
        "WARNING: something\n",
        "\n\n",
        "[WARNING] something\n",
        "{not so\n[]\n",
        "Warning: {'a': 1}\n{}\n[1, 2]\n",
    };
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        struct gtel_str text = text_of(SMI_62);
        size_t front = strlen(fronts[i]);
        char *joined = malloc(front + text.n);
        test_label = fronts[i];
        CHECK_INT(read_text(text, &whole), 0);
        if (!CHECK(joined != NULL))
            return;
        memcpy(joined, fronts[i], front);
        memcpy(joined + front, text.p, text.n);
        CHECK_INT(read_text((struct gtel_str){joined, front + text.n}, &part), 0);
        CHECK(part.n == whole.n &&
              memcmp(part.device, whole.device, whole.n * sizeof(whole.device[0])) == 0);
        free(joined);
    }
    test_label = "";
}

/* 2 MiB: more devices than anybody has; text without an end; depth. */
static void test_large(void)
{
    static const struct {
        const char *begin;
        const char *again;
        int r;
        size_t n;
    } large[] = {
        {"[", "{\"gpu\":1,\"usage\":{\"gfx_activity\":5}},", 0, GTEL_AMD_TOOL_DEVICES},
        {"", "[", -EBADMSG, 0},
        {"", "[\n", -EBADMSG, 0},
        {"[\"", "\\n", -EBADMSG, 0},
        {"{\"card0\": {\"PCI Bus\": \"0000:03:00.0\"}, \"system\": \"", "x", 0, 1},
        {"", "[]\n", -EBADMSG, 0},
        {"", " ", -EBADMSG, 0},
        {"", "", -EBADMSG, 0},
    };
    enum { LARGE = 2 << 20 };
    char *text = malloc(LARGE + 100);
    if (!CHECK(text != NULL))
        return;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        size_t again = strlen(large[i].again);
        size_t n = strlen(large[i].begin);
        test_label = large[i].again;
        memcpy(text, large[i].begin, n);
        for (; again > 0 && n < LARGE; n += again)
            memcpy(text + n, large[i].again, again);
        CHECK_INT(read_text((struct gtel_str){text, n}, &whole), large[i].r);
        CHECK_INT(whole.n, large[i].n);
        CHECK((whole.dropped > 0) == (large[i].n == GTEL_AMD_TOOL_DEVICES));
    }
    free(text);
    test_label = "";
}

int main(void)
{
    if (load()) {
        test_values();
        test_devices();
        test_cut();
        test_front();
        test_large();
    }
    for (size_t i = 0; i < FILES; i++)
        free(texts[i]);
    return test_result();
}
