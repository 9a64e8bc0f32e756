/* SPDX-License-Identifier: MIT */
/* Names of PCI devices: the list, the readable part, and where they come from. */
#include "harness/env_fault.h"
#include "host/pci_names.h"
#include "recording/tree.h"
#include "parse/pci_ids.h"
#include "tables/intel_names.h"
#include "harness/test.h"

#include <errno.h>

static const char list[] = "#\n# a comment: 8086  No vendor\n\n"
                           "1002  Advanced Micro Devices\n"
                           "\t56a0  Another card\n"
                           "0x02  No number of a vendor\n"
                           "\t56a0  No card\n"
                           "8086  Intel Corporation\n"
                           "\t1234\n"
                           "\t56a0  DG2 [Arc A770]\n"
                           "\t\t8086 56a5  Limited Edition\n"
                           "\t56A5  DG2 [Arc A380]\n"
                           "\te20b Battlemage G21 [Arc B580]\n"
                           "8087  Intel Corp.\n"
                           "\t56b0  Not ours\n"
                           "C 03  Display controller\n"
                           "\t00  VGA compatible controller";

static const struct {
    uint16_t vendor;
    uint16_t device;
    int rc;
    const char *want;
} list_cases[] = {
    {0x8086, 0x56a0, 0, "DG2 [Arc A770]"},
    {0x8086, 0x56a5, 0, "DG2 [Arc A380]"}, /* not the subsystem of that number */
    {0x8086, 0xe20b, 0, "Battlemage G21 [Arc B580]"},
    {0x1002, 0x56a0, 0, "Another card"},
    {0x8086, 0x1234, -ENOENT, ""}, /* a line without a name */
    {0x8086, 0x56b0, -ENOENT, ""}, /* another vendor's */
    {0x8087, 0x56a0, -ENOENT, ""},
    {0x9999, 0x56a0, -ENOENT, ""},
    {0x8087, 0x0000, -ENOENT, ""},
    {0x0002, 0x56a0, -ENOENT, ""},
};

static const struct {
    const char *name;
    int rc;
    const char *want;
} market_cases[] = {
    {"DG2 [Arc A770]", 1, "Arc A770"},
    {"DG2 [Arc A770] (Arc A770 Limited Edition)", 1, "Arc A770"},
    {"DG9 [Arc 9]", 1, "Arc 9"},
    {"DG0 [Arc 0]", 1, "Arc 0"},
    {"GM204 [9xx]", 1, "9xx"},
    {"AlderLake-S GT1", 0, "AlderLake-S GT1"},
    {"TigerLake GT2 [Iris Xe Graphics]", 1, "TigerLake GT2 Iris Xe Graphics"},
    {"Meteor Lake-P [Intel Arc Graphics]", 1, "Meteor Lake-P Arc Graphics"},
    {"Lunar Lake [Intel Arc Graphics 130V / 140V]", 1, "Arc Graphics 130V / 140V"},
    {"Intel UHD Graphics 770", 0, "UHD Graphics 770"},
    {"Intelligent thing", 0, "Intelligent thing"},
    {"[Arc]", 1, "Arc"},
    {"[Arc B580", 0, "[Arc B580"},
    {"Arc B580]", 0, "Arc B580]"},
    {"DG2 []", 0, "DG2 []"},
    {"Card [a name that is much too long for the room 1]", 1, "a name that is much too long fo"},
    {"A code name that is much too long [for it]", 1, "A code name that is much too lo"},
    {"A code name of a fitting len [x]", 1, "A code name of a fitting len x"},
    {"", -EINVAL, ""},
    {"  ", -EINVAL, ""},
};

static const char amd_list[] = "# List of AMDGPU IDs\n#\n\n1.0.0\n"
                               "744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
                               "744C,\tCC,\tAMD Radeon RX 7900 XT\n"
                               "744C,\tCF\n"
                               "73BF,\tC0,\t\n"
                               "73BF,\tC1,\tAMD Radeon RX 6800 XT, boxed";

static const struct {
    uint16_t device;
    uint16_t revision;
    int rc;
    const char *want;
} amd_cases[] = {
    {0x744c, 0xc8, 0, "AMD Radeon RX 7900 XTX"},
    {0x744c, 0xcc, 0, "AMD Radeon RX 7900 XT"},
    {0x73bf, 0xc1, 0, "AMD Radeon RX 6800 XT, boxed"},
    {0x744c, 0xc9, -ENOENT, ""},
    {0x744c, 0xcf, -ENOENT, ""},
    {0x73bf, 0xc0, -ENOENT, ""},
    {0, 0, -ENOENT, ""},
};

static void test_parsers(void)
{
    for (size_t i = 0; i < sizeof(amd_cases) / sizeof(amd_cases[0]); i++) {
        struct gtel_str got = GTEL_STR_NONE;
        test_label = amd_cases[i].want;
        CHECK_INT(gtel_amd_ids_find(gtel_str_of(amd_list), amd_cases[i].device,
                                    amd_cases[i].revision, &got),
                  amd_cases[i].rc);
        CHECK_STR(got, amd_cases[i].want);
    }
    for (size_t i = 0; i < sizeof(list_cases) / sizeof(list_cases[0]); i++) {
        struct gtel_str got = GTEL_STR_NONE;
        test_label = list_cases[i].want;
        CHECK_INT(
            gtel_pci_ids_find(gtel_str_of(list), list_cases[i].vendor, list_cases[i].device, &got),
            list_cases[i].rc);
        CHECK_STR(got, list_cases[i].want);
    }
    for (size_t i = 0; i < sizeof(market_cases) / sizeof(market_cases[0]); i++) {
        char buf[32] = "";
        test_label = market_cases[i].name;
        CHECK_INT(gtel_pci_market_name(gtel_str_of(market_cases[i].name), GTEL_STR("Intel"), buf,
                                       sizeof(buf)),
                  market_cases[i].rc);
        CHECK_STR(gtel_str_of(buf), market_cases[i].want);
    }
    test_label = "a name that does not fit";
    for (size_t size = 7; size <= 9; size++) { /* a letter more than the code and a blank */
        char buf[32] = "";
        CHECK_INT(gtel_pci_market_name(GTEL_STR("Orion [Arc]"), GTEL_STR("Intel"), buf, size), 1);
        CHECK_STR(gtel_str_of(buf), size == 7 ? "Orion" : size == 8 ? "Orion A" : "Orion Ar");
    }
    test_label = "";
}

/* The list is asked first, then udev: a market name wins. */
static void test_places(void)
{
    static const char text[] = "file run/udev/data/+pci:0000:03:00.0\n"
                               "| I:123\n| E:ID_MODEL_FROM_DATABASE=DG2 [Arc A770]\n| V:1\n"
                               "file run/udev/data/+pci:0000:04:00.0\n| E:ID_VENDOR=x\n"
                               "file run/udev/data/+pci:0000:06:00.0\n"
                               "| E:ID_MODEL_FROM_DATABASE=Alder Lake-S graphics\n"
                               "file usr/share/hwdata/pci.ids\n"
                               "| 8086  Intel Corporation\n| \t4680  AlderLake-S GT1\n"
                               "| \t56a5  DG2 [Arc A380]\n"
                               "at 1s\nerror usr/share/hwdata/pci.ids EIO\nend\n";
    static const struct {
        const char *key;
        uint16_t ids[2];
        int rc;
        const char *want;
    } cases[] = {
        {"0000:03:00.0", {0x8086, 0x56a5}, 1, "Arc A380"},
        {"0000:04:00.0", {0x8086, 0x56a5}, 1, "Arc A380"},
        {"0000:05:00.0", {0x8086, 0x56a5}, 1, "Arc A380"},
        {"0000:03:00.0", {0x8086, 0x56a6}, 1, "Arc A770"},
        {"0000:03:00.0", {0x8086, 0x4680}, 1, "Arc A770"}, /* the list has a code name only */
        {"0000:06:00.0", {0x8086, 0x4680}, 0, "AlderLake-S GT1"},
        {"0000:06:00.0", {0x8086, 0x4681}, 0, "Alder Lake-S graphics"},
        {"0000:05:00.0", {0x8086, 0x56a6}, -ENOENT, ""},
    };
    char error[200];
    struct gtel_tree *tree = NULL;
    struct gtel_env env;
    struct env_fault fault;
    if (!CHECK(gtel_tree_parse(gtel_str_of(text), &tree, error, sizeof(error)) == 0) ||
        !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
        return;
    env_fault_init(&fault, &env);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[64] = "";
        test_label = cases[i].key;
        CHECK_INT(gtel_pci_name(&fault.env, cases[i].key, cases[i].ids, GTEL_STR("Intel"), buf,
                                sizeof(buf)),
                  cases[i].rc);
        CHECK_STR(gtel_str_of(buf), cases[i].want);
    }
    gtel_env_tree_step(&env, 1000000000);
    char buf[64] = "";
    CHECK_INT(
        gtel_pci_name(&fault.env, cases[2].key, cases[2].ids, GTEL_STR("Intel"), buf, sizeof(buf)),
        -ENOENT);
    CHECK_INT(fault.open_files, 0);
    gtel_env_tree_done(&env);
    gtel_tree_free(tree);
    test_label = "";
}

#define AMD_ID "file usr/share/libdrm/amdgpu.ids\n| 744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
#define AMD_REVISION "file dev/revision\n| 0xc8\n"

/* A board's own name, else that of libdrm's list. */
static void test_amd(void)
{
    static const struct {
        const char *label;
        const char *text;
        uint16_t device;
        int rc;
        const char *want;
    } cases[] = {
        {"of the board",
         "file dev/product_name\n| AMD Instinct MI210\n" AMD_REVISION AMD_ID "end\n", 0x744c, 0,
         "Instinct MI210"},
        {"an empty one", "file dev/product_name\n| \n" AMD_REVISION AMD_ID "end\n", 0x744c, 0,
         "Radeon RX 7900 XTX"},
        {"of the list", AMD_REVISION AMD_ID "end\n", 0x744c, 0, "Radeon RX 7900 XTX"},
        {"not in the list", AMD_REVISION AMD_ID "end\n", 0x744d, -ENOENT, ""},
        {"no list", AMD_REVISION "end\n", 0x744c, -ENOENT, ""},
        {"no revision", AMD_ID "end\n", 0x744c, -ENOENT, ""},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        struct gtel_tree *tree = NULL;
        struct gtel_env env;
        char error[200];
        char buf[64] = "";
        test_label = cases[i].label;
        if (!CHECK(gtel_tree_parse(gtel_str_of(cases[i].text), &tree, error, sizeof(error)) == 0) ||
            !CHECK(gtel_env_tree_init(tree, true, 0, &env) == 0))
            return;
        CHECK_INT(gtel_amd_name(&env, "dev", cases[i].device, buf, sizeof(buf)), cases[i].rc);
        CHECK_STR(gtel_str_of(buf), cases[i].want);
        gtel_env_tree_done(&env);
        gtel_tree_free(tree);
    }
    test_label = "";
}

static void test_intel(void)
{
    static const struct {
        uint16_t id;
        const char *market;
        const char *code;
        enum gtel_intel_family family;
    } cases[] = {
        {0x56a0, "Intel Arc A770", "Intel DG2", GTEL_INTEL_DG2},
        {0x56c0, "Intel Data Center GPU Flex 170", "Intel ATS-M", GTEL_INTEL_FLEX},
        {0xe211, "Intel Arc Pro B60", "Intel Battlemage", GTEL_INTEL_BATTLEMAGE},
        {0x9a49, NULL, "Intel Tiger Lake", GTEL_INTEL_OTHER},
        {0xb080, NULL, "Intel Panther Lake", GTEL_INTEL_OTHER},
        {0x7d41, NULL, "Intel Arrow Lake", GTEL_INTEL_OTHER},
        {0x0bdb, NULL, "Intel Ponte Vecchio", GTEL_INTEL_PONTE_VECCHIO},
        {0x674c, NULL, "Intel Crescent Island", GTEL_INTEL_CRESCENT_ISLAND},
        {0x4905, NULL, "Intel DG1", GTEL_INTEL_DG1},
        {0x0000, NULL, NULL, GTEL_INTEL_OTHER},
        {0xffff, NULL, NULL, GTEL_INTEL_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_STR(gtel_str_of(gtel_intel_name(cases[i].id)),
                  cases[i].market ? cases[i].market : "");
        CHECK_STR(gtel_str_of(gtel_intel_code_name(cases[i].id)),
                  cases[i].code ? cases[i].code : "");
        CHECK_INT(gtel_intel_family(cases[i].id), cases[i].family);
    }
}

int main(void)
{
    test_parsers();
    test_places();
    test_amd();
    test_intel();
    return test_result();
}
