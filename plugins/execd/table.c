/* SPDX-License-Identifier: MIT */
/* The sink for people. */
#include "execd/table.h"

#include <math.h>
#include <string.h>

enum { BAR = 10, MODEL = 24 };

static const char heading[] =
    "GPU           MODEL                     BUSY             MEMORY GiB      TEMP  POWER W     "
    "CLOCK MHz\n";

/* ---- one GPU ---- */

static void put_bar(struct gtel_buf *buf, double percent)
{
    char bar[BAR + 1];
    if (isnan(percent)) {
        gtel_buf_printf(buf, "%-*s    -  ", BAR, "");
        return;
    }
    int full = (int)lround((percent < 100 ? percent : 100) * (double)BAR / 100);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < full ? '|' : '.';
    bar[BAR] = '\0';
    gtel_buf_printf(buf, "%s %3.0f %%", bar, percent);
}

static void put_number(struct gtel_buf *buf, double value, int width, int digits)
{
    if (isnan(value))
        gtel_buf_printf(buf, "%*s", width, "-");
    else
        gtel_buf_printf(buf, "%*.*f", width, digits, value);
}

/* "used/total", where one of them may be unknown. */
static void put_part(struct gtel_buf *buf, double part, double whole, int digits)
{
    put_number(buf, part, 6, digits);
    if (isnan(whole))
        gtel_buf_printf(buf, "%7s", "");
    else
        gtel_buf_printf(buf, "/%-6.*f", digits, whole);
}

/* A part is named by itself, and by its GPU in place of the model. */
static void put_names(struct gtel_buf *buf, const struct gtel_device *device)
{
    const char *instance = device->label[GTEL_LABEL_INSTANCE];
    const char *gpu = device->label[GTEL_LABEL_GPU];
    if (instance[0])
        gtel_buf_printf(buf, "%-13s of %-*.*s  ", instance, MODEL - 3, MODEL - 3, gpu);
    else
        gtel_buf_printf(buf, "%-13s %-*.*s  ", gpu, MODEL, MODEL, device->label[GTEL_LABEL_MODEL]);
}

static void put_gpu(struct gtel_table *table)
{
    const double gib = 1 << 30;
    struct gtel_buf *buf = &table->text;
    const struct gtel_device *device = table->device;
    const double *value = table->value;
    put_names(buf, device);
    if (value[GTEL_M_GPU_UP] == 0 || value[GTEL_M_GPU_AWAKE] == 0) {
        gtel_buf_printf(buf, "%s\n", value[GTEL_M_GPU_UP] == 0 ? "does not answer" : "asleep");
        return;
    }
    put_bar(buf, value[GTEL_M_GPU_BUSY]);
    put_part(buf, value[GTEL_M_GPU_MEMORY_USED] / gib, value[GTEL_M_GPU_MEMORY_TOTAL] / gib, 1);
    put_number(buf, value[GTEL_M_GPU_TEMPERATURE], 4, 0);
    gtel_buf_str(buf, isnan(value[GTEL_M_GPU_TEMPERATURE]) ? GTEL_STR("  ") : GTEL_STR(" C"));
    put_part(buf, value[GTEL_M_GPU_POWER], value[GTEL_M_GPU_POWER_LIMIT], 0);
    put_number(buf, value[GTEL_M_GPU_FREQUENCY], 5, 0);
    gtel_buf_str(buf, value[GTEL_M_GPU_THROTTLED] > 0 ? GTEL_STR("  throttled\n") : GTEL_STR("\n"));
}

static void put_process(struct gtel_buf *buf, const struct gtel_table_process *process)
{
    const double mib = 1 << 20;
    gtel_buf_printf(buf, "  %-38.*s", (int)(process->dim[0].n < 38 ? process->dim[0].n : 38),
                    process->dim[0].p);
    put_bar(buf, process->busy < 0 ? NAN : process->busy);
    if (process->bytes >= 0)
        gtel_buf_printf(buf, " %8.0f MiB", process->bytes / mib);
    gtel_buf_char(buf, '\n');
}

static bool is_busier(const struct gtel_table_process *a, const struct gtel_table_process *b)
{
    return a->busy > b->busy || (a->busy == b->busy && a->bytes > b->bytes);
}

/* Puts the last process, which is complete now, where it belongs; one too many is dropped. */
static void place_process(struct gtel_table *table)
{
    for (size_t i = table->n; i > 1; i--) {
        struct gtel_table_process *at = &table->process[i - 2];
        struct gtel_table_process later = at[1];
        if (!is_busier(&later, at))
            break;
        at[1] = at[0];
        at[0] = later;
    }
    if (table->n > GTEL_TABLE_PROCESSES)
        table->n = GTEL_TABLE_PROCESSES;
}

static void finish_gpu(struct gtel_table *table)
{
    if (!table->device)
        return;
    place_process(table);
    put_gpu(table);
    for (size_t i = 0; i < table->n; i++)
        put_process(&table->text, &table->process[i]);
    table->device = NULL;
}

static void begin_gpu(struct gtel_table *table, const struct gtel_device *device)
{
    table->device = device;
    table->n = 0;
    for (size_t i = 0; i < GTEL_M_COUNT; i++)
        table->value[i] = NAN;
}

/* ---- the sink ---- */

static void begin(void *arg, uint64_t wall_ns)
{
    struct gtel_table *table = arg;
    (void)wall_ns;
    table->device = NULL;
    gtel_buf_reset(&table->text);
}

/* The fields of a line follow each other: other dimensions are another process. */
static void add_process(struct gtel_table *table, const struct gtel_reading *reading, double value)
{
    struct gtel_table_process *last = table->n > 0 ? &table->process[table->n - 1] : NULL;
    bool is_next = !last;
    for (size_t i = 0; i < GTEL_DIMS_MAX && !is_next; i++)
        is_next = !gtel_str_eq(last->dim[i], reading->dim[i]);
    if (is_next) {
        place_process(table);
        last = &table->process[table->n++];
        *last = (struct gtel_table_process){.busy = -1, .bytes = -1};
        memcpy(last->dim, reading->dim, sizeof(last->dim));
    }
    if (reading->metric == GTEL_M_PROCESS_BUSY)
        last->busy = value;
    else if (reading->metric == GTEL_M_PROCESS_MEMORY)
        last->bytes = value;
}

static void put(void *arg, const struct gtel_reading *reading, enum gtel_aspect aspect)
{
    struct gtel_table *table = arg;
    const struct gtel_metric_row *row = gtel_metric_row((enum gtel_metric)reading->metric);
    if (!reading->device || aspect != GTEL_ASPECT_VALUE)
        return;
    if (reading->device != table->device) {
        finish_gpu(table);
        begin_gpu(table, reading->device);
    }
    double value = gtel_reading_number(reading) * row->scale;
    if (row->measurement == GTEL_MEASUREMENT_GPU)
        table->value[reading->metric] = value;
    else if (row->measurement == GTEL_MEASUREMENT_GPU_PROCESS)
        add_process(table, reading, value);
}

static void end(void *arg)
{
    struct gtel_table *table = arg;
    finish_gpu(table);
    gtel_buf_clean(&table->text);
    if (table->clears)
        gtel_buf_str(table->out, GTEL_STR("\033[H\033[J")); /* to the corner, and clear */
    if (table->text.n > 0)
        gtel_buf_str(table->out, gtel_str_of(heading));
    gtel_buf_str(table->out, gtel_buf_text(&table->text));
}

void gtel_table_init(struct gtel_table *table, struct gtel_buf *out, bool clears)
{
    table->out = out;
    table->clears = clears;
    gtel_buf_init(&table->text, 1 << 20);
}

void gtel_table_done(struct gtel_table *table)
{
    gtel_buf_done(&table->text);
}

struct gtel_sink gtel_table_sink(struct gtel_table *table)
{
    return (struct gtel_sink){.arg = table, .begin = begin, .put = put, .end = end};
}
