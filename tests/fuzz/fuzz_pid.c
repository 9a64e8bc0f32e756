/* SPDX-License-Identifier: MIT */
/* Fuzz target: the kernel's texts about a process, and foreign text made fit to be shown. */
#include "fuzz/fuzz.h"
#include "parse/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_pid_stat stat;
    if (gtel_pid_stat(text, &stat) == 0) {
        struct gtel_str name = stat.name;
        FUZZ_CHECK(name.p > text.p && name.p[-1] == '(' && name.p[name.n] == ')' &&
                   name.p + name.n < text.p + text.n);
    }
    for (size_t room = 1; room < 20; room++) {
        char buf[20];
        char again[20];
        gtel_str_clean(buf, room, text);
        struct gtel_str clean = gtel_str_of(buf);
        FUZZ_CHECK(clean.n < room && clean.n <= text.n);
        /* What is clean stays as it is. */
        gtel_str_clean(again, sizeof(again), clean);
        FUZZ_CHECK(gtel_str_eq(gtel_str_of(again), clean));
    }
    return 0;
}
