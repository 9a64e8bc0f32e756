/* SPDX-License-Identifier: MIT */
/*
 * A host with one GPU whose processes and clients live and die by calls, for tests of many gathers:
 * an env around that of a recorded machine, with a /proc of its own and a clock that is set.
 */
#ifndef GTEL_TESTS_HARNESS_PROC_FIXTURE_H
#define GTEL_TESTS_HARNESS_PROC_FIXTURE_H

#include "recording/tree.h"

enum { FAKE_PROCESSES = 24, FAKE_CLIENTS = 40, FAKE_FDS = 8, FAKE_FD_FIRST = 5 };

/* An open file of the GPU. */
struct fake_client {
    bool is_alive;
    uint32_t id;
    uint64_t reported_ns; /* what its text says that it has worked */
    uint64_t memory_kib;  /* the GPU's own; see fake_proc_active_kib for the other kinds */
};

struct fake_process {
    bool is_alive;
    uint32_t pid;
    uint64_t ino;      /* of its fd folder */
    uint64_t start;    /* ticks */
    int fd[FAKE_FDS];  /* the client behind descriptor FAKE_FD_FIRST + i; -1: none */
    uint32_t ordinary; /* descriptors of other kinds: 3 and 4 … are not distinguished */
};

struct fake_proc {
    struct gtel_env env; /* for the code under test */
    struct gtel_env_ops ops;
    struct gtel_env inner;
    struct gtel_tree *tree;
    uint64_t now_ns;
    uint64_t last_ino;
    size_t open_files;
    struct fake_process process[FAKE_PROCESSES];
    struct fake_client client[FAKE_CLIENTS];
    char path[4096][40]; /* of open files below proc; "": none */
};

/*
 * What is active of a client's memory, in KiB; -1: its text does not say, as of one in eight. A
 * client has allocated twice its memory, and has 1 KiB of the host's for each of its id.
 */
int64_t fake_proc_active_kib(const struct fake_client *client);
/* False when it cannot be made. *fake stays where it is. */
bool fake_proc_init(struct fake_proc *fake);
void fake_proc_done(struct fake_proc *fake);
/* A process of that number, which no living one has, with start of now. Its position, or -1. */
int fake_proc_start(struct fake_proc *fake, uint32_t pid);
/* It ends: clients that nobody else has end with it. */
void fake_proc_end(struct fake_proc *fake, int process);
/* Puts a client behind a descriptor (-1: closes it); what was there may end. */
void fake_proc_set(struct fake_proc *fake, int process, int fd, int client);
/* Whether any living process has the client. */
bool fake_proc_is_held(const struct fake_proc *fake, int client);

#endif
