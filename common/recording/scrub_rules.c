/* SPDX-License-Identifier: MIT */
/* What the scrubber knows a secret by. */
#include "recording/scrub_rules.h"

#include "base/compiler.h"

#include <string.h>

enum { MAC_BYTES = 6, HASH_MIN = 7, HASH_MAX = 40, ID_MIN = 32, WORD_MAX = 24 };

size_t gtel_scrub_separator(struct gtel_str text)
{
    static const struct gtel_str escape = GTEL_STR_INIT("\\x2d");
    if (gtel_str_starts(text, escape))
        return escape.n;
    return text.n > 0 &&
           (text.p[0] == '-' || text.p[0] == '_' || text.p[0] == ':' || text.p[0] == '.');
}

/* Whether text begins with a word in lower case, in any case of its own. */
static bool begins(struct gtel_str text, struct gtel_str word)
{
    if (text.n < word.n)
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (gtel_lower(text.p[i]) != word.p[i])
            return false;
    return true;
}

static bool has_part(struct gtel_str text, struct gtel_str part)
{
    for (size_t i = 0; i + part.n <= text.n; i++)
        if (gtel_lower(text.p[i]) == part.p[0] && begins(gtel_str_skip(text, i), part))
            return true;
    return false;
}

/* ---- forms: each gives the length of what has it at the beginning of text, or 0 ---- */

static size_t run(struct gtel_str text, bool (*is)(char c))
{
    size_t n = 0;
    while (n < text.n && is(text.p[n]))
        n++;
    return n;
}

static bool ends_word(struct gtel_str text, size_t n)
{
    return n >= text.n || !gtel_is_alnum(text.p[n]);
}

static size_t digits(struct gtel_str text)
{
    size_t n = run(text, gtel_is_digit);
    return ends_word(text, n) ? n : 0;
}

/* 8-4-4-4-12 digits. */
static size_t uuid(struct gtel_str text)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(groups); i++) {
        size_t separator = i > 0 ? gtel_scrub_separator(gtel_str_skip(text, at)) : 0;
        if (i > 0 && separator == 0)
            return 0;
        at += separator;
        if (run(gtel_str_head(gtel_str_skip(text, at), groups[i]), gtel_is_hex) < groups[i])
            return 0;
        at += groups[i];
    }
    return at;
}

/* Hexadecimal digits as a word by themselves. */
static size_t hex_word(struct gtel_str text)
{
    size_t n = run(text, gtel_is_hex);
    return ends_word(text, n) ? n : 0;
}

static size_t mac_word(struct gtel_str text)
{
    return hex_word(text) == 2 * MAC_BYTES ? 2 * MAC_BYTES : 0;
}

static size_t hash_word(struct gtel_str text)
{
    size_t n = hex_word(text);
    return n >= HASH_MIN && n <= HASH_MAX ? n : 0;
}

static size_t id_word(struct gtel_str text)
{
    size_t n = hex_word(text);
    return n >= ID_MIN ? n : 0;
}

/* Twelve digits may also be a number, and twelve letters a word: it has both. */
static size_t mixed_word(struct gtel_str text)
{
    size_t n = mac_word(text);
    size_t decimals = 0;
    for (size_t i = 0; i < n; i++)
        decimals += gtel_is_digit(text.p[i]);
    return decimals > 0 && decimals < n ? n : 0;
}

/* Groups of that many digits with one separator between them, at least min of them. */
static size_t grouped(struct gtel_str text, size_t width, size_t min, const char *separators)
{
    size_t n = 0;
    size_t groups = 0;
    char separator = text.n > width ? text.p[width] : '\0';
    if (separator == '\0' ||
        gtel_str_find(gtel_str_of(separators), separator) == gtel_str_of(separators).n)
        return 0;
    while (run(gtel_str_head(gtel_str_skip(text, n), width), gtel_is_hex) == width) {
        n += width;
        groups++;
        if (n >= text.n || text.p[n] != separator)
            break;
        n++;
    }
    n -= n > 0 && n <= text.n && text.p[n - 1] == separator;
    return groups >= min && ends_word(text, n) ? n : 0;
}

/* 00:11:22:33:44:55, also with more bytes, and 0011.2233.4455 */
static size_t mac(struct gtel_str text)
{
    size_t n = grouped(text, 2, MAC_BYTES, ":-_.");
    if (n == 0)
        n = grouped(text, 4, MAC_BYTES / 2, ".");
    if (n > 0)
        return n;
    n = grouped(text, 2, MAC_BYTES, " ");
    for (size_t i = 0; i < n; i++) /* numbers in a row are none */
        if (gtel_is_letter(text.p[i]))
            return n;
    return 0;
}

static size_t quad(struct gtel_str text, char separator)
{
    size_t n = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t byte;
        size_t width = run(gtel_str_skip(text, n), gtel_is_digit);
        if (gtel_str_u64(gtel_str_head(gtel_str_skip(text, n), width), &byte) < 0 || byte > 255)
            return 0;
        n += width;
        if (i < 3 && (n >= text.n || text.p[n++] != separator))
            return 0;
    }
    bool goes_on = n + 1 < text.n && text.p[n] == separator && gtel_is_digit(text.p[n + 1]);
    return ends_word(text, n) && !goes_on ? n : 0;
}

static size_t ipv4(struct gtel_str text)
{
    return quad(text, '.');
}

static size_t ipv4_dashed(struct gtel_str text)
{
    return quad(text, '-');
}

/* Eight groups, or fewer with "::" among them. */
static size_t ipv6(struct gtel_str text)
{
    size_t n = 0;
    size_t groups = 0;
    bool is_short = false;
    while (n < text.n) {
        size_t width = run(gtel_str_head(gtel_str_skip(text, n), 5), gtel_is_hex);
        if (width > 4 || groups == 9)
            return 0;
        groups += width > 0;
        n += width;
        if (n >= text.n || text.p[n] != ':' || (width == 0 && is_short))
            break;
        is_short = is_short || gtel_str_starts(gtel_str_skip(text, n), GTEL_STR("::"));
        n += gtel_str_starts(gtel_str_skip(text, n), GTEL_STR("::")) ? 2 : 1;
    }
    return (groups == 8 || (is_short && groups > 1)) && ends_word(text, n) ? n : 0;
}

static bool is_mail(char c)
{
    return gtel_is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '+';
}

/* NAME@PLACE, but neither a unit of systemd nor a node of a device tree ("gpu@13000000"). */
static size_t mail(struct gtel_str text)
{
    static const struct gtel_str units[] = {
        GTEL_STR_INIT(".service"), GTEL_STR_INIT(".slice"), GTEL_STR_INIT(".scope"),
        GTEL_STR_INIT(".socket"),  GTEL_STR_INIT(".mount"), GTEL_STR_INIT(".swap"),
    };
    /* 64 and 255 bytes at most: RFC 5321, section 4.5.3.1. */
    size_t name = run(gtel_str_head(text, 65), is_mail);
    if (name == 0 || name >= text.n || text.p[name] != '@')
        return 0;
    struct gtel_str place = gtel_str_head(gtel_str_skip(text, name + 1), 255);
    place.n = run(place, is_mail);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(units); i++)
        if (gtel_str_ends(place, units[i]))
            return 0;
    return run(place, gtel_is_hex) < place.n ? name + 1 + place.n : 0;
}

static bool is_label(char c)
{
    return (unsigned char)c > ' ' && c != '/' && c != '"' && c != '\'' && c != ',' && c != ')';
}

static size_t label(struct gtel_str text)
{
    return run(text, is_label);
}

/* ---- the table ---- */

static const struct form {
    struct gtel_str before; /* what stands before it and stays, in lower case */
    size_t (*length)(struct gtel_str text);
    struct gtel_str behind; /* the end of what has the form, which stays */
    enum gtel_scrub_kind kind;
    enum gtel_scrub_how how;
    /* At the beginning of a word; inside words, too; or not in texts about versions. */
    enum { WORD, INSIDE, NO_VERSION } where;
} forms[] = {
#define FORM(before, length, behind, kind, how, where)                                             \
    {                                                                                              \
        GTEL_STR_INIT(before), length, GTEL_STR_INIT(behind), GTEL_SCRUB_##kind, GTEL_SCRUB_##how, \
            where                                                                                  \
    }
    /* Whose it is, in cgroups and folders (systemd: user@.service; Slurm: uid_1000; OAR 3). */
    FORM("user-", digits, "", USER, NUMBER, WORD),
    FORM("user@", digits, "", USER, NUMBER, WORD),
    FORM("uid_", digits, "", USER, NUMBER, WORD),
    FORM("oar-u", digits, "", USER, NUMBER, WORD),
    FORM("run/user/", digits, "", USER, NUMBER, WORD),
    FORM("home/", label, "", USER, NAME, WORD),
    FORM("users/", label, "", USER, NAME, WORD),
    /* Containers with names, as parse/cgroup.c knows them. */
    FORM("lxc/", label, "", HOST, LOCAL, WORD),
    FORM("lxc.payload/", label, "", HOST, LOCAL, WORD),
    FORM("lxc.monitor/", label, "", HOST, LOCAL, WORD),
    FORM("lxc.payload.", label, "", HOST, LOCAL, WORD),
    FORM("lxc.monitor.", label, "", HOST, LOCAL, WORD),
    FORM("machine-", label, ".scope", HOST, LOCAL, WORD),
    FORM("systemd-nspawn@", label, ".service", HOST, LOCAL, WORD),
    FORM("container@", label, ".service", HOST, LOCAL, WORD),
    /* Pods and containers, hashes of commits, ids of anything. */
    FORM("", uuid, "", UUID, SPREAD, INSIDE),
    FORM("pod", id_word, "", UUID, SPREAD, WORD),
    FORM("g", hash_word, "", UUID, LOCAL, WORD),
    FORM("", id_word, "", UUID, SPREAD, WORD),
    /* Disks (udev: /dev/disk) and their world wide names. */
    FORM("by-id/", label, "", SERIAL, LOCAL, WORD),
    FORM("by-label/", label, "", SERIAL, LOCAL, WORD),
    FORM("by-partlabel/", label, "", SERIAL, LOCAL, WORD),
    FORM("wwn-0x", hex_word, "", SERIAL, SPREAD, WORD),
    FORM("eui.", hex_word, "", SERIAL, SPREAD, WORD),
    FORM("naa.", hex_word, "", SERIAL, SPREAD, WORD),
    /* Networks; interfaces are named after their address (systemd.net-naming-scheme(7)). */
    FORM("enx", mac_word, "", ADDRESS, SPREAD, WORD),
    FORM("wlx", mac_word, "", ADDRESS, SPREAD, WORD),
    FORM("wwx", mac_word, "", ADDRESS, SPREAD, WORD),
    FORM("", mac, "", ADDRESS, SPREAD, NO_VERSION),
    FORM("", mixed_word, "", ADDRESS, SPREAD, WORD),
    FORM("", ipv6, "", ADDRESS, SPREAD, WORD),
    FORM("", ipv4, "", ADDRESS, SPREAD, NO_VERSION),
    FORM("ip-", ipv4_dashed, "", ADDRESS, SPREAD, WORD), /* as a cloud calls its hosts */
    FORM("", mail, "", ADDRESS, SPREAD, WORD),
#undef FORM
};

bool gtel_scrub_is_about_versions(struct gtel_str text)
{
    return has_part(text, GTEL_STR("version")) || has_part(text, GTEL_STR("firmware"));
}

static bool has_form(const struct form *form, struct gtel_str rest, struct gtel_scrub_find *ret)
{
    if (!begins(rest, form->before))
        return false;
    struct gtel_str text = gtel_str_skip(rest, form->before.n);
    size_t n = form->length(text);
    if (form->behind.n > 0) {
        if (!gtel_str_ends(gtel_str_head(text, n), form->behind))
            return false;
        n -= form->behind.n;
    }
    *ret = (struct gtel_scrub_find){
        .at = form->before.n, .n = n, .kind = form->kind, .how = form->how};
    return n > 0;
}

/* Ids that each Windows has: of classes of devices and of sets of counters (host/pnp.c,
 * sources/clients/wddm_clients.c). */
static bool is_in_public_id(struct gtel_str text, size_t at)
{
    static const struct gtel_str ids[] = {
        GTEL_STR_INIT("4d36e968-e325-11ce-bfc1-08002be10318"),
        GTEL_STR_INIT("1ca05180-a699-450a-9a0c-de4fbe3ddd89"),
        GTEL_STR_INIT("978c167d-4764-4d9c-9824-14747351dc81"),
        GTEL_STR_INIT("f802502b-77b4-4713-81b3-3be05759da5d"),
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(ids); i++)
        for (size_t back = 0; back <= at && back < ids[i].n; back++)
            if (begins(gtel_str_skip(text, at - back), ids[i]))
                return true;
    return false;
}

static bool is_instance(char c)
{
    return gtel_is_alnum(c) || c == '&';
}

/*
 * The end of a device's name under Windows, which may hold its serial number:
 * PCI\VEN_8086&DEV_E20B&SUBSYS_11008086&REV_00\6&1A2B3C4D&0&00080008, or the same with '#'.
 */
static bool find_instance(struct gtel_str text, size_t at, struct gtel_scrub_find *ret)
{
    static const struct gtel_str revision = GTEL_STR_INIT("&rev_");
    size_t front = revision.n + 3;
    if (at < front || (text.p[at - 1] != '\\' && text.p[at - 1] != '#') ||
        !begins(gtel_str_skip(text, at - front), revision))
        return false;
    *ret = (struct gtel_scrub_find){.n = run(gtel_str_skip(text, at), is_instance),
                                    .kind = GTEL_SCRUB_SERIAL};
    return ret->n > 0;
}

/* The host behind the number of a job, as "1234.pbs01" and "12[3].pbs01" (parse/job.c). */
static bool find_server(struct gtel_str text, size_t at, struct gtel_scrub_find *ret)
{
    struct gtel_str rest = gtel_str_skip(text, at);
    struct gtel_str number = gtel_str_head(text, at > 0 ? at - 1 : 0);
    bool is_behind =
        at > 0 && text.p[at - 1] == '.' && number.n > 0 &&
        (gtel_is_digit(number.p[number.n - 1]) || gtel_str_ends(number, GTEL_STR("]")) ||
         gtel_str_ends(number, GTEL_STR("\\x5d")));
    if (!is_behind || rest.n == 0 || !gtel_is_letter(rest.p[0]))
        return false; /* without reading the rest of a line, which may be long */
    size_t n = label(rest);
    size_t letters = run(rest, gtel_is_letter);
    if (gtel_str_ends(gtel_str_head(rest, n), GTEL_STR(".slice")))
        n -= sizeof(".slice") - 1;
    *ret = (struct gtel_scrub_find){.n = n, .kind = GTEL_SCRUB_HOST, .how = GTEL_SCRUB_LOCAL};
    bool is_whole = letters == n || rest.p[letters] == ':'; /* and no server's */
    return !(is_whole && gtel_scrub_is_usual(GTEL_SCRUB_CGROUP, gtel_str_head(rest, letters)));
}

bool gtel_scrub_find_form(struct gtel_str text, size_t at, enum gtel_scrub_writer writer,
                          struct gtel_scrub_find *ret)
{
    struct gtel_str rest = gtel_str_skip(text, at);
    bool is_inside = at > 0 && gtel_is_alnum(text.p[at - 1]);
    char first = rest.n > 0 ? gtel_lower(rest.p[0]) : '\0';
    if (is_inside ? !gtel_is_hex(first) : !gtel_is_alnum(first) && first != ':')
        return false;
    if (find_instance(text, at, ret) || (writer == GTEL_SCRUB_CGROUP && find_server(text, at, ret)))
        return true;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(forms); i++) {
        const struct form *form = &forms[i];
        bool is_likely = form->before.n == 0 || form->before.p[0] == first;
        if (is_likely && (!is_inside || form->where == INSIDE) &&
            (form->where != NO_VERSION || writer != GTEL_SCRUB_VERSION) &&
            has_form(form, rest, ret))
            return !is_in_public_id(text, at);
    }
    return false;
}

bool gtel_scrub_is_secret_key(struct gtel_str name, struct gtel_scrub_find *ret)
{
    static const struct {
        struct gtel_str part;
        enum gtel_scrub_kind kind;
        enum gtel_scrub_how how;
    } keys[] = {
        {GTEL_STR_INIT("serial"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("asset_tag"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("board_id"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("board_number"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("unique_id"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("hive_id"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("wwid"), GTEL_SCRUB_SERIAL, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("uuid"), GTEL_SCRUB_UUID, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("machine-id"), GTEL_SCRUB_UUID, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("boot_id"), GTEL_SCRUB_UUID, GTEL_SCRUB_SPREAD},
        {GTEL_STR_INIT("hostname"), GTEL_SCRUB_HOST, GTEL_SCRUB_LOCAL},
        {GTEL_STR_INIT("domainname"), GTEL_SCRUB_HOST, GTEL_SCRUB_LOCAL},
        {GTEL_STR_INIT("ssid"), GTEL_SCRUB_ADDRESS, GTEL_SCRUB_LOCAL},
        {GTEL_STR_INIT("username"), GTEL_SCRUB_USER, GTEL_SCRUB_LOCAL},
        {GTEL_STR_INIT("client-name"), GTEL_SCRUB_USER,
         GTEL_SCRUB_LOCAL}, /* what a program says it is */
    };
    for (size_t i = 0; i < GTEL_ARRAY_LEN(keys); i++) {
        if (!has_part(name, keys[i].part))
            continue;
        *ret = (struct gtel_scrub_find){.kind = keys[i].kind, .how = keys[i].how};
        return true;
    }
    return false;
}

/* ---- words ---- */

/* Of paths and texts in sys, dev and proc that some source reads. */
static const char kernel_words[] =
#include "recording/scrub_words.def"
    ;

/* Of cgroups (systemd.slice(5), parse/cgroup.c). */
static const char cgroup_words[] =
    " app azure besteffort burstable cgroup container containerd cri crio default docker "
    "garden guaranteed init job kubelet kubepods libpod lxc machine monitor nspawn payload pod "
    "podman scope service session slice slurm slurmstepd step system systemd task uid user ";

/* Of kernels as distributions build them. */
static const char release_words[] =
    " aarch amd arch arm asahi aws azure bpo cachyos ck cloud debug deb default dirty edge el eln "
    "fc gcp generic gentoo gke hardened hwe ibm intel kvm laptop liquorix lowlatency lts microsoft "
    "oem oracle pae powerpc preempt pve raspi rc realtime riscv rpi rpt rt server standard tegra "
    "tkg "
    "truenas uek unraid vanilla virtual wsl xanmod xen zen ";

/* Ends of names of hosts: of countries (two letters), and these. */
static const char domain_words[] =
    " arpa com corp dev edu fritz gov home info int internal invalid lan local localdomain mil net "
    "org private test ";

static bool has_word(const char *words, struct gtel_str word)
{
    char wanted[WORD_MAX + 3] = " ";
    if (word.n >= WORD_MAX)
        return false;
    for (size_t i = 0; i < word.n; i++)
        wanted[i + 1] = gtel_lower(word.p[i]);
    wanted[word.n + 1] = ' ';
    return strstr(words, wanted) != NULL;
}

bool gtel_scrub_is_usual(enum gtel_scrub_writer writer, struct gtel_str word)
{
    static const char *const words[] = {
        [GTEL_SCRUB_KERNEL] = kernel_words, [GTEL_SCRUB_VERSION] = kernel_words,
        [GTEL_SCRUB_CGROUP] = cgroup_words, [GTEL_SCRUB_RELEASE] = release_words,
        [GTEL_SCRUB_PUBLIC] = "",           [GTEL_SCRUB_PEOPLE] = ""};
    return has_word(words[writer], word);
}

bool gtel_scrub_is_domain(struct gtel_str word)
{
    return word.n == 2 || has_word(domain_words, word);
}

/* ---- writers ---- */

/* The first row that fits. */
static const struct {
    struct gtel_str begin;
    struct gtel_str end;
    enum gtel_scrub_writer writer;
} writers[] = {
    {GTEL_STR_INIT("proc/sys/kernel/osrelease"), GTEL_STR_INIT(""), GTEL_SCRUB_RELEASE},
    {GTEL_STR_INIT("proc/sys/kernel/version"), GTEL_STR_INIT(""), GTEL_SCRUB_RELEASE},
    {GTEL_STR_INIT("proc/version"), GTEL_STR_INIT(""), GTEL_SCRUB_RELEASE},
    {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/cgroup"), GTEL_SCRUB_CGROUP},
    {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/comm"), GTEL_SCRUB_PEOPLE},
    {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/stat"), GTEL_SCRUB_PEOPLE},
    {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/cmdline"), GTEL_SCRUB_PEOPLE},
    {GTEL_STR_INIT("proc/"), GTEL_STR_INIT("/mountinfo"), GTEL_SCRUB_PEOPLE},
    {GTEL_STR_INIT("proc"), GTEL_STR_INIT(""), GTEL_SCRUB_KERNEL},
    {GTEL_STR_INIT("sys/"), GTEL_STR_INIT(""), GTEL_SCRUB_KERNEL},
    {GTEL_STR_INIT("dev/"), GTEL_STR_INIT(""), GTEL_SCRUB_KERNEL},
    {GTEL_STR_INIT("run/udev/"), GTEL_STR_INIT(""), GTEL_SCRUB_KERNEL},
    {GTEL_STR_INIT("etc/group"), GTEL_STR_INIT(""), GTEL_SCRUB_KERNEL},
    {GTEL_STR_INIT("usr/share/"), GTEL_STR_INIT(""), GTEL_SCRUB_PUBLIC},
};

enum gtel_scrub_writer gtel_scrub_writer_of(struct gtel_str path)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(writers); i++)
        if (gtel_str_starts(path, writers[i].begin) && gtel_str_ends(path, writers[i].end))
            return writers[i].writer == GTEL_SCRUB_KERNEL && gtel_scrub_is_about_versions(path)
                       ? GTEL_SCRUB_VERSION
                       : writers[i].writer;
    return GTEL_SCRUB_PEOPLE;
}
