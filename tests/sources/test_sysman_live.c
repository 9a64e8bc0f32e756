/* SPDX-License-Identifier: MIT */
/* When the Sysman source asks a GPU, when it leaves it alone, and when it takes it for lost. */
#include "sources/sysman.h"
#include "test.h"

#include <string.h>

/*
 * Functions that the driver lacks: a loader says of them that Level Zero is not started, and all
 * the others work on. Where the first call of each device says it, the device is lost.
 */
static const struct lack {
    const char *text;
    unsigned gathers; /* with a temperature, of ten */
    unsigned warnings;
} lacks[] = {
    {"call zesDeviceEnumFabricPorts 1 = !0x78000001\n", 10, 0},
    {"call zesFabricPortGetProperties 1 0 = !0x78000001\n", 10, 0},
    {"call zesRasGetStateExp 1 0 = !0x78000001\n", 10, 0},
    {"call zesDeviceGetState 1 = !0x78000001\n", 10, 0},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000001\n", 10, 0},
    {"at 4s\ncall zesFrequencyGetState 1 0 = !0x78000001\n"
     "call zesDeviceGetProperties 1 = !0x78000001\n",
     3, 1},
};

static void test_lacks(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(lacks); i++) {
        struct machine m;
        unsigned told = 0;
        test_label = lacks[i].text;
        if (!begin(&m, lacks[i].text))
            continue;
        for (unsigned k = 0; k < 10; k++) {
            gather(&m, 1);
            told += value(&m, GTEL_M_TEMPERATURE, "gpu", NULL) > 0;
        }
        CHECK_INT(told, lacks[i].gathers);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], lacks[i].warnings);
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_lacks();
    return test_result();
}
