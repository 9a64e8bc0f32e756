/* SPDX-License-Identifier: MIT */
/*
 * What of Level Zero Sysman's binary interface the player has beyond abi/zes_abi.h: the calls of
 * more_syms.def, which pyzes makes and we do not.
 */
#ifndef GTEL_TESTS_FAKES_MORE_ABI_H
#define GTEL_TESTS_FAKES_MORE_ABI_H

#include "abi/zes_abi.h"

#define GTEL_ZES_PARAMS_by_uuid(type)                                                              \
    (void *driver, struct gtel_zes_uuid uuid, type ret, uint8_t *on_subdevice,                     \
     uint32_t *subdevice_id)
#define GTEL_ZES_ARGS_by_uuid , driver, uuid, ret, on_subdevice, subdevice_id

#endif
