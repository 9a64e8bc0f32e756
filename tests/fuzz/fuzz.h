/* SPDX-License-Identifier: MIT */
/*
 * What a fuzz target is: one function that gets bytes and must neither crash nor read beyond them.
 *
 * A target is fuzz_NAME.c with its seeds in corpus/NAME/. It checks what must hold for any input
 * with FUZZ_CHECK. It is linked with replay_main.c (test fuzz.NAME, any compiler), or with
 * libFuzzer where GTEL_FUZZ is on.
 */
#ifndef GTEL_TESTS_FUZZ_H
#define GTEL_TESTS_FUZZ_H

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

/* Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_check(bool is_ok, const char *file, int line, const char *what)
{
    if (is_ok)
        return;
    (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

#define FUZZ_CHECK(cond) fuzz_check(cond, __FILE__, __LINE__, #cond)

/* The input as text. */
static inline struct gtel_str fuzz_text(const uint8_t *data, size_t size)
{
    return (struct gtel_str){(const char *)data, size};
}

#endif
