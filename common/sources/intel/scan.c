/* SPDX-License-Identifier: MIT */
/* Lists what the GTs of an Intel GPU have to read. */
#include "sources/intel/gpu.h"

/*
 * The status file says that any reason holds, also one that has no file of its own; it is no reason
 * itself (gpu.throttled is made from it). Each kernel has more reasons than the one before
 * (crescent island in 6.19, pwrbrk in 7.3), so the directory says which there are. xe's `reasons`
 * is the same as a list and is skipped.
 */
void gtel_intel_add_throttle(struct gtel_attr_list *list, const struct gtel_str *gt,
                             const char *dir, struct gtel_str prefix, struct gtel_str status)
{
    static const struct gtel_attr_kind any = {GTEL_M_THROTTLE_STATUS, GTEL_ATTR_FLAG, 1};
    static const struct gtel_attr_kind one = {GTEL_M_THROTTLE_ACTIVE, GTEL_ATTR_FLAG, 1};
    struct gtel_str *names;
    size_t n;
    int r = gtel_fs_list(list->env, dir, list->arena, 128, &names, &n);
    gtel_attr_list_check(list, r);
    if (r < 0)
        return;
    for (size_t i = 0; i < n && i < 128; i++) {
        bool is_status = gtel_str_eq(names[i], status);
        struct gtel_str reason = GTEL_STR_NONE;
        if (!is_status && gtel_str_starts(names[i], prefix))
            reason = gtel_attr_text(list, gtel_str_skip(names[i], prefix.n));
        const struct gtel_str dims[GTEL_ATTR_DIMS] = {reason, gt[GTEL_INTEL_GT]};
        if (is_status || reason.n > 0)
            gtel_attr_add(list, is_status ? &any : &one, dims, dir, names[i]);
    }
}
