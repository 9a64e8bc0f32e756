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

/* Named, but not switched on: it would look like a machine without a GPU. */
static void warn_of_opt_in(const struct gtel_choice *choice, const struct gtel_source *source,
                           const struct gtel_log *log)
{
    if (gtel_group_is_opted_in(choice->options, source))
        return;
    const enum gtel_option option = (enum gtel_option)(source->opt_in_plus_1 - 1);
    struct gtel_buf flag;
    gtel_buf_init(&flag, NAMES_MAX);
    if (choice->vendor)
        gtel_buf_str(&flag, gtel_str_of(gtel_option_row(option)->name));
    else
        gtel_option_flag(&flag, option);
    gtel_log(log, GTEL_LOG_WARNING, "source %s reports nothing unless the option %.*s is on",
             source->name, GTEL_STR_ARG(gtel_buf_text(&flag)));
    gtel_buf_done(&flag);
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
        warn_of_opt_in(choice, gtel_sources[source], log);
        has_own = has_own || is_own(choice, gtel_sources[source]);
    }
    return has_own ? 0 : fail_foreign(choice, log);
}
