/* SPDX-License-Identifier: MIT */
/* Findings, word by word. */
#include "harness/findings.h"

#include "harness/test.h"

void check_findings(const struct gtel_findings *list, const char *const *says, size_t max)
{
    size_t n = 0;
    while (n < max && says[n])
        n++;
    CHECK_INT(list->n, n);
    for (size_t i = 0; i < list->n; i++) {
        const struct gtel_finding *finding = &list->finding[i];
        char text[1200];
        (void)snprintf(text, sizeof(text), "%.*s: %d: %.*s: %.*s", GTEL_STR_ARG(finding->what),
                       -finding->error, GTEL_STR_ARG(finding->why), GTEL_STR_ARG(finding->fix));
        CHECK_STR(gtel_str_of(text), i < n ? says[i] : "nothing");
    }
}
