/* SPDX-License-Identifier: MIT */
/* The end of a helper's standard error that the helper has. */
#include "harness/text_end.h"

#include <windows.h>

int64_t text_end_write(intptr_t end, const void *bytes, size_t n)
{
    DWORD written = 0;
    return WriteFile((HANDLE)end, bytes, (DWORD)n, &written, NULL) ? (int64_t)written : -1;
}

bool text_end_is_for(intptr_t helper, intptr_t front_end)
{
    DWORD theirs = 0;
    DWORD ours = 0;
    return GetHandleInformation((HANDLE)helper, &theirs) &&
           GetHandleInformation((HANDLE)front_end, &ours) && (theirs & HANDLE_FLAG_INHERIT) != 0 &&
           (ours & HANDLE_FLAG_INHERIT) == 0;
}
