/* SPDX-License-Identifier: MIT */
/*
 * Ends a helper whose front end has died, whatever the helper is doing.
 *
 * A helper ends by itself when its socket closes, and a front end that ends kills those that do not
 * (lanes/lane.h). What is left is a front end that is killed while a helper hangs in a vendor
 * library, asleep or at full speed: one more such helper would stay after each restart of the
 * agent. A thread waits for the end of the socket, which costs nothing, and then, for as long as
 * the front end lives, does nothing: it alone decides about a helper that it has closed. Once the
 * front end is dead and a second has passed, the thread ends the process.
 *
 * Why not PR_SET_PDEATHSIG (prctl(2)): it follows the thread that started the helper, which in
 * collectd is one of the read threads, and these end before the plugin may close its helpers. It
 * also leaves no time for a helper that is about to end by itself.
 */
#ifndef GTEL_EXECD_WATCH_H
#define GTEL_EXECD_WATCH_H

/*
 * fd: the socket to the front end, open until the process ends. Tries some times. 0 or a negative
 * errno: the helper must not run without it.
 */
int gtel_watch_start(int fd);

#endif
