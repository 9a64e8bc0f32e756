/* SPDX-License-Identifier: MIT */
/* Fuzz target: the program's configuration file. */
#include "execd/args.h"
#include "fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gtel_options options;
    char error[64] = "";
    gtel_options_init(&options);
    int r = gtel_args_config(&options, fuzz_text(data, size), "file", error, sizeof(error));
    FUZZ_CHECK((r < 0) == (error[0] != '\0'));
    FUZZ_CHECK(memchr(error, '\0', sizeof(error)) != NULL);
    uint64_t interval_ns = gtel_option_number(&options, GTEL_O_INTERVAL);
    FUZZ_CHECK(interval_ns >= 100000000 && interval_ns <= 3600000000000);
    return 0;
}
