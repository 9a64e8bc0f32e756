/* SPDX-License-Identifier: MIT */
/* Makes one allocation fail. */
#include "harness/alloc_fault.h"

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static uint64_t count;
static uint64_t fails_at;

static bool fails(void)
{
    return ++count == fails_at;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

void alloc_fault_arm(uint64_t fail_at)
{
    count = 0;
    fails_at = fail_at;
}

uint64_t alloc_fault_count(void)
{
    return count;
}
