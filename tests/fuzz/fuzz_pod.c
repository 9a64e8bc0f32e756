/* SPDX-License-Identifier: MIT */
/* Fuzz target: names of pods and containers, from a file's name or a list of mounts. */
#include "fuzz/fuzz.h"
#include "parse/pod.h"

static void check(struct gtel_str text, struct gtel_str part, size_t size)
{
    FUZZ_CHECK(part.n > 0 && part.n < size);
    FUZZ_CHECK(part.p >= text.p && part.p + part.n <= text.p + text.n);
    FUZZ_CHECK(gtel_str_find(part, '_') == part.n && gtel_str_find(part, '/') == part.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gtel_str uid = GTEL_STR("7881ed9e-c63e-4425-b5e0-ac55a08ae939");
    struct gtel_str text = fuzz_text(data, size);
    struct gtel_pod_file file;
    struct gtel_str name;
    if (gtel_pod_link(text, &file)) {
        check(text, file.container, GTEL_POD_CONTAINER_MAX);
        check(text, file.key, GTEL_POD_ID_MAX);
        check(text, file.pod, GTEL_POD_NAME_MAX);
        check(text, file.namespace_, GTEL_POD_NAMESPACE_MAX);
    }
    if (gtel_pod_folder(text, &file)) {
        check(text, file.key, GTEL_POD_UID_MAX);
        check(text, file.pod, GTEL_POD_NAME_MAX);
        check(text, file.namespace_, GTEL_POD_NAMESPACE_MAX);
    }
    if (gtel_pod_mount(text, uid, &name))
        check(text, name, GTEL_POD_CONTAINER_MAX);
    for (struct gtel_str rest = text; gtel_pod_mount_next(&rest, &file);) {
        check(text, file.container, GTEL_POD_CONTAINER_MAX);
        check(text, file.key, GTEL_POD_UID_MAX);
    }
    return 0;
}
