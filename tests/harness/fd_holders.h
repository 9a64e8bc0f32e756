/* SPDX-License-Identifier: MIT */
/*
 * Real processes that hold descriptors of device nodes, and do what they are asked to.
 *
 * A node is a character device of major 226 without a driver behind it: it can be opened with
 * O_PATH and nothing else, and its fdinfo text is the kernel's, without a line of a driver. Each
 * node stands for a client of a GPU; it is distinguished from others by its inode. Needs root
 * (mknod).
 */
#ifndef GTEL_TESTS_HARNESS_FD_HOLDERS_H
#define GTEL_TESTS_HARNESS_FD_HOLDERS_H

#include "base/str.h"

#include <sys/types.h>

enum { HOLDERS_NODES_MAX = 1024, HOLDERS_FDS_MAX = 4096 };

struct holders {
    char dir[64];
    size_t nodes;
    uint64_t ino[HOLDERS_NODES_MAX];
    uint64_t mount; /* id, as in fdinfo */
};

struct holder {
    pid_t pid;
    int socket; /* -1: it can only be ended */
};

/* Makes n nodes below a new folder. */
bool holders_init(struct holders *holders, size_t n);
/* After a change of the mount namespace: mounts have other numbers there. */
void holders_moved(struct holders *holders);
void holders_done(struct holders *holders);
/* The number of the node, from 1, whose descriptor has that fdinfo text; 0: another file. */
size_t holders_node(const struct holders *holders, struct gtel_str text);

/* Starts a process of that user with the descriptors 0 to 2 and one for orders (the highest). */
bool holder_start(const struct holders *holders, uid_t uid, struct holder *ret);
/* All give 0 or a negative errno. What was at that descriptor is closed. */
int holder_open(const struct holder *holder, size_t node, int fd);
int holder_other(const struct holder *holder, int fd);
int holder_dup(const struct holder *holder, int from, int to);
int holder_close(const struct holder *holder, int fd);
/* A child with the same descriptors. It ends with its parent at the latest. */
int holder_fork(const struct holder *holder, struct holder *ret);
/* Passes a descriptor to another process over a socket. */
int holder_pass(const struct holder *from, int fd, const struct holder *to, int to_fd);
/* Ends it, and waits until it is gone. */
void holder_end(struct holder *holder);

#endif
