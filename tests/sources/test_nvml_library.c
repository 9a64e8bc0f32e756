/* SPDX-License-Identifier: MIT */
/*
 * The NVML source with a real shared object, inline and in a helper process.
 *
 *     test_nvml_library FOLDER        below it VARIANT/libnvidia-ml.so.1
 */
#include "harness/vendor_library.h"
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

static const struct vendor nvml = {
    .name = "nvidia",
    .lane = "nvml",
    .soname = "libnvidia-ml.so.1",
    .metric = GTEL_M_GPU_BUSY,
    .machine = "file dev/nvidiactl\n",
};

static const struct {
    const char *name;
    double memory_used; /* -1: no GPU */
    const char *log;
} variants[] = {
    {"new", 300, NULL},
    {"old", 400, NULL},
    {"no_device", -1, NULL},
    {"no_driver", -1, "code 9"},
    {"missing", -1, "nvmlDeviceGetUUID"},
    {"absent", -1, "libnvidia-ml.so.1"},
};

static void test_inline(const char *folder)
{
    for (size_t i = 0; i < GTEL_ARRAY_LEN(variants); i++) {
        struct front front;
        if (!begin_variant(&nvml, folder, variants[i].name) || !start(&front, NULL))
            return;
        gather(&front);
        gather(&front);
        bool has_gpu = variants[i].memory_used >= 0;
        CHECK_INT(front.view.puts[GTEL_M_GPU_MEMORY_USED], has_gpu);
        if (has_gpu) {
            CHECK_NEAR(front.view.last[GTEL_M_GPU_MEMORY_USED], variants[i].memory_used, 0);
            CHECK_NEAR(front.view.last[GTEL_M_GPU_BUSY], 0.63, 1e-9);
            CHECK_NEAR(front.view.last[GTEL_M_GPU_POWER], 150.25, 1e-9);
            CHECK_NEAR(front.view.last[GTEL_M_GPU_TEMPERATURE], 40, 0);
            CHECK_NEAR(front.view.last[GTEL_M_TEMPERATURE], 61, 0); /* memory sorts after gpu */
            CHECK_NEAR(front.view.last[GTEL_M_GPU_READINGS_FAILED], 0, 0);
        }
        if (variants[i].log)
            CHECK(strstr(front.view.log, variants[i].log) != NULL);
        gtel_context_free(front.context);
        end_world();
    }
    test_label = "";
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--lane") == 0)
        return serve_lane(&nvml, argc, argv);
    if (argc != 2)
        return 1;
    test_inline(argv[1]);
    test_hang(&nvml, argv[1], argv[0]);
    test_crash(&nvml, argv[1], argv[0]);
    return test_result();
}
