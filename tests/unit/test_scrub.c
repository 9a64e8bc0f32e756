/* SPDX-License-Identifier: MIT */
/* A recorded machine, scrubbed: a table of secrets, and what has to stay for it to be played. */
#include "recording/scrub.h"
#include "base/compiler.h"
#include "recording/scrub_rules.h"
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Where a secret stands, and that it does not stand there afterwards; nor in any other case. */
static const struct {
    const char *label;
    const char *text; /* of a recorded machine */
    const char *secret;
} secrets[] = {
    {"short name", "file sys/a\n| on rack17-node4 here\n", "rack17-node4"},
    {"upper case", "file sys/a\n| on RACK17-Node4 here\n", "rack17-node4"},
    {"in a word", "file sys/a\n| myrack17-node45x\n", "rack17-node4"},
    {"other separators", "file proc/7/comm\n| rack17_node4\n", "rack17_node4"},
    {"two letters and a number", "file proc/7/comm\n| ssh jd42-train\n", "jd42"},
    {"the same in a cgroup", "file proc/7/cgroup\n| 0::/slurm/jd42.scope\n", "jd42"},
    {"a user of a Windows domain", "file proc/7/comm\n| kkovacs-job\n", "kkovacs"},
    {"a user of a realm", "file proc/7/cgroup\n| 0::/slurm/imueller.scope\n", "imueller"},
    {"the whole name", "file sys/a\n| rack17-node4.acme.example.org\n", "acme"},
    {"the domain", "file proc/7/comm\n| jobs@hpc.acme.example.org\n", "example"},
    {"a domain that is nobody else's", "file proc/7/comm\n| scan-contoso\n", "contoso"},
    {"the release", "file proc/sys/kernel/osrelease\n| 6.8.0-rack17-node4\n", "rack17"},
    {"the release, in a word", "file proc/sys/kernel/osrelease\n| 6.8.0+marias.build\n", "maria"},
    {"a builder's release", "file proc/sys/kernel/osrelease\n| 6.8.0-jsmith-amd64\n", "jsmith"},
    {"a builder behind a digit", "file proc/sys/kernel/osrelease\n| 6.8.0-3rdjsmith\n", "jsmith"},
    {"a builder behind a word", "file proc/sys/kernel/osrelease\n| 6.8.0-rc1jsmith\n", "jsmith"},
    {"a commit", "file proc/sys/kernel/osrelease\n| 6.8.0-rc3-g1a2b3c4d5e6f\n", "1a2b3c4d5e6f"},
    {"a commit that is dirty", "file proc/sys/kernel/osrelease\n| 6.8.0-00012-gdeadbeef-dirty\n",
     "deadbeef"},
    {"who built it", "file proc/driver/nvidia/version\n| NVRM (root@buildbox7)\n", "buildbox7"},
    {"in a comment", "# Captured on rack17-node4 by Maria\n", "maria"},
    {"a release in a comment", "# kernel 6.8.0-jsmith\n", "jsmith"},
    {"a file", "file sys/class/net/maria0/address\n| 1\n", "maria"},
    {"a directory", "dir sys/rack17-node4\n", "rack17"},
    {"a link", "link sys/maria -> ../rack17-node4\n", "maria"},
    {"a target", "link sys/a -> ../rack17-node4\n", "rack17"},
    {"a home", "link proc/7/exe -> /home/annalena/bin/train\n", "annalena"},
    {"a home elsewhere", "file proc/7/comm\n| /var/home/annalena\n", "annalena"},
    {"a user", "file proc/7/comm\n| maria\n", "maria"},
    {"a user, upper case", "file proc/7/comm\n| MARIA-train\n", "maria"},
    {"in a name", "file proc/7/stat\n| 7 (xmariax) S 1\n", "maria"},
    {"another user", "file proc/7/comm\n| josebot\n", "jose"},
    {"a word of the kernel as a name", "file proc/7/comm\n| render\n", "render"},
    {"in upper case", "file proc/7/comm\n| RENDER9\n", "render"},
    {"a unit", "file proc/7/cgroup\n| 0::/system.slice/maria-jobs.service\n", "maria"},
    {"a number", "file proc/7/cgroup\n| 0::/user.slice/user-48213.slice/a.scope\n", "48213"},
    {"a manager", "file proc/7/cgroup\n| 0::/user@48213.service/a\n", "48213"},
    {"Slurm", "file proc/7/cgroup\n| 0::/slurm/uid_48213/job_7\n", "48213"},
    {"OAR 3", "file proc/7/cgroup\n| 0::/oar.slice/oar-u48213.slice/oar-u48213-j99.slice\n",
     "48213"},
    {"an owner", "owner proc/7 48213\n", "48213"},
    {"a namespace of users", "file proc/self/uid_map\n|          0      48213          1\n",
     "48213"},
    {"that of a process", "file proc/77/uid_map\n| 1 624288 65536\n", "624288"},
    {"who runs it", "file proc/self/status\n| Uid:\t48213\t48213\n", "48213"},
    {"a pod", "file proc/7/cgroup\n| 0::/kubepods/pod7881ed9e-c63e-4425-b5e0-ac55a08ae939\n",
     "7881ed9e"},
    {"a pod's digits", "file proc/7/cgroup\n| 0::/pod7881ed9ec63e4425b5e0ac55a08ae939/a\n",
     "7881ed9e"},
    {"a container", "file proc/7/cgroup\n| 0::/docker/" ID "\n", "89abcdef"},
    {"an escaped one",
     "file proc/7/cgroup\n| 0::/a-7881ed9e\\x2dc63e\\x2d4425\\x2db5e0\\x2dac55a08ae939.slice\n",
     "ac55a08ae939"},
    {"a uuid", "file sys/a\n| GPU-7881ED9E-C63E-4425-B5E0-AC55A08AE939\n", "7881ed9e"},
    {"without dashes", "file sys/a\n| 7881ED9EC63E4425B5E0AC55A08AE939\n", "7881ed9e"},
    {"the server of a job",
     "file proc/7/cgroup\n| 0::/pbs_jobs.service/jobid/12[3].pbs01.example\n", "pbs01"},
    {"a batch server that begins with a usual word",
     "file proc/7/cgroup\n| 0::/pbs_jobs.service/jobid/1234.app01.site\n", "app01"},
    {"machine-id", "file etc/machine-id\n| 4c4c454400423510805\n", "4c4c4544"},
    {"a serial number", "file sys/a/serial_number\n| UKB7-00412345\n", "00412345"},
    {"the same elsewhere", "file sys/a\n| of ukb700412345\nfile sys/b/serial\n| UKB7-00412345\n",
     "412345"},
    {"with dashes elsewhere",
     "file sys/a\n| of zk-1177-xw-2288\nfile sys/b/serial\n| ZK1177XW2288\n", "2288"},
    {"unique_id", "file sys/a/unique_id\n| 9a3f1c20b7d4e611\n", "9a3f1c20"},
    {"a GPU in KFD's topology",
     "file sys/class/kfd/kfd/topology/nodes/1/properties\n| gfx_target_version 90402\n"
     "| unique_id 11107498342785918481\n",
     "834278"},
    {"the hive that it is in",
     "file sys/devices/virtual/kfd/kfd/topology/nodes/1/properties\n"
     "| hive_id 7359830219436578123\n",
     "0219436"},
    {"a message", "uevent change /devices/a SERIAL=A1B2C3 NAME=maria\n", "a1b2c3"},
    {"a name in a message", "uevent change /devices/maria A=1\n", "maria"},
    {"a disk", "link dev/disk/by-id/ata-WDC_WD40-X12345 -> ../../sda\n", "x12345"},
    {"a disk's number", "file sys/a\n| wwn-0x5000c500a1b2c3d4\n", "5000c500"},
    {"a disk's label", "link dev/disk/by-label/Photos -> ../../sda\n", "photos"},
    {"the number of a device of Windows",
     "call SetupDiGetDeviceInstanceIdW 0 = PCI\\VEN_8086&DEV_E20B&SUBSYS_0&REV_00\\6&1A2B3C4D&0\n",
     "1a2b3c4d"},
    {"the same in its interface",
     "call SetupDiGetDeviceInterfaceDetailW 0 = #VEN_8086&REV_00#6&1A2B3C4D&0#{a}\n", "1a2b3c4d"},
    {"another of WMI", "file windows/wmi/A\n| PNPDeviceID: pci\\ven_8086&rev_0c\\3&1a2b3c4d\n",
     "1a2b3c4d"},
    {"MAC", "file sys/a\n| 00:1b:21:0a:ff:e0\n", "1b:21"},
    {"MAC, dashes", "file sys/a\n| 00-1B-21-0A-FF-E0\n", "1b-21"},
    {"MAC, underscores", "file proc/7/comm\n| a_00_1B_21_0A_FF_E0\n", "1b_21"},
    {"MAC, dots", "file sys/a\n| 001b.210a.ffe0\n", "210a"},
    {"MAC, blanks", "file sys/a\n| 00 1b 21 0a ff e0\n", "1b 21"},
    {"MAC, digits", "file sys/a\n| 001b210affe0\n", "001b21"},
    {"MAC, a letter first", "file sys/a\n| a4bf210affe0\n", "a4bf21"},
    {"an interface", "dir sys/class/net/enx001122334455\n", "112233"},
    {"a wireless one", "dir sys/class/net/wlxA0B1C2D3E4F5\n", "b1c2"},
    {"ip 4", "file sys/a\n| 10.20.30.41:8080\n", "10.20.30.41"},
    {"ip 4 of a cloud", "file proc/7/comm\n| ip-10-20-30-41\n", "10-20-30-41"},
    {"ip 6", "file sys/a\n| 2001:db8:1:2:3:4:5:6\n", "2001:db8"},
    {"ip 6, short", "file sys/a\n| fe80::21b:21ff:fe0a:ffe0\n", "21b:21ff"},
    {"ip 6, two groups", "file sys/a\n| fe80::beef\n", "beef"},
    {"ip 6, seven groups and a gap", "file sys/a\n| 2001:db8:1:2:3:4::6\n", "2001:db8"},
    {"mail", "file sys/a\n| <otto.normal@mail.invalid>\n", "otto"},
    {"what a program says it is", "file proc/7/fdinfo/4\n| drm-client-name:\tMy Secret (Otto)\n",
     "secret"},
    {"the same with an equals sign",
     "file proc/7/fdinfo/4\n| drm-client-name:\tjob=alpha Otto Normal\n", "alpha"},
    {"the word before it", "file proc/7/fdinfo/4\n| drm-client-name:\tzork=1 Otto Normal\n",
     "zork"},
    {"the words behind it", "file proc/7/fdinfo/4\n| drm-client-name:\tjob=alpha Otto Normal\n",
     "normal"},
    {"a serial number with one", "file sys/a\n| Board Serial Number: A=ZK1177XW2288\n", "zk1177"},
    {"the same, a MAC", "file proc/7/fdinfo/4\n| drm-client-name:\t00:1b:21:0a:ff:e0\n", "1b:21"},
    {"wifi", "file proc/7/comm\n| SSID=FRITZBox7590\n", "fritz"},
    {"an answer of a library", "call nvmlDeviceGetSerial 0 = 1650322004\ncall a = maria\n",
     "maria"},
};

/* What stays as it is, whatever the users are called. */
static const char kept[] =
    "call SetupDiGetDeviceRegistryPropertyW 0 9 = {4D36E968-E325-11CE-BFC1-08002BE10318}\\0001\n"
    "call SetupDiGetDevicePropertyW 0 3 = 31.0.15.255\n"
    "file windows/counters/978C167D-4764-4D9C-9824-14747351DC81\n"
    "file windows/counters/F802502B-77B4-4713-81B3-3BE05759DA5D\n"
    "file sys/class/drm/card0/device/hwmon/hwmon3/power1_max\n| 35000000\n"
    "link sys/class/drm/renderD128 -> ../../devices/pci0000:00/0000:03:00.0/drm/renderD128\n"
    "file sys/devices/pci0000:00/0000:03:00.0/uevent\n| DRIVER=xe\n| PCI_ID=8086:ADA5\n"
    "| PCI_SLOT_NAME=0000:03:00.0\n| MODALIAS=pci:v00008086d0000ADA5sv00001849bc03sc00i00\n"
    "file sys/module/nvidia/version\n| 10.20.30.40\n"
    "file sys/a\n| 0x10abe3\n| guc version: 70.29.2.0\n| ffffffff,ffffffff\n| 550.54.14\n"
    "file sys/devices/system/cpu/modalias\n"
    "| cpu:type:x86,ven0000fam0006mod009A:feature:,0000,0001\n"
    "file usr/share/misc/pci.ids\n| Max 1100 by Maria\n"
    "pmu i915_0000_03_00.0 0x100000 5 0\n"
    "query dev/dri/renderD128 xe 3\n| 8:0x7 48:0x0 3:0x10203\n"
    "ras 0000:03:00.0 correctable-errors device-memory 5\n"
    "uevent change /devices/pci0000:00/0000:03:00.0/drm/card0 RESET=1 SEQNUM=4411\n"
    "file proc/7/stat\n| 7 (ffmpeg) S 1 7 7 0 -1 4194304 900 0 0 0 12 4 0 0 20 0 1 0 567\n"
    "file proc/7/fdinfo/4\n| drm-engine-render:\t9288864723 ns\n| drm-pdev:\t0000:03:00.0\n"
    "file proc/7/cgroup\n| 0::/system.slice/docker.service\n| 0::/init.scope\n| 0::/\n"
    "file proc/self/status\n| CapEff:\t000001ffffffffff\n"
    "file proc/self/uid_map\n|          0          0 4294967295\n"
    "uevent change /devices/platform/serial8250/0000:03:00.0 A=1 B=2\n"
    "file etc/group\n| render:x:105:\n"
    "owner proc/7 990\n"
    "at 1500ms\n";
static const char release[] = "file proc/sys/kernel/osrelease\n| 6.8.0-45-generic\n"
                              "file proc/sys/kernel/osrelease\n| 6.12.34+rpt-rpi-2712\n"
                              "file proc/sys/kernel/osrelease\n| 5.14.0-503.11.1.el9_5.x86_64\n";

static void learn(struct gtel_scrub *scrub)
{
    static const char users[] =
        "root:x:0:0:root:/root:/bin/bash\nsys:x:3:3::/dev:/usr/sbin/nologin\n"
        "postgres:x:115:121::/var/lib/postgresql:/bin/bash\n"
        "maria:x:48213:1000:Maria:/home/maria:/bin/sh\njose:x:1001:1001::/home/jose:/bin/sh\n"
        "max:x:1002:1002::/:/bin/sh\nrender:x:1003:1003::/:/bin/sh\nabe:x:1004:1004::/:/bin/sh\n"
        "ada:x:1005:1005::/:/bin/sh\npci:x:1006:1006::/:/bin/sh\ncard0:x:1007:1007::/:/bin/sh\n"
        "x:x:1008:1008::/:/bin/sh\ndocker:x:1009:1009::/:/bin/sh\nmod:x:1010:1010::/:/bin/sh\n"
        "jd42:x:1011:1011::/:/bin/sh\n"
        "CORP\\kkovacs:x:1012:1012::/:/bin/sh\nimueller@corp.lan:x:1013:1013::/:/bin/sh\n"
        "nobody:x:65534:65534::/:/usr/sbin/nologin\n";
    gtel_scrub_host(scrub, GTEL_STR("rack17-node4.acme.example.org"));
    gtel_scrub_host(scrub, GTEL_STR("rack17-node4.contoso"));
    gtel_scrub_users(scrub, gtel_str_of(users));
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Whether text begins with a secret, in any case. */
static bool begins(const char *text, const char *secret)
{
    size_t i = 0;
    while (secret[i] && lower(text[i]) == lower(secret[i]))
        i++;
    return secret[i] == '\0';
}

static bool has(const char *text, const char *secret)
{
    for (; *text; text++)
        if (begins(text, secret))
            return true;
    return false;
}

static const char *scrub_text(struct gtel_scrub *scrub, struct gtel_str text, struct gtel_buf *out)
{
    gtel_buf_reset(out);
    gtel_scrub_record(scrub, text, out);
    gtel_buf_char(out, '\0');
    CHECK(!out->has_failed && !scrub->has_failed);
    return out->p;
}

static void test_secrets(struct gtel_buf *out)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(secrets); i++) {
        static struct gtel_scrub scrub;
        learn(&scrub);
        test_label = secrets[i].label;
        const char *clean = scrub_text(&scrub, gtel_str_of(secrets[i].text), out);
        if (!CHECK(!has(clean, secrets[i].secret)))
            printf("    %s", clean);
        gtel_scrub_done(&scrub);
    }
}

/* All of them in one text, so that each is known where the others stand. */
static void test_together(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    struct gtel_buf text;
    gtel_buf_init(&text, 1 << 16);
    learn(&scrub);
    gtel_buf_str(&text, gtel_str_of(kept));
    for (size_t i = 0; i < GTEL_ARRAY_LEN(secrets); i++)
        gtel_buf_str(&text, gtel_str_of(secrets[i].text));
    const char *clean = scrub_text(&scrub, gtel_buf_text(&text), out);
    test_label = "kept";
    if (CHECK(gtel_str_starts(gtel_str_of(clean), gtel_str_of(kept))))
        clean += strlen(kept);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(secrets); i++) {
        test_label = secrets[i].label;
        if (!CHECK(!has(clean, secrets[i].secret)))
            printf("%s", clean);
    }
    gtel_scrub_done(&scrub);
    gtel_buf_done(&text);
}

static void test_kept(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    learn(&scrub);
    test_label = "kept";
    CHECK_STR(gtel_str_of(scrub_text(&scrub, gtel_str_of(kept), out)), kept);
    CHECK_STR(gtel_str_of(scrub_text(&scrub, gtel_str_of(release), out)), release);
    gtel_scrub_done(&scrub);
}

/* Of a builder's name in a release nothing is left, not even its first letter. */
static void test_builder(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    learn(&scrub);
    test_label = "a builder";
    const char *clean =
        scrub_text(&scrub, GTEL_STR("file proc/sys/kernel/osrelease\n| 6.8.0-jsmith-amd64\n"), out);
    CHECK(!has(clean, "-j"));
    CHECK(has(clean, "| 6.8.0-"));
    CHECK(has(clean, "-amd64\n"));
    gtel_scrub_done(&scrub);
}

/* The same secret becomes the same text, however it is written. */
static void test_relations(struct gtel_buf *out)
{
    static struct gtel_scrub scrub;
    learn(&scrub);
    test_label = "relations";
    CHECK_STR(gtel_str_of(scrub_text(
                  &scrub,
                  GTEL_STR("file proc/7/comm\n| maria\nfile proc/8/comm\n| MARIA2\n"
                           "file proc/sys/kernel/hostname\n| Rack17-Node4.acme.example.org\n"
                           "owner proc/7 48213\nowner proc/8 7000\n"
                           "file etc/passwd\n| maria:x:48213:48213::/:\n"),
                  out)),
              "file proc/7/comm\n| user1001\nfile proc/8/comm\n| user10012\n"
              "file proc/sys/kernel/hostname\n| host1.host2.host3.org\n"
              "owner proc/7 1000\nowner proc/8 1001\n"
              "file etc/passwd\n| user1001:x:1000:1000::/:\n");
    const char *clean = scrub_text(&scrub,
                                   GTEL_STR("| 7881ed9e-c63e-4425-b5e0-ac55a08ae939\n"
                                            "| 7881ED9EC63E4425B5E0AC55A08AE939\n"),
                                   out);
    char first[80] = "";
    size_t n = 0;
    for (const char *p = clean; *p && *p != '\n'; p++)
        if (*p != '-' && n < sizeof(first) - 1)
            first[n++] = *p;
    CHECK(n == 34 && has(clean + 38, first));
    gtel_scrub_done(&scrub);
}

/* A line of the longest text that is read, made of what almost has a form: 16 s and more if each
 * byte of it checks the rest, else a tenth of one. */
static void test_long_line(struct gtel_buf *out)
{
    static const char *const bits[] = {"a:", "a-", "1.", "a.b_", "a"};
    static struct gtel_scrub scrub;
    struct gtel_buf text;
    clock_t start = clock();
    gtel_buf_init(&text, 1 << 16);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(bits); i++) {
        test_label = bits[i];
        gtel_buf_reset(&text);
        gtel_buf_str(&text, GTEL_STR("file proc/7/cgroup\n| "));
        while (text.n < 60000)
            gtel_buf_str(&text, gtel_str_of(bits[i]));
        gtel_buf_str(&text, GTEL_STR("!\n"));
        CHECK(has(scrub_text(&scrub, gtel_buf_text(&text), out), bits[i]));
        gtel_scrub_done(&scrub);
    }
    test_label = "long lines";
    CHECK(clock() - start < 8 * CLOCKS_PER_SEC);
    test_label = "";
    gtel_buf_done(&text);
}

#define HEX16 "0123456789abcdef"
#define TEN "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN

/* What has a form at that place of a text; "" for nothing. */
static const struct {
    const char *text;
    size_t at;
    enum gtel_scrub_writer writer;
    const char *found;
    enum gtel_scrub_kind kind;
} found_forms[] = {
    {"", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"user-1000.slice", 0, GTEL_SCRUB_KERNEL, "1000", GTEL_SCRUB_USER},
    {"USER-7", 0, GTEL_SCRUB_KERNEL, "7", GTEL_SCRUB_USER},
    {"user-7a", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"user-", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"xuser-7", 1, GTEL_SCRUB_KERNEL, "", 0},
    {"-user-7", 1, GTEL_SCRUB_KERNEL, "7", GTEL_SCRUB_USER},
    {"home/a b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a/b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a\"b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a'b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a,b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a)b", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_USER},
    {"home/a!b\xc3\xa4", 0, GTEL_SCRUB_KERNEL, "a!b\xc3\xa4", GTEL_SCRUB_USER},
    {"jobid/1234.pbs01.example/0", 11, GTEL_SCRUB_CGROUP, "pbs01.example", GTEL_SCRUB_HOST},
    {"jobid/12[3].pbs-01", 12, GTEL_SCRUB_CGROUP, "pbs-01", GTEL_SCRUB_HOST},
    {"pbspro-12\\x5b3\\x5d.pbs\\x2d01.slice", 19, GTEL_SCRUB_CGROUP, "pbs\\x2d01", GTEL_SCRUB_HOST},
    {"jobid/1234.pbs01", 11, GTEL_SCRUB_KERNEL, "", 0},
    {"jobid/1234.p", 11, GTEL_SCRUB_CGROUP, "p", GTEL_SCRUB_HOST},
    {"jobid/1234.7p", 11, GTEL_SCRUB_CGROUP, "", 0},
    {".pbs01", 1, GTEL_SCRUB_CGROUP, "", 0},
    {"app-gnome-2093.scope", 15, GTEL_SCRUB_CGROUP, "", 0},
    {"user@1000.service", 10, GTEL_SCRUB_CGROUP, "", 0},
    {"org.gnome", 4, GTEL_SCRUB_CGROUP, "", 0},
    {"machine-web.scope", 0, GTEL_SCRUB_KERNEL, "web", GTEL_SCRUB_HOST},
    {"machine-web.slice", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"machine-.scope", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9e-c63e-4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL,
     "7881ed9e-c63e-4425-b5e0-ac55a08ae939", GTEL_SCRUB_UUID},
    {"x7881ED9E:c63e.4425_b5e0\\x2dac55a08ae939x", 1, GTEL_SCRUB_KERNEL,
     "7881ED9E:c63e.4425_b5e0\\x2dac55a08ae939", GTEL_SCRUB_UUID},
    {"7881ed9-c63e-4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9e-c63e-4425-b5e0-ac55a08ae93", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9e-c63e-4425-b5e0", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9ec63e-4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL, "7881ed9ec63e",
     GTEL_SCRUB_ADDRESS},
    {":7881ed9e-c63e-4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"5D36E968-E325-11CE-BFC1-08002BE10318", 0, GTEL_SCRUB_KERNEL,
     "5D36E968-E325-11CE-BFC1-08002BE10318", GTEL_SCRUB_UUID},
    {"4D36E968-E325-11CE-BFC1-08002BE10318", 0, GTEL_SCRUB_KERNEL, "", 0}, /* each Windows has it */
    {"4D36E968-E325-11CE-BFC1-08002BE10318", 24, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9e+c63e-4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"7881ed9e-c63e4425-b5e0-ac55a08ae939", 0, GTEL_SCRUB_KERNEL, "", 0},
    {HEX16 HEX16, 0, GTEL_SCRUB_KERNEL, HEX16 HEX16, GTEL_SCRUB_UUID},
    {HEX16 "0123456789abcde", 0, GTEL_SCRUB_KERNEL, "", 0},
    {HEX16 HEX16 "g", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"x" HEX16 HEX16, 1, GTEL_SCRUB_KERNEL, "", 0},
    {"pod" HEX16 HEX16, 0, GTEL_SCRUB_KERNEL, HEX16 HEX16, GTEL_SCRUB_UUID},
    {"g123456", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"g1234567", 0, GTEL_SCRUB_KERNEL, "1234567", GTEL_SCRUB_UUID},
    {"g" HEX16 HEX16 "01234567", 0, GTEL_SCRUB_KERNEL, HEX16 HEX16 "01234567", GTEL_SCRUB_UUID},
    {"g" HEX16 HEX16 "012345678", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"by-id/a", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_SERIAL},
    {"by-id/ ", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"by-partlabel/a", 0, GTEL_SCRUB_KERNEL, "a", GTEL_SCRUB_SERIAL},
    {"eui.0a", 0, GTEL_SCRUB_KERNEL, "0a", GTEL_SCRUB_SERIAL},
    {"eui.0g", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"naa.0a", 0, GTEL_SCRUB_KERNEL, "0a", GTEL_SCRUB_SERIAL},
    {"wwx001122334455", 0, GTEL_SCRUB_KERNEL, "001122334455", GTEL_SCRUB_ADDRESS},
    {"wwx00112233445", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"wwx0011223344556", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00112233445a", 0, GTEL_SCRUB_KERNEL, "00112233445a", GTEL_SCRUB_ADDRESS},
    {"abcdefabcde1", 0, GTEL_SCRUB_KERNEL, "abcdefabcde1", GTEL_SCRUB_ADDRESS},
    {"001122334455", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"abcdefabcdef", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"x00112233445a", 1, GTEL_SCRUB_KERNEL, "", 0},
    {"00:11:22:33:44:55", 0, GTEL_SCRUB_KERNEL, "00:11:22:33:44:55", GTEL_SCRUB_ADDRESS},
    {"00:11:22:33:44:55:66", 0, GTEL_SCRUB_KERNEL, "00:11:22:33:44:55:66", GTEL_SCRUB_ADDRESS},
    {"00:11:22:33:44:55:", 0, GTEL_SCRUB_KERNEL, "00:11:22:33:44:55", GTEL_SCRUB_ADDRESS},
    {"0a", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"0a1b", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00:11:22:33:44", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00:11:22:33:44-55", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00:11:22:33:44:55x", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00+11+22+33+44+55", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"0011.2233.4455", 0, GTEL_SCRUB_KERNEL, "0011.2233.4455", GTEL_SCRUB_ADDRESS},
    {"0011.2233", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"00 11 22 33 44 5a", 0, GTEL_SCRUB_KERNEL, "00 11 22 33 44 5a", GTEL_SCRUB_ADDRESS},
    {"a0 11 22 33 44 55", 0, GTEL_SCRUB_KERNEL, "a0 11 22 33 44 55", GTEL_SCRUB_ADDRESS},
    {"00 11 22 33 44 55", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3.4", 0, GTEL_SCRUB_KERNEL, "1.2.3.4", GTEL_SCRUB_ADDRESS},
    {"255.255.255.255", 0, GTEL_SCRUB_KERNEL, "255.255.255.255", GTEL_SCRUB_ADDRESS},
    {"255.255.255.256", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"256.1.1.1", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3.", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2-3.4", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3.4.", 0, GTEL_SCRUB_KERNEL, "1.2.3.4", GTEL_SCRUB_ADDRESS},
    {"1.2.3.4.x", 0, GTEL_SCRUB_KERNEL, "1.2.3.4", GTEL_SCRUB_ADDRESS},
    {"1.2.3.4.5", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3.4:5", 0, GTEL_SCRUB_KERNEL, "1.2.3.4", GTEL_SCRUB_ADDRESS},
    {"1.2.3.4x", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1.2.3.4", 0, GTEL_SCRUB_VERSION, "", 0}, /* may be one */
    {"00:11:22:33:44:55", 0, GTEL_SCRUB_VERSION, "", 0},
    {"ip-1-2-3-4", 0, GTEL_SCRUB_VERSION, "1-2-3-4", GTEL_SCRUB_ADDRESS},
    {"1:2:3:4:5:6:7:8", 0, GTEL_SCRUB_KERNEL, "1:2:3:4:5:6:7:8", GTEL_SCRUB_ADDRESS},
    {"1:2:3:4:5:6:7", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1:2:3:4:5:6:7:8:9", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1:2:3:4:5:6:7:12345", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1:2:3:4:5:6:7:1234", 0, GTEL_SCRUB_KERNEL, "1:2:3:4:5:6:7:1234", GTEL_SCRUB_ADDRESS},
    {"1:2:3:4:5:6:7:", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1::2:3:4:5:6:7:8:9:a", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1::2:3::", 0, GTEL_SCRUB_KERNEL, "1::2:3::", GTEL_SCRUB_ADDRESS},
    {"1:2:3:4:5:6:7:8x", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"1::2", 0, GTEL_SCRUB_KERNEL, "1::2", GTEL_SCRUB_ADDRESS},
    {"::1:2", 0, GTEL_SCRUB_KERNEL, "::1:2", GTEL_SCRUB_ADDRESS},
    {"::1", 0, GTEL_SCRUB_KERNEL, "", 0}, /* each machine's own */
    {"1::", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"a:b", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"a@b.org", 0, GTEL_SCRUB_KERNEL, "a@b.org", GTEL_SCRUB_ADDRESS},
    {"a-b_c.d+e@z", 0, GTEL_SCRUB_KERNEL, "a-b_c.d+e@z", GTEL_SCRUB_ADDRESS},
    {"a@b.org>", 0, GTEL_SCRUB_KERNEL, "a@b.org", GTEL_SCRUB_ADDRESS},
    {"a@", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"gpu@13000000", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"a@b.service", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"a@b.swap", 0, GTEL_SCRUB_KERNEL, "", 0},
    {SIXTY "abcd@z", 0, GTEL_SCRUB_KERNEL, SIXTY "abcd@z", GTEL_SCRUB_ADDRESS},
    {SIXTY "abcdef@z", 0, GTEL_SCRUB_KERNEL, "", 0},
    {"a@" SIXTY SIXTY SIXTY SIXTY TEN "abcdef", 0, GTEL_SCRUB_KERNEL,
     "a@" SIXTY SIXTY SIXTY SIXTY TEN "abcde", GTEL_SCRUB_ADDRESS},
};

/* A copy in memory of just that size, so that what is read behind it is noticed. */
static struct gtel_str copy_of(const char *text, char **ret_memory)
{
    size_t size = strlen(text);
    *ret_memory = malloc(size);
    if (!CHECK(*ret_memory != NULL))
        return GTEL_STR("");
    memcpy(*ret_memory, text, size);
    return (struct gtel_str){*ret_memory, size};
}

static void test_found_forms(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(found_forms); i++) {
        char *memory;
        struct gtel_str text = copy_of(found_forms[i].text, &memory);
        struct gtel_scrub_find find = {.n = 0};
        bool is_wanted = found_forms[i].found[0] != '\0';
        test_label = found_forms[i].text;
        bool is_found = gtel_scrub_find_form(text, found_forms[i].at, found_forms[i].writer, &find);
        if (CHECK(is_found == is_wanted) && is_wanted) {
            struct gtel_str rest = gtel_str_skip(text, found_forms[i].at + find.at);
            CHECK_STR(((struct gtel_str){rest.p, find.n < rest.n ? find.n : rest.n}),
                      found_forms[i].found);
            CHECK_INT(find.kind, found_forms[i].kind);
        }
        free(memory);
    }
    test_label = "";
}

static const struct {
    const char *name;
    enum gtel_scrub_kind kind;
    bool is_secret;
    enum gtel_scrub_how how;
} keys[] = {
    {"serial", GTEL_SCRUB_SERIAL, true, GTEL_SCRUB_SPREAD},
    {"SERIAL_NUMBER", GTEL_SCRUB_SERIAL, true, GTEL_SCRUB_SPREAD},
    {"board_id", GTEL_SCRUB_SERIAL, true, GTEL_SCRUB_SPREAD},
    {"gpu_uuid", GTEL_SCRUB_UUID, true, GTEL_SCRUB_SPREAD},
    {"machine-id", GTEL_SCRUB_UUID, true, GTEL_SCRUB_SPREAD},
    {"hostname", GTEL_SCRUB_HOST, true, GTEL_SCRUB_LOCAL},
    {"SSID", GTEL_SCRUB_ADDRESS, true, GTEL_SCRUB_LOCAL},
    {"drm-client-name", GTEL_SCRUB_USER, true, GTEL_SCRUB_LOCAL},
    {"seria", 0, false, GTEL_SCRUB_SPREAD},
    {"erial", 0, false, GTEL_SCRUB_SPREAD},
    {"", 0, false, GTEL_SCRUB_SPREAD},
    {"power1_max", 0, false, GTEL_SCRUB_SPREAD},
};

static const struct {
    const char *path;
    enum gtel_scrub_writer writer;
} writers[] = {
    {"proc/sys/kernel/osrelease", GTEL_SCRUB_RELEASE},
    {"proc/sys/kernel/version", GTEL_SCRUB_RELEASE},
    {"proc/version", GTEL_SCRUB_RELEASE},
    {"proc/sys/kernel/hostname", GTEL_SCRUB_KERNEL},
    {"proc/driver/nvidia/version", GTEL_SCRUB_VERSION},
    {"sys/class/drm/version", GTEL_SCRUB_VERSION},
    {"sys/a/Firmware", GTEL_SCRUB_VERSION},
    {"sys/a", GTEL_SCRUB_KERNEL},
    {"dev/dri/card0", GTEL_SCRUB_KERNEL},
    {"run/udev/data/c226:0", GTEL_SCRUB_KERNEL},
    {"etc/group", GTEL_SCRUB_KERNEL},
    {"etc/passwd", GTEL_SCRUB_PEOPLE},
    {"usr/share/misc/pci.ids", GTEL_SCRUB_PUBLIC},
    {"usr/share/firmware", GTEL_SCRUB_PUBLIC},
    {"usr/lib/a", GTEL_SCRUB_PEOPLE},
    {"proc/7/cgroup", GTEL_SCRUB_CGROUP},
    {"proc/7/comm", GTEL_SCRUB_PEOPLE},
    {"proc/7/stat", GTEL_SCRUB_PEOPLE},
    {"proc/7/cmdline", GTEL_SCRUB_PEOPLE},
    {"proc/7/mountinfo", GTEL_SCRUB_PEOPLE},
    {"proc/7/fdinfo/3", GTEL_SCRUB_KERNEL},
    {"proc/self/status", GTEL_SCRUB_KERNEL},
    {"proc", GTEL_SCRUB_KERNEL},
    {"", GTEL_SCRUB_PEOPLE},
};

static const struct {
    const char *word;
    enum gtel_scrub_writer writer;
    bool is_usual;
} usual_words[] = {
    {"system", GTEL_SCRUB_CGROUP, true},
    {"SYSTEM", GTEL_SCRUB_CGROUP, true},
    {"app", GTEL_SCRUB_CGROUP, true},
    {"user", GTEL_SCRUB_CGROUP, true},
    {"syste", GTEL_SCRUB_CGROUP, false},
    {"ystem", GTEL_SCRUB_CGROUP, false},
    {"systemx", GTEL_SCRUB_CGROUP, false},
    {"ubuntu", GTEL_SCRUB_CGROUP, false},
    {"generic", GTEL_SCRUB_RELEASE, true},
    {"generic", GTEL_SCRUB_CGROUP, false},
    {"system", GTEL_SCRUB_PEOPLE, false},
    {"system", GTEL_SCRUB_PUBLIC, false},
    {"abcdefghijklmnopqrstuvw", GTEL_SCRUB_CGROUP, false}, /* the longest that fits */
    {"abcdefghijklmnopqrstuvwx", GTEL_SCRUB_CGROUP, false},
    {"systemsystemsystemsystemsystemsystem", GTEL_SCRUB_CGROUP, false},
};

static void test_rules(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++) {
        struct gtel_scrub_find find = {.n = 0};
        test_label = keys[i].name;
        CHECK_INT(gtel_scrub_is_secret_key(gtel_str_of(keys[i].name), &find), keys[i].is_secret);
        CHECK_INT(find.kind, keys[i].kind);
        CHECK_INT(find.how, keys[i].how);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(writers); i++) {
        test_label = writers[i].path;
        CHECK_INT(gtel_scrub_writer_of(gtel_str_of(writers[i].path)), writers[i].writer);
    }
    for (size_t i = 0; i < GTEL_ARRAY_LEN(usual_words); i++) {
        char *memory;
        struct gtel_str word = copy_of(usual_words[i].word, &memory);
        test_label = usual_words[i].word;
        CHECK_INT(gtel_scrub_is_usual(usual_words[i].writer, word), usual_words[i].is_usual);
        free(memory);
    }
    test_label = "domains";
    CHECK(gtel_scrub_is_domain(GTEL_STR("de")) && gtel_scrub_is_domain(GTEL_STR("org")));
    CHECK(!gtel_scrub_is_domain(GTEL_STR("d")) && !gtel_scrub_is_domain(GTEL_STR("acme")));
    test_label = "characters";
    for (int c = 0; c < 256; c++) {
        bool is_digit = c >= '0' && c <= '9';
        bool is_upper = c >= 'A' && c <= 'Z';
        bool is_lower = c >= 'a' && c <= 'z';
        char text[2] = {(char)c, 'x'};
        CHECK_INT(gtel_is_digit((char)c), is_digit);
        CHECK_INT(gtel_is_letter((char)c), is_upper || is_lower);
        CHECK_INT(gtel_is_alnum((char)c), is_digit || is_upper || is_lower);
        CHECK_INT(gtel_is_hex((char)c),
                  is_digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
        CHECK_INT((unsigned char)gtel_lower((char)c), is_upper ? c + 32 : c);
        CHECK_INT(gtel_scrub_separator((struct gtel_str){text, 2}),
                  c == '-' || c == '_' || c == ':' || c == '.');
    }
    CHECK_INT(gtel_scrub_separator(GTEL_STR("\\x2dx")), 4);
    CHECK_INT(gtel_scrub_separator(GTEL_STR("\\x2")), 0);
    CHECK_INT(gtel_scrub_separator(GTEL_STR("-")), 1);
    CHECK_INT(gtel_scrub_separator(GTEL_STR("")), 0);
    test_label = "";
}

/*
 * What is made up depends on how many secrets came before, and on nothing else: a machine that is
 * recorded again, also by another version, differs in what has changed on it only.
 */
static void test_made_up(struct gtel_buf *out)
{
    static const char text[] = "file sys/a/serial_number\n| UKB7-00412345\n"
                               "file sys/b/uuid\n| 4c4c4544-0042-3510-8052-b4c04f4d3732\n"
                               "file sys/c/serial_number\n| UKB7-00412346\n"
                               "file sys/d/text\n| ukb700412345 of jose, by MARIA on rack17\n"
                               "owner proc/7 48213\nowner proc/8 48214\nowner proc/9 48213\n"
                               "owner proc/10 999\nowner proc/11 65534\nowner proc/12 1000\nowner "
                               "proc/13 65533\nowner proc/14 65535\n"
                               "owner proc/15 65536\nowner proc/16 4294967295\nend\n";
    static const char want[] = "file sys/a/serial_number\n| DLZ7-19666343\n"
                               "file sys/b/uuid\n| 4a7b2631-6522-6402-0132-a3f35a0e5144\n"
                               "file sys/c/serial_number\n| FHD7-69932372\n"
                               "file sys/d/text\n| dlz719666343 of user1001, by user1000 on host1\n"
                               "owner proc/7 1000\nowner proc/8 1001\nowner proc/9 1000\n"
                               "owner proc/10 999\nowner proc/11 65534\nowner proc/12 1002\nowner "
                               "proc/13 1003\nowner proc/14 65535\n"
                               "owner proc/15 1004\nowner proc/16 4294967295\nend\n";
    static const struct {
        const char *name;
        size_t replaced;
    } kinds[GTEL_SCRUB_KINDS] = {{"serial and board numbers", 2},
                                 {"uuids and ids", 1},
                                 {"names of hosts", 1},
                                 {"names of users", 2},
                                 {"addresses", 0}};
    struct gtel_scrub scrub = {0};
    test_label = "made up";
    gtel_scrub_host(&scrub, GTEL_STR("rack17"));
    gtel_scrub_user(&scrub, GTEL_STR("maria"));
    gtel_scrub_user(&scrub, GTEL_STR("Maria"));
    gtel_scrub_user(&scrub, GTEL_STR("root"));
    gtel_scrub_user(&scrub, GTEL_STR("jose"));
    CHECK_INT(scrub.n, 3);
    gtel_buf_reset(out);
    gtel_scrub_record(&scrub, gtel_str_of(text), out);
    CHECK_STR(gtel_buf_text(out), want);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(kinds); i++) {
        CHECK_STR(gtel_str_of(gtel_scrub_kind_name((enum gtel_scrub_kind)i)), kinds[i].name);
        CHECK_INT(scrub.replaced[i], kinds[i].replaced);
    }
    gtel_scrub_done(&scrub);
    test_label = "";
}

/* As many secrets as there is room for, and one more. */
static void test_many(void)
{
    const unsigned most = 1 << 18;
    struct gtel_scrub scrub = {0};
    char name[32];
    test_label = "many";
    for (unsigned i = 0; i <= most && !scrub.has_failed; i++) {
        (void)snprintf(name, sizeof(name), "%xz%x", i, i);
        gtel_scrub_user(&scrub, gtel_str_of(name));
    }
    CHECK(scrub.has_failed);
    CHECK_INT(scrub.n, most);
    gtel_scrub_done(&scrub);
    test_label = "";
}

int main(void)
{
    struct gtel_buf out;
    gtel_buf_init(&out, 1 << 17);
    test_secrets(&out);
    test_together(&out);
    test_kept(&out);
    test_builder(&out);
    test_relations(&out);
    test_long_line(&out);
    test_found_forms();
    test_rules();
    test_made_up(&out);
    test_many();
    gtel_buf_done(&out);
    return test_result();
}
