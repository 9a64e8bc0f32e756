/* SPDX-License-Identifier: MIT */
/* Since which Linux version the drivers of Intel GPUs report what. */
#include "tables/support.h"

#include "base/compiler.h"

enum {
    ANY = 0,
    DG1 = 1 << GTEL_INTEL_DG1,
    DG2 = 1 << GTEL_INTEL_DG2,
    FLEX = 1 << GTEL_INTEL_FLEX,
    PONTE_VECCHIO = 1 << GTEL_INTEL_PONTE_VECCHIO,
    BATTLEMAGE = 1 << GTEL_INTEL_BATTLEMAGE,
    /* Mainline drivers do not run all families. */
    NOT_WITH_I915 = PONTE_VECCHIO | BATTLEMAGE,
    NOT_WITH_XE = DG1
};

static const struct row {
    const char *measurements; /* names, separated by blanks */
    const char *i915_card;
    const char *xe_card;
    unsigned cards; /* a bit per family */
} rows[] = {
#define GTEL_SUPPORT(measurements, fields, note, i915, i915_card, xe, xe_card, cards, right, from) \
    {measurements, i915_card, xe_card, cards},
#define GTEL_SUPPORT_AMD(...)
#define GTEL_SUPPORT_APPLE(...)
#include "tables/support.def"
#undef GTEL_SUPPORT
#undef GTEL_SUPPORT_AMD
#undef GTEL_SUPPORT_APPLE
};

static bool has_word(const char *words, struct gtel_str word)
{
    struct gtel_str rest = gtel_str_of(words);
    struct gtel_str next;
    while (gtel_str_word(&rest, &next))
        if (gtel_str_eq(next, word))
            return true;
    return false;
}

const char *gtel_support_since(struct gtel_str driver, struct gtel_str measurement,
                               enum gtel_intel_family family)
{
    bool is_xe = gtel_str_eq(driver, GTEL_STR("xe"));
    unsigned card = (1U << family) & ~(unsigned)(is_xe ? NOT_WITH_XE : NOT_WITH_I915);
    for (size_t i = 0; i < GTEL_ARRAY_LEN(rows); i++)
        if ((rows[i].cards & card) != 0 && has_word(rows[i].measurements, measurement))
            return is_xe ? rows[i].xe_card : rows[i].i915_card;
    return NULL;
}
