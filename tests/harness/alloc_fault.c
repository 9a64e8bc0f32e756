/* SPDX-License-Identifier: MIT */
/* Makes one allocation fail. */
#include "harness/alloc_fault.h"

#include <stddef.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static uint64_t count;
static uint64_t fails_at;
static int64_t live;

static bool fails(void)
{
    return ++count == fails_at;
}

static void *made(void *p)
{
    live += p ? 1 : 0;
    return p;
}

void *__wrap_malloc(size_t n)
{
    return made(fails() ? NULL : __real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return made(fails() ? NULL : __real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
    void *now = fails() ? NULL : __real_realloc(p, n);
    return p ? now : made(now);
}

void __wrap_free(void *p)
{
    live -= p ? 1 : 0;
    __real_free(p);
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

int64_t alloc_fault_live(void)
{
    return live;
}
