/* SPDX-License-Identifier: MIT */
/*
 * What `gtel doctor` says of the machine and of who runs the program.
 *
 * Everything is read through the env, so that a recorded machine speaks for itself; what is not in
 * it is not known, which is a state of its own.
 */
#ifndef GTEL_EXECD_HOST_FACTS_H
#define GTEL_EXECD_HOST_FACTS_H

#include "base/buf.h"
#include "host/kernel.h"

/* Rights that some source can use. */
enum gtel_right {
    GTEL_RIGHT_PERFMON,
    GTEL_RIGHT_SYS_ADMIN,
    GTEL_RIGHT_SYS_PTRACE,
    GTEL_RIGHT_NET_ADMIN,
    GTEL_RIGHTS_SHOWN,
    GTEL_RIGHT_DAC_READ_SEARCH = GTEL_RIGHTS_SHOWN, /* seldom asked for, and not to be offered */
    GTEL_RIGHTS
};

/* What gives Telegraf's service rights: the file that the package telegraf-gtel brings
 * (contrib/packages/systemd), and that of gtel doctor's advice, which replaces it
 * (systemd.unit(5)). */
#define GTEL_HOST_DROP_IN "usr/lib/systemd/system/telegraf.service.d/gtel.conf"
#define GTEL_HOST_OWN_DROP_IN "etc/systemd/system/telegraf.service.d/gtel.conf"

enum gtel_host_system { GTEL_HOST_LINUX, GTEL_HOST_MAC, GTEL_HOST_WINDOWS };

struct gtel_host_facts {
    enum gtel_host_system system;
    /* Of a Mac the version and nothing else; of Windows these three; empty: not known. */
    char version[32];
    char account[200];
    enum gtel_known is_administrator;
    char kernel[96];             /* release; empty: not known */
    struct gtel_release release; /* zero: not known */
    uint64_t uid;                /* effective; UINT64_MAX: not known */
    enum gtel_known right[GTEL_RIGHTS];
    enum gtel_known is_render; /* member of the group render */
    bool has_render_group;
    bool has_drop_in;     /* GTEL_HOST_DROP_IN exists */
    bool has_own_drop_in; /* GTEL_HOST_OWN_DROP_IN exists */
    char paranoid[16];    /* kernel.perf_event_paranoid; empty: not known */
};

void gtel_host_facts_read(const struct gtel_env *env, struct gtel_host_facts *ret);
/* "CAP_PERFMON": as a kernel's manual calls it. */
const char *gtel_host_right_name(enum gtel_right right);
/* Appends some aligned lines. */
void gtel_host_facts_write(const struct gtel_host_facts *facts, struct gtel_buf *buf);

#endif
