/* SPDX-License-Identifier: MIT */
/*
 * A helper process and the way to it, as the front end holds them: what differs by system.
 *
 * Nothing here waits but gtel_channels_wait. The bytes are those of lanes/wire.h.
 */
#ifndef GTEL_LANES_CHANNEL_H
#define GTEL_LANES_CHANNEL_H

#include "base/str.h"
#include "lanes/helper_text.h"

#include <sys/types.h>

struct gtel_channel {
    int fd;     /* negative: closed. POSIX: the socket */
    pid_t pid;  /* of a helper that has not been reaped; 0: none */
    void *pipe; /* Windows: the pipe while it is open */
    void *life; /* Windows: handles of the process and its job until it is reaped */
};

/* What to do when a helper cannot be started, by the negative errno, and when one hangs. */
const char *gtel_channel_start_fix(int error);
const char *gtel_channel_hang_fix(void);

void gtel_channel_init(struct gtel_channel *channel);
/*
 * Starts the program path with args (its name first, NULL at the end), a clean environment and
 * nothing of the front end's but its end of the way. Its standard error goes to text. 0 or a
 * negative errno; then nothing of it is left.
 */
int gtel_channel_start(struct gtel_channel *channel, struct gtel_helper_text *text,
                       const char *path, char *const *args);
/* Closes the way: the helper sees it and ends by itself. A closed one is fine. */
void gtel_channel_close(struct gtel_channel *channel);

/* All of text or nothing counts as sent: 0, or -EPIPE. */
int gtel_channel_send(struct gtel_channel *channel, struct gtel_str text);
/* The number of bytes; 0 when there is nothing now; -EPIPE when the helper is gone. */
int64_t gtel_channel_receive(struct gtel_channel *channel, void *buf, size_t n);

/* Collects the status of a helper that has ended; true when none is left. */
bool gtel_channel_reap(struct gtel_channel *channel, int *ret_status);
/* " (signal 11)" and the like for the status of a helper that crashed or was ended, else "". */
void gtel_channel_death(int status, char *ret, size_t size);
/* Ends one that has not ended by itself; false when it cannot be. */
bool gtel_channel_kill(struct gtel_channel *channel);

/* Sleeps until one of n open ones has something to read, at most wait_ns; n at most 32. */
void gtel_channels_wait(struct gtel_channel *const *channels, size_t n, uint64_t wait_ns);
void gtel_channel_nap(uint64_t ns);

#endif
