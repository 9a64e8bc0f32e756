/* SPDX-License-Identifier: MIT */
/* Which sources a context uses. */
#include "lanes/choice.h"

#include "lanes/group.h"

#include <errno.h>
#include <string.h>

bool gtel_choice_is_meter(const struct gtel_choice *choice, const struct gtel_source *source)
{
    return choice->vendor && strcmp(choice->vendor, "clients") == 0 &&
           gtel_option_number(choice->options, GTEL_O_PROCESS_ENERGY) > 0 &&
           strcmp(source->lane, "kernel") == 0;
}

enum { NAMES_MAX = 1024 };

/* Whether the plugin has the source, whatever the option Sources says. */
static bool is_own(const struct gtel_choice *choice, const struct gtel_source *source)
{
    return !choice->vendor || strcmp(choice->vendor, source->vendor) == 0 ||
           gtel_choice_is_meter(choice, source);
}

bool gtel_choice_is_wanted(const struct gtel_choice *choice, const struct gtel_source *source)
{
    return is_own(choice, source) && gtel_group_is_chosen(choice->options, source);
}

static int fail_foreign(const struct gtel_choice *choice, const struct gtel_log *log)
{
    struct gtel_buf names;
    gtel_buf_init(&names, NAMES_MAX);
    for (int i = 0; gtel_sources[i]; i++)
        if (is_own(choice, gtel_sources[i]))
            gtel_buf_printf(&names, "%s%s", names.n > 0 ? ", " : "", gtel_sources[i]->name);
    gtel_log(log, GTEL_LOG_ERROR, "Sources names no source of this plugin; it has: %.*s",
             GTEL_STR_ARG(gtel_buf_text(&names)));
    gtel_buf_done(&names);
    return -EINVAL;
}

int gtel_choice_check(const struct gtel_choice *choice, const struct gtel_log *log)
{
    struct gtel_str rest = gtel_option_text(choice->options, GTEL_O_SOURCES);
    struct gtel_str name;
    bool has_own = rest.n == 0;
    while (gtel_str_part(&rest, ',', &name)) {
        name = gtel_str_trim(name);
        int source = gtel_source_find(name);
        if (source < 0) {
            gtel_log(log, GTEL_LOG_ERROR, "%s: '%.*s' is no source; gtel --list-sources shows them",
                     choice->vendor ? "Sources" : "--sources", GTEL_STR_ARG(name));
            return -EINVAL;
        }
        has_own = has_own || is_own(choice, gtel_sources[source]);
    }
    return has_own ? 0 : fail_foreign(choice, log);
}
