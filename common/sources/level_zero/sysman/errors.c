/* SPDX-License-Identifier: MIT */
/* Errors, by severity, category and tile. */
#include "sources/level_zero/sysman/rows.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES_MAX = 64 };

/* zes_ras_error_category_exp_t; the first seven are those of zes_ras_error_cat_t. */
static const char *const categories[] = {
    "reset",  "programming", "driver",    "compute", "non-compute", "cache",        "display",
    "memory", "scale",       "l3-fabric", "pcie",    "fabric",      "soc-internal",
};

static void add_errors(const struct gtel_sysman_pass *pass, struct gtel_sysman_part *part,
                       uint32_t category, uint64_t count)
{
    char text[48];
    struct gtel_sysman_place place = {.dim = {[1] = gtel_str_of(part->name)}};
    if (count == UINT64_MAX || category >= GTEL_ARRAY_LEN(categories))
        return;
    (void)snprintf(text, sizeof(text), gtel_sysman_on_tile(part) ? "ras-%s-tile%s" : "ras-%s%s",
                   categories[category], part->tile_text);
    place.dim[0] = gtel_batch_text(pass->batch, gtel_str_of(text));
    gtel_sysman_add_u64(pass, GTEL_M_ERROR_COUNT, &place, count);
    if (category == GTEL_ZES_RAS_RESET) {
        part->is.ras.resets = count;
        part->is.ras.has_resets = true;
    }
}

/*
 * The newer call where the driver has it, else the older one. Never with `clear`: that is control,
 * and would take the counts from other readers.
 */
GTEL_SYSMAN_GET(ras)
{
    static const struct gtel_sysman_array array = {.call = GTEL_SYSMAN_CALL(zesRasGetStateExp, 0),
                                                   .size = sizeof(struct gtel_zes_ras_state_exp),
                                                   .max = ENTRIES_MAX};
    struct gtel_zes_ras_state_exp entry[ENTRIES_MAX];
    struct gtel_zes_ras_state state;
    uint32_t n;
    (void)ret;
    part->is.ras.resets = UINT64_MAX;
    uint32_t code = gtel_sysman_get_array(pass->sysman, &array, part->handle, entry, &n);
    for (uint32_t i = 0; code == GTEL_ZE_SUCCESS && i < n; i++)
        add_errors(pass, part, entry[i].category, entry[i].count);
    if (gtel_answer_of(code) != GTEL_ANSWER_ABSENT || !pass->sysman->call.zesRasGetState)
        return code;
    memset(&state, 0xff, sizeof(state));
    state.head = (struct gtel_zes_head){.type = GTEL_ZES_TYPE_RAS_STATE};
    code = pass->sysman->call.zesRasGetState(part->handle, 0, &state);
    for (uint32_t i = 0; code == GTEL_ZE_SUCCESS && i < GTEL_ZES_RAS_CATEGORIES; i++)
        add_errors(pass, part, i, state.category[i]);
    return code;
}

/*
 * Errors of tiles count in the set of the card as well, where there are both. Drivers skip, with
 * success, what one of their places did not answer this time (compute-runtime: sysman, ras): a set
 * that has ever reported its resets counts only with them.
 */
void gtel_sysman_add_resets(const struct gtel_sysman_pass *pass)
{
    const struct gtel_sysman_list *list = &pass->gpu->list[GTEL_SYSMAN_RAS];
    uint64_t resets = 0;
    bool has_any = false;
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_sysman_part *part = &list->part[i];
        if (part->use == GTEL_SYSMAN_UNDESCRIBED)
            return;
        if (part->use == GTEL_SYSMAN_SKIPPED ||
            gtel_sysman_on_tile(part) != gtel_sysman_has_tiles(list, part->type))
            continue;
        if (part->ask[0].code != GTEL_ZE_SUCCESS ||
            (part->is.ras.has_resets && part->is.ras.resets == UINT64_MAX))
            return;
        has_any = has_any || part->is.ras.has_resets;
        resets += part->is.ras.has_resets ? part->is.ras.resets : 0;
    }
    if (has_any)
        gtel_sysman_add_u64(pass, GTEL_M_GPU_RESETS, NULL, resets);
}
