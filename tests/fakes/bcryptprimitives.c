/* SPDX-License-Identifier: MIT */
/*
 * The one call of bcryptprimitives.dll that programs in Go need from version 1.22 on, and that Wine
 * 8 lacks: random numbers (Go: runtime/os_windows.go, ProcessPrng).
 */
#include "base/compiler.h"

#include <windows.h>

#include <ntsecapi.h> /* needs windows.h */

GTEL_EXPORT BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T n);
BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T n)
{
    return RtlGenRandom(bytes, (ULONG)n);
}
