/* SPDX-License-Identifier: MIT */
/* Why a value is missing: the list. */
#include "pipeline/finding.h"

#include "base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gtel_findings_done(struct gtel_findings *findings)
{
    free(findings->finding);
    gtel_arena_done(&findings->arena);
    *findings = (struct gtel_findings){0};
}

static bool is_there(const struct gtel_findings *findings, const struct gtel_finding *want)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct gtel_finding *have = &findings->finding[i];
        if (have->device == want->device && have->measurement == want->measurement &&
            have->source == want->source && gtel_str_eq(have->what, want->what))
            return true;
    }
    return false;
}

void gtel_finding_add(struct gtel_findings *findings, const struct gtel_finding *finding)
{
    struct gtel_finding new = *finding;
    if (is_there(findings, &new))
        return;
    bool is_copied = gtel_grow(&findings->finding, &findings->size, findings->n + 1,
                               GTEL_FINDINGS_MAX, sizeof(new)) &&
                     gtel_arena_str(&findings->arena, finding->what, &new.what) == 0 &&
                     gtel_arena_str(&findings->arena, finding->why, &new.why) == 0 &&
                     gtel_arena_str(&findings->arena, finding->fix, &new.fix) == 0;
    if (is_copied)
        findings->finding[findings->n++] = new;
    else
        findings->dropped++;
}

void gtel_finding_put_lack(struct gtel_findings *findings, const struct gtel_device *device,
                           enum gtel_measurement measurement, enum gtel_metric metric, int error,
                           const char *const text[3])
{
    const struct gtel_finding finding = {.device = device,
                                         .measurement = (uint8_t)measurement,
                                         .source = findings->source,
                                         .lacks_plus_1 =
                                             metric != GTEL_M_NONE ? (uint16_t)(metric + 1) : 0,
                                         .error = error,
                                         .what = gtel_str_of(text[0]),
                                         .why = gtel_str_of(text[1]),
                                         .fix = gtel_str_of(text[2])};
    gtel_finding_add(findings, &finding);
}

void gtel_finding_put(struct gtel_findings *findings, const struct gtel_device *device,
                      enum gtel_measurement measurement, int error, const char *const text[3])
{
    gtel_finding_put_lack(findings, device, measurement, GTEL_M_NONE, error, text);
}

void gtel_finding_say(const struct gtel_finding_place *at, const char *what, const char *fix,
                      const char *why, ...)
{
    char reason[320];
    const char *const text[3] = {what, reason, fix};
    va_list args;
    va_start(args, why);
    (void)vsnprintf(reason, sizeof(reason), why, args);
    va_end(args);
    gtel_finding_put(at->findings, at->device, at->measurement, 0, text);
}
