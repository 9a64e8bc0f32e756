/* SPDX-License-Identifier: MIT */
/*
 * What the files of a collectd plugin share.
 *
 * All plugins are this code. The build gives each its name (GTEL_PLUGIN): of the file, of the
 * configuration block and of the values; and a vendor (GTEL_VENDOR), of whose sources it is; that
 * of processes is "clients". The daemon calls module_register (the only exported symbol), then
 * configuration and init callbacks from its main thread, then the read callback from changing
 * threads but never two at the same time, then shutdown from its main thread when no read callback
 * runs any more.
 */
#ifndef GTEL_COLLECTD_MODULE_H
#define GTEL_COLLECTD_MODULE_H

#include "gtel.h"

#include "collectd/core/daemon/collectd.h"
#include "collectd/core/daemon/plugin.h"

/*
 * Sets options from a <Plugin> block. Strings, numbers and booleans are taken alike. An unknown
 * option and a bad value are logged and skipped, so that a mistyped line never stops the daemon.
 */
void gtel_collectd_configure(const oconfig_item_t *block, struct gtel_options *options,
                             const struct gtel_log *log);

#endif
