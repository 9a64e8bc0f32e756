/* SPDX-License-Identifier: MIT */
/* The Sysman source on recorded machines: which power domain stands for the GPU. */
#include "sources/sysman.h"
#include "test.h"

/*
 * Two domains of the whole GPU, in the order of the driver's list: the card's figures are those of
 * the GPU, and the package's where the card has none.
 */
#define IS_PACKAGE(part) "call zesPowerGetProperties 1 " part " = 0 0 -1 -1 -1 2\n"
#define IS_CARD(part) "call zesPowerGetProperties 1 " part " = 0 0 -1 -1 -1 1\n"

#define COUNTS(part, joules) "call zesPowerGetEnergyCounter 1 " part " = " joules " 1001000\n"
#define LATER "at 1s\n" COUNTS("0", "6000000")

static const struct {
    const char *text;
    double joules; /* of the second gather; -1: none */
    double limit;
} heads[] = {
    {IS_CARD("0") IS_PACKAGE("1") LATER, 6, 190},
    {IS_PACKAGE("0") IS_CARD("1") LATER COUNTS("1", "2500000"), 2.5, 50},
    {IS_PACKAGE("0")
         IS_CARD("1") "call zesPowerGetLimits 1 1 = 0 0 0 0 -1 -1\n" LATER COUNTS("1", "2500000"),
     2.5, 190},
    {IS_PACKAGE("0")
         IS_CARD("1") "call zesPowerGetLimits = !nosymbol\n" LATER COUNTS("1", "2500000"),
     2.5, 190},
    /* a card that counts nothing, or that the driver has not */
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = 0 1000\n" LATER, 6, 50},
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = !0x78000003\n" LATER, 6, 50},
    /* what may yet count is waited for */
    {IS_PACKAGE("0") IS_CARD("1") "call zesPowerGetEnergyCounter 1 1 = !0x70010001\n" LATER, -1,
     50},
    {IS_PACKAGE("0") "call zesPowerGetProperties 1 1 = !0x70010001\n" LATER, -1, -1},
};

static void test_heads(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(heads); i++) {
        struct machine m;
        test_label = heads[i].text;
        if (!begin(&m, heads[i].text))
            continue;
        gather(&m, 0);
        gather(&m, 1);
        CHECK_NEAR(value(&m, GTEL_M_GPU_ENERGY, NULL, NULL), heads[i].joules, 1e-9);
        CHECK_NEAR(value(&m, GTEL_M_GPU_POWER_LIMIT, NULL, NULL), heads[i].limit, 1e-9);
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_heads();
    return test_result();
}
