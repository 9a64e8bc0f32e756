/* SPDX-License-Identifier: MIT */
/*
 * What the scrubber knows a secret by: the name of its file or key, what stands before it, its
 * form. And the words that stay, because a recorded machine is read by them.
 */
#ifndef GTEL_RECORDING_SCRUB_RULES_H
#define GTEL_RECORDING_SCRUB_RULES_H

#include "recording/scrub.h"

enum { GTEL_SCRUB_PEOPLE_FROM = 1000 }; /* numbers of users (login.defs(5), UID_MIN) */

/* Who writes a text. */
enum gtel_scrub_writer {
    GTEL_SCRUB_KERNEL,  /* sysfs, drivers, most of proc */
    GTEL_SCRUB_VERSION, /* the same, where 1.2.3.4 is a version */
    GTEL_SCRUB_CGROUP,  /* systemd and container programs */
    GTEL_SCRUB_RELEASE, /* who built the kernel */
    GTEL_SCRUB_PUBLIC,  /* what each machine of a distribution has, as a list of devices */
    GTEL_SCRUB_PEOPLE   /* anybody: names of processes, comments */
};

/* A secret in a text. */
struct gtel_scrub_find {
    size_t at; /* bytes before it that stay */
    size_t n;
    enum gtel_scrub_kind kind;
    enum gtel_scrub_how how;
};

/* Who writes the file of that path, which is also who names it. */
enum gtel_scrub_writer gtel_scrub_writer_of(struct gtel_str path);
bool gtel_scrub_is_about_versions(struct gtel_str text);
/* Whether the name of a file or a key says that its value is a secret; sets kind and how. */
bool gtel_scrub_is_secret_key(struct gtel_str name, struct gtel_scrub_find *ret);
/* Whether the text from position at on begins with a secret of a known form. */
bool gtel_scrub_find_form(struct gtel_str text, size_t at, enum gtel_scrub_writer writer,
                          struct gtel_scrub_find *ret);
/* Whether a word of letters, in any case, is one that this writer uses for what is no secret. */
bool gtel_scrub_is_usual(enum gtel_scrub_writer writer, struct gtel_str word);

/* Whether the end of a host's name is one that many hosts have: "org", "local". */
bool gtel_scrub_is_domain(struct gtel_str word);

/*
 * Name and number of a line of passwd(5). Whether that is a person: it has a high number or a
 * shell; the others are named after programs.
 */
bool gtel_scrub_user_line(struct gtel_str line, struct gtel_str *ret_name, uint64_t *ret_number);

/* Bytes of what separates letters and digits at the beginning of text: '-', or systemd's \x2d. */
size_t gtel_scrub_separator(struct gtel_str text);

#endif
