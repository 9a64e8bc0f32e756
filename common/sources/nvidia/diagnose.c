/* SPDX-License-Identifier: MIT */
/* What NVML does not give, and why. */
#include "sources/nvidia/nvml.h"

#include <stdio.h>
#include <string.h>

static const char right[] =
    "run gtel as root or administrator, or in a container with the device nodes";

/* An agent that holds NVML open holds each GPU (NVIDIA/NVSentinel issues 1690 and 1691). */
static const char gone[] =
    "dmesg | grep -i xid says what happened; stop what uses the GPU, and the agent that runs gtel, "
    "then nvidia-smi --gpu-reset -i GPU; or reboot";

static const char *fix_of_gone(const struct gtel_env *env)
{
    return gtel_pnp_word(env,
                         "the event log of Windows says what happened (source nvlddmkm); disable "
                         "the GPU in the Device Manager and enable it again, or reboot",
                         gone);
}

static const char driver[] = "install or update NVIDIA's driver; nvidia-smi says whether it works";

/* What helps when the library cannot be opened: its file may be there all the same. */
static const char *fix_of_library(const struct gtel_env *env)
{
    char path[GTEL_FS_PATH_MAX];
    return gtel_nvml_find_library(env, path, sizeof(path))
               ? "its file is there: ldd shows what it lacks; gtel needs driver 390 or newer"
               : "install it: apt install libnvidia-ml1 (Debian), "
                 "libnvidia-compute-VERSION (Ubuntu)";
}

static void diagnose_library(const struct gtel_env *env, int trouble,
                             struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, NULL, GTEL_MEASUREMENT_GPU};
    if (trouble == GTEL_NVML_FORBIDDEN)
        gtel_finding_say(&at, "libnvidia-ml.so.1",
                         "a build with -DGTEL_DEMONSTRATION=ON plays the recorded answers of NVML",
                         "with --root no vendor library is used");
    else if (trouble == GTEL_NVML_NO_LIBRARY)
        gtel_finding_say(&at, gtel_pnp_word(env, "nvml.dll", "libnvidia-ml.so.1"),
                         gtel_pnp_word(env, driver, fix_of_library(env)),
                         "the driver's NVML library cannot be opened");
    else if (trouble != 0)
        gtel_finding_say(&at, "nvmlInit_v2",
                         gtel_pnp_word(env, driver, gtel_nvml_code(trouble)->fix),
                         "it answers code %d: %s", trouble, gtel_nvml_code_text(env, trouble));
}

/* GPUs that NVML counts, and does not give. */
static void diagnose_refusals(const struct gtel_env *env, const struct gtel_nvml_refusals *refusals,
                              struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, NULL, GTEL_MEASUREMENT_GPU};
    const char *fix = refusals->code == GTEL_NVML_NO_PERMISSION ? right
                      : refusals->gone > 0                      ? fix_of_gone(env)
                                                                : "nvidia-smi -L says which";
    if (refusals->logged > 0)
        gtel_finding_say(
            &at, "nvmlDeviceGetHandleByIndex_v2", fix,
            "%zu of the GPUs that NVML counts cannot be looked up, the first with code %d",
            refusals->logged, refusals->code);
}

/* The calls of one measurement that this GPU does not answer, as one finding. */
static void diagnose_calls(const struct gtel_nvml_gpu *gpu, enum gtel_measurement measurement,
                           struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->device, measurement};
    struct gtel_buf calls;
    const char *last = "";
    gtel_buf_init(&calls, 400);
    for (size_t i = 0; i < gtel_nvml_rows_n; i++) {
        const struct gtel_nvml_row *row = &gtel_nvml_rows[i];
        const struct gtel_nvml_slot *slot = &gpu->slot[i];
        if (row->metric == GTEL_M_NONE ||
            gtel_metric_row(row->metric)->measurement != measurement || slot->answers > 0 ||
            slot->due_ns != UINT64_MAX || strcmp(row->call, last) == 0)
            continue;
        last = row->call;
        size_t before = calls.n;
        gtel_buf_printf(&calls, "%s%s", before > 0 ? ", " : "", row->call);
        if (calls.has_failed)
            gtel_buf_back(&calls, before);
    }
    if (calls.n > 0) {
        gtel_buf_char(&calls, '\0');
        gtel_finding_say(&at, calls.p, gpu->has_denied ? right : NULL, "%s",
                         gpu->mig.n > 0 ? "not while the GPU is divided by MIG, or not at all"
                                        : "this GPU or driver does not support it");
    }
    gtel_buf_done(&calls);
}

/* Why there is no activity: GPM has not answered, cannot, or must not. */
static void diagnose_gpm(const struct gtel_nvml_gpu *gpu, struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->device, GTEL_MEASUREMENT_GPU_ACTIVITY};
    char code[40];
    const char *why = "a mean needs two gathers; there was no second one yet";
    (void)snprintf(code, sizeof(code), "it answers code %d", gpu->gpm.code);
    if (gpu->gpm.has_worked)
        return;
    if (gpu->mig.n > 0)
        why = "the GPU is divided by MIG: instances report it, on Hopper or newer";
    else if (gpu->gpm.due_ns == UINT64_MAX)
        why = "this GPU or driver does not support it: it needs Hopper or newer";
    else if (gpu->gpm.code != GTEL_NVML_SUCCESS)
        why = code;
    gtel_finding_say(&at, "NVML GPM", gpu->gpm.code == GTEL_NVML_NO_PERMISSION ? right : NULL, "%s",
                     why);
}

/* Why there are no PCIe bytes although the fields answer. */
static void diagnose_pcie(const struct gtel_nvml_gpu *gpu, struct gtel_findings *findings)
{
    char why[160] = "a counter of 32 bits, and the speed of the link is not known";
    const char *const text[3] = {"field PCIE_TX_BYTES, field PCIE_RX_BYTES", why, NULL};
    if (gpu->pcie.by != GTEL_NVML_BY_NOTHING || gpu->pcie.field[0].last_ns == 0)
        return;
    if (gpu->pcie.speed > 0)
        (void)snprintf(why, sizeof(why),
                       "a counter of 32 bits, which this link can fill in %u ms: shorter than the "
                       "interval",
                       (unsigned)(4294967296e3 / gpu->pcie.speed));
    gtel_finding_put_lack(findings, gpu->device, GTEL_MEASUREMENT_GPU, GTEL_M_GPU_PCIE_RX, 0, text);
}

/* Why there are processes, and no shares of engines. */
static void diagnose_shares(const struct gtel_nvml_gpu *gpu, struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->device, GTEL_MEASUREMENT_GPU_PROCESS};
    if (gpu->processes.lists == GTEL_NVML_LISTS_NO_SHARES)
        gtel_finding_say(&at, "nvmlDeviceGetProcessUtilization", NULL,
                         "this GPU or driver does not report the shares of processes");
}

static void diagnose_gpu(const struct gtel_env *env, const struct gtel_nvml_gpu *gpu,
                         struct gtel_findings *findings)
{
    const struct gtel_finding_place at = {findings, gpu->device, GTEL_MEASUREMENT_GPU};
    if (gpu->is_unavailable && gpu->first_code == GTEL_NVML_SUCCESS) {
        gtel_finding_say(&at, "NVML", fix_of_gone(env), "NVML does not list the GPU any more");
        return;
    }
    if (gpu->is_unavailable) {
        gtel_finding_say(&at, "NVML", fix_of_gone(env),
                         "the GPU is lost or needs a reset (NVML code %d)", gpu->first_code);
        return;
    }
    if (gpu->device->is_asleep) {
        gtel_finding_say(&at,
                         gtel_pnp_word(env, "DEVPKEY_Device_PowerData", "power/runtime_status"),
                         NULL, "suspended: nothing is read, so that the GPU stays asleep");
        return;
    }
    if (gpu->failed > 0)
        gtel_finding_say(&at, gpu->first, NULL, "%u readings failed, this one first, with code %d",
                         (unsigned)gpu->failed, gpu->first_code);
    for (size_t m = 0; m < GTEL_MEASUREMENT_COUNT && gpu->handle; m++)
        diagnose_calls(gpu, (enum gtel_measurement)m, findings);
    if (gpu->handle) {
        diagnose_gpm(gpu, findings);
        diagnose_pcie(gpu, findings);
        diagnose_shares(gpu, findings);
    }
    for (size_t i = 0; i < gpu->mig.n; i++)
        if (gtel_nvml_mig_is_first(gpu->mig.instance[i]))
            diagnose_gpm(gpu->mig.instance[i], findings);
}

void gtel_nvml_diagnose(void *state, struct gtel_registry *registry, struct gtel_findings *findings)
{
    const struct gtel_nvml *nvml = state;
    (void)registry;
    diagnose_library(nvml->env, nvml->library.trouble, findings);
    diagnose_refusals(nvml->env, &nvml->refusals, findings);
    for (size_t i = 0; i < nvml->n; i++)
        if (nvml->gpu[i]->device)
            diagnose_gpu(nvml->env, nvml->gpu[i], findings);
}
