/* SPDX-License-Identifier: MIT */
/*
 * What amd-smi and rocm-smi print. Keys, units and forms: ROCm/amdsmi, amdsmi_cli (rocm-5.7.1 to
 * October 2024), its CHANGELOG.md in ROCm/rocm-systems, amd/MxGPU-Virtualization, smi-lib/cli;
 * ROCm/rocm_smi_lib, python_smi_tools/rocm_smi.py (rocm-4.3.0 to October 2024).
 */
#include "sources/amd/tool_read.h"

#include "base/compiler.h"
#include "parse/json.h"
#include "parse/pcie.h"

#include <errno.h>
#include <string.h>

/* How a value is written. */
enum form {
    NUMBER, /* "37", "(1402Mhz)", "88 W" */
    MIBS,   /* the same; in bytes where the key ends in "(B)" */
    SPEED,  /* "16.0 GT/s"; "1 (16.0GT/s x16)": so are the lanes, too */
    LANES,
    WORD
};

#define MIB 1048576.0

/* Unit, range, scale and form. */
#define SHARE "%", 0, 100, 0.01, NUMBER
#define WATTS(least) "W", least, 10000, 1, NUMBER
#define MILLIVOLTS "mV", 100, 5000, 1e-3, NUMBER
#define CELSIUS "C", 1, 250, 1, NUMBER
#define MEGAHERTZ "MHz", 1, 20000, 1e6, NUMBER
#define MEMORY(least) "MB", least, 268435456, MIB, MIBS
#define COUNT "", 0, 9007199254740992, 1, NUMBER
#define WIDTH "", 1, 64, 1, LANES
#define UNTHROTTLED "", 0, 0, 1, WORD
#define GENERATION "GT/s", 1, 6, 1, SPEED
#define REVOLUTIONS "RPM", 0, 50000, 1, NUMBER

#define ROW(of, range, metric, part, keys)                                                         \
    {                                                                                              \
        keys, range, GTEL_AMD_TOOL_##of, GTEL_M_##metric, part                                     \
    }

/*
 * 0 is no temperature, no power, no clock and no limit: so the libraries show what they do not
 * know. "MB" are MiB. Gfx activity is the GPU's share of time, umc activity that of its memory.
 * Their energy is the raw counter times 15.3 µJ on every chip (rocm_smi.cc,
 * kEnergyCounterResolution), which is right for none: MI100 counts joules, Navi 21 millijoules,
 * later Instincts 2^-16 J. Memory in use follows its total.
 */
const struct gtel_amd_tool_row gtel_amd_tool_rows[] = {
    ROW(PART, SHARE, GPU_BUSY, NULL, "usage>gfx_activity|usage>gfx_usage|GPU use (%)"),
    ROW(PART, SHARE, GPU_MEMORY_BANDWIDTH, NULL,
        "usage>umc_activity|usage>mem_usage|GPU memory use (%)|GPU Memory Read/Write Activity (%)"),
    ROW(PART, SHARE, ENGINE_BUSY, "video", "usage>mm_activity|usage>mm_ip_usage"),
    ROW(WHOLE, WATTS(0.001), POWER, "pkg",
        "power>socket_power|power>current_power|power>average_socket_power|Average Graphics "
        "Package Power (W)|Current Socket Graphics Package Power (W)"),
    ROW(WHOLE, WATTS(1), POWER_LIMIT, "pkg",
        "limit>socket_power|limit>current_power|Max Graphics Package Power (W)"),
    ROW(WHOLE, UNTHROTTLED, GPU_THROTTLED, NULL, "power>throttle_status"),
    ROW(WHOLE, MILLIVOLTS, VOLTAGE, "vddgfx",
        "power>gfx_voltage|power>current_gfx_voltage|Voltage (mV)"),
    ROW(WHOLE, MILLIVOLTS, VOLTAGE, "vddnb", "power>soc_voltage|power>current_soc_voltage"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "edge", "temperature>edge|Temperature (Sensor edge) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "junction",
        "temperature>hotspot|Temperature (Sensor junction) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "mem", "temperature>mem|Temperature (Sensor memory) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "hbm0", "Temperature (Sensor HBM 0) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "hbm1", "Temperature (Sensor HBM 1) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "hbm2", "Temperature (Sensor HBM 2) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE, "hbm3", "Temperature (Sensor HBM 3) (C)"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_CRITICAL, "edge", "limit>slowdown_edge_temperature"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_CRITICAL, "junction", "limit>slowdown_hotspot_temperature"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_CRITICAL, "mem", "limit>slowdown_vram_temperature"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_EMERGENCY, "edge", "limit>shutdown_edge_temperature"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_EMERGENCY, "junction", "limit>shutdown_hotspot_temperature"),
    ROW(WHOLE, CELSIUS, TEMPERATURE_EMERGENCY, "mem", "limit>shutdown_vram_temperature"),
    ROW(PART, MEGAHERTZ, FREQUENCY_ACTUAL, "graphics",
        "clock>gfx_0>clk|clock>gfx>clk|clock>gfx>cur_clk|sclk clock speed:"),
    ROW(PART, MEGAHERTZ, FREQUENCY_MIN, "graphics", "clock>gfx_0>min_clk|clock>gfx>min_clk"),
    ROW(PART, MEGAHERTZ, FREQUENCY_MAX, "graphics", "clock>gfx_0>max_clk|clock>gfx>max_clk"),
    ROW(PART, MEGAHERTZ, FREQUENCY_ACTUAL, "memory",
        "clock>mem_0>clk|clock>mem>clk|clock>mem>cur_clk|mclk clock speed:"),
    ROW(PART, MEGAHERTZ, FREQUENCY_MIN, "memory", "clock>mem_0>min_clk|clock>mem>min_clk"),
    ROW(PART, MEGAHERTZ, FREQUENCY_MAX, "memory", "clock>mem_0>max_clk|clock>mem>max_clk"),
    ROW(PART, MEMORY(1), MEMORY_TOTAL, "vram",
        "mem_usage>total_vram|mem_usage>vram|VRAM Total Memory (B)"),
    ROW(PART, MEMORY(0), MEMORY_USED, "vram", "mem_usage>used_vram|VRAM Total Used Memory (B)"),
    ROW(PART, MEMORY(1), MEMORY_VISIBLE, "vram",
        "mem_usage>total_visible_vram|mem_usage>vis_vram|VIS_VRAM Total Memory (B)"),
    ROW(PART, MEMORY(0), MEMORY_VISIBLE_USED, "vram",
        "mem_usage>used_visible_vram|mem_usage>used_vis_vram|VIS_VRAM Total Used Memory (B)"),
    ROW(PART, MEMORY(1), MEMORY_TOTAL, "gtt",
        "mem_usage>total_gtt|mem_usage>gtt|GTT Total Memory (B)"),
    ROW(PART, MEMORY(0), MEMORY_USED, "gtt", "mem_usage>used_gtt|GTT Total Used Memory (B)"),
    ROW(WHOLE, GENERATION, GPU_PCIE_GEN, NULL,
        "pcie>speed|pcie>current_speed|pcie>pcie_speed|pcie clock level"),
    ROW(WHOLE, WIDTH, GPU_PCIE_WIDTH, NULL,
        "pcie>width|pcie>current_lanes|pcie>pcie_lanes|pcie clock level"),
    ROW(WHOLE, COUNT, GPU_PCIE_REPLAYS, NULL, "pcie>replay_count|replay_count|PCIe Replay Count"),
    ROW(WHOLE, COUNT, ERROR_COUNT, "corrected",
        "ecc>total_correctable_count|ecc>total_correctable|ecc>correctable"),
    ROW(WHOLE, COUNT, ERROR_COUNT, "uncorrected",
        "ecc>total_uncorrectable_count|ecc>total_uncorrectable|ecc>uncorrectable"),
    ROW(WHOLE, COUNT, ERROR_COUNT, "deferred", "ecc>total_deferred_count"),
    ROW(WHOLE, REVOLUTIONS, FAN_RPM, "1", "fan>rpm|Fan RPM"),
    ROW(WHOLE, SHARE, FAN, "1", "fan>usage|Fan speed (%)"),
};

const size_t gtel_amd_tool_rows_n = GTEL_ARRAY_LEN(gtel_amd_tool_rows);
_Static_assert(GTEL_ARRAY_LEN(gtel_amd_tool_rows) <= GTEL_AMD_TOOL_ROWS, "a bit for each row");

enum { JOINED_MAX = 3 * GTEL_JSON_KEY_MAX };

/* ---- values ---- */

/* Not "N/A (Secondary die)". */
static int parse_number(struct gtel_str text, struct gtel_str unit, double *ret)
{
    size_t n = 0;
    if (text.n > 1 && text.p[0] == '(' && text.p[text.n - 1] == ')')
        text = (struct gtel_str){text.p + 1, text.n - 2};
    while (n < text.n && text.p[n] != ' ' && text.p[n] != '%' &&
           (!gtel_is_letter(text.p[n]) || (gtel_lower(text.p[n]) == 'e' && n > 0)))
        n++;
    struct gtel_str rest = gtel_str_trim(gtel_str_skip(text, n));
    if (rest.n > 0 && !gtel_str_same(rest, unit))
        return -EINVAL;
    return gtel_str_f64((struct gtel_str){text.p, n}, ret);
}

/* The first number, or the one in brackets. */
static int parse_speed(struct gtel_str text, double *ret)
{
    double speed;
    uint64_t gen;
    size_t open = gtel_str_find(text, '(');
    text = gtel_str_skip(text, open < text.n ? open + 1 : 0);
    text.n = gtel_str_find(text, ' ');
    text.n = gtel_str_find(text, 'G');
    int r = gtel_str_f64(text, &speed);
    if (r == 0)
        r = gtel_link_gen(speed, &gen);
    if (r == 0)
        *ret = (double)gen;
    return r;
}

static int parse_value(const struct gtel_amd_tool_row *row, struct gtel_str key,
                       struct gtel_str text, double *ret)
{
    int r;
    switch ((enum form)row->form) {
    case NUMBER:
        return parse_number(text, gtel_str_of(row->unit), ret);
    case MIBS:
        r = parse_number(text, gtel_str_of(row->unit), ret);
        if (r == 0 && gtel_str_ends(key, GTEL_STR("(B)")))
            *ret /= MIB;
        return r;
    case SPEED:
        return parse_speed(text, ret);
    case LANES:
        if (gtel_str_find(text, 'x') < text.n)
            text = gtel_str_skip(text, gtel_str_find(text, 'x') + 1);
        text.n = gtel_str_find(text, ')');
        return gtel_str_f64(text, ret);
    case WORD:
        break;
    }
    /*
     * THROTTLED is any bit of the mask, and RDNA 3 and 4 have one that is set at idle
     * (ROCm/rocm-systems issue 11781; table_counters.c): nothing is known then.
     */
    *ret = 0;
    return gtel_str_eq(text, GTEL_STR("UNTHROTTLED")) ? 0 : -EINVAL;
}

/* ---- devices ---- */

struct reader {
    struct gtel_amd_tool_answer *answer;
    struct gtel_amd_tool_device now;
};

static bool is_number(struct gtel_str text)
{
    uint64_t number;
    return gtel_str_u64(text, &number) == 0;
}

/*
 * How many names lead to a device: none where the only one is the outermost object (amd-smi up to
 * 6.0), one in an array or as "card0", two in gpu_data.
 */
static size_t names_before(const struct gtel_json_path *path)
{
    const struct gtel_str card = GTEL_STR("card");
    if (path->n == 0)
        return 0;
    if (gtel_str_eq(path->key[0], GTEL_STR("gpu_data")))
        return 2;
    bool is_card = gtel_str_starts(path->key[0], card);
    return is_number(is_card ? gtel_str_skip(path->key[0], card.n) : path->key[0]) ? 1 : 0;
}

/* Keys and units differ in case between versions. */
static bool has_key(const char *keys, struct gtel_str key)
{
    struct gtel_str rest = gtel_str_of(keys);
    struct gtel_str one;
    while (gtel_str_part(&rest, '|', &one))
        if (gtel_str_same(one, key))
            return true;
    return false;
}

/* What the device is. */
static void take_identity(struct reader *reader, struct gtel_str key, struct gtel_str text)
{
    struct gtel_amd_tool_device *device = &reader->now;
    uint64_t index;
    if (gtel_str_eq(key, GTEL_STR("gpu")) && gtel_str_u64(text, &index) == 0 && index < 1024)
        device->index = (int64_t)index;
    else if (has_key("bdf|bus>bdf|PCI Bus", key))
        device->has_pci = gtel_pci_parse(text, &device->pci) == 0;
    else if (has_key("asic>market_name|Card Series", key) && !gtel_str_eq(text, GTEL_STR("N/A")) &&
             !gtel_str_starts(text, GTEL_STR("0x")))
        gtel_str_clean(device->model, sizeof(device->model), text);
    else if (gtel_str_eq(key, GTEL_STR("error")))
        gtel_str_clean(reader->answer->error, sizeof(reader->answer->error), text);
}

static void take_value(struct reader *reader, struct gtel_str key, bool is_unit,
                       struct gtel_str text)
{
    const double unknown_u32 = 4294967295.0;
    for (size_t i = 0; i < gtel_amd_tool_rows_n; i++) {
        const struct gtel_amd_tool_row *row = &gtel_amd_tool_rows[i];
        double value;
        if (!has_key(row->keys, key))
            continue;
        if (is_unit) {
            reader->now.bad |= (uint64_t)!gtel_str_same(text, gtel_str_of(row->unit)) << i;
        } else if (parse_value(row, key, text, &value) == 0 && value >= row->least &&
                   value <= row->most && value != unknown_u32) {
            reader->now.value[i] = value;
            reader->now.has |= UINT64_C(1) << i;
        }
    }
}

static void on_value(void *arg, const struct gtel_json_path *path, struct gtel_str text)
{
    char joined[JOINED_MAX];
    size_t n = 0;
    size_t last = path->n;
    size_t first = names_before(path);
    bool is_unit = last > 0 && gtel_str_eq(path->key[last - 1], GTEL_STR("unit"));
    if (is_unit || (last > 0 && gtel_str_eq(path->key[last - 1], GTEL_STR("value"))))
        last--;
    if (first >= last || last - first > 3)
        return;
    for (size_t i = first; i < last; i++) {
        if (i > first)
            joined[n++] = '>';
        memcpy(joined + n, path->key[i].p, path->key[i].n);
        n += path->key[i].n;
    }
    take_identity(arg, (struct gtel_str){joined, n}, text);
    take_value(arg, (struct gtel_str){joined, n}, is_unit, text);
}

/* What came is complete where a device ends. */
static void on_end(void *arg, const struct gtel_json_path *path)
{
    struct reader *reader = arg;
    struct gtel_amd_tool_answer *answer = reader->answer;
    struct gtel_amd_tool_device *device = &reader->now;
    if (path->n != names_before(path))
        return;
    device->has &= ~device->bad;
    bool is_device = device->index >= 0 || device->has_pci || device->has != 0;
    if (is_device && answer->n < GTEL_AMD_TOOL_DEVICES)
        answer->device[answer->n++] = *device;
    else if (is_device)
        answer->dropped++;
    *device = (struct gtel_amd_tool_device){.index = -1};
}

int gtel_amd_tool_read(struct gtel_str text, void *memory, struct gtel_amd_tool_answer *ret)
{
    enum { TRIES = 8 };
    struct reader reader = {.answer = ret};
    const struct gtel_json_visitor visitor = {&reader, on_value, on_end};
    ret->n = 0;
    ret->dropped = 0;
    ret->error[0] = '\0';
    for (int i = 0; i < TRIES && ret->n == 0 && ret->error[0] == '\0'; i++) {
        text = gtel_json_find(text);
        if (text.n == 0)
            break;
        reader.now = (struct gtel_amd_tool_device){.index = -1};
        (void)gtel_json_read(text, memory,
                             &visitor); /* what ends early has whole devices, or none */
        text = gtel_str_skip(text, gtel_str_find(text, '\n') + 1);
    }
    if (ret->n > 0)
        return 0;
    return ret->error[0] != '\0' ? -EPROTO : -EBADMSG;
}
