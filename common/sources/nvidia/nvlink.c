/* SPDX-License-Identifier: MIT */
/* NVLink: states, bytes and errors of links. */
#include "sources/nvidia/nvlink.h"

#include "sources/nvidia/gpu.h"

#include <stdio.h>

/* What is asked for: all links, one of them, or one of those to the CPU. */
enum kind { ALL_LINKS, ONE_LINK, ONE_C2C };

/* Of two entries of a metric, the second is of NVLink 5; the first that answers is used. */
static const struct {
    enum kind kind; /* ONE_LINK, whose sum ALL_LINKS asks for, or ONE_C2C */
    unsigned field;
    enum gtel_metric metric;
    enum gtel_metric sum; /* over all links; NONE: there is none */
    uint64_t scale;
} fields[] = {
    {ONE_LINK, GTEL_NVML_FI_LINK_TX_KIB, GTEL_M_FABRIC_TX, GTEL_M_GPU_LINKS_TX, 1024},
    {ONE_LINK, GTEL_NVML_FI_LINK_RX_KIB, GTEL_M_FABRIC_RX, GTEL_M_GPU_LINKS_RX, 1024},
    {ONE_LINK, GTEL_NVML_FI_LINK5_TX_BYTES, GTEL_M_FABRIC_TX, GTEL_M_GPU_LINKS_TX, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK5_RX_BYTES, GTEL_M_FABRIC_RX, GTEL_M_GPU_LINKS_RX, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK_STATE, GTEL_M_FABRIC_UP, GTEL_M_NONE, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK_REPLAYS, GTEL_M_FABRIC_REPLAYS, GTEL_M_NONE, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK_RECOVERIES, GTEL_M_FABRIC_RECOVERIES, GTEL_M_NONE, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK_CRC_ERRORS, GTEL_M_FABRIC_CRC, GTEL_M_NONE, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK5_RECOVERIES, GTEL_M_FABRIC_RECOVERIES, GTEL_M_NONE, 1},
    {ONE_LINK, GTEL_NVML_FI_LINK5_ERRORS, GTEL_M_FABRIC_ERRORS, GTEL_M_NONE, 1},
    {ONE_C2C, GTEL_NVML_FI_C2C_STATE, GTEL_M_FABRIC_UP, GTEL_M_NONE, 1},
    {ONE_C2C, GTEL_NVML_FI_C2C_CRC_ERRORS, GTEL_M_FABRIC_CRC, GTEL_M_NONE, 1},
    {ONE_C2C, GTEL_NVML_FI_C2C_REPLAYS, GTEL_M_FABRIC_REPLAYS, GTEL_M_NONE, 1},
};

/* Whether there is a failure that may pass: what is asked for is neither there nor absent. */
static bool may_pass(int code)
{
    enum gtel_nvml_meaning meaning = gtel_nvml_meaning(code);
    return meaning != GTEL_NVML_MEANS_FINE && meaning != GTEL_NVML_MEANS_ABSENT;
}

/*
 * Links are numbered from 0; the first number beyond is an argument that NVML refuses. After
 * another failure it is counted on.
 */
static void count_links(const struct gtel_nvml_calls *call, struct gtel_nvml_links *links,
                        struct gtel_nvml_device *handle)
{
    unsigned state;
    int code = GTEL_NVML_SUCCESS;
    while (call->nvmlDeviceGetNvLinkState && links->n < GTEL_NVML_LINKS_MAX &&
           code == GTEL_NVML_SUCCESS) {
        code = call->nvmlDeviceGetNvLinkState(handle, links->n, &state);
        links->n += code == GTEL_NVML_SUCCESS;
    }
    struct gtel_nvml_answer answer;
    struct gtel_nvml_field field = {.field_id = GTEL_NVML_FI_C2C_LINKS, .rc = GTEL_NVML_NO_DATA};
    int c2c = call->nvmlDeviceGetFieldValues(handle, 1, &field);
    if (c2c == GTEL_NVML_SUCCESS)
        c2c = gtel_nvml_field_value(&field, &answer);
    if (c2c == GTEL_NVML_SUCCESS && answer.u[0] <= GTEL_NVML_C2C_MAX)
        links->c2c = (unsigned)answer.u[0];
    if (!may_pass(code) && !may_pass(c2c))
        links->state = GTEL_NVML_LINKS_COUNTED;
}

/* An NVML code: what the field says. */
static int put(struct gtel_nvml_gpu *gpu, enum gtel_metric metric, struct gtel_str name,
               uint64_t scale, const struct gtel_nvml_field *field, struct gtel_batch *batch)
{
    struct gtel_nvml_answer answer;
    int code = gtel_nvml_field_value(field, &answer);
    if (code == GTEL_NVML_SUCCESS)
        gtel_batch_u64(batch, gpu->device, metric, name,
                       metric == GTEL_M_FABRIC_UP ? answer.u[0] != 0 : answer.u[0] * scale);
    else if (gtel_nvml_meaning(code) == GTEL_NVML_MEANS_FAILURE)
        gtel_batch_failed(batch, gpu->device);
    return code;
}

/* Whether a link is up: before Hopper by a call (NVIDIA/nccl, src/graph/xml.cc: sm >= 90). */
static bool read_state(const struct gtel_nvml_calls *call, struct gtel_nvml_device *handle,
                       struct gtel_nvml_field *field, const size_t *row, size_t n)
{
    size_t k = 0;
    while (k < n && fields[row[k]].metric != GTEL_M_FABRIC_UP)
        k++;
    if (k == n)
        return false;
    if (field[k].rc != GTEL_NVML_SUCCESS && fields[row[k]].kind == ONE_LINK &&
        call->nvmlDeviceGetNvLinkState) {
        field[k].value_type = GTEL_NVML_TYPE_UINT;
        field[k].rc = call->nvmlDeviceGetNvLinkState(handle, field[k].scope_id, &field[k].value.ui);
    }
    return field[k].rc == GTEL_NVML_SUCCESS && field[k].value.ui != 0;
}

/*
 * Of links that are down nothing is learned about others. The sum, too, may be absent while all are
 * down: it is for good where a link that was up does not have the field either.
 */
static void sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu, enum kind kind,
                   unsigned scope, struct gtel_str name, struct gtel_batch *batch)
{
    uint32_t *absent = &gpu->links.absent[kind];
    const uint32_t of_links = gpu->links.absent[ONE_LINK];
    struct gtel_nvml_field field[GTEL_ARRAY_LEN(fields)];
    size_t row[GTEL_ARRAY_LEN(fields)];
    size_t n = 0;
    for (size_t i = 0; i < GTEL_ARRAY_LEN(fields); i++) {
        if ((*absent >> i & 1) != 0 || (fields[i].kind == ONE_C2C) != (kind == ONE_C2C) ||
            (kind == ALL_LINKS && fields[i].sum == GTEL_M_NONE))
            continue;
        field[n] = (struct gtel_nvml_field){
            .field_id = fields[i].field, .scope_id = scope, .rc = GTEL_NVML_NO_DATA};
        row[n++] = i;
    }
    int code = n > 0 ? library->call.nvmlDeviceGetFieldValues(gpu->handle, (int)n, field)
                     : GTEL_NVML_NO_DATA;
    (void)gtel_nvml_judge(library, code);
    batch->origin = GTEL_NVML_ORIGIN_FIELD;
    bool has_up =
        code == GTEL_NVML_SUCCESS && read_state(&library->call, gpu->handle, field, row, n);
    for (size_t k = 0; k < n && code == GTEL_NVML_SUCCESS; k++) {
        if ((*absent >> row[k] & 1) != 0)
            continue;
        int own = put(gpu, kind == ALL_LINKS ? fields[row[k]].sum : fields[row[k]].metric, name,
                      fields[row[k]].scale, &field[k], batch);
        if (gtel_nvml_meaning(own) == GTEL_NVML_MEANS_ABSENT &&
            (kind == ALL_LINKS ? (of_links >> row[k] & 1) != 0 : has_up))
            *absent |= 1u << row[k]; /* all links of a GPU are alike */
        for (size_t i = row[k] + 1; own == GTEL_NVML_SUCCESS && i < GTEL_ARRAY_LEN(fields); i++)
            if (fields[i].metric == fields[row[k]].metric)
                *absent |= 1u << i;
    }
}

void gtel_nvml_links_sample(struct gtel_nvml_library *library, struct gtel_nvml_gpu *gpu,
                            struct gtel_batch *batch)
{
    struct gtel_nvml_links *links = &gpu->links;
    if (!library->call.nvmlDeviceGetFieldValues || !gpu->is_long)
        return;
    if (links->state == GTEL_NVML_LINKS_UNCOUNTED)
        count_links(&library->call, links, gpu->handle);
    if (links->n > 0)
        sample(library, gpu, ALL_LINKS, GTEL_NVML_SCOPE_ALL_LINKS, GTEL_STR_NONE, batch);
    bool is_turn = gpu->longs <= GTEL_NVML_FIRST || batch->t_ns >= links->due_ns;
    if (is_turn)
        links->due_ns =
            batch->t_ns + GTEL_NVML_MINUTE_NS - (gpu->longs == GTEL_NVML_FIRST ? gpu->turn_ns : 0);
    for (unsigned i = 0; is_turn && i < links->n + links->c2c; i++) {
        bool is_c2c = i >= links->n;
        unsigned link = is_c2c ? i - links->n : i;
        char name[16];
        (void)snprintf(name, sizeof(name), is_c2c ? "c2c%u" : "%u", link);
        sample(library, gpu, is_c2c ? ONE_C2C : ONE_LINK, link,
               gtel_batch_text(batch, gtel_str_of(name)), batch);
    }
}
