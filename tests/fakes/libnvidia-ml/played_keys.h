/* SPDX-License-Identifier: MIT */
/* Keys and answers of a recorded machine's NVML: see played.c. */
#ifndef GTEL_TESTS_FAKES_PLAYED_KEYS_H
#define GTEL_TESTS_FAKES_PLAYED_KEYS_H

#include "abi/nvml_abi.h"
#include "base/str.h"

enum {
    GPUS_MAX = 64,
    PLACES_MAX = 16, /* of MIG instances */
    WHO_SIZE = 24,
    KEY_SIZE = 128 /* bytes of the longest key: name, GPU and three numbers */
};

/* The handle of a GPU below GPUS_MAX, and of the MIG instance at a place below PLACES_MAX. */
struct gtel_nvml_device *device_at(unsigned gpu);
struct gtel_nvml_device *instance_at(unsigned gpu, unsigned place);
/*
 * The GPU behind a handle as in the recording, "0" or "0/2", or "" for one that was not given out.
 * text: WHO_SIZE bytes; returns it.
 */
const char *who_is(const struct gtel_nvml_device *device, char *text);

/* Looks a key up. A result code; *ret only with SUCCESS. missing: the code without such a line. */
int ask_key(const char *key, int missing, struct gtel_str *ret);
/* The answer for one GPU and up to three further numbers of the key; n: how many of them count. */
int ask_who(const char *name, const char *who, int n, const unsigned *of, struct gtel_str *ret);
int ask(const char *name, const struct gtel_nvml_device *device, int n, const unsigned *of,
        struct gtel_str *ret);
/* Decimal or 0x numbers, at least n of them; UNKNOWN when the recording has fewer. */
int numbers(struct gtel_str text, uint64_t *ret, size_t n);
int ask_numbers(const char *name, const struct gtel_nvml_device *device, uint64_t *ret, size_t n);

#endif
