/* SPDX-License-Identifier: MIT */
/* The UUIDs of GPUs and tiles. */
#include "harness/sysman_machine.h"
#include "harness/test.h"

#include <string.h>

#define U0 "000102030405060708090a0b0c0d0e0f"
#define U1 "100102030405060708090a0b0c0d0e0f"
#define U2 "200102030405060708090a0b0c0d0e0f"
#define U0_TEXT "00010203-0405-0607-0809-0a0b0c0d0e0f"
#define U1_TEXT "10010203-0405-0607-0809-0a0b0c0d0e0f"
#define U2_TEXT "20010203-0405-0607-0809-0a0b0c0d0e0f"
#define TWO_TILES "call zesDeviceGetProperties 1 = 1 0x8086 2 " U0 "\n"
#define TILES "call zesDeviceGetSubDevicePropertiesExp 1 = "

/* What the xe card (device 1) is called, and its tiles. */
static const struct identity {
    const char *label;
    const char *text;
    const char *uuid;
    const char *tiles;
} identities[] = {
    {"a GPU of one tile", "", U0_TEXT, ""},
    {"one that says no tiles, and lists some", TILES "0 " U1 "\n", U0_TEXT, ""},
    {"two tiles", TWO_TILES TILES "0 " U1 " 1 " U2 "\n", U0_TEXT, "0=" U1_TEXT " 1=" U2_TEXT},
    {"in another order", TWO_TILES TILES "1 " U2 " 0 " U1 "\n", U0_TEXT,
     "0=" U1_TEXT " 1=" U2_TEXT},
    {"more than are listed", TWO_TILES TILES "0 " U1 "\n", U0_TEXT, ""},
    {"more than there are", TWO_TILES TILES "0 " U1 " 1 " U2 " 2 3" U0 "\n", U0_TEXT, ""},
    {"two of one number", TWO_TILES TILES "0 " U1 " 0 " U2 "\n", U0_TEXT, ""},
    {"a tile without a name", TWO_TILES TILES "0 00000000000000000000000000000000 1 " U2 "\n",
     U0_TEXT, ""},
    {"a card without a name", "call zesDeviceGetProperties 1 = 1 0x8086 0\n", "", ""},
    /* what a loader of before 1.16 lacks, and what a driver may say */
    {"no list of tiles", "call zesDeviceGetSubDevicePropertiesExp = !nosymbol\n" TWO_TILES, U0_TEXT,
     ""},
    {"a list that writes nothing", TWO_TILES TILES "untouched\n", U0_TEXT, ""},
    {"a list that fails for a while",
     TWO_TILES TILES "!0x70010001\nat 30s\n" TILES "0 " U1 " 1 " U2 "\n", U0_TEXT,
     "0=" U1_TEXT " 1=" U2_TEXT},
};

static void check_labels(const struct machine *m, const struct identity *want)
{
    struct gtel_device *gpu = gtel_registry_find(&m->group.registry, gtel_str_of(xe));
    if (!CHECK(gpu != NULL))
        return;
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_UUID]), want->uuid);
    CHECK_STR(gtel_str_of(gpu->label[GTEL_LABEL_TILE_UUIDS]), want->tiles);
}

static void test_labels(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(identities); i++) {
        struct machine m;
        test_label = identities[i].label;
        if (!begin(&m, identities[i].text))
            continue;
        gather(&m, 1);
        gather(&m, 700);
        check_labels(&m, &identities[i]);
        CHECK(readings_of(&m, xe) > 40);
        CHECK_INT(spy.logs[GTEL_LOG_WARNING], 0);
        finish(&m);
    }
    test_label = "";
}

/* What the driver has said once is not asked again. */
static void test_once(void)
{
    struct machine m;
    if (!begin(&m, TWO_TILES TILES "0 " U1 " 1 " U2 "\n"))
        return;
    spy.count_name = "zesDeviceGetSubDevicePropertiesExp";
    for (unsigned i = 0; i < 5; i++)
        gather(&m, 700);
    CHECK_INT(spy.counted, 2); /* counted and filled; the other card has no tiles */
    finish(&m);
}

/* One that sleeps is left alone until it is awake. */
static void test_asleep(void)
{
    struct machine m;
    if (!begin(&m, POWER("0000:03:00.0", "runtime_status", "active") TWO_TILES TILES
               "!0x7ffffffe\nat 20s\n" POWER("0000:03:00.0", "runtime_status",
                                             "suspended") "at 2000s\n" TILES "0 " U1 " 1 " U2
                                                          "\n" POWER("0000:03:00.0",
                                                                     "runtime_status", "active")))
        return;
    spy.count_name = "zesDeviceGetSubDevicePropertiesExp";
    gather(&m, 1);
    unsigned before = spy.counted;
    CHECK(before > 0);
    gather(&m, 700);
    gather(&m, 700);
    CHECK_INT(spy.counted, before);
    gather(&m, 1400);
    gather(&m, 1);
    check_labels(&m, &identities[2]);
    finish(&m);
}

/* A sleeping one is not touched by the search for one that Level Zero does not know. */
static void test_sleep_beside_unknown(void)
{
    struct machine m;
    if (!begin(&m, "call zesDeviceGetProperties 0 = !0x78000003\n" POWER(
                       "0000:03:00.0", "runtime_status",
                       "active") "at 5s\n" POWER("0000:03:00.0", "runtime_status",
                                                 "suspended") "at 500s\n" POWER("0000:03:00.0",
                                                                                "runtime_status",
                                                                                "active")))
        return;
    spy.count_name = "zesDeviceGetProperties";
    gather(&m, 0);
    CHECK(readings_of(&m, xe) > 0);
    CHECK_INT(readings_of(&m, i915), 0);
    unsigned before = spy.counted;
    CHECK(before > 0);
    for (int i = 0; i < 10; i++)
        gather(&m, 40);
    CHECK_INT(spy.counted, before);
    gather(&m, 100);
    gather(&m, 40);
    CHECK(spy.counted > before);
    CHECK(readings_of(&m, xe) > 0);
    finish(&m);
}

#define WINDOWS                                                                                    \
    "file System32/setupapi.dll\nfile System32/ze_loader.dll\nlibrary libwddm.so\n"                \
    "library libze_loader.so.1\ncall zesInit =\n"
#define PLUGGED(n, id, bus) PLUGGED_AT(n, id, bus, "0")
#define PLUGGED_AT(n, id, bus, place)                                                              \
    "call SetupDiGetDeviceInstanceIdW " n " = PCI\\VEN_8086&DEV_" id "\\" n                        \
    "\ncall SetupDiGetDevicePropertyW " n " 23 = " bus "\ncall SetupDiGetDevicePropertyW " n       \
    " 30 = " place "\ncall SetupDiGetDevicePropertyW " n " 32 = 1\n"
#define UNKNOWN "call zesDevicePciGetProperties 1 = !0x78000003\n"
#define NO_ADDRESS UNKNOWN "call zesDeviceGetProperties 1 = 1 0x8086 0 " U0 " "
/* Vendor, device and revision; domain, bus, device and function. */
#define UUID_OF(bus, device, function)                                                             \
    "call zesDeviceGetProperties 1 = 1 0x8086 0 8680a05600000000" bus device function "0000000000" \
    "\n"

static const char other[] = "0000:05:00.0";
static const char third[] = "0000:05:02.1";

/* Under Windows a device without an address is the GPU of its PCI id, where there is one of that.
 */
static void test_without_address(void)
{
    static const struct {
        const char *head;
        const char *text;
        const char *is; /* NULL: none that is known */
    } cases[] = {
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED("1", "56A5", "5"), NO_ADDRESS "0x56a0\n", xe},
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED("1", "56A5", "5"), NO_ADDRESS "0x56a5\n", other},
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED("1", "56A5", "5"), NO_ADDRESS "0x56a6\n", NULL},
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED("1", "56A0", "5"), NO_ADDRESS "0x56a0\n", NULL},
        {XE LIBRARY, NO_ADDRESS "0x56a0\n", NULL},
        /* by its UUID, which says it under Windows alone */
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED_AT("1", "56A0", "5", "0x20001"),
         UNKNOWN UUID_OF("05", "02", "01"), third},
        {WINDOWS PLUGGED("0", "56A0", "3") PLUGGED_AT("1", "56A0", "5", "0x20001"),
         UNKNOWN UUID_OF("05", "02", "00"), NULL},
        {XE I915 LIBRARY, UUID_OF("04", "00", "00"), xe},
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(cases); i++) {
        const char *const gpus[] = {xe, other, third};
        struct machine m;
        test_label = cases[i].text;
        if (!begin_with(&m, cases[i].head, cases[i].text))
            continue;
        gather(&m, 1);
        gather(&m, 1);
        for (size_t k = 0; k < GTEL_ARRAY_LEN(gpus); k++)
            CHECK_INT(readings_of(&m, gpus[k]) > 0,
                      cases[i].is && strcmp(cases[i].is, gpus[k]) == 0);
        finish(&m);
    }
    test_label = "";
}

int main(void)
{
    test_labels();
    test_without_address();
    test_once();
    test_asleep();
    test_sleep_beside_unknown();
    return test_result();
}
