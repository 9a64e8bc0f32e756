/* SPDX-License-Identifier: MIT */
/* What each of NVML's result codes means (API Reference, nvmlReturn_t), and what is said of it. */
#include "sources/nvidia/library.h"

#include "base/compiler.h"
#include "harness/test.h"

#include <string.h>

/* By number: 0 to 29, and all others as the last. */
static const enum gtel_nvml_meaning meanings[] = {
    GTEL_NVML_MEANS_FINE,     /* SUCCESS */
    GTEL_NVML_MEANS_BROKEN,   /* UNINITIALIZED */
    GTEL_NVML_MEANS_ABSENT,   /* INVALID_ARGUMENT */
    GTEL_NVML_MEANS_ABSENT,   /* NOT_SUPPORTED */
    GTEL_NVML_MEANS_ABSENT,   /* NO_PERMISSION */
    GTEL_NVML_MEANS_FAILURE,  /* ALREADY_INITIALIZED */
    GTEL_NVML_MEANS_NO_VALUE, /* NOT_FOUND */
    GTEL_NVML_MEANS_FAILURE,  /* INSUFFICIENT_SIZE */
    GTEL_NVML_MEANS_FAILURE,  /* INSUFFICIENT_POWER */
    GTEL_NVML_MEANS_BROKEN,   /* DRIVER_NOT_LOADED */
    GTEL_NVML_MEANS_FAILURE,  /* TIMEOUT */
    GTEL_NVML_MEANS_FAILURE,  /* IRQ_ISSUE */
    GTEL_NVML_MEANS_FAILURE,  /* LIBRARY_NOT_FOUND */
    GTEL_NVML_MEANS_ABSENT,   /* FUNCTION_NOT_FOUND */
    GTEL_NVML_MEANS_FAILURE,  /* CORRUPTED_INFOROM */
    GTEL_NVML_MEANS_NO_GPU,   /* GPU_IS_LOST */
    GTEL_NVML_MEANS_NO_GPU,   /* RESET_REQUIRED */
    GTEL_NVML_MEANS_FAILURE,  /* OPERATING_SYSTEM */
    GTEL_NVML_MEANS_BROKEN,   /* LIB_RM_VERSION_MISMATCH */
    GTEL_NVML_MEANS_FAILURE,  /* IN_USE */
    GTEL_NVML_MEANS_FAILURE,  /* MEMORY */
    GTEL_NVML_MEANS_NO_VALUE, /* NO_DATA */
    GTEL_NVML_MEANS_FAILURE,  /* VGPU_ECC_NOT_SUPPORTED */
    GTEL_NVML_MEANS_FAILURE,  /* INSUFFICIENT_RESOURCES */
    GTEL_NVML_MEANS_FAILURE,  /* FREQ_NOT_SUPPORTED */
    GTEL_NVML_MEANS_ABSENT,   /* ARGUMENT_VERSION_MISMATCH */
    GTEL_NVML_MEANS_ABSENT,   /* DEPRECATED */
    GTEL_NVML_MEANS_NO_VALUE, /* NOT_READY */
    GTEL_NVML_MEANS_NO_GPU,   /* GPU_NOT_FOUND */
    GTEL_NVML_MEANS_FAILURE,  /* INVALID_STATE */
};

/* Words of what is said of a code when NVML does not start, and of what helps. */
static const struct {
    int code;
    const char *text;
    const char *fix;
} starts[] = {
    {9, "driver is not loaded", "modprobe nvidia"},
    {18, "different versions", "modprobe -r nvidia_uvm"},
    {4, "/dev/nvidiactl", "read and write /dev/nvidiactl"},
    {15, "no GPU answers", "dmesg"},
    {999, "in a container", "nvidia-smi"},
    {3, "a stub", "nvidia-smi"},
    {0, "a stub", "nvidia-smi"},
    {-1, "a stub", "nvidia-smi"},
};

int main(void)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(meanings); i++)
        CHECK_INT(gtel_nvml_meaning((int)i), meanings[i]);
    CHECK_INT(gtel_nvml_meaning(999), GTEL_NVML_MEANS_FAILURE);
    CHECK_INT(gtel_nvml_meaning(-1), GTEL_NVML_MEANS_FAILURE);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(starts); i++) {
        test_label = starts[i].text;
        const struct gtel_nvml_code *code = gtel_nvml_code(starts[i].code);
        CHECK(strstr(code->text, starts[i].text) != NULL);
        CHECK(strstr(code->fix, starts[i].fix) != NULL);
    }
    test_label = "";
    return test_result();
}
