/* SPDX-License-Identifier: MIT */
/*
 * NVML as played back from a recorded machine.
 *
 * Answers come from the `call` lines of the tree (recording/tree.h). The key is the call, then the
 * number of the GPU, then the other numbers that go in; the answer is what comes out, in the order
 * of the vendor's structure, without version words:
 *
 *     call nvmlDeviceGetCount_v2 = 2
 *     call nvmlDeviceGetName 0 = NVIDIA H200
 *     call nvmlDeviceGetPciInfo_v3 0 = 00000000:19:00.0 0x233510de 0x18be10de   (id, subsystem id)
 *     call nvmlDeviceGetUtilizationRates 0 = 100 7
 *     call nvmlDeviceGetMemoryInfo_v2 0 = TOTAL RESERVED FREE USED
 *     call nvmlDeviceGetMemoryInfo 0 = TOTAL FREE USED
 *     call nvmlDeviceGetClockInfo 0 1 = 1980                                    (clock type)
 *     call nvmlDeviceGetTotalEccErrors 0 1 0 = 0                                (error, counter)
 *     call nvmlDeviceGetFieldValues 0 186 0 = uint 625240                       (field, scope)
 *     call nvmlGpmQueryDeviceSupport 0 = 1
 *     call nvmlGpmMetricsGet 0 2 = 87.5                                         (GPM metric)
 *     call nvmlGpmMetricsGet 0 400 = unnamed        (0 without a name: the library knows no such)
 *
 * The word before a field's value is its type: double uint ulong ull sll int ushort. `!N` as answer
 * is return code N. A call on a GPU without a line is NOT_SUPPORTED; nvmlInit_v2, nvmlShutdown and
 * the look-ups of a GPU below the count succeed without one. `call NAME = !nosymbol` takes the call
 * out of the library.
 *
 * NVML's functions have no context argument, so what is being played is process-wide: the one piece
 * of hidden state in the project. One replay at a time; the second user gets -EBUSY.
 */
#ifndef GTEL_RECORDING_REPLAY_NVML_H
#define GTEL_RECORDING_REPLAY_NVML_H

#include "recording/tree.h"

/* Starts to answer from the tree, which outlives the replay. 0, or -EBUSY when another one runs. */
int gtel_replay_nvml_open(const struct gtel_tree *tree);
/* The function of that name, or NULL. */
void *gtel_replay_nvml_symbol(const char *name);
/* Ends the replay; handles and functions answer UNINITIALIZED from then on. */
void gtel_replay_nvml_close(void);

#endif
